//! Finds the programs that run the module outside of the native binary: Chromium with its driver, and Node.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{packages, process};

const CHROMIUM_NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const DRIVER_NAMES: &[&str] = &["chromedriver", "chromium.chromedriver"];

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

fn first(names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| process::find(name))
}
