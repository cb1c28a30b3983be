//! The waiting jobs of a stage: one first-come list per priority level and class.
//!
//! Two sets of bits say which lists hold anybody, so that the next job is found without a search through
//! empty lists, however many levels and classes there are.

use super::ClassSet;
use super::ahead::{Ahead, LONG};
use crate::admission::Queue;
use crate::id::ClassId;
use crate::jobs::{Jobs, NONE, Place};
use crate::time::{Duration, Instant};
use alloc::vec;
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug)]
struct Lane {
    head: u32,
    tail: u32,
    len: u32,
}

/// Lists of waiting jobs by level and class.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    classes: usize,
    /// `lanes[level * classes + class]`.
    lanes: Vec<Lane>,
    /// For each of them; in use while the stage's queue is long.
    ahead: Vec<Ahead>,
    level_len: Vec<u32>,
    /// Work waiting, by the level at which it was judged.
    work_ns: Vec<u64>,
    len: u32,
    /// When somebody last joined while nobody waited.
    filled: Instant,
    /// Levels with anybody in them.
    levels: u16,
    /// Classes with anybody in each level.
    classes_in: Vec<ClassSet>,
}

impl Lanes {
    pub(crate) fn new(levels: usize, classes: usize) -> Self {
        Self {
            classes,
            lanes: vec![Lane { head: NONE, tail: NONE, len: 0 }; levels * classes],
            ahead: vec![Ahead::NOTHING; levels * classes],
            level_len: vec![0; levels],
            work_ns: vec![0; levels],
            len: 0,
            filled: Instant::START,
            levels: 0,
            classes_in: vec![0; levels],
        }
    }

    /// Everybody who waits, in the order they came to where they wait.
    pub(crate) fn all(&self, jobs: &Jobs) -> Vec<u32> {
        let mut all = Vec::with_capacity(self.len as usize);
        for head in self.heads() {
            let mut slot = head;
            while slot != NONE {
                all.push(slot);
                slot = jobs[slot].next;
            }
        }
        all.sort_unstable_by_key(|&slot| jobs[slot].ticket);
        all
    }

    /// The same jobs in so many levels: whose level is no more waits in the top one.
    pub(crate) fn relevel(&mut self, jobs: &mut Jobs, levels: usize) {
        let (all, filled) = (self.all(jobs), self.filled);
        *self = Self::new(levels, self.classes);
        let top = levels as u8 - 1;
        for slot in all {
            let job = &mut jobs[slot];
            job.judged_at = job.judged_at.min(top);
            let level = job.level.min(top);
            self.push(jobs, slot, level);
        }
        self.filled = filled;
    }

    /// Jobs waiting in all.
    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    /// The end of the last stretch of time in which nobody waited.
    #[inline]
    pub(crate) const fn filled(&self) -> Instant {
        self.filled
    }

    /// What a queue control sees; `gap` is the mean time between two completions of the stage.
    #[inline]
    pub(crate) fn queue(&self, gap: Duration) -> Queue<'_> {
        Queue { waiting: &self.level_len, work_ns: &self.work_ns, len: self.len, gap }
    }

    /// Number of levels.
    pub(crate) fn level_count(&self) -> usize {
        self.level_len.len()
    }

    /// Jobs of one class waiting in one level.
    pub(crate) fn lane_len(&self, level: usize, class: usize) -> u32 {
        self.lanes[level * self.classes + class].len
    }

    /// Levels with anybody in them, as bits.
    #[inline]
    pub(crate) const fn levels(&self) -> u16 {
        self.levels
    }

    /// Classes with anybody in any level, as bits.
    pub(crate) fn classes(&self) -> ClassSet {
        self.classes_in.iter().fold(0, |all, &set| all | set)
    }

    /// Classes with anybody in `level`, as bits.
    #[inline]
    pub(crate) fn classes_in(&self, level: u8) -> ClassSet {
        self.classes_in[usize::from(level)]
    }

    /// The job that has been longest in one level and class; [`NONE`] if nobody waits there.
    #[inline(always)]
    pub(crate) fn head(&self, level: u8, class: u8) -> u32 {
        self.lanes[usize::from(level) * self.classes + usize::from(class)].head
    }

    /// The job that came last to one level and class; [`NONE`] if nobody waits there.
    #[inline]
    pub(crate) fn tail(&self, level: u8, class: u8) -> u32 {
        self.lanes[usize::from(level) * self.classes + usize::from(class)].tail
    }

    /// The heads of all lanes, level by level from the lowest.
    pub(crate) fn heads(&self) -> impl Iterator<Item = u32> {
        self.lanes.iter().map(|lane| lane.head).filter(|&head| head != NONE)
    }

    /// The heads of a class, level by level.
    pub(crate) fn heads_of(&self, class: ClassId) -> impl Iterator<Item = u32> {
        self.lanes
            .chunks(self.classes)
            .map(move |level| level[usize::from(class.0)].head)
            .filter(|&head| head != NONE)
    }

    /// Adds a job at the tail of its class in `level`.
    #[inline(always)]
    pub(crate) fn push(&mut self, jobs: &mut Jobs, slot: u32, level: u8) {
        let class = jobs[slot].class.0;
        let lane = &mut self.lanes[usize::from(level) * self.classes + usize::from(class)];
        let tail = lane.tail;
        lane.tail = slot;
        lane.len += 1;
        if tail == NONE {
            lane.head = slot;
            self.classes_in[usize::from(level)] |= 1 << class;
            self.levels |= 1 << level;
        } else {
            jobs[tail].next = slot;
        }
        let job = &mut jobs[slot];
        if job.cost_ns > 0 {
            self.work_ns[usize::from(job.judged_at)] += job.cost_ns;
        }
        job.place = Place::Queued;
        job.level = level;
        job.prev = tail;
        job.next = NONE;
        self.level_len[usize::from(level)] += 1;
        if self.len == 0 {
            self.filled = job.queued;
        }
        self.len += 1;
        if self.len > LONG {
            self.note_joined(jobs, slot);
        }
    }

    /// Takes a job out, wherever it stands.
    #[inline(always)]
    pub(crate) fn remove(&mut self, jobs: &mut Jobs, slot: u32) {
        if self.len > LONG {
            self.note_leaves(jobs, slot);
        }
        let job = &jobs[slot];
        let (level, class, prev, next) = (job.level, job.class.0, job.prev, job.next);
        if job.cost_ns > 0 {
            self.work_ns[usize::from(job.judged_at)] -= job.cost_ns;
        }
        let lane = &mut self.lanes[usize::from(level) * self.classes + usize::from(class)];
        lane.len -= 1;
        if prev == NONE {
            lane.head = next;
        } else {
            jobs[prev].next = next;
        }
        if next == NONE {
            lane.tail = prev;
        } else {
            jobs[next].prev = prev;
        }
        self.level_len[usize::from(level)] -= 1;
        self.len -= 1;
        if lane.head == NONE {
            self.classes_in[usize::from(level)] &= !(1 << class);
            if self.classes_in[usize::from(level)] == 0 {
                self.levels &= !(1 << level);
            }
        }
    }

    // Both are kept out of the callers, whose registers are scarce and whose queues are seldom long.

    #[cold]
    #[inline(never)]
    fn note_joined(&mut self, jobs: &mut Jobs, slot: u32) {
        let job = &jobs[slot];
        let at = usize::from(job.level) * self.classes + usize::from(job.class.0);
        self.ahead[at].on_joined(jobs, slot);
    }

    #[cold]
    #[inline(never)]
    fn note_leaves(&mut self, jobs: &Jobs, slot: u32) {
        let job = &jobs[slot];
        let at = usize::from(job.level) * self.classes + usize::from(job.class.0);
        if self.lanes[at].head == slot {
            self.ahead[at].on_left(jobs, job.ahead);
        }
    }
}
