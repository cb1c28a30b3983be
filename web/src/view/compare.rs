//! Compare: two small pictures of the same moment, and the table of what many runs of both say.

use super::markup::html;
use super::{Link, glyph, on};
use crate::app::compare::{Do as Ask, Shown};
use crate::app::{App, Do, Section};
use crate::knobs;
use crate::words::compare::CompareWords;
use crate::words::fill;
use serde_json::Value;
use tidegate_core::compare::settings::Setting;
use tidegate_core::compare::{self, Figure, Row, Scope, Verdict};
use tidegate_core::scenario::{Parsed, parse};
use yew::prelude::*;

/// What the two are called, in every language.
const SIDES: [&str; 2] = ["A", "B"];
/// What the third column is.
const DIFFERENCE: &str = "B − A ±";
/// Longest value of a setting that is written out, in characters.
const LONGEST: usize = 26;

/// The two pictures; nothing in other modes.
pub(super) fn view(app: &App, link: &Link) -> Html {
    let Some(sides) = app.sides().filter(|_| app.is_comparing()) else { return Html::default() };
    let c = app.prefs.language.compare();
    let side = |(b, shown): (usize, &Shown<'_>)| {
        let edited = app.compare.editing && app.compare.edits_b == (b == 1);
        let about = match app.compare.settings.len() {
            _ if b == 0 => app.title_of(shown.parsed),
            0 => c.as_a_short.to_owned(),
            n => fill(c.changed, &[&n.to_string()]),
        };
        html! {
            <div class={classes!("side", edited.then_some("edited"))}>
                <button class="sidehead" title={if b == 1 { c.edit_b } else { c.edit_a }}
                    onclick={on(link, Do::Compare(Ask::Show(Some(b == 1))))}>
                    <i class={classes!("tag", (b == 1).then_some("b"))}>{SIDES[b]}</i>
                    <span>{about}</span>
                </button>
                { super::picture::scene_of(app, link, shown.feed, shown.scene, shown.canvas, b == 1) }
            </div>
        }
    };
    html! { <div class="versus">{ for sides.iter().enumerate().map(side) }</div> }
}

/// Whether a part of the picture is set alike in both; `None` outside of Compare.
pub(super) fn part_class(app: &App, section: Section) -> Option<&'static str> {
    if !app.is_comparing() {
        return None;
    }
    let differs = app.compare.settings.iter().any(|of| section_of(&of.path, section));
    Some(if differs { "changed" } else { "same" })
}

/// Whether the setting at a path belongs to a section of the editor.
fn section_of(path: &str, section: Section) -> bool {
    let rules = path.contains("].rules");
    match section {
        Section::Traffic => path.starts_with("classes") && !rules,
        Section::Classifier => rules,
        Section::Stage(k) => path == "stages" || path.starts_with(&format!("stages[{k}]")),
        Section::Balancer => path.starts_with("balancer") || path.starts_with("feedback"),
        Section::Servers => path.starts_with("servers"),
        Section::Events => path.starts_with("events"),
        Section::Run => path.starts_with("run"),
    }
}

/// Above the editor: the result, or one of the two to edit.
pub(super) fn switch(app: &App, link: &Link) -> Html {
    if !app.is_comparing() {
        return Html::default();
    }
    let c = app.prefs.language.compare();
    let now = app.compare.editing.then_some(app.compare.edits_b);
    let choice = |to: Option<bool>, words: &'static str| {
        html! {
            <button aria-pressed={(now == to).to_string()} onclick={on(link, Do::Compare(Ask::Show(to)))}>{words}</button>
        }
    };
    html! {
        <div class="modes sides" role="group" aria-label={c.tab}>
            { choice(None, c.result) }{ choice(Some(false), c.edit_a) }{ choice(Some(true), c.edit_b) }
        </div>
    }
}

/// The result: verdict, table, buttons, and the settings that differ.
pub(super) fn result(app: &App, link: &Link) -> Html {
    let c = app.prefs.language.compare();
    let state = &app.compare;
    let done = state.comparison.as_ref().map_or(0, compare::Comparison::runs);
    let ask = |what: Ask, words: String| {
        html! { <button class="button" onclick={on(link, Do::Compare(what))}>{words}</button> }
    };
    let more = state.outcome.more.min(compare::MOST_RUNS);
    let trying = app.is_trying();
    let told = if trying {
        fill(c.running, &[&done.to_string(), &state.wanted.to_string()])
    } else {
        fill(c.runs, &[&done.to_string()])
    };
    html! {
        <div class="result">
            <h2 class="verdict" role="status">{ sentence(app, c) }</h2>
            <div class="acts">
                <span class="soft">{told}</span>
                if trying {
                    <progress max={state.wanted.to_string()} value={done.to_string()} aria-label={c.result}></progress>
                    { ask(Ask::Cancel, c.cancel.to_owned()) }
                } else {
                    { ask(Ask::Run(compare::RUNS), fill(c.run_more, &[&compare::RUNS.to_string()])) }
                    if more > compare::RUNS { { ask(Ask::Run(more), fill(c.run_more, &[&more.to_string()])) } }
                }
            </div>
            if done > 0 {
                { table(app, c) }
                <div class="acts">
                    <button class="button" aria-pressed={state.all.to_string()}
                        onclick={on(link, Do::Compare(Ask::All))}>{c.all_figures}</button>
                    { ask(Ask::Csv, c.copy_csv.to_owned()) }
                </div>
            }
            { settings(app, c) }
            { notes(app, c) }
        </div>
    }
}

/// The verdict.
fn sentence(app: &App, c: &CompareWords) -> String {
    let (state, outcome) = (&app.compare, &app.compare.outcome);
    if state.settings.is_empty() {
        return c.as_a.to_owned();
    }
    if outcome.better == [0; 2] && outcome.unclear == 0 {
        return if outcome.equal > 0 { c.equal } else { c.not_yet }.to_owned();
    }
    let n = |n: usize| n.to_string();
    let mut text = fill(c.both, &[&n(outcome.better[1]), &n(outcome.better[0]), &n(outcome.all)]);
    if outcome.unclear > 0 {
        if app.prefs.language.code() == "en" {
            text.push(' ');
        }
        text.push_str(&fill(c.unclear, &[&n(outcome.unclear)]));
    }
    text
}

/// Name of a figure.
fn name(figure: Figure, c: &CompareWords) -> &'static str {
    match figure {
        Figure::Goodput | Figure::ClassGoodput => c.goodput,
        Figure::TurnedAway | Figure::ClassTurnedAway => c.turned_away,
        Figure::ResponseMean | Figure::ClassResponseMean => c.response,
        Figure::ClassResponseP50 => c.response_p50,
        Figure::ClassResponseP95 => c.response_p95,
        Figure::ResponseP99 | Figure::ClassResponseP99 => c.response_p99,
        Figure::ClassWaitMean => c.wait,
        Figure::ClassWaitP50 => c.wait_p50,
        Figure::ClassWaitP95 => c.wait_p95,
        Figure::ClassWaitP99 => c.wait_p99,
        Figure::OffTarget => c.off_target,
        Figure::ServerSpread => c.server_spread,
        Figure::ClassWaitRatio => c.wait_ratio,
        Figure::StageBusy | Figure::ServerBusy => c.busy,
        Figure::ServerShare => c.share,
    }
}

fn table(app: &App, c: &CompareWords) -> Html {
    let mut body = Vec::new();
    let mut last = None;
    let shown = |row: &&Row| (app.compare.all || !row.figure.is_detail()) && !row.is_nothing() && row.n > 0;
    for row in app.compare.rows.iter().filter(shown) {
        let place = (row.figure.scope(), row.name.as_str());
        if last != Some(place) {
            last = Some(place);
            body.push(
                html! { <tr><th class="of" scope="rowgroup" colspan="5">{ of(app, place, c) }</th></tr> },
            );
        }
        body.push(line(row, c));
    }
    html! {
        <table class="figures">
            <thead><tr>
                <th scope="col"><span class="sr">{c.figure}</span></th><th scope="col">{SIDES[0]}</th><th scope="col">{SIDES[1]}</th>
                <th scope="col">{DIFFERENCE}</th><th></th>
            </tr></thead>
            <tbody>{ for body }</tbody>
        </table>
    }
}

/// What a group of rows is about.
fn of(app: &App, (scope, name): (Scope, &str), c: &CompareWords) -> Html {
    let feed = app.sides().and_then(|[a, _]| a.feed);
    let rank = feed.and_then(|feed| {
        let at = feed.scenario.classes.iter().position(|class| class.name == name)?;
        feed.cast.order.iter().position(|&class| class == at)
    });
    match (scope, rank) {
        (Scope::Whole, _) => html! { {c.everything} },
        (Scope::Class, Some(rank)) => html! { <>{ glyph(rank) }{" "}{name}</> },
        _ => html! { {name} },
    }
}

fn line(row: &Row, c: &CompareWords) -> Html {
    let scale = row.figure.unit().scale(row.a.0.abs().max(row.b.0.abs()));
    let (said, tone) = match row.verdict {
        Verdict::BBetter => (c.b_better, "good"),
        Verdict::ABetter => (c.a_better, "worse"),
        Verdict::BMore => (c.b_more, "plain"),
        Verdict::BLess => (c.b_less, "plain"),
        Verdict::Unclear => (c.zero_inside, ""),
        Verdict::Equal => (c.no_difference, ""),
        Verdict::TooFewRuns => (c.too_few, ""),
    };
    let more = row.more_for_zero.filter(|_| row.verdict == Verdict::Unclear);
    let more = more.map(|n| fill(c.needed, &[&n.to_string()]));
    let half = row.half_width.map(|half| scale.half_width(half));
    let mark = if row.together { "*" } else { "" };
    html! {
        <tr class={tone}>
            <th scope="row">{ name(row.figure, c) }{" "}<small>{scale.sign}</small></th>
            <td>{ scale.value(row.a.0, row.a.1) }</td>
            <td>{ scale.value(row.b.0, row.b.1) }</td>
            <td>
                <b>{ scale.difference(row.difference, row.half_width) }</b>
                <small>{ half.map(|half| format!(" ± {half}")) }{mark}</small>
            </td>
            <td title={said}>
                { interval(row) }<span class="sr">{said}</span>
                if let Some(more) = more { <small>{more}</small> }
            </td>
        </tr>
    }
}

/// The interval on an axis of its own, with zero in the middle.
fn interval(row: &Row) -> Html {
    let Some(at) = row.interval() else { return Html::default() };
    let most = at.lo.abs().max(at.hi.abs());
    let x = |value: f64| if most > 0.0 { 40.0 + 36.0 * value / most } else { 40.0 };
    let bar = format!("M{:.1} 7H{:.1}", x(at.lo), x(at.hi));
    html! {
        <svg class="interval" viewBox="0 0 80 14" aria-hidden="true">
            <path class="zero" d="M40 1v12" /><path class="bar" d={bar} />
            <circle cx={format!("{:.1}", x(at.mean))} cy="7" r="3" />
        </svg>
    }
}

fn settings(app: &App, c: &CompareWords) -> Html {
    if app.compare.settings.is_empty() {
        return Html::default();
    }
    let Some([a, b]) = app.sides() else { return Html::default() };
    let rows = app.compare.settings.iter().map(|of| {
        html! {
            <tr>
                <th scope="row">{ label(app, a.parsed, &of.path) }</th>
                <td>{ value(app, a.parsed, of, &of.a, c) }</td><td>{ value(app, b.parsed, of, &of.b, c) }</td>
            </tr>
        }
    });
    html! {
        <table class="figures settings">
            <thead><tr><th scope="col">{c.settings}</th><th scope="col">{SIDES[0]}</th><th scope="col">{SIDES[1]}</th></tr></thead>
            <tbody>{ for rows }</tbody>
        </table>
    }
}

/// Where a setting is, in the words of the editor, and what it is called in the scenario.
fn label(app: &App, parsed: &Parsed, path: &str) -> Html {
    let stages = parsed.wire.stages.len();
    let mut sections = crate::keys::sections(stages, true).into_iter();
    let place = sections.find(|section| section_of(path, *section));
    let place = place.map(|section| super::editor::title_of(app, &parsed.wire, section));
    let mut rest = path.split_once('.').map_or(path, |(_, rest)| rest);
    if let (Some(at), true) = (crate::app::compare::index(path), path.starts_with("classes")) {
        let class = parsed.wire.classes.get(at).map_or("", |class| class.name.as_str());
        return html! { <>{class}{" "}<code>{rest}</code></> };
    }
    if rest == path && place.is_some() && !path.contains('[') {
        rest = "";
    }
    html! { <>{ place.unwrap_or_default() }{" "}<code>{rest}</code></> }
}

/// What a side has there; policies by the names that the editor gives them.
fn value(app: &App, parsed: &Parsed, of: &Setting, value: &Option<Value>, c: &CompareWords) -> String {
    let w = app.words();
    let stage = crate::app::compare::index(&of.path).and_then(|k| parsed.wire.stages.get(k));
    match (stage, of.path.as_str()) {
        (_, "balancer") => return knobs::balancer_name(&parsed.wire.balancer, w).to_owned(),
        (Some(stage), path) if path.starts_with("stages[") && path.ends_with("].queue") => {
            return knobs::queue_name(&stage.queue, w).to_owned();
        }
        (Some(stage), path) if path.ends_with("].order") => {
            return knobs::name(knobs::ORDERS, stage.order.word(), w).to_owned();
        }
        (Some(stage), path) if path.ends_with("].split_by") => {
            return knobs::split_name(&stage.split_by, w).to_owned();
        }
        _ => {}
    }
    let Some(value) = value else { return c.usual.to_owned() };
    let text = value.as_str().map_or_else(|| parse::to_json(value), str::to_owned);
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

fn notes(app: &App, c: &CompareWords) -> Html {
    let Some(comparison) = &app.compare.comparison else { return Html::default() };
    let side = |in_a: bool, letter: &str| {
        let names: Vec<&str> = comparison
            .alone()
            .iter()
            .filter(|alone| alone.in_a == in_a)
            .map(|alone| alone.name.as_str())
            .collect();
        (!names.is_empty()).then(|| fill(c.only_in, &[letter, &names.join(", ")]))
    };
    let apart = comparison.apart();
    let apart = (!apart.is_empty()).then(|| fill(c.apart, &[&apart.join(", ")]));
    let seed = app.parsed.wire.run.seed.to_string();
    let method = fill(c.method, &[&seed, tidegate_core::sim::ENGINE]);
    let hashes = app.sides().map(|sides| {
        let hash = |shown: &Shown<'_>| {
            shown.done.map_or_else(|| "…".to_owned(), |done| format!("{:016x}", done.hash))
        };
        format!("A {}  B {}", hash(&sides[0]), hash(&sides[1]))
    });
    let lines = [side(true, "A"), side(false, "B"), apart, Some(method)];
    html! {
        <div class="help">
            { for lines.into_iter().flatten().map(|line| html! { <p>{line}</p> }) }
            <code id="hashes">{ hashes.unwrap_or_default() }</code>
        </div>
    }
}

/// The button of small screens that shows the result.
pub(super) fn tab(app: &App, link: &Link) -> Html {
    let c = app.prefs.language.compare();
    let on_it = app.is_comparing();
    let to = if on_it { Do::Compare(Ask::Show(None)) } else { Do::Mode(crate::app::Mode::Compare) };
    html! { <button aria-current={on_it.to_string()} onclick={on(link, to)}>{c.tab}</button> }
}
