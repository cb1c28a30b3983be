//! How a command fails: what it prints and which exit status that is.
//!
//! Commands return [`anyhow::Result`]. Two kinds of error are told apart, because scripts tell them apart: a scenario that
//! is wrong (status 2), and everything else (status 1). A reader that closes our output early is no failure at all.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

/// A scenario, link or configuration that cannot be used; each line is `path: rule, value found`.
#[derive(Debug)]
pub(crate) struct BadScenario(pub(crate) String);

impl fmt::Display for BadScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for BadScenario {}

/// Whoever read our output has left, as `head` does.
#[derive(Debug)]
pub(crate) struct ReaderLeft;

impl fmt::Display for ReaderLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reader of the output left")
    }
}

impl Error for ReaderLeft {}

/// Prints what went wrong, if anything, and gives the status to exit with.
pub(crate) fn report(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if error.is::<ReaderLeft>() {
        return ExitCode::SUCCESS;
    }
    let bold_red = anstyle::AnsiColor::Red.on_default().bold();
    anstream::eprintln!("{bold_red}error:{bold_red:#} {error:#}");
    if error.downcast_ref::<BadScenario>().is_some() { ExitCode::from(2) } else { ExitCode::FAILURE }
}
