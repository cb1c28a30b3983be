//! Handing over: the dialogs Share and Run on a real server, the page in a frame, and the report on paper.

use super::dialogs::{copyable, frame};
use super::editor::{Number, Range, number, pick};
use super::markup::html;
use super::{Link, on, picture, states, time};
use crate::app::handover::{Do, What};
use crate::app::{App, Dialog, Mode, Msg};
use crate::embed::{self, Control, NAMES};
use crate::figures;
use crate::knobs;
use crate::words::fill;
use serde_json::Value;
use std::rc::Rc;
use tidegate_core::link::WARN_CHARS;
use tidegate_core::scenario::Parsed;
use tidegate_core::scenario::v1::ScenarioV1;
use yew::prelude::*;

/// Most bytes that a QR code holds.
const QR_BYTES: usize = 2_953;

fn hand(command: Do) -> crate::app::Do {
    crate::app::Do::Hand(command)
}

/// What is shown of it on the page: a place for the report, which only paper shows.
pub(super) fn view(_app: &App, _link: &Link) -> Html {
    html! { <section class="paper" id="paper"></section> }
}

/// The dialog Share.
pub(super) fn share(app: &App, link: &Link) -> Html {
    let w = app.words();
    let body = if app.dialog == Some(Dialog::Share) { shared(app, link) } else { Html::default() };
    frame(app, link, Dialog::Share, "pop", w.share_title, w.share_about, body)
}

fn shared(app: &App, link: &Link) -> Html {
    let (w, h) = (app.words(), app.prefs.language.handover());
    let text = app.shared_link();
    let length = text.chars().count();
    let part = (length as f64 / WARN_CHARS as f64 * 100.0).min(100.0);
    let tick = link.callback(|e: Event| {
        let input: web_sys::HtmlInputElement = e.target_unchecked_into();
        Msg::Do(crate::app::Do::ShareAt(input.checked()))
    });
    let live = app.mode == Mode::Live;
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
    html! {
        <>
            { copyable(app, link, "shared-link", text.clone(), true) }
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
            { qr(app, link, &text) }
            <h3>{h.export}</h3>
            { files(app, link) }
            if !live {
                <h3>{h.embed}</h3>
                { snippet(app, link, &text) }
            }
        </>
    }
}

/// The link as a QR code, once asked for; in its place the reason if it is too long for one.
fn qr(app: &App, link: &Link, text: &str) -> Html {
    let h = app.prefs.language.handover();
    match &app.handover.qr {
        _ if text.len() > QR_BYTES => html! { <p class="help" id="qr">{h.qr_long}</p> },
        Some((of, side, path)) if of == text => html! {
            <svg id="qr" class="qr" role="img" aria-label={h.qr_label} viewBox={format!("0 0 {side} {side}")}>
                <rect width="100%" height="100%" fill="#fff" /><path d={path.clone()} />
            </svg>
        },
        _ => html! { <button class="button" id="qr" onclick={on(link, hand(Do::Qr))}>{h.qr}</button> },
    }
}

/// A row for each thing that can be saved, with its formats.
fn files(app: &App, link: &Link) -> Html {
    let h = app.prefs.language.handover();
    let live = app.mode == Mode::Live;
    let rows: [(What, &str, &[&'static str], bool); 5] = [
        (What::Picture, h.export_picture, &["png", "svg"], true),
        (What::Tracks, h.export_tracks, &["png", "svg"], true),
        (What::History, h.export_history, &["csv"], true),
        (What::Report, h.export_report, &["csv", "json"], !live),
        (What::Scenario, h.export_scenario, &["toml", "json"], true),
    ];
    let rows = rows.into_iter().filter(|row| row.3).map(|(what, name, kinds, _)| {
        let buttons = kinds.iter().map(|&kind| {
            let label = format!("{} {name}: {kind}", h.export);
            html! {
                <button class="button" aria-label={label} id={format!("save-{what:?}-{kind}")}
                    onclick={on(link, hand(Do::Save(what, kind)))}>{kind}</button>
            }
        });
        html! { <><span>{name}</span><span>{ for buttons }</span></> }
    });
    html! {
        <div class="files">
            { for rows }
            if !live {
                <span></span>
                <span><button class="button" id="print" onclick={on(link, hand(Do::Print))}>{h.print}</button></span>
            }
        </div>
    }
}

/// What another page needs to show this one.
fn snippet(app: &App, link: &Link, text: &str) -> Html {
    let h = app.prefs.language.handover();
    let words = [h.control_load, h.control_workers, h.control_policy, h.control_seed];
    let exposed = &app.handover.exposed;
    let boxes = words.into_iter().enumerate().map(|(at, name)| {
        let tick = link.callback(move |e: Event| {
            let input: web_sys::HtmlInputElement = e.target_unchecked_into();
            Msg::Do(hand(Do::Expose(at, input.checked())))
        });
        html! {
            <label class="check">
                <input type="checkbox" checked={exposed.contains(&at)} onchange={tick} /><span>{name}</span>
            </label>
        }
    });
    let names: Vec<&str> = exposed.iter().map(|&at| NAMES[at]).collect();
    let controls = if names.is_empty() { String::new() } else { format!("&ctl={}", names.join(",")) };
    let title = app.title().replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let address = format!("{text}&embed=1{controls}").replace('&', "&amp;");
    let code = format!(
        "<iframe src=\"{address}\" width=\"720\" height=\"420\" title=\"{title}\" loading=\"lazy\" style=\"border:0\"></iframe>"
    );
    html! {
        <>
            <p class="help">{h.embed_about}</p>
            <div class="boxes">{ for boxes }</div>
            { copyable(app, link, "embed-code", code, false) }
        </>
    }
}

/// How a command line names this scenario: the preset if it is one, else the link, or a file where the link is long.
fn reference(app: &App, file: Option<&str>) -> String {
    match (app.preset, file) {
        (Some(name), _) => format!("preset:{name}"),
        (None, Some(file)) => format!("'./{file}'"),
        (None, None) => format!("'{}'", crate::link::fragment(&served_scenario(app))),
    }
}

/// The command that runs a scenario with so many servers for real. Where there are none, requests are for files.
fn command(scenario: &str, servers: usize) -> String {
    let mut text = format!("tidegate serve {scenario} \\\n  --listen 127.0.0.1:8080 --admin 127.0.0.1:9900");
    for i in 0..servers {
        text.push_str(&format!(" \\\n  --upstream http://127.0.0.1:{}", 9001 + i));
    }
    if servers == 0 {
        text.push_str(" \\\n  --files ./public");
    }
    text
}

/// The dialog Run on a real server.
pub(super) fn serve(app: &App, link: &Link) -> Html {
    let w = app.words();
    let body = if app.dialog == Some(Dialog::Serve) { served(app, link) } else { Html::default() };
    frame(app, link, Dialog::Serve, "pop", w.run_title, w.run_about, body)
}

/// The scenario as a server begins it: with what is in force at the playhead, and no edits to come.
fn served_scenario(app: &App) -> Parsed {
    if app.is_edited() {
        Parsed::from(ScenarioV1 { edits: Vec::new(), ..app.wire().clone() })
    } else {
        app.parsed.clone()
    }
}

// By itself, as what is shown on request is, so that it can be loaded on request.
#[inline(never)]
fn served(app: &App, link: &Link) -> Html {
    let (w, h) = (app.words(), app.prefs.language.handover());
    let chars = if app.preset.is_some() { 0 } else { crate::link::fragment(&served_scenario(app)).len() };
    let file = (chars > WARN_CHARS).then(|| format!("{}.json", app.file_stem()));
    let servers = app.parsed.wire.servers.len();
    let watch = crate::app::Do::Mode(Mode::Live);
    let go = link.batch_callback(move |_: MouseEvent| {
        vec![Msg::Do(crate::app::Do::Dialog(None)), Msg::Do(watch.clone())]
    });
    html! {
        <>
            if let Some(file) = &file {
                <p class="help">{ fill(h.run_long, &[&figures::count(chars as u64)]) }</p>
                <p style="margin:6px 0 10px">
                    <button class="button" id="save-first" onclick={on(link, hand(Do::Save(What::Scenario, "json")))}>
                        { fill(h.run_save, &[file]) }
                    </button>
                </p>
            }
            { copyable(app, link, "serve-command", command(&reference(app, file.as_deref()), servers), true) }
            <p class="soft" style="margin-top:12px">{ if servers == 0 { h.run_files } else { w.run_more } }</p>
            <p style="margin-top:14px"><button class="button first" onclick={go}>{w.watch_live}</button></p>
        </>
    }
}

/// The page in a frame: picture, transport and ruler, up to two controls, and a way out.
pub(super) fn embedded(app: &App, link: &Link) -> Html {
    let h = app.prefs.language.handover();
    let controls = app.handover.embed.iter().flat_map(|e| &e.controls).map(|c| control(app, link, c));
    html! {
        <div class={classes!("shell", "embed", app.prefs.still.then_some("still"))}>
            <main class="main">
                <section class="story"><h1 id="headline">{ &app.story.headline }</h1></section>
                // The picture is there to be looked at: its parts open the editor, which is not here.
                <div class="still-life" inert=true>{ picture::scene(app, link) }</div>
                if !app.playing && !app.over() {
                    <button class="cover" id="cover" aria-label={h.play_here}
                        onclick={on(link, crate::app::Do::PlayPause)}><svg viewBox="0 0 14 14"><path d="M3.5 1 12 7l-8.5 6z" /></svg></button>
                }
                { states::over(app, link) }
            </main>
            { time::panel(app, link) }
            <footer class="controls">
                { for controls }
                <a href={app.shared_link()} target="_blank" rel="noopener">{h.open_full}</a>
            </footer>
        </div>
    }
}

fn control(app: &App, link: &Link, control: &Control) -> Html {
    let (w, h) = (app.words(), app.prefs.language.handover());
    let wire = &app.parsed.wire;
    let stage = app.control_stage();
    let id = control.path(stage);
    if *control == Control::Policy {
        let root = knobs::json(wire);
        let names: Vec<String> = knobs::QUEUE.arms.iter().map(|arm| arm.name.of(w).to_owned()).collect();
        let now = knobs::QUEUE.chosen(knobs::at(&root, &id), 0);
        let path = id.clone();
        let choose = Rc::new(move |s: &mut _, i| knobs::choose(s, &path, &knobs::QUEUE, i));
        return pick(app, link, id, h.control_policy, now, &names, choose);
    }
    let (label, value, whole, range) = match control {
        Control::Load => (h.load, embed::factor(wire, app.base()), false, Range::Log(0.1, 10.0)),
        Control::Workers => {
            let workers = wire.stages.get(stage).map_or(0, |s| s.workers);
            (h.control_workers, f64::from(workers), true, Range::Log(1.0, 512.0))
        }
        Control::Seed => (h.control_seed, wire.run.seed as f64, true, Range::Linear(0.0, 999.0)),
        _ => {
            let number = |s| knobs::at(&knobs::json(s), &id).cloned().filter(Value::is_number);
            let Some(now) = number(wire) else { return Html::default() };
            let most = number(app.base()).and_then(|n| n.as_f64()).unwrap_or(0.0) * 2.0;
            (id.as_str(), now.as_f64().unwrap_or(0.0), now.is_u64(), Range::Linear(0.0, most.max(1.0)))
        }
    };
    let (control, base) = (control.clone(), app.base().clone());
    let set = Rc::new(move |s: &mut tidegate_core::scenario::v1::ScenarioV1, x: f64| {
        if let Ok(changed) = control.set(s, &base, stage, &knobs::number(x, whole)) {
            *s = changed;
        }
    });
    let unit = if label == h.load { "×" } else { "" };
    let (id, label) = (id.clone(), label.to_owned());
    number(app, link, Number { id, label: &label, unit, value, whole, range, set })
}

#[cfg(test)]
mod tests {
    use super::command;
    use tidegate_core::scenario::presets;

    #[test]
    fn a_command_has_an_upstream_for_each_server_or_serves_files() {
        assert_eq!(
            command("preset:mm1", 2),
            "tidegate serve preset:mm1 \\\n  --listen 127.0.0.1:8080 --admin 127.0.0.1:9900 \\\n  \
             --upstream http://127.0.0.1:9001 \\\n  --upstream http://127.0.0.1:9002"
        );
        assert!(command("preset:seda-exp1", 0).ends_with(" \\\n  --files ./public"));
    }

    #[test]
    fn what_a_shell_is_given_needs_no_other_quotes() {
        for preset in presets::ALL {
            assert!(preset.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{}", preset.name);
            let parsed = tidegate_core::scenario::Parsed::from(preset.scenario().wire().clone());
            let link = crate::link::fragment(&parsed);
            assert!(link.bytes().all(|b| b.is_ascii_alphanumeric() || b"#._-".contains(&b)), "{link}");
        }
    }
}
