//! The scenarios of the acceptance table: loads that step, turn over, burst and stop; services that are long, uneven or
//! change; pools that are small; clients who think for long.
//!
//! 32 workers of 0.1 s and clients who think for 1 s unless said otherwise; a phase lasts 300 s.

use super::{Case, Phase};
use serde_json::json;

/// The cases of the table.
#[must_use]
pub fn cases() -> Vec<Case> {
    let alike = |load: [f64; 3], classes: usize, service_s: f64| -> Vec<Phase> {
        let phases = load.iter().enumerate();
        phases
            .map(|(at, &load)| Phase {
                start_s: 300 * at as u64,
                load: vec![load; classes],
                service_s: vec![service_s; classes],
            })
            .collect()
    };
    let open = |utilisation: [f64; 3], classes: usize, workers: f64| {
        alike(utilisation.map(|rho| rho * workers / 0.1 / classes as f64), classes, 0.1)
    };
    let each = |phases: [(u64, [f64; 2], [f64; 2]); 3]| -> Vec<Phase> {
        let phase = |(start_s, load, service_s): (u64, [f64; 2], [f64; 2])| Phase {
            start_s,
            load: load.to_vec(),
            service_s: service_s.to_vec(),
        };
        phases.into_iter().map(phase).collect()
    };
    let case = |name, weights: &[f64], workers, phases: Vec<Phase>| Case {
        name,
        weights: weights.to_vec(),
        workers,
        think_s: Some(1.0),
        law: json!({ "law": "exponential" }),
        limit: None,
        end_s: phases.last().map_or(0, |phase| phase.start_s) + 300,
        phases,
    };
    let s = [0.1; 2];
    vec![
        case("closed2", &[1.0, 2.0], 32, alike([200.0, 600.0, 300.0], 2, 0.1)),
        case("closed2-w16", &[1.0, 2.0], 16, alike([100.0, 300.0, 150.0], 2, 0.1)),
        case("closed2-1:4", &[1.0, 4.0], 32, alike([200.0, 600.0, 300.0], 2, 0.1)),
        case("closed3", &[1.0, 2.0, 3.0], 32, alike([160.0, 400.0, 220.0], 3, 0.1)),
        case("closed4", &[1.0, 2.0, 4.0, 8.0], 64, alike([250.0, 600.0, 300.0], 4, 0.1)),
        case(
            "mixflip",
            &[1.0, 2.0],
            32,
            each([(0, [150.0, 750.0], s), (300, [750.0, 150.0], s), (600, [450.0, 450.0], s)]),
        ),
        case(
            "svcstep",
            &[1.0, 2.0],
            32,
            each([
                (0, [300.0, 300.0], s),
                (300, [300.0, 300.0], [0.1, 0.25]),
                (600, [300.0, 300.0], [0.2, 0.08]),
            ]),
        ),
        Case {
            law: json!({ "law": "lognormal", "cv": 3.0 }),
            ..case("logn3", &[1.0, 2.0], 32, alike([200.0, 600.0, 300.0], 2, 0.1))
        },
        Case {
            // As in the prototypes: the largest time is 200 means, and the smallest a third of one.
            law: json!({ "law": "pareto", "alpha": 1.5, "ratio": 600.0 }),
            ..case("pareto1.5", &[1.0, 2.0], 32, alike([200.0, 600.0, 300.0], 2, 0.1))
        },
        Case { think_s: None, ..case("open2", &[1.0, 2.0], 32, open([0.9, 1.3, 0.9], 2, 32.0)) },
        Case {
            think_s: None,
            limit: Some(400),
            ..case("open2-cap", &[1.0, 2.0], 32, open([1.1, 1.5, 1.2], 2, 32.0))
        },
        Case {
            think_s: Some(10.0),
            ..case("think10", &[1.0, 2.0], 32, alike([1780.0, 2300.0, 1880.0], 2, 0.1))
        },
        case("slowsvc", &[1.0, 2.0], 32, alike([60.0, 160.0, 80.0], 2, 1.0)),
        case(
            "empty",
            &[1.0, 2.0],
            32,
            each([(0, [300.0, 300.0], s), (300, [700.0, 0.0], s), (600, [300.0, 300.0], s)]),
        ),
        case("w8n3", &[1.0, 2.0, 3.0], 8, alike([45.0, 100.0, 60.0], 3, 0.1)),
        Case {
            think_s: None,
            ..case(
                "burst60",
                &[1.0, 2.0],
                32,
                each([(0, [144.0, 144.0], s), (300, [208.0, 208.0], s), (360, [144.0, 144.0], s)]),
            )
        },
        Case { think_s: None, ..case("open3-hi", &[1.0, 2.0, 3.0], 32, open([0.97, 1.03, 0.97], 3, 32.0)) },
    ]
}

/// The case of that name.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"))
}
