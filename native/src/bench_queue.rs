//! `tidegate bench-queue`: what one request more costs a stage whose queue is already long.
//!
//! One worker, three priority levels, priority RED whose limits are out of reach. Each round one request joins the queue
//! and one leaves it for the worker, so its length stays what it is. `cargo xtask bench queue` prints the table.

use std::hint::black_box;
use std::time::Instant as Clock;

use serde_json::json;
use tidegate_core::gateway::{Arrival, Gateway, Outcome, Output};
use tidegate_core::id::{ClassId, JobId};
use tidegate_core::scenario::{Parsed, Scenario, parse_json};
use tidegate_core::time::Instant;
use tidegate_core::unit::{Chance, mix};

use crate::cli::BenchQueueArgs;
use crate::output;
use crate::text::grouped;

/// Lengths of the queue that are compared.
const LENGTHS: [u64; 4] = [1_000, 10_000, 100_000, 999_000];
/// Rounds of one pass.
const ROUNDS: u64 = 400_000;

/// Measures and prints.
///
/// # Errors
/// Never but for printing.
pub(crate) fn run(args: &BenchQueueArgs) -> anyhow::Result<()> {
    let scenario = scenario()?;
    let rows: Vec<(u64, f64)> = LENGTHS.iter().map(|&length| (length, best_ns(&scenario, length))).collect();
    let ratio = rows[rows.len() - 1].1 / rows[0].1;
    output::print(&if args.json {
        let rows: Vec<_> = rows.iter().map(|(n, ns)| json!({ "waiting": n, "ns_per_round": ns })).collect();
        format!("{:#}\n", json!({ "policy": "priority_red", "rounds": rows, "longest_to_shortest": ratio }))
    } else {
        let line = |(n, ns): &(u64, f64)| {
            format!("{:>9} waiting  {ns:>7.1} ns to join and to leave\n", grouped(*n as f64))
        };
        let lines: String = rows.iter().map(line).collect();
        format!("priority RED, three levels, best of five passes\n{lines}longest to shortest: {ratio:.2}\n")
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

    /// One joins, one leaves.
    fn round(&mut self) {
        let now = Instant::from_nanos(self.n * 1_000);
        let _ = black_box(self.gateway.arrive(now, arrival(self.n)));
        black_box(self.gateway.done(now, self.working, Outcome::Completed));
        while let Some(output) = self.gateway.poll(now) {
            if let Output::Dispatch(dispatch) = output {
                self.working = dispatch.job;
            }
        }
        self.n += 1;
    }
}

fn arrival(n: u64) -> Arrival {
    let chance = mix(n);
    Arrival { class: ClassId((chance % 3) as u8), deadline: None, chance: Chance(chance), size: None }
}

/// Nanoseconds a round, best of five passes.
fn best_ns(scenario: &Scenario, length: u64) -> f64 {
    let mut bench = Bench::new(scenario, length);
    let mut pass = || {
        let begin = Clock::now();
        (0..ROUNDS).for_each(|_| bench.round());
        begin.elapsed().as_nanos() as f64 / ROUNDS as f64
    };
    (0..5).map(|_| pass()).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::frame::Frame;

    #[test]
    fn a_round_leaves_the_queue_as_long_as_it_was() {
        let mut bench = Bench::new(&scenario().unwrap(), 50);
        let mut frame = Frame::default();
        for _ in 0..200 {
            bench.round();
            bench.gateway.frame(Instant::START, &mut frame);
            assert_eq!(frame.stages[0].waiting.iter().sum::<u32>(), 50);
        }
        assert_eq!(frame.classes.iter().map(|class| class.completed).sum::<u64>(), 200);
    }
}
