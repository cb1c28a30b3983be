//! `tidegate bench-sim`: how many events a second the simulator does here, on one thread with statistics on.
//!
//! Beside it a bare two-clock M/M/1 loop, the least that any simulator has to do: two exponential draws and a counter
//! per pair of events, no calendar, no classes, no statistics. `cargo xtask bench sim` prints both.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::json;
use tidegate_core::scenario::Scenario;
use tidegate_core::sim::{ENGINE, Simulation};
use tidegate_core::unit::{Draw, mix};

use crate::cli::BenchSimArgs;
use crate::text::grouped;
use crate::{output, source};

/// Events of one pass of the bare loop.
const BARE_EVENTS: u64 = 2_000_000;
/// Fewest passes, however slow the machine.
const PASSES: usize = 3;

/// What repeated passes came to, in events a second.
struct Rate {
    passes: usize,
    events: u64,
    best: f64,
    median: f64,
}

/// Measures and prints.
///
/// # Errors
/// A scenario that cannot be run.
pub(crate) fn run(args: &BenchSimArgs) -> anyhow::Result<()> {
    let scenario = source::checked(Ok(source::load(&args.scenario)?))?;
    let time = Duration::try_from_secs_f64(args.seconds.clamp(0.01, 600.0))?;
    // Fails here, once, if it fails at all.
    let hash = simulate(&scenario)?.1;
    let full = measure(time, || simulate(&scenario).map_or(0, |(events, _)| events));
    let bare = measure(time, || black_box(two_clocks(black_box(BARE_EVENTS))));
    output::print(&if args.json {
        let value = json!({
            "scenario": args.scenario,
            "engine": ENGINE,
            "trace_hash": format!("{hash:016x}"),
            "events": full.events,
            "runs": full.passes,
            "best_events_per_s": full.best,
            "median_events_per_s": full.median,
            "bare_mm1": {
                "events": bare.events,
                "runs": bare.passes,
                "best_events_per_s": bare.best,
                "median_events_per_s": bare.median,
            },
        });
        format!("{value:#}\n")
    } else {
        let line = |what: &str, rate: &Rate| {
            let (best, median) = (grouped(rate.best), grouped(rate.median));
            format!("{what:<28} best {best:>12} events/s, median {median:>12} of {} runs\n", rate.passes)
        };
        line(&args.scenario, &full) + &line("bare two-clock M/M/1 loop", &bare)
    })
}

fn simulate(scenario: &Scenario) -> anyhow::Result<(u64, u64)> {
    let mut simulation = Simulation::new(scenario, 0, None)?;
    black_box(simulation.finish());
    Ok((simulation.events(), simulation.trace_hash()))
}

/// Repeats `pass`, which says how many events it did, for about `time`.
fn measure(time: Duration, mut pass: impl FnMut() -> u64) -> Rate {
    let start = Instant::now();
    let mut rates = Vec::new();
    let mut events = 0;
    while rates.len() < PASSES || start.elapsed() < time {
        let begin = Instant::now();
        events = pass();
        rates.push(events as f64 / begin.elapsed().as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    Rate { passes: rates.len(), events, best: rates[rates.len() - 1], median: rates[rates.len() / 2] }
}

/// An M/M/1 queue at load 0.8 for `events` arrivals and departures; the number of those done.
fn two_clocks(events: u64) -> u64 {
    let mut state = 1;
    let mut exponential = |mean: f64| {
        state += 1;
        -mean * (1.0 - Draw::from_bits(mix(state)).get()).ln()
    };
    let (mut arrival, mut departure) = (exponential(1.0 / 0.8), f64::INFINITY);
    let (mut in_system, mut done) = (0_u64, 0);
    while done < events {
        if arrival <= departure {
            in_system += 1;
            if in_system == 1 {
                departure = arrival + exponential(1.0);
            }
            arrival += exponential(1.0 / 0.8);
        } else {
            in_system -= 1;
            departure = if in_system > 0 { departure + exponential(1.0) } else { f64::INFINITY };
        }
        done += 1;
    }
    black_box(in_system);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bare_loop_does_what_it_counts() {
        assert_eq!(two_clocks(1_000), 1_000);
    }
}
