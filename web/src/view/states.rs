//! What is said over the picture when there is nothing to see, or something to decide. Never a spinner alone.

use super::{Link, choose, icons, on, opens};
use crate::app::{App, Dialog, Do, Mode, Notice};
use crate::figures;
use crate::live::Status;
use crate::protocol::LogRead;
use crate::words::fill;
use yew::prelude::*;

/// The state, if one is to be shown.
pub(super) fn over(app: &App, link: &Link) -> Html {
    let w = app.words();
    if app.dragging {
        return card("drop", html! { <><h2>{w.drop_here}</h2><p>{w.drop_about}</p></> });
    }
    if let Some(notice) = &app.notice {
        return card("", of_notice(app, link, notice));
    }
    if app.mode == Mode::Live {
        return live(app, link);
    }
    match app.feed() {
        None => card(
            "",
            html! {
                <><h2>{w.loading}</h2><p>{w.loading_about}</p><div class="meter"><i style="width:62%"></i></div></>
            },
        ),
        Some(feed) if feed.is_empty() => card(
            "over",
            html! {
                <>
                    <h2>{w.empty}</h2><p>{w.empty_about}</p>
                    <div class="row">
                        <button class="button first" onclick={on(link, Do::RaiseRate)}>{w.raise_rate}</button>
                        <button class="button" onclick={opens(link, Dialog::Presets)}>{w.pick_preset}</button>
                    </div>
                </>
            },
        ),
        Some(_) => Html::default(),
    }
}

fn card(kind: &'static str, inside: Html) -> Html {
    html! {
        <section class={classes!("state", kind)} id="state" aria-live="polite"><div class="card">{ inside }</div></section>
    }
}

fn of_notice(app: &App, link: &Link, notice: &Notice) -> Html {
    let w = app.words();
    let dismiss = || html! { <button class="button" onclick={on(link, Do::Dismiss)}>{w.keep_last}</button> };
    let presets = |words: &'static str| {
        html! { <button class="button first" onclick={opens(link, Dialog::Presets)}>{words}</button> }
    };
    match notice {
        Notice::Damaged(reason) => html! {
            <>
                <h2>{w.damaged}</h2><p>{w.damaged_about}</p><pre>{reason}</pre>
                <div class="row">{ presets(w.start_fresh) }{ dismiss() }</div>
            </>
        },
        Notice::Newer(newer) => html! {
            <>
                <h2>{w.newer}</h2>
                <p>{ fill(w.newer_about, &[
                    if newer.title.is_empty() { w.untitled } else { &newer.title },
                    &newer.version.to_string(),
                    &tidegate_core::scenario::v1::VERSION.to_string(),
                ]) }</p>
                if !newer.json.is_empty() { <pre>{ &newer.json }</pre> }
                <div class="row">
                    <button class="button first" onclick={on(link, Do::Reload)}>{w.reload}</button>{ dismiss() }
                </div>
            </>
        },
        Notice::Bad(reason) => html! {
            <>
                <h2>{w.bad_scenario}</h2><pre>{reason}</pre>
                <div class="row">{ presets(w.pick_preset) }{ dismiss() }</div>
            </>
        },
        Notice::Broke(reason) => html! {
            <>
                <h2>{w.worker_broke}</h2><p>{ fill(w.worker_broke_about, &[reason]) }</p>
                <div class="row"><button class="button first" onclick={on(link, Do::Reload)}>{w.reload}</button></div>
            </>
        },
        Notice::NeedsLog => html! {
            <>
                <h2>{w.needs_log}</h2><p>{w.needs_log_about}</p>
                <div class="row">
                    <button class="button first" onclick={choose(app)}>{w.open_file}</button>
                    <button class="button" onclick={opens(link, Dialog::Presets)}>{w.pick_preset}</button>
                </div>
            </>
        },
        Notice::Reading(name) => html! {
            <><h2>{ fill(w.reading, &[name]) }</h2><div class="meter"><i style="width:50%"></i></div></>
        },
        Notice::Log(read) => log(app, link, read),
        Notice::LogBad(name, reason, first_line) => html! {
            <>
                <h2>{ fill(w.log_bad, &[name]) }</h2><p>{reason}</p>
                if !first_line.is_empty() { <><p>{w.log_bad_first}</p><pre>{first_line}</pre></> }
                <div class="row">
                    <button class="button first" onclick={choose(app)}>{w.open_file}</button>{ dismiss() }
                </div>
            </>
        },
        Notice::Heavy(events) => html! {
            <>
                <h2>{w.heavy}</h2><p>{ fill(w.heavy_about, &[&figures::count(events.round() as u64)]) }</p>
                <div class="row"><button class="button first" onclick={on(link, Do::PlayHeavy)}>{w.play_it}</button></div>
            </>
        },
    }
}

fn log(app: &App, link: &Link, read: &LogRead) -> Html {
    let w = app.words();
    let all = read.rows + read.rejects;
    let title = if read.rejects == 0 {
        fill(w.log_read_all, &[&figures::count(read.rows)])
    } else {
        fill(w.log_read, &[&figures::count(read.rows), &figures::count(all)])
    };
    let timed = if read.timed > 0 { w.log_timed } else { w.log_untimed };
    let most: Vec<String> =
        read.labels.iter().take(6).map(|(l, n)| format!("{l} ({})", figures::count(*n))).collect();
    let mut lines: Vec<String> = read.notes.clone();
    lines.extend(read.first_rejects.iter().map(|(n, why)| fill(w.log_line, &[&n.to_string(), why])));
    let mut classes = fill(w.log_classes, &[&most.join(", ")]);
    if read.labels.len() > most.len() {
        classes.push(' ');
        classes.push_str(&fill(w.log_others, &[&(read.labels.len() - most.len()).to_string()]));
    }
    let about = fill(w.log_read_about, &[&read.name, &figures::wait(read.span_s), timed]);
    html! {
        <>
            <h2 id="log-read" data-rows={read.rows.to_string()} data-rejects={read.rejects.to_string()}>{title}</h2>
            <p>{about}<br />{classes}</p>
            if !lines.is_empty() { <pre>{ lines.join("\n") }</pre> }
            <div class="row">
                <button class="button first" id="play-log" onclick={on(link, Do::PlayLog)}>{w.log_play}</button>
                <button class="button" onclick={on(link, Do::Dismiss)}>{w.log_cancel}</button>
            </div>
        </>
    }
}

fn live(app: &App, link: &Link) -> Html {
    let w = app.words();
    let live = &app.live;
    let address = live.shown_address();
    let again = Do::Connect(live.address.clone());
    let row = html! {
        <div class="row">
            <button class="button first" onclick={on(link, again)}>{w.try_now}</button>
            <button class="button" onclick={on(link, Do::Disconnect)}>{w.disconnect}</button>
        </div>
    };
    match &live.status {
        Status::Lost(s) => card(
            "over",
            html! {
                <><h2>{w.live_lost}</h2><p>{ fill(w.live_lost_about, &[&address, &s.to_string()]) }</p>{ row }</>
            },
        ),
        Status::Refused => {
            let command = "tidegate play --demo";
            card(
                "",
                html! {
                    <>
                        <h2>{ fill(w.live_refused, &[&address]) }</h2><p>{w.live_refused_about}</p>
                        <p>{w.start_here}{" "}<code>{command}</code>{" "}
                            <button class="icon" style="display:inline-grid;vertical-align:middle" aria-label={w.copy}
                                onclick={on(link, Do::Copy(command.to_owned()))}>{ icons::line(icons::FILE) }</button>
                        </p>
                        { row }
                    </>
                },
            )
        }
        Status::Foreign(reason) => card(
            "",
            html! {
                <><h2>{w.live_foreign}</h2><p>{ fill(w.live_foreign_about, &[reason]) }</p>{ row }</>
            },
        ),
        Status::Connecting if live.feed.is_none() => card("", html! { <h2>{w.live_waiting}</h2> }),
        Status::Off if live.feed.is_none() => card(
            "",
            html! {
                <>
                    <h2>{w.live_off}</h2><p>{w.live_hint}</p>
                    <div class="row">
                        <button class="button first" onclick={on(link, Do::Connect(live.address.clone()))}>{w.connect}</button>
                    </div>
                </>
            },
        ),
        Status::On | Status::Connecting | Status::Off => Html::default(),
    }
}
