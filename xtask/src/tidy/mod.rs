//! `cargo xtask tidy`: the rules of this repository that no compiler and no lint checks.
//!
//! Each rule is a function from what it looks at to findings; a finding names file, line, rule and what was found. A rule
//! that needs an exception gets it here, by name and with a reason, not by a marker in the file that breaks it.

mod documents;
mod examples;
mod licences;
mod manifests;
mod sources;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

use crate::files;
use crate::workspace::Workspace;

/// Folders that hold nothing of ours, or nothing that a person wrote.
const SKIPPED: &[&str] = &["target", ".git", "node_modules", "www/pkg", "www/vendor", "tests/screens"];

/// A text file of the repository.
struct Text {
    /// Path below the root, with forward slashes.
    path: String,
    content: String,
}

impl Text {
    fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, message: message.into() }
    }

    /// Lines with their numbers, from 1.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.content.lines().enumerate().map(|(i, line)| (i + 1, line))
    }
}

/// A broken rule. Line 0 means the whole file.
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Checks everything and prints what it found.
///
/// # Errors
/// When a rule is broken, or something could not be read.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let texts = texts(&workspace.root)?;
    let mut findings = sources::check(&texts);
    findings.extend(documents::check(&workspace.root, &texts));
    findings.extend(examples::check(&texts));
    findings.extend(manifests::check(&texts));
    findings.extend(licences::check(workspace, &texts)?);
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} files, nothing found", texts.len());
            Ok(())
        }
        n => bail!("tidy found {n} broken rule(s)"),
    }
}

/// Every text file that people write, sorted by path.
fn texts(root: &Path) -> Result<Vec<Text>> {
    let skip = |folder: &Path| SKIPPED.contains(&files::relative(root, folder).as_str());
    let mut texts = Vec::new();
    for file in files::walk(root, &skip)? {
        // What is not text (pictures, packed files) has no rules.
        if let Ok(content) = String::from_utf8(files::read(&file)?) {
            texts.push(Text { path: files::relative(root, &file), content });
        }
    }
    Ok(texts)
}

#[cfg(test)]
fn text(path: &str, content: &str) -> Text {
    Text { path: path.to_owned(), content: content.to_owned() }
}

#[cfg(test)]
fn messages(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
