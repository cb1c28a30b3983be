//! The present state as tables, for whoever reads rather than looks: the same figures as the picture's.

use super::dialogs::frame;
use super::markup::html;
use super::{Link, on};
use crate::app::find::Do;
use crate::app::{self, App, Dialog};
use crate::draw::gauge;
use crate::draw::model::ServerView;
use crate::feed::Feed;
use crate::figures;
use crate::knobs::LOADS;
use crate::story::standing;
use crate::words::{Word, fill};
use tidegate_core::frame::Gauged;
use yew::prelude::*;

/// A table of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it is of.
    pub caption: String,
    /// Names of the columns.
    pub heads: Vec<&'static str>,
    /// The rows, each with its name first.
    pub rows: Vec<Vec<String>>,
}

/// What stands where nothing is known.
fn known<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

/// The state as it is now: classes, lanes, servers.
pub(crate) fn tables(app: &App) -> Vec<Table> {
    let Some(feed) = app.feed() else { return Vec::new() };
    let mut all = vec![classes(app, feed), lanes(app, feed)];
    if !feed.model.servers.is_empty() {
        all.push(servers(app, feed));
    }
    all
}

fn classes(app: &App, feed: &Feed) -> Table {
    let (w, t) = (app.words(), app.prefs.language.text());
    let row = |&c: &usize| {
        let class = feed.model.classes.get(c).copied().unwrap_or_default();
        let waiting: u32 = feed.model.stages.iter().filter_map(|s| s.classes.get(c)).map(|s| s.waiting).sum();
        vec![
            feed.scenario.classes[c].name.clone(),
            figures::rate(class.offered.per_s),
            waiting.to_string(),
            known(class.wait_s, figures::wait),
            figures::rate(class.completed.per_s),
            figures::rate(class.shed.per_s),
        ]
    };
    Table {
        caption: t.classes.to_owned(),
        heads: vec![
            w.column_class,
            t.offered,
            w.column_waiting,
            w.column_wait,
            w.column_served,
            w.column_away,
        ],
        rows: feed.cast.order.iter().map(row).collect(),
    }
}

fn lanes(app: &App, feed: &Feed) -> Table {
    let (w, t) = (app.words(), app.prefs.language.text());
    let mut rows = Vec::new();
    for (spec, stage) in feed.scenario.stages.iter().zip(&feed.model.stages) {
        for (c, class) in feed.cast.order.iter().filter_map(|&c| Some((c, stage.classes.get(c)?))) {
            let average = stage.gauged_level_of(class).then_some(class.gauge.average);
            let seconds = stage.gauged == Gauged::Seconds;
            rows.push(vec![
                format!("{} · {}", spec.name, feed.scenario.classes[c].name),
                class.waiting.to_string(),
                known(class.wait_s, figures::wait),
                known(average, |x| if seconds { figures::wait(x) } else { figures::fine(x) }),
                figures::chance(gauge::shut(stage, c)),
                figures::rate(class.shed.per_s),
                fill(w.busy_of, &[&class.busy.to_string(), &class.slots.to_string()]),
            ]);
        }
    }
    Table {
        caption: t.lanes.to_owned(),
        heads: vec![t.lane, w.column_waiting, w.column_wait, t.average, t.chance, w.column_away, t.workers],
        rows,
    }
}

fn servers(app: &App, feed: &Feed) -> Table {
    let w = app.words();
    let row = |(name, view): (&str, &ServerView)| {
        let short = figures::fine(view.weight);
        let weight = view.session_weight.map(|session| format!("{short} / {}", figures::fine(session)));
        let mut row = vec![
            name.to_owned(),
            standing(w, view),
            weight.unwrap_or(short),
            known((view.group > 0).then_some(view.group), |group| group.to_string()),
            view.in_flight_sum().to_string(),
            known(view.report_age_s, figures::seconds),
        ];
        row.extend(view.loads.iter().map(|&load| known(load, figures::percent)));
        row
    };
    let mut heads = vec![
        w.column_server,
        w.column_state,
        Word::server_weight.of(w),
        w.column_group,
        w.column_in_flight,
        w.column_report,
    ];
    heads.extend(LOADS.iter().map(|(_, name)| name.of(w)));
    let named = feed.scenario.servers.iter().map(|spec| spec.name.as_str()).zip(&feed.model.servers);
    Table { caption: w.servers.to_owned(), heads, rows: named.map(row).collect() }
}

/// The button for those who come by keyboard.
pub(super) fn opener(app: &App, link: &Link) -> Html {
    let read = app.prefs.language.text().key_table;
    html! { <button class="skip" id="read-as-table" onclick={on(link, app::Do::Find(Do::Table))}>{read}</button> }
}

/// The dialog. A run that stands still is always shown as it is.
pub(super) fn dialog(app: &App, link: &Link) -> Html {
    let t = app.prefs.language.text();
    if app.dialog != Some(Dialog::Table) {
        let title = fill(t.table, &[""]);
        return frame(app, link, Dialog::Table, "gallery", &title, t.table_about, Html::default());
    }
    open(app, link)
}

#[inline(never)]
fn open(app: &App, link: &Link) -> Html {
    let t = app.prefs.language.text();
    let still = !app.playing && app.mode != app::Mode::Live;
    let fresh = still.then(|| (app.now_s(), tables(app)));
    let (at_s, all) = fresh.as_ref().unwrap_or(&app.find.table);
    let body = html! {
        <>
            { for all.iter().map(table) }
            <p><button class="button" data-first="" onclick={on(link, app::Do::Find(Do::Table))}>{t.refresh}</button></p>
        </>
    };
    let title = fill(t.table, &[&figures::clock(*at_s)]);
    frame(app, link, Dialog::Table, "gallery", &title, t.table_about, body)
}

fn table(table: &Table) -> Html {
    let row = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(i, cell)| match i {
            0 => html! { <th scope="row">{cell}</th> },
            _ => html! { <td>{cell}</td> },
        });
        html! { <tr>{ for cells }</tr> }
    };
    html! {
        <div class="read" tabindex="0" role="region" aria-label={table.caption.clone()}>
            <table>
                <caption>{ &table.caption }</caption>
                <thead><tr>{ for table.heads.iter().map(|head| html! { <th scope="col">{*head}</th> }) }</tr></thead>
                <tbody>{ for table.rows.iter().map(row) }</tbody>
            </table>
        </div>
    }
}
