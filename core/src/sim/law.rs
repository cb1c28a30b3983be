//! Laws of random times, with what can be computed once computed once.
//!
//! Every law draws by inversion, so that a larger random number always means a longer time: two scenarios
//! that differ in one law stay comparable request by request.

use super::random::{Stream, nth};
use crate::measure::normal_quantile;
use crate::scenario::v1::{LawV1, SizeV1};
use crate::time::Duration;

/// A law ready to draw from. Lengths are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Law {
    Constant {
        ns: u64,
    },
    Exponential {
        mean_ns: f64,
    },
    Uniform {
        min_ns: f64,
        span_ns: f64,
    },
    Erlang {
        phase_ns: f64,
        k: u32,
    },
    Hyperexponential {
        p: f64,
        means_ns: [f64; 2],
    },
    Lognormal {
        mu: f64,
        sigma: f64,
    },
    /// `floor` is what is left of the tail at the largest value.
    Pareto {
        min_ns: f64,
        floor: f64,
        exponent: f64,
    },
}

const NS_PER_US: f64 = 1_000.0;

impl Law {
    pub(crate) fn new(wire: &LawV1) -> Self {
        match *wire {
            LawV1::Constant { mean_us } => Self::Constant { ns: Duration::from_micros(mean_us).as_nanos() },
            LawV1::Exponential { mean_us } => Self::Exponential { mean_ns: mean_us as f64 * NS_PER_US },
            LawV1::Uniform { min_us, max_us } => Self::Uniform {
                min_ns: min_us as f64 * NS_PER_US,
                span_ns: (max_us - min_us) as f64 * NS_PER_US,
            },
            LawV1::Erlang { mean_us, k } => {
                Self::Erlang { phase_ns: mean_us as f64 * NS_PER_US / f64::from(k), k }
            }
            LawV1::Hyperexponential { mean_us, cv } => {
                // Balanced means: each branch carries half of the work (Allen 1990, 5.2).
                let c2 = cv * cv;
                let p = (1.0 + libm::sqrt((c2 - 1.0) / (c2 + 1.0))) / 2.0;
                let half = mean_us as f64 * NS_PER_US / 2.0;
                Self::Hyperexponential { p, means_ns: [half / p, half / (1.0 - p)] }
            }
            LawV1::Lognormal { mean_us, cv } => Self::lognormal(mean_us as f64 * NS_PER_US, cv),
            LawV1::Pareto { mean_us, alpha, ratio } => Self::pareto(mean_us as f64 * NS_PER_US, alpha, ratio),
        }
    }

    /// The law of a size; a byte stands for a nanosecond.
    pub(crate) fn of_size(wire: &SizeV1) -> Self {
        match *wire {
            SizeV1::Constant { bytes } => Self::Constant { ns: bytes },
            SizeV1::Uniform { min_bytes, max_bytes } => {
                Self::Uniform { min_ns: min_bytes as f64, span_ns: (max_bytes - min_bytes) as f64 }
            }
            SizeV1::Lognormal { mean_bytes, cv } => Self::lognormal(mean_bytes as f64, cv),
            SizeV1::Pareto { mean_bytes, alpha, ratio } => Self::pareto(mean_bytes as f64, alpha, ratio),
        }
    }

    /// mean = exp(mu + sigma^2 / 2), cv^2 = exp(sigma^2) - 1.
    fn lognormal(mean_ns: f64, cv: f64) -> Self {
        let sigma2 = libm::log1p(cv * cv);
        Self::Lognormal { mu: libm::log(mean_ns) - sigma2 / 2.0, sigma: libm::sqrt(sigma2) }
    }

    fn pareto(mean_ns: f64, alpha: f64, ratio: f64) -> Self {
        Self::Pareto {
            min_ns: mean_ns / pareto_mean(alpha, ratio),
            floor: libm::pow(ratio, -alpha),
            exponent: -1.0 / alpha,
        }
    }

    /// Draws one length.
    #[inline]
    pub(crate) fn draw(&self, stream: &mut Stream) -> Duration {
        let ns = match *self {
            Self::Constant { ns } => return Duration::from_nanos(ns),
            Self::Exponential { mean_ns } => mean_ns * exponential(stream),
            Self::Uniform { min_ns, span_ns } => min_ns + span_ns * open01(stream),
            Self::Erlang { phase_ns, k } => (0..k).map(|_| exponential(stream)).sum::<f64>() * phase_ns,
            Self::Hyperexponential { p, means_ns } => {
                let branch = usize::from(open01(stream) >= p);
                means_ns[branch] * exponential(stream)
            }
            Self::Lognormal { mu, sigma } => libm::exp(mu + sigma * normal_quantile(open01(stream))),
            Self::Pareto { min_ns, floor, exponent } => {
                // (1 - u) + u floor, not 1 - u (1 - floor): the latter rounds to 0 in the far tail.
                let u = open01(stream);
                min_ns * libm::pow((1.0 - u) + u * floor, exponent)
            }
        };
        nearest(ns)
    }
}

// One copy of each for the laws that are drawn from one at a time.

fn exponential(stream: &mut Stream) -> f64 {
    stream.exponential()
}

fn open01(stream: &mut Stream) -> f64 {
    stream.open01()
}

/// To the nearest nanosecond; the cast saturates.
#[inline]
fn nearest(ns: f64) -> Duration {
    Duration::from_nanos((ns + 0.5) as u64)
}

/// How many of the requests that come next have their work drawn at once.
const AHEAD: usize = 8;

/// The work of the requests of one class. That of those that are numbered one after another is drawn eight at a time, which
/// takes little longer than two that wait for each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Works {
    law: Law,
    /// What makes the key of the draw out of that of the request.
    salt: u64,
    ahead: [Duration; AHEAD],
    /// Number of the first of them.
    from: u64,
}

impl Works {
    pub(crate) fn new(wire: &LawV1, salt: u64) -> Self {
        // No request has a number anywhere near that.
        Self { law: Law::new(wire), salt, ahead: [Duration::ZERO; AHEAD], from: 1 << 63 }
    }

    /// The work of the request of this key.
    pub(crate) fn of(&self, key: u64) -> Duration {
        self.law.draw(&mut Stream::new(nth(key, self.salt)))
    }

    /// The work of request `n`, whose key is number `n` below `all`, always the same one.
    #[inline]
    pub(crate) fn of_nth(&mut self, all: u64, n: u64) -> Duration {
        if n.wrapping_sub(self.from) >= AHEAD as u64 {
            self.draw(all, n);
        }
        self.ahead[(n - self.from) as usize % AHEAD]
    }

    #[inline(never)]
    fn draw(&mut self, all: u64, from: u64) {
        self.from = from;
        let (salt, law) = (self.salt, self.law);
        for (at, ahead) in self.ahead.iter_mut().enumerate() {
            let mut stream = Stream::new(nth(nth(all, from + at as u64), salt));
            *ahead = match law {
                // The usual law is known here, so that eight draws do not wait for each other.
                Law::Exponential { mean_ns } => nearest(mean_ns * stream.exponential()),
                _ => law.draw(&mut stream),
            };
        }
    }
}

/// Mean of a Pareto law on `[1, ratio]` with tail index `alpha`.
fn pareto_mean(alpha: f64, ratio: f64) -> f64 {
    if (alpha - 1.0).abs() < 1e-9 {
        return libm::log(ratio) * ratio / (ratio - 1.0);
    }
    let reach = 1.0 - libm::pow(ratio, -alpha);
    alpha / (alpha - 1.0) * (1.0 - libm::pow(ratio, 1.0 - alpha)) / reach
}

#[cfg(test)]
mod tests {
    use super::super::random::{Purpose, key};
    use super::*;

    /// Mean and coefficient of variation of many draws against the formula.
    #[track_caller]
    fn check(wire: &LawV1, want_cv: f64, tolerance: f64) {
        let law = Law::new(wire);
        let mut stream = Stream::new(key(5, 0, Purpose::Request, 0));
        let n = 400_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = law.draw(&mut stream).as_nanos() as f64 / 1e6;
            sum += x;
            squares += x * x;
        }
        let mean = sum / f64::from(n);
        let cv = libm::sqrt((squares / f64::from(n) - mean * mean).max(0.0)) / mean;
        assert!((mean - 10.0).abs() < 10.0 * tolerance, "{wire:?}: mean {mean} ms, want 10");
        assert!(
            (cv - want_cv).abs() <= tolerance * 4.0 * want_cv.max(0.01),
            "{wire:?}: cv {cv}, want {want_cv}"
        );
    }

    #[test]
    fn every_law_has_the_mean_and_spread_it_says() {
        let mean_us = 10_000;
        check(&LawV1::Constant { mean_us }, 0.0, 1e-9);
        check(&LawV1::Exponential { mean_us }, 1.0, 0.01);
        check(&LawV1::Uniform { min_us: 5_000, max_us: 15_000 }, 0.288_675, 0.01);
        check(&LawV1::Erlang { mean_us, k: 4 }, 0.5, 0.01);
        check(&LawV1::Hyperexponential { mean_us, cv: 2.0 }, 2.0, 0.02);
        check(&LawV1::Lognormal { mean_us, cv: 1.5 }, 1.5, 0.02);
        check(&LawV1::Pareto { mean_us, alpha: 3.5, ratio: 1e4 }, 0.4365, 0.02);
    }

    #[test]
    fn work_that_is_drawn_ahead_is_that_of_its_request() {
        let (all, salt) = (key(7, 0, Purpose::Request, 2), 0x10);
        for wire in [
            LawV1::Exponential { mean_us: 10_000 },
            LawV1::Erlang { mean_us: 10_000, k: 3 },
            LawV1::Constant { mean_us: 10 },
        ] {
            let mut works = Works::new(&wire, salt);
            // One after another, not from the first on, and back again, as a run does that begins anew from a snapshot.
            for n in (0..40).chain([1_000, 1_003, 17, 16, 1 << 40]) {
                assert_eq!(works.of_nth(all, n), works.of(nth(all, n)), "{wire:?}, request {n}");
            }
        }
    }

    #[test]
    fn the_bounded_pareto_law_has_its_mean_at_any_tail_index() {
        // The mean of draws converges slowly, so integrate the inverse distribution instead.
        for (alpha, ratio) in [(0.7, 1e3), (1.0, 1e3), (1.3, 1e4), (2.0, 1e9)] {
            let Law::Pareto { min_ns, floor, exponent } =
                Law::new(&LawV1::Pareto { mean_us: 1_000, alpha, ratio })
            else {
                panic!("not a Pareto law");
            };
            let steps = 200_000;
            let sum: f64 = (0..steps)
                .map(|i| {
                    // Substituting 1 - u = v^4 crowds the steps where the tail is.
                    let v = (f64::from(i) + 0.5) / f64::from(steps);
                    let rest = v * v * v * v;
                    min_ns * libm::pow(rest + (1.0 - rest) * floor, exponent) * 4.0 * v * v * v
                })
                .sum();
            let mean_us = sum / f64::from(steps) / 1_000.0;
            assert!((mean_us - 1_000.0).abs() < 2.0, "alpha {alpha}, ratio {ratio}: mean {mean_us} us");
        }
    }
}
