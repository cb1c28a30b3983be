//! Who may join a stage's queue: one queue control a file, and [`Control`], the closed list of them.
//!
//! To add one: a file with a type that implements [`QueueControl`], an arm in [`Control`], and an arm of
//! `QueueV1` that makes it. Nothing else knows which control a stage has.

mod tail_drop;

pub use tail_drop::TailDrop;

use crate::frame::Cause;
use crate::id::ClassId;
use crate::scenario::v1::QueueV1;
use crate::time::Instant;
use crate::unit::Draw;

/// What an arriving job finds at a stage.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The job's class.
    pub class: ClassId,
    /// The priority level it would wait in.
    pub level: u8,
    /// Jobs waiting in that level, of whatever class.
    pub level_len: u32,
    /// Jobs waiting in all levels.
    pub stage_len: u32,
    /// Whether it would have to wait. If not, a worker is free for it and no limit on waiting applies.
    pub would_wait: bool,
}

/// What becomes of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It joins the queue.
    Admit,
    /// It is turned away; shed jobs are counted by cause.
    Shed(Cause),
}

/// Decides, arrival by arrival, who may join a stage's queue.
///
/// Time, queue lengths and chance are arguments, so every implementation is a plain state machine that
/// the simulator and the server drive alike.
pub trait QueueControl {
    /// Judges one arrival. `draw` is there to be used or not.
    fn on_arrival(&mut self, now: Instant, found: Found, draw: Draw) -> Verdict;

    /// Notes that a job of `level` left the queue, whatever for; `level_len` and `stage_len` jobs remain.
    fn on_departure(&mut self, _now: Instant, _level: u8, _level_len: u32, _stage_len: u32) {}

    /// Most that may wait, for display: in each level or in all, as the control counts.
    fn limit(&self) -> u32;
}

/// The queue control of a stage.
#[derive(Clone, Debug)]
pub enum Control {
    /// Up to a limit.
    TailDrop(TailDrop),
}

impl Control {
    /// The control a scenario asks for.
    #[must_use]
    pub fn new(queue: &QueueV1) -> Self {
        match *queue {
            QueueV1::TailDrop { limit, per } => Self::TailDrop(TailDrop::new(limit, per)),
        }
    }
}

impl QueueControl for Control {
    #[inline]
    fn on_arrival(&mut self, now: Instant, found: Found, draw: Draw) -> Verdict {
        match self {
            Self::TailDrop(control) => control.on_arrival(now, found, draw),
        }
    }

    #[inline]
    fn on_departure(&mut self, now: Instant, level: u8, level_len: u32, stage_len: u32) {
        match self {
            Self::TailDrop(control) => control.on_departure(now, level, level_len, stage_len),
        }
    }

    fn limit(&self) -> u32 {
        match self {
            Self::TailDrop(control) => control.limit(),
        }
    }
}
