//! Where closed clients and a divided pool come to rest when the delays of the classes are in proportion.
//!
//! Source: paper P, 0.3. By Little's law, a class of `c` clients whose `n` workers are always busy has
//! `c S / n = d + S + Z`, whatever the laws of service time `S` and think time `Z`: only their means matter. Delays in
//! proportion to the weights, `d_i = p_i D`, and workers that sum to the pool leave one unknown.

use alloc::vec::Vec;

/// The long run of a pool that is never idle, shared so that mean delays are in proportion to the weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// Delay of a class of weight 1, in seconds (paper P's `D`).
    pub d_s: f64,
    /// Mean delay by class, in seconds.
    pub delay_s: Vec<f64>,
    /// Workers by class, on average; they sum to the pool and need not be whole.
    pub workers: Vec<f64>,
}

/// Clients of one class: how many, and what one of their rounds is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Customers {
    /// How many.
    pub clients: f64,
    /// Mean time on a worker, in seconds; above 0.
    pub service_s: f64,
    /// Mean time between an answer and the next request, in seconds.
    pub think_s: f64,
    /// Delay wanted, relative to the other classes; above 0.
    pub weight: f64,
}

impl Customers {
    /// Workers that keep the delay of the class at `weight` times `d_s`.
    fn workers(&self, d_s: f64) -> f64 {
        self.clients * self.service_s / (self.weight * d_s + self.service_s + self.think_s)
    }
}

/// Halvings of the interval the answer lies in: more than a double has bits.
const HALVINGS: u32 = 128;

/// The equilibrium of these classes on `workers` workers; `None` if they are not overloaded, and nobody need wait.
#[must_use]
pub fn equilibrium(classes: &[Customers], workers: u32) -> Option<Equilibrium> {
    let pool = f64::from(workers);
    let wanted = |d_s: f64| -> f64 { classes.iter().map(|class| class.workers(d_s)).sum() };
    // What is wanted falls with the delay: without any, more must be wanted than there is.
    if pool <= 0.0 || wanted(0.0) <= pool {
        return None;
    }
    let mut above = 1.0;
    while wanted(above) > pool {
        above *= 2.0;
    }
    let mut below = 0.0;
    for _ in 0..HALVINGS {
        let middle = 0.5 * (below + above);
        if wanted(middle) > pool {
            below = middle;
        } else {
            above = middle;
        }
    }
    let d_s = 0.5 * (below + above);
    Some(Equilibrium {
        d_s,
        delay_s: classes.iter().map(|class| class.weight * d_s).collect(),
        workers: classes.iter().map(|class| class.workers(d_s)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paper P, 0.9: exponential service of 0.25 s, 0.5 s of thinking, 64 workers. `classes` are clients and weight; the
    /// figures have the digits given there, workers made to sum to the pool.
    #[track_caller]
    fn check(classes: &[(f64, f64)], workers: &[f64], first_delay_s: f64) {
        let of = |&(clients, weight)| Customers { clients, service_s: 0.25, think_s: 0.5, weight };
        let classes: Vec<Customers> = classes.iter().map(of).collect();
        let got = equilibrium(&classes, 64).expect("overloaded");
        let near = |(got, want): (&f64, &f64)| (got - want).abs() <= 0.06;
        assert!(got.workers.iter().zip(workers).all(near), "workers {:?}, want {workers:?}", got.workers);
        assert!((got.workers.iter().sum::<f64>() - 64.0).abs() < 1e-9, "{:?} sum to the pool", got.workers);
        let first = got.delay_s[0];
        assert!((first - first_delay_s).abs() <= 0.000_51, "first delay {first} s, want {first_delay_s}");
        for (delay_s, class) in got.delay_s.iter().zip(&classes) {
            assert!(
                (delay_s / class.weight - got.d_s).abs() < 1e-9,
                "delays {:?} in proportion",
                got.delay_s
            );
        }
    }

    #[test]
    fn the_presets_rest_where_the_paper_says() {
        check(&[(200.0, 1.0), (200.0, 2.0)], &[37.7, 26.3], 0.576);
        check(&[(400.0, 1.0), (200.0, 2.0)], &[49.0, 15.0], 1.291);
        check(&[(150.0, 1.0), (150.0, 2.0), (150.0, 4.0)], &[29.6, 21.1, 13.3], 0.516);
        check(&[(300.0, 1.0), (150.0, 2.0), (150.0, 4.0)], &[42.6, 13.5, 7.8], 1.010);
    }

    /// Oracle 6.6: without thinking a class's response is its clients over its workers, in service times.
    #[test]
    fn without_thinking_responses_are_clients_over_workers() {
        let of = |weight| Customers { clients: 400.0, service_s: 0.444, think_s: 0.0, weight };
        let got = equilibrium(&[of(1.0), of(2.0)], 30).unwrap();
        for (class, workers) in got.workers.iter().enumerate() {
            let response_s = got.delay_s[class] + 0.444;
            assert!((response_s - 400.0 * 0.444 / workers).abs() < 1e-9, "class {class}: {response_s} s");
        }
    }

    #[test]
    fn nobody_waits_in_a_pool_that_is_large_enough() {
        let class = Customers { clients: 30.0, service_s: 1.0, think_s: 2.0, weight: 1.0 };
        assert_eq!(
            equilibrium(&[class], 10),
            None,
            "ten clients are in work at once, and there are ten workers"
        );
        assert!(equilibrium(&[class], 9).is_some());
        assert_eq!(equilibrium(&[], 9), None);
        assert_eq!(equilibrium(&[class], 0), None);
    }

    /// Oracle 6.6: the best split of a pool into whole workers for open classes, found by trying all.
    #[test]
    fn the_best_static_split_is_far_from_the_target_where_workers_are_few() {
        use crate::theory::mmck;
        let wait = |lambda: f64, workers: u32| mmck(lambda, 1.0, workers, None).wait;
        let check = |lambda: f64, workers: u32, want: f64| {
            let got = wait(lambda, workers);
            assert!((got - want).abs() <= 1e-5 * want, "{lambda} on {workers}: {got}, want {want}");
        };
        check(6.0, 8, 0.178_490_54);
        check(6.0, 7, 0.613_830_12);
        check(6.0, 9, 0.065_326_971);
        check(12.0, 16, 0.051_143_465);
        check(12.0, 15, 0.106_396_81);
        check(12.0, 17, 0.025_326_019);
        // Three classes of 4 a second on 18 workers, target 1:2:4: the least largest error in logarithms.
        let weights = [1.0, 2.0, 4.0];
        let error = |split: [u32; 3]| {
            let log = |class: usize| libm::log(wait(4.0, split[class]) / weights[class]);
            let logs = [log(0), log(1), log(2)];
            logs.iter().copied().fold(f64::MIN, f64::max) - logs.iter().copied().fold(f64::MAX, f64::min)
        };
        let all = (5..=8).flat_map(|a| (5..=8).map(move |b| (a, b)));
        let stable = all.filter(|&(a, b)| a + b <= 13).map(|(a, b)| [a, b, 18 - a - b]);
        let best = stable.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap();
        assert_eq!(best, [7, 6, 5]);
        check(4.0, 7, 0.045_036_7);
        check(4.0, 6, 0.142_38);
        check(4.0, 5, 0.554_113);
    }
}
