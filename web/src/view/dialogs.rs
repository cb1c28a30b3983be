//! Dialogs: presets, Share, Run on a real server, keys. Native `dialog` elements, always on the page; which one
//! is open is state.

use super::markup::html;
use super::{Link, choose, icons, on};
use crate::app::{App, Dialog, Do, Msg};
use crate::figures;
use crate::gallery;
use crate::words::fill;
use tidegate_core::link::WARN_CHARS;
use tidegate_core::scenario::presets;
use wasm_bindgen::JsCast;
use web_sys::HtmlDialogElement;
use yew::prelude::*;

const IDS: [(Dialog, &str); 4] = [
    (Dialog::Presets, "dialog-presets"),
    (Dialog::Share, "dialog-share"),
    (Dialog::Serve, "dialog-serve"),
    (Dialog::Keys, "dialog-keys"),
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
    html! { <>{ gallery_dialog(app, link) }{ share(app, link) }{ serve(app, link) }{ key_list(app, link) }</> }
}

fn frame(
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
            <div class="dh">
                <div><h2 id={format!("{id}-title")}>{title.to_owned()}</h2><p>{about.to_owned()}</p></div>
                <button class="icon" aria-label={app.words().close} onclick={on(link, Do::Dialog(None))}>
                    { icons::line(icons::CLOSE) }
                </button>
            </div>
            <div class="db">{ if app.dialog == Some(which) { body } else { Html::default() } }</div>
        </dialog>
    }
}

/// Text with a button that copies it.
fn copyable(app: &App, link: &Link, id: &'static str, text: String, first: bool) -> Html {
    html! {
        <div class="code">
            <code {id}>{ &text }</code>
            <button data-first={first.then_some("")} onclick={on(link, Do::Copy(text.clone()))}>{ app.words().copy }</button>
        </div>
    }
}

fn gallery_dialog(app: &App, link: &Link) -> Html {
    let w = app.words();
    let tiles = presets::ALL.iter().map(|preset| {
        let (title, question) = gallery::texts(preset, app.prefs.language);
        let current = (app.preset == Some(preset.name)).then_some("true");
        let drawing = Html::from_html_unchecked(AttrValue::from(format!(
            "<svg viewBox=\"0 0 240 84\" preserveAspectRatio=\"xMidYMid slice\" aria-hidden=\"true\">{}</svg>",
            gallery::drawing(preset.name)
        )));
        html! {
            <button class="tile" id={format!("preset-{}", preset.name)} aria-current={current}
                onclick={on(link, Do::Preset(preset.name))}>
                { drawing }<div><b>{title}</b><p>{question}</p></div>
            </button>
        }
    });
    let body = html! {
        <>
            <div class="tiles">{ for tiles }</div>
            <div class="pair" style="margin-top:16px;align-items:center">
                <span>{w.open_file_about}</span>
                <button class="button" onclick={choose(app)}>{w.open_file}</button>
            </div>
        </>
    };
    frame(app, link, Dialog::Presets, "gallery", w.presets, w.presets_about, body)
}

fn share(app: &App, link: &Link) -> Html {
    let w = app.words();
    if app.dialog != Some(Dialog::Share) {
        return frame(app, link, Dialog::Share, "pop", w.share_title, w.share_about, Html::default());
    }
    let text = app.shared_link();
    let length = text.chars().count();
    let part = (length as f64 / WARN_CHARS as f64 * 100.0).min(100.0);
    let tick = link.callback(|e: Event| {
        let input: web_sys::HtmlInputElement = e.target_unchecked_into();
        Msg::Do(Do::ShareAt(input.checked()))
    });
    let live = app.mode == crate::app::Mode::Live;
    let proof = if live {
        String::new()
    } else if app.with_log {
        w.share_no_log.to_owned()
    } else {
        match app.done {
            Some(done) => fill(w.share_hash, &[&crate::app::short_hash(done.hash)]),
            None => fill(w.share_hash_wait, &[&figures::percent(app.share)]),
        }
    };
    let body = html! {
        <>
            { copyable(app, link, "shared-link", text, true) }
            <div class={classes!("meter", (length > WARN_CHARS).then_some("full"))}>
                <i style={format!("width:{part:.0}%")}></i>
            </div>
            <div class="pair">
                <span><b>{ length }</b>{ w.share_length.replace("{0}", "") }</span>
                <span>{ if length > WARN_CHARS { w.share_long } else { w.share_safe } }</span>
            </div>
            <label class="check" style="margin-top:8px" hidden={live}>
                <input type="checkbox" checked={app.share_at} onchange={tick} />
                <span>{ fill(w.share_at, &[&figures::clock(app.now_s())]) }</span>
            </label>
            <p class="help" id="share-proof">{proof}</p>
        </>
    };
    frame(app, link, Dialog::Share, "pop", w.share_title, w.share_about, body)
}

/// The command that runs this scenario for real: the preset's name if it is one, else the link.
fn command(app: &App) -> String {
    let scenario = match app.preset {
        Some(name) => format!("preset:{name}"),
        None => {
            let fragment = crate::link::fragment(&app.parsed);
            format!("'{}'", fragment.trim_start_matches('#'))
        }
    };
    let upstreams: String = (0..app.parsed.wire.servers.len())
        .map(|i| format!(" \\\n  --upstream http://127.0.0.1:{}", 9001 + i))
        .collect();
    format!("tidegate serve {scenario} \\\n  --listen 127.0.0.1:8080 --admin 127.0.0.1:9090{upstreams}")
}

fn serve(app: &App, link: &Link) -> Html {
    let w = app.words();
    let body = if app.dialog == Some(Dialog::Serve) {
        let watch = Do::Mode(crate::app::Mode::Live);
        let go =
            link.batch_callback(move |_: MouseEvent| vec![Msg::Do(Do::Dialog(None)), Msg::Do(watch.clone())]);
        html! {
            <>
                { copyable(app, link, "serve-command", command(app), true) }
                <p class="soft" style="margin-top:12px">{w.run_more}</p>
                <p style="margin-top:14px"><button class="button first" onclick={go}>{w.watch_live}</button></p>
            </>
        }
    } else {
        Html::default()
    };
    frame(app, link, Dialog::Serve, "pop", w.run_title, w.run_about, body)
}

fn key_list(app: &App, link: &Link) -> Html {
    let w = app.words();
    let last = crate::keys::sections(app.parsed.wire.stages.len(), !app.parsed.wire.servers.is_empty()).len();
    let rows: Vec<(String, &str)> = vec![
        (w.key_space.to_owned(), w.key_play),
        (". ,".to_owned(), w.key_step),
        (";".to_owned(), w.key_step_event),
        ("> <".to_owned(), w.key_next_flag),
        ("← →".to_owned(), w.key_arrows),
        ("[ ]".to_owned(), w.key_speed),
        ("R".to_owned(), w.key_restart),
        ("N".to_owned(), w.key_seed),
        (format!("1 – {last}"), w.key_open),
        ("E".to_owned(), w.key_event),
        ("G".to_owned(), w.key_presets),
        ("S".to_owned(), w.key_share),
        ("T".to_owned(), w.key_run),
        ("L".to_owned(), w.key_live),
        ("F".to_owned(), w.key_focus),
        ("D".to_owned(), w.key_theme),
        ("Ctrl Z".to_owned(), w.key_undo),
        ("?".to_owned(), w.key_help),
    ];
    let tick = |make: fn(bool) -> Do| {
        link.callback(move |e: Event| {
            let input: web_sys::HtmlInputElement = e.target_unchecked_into();
            Msg::Do(make(input.checked()))
        })
    };
    let body = html! {
        <>
            <div class="keylist">
                { for rows.into_iter().map(|(key, does)| html! { <div><span>{does}</span><kbd>{key}</kbd></div> }) }
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
