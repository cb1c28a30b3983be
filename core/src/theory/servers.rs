//! Servers that each have a line (or cores to share) of their own, where Poisson arrivals are dealt out to them.
//!
//! Sources: Kleinrock 1975 vol. 1, 6.1 to 6.4 (G/M/1: the wait by the root of `sigma = A*(mu - mu sigma)`); Kleinrock 1976 vol. 2, 4.4
//! (processor sharing: the mean response is `S / (1 - rho)` whatever the law of `S`). With exponential work the number in a
//! server changes alike whether jobs share its cores or wait for them, and so, by Little's law, is the mean response.

use super::{Theory, beyond_theory, mmck};
use crate::scenario::v1::{BalancerV1, DisciplineV1, KindV1, LawV1, QueueV1};
use crate::scenario::{Scenario, StageSpec};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Chance that the workers of the stage are too few at which it is taken for none.
const NEGLIGIBLE: f64 = 1e-9;

/// The queue at one server.
struct One {
    model: String,
    /// Mean response by class, in seconds.
    response_s: Vec<f64>,
    /// Each further job there is less likely by this.
    tail: f64,
}

/// Exact means of Poisson arrivals of these rates at servers with a line in each, if a form that we know fits.
///
/// That is: one server, or equal ones that are picked at random or in turn; workers enough that nobody waits in front of
/// them; and nothing that makes servers differ or turns anybody away.
pub(super) fn dealt_out(scenario: &Scenario, stage: &StageSpec, rates: &[f64]) -> Option<Theory> {
    if !alike(scenario) || beyond_theory(scenario, stage).is_some() || stage.is_split() {
        return None;
    }
    if !matches!(stage.queue, QueueV1::TailDrop { .. }) {
        return None;
    }
    let one = match scenario.balancer {
        BalancerV1::RoundRobin if scenario.servers.len() > 1 => in_turn(scenario, rates)?,
        _ if scenario.servers.len() == 1 => poisson(scenario, rates)?,
        BalancerV1::Random => poisson(scenario, rates)?,
        _ => return None,
    };
    let servers = scenario.servers.len() as f64;
    let places = f64::from(stage.workers) / servers - f64::from(scenario.servers[0].slots);
    if places < 0.0 || servers * libm::pow(one.tail, places) > NEGLIGIBLE {
        return None;
    }
    let model = match scenario.servers.len() {
        1 => one.model,
        n => format!("{} at each of {n} servers", one.model),
    };
    Some(Theory { model, wait_s: vec![0.0; rates.len()], response_s: one.response_s, loss: 0.0 })
}

/// Whether the servers are alike in all that matters, and nothing but short work is done there.
fn alike(scenario: &Scenario) -> bool {
    let [first, ..] = scenario.servers.as_slice() else { return false };
    let as_first = scenario.servers.iter().all(|server| {
        server.slots == first.slots
            && server.speed == first.speed
            && server.discipline == first.discipline
            && server.weight == first.weight
            && server.max_in_flight.is_none()
    });
    as_first
        && first.weight > 0.0
        && scenario.gateways == 1
        && !scenario.reports
        && scenario.classes.iter().all(|class| class.kind == KindV1::Short)
}

/// The mean of the exponential law that all classes have, in seconds at these servers.
fn exponential_s(scenario: &Scenario) -> Option<f64> {
    let mean = |law: &LawV1| if let LawV1::Exponential { mean_us } = *law { Some(mean_us) } else { None };
    let first = mean(&scenario.classes[0].service)?;
    let all = scenario.classes.iter().all(|class| mean(&class.service) == Some(first));
    (all && first > 0).then(|| first as f64 / 1e6 / scenario.servers[0].speed)
}

/// Poisson arrivals at each server.
fn poisson(scenario: &Scenario, rates: &[f64]) -> Option<One> {
    let servers = scenario.servers.len() as f64;
    let cores = scenario.servers[0].slots;
    let each: f64 = rates.iter().sum::<f64>() / servers;
    if let Some(mean_s) = exponential_s(scenario) {
        let rho = each * mean_s / f64::from(cores);
        if rho <= 0.0 || rho >= 1.0 {
            return None;
        }
        let response = mmck(each, 1.0 / mean_s, cores, None).wait + mean_s;
        let model = match scenario.servers[0].discipline {
            DisciplineV1::Slots => format!("M/M/{cores}"),
            DisciplineV1::Sharing => format!("M/M/{cores}-PS"),
        };
        return Some(One { model, response_s: vec![response; rates.len()], tail: rho });
    }
    if scenario.servers[0].discipline != DisciplineV1::Sharing || cores != 1 {
        return None;
    }
    let work_s = |class: usize| scenario.classes[class].service.mean_us() / 1e6 / scenario.servers[0].speed;
    let rho: f64 = rates.iter().enumerate().map(|(class, rate)| rate / servers * work_s(class)).sum();
    let response_s = (0..rates.len()).map(|class| work_s(class) / (1.0 - rho)).collect();
    (rho > 0.0 && rho < 1.0).then(|| One { model: String::from("M/G/1-PS"), response_s, tail: rho })
}

/// Every k-th arrival at each of k servers with one slot.
fn in_turn(scenario: &Scenario, rates: &[f64]) -> Option<One> {
    let mean_s = exponential_s(scenario)?;
    let k = scenario.servers.len() as u32;
    if scenario.servers[0].slots != 1 {
        return None;
    }
    let sigma = erlang_root(k, rates.iter().sum::<f64>() * mean_s)?;
    let response_s = vec![mean_s / (1.0 - sigma); rates.len()];
    Some(One { model: format!("E{k}/M/1"), response_s, tail: sigma })
}

/// The root below 1 of `sigma = (a / (a + 1 - sigma))^k`: the chance that an arrival at an E_k/M/1 queue finds it busy, where
/// `a` phases of the arrivals pass in one mean service time. `None` if the queue grows without end.
fn erlang_root(k: u32, a: f64) -> Option<f64> {
    if a <= 0.0 || a >= f64::from(k) {
        return None;
    }
    // The difference of the two sides is convex and 0 at 1: above 0 below the root, below 0 from there on.
    let too_low = |sigma: f64| libm::pow(a / (a + 1.0 - sigma), f64::from(k)) > sigma;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if too_low(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::parse_json;

    /// Probability of finding the server busy, oracle table 6.8.
    #[test]
    fn regular_arrivals_find_the_server_idle_more_often() {
        for (k, rho, want) in [
            (1, 0.8, 0.8),
            (2, 0.8, 0.739_852_949_1),
            (4, 0.8, 0.693_944_721_8),
            (8, 0.8, 0.664_398_998_5),
            (4, 0.9, 5.383_049_518 / 6.383_049_518),
        ] {
            let got = erlang_root(k, rho * f64::from(k)).unwrap();
            assert!((got - want).abs() < 1e-9, "k {k}, rho {rho}: {got}, want {want}");
        }
        assert_eq!(erlang_root(2, 2.0), None, "no more than it can do");
    }

    /// Two servers of one slot with a mean work of 1 ms, half of them busy, with parts of the scenario given; of `server`,
    /// what follows a bar is for the second alone.
    fn theory(balancer: &str, law: &str, server: &str, rest: &str) -> Result<Theory, super::super::WhyNot> {
        let (server, second) = server.split_once('|').unwrap_or((server, server));
        let text = format!(
            r#"{{"tidegate":1,"classes":[{{"name":"a","load":{{"kind":"poisson","rate_per_s":1000}},
                "service":{{"law":"{law}","mean_us":1000}}}}],
                "stages":[{{"name":"s","workers":1000,"work":{{"at":"servers"}}}}],
                "balancer":{{"policy":"{balancer}"}},"servers":[{{"name":"x"{server}}},{{"name":"y"{second}}}]{rest}}}"#
        );
        super::super::of(&parse_json(&text).unwrap().check().unwrap_or_else(|why| panic!("{why}")))
    }

    #[test]
    fn lines_at_servers_have_a_closed_form_or_a_reason() {
        const SHARING: &str = r#","discipline":"sharing""#;
        for (balancer, law, server, model, response_ms) in [
            ("random", "exponential", "", "M/M/1", 2.0),
            ("random", "exponential", SHARING, "M/M/1-PS", 2.0),
            ("random", "constant", SHARING, "M/G/1-PS", 2.0),
            ("random", "exponential", r#","slots":2"#, "M/M/2", 16.0 / 15.0),
            ("round_robin", "exponential", "", "E2/M/1", 1.0 / 0.618_033_988_749_895),
        ] {
            let theory = theory(balancer, law, server, "").unwrap_or_else(|why| panic!("{model}: {why}"));
            assert_eq!(theory.model, format!("{model} at each of 2 servers"));
            let got = theory.response_s[0] * 1e3;
            assert!((got - response_ms).abs() < 1e-9, "{model}: {got} ms, want {response_ms}");
        }
        for (balancer, law, server, rest, want) in [
            ("random", "constant", "", "", "not exponential"),
            ("power_of_two", "exponential", "", "", "queue inside the servers"),
            ("power_of_two", "exponential", SHARING, "", "share the cores"),
            ("round_robin", "exponential", "", r#","gateways":2"#, "several gateways"),
            ("random", "exponential", "", r#","feedback":{}"#, "report"),
            ("random", "exponential", r#"|,"weight":0"#, "", "nothing new"),
            (
                "random",
                "exponential",
                "",
                r#","events":[{"at_us":0,"do":"neighbour","server":"x","share":0.1}]"#,
                "change during the run",
            ),
        ] {
            let why = theory(balancer, law, server, rest).expect_err(want);
            assert!(why.contains(want), "{balancer}, {law}, {server}, {rest}: {why}, want {want}");
        }
    }
}
