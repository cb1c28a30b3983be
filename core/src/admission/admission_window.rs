//! Admission window: each period has an open part at its beginning, and how long it is follows the delay.
//!
//! An adaptive admission control of web servers before they had a say in their threads: it adapts the length of time
//! during which requests are accepted (paper P, 0.8, `AdmissionWindow`). It bounds the delays by turning work away, and
//! cannot shift them from one class to another; what it lets in comes in one burst a period. Besides, the queue has a
//! limit, which is judged first.

use super::{Found, Gauge, QueueControl, Taken, Verdict};
use crate::frame::Cause;
use crate::id::{ClassId, PerClass};
use crate::time::{Duration, Instant};
use crate::unit::{DelayWeight, Draw};

/// Least open part: somebody must get in, or nobody would learn that the delay has fallen.
const LEAST_OPEN: f64 = 0.05;
/// Part of the gain by which the open part grows in a period from which nothing is learned.
const IDLE_STEP: f64 = 0.1;
/// Largest relative error that counts, either way; a delay has no upper end.
const LARGEST_ERROR: f64 = 1.0;

/// A window for each class (paper P, 0.8). At the end of each period
/// `w += gain * (target - delay) / target`, within 0.05 and 1: `delay` is the mean of the jobs of the class handed to a
/// worker in the period, `target` the wanted delay times the weight of the class.
///
/// A period in which nobody was handed over says nothing of the delay. If nobody was let in either, the window opens by
/// a tenth of the gain; if somebody was and still waits, it stays.
#[derive(Clone, Debug)]
pub struct AdmissionWindow {
    period: Duration,
    gain: f64,
    limit: u32,
    /// Number of the present period since the start.
    number: u64,
    windows: PerClass<Window>,
}

/// One class.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Delay that is wanted, in seconds.
    target_s: f64,
    /// Open part of a period, 0.05 to 1.
    open: f64,
    /// Jobs let in in this period.
    admitted: u32,
    /// Jobs handed to a worker in this period, and the sum of their waits.
    taken: u32,
    wait_ns: u128,
    /// Mean wait in the last period in which somebody was handed over, in seconds.
    delay_s: f64,
    /// Level its jobs come with; unknown until the first has come.
    level: Option<u8>,
}

impl Window {
    /// The wait over the one that is wanted.
    fn excess(&self) -> f64 {
        self.delay_s / self.target_s
    }

    /// Ends a period, and `idle` more in which nothing happened.
    fn end_period(&mut self, gain: f64, idle: u64) {
        let mut step = gain * IDLE_STEP * idle as f64;
        if self.taken > 0 {
            self.delay_s = self.wait_ns as f64 / 1e9 / f64::from(self.taken);
            step += gain * (1.0 - self.excess()).clamp(-LARGEST_ERROR, LARGEST_ERROR);
        } else if self.admitted == 0 {
            step += gain * IDLE_STEP;
        }
        self.open = (self.open + step).clamp(LEAST_OPEN, 1.0);
        (self.admitted, self.taken, self.wait_ns) = (0, 0, 0);
    }
}

impl AdmissionWindow {
    /// Holds the delay of a class of weight 1 at `target`, others in proportion; at most `limit` wait. Both lengths are
    /// above zero.
    #[must_use]
    pub fn new(target: Duration, period: Duration, gain: f64, limit: u32, weights: &[DelayWeight]) -> Self {
        let window = |class: usize| Window {
            target_s: target.as_secs_f64() * weights[class].get(),
            open: 1.0,
            admitted: 0,
            taken: 0,
            wait_ns: 0,
            delay_s: 0.0,
            level: None,
        };
        Self { period, gain, limit, number: 0, windows: PerClass::new(weights.len(), window) }
    }

    /// Ends the periods that are over. A clock that steps back ends none.
    fn catch_up(&mut self, now: Instant) {
        let number = now.as_nanos() / self.period.as_nanos();
        if let Some(more) = number.checked_sub(self.number).filter(|&ended| ended > 0).map(|ended| ended - 1)
        {
            self.number = number;
            self.windows.iter_mut().for_each(|window| window.end_period(self.gain, more));
        }
    }

    /// Whether a class is let in at this moment of the period.
    fn is_open(&self, now: Instant, class: ClassId) -> bool {
        let length = self.period.as_nanos();
        let passed = (now.as_nanos() % length) as f64 / length as f64;
        passed < self.windows[class].open
    }
}

impl QueueControl for AdmissionWindow {
    fn on_arrival(&mut self, now: Instant, found: Found<'_>, _draw: Draw) -> Verdict {
        self.catch_up(now);
        self.windows[found.class].level = Some(found.level);
        if found.is_too_many(self.limit) {
            Verdict::Shed(Cause::Full)
        } else if self.is_open(now, found.class) {
            let admitted = &mut self.windows[found.class].admitted;
            *admitted = admitted.saturating_add(1);
            Verdict::Admit
        } else {
            Verdict::Shed(Cause::Forced)
        }
    }

    /// It has none, but learns the waits of those taken.
    fn judges_taken(&self) -> bool {
        true
    }

    fn on_take(&mut self, now: Instant, taken: Taken<'_>, _draw: Draw) -> Verdict {
        self.catch_up(now);
        let window = &mut self.windows[taken.class];
        window.taken = window.taken.saturating_add(1);
        window.wait_ns += u128::from(taken.waited.as_nanos());
        Verdict::Admit
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    /// Of the classes that come with the level, the one that waits longest for what is wanted: its delay in the last
    /// period, its target, and the closed part of a period, which is the chance to be turned away of who comes at any
    /// moment of it. `None` for a level that no class has come with.
    fn gauge(&self, _now: Instant, level: u8) -> Option<Gauge> {
        let of_level = self.windows.iter().filter(|window| window.level == Some(level));
        let worst = of_level.max_by(|a, b| a.excess().total_cmp(&b.excess()))?;
        Some(Gauge {
            average: worst.delay_s,
            min: worst.target_s,
            drop_p: 1.0 - worst.open,
            seconds: true,
            ..Gauge::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Queue;
    use super::*;

    const FORCED: Verdict = Verdict::Shed(Cause::Forced);
    const EMPTY: Queue<'_> = Queue { waiting: &[0], work_ns: &[0], len: 0, gap: Duration::ZERO };

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    /// Two classes that are to wait 100 and 200 ms; periods of 1 s, a gain of a fifth.
    fn control() -> AdmissionWindow {
        let weights = [1.0, 2.0].map(|weight| DelayWeight::new(weight).unwrap());
        AdmissionWindow::new(Duration::from_millis(100), Duration::from_secs(1), 0.2, 10, &weights)
    }

    fn arrive(control: &mut AdmissionWindow, ms: u64, class: u8) -> Verdict {
        let found =
            Found { class: ClassId(class), level: class, judged_at: class, would_wait: true, queue: EMPTY };
        control.on_arrival(at(ms), found, Draw::from_bits(0))
    }

    fn take(control: &mut AdmissionWindow, ms: u64, class: u8, waited_ms: u64) {
        let waited = Duration::from_millis(waited_ms);
        let taken = Taken { class: ClassId(class), level: class, waited, queue: EMPTY };
        let verdict = control.on_take(at(ms), taken, Draw::from_bits(0));
        assert_eq!(verdict, Verdict::Admit, "a job that has waited is never turned away");
    }

    /// Jobs of a class are taken in the first period after these waits; says how much of the second is open.
    #[track_caller]
    fn check(class: u8, waits_ms: &[u64], want: f64) {
        let mut control = control();
        for &waited in waits_ms {
            take(&mut control, 500, class, waited);
        }
        let _ = arrive(&mut control, 1_000, class);
        let got = control.windows[ClassId(class)].open;
        assert!(
            (got - want).abs() < 1e-12,
            "class {class}, waits {waits_ms:?} ms: {got} open, wanted {want}"
        );
    }

    #[test]
    fn the_open_part_moves_by_the_relative_error_of_the_mean() {
        check(0, &[100], 1.0);
        check(0, &[150], 0.9);
        check(0, &[100, 200], 0.9);
        // The second class may wait twice as long.
        check(1, &[200], 1.0);
        check(1, &[300], 0.9);
        // No delay counts for more than twice the target.
        check(0, &[1_000_000], 0.8);
        // Below the target it would open wider.
        check(0, &[0], 1.0);
    }

    #[test]
    fn who_comes_after_the_open_part_is_turned_away_until_the_next_period() {
        let mut control = control();
        take(&mut control, 0, 0, 150);
        assert_eq!(arrive(&mut control, 999, 0), Verdict::Admit, "the first period is all open");
        assert_eq!(arrive(&mut control, 1_899, 0), Verdict::Admit, "nine tenths are open");
        assert_eq!(arrive(&mut control, 1_900, 0), FORCED, "and the last is not");
        assert_eq!(arrive(&mut control, 1_900, 1), Verdict::Admit, "the other class is not concerned");
        assert_eq!(arrive(&mut control, 2_000, 0), Verdict::Admit, "a period begins open");
    }

    #[test]
    fn an_overloaded_class_keeps_the_least_and_opens_slowly_once_nobody_comes() {
        let mut control = control();
        for period in 0..20 {
            take(&mut control, period * 1_000, 0, 5_000);
        }
        assert_eq!(arrive(&mut control, 20_049, 0), Verdict::Admit, "a twentieth is always open");
        assert_eq!(arrive(&mut control, 20_051, 0), FORCED, "and no more");
        // Somebody got in in period 20 and was not taken: the window stays. Then 19 steps of 0.02.
        let _ = arrive(&mut control, 40_999, 0);
        let open = control.windows[ClassId(0)].open;
        assert!((open - 0.43).abs() < 1e-9, "{open} is open after 19 periods without anybody");
        assert_eq!(arrive(&mut control, 604_800_999, 0), Verdict::Admit, "after a week all of a period is");
    }

    #[test]
    fn a_full_queue_comes_first() {
        let mut control = control();
        let queue = Queue { waiting: &[10], len: 10, ..EMPTY };
        let found = Found { class: ClassId(0), level: 0, judged_at: 0, would_wait: true, queue };
        let got = control.on_arrival(at(0), found, Draw::from_bits(0));
        assert_eq!(got, Verdict::Shed(Cause::Full), "10 wait of 10");
        let free = Found { would_wait: false, ..found };
        assert_eq!(control.on_arrival(at(0), free, Draw::from_bits(0)), Verdict::Admit, "it need not wait");
    }

    #[test]
    fn the_gauge_shows_the_worst_class_of_a_level() {
        let mut control = control();
        assert_eq!(control.gauge(at(0), 0), None, "no class has come yet");
        for class in 0..2 {
            let found =
                Found { class: ClassId(class), level: 3, judged_at: 3, would_wait: true, queue: EMPTY };
            let _ = control.on_arrival(at(0), found, Draw::from_bits(0));
        }
        take(&mut control, 0, 0, 140);
        take(&mut control, 0, 1, 320);
        control.catch_up(at(1_000));
        let got = control.gauge(at(1_000), 3).expect("two classes come with it");
        let want = Gauge { average: 0.32, min: 0.2, seconds: true, ..Gauge::default() };
        assert_eq!(Gauge { drop_p: 0.0, ..got }, want, "the second class waits 1.6 times its target");
        assert!((got.drop_p - 0.12).abs() < 1e-12, "0.2 * 0.6 of a period is closed, not {}", got.drop_p);
    }

    /// One worker that takes 10 ms a job, first come, first served, offered twice what it can do by two classes.
    #[test]
    fn an_overloaded_stage_keeps_the_delay_near_the_target() {
        let weights = [DelayWeight::new(1.0).unwrap(); 2];
        let mut control =
            AdmissionWindow::new(Duration::from_millis(400), Duration::from_secs(1), 0.2, 10_000, &weights);
        let mut queue: alloc::collections::VecDeque<(Instant, u8)> = alloc::collections::VecDeque::new();
        let mut free_at = Instant::START;
        let (mut waited_s, mut taken) = (0.0, 0.0);
        for n in 0..400 * 200_u64 {
            let now = at(5 * n);
            while queue.front().is_some_and(|&(queued, _)| free_at.max(queued) <= now) {
                let (queued, class) = queue.pop_front().unwrap();
                let start = free_at.max(queued);
                take(
                    &mut control,
                    start.as_nanos() / 1_000_000,
                    class,
                    start.since(queued).as_nanos() / 1_000_000,
                );
                free_at = start + Duration::from_millis(10);
                if n > 40_000 {
                    waited_s += start.since(queued).as_secs_f64();
                    taken += 1.0;
                }
            }
            let class = (n % 2) as u8;
            if arrive(&mut control, 5 * n, class) == Verdict::Admit {
                queue.push_back((now, class));
            }
        }
        let (mean_s, served) = (waited_s / taken, taken / 200.0);
        assert!((0.2..0.6).contains(&mean_s), "the mean wait is {mean_s} s, wanted about 0.4");
        assert!(served > 80.0, "{served} of 100 jobs a second are served");
    }
}
