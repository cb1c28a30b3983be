//! What an operator should hear of without asking: that a controlled split cannot do what it is asked to do.
//!
//! Each trouble is said once when it begins, in plain words, on standard error. One that comes and goes is said at most
//! once in [`QUIET`], so that a stage at the edge does not fill the log; `/metrics` has every change of it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write as _;
use std::sync::Arc;

use tidegate_core::frame::{Frame, LoopFrame, SplitFrame, SplitState};
use tidegate_core::scenario::v1::SplitByV1;
use tidegate_core::time::{Duration, Instant};
use tokio::time::MissedTickBehavior;

use super::proxy::Gate;
use crate::text::{WARN, styled};

/// Time between two looks.
const PERIOD: std::time::Duration = std::time::Duration::from_secs(1);
/// Shortest time between two lines about the same trouble.
const QUIET: Duration = Duration::from_secs(60);

/// Says what goes wrong for as long as it is polled. Returns at once if no split is controlled.
pub(crate) async fn watch(gate: Arc<Gate>) {
    let scenario = &gate.scenario;
    if scenario.stages.iter().all(|stage| stage.split_by == SplitByV1::Fixed) {
        return;
    }
    let mut tick = tokio::time::interval(PERIOD);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut told, mut frame) = (Told::default(), Frame::default());
    loop {
        tick.tick().await;
        gate.driver.frame(&mut frame);
        for trouble in told.new_of(&frame) {
            let stage = &scenario.stages[trouble.stage].name;
            let class = |class: usize| scenario.classes.get(class).map_or("?", |class| class.name.as_str());
            let what = trouble.kind.words(class);
            // Whoever closed our output early does not want to read it.
            let _ = writeln!(anstream::stderr(), "{} stage {stage}: {what}", styled(WARN, "warning:"));
        }
    }
}

/// What is wrong at a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Trouble {
    stage: usize,
    kind: Kind,
}

/// What can be wrong; classes by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// No split reaches the ratio, because of this class.
    OutOfReach(usize),
    /// The controller does not trust what it has learned.
    NotCredible,
    /// The waits of this class are cut short of what the ratio asks.
    CutShort(usize),
}

impl Kind {
    fn words<'a>(self, class: impl Fn(usize) -> &'a str) -> impl fmt::Display {
        match self {
            Self::OutOfReach(number) => format!(
                "the ratio is out of reach: class {} has as few workers as a class may have and still waits too \
                 little for its delay_weight; a smaller weight or more workers would help",
                class(number)
            ),
            Self::NotCredible => {
                "what the controller of the split has learned is not credible; it goes by its rule for that case \
                 until it is"
                    .to_owned()
            }
            Self::CutShort(number) => format!(
                "class {} should wait longer than its deadline or its ageing allows; the ratio is not held while \
                 that lasts",
                class(number)
            ),
        }
    }
}

/// What has been said.
#[derive(Debug, Default)]
struct Told(BTreeMap<Trouble, Said>);

#[derive(Clone, Copy, Debug)]
struct Said {
    at: Instant,
    /// Whether the trouble has been there ever since.
    lasts: bool,
}

impl Told {
    /// What is to be said at this frame.
    fn new_of(&mut self, frame: &Frame) -> Vec<Trouble> {
        let now: Vec<Trouble> = frame
            .stages
            .iter()
            .enumerate()
            .flat_map(|(stage, seen)| troubles(&seen.split).map(move |kind| Trouble { stage, kind }))
            .collect();
        for (trouble, said) in &mut self.0 {
            said.lasts &= now.contains(trouble);
        }
        let is_new = |trouble: &Trouble| {
            self.0.get(trouble).is_none_or(|said| !said.lasts && frame.now.since(said.at) >= QUIET)
        };
        let new: Vec<Trouble> = now.into_iter().filter(is_new).collect();
        self.0.extend(new.iter().map(|&trouble| (trouble, Said { at: frame.now, lasts: true })));
        new
    }
}

fn troubles(split: &SplitFrame) -> impl Iterator<Item = Kind> + '_ {
    let state = match split.state {
        SplitState::Infeasible => Some(Kind::OutOfReach(split.stuck as usize)),
        SplitState::Fallback => Some(Kind::NotCredible),
        _ => None,
    };
    let cut =
        split.classes.iter().enumerate().filter(|(_, class)| class.flags & LoopFrame::WAIT_LIMITED != 0);
    state.into_iter().chain(cut.map(|(number, _)| Kind::CutShort(number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::frame::StageFrame;

    fn frame(at_s: u64, state: SplitState, limited: &[usize]) -> Frame {
        let flags = |class| if limited.contains(&class) { LoopFrame::WAIT_LIMITED } else { 0 };
        let classes = (0..2).map(|class| LoopFrame { flags: flags(class), ..LoopFrame::default() }).collect();
        let split = SplitFrame { state, stuck: 1, classes, ..SplitFrame::default() };
        let stages = vec![StageFrame::default(), StageFrame { split, ..StageFrame::default() }];
        Frame { now: Instant::START + Duration::from_secs(at_s), stages, ..Frame::default() }
    }

    /// Looks at the given moments and states; what is said at each.
    #[track_caller]
    fn check(looks: &[(u64, SplitState, &[usize])], want: &[&[Kind]]) {
        let mut told = Told::default();
        for (&(at, state, limited), want) in looks.iter().zip(want) {
            let new = told.new_of(&frame(at, state, limited));
            assert!(new.iter().all(|trouble| trouble.stage == 1), "the second stage has the split");
            let kinds: Vec<Kind> = new.into_iter().map(|trouble| trouble.kind).collect();
            assert_eq!(kinds, *want, "said at {at} s of {state:?}, cut short {limited:?}");
        }
    }

    use SplitState::{Fallback, Idle, Infeasible, Steering};

    #[test]
    fn a_trouble_is_said_when_it_begins_and_not_while_it_lasts() {
        check(
            &[(1, Idle, &[]), (2, Infeasible, &[]), (3, Infeasible, &[]), (900, Infeasible, &[])],
            &[&[], &[Kind::OutOfReach(1)], &[], &[]],
        );
        check(
            &[(1, Steering, &[0]), (2, Steering, &[0, 1]), (3, Fallback, &[0, 1])],
            &[&[Kind::CutShort(0)], &[Kind::CutShort(1)], &[Kind::NotCredible]],
        );
    }

    #[test]
    fn a_trouble_that_comes_and_goes_is_said_once_a_minute() {
        check(
            &[
                (1, Infeasible, &[]),
                (2, Steering, &[]),
                (3, Infeasible, &[]),
                (60, Infeasible, &[]),
                (61, Infeasible, &[]),
                (62, Infeasible, &[]),
            ],
            &[&[Kind::OutOfReach(1)], &[], &[], &[], &[Kind::OutOfReach(1)], &[]],
        );
    }

    #[test]
    fn the_words_name_the_class_and_what_helps() {
        let words = Kind::OutOfReach(1).words(|class| ["high", "low"][class]).to_string();
        assert!(words.contains("class low") && words.contains("more workers"), "{words}");
        let words = Kind::CutShort(0).words(|class| ["high", "low"][class]).to_string();
        assert!(words.contains("class high") && words.contains("deadline"), "{words}");
    }
}
