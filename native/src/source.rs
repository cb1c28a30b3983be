//! Where scenarios come from: files, presets, links, standard input.

use serde_json::Value as Json;
use toml::Value as Toml;

use crate::failure::BadScenario;

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
