//! Where scenarios come from: files, presets, links, standard input.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value as Json;
use tidegate_core::link::{self, Link, LinkError};
use tidegate_core::scenario::{Parsed, Scenario, ScenarioError, parse, presets};
use toml::Value as Toml;

use crate::failure::BadScenario;
use crate::text::{WARN, styled};

/// Most bytes read of a scenario file; more than any that can be valid.
const LONGEST: u64 = 1 << 20;
/// What stands before the name of a built-in scenario.
const PRESET: &str = "preset:";

/// What a scenario reference leads to, before its fields are looked at.
pub(crate) enum Document {
    /// A file's or preset's content.
    Value(Json),
    /// A decoded link.
    Link(Box<Link>),
}

/// Reads the scenario that `reference` names: a file, `preset:NAME`, a share link, or `-`.
///
/// Fields that this program does not know are noted on standard error and kept.
///
/// # Errors
/// [`BadScenario`] if it is wrong in any way; else a file that cannot be read.
pub(crate) fn load(reference: &str) -> anyhow::Result<Parsed> {
    let parsed = match document(reference)? {
        Document::Value(value) => parse::from_value(&value).map_err(bad)?,
        Document::Link(link) => link.parsed,
    };
    note_unknown(&parsed);
    Ok(parsed)
}

/// Says on standard error which fields are not known here.
pub(crate) fn note_unknown(parsed: &Parsed) {
    let note = styled(WARN, "note:");
    for path in &parsed.unknown {
        anstream::eprintln!("{note} {path}: not known to this release, has no effect");
    }
}

/// Makes what was parsed a scenario that can be run.
///
/// # Errors
/// [`BadScenario`] with path, rule and value.
pub(crate) fn checked(parsed: Result<Parsed, ScenarioError>) -> anyhow::Result<Scenario> {
    Ok(parsed.and_then(Parsed::check).map_err(bad)?)
}

/// A core error as this binary's, so that the exit status tells.
pub(crate) fn bad(error: impl std::fmt::Display) -> BadScenario {
    BadScenario(error.to_string())
}

/// A link that does not open, with the link that was probably meant.
fn bad_link(error: LinkError) -> BadScenario {
    match &error {
        LinkError::Damaged { repaired: Some(repaired), .. } => {
            BadScenario(format!("{error} Probably meant: #{repaired}"))
        }
        _ => bad(error),
    }
}

/// Finds and reads what `reference` names, without looking at its fields.
///
/// # Errors
/// As [`load`].
pub(crate) fn document(reference: &str) -> anyhow::Result<Document> {
    if reference == "-" {
        let text = read(std::io::stdin().lock()).context("cannot read standard input")?;
        return by_content(&text, None);
    }
    if let Some(name) = reference.strip_prefix(PRESET) {
        return preset(name);
    }
    let path = Path::new(reference);
    if link::looks_like(reference) && !path.is_file() {
        return decoded(reference);
    }
    let text = File::open(path).and_then(read).with_context(|| match presets::get(reference) {
        Some(_) => format!("cannot read {reference} (did you mean {PRESET}{reference}?)"),
        None => format!("cannot read {reference}"),
    })?;
    by_content(&text, path.extension().and_then(|extension| extension.to_str()))
}

fn decoded(text: &str) -> anyhow::Result<Document> {
    Ok(Document::Link(Box::new(link::decode(text).map_err(bad_link)?)))
}

fn preset(name: &str) -> anyhow::Result<Document> {
    let preset = presets::get(name).ok_or_else(|| unknown_preset(name))?;
    Ok(Document::Value(serde_json::from_str(preset.json())?))
}

/// The error for a preset that does not exist, with the nearest name or all of them.
pub(crate) fn unknown_preset(name: &str) -> BadScenario {
    let mut message = format!("preset: one of the built-in scenarios, found {name}");
    let names = || presets::names();
    let nearest =
        names().max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
    match nearest {
        Some(near) if strsim::jaro_winkler(near, name) > 0.75 => {
            let _ = write!(message, " (did you mean {near}?)");
        }
        _ => {
            let _ = write!(message, " (there are {})", names().collect::<Vec<_>>().join(", "));
        }
    }
    BadScenario(message)
}

fn read(from: impl std::io::Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(std::io::Error::new(
            std::io::ErrorKind::FileTooLarge,
            "more than 1 MiB, too long for a scenario",
        ));
    }
    Ok(text)
}

fn by_content(text: &str, extension: Option<&str>) -> anyhow::Result<Document> {
    let trimmed = text.trim_start_matches('\u{feff}').trim();
    let is_json = match extension {
        Some("json") => true,
        Some("toml") => false,
        _ => trimmed.starts_with('{'),
    };
    if is_json {
        let value = parse::json_value(trimmed).map_err(bad)?;
        return Ok(Document::Value(value));
    }
    if link::looks_like(trimmed) {
        return decoded(trimmed);
    }
    let value = toml::from_str(text)
        .map_err(|error: toml::de::Error| bad(format!("scenario: TOML, found {error}")))?;
    Ok(Document::Value(to_json(value)?))
}

/// The scenario as TOML, in the order of the schema, unknown fields included.
///
/// # Errors
/// None that a scenario can cause.
pub(crate) fn to_toml(parsed: &Parsed) -> anyhow::Result<String> {
    // Straight from JSON text: a JSON value in between would sort the fields.
    let table: toml::Table = serde_json::from_str(&parsed.to_canonical_json())?;
    Ok(toml::to_string_pretty(&table)?)
}

/// The JSON value that says the same as a TOML value, so that both forms of a scenario go through one parser.
///
/// # Errors
/// For what JSON has no word for: dates, infinities and NaN.
pub(crate) fn to_json(value: Toml) -> Result<Json, BadScenario> {
    convert(value, "")
}

fn convert(value: Toml, path: &str) -> Result<Json, BadScenario> {
    Ok(match value {
        Toml::String(text) => text.into(),
        Toml::Integer(number) => number.into(),
        Toml::Boolean(truth) => truth.into(),
        Toml::Float(number) => serde_json::Number::from_f64(number)
            .map(Json::Number)
            .ok_or_else(|| BadScenario(format!("{path}: a finite number, found {number}")))?,
        Toml::Datetime(date) => {
            return Err(BadScenario(format!("{path}: no date or time of day, found {date}")));
        }
        Toml::Array(items) => {
            let item = |(i, item)| convert(item, &format!("{path}[{i}]"));
            Json::Array(items.into_iter().enumerate().map(item).collect::<Result<_, _>>()?)
        }
        Toml::Table(table) => {
            let entry = |(key, value): (String, Toml)| {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                Ok((key, convert(value, &path)?))
            };
            Json::Object(table.into_iter().map(entry).collect::<Result<_, _>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_says_the_same_as_json() {
        let toml: Toml = toml::from_str("a = 1\nb = 0.5\nc = [true, 'x']\n[d]\ne = {}").unwrap();
        assert_eq!(
            to_json(toml).unwrap(),
            serde_json::json!({"a": 1, "b": 0.5, "c": [true, "x"], "d": {"e": {}}})
        );
    }

    #[test]
    fn what_json_cannot_say_is_named() {
        for (text, want) in [
            ("[a]\nb = [1, nan]", "a.b[1]: a finite number, found NaN"),
            ("a = 2026-01-01", "a: no date or time of day, found 2026-01-01"),
        ] {
            assert_eq!(to_json(toml::from_str(text).unwrap()).unwrap_err().to_string(), want);
        }
    }
}
