//! One spelling for each path, so that a client cannot choose a class by spelling.
//!
//! `/gold`, `/%67old` and `/free/../gold` are the same resource to most servers behind us. They get the
//! same class: the query is cut off, letters and digits are decoded, dot segments are resolved (RFC
//! 3986, 6.2.2). What stays encoded is upper case. `%2F` stays as it is, since it does not divide
//! segments; double slashes stay too, since servers differ about them. Only the class is chosen from this
//! spelling: the request goes on as it came.

use alloc::borrow::Cow;
use alloc::vec::Vec;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Whether a byte may stand in a path as it is: `pchar` and `/` of RFC 3986.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte)
}

/// Whether `%XX` of this byte means the same as the byte.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// The path without query and fragment, in its one spelling. Borrowed if it is spelled so already.
pub(super) fn canonical(path: &[u8]) -> Cow<'_, [u8]> {
    let end = path.iter().position(|&b| b == b'?' || b == b'#').unwrap_or(path.len());
    let path = &path[..end];
    let spelled =
        if path.iter().all(|&b| is_plain(b)) { Cow::Borrowed(path) } else { Cow::Owned(respell(path)) };
    if has_dot_segment(&spelled) { Cow::Owned(resolve_dots(&spelled)) } else { spelled }
}

/// Patterns are spelled like paths (but have no query, and keep their dots).
pub(super) fn canonical_pattern(pattern: &[u8]) -> Vec<u8> {
    respell(pattern)
}

/// Decodes what needs no encoding and encodes what does. A `%` that begins no `%XX` is encoded itself.
fn respell(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len() + 8);
    let mut rest = path;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' && is_plain(byte) {
            out.push(byte);
            continue;
        }
        let (value, after) = match (byte, after) {
            (b'%', &[high, low, ref after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (digit(high) << 4 | digit(low), after)
            }
            _ => (byte, after),
        };
        rest = after;
        if is_unreserved(value) {
            out.push(value);
        } else {
            out.extend([b'%', HEX[usize::from(value >> 4)], HEX[usize::from(value & 15)]]);
        }
    }
    out
}

/// Value of an ASCII hexadecimal digit.
fn digit(hex: u8) -> u8 {
    match hex {
        b'0'..=b'9' => hex - b'0',
        _ => (hex | 0x20) - b'a' + 10,
    }
}

fn has_dot_segment(path: &[u8]) -> bool {
    path.contains(&b'.') && path.split(|&b| b == b'/').any(|segment| segment == b"." || segment == b"..")
}

/// Resolves `.` and `..` (RFC 3986, 5.2.4) without ever climbing above the root.
fn resolve_dots(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let rooted = path.first() == Some(&b'/');
    let body = if rooted { &path[1..] } else { path };
    let mut ends_in_dots = false;
    for segment in body.split(|&b| b == b'/') {
        ends_in_dots = segment == b"." || segment == b"..";
        if segment == b".." {
            kept.pop();
        } else if !ends_in_dots {
            kept.push(segment);
        }
    }
    if ends_in_dots {
        kept.push(b"");
    }
    let mut out = Vec::with_capacity(path.len());
    if rooted {
        out.push(b'/');
    }
    out.extend(kept.join(&b'/'));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, want: &str) {
        let got = canonical(path.as_bytes());
        assert_eq!(core::str::from_utf8(&got), Ok(want), "{path}");
        assert_eq!(canonical(&got), got, "{path}: a canonical path is its own canonical path");
    }

    #[test]
    fn plain_paths_are_borrowed_and_lose_their_query() {
        assert!(matches!(canonical(b"/a/b.html?x=../.."), Cow::Borrowed(b"/a/b.html")));
        check("/a?b", "/a");
        check("/a#b?c", "/a");
        check("?x", "");
        check("*", "*");
    }

    #[test]
    fn one_resource_has_one_spelling() {
        check("/%67old", "/gold");
        check("/a%2fb", "/a%2Fb");
        check("/a b/\u{e9}", "/a%20b/%C3%A9");
        check("/a%20b/%c3%a9", "/a%20b/%C3%A9");
        check("/100%", "/100%25");
        check("/%zz%4", "/%25zz%254");
        check("/%2567", "/%2567"); // decoded once only
        check("//a", "//a");
    }

    #[test]
    fn dot_segments_are_resolved_and_never_leave_the_root() {
        check("/free/../gold", "/gold");
        check("/free/%2e%2E/gold", "/gold");
        check("/a/./b/.", "/a/b/");
        check("/a/b/..", "/a/");
        check("/../../etc", "/etc");
        check("/..", "/");
        check("/...", "/...");
        check("/a..b/.c", "/a..b/.c");
        check("/a//../b", "/a/b");
    }

    #[test]
    fn every_short_path_has_a_stable_spelling() {
        let alphabet = b"a/.%2eF?";
        for mut number in 0..alphabet.len().pow(6) {
            let mut path = [0u8; 6];
            for byte in &mut path {
                *byte = alphabet[number % alphabet.len()];
                number /= alphabet.len();
            }
            let once = canonical(&path).into_owned();
            assert_eq!(*canonical(&once), *once, "{:?}", core::str::from_utf8(&path));
            assert!(!has_dot_segment(&once), "{:?}", core::str::from_utf8(&path));
        }
    }
}
