//! Dialogs: Share, Run on a real server, keys, and the frame that all have. Native `dialog` elements, always on the page; which one
//! is open is state.

use super::markup::html;
use super::{Link, handover, icons, on};
use crate::app::{App, Dialog, Do, Msg};
use wasm_bindgen::JsCast;
use web_sys::HtmlDialogElement;
use yew::prelude::*;

const IDS: [(Dialog, &str); 6] = [
    (Dialog::Presets, "dialog-presets"),
    (Dialog::Share, "dialog-share"),
    (Dialog::Serve, "dialog-serve"),
    (Dialog::Keys, "dialog-keys"),
    (Dialog::Palette, "dialog-find"),
    (Dialog::Table, "dialog-table"),
];

/// Opens and closes the elements as the state says.
pub fn sync(open: Option<Dialog>) {
    let Some(document) = web_sys::window().and_then(|w| w.document()) else { return };
    for (dialog, id) in IDS {
        let element = document.get_element_by_id(id).and_then(|e| e.dyn_into::<HtmlDialogElement>().ok());
        let Some(element) = element else { continue };
        match (open == Some(dialog), element.open()) {
            (true, false) => {
                let _ = element.show_modal();
                // The most useful control, not Close.
                let first = element.query_selector("[data-first], [aria-current=true]").ok().flatten();
                if let Some(first) = first.and_then(|f| f.dyn_into::<web_sys::HtmlElement>().ok()) {
                    let _ = first.focus();
                }
            }
            (false, true) => element.close(),
            _ => {}
        }
    }
}

/// All of them.
pub(super) fn all(app: &App, link: &Link) -> Html {
    html! {
        <>
            { super::gallery::dialog(app, link) }
            { handover::share(app, link) }
            { handover::serve(app, link) }
            { key_list(app, link) }
            { super::palette::dialog(app, link) }
            { super::table::dialog(app, link) }
        </>
    }
}

pub(super) fn frame(
    app: &App,
    link: &Link,
    which: Dialog,
    class: &'static str,
    title: &str,
    about: &str,
    body: Html,
) -> Html {
    let id = IDS.iter().find(|(d, _)| *d == which).map_or("", |(_, id)| id);
    // Escape closes the element by itself: then the state follows.
    let closed = link.batch_callback(|e: Event| {
        let element: HtmlDialogElement = e.target_unchecked_into();
        (!element.open()).then_some(Msg::Do(Do::Dialog(None)))
    });
    let outside = link.batch_callback(|e: MouseEvent| {
        let on_backdrop = match (e.target(), e.current_target()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        };
        on_backdrop.then_some(Msg::Do(Do::Dialog(None)))
    });
    html! {
        <dialog {id} {class} aria-labelledby={format!("{id}-title")} onclose={closed} onclick={outside}>
            if app.dialog == Some(which) {
                <div class="dh">
                    <div><h2 id={format!("{id}-title")}>{title}</h2><p>{about}</p></div>
                    <button class="icon" aria-label={app.words().close} onclick={on(link, Do::Dialog(None))}>
                        { icons::line(icons::CLOSE) }
                    </button>
                </div>
                <div class="db">{body}</div>
            }
        </dialog>
    }
}

/// Text with a button that copies it.
pub(super) fn copyable(app: &App, link: &Link, id: &'static str, text: String, first: bool) -> Html {
    html! {
        <div class="code">
            <code {id} tabindex="0">{ &text }</code>
            <button data-first={first.then_some("")} onclick={on(link, Do::Copy(text.clone()))}>{ app.words().copy }</button>
        </div>
    }
}

fn key_list(app: &App, link: &Link) -> Html {
    let w = app.words();
    let rows = crate::keys::list(app).into_iter().filter(|(key, ..)| !key.is_empty());
    let tick = |make: fn(bool) -> Do| {
        link.callback(move |e: Event| {
            let input: web_sys::HtmlInputElement = e.target_unchecked_into();
            Msg::Do(make(input.checked()))
        })
    };
    let body = html! {
        <>
            <div class="keylist">
                { for rows.map(|(key, does, _)| html! { <div><span>{does}</span><kbd>{key}</kbd></div> }) }
            </div>
            <label class="check" style="margin-top:14px">
                <input type="checkbox" data-first="" checked={app.prefs.letters} onchange={tick(Do::Letters)} />
                <span>{w.keys_letters}</span>
            </label>
            <label class="check">
                <input type="checkbox" checked={app.prefs.still} onchange={tick(Do::Still)} />
                <span>{w.keys_motion}</span>
            </label>
        </>
    };
    frame(app, link, Dialog::Keys, "keys", w.keyboard, w.keys_about, body)
}
