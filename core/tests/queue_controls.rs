//! Every queue control on a small model queue, with random parameters, arrivals and departures.
//!
//! Whatever the parameters, a control keeps the queue within its limit, shows probabilities and no NaN, loses nobody,
//! and takes a job again once everybody has left. Those that promise an order of the levels keep it.
//!
//! To add a control: a line in [`cases`].

use std::collections::BTreeMap;
use tidegate_core::admission::{Control, Found, Queue, QueueControl, Taken, Verdict};
use tidegate_core::id::ClassId;
use tidegate_core::scenario::v1::{AdaptV1, CountV1, CurveV1, PerV1, QueueV1, RateRuleV1, SpacingV1};
use tidegate_core::time::{Duration, Instant};
use tidegate_core::unit::{DelayWeight, Draw, mix};

/// Parameter sets tried of each control.
const SETS: u64 = 60;
/// Things that happen to each.
const STEPS: u64 = 3_000;
const CLASSES: usize = 3;

/// A plain random number generator for tests.
struct Dice(u64);

impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }

    /// Evenly from `lo` to just below `hi`.
    fn within(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * Draw::from_bits(self.bits()).get()
    }

    fn chance(&mut self) -> f64 {
        if self.one_in(4) { 1.0 } else { self.within(1e-6, 1.0) }
    }

    /// Two ends of a curve, the first below the second; now and then at the ends of their range.
    fn band(&mut self) -> (f64, f64) {
        let min = if self.one_in(8) { 0.0 } else { self.within(0.0, 30.0) };
        let max = if self.one_in(8) { 1e6 } else { min + self.within(1e-3, 40.0) };
        (min, max)
    }

    fn weight(&mut self) -> f64 {
        if self.one_in(3) { self.of(&[1.0, 1e-9]) } else { self.within(0.001, 0.6) }
    }

    fn spacing(&mut self) -> SpacingV1 {
        self.of(&[SpacingV1::Bernoulli, SpacingV1::Uniform, SpacingV1::Wait])
    }

    fn adapt(&mut self) -> AdaptV1 {
        let counters =
            AdaptV1::Counters { factor: self.within(1.001, 100.0), repeat: 1 + self.below(9) as u32 };
        self.of(&[AdaptV1::None, counters, AdaptV1::Feng, AdaptV1::Floyd])
    }

    fn per(&mut self) -> PerV1 {
        self.of(&[PerV1::Level, PerV1::Stage])
    }

    fn limit(&mut self) -> u32 {
        1 + self.below(120) as u32
    }

    fn limit_or_none(&mut self) -> Option<u32> {
        (!self.one_in(4)).then(|| self.limit())
    }
}

/// A control to be tried, and what it promises beyond what every one does.
struct Case {
    name: &'static str,
    queue: QueueV1,
    /// What its limit counts. Promotion could overfill a level by itself, so there is none where it is that.
    limit_per: PerV1,
    /// Averages never rise with the level.
    averages_ordered: bool,
    /// Probabilities never rise with the level.
    chances_ordered: bool,
}

/// One case of each control, with random parameters.
fn cases(dice: &mut Dice) -> Vec<Case> {
    let stage = PerV1::Stage;
    vec![
        tail_drop(dice),
        Case {
            name: "red",
            queue: red(dice),
            limit_per: stage,
            averages_ordered: true,
            chances_ordered: true,
        },
        priority_red(dice),
        Case {
            name: "pdt_red",
            queue: pdt_red(dice),
            limit_per: stage,
            averages_ordered: true,
            chances_ordered: true,
        },
        wred(dice),
        work_red(dice),
        plain("length_threshold", QueueV1::LengthThreshold { threshold: dice.limit() }),
        plain("enqueue_rate", enqueue_rate(dice)),
        plain("codel", codel(dice)),
        plain("pie", pie(dice)),
        plain("adaptive_rate", adaptive_rate(dice)),
        plain("admission_window", admission_window(dice)),
    ]
}

/// A control that promises nothing in particular, with a limit on all levels together.
fn plain(name: &'static str, queue: QueueV1) -> Case {
    Case { name, queue, limit_per: PerV1::Stage, averages_ordered: false, chances_ordered: false }
}

fn enqueue_rate(dice: &mut Dice) -> QueueV1 {
    let (rate_per_s, depth) = (dice.within(1.0, 500.0), dice.within(1.0, 20.0));
    QueueV1::EnqueueRate { rate_per_s, depth, limit: dice.limit() }
}

fn codel(dice: &mut Dice) -> QueueV1 {
    QueueV1::Codel {
        target_us: dice.of(&[1, 5_000, 50_000]),
        interval_us: dice.of(&[1, 10_000, 100_000]),
        limit: dice.limit(),
    }
}

fn pie(dice: &mut Dice) -> QueueV1 {
    QueueV1::Pie {
        target_us: dice.of(&[1, 15_000, 100_000]),
        update_us: dice.of(&[1_000, 15_000, 1_000_000]),
        burst_us: dice.of(&[0, 15_000, 150_000]),
        limit: dice.limit(),
    }
}

fn adaptive_rate(dice: &mut Dice) -> QueueV1 {
    let rules = [RateRuleV1::Direct, RateRuleV1::Multiclass, RateRuleV1::Pid, RateRuleV1::Mm1];
    let target_us = dice.of(&[1, 20_000, 1_000_000]);
    QueueV1::AdaptiveRate { rule: dice.of(&rules), target_us, limit: dice.limit() }
}

fn admission_window(dice: &mut Dice) -> QueueV1 {
    QueueV1::AdmissionWindow {
        target_us: dice.of(&[1, 20_000, 1_000_000]),
        period_us: dice.of(&[10_000, 500_000, 5_000_000]),
        gain: dice.within(0.001, 1.0),
        limit: dice.limit(),
    }
}

fn tail_drop(dice: &mut Dice) -> Case {
    let per = dice.per();
    let queue = QueueV1::TailDrop { limit: dice.limit() - 1, per };
    Case { name: "tail_drop", queue, limit_per: per, averages_ordered: false, chances_ordered: false }
}

fn red(dice: &mut Dice) -> QueueV1 {
    let (min, max) = dice.band();
    QueueV1::Red {
        min,
        max,
        max_p: dice.chance(),
        weight: dice.weight(),
        gentle: dice.one_in(2),
        spacing: dice.spacing(),
        adapt: dice.adapt(),
        limit: dice.limit_or_none(),
    }
}

fn priority_red(dice: &mut Dice) -> Case {
    let (min, max) = dice.band();
    let (adapt, adapt_per, update_per) = (dice.adapt(), dice.per(), dice.per());
    let averages_ordered = update_per == PerV1::Stage;
    let one_height = adapt_per == PerV1::Stage || adapt == AdaptV1::None;
    let queue = QueueV1::PriorityRed {
        min,
        max,
        max_p: dice.chance(),
        weight: dice.weight(),
        gentle: dice.one_in(2),
        spacing: dice.spacing(),
        adapt,
        adapt_per,
        update_per,
        on_departure: dice.one_in(2),
        limit: dice.limit_or_none(),
    };
    let chances_ordered = averages_ordered && one_height;
    Case { name: "priority_red", queue, limit_per: PerV1::Stage, averages_ordered, chances_ordered }
}

fn pdt_red(dice: &mut Dice) -> QueueV1 {
    let (min, max) = dice.band();
    QueueV1::PdtRed {
        min,
        max,
        max_p: dice.chance(),
        weight: dice.weight(),
        gain: dice.within(0.0, 0.3),
        limit: dice.limit(),
    }
}

fn wred(dice: &mut Dice) -> Case {
    let curve = |dice: &mut Dice| {
        let (min, max) = dice.band();
        CurveV1 { min, max, max_p: dice.chance() }
    };
    let curves: Vec<CurveV1> = (0..=dice.below(5)).map(|_| curve(dice)).collect();
    let average = dice.of(&[CountV1::All, CountV1::Above, CountV1::Level]);
    let averages_ordered = average != CountV1::Level;
    let chances_ordered = averages_ordered && curves.len() == 1;
    let queue = QueueV1::Wred { curves, weight: dice.weight(), average, limit: dice.limit() };
    Case { name: "wred", queue, limit_per: PerV1::Stage, averages_ordered, chances_ordered }
}

fn work_red(dice: &mut Dice) -> Case {
    let min_us = dice.below(300_000);
    let adapt = dice.adapt();
    let chances_ordered = adapt == AdaptV1::None;
    let queue = QueueV1::WorkRed {
        min_us,
        max_us: min_us + 1 + dice.below(500_000),
        max_p: dice.chance(),
        tau_us: dice.of(&[1, 10_000, 250_000, 604_800_000_000]),
        hard: dice.within(1.0, 3.0),
        adapt,
        limit: dice.limit(),
    };
    Case { name: "work_red", queue, limit_per: PerV1::Stage, averages_ordered: true, chances_ordered }
}

/// A job in the model.
#[derive(Clone, Copy)]
struct Job {
    class: ClassId,
    level: u8,
    judged_at: u8,
    work_ns: u64,
    queued: Instant,
}

/// A stage with a queue and a control, and its book-keeping.
struct Model {
    control: Control,
    now: Instant,
    gap: Duration,
    jobs: Vec<Job>,
    /// Let in at the entry and not yet come to the stage.
    upstream: Vec<Job>,
    waiting: Vec<u32>,
    work_ns: Vec<u64>,
    arrived: u64,
    shed: u64,
    left: u64,
}

impl Model {
    fn new(queue: &QueueV1, levels: usize) -> Self {
        Self {
            control: Control::new(queue, levels, &[DelayWeight::new(1.0).unwrap(); CLASSES]),
            now: Instant::START,
            gap: Duration::ZERO,
            jobs: Vec::new(),
            upstream: Vec::new(),
            waiting: vec![0; levels],
            work_ns: vec![0; levels],
            arrived: 0,
            shed: 0,
            left: 0,
        }
    }

    fn levels(&self) -> u8 {
        self.waiting.len() as u8
    }

    /// The control and the queue it may look at.
    fn sides(&mut self) -> (&mut Control, Queue<'_>) {
        let len = self.jobs.len() as u32;
        (&mut self.control, Queue { waiting: &self.waiting, work_ns: &self.work_ns, len, gap: self.gap })
    }

    fn random_job(&self, dice: &mut Dice) -> Job {
        let level = dice.below(u64::from(self.levels())) as u8;
        let judged_at = (level + dice.below(2) as u8).min(self.levels() - 1);
        let class = ClassId(dice.below(CLASSES as u64) as u8);
        Job { class, level, judged_at, work_ns: dice.below(40_000_000), queued: self.now }
    }

    /// A job asks to join; it is gone at once if `would_wait` is false.
    fn arrive(&mut self, job: Job, would_wait: bool, draw: Draw) -> Verdict {
        self.arrived += 1;
        let now = self.now;
        let (control, queue) = self.sides();
        let found = Found { class: job.class, level: job.level, judged_at: job.judged_at, would_wait, queue };
        let verdict = control.on_arrival(now, found, draw);
        let at_entry = control.at_entry();
        match verdict {
            Verdict::Shed(_) => self.shed += 1,
            Verdict::Admit if at_entry => self.upstream.push(job),
            Verdict::Admit => self.join(job, would_wait, draw),
        }
        verdict
    }

    /// A job let in at the entry comes to the stage.
    fn come(&mut self, at: usize, would_wait: bool, draw: Draw) {
        let job = Job { queued: self.now, ..self.upstream.swap_remove(at) };
        let now = self.now;
        let (control, queue) = self.sides();
        let found = Found { class: job.class, level: job.level, judged_at: job.judged_at, would_wait, queue };
        match control.on_late_arrival(now, found) {
            Verdict::Shed(_) => self.shed += 1,
            Verdict::Admit => self.join(job, would_wait, draw),
        }
    }

    fn join(&mut self, job: Job, would_wait: bool, draw: Draw) {
        self.waiting[usize::from(job.level)] += 1;
        self.work_ns[usize::from(job.judged_at)] += job.work_ns;
        self.jobs.push(job);
        if !would_wait {
            self.take(self.jobs.len() - 1, draw);
        }
    }

    /// A worker takes a job, unless the control turns it away then.
    fn take(&mut self, at: usize, draw: Draw) {
        let (now, job) = (self.now, self.jobs[at]);
        let (control, queue) = self.sides();
        let taken = Taken { class: job.class, level: job.level, waited: now.since(job.queued), queue };
        let verdict = control.on_take(now, taken, draw);
        self.leave(at);
        match verdict {
            Verdict::Shed(_) => self.shed += 1,
            Verdict::Admit => {
                self.left += 1;
                self.control.on_response(now, job.class, now.since(job.queued));
            }
        }
    }

    /// A job goes, for whatever reason.
    fn leave(&mut self, at: usize) {
        let job = self.jobs.swap_remove(at);
        self.waiting[usize::from(job.level)] -= 1;
        self.work_ns[usize::from(job.judged_at)] -= job.work_ns;
        let now = self.now;
        let (control, queue) = self.sides();
        control.on_departure(now, job.level, queue);
    }

    fn promote(&mut self, at: usize) {
        let top = self.levels() - 1;
        let job = &mut self.jobs[at];
        if job.level < top {
            self.waiting[usize::from(job.level)] -= 1;
            job.level += 1;
            self.waiting[usize::from(job.level)] += 1;
        }
    }

    /// Lets time pass and something happen. Spells of ever more arrivals take turns with quiet ones.
    fn step(&mut self, step: u64, case: &Case, dice: &mut Dice) {
        self.now += match dice.below(300) {
            0 => Duration::from_secs(dice.below(20)),
            1..60 => Duration::ZERO,
            _ => Duration::from_nanos(dice.below(4_000_000)),
        };
        self.gap = if dice.one_in(3) { Duration::ZERO } else { Duration::from_nanos(dice.below(9_000_000)) };
        let draw = Draw::from_bits(dice.bits());
        let would_wait = !dice.one_in(9);
        let arrivals = if step % 600 < 350 { 62 } else { 25 };
        match dice.below(100) {
            n if n < arrivals => {
                let job = self.random_job(dice);
                let _ = self.arrive(job, would_wait, draw);
            }
            n if n % 2 == 0 && !self.upstream.is_empty() => {
                let at = dice.below(self.upstream.len() as u64) as usize;
                self.come(at, would_wait, draw);
            }
            _ if self.jobs.is_empty() => (),
            n => {
                let at = dice.below(self.jobs.len() as u64) as usize;
                match n {
                    90.. if case.limit_per == PerV1::Stage => self.promote(at),
                    90.. => (),
                    80..90 => {
                        self.leave(at);
                        self.left += 1;
                    }
                    _ => self.take(at, draw),
                }
            }
        }
    }

    /// Everybody leaves, and nothing happens for a week.
    fn fall_silent(&mut self) {
        let draw = Draw::from_bits(0);
        while !self.upstream.is_empty() {
            self.come(0, true, draw);
        }
        while !self.jobs.is_empty() {
            self.take(0, draw);
        }
        self.now += Duration::from_secs(7 * 86_400);
    }

    /// What must hold whatever happens; the text says what does not.
    fn flaw(&self, case: &Case) -> Option<String> {
        let inside = (self.jobs.len() + self.upstream.len()) as u64;
        if self.arrived != self.shed + self.left + inside {
            return Some(format!(
                "{} came, {} and {} went, {inside} are here",
                self.arrived, self.shed, self.left
            ));
        }
        let longest = match case.limit_per {
            PerV1::Stage => self.jobs.len() as u32,
            PerV1::Level => *self.waiting.iter().max().expect("a queue has a level"),
        };
        if longest > self.control.limit() {
            return Some(format!("{longest} wait, limit {}", self.control.limit()));
        }
        let mut lower: Option<(f64, f64)> = None;
        for level in 0..self.levels() {
            let gauge = self.control.gauge(self.now, level)?;
            let chances = 0.0..=1.0;
            let sound = gauge.average.is_finite()
                && gauge.average >= 0.0
                && (gauge.min <= gauge.max || gauge.max == 0.0)
                && chances.contains(&gauge.drop_p)
                && chances.contains(&gauge.max_p);
            if !sound {
                return Some(format!("level {level} shows {gauge:?}"));
            }
            // What rounding may do to an order, and no more.
            let rises = |below: f64, here: f64| here > below * (1.0 + 1e-9) + 1e-12;
            if let Some((average, drop_p)) = lower {
                if case.averages_ordered && rises(average, gauge.average) {
                    return Some(format!("averages rise to level {level}: {average}, {}", gauge.average));
                }
                if case.chances_ordered && rises(drop_p, gauge.drop_p) {
                    return Some(format!("chances rise to level {level}: {drop_p}, {}", gauge.drop_p));
                }
            }
            lower = Some((gauge.average, gauge.drop_p));
        }
        None
    }
}

/// Runs one case; gives how many were let in and turned away.
fn run(case: &Case, seed: u64) -> (u64, u64) {
    let mut dice = Dice(mix(seed));
    let levels = 1 + dice.below(6) as usize;
    let mut model = Model::new(&case.queue, levels);
    let place = |step| format!("{:?}, {levels} levels, seed {seed}, step {step}", case.queue);
    for step in 0..STEPS {
        model.step(step, case, &mut dice);
        if let Some(flaw) = model.flaw(case) {
            panic!("{}: {flaw}", place(step));
        }
    }
    let counts = (model.arrived - model.shed, model.shed);
    model.fall_silent();
    let job = model.random_job(&mut dice);
    let verdict = model.arrive(job, false, Draw::from_bits(0));
    assert_eq!(verdict, Verdict::Admit, "{}: after a week of silence nobody is let in", place(STEPS));
    counts
}

#[test]
fn every_control_keeps_its_promises() {
    let mut seen: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for set in 0..SETS {
        for (number, case) in cases(&mut Dice(set << 32)).iter().enumerate() {
            let (admitted, shed) = run(case, set << 8 | number as u64);
            let counts = seen.entry(case.name).or_default();
            *counts = (counts.0 + admitted, counts.1 + shed);
        }
    }
    for (name, (admitted, shed)) in seen {
        let all = admitted + shed;
        assert!(
            shed * 50 > all && admitted * 20 > all,
            "{name}: {shed} of {all} turned away is not much of a test"
        );
    }
}
