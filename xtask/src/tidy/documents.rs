//! Rules about Markdown: a link to a file of the repository leads somewhere, and so does its anchor.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{Finding, Text};
use crate::files;

/// All findings in the documents.
pub(super) fn check(root: &Path, texts: &[Text]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for text in texts.iter().filter(|text| text.path.ends_with(".md")) {
        for (number, target) in links(text) {
            if let Err(problem) = follow(root, texts, &text.path, &target) {
                findings.push(text.finding(number, format!("dead link {target}: {problem}")));
            }
        }
    }
    findings
}

/// Targets of `[text](target)` outside of code, with their lines; links to the outside world are left out.
fn links(text: &Text) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let in_code = line[..at].matches('`').count() % 2 == 1;
            let target = line[at + 2..].split([')', ' ']).next().unwrap_or("");
            let outside = target.contains("://") || target.starts_with("mailto:");
            if !in_code && !outside {
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

fn follow(root: &Path, texts: &[Text], from: &str, target: &str) -> Result<(), &'static str> {
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { from.to_owned() } else { resolve(root, from, file) };
    let document = texts.iter().find(|text| text.path == path);
    match (anchor, document) {
        (_, None) if !root.join(&path).exists() => Err("no such file"),
        (Some(anchor), Some(document)) if path.ends_with(".md") && !anchors(document).contains(anchor) => {
            Err("no such heading")
        }
        _ => Ok(()),
    }
}

/// The path below the root that `file`, written in the document `from`, means.
fn resolve(root: &Path, from: &str, file: &str) -> String {
    let mut path = match file.strip_prefix('/') {
        Some(_) => PathBuf::new(),
        None => Path::new(from).parent().map(Path::to_owned).unwrap_or_default(),
    };
    for part in Path::new(file.trim_start_matches('/')).components() {
        match part {
            Component::ParentDir if path.pop() => {}
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            // Above the root: keep it as it is, so that it is not found.
            _ => path.push(".."),
        }
    }
    files::relative(root, &path)
}

/// The anchors that a document's headings get (lower case, spaces to hyphens, punctuation dropped).
fn anchors(text: &Text) -> BTreeSet<String> {
    let headings = text.content.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| slug(line.trim_start_matches('#').trim())).collect()
}

fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::super::{messages, text};
    use super::*;

    #[track_caller]
    fn expect(content: &str, wanted: &[&str]) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let found = messages(&check(root, &[text("src/a.md", content)]));
        assert_eq!(found.len(), wanted.len(), "{found:?}");
        for (message, part) in found.iter().zip(wanted) {
            assert!(message.contains(part), "expected {part} in {message}");
        }
    }

    #[test]
    fn links_to_files_are_followed() {
        expect("[a](main.rs), [b](../Cargo.toml), [c](/Cargo.toml)\n", &[]);
        expect("one\n[a](gone.rs)\n", &["src/a.md:2: dead link gone.rs: no such file"]);
    }

    #[test]
    fn anchors_are_followed() {
        expect("# What it does, and why\n[a](#what-it-does-and-why) [b](#nowhere)\n", &["no such heading"]);
    }

    #[test]
    fn code_and_the_outside_world_are_left_alone() {
        expect("`[a](gone)` [b](https://example.org/gone)\n```\n[c](gone)\n```\n", &[]);
    }
}
