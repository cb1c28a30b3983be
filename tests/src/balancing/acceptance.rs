//! What is demanded of the balancer `dnf`, row by row, beside what it is compared with.

use super::cases::{
    Case, GREY, HETERO5, HOLD_4, HOLD_7, HOMOG8, HOMOG8_HALF, NEIGHBOUR, SESS, SESS_NEIGHBOUR,
};
use super::{Figures, figures, under};
use serde_json::{Value, json};

/// A demand: what it is about, the figure, and what it must not exceed.
#[derive(Clone, Debug)]
pub struct Row {
    /// Scenario and figure.
    pub what: String,
    /// What `dnf` shows.
    pub got: f64,
    /// The most it may be.
    pub most: f64,
    /// What the demand is made of.
    pub beside: String,
}

impl Row {
    /// Whether the demand is met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.got <= self.most
    }

    /// The row as a sentence.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { what, got, most, beside } = self;
        format!("{what}: {got:.4}, at most {most:.4} ({beside})")
    }
}

/// A balancer without knobs.
#[must_use]
pub fn named(policy: &str) -> Value {
    json!({ "policy": policy })
}

/// `dnf` whose weights stay where they begin: counts by kind of work, and configured weights.
#[must_use]
pub fn static_by_kind() -> Value {
    json!({ "policy": "dnf", "gain": 1e-9 })
}

/// The published rule in the reading that herds: thirds by rank.
#[must_use]
pub fn thirds_by_rank() -> Value {
    json!({ "policy": "dnf_published", "group_by": "rank" })
}

fn whole(case: &Case, balancer: &Value, seeds: u32) -> Figures {
    reporting(case, balancer, 10, seeds)
}

fn reporting(case: &Case, balancer: &Value, period_s: u32, seeds: u32) -> Figures {
    figures(&under(&case.scenario(period_s), balancer), seeds)
}

fn shared(case: &Case, balancer: &Value, seeds: u32) -> Figures {
    figures(&under(&case.while_shared(10), balancer), seeds)
}

fn row(what: impl Into<String>, got: f64, most: f64, beside: impl Into<String>) -> Row {
    Row { what: what.into(), got, most, beside: beside.into() }
}

/// The mean, 99 % point and spread of `dnf` where nothing goes wrong, beside counting connections.
#[must_use]
pub fn steady(seeds: u32) -> Vec<Row> {
    let dnf = named("dnf");
    let mut rows = Vec::new();
    for (case, other) in [(HOMOG8, "least_connections"), (HETERO5, "weighted_least_connections")] {
        let (ours, theirs) = (whole(&case, &dnf, seeds), whole(&case, &named(other), seeds));
        let name = case.name;
        let beside = |figure: f64| format!("{other} {figure:.2} ms");
        rows.push(row(
            format!("{name}, mean"),
            ours.mean_ms(),
            1.03 * theirs.mean_ms(),
            beside(theirs.mean_ms()),
        ));
        rows.push(row(
            format!("{name}, p99"),
            ours.p99_ms(),
            1.03 * theirs.p99_ms(),
            beside(theirs.p99_ms()),
        ));
        if name == HETERO5.name {
            rows.push(row(
                "hetero5, spread of use",
                ours.spread,
                0.04,
                format!("{other} {:.3}", theirs.spread),
            ));
        } else {
            rows.push(row(
                "homog8, largest queue",
                f64::from(ours.most_in_flight),
                25.0,
                format!("{other} {}", theirs.most_in_flight),
            ));
        }
    }
    rows
}

/// Response times while others take a part of a server.
#[must_use]
pub fn disturbed(seeds: u32) -> Vec<Row> {
    let dnf = named("dnf");
    let mut rows = Vec::new();
    for (case, other, part) in [
        (NEIGHBOUR, "weighted_least_connections", 0.8),
        (GREY, "peak_ewma", 0.95),
        (HOLD_4, "weighted_least_connections", 0.95),
    ] {
        let theirs = shared(&case, &named(other), seeds).p99_ms();
        let ours = shared(&case, &dnf, seeds).p99_ms();
        rows.push(row(
            format!("{}, p99 meanwhile", case.name),
            ours,
            part * theirs,
            format!("{other} {theirs:.0} ms"),
        ));
    }
    rows
}

/// Sessions beside short requests: response times, and bandwidth that sessions lose.
#[must_use]
pub fn sessions(seeds: u32) -> Vec<Row> {
    let dnf = named("dnf");
    let mut rows = Vec::new();
    let ours = whole(&SESS, &dnf, seeds);
    let theirs = whole(&SESS, &named("weighted_least_connections"), seeds);
    rows.push(row("sess, p99", ours.p99_ms(), 100.0, format!("wlc {:.0} ms", theirs.p99_ms())));
    rows.push(row("sess, bandwidth lost", ours.lost, 0.005, format!("wlc {:.3}", theirs.lost)));
    for (period_s, most) in [(10, 125.0), (30, 130.0)] {
        let ours = reporting(&SESS_NEIGHBOUR, &dnf, period_s, seeds);
        let beside = format!("reports each {period_s} s");
        rows.push(row(format!("sess+neigh/{period_s}, p99"), ours.p99_ms(), most, beside.clone()));
        rows.push(row(format!("sess+neigh/{period_s}, bandwidth lost"), ours.lost, 0.005, beside));
    }
    let (ours, theirs) = (whole(&HOLD_7, &dnf, seeds), whole(&HOLD_7, &static_by_kind(), seeds));
    let beside = format!("static by kind {:.0} ms, lost {:.3}", theirs.p99_ms(), theirs.lost);
    rows.push(row("hold-7, p99", ours.p99_ms(), theirs.p99_ms(), beside.clone()));
    rows.push(row("hold-7, bandwidth lost", ours.lost, 0.005, beside));
    rows
}

/// How the published rule herds, as the smallest queue that must be seen under it: the row is met if `dnf` stays
/// below a twentieth of it.
#[must_use]
pub fn herding(seeds: u32) -> Row {
    let published = whole(&HOMOG8_HALF, &thirds_by_rank(), seeds);
    let ours = whole(&HOMOG8_HALF, &named("dnf"), seeds);
    row(
        "homog8-r45, largest queue",
        f64::from(ours.most_in_flight),
        f64::from(published.most_in_flight) / 20.0,
        format!("thirds by rank {}, p99 {:.0} ms", published.most_in_flight, published.p99_ms()),
    )
}
