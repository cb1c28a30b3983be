//! `cargo xtask bench`: speed, measured side by side in one run.

use anyhow::{Result, bail};

use crate::workspace::Workspace;

pub(crate) fn sim(_workspace: &Workspace) -> Result<()> {
    bail!("not yet")
}
