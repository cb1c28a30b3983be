//! `tidegate serve`: the gateway on real HTTP traffic.
//!
//! Two listeners. The first takes clients (HTTP/1.1, and HTTP/2 with prior knowledge) and passes their requests to the
//! servers as the scenario's policy says, or answers them with files. The second, for the operator, tells how it goes and serves the page in live
//! mode; it shares nothing with the first but the process, so that overload on one is not felt on the other.
//!
//! | file | |
//! |---|---|
//! | `driver` | the core in real time: lock, clock, timer |
//! | `proxy` | one request on its way |
//! | `connection` | one client connection: protocol, time limits, leaving |
//! | `registry` | the servers as they come and go |
//! | `upstream` | one server: connections, whether it can be reached |
//! | `reports`, `health`, `fetch` | what servers say of their load, whether they are well, and how they are asked |
//! | `files`, `pace` | files in place of servers, and the rate at which they are sent |
//! | `size` | how large an answer will be |
//! | `body`, `hold`, `fields`, `forwarded`, `answers`, `tunnel` | the parts of an exchange |
//! | `admin`, `metrics`, `events`, `watch` | what the operator sees, and hears of without asking |
//! | `shutdown` | stopping in two steps |
//!
//! Everything is bounded: connections, heads, queues (by the scenario), pools, and every wait.

mod admin;
mod answers;
pub(crate) mod body;
pub(crate) mod connection;
mod driver;
mod events;
mod fetch;
mod fields;
mod files;
mod forwarded;
mod health;
mod hold;
mod metrics;
mod pace;
mod proxy;
mod registry;
mod reports;
pub(crate) mod shutdown;
mod size;
mod tunnel;
mod upstream;
mod watch;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};
use ipnet::IpNet;
use serde_json::json;
use tidegate_core::classify::Classifier;
use tidegate_core::scenario::{self, Scenario};
use tokio::net::TcpListener;

use self::admin::Admin;
use self::connection::{Rules, accept};
use self::driver::Driver;
use self::files::Files;
pub(crate) use self::files::FilesConfig;
pub(crate) use self::health::HealthConfig;
use self::proxy::{Counts, Gate};
use self::registry::{Registry, Sources};
pub(crate) use self::registry::{RegistryConfig, Token, Wrong, read_one, read_table};
pub(crate) use self::reports::{Kind, ReportsConfig};
use self::shutdown::Shutdown;
use self::size::Sizes;
use self::upstream::Connecting;
use crate::assets::Assets;

/// What to serve, and how.
#[derive(Clone, Debug)]
pub(crate) struct ServeConfig {
    /// Whose policy runs; without one, a single class, and least connections over all upstreams.
    pub(crate) scenario: Option<Scenario>,
    /// Where clients connect; port 0 takes any free one.
    pub(crate) listen: SocketAddr,
    /// Where the operator connects, if anywhere; port 0 takes any free one.
    pub(crate) admin: Option<SocketAddr>,
    /// Where the answers come from.
    pub(crate) behind: Behind,
    /// Peers whose forwarding and class headers count.
    pub(crate) trusted: Vec<IpNet>,
    /// The header in which trusted peers declare the size of an answer.
    pub(crate) size_header: Option<HeaderName>,
    /// Where servers come from, beside that.
    pub(crate) registry: RegistryConfig,
    /// What servers say of themselves.
    pub(crate) feedback: Feedback,
    /// Bounds.
    pub(crate) limits: Limits,
    /// The page, for the admin listener.
    pub(crate) assets: Assets,
}

/// How the gateway learns of its servers, beside the connections that can or cannot be made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Feedback {
    /// Whether load reports in the header of an answer stay here.
    pub(crate) strip: bool,
    /// Where load is asked for, if anywhere.
    pub(crate) reports: Option<ReportsConfig>,
    /// How servers are checked, if they are.
    pub(crate) health: Option<HealthConfig>,
}

impl Default for Feedback {
    fn default() -> Self {
        Self { strip: true, reports: None, health: None }
    }
}

/// Where the answers come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Behind {
    /// Servers, one for each of the scenario's, unless they come and go.
    Upstreams(Vec<Target>),
    /// A folder; the scenario's servers, if it has any, are only counted.
    Files(FilesConfig),
}

/// A real server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    /// Which of the scenario's servers it is; by position if not said.
    pub(crate) name: Option<String>,
    /// `http://HOST[:PORT]`, nothing more.
    pub(crate) url: Uri,
    /// What it counts, if not what the scenario says.
    pub(crate) weight: Option<f64>,
    /// The most it is sent at once, if not what the scenario says.
    pub(crate) max_in_flight: Option<u32>,
}

/// Bounds on what a client or a server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Client connections at once; more wait in the kernel's backlog.
    pub(crate) connections: usize,
    /// Bytes of one request's head.
    pub(crate) header_bytes: usize,
    /// Longest time for a complete head.
    pub(crate) header_timeout: Duration,
    /// Longest pause between two requests of a connection.
    pub(crate) idle_timeout: Duration,
    /// Longest time a client may take nothing of its answer.
    pub(crate) write_timeout: Duration,
    /// Longest pause within a body, of a client or of a server.
    pub(crate) body_timeout: Duration,
    /// Longest wait in the queue for classes without a deadline.
    pub(crate) queue_timeout: Duration,
    /// Longest wait for a connection to a server.
    pub(crate) connect_timeout: Duration,
    /// How long an unused connection to a server is kept.
    pub(crate) pool_timeout: Duration,
    /// Longest wait for a server's answer to begin, after the last of the request.
    pub(crate) answer_timeout: Duration,
    /// How long a client that asked `Expect: 100-continue` waits if the server does not answer the question.
    pub(crate) continue_timeout: Duration,
    /// Longest silence of a tunnel (WebSocket).
    pub(crate) tunnel_timeout: Duration,
    /// Longest wait for requests in work when asked to stop.
    pub(crate) drain_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            header_bytes: 64 * 1024,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(60),
            queue_timeout: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(2),
            pool_timeout: Duration::from_secs(15),
            answer_timeout: Duration::from_secs(60),
            continue_timeout: Duration::from_secs(1),
            tunnel_timeout: Duration::from_secs(600),
            drain_timeout: Duration::from_secs(30),
        }
    }
}

impl Limits {
    fn queue_timeout(&self) -> tidegate_core::time::Duration {
        let ns = u64::try_from(self.queue_timeout.as_nanos()).unwrap_or(u64::MAX);
        tidegate_core::time::Duration::from_nanos(ns)
    }

    fn rules(&self) -> Rules {
        Rules {
            connections: self.connections,
            header_bytes: self.header_bytes,
            header_timeout: self.header_timeout,
            idle_timeout: self.idle_timeout,
            write_timeout: self.write_timeout,
        }
    }
}

/// Where a running gateway can be reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addresses {
    /// For clients.
    pub(crate) listen: SocketAddr,
    /// For the operator.
    pub(crate) admin: Option<SocketAddr>,
}

/// Why there is no gateway.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum ServeError {
    /// The scenario does not fit the upstreams, or cannot be served at all.
    Scenario(String),
    /// An address cannot be listened on.
    Listen(SocketAddr, io::Error),
    /// A folder cannot be served from.
    Files(PathBuf, io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(problem) => f.write_str(problem),
            Self::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Self::Files(folder, error) => write!(f, "cannot serve files from {}: {error}", folder.display()),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Scenario(_) => None,
            Self::Listen(_, error) | Self::Files(_, error) => Some(error),
        }
    }
}

/// Workers a server, or the folder, gets in the scenario that is made up when none is given.
const WORKERS: usize = 64;
/// For how many servers at least there are workers where they come and go.
const EXPECTED: usize = 16;

/// Serves until the shutdown has ended. `ready` hears of the addresses once both listeners stand.
///
/// # Errors
/// [`ServeError`], before the first request.
pub(crate) async fn run(
    config: ServeConfig,
    shutdown: Shutdown,
    ready: impl FnOnce(Addresses),
) -> Result<(), ServeError> {
    let ServeConfig {
        scenario,
        listen,
        admin,
        behind,
        registry: coming,
        trusted,
        size_header,
        feedback,
        limits,
        assets,
    } = config;
    let scenario = match scenario {
        Some(scenario) => scenario,
        None => plain(&behind, &coming)?,
    };
    let (sources, first) = Sources::read(&coming).map_err(ServeError::Scenario)?;
    let driver = Driver::new(&scenario);
    let connecting = Connecting { timeout: limits.connect_timeout, idle_timeout: limits.pool_timeout };
    let (targets, files) = match behind {
        Behind::Upstreams(targets) => (targets, None),
        Behind::Files(config) => {
            let files = Files::open(&config).map_err(|error| ServeError::Files(config.folder, error))?;
            (Vec::new(), Some(files))
        }
    };
    // Where files are served there are no servers to change.
    let token = coming.token.clone().filter(|_| files.is_none());
    let registry = match &files {
        Some(_) => Registry::fixed(&scenario, &[], Arc::clone(&driver), connecting, feedback.clone()),
        None if coming.is_open() => {
            may_be_open(&scenario)?;
            Registry::open(&scenario, targets, Arc::clone(&driver), connecting, feedback.clone())
                .map_err(|refused| ServeError::Scenario(format!("upstreams: {refused}")))?
        }
        None => {
            let targets = in_order(&scenario, targets)?;
            Registry::fixed(&scenario, &targets, Arc::clone(&driver), connecting, feedback.clone())
        }
    };
    let listener = bind(listen).await?;
    let admin = match admin {
        Some(address) => Some(bind(address).await?),
        None => None,
    };
    let shutdown = shutdown.bounded(limits.drain_timeout);
    let gate = Arc::new(Gate {
        classifier: Classifier::new(&scenario),
        class_names: scenario.classes.iter().map(|class| header_value(&class.name)).collect(),
        driver: Arc::clone(&driver),
        registry: Arc::clone(&registry),
        files,
        sizes: Sizes::new(scenario.classes.len(), size_header),
        trusted,
        limits,
        strip_load_reports: feedback.strip,
        counts: Counts::default(),
        shutdown: shutdown.clone(),
        scenario,
    });

    let timer = tokio::spawn(driver.keep_time());
    let address = |listener: &TcpListener, asked| listener.local_addr().unwrap_or(asked);
    let addresses = Addresses {
        listen: address(&listener, listen),
        admin: admin.as_ref().map(|one| address(one, listen)),
    };
    let (stop_admin, admin_shutdown) = shutdown::channel();
    let admin = admin.map(|listener| {
        let admin = Admin::new(Arc::clone(&gate), token, &feedback, assets, &addresses);
        let sampler = tokio::spawn(events::sample(Arc::clone(&gate), admin.feed()));
        let accepting = tokio::spawn(accept(listener, Arc::new(admin), Admin::RULES, admin_shutdown));
        (sampler, accepting)
    });
    let watching = tokio::spawn(watch::watch(Arc::clone(&gate)));
    let following = sources.follow(first, &registry);
    ready(addresses);
    accept(listener, gate, limits.rules(), shutdown).await;
    // The operator can look on to the end.
    stop_admin.cut();
    if let Some((sampler, accepting)) = admin {
        sampler.abort();
        let _ = accepting.await;
    }
    watching.abort();
    drop(following);
    timer.abort();
    Ok(())
}

async fn bind(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|error| ServeError::Listen(address, error))
}

fn must_work_at_servers(scenario: &Scenario) -> Result<(), ServeError> {
    if scenario.serving_stage.is_none() {
        let problem =
            "stages: one of them works at servers, found none; there is nothing to pass requests to";
        return Err(ServeError::Scenario(problem.to_owned()));
    }
    Ok(())
}

/// Whether servers may come and go.
fn may_be_open(scenario: &Scenario) -> Result<(), ServeError> {
    must_work_at_servers(scenario)?;
    // Gateways of one scenario would number servers that come and go differently.
    match scenario.gateways {
        1 => Ok(()),
        n => Err(ServeError::Scenario(format!("gateways: 1 where servers come and go, found {n}"))),
    }
}

/// The upstreams in the order of the scenario's servers.
fn in_order(scenario: &Scenario, targets: Vec<Target>) -> Result<Vec<Target>, ServeError> {
    must_work_at_servers(scenario)?;
    let servers = &scenario.servers;
    if targets.len() != servers.len() {
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        return Err(ServeError::Scenario(format!(
            "upstreams: as many as the scenario has servers ({}: {}), found {}",
            servers.len(),
            names.join(", "),
            targets.len(),
        )));
    }
    let mut places: Vec<Option<Target>> = vec![None; servers.len()];
    let (named, unnamed): (Vec<_>, Vec<_>) = targets.into_iter().partition(|target| target.name.is_some());
    for target in named {
        let name = target.name.as_deref().unwrap_or_default();
        let Some(place) = servers.iter().position(|server| server.name == name) else {
            return Err(ServeError::Scenario(format!("upstreams: a server of the scenario, found {name}")));
        };
        if places[place].is_some() {
            return Err(ServeError::Scenario(format!("upstreams: every server once, found {name} twice")));
        }
        places[place] = Some(target);
    }
    let mut rest = unnamed.into_iter();
    let placed = places.into_iter().map(|place| place.or_else(|| rest.next()));
    Ok(placed.map(|target| target.expect("as many targets as servers")).collect())
}

/// A scenario for whoever gives none.
fn plain(behind: &Behind, coming: &RegistryConfig) -> Result<Scenario, ServeError> {
    let (stage, servers) = match behind {
        Behind::Upstreams(targets) if targets.is_empty() && !coming.is_open() => {
            return Err(ServeError::Scenario(
                "upstreams: at least one, unless servers come by --servers-file, --dns or the API (with a token), found none"
                    .to_owned(),
            ));
        }
        Behind::Upstreams(targets) => {
            let least = if coming.is_open() { EXPECTED } else { 0 };
            let workers = WORKERS * targets.len().max(least);
            let work = json!({ "at": "servers" });
            // Whoever comes later is like the last.
            (json!({ "name": "serve", "workers": workers, "work": work }), targets.len().max(1))
        }
        Behind::Files(_) => {
            let work = json!({ "at": "stage", "service": { "law": "constant", "mean_us": 0 } });
            (json!({ "name": "send", "workers": WORKERS, "work": work }), 0)
        }
    };
    let names: Vec<_> = plain_names(behind, servers).iter().map(|name| json!({ "name": name })).collect();
    let value = json!({
        "tidegate": 1,
        "title": "Gateway",
        "classes": [{ "name": "all" }],
        "stages": [stage],
        "servers": names,
    });
    scenario::from_value(&value)
        .and_then(|parsed| Scenario::check(parsed.wire))
        .map_err(|error| ServeError::Scenario(error.to_string()))
}

/// What the servers of such a scenario are called: as the upstreams are, unless that would be one name for two.
fn plain_names(behind: &Behind, servers: usize) -> Vec<String> {
    let targets = match behind {
        Behind::Upstreams(targets) => targets.as_slice(),
        Behind::Files(_) => &[],
    };
    let plain = |n: usize| format!("server-{}", n + 1);
    let given = |n: usize| targets.get(n).and_then(|target: &Target| target.name.clone());
    let names: Vec<String> = (0..servers).map(|n| given(n).unwrap_or_else(|| plain(n))).collect();
    let twice = names.iter().enumerate().any(|(n, name)| names[..n].contains(name));
    if twice { (0..servers).map(plain).collect() } else { names }
}

/// A class name as a header value; what cannot be written in one is replaced.
fn header_value(name: &str) -> HeaderValue {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
    HeaderValue::try_from(plain).unwrap_or(HeaderValue::from_static("?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Target {
        let (name, url) =
            text.split_once('=').map_or((None, text), |(name, url)| (Some(name.to_owned()), url));
        Target { name, url: url.parse().unwrap(), weight: None, max_in_flight: None }
    }

    fn order(targets: &[&str]) -> Result<Vec<String>, String> {
        let three = ["http://x", "http://y", "http://z"].map(target);
        let scenario = plain(&Behind::Upstreams(three.into()), &RegistryConfig::default()).unwrap();
        let ordered = in_order(&scenario, targets.iter().map(|text| target(text)).collect());
        Ok(ordered
            .map_err(|e| e.to_string())?
            .into_iter()
            .map(|t| t.url.host().unwrap().to_owned())
            .collect())
    }

    #[test]
    fn without_a_scenario_servers_are_called_as_the_upstreams_are() {
        let check = |targets: &[&str], want: &[&str]| {
            let targets: Vec<Target> = targets.iter().map(|text| target(text)).collect();
            let scenario = plain(&Behind::Upstreams(targets), &RegistryConfig::default()).unwrap();
            let names: Vec<&str> = scenario.servers.iter().map(|server| server.name.as_str()).collect();
            assert_eq!(names, want);
        };
        check(&["a=http://x", "http://y"], &["a", "server-2"]);
        check(&["server-2=http://x", "http://y"], &["server-1", "server-2"]);
        check(&["a=http://x", "a=http://y"], &["server-1", "server-2"]);
    }

    #[test]
    fn upstreams_stand_for_servers_by_name_then_by_position() {
        assert_eq!(order(&["http://a", "http://b", "http://c"]).unwrap(), ["a", "b", "c"]);
        assert_eq!(order(&["server-2=http://a", "http://b", "http://c"]).unwrap(), ["b", "a", "c"]);
        for (targets, want) in [
            (
                &["http://a"][..],
                "upstreams: as many as the scenario has servers (3: server-1, server-2, server-3), found 1",
            ),
            (&["x=http://a", "http://b", "http://c"], "upstreams: a server of the scenario, found x"),
            (
                &["server-1=http://a", "server-1=http://b", "http://c"],
                "upstreams: every server once, found server-1 twice",
            ),
        ] {
            assert_eq!(order(targets).unwrap_err(), want);
        }
    }
}
