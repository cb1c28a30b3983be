//! Input that nobody would write on purpose, for tests of readers: noise, and honest input that was damaged.

use crate::unit::mix;
use alloc::vec::Vec;

/// Feeds `read` with random bytes, and with `samples` cut, altered, doubled and spliced: some thousands of inputs, the
/// same in every run.
pub(super) fn feed(samples: &[&[u8]], mut read: impl FnMut(&[u8])) {
    let mut count = 0;
    let mut draw = move |below: usize| {
        count += 1;
        (mix(count) % below.max(1) as u64) as usize
    };
    for _ in 0..2_000 {
        let noise: Vec<u8> = (0..draw(200)).map(|_| draw(256) as u8).collect();
        read(&noise);
    }
    for sample in samples {
        for end in 0..=sample.len().min(400) {
            read(&sample[..end]);
        }
        for _ in 0..2_000 {
            let mut bytes = sample.to_vec();
            for _ in 0..=draw(4) {
                let at = draw(bytes.len());
                match draw(4) {
                    0 => drop(bytes.splice(at..at, [draw(256) as u8])),
                    1 if !bytes.is_empty() => bytes[at] = draw(256) as u8,
                    2 => bytes.truncate(at),
                    _ => {
                        let other = samples[draw(samples.len())];
                        bytes.extend_from_slice(&other[draw(other.len())..]);
                    }
                }
            }
            read(&bytes);
        }
    }
}
