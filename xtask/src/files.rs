//! Files: walking the repository, and writing without touching what is already right.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Reads a whole file.
///
/// # Errors
/// With the path in the message.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Writes `bytes` by way of a neighbouring file and a rename, so that nobody sees half of it; leaves an equal file alone,
/// with its time, so that nothing that depends on it is rebuilt. Returns whether anything was written.
///
/// # Errors
/// With the path in the message.
pub(crate) fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<bool> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(false);
    }
    let context = || format!("cannot write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(context)?;
    }
    let mut half = path.as_os_str().to_owned();
    half.push(".tmp");
    fs::write(&half, bytes).with_context(context)?;
    fs::rename(&half, path).with_context(context)?;
    Ok(true)
}

/// Removes a folder with all it holds, if it is there.
///
/// # Errors
/// With the path in the message.
pub(crate) fn remove_folder(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}

/// All files below `folder`, sorted, without the files and folders for which `skip` is true.
///
/// # Errors
/// When a folder cannot be read.
pub(crate) fn walk(folder: &Path, skip: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if skip(&path) {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A path below `root` with forward slashes, for messages and links.
pub(crate) fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
