//! The command line: what can be asked, and the help that explains it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use hyper::Uri;
use ipnet::IpNet;
use tidegate_core::scenario::v1::LawV1;

use crate::reporting::HeaderForm;

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
  tidegate simulate preset:flash-crowd        statistics of one scenario, with intervals
  tidegate compare a.toml b.toml              which is better on the same traffic, and how sure that is
  tidegate replay access.log                  what your traffic would have met
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
    /// Run a scenario's policy on real HTTP traffic.
    Serve(ServeArgs),
    /// Run a scenario in virtual time and print what became of it.
    Simulate(SimulateArgs),
    /// Run two scenarios on the same traffic and tell how they differ.
    Compare(CompareArgs),
    /// Play a log or trace under one policy, or two.
    Replay(ReplayArgs),
    /// Make, read, bring up to date and check share links.
    #[command(subcommand)]
    Link(LinkCommand),
    /// List the built-in scenarios, or print one.
    Presets(PresetsArgs),
    /// Say everything that is wrong with a scenario.
    Check(CheckArgs),
    /// Play a scenario's clients as real HTTP.
    Load(LoadArgs),
    /// Run an emulated backend.
    Origin(OriginArgs),
    /// Say how loaded this machine is.
    Agent(AgentArgs),
    /// Print a completion script for a shell.
    #[command(after_help = "Examples:
  tidegate completions bash > ~/.local/share/bash-completion/completions/tidegate
  tidegate completions zsh > ~/.zfunc/_tidegate
  tidegate completions fish > ~/.config/fish/completions/tidegate.fish")]
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Print the JSON Schema of scenario files, for editors and generators.
    Schema,
    /// Measure the simulator on this machine.
    #[command(hide = true)]
    BenchSim(BenchSimArgs),
    /// Measure what a long queue costs.
    #[command(hide = true)]
    BenchQueue(BenchQueueArgs),
    /// Measure what it costs to pick a server.
    #[command(hide = true)]
    BenchBalance(BenchBalanceArgs),
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
    /// Run a live gateway beside it, with emulated origins and a load, all on this machine [default scenario:
    /// preset:demo].
    #[arg(
        long,
        value_name = "SCENARIO",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "preset:demo"
    )]
    pub(crate) demo: Option<String>,
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
/// connections over all upstreams. With a servers file, a name to resolve or a token, servers come and go, and each is
/// like the scenario's server of its name, or like the last. With --files it is a static file server instead, under the same policy.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate serve --upstream http://10.0.0.7:8000 --upstream http://10.0.0.8:8000
  tidegate serve scenario.toml --files /srv/www
  tidegate serve scenario.toml --upstream big=http://10.0.0.7:8000 --upstream small=http://10.0.0.8:8000
  tidegate serve --servers-file /etc/tidegate/servers --admin-token-file /etc/tidegate/token
  tidegate serve --config /etc/tidegate.toml
  tidegate serve 'https://example.org/#t1z.…' --listen 0.0.0.0:8080 --upstream http://127.0.0.1:9001

A configuration file holds the same settings; what the command line says wins:
  listen = \"0.0.0.0:8080\"
  admin = \"127.0.0.1:9900\"
  scenario = \"scenario.toml\"          # or a [scenario] table
  upstreams = [\"http://10.0.0.7:8000\", \"small=http://10.0.0.8:8000\"]
  files = \"/srv/www\"                  # instead of upstreams
  send_rate = 12500000                 # with files: bytes a second
  trusted = [\"10.0.0.0/8\"]
  size_header = \"x-expected-bytes\"    # where trusted peers declare the size of an answer
  strip_load_reports = true            # keep servers' load reports from clients
  [reports]                            # ask servers for their load; not unless set
  kind = \"load\"                      # or \"node_exporter\", \"agent\"
  path = \"/load\"                     # \"/metrics\" for node_exporter
  port = 8000                          # the upstream's; 9100 for node_exporter; required for agent
  interval_ms = 10000                  # 2000 for agent
  timeout_ms = 1000                    # all of an answer
  [health]                             # check servers; not unless set
  path = \"/\"
  interval_ms = 2000
  timeout_ms = 1000                    # all of an answer
  rise = 2                             # good answers in a row that bring a server back
  fall = 3                             # bad ones in a row that take it out
  status = [200, 399]                  # good ones
  [registry]                           # servers that come and go, beside the list
  servers_file = \"/etc/tidegate/servers\"
  dns = [\"http://api.internal:8000\"]
  resolve_ms = 10000
  admin_token_file = \"/etc/tidegate/token\"
  [limits]
  connections = 10000
  header_bytes = 65536
  header_timeout_ms = 10000            # all of a request's head
  idle_timeout_ms = 75000              # between two requests of a connection
  write_timeout_ms = 60000             # a client that takes nothing
  body_timeout_ms = 60000              # a pause within a body
  queue_timeout_ms = 60000             # the queue, for classes without a deadline
  connect_timeout_ms = 2000            # a connection to a server
  pool_timeout_ms = 15000              # an unused connection to a server
  answer_timeout_ms = 60000            # the first of a server's answer
  continue_timeout_ms = 1000           # Expect: 100-continue
  tunnel_timeout_ms = 600000           # a silent WebSocket
  drain_timeout_ms = 30000             # requests in work at SIGTERM")]
pub(crate) struct ServeArgs {
    /// The scenario whose policy runs: file, preset:NAME, share link or `-`.
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: Option<String>,
    /// The same, as an option.
    #[arg(long = "scenario", value_name = "SCENARIO", conflicts_with = "scenario", hide = true)]
    pub(crate) scenario_option: Option<String>,
    /// Read settings from this TOML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where clients connect [default: 127.0.0.1:8080].
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// A server to send requests to; `NAME=URL` says which of the scenario's servers it is, and `weight=N` and `max=N`
    /// behind it what it counts and how much it takes at once. Repeatable.
    #[arg(long = "upstream", value_name = "URL")]
    pub(crate) upstreams: Vec<String>,
    /// More servers from this file, one a line, written as for --upstream; it is looked at each second.
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub(crate) servers_file: Option<PathBuf>,
    /// A name each of whose addresses is a server; it is resolved again and again. Repeatable.
    #[arg(long = "dns", value_name = "URL", conflicts_with = "files")]
    pub(crate) dns: Vec<String>,
    /// Servers may be registered, drained and taken off at the operator's address by who knows what is in this file;
    /// also TIDEGATE_ADMIN_TOKEN in the environment.
    #[arg(long, value_name = "FILE")]
    pub(crate) admin_token_file: Option<PathBuf>,
    /// Serve the files of this folder instead of asking servers; index.html, ranges, conditional requests and packed
    /// forms (.br, .gz) beside a file included.
    #[arg(long, value_name = "DIR", conflicts_with = "upstreams")]
    pub(crate) files: Option<PathBuf>,
    /// With --files: bytes a second of all bodies together, as if they shared one link. For experiments.
    #[arg(long, value_name = "BYTES_PER_S", value_parser = clap::value_parser!(u32).range(1_000..))]
    pub(crate) send_rate: Option<u32>,
    /// Where health, metrics, events and the page in live mode are served; keep it private
    /// [default: 127.0.0.1:9900].
    #[arg(long, value_name = "ADDR")]
    pub(crate) admin: Option<SocketAddr>,
    /// No operator's address at all.
    #[arg(long, conflicts_with = "admin")]
    pub(crate) no_admin: bool,
    /// Peers whose X-Forwarded-For, class and size headers are believed: an address block. Repeatable.
    #[arg(long = "trust", value_name = "CIDR")]
    pub(crate) trusted: Vec<IpNet>,
    /// Serve the page from this folder instead of from the binary.
    #[arg(long, value_name = "DIR", env = "TIDEGATE_WWW")]
    pub(crate) www: Option<PathBuf>,
}

/// Run a scenario in virtual time and print what became of it.
///
/// The same scenario, seed and version give the same run, and the same trace hash, on every machine and in the browser.
/// Where a run is too short for a figure to be trusted, the table says "run longer" instead of printing it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate simulate preset:mm1                          with the exact result beside the simulated one
  tidegate simulate scenario.toml --replications 20     twenty independent runs, on all processors
  tidegate simulate '#t1z.…' --seed 7 --format json     what a link carries, for a program to read
  tidegate simulate preset:flash-crowd --format json --series > run.json
  tidegate simulate preset:trace-replay --input access.log --speed 10

JSON holds times in seconds. Counts and rates of classes are means over the replications.")]
pub(crate) struct SimulateArgs {
    /// File (TOML or JSON), preset:NAME, share link or `-`.
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: String,
    /// Seed of every random stream, instead of the scenario's own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: Option<u64>,
    /// Independent runs; intervals are then over runs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) replications: u32,
    /// Runs at once; changes nothing but the time it takes [default: as many as there are processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// How to print it: csv is one row a class.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Add what happened over time to the JSON (of the first replication).
    #[arg(long)]
    pub(crate) series: bool,
    /// Seconds between two points of the series [default: a 300th of the run].
    #[arg(long, value_name = "SECONDS", requires = "series")]
    pub(crate) series_step: Option<f64>,
    /// Write to this file, whole or not at all, instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// No progress bar.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Recorded traffic to play.
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

/// Run two scenarios on the same traffic and tell how they differ.
///
/// Run r of A and run r of B share every random stream: both meet the same requests with the same work, so only the policy
/// differs, and intervals are of the differences, pair by pair (Student's t). B runs with the seed of A. A difference whose
/// interval includes zero is not told apart, and the table says about how many runs more would tell. 95 % is about each
/// row by itself; rows marked * hold at 95 % all together.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate compare fifo.toml priority.toml              ten runs of each
  tidegate compare preset:mm1 preset:mmc --replications 40
  tidegate compare a.toml b.toml --until 3%             as many runs as it takes
  tidegate compare 'https://…#t1z.…&cmp=1&b=d1z.…'      a comparison shared from the page
  tidegate compare a.toml b.toml --input access.log --horizon input

Classes, stages and servers are matched by name; what only one of the two has is named, not compared.")]
pub(crate) struct CompareArgs {
    /// File (TOML or JSON), preset:NAME, share link or `-`.
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The same; may be left out if A is the link of a comparison.
    #[arg(value_name = "B")]
    pub(crate) b: Option<String>,
    /// How it is run and printed.
    #[command(flatten)]
    pub(crate) pairs: PairsArgs,
    /// Recorded traffic to play.
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

/// How pairs of runs are made and printed.
#[derive(Debug, Args)]
pub(crate) struct PairsArgs {
    /// Seed of every random stream of both, instead of A's own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: Option<u64>,
    /// Runs of each [default: 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) replications: Option<u32>,
    /// Run until the intervals of mean waits, mean responses and goodput are at most so much of A's mean, 1,000 runs at
    /// most.
    #[arg(long, value_name = "PERCENT", conflicts_with = "replications", value_parser = percent)]
    pub(crate) until: Option<f64>,
    /// Runs at once; changes nothing but the time it takes [default: as many as there are processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// How to print it: csv is one row a figure.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Every figure in the table: more quantiles, stages and servers.
    #[arg(long)]
    pub(crate) all: bool,
    /// Write to this file, whole or not at all, instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// No progress bar.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A part in percent, as `3%` or `3`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.01..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("a percentage from 0.01% to 100%".to_owned()),
    }
}

/// Play a log or trace under one policy, or two.
///
/// The file is an access log or any of the traces that `simulate --input` reads; bad lines are counted, with reasons, and
/// left out. Its most frequent labels (of an access log: what kind of thing the path names) become classes in that order of
/// priority, unless the policy itself plays recorded traffic by labels that are there. Times within a second are drawn, and
/// requests without a recorded service time take 5 ms and 1 s a megabyte. The run is as long as the log.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate replay access.log                                   behind three servers
  tidegate replay access.log --policy mine.toml --speed 100    a hundred times as fast
  tidegate replay access.log --policy mine.toml --against preset:four-classes

With --against it is a comparison, A the policy and B the other. A log is one sample of traffic: intervals are about what
chance does within it, not about other days.")]
pub(crate) struct ReplayArgs {
    /// Log or trace; `-` for standard input.
    #[arg(value_name = "LOG")]
    pub(crate) log: String,
    /// Whose stages, queues and servers it meets [default: preset:trace-replay].
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) policy: Option<String>,
    /// Another policy to compare it with.
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) against: Option<String>,
    /// What the file is [default: what its first lines look like].
    #[arg(long, value_name = "FORMAT", value_parser = ["access", "table", "jsonl", "counts"])]
    pub(crate) input_format: Option<String>,
    /// Traffic this many times as fast; service times stay.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(crate) speed: f64,
    /// Unit of durations whose unit the file does not name; without it they are not used.
    #[arg(long, value_name = "UNIT", value_parser = ["s", "ms", "us", "ns"])]
    pub(crate) time_unit: Option<String>,
    /// The time beside such a duration is that of the answer, as nginx writes it.
    #[arg(long, requires = "time_unit")]
    pub(crate) stamped_at_end: bool,
    /// How it is run and printed; without --against, one run unless more are asked for.
    #[command(flatten)]
    pub(crate) pairs: PairsArgs,
}

/// Recorded traffic for classes whose load is a trace.
#[derive(Debug, Args)]
#[command(next_help_heading = "Recorded traffic")]
pub(crate) struct InputArgs {
    /// Log or trace whose rows become requests, for classes of load `trace`; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<String>,
    /// What the file is [default: what its first lines look like].
    #[arg(long, value_name = "FORMAT", requires = "input", value_parser = ["access", "table", "jsonl", "counts"])]
    pub(crate) input_format: Option<String>,
    /// What an access log's requests are labelled by: kind of path (cgi, image, media, page), nothing, or the
    /// scenario's own rules.
    #[arg(long, value_enum, default_value_t = LabelArg::Kind)]
    pub(crate) label_by: LabelArg,
    /// Traffic this many times as fast; service times stay.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(crate) speed: f64,
    /// Where requests go of which only the second or minute is known.
    #[arg(long, value_enum, requires = "input")]
    pub(crate) place: Option<PlaceArg>,
    /// Unit of durations whose unit the file does not name; without it they are not used.
    #[arg(long, value_name = "UNIT", requires = "input", value_parser = ["s", "ms", "us", "ns"])]
    pub(crate) time_unit: Option<String>,
    /// The time beside such a duration is that of the answer, as nginx writes it.
    #[arg(long, requires = "time_unit")]
    pub(crate) stamped_at_end: bool,
    /// Requests without a recorded service time take 5 ms and 1 s a megabyte of answer; cgi 200 ms.
    #[arg(long, requires = "input")]
    pub(crate) service_by_size: bool,
    /// Service times of language-model traces, in seconds: for nothing, an input token, an output token.
    #[arg(
        long,
        value_name = "BASE,IN,OUT",
        requires = "input",
        value_delimiter = ',',
        num_args = 1,
        allow_negative_numbers = false
    )]
    pub(crate) service_by_tokens: Option<Vec<f64>>,
    /// Counts times this: 0.001 for a thousandth of the traffic.
    #[arg(long, value_name = "FACTOR", requires = "input")]
    pub(crate) scale: Option<f64>,
    /// Length of the run in seconds instead of the scenario's; `input` for all of the recorded traffic.
    #[arg(long, value_name = "SECONDS|input")]
    pub(crate) horizon: Option<HorizonArg>,
}

/// What an access log's requests are labelled by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelArg {
    /// Kind of path: cgi, image, media, page.
    Kind,
    /// All the same.
    Single,
    /// The scenario's rules.
    Classes,
}

/// Where requests go of which only the second or minute is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlaceArg {
    /// All at its beginning.
    Start,
    /// Evenly over it.
    Even,
    /// At random over it, by the scenario's seed.
    Random,
}

/// Length of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum HorizonArg {
    /// So many seconds.
    Seconds(f64),
    /// As long as the recorded traffic.
    Input,
}

impl std::str::FromStr for HorizonArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse::<f64>()) {
            ("input", _) => Ok(Self::Input),
            (_, Ok(s)) if s > 0.0 && s <= 604_800.0 => Ok(Self::Seconds(s)),
            _ => Err("seconds above 0 and at most 604800, or `input`".to_owned()),
        }
    }
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// For programs: one object, documented.
    Json,
    /// For spreadsheets.
    Csv,
}

/// Make, read, bring up to date and check share links.
#[derive(Debug, Subcommand)]
pub(crate) enum LinkCommand {
    /// Print the link that carries a scenario.
    #[command(after_help = "Examples:
  tidegate link encode scenario.toml
  tidegate link encode preset:mm1 --base https://example.org/tidegate/ --verifiable")]
    Encode {
        /// File (TOML or JSON), preset:NAME, share link or `-`.
        #[arg(value_name = "SCENARIO")]
        scenario: String,
        /// Address of the page; without it, only what follows it is printed.
        #[arg(long, value_name = "URL")]
        base: Option<String>,
        /// Percent-encoded JSON instead of compressed: longer, but a person can read it.
        #[arg(long)]
        readable: bool,
        /// Run the scenario and put the hash of the run into the link, so that it can be verified.
        #[arg(long)]
        verifiable: bool,
    },
    /// Print the scenario that a link carries.
    Decode {
        /// Share link, or `-`.
        #[arg(value_name = "LINK")]
        link: String,
        /// How to print it.
        #[arg(long, value_enum, default_value_t = DecodeFormat::Json)]
        format: DecodeFormat,
    },
    /// Rewrite a link or scenario of an older version as the newest.
    Migrate {
        /// Share link, scenario file or `-`.
        #[arg(value_name = "LINK")]
        link: String,
        /// Address of the page; without it, that of the link, if it has one.
        #[arg(long, value_name = "URL")]
        base: Option<String>,
    },
    /// Run the scenario of a link again and compare the hash it carries.
    #[command(
        after_help = "Exit status: 0 if the run is reproduced exactly, 1 if it differs or the link carries no hash."
    )]
    Verify {
        /// Share link, or `-`.
        #[arg(value_name = "LINK")]
        link: String,
    },
}

/// How a decoded scenario is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecodeFormat {
    /// Indented JSON, fields in the order of the schema, defaults left out.
    Json,
    /// The very bytes that were packed.
    Canonical,
    /// TOML.
    Toml,
}

/// List the built-in scenarios, or print one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate presets
  tidegate presets flash-crowd --format toml > my-scenario.toml")]
pub(crate) struct PresetsArgs {
    /// Which one.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// How to print it; json and toml of one preset are scenario files.
    #[arg(long, value_enum, default_value_t = PresetFormat::Table)]
    pub(crate) format: PresetFormat,
}

/// How presets are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetFormat {
    /// For people.
    Table,
    /// JSON.
    Json,
    /// TOML.
    Toml,
}

/// Say everything that is wrong with a scenario.
///
/// One line a problem: `FILE: path: rule, value found`. Unknown fields are problems here; elsewhere they are noted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate check scenario.toml
  tidegate check scenarios/*.json

Exit status: 0 if all are right, 2 if one is wrong, 1 if one cannot be read.")]
pub(crate) struct CheckArgs {
    /// Files (TOML or JSON), preset:NAME, share links or `-`.
    #[arg(value_name = "SCENARIO", required = true)]
    pub(crate) scenarios: Vec<String>,
}

/// Measure the simulator on this machine: events a second, one thread, statistics on.
#[derive(Debug, Args)]
pub(crate) struct BenchSimArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Which scenario to run.
    #[arg(long, value_name = "SCENARIO", default_value = "preset:four-classes")]
    pub(crate) scenario: String,
    /// How long to measure each loop.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(crate) seconds: f64,
}

/// Measure what one request more costs a stage whose queue is long.
#[derive(Debug, Args)]
pub(crate) struct BenchQueueArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Measure what it costs to pick one of a thousand servers, with every balancer.
#[derive(Debug, Args)]
pub(crate) struct BenchBalanceArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Play a scenario's clients as real HTTP.
///
/// Requests are sent when they are due, whatever became of those before, and their response time counts from that
/// moment: a server that stalls is not spared the requests it would have got. Closed clients wait for their answer.
/// Each request is made to fit the first rule of its class, and carries its work for `tidegate origin`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate load preset:demo --target http://127.0.0.1:8080
  tidegate load scenario.toml --target http://127.0.0.1:8080 --duration 30 --format json")]
pub(crate) struct LoadArgs {
    /// File (TOML or JSON), preset:NAME, share link or `-`.
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: String,
    /// Where requests go: `http://HOST[:PORT]`.
    #[arg(long, value_name = "URL", value_parser = crate::config::server_url)]
    pub(crate) target: Uri,
    /// Stop after so many seconds [default: the scenario's horizon].
    #[arg(long, value_name = "SECONDS")]
    pub(crate) duration: Option<f64>,
    /// Begin again at the horizon, until stopped.
    #[arg(long)]
    pub(crate) repeat: bool,
    /// Requests under way at once; more are not sent, and counted.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) outstanding: u32,
    /// Longest wait for an answer, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub(crate) timeout: f64,
    /// Leave requests due in the first seconds out of the response times; they are counted all the same.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    pub(crate) warmup: f64,
    /// Seed of every random stream, instead of the scenario's own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: Option<u64>,
    /// How to print what became of the requests.
    #[arg(long, value_enum, default_value_t = LoadFormat::Table)]
    pub(crate) format: LoadFormat,
}

/// How the result of a load is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Run an emulated backend.
///
/// A real HTTP server whose only work is to wait: a request takes one of its slots for a service time. The query may
/// ask for something else: `work_us`, `size` (bytes of the answer), `status`. It says how loaded it is, in a header of
/// every answer and at /load.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate origin --listen 127.0.0.1:9001 --service exp:20ms --slots 8
  tidegate origin --service lognormal:20ms:2 --speed 0.5

Laws: const:TIME, exp:TIME, uniform:MIN..MAX, erlang:TIME:PHASES, hyper:TIME:CV, lognormal:TIME:CV, pareto:TIME:TAIL.")]
pub(crate) struct OriginArgs {
    /// Where to listen. Port 0 takes any free port; the address is printed.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9001")]
    pub(crate) listen: SocketAddr,
    /// Law of the service time.
    #[arg(long, value_name = "LAW", default_value = "exp:10ms", value_parser = crate::origin::parse_law)]
    pub(crate) service: LawV1,
    /// Requests in work at once.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) slots: u32,
    /// Requests that may wait for a slot; more are answered 503.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) queue: u32,
    /// Divides service times.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = speed)]
    pub(crate) speed: f64,
    /// Seed of the service times.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How answers carry the load of this server (ORCA), in the header endpoint-load-metrics, or for bin in
    /// endpoint-load-metrics-bin.
    #[arg(long, value_enum, default_value_t = HeaderForm::Text)]
    pub(crate) report: HeaderForm,
    /// Answer agent checks here: the share of its weight that this server should have.
    #[arg(long, value_name = "ADDR")]
    pub(crate) agent_check: Option<SocketAddr>,
}

/// Say how loaded this machine is.
///
/// For servers that do not say it themselves: shares of processors, memory, network and disk, read from /proc, and of
/// rooms, read from a file that the server writes. At /load as JSON, with an ORCA header; to agent checks as a share of
/// the configured weight: what is left of the scarcest. SIGUSR1 asks for nothing new (drain), SIGUSR2 takes that back.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidegate agent --listen 0.0.0.0:9901
  tidegate agent --agent-check 0.0.0.0:9902 --net-speed 1000
  tidegate agent --rooms-file /run/chat/rooms --rooms-limit 500")]
pub(crate) struct AgentArgs {
    /// Where /load is answered. Port 0 takes any free port; the address is printed.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9901")]
    pub(crate) listen: SocketAddr,
    /// Answer agent checks here, a line such as "70% ready up" on each connection, for HAProxy or `[reports]` of kind agent.
    #[arg(long, value_name = "ADDR")]
    pub(crate) agent_check: Option<SocketAddr>,
    /// Time between two looks at the machine, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = sampling)]
    pub(crate) interval: f64,
    /// Time over which rates are averaged, in seconds: the weight of the past falls to a third in it.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = sampling)]
    pub(crate) period: f64,
    /// Speed of network interfaces that do not say theirs, as virtual ones; without it they are not counted.
    #[arg(long, value_name = "MBIT", value_parser = megabits)]
    pub(crate) net_speed: Option<f64>,
    /// A file with the number of rooms in use.
    #[arg(long, value_name = "FILE", requires = "rooms_limit")]
    pub(crate) rooms_file: Option<PathBuf>,
    /// How many rooms there are.
    #[arg(long, value_name = "N", requires = "rooms_file", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rooms_limit: Option<u32>,
    /// Begin by asking for nothing new.
    #[arg(long)]
    pub(crate) drain: bool,
}

fn sampling(text: &str) -> Result<f64, String> {
    within(text, 0.1, 3_600.0)
}

fn megabits(text: &str) -> Result<f64, String> {
    within(text, 0.001, 10_000_000.0)
}

fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("{least} to {most}"))
}

fn speed(text: &str) -> Result<f64, String> {
    within(text, 0.001, 1_000.0)
}
