//! The book says what the program does: tables of fields are generated, everything else that can rot is looked up.
//!
//! `TIDEGATE_REFRESH=1 cargo test -p tidegate-tests --test docs` rewrites the generated parts of the chapters; the
//! difference is to be read, not just committed.

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tidegate_core::link;
use tidegate_core::measure::{History, Names};
use tidegate_core::report::Report;
use tidegate_core::scenario::{Scenario, parse, presets};
use tidegate_core::sim::Simulation;
use tidegate_core::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Every document people read, with its path.
fn documents() -> Vec<(String, String)> {
    let chapters = std::fs::read_dir(root().join("docs/src")).expect("the book has chapters");
    let mut paths: Vec<String> = chapters
        .map(|entry| format!("docs/src/{}", entry.expect("a chapter").file_name().to_string_lossy()))
        .filter(|path| path.ends_with(".md"))
        .collect();
    paths.extend(["README.md", "README.zh-CN.md"].map(str::to_owned));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// The part of a document between `<!-- NAME -->` and `<!-- end -->` is `want`, or becomes it.
fn keep(path: &str, name: &str, want: &str) {
    // Tests run side by side, and may write the same document.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let text = read(path);
    let begin = format!("<!-- {name} -->\n");
    let start =
        text.find(&begin).unwrap_or_else(|| panic!("{path} has no place for {name}: {begin}")) + begin.len();
    let end =
        start + text[start..].find("<!-- end -->").unwrap_or_else(|| panic!("{path}: {name} has no end"));
    if text[start..end] == *want {
        return;
    }
    assert!(
        std::env::var_os("TIDEGATE_REFRESH").is_some(),
        "{path}: {name} is out of date; run this test with TIDEGATE_REFRESH=1"
    );
    std::fs::write(root().join(path), format!("{}{want}{}", &text[..start], &text[end..]))
        .unwrap_or_else(|e| panic!("{path}: {e}"));
}

#[test]
fn every_field_of_a_scenario_is_in_the_reference() {
    let schema = parse::json_schema();
    let path = "docs/src/scenarios.md";
    keep(path, "fields of scenario", &described(&schema));
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        keep(path, &format!("fields of {name}"), &described(definition));
    }
}

/// A definition as tables: one for an object, one for each choice.
fn described(definition: &Value) -> String {
    let Some(choices) = definition["oneOf"].as_array() else { return table(definition) };
    let mut out = format!("\n{}\n\n", definition["description"].as_str().unwrap_or_default());
    for choice in choices {
        let sentence = choice["description"].as_str().unwrap_or_default();
        writeln!(out, "**{sentence}**").expect("a string");
        out += &table(choice);
    }
    out
}

/// The fields of an object: what it is first, then what is required.
fn table(object: &Value) -> String {
    let empty = Map::new();
    let fields = object["properties"].as_object().unwrap_or(&empty);
    let required: BTreeSet<&str> =
        object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut rows: Vec<(&String, &Value)> = fields.iter().collect();
    rows.sort_by_key(|(name, field)| {
        (field["const"].is_null(), !required.contains(name.as_str()), name.as_str())
    });
    let mut out = String::from("\n| field | value | default | meaning |\n|---|---|---|---|\n");
    for (name, field) in rows {
        let default = match &field["default"] {
            _ if required.contains(name.as_str()) => String::from("required"),
            Value::Null => String::from("none"),
            value => format!("`{value}`"),
        };
        let meaning = field["description"].as_str().unwrap_or("Says which.").replace('|', "\\|");
        writeln!(out, "| `{name}` | {} | {default} | {meaning} |", value_of(field)).expect("a string");
    }
    out + "\n"
}

/// What a field may hold, in words.
fn value_of(field: &Value) -> String {
    if let Some(reference) = field["$ref"].as_str() {
        let name = reference.trim_start_matches("#/$defs/");
        return format!("[{name}](#{name})");
    }
    if !field["const"].is_null() {
        return format!("`{}`", field["const"]);
    }
    if let Some(words) = field["enum"].as_array() {
        return words
            .iter()
            .filter_map(Value::as_str)
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(" or ");
    }
    let between = |least: &Value, most: &Value| format!("{} to {}", grouped(least), grouped(most));
    match field["type"].as_str() {
        Some("boolean") => String::from("`true` or `false`"),
        Some("string") => format!("text, {} characters", between(&field["minLength"], &field["maxLength"])),
        Some("object") => {
            format!("object of {} paths", between(&field["minProperties"], &field["maxProperties"]))
        }
        Some("array") => {
            let of = match value_of(&field["items"]) {
                item if item.starts_with('[') => item,
                item => format!("({item})"),
            };
            format!("list of {of}, {}", between(&field["minItems"], &field["maxItems"]))
        }
        Some(kind) => {
            let kind = if kind == "integer" { "whole number" } else { "number" };
            let unit = if field["x-unit"] == "microseconds" { " of microseconds" } else { "" };
            let range = match &field["exclusiveMinimum"] {
                Value::Null => between(&field["minimum"], &field["maximum"]),
                least => format!("above {}, at most {}", grouped(least), grouped(&field["maximum"])),
            };
            format!("{kind}{unit}, {range}")
        }
        None => panic!("no type: {field}"),
    }
}

/// A number with its thousands apart.
fn grouped(number: &Value) -> String {
    let text = number.as_f64().expect("a limit").to_string();
    let (whole, rest) =
        text.split_once('.').map_or((text.as_str(), String::new()), |(a, b)| (a, format!(".{b}")));
    let mut out = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + &rest
}

#[test]
fn every_preset_is_in_the_list() {
    let mut out = String::from("\n| preset | question | what to look for |\n|---|---|---|\n");
    for preset in presets::ALL {
        writeln!(out, "| `{}` | {} | {} |", preset.name, preset.question, preset.look_for).expect("a string");
    }
    keep("docs/src/scenarios.md", "presets", &(out + "\n"));
}

/// Every complete scenario that a document shows, as a link or as JSON, with the hash it claims to have.
fn shown(path: &str, text: &str) -> Vec<(Scenario, Option<String>)> {
    let mut shown = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || "'\"`()<>|".contains(c)) {
        let at = word.find("t1z.").or_else(|| word.find("t1j."));
        // A link that is cut short with an ellipsis is there to show the shape.
        if at.is_some_and(|at| word.len() > at + 12) && !word.contains('…') {
            let link = link::decode(word).unwrap_or_else(|e| panic!("{path}: {word}: {e}"));
            let scenario = link.parsed.check().unwrap_or_else(|e| panic!("{path}: {word}: {e}"));
            shown.push((scenario, link.view.hash));
        }
    }
    for block in text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        if block.contains("\"tidegate\"") {
            let parsed = parse::parse_json(block).and_then(parse::Parsed::deny_unknown);
            let scenario = parsed.and_then(parse::Parsed::check);
            shown.push((scenario.unwrap_or_else(|e| panic!("{path}: {e} in\n{block}")), None));
        }
    }
    shown
}

fn hash(scenario: &Scenario) -> String {
    format!("{:016x}", Simulation::new(scenario, 0, None).expect("no trace is needed").finish().trace_hash)
}

/// Scenarios and links in the documents can be run, and a trace hash that a document shows is one that a preset, or
/// a scenario shown there, still gives.
#[test]
fn what_the_documents_show_runs_and_gives_the_hashes_they_say() {
    let golden = read("tests/golden/hashes.txt");
    for (path, text) in documents() {
        let mut hashes = golden.clone();
        for (scenario, claimed) in shown(&path, &text) {
            let got = hash(&scenario);
            if let Some(claimed) = claimed {
                assert!(got.starts_with(&claimed), "{path}: a link says {claimed} and gives {got}");
            }
            hashes += &got;
        }
        for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
            let is_hash = word.len() == 16
                && word.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
                && word.bytes().any(|b| b.is_ascii_digit());
            assert!(!is_hash || hashes.contains(word), "{path}: nothing has the trace hash {word} any more");
        }
    }
}

/// Every key of the JSON report, and every kind of series.
#[test]
fn the_report_is_documented_key_by_key() {
    let chapter = read("docs/src/command-line.md");
    let mut keys = BTreeSet::new();
    for preset in ["flash-crowd", "pdd-two-class"] {
        let scenario = presets::get(preset).expect("a preset").scenario();
        let run = Simulation::new(&scenario, 0, None).expect("no trace is needed").finish();
        collect(&Report::of(&scenario, &[run]).to_json(&scenario), &mut keys);
        let history = History::new(Names::from(&scenario), Duration::from_millis(1_000));
        keys.extend(history.column_names().map(|name| name.split('.').next().unwrap_or(name).to_owned()));
    }
    for key in keys {
        assert!(chapter.contains(&format!("`{key}")), "docs/src/command-line.md does not explain `{key}`");
    }
}

fn collect(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, keys)),
        Value::Object(map) => {
            for (key, value) in map {
                keys.insert(key.clone());
                collect(value, keys);
            }
        }
        _ => {}
    }
}

/// Every command and every option of the command line. The source is read, as a test of another package cannot ask
/// the binary's parser.
#[test]
fn every_option_is_in_the_reference() {
    let chapter = read("docs/src/command-line.md");
    let source = read("native/src/cli.rs");
    // A hidden command for `cargo xtask bench`; the last in the file.
    let source = source.split("struct BenchSimArgs").next().expect("there is always a first part");
    let mut wanted = Vec::new();
    let mut long = None;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[arg(") {
            let named = line.split("long = \"").nth(1).and_then(|rest| rest.split('"').next());
            let by_field = line.contains("(long") || line.contains(" long");
            long = named.map(|name| Some(name.to_owned())).or(by_field.then_some(None));
        } else if let Some(field) = line.trim_start_matches("pub(crate) ").split_once(':')
            && !line.starts_with("///")
            && let Some(name) = long.take()
        {
            wanted.push(format!("--{}", name.unwrap_or_else(|| field.0.replace('_', "-"))));
        }
    }
    assert!(wanted.len() > 20, "the command line is not read as it is written: {wanted:?}");
    for option in wanted {
        assert!(chapter.contains(&option), "docs/src/command-line.md does not explain {option}");
    }
}

/// Quoted words of a source file that are what `is_wanted` says are explained in a chapter.
#[track_caller]
fn explained(chapter: &str, source: &str, at_least: usize, is_wanted: fn(&str) -> bool) {
    let (text, code) = (read(chapter), read(source));
    let code = code.split("#[cfg(test)]").next().expect("there is always a first part");
    let words: BTreeSet<&str> = code.split('"').skip(1).step_by(2).filter(|word| is_wanted(word)).collect();
    assert!(words.len() >= at_least, "{source} does not name things as this test expects: {words:?}");
    for word in words {
        assert!(text.contains(word), "{chapter} does not explain {word}");
    }
}

#[test]
fn metrics_settings_and_addresses_are_in_the_reference() {
    let chapter = "docs/src/gateway.md";
    explained(chapter, "native/src/serve/metrics.rs", 20, |word| word.starts_with("tidegate_"));
    explained(chapter, "native/src/config.rs", 10, |word| {
        word.ends_with("_ms") && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    });
    explained(chapter, "native/src/serve/admin.rs", 7, |word| {
        word.len() > 1 && word.starts_with('/') && word[1..].bytes().all(|b| b.is_ascii_lowercase())
    });
}
