//! The scenario editor: one section open at a time; every change is checked before it runs, and what breaks a
//! rule says so at its field.

use super::knobs::Board;
use super::markup::html;
use super::{Link, Typed, glyph, icons, on, text_field};
use crate::app::{App, Do, Edit, Mode, Msg, Section};
use crate::edit::{self, Kind, us, whole};
use crate::figures;
use crate::keys;
use crate::knobs;
use crate::words::{Word, fill};
use std::rc::Rc;
use tidegate_core::scenario::v1::{ActionV1, FeedbackV1, OrderV1, ReportsV1, ScenarioV1, StageV1};
use yew::prelude::*;

/// A change that a field makes with the number in it.
pub(super) type Set = Rc<dyn Fn(&mut ScenarioV1, f64)>;

/// A change that a field makes with the text in it.
pub(super) type SetText = Rc<dyn Fn(&mut ScenarioV1, &str)>;
/// A change that a choice makes with the number of the option.
pub(super) type Pick = Rc<dyn Fn(&mut ScenarioV1, usize)>;
/// A change without a value.
pub(super) type Act = Rc<dyn Fn(&mut ScenarioV1)>;

fn set(f: impl Fn(&mut ScenarioV1, f64) + 'static) -> Set {
    Rc::new(f)
}

/// The editor.
pub(super) fn aside(app: &App, link: &Link) -> Html {
    let w = app.words();
    let class = classes!("editor", app.sheet.then_some("shown"));
    if app.mode == Mode::Live {
        return html! {
            <aside {class} id="editor" aria-label={w.editor}>
                <div class="sections"><div class="body">
                    if let Some(feed) = app.feed() { <p class="help">{ &feed.scenario.wire().about }</p> }
                    if let Some((k, _)) = app.why { { super::why::panel(app, link, k) } }
                    if let Some(feed) = app.feed() {
                        { for (0..feed.scenario.stages.len()).map(|k| super::split::panel(app, k)) }
                        { super::pick::panel(app, link) }
                    }
                    <p class="help">{w.live_edit}</p>
                </div></div>
            </aside>
        };
    }
    if app.is_comparing() && !app.compare.editing {
        return html! {
            <aside class={classes!(class, "table")} id="editor" aria-label={w.editor}>
                { super::compare::switch(app, link) }
                <div class="sections">{ super::compare::result(app, link) }</div>
            </aside>
        };
    }
    let wire = app.wire();
    let sections = keys::sections(wire.stages.len(), !wire.servers.is_empty());
    html! {
        <aside {class} id="editor" aria-label={w.editor}>
            { super::compare::switch(app, link) }
            if app.text.open { { super::text::pane(app, link) } } else {
                <div class="sections">
                    { for sections.into_iter().enumerate().map(|(i, s)| section(app, link, i, s)) }
                </div>
            }
            <div class="editfoot">
                <span>
                    {w.edits_fork}
                    if app.is_edited() {
                        <button class="link" id="fold" onclick={on(link, Do::FoldEdits)}>{w.fold_edits}</button>
                    }
                </span>
                { super::text::toggle(app, link) }
                <button class="button" id="redo" disabled={app.redo.is_empty()} onclick={on(link, Do::Redo)}>
                    {w.redo}
                </button>
                <button class="button" id="undo" disabled={app.undo.is_empty()} onclick={on(link, Do::Undo)}>
                    {w.undo}
                </button>
            </div>
        </aside>
    }
}

fn section(app: &App, link: &Link, number: usize, section: Section) -> Html {
    let (name, now) = title(app, section);
    let open = app.section == Some(section);
    let id = format!("section-{number}");
    html! {
        <section key={id.clone()}>
            <button class="section" aria-expanded={open.to_string()} aria-controls={id.clone()}
                onclick={on(link, Do::Toggle(section))}>
                <span class="key" aria-hidden="true">{ if number < 9 { (number + 1).to_string() } else { String::new() } }</span>
                <span class={classes!("name", super::compare::part_class(app, section))}>{name}</span>
                <span class="now">{now}</span>
            </button>
            if open {
                <div class="body" {id} role="region">{ body(app, link, section) }</div>
            }
        </section>
    }
}

/// Name of a section of a scenario.
pub(super) fn title_of(app: &App, wire: &ScenarioV1, section: Section) -> String {
    let w = app.words();
    match section {
        Section::Traffic => w.traffic.to_owned(),
        Section::Classifier => w.classifier.to_owned(),
        Section::Stage(k) => fill(w.stage, &[wire.stages.get(k).map_or("", |stage| &stage.name)]),
        Section::Balancer => w.balancer.to_owned(),
        Section::Servers => w.servers.to_owned(),
        Section::Events => w.events.to_owned(),
        Section::Run => w.run.to_owned(),
    }
}

/// Name of a section and what it says while it is closed.
pub(super) fn title(app: &App, section: Section) -> (String, String) {
    let w = app.words();
    let wire = app.wire();
    let now = match section {
        Section::Traffic => {
            let demand = app.story.demand.map(|d| fill(w.capacity_times, &[&figures::ratio(d)]));
            demand.unwrap_or_default()
        }
        Section::Classifier => {
            let rules = wire.classes.iter().flat_map(|c| &c.rules).count();
            if rules == 0 { w.as_written.to_owned() } else { rules.to_string() }
        }
        Section::Stage(k) => knobs::queue_name(&wire.stages[k].queue, w).to_owned(),
        Section::Balancer => knobs::balancer_name(&wire.balancer, w).to_owned(),
        Section::Servers => wire.servers.len().to_string(),
        Section::Events => {
            let n = wire.events.len();
            if n == 0 { w.events_none.to_owned() } else { fill(w.events_some, &[&n.to_string()]) }
        }
        Section::Run => figures::clock_short(app.horizon_s()),
    };
    (title_of(app, wire, section), now)
}

fn body(app: &App, link: &Link, section: Section) -> Html {
    match section {
        Section::Traffic => traffic(app, link),
        Section::Classifier => classifier(app, link),
        Section::Stage(k) => stage(app, link, k),
        Section::Balancer => balancer(app, link),
        Section::Servers => servers(app, link),
        Section::Events => events(app, link),
        Section::Run => run(app, link),
    }
}

// ----- fields -----

/// Range of a slider.
#[derive(Clone, Copy)]
pub(super) enum Range {
    /// None: the number has no sensible ends.
    None,
    /// Even steps.
    Linear(f64, f64),
    /// Even factors.
    Log(f64, f64),
}

impl Range {
    fn place(self, value: f64) -> Option<f64> {
        let part = match self {
            Self::None => return None,
            Self::Linear(a, b) => (value - a) / (b - a),
            Self::Log(a, b) => libm::log(value.max(a) / a) / libm::log(b / a),
        };
        Some(part.clamp(0.0, 1.0))
    }

    fn value(self, place: f64, whole: bool) -> f64 {
        let value = match self {
            Self::None => 0.0,
            Self::Linear(a, b) => a + (b - a) * place,
            Self::Log(a, b) => a * libm::pow(b / a, place),
        };
        if whole {
            return value.round();
        }
        // Three digits: what a slider cannot aim at need not be written.
        if value == 0.0 {
            return 0.0;
        }
        let unit = libm::pow(10.0, libm::log10(value.abs()).floor() - 2.0);
        (value / unit).round() * unit
    }
}

/// A number's field.
pub(super) struct Number<'a> {
    pub(super) id: String,
    pub(super) label: &'a str,
    pub(super) unit: &'a str,
    pub(super) value: f64,
    pub(super) whole: bool,
    pub(super) range: Range,
    pub(super) set: Set,
}

fn change(field: &str, typed: &str, number: Option<f64>, set: &Set) -> Msg {
    let set = Rc::clone(set);
    Msg::Edit(Edit {
        field: field.to_owned(),
        typed: typed.to_owned(),
        change: number
            .map(|x| Box::new(move |s: &mut ScenarioV1| set(s, x)) as Box<dyn FnOnce(&mut ScenarioV1)>),
    })
}

pub(super) fn wrong(app: &App, field: &str) -> Html {
    let w = app.words();
    let Some(wrong) = app.wrong_at(field) else { return Html::default() };
    let text = match &wrong.error {
        None => w.not_a_number.to_owned(),
        Some(e) if e.path == field => fill(w.error_rule, &[&e.rule]),
        Some(e) => fill(w.error_elsewhere, &[&e.path, &e.rule]),
    };
    html! { <div class="wrongly" role="alert">{text}{" "}<span class="low">{w.still_running}</span></div> }
}

pub(super) fn number(app: &App, link: &Link, n: Number<'_>) -> Html {
    let field = n.id.clone();
    let setter = Rc::clone(&n.set);
    let commit = move |text: String| Some(change(&field, &text, figures::read(&text), &setter));
    let typed = Typed { id: &n.id, value: figures::typed(n.value), label: n.label, class: "", numeric: true };
    let input = text_field(app, link, typed, Rc::new(commit));
    let slider = n.range.place(n.value).map(|place| {
        let (field, setter, range, whole) = (n.id.clone(), Rc::clone(&n.set), n.range, n.whole);
        let slide = link.callback(move |e: InputEvent| {
            let input: web_sys::HtmlInputElement = e.target_unchecked_into();
            let value = range.value(input.value_as_number(), whole);
            change(&field, &figures::typed(value), Some(value), &setter)
        });
        html! {
            <input type="range" min="0" max="1" step="0.001" value={format!("{place:.3}")}
                style={format!("--f:{:.1}%", place * 100.0)} aria-label={n.label.to_owned()}
                aria-valuetext={format!("{} {}", figures::typed(n.value), n.unit)} oninput={slide} />
        }
    });
    let class = classes!("field", app.wrong_at(&n.id).is_some().then_some("wrong"));
    html! {
        <div {class}>
            <div class="l">
                <label for={n.id.clone()}>{n.label}</label>
                <span class="number">{ input }if !n.unit.is_empty() { <span>{n.unit}</span> }</span>
            </div>
            { slider.unwrap_or_default() }
            { wrong(app, &n.id) }
        </div>
    }
}

pub(super) fn text(
    app: &App,
    link: &Link,
    id: String,
    label: &str,
    value: &str,
    kind: &'static str,
    set: SetText,
) -> Html {
    let field = id.clone();
    let commit = move |text: String| {
        let (set, typed) = (Rc::clone(&set), text.clone());
        Some(Msg::Edit(Edit {
            field: field.clone(),
            typed,
            change: Some(Box::new(move |s: &mut ScenarioV1| set(s, text.trim()))),
        }))
    };
    let typed = Typed { id: &id, value: value.to_owned(), label, class: "", numeric: false };
    let input = text_field(app, link, typed, Rc::new(commit));
    let class = classes!("field", app.wrong_at(&id).is_some().then_some("wrong"));
    html! {
        <div {class}>
            <div class="l"><label for={id.clone()}>{label}</label><span class={classes!("number", kind)}>{ input }</span></div>
            { wrong(app, &id) }
        </div>
    }
}

/// One of several, with icons. The change gets the number of the option.
pub(super) fn choices(
    app: &App,
    link: &Link,
    id: &str,
    label: &'static str,
    current: usize,
    options: &[(&'static str, &'static str)],
    set: Pick,
) -> Html {
    grouped(app, link, id, label, current, &[("", options.to_vec())], set)
}

/// Options with a heading.
pub(super) type Group = (&'static str, Vec<(&'static str, &'static str)>);

/// The same in groups, counted through.
pub(super) fn grouped(
    app: &App,
    link: &Link,
    id: &str,
    label: &'static str,
    current: usize,
    groups: &[Group],
    set: Pick,
) -> Html {
    let mut next = 0;
    let items = groups.iter().flat_map(|(head, options)| {
        let head = (!head.is_empty()).then(|| html! { <p class="low">{*head}</p> });
        let mut items: Vec<Html> = head.into_iter().collect();
        for &(icon, words) in options {
            let i = next;
            next += 1;
            let pick = picks(link, id, &set, move |_| i);
            items.push(html! {
                <label>
                    <input type="radio" name={id.to_owned()} checked={i == current} onchange={pick} />
                    { icons::plot(icon) }{words}
                </label>
            });
        }
        items
    });
    html! {
        <>
            <div class="choices" role="radiogroup" aria-label={label}>{ for items }</div>
            { wrong(app, id) }
        </>
    }
}

/// A callback that makes a change with the number of an option.
fn picks(link: &Link, id: &str, set: &Pick, which: impl Fn(Event) -> usize + 'static) -> Callback<Event> {
    let (field, set) = (id.to_owned(), Rc::clone(set));
    link.callback(move |e: Event| {
        let (set, at) = (Rc::clone(&set), which(e));
        Msg::Edit(Edit {
            field: field.clone(),
            typed: String::new(),
            change: Some(Box::new(move |s: &mut ScenarioV1| set(s, at))),
        })
    })
}

/// One of several, as a list.
pub(super) fn pick(
    app: &App,
    link: &Link,
    id: String,
    label: &'static str,
    current: usize,
    options: &[String],
    set: Pick,
) -> Html {
    let picked = picks(link, &id, &set, |e| {
        let list: web_sys::HtmlSelectElement = e.target_unchecked_into();
        list.selected_index().max(0) as usize
    });
    html! {
        <div class="field">
            <div class="l">
                <label for={id.clone()}>{label}</label>
                <span class="number">
                    <select id={id.clone()} aria-describedby={format!("{id}-h")} onchange={picked}>
                        { for options.iter().enumerate().map(|(i, o)| {
                            html! { <option selected={i == current}>{o}</option> }
                        }) }
                    </select>
                </span>
            </div>
            { wrong(app, &id) }
        </div>
    }
}

pub(super) fn act(link: &Link, field: &str, change: Act) -> Callback<MouseEvent> {
    let field = field.to_owned();
    link.callback(move |_| {
        let change = Rc::clone(&change);
        Msg::Edit(Edit {
            field: field.clone(),
            typed: String::new(),
            change: Some(Box::new(move |s| change(s))),
        })
    })
}

pub(super) fn removes(link: &Link, label: String, field: &str, change: Act) -> Html {
    html! {
        <button class="icon" aria-label={label.clone()} title={label} onclick={act(link, field, change)}>
            { icons::line(icons::CLOSE) }
        </button>
    }
}

// ----- sections -----

fn traffic(app: &App, link: &Link) -> Html {
    let w = app.words();
    let wire = app.wire();
    let order = edit::by_priority(wire);
    let many = wire.classes.len() > 1;
    let root = knobs::json(wire);
    let board = Board { app, link, root: &root };
    let parts = order.into_iter().enumerate().map(|(rank, c)| {
        let class = &wire.classes[c];
        let base = format!("classes[{c}]");
        let kind = Kind::of(&class.load);
        let kinds = [
            (icons::PLOT_POISSON, Word::load_poisson.of(w)),
            (icons::PLOT_EVEN, Word::load_even.of(w)),
            (icons::PLOT_BURSTY, Word::load_bursty.of(w)),
            (icons::PLOT_CLOSED, Word::load_closed.of(w)),
            (icons::PLOT_TRACE, Word::load_trace.of(w)),
        ];
        let kinds = if app.log.is_some() || kind == Kind::Trace { &kinds[..] } else { &kinds[..4] };
        let current = Kind::ALL.iter().position(|k| *k == kind).unwrap_or(0);
        let remove = many.then(|| {
            removes(
                link,
                fill(w.remove, &[&class.name]),
                "classes",
                Rc::new(move |s| edit::remove_class(s, c)),
            )
        });
        // With several classes only their rates show at once; kind and law are one step further.
        html! {
            <div class="part" key={c}>
                <h3>{ glyph(rank) }{ &class.name }{ remove.unwrap_or_default() }</h3>
                { board.knobs(&format!("{base}.load"), knobs::LOAD.arms[current].knobs) }
                <details>
                    <summary class="help">{ details_summary(app, c) }</summary>
                    { choices(app, link, &format!("classes[{c}].load"), w.load_kind, current, kinds,
                        Rc::new(move |s, at| edit::set_kind(s, c, Kind::ALL[at.min(Kind::ALL.len() - 1)]))) }
                    { board.knob(&base, &knobs::SERVICE) }
                    { text(app, link, format!("classes[{c}].name"), Word::class_name.of(w), &class.name, "wide",
                        Rc::new(move |s, name| edit::rename_class(s, c, name))) }
                    { number(app, link, Number {
                        id: format!("classes[{c}].priority"), label: w.priority, unit: "",
                        value: f64::from(class.priority), whole: true, range: Range::None,
                        set: set(move |s, x| if let Some(c) = s.classes.get_mut(c) {
                            c.priority = x.round().clamp(0.0, 255.0) as u8;
                        }),
                    }) }
                    { number(app, link, Number {
                        id: format!("classes[{c}].delay_weight"), label: w.delay_weight, unit: "×",
                        value: class.delay_weight, whole: false, range: Range::None,
                        set: set(move |s, x| if let Some(c) = s.classes.get_mut(c) { c.delay_weight = x; }),
                    }) }
                    { for knobs::CLASS.iter().map(|knob| board.knob(&base, knob)) }
                    if class.retry.is_some() { { board.knob(&base, &knobs::RETRY_AFTER) } }
                    if !wire.servers.is_empty() {
                        <details>
                            <summary class="help">{w.at_servers}</summary>
                            { for knobs::CLASS_AT_SERVERS.iter().map(|knob| board.knob(&base, knob)) }
                        </details>
                    }
                </details>
            </div>
        }
    });
    html! {
        <>
            { for parts }
            <p style="margin-top:12px">
                <button class="button" onclick={act(link, "classes", Rc::new(edit::add_class))}>{w.add_class}</button>
            </p>
        </>
    }
}

/// What is behind the details of a class.
fn details_summary(app: &App, c: usize) -> String {
    let w = app.words();
    let class = &app.wire().classes[c];
    let arm = knobs::LOAD.arms.iter().find(|arm| arm.word == class.load.word());
    format!(
        "{}, {} {}",
        arm.map_or("", |arm| arm.name.of(w)),
        Word::service.of(w),
        figures::wait(class.service.mean_us() * 1e-6)
    )
}

fn classifier(app: &App, link: &Link) -> Html {
    let w = app.words();
    let wire = app.wire();
    let order = edit::by_priority(wire);
    let root = knobs::json(wire);
    let board = Board { app, link, root: &root };
    let parts = order.into_iter().enumerate().map(|(rank, c)| {
        let class = &wire.classes[c];
        let place = class.rules.iter().position(|r| r.path.is_some());
        let path = place.and_then(|at| class.rules[at].path.clone()).unwrap_or_default();
        let id = format!("classes[{c}].rules[{}].path", place.unwrap_or(class.rules.len()));
        html! {
            <div class="part" key={c}>
                <h3>{ glyph(rank) }{ &class.name }</h3>
                { text(app, link, id, Word::class_rule.of(w), &path, "mono", Rc::new(move |s, to| edit::set_path_rule(s, c, to))) }
                if class.rules.is_empty() { <p class="help">{w.anything_else}</p> }
                <details>
                    <summary class="help">{ fill(w.all_rules, &[&class.rules.len().to_string()]) }</summary>
                    { board.knob(&format!("classes[{c}]"), &knobs::RULES) }
                </details>
            </div>
        }
    });
    html! {
        <>
            { for parts }
            <details class="part">
                <summary class="help">{w.dynamic_priority}</summary>
                { for knobs::PRIORITY.iter().map(|knob| board.knob("priority", knob)) }
            </details>
        </>
    }
}

/// Settings that work against each other.
fn advice(app: &App, say: impl Fn(&crate::feed::Feed) -> Vec<String>) -> Vec<Html> {
    let said = app.feed().map(say).unwrap_or_default();
    said.into_iter().map(|text| html! { <p class="advice">{text}</p> }).collect()
}

fn stage(app: &App, link: &Link, k: usize) -> Html {
    let w = app.words();
    let stage: &StageV1 = &app.wire().stages[k];
    let base = format!("stages[{k}]");
    let split = !stage.split.is_empty();
    let controlled = stage.split_by.word() != "fixed";
    let how = if controlled { 2 } else { usize::from(split) };
    let root = knobs::json(app.wire());
    let board = Board { app, link, root: &root };
    html! {
        <>
            { for advice(app, |feed| crate::advice::of_stage(app.prefs.language.text(), &feed.scenario, &feed.model, k)) }
            { super::why::panel(app, link, k) }
            { super::split::panel(app, k) }
            { board.plotted(&format!("{base}.queue"), Word::who_may_wait, &knobs::QUEUE, 0) }
            { order(app, link, k, &stage.order) }
            { number(app, link, Number {
                id: format!("{base}.workers"), label: w.worker_count, unit: "", value: f64::from(stage.workers),
                whole: true, range: Range::Log(1.0, 512.0),
                set: set(move |s, x| edit::set_workers(s, k, whole(x))),
            }) }
            { choices(app, link, &format!("{base}.split"), w.pool, how, &[
                (icons::PLOT_SHARED, w.workers_shared),
                (icons::PLOT_SPLIT, w.workers_split),
                (icons::PLOT_LED, w.workers_controlled),
            ], Rc::new(move |s, at| knobs::share_workers(s, k, at))) }
            if controlled {
                { board.knob(&base, &knobs::SPLIT) }
                if split { <p class="help">{w.begins_with}</p> }
            }
            if split { { for parts(app, link, k, stage) } }
            if controlled { { board.knob(&base, &knobs::DITHER) } }
            if how > 0 { { board.knob(&base, &knobs::LENDING) } }
            <details>
                <summary class="help">{w.more_controls}</summary>
                { for knobs::STAGE.iter().map(|knob| board.knob(&base, knob)) }
                { board.knob(&base, &knobs::STAGE_NAME) }
            </details>
            { board.knob(&base, &knobs::WORK) }
            <p style="margin-top:12px">
                <button class="button" onclick={act(link, "stages", Rc::new(move |s| edit::add_stage(s, k)))}>{w.add_stage}</button>
                if edit::is_removable(app.wire(), k) {
                    { removes(link, fill(w.remove, &[&stage.name]), "stages", Rc::new(move |s| edit::remove_stage(s, k))) }
                }
            </p>
        </>
    }
}

/// Who goes first.
fn order(app: &App, link: &Link, k: usize, order: &OrderV1) -> Html {
    let w = app.words();
    let now = knobs::ORDERS.iter().position(|(word, _)| *word == order.word()).unwrap_or(0);
    let plots = knobs::ORDERS.iter().zip(knobs::ORDER_PLOTS).map(|((_, name), plot)| (*plot, name.of(w)));
    let id = format!("stages[{k}].order");
    let to = id.clone();
    let set = Rc::new(move |s: &mut _, i: usize| {
        knobs::put(s, &to, knobs::ORDERS.get(i).map(|(word, _)| (*word).into()));
    });
    html! {
        <details>
            <summary class="help">{w.order}{": "}<b>{ knobs::name(knobs::ORDERS, order.word(), w) }</b></summary>
            { choices(app, link, &id, w.order, now, &plots.collect::<Vec<_>>(), set) }
        </details>
    }
}

fn parts(app: &App, link: &Link, k: usize, stage: &StageV1) -> Vec<Html> {
    let classes = &app.wire().classes;
    (stage.split.iter().enumerate())
        .filter_map(|(c, &n)| {
            let name = &classes.get(c)?.name;
            Some(number(
                app,
                link,
                Number {
                    id: format!("stages[{k}].split[{c}]"),
                    label: name,
                    unit: "",
                    value: f64::from(n),
                    whole: true,
                    range: Range::None,
                    set: set(move |s, x| edit::set_part(s, k, c, whole(x))),
                },
            ))
        })
        .collect()
}

fn balancer(app: &App, link: &Link) -> Html {
    let w = app.words();
    let wire = app.wire();
    let root = knobs::json(wire);
    let board = Board { app, link, root: &root };
    let told = usize::from(wire.feedback.is_some());
    let options = [w.reports_if_needed, w.reports_always].map(str::to_owned);
    html! {
        <>
            { for advice(app, |feed| {
                crate::advice::of_balancer(app.prefs.language.text(), &feed.scenario).into_iter().collect()
            }) }
            { super::pick::panel(app, link) }
            { board.grouped("balancer", Word::policy, &knobs::BALANCER, knobs::BALANCER_GROUPS) }
            <details>
                <summary class="help">{w.feedback}</summary>
                { pick(app, link, "feedback".to_owned(), w.reports_expected, told, &options,
                    Rc::new(|s, at| s.feedback = (at == 1).then(FeedbackV1::default))) }
                { for knobs::FEEDBACK.iter().map(|knob| board.knob("feedback", knob)) }
            </details>
        </>
    }
}

fn servers(app: &App, link: &Link) -> Html {
    let w = app.words();
    let servers = &app.wire().servers;
    let many = servers.len() > 1;
    let root = knobs::json(app.wire());
    let board = Board { app, link, root: &root };
    let parts = servers.iter().enumerate().map(|(i, server)| {
        let remove =
            many.then(|| removes(link, fill(w.remove, &[&server.name]), "servers", Rc::new(move |s| edit::remove_server(s, i))));
        html! {
            <div class="part" key={i}>
                <h3>{ &server.name }{ remove.unwrap_or_default() }</h3>
                { number(app, link, Number {
                    id: format!("servers[{i}].slots"), label: w.slots, unit: "", value: f64::from(server.slots),
                    whole: true, range: Range::Log(1.0, 256.0),
                    set: set(move |s, x| if let Some(s) = s.servers.get_mut(i) { s.slots = whole(x); }),
                }) }
                { number(app, link, Number {
                    id: format!("servers[{i}].speed"), label: Word::server_speed.of(w), unit: "×", value: server.speed,
                    whole: false, range: Range::Log(0.1, 10.0),
                    set: set(move |s, x| if let Some(s) = s.servers.get_mut(i) { s.speed = x; }),
                }) }
                <details>
                    <summary class="help">{w.server_more}</summary>
                    { for knobs::SERVER.iter().map(|knob| board.knob(&format!("servers[{i}]"), knob)) }
                    { text(app, link, format!("servers[{i}].name"), Word::class_name.of(w), &server.name, "wide",
                        Rc::new(move |s, name| edit::rename_server(s, i, name))) }
                </details>
            </div>
        }
    });
    html! {
        <>
            { for parts }
            <p style="margin-top:12px">
                <button class="button" onclick={act(link, "servers", Rc::new(edit::add_server))}>{w.add_server}</button>
            </p>
        </>
    }
}

fn events(app: &App, link: &Link) -> Html {
    let w = app.words();
    let wire = app.wire();
    let class_names: Vec<String> =
        [w.event_all.to_owned()].into_iter().chain(wire.classes.iter().map(|c| c.name.clone())).collect();
    let server_names: Vec<String> = wire.servers.iter().map(|s| s.name.clone()).collect();
    let most = if server_names.is_empty() { 2 } else { knobs::EVENT.arms.len() };
    let kinds: Vec<String> = knobs::EVENT.arms[..most].iter().map(|arm| arm.name.of(w).to_owned()).collect();
    let root = knobs::json(wire);
    let board = Board { app, link, root: &root };
    let parts = wire.events.iter().enumerate().map(|(i, event)| {
        let base = format!("events[{i}]");
        let word = event.action.word();
        let kind = knobs::EVENT.arms.iter().position(|arm| arm.word == word).unwrap_or(0);
        let at = figures::clock_short(event.at_us as f64 * 1e-6);
        html! {
            <div class="part" key={i}>
                <h3>{ format!("{at} · {}", kinds.get(kind).map_or("", String::as_str)) }
                    { removes(link, fill(w.remove, &[&at]), "events", Rc::new(move |s| if i < s.events.len() {
                        s.events.remove(i);
                    })) }
                </h3>
                { number(app, link, Number {
                    id: format!("{base}.at_us"), label: w.event_at, unit: "s", value: event.at_us as f64 * 1e-6,
                    whole: false, range: Range::None,
                    set: set(move |s, x| if let Some(e) = s.events.get_mut(i) { e.at_us = us(x); }),
                }) }
                { pick(app, link, format!("{base}.do"), w.event_what, kind, &kinds, Rc::new(move |s, to| {
                    let first = s.servers.first().map(|s| s.name.clone()).unwrap_or_default();
                    if let Some(e) = s.events.get_mut(i) {
                        let server = e.action.server().cloned().unwrap_or(first);
                        e.action = match to {
                            1 => ActionV1::Service { class: None, factor: 2.0 },
                            2 => ActionV1::ServerDown { server },
                            3 => ActionV1::ServerUp { server },
                            4 => ActionV1::ServerSpeed { server, speed: 0.5 },
                            5 => ActionV1::ServerFlapping { server, period_us: 10_000_000, times: 10 },
                            6 => ActionV1::Neighbour { server, share: 0.5 },
                            7 => ActionV1::ServerReports { server, state: ReportsV1::Lost },
                            _ => ActionV1::Load { class: None, factor: 1.5 },
                        };
                    }
                })) }
                { match &event.action {
                    ActionV1::Load { class, .. } | ActionV1::Service { class, .. } => {
                        pick(app, link, format!("{base}.class"), w.event_class,
                            class.as_ref().and_then(|c| class_names.iter().position(|n| n == c)).unwrap_or(0),
                            &class_names, Rc::new(move |s, at| {
                                let name = at.checked_sub(1).and_then(|c| s.classes.get(c)).map(|c| c.name.clone());
                                if let Some(ActionV1::Load { class, .. } | ActionV1::Service { class, .. }) =
                                    s.events.get_mut(i).map(|e| &mut e.action) { *class = name; }
                            }))
                    }
                    action => pick(app, link, format!("{base}.server"), w.event_server,
                        server_names.iter().position(|n| Some(n) == action.server()).unwrap_or(0), &server_names,
                        Rc::new(move |s, at| {
                            let name = s.servers.get(at).map(|s| s.name.clone()).unwrap_or_default();
                            if let Some(server) = s.events.get_mut(i).and_then(|e| e.action.server_mut()) {
                                *server = name;
                            }
                        })),
                } }
                { for knobs::EVENT.arms[kind].knobs.iter().map(|knob| board.knob(&base, knob)) }
            </div>
        }
    });
    html! {
        <>
            { for parts }
            <p style="margin-top:12px">
                <button class="button" onclick={on(link, Do::AddEvent)}>{w.add_an_event}</button>
            </p>
        </>
    }
}

fn run(app: &App, link: &Link) -> Html {
    let w = app.words();
    let run = &app.wire().run;
    let root = knobs::json(app.wire());
    let board = Board { app, link, root: &root };
    html! {
        <>
            { text(app, link, "title".to_owned(), w.title, &app.wire().title, "wide",
                Rc::new(|s, to| to.clone_into(&mut s.title))) }
            { number(app, link, Number {
                id: "run.horizon_us".to_owned(), label: w.horizon, unit: "s", value: run.horizon_us as f64 * 1e-6,
                whole: false, range: Range::Log(1.0, 3600.0),
                set: set(|s, x| s.run.horizon_us = us(x)),
            }) }
            { for knobs::RUN.iter().map(|knob| board.knob("", knob)) }
            <p class="help">{ &app.wire().about }</p>
            { text(app, link, "about".to_owned(), w.about, &app.wire().about, "wide",
                Rc::new(|s, to| to.clone_into(&mut s.about))) }
        </>
    }
}
