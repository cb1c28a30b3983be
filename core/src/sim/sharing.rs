//! What all who use it share equally: a link that the transfers of a stage go over, the cores of a server.
//!
//! Processor sharing in virtual time: the clock shows how much each user has been given since the run began, so one
//! that comes knows at once at what reading it ends, and nobody else's end has to be
//! changed when one comes or goes (Kleinrock 1976, vol. 2, 4.4; as in fair queueing).

use crate::id::JobId;
use crate::time::{Duration, Instant};
use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

/// Something shared, with those who use it. Amounts are bytes of a link, nanoseconds of work of cores.
#[derive(Clone, Debug)]
pub(crate) struct Sharing {
    /// What all get together in a nanosecond.
    total: f64,
    /// The most that one gets in a nanosecond.
    each: f64,
    /// What each user was given since the run began, had it been there from the start.
    given: f64,
    since: Instant,
    /// Users by the reading at which they end, then in the order they came. The reading is not below zero, so its bits
    /// are ordered as it is.
    users: BinaryHeap<Reverse<(u64, u64, JobId)>>,
    begun: u64,
    /// How often the next end has been set anew: what was entered in the calendar before is void.
    pub version: u32,
}

impl Sharing {
    /// A link: one transfer alone gets all of it.
    pub(crate) fn link(bytes_per_s: f64) -> Self {
        Self::new(bytes_per_s / 1e9, f64::INFINITY)
    }

    /// Cores of a speed: no job gets more than one.
    pub(crate) fn cores(cores: f64, speed: f64) -> Self {
        Self::new(cores * speed, speed)
    }

    fn new(total: f64, each: f64) -> Self {
        Self {
            total,
            each,
            given: 0.0,
            since: Instant::START,
            users: BinaryHeap::new(),
            begun: 0,
            version: 0,
        }
    }

    /// How many use it.
    pub(crate) fn users(&self) -> usize {
        self.users.len()
    }

    /// From now on there are so many cores of such a speed.
    pub(crate) fn set_cores(&mut self, now: Instant, cores: f64, speed: f64) {
        self.advance(now);
        (self.total, self.each) = (cores * speed, speed);
    }

    /// From now on the link carries so many bytes a second; `true` if that is another number than before.
    pub(crate) fn set_link(&mut self, now: Instant, bytes_per_s: f64) -> bool {
        let total = bytes_per_s / 1e9;
        let changes = total != self.total;
        if changes {
            self.advance(now);
            self.total = total;
        }
        changes
    }

    /// Begins to give a job an amount.
    pub(crate) fn begin(&mut self, now: Instant, job: JobId, amount: u64) {
        self.advance(now);
        let end = self.given + amount as f64;
        self.users.push(Reverse((end.to_bits(), self.begun, job)));
        self.begun += 1;
    }

    /// Ends the use of the job whose time has come.
    pub(crate) fn end(&mut self, now: Instant) -> Option<JobId> {
        self.advance(now);
        let Reverse((end, _, job)) = self.users.pop()?;
        // The clock reads what it should, whatever was lost in rounding to whole nanoseconds.
        self.given = f64::from_bits(end);
        if self.users.is_empty() {
            // Small readings are exact to a smaller part.
            self.given = 0.0;
        }
        Some(job)
    }

    /// Everybody leaves.
    pub(crate) fn clear(&mut self) {
        self.users.clear();
        self.given = 0.0;
        self.version = self.version.wrapping_add(1);
    }

    /// When the first job ends if nothing changes; never before `now`, and on the first nanosecond after it is done. What
    /// was said before is void.
    pub(crate) fn next_end(&mut self, now: Instant) -> Option<Instant> {
        let &Reverse((end, ..)) = self.users.peek()?;
        self.version = self.version.wrapping_add(1);
        let left = (f64::from_bits(end) - self.given).max(0.0);
        let ns = if self.is_full() { left * self.users.len() as f64 / self.total } else { left / self.each };
        Some(now + Duration::from_nanos(libm::ceil(ns) as u64))
    }

    fn advance(&mut self, now: Instant) {
        if !self.users.is_empty() {
            let elapsed = now.since(self.since).as_nanos() as f64;
            self.given += if self.is_full() {
                elapsed * self.total / self.users.len() as f64
            } else {
                elapsed * self.each
            };
        }
        self.since = now;
    }

    /// Whether they get less than each could use.
    fn is_full(&self) -> bool {
        self.users.len() as f64 * self.each > self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Uses as (begin in ns, amount), with changes of the number of cores as (when, cores): when each ends, in ns.
    #[track_caller]
    fn check(mut shared: Sharing, uses: &[(u64, u64)], changes: &[(u64, f64)], want: &[u64]) {
        let mut ends = alloc::vec![0; uses.len()];
        let mut coming: Vec<(u64, Result<usize, f64>)> =
            uses.iter().enumerate().map(|(n, &(at, _))| (at, Ok(n))).collect();
        coming.extend(changes.iter().map(|&(at, cores)| (at, Err(cores))));
        coming.sort_by_key(|&(at, _)| at);
        let mut next: Option<Instant> = None;
        while !coming.is_empty() || next.is_some() {
            match (coming.first().map(|&(at, _)| Instant::from_nanos(at)), next) {
                (Some(at), end) if end.is_none_or(|end| at < end) => {
                    match coming.remove(0).1 {
                        Ok(n) => shared.begin(at, JobId { slot: n as u32, generation: 0 }, uses[n].1),
                        Err(cores) => shared.set_cores(at, cores, 1.0),
                    }
                    next = shared.next_end(at);
                }
                (_, Some(at)) => {
                    let job = shared.end(at).expect("its time has come");
                    ends[job.slot as usize] = at.as_nanos();
                    next = shared.next_end(at);
                }
                (_, None) => unreachable!("something is coming or under way"),
            }
        }
        assert_eq!(ends, want, "{uses:?} with {changes:?} of {shared:?}");
    }

    #[test]
    fn transfers_share_the_link_equally() {
        let link = || Sharing::link(1e9); // 1 byte a nanosecond
        check(link(), &[(0, 100)], &[], &[100]);
        check(link(), &[(0, 100), (0, 100)], &[], &[200, 200]);
        // Alone for 50, then two: the first has 50 left and ends at 150, the second has sent 50 and ends 150 later.
        check(link(), &[(0, 100), (50, 200)], &[], &[150, 300]);
        check(link(), &[(0, 300), (0, 100), (1_000, 10)], &[], &[400, 200, 1_010]);
    }

    #[test]
    fn a_job_gets_no_more_than_one_core() {
        check(Sharing::cores(2.0, 1.0), &[(0, 100), (0, 100)], &[], &[100, 100]);
        check(Sharing::cores(4.0, 0.5), &[(0, 100)], &[], &[200]);
        // Two thirds of a core each until 150; then the other two, of 200 left and 300 left, have one each.
        check(Sharing::cores(2.0, 1.0), &[(0, 100), (0, 300), (0, 400)], &[], &[150, 350, 450]);
    }

    #[test]
    fn a_change_of_the_cores_moves_the_ends() {
        // 100 done by 100 at full speed, the other 100 at half of it.
        check(Sharing::cores(1.0, 1.0), &[(0, 200)], &[(100, 0.5)], &[300]);
        // And back: 50 by 100, 100 by 150, 150 by 250.
        check(Sharing::cores(0.5, 1.0), &[(0, 150)], &[(100, 1.0), (150, 0.5)], &[250]);
        // Fewer cores than jobs: two jobs on one core, then on two.
        check(Sharing::cores(1.0, 1.0), &[(0, 100), (0, 200)], &[(100, 2.0)], &[150, 250]);
    }

    #[test]
    fn equal_work_ends_in_the_order_it_came() {
        let mut shared = Sharing::cores(1.0, 1.0);
        for slot in [5, 3, 9] {
            shared.begin(Instant::START, JobId { slot, generation: 0 }, 10);
        }
        let order: Vec<u32> =
            (0..3).filter_map(|_| shared.end(Instant::from_nanos(30))).map(|job| job.slot).collect();
        assert_eq!(order, [5, 3, 9]);
    }
}
