//! Finds the programs that run the module outside of the native binary: Chromium with its driver, Firefox, and Node. Also axe,
//! which looks for what keeps people from using a page.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::workspace::Workspace;
use crate::{packages, process, say};

const CHROMIUM_NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const FIREFOX_NAMES: &[&str] = &["firefox-esr", "firefox"];
const DRIVER_NAMES: &[&str] = &["chromedriver", "chromium.chromedriver"];

/// Only tests load it; nothing of it is handed on, so that its licence (MPL-2.0) asks for nothing.
const AXE: &str = "axe-core@4.14.1";
const AXE_LIMIT: Duration = Duration::from_secs(180);

/// A browser and the program that drives it.
pub(crate) struct Browser {
    pub(crate) chromium: PathBuf,
    pub(crate) driver: PathBuf,
}

/// Finds or installs Chromium and ChromeDriver.
///
/// # Errors
/// With the command that would help.
pub(crate) fn chromium() -> Result<Browser> {
    if let Some(browser) = installed() {
        return Ok(browser);
    }
    packages::install("a browser for the tests", &["chromium", "chromium-driver"])?;
    installed().context("chromium and chromium-driver are installed, but not on the search path")
}

/// Finds or installs Firefox, which needs no driver.
///
/// # Errors
/// With the command that would help, where there is one: distributions have it under different names or not as a package.
pub(crate) fn firefox() -> Result<PathBuf> {
    if let Some(firefox) = first(FIREFOX_NAMES) {
        return Ok(firefox);
    }
    packages::install("Firefox for the tests", &["firefox-esr"])?;
    first(FIREFOX_NAMES).context("firefox-esr is installed, but not on the search path")
}

fn installed() -> Option<Browser> {
    Some(Browser { chromium: first(CHROMIUM_NAMES)?, driver: first(DRIVER_NAMES)? })
}

/// Finds or installs Node.
///
/// # Errors
/// With the command that would help.
pub(crate) fn node() -> Result<PathBuf> {
    if let Some(node) = first(&["node", "nodejs"]) {
        return Ok(node);
    }
    packages::install("Node, which runs the module without a browser", &["nodejs"])?;
    first(&["node", "nodejs"]).context("nodejs is installed, but not on the search path")
}

/// Finds or installs the script of axe, below `target`.
///
/// # Errors
/// With the command that would help.
pub(crate) fn axe(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target.join("npm").join(AXE);
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if script.is_file() {
        return Ok(script);
    }
    if process::find("npm").is_none() {
        packages::install("npm, which installs the checker of accessibility", &["npm"])?;
    }
    say::heading(&format!("Installing {AXE}"));
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--prefix"])
        .arg(&folder)
        .arg(AXE);
    let by_hand = format!("npm install --ignore-scripts --no-save --prefix {} {AXE}", folder.display());
    process::run_within(&mut npm, AXE_LIMIT)
        .map_err(|error| say::with_remedy(&format!("{AXE} could not be installed: {error}"), &by_hand))?;
    script.is_file().then_some(script).with_context(|| format!("{AXE} has no axe.min.js"))
}

fn first(names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| process::find(name))
}
