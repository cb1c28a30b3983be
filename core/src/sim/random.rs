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
#[inline(always)]
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
    #[inline(always)]
    pub(crate) const fn bits(&mut self) -> u64 {
        let bits = nth(self.key, self.drawn);
        self.drawn += 1;
        bits
    }

    /// The next number in `(0, 1)`: neither end, so that its logarithm is finite.
    #[inline(always)]
    pub(crate) fn open01(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
    }

    /// An exponential number with mean 1, by inversion.
    #[inline(always)]
    pub(crate) fn exponential(&mut self) -> f64 {
        -ln(self.open01())
    }
}

/// The natural logarithm of a normal number above 0, to the last bit that of `libm::log`.
///
/// The same sums in the same order (FreeBSD's `e_log.c`, by Sun Microsystems 1993), without the cases that a random
/// number never is: it is the dearest step of an event, and a call out of the loop by itself costs a third of it.
#[inline(always)]
fn ln(x: f64) -> f64 {
    const LN2_HI: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
    const LN2_LO: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);
    const LG: [f64; 7] = [
        f64::from_bits(0x3FE5_5555_5555_5593),
        f64::from_bits(0x3FD9_9999_9997_FA04),
        f64::from_bits(0x3FD2_4924_9422_9359),
        f64::from_bits(0x3FCC_71C5_1D8E_78AF),
        f64::from_bits(0x3FC7_4664_96CB_03DE),
        f64::from_bits(0x3FC3_9A09_D078_C69F),
        f64::from_bits(0x3FC2_F112_DF3E_5244),
    ];
    // x = 2^k m with m from sqrt(1/2) to sqrt(2).
    const SQRT_HALF: u64 = 0x3FE6_A09E << 32;
    let bits = x.to_bits() + ((0x3FF0_0000 << 32) - SQRT_HALF);
    let k = (bits >> 52) as i32 - 0x3FF;
    let m = f64::from_bits((bits & 0x000F_FFFF_FFFF_FFFF) + SQRT_HALF);
    let f = m - 1.0;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (LG[1] + w * (LG[3] + w * LG[5]));
    let odd = z * (LG[0] + w * (LG[2] + w * (LG[4] + w * LG[6])));
    let k = f64::from(k);
    s * (half_square + (odd + even)) + k * LN2_LO - half_square + f + k * LN2_HI
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
    #[inline(always)]
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
    fn the_logarithm_is_libms_to_the_last_bit() {
        let mut stream = Stream::new(key(3, 0, Purpose::Request, 0));
        let drawn = core::iter::repeat_with(move || stream.open01()).take(300_000);
        let smallest = 0.5 / 9_007_199_254_740_992.0;
        // About 1, where terms cancel, about the ends of a binade, and the extremes.
        let near_one = (0..2_000).map(|n| 1.0 - f64::from(n) * f64::EPSILON / 2.0);
        let near_binade = (-500..500).map(|n| f64::from_bits((0x3FE6_A09E_u64 << 32).wrapping_add_signed(n)));
        let powers = (0..=54).map(|n| libm::pow(0.5, f64::from(n)));
        for x in drawn.chain(near_one).chain(near_binade).chain(powers).chain([smallest]) {
            assert_eq!(ln(x).to_bits(), libm::log(x).to_bits(), "ln {x:e}");
        }
    }

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
