//! The palette: any action, number, part or preset by a few letters of its name.

use super::dialogs::frame;
use super::markup::html;
use super::{Link, editor};
use crate::app::find::{Do, score};
use crate::app::{self, App, Dialog, Msg, Section};
use crate::draw::geom::sort_few;
use crate::gallery;
use crate::keys;
use crate::knobs::{self, Kind, Knob};
use crate::words::Word;
use serde_json::Value;
use std::rc::Rc;
use tidegate_core::scenario::presets;
use yew::prelude::*;

/// Most results that are shown.
const MOST: usize = 40;

/// Something that can be found.
struct Item {
    /// What it is called.
    name: String,
    /// Its key, or what it is.
    note: String,
    /// What choosing it does.
    does: app::Do,
}

/// Everything there is to find, what is most often wanted first.
fn items(app: &App) -> Vec<Item> {
    let t = app.prefs.language.text();
    let mut all = Vec::new();
    for (key, name, does) in keys::list(app) {
        let Some(does) = does else { continue };
        all.push(Item { name: name.to_owned(), note: key, does });
    }
    for section in keys::sections(app.wire().stages.len(), !app.wire().servers.is_empty()) {
        let (name, _) = editor::title(app, section);
        all.push(Item { name, note: t.kind_part.to_owned(), does: app::Do::Open(section) });
    }
    let root = knobs::json(app.wire());
    numbers(app, &root, &mut |section, id, name| {
        let note = editor::title(app, section).0;
        all.push(Item { name, note, does: app::Do::Find(Do::Field(section, id)) });
    });
    all.extend(presets::TITLES.iter().map(|&(name, title)| Item {
        name: gallery::title(title, app.prefs.language).to_owned(),
        note: t.kind_preset.to_owned(),
        does: app::Do::Preset(name),
    }));
    all
}

/// Every field of the editor: its section, id and name.
fn numbers(app: &App, root: &Value, found: &mut dyn FnMut(Section, String, String)) {
    let w = app.words();
    let wire = app.wire();
    for (c, class) in wire.classes.iter().enumerate() {
        let base = format!("classes[{c}]");
        let mut add =
            |id: String, name: &str| found(Section::Traffic, id, format!("{} · {name}", class.name));
        add(format!("{base}.priority"), w.priority);
        add(format!("{base}.delay_weight"), w.delay_weight);
        let kind = knobs::LOAD.chosen(knobs::at(root, &format!("{base}.load")), 0);
        let load = knobs::LOAD.arms.get(kind).map_or(&[][..], |arm| arm.knobs);
        walk(app, root, &format!("{base}.load"), load, &mut add);
        walk(app, root, &base, std::slice::from_ref(&knobs::SERVICE), &mut add);
        walk(app, root, &base, knobs::CLASS, &mut add);
        if !wire.servers.is_empty() {
            walk(app, root, &base, knobs::CLASS_AT_SERVERS, &mut add);
        }
    }
    walk(app, root, "priority", knobs::PRIORITY, &mut |id, name| {
        found(Section::Classifier, id, name.to_owned());
    });
    for (k, stage) in wire.stages.iter().enumerate() {
        let base = format!("stages[{k}]");
        let mut add =
            |id: String, name: &str| found(Section::Stage(k), id, format!("{} · {name}", stage.name));
        add(format!("{base}.order"), w.order);
        add(format!("{base}.workers"), w.worker_count);
        let mut list = |knobs: &'static [Knob]| walk(app, root, &base, knobs, &mut add);
        list(std::slice::from_ref(&knobs::QUEUE_KNOB));
        if stage.split_by.word() != "fixed" {
            list(std::slice::from_ref(&knobs::SPLIT));
        }
        list(knobs::STAGE);
        list(std::slice::from_ref(&knobs::WORK));
    }
    if !wire.servers.is_empty() {
        let mut add = |id: String, name: &str| found(Section::Balancer, id, name.to_owned());
        walk(app, root, "", std::slice::from_ref(&knobs::BALANCER_KNOB), &mut add);
        walk(app, root, "feedback", knobs::FEEDBACK, &mut add);
    }
    for (i, server) in wire.servers.iter().enumerate() {
        let base = format!("servers[{i}]");
        let mut add =
            |id: String, name: &str| found(Section::Servers, id, format!("{} · {name}", server.name));
        add(format!("{base}.slots"), w.slots);
        add(format!("{base}.speed"), Word::server_speed.of(w));
        walk(app, root, &base, knobs::SERVER, &mut add);
    }
    let mut add = |id: String, name: &str| found(Section::Run, id, name.to_owned());
    add("run.horizon_us".to_owned(), w.horizon);
    walk(app, root, "", knobs::RUN, &mut add);
}

/// The knobs of an object, and those of the policies that are chosen in it.
fn walk(app: &App, root: &Value, base: &str, list: &'static [Knob], found: &mut dyn FnMut(String, &str)) {
    for knob in list {
        let path = format!("{base}.{}", knob.key);
        let path = path.trim_start_matches('.');
        match knob.kind {
            Kind::Table(_) => continue,
            Kind::List(..) => found(format!("{path}[0]"), knob.label.of(app.words())),
            _ => found(path.to_owned(), knob.label.of(app.words())),
        }
        if let Kind::Choice(choice, usual) = knob.kind {
            let chosen = choice.chosen(knobs::at(root, path), usual);
            let inner = choice.arms.get(chosen).map_or(&[][..], |arm| arm.knobs);
            walk(app, root, path, inner, found);
        }
    }
}

/// What answers best to what was typed.
fn results(app: &App) -> Vec<Item> {
    let typed = app.find.typed.as_str();
    let all = items(app).into_iter();
    let mut scored: Vec<(usize, Item)> =
        all.filter_map(|item| Some((score(typed, &format!("{} {}", item.name, item.note))?, item))).collect();
    sort_few(&mut scored, |a, b| a.0 < b.0);
    scored.truncate(MOST);
    scored.into_iter().map(|(_, item)| item).collect()
}

/// The dialog.
pub(super) fn dialog(app: &App, link: &Link) -> Html {
    let t = app.prefs.language.text();
    if app.dialog != Some(Dialog::Palette) {
        return frame(app, link, Dialog::Palette, "find", t.palette, t.palette_about, Html::default());
    }
    open(app, link)
}

#[inline(never)]
fn open(app: &App, link: &Link) -> Html {
    let t = app.prefs.language.text();
    let items = results(app);
    let at = app.find.at.min(items.len().saturating_sub(1));
    let does: Rc<Vec<app::Do>> = Rc::new(items.iter().map(|item| item.does.clone()).collect());
    let take = |command: &app::Do| vec![Msg::Do(app::Do::Dialog(None)), Msg::Do(command.clone())];
    let all = Rc::clone(&does);
    let key = link.batch_callback(move |e: KeyboardEvent| {
        let last = all.len().saturating_sub(1);
        let to = match e.key().as_str() {
            "ArrowDown" => (at + 1).min(last),
            "ArrowUp" => at.saturating_sub(1),
            "Home" => 0,
            "End" => last,
            // A word that is still being put together with an input method is no choice.
            "Enter" if !e.is_composing() => return all.get(at).map(take).unwrap_or_default(),
            _ => return Vec::new(),
        };
        e.prevent_default();
        vec![Msg::Do(app::Do::Find(Do::At(to)))]
    });
    let option = |(i, item): (usize, Item)| {
        let all = Rc::clone(&does);
        let pressed = link.batch_callback(move |_: MouseEvent| all.get(i).map(take).unwrap_or_default());
        html! {
            <li role="option" id={format!("find-{i}")} aria-selected={(i == at).to_string()} onclick={pressed}>
                <span>{item.name}</span><kbd>{item.note}</kbd>
            </li>
        }
    };
    let none = items.is_empty();
    let active = (!none).then(|| format!("find-{at}"));
    let body = html! {
        <>
            <input type="search" class="search" data-first="" role="combobox" aria-expanded="true" aria-controls="found"
                aria-autocomplete="list" aria-activedescendant={active} aria-label={t.palette_label}
                placeholder={t.palette_label} autocomplete="off" spellcheck="false" value={app.find.typed.clone()}
                oninput={searches(link)} onkeydown={key} />
            if none { <p class="help" role="status">{t.search_none}</p> }
            <ul id="found" role="listbox" aria-label={t.palette}>{ for items.into_iter().enumerate().map(option) }</ul>
        </>
    };
    frame(app, link, Dialog::Palette, "find", t.palette, t.palette_about, body)
}

/// What a search field does with each letter.
pub(super) fn searches(link: &Link) -> Callback<InputEvent> {
    link.callback(|e: InputEvent| {
        let input: web_sys::HtmlInputElement = e.target_unchecked_into();
        Msg::Do(app::Do::Find(Do::Typed(input.value())))
    })
}
