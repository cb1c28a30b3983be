//! What the page and the simulation worker say to each other.
//!
//! Control goes as one small object, a [`Note`] (`serde-wasm-bindgen`): one shape for all orders and answers, because
//! each further type would bring its own reader and writer into the page. Whatever there is much of goes as one flat
//! list of numbers, which the page receives as a transferred `Float64Array`: [`Numbers`].

use crate::trace::{Spot, Told};
use serde::{Deserialize, Serialize};
use tidegate_core::frame::{Frame, FrameError};

/// From the page to the worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Begins another run. Answers about earlier runs are to be ignored.
    Load {
        /// Number of the run, never used before.
        run: u32,
        /// The scenario as JSON.
        scenario: String,
        /// Where to stand at first, in seconds.
        at_s: f64,
        /// Whether the rows of the log read last take part.
        with_log: bool,
    },
    /// Plays on to a moment (or as far as time allows) and shows it.
    Advance {
        /// Which run.
        run: u32,
        /// The moment, in seconds.
        to_s: f64,
    },
    /// Jumps to a moment, before or after the present one.
    Seek {
        /// Which run.
        run: u32,
        /// The moment, in seconds.
        to_s: f64,
    },
    /// Plays exactly one event of the calendar, or takes one back.
    StepEvent {
        /// Which run.
        run: u32,
        /// Whether to take one back.
        back: bool,
    },
    /// Plays on to the next decision of the gateway: somebody is turned away, a server picked, a controller changes something.
    StepDecision {
        /// Which run.
        run: u32,
    },
    /// Begins or ends to write down how servers are picked, in this run and those that follow.
    Explain {
        /// Whether to.
        on: bool,
    },
    /// Follows a request, seen at the present moment, through a copy of the run.
    Trace {
        /// Which run.
        run: u32,
        /// Which request.
        spot: Spot,
    },
    /// Two scenarios to be run in pairs; none at all ends what is going on.
    Both {
        /// Which comparison.
        job: u32,
        /// A as JSON.
        a: String,
        /// B as JSON.
        b: String,
        /// Whether the rows of the log read last take part.
        with_log: bool,
    },
    /// Makes one pair of runs.
    Pair {
        /// Of which comparison.
        job: u32,
        /// Which.
        replication: u32,
    },
}

/// From the worker to the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The worker listens.
    Ready,
    /// The scenario cannot be run.
    Refused {
        /// Which run.
        run: u32,
        /// Why, in words of the core.
        reason: String,
    },
    /// The run was computed to its end.
    Done {
        /// Which run.
        run: u32,
        /// Hash of every event of the run.
        hash: u64,
        /// Events played.
        events: u64,
        /// Time it took, in milliseconds of work.
        work_ms: f64,
    },
}

/// An order or answer on its way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Note {
    what: String,
    run: u32,
    count: u64,
    second: u64,
    number: f64,
    text: String,
    texts: Vec<String>,
}

impl Note {
    fn new(what: &str, run: u32) -> Self {
        Self { what: what.to_owned(), run, ..Self::default() }
    }
}

impl From<Order> for Note {
    fn from(order: Order) -> Self {
        match order {
            Order::Load { run, scenario, at_s, with_log } => {
                Self { number: at_s, text: scenario, count: u64::from(with_log), ..Self::new("load", run) }
            }
            Order::Advance { run, to_s } => Self { number: to_s, ..Self::new("advance", run) },
            Order::Seek { run, to_s } => Self { number: to_s, ..Self::new("seek", run) },
            Order::StepEvent { run, back } => Self { count: u64::from(back), ..Self::new("step_event", run) },
            Order::StepDecision { run } => Self::new("step_decision", run),
            Order::Explain { on } => Self { count: u64::from(on), ..Self::new("explain", 0) },
            Order::Trace { run, spot } => Self { count: spot.pack(), ..Self::new("trace", run) },
            Order::Both { job, a, b, with_log } => {
                Self { texts: vec![a, b], count: u64::from(with_log), ..Self::new("both", job) }
            }
            Order::Pair { job, replication } => {
                Self { count: u64::from(replication), ..Self::new("pair", job) }
            }
        }
    }
}

impl Note {
    /// The order it is, if it is one.
    #[must_use]
    pub fn order(self) -> Option<Order> {
        let Self { run, number, text, count, texts, .. } = self;
        Some(match self.what.as_str() {
            "load" => Order::Load { run, scenario: text, at_s: number, with_log: count != 0 },
            "advance" => Order::Advance { run, to_s: number },
            "seek" => Order::Seek { run, to_s: number },
            "step_event" => Order::StepEvent { run, back: count != 0 },
            "step_decision" => Order::StepDecision { run },
            "explain" => Order::Explain { on: count != 0 },
            "trace" => Order::Trace { run, spot: Spot::unpack(count) },
            "both" => {
                let [a, b] = <[String; 2]>::try_from(texts).ok()?;
                Order::Both { job: run, a, b, with_log: count != 0 }
            }
            "pair" => Order::Pair { job: run, replication: count as u32 },
            _ => return None,
        })
    }

    /// The answer it is, if it is one.
    #[must_use]
    pub fn answer(self) -> Option<Answer> {
        let Self { run, number, text, count, second, .. } = self;
        Some(match self.what.as_str() {
            "ready" => Answer::Ready,
            "refused" => Answer::Refused { run, reason: text },
            "done" => Answer::Done { run, hash: count, events: second, work_ms: number },
            _ => return None,
        })
    }
}

impl From<Answer> for Note {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Ready => Self::new("ready", 0),
            Answer::Refused { run, reason } => Self { text: reason, ..Self::new("refused", run) },
            Answer::Done { run, hash, events, work_ms } => {
                Self { count: hash, second: events, number: work_ms, ..Self::new("done", run) }
            }
        }
    }
}

/// A flat list of numbers, decoded.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// The picture of one moment.
    Picture(Picture),
    /// Frames at equal steps, for the history tracks.
    History(HistoryPart),
    /// The figures of a pair of runs.
    Pair(Pair),
    /// What became of a request.
    Told(Told),
}

/// The figures of a pair of runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// Of which comparison.
    pub job: u32,
    /// Which pair.
    pub replication: u32,
    /// Figures of A.
    pub a: Vec<f64>,
    /// Figures of B.
    pub b: Vec<f64>,
}

/// The picture of one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Which run.
    pub run: u32,
    /// Whether the order is fulfilled; if not, more follows (a jump) or time ran out (playing).
    pub reached: bool,
    /// Whether the run has ended.
    pub over: bool,
    /// Events played.
    pub events: f64,
    /// After a jump: how it looked shortly before, so that rates can be told.
    pub before: Option<Frame>,
    /// How it looks.
    pub frame: Frame,
}

/// Frames at equal steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryPart {
    /// Which run.
    pub run: u32,
    /// Place of the first frame in the whole history.
    pub first: usize,
    /// Step between frames, in seconds.
    pub step_s: f64,
    /// Share of the run that is computed, 0 to 1.
    pub share: f64,
    /// The frames.
    pub frames: Vec<Frame>,
}

const PICTURE: f64 = 1.0;
const HISTORY: f64 = 2.0;
const TOLD: f64 = 3.0;
const PICTURE_HEAD: usize = 6;
const HISTORY_HEAD: usize = 6;
const PAIR: f64 = 4.0;
const PAIR_HEAD: usize = 4;

impl Pair {
    /// As one flat list.
    #[must_use]
    pub fn encode(&self) -> Vec<f64> {
        let mut out = vec![PAIR, f64::from(self.job), f64::from(self.replication), self.a.len() as f64];
        out.extend_from_slice(&self.a);
        out.extend_from_slice(&self.b);
        out
    }
}

impl Picture {
    /// As one flat list.
    #[must_use]
    pub fn encode(&self) -> Vec<f64> {
        let mut out =
            vec![PICTURE, f64::from(self.run), flag(self.reached), flag(self.over), self.events, 0.0];
        if let Some(before) = &self.before {
            before.encode(&mut out);
            out[5] = (out.len() - PICTURE_HEAD) as f64;
        }
        self.frame.encode(&mut out);
        out
    }
}

impl HistoryPart {
    /// As one flat list: each frame behind its length, as an edit of the run may change how many levels a stage has.
    #[must_use]
    pub fn encode(&self) -> Vec<f64> {
        let mut out = vec![
            HISTORY,
            f64::from(self.run),
            self.first as f64,
            self.step_s,
            self.share,
            self.frames.len() as f64,
        ];
        for frame in &self.frames {
            let at = out.len();
            out.push(0.0);
            frame.encode(&mut out);
            out[at] = (out.len() - at - 1) as f64;
        }
        out
    }
}

impl Told {
    /// As one flat list that says what it is.
    #[must_use]
    pub fn to_numbers(&self) -> Vec<f64> {
        let mut out = vec![TOLD];
        self.encode(&mut out);
        out
    }
}

impl Numbers {
    /// Reads what [`Picture::encode`], [`HistoryPart::encode`] or [`Pair::encode`] wrote.
    ///
    /// # Errors
    /// [`FrameError`] if the list is none of them.
    pub fn decode(list: &[f64]) -> Result<Self, FrameError> {
        let kind = *list.first().ok_or(FrameError::Length)?;
        if kind == PICTURE {
            let (head, rest) = list.split_at_checked(PICTURE_HEAD).ok_or(FrameError::Length)?;
            let (before, now) = rest.split_at_checked(head[5] as usize).ok_or(FrameError::Length)?;
            Ok(Self::Picture(Picture {
                run: head[1] as u32,
                reached: head[2] != 0.0,
                over: head[3] != 0.0,
                events: head[4],
                before: if before.is_empty() { None } else { Some(Frame::decode(before)?) },
                frame: Frame::decode(now)?,
            }))
        } else if kind == HISTORY {
            let (head, mut rest) = list.split_at_checked(HISTORY_HEAD).ok_or(FrameError::Length)?;
            let mut frames = Vec::new();
            while let Some((&length, behind)) = rest.split_first() {
                let (frame, others) = behind.split_at_checked(length as usize).ok_or(FrameError::Length)?;
                frames.push(Frame::decode(frame)?);
                rest = others;
            }
            if frames.len() != head[5] as usize {
                return Err(FrameError::Length);
            }
            Ok(Self::History(HistoryPart {
                run: head[1] as u32,
                first: head[2] as usize,
                step_s: head[3],
                share: head[4],
                frames,
            }))
        } else if kind == PAIR {
            let (head, rest) = list.split_at_checked(PAIR_HEAD).ok_or(FrameError::Length)?;
            let (a, b) = rest.split_at_checked(head[3] as usize).ok_or(FrameError::Length)?;
            let (job, replication) = (head[1] as u32, head[2] as u32);
            Ok(Self::Pair(Pair { job, replication, a: a.to_vec(), b: b.to_vec() }))
        } else if kind == TOLD {
            Told::decode(&list[1..]).map(Self::Told).ok_or(FrameError::Length)
        } else {
            Err(FrameError::Layout)
        }
    }
}

fn flag(on: bool) -> f64 {
    f64::from(u8::from(on))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::frame::{ClassFrame, LevelFrame, StageClassFrame, StageFrame};
    use tidegate_core::time::Instant;

    fn frame(t: u64) -> Frame {
        Frame {
            now: Instant::from_nanos(t),
            classes: vec![ClassFrame { arrived: t, ..ClassFrame::default() }; 2],
            stages: vec![StageFrame {
                workers: 4,
                limit: 9,
                levels: 1,
                waiting: vec![3, 4],
                gauges: vec![LevelFrame::default()],
                classes: vec![StageClassFrame::default(); 2],
                ..StageFrame::default()
            }],
            servers: vec![],
            decision: None,
        }
    }

    #[test]
    fn orders_and_answers_survive_as_notes() {
        let orders = [
            Order::Load { run: 3, scenario: "{}".into(), at_s: 1.5, with_log: true },
            Order::Advance { run: 3, to_s: 2.0 },
            Order::Seek { run: 4, to_s: 0.0 },
            Order::StepEvent { run: 4, back: true },
            Order::StepDecision { run: 4 },
            Order::Explain { on: true },
            Order::Trace { run: 4, spot: Spot::Waiting { stage: 1, class: 2, nth: 3_000 } },
            Order::Both { job: 3, a: "{}".into(), b: "[]".into(), with_log: true },
            Order::Pair { job: 3, replication: 9 },
        ];
        for order in orders {
            assert_eq!(Note::from(order.clone()).order(), Some(order));
        }
        let answers = [
            Answer::Ready,
            Answer::Refused { run: 1, reason: "no".into() },
            Answer::Done { run: 1, hash: u64::MAX, events: 9, work_ms: 1.5 },
        ];
        for answer in answers {
            assert_eq!(Note::from(answer.clone()).answer(), Some(answer));
        }
        assert_eq!((Note::default().order(), Note::default().answer()), (None, None));
    }

    #[test]
    fn pictures_and_histories_survive_the_flat_list() {
        for before in [None, Some(frame(1_000))] {
            let picture = Picture {
                run: 7,
                reached: true,
                over: false,
                events: 12.0,
                before,
                frame: frame(2_000_000_000),
            };
            assert_eq!(Numbers::decode(&picture.encode()), Ok(Numbers::Picture(picture)));
        }
        for count in 0..3 {
            let part = HistoryPart {
                run: 7,
                first: 4,
                step_s: 0.25,
                share: 0.5,
                frames: (0..count).map(|i| frame(i * 1_000_000_000)).collect(),
            };
            assert_eq!(Numbers::decode(&part.encode()), Ok(Numbers::History(part)));
        }
    }

    /// An edit of a class's priority may leave a stage with other levels than before.
    #[test]
    fn frames_of_one_run_may_have_different_numbers_of_levels() {
        let mut wider = frame(2);
        wider.stages[0].levels = 2;
        wider.stages[0].gauges = vec![LevelFrame::default(); 2];
        wider.stages[0].waiting = vec![3, 4, 0, 0];
        let part = HistoryPart { frames: vec![frame(1), wider, frame(3)], ..HistoryPart::default() };
        assert_eq!(Numbers::decode(&part.encode()), Ok(Numbers::History(part)));
    }

    #[test]
    fn pairs_survive_the_flat_list() {
        let pair = Pair { job: 3, replication: 41, a: vec![1.0, 2.0], b: vec![0.5] };
        assert_eq!(Numbers::decode(&pair.encode()), Ok(Numbers::Pair(pair)));
        assert!(Numbers::decode(&[PAIR, 1.0, 0.0, 2.0, 1.0]).is_err());
    }

    #[test]
    fn a_cut_list_is_an_error_never_a_panic() {
        let picture = Picture { before: Some(frame(1)), frame: frame(2), ..Picture::default() }.encode();
        let history = HistoryPart { frames: vec![frame(1), frame(2)], ..HistoryPart::default() }.encode();
        for list in [picture, history] {
            for end in 0..list.len() {
                assert!(Numbers::decode(&list[..end]).is_err(), "cut at {end}");
            }
        }
    }
}
