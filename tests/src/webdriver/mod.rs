//! A small WebDriver client for Chromium and Firefox: as much as the checks of the page need, and no more.
//!
//! Why not one of the client crates or Playwright: they cost five times the compile time (or an npm tree), and what the
//! page's checks need beyond the standard (size of the page, colour scheme, reduced motion, console) is a call or two of
//! what each browser has of its own. Blocking, one session, one window. Nothing is retried: a check waits for a state of
//! the page with [`Browser::wait_for`], within a limit.
//!
//! A command of the standard has the same parameters and the same answer in both browsers. ChromeDriver takes it over
//! HTTP (`chromium`), Firefox itself as a packet of its Marionette protocol (`firefox`).

mod chromium;
mod firefox;

use std::fmt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use chromium::Chromium;
use firefox::Firefox;

/// A browser can be spoken to within this time of its start, or is given up.
const START_LIMIT: Duration = Duration::from_secs(30);
/// A script of ours may compute for this long.
const SCRIPT_LIMIT: Duration = Duration::from_secs(15 * 60);
/// A page loads within this time.
const LOAD_LIMIT: Duration = Duration::from_secs(60);
/// Longest wait for one answer: a script and some air.
const ANSWER_LIMIT: Duration = Duration::from_secs(16 * 60);
/// Largest answer taken (a screenshot in base64, or a run's series).
const ANSWER_BYTES: u64 = 256 << 20;
/// How often a state of the page is looked at.
const POLL: Duration = Duration::from_millis(20);

/// What went wrong between us and the browser, as a sentence.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// The result of a call of the browser.
pub type Result<T> = std::result::Result<T, Error>;

fn error(what: impl Into<String>) -> Error {
    Error(what.into())
}

/// One line of the page's console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleLine {
    /// `SEVERE` for errors, `WARNING`, `INFO`, `DEBUG`.
    pub level: String,
    /// Where, and what.
    pub message: String,
}

/// A command of the standard, under the name that each protocol has for it.
struct Command {
    /// Path below the session over HTTP, where `{id}` is the parameter of that name.
    path: &'static str,
    /// Name in Marionette.
    name: &'static str,
}

const NAVIGATE: Command = Command { path: "url", name: "WebDriver:Navigate" };
const EXECUTE: Command = Command { path: "execute/sync", name: "WebDriver:ExecuteScript" };
const FIND: Command = Command { path: "element", name: "WebDriver:FindElement" };
const CLICK: Command = Command { path: "element/{id}/click", name: "WebDriver:ElementClick" };
const ACT: Command = Command { path: "actions", name: "WebDriver:PerformActions" };
const SCREENSHOT: Command = Command { path: "screenshot", name: "WebDriver:TakeScreenshot" };

/// A browser with one window. It, its driver and its profile end when this is dropped.
pub struct Browser {
    driver: Driver,
}

enum Driver {
    Chromium(Chromium),
    Firefox(Firefox),
}

impl Browser {
    /// Starts ChromeDriver on a free port, and a Chromium without a profile.
    ///
    /// # Errors
    /// When either does not start.
    pub fn chromium(chromium: &Path, chromedriver: &Path) -> Result<Self> {
        Ok(Self { driver: Driver::Chromium(Chromium::start(chromium, chromedriver)?) })
    }

    /// Starts a Firefox with an empty profile.
    ///
    /// # Errors
    /// When it does not start.
    pub fn firefox(firefox: &Path) -> Result<Self> {
        Ok(Self { driver: Driver::Firefox(Firefox::start(firefox)?) })
    }

    fn command(&self, command: &Command, parameters: &Value) -> Result<Value> {
        match &self.driver {
            Driver::Chromium(chromium) => chromium.command(command, parameters),
            Driver::Firefox(firefox) => firefox.command(command, parameters),
        }
    }

    /// Loads a page and waits until it is loaded.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub fn open(&self, url: &str) -> Result<()> {
        self.command(&NAVIGATE, &json!({ "url": url })).map(drop)
    }

    /// Runs a function body in the page and returns what it returns; `arguments` are the script's `arguments`.
    ///
    /// # Errors
    /// When the script throws.
    pub fn run(&self, script: &str, arguments: &[Value]) -> Result<Value> {
        self.command(&EXECUTE, &json!({ "script": script, "args": arguments }))
    }

    /// As [`run`](Self::run) for the body of an async function: `await` works, and the returned promise is awaited.
    ///
    /// # Errors
    /// When the script throws or its promise is rejected.
    pub fn run_async(&self, script: &str, arguments: &[Value]) -> Result<Value> {
        let body = format!("return (async function () {{ {script} }}).apply(null, arguments);");
        self.run(&body, arguments)
    }

    /// Waits until the expression is truthy in the page, and returns its value.
    ///
    /// # Errors
    /// When `limit` passes first, with the last value seen, or when the expression throws.
    pub fn wait_for(&self, expression: &str, limit: Duration) -> Result<Value> {
        let script = format!("const value = ({expression}); return [!!value, value ?? null];");
        let start = Instant::now();
        loop {
            let seen = self.run(&script, &[])?;
            if seen[0] == Value::Bool(true) {
                return Ok(seen[1].clone());
            }
            if start.elapsed() > limit {
                let s = limit.as_secs_f64();
                return Err(error(format!("after {s} s the page still has {expression} = {}", seen[1])));
            }
            thread::sleep(POLL);
        }
    }

    /// Clicks the first element that matches a CSS selector, where a pointer would.
    ///
    /// # Errors
    /// When there is none, or something covers it.
    pub fn click(&self, selector: &str) -> Result<()> {
        let found = self.command(&FIND, &json!({ "using": "css selector", "value": selector }))?;
        let id = found.as_object().and_then(|o| o.values().next()).and_then(Value::as_str);
        let id = id.ok_or_else(|| error(format!("no element for {selector}")))?;
        self.command(&CLICK, &json!({ "id": id })).map(drop)
    }

    /// Presses and releases keys one after the other, as at the keyboard (`"\u{E012}"` is arrow left, and so on).
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn press(&self, keys: &str) -> Result<()> {
        let steps: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }))
            })
            .collect();
        self.command(&ACT, &json!({ "actions": [{ "type": "key", "id": "keys", "actions": steps }] }))
            .map(drop)
    }

    /// Sets the size of the page in CSS pixels, whatever the window's frame takes.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn resize(&self, width: u32, height: u32) -> Result<()> {
        match &self.driver {
            Driver::Chromium(chromium) => chromium.resize(width, height)?,
            Driver::Firefox(firefox) => firefox.resize(width, height)?,
        }
        let there = format!("innerWidth === {width} && innerHeight === {height}");
        self.wait_for(&there, LOAD_LIMIT).map(drop)
    }

    /// Pretends that the person asked for a media feature, for example `("prefers-color-scheme", "dark")`.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn prefer(&self, features: &[(&str, &str)]) -> Result<()> {
        match &self.driver {
            Driver::Chromium(chromium) => chromium.prefer(features),
            Driver::Firefox(firefox) => firefox.prefer(features),
        }
    }

    /// One command of Chromium's own protocol, for what WebDriver has no word for.
    ///
    /// # Errors
    /// When the browser refuses it, or is another one.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Result<Value> {
        match &self.driver {
            Driver::Chromium(chromium) => chromium.devtools(command, parameters),
            Driver::Firefox(_) => Err(error(format!("{command} is a command of Chromium alone"))),
        }
    }

    /// What the page, its frames and its workers wrote to their consoles since the last call, with failed requests and
    /// uncaught errors.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn console(&self) -> Result<Vec<ConsoleLine>> {
        let answer = match &self.driver {
            Driver::Chromium(chromium) => chromium.console()?,
            Driver::Firefox(firefox) => firefox.console()?,
        };
        let text = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
        let lines = answer.as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(lines
            .iter()
            .map(|l| ConsoleLine { level: text(l, "level"), message: text(l, "message") })
            .collect())
    }

    /// The visible part of the page as a PNG.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn screenshot(&self) -> Result<Vec<u8>> {
        use base64::Engine as _;
        let answer = self.command(&SCREENSHOT, &json!({ "full": false }))?;
        let text = answer.as_str().ok_or_else(|| error("the driver gave no picture"))?;
        base64::engine::general_purpose::STANDARD.decode(text).map_err(|e| error(format!("the picture: {e}")))
    }
}

/// What is asked of every new session, beside what one browser is asked alone.
fn timeouts() -> Value {
    json!({ "script": millis(SCRIPT_LIMIT), "pageLoad": millis(LOAD_LIMIT), "implicit": 0 })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// An error as both protocols report it, in one line.
fn refusal(reported: &Value) -> Error {
    let part = |field: &str| {
        reported[field].as_str().unwrap_or_default().lines().next().unwrap_or_default().to_owned()
    };
    error(format!("{}: {}", part("error"), part("message")))
}
