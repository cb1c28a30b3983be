//! Base64 as headers have it (RFC 4648, 4): the standard alphabet, with or without padding.

use alloc::vec::Vec;

/// The bytes that `text` stands for; `None` if it is no base64.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let padding = text.iter().rev().take_while(|&&byte| byte == b'=').count();
    let digits = &text[..text.len() - padding];
    // Padding is left out, or makes the length a multiple of 4.
    if digits.len() % 4 == 1 || (padding > 0 && (padding > 2 || !text.len().is_multiple_of(4))) {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut bits = 0;
        for at in 0..4 {
            bits = bits << 6 | group.get(at).map_or(Some(0), |&digit| value(digit))?;
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, 10, and what is none.
    #[test]
    fn base64_is_read_padded_or_not() {
        for (text, want) in [
            ("", Some("")),
            ("Zg==", Some("f")),
            ("Zm8=", Some("fo")),
            ("Zm9v", Some("foo")),
            ("Zm9vYg==", Some("foob")),
            ("Zm9vYmE=", Some("fooba")),
            ("Zm9vYmFy", Some("foobar")),
            ("Zm9vYg", Some("foob")),
            ("+/+/", None),
            ("Z", None),
            ("Zg=", None),
            ("Zg===", None),
            ("Zm9v====", None),
            ("Z g==", None),
            ("Zg==Zg==", None),
            ("Zm9-", None),
        ] {
            let got = decode(text.as_bytes()).map(|bytes| bytes.escape_ascii().to_string());
            let want = if text == "+/+/" { Some("\\xfb\\xff\\xbf") } else { want };
            assert_eq!(got.as_deref(), want, "{text:?}");
        }
    }

    use alloc::string::ToString as _;
}
