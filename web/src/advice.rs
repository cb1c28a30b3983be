//! What the picture makes obvious once it is too late: settings that work against each other. The editor says it where
//! they are set. Nothing is forbidden by it; a scenario may be about just that.

use crate::draw::PictureModel;
use crate::figures;
use crate::story::{self, mean_s};
use crate::words::fill;
use crate::words::text::Text;
use tidegate_core::scenario::Scenario;
use tidegate_core::scenario::v1::{AgeingV1, BalancerV1, WeightsV1};

/// Reports less often than this many mean requests are said to be late.
const LATE: f64 = 20.0;

/// What is to be said of stage `k`.
#[must_use]
pub fn of_stage(t: &Text, scenario: &Scenario, model: &PictureModel, k: usize) -> Vec<String> {
    let name = |c: usize| scenario.classes.get(c).map_or("", |class| class.name.as_str());
    let conflicts = scenario.ratio_conflicts().into_iter().filter(|found| usize::from(found.stage.0) == k);
    let mut said: Vec<String> = conflicts
        .map(|found| {
            let [longest, from] = [found.longest, found.from].map(|time| figures::wait(time.as_secs_f64()));
            let [class, other] = [found.class, found.other].map(|id| name(usize::from(id.0)));
            fill(t.warn_ratio, &[class, &longest, other, &from])
        })
        .collect();
    said.extend(starved(t, scenario, model, k));
    said
}

/// Whether those above the least urgent class ask for all there is, where the average of each level counts them.
fn starved(t: &Text, scenario: &Scenario, model: &PictureModel, k: usize) -> Option<String> {
    let (spec, view) = (scenario.stages.get(k)?, model.stages.get(k)?);
    if !view.cumulative || matches!(spec.ageing, AgeingV1::Share { .. }) || model.order.len() < 2 {
        return None;
    }
    let &lowest = model.order.last()?;
    let rate = |c: usize| if c == lowest { 0.0 } else { model.classes[c].offered.per_s };
    let above: Vec<f64> = (0..model.classes.len()).map(rate).collect();
    let (part, _) = story::demand(scenario, model, &above).filter(|(part, _)| *part >= 1.0)?;
    let class = scenario.classes.get(lowest)?;
    Some(fill(t.warn_starved, &[&class.name, &figures::percent(part)]))
}

/// What is to be said of the balancer.
#[must_use]
pub fn of_balancer(t: &Text, scenario: &Scenario) -> Option<String> {
    let goes_by = matches!(
        scenario.balancer,
        BalancerV1::Dnf { .. }
            | BalancerV1::DnfPublished { .. }
            | BalancerV1::WeightedRoundRobin { weights: WeightsV1::Reported }
    );
    let period_s = scenario.wire().feedback.clone().unwrap_or_default().period_us as f64 * 1e-6;
    let longest_s = scenario.classes.iter().map(|class| mean_s(&class.service)).fold(0.0, f64::max);
    (goes_by && period_s > LATE * longest_s)
        .then(|| fill(t.warn_period, &[&figures::wait(period_s), &figures::wait(longest_s)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Cast;
    use crate::words::Language;
    use tidegate_core::frame::Frame;
    use tidegate_core::scenario::v1::FeedbackV1;
    use tidegate_core::scenario::{presets, v1};
    use tidegate_core::sim::Simulation;
    use tidegate_core::time::{Duration, Instant};

    fn english() -> &'static Text {
        Language::English.text()
    }

    fn at(scenario: &Scenario, s: f64) -> PictureModel {
        let mut sim = Simulation::new(scenario, 0, None).expect("runs");
        let mut frames = [Frame::default(), Frame::default()];
        for (frame, s) in frames.iter_mut().zip([s - 4.0, s]) {
            sim.run_until(Instant::START + Duration::from_secs_f64(s));
            sim.frame(frame);
        }
        PictureModel::new(&Cast::of(scenario), &frames[0], &frames[1])
    }

    fn preset(name: &str, change: impl Fn(&mut v1::ScenarioV1)) -> Scenario {
        let mut wire = presets::get(name).expect("a preset").scenario().wire().clone();
        change(&mut wire);
        Scenario::check(wire).expect("follows the rules")
    }

    #[test]
    fn a_class_below_a_full_system_is_said_to_starve() {
        let starving = preset("starvation", |_| {});
        let said = of_stage(english(), &starving, &at(&starving, 30.0), 0).join(" ");
        assert!(said.contains("nearly all of Low is turned away"), "{said}");
        let aged = preset("starvation-aged", |_| {});
        assert!(of_stage(english(), &aged, &at(&aged, 30.0), 0).is_empty(), "a share is kept for it");
    }

    #[test]
    fn a_wait_that_is_cut_short_of_its_ratio_is_told() {
        let cut = preset("pdd-two-class", |s| s.classes[1].deadline_us = Some(1_500_000));
        let plain = preset("pdd-two-class", |_| {});
        let said = of_stage(english(), &cut, &at(&cut, 30.0), 0).join(" ");
        assert!(said.starts_with("Silver cannot wait longer than 1.50 s here"), "{said}");
        assert!(of_stage(english(), &plain, &at(&plain, 30.0), 0).is_empty());
    }

    #[test]
    fn reports_that_come_long_after_the_requests_are_told() {
        let every = |us| {
            preset("slow-backend", move |s| {
                s.feedback = Some(FeedbackV1 { period_us: us, ..FeedbackV1::default() });
            })
        };
        let said = of_balancer(english(), &every(10_000_000)).unwrap_or_default();
        assert!(said.starts_with("A report each 10"), "{said}");
        assert_eq!(of_balancer(english(), &every(100_000)), None);
        assert_eq!(of_balancer(english(), &preset("red5-dnf", |_| {})), None, "sessions last longer");
        assert_eq!(of_balancer(english(), &preset("flash-crowd", |_| {})), None, "no reports");
    }
}
