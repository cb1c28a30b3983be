//! A report for people: tables.
//!
//! Tables are honest before they are neat: a mean comes with its 95 % interval and no digit beyond it; a mean without an
//! interval reads "run longer", with the reason below; what is only roughly known has a `~`.

use tidegate_core::frame::Cause;
use tidegate_core::scenario::Scenario;
use tidegate_core::scenario::v1::ModeV1;
use tidegate_core::sim::ENGINE;
use tidegate_core::sim::report::{ClassReport, Figure, ProportionReport, QUANTILES, Report};

use crate::text::{self, BOLD, Cell, DIM, GOOD, Table, WARN, percent, styled};

/// How long the runs took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed {
    /// Seconds on the wall.
    pub(crate) wall_s: f64,
    /// Events a second, over all threads.
    pub(crate) events_per_s: f64,
}

/// The report as tables with their notes.
pub(crate) fn table(scenario: &Scenario, report: &Report, speed: Speed) -> String {
    let mut notes = Notes::default();
    let times = [
        times("wait", &report.classes, |class| &class.wait_s, scenario.mode, &mut notes),
        times("response", &report.classes, |class| &class.response_s, scenario.mode, &mut notes),
    ];
    let mut parts = vec![heading(scenario, report), requests(report)];
    parts.extend(times);
    parts.push(places(scenario, report));
    parts.extend(scenario.stages.iter().zip(&report.stages).filter_map(|(spec, stage)| {
        let proportion = stage.proportion.as_ref()?;
        Some(proportions(scenario, &spec.name, proportion))
    }));
    parts.extend(notes.render(2 * report.classes.len()));
    parts.push(closing(report, speed));
    parts.join("\n")
}

/// Why some means have no interval, each reason once.
#[derive(Default)]
struct Notes(Vec<(String, Vec<String>)>);

impl Notes {
    fn add(&mut self, why: &str, what: String) {
        match self.0.iter_mut().find(|(known, _)| known == why) {
            Some((_, list)) => list.push(what),
            None => self.0.push((why.to_owned(), vec![what])),
        }
    }

    /// The notes as lines, if there are any; `all` is how many means the table has.
    fn render(&self, all: usize) -> Option<String> {
        let line = |(why, list): &(String, Vec<String>)| {
            let what = if list.len() == all { "any mean".to_owned() } else { list.join(", ") };
            styled(WARN, format!("no interval for {what}: {why}")) + "\n"
        };
        (!self.0.is_empty()).then(|| self.0.iter().map(line).collect())
    }
}

fn heading(scenario: &Scenario, report: &Report) -> String {
    let title = match scenario.wire().title.as_str() {
        "" => "Untitled scenario",
        title => title,
    };
    let runs = match report.replications {
        1 => "1 run".to_owned(),
        n => format!("{n} runs"),
    };
    let warmup = match report.warmup_s {
        0.0 => String::new(),
        warmup => format!(", the first {} left out", text::time(warmup)),
    };
    let facts =
        format!("{runs} of {}{warmup}; seed {}, engine {ENGINE}", text::time(report.horizon_s), report.seed);
    format!("{}\n{}\n", styled(BOLD, title), styled(DIM, facts))
}

/// What became of the requests. Counts are of whole runs, the rate of the measured part.
fn requests(report: &Report) -> String {
    let causes: Vec<Cause> = Cause::ALL
        .into_iter()
        .filter(|&cause| report.classes.iter().any(|class| class.shed[cause as usize] > 0.0))
        .collect();
    let failed = report.classes.iter().any(|class| class.failed > 0.0);
    let mut head = vec!["<requests", "arrived", "completed", "turned away"];
    head.extend(causes.iter().map(|cause| cause.name()));
    head.extend(failed.then_some("failed"));
    head.push("goodput/s");
    let mut table = Table::new(head);
    for class in &report.classes {
        let shed: f64 = class.shed.iter().sum();
        let share = percent(if class.arrived > 0.0 { shed / class.arrived } else { 0.0 });
        let mut row: Vec<Cell> = vec![class.name.as_str().into()];
        row.extend([class.arrived, class.completed].map(|n| text::grouped(n).into()));
        row.push(if shed > 0.0 { Cell::styled(WARN, share) } else { share.into() });
        row.extend(causes.iter().map(|&cause| text::grouped(class.shed[cause as usize]).into()));
        row.extend(failed.then(|| text::grouped(class.failed).into()));
        row.push(text::digits3(class.goodput_per_s).into());
        table.row(row);
    }
    table.render()
}

/// One kind of time, a row a class.
fn times<'a>(
    what: &str,
    classes: &'a [ClassReport],
    figure: impl Fn(&'a ClassReport) -> &'a Figure,
    mode: ModeV1,
    notes: &mut Notes,
) -> String {
    let exact = classes.iter().any(|class| figure(class).theory.is_some());
    let first = format!("<{what}");
    let mut head = vec![first.as_str(), "mean, 95 %"];
    head.extend(exact.then_some("exact"));
    head.extend(QUANTILES.map(|(name, _)| name));
    head.push("max");
    let mut table = Table::new(head);
    for class in classes {
        let figure = figure(class);
        let mut row: Vec<Cell> = vec![class.name.as_str().into(), mean(figure, mode)];
        if exact {
            row.push(figure.theory.map_or_else(|| "-".into(), |exact| exact_beside(figure, exact)));
        }
        row.extend(figure.quantiles.map(|quantile| match quantile {
            None => Cell::from("-"),
            Some(s) if figure.ci95.is_ok() => text::time(s).into(),
            Some(s) => Cell::styled(DIM, text::roughly(s)),
        }));
        row.push(figure.max.map_or_else(|| "-".into(), |s| Cell::styled(DIM, text::roughly(s))));
        table.row(row);
        if let (Some(_), Err(why)) = (figure.mean, &figure.ci95) {
            notes.add(why, format!("{what} of {}", class.name));
        }
    }
    table.render()
}

fn mean(figure: &Figure, mode: ModeV1) -> Cell {
    match (figure.mean, &figure.ci95, mode) {
        (None, ..) => "-".into(),
        (Some(mean), &Ok((lo, hi)), _) => text::time_within(mean, (hi - lo) / 2.0).into(),
        // The mean of this one stretch is a fact about it; only what other stretches would give is unknown.
        (Some(mean), Err(_), ModeV1::Transient) => Cell::styled(WARN, text::roughly(mean)),
        (Some(_), Err(_), ModeV1::Steady) => Cell::styled(WARN, "run longer"),
    }
}

/// The exact mean, green if the interval holds it. One interval in twenty does not: no alarm, so no colour.
fn exact_beside(figure: &Figure, exact: f64) -> Cell {
    let shown = text::time(exact);
    match figure.ci95 {
        Ok((lo, hi)) if (lo..=hi).contains(&exact) => Cell::styled(GOOD, shown),
        _ => shown.into(),
    }
}

/// Stages and servers.
fn places(scenario: &Scenario, report: &Report) -> String {
    let wasted = report.stages.iter().any(|stage| stage.wasted_s > 0.0);
    let bounded = report.stages.iter().any(|stage| stage.wait_bound_s.is_some());
    let mut head = vec!["<stage", "workers", "busy", "served", "turned away"];
    head.extend(wasted.then_some("wasted before"));
    head.extend(bounded.then_some("wait at most"));
    let before: Vec<f64> = report
        .stages
        .iter()
        .scan(0.0, |sum, stage| Some(core::mem::replace(sum, *sum + stage.worked_s)))
        .collect();
    let mut stages = Table::new(head);
    for ((stage, spec), before) in report.stages.iter().zip(&scenario.stages).zip(before) {
        let sum = |of: fn(&(f64, f64, Option<f64>)) -> f64| stage.classes.iter().map(of).sum();
        let mut row: Vec<Cell> = vec![
            stage.name.as_str().into(),
            text::grouped(spec.workers.into()).into(),
            percent(stage.utilisation).into(),
            text::grouped(sum(|class| class.0)).into(),
            text::grouped(sum(|class| class.1)).into(),
        ];
        // The part of all the work done before this stage that was for requests it turned away.
        row.extend(
            wasted.then(|| if before > 0.0 { percent(stage.wasted_s / before).into() } else { "-".into() }),
        );
        row.extend(bounded.then(|| stage.wait_bound_s.map_or_else(|| "-".into(), |s| text::time(s).into())));
        stages.row(row);
    }
    if report.servers.is_empty() {
        return stages.render();
    }
    let mut servers = Table::new(["<server", "share", "busy", "answered", "failed", "weight"]);
    for server in &report.servers {
        servers.row([
            server.name.as_str().into(),
            percent(server.share).into(),
            percent(server.utilisation).into(),
            text::grouped(server.completed).into(),
            text::grouped(server.failed).into(),
            text::digits3(server.weight).into(),
        ]);
    }
    format!("{}\n{}", stages.render(), servers.render())
}

/// How well delays kept their proportions at a stage.
fn proportions(scenario: &Scenario, stage: &str, proportion: &ProportionReport) -> String {
    let first = format!("<delay at {stage}");
    let mut table = Table::new([first.as_str(), "weight", "ratio", "wanted", "share", "wanted"]);
    let known = |figure: Option<f64>, shown: fn(f64) -> String| figure.map_or_else(|| "-".into(), shown);
    for (class, shown) in scenario.classes.iter().zip(&proportion.classes) {
        table.row([
            class.name.as_str().into(),
            text::digits3(class.delay_weight.get()).into(),
            known(shown.ratio, text::digits3).into(),
            text::digits3(shown.target_ratio).into(),
            known(shown.share, percent).into(),
            percent(shown.target_share).into(),
        ]);
    }
    format!("{}{}\n", table.render(), styled(DIM, errors(proportion)))
}

/// The errors of delays in a sentence.
fn errors(proportion: &ProportionReport) -> String {
    if proportion.below_overload {
        return "below overload: hardly anybody waits, so there is no ratio to keep".to_owned();
    }
    let mut parts = Vec::new();
    parts.extend(proportion.error.map(|error| format!("off by {} over all", percent(error))));
    if let [Some(ten), Some(twenty)] = proportion.in_band {
        let (ten, twenty) = (percent(ten), percent(twenty));
        parts.push(format!("within 10 % in {ten} and within 20 % in {twenty} of the windows of 10 s"));
    }
    parts.extend(proportion.moved.map(|moved| format!("{} workers moved each 5 s", text::digits3(moved))));
    parts.join("; ")
}

fn closing(report: &Report, speed: Speed) -> String {
    let theory = match &report.theory {
        Ok(theory) if theory.loss > 0.0 => {
            format!("exact means: {}, which turns away {}", theory.model, percent(theory.loss))
        }
        Ok(theory) => format!("exact means: {}", theory.model),
        Err(why) => format!("no exact result to compare with: {why}"),
    };
    let run = format!(
        "{} events in {} ({} events/s)",
        text::grouped(report.events as f64),
        text::time(speed.wall_s),
        text::grouped(speed.events_per_s)
    );
    format!(
        "{theory}\ntrace hash {}  {}\n",
        styled(BOLD, format!("{:016x}", report.trace_hash)),
        styled(DIM, run)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(ci95: Result<(f64, f64), String>) -> Figure {
        Figure { mean: Some(0.002_314), ci95, quantiles: [None; 4], max: None, theory: None }
    }

    #[test]
    fn a_mean_without_an_interval_asks_to_run_longer() {
        let shown = |figure: &Figure, mode| {
            let mut table = Table::new(["mean"]);
            table.row([mean(figure, mode)]);
            anstream::adapter::strip_str(&table.render())
                .to_string()
                .lines()
                .nth(1)
                .unwrap()
                .trim()
                .to_owned()
        };
        let known = figure(Ok((0.002_214, 0.002_414)));
        let unknown = figure(Err("run longer".into()));
        assert_eq!(shown(&known, ModeV1::Steady), "2.31 ± 0.10 ms");
        assert_eq!(shown(&unknown, ModeV1::Steady), "run longer");
        assert_eq!(shown(&unknown, ModeV1::Transient), "~2.3 ms");
    }

    #[test]
    fn delays_are_judged_in_a_sentence_unless_nobody_waits() {
        let mut proportion = ProportionReport {
            error: Some(0.012),
            in_band: [Some(0.95), Some(1.0)],
            moved: Some(1.8),
            below_overload: false,
            classes: Vec::new(),
        };
        assert_eq!(
            errors(&proportion),
            "off by 1.2 % over all; within 10 % in 95.0 % and within 20 % in 100.0 % of the windows of 10 s; \
             1.80 workers moved each 5 s"
        );
        proportion.below_overload = true;
        assert!(errors(&proportion).starts_with("below overload"));
        let unknown =
            ProportionReport { below_overload: false, error: None, in_band: [None; 2], ..proportion };
        assert_eq!(errors(&unknown), "1.80 workers moved each 5 s");
    }
}
