//! What controllers make of a stage's workers: how many there are, how many jobs each takes, how often one may start.

use super::Slots;
use crate::control::{BatchControl, Batching, Pace, Pool, PoolControl, PoolSample};
use crate::id::ClassId;
use crate::scenario::StageSpec;
use crate::scenario::v1::{BatchV1, PoolV1};
use crate::time::{Duration, Instant};
use alloc::vec::Vec;

/// A batch in work, or being filled.
#[derive(Clone, Copy, Debug)]
struct Batch {
    /// Jobs of it still in work; 0 for an entry that is free.
    left: u32,
    /// The class whose worker it keeps.
    class: ClassId,
}

/// A batch that takes more jobs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// Number of the batch.
    pub number: u32,
    /// How many more it takes.
    pub room: u32,
}

/// Controllers of a stage's workers, with what they have seen since they were last asked.
#[derive(Clone, Debug)]
pub(crate) struct Workers {
    pool: Option<Pool>,
    pool_at: Instant,
    sample: PoolSample,
    took_ns: u128,
    batching: Option<Batching>,
    batch_at: Instant,
    completed: u32,
    batches: Vec<Batch>,
    unused: Vec<u32>,
    open: Option<Open>,
    pace: Option<Pace>,
    /// Whether somebody could have started but for the pace.
    held: bool,
}

impl Workers {
    /// Controllers that begin at `now`.
    pub(crate) fn new(spec: &StageSpec, now: Instant) -> Self {
        let pool = Pool::new(&spec.pool, spec.workers).map(|pool| pool.beginning_at(now));
        let mut batching = (spec.batch != BatchV1::One).then(|| Batching::new(&spec.batch).beginning_at(now));
        let batch_period = batching.as_mut().and_then(Batching::control).map(|batch| batch.period());
        Self {
            pool_at: pool.as_ref().map_or(Instant::NEVER, |pool| now + pool.period()),
            batch_at: batch_period.map_or(Instant::NEVER, |period| now + period),
            pool,
            sample: PoolSample::default(),
            took_ns: 0,
            batching,
            completed: 0,
            batches: Vec::new(),
            unused: Vec::new(),
            open: None,
            pace: spec.starts_per_s.map(Pace::new),
            held: false,
        }
    }

    /// Goes on at `now` by the settings of `after`, where it went by those of `before`: a controller whose settings are the
    /// same is the same, batches in work stay whose they are. A pool that is controlled keeps its size within the new
    /// bounds, unless another was asked for.
    pub(crate) fn reconfigure(
        &mut self,
        now: Instant,
        before: &StageSpec,
        after: &StageSpec,
        slots: &Slots,
    ) -> u32 {
        let keeps_size = before.workers == after.workers && after.pool != PoolV1::Fixed;
        let begin = if keeps_size { slots.workers() } else { after.workers };
        let fresh = Self::new(&StageSpec { workers: begin, ..after.clone() }, now);
        if before.pool != after.pool || !keeps_size {
            (self.pool, self.pool_at) = (fresh.pool, fresh.pool_at);
            (self.sample, self.took_ns) =
                (PoolSample { most_busy: slots.busy(), ..PoolSample::default() }, 0);
        }
        if before.batch != after.batch {
            (self.batching, self.batch_at, self.completed) = (fresh.batching, fresh.batch_at, 0);
        }
        if before.starts_per_s != after.starts_per_s {
            (self.pace, self.held) = (fresh.pace, false);
        }
        self.open = None;
        self.pool.as_ref().map_or(begin, PoolControl::workers)
    }

    /// Whether there is any controller at all.
    pub(crate) const fn is_controlled(&self) -> bool {
        self.pool.is_some() || self.batching.is_some() || self.pace.is_some()
    }

    /// Jobs a worker takes at once.
    pub(crate) fn batch_size(&self) -> u32 {
        self.batching.as_ref().map_or(1, Batching::size)
    }

    /// When a controller wants to be asked, or a paced start is due for those who wait.
    pub(crate) fn next_at(&self, waiting: bool) -> Instant {
        let pace =
            self.pace.filter(|_| waiting && self.held).map_or(Instant::NEVER, |pace| pace.next_start());
        self.pool_at.min(self.batch_at).min(pace)
    }

    /// Asks the controllers whose time has come; `true` if there are more workers than before, or a start that was
    /// held back may be due.
    pub(crate) fn control(&mut self, now: Instant, slots: &mut Slots, queued: u32) -> bool {
        let mut more = self.held && self.may_start(now);
        self.held &= !more;
        if self.pool_at <= now
            && let Some(pool) = &mut self.pool
        {
            let seen = PoolSample { queued, busy: slots.busy(), workers: slots.workers(), ..self.sample };
            let mean = self.took_ns.checked_div(u128::from(seen.completed));
            let mean = mean.map(|ns| Duration::from_nanos(ns as u64));
            let workers = pool.on_sample(now, &PoolSample { mean, ..seen });
            more |= workers > slots.workers();
            slots.resize(workers);
            self.sample = PoolSample { most_busy: slots.busy(), ..PoolSample::default() };
            self.took_ns = 0;
            self.pool_at = following(self.pool_at, pool.period(), now);
        }
        if self.batch_at <= now
            && let Some(batching) = self.batching.as_mut().and_then(Batching::control)
        {
            batching.on_sample(now, self.completed);
            self.completed = 0;
            self.batch_at = following(self.batch_at, batching.period(), now);
        }
        more
    }

    /// Whether a job may start now; if not, a start is held back until one may.
    pub(crate) fn start_or_hold(&mut self, now: Instant) -> bool {
        let may = self.may_start(now);
        self.held |= !may;
        may
    }

    fn may_start(&self, now: Instant) -> bool {
        self.pace.is_none_or(|pace| pace.next_start() <= now)
    }

    /// The batch that takes the next job without another worker, if there is one.
    pub(crate) const fn open(&self) -> Option<Open> {
        self.open
    }

    /// Begins a batch on a worker of `class`, or adds to the open one; the number of the batch, counted from 1, or 0
    /// where workers take one job at a time.
    pub(crate) fn on_taken(&mut self, now: Instant, class: ClassId) -> u32 {
        if let Some(pace) = &mut self.pace {
            pace.on_start(now);
        }
        if self.batching.is_none() {
            return 0;
        }
        if let Some(Open { number, room }) = self.open {
            self.batches[number as usize - 1].left += 1;
            self.open = (room > 1).then_some(Open { number, room: room - 1 });
            return number;
        }
        let batch = Batch { left: 1, class };
        let number = if let Some(at) = self.unused.pop() {
            self.batches[at as usize] = batch;
            at + 1
        } else {
            self.batches.push(batch);
            self.batches.len() as u32
        };
        let room = self.batch_size() - 1;
        self.open = (room > 0).then_some(Open { number, room });
        number
    }

    /// No more jobs join the open batch.
    pub(crate) const fn close_batch(&mut self) {
        self.open = None;
    }

    /// A job of a batch leaves its worker: the class whose worker is free now, if it was the last.
    pub(crate) fn leave_batch(&mut self, number: u32) -> Option<ClassId> {
        let at = number - 1;
        let batch = &mut self.batches[at as usize];
        batch.left -= 1;
        if batch.left > 0 {
            return None;
        }
        let class = batch.class;
        if self.open.is_some_and(|open| open.number == number) {
            self.open = None;
        }
        self.unused.push(at);
        Some(class)
    }

    /// Notes how many are in work.
    #[inline]
    pub(crate) fn note_busy(&mut self, busy: u32) {
        self.sample.most_busy = self.sample.most_busy.max(busy);
    }

    /// Notes that work on a job ended after `took`, with its answer or without.
    pub(crate) fn on_done(&mut self, took: Duration, answered: bool) {
        if !answered {
            self.sample.failed = self.sample.failed.saturating_add(1);
            return;
        }
        self.completed = self.completed.saturating_add(1);
        self.sample.completed = self.sample.completed.saturating_add(1);
        self.sample.least = Some(self.sample.least.map_or(took, |least| least.min(took)));
        self.took_ns += u128::from(took.as_nanos());
    }
}

/// The sample after the one due at `at`. Whoever asks late, as after a pause of the whole process, gets one sample for the
/// stretch that was missed, not one for each period.
fn following(at: Instant, period: Duration, now: Instant) -> Instant {
    let next = at + period;
    if next > now { next } else { now + period }
}
