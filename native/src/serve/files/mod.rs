//! `--files DIR`: a static file server where the upstreams would be.
//!
//! `tower-http`'s `ServeDir` makes the answers: conditional requests, ranges, packed forms that lie beside a file
//! (`.br`, `.gz`), content types, `index.html`. Left to this module is what it leaves open:
//!
//! * **which paths name a file at all** ([`Name`]): no dotfiles, and nothing that two readers could take for different
//!   files, because the class of a request is chosen by its path;
//! * **that nothing outside the folder is opened**, whatever links lie in it ([`Rooted`]);
//! * **`If-Range`**;
//! * **sending** ([`Sending`]): the worker is held until the last byte has been handed over, and the send rate is kept.

mod name;
mod rooted;
mod sending;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Request, Response, StatusCode, Uri};
use tower_http::services::ServeDir;
use tower_http::services::fs::DefaultServeDirFallback;

use self::name::Name;
pub(crate) use self::name::decoded;
use self::rooted::Rooted;
pub(crate) use self::sending::Sending;
use super::pace::Pace;

/// What to serve files from, and how fast.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FilesConfig {
    /// The folder.
    pub(crate) folder: PathBuf,
    /// Bytes a second of all bodies together; `None` for as fast as it goes.
    pub(crate) send_rate: Option<u32>,
}

/// The files that are served.
pub(crate) struct Files {
    folder: PathBuf,
    rooted: Rooted,
    answers: ServeDir<DefaultServeDirFallback, Rooted>,
    pace: Option<Arc<Pace>>,
}

/// What a file is answered with, before it is sent.
pub(crate) type FileAnswer = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// Longest time for the lookup of a size; it takes microseconds unless the disk is in trouble. After it the size counts
/// as unknown: such a disk must not keep requests from the queues that are there to bound them.
const LOOKUP: Duration = Duration::from_millis(100);

/// Request fields that an answer depends on.
const ASKED: [HeaderName; 6] = [
    header::ACCEPT_ENCODING,
    header::IF_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_NONE_MATCH,
    header::IF_UNMODIFIED_SINCE,
    header::RANGE,
];

impl Files {
    /// The files below a folder.
    ///
    /// # Errors
    /// If the folder cannot be opened.
    pub(crate) fn open(config: &FilesConfig) -> io::Result<Self> {
        let rooted = Rooted::open(&config.folder)?;
        let pace = config.send_rate.map(|rate| Arc::new(Pace::new(rate)));
        let mut answers = ServeDir::with_backend("", rooted.clone())
            .precompressed_br()
            .precompressed_gzip()
            // Several ranges in one answer are not made; the whole file is what is left (RFC 9110, 14.2).
            .ignore_multi_range_requests(true);
        if let Some(pace) = &pace {
            answers = answers.with_buf_chunk_size(pace.piece());
        }
        Ok(Self { folder: config.folder.clone(), rooted, answers, pace })
    }

    /// The folder, as it was given.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The link that all bodies share, if their rate is bounded.
    pub(crate) const fn pace(&self) -> Option<&Arc<Pace>> {
        self.pace.as_ref()
    }

    /// Bytes that the answer to a request will have: the length of the file, unpacked and whole. `None` if there is no
    /// such file, or no telling in time.
    pub(crate) async fn size(&self, method: &Method, path: &str) -> Option<u64> {
        if method == Method::HEAD {
            return Some(0);
        }
        let name = Name::of(path)?;
        tokio::time::timeout(LOOKUP, self.rooted.length(name.file())).await.ok()?.ok()
    }

    /// The answer to a GET or HEAD, its body not yet read.
    ///
    /// # Errors
    /// If the disk does not do what it should; a file that is not there is an answer.
    pub(crate) async fn answer<B>(&self, request: &Request<B>) -> io::Result<FileAnswer> {
        if Name::of(request.uri().path()).is_none() {
            return Ok(no_such_file());
        }
        let mut response = self.ask(request, true).await?;
        if is_about_a_range(response.status()) && !range_holds(request.headers(), response.headers()) {
            response = self.ask(request, false).await?;
        }
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if response.status() == StatusCode::NOT_MODIFIED {
            // What a 200 would have had (RFC 9110, 15.4.5).
            response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        }
        Ok(if response.status() == StatusCode::NOT_FOUND { no_such_file() } else { response })
    }

    async fn ask<B>(&self, request: &Request<B>, ranges: bool) -> io::Result<FileAnswer> {
        let target = request.uri().path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        let mut asked = Request::new(());
        *asked.method_mut() = request.method().clone();
        *asked.uri_mut() = Uri::from(target);
        for name in ASKED {
            // A range means something to GET only (RFC 9110, 14.2).
            if name == header::RANGE && (!ranges || request.method() != Method::GET) {
                continue;
            }
            if let Some(value) = whole(request.headers(), &name) {
                asked.headers_mut().insert(name, value);
            }
        }
        match self.answers.clone().try_call(asked).await {
            Ok(response) => Ok(response.map(BodyExt::boxed_unsync)),
            Err(error) if rooted::is_absent(&error) => Ok(no_such_file()),
            Err(error) => Err(error),
        }
    }
}

/// All lines of a field as one (RFC 9110, 5.3).
fn whole(headers: &HeaderMap, name: &HeaderName) -> Option<HeaderValue> {
    let lines: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    if lines.is_empty() { None } else { HeaderValue::from_bytes(&lines.join(&b", "[..])).ok() }
}

fn no_such_file() -> FileAnswer {
    const TEXT: &str = "no such file\n";
    let body = Full::new(Bytes::from_static(TEXT.as_bytes())).map_err(|never| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::NOT_FOUND;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(TEXT.len()));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn is_about_a_range(status: StatusCode) -> bool {
    matches!(status, StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE)
}

/// Whether the file is still the one of which the client has a part (RFC 9110, 13.1.5). Compared with what the answer
/// says of the file that was opened, so that no change in between goes unnoticed.
fn range_holds(request: &HeaderMap, answer: &HeaderMap) -> bool {
    let Some(known) = request.get(header::IF_RANGE) else { return true };
    let is_tag = known.as_bytes().ends_with(b"\"");
    // A weak tag never is one of ours, which are all strong; a date must be the very same.
    answer.get(if is_tag { header::ETAG } else { header::LAST_MODIFIED }) == Some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_continued_only_of_the_very_same_file() {
        let date = "Mon, 30 Nov 2026 02:00:00 GMT";
        let answer = HeaderMap::from_iter([
            (header::ETAG, HeaderValue::from_static("\"a\"")),
            (header::LAST_MODIFIED, HeaderValue::from_static(date)),
        ]);
        for (known, holds) in [
            ("\"a\"", true),
            ("\"b\"", false),
            ("W/\"a\"", false),
            (date, true),
            ("Mon, 30 Nov 2026 02:00:01 GMT", false),
            ("nonsense", false),
        ] {
            let request = HeaderMap::from_iter([(header::IF_RANGE, HeaderValue::from_static(known))]);
            assert_eq!(range_holds(&request, &answer), holds, "If-Range: {known}");
        }
        assert!(range_holds(&HeaderMap::new(), &answer), "nothing was asked");
    }
}
