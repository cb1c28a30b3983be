//! Controllers of a split: which part of a stage's workers each class has.
//!
//! Once a period a controller sees what every class went through and says what share of the workers each should have.
//! [`apportion()`] makes whole workers of the shares; the controller is then told what it got, so that it never winds
//! up against a limit it cannot see. What is common to all controllers is not in them: whether there is anything to
//! enforce, whether the target can be reached at all, how finely the pool can be divided ([`Standing`]).
//!
//! To add one: a file with a type that implements [`SplitControl`], an arm in [`Split`], and an arm of `SplitByV1`
//! that makes it.

mod apportion;
mod closed_loop;
mod feed_forward;
mod ground;
mod log_loop;
mod pairwise_pi;
mod pairwise_stc;
mod pid;
mod polynomial;
mod rls;
mod sense;
mod standing;
mod stc_lead;
mod stc_paper;
mod stc_served;
#[cfg(test)]
mod test_queue;
#[cfg(test)]
mod tests;

pub use apportion::{Carry, apportion};
pub use closed_loop::{Model, Regulator, characteristic, gain_margin, is_stable_up_to, step_response};
pub use feed_forward::FeedForward;
pub use pairwise_pi::PairwisePi;
pub use pairwise_stc::PairwiseStc;
pub use pid::Pid;
pub(crate) use standing::errors;
pub use standing::{Standing, resolution};
pub use stc_lead::StcLead;
pub use stc_paper::StcPaper;
pub use stc_served::StcServed;

use crate::frame::LoopFrame;
use crate::scenario::v1::SplitByV1;
use crate::time::Duration;
use crate::unit::DelayWeight;

/// What one class of a stage went through since the last sample.
///
/// Delays are those of this stage's queue, from joining it to being handed to a worker (paper P, `t_d - t_c`), of
/// the jobs handed over since the last sample: they count for the split in force then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassSample {
    /// Jobs that joined the queue.
    pub joined: u32,
    /// Jobs handed to a worker.
    pub started: u32,
    /// Sum of their delays, in seconds.
    pub delay_s: f64,
    /// Jobs waiting now.
    pub waiting: u32,
    /// How long the oldest of them has waited, in seconds.
    pub oldest_s: f64,
    /// Jobs whose work ended with an answer.
    pub completed: u32,
    /// Sum of their times in work, in seconds.
    pub service_s: f64,
    /// Jobs in work now.
    pub busy: u32,
    /// Workers it had, on average over the time since the last sample.
    pub workers: f64,
}

/// What all classes of a stage went through since the last sample.
#[derive(Clone, Copy, Debug)]
pub struct SplitSample<'a> {
    /// Workers to be divided.
    pub workers: u32,
    /// One entry a class.
    pub classes: &'a [ClassSample],
}

/// Says what share of the workers each class should have, once a period.
pub trait SplitControl {
    /// Time between two samples; above zero.
    fn period(&self) -> Duration;

    /// Writes the share each class should have until the next sample to `shares`, which holds what the last call
    /// wrote (equal shares or those of the scenario's split before the first). Any finite positive numbers do: only
    /// their proportions count.
    fn on_sample(&mut self, seen: SplitSample<'_>, shares: &mut [f64]);

    /// Hears what whole workers were made of the shares.
    fn on_applied(&mut self, workers: &[u32]) {
        let _ = workers;
    }

    /// Whether what it has learned is good enough to go by. While it is not, it goes by a stated rule instead, which
    /// is the controller's own business; this is what is shown.
    fn is_credible(&self) -> bool {
        true
    }

    /// Whether it is still watching and not yet steering.
    fn is_learning(&self) -> bool {
        false
    }

    /// Writes what it thinks of a class to `out`: model, gains, trust, flags. Fields that it has nothing for stay.
    fn describe(&self, class: usize, out: &mut LoopFrame) {
        let _ = (class, out);
    }
}

/// Declares [`Split`] with one arm a type, and hands every call on to the type.
macro_rules! splits {
    ($($(#[$doc:meta])* $arm:ident,)*) => {
        /// The controller of a split.
        #[derive(Clone, Debug)]
        pub enum Split {
            $($(#[$doc])* $arm($arm),)*
        }

        impl SplitControl for Split {
            fn period(&self) -> Duration {
                match self { $(Self::$arm(control) => control.period(),)* }
            }

            fn on_sample(&mut self, seen: SplitSample<'_>, shares: &mut [f64]) {
                match self { $(Self::$arm(control) => control.on_sample(seen, shares),)* }
            }

            fn on_applied(&mut self, workers: &[u32]) {
                match self { $(Self::$arm(control) => control.on_applied(workers),)* }
            }

            fn is_credible(&self) -> bool {
                match self { $(Self::$arm(control) => control.is_credible(),)* }
            }

            fn is_learning(&self) -> bool {
                match self { $(Self::$arm(control) => control.is_learning(),)* }
            }

            fn describe(&self, class: usize, out: &mut LoopFrame) {
                match self { $(Self::$arm(control) => control.describe(class, out),)* }
            }
        }
    };
}

splits! {
    /// Self-tuning, led by the backlog.
    StcLead,
    /// Self-tuning, on the delays of those served, in logarithms.
    StcServed,
    /// Self-tuning, on shares of the delay, as published.
    StcPaper,
    /// Fixed gains on shares of the delay.
    Pid,
    /// Fixed gains on ratios of neighbours.
    PairwisePi,
    /// Self-tuning on ratios of neighbours.
    PairwiseStc,
    /// From a queueing model.
    FeedForward,
}

impl Split {
    /// The controller a scenario asks for, of classes with these weights; `None` if the split stays as it is.
    #[must_use]
    pub fn new(split_by: &SplitByV1, weights: &[DelayWeight]) -> Option<Self> {
        let us = Duration::from_micros;
        Some(match *split_by {
            SplitByV1::Fixed => return None,
            SplitByV1::StcLead { period_us, prior, tune } => {
                Self::StcLead(StcLead::new(weights, us(period_us), prior, tune))
            }
            SplitByV1::StcServed { period_us, tune } => {
                Self::StcServed(StcServed::new(weights, us(period_us), tune))
            }
            SplitByV1::StcPaper { .. } => Self::StcPaper(StcPaper::new(weights, split_by)?),
            SplitByV1::Pid { period_us, kp, ki, kd } => {
                Self::Pid(Pid::new(weights, us(period_us), [kp, ki, kd]))
            }
            SplitByV1::PairwisePi { period_us, gain, zero } => {
                Self::PairwisePi(PairwisePi::new(weights, us(period_us), gain, zero))
            }
            SplitByV1::PairwiseStc { period_us, pole, forgetting } => {
                Self::PairwiseStc(PairwiseStc::new(weights, us(period_us), pole, forgetting))
            }
            SplitByV1::FeedForward { period_us, think_us, trim } => {
                Self::FeedForward(FeedForward::new(weights, us(period_us), us(think_us), trim))
            }
        })
    }
}
