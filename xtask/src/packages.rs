//! Installing distribution packages, when that can be done without asking.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::{process, say};

/// An update of the package lists or one installation takes no longer than this.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Installs Debian packages when we are root on a system with apt; otherwise says the command to run.
///
/// # Errors
/// With the command that would help, when we may not install or the installation failed.
pub(crate) fn install(what_for: &str, packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if process::find("apt-get").is_none() {
        let what = format!("{what_for} is missing, and this system has no apt to install it with");
        return Err(anyhow::anyhow!("{what}: install what your system calls {names}"));
    }
    let by_hand = format!("sudo apt-get update && sudo apt-get install -y --no-install-recommends {names}");
    if !is_root() {
        return Err(say::with_remedy(
            &format!("{what_for} is missing, and only root may install packages"),
            &by_hand,
        ));
    }
    say::heading(&format!("Installing {what_for}: {names}"));
    // Old lists may still serve, so a failed update alone is no reason to stop.
    if let Err(error) = process::run_within(apt().arg("update"), LIMIT) {
        say::note(&format!("the package lists could not be renewed ({error}); trying with the old ones"));
    }
    let mut command = apt();
    command.args(["install", "-y", "--no-install-recommends"]).args(packages);
    process::run_within(&mut command, LIMIT)
        .map_err(|error| say::with_remedy(&format!("{what_for} could not be installed: {error}"), &by_hand))
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").arg("-q");
    command
}

fn is_root() -> bool {
    process::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
