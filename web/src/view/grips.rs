//! Thresholds of a drop curve as tags on its axis, to be dragged or moved by keys. What they turn are the editor's knobs.

use super::Link;
use super::markup::html;
use crate::app::{self, App, Edit, Mode, Msg};
use crate::draw::gauge;
use crate::draw::model::StageView;
use crate::figures;
use crate::knobs::{self, Knob};
use crate::words::fill;
use wasm_bindgen::JsCast;
use yew::prelude::*;

/// The tags over the curve of stage `k`, if its control has one curve with thresholds of its own.
pub(super) fn tags(app: &App, link: &Link, k: usize, view: &StageView) -> Html {
    let wire = app.wire().stages.get(k).filter(|_| app.mode == Mode::Explore && view.has_curve());
    let Some(stage) = wire else { return Html::default() };
    let [min, max] = match stage.queue.word() {
        "red" | "priority_red" => ["min", "max"],
        "work_red" => ["min_us", "max_us"],
        _ => return Html::default(),
    };
    let Some(axis) = gauge::seconds_axis(view).or_else(|| app.picture.axis(k)) else {
        return Html::default();
    };
    let arm = knobs::QUEUE.arms.iter().find(|arm| arm.word == stage.queue.word());
    let knob = |key: &str| arm.and_then(|arm| arm.knobs.iter().find(|knob| knob.key == key));
    let tag = |key, hint| knob(key).map(|knob| tag(app, link, k, knob, axis.max, hint)).unwrap_or_default();
    html! { <>{ tag(max, false) }{ tag(min, app.find.hint) }</> }
}

fn tag(app: &App, link: &Link, k: usize, knob: &'static Knob, end: f64, hint: bool) -> Html {
    let (w, t) = (app.words(), app.prefs.language.text());
    let path = format!("stages[{k}].queue.{}", knob.key);
    let root = knobs::json(app.wire());
    let (unit, seconds) = match knob.kind {
        knobs::Kind::Number(unit, ..) => (unit.word(w), unit == knobs::Unit::S),
        _ => ("", false),
    };
    let value = knobs::shown(knobs::at(&root, &format!("stages[{k}].queue")), knob.key, knob);
    let short = knob.key.trim_end_matches("_us");
    let id = format!("{path}-tag");
    let move_by = {
        let path = path.clone();
        move |part: f64| {
            let (path, field) = (path.clone(), path.clone());
            vec![
                Msg::Edit(Edit {
                    field,
                    typed: String::new(),
                    change: Some(Box::new(move |s| {
                        // From what it is by then: several moves may come before the page is rendered again.
                        let root = knobs::json(s);
                        let now =
                            knobs::shown(knobs::at(&root, &format!("stages[{k}].queue")), knob.key, knob);
                        let step =
                            libm::pow(10.0, libm::log10(end).floor() - if seconds { 3.0 } else { 2.0 });
                        let to = ((now + part * end) / step).round() * step;
                        knobs::turn(s, &path, knob, to.max(0.0));
                    })),
                }),
                Msg::Do(app::Do::Find(app::find::Do::Dragged)),
            ]
        }
    };
    let keyed = move_by.clone();
    let key = link.batch_callback(move |e: KeyboardEvent| {
        // The axis runs from right to left; Up is more, as everywhere.
        let part = match e.key().as_str() {
            "ArrowLeft" | "ArrowUp" => 0.01,
            "ArrowRight" | "ArrowDown" => -0.01,
            "PageUp" => 0.1,
            "PageDown" => -0.1,
            _ => return Vec::new(),
        };
        e.prevent_default();
        keyed(part)
    });
    let grab = Callback::from(|e: PointerEvent| {
        if let Some(tag) = e.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok()) {
            let _ = tag.set_pointer_capture(e.pointer_id());
        }
    });
    let drag = link.batch_callback(move |e: PointerEvent| {
        let tag = e.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok());
        let held = tag.filter(|tag| tag.has_pointer_capture(e.pointer_id()) && e.movement_x() != 0);
        let width =
            held.and_then(|tag| tag.parent_element()).map(|curve| curve.get_bounding_client_rect().width());
        width.map_or_else(Vec::new, |width| move_by(-f64::from(e.movement_x()) / width.max(1.0)))
    });
    let said = fill(
        t.grip,
        &[knob.label.of(w), &app.wire().stages[k].name, &format!("{} {unit}", figures::typed(value))],
    );
    html! {
        <button class="grip" {id} role="slider" aria-label={said.clone()} aria-valuetext={said}
            aria-valuenow={figures::typed(value)} aria-valuemin="0" aria-valuemax={figures::typed(end)}
            style={format!("right:{:.2}%", (value / end * 100.0).clamp(0.0, 100.0))}
            onpointerdown={grab} onpointermove={drag} onkeydown={key}>
            {short}
            if hint { <em>{t.drag_me}</em> }
        </button>
    }
}
