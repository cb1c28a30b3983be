//! Output that is whole or absent: commands build their text first and hand it over once.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::failure::ReaderLeft;

/// Writes `text` to standard output, without its colours if that is no terminal.
///
/// # Errors
/// [`ReaderLeft`] if the reader closed it, else what the system says.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(ReaderLeft.into()),
        written => written.context("cannot write to standard output"),
    }
}

/// Writes `text` to the file `path`, or to standard output if there is none.
///
/// # Errors
/// As [`print()`] and [`write_file`].
pub(crate) fn deliver(path: Option<&Path>, text: &str) -> anyhow::Result<()> {
    match path {
        Some(path) => write_file(path, &anstream::adapter::strip_str(text).to_string()),
        None => print(text),
    }
}

/// Replaces the file `path` by `text`: a temporary neighbour is filled, flushed and renamed.
///
/// # Errors
/// What the system says; the old file, if any, is then untouched.
fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let temporary = neighbour(path);
    let written = File::create_new(&temporary)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// A name beside `path` that no other process uses.
fn neighbour(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}
