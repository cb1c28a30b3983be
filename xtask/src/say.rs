//! What a chore tells the person who waits for it: headings and notes on standard error, results on standard output.

use std::time::Duration;

use anyhow::Error;

/// A heading before a piece of work that takes a while.
pub(crate) fn heading(text: &str) {
    eprintln!("\n== {text}");
}

/// What is being done, and why.
pub(crate) fn note(text: &str) {
    eprintln!("   {text}");
}

/// The error that ended the chore, with its causes.
pub(crate) fn failure(error: &Error) {
    eprintln!("\nerror: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("  because: {cause}");
    }
}

/// A duration for people: `0.4 s`, `83 s`.
pub(crate) fn seconds(time: Duration) -> String {
    let s = time.as_secs_f64();
    if s < 10.0 { format!("{s:.1} s") } else { format!("{s:.0} s") }
}

/// An error with the one command that would help.
pub(crate) fn with_remedy(what: &str, command: &str) -> Error {
    anyhow::anyhow!("{what}\n\nThis would help:\n\n    {command}\n")
}
