//! Firefox, by the protocol that it speaks itself: Marionette, `LENGTH:JSON` over TCP. A command is `[0, id, name, parameters]`,
//! its answer `[1, id, error, result]`.
//!
//! Why not geckodriver: it does no more than translate WebDriver to this, and distributions do not package it. What
//! WebDriver has no word for is done in the browser's own window, where Marionette lets scripts run as well.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    ANSWER_BYTES, ANSWER_LIMIT, Command, EXECUTE, POLL, Result, START_LIMIT, error, refusal, timeouts,
};

/// It takes this long to end when it is asked to, or is killed.
const END_LIMIT: Duration = Duration::from_secs(5);
/// Where Firefox writes the port that it chose, in its profile.
const PORT_FILE: &str = "MarionetteActivePort";
/// Our port is for it to choose; the rest keeps it from asking people or the network for anything, from scroll bars that take
/// room, and from ending the script that a page is in when it is left and its process goes, which would stand in the console
/// as a script that takes too long. Marionette itself adds what all tests want.
const PREFERENCES: &str = r#"user_pref("marionette.port", 0);
user_pref("app.normandy.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("browser.startup.page", 0);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("dom.abort_script_on_child_shutdown", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("network.proxy.type", 0);
user_pref("services.settings.server", "data:,#none");
user_pref("ui.useOverlayScrollbars", 1);
"#;
/// Writes the console down.
const CONSOLE: &str = include_str!("firefox.js");
/// The window is no narrower than 500 pixels and has its bars above the page, so the page is sized inside of it.
const RESIZE: &str = "const [width, height] = arguments, { style } = gBrowser.selectedBrowser;\
    window.resizeTo(Math.max(width, 500), height + 200);\
    style.minWidth = style.minHeight = 0; style.width = `${width}px`; style.height = `${height}px`;";

/// A running Firefox.
pub(super) struct Firefox {
    connection: RefCell<Connection>,
    // After the connection, by which our own `drop` asks it to end.
    process: Process,
}

impl Firefox {
    pub(super) fn start(program: &Path) -> Result<Self> {
        let mut process = Process::start(program)?;
        let port = process.port()?;
        let mut connection = Connection::open(port)?;
        let wanted = json!({ "capabilities": { "alwaysMatch": { "timeouts": timeouts() } } });
        connection.call("WebDriver:NewSession", &wanted)?;
        let firefox = Self { connection: RefCell::new(connection), process };
        firefox.in_window(CONSOLE, &[])?;
        Ok(firefox)
    }

    pub(super) fn command(&self, command: &Command, parameters: &Value) -> Result<Value> {
        let mut answer = self.connection.borrow_mut().call(command.name, parameters)?;
        // Commands that answer with a value wrap it, the others answer with an object of their own.
        Ok(if answer.get("value").is_some() { answer["value"].take() } else { answer })
    }

    /// Runs a function body in the browser's own window, with the browser's rights.
    fn in_window(&self, script: &str, arguments: &[Value]) -> Result<Value> {
        self.context("chrome")?;
        let answer = self.command(&EXECUTE, &json!({ "script": script, "args": arguments }));
        self.context("content")?;
        answer
    }

    fn context(&self, context: &str) -> Result<()> {
        self.connection.borrow_mut().call("Marionette:SetContext", &json!({ "value": context })).map(drop)
    }

    pub(super) fn resize(&self, width: u32, height: u32) -> Result<()> {
        self.in_window(RESIZE, &[json!(width), json!(height)]).map(drop)
    }

    pub(super) fn prefer(&self, features: &[(&str, &str)]) -> Result<()> {
        for feature in features {
            let (preference, number) = match *feature {
                ("prefers-reduced-motion", value) => {
                    ("ui.prefersReducedMotion", i32::from(value == "reduce"))
                }
                ("prefers-color-scheme", value) => {
                    ("layout.css.prefers-color-scheme.content-override", i32::from(value != "dark"))
                }
                (name, _) => return Err(error(format!("no preference of Firefox for {name}"))),
            };
            let set = "Services.prefs.setIntPref(arguments[0], arguments[1]);";
            self.in_window(set, &[json!(preference), json!(number)])?;
        }
        Ok(())
    }

    pub(super) fn console(&self) -> Result<Value> {
        self.in_window("return window.tidegateConsole.splice(0);", &[])
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        // If it is gone already there is nothing left to end, and if it does not answer it is killed.
        let connection = self.connection.get_mut();
        let _ = connection.stream.get_ref().set_read_timeout(Some(END_LIMIT));
        let _ = connection.call("Marionette:Quit", &json!({ "flags": ["eForceQuit"] }));
        self.process.wait();
    }
}

/// The program and its profile, which lives as long.
struct Process {
    child: Child,
    profile: PathBuf,
}

impl Process {
    fn start(program: &Path) -> Result<Self> {
        let profile = profile()?;
        let child = Program::new(program)
            // System access is what scripts in the browser's own window need.
            .args(["--headless", "--no-remote", "--marionette", "-remote-allow-system-access", "--profile"])
            .arg(&profile)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match child {
            Ok(child) => Ok(Self { child, profile }),
            Err(e) => {
                let _ = fs::remove_dir_all(&profile);
                Err(error(format!("cannot start {}: {e}", program.display())))
            }
        }
    }

    /// The port that it listens at, once it does.
    fn port(&mut self) -> Result<u16> {
        let start = Instant::now();
        while start.elapsed() < START_LIMIT {
            let written = fs::read_to_string(self.profile.join(PORT_FILE)).unwrap_or_default();
            if let Ok(port) = written.trim().parse() {
                return Ok(port);
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(error(format!("Firefox ended at its start: {status}")));
            }
            thread::sleep(POLL);
        }
        Err(error("Firefox did not say its port"))
    }

    /// Waits for its end, a while.
    fn wait(&mut self) {
        let start = Instant::now();
        while start.elapsed() < END_LIMIT && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(POLL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; the calls then report what we want to be true. A folder that cannot be removed is in
        // nobody's way.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

/// A new folder with our preferences.
fn profile() -> Result<PathBuf> {
    static PROFILES: AtomicU32 = AtomicU32::new(0);
    let number = PROFILES.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("tidegate-firefox-{}-{number}", std::process::id()));
    fs::create_dir(&folder)
        .and_then(|()| fs::write(folder.join("user.js"), PREFERENCES))
        .map_err(|e| error(format!("{}: {e}", folder.display())))?;
    Ok(folder)
}

/// A connection to Marionette, one command at a time.
struct Connection {
    stream: BufReader<TcpStream>,
    /// Of the last command.
    id: u64,
}

impl Connection {
    fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .and_then(|stream| stream.set_read_timeout(Some(ANSWER_LIMIT)).map(|()| stream))
            .map_err(|e| error(format!("Firefox's port: {e}")))?;
        let mut connection = Self { stream: BufReader::new(stream), id: 0 };
        let hello = receive(&mut connection.stream)?;
        if hello["marionetteProtocol"] != json!(3) {
            return Err(error(format!("Firefox speaks another protocol: {hello}")));
        }
        Ok(connection)
    }

    fn call(&mut self, name: &str, parameters: &Value) -> Result<Value> {
        self.id += 1;
        let packet = packet(&json!([0, self.id, name, parameters]));
        self.stream.get_mut().write_all(&packet).map_err(|e| error(format!("{name}: {e}")))?;
        let mut answer = receive(&mut self.stream)?;
        if answer[0] != json!(1) || answer[1] != json!(self.id) {
            return Err(error(format!("{name}: Firefox answers something else")));
        }
        if answer[2].is_null() { Ok(answer[3].take()) } else { Err(refusal(&answer[2])) }
    }
}

fn packet(message: &Value) -> Vec<u8> {
    let text = message.to_string();
    format!("{}:{text}", text.len()).into_bytes()
}

fn receive(stream: &mut impl BufRead) -> Result<Value> {
    let broken = |what: &dyn std::fmt::Display| error(format!("Firefox's answer: {what}"));
    let mut length = Vec::new();
    // As many digits as the largest answer has, and the colon.
    stream.by_ref().take(16).read_until(b':', &mut length).map_err(|e| broken(&e))?;
    let length = length.strip_suffix(b":").and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    let length: u64 = length.ok_or_else(|| broken(&"no length"))?;
    if length > ANSWER_BYTES {
        return Err(broken(&format_args!("{length} bytes are too many")));
    }
    let mut text = Vec::new();
    stream.by_ref().take(length).read_to_end(&mut text).map_err(|e| broken(&e))?;
    if text.len() as u64 != length {
        return Err(broken(&"cut short"));
    }
    serde_json::from_slice(&text).map_err(|e| broken(&e))
}

#[cfg(test)]
mod firefox_tests {
    use super::*;

    #[test]
    fn a_packet_says_its_length_in_bytes_and_is_read_back_alone() {
        let message = json!([0, 1, "WebDriver:Navigate", { "url": "http://127.0.0.1/#需求" }]);
        let mut bytes = packet(&message);
        let text = message.to_string();
        assert_eq!(bytes, format!("{}:{text}", text.len()).into_bytes());
        bytes.extend_from_slice(b"4:null");
        let mut stream = bytes.as_slice();
        assert_eq!(receive(&mut stream).unwrap(), message);
        assert_eq!(receive(&mut stream).unwrap(), Value::Null);
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        for (bytes, why) in [
            ("", "no length"),
            ("12", "no length"),
            ("-1:[]", "no length"),
            ("99999999999999999999:[]", "no length"),
            ("999999999999:[]", "too many"),
            ("5:[]", "cut short"),
            ("2:[}", "expected"),
        ] {
            let error = receive(&mut bytes.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(why), "{bytes}: {error}");
        }
    }
}
