//! `cargo xtask bench control` and `bench balancing`: acceptance tables in full, with more seeds than the tests take.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, say};

/// Seventeen scenarios of proportional delay, twenty seeds each, under the recommended controller, the best scheduler and
/// fixed gains: some minutes.
///
/// # Errors
/// When it does not build, or a demand is not met.
pub(crate) fn control(workspace: &Workspace) -> Result<()> {
    example(workspace, "control", "Measuring how well delays keep their proportions")
}

/// What is demanded of the recommended balancer, and the table of paper B.
///
/// # Errors
/// When it does not build, or a demand is not met.
pub(crate) fn balancing(workspace: &Workspace) -> Result<()> {
    example(workspace, "balancing", "Measuring how balancers compare")
}

fn example(workspace: &Workspace, name: &str, heading: &str) -> Result<()> {
    say::heading(heading);
    let mut cargo = process::host_cargo(&workspace.root);
    cargo.args(["run", "--release", "--package", "tidegate-tests", "--example", name]);
    process::run(&mut cargo)
}
