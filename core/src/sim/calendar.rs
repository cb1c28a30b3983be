//! The event calendar: what happens next, in an order that every machine agrees on.
//!
//! Events leave by time; at equal times by [`Rank`]; at equal ranks in the order they were entered. Nothing
//! is ever removed early: an event that has lost its meaning is recognised when it comes up.

use crate::id::JobId;
use crate::time::Instant;
use alloc::vec::Vec;

/// Order of events at the same instant: what ends comes first, what begins comes last.
///
/// Between `Control` and `Arrival` the gateway is polled: deadlines pass and jobs are dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Rank {
    /// Work ends.
    Completion = 0,
    /// Controllers, workers and servers change; the scenario's timed events.
    Control = 1,
    /// A request arrives, with the dispatch it causes.
    Arrival = 4,
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// Work on a job ends.
    Completion(JobId),
    /// Timed event number so-and-so of the scenario.
    Timed(u32),
    /// The next open-loop arrival of a class; void if the class's arrivals were redrawn since.
    Arrival { class: u8, redraw: u32 },
    /// A client asks.
    Client { client: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u64,
    /// Rank in the upper byte, sequence number below.
    order: u64,
    what: What,
}

impl Entry {
    #[inline]
    const fn before(&self, other: &Self) -> bool {
        self.at < other.at || (self.at == other.at && self.order < other.order)
    }
}

/// A binary heap on (time, rank, sequence).
///
/// Ours rather than the library's because the simulator nearly always enters one event for each it takes,
/// and [`Calendar::pop`] leaves the hole at the root open for it: one walk instead of two.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calendar {
    heap: Vec<Entry>,
    /// Whether the root is a hole left by `pop`.
    hole: bool,
    sequence: u64,
}

impl Calendar {
    /// Enters an event.
    #[inline]
    pub(crate) fn push(&mut self, at: Instant, rank: Rank, what: What) {
        let entry = Entry { at: at.as_nanos(), order: ((rank as u64) << 56) | self.sequence, what };
        self.sequence += 1;
        if self.hole {
            self.hole = false;
            self.sink(entry);
        } else {
            self.heap.push(entry);
            self.rise(entry);
        }
    }

    /// Time and rank of the next event. Looks past an open hole without closing it.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Instant, u8)> {
        let first = if self.hole {
            match self.heap.get(1..)? {
                [] => return None,
                [one] => one,
                [one, two, ..] => {
                    if two.before(one) {
                        two
                    } else {
                        one
                    }
                }
            }
        } else {
            self.heap.first()?
        };
        Some((Instant::from_nanos(first.at), (first.order >> 56) as u8))
    }

    /// Takes the next event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Instant, What)> {
        self.fill();
        let first = *self.heap.first()?;
        self.hole = true;
        Some((Instant::from_nanos(first.at), first.what))
    }

    /// Closes the hole at the root with the last entry.
    #[inline]
    fn fill(&mut self) {
        if self.hole {
            self.hole = false;
            if let Some(last) = self.heap.pop()
                && !self.heap.is_empty()
            {
                self.sink(last);
            }
        }
    }

    /// Moves `entry` from the last place up to where it belongs.
    #[inline]
    fn rise(&mut self, entry: Entry) {
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    /// Moves `entry` from the root down to where it belongs.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let len = self.heap.len();
        let mut at = 0;
        loop {
            let mut child = 2 * at + 1;
            if child >= len {
                break;
            }
            if child + 1 < len && self.heap[child + 1].before(&self.heap[child]) {
                child += 1;
            }
            if !self.heap[child].before(&entry) {
                break;
            }
            self.heap[at] = self.heap[child];
            at = child;
        }
        self.heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::mix;

    fn number(what: What) -> u32 {
        let What::Timed(n) = what else { panic!("the test enters timed events") };
        n
    }

    #[test]
    fn equal_times_leave_by_rank_then_in_the_order_entered() {
        let mut calendar = Calendar::default();
        let at = Instant::from_nanos(5);
        for (n, rank) in
            [Rank::Arrival, Rank::Control, Rank::Completion, Rank::Completion].into_iter().enumerate()
        {
            calendar.push(at, rank, What::Timed(n as u32));
        }
        calendar.push(Instant::from_nanos(4), Rank::Arrival, What::Timed(9));
        let order: Vec<u32> = core::iter::from_fn(|| calendar.pop().map(|(_, what)| number(what))).collect();
        assert_eq!(order, [9, 2, 3, 1, 0]);
    }

    /// Against a sorted list, with pushes and pops mixed so that the open hole is used and closed.
    #[test]
    fn random_traffic_leaves_in_order() {
        let mut calendar = Calendar::default();
        let mut list: Vec<(u64, u64)> = Vec::new();
        for n in 0..4_000_u64 {
            if mix(n) % 5 < 3 {
                let at = mix(n ^ 77) % 1_000;
                calendar.push(Instant::from_nanos(at), Rank::Control, What::Timed(n as u32));
                list.push((at, n));
            } else {
                list.sort_unstable();
                let want = (!list.is_empty()).then(|| list.remove(0));
                assert_eq!(calendar.peek().map(|(at, _)| at.as_nanos()), want.map(|(at, _)| at));
                let got = calendar.pop().map(|(at, what)| (at.as_nanos(), u64::from(number(what))));
                assert_eq!(got, want, "after {n} steps");
            }
        }
    }
}
