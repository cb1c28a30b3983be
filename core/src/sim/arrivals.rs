//! Open-loop arrivals: requests that come whatever becomes of those before them.

use super::random::{Exponentials, Stream};
use crate::scenario::v1::LoadV1;
use crate::time::{Duration, Instant};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A recorded request of one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    pub at: Instant,
    pub service: Option<Duration>,
}

/// How requests of one class arrive.
#[derive(Clone, Debug)]
enum Process {
    /// No open-loop arrivals: the class has closed clients.
    None,
    Poisson {
        rate_per_s: f64,
        /// Mean gap under the present load factor; `None` if nobody comes.
        mean_gap_ns: Option<f64>,
    },
    Deterministic {
        rate_per_s: f64,
        left: u64,
    },
    /// Phases as (rate, mean length in ns); `until` ends the present one.
    Mmpp {
        phases: Vec<(f64, f64)>,
        phase: usize,
        until: Instant,
    },
    Recorded {
        rows: Arc<[Recorded]>,
        next: usize,
    },
}

impl Process {
    /// What begins at `now`.
    fn new(load: &LoadV1, rows: Option<Arc<[Recorded]>>, now: Instant, gaps: &mut Exponentials) -> Self {
        match load {
            LoadV1::Poisson { rate_per_s } => {
                Self::Poisson { rate_per_s: *rate_per_s, mean_gap_ns: mean_gap_ns(*rate_per_s) }
            }
            LoadV1::Deterministic { rate_per_s, count } => {
                Self::Deterministic { rate_per_s: *rate_per_s, left: count.unwrap_or(u64::MAX) }
            }
            LoadV1::Mmpp { phases } => {
                let phases: Vec<_> = phases.iter().map(|p| (p.rate_per_s, p.mean_us as f64 * 1e3)).collect();
                let until = now + length(phases[0].1, gaps);
                Self::Mmpp { phases, phase: 0, until }
            }
            LoadV1::Closed { .. } => Self::None,
            LoadV1::Trace { .. } => rows.map_or(Self::None, |rows| Self::Recorded { rows, next: 0 }),
        }
    }
}

/// The arrivals of one class.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    process: Process,
    gaps: Exponentials,
    /// What the scenario's timed events multiply the load by.
    factor: f64,
}

impl Arrivals {
    pub(crate) fn new(load: &LoadV1, stream: Stream, rows: Option<Arc<[Recorded]>>) -> Self {
        let mut gaps = Exponentials::new(stream);
        Self { process: Process::new(load, rows, Instant::START, &mut gaps), gaps, factor: 1.0 }
    }

    /// The first arrival of the run.
    pub(crate) fn first(&mut self) -> Option<Instant> {
        match &self.process {
            // Evenly spaced requests begin at time 0, not one interval later.
            Process::Deterministic { rate_per_s, left } => {
                (*rate_per_s > 0.0 && *left > 0).then_some(Instant::START)
            }
            Process::Recorded { rows, .. } => rows.first().map(|row| row.at),
            _ => self.following(Instant::START),
        }
    }

    /// Called when an arrival has come at `now`: what the record says of it, and when the next comes.
    #[inline]
    pub(crate) fn take(&mut self, now: Instant) -> (Option<Duration>, Option<Instant>) {
        match &mut self.process {
            Process::Recorded { rows, next } => {
                let service = rows[*next].service;
                *next += 1;
                (service, rows.get(*next).map(|row| row.at))
            }
            Process::Deterministic { left, .. } => {
                *left -= 1;
                (None, if *left == 0 { None } else { self.following(now) })
            }
            _ => (None, self.following(now)),
        }
    }

    /// Goes by another load from `now` on, with the same stream: when the pending arrival comes instead. Recorded traffic
    /// stays as it was recorded. `made` have come so far.
    pub(crate) fn set_load(
        &mut self,
        now: Instant,
        load: &LoadV1,
        made: u64,
        pending: Option<Instant>,
    ) -> Option<Instant> {
        match (&mut self.process, load) {
            (Process::None | Process::Recorded { .. }, _)
            | (_, LoadV1::Closed { .. } | LoadV1::Trace { .. }) => {
                return pending;
            }
            (
                Process::Deterministic { rate_per_s: old, left },
                LoadV1::Deterministic { rate_per_s, count },
            ) => {
                let before = core::mem::replace(old, *rate_per_s);
                *left = count.map_or(u64::MAX, |count| count.saturating_sub(made));
                let over = *left == 0 || *rate_per_s * self.factor <= 0.0;
                return match pending {
                    _ if over => None,
                    Some(at) => Some(now + part(at.since(now), before / *rate_per_s)),
                    None => self.following(now),
                };
            }
            (Process::Mmpp { phases, phase, until }, LoadV1::Mmpp { phases: new })
                if phases.len() == new.len() =>
            {
                let before = phases[*phase].1;
                *phases = new.iter().map(|p| (p.rate_per_s, p.mean_us as f64 * 1e3)).collect();
                if before != phases[*phase].1 {
                    *until = now + length(phases[*phase].1, &mut self.gaps);
                }
            }
            (process, _) => *process = Process::new(load, None, now, &mut self.gaps),
        }
        self.follow_factor();
        if let Process::Deterministic { left, .. } = &mut self.process {
            *left = left.saturating_sub(if *left == u64::MAX { 0 } else { made });
            if *left == 0 {
                return None;
            }
        }
        self.following(now)
    }

    /// What the scenario's events multiply the load by at present.
    pub(crate) const fn factor(&self) -> f64 {
        self.factor
    }

    fn follow_factor(&mut self) {
        if let Process::Poisson { rate_per_s, mean_gap_ns: gap } = &mut self.process {
            *gap = mean_gap_ns(*rate_per_s * self.factor);
        }
    }

    /// Changes the load at `now`: when the pending arrival comes instead. Recorded traffic stays as it was
    /// recorded; so does evenly spaced traffic that has ended.
    pub(crate) fn set_factor(
        &mut self,
        now: Instant,
        factor: f64,
        pending: Option<Instant>,
    ) -> Option<Instant> {
        let before = core::mem::replace(&mut self.factor, factor);
        self.follow_factor();
        match &self.process {
            Process::None | Process::Recorded { .. } => pending,
            Process::Deterministic { left, .. } => {
                if *left == 0 || factor == 0.0 {
                    return None;
                }
                match pending {
                    // What is left of the interval shrinks or grows with it.
                    Some(at) => {
                        let rest = at.since(now).as_nanos() as f64;
                        Some(now + Duration::from_nanos((rest * before / factor + 0.5) as u64))
                    }
                    None => self.following(now),
                }
            }
            // Memoryless: drawing afresh changes nothing but the rate.
            Process::Poisson { .. } | Process::Mmpp { .. } => self.following(now),
        }
    }

    /// The next arrival after `now`; `None` if the rate is zero for good.
    #[inline]
    fn following(&mut self, now: Instant) -> Option<Instant> {
        match &mut self.process {
            Process::None | Process::Recorded { .. } => None,
            Process::Poisson { mean_gap_ns, .. } => {
                mean_gap_ns.map(|mean| now + length(mean, &mut self.gaps))
            }
            Process::Deterministic { rate_per_s, .. } => {
                let rate = *rate_per_s * self.factor;
                (rate > 0.0).then(|| now + Duration::from_nanos((1e9 / rate + 0.5) as u64))
            }
            Process::Mmpp { phases, phase, until } => {
                if self.factor <= 0.0 || phases.iter().all(|&(rate, _)| rate <= 0.0) {
                    return None;
                }
                let mut at = now;
                loop {
                    let rate = phases[*phase].0 * self.factor;
                    if rate > 0.0 {
                        let candidate = at + length(1e9 / rate, &mut self.gaps);
                        if candidate <= *until {
                            return Some(candidate);
                        }
                    }
                    at = at.max(*until);
                    *phase = (*phase + 1) % phases.len();
                    *until = at + length(phases[*phase].1, &mut self.gaps);
                }
            }
        }
    }
}

/// A length times a factor, to the nearest nanosecond.
fn part(length: Duration, factor: f64) -> Duration {
    Duration::from_nanos((length.as_nanos() as f64 * factor + 0.5) as u64)
}

/// Mean time between two arrivals of so many a second; `None` if there are none.
fn mean_gap_ns(rate_per_s: f64) -> Option<f64> {
    (rate_per_s > 0.0).then(|| 1e9 / rate_per_s)
}

/// An exponential length; at least a nanosecond, so that time always moves on.
#[inline(always)]
fn length(mean_ns: f64, gaps: &mut Exponentials) -> Duration {
    Duration::from_nanos(((mean_ns * gaps.next() + 0.5) as u64).max(1))
}
