//! The time panel: run controls, ruler with flags and playhead, and the history tracks.

use super::markup::html;
use super::{Link, Typed, glyph, icons, on, text_field};
use crate::app::{App, Do, Mode, Msg, SPEEDS};
use crate::draw::tracks::Tone;
use crate::figures;
use crate::history::{Plot, Tell, name, ticks};
use crate::layout::track_height;
use crate::words::{Words, fill};
use std::rc::Rc;
use yew::prelude::*;

/// The panel.
pub(super) fn panel(app: &App, link: &Link) -> Html {
    html! {
        <section class="time" aria-label={app.words().timeline}>
            { transport(app, link) }
            { tracks(app, link) }
        </section>
    }
}

fn icon(link: &Link, path: &'static str, label: &'static str, command: Do) -> Html {
    html! {
        <button class="icon" aria-label={label} title={label} onclick={on(link, command)}>{ icons::line(path) }</button>
    }
}

/// Arrow keys move between the controls of the toolbar.
fn roving() -> Callback<KeyboardEvent> {
    use wasm_bindgen::JsCast;
    Callback::from(|e: KeyboardEvent| {
        let step: i32 = match e.key().as_str() {
            "ArrowRight" => 1,
            "ArrowLeft" => -1,
            _ => return,
        };
        let Some(bar) = e.current_target().and_then(|t| t.dyn_into::<web_sys::Element>().ok()) else {
            return;
        };
        let Some(at) = e.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok()) else { return };
        if at.tag_name() != "BUTTON" {
            return; // fields use the arrows themselves
        }
        let Ok(list) = bar.query_selector_all("button") else { return };
        let buttons: Vec<web_sys::HtmlElement> =
            (0..list.length()).filter_map(|i| list.item(i)?.dyn_into().ok()).collect();
        let Some(here) = buttons.iter().position(|b| b.is_same_node(Some(&at))) else { return };
        let next = (here as i32 + step).rem_euclid(buttons.len() as i32) as usize;
        let _ = buttons[next].focus();
        e.prevent_default();
        e.stop_propagation();
    })
}

fn transport(app: &App, link: &Link) -> Html {
    let w = app.words();
    if app.mode == Mode::Live {
        return html! {
            <div class="transport" role="toolbar" aria-label={w.run_controls}>
                <span class="clock"><span id="clock">{ figures::clock(app.now_s()) }</span></span>
                if app.live.is_on() { <span class="soft" id="following">{w.following}</span> }
                <div class="spare">
                    if app.live.feed.is_some() {
                        <button class="button" onclick={on(link, Do::TakeLive)}>{w.open_in_explore}</button>
                    }
                </div>
            </div>
        };
    }
    let (play, label) =
        if app.playing { ("M3 1.5h3v11H3zM8 1.5h3v11H8z", w.pause) } else { ("M3.5 1 12 7l-8.5 6z", w.play) };
    html! {
        <div class="transport" role="toolbar" aria-label={w.run_controls} onkeydown={roving()}>
            { icon(link, icons::RESTART, w.restart, Do::Seek(0.0)) }
            { icon(link, icons::BACK, w.step_back, Do::Step(false)) }
            <button class="play" id="play" aria-label={label} title={label} onclick={on(link, Do::PlayPause)}>
                <svg viewBox="0 0 14 14" aria-hidden="true"><path d={play} /></svg>
            </button>
            { icon(link, icons::FORWARD, w.step, Do::Step(true)) }
            <span class="optional back">{ icon(link, icons::EVENT, w.step_event_back, Do::StepEvent(false)) }</span>
            <span class="optional">{ icon(link, icons::EVENT, w.step_event, Do::StepEvent(true)) }</span>
            <span class="optional">{ icon(link, icons::DECISION, w.step_decision, Do::StepDecision) }</span>
            <span class="clock">
                <span id="clock">{ figures::clock(app.now_s()) }</span>
                <small>{ format!(" / {}", figures::clock_short(app.horizon_s())) }</small>
            </span>
            { speed(app, link) }
            <div class="spare">
                <button class="quiet" title={w.add_event_here} onclick={on(link, Do::AddEvent)}>
                    { icons::line(icons::PLUS) }<span>{w.add_event}</span>
                </button>
                { seed(app, link) }
            </div>
        </div>
    }
}

fn speed(app: &App, link: &Link) -> Html {
    let w = app.words();
    // The last bit of the way is as fast as it goes.
    let (slow, fast) = (libm::log10(SPEEDS.0.max(0.1)), libm::log10(SPEEDS.1) + 0.2);
    let place = libm::log10(app.speed).clamp(slow, fast);
    let shown = if app.speed > SPEEDS.1 { w.as_fast.to_owned() } else { figures::speed(app.speed) };
    let slide = link.callback(|e: InputEvent| {
        let input: web_sys::HtmlInputElement = e.target_unchecked_into();
        let exponent = input.value_as_number();
        let speed = libm::pow(10.0, exponent);
        // Two digits are enough, and 1 is easy to find again.
        let round = libm::pow(10.0, libm::log10(speed).floor() - 1.0);
        let speed = if exponent.abs() < 0.06 { 1.0 } else { (speed / round).round() * round };
        let speed = if exponent > 3.0 && exponent < 3.1 { SPEEDS.1 } else { speed };
        Msg::Do(Do::Speed(speed))
    });
    let field =
        Typed { id: "speed", value: shown.clone(), label: w.speed_typed, class: "typed", numeric: true };
    let typed = text_field(
        app,
        link,
        field,
        Rc::new(|text: String| {
            figures::read(text.trim().trim_end_matches(['×', 'x', 'X']))
                .map(|speed| Msg::Do(Do::Speed(speed)))
        }),
    );
    let fill_part = (place - slow) / (fast - slow) * 100.0;
    html! {
        <div class="speed">
            <label class="label" for="speed-slider">{w.speed}</label>
            <span class="low">{"0.1×"}</span>
            <input id="speed-slider" type="range" min={slow.to_string()} max={fast.to_string()} step="0.05"
                value={format!("{place:.2}")} style={format!("--f:{fill_part:.1}%")}
                aria-valuetext={shown} oninput={slide} />
            <span class="low">{w.as_fast}</span>
            { typed }
            if let Some(reached) = app.reached {
                <span class="behind">{ fill(w.reaches, &[&figures::speed(reached)]) }</span>
            }
        </div>
    }
}

fn seed(app: &App, link: &Link) -> Html {
    let w = app.words();
    let field = Typed {
        id: "run.seed",
        value: app.parsed.wire.run.seed.to_string(),
        label: w.seed,
        class: "",
        numeric: true,
    };
    let typed = text_field(
        app,
        link,
        field,
        Rc::new(|text: String| text.trim().parse().ok().map(|seed| Msg::Do(Do::Seed(seed)))),
    );
    html! {
        <div class="seed">
            <label for="run.seed">{w.seed}</label>{ typed }
            <button class="icon" aria-label={w.new_seed} title={w.new_seed} onclick={on(link, Do::Dice)}>
                { icons::dice() }
            </button>
        </div>
    }
}

/// Follows the pointer over the time axis: moving shows a reading, pressing moves the playhead.
fn pointing(
    app: &App,
    link: &Link,
) -> (Callback<PointerEvent>, Callback<PointerEvent>, Callback<PointerEvent>) {
    let plot = app.refs.plot.clone();
    let place = move |e: &PointerEvent| {
        let left = plot.cast::<web_sys::Element>().map_or(0.0, |p| p.get_bounding_client_rect().left());
        f64::from(e.client_x()) - left
    };
    let explore = app.mode != Mode::Live;
    let press = {
        let place = place.clone();
        link.callback(move |e: PointerEvent| {
            if let Some(target) = e.current_target() {
                let target: web_sys::Element = wasm_bindgen::JsCast::unchecked_into(target);
                let _ = target.set_pointer_capture(e.pointer_id());
            }
            Msg::Point(Some(place(&e)), explore)
        })
    };
    let glide = link.callback(move |e: PointerEvent| {
        let dragging = explore && e.buttons() & 1 == 1;
        Msg::Point(Some(place(&e)), dragging)
    });
    let leave = link.callback(|_: PointerEvent| Msg::Point(None, false));
    (press, glide, leave)
}

fn tracks(app: &App, link: &Link) -> Html {
    let w = app.words();
    let rows = app.plot.kinds.len().max(3);
    let style = format!("--track:{}px;--tracks:{rows}", track_height());
    let (press, glide, leave) = pointing(app, link);
    let (press2, glide2, _) = pointing(app, link);
    let at_s = app.hover_s.unwrap_or_else(|| app.now_s());
    let names = app.plot.kinds.iter().map(|&kind| {
        let (name, unit) = name(kind, w);
        html! { <span>{name}<small>{unit}</small></span> }
    });
    let beside = &app.compare.plot;
    let readings = app.plot.kinds.iter().enumerate().map(|(row, kind)| {
        match beside.kinds.iter().position(|other| other == kind) {
            None => reading(&app.plot, row, at_s, w),
            Some(other) => {
                html! { <div class="two">{ reading(&app.plot, row, at_s, w) }{ reading(beside, other, at_s, w) }</div> }
            }
        }
    });
    let hint = if app.is_comparing() {
        app.prefs.language.compare().lines.to_owned()
    } else if app.is_predicted() {
        w.predicted.to_owned()
    } else if app.has_ghost() {
        w.dotted.to_owned()
    } else if app.computing() {
        fill(w.computing, &[&figures::percent(app.share)])
    } else {
        String::new()
    };
    html! {
        <div class="tracks" {style}>
            <div class="ruler" id="ruler" onpointerdown={press2} onpointermove={glide2}>
                { for ruler_ticks(app) }
                if app.mode != Mode::Live { { for ruler_flags(app, link) } }
                <div class="clip">{ playhead(app, link) }</div>
            </div>
            <div class="trackhint">{hint}</div>
            <div class="names">{ for names }</div>
            <div class="plot" ref={app.refs.plot.clone()} onpointerdown={press} onpointermove={glide}
                onpointerleave={leave}>
                <canvas ref={app.refs.tracks.clone()} role="img" aria-label={charts(app)}></canvas>
            </div>
            <div class="readings">{ for readings }</div>
        </div>
    }
}

/// What a track reads at a moment. Not copied to where it is used: the page is weighed.
#[inline(never)]
fn reading(plot: &Plot, row: usize, at_s: f64, w: &Words) -> Html {
    let parts = plot.reading(row, at_s, w).into_iter().map(|(rank, text, tell)| match (rank, tell) {
        (Some(rank), _) => html! { <span>{ glyph(rank) }{text}</span> },
        (None, Tell::Main) => html! { <b>{text}</b> },
        (None, Tell::Side) => html! { <span class="unit">{text}</span> },
    });
    html! { <div>{ for parts }</div> }
}

/// The charts in a sentence.
fn charts(app: &App) -> String {
    format!("{}: {}", app.words().charts, app.story.plain())
}

fn playhead(app: &App, link: &Link) -> Html {
    let w = app.words();
    if app.mode == Mode::Live {
        return Html::default();
    }
    let now = app.now_s();
    let horizon = app.horizon_s();
    let key = link.batch_callback(move |e: KeyboardEvent| {
        let step = horizon / 180.0;
        let to = match e.key().as_str() {
            "ArrowLeft" | "ArrowDown" => now - step,
            "ArrowRight" | "ArrowUp" => now + step,
            "PageDown" => now - 10.0 * step,
            "PageUp" => now + 10.0 * step,
            "Home" => 0.0,
            "End" => horizon,
            _ => return None,
        };
        e.prevent_default();
        e.stop_propagation();
        Some(Msg::Do(Do::Seek(to)))
    });
    html! {
        <div class="playhead" ref={app.refs.playhead.clone()}>
            <button role="slider" aria-label={w.time} aria-valuemin="0" aria-valuemax={format!("{horizon:.0}")}
                aria-valuenow={format!("{now:.1}")} aria-valuetext={figures::clock(now)} onkeydown={key}>
                <span>{ figures::clock_short(now) }</span>
            </button>
        </div>
    }
}

fn ruler_ticks(app: &App) -> Vec<Html> {
    let (from, to) = app.span_s;
    let now = app.part(app.now_s());
    ticks(from, to)
        .into_iter()
        .map(|s| {
            let part = app.part(s);
            let class = match part {
                p if p < 0.001 => "tick start",
                p if p > 0.985 => "tick end",
                _ => "tick",
            };
            // A number under the playhead's own would only be noise.
            let hidden = app.mode != Mode::Live && (part - now).abs() < 0.055;
            let style = format!("left:{:.3}%;opacity:{}", part * 100.0, u8::from(!hidden));
            html! { <span {class} {style}>{ figures::clock_short(s) }</span> }
        })
        .collect()
}

fn ruler_flags(app: &App, link: &Link) -> Vec<Html> {
    let w = app.words();
    let (_, to) = app.span_s;
    let flags = &app.flags;
    flags
        .iter()
        .enumerate()
        .map(|(i, flag)| {
            let next = flags.get(i + 1).map_or(to, |f| f.at_s);
            let (left, room) = (app.part(flag.at_s) * 100.0, (app.part(next) - app.part(flag.at_s)) * 100.0);
            let style = format!("left:{left:.3}%;max-width:max(10px, calc({room:.3}% - 3px))");
            let class = match flag.tone {
                Tone::Bad => "flag fail",
                Tone::Good => "flag mend",
                Tone::Yours => "flag yours",
                _ => "flag",
            };
            let label = fill(w.flag_go, &[&flag.text, &figures::clock_short(flag.at_s)]);
            let go = {
                let at_s = flag.at_s;
                link.callback(move |e: MouseEvent| {
                    e.stop_propagation();
                    Msg::Do(Do::Seek(at_s))
                })
            };
            let keep = Callback::from(|e: PointerEvent| e.stop_propagation());
            html! {
                <button {class} {style} aria-label={label.clone()} title={label} onclick={go} onpointerdown={keep}>
                    { &flag.text }
                </button>
            }
        })
        .collect()
}
