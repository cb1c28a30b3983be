//! A comparison for people: the verdict in a sentence, what was set differently, and a row a figure.
//!
//! Figures end where their intervals do; a difference that the runs do not tell from zero says so, and how many more might.

use tidegate_core::compare::settings::Setting;
use tidegate_core::compare::{Outcome, Row, Scope, Verdict};
use tidegate_core::measure::figure::Unit;
use tidegate_core::sim::ENGINE;

use crate::compare::Compared;
use crate::text::{self, BOLD, Cell, DIM, GOOD, Table, WARN, grouped, styled};

/// Longest value of a setting that is written out.
const LONGEST_VALUE: usize = 44;

/// The comparison as text.
pub(crate) fn table(done: &Compared<'_>, all: bool) -> String {
    let mut parts = vec![heading(done)];
    parts.extend(settings(&done.settings));
    parts.extend(notes(done));
    parts.push(rows(&done.rows, all));
    parts.push(closing(done));
    parts.join("\n")
}

fn heading(done: &Compared<'_>) -> String {
    let title = |at: usize| match done.parsed[at].wire.title.as_str() {
        "" => "Untitled scenario",
        title => title,
    };
    let verdict = sentence(&done.rows, done.settings.is_empty());
    format!("A  {}\nB  {}\n\n{}\n", styled(BOLD, title(0)), styled(BOLD, title(1)), styled(BOLD, verdict))
}

/// The verdict.
fn sentence(rows: &[Row], same: bool) -> String {
    let outcome = Outcome::of(rows);
    let figures = |n: usize| if n == 1 { "1 figure".to_owned() } else { format!("{n} figures") };
    if same || (outcome.equal == outcome.all && outcome.all > 0) {
        return format!("A and B are equal in every run, in {}.", figures(outcome.all));
    }
    if outcome.better == [0; 2] && outcome.unclear == 0 {
        return "Nothing can be told yet: an interval takes two runs at least.".to_owned();
    }
    let side = |at: usize, name: &str| {
        let most = outcome.most[at].map(|at| format!(" (furthest: {})", change(&rows[at])));
        format!("{name} is better in {}{}", figures(outcome.better[at]), most.unwrap_or_default())
    };
    let mut told: Vec<String> = Vec::new();
    for (at, name) in [(1, "B"), (0, "A")] {
        if outcome.better[at] > 0 {
            told.push(side(at, name));
        }
    }
    if told.is_empty() {
        told.push("Neither is better in any figure".to_owned());
    }
    if outcome.unclear > 0 {
        told.push(format!("{} not told apart", outcome.unclear));
    }
    if outcome.equal > 0 {
        told.push(format!("{} equal", outcome.equal));
    }
    format!("{}; of {}.", told.join(", "), outcome.all)
}

/// A figure with its change as a part of A's mean.
fn change(row: &Row) -> String {
    let scale = Unit::Share.scale(1.0);
    let part = scale.difference(row.difference / row.a.0, row.half_width.map(|half| half / row.a.0.abs()));
    let of = if row.name.is_empty() { String::new() } else { format!(" of {}", row.name) };
    if row.a.0 == 0.0 {
        return format!("{}{of}, from 0", row.figure.english());
    }
    format!("{}{of} {} %", row.figure.english(), plain(&part))
}

/// Thousands as everywhere on the command line.
fn plain(text: &str) -> String {
    text.replace('\u{2009}', ",")
}

fn settings(settings: &[Setting]) -> Option<String> {
    if settings.is_empty() {
        return None;
    }
    let mut table = Table::new(["<setting", "<A has", "<B has"]);
    let shown = |value: &Option<serde_json::Value>| {
        let Some(value) = value else { return Cell::styled(DIM, "nothing") };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let short: String = text.chars().take(LONGEST_VALUE).collect();
        let cut = short.len() < text.len();
        Cell::from(if cut { format!("{short}…") } else { short })
    };
    for of in settings {
        table.row([of.path.as_str().into(), shown(&of.a), shown(&of.b)]);
    }
    Some(table.render())
}

/// What cannot be compared, or not on the same traffic.
fn notes(done: &Compared<'_>) -> Option<String> {
    let mut lines = Vec::new();
    for (in_a, one, other) in [(true, "A", "B"), (false, "B", "A")] {
        let alone: Vec<String> = (done.comparison.alone().iter())
            .filter(|alone| alone.in_a == in_a)
            .map(|alone| format!("{} {}", alone.scope.name(), alone.name))
            .collect();
        if !alone.is_empty() {
            lines.push(format!(
                "only in {one}, and not compared, as {other} has none of that name: {}",
                alone.join(", ")
            ));
        }
    }
    for name in done.comparison.apart() {
        lines.push(format!(
            "class {name} is at another place in B: its traffic is of the same kind, but not the same"
        ));
    }
    if done.recorded.is_some() {
        lines.push(
            "the log is one sample: intervals are about chance within it, not about other days".to_owned(),
        );
    }
    let line = |line: &String| styled(WARN, format!("note: {line}")) + "\n";
    (!lines.is_empty()).then(|| lines.iter().map(line).collect())
}

fn rows(rows: &[Row], all: bool) -> String {
    let mut table = Table::new(["<of", "<figure", "A", "B", "B − A", "± 95 %", "<", "<", "runs more"]);
    let mut last = None;
    for row in rows.iter().filter(|row| (all || !row.figure.is_detail()) && !row.is_nothing() && row.n > 0) {
        let place = (row.figure.scope(), row.name.as_str());
        let of = match place {
            _ if last == Some(place) => "",
            (Scope::Whole, _) => "all",
            (_, name) => name,
        };
        last = Some(place);
        let scale = row.figure.unit().scale(row.a.0.abs().max(row.b.0.abs()));
        let half = row.half_width.map_or_else(String::new, |half| scale.half_width(half));
        let dim = row.verdict == Verdict::Unclear;
        let difference = plain(&scale.difference(row.difference, row.half_width));
        table.row([
            of.into(),
            row.figure.english().into(),
            plain(&scale.value(row.a.0, row.a.1)).into(),
            plain(&scale.value(row.b.0, row.b.1)).into(),
            if dim { Cell::styled(DIM, difference) } else { difference.into() },
            plain(&half).into(),
            scale.sign.into(),
            verdict(row),
            more(row),
        ]);
    }
    table.render()
}

fn verdict(row: &Row) -> Cell {
    let mark = if row.together { " *" } else { "" };
    match row.verdict {
        Verdict::BBetter => Cell::styled(GOOD, format!("B better{mark}")),
        Verdict::ABetter => Cell::styled(WARN, format!("A better{mark}")),
        Verdict::BMore => format!("B more{mark}").into(),
        Verdict::BLess => format!("B less{mark}").into(),
        Verdict::Unclear => Cell::styled(DIM, "not told apart"),
        Verdict::Equal => Cell::styled(DIM, "equal in every run"),
        Verdict::TooFewRuns => Cell::styled(WARN, "too few runs"),
    }
}

/// About how many runs more would tell the difference from zero.
fn more(row: &Row) -> Cell {
    match (row.verdict, row.more_for_zero) {
        (Verdict::Unclear, Some(runs)) => text::roughly_whole(runs).into(),
        (Verdict::Unclear, None) => Cell::styled(DIM, "over 10,000"),
        _ => "".into(),
    }
}

fn closing(done: &Compared<'_>) -> String {
    let runs = match done.comparison.runs() {
        1 => "1 run of each".to_owned(),
        n => format!(
            "{n} runs of each, in pairs that share every random stream; Student's t over the differences"
        ),
    };
    let scenario = &done.scenarios[0];
    let warmup = match scenario.warmup.as_secs_f64() {
        0.0 => String::new(),
        warmup => format!(", the first {} left out", text::time(warmup)),
    };
    let until = match done.until {
        Some((part, true)) => format!("\nmeans are within {} % of A's", text::digits3(part * 100.0)),
        Some((part, false)) => format!(
            "\nstopped at {} runs: not all means are within {} % of A's",
            done.comparison.runs(),
            text::digits3(part * 100.0)
        ),
        None => String::new(),
    };
    let facts = format!(
        "{runs}\neach of {}{warmup}; seed {}, engine {ENGINE}{until}\n95 % is about each row; * holds for all rows together. \
         Differences of shares are in percentage points.\n{} events in {}",
        text::time(scenario.horizon.as_secs_f64()),
        scenario.seed,
        grouped(done.events as f64),
        text::time(done.wall_s),
    );
    let hash = |at: usize| styled(BOLD, format!("{:016x}", done.hashes[at]));
    format!("{}\ntrace hash  A {}  B {}\n", styled(DIM, facts), hash(0), hash(1))
}
