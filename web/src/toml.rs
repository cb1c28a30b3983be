//! Writes a JSON value as TOML, for scenarios: tables and lists of tables one level deep, everything inside them on
//! one line.
//!
//! Only writing: a reader would cost the page 34 KB in brotli (`basic-toml`) or 43 KB (`toml`), a tenth of all it is. The
//! command line reads what is written here.

use serde_json::{Map, Value};

/// Keys that say what the others are about, and so come first.
const FIRST: &[&str] =
    &["tidegate", "title", "name", "policy", "kind", "law", "at", "rule", "control", "at_us", "do"];

/// The value as a TOML document; empty unless it is an object. `null` is left out: TOML has none.
#[must_use]
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    let Some(root) = value.as_object() else { return out };
    // Whatever stands after a heading belongs to it.
    for (key, inside) in ordered(root).filter(|(_, inside)| tables(inside).is_empty()) {
        line(&mut out, key, inside);
    }
    for (key, inside) in ordered(root) {
        let (open, close) = if inside.is_array() { ("[[", "]]") } else { ("[", "]") };
        for table in tables(inside) {
            out.push('\n');
            out.push_str(open);
            push_key(&mut out, key);
            out.push_str(close);
            out.push('\n');
            for (key, inside) in ordered(table) {
                line(&mut out, key, inside);
            }
        }
    }
    out
}

/// The tables that a value of the root is: one, those of a list of nothing else, or none.
fn tables(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Object(map) => vec![map],
        Value::Array(list) if list.iter().all(Value::is_object) => {
            list.iter().filter_map(Value::as_object).collect()
        }
        _ => Vec::new(),
    }
}

/// What is in a table, the most telling first, without what TOML cannot say.
fn ordered(map: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let first = FIRST.iter().filter_map(|key| Some((*key, map.get(*key)?)));
    let rest = map.iter().map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| !FIRST.contains(key));
    first.chain(rest).filter(|(_, value)| !value.is_null())
}

fn line(out: &mut String, key: &str, value: &Value) {
    push_key(out, key);
    out.push_str(" = ");
    push(out, value);
    out.push('\n');
}

fn push_key(out: &mut String, key: &str) {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) {
        out.push_str(key);
    } else {
        push(out, &Value::from(key));
    }
}

/// A value on one line.
fn push(out: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            out.push('{');
            for (i, (key, inside)) in ordered(map).enumerate() {
                out.push_str(if i == 0 { " " } else { ", " });
                push_key(out, key);
                out.push_str(" = ");
                push(out, inside);
            }
            out.push_str(" }");
        }
        Value::Array(list) => {
            out.push('[');
            for (i, inside) in list.iter().filter(|inside| !inside.is_null()).enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                push(out, inside);
            }
            out.push(']');
        }
        // Strings are escaped alike, but for one character that TOML does not take as it is.
        _ => out.push_str(&tidegate_core::json::write(value).replace('\u{7f}', "\\u007f")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::presets;

    /// What another program reads of it.
    #[track_caller]
    fn read(text: &str) -> Value {
        let table: toml::Table = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        value_of(&toml::Value::Table(table))
    }

    fn value_of(value: &toml::Value) -> Value {
        match value {
            toml::Value::String(text) => text.as_str().into(),
            toml::Value::Integer(n) => (*n).into(),
            toml::Value::Float(x) => (*x).into(),
            toml::Value::Boolean(yes) => (*yes).into(),
            toml::Value::Datetime(_) => panic!("no dates are written"),
            toml::Value::Array(list) => list.iter().map(value_of).collect(),
            toml::Value::Table(table) => {
                Value::Object(table.iter().map(|(key, inside)| (key.clone(), value_of(inside))).collect())
            }
        }
    }

    #[test]
    fn every_preset_reads_back_as_it_was() {
        for preset in presets::ALL {
            let value: Value = serde_json::from_str(preset.json()).expect("JSON");
            assert_eq!(read(&write(&value)), value, "{}", preset.name);
        }
    }

    #[test]
    fn odd_keys_and_characters_survive() {
        let odd = serde_json::json!({
            "a b": {"": 1, "x.y": [1.5e-7, 1e21, true, []]},
            "text": "quote \" back \\ line\n bell \u{7} delete \u{7f} 中文",
            "list": [[{"a": {}}], []],
            "none": {},
        });
        assert_eq!(read(&write(&odd)), odd);
    }

    #[test]
    fn nothing_is_written_for_null() {
        assert_eq!(write(&serde_json::json!({"a": null, "b": {"c": null}})), "\n[b]\n");
        assert_eq!(write(&Value::from(3)), "");
    }

    #[test]
    fn names_come_first_and_tables_last() {
        let text = write(
            &serde_json::json!({"run": {"seed": 1}, "title": "T", "classes": [{"load": {"rate_per_s": 2.5, "kind": "poisson"}, "name": "A"}]}),
        );
        assert_eq!(
            text,
            "title = \"T\"\n\n[[classes]]\nname = \"A\"\nload = { kind = \"poisson\", rate_per_s = 2.5 }\n\n[run]\nseed = 1\n"
        );
    }
}
