//! Apache's Common and Combined access logs, which nginx writes too.
//!
//! `%h %l %u [%t] "%r" %>s %b "%{Referer}i" "%{User-Agent}i"` and whatever follows. Scanners, log shippers and
//! virtual hosts have been at these files: requests of raw bytes, one word or none, `host:port` or a
//! syslog prefix before the line. Such lines are kept, since the server had to deal with
//! them; a line without time, request, status or size is not one of ours and is rejected.

use super::Reason;
use super::date::{CLF_LENGTH, clf_seconds};
use super::number;
use alloc::borrow::Cow;
use alloc::string::String;

/// One line of an access log, as it stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessLine<'a> {
    /// What stands before the line proper.
    pub prefix: Prefix<'a>,
    /// Who asked: address or host name.
    pub client: &'a [u8],
    /// Whole seconds since 1970-01-01 UTC at which the request was received (Apache) or answered (nginx).
    pub unix_s: i64,
    /// The request field, escapes and all.
    pub request: &'a [u8],
    /// Status; `None` for `-`.
    pub status: Option<u16>,
    /// Bytes of the answer's body; `-` is 0.
    pub bytes: u64,
    /// `Referer`, if the line has the field.
    pub referer: Option<&'a [u8]>,
    /// `User-Agent`, if the line has the field.
    pub user_agent: Option<&'a [u8]>,
    /// What follows the fields above, blanks trimmed: often a duration.
    pub rest: &'a [u8],
}

/// What may stand before an access log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prefix<'a> {
    /// Nothing.
    None,
    /// The virtual host, with or without port.
    Host(&'a [u8]),
    /// Time, machine and program, as syslog or a container runtime puts them.
    Shipper(&'a [u8]),
}

/// The three parts of a proper request line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLine<'a> {
    /// Such as `GET`.
    pub method: &'a str,
    /// Path and query, or an absolute URL.
    pub target: &'a [u8],
    /// Such as `HTTP/1.1`.
    pub protocol: &'a str,
}

impl<'a> AccessLine<'a> {
    /// Reads one line.
    ///
    /// # Errors
    /// Which part is not there.
    pub fn parse(line: &'a [u8]) -> Result<Self, Reason> {
        let (time_at, unix_s) = find_time(line).ok_or(Reason::NoTime)?;
        let (prefix, client) = read_head(&line[..time_at]).ok_or(Reason::NoClient)?;
        let after_time = line[time_at + CLF_LENGTH + 2..].trim_ascii_start();
        let (request, after) = read_request(after_time).ok_or(Reason::NoRequest)?;
        let (status, after) = next_word(after);
        let status = match status {
            b"-" => None,
            word => Some(number::count(word).and_then(|n| u16::try_from(n).ok()).ok_or(Reason::NoStatus)?),
        };
        let (bytes, after) = next_word(after);
        let bytes = if bytes == b"-" { 0 } else { number::count(bytes).ok_or(Reason::NoBytes)? };
        let (referer, after) = read_quoted(after).map_or((None, after), |(text, rest)| (Some(text), rest));
        let (user_agent, rest) = read_quoted(after).map_or((None, after), |(text, rest)| (Some(text), rest));
        Ok(Self {
            prefix,
            client,
            unix_s,
            request,
            status,
            bytes,
            referer,
            user_agent,
            rest: rest.trim_ascii(),
        })
    }

    /// The request, if it is one: a method, a target and `HTTP/` something.
    #[must_use]
    pub fn request_line(&self) -> Option<RequestLine<'a>> {
        let method_end = self.request.iter().position(|&b| b == b' ')?;
        let protocol_at = self.request.iter().rposition(|&b| b == b' ')? + 1;
        let method = core::str::from_utf8(&self.request[..method_end]).ok()?;
        let protocol = core::str::from_utf8(&self.request[protocol_at..]).ok()?;
        let target = self.request.get(method_end + 1..protocol_at - 1)?.trim_ascii();
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        let proper = !method.is_empty()
            && method.bytes().all(token)
            && !target.is_empty()
            && protocol.len() > 5
            && protocol.get(..5).is_some_and(|p| p.eq_ignore_ascii_case("HTTP/"));
        proper.then_some(RequestLine { method, target, protocol })
    }
}

/// Where `[01/Aug/1995:02:00:00 -0400]` begins, and the time it says.
fn find_time(line: &[u8]) -> Option<(usize, i64)> {
    let mut from = 0;
    while let Some(at) = line[from..].iter().position(|&b| b == b'[').map(|at| from + at) {
        let inside = line.get(at + 1..at + 1 + CLF_LENGTH);
        if let Some(seconds) = inside.and_then(clf_seconds)
            && line.get(at + 1 + CLF_LENGTH) == Some(&b']')
        {
            return Some((at, seconds));
        }
        from = at + 1;
    }
    None
}

/// Cuts what precedes the time into prefix and client. `None` without client, identity and user, of which the
/// last may hold blanks.
fn read_head(head: &[u8]) -> Option<(Prefix<'_>, &[u8])> {
    let shipper = shipper_length(head);
    let (client, after) = next_word(&head[shipper..]);
    let (identity, user) = next_word(after);
    if client.is_empty() || identity.is_empty() || user.trim_ascii().is_empty() {
        return None;
    }
    if shipper > 0 {
        return Some((Prefix::Shipper(head[..shipper].trim_ascii()), client));
    }
    // `www.example.org:443 192.0.2.1 - -`: four words, and the second is an address or the first has a port.
    let (_, last) = next_word(user);
    let (host, address) = (client, identity);
    if !last.trim_ascii().is_empty() && (is_address(address) && !is_address(host) || has_port(host)) {
        return Some((Prefix::Host(host), address));
    }
    Some((Prefix::None, client))
}

/// Length of `Jul  8 11:07:07 web1 nginx[2869]: `, `<13>...: ` or `2026-04-15T20:17:00Z stdout F ` before the line; 0
/// if there is none.
fn shipper_length(head: &[u8]) -> usize {
    let month_first = head.len() > 4
        && head[..3].is_ascii()
        && head[..3].iter().all(u8::is_ascii_alphabetic)
        && head[3] == b' ';
    let number_first = head.first() == Some(&b'<');
    let time_first = head.len() > 19
        && head[4] == b'-'
        && matches!(head[10], b'T' | b' ')
        && head[..4].iter().all(u8::is_ascii_digit);
    if !(month_first || number_first || time_first) {
        return 0;
    }
    let mut at = 0;
    for word in head.split_inclusive(|&b| b == b' ') {
        at += word.len();
        // `12:` cannot end a word of a time, so a colon at the end of a word ends the program's name.
        let program = word.len() > 2 && word.ends_with(b": ");
        if program || (time_first && matches!(word, b"F " | b"P ")) {
            return at;
        }
    }
    0
}

fn is_address(word: &[u8]) -> bool {
    core::str::from_utf8(word).is_ok_and(|w| w.parse::<core::net::IpAddr>().is_ok())
}

fn has_port(word: &[u8]) -> bool {
    let Some(colon) = word.iter().rposition(|&b| b == b':') else { return false };
    let (host, port) = (&word[..colon], &word[colon + 1..]);
    !port.is_empty() && port.iter().all(u8::is_ascii_digit) && (!host.contains(&b':') || host.ends_with(b"]"))
}

/// The next word and what follows it; both empty at the end.
fn next_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let end = text.iter().position(|&b| b == b' ').unwrap_or(text.len());
    text.split_at(end)
}

/// Reads `"..."`, in which a backslash escapes the next byte; what follows it comes second.
fn read_quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start().strip_prefix(b"\"")?;
    let mut escaped = false;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

/// Reads the quoted request. Some servers escape nothing: if no status follows the quote that ends it by the
/// rules, it ends at the first quote that one does follow.
fn read_request(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let by_the_rules = read_quoted(text);
    if by_the_rules.is_some_and(|(_, after)| status_follows(after)) {
        return by_the_rules;
    }
    let inside = text.strip_prefix(b"\"")?;
    let mut from = 0;
    while let Some(at) = inside[from..].iter().position(|&b| b == b'"').map(|at| from + at) {
        if status_follows(&inside[at + 1..]) {
            return Some((&inside[..at], &inside[at + 1..]));
        }
        from = at + 1;
    }
    by_the_rules
}

fn status_follows(text: &[u8]) -> bool {
    match text {
        [b' ', a, b, c, rest @ ..] if [a, b, c].iter().all(|d| d.is_ascii_digit()) => {
            rest.first().is_none_or(|&b| b == b' ')
        }
        [b' ', b'-', rest @ ..] => rest.first().is_none_or(|&b| b == b' '),
        _ => false,
    }
}

/// The path of a request target: without query, and without scheme and host of an absolute URL.
pub(super) fn path_of(target: &[u8]) -> &[u8] {
    let end = target.iter().position(|&b| b == b'?' || b == b'#').unwrap_or(target.len());
    let path = &target[..end];
    if path.starts_with(b"/") {
        return path;
    }
    match path.windows(3).position(|w| w == b"://") {
        Some(at) => {
            let host = &path[at + 3..];
            host.iter().position(|&b| b == b'/').map_or(b"/", |slash| &host[slash..])
        }
        None => path,
    }
}

/// Label of a request by what kind of thing its path names: `cgi`, `image`, `media` or `page`.
#[must_use]
pub fn kind_of(target: &[u8]) -> &'static str {
    let path = path_of(target);
    if path.starts_with(b"/cgi-bin/") || path.starts_with(b"/htbin/") {
        return "cgi";
    }
    let name = path.rsplit(|&b| b == b'/').next().unwrap_or(&[]);
    let Some(dot) = name.iter().rposition(|&b| b == b'.') else { return "page" };
    let extension = &name[dot + 1..];
    let among = |list: &[&str]| list.iter().any(|e| extension.eq_ignore_ascii_case(e.as_bytes()));
    if among(&["gif", "jpg", "jpeg", "xbm", "png", "ico", "svg", "webp", "avif", "bmp"]) {
        "image"
    } else if among(&["mpg", "mpeg", "wav", "avi", "mov", "au", "mp3", "mp4", "webm", "ogg", "m4a", "mkv"]) {
        "media"
    } else {
        "page"
    }
}

/// Bytes as text, with what is not UTF-8 replaced.
pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn parse(line: &str) -> AccessLine<'_> {
        AccessLine::parse(line.as_bytes()).unwrap_or_else(|e| panic!("{line}: {e}"))
    }

    #[test]
    fn a_common_line_has_its_fields() {
        let line = parse(r#"192.0.2.7 - alice [10/Oct/2025:13:55:36 -0400] "GET /a?b=1 HTTP/1.1" 200 2326"#);
        assert_eq!((line.client, line.prefix), (&b"192.0.2.7"[..], Prefix::None));
        assert_eq!((line.unix_s, line.status, line.bytes), (1_760_118_936, Some(200), 2_326));
        let request = line.request_line().unwrap();
        assert_eq!((request.method, request.target, request.protocol), ("GET", &b"/a?b=1"[..], "HTTP/1.1"));
        assert_eq!((line.referer, line.user_agent, line.rest), (None, None, &b""[..]));
    }

    #[test]
    fn a_combined_line_may_go_on() {
        let line = parse(
            r#"h1.example.net - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" - - "-" "a \"quoted\" agent" 1736012"#,
        );
        assert_eq!((line.status, line.bytes), (None, 0));
        assert_eq!(line.user_agent, Some(&br#"a \"quoted\" agent"#[..]));
        assert_eq!(line.rest, b"1736012");
    }

    #[test]
    fn users_may_hold_blanks_and_requests_unescaped_quotes() {
        let line = parse(r#"192.0.2.7 - john smith [10/Oct/2025:13:55:36 +0000] "GET /"a" HTTP/1.0" 404 -"#);
        assert_eq!((line.client, line.request), (&b"192.0.2.7"[..], &br#"GET /"a" HTTP/1.0"#[..]));
        let line = parse(r#"192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET /\" 200 1 HTTP/1.0" 404 -"#);
        assert_eq!((line.request, line.status), (&br#"GET /\" 200 1 HTTP/1.0"#[..], Some(404)));
        let line = parse(r#"192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET C:\" 404 7 "-" "-""#);
        assert_eq!((line.request, line.bytes), (&br"GET C:\"[..], 7));
    }

    #[test]
    fn odd_requests_are_lines_but_no_requests() {
        for request in [
            "",
            "-",
            "HELP",
            r"\x16\x03\x01",
            "GET /",
            "GET  HTTP/1.0",
            "GET /a b",
            "GET",
            " / HTTP/1.1",
            "G(T / HTTP/1.1",
        ] {
            let text =
                alloc::format!(r#"192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "{request}" 400 157 "-" "-""#);
            let line = parse(&text);
            assert_eq!(line.request, request.as_bytes());
            assert_eq!(line.request_line(), None, "{request:?}");
        }
        let with_blank = parse(r#"192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET /a b HTTP/1.1" 400 157"#);
        assert_eq!(with_blank.request_line().unwrap().target, b"/a b");
    }

    #[test]
    fn prefixes_are_recognised() {
        let plain = r#"192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 5"#;
        for (before, prefix) in [
            ("", Prefix::None),
            ("www.example.org ", Prefix::Host(b"www.example.org")),
            ("www.example.org:443 ", Prefix::Host(b"www.example.org:443")),
            ("[::1]:80 ", Prefix::Host(b"[::1]:80")),
            ("Jul  8 11:07:07 web1 nginx[2869]: ", Prefix::Shipper(b"Jul  8 11:07:07 web1 nginx[2869]:")),
            ("<13>Jul 18 11:07:07 web1 nginx: ", Prefix::Shipper(b"<13>Jul 18 11:07:07 web1 nginx:")),
            ("2025-10-10T13:55:36.1Z stdout F ", Prefix::Shipper(b"2025-10-10T13:55:36.1Z stdout F")),
            ("2025-10-10T13:55:36Z web1 nginx[1]: ", Prefix::Shipper(b"2025-10-10T13:55:36Z web1 nginx[1]:")),
        ] {
            let text = [before, plain].concat();
            let line = parse(&text);
            assert_eq!((line.prefix, line.client), (prefix, &b"192.0.2.7"[..]), "{before:?}");
        }
        let six = parse(r#"2001:db8:: - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 5"#);
        assert_eq!((six.prefix, six.client), (Prefix::None, &b"2001:db8::"[..]));
    }

    #[test]
    fn lines_that_are_none_say_what_is_missing() {
        for (line, reason) in [
            ("", Reason::NoTime),
            (
                "[Thu Oct 13 12:24:49.880562 2022] [auth:error] [client 192.0.2.1] AH01618: no user",
                Reason::NoTime,
            ),
            (r#"192.0.2.7 - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 5"#, Reason::NoClient),
            ("192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] GET / 200 5", Reason::NoRequest),
            (r#"192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1"#, Reason::NoRequest),
            (r#"192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" abc 5"#, Reason::NoStatus),
            (r#"192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200"#, Reason::NoBytes),
            (r#"192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 x"#, Reason::NoBytes),
        ] {
            assert_eq!(AccessLine::parse(line.as_bytes()), Err(reason), "{line}");
        }
    }

    #[test]
    fn any_cut_or_flipped_byte_gives_a_line_or_a_reason_never_a_panic() {
        let text = br#"Jul  8 11:07:07 web1 nginx[1]: www.example.org:80 192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "-" "a\"b" 1.2"#;
        for at in 0..text.len() {
            let _ = AccessLine::parse(&text[..at]);
            let _ = AccessLine::parse(&text[at..]);
            for byte in [0, b'"', b'[', b' ', b'\\', 0xFF, b':'] {
                let mut bad = *text;
                bad[at] = byte;
                if let Ok(line) = AccessLine::parse(&bad) {
                    let _ = (line.request_line(), kind_of(line.request));
                }
            }
        }
    }

    #[test]
    fn kinds_follow_the_path() {
        for (target, kind) in [
            ("/", "page"),
            ("/cgi-bin/imagemap/countdown?1,2", "cgi"),
            ("/htbin/wais.pl", "cgi"),
            ("/images/launch-logo.GIF?x", "image"),
            ("/a.b/c", "page"),
            ("/x.mpg", "media"),
            ("http://example.org/p.jpeg", "image"),
            ("http://example.org", "page"),
            ("/x.html?y=/z.gif", "page"),
        ] {
            assert_eq!(kind_of(target.as_bytes()), kind, "{target}");
        }
    }
}
