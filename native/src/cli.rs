//! The command line: what can be asked, and the help that explains it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use ipnet::IpNet;

/// Decides who gets served, how fast, and by which server when a web service is overloaded.
///
/// One policy core, three ways in: play with a scenario in the browser, share it as a link, run it in front of
/// real servers. A simulated run and a running gateway go through the same code.
///
/// SCENARIO, wherever it is asked for, is a file (TOML or JSON), `preset:NAME`, a share link (the whole URL or what
/// follows the #), or `-` for standard input.
#[derive(Debug, Parser)]
#[command(
    name = "tidegate",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:
  tidegate play --demo                       the playground with a live gateway beside it
  tidegate simulate preset:first-look        statistics of one scenario, with intervals
  tidegate serve scenario.toml --upstream http://127.0.0.1:9001
  tidegate link encode scenario.toml         the link that carries this scenario

Exit status: 0; 2 for a scenario that cannot be used; 1 for anything else."
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the playground to a browser.
    Play(PlayArgs),
    /// Print a completion script for a shell.
    #[command(after_help = "Examples:
  tidegate completions bash > ~/.local/share/bash-completion/completions/tidegate
  tidegate completions zsh > ~/.zfunc/_tidegate
  tidegate completions fish > ~/.config/fish/completions/tidegate.fish")]
    Completions {
        /// Which shell.
        shell: Shell,
    },
}

/// Serve the playground to a browser.
///
/// The page is part of the binary and asks nothing from the network. Everything it shows is computed in the browser, by
/// the same engine as `tidegate simulate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate play                    then open the printed address
  tidegate play --demo --open      with real traffic beside the simulation, in your browser
  tidegate play --www www          read the page from disk while working on it")]
pub(crate) struct PlayArgs {
    /// Where to listen. Port 0 takes any free port; the address is printed.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7171")]
    pub(crate) listen: SocketAddr,
    /// Open the page in the default browser.
    #[arg(long)]
    pub(crate) open: bool,
    /// Serve the page from this folder instead of from the binary.
    #[arg(long, value_name = "DIR", env = "TIDEGATE_WWW")]
    pub(crate) www: Option<PathBuf>,
}

/// Run a scenario's policy on real HTTP traffic.
///
/// A reverse proxy: requests are classified, queued, given a worker and sent to a server by the scenario's rules.
/// The scenario's classes, stages and balancer are used; its load, service times and events are for simulations.
/// Upstreams stand for its servers, in order or by name; without SCENARIO there is one class, one stage and least
/// connections over all upstreams.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate serve preset:first-look --upstream http://10.0.0.7:8000 --upstream http://10.0.0.8:8000
  tidegate serve scenario.toml --upstream big=http://10.0.0.7:8000 --upstream small=http://10.0.0.8:8000
  tidegate serve --config /etc/tidegate.toml
  tidegate serve 'https://example.org/#t1z.…' --listen 0.0.0.0:8080 --upstream http://127.0.0.1:9001

A configuration file holds the same settings; what the command line says wins:
  listen = \"0.0.0.0:8080\"
  admin = \"127.0.0.1:9900\"
  scenario = \"scenario.toml\"          # or a [scenario] table
  upstreams = [\"http://10.0.0.7:8000\", \"small=http://10.0.0.8:8000\"]
  trusted = [\"10.0.0.0/8\"]
  [limits]
  connections = 10000
  header_bytes = 65536
  header_timeout_ms = 10000
  connect_timeout_ms = 2000
  answer_timeout_ms = 60000
  drain_timeout_ms = 30000")]
pub(crate) struct ServeArgs {
    /// The scenario whose policy runs: file, preset:NAME, share link or `-`.
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: Option<String>,
    /// Read settings from this TOML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where clients connect [default: 127.0.0.1:8080].
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// A server to send requests to; `NAME=URL` says which of the scenario's servers it is. Repeatable.
    #[arg(long = "upstream", value_name = "URL")]
    pub(crate) upstreams: Vec<String>,
    /// Where health, metrics, events and the page in live mode are served; keep it private
    /// [default: 127.0.0.1:9900].
    #[arg(long, value_name = "ADDR")]
    pub(crate) admin: Option<SocketAddr>,
    /// Peers whose X-Forwarded-For and class headers are believed: an address block. Repeatable.
    #[arg(long = "trust", value_name = "CIDR")]
    pub(crate) trusted: Vec<IpNet>,
    /// Serve the page from this folder instead of from the binary.
    #[arg(long, value_name = "DIR", env = "TIDEGATE_WWW")]
    pub(crate) www: Option<PathBuf>,
}
