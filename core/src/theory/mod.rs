//! Closed forms to stand beside simulated figures, and the reason when none applies.
//!
//! Sources: Erlang 1917 (M/M/c), Kleinrock 1975 vol. 1 (M/M/c/K), Cobham 1954 with one service rate (classes
//! in strict priority, not preempted): `W_k = C / (c mu) / ((1 - s_{k-1})(1 - s_k))`, `s_k` the utilisation by
//! class k and all above it.

mod equilibrium;
mod servers;

pub use equilibrium::{Customers, Equilibrium, equilibrium};

use crate::scenario::v1::{
    AgeingV1, BalancerV1, BatchV1, DisciplineV1, KindV1, LawV1, LoadV1, OrderV1, PoolV1, QueueV1, SizeV1,
};
use crate::scenario::{Action, Class, Scenario, StageSpec, Work};
use crate::time::{Duration, Instant};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Exact long-run means of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Theory {
    /// Name of the model, as textbooks write it.
    pub model: String,
    /// Mean wait of answered requests by class, in seconds.
    pub wait_s: Vec<f64>,
    /// Mean response time of answered requests by class, in seconds.
    pub response_s: Vec<f64>,
    /// Chance of being turned away.
    pub loss: f64,
}

/// Which assumption of every closed form we know fails, as a sentence without a full stop.
pub type WhyNot = &'static str;

/// Figures of an M/M/c/K queue: Poisson arrivals, exponential service, `c` workers, at most `limit` waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmck {
    /// Chance that an arrival is turned away.
    pub loss: f64,
    /// Mean number waiting.
    pub waiting: f64,
    /// Mean wait of those who are not turned away, in the unit of `1 / lambda`.
    pub wait: f64,
}

/// The M/M/c/K queue with arrival rate `lambda`, service rate `mu` per worker and at most `limit` waiting
/// (`None`: any number; then `lambda < c mu` is needed, and the wait is infinite otherwise).
///
/// Computed from the ratios of neighbouring state probabilities, scaled as it goes, so that neither a large
/// `c` nor a long queue overflows.
#[must_use]
pub fn mmck(lambda: f64, mu: f64, c: u32, limit: Option<u32>) -> Mmck {
    let a = lambda / mu;
    let rho = a / f64::from(c);
    // p[n] for n < c relative to p[c], from the top down: p[n-1] = p[n] n / a.
    let (mut below, mut p) = (0.0, 1.0);
    for n in (1..=c).rev() {
        p *= f64::from(n) / a;
        below += p;
    }
    // Above c they form a geometric series: sums of rho^k and k rho^k.
    let (sum, weighted, last) = match limit {
        None if rho < 1.0 => (1.0 / (1.0 - rho), rho / ((1.0 - rho) * (1.0 - rho)), 0.0),
        None => return Mmck { loss: 0.0, waiting: f64::INFINITY, wait: f64::INFINITY },
        Some(limit) => {
            let (mut sum, mut weighted, mut term) = (1.0, 0.0, 1.0);
            for k in 1..=limit {
                term *= rho;
                sum += term;
                weighted += f64::from(k) * term;
                if sum > 1e200 {
                    // Overload with a long queue: only ratios matter.
                    (sum, weighted, term, below) =
                        (sum / 1e200, weighted / 1e200, term / 1e200, below / 1e200);
                }
            }
            (sum, weighted, term)
        }
    };
    let total = below + sum;
    let loss = last / total;
    let waiting = weighted / total;
    Mmck { loss, waiting, wait: waiting / (lambda * (1.0 - loss)) }
}

/// Longest wait in a stage, in seconds, of a job that was let in, where ageing by share serves the overdue.
///
/// `allowed_s` + (`backlog_s` + `largest_s`) / `share` + `senders` x `largest_s`: the time the job is allowed for the levels
/// above its own; the most work that queue control lets wait, and one job more that was let in last, done at the
/// pace of the share; and one job on each worker that cannot be interrupted. Work is in seconds of the whole stage.
///
/// It holds for a queue control that limits work, such as `work_red`: `backlog_s` is then its `hard` times its `max`.
#[must_use]
pub fn ageing_bound(allowed_s: f64, backlog_s: f64, largest_s: f64, share: f64, senders: u32) -> f64 {
    allowed_s + (backlog_s + largest_s) / share + f64::from(senders) * largest_s
}

/// The bound of [`ageing_bound`] for a stage of a scenario, in seconds.
///
/// It is for a stage whose work comes to it about as soon as it is let in: work still upstream of it is not counted by
/// `work_red`, and adds to the wait.
///
/// `None` where nothing bounds the wait: without ageing by share, without limits in seconds of work, or where the work of a
/// single request has no bound or is not known beforehand.
#[must_use]
pub fn waiting_bound(scenario: &Scenario, stage: &StageSpec) -> Option<f64> {
    let AgeingV1::Share { after_us, share } = stage.ageing else { return None };
    let QueueV1::WorkRed { max_us, hard, .. } = stage.queue else { return None };
    let costs: Option<Vec<f64>> = scenario.classes.iter().map(|class| known_cost_s(class, stage)).collect();
    let largest_s = costs?.into_iter().fold(0.0, f64::max);
    let mut levels: Vec<u8> = scenario.classes.iter().map(|class| class.priority.0).collect();
    levels.sort_unstable();
    levels.dedup();
    let lowest = *levels.first()?;
    let levels_above = scenario.levels.count.saturating_sub(1 + lowest);
    let allowed_s = after_us as f64 / 1e6 * f64::from(levels_above);
    // `work_red` limits what waits at a level and above it, so the lower levels can each have filled to the limit before
    // the next above began to: the backlogs of all but the highest add up.
    let filled = levels.len().saturating_sub(1).max(1) as f64;
    let backlog_s = filled * (hard * max_us as f64 / 1e6) + (filled - 1.0) * largest_s;
    Some(ageing_bound(allowed_s, backlog_s, largest_s, share, stage.workers))
}

/// What a request of a class costs a stage, in seconds of the whole stage, if it is always the same.
fn known_cost_s(class: &Class, stage: &StageSpec) -> Option<f64> {
    let constant = |law: &LawV1| match *law {
        LawV1::Constant { mean_us } => Some(mean_us as f64 / 1e6 / f64::from(stage.workers)),
        _ => None,
    };
    match (&stage.work, &class.size) {
        (Work::Link(bytes_per_s), Some(SizeV1::Constant { bytes })) => Some(*bytes as f64 / bytes_per_s),
        (Work::Own(law, Duration::ZERO), _) => constant(law),
        (Work::Servers, _) if class.kind == KindV1::Short => constant(&class.service),
        _ => None,
    }
}

/// Figures of a queue whose arrivals are turned away with a chance that depends on how many they find.
#[derive(Clone, Debug, PartialEq)]
pub struct BirthDeath {
    /// Part of the time that so many are in the system, waiting or in service, which is also the chance that an
    /// arrival finds so many.
    pub states: Vec<f64>,
    /// Chance that an arrival is turned away.
    pub loss: f64,
    /// Mean number in the system.
    pub in_system: f64,
    /// Jobs served, in the unit of `lambda`.
    pub throughput: f64,
    /// Mean response time of those that are not turned away, in the unit of `1 / lambda`.
    pub response: f64,
}

/// The queue with Poisson arrivals of rate `lambda`, `c` workers of exponential service rate `mu` and at most
/// `capacity` jobs inside, where an arrival that finds `n` is turned away with the chance `refused(n)`: RED
/// whose average is the length, with independent coins, is one. `lambda`, `mu` and `capacity` are above 0.
///
/// A birth-death chain (Kleinrock 1975 vol. 1, section 3.1): `p(n+1) / p(n) = lambda (1 - refused(n)) / (mu min(n+1, c))`.
#[must_use]
pub fn birth_death(lambda: f64, mu: f64, c: u32, capacity: u32, refused: impl Fn(u32) -> f64) -> BirthDeath {
    let mut states = vec![1.0];
    let mut p = 1.0;
    for n in 1..=capacity {
        p *= lambda * (1.0 - refused(n - 1)) / (mu * f64::from(n.min(c)));
        states.push(p);
        if p > 1e200 {
            // Only ratios matter.
            states.iter_mut().for_each(|state| *state /= 1e200);
            p /= 1e200;
        }
    }
    let total: f64 = states.iter().sum();
    states.iter_mut().for_each(|state| *state /= total);
    let mean = |what: &dyn Fn(u32) -> u32| -> f64 {
        (0..).zip(&states).map(|(n, state)| f64::from(what(n)) * state).sum()
    };
    let (in_system, throughput) = (mean(&|n| n), mu * mean(&|n| n.min(c)));
    BirthDeath {
        loss: 1.0 - throughput / lambda,
        in_system,
        throughput,
        response: in_system / throughput,
        states,
    }
}

/// The exact long-run means of a scenario.
///
/// # Errors
/// The first assumption that fails, if no closed form we know applies.
pub fn of(scenario: &Scenario) -> Result<Theory, WhyNot> {
    let [stage] = scenario.stages.as_slice() else { return Err("more than one stage") };
    if !scenario.events.is_empty() || !scenario.edits.is_empty() {
        return Err("the load, the work or the servers change during the run");
    }
    if scenario.classes.iter().any(|class| class.deadline.is_some()) {
        return Err("deadlines");
    }
    if scenario.classes.iter().all(|class| matches!(class.load, LoadV1::Closed { .. })) {
        return in_proportion(scenario, stage);
    }
    let rates: Vec<f64> = scenario
        .classes
        .iter()
        .map(|class| match class.load {
            LoadV1::Poisson { rate_per_s } => Ok(rate_per_s),
            _ => Err("arrivals are not Poisson"),
        })
        .collect::<Result<_, _>>()?;
    if stage.work == Work::Servers
        && let Some(theory) = servers::dealt_out(scenario, stage, &rates)
    {
        return Ok(theory);
    }
    let (mean_s, workers) = service(scenario, stage)?;
    let lambda: f64 = rates.iter().sum();
    if lambda <= 0.0 {
        return Err("nobody asks");
    }
    let QueueV1::TailDrop { limit, .. } = stage.queue else {
        return Err("the queue control turns away by more than a limit");
    };
    if let Some(why) = beyond_theory(scenario, stage) {
        return Err(why);
    }
    let mu = 1.0 / mean_s;
    if let [_] = scenario.classes.as_slice() {
        let queue = mmck(lambda, mu, workers, Some(limit));
        let model = match (workers, limit >= 1_000_000) {
            (1, true) => String::from("M/M/1"),
            (c, true) => alloc::format!("M/M/{c}"),
            (c, false) => alloc::format!("M/M/{c}/{}", u64::from(c) + u64::from(limit)),
        };
        return Ok(Theory {
            model,
            wait_s: vec![queue.wait],
            response_s: vec![queue.wait + mean_s],
            loss: queue.loss,
        });
    }
    if stage.is_split() {
        return Err("workers are split among classes");
    }
    let capacity = f64::from(workers) * mu;
    let free = mmck(lambda, mu, workers, None);
    if lambda >= 0.98 * capacity || mmck(lambda, mu, workers, Some(limit)).loss > 1e-9 {
        return Err("several classes, and the queue limit matters");
    }
    // Mean wait if nobody had priority, freed of its congestion factor: C / (c mu).
    let alone = free.wait * (1.0 - lambda / capacity);
    let wait_s: Vec<f64> = match stage.order {
        OrderV1::Fifo => rates.iter().map(|_| free.wait).collect(),
        OrderV1::StrictPriority => {
            let share_from = |least: u8, above: bool| -> f64 {
                scenario
                    .classes
                    .iter()
                    .zip(&rates)
                    .filter(|(class, _)| class.priority.0 > least || (!above && class.priority.0 == least))
                    .map(|(_, rate)| rate / capacity)
                    .sum()
            };
            scenario
                .classes
                .iter()
                .map(|class| {
                    let p = class.priority.0;
                    alone / ((1.0 - share_from(p, true)) * (1.0 - share_from(p, false)))
                })
                .collect()
        }
        _ => return Err("several classes, and an order without a closed form"),
    };
    let model = match stage.order {
        OrderV1::Fifo => alloc::format!("M/M/{workers}, all classes alike"),
        _ => alloc::format!("M/M/{workers} with strict priority (Cobham)"),
    };
    let response_s = wait_s.iter().map(|wait| wait + mean_s).collect();
    Ok(Theory { model, wait_s, response_s, loss: 0.0 })
}

/// Shortest mean wait, in mean service times, from which the equilibrium of closed clients is given: below it, workers
/// are idle now and then by chance.
const LEAST_WAIT: f64 = 1.0;

/// Closed clients of a stage that keeps waits in proportion: where they come to rest if it does so to perfection, and its
/// workers are always busy.
fn in_proportion(scenario: &Scenario, stage: &StageSpec) -> Result<Theory, WhyNot> {
    let (rest, customers) = rest_of(scenario, stage, |_| (1.0, 1.0))?;
    let response_s = rest.delay_s.iter().zip(&customers).map(|(d, class)| d + class.service_s).collect();
    let model = String::from("closed clients in overload, delays in proportion (Little)");
    Ok(Theory { model, wait_s: rest.delay_s, response_s, loss: 0.0 })
}

/// Where closed clients of a stage that keeps waits in proportion are heading at `now`, under the load and the work that
/// events and edits have brought until then.
///
/// # Errors
/// The first assumption that fails.
pub fn heading(scenario: &Scenario, now: Instant) -> Result<Equilibrium, WhyNot> {
    let scenario = scenario.version_at(now);
    let [stage] = scenario.stages.as_slice() else { return Err("more than one stage") };
    if scenario.classes.iter().any(|class| class.deadline.is_some()) {
        return Err("deadlines");
    }
    let mut factors = vec![(1.0, 1.0); scenario.classes.len()];
    for event in scenario.events.iter().filter(|event| event.at <= now) {
        let (Action::Load { class: of, .. } | Action::Service { class: of, .. }) = event.action else {
            return Err("servers change");
        };
        for (class, (load, work)) in factors.iter_mut().enumerate() {
            match event.action {
                _ if of.is_some_and(|of| usize::from(of.0) != class) => {}
                Action::Load { factor, .. } => *load = factor,
                Action::Service { factor, .. } => *work = factor,
                _ => {}
            }
        }
    }
    rest_of(scenario, stage, |class| factors[class]).map(|(rest, _)| rest)
}

/// The equilibrium of a stage's clients if there are as many times more of each class, and their work is as many times
/// longer, as `factors` says of it.
fn rest_of(
    scenario: &Scenario,
    stage: &StageSpec,
    factors: impl Fn(usize) -> (f64, f64),
) -> Result<(Equilibrium, Vec<Customers>), WhyNot> {
    if !stage.keeps_proportion() {
        return Err("arrivals are not Poisson");
    }
    if let Some(why) = beyond_theory(scenario, stage) {
        return Err(why);
    }
    let mut customers = Vec::new();
    let (speed, workers) =
        if stage.own_work().is_some() { (1.0, stage.workers) } else { held(scenario, stage)? };
    for (at, class) in scenario.classes.iter().enumerate() {
        let (load, work) = factors(at);
        let LoadV1::Closed { clients, think, count } = &class.load else {
            return Err("some clients wait for their answer, others do not");
        };
        if count.is_some() {
            return Err("clients leave");
        }
        let service = stage.own_work().unwrap_or(&class.service);
        customers.push(Customers {
            clients: f64::from(*clients) * load,
            service_s: service.mean_us() / 1e6 / speed * work,
            think_s: think.mean_us() / 1e6,
            weight: class.delay_weight.get(),
        });
    }
    if customers.iter().any(|class| class.service_s <= 0.0) {
        return Err("work takes no time");
    }
    let all: f64 = customers.iter().map(|class| class.clients).sum();
    match stage.queue {
        QueueV1::TailDrop { limit, .. } if f64::from(limit) >= all => {}
        QueueV1::LengthThreshold { threshold } if f64::from(threshold) >= all => {}
        _ => return Err("the queue control may turn clients away"),
    }
    let rest =
        equilibrium(&customers, workers).ok_or("the workers can serve all clients: hardly anybody waits")?;
    if stage.is_split() && rest.workers.iter().any(|&n| n < 1.0) {
        return Err("a class needs less than the one worker it has");
    }
    let least = rest.delay_s.iter().zip(&customers).map(|(d, class)| d / class.service_s);
    if least.fold(f64::INFINITY, f64::min) < LEAST_WAIT {
        return Err("the overload is slight: workers are idle now and then");
    }
    Ok((rest, customers))
}

/// A policy of the stage that the closed forms know nothing of.
fn beyond_theory(scenario: &Scenario, stage: &StageSpec) -> Option<WhyNot> {
    if scenario.classes.iter().any(|class| class.retry.is_some()) {
        Some("clients ask again when they are turned away")
    } else if stage.ageing != AgeingV1::None {
        Some("ageing")
    } else if stage.pool != PoolV1::Fixed {
        Some("the number of workers changes")
    } else if stage.batch != BatchV1::One {
        Some("workers take several requests at once")
    } else if stage.starts_per_s.is_some() {
        Some("starts are spaced")
    } else if stage.lend_after.is_some() {
        Some("workers are lent")
    } else {
        matches!(stage.work, Work::Link(_)).then_some("work at a link")
    }
}

/// Mean service time in seconds, the same for all, and how many are served at once.
fn service(scenario: &Scenario, stage: &StageSpec) -> Result<(f64, u32), WhyNot> {
    let exponential = |law: &LawV1| match *law {
        LawV1::Exponential { mean_us } => Ok(mean_us as f64 / 1e6),
        _ => Err("service times are not exponential"),
    };
    if let Some(law) = stage.own_work() {
        return Ok((exponential(law)?, stage.workers));
    }
    let means: Vec<f64> =
        scenario.classes.iter().map(|class| exponential(&class.service)).collect::<Result<_, _>>()?;
    if means.iter().any(|&mean| mean != means[0]) {
        return Err("classes differ in their service times");
    }
    let (speed, workers) = held(scenario, stage)?;
    Ok((means[0] / speed, workers))
}

/// The speed of the servers, the same for all, and how many requests are in work at once, if none of those that are sent
/// waits inside a server.
fn held(scenario: &Scenario, stage: &StageSpec) -> Result<(f64, u32), WhyNot> {
    let servers = &scenario.servers;
    if scenario.classes.iter().any(|class| class.kind == KindV1::Session) {
        return Err("sessions");
    }
    if scenario.gateways > 1 {
        return Err("several gateways, of which each knows only what it sent");
    }
    if scenario.reports {
        return Err("servers that report too high a load get nothing new");
    }
    if servers.iter().any(|server| server.weight == 0.0) {
        return Err("a server gets nothing new");
    }
    if servers.iter().any(|server| server.speed != servers[0].speed) {
        return Err("servers differ in speed");
    }
    let slots: u32 = servers.iter().map(|server| server.slots).sum();
    let held = servers.iter().all(|server| server.max_in_flight.is_some_and(|most| most <= server.slots));
    let alike =
        servers.iter().all(|server| server.slots == servers[0].slots && server.max_in_flight.is_none());
    let never_queues_inside = held
        || (servers.len() == 1 && stage.workers <= slots)
        || (alike && scenario.balancer == BalancerV1::LeastConnections && stage.workers <= slots);
    if !never_queues_inside {
        if servers.iter().any(|server| server.discipline == DisciplineV1::Sharing) {
            return Err("requests share the cores of servers");
        }
        return Err("requests also queue inside the servers");
    }
    let most: u32 = servers.iter().map(|server| server.max_in_flight.unwrap_or(server.slots)).sum();
    Ok((servers[0].speed, stage.workers.min(most)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Ramp;

    #[track_caller]
    fn check(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-9 * want.abs().max(1e-3), "got {got}, want {want}");
    }

    /// Values from the literature, as collected in the oracle tables: M/M/1, Erlang C, M/M/c/K.
    #[test]
    fn textbook_queues() {
        check(mmck(0.8, 1.0, 1, None).wait, 4.0);
        check(mmck(0.9, 1.0, 1, None).waiting, 8.1);
        check(mmck(7.2, 1.0, 8, None).wait, 0.876_916_237_7);
        check(mmck(9.0, 5.0, 4, None).wait, 0.011_684_876_98);
        let k = mmck(50.0, 10.0, 4, Some(2));
        check(k.loss, 0.293_542_993_5);
        check(k.wait, 0.023_268_801_19);
        let overload = mmck(12.0, 1.0, 8, Some(42));
        check(overload.loss, 0.333_333_336_2);
        check(overload.wait, 5.000_000_074);
        // Erlang B: nobody may wait.
        check(mmck(84.0, 1.0, 100, Some(0)).loss, 0.009_872_528_609);
    }

    /// Jobs of 1.1 MB on 94 % of 100 Mbit/s with 16 senders; 2 s for each of three levels, 1.5 times 2 s of work.
    #[test]
    fn the_wait_of_the_overdue_is_bounded() {
        let largest_s = 1.1e6 / (12.5e6 * 0.94);
        check(ageing_bound(6.0, 1.5 * 2.0, largest_s, 0.2, 16), 6.0 + 15.468_085_106 + 1.497_872_340);
        // Nothing to share with: what is ahead and what is in work.
        check(ageing_bound(0.0, 3.0, 0.5, 1.0, 2), 4.5);
    }

    #[test]
    fn a_long_queue_in_overload_neither_overflows_nor_lies() {
        let q = mmck(20.0, 1.0, 10, Some(1_000_000));
        check(q.loss, 0.5);
        assert!((q.waiting - 999_999.0).abs() < 1.0, "{}", q.waiting);
    }
    /// Four RED queues with weight 1 and independent coins, judged by the number in the system (oracle 6.7).
    #[test]
    fn red_on_the_length_itself() {
        for ((lambda, c, capacity), (ramp, max_p), [loss, jobs, throughput, response]) in [
            (
                (1.2, 1, 20),
                (Ramp::new(5.0, 15.0, false), 0.1),
                [0.178_366_914_6, 10.331_398_86, 0.985_959_702_5, 10.478_520_41],
            ),
            (
                (1.2, 1, 40),
                (Ramp::new(5.0, 15.0, true), 0.1),
                [0.173_143_455, 14.039_978_94, 0.992_227_854, 14.149_954_45],
            ),
            (
                (1.5, 1, 40),
                (Ramp::new(5.0, 15.0, true), 0.5),
                [0.335_138_322, 11.748_175_82, 0.997_292_517, 11.780_070_16],
            ),
            (
                (12.0, 8, 60),
                (Ramp::new(10.0, 30.0, true), 0.1),
                [0.333_334_924_1, 37.614_576_21, 7.999_980_911, 4.701_833_246],
            ),
        ] {
            let chain = birth_death(lambda, 1.0, c, capacity, |n| ramp.at(f64::from(n), max_p));
            check(chain.loss, loss);
            check(chain.in_system, jobs);
            check(chain.throughput, throughput);
            check(chain.response, response);
        }
    }

    /// Two classes of closed clients on 64 workers of a stage, with parts of the stage given.
    fn closed(clients: u32, stage: &str) -> Result<Theory, WhyNot> {
        of(&closed_clients(clients, stage, ""))
    }

    /// The scenario of it, with events.
    fn closed_clients(clients: u32, stage: &str, events: &str) -> Scenario {
        let class = |name: &str, weight: u32| {
            alloc::format!(
                r#"{{"name":"{name}","delay_weight":{weight},"load":{{"kind":"closed","clients":{clients},
                    "think":{{"law":"exponential","mean_us":500000}}}}}}"#
            )
        };
        let text = alloc::format!(
            r#"{{"tidegate":1,"classes":[{},{}],"stages":[{{"name":"s","workers":64,{stage},
                "work":{{"at":"stage","service":{{"law":"exponential","mean_us":250000}}}}}}],"events":[{events}]}}"#,
            class("a", 1),
            class("b", 2)
        );
        crate::scenario::parse_json(&text).unwrap().check().unwrap()
    }

    /// Paper P, 0.9: the first class doubles, and where the pool is heading moves with it.
    #[test]
    fn a_change_of_load_or_work_moves_where_clients_are_heading() {
        let events = r#"{"at_us":10000000,"do":"load","class":"a","factor":2},
            {"at_us":20000000,"do":"service","factor":4},{"at_us":30000000,"do":"load","factor":0.01}"#;
        let scenario = closed_clients(200, r#""order":"wtp""#, events);
        let at =
            |s: u64| heading(&scenario, Instant::from_nanos(s * 1_000_000_000)).map(|rest| rest.workers[0]);
        for (s, want) in [(0, 37.7), (9, 37.7), (10, 49.0)] {
            let got = at(s).unwrap();
            assert!((got - want).abs() <= 0.051, "{got} workers at {s} s, want {want}");
        }
        let longer = closed_clients(400, r#""order":"wtp""#, "");
        assert!(at(20).unwrap() > at(10).unwrap(), "four times the work: thinking matters less");
        assert!(at(30).is_err(), "nobody is left to wait");
        assert_eq!(heading(&longer, Instant::START).unwrap().delay_s, of(&longer).unwrap().wait_s);
    }

    #[test]
    fn closed_clients_in_proportion_have_an_equilibrium_or_a_reason() {
        for stage in
            [r#""order":"wtp""#, r#""split_by":{"policy":"stc_lead"}"#, r#""split_by":{"policy":"pid"}"#]
        {
            let theory = closed(200, stage).unwrap_or_else(|why| panic!("{stage}: {why}"));
            assert!((theory.wait_s[0] - 0.576).abs() < 1e-3, "{stage}: {:?}", theory.wait_s);
            assert!((theory.response_s[1] - 1.402).abs() < 1e-3, "{stage}: {:?}", theory.response_s);
        }
        for (clients, stage, want) in [
            (200, r#""order":"fifo""#, "not Poisson"),
            (200, r#""split":[32,32]"#, "not Poisson"),
            (90, r#""order":"wtp""#, "hardly anybody waits"),
            (110, r#""order":"wtp""#, "the overload is slight"),
            (200, r#""order":"wtp","queue":{"policy":"tail_drop","limit":100}"#, "may turn clients away"),
            (200, r#""order":"wtp","starts_per_s":9"#, "starts are spaced"),
            (200, r#""split_by":{"policy":"pid"},"lend_after_us":0"#, "workers are lent"),
        ] {
            let why = closed(clients, stage).expect_err(stage);
            assert!(why.contains(want), "{clients} clients, {stage}: {why}, want {want}");
        }
    }

    #[test]
    fn a_chain_that_refuses_nobody_before_it_is_full_is_the_textbook_queue() {
        let (chain, queue) = (birth_death(12.0, 1.0, 8, 50, |_| 0.0), mmck(12.0, 1.0, 8, Some(42)));
        check(chain.loss, queue.loss);
        check(chain.response, queue.wait + 1.0);
        check(birth_death(20.0, 1.0, 10, 1_000_000, |_| 0.0).loss, 0.5);
    }
}
