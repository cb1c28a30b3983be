//! Why a lane's requests are turned away: the control, its formula, the formula with this moment's figures, and
//! where it comes from.

use super::markup::html;
use super::record::button;
use super::{Link, glyph, on};
use crate::app::{App, Do};
use crate::draw::model::{StageClassView, StageView};
use crate::feed::Feed;
use crate::figures;
use crate::knobs;
use crate::trace::Spot;
use crate::words::{Words, fill};
use tidegate_core::frame::{Gauged, LevelFrame};
use tidegate_core::scenario::v1::QueueV1;
use yew::prelude::*;

/// The line of a RED curve.
const RAMP: &str = "<mrow><mi>p</mi><mo>=</mo><msub><mi>p</mi><mi>max</mi></msub><mo>·</mo><mfrac><mrow><mi>avg</mi><mo>−</mo><mi>min</mi></mrow><mrow><mi>max</mi><mo>−</mo><mi>min</mi></mrow></mfrac></mrow>";
/// An average by arrivals.
const AVERAGE: &str = "<mrow><mi>avg</mi><mo>←</mo><mo>(</mo><mn>1</mn><mo>−</mo><mi>w</mi><mo>)</mo><mi>avg</mi><mo>+</mo><mi>w</mi><mi>Q</mi></mrow>";
/// The same of a level.
const AVERAGE_LEVEL: &str = "<mrow><msub><mi>avg</mi><mi>i</mi></msub><mo>←</mo><mo>(</mo><mn>1</mn><mo>−</mo><mi>w</mi><mo>)</mo><msub><mi>avg</mi><mi>i</mi></msub><mo>+</mo><mi>w</mi><msub><mi>Q</mi><mi>i</mi></msub></mrow>";
/// An average by time.
const AVERAGE_TIME: &str = "<mrow><msub><mi>avg</mi><mi>i</mi></msub><mo>←</mo><msub><mi>avg</mi><mi>i</mi></msub><mo>+</mo><mo>(</mo><mn>1</mn><mo>−</mo><msup><mi>e</mi><mrow><mo>−</mo><mi>Δt</mi><mo>/</mo><mi>τ</mi></mrow></msup><mo>)</mo><mo>(</mo><msub><mi>Q</mi><mi>i</mi></msub><mo>−</mo><msub><mi>avg</mi><mi>i</mi></msub><mo>)</mo></mrow>";
/// Who waits at a level and above it.
const ABOVE: &str = "<mrow><msub><mi>Q</mi><mi>i</mi></msub><mo>=</mo><munder><mo>∑</mo><mrow><mi>j</mi><mo>≥</mo><mi>i</mi></mrow></munder><msub><mi>q</mi><mi>j</mi></msub></mrow>";
/// Times of the drops of CoDel.
const CODEL: &str = "<mrow><msub><mi>t</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msub><mo>=</mo><msub><mi>t</mi><mi>n</mi></msub><mo>+</mo><mfrac><mi>T</mi><msqrt><mi>n</mi></msqrt></mfrac></mrow>";
/// One step of PIE.
const PIE: &str = "<mrow><mi>p</mi><mo>←</mo><mi>p</mi><mo>+</mo><mi>α</mi><mo>(</mo><mi>d</mi><mo>−</mo><msub><mi>d</mi><mn>0</mn></msub><mo>)</mo><mo>+</mo><mi>β</mi><mo>(</mo><mi>d</mi><mo>−</mo><msub><mi>d</mi><mrow><mo>−</mo><mn>1</mn></mrow></msub><mo>)</mo></mrow>";
/// A limit.
const LIMIT: &str =
    "<mrow><mi>p</mi><mo>=</mo><mn>1</mn><mtext>&#8194;</mtext><mi>q</mi><mo>≥</mo><mi>limit</mi></mrow>";

/// The formulas of a control, and where it comes from.
const fn paper(queue: &QueueV1) -> (&'static [&'static str], &'static str) {
    match queue {
        QueueV1::TailDrop { .. } => (&[LIMIT], ""),
        QueueV1::LengthThreshold { .. } | QueueV1::EnqueueRate { .. } => {
            (&[], "SEDA, Welsh, Culler, Brewer 2001")
        }
        QueueV1::AdaptiveRate { .. } => (&[], "Welsh, Culler 2003"),
        QueueV1::AdmissionWindow { .. } => (&[], "paper P, 0.8"),
        QueueV1::Red { .. } => (&[RAMP, AVERAGE], "Floyd, Jacobson 1993"),
        QueueV1::PriorityRed { .. } => (&[RAMP, AVERAGE_LEVEL, ABOVE], "paper S, 1.3 (Luo, Zhou, Chen 2009)"),
        QueueV1::PdtRed { .. } => (&[RAMP, AVERAGE_LEVEL, ABOVE], "PDT-RED; paper S, 1.3"),
        QueueV1::Wred { .. } => (&[RAMP, AVERAGE_LEVEL, ABOVE], "RIO, Clark, Fang 1998; WRED"),
        QueueV1::WorkRed { .. } => (&[RAMP, AVERAGE_TIME, ABOVE], "Tidegate; paper S, 1.3"),
        QueueV1::Codel { .. } => (&[CODEL], "RFC 8289, 5"),
        QueueV1::Pie { .. } => (&[PIE], "RFC 8033, 4.2"),
    }
}

/// The panel of a stage: opened for a lane, or the button that opens it.
pub(super) fn panel(app: &App, link: &Link, k: usize) -> Html {
    let w = app.words();
    let Some(feed) = app.feed() else { return Html::default() };
    let (Some(spec), Some(view)) = (feed.scenario.stages.get(k), feed.model.stages.get(k)) else {
        return Html::default();
    };
    let last = feed.cast.order.last().copied().unwrap_or(0);
    let open = app.why.filter(|&(stage, class)| stage == k && class < view.classes.len());
    let class = open.map_or(last, |(_, class)| class);
    let button = html! {
        <button class="whyopen" aria-expanded={open.is_some().to_string()} aria-controls="why"
            onclick={on(link, Do::Why(k, class))}>
            { knobs::queue_name(&spec.queue, w) }{" · "}<u>{w.why}</u>
        </button>
    };
    if open.is_none() { button } else { answer(app, link, feed, (k, class), button) }
}

/// The button and what it opened, for a class at a stage.
#[inline(never)]
fn answer(app: &App, link: &Link, feed: &Feed, (k, class): (usize, usize), button: Html) -> Html {
    let w = app.words();
    let (spec, view) = (&feed.scenario.stages[k], &feed.model.stages[k]);
    let (formulas, source) = paper(&spec.queue);
    let about = knobs::queue_about(&spec.queue, w);
    html! {
        <>
            { button }
            <div class="why" id="why" role="region" aria-label={w.why}>
                <p>{about}</p>
                { for formulas.iter().map(|f| {
                    let math = format!("<math display=\"block\">{f}</math>");
                    Html::from_html_unchecked(math.into())
                }) }
                <p class="now">{ glyph(feed.cast.rank(class)) }{" "}{ now(w, view, &view.classes[class]) }</p>
                if view.gauged != Gauged::Nothing { { all(w, feed, view) } }
                if !source.is_empty() { <p class="low">{ fill(w.why_source, &[source]) }</p> }
                { follow(app, link, k, class, &view.classes[class]) }
            </div>
        </>
    }
}

/// Buttons that follow one request of the lane.
fn follow(app: &App, link: &Link, k: usize, class: usize, view: &StageClassView) -> Html {
    if app.mode == crate::app::Mode::Live {
        return Html::default();
    }
    let w = app.prefs.language.record();
    let waiting = |nth| Spot::Waiting { stage: k as u8, class: class as u8, nth };
    html! {
        <p class="follow">
            if view.waiting > 0 {
                { button(link, waiting(0), w.follow_first.to_owned()) }
                { button(link, waiting(view.waiting - 1), w.follow_last.to_owned()) }
            }
            { button(link, Spot::Refused { class: class as u8 }, w.follow_refused.to_owned()) }
        </p>
    }
}

/// An average or threshold, in its unit.
pub(super) fn level(gauged: Gauged, x: f64) -> String {
    if gauged == Gauged::Seconds { figures::wait(x) } else { figures::rate(x) }
}

/// The formula with the figures of this moment.
fn now(w: &Words, stage: &StageView, class: &StageClassView) -> String {
    let g = class.gauge;
    let show = |x: f64| level(stage.gauged, x);
    let away = figures::percent(g.drop_p);
    match stage.gauged {
        Gauged::Nothing => {
            let (there, limit) = (figures::count(class.counted.into()), figures::count(stage.limit.into()));
            fill(w.why_room, &[&there, &limit])
        }
        Gauged::Jobs if g.max <= 0.0 => fill(w.why_rate, &[&show(g.average), &away]),
        Gauged::Seconds if g.max <= 0.0 => fill(w.why_wait, &[&show(g.average), &show(g.min), &away]),
        _ => on_curve(w, &g, stage.gauged),
    }
}

fn on_curve(w: &Words, g: &LevelFrame, gauged: Gauged) -> String {
    let show = |x: f64| level(gauged, x);
    if g.average < g.min && g.drop_p < 1.0 {
        fill(w.why_below, &[&show(g.average), &show(g.min)])
    } else if g.average < g.max && g.drop_p >= 1.0 {
        w.why_present.to_owned()
    } else if g.average >= g.max {
        fill(w.why_above, &[&show(g.average), &show(g.max)])
    } else {
        // In the unit of the thresholds, so that the reader can do the sum.
        let digits = |x: f64| figures::typed((x * 1000.0).round() / 1000.0);
        let sum = format!(
            "{} × ({} − {}) / ({} − {}) = {}",
            digits(g.max_p),
            digits(g.average),
            digits(g.min),
            digits(g.max),
            digits(g.min),
            figures::chance(g.drop_p)
        );
        fill(w.why_chance, &[&sum])
    }
}

/// What every lane's figures are.
fn all(w: &Words, feed: &crate::feed::Feed, view: &StageView) -> Html {
    let rows = feed.cast.order.iter().enumerate().filter_map(|(rank, &c)| {
        let g = view.classes.get(c)?.gauge;
        Some(html! {
            <tr>
                <th scope="row">{ glyph(rank) }{" "}{ &feed.scenario.classes[c].name }</th>
                <td>{ level(view.gauged, g.average) }</td>
                <td>{ figures::chance(g.drop_p) }</td>
                <td>{ if g.max_p > 0.0 { figures::chance(g.max_p) } else { String::new() } }</td>
            </tr>
        })
    });
    html! {
        <table>
            <thead><tr><td></td><th scope="col">{w.why_average}</th><th scope="col">{w.chance_of_drop}</th>
                <th scope="col">{w.why_max_p}</th></tr></thead>
            <tbody>{ for rows }</tbody>
        </table>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::english;

    #[track_caller]
    fn check(average: f64, drop_p: f64, want: &str) {
        let g = LevelFrame { average, min: 200.0, max: 280.0, drop_p, max_p: 0.5, promoted: 0 };
        assert_eq!(on_curve(english(), &g, Gauged::Jobs), want);
    }

    #[test]
    fn the_figures_are_put_into_the_formula() {
        check(240.0, 0.25, "0.5 × (240 − 200) / (280 − 200) = 0.25 now");
        check(63.4, 0.0, "The average, 63, is below min, 200: nobody is turned away.");
        check(300.0, 1.0, "The average, 300, is beyond max, 280: everybody is turned away.");
        check(150.0, 1.0, "The work present is at its limit: everybody is turned away until it falls.");
    }

    #[test]
    fn every_formula_is_well_formed() {
        for f in [RAMP, AVERAGE, AVERAGE_LEVEL, AVERAGE_TIME, ABOVE, CODEL, PIE, LIMIT] {
            let open = f.matches('<').count() - 2 * f.matches("</").count();
            assert_eq!(open, 0, "as many ends as beginnings in {f}");
        }
    }
}
