//! Pairs of runs for a comparison, worked off in slices: the side of the worker, tested on the host.

use crate::engine::{Output, advance, simulation};
use crate::protocol::{Answer, Pair};
use tidegate_core::import::flat::Rows;
use tidegate_core::scenario::{Parsed, Scenario, parse};
use tidegate_core::sim::Simulation;
use tidegate_core::time::Instant;

/// Two scenarios, and the pair of runs that is being made.
#[derive(Debug)]
pub(crate) struct Trial {
    /// Which comparison.
    pub(crate) job: u32,
    both: [Scenario; 2],
    with_log: bool,
    replication: Option<u32>,
    present: Option<Simulation>,
    a: Option<Vec<f64>>,
}

impl Trial {
    /// Two scenarios to be run in pairs; `None` for no text at all, which ends what is going on.
    pub(crate) fn new(job: u32, texts: [&str; 2], with_log: bool) -> Result<Option<Self>, String> {
        if texts[0].is_empty() {
            return Ok(None);
        }
        let read = |text| parse::parse_json(text).and_then(Parsed::check).map_err(|e| e.to_string());
        let both = [read(texts[0])?, read(texts[1])?];
        Ok(Some(Self { job, both, with_log, replication: None, present: None, a: None }))
    }

    /// Begins a pair.
    pub(crate) fn begin(&mut self, replication: u32) {
        (self.replication, self.present, self.a) = (Some(replication), None, None);
    }

    /// Works while there is time. Returns whether something is left to do.
    pub(crate) fn work(
        &mut self,
        log: Option<&Rows>,
        more_time: &mut impl FnMut() -> bool,
        out: &mut Vec<Output>,
    ) -> bool {
        while let Some(replication) = self.replication {
            let scenario = &self.both[usize::from(self.a.is_some())];
            let begun = match self.present.take() {
                Some(present) => Ok(present),
                None => simulation(scenario, replication, log.filter(|_| self.with_log)),
            };
            let mut run = match begun {
                Ok(run) => run,
                Err(reason) => {
                    self.replication = None;
                    out.push(Output::Answer(Answer::Refused { run: self.job, reason }));
                    return false;
                }
            };
            if !advance(&mut run, Instant::START + scenario.horizon, more_time) {
                self.present = Some(run);
                return true;
            }
            let figures = run.finish().figures(scenario);
            match self.a.take() {
                None => self.a = Some(figures),
                Some(a) => {
                    self.replication = None;
                    out.push(Output::Numbers(Pair { job: self.job, replication, a, b: figures }.encode()));
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::protocol::{Numbers, Order};
    use tidegate_core::compare::Comparison;
    use tidegate_core::scenario::presets;

    const BOTH: [&str; 2] = ["strict-starvation", "starvation"];

    fn scenarios() -> [Scenario; 2] {
        BOTH.map(|name| presets::get(name).expect("a preset").scenario())
    }

    fn pairs(order: &[u32], mut slices: impl FnMut() -> bool) -> Comparison {
        let [a, b] = BOTH.map(|name| presets::get(name).expect("a preset").json().to_owned());
        let [of_a, of_b] = scenarios();
        let mut comparison = Comparison::new(&of_a, &of_b);
        let (mut engine, mut out) = (Engine::default(), Vec::new());
        engine.take(Order::Both { job: 7, a, b, with_log: false }, &mut out);
        for &replication in order {
            engine.take(Order::Pair { job: 7, replication }, &mut out);
            while engine.work(&mut slices, &mut out) {}
        }
        for output in out {
            let Output::Numbers(list) = output else { panic!("{output:?}") };
            let Ok(Numbers::Pair(pair)) = Numbers::decode(&list) else { panic!("no pair") };
            assert!(pair.job == 7 && comparison.add(pair.replication, &pair.a, &pair.b));
        }
        comparison
    }

    #[test]
    fn slices_and_order_change_nothing_and_runs_are_those_of_the_core() {
        let mut looks = 0;
        let sliced = pairs(&[1, 0], || {
            looks += 1;
            looks % 3 != 0
        });
        let whole = pairs(&[0, 1], || true);
        assert!(looks > 20, "{looks} looks at the clock");
        let [a, b] = scenarios();
        let mut plain = Comparison::new(&a, &b);
        for r in 0..2 {
            let run = |s: &Scenario| Simulation::new(s, r, None).expect("runs").finish().figures(s);
            plain.add(r, &run(&a), &run(&b));
        }
        let shown = |comparison: &Comparison| format!("{:?}", comparison.rows());
        assert_eq!(shown(&sliced), shown(&plain));
        assert_eq!(shown(&whole), shown(&plain));
    }

    #[test]
    fn another_comparison_or_none_ends_what_is_going_on() {
        let json = presets::get("mm1").expect("a preset").json();
        let (mut engine, mut out) = (Engine::default(), Vec::new());
        let both =
            |job: u32, text: &str| Order::Both { job, a: text.into(), b: text.into(), with_log: false };
        engine.take(both(1, json), &mut out);
        engine.take(Order::Pair { job: 1, replication: 0 }, &mut out);
        assert!(engine.work(|| false, &mut out), "a slice is not enough");
        engine.take(both(2, ""), &mut out);
        assert!(!engine.work(|| true, &mut out) && out.is_empty());
        engine.take(Order::Pair { job: 1, replication: 0 }, &mut out);
        assert!(!engine.work(|| true, &mut out) && out.is_empty());
        engine.take(both(3, "{}"), &mut out);
        assert!(matches!(out[..], [Output::Answer(Answer::Refused { run: 3, .. })]));
    }
}
