//! Handing over: pictures, tables and files of a run, embedding, and what other pages may ask of an embedded one.

use super::{App, Edit, Mode, Msg};
use crate::address::Address;
use crate::draw::{Motion, Theme};
use crate::embed::{self, Ask, Control, Fault};
use crate::figures;
use crate::library;
use crate::words::fill;
use serde_json::{Map, Value};
use tidegate_core::json;
use tidegate_core::link;
use tidegate_core::scenario::v1::ScenarioV1;
use tidegate_core::scenario::{Parsed, Scenario};
use tidegate_core::sim;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{CanvasRenderingContext2d, MessageEvent};
use yew::prelude::*;

/// Width of a page of A4 between its margins, in CSS pixels.
const PAPER_PX: f64 = 688.0;

#[wasm_bindgen]
extern "C" {
    /// Loads `handover.js`.
    #[wasm_bindgen(js_namespace = tidegate, js_name = handover, catch)]
    pub(super) fn load_tools() -> Result<js_sys::Promise, JsValue>;

    /// What `handover.js` exports.
    #[derive(Clone, Debug, PartialEq)]
    pub type Tools;

    #[wasm_bindgen(method)]
    fn save(this: &Tools, name: &str, content: &str);

    #[wasm_bindgen(method, catch)]
    fn picture(
        this: &Tools,
        name: &str,
        selectors: &str,
        title: &str,
        about: &str,
        paint: &mut dyn FnMut(String, JsValue),
    ) -> Result<js_sys::Promise, JsValue>;

    #[wasm_bindgen(method)]
    fn print(this: &Tools, report: &str, words: &str);

    #[wasm_bindgen(method)]
    pub(super) fn make(this: &Tools, what: &str, text: &str, log: Option<&web_sys::File>) -> js_sys::Promise;
}

/// A page in a frame.
#[derive(Clone, Debug)]
pub struct Embed {
    /// The controls it shows.
    pub controls: Vec<Control>,
    /// The scenario as it was opened: its loads are those of factor 1.
    pub base: Option<Box<ScenarioV1>>,
}

/// What is being handed over.
#[derive(Clone, Debug)]
pub struct State {
    /// Set if the page is in a frame.
    pub embed: Option<Embed>,
    /// Which of [`embed::NAMES`] the snippet has.
    pub exposed: Vec<usize>,
    /// A link's QR code: the link, side, and path.
    pub qr: Option<(String, String, String)>,
    /// The file of the log that is played.
    pub(super) log: Option<web_sys::File>,
    tools: Option<Tools>,
}

impl Default for State {
    fn default() -> Self {
        Self { embed: None, exposed: vec![0, 1], qr: None, log: None, tools: None }
    }
}

impl State {
    /// As the address says.
    #[must_use]
    pub fn of(address: &Address) -> Self {
        let embed = (address.get("embed") == Some("1"))
            .then(|| Embed { controls: Control::list(address.get("ctl").unwrap_or("")), base: None });
        Self { embed, ..Self::default() }
    }
}

/// What is saved as a file; its name ends in what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The picture.
    Picture,
    /// The history tracks, drawn.
    Tracks,
    /// The history tracks, as numbers.
    History,
    /// The report.
    Report,
    /// The scenario.
    Scenario,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// Saves something as a file of that kind (`csv`, `json`, `png`, `svg`, `toml`).
    Save(What, &'static str),
    /// Shows the QR code of the shared link.
    Qr,
    /// Prints the page with a report.
    Print,
    /// The tools are there; what they were loaded for.
    Loaded(Tools, Box<Do>),
    /// A text that was made, or why not; what it is for.
    Made(Use, Result<String, String>),
    /// Shows or hides one of [`embed::NAMES`] in the snippet.
    Expose(usize, bool),
    /// A message from the page around: its text, and the origin it is from.
    Asked(String, String),
    /// The page is about to be printed, or was.
    Printing(bool),
}

/// What a text is for that takes time to make.
#[derive(Clone, Debug, PartialEq)]
pub enum Use {
    /// A file of this name.
    File(String),
    /// The QR code of this link.
    Qr(String),
    /// The Chinese words.
    Words,
    /// The built-in scenarios, for this.
    Presets(Option<Box<super::Do>>),
    /// To be printed.
    Print,
    /// The answer to the message with this id, to this origin.
    Answer(Value, String),
    /// Nothing more to do: it is saved under this name.
    Done(String),
}

/// Answers a message that cannot be obeyed.
pub(super) fn refuse(message: &str, origin: &str, reason: &str) {
    if let Some(message) = embed::read(message) {
        tell(&embed::answer(&message.id, Err(Fault::new(reason.to_owned()))), origin);
    }
}

/// Listens to the page around, if there is one. Only the parent is heard.
pub(super) fn asked(event: &MessageEvent) -> Option<Msg> {
    let parent = super::window().parent().ok()??;
    let source = event.source()?;
    let from_parent = js_sys::Object::is(&source, &parent) && !js_sys::Object::is(&parent, &super::window());
    let text = from_parent.then(|| js_sys::JSON::stringify(&event.data()).ok()).flatten()?;
    Some(Msg::Do(super::Do::Hand(Do::Asked(text.into(), event.origin()))))
}

/// Sends a message to the page around. The origin of a page without one is written `null`, which is none to send to.
fn tell(json: &str, origin: &str) {
    let Ok(Some(parent)) = super::window().parent() else { return };
    let origin = if origin == "null" { "*" } else { origin };
    if let Ok(value) = js_sys::JSON::parse(json) {
        let _ = parent.post_message(&value, origin);
    }
}

/// Context of a canvas of the page, scaled as it was painted on last.
fn context_of(canvas: &NodeRef) -> Option<CanvasRenderingContext2d> {
    canvas.cast::<web_sys::HtmlCanvasElement>()?.get_context("2d").ok()??.dyn_into().ok()
}

impl App {
    /// Whether the page is in a frame of another.
    #[must_use]
    pub const fn embedded(&self) -> bool {
        self.handover.embed.is_some()
    }

    /// Whether a command by key has a meaning here.
    pub(super) fn has_meaning(&self, command: &super::Do) -> bool {
        use super::Do::{Move, NextFlag, PlayPause, Seek, Speed, Step, StepDecision, StepEvent};
        let moves = matches!(
            command,
            PlayPause | Seek(_) | Move(_) | Step(_) | StepEvent(_) | StepDecision | NextFlag(_) | Speed(_)
        );
        moves || !self.embedded()
    }

    pub(super) fn handover(&mut self, ctx: &Context<Self>, command: Do) {
        match command {
            Do::Expose(at, on) => {
                let exposed = &mut self.handover.exposed;
                exposed.retain(|&i| i != at);
                if on {
                    // The first of three makes room.
                    if exposed.len() == 2 {
                        exposed.remove(0);
                    }
                    exposed.push(at);
                }
            }
            Do::Asked(text, origin) => self.asked(ctx, &text, &origin),
            Do::Printing(begins) => self.printing(begins),
            Do::Loaded(tools, then) => {
                self.handover.tools = Some(tools);
                self.handover(ctx, *then);
            }
            Do::Made(purpose, result) => self.made(ctx, purpose, result),
            Do::Save(..) | Do::Qr | Do::Print => match self.handover.tools.clone() {
                Some(tools) => self.hand(ctx, &tools, &command),
                None => Self::load(ctx, command),
            },
        }
    }

    /// Loads the tools, then does what they are needed for.
    fn load(ctx: &Context<Self>, then: Do) {
        ctx.link().send_future(async move {
            let loaded = match load_tools() {
                Ok(promise) => JsFuture::from(promise).await,
                Err(reason) => Err(reason),
            };
            Msg::Do(super::Do::Hand(match loaded {
                Ok(tools) => Do::Loaded(tools.unchecked_into(), Box::new(then)),
                Err(reason) => Do::Made(Use::Done(String::new()), Err(super::text_of(&reason))),
            }))
        });
    }

    /// Waits for a text, then uses it.
    pub(super) fn wait(&mut self, ctx: &Context<Self>, promise: js_sys::Promise, purpose: Use) {
        ctx.link().send_future(async move {
            let result = JsFuture::from(promise).await;
            let result = result.map(|text| text.as_string().unwrap_or_default());
            Msg::Do(super::Do::Hand(Do::Made(purpose, result.map_err(|reason| super::text_of(&reason)))))
        });
    }

    pub(super) fn say(&mut self, text: String, for_ms: f64) {
        self.toast = Some((text, self.now_ms + for_ms));
        self.text_due = true;
    }

    /// Begin of a file's name: the title, as far as every file system takes it.
    #[must_use]
    pub fn file_stem(&self) -> String {
        let mut stem = String::new();
        for c in self.shown_wire().title.chars().take(40) {
            if c.is_ascii_alphanumeric() || !c.is_ascii() {
                stem.push(c.to_ascii_lowercase());
            } else if !stem.is_empty() && !stem.ends_with('-') {
                stem.push('-');
            }
        }
        match (self.preset, stem.trim_end_matches('-')) {
            (Some(name), _) if self.mode != Mode::Live => name.to_owned(),
            (_, "") => "scenario".to_owned(),
            (_, stem) => stem.to_owned(),
        }
    }

    /// The scenario that is looked at.
    fn shown_wire(&self) -> &ScenarioV1 {
        match &self.live.feed {
            Some(feed) if self.mode == Mode::Live => feed.scenario.wire(),
            _ => &self.parsed.wire,
        }
    }

    fn shown_parsed(&self) -> Parsed {
        match self.mode {
            Mode::Live => Parsed::from(self.shown_wire().clone()),
            _ => self.parsed.clone(),
        }
    }

    fn log_played(&self) -> Option<&web_sys::File> {
        self.handover.log.as_ref().filter(|_| self.with_log)
    }

    /// Does what tools are needed for.
    fn hand(&mut self, ctx: &Context<Self>, tools: &Tools, command: &Do) {
        let json = || self.shown_parsed().to_canonical_json();
        match *command {
            Do::Save(what, kind) => {
                let suffix = match what {
                    What::Scenario => "",
                    What::Picture => "-picture",
                    What::Tracks => "-tracks",
                    What::History => "-history",
                    What::Report => "-report",
                };
                let name = format!("{}{suffix}.{kind}", self.file_stem());
                let text = match (what, kind) {
                    (What::Picture, _) => return self.draw(ctx, tools, name, ".story, .scene"),
                    (What::Tracks, _) => return self.draw(ctx, tools, name, ".tracks"),
                    (What::History, _) => self.feed().map(|feed| feed.history.to_csv()).unwrap_or_default(),
                    (What::Scenario, "json") => self.shown_parsed().to_pretty_json(),
                    _ => {
                        let promise = tools.make(kind, &json(), self.log_played());
                        self.say(self.prefs.language.handover().working.to_owned(), 60_000.0);
                        return self.wait(ctx, promise, Use::File(name));
                    }
                };
                tools.save(&name, &text);
                self.made(ctx, Use::Done(name), Ok(String::new()));
            }
            Do::Qr => {
                let link = self.shared_link();
                let promise = tools.make("qr", &link, None);
                self.wait(ctx, promise, Use::Qr(link));
            }
            _ => {
                let promise = tools.make("json", &json(), self.log_played());
                self.say(self.prefs.language.handover().working.to_owned(), 60_000.0);
                self.wait(ctx, promise, Use::Print);
            }
        }
    }

    fn made(&mut self, ctx: &Context<Self>, purpose: Use, result: Result<String, String>) {
        let w = self.prefs.language.handover();
        let text = match (result, &purpose) {
            (Err(reason), Use::Answer(id, origin)) => {
                return tell(&embed::answer(id, Err(Fault::new(reason))), origin);
            }
            (Err(reason), _) => return self.say(fill(w.failed, &[&reason]), 6000.0),
            (Ok(text), _) => text,
        };
        match purpose {
            Use::File(name) => {
                if let Some(tools) = &self.handover.tools {
                    tools.save(&name, &text);
                }
                self.say(fill(w.saved, &[&name]), 3000.0);
            }
            Use::Done(name) => self.say(fill(w.saved, &[&name]), 3000.0),
            Use::Qr(link) => {
                if let Some((side, path)) = text.split_once(' ') {
                    self.handover.qr = Some((link, side.to_owned(), path.to_owned()));
                }
            }
            Use::Words => self.learn(&text),
            Use::Presets(then) => self.shelve(ctx, &text, then.map(|then| *then)),
            Use::Print => {
                self.toast = None;
                // What the browser says of its beginning is heard only when it is over: it comes while we are called.
                self.printing(true);
                if let Some(tools) = &self.handover.tools {
                    tools.print(&text, w.printed);
                }
            }
            Use::Answer(id, origin) => {
                let mut said = Map::new();
                said.insert("report".to_owned(), json::read(&text).unwrap_or_default());
                tell(&embed::answer(&id, Ok(said)), &origin);
            }
        }
    }

    /// Draws parts of the page onto what the tools hand out instead of a canvas.
    fn draw(&mut self, ctx: &Context<Self>, tools: &Tools, name: String, parts: &str) {
        let (title, about) = (self.title(), self.about_picture());
        let motion = self.rest();
        let mut paint = |which: String, context: JsValue| {
            let context: CanvasRenderingContext2d = context.unchecked_into();
            if which == "tracks" {
                self.paint_tracks(&context, None, true);
            } else {
                self.paint_picture(&context, 0.0, motion, true);
            }
        };
        match tools.picture(&name, parts, &title, &about, &mut paint) {
            Ok(promise) => self.wait(ctx, promise, Use::Done(name)),
            Err(reason) => self.made(ctx, Use::Done(name), Err(super::text_of(&reason))),
        }
    }

    /// Where a picture is from, so that it can be made again.
    fn about_picture(&self) -> String {
        let w = self.prefs.language.handover();
        let hash = self.done.map(|d| fill(w.about_hash, &[&super::short_hash(d.hash)])).unwrap_or_default();
        let wire = self.shown_wire();
        let (now, horizon) = (figures::clock(self.now_s()), figures::clock_short(self.horizon_s()));
        fill(w.about_picture, &[&now, &horizon, &wire.run.seed.to_string(), &hash, sim::ENGINE])
    }

    /// Before printing: ink on paper, and everything as wide as a sheet; afterwards as before.
    fn printing(&mut self, begins: bool) {
        let root = super::window().document().and_then(|d| d.document_element());
        let Some(root) = root.and_then(|r| r.dyn_into::<web_sys::HtmlElement>().ok()) else { return };
        if !begins {
            self.dress();
            return;
        }
        let Some(scene) = self.refs.scene.cast::<web_sys::HtmlElement>() else { return };
        let (w, h) = (f64::from(scene.client_width()), f64::from(scene.client_height()));
        // In whole parts of 32: to those Chromium rounds the scale of what is on a canvas, and of nothing else.
        let zoom = (PAPER_PX / w.max(1.0) * 32.0).floor() / 32.0;
        let properties = [("--pw", format!("{w}px")), ("--ph", format!("{h}px")), ("--pz", zoom.to_string())];
        for (name, value) in properties {
            let _ = root.style().set_property(name, &value);
        }
        let _ = root.set_attribute("data-theme", "light");
        self.theme = Theme::LIGHT;
        self.track_version += 1;
        // As large as they are: the sheet may have been laid out already.
        if let Some(context) = context_of(&self.refs.picture) {
            self.paint_picture(&context, 0.0, self.rest(), false);
        }
        if let Some(context) = context_of(&self.refs.tracks).filter(|_| !self.plot.kinds.is_empty()) {
            self.paint_tracks(&context, None, false);
        }
    }

    /// How the picture looks while nothing moves.
    const fn rest(&self) -> Motion {
        if self.prefs.still { Motion::Reduced } else { Motion::Paused }
    }

    // ----- in a frame -----

    /// Says to the page around that messages are heard.
    pub(super) fn greet(&self) {
        if self.embedded() {
            tell(&format!("{{\"tidegate\":1,\"event\":\"ready\",\"engine\":\"{}\"}}", sim::ENGINE), "*");
        }
    }

    fn asked(&mut self, ctx: &Context<Self>, text: &str, origin: &str) {
        if !self.embedded() {
            return;
        }
        let Some(message) = embed::read(text) else { return };
        if let Ok(Ask::Load(scenario, _)) = &message.ask
            && let Some(name) = scenario.trim().strip_prefix("preset:")
            && !self.have_preset(ctx, name, super::Do::Hand(Do::Asked(text.to_owned(), origin.to_owned())))
        {
            return;
        }
        let said = match message.ask {
            Ok(Ask::Results) => {
                let json = self.parsed.to_canonical_json();
                let purpose = Use::Answer(message.id, origin.to_owned());
                match self.handover.tools.clone() {
                    Some(tools) => {
                        let promise = tools.make("json", &json, self.log_played());
                        self.wait(ctx, promise, purpose);
                    }
                    None => Self::load(ctx, Do::Asked(text.to_owned(), origin.to_owned())),
                }
                return;
            }
            Ok(ask) => self.carry_out(ask),
            Err(fault) => Err(fault),
        };
        tell(&embed::answer(&message.id, said.map(|()| Map::new())), origin);
    }

    fn carry_out(&mut self, ask: Ask) -> Result<(), Fault> {
        match ask {
            Ask::Load(scenario, at_s) => {
                let preset = scenario.trim().strip_prefix("preset:");
                let parsed = match preset {
                    Some(name) => library::get(name).ok_or_else(|| {
                        Fault::new(format!("preset: no built-in scenario is called {name}"))
                    })?,
                    None => link::open(&scenario)?.parsed,
                };
                Scenario::check(parsed.wire.clone())?;
                self.claim = None;
                self.playing = false;
                self.open(parsed, None, at_s);
            }
            Ask::Play if self.playing => {}
            Ask::Play => self.play_pause(),
            Ask::Pause => self.playing = false,
            Ask::Seek(s) => self.seek(s),
            Ask::Set(control, to) => self.set_control(&control, &to)?,
            Ask::Results => {}
        }
        Ok(())
    }

    /// The stage that `workers` and `policy` are about.
    #[must_use]
    pub fn control_stage(&self) -> usize {
        self.feed().map_or(0, |feed| Self::main_stage(&feed.scenario))
    }

    /// The scenario that the loads of factor 1 are from.
    #[must_use]
    pub fn base(&self) -> &ScenarioV1 {
        self.handover.embed.as_ref().and_then(|e| e.base.as_deref()).unwrap_or(&self.parsed.wire)
    }

    fn set_control(&mut self, control: &Control, to: &Value) -> Result<(), Fault> {
        let wire = control.set(&self.parsed.wire, self.base(), self.control_stage(), to)?;
        Scenario::check(wire.clone())?;
        let field = control.path(self.control_stage());
        self.edit(Edit { field, typed: json::write(to), change: Some(Box::new(move |s| *s = wire)) });
        Ok(())
    }

    /// Another scenario is opened: its loads are those of factor 1.
    pub(super) fn note_loads(&mut self) {
        if let Some(embed) = &mut self.handover.embed {
            embed.base = Some(Box::new(self.parsed.wire.clone()));
        }
    }
}
