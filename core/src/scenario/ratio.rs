//! Whether the waits that a scenario allows leave room for the ratio it asks for.
//!
//! A stage that shares the delay out by weight lets a class of weight 4 wait four times as long as one of weight 1. A
//! deadline or an ageing rule may cut that wait short before the other class has reached its own limit. From then on
//! the ratio cannot be held, and a controller that goes by the waits would give the class ever fewer workers, as its
//! wait no longer grows. Limits in proportion to the weights are in nobody's way.

use super::v1::{AgeingV1, ExpiredV1};
use super::{Class, Scenario, StageSpec};
use crate::id::{ClassId, StageId};
use crate::time::Duration;
use alloc::vec::Vec;

/// What ends a wait before its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitLimit {
    /// The class's deadline.
    Deadline,
    /// The stage's ageing rule.
    Ageing,
}

/// A class whose wait is cut short while another's may still grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioConflict {
    /// Where.
    pub stage: StageId,
    /// Whose wait is cut short.
    pub class: ClassId,
    /// After how long.
    pub longest: Duration,
    /// By what.
    pub by: WaitLimit,
    /// The class that may wait longest for its weight.
    pub other: ClassId,
    /// Once that class waits so long, the ratio asks for more than `longest`.
    pub from: Duration,
}

impl StageSpec {
    /// How long a request of a class can wait here before it is turned away or gets ahead, and what by; `None` if as
    /// long as it takes.
    #[must_use]
    pub fn longest_wait(&self, class: &Class) -> Option<(Duration, WaitLimit)> {
        let deadline = class.deadline.filter(|_| self.expired == ExpiredV1::Shed);
        let above = u64::from(self.levels.saturating_sub(1).saturating_sub(class.priority.0));
        let ageing = match &self.ageing {
            AgeingV1::None => None,
            AgeingV1::Promote { after_us } => {
                after_us.get(usize::from(class.priority.0)).or(after_us.last()).copied()
            }
            AgeingV1::Share { after_us, .. } => Some(after_us.saturating_mul(above)),
        };
        // Nothing is above the most urgent.
        let ageing = ageing.filter(|_| above > 0).map(Duration::from_micros);
        let limits = [(deadline, WaitLimit::Deadline), (ageing, WaitLimit::Ageing)];
        limits.into_iter().filter_map(|(limit, by)| Some((limit?, by))).min_by_key(|&(limit, _)| limit)
    }
}

impl Scenario {
    /// Every class of a stage that is to hold a ratio whose wait is cut short before that of another, by stage and class.
    #[must_use]
    pub fn ratio_conflicts(&self) -> Vec<RatioConflict> {
        let stages = (0..).map(StageId).zip(&self.stages).filter(|(_, stage)| stage.keeps_proportion());
        stages.flat_map(|(id, stage)| self.conflicts_at(id, stage)).collect()
    }

    fn conflicts_at(&self, id: StageId, stage: &StageSpec) -> Vec<RatioConflict> {
        // What a class of weight 1 waits when each class reaches its limit.
        let reach = |class: &Class| {
            let longest = stage.longest_wait(class).map_or(f64::INFINITY, |(limit, _)| limit.as_secs_f64());
            longest / class.delay_weight.get()
        };
        let classes = || (0..).map(ClassId).zip(&self.classes);
        let Some((other, widest)) = classes().max_by(|(_, a), (_, b)| reach(a).total_cmp(&reach(b))) else {
            return Vec::new();
        };
        // Equal in proportion but for the last bit is equal.
        let short = |class: &Class| reach(class) < reach(widest) * (1.0 - 1e-9);
        classes()
            .filter(|(_, class)| short(class))
            .filter_map(|(id_of, class)| {
                let (longest, by) = stage.longest_wait(class)?;
                let from = Duration::from_secs_f64(reach(class) * widest.delay_weight.get());
                Some(RatioConflict { stage: id, class: id_of, longest, by, other, from })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_json;
    use super::*;
    use alloc::format;
    use alloc::string::String;

    /// Conflicts of two classes of weights 1 and 4 at one stage of 8 workers: class, longest and from, in milliseconds.
    #[track_caller]
    fn check(high: &str, low: &str, stage: &str, want: &[(u8, u64, u64)]) {
        let text = format!(
            r#"{{"tidegate":1,"classes":[{{"name":"high"{high}}},{{"name":"low","delay_weight":4{low}}}],
            "stages":[{{"name":"serve","workers":8,"work":{{"at":"stage","service":{{"law":"constant",
            "mean_us":1000}}}}{stage}}}]}}"#
        );
        let scenario = parse_json(&text).unwrap().check().unwrap();
        let ms = |time: Duration| time.as_nanos() / 1_000_000;
        let got: Vec<_> = scenario
            .ratio_conflicts()
            .iter()
            .map(|found| (found.class.0, ms(found.longest), ms(found.from)))
            .collect();
        assert_eq!(got, want, "high{high}, low{low}, stage{stage}");
    }

    const LEAD: &str = r#","split_by":{"policy":"stc_lead"}"#;

    fn deadline(ms: u64) -> String {
        format!(r#","deadline_us":{}"#, ms * 1_000)
    }

    #[test]
    fn a_deadline_that_cuts_a_wait_before_that_of_another_is_in_the_way() {
        check("", "", LEAD, &[]);
        check("", &deadline(2_000), LEAD, &[(1, 2_000, 500)]);
        check(&deadline(1_000), "", LEAD, &[(0, 1_000, 4_000)]);
        check(&deadline(1_000), &deadline(2_000), LEAD, &[(1, 2_000, 500)]);
        check(&deadline(1_000), &deadline(4_000), LEAD, &[]);
        check("", &deadline(2_000), r#","order":"wtp""#, &[(1, 2_000, 500)]);
    }

    #[test]
    fn where_nobody_is_cut_short_or_no_ratio_is_asked_for_there_is_no_conflict() {
        check("", &deadline(2_000), "", &[]);
        check("", &deadline(2_000), &format!(r#"{LEAD},"expired":"serve""#), &[]);
    }

    #[test]
    fn ageing_counts_for_those_with_somebody_above_them() {
        let share = format!(r#"{LEAD},"ageing":{{"rule":"share","after_us":300000}}"#);
        check("", "", &share, &[]);
        check(r#","priority":2"#, "", &share, &[(1, 600, 150)]);
        let promote = format!(r#"{LEAD},"ageing":{{"rule":"promote","after_us":[400000,300000]}}"#);
        check(r#","priority":1"#, "", &promote, &[(1, 400, 100)]);
        check(r#","priority":1"#, &deadline(200), &promote, &[(1, 200, 50)]);
    }
}
