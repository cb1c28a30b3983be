//! One request from its arrival to its end, with the figures of every decision about it.

use super::markup::html;
use super::{Link, glyph, icons, on};
use crate::app::record::Do as Record;
use crate::app::{App, Do};
use crate::draw::geom::sort_few;
use crate::feed::Feed;
use crate::figures;
use crate::trace::{Spot, Step, Told, kind};
use crate::words::fill;
use crate::words::record::RecordWords;
use tidegate_core::frame::Cause;
use yew::prelude::*;

/// Most servers named of those that were considered.
const NAMED: usize = 5;

/// A button that follows the request at a spot.
pub(super) fn button(link: &Link, spot: Spot, text: String) -> Html {
    html! { <button class="button" onclick={on(link, Do::Record(Record::Follow(spot)))}>{text}</button> }
}

/// What is shown of it on the page.
pub(super) fn view(app: &App, link: &Link) -> Html {
    let (true, Some(feed)) = (app.record.open, app.feed()) else { return Html::default() };
    let w = app.prefs.language.record();
    let told = app.record.told.as_ref();
    let found = told.filter(|told| told.over.is_some());
    let class = found.and_then(|told| feed.scenario.classes.get(told.class));
    let title = class.map_or_else(|| "…".to_owned(), |class| class.name.clone());
    let body = match (told, found) {
        (None, _) => html! { <p role="status">{w.looking}</p> },
        (_, None) => html! { <p role="status">{w.nobody}</p> },
        (_, Some(told)) => html! { <>{ journey(w, feed, link, told) }<p class="low">{w.about}</p></> },
    };
    let rank = found.map(|told| feed.cast.rank(told.class));
    html! {
        <section class="record" id="record" aria-label={fill(w.title, &[&title])}>
            <div class="dh">
                <h2>{ for rank.map(glyph) }{" "}{ fill(w.title, &[&title]) }</h2>
                <button class="icon" aria-label={app.words().close} onclick={on(link, Do::Record(Record::Close))}>
                    { icons::line(icons::CLOSE) }
                </button>
            </div>
            { body }
        </section>
    }
}

fn journey(w: &RecordWords, feed: &Feed, link: &Link, told: &Told) -> Html {
    let mut here_s = told.arrived_s;
    let rows = told.steps.iter().map(|step| {
        let lines = lines(w, feed, step, told.arrived_s, here_s);
        if step.kind == kind::JUDGED {
            here_s = step.at_s;
        }
        // A moment of the clock's digits, at which the step has happened.
        let there = (step.at_s * 1000.0).ceil() / 1000.0;
        html! {
            <li>
                <button class="at" onclick={on(link, Do::Seek(there))}>{ figures::clock(step.at_s) }</button>
                <span>{ for lines.into_iter().map(|line| html! { <span>{line}{" "}</span> }) }</span>
            </li>
        }
    });
    html! {
        <ol>
            { for rows }
            if told.over == Some(false) { <li><span></span><span>{w.unfinished}</span></li> }
        </ol>
    }
}

/// What one step says. `here_s` is when it came to its present stage.
fn lines(w: &RecordWords, feed: &Feed, step: &Step, arrived_s: f64, here_s: f64) -> Vec<String> {
    let figure = |i: usize| step.figures.get(i).copied().unwrap_or(f64::NAN);
    let stage = || feed.scenario.stages.get(figure(0) as usize).map_or("", |s| s.name.as_str());
    let since = |text: &str, from_s: f64| fill(text, &[&figures::wait(step.at_s - from_s)]);
    match step.kind {
        kind::JUDGED => judged(w, stage(), &figure, step.figures.len() > 9),
        kind::MOVED => vec![fill(w.moves, &[&format!("{}", figure(1) + 1.0)])],
        kind::STARTED if step.at_s <= here_s => vec![fill(w.taken_at_once, &[stage()])],
        kind::STARTED => vec![fill(w.taken, &[stage(), &figures::wait(step.at_s - here_s)])],
        kind::SENT => sent(w, feed, &step.figures),
        kind::ANSWERED => vec![since(w.answered, arrived_s)],
        kind::FAILED => vec![since(w.failed, arrived_s)],
        kind::TURNED_AWAY => vec![cause(w, figure(0)).to_owned()],
        _ => vec![since(w.abandoned, arrived_s)],
    }
}

fn cause(w: &RecordWords, number: f64) -> &'static str {
    match Cause::ALL.get(number as usize) {
        Some(Cause::Early) => w.away_early,
        Some(Cause::Full) => w.away_full,
        Some(Cause::Deadline) => w.away_deadline,
        _ => w.away_forced,
    }
}

fn judged(w: &RecordWords, stage: &str, figure: &impl Fn(usize) -> f64, gauged: bool) -> Vec<String> {
    let count = |i: usize| figures::count(figure(i) as u64);
    let mut out = vec![fill(w.comes, &[stage, &count(3), &count(4)])];
    let (draw, chance, away) = (figure(6), figure(7), figure(8) >= 0.0);
    let chance_of = |p: f64| figures::chance(p);
    if gauged {
        let level = |i: usize| {
            if figure(14) > 0.0 {
                figures::wait(figure(i))
            } else {
                figures::typed((figure(i) * 10.0).round() / 10.0)
            }
        };
        out.push(if figure(11) > 0.0 {
            let (height, here) = (chance_of(figure(12)), chance_of(figure(13)));
            fill(w.average, &[&level(9), &level(10), &level(11), &height, &here])
        } else {
            fill(w.gauge, &[&level(9), &level(10)])
        });
    }
    let even = |p: f64| (p - chance).abs() < 0.0005;
    if gauged && chance > 0.0 && chance < 1.0 && !even(figure(13)) {
        out.push(fill(w.spaced, &[&chance_of(chance)]));
    }
    out.push(match (away, chance) {
        (true, 1.0) => w.sure_out.to_owned(),
        (false, 0.0) if figure(5) <= 0.0 => w.no_wait.to_owned(),
        (false, 0.0) => w.sure_in.to_owned(),
        _ => fill(if away { w.coin_out } else { w.coin_in }, &[&chance_of(draw), &chance_of(chance)]),
    });
    out
}

fn sent(w: &RecordWords, feed: &Feed, list: &[f64]) -> Vec<String> {
    let name = |i: f64| feed.scenario.servers.get(i as usize).map_or("", |s| s.name.as_str());
    let Some((&server, rest)) = list.split_first() else { return Vec::new() };
    let mut out = vec![fill(w.sent, &[name(server)])];
    let mut judged: Vec<&[f64]> = rest.chunks_exact(4).collect();
    sort_few(&mut judged, |a, b| (a[3], a[1]) < (b[3], b[1]));
    if judged.len() > 1 {
        let each: Vec<String> = (judged.iter().take(NAMED))
            .map(|one| format!("{} {}", name(one[0]), super::pick::figure(one[1])))
            .chain((judged.len() > NAMED).then(|| "…".to_owned()))
            .collect();
        out.push(fill(w.judged_by, &[&each.join(" · ")]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    #[track_caller]
    fn check(figures: &[f64], want: &str) {
        let figure = |i: usize| figures.get(i).copied().unwrap_or(f64::NAN);
        assert_eq!(judged(Language::English.record(), "Serve", &figure, figures.len() > 9).join(" "), want);
    }

    #[test]
    fn a_verdict_is_told_with_its_figures() {
        check(
            &[1.0, 0.0, 0.0, 170.0, 61.0, 1.0, 0.31, 0.75, 0.0, 263.0, 200.0, 280.0, 0.87, 0.685, 0.0],
            "Comes to Serve, where 170 wait, 61 of them at its level or above. The average is 263. From 200 to 280 the \
             chance rises to 0.87: here 0.69. Spacing refusals out makes that 0.75 for this one. Its draw is 0.31, below \
             0.75: turned away.",
        );
        check(
            &[0.0, 0.0, 0.0, 3.0, 3.0, 1.0, 0.31, 0.0, -1.0],
            "Comes to Serve, where 3 wait, 3 of them at its level or above. Nobody is turned away: let in.",
        );
        check(
            &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.31, 0.0, -1.0],
            "Comes to Serve, where 0 wait, 0 of them at its level or above. A worker is free: no limit applies.",
        );
        check(
            &[0.0, 0.0, 0.0, 9.0, 9.0, 1.0, 0.31, 1.0, 1.0],
            "Comes to Serve, where 9 wait, 9 of them at its level or above. Everybody is turned away here, whatever the \
             draw.",
        );
    }
}
