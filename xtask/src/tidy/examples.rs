//! Example scenarios are at least well-formed; whether they mean something is `tidegate check`'s business, which
//! `cargo xtask test` asks about each of them.

use super::{Finding, Text};

/// Where the examples are.
const FOLDER: &str = "www/scenarios/";

/// All findings in the examples.
pub(super) fn check(texts: &[Text]) -> Vec<Finding> {
    texts.iter().filter(|text| text.path.starts_with(FOLDER)).filter_map(problem).collect()
}

fn problem(text: &Text) -> Option<Finding> {
    let error = match text.path.rsplit('.').next()? {
        "json" => serde_json::from_str::<serde_json::Value>(&text.content).err()?.to_string(),
        "toml" => text.content.parse::<toml::Table>().err()?.message().to_owned(),
        _ => "expected .json or .toml".to_owned(),
    };
    Some(text.finding(0, error))
}

#[cfg(test)]
mod tests {
    use super::super::{messages, text};
    use super::*;

    #[test]
    fn a_broken_example_is_found() {
        let texts = [
            text("www/scenarios/a.json", "{\"v\": 1}"),
            text("www/scenarios/b.json", "{\"v\": }"),
            text("www/scenarios/c.toml", "v = 1\nv = 2\n"),
            text("www/other.json", "not json"),
        ];
        let found = messages(&check(&texts));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("www/scenarios/b.json") && found[1].starts_with("www/scenarios/c.toml"));
    }
}
