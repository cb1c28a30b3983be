//! The command line of `cargo xtask`: which words call which chore.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::{bench, parity, play, test, tidy, web, workspace::Workspace};

const HELP: &str = "\
cargo xtask COMMAND

  play [ARGS]      build page and binary, then run `tidegate play --demo` (ARGS are passed on)
  test [--fast]    everything CI runs; --fast leaves out parity and the browser
  web [--dist DIR] build the page into www/pkg; --dist also lays out a folder for any static host
  bench sim        events a second: native, browser and SimPy, measured in this run
  bench queue      what a request costs a stage where a thousand wait, and where a million do
  bench balance    what it costs to pick one of a thousand servers, with every balancer
  bench seda       3 x 300 clients and real files, first come first served against priorities
  bench ratio      whether a ratio of delays is held on real sockets, beside HAProxy
  bench control    how well delays keep their proportions: what is demanded, and what is shown
  bench balancing  how balancers compare: what is demanded of `dnf`, and the table of paper B
  parity           hash of every preset in native debug, native release, Node and Chromium
  tidy             the rules of this repository that no compiler checks

Environment
  TIDEGATE_WASM_TOOLCHAIN=debian   use Debian's compiler for WebAssembly and a std built from its sources
  CARGO_BUILD_JOBS=N               compile with N jobs
";

/// Runs the chore that `words` name.
///
/// # Errors
/// Unknown words, or whatever stopped the chore.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let workspace = Workspace::locate()?;
    match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        ["play", rest @ ..] => play::run(&workspace, rest),
        ["test"] => test::run(&workspace, test::Extent::Full),
        ["test", "--fast"] => test::run(&workspace, test::Extent::Fast),
        ["web"] => web::run(&workspace, None),
        ["web", "--dist", folder] => web::run(&workspace, Some(PathBuf::from(folder))),
        ["bench", "sim"] => bench::sim(&workspace),
        ["bench", "queue"] => bench::queue(&workspace),
        ["bench", "balance"] => bench::balance(&workspace),
        ["bench", "seda"] => bench::seda::run(&workspace),
        ["bench", "ratio"] => bench::ratio::run(&workspace),
        ["bench", "control"] => bench::acceptance::control(&workspace),
        ["bench", "balancing"] => bench::acceptance::balancing(&workspace),
        ["parity"] => parity::run(&workspace),
        ["tidy"] => tidy::run(&workspace),
        _ => bail!("unknown command: {}\n\n{HELP}", words.join(" ")),
    }
}
