//! The scenarios that balancers are compared in: short requests of 20 ms on servers that share their cores, with and
//! without sessions, neighbours and several gateways.

use serde_json::{Value, json};

/// A stretch of a run in which others take a part of a server's processors: from, to (in seconds), server, part taken.
pub type Neighbour = (u32, u32, usize, f64);

/// One scenario.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is called.
    pub name: &'static str,
    /// Cores of each server, which is also its configured weight.
    pub cores: &'static [u32],
    /// Bandwidth of each server, in Mbit/s.
    pub net: &'static [u32],
    /// Load of the cores by short requests.
    pub rho: f64,
    /// Sessions that begin each second; each takes 2 Mbit/s, 0.004 cores and one of 400 places for 120 s on average.
    pub sessions_per_s: f64,
    /// What neighbours take.
    pub neighbours: &'static [Neighbour],
    /// Gateways in front of the servers.
    pub gateways: u32,
    /// Length, in seconds.
    pub length_s: u32,
}

const PLAIN: Case = Case {
    name: "",
    cores: &[4; 8],
    net: &[],
    rho: 0.8,
    sessions_per_s: 0.0,
    neighbours: &[],
    gateways: 1,
    length_s: 400,
};
const MIXED: &[u32] = &[2, 2, 4, 8, 8];

/// Eight equal servers, fairly full.
pub const HOMOG8: Case = Case { name: "homog8", rho: 0.85, ..PLAIN };
/// Eight equal servers, half empty: what the published rule makes of it is the point.
pub const HOMOG8_HALF: Case = Case { name: "homog8-r45", rho: 0.45, ..PLAIN };
/// Unlike servers of known capacity.
pub const HETERO5: Case = Case { name: "hetero5", cores: MIXED, ..PLAIN };
/// The same, and a neighbour on the fourth from 120 to 280 s.
pub const NEIGHBOUR: Case =
    Case { name: "neighbour", cores: MIXED, rho: 0.65, neighbours: &[(120, 280, 3, 0.65)], ..PLAIN };
/// Six equal servers, one of them at a fifth of its speed from 120 to 280 s.
pub const GREY: Case =
    Case { name: "grey", cores: &[4; 6], rho: 0.65, neighbours: &[(120, 280, 1, 0.8)], ..PLAIN };
/// Sessions beside short requests, on servers whose cores and bandwidths are unlike.
pub const SESS: Case = Case {
    name: "sess",
    cores: MIXED,
    net: &[600, 600, 400, 200, 800],
    rho: 0.6,
    sessions_per_s: 6.5,
    length_s: 800,
    ..PLAIN
};
/// Sessions, short requests and a neighbour.
pub const SESS_NEIGHBOUR: Case = Case {
    name: "sess+neigh",
    net: &[600, 600, 400, 400, 800],
    rho: 0.55,
    sessions_per_s: 6.0,
    neighbours: &[(200, 500, 3, 0.65)],
    ..SESS
};
/// Held out when numbers were chosen: seven servers, sessions, two neighbours.
pub const HOLD_7: Case = Case {
    name: "hold-7",
    cores: &[2, 2, 4, 4, 8, 8, 16],
    net: &[800, 300, 600, 200, 400, 1000, 500],
    rho: 0.6,
    sessions_per_s: 10.0,
    neighbours: &[(200, 400, 5, 0.6), (450, 600, 2, 0.7)],
    length_s: 800,
    ..PLAIN
};
/// Held out: four unlike servers behind three gateways, and a neighbour.
pub const HOLD_4: Case = Case {
    name: "hold-4",
    cores: &[4, 4, 8, 8],
    rho: 0.65,
    neighbours: &[(120, 280, 2, 0.6)],
    gateways: 3,
    ..PLAIN
};

impl Case {
    /// The scenario, with reports each `period_s`; measured from 40 s on.
    #[must_use]
    pub fn scenario(&self, period_s: u32) -> Value {
        self.between(40, self.length_s, period_s)
    }

    /// The same run up to the end of its neighbours, measured while they are there.
    #[must_use]
    pub fn while_shared(&self, period_s: u32) -> Value {
        let from = self.neighbours.iter().map(|n| n.0).min().unwrap_or(40);
        let to = self.neighbours.iter().map(|n| n.1).max().unwrap_or(self.length_s);
        self.between(from, to, period_s)
    }

    fn between(&self, from_s: u32, to_s: u32, period_s: u32) -> Value {
        let us = |s: u32| u64::from(s) * 1_000_000;
        let rate = self.rho * f64::from(self.cores.iter().sum::<u32>()) / 0.02;
        let mut classes = vec![json!({
            "name": "Short",
            "load": { "kind": "poisson", "rate_per_s": rate },
            "service": { "law": "exponential", "mean_us": 20_000 },
        })];
        if self.sessions_per_s > 0.0 {
            classes.push(json!({
                "name": "Sessions",
                "kind": "session",
                "load": { "kind": "poisson", "rate_per_s": self.sessions_per_s },
                "service": { "law": "exponential", "mean_us": 120_000_000 },
                "demand": { "cpu": 0.004, "net": 2, "rooms": 1 },
            }));
        }
        let server = |(at, &cores): (usize, &u32)| {
            let capacity = match self.net.get(at) {
                Some(net) => json!({ "net": net, "rooms": 400 }),
                None => json!({}),
            };
            json!({
                "name": format!("s{at}"),
                "slots": cores,
                "weight": cores,
                "discipline": "sharing",
                // A server takes 500 short requests at most, and any number of sessions.
                "max_in_flight": if self.sessions_per_s > 0.0 { 2_000 } else { 500 },
                "capacity": capacity,
            })
        };
        let events = self.neighbours.iter().flat_map(|&(from, to, server, share)| {
            let event = |at: u32, share: f64| json!({ "at_us": us(at), "do": "neighbour", "server": format!("s{server}"), "share": share });
            [event(from, share), event(to, 0.0)]
        });
        let events: Vec<Value> = events.filter(|event| event["at_us"].as_u64() <= Some(us(to_s))).collect();
        json!({
            "tidegate": 1,
            "run": { "horizon_us": us(to_s), "warmup_us": us(from_s) },
            "classes": classes,
            "stages": [{
                "name": "Serve",
                "workers": 20_000,
                "queue": { "policy": "tail_drop", "limit": 100 },
                "work": { "at": "servers" },
            }],
            "feedback": { "period_us": us(period_s) },
            "gateways": self.gateways,
            "servers": self.cores.iter().enumerate().map(server).collect::<Vec<_>>(),
            "events": events,
        })
    }
}
