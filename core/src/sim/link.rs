//! A link that a stage's workers share: each transfer under way gets an equal part of it.
//!
//! Processor sharing in virtual time: the clock of the link shows how many bytes each transfer has been sent since the
//! run began, so a transfer that comes knows at once at what reading it ends, and nobody else's end has to be
//! changed when one comes or goes (Kleinrock 1976, vol. 2, 4.4; as in fair queueing).

use crate::id::JobId;
use crate::time::{Duration, Instant};
use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

/// The link of a stage, with what it is sending.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    bytes_per_ns: f64,
    /// Bytes that each transfer was sent since the run began, had it been there from the start.
    sent: f64,
    since: Instant,
    /// Transfers by the reading at which they end, then in the order they began. The reading is above zero, so its bits
    /// are ordered as it is.
    transfers: BinaryHeap<Reverse<(u64, u64, JobId)>>,
    begun: u64,
    /// How often the next end has been set anew: what was entered in the calendar before is void.
    pub version: u32,
}

impl Link {
    pub(crate) fn new(bytes_per_s: f64) -> Self {
        Self {
            bytes_per_ns: bytes_per_s / 1e9,
            sent: 0.0,
            since: Instant::START,
            transfers: BinaryHeap::new(),
            begun: 0,
            version: 0,
        }
    }

    /// Begins to send a job's bytes; when the first transfer ends if nothing changes.
    pub(crate) fn begin(&mut self, now: Instant, job: JobId, bytes: u64) -> Instant {
        self.advance(now);
        let end = self.sent + bytes as f64;
        self.transfers.push(Reverse((end.to_bits(), self.begun, job)));
        self.begun += 1;
        self.next_end(now).expect("a transfer is under way")
    }

    /// Ends the transfer whose time has come: its job, and when the next one ends.
    pub(crate) fn end(&mut self, now: Instant) -> Option<(JobId, Option<Instant>)> {
        self.advance(now);
        let Reverse((end, _, job)) = self.transfers.pop()?;
        // The clock reads what it should, whatever was lost in rounding to whole nanoseconds.
        self.sent = f64::from_bits(end);
        if self.transfers.is_empty() {
            // Small readings are exact to a smaller part of a byte.
            self.sent = 0.0;
        }
        Some((job, self.next_end(now)))
    }

    fn advance(&mut self, now: Instant) {
        let flows = self.transfers.len();
        if flows > 0 {
            let elapsed = now.since(self.since).as_nanos() as f64;
            self.sent += elapsed * self.bytes_per_ns / flows as f64;
        }
        self.since = now;
    }

    /// When the first transfer ends; never before `now`, and on the first nanosecond after it is done.
    fn next_end(&mut self, now: Instant) -> Option<Instant> {
        let &Reverse((end, ..)) = self.transfers.peek()?;
        self.version = self.version.wrapping_add(1);
        let left = (f64::from_bits(end) - self.sent).max(0.0);
        let ns = libm::ceil(left * self.transfers.len() as f64 / self.bytes_per_ns);
        Some(now + Duration::from_nanos(ns as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Transfers as (begin in ns, bytes) over a link of 1 byte a nanosecond: when each ends, in ns.
    #[track_caller]
    fn check(transfers: &[(u64, u64)], want: &[u64]) {
        let mut link = Link::new(1e9);
        let mut ends = alloc::vec![0; transfers.len()];
        let mut coming: Vec<(usize, u64, u64)> =
            transfers.iter().enumerate().map(|(n, &(at, bytes))| (n, at, bytes)).collect();
        let mut next = None;
        while !coming.is_empty() || next.is_some() {
            let begins = coming.first().map(|&(_, at, _)| Instant::from_nanos(at));
            match (begins, next) {
                (Some(at), end) if end.is_none_or(|end| at < end) => {
                    let (n, _, bytes) = coming.remove(0);
                    next = Some(link.begin(at, JobId { slot: n as u32, generation: 0 }, bytes));
                }
                (_, Some(at)) => {
                    let (job, following) = link.end(at).unwrap();
                    ends[job.slot as usize] = at.as_nanos();
                    next = following;
                }
                (_, None) => unreachable!("something is coming or under way"),
            }
        }
        assert_eq!(ends, want, "{transfers:?}");
    }

    #[test]
    fn transfers_share_the_link_equally() {
        check(&[(0, 100)], &[100]);
        check(&[(0, 100), (0, 100)], &[200, 200]);
        // Alone for 50, then two: the first has 50 left and ends at 150, the second has sent 50 and ends 150 later.
        check(&[(0, 100), (50, 200)], &[150, 300]);
        check(&[(0, 300), (0, 100), (1_000, 10)], &[400, 200, 1_010]);
    }
}
