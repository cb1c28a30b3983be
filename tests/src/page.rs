//! The page in a browser, as the checks of it begin.

use crate::webdriver::{self, Browser};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
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

/// A copy of the page's files without those whose names have `what` in them. Whoever asks for it removes it.
///
/// # Panics
/// When a file cannot be copied.
#[must_use]
pub fn page_without(what: &str) -> PathBuf {
    let www = Path::new(env!("CARGO_MANIFEST_DIR")).join("../www");
    let folder = std::env::temp_dir().join(format!("tidegate-page-{}", std::process::id()));
    copy_without(&www, &folder, what).expect("a copy of the page");
    folder
}

fn copy_without(from: &Path, to: &Path, what: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (name, target) = (entry.file_name(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_without(&entry.path(), &target, what)?;
        } else if !name.to_string_lossy().contains(what) {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Chromium with a window of 1440 by 900.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn browser() -> Browser {
    sized(Browser::chromium(&given("TIDEGATE_CHROMIUM"), &given("TIDEGATE_CHROMEDRIVER")))
}

/// Firefox with a window of the same size.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn firefox() -> Browser {
    sized(Browser::firefox(&given("TIDEGATE_FIREFOX")))
}

fn sized(browser: webdriver::Result<Browser>) -> Browser {
    let browser = browser.expect("a browser");
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

/// What Firefox says when a call waits for the second part of the program (`xtask/js/later.js`). It is meant: a script that
/// clicks before anybody has touched the page comes before the part that a hand would have brought.
const WAITED: &str = "Synchronous XMLHttpRequest on the main thread is deprecated";

/// Holds the console to be empty since the last look.
///
/// # Panics
/// With what it has.
pub fn no_complaints(browser: &Browser) {
    let lines = browser.console().expect("the console");
    let bad: Vec<_> = lines
        .iter()
        .filter(|line| line.level == "SEVERE" || line.level == "WARNING")
        .filter(|line| !line.message.contains(WAITED))
        .collect();
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

/// An expression: the pixels of the picture, read from a copy, since a canvas that is read often is drawn slowly.
pub const PIXELS: &str = "(() => { const c = document.querySelector('canvas');\
    const copy = new OffscreenCanvas(c?.width || 1, c?.height || 1).getContext('2d', { willReadFrequently: true });\
    if (c?.width) copy.drawImage(c, 0, 0);\
    return new Uint32Array(copy.getImageData(0, 0, copy.canvas.width, copy.canvas.height).data.buffer); })()";

/// Runs a script that has to work.
///
/// # Panics
/// When it throws.
pub fn script(browser: &Browser, script: &str, arguments: &[Value]) -> Value {
    browser.run(script, arguments).unwrap_or_else(|e| panic!("{script}: {e}"))
}

/// Clicks by script: what is wanted may be below the edge of the window.
///
/// # Panics
/// When it is not there.
pub fn click(browser: &Browser, selector: &str) {
    let click = "const e = document.querySelector(arguments[0]); e?.click(); return !!e;";
    assert_eq!(script(browser, click, &[json!(selector)]), json!(true), "no {selector}");
}

/// Clicks the button with these words as soon as there is one; what is on its way may still take it out and bring it back.
///
/// # Panics
/// When there never is.
pub fn press_button(browser: &Browser, words: &str) {
    let words = json!(words);
    let press = format!(
        "(() => {{ const b = [...document.querySelectorAll('button')].find((b) => b.textContent.trim() === {words});\
         b?.click(); return b; }})() && {words}"
    );
    wait(browser, &press);
}

/// Types into a field and leaves it.
///
/// # Panics
/// When it is not there.
pub fn type_in(browser: &Browser, id: &str, value: &str) {
    let typing = "const f = document.getElementById(arguments[0]); if (!f) return false; f.focus(); f.value = arguments[1];\
        f.dispatchEvent(new Event('input', { bubbles: true })); f.dispatchEvent(new Event('change', { bubbles: true }));\
        f.blur(); return true;";
    assert_eq!(script(browser, typing, &[json!(id), json!(value)]), json!(true), "no field {id}");
}

/// Waits until an expression is truthy in the page, and returns its value.
///
/// # Panics
/// When it never is.
pub fn wait(browser: &Browser, expression: &str) -> Value {
    browser.wait_for(expression, SOON).unwrap_or_else(|e| panic!("{e}"))
}

/// The hash of the whole run once it is another than `before`.
///
/// # Panics
/// When it never is.
#[must_use]
pub fn hash(browser: &Browser, before: &str) -> String {
    let other = format!(
        "(document.querySelector('#hash')?.dataset.hash ?? {0}) !== {0} && document.querySelector('#hash').dataset.hash",
        json!(before)
    );
    wait(browser, &other).as_str().expect("a hash").to_owned()
}

/// Drops a log on the page.
///
/// # Panics
/// When the browser refuses.
pub fn drop_log(browser: &Browser, log: &str) {
    let drop = "const data = new DataTransfer();\
        data.items.add(new File([arguments[0]], 'access.log'));\
        dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));";
    script(browser, drop, &[json!(log)]);
}

/// A small log of a web server.
#[must_use]
pub fn small_log() -> String {
    let line = |i: u64| {
        let (minute, second) = (i / 60 % 60, i % 60);
        let asked = format!("[17/May/2015:10:{minute:02}:{second:02} +0000] \"GET /a{i}.png HTTP/1.1\"");
        format!("192.0.2.{} - - {asked} 200 {} \"-\" \"-\"\n", i % 200, 300 + i)
    };
    (0..900).map(line).collect()
}

/// Loads axe, the checker of accessibility, into the page.
///
/// # Panics
/// When there is none.
pub fn load_axe(browser: &Browser) {
    let axe = std::fs::read_to_string(given("TIDEGATE_AXE")).expect("the checker's script");
    browser.run(&axe, &[]).expect("axe loads");
}

/// What axe finds that is serious or critical, each as one line.
///
/// # Panics
/// When it is not loaded.
#[must_use]
pub fn findings(browser: &Browser) -> Vec<String> {
    let script = "const { violations } = await axe.run(document, { resultTypes: ['violations'] });\
        return violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) =>\
            `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`);";
    let found = browser.run_async(script, &[]).expect("axe runs");
    found.as_array().expect("a list").iter().map(|v| v.as_str().unwrap_or_default().to_owned()).collect()
}
