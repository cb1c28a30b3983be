//! What the page and the simulation worker say to each other.
//!
//! Control goes as small objects (`serde-wasm-bindgen`). Whatever there is much of goes as one flat
//! list of numbers, which the page receives as a transferred `Float64Array`: [`Numbers`].

use serde::{Deserialize, Serialize};
use tidegate_core::frame::{Frame, FrameError};

/// From the page to the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Plays exactly one event of the calendar.
    StepEvent {
        /// Which run.
        run: u32,
    },
    /// The next raw message is the content of a log or trace file.
    ReadLog {
        /// Its name, for the answer.
        name: String,
    },
}

/// From the worker to the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// A log or trace was read.
    Log(LogRead),
    /// A log or trace could not be read.
    LogRefused {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
        /// The beginning of its first line.
        first_line: String,
    },
}

/// What a log or trace file holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogRead {
    /// Name of the file.
    pub name: String,
    /// Format that was recognised.
    pub format: String,
    /// Rows understood.
    pub rows: u64,
    /// Lines not understood.
    pub rejects: u64,
    /// The first of them: line and reason.
    pub first_rejects: Vec<(u64, String)>,
    /// Time from the first arrival to the last, in seconds.
    pub span_s: f64,
    /// Labels and how many rows bear each, the most frequent first.
    pub labels: Vec<(String, u64)>,
    /// Rows with a recorded service time.
    pub timed: u64,
    /// Mean of the recorded service times, in seconds; 0 if there are none.
    pub mean_service_s: f64,
    /// What the reader decided by itself, in words of the core.
    pub notes: Vec<String>,
}

/// A flat list of numbers, decoded.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// The picture of one moment.
    Picture(Picture),
    /// Frames at equal steps, for the history tracks.
    History(HistoryPart),
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
const PICTURE_HEAD: usize = 6;
const HISTORY_HEAD: usize = 6;

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
    /// As one flat list. All frames are of one run, so all are of one length.
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
            frame.encode(&mut out);
        }
        out
    }
}

impl Numbers {
    /// Reads what [`Picture::encode`] or [`HistoryPart::encode`] wrote.
    ///
    /// # Errors
    /// [`FrameError`] if the list is neither.
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
            let (head, rest) = list.split_at_checked(HISTORY_HEAD).ok_or(FrameError::Length)?;
            let count = head[5] as usize;
            let each = rest.len().checked_div(count).unwrap_or(1);
            if each == 0 || rest.len() != each * count {
                return Err(FrameError::Length);
            }
            Ok(Self::History(HistoryPart {
                run: head[1] as u32,
                first: head[2] as usize,
                step_s: head[3],
                share: head[4],
                frames: rest.chunks_exact(each).map(Frame::decode).collect::<Result<_, _>>()?,
            }))
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
    use tidegate_core::frame::{ClassFrame, StageClassFrame, StageFrame};
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
                classes: vec![StageClassFrame::default(); 2],
            }],
            servers: vec![],
        }
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
