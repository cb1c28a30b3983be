//! What the controller of a split makes of its classes: its state in a sentence, the model it has identified, and how
//! an error goes after a disturbance.

use super::glyph;
use super::markup::html;
use crate::app::{App, Mode};
use crate::draw::Rect;
use crate::draw::model::StageView;
use crate::draw::response::{measured, path, place};
use crate::feed::{Feed, SplitTrail};
use crate::figures;
use crate::words::{Word, Words, fill};
use tidegate_core::control::split::{Model, Regulator, step_response};
use tidegate_core::frame::{LoopFrame, SplitState};
use tidegate_core::scenario::v1::SplitByV1;
use yew::prelude::*;

/// Periods shown of a response.
const PERIODS: usize = 20;

/// What a flag means, by its bit; the model in use has a row of its own.
const FLAGS: [(u32, Word); 5] = [
    (LoopFrame::AT_FLOOR, Word::flag_floor),
    (LoopFrame::STEP_CUT, Word::flag_step),
    (LoopFrame::ESTIMATE_CUT, Word::flag_estimate),
    (LoopFrame::STALE, Word::flag_stale),
    (LoopFrame::WAIT_LIMITED, Word::flag_limited),
];

/// The panel of a stage; nothing where no controller moves the split.
pub(super) fn panel(app: &App, k: usize) -> Html {
    let stage = app.feed().and_then(|feed| Some((feed, feed.model.stages.get(k)?)));
    stage
        .filter(|(_, view)| view.is_controlled())
        .map(|(feed, view)| shown(app, feed, view, k))
        .unwrap_or_default()
}

#[inline(never)]
fn shown(app: &App, feed: &Feed, view: &StageView, k: usize) -> Html {
    let w = app.words();
    let spec = &feed.scenario.stages[k].split_by;
    let names: Vec<&str> = feed.scenario.classes.iter().map(|c| c.name.as_str()).collect();
    html! {
        <details class="model" open={app.mode == Mode::Live}>
            <summary>{w.model_panel}{" · "}<span class="low">{ state(w, view.control.state) }</span></summary>
            <div class="why">
                { for sentences(w, view, rule(w, spec), &names).into_iter().map(|s| html! { <p>{s}</p> }) }
                { table(w, feed, view, feed.split(k)) }
                { for flags(w, view).into_iter().map(|(c, flags)| html! {
                    <p>{ glyph(feed.cast.rank(c)) }{" "}{flags}</p>
                }) }
                { response(app, feed, view, k) }
                <p class="low">{w.model_help}</p>
            </div>
        </details>
    }
}

/// The state in a word or two.
pub(super) fn state(w: &Words, state: SplitState) -> &'static str {
    match state {
        SplitState::None => "",
        SplitState::Idle => w.state_idle,
        SplitState::Learning => w.state_learning,
        SplitState::Steering => w.state_steering,
        SplitState::Infeasible => w.state_stuck,
        SplitState::Fallback => w.state_fallback,
    }
}

/// What a controller goes by while it does not trust what it has, in a sentence.
fn rule(w: &Words, split_by: &SplitByV1) -> &'static str {
    if matches!(split_by, SplitByV1::StcPaper { .. }) { w.say_fallback } else { w.say_held }
}

/// The state in a sentence, then what else is worth one. `rule` is what it says while it goes by its rule.
fn sentences(w: &Words, view: &StageView, rule: &str, names: &[&str]) -> Vec<String> {
    let control = &view.control;
    let first = match control.state {
        SplitState::None | SplitState::Idle => w.say_idle.to_owned(),
        SplitState::Learning => w.say_learning.to_owned(),
        SplitState::Steering => w.say_steering.to_owned(),
        SplitState::Infeasible => {
            fill(w.say_stuck, &[names.get(control.stuck as usize).copied().unwrap_or_default()])
        }
        SplitState::Fallback => rule.to_owned(),
    };
    let mut all = vec![first];
    let least = (control.classes.iter().enumerate())
        .filter(|(_, seen)| seen.margin > 0.0)
        .min_by(|(_, a), (_, b)| a.margin.total_cmp(&b.margin));
    if let Some((class, seen)) = least {
        all.push(fill(w.say_margin, &[names.get(class).unwrap_or(&""), &figures::ratio(seen.margin)]));
    }
    let mut figures = Vec::new();
    if control.resolution > 0.0 {
        figures.push(fill(w.say_whole, &[&figures::percent(control.resolution)]));
    }
    figures.push(fill(w.say_moved, &[&figures::count(control.moved), &figures::count(control.samples)]));
    if view.over() > 0 {
        figures.push(fill(w.say_finishing, &[&view.over().to_string()]));
    }
    all.push(figures.join(" "));
    all
}

/// What is cut or limited for each class, in words; without those of which nothing is.
fn flags(w: &Words, view: &StageView) -> Vec<(usize, String)> {
    let of = |seen: &LoopFrame| {
        let set: Vec<&str> =
            FLAGS.iter().filter(|(bit, _)| seen.flags & bit != 0).map(|(_, word)| word.of(w)).collect();
        set.join(" · ")
    };
    let all = view.control.classes.iter().map(of).enumerate();
    all.filter(|(_, flags)| !flags.is_empty()).collect()
}

/// An estimate: three digits, with a true minus sign.
fn estimate(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return "–".to_owned();
    }
    if x.abs() < 0.0005 {
        return "<0.001".to_owned();
    }
    let digits = if x.abs() < 0.1 { 3 } else { 2 };
    format!("{x:.digits$}").replace('-', "−")
}

/// A row of the table: what it is called, and what it says of a class: the figure, and one to hold it against.
type Row = (&'static str, fn(&Words, &LoopFrame, f64) -> String);

/// Rows of the table, the most telling first; the number is that of the workers.
fn rows(w: &Words) -> [Row; 12] {
    [
        (w.row_wait, |_, seen, _| figures::fine(libm::exp(seen.error))),
        (w.row_workers, |_, seen, workers| format!("{:.1}", seen.share * workers)),
        (w.row_model, |w, seen, _| {
            if seen.flags & LoopFrame::LEARNED == 0 { w.model_start } else { w.model_learned }.to_owned()
        }),
        ("a₁", |_, seen, _| estimate(seen.a[0])),
        ("a₂", |_, seen, _| estimate(seen.a[1])),
        ("b", |_, seen, _| estimate(seen.b)),
        (w.row_gains, |_, seen, _| estimate(seen.gains[0])),
        ("", |_, seen, _| estimate(seen.gains[1])),
        ("", |_, seen, _| estimate(seen.gains[2])),
        (w.row_trust, |_, seen, _| estimate(seen.trust)),
        (w.row_uncertainty, |_, seen, _| estimate(seen.uncertainty)),
        (w.row_bias, |_, seen, _| estimate(seen.bias)),
    ]
}

fn table(w: &Words, feed: &Feed, view: &StageView, trail: Option<&SplitTrail>) -> Html {
    let order = &feed.cast.order;
    let seen: Vec<LoopFrame> = order.iter().map(|&c| view.control.classes[c]).collect();
    let workers = f64::from(view.workers);
    // What a class's estimates began with, in small digits under them.
    let start = |label: &str, i: usize| {
        let (a, b) = (*trail?.start.get(order[i])?)?;
        let (was, is) = match label {
            "a₁" => (a[0], seen[i].a[0]),
            "a₂" => (a[1], seen[i].a[1]),
            "b" => (b, seen[i].b),
            _ => return None,
        };
        (estimate(was) != estimate(is)).then(|| html! { <small>{" "}{ estimate(was) }</small> })
    };
    let rows = rows(w).into_iter().filter_map(|(label, cell)| {
        let cells: Vec<String> = seen.iter().map(|seen| cell(w, seen, workers)).collect();
        // A controller says nothing of what it has not.
        cells.iter().any(|cell| cell != "–").then(|| {
            html! {
                <tr>
                    <th scope="row">{label}</th>
                    { for cells.into_iter().enumerate().map(|(i, cell)| html! {
                        <td>{cell}{ start(label, i).unwrap_or_default() }</td>
                    }) }
                </tr>
            }
        })
    });
    // There is room for two names beside each other.
    let names = (order.len() > 2).then_some("sr");
    html! {
        <table>
            <thead><tr><td></td>
                { for order.iter().enumerate().map(|(rank, &c)| html! {
                    <th scope="col">{ glyph(rank) }{" "}<span class={names}>{ &feed.scenario.classes[c].name }</span></th>
                }) }
            </tr></thead>
            <tbody>{ for rows }</tbody>
        </table>
    }
}

/// Time between two splits, in seconds, and whether the figures of a class are all of its model: one of higher order
/// cannot be drawn from them.
const fn sampled(split_by: &SplitByV1) -> (f64, bool) {
    let (period_us, whole) = match split_by {
        SplitByV1::Fixed => (1_000_000, false),
        SplitByV1::StcPaper { period_us, a_terms, b_terms, lag, .. } => {
            (*period_us, *a_terms <= 2 && *b_terms == 1 && *lag == 1)
        }
        SplitByV1::StcLead { period_us, .. }
        | SplitByV1::StcServed { period_us, .. }
        | SplitByV1::Pid { period_us, .. }
        | SplitByV1::PairwisePi { period_us, .. }
        | SplitByV1::PairwiseStc { period_us, .. }
        | SplitByV1::FeedForward { period_us, .. } => (*period_us, true),
    };
    (period_us as f64 * 1e-6, whole)
}

/// What the model in use leaves of an error, sample by sample; nothing without a model.
fn promised(seen: &LoopFrame, samples: usize) -> Vec<f64> {
    if seen.b == 0.0 {
        return Vec::new();
    }
    let model = Model { a: vec![-seen.a[0], -seen.a[1]], b: vec![seen.b], lag: 1 };
    let regulator = Regulator { f: Vec::new(), g: seen.gains.into() };
    step_response(&model, &regulator, samples).into_iter().map(|output| 1.0 - output).collect()
}

/// When the last event happened before a moment, in seconds; the beginning, if none did.
fn disturbed_s(feed: &Feed, now_s: f64) -> f64 {
    let before = feed.scenario.events.iter().map(|e| e.at.as_secs_f64()).filter(|&at| at <= now_s);
    before.fold(0.0, f64::max)
}

/// The response of the model in use beside what happened after the last disturbance.
fn response(app: &App, feed: &Feed, view: &StageView, k: usize) -> Html {
    const AREA: Rect = Rect::new(1.0, 2.0, 250.0, 58.0);
    let w = app.words();
    let (now_s, from_s) = (feed.now_s(), disturbed_s(feed, feed.now_s()));
    let (period_s, whole) = sampled(&feed.scenario.stages[k].split_by);
    let (start_s, step_s) = (app.plot.start_s, app.plot.step_s);
    let end_s = (PERIODS as f64 * period_s).max(12.0 * step_s);
    let errors = |class: usize| feed.split(k).and_then(|trail| trail.errors.get(class));
    // The class that was thrown furthest off.
    let far = |class: usize| {
        let (from, until) = ((from_s - start_s) / step_s, ((from_s + end_s).min(now_s) - start_s) / step_s);
        let list =
            errors(class).map_or(&[][..], |list| list.get(from.max(0.0) as usize..).unwrap_or_default());
        let list = list.iter().take((until - from).max(0.0) as usize);
        list.fold(0.0, |far: f64, error| far.max(error.abs()))
    };
    let class = (0..view.classes.len()).max_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap_or(0);
    let samples = (end_s / period_s).ceil() as usize + 1;
    let seen = view.control.classes.get(class).filter(|_| whole);
    let model = seen.map_or_else(Vec::new, |seen| promised(seen, samples));
    let model: Vec<(f64, f64)> =
        model.into_iter().enumerate().map(|(i, left)| (i as f64 * period_s, left)).collect();
    // A live server's events are not those of its scenario.
    let was = errors(class)
        .filter(|_| app.mode != Mode::Live)
        .map_or_else(Vec::new, |errors| measured(errors, start_s, step_s, from_s, now_s.min(from_s + end_s)));
    if model.is_empty() && was.is_empty() {
        return Html::default();
    }
    let line = |curve: &[(f64, f64)], steps| path(&place(curve, end_s, &AREA), steps);
    let zero = line(&[(0.0, 0.0), (end_s, 0.0)], false);
    let rank = feed.cast.rank(class);
    let since =
        fill(w.response_measured, &[&feed.scenario.classes[class].name, &figures::clock_short(from_s)]);
    html! {
        <figure class="response">
            <figcaption>{w.response_title}</figcaption>
            <svg viewBox="0 0 252 62" role="img" aria-label={w.response_title}>
                <path class="zero" d={zero} />
                <path class="theory" d={line(&model, true)} />
                <path class={format!("k{}", rank % 6 + 1)} d={line(&was, false)} />
            </svg>
            <div class="pair"><span>{"0"}</span><span>{ figures::wait(end_s) }</span></div>
            if !model.is_empty() { <p class="low"><i class="dash"></i>{w.response_model}</p> }
            if !was.is_empty() { <p class="low">{ glyph(rank) }{" "}{since}</p> }
        </figure>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::model::StageClassView;
    use crate::words::{chinese, english};
    use tidegate_core::frame::SplitFrame;

    /// A stage whose first class has three requests more in work than workers.
    fn view(state: SplitState, seen: [LoopFrame; 2]) -> StageView {
        let control = SplitFrame {
            state,
            stuck: 0,
            samples: 4_000,
            moved: 17,
            resolution: 0.0624,
            classes: seen.into(),
        };
        let class = |busy, slots| StageClassView { busy, slots, ..StageClassView::default() };
        StageView {
            control,
            split: true,
            workers: 64,
            classes: vec![class(40, 37), class(20, 27)],
            ..StageView::default()
        }
    }

    #[track_caller]
    fn check(words: &Words, state: SplitState, want: &str) {
        let seen = |margin| LoopFrame { margin, ..LoopFrame::default() };
        let said =
            sentences(words, &view(state, [seen(3.9), seen(5.0)]), words.say_held, &["A", "B"]).join("\n");
        assert!(said.contains(want), "{state:?} does not say {want}: {said}");
    }

    #[test]
    fn the_state_is_a_plain_sentence() {
        check(english(), SplitState::Idle, "there is no ratio to enforce");
        check(english(), SplitState::Learning, "does not steer yet");
        check(english(), SplitState::Steering, "it moves workers");
        check(
            english(),
            SplitState::Infeasible,
            "Not feasible: A already has its one worker and still waits less than its share.",
        );
        check(english(), SplitState::Fallback, "so it holds the split");
        check(chinese(), SplitState::Infeasible, "无法达到：A 只剩一个工作线程");
    }

    #[test]
    fn the_figures_are_told_in_words() {
        let all = "The gain of A may be 3.9× the model's before it swings.\n\
            Whole workers leave the ratio ±6%. 17 workers moved in 4000 samples. 3 finish what they have before they \
            change class.";
        check(english(), SplitState::Steering, all);
        check(chinese(), SplitState::Steering, "A 的实际增益达到模型的 3.9 倍时才会振荡。");
    }

    #[test]
    fn limits_are_told_by_class() {
        let seen = |flags| LoopFrame { flags, ..LoopFrame::default() };
        let view = view(
            SplitState::Steering,
            [seen(LoopFrame::LEARNED), seen(LoopFrame::AT_FLOOR | LoopFrame::STEP_CUT)],
        );
        assert_eq!(flags(english(), &view), [(1, "has its one worker · last step was cut".to_owned())]);
        let known = FLAGS.iter().fold(LoopFrame::LEARNED, |all, (bit, _)| all | bit);
        assert_eq!(known, (1 << LoopFrame::FLAGS.len()) - 1, "every flag has words");
    }

    #[test]
    fn a_model_promises_what_its_pole_leaves() {
        let seen = LoopFrame { b: -1.0, gains: [-0.5, 0.0, 0.0], ..LoopFrame::default() };
        assert_eq!(promised(&seen, 4), [1.0, 0.5, 0.25, 0.125]);
        // What the output keeps of its last change is taken back by the controller for it.
        let seen = LoopFrame { a: [0.25, 0.0], gains: [-0.625, 0.25 * 0.5, 0.0], ..seen };
        let left = promised(&seen, 3);
        assert!(left[1] < 0.5 && left[2].abs() < left[1], "{left:?}");
        assert!(
            promised(&LoopFrame::default(), 4).is_empty(),
            "a controller without a model promises nothing"
        );
    }

    #[test]
    fn estimates_are_short() {
        assert_eq!(
            [-0.834, 0.0512, 2e-4, 0.0, f64::NAN].map(estimate),
            ["−0.83", "0.051", "<0.001", "–", "–"]
        );
        let seen = LoopFrame { error: 0.0296, share: 0.766, ..LoopFrame::default() };
        let said: Vec<String> =
            rows(english()).iter().map(|(_, cell)| cell(english(), &seen, 64.0)).collect();
        assert_eq!(said[..4], ["1.03", "49.0", "start", "–"]);
    }
}
