//! `tidegate check`: everything that is wrong with scenario files, before anything is run.

use std::fmt::Write as _;

use tidegate_core::scenario::Scenario;
use tidegate_core::scenario::parse;

use crate::cli::CheckArgs;
use crate::failure::BadScenario;
use crate::output;
use crate::source::{self, Document};
use crate::text::{self, GOOD, styled};

/// Checks each file; says what is in those that are right, and lists what is wrong in the others.
///
/// # Errors
/// [`BadScenario`] with a line for every problem of every file; else a file that cannot be read.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<()> {
    let mut fine = String::new();
    let mut problems = Vec::new();
    for reference in &args.scenarios {
        match check(reference) {
            Ok(scenario) => {
                let _ = writeln!(fine, "{reference}: {}, {}", styled(GOOD, "ok"), summary(&scenario));
            }
            Err(error) => match error.downcast::<BadScenario>() {
                Ok(BadScenario(lines)) => {
                    problems.extend(lines.lines().map(|line| format!("{reference}: {line}")));
                }
                Err(error) => return Err(error),
            },
        }
    }
    output::print(&fine)?;
    if problems.is_empty() { Ok(()) } else { Err(BadScenario(problems.join("\n")).into()) }
}

fn check(reference: &str) -> anyhow::Result<Scenario> {
    let value = match source::document(reference)? {
        Document::Value(value) => value,
        Document::Link(link) => serde_json::from_str(&link.parsed.to_canonical_json())?,
    };
    let problems = parse::check_all(&value);
    if problems.is_empty() {
        return source::checked(parse::from_value(&value));
    }
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    Err(BadScenario(lines.join("\n")).into())
}

/// What is in a scenario and what a run of it takes, in one line.
fn summary(scenario: &Scenario) -> String {
    format!(
        "{}, {} simulated, about {} events",
        parts(scenario),
        text::time(scenario.horizon.as_secs_f64()),
        text::digits3(scenario.estimated_events()),
    )
}

/// How many parts of each kind a scenario has.
pub(crate) fn parts(scenario: &Scenario) -> String {
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    [
        count(scenario.classes.len(), "class", "classes"),
        count(scenario.stages.len(), "stage", "stages"),
        count(scenario.servers.len(), "server", "servers"),
    ]
    .join(", ")
}
