//! Serves a folder on loopback for the checks in a browser.
//!
//! The product has a server of its own; this one exists so that a check of the module does not depend on it. One request a
//! connection, `GET` only, files below the folder only.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use std::fs;

/// A path that is served though no file has it: an empty page to run scripts in.
pub(crate) const BLANK: &str = "/blank";
/// A peer that says nothing for this long is let go.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest request line or header that is read.
const LINE_BYTES: u64 = 8 * 1024;
/// Most headers of a request.
const MAX_HEADERS: usize = 100;

/// Serves `folder` until the process ends; returns the address.
///
/// # Errors
/// When no port can be had.
pub(crate) fn serve(folder: PathBuf) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port on loopback")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            // A browser that hangs up early is no concern of ours.
            thread::spawn(move || answer(stream, &folder).ok());
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let target = read_target(&mut reader)?;
    let found = target.as_deref().and_then(|target| find(folder, target));
    let (status, kind, body) = match found {
        Some((kind, body)) => ("200 OK", kind, body),
        None => ("404 Not Found", "text/plain", b"not found".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}

/// The target of a `GET`, after reading (and ignoring) the headers.
fn read_target(reader: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut first = String::new();
    std::io::Read::take(&mut *reader, LINE_BYTES).read_line(&mut first)?;
    for _ in 0..MAX_HEADERS {
        let mut line = String::new();
        std::io::Read::take(&mut *reader, LINE_BYTES).read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
    }
    let mut words = first.split_whitespace();
    Ok((words.next() == Some("GET")).then(|| words.next().unwrap_or("/").to_owned()))
}

fn find(folder: &Path, target: &str) -> Option<(&'static str, Vec<u8>)> {
    let path = target.split(['?', '#']).next()?;
    if path == BLANK {
        return Some(("text/html; charset=utf-8", b"<!doctype html><link rel=icon href=data:,>".to_vec()));
    }
    let path = Path::new(path.trim_start_matches('/'));
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let file = if path.as_os_str().is_empty() { folder.join("index.html") } else { folder.join(path) };
    inside.then(|| fs::read(&file).ok()).flatten().map(|body| (kind_of(&file), body))
}

fn kind_of(file: &Path) -> &'static str {
    match file.extension().and_then(|e| e.to_str()).unwrap_or("") {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_folder_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        assert!(find(&folder, "/main.rs").is_some());
        assert!(find(&folder, "/main.rs?v=1").is_some());
        for target in ["/../Cargo.toml", "/./../Cargo.toml", "//etc/passwd", "/nothing.here"] {
            assert!(find(&folder, target).is_none(), "{target} was served");
        }
    }
}
