//! The simulator for JavaScript programs, and what the page hands over: an ES module of its own, without the page.
//!
//! `docs/src/module.md` is its documentation, `types.d.ts` its types. It decides nothing: a run here is the core's,
//! with the digits of the command line. The page loads it only when somebody asks for a report, a
//! file or a QR code, or drops a log.

mod columns;
mod problem;
mod qr;
mod toml;

use js_sys::{Float64Array, JSON, Reflect, Uint8Array};
use problem::Problem;
use serde_json::json;
use tidegate_core::frame::Frame;
use tidegate_core::import::{Options, Summary, Trace, flat, parse_trace};
use tidegate_core::link;
use tidegate_core::report::Report;
use tidegate_core::scenario::{self, Parsed};
use tidegate_core::sim;
use tidegate_core::time::{Duration, Instant};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

/// Largest seed that a JavaScript number holds exactly, and one.
const SEEDS: f64 = 9_007_199_254_740_992.0;
/// So much of the first line of a file that is no log is told, in bytes.
const FIRST_LINE: usize = 200;

/// A value that JSON has a word for, as a JavaScript value.
fn to_js(text: &str) -> JsValue {
    JSON::parse(text).unwrap_or_default()
}

/// JSON of what was given, for messages.
fn shown(value: &JsValue) -> String {
    JSON::stringify(value)
        .map_or_else(|_| "?".to_owned(), |text| text.as_string().unwrap_or("nothing".into()))
}

/// The scenario that JavaScript names.
fn read(from: &JsValue) -> Result<Parsed, Problem> {
    let Some(text) = from.as_string() else {
        return Ok(scenario::parse_json(&shown(from))?);
    };
    if let Some(name) = text.trim().strip_prefix("preset:") {
        let preset = scenario::presets::get(name)
            .ok_or_else(|| Problem::at("preset", "one of the built-in scenarios", name))?;
        return Ok(scenario::parse_json(preset.json())?);
    }
    Ok(link::open(&text)?.parsed)
}

/// An option, unless it is left out.
fn option(options: &JsValue, name: &str) -> Option<JsValue> {
    let value = Reflect::get(options, &name.into()).ok()?;
    (!value.is_undefined() && !value.is_null()).then_some(value)
}

/// An option that is a whole number below `below`.
fn whole(options: &JsValue, name: &str, below: f64, rule: &str) -> Result<Option<u64>, Problem> {
    let Some(value) = option(options, name) else { return Ok(None) };
    match value.as_f64().filter(|n| (0.0..below).contains(n) && n.trunc() == *n) {
        Some(n) => Ok(Some(n as u64)),
        None => Err(Problem::at(&format!("options.{name}"), rule, &shown(&value))),
    }
}

/// Bytes of the recorded traffic that was given, if any.
fn recorded(options: &JsValue) -> Result<Option<Vec<u8>>, Problem> {
    option(options, "recorded").map(|value| bytes_of(&value, "options.recorded")).transpose()
}

/// Bytes of a text or of bytes.
fn bytes_of(value: &JsValue, path: &str) -> Result<Vec<u8>, Problem> {
    if let Some(text) = value.as_string() {
        return Ok(text.into_bytes());
    }
    match value.dyn_ref::<Uint8Array>() {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Err(Problem::at(path, "a text or a Uint8Array", &shown(value))),
    }
}

/// How recorded traffic is to be read.
fn reading(options: &JsValue) -> Options<'static> {
    let as_playground = option(options, "asPlayground").is_some_and(|on| on.is_truthy());
    if as_playground { Options::to_play() } else { Options::default() }
}

/// Reads recorded traffic; the error shows its first line.
fn trace(bytes: &[u8], options: &JsValue, path: &str) -> Result<Trace, Problem> {
    parse_trace(bytes, &reading(options)).map_err(|error| {
        let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
        let first = String::from_utf8_lossy(&first[..first.len().min(FIRST_LINE)]);
        Problem::text(path, error.to_string()).showing(first.into_owned())
    })
}

/// One run, from its beginning to its end.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Simulation {
    scenario: scenario::Scenario,
    run: sim::Simulation,
    report: Option<Report>,
}

#[wasm_bindgen]
impl Simulation {
    /// A run at its beginning.
    ///
    /// # Errors
    /// What is wrong with the scenario, an option or the recorded traffic.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "Scenario")] scenario: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "Options")] options: &JsValue,
    ) -> Result<Self, JsValue> {
        Self::set_up(scenario, options).map_err(JsValue::from)
    }

    fn set_up(scenario: &JsValue, options: &JsValue) -> Result<Self, Problem> {
        let mut parsed = read(scenario)?;
        if let Some(seed) = whole(options, "seed", SEEDS, "a whole number from 0 to 2^53 - 1")? {
            parsed.wire.run.seed = seed;
        }
        let replication =
            whole(options, "replication", 4_294_967_296.0, "a whole number from 0 to 2^32 - 1")?;
        let scenario = parsed.check()?;
        let trace = match recorded(options)? {
            Some(bytes) => Some(trace(&bytes, options, "options.recorded")?),
            None => None,
        };
        let rows = trace.as_ref().map(|trace| (trace.rows.as_slice(), trace.labels.as_slice()));
        let run = sim::Simulation::new(&scenario, replication.unwrap_or(0) as u32, rows)
            .map_err(|e| Problem::text("options.recorded", e.to_string()))?;
        Ok(Self { scenario, run, report: None })
    }

    /// Plays every event up to a moment, in seconds since the beginning, and no further than the end.
    ///
    /// # Errors
    /// If it is no number.
    #[wasm_bindgen(js_name = runUntil)]
    pub fn run_until(&mut self, seconds: f64) -> Result<(), JsValue> {
        if seconds.is_nan() || seconds < 0.0 {
            return Err(Problem::at("seconds", "a number from 0", &seconds.to_string()).into());
        }
        self.run.run_until(Instant::START + Duration::from_secs_f64(seconds.min(1e9)));
        Ok(())
    }

    /// Plays one event; `false` at the end.
    pub fn step(&mut self) -> bool {
        self.run.step()
    }

    /// Seconds since the beginning.
    #[wasm_bindgen(getter)]
    pub fn now(&self) -> f64 {
        self.run.now().as_secs_f64()
    }

    /// Length of the run in seconds.
    #[wasm_bindgen(getter)]
    pub fn horizon(&self) -> f64 {
        self.scenario.horizon.as_secs_f64()
    }

    /// Whether it has come to its end.
    #[wasm_bindgen(getter, js_name = isOver)]
    pub fn is_over(&self) -> bool {
        self.run.is_over()
    }

    /// Events played so far.
    #[wasm_bindgen(getter)]
    pub fn events(&self) -> f64 {
        self.run.events() as f64
    }

    /// Digest of every event and decision so far, as 16 hexadecimal digits; at the end it is the run's.
    #[wasm_bindgen(getter, js_name = traceHash)]
    pub fn trace_hash(&self) -> String {
        format!("{:016x}", self.run.trace_hash())
    }

    /// The scenario in force, as an object.
    #[wasm_bindgen(getter, unchecked_return_type = "object")]
    pub fn scenario(&self) -> JsValue {
        to_js(&scenario::parse::to_canonical_json(self.scenario.wire()))
    }

    fn look(&self) -> Frame {
        let mut frame = Frame::default();
        self.run.frame(&mut frame);
        frame
    }

    /// How it looks now, as flat numbers; `columns()` names them.
    pub fn frame(&self) -> Float64Array {
        let mut numbers = Vec::new();
        self.look().encode(&mut numbers);
        Float64Array::from(numbers.as_slice())
    }

    /// A name for each number of `frame()`, as in `stages[0].classes[1].busy`. They stay the same for the whole run,
    /// except at stages whose split begins to be controlled.
    pub fn columns(&self) -> Vec<String> {
        columns::of(&self.look())
    }

    fn report_of_all(&mut self) -> &Report {
        let (scenario, run) = (&self.scenario, &mut self.run);
        self.report.get_or_insert_with(|| Report::of(scenario, &[run.finish()]))
    }

    /// Plays to the end and sums up, as `tidegate simulate --format json` does.
    #[wasm_bindgen(unchecked_return_type = "Report")]
    pub fn report(&mut self) -> JsValue {
        self.report_of_all();
        let report = self.report.as_ref().map(|report| report.to_json(&self.scenario));
        report.map_or(JsValue::NULL, |json| to_js(&json.to_string()))
    }

    /// The same as text: what the command line prints, digit for digit, without the time it took.
    #[wasm_bindgen(js_name = reportJson)]
    pub fn report_json(&mut self) -> String {
        self.report_of_all();
        self.report
            .as_ref()
            .map_or_else(String::new, |report| format!("{:#}\n", report.to_json(&self.scenario)))
    }

    /// The same as comma-separated values, a row a class: what `--format csv` prints.
    #[wasm_bindgen(js_name = reportCsv)]
    pub fn report_csv(&mut self) -> String {
        self.report_of_all().to_csv()
    }
}

/// What a log or trace holds, and its rows as the page's workers take them.
///
/// # Errors
/// Why it is none; the error's `value` is its first line.
#[wasm_bindgen(js_name = readTrace, unchecked_return_type = "Recording")]
pub fn read_trace(
    #[wasm_bindgen(unchecked_param_type = "Uint8Array | string")] recorded: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "Options")] options: &JsValue,
) -> Result<JsValue, JsValue> {
    let bytes = bytes_of(recorded, "recorded")?;
    let trace = trace(&bytes, options, "recorded")?;
    let read = to_js(&Summary::of(&trace).to_json().to_string());
    let rows = Uint8Array::from(flat::encode(&trace.rows, &trace.labels).as_slice());
    Reflect::set(&read, &"flat".into(), &rows)?;
    Ok(read)
}

/// The built-in scenarios.
#[wasm_bindgen(unchecked_return_type = "Preset[]")]
#[must_use]
pub fn presets() -> JsValue {
    let one = |p: &scenario::presets::Preset| json!({ "name": p.name, "title": p.title, "question": p.question, "lookFor": p.look_for });
    to_js(&scenario::presets::ALL.iter().map(one).collect::<serde_json::Value>().to_string())
}

/// Version of what a seed means: runs are equal where it is.
#[wasm_bindgen(js_name = engineVersion)]
#[must_use]
pub fn engine_version() -> String {
    sim::ENGINE.to_owned()
}

/// What a share link carries.
///
/// # Errors
/// Why it does not open.
#[wasm_bindgen(js_name = openLink, unchecked_return_type = "Opened")]
pub fn open_link(text: &str) -> Result<JsValue, JsValue> {
    let link = link::open(text).map_err(Problem::from)?;
    let view: serde_json::Map<_, _> = (link.view.to_text().split('&'))
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.into()))
        .collect();
    let opened = json!({ "unknown": link.parsed.unknown, "view": view });
    let opened = to_js(&opened.to_string());
    // On its own, because a value in between would sort its fields.
    Reflect::set(&opened, &"scenario".into(), &to_js(&link.parsed.to_canonical_json()))?;
    Ok(opened)
}

/// The share link of a scenario, without address and `#`; with `readable`, one that people can read.
///
/// # Errors
/// What is wrong with the scenario.
#[wasm_bindgen(js_name = encodeLink)]
pub fn encode_link(
    #[wasm_bindgen(unchecked_param_type = "Scenario")] scenario: &JsValue,
    readable: Option<bool>,
) -> Result<String, JsValue> {
    let parsed = read(scenario)?;
    // What cannot be run makes no link.
    parsed.clone().check().map_err(Problem::from)?;
    Ok(if readable == Some(true) { link::encode_readable(&parsed) } else { link::encode_parsed(&parsed) })
}

/// The scenario as a TOML file.
///
/// # Errors
/// What is wrong with the scenario.
#[wasm_bindgen(js_name = toToml)]
pub fn to_toml(
    #[wasm_bindgen(unchecked_param_type = "Scenario")] scenario: &JsValue,
) -> Result<String, JsValue> {
    let parsed = read(scenario)?;
    toml::of_json(&parsed.to_canonical_json()).map_err(|why| Problem::text("scenario", why).into())
}

/// The scenario as indented JSON, in the order of the schema.
///
/// # Errors
/// What is wrong with the scenario.
#[wasm_bindgen(js_name = toJson)]
pub fn to_json(
    #[wasm_bindgen(unchecked_param_type = "Scenario")] scenario: &JsValue,
) -> Result<String, JsValue> {
    Ok(read(scenario)?.to_pretty_json())
}

/// A text as a QR code: an SVG path of its dark modules.
#[wasm_bindgen]
#[derive(Debug)]
pub struct QrPath {
    /// Side in modules, the quiet zone of four included: the `viewBox` is `0 0 side side`.
    #[wasm_bindgen(readonly)]
    pub side: i32,
    path: String,
}

#[wasm_bindgen]
impl QrPath {
    /// The `d` of the path.
    #[wasm_bindgen(getter)]
    pub fn path(&self) -> String {
        self.path.clone()
    }
}

/// A text as a QR code; nothing if it is longer than the 2,953 bytes that one carries.
#[wasm_bindgen(js_name = qrPath)]
#[must_use]
pub fn qr_path(text: &str) -> Option<QrPath> {
    let (side, path) = qr::path(text)?;
    Some(QrPath { side, path })
}
