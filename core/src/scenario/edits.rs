//! Edits: new values in a scenario that already runs.
//!
//! An edit names values by the paths that errors use, so that what an editor changes, a file says and an error complains of
//! have one name. It is applied to the canonical JSON of the version in force, which is then read and checked as a whole
//! like any other scenario: no rule is written twice, and no value is special. What cannot change while requests are inside
//! (how many classes, stages and servers there are, what they are called, which of them works at servers) is refused by
//! [`may_follow`], wherever the change comes from.

use super::error::ScenarioError;
use super::json;
use super::v1::{EditV1, LoadV1, ScenarioV1, SetV1};
use super::wire::{Path, reread};
use super::{Parsed, Scenario, parse};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use serde_json::{Map, Value};

/// The rule about what cannot change while it runs.
const WHOLE: &str = "what it was when the run began";

/// Fields that say which of several kinds an object is.
const TAGS: [&str; 6] = ["policy", "law", "kind", "rule", "control", "at"];

/// The scenario with new values.
///
/// # Errors
/// The first value that cannot be put in place, or the first rule that the whole would break; the path is the one in `set`,
/// as far as it can be told.
pub fn apply(before: &ScenarioV1, set: &SetV1) -> Result<ScenarioV1, ScenarioError> {
    let mut value = full(before);
    for (path, new) in &set.0 {
        if split(path).is_some_and(|(step, _)| matches!(step, Step::Key("edits"))) {
            return Err(ScenarioError::new(&at(path), &"left out of an edit", &json::shown(new)));
        }
        put(&mut value, path, new).map_err(|rule| ScenarioError::new(&at(path), &rule, &json::shown(new)))?;
    }
    let after = parse::from_value(&value)
        .and_then(Parsed::deny_unknown)
        .and_then(|Parsed { wire, .. }| may_follow(before, &wire).map(|()| wire))
        .and_then(|after| match super::check::check_all(&after).into_iter().next() {
            Some(error) => Err(error),
            None => Ok(after),
        });
    after.map_err(|error| placed(error, set))
}

/// The values that make `after` of `before`: as few paths as say it.
///
/// # Errors
/// What differs and may not, as [`may_follow`] says.
pub fn difference(before: &ScenarioV1, after: &ScenarioV1) -> Result<SetV1, ScenarioError> {
    may_follow(before, after)?;
    Ok(SetV1(between(&full(before), &full(after))))
}

/// Whether a scenario that runs as `before` may go on as `after`.
///
/// # Errors
/// What differs and may not: where, and the rule. Rules of `after` by itself are not looked at.
pub fn may_follow(before: &ScenarioV1, after: &ScenarioV1) -> Result<(), ScenarioError> {
    let fail = |path: &dyn fmt::Display, rule: &dyn fmt::Display, found: &dyn fmt::Display| {
        Err(ScenarioError::new(path, rule, found))
    };
    let counts = [
        ("classes", before.classes.len(), after.classes.len()),
        ("stages", before.stages.len(), after.stages.len()),
        ("servers", before.servers.len(), after.servers.len()),
    ];
    for (path, had, has) in counts {
        if had != has {
            return fail(&path, &format_args!("as many as when the run began ({had})"), &has);
        }
    }
    let whole = [
        ("title", before.title == after.title),
        ("about", before.about == after.about),
        ("eng", before.engine == after.engine),
        ("run", before.run == after.run),
        ("gateways", before.gateways == after.gateways),
        ("events", before.events == after.events),
    ];
    if let Some((path, _)) = whole.into_iter().find(|(_, same)| !same) {
        return fail(&path, &WHOLE, &"another value");
    }
    for (i, (was, is)) in before.classes.iter().zip(&after.classes).enumerate() {
        if was.name != is.name {
            return fail(&format_args!("classes[{i}].name"), &WHOLE, &super::wire::quoted(&is.name));
        }
        if was.kind != is.kind {
            return fail(&format_args!("classes[{i}].kind"), &WHOLE, &super::wire::quoted(is.kind.word()));
        }
        let is_fixed = |load: &LoadV1| matches!(load, LoadV1::Closed { .. } | LoadV1::Trace { .. });
        if (is_fixed(&was.load) || is_fixed(&is.load)) && was.load.word() != is.load.word() {
            let rule =
                format_args!("{}, as closed clients and recorded rows stay what they are", was.load.word());
            return fail(
                &format_args!("classes[{i}].load.kind"),
                &rule,
                &super::wire::quoted(is.load.word()),
            );
        }
        if let (LoadV1::Trace { label: was }, LoadV1::Trace { label: is }) = (&was.load, &is.load)
            && was != is
        {
            return fail(&format_args!("classes[{i}].load.label"), &WHOLE, &super::wire::quoted(is));
        }
    }
    for (i, (was, is)) in before.stages.iter().zip(&after.stages).enumerate() {
        if was.name != is.name {
            return fail(&format_args!("stages[{i}].name"), &WHOLE, &super::wire::quoted(&is.name));
        }
        if was.work.word() != is.work.word() {
            return fail(&format_args!("stages[{i}].work.at"), &WHOLE, &super::wire::quoted(is.work.word()));
        }
    }
    for (i, (was, is)) in before.servers.iter().zip(&after.servers).enumerate() {
        if was.name != is.name {
            return fail(&format_args!("servers[{i}].name"), &WHOLE, &super::wire::quoted(&is.name));
        }
        if was.discipline != is.discipline {
            return fail(
                &format_args!("servers[{i}].discipline"),
                &WHOLE,
                &super::wire::quoted(is.discipline.word()),
            );
        }
    }
    Ok(())
}

/// The scenario as it begins, and from each moment on at which it is edited, in order. Empty unless it has edits.
///
/// With it, everything that is wrong with the edits; then the list ends before the first that is.
pub(super) fn versions(wire: &ScenarioV1) -> (Vec<ScenarioV1>, Vec<ScenarioError>) {
    let mut errors = Vec::new();
    let mut last = 0;
    for (i, edit) in wire.edits.iter().enumerate() {
        let path = format_args!("edits[{i}].at_us").to_string();
        if edit.at_us > wire.run.horizon_us {
            let rule = format_args!("at most horizon_us ({})", wire.run.horizon_us).to_string();
            errors.push(ScenarioError::new(&path, &rule, &edit.at_us));
        } else if edit.at_us < last {
            errors.push(ScenarioError::new(
                &path,
                &format_args!("at least the one before ({last})"),
                &edit.at_us,
            ));
        }
        last = edit.at_us;
    }
    let mut all = Vec::new();
    let mut now = ScenarioV1 { edits: Vec::new(), ..wire.clone() };
    for (i, EditV1 { set, .. }) in wire.edits.iter().enumerate() {
        match apply(&now, set) {
            Ok(next) => now = next,
            Err(error) => {
                let path = format!("edits[{i}].set{}", error.path);
                errors.push(ScenarioError { path, ..error });
                break;
            }
        }
        all.push(now.clone());
    }
    (all, errors)
}

/// The scenario with the values of its last version from its start, and without edits.
///
/// # Errors
/// What is wrong with its edits.
pub fn fold(wire: &ScenarioV1) -> Result<ScenarioV1, ScenarioError> {
    let (mut all, errors) = versions(wire);
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(all.pop().unwrap_or_else(|| wire.clone())),
    }
}

/// The version of a scenario in force at a moment, without edits; what is wrong with edits is passed over.
#[must_use]
pub fn in_force(wire: &ScenarioV1, at_us: u64) -> ScenarioV1 {
    let until = wire.edits.iter().take_while(|edit| edit.at_us <= at_us).cloned().collect();
    let part = ScenarioV1 { edits: until, ..wire.clone() };
    let (mut all, _) = versions(&part);
    all.pop().unwrap_or(ScenarioV1 { edits: Vec::new(), ..part })
}

/// The moment until which two scenarios are one, in microseconds: that of the first edit only one of them has; 0 if they
/// begin differently, `None` if they are one all along.
#[must_use]
pub fn agree_until(a: &ScenarioV1, b: &ScenarioV1) -> Option<u64> {
    let shared = a.edits.iter().zip(&b.edits).take_while(|(a, b)| a == b).count();
    let begins = |wire: &ScenarioV1| ScenarioV1 {
        edits: Vec::new(),
        title: String::new(),
        about: String::new(),
        engine: String::new(),
        ..wire.clone()
    };
    if begins(a) != begins(b) {
        return Some(0);
    }
    let next = |wire: &ScenarioV1| wire.edits.get(shared).map(|edit| edit.at_us);
    next(a).into_iter().chain(next(b)).min()
}

/// JSON of a scenario with every default written out.
pub(crate) fn full(wire: &ScenarioV1) -> Value {
    let text = parse::to_full_json(wire);
    reread(&crate::json::read(&text).expect("what the writer writes is JSON"))
}

/// A path as a key of `set`.
fn at(path: &str) -> String {
    let mut quoted = String::from("[");
    json::push_string(&mut quoted, &json::shorten(path));
    quoted.push(']');
    quoted
}

/// An error about the whole, told of the path in `set` that it is about.
fn placed(error: ScenarioError, set: &SetV1) -> ScenarioError {
    if error.path.starts_with('[') {
        return error;
    }
    let within = |key: &&String| {
        error
            .path
            .strip_prefix(key.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    match set.0.keys().filter(within).max_by_key(|key| key.len()) {
        Some(key) => ScenarioError { path: format!("{}{}", at(key), &error.path[key.len()..]), ..error },
        // The rule is about something that is set only in part, or follows from it.
        None => {
            let keys: Vec<String> = set.0.keys().take(1).map(|key| at(key)).collect();
            ScenarioError { path: keys.concat(), rule: format!("{}: {}", error.path, error.rule), ..error }
        }
    }
}

/// Puts a value in its place; what is wrong with the path, if anything is.
pub(crate) fn put(root: &mut Value, path: &str, new: &Value) -> Result<(), &'static str> {
    const UNKNOWN: &str = "the path of a value of the scenario";
    let mut place = root;
    let mut rest = path;
    loop {
        let (step, after) = split(rest).ok_or(UNKNOWN)?;
        match step {
            Step::Key(key) => {
                let map = place.as_object_mut().ok_or(UNKNOWN)?;
                if after.is_empty() {
                    if new.is_null() {
                        map.remove(key);
                    } else {
                        map.insert(String::from(key), new.clone());
                    }
                    return Ok(());
                }
                place = map.get_mut(key).ok_or(UNKNOWN)?;
            }
            Step::Index(index) => {
                place = place.as_array_mut().and_then(|list| list.get_mut(index)).ok_or(UNKNOWN)?;
                if after.is_empty() {
                    *place = new.clone();
                    return Ok(());
                }
            }
        }
        rest = after;
    }
}

/// One step of a path.
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The first step of a path, and what follows.
fn split(path: &str) -> Option<(Step<'_>, &str)> {
    if let Some(rest) = path.strip_prefix('[') {
        let (digits, after) = rest.split_once(']')?;
        let index = (digits.len() <= 5 && digits.bytes().all(|b| b.is_ascii_digit()))
            .then(|| digits.parse().ok())??;
        return Some((Step::Index(index), after.strip_prefix('.').unwrap_or(after)));
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (key, after) = path.split_at(end);
    (!key.is_empty()).then_some((Step::Key(key), after.strip_prefix('.').unwrap_or(after)))
}

/// Where two values differ, by path: what the second has there.
pub(crate) fn between(before: &Value, after: &Value) -> Map<String, Value> {
    let mut set = Map::new();
    walk(before, after, &Path::Root, &mut set);
    set
}

/// The value at a path.
pub(crate) fn get<'a>(root: &'a Value, path: &str) -> Option<&'a Value> {
    let (mut place, mut rest) = (root, path);
    while !rest.is_empty() {
        let (step, after) = split(rest)?;
        place = match step {
            Step::Key(key) => place.get(key)?,
            Step::Index(index) => place.get(index)?,
        };
        rest = after;
    }
    Some(place)
}

/// Writes down where two values differ.
fn walk(before: &Value, after: &Value, path: &Path<'_>, set: &mut Map<String, Value>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Value::Object(was), Value::Object(is)) if same_kind(was, is) => {
            for (key, value) in was {
                let path = Path::Key(path, key);
                match is.get(key) {
                    Some(new) => walk(value, new, &path, set),
                    None => drop(set.insert(path.to_string(), Value::Null)),
                }
            }
            for (key, value) in is.iter().filter(|(key, _)| !was.contains_key(*key)) {
                set.insert(Path::Key(path, key).to_string(), value.clone());
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() && is.iter().all(Value::is_object) => {
            for (i, (was, is)) in was.iter().zip(is).enumerate() {
                walk(was, is, &Path::Index(path, i), set);
            }
        }
        _ => drop(set.insert(path.to_string(), after.clone())),
    }
}

/// Whether two objects have the same fields, or are of no particular kind.
fn same_kind(was: &Map<String, Value>, is: &Map<String, Value>) -> bool {
    let has_name = was.contains_key("name");
    has_name || TAGS.iter().all(|tag| was.get(*tag) == is.get(*tag))
}

impl Scenario {
    /// The version in force at a moment of the run: the scenario itself before its first edit.
    #[must_use]
    pub fn version_at(&self, at: crate::time::Instant) -> &Self {
        self.edits.iter().rev().find(|edit| edit.at <= at).map_or(self, |edit| &edit.version)
    }

    /// The same as it begins, without edits.
    #[must_use]
    pub fn without_edits(&self) -> Self {
        let mut same = self.clone();
        same.edits = Arc::from([]);
        same.wire.edits.clear();
        same
    }

    /// The scenario and all that edits make of it, in order.
    pub fn all_versions(&self) -> impl Iterator<Item = &Self> {
        core::iter::once(self).chain(self.edits.iter().map(|edit| &edit.version))
    }
}
