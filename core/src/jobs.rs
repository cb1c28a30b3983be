//! The table of jobs inside a gateway: one slot a job, reused when it leaves.
//!
//! Queues are lists linked through this table, so that a job leaves the middle of a queue (client gone,
//! deadline passed) in constant time and a million waiting jobs cost no allocation each.

use crate::id::{ClassId, JobId, ServerId, StageId};
use crate::time::{Duration, Instant};
use crate::unit::Chance;
use alloc::vec::Vec;

/// No slot: the end of a linked list.
pub(crate) const NONE: u32 = u32::MAX;

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The slot is free.
    Gone,
    /// Waiting at its stage.
    Queued,
    /// On a worker of its stage.
    Working,
}

/// One job.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub generation: u32,
    pub place: Place,
    pub class: ClassId,
    pub stage: StageId,
    /// Priority level it waits in.
    pub level: u8,
    /// Level it was judged at when it came to its present stage.
    pub judged_at: u8,
    /// Levels it is raised by for its size (paper S's lambda on arrival).
    pub correction: u8,
    /// Server it is at, while working at the serving stage.
    pub server: Option<ServerId>,
    /// Which of the gateways in front of the servers it came to.
    pub gateway: u8,
    /// What hashing balancers go by; 0 where none does.
    pub key: u32,
    pub arrived: Instant,
    /// When it joined the queue of its present stage; at a server, when it was sent there.
    pub queued: Instant,
    /// When it came to where it is: to the level it waits in (as `queued`, or later by promotion), or to its worker.
    pub since: Instant,
    /// Waits at the stages before, and at this one once it works.
    pub waited: Duration,
    /// [`Instant::NEVER`] if it has none.
    pub deadline: Instant,
    pub chance: Chance,
    /// Bytes it asks for; 0 if that is not known.
    pub size: u64,
    /// What it is expected to cost its present stage, in nanoseconds of the whole stage.
    pub cost_ns: u64,
    /// The batch it is in work with at its present stage, counted from 1; 0 for none.
    pub batch: u32,
    /// Time it has spent in work, at all stages.
    pub worked: Duration,
    /// Order of joining among all jobs of the gateway: smaller came first.
    pub ticket: u64,
    /// Neighbours in its lane, towards the tail and towards the head.
    pub next: u32,
    pub prev: u32,
    /// A job some places behind, in a long queue; only a hint, see `stage::ahead`.
    pub ahead: u32,
}

impl Job {
    /// In a slot that has had none.
    const NONE: Self = Self {
        generation: 0,
        place: Place::Gone,
        class: ClassId(0),
        stage: StageId(0),
        level: 0,
        judged_at: 0,
        correction: 0,
        server: None,
        gateway: 0,
        key: 0,
        arrived: Instant::START,
        queued: Instant::START,
        since: Instant::START,
        waited: Duration::ZERO,
        deadline: Instant::NEVER,
        chance: Chance(0),
        size: 0,
        cost_ns: 0,
        batch: 0,
        worked: Duration::ZERO,
        ticket: 0,
        next: NONE,
        prev: NONE,
        ahead: NONE,
    };

    /// Bytes it asks for, if that is known.
    pub(crate) fn known_size(&self) -> Option<u64> {
        (self.size > 0).then_some(self.size)
    }

    /// Reads something of each cache line the job is in, for the sake of having them in the cache; the value has no meaning.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        self.arrived.as_nanos() ^ self.worked.as_nanos() ^ u64::from(self.class.0) ^ u64::from(self.gateway)
    }
}

/// All jobs of a gateway.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs {
    table: Vec<Job>,
    free: Vec<u32>,
}

impl Jobs {
    /// Puts a job into a free slot, which gives it its generation.
    // One copy for each caller, so that a job is written where it belongs rather than made elsewhere and moved there.
    #[inline(always)]
    pub(crate) fn insert(&mut self, job: Job) -> JobId {
        let slot = self.free.pop().unwrap_or_else(|| self.grow());
        let place = &mut self.table[slot as usize];
        let generation = place.generation;
        *place = Job { generation, ..job };
        JobId { slot, generation }
    }

    /// A slot more.
    #[cold]
    fn grow(&mut self) -> u32 {
        // Queue limits and worker counts are far below 2^32, so the table never reaches NONE.
        let slot = self.table.len() as u32;
        self.table.push(Job::NONE);
        slot
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        let job = &mut self.table[slot as usize];
        job.place = Place::Gone;
        job.generation = job.generation.wrapping_add(1);
        self.free.push(slot);
    }

    /// About how many bytes it takes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.table.len() * core::mem::size_of::<Job>()
    }

    /// The slot of a job that is still here.
    #[inline(always)]
    pub(crate) fn find(&self, id: JobId) -> Option<u32> {
        let job = self.table.get(id.slot as usize)?;
        (job.generation == id.generation && job.place != Place::Gone).then_some(id.slot)
    }

    /// Every job that is here.
    pub(crate) fn all(&self) -> impl Iterator<Item = (JobId, &Job)> {
        (0..).zip(&self.table).filter(|(_, job)| job.place != Place::Gone).map(|(slot, job)| {
            let generation = job.generation;
            (JobId { slot, generation }, job)
        })
    }

    pub(crate) fn id(&self, slot: u32) -> JobId {
        JobId { slot, generation: self[slot].generation }
    }
}

impl core::ops::Index<u32> for Jobs {
    type Output = Job;

    #[inline]
    fn index(&self, slot: u32) -> &Job {
        &self.table[slot as usize]
    }
}

impl core::ops::IndexMut<u32> for Jobs {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Job {
        &mut self.table[slot as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::{offset_of, size_of};

    #[test]
    fn touching_a_job_reads_every_line_it_is_in() {
        let read = [
            offset_of!(Job, arrived),
            offset_of!(Job, worked),
            offset_of!(Job, class),
            offset_of!(Job, gateway),
        ];
        // Wherever a job begins, a line of 64 bytes that holds some of it holds a byte at one of these.
        for begin in (0..64).step_by(align_of::<Job>()) {
            for line in begin / 64..=(begin + size_of::<Job>() - 1) / 64 {
                assert!(
                    read.iter().any(|offset| (begin + offset) / 64 == line),
                    "begun at {begin} of a line, nothing is read of line {line}: fields are at {read:?}"
                );
            }
        }
    }
}
