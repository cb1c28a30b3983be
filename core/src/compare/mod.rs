//! Two scenarios on the same traffic: paired differences, what they allow to say, and how much more it would take.
//!
//! Run r of A and run r of B share seed and stream family, and a request draws its work and its luck when it arrives:
//! both policies meet the very same requests (common random numbers). So the runs come in pairs, and what is looked at is
//! the difference within each pair, whose spread is far smaller than that of two separate sets of runs: Student's t over
//! the differences, with n - 1 degrees of freedom. For ratios of means and other figures that are not means themselves,
//! the differences are the pseudo-values of the jackknife, which leaves out one pair at a time.
//!
//! An interval is about one row. Of twenty rows whose scenarios do not differ at all, one will exclude zero by chance;
//! [`Row::together`] says whether a row still does when all rows are to hold at once (Bonferroni).
//!
//! Nothing here depends on the order in which runs arrive: they are kept by their number.

mod figures;
pub mod settings;

pub use figures::{Better, Figure, Key, Scope, Shape, figures_of, has_targets, reference_class};

use crate::measure::csv::field;
use crate::measure::{Interval, Summary, student_t_quantile};
use crate::scenario::Scenario;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Runs of each, unless one asks for more.
pub const RUNS: u32 = 10;
/// Most runs of each.
pub const MOST_RUNS: u32 = 10_000;
/// Probability with which an interval holds.
pub const CONFIDENCE: f64 = 0.95;
/// Half the interval over the mean of A at which a row is precise.
pub const PRECISION: f64 = 0.03;

/// What a row allows to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Fewer than two runs: there is no interval yet.
    TooFewRuns,
    /// Not the least difference in any run.
    Equal,
    /// The interval includes zero.
    Unclear,
    /// B is better.
    BBetter,
    /// A is better.
    ABetter,
    /// B is more, of what is neither good nor bad.
    BMore,
    /// B is less, of what is neither good nor bad.
    BLess,
}

impl Verdict {
    /// Stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooFewRuns => "too_few_runs",
            Self::Equal => "equal",
            Self::Unclear => "unclear",
            Self::BBetter => "b_better",
            Self::ABetter => "a_better",
            Self::BMore => "b_more",
            Self::BLess => "b_less",
        }
    }
}

/// One figure of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which figure.
    pub figure: Figure,
    /// Of what: name of the class, stage or server; empty for the whole.
    pub name: String,
    /// Pairs of runs in which both have it.
    pub n: usize,
    /// Mean of A, and half of its own 95 % interval.
    pub a: (f64, Option<f64>),
    /// Mean of B, and half of its own 95 % interval.
    pub b: (f64, Option<f64>),
    /// B less A; NaN without a run.
    pub difference: f64,
    /// Half of the 95 % interval of the difference; `None` below two runs.
    pub half_width: Option<f64>,
    /// What it allows to say.
    pub verdict: Verdict,
    /// Whether that still holds if all rows are to hold together.
    pub together: bool,
    /// Runs more until the interval would exclude zero, if difference and spread stayed as they are; 0 if it does, `None`
    /// if none would do. The difference as seen is a guess, and so is this.
    pub more_for_zero: Option<u32>,
    /// Runs more until half the interval would be a part of the mean of A, [`PRECISION`] unless another is
    /// [aimed at](Comparison::aim); 0 if it is, `None` if none would do.
    pub more_for_precision: Option<u32>,
}

impl Row {
    /// The interval of the difference.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        self.half_width.map(|half| Interval::around(self.difference, half))
    }

    /// Whether the change is good: `None` if nothing can be said, or it is neither.
    #[must_use]
    pub const fn is_good(&self) -> Option<bool> {
        match self.verdict {
            Verdict::BBetter => Some(true),
            Verdict::ABetter => Some(false),
            _ => None,
        }
    }

    /// Whether there is nothing of it on either side: not one request turned away, say.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.verdict == Verdict::Equal && self.a.0 == 0.0
    }
}

/// What all rows together say: those of main figures of which more or less is better.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Rows in which A is better, and B.
    pub better: [usize; 2],
    /// The one of them that is furthest apart, as a part of A's mean: its place among the rows.
    pub most: [Option<usize>; 2],
    /// Rows whose interval includes zero.
    pub unclear: usize,
    /// Rows that are equal in every run.
    pub equal: usize,
    /// All of these rows.
    pub all: usize,
    /// Runs more until all unclear rows would be told from zero that a number of runs can tell.
    pub more: u32,
}

impl Outcome {
    /// Sums up.
    #[must_use]
    pub fn of(rows: &[Row]) -> Self {
        let mut out = Self::default();
        // From nothing to something is no part of nothing.
        let apart = |row: &Row| if row.a.0 == 0.0 { 0.0 } else { (row.difference / row.a.0).abs() };
        for (at, row) in rows.iter().enumerate() {
            if row.figure.is_detail() || row.figure.better() == Better::Neither || row.is_nothing() {
                continue;
            }
            out.all += usize::from(row.n > 0);
            match (row.verdict, row.is_good()) {
                (_, Some(good)) => {
                    let side = usize::from(good);
                    out.better[side] += 1;
                    if out.most[side].is_none_or(|most| apart(row) > apart(&rows[most])) {
                        out.most[side] = Some(at);
                    }
                }
                (Verdict::Unclear, None) => {
                    out.unclear += 1;
                    out.more = out.more.max(row.more_for_zero.unwrap_or(0));
                }
                (Verdict::Equal, None) => out.equal += 1,
                _ => {}
            }
        }
        out
    }
}

/// The rows as comma-separated values (RFC 4180); times in seconds, empty where nothing is known.
#[must_use]
pub fn csv(rows: &[Row]) -> String {
    let mut out = String::from(
        "scope,name,figure,unit,runs,a,a_half_width,b,b_half_width,difference,half_width,verdict,holds_together,more_runs\n",
    );
    for row in rows {
        let known = |number: Option<f64>| match number.filter(|number| number.is_finite()) {
            Some(number) => format!("{number}"),
            None => String::new(),
        };
        let fields = [
            String::from(row.figure.scope().name()),
            field(&row.name).into_owned(),
            String::from(row.figure.id()),
            String::from(row.figure.unit().name()),
            format!("{}", row.n),
            known(Some(row.a.0)),
            known(row.a.1),
            known(Some(row.b.0)),
            known(row.b.1),
            known(Some(row.difference)),
            known(row.half_width),
            String::from(row.verdict.name()),
            format!("{}", row.together),
            known(row.more_for_zero.map(f64::from)),
        ];
        out += &(fields.join(",") + "\n");
    }
    out
}

/// Something that only one of the two has, so that it cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alone {
    /// Whether A has it; else B.
    pub in_a: bool,
    /// What it is.
    pub scope: Scope,
    /// Its name.
    pub name: String,
}

/// The numbers of one pair of runs, for the rows.
type Pair = [Vec<f64>; 2];

/// Runs of two scenarios, compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    rows: Vec<(Key, [usize; 2])>,
    lengths: [usize; 2],
    alone: Vec<Alone>,
    apart: Vec<String>,
    /// In the order of their numbers.
    pairs: Vec<(u32, Pair)>,
    precision: f64,
}

impl Comparison {
    /// A comparison without a run yet. Classes, stages and servers are matched by name.
    #[must_use]
    pub fn new(a: &Scenario, b: &Scenario) -> Self {
        let keys = [figures_of(a), figures_of(b)];
        let starts = keys.each_ref().map(|keys| starts(keys));
        let (mut rows, mut alone) = (Vec::new(), Vec::new());
        for (key, &at) in keys[0].iter().zip(&starts[0].0) {
            match keys[1].iter().position(|other| other == key) {
                Some(other) => rows.push((key.clone(), [at, starts[1].0[other]])),
                None => leave_alone(&mut alone, key, true, &keys[1]),
            }
        }
        for key in keys[1].iter().filter(|key| !keys[0].contains(key)) {
            leave_alone(&mut alone, key, false, &keys[0]);
        }
        let place = |s: &Scenario, name: &str| s.classes.iter().position(|class| class.name == name);
        let moved = |name: &String| place(b, name).is_some_and(|at| Some(at) != place(a, name));
        let apart = a.classes.iter().map(|class| class.name.clone()).filter(moved).collect();
        Self {
            rows,
            lengths: starts.map(|(_, length)| length),
            alone,
            apart,
            pairs: Vec::new(),
            precision: PRECISION,
        }
    }

    /// Sets what [`Row::more_for_precision`] is about: half the interval over the mean of A.
    pub const fn aim(&mut self, precision: f64) {
        self.precision = precision;
    }

    /// Takes run number `replication` of both: the lists that a run's result gives as its `figures`. A run that is there
    /// already is replaced. False, and nothing taken, if a list is not of its scenario.
    pub fn add(&mut self, replication: u32, a: &[f64], b: &[f64]) -> bool {
        if [a.len(), b.len()] != self.lengths {
            return false;
        }
        let of = |list: &[f64], side: usize| -> Vec<f64> {
            self.rows.iter().flat_map(|(key, at)| &list[at[side]..][..key.parts]).copied().collect()
        };
        let pair = [of(a, 0), of(b, 1)];
        match self.place(replication) {
            Ok(at) => self.pairs[at].1 = pair,
            Err(at) => self.pairs.insert(at, (replication, pair)),
        }
        true
    }

    /// Pairs of runs taken.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.pairs.len()
    }

    /// Whether a run is there.
    #[must_use]
    pub fn has(&self, replication: u32) -> bool {
        self.place(replication).is_ok()
    }

    fn place(&self, replication: u32) -> Result<usize, usize> {
        self.pairs.binary_search_by_key(&replication, |(number, _)| *number)
    }

    /// Classes, stages and servers that only one of the two has.
    #[must_use]
    pub fn alone(&self) -> &[Alone] {
        &self.alone
    }

    /// Classes that both have, but at different places of their lists: as the place names the stream, their traffic is of
    /// the same kind and not the same.
    #[must_use]
    pub fn apart(&self) -> &[String] {
        &self.apart
    }

    /// The rows, in the order of A.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut from = 0;
        let all = self.rows.len();
        self.rows
            .iter()
            .map(|(key, _)| {
                let row = self.row(key, from, all);
                from += key.parts;
                row
            })
            .collect()
    }

    fn row(&self, key: &Key, from: usize, all: usize) -> Row {
        let parts = |pair: &Pair, side: usize| pair[side][from..from + key.parts].to_vec();
        let known = |parts: &[f64]| parts.iter().all(|part| part.is_finite());
        let (a, b): (Vec<_>, Vec<_>) = self
            .pairs
            .iter()
            .map(|(_, pair)| (parts(pair, 0), parts(pair, 1)))
            .filter(|(a, b)| known(a) && known(b))
            .unzip();
        let shape = key.figure.shape();
        let sides = [&a, &b].map(|runs| Jackknife::of(shape, runs));
        let differences: Vec<f64> =
            sides[1].values.iter().zip(&sides[0].values).map(|(b, a)| b - a).collect();
        let (n, difference) = (a.len(), sides[1].whole - sides[0].whole);
        let spread = Summary::of(&differences);
        let half = |summary: &Summary| summary.interval(CONFIDENCE).map(|interval| interval.half_width());
        // Pseudo-values that are not numbers (a wait of zero under the bar, say) give no interval.
        let half_width = half(&spread).filter(|_| spread.n == n && difference.is_finite());
        let equal = n > 0 && difference == 0.0 && differences.iter().all(|difference| *difference == 0.0);
        let judge = |half: f64| match () {
            () if difference.abs() <= half => Verdict::Unclear,
            () => direction(key.figure.better(), difference > 0.0),
        };
        let verdict = match half_width {
            None if n < 2 || !equal => Verdict::TooFewRuns,
            _ if equal => Verdict::Equal,
            Some(half) => judge(half),
            None => Verdict::TooFewRuns,
        };
        let clear = !matches!(verdict, Verdict::TooFewRuns | Verdict::Equal | Verdict::Unclear);
        let strict = 1.0 - (1.0 - CONFIDENCE) / all.max(1) as f64;
        let together = clear && spread.interval(strict).is_some_and(|wide| !wide.contains(0.0));
        let more = |goal: f64| match half_width {
            Some(_) => runs_needed(spread.sd, goal, n as u32).map(|runs| runs.saturating_sub(n as u32)),
            None => None,
        };
        Row {
            figure: key.figure,
            name: key.name.clone(),
            n,
            a: (sides[0].whole, half(&Summary::of(&sides[0].values))),
            b: (sides[1].whole, half(&Summary::of(&sides[1].values))),
            difference,
            half_width,
            verdict,
            together,
            more_for_zero: if clear { Some(0) } else { more(difference.abs()) },
            more_for_precision: more(self.precision * sides[0].whole.abs()),
        }
    }
}

/// Offset of each key's numbers, and their number in all.
fn starts(keys: &[Key]) -> (Vec<usize>, usize) {
    let mut at = 0;
    let mut next = |key: &Key| {
        at += key.parts;
        at - key.parts
    };
    let starts = keys.iter().map(&mut next).collect();
    (starts, at)
}

/// Notes what a key is about as missing on the other side, unless that has something of this name.
fn leave_alone(alone: &mut Vec<Alone>, key: &Key, in_a: bool, others: &[Key]) {
    let scope = key.figure.scope();
    let there = |other: &Key| other.figure.scope() == scope && other.name == key.name;
    let noted = |known: &Alone| known.scope == scope && known.name == key.name;
    if scope != Scope::Whole && !others.iter().any(there) && !alone.iter().any(noted) {
        alone.push(Alone { in_a, scope, name: key.name.clone() });
    }
}

const fn direction(better: Better, more: bool) -> Verdict {
    match (better, more) {
        (Better::Neither, true) => Verdict::BMore,
        (Better::Neither, false) => Verdict::BLess,
        (Better::More, true) | (Better::Less, false) => Verdict::BBetter,
        (Better::More, false) | (Better::Less, true) => Verdict::ABetter,
    }
}

/// A figure over runs: of all, and a pseudo-value a run, `n F - (n - 1) F without it`. For a mean these are the runs'
/// own values.
struct Jackknife {
    whole: f64,
    values: Vec<f64>,
}

impl Jackknife {
    fn of(shape: Shape, runs: &[Vec<f64>]) -> Self {
        let n = runs.len() as f64;
        let Some(first) = runs.first() else { return Self { whole: f64::NAN, values: Vec::new() } };
        let mut sums = vec![0.0; first.len()];
        for run in runs {
            sums.iter_mut().zip(run).for_each(|(sum, part)| *sum += part);
        }
        let means: Vec<f64> = sums.iter().map(|sum| sum / n).collect();
        let whole = shape.of(&means);
        let without = |run: &Vec<f64>| -> f64 {
            let rest: Vec<f64> = sums.iter().zip(run).map(|(sum, part)| (sum - part) / (n - 1.0)).collect();
            n * whole - (n - 1.0) * shape.of(&rest)
        };
        let values = match shape {
            Shape::Mean => runs.iter().map(|run| run[0]).collect(),
            _ if runs.len() < 2 => vec![whole],
            _ => runs.iter().map(without).collect(),
        };
        Self { whole, values }
    }
}

/// Fewest runs, and no fewer than `at_least`, with which half of a 95 % interval is at most `goal`, for differences of
/// this deviation. `None` if more than [`MOST_RUNS`] would not do.
#[must_use]
pub fn runs_needed(sd: f64, goal: f64, at_least: u32) -> Option<u32> {
    let enough = |n: u32| {
        let t = student_t_quantile(0.5 + 0.5 * CONFIDENCE, f64::from(n - 1));
        t * sd / libm::sqrt(f64::from(n)) <= goal
    };
    let (mut low, mut high) = (at_least.max(2), MOST_RUNS);
    if !(goal > 0.0 || sd == 0.0) || !enough(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The jackknife of a mean is the mean; that of a ratio is the ratio of the means, not the mean of the ratios.
    #[test]
    fn ratios_are_of_means() {
        let runs = [vec![1.0, 1.0], vec![4.0, 2.0], vec![1.0, 3.0]];
        let ratio = Jackknife::of(Shape::Ratio, &runs);
        assert_eq!(ratio.whole, 1.0);
        assert_eq!(ratio.values, [1.0, 3.0 - 2.0 * 0.5, 3.0 - 2.0 * (5.0 / 3.0)]);
        assert_eq!(Shape::Spread.of(&[2.0, 3.0, 4.0]), 1.0);
        assert_eq!(Shape::Ratio.of(&[0.0, 0.0]), 0.0);
        assert!(Shape::Spread.of(&[2.0, f64::NAN]).is_nan() && Shape::Mean.of(&[]).is_nan());
    }

    fn row(figure: Figure, a: f64, difference: f64, verdict: Verdict, more: Option<u32>) -> Row {
        Row {
            figure,
            name: String::from("a, b"),
            n: 9,
            a: (a, Some(0.5)),
            b: (a + difference, None),
            difference,
            half_width: Some(0.25),
            verdict,
            together: false,
            more_for_zero: more,
            more_for_precision: None,
        }
    }

    #[test]
    fn an_outcome_counts_main_figures_that_are_good_or_bad() {
        let rows = [
            row(Figure::ClassWaitMean, 1.0, -0.5, Verdict::BBetter, Some(0)),
            row(Figure::ClassResponseMean, 10.0, -1.0, Verdict::BBetter, Some(0)),
            row(Figure::Goodput, 10.0, -1.0, Verdict::ABetter, Some(0)),
            row(Figure::ClassWaitP99, 1.0, 0.1, Verdict::Unclear, Some(40)),
            row(Figure::TurnedAway, 0.0, 0.0, Verdict::Equal, None),
            row(Figure::ClassWaitP50, 1.0, 0.1, Verdict::Unclear, Some(400)),
            row(Figure::ServerBusy, 1.0, 0.1, Verdict::BMore, Some(0)),
        ];
        let outcome = Outcome::of(&rows);
        assert_eq!((outcome.better, outcome.most), ([1, 2], [Some(2), Some(0)]));
        assert_eq!((outcome.unclear, outcome.equal, outcome.all, outcome.more), (1, 0, 4, 40));
    }

    #[test]
    fn csv_has_a_line_a_row() {
        let text = csv(&[row(Figure::Goodput, 1.0, f64::NAN, Verdict::Unclear, None)]);
        let line = text.lines().nth(1).expect("a row");
        assert_eq!(line, "whole,\"a, b\",goodput,per_s,9,1,0.5,,,,0.25,unclear,false,");
        assert_eq!(text.lines().next().expect("a head").split(',').count(), 14);
    }

    #[test]
    fn runs_needed_follow_student_and_give_up_in_time() {
        // 1.96 / sqrt(n) <= 0.1 from 385 on; Student's quantile takes two or three more.
        let normal = runs_needed(1.0, 0.1, 2).expect("enough");
        assert!((385..=390).contains(&normal), "{normal}");
        assert_eq!(runs_needed(1.0, 0.1, 700), Some(700));
        assert_eq!(runs_needed(1.0, 0.001, 2), None);
        assert_eq!(runs_needed(1.0, 0.0, 2), None);
        assert_eq!(runs_needed(0.0, 0.0, 5), Some(5));
        assert_eq!(runs_needed(f64::NAN, 1.0, 2), None);
        assert_eq!(runs_needed(1.0, f64::NAN, 2), None);
    }
}
