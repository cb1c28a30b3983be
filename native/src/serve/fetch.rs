//! Asks a server something on the gateway's own account: a load page, a health check. One request, one connection,
//! and a bound on all of it.

use std::time::Duration;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Read buffer: the longest head of an answer.
const BUFFER: usize = 64 * 1024;

/// Where to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Name or address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
}

/// Why nothing of use came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// There was no connection to be had.
    Unreachable,
    /// It took too long.
    Late,
    /// The exchange broke off, or was not HTTP.
    Broken,
    /// The body is longer than it may be.
    TooLong,
}

impl Place {
    /// A connection.
    ///
    /// # Errors
    /// [`Trouble::Unreachable`]; the caller bounds the time.
    pub(crate) async fn connect(&self) -> Result<TcpStream, Trouble> {
        TcpStream::connect((self.host.as_str(), self.port)).await.map_err(|_| Trouble::Unreachable)
    }

    /// As `Host` wants it.
    fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// GETs a path; at most `longest` bytes of body, all within `timeout`.
    ///
    /// # Errors
    /// [`Trouble`]; a status of any kind is none.
    pub(crate) async fn get(
        &self,
        path: &PathAndQuery,
        longest: usize,
        timeout: Duration,
    ) -> Result<Page, Trouble> {
        tokio::time::timeout(timeout, self.exchange(path, longest)).await.unwrap_or(Err(Trouble::Late))
    }

    async fn exchange(&self, path: &PathAndQuery, longest: usize) -> Result<Page, Trouble> {
        let stream = self.connect().await?;
        let io = TokioIo::new(stream);
        let (mut sender, connection) =
            http1::Builder::new().max_buf_size(BUFFER).handshake(io).await.map_err(|_| Trouble::Broken)?;
        // Dropped at the end, which closes the connection, whether the answer is complete or not.
        let mut driving = JoinSet::new();
        driving.spawn(connection);
        let response = sender.send_request(self.request(path)).await.map_err(|_| Trouble::Broken)?;
        let status = response.status();
        Ok(Page { status, body: body_of(response, longest).await? })
    }

    fn request(&self, path: &PathAndQuery) -> Request<Empty<Bytes>> {
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = path.clone().into();
        let headers = request.headers_mut();
        if let Ok(host) = HeaderValue::try_from(self.authority()) {
            headers.insert(header::HOST, host);
        }
        headers.insert(header::USER_AGENT, HeaderValue::from_static("tidegate"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        request
    }
}

async fn body_of(response: Response<Incoming>, longest: usize) -> Result<Vec<u8>, Trouble> {
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Trouble::Broken)?;
        let Some(data) = frame.data_ref() else { continue };
        if bytes.len() + data.len() > longest {
            return Err(Trouble::TooLong);
        }
        bytes.extend_from_slice(data);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    const TIMEOUT: Duration = Duration::from_secs(5);

    /// What comes of a server that answers with these bytes, then closes.
    async fn asked(answer: &'static str) -> Result<(u16, String), Trouble> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = Place { host: "127.0.0.1".to_owned(), port: listener.local_addr().unwrap().port() };
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = vec![0; 1024];
            let read = stream.read(&mut head).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8_lossy(&head[..read]).into_owned()
        });
        let path = PathAndQuery::from_static("/load?all");
        let page = place.get(&path, 10, TIMEOUT).await;
        let head = server.await.unwrap();
        assert!(head.starts_with("GET /load?all HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("host: 127.0.0.1:{}\r\n", place.port)), "{head}");
        page.map(|page| (page.status.as_u16(), String::from_utf8(page.body).unwrap()))
    }

    #[tokio::test]
    async fn an_answer_is_read_to_its_end_and_no_further_than_it_may() {
        let page = |status, body: &str| Ok((status, body.to_owned()));
        assert_eq!(asked("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").await, page(200, "hi"));
        assert_eq!(asked("HTTP/1.0 503 No\r\n\r\nto the end").await, page(503, "to the end"));
        assert_eq!(asked("HTTP/1.1 200 OK\r\n\r\n0123456789!").await, Err(Trouble::TooLong));
        assert_eq!(asked("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi").await, Err(Trouble::Broken));
        assert_eq!(asked("SSH-2.0\r\n").await, Err(Trouble::Broken));
    }

    #[tokio::test]
    async fn nobody_there_is_another_trouble_than_no_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = Place { host: "127.0.0.1".to_owned(), port: listener.local_addr().unwrap().port() };
        let path = PathAndQuery::from_static("/");
        let silent = place.get(&path, 10, Duration::from_millis(50)).await;
        assert_eq!(silent.unwrap_err(), Trouble::Late);
        drop(listener);
        assert_eq!(place.get(&path, 10, TIMEOUT).await.unwrap_err(), Trouble::Unreachable);
    }

    #[test]
    fn an_address_of_version_6_has_its_brackets_in_host() {
        let host = |host: &str| Place { host: host.to_owned(), port: 80 }.authority();
        assert_eq!((host("a.example"), host("::1")), ("a.example:80".to_owned(), "[::1]:80".to_owned()));
    }
}
