//! Weighted fair queueing among classes by deficit round robin: shares of the work, whatever a job costs.
//!
//! Source: Shreedhar and Varghese 1996. Classes have their turn in a circle; at each turn a class may take work up to its
//! quantum, in proportion to its share, and what it could not use because its next job costs more is kept for the
//! next turn. A class that has nothing waiting keeps nothing.
//!
//! The paper makes the quantum as large as the largest job, so that a turn never passes in vain. Here each round
//! sets its own: the largest cost among those waiting for the class with the largest share among them, less for the others
//! in proportion. That class can always afford its job, so at most two rounds are looked through; small jobs are
//! not sent in long trains because a large one once came by; and all of a round get by the same measure, so that shares are
//! exact however the measure changes.

use super::{Discipline, Waiting, cost};
use crate::id::ClassId;
use crate::jobs::{Job, NONE};
use crate::time::Instant;
use alloc::vec;
use alloc::vec::Vec;

/// The oldest job of each class, [`NONE`] if it has none or no worker.
type Heads = [u32; 16];

/// The oldest job of the class whose turn it is.
#[derive(Clone, Debug)]
pub struct WeightedFair {
    // Invariant: one a class, each above zero.
    shares: Vec<f64>,
    /// Work each class may still take, in nanoseconds of the whole stage; at least 0.
    credit: Vec<f64>,
    /// Class whose turn it is.
    turn: usize,
    /// What a class with share `top` gets at its turn in this round, in nanoseconds of the whole stage.
    quantum: f64,
    top: f64,
}

impl WeightedFair {
    /// With one share a class, each above zero.
    #[must_use]
    pub fn new(shares: Vec<f64>) -> Self {
        // The last class has its turn and nothing to spend: the first look begins a round.
        Self { credit: vec![0.0; shares.len()], turn: shares.len() - 1, quantum: 0.0, top: 1.0, shares }
    }

    /// Ends the turn of one class and begins that of the next.
    fn pass(&mut self, heads: &Heads, waiting: Waiting<'_>) {
        if waiting.lanes.heads_of(ClassId(self.turn as u8)).next().is_none() {
            self.credit[self.turn] = 0.0;
        }
        self.turn += 1;
        if self.turn == self.shares.len() {
            self.turn = 0;
            self.begin_round(heads, waiting);
        }
        if heads[self.turn] != NONE {
            self.credit[self.turn] += self.quantum * (self.shares[self.turn] / self.top);
        }
    }

    fn begin_round(&mut self, heads: &Heads, waiting: Waiting<'_>) {
        (self.quantum, self.top) = (0.0, 0.0);
        for (&slot, &share) in heads.iter().zip(&self.shares).filter(|&(&slot, _)| slot != NONE) {
            self.quantum = self.quantum.max(cost(&waiting.jobs[slot]));
            self.top = self.top.max(share);
        }
    }
}

impl Discipline for WeightedFair {
    fn next(&mut self, _now: Instant, waiting: Waiting<'_>) -> Option<u32> {
        let heads = heads_by_class(waiting)?;
        // Passing turns grants credit but moves on until somebody can spend it, so that a second look without anything
        // taken between stops where the first did.
        loop {
            let slot = heads[self.turn];
            if slot != NONE && self.credit[self.turn] >= cost(&waiting.jobs[slot]) {
                return Some(slot);
            }
            self.pass(&heads, waiting);
        }
    }

    fn on_taken(&mut self, _now: Instant, job: &Job) {
        // Who is served out of turn owes nothing: a debt could take many rounds to pay.
        let credit = &mut self.credit[usize::from(job.class.0)];
        *credit = (*credit - cost(job)).max(0.0);
    }
}

/// The oldest job of each class that has a worker free; `None` if there is none at all.
fn heads_by_class(waiting: Waiting<'_>) -> Option<Heads> {
    let mut heads = [NONE; 16];
    let mut any = false;
    for (slot, job) in waiting.heads() {
        let head = &mut heads[usize::from(job.class.0)];
        if *head == NONE || job.ticket < waiting.jobs[*head].ticket {
            *head = slot;
        }
        any = true;
    }
    any.then_some(heads)
}

#[cfg(test)]
mod tests {
    use super::super::super::by_hand::Bench;
    use super::*;
    use crate::unit::mix;

    /// Serves `jobs` jobs of classes that never run dry, with costs given by class and number of the job; each class's
    /// part of the work served has to be its part of the shares.
    #[track_caller]
    fn check(shares: &[f64], jobs: u64, cost: impl Fn(usize, u64) -> u64) {
        let mut bench = Bench::new(1, shares.len());
        let mut made = 0;
        let mut join = |bench: &mut Bench, class: usize| {
            made += 1;
            bench.join_costing(0, class as u8, 0, cost(class, made));
        };
        for class in 0..shares.len() {
            join(&mut bench, class);
            join(&mut bench, class);
        }
        let mut order = WeightedFair::new(shares.to_vec());
        let mut work = vec![0.0; shares.len()];
        for _ in 0..jobs {
            let slot = bench.take_at(&mut order, 0).expect("all classes wait");
            let class = usize::from(bench.jobs[slot].class.0);
            work[class] += super::cost(&bench.jobs[slot]);
            join(&mut bench, class);
        }
        let (all, sum) = (work.iter().sum::<f64>(), shares.iter().sum::<f64>());
        for (class, work) in work.iter().enumerate() {
            let (got, want) = (work / all, shares[class] / sum);
            assert!((got / want - 1.0).abs() < 0.01, "class {class} of {shares:?}: {got} of the work");
        }
    }

    #[test]
    fn work_is_shared_as_asked_whatever_jobs_cost() {
        check(&[1.0, 3.0], 4_000, |_, _| 0);
        check(&[1.0, 3.0], 4_000, |class, n| [1_000, 300][class] + mix(n) % 500);
        check(&[3.0, 1.0], 4_000, |class, n| [50, 5_000][class] + mix(n) % 100);
        check(&[0.5, 2.0, 1.5], 8_000, |class, n| 100 * (class as u64 + 1) + mix(n) % 1_000);
        check(&[1.0, 300.0], 100_000, |_, _| 7);
    }

    /// Classes in order of service, of jobs that all cost alike and wait in lanes of so many.
    #[track_caller]
    fn check_order(shares: &[f64], waiting: &[usize], want: &[u8]) {
        let mut bench = Bench::new(1, shares.len());
        for (class, &jobs) in waiting.iter().enumerate() {
            for _ in 0..jobs {
                bench.join_costing(0, class as u8, 0, 5);
            }
        }
        let mut order = WeightedFair::new(shares.to_vec());
        let got: Vec<u8> = core::iter::from_fn(|| bench.take_class_at(&mut order, 0)).collect();
        assert_eq!(got, want, "classes served with shares {shares:?} and {waiting:?} waiting");
    }

    #[test]
    fn equal_jobs_are_served_in_short_trains() {
        check_order(&[1.0, 3.0], &[3, 6], &[1, 1, 0, 1, 1, 1, 0, 1, 0]);
        check_order(&[1.0, 1.0, 2.0], &[2, 2, 4], &[2, 0, 1, 2, 2, 0, 1, 2]);
        check_order(&[1.0, 1.0], &[0, 2], &[1, 1]);
    }

    #[test]
    fn a_class_saves_nothing_while_nobody_of_it_waits() {
        let mut bench = Bench::new(1, 2);
        let mut order = WeightedFair::new(vec![1.0, 1.0]);
        // Class 1 gets a quantum for a large job of class 0 and uses a hundredth of it, round by round.
        for _ in 0..50 {
            bench.join_costing(0, 0, 0, 100);
            bench.join_costing(0, 1, 0, 1);
            assert!(bench.take_at(&mut order, 0).is_some() && bench.take_at(&mut order, 0).is_some());
        }
        for _ in 0..1_000 {
            bench.join_costing(0, 0, 0, 100);
            bench.join_costing(0, 1, 0, 1);
        }
        let large = (0..210).filter(|_| bench.take_class_at(&mut order, 0) == Some(0)).count();
        assert!(
            large >= 2,
            "{large} large jobs among the first 210, of which 200 small ones weigh as much as two"
        );
    }

    #[test]
    fn asking_again_names_the_same_job_and_grants_nothing() {
        let mut bench = Bench::new(1, 2);
        for _ in 0..8 {
            bench.join_costing(0, 0, 0, 5);
            bench.join_costing(0, 1, 0, 5);
        }
        let mut order = WeightedFair::new(vec![1.0, 1.0]);
        let served: Vec<u8> = (0..8)
            .map(|_| {
                let named: Vec<Option<u32>> = (0..5).map(|_| bench.next_at(&mut order, 0)).collect();
                let slot = bench.take_at(&mut order, 0);
                assert!(named.iter().all(|&name| name == slot), "named {named:?}, then took {slot:?}");
                bench.jobs[slot.unwrap()].class.0
            })
            .collect();
        assert_eq!(served, [0, 1, 0, 1, 0, 1, 0, 1], "classes take turns");
    }

    #[test]
    fn a_class_without_a_free_worker_is_passed_over() {
        let mut bench = Bench::new(1, 2);
        let mut order = WeightedFair::new(vec![100.0, 1.0]);
        for _ in 0..3 {
            bench.join_costing(0, 0, 0, 5);
            bench.join_costing(0, 1, 0, 5);
        }
        bench.free = 0b10;
        for _ in 0..3 {
            let slot = bench.take_at(&mut order, 0).expect("class 1 waits and has a worker");
            assert_eq!(bench.jobs[slot].class.0, 1, "class 0 has no worker free");
        }
        assert_eq!(bench.take_at(&mut order, 0), None, "only class 0 waits");
    }

    #[test]
    fn within_a_class_the_first_come_is_served_first_whatever_its_level() {
        let mut bench = Bench::new(3, 1);
        let slots = [2, 0, 1, 0].map(|level| bench.join_costing(level, 0, 0, 5));
        let mut order = WeightedFair::new(vec![1.0]);
        let got = [0; 4].map(|_| bench.take_at(&mut order, 0).unwrap());
        assert_eq!(got, slots, "jobs of levels 2, 0, 1, 0 in order of service");
    }
}
