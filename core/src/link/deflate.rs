//! Raw DEFLATE (RFC 1951) with a preset dictionary, both ways, in pure Rust: command line, server and page
//! make the same bytes. Any other implementation that takes a dictionary (zlib's `zdict`) reads them.

use alloc::vec;
use alloc::vec::Vec;
use miniz_oxide::DataFormat;
use miniz_oxide::deflate::core::{
    CompressionStrategy, CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output,
};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

/// The dictionary of version 1: typical scenario text. Frozen with the format, as links depend on each byte.
pub(super) const DICTIONARY_1: &[u8] = include_bytes!("dictionary1.txt");

/// Compresses `text` as if `dictionary` had come before it.
///
/// Short texts are often shorter with the code tables that the format brings than with tables of their own,
/// which have to be written out; the library does not compare, so both are made.
pub(super) fn deflate(text: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let own = deflate_as(CompressionStrategy::Default, text, dictionary);
    let fixed = deflate_as(CompressionStrategy::Fixed, text, dictionary);
    if fixed.len() < own.len() { fixed } else { own }
}

/// Compresses in one way.
///
/// The library has no call for a dictionary. But after a sync flush output is at a byte boundary and the
/// window holds what went before, so the bytes up to there can be dropped: what follows is a stream of its own
/// that refers back into the dictionary.
fn deflate_as(strategy: CompressionStrategy, text: &[u8], dictionary: &[u8]) -> Vec<u8> {
    const BEST: u8 = 10;
    const WINDOW_BITS: u8 = 15;
    let mut squeezer = CompressorOxide::with_params(DataFormat::Raw, BEST, strategy, WINDOW_BITS);
    let (status, _) = compress_to_output(&mut squeezer, dictionary, TDEFLFlush::Sync, |_| true);
    assert!(status == TDEFLStatus::Okay, "a sync flush into a callback has nothing to fail at");
    let mut out = Vec::new();
    let (status, _) = compress_to_output(&mut squeezer, text, TDEFLFlush::Finish, |bytes| {
        out.extend_from_slice(bytes);
        true
    });
    assert!(status == TDEFLStatus::Done, "finishing into a callback has nothing to fail at");
    out
}

/// Expands what [`deflate`] made, at most to `limit` bytes; `None` if it is no such stream, is longer, or
/// has something after its end.
pub(super) fn inflate(squeezed: &[u8], dictionary: &[u8], limit: usize) -> Option<Vec<u8>> {
    let start = dictionary.len();
    // One buffer that never wraps, begun with the dictionary: references reach back into it.
    let mut out = vec![0; start + limit];
    out[..start].copy_from_slice(dictionary);
    let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let (status, read, written) = decompress(&mut DecompressorOxide::new(), squeezed, &mut out, start, flags);
    if status != TINFLStatus::Done || read != squeezed.len() {
        return None;
    }
    out.truncate(start + written);
    out.drain(..start);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::mix;

    #[test]
    fn what_goes_in_comes_out() {
        let mut noise = 1;
        for length in [0, 1, 100, 5_000, 70_000] {
            let text: Vec<u8> = (0..length)
                .map(|_| {
                    noise = mix(noise);
                    b"abcdefgh{\":,}"[(noise % 13) as usize]
                })
                .collect();
            let squeezed = deflate(&text, DICTIONARY_1);
            assert_eq!(inflate(&squeezed, DICTIONARY_1, 70_000), Some(text), "{length} bytes");
        }
    }

    #[test]
    fn the_dictionary_is_used() {
        let text = &DICTIONARY_1[2_000..3_000];
        assert!(deflate(text, DICTIONARY_1).len() < 20);
        assert_eq!(inflate(&deflate(text, DICTIONARY_1), b"", 2_000), None);
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let bomb = deflate(&vec![b'x'; 100_000], DICTIONARY_1);
        assert!(bomb.len() < 500);
        assert_eq!(inflate(&bomb, DICTIONARY_1, 99_999), None);
        assert_eq!(inflate(&bomb, DICTIONARY_1, 100_000).map(|text| text.len()), Some(100_000));
    }

    #[test]
    fn noise_and_leftovers_are_refused() {
        let mut squeezed = deflate(b"{}", DICTIONARY_1);
        squeezed.push(0);
        assert_eq!(inflate(&squeezed, DICTIONARY_1, 100), None);
        let mut noise = 7;
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..40)
                .map(|_| {
                    noise = mix(noise);
                    noise as u8
                })
                .collect();
            let _ = inflate(&bytes, DICTIONARY_1, 1_000);
        }
    }
}
