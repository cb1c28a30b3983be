//! Every dependency has a licence that `deny.toml` allows.
//!
//! The list is the one that cargo-deny reads; this check is here so that CI holds it without installing cargo-deny. It
//! looks at what is compiled for this machine and for the browser.

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Finding, Text};
use crate::process;
use crate::toolchain::{self, Target};
use crate::workspace::Workspace;

const LIST: &str = "deny.toml";

/// All dependencies whose licence is not allowed.
///
/// # Errors
/// When the list is missing or cargo cannot say what we depend on.
pub(super) fn check(workspace: &Workspace, texts: &[Text]) -> Result<Vec<Finding>> {
    let list = texts.iter().find(|text| text.path == LIST).with_context(|| format!("{LIST} is missing"))?;
    let allowed = allowed(&list.content).with_context(|| format!("{LIST} has no list licenses.allow"))?;
    let mut findings: Vec<Finding> = Vec::new();
    for (name, licence) in packages(workspace)? {
        if !licence.as_deref().is_some_and(|licence| satisfies(licence, &allowed)) {
            let licence = licence.as_deref().unwrap_or("none");
            findings.push(list.finding(0, format!("{name}: licence {licence} is not in licenses.allow")));
        }
    }
    Ok(findings)
}

fn allowed(list: &str) -> Option<Vec<String>> {
    let list: toml::Table = list.parse().ok()?;
    let names = list.get("licenses")?.get("allow")?.as_array()?;
    names.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Name and licence of every package of the dependency graph, sorted, each once.
fn packages(workspace: &Workspace) -> Result<Vec<(String, Option<String>)>> {
    let mut found = Vec::new();
    for platform in [toolchain::host_triple()?, Target::Browser.triple().to_owned()] {
        let mut cargo = process::host_cargo(&workspace.root);
        let text = process::output(cargo.args([
            "metadata",
            "--format-version",
            "1",
            "--filter-platform",
            &platform,
        ]))?;
        let graph: Value = serde_json::from_str(&text).context("cargo metadata")?;
        let nodes = graph["resolve"]["nodes"].as_array().context("cargo metadata has no resolve.nodes")?;
        let used: Vec<&str> = nodes.iter().filter_map(|node| node["id"].as_str()).collect();
        for package in graph["packages"].as_array().into_iter().flatten() {
            if package["id"].as_str().is_some_and(|id| used.contains(&id)) {
                let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
                let licence = package["license"].as_str().map(str::to_owned);
                found.push((format!("{} {}", text("name"), text("version")), licence));
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Whether an SPDX expression can be met with licences of the list. `AND` binds tighter than `OR`; the slash is an old way
/// to write `OR`; `WITH` makes one name of three words.
fn satisfies(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    any_of(&words, &mut at, allowed) && at == words.len()
}

fn any_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = all_of(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all_of(words, at, allowed);
    }
    met
}

fn all_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let met = any_of(words, at, allowed);
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return met && closed;
    }
    let name = match words.get(*at..*at + 2) {
        Some(["WITH", exception]) => {
            *at += 2;
            format!("{word} WITH {exception}")
        }
        _ => (*word).to_owned(),
    };
    allowed.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spdx_expressions_are_understood() {
        let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        let good = [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-2.0 AND Unicode-3.0 OR MIT",
        ];
        for expression in good {
            assert!(satisfies(expression, &allowed), "{expression} should pass");
        }
        for expression in ["", "Apache-2.0", "MIT AND GPL-3.0", "(MIT", "MIT)", "MIT Unicode-3.0"] {
            assert!(!satisfies(expression, &allowed), "{expression} should not pass");
        }
    }
}
