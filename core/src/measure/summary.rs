//! One figure over independent replications, its interval, and how much more would be needed.

use super::student::{normal_quantile, student_t_quantile};

/// A mean with the two ends of a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub mean: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl Interval {
    /// The interval `mean` plus or minus `half_width`.
    #[must_use]
    pub fn around(mean: f64, half_width: f64) -> Self {
        Self { mean, lo: mean - half_width, hi: mean + half_width }
    }

    /// Whether `value` lies inside, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// Half its length.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        0.5 * (self.hi - self.lo)
    }

    /// Half its length over the size of the mean; infinite for a mean of 0 unless the interval is a point.
    #[must_use]
    pub fn relative_half_width(&self) -> f64 {
        let half = self.half_width();
        if half == 0.0 { 0.0 } else { half / self.mean.abs() }
    }

    /// The same interval in another unit.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self { mean: self.mean * factor, lo: self.lo * factor, hi: self.hi * factor }
    }
}

/// One figure over independent replications: mean and spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Replications that gave a figure.
    pub n: usize,
    /// Their mean; NaN if there is none.
    pub mean: f64,
    /// Their standard deviation, over n - 1; NaN for fewer than two.
    pub sd: f64,
}

impl Summary {
    /// Summarises one figure a replication. Replications without a figure (NaN, infinite) do not count.
    #[must_use]
    pub fn of(figures: &[f64]) -> Self {
        let finite = || figures.iter().copied().filter(|x| x.is_finite());
        let n = finite().count();
        if n == 0 {
            return Self { n, mean: f64::NAN, sd: f64::NAN };
        }
        let mean = finite().sum::<f64>() / n as f64;
        let squares: f64 = finite().map(|x| (x - mean) * (x - mean)).sum();
        let sd = if n < 2 { f64::NAN } else { libm::sqrt(squares / (n - 1) as f64) };
        Self { n, mean, sd }
    }

    /// Interval that covers the true mean with probability `confidence` (0.95, say): Student t with n - 1
    /// degrees of freedom. `None` for fewer than two replications.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        if self.n < 2 {
            return None;
        }
        let t = student_t_quantile(0.5 + 0.5 * confidence, (self.n - 1) as f64);
        let half = t * self.sd / libm::sqrt(self.n as f64);
        half.is_finite().then(|| Interval::around(self.mean, half))
    }

    /// 95 % interval; `None` for fewer than two replications.
    #[must_use]
    pub fn ci95(&self) -> Option<Interval> {
        self.interval(0.95)
    }

    /// 99 % interval; `None` for fewer than two replications.
    #[must_use]
    pub fn ci99(&self) -> Option<Interval> {
        self.interval(0.99)
    }

    /// 99.9 % interval, the one tests use; `None` for fewer than two replications.
    #[must_use]
    pub fn ci99_9(&self) -> Option<Interval> {
        self.interval(0.999)
    }
}

/// How many requests more would narrow `now`, seen after `requests` of them, to `relative` (0.05 for
/// ±5 %) of its mean. 0 if it is narrow enough; `None` if no number would do (mean 0, no interval).
///
/// An interval narrows with the square root of the length of the run.
#[must_use]
pub fn requests_needed(now: &Interval, requests: u64, relative: f64) -> Option<u64> {
    let times_too_wide = now.relative_half_width() / relative;
    if !times_too_wide.is_finite() || times_too_wide < 0.0 {
        return None;
    }
    let total = libm::ceil(requests as f64 * times_too_wide * times_too_wide);
    Some((total as u64).saturating_sub(requests))
}

/// Requests after which the mean wait of an M/M/1 queue at utilisation `rho` is known to `relative` of itself
/// with probability `confidence`: a rule of thumb for choosing a run length before running.
///
/// The asymptotic variance of the mean wait is `rho (2 + 5 rho - 4 rho^2 + rho^3) / (1 - rho)^4` for unit
/// service time (Whitt 1989). NaN unless `0 < rho < 1`.
#[must_use]
pub fn mm1_requests_needed(rho: f64, relative: f64, confidence: f64) -> f64 {
    if !(rho > 0.0 && rho < 1.0) {
        return f64::NAN;
    }
    let gap = 1.0 - rho;
    let variance = rho * (2.0 + rho * (5.0 + rho * (rho - 4.0))) / (gap * gap * gap * gap);
    let half = relative * rho / gap;
    let z = normal_quantile(0.5 + 0.5 * confidence);
    z * z * variance / (half * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_replications_give_the_textbook_interval() {
        let figures = [9.252, 9.273, 9.413, 9.198, 9.532, 9.355, 9.155, 9.558, 9.310, 9.269];
        let summary = Summary::of(&figures);
        // mean 9.3315, sd 0.134074, t(0.975, 9) = 2.262157: half width 0.095911.
        let ci = summary.ci95().unwrap();
        assert!((summary.mean - 9.3315).abs() < 1e-12, "{summary:?}");
        let want = 2.262_157_163 * summary.sd / libm::sqrt(10.0);
        assert!((ci.half_width() - want).abs() < 1e-9, "{ci:?}");
        assert!((ci.half_width() - 0.095_911).abs() < 1e-5, "{ci:?}");
        let (ci99, ci99_9) = (summary.ci99().unwrap(), summary.ci99_9().unwrap());
        assert!(ci.half_width() < ci99.half_width() && ci99.half_width() < ci99_9.half_width());
        assert!(ci.contains(9.3315) && !ci.contains(9.5));
    }

    #[test]
    fn too_few_figures_give_no_interval() {
        assert_eq!(Summary::of(&[]).ci95(), None);
        assert!(Summary::of(&[]).mean.is_nan());
        assert_eq!(Summary::of(&[3.0]).ci95(), None);
        assert_eq!(Summary::of(&[3.0]).mean, 3.0);
        assert_eq!(Summary::of(&[3.0, f64::NAN, 5.0]).n, 2);
    }

    #[test]
    fn equal_figures_give_a_point() {
        let ci = Summary::of(&[0.15; 5]).ci99().unwrap();
        assert_eq!((ci.mean, ci.relative_half_width()), (0.15, 0.0));
    }

    #[test]
    fn half_the_width_takes_four_times_the_run() {
        let now = Interval::around(10.0, 1.0);
        assert_eq!(requests_needed(&now, 1_000, 0.05), Some(3_000));
        assert_eq!(requests_needed(&now, 1_000, 0.2), Some(0));
        assert_eq!(requests_needed(&Interval::around(0.0, 1.0), 1_000, 0.05), None);
        assert_eq!(requests_needed(&Interval::around(f64::NAN, 1.0), 1_000, 0.05), None);
    }

    #[test]
    fn run_lengths_agree_with_the_asymptotic_variance() {
        // Requests for ±5 % and ±1 % at 95 %, tabulated with z rounded to 1.96.
        for (rho, five, one) in [
            (0.5, 44_562.0, 1_114_064.0),
            (0.8, 189_775.0, 4_744_376.0),
            (0.9, 681_072.0, 17_026_824.0),
            (0.95, 2_586_326.0, 64_658_171.0),
        ] {
            let got = mm1_requests_needed(rho, 0.05, 0.95);
            assert!((got / five - 1.0).abs() < 5e-5, "rho {rho}: {got}, want {five}");
            let got = mm1_requests_needed(rho, 0.01, 0.95);
            assert!((got / one - 1.0).abs() < 5e-5, "rho {rho}: {got}, want {one}");
        }
        assert!(mm1_requests_needed(1.0, 0.05, 0.95).is_nan());
    }
}
