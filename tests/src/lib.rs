//! Shared helpers of the whole-system tests.

pub mod balancing;
pub mod control;
pub mod oracle;
pub mod page;
pub mod webdriver;
pub mod wire;

use tidegate_core::scenario::{Scenario, parse_json};

/// The scenario written in a test.
///
/// # Panics
/// With the scenario's own error, if it is none.
#[must_use]
pub fn scenario(json: &str) -> Scenario {
    let parsed = parse_json(json).unwrap_or_else(|error| panic!("{error}\n{json}"));
    parsed.check().unwrap_or_else(|error| panic!("{error}\n{json}"))
}
