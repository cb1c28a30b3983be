//! Compare: a second system, B, beside the one that is edited, A, on the same traffic; and many runs of both.
//!
//! The fields of [`App`] are always those of the side that is edited; the other side waits in a [`Side`], and the two are
//! exchanged for a moment when the other is to do something. So editor, undo, drawing and the worker's answers need not
//! know that there are two. A runs in the page's worker, B in one of its own, and pairs of runs in a few more.

use super::{App, Claim, Done, Mode, Wrong, start_worker};
use crate::address::Address;
use crate::draw::{Boxes, Picture};
use crate::feed::Feed;
use crate::history::{Flag, Plot};
use crate::library;
use crate::protocol::{Answer, Note, Numbers, Order, Pair};
use core::mem::swap;
use tidegate_core::compare::settings::{self, Setting};
use tidegate_core::compare::{self as core_compare, Comparison, Outcome, Row};
use tidegate_core::link;
use tidegate_core::measure::History;
use tidegate_core::scenario::{Parsed, Scenario};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use yew::prelude::*;

/// Most workers that make pairs of runs.
const MOST_HELPERS: usize = 4;
/// The table follows new runs at most this often, in milliseconds.
const TABLE_MS: f64 = 500.0;
/// The first runs are made this long after the last edit.
const SETTLED_MS: f64 = 1_000.0;
/// First runs of more events than this are not made without being asked for.
const HEAVY_EVENTS: f64 = 5e7;

/// What Compare holds.
#[derive(Default)]
pub struct State {
    /// The side that is not edited, once there is a B.
    pub other: Option<Box<Side>>,
    /// Whether B is edited.
    pub edits_b: bool,
    /// Whether the editor is shown instead of the table.
    pub editing: bool,
    /// Whether the table has every figure.
    pub all: bool,
    /// The tracks of B, for readings.
    pub plot: Plot,
    /// Settings that differ.
    pub settings: Vec<Setting>,
    /// The table.
    pub rows: Vec<Row>,
    /// The table in short.
    pub outcome: Outcome,
    /// The runs of both.
    pub comparison: Option<Comparison>,
    /// Pairs of runs that are wanted.
    pub wanted: u32,
    job: u32,
    of: Option<[Parsed; 2]>,
    changed_ms: f64,
    table_ms: f64,
    stale: bool,
    swapped: bool,
    /// Another scenario was opened since: B begins as a copy of it.
    pub(super) outdated: bool,
    helpers: Vec<Helper>,
}

/// A side while it is not edited: what [`App`] holds of the other.
pub struct Side {
    parsed: Parsed,
    preset: Option<&'static str>,
    wrong: Vec<Wrong>,
    claim: Option<Claim>,
    run: Option<Feed>,
    next: Option<Feed>,
    share: f64,
    done: Option<Done>,
    with_log: bool,
    undo: Vec<Parsed>,
    redo: Vec<Parsed>,
    checked: Option<Scenario>,
    ghost: Option<History>,
    flags: Vec<Flag>,
    run_number: u32,
    worker: Option<web_sys::Worker>,
    worker_ready: bool,
    orders: Vec<Order>,
    awaited: bool,
    picture: Picture,
    boxes: Boxes,
    scene: NodeRef,
    canvas: NodeRef,
}

/// A worker that makes pairs of runs.
struct Helper {
    worker: web_sys::Worker,
    ready: bool,
    job: u32,
    busy: Option<u32>,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// Shows the table (`None`), or the editor with A (false) or B.
    Show(Option<bool>),
    /// So many runs more.
    Run(u32),
    /// No more runs.
    Cancel,
    /// Every figure, or those that matter.
    All,
    /// Copies the table as comma-separated values.
    Csv,
}

/// One of the two as it is shown.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// Its scenario.
    pub parsed: &'a Parsed,
    /// Its run.
    pub feed: Option<&'a Feed>,
    /// The run at its end.
    pub done: Option<Done>,
    /// Where it is laid out.
    pub scene: &'a NodeRef,
    /// Where it is painted.
    pub canvas: &'a NodeRef,
    preset: Option<&'static str>,
}

/// The number in the first brackets of a path.
#[must_use]
pub fn index(path: &str) -> Option<usize> {
    path.split_once('[')?.1.split_once(']')?.0.parse().ok()
}

impl App {
    pub(super) fn compare(&mut self, ctx: &Context<Self>, command: Do) {
        match command {
            Do::Show(side) => {
                self.compare.editing = side.is_some();
                if let Some(b) = side {
                    self.edit_side(b);
                    self.sheet = true;
                }
            }
            Do::Run(more) => self.run_pairs(ctx, more),
            Do::Cancel => self.cancel_pairs(),
            Do::All => self.compare.all = !self.compare.all,
            Do::Csv => self.copy(ctx, &core_compare::csv(&self.compare.rows)),
        }
    }

    /// A and B as they are shown, whichever is edited; none while there is no B.
    #[must_use]
    pub fn sides(&self) -> Option<[Shown<'_>; 2]> {
        let side = self.compare.other.as_ref()?;
        let edited = Shown {
            parsed: &self.parsed,
            feed: self.run.as_ref(),
            done: self.done,
            scene: &self.refs.scene,
            canvas: &self.refs.picture,
            preset: self.preset,
        };
        let other = Shown {
            parsed: &side.parsed,
            feed: side.run.as_ref(),
            done: side.done,
            scene: &side.scene,
            canvas: &side.canvas,
            preset: side.preset,
        };
        Some(if self.compare.edits_b { [other, edited] } else { [edited, other] })
    }

    /// Whether two runs are looked at.
    #[must_use]
    pub fn is_comparing(&self) -> bool {
        self.mode == Mode::Compare && self.compare.other.is_some()
    }

    /// Whether pairs of runs are being made.
    #[must_use]
    pub fn is_trying(&self) -> bool {
        self.compare.helpers.iter().any(|helper| helper.busy.is_some())
    }

    /// Exchanges the edited side and the other.
    fn swap_sides(&mut self) {
        let Some(mut side) = self.compare.other.take() else { return };
        let s = &mut *side;
        swap(&mut self.parsed, &mut s.parsed);
        swap(&mut self.preset, &mut s.preset);
        swap(&mut self.wrong, &mut s.wrong);
        swap(&mut self.claim, &mut s.claim);
        swap(&mut self.run, &mut s.run);
        swap(&mut self.next, &mut s.next);
        swap(&mut self.share, &mut s.share);
        swap(&mut self.done, &mut s.done);
        swap(&mut self.with_log, &mut s.with_log);
        swap(&mut self.undo, &mut s.undo);
        swap(&mut self.redo, &mut s.redo);
        swap(&mut self.checked, &mut s.checked);
        swap(&mut self.ghost, &mut s.ghost);
        swap(&mut self.flags, &mut s.flags);
        swap(&mut self.run_number, &mut s.run_number);
        swap(&mut self.worker, &mut s.worker);
        swap(&mut self.worker_ready, &mut s.worker_ready);
        swap(&mut self.orders, &mut s.orders);
        swap(&mut self.awaited, &mut s.awaited);
        swap(&mut self.picture, &mut s.picture);
        swap(&mut self.boxes, &mut s.boxes);
        swap(&mut self.refs.scene, &mut s.scene);
        swap(&mut self.refs.picture, &mut s.canvas);
        self.compare.other = Some(side);
    }

    /// Lets the other side do something, while two runs are looked at. What it does in turn to the other does nothing.
    pub(super) fn beside(&mut self, f: impl FnOnce(&mut Self)) {
        if self.is_comparing() && !self.compare.swapped {
            self.swap_sides();
            self.compare.swapped = true;
            f(self);
            self.compare.swapped = false;
            self.swap_sides();
        }
    }

    /// Edits A (false) or B.
    pub(super) fn edit_side(&mut self, b: bool) {
        if self.compare.edits_b != b && self.compare.other.is_some() {
            self.swap_sides();
            self.compare.edits_b = b;
            self.last_edit.0.clear();
            self.typing = None;
            self.text.forget();
            self.record = super::record::State::default();
            self.section = Some(self.main_section());
            (self.why, self.why_server) = (None, false);
            self.layout_due = true;
        }
    }

    /// Looks at two runs: B is what it was, else `b`, else a copy of A.
    pub(super) fn enter_compare(&mut self, ctx: &Context<Self>, b: Option<Parsed>, at_s: f64) {
        let fresh = self.compare.other.is_none();
        if fresh {
            let worker = match start_worker(ctx.link(), 1) {
                Ok(worker) => worker,
                Err(reason) => {
                    self.notice = Some(super::Notice::Broke(super::text_of(&reason)));
                    return;
                }
            };
            self.compare.other = Some(Box::new(Side {
                parsed: self.parsed.clone(),
                preset: self.preset,
                wrong: Vec::new(),
                claim: None,
                run: None,
                next: None,
                share: 0.0,
                done: None,
                with_log: self.with_log,
                undo: Vec::new(),
                redo: Vec::new(),
                checked: None,
                ghost: None,
                flags: Vec::new(),
                run_number: 0,
                worker: Some(worker),
                worker_ready: false,
                orders: Vec::new(),
                awaited: false,
                picture: Picture::new(),
                boxes: Boxes::default(),
                scene: NodeRef::default(),
                canvas: NodeRef::default(),
            }));
        }
        let b = b.or_else(|| self.compare.outdated.then(|| self.parsed.clone()));
        self.compare.outdated = false;
        let replaced = b.is_some();
        if let (Some(b), Some(side)) = (b, self.compare.other.as_mut()) {
            (side.parsed, side.preset, side.with_log) = (b, None, self.with_log);
        }
        if fresh || replaced {
            self.beside(|app| {
                app.send_rows();
                app.begin(at_s);
            });
        } else {
            self.beside(|app| app.seek(at_s));
        }
        self.track_version += 1;
    }

    /// Opens what an address says of B.
    pub(super) fn open_compare(&mut self, ctx: &Context<Self>, address: &Address) {
        if address.get("cmp") != Some("1") {
            return;
        }
        let b = address.get("b");
        if let Some(name) = b.and_then(|text| text.strip_prefix("preset."))
            && !self.have_preset(ctx, name, super::Do::Address)
        {
            return;
        }
        self.edit_side(false);
        let b = match b.map(|text| link::decode_other(&self.parsed, text, library::get)) {
            Some(Ok(b)) if Scenario::check(b.wire.clone()).is_ok() => Some(b),
            Some(Ok(_)) => None,
            Some(Err(error)) => {
                self.notice = Some(super::Notice::Damaged(error.to_string()));
                None
            }
            None => None,
        };
        self.set_mode(ctx, Mode::Explore);
        self.mode = Mode::Compare;
        (self.layout_due, self.text_due) = (true, true);
        self.enter_compare(ctx, b, address.number("at").unwrap_or(0.0));
    }

    /// What the address says of both: the preset or link of A, and the parameters of B.
    pub(super) fn compare_address(&self) -> Option<(String, String)> {
        let [a, b] = self.sides().filter(|_| self.is_comparing())?;
        let first = match a.preset {
            Some(name) => format!("#preset={name}"),
            None => crate::link::fragment(a.parsed),
        };
        let second = match b.preset {
            _ if a.parsed == b.parsed => String::new(),
            Some(name) => format!("&b=preset.{name}"),
            None => format!("&b={}", link::encode_other(a.parsed, b.parsed)),
        };
        Some((first, format!("&cmp=1{second}")))
    }

    /// Hears worker number 0 (A), 1 (B), or one that makes pairs of runs.
    pub(super) fn hear_from(&mut self, worker: usize, data: &JsValue) -> bool {
        match worker {
            0 | 1 if (worker == 1) == self.compare.edits_b => self.hear(data),
            0 | 1 if self.compare.other.is_none() => false,
            0 | 1 => {
                self.swap_sides();
                self.compare.swapped = true;
                let news = self.hear(data);
                self.compare.swapped = false;
                self.swap_sides();
                news
            }
            super::predict::WORKER => self.hear_prediction(data),
            n => self.hear_helper(n - 2, data),
        }
    }

    /// Whether what is done now is done for the side that is not edited.
    pub(super) const fn is_beside(&self) -> bool {
        self.compare.swapped
    }

    /// Time of the side that is behind, in seconds; `None` while an answer is awaited.
    pub(super) fn behind_s(&self) -> Option<f64> {
        let other = self.compare.other.as_ref().filter(|_| self.is_comparing());
        let going = |feed: &&Feed| feed.now().is_some() && feed.now_s() < feed.scenario.horizon.as_secs_f64();
        match other {
            _ if self.awaited => None,
            Some(side) if side.awaited => None,
            // One that has ended keeps nobody back.
            _ => {
                let both = [self.run.as_ref(), other.and_then(|side| side.run.as_ref())];
                let behind = both.into_iter().flatten().filter(going).map(Feed::now_s).reduce(f64::min);
                Some(behind.unwrap_or_else(|| self.now_s()))
            }
        }
    }

    /// Whether the other side has not come to its end.
    pub(super) fn other_goes_on(&self) -> bool {
        let feed =
            self.compare.other.as_ref().filter(|_| self.is_comparing()).and_then(|side| side.run.as_ref());
        feed.is_some_and(|feed| feed.now().is_some() && feed.now_s() < feed.scenario.horizon.as_secs_f64())
    }

    // ----- pairs of runs -----

    /// Follows edits of either side, and brings the table up to date.
    pub(super) fn tick_compare(&mut self, ctx: &Context<Self>, now_ms: f64) {
        if !self.is_comparing() {
            return;
        }
        self.share_seed();
        let Some([a, b]) = self.sides() else { return };
        let of = [a.parsed.clone(), b.parsed.clone()];
        if self.compare.of.as_ref() != Some(&of) {
            self.compare_anew(of);
            self.compare.changed_ms = now_ms;
        }
        let settled = now_ms - self.compare.changed_ms > SETTLED_MS && self.compare.wanted == 0;
        if settled && !self.compare.settings.is_empty() && self.are_light() {
            self.run_pairs(ctx, core_compare::RUNS);
        }
        if self.compare.stale && now_ms - self.compare.table_ms >= TABLE_MS {
            self.compare.stale = false;
            self.compare.table_ms = now_ms;
            if let Some(comparison) = &self.compare.comparison {
                self.compare.rows = comparison.rows();
                self.compare.outcome = Outcome::of(&self.compare.rows);
            }
        }
    }

    /// The same traffic for both: the side that was not edited follows the seed of the other.
    fn share_seed(&mut self) {
        let seed = self.parsed.wire.run.seed;
        let at_s = self.now_s();
        self.beside(|app| {
            if app.parsed.wire.run.seed != seed {
                app.parsed.wire.run.seed = seed;
                app.preset = None;
                app.begin(at_s);
            }
        });
    }

    fn compare_anew(&mut self, of: [Parsed; 2]) {
        self.cancel_pairs();
        let state = &mut self.compare;
        state.settings = settings::differences(&of[0].wire, &of[1].wire);
        state.settings.retain(Setting::matters);
        let checked = of.each_ref().map(|parsed| Scenario::check(parsed.wire.clone()).ok());
        state.comparison = match &checked {
            [Some(a), Some(b)] => Some(Comparison::new(a, b)),
            _ => None,
        };
        (state.rows, state.outcome, state.wanted) = (Vec::new(), Outcome::default(), 0);
        state.of = Some(of);
        self.numbers += 1;
        self.compare.job = self.numbers;
    }

    /// Whether ten runs of both take next to no time.
    fn are_light(&self) -> bool {
        let of = self.sides().into_iter().flatten().filter_map(|side| side.feed);
        of.map(|feed| feed.scenario.estimated_events()).sum::<f64>() * f64::from(core_compare::RUNS)
            < HEAVY_EVENTS
    }

    fn run_pairs(&mut self, ctx: &Context<Self>, more: u32) {
        let Some(comparison) = &self.compare.comparison else { return };
        let done = comparison.runs() as u32;
        self.compare.wanted = (self.compare.wanted.max(done) + more).min(core_compare::MOST_RUNS);
        let cores = super::window().navigator().hardware_concurrency() as usize;
        let most = cores.saturating_sub(1).clamp(1, MOST_HELPERS).min(more as usize);
        while self.compare.helpers.len() < most {
            let Ok(worker) = start_worker(ctx.link(), 2 + self.compare.helpers.len()) else { break };
            self.compare.helpers.push(Helper { worker, ready: false, job: 0, busy: None });
        }
        self.hand_out();
    }

    /// Gives every free helper a pair to make.
    fn hand_out(&mut self) {
        let state = &mut self.compare;
        let (Some(comparison), Some([a, b])) = (&state.comparison, &state.of) else { return };
        for at in 0..state.helpers.len() {
            let taken =
                |r: u32| comparison.has(r) || state.helpers.iter().any(|helper| helper.busy == Some(r));
            let next = (0..state.wanted).find(|r| !taken(*r));
            let (Some(replication), Some(helper)) = (next, state.helpers.get_mut(at)) else { return };
            if !helper.ready || helper.busy.is_some() {
                continue;
            }
            if helper.job != state.job {
                helper.job = state.job;
                let (a, b) = (a.to_canonical_json(), b.to_canonical_json());
                helper.send(Order::Both { job: state.job, a, b, with_log: self.with_log });
            }
            helper.busy = Some(replication);
            helper.send(Order::Pair { job: state.job, replication });
        }
    }

    /// Leaves Compare for a log that is played: B is to be a copy of what plays it, and every worker is to play it.
    pub(super) fn forget_log(&mut self, ctx: &Context<Self>) {
        if self.mode == Mode::Compare {
            self.set_mode(ctx, Mode::Explore);
        }
        self.compare.outdated = true;
        for helper in self.compare.helpers.drain(..) {
            helper.worker.terminate();
        }
    }

    fn cancel_pairs(&mut self) {
        let done = self.compare.comparison.as_ref().map_or(0, Comparison::runs) as u32;
        self.compare.wanted = done;
        for helper in self.compare.helpers.iter_mut().filter(|helper| helper.busy.is_some()) {
            (helper.busy, helper.job) = (None, 0);
            helper.send(Order::Both { job: 0, a: String::new(), b: String::new(), with_log: false });
        }
    }

    fn helper_is_ready(&mut self, at: usize) {
        if let Some(helper) = self.compare.helpers.get_mut(at) {
            helper.ready = true;
            if let Some(rows) = &self.replay.rows {
                let _ = helper.worker.post_message(rows);
            }
        }
        self.hand_out();
    }

    fn hear_helper(&mut self, at: usize, data: &JsValue) -> bool {
        if let Some(array) = data.dyn_ref::<js_sys::Float64Array>() {
            if let Ok(Numbers::Pair(Pair { job, replication, a, b })) = Numbers::decode(&array.to_vec())
                && job == self.compare.job
            {
                if let Some(helper) = self.compare.helpers.get_mut(at) {
                    helper.busy = None;
                }
                if let Some(comparison) = &mut self.compare.comparison {
                    comparison.add(replication, &a, &b);
                }
                (self.compare.stale, self.text_due) = (true, true);
                self.hand_out();
            }
            return false;
        }
        match crate::worker::heard(data).and_then(Note::answer) {
            Some(Answer::Ready) => self.helper_is_ready(at),
            Some(Answer::Refused { run, .. }) if run == self.compare.job => self.cancel_pairs(),
            _ => {}
        }
        false
    }
}

impl Helper {
    fn send(&self, order: Order) {
        if let Ok(note) = crate::worker::to_js(&order.into()) {
            let _ = self.worker.post_message(&note);
        }
    }
}
