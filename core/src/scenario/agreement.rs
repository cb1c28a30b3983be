//! The JSON Schema and the reader agree: what one refuses, the other refuses.
//!
//! The schema is derived from the same declarations as the reader, but by other code. So a small validator,
//! which knows nothing of either, is run against the reader on thousands of spoilt scenarios.

use super::parse::{from_value, json_schema};
use super::wire::{Path, check_fields};
use super::{Parsed, presets};
use crate::unit::mix;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::{Value, json};

/// Whether `value` is what `schema` describes: the keywords that ours uses, and a panic for any other.
fn valid(schema: &Value, root: &Value, value: &Value) -> bool {
    let object = schema.as_object().expect("a schema is an object");
    object.iter().all(|(keyword, rule)| {
        let number = || value.as_f64();
        let length = || value.as_str().map(|text| text.chars().count() as u64);
        let items = || value.as_array();
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" | "x-unit" => true,
            "$ref" => {
                let pointer =
                    rule.as_str().and_then(|text| text.strip_prefix('#')).expect("a local reference");
                valid(root.pointer(pointer).expect("a definition"), root, value)
            }
            "oneOf" => rule.as_array().unwrap().iter().filter(|one| valid(one, root, value)).count() == 1,
            "const" => value == rule || (rule.is_number() && number() == rule.as_f64()),
            "enum" => rule.as_array().unwrap().contains(value),
            "type" => match rule.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                "integer" => number().is_some_and(|x| libm::trunc(x) == x),
                other => panic!("type {other}"),
            },
            "minimum" => number().is_none_or(|x| x >= rule.as_f64().unwrap()),
            "maximum" => number().is_none_or(|x| x <= rule.as_f64().unwrap()),
            "exclusiveMinimum" => number().is_none_or(|x| x > rule.as_f64().unwrap()),
            "minLength" => length().is_none_or(|n| n >= rule.as_u64().unwrap()),
            "maxLength" => length().is_none_or(|n| n <= rule.as_u64().unwrap()),
            "pattern" => {
                assert_eq!(rule, "^[^\\u0000-\\u001f\\u007f]*$");
                value.as_str().is_none_or(|text| text.chars().all(|c| c >= ' ' && c != '\u{7f}'))
            }
            "minItems" => items().is_none_or(|list| list.len() as u64 >= rule.as_u64().unwrap()),
            "maxItems" => items().is_none_or(|list| list.len() as u64 <= rule.as_u64().unwrap()),
            "minProperties" => value.as_object().is_none_or(|map| map.len() as u64 >= rule.as_u64().unwrap()),
            "maxProperties" => value.as_object().is_none_or(|map| map.len() as u64 <= rule.as_u64().unwrap()),
            "items" => items().is_none_or(|list| list.iter().all(|item| valid(rule, root, item))),
            "required" => value.as_object().is_none_or(|map| {
                rule.as_array().unwrap().iter().all(|key| map.contains_key(key.as_str().unwrap()))
            }),
            "properties" => value.as_object().is_none_or(|map| {
                map.iter().all(|(key, item)| rule.get(key).is_none_or(|one| valid(one, root, item)))
            }),
            "additionalProperties" => {
                assert_eq!(rule, false);
                value
                    .as_object()
                    .is_none_or(|map| map.keys().all(|key| object["properties"].get(key).is_some()))
            }
            other => panic!("keyword {other}"),
        }
    })
}

/// Whether the reader takes it, limits of single fields included.
fn taken(value: &Value) -> bool {
    from_value(value).and_then(Parsed::deny_unknown).is_ok_and(|parsed| {
        let mut errors = Vec::new();
        check_fields(&parsed.wire, &Path::Root, &mut errors);
        errors.is_empty()
    })
}

/// A source of choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, n: usize) -> usize {
        self.0 = mix(self.0);
        (self.0 % n as u64) as usize
    }
}

/// Pointers (RFC 6901) to every value inside `value`.
fn places(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                places(item, at.clone() + "/" + &i.to_string(), out);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                places(item, at.clone() + "/" + key, out);
            }
        }
        _ => {}
    }
    out.push(at);
}

/// Spoils (or at least changes) one thing.
fn spoil(scenario: &mut Value, choices: &mut Choices) {
    let mut all = Vec::new();
    places(scenario, String::new(), &mut all);
    let place = &all[choices.below(all.len())];
    let elsewhere = all[choices.below(all.len())].clone();
    let other = scenario.pointer(&elsewhere).unwrap().clone();
    let target = scenario.pointer_mut(place).unwrap();
    let odd = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.0),
        json!(1.5),
        json!(16),
        json!(17),
        json!(1e9),
        json!(100_000.0),
        json!(1e300),
        json!(0.0005),
        json!(604_800_000_001_u64),
        json!(9_007_199_254_740_992_u64),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("fifo"),
        json!("a\u{1}b"),
        json!("\u{7f}"),
        json!("ü".repeat(40)),
        json!("ü".repeat(41)),
        json!("x".repeat(501)),
        json!([]),
        json!({}),
        json!([0]),
        json!({ "law": "pareto", "mean_us": 1, "alpha": 1 }),
        json!({ "kind": "trace" }),
        json!({ "policy": "tail_drop" }),
        json!({ "at": "servers" }),
    ];
    match (target, choices.below(5)) {
        (Value::Object(map), 0) => {
            let key = map.keys().nth(choices.below(map.len().max(1))).cloned();
            key.map(|key| map.remove(&key));
        }
        (Value::Object(map), 1) => {
            let keys = [
                "title", "seed", "cv", "count", "ratio", "think", "split", "per", "speed", "from", "class",
                "odd",
            ];
            map.insert(keys[choices.below(keys.len())].to_string(), odd[choices.below(odd.len())].clone());
        }
        (Value::Array(list), 2) => list.extend(list.first().cloned()),
        (Value::Array(list), 3) => drop(list.pop()),
        (target, 4) => *target = other,
        (target, _) => *target = odd[choices.below(odd.len())].clone(),
    }
}

#[test]
fn schema_and_reader_refuse_the_same() {
    let schema = json_schema();
    let mut choices = Choices(20);
    let (mut both, mut neither) = (0, 0);
    for round in 0..6_000 {
        let preset = &presets::ALL[round % presets::ALL.len()];
        let mut scenario: Value = serde_json::from_str(preset.json()).unwrap();
        assert!(round >= presets::ALL.len() || valid(&schema, &schema, &scenario), "{}", preset.name);
        for _ in 0..1 + choices.below(4) / 3 {
            spoil(&mut scenario, &mut choices);
        }
        // Scenarios of other versions are not the schema's business, nor is how deep one is.
        let (by_schema, by_reader) = (valid(&schema, &schema, &scenario), taken(&scenario));
        assert_eq!(by_schema, by_reader, "round {round}: the schema and the reader differ on {scenario}");
        *if by_schema { &mut both } else { &mut neither } += 1;
    }
    assert!(both > 500 && neither > 500, "{both} good and {neither} bad ones are no test");
}
