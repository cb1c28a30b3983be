//! The policies a scenario may choose and their numbers, as tables: what the editor shows is what stands here.
//!
//! A value is read from and written to the scenario's JSON form by its place. That costs one reading of a small
//! text an edit, and spares a function for each of a hundred values. Names, defaults and kinds are held against the
//! schema by a test, so that the tables cannot part from the format.

use crate::view::icons;
use crate::words::{Word, Words};
use serde_json::{Map, Value};
use tidegate_core::scenario::v1::{BalancerV1, PoolV1, QueueV1, ScenarioV1, SplitByV1};
use tidegate_core::scenario::{from_value, to_canonical_json};

/// What a number counts, and how it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nothing.
    None,
    /// Requests.
    Requests,
    /// Something a second.
    PerSecond,
    /// Microseconds, shown as milliseconds.
    Ms,
    /// Microseconds, shown as seconds.
    S,
    /// A factor.
    Times,
    /// Bytes, shown as kilobytes.
    Kb,
    /// Bytes a second, shown as megabytes a second.
    MbPerSecond,
    /// Periods of a controller.
    Windows,
}

impl Unit {
    /// How many of the format's units are one that is shown.
    #[must_use]
    pub const fn scale(self) -> f64 {
        match self {
            Self::Ms | Self::Kb => 1e3,
            Self::S | Self::MbPerSecond => 1e6,
            _ => 1.0,
        }
    }

    /// The word behind the number.
    #[must_use]
    pub fn word(self, w: &Words) -> &'static str {
        match self {
            Self::None => "",
            Self::Requests => w.unit_requests,
            Self::PerSecond => w.per_second,
            Self::Ms => "ms",
            Self::S => "s",
            Self::Times => "×",
            Self::Kb => "kB",
            Self::MbPerSecond => "MB/s",
            Self::Windows => w.windows,
        }
    }
}

/// What stands where nothing is written, in the format's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Usual {
    /// This.
    Is(f64),
    /// Something must be written; this, to begin with.
    Need(f64),
    /// Four times the field `max`.
    FourTimesMax,
    /// No such thing; shown as 0, and 0 takes it away, with the record that is there for it.
    Off,
    /// The same, of a record that is there for others too.
    Enough,
}

/// What kind of value a knob turns.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A number, with the ends of its slider as shown; the lower end above 0 means even factors.
    Number(Unit, Usual, (f64, f64)),
    /// The same without fractions.
    Whole(Unit, Usual, (f64, f64)),
    /// Yes or no.
    Flag(bool),
    /// Any of some words, in a list.
    Set(&'static [(&'static str, Word)]),
    /// One of some words, and which if nothing is written.
    Words(&'static [(&'static str, Word)], usize),
    /// One of some objects, and which if nothing is written.
    Choice(&'static Choice, usize),
    /// Whole numbers in a list, and what the first is where nothing is written.
    List(Unit, Option<f64>),
    /// Objects with these knobs, in a list.
    Table(&'static [Knob]),
    /// A line of text of this look, and what it begins with in a new row; an empty one takes the field away.
    Text(&'static str, &'static str),
}

/// One value.
#[derive(Clone, Copy)]
pub struct Knob {
    /// Name of the field; with a dot, of a field in a field.
    pub key: &'static str,
    /// What it is called.
    pub label: Word,
    /// A sentence about it, where the name does not say enough.
    pub help: Option<Word>,
    /// What it may be.
    pub kind: Kind,
}

/// One of several policies.
pub struct Arm {
    /// The word that chooses it.
    pub word: &'static str,
    /// What it is called.
    pub name: Word,
    /// A sentence about it; none where the name says it.
    pub about: Option<Word>,
    /// A plot of its behaviour.
    pub icon: &'static str,
    /// Its numbers, the most important first.
    pub knobs: &'static [Knob],
}

/// A choice between policies.
pub struct Choice {
    /// The field that holds the word.
    pub tag: &'static str,
    /// The policies.
    pub arms: &'static [Arm],
}

impl Choice {
    /// Which policy an object chooses; `usual` where there is none.
    #[must_use]
    pub fn chosen(&self, object: Option<&Value>, usual: usize) -> usize {
        let word = object.and_then(|o| o.get(self.tag)).and_then(Value::as_str);
        word.and_then(|word| self.arms.iter().position(|arm| arm.word == word)).unwrap_or(usual)
    }

    /// The object that chooses policy `at`: what must be written, and what both it and `before` have.
    fn object(&self, at: usize, before: Option<&Value>) -> Value {
        let Some(arm) = self.arms.get(at) else { return Value::Null };
        let mut object = Map::new();
        object.insert(self.tag.to_owned(), arm.word.into());
        let mean = before.filter(|_| self.tag == "law").and_then(mean);
        for knob in arm.knobs {
            let need = match knob.kind {
                Kind::Number(_, Usual::Need(x), _) => Some(x.into()),
                Kind::Whole(_, Usual::Need(x), _) => Some((x as u64).into()),
                Kind::Table(columns) => Some(Value::Array(vec![row(columns)])),
                // Nothing is assumed of the work of a stage.
                Kind::Choice(inner, usual) if self.tag == "at" => Some(inner.object(usual, None)),
                _ => None,
            };
            // A law keeps its mean and nothing else: what one calls `cv` may be beyond the other.
            let kept = match mean {
                Some(mean) => times_mean(knob.key).map(|factor| number(mean * factor, true)),
                None => before.and_then(|b| b.get(knob.key)).cloned(),
            };
            if let Some(value) = kept.or(need) {
                object.insert(knob.key.to_owned(), value);
            }
        }
        Value::Object(object)
    }
}

/// Mean of a law of times or sizes, in its own unit.
fn mean(law: &Value) -> Option<f64> {
    let get = |key: &str| law.get(key).and_then(Value::as_f64);
    let middle = |low: &str, high: &str| Some((get(low)? + get(high)?) / 2.0);
    let known = get("mean_us").or(get("mean_bytes")).or(get("bytes"));
    known.or(middle("min_us", "max_us")).or(middle("min_bytes", "max_bytes"))
}

/// How many means a field of a law is when it begins.
fn times_mean(key: &str) -> Option<f64> {
    Some(match key {
        "mean_us" | "mean_bytes" | "bytes" => 1.0,
        "min_us" | "min_bytes" => 0.5,
        "max_us" | "max_bytes" => 1.5,
        _ => return None,
    })
}

/// A row of a table as it begins.
#[must_use]
pub fn row(columns: &[Knob]) -> Value {
    // By insertion: to collect them would bring in a whole sort.
    let mut row = Map::new();
    for knob in columns {
        let cell = match knob.kind {
            Kind::Number(_, Usual::Need(x) | Usual::Is(x), _) => x.into(),
            Kind::Whole(_, Usual::Need(x), _) => number(x, true),
            Kind::Text(_, text) if !text.is_empty() => text.into(),
            _ => continue,
        };
        row.insert(knob.key.to_owned(), cell);
    }
    Value::Object(row)
}

/// The scenario as JSON.
#[must_use]
pub fn json(s: &ScenarioV1) -> Value {
    tidegate_core::json::read(&to_canonical_json(s)).unwrap_or(Value::Null)
}

/// The value at a path such as `stages[0].queue.min`.
#[must_use]
pub fn at<'a>(root: &'a Value, path: &str) -> Option<&'a Value> {
    steps(path).try_fold(root, |value, step| match step.parse::<usize>() {
        Ok(i) => value.get(i),
        Err(_) => value.get(step),
    })
}

fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|step| !step.is_empty())
}

/// Writes a value at a path, or takes it away. A value that the format cannot hold changes nothing.
pub fn put(s: &mut ScenarioV1, path: &str, to: Option<Value>) {
    let _ = try_put(s, path, to);
}

/// The same; whether the format has such a place and can hold the value there.
pub fn try_put(s: &mut ScenarioV1, path: &str, to: Option<Value>) -> bool {
    let mut root = json(s);
    let mut place = &mut root;
    let mut way = steps(path).peekable();
    while let Some(step) = way.next() {
        let last = way.peek().is_none();
        place = match (place, step.parse::<usize>()) {
            (Value::Array(list), Ok(i)) if i < list.len() => &mut list[i],
            (Value::Object(map), Err(_)) if last && to.is_none() => {
                // Nothing is taken out in place: that is far more code than copying what stays.
                let mut rest = Map::new();
                for (key, value) in map.iter().filter(|(key, _)| *key != step) {
                    rest.insert(key.clone(), value.clone());
                }
                *map = rest;
                break;
            }
            (Value::Object(map), Err(_)) => {
                let inside = map.entry(step).or_insert(Value::Null);
                if inside.is_null() {
                    *inside = Value::Object(Map::new());
                }
                inside
            }
            _ => return false,
        };
        if last && let Some(to) = &to {
            *place = to.clone();
        }
    }
    let Ok(parsed) = from_value(&root) else { return false };
    *s = parsed.wire;
    parsed.unknown.is_empty()
}

/// Chooses policy `to` at a path.
pub fn choose(s: &mut ScenarioV1, path: &str, choice: &Choice, to: usize) {
    let root = json(s);
    // The word of nothing at all takes the object away.
    let some = choice.arms.get(to).is_some_and(|arm| !arm.word.is_empty());
    // Numbers of balancers that are called alike are not in the same units.
    let before = if path == "balancer" { None } else { at(&root, path) };
    put(s, path, some.then(|| choice.object(to, before)));
    tidy(s);
}

/// Lets every pool that is controlled hold the workers its stage begins with, and takes from a split that is not
/// what only one that is can have.
fn tidy(s: &mut ScenarioV1) {
    for stage in &mut s.stages {
        stage.dither &= stage.split_by != SplitByV1::Fixed;
        let workers = stage.workers;
        if let PoolV1::Threads { min, max, .. }
        | PoolV1::Aimd { min, max, .. }
        | PoolV1::Gradient { min, max, .. } = &mut stage.pool
        {
            *max = workers.max(*max);
            *min = workers.min(*min);
        }
    }
}

/// Writes a number, given as shown; 0 takes away what is not always there.
pub fn turn(s: &mut ScenarioV1, path: &str, knob: &Knob, shown: f64) {
    let (unit, usual, whole) = match knob.kind {
        Kind::Number(unit, usual, _) => (unit, usual, unit.scale() > 1.0 && unit != Unit::MbPerSecond),
        Kind::Whole(unit, usual, _) => (unit, usual, true),
        _ => return,
    };
    let off = matches!(usual, Usual::Off | Usual::Enough) && shown == 0.0;
    // Of a record that is there for this number, nothing stays.
    let path = match knob.key.split_once('.') {
        Some((_, rest)) if off && usual == Usual::Off => &path[..path.len() - rest.len() - 1],
        _ => path,
    };
    put(s, path, (!off).then(|| number(shown * unit.scale(), whole)));
    if let Some((_, turned)) = knob.key.split_once("coefficients.") {
        sum_to_one(s, turned);
    }
}

/// Lets the other coefficients make room for the one that was turned, in proportion.
fn sum_to_one(s: &mut ScenarioV1, turned: &str) {
    let BalancerV1::DnfPublished { coefficients: k, .. } = &mut s.balancer else { return };
    let mut all = [&mut k.cpu, &mut k.mem, &mut k.net, &mut k.disk, &mut k.rooms];
    let Some(at) = LOADS.iter().position(|(word, _)| *word == turned) else { return };
    let others: f64 = all.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, k)| **k).sum();
    let room = (1.0 - *all[at]).max(0.0);
    for (_, k) in all.iter_mut().enumerate().filter(|(i, _)| *i != at) {
        let part = if others > 0.0 { **k / others * room } else { room / 4.0 };
        // Digits that nobody asked for need not be in a link; the sum may be off by a millionth.
        **k = (part * 1e7).round() / 1e7;
    }
}

/// A number as the format wants it.
#[must_use]
pub fn number(x: f64, whole: bool) -> Value {
    if whole { (x.round().clamp(0.0, 9e15) as u64).into() } else { x.into() }
}

/// The number a knob shows.
#[must_use]
pub fn shown(object: Option<&Value>, path: &str, knob: &Knob) -> f64 {
    let (Kind::Number(unit, usual, _) | Kind::Whole(unit, usual, _)) = knob.kind else { return 0.0 };
    let get = |key: &str| object.and_then(|o| at(o, key)).and_then(Value::as_f64);
    let usual = match usual {
        Usual::Is(x) | Usual::Need(x) => x,
        Usual::FourTimesMax => (4.0 * get("max").unwrap_or(280.0)).ceil().max(1.0),
        Usual::Off | Usual::Enough => 0.0,
    };
    get(path).unwrap_or(usual) / unit.scale()
}

const fn knob(key: &'static str, label: Word, kind: Kind) -> Knob {
    Knob { key, label, help: None, kind }
}

const fn helped(key: &'static str, label: Word, help: Word, kind: Kind) -> Knob {
    Knob { key, label, help: Some(help), kind }
}

const fn arm(word: &'static str, name: Word, about: Word, icon: &'static str, knobs: &'static [Knob]) -> Arm {
    Arm { word, name, about: Some(about), icon, knobs }
}

const fn drawn(word: &'static str, name: Word, icon: &'static str, knobs: &'static [Knob]) -> Arm {
    Arm { word, name, about: None, icon, knobs }
}

const fn plain(word: &'static str, name: Word, knobs: &'static [Knob]) -> Arm {
    Arm { word, name, about: None, icon: "", knobs }
}

use Kind::{Flag, List, Number, Table, Text, Whole};
use Usual::{Enough, FourTimesMax, Is, Need, Off};

// ----- parts that several policies have -----

const PER: &[(&str, Word)] = &[("level", Word::limit_per_level), ("stage", Word::limit_per_stage)];

const SPACING: &[(&str, Word)] = &[
    ("bernoulli", Word::spacing_bernoulli),
    ("uniform", Word::spacing_uniform),
    ("wait", Word::spacing_wait),
];

const fn limit(usual: Usual) -> Knob {
    helped("limit", Word::queue_limit, Word::queue_limit_help, Whole(Unit::Requests, usual, (1.0, 5000.0)))
}

const fn lengths(min: Usual, max: Usual) -> [Knob; 2] {
    [
        helped("min", Word::knob_min, Word::knob_min_help, Number(Unit::Requests, min, (1.0, 1000.0))),
        helped("max", Word::knob_max, Word::knob_max_help, Number(Unit::Requests, max, (1.0, 1000.0))),
    ]
}

const LENGTHS: [Knob; 2] = lengths(Is(200.0), Is(280.0));
const LOWER_LENGTHS: [Knob; 2] = lengths(Is(50.0), Is(100.0));
const CURVE: [Knob; 2] = lengths(Need(200.0), Need(280.0));
const MAX_P: Knob =
    helped("max_p", Word::max_chance, Word::max_chance_help, Number(Unit::None, Is(0.2), (0.01, 1.0)));
const WEIGHT: Knob =
    helped("weight", Word::weight, Word::weight_help, Number(Unit::None, Is(0.02), (0.001, 1.0)));
const GENTLE: Knob = helped("gentle", Word::gentle, Word::gentle_help, Flag(false));

const fn adapt(usual: usize) -> Knob {
    helped("adapt", Word::adapt, Word::adapt_help, Kind::Choice(&ADAPT, usual))
}

static ADAPT: Choice = Choice {
    tag: "rule",
    arms: &[
        plain("none", Word::adapt_none, &[]),
        plain(
            "counters",
            Word::adapt_counters,
            &[
                helped("factor", Word::factor, Word::factor_help, Number(Unit::Times, Is(2.0), (1.05, 10.0))),
                helped(
                    "repeat",
                    Word::repeat,
                    Word::repeat_help,
                    Whole(Unit::Requests, Is(5.0), (1.0, 100.0)),
                ),
            ],
        ),
        plain("feng", Word::adapt_feng, &[]),
        plain("floyd", Word::adapt_floyd, &[]),
    ],
};

// ----- a stage -----

/// Who may wait.
pub static QUEUE: Choice = Choice {
    tag: "policy",
    arms: &[
        arm(
            "tail_drop",
            Word::policy_tail_drop,
            Word::about_tail_drop,
            icons::PLOT_STAGE,
            &[
                limit(Is(1_000.0)),
                helped("per", Word::limit_counts, Word::limit_counts_help, Kind::Words(PER, 0)),
            ],
        ),
        arm(
            "work_red",
            Word::policy_work_red,
            Word::about_work_red,
            icons::PLOT_WORK_RED,
            &[
                helped("min_us", Word::knob_min, Word::knob_min_help, Number(Unit::S, Is(1e6), (0.01, 30.0))),
                helped("max_us", Word::knob_max, Word::knob_max_help, Number(Unit::S, Is(2e6), (0.01, 30.0))),
                MAX_P,
                adapt(0),
                helped("tau_us", Word::tau, Word::tau_help, Number(Unit::S, Is(250e3), (0.01, 10.0))),
                helped("hard", Word::hard, Word::hard_help, Number(Unit::Times, Is(1.5), (1.0, 5.0))),
                limit(Is(10_000.0)),
            ],
        ),
        arm(
            "priority_red",
            Word::policy_priority_red,
            Word::about_priority_red,
            icons::PLOT_PRIORITY_RED,
            &[
                LENGTHS[0],
                LENGTHS[1],
                MAX_P,
                adapt(1),
                WEIGHT,
                GENTLE,
                helped("spacing", Word::spacing, Word::spacing_help, Kind::Words(SPACING, 0)),
                helped("adapt_per", Word::adapt_per, Word::adapt_per_help, Kind::Words(PER, 1)),
                helped("update_per", Word::update_per, Word::update_per_help, Kind::Words(PER, 1)),
                helped("on_departure", Word::on_departure, Word::on_departure_help, Flag(true)),
                limit(FourTimesMax),
            ],
        ),
        arm(
            "red",
            Word::policy_red,
            Word::about_red,
            icons::PLOT_RED,
            &[
                LENGTHS[0],
                LENGTHS[1],
                MAX_P,
                adapt(0),
                WEIGHT,
                GENTLE,
                helped("spacing", Word::spacing, Word::spacing_help, Kind::Words(SPACING, 1)),
                limit(FourTimesMax),
            ],
        ),
        arm(
            "pdt_red",
            Word::policy_pdt_red,
            Word::about_pdt_red,
            icons::PLOT_PDT_RED,
            &[
                LOWER_LENGTHS[0],
                LOWER_LENGTHS[1],
                MAX_P,
                helped(
                    "gain",
                    Word::room_gain,
                    Word::room_gain_help,
                    Number(Unit::None, Is(0.1), (0.0, 1.0)),
                ),
                WEIGHT,
                limit(Is(1_000.0)),
            ],
        ),
        arm(
            "wred",
            Word::policy_wred,
            Word::about_wred,
            icons::PLOT_WRED,
            &[
                helped("curves", Word::curve, Word::curve_help, Table(&[CURVE[0], CURVE[1], MAX_P])),
                helped(
                    "average",
                    Word::average_counts,
                    Word::average_counts_help,
                    Kind::Words(
                        &[
                            ("all", Word::counts_all),
                            ("above", Word::counts_above),
                            ("level", Word::counts_level),
                        ],
                        1,
                    ),
                ),
                WEIGHT,
                limit(Is(1_000.0)),
            ],
        ),
        arm(
            "codel",
            Word::policy_codel,
            Word::about_codel,
            icons::PLOT_CODEL,
            &[
                helped(
                    "target_us",
                    Word::target_wait,
                    Word::target_wait_help,
                    Number(Unit::Ms, Is(5e3), (0.1, 10_000.0)),
                ),
                helped(
                    "interval_us",
                    Word::interval,
                    Word::interval_help,
                    Number(Unit::Ms, Is(100e3), (1.0, 10_000.0)),
                ),
                limit(Is(1_000.0)),
            ],
        ),
        arm(
            "pie",
            Word::policy_pie,
            Word::about_pie,
            icons::PLOT_PIE,
            &[
                helped(
                    "target_us",
                    Word::target_wait,
                    Word::target_wait_help,
                    Number(Unit::Ms, Is(15e3), (0.1, 10_000.0)),
                ),
                helped(
                    "burst_us",
                    Word::burst_passes,
                    Word::burst_passes_help,
                    Number(Unit::Ms, Is(150e3), (0.0, 1000.0)),
                ),
                helped(
                    "update_us",
                    Word::period,
                    Word::period_help,
                    Number(Unit::Ms, Is(15e3), (1.0, 1000.0)),
                ),
                limit(Is(1_000.0)),
            ],
        ),
        arm(
            "adaptive_rate",
            Word::policy_adaptive_rate,
            Word::about_adaptive_rate,
            icons::PLOT_SAW,
            &[
                helped(
                    "target_us",
                    Word::target_response,
                    Word::target_response_help,
                    Number(Unit::Ms, Need(1e6), (1.0, 30_000.0)),
                ),
                helped(
                    "rule",
                    Word::rate_rule,
                    Word::rate_rule_help,
                    Kind::Words(
                        &[
                            ("direct", Word::rule_direct),
                            ("multiclass", Word::rule_multiclass),
                            ("pid", Word::rule_pid),
                            ("mm1", Word::rule_mm1),
                        ],
                        0,
                    ),
                ),
                limit(Is(10_000.0)),
            ],
        ),
        arm(
            "enqueue_rate",
            Word::policy_enqueue_rate,
            Word::about_enqueue_rate,
            icons::PLOT_BUCKET,
            &[
                helped(
                    "rate_per_s",
                    Word::rate,
                    Word::rate_help,
                    Number(Unit::PerSecond, Need(100.0), (1.0, 2000.0)),
                ),
                helped(
                    "depth",
                    Word::depth,
                    Word::depth_help,
                    Number(Unit::Requests, Is(10.0), (1.0, 1000.0)),
                ),
                limit(Is(10_000.0)),
            ],
        ),
        arm(
            "length_threshold",
            Word::policy_length_threshold,
            Word::about_length_threshold,
            icons::PLOT_WALL,
            &[helped(
                "threshold",
                Word::threshold,
                Word::threshold_help,
                Whole(Unit::Requests, Is(1e6), (1.0, 10_000.0)),
            )],
        ),
        arm(
            "admission_window",
            Word::policy_admission_window,
            Word::about_admission_window,
            icons::PLOT_WINDOW,
            &[
                helped(
                    "target_us",
                    Word::wanted_of_one,
                    Word::wanted_of_one_help,
                    Number(Unit::Ms, Need(500e3), (1.0, 30_000.0)),
                ),
                window(1e6),
                gain(0.2, 0.001, 1.0),
                limit(Is(10_000.0)),
            ],
        ),
    ],
};

/// Who may wait, as a knob of a stage.
pub static QUEUE_KNOB: Knob = knob("queue", Word::who_may_wait, Kind::Choice(&QUEUE, 0));

// ----- a split -----

const fn window(usual: f64) -> Knob {
    helped("period_us", Word::period, Word::period_help, Number(Unit::S, Is(usual), (0.01, 60.0)))
}

const fn gain(usual: f64, low: f64, high: f64) -> Knob {
    helped("gain", Word::gain, Word::gain_help, Number(Unit::None, Is(usual), (low, high)))
}

const fn pole(usual: f64) -> Knob {
    helped("pole", Word::pole, Word::pole_help, Number(Unit::None, Is(usual), (0.0, 0.95)))
}

const fn terms(key: &'static str, label: Word, help: Word, usual: f64) -> Knob {
    helped(key, label, help, Whole(Unit::None, Is(usual), (1.0, 3.0)))
}

const FORGETTING: Knob =
    helped("forgetting", Word::forgetting, Word::forgetting_help, Number(Unit::None, Is(0.98), (0.8, 1.0)));
const TUNE: Knob = helped("tune", Word::tune, Word::tune_help, Flag(true));

static SPLIT_BY: Choice = Choice {
    tag: "policy",
    arms: &[
        drawn("fixed", Word::split_fixed, icons::PLOT_HALVES, &[]),
        arm(
            "stc_lead",
            Word::split_stc_lead,
            Word::about_stc_lead,
            icons::PLOT_LEAD,
            &[
                window(250e3),
                TUNE,
                helped("prior", Word::prior, Word::prior_help, Number(Unit::None, Is(1.0), (0.05, 20.0))),
            ],
        ),
        arm(
            "stc_served",
            Word::split_stc_served,
            Word::about_stc_served,
            icons::PLOT_SETTLE,
            &[window(1e6), TUNE],
        ),
        arm(
            "stc_paper",
            Word::split_stc_paper,
            Word::about_stc_paper,
            icons::PLOT_SHARES,
            &[
                window(10e6),
                pole(0.6),
                FORGETTING,
                helped(
                    "design",
                    Word::design,
                    Word::design_help,
                    Kind::Words(
                        &[
                            ("pole_placement", Word::design_poles),
                            ("minimum_variance", Word::design_variance),
                        ],
                        0,
                    ),
                ),
                helped(
                    "warm_up",
                    Word::warm_up,
                    Word::warm_up_help,
                    Whole(Unit::Windows, Is(6.0), (0.0, 60.0)),
                ),
                terms("a_terms", Word::a_terms, Word::a_terms_help, 2.0),
                terms("b_terms", Word::b_terms, Word::b_terms_help, 1.0),
                helped(
                    "lag",
                    Word::dead_time,
                    Word::dead_time_help,
                    Whole(Unit::Windows, Is(1.0), (1.0, 3.0)),
                ),
            ],
        ),
        arm(
            "pid",
            Word::split_pid,
            Word::about_pid,
            icons::PLOT_STAIRS,
            &[
                window(5e6),
                helped("kp", Word::pid_p, Word::pid_p_help, Number(Unit::None, Is(0.2), (0.0, 2.0))),
                helped("ki", Word::pid_i, Word::pid_i_help, Number(Unit::None, Is(0.2), (0.0, 2.0))),
                helped("kd", Word::pid_d, Word::pid_d_help, Number(Unit::None, Is(0.0), (0.0, 2.0))),
            ],
        ),
        arm(
            "pairwise_pi",
            Word::split_pairwise_pi,
            Word::about_pairwise_pi,
            icons::PLOT_PAIRS,
            &[
                window(30e6),
                gain(0.3, 0.0, 2.0),
                helped("zero", Word::zero, Word::zero_help, Number(Unit::None, Is(0.05), (0.0, 0.999))),
            ],
        ),
        arm(
            "pairwise_stc",
            Word::split_pairwise_stc,
            Word::about_pairwise_stc,
            icons::PLOT_TUNED_PAIRS,
            &[window(5e6), pole(0.5), FORGETTING],
        ),
        arm(
            "feed_forward",
            Word::split_feed_forward,
            Word::about_feed_forward,
            icons::PLOT_FORWARD,
            &[
                window(1e6),
                helped("think_us", Word::think, Word::think_help, Number(Unit::S, Is(0.0), (0.0, 10.0))),
                helped("trim", Word::trim, Word::trim_help, Number(Unit::None, Is(0.02), (0.0, 1.0))),
            ],
        ),
    ],
};

/// What the split of a stage follows, as a knob of the stage.
pub static SPLIT: Knob = helped("split_by", Word::split_by, Word::split_by_help, Kind::Choice(&SPLIT_BY, 0));

/// What a split has besides its parts and what it follows.
pub static LENDING: Knob =
    helped("lend_after_us", Word::lend_after, Word::lend_help, Number(Unit::S, Off, (0.0, 60.0)));
/// The same of one that is controlled.
pub static DITHER: Knob = helped("dither", Word::dither, Word::dither_help, Flag(false));

/// Lets all share the workers of a stage (0), splits them for good (1), or lets the split follow the waits (2).
pub fn share_workers(s: &mut ScenarioV1, stage: usize, how: usize) {
    let Some(spec) = s.stages.get(stage) else { return };
    let split = !spec.split.is_empty();
    let controlled = spec.split_by.word() != "fixed";
    if (split || controlled) && how == 0 {
        put(s, &format!("stages[{stage}].lend_after_us"), None);
    }
    if controlled != (how == 2) {
        choose(s, &format!("stages[{stage}].split_by"), &SPLIT_BY, usize::from(how == 2));
    }
    if split != (how > 0) {
        crate::edit::split(s, stage, how > 0);
    }
}

/// Name of what a split follows.
#[must_use]
pub fn split_name(split_by: &SplitByV1, w: &Words) -> &'static str {
    SPLIT_BY.arms.iter().find(|arm| arm.word == split_by.word()).map_or("", |arm| arm.name.of(w))
}

/// Who goes first.
pub const ORDERS: &[(&str, Word)] = &[
    ("strict_priority", Word::order_strict),
    ("fifo", Word::order_fifo),
    ("weighted_fair", Word::order_fair),
    ("wtp", Word::order_wtp),
    ("pad", Word::order_pad),
    ("hpd", Word::order_hpd),
    ("earliest_deadline", Word::order_deadline),
    ("adaptive_lifo", Word::order_lifo),
];

/// A plot for each.
pub const ORDER_PLOTS: &[&str] = &[
    icons::PLOT_STRICT,
    icons::PLOT_FIFO,
    icons::PLOT_FAIR,
    icons::PLOT_WTP,
    icons::PLOT_PAD,
    icons::PLOT_HPD,
    icons::PLOT_DEADLINE,
    icons::PLOT_LIFO,
];

/// Name of one of some words.
#[must_use]
pub fn name(words: &[(&str, Word)], word: &str, w: &Words) -> &'static str {
    words.iter().find(|(known, _)| *known == word).map_or("", |(_, name)| name.of(w))
}

/// What a balancer is called.
#[must_use]
pub fn balancer_name(balancer: &BalancerV1, w: &Words) -> &'static str {
    balancer_arm(balancer).map_or("", |arm| arm.name.of(w))
}

/// Its entry in the table.
#[must_use]
pub fn balancer_arm(balancer: &BalancerV1) -> Option<&'static Arm> {
    BALANCER.arms.iter().find(|arm| arm.word == balancer.word())
}

/// Name of a queue control.
#[must_use]
pub fn queue_name(queue: &QueueV1, w: &Words) -> &'static str {
    QUEUE.arms.iter().find(|arm| arm.word == queue.word()).map_or("", |arm| arm.name.of(w))
}

/// A sentence about a queue control.
#[must_use]
pub fn queue_about(queue: &QueueV1, w: &Words) -> &'static str {
    let arm = QUEUE.arms.iter().find(|arm| arm.word == queue.word());
    arm.and_then(|arm| arm.about).map_or("", |about| about.of(w))
}

static AGEING: Choice = Choice {
    tag: "rule",
    arms: &[
        drawn("none", Word::ageing_none, icons::PLOT_LEVELS, &[]),
        arm(
            "promote",
            Word::ageing_promote,
            Word::about_promote,
            icons::PLOT_PROMOTE,
            &[helped("after_us", Word::promote_after, Word::promote_after_help, List(Unit::S, Some(2e6)))],
        ),
        arm(
            "share",
            Word::ageing_share,
            Word::about_share,
            icons::PLOT_PART,
            &[
                helped(
                    "after_us",
                    Word::overdue_after,
                    Word::overdue_after_help,
                    Number(Unit::S, Is(2e6), (0.01, 60.0)),
                ),
                helped(
                    "share",
                    Word::overdue_share,
                    Word::overdue_share_help,
                    Number(Unit::None, Is(0.2), (0.01, 0.9)),
                ),
            ],
        ),
    ],
};

const fn pool_ends(most: f64) -> [Knob; 2] {
    [
        helped("min", Word::fewest, Word::fewest_help, Whole(Unit::None, Is(1.0), (1.0, 512.0))),
        helped("max", Word::most, Word::most_help, Whole(Unit::None, Is(most), (1.0, 1000.0))),
    ]
}

const FEW: [Knob; 2] = pool_ends(20.0);
const MANY: [Knob; 2] = pool_ends(1_000.0);
const POOL_PERIOD: Knob =
    helped("period_us", Word::period, Word::period_help, Number(Unit::Ms, Is(100e3), (1.0, 10_000.0)));

static POOL: Choice = Choice {
    tag: "control",
    arms: &[
        drawn("fixed", Word::pool_fixed, icons::PLOT_SAME, &[]),
        arm(
            "threads",
            Word::pool_threads,
            Word::about_threads,
            icons::PLOT_GROW,
            &[
                FEW[0],
                FEW[1],
                helped(
                    "threshold",
                    Word::grow_above,
                    Word::grow_above_help,
                    Whole(Unit::Requests, Is(100.0), (1.0, 1000.0)),
                ),
                helped("period_us", Word::period, Word::period_help, Number(Unit::S, Is(2e6), (0.1, 60.0))),
                helped(
                    "idle_us",
                    Word::idle_goes,
                    Word::idle_goes_help,
                    Number(Unit::S, Is(5e6), (0.1, 60.0)),
                ),
            ],
        ),
        arm(
            "aimd",
            Word::pool_aimd,
            Word::about_aimd,
            icons::PLOT_TEETH,
            &[
                helped(
                    "target_us",
                    Word::too_long,
                    Word::too_long_help,
                    Number(Unit::Ms, Need(1e6), (1.0, 30_000.0)),
                ),
                MANY[0],
                MANY[1],
                POOL_PERIOD,
            ],
        ),
        arm(
            "gradient",
            Word::pool_gradient,
            Word::about_gradient,
            icons::PLOT_BEND,
            &[
                helped(
                    "tolerance",
                    Word::tolerance,
                    Word::tolerance_help,
                    Number(Unit::Times, Is(1.5), (1.0, 5.0)),
                ),
                MANY[0],
                MANY[1],
                POOL_PERIOD,
            ],
        ),
    ],
};

static BATCH: Choice = Choice {
    tag: "control",
    arms: &[
        drawn("one", Word::batch_one, icons::PLOT_ONE, &[]),
        drawn(
            "fixed",
            Word::batch_fixed,
            icons::PLOT_BATCH,
            &[helped(
                "size",
                Word::batch_size,
                Word::batch_size_help,
                Whole(Unit::Requests, Need(8.0), (2.0, 1000.0)),
            )],
        ),
        arm(
            "adaptive",
            Word::batch_adaptive,
            Word::about_batch_adaptive,
            icons::PLOT_BATCHES,
            &[
                helped("min", Word::fewest, Word::fewest_help, Whole(Unit::Requests, Is(2.0), (1.0, 1000.0))),
                helped("max", Word::most, Word::most_help, Whole(Unit::Requests, Is(1_000.0), (2.0, 1000.0))),
                helped(
                    "period_us",
                    Word::period,
                    Word::period_help,
                    Number(Unit::Ms, Is(1e6), (10.0, 10_000.0)),
                ),
            ],
        ),
    ],
};

/// What a stage has besides workers, order and queue control.
pub const STAGE: &[Knob] = &[
    helped("ageing", Word::ageing, Word::ageing_help, Kind::Choice(&AGEING, 0)),
    helped("pool", Word::pool_size, Word::pool_size_help, Kind::Choice(&POOL, 0)),
    helped("batch", Word::batches, Word::batches_help, Kind::Choice(&BATCH, 0)),
    helped("starts_per_s", Word::starts, Word::starts_help, Number(Unit::PerSecond, Off, (0.0, 2000.0))),
    helped(
        "expired",
        Word::expired,
        Word::expired_help,
        Kind::Words(&[("shed", Word::expired_shed), ("serve", Word::expired_serve)], 0),
    ),
];

static WORK_AT: Choice = Choice {
    tag: "at",
    arms: &[
        plain(
            "stage",
            Word::work_stage,
            &[
                helped("service", Word::own_work, Word::own_work_help, Kind::Choice(&LAW, 1)),
                helped(
                    "batch_us",
                    Word::batch_work,
                    Word::batch_work_help,
                    Number(Unit::Ms, Is(0.0), (0.0, 1000.0)),
                ),
            ],
        ),
        plain(
            "link",
            Word::work_link,
            &[helped(
                "bytes_per_s",
                Word::link_rate,
                Word::link_rate_help,
                Number(Unit::MbPerSecond, Need(1e6), (0.01, 1000.0)),
            )],
        ),
        arm("servers", Word::work_servers, Word::to_servers, "", &[]),
    ],
};

/// What a worker does, as a knob of a stage.
pub static WORK: Knob = helped("work", Word::work, Word::work_help, Kind::Choice(&WORK_AT, 0));

/// What a stage is called.
pub const STAGE_NAME: Knob = knob("name", Word::class_name, Text("wide", ""));

// ----- a class -----

const MEAN: Knob =
    helped("mean_us", Word::mean, Word::mean_help, Number(Unit::Ms, Need(10e3), (0.1, 10_000.0)));
const CV: Knob = helped("cv", Word::cv, Word::cv_help, Number(Unit::None, Need(2.0), (1.0, 10.0)));
const ALPHA: Knob = helped("alpha", Word::alpha, Word::alpha_help, Number(Unit::None, Need(1.5), (0.5, 4.0)));
const RATIO: Knob =
    helped("ratio", Word::size_ratio, Word::size_ratio_help, Number(Unit::Times, Is(1e4), (2.0, 1e6)));

/// How long something takes.
pub static LAW: Choice = Choice {
    tag: "law",
    arms: &[
        plain("constant", Word::law_constant, &[MEAN]),
        plain("exponential", Word::law_exponential, &[MEAN]),
        plain(
            "uniform",
            Word::law_uniform,
            &[
                helped(
                    "min_us",
                    Word::size_least,
                    Word::size_least_help,
                    Number(Unit::Ms, Need(5e3), (0.1, 10_000.0)),
                ),
                helped(
                    "max_us",
                    Word::size_most,
                    Word::size_most_help,
                    Number(Unit::Ms, Need(15e3), (0.1, 10_000.0)),
                ),
            ],
        ),
        plain(
            "erlang",
            Word::law_erlang,
            &[
                MEAN,
                helped("k", Word::erlang_k, Word::erlang_k_help, Whole(Unit::None, Need(4.0), (1.0, 16.0))),
            ],
        ),
        plain("hyperexponential", Word::law_hyper, &[MEAN, CV]),
        plain("lognormal", Word::law_lognormal, &[MEAN, CV]),
        plain("pareto", Word::law_pareto, &[MEAN, ALPHA, RATIO]),
    ],
};

const RATE: Knob =
    helped("rate_per_s", Word::rate, Word::rate_help, Number(Unit::PerSecond, Need(20.0), (1.0, 2000.0)));
const COUNT: Knob =
    helped("count", Word::stops_after, Word::off_at_zero, Whole(Unit::Requests, Off, (0.0, 10_000.0)));

/// When requests arrive. Choosing is [`edit::set_kind`](crate::edit::set_kind)'s, which keeps the rate.
pub static LOAD: Choice = Choice {
    tag: "kind",
    arms: &[
        plain("poisson", Word::load_poisson, &[RATE]),
        plain("deterministic", Word::load_even, &[RATE, COUNT]),
        plain(
            "mmpp",
            Word::load_bursty,
            &[helped(
                "phases",
                Word::phase,
                Word::phase_help,
                Table(&[
                    RATE,
                    helped(
                        "mean_us",
                        Word::lasts,
                        Word::lasts_help,
                        Number(Unit::S, Need(2e6), (0.1, 100.0)),
                    ),
                ]),
            )],
        ),
        plain(
            "closed",
            Word::load_closed,
            &[
                helped(
                    "clients",
                    Word::clients_count,
                    Word::clients_count_help,
                    Whole(Unit::None, Need(20.0), (1.0, 2000.0)),
                ),
                helped("think", Word::think, Word::think_help, Kind::Choice(&LAW, 0)),
                COUNT,
            ],
        ),
        plain(
            "trace",
            Word::load_trace,
            &[helped("label", Word::log_label, Word::log_label_help, Text("mono", ""))],
        ),
    ],
};

/// The conditions of a rule.
const RULE: &[Knob] = &[
    helped("path", Word::class_rule, Word::class_rule_help, Text("mono", "/**")),
    helped("host", Word::rule_host, Word::rule_host_help, Text("mono", "")),
    helped("method", Word::rule_method, Word::rule_method_help, Text("mono", "")),
    helped("header", Word::rule_header, Word::rule_header_help, Text("mono", "")),
    helped("value", Word::rule_value, Word::rule_value_help, Text("mono", "")),
    helped("client", Word::rule_client, Word::rule_client_help, Text("mono", "")),
    helped(
        "from",
        Word::rule_from,
        Word::rule_from_help,
        Kind::Words(&[("trusted", Word::from_trusted), ("anyone", Word::from_anyone)], 0),
    ),
];

/// The rules of a class.
pub const RULES: Knob = helped("rules", Word::rule, Word::rules_help, Table(RULE));

static SIZE: Choice = Choice {
    tag: "law",
    arms: &[
        plain("", Word::size_unknown, &[]),
        plain(
            "constant",
            Word::law_constant,
            &[helped("bytes", Word::size, Word::size_help, Whole(Unit::Kb, Need(100e3), (0.1, 100_000.0)))],
        ),
        plain(
            "uniform",
            Word::law_uniform,
            &[
                helped(
                    "min_bytes",
                    Word::size_least,
                    Word::size_least_help,
                    Whole(Unit::Kb, Need(10e3), (0.1, 100_000.0)),
                ),
                helped(
                    "max_bytes",
                    Word::size_most,
                    Word::size_most_help,
                    Whole(Unit::Kb, Need(200e3), (0.1, 100_000.0)),
                ),
            ],
        ),
        plain("lognormal", Word::law_lognormal, &[SIZE_MEAN, CV]),
        plain("pareto", Word::law_pareto, &[SIZE_MEAN, ALPHA, RATIO]),
    ],
};

const SIZE_MEAN: Knob = helped(
    "mean_bytes",
    Word::size_mean,
    Word::size_mean_help,
    Whole(Unit::Kb, Need(100e3), (0.1, 100_000.0)),
);

/// What a class has besides load, service, priority and rules.
pub const CLASS: &[Knob] = &[
    helped("deadline_us", Word::deadline_knob, Word::off_at_zero, Number(Unit::S, Off, (0.0, 10.0))),
    helped("share", Word::fair_share, Word::fair_share_help, Number(Unit::None, Is(1.0), (0.1, 10.0))),
    helped("retry.times", Word::retries, Word::retries_help, Whole(Unit::Times, Off, (0.0, 10.0))),
    helped("size", Word::size, Word::size_help, Kind::Choice(&SIZE, 0)),
];

/// What a client that asks again has besides.
pub const RETRY_AFTER: Knob =
    helped("retry.after", Word::retry_after, Word::retry_after_help, Kind::Choice(&LAW, 1));
/// How long one request takes a server.
pub const SERVICE: Knob = helped("service", Word::service, Word::service_help, Kind::Choice(&LAW, 1));

/// What a class is to a server.
pub const CLASS_AT_SERVERS: &[Knob] = &[
    helped(
        "kind",
        Word::kind,
        Word::kind_help,
        Kind::Words(&[("short", Word::kind_short), ("session", Word::kind_session)], 0),
    ),
    helped("demand.cpu", Word::load_cpu, Word::demand_help, amount(Is(0.0))),
    knob("demand.mem", Word::load_mem, amount(Is(0.0))),
    knob("demand.net", Word::load_net, amount(Is(0.0))),
    knob("demand.disk", Word::load_disk, amount(Is(0.0))),
    knob("demand.rooms", Word::load_rooms, amount(Is(0.0))),
    helped("answer_us", Word::answer, Word::answer_help, Number(Unit::Ms, Is(50e3), (1.0, 10_000.0))),
    helped("sources", Word::sources, Word::sources_help, Whole(Unit::None, Is(1_000.0), (1.0, 1e6))),
    helped("targets", Word::targets, Word::targets_help, Whole(Unit::None, Is(100.0), (1.0, 1e6))),
];

const fn amount(usual: Usual) -> Kind {
    Number(Unit::None, usual, (0.0, 100.0))
}

// ----- servers -----

/// The five loads of a server.
pub const LOADS: &[(&str, Word)] = &[
    ("cpu", Word::load_cpu),
    ("mem", Word::load_mem),
    ("net", Word::load_net),
    ("disk", Word::load_disk),
    ("rooms", Word::load_rooms),
];

/// What a server has besides slots and speed.
pub const SERVER: &[Knob] = &[
    helped("weight", Word::server_weight, Word::server_weight_help, Number(Unit::None, Is(1.0), (0.0, 10.0))),
    helped(
        "discipline",
        Word::discipline,
        Word::discipline_help,
        Kind::Words(&[("slots", Word::discipline_slots), ("sharing", Word::discipline_sharing)], 0),
    ),
    helped(
        "max_in_flight",
        Word::most_in_flight,
        Word::off_at_zero,
        Whole(Unit::Requests, Off, (0.0, 512.0)),
    ),
    helped("capacity.mem", Word::load_mem, Word::capacity_help, amount(Enough)),
    knob("capacity.net", Word::load_net, amount(Enough)),
    knob("capacity.disk", Word::load_disk, amount(Enough)),
    knob("capacity.rooms", Word::load_rooms, amount(Enough)),
];

const PART: (f64, f64) = (0.0, 1.0);
const TAU: Knob = helped("tau_us", Word::tau, Word::tau_help, Number(Unit::S, Is(10e6), (0.01, 60.0)));

const fn dead_band(usual: f64) -> Knob {
    helped("dead_band", Word::dead_band, Word::dead_band_help, Number(Unit::None, Is(usual), (0.0, 0.2)))
}

const fn smoothing(usual: f64) -> Knob {
    helped("smoothing", Word::smoothing, Word::smoothing_help, Number(Unit::None, Is(usual), (0.0, 0.99)))
}

const fn coefficient(usual: f64) -> Kind {
    Number(Unit::None, Is(usual), PART)
}

/// Which server takes a request.
pub static BALANCER: Choice = Choice {
    tag: "policy",
    arms: &[
        arm("least_connections", Word::least_connections, Word::about_least, icons::PLOT_LEAST, &[]),
        arm("round_robin", Word::round_robin, Word::about_round, icons::PLOT_ROUND, &[]),
        arm(
            "join_shortest_queue",
            Word::join_shortest_queue,
            Word::about_shortest,
            icons::PLOT_SHORTEST,
            &[],
        ),
        arm(
            "power_of_two",
            Word::power_of_two,
            Word::about_power,
            icons::PLOT_DRAWN,
            &[helped("choices", Word::drawn, Word::drawn_help, Whole(Unit::None, Is(2.0), (2.0, 8.0)))],
        ),
        arm(
            "weighted_least_connections",
            Word::weighted_least_connections,
            Word::about_weighted_least,
            icons::PLOT_BARS,
            &[],
        ),
        arm(
            "weighted_round_robin",
            Word::weighted_round_robin,
            Word::about_weighted_round,
            icons::PLOT_TURNS,
            &[helped(
                "weights",
                Word::weights_from,
                Word::weights_from_help,
                Kind::Words(
                    &[("configured", Word::weights_configured), ("reported", Word::weights_reported)],
                    0,
                ),
            )],
        ),
        arm("random", Word::random, Word::about_random, icons::PLOT_DICE, &[]),
        arm(
            "consistent_hash",
            Word::consistent_hash,
            Word::about_consistent,
            icons::PLOT_RING,
            &[
                helped(
                    "by",
                    Word::hash_by,
                    Word::hash_by_help,
                    Kind::Words(&[("source", Word::hash_source), ("target", Word::hash_target)], 0),
                ),
                helped(
                    "table",
                    Word::hash_table,
                    Word::hash_table_help,
                    Kind::Words(&[("ring", Word::hash_ring), ("maglev", Word::hash_maglev)], 1),
                ),
            ],
        ),
        arm("source_hash", Word::source_hash, Word::about_source_hash, icons::PLOT_BY_CLIENT, &[]),
        arm("destination_hash", Word::destination_hash, Word::about_target_hash, icons::PLOT_BY_TARGET, &[]),
        arm("least_time", Word::least_time, Word::about_least_time, icons::PLOT_TIME, &[TAU]),
        arm("peak_ewma", Word::peak_ewma, Word::about_peak, icons::PLOT_PEAK, &[TAU]),
        arm(
            "dnf",
            Word::dnf,
            Word::about_dnf,
            icons::PLOT_FEEDBACK,
            &[
                helped("gain", Word::gain, Word::gain_help, Number(Unit::None, Is(0.2), (0.0, 2.0))),
                dead_band(0.03),
                helped(
                    "step",
                    Word::largest_step,
                    Word::largest_step_help,
                    Number(Unit::None, Is(0.3), (0.01, 1.0)),
                ),
                smoothing(0.5),
                helped("group", Word::group_width, Word::group_width_help, Number(Unit::None, Is(0.1), PART)),
                helped(
                    "min",
                    Word::weight_min,
                    Word::weight_min_help,
                    Number(Unit::Times, Is(0.1), (0.01, 1.0)),
                ),
                helped(
                    "max",
                    Word::weight_max,
                    Word::weight_max_help,
                    Number(Unit::Times, Is(8.0), (1.0, 100.0)),
                ),
                helped("short", Word::loads_short, Word::loads_help, Kind::Set(LOADS)),
                helped("session", Word::loads_session, Word::loads_session_help, Kind::Set(LOADS)),
            ],
        ),
        arm(
            "dnf_published",
            Word::dnf_published,
            Word::about_dnf_published,
            icons::PLOT_ROOT,
            &[
                helped("gain", Word::gain, Word::gain_help, Number(Unit::None, Is(5.0), (0.0, 50.0))),
                helped(
                    "target",
                    Word::load_target,
                    Word::load_target_help,
                    Number(Unit::None, Is(0.8), (0.01, 1.0)),
                ),
                helped("target_mean", Word::target_mean, Word::target_mean_help, Flag(false)),
                helped("groups", Word::groups, Word::groups_help, Whole(Unit::None, Is(3.0), (1.0, 16.0))),
                helped(
                    "group_by",
                    Word::group_by,
                    Word::group_by_help,
                    Kind::Words(&[("width", Word::group_by_width), ("rank", Word::group_by_rank)], 0),
                ),
                helped("weighted", Word::turns_weighted, Word::turns_weighted_help, Flag(false)),
                helped(
                    "initial",
                    Word::weight_initial,
                    Word::weight_initial_help,
                    Kind::Words(
                        &[
                            ("equal", Word::initial_equal),
                            ("weight", Word::initial_weight),
                            ("capacity", Word::initial_capacity),
                        ],
                        0,
                    ),
                ),
                helped(
                    "base",
                    Word::weight_base,
                    Word::weight_base_help,
                    Number(Unit::None, Is(50.0), (1.0, 1000.0)),
                ),
                helped(
                    "min",
                    Word::weight_min,
                    Word::weight_min_help,
                    Number(Unit::None, Is(1.0), (0.01, 100.0)),
                ),
                helped(
                    "max_factor",
                    Word::weight_max,
                    Word::weight_max_help,
                    Number(Unit::Times, Is(2.0), (1.01, 100.0)),
                ),
                smoothing(0.0),
                dead_band(0.0),
                helped(
                    "threshold",
                    Word::least_change,
                    Word::least_change_help,
                    Number(Unit::None, Is(0.0), (0.0, 20.0)),
                ),
                helped(
                    "damping",
                    Word::damping,
                    Word::damping_help,
                    Number(Unit::None, Is(0.0), (0.0, 0.99)),
                ),
                helped("coefficients.cpu", Word::load_cpu, Word::coefficients_help, coefficient(0.3)),
                knob("coefficients.mem", Word::load_mem, coefficient(0.15)),
                knob("coefficients.net", Word::load_net, coefficient(0.25)),
                knob("coefficients.disk", Word::load_disk, coefficient(0.1)),
                knob("coefficients.rooms", Word::load_rooms, coefficient(0.2)),
            ],
        ),
    ],
};

/// Which server takes a request, as a knob of the scenario.
pub static BALANCER_KNOB: Knob = knob("balancer", Word::policy, Kind::Choice(&BALANCER, 0));

/// Where groups of balancers begin in the table, and what they go by.
pub const BALANCER_GROUPS: &[(usize, Word)] = &[
    (0, Word::balance_simple),
    (4, Word::balance_weight),
    (7, Word::balance_hash),
    (10, Word::balance_latency),
    (12, Word::balance_feedback),
];

/// What is made of reports, failures and silence.
pub const FEEDBACK: &[Knob] = &[
    helped(
        "period_us",
        Word::report_period,
        Word::report_period_help,
        Number(Unit::S, Is(10e6), (0.1, 120.0)),
    ),
    helped("overload", Word::overload, Word::overload_help, Kind::Set(LOADS)),
    helped("limit", Word::load_limit, Word::load_limit_help, Number(Unit::None, Is(0.95), (0.1, 1.0))),
    helped("clear", Word::load_clear, Word::load_clear_help, Number(Unit::None, Is(0.9), (0.1, 1.0))),
    helped("silence_us", Word::silence, Word::silence_help, Number(Unit::S, Is(180e6), (1.0, 600.0))),
    helped("eject_after", Word::eject_after, Word::never_at_zero, Whole(Unit::Times, Is(0.0), (0.0, 20.0))),
    helped("eject_us", Word::eject_for, Word::eject_for_help, Number(Unit::S, Is(30e6), (0.1, 300.0))),
    helped("eject_at_most", Word::eject_most, Word::eject_most_help, Number(Unit::None, Is(0.5), PART)),
    helped("panic_below", Word::panic_below, Word::panic_help, Number(Unit::None, Is(0.0), PART)),
    helped("slow_start_us", Word::slow_start, Word::never_at_zero, Number(Unit::S, Is(0.0), (0.0, 120.0))),
];

// ----- events -----

/// What becomes of reports.
pub const REPORTS: &[(&str, Word)] =
    &[("normal", Word::reports_normal), ("stuck", Word::reports_stuck), ("lost", Word::reports_lost)];

const FACTOR: Knob =
    helped("factor", Word::event_factor, Word::event_factor_help, Number(Unit::Times, Need(1.5), (0.0, 5.0)));

/// What may happen, with its numbers; those from the third on happen to a server.
pub static EVENT: Choice = Choice {
    tag: "do",
    arms: &[
        plain("load", Word::event_load, &[FACTOR]),
        plain("service", Word::event_service, &[FACTOR]),
        plain("server_down", Word::event_down, &[]),
        plain("server_up", Word::event_up, &[]),
        plain(
            "server_speed",
            Word::event_speed,
            &[knob("speed", Word::server_speed, Number(Unit::Times, Need(0.5), (0.05, 5.0)))],
        ),
        plain(
            "server_flapping",
            Word::event_flapping,
            &[
                helped(
                    "period_us",
                    Word::flap_period,
                    Word::flap_period_help,
                    Number(Unit::S, Need(10e6), (0.1, 120.0)),
                ),
                helped(
                    "times",
                    Word::flap_times,
                    Word::flap_times_help,
                    Whole(Unit::Times, Is(10.0), (1.0, 100.0)),
                ),
            ],
        ),
        plain(
            "neighbour",
            Word::event_neighbour,
            &[helped(
                "share",
                Word::neighbour,
                Word::neighbour_help,
                Number(Unit::None, Need(0.5), (0.0, 0.99)),
            )],
        ),
        plain(
            "server_reports",
            Word::event_reports,
            &[helped("state", Word::reports, Word::reports_help, Kind::Words(REPORTS, 0))],
        ),
    ],
};

// ----- a run -----

/// What a run has besides title, seed and length.
pub const RUN: &[Knob] = &[
    helped(
        "run.mode",
        Word::run_mode,
        Word::run_mode_help,
        Kind::Words(&[("steady", Word::mode_steady), ("transient", Word::mode_transient)], 0),
    ),
    helped("run.warmup_us", Word::warmup, Word::warmup_help, Number(Unit::S, Enough, (0.0, 600.0))),
    helped("gateways", Word::gateways, Word::gateways_help, Whole(Unit::None, Is(1.0), (1.0, 16.0))),
];

// ----- priority -----

/// How a level is made.
pub const PRIORITY: &[Knob] = &[
    helped("per_stage", Word::per_stage, Word::per_stage_help, Flag(false)),
    helped("size_limits", Word::size_limits, Word::size_limits_help, List(Unit::Kb, None)),
    helped("size_in_queue", Word::size_in_queue, Word::size_in_queue_help, Flag(false)),
    helped("levels", Word::levels, Word::levels_help, Whole(Unit::None, Off, (0.0, 16.0))),
    helped("clamp", Word::clamp, Word::clamp_help, Flag(false)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::{Scenario, json_schema, presets};

    fn wire() -> ScenarioV1 {
        presets::get("flash-crowd").expect("a preset").scenario().wire().clone()
    }

    /// The schema's object for an arm of a choice, or for a record.
    fn shape<'a>(schema: &'a Value, def: &str, tag: Option<(&str, &str)>) -> &'a Value {
        let def = &schema["$defs"][def];
        let Some((tag, word)) = tag else { return def };
        let arms = def["oneOf"].as_array().expect("a choice");
        let arm = arms.iter().find(|arm| arm["properties"][tag]["const"] == word);
        arm.unwrap_or_else(|| panic!("no {word} in the schema"))
    }

    /// Holds the knobs of an object against its schema, in both directions unless `part`.
    #[track_caller]
    fn check(schema: &Value, name: &str, knobs: &[Knob], tag: &str, part: bool) {
        let object = &schema["properties"];
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let keys: Vec<&str> = knobs.iter().filter_map(|k| k.key.split('.').next()).collect();
        for key in object.as_object().expect("an object").keys().filter(|k| *k != tag && !part) {
            assert!(keys.contains(&key.as_str()), "{name}.{key} has no knob");
        }
        for knob in knobs.iter().filter(|k| !k.key.contains('.')) {
            let field = &object[knob.key];
            assert!(!field.is_null(), "{name} has no field {}", knob.key);
            let usual = match knob.kind {
                Number(_, Is(x), _) | Whole(_, Is(x), _) => Some(x.into()),
                Flag(x) => Some(Value::from(x)),
                // What must be written has no default.
                Kind::Words(words, i) if !required.contains(&Value::from(knob.key)) => {
                    Some(words[i].0.into())
                }
                _ => None,
            };
            let same = |a: &Value, b: &Value| a == b || a.as_f64().is_some_and(|x| Some(x) == b.as_f64());
            if let Some(usual) = usual {
                assert!(same(&field["default"], &usual), "{name}.{}: {usual} here, {field} there", knob.key);
            }
        }
    }

    /// Fields without a knob in the tables, and where they are set instead.
    const ELSEWHERE: &[(&str, &[(&str, &str)])] = &[
        (
            "scenario",
            &[
                ("tidegate", "the version of the format"),
                ("title", "a field of its own"),
                ("about", "a field of its own"),
                ("eng", "written by whoever shares"),
                ("run", "its fields"),
                ("classes", "sections of the editor"),
                ("priority", "its fields"),
                ("stages", "sections of the editor; their number in the text view"),
                ("balancer", "its policies"),
                ("feedback", "its fields"),
                ("servers", "sections of the editor"),
                ("events", "sections of the editor"),
                ("edits", "made at the playhead"),
            ],
        ),
        ("edit", &[("at_us", "where the playhead is"), ("set", "what was changed there")]),
        ("run", &[("seed", "beside the clock"), ("horizon_us", "a field of its own")]),
        (
            "class",
            &[
                ("name", "a field that renames it everywhere"),
                ("priority", "a field of its own"),
                ("delay_weight", "a field of its own"),
                ("load", "choosing keeps the rate"),
            ],
        ),
        (
            "stage",
            &[
                ("workers", "a field that keeps the split"),
                ("split", "a field for each class"),
                ("order", "plots of its own"),
                ("queue", "its policies"),
            ],
        ),
        (
            "server",
            &[
                ("name", "a field that renames it everywhere"),
                ("slots", "a field of its own"),
                ("speed", "a field of its own"),
            ],
        ),
        (
            "event",
            &[
                ("at_us", "a field of its own"),
                ("class", "a list of the classes"),
                ("server", "a list of the servers"),
            ],
        ),
    ];

    /// Records that are set as parts of others: `demand.cpu` and the like.
    const PARTS: &[(&str, &[Knob], &str)] = &[
        ("demand", CLASS_AT_SERVERS, "demand."),
        ("capacity", SERVER, "capacity."),
        ("retry", &[CLASS[2], RETRY_AFTER], "retry."),
        ("run", RUN, "run."),
    ];

    /// A definition of the schema, the tag and word of an arm if it is a choice, and the knobs for it.
    type Known = (&'static str, Option<(&'static str, &'static str)>, Vec<Knob>);

    /// Every object of the schema, with the knobs for it.
    fn objects() -> Vec<Known> {
        let choices: [(&str, &Choice); 12] = [
            ("queue", &QUEUE),
            ("ageing", &AGEING),
            ("pool", &POOL),
            ("batch", &BATCH),
            ("size", &SIZE),
            ("adapt", &ADAPT),
            ("split_by", &SPLIT_BY),
            ("balancer", &BALANCER),
            ("law", &LAW),
            ("load", &LOAD),
            ("work", &WORK_AT),
            ("event", &EVENT),
        ];
        let arms = choices.into_iter().flat_map(|(def, choice)| {
            let real = choice.arms.iter().filter(|arm| !arm.word.is_empty());
            real.map(move |arm| (def, Some((choice.tag, arm.word)), arm.knobs.to_vec()))
        });
        let columns = |knob: &Knob| match knob.kind {
            Table(columns) => columns.to_vec(),
            _ => Vec::new(),
        };
        let curves = QUEUE.arms.iter().flat_map(|arm| arm.knobs).find(|k| k.key == "curves").expect("there");
        let coefficients = BALANCER.arms.iter().flat_map(|arm| arm.knobs);
        let inner = |prefix: &str, knobs: &mut dyn Iterator<Item = &'static Knob>| {
            let inside = |k: &'static Knob| Some(Knob { key: k.key.strip_prefix(prefix)?, ..*k });
            knobs.filter_map(inside).collect::<Vec<Knob>>()
        };
        let mut all: Vec<_> = arms.collect();
        all.push(("phase", None, columns(&LOAD.arms[2].knobs[0])));
        all.push(("curve", None, columns(curves)));
        all.push(("rule", None, RULE.to_vec()));
        all.push(("coefficients", None, inner("coefficients.", &mut coefficients.into_iter())));
        all.extend(PARTS.iter().map(|(def, knobs, prefix)| (*def, None, inner(prefix, &mut knobs.iter()))));
        all.push(("class", None, [CLASS, CLASS_AT_SERVERS, &[SERVICE, RULES]].concat()));
        all.push(("stage", None, [STAGE, &[SPLIT, LENDING, DITHER, WORK, STAGE_NAME]].concat()));
        all.push(("server", None, SERVER.to_vec()));
        all.push(("edit", None, Vec::new()));
        all.push(("feedback", None, FEEDBACK.to_vec()));
        all.push(("priority", None, PRIORITY.to_vec()));
        all
    }

    #[test]
    fn every_field_of_the_format_has_a_knob_or_is_set_elsewhere() {
        let schema = json_schema();
        let all = objects();
        for (def, tag, knobs) in &all {
            let there = shape(&schema, def, *tag);
            let elsewhere = ELSEWHERE.iter().find(|(of, _)| of == def).map_or(&[][..], |(_, list)| *list);
            let name = tag.map_or_else(|| (*def).to_owned(), |(_, word)| format!("{def} {word}"));
            check(&schema_of(there, elsewhere), &name, knobs, tag.map_or("", |(tag, _)| tag), false);
        }
        for (def, object) in schema["$defs"].as_object().expect("an object") {
            let arms = object["oneOf"]
                .as_array()
                .map_or(1, |arms| arms.iter().filter(|a| !a["properties"].is_null()).count());
            let words = object["properties"].is_null() && object["oneOf"][0]["properties"].is_null();
            let mut known: Vec<_> = all.iter().filter(|(of, ..)| of == def).map(|(_, tag, _)| *tag).collect();
            known.dedup();
            known.sort();
            known.dedup();
            assert!(words || known.len() == arms, "{def}: {} of {arms} have knobs", known.len());
        }
        let (_, root) = ELSEWHERE[0];
        let rest = schema_of(&schema, root);
        check(&rest, "scenario", &[RUN[2]], "", false);
    }

    /// An object of the schema without the fields that are set elsewhere.
    fn schema_of(object: &Value, elsewhere: &[(&str, &str)]) -> Value {
        let mut object = object.clone();
        if let Some(fields) = object["properties"].as_object_mut() {
            fields.retain(|key, _| elsewhere.iter().all(|(known, _)| known != key));
        }
        object
    }

    #[test]
    fn every_number_says_what_it_does() {
        let loads = ["mem", "net", "disk", "rooms"];
        for (def, _, knobs) in objects() {
            for knob in knobs {
                let last = knob.key.rsplit('.').next().unwrap_or_default();
                // The sentence of the first of the five stands for all.
                let said = knob.help.is_some() || loads.contains(&last) || last == "speed" || def == "run";
                assert!(said || matches!(knob.kind, Text(..)), "{def}.{} has no sentence", knob.key);
            }
        }
    }

    #[test]
    fn policies_are_told_apart_by_their_plots() {
        let orders: Vec<&str> = ORDER_PLOTS.to_vec();
        let plots = |choice: &Choice| choice.arms.iter().map(|arm| arm.icon).collect::<Vec<_>>();
        let all = [&QUEUE, &BALANCER, &SPLIT_BY, &AGEING, &POOL, &BATCH].map(plots);
        for mut plots in all.into_iter().chain([orders]) {
            let many = plots.len();
            assert!(plots.iter().all(|plot| !plot.is_empty()), "a policy has no plot");
            plots.sort_unstable();
            plots.dedup();
            assert_eq!(plots.len(), many, "two policies have the same plot");
        }
        assert_eq!(ORDER_PLOTS.len(), ORDERS.len());
    }

    #[test]
    fn another_law_keeps_the_mean() {
        let mut s = wire();
        for (i, arm) in LAW.arms.iter().enumerate().chain([(2, &LAW.arms[2]), (0, &LAW.arms[0])]) {
            s.classes[0].service = tidegate_core::scenario::v1::LawV1::Constant { mean_us: 9_000 };
            choose(&mut s, "classes[0].service", &LAW, i);
            assert_eq!(s.classes[0].service.word(), arm.word);
            assert!((crate::story::mean_s(&s.classes[0].service) - 0.009).abs() < 1e-9, "{}", arm.word);
            choose(&mut s, "classes[0].service", &LAW, 0);
            assert!((crate::story::mean_s(&s.classes[0].service) - 0.009).abs() < 1e-9, "{}", arm.word);
        }
    }

    #[test]
    fn phases_and_rules_come_and_go() {
        let mut s = wire();
        crate::edit::set_kind(&mut s, 0, crate::edit::Kind::Bursty);
        let columns = match LOAD.arms[2].knobs[0].kind {
            Table(columns) => columns,
            _ => &[],
        };
        put(&mut s, "classes[0].load.phases", Some(Value::Array(vec![row(columns); 3])));
        put(&mut s, "classes[0].rules", Some(Value::Array(vec![row(RULE)])));
        turn(&mut s, "classes[0].load.phases[2].rate_per_s", &RATE, 70.0);
        put(&mut s, "classes[0].rules[0].host", Some("example.org".into()));
        if let Err(e) = Scenario::check(s.clone()) {
            panic!("{e}");
        }
        assert_eq!(at(&json(&s), "classes[0].load.phases[2].rate_per_s"), Some(&70.into()));
        assert_eq!(s.classes[0].rules[0].host.as_deref(), Some("example.org"));
    }

    #[test]
    fn every_policy_can_be_chosen_and_run() {
        let all = [
            ("queue", &QUEUE),
            ("ageing", &AGEING),
            ("pool", &POOL),
            ("batch", &BATCH),
            ("split_by", &SPLIT_BY),
        ];
        for (path, choice) in all {
            // Batches are for stages that work themselves.
            let mut s = wire();
            for (i, arm) in choice.arms.iter().enumerate() {
                let path = format!("stages[0].{path}");
                choose(&mut s, &path, choice, i);
                assert_eq!(choice.chosen(at(&json(&s), &path), 0), i, "{} was chosen", arm.word);
                if let Err(e) = Scenario::check(s.clone()) {
                    panic!("{}: {e}", arm.word);
                }
            }
        }
    }

    #[test]
    fn workers_are_shared_split_or_led_without_loose_ends() {
        let mut s = wire();
        for how in [2, 1, 2, 0, 1, 0, 2, 0] {
            share_workers(&mut s, 1, how);
            let spec = &s.stages[1];
            assert_eq!(spec.split.is_empty(), how == 0, "a split has parts to begin with");
            assert_eq!(spec.split_by.word(), if how == 2 { "stc_lead" } else { "fixed" });
            if how > 0 {
                turn(&mut s, "stages[1].lend_after_us", &LENDING, 2.0);
                assert_eq!(s.stages[1].lend_after_us, Some(2_000_000));
            }
            if how == 2 {
                put(&mut s, "stages[1].dither", Some(true.into()));
            }
            if let Err(e) = Scenario::check(s.clone()) {
                panic!("{how}: {e}");
            }
        }
    }

    #[test]
    fn every_balancer_can_be_chosen_and_run_and_is_in_a_group() {
        let mut s = wire();
        for (i, arm) in BALANCER.arms.iter().enumerate() {
            choose(&mut s, "balancer", &BALANCER, i);
            assert_eq!(s.balancer.word(), arm.word);
            assert_eq!(
                balancer_name(&s.balancer, crate::words::english()),
                arm.name.of(crate::words::english())
            );
            if let Err(e) = Scenario::check(s.clone()) {
                panic!("{}: {e}", arm.word);
            }
        }
        let begins: Vec<&str> = BALANCER_GROUPS.iter().map(|(at, _)| BALANCER.arms[*at].word).collect();
        let want =
            ["least_connections", "weighted_least_connections", "consistent_hash", "least_time", "dnf"];
        assert_eq!(begins, want);
    }

    #[test]
    fn coefficients_always_sum_to_one() {
        let mut s = wire();
        let at = BALANCER.arms.iter().position(|arm| arm.word == "dnf_published").expect("there");
        choose(&mut s, "balancer", &BALANCER, at);
        let knobs: Vec<&Knob> =
            BALANCER.arms[at].knobs.iter().filter(|k| k.key.starts_with("coef")).collect();
        assert_eq!(knobs.len(), LOADS.len());
        for (i, to) in [(0, 0.5), (4, 0.0), (2, 1.0), (1, 0.3), (3, 0.123_456)] {
            turn(&mut s, &format!("balancer.{}", knobs[i].key), knobs[i], to);
            assert_eq!(shown(at_balancer(&s).as_ref(), knobs[i].key, knobs[i]), to, "what was asked for");
            if let Err(e) = Scenario::check(s.clone()) {
                panic!("{} = {to}: {e}", knobs[i].key);
            }
        }
    }

    fn at_balancer(s: &ScenarioV1) -> Option<Value> {
        at(&json(s), "balancer").cloned()
    }

    #[test]
    fn a_capacity_goes_without_the_others() {
        let mut s = wire();
        let knob = |key: &str| SERVER.iter().find(|k| k.key == key).expect("a knob");
        for (key, to) in [("capacity.mem", 16.0), ("capacity.net", 100.0), ("capacity.mem", 0.0)] {
            turn(&mut s, &format!("servers[0].{key}"), knob(key), to);
        }
        assert_eq!((s.servers[0].capacity.mem, s.servers[0].capacity.net), (None, Some(100.0)));
        turn(&mut s, "servers[0].max_in_flight", knob("max_in_flight"), 0.0);
        assert_eq!(s.servers[0].max_in_flight, None);
    }

    #[test]
    fn what_two_policies_share_is_kept() {
        let mut s = wire();
        choose(&mut s, "stages[1].queue", &QUEUE, 2);
        turn(&mut s, "stages[1].queue.min", &LENGTHS[0], 120.0);
        choose(&mut s, "stages[1].queue", &QUEUE, 3);
        let root = json(&s);
        assert_eq!(QUEUE.arms[3].word, "red");
        assert_eq!(shown(at(&root, "stages[1].queue"), "min", &LENGTHS[0]), 120.0);
        assert_eq!(shown(at(&root, "stages[1].queue"), "max", &LENGTHS[1]), 280.0);
    }

    #[test]
    fn numbers_are_written_in_the_units_of_the_format() {
        let mut s = wire();
        choose(&mut s, "stages[0].queue", &QUEUE, 1);
        turn(&mut s, "stages[0].queue.min_us", &QUEUE.arms[1].knobs[0], 0.5);
        assert_eq!(at(&json(&s), "stages[0].queue.min_us"), Some(&500_000.into()));
        let deadline = CLASS[0];
        turn(&mut s, "classes[0].deadline_us", &deadline, 2.5);
        assert_eq!(s.classes[0].deadline_us, Some(2_500_000));
        turn(&mut s, "classes[0].deadline_us", &deadline, 0.0);
        assert_eq!(s.classes[0].deadline_us, None);
        turn(&mut s, "classes[0].retry.times", &CLASS[2], 4.0);
        assert_eq!(s.classes[0].retry.as_ref().map(|r| r.times), Some(4));
        turn(&mut s, "classes[0].retry.times", &CLASS[2], 0.0);
        assert_eq!(s.classes[0].retry, None);
    }
}
