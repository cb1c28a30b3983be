//! Averages of what waits: by count of events, as RED has them, and by time.
//!
//! By count: `avg <- (1 - w) avg + w Q` at every look (Floyd and Jacobson 1993, section IV; paper S, 1.3). While
//! nobody waits there may be no look, so time is made up for: as if one job had come in each mean time between
//! completions, `avg <- avg (1 - w)^m` with `m = floor(idle / gap)` (section XI there). Without it an empty stage goes
//! on turning jobs away after a burst.
//!
//! The idle time of a level counts from the last look or from when it ran empty, whichever is later: a look already
//! lowers the average once. That keeps averages over a level and all above it in order: the higher level is empty
//! whenever the lower is, and has been for as long or longer.
//!
//! By time: `A <- A + (1 - exp(-dt / tau)) (Q - A)`, which decays over gaps by itself.

use super::Queue;
use crate::scenario::v1::CountV1;
use crate::time::{Duration, Instant};
use alloc::vec;
use alloc::vec::Vec;

/// An average by count for each level.
#[derive(Clone, Debug)]
pub(super) struct Averages {
    /// Weight of the newest length, above 0 and at most 1.
    weight: f64,
    /// What a level's length is.
    count: CountV1,
    /// Mean time between two completions, as last seen; zero while unknown.
    gap: Duration,
    levels: Vec<Average>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Average {
    /// In jobs.
    value: f64,
    /// The length at the last look.
    length: u32,
    /// When the average was moved last, or when the level ran empty since.
    since: Instant,
}

impl Averages {
    /// Averages of empty queues. With [`CountV1::All`] one level stands for all.
    pub(super) fn new(levels: usize, weight: f64, count: CountV1) -> Self {
        Self { weight, count, gap: Duration::ZERO, levels: vec![Average::default(); levels] }
    }

    /// Takes the lengths that an arrival finds into the averages: of all levels, or of `only` one.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Instant, queue: Queue<'_>, only: Option<u8>) {
        self.look(now, queue, None, |level| only.is_none_or(|only| level == usize::from(only)));
    }

    /// Notes what remains after a job of level `left` went; that moves the averages for which `moves` says so.
    #[inline]
    pub(super) fn on_departure(
        &mut self,
        now: Instant,
        left: u8,
        queue: Queue<'_>,
        moves: impl Fn(usize) -> bool,
    ) {
        self.look(now, queue, Some(usize::from(left)), moves);
    }

    #[inline]
    fn look(&mut self, now: Instant, queue: Queue<'_>, left: Option<usize>, moves: impl Fn(usize) -> bool) {
        self.gap = queue.gap;
        let mut above = 0;
        for (level, (average, &waiting)) in self.levels.iter_mut().zip(queue.waiting).enumerate().rev() {
            above += waiting;
            let (length, changed) = match self.count {
                CountV1::All => (queue.len, left.is_some()),
                CountV1::Above => (above, left.is_some_and(|left| level <= left)),
                CountV1::Level => (waiting, left == Some(level)),
            };
            if moves(level) {
                // A level that has just run empty was not idle until now.
                let idle = if length == 0 && !changed { now.since(average.since) } else { Duration::ZERO };
                let decayed = average.value * idle_decay(self.weight, idle, queue.gap);
                // The published form, and not `avg + w (Q - avg)`: it rounds alike for all levels, so that
                // their order is exact, and at weight 1 it is the length itself.
                average.value = (1.0 - self.weight) * decayed + self.weight * f64::from(length);
                average.since = now;
            } else if changed && length == 0 {
                average.since = now;
            }
            average.length = length;
        }
    }

    /// The average of a level as it was last moved, in jobs.
    #[inline]
    pub(super) fn get(&self, level: u8) -> f64 {
        self.levels[usize::from(level)].value
    }

    /// The length of a level at the last look.
    #[inline]
    pub(super) fn length(&self, level: u8) -> u32 {
        self.levels[usize::from(level)].length
    }

    /// The average of a level as an arrival at `now` would take it up: less what it lost while nobody waited.
    pub(super) fn read(&self, now: Instant, level: u8) -> f64 {
        let average = self.levels[usize::from(level)];
        let idle = if average.length == 0 { now.since(average.since) } else { Duration::ZERO };
        average.value * idle_decay(self.weight, idle, self.gap)
    }
}

/// What remains of an average after an idle time: `(1 - w)^floor(idle / gap)`; all of it if `gap` is zero.
fn idle_decay(weight: f64, idle: Duration, gap: Duration) -> f64 {
    let (idle, gap) = (idle.as_nanos(), gap.as_nanos());
    if gap == 0 || idle < gap {
        1.0
    } else if idle - gap < gap {
        // The usual case, without division and power.
        1.0 - weight
    } else {
        power(1.0 - weight, idle / gap)
    }
}

/// `base` to the power of a whole number, by squaring.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

/// An average by time for each level.
#[derive(Clone, Debug)]
pub(super) struct TimeAverages {
    /// Time constant, above zero.
    tau: Duration,
    last: Instant,
    values: Vec<f64>,
}

impl TimeAverages {
    /// Averages that start at 0.
    pub(super) fn new(levels: usize, tau: Duration) -> Self {
        Self { tau, last: Instant::START, values: vec![0.0; levels] }
    }

    /// Takes the present values of all levels into the averages.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Instant, present: &[f64]) {
        let kept = self.kept(now);
        for (average, present) in self.values.iter_mut().zip(present) {
            *average = kept * *average + (1.0 - kept) * present;
        }
        self.last = now;
    }

    /// The average of a level as it was last moved.
    #[inline]
    pub(super) fn get(&self, level: u8) -> f64 {
        self.values[usize::from(level)]
    }

    /// The average of a level as an arrival at `now` that finds `present` would make it.
    pub(super) fn read(&self, now: Instant, level: u8, present: f64) -> f64 {
        let kept = self.kept(now);
        kept * self.get(level) + (1.0 - kept) * present
    }

    /// Part of an average that time since the last look has left: `exp(-dt / tau)`.
    fn kept(&self, now: Instant) -> f64 {
        libm::exp(-(now.since(self.last).as_nanos() as f64) / self.tau.as_nanos() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Duration = Duration::from_millis(10);

    fn queue(waiting: &[u32]) -> Queue<'_> {
        Queue { waiting, work_ns: &[], len: waiting.iter().sum(), gap: GAP }
    }

    fn at_ms(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    #[track_caller]
    fn check(what: &str, got: f64, want: f64, within: f64) {
        assert!((got - want).abs() <= within, "{what}: {got}, want {want}");
    }

    /// The average after arrivals that find these lengths, all at once.
    fn after(weight: f64, lengths: impl IntoIterator<Item = u32>) -> f64 {
        let mut averages = Averages::new(1, weight, CountV1::All);
        for length in lengths {
            averages.on_arrival(Instant::START, queue(&[length]), None);
        }
        averages.get(0)
    }

    /// First arrival of many finding `length` each after which the average is at least `level`.
    fn crosses(weight: f64, length: u32, level: f64) -> usize {
        (1..).find(|&n| after(weight, core::iter::repeat_n(length, n)) >= level).expect("it gets there")
    }

    #[test]
    fn a_constant_queue_of_300_crosses_the_papers_thresholds_at_55_and_135() {
        assert_eq!(crosses(0.02, 300, 200.0), 55, "arrival at which the average reaches 200");
        assert_eq!(crosses(0.02, 300, 280.0), 135, "arrival at which the average reaches 280");
    }

    #[test]
    fn a_burst_moves_the_average_as_floyd_and_jacobson_computed() {
        // L + 1 arrivals from empty find 0 to L: L + 1 + ((1 - w)^(L + 1) - 1) / w (1993, section VI).
        for (burst, want) in [(10, 0.109_343), (50, 2.468_66), (100, 9.464_84), (300, 74.692_5)] {
            check(&alloc::format!("after a burst of {burst}"), after(0.002, 0..=burst), want, 5e-6 * want);
        }
        check("300 arrivals at weight 0.002", after(0.002, 0..300), 74.241_004, 1e-6);
        check("300 arrivals at weight 0.02", after(0.02, 0..300), 250.116_63, 1e-5);
    }

    #[test]
    fn the_largest_weight_that_lets_a_burst_pass_is_the_published_one() {
        for (burst, min, weight) in [
            (50, 5.0, 0.004_195_1),
            (100, 5.0, 0.001_023_84),
            (50, 10.0, 0.009_046_19),
            (20, 5.0, 0.028_290_9),
        ] {
            let (below, above) = (after(weight * 0.999, 0..=burst), after(weight * 1.001, 0..=burst));
            assert!(
                below < min && min < above,
                "a burst of {burst} should reach {min} at weight {weight}: {below} just below, {above} just above"
            );
        }
    }

    #[test]
    fn half_of_an_average_is_gone_after_346_arrivals_at_weight_0_002() {
        // ln 2 / -ln 0.998 = 346.227.
        let left = |arrivals| {
            let mut averages = Averages::new(1, 0.002, CountV1::All);
            averages.levels[0].value = 1.0;
            (0..arrivals).for_each(|_| averages.on_arrival(Instant::START, queue(&[0]), None));
            averages.get(0)
        };
        assert!(left(346) > 0.5 && left(347) < 0.5, "346: {}, 347: {}", left(346), left(347));
        check("half-life", libm::log(0.5) / libm::log(left(1)), 346.227, 5e-4);
    }

    #[test]
    fn an_idle_queue_loses_as_much_as_so_many_empty_looks() {
        check(
            "10 over 1000 mean completions",
            10.0 * idle_decay(0.002, Duration::from_secs(10), GAP),
            1.350_645_2,
            1e-7,
        );
        let decay = |ms| idle_decay(0.5, Duration::from_millis(ms), GAP);
        assert_eq!([decay(9), decay(10), decay(39)], [1.0, 0.5, 0.125], "whole completions count");
        assert_eq!(
            idle_decay(0.5, Duration::from_secs(9), Duration::ZERO),
            1.0,
            "an unknown gap corrects nothing"
        );
        assert_eq!(idle_decay(1.0, Duration::from_secs(9), GAP), 0.0, "at weight 1 nothing is remembered");
    }

    /// Averages at weight 0.5 of two levels, both 8, after the last of two jobs left at 100 ms.
    fn drained(count: CountV1, moves: bool) -> Averages {
        let mut averages = Averages::new(2, 0.5, count);
        averages.on_arrival(at_ms(0), queue(&[0, 16]), None);
        averages.on_departure(at_ms(100), 1, queue(&[0, 0]), |_| moves);
        averages
    }

    #[test]
    fn idle_time_counts_from_when_the_level_ran_empty() {
        let mut averages = drained(CountV1::Above, false);
        assert_eq!(averages.get(0), 8.0, "leaving does not move an average unless asked for");
        assert_eq!(averages.read(at_ms(120), 0), 2.0, "two completions would have fitted in since 100 ms");
        averages.on_arrival(at_ms(120), queue(&[0, 0]), None);
        assert_eq!(averages.get(0), 1.0, "two missed completions and the look itself");
        averages.on_arrival(at_ms(129), queue(&[0, 0]), None);
        assert_eq!(averages.get(0), 0.5, "a look restarts the idle time");
    }

    #[test]
    fn a_departure_that_moves_the_average_is_one_look_and_no_idle_time() {
        assert_eq!(drained(CountV1::Above, true).get(1), 4.0);
    }

    #[test]
    fn a_level_is_idle_while_another_is_busy() {
        let mut averages = Averages::new(2, 0.5, CountV1::Above);
        averages.on_arrival(at_ms(0), queue(&[4, 4]), None);
        averages.on_departure(at_ms(10), 1, queue(&[4, 0]), |_| false);
        averages.on_departure(at_ms(20), 0, queue(&[3, 0]), |_| false);
        averages.on_arrival(at_ms(30), queue(&[3, 0]), None);
        assert_eq!(averages.get(0), 3.5, "somebody waits at the lower level: half of 4 and of 3");
        assert_eq!(
            averages.get(1),
            0.25,
            "the upper has been empty for two completions: 2 / 4, and one look"
        );
    }

    #[test]
    fn what_a_level_counts_is_all_or_itself_and_above_or_itself() {
        for (count, want) in
            [(CountV1::All, [9.0; 3]), (CountV1::Above, [9.0, 7.0, 4.0]), (CountV1::Level, [2.0, 3.0, 4.0])]
        {
            let mut averages = Averages::new(3, 1.0, count);
            averages.on_arrival(at_ms(0), queue(&[2, 3, 4]), None);
            assert_eq!([0, 1, 2].map(|level| averages.get(level)), want, "{count:?} of 2, 3, 4 waiting");
        }
    }

    #[test]
    fn an_arrival_can_move_its_own_level_alone() {
        let mut averages = Averages::new(2, 1.0, CountV1::Above);
        averages.on_arrival(at_ms(0), queue(&[2, 3]), Some(0));
        assert_eq!((averages.get(0), averages.get(1)), (5.0, 0.0));
    }

    #[test]
    fn an_average_by_time_forgets_by_time_alone() {
        let mut averages = TimeAverages::new(2, Duration::from_millis(250));
        averages.on_arrival(at_ms(250), &[2.0, 1.0]);
        check("after one time constant", averages.get(0), 2.0 * (1.0 - 0.367_879_441_2), 1e-9);
        let before = averages.get(1);
        averages.on_arrival(at_ms(250), &[9.0, 9.0]);
        assert_eq!(averages.get(1), before, "at the same moment nothing moves");
        check("read ahead", averages.read(at_ms(500), 1, 0.0), before * 0.367_879_441_2, 1e-9);
        averages.on_arrival(at_ms(60_000), &[0.5, 0.0]);
        check("after a long gap it is what is found", averages.get(0), 0.5, 1e-12);
    }
}
