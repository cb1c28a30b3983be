//! The figures that two scenarios are compared by: a closed list, each with its unit and what is good about it.
//!
//! A figure is made of one or more parts a run ([`Shape`]), so that ratios of means are ratios of means over all runs
//! and not means of ratios, which are biased.

use crate::measure::figure::Unit;
use crate::scenario::Scenario;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Everything.
    Whole,
    /// One class.
    Class,
    /// One stage.
    Stage,
    /// One server.
    Server,
}

impl Scope {
    /// Stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Class => "class",
            Self::Stage => "stage",
            Self::Server => "server",
        }
    }
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less.
    Less,
    /// More.
    More,
    /// Neither: it says how things are, not how good.
    Neither,
}

/// How a figure comes from the means of its parts over all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// It is the one part.
    Mean,
    /// The first part over the second.
    Ratio,
    /// The largest part over the smallest, less 1: a part a class.
    Spread,
}

impl Shape {
    /// The figure of these means; NaN where there is none.
    #[must_use]
    pub fn of(self, means: &[f64]) -> f64 {
        match (self, means) {
            (Self::Mean, &[mean]) => mean,
            // Nothing over nothing is nothing: nobody of those who did not come was turned away.
            (Self::Ratio, &[0.0, 0.0]) => 0.0,
            (Self::Ratio, &[top, bottom]) => top / bottom,
            (Self::Spread, parts) if parts.len() > 1 => {
                let most = parts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let least = parts.iter().copied().fold(f64::INFINITY, f64::min);
                if parts.iter().any(|part| part.is_nan()) { f64::NAN } else { most / least - 1.0 }
            }
            _ => f64::NAN,
        }
    }
}

macro_rules! figures {
    ($($(#[doc = $about:literal])+ $name:ident = $id:literal, $scope:ident, $shape:ident, $unit:ident, $better:ident;)*) => {
        /// One of the figures.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Figure {
            $($(#[doc = $about])+ $name,)*
        }

        impl Figure {
            /// All of them, in the order in which they are told.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            const fn definition(self) -> (&'static str, Scope, Shape, Unit, Better) {
                match self {
                    $(Self::$name => ($id, Scope::$scope, Shape::$shape, Unit::$unit, Better::$better),)*
                }
            }
        }
    };
}

figures! {
    /// Answers within their deadline, a second.
    Goodput = "goodput", Whole, Mean, PerSecond, More;
    /// Part of the requests that asked that was turned away.
    TurnedAway = "turned_away", Whole, Ratio, Share, Less;
    /// Mean time from arrival to answer.
    ResponseMean = "response", Whole, Mean, Seconds, Less;
    /// 99 % of the answers took no longer.
    ResponseP99 = "response_p99", Whole, Mean, Seconds, Less;
    /// How far the waits of the classes are from their proportions: the largest over its weight, over the smallest,
    /// less 1.
    OffTarget = "off_target", Whole, Spread, Share, Less;
    /// Part of the time in use at the busiest server, less that at the least busy.
    ServerSpread = "server_spread", Whole, Mean, Share, Less;
    /// Mean time in queues.
    ClassWaitMean = "class_wait", Class, Mean, Seconds, Less;
    /// Half of the answers waited no longer.
    ClassWaitP50 = "class_wait_p50", Class, Mean, Seconds, Less;
    /// 95 % of the answers waited no longer.
    ClassWaitP95 = "class_wait_p95", Class, Mean, Seconds, Less;
    /// 99 % of the answers waited no longer.
    ClassWaitP99 = "class_wait_p99", Class, Mean, Seconds, Less;
    /// Mean time from arrival to answer.
    ClassResponseMean = "class_response", Class, Mean, Seconds, Less;
    /// Half of the answers took no longer.
    ClassResponseP50 = "class_response_p50", Class, Mean, Seconds, Less;
    /// 95 % of the answers took no longer.
    ClassResponseP95 = "class_response_p95", Class, Mean, Seconds, Less;
    /// 99 % of the answers took no longer.
    ClassResponseP99 = "class_response_p99", Class, Mean, Seconds, Less;
    /// Answers within their deadline, a second.
    ClassGoodput = "class_goodput", Class, Mean, PerSecond, More;
    /// Part of the requests that asked that was turned away.
    ClassTurnedAway = "class_turned_away", Class, Ratio, Share, Less;
    /// Mean wait over its weight, over the same of the class with the smallest weight: 1 is on target.
    ClassWaitRatio = "class_wait_ratio", Class, Ratio, Plain, Neither;
    /// Part of the workers' time in use.
    StageBusy = "stage_busy", Stage, Mean, Share, Neither;
    /// Part of the time in use.
    ServerBusy = "server_busy", Server, Mean, Share, Neither;
    /// Its part of all requests sent to servers.
    ServerShare = "server_share", Server, Mean, Share, Neither;
}

impl Figure {
    /// Stable name.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.definition().0
    }

    /// What it is about.
    #[must_use]
    pub const fn scope(self) -> Scope {
        self.definition().1
    }

    /// How it comes from its parts.
    #[must_use]
    pub const fn shape(self) -> Shape {
        self.definition().2
    }

    /// What it counts in.
    #[must_use]
    pub const fn unit(self) -> Unit {
        self.definition().3
    }

    /// Which direction is better.
    #[must_use]
    pub const fn better(self) -> Better {
        self.definition().4
    }

    /// Whether it is of interest only to who looks closer.
    #[must_use]
    pub const fn is_detail(self) -> bool {
        match self {
            Self::ClassWaitP50 | Self::ClassWaitP95 | Self::ClassResponseP50 | Self::ClassResponseP95 => true,
            _ => matches!(self.scope(), Scope::Stage | Scope::Server),
        }
    }

    /// Whether it is a mean or rate that any number of requests can tell precisely, so that one may run until it does.
    #[must_use]
    pub const fn can_be_precise(self) -> bool {
        matches!(
            self,
            Self::Goodput
                | Self::ResponseMean
                | Self::ClassWaitMean
                | Self::ClassResponseMean
                | Self::ClassGoodput
        )
    }

    /// Name for people, in English.
    #[must_use]
    pub const fn english(self) -> &'static str {
        match self {
            Self::Goodput | Self::ClassGoodput => "goodput",
            Self::TurnedAway | Self::ClassTurnedAway => "turned away",
            Self::ResponseMean | Self::ClassResponseMean => "response, mean",
            Self::ResponseP99 | Self::ClassResponseP99 => "response, p99",
            Self::ClassResponseP50 => "response, p50",
            Self::ClassResponseP95 => "response, p95",
            Self::OffTarget => "waits off their proportions",
            Self::ServerSpread => "busiest server less least busy",
            Self::ClassWaitMean => "wait, mean",
            Self::ClassWaitP50 => "wait, p50",
            Self::ClassWaitP95 => "wait, p95",
            Self::ClassWaitP99 => "wait, p99",
            Self::ClassWaitRatio => "wait ratio over target",
            Self::StageBusy | Self::ServerBusy => "busy",
            Self::ServerShare => "share of requests",
        }
    }
}

/// A figure of something by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Which figure.
    pub figure: Figure,
    /// Name of the class, stage or server; empty for the whole.
    pub name: String,
    /// Numbers a run.
    pub parts: usize,
}

/// The figures that a scenario has, in the order of their numbers in a run's list. First all of the whole, then of each
/// class, stage and server.
#[must_use]
pub fn figures_of(scenario: &Scenario) -> Vec<Key> {
    let classes = scenario.classes.len();
    let weighted = has_targets(scenario);
    let mut keys = Vec::new();
    let mut all = |scope: Scope, name: &str, is_reference: bool| {
        let of = Figure::ALL.iter().copied().filter(|figure| figure.scope() == scope);
        keys.extend(of.filter_map(|figure| {
            let fits = match figure {
                Figure::OffTarget => weighted,
                Figure::ClassWaitRatio => weighted && !is_reference,
                Figure::ServerSpread => scenario.servers.len() > 1,
                _ => true,
            };
            let parts = match figure.shape() {
                Shape::Mean => 1,
                Shape::Ratio => 2,
                Shape::Spread => classes,
            };
            fits.then(|| Key { figure, name: name.to_string(), parts })
        }));
    };
    all(Scope::Whole, "", false);
    let reference = reference_class(scenario);
    for (at, class) in scenario.classes.iter().enumerate() {
        all(Scope::Class, &class.name, at == reference);
    }
    for stage in &scenario.stages {
        all(Scope::Stage, &stage.name, false);
    }
    for server in &scenario.servers {
        all(Scope::Server, &server.name, false);
    }
    keys
}

/// Whether waits of classes are to be in proportion to weights that differ.
#[must_use]
pub fn has_targets(scenario: &Scenario) -> bool {
    scenario.classes.iter().any(|class| class.delay_weight != scenario.classes[0].delay_weight)
}

/// The first class with the smallest weight: waits of others are told over its.
#[must_use]
pub fn reference_class(scenario: &Scenario) -> usize {
    let weight = |at: usize| scenario.classes[at].delay_weight.get();
    (1..scenario.classes.len()).fold(0, |least, at| if weight(at) < weight(least) { at } else { least })
}
