//! Where two scenarios differ: paths and values, found by walking their canonical JSON; and a scenario remade from
//! another and the list.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::{Map, Value};

/// A setting that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Where: `stages[1].queue.min`.
    pub path: String,
    /// What A has; `None` for nothing, which means the default.
    pub a: Option<Value>,
    /// What B has.
    pub b: Option<Value>,
}

/// The key that says which kind of thing an object is: of different kinds, no two fields mean the same.
const KINDS: [&str; 4] = ["kind", "law", "at", "by"];

/// All differences, in the order of A's JSON text as [`serde_json`] keeps it. Lists of the same length are walked
/// item by item, others differ as a whole.
#[must_use]
pub fn differences(a: &Value, b: &Value) -> Vec<Setting> {
    let mut out = Vec::new();
    walk(a, b, "", &mut out);
    out
}

fn walk(a: &Value, b: &Value, path: &str, out: &mut Vec<Setting>) {
    match (a, b) {
        _ if a == b => {}
        (Value::Object(a), Value::Object(b))
            if (same_kind(a, b) && plain(a) && plain(b)) || path.is_empty() =>
        {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => walk(a, b, &path, out),
                    (a, b) => out.push(Setting { path, a: a.cloned(), b: b.cloned() }),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                walk(a, b, &format!("{path}[{at}]"), out);
            }
        }
        _ => out.push(Setting { path: path.to_string(), a: Some(a.clone()), b: Some(b.clone()) }),
    }
}

fn same_kind(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    KINDS.iter().all(|key| match (a.get(*key), b.get(*key)) {
        (Some(Value::String(a)), Some(Value::String(b))) => a == b,
        (a, b) => a.is_none() == b.is_none(),
    })
}

/// Whether all keys can stand in a path.
fn plain(map: &Map<String, Value>) -> bool {
    map.keys().all(|key| !key.is_empty() && !key.contains(['.', '[', ']']))
}

impl Setting {
    /// Whether it changes what is run: a title does not.
    #[must_use]
    pub fn matters(&self) -> bool {
        !matches!(self.path.as_str(), "title" | "about" | "eng")
    }
}

/// The differences as an object from paths to what B has there; `null` for nothing.
#[must_use]
pub fn patch(differences: &[Setting]) -> Value {
    let entry = |of: &Setting| (of.path.clone(), of.b.clone().unwrap_or(Value::Null));
    Value::Object(differences.iter().map(entry).collect())
}

/// Makes of A what B is: each path is given its value. False if a path leads nowhere; A is then half changed.
#[must_use]
pub fn apply(a: &mut Value, patch: &Map<String, Value>) -> bool {
    patch.iter().all(|(path, value)| set(a, path, value).is_some())
}

fn set(root: &mut Value, path: &str, value: &Value) -> Option<()> {
    let (parent, last) = match path.rfind(['.', '[']) {
        Some(at) if path[at..].starts_with('.') => (&path[..at], &path[at + 1..]),
        Some(at) => (&path[..at], &path[at..]),
        None => ("", path),
    };
    let mut place = root;
    for step in parent.split('.').filter(|step| !step.is_empty()) {
        let (key, items) = step.split_once('[').unwrap_or((step, ""));
        place = place.get_mut(key)?;
        for item in items.split('[').filter(|item| !item.is_empty()) {
            place = place.get_mut(item.strip_suffix(']')?.parse::<usize>().ok()?)?;
        }
    }
    if let Some(item) = last.strip_prefix('[') {
        *place.get_mut(item.strip_suffix(']')?.parse::<usize>().ok()?)? = value.clone();
    } else if value.is_null() {
        let map = place.as_object_mut()?;
        *map = core::mem::take(map).into_iter().filter(|(key, _)| key != last).collect();
    } else {
        place.as_object_mut()?.insert(last.to_string(), value.clone());
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Parsed, parse, presets};
    use serde_json::json;

    #[track_caller]
    fn check(a: Value, b: Value, want: &[(&str, Value)]) {
        let found = differences(&a, &b);
        let want: Value = Value::Object(want.iter().map(|(k, v)| ((*k).to_string(), v.clone())).collect());
        assert_eq!(patch(&found), want);
        let mut made = a;
        assert!(apply(&mut made, patch(&found).as_object().expect("an object")), "{found:?}");
        assert_eq!(made, b);
    }

    #[test]
    fn paths_lead_to_what_differs_and_no_further() {
        let a = json!({"run": {"seed": 1}, "stages": [{"queue": {"kind": "red", "min": 1}}, {"workers": 3}]});
        check(a.clone(), a.clone(), &[]);
        let mut b = a.clone();
        b["stages"][0]["queue"]["min"] = json!(2);
        b["run"]["seed"] = json!(7);
        check(a.clone(), b, &[("run.seed", json!(7)), ("stages[0].queue.min", json!(2))]);
        let mut b = a.clone();
        b["stages"][0]["queue"] = json!({"kind": "codel", "min": 1});
        check(a.clone(), b.clone(), &[("stages[0].queue", json!({"kind": "codel", "min": 1}))]);
        check(b, a, &[("stages[0].queue", json!({"kind": "red", "min": 1}))]);
    }

    #[test]
    fn what_is_absent_and_lists_of_other_lengths_differ_as_a_whole() {
        check(json!({"a": 1, "b": 2}), json!({"a": 1, "c": 3}), &[("b", Value::Null), ("c", json!(3))]);
        check(json!({"a": [1, 2]}), json!({"a": [1]}), &[("a", json!([1]))]);
        check(json!({"a": [[1, 2], 3]}), json!({"a": [[1, 4], 3]}), &[("a[0][1]", json!(4))]);
        check(json!({"x": {"a.b": 1}}), json!({"x": {"a.b": 2}}), &[("x", json!({"a.b": 2}))]);
    }

    #[test]
    fn a_path_that_leads_nowhere_is_refused() {
        for path in ["b.c", "a[9]", "a[x]", "a[0", "a[0].x", "a.0", "[0]", ""] {
            let mut a = json!({"a": [1]});
            let patch = json!({ path: 1 });
            let went = apply(&mut a, patch.as_object().expect("an object"));
            assert!(!went || path.is_empty(), "{path}");
        }
    }

    #[test]
    fn every_preset_can_be_made_of_every_other() {
        let value = |name: &str| {
            let wire = presets::get(name).expect("a preset").scenario().wire().clone();
            serde_json::from_str::<Value>(&Parsed::from(wire).to_canonical_json()).expect("JSON")
        };
        let names: Vec<&str> = presets::names().collect();
        for pair in names.windows(2) {
            let (mut a, b) = (value(pair[0]), value(pair[1]));
            let found = patch(&differences(&a, &b));
            assert!(apply(&mut a, found.as_object().expect("an object")));
            assert_eq!(a, b, "{pair:?}");
            assert!(parse::from_value(&a).and_then(Parsed::check).is_ok());
        }
    }
}
