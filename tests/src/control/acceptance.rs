//! What is demanded of the recommended controller, row by row, and what it shows.

use super::{Case, Outcome, Phase, outcomes, split_by};
use serde_json::{Value, json};

/// How much there is to hold in a phase, by the mean delay in mean service times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// So few wait that no policy can hold a ratio: to be compared with `wtp` only.
    Light,
    /// The onset of overload: delays of one or two service times.
    Onset,
    /// More than that.
    Overload,
}

impl Case {
    /// The depth of each phase, by what one shared pool under `wtp` makes of it.
    #[must_use]
    pub fn depths(&self, wtp: &[Outcome]) -> Vec<Depth> {
        let depth = |(phase, outcome): (&Phase, &Outcome)| {
            let jobs: f64 = phase.load.iter().sum();
            let service_s = phase.load.iter().zip(&phase.service_s).map(|(n, s)| n * s).sum::<f64>() / jobs;
            let idle = phase.load.contains(&0.0);
            match outcome.delay_s / service_s {
                // Without a class there is no ratio.
                _ if idle => Depth::Light,
                _ if outcome.in_band[1] < 0.9 => Depth::Light,
                delay if delay < 2.5 => Depth::Onset,
                _ => Depth::Overload,
            }
        };
        self.phases.iter().zip(wtp).map(depth).collect()
    }
}

/// What the policies make of one case.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The case.
    pub case: Case,
    /// The recommended controller.
    pub lead: Vec<Outcome>,
    /// One shared pool, the job that has waited longest for its weight first: what can be done at best.
    pub wtp: Vec<Outcome>,
    /// Fixed gains.
    pub pid: Vec<Outcome>,
    /// The recommended controller that begins with a gain four times too small, and four times too large.
    pub wrong: Option<[Vec<Outcome>; 2]>,
}

impl Compared {
    /// Runs a case under every policy, with so many seeds; with wrong priors too if `wrong`.
    #[must_use]
    pub fn run(case: Case, seeds: u64, wrong: bool) -> Self {
        let lead = |prior: f64| json!({ "split_by": { "policy": "stc_lead", "prior": prior } });
        let run = |policy: Value| outcomes(&case, &policy, seeds);
        std::thread::scope(|scope| {
            let wtp = scope.spawn(|| run(super::order("wtp")));
            let pid = scope.spawn(|| run(split_by("pid")));
            let priors = wrong.then(|| [0.25, 4.0].map(|prior| scope.spawn(move || run(lead(prior)))));
            let lead = run(split_by("stc_lead"));
            let join = |thread: std::thread::ScopedJoinHandle<'_, Vec<Outcome>>| {
                thread.join().expect("a run does not panic")
            };
            let wrong = priors.map(|priors| priors.map(join));
            Self { lead, wtp: join(wtp), pid: join(pid), wrong, case: case.clone() }
        })
    }

    /// Every phase with its number, depth and outcomes under `stc_lead` and `wtp`.
    fn phases(&self) -> impl Iterator<Item = Judged<'_>> {
        let depths = self.case.depths(&self.wtp);
        depths.into_iter().enumerate().map(|(at, depth)| Judged {
            name: format!("{} {}", self.case.name, at + 1),
            depth,
            lead: &self.lead[at],
            wtp: &self.wtp[at],
        })
    }
}

/// A phase of a case.
struct Judged<'a> {
    name: String,
    depth: Depth,
    lead: &'a Outcome,
    wtp: &'a Outcome,
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What is measured.
    pub measure: &'static str,
    /// What it came to.
    pub shown: String,
    /// What is demanded.
    pub demand: &'static str,
    /// Whether it is met.
    pub met: bool,
}

/// The worst of several figures with the phase it is of, by `worse`; mean and median beside it.
struct Spread {
    mean: f64,
    median: f64,
    worst: f64,
    phase: String,
}

impl Spread {
    /// Of the phases of a depth; `None` without any. `sign` is 1 if large figures are bad, -1 if small ones are.
    fn of(all: &[Judged<'_>], depth: Depth, sign: f64, figure: impl Fn(&Judged<'_>) -> f64) -> Option<Self> {
        let mut figures: Vec<(f64, &str)> = all
            .iter()
            .filter(|judged| judged.depth == depth)
            .map(|judged| (figure(judged), judged.name.as_str()))
            .collect();
        figures.sort_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)));
        let (worst, phase) = *figures.last()?;
        Some(Self {
            mean: figures.iter().map(|(figure, _)| figure).sum::<f64>() / figures.len() as f64,
            median: figures[figures.len() / 2].0,
            worst,
            phase: phase.to_owned(),
        })
    }
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// Every row that the cases given say something about.
#[must_use]
pub fn rows(all: &[Compared]) -> Vec<Row> {
    let phases: Vec<Judged<'_>> = all.iter().flat_map(Compared::phases).collect();
    let mut rows = Vec::new();
    overload(&phases, &mut rows);
    onset(&phases, &mut rows);
    beside_wtp(&phases, &mut rows);
    for compared in all {
        settling(compared, &mut rows);
    }
    if let Some(compared) = all.iter().find(|compared| compared.case.name == "closed2") {
        closed2(compared, &mut rows);
    }
    wrong_priors(all, &mut rows);
    throughput(all, &mut rows);
    rows
}

fn overload(phases: &[Judged<'_>], rows: &mut Vec<Row>) {
    if let Some(error) = Spread::of(phases, Depth::Overload, 1.0, |p| p.lead.error) {
        rows.push(Row {
            measure: "overloaded phases, pooled pairwise error",
            shown: format!(
                "median {}, worst {} ({})",
                percent(error.median),
                percent(error.worst),
                error.phase
            ),
            demand: "median <= 1 %, each <= 5 %",
            met: error.median <= 0.01 && error.worst <= 0.05,
        });
    }
    for (band, measure, demand, mean, each) in [
        (0, "overloaded phases, in band 10", "mean >= 97 %, each >= 75 %", 0.97, 0.75),
        (1, "overloaded phases, in band 20", "mean >= 99 %, each >= 97 %", 0.99, 0.97),
    ] {
        if let Some(part) = Spread::of(phases, Depth::Overload, -1.0, |p| p.lead.in_band[band]) {
            rows.push(Row {
                measure,
                shown: format!("mean {}, worst {} ({})", percent(part.mean), percent(part.worst), part.phase),
                demand,
                met: part.mean >= mean && part.worst >= each,
            });
        }
    }
}

fn onset(phases: &[Judged<'_>], rows: &mut Vec<Row>) {
    if let Some(error) = Spread::of(phases, Depth::Onset, 1.0, |p| p.lead.error) {
        rows.push(Row {
            measure: "onset of overload, pooled pairwise error",
            shown: format!("worst {} ({})", percent(error.worst), error.phase),
            demand: "each <= 10 %",
            met: error.worst <= 0.1,
        });
    }
    for (band, measure, demand, each) in [
        (0, "onset of overload, in band 10", "each >= 55 %", 0.55),
        (1, "onset of overload, in band 20", "each >= 95 %", 0.95),
    ] {
        if let Some(part) = Spread::of(phases, Depth::Onset, -1.0, |p| p.lead.in_band[band]) {
            rows.push(Row {
                measure,
                shown: format!("mean {}, worst {} ({})", percent(part.mean), percent(part.worst), part.phase),
                demand,
                met: part.worst >= each,
            });
        }
    }
}

fn beside_wtp(phases: &[Judged<'_>], rows: &mut Vec<Row>) {
    let short = |p: &Judged<'_>| p.wtp.in_band[1] - p.lead.in_band[1];
    if let Some(worst) = phases.iter().max_by(|a, b| short(a).total_cmp(&short(b))) {
        rows.push(Row {
            measure: "in band 20 beside wtp, every phase",
            shown: format!("at most {:.1} points less ({})", 100.0 * short(worst), worst.name),
            demand: "<= 5 points less",
            met: short(worst) <= 0.05,
        });
    }
}

/// How soon a phase that changes the load settles: cases, phase, seconds for the median.
fn settling(compared: &Compared, rows: &mut Vec<Row>) {
    let (phase, measure, demand, limit_s) = match compared.case.name {
        "closed2" => (1, "settling after three times the clients, closed2", "median <= 5 s", 5.0),
        "closed3" => (1, "settling after 2.5 times the clients, closed3", "median <= 5 s", 5.0),
        "closed4" => (1, "settling after 2.4 times the clients, closed4", "median <= 30 s", 30.0),
        "mixflip" => (1, "settling after the crowds change places, mixflip", "median <= 5 s", 5.0),
        "svcstep" => (1, "settling after a class's work grows, svcstep", "median <= 5 s", 5.0),
        "open2" => (1, "settling after load 0.9 becomes 1.3, open2", "median <= 5 s", 5.0),
        _ => return,
    };
    let [median, ninetieth] = compared.lead[phase].settle_s;
    rows.push(Row {
        measure,
        shown: format!("{median} s (90th percentile {ninetieth} s)"),
        demand,
        met: median <= limit_s,
    });
}

fn closed2(compared: &Compared, rows: &mut Vec<Row>) {
    let parts = |outcomes: &[Outcome]| -> Vec<f64> { outcomes.iter().map(|o| o.in_band[0]).collect() };
    let (lead, pid) = (parts(&compared.lead), parts(&compared.pid));
    let shown =
        |parts: &[f64]| parts.iter().map(|part| format!("{:.0}", 100.0 * part)).collect::<Vec<_>>().join("/");
    rows.push(Row {
        measure: "in band 10 beside pid, closed2, phases 1/2/3",
        shown: format!("{} against {}", shown(&lead), shown(&pid)),
        demand: ">= pid in every phase",
        met: lead.iter().zip(&pid).all(|(lead, pid)| lead >= pid),
    });
    let moved = compared.lead.iter().map(|outcome| outcome.moved).sum::<f64>() / compared.lead.len() as f64;
    rows.push(Row {
        measure: "workers moved each 5 s, closed2",
        shown: format!("{moved:.2}"),
        demand: "<= 2.5",
        met: moved <= 2.5,
    });
}

fn wrong_priors(all: &[Compared], rows: &mut Vec<Row>) {
    let mut parts: Vec<(f64, String)> = Vec::new();
    for compared in all {
        for (outcomes, prior) in compared.wrong.iter().flatten().zip(["0.25", "4"]) {
            let phases = compared.phases().zip(outcomes);
            let held = phases.filter(|(phase, _)| phase.depth != Depth::Light);
            parts.extend(
                held.map(|(phase, outcome)| (outcome.in_band[1], format!("{}, prior {prior}", phase.name))),
            );
        }
    }
    let Some((worst, of)) = parts.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    let mean = parts.iter().map(|(part, _)| part).sum::<f64>() / parts.len() as f64;
    rows.push(Row {
        measure: "first gain wrong by four either way, in band 20",
        shown: format!("mean {}, worst {} ({of})", percent(mean), percent(*worst)),
        demand: "mean >= 98 %, each >= 90 %",
        met: mean >= 0.98 && *worst >= 0.9,
    });
}

fn throughput(all: &[Compared], rows: &mut Vec<Row>) {
    let ratio = |compared: &Compared| {
        let sum = |outcomes: &[Outcome]| outcomes.iter().map(|o| o.throughput_per_s).sum::<f64>();
        sum(&compared.lead) / sum(&compared.wtp)
    };
    let closed = all.iter().filter(|compared| compared.case.think_s.is_some());
    let worst =
        closed.map(|compared| (ratio(compared), compared.case.name)).min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((worst, name)) = worst {
        rows.push(Row {
            measure: "answers a second beside wtp, closed clients",
            shown: format!("{} ({name})", percent(worst)),
            demand: ">= 98 %",
            met: worst >= 0.98,
        });
    }
}
