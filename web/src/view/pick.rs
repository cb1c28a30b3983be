//! How the last server was picked: the balancer, its formula, what every server was judged by, and how its weight went.

use super::markup::html;
use super::{Link, on};
use crate::app::{App, Do, Mode};
use crate::draw::geom::sort_few;
use crate::draw::model::Standing;
use crate::draw::response::path;
use crate::feed::Feed;
use crate::figures;
use crate::history::weights;
use crate::knobs;
use crate::story::standing;
use crate::words::{Word, Words, fill};
use tidegate_core::frame::{CandidateFrame, DecisionFrame};
use tidegate_core::scenario::v1::{BalancerV1, WeightsV1};
use yew::prelude::*;

/// Most servers in the table; the others are counted.
const ROWS: usize = 16;
/// Points of a line of weights.
const POINTS: usize = 48;

/// A letter with a small one.
macro_rules! sub {
    ($letter:literal, $index:literal) => {
        concat!("<msub><mi>", $letter, "</mi><mi>", $index, "</mi></msub>")
    };
}

/// Requests in flight.
const FEWEST: &str = concat!("<mrow>", sub!("k", "i"), "<mo>=</mo>", sub!("n", "i"), "</mrow>");
/// The same for its weight.
const FEWEST_BY_WEIGHT: &str =
    concat!("<mrow>", sub!("k", "i"), "<mo>=</mo><mfrac>", sub!("n", "i"), sub!("w", "i"), "</mfrac></mrow>");
/// The same with the request that asks.
const OCCUPANCY: &str = concat!(
    "<mrow>",
    sub!("k", "i"),
    "<mo>=</mo><mfrac><mrow>",
    sub!("n", "i"),
    "<mo>+</mo><mn>1</mn></mrow>",
    sub!("w", "i"),
    "</mfrac></mrow>"
);
/// Each in turn.
const NEXT: &str = "<mrow><mi>i</mi><mo>←</mo><mo>(</mo><mi>i</mi><mo>+</mo><mn>1</mn><mo>)</mo><mi>mod</mi><mi>n</mi></mrow>";
/// When the next turn of a server is due.
const TURNS: &str = concat!(
    "<mrow>",
    sub!("k", "i"),
    "<mo>=</mo><mfrac><mrow>",
    sub!("p", "i"),
    "<mo>+</mo>",
    sub!("u", "i"),
    "</mrow>",
    sub!("w", "i"),
    "</mfrac><mo>−</mo><mi>t</mi></mrow>"
);
/// A weight of what a server reports.
const REPORTED: &str =
    concat!("<mrow>", sub!("w", "i"), "<mo>=</mo><mfrac>", sub!("q", "i"), sub!("u", "i"), "</mfrac></mrow>");
/// A bucket.
const BUCKET: &str = "<mrow><mi>i</mi><mo>=</mo><mi>T</mi><mo>[</mo><mi>h</mi><mo>(</mo><mi>x</mi><mo>)</mo><mi>mod</mi><mi>M</mi><mo>]</mo></mrow>";
/// A share of chance.
const CHANCE: &str = concat!(
    "<mrow>",
    sub!("P", "i"),
    "<mo>=</mo><mfrac>",
    sub!("w", "i"),
    "<mrow><mo>∑</mo><mi>w</mi></mrow></mfrac></mrow>"
);
/// Latency times requests in flight.
const LATENCY: &str = concat!(
    "<mrow>",
    sub!("k", "i"),
    "<mo>=</mo>",
    sub!("ℓ", "i"),
    "<mo>(</mo>",
    sub!("n", "i"),
    "<mo>+</mo><mn>1</mn><mo>)</mo></mrow>"
);
/// The same for its weight.
const LATENCY_BY_WEIGHT: &str = concat!(
    "<mrow>",
    sub!("k", "i"),
    "<mo>=</mo><mfrac><mrow>",
    sub!("ℓ", "i"),
    "<mo>(</mo>",
    sub!("n", "i"),
    "<mo>+</mo><mn>1</mn><mo>)</mo></mrow>",
    sub!("w", "i"),
    "</mfrac></mrow>"
);
/// A step of a weight around the mean.
const STEP: &str = concat!(
    "<mrow>",
    sub!("w", "i"),
    "<mo>←</mo>",
    sub!("w", "i"),
    "<mo>(</mo><mn>1</mn><mo>+</mo><mi>A</mi><mroot><mrow><mi>M</mi><mo>−</mo>",
    sub!("L", "i"),
    "</mrow><mn>3</mn></mroot><mo>)</mo></mrow>"
);
/// A composite load.
const COMPOSITE: &str = concat!(
    "<mrow>",
    sub!("L", "i"),
    "<mo>=</mo><munder><mo>∑</mo><mi>m</mi></munder><msub><mi>k</mi><mi>m</mi></msub>",
    "<msub><mi>S</mi><mrow><mi>m</mi><mo>,</mo><mi>i</mi></mrow></msub></mrow>"
);
/// A step of a weight towards a target.
const STEP_TO_TARGET: &str = concat!(
    "<mrow>",
    sub!("w", "i"),
    "<mo>←</mo>",
    sub!("w", "i"),
    "<mo>+</mo><mi>A</mi><mroot><mrow><msup><mi>L</mi><mo>*</mo></msup><mo>−</mo>",
    sub!("L", "i"),
    "</mrow><mn>3</mn></mroot></mrow>"
);

/// The formulas of a balancer, and where it comes from.
const fn paper(balancer: &BalancerV1) -> (&'static [&'static str], &'static str) {
    match balancer {
        BalancerV1::RoundRobin => (&[NEXT], "paper B, 2.3"),
        BalancerV1::LeastConnections => (&[FEWEST], "paper B, 2.3; IPVS lc"),
        BalancerV1::WeightedRoundRobin { weights: WeightsV1::Configured } => {
            (&[TURNS], "paper B, 2.3; Envoy (EDF)")
        }
        BalancerV1::WeightedRoundRobin { weights: WeightsV1::Reported } => (&[TURNS, REPORTED], "gRFC A58"),
        BalancerV1::WeightedLeastConnections => (&[FEWEST_BY_WEIGHT], "paper B, 2.3; IPVS wlc"),
        BalancerV1::SourceHash => (&[BUCKET], "paper B, 2.3; IPVS sh"),
        BalancerV1::DestinationHash => (&[BUCKET], "paper B, 2.3; IPVS dh"),
        BalancerV1::ConsistentHash { .. } => (&[BUCKET], "Karger 1997; Eisenbud 2016 (Maglev)"),
        BalancerV1::Random => (&[CHANCE], "Walker 1977"),
        BalancerV1::PowerOfTwo { .. } => (&[FEWEST], "Mitzenmacher 2001"),
        BalancerV1::JoinShortestQueue => (&[FEWEST], "Winston 1977"),
        BalancerV1::PeakEwma { .. } => (&[LATENCY], "Finagle"),
        BalancerV1::LeastTime { .. } => (&[LATENCY_BY_WEIGHT], "NGINX least_time"),
        BalancerV1::DnfPublished { .. } => {
            (&[COMPOSITE, STEP_TO_TARGET], "paper B, 2.1 and 2.2 (Zhang, Su 2013)")
        }
        BalancerV1::Dnf { .. } => (&[OCCUPANCY, STEP], "Tidegate; paper B, 2.1"),
    }
}

/// The panel of the balancer: opened, or the button that opens it.
pub(super) fn panel(app: &App, link: &Link) -> Html {
    let w = app.words();
    let Some(feed) = app.feed().filter(|feed| !feed.scenario.servers.is_empty()) else {
        return Html::default();
    };
    let balancer = &feed.scenario.balancer;
    let button = html! {
        <button class="whyopen" aria-expanded={app.why_server.to_string()} aria-controls="why-server"
            onclick={on(link, Do::WhyServer)}>
            { knobs::balancer_name(balancer, w) }{" · "}<u>{w.why_server}</u>
        </button>
    };
    if !app.why_server {
        return button;
    }
    let (formulas, source) = paper(balancer);
    let about = knobs::balancer_arm(balancer).and_then(|arm| arm.about).map_or("", |about| about.of(w));
    let decision = feed.now().and_then(|frame| frame.decision.as_ref());
    let judged = decision.map_or_else(Vec::new, ranked);
    html! {
        <>
            { button }
            <div class="why" id="why-server" role="region" aria-label={w.why_server}>
                <p>{about}</p>
                { for formulas.iter().map(|f| {
                    Html::from_html_unchecked(format!("<math display=\"block\">{f}</math>").into())
                }) }
                <p class="now">{ said(w, feed, decision, app.mode == Mode::Live) }</p>
                { table(w, feed, decision, &judged) }
                <p class="low">{w.pick_help}</p>
                if !source.is_empty() { <p class="low">{ fill(w.why_source, &[source]) }</p> }
            </div>
        </>
    }
}

/// Those who were considered, as they were ranked: by group; then by turn in the top group, elsewhere by what they were
/// judged by, and by turn among equals.
fn ranked(decision: &DecisionFrame) -> Vec<CandidateFrame> {
    let rank = |one: &CandidateFrame| {
        let (first, then) = if one.group == 1 { (-one.turn, one.key) } else { (one.key, -one.turn) };
        (one.group, first, then)
    };
    let mut judged = decision.candidates.clone();
    sort_few(&mut judged, |a, b| rank(a) < rank(b));
    judged
}

fn name(feed: &Feed, server: u32) -> &str {
    feed.scenario.servers.get(server as usize).map_or("", |s| s.name.as_str())
}

/// Who got the last request, in a sentence or two.
fn said(w: &Words, feed: &Feed, decision: Option<&DecisionFrame>, live: bool) -> String {
    let Some(last) = decision.filter(|last| !last.candidates.is_empty()) else {
        return if live && decision.is_none() { w.pick_unwritten } else { w.pick_none }.to_owned();
    };
    let class = feed.scenario.classes.get(last.class as usize).map_or("", |class| class.name.as_str());
    let mut said = fill(w.pick_said, &[&figures::clock(last.at_s), class, name(feed, last.server)]);
    let first = ranked(last).first().map_or(last.server, |first| first.server);
    let warming = feed.model.servers.get(first as usize).is_some_and(|s| s.standing == Standing::Warming);
    if first != last.server && warming {
        said.push(' ');
        said.push_str(&fill(w.pick_spared, &[name(feed, first)]));
    }
    said
}

/// What a server was judged by: three digits.
pub(super) fn figure(x: f64) -> String {
    if x.is_infinite() {
        return "∞".to_owned();
    }
    if x.is_nan() {
        return "–".to_owned();
    }
    let digits = match x.abs() {
        x if x >= 100.0 || x.fract() == 0.0 => 0,
        x if x >= 1.0 => 2,
        x if x >= 0.1 => 3,
        _ => 4,
    };
    format!("{x:.digits$}").replace('-', "−")
}

/// Every server: who was considered first, best first, then those who were not.
fn table(w: &Words, feed: &Feed, decision: Option<&DecisionFrame>, judged: &[CandidateFrame]) -> Html {
    let considered = judged.iter().map(|one| (one.server as usize, Some(*one)));
    let others = (0..feed.scenario.servers.len())
        .filter(|&i| judged.iter().all(|one| one.server as usize != i))
        .map(|i| (i, None));
    let all: Vec<(usize, Option<CandidateFrame>)> = considered.chain(others).collect();
    let least = judged.iter().map(|one| one.key).fold(f64::INFINITY, f64::min);
    let turns = judged.iter().any(|one| one.turn != 0.0);
    let lines = feed.model.weighed.then(|| weights(feed, &feed.history));
    let most = lines.iter().flatten().flatten().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
    let servers = feed.scenario.servers.len();
    let rows = all.iter().take(ROWS).enumerate().map(|(row, &(i, one))| {
        let picked = decision.filter(|_| one.is_some()).is_some_and(|last| last.server as usize == i);
        let view = feed.model.servers.get(i);
        let key = match (one, view) {
            (Some(one), _) => figure(one.key),
            (None, Some(view)) if view.is_left_out() => standing(w, view),
            _ => "–".to_owned(),
        };
        let best = one.is_some_and(|one| one.key <= least && !judged.is_empty());
        let group = one.map_or(0, |one| one.group);
        html! {
            <tr class={picked.then_some("picked")}>
                <th scope="row">
                    if group > 0 { <>{ badge(group as u8) }{" "}</> }
                    { name(feed, i as u32) }
                </th>
                <td class={best.then_some("best")}>{key}</td>
                if turns {
                    <td class={(row == 0 && one.is_some()).then_some("best")}>
                        { one.map_or_else(String::new, |one| figure(one.turn)) }
                    </td>
                }
                if let Some(lines) = &lines {
                    <td>
                        { view.map_or_else(String::new, |view| figures::fine(view.weight)) }
                        { line(feed, [lines.get(i), lines.get(servers + i)], most) }
                    </td>
                }
            </tr>
        }
    });
    html! {
        <>
            <table class="picks">
                <thead><tr><td></td><th scope="col"><i>{"k"}</i></th>
                    if turns { <th scope="col">{w.pick_turn}</th> }
                    if lines.is_some() { <th scope="col">{Word::server_weight.of(w)}</th> }
                </tr></thead>
                <tbody>{ for rows }</tbody>
            </table>
            if all.len() > ROWS { <p class="low">{ fill(w.pick_more, &[&(all.len() - ROWS).to_string()]) }</p> }
        </>
    }
}

/// How a weight went, up to now; that for sessions is dashed.
fn line(feed: &Feed, lists: [Option<&Vec<f64>>; 2], most: f64) -> Html {
    let t = feed.history.t_s();
    let end = t.iter().take_while(|&&at| at <= feed.now_s()).count();
    let paths = lists.into_iter().flatten().enumerate().map(|(i, list)| {
        let corners = thinned(&list[..end.min(list.len())], most);
        html! { <path class={(i > 0).then_some("theory")} d={path(&corners, false)} /> }
    });
    html! { <svg class="spark" viewBox="0 0 56 16" aria-hidden="true">{ for paths }</svg> }
}

/// Corners of a line through a list: a few points at equal distances, and the last.
fn thinned(list: &[f64], most: f64) -> Vec<(f64, f64)> {
    let last = list.len().saturating_sub(1);
    let step = list.len().div_ceil(POINTS).max(1);
    let place = |i: usize| {
        let x = 1.0 + 54.0 * i as f64 / last.max(1) as f64;
        (x, 15.0 - 14.0 * (list[i] / most.max(1e-9)).clamp(0.0, 1.0))
    };
    let taken = (0..list.len()).filter(|&i| i % step == 0 || i == last);
    taken.filter(|&i| list[i].is_finite()).map(place).collect()
}

/// The number of a group: filled, grey, outlined.
pub(super) fn badge(group: u8) -> Html {
    html! { <span class={format!("badge g{}", group.min(3))}>{group}</span> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{chinese, english};
    use tidegate_core::frame::Frame;
    use tidegate_core::scenario::presets;
    use tidegate_core::sim::Simulation;
    use tidegate_core::time::{Duration, Instant};

    /// A preset after a while, with picks written down or not.
    fn feed(writes: bool, at_s: f64) -> Feed {
        let scenario = presets::get("flash-crowd").expect("a preset").scenario();
        let mut sim = Simulation::new(&scenario, 0, None).expect("runs");
        sim.write_decisions(writes);
        sim.run_until(Instant::START + Duration::from_secs_f64(at_s));
        let mut frame = Frame::default();
        sim.frame(&mut frame);
        let mut feed = Feed::new(1, scenario, 2.0, 0.5);
        feed.show(frame);
        feed
    }

    fn decision(feed: &Feed) -> Option<&DecisionFrame> {
        feed.now().and_then(|frame| frame.decision.as_ref())
    }

    #[test]
    fn the_last_pick_is_told_in_words() {
        let mut feed = feed(true, 30.0);
        let last = decision(&feed).expect("written down").clone();
        let told = |feed: &Feed, w| said(w, feed, decision(feed), false);
        let server = name(&feed, last.server);
        assert!(
            told(&feed, english()).ends_with(&format!(" went to {server}.")),
            "{}",
            told(&feed, english())
        );
        assert!(told(&feed, chinese()).ends_with(&format!("请求交给了 {server}。")));
        let first = ranked(&last)[0].server;
        let other = (first + 1) % feed.scenario.servers.len() as u32;
        let mut frame = feed.now().expect("a frame").clone();
        frame.servers[first as usize].warm = 0.3;
        frame.decision.as_mut().expect("written down").server = other;
        feed.show(frame);
        let spared = told(&feed, english());
        assert!(
            spared.contains(&format!("{} came first and is still warming up", name(&feed, first))),
            "{spared}"
        );
    }

    #[test]
    fn what_is_not_written_down_is_said_to_be_so() {
        let silent = feed(false, 30.0);
        assert_eq!(said(english(), &silent, decision(&silent), true), english().pick_unwritten);
        assert_eq!(said(english(), &silent, decision(&silent), false), english().pick_none);
        let early = feed(true, 0.0);
        assert_eq!(said(english(), &early, decision(&early), true), english().pick_none);
    }

    #[test]
    fn the_best_comes_first() {
        let one = |server, group, key, turn| CandidateFrame { server, key, turn, group };
        let check = |candidates: Vec<CandidateFrame>, want: &[u32], why| {
            let order = ranked(&DecisionFrame { candidates, ..DecisionFrame::default() });
            assert_eq!(order.iter().map(|one| one.server).collect::<Vec<_>>(), want, "{why}");
        };
        let grouped =
            vec![one(0, 2, 0.5, 9.0), one(1, 1, 1.0, 1.0), one(2, 1, 2.0, 3.0), one(3, 1, 4.0, 7.0)];
        check(grouped, &[3, 2, 1, 0], "in the top group the turn decides");
        let plain = vec![one(0, 0, 2.0, 0.0), one(1, 0, 1.0, 0.2), one(2, 0, 1.0, 0.7)];
        check(plain, &[2, 1, 0], "elsewhere the key, and the turn among equals");
    }

    #[test]
    fn figures_have_the_digits_that_tell_them_apart() {
        let all = [0.0, 17.0, 118.4, 3.25, 0.6253, 0.01234, -2.5, f64::INFINITY, f64::NAN].map(figure);
        assert_eq!(all, ["0", "17", "118", "3.25", "0.625", "0.0123", "−2.50", "∞", "–"]);
    }

    #[test]
    fn a_long_line_is_thinned_and_keeps_its_end() {
        let list: Vec<f64> = (0..720).map(f64::from).collect();
        let corners = thinned(&list, 719.0);
        assert!((POINTS / 2..=POINTS + 1).contains(&corners.len()), "{} corners", corners.len());
        assert_eq!((corners[0], corners[corners.len() - 1]), ((1.0, 15.0), (55.0, 1.0)));
        assert_eq!(thinned(&[f64::NAN, 2.0], 2.0), [(55.0, 1.0)], "a gap is no corner");
        assert!(thinned(&[], 0.0).is_empty());
    }

    #[test]
    fn every_formula_is_well_formed() {
        for b in [
            NEXT,
            FEWEST,
            FEWEST_BY_WEIGHT,
            OCCUPANCY,
            TURNS,
            REPORTED,
            BUCKET,
            CHANCE,
            LATENCY,
            LATENCY_BY_WEIGHT,
            STEP,
            COMPOSITE,
            STEP_TO_TARGET,
        ] {
            assert_eq!(
                b.matches('<').count(),
                2 * b.matches("</").count(),
                "as many ends as beginnings in {b}"
            );
        }
    }
}
