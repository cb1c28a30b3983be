//! What is said over the picture when there is nothing to see, or something to decide. Never a spinner alone.

use super::markup::html;
use super::{Link, choose, on, opens};
use crate::app::{App, Dialog, Do, Mode, Notice};
use crate::figures;
use crate::live::Status;
use crate::log::LogRead;
use crate::words::fill;
use yew::prelude::*;

/// What starts a server to look at.
const START: &str = "tidegate play --demo";

/// What a state says, and what can be done about it.
#[derive(Default)]
pub(super) struct Card {
    kind: &'static str,
    title: String,
    text: String,
    pre: String,
    /// Share of something that is under way, in percent.
    meter: Option<u8>,
    buttons: Vec<Html>,
}

impl Card {
    pub(super) fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), ..Self::default() }
    }

    fn pre(mut self, pre: impl Into<String>) -> Self {
        self.pre = pre.into();
        self
    }

    pub(super) fn with(mut self, buttons: Vec<Html>) -> Self {
        self.buttons = buttons;
        self
    }

    fn html(self) -> Html {
        html! {
            <section class={classes!("state", self.kind)} id="state" aria-live="polite">
                <div class="card">
                    <h2>{self.title}</h2>
                    if !self.text.is_empty() { <p>{self.text}</p> }
                    if !self.pre.is_empty() { <pre>{self.pre}</pre> }
                    if let Some(part) = self.meter {
                        <div class="meter"><i style={format!("width:{part}%")}></i></div>
                    }
                    if !self.buttons.is_empty() { <div class="row">{ for self.buttons }</div> }
                </div>
            </section>
        }
    }
}

/// One of the things that can be done.
pub(super) fn button(words: &'static str, first: bool, press: Callback<MouseEvent>) -> Html {
    html! { <button class={classes!("button", first.then_some("first"))} onclick={press}>{words}</button> }
}

/// The state, if one is to be shown.
pub(super) fn over(app: &App, link: &Link) -> Html {
    let w = app.words();
    let card = if app.dragging {
        Some(Card { kind: "drop", ..Card::new(w.drop_here, w.drop_about) })
    } else if let Some(notice) = &app.notice {
        Some(of_notice(app, link, notice))
    } else if app.mode == Mode::Live {
        live(app, link)
    } else if let Some(card) = super::replay::before(app) {
        Some(card)
    } else {
        match app.feed() {
            None => Some(Card { meter: Some(62), ..Card::new(w.loading, w.loading_about) }),
            Some(feed) if feed.is_empty() => {
                let buttons = vec![
                    button(w.raise_rate, true, on(link, Do::RaiseRate)),
                    button(w.pick_preset, false, opens(link, Dialog::Presets)),
                ];
                Some(Card { kind: "over", ..Card::new(w.empty, w.empty_about).with(buttons) })
            }
            Some(_) => None,
        }
    };
    card.map(Card::html).unwrap_or_default()
}

#[inline(never)]
fn of_notice(app: &App, link: &Link, notice: &Notice) -> Card {
    let w = app.words();
    let dismiss = |words| button(words, false, on(link, Do::Dismiss));
    let presets = |words, first| button(words, first, opens(link, Dialog::Presets));
    let reload = || button(w.reload, true, on(link, Do::Reload));
    let file = || button(w.open_file, true, choose(app));
    match notice {
        Notice::Damaged(reason) => Card::new(w.damaged, w.damaged_about)
            .pre(reason)
            .with(vec![presets(w.start_fresh, true), dismiss(w.keep_last)]),
        Notice::Newer(newer) => {
            let title = if newer.title.is_empty() { w.untitled } else { &newer.title };
            let known = tidegate_core::scenario::v1::VERSION.to_string();
            let text = fill(w.newer_about, &[title, &newer.version.to_string(), &known]);
            Card::new(w.newer, text).pre(&newer.json).with(vec![reload(), dismiss(w.keep_last)])
        }
        Notice::Bad(reason) => Card::new(w.bad_scenario, "")
            .pre(reason)
            .with(vec![presets(w.pick_preset, true), dismiss(w.keep_last)]),
        Notice::Broke(reason) => {
            Card::new(w.worker_broke, fill(w.worker_broke_about, &[reason])).with(vec![reload()])
        }
        Notice::NeedsLog => {
            Card::new(w.needs_log, w.needs_log_about).with(vec![file(), presets(w.pick_preset, false)])
        }
        Notice::Reading(name) => Card { meter: Some(50), ..Card::new(fill(w.reading, &[name]), "") },
        Notice::Log(read) => log(app, link, read),
        Notice::LogBad(name, reason, first_line) => {
            // Without a first line it was never seen: no network for the module, say.
            let (title, pre) = match first_line.as_str() {
                "" => (w.log_unread, String::new()),
                line => (w.log_bad, format!("{}\n{line}", w.log_bad_first)),
            };
            Card::new(fill(title, &[name]), reason).pre(pre).with(vec![file(), dismiss(w.keep_last)])
        }
        Notice::Heavy(events) => {
            let text = fill(w.heavy_about, &[&figures::count(events.round() as u64)]);
            Card::new(w.heavy, text).with(vec![button(w.play_it, true, on(link, Do::PlayHeavy))])
        }
    }
}

#[inline(never)]
fn log(app: &App, link: &Link, read: &LogRead) -> Card {
    let w = app.words();
    let told = &read.told;
    let contents = &told.contents;
    let all = told.rows + told.rejects;
    let title = if told.rejects == 0 {
        fill(w.log_read_all, &[&figures::count(told.rows)])
    } else {
        fill(w.log_read, &[&figures::count(told.rows), &figures::count(all)])
    };
    // An access log's times follow from the sizes; a note says how.
    let timed = match told.format.as_str() {
        "access" => w.log_sized,
        _ if contents.timed > 0 => w.log_timed,
        _ => w.log_untimed,
    };
    let most: Vec<String> =
        contents.labels.iter().take(6).map(|(l, n)| format!("{l} ({})", figures::count(*n))).collect();
    let mut text = fill(w.log_read_about, &[&read.name, &figures::wait(contents.span_s), timed]);
    text.push(' ');
    text.push_str(&fill(w.log_classes, &[&most.join(", ")]));
    if contents.labels.len() > most.len() {
        text.push(' ');
        text.push_str(&fill(w.log_others, &[&(contents.labels.len() - most.len()).to_string()]));
    }
    let mut lines: Vec<String> = told.notes.clone();
    lines.extend(told.first_rejects.iter().map(|(n, why)| fill(w.log_line, &[&n.to_string(), why])));
    Card { kind: "log", ..Card::new(title, text) }.pre(lines.join("\n")).with(vec![
        button(w.log_play, true, on(link, Do::PlayLog(false))),
        button(app.prefs.language.replay().both, false, on(link, Do::PlayLog(true))),
        button(w.log_cancel, false, on(link, Do::Dismiss)),
    ])
}

#[inline(never)]
fn live(app: &App, link: &Link) -> Option<Card> {
    let w = app.words();
    let live = &app.live;
    let address = live.shown_address();
    let again = |words| button(words, true, on(link, Do::Connect(live.address.clone())));
    let leave = || button(w.disconnect, false, on(link, Do::Disconnect));
    Some(match &live.status {
        Status::Lost(s) => {
            let text = fill(w.live_lost_about, &[&address, &s.to_string()]);
            Card { kind: "over", ..Card::new(w.live_lost, text) }.with(vec![again(w.try_now), leave()])
        }
        Status::Refused => {
            let copy = button(w.copy, false, on(link, Do::Copy(START.to_owned())));
            Card::new(fill(w.live_refused, &[&address]), w.live_refused_about)
                .pre(format!("{}: {START}", w.start_here))
                .with(vec![again(w.try_now), copy, leave()])
        }
        Status::Foreign(reason) => Card::new(w.live_foreign, fill(w.live_foreign_about, &[reason]))
            .with(vec![again(w.try_now), leave()]),
        Status::Connecting if live.feed.is_none() => Card::new(w.live_waiting, ""),
        Status::Off if live.feed.is_none() => Card::new(w.live_off, w.live_hint).with(vec![again(w.connect)]),
        Status::On | Status::Connecting | Status::Off => return None,
    })
}
