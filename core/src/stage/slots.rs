//! Worker slots: how many jobs are in work at once, shared by all classes or split among them.
//!
//! A split is kept strictly: an idle worker of one class serves no other (paper P, 0.2: a thread blocked on
//! one completion port hears nothing of the others), unless it is lent. A worker that changes class finishes what it
//! has first, so that a class may have more in work than its part for a while; the others wait for it.

use super::ClassSet;
use crate::control::apportion;
use crate::id::ClassId;
use alloc::vec;
use alloc::vec::Vec;

/// The workers of a stage.
#[derive(Clone, Debug)]
pub struct Slots {
    workers: u32,
    busy: u32,
    /// Workers of each class; empty if all share one pool.
    split: Vec<u32>,
    /// What a split is in proportion to when the number of workers changes.
    shares: Vec<f64>,
    busy_of: Vec<u32>,
    /// Classes with fewer in work than their part, as bits.
    under: ClassSet,
    /// Classes that have a worker free, as bits.
    free: ClassSet,
}

impl Slots {
    /// A pool of `workers`, all idle; `split` gives each class its own.
    #[must_use]
    pub fn new(workers: u32, split: Option<&[u32]>, classes: usize) -> Self {
        let split = split.map_or_else(Vec::new, <[u32]>::to_vec);
        let free = if split.is_empty() {
            ClassSet::MAX
        } else {
            split.iter().enumerate().filter(|&(_, &n)| n > 0).fold(0, |set, (class, _)| set | 1 << class)
        };
        let shares = split.iter().copied().map(f64::from).collect();
        Self { workers, busy: 0, split, shares, busy_of: vec![0; classes], under: free, free }
    }

    /// Changes the number of workers. Those in use beyond it finish what they have; a split keeps its proportions as
    /// far as whole workers go, and at least one for each class.
    pub(crate) fn resize(&mut self, workers: u32) {
        if workers == self.workers {
            return;
        }
        self.workers = workers;
        if self.split.is_empty() {
            self.note(ClassId(0));
        } else {
            self.set_split(apportion(workers, &self.shares));
        }
    }

    /// Changes the number of workers and whose they are, whoever is on them: as of a new pool, but for who is in work.
    pub(crate) fn reconfigure(&mut self, workers: u32, split: Option<&[u32]>) {
        let (busy, busy_of) = (self.busy, core::mem::take(&mut self.busy_of));
        *self = Self { busy, busy_of, ..Self::new(workers, split, 0) };
        (0..self.split.len().max(1)).for_each(|class| self.note(ClassId(class as u8)));
    }

    /// Changes the split; its parts sum to the workers. The number of workers that went to another class.
    pub(crate) fn set_split(&mut self, split: Vec<u32>) -> u32 {
        let moved = self.split.iter().zip(&split).map(|(&was, &is)| u32::saturating_sub(is, was)).sum();
        self.split = split;
        (0..self.split.len()).for_each(|class| self.note(ClassId(class as u8)));
        moved
    }

    /// What the split keeps to when the number of workers changes.
    pub(crate) fn set_shares(&mut self, shares: &[f64]) {
        self.shares.clear();
        self.shares.extend_from_slice(shares);
    }

    /// Workers of each class; empty if all share one pool.
    #[must_use]
    pub fn split(&self) -> &[u32] {
        &self.split
    }

    /// Workers of a class that are free, of its own part.
    #[must_use]
    pub(crate) fn idle_of(&self, class: ClassId) -> u32 {
        self.slots_of(class).saturating_sub(self.busy_of(class))
    }

    /// Workers in use.
    #[must_use]
    pub const fn busy(&self) -> u32 {
        self.busy
    }

    /// Workers in all.
    #[must_use]
    pub const fn workers(&self) -> u32 {
        self.workers
    }

    /// Workers in use by a class.
    #[must_use]
    pub fn busy_of(&self, class: ClassId) -> u32 {
        self.busy_of[usize::from(class.0)]
    }

    /// Workers a class may use: its share of a split, or the whole pool.
    #[must_use]
    pub fn slots_of(&self, class: ClassId) -> u32 {
        self.split.get(usize::from(class.0)).copied().unwrap_or(self.workers)
    }

    /// Classes that have a worker free, as bits.
    #[must_use]
    #[inline]
    pub(crate) const fn free(&self) -> ClassSet {
        self.free
    }

    /// Whether a class has a worker free.
    #[must_use]
    #[inline]
    pub const fn has_free(&self, class: ClassId) -> bool {
        self.free & (1 << class.0) != 0
    }

    /// Puts a job of `class` on a worker; one must be free.
    #[inline(always)]
    pub(crate) fn occupy(&mut self, class: ClassId) {
        self.busy += 1;
        self.busy_of[usize::from(class.0)] += 1;
        self.note(class);
    }

    /// Takes a job of `class` off its worker.
    #[inline(always)]
    pub(crate) fn release(&mut self, class: ClassId) {
        self.busy -= 1;
        self.busy_of[usize::from(class.0)] -= 1;
        self.note(class);
    }

    #[inline(always)]
    fn note(&mut self, class: ClassId) {
        let at = usize::from(class.0);
        if let Some(&own) = self.split.get(at) {
            let bit = 1 << at;
            self.under = if self.busy_of[at] < own { self.under | bit } else { self.under & !bit };
            self.free = if self.busy < self.workers { self.under } else { 0 };
        } else {
            self.free = if self.busy < self.workers { ClassSet::MAX } else { 0 };
        }
    }
}
