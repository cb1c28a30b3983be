//! Simulated queues against their closed forms (oracle tables 6.2 to 6.5).

use tidegate_core::report::Report;
use tidegate_core::scenario::Scenario;
use tidegate_core::sim::RunResult;
use tidegate_tests::oracle::{check, runs, wait};
use tidegate_tests::scenario;

/// One Poisson class at `workers` exponential workers of rate 1,000 / s (mean 1 ms); `lambda` in units of mu.
fn mmc(lambda: f64, workers: u32, limit: u32, requests: f64) -> Scenario {
    let rate = lambda * 1_000.0;
    let horizon_us = (requests / rate * 1e6) as u64;
    scenario(&format!(
        r#"{{"tidegate":1,"run":{{"horizon_us":{horizon_us}}},
            "classes":[{{"name":"all","load":{{"kind":"poisson","rate_per_s":{rate}}}}}],
            "stages":[{{"name":"serve","workers":{workers},"queue":{{"policy":"tail_drop","limit":{limit}}},
                       "work":{{"at":"stage","service":{{"law":"exponential","mean_us":1000}}}}}}]}}"#
    ))
}

fn loss(run: &RunResult) -> f64 {
    let class = &run.classes[0];
    class.shed.iter().sum::<u64>() as f64 / class.arrived as f64
}

#[test]
fn mm1_waits_and_quantiles() {
    // lambda, Wq, p95 and p99 of the response time; requests a replication; tightness.
    for (lambda, wq, p95, p99, requests, tight) in [
        (0.5, 1.0, 5.991_464_547, 9.210_340_372, 60e3, 0.03),
        (0.75, 3.0, 11.982_929_09, 18.420_680_74, 100e3, 0.04),
        (0.8, 4.0, 14.978_661_37, 23.025_850_93, 120e3, 0.04),
        (0.9, 9.0, 29.957_322_74, 46.051_701_86, 200e3, 0.07),
    ] {
        let runs = runs(&mmc(lambda, 1, 1_000_000, requests));
        check(&format!("M/M/1 at {lambda}, wait"), &runs, wait(0), wq, tight);
        let quantile = |q| move |run: &RunResult| run.classes[0].response.quantile_s(q).unwrap() * 1e3;
        check(&format!("M/M/1 at {lambda}, p95"), &runs, quantile(0.95), p95, tight * 1.2);
        check(&format!("M/M/1 at {lambda}, p99"), &runs, quantile(0.99), p99, tight * 1.5);
    }
}

#[test]
fn mmc_waits_by_erlang_c() {
    // lambda / mu, c, Wq mu.
    for (a, c, wq, requests, tight) in [
        (2.0, 3, 0.444_444_444_4, 80e3, 0.05),
        (1.8, 2, 0.852_631_578_9 * 5.0, 200e3, 0.08),
        (1.8, 4, 0.011_684_876_98 * 5.0, 100e3, 0.05),
        (0.5, 2, 0.006_666_666_667 * 10.0, 60e3, 0.06),
        (7.2, 8, 0.876_916_237_7, 200e3, 0.08),
        (14.4, 16, 0.369_589_621_2, 300e3, 0.08),
    ] {
        let runs = runs(&mmc(a, c, 1_000_000, requests));
        check(&format!("M/M/{c} at {a} erlang, wait"), &runs, wait(0), wq, tight);
    }
}

#[test]
fn blocking_by_erlang_b_and_finite_buffers() {
    // lambda / mu, c, K, loss, and the wait of those accepted where anybody may wait.
    for (a, c, k, want_loss, wq, tight) in [
        (0.5, 1, 1, 0.333_333_333_3, None, 0.02),
        (3.0, 5, 5, 0.110_054_347_8, None, 0.03),
        (12.0, 15, 15, 0.085_729_249_5, None, 0.04),
        (5.0, 4, 6, 0.293_542_993_5, Some(0.023_268_801_19 * 10.0), 0.03),
        (1.0, 1, 11, 1.0 / 12.0, Some(5.0), 0.07),
        (2.0, 1, 10, 0.500_244_259_9, Some(8.009_775_171), 0.01),
        (12.0, 8, 50, 0.333_333_336_2, Some(5.000_000_074), 0.01),
    ] {
        let runs = runs(&mmc(a, c, k - c, 60e3));
        check(&format!("M/M/{c}/{k} at {a} erlang, loss"), &runs, loss, want_loss, tight);
        if let Some(wq) = wq {
            check(&format!("M/M/{c}/{k} at {a} erlang, wait"), &runs, wait(0), wq, tight);
        }
    }
}

/// Cobham: one worker, classes in strict priority, not preempted; the most urgent class listed first.
#[test]
fn strict_priority_waits_as_cobham_says() {
    for (lambdas, waits, tight) in [
        (vec![0.2, 0.6], vec![1.0, 5.0], 0.05),
        (vec![0.1, 0.2, 0.25, 0.35], vec![1.0, 1.428_571_429, 2.857_142_857, 20.0], 0.10),
    ] {
        let scenario = priorities(&lambdas, 1, "strict_priority");
        let runs = runs(&scenario);
        for (class, &want) in waits.iter().enumerate() {
            check(&format!("Cobham {lambdas:?}, class {class}"), &runs, wait(class), want, tight);
        }
        // Kleinrock's conservation law: sum rho_i W_i = rho^2 / (1 - rho) whatever the order.
        let rho: f64 = lambdas.iter().sum();
        let weighted = |run: &RunResult| {
            lambdas.iter().enumerate().map(|(class, rho)| rho * wait(class)(run)).sum::<f64>()
        };
        check(&format!("conservation {lambdas:?}"), &runs, weighted, rho * rho / (1.0 - rho), tight);
        // The page and the command line show the same closed form beside the figure.
        let report = Report::of(&scenario, &runs[..1]);
        for (class, &want) in waits.iter().enumerate() {
            let shown = report.classes[class].wait_s.theory.unwrap() * 1e3;
            assert!(
                (shown - want).abs() < 1e-6 * want,
                "theory shown for class {class}: {shown}, want {want}"
            );
        }
    }
}

#[test]
fn strict_priority_with_eight_workers() {
    let runs = runs(&priorities(&[1.0, 2.0, 2.5, 1.5], 8, "strict_priority"));
    for (class, want) in
        [0.090_759_431_08, 0.145_215_089_7, 0.406_602_251_2, 2.033_011_256].into_iter().enumerate()
    {
        check(&format!("M/M/8 with priority, class {class}"), &runs, wait(class), want, 0.12);
    }
}

/// First come first served ignores class: everybody waits as in M/M/1.
#[test]
fn fifo_treats_classes_alike() {
    let runs = runs(&priorities(&[0.2, 0.6], 1, "fifo"));
    check("fifo, class 0", &runs, wait(0), 4.0, 0.05);
    check("fifo, class 1", &runs, wait(1), 4.0, 0.05);
}

/// Classes with the given rates (the first the most urgent) at exponential workers of mean 1 ms.
fn priorities(lambdas: &[f64], workers: u32, order: &str) -> Scenario {
    let classes: Vec<String> = lambdas
        .iter()
        .enumerate()
        .map(|(n, lambda)| {
            format!(
                r#"{{"name":"c{n}","priority":{},"load":{{"kind":"poisson","rate_per_s":{}}}}}"#,
                lambdas.len() - 1 - n,
                lambda * 1_000.0
            )
        })
        .collect();
    scenario(&format!(
        r#"{{"tidegate":1,"run":{{"horizon_us":{}}},"classes":[{}],
            "stages":[{{"name":"serve","workers":{workers},"order":"{order}",
                       "queue":{{"policy":"tail_drop","limit":1000000}},
                       "work":{{"at":"stage","service":{{"law":"exponential","mean_us":1000}}}}}}]}}"#,
        (250e6 / f64::from(workers)) as u64,
        classes.join(",")
    ))
}

/// Round robin over k servers with a line in each is E_k/M/1 at every server (oracle 6.8).
#[test]
fn round_robin_makes_arrivals_regular() {
    let scenario = scenario(
        r#"{"tidegate":1,"run":{"horizon_us":60000000},
            "classes":[{"name":"all","load":{"kind":"poisson","rate_per_s":3200},
                        "service":{"law":"exponential","mean_us":1000}}],
            "stages":[{"name":"serve","workers":100000,"work":{"at":"servers"}}],
            "balancer":{"policy":"round_robin"},
            "servers":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]}"#,
    );
    // The line is inside the servers, so the wait is what the response has beyond one mean service.
    let line = |run: &RunResult| run.classes[0].response.mean_s().unwrap() * 1e3 - 1.0;
    check("E4/M/1 at 0.8", &runs(&scenario), line, 2.267_383_61, 0.05);
}

/// Machine repair (oracle 6.6): 20 clients, think 10, service 1: X 0.998, R 10.037 for one worker.
#[test]
fn closed_clients_as_in_machine_repair() {
    for (workers, x, r) in [(1, 0.998_130_950_1, 10.037_450_99), (2, 1.654_790_576, 2.086_121_528)] {
        let scenario = scenario(&format!(
            r#"{{"tidegate":1,"run":{{"horizon_us":60000000}},
                "classes":[{{"name":"all","load":{{"kind":"closed","clients":20,
                             "think":{{"law":"exponential","mean_us":10000}}}}}}],
                "stages":[{{"name":"serve","workers":{workers},
                           "work":{{"at":"stage","service":{{"law":"exponential","mean_us":1000}}}}}}]}}"#
        ));
        let runs = runs(&scenario);
        let measured_ms = 54_000.0;
        check(
            &format!("machine repair, {workers} workers, throughput"),
            &runs,
            |run| run.classes[0].measured_completed as f64 / measured_ms,
            x,
            0.01,
        );
        let response = |run: &RunResult| run.classes[0].response.mean_s().unwrap() * 1e3;
        check(&format!("machine repair, {workers} workers, response"), &runs, response, r, 0.02);
    }
}
