//! Worker slots: how many jobs are in work at once, shared by all classes or split among them.
//!
//! A split is kept strictly: an idle worker of one class serves no other (paper P, 0.2: a thread blocked on
//! one completion port hears nothing of the others). Lending is a policy of its own, for later.

use super::ClassSet;
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
    busy_of: Vec<u32>,
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
        Self { workers, busy: 0, split, busy_of: vec![0; classes], free }
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
    #[inline]
    pub(crate) fn occupy(&mut self, class: ClassId) {
        self.busy += 1;
        self.busy_of[usize::from(class.0)] += 1;
        self.note(class);
    }

    /// Takes a job of `class` off its worker.
    #[inline]
    pub(crate) fn release(&mut self, class: ClassId) {
        self.busy -= 1;
        self.busy_of[usize::from(class.0)] -= 1;
        self.note(class);
    }

    #[inline]
    fn note(&mut self, class: ClassId) {
        let at = usize::from(class.0);
        if let Some(&own) = self.split.get(at) {
            let bit = 1 << at;
            self.free = if self.busy_of[at] < own { self.free | bit } else { self.free & !bit };
        } else {
            self.free = if self.busy < self.workers { ClassSet::MAX } else { 0 };
        }
    }
}
