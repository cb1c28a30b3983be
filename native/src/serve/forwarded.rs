//! Who the client is, and what the server behind is told about it.
//!
//! Only peers the operator trusts are believed. From anybody else `Forwarded` and `X-Forwarded-*` are thrown away and
//! written anew; from a trusted peer the chain is read from the right, over further trusted proxies, to the first
//! address that is not: that one is the client. Nobody can move that point by writing more on the left.

use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use ipnet::IpNet;

use super::fields::tokens;

const FORWARDED: HeaderName = HeaderName::from_static("forwarded");
const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const PORT: HeaderName = HeaderName::from_static("x-forwarded-port");
/// What some servers read instead.
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Whose connection it came over.
    pub(crate) peer: IpAddr,
    /// Whom it is from.
    pub(crate) client: IpAddr,
    /// Whether the peer's word counts.
    pub(crate) trusted: bool,
}

impl Origin {
    /// Where a request with these headers comes from, if it came from `peer`.
    pub(crate) fn of(peer: IpAddr, headers: &HeaderMap, proxies: &[IpNet]) -> Self {
        let peer = peer.to_canonical();
        let is_trusted = |address: &IpAddr| proxies.iter().any(|block| block.contains(address));
        let trusted = is_trusted(&peer);
        let mut client = peer;
        if trusted {
            for hop in chain(headers).into_iter().rev() {
                // An obfuscated or broken entry ends what can be known.
                let Some(address) = hop else { break };
                client = address;
                if !is_trusted(&address) {
                    break;
                }
            }
        }
        Self { peer, client, trusted }
    }

    /// Rewrites the forwarding fields for the server behind. `host` is what the client asked for.
    pub(crate) fn announce(self, headers: &mut HeaderMap, host: Option<&HeaderValue>) {
        if !self.trusted {
            for name in [FORWARDED, FOR, PROTO, HOST, PORT, REAL_IP] {
                headers.remove(name);
            }
        }
        let peer = self.peer.to_string();
        append(headers, FOR, &peer);
        headers.entry(PROTO).or_insert(HeaderValue::from_static("http"));
        if let Some(host) = host {
            headers.entry(HOST).or_insert_with(|| host.clone());
        }
        // RFC 7239, 4 and 6: an IPv6 address is bracketed and quoted.
        let node = if self.peer.is_ipv6() { format!("\"[{peer}]\"") } else { peer };
        append(headers, FORWARDED, &format!("for={node};proto=http"));
    }
}

/// Adds a member to a comma-separated field, kept on one line: some servers read only one.
fn append(headers: &mut HeaderMap, name: HeaderName, member: &str) {
    let mut line: Vec<&[u8]> = headers.get_all(&name).iter().map(HeaderValue::as_bytes).collect();
    line.push(member.as_bytes());
    if let Ok(value) = HeaderValue::from_bytes(&line.join(&b", "[..])) {
        headers.insert(name, value);
    }
}

/// The addresses a request went through, first the client; `None` where one cannot be read.
/// `X-Forwarded-For` if there is one, else `Forwarded`.
fn chain(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    if headers.contains_key(FOR) {
        return tokens(headers, FOR).map(address).collect();
    }
    tokens(headers, FORWARDED)
        .map(|element| {
            let node = element.split(';').find_map(|pair| {
                let (name, value) = pair.split_once('=')?;
                name.trim().eq_ignore_ascii_case("for").then_some(value)
            });
            node.and_then(address)
        })
        .collect()
}

/// Reads an address with or without port, brackets and quotes.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse()
        .ok()
        .or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()))
        .map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(peer: &str, name: &'static str, chain: &str) -> Origin {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(chain).unwrap());
        Origin::of(
            peer.parse().unwrap(),
            &headers,
            &["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()],
        )
    }

    #[test]
    fn the_client_is_the_first_address_from_the_right_that_is_no_trusted_proxy() {
        for (peer, name, chain, client) in [
            ("10.0.0.1", "x-forwarded-for", "192.0.2.7", "192.0.2.7"),
            ("10.0.0.1", "x-forwarded-for", "1.1.1.1, 192.0.2.7, 10.9.9.9", "192.0.2.7"),
            ("10.0.0.1", "x-forwarded-for", "10.3.3.3, 10.2.2.2", "10.3.3.3"),
            ("10.0.0.1", "x-forwarded-for", "1.1.1.1, nonsense", "10.0.0.1"),
            ("10.0.0.1", "x-forwarded-for", "[2001:db8::1]:443, 10.2.2.2:80", "2001:db8::1"),
            ("::ffff:10.0.0.1", "x-forwarded-for", "::ffff:192.0.2.7", "192.0.2.7"),
            ("::1", "forwarded", "for=1.1.1.1, For=\"[2001:db8::2]:4711\";proto=https", "2001:db8::2"),
            ("10.0.0.1", "forwarded", "for=_hidden", "10.0.0.1"),
            ("192.0.2.9", "x-forwarded-for", "1.1.1.1", "192.0.2.9"),
        ] {
            assert_eq!(
                origin(peer, name, chain).client,
                client.parse::<IpAddr>().unwrap(),
                "{chain} via {peer}"
            );
        }
    }

    #[test]
    fn strangers_cannot_say_where_they_come_from() {
        let host = HeaderValue::from_static("shop.example");
        let forwarded = |trusted| {
            let mut headers = HeaderMap::new();
            headers.insert(FOR, HeaderValue::from_static("1.1.1.1"));
            headers.append(FOR, HeaderValue::from_static("2.2.2.2"));
            headers.insert(PROTO, HeaderValue::from_static("https"));
            let peer = "10.0.0.1".parse().unwrap();
            Origin { peer, client: peer, trusted }.announce(&mut headers, Some(&host));
            [FOR, PROTO, HOST, FORWARDED].map(|name| headers[name].to_str().unwrap().to_owned())
        };
        assert_eq!(
            forwarded(true),
            ["1.1.1.1, 2.2.2.2, 10.0.0.1", "https", "shop.example", "for=10.0.0.1;proto=http"]
        );
        assert_eq!(forwarded(false), ["10.0.0.1", "http", "shop.example", "for=10.0.0.1;proto=http"]);
    }
}
