//! Logs and traces as the page knows them. The module reads the file (`www/module/run.js`), the workers play its rows;
//! the page has its name and what is told of it.

use tidegate_core::import::Summary;
use tidegate_core::json;

/// What a log or trace file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogRead {
    /// Name of the file.
    pub name: String,
    /// What is told of it.
    pub told: Summary,
}

impl LogRead {
    /// What the module says of a file; `None` if it is no [`Summary`], from a module of another version, say.
    #[must_use]
    pub fn new(name: String, json: &str) -> Option<Self> {
        let told = Summary::from_json(&json::read(json).ok()?)?;
        Some(Self { name, told })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, Output};
    use crate::protocol::{Answer, Order};
    use tidegate_core::import::{Options, flat, parse_trace};
    use tidegate_core::scenario::presets;
    use tidegate_core::sim::Simulation;

    const TABLE: &str = "t_s,class,service_s\n0.5,a,0.01\n0.75,b,0.02\n1.25,a,0.5\n";

    #[test]
    fn what_is_told_of_a_file_is_heard() {
        let trace = parse_trace(TABLE.as_bytes(), &Options::to_play()).expect("a table");
        let told = Summary::of(&trace);
        let read = LogRead::new("a.csv".into(), &told.to_json().to_string());
        assert_eq!(read, Some(LogRead { name: "a.csv".into(), told }));
        assert_eq!(LogRead::new("a.csv".into(), "{}"), None);
    }

    /// Runs the scenario that replays a trace with the rows in `bytes`.
    fn replayed(bytes: &[u8]) -> Vec<Output> {
        let scenario = presets::get("trace-replay").expect("a preset").json().to_owned();
        let (mut engine, mut out) = (Engine::default(), Vec::new());
        engine.take_rows(bytes);
        engine.take(Order::Load { run: 1, scenario, at_s: 0.0, with_log: true }, &mut out);
        while engine.work(|| true, &mut out) {}
        out
    }

    #[test]
    fn rows_from_elsewhere_are_played_as_the_trace_is() {
        let trace = parse_trace(TABLE.as_bytes(), &Options::to_play()).expect("a table");
        let scenario = presets::get("trace-replay").expect("a preset").scenario();
        let mut plain = Simulation::new(&scenario, 0, Some((&trace.rows, &trace.labels))).expect("runs");
        plain.run_to_end();
        let out = replayed(&flat::encode(&trace.rows, &trace.labels));
        let done = out.iter().find_map(|output| match output {
            Output::Answer(Answer::Done { hash, .. }) => Some(*hash),
            _ => None,
        });
        assert_eq!(done, Some(plain.trace_hash()));
    }

    #[test]
    fn what_is_no_rows_is_not_played() {
        let out = replayed(TABLE.as_bytes());
        assert!(matches!(out[..], [Output::Answer(Answer::Refused { run: 1, .. })]), "{out:?}");
    }
}
