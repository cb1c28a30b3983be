//! Chromium, by way of ChromeDriver: WebDriver over HTTP, with ChromeDriver's extensions for the console and the browser's own
//! protocol.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command as Program, Stdio};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

use super::{ANSWER_BYTES, ANSWER_LIMIT, Command, Result, SCREENSHOT, START_LIMIT, error, refusal, timeouts};

const ARGUMENTS: &[&str] = &[
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

/// A Chromium and its driver.
pub(super) struct Chromium {
    agent: ureq::Agent,
    session: String,
    // After the session, which our own `drop` ends first: a killed driver would leave the browser behind.
    _driver: Driver,
}

impl Chromium {
    pub(super) fn start(chromium: &Path, chromedriver: &Path) -> Result<Self> {
        let driver = Driver::start(chromedriver)?;
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER_LIMIT))
            .http_status_as_error(false)
            .proxy(None)
            .build()
            .into();
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "binary": chromium, "args": ARGUMENTS },
            "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": timeouts(),
        } } });
        let base = format!("http://127.0.0.1:{}/session", driver.port);
        let answer = post(&agent, &base, &wanted)?;
        let id = answer["sessionId"].as_str().ok_or_else(|| error("the driver gave no session id"))?;
        Ok(Self { agent, session: format!("{base}/{id}"), _driver: driver })
    }

    pub(super) fn command(&self, command: &Command, parameters: &Value) -> Result<Value> {
        if command.path == SCREENSHOT.path {
            return get(&self.agent, &format!("{}/{}", self.session, command.path));
        }
        let id = parameters["id"].as_str().unwrap_or_default();
        self.post(&command.path.replace("{id}", id), parameters)
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value> {
        post(&self.agent, &format!("{}/{path}", self.session), body)
    }

    pub(super) fn devtools(&self, command: &str, parameters: &Value) -> Result<Value> {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    pub(super) fn resize(&self, width: u32, height: u32) -> Result<()> {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size).map(drop)
    }

    pub(super) fn prefer(&self, features: &[(&str, &str)]) -> Result<()> {
        let features: Vec<Value> =
            features.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features })).map(drop)
    }

    pub(super) fn console(&self) -> Result<Value> {
        self.post("se/log", &json!({ "type": "browser" }))
    }
}

impl Drop for Chromium {
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
        let mut child = Program::new(program)
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
    if ok { Ok(value) } else { Err(refusal(&value)) }
}

#[cfg(test)]
mod chromium_tests {
    use super::*;

    #[test]
    fn the_port_is_read_from_the_line_that_reports_success() {
        assert_eq!(port_in("Starting ChromeDriver 156.0 on port 0"), None);
        assert_eq!(port_in("ChromeDriver was started successfully on port 40123."), Some(40123));
    }
}
