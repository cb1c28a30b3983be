//! Header fields that must not pass a proxy, and those a proxy adds.

use hyper::HeaderMap;
use hyper::header::{self, HeaderName, HeaderValue};

/// How this proxy calls itself in `Via`.
const VIA: HeaderValue = HeaderValue::from_static("1.1 tidegate");

/// The class a request was given, for the server behind; a client's own is never passed on.
pub(crate) const CLASS: HeaderName = HeaderName::from_static("tidegate-class");
/// Why the gateway answered in the server's place (RFC 9209).
pub(crate) const PROXY_STATUS: HeaderName = HeaderName::from_static("proxy-status");
/// Time spent in queues, where a browser's developer tools show it.
pub(crate) const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Fields of one hop (RFC 9110, 7.6.1), beside those `Connection` names.
const HOP: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHORIZATION,
    header::PROXY_AUTHENTICATE,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Fields a `Connection` field cannot take away: they make the message what it is.
const KEPT: [HeaderName; 4] =
    [header::HOST, header::CONTENT_LENGTH, header::CONTENT_TYPE, header::CACHE_CONTROL];

/// Removes what is meant for this hop only.
pub(crate) fn strip_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = tokens(headers, header::CONNECTION)
        .filter_map(|name| HeaderName::from_bytes(name.as_bytes()).ok())
        .filter(|name| !KEPT.contains(name))
        .collect();
    for name in named.iter().chain(&HOP) {
        headers.remove(name);
    }
}

/// The members of a comma-separated field, over all its lines.
pub(crate) fn tokens(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|token| !token.is_empty())
}

/// The protocol a message switches to, if it does: `Connection: upgrade` and one protocol in `Upgrade`.
///
/// Never to another HTTP: requests in such a tunnel would pass nobody's queue (h2c smuggling). An upgrade may be
/// ignored, so that request is served as it is.
pub(crate) fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let wanted = tokens(headers, header::CONNECTION).any(|token| token.eq_ignore_ascii_case("upgrade"));
    let mut protocols = tokens(headers, header::UPGRADE);
    let protocol = protocols.next().filter(|_| wanted && protocols.next().is_none())?;
    let name = protocol.split('/').next().unwrap_or_default();
    let is_http = ["h2", "h2c", "http", "tls"].iter().any(|http| name.eq_ignore_ascii_case(http));
    if is_http { None } else { HeaderValue::from_str(protocol).ok() }
}

/// Whether a message has a transfer coding this proxy cannot pass on: anything besides one `chunked`.
pub(crate) fn has_strange_coding(headers: &HeaderMap) -> bool {
    let mut codings = tokens(headers, header::TRANSFER_ENCODING);
    codings.next().is_some_and(|first| !first.eq_ignore_ascii_case("chunked")) || codings.next().is_some()
}

/// Notes that the message went through here.
pub(crate) fn add_via(headers: &mut HeaderMap) {
    headers.append(header::VIA, VIA);
}

/// HTTP/2 clients may split `Cookie`; towards HTTP/1.1 it must be one field (RFC 9113, 8.2.3).
pub(crate) fn join_cookies(headers: &mut HeaderMap) {
    if headers.get_all(header::COOKIE).iter().nth(1).is_some() {
        let parts: Vec<&[u8]> = headers.get_all(header::COOKIE).iter().map(HeaderValue::as_bytes).collect();
        if let Ok(joined) = HeaderValue::from_bytes(&parts.join(&b"; "[..])) {
            headers.insert(header::COOKIE, joined);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn fields_of_one_hop_stay_here() {
        let mut headers = map(&[
            ("connection", "close, X-Private"),
            ("connection", "host , te"),
            ("x-private", "1"),
            ("host", "a"),
            ("te", "trailers"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("accept", "*/*"),
        ]);
        strip_hop(&mut headers);
        assert_eq!(headers, map(&[("host", "a"), ("accept", "*/*")]));
    }

    #[test]
    fn only_plain_chunked_can_be_passed_on() {
        for (value, strange) in
            [("chunked", false), ("Chunked", false), ("gzip, chunked", true), ("chunked, chunked", true)]
        {
            assert_eq!(has_strange_coding(&map(&[("transfer-encoding", value)])), strange, "{value}");
        }
        assert!(!has_strange_coding(&HeaderMap::new()));
    }

    #[test]
    fn no_http_passes_inside_a_tunnel() {
        for (protocol, passes) in [
            ("websocket", true),
            ("WebSocket", true),
            ("h2c", false),
            ("HTTP/2.0", false),
            ("TLS/1.2", false),
            ("websocket, h2c", false),
        ] {
            let headers = map(&[("connection", "keep-alive, Upgrade"), ("upgrade", protocol)]);
            assert_eq!(upgrade(&headers).is_some(), passes, "{protocol}");
        }
        assert_eq!(upgrade(&map(&[("upgrade", "websocket")])), None, "of this hop, or not at all");
    }

    #[test]
    fn crumbs_make_one_cookie() {
        let mut headers = map(&[("cookie", "a=1"), ("cookie", "b=2")]);
        join_cookies(&mut headers);
        assert_eq!(headers, map(&[("cookie", "a=1; b=2")]));
    }
}
