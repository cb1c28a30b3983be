//! Random numbers of the simulator: a keyed hash in place of a running generator.
//!
//! Number `n` of a stream is `mix(key ^ mix(n))`, with `SplitMix64`'s finaliser as `mix`; the key is made of
//! seed, replication, purpose and index. So there are as many independent streams as one cares to name, none
//! of them keeps more state than a counter, and a request's numbers depend on which request it is and on
//! nothing that happened before: two policies meet the very same traffic, also when clients wait for their
//! answers. ChaCha8 with a stream number would do as well at five times the price.

use crate::unit::mix;

/// What a stream is for. The numbers are part of what a seed means: never change one.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Purpose {
    /// When open-loop requests arrive.
    Arrivals = 1,
    /// What a request is like: its work and its luck.
    Request = 2,
    /// How long a client thinks.
    Think = 3,
}

/// The key of one stream.
pub(crate) const fn key(seed: u64, replication: u32, purpose: Purpose, index: u64) -> u64 {
    let run = mix(mix(seed) ^ mix(replication as u64));
    mix(mix(run ^ mix(purpose as u64)) ^ mix(index))
}

/// Number `n` below a key: itself a key for what belongs to number `n`.
#[inline]
pub(crate) const fn nth(key: u64, n: u64) -> u64 {
    mix(key ^ mix(n))
}

/// One stream of random numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    key: u64,
    drawn: u64,
}

impl Stream {
    pub(crate) const fn new(key: u64) -> Self {
        Self { key, drawn: 0 }
    }

    /// The next 64 random bits.
    #[inline]
    pub(crate) const fn bits(&mut self) -> u64 {
        let bits = nth(self.key, self.drawn);
        self.drawn += 1;
        bits
    }

    /// The next number in `(0, 1)`: neither end, so that its logarithm is finite.
    #[inline]
    pub(crate) fn open01(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
    }

    /// An exponential number with mean 1, by inversion.
    #[inline]
    pub(crate) fn exponential(&mut self) -> f64 {
        -libm::log(self.open01())
    }
}

/// A stream of exponential numbers with mean 1, drawn eight at a time: the logarithms of eight numbers that do not
/// wait for each other take little longer than two that do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exponentials {
    stream: Stream,
    ahead: [f64; 8],
    used: usize,
}

impl Exponentials {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, ahead: [0.0; 8], used: 8 }
    }

    /// The next number.
    #[inline]
    pub(crate) fn next(&mut self) -> f64 {
        if self.used >= self.ahead.len() {
            self.draw();
        }
        let next = self.ahead[self.used & 7];
        self.used += 1;
        next
    }

    #[inline(never)]
    fn draw(&mut self) {
        for number in &mut self.ahead {
            *number = self.stream.exponential();
        }
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_replication_purpose_and_index() {
        let base = key(1, 0, Purpose::Arrivals, 0);
        for other in [
            key(2, 0, Purpose::Arrivals, 0),
            key(1, 1, Purpose::Arrivals, 0),
            key(1, 0, Purpose::Request, 0),
            key(1, 0, Purpose::Arrivals, 1),
        ] {
            assert_ne!(base, other);
        }
    }

    /// Chi-square on 64 cells (63 degrees of freedom: 99.9 % point 103.4), along a stream and across streams.
    #[test]
    fn numbers_are_spread_evenly_along_and_across_streams() {
        let along = {
            let mut stream = Stream::new(key(7, 0, Purpose::Arrivals, 3));
            core::iter::repeat_with(move || stream.open01())
        };
        let across = (0..).map(|n| Stream::new(nth(key(7, 0, Purpose::Request, 3), n)).open01());
        check_even("along", along);
        check_even("across", across);
    }

    fn check_even(name: &str, numbers: impl Iterator<Item = f64>) {
        let (draws, mut cells) = (640_000, [0_u32; 64]);
        for x in numbers.take(draws) {
            assert!(x > 0.0 && x < 1.0);
            cells[(x * 64.0) as usize] += 1;
        }
        let want = draws as f64 / 64.0;
        let chi2: f64 = cells.iter().map(|&n| (f64::from(n) - want) * (f64::from(n) - want) / want).sum();
        assert!(chi2 < 103.4, "{name}: chi-square {chi2}");
    }

    /// Lag-1 correlation of n numbers is normal with deviation 1/sqrt(n): 5 deviations allowed.
    #[test]
    fn neighbours_are_uncorrelated() {
        let mut stream = Stream::new(key(11, 0, Purpose::Arrivals, 0));
        let n = 400_000;
        let mut last = stream.open01() - 0.5;
        let mut sum = 0.0;
        for _ in 0..n {
            let x = stream.open01() - 0.5;
            sum += last * x;
            last = x;
        }
        let correlation = sum / f64::from(n) * 12.0;
        assert!(correlation.abs() < 5.0 / 632.0, "{correlation}");
    }
}
