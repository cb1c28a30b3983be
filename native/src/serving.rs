//! The `serve` command: settings and scenario put together, the gateway started, and said where it is.

use anyhow::Context as _;
use tidegate_core::scenario::{Parsed, Scenario, parse};

use crate::cli::ServeArgs;
use crate::config::{ScenarioSource, ServeSettings};
use crate::failure::BadScenario;
use crate::serve::shutdown::Shutdown;
use crate::serve::{self, Addresses, Behind, ServeConfig, ServeError};
use crate::source::{self, Document};
use crate::text::{BOLD, WARN, styled};
use crate::{assets::Assets, check, output};

/// Serves until it is told to stop.
///
/// # Errors
/// [`BadScenario`] for a wrong scenario or setting; else an address that cannot be used.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let settings = ServeSettings::from_args(args)?;
    let scenario = settings.scenario.map(scenario).transpose()?;
    for warning in scenario.iter().flat_map(check::warnings) {
        anstream::eprintln!("{} {warning}", styled(WARN, "warning:"));
    }
    let described = scenario.as_ref().map_or_else(|| undescribed(&settings.behind).to_owned(), described);
    let files = match &settings.behind {
        Behind::Files(files) => Some(files.folder.display().to_string()),
        Behind::Upstreams(_) => None,
    };
    let config = ServeConfig {
        scenario,
        listen: settings.listen,
        admin: settings.admin,
        behind: settings.behind,
        trusted: settings.trusted,
        size_header: settings.size_header,
        registry: settings.registry,
        feedback: settings.feedback,
        limits: settings.limits,
        assets: Assets::new(args.www.clone()),
    };
    on_runtime(async move {
        let shutdown = Shutdown::on_signals().context("cannot listen to signals")?;
        let ready = |addresses: Addresses| {
            // Whoever closed our output early does not want to read it.
            let _ = output::print(&announcement(&described, files.as_deref(), addresses));
        };
        serve::run(config, shutdown, ready).await.map_err(failure)
    })
}

/// Runs `work` on all processors.
///
/// # Errors
/// Those of `work`.
pub(crate) fn on_runtime(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    runtime.block_on(work)
}

/// The gateway's error as this binary's, so that the exit status tells.
pub(crate) fn failure(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::Scenario(problem) => BadScenario(problem).into(),
        // The text has the cause already.
        other => anyhow::anyhow!("{other}"),
    }
}

/// The scenario to serve. A misspelt field in a file would silently weaken a gateway, so it is an error; a link may
/// come from a later release, so there it is noted.
fn scenario(from: ScenarioSource) -> anyhow::Result<Scenario> {
    let value = match from {
        ScenarioSource::Table(value) => value,
        ScenarioSource::Reference(reference) => match source::document(&reference)? {
            Document::Value(value) => value,
            Document::Link(link) => {
                source::note_unknown(&link.parsed);
                return source::checked(Ok(link.parsed));
            }
        },
    };
    source::checked(parse::from_value(&value).and_then(Parsed::deny_unknown))
}

fn described(scenario: &Scenario) -> String {
    let title = &scenario.wire().title;
    let parts = check::parts(scenario);
    if title.is_empty() { parts } else { format!("{title} ({parts})") }
}

/// What the gateway does without a scenario.
const fn undescribed(behind: &Behind) -> &'static str {
    match behind {
        Behind::Upstreams(_) => "no scenario: one class, least connections",
        Behind::Files(_) => "no scenario: one class",
    }
}

/// What is served where, for the reader of the terminal.
fn announcement(policy: &str, files: Option<&str>, addresses: Addresses) -> String {
    let address = |address| styled(BOLD, format!("http://{address}"));
    let mut text = format!("Tidegate {}: {policy}\n", env!("CARGO_PKG_VERSION"));
    text += &format!("  clients   {}\n", address(addresses.listen));
    if let Some(folder) = files {
        text += &format!("  files     {folder}\n");
    }
    if let Some(admin) = addresses.admin {
        text += &format!(
            "  operator  {}  the page, /metrics, /state, /events, /servers, /livez, /readyz\n",
            address(admin)
        );
    }
    text + "SIGTERM or Ctrl-C finishes what is in work and stops; the second one stops at once.\n"
}
