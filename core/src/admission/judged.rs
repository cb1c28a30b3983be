//! What was decided about who may wait, with the figures it was decided by: for explanations, and only while asked for.

use super::{Control, Found, Gauge, QueueControl, Verdict};
use crate::id::{ClassId, StageId};
use crate::time::Instant;
use crate::unit::Draw;
use alloc::vec::Vec;

/// Draws have so many bits.
const BITS: u32 = 53;

/// How a job was judged at a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// When.
    pub at: Instant,
    /// Its class.
    pub class: ClassId,
    /// The stage.
    pub stage: StageId,
    /// The level it waits in if it is let in, 0 the least urgent.
    pub level: u8,
    /// The level it was judged at.
    pub judged_at: u8,
    /// Jobs that waited at the stage.
    pub waiting: u32,
    /// Of those, at the level it was judged at and above: the cumulative count of paper S, 1.3.
    pub ahead: u32,
    /// Whether it would have to wait; if not, no limit on waiting applies.
    pub would_wait: bool,
    /// Figures of the control at its level, as this arrival left them.
    pub gauge: Option<Gauge>,
    /// Part of all draws that would have turned it away: the control's probability for this very arrival, with
    /// whatever spaces refusals out, 0 to 1.
    pub chance: f64,
    /// Its draw, 0 to 1. Below `chance` it is turned away.
    pub draw: f64,
    /// What became of it.
    pub verdict: Verdict,
}

/// About whom verdicts are written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// Nobody: only who was turned away last.
    #[default]
    Nobody,
    /// The job of a class that arrives at a moment.
    One(ClassId, Instant),
    /// Everybody.
    All,
}

/// What was decided last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// About whom.
    pub about: About,
    /// Verdicts about the last job that was judged, one a stage that was asked.
    pub judged: Vec<Judged>,
    /// The last job that was turned away, at the entry or later: its class, and when it arrived.
    pub shed: Option<(ClassId, Instant)>,
}

impl Told {
    /// Whether the verdict about a job is to be written down.
    pub(crate) fn wants(&self, class: ClassId, arrived: Instant) -> bool {
        match self.about {
            About::Nobody => false,
            About::One(of, at) => of == class && at == arrived,
            About::All => true,
        }
    }

    /// Keeps a verdict, with others about the same job at the same moment.
    pub(crate) fn judged(&mut self, judged: Judged) -> Verdict {
        let verdict = judged.verdict;
        let same =
            |last: &Judged| last.at == judged.at && last.class == judged.class && last.stage < judged.stage;
        if !self.judged.last().is_some_and(same) {
            self.judged.clear();
        }
        self.judged.push(judged);
        verdict
    }
}

/// Part of all draws that would turn an arrival away: controls turn away below a probability, so the draw at which the
/// verdict changes is found by halving.
pub(crate) fn chance_of(control: &Control, now: Instant, found: &Found<'_>) -> f64 {
    let sheds = |bits: u64| {
        let draw = Draw::from_bits(bits << (64 - BITS));
        matches!(control.clone().on_arrival(now, *found, draw), Verdict::Shed(_))
    };
    let (mut below, mut above) = (0, 1_u64 << BITS);
    while below < above {
        let middle = below + (above - below) / 2;
        if sheds(middle) { below = middle + 1 } else { above = middle }
    }
    below as f64 / (1_u64 << BITS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Queue;
    use crate::scenario::v1::QueueV1;
    use crate::time::Duration;
    use crate::unit::DelayWeight;

    #[track_caller]
    fn check(json: &str, waiting: u32, want: f64) {
        let text = alloc::format!(
            r#"{{"tidegate":1,"classes":[{{"name":"a"}}],"stages":[{{"name":"s","workers":1,"work":{{"at":"servers"}},"queue":{json}}}]}}"#
        );
        let queue: QueueV1 = crate::scenario::parse::parse_json(&text).unwrap().wire.stages[0].queue.clone();
        let control = Control::new(&queue, 1, &[DelayWeight::new(1.0).unwrap()]);
        let lengths = [waiting];
        let found = Found {
            class: ClassId(0),
            level: 0,
            judged_at: 0,
            would_wait: true,
            queue: Queue { waiting: &lengths, work_ns: &[0], len: waiting, gap: Duration::ZERO },
        };
        let got = chance_of(&control, Instant::START, &found);
        assert!((got - want).abs() < 1e-12, "{json} with {waiting} waiting: {got}, want {want}");
    }

    #[test]
    fn the_chance_is_that_of_the_control() {
        let red = r#"{"policy":"red","min":10,"max":20,"max_p":0.4,"weight":1,"spacing":"bernoulli"}"#;
        check(red, 5, 0.0);
        check(red, 15, 0.2);
        check(red, 30, 1.0);
        check(r#"{"policy":"tail_drop","limit":7}"#, 6, 0.0);
        check(r#"{"policy":"tail_drop","limit":7}"#, 7, 1.0);
    }

    #[test]
    fn verdicts_about_one_job_are_kept_together() {
        let one = |at: u64, stage: u8| Judged {
            at: Instant::from_nanos(at),
            class: ClassId(0),
            stage: StageId(stage),
            level: 0,
            judged_at: 0,
            waiting: 0,
            ahead: 0,
            would_wait: false,
            gauge: None,
            chance: 0.0,
            draw: 0.5,
            verdict: Verdict::Admit,
        };
        let mut told = Told::default();
        for (at, stage, want) in [(1, 0, 1), (1, 1, 2), (1, 0, 1), (2, 1, 1)] {
            let _ = told.judged(one(at, stage));
            assert_eq!(told.judged.len(), want, "at {at}, stage {stage}");
        }
    }
}
