//! The page: one component that owns the state, hears everything, and draws.
//!
//! It decides nothing about requests: the simulation runs in the worker, a live system at its server. Text is
//! rendered four times a second, canvases at display rate, and at most one frame is on its way from the worker.

pub mod compare;
pub mod find;
mod fork;
pub mod handover;
mod language;
mod loading;
mod predict;
pub mod record;
pub mod replay;
pub mod text;
pub mod tour;

use crate::address::{Address, escape};
use crate::draw::tracks::{History as TrackHistory, TrackBoxes, Tracks};
use crate::draw::{Boxes, Motion, Pace, Picture, Theme, fit};
use crate::edit;
use crate::feed::{Feed, window_s};
use crate::figures;
use crate::history::{Flag, Plot, flags};
use crate::layout;
use crate::library;
use crate::link as share;
use crate::live::{self, Live};
use crate::log::LogRead;
use crate::prefs::{Prefs, ThemeChoice};
use crate::protocol::{Answer, Note, Numbers, Order};
use crate::story::{self, Story};
use crate::view;
use crate::words::{Language, Words, fill};
use std::cell::Cell;
use tidegate_core::measure::History;
use tidegate_core::scenario::v1::ScenarioV1;
use tidegate_core::scenario::{Newer, Parsed, Scenario, ScenarioError, presets};
use tidegate_core::sim;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement, KeyboardEvent, MessageEvent};
use yew::prelude::*;

/// What is larger is no scenario file, in bytes.
const LONGEST_SCENARIO_FILE: f64 = 262_144.0;
/// Text is rendered this often, in milliseconds.
const TEXT_MS: f64 = 250.0;
/// The story changes at most this often.
const STORY_MS: f64 = 2000.0;
/// The address follows an edit after this long.
const ADDRESS_MS: f64 = 500.0;
/// Edits of one field within this time are undone together.
const UNDO_MS: f64 = 1000.0;
/// States of the picture a second with reduced motion, in milliseconds.
const STILL_MS: f64 = 500.0;
/// Longest step of real time that is played; a longer gap (hidden tab) is not caught up.
const LONGEST_STEP_S: f64 = 0.1;
/// Undo steps kept.
const UNDO_MOST: usize = 100;
/// Above this many events a run opens paused.
const HEAVY_EVENTS: f64 = 5e7;
/// A scenario that takes longer than this, in seconds, begins faster than it would be.
const LONGEST_WATCH_S: f64 = 240.0;

/// The slowest speed at which so many seconds take at most `most_s` to watch.
fn speed_to_watch(span_s: f64, most_s: f64) -> f64 {
    let mut speed = 1.0;
    while speed * most_s < span_s && speed < SPEEDS.1 {
        speed = crate::keys::next_speed(speed, true);
    }
    speed
}

/// Slowest and fastest speed; beyond it there is only as fast as it goes, which is infinite.
pub const SPEEDS: (f64, f64) = (0.05, 1000.0);

/// What the page looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// A simulated run.
    #[default]
    Explore,
    /// Two simulated runs on the same traffic.
    Compare,
    /// A log that is played.
    Replay,
    /// A server.
    Live,
}

/// A section of the editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Loads of the classes.
    Traffic,
    /// Which real requests belong to which class.
    Classifier,
    /// One stage.
    Stage(usize),
    /// The balancer.
    Balancer,
    /// The servers.
    Servers,
    /// Planned events.
    Events,
    /// Title and length.
    Run,
}

/// A dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// The presets.
    Presets,
    /// The link.
    Share,
    /// The command for a real server.
    Serve,
    /// The keys.
    Keys,
    /// The palette.
    Palette,
    /// The state as a table.
    Table,
}

/// Something said over the picture until it is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// A link that cannot be read, and why.
    Damaged(String),
    /// A scenario of a later format.
    Newer(Box<Newer>),
    /// A scenario that breaks a rule.
    Bad(String),
    /// The worker failed.
    Broke(String),
    /// The scenario plays a log that is not here.
    NeedsLog,
    /// A file is being read.
    Reading(String),
    /// A log was read.
    Log(Box<LogRead>),
    /// A file is no log: name, reason, first line.
    LogBad(String, String, String),
    /// A run of very many events.
    Heavy(f64),
}

/// What a link claims about its run, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// First 48 bits of the hash, as 12 hexadecimal digits.
    pub hash: String,
    /// Engine that made it.
    pub engine: String,
    /// Whether it holds, once known; then with the hash found.
    pub verdict: Option<(bool, String)>,
}

/// A run that was computed to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// Hash of the whole run.
    pub hash: u64,
    /// Its events.
    pub events: u64,
    /// Time it took the worker, in milliseconds.
    pub work_ms: f64,
}

/// A field whose text is not in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// Which: the path of the value in the scenario.
    pub field: String,
    /// What stands in the field.
    pub typed: String,
    /// The rule it breaks; `None` if it is no number.
    pub error: Option<ScenarioError>,
}

/// What an edit does to the scenario.
pub type Change = Box<dyn FnOnce(&mut ScenarioV1)>;

/// A change made in the editor.
pub struct Edit {
    /// Which field: the path of the value in the scenario.
    pub field: String,
    /// What was typed.
    pub typed: String,
    /// The change; `None` if what was typed is no number.
    pub change: Option<Change>,
}

/// A command, whether by button, key or link.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// Opens what the address says.
    Address,
    /// Plays if paused, and the other way round.
    PlayPause,
    /// To a moment, in seconds.
    Seek(f64),
    /// Forward or back by seconds of the run.
    Move(f64),
    /// Forward (or back) by one small step.
    Step(bool),
    /// One event of the calendar forward or back.
    StepEvent(bool),
    /// To the next decision of the gateway.
    StepDecision,
    /// To the next (or previous) planned event.
    NextFlag(bool),
    /// Sets the speed.
    Speed(f64),
    /// Sets the seed.
    Seed(u64),
    /// Draws another seed.
    Dice,
    /// Opens or closes a section of the editor.
    Toggle(Section),
    /// Opens a section and shows the editor.
    Open(Section),
    /// Explains the lane of a class (second) at a stage (first), or stops explaining it.
    Why(usize, usize),
    /// Explains how the last server was picked, or stops explaining it.
    WhyServer,
    /// Opens or closes a dialog.
    Dialog(Option<Dialog>),
    /// Explore or Live.
    Mode(Mode),
    /// The other language.
    Language,
    /// The other of light and dark.
    Theme,
    /// A built-in scenario.
    Preset(&'static str),
    /// Takes the last edit back.
    Undo,
    /// Makes it again.
    Redo,
    /// Lets the run begin with the values it ends with.
    FoldEdits,
    /// Copies text.
    Copy(String),
    /// Picture only.
    Focus,
    /// The editor on small screens.
    Sheet(bool),
    /// Single letters as shortcuts.
    Letters(bool),
    /// Reduced motion.
    Still(bool),
    /// Closes the notice.
    Dismiss,
    /// Plays what was put off as heavy.
    PlayHeavy,
    /// Adds an event at the playhead.
    AddEvent,
    /// Plays the log that was read, under one policy or under two.
    PlayLog(bool),
    /// Gives the first class a small rate.
    RaiseRate,
    /// Whether the link carries the moment.
    ShareAt(bool),
    /// Connects to a server.
    Connect(String),
    /// Disconnects.
    Disconnect,
    /// Takes the server's scenario into Explore.
    TakeLive,
    /// Loads the page again.
    Reload,
    /// Compare.
    Compare(compare::Do),
    /// Handing over.
    Hand(handover::Do),
    /// Finding.
    Find(find::Do),
    /// The text view.
    Text(text::Do),
    /// The tour.
    Tour(tour::Do),
    /// Why-records.
    Record(record::Do),
    /// Your traffic.
    Replay(replay::Do),
}

/// What the page hears.
pub enum Msg {
    /// Time to paint, in milliseconds of the browser's clock.
    Paint(f64),
    /// From a worker, by its number: 0 runs A, 1 runs B, the others make pairs of runs.
    Heard(usize, MessageEvent),
    /// The worker failed.
    Broke(String),
    /// The window or a part changed size.
    Resized,
    /// The picture has another size.
    Sized,
    /// A key.
    Key(KeyboardEvent),
    /// Somebody changed the address.
    Address,
    /// A command.
    Do(Do),
    /// A change in the editor.
    Edit(Edit),
    /// A text field has the focus: its id and what stands in it.
    Typing(String, String),
    /// No text field has it any more.
    Typed,
    /// A file was chosen or dropped.
    File(web_sys::File),
    /// Its content.
    FileRead(String, Result<Vec<u8>, String>),
    /// A file is dragged over the page.
    DragOver(bool),
    /// Place of the pointer over the tracks, in CSS pixels from the left of the time axis; `true` while dragging.
    Point(Option<f64>, bool),
    /// From the live server.
    Live(live::Event),
    /// Something the system prefers changed.
    System,
}

impl From<Do> for Msg {
    fn from(command: Do) -> Self {
        Self::Do(command)
    }
}

/// What was listened to, kept as long as the page.
#[derive(Default)]
struct Ears {
    kept: Vec<Box<dyn std::any::Any>>,
}

/// Tells when words above the picture, or a wider editor, leave it another size. To look at its size after each rendering
/// would have the browser lay out the page in the middle of a frame.
#[derive(Default)]
struct Sizes {
    watched: Option<(web_sys::Element, web_sys::ResizeObserver)>,
    /// Kept for as long as the observer calls it.
    hears: Option<Closure<dyn FnMut()>>,
}

impl Sizes {
    fn watch(&mut self, element: Option<web_sys::Element>, link: &yew::html::Scope<App>) {
        if self.watched.as_ref().map(|(watched, _)| watched) == element.as_ref() {
            return;
        }
        if let Some((_, observer)) = self.watched.take() {
            observer.disconnect();
        }
        let Some(element) = element else { return };
        let sized = link.callback(|()| Msg::Sized);
        let hear = Closure::<dyn FnMut()>::new(move || sized.emit(()));
        if let Ok(observer) = web_sys::ResizeObserver::new(hear.as_ref().unchecked_ref()) {
            observer.observe(&element);
            self.watched = Some((element, observer));
            self.hears = Some(hear);
        }
    }
}

/// Parts of the page that take turns: its main part with words and picture; what is around it; the editor.
const PARTS: usize = 3;
const PICTURE: usize = 0;
const TIME: usize = 1;
const EDITOR: usize = 2;

/// What is new in them.
#[derive(Debug)]
pub struct News {
    is_new: Cell<[bool; PARTS]>,
    versions: Cell<[u32; PARTS]>,
}

impl Default for News {
    fn default() -> Self {
        Self { is_new: Cell::new([true; PARTS]), versions: Cell::default() }
    }
}

impl News {
    fn note(&self, is_new: [bool; PARTS]) {
        let before = self.is_new.get();
        self.is_new.set(core::array::from_fn(|part| before[part] || is_new[part]));
    }

    /// For each part its version, and whether that is a new one; from now on nothing is new.
    pub fn take(&self) -> [(u32, bool); PARTS] {
        let (is_new, mut versions) = (self.is_new.take(), self.versions.get());
        for (version, is_new) in versions.iter_mut().zip(is_new) {
            *version = version.wrapping_add(u32::from(is_new));
        }
        self.versions.set(versions);
        core::array::from_fn(|part| (versions[part], is_new[part]))
    }
}

/// The page.
pub struct App {
    /// Preferences.
    pub prefs: Prefs,
    /// The language asked for, which may have to be loaded.
    wanted: Language,
    /// What it looks at.
    pub mode: Mode,
    /// The scenario as edited, unknown fields included.
    pub parsed: Parsed,
    /// The preset it is, as long as nothing is changed.
    pub preset: Option<&'static str>,
    /// Fields that are not in force.
    pub wrong: Vec<Wrong>,
    /// The field being typed in, and its text.
    pub typing: Option<(String, String)>,
    /// What the link claims.
    pub claim: Option<Claim>,
    /// The simulated run.
    pub run: Option<Feed>,
    /// How much of the run is computed, 0 to 1.
    pub share: f64,
    /// The run at its end.
    pub done: Option<Done>,
    /// Whether time goes on.
    pub playing: bool,
    /// Seconds of the run per second.
    pub speed: f64,
    /// Speed that is reached, if it is clearly less.
    pub reached: Option<f64>,
    /// The log read last.
    pub log: Option<LogRead>,
    /// Whether the run plays it.
    pub with_log: bool,
    /// The live server.
    pub live: Live,
    /// Open section of the editor.
    pub section: Option<Section>,
    /// The lane that is explained: stage and class.
    pub why: Option<(usize, usize)>,
    /// Whether the last pick of a server is explained.
    pub why_server: bool,
    /// Open dialog.
    pub dialog: Option<Dialog>,
    /// What is said over the picture.
    pub notice: Option<Notice>,
    /// Whether a file is dragged over the page.
    pub dragging: bool,
    /// Picture only.
    pub focus: bool,
    /// The editor on small screens.
    pub sheet: bool,
    /// Whether the shared link carries the moment.
    pub share_at: bool,
    /// The state in words.
    pub story: Story,
    /// The tracks.
    pub plot: Plot,
    /// The flags of the ruler.
    pub flags: Vec<Flag>,
    /// What the time axis shows.
    pub span_s: (f64, f64),
    /// The pointer over the tracks.
    pub hover_s: Option<f64>,
    /// The picture's painter; its scales are printed.
    pub picture: Picture,
    /// A short message, until a moment.
    pub toast: Option<(String, f64)>,
    /// What edits can be taken back to.
    pub undo: Vec<Parsed>,
    /// What was taken back, and can be made again.
    pub redo: Vec<Parsed>,
    /// The scenario that runs, checked, with all that its edits make of it.
    pub checked: Option<Scenario>,
    /// The scene, the canvases, and what is moved at display rate.
    pub refs: Refs,
    /// Compare.
    pub compare: compare::State,
    /// Handing over.
    pub handover: handover::State,
    /// What is looked for.
    pub find: find::State,
    /// The text view.
    pub text: text::State,
    /// The tour.
    pub tour: tour::State,
    /// What the live system is expected to do.
    predict: predict::State,
    /// Why-records.
    pub record: record::State,
    /// Your traffic.
    pub replay: replay::State,

    next: Option<Feed>,
    ghost: Option<History>,
    run_number: u32,
    /// The last number given to a run or a comparison.
    numbers: u32,
    worker: Option<web_sys::Worker>,
    worker_ready: bool,
    orders: Vec<Order>,
    awaited: bool,
    explains: bool,
    owed_s: f64,
    last_edit: (String, f64),
    address_due: Option<f64>,
    theme: Theme,
    boxes: Boxes,
    tracks: Tracks,
    track_boxes: TrackBoxes,
    track_version: u64,
    plotted: (u64, u32, Mode, Option<usize>),
    layout_due: bool,
    sizes: Sizes,
    /// What is new on the page since it was rendered.
    pub news: News,
    /// Whether the cards of servers have room for loads.
    loaded: bool,
    paint_due: bool,
    text_due: bool,
    now_ms: f64,
    text_ms: f64,
    /// The part of the page that was rendered last, of those that take turns.
    turn: usize,
    story_ms: f64,
    still_ms: f64,
    speed_since: (f64, f64),
    _ears: Ears,
}

/// Elements that are painted on or moved without rendering.
#[derive(Clone, Default)]
pub struct Refs {
    /// The scene.
    pub scene: NodeRef,
    /// Canvas of the picture.
    pub picture: NodeRef,
    /// Plot area of the tracks.
    pub plot: NodeRef,
    /// Canvas of the tracks.
    pub tracks: NodeRef,
    /// The playhead.
    pub playhead: NodeRef,
    /// The file chooser.
    pub file: NodeRef,
}

fn window() -> web_sys::Window {
    web_sys::window().expect("a page has a window")
}

fn clock_ms() -> f64 {
    window().performance().map_or(0.0, |p| p.now())
}

impl Component for App {
    type Message = Msg;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let address = Address::parse(&window().location().hash().unwrap_or_default());
        let handover = handover::State::of(&address);
        let embedded = handover.embed.is_some();
        crate::prefs::keep_nothing(embedded);
        let mut prefs = Prefs::load(address.get("lang"), address.get("theme"));
        let wanted = prefs.language;
        if !wanted.is_known() {
            prefs.language = Language::English;
        }
        let mut app = Self {
            prefs,
            wanted,
            mode: Mode::Explore,
            parsed: first_parsed(),
            preset: Some(library::first()),
            wrong: Vec::new(),
            typing: None,
            claim: None,
            run: None,
            share: 0.0,
            done: None,
            playing: !prefs.still && !embedded,
            speed: 1.0,
            reached: None,
            log: None,
            with_log: false,
            live: Live::default(),
            section: None,
            why: None,
            why_server: false,
            dialog: None,
            notice: None,
            dragging: false,
            focus: false,
            sheet: false,
            share_at: false,
            story: Story::default(),
            plot: Plot::default(),
            flags: Vec::new(),
            span_s: (0.0, 1.0),
            hover_s: None,
            picture: Picture::new(),
            toast: None,
            undo: Vec::new(),
            redo: Vec::new(),
            checked: None,
            refs: Refs::default(),
            compare: compare::State::default(),
            handover,
            find: find::State { hint: Prefs::kept("dragged").is_none(), ..find::State::default() },
            text: text::State::default(),
            tour: tour::State::new(address.get("embed").is_some()),
            record: record::State::default(),
            replay: replay::State::default(),
            predict: predict::State::default(),
            next: None,
            ghost: None,
            run_number: 0,
            numbers: 0,
            worker: None,
            worker_ready: false,
            orders: Vec::new(),
            awaited: false,
            explains: false,
            owed_s: 0.0,
            last_edit: (String::new(), f64::NEG_INFINITY),
            address_due: None,
            theme: Theme::LIGHT,
            boxes: Boxes::default(),
            tracks: Tracks::new(),
            track_boxes: TrackBoxes::default(),
            track_version: 0,
            plotted: (u64::MAX, 0, Mode::Explore, None),
            layout_due: true,
            sizes: Sizes::default(),
            news: News::default(),
            loaded: false,
            paint_due: true,
            text_due: true,
            now_ms: clock_ms(),
            text_ms: f64::NEG_INFINITY,
            turn: EDITOR,
            story_ms: f64::NEG_INFINITY,
            still_ms: f64::NEG_INFINITY,
            speed_since: (0.0, 0.0),
            _ears: Ears::listen(ctx.link()),
        };
        app.section = Some(app.main_section());
        app.dress();
        match start_worker(ctx.link(), 0) {
            Ok(worker) => app.worker = Some(worker),
            Err(reason) => app.notice = Some(Notice::Broke(text_of(&reason))),
        }
        app.open_address(ctx, &address);
        app.speak(ctx, app.wanted);
        app
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        if let Msg::Paint(now) = msg {
            return self.tick(ctx, now);
        }
        let is_new = self.take(ctx, msg);
        if is_new {
            self.news.note([true; PARTS]);
        }
        is_new
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        view::page(self, ctx.link())
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if first {
            start_painting(ctx.link());
        }
        view::sync_dialogs(self.dialog);
        self.focus_wanted();
        self.point_at_step();
        self.sizes.watch(self.refs.scene.cast(), ctx.link());
        if self.layout_due {
            self.measure();
        }
        self.place_playhead();
    }
}

/// The scenario the page begins with, as it was written.
fn first_parsed() -> Parsed {
    library::get(library::first()).expect("tested: it reads")
}

impl App {
    /// Takes a message; returns whether there is something new to show.
    fn take(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Paint(_) => return false,
            Msg::Heard(worker, event) => return self.hear_from(worker, &event.data()),
            Msg::Broke(reason) => self.notice = Some(Notice::Broke(reason)),
            Msg::Resized => {
                self.layout_due = true;
                self.paint_due = true;
            }
            Msg::Sized => {
                // Before it is painted: a picture that is drawn for another size would be seen for a moment.
                self.measure();
                self.paint(0.0, true);
                return false;
            }
            Msg::Key(event) => return self.key(ctx, &event),
            Msg::Address => self.obey(ctx, Do::Address),
            Msg::Do(command) => {
                self.obey(ctx, command);
                self.ask_for_decisions();
            }
            Msg::Edit(edit) => self.edit(edit),
            Msg::Typing(field, text) => {
                self.typing = Some((field, text));
                return false;
            }
            Msg::Typed => self.typing = None,
            Msg::File(file) => self.read_file(ctx, &file),
            Msg::FileRead(name, content) => self.take_file(ctx, name, content),
            Msg::DragOver(over) => {
                let changed = self.dragging != over;
                self.dragging = over;
                return changed;
            }
            Msg::Point(x, dragging) => return self.point(x, dragging),
            Msg::Live(event) => return self.hear_live(event),
            Msg::System => {
                self.dress();
                self.paint_due = true;
            }
        }
        self.text_due = true;
        true
    }

    /// The words of the language.
    #[must_use]
    pub fn words(&self) -> &'static Words {
        self.prefs.language.words()
    }

    /// What is looked at, if there is anything to see yet.
    #[must_use]
    pub fn feed(&self) -> Option<&Feed> {
        match self.mode {
            Mode::Live => self.live.feed.as_ref(),
            _ => self.run.as_ref(),
        }
    }

    /// Time of the playhead, in seconds.
    #[must_use]
    pub fn now_s(&self) -> f64 {
        self.feed().map_or(0.0, Feed::now_s)
    }

    /// Length of the run, in seconds.
    #[must_use]
    pub fn horizon_s(&self) -> f64 {
        self.parsed.wire.run.horizon_us as f64 * 1e-6
    }

    /// Whether the run has come to its end.
    #[must_use]
    pub fn over(&self) -> bool {
        self.run.is_some() && self.now_s() >= self.horizon_s()
    }

    /// The stage shown large: the one that hands requests to servers, or the last.
    #[must_use]
    pub fn main_stage(scenario: &Scenario) -> usize {
        scenario.serving_stage.map_or(scenario.stages.len().saturating_sub(1), |s| usize::from(s.0))
    }

    fn main_section(&self) -> Section {
        let serving = self
            .parsed
            .wire
            .stages
            .iter()
            .position(|s| matches!(s.work, tidegate_core::scenario::v1::WorkV1::Servers));
        Section::Stage(serving.unwrap_or(self.parsed.wire.stages.len().saturating_sub(1)))
    }

    /// Whether anything is being computed that a person waits for.
    #[must_use]
    pub fn computing(&self) -> bool {
        self.mode != Mode::Live && self.done.is_none() && self.share < 1.0 && self.run.is_some()
    }

    /// The link to the scenario as it is, with the run's hash if it is known and the moment if wanted.
    #[must_use]
    pub fn shared_link(&self) -> String {
        let sides = self.sides().filter(|_| self.is_comparing());
        let mut parsed = match (&self.live.feed, &sides) {
            (Some(feed), _) if self.mode == Mode::Live => Parsed::from(feed.scenario.wire().clone()),
            (_, Some([a, _])) => a.parsed.clone(),
            _ => self.parsed.clone(),
        };
        sim::ENGINE.clone_into(&mut parsed.wire.engine);
        let mut link = format!("{}{}", base_url(), share::fragment(&parsed));
        if self.mode == Mode::Live {
            return link;
        }
        if self.share_at && self.now_s() > 0.0 {
            link.push_str(&format!("&at={}", figures::typed((self.now_s() * 10.0).round() / 10.0)));
        }
        let done = match sides {
            Some([a, _]) => a.done,
            None => self.done,
        };
        if let Some(done) = done.filter(|_| !self.with_log) {
            link.push_str(&format!("&h={}", short_hash(done.hash)));
        }
        if let Some((_, b)) = self.compare_address() {
            link.push_str(&b);
        }
        link
    }

    // ----- opening -----

    fn open_address(&mut self, ctx: &Context<Self>, address: &Address) {
        if let Some(theme) = address.get("theme") {
            self.prefs.theme = ThemeChoice::of(theme);
        }
        self.dress();
        if let Some(play) = address.get("play") {
            self.playing = play != "0" && !self.prefs.still && !self.embedded();
        }
        self.dialog = match address.get("open") {
            Some("presets") => {
                self.want_cards(ctx);
                Some(Dialog::Presets)
            }
            Some("share") => Some(Dialog::Share),
            Some("serve") => Some(Dialog::Serve),
            Some("keys") => Some(Dialog::Keys),
            _ => None,
        };
        if let Some(step) = address.number("tour").filter(|_| address.get("embed").is_none()) {
            self.tour(ctx, tour::Do::To((step as usize).clamp(1, tour::STEPS.len()) - 1));
            return;
        }
        self.tour.step = None;
        let at_s = address.number("at").unwrap_or(0.0);
        self.edit_side(false);
        self.claim = None;
        match (&address.link, address.get("preset")) {
            (Some(link), _) => match share::open(link) {
                Ok(parsed) => {
                    self.claim = address.get("h").map(|hash| Claim {
                        hash: hash.to_ascii_lowercase(),
                        engine: parsed.wire.engine.clone(),
                        verdict: None,
                    });
                    self.open(parsed, None, at_s);
                }
                Err(share::Refusal::Newer(newer)) => self.refuse(Notice::Newer(newer)),
                Err(share::Refusal::Damaged(reason)) => self.refuse(Notice::Damaged(reason)),
                Err(share::Refusal::Bad(reason)) => self.refuse(Notice::Bad(reason)),
            },
            (None, Some(name)) if presets::title(name).is_some() || name == crate::gallery::EMPTY => {
                if !self.have_preset(ctx, name, Do::Address) {
                    return self.stand();
                }
                self.open_preset(name, at_s);
            }
            (None, Some(name)) => self.refuse(Notice::Damaged(format!("preset: {name}"))),
            (None, None) => {
                // An address without a scenario keeps what runs, and begins with the first preset.
                if self.run.is_none() && self.next.is_none() {
                    self.open_preset(library::first(), at_s);
                }
            }
        }
        if let Some(speed) = address.number("speed") {
            self.set_speed(speed);
        }
        self.open_compare(ctx, address);
        if address.get("mode") == Some("live") {
            if let Some(server) = address.get("server") {
                self.live.address = server.to_owned();
            }
            self.set_mode(ctx, Mode::Live);
        } else if address.get("cmp").is_none() && self.mode != Mode::Explore && address.link.is_some() {
            self.set_mode(ctx, Mode::Explore);
        }
    }

    /// Says why nothing new is opened; what ran before goes on, or the first preset stands still behind it.
    fn refuse(&mut self, notice: Notice) {
        self.notice = Some(notice);
        self.stand();
    }

    /// Shows the first preset, standing still, if there is nothing else to see.
    fn stand(&mut self) {
        if self.run.is_none() && self.next.is_none() {
            self.playing = false;
            self.parsed = first_parsed();
            self.begin(0.0);
        }
    }

    fn open_preset(&mut self, name: &str, at_s: f64) {
        if name == crate::gallery::EMPTY
            && let Ok(parsed) = tidegate_core::scenario::parse_json(crate::gallery::EMPTY_JSON)
        {
            return self.open(parsed, None, 0.0);
        }
        let Some(&(known, _)) = presets::TITLES.iter().find(|(known, _)| *known == name) else { return };
        if let Some(parsed) = library::get(name) {
            self.open(parsed, Some(known), at_s);
        }
    }

    /// Opens another scenario: nothing of the last run is kept.
    fn open(&mut self, parsed: Parsed, preset: Option<&'static str>, at_s: f64) {
        match Scenario::check(parsed.wire.clone()) {
            Err(error) => self.refuse(Notice::Bad(error.to_string())),
            Ok(scenario) => {
                self.compare.outdated |= self.mode != Mode::Compare;
                self.parsed = parsed;
                self.preset = preset;
                self.undo.clear();
                self.redo.clear();
                self.wrong.clear();
                self.text.forget();
                self.ghost = None;
                self.with_log = false;
                if self.mode == Mode::Replay {
                    self.mode = Mode::Explore;
                }
                self.notice = None;
                self.note_loads();
                self.section = Some(self.main_section());
                self.speed = speed_to_watch(scenario.horizon.as_secs_f64(), LONGEST_WATCH_S);
                let events = scenario.estimated_events();
                if events > HEAVY_EVENTS {
                    self.playing = false;
                    self.notice = Some(Notice::Heavy(events));
                    self.start(scenario, 0.0);
                } else {
                    self.start(scenario, at_s);
                }
            }
        }
    }

    /// Runs the scenario as it is from its beginning, to stand at a moment.
    fn begin(&mut self, at_s: f64) {
        if let Ok(scenario) = Scenario::check(self.parsed.wire.clone()) {
            self.start(scenario, at_s);
        }
    }

    fn start(&mut self, scenario: Scenario, at_s: f64) {
        self.numbers += 1;
        self.run_number = self.numbers;
        self.checked = Some(scenario.clone());
        let horizon_s = scenario.horizon.as_secs_f64();
        let step_s = horizon_s / f64::from(crate::engine::STEPS);
        self.next = Some(Feed::new(self.run_number, scenario, window_s(horizon_s), step_s));
        self.share = 0.0;
        self.done = None;
        self.owed_s = 0.0;
        self.awaited = true;
        self.order(Order::Load {
            run: self.run_number,
            scenario: self.parsed.to_canonical_json(),
            at_s: at_s.min(horizon_s),
            with_log: self.with_log,
        });
        window().document().inspect(|d| d.set_title(&format!("{} – Tidegate", self.title())));
    }

    /// Title in the language of the page, if it is a preset's.
    #[must_use]
    pub fn title(&self) -> String {
        let title = match self.mode {
            Mode::Live => self.live.feed.as_ref().map_or("", |f| f.scenario.wire().title.as_str()),
            _ => return self.title_of(&self.parsed),
        };
        self.titled(title)
    }

    /// Title of a scenario in the language of the page.
    #[must_use]
    pub fn title_of(&self, parsed: &Parsed) -> String {
        self.titled(&parsed.wire.title)
    }

    fn titled(&self, title: &str) -> String {
        if title.is_empty() {
            return self.words().untitled.to_owned();
        }
        crate::gallery::title(title, self.prefs.language).to_owned()
    }

    // ----- the worker -----

    fn order(&mut self, order: Order) {
        if !self.worker_ready {
            // A run that was never begun need not be.
            if matches!(order, Order::Load { .. }) {
                self.orders.retain(|o| !matches!(o, Order::Load { .. }));
            }
            self.orders.push(order);
            return;
        }
        if let Some(worker) = &self.worker
            && let Ok(value) = crate::worker::to_js(&order.into())
        {
            let _ = worker.post_message(&value);
        }
    }

    fn hear(&mut self, data: &JsValue) -> bool {
        if let Some(array) = data.dyn_ref::<js_sys::Float64Array>() {
            match Numbers::decode(&array.to_vec()) {
                Ok(Numbers::Picture(picture)) => return self.see(picture),
                Ok(Numbers::Pair(_)) => {}
                Ok(Numbers::Told(told)) => {
                    self.hear_trace(told);
                    return true;
                }
                Ok(Numbers::History(part)) => {
                    if part.run == self.run_number
                        && let Some(feed) = self.next.as_mut().or(self.run.as_mut())
                    {
                        part.frames.iter().for_each(|f| feed.remember(f));
                        self.share = part.share;
                        self.text_due = true;
                    }
                }
                Err(error) => {
                    self.notice = Some(Notice::Broke(error.to_string()));
                    return true;
                }
            }
            return false;
        }
        match crate::worker::heard(data).and_then(Note::answer) {
            Some(Answer::Ready) => {
                self.worker_ready = true;
                self.greet();
                self.send_rows();
                for order in core::mem::take(&mut self.orders) {
                    self.order(order);
                }
                false
            }
            Some(Answer::Refused { run, reason }) if run == self.run_number => {
                self.awaited = false;
                self.playing = false;
                let log =
                    self.parsed.wire.classes.iter().any(|c| edit::Kind::of(&c.load) == edit::Kind::Trace);
                self.notice = Some(if log { Notice::NeedsLog } else { Notice::Bad(reason) });
                self.share = 1.0;
                if let Some(feed) = self.next.take() {
                    self.run = Some(feed);
                    self.layout_due = true;
                }
                true
            }
            Some(Answer::Done { run, hash, events, work_ms }) if run == self.run_number => {
                self.done = Some(Done { hash, events, work_ms });
                self.text_due = true;
                // Only now is all of the history there that the story looks back on.
                self.story_ms = f64::NEG_INFINITY;
                self.share = 1.0;
                if let Some(claim) = &mut self.claim {
                    let found = short_hash(hash);
                    claim.verdict = Some((found == claim.hash, found));
                }
                true
            }
            Some(Answer::Refused { .. } | Answer::Done { .. }) => false,
            None => {
                self.notice = Some(Notice::Broke(String::new()));
                true
            }
        }
    }

    fn see(&mut self, picture: crate::protocol::Picture) -> bool {
        if picture.run != self.run_number {
            return false;
        }
        self.awaited = false;
        let mut anew = false;
        if let Some(next) = self.next.take() {
            anew = true;
            let same_shape = self.run.as_ref().is_some_and(|old| old.cast == next.cast);
            if !same_shape {
                self.picture.reset();
                self.layout_due = true;
            }
            self.flags = flags(&next.scenario, self.words());
            self.run = Some(next);
        }
        let Some(feed) = self.run.as_mut() else { return false };
        let jumped = picture.before.is_some();
        if let Some(before) = picture.before {
            feed.jump(before);
        }
        feed.show(picture.frame);
        self.paint_due = true;
        if picture.over && self.playing && !self.other_goes_on() {
            self.playing = false;
            self.text_due = true;
        }
        let now_s = self.now_s();
        if !jumped && !anew && !self.playing && !self.is_beside() {
            // A single event: the other side comes along.
            self.beside(|app| {
                if app.now_s() < now_s {
                    app.advance(now_s);
                }
            });
        }
        if jumped || anew || !self.playing {
            self.story_ms = f64::NEG_INFINITY;
            self.text_due = true;
            return true;
        }
        false
    }

    // ----- time -----

    fn tick(&mut self, ctx: &Context<Self>, now_ms: f64) -> bool {
        let dt_s = ((now_ms - self.now_ms) / 1000.0).clamp(0.0, LONGEST_STEP_S);
        self.now_ms = now_ms;
        if self.mode != Mode::Live && self.playing && self.run.is_some() {
            self.owed_s = (self.owed_s + dt_s * self.speed.min(1e12)).min(LONGEST_STEP_S * self.speed);
            if let Some(now_s) = self.behind_s().filter(|_| self.owed_s > 0.0) {
                let to_s = now_s + core::mem::take(&mut self.owed_s);
                self.advance(to_s);
            }
        }
        self.read_text();
        if let Mode::Live = self.mode {
            self.live.watch(now_ms, ctx.link());
            self.text_due |= self.live.status_changed();
        }
        if self.layout_due && self.refs.scene.cast::<HtmlElement>().is_some() {
            self.measure();
        }
        let is_time = now_ms - self.text_ms >= TEXT_MS / PARTS as f64;
        // Where the playhead stands in the tracks can wait for a frame that has nothing to tell.
        self.paint(dt_s, !(is_time && self.playing));
        self.place_playhead();
        if self.address_due.is_some_and(|due| now_ms >= due) {
            self.address_due = None;
            self.write_address(false);
        }
        if self.toast.as_ref().is_some_and(|(_, until)| now_ms > *until) {
            self.toast = None;
            self.text_due = true;
        }
        let moving = self.playing || self.mode == Mode::Live || self.computing() || self.is_comparing();
        if !is_time || !(moving || self.text_due) {
            return false;
        }
        self.text_ms = now_ms;
        self.text_due = false;
        // Parts take turns while something moves: all of them at once would take longer than a frame has.
        self.turn = (self.turn + 1) % PARTS;
        let new = core::array::from_fn(|part| !moving || part == self.turn);
        self.news.note(new);
        if new[PICTURE] {
            self.tell(now_ms);
            let loaded = self.feed().is_some_and(Feed::reports);
            self.layout_due |= loaded != self.loaded;
            self.loaded = loaded;
        }
        if new[TIME] {
            self.note_speed(now_ms);
            self.replot();
        }
        if new[EDITOR] {
            self.tick_compare(ctx, now_ms);
            self.predict(ctx);
        }
        true
    }

    fn advance(&mut self, to_s: f64) {
        self.awaited = true;
        self.order(Order::Advance { run: self.run_number, to_s });
        self.beside(|app| app.advance(to_s));
    }

    fn note_speed(&mut self, now_ms: f64) {
        let (then_ms, then_s) = self.speed_since;
        if !self.playing || self.mode == Mode::Live {
            self.reached = None;
            self.speed_since = (now_ms, self.now_s());
        } else if now_ms - then_ms >= 1000.0 {
            let got = (self.now_s() - then_s) / ((now_ms - then_ms) / 1000.0);
            self.reached = (got > 0.0 && got < 0.85 * self.speed && !self.over()).then_some(got);
            self.speed_since = (now_ms, self.now_s());
        }
    }

    fn tell(&mut self, now_ms: f64) {
        if now_ms - self.story_ms < STORY_MS {
            return;
        }
        let Some(feed) = self.feed() else { return };
        let live = self.mode == Mode::Live;
        let new = story::tell(self.words(), &feed.scenario, &feed.model, live, &|c| feed.starved_s(c));
        let forced = self.story_ms == f64::NEG_INFINITY;
        if forced || new.differs_from(&self.story) {
            self.story = new;
            self.story_ms = now_ms;
        }
    }

    /// Computes the tracks anew if their numbers changed.
    fn replot(&mut self) {
        let explained = self.why.map(|(stage, _)| stage);
        let both = self.sides().filter(|_| self.is_comparing()).map(|both| both.map(|side| side.feed));
        let (feed, other) = match both {
            Some([Some(a), b]) => (a, b),
            _ => match self.feed() {
                Some(feed) => (feed, None),
                None => return,
            },
        };
        let (versions, numbers) = other.map_or((0, 0), |b| (b.version, b.number << 16));
        let stamp = (
            feed.version + (versions << 32),
            feed.number | numbers,
            self.mode,
            feed.averaging_stage(explained),
        );
        if stamp == self.plotted {
            return;
        }
        let ghost = match (other, self.mode) {
            // Lines of another length would lie at the wrong times.
            (Some(b), _) => Some(&b.history).filter(|_| b.scenario.horizon == feed.scenario.horizon),
            (None, Mode::Live | Mode::Compare) => None,
            (None, _) => self.ghost.as_ref(),
        };
        let rows = self.plot.kinds.len();
        let beside = other.map_or_else(Plot::default, |b| Plot::new(b, None, explained));
        let mut plot = Plot::new(feed, ghost, explained);
        plot.dashed = other.is_some();
        if self.mode == Mode::Live {
            plot.lay_behind(feed.history.t_s(), &self.predict.means);
        }
        self.span_s = match self.mode {
            Mode::Live => {
                let now = feed.now_s();
                ((now - 120.0).max(0.0), now.max(120.0))
            }
            _ => (0.0, feed.scenario.horizon.as_secs_f64()),
        };
        self.plot = plot;
        self.compare.plot = beside;
        self.plotted = stamp;
        self.track_version += 1;
        self.layout_due |= rows != self.plot.kinds.len();
        self.paint_due = true;
    }

    // ----- painting -----

    fn measure_picture(&mut self) {
        let Some(feed) = self.feed() else { return };
        let (classes, stages) = (feed.scenario.classes.len(), feed.scenario.stages.len());
        let Some(scene) = self.refs.scene.cast::<HtmlElement>() else { return };
        self.boxes = layout::picture(&scene, classes, stages);
    }

    fn measure(&mut self) {
        if self.feed().is_none() || self.refs.scene.cast::<HtmlElement>().is_none() {
            return;
        }
        self.measure_picture();
        self.beside(Self::measure_picture);
        if let (Some(plot), Some(canvas)) =
            (self.refs.plot.cast::<HtmlElement>(), self.refs.tracks.cast::<HtmlElement>())
        {
            self.track_boxes = layout::tracks(&plot, &canvas, self.plot.kinds.len());
        }
        self.layout_due = false;
        self.paint_due = true;
    }

    fn paint(&mut self, dt_s: f64, with_tracks: bool) {
        let moving = self.playing || (self.mode == Mode::Live && self.live.is_on());
        let due = if self.prefs.still {
            self.paint_due && (!moving || self.now_ms - self.still_ms >= STILL_MS)
        } else {
            self.paint_due || moving
        };
        if !due {
            return;
        }
        self.still_ms = self.now_ms;
        let motion = if self.prefs.still {
            Motion::Reduced
        } else if moving {
            Motion::Full
        } else {
            Motion::Paused
        };
        self.paint_canvas(dt_s, motion);
        self.beside(|app| app.paint_canvas(dt_s, motion));
        if with_tracks
            && let Some(canvas) = self.refs.tracks.cast::<HtmlCanvasElement>()
            && let Some((context, _, _)) = fit(&canvas)
            && !self.plot.kinds.is_empty()
        {
            self.paint_tracks(&context, self.hover_s, false);
        }
        self.paint_due = !with_tracks;
    }

    fn paint_canvas(&mut self, dt_s: f64, motion: Motion) {
        if let Some(canvas) = self.refs.picture.cast::<HtmlCanvasElement>()
            && let Some((context, _, _)) = fit(&canvas)
        {
            self.paint_picture(&context, dt_s, motion, false);
        }
    }

    /// Paints the picture; `elsewhere` is a context that is not the page's.
    fn paint_picture(
        &mut self,
        context: &CanvasRenderingContext2d,
        dt_s: f64,
        motion: Motion,
        elsewhere: bool,
    ) {
        let speed = if self.mode == Mode::Live { 1.0 } else { self.speed };
        let feed = match self.mode {
            Mode::Live => self.live.feed.as_ref(),
            _ => self.run.as_ref(),
        };
        let Some(feed) = feed else { return };
        let paint = if elsewhere { Picture::paint_elsewhere } else { Picture::paint };
        let pace = Pace { dt_s, speed: speed.min(1e6), motion };
        paint(&mut self.picture, context, &self.boxes, &feed.model, &self.theme, pace);
    }

    /// Paints the tracks; `elsewhere` is a context that is not the page's.
    fn paint_tracks(&mut self, context: &CanvasRenderingContext2d, hover_s: Option<f64>, elsewhere: bool) {
        let live = self.mode == Mode::Live;
        let feed = if live { self.live.feed.as_ref() } else { self.run.as_ref() };
        let Some(feed) = feed else { return };
        let tracks = self.plot.tracks();
        let events: Vec<_> =
            if live { Vec::new() } else { self.flags.iter().map(|f| (f.at_s, f.tone)).collect() };
        let history = TrackHistory {
            version: self.track_version,
            start_s: self.plot.start_s,
            step_s: self.plot.step_s,
            span_s: self.span_s,
            warmup_s: if live { 0.0 } else { feed.scenario.warmup.as_secs_f64() },
            playhead_s: feed.now_s(),
            hover_s,
            tracks: &tracks,
            events: &events,
        };
        let paint = if elsewhere { Tracks::paint_elsewhere } else { Tracks::paint };
        paint(&mut self.tracks, context, &self.track_boxes, &history, &self.theme);
    }

    fn place_playhead(&self) {
        let Some(head) = self.refs.playhead.cast::<HtmlElement>() else { return };
        let part = self.part(self.now_s());
        let _ = head.style().set_property("left", &format!("{:.3}%", part * 100.0));
    }

    /// Where a moment lies on the time axis, 0 to 1.
    #[must_use]
    pub fn part(&self, s: f64) -> f64 {
        let (from, to) = self.span_s;
        if to > from { ((s - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Applies theme and language to the document.
    fn dress(&mut self) {
        let Some(root) = window().document().and_then(|d| d.document_element()) else { return };
        let dark = self.prefs.dark();
        self.theme = match dark {
            _ if Prefs::forced_colours() => Theme::FORCED,
            true => Theme::DARK,
            false => Theme::LIGHT,
        };
        let _ = root.set_attribute("data-theme", if dark { "dark" } else { "light" });
        let _ = root.set_attribute("lang", self.prefs.language.tag());
        self.text_due = true;
        self.story_ms = f64::NEG_INFINITY;
        self.paint_due = true;
        self.layout_due = true;
        self.track_version += 1;
        if let Some(scenario) = self.checked.as_ref().filter(|_| self.run.is_some()) {
            self.flags = flags(scenario, self.prefs.language.words());
        }
    }

    // ----- commands -----

    fn obey(&mut self, ctx: &Context<Self>, command: Do) {
        match command {
            Do::Address => {
                let address = Address::parse(&window().location().hash().unwrap_or_default());
                if let Some(lang) = address.get("lang") {
                    self.speak(ctx, Language::of(lang));
                }
                self.open_address(ctx, &address);
            }
            Do::PlayPause => self.play_pause(),
            Do::Seek(s) => self.seek(s),
            Do::Move(s) => self.seek(self.now_s() + s),
            Do::Step(forward) => {
                self.playing = false;
                let step = (self.horizon_s() / 1800.0).max(0.001);
                self.seek(self.now_s() + if forward { step } else { -step });
            }
            Do::StepEvent(forward) => {
                self.playing = false;
                self.order(Order::StepEvent { run: self.run_number, back: !forward });
            }
            Do::StepDecision => {
                self.playing = false;
                self.order(Order::StepDecision { run: self.run_number });
            }
            Do::NextFlag(forward) => self.next_flag(forward),
            Do::Speed(speed) => self.set_speed(speed),
            Do::Seed(seed) => self.set_seed(seed),
            Do::Dice => self.set_seed(1 + (js_sys::Math::random() * 9998.0) as u64),
            Do::Toggle(section) => self.section = (self.section != Some(section)).then_some(section),
            Do::Open(section) => {
                self.section = Some(section);
                self.sheet = true;
            }
            Do::Why(stage, class) => {
                let lane = Some((stage, class));
                self.why = if self.why == lane { None } else { lane };
                self.section = Some(Section::Stage(stage));
                self.sheet = true;
            }
            Do::WhyServer => {
                self.why_server = !self.why_server;
                self.section = Some(Section::Balancer);
            }
            Do::Dialog(dialog) => {
                self.dialog = dialog;
                if dialog == Some(Dialog::Presets) {
                    self.want_cards(ctx);
                }
                self.find.typed.clear();
                self.find.at = 0;
                self.share_at = false;
            }
            Do::Mode(mode) => self.set_mode(ctx, mode),
            Do::Language => {
                let language = self.prefs.language.other();
                Prefs::keep("lang", language.code());
                self.speak(ctx, language);
            }
            Do::Theme => {
                self.prefs.theme = ThemeChoice::other(self.prefs.dark());
                Prefs::keep("theme", self.prefs.theme.code());
                self.dress();
            }
            Do::Preset(name) => {
                if !self.have_preset(ctx, name, command) {
                    return;
                }
                self.dialog = None;
                self.claim = None;
                self.tour.step = None;
                // In a comparison it takes the place of the side that is edited.
                if self.mode != Mode::Compare {
                    self.set_mode(ctx, Mode::Explore);
                }
                self.playing = !self.prefs.still;
                self.open_preset(name, 0.0);
                self.beside(|app| app.seek(0.0));
                self.write_address(true);
            }
            Do::Undo => self.undo(false),
            Do::Redo => self.undo(true),
            Do::FoldEdits => self.fold_edits(),
            Do::Copy(text) => self.copy(ctx, &text),
            Do::Focus => {
                self.focus = !self.focus;
                self.layout_due = true;
            }
            Do::Sheet(shown) => self.sheet = shown,
            Do::Letters(on) => {
                self.prefs.letters = on;
                Prefs::keep("letters", if on { "on" } else { "off" });
            }
            Do::Still(on) => {
                self.prefs.still = on;
                Prefs::keep("motion", if on { "reduced" } else { "full" });
            }
            Do::Dismiss => self.notice = None,
            Do::PlayHeavy => {
                self.notice = None;
                self.playing = true;
            }
            Do::AddEvent => {
                let at_us = edit::us((self.now_s() * 10.0).round() / 10.0);
                self.section = Some(Section::Events);
                self.edit(Edit {
                    field: "events".to_owned(),
                    typed: String::new(),
                    change: Some(Box::new(move |s| edit::add_event(s, at_us))),
                });
            }
            Do::PlayLog(both) => {
                self.forget_log(ctx);
                self.play_log();
                match self.mode {
                    _ if !self.with_log => {}
                    Mode::Compare => {}
                    _ if both => self.set_mode(ctx, Mode::Compare),
                    _ => self.set_mode(ctx, Mode::Replay),
                }
            }
            Do::RaiseRate => self.edit(Edit {
                field: "classes[0].load".to_owned(),
                typed: String::new(),
                change: Some(Box::new(|s| {
                    if let Some(class) = s.classes.first_mut() {
                        class.load = edit::Kind::Poisson.with_rate(20.0, &class.name);
                    }
                })),
            }),
            Do::ShareAt(on) => self.share_at = on,
            Do::Connect(address) => {
                self.live.connect(&address, ctx.link());
                self.write_address(false);
            }
            Do::Disconnect => self.live.disconnect(),
            Do::TakeLive => {
                if let Some(feed) = &self.live.feed {
                    let wire = feed.scenario.wire().clone();
                    self.set_mode(ctx, Mode::Explore);
                    self.open(Parsed::from(wire), None, 0.0);
                    self.write_address(true);
                }
            }
            Do::Reload => {
                let _ = window().location().reload();
            }
            Do::Compare(command) => self.compare(ctx, command),
            Do::Hand(command) => self.handover(ctx, command),
            Do::Find(command) => self.find(command),
            Do::Text(command) => self.text(ctx, command),
            Do::Tour(command) => self.tour(ctx, command),
            Do::Record(command) => self.record(ctx, command),
            Do::Replay(command) => self.replay(command),
        }
    }

    /// Has picks written down exactly while somebody looks at them: each costs a list.
    fn ask_for_decisions(&mut self) {
        let on = self.why_server && self.section == Some(Section::Balancer) && self.mode != Mode::Live;
        if on != self.explains {
            self.explains = on;
            self.order(Order::Explain { on });
            if on && !self.playing {
                // What led to the present moment was not written down.
                self.seek(self.now_s());
            }
        }
    }

    fn play_pause(&mut self) {
        if self.mode == Mode::Live {
            return;
        }
        if !self.playing && self.over() {
            self.seek(0.0);
        }
        self.playing = !self.playing;
        self.owed_s = 0.0;
        if !self.playing {
            self.address_due = Some(self.now_ms + ADDRESS_MS);
        }
    }

    fn seek(&mut self, to_s: f64) {
        if self.mode == Mode::Live || self.run.is_none() {
            return;
        }
        self.owed_s = 0.0;
        self.awaited = true;
        let to_s = to_s.clamp(0.0, self.horizon_s());
        self.order(Order::Seek { run: self.run_number, to_s });
        self.beside(|app| app.seek(to_s));
    }

    fn next_flag(&mut self, forward: bool) {
        let now = self.now_s();
        let mut moments = self.flags.iter().map(|f| f.at_s);
        let to = if forward {
            moments.find(|&s| s > now + 0.05).unwrap_or(self.horizon_s())
        } else {
            moments.rfind(|&s| s < now - 0.05).unwrap_or(0.0)
        };
        self.seek(to);
    }

    fn set_speed(&mut self, speed: f64) {
        if speed > SPEEDS.1 {
            self.speed = f64::INFINITY;
        } else if speed > 0.0 {
            self.speed = speed.max(SPEEDS.0);
        }
    }

    fn set_seed(&mut self, seed: u64) {
        self.edit(Edit {
            field: "run.seed".to_owned(),
            typed: seed.to_string(),
            change: Some(Box::new(move |s| s.run.seed = seed)),
        });
    }

    fn set_mode(&mut self, ctx: &Context<Self>, mode: Mode) {
        if self.mode == mode {
            return;
        }
        if mode != Mode::Compare {
            self.edit_side(false);
        }
        self.mode = mode;
        if mode == Mode::Compare {
            self.enter_compare(ctx, None, self.now_s());
        }
        self.picture.reset();
        self.layout_due = true;
        self.story_ms = f64::NEG_INFINITY;
        self.hover_s = None;
        match mode {
            Mode::Live => {
                if !self.live.wanted() {
                    let address = self.live.address.clone();
                    self.live.connect(&address, ctx.link());
                }
            }
            _ => self.live.disconnect(),
        }
        self.address_due = Some(self.now_ms + ADDRESS_MS);
        let title = self.title();
        window().document().inspect(|d| d.set_title(&format!("{title} – Tidegate")));
    }

    fn copy(&mut self, ctx: &Context<Self>, text: &str) {
        let promise = window().navigator().clipboard().write_text(text);
        // The answer comes later, and only matters if it is no.
        let (yes, no) = (self.words().copied, self.words().not_copied);
        self.toast = Some((yes.to_owned(), self.now_ms + 1600.0));
        let link = ctx.link().clone();
        let failed = Closure::once_into_js(move |_: JsValue| {
            link.send_message(Msg::Live(live::Event::Toast(no.to_owned())));
        });
        let _ = promise.catch(&Closure::wrap(Box::new(move |v: JsValue| {
            let _ = failed.unchecked_ref::<js_sys::Function>().call1(&JsValue::NULL, &v);
        }) as Box<dyn FnMut(JsValue)>));
    }

    // ----- editing -----

    fn set_wrong(&mut self, field: String, typed: String, error: Option<ScenarioError>) {
        self.wrong.retain(|w| w.field != field);
        self.wrong.push(Wrong { field, typed, error });
    }

    /// What is wrong with a field, if anything.
    #[must_use]
    pub fn wrong_at(&self, field: &str) -> Option<&Wrong> {
        self.wrong.iter().find(|w| w.field == field)
    }

    /// Runs the changed scenario, and stands where the playhead stood.
    fn rerun(&mut self) {
        self.preset = None;
        self.claim = None;
        self.notice = None;
        self.text.forget();
        let at_s = if self.over() { 0.0 } else { self.run.as_ref().map_or(0.0, Feed::now_s) };
        self.begin(at_s);
        self.address_due = Some(self.now_ms + ADDRESS_MS);
    }

    /// Whether the tracks show what is expected of a live system.
    #[must_use]
    pub fn is_predicted(&self) -> bool {
        self.mode == Mode::Live && !self.predict.means.is_empty()
    }

    /// Whether the tracks show a run before an edit.
    #[must_use]
    pub fn has_ghost(&self) -> bool {
        self.ghost.is_some() && !matches!(self.mode, Mode::Live | Mode::Compare)
    }

    // ----- files -----

    fn read_file(&mut self, ctx: &Context<Self>, file: &web_sys::File) {
        self.dragging = false;
        self.dialog = None;
        let name = file.name();
        self.notice = Some(Notice::Reading(name.clone()));
        self.replay.file = Some(file.clone());
        if file.size() > LONGEST_SCENARIO_FILE {
            return self.read_log(ctx);
        }
        let buffer = file.array_buffer();
        ctx.link().send_future(async move {
            let content = match wasm_bindgen_futures::JsFuture::from(buffer).await {
                Ok(value) => Ok(js_sys::Uint8Array::new(&value).to_vec()),
                Err(reason) => Err(text_of(&reason)),
            };
            Msg::FileRead(name, content)
        });
    }

    fn take_file(&mut self, ctx: &Context<Self>, name: String, content: Result<Vec<u8>, String>) {
        let bytes = match content {
            Ok(bytes) => bytes,
            Err(reason) => {
                self.notice = Some(Notice::LogBad(name, reason, String::new()));
                return;
            }
        };
        // A scenario file or a saved link opens as such; everything else is a log.
        let Some(text) = scenario_text(&bytes) else { return self.read_log(ctx) };
        match share::open(text) {
            Ok(parsed) => {
                self.open(parsed, None, 0.0);
                self.write_address(true);
            }
            Err(share::Refusal::Newer(newer)) => self.notice = Some(Notice::Newer(newer)),
            Err(share::Refusal::Damaged(reason) | share::Refusal::Bad(reason)) => {
                self.notice = Some(Notice::Bad(reason));
            }
        }
    }

    fn play_log(&mut self) {
        let Some(log) = self.log.clone() else { return };
        // A scenario that waits for this log takes it as it is.
        let contents = &log.told.contents;
        let fits = matches!(self.notice, Some(Notice::Log(_))) && contents.fits(&self.parsed.wire);
        let mut parsed = self.parsed.clone();
        if !fits {
            let others = self.words().other_requests;
            contents.play(&mut parsed.wire, others);
            parsed.wire.title = log.name.chars().take(80).collect();
            parsed.wire.about.clear();
        }
        match Scenario::check(parsed.wire.clone()) {
            Err(error) => self.notice = Some(Notice::Bad(error.to_string())),
            Ok(scenario) => {
                self.remember_edit();
                self.parsed = parsed;
                // Minutes to days of traffic: about a minute to watch.
                self.speed = speed_to_watch(contents.span_s, 90.0);
                self.preset = None;
                self.claim = None;
                self.ghost = None;
                self.adopt_log();
                self.notice = None;
                self.playing = !self.prefs.still;
                self.section = Some(Section::Traffic);
                self.start(scenario, 0.0);
                self.write_address(true);
            }
        }
    }

    // ----- the address -----

    /// Writes what is looked at into the address; as a new entry of the browser's history, or in place.
    fn write_address(&mut self, push: bool) {
        if self.embedded() {
            return; // the address is the page's around us
        }
        let hash = if let Some(step) = self.tour.step {
            format!("#tour={}", step + 1)
        } else if self.mode == Mode::Live {
            let mut hash = "#mode=live".to_owned();
            if !self.live.address.is_empty() {
                hash.push_str(&format!("&server={}", escape(&self.live.address)));
            }
            hash
        } else {
            let mut hash = match (self.compare_address(), self.preset) {
                (Some((a, b)), _) => a + &b,
                (None, Some(name)) => format!("#preset={name}"),
                (None, None) => share::fragment(&self.parsed),
            };
            if !self.playing && self.now_s() > 0.0 && !self.over() && !push {
                hash.push_str(&format!(
                    "&at={}&play=0",
                    figures::typed((self.now_s() * 10.0).round() / 10.0)
                ));
            }
            hash
        };
        let Ok(history) = window().history() else { return };
        let _ = if push {
            history.push_state_with_url(&JsValue::NULL, "", Some(&hash))
        } else {
            history.replace_state_with_url(&JsValue::NULL, "", Some(&hash))
        };
    }

    // ----- pointer and keys -----

    fn point(&mut self, x: Option<f64>, dragging: bool) -> bool {
        let at = x.map(|x| {
            let w = self.track_boxes.plot_w.max(1.0);
            self.span_s.0 + (x / w).clamp(0.0, 1.0) * (self.span_s.1 - self.span_s.0)
        });
        self.paint_due = true;
        if dragging {
            if let Some(s) = at {
                self.playing = false;
                self.seek(s);
                self.address_due = Some(self.now_ms + ADDRESS_MS);
            }
        } else {
            self.hover_s = at;
            self.text_due = true;
        }
        false
    }

    fn key(&mut self, ctx: &Context<Self>, e: &KeyboardEvent) -> bool {
        let target = e.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok());
        let tag = target.as_ref().map(web_sys::Element::tag_name).unwrap_or_default();
        let key = e.key();
        if (e.ctrl_key() || e.meta_key())
            && key.eq_ignore_ascii_case("z")
            && tag != "INPUT"
            && tag != "TEXTAREA"
        {
            e.prevent_default();
            self.obey(ctx, if e.shift_key() { Do::Redo } else { Do::Undo });
            self.text_due = true;
            return true;
        }
        if (e.ctrl_key() || e.meta_key()) && key.eq_ignore_ascii_case("k") {
            e.prevent_default();
            let open = self.dialog == Some(Dialog::Palette);
            self.obey(ctx, Do::Dialog((!open).then_some(Dialog::Palette)));
            return true;
        }
        if e.ctrl_key() || e.meta_key() || e.alt_key() {
            return false;
        }
        let in_tour = || target.as_ref().and_then(|t| t.closest("#tour").ok().flatten()).is_some();
        if matches!(key.as_str(), "ArrowLeft" | "ArrowRight") && in_tour() {
            e.prevent_default();
            self.obey(ctx, Do::Tour(tour::Do::By(key == "ArrowRight")));
            return true;
        }
        if key == "Escape" {
            if self.tour.step.is_some() && self.dialog.is_none() {
                self.obey(ctx, Do::Tour(tour::Do::Leave));
                return true;
            }
            if self.notice.is_some() && self.dialog.is_none() {
                self.notice = None;
                return true;
            }
            if self.record.open && self.dialog.is_none() {
                self.record = record::State::default();
                return true;
            }
            if self.sheet && self.dialog.is_none() {
                self.sheet = false;
                return true;
            }
            return false; // an open dialog closes itself
        }
        if matches!(tag.as_str(), "INPUT" | "TEXTAREA" | "SELECT") || self.dialog.is_some() {
            return false;
        }
        let on_button = tag == "BUTTON";
        let role = target.and_then(|t| t.get_attribute("role")).unwrap_or_default();
        let on_slider = role == "slider" || role == "tab";
        let command = crate::keys::command(&key, e.shift_key(), self, on_button, on_slider);
        let Some(command) = command.filter(|command| self.has_meaning(command)) else { return false };
        e.prevent_default();
        self.obey(ctx, command);
        self.text_due = true;
        true
    }

    // ----- live -----

    fn hear_live(&mut self, event: live::Event) -> bool {
        if let live::Event::Toast(text) = event {
            self.toast = Some((text, self.now_ms + 4000.0));
            return true;
        }
        let before = self.live.feed.as_ref().map(|f| f.cast.clone());
        self.live.hear(event, self.now_ms);
        self.paint_due = true;
        if self.live.feed.as_ref().map(|f| &f.cast) != before.as_ref() {
            self.picture.reset();
            self.layout_due = true;
            self.story_ms = f64::NEG_INFINITY;
            self.plotted = (u64::MAX, 0, self.mode, None);
            return true;
        }
        false
    }
}

/// First 48 bits of a run's hash, as links carry them.
#[must_use]
pub fn short_hash(hash: u64) -> String {
    format!("{:012x}", hash >> 16)
}

/// The page's own address without what is behind `#`.
fn base_url() -> String {
    let location = window().location();
    let origin = location.origin().unwrap_or_default();
    let path = location.pathname().unwrap_or_default();
    format!("{origin}{path}")
}

/// Text of a scenario file or link, if the bytes look like one rather than like a log.
fn scenario_text(bytes: &[u8]) -> Option<&str> {
    let text = core::str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}').trim();
    let json = text.starts_with('{') && text.ends_with('}') && text.contains("\"tidegate\"");
    let link = !text.contains('\n') && text.contains("#t1");
    (json || link).then_some(text)
}

fn text_of(value: &JsValue) -> String {
    value
        .dyn_ref::<js_sys::Error>()
        .map(|e| String::from(e.message()))
        .or_else(|| value.as_string())
        .unwrap_or_default()
}

fn start_worker(link: &yew::html::Scope<App>, number: usize) -> Result<web_sys::Worker, JsValue> {
    let options = web_sys::WorkerOptions::new();
    options.set_type(web_sys::WorkerType::Module);
    let worker = web_sys::Worker::new_with_options("./worker.js", &options)?;
    let heard = link.callback(move |event| Msg::Heard(number, event));
    let hear = Closure::<dyn Fn(MessageEvent)>::new(move |e| heard.emit(e));
    worker.set_onmessage(Some(hear.as_ref().unchecked_ref()));
    hear.forget(); // as long as the page
    let broke = link.callback(Msg::Broke);
    // A worker that cannot load its module reports an event without a message.
    let fail = Closure::<dyn Fn(JsValue)>::new(move |e: JsValue| {
        let message =
            e.dyn_ref::<web_sys::ErrorEvent>().map(web_sys::ErrorEvent::message).unwrap_or_default();
        broke.emit(if message.is_empty() { "worker.js".to_owned() } else { message });
    });
    worker.set_onerror(Some(fail.as_ref().unchecked_ref()));
    fail.forget(); // as long as the page
    worker.post_message(&wasm_bindgen::module())?;
    Ok(worker)
}

/// Paints at display rate; stops by itself while the tab is hidden.
fn start_painting(link: &yew::html::Scope<App>) {
    use std::cell::RefCell;
    use std::rc::Rc;
    type Frame = Closure<dyn FnMut(f64)>;
    fn next(frame: &Rc<RefCell<Option<Frame>>>) {
        if let Some(frame) = frame.borrow().as_ref() {
            let _ = window().request_animation_frame(frame.as_ref().unchecked_ref());
        }
    }
    let frame: Rc<RefCell<Option<Frame>>> = Rc::default();
    let again = Rc::clone(&frame);
    let paint = link.callback(Msg::Paint);
    *frame.borrow_mut() = Some(Closure::new(move |now: f64| {
        paint.emit(now);
        next(&again);
    }));
    next(&frame);
}

impl Ears {
    fn listen(link: &yew::html::Scope<App>) -> Self {
        let mut ears = Self::default();
        let window = window();
        ears.hear(&window, "resize", link, |_: web_sys::Event| Some(Msg::Resized));
        ears.hear(&window, "hashchange", link, |_: web_sys::Event| Some(Msg::Address));
        ears.hear(&window, "keydown", link, |e: KeyboardEvent| Some(Msg::Key(e)));
        ears.hear(&window, "dragover", link, |e: web_sys::DragEvent| {
            e.prevent_default();
            Some(Msg::DragOver(true))
        });
        ears.hear(&window, "dragleave", link, |e: web_sys::DragEvent| {
            e.related_target().is_none().then_some(Msg::DragOver(false))
        });
        ears.hear(&window, "drop", link, |e: web_sys::DragEvent| {
            e.prevent_default();
            let file = e.data_transfer().and_then(|d| d.files()).and_then(|f| f.get(0));
            Some(file.map_or(Msg::DragOver(false), Msg::File))
        });
        ears.hear(&window, "message", link, |e: MessageEvent| handover::asked(&e));
        for (name, begins) in [("beforeprint", true), ("afterprint", false)] {
            let printing = Do::Hand(handover::Do::Printing(begins));
            ears.hear(&window, name, link, move |_: web_sys::Event| Some(Msg::Do(printing.clone())));
        }
        for query in ["(prefers-color-scheme: dark)", "(forced-colors: active)"] {
            if let Ok(Some(list)) = window.match_media(query) {
                ears.hear(&list, "change", link, |_: web_sys::Event| Some(Msg::System));
            }
        }
        ears
    }

    fn hear<E: JsCast + 'static>(
        &mut self,
        target: &web_sys::EventTarget,
        name: &str,
        link: &yew::html::Scope<App>,
        msg: impl Fn(E) -> Option<Msg> + 'static,
    ) {
        let link = link.clone();
        let closure = Closure::<dyn Fn(web_sys::Event)>::new(move |e: web_sys::Event| {
            if let Some(msg) = e.dyn_into::<E>().ok().and_then(&msg) {
                link.send_message(msg);
            }
        });
        let _ = target.add_event_listener_with_callback(name, closure.as_ref().unchecked_ref());
        self.kept.push(Box::new(closure));
    }
}

/// `fill` for one figure, for views.
#[must_use]
pub fn with(text: &str, value: &str) -> String {
    fill(text, &[value])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_told_once() {
        let news = News::default();
        assert_eq!(news.take(), [(1, true); PARTS], "all of a page that was never rendered");
        assert_eq!(news.take(), [(1, false); PARTS]);
        news.note([false, true, false]);
        news.note([false; PARTS]);
        assert_eq!(news.take(), [(1, false), (2, true), (1, false)]);
        news.note([true, false, false]);
        news.note([false, true, false]);
        assert_eq!(news.take(), [(2, true), (3, true), (1, false)]);
    }
}
