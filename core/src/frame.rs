//! What the running system looks like at one moment: the same type from the simulator, a live server
//! and a recording, so that one renderer draws all three.
//!
//! Counters are cumulative since the run began; whoever wants a rate or a mean over a while takes the
//! difference of two frames. Nothing here is smoothed.
//!
//! Across the WebAssembly boundary and in server-sent events a frame travels as one flat list of
//! numbers ([`Frame::encode`]); its layout is versioned by [`Frame::LAYOUT`].

use crate::balance::{Candidate, Decision};
use crate::time::Instant;
use alloc::vec::Vec;
use core::fmt;

/// Why a job was turned away, or left without an answer. The order is that of [`ClassFrame::shed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// Turned away at random before the queue was full (RED and its kin).
    Early = 0,
    /// Turned away because the queue was full.
    Full = 1,
    /// Turned away by a rule that shuts the door altogether (rate limit, admission window).
    Forced = 2,
    /// Its deadline passed while it was queued.
    Deadline = 3,
}

impl Cause {
    /// Every cause, in order.
    pub const ALL: [Self; 4] = [Self::Early, Self::Full, Self::Forced, Self::Deadline];

    /// Stable name, as in JSON output and metrics labels.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Early => "early",
            Self::Full => "full",
            Self::Forced => "forced",
            Self::Deadline => "deadline",
        }
    }
}

/// The running system at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// When.
    pub now: Instant,
    /// One entry a class.
    pub classes: Vec<ClassFrame>,
    /// One entry a stage, from the entry on.
    pub stages: Vec<StageFrame>,
    /// One entry a server.
    pub servers: Vec<ServerFrame>,
    /// How the last server was picked, if that is being written down.
    pub decision: Option<DecisionFrame>,
}

/// One class, over all stages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassFrame {
    /// Jobs that asked, so far.
    pub arrived: u64,
    /// Jobs answered, so far.
    pub completed: u64,
    /// Of those, answered within their deadline (all, if the class has none).
    pub good: u64,
    /// Jobs turned away, by [`Cause`], so far.
    pub shed: [u64; 4],
    /// Jobs that failed at a server, so far.
    pub failed: u64,
    /// Jobs whose client left first, so far.
    pub cancelled: u64,
    /// Jobs inside now: waiting or in work, at any stage.
    pub in_system: u64,
    /// Sum over completed jobs of the time spent in queues, in seconds.
    pub wait_sum_s: f64,
    /// Sum over completed jobs of the time from arrival to answer, in seconds.
    pub response_sum_s: f64,
}

/// One stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageFrame {
    /// Workers in all.
    pub workers: u32,
    /// Most that may wait: by level if the limit is per level, else in all.
    pub limit: u32,
    /// Priority levels.
    pub levels: u8,
    /// Jobs that a worker takes at once.
    pub batch: u32,
    /// Time that workers have spent, so far, on jobs whose work here ended, in seconds.
    pub worked_s: f64,
    /// Time that earlier stages had spent on jobs that were turned away here, so far, in seconds.
    pub wasted_s: f64,
    /// What the queue control goes by.
    pub gauged: Gauged,
    /// One entry a level, level 0 the least urgent.
    pub gauges: Vec<LevelFrame>,
    /// Jobs waiting, `waiting[level * classes + class]`, level 0 the least urgent.
    pub waiting: Vec<u32>,
    /// One entry a class.
    pub classes: Vec<StageClassFrame>,
    /// What the controller of the split makes of it; without entries for classes where there is none.
    pub split: SplitFrame,
}

/// What a controlled split does at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum SplitState {
    /// There is no controller.
    #[default]
    None = 0,
    /// Next to nobody waits: there is no ratio to enforce.
    Idle = 1,
    /// The controller watches and does not steer yet.
    Learning = 2,
    /// It steers.
    Steering = 3,
    /// It steers, but no split reaches the target: a class with as few workers as it may have still waits too little.
    Infeasible = 4,
    /// It steers by its stated rule, as what it has learned is not credible.
    Fallback = 5,
}

impl SplitState {
    /// Every state, in order.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Idle, Self::Learning, Self::Steering, Self::Infeasible, Self::Fallback];

    /// Stable name, as in JSON output and metrics labels.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Idle => "idle",
            Self::Learning => "learning",
            Self::Steering => "steering",
            Self::Infeasible => "infeasible",
            Self::Fallback => "fallback",
        }
    }
}

/// The controlled split of a stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SplitFrame {
    /// What it does.
    pub state: SplitState,
    /// Number of the class that cannot reach its target while the state is `Infeasible`; else the number of classes.
    pub stuck: u32,
    /// Samples so far.
    pub samples: u64,
    /// Workers moved from class to class so far.
    pub moved: u64,
    /// Relative error of a ratio that whole workers leave: half of what moving one worker changes.
    pub resolution: f64,
    /// One entry a class, or none.
    pub classes: Vec<LoopFrame>,
}

/// What the controller of a split makes of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoopFrame {
    /// Share of the workers it should have, 0 to 1.
    pub share: f64,
    /// Share of the sum of delays that it should bear, 0 to 1 (paper P, `r_i`).
    pub target: f64,
    /// Delay of the jobs handed over in the last window in seconds; the last known one if there were none.
    pub delay_s: f64,
    /// Logarithm of that delay over its target; 0 is on target.
    pub error: f64,
    /// What the controller acts on: its own idea of that error, for one led by the backlog a look ahead.
    pub output: f64,
    /// Model in use: what the output keeps of its last change, and of the one before.
    pub a: [f64; 2],
    /// Model in use: how the output answers the last change of the input.
    pub b: f64,
    /// Gains of the controller in use, on the error now and the two before it.
    pub gains: [f64; 3],
    /// Mean square error of the learned model's predictions over that of the model it began with; below 1 it is better.
    pub trust: f64,
    /// How uncertain the learned model is: trace of its covariance.
    pub uncertainty: f64,
    /// What the delays of those served add to the predicted ones, as a logarithm.
    pub bias: f64,
    /// Factor by which the true gain may exceed the model's before the loop is unstable; 0 if unknown.
    pub margin: f64,
    /// Bits of [`LoopFrame::FLAGS`].
    pub flags: u32,
}

impl LoopFrame {
    /// It has as few workers as it may have.
    pub const AT_FLOOR: u32 = 1;
    /// Its last step was cut to the largest allowed.
    pub const STEP_CUT: u32 = 2;
    /// An estimate was pushed back into its bounds.
    pub const ESTIMATE_CUT: u32 = 4;
    /// It was handed nobody in the last window; its delay is from before.
    pub const STALE: u32 = 8;
    /// The learned model is in use, not the one it began with.
    pub const LEARNED: u32 = 16;
    /// Waits are cut short, by a deadline or by ageing, below what the target asks of it.
    pub const WAIT_LIMITED: u32 = 32;
    /// Stable names of the flags, by bit.
    pub const FLAGS: [&'static str; 6] =
        ["at_floor", "step_cut", "estimate_cut", "stale", "learned", "wait_limited"];
}

/// What the figures of [`LevelFrame`] count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Gauged {
    /// Nothing: the queue control has no such figures.
    #[default]
    Nothing = 0,
    /// Jobs (or jobs a second, for a control that goes by a rate).
    Jobs = 1,
    /// Seconds of work or of waiting.
    Seconds = 2,
}

/// One priority level of a stage: what its queue control makes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelFrame {
    /// The averaged queue that the drop probability is read off at.
    pub average: f64,
    /// Average below which nobody is turned away.
    pub min: f64,
    /// Average from which everybody is.
    pub max: f64,
    /// Probability that who asks now is turned away, 0 to 1.
    pub drop_p: f64,
    /// Height of the drop curve just below `max`.
    pub max_p: f64,
    /// Jobs promoted out of this level so far.
    pub promoted: u64,
}

/// One class at one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageClassFrame {
    /// Jobs on a worker now.
    pub busy: u32,
    /// Workers this class may use: its share of a split, or the whole pool.
    pub slots: u32,
    /// Jobs handed to a worker so far.
    pub started: u64,
    /// Jobs turned away here so far, for whatever cause.
    pub shed: u64,
    /// Sum over started jobs of their wait in this queue, in seconds.
    pub wait_sum_s: f64,
    /// How long the oldest has waited, in seconds; 0 if none waits.
    pub oldest_wait_s: f64,
}

/// One server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerFrame {
    /// Whether the gateway sends to it.
    pub up: bool,
    /// Why it is left out although it can be reached: bits of [`bar`](crate::balance::bar).
    pub bars: u8,
    /// What the balancer makes of it for short requests: larger gets more. The configured weight where the policy has
    /// none of its own.
    pub weight: f64,
    /// The same for sessions.
    pub session_weight: f64,
    /// The load that the balancer goes by for short requests, smoothed; NaN where it goes by none.
    pub balanced_load: f64,
    /// The same for sessions.
    pub session_load: f64,
    /// The group it is in, 1 the one that gets new work; 0 where there are no groups.
    pub group: u8,
    /// Latency that the balancer expects of it, in seconds; NaN where it measures none.
    pub latency_s: f64,
    /// What it reported last: processors, memory, network, disk, rooms; NaN where it says nothing.
    pub loads: [f64; 5],
    /// Age of that report, in seconds; NaN if there was none.
    pub report_age_s: f64,
    /// Share of what it would get that it gets while it warms up, 0 to 1; 1 for one that is warm.
    pub warm: f64,
    /// Sessions there.
    pub sessions: u32,
    /// Most the gateway sends at once; `u32::MAX` for no limit of its own.
    pub max_in_flight: u32,
    /// Jobs in flight, by class.
    pub in_flight: Vec<u32>,
    /// Jobs it was sent so far.
    pub picked: u64,
    /// Jobs it answered so far.
    pub completed: u64,
    /// Jobs that failed at it so far.
    pub failed: u64,
}

/// How a server was picked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionFrame {
    /// When, in seconds.
    pub at_s: f64,
    /// The class of the job.
    pub class: u32,
    /// The number of the server that got it.
    pub server: u32,
    /// Who was considered.
    pub candidates: Vec<CandidateFrame>,
}

/// One server that was considered for a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CandidateFrame {
    /// Its number.
    pub server: u32,
    /// What it was judged by: smallest first.
    pub key: f64,
    /// What decided among those of the top group, largest first.
    pub turn: f64,
    /// The group it was in, 1 the one whose turn it was; 0 where there are no groups.
    pub group: u32,
}

impl DecisionFrame {
    pub(crate) fn of(decision: &Decision) -> Self {
        let one = |c: &Candidate| CandidateFrame {
            server: u32::from(c.server.0),
            key: c.key,
            turn: c.turn,
            group: u32::from(c.group),
        };
        Self {
            at_s: decision.at.as_secs_f64(),
            class: u32::from(decision.class.0),
            server: u32::from(decision.server.0),
            candidates: decision.candidates.iter().map(one).collect(),
        }
    }
}

/// Why a list of numbers is no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// The list ends early or has numbers left over.
    Length,
    /// It was made by another version of the layout.
    Layout,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "a frame of the wrong length",
            Self::Layout => "a frame of another layout version",
        })
    }
}

impl core::error::Error for FrameError {}

impl Frame {
    /// Version of the flat layout; the first number of every encoded frame.
    pub const LAYOUT: f64 = 4.0;

    /// Appends the frame as numbers: layout, time in seconds, counts of classes, stages and servers, then
    /// each part's fields in declaration order. Exact for counters below 2^53.
    pub fn encode(&self, out: &mut Vec<f64>) {
        out.extend([
            Self::LAYOUT,
            self.now.as_secs_f64(),
            self.classes.len() as f64,
            self.stages.len() as f64,
            self.servers.len() as f64,
        ]);
        for c in &self.classes {
            out.extend([c.arrived as f64, c.completed as f64, c.good as f64]);
            out.extend(c.shed.map(|n| n as f64));
            out.extend([
                c.failed as f64,
                c.cancelled as f64,
                c.in_system as f64,
                c.wait_sum_s,
                c.response_sum_s,
            ]);
        }
        for s in &self.stages {
            out.extend([f64::from(s.workers), f64::from(s.limit), f64::from(s.levels)]);
            out.extend([f64::from(s.batch), s.worked_s, s.wasted_s, f64::from(s.gauged as u8)]);
            // Exactly one entry a level, as the reader expects.
            for level in 0..usize::from(s.levels) {
                let g = s.gauges.get(level).copied().unwrap_or_default();
                out.extend([g.average, g.min, g.max, g.drop_p, g.max_p, g.promoted as f64]);
            }
            out.extend(s.waiting.iter().map(|&n| f64::from(n)));
            for c in &s.classes {
                out.extend([
                    f64::from(c.busy),
                    f64::from(c.slots),
                    c.started as f64,
                    c.shed as f64,
                    c.wait_sum_s,
                    c.oldest_wait_s,
                ]);
            }
            s.split.encode(out);
        }
        for s in &self.servers {
            out.extend([f64::from(u8::from(s.up)), f64::from(s.bars), s.weight, s.session_weight]);
            out.extend([s.balanced_load, s.session_load, f64::from(s.group), s.latency_s]);
            out.extend(s.loads);
            out.extend([s.report_age_s, s.warm, f64::from(s.sessions), f64::from(s.max_in_flight)]);
            out.extend(s.in_flight.iter().map(|&n| f64::from(n)));
            out.extend([s.picked as f64, s.completed as f64, s.failed as f64]);
        }
        out.push(f64::from(u8::from(self.decision.is_some())));
        if let Some(d) = &self.decision {
            out.extend([d.at_s, f64::from(d.class), f64::from(d.server), d.candidates.len() as f64]);
            for c in &d.candidates {
                out.extend([f64::from(c.server), c.key, c.turn, f64::from(c.group)]);
            }
        }
    }

    /// Reads back what [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// [`FrameError`] if the list is of another layout or length; no input panics.
    pub fn decode(numbers: &[f64]) -> Result<Self, FrameError> {
        let mut from = Reader(numbers);
        if from.float()? != Self::LAYOUT {
            return Err(FrameError::Layout);
        }
        let now = Instant::START + crate::time::Duration::from_secs_f64(from.float()?);
        let (classes, stages, servers) = (from.count()?, from.count()?, from.count()?);
        let frame = Self {
            now,
            classes: (0..classes).map(|_| from.class()).collect::<Result<_, _>>()?,
            stages: (0..stages).map(|_| from.stage(classes)).collect::<Result<_, _>>()?,
            servers: (0..servers).map(|_| from.server(classes)).collect::<Result<_, _>>()?,
            decision: from.decision()?,
        };
        if from.0.is_empty() { Ok(frame) } else { Err(FrameError::Length) }
    }
}

/// Takes numbers off the front of a list.
struct Reader<'a>(&'a [f64]);

impl SplitFrame {
    fn encode(&self, out: &mut Vec<f64>) {
        out.push(f64::from(self.state as u8));
        if self.state == SplitState::None {
            return;
        }
        out.extend([f64::from(self.stuck), self.samples as f64, self.moved as f64, self.resolution]);
        out.push(self.classes.len() as f64);
        for c in &self.classes {
            let [a1, a2] = c.a;
            let [g0, g1, g2] = c.gains;
            out.extend([c.share, c.target, c.delay_s, c.error, c.output, a1, a2, c.b, g0, g1, g2]);
            out.extend([c.trust, c.uncertainty, c.bias, c.margin, f64::from(c.flags)]);
        }
    }
}

impl Reader<'_> {
    fn float(&mut self) -> Result<f64, FrameError> {
        let (&first, rest) = self.0.split_first().ok_or(FrameError::Length)?;
        self.0 = rest;
        Ok(first)
    }

    fn int(&mut self) -> Result<u64, FrameError> {
        Ok(self.float()? as u64)
    }

    fn small(&mut self) -> Result<u32, FrameError> {
        Ok(self.float()? as u32)
    }

    /// A count of parts; never more than the numbers that are left, so that it is safe to allocate for.
    fn count(&mut self) -> Result<usize, FrameError> {
        let n = self.float()?;
        if n >= 0.0 && n <= self.0.len() as f64 { Ok(n as usize) } else { Err(FrameError::Length) }
    }

    fn smalls(&mut self, n: usize) -> Result<Vec<u32>, FrameError> {
        if n > self.0.len() {
            return Err(FrameError::Length);
        }
        (0..n).map(|_| self.small()).collect()
    }

    fn class(&mut self) -> Result<ClassFrame, FrameError> {
        Ok(ClassFrame {
            arrived: self.int()?,
            completed: self.int()?,
            good: self.int()?,
            shed: [self.int()?, self.int()?, self.int()?, self.int()?],
            failed: self.int()?,
            cancelled: self.int()?,
            in_system: self.int()?,
            wait_sum_s: self.float()?,
            response_sum_s: self.float()?,
        })
    }

    fn stage(&mut self, classes: usize) -> Result<StageFrame, FrameError> {
        let (workers, limit, levels) = (self.small()?, self.small()?, self.float()? as u8);
        let (batch, worked_s, wasted_s) = (self.small()?, self.float()?, self.float()?);
        let gauged = match self.small()? {
            1 => Gauged::Jobs,
            2 => Gauged::Seconds,
            _ => Gauged::Nothing,
        };
        let gauges = (0..levels)
            .map(|_| {
                Ok(LevelFrame {
                    average: self.float()?,
                    min: self.float()?,
                    max: self.float()?,
                    drop_p: self.float()?,
                    max_p: self.float()?,
                    promoted: self.int()?,
                })
            })
            .collect::<Result<_, _>>()?;
        let waiting = self.smalls(usize::from(levels) * classes)?;
        let classes = (0..classes)
            .map(|_| {
                Ok(StageClassFrame {
                    busy: self.small()?,
                    slots: self.small()?,
                    started: self.int()?,
                    shed: self.int()?,
                    wait_sum_s: self.float()?,
                    oldest_wait_s: self.float()?,
                })
            })
            .collect::<Result<_, _>>()?;
        let split = self.split()?;
        Ok(StageFrame {
            workers,
            limit,
            levels,
            batch,
            worked_s,
            wasted_s,
            gauged,
            gauges,
            waiting,
            classes,
            split,
        })
    }

    fn split(&mut self) -> Result<SplitFrame, FrameError> {
        let number = self.small()? as usize;
        let state = SplitState::ALL.get(number).copied().unwrap_or_default();
        if state == SplitState::None {
            return Ok(SplitFrame::default());
        }
        Ok(SplitFrame {
            state,
            stuck: self.small()?,
            samples: self.int()?,
            moved: self.int()?,
            resolution: self.float()?,
            classes: (0..self.count()?).map(|_| self.split_loop()).collect::<Result<_, _>>()?,
        })
    }

    fn split_loop(&mut self) -> Result<LoopFrame, FrameError> {
        Ok(LoopFrame {
            share: self.float()?,
            target: self.float()?,
            delay_s: self.float()?,
            error: self.float()?,
            output: self.float()?,
            a: [self.float()?, self.float()?],
            b: self.float()?,
            gains: [self.float()?, self.float()?, self.float()?],
            trust: self.float()?,
            uncertainty: self.float()?,
            bias: self.float()?,
            margin: self.float()?,
            flags: self.small()?,
        })
    }

    fn server(&mut self, classes: usize) -> Result<ServerFrame, FrameError> {
        Ok(ServerFrame {
            up: self.float()? != 0.0,
            bars: self.float()? as u8,
            weight: self.float()?,
            session_weight: self.float()?,
            balanced_load: self.float()?,
            session_load: self.float()?,
            group: self.float()? as u8,
            latency_s: self.float()?,
            loads: [self.float()?, self.float()?, self.float()?, self.float()?, self.float()?],
            report_age_s: self.float()?,
            warm: self.float()?,
            sessions: self.small()?,
            max_in_flight: self.small()?,
            in_flight: self.smalls(classes)?,
            picked: self.int()?,
            completed: self.int()?,
            failed: self.int()?,
        })
    }

    fn decision(&mut self) -> Result<Option<DecisionFrame>, FrameError> {
        if self.float()? != 1.0 {
            return Ok(None);
        }
        let (at_s, class, server) = (self.float()?, self.small()?, self.small()?);
        let candidates = (0..self.count()?).map(|_| self.candidate()).collect::<Result<_, _>>()?;
        Ok(Some(DecisionFrame { at_s, class, server, candidates }))
    }

    fn candidate(&mut self) -> Result<CandidateFrame, FrameError> {
        Ok(CandidateFrame {
            server: self.small()?,
            key: self.float()?,
            turn: self.float()?,
            group: self.small()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn sample() -> Frame {
        let class = ClassFrame {
            arrived: 10,
            completed: 6,
            good: 5,
            shed: [1, 2, 0, 0],
            failed: 0,
            cancelled: 1,
            in_system: 3,
            wait_sum_s: 1.5,
            response_sum_s: 2.25,
        };
        let at_stage =
            StageClassFrame { busy: 1, slots: 4, started: 7, shed: 3, wait_sum_s: 1.5, oldest_wait_s: 0.25 };
        Frame {
            now: Instant::from_nanos(1_500_000_000),
            classes: vec![class; 2],
            stages: vec![StageFrame {
                workers: 4,
                limit: 100,
                levels: 3,
                batch: 1,
                worked_s: 2.5,
                wasted_s: 0.25,
                gauged: Gauged::Seconds,
                gauges: vec![
                    LevelFrame {
                        average: 1.5,
                        min: 1.0,
                        max: 2.0,
                        drop_p: 0.1,
                        max_p: 0.2,
                        promoted: 7
                    };
                    3
                ],
                waiting: vec![0, 1, 2, 3, 4, 5],
                classes: vec![at_stage; 2],
                split: SplitFrame {
                    state: SplitState::Infeasible,
                    stuck: 1,
                    samples: 40,
                    moved: 12,
                    resolution: 0.0625,
                    classes: vec![
                        LoopFrame {
                            share: 0.5,
                            target: 0.25,
                            delay_s: 1.5,
                            error: -0.125,
                            output: 0.375,
                            a: [0.5, 0.25],
                            b: -1.0,
                            gains: [-0.5, 0.75, 0.125],
                            trust: 0.875,
                            uncertainty: 0.0625,
                            bias: -0.5,
                            margin: 4.0,
                            flags: LoopFrame::LEARNED | LoopFrame::STALE,
                        };
                        2
                    ],
                },
            }],
            servers: vec![ServerFrame {
                up: true,
                bars: 3,
                weight: 1.0,
                session_weight: 0.5,
                balanced_load: 0.75,
                session_load: 0.625,
                group: 2,
                latency_s: 0.125,
                loads: [0.5, 0.25, 0.75, 0.0, 1.0],
                report_age_s: 3.5,
                warm: 0.875,
                sessions: 4,
                max_in_flight: u32::MAX,
                in_flight: vec![1, 0],
                picked: 8,
                completed: 7,
                failed: 0,
            }],
            decision: Some(DecisionFrame {
                at_s: 1.25,
                class: 1,
                server: 0,
                candidates: vec![CandidateFrame { server: 0, key: 2.0, turn: 0.5, group: 1 }; 2],
            }),
        }
    }

    #[test]
    fn a_frame_survives_the_flat_list() {
        let mut numbers = Vec::new();
        sample().encode(&mut numbers);
        assert_eq!(Frame::decode(&numbers), Ok(sample()));
    }

    #[test]
    fn a_cut_or_foreign_list_is_an_error_never_a_panic() {
        let mut numbers = Vec::new();
        sample().encode(&mut numbers);
        for end in 0..numbers.len() {
            assert_eq!(Frame::decode(&numbers[..end]), Err(FrameError::Length), "cut at {end}");
        }
        for at in 0..numbers.len() {
            for strange in [f64::NAN, -1.0, 1e300, f64::INFINITY] {
                let mut bad = numbers.clone();
                bad[at] = strange;
                let _ = Frame::decode(&bad);
            }
        }
        numbers[0] = Frame::LAYOUT + 1.0;
        assert_eq!(Frame::decode(&numbers), Err(FrameError::Layout));
    }
}
