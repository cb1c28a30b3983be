//! Client addresses and blocks of them.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

/// A block of addresses, such as `192.0.2.0/24` or `2001:db8::/32`; a bare address is a block of one.
///
/// Addresses of IPv4 written in IPv6 (`::ffff:192.0.2.1`) count as IPv4. Bits beyond the prefix are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    // The block's bits, with zeros beyond the prefix.
    bits: u128,
    // Ones where the block's bits count.
    mask: u128,
    v6: bool,
}

/// A text that is no address and no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CidrError;

impl fmt::Display for CidrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an address or a block such as 192.0.2.0/24")
    }
}

impl core::error::Error for CidrError {}

/// The address as bits at the left of 128, and whether it is IPv6.
fn bits_of(address: IpAddr) -> (u128, bool) {
    match address.to_canonical() {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()) << 96, false),
        IpAddr::V6(v6) => (v6.to_bits(), true),
    }
}

impl Cidr {
    /// Whether the address is in the block.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let (bits, v6) = bits_of(address);
        v6 == self.v6 && bits & self.mask == self.bits
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(prefix_length(length)?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| CidrError)?;
        let written_length = length.unwrap_or(if address.is_ipv4() { 32 } else { 128 });
        // ::ffff:192.0.2.0/120 is 192.0.2.0/24.
        let mapped = address.is_ipv6() && address.to_canonical().is_ipv4();
        let length = if mapped { written_length.checked_sub(96).ok_or(CidrError)? } else { written_length };
        let (bits, v6) = bits_of(address);
        if length > if v6 { 128 } else { 32 } {
            return Err(CidrError);
        }
        let mask = if length == 0 { 0 } else { u128::MAX << (128 - length) };
        Ok(Self { bits: bits & mask, mask, v6 })
    }
}

fn prefix_length(text: &str) -> Result<u32, CidrError> {
    if text.is_empty() || text.len() > 3 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(CidrError);
    }
    text.parse().map_err(|_| CidrError)
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.mask.count_ones();
        if self.v6 {
            write!(f, "{}/{length}", Ipv6Addr::from_bits(self.bits))
        } else {
            write!(f, "{}/{length}", Ipv4Addr::from_bits((self.bits >> 96) as u32))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[track_caller]
    fn check(block: &str, inside: &[&str], outside: &[&str]) {
        let block: Cidr = block.parse().unwrap_or_else(|e| panic!("{block}: {e}"));
        for (addresses, want) in [(inside, true), (outside, false)] {
            for address in addresses {
                assert_eq!(block.contains(address.parse().unwrap()), want, "{address} in {block}");
            }
        }
    }

    #[test]
    fn blocks_hold_their_addresses() {
        check(
            "192.0.2.0/24",
            &["192.0.2.0", "192.0.2.255", "::ffff:192.0.2.7"],
            &["192.0.3.0", "2001:db8::"],
        );
        check("192.0.2.77/24", &["192.0.2.1"], &["192.0.1.77"]);
        check("192.0.2.7", &["192.0.2.7"], &["192.0.2.6"]);
        check("0.0.0.0/0", &["203.0.113.9"], &["::1"]);
        check("2001:db8::/32", &["2001:db8:ffff::1"], &["2001:db9::", "192.0.2.1"]);
        check("::/0", &["::1"], &["192.0.2.1", "::ffff:192.0.2.1"]);
        check("::ffff:192.0.2.0/120", &["192.0.2.200"], &["192.0.3.1"]);
        check("::1", &["::1"], &["::2"]);
    }

    #[test]
    fn what_is_no_block_is_an_error() {
        for text in [
            "",
            "/",
            "/8",
            "192.0.2.0/",
            "192.0.2.0/33",
            "192.0.2.0/-1",
            "192.0.2.0/+8",
            "192.0.2/24",
            "2001:db8::/129",
            "::ffff:192.0.2.0/24",
            "example.org",
            "192.0.2.0/24/8",
            " 192.0.2.0",
        ] {
            assert_eq!(text.parse::<Cidr>(), Err(CidrError), "{text}");
        }
    }

    #[test]
    fn blocks_print_as_they_are_understood() {
        assert_eq!("192.0.2.77/24".parse::<Cidr>().unwrap().to_string(), "192.0.2.0/24");
        assert_eq!("2001:db8::1".parse::<Cidr>().unwrap().to_string(), "2001:db8::1/128");
    }
}
