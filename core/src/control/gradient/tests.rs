//! The limiter against a small server: jobs begun beyond its slots wait inside it, first come first served.

use super::*;
use crate::control::tests::check_bounds;
use crate::unit::{Draw, mix};
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Length of a step, and of the limiter's period, in milliseconds.
const PERIOD_MS: u64 = 100;

/// So many free slots.
fn free(slots: usize) -> BinaryHeap<Reverse<u64>> {
    core::iter::repeat_n(Reverse(0), slots).collect()
}

/// A server of ten slots, in steps of a millisecond, and the limiter in front of it.
struct Bench {
    pool: Gradient,
    now_ms: u64,
    /// When each slot is free again.
    slots: BinaryHeap<Reverse<u64>>,
    /// End and beginning of each job in work.
    inside: BinaryHeap<Reverse<(u64, u64)>>,
    begun: u64,
}

/// What a run of the bench showed.
#[derive(Debug)]
struct Run {
    /// Limits after each period.
    limits: Vec<u32>,
    /// Jobs ended a second.
    throughput: f64,
}

impl Run {
    fn least(&self) -> u32 {
        self.limits.iter().copied().min().unwrap()
    }

    fn most(&self) -> u32 {
        self.limits.iter().copied().max().unwrap()
    }
}

impl Bench {
    fn new(workers: u32) -> Self {
        let pool = Gradient::new(workers, (1, 1_000), 1.5, Duration::from_millis(PERIOD_MS));
        Self { pool, now_ms: 0, slots: free(10), inside: BinaryHeap::new(), begun: 0 }
    }

    /// Runs for so many seconds, with `demand` jobs ready to be in work at once and the service time of each job, in
    /// milliseconds, by its number.
    fn run(&mut self, seconds: u64, demand: usize, service_ms: impl Fn(u64) -> u64) -> Run {
        let mut run = Run { limits: Vec::new(), throughput: 0.0 };
        let mut ended = 0_u32;
        for _ in 0..seconds * 1_000 / PERIOD_MS {
            let seen = self.period(demand, &service_ms);
            ended += seen.completed;
            let now = Instant::START + Duration::from_millis(self.now_ms);
            run.limits.push(self.pool.on_sample(now, &seen));
        }
        run.throughput = f64::from(ended) / seconds as f64;
        run
    }

    /// One period of the limiter.
    fn period(&mut self, demand: usize, service_ms: impl Fn(u64) -> u64) -> PoolSample {
        let (mut sum_ms, mut seen) = (0, PoolSample::default());
        for _ in 0..PERIOD_MS {
            self.now_ms += 1;
            while self.inside.peek().is_some_and(|&Reverse((end, _))| end <= self.now_ms) {
                let Reverse((end, start)) = self.inside.pop().unwrap();
                seen.completed += 1;
                sum_ms += end - start;
            }
            while self.inside.len() < demand.min(self.pool.workers() as usize) {
                self.begin(service_ms(self.begun));
            }
            seen.most_busy = seen.most_busy.max(self.inside.len() as u32);
        }
        seen.mean = (seen.completed > 0)
            .then(|| Duration::from_nanos(sum_ms * 1_000_000 / u64::from(seen.completed)));
        seen
    }

    fn begin(&mut self, service_ms: u64) {
        let Reverse(free_at) = self.slots.pop().unwrap();
        let end = free_at.max(self.now_ms) + service_ms;
        self.slots.push(Reverse(end));
        self.inside.push(Reverse((end, self.now_ms)));
        self.begun += 1;
    }

    #[track_caller]
    fn check_measure(&self, want_s: f64) {
        let got = self.pool.measure.least_s().unwrap();
        assert!((got / want_s - 1.0).abs() < 0.05, "work is taken to need {got} s, not {want_s} s");
    }
}

/// A throughput of at least nine tenths of what the server can do.
#[track_caller]
fn check_served(run: &Run, capacity: f64) {
    let got = run.throughput;
    assert!(got >= 0.9 * capacity, "{got} jobs a second of {capacity} that the server can do");
}

/// All limits of a run within bounds.
#[track_caller]
fn check_limits(run: &Run, least: u32, most: u32) {
    let (low, high) = (run.least(), run.most());
    assert!(low >= least && high <= most, "limits from {low} to {high}, expected from {least} to {most}");
}

#[test]
fn it_finds_the_limit_of_an_overloaded_server() {
    let mut bench = Bench::new(2);
    bench.run(60, 200, |_| 100);
    let settled = bench.run(60, 200, |_| 100);
    check_served(&settled, 100.0);
    // Tolerance 1.5 of ten slots, and a step of growth beyond.
    check_limits(&settled, 10, 20);
}

#[test]
fn a_healthy_server_is_never_clamped_to_be_measured() {
    // Envoy's limiter clamps itself now and then to find the least time, and refuses what exceeds the clamp.
    let mut bench = Bench::new(12);
    let night = bench.run(3_600, 3, |_| 100);
    check_limits(&night, 12, 12);
    let day = bench.run(3_600, 10, |_| 100);
    check_limits(&day, 12, 12);
    assert!((day.throughput - 100.0).abs() < 1.0, "all is served: {}", day.throughput);
}

#[test]
fn it_grows_only_while_it_is_used() {
    let mut bench = Bench::new(12);
    // 10 of 12 are no use of the limit; 11 of 12 are.
    check_limits(&bench.run(60, 10, |_| 100), 12, 12);
    bench.slots = free(2_000);
    let run = bench.run(600, 11, |_| 100);
    assert_eq!(run.limits.last(), Some(&15), "one step of growth, and the limit is out of use again");
    let run = bench.run(600, 2_000, |_| 100);
    assert!(run.limits.is_sorted(), "it only grows, as work is never slow");
    assert_eq!(run.limits.last(), Some(&1_000), "up to its most");
}

#[test]
fn overload_for_hours_makes_it_neither_grow_nor_drift() {
    // Netflix's Gradient2 adds room for a queue while work is slow, and its long average follows the slow times.
    let mut bench = Bench::new(12);
    bench.run(600, 5, |_| 100);
    for hour in 0..6 {
        let run = bench.run(3_600, 200, |_| 100);
        assert!(run.most() <= 20, "a limit of {} in hour {hour}", run.most());
        check_served(&run, 100.0);
        bench.check_measure(0.1);
    }
}

#[test]
fn a_load_that_comes_while_the_limit_is_far_too_high_is_cut() {
    let mut bench = Bench::new(800);
    check_limits(&bench.run(60, 5, |_| 100), 800, 800);
    bench.run(120, 400, |_| 100);
    let settled = bench.run(60, 400, |_| 100);
    check_limits(&settled, 10, 20);
    check_served(&settled, 100.0);
    bench.check_measure(0.1);
}

#[test]
fn work_that_has_become_longer_is_learned_under_full_load() {
    let mut bench = Bench::new(12);
    bench.run(60, 200, |_| 100);
    let learning = bench.run(60, 200, |_| 300);
    bench.check_measure(0.3);
    assert!(learning.least() >= 2, "a limit of {} while learning", learning.least());
    assert!(learning.throughput > 25.0, "{} jobs a second of 33 while learning", learning.throughput);
    check_served(&bench.run(60, 200, |_| 300), 100.0 / 3.0);
}

#[test]
fn work_that_has_become_a_little_longer_is_learned_when_there_is_little() {
    let mut bench = Bench::new(12);
    bench.run(60, 5, |_| 100);
    // By 30 % is within the tolerance, so nothing is cut and only forgetting can tell.
    check_limits(&bench.run(600, 5, |_| 130), 12, 12);
    bench.check_measure(0.13);
}

#[test]
fn work_that_has_become_shorter_is_used_at_once() {
    let mut bench = Bench::new(12);
    bench.run(60, 200, |_| 100);
    check_served(&bench.run(60, 200, |_| 40), 250.0);
    let settled = bench.run(60, 200, |_| 40);
    check_served(&settled, 250.0);
    // The time was first seen with a queue in it, which leaves room for half as much again.
    check_limits(&settled, 10, 30);
}

#[test]
fn a_spell_of_very_quick_answers_does_not_shut_the_door_for_long() {
    let mut bench = Bench::new(12);
    bench.run(60, 200, |_| 100);
    bench.run(5, 200, |_| 1);
    bench.run(60, 200, |_| 100);
    let settled = bench.run(60, 200, |_| 100);
    check_served(&settled, 100.0);
    check_limits(&settled, 8, 30);
}

#[test]
fn unlike_jobs_are_no_sign_of_a_queue() {
    // Exponential service times of 100 ms on average: the least of many is a hundredth of the mean.
    let service = |n| (-libm::log(1.0 - Draw::from_bits(mix(n)).get()) * 100.0) as u64 + 1;
    let mut bench = Bench::new(12);
    bench.run(60, 200, service);
    let run = bench.run(3_600, 200, service);
    check_served(&run, 100.0);
    assert!(run.most() <= 60, "a limit of {}", run.most());
    let alone = Bench::new(12).run(3_600, 5, service);
    assert!(alone.throughput > 49.0, "{} jobs a second of 50 that are there", alone.throughput);
}

#[test]
fn failures_cut_it_to_the_least_and_it_recovers() {
    let mut bench = Bench::new(12);
    bench.run(60, 200, |_| 100);
    // An outage: whatever is in work fails after 5 s, always the same time, and nothing is completed.
    let mut pool = bench.pool.clone();
    let mut now = Instant::START + Duration::from_millis(bench.now_ms);
    for _ in 0..20 {
        now += Duration::from_secs(5);
        let workers = pool.workers();
        pool.on_sample(now, &PoolSample { most_busy: workers, failed: workers, ..PoolSample::default() });
    }
    assert_eq!(pool.workers(), 1, "after 100 s of nothing but time-outs");
    bench.pool = pool;
    bench.now_ms += 200_000;
    bench.run(60, 200, |_| 100);
    check_served(&bench.run(60, 200, |_| 100), 100.0);
}

#[test]
fn a_few_failures_do_not_cut_it() {
    let mut pool = Gradient::new(50, (1, 100), 1.5, Duration::from_millis(100));
    let mean = Some(Duration::from_millis(100));
    for period in 1..=100 {
        let now = Instant::START + Duration::from_millis(100 * period);
        let seen = PoolSample { most_busy: 40, completed: 90, failed: 9, mean, ..PoolSample::default() };
        assert_eq!(pool.on_sample(now, &seen), 50, "one job in eleven fails, in period {period}");
    }
}

#[test]
fn nothing_takes_it_beyond_its_bounds() {
    check_bounds(2, 30, |workers| Gradient::new(workers, (2, 30), 1.5, Duration::from_millis(100)));
}

#[test]
fn what_it_computes_with_stays_finite() {
    let mut pool = Gradient::new(5, (1, 100), f64::NAN, Duration::from_millis(100));
    for n in 0..10_000 {
        let now = Instant::START + Duration::from_millis(100 * n);
        let mean = Some(Duration::from_nanos([0, 1, u64::MAX][(mix(n) % 3) as usize]));
        let seen = PoolSample { most_busy: u32::MAX, completed: u32::MAX, mean, ..PoolSample::default() };
        pool.on_sample(now, &seen);
        let least = pool.measure.least_s();
        assert!(pool.limit.is_finite() && least.is_none_or(|least| least > 0.0), "{pool:?} in period {n}");
    }
}
