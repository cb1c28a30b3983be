//! `tidegate bench-queue`: what one request more costs a stage whose queue is already long.
//!
//! One worker, three priority levels, priority RED whose limits are out of reach. Some requests join the queue, then as many
//! leave it for the worker, so its length stays about what it is. `cargo xtask bench queue` prints the table.

use std::hint::black_box;
use std::time::Instant as Clock;

use serde_json::json;
use tidegate_core::gateway::{Arrival, Asked, Gateway, Outcome, Output};
use tidegate_core::id::{ClassId, JobId};
use tidegate_core::scenario::{Parsed, Scenario, parse_json};
use tidegate_core::time::Instant;
use tidegate_core::unit::{Chance, mix};

use crate::cli::BenchQueueArgs;
use crate::output;
use crate::text::grouped;

/// Lengths of the queue that are compared.
const LENGTHS: [u64; 4] = [1_000, 10_000, 100_000, 999_000];
/// Requests that join, and then as many that leave, before the clock is read.
const TURN: u64 = 200;
/// Turns of one pass.
const TURNS: u64 = 100;
/// Passes at each length, of which the best counts. The lengths take turns, so that a machine that is slower for a
/// while is slower for all of them.
const PASSES: u32 = 60;

/// What a request costs at one length of the queue, in nanoseconds.
#[derive(Clone, Copy)]
struct Cost {
    join: f64,
    leave: f64,
}

impl Cost {
    fn both(self) -> f64 {
        self.join + self.leave
    }
}

/// Measures and prints.
///
/// # Errors
/// Never but for printing.
pub(crate) fn run(args: &BenchQueueArgs) -> anyhow::Result<()> {
    let scenario = scenario()?;
    let rows: Vec<(u64, Cost)> = LENGTHS.into_iter().zip(best(&scenario)).collect();
    let ratio = rows[rows.len() - 1].1.both() / rows[0].1.both();
    output::print(&if args.json {
        let row =
            |(n, cost): &(u64, Cost)| json!({ "waiting": n, "join_ns": cost.join, "leave_ns": cost.leave });
        let rows: Vec<_> = rows.iter().map(row).collect();
        format!("{:#}\n", json!({ "policy": "priority_red", "lengths": rows, "longest_to_shortest": ratio }))
    } else {
        let line = |(n, cost): &(u64, Cost)| {
            let (n, Cost { join, leave }) = (grouped(*n as f64), *cost);
            format!(
                "{n:>9} waiting  {join:>6.1} ns to join, {leave:>6.1} ns to leave, {:>6.1} ns both\n",
                join + leave
            )
        };
        let lines: String = rows.iter().map(line).collect();
        format!(
            "priority RED, three levels; leaving includes the end of the work before; best of {PASSES} passes\n\
             {lines}longest to shortest: {ratio:.2}\n"
        )
    })
}

fn scenario() -> anyhow::Result<Scenario> {
    let text = r#"{"tidegate":1,"classes":[{"name":"a"},{"name":"b","priority":1},{"name":"c","priority":2}],
        "stages":[{"name":"s","workers":1,
            "queue":{"policy":"priority_red","min":999999,"max":1000000,"limit":1000000},
            "work":{"at":"stage","service":{"law":"constant","mean_us":1}}}]}"#;
    Ok(parse_json(text).and_then(Parsed::check)?)
}

/// A stage with so many waiting and one in work.
struct Bench {
    gateway: Gateway,
    working: JobId,
    n: u64,
}

impl Bench {
    fn new(scenario: &Scenario, length: u64) -> Self {
        let mut gateway = Gateway::new(scenario);
        let mut working = None;
        for n in 0..=length {
            let now = Instant::from_nanos(n * 1_000);
            let _ = gateway.arrive(now, arrival(n));
            while let Some(output) = gateway.poll(now) {
                if let Output::Dispatch(dispatch) = output {
                    working = Some(dispatch.job);
                }
            }
        }
        Self { gateway, working: working.expect("an idle worker takes the first"), n: length + 1 }
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(self.n * 1_000)
    }

    fn join(&mut self) {
        let now = self.now();
        let _ = black_box(self.gateway.arrive(now, arrival(self.n)));
        self.n += 1;
    }

    /// The worker ends what it has and takes the next.
    fn leave(&mut self) {
        let now = self.now();
        black_box(self.gateway.done(now, self.working, Outcome::Completed));
        while let Some(output) = self.gateway.poll(now) {
            if let Output::Dispatch(dispatch) = output {
                self.working = dispatch.job;
            }
        }
    }

    /// So many joins, then as many leaves: the time of each kind.
    fn turn(&mut self) -> [std::time::Duration; 2] {
        let begin = Clock::now();
        (0..TURN).for_each(|_| self.join());
        let between = Clock::now();
        (0..TURN).for_each(|_| self.leave());
        [between - begin, between.elapsed()]
    }

    /// One pass: nanoseconds to join and to leave.
    fn pass(&mut self) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for _ in 0..TURNS {
            for (sum, time) in sums.iter_mut().zip(self.turn()) {
                *sum += time.as_nanos() as f64;
            }
        }
        sums.map(|sum| sum / (TURNS * TURN) as f64)
    }
}

fn arrival(n: u64) -> Arrival {
    let chance = mix(n);
    Arrival {
        class: ClassId((chance % 3) as u8),
        deadline: None,
        chance: Chance(chance),
        size: None,
        asked: Asked::default(),
    }
}

/// What joining and leaving cost at each length, best pass of each.
fn best(scenario: &Scenario) -> [Cost; LENGTHS.len()] {
    let mut benches = LENGTHS.map(|length| Bench::new(scenario, length));
    let mut best = [Cost { join: f64::INFINITY, leave: f64::INFINITY }; LENGTHS.len()];
    for _ in 0..PASSES {
        for (bench, best) in benches.iter_mut().zip(&mut best) {
            let [join, leave] = bench.pass();
            *best = Cost { join: best.join.min(join), leave: best.leave.min(leave) };
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::frame::Frame;

    #[test]
    fn a_turn_leaves_the_queue_as_long_as_it_was() {
        let mut bench = Bench::new(&scenario().unwrap(), 50);
        let mut frame = Frame::default();
        for _ in 0..3 {
            bench.turn();
            bench.gateway.frame(Instant::START, &mut frame);
            assert_eq!(frame.stages[0].waiting.iter().sum::<u32>(), 50);
        }
        assert_eq!(frame.classes.iter().map(|class| class.completed).sum::<u64>(), 3 * TURN);
    }
}
