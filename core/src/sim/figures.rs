//! The figures of one finished run, as two scenarios are compared by them.

use super::RunResult;
use crate::compare::{Figure, figures_of, reference_class};
use crate::measure::Histogram;
use crate::scenario::Scenario;
use alloc::vec::Vec;

impl RunResult {
    /// All numbers of [`figures_of`] this scenario, one after the other, of the measured part; NaN where a run has
    /// nothing to say.
    ///
    /// # Panics
    /// If the run is of another scenario.
    #[must_use]
    pub fn figures(&self, scenario: &Scenario) -> Vec<f64> {
        let window_s = self.horizon.as_secs_f64() - self.warmup.as_secs_f64();
        let mut response = Histogram::new();
        self.classes.iter().for_each(|class| response.merge(&class.response));
        let waits = self.proportional_waits(scenario);
        let mut out = Vec::new();
        let (mut at, mut last) = (0, None);
        for key in figures_of(scenario) {
            // Keys of one thing follow each other.
            let place = (key.figure.scope(), key.name.clone());
            at = match &last {
                Some(before) if *before == place => at,
                Some((scope, _)) if *scope == place.0 => at + 1,
                _ => 0,
            };
            last = Some(place);
            self.push(&mut out, key.figure, at, &waits, &response, window_s, reference_class(scenario));
        }
        out
    }

    #[allow(clippy::too_many_arguments, reason = "one table; the caller knows all of it once a run")]
    fn push(
        &self,
        out: &mut Vec<f64>,
        figure: Figure,
        at: usize,
        waits: &[f64],
        whole: &Histogram,
        window_s: f64,
        reference: usize,
    ) {
        let sum = |of: fn(&super::ClassResult) -> u64| self.classes.iter().map(of).sum::<u64>() as f64;
        let class = || &self.classes[at];
        let known = |time: Option<f64>| time.unwrap_or(f64::NAN);
        let wait = |q: f64| known(class().wait.quantile_s(q));
        let response = |q: f64| known(class().response.quantile_s(q));
        let last = match figure {
            Figure::Goodput => sum(|class| class.measured_good) / window_s,
            Figure::TurnedAway => {
                out.push(sum(|class| class.measured_shed));
                sum(|class| class.measured_arrived)
            }
            Figure::ResponseMean => known(whole.mean_s()),
            Figure::ResponseP99 => known(whole.quantile_s(0.99)),
            Figure::OffTarget => return out.extend_from_slice(waits),
            Figure::ServerSpread => {
                let busy = || self.servers.iter().map(|server| server.utilisation);
                busy().fold(0.0, f64::max) - busy().fold(f64::INFINITY, f64::min)
            }
            Figure::ClassWaitMean => known(class().wait.mean_s()),
            Figure::ClassWaitP50 => wait(0.5),
            Figure::ClassWaitP95 => wait(0.95),
            Figure::ClassWaitP99 => wait(0.99),
            Figure::ClassResponseMean => known(class().response.mean_s()),
            Figure::ClassResponseP50 => response(0.5),
            Figure::ClassResponseP95 => response(0.95),
            Figure::ClassResponseP99 => response(0.99),
            Figure::ClassGoodput => class().measured_good as f64 / window_s,
            Figure::ClassTurnedAway => {
                out.push(class().measured_shed as f64);
                class().measured_arrived as f64
            }
            Figure::ClassWaitRatio => {
                out.push(waits[at]);
                waits[reference]
            }
            Figure::StageBusy => self.stages[at].utilisation,
            Figure::ServerBusy => self.servers[at].utilisation,
            Figure::ServerShare => self.servers[at].share,
        };
        out.push(last);
    }

    /// Mean waits over their weights, by class: where the stage whose delays are compared says them, there; else in
    /// all queues.
    fn proportional_waits(&self, scenario: &Scenario) -> Vec<f64> {
        let at_stage = self.stages.iter().find_map(|stage| stage.proportion.as_ref()?.delay_s.as_ref());
        let wait = |at: usize| match at_stage {
            Some(delays) => delays[at],
            None => self.classes[at].wait.mean_s().unwrap_or(f64::NAN),
        };
        scenario.classes.iter().enumerate().map(|(at, class)| wait(at) / class.delay_weight.get()).collect()
    }
}

#[cfg(test)]
mod tests;
