//! Scenarios as JSON: reading (any version this program knows), writing canonically, JSON Schema.
//!
//! Reading takes two steps, so that an editor can show a scenario that breaks a limit: here a value gets its
//! type, and [`Scenario::check`](super::Scenario::check) looks at limits and at what fits together.
//! Fields that nobody knows are kept and listed: a link keeps them (it may come from a later release of the
//! same version), a file that should be strict asks [`Parsed::deny_unknown`].

use super::error::{Newer, ScenarioError};
use super::v1::{ScenarioV1, VERSION};
use super::wire::{Defs, Described, Extra, Object, Path, Reader, Writer, whole_number};
use super::{Scenario, json};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::{Map, Value, json};

/// Most bytes of JSON text that are read.
pub const MAX_JSON_BYTES: usize = 256 * 1024;
/// Most objects and lists inside each other.
pub const MAX_DEPTH: usize = 16;

/// The field that says which version of the format follows.
const VERSION_KEY: &str = "tidegate";

/// A scenario that was read: every value has its type, limits are not looked at yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The scenario.
    pub wire: ScenarioV1,
    /// Paths of the fields that are not known here.
    pub unknown: Vec<String>,
    /// The unknown fields, sorted by place.
    extra: Vec<Extra>,
}

impl Parsed {
    /// Goes on only if every field is known.
    ///
    /// # Errors
    /// The first unknown field, with the name that was probably meant.
    pub fn deny_unknown(self) -> Result<Self, ScenarioError> {
        match self.extra.first() {
            None => Ok(self),
            Some(extra) => Err(unknown(extra)),
        }
    }

    /// Canonical JSON with the unknown fields in their places.
    #[must_use]
    pub fn to_canonical_json(&self) -> String {
        write(&self.wire, &self.extra)
    }

    /// The same for people to read and edit: indented.
    #[must_use]
    pub fn to_pretty_json(&self) -> String {
        json::pretty(&self.to_canonical_json())
    }

    /// Makes it a scenario that can be run.
    ///
    /// # Errors
    /// The first rule that is broken, in the order of the document.
    pub fn check(self) -> Result<Scenario, ScenarioError> {
        Scenario::check(self.wire)
    }
}

impl From<ScenarioV1> for Parsed {
    fn from(wire: ScenarioV1) -> Self {
        Self { wire, unknown: Vec::new(), extra: Vec::new() }
    }
}

/// Reads JSON text.
///
/// # Errors
/// The first thing that is not as it should be; no text panics.
pub fn parse_json(text: &str) -> Result<Parsed, ScenarioError> {
    from_value(&json_value(text)?)
}

/// Reads a JSON value, wherever it was written (TOML files go through here too).
///
/// # Errors
/// The first thing that is not as it should be; no value panics.
pub fn from_value(value: &Value) -> Result<Parsed, ScenarioError> {
    let (parsed, errors) = read(value)?;
    match errors.into_iter().next() {
        None => Ok(parsed),
        Some(error) => Err(error),
    }
}

/// Reads what can be read: every value that is missing or of the wrong kind is replaced by its default (or the
/// first choice) and listed, so that an editor can open the scenario, paused, with those fields marked.
///
/// # Errors
/// What leaves nothing to open: no JSON, no object, an unknown version.
pub fn parse_lenient(text: &str) -> Result<(Parsed, Vec<ScenarioError>), ScenarioError> {
    read(&json_value(text)?)
}

/// Everything that is wrong with a scenario, unknown fields included, in the order of the document as far as
/// it is known. Empty exactly if it can be run.
#[must_use]
pub fn check_all(value: &Value) -> Vec<ScenarioError> {
    match read(value) {
        Err(error) => alloc::vec![error],
        Ok((parsed, mut errors)) => {
            let limits = super::check::check_all(&parsed.wire);
            // A value that could not be read was replaced; what is wrong with its replacement says nothing.
            let new = |limit: &ScenarioError, known: &[ScenarioError]| {
                !known.iter().any(|e| limit.path.starts_with(&e.path) || e.path.starts_with(&limit.path))
            };
            let limits: Vec<_> = limits.into_iter().filter(|limit| new(limit, &errors)).collect();
            errors.extend(parsed.extra.iter().map(unknown));
            errors.extend(limits);
            errors
        }
    }
}

/// The error that an unknown field is.
fn unknown(extra: &Extra) -> ScenarioError {
    ScenarioError::new(&extra.path(), &"no such field", &json::shown(&extra.value)).with_guess(extra.meant)
}

/// JSON text as a value: at most [`MAX_JSON_BYTES`] long, and no key twice in one object (a reader would
/// silently take the last).
///
/// # Errors
/// What is wrong with the text as JSON.
pub fn json_value(text: &str) -> Result<Value, ScenarioError> {
    if text.len() > MAX_JSON_BYTES {
        let rule = format!("at most {MAX_JSON_BYTES} bytes of JSON");
        return Err(ScenarioError::new(&"scenario", &rule, &format_args!("{} bytes", text.len())));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    crate::json::read(text).map_err(|fault| match &fault.repeated {
        Some(path) => ScenarioError::new(path, &"given once", &"the same key again"),
        None => ScenarioError::new(&"scenario", &"JSON", &fault),
    })
}

/// Reads a value of any version; what is wrong inside is listed.
fn read(value: &Value) -> Result<(Parsed, Vec<ScenarioError>), ScenarioError> {
    if !shallow(value, MAX_DEPTH) {
        return Err(ScenarioError::new(
            &"scenario",
            &format_args!("at most {MAX_DEPTH} levels deep"),
            &"more",
        ));
    }
    let Some(map) = value.as_object() else {
        return Err(ScenarioError::new(&"scenario", &"an object", &json::shown(value)));
    };
    match map.get(VERSION_KEY) {
        Some(version) if whole_number(version) == Some(u64::from(VERSION)) => Ok(read_v1(map)),
        Some(version) => Err(other_version(version, value)),
        None => Err(ScenarioError::new(&VERSION_KEY, &format_args!("required: {VERSION}"), &"nothing")),
    }
}

/// Reads version 1.
fn read_v1(map: &Map<String, Value>) -> (Parsed, Vec<ScenarioError>) {
    let mut reader = Reader::default();
    let mut object = Object::new(map, &Path::Root);
    object.take(VERSION_KEY);
    let mut wire = ScenarioV1::empty();
    object.read(&mut wire, &mut reader);
    let Reader { errors, mut extra } = reader;
    let unknown = extra.iter().map(Extra::path).collect();
    extra.sort_by(|a, b| (&a.parent, &a.key).cmp(&(&b.parent, &b.key)));
    (Parsed { wire, unknown, extra }, errors)
}

/// The error for a version that is not known.
fn other_version(version: &Value, whole: &Value) -> ScenarioError {
    let error = ScenarioError::new(&VERSION_KEY, &VERSION, &json::shown(version));
    match whole_number(version) {
        Some(version) if version > u64::from(VERSION) => {
            let text =
                |key: &str| whole.get(key).and_then(Value::as_str).map(json::shorten).unwrap_or_default();
            let mut compact = String::new();
            json::push_value(&mut compact, whole);
            let newer =
                Newer { version, title: text("title"), engine: text("eng"), json: json::pretty(&compact) };
            ScenarioError { newer: Some(Box::new(newer)), ..error }
        }
        _ => error,
    }
}

/// Whether `value` has at most `levels` objects and lists inside each other.
fn shallow(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| shallow(item, levels - 1)),
        Value::Object(map) => levels > 0 && map.values().all(|item| shallow(item, levels - 1)),
        _ => true,
    }
}

/// A value as JSON text without spaces, keys in the order of the value's map.
#[must_use]
pub fn to_json(value: &Value) -> String {
    let mut text = String::new();
    json::push_value(&mut text, value);
    text
}

/// Canonical JSON: keys in schema order, no spaces, defaults left out, shortest decimals.
#[must_use]
pub fn to_canonical_json(wire: &ScenarioV1) -> String {
    write(wire, &[])
}

/// The same for people to read and edit: indented, defaults left out.
#[must_use]
pub fn to_pretty_json(wire: &ScenarioV1) -> String {
    json::pretty(&to_canonical_json(wire))
}

/// The same with every default written out.
pub(super) fn to_full_json(wire: &ScenarioV1) -> String {
    write_to(Writer::full(), wire)
}

fn write(wire: &ScenarioV1, extra: &[Extra]) -> String {
    write_to(Writer::new(extra), wire)
}

fn write_to(mut to: Writer<'_>, wire: &ScenarioV1) -> String {
    to.object(wire, Some((VERSION_KEY, VERSION)));
    to.into_text()
}

/// The JSON Schema (draft 2020-12) of a scenario file.
///
/// It says what one value may be; rules that involve several (unique names, a split that sums to the workers)
/// are beyond it. `x-unit` names the unit of a number.
#[must_use]
pub fn json_schema() -> Value {
    let mut defs = Defs::new();
    let shape = ScenarioV1::shapes(&mut defs).remove(0);
    let mut schema = shape.version(VERSION_KEY, VERSION).into_schema();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Tidegate scenario, version 1");
    schema["$defs"] = Value::Object(defs);
    schema
}
