//! Small types that carry a rule about a number, so that nobody checks it twice.

/// How urgent a class is: larger goes first (paper S).
///
/// Not to be mixed with [`DelayWeight`], which runs the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(pub u8);

/// Share of the delay a class should bear: smaller is faster (paper P, `p_i`).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct DelayWeight(f64);

impl DelayWeight {
    /// A weight, or `None` unless it is finite and above zero.
    #[must_use]
    pub fn new(weight: f64) -> Option<Self> {
        (weight > 0.0 && weight.is_finite()).then_some(Self(weight))
    }

    /// The number itself.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// A probability: within `[0, 1]`, never NaN.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// A probability, or `None` outside `[0, 1]`.
    #[must_use]
    pub fn new(p: f64) -> Option<Self> {
        (0.0..=1.0).contains(&p).then_some(Self(p))
    }

    /// The number itself.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Whether the event happens for this draw.
    #[must_use]
    pub fn happens(self, draw: Draw) -> bool {
        draw.0 < self.0
    }
}

/// One uniform draw from `[0, 1)`, made by the driver and consumed by one decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw(f64);

impl Draw {
    /// The draw with these 64 random bits (the upper 53 count).
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self((bits >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0))
    }

    /// The number itself, in `[0, 1)`.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// The chance that travels with one job: 64 random bits drawn by the driver when the job arrives.
///
/// Each decision about the job takes its own [`Draw`] from them by a fixed hash, used or not. A policy
/// change therefore shifts nobody else's numbers, which is what lets two policies be compared on the
/// same traffic (common random numbers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance(pub u64);

impl Chance {
    /// The draw for decision number `decision` about this job.
    #[must_use]
    pub fn draw(self, decision: u32) -> Draw {
        Draw::from_bits(mix(self.0 ^ mix(u64::from(decision) + 1)))
    }
}

/// `SplitMix64`'s finaliser (Steele, Lea and Flood 2014): a bijection that scatters 64 bits.
#[must_use]
#[inline(always)]
pub const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_below_one() {
        assert_eq!(Draw::from_bits(0).get(), 0.0);
        assert!(Draw::from_bits(u64::MAX).get() < 1.0);
        let never = Probability::new(0.0).unwrap();
        let always = Probability::new(1.0).unwrap();
        assert!(!never.happens(Draw::from_bits(0)));
        assert!(always.happens(Draw::from_bits(u64::MAX)));
    }

    #[test]
    fn numbers_out_of_range_make_no_value() {
        assert!(Probability::new(f64::NAN).is_none());
        assert!(Probability::new(1.1).is_none());
        assert!(DelayWeight::new(0.0).is_none());
        assert!(DelayWeight::new(f64::INFINITY).is_none());
    }

    #[test]
    fn each_decision_about_a_job_has_its_own_draw() {
        let chance = Chance(42);
        assert_ne!(chance.draw(0), chance.draw(1));
        assert_eq!(chance.draw(0), Chance(42).draw(0));
    }

    #[test]
    fn mix_is_splitmix64() {
        // First two outputs of SplitMix64 seeded with 0 (reference implementation by S. Vigna).
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix(0x9E37_79B9_7F4A_7C15), 0x6E78_9E6A_A1B9_65F4);
    }
}
