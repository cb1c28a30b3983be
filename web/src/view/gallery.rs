//! The gallery of presets, and what to look for in the one that runs.

use super::dialogs::frame;
use super::markup::html;
use super::palette::searches;
use super::{Link, choose};
use crate::app::{App, Dialog, Do, Mode, Msg};
use crate::words::fill;
use crate::{gallery, library};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

/// Title, question and what to look for, of the empty page too.
fn texts(app: &App, name: &str) -> [&'static str; 3] {
    let t = app.prefs.language.text();
    let empty = [t.empty_title, t.empty_question, t.empty_look];
    gallery::texts(name, app.prefs.language).unwrap_or(empty)
}

/// The dialog.
pub(super) fn dialog(app: &App, link: &Link) -> Html {
    let w = app.words();
    if app.dialog != Some(Dialog::Presets) {
        return frame(app, link, Dialog::Presets, "gallery", w.presets, w.presets_about, Html::default());
    }
    open(app, link)
}

#[inline(never)]
fn open(app: &App, link: &Link) -> Html {
    let (w, t) = (app.words(), app.prefs.language.text());
    let wanted = |card: &&&[&str]| {
        let text: String =
            card.iter().flat_map(|name| texts(app, name)).flat_map(|text| [text, " "]).collect();
        gallery::matches(&app.find.typed, &text)
    };
    let mut some = false;
    let groups: Vec<Html> = (gallery::GROUPS.iter())
        .filter_map(|(head, cards)| {
            let cards: Vec<Html> = cards.iter().filter(wanted).map(|names| card(app, link, names)).collect();
            some |= !cards.is_empty();
            (!cards.is_empty())
                .then(|| html! { <><h3>{ head.of(w) }</h3><div class="tiles">{ for cards }</div></> })
        })
        .collect();
    let body = html! {
        <div onkeydown={Callback::from(roam)}>
            <input type="search" class="search" id="search-presets" data-first={app.preset.is_none().then_some("")} aria-label={t.search} placeholder={t.search}
                autocomplete="off" spellcheck="false" value={app.find.typed.clone()} oninput={searches(link)} />
            { for groups }
            if !some { <p class="help" role="status">{t.search_none}</p> }
            <div class="pair" style="margin-top:16px;align-items:center">
                <span>{w.open_file_about}</span>
                <button class="button" onclick={choose(app)}>{w.open_file}</button>
            </div>
        </div>
    };
    frame(app, link, Dialog::Presets, "gallery", w.presets, w.presets_about, body)
}

/// One card: a preset, and what stands beside it.
fn card(app: &App, link: &Link, names: &[&'static str]) -> Html {
    let t = app.prefs.language.text();
    let Some((&name, others)) = names.split_first() else { return Html::default() };
    let [title, question, look_for] = texts(app, name);
    let drawing = Html::from_html_unchecked(AttrValue::from(format!(
        "<svg viewBox=\"0 0 240 84\" preserveAspectRatio=\"xMidYMid slice\" aria-hidden=\"true\">{}</svg>",
        library::card(name).drawing
    )));
    let now = app.preset.is_some_and(|now| names.contains(&now)).then_some("now");
    html! {
        <article class={classes!("tile", now)}>
            { leads(app, link, name, "open", html! { <>{ drawing }<div><b>{title}</b><p>{question}</p></div></> }) }
            <small>{look_for}</small>
            if !others.is_empty() {
                <small>{t.beside}{ for others.iter().enumerate().map(|(i, &other)| html! {
                    <>{ if i == 0 { " " } else { " · " } }{ leads(app, link, other, "", texts(app, other)[0].into()) }</>
                }) }</small>
            }
        </article>
    }
}

/// A link to a preset. It opens here even if it is the one that runs; with a key held the browser opens it elsewhere.
fn leads(app: &App, link: &Link, name: &'static str, class: &'static str, inside: Html) -> Html {
    let pressed = link.batch_callback(move |e: MouseEvent| {
        let here = !(e.ctrl_key() || e.meta_key() || e.shift_key());
        if here {
            e.prevent_default();
        }
        here.then_some(Msg::Do(Do::Preset(name)))
    });
    html! {
        <a {class} id={format!("preset-{name}")} href={format!("#preset={name}")} onclick={pressed}
            aria-current={(app.preset == Some(name)).then_some("true")}>{inside}</a>
    }
}

/// Arrows lead from card to card, and a stroke to the search.
fn roam(e: KeyboardEvent) {
    let Some(document) = web_sys::window().and_then(|w| w.document()) else { return };
    let here = document.active_element();
    let in_field = here.as_ref().is_some_and(|e| e.tag_name() == "INPUT");
    let key = e.key();
    if key == "/" && !in_field {
        e.prevent_default();
        focus(document.get_element_by_id("search-presets"));
        return;
    }
    let Ok(cards) = document.query_selector_all(".tile .open") else { return };
    let cards: Vec<HtmlElement> =
        (0..cards.length()).filter_map(|i| cards.item(i)?.dyn_into::<HtmlElement>().ok()).collect();
    let Some(last) = cards.len().checked_sub(1) else { return };
    let tile = here.and_then(|e| e.closest(".tile").ok().flatten());
    let at = cards.iter().position(|card| card.parent_element() == tile && tile.is_some());
    let to = match (key.as_str(), at) {
        ("ArrowDown", None) => Some(0),
        _ if in_field => None,
        ("ArrowRight", Some(at)) => Some((at + 1).min(last)),
        ("ArrowLeft", Some(at)) => Some(at.saturating_sub(1)),
        ("ArrowDown", Some(at)) => below(&cards, at, true),
        ("ArrowUp", Some(at)) => below(&cards, at, false),
        ("Home", _) => Some(0),
        ("End", _) => Some(last),
        _ => None,
    };
    if let Some(card) = to.and_then(|to| cards.get(to)) {
        e.prevent_default();
        let _ = card.focus();
    }
}

/// The nearest card in the next row, or in the one before.
fn below(cards: &[HtmlElement], at: usize, down: bool) -> Option<usize> {
    let place = |card: &HtmlElement| {
        let rect = card.get_bounding_client_rect();
        (rect.top(), rect.left())
    };
    let (top, left) = place(cards.get(at)?);
    let mut best: Option<(f64, f64, usize)> = None;
    for (i, card) in cards.iter().enumerate() {
        let (other, x) = place(card);
        let rows = if down { other - top } else { top - other };
        let found = (rows, (x - left).abs(), i);
        if rows > 1.0 && best.is_none_or(|best| (found.0, found.1) < (best.0, best.1)) {
            best = Some(found);
        }
    }
    best.map(|(_, _, i)| i)
}

fn focus(element: Option<web_sys::Element>) {
    if let Some(element) = element.and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
        let _ = element.focus();
    }
}

/// One quiet line under the headline: the tour for those who are new, else what to look for in the preset that runs.
pub(super) fn look(app: &App, link: &Link) -> Html {
    let t = app.prefs.language.text();
    if app.tour.offered {
        return super::tour::offer(app, link);
    }
    let Some(name) = app.preset.filter(|_| app.mode == Mode::Explore && app.tour.step.is_none()) else {
        return Html::default();
    };
    let next = gallery::next(name)
        .map(|next| leads(app, link, next, "", fill(t.look_next, &[texts(app, next)[0]]).into()));
    html! { <p class="look" id="look"><span>{ texts(app, name)[2] }</span>{" "}{ next.unwrap_or_default() }</p> }
}
