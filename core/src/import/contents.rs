//! What a recording holds, and the classes that it suggests.

use super::Trace;
use crate::scenario::v1::{ClassV1, LawV1, LoadV1, ScenarioV1};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Most classes that are suggested.
const MOST_CLASSES: usize = 4;
/// Longest run, in microseconds: a week.
const LONGEST_US: u64 = 7 * 86_400 * 1_000_000;

/// What a recording holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Labels and how many rows bear each, the most frequent first.
    pub labels: Vec<(String, u64)>,
    /// Time from the start to the last arrival, in seconds.
    pub span_s: f64,
    /// Rows with a recorded service time.
    pub timed: u64,
    /// Mean of the recorded service times, in seconds; 0 if there are none.
    pub mean_service_s: f64,
}

impl Contents {
    /// Counts what is in a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let mut counts: Vec<u64> = trace.labels.iter().map(|_| 0).collect();
        let (mut timed, mut sum_s) = (0_u64, 0.0);
        for row in &trace.rows {
            if let Some(count) = counts.get_mut(usize::from(row.label)) {
                *count += 1;
            }
            if let Some(service) = row.service {
                timed += 1;
                sum_s += service.as_secs_f64();
            }
        }
        let mut labels: Vec<(String, u64)> = trace.labels.iter().cloned().zip(counts).collect();
        // By insertion: there are 4,096 labels at most, and mostly few.
        for end in 1..labels.len() {
            let to = labels[..end].partition_point(|before| before.1 >= labels[end].1);
            labels[to..=end].rotate_right(1);
        }
        Self {
            labels,
            span_s: trace.rows.last().map_or(0.0, |row| row.at.as_secs_f64()),
            timed,
            mean_service_s: if timed > 0 { sum_s / timed as f64 } else { 0.0 },
        }
    }

    /// Whether a scenario asks for recorded traffic alone, and for no label that is not here: it can play this as it is.
    #[must_use]
    pub fn fits(&self, scenario: &ScenarioV1) -> bool {
        scenario.classes.iter().all(|class| match &class.load {
            LoadV1::Trace { label } => label == "*" || self.labels.iter().any(|(known, _)| known == label),
            _ => false,
        })
    }

    /// Plays the recording through a scenario: the most frequent labels become classes, the rest one class called
    /// `others`. Names, priorities and rules of present classes whose name is a label stay; stages and servers stay. The
    /// run is as long as the recording, and its planned events go.
    pub fn play(&self, scenario: &mut ScenarioV1, others: &str) {
        let own = if self.labels.len() > MOST_CLASSES { MOST_CLASSES - 1 } else { self.labels.len() };
        let (own, rest) = self.labels.split_at(own);
        let service = match scenario.classes.first() {
            _ if self.mean_service_s > 0.0 => LawV1::Exponential { mean_us: us(self.mean_service_s).max(1) },
            Some(class) => class.service.clone(),
            None => LawV1::Exponential { mean_us: 10_000 },
        };
        let count = own.len() + usize::from(!rest.is_empty());
        let mut classes: Vec<ClassV1> = Vec::with_capacity(count);
        let named = own.iter().map(|(label, _)| (label.as_str(), label.as_str()));
        let all = named.chain((!rest.is_empty()).then_some((others, "*")));
        for (at, (name, label)) in all.enumerate() {
            let name = name_of(if name.is_empty() { others } else { name }, &classes);
            let known = scenario.classes.iter().find(|class| class.name == name).cloned();
            let fresh = known.is_none();
            let mut class = known.unwrap_or_default();
            if fresh {
                class.priority = (count - 1 - at).min(15) as u8;
                class.service = service.clone();
            }
            class.load = LoadV1::Trace { label: label.to_owned() };
            class.name = name;
            classes.push(class);
        }
        scenario.classes = classes;
        scenario.stages.iter_mut().for_each(|stage| stage.split.clear());
        scenario.events.clear();
        // Up to the whole second after the last arrival.
        scenario.run.horizon_us = ((us(self.span_s) / 1_000_000 + 1) * 1_000_000).min(LONGEST_US);
        scenario.run.warmup_us = None;
    }
}

fn us(s: f64) -> u64 {
    libm::round(s.max(0.0) * 1e6) as u64
}

/// A class name of a label: not too long, and none that is taken.
fn name_of(label: &str, taken: &[ClassV1]) -> String {
    let is_taken = |name: &str| taken.iter().any(|class| class.name == name);
    let name: String = label.chars().take(40).collect();
    if !is_taken(&name) {
        return name;
    }
    (taken.len() + 1..).map(|n| format!("Class {n}")).find(|name| !is_taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Options, parse_trace};
    use crate::scenario::{Scenario, presets};

    fn wire(preset: &str) -> ScenarioV1 {
        presets::get(preset).expect("a preset").scenario().wire().clone()
    }

    #[test]
    fn a_trace_is_counted() {
        let text = b"t_s,class,service_s\n0,b,0.1\n1,a,0.3\n2,a,\n";
        let contents = Contents::of(&parse_trace(text, &Options::default()).expect("a table"));
        assert_eq!(contents.labels, [("a".into(), 2), ("b".into(), 1)]);
        assert_eq!((contents.span_s, contents.timed, contents.mean_service_s), (2.0, 2, 0.2));
    }

    #[test]
    fn many_labels_become_few_classes() {
        let mut scenario = wire("flash-crowd");
        let labels = (0..9).map(|i| (format!("/part/{i}"), 100 - i)).collect();
        let contents = Contents { labels, span_s: 300.0, ..Contents::default() };
        assert!(!contents.fits(&scenario));
        contents.play(&mut scenario, "others");
        assert!(Scenario::check(scenario.clone()).is_ok());
        assert_eq!(scenario.classes.len(), 4);
        assert_eq!(scenario.classes[3].load, LoadV1::Trace { label: "*".into() });
        assert_eq!(scenario.run.horizon_us, 301_000_000);
        assert!(contents.fits(&scenario));
    }

    #[test]
    fn a_class_of_a_labels_name_keeps_what_it_is() {
        let mut scenario = wire("flash-crowd");
        let name = scenario.classes[0].name.clone();
        let (weight, before) = (scenario.classes[0].delay_weight, scenario.classes[0].clone());
        let labels = alloc::vec![("other".into(), 5), (name.clone(), 3)];
        let contents = Contents { labels, span_s: 3.0, mean_service_s: 0.2, ..Contents::default() };
        contents.play(&mut scenario, "others");
        let class = scenario.classes.iter().find(|class| class.name == name).expect("the class");
        assert_eq!((class.delay_weight, class.priority), (weight, before.priority));
        assert_eq!(class.service, before.service);
        assert_eq!(scenario.classes[0].service, LawV1::Exponential { mean_us: 200_000 });
    }
}
