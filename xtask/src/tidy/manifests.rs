//! Rules about manifests: one place for dependency versions, one for lints.

use toml::{Table, Value};

use super::{Finding, Text};

const DEPENDENCIES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// All findings in the manifests of the members.
pub(super) fn check(texts: &[Text]) -> Vec<Finding> {
    let members = texts.iter().filter(|text| text.path.ends_with("/Cargo.toml"));
    members.flat_map(|text| problems(text).into_iter().map(|problem| text.finding(0, problem))).collect()
}

fn problems(text: &Text) -> Vec<String> {
    let manifest: Table = match text.content.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![error.to_string()],
    };
    let mut problems = own_versions(&manifest);
    for target in manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values) {
        problems.extend(target.as_table().map(own_versions).unwrap_or_default());
    }
    if !inherits(manifest.get("lints")) {
        problems.push("expected [lints] workspace = true".to_owned());
    }
    problems
}

fn own_versions(table: &Table) -> Vec<String> {
    let tables = DEPENDENCIES.iter().filter_map(|name| table.get(*name)?.as_table());
    let own = tables.flat_map(Table::iter).filter(|(_, dependency)| !inherits(Some(dependency)));
    own.map(|(name, _)| format!("{name}: expected workspace = true; versions stand in the root manifest"))
        .collect()
}

fn inherits(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::super::{messages, text};
    use super::*;

    #[test]
    fn versions_and_lints_come_from_the_root() {
        let good =
            "[dependencies]\na.workspace = true\nb = { workspace = true }\n[lints]\nworkspace = true\n";
        assert!(check(&[text("core/Cargo.toml", good)]).is_empty());
        let bad = "[dependencies]\na = \"1\"\n[target.'cfg(unix)'.dependencies]\nb = \"2\"\n";
        let found = messages(&check(&[text("core/Cargo.toml", bad)]));
        assert_eq!(found.len(), 3, "{found:?}");
    }
}
