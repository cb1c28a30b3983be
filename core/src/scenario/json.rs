//! JSON as text: one way to write each value, so that equal scenarios are equal bytes everywhere.
//!
//! Numbers and strings are written as ECMAScript writes them (as RFC 8785 asks), so that a page or script can
//! make the same bytes with `JSON.stringify`. Reading is [`crate::json`]'s business.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use serde_json::{Map, Value};

/// The shortest decimal that reads back as `x`, as ECMAScript writes it; `null` if not finite.
pub(super) fn number(x: f64) -> String {
    if !x.is_finite() {
        return String::from("null");
    }
    let size = if x < 0.0 { -x } else { x };
    if size == 0.0 {
        String::from("0")
    } else if (1e-6..1e21).contains(&size) {
        format!("{x}")
    } else {
        let text = format!("{x:e}");
        if size >= 1e21 { text.replace('e', "e+") } else { text }
    }
}

/// Appends `text` as a JSON string.
pub(super) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a value without spaces; keys sorted, as there is no schema to order them by.
pub(crate) fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => match (n.as_u64(), n.as_i64(), n.as_f64()) {
            (Some(n), _, _) => {
                let _ = write!(out, "{n}");
            }
            (_, Some(n), _) => {
                let _ = write!(out, "{n}");
            }
            (_, _, x) => out.push_str(&number(x.unwrap_or(0.0))),
        },
        Value::String(text) => push_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_value(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => push_map(out, map),
    }
}

/// Appends an object without spaces, its keys sorted.
pub(super) fn push_map(out: &mut String, map: &Map<String, Value>) {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| key.as_str());
    out.push('{');
    for (i, (key, item)) in entries.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        push_string(out, key);
        out.push(':');
        push_value(out, item);
    }
    out.push('}');
}

/// A value for an error message: without spaces, at most about 60 characters.
pub(super) fn shown(value: &Value) -> String {
    let mut text = String::new();
    match value {
        // Not written out first: the value may be a quarter of a megabyte.
        Value::Array(items) if !items.is_empty() => return format!("a list of {}", items.len()),
        Value::Object(map) if !map.is_empty() => return format!("an object of {} fields", map.len()),
        other => push_value(&mut text, other),
    }
    shorten(&text)
}

/// At most 60 characters of `text`.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => String::from(text),
    }
}

/// JSON text that has no spaces, spread over lines for people: two spaces a level, short objects and lists
/// of plain values on one line.
pub(super) fn pretty(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let bytes = compact.as_bytes();
    let (mut i, mut level) = (0, 0);
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(core::iter::repeat_n("  ", level));
    };
    while i < bytes.len() {
        match bytes[i] {
            b'{' | b'[' => {
                if let Some(end) = plain_end(compact, i) {
                    spaced(&mut out, &compact[i..=end]);
                    i = end;
                } else {
                    out.push(char::from(bytes[i]));
                    level += 1;
                    line(&mut out, level);
                }
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                line(&mut out, level);
                out.push(char::from(bytes[i]));
            }
            b',' => {
                out.push(',');
                line(&mut out, level);
            }
            b':' => out.push_str(": "),
            b'"' => {
                let end = string_end(bytes, i);
                out.push_str(&compact[i..end]);
                i = end - 1;
            }
            other => out.push(char::from(other)),
        }
        i += 1;
    }
    out.push('\n');
    out
}

/// Where the object or list at `start` ends, if it is short enough for one line and holds only plain
/// values (a list may hold no object at all, an object one more level of objects).
fn plain_end(text: &str, start: usize) -> Option<usize> {
    const WIDTH: usize = 96;
    let bytes = text.as_bytes();
    let (mut depth, mut i) = (0_usize, start);
    while i < bytes.len() && i - start <= WIDTH {
        match bytes[i] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            b'"' => i = string_end(bytes, i) - 1,
            _ => {}
        }
        if depth > 2 || (depth > 1 && bytes[start] == b'[') {
            return None;
        }
        i += 1;
    }
    None
}

/// One past the closing quote of the string that opens at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut i = start + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 1,
            b'"' => return i + 1,
            _ => {}
        }
        i += 1;
    }
    bytes.len()
}

/// Appends one line of JSON with a space after `,`, `:` and inside braces.
fn spaced(out: &mut String, compact: &str) {
    let bytes = compact.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b',' => out.push_str(", "),
            b':' => out.push_str(": "),
            b'{' if bytes.get(i + 1) != Some(&b'}') => out.push_str("{ "),
            b'}' if i > 0 && bytes[i - 1] != b'{' => out.push_str(" }"),
            b'"' => {
                let end = string_end(bytes, i);
                out.push_str(&compact[i..end]);
                i = end - 1;
            }
            other => out.push(char::from(other)),
        }
        i += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        for (x, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-9, "1.5e-9"),
            (123_456_789.25, "123456789.25"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(number(x), text);
            assert_eq!(text.parse::<f64>().unwrap(), x);
        }
    }

    #[test]
    fn lines_for_people_hold_the_same_value() {
        let compact = r#"{"a":[1,2,3],"b":{"c":"x{,:}\"","d":[]},"e":[{"f":1},{"f":"long enough that this list will not fit on one line of the page, which is the point of it"}],"g":{}}"#;
        let pretty = pretty(compact);
        let back: Value = serde_json::from_str(&pretty).unwrap();
        let mut again = String::new();
        push_value(&mut again, &back);
        assert_eq!(again, compact);
        assert!(pretty.contains("\n  \"a\": [1, 2, 3],\n"), "{pretty}");
    }
}
