//! `tidegate check`: everything that is wrong with scenario files, before anything is run.

use std::fmt::Write as _;

use tidegate_core::id::ClassId;
use tidegate_core::scenario::{RatioConflict, Scenario, WaitLimit, parse};

use crate::cli::CheckArgs;
use crate::failure::BadScenario;
use crate::output;
use crate::source::{self, Document};
use crate::text::{self, GOOD, WARN, styled};

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
                for warning in warnings(&scenario) {
                    let _ = writeln!(fine, "{reference}: {} {warning}", styled(WARN, "warning:"));
                }
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

/// What a scenario may ask for and yet will not get, in one line each.
pub(crate) fn warnings(scenario: &Scenario) -> Vec<String> {
    let name = |id: ClassId| &scenario.classes[usize::from(id.0)].name;
    let conflict = |found: RatioConflict| {
        let (by, instead) = match found.by {
            WaitLimit::Deadline => {
                ("its deadline", "deadlines in proportion to delay_weight, or expired = \"serve\"")
            }
            WaitLimit::Ageing => ("ageing", "a longer time before ageing"),
        };
        format!(
            "stage {}: {by} ends a wait of class {} after {}; once class {} waits {}, the ratio of their delay_weights \
             asks for more, and is not held ({instead} would leave room)",
            scenario.stages[usize::from(found.stage.0)].name,
            name(found.class),
            text::time(found.longest.as_secs_f64()),
            name(found.other),
            text::time(found.from.as_secs_f64()),
        )
    };
    scenario.ratio_conflicts().into_iter().map(conflict).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_in_the_way_of_a_ratio_is_warned_of_in_words() {
        let text = |low: &str| {
            format!(
                r#"{{"tidegate":1,"classes":[{{"name":"high"}},{{"name":"low","delay_weight":4{low}}}],
                "stages":[{{"name":"serve","workers":8,"split_by":{{"policy":"stc_lead"}},
                    "work":{{"at":"stage","service":{{"law":"constant","mean_us":20000}}}}}}]}}"#
            )
        };
        let warnings_of = |text: String| {
            let parsed = tidegate_core::scenario::parse_json(&text).unwrap();
            warnings(&parsed.check().unwrap())
        };
        assert!(warnings_of(text("")).is_empty(), "nothing is in the way");
        let warned = warnings_of(text(r#","deadline_us":2000000"#));
        assert_eq!(warned.len(), 1, "{warned:?}");
        let start =
            "stage serve: its deadline ends a wait of class low after 2.00 s; once class high waits 500 ms,";
        assert!(warned[0].starts_with(start), "{warned:?}");
    }
}
