//! The `tidegate` binary: everything that touches files, sockets, threads and the clock.
//!
//! It holds no policy: commands turn arguments into a scenario, hand it to `tidegate-core`, and print what comes back.

mod agent;
mod assets;
mod bench_balance;
mod bench_queue;
mod bench_sim;
mod check;
mod cli;
mod compare;
mod compare_table;
mod config;
mod demo;
mod failure;
mod link;
mod load;
mod origin;
mod output;
mod play;
mod presets;
mod progress;
mod recorded;
mod replay;
mod reporting;
mod serve;
mod serving;
mod simulate;
mod source;
mod tabulate;
mod text;
mod traffic;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Status 2 is for bad scenarios, so a bad command line (clap's 2) is 1 like everything else.
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    failure::report(run(cli.command))
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Play(args) => play::run(args),
        Command::Serve(args) => serving::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Link(command) => link::run(&command),
        Command::Presets(args) => presets::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Schema => output::print(&format!("{:#}\n", tidegate_core::scenario::json_schema())),
        Command::BenchSim(args) => bench_sim::run(&args),
        Command::BenchQueue(args) => bench_queue::run(&args),
        Command::BenchBalance(args) => bench_balance::run(&args),
        Command::Load(args) => traffic::load(&args),
        Command::Origin(args) => traffic::origin(&args),
        Command::Agent(args) => traffic::agent(&args),
        Command::Completions { shell } => completions(shell),
    }
}

fn completions(shell: clap_complete::Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tidegate", &mut script);
    output::print(&String::from_utf8(script)?)
}
