//! A small WebDriver client for Chromium: as much as the checks of the page need, and no more.
//!
//! Why not one of the client crates or Playwright: they cost five times the compile time (or an npm tree), and what the
//! page's checks need beyond the standard (emulated colour scheme, reduced motion, console) is one call each of
//! ChromeDriver's own extensions. Blocking, one session, one window. Nothing is retried: a check waits for a state
//! of the page with [`Browser::wait_for`], within a limit.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The driver says its port within this time of its start, or is given up.
const START_LIMIT: Duration = Duration::from_secs(30);
/// A script of ours may compute for this long.
const SCRIPT_LIMIT: Duration = Duration::from_secs(15 * 60);
/// A page loads within this time.
const LOAD_LIMIT: Duration = Duration::from_secs(60);
/// Longest wait for one answer of the driver: a script and some air.
const ANSWER_LIMIT: Duration = Duration::from_secs(16 * 60);
/// Largest answer taken from the driver (a screenshot in base64, or a run's series).
const ANSWER_BYTES: u64 = 256 << 20;
/// How often a state of the page is looked at.
const POLL: Duration = Duration::from_millis(20);

const CHROMIUM_ARGUMENTS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
];

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

/// A Chromium with one window. It and its driver end when this is dropped.
pub struct Browser {
    agent: ureq::Agent,
    session: String,
    // After the session, which its own `drop` ends first: a killed driver would leave the browser behind.
    _driver: Driver,
}

impl Browser {
    /// Starts the driver on a free port, and a browser without a profile.
    ///
    /// # Errors
    /// When either does not start.
    pub fn start(chromium: &Path, chromedriver: &Path) -> Result<Self> {
        let driver = Driver::start(chromedriver)?;
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER_LIMIT))
            .http_status_as_error(false)
            .proxy(None)
            .build()
            .into();
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "binary": chromium, "args": CHROMIUM_ARGUMENTS },
            "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": { "script": millis(SCRIPT_LIMIT), "pageLoad": millis(LOAD_LIMIT), "implicit": 0 },
        } } });
        let base = format!("http://127.0.0.1:{}/session", driver.port);
        let answer = post(&agent, &base, &wanted)?;
        let id = answer["sessionId"].as_str().ok_or_else(|| error("the driver gave no session id"))?;
        Ok(Self { agent, session: format!("{base}/{id}"), _driver: driver })
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value> {
        post(&self.agent, &format!("{}/{path}", self.session), body)
    }

    /// Loads a page and waits until it is loaded.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub fn open(&self, url: &str) -> Result<()> {
        self.post("url", &json!({ "url": url })).map(drop)
    }

    /// Runs a function body in the page and returns what it returns; `arguments` are the script's `arguments`.
    ///
    /// # Errors
    /// When the script throws.
    pub fn run(&self, script: &str, arguments: &[Value]) -> Result<Value> {
        self.post("execute/sync", &json!({ "script": script, "args": arguments }))
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
        let found = self.post("element", &json!({ "using": "css selector", "value": selector }))?;
        let id = found.as_object().and_then(|o| o.values().next()).and_then(Value::as_str);
        let id = id.ok_or_else(|| error(format!("no element for {selector}")))?;
        self.post(&format!("element/{id}/click"), &json!({})).map(drop)
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
        self.post("actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": steps }] }))
            .map(drop)
    }

    /// Sets the size of the page in CSS pixels, whatever the window's frame takes.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn resize(&self, width: u32, height: u32) -> Result<()> {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size).map(drop)
    }

    /// Pretends that the person asked for a media feature, for example `("prefers-color-scheme", "dark")`.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn prefer(&self, features: &[(&str, &str)]) -> Result<()> {
        let features: Vec<Value> =
            features.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features })).map(drop)
    }

    /// One command of the browser's own protocol, for what WebDriver has no word for.
    ///
    /// # Errors
    /// When the browser refuses it.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Result<Value> {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// What the page wrote to its console since the last call, with failed requests and uncaught errors.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn console(&self) -> Result<Vec<ConsoleLine>> {
        let answer = self.post("se/log", &json!({ "type": "browser" }))?;
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
        let answer = get(&self.agent, &format!("{}/screenshot", self.session))?;
        let text = answer.as_str().ok_or_else(|| error("the driver gave no picture"))?;
        base64::engine::general_purpose::STANDARD.decode(text).map_err(|e| error(format!("the picture: {e}")))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ends the browser. If the driver is gone already there is nothing left to end.
        let _ = self.agent.delete(&self.session).call();
    }
}

/// A running ChromeDriver.
struct Driver {
    child: Child,
    port: u16,
}

impl Driver {
    fn start(program: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| error(format!("cannot start {}: {e}", program.display())))?;
        let lines = child.stdout.take().map(BufReader::new);
        let mut driver = Self { child, port: 0 };
        let (tell, told) = mpsc::channel();
        // The thread goes on reading until the driver ends, or its pipe would fill up.
        thread::spawn(move || {
            for line in lines.into_iter().flat_map(BufRead::lines).map_while(std::io::Result::ok) {
                if let Some(port) = port_in(&line) {
                    // Nobody listens any more when the start was given up.
                    let _ = tell.send(port);
                }
            }
        });
        driver.port =
            told.recv_timeout(START_LIMIT).map_err(|_| error("ChromeDriver did not say its port"))?;
        Ok(driver)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended by itself; both calls then report what we want to be true.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The port in the driver's line of success; an earlier line says `on port 0`.
fn port_in(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once("successfully on port ")?;
    rest.trim_end_matches('.').trim().parse().ok()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn post(agent: &ureq::Agent, url: &str, body: &Value) -> Result<Value> {
    let request = agent.post(url).header("content-type", "application/json");
    value_of(request.send(body.to_string()).map_err(|e| error(format!("{url}: {e}")))?)
}

fn get(agent: &ureq::Agent, url: &str) -> Result<Value> {
    value_of(agent.get(url).call().map_err(|e| error(format!("{url}: {e}")))?)
}

/// The `value` of an answer, or the error that it reports.
fn value_of(answer: ureq::http::Response<ureq::Body>) -> Result<Value> {
    let ok = answer.status().is_success();
    let text = answer.into_body().into_with_config().limit(ANSWER_BYTES).read_to_string();
    let text = text.map_err(|e| error(format!("the driver's answer: {e}")))?;
    let mut answer: Value =
        serde_json::from_str(&text).map_err(|e| error(format!("the driver's answer: {e}")))?;
    let value = answer["value"].take();
    if ok {
        return Ok(value);
    }
    let part =
        |field: &str| value[field].as_str().unwrap_or_default().lines().next().unwrap_or_default().to_owned();
    Err(error(format!("{}: {}", part("error"), part("message"))))
}

#[cfg(test)]
mod webdriver_tests {
    use super::*;

    #[test]
    fn the_port_is_read_from_the_line_that_reports_success() {
        assert_eq!(port_in("Starting ChromeDriver 156.0 on port 0"), None);
        assert_eq!(port_in("ChromeDriver was started successfully on port 40123."), Some(40123));
    }
}
