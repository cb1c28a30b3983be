//! Adaptive last in, first out: the newest job while the queue does not empty.
//!
//! Source: Maurer 2015, "Fail at Scale". In overload the oldest of a long queue is served just before its client gives
//! up, or just after; the newest still has all its time. Those left behind need a deadline, or they wait for the end of
//! the overload. While the queue empties now and then, order of arrival is fair and costs nobody their answer.

use super::{Discipline, Fifo, Waiting};
use crate::time::{Duration, Instant};

/// So long without an empty queue means overload.
const STANDING: Duration = Duration::from_millis(100);

/// The oldest job of all, or the newest once the queue has not been empty for more than 100 ms.
///
/// When the queue last was empty is known to the lanes, so there is nothing to remember here.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveLifo;

impl Discipline for AdaptiveLifo {
    fn next(&mut self, now: Instant, waiting: Waiting<'_>) -> Option<u32> {
        if now.since(waiting.lanes.filled()) <= STANDING {
            Fifo.next(now, waiting)
        } else {
            waiting.tails().max_by_key(|(_, job)| job.ticket).map(|(slot, _)| slot)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::by_hand::Bench;
    use super::*;

    /// Jobs 0 to 3 of two classes join at 1,000 ms and every 10 ms after; who is served then, at which moments.
    #[track_caller]
    fn check(served_ms: &[u64], want: &[usize]) {
        let mut bench = Bench::new(1, 2);
        let slots = [0, 1, 2, 3].map(|n| bench.join_at(0, (n % 2) as u8, 1_000 + 10 * n));
        for (&ms, &want) in served_ms.iter().zip(want) {
            let slot = bench.take_at(&mut AdaptiveLifo, ms).unwrap();
            let got = slots.iter().position(|&s| s == slot).unwrap();
            assert_eq!(got, want, "job served at {ms} ms of {served_ms:?}");
        }
    }

    #[test]
    fn the_oldest_while_the_queue_was_empty_a_moment_ago() {
        check(&[1_050, 1_060, 1_100, 1_100], &[0, 1, 2, 3]);
    }

    #[test]
    fn the_newest_in_a_queue_that_stands() {
        check(&[1_100, 1_101, 1_102, 1_103], &[0, 3, 2, 1]);
    }

    #[test]
    fn an_empty_moment_brings_back_the_order_of_arrival() {
        let mut bench = Bench::new(1, 1);
        for ms in [0, 150] {
            bench.join_at(0, 0, ms);
            assert!(bench.take_at(&mut AdaptiveLifo, 200).is_some(), "a job that waits is served");
        }
        // Nobody has waited between 200 and 300 ms, whoever was served last and when.
        let [first, second] = [bench.join_at(0, 0, 300), bench.join_at(0, 0, 310)];
        assert_eq!(bench.take_at(&mut AdaptiveLifo, 390), Some(first), "the queue was empty until 300 ms");
        assert_eq!(bench.take_at(&mut AdaptiveLifo, 390), Some(second), "the queue was empty until 300 ms");
    }

    #[test]
    fn who_leaves_without_service_empties_the_queue_too() {
        let mut bench = Bench::new(1, 1);
        let gone = bench.join_at(0, 0, 0);
        bench.leave(gone);
        let [first, _] = [bench.join_at(0, 0, 300), bench.join_at(0, 0, 310)];
        assert_eq!(bench.take_at(&mut AdaptiveLifo, 390), Some(first), "the only job before left unserved");
    }
}
