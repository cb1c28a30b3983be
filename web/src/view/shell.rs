//! Around the picture: top bar, live bar, story, and the tab bar of small screens.

use super::markup::html;
use super::{Link, Typed, glyph, icons, on, opens, text_field};
use crate::app::{App, Claim, Dialog, Do, Mode, Msg};
use crate::figures;
use crate::live::Status;
use crate::story::Piece;
use crate::words::{Language, fill};
use std::rc::Rc;
use yew::prelude::*;

/// The modes, in the order of their tabs.
const MODES: [Mode; 4] = [Mode::Explore, Mode::Compare, Mode::Replay, Mode::Live];

fn name(mode: Mode, language: Language) -> &'static str {
    match mode {
        Mode::Explore => language.words().explore,
        Mode::Compare => language.compare().tab,
        Mode::Replay => language.replay().tab,
        Mode::Live => language.words().live,
    }
}

/// The top bar.
pub(super) fn top(app: &App, link: &Link) -> Html {
    let w = app.words();
    let other = app.prefs.language.other();
    let tab = |mode: Mode, words: &'static str| {
        let selected = app.mode == mode;
        let key = link.batch_callback(move |e: KeyboardEvent| {
            let step = match e.key().as_str() {
                "ArrowLeft" => MODES.len() - 1,
                "ArrowRight" => 1,
                _ => return None,
            };
            let at = MODES.iter().position(|m| *m == mode)?;
            Some(Msg::Do(Do::Mode(MODES[(at + step) % MODES.len()])))
        });
        html! {
            <button role="tab" aria-selected={selected.to_string()} tabindex={if selected { "0" } else { "-1" }}
                onclick={on(link, Do::Mode(mode))} onkeydown={key}>{words}</button>
        }
    };
    let size = app.feed().map(|f| size(app, f.scenario.classes.len(), f.scenario.servers.len()));
    html! {
        <header class="top">
            <a class="brand" href="./" aria-label={w.home}>{ icons::brand() }<span>{"Tidegate"}</span></a>
            <button class="scenario" id="presets" aria-haspopup="dialog" onclick={opens(link, Dialog::Presets)}>
                <span>{ app.title() }</span><small>{ size.unwrap_or_default() }</small>{ icons::down() }
            </button>
            <div class="modes" role="tablist" aria-label={w.mode}>
                { for MODES.into_iter().map(|mode| tab(mode, name(mode, app.prefs.language))) }
            </div>
            <div class="acts">
                <button class="quiet hide" id="language" lang={other.tag()} aria-label={w.switch_language}
                    onclick={on(link, Do::Language)}>{w.other_language}</button>
                <button class="icon hide" id="theme" aria-label={w.switch_theme} title={w.switch_theme}
                    onclick={on(link, Do::Theme)}>{ icons::theme() }</button>
                <button class="icon hide" id="help" aria-label={w.keyboard_help} title={w.keyboard_help}
                    aria-haspopup="dialog" onclick={opens(link, Dialog::Keys)}>{ icons::help() }</button>
                <button class="quiet hide" id="serve" aria-haspopup="dialog" title={w.run_for_real}
                    onclick={opens(link, Dialog::Serve)}>
                    { icons::line(icons::TERMINAL) }<span>{w.run_for_real}</span>
                </button>
                <button class="filled" id="share" aria-haspopup="dialog" onclick={opens(link, Dialog::Share)}>
                    {w.share}
                </button>
            </div>
        </header>
    }
}

fn size(app: &App, classes: usize, servers: usize) -> String {
    let w = app.words();
    let mut text = fill(if classes == 1 { w.size_class } else { w.size_classes }, &[&classes.to_string()]);
    if servers > 0 {
        text.push_str(&fill(
            if servers == 1 { w.size_server } else { w.size_servers },
            &[&servers.to_string()],
        ));
    }
    text
}

/// Whether there is a network at all, as far as the browser knows.
fn online() -> bool {
    web_sys::window().is_none_or(|w| w.navigator().on_line())
}

/// The bar of Live: which server, and how the connection stands.
pub(super) fn live_bar(app: &App, link: &Link) -> Html {
    if app.mode != Mode::Live {
        return Html::default();
    }
    let w = app.words();
    let live = &app.live;
    let (dot, words) = match live.status {
        Status::On => ("on", w.live_on),
        _ if !online() => ("off", app.prefs.language.handover().offline),
        Status::Connecting => ("", w.live_waiting),
        Status::Off => ("", w.live_off),
        _ => ("off", w.live_off),
    };
    let about = if live.is_on() {
        fill(w.live_rate, &[&figures::rate(live.rate.round()), &figures::wait(live.age_s)])
    } else {
        w.live_hint.to_owned()
    };
    let field = Typed {
        id: "live-address",
        value: if live.wanted() { live.shown_address() } else { live.address.clone() },
        label: w.live_address,
        class: "",
        numeric: false,
    };
    let address = text_field(app, link, field, Rc::new(|text| Some(Msg::Do(Do::Connect(text)))));
    let (button, command) = if live.wanted() {
        (w.disconnect, Do::Disconnect)
    } else {
        (w.connect, Do::Connect(live.address.clone()))
    };
    html! {
        <div class="livebar" id="live">
            <span class={classes!("dot", dot)}></span><b role="status">{words}</b>
            { address }
            <span class="soft">{about}</span>
            <button class="button" onclick={on(link, command)}>{button}</button>
        </div>
    }
}

/// Headline and lead.
pub(super) fn story(app: &App, link: &Link) -> Html {
    let lead = app.story.lead.iter().map(|piece| match piece {
        Piece::Text(text) => html! { {text} },
        Piece::Strong(text) => html! { <b>{text}</b> },
        Piece::Glyph(rank) => glyph(*rank),
    });
    // Read out only while it changes slowly enough to be listened to.
    let live = if app.playing && app.speed <= 1.0 { "polite" } else { "off" };
    html! {
        <section class="story">
            <div aria-live={live}>
                <h1 id="headline">{ &app.story.headline }</h1>
                <p id="lead">{ for lead }</p>
                { super::gallery::look(app, link) }
            </div>
            { note(app) }
        </section>
    }
}

/// Right of the story: what became of a link's claim, else how much was computed.
fn note(app: &App) -> Html {
    let w = app.words();
    if app.mode == Mode::Live {
        return Html::default();
    }
    if let Some(claim) = &app.claim {
        return verdict(app, claim);
    }
    let unknown = &app.parsed.unknown;
    if !unknown.is_empty() {
        return html! { <div class="note">{ fill(w.unknown_fields, &[&unknown.join(", ")]) }</div> };
    }
    match (&app.done, &app.log) {
        (Some(done), _) => html! {
            <div class="note side" id="hash" data-hash={format!("{:016x}", done.hash)}>
                { fill(w.whole_run, &[&figures::count(done.events)]) }<br />
                <code>{ format!("{:016x}", done.hash) }</code>
            </div>
        },
        _ if app.computing() => html! {
            <div class="note side">{ fill(w.computing, &[&figures::percent(app.share)]) }</div>
        },
        _ => Html::default(),
    }
}

fn verdict(app: &App, claim: &Claim) -> Html {
    let w = app.words();
    let hash = app.done.map(|d| format!("{:016x}", d.hash));
    match &claim.verdict {
        None => html! { <div class="note" id="verdict">{w.verifying}</div> },
        Some((true, _)) => html! {
            <div class="note" id="verdict" data-verdict="same" data-hash={hash}>
                <span class="yes">{w.reproduced}</span><br />{w.reproduced_why}
            </div>
        },
        Some((false, found)) => {
            let engine = if claim.engine.is_empty() { "?" } else { &claim.engine };
            let now = tidegate_core::sim::ENGINE;
            html! {
                <div class="note" id="verdict" data-verdict="differs" data-hash={hash}>
                    <span class="no">{w.differs}</span><br />
                    { fill(w.differs_why, &[&claim.hash, found, engine, now]) }
                </div>
            }
        }
    }
}

/// The tab bar of small screens.
pub(super) fn tabs(app: &App, link: &Link) -> Html {
    let w = app.words();
    let current = |on: bool| if on { "true" } else { "false" };
    let system = if app.is_comparing() { Do::Mode(Mode::Explore) } else { Do::Sheet(false) };
    html! {
        <nav class="tabs" aria-label={w.sections}>
            <button aria-current={current(!app.sheet && !app.is_comparing())} onclick={on(link, system)}>
                {w.tab_system}
            </button>
            <button aria-current={current(app.sheet)} onclick={on(link, Do::Sheet(!app.sheet))}>{w.tab_edit}</button>
            { super::compare::tab(app, link) }
            <button onclick={opens(link, Dialog::Share)}>{w.share}</button>
        </nav>
    }
}
