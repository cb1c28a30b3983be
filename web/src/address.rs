//! The page's address: everything behind `#`.
//!
//! `#t1z.<payload>.<check>&at=12.5&play=0` carries a scenario and how to look at it;
//! `#preset=mm1&at=5` names a built-in one; `#mode=live&server=http://127.0.0.1:9090` looks at a server.

/// A parsed address.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Address {
    /// The link with the scenario, if there is one.
    pub link: Option<String>,
    params: Vec<(String, String)>,
}

impl Address {
    /// Reads the part behind `#` (with or without it). Nothing is an error; unknown parts are kept.
    #[must_use]
    pub fn parse(hash: &str) -> Self {
        let text = hash.trim_start_matches('#');
        let mut address = Self::default();
        for (i, part) in text.split('&').filter(|p| !p.is_empty()).enumerate() {
            if let Some((key, value)) = part.split_once('=').filter(|(k, _)| !looks_like_link(k)) {
                address.params.push((key.to_owned(), unescape(value)));
            } else if i == 0 {
                address.link = Some(part.to_owned());
            }
        }
        address
    }

    /// Value of a view parameter.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.params.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// A view parameter that is a finite number at least 0.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key).and_then(crate::figures::read).filter(|x| *x >= 0.0)
    }
}

/// A payload may contain `=` by mistake of another program; a key of ours has no dot.
fn looks_like_link(key: &str) -> bool {
    key.contains('.')
}

/// Percent-decoding, lossy.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&b, tail)) = rest.split_first() {
        let digits = tail.get(..2).and_then(|d| core::str::from_utf8(d).ok());
        match digits.and_then(|d| u8::from_str_radix(d, 16).ok()).filter(|_| b == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(b);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Percent-encoding of what cannot stand in a parameter.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for b in text.bytes() {
        if b.is_ascii_alphanumeric() || b"-._~:/".contains(&b) {
            out.push(char::from(b));
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_presets_and_views_are_told_apart() {
        let a = Address::parse("#t1z.abc-_.0123456&at=117&play=0&theme=dark&lang=zh");
        assert_eq!(a.link.as_deref(), Some("t1z.abc-_.0123456"));
        assert_eq!((a.number("at"), a.get("play"), a.get("lang")), (Some(117.0), Some("0"), Some("zh")));
        let b = Address::parse("preset=mm1&at=-3&x");
        assert_eq!((b.link.as_deref(), b.get("preset"), b.number("at")), (None, Some("mm1"), None));
        assert_eq!(Address::parse("#").link, None);
        assert_eq!(Address::parse("#damaged").link.as_deref(), Some("damaged"));
        assert_eq!(Address::parse("#t1j.%7B%22a%22=1.zz").link.as_deref(), Some("t1j.%7B%22a%22=1.zz"));
    }

    #[test]
    fn server_addresses_survive() {
        let server = "http://127.0.0.1:9090/a?b=c&d";
        let a = Address::parse(&format!("#mode=live&server={}", escape(server)));
        assert_eq!(a.get("server"), Some(server));
        assert_eq!(Address::parse("#a=%zz%4").get("a"), Some("%zz%4"));
    }
}
