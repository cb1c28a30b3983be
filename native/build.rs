//! Lists the files of `../www` as constants, so that the binary carries the page.
//!
//! Not a crate such as `include_dir`: those neither notice a new file nor know that `x.br` and `x.gz` are packed forms of
//! `x`. `www/pkg` comes from `cargo xtask web` and may be missing: then the binary builds, and says so when asked for the page.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let www = manifest.join("../www");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../www");

    let mut files = Vec::new();
    if www.is_dir() {
        walk(&www, &mut files)?;
    }
    let name =
        |file: &Path| file.strip_prefix(&www).expect("found below it").to_string_lossy().replace('\\', "/");
    // By the text of the name, as the search in `src/assets.rs` compares; paths themselves compare part by part.
    files.sort_by_key(|file| name(file));
    let mut code = String::from("static WWW: &[Asset] = &[\n");
    for file in files.iter().filter(|file| !is_packed(file)) {
        let plain = fs::read(file)?;
        let _ = writeln!(
            code,
            "Asset {{ name: {:?}, hash: 0x{:016x}, plain: include_bytes!({:?}), brotli: {}, gzip: {} }},",
            name(file),
            fnv1a(&plain),
            fs::canonicalize(file)?,
            packed(file, "br")?,
            packed(file, "gz")?,
        );
    }
    code.push_str("];\n");
    fs::write(out.join("www.rs"), code)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether `file` is the packed form of a neighbour.
fn is_packed(file: &Path) -> bool {
    matches!(file.extension().and_then(|e| e.to_str()), Some("br" | "gz"))
        && file.with_extension("").is_file()
}

/// Rust text of the packed neighbour of `file`, unless there is none or it is older than `file`.
fn packed(file: &Path, suffix: &str) -> io::Result<String> {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    let neighbour = PathBuf::from(name);
    if !neighbour.is_file() || changed(&neighbour)? < changed(file)? {
        return Ok("None".into());
    }
    Ok(format!("Some(include_bytes!({:?}))", fs::canonicalize(neighbour)?))
}

fn changed(file: &Path) -> io::Result<SystemTime> {
    fs::metadata(file)?.modified()
}

/// FNV-1a, 64 bits: names a file's content for `ETag`. Must equal the one in `src/assets.rs`.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
