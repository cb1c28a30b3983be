//! The text of the picture: one element a part, laid out by the style sheet, with the canvas behind.

use super::markup::html;
use super::pick::badge;
use super::{Link, glyph, on};
use crate::app::record::Do as Record;
use crate::app::{App, Do, Msg, Section};
use crate::draw::PictureModel;
use crate::draw::model::{ServerView, StageView, Standing};
use crate::feed::Feed;
use crate::figures;
use crate::knobs;
use crate::story::standing;
use crate::trace::Spot;
use crate::words::{Word, fill};
use tidegate_core::frame::Gauged;
use yew::prelude::*;

/// More classes than this leave no room for all words about clients.
const ROOMY_CLASSES: usize = 5;

/// More servers than this stand in two columns.
const ROOMY_SERVERS: usize = 8;
/// More than this in four, and there is room for a name each and the bars.
const CROWD: usize = 20;

/// Where the columns of the picture lie, counted from 1.
struct Columns {
    template: String,
    stages: Vec<(usize, Option<usize>)>,
    balancer: usize,
    servers: usize,
}

impl Columns {
    fn new(feed: &Feed) -> Self {
        let (stages, main) = (feed.scenario.stages.len(), App::main_stage(&feed.scenario));
        let servers = !feed.scenario.servers.is_empty();
        let mut list: Vec<String> =
            ["minmax(0,112fr)", "22fr", "52fr", "26fr"].map(str::to_owned).into_iter().collect();
        let mut places = Vec::new();
        for stage in 0..stages {
            if stage > 0 {
                list.push("44fr".to_owned());
            }
            let width = match (stage == main, stages, servers) {
                (true, 1, true) => 380,
                (true, 1, false) => 560,
                (true, 2, false) => 400,
                (true, ..) => 252,
                (false, 2, _) => 150,
                (false, ..) => 104,
            };
            list.push(format!("minmax(0,{width}fr)"));
            let at = list.len();
            let pool = (stage == main).then(|| {
                list.push("36fr".to_owned());
                list.push("minmax(0,116fr)".to_owned());
                list.len()
            });
            places.push((at, pool));
        }
        let (mut balancer_at, mut servers_at) = (0, 0);
        if servers {
            list.push("30fr".to_owned());
            list.push("26fr".to_owned());
            balancer_at = list.len();
            list.push("54fr".to_owned());
            list.push("minmax(0,204fr)".to_owned());
            servers_at = list.len();
        }
        Self { template: list.join(" "), stages: places, balancer: balancer_at, servers: servers_at }
    }
}

/// The picture.
pub(super) fn scene(app: &App, link: &Link) -> Html {
    scene_of(app, link, app.feed(), &app.refs.scene, &app.refs.picture, false)
}

/// The picture of one system; `second` if it is the other of two.
pub(super) fn scene_of(
    app: &App,
    link: &Link,
    feed: Option<&Feed>,
    scene: &NodeRef,
    canvas: &NodeRef,
    second: bool,
) -> Html {
    let w = app.words();
    let id = if second { "scene-b" } else { "scene" };
    let Some(feed) = feed else {
        return html! {
            <section class="scene" {id} tabindex="-1" ref={scene.clone()} aria-label={w.picture}>
                <canvas ref={canvas.clone()} aria-hidden="true"></canvas>
            </section>
        };
    };
    let columns = Columns::new(feed);
    let servers = feed.scenario.servers.len();
    let style = format!(
        "--cols:{};--lanes:{};--servers:{};--server-cols:{}",
        columns.template,
        feed.scenario.classes.len(),
        servers.max(1),
        if servers <= ROOMY_SERVERS {
            1
        } else if servers <= CROWD {
            2
        } else {
            4
        },
    );
    let class = classes!(
        "scene",
        (servers < 5).then_some("few"),
        (feed.scenario.classes.len() > ROOMY_CLASSES).then_some("tight")
    );
    html! {
        <section {class} {id} tabindex="-1" ref={scene.clone()} aria-label={w.picture}>
            <canvas ref={canvas.clone()} aria-hidden="true"></canvas>
            <div class="cols" {style}>
                { clients(app, link, feed) }
                { classifier(app, link, feed) }
                { for columns.stages.iter().enumerate().map(|(k, at)| stage(app, link, feed, k, *at)) }
                if servers > 0 {
                    { balancer(app, link, feed, columns.balancer) }
                    { cards(app, link, feed, columns.servers) }
                }
            </div>
            if !app.is_comparing() { { legend(app) } }
        </section>
    }
}

fn hit(app: &App, link: &Link, section: Section, label: String) -> Html {
    let current = (app.section == Some(section)).then_some("true");
    html! { <button class="hit" aria-label={label} aria-current={current} onclick={on(link, Do::Open(section))} /> }
}

fn open_class(app: &App, section: Section) -> Option<&'static str> {
    super::compare::part_class(app, section).or((app.section == Some(section)).then_some("open"))
}

fn heading(name: &str, about: &str) -> Html {
    html! { <div class="hd"><h2>{name}</h2><span>{about}</span></div> }
}

fn clients(app: &App, link: &Link, feed: &Feed) -> Html {
    let w = app.words();
    let model = &feed.model;
    let rate: f64 = model.classes.iter().map(|c| c.offered.per_s).sum();
    let rows = feed.cast.order.iter().enumerate().map(|(rank, &c)| {
        let class = &feed.scenario.classes[c];
        let rate = model.classes.get(c).map_or(0.0, |v| v.offered.per_s);
        let want = match class.deadline {
            _ if model.has_wait_targets => {
                let smallest =
                    feed.scenario.classes.iter().map(|c| c.delay_weight.get()).fold(f64::MAX, f64::min);
                fill(w.wait_target, &[&figures::ratio(class.delay_weight.get() / smallest)])
            }
            Some(deadline) => fill(w.deadline, &[&figures::wait(deadline.as_secs_f64())]),
            None => String::new(),
        };
        html! {
            <div class="client" data-class={c.to_string()}>
                <div class="name" title={class.name.clone()}>{ glyph(rank) }<span>{ &class.name }</span></div>
                <div class="rate">{ rounded(rate) }<small>{w.per_second}</small></div>
                <div class="want">{want}</div>
            </div>
        }
    });
    html! {
        <div class={classes!("comp", "clients", open_class(app, Section::Traffic))} style="grid-column:1">
            { hit(app, link, Section::Traffic, fill(w.say_clients, &[&figures::rate(rate)])) }
            { heading(w.clients, &fill(w.offered, &[&rounded(rate)])) }
            <div></div>
            { for rows }
        </div>
    }
}

/// A rate that stands still: to the next 5 from 100 a second on.
fn rounded(rate: f64) -> String {
    figures::rate(if rate >= 100.0 { (rate / 5.0).round() * 5.0 } else { rate })
}

fn classifier(app: &App, link: &Link, feed: &Feed) -> Html {
    let w = app.words();
    let rules: Vec<String> =
        feed.cast.order.iter().map(|&c| rule_text(app, &feed.scenario.classes[c].rules)).collect();
    let all = || feed.scenario.classes.iter().flat_map(|c| &c.rules);
    let about = if all().next().is_none() {
        w.as_written
    } else if all().all(|r| r.path.is_some()) {
        w.by_path
    } else if all().all(|r| r.header.is_some()) {
        w.by_header
    } else if all().all(|r| r.client.is_some()) {
        w.by_client
    } else {
        w.by_rule
    };
    html! {
        <div class={classes!("comp", "classifier", open_class(app, Section::Classifier))} style="grid-column:3">
            { hit(app, link, Section::Classifier, w.classifier.to_owned()) }
            { heading(w.classifier, about) }
            <div></div>
            { for rules.into_iter().map(|r| html! { <div class="rule">{r}</div> }) }
        </div>
    }
}

fn rule_text(app: &App, rules: &[tidegate_core::scenario::v1::RuleV1]) -> String {
    let Some(rule) = rules.first() else { return String::new() };
    let text = rule.path.clone().or_else(|| rule.value.clone()).or_else(|| rule.header.clone());
    let text =
        text.or_else(|| rule.client.clone()).or_else(|| rule.host.clone()).or_else(|| rule.method.clone());
    let text = text.unwrap_or_else(|| app.words().anything_else.to_owned());
    if text.chars().count() > 10 { text.chars().take(9).chain(['…']).collect() } else { text }
}

fn stage(app: &App, link: &Link, feed: &Feed, k: usize, (at, pool): (usize, Option<usize>)) -> Html {
    let w = app.words();
    let spec = &feed.scenario.stages[k];
    let empty = StageView::default();
    let view = feed.model.stages.get(k).unwrap_or(&empty);
    let shed: f64 = view.classes.iter().map(|c| c.shed.per_s).sum();
    let policy = knobs::queue_name(&spec.queue, w);
    let section = Section::Stage(k);
    let label = fill(w.say_stage, &[&spec.name, policy, &view.waiting.to_string(), &figures::rate(shed)]);
    let lanes = feed.cast.order.iter().enumerate().map(|(rank, &c)| {
        let class = view.classes.get(c);
        let waiting = class.map_or(0, |c| c.waiting);
        let wait = class.and_then(|c| c.wait_s).map(figures::wait);
        let promoted = class.map_or(0.0, |c| c.promoted.per_s);
        let name = feed.scenario.classes[c].name.as_str();
        html! {
            <div class="lanebox">
                <div class="lanelabel">
                    { glyph(rank) }<b class="named">{ &feed.scenario.classes[c].name }</b>
                    if let Some(starved) = feed.starved_s(c).filter(|_| waiting > 0 || class.is_some_and(|c| c.shed.per_s > 0.0)) {
                        <span class="bad">{ fill(w.nobody_served, &[name, &figures::seconds(starved)]) }</span>
                    } else {
                        <span>{ counted(w.waiting, waiting) }</span>
                    }
                    if promoted > 0.0 {
                        <span class="low">{ fill(w.moved_up, &[&figures::rate(promoted)]) }</span>
                    }
                    <span class="right"><b>{ wait.unwrap_or_default() }</b></span>
                </div>
                if class.is_some_and(|class| view.cumulative && class.ahead > 0) && rank + 1 == feed.cast.order.len() {
                    <span class="ahead">{w.ahead_of_them}</span>
                }
                <button class="lane" data-class={c.to_string()} aria-label={fill(w.why_of, &[name, &spec.name])}
                    aria-expanded={(app.why == Some((k, c))).to_string()} onclick={follow_or_explain(link, k, c)} />
            </div>
        }
    });
    let early = pool.is_none();
    let caption = match view.gauged {
        _ if !view.has_curve() => None,
        Gauged::Seconds => Some(w.chance_of_drop_work),
        _ => Some(w.chance_of_drop),
    };
    let about = if early {
        let busy: u32 = view.classes.iter().map(|c| c.busy).sum();
        fill(w.busy_of, &[&busy.to_string(), &view.workers.to_string()])
    } else {
        policy.to_owned()
    };
    let class = classes!("comp", "stage", early.then_some("early"), open_class(app, section));
    html! {
        <>
            <div {class} data-stage={k.to_string()} style={format!("grid-column:{at}")}>
                { hit(app, link, section, label) }
                { heading(&spec.name, &about) }
                <div class="curve">if let Some(caption) = caption.filter(|_| !early) { <span>{caption}</span> }
                    if !early { { super::grips::tags(app, link, k, view) } }
                </div>
                { for lanes }
                { stage_foot(app, link, feed, view, shed) }
            </div>
            if let Some(pool) = pool {
                { workers(app, link, feed, k, view, pool) }
            }
        </>
    }
}

/// A count emphasised within its words, which two pictures side by side have no room for.
fn counted(words: &str, n: u32) -> Html {
    let (before, after) = words.split_once("{0}").unwrap_or((words, ""));
    html! { <><i class="wide">{before}</i><b>{ figures::count(n.into()) }</b><i class="wide">{after}</i></> }
}

/// A count in small words, which the narrow picture leaves out.
fn in_words(words: &str, n: u32) -> Html {
    let (before, after) = words.split_once("{0}").unwrap_or((words, ""));
    html! { <><i class="word">{before}</i>{n}<i class="word">{after}</i></> }
}

/// A click on a mark follows its request; elsewhere in the lane, and by key, the lane is explained.
fn follow_or_explain(link: &Link, k: usize, class: usize) -> Callback<MouseEvent> {
    link.callback(move |e: MouseEvent| {
        // Pressed by a key, a button is clicked without a pointer.
        Msg::Do(match e.detail() {
            0 => Do::Why(k, class),
            _ => Do::Record(Record::At(k, class, e.offset_x().into(), e.offset_y().into())),
        })
    })
}

fn stage_foot(app: &App, link: &Link, feed: &Feed, view: &StageView, shed: f64) -> Html {
    let w = app.words();
    if shed <= 0.0 {
        return html! { <div class="foot"><span class="low">{w.nobody_away}</span></div> };
    }
    let each = feed.cast.order.iter().enumerate().filter(|_| feed.cast.order.len() > 1).map(|(rank, &c)| {
        let rate = figures::rate(view.classes.get(c).map_or(0.0, |c| c.shed.per_s));
        let name = feed.scenario.classes[c].name.as_str();
        let label = fill(app.prefs.language.record().refused_of, &[name, &rate]);
        html! {
            <button class="plain" aria-label={label} disabled={rate == "0"}
                onclick={on(link, Do::Record(Record::Follow(Spot::Refused { class: c as u8 })))}>
                { glyph(rank) }{rate}
            </button>
        }
    });
    html! {
        <div class="foot">
            <span class="lost">{ fill(w.turned_away, &[&figures::rate(shed)]) }</span>{ for each }
        </div>
    }
}

fn workers(app: &App, link: &Link, feed: &Feed, k: usize, view: &StageView, at: usize) -> Html {
    let w = app.words();
    let spec = &feed.scenario.stages[k];
    let section = Section::Stage(k);
    let busy: u32 = view.classes.iter().map(|c| c.busy).sum();
    let (busy, all) = (busy.to_string(), view.workers.to_string());
    let theory = view.theory.as_ref().map(|workers| {
        let each: Vec<String> = feed.cast.order.iter().map(|&c| format!("{:.0}", workers[c])).collect();
        fill(w.theory_split, &[&each.join(if each.len() > 2 { "/" } else { " / " })])
    });
    let about = if spec.split_by.word() != "fixed" {
        knobs::split_name(&spec.split_by, w)
    } else if spec.is_split() {
        w.workers_split
    } else {
        knobs::name(knobs::ORDERS, spec.order.word(), w)
    };
    html! {
        <div class={classes!("comp", "pool", super::compare::part_class(app, section))} data-stage={k.to_string()}
            style={format!("grid-column:{at}")}>
            { hit(app, link, section, fill(w.say_workers, &[&spec.name, &busy, &all])) }
            { heading(w.workers, about) }
            <div class="poolcap"><span>{w.threads}</span><span>{w.wait}</span></div>
            <div class="poolbody"><div class="cells"></div><div></div><div class="waits"></div></div>
            <div class="foot">{ ratio(app, feed, k) }<span class="low">{ theory.unwrap_or(fill(w.busy_of, &[&busy, &all])) }</span></div>
        </div>
    }
}

/// Waits over that of the best-served class, if they mean anything now.
fn ratio(app: &App, feed: &Feed, k: usize) -> Html {
    let model: &PictureModel = &feed.model;
    if let Some(stage) = model.stages.get(k).filter(|s| s.is_controlled() && !s.has_ratio()) {
        return html! { <><b>{ super::split::state(app.words(), stage.control.state) }</b><br /></> };
    }
    let Some(shares) = model.wait_shares(k).filter(|_| model.classes.len() > 1) else {
        let _ = app;
        return Html::default();
    };
    let least = model.order.iter().map(|&c| shares[c]).find(|s| *s > 0.0);
    let Some(least) = least else { return Html::default() };
    let ratios: Vec<String> = model
        .order
        .iter()
        .map(|&c| {
            let r = shares[c] / least;
            match r {
                r if (r - 1.0).abs() < 0.005 => "1".to_owned(),
                // Nobody reads more digits than that from a ratio of two short waits.
                r if r > 999.0 => ">999".to_owned(),
                r => figures::fine(r),
            }
        })
        .collect();
    let targets = model.wait_targets(k).map(|targets| {
        let least = model.order.first().map_or(1.0, |&c| targets[c]);
        let all: Vec<String> = model.order.iter().map(|&c| figures::fine(targets[c] / least)).collect();
        fill(app.words().wanted, &[&all.join(" : ")])
    });
    html! { <><b>{ ratios.join(" : ") }</b><br />if let Some(targets) = targets { <><span class="target">{targets}</span><br /></> }</> }
}

fn balancer(app: &App, link: &Link, feed: &Feed, at: usize) -> Html {
    let w = app.words();
    let policy = knobs::balancer_name(&feed.scenario.balancer, w);
    html! {
        <div class={classes!("comp", "balancer", open_class(app, Section::Balancer))}
            style={format!("grid-column:{at}")}>
            { hit(app, link, Section::Balancer, fill(w.say_balancer, &[policy])) }
            { heading(w.balancer, policy) }
        </div>
    }
}

fn cards(app: &App, link: &Link, feed: &Feed, at: usize) -> Html {
    let w = app.words();
    let views = &feed.model.servers;
    let down = views.iter().filter(|s| !s.up).count();
    let all = feed.scenario.servers.len();
    let about = if down == 0 {
        fill(w.servers_up, &[&all.to_string()])
    } else {
        fill(w.servers_some_down, &[&all.to_string(), &down.to_string()])
    };
    // Before the first frame the cards stand there already, so that they can be measured.
    let unseen = ServerView::default();
    let cards = (feed.scenario.servers.iter().enumerate())
        .map(|(i, spec)| card(app, link, feed, (i, &spec.name), views.get(i).unwrap_or(&unseen)));
    let class = classes!(
        "cards",
        feed.reports().then_some("loaded"),
        (all > ROOMY_SERVERS).then_some("many"),
        (all > CROWD).then_some("crowd")
    );
    html! {
        <div class={classes!("comp", "servers", open_class(app, Section::Servers))} style={format!("grid-column:{at}")}>
            { hit(app, link, Section::Servers, fill(w.say_servers, &[&about])) }
            { heading(w.servers, &about) }
            <div {class}>{ for cards }</div>
        </div>
    }
}

/// The words of a server card; marks and bars are drawn on the canvas behind.
fn card(app: &App, link: &Link, feed: &Feed, (i, name): (usize, &str), view: &ServerView) -> Html {
    let w = app.words();
    let barred = view.is_left_out();
    let sign = match view.group {
        _ if barred => html! { <span class="bang" aria-hidden="true">{"!"}</span> },
        0 => Html::default(),
        group => badge(group),
    };
    let right = match view.standing {
        Standing::Down => Html::default(),
        _ if feed.model.weighed => html! {
            <>
                <i class="word">{Word::server_weight.of(w)}{" "}</i><b>{ figures::fine(view.weight) }</b>
                if let Some(session) = view.session_weight {
                    <b class="word">{" / "}{ figures::fine(session) }</b>
                }
            </>
        },
        _ => html! { <b>{ figures::percent(view.share) }</b> },
    };
    let there = view.in_flight_sum();
    let counts = match (view.standing, view.sessions) {
        (Standing::Fit, 0) => in_words(w.in_flight, there),
        (Standing::Fit, sessions) => {
            let short = there.saturating_sub(sessions);
            html! {
                <>
                    if feed.cast.kinds[0] { <>{short}{" + "}</> }
                    { in_words(w.card_sessions, sessions) }
                </>
            }
        }
        (Standing::Down, _) => standing(w, view).into(),
        _ => format!("{} · {there}", standing(w, view)).into(),
    };
    let age = view.report_age_s.map(|age_s| {
        html! { <span class={classes!("age", view.stale.then_some("bad"))}>{ figures::seconds(age_s) }</span> }
    });
    html! {
        <div class={classes!("server", barred.then_some("down"))}>
            <button class="onto" aria-label={fill(app.prefs.language.record().follow_sent, &[name])}
                onclick={on(link, Do::Record(Record::Follow(Spot::Sent { server: i as u16 })))} />
            <span class="name">{ sign }<span>{name}</span></span>
            <span class="share">{ right }</span>
            <span class="marks"></span>
            <span class="inflight"><span>{ counts }</span>{ age.unwrap_or_default() }</span>
            <span class="bars"></span>
            <span class="load"></span>
        </div>
    }
}

/// What a mark stands for, as it was last painted.
fn legend(app: &App) -> Html {
    let w = app.words();
    let scales = app.picture.scales();
    let lane = scales.lanes.iter().copied().max().unwrap_or(1);
    let lane = figures::count(lane.max(1).into());
    let marks = if !app.prefs.still && scales.flight > 0 {
        fill(w.legend_marks, &[&lane, &figures::count(scales.flight)])
    } else {
        fill(w.legend_lane, &[&lane])
    };
    let stages = app.feed().map_or(&[][..], |feed| &feed.model.stages);
    let averaged = stages.iter().any(|s| s.gauged != Gauged::Nothing).then_some(w.legend_average);
    let guests = stages.iter().any(StageView::is_controlled).then_some(w.legend_guest);
    let loads = app.feed().is_some_and(Feed::reports).then_some(w.legend_loads);
    html! { <div class="legend"><span>{marks}</span><span>{averaged}</span><span>{guests}</span><span>{loads}</span></div> }
}
