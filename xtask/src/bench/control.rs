//! `cargo xtask bench control`: the acceptance table of proportional delay, in full.
//!
//! Seventeen scenarios, twenty seeds each, under the recommended controller, the best scheduler and fixed gains: some
//! minutes. The tests hold the same rows in a few scenarios and seeds.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, say};

/// Runs the bench and prints its table.
///
/// # Errors
/// When it does not build, or a demand is not met.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    say::heading("Measuring how well delays keep their proportions");
    let mut cargo = process::host_cargo(&workspace.root);
    cargo.args(["run", "--release", "--package", "tidegate-tests", "--example", "control"]);
    process::run(&mut cargo)
}
