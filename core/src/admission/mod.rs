//! Who may join a stage's queue: one queue control a file, and [`Control`], the closed list of them.
//!
//! To add one: a file with a type that implements [`QueueControl`], an arm in [`Control`], and an arm of
//! `QueueV1` that makes it. Nothing else knows which control a stage has.

mod adapt;
mod adaptive_rate;
mod admission_window;
mod average;
mod bucket;
mod codel;
mod enqueue_rate;
mod judged;
mod length_threshold;
mod pdt_red;
mod pie;
mod priority_red;
mod ramp;
mod red;
mod spacing;
mod tail_drop;
mod work_red;
mod wred;

pub use adapt::TOP as MAX_P_STOP;
pub use adaptive_rate::AdaptiveRate;
pub use admission_window::AdmissionWindow;
pub use codel::CoDel;
pub use enqueue_rate::EnqueueRate;
pub(crate) use judged::chance_of;
pub use judged::{About, Judged, Told};
pub use length_threshold::LengthThreshold;
pub use pdt_red::PdtRed;
pub use pie::Pie;
pub use priority_red::PriorityRed;
pub use ramp::Ramp;
pub use red::Red;
pub use tail_drop::TailDrop;
pub use work_red::WorkRed;
pub use wred::Wred;

use crate::frame::Cause;
use crate::id::ClassId;
use crate::scenario::v1::QueueV1;
use crate::time::{Duration, Instant};
use crate::unit::{DelayWeight, Draw};
use adapt::MaxP;

/// A stage's queue at one moment, as its control sees it.
#[derive(Clone, Copy, Debug)]
pub struct Queue<'a> {
    /// Jobs waiting, by the level they wait in, the least urgent first. Promotion moves a job from one to the next.
    pub waiting: &'a [u32],
    /// Work waiting, by the level a job was judged at when it came; promotion does not move it. In nanoseconds of
    /// the whole stage: a job that keeps one of ten workers busy for 1 s counts 0.1 s.
    pub work_ns: &'a [u64],
    /// Jobs waiting in all levels.
    pub len: u32,
    /// Mean time between two completions while the stage is busy; zero while none is known. The length of the
    /// queue times this is about the wait of who joins it.
    pub gap: Duration,
}

impl Queue<'_> {
    /// Jobs waiting at `level` and above it: the cumulative count of paper S, 1.3.
    #[must_use]
    #[inline]
    pub fn at_or_above(&self, level: u8) -> u32 {
        self.waiting[usize::from(level)..].iter().sum()
    }
}

/// What an arriving job finds at a stage. It is not yet in the queue.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The job's class.
    pub class: ClassId,
    /// The priority level it would wait in.
    pub level: u8,
    /// The level it is judged at: its own, or above it by its correction for size (paper S, 1.2).
    pub judged_at: u8,
    /// Whether it would have to wait. If not, a worker is free for it and no limit on waiting applies.
    pub would_wait: bool,
    /// The queue.
    pub queue: Queue<'a>,
}

impl Found<'_> {
    /// Whether it would have to wait in a queue where `limit` or more do already.
    #[must_use]
    #[inline]
    pub const fn is_too_many(&self, limit: u32) -> bool {
        self.would_wait && self.queue.len >= limit
    }
}

/// A job that is about to leave the queue for a worker. It still counts in the queue.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'a> {
    /// The job's class.
    pub class: ClassId,
    /// The level it waits in.
    pub level: u8,
    /// How long it has waited at this stage.
    pub waited: Duration,
    /// The queue.
    pub queue: Queue<'a>,
}

/// What becomes of a job that is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It joins the queue, or leaves it for a worker.
    Admit,
    /// It is turned away; shed jobs are counted by cause.
    Shed(Cause),
}

/// Present figures of a control at one level, to be shown and explained.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Gauge {
    /// What the drop probability is read off at: the averaged queue, in jobs or, for [`Gauge::seconds`], in
    /// seconds; for a control that goes by the wait, that wait; for one that goes by a rate, the rate in 1/s.
    pub average: f64,
    /// Below it nobody is turned away; the target of a control that has one.
    pub min: f64,
    /// From it on everybody is; 0 for a control that has no such point.
    pub max: f64,
    /// Probability that an arrival at the level is turned away as things stand, 0 to 1.
    pub drop_p: f64,
    /// Height of the curve just below `max`; 0 where there is no curve.
    pub max_p: f64,
    /// Whether `average`, `min` and `max` are seconds, not jobs.
    pub seconds: bool,
}

/// Decides, arrival by arrival, who may join a stage's queue.
///
/// Time, queue lengths and chance are arguments, so every implementation is a plain state machine that
/// the simulator and the server drive alike. A control with a period of its own does what was due when it is next
/// asked: between two calls nothing it looks at changes but time.
pub trait QueueControl {
    /// Judges one arrival. `draw` is there to be used or not.
    fn on_arrival(&mut self, now: Instant, found: Found<'_>, draw: Draw) -> Verdict;

    /// Whether it has a say in [`on_take`](Self::on_take).
    fn judges_taken(&self) -> bool {
        false
    }

    /// Judges a job about to be put on a worker. `draw` is another than at its arrival.
    fn on_take(&mut self, _now: Instant, _taken: Taken<'_>, _draw: Draw) -> Verdict {
        Verdict::Admit
    }

    /// Notes that a job of `level` left the queue, whatever for; `queue` is what remains.
    fn on_departure(&mut self, _now: Instant, _level: u8, _queue: Queue<'_>) {}

    /// Notes that a job left the gateway with its answer, `response` after it arrived.
    fn on_response(&mut self, _now: Instant, _class: ClassId, _response: Duration) {}

    /// Whether it is asked when a job enters the gateway, whatever stage it belongs to, instead of when the job
    /// comes to the stage. [`on_arrival`](Self::on_arrival) is then called once, at the entry, and the stage itself
    /// asks [`on_late_arrival`](Self::on_late_arrival).
    fn at_entry(&self) -> bool {
        false
    }

    /// Judges a job that was let in at the entry and has come to the stage.
    fn on_late_arrival(&mut self, _now: Instant, _found: Found<'_>) -> Verdict {
        Verdict::Admit
    }

    /// Most that may wait, for display: in each level or in all, as the control counts.
    fn limit(&self) -> u32;

    /// Present figures of a level; `None` for a control that has none.
    fn gauge(&self, _now: Instant, _level: u8) -> Option<Gauge> {
        None
    }
}

/// Declares [`Control`] with one arm a type, and hands every call on to the type.
macro_rules! controls {
    ($($(#[$doc:meta])* $arm:ident,)*) => {
        /// The queue control of a stage.
        #[derive(Clone, Debug)]
        pub enum Control {
            $($(#[$doc])* $arm($arm),)*
        }

        /// The calls made for every job, apart from those of tail drop: that the usual control costs next to
        /// nothing is worth a comparison first, and these stay out of the callers' loops.
        impl Control {
            #[inline(never)]
            fn arrival_elsewhere(&mut self, now: Instant, found: &Found<'_>, draw: Draw) -> Verdict {
                match self { $(Self::$arm(control) => control.on_arrival(now, *found, draw),)* }
            }

            #[inline(never)]
            fn departure_elsewhere(&mut self, now: Instant, level: u8, queue: &Queue<'_>) {
                match self { $(Self::$arm(control) => control.on_departure(now, level, *queue),)* }
            }
        }

        impl QueueControl for Control {
            #[inline]
            fn on_arrival(&mut self, now: Instant, found: Found<'_>, draw: Draw) -> Verdict {
                if let Self::TailDrop(control) = self {
                    return control.on_arrival(now, found, draw);
                }
                self.arrival_elsewhere(now, &found, draw)
            }

            fn judges_taken(&self) -> bool {
                match self { $(Self::$arm(control) => control.judges_taken(),)* }
            }

            fn on_take(&mut self, now: Instant, taken: Taken<'_>, draw: Draw) -> Verdict {
                match self { $(Self::$arm(control) => control.on_take(now, taken, draw),)* }
            }

            #[inline(always)]
            fn on_departure(&mut self, now: Instant, level: u8, queue: Queue<'_>) {
                if let Self::TailDrop(_) = self {
                    return;
                }
                self.departure_elsewhere(now, level, &queue);
            }

            #[inline]
            fn on_response(&mut self, now: Instant, class: ClassId, response: Duration) {
                match self { $(Self::$arm(control) => control.on_response(now, class, response),)* }
            }

            #[inline]
            fn at_entry(&self) -> bool {
                match self { $(Self::$arm(control) => control.at_entry(),)* }
            }

            fn on_late_arrival(&mut self, now: Instant, found: Found<'_>) -> Verdict {
                match self { $(Self::$arm(control) => control.on_late_arrival(now, found),)* }
            }

            fn limit(&self) -> u32 {
                match self { $(Self::$arm(control) => control.limit(),)* }
            }

            fn gauge(&self, now: Instant, level: u8) -> Option<Gauge> {
                match self { $(Self::$arm(control) => control.gauge(now, level),)* }
            }
        }
    };
}

controls! {
    /// Up to a limit.
    TailDrop,
    /// Up to a limit that knows nothing of workers.
    LengthThreshold,
    /// So many a second.
    EnqueueRate,
    /// By how long jobs have waited that leave the queue.
    CoDel,
    /// By how long an arrival would wait.
    Pie,
    /// So many a second as the response time allows.
    AdaptiveRate,
    /// For so much of each period as the delay of the class allows.
    AdmissionWindow,
    /// At random, by the average length.
    Red,
    /// At random, by the average length of a level and all above it.
    PriorityRed,
    /// The same, with thresholds that move with the level and the free room.
    PdtRed,
    /// At random, by a curve for each level.
    Wred,
    /// At random, by the average work at a level and above it, decided at the entry.
    WorkRed,
}

impl Control {
    /// The same, of a queue that there is only from `now` on, or that had another control until then: no time has passed
    /// for it.
    #[must_use]
    pub(crate) fn beginning_at(mut self, now: Instant) -> Self {
        if let Self::Pie(pie) = &mut self {
            pie.begin_at(now);
        }
        self
    }

    /// The control a scenario asks for, for a queue of so many `levels` and classes with these weights.
    #[must_use]
    pub fn new(queue: &QueueV1, levels: usize, weights: &[DelayWeight]) -> Self {
        let us = Duration::from_micros;
        match *queue {
            QueueV1::TailDrop { limit, per } => Self::TailDrop(TailDrop::new(limit, per)),
            QueueV1::LengthThreshold { threshold } => Self::LengthThreshold(LengthThreshold::new(threshold)),
            QueueV1::EnqueueRate { rate_per_s, depth, limit } => {
                Self::EnqueueRate(EnqueueRate::new(rate_per_s, depth, limit))
            }
            QueueV1::Codel { target_us, interval_us, limit } => {
                Self::CoDel(CoDel::new(us(target_us), us(interval_us), limit))
            }
            QueueV1::Pie { target_us, update_us, burst_us, limit } => {
                Self::Pie(Pie::new(us(target_us), us(update_us), us(burst_us), limit))
            }
            QueueV1::AdaptiveRate { rule, target_us, limit } => {
                Self::AdaptiveRate(AdaptiveRate::new(rule, us(target_us), limit, weights.len()))
            }
            QueueV1::AdmissionWindow { target_us, period_us, gain, limit } => Self::AdmissionWindow(
                AdmissionWindow::new(us(target_us), us(period_us), gain, limit, weights),
            ),
            QueueV1::Red { min, max, max_p, weight, gentle, spacing, ref adapt, limit } => {
                let ramp = Ramp::new(min, max, gentle);
                Self::Red(Red::new(ramp, weight, spacing, MaxP::new(adapt, max_p), limit))
            }
            QueueV1::PriorityRed {
                min,
                max,
                max_p,
                weight,
                gentle,
                spacing,
                ref adapt,
                adapt_per,
                update_per,
                on_departure,
                limit,
            } => {
                let ramp = Ramp::new(min, max, gentle);
                let red = PriorityRed::new(levels, ramp, weight, spacing, MaxP::new(adapt, max_p), limit);
                Self::PriorityRed(red.adapting_per(adapt_per).updating(update_per, on_departure))
            }
            QueueV1::PdtRed { min, max, max_p, weight, gain, limit } => {
                Self::PdtRed(PdtRed::new(levels, Ramp::new(min, max, false), max_p, weight, gain, limit))
            }
            QueueV1::Wred { ref curves, weight, average, limit } => {
                Self::Wred(Wred::new(levels, curves, weight, average, limit))
            }
            QueueV1::WorkRed { min_us, max_us, max_p, tau_us, hard, ref adapt, limit } => {
                let ramp = Ramp::new(min_us as f64 / 1e6, max_us as f64 / 1e6, false);
                Self::WorkRed(WorkRed::new(levels, ramp, us(tau_us), hard, MaxP::new(adapt, max_p), limit))
            }
        }
    }
}
