//! Where two scenarios differ: paths and values, by the same rules as an edit names them; and a scenario remade from
//! another and the list.

use crate::scenario::edits::{between, full, get, put};
use crate::scenario::v1::ScenarioV1;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::{Map, Value};

/// A setting that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Where: `stages[1].queue.min`.
    pub path: String,
    /// What A has; `None` for nothing.
    pub a: Option<Value>,
    /// What B has.
    pub b: Option<Value>,
}

impl Setting {
    /// Whether it changes what is run: a title does not.
    #[must_use]
    pub fn matters(&self) -> bool {
        !matches!(self.path.as_str(), "title" | "about" | "eng")
    }
}

/// All differences, defaults included, by path. Lists of the same length are walked item by item, others differ as a whole.
#[must_use]
pub fn differences(a: &ScenarioV1, b: &ScenarioV1) -> Vec<Setting> {
    let (a, b) = (full(a), full(b));
    let known = |value: Value| Some(value).filter(|value| !value.is_null());
    let setting = |(path, of_b): (String, Value)| Setting {
        a: get(&a, &path).cloned().and_then(known),
        b: known(of_b),
        path,
    };
    between(&a, &b).into_iter().map(setting).collect()
}

/// The differences as an object from paths to what B has there; `null` for nothing.
#[must_use]
pub fn patch(a: &ScenarioV1, b: &ScenarioV1) -> Map<String, Value> {
    between(&full(a), &full(b))
}

/// What B is, made of A and a patch; `None` if a path leads nowhere.
#[must_use]
pub fn patched(a: &ScenarioV1, patch: &Map<String, Value>) -> Option<Value> {
    let mut value = full(a);
    patch.iter().all(|(path, new)| put(&mut value, path, new).is_ok()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Parsed, parse, presets};
    use serde_json::json;

    fn wire(name: &str) -> ScenarioV1 {
        presets::get(name).expect("a preset").scenario().wire().clone()
    }

    #[test]
    fn paths_lead_to_what_differs_and_no_further() {
        let a = wire("flash-crowd");
        assert_eq!(differences(&a, &a), []);
        let mut b = a.clone();
        b.stages[1].workers += 1;
        b.run.seed = 7;
        b.title = "Another".into();
        let found = differences(&a, &b);
        let paths: Vec<&str> = found.iter().map(|of| of.path.as_str()).collect();
        assert_eq!(paths, ["run.seed", "stages[1].workers", "title"]);
        assert_eq!((&found[0].a, &found[0].b), (&Some(json!(1)), &Some(json!(7))), "defaults are told too");
        assert_eq!(found.iter().map(Setting::matters).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn a_policy_of_another_kind_and_lists_of_other_lengths_differ_as_a_whole() {
        let a = wire("flash-crowd");
        let mut b = a.clone();
        b.stages[1].queue = wire("starvation").stages[0].queue.clone();
        b.servers.pop();
        let paths: Vec<String> = differences(&a, &b).into_iter().map(|of| of.path).collect();
        assert_eq!(paths, ["servers", "stages[1].queue"]);
    }

    #[test]
    fn a_path_that_leads_nowhere_is_refused() {
        for path in ["b.c", "classes[99]", "classes[x]", "classes[0", "stages.0", "[0]", ""] {
            let patch = json!({ path: 1 });
            let made = patched(&wire("mm1"), patch.as_object().expect("an object"));
            assert_eq!(made, None, "{path}");
        }
    }

    #[test]
    fn every_preset_can_be_made_of_every_other() {
        let names: Vec<&str> = presets::names().collect();
        for pair in names.windows(2) {
            let (a, b) = (wire(pair[0]), wire(pair[1]));
            let value = patched(&a, &patch(&a, &b)).expect("paths of its own");
            let made = parse::from_value(&value).expect("a scenario");
            assert_eq!(made, Parsed::from(b), "{pair:?}");
        }
    }
}
