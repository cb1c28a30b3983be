//! The three ways of putting bytes into a link: base64url, percent encoding, and the check.

use alloc::string::String;
use alloc::vec::Vec;

/// The alphabet of base64url (RFC 4648, section 5).
pub(super) const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Crockford's base32 in lower case: no i, l, o, u.
pub(super) const CROCKFORD: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Characters of a check.
pub(super) const CHECK_LENGTH: usize = 7;

/// Base64url without padding.
pub(super) fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().enumerate().fold(0_u32, |bits, (i, b)| bits | (u32::from(*b) << (16 - 8 * i)));
        for i in 0..=chunk.len() {
            out.push(char::from(BASE64[(bits >> (18 - 6 * i)) as usize & 63]));
        }
    }
    out
}

/// Reads base64url without padding.
///
/// # Errors
/// The offset of the first character that cannot be there, or the length if it ends in the middle.
pub(super) fn from_base64(text: &str) -> Result<Vec<u8>, usize> {
    let text = text.as_bytes();
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for (n, chunk) in text.chunks(4).enumerate() {
        let mut bits = 0_u32;
        for (i, c) in chunk.iter().enumerate() {
            let value = BASE64.iter().position(|known| known == c).ok_or(n * 4 + i)?;
            bits |= (value as u32) << (18 - 6 * i);
        }
        let bytes = match chunk.len() {
            1 => return Err(text.len()),
            length => length - 1,
        };
        // Bits that belong to no byte are zero, or two texts would mean the same.
        if bits & (0xFF_FFFF >> (8 * bytes)) != 0 {
            return Err(text.len() - 1);
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..=bytes]);
    }
    Ok(out)
}

/// Percent encoding as ECMAScript's `encodeURIComponent` does it.
pub(super) fn to_percent(text: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len() * 2);
    for b in text.bytes() {
        if b.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&b) {
            out.push(char::from(b));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(b >> 4)]));
            out.push(char::from(HEX[usize::from(b & 15)]));
        }
    }
    out
}

/// Undoes percent encoding; what is not encoded stays.
///
/// # Errors
/// The offset of a `%` without two hexadecimal digits, or of the first byte that is no UTF-8.
pub(super) fn from_percent(text: &str) -> Result<String, usize> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        from.push(i);
        if bytes[i] == b'%' {
            let digits = bytes.get(i + 1..i + 3).ok_or(i)?;
            let digit = |c: u8| char::from(c).to_digit(16).ok_or(i);
            out.push((digit(digits[0])? * 16 + digit(digits[1])?) as u8);
            i += 3;
        } else {
            out.push(bytes[i]);
            i += 1;
        }
    }
    String::from_utf8(out).map_err(|e| from.get(e.utf8_error().valid_up_to()).copied().unwrap_or(0))
}

/// CRC-32 (ISO-HDLC, as in zlib and PNG).
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, b| CRC[usize::from(crc as u8 ^ b)] ^ (crc >> 8))
}

/// What the CRC register was before a zero byte moved it to `crc`.
pub(super) fn crc_wound_back(crc: u32) -> u32 {
    // The top bytes of the table are all different: each tells which entry was used.
    let used = usize::from(CRC_BY_TOP_BYTE[(crc >> 24) as usize]);
    ((crc ^ CRC[used]) << 8) | used as u32
}

const CRC_BY_TOP_BYTE: [u8; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        table[(CRC[n] >> 24) as usize] = n as u8;
        n += 1;
    }
    table
};

const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let mut crc = n as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[n] = crc;
        n += 1;
    }
    table
};

/// The seven characters that vouch for `text`; the most significant first.
pub(super) fn check_of(text: &str) -> String {
    let crc = crc32(text.as_bytes());
    (0..CHECK_LENGTH).rev().map(|i| char::from(CROCKFORD[(crc >> (5 * i)) as usize & 31])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(to_base64(bytes.as_bytes()), text);
            assert_eq!(from_base64(text).as_deref(), Ok(bytes.as_bytes()));
        }
        assert_eq!(to_base64(&[0xFB, 0xFF]), "-_8");
        for (text, at) in [("Zm9v*", 4), ("Zm9vY", 5), ("Zh", 1), ("Zm9", 2), ("Zg==", 2), ("é", 0)] {
            assert_eq!(from_base64(text), Err(at), "{text}");
        }
    }

    #[test]
    fn percent_encoding_is_that_of_ecmascript() {
        assert_eq!(to_percent("{\"a b\":1.5}ü"), "%7B%22a%20b%22%3A1.5%7D%C3%BC");
        assert_eq!(from_percent("%7B%22a%20b%22%3A1.5%7D%c3%bc"), Ok(String::from("{\"a b\":1.5}ü")));
        assert_eq!(from_percent("{\"a b\"}"), Ok(String::from("{\"a b\"}")));
        for (text, at) in [("ab%2", 2), ("%zz", 0), ("a%ff", 1), ("%", 0)] {
            assert_eq!(from_percent(text), Err(at), "{text}");
        }
    }

    #[test]
    fn the_check_is_crc_32() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(check_of("123456789"), "35z8e96");
        for crc in [0, 1, 0xFF, 0xCBF4_3926, u32::MAX] {
            let moved = CRC[usize::from(crc as u8)] ^ (crc >> 8);
            assert_eq!(crc_wound_back(moved), crc);
        }
    }
}
