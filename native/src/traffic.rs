//! The `origin`, `load` and `agent` commands: both ends of real traffic, for tests and trials, and what says how loaded
//! a real server is.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;

use crate::agent::{self, AgentConfig};
use crate::cli::{AgentArgs, LoadArgs, LoadFormat, OriginArgs};
use crate::load::{self, LoadConfig};
use crate::origin::{self, OriginConfig};
use crate::serve::shutdown::Shutdown;
use crate::serving::{failure, on_runtime};
use crate::text::{BOLD, WARN, styled};
use crate::{output, source};

/// Runs an emulated backend until it is told to stop.
///
/// # Errors
/// An address that cannot be used.
pub(crate) fn origin(args: &OriginArgs) -> anyhow::Result<()> {
    let config = OriginConfig {
        listen: args.listen,
        service: args.service.clone(),
        slots: args.slots as usize,
        queue: args.queue as usize,
        speed: args.speed,
        seed: args.seed,
        report: args.report,
        agent_check: args.agent_check,
    };
    let slots = args.slots;
    on_runtime(async move {
        let shutdown = Shutdown::on_signals().context("cannot listen to signals")?;
        let ready = |address, checks| {
            let address = styled(BOLD, format!("http://{address}"));
            // Whoever closed our output early does not want to read it.
            let _ = output::print(&format!("origin on {address}, {slots} at once\n{}", checked_at(checks)));
        };
        origin::run(config, shutdown, ready).await.map_err(failure)
    })
}

/// Says how loaded this machine is until it is told to stop.
///
/// # Errors
/// An address that cannot be used, or a machine without `/proc`.
pub(crate) fn agent(args: &AgentArgs) -> anyhow::Result<()> {
    let config = AgentConfig {
        listen: args.listen,
        agent_check: args.agent_check,
        interval: Duration::from_secs_f64(args.interval),
        period: Duration::from_secs_f64(args.period),
        net_speed: args.net_speed,
        rooms: args.rooms_file.clone().zip(args.rooms_limit.map(f64::from)),
        drain: args.drain,
    };
    on_runtime(async move {
        let shutdown = Shutdown::on_signals().context("cannot listen to signals")?;
        let ready = |address, checks| {
            let address = styled(BOLD, format!("http://{address}/load"));
            // Whoever closed our output early does not want to read it.
            let _ = output::print(&format!("agent on {address}\n{}", checked_at(checks)));
        };
        agent::run(config, shutdown, ready).await
    })
}

/// Where agent checks are answered, for the reader of the terminal.
fn checked_at(address: Option<SocketAddr>) -> String {
    address
        .map_or(String::new(), |address| format!("agent checks on {}\n", styled(BOLD, address.to_string())))
}

/// Plays a scenario's clients against a server, and prints what became of their requests.
///
/// # Errors
/// [`BadScenario`](crate::failure::BadScenario) for a wrong scenario.
pub(crate) fn load(args: &LoadArgs) -> anyhow::Result<()> {
    let mut parsed = source::load(&args.scenario)?;
    if let Some(seed) = args.seed {
        parsed.wire.run.seed = seed;
    }
    let scenario = source::checked(Ok(parsed))?;
    for class in load::silent(&scenario) {
        anstream::eprintln!(
            "{} {class}: replays recorded traffic, which is not here; it stays silent",
            styled(WARN, "note:")
        );
    }
    let mut config = LoadConfig::new(scenario, args.target.clone());
    config.duration = args.duration.map(Duration::try_from_secs_f64).transpose().context("--duration")?;
    config.repeat = args.repeat;
    config.outstanding = args.outstanding as usize;
    config.timeout = Duration::try_from_secs_f64(args.timeout).context("--timeout")?;
    config.warmup = Duration::try_from_secs_f64(args.warmup).context("--warmup")?;
    let format = args.format;
    on_runtime(async move {
        let shutdown = Shutdown::on_signals().context("cannot listen to signals")?;
        let report = load::run(config, shutdown).await;
        output::print(&match format {
            LoadFormat::Table => format!("{report}\n"),
            LoadFormat::Json => format!("{:#}\n", report.to_json()),
        })
    })
}
