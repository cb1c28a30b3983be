//! What the page consists of: functions from the state to markup. They change nothing.

mod compare;
mod dialogs;
mod editor;
mod gallery;
mod grips;
mod handover;
pub(crate) mod icons;
mod knobs;
pub(crate) mod markup;
mod palette;
mod pick;
mod picture;
mod record;
mod replay;
mod rested;
mod shell;
mod split;
mod states;
pub(crate) mod table;
mod text;
mod time;
pub(crate) mod tour;
mod why;

use crate::app::{App, Dialog, Do, Msg};
use crate::draw::Mark;
use crate::draw::Theme;
use markup::html;
use rested::rested;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use yew::html::Scope;
use yew::prelude::*;

pub use dialogs::sync as sync_dialogs;

/// Sends commands and changes.
pub type Link = Scope<App>;

/// The page.
pub fn page(app: &App, link: &Link) -> Html {
    if app.embedded() {
        return handover::embedded(app, link);
    }
    let w = app.words();
    let [main, around, editor] = app.news.take();
    let class = classes!(
        "shell",
        app.focus.then_some("focus"),
        app.prefs.still.then_some("still"),
        app.is_comparing().then_some("compares")
    );
    html! {
        <>
            <a class="skip" href="#scene" onclick={skip()}>{w.skip}</a>
            { table::opener(app, link) }
            <div {class}>
                { rested(around, || shell::top(app, link)) }
                { rested(main, || html! {
                    <main class="main">
                        { shell::live_bar(app, link) }
                        { replay::view(app, link) }
                        if app.is_comparing() {
                            { compare::view(app, link) }
                        } else {
                            { shell::story(app, link) }
                            { picture::scene(app, link) }
                        }
                        { record::view(app, link) }
                        { states::over(app, link) }
                    </main>
                }) }
                { rested(around, || time::panel(app, link)) }
                { rested(editor, || editor::aside(app, link)) }
            </div>
            { rested(around, || html! {
                <>
                    { shell::tabs(app, link) }
                    { dialogs::all(app, link) }
                    { handover::view(app, link) }
                    { tour::view(app, link) }
                </>
            }) }
            <input ref={app.refs.file.clone()} type="file" hidden=true tabindex="-1" aria-hidden="true"
                onchange={chosen(link)} />
            <div class={classes!("toast", app.toast.is_some().then_some("on"))} role="status">
                { app.toast.as_ref().map_or("", |(text, _)| text.as_str()) }
            </div>
        </>
    }
}

/// The skip link moves the focus itself: the address belongs to the scenario.
fn skip() -> Callback<MouseEvent> {
    Callback::from(|e: MouseEvent| {
        e.prevent_default();
        let scene = web_sys::window().and_then(|w| w.document()).and_then(|d| d.get_element_by_id("scene"));
        if let Some(scene) = scene.and_then(|s| s.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = scene.focus();
        }
    })
}

fn chosen(link: &Link) -> Callback<Event> {
    link.batch_callback(|e: Event| {
        let input: web_sys::HtmlInputElement = e.target_unchecked_into();
        let file = input.files().and_then(|f| f.get(0));
        // The same file may be chosen again.
        input.set_value("");
        file.map(Msg::File)
    })
}

/// Opens the system's file chooser.
fn choose(app: &App) -> Callback<MouseEvent> {
    let input = app.refs.file.clone();
    Callback::from(move |_| {
        if let Some(input) = input.cast::<web_sys::HtmlInputElement>() {
            input.click();
        }
    })
}

/// A callback that gives a command.
fn on<E>(link: &Link, command: Do) -> Callback<E> {
    link.callback(move |_: E| Msg::Do(command.clone()))
}

/// Opens a dialog.
fn opens<E>(link: &Link, dialog: Dialog) -> Callback<E> {
    on(link, Do::Dialog(Some(dialog)))
}

/// Mark of a class in text.
fn glyph(rank: usize) -> Html {
    let style = Theme::LIGHT.class(rank);
    let shape = match style.mark {
        Mark::Circle => html! { <circle cx="5" cy="5" r="4.6" /> },
        Mark::Diamond => html! { <path d="M5 0 10 5 5 10 0 5z" /> },
        Mark::Square => html! { <rect x="1" y="1" width="8" height="8" /> },
        Mark::Triangle => html! { <path d="M5 .6 9.8 9.2H.2z" /> },
        Mark::Plus => html! { <path d="M3.5.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z" /> },
        Mark::Ring => {
            html! { <circle cx="5" cy="5" r="3.6" fill="none" stroke="currentColor" stroke-width="2" /> }
        }
    };
    let class = classes!("glyph", format!("k{}", rank % Theme::LIGHT.classes.len() + 1));
    html! { <svg {class} viewBox="0 0 10 10" aria-hidden="true">{ shape }</svg> }
}

/// Names of fields being typed in need not be short, but must be unlike each other.
struct Typed<'a> {
    id: &'a str,
    value: String,
    label: &'a str,
    class: &'a str,
    numeric: bool,
}

/// What becomes of a text that was typed. Not generic, like all of the editor's callbacks: each copy of a field's
/// code would be downloaded.
type Commit = Rc<dyn Fn(String) -> Option<Msg>>;

/// A text field that keeps what is being typed until it is left or Enter is pressed.
fn text_field(app: &App, link: &Link, field: Typed<'_>, commit: Commit) -> Html {
    let shown = match (&app.typing, app.wrong_at(field.id)) {
        (Some((id, text)), _) if id == field.id => text.clone(),
        (_, Some(wrong)) => wrong.typed.clone(),
        _ => field.value,
    };
    let id = field.id.to_owned();
    let typing = link.callback(move |e: InputEvent| {
        let input: web_sys::HtmlInputElement = e.target_unchecked_into();
        Msg::Typing(id.clone(), input.value())
    });
    let left = link.callback(|_: FocusEvent| Msg::Typed);
    let done = link.batch_callback(move |e: Event| {
        let input: web_sys::HtmlInputElement = e.target_unchecked_into();
        let mut messages = vec![Msg::Typed];
        messages.extend(commit(input.value()));
        messages
    });
    let mode = if field.numeric { "decimal" } else { "text" };
    let invalid = app.wrong_at(field.id).is_some().then_some("true");
    html! {
        <input id={field.id.to_owned()} class={field.class.to_owned()} value={shown} inputmode={mode}
            autocomplete="off" spellcheck="false" aria-label={field.label.to_owned()} aria-invalid={invalid}
            aria-describedby={format!("{}-h", field.id)} oninput={typing} onblur={left} onchange={done} />
    }
}
