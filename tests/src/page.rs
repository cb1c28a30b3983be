//! The page in a browser, as the checks of it begin.

use crate::webdriver::Browser;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Time for the page to get somewhere; the machine may be busy with other checks.
pub const SOON: Duration = Duration::from_secs(60);

/// What `cargo xtask test` says in a variable of this name.
///
/// # Panics
/// Without it.
#[must_use]
pub fn given(name: &str) -> PathBuf {
    let value = std::env::var_os(name);
    PathBuf::from(value.unwrap_or_else(|| panic!("{name} is not set: run `cargo xtask test`")))
}

/// `tidegate play` on a free port; it ends with the value.
pub struct Site {
    child: Child,
    /// Its address, with a `/` at the end.
    pub url: String,
}

impl Site {
    /// Serves the page.
    ///
    /// # Panics
    /// When the binary does not.
    #[must_use]
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// The same with further words.
    ///
    /// # Panics
    /// When the binary does not serve it.
    #[must_use]
    pub fn with(words: &[&str]) -> Self {
        let mut child = Command::new(given("TIDEGATE_BINARY"))
            .args(["play", "--listen", "127.0.0.1:0"])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        let url = loop {
            let line = told.recv_timeout(SOON).expect("the binary says its address");
            if let Some(at) = line.find("http://") {
                let end =
                    line[at..].find("/").map_or(0, |_| line[at + 7..].find('/').map_or(0, |slash| slash + 8));
                break line[at..at + end].to_owned();
            }
        };
        Self { child, url }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A browser with a window of 1440 by 900.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn browser() -> Browser {
    let browser =
        Browser::start(&given("TIDEGATE_CHROMIUM"), &given("TIDEGATE_CHROMEDRIVER")).expect("a browser");
    browser.resize(1440, 900).expect("a window");
    browser
}

/// Opens an address of the page anew: a changed fragment alone would not load it again.
///
/// # Panics
/// When it does not come up.
pub fn open(browser: &Browser, site: &Site, fragment: &str) {
    browser.open("about:blank").expect("blank");
    browser.open(&format!("{}{fragment}", site.url)).expect("the page loads");
    let says = "document.querySelector('#headline, .verdict')?.textContent || document.querySelector('#live-address, #state')";
    browser.wait_for(says, SOON).expect("the page says something");
}

/// Text of an element.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn text(browser: &Browser, selector: &str) -> String {
    let script = "return document.querySelector(arguments[0])?.textContent ?? null;";
    let value = browser.run(script, &[json!(selector)]).expect("a script");
    value.as_str().unwrap_or_else(|| panic!("no element {selector}")).to_owned()
}

/// Holds the console to be empty since the last look.
///
/// # Panics
/// With what it has.
pub fn no_complaints(browser: &Browser) {
    let lines = browser.console().expect("the console");
    let bad: Vec<_> = lines.iter().filter(|line| line.level == "SEVERE" || line.level == "WARNING").collect();
    assert!(bad.is_empty(), "the console has {bad:?}");
}

/// Hash of a scenario as the command line prints it.
///
/// # Panics
/// When it prints none.
#[must_use]
pub fn hash_by_command(scenario: &str) -> String {
    let output = Command::new(given("TIDEGATE_BINARY"))
        .args(["simulate", scenario, "--format", "json"])
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
    report["trace_hash"].as_str().expect("a hash").to_owned()
}
