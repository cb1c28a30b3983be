//! Checks servers on the gateway's own account: a page is fetched again and again, and a row of bad answers takes the
//! server out.
//!
//! This stands beside what traffic finds out: a server that cannot be connected to is out at once, checks or none (see
//! [`upstream`](super::upstream)), and a server is up only if nobody has a reason against it.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::http::uri::PathAndQuery;
use tidegate_core::reports::HealthChecks;

use super::driver::Driver;
use super::reports::paced;
use super::upstream::{Upstream, Why};

/// The longest body of an answer to a check, in bytes; a longer one is a bad answer.
const LONGEST: usize = 64 * 1024;

/// How servers are checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HealthConfig {
    /// The page.
    pub(crate) path: PathAndQuery,
    /// Time between two checks.
    pub(crate) interval: Duration,
    /// Longest wait for an answer, all of it.
    pub(crate) timeout: Duration,
    /// Good answers in a row that bring a server back.
    pub(crate) rise: u32,
    /// Bad ones in a row that take it out.
    pub(crate) fall: u32,
    /// What a good answer's status is.
    pub(crate) status: RangeInclusive<u16>,
}

impl Default for HealthConfig {
    fn default() -> Self {
        Self {
            path: PathAndQuery::from_static("/"),
            interval: Duration::from_secs(2),
            timeout: Duration::from_secs(1),
            rise: 2,
            fall: 3,
            status: 200..=399,
        }
    }
}

/// Checks one server for as long as it is polled.
pub(crate) async fn check_one(driver: Arc<Driver>, upstream: Arc<Upstream>, config: HealthConfig) {
    let mut tick = paced(&driver, config.interval).await;
    let mut checks = HealthChecks::new(config.rise, config.fall);
    loop {
        tick.tick().await;
        let page = upstream.place.get(&config.path, LONGEST, config.timeout).await;
        let good = page.is_ok_and(|page| config.status.contains(&page.status.as_u16()));
        upstream.checks[usize::from(good)].fetch_add(1, Ordering::Relaxed);
        if checks.note(good) {
            upstream.set_out(&driver, Why::Unhealthy, !checks.healthy());
        }
    }
}
