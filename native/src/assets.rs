//! The page's files and how they are answered: the same for `play` and for the admin listener of `serve`.
//!
//! They are compiled in (see `build.rs`). `--www DIR` reads them from disk instead, so that whoever works on the page need
//! not rebuild the binary. Nothing outside `DIR` can be named: a path is made of plain names only.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

include!(concat!(env!("OUT_DIR"), "/www.rs"));

/// What the page cannot work without; `cargo xtask web` makes it.
const PROGRAM: &str = "pkg/tidegate_web.js";

/// One compiled-in file.
struct Asset {
    /// Path below `www`, with `/`.
    name: &'static str,
    /// FNV-1a of the plain content.
    hash: u64,
    plain: &'static [u8],
    brotli: Option<&'static [u8]>,
    gzip: Option<&'static [u8]>,
}

/// Where the page's files come from.
#[derive(Clone, Debug)]
pub(crate) enum Assets {
    /// The binary itself.
    Embedded,
    /// A folder, read anew for every request.
    Folder(Arc<Path>),
}

/// A form of a file that can be sent.
struct Form {
    /// Names the content, whatever its coding.
    hash: u64,
    coding: Coding,
    bytes: Bytes,
}

/// How the bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Identity,
    Gzip,
    Brotli,
}

impl Coding {
    const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Brotli => "br",
        }
    }
}

impl Assets {
    /// The compiled-in files, or those of `folder` if one is given.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        folder.map_or(Self::Embedded, |folder| Self::Folder(folder.into()))
    }

    /// Whether the page's program is there, so that the page will work.
    pub(crate) fn has_program(&self) -> bool {
        self.form(PROGRAM, [Coding::Identity].into()).is_some()
    }

    /// Answers a request for a file: 200, 304, 404 or 405.
    pub(crate) fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut refusal = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
            refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refusal;
        }
        let mut response = self.get(request.uri().path(), request.headers());
        response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        response
    }

    fn get(&self, path: &str, headers: &HeaderMap) -> Response<Full<Bytes>> {
        let name = match path.trim_start_matches('/') {
            "" => "index.html",
            name => name,
        };
        if name == "index.html" && !self.has_program() {
            return without_program();
        }
        let Some(form) = self.form(name, accepted(headers)) else {
            return text(StatusCode::NOT_FOUND, "no such file\n");
        };
        let tag = format!("\"{:016x}-{}\"", form.hash, form.coding.name());
        let known = headers.get_all(header::IF_NONE_MATCH).iter().any(|value| names_tag(value, &tag));
        let status = if known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
        let mut response = Response::new(Full::new(if known { Bytes::new() } else { form.bytes }));
        *response.status_mut() = status;
        let fields = response.headers_mut();
        fields.insert(header::ETAG, HeaderValue::try_from(tag).expect("hex digits and a coding name"));
        fields.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        // Always asked again, so that a new binary never runs with an old script; a 304 costs nothing.
        fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if !known {
            fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
            if form.coding != Coding::Identity {
                fields.insert(header::CONTENT_ENCODING, HeaderValue::from_static(form.coding.name()));
            }
        }
        response
    }

    /// The first form of file `name` whose coding is in `codings`, which is in order of preference.
    fn form(&self, name: &str, codings: Vec<Coding>) -> Option<Form> {
        match self {
            Self::Embedded => {
                let asset = &WWW[WWW.binary_search_by(|asset| asset.name.cmp(name)).ok()?];
                codings.into_iter().find_map(|coding| {
                    let bytes = match coding {
                        Coding::Identity => Some(asset.plain),
                        Coding::Gzip => asset.gzip,
                        Coding::Brotli => asset.brotli,
                    }?;
                    Some(Form { hash: asset.hash, coding, bytes: Bytes::from_static(bytes) })
                })
            }
            Self::Folder(folder) => {
                if !name.split('/').all(is_plain) {
                    return None;
                }
                let bytes = std::fs::read(folder.join(name)).ok()?;
                Some(Form { hash: fnv1a(&bytes), coding: Coding::Identity, bytes: bytes.into() })
            }
        }
    }
}

/// Whether a path segment is a name and nothing else: no `..`, no drive, no hidden file.
fn is_plain(segment: &str) -> bool {
    !segment.is_empty()
        && !segment.starts_with('.')
        && segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
}

/// Codings the client takes, best first (RFC 9110, 12.5.3). `identity` is always among them: a client that
/// refuses it gets it anyway rather than a 406.
fn accepted(headers: &HeaderMap) -> Vec<Coding> {
    let list: Cow<'_, str> = headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect::<Vec<_>>()
        .join(",")
        .into();
    let quality = |wanted: &str| {
        list.split(',').rev().find_map(|part| {
            let (name, parameters) = part.split_once(';').unwrap_or((part, ""));
            let q = parameters.trim().strip_prefix("q=").and_then(|q| q.parse::<f32>().ok());
            name.trim().eq_ignore_ascii_case(wanted).then(|| q.unwrap_or(1.0))
        })
    };
    let takes = |wanted: Coding| quality(wanted.name()).or_else(|| quality("*")).is_some_and(|q| q > 0.0);
    let mut codings: Vec<_> =
        [Coding::Brotli, Coding::Gzip].into_iter().filter(|&coding| takes(coding)).collect();
    codings.push(Coding::Identity);
    codings
}

/// Whether an `If-None-Match` value names `tag`; weak comparison (RFC 9110, 13.1.2).
fn names_tag(value: &HeaderValue, tag: &str) -> bool {
    value.to_str().is_ok_and(|list| {
        list.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
    })
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" | "md" | "toml" | "ts" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// What stands in for a page that was not built.
fn without_program() -> Response<Full<Bytes>> {
    const PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Tidegate</title>\
        <body style=\"font:16px/1.5 system-ui;max-width:36em;margin:4em auto;padding:0 1em\">\
        <h1>The page is not in this binary</h1>\
        <p>It was compiled before the page was. In the source folder run</p><pre>cargo xtask play</pre>\
        <p>which builds the page, then the binary, then starts it. <code>cargo xtask web</code> builds the page alone.</p>";
    let mut response = text(StatusCode::SERVICE_UNAVAILABLE, PAGE);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

fn text(status: StatusCode, body: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(body.as_bytes())));
    *response.status_mut() = status;
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// FNV-1a, 64 bits: names a file's content for `ETag`.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn the_best_coding_the_client_takes_is_picked() {
        use Coding::{Brotli, Gzip, Identity};
        for (asked, want) in [
            ("gzip, deflate, br, zstd", vec![Brotli, Gzip, Identity]),
            ("gzip", vec![Gzip, Identity]),
            ("br;q=0, *", vec![Gzip, Identity]),
            ("GZIP; q=0.5", vec![Gzip, Identity]),
            ("identity", vec![Identity]),
            ("", vec![Identity]),
        ] {
            assert_eq!(accepted(&headers(header::ACCEPT_ENCODING, asked)), want, "Accept-Encoding: {asked}");
        }
        assert_eq!(accepted(&HeaderMap::new()), [Identity]);
    }

    #[test]
    fn a_folder_serves_its_files_and_nothing_beside_it() {
        let root = std::env::temp_dir().join(format!("tidegate-assets-{}", std::process::id()));
        let www = root.join("www");
        std::fs::create_dir_all(www.join("pkg")).unwrap();
        std::fs::write(root.join("secret"), "no").unwrap();
        std::fs::write(www.join("index.html"), "<p>hello").unwrap();
        std::fs::write(www.join(".hidden"), "no").unwrap();
        let assets = Assets::new(Some(www.clone()));
        let status = |path: &str| assets.get(path, &HeaderMap::new()).status();

        assert_eq!(
            status("/"),
            StatusCode::SERVICE_UNAVAILABLE,
            "the program is missing and the page says so"
        );
        std::fs::write(www.join(PROGRAM), "export {}").unwrap();
        assert_eq!(status("/"), StatusCode::OK);
        for outside in
            ["/../secret", "/pkg/../../secret", "/.hidden", "//etc/passwd", "/%2e%2e/secret", "/pkg"]
        {
            assert_eq!(status(outside), StatusCode::NOT_FOUND, "{outside}");
        }

        let first = assets.get("/", &HeaderMap::new());
        assert_eq!(first.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        let tag = first.headers()[header::ETAG].to_str().unwrap();
        for known in [tag.to_owned(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
            let again = assets.get("/", &headers(header::IF_NONE_MATCH, &known));
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "If-None-Match: {known}");
        }
        assert_eq!(assets.get("/", &headers(header::IF_NONE_MATCH, "\"other\"")).status(), StatusCode::OK);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn only_get_and_head_are_answered() {
        let ask = |method: Method| {
            let request = Request::builder().method(method).uri("/nowhere").body(()).unwrap();
            Assets::Embedded.answer(&request).status()
        };
        assert_eq!(ask(Method::POST), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(ask(Method::HEAD), StatusCode::NOT_FOUND);
    }

    #[test]
    fn the_compiled_in_files_are_sorted_for_the_search() {
        assert!(WWW.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
