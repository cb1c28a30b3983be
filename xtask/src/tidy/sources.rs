//! Rules about Rust sources, and one about all text: no path of somebody's machine.
//!
//! These look at text, not at syntax. That is blunt, but finds a banned name also where a lint does not look (a macro, a
//! renamed import), and the bare-target build holds what text cannot.

use super::{Finding, Text};

/// Names that mean a clock, chance or an order that changes from run to run.
const BANNED_IN_CORE: &[&str] =
    &["Instant::now", "SystemTime", "HashMap", "HashSet", "thread_rng", "SmallRng", "rand::rng("];
/// Float functions whose last bit depends on the platform; `libm` has each of them.
const PLATFORM_FLOATS: &[&str] = &[
    "ln", "log", "log2", "log10", "ln_1p", "exp", "exp2", "exp_m1", "powf", "powi", "sin", "cos", "tan",
    "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "cbrt", "hypot", "mul_add",
];
/// Marks of unfinished work. Put together here so that this file does not contain them.
const UNFINISHED: &[&str] =
    &[concat!("FIX", "ME"), concat!("X", "XX"), concat!("to", "do!("), concat!("unimple", "mented!(")];
/// Beginnings of paths that exist on one machine only.
const MACHINE_PATHS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

/// All findings in the sources.
pub(super) fn check(texts: &[Text]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for text in texts {
        machine_paths(text, &mut findings);
        if text.path.ends_with(".rs") {
            module_head(text, &mut findings);
            unfinished(text, &mut findings);
        }
        if text.path.starts_with("core/src/") && text.path.ends_with(".rs") {
            pure(text, &mut findings);
            sim_is_outermost(text, &mut findings);
        }
        if text.path == "core/src/lib.rs" && !text.content.lines().any(|line| line == "#![no_std]") {
            findings.push(text.finding(1, "expected an unconditional #![no_std]"));
        }
    }
    findings
}

fn machine_paths(text: &Text, findings: &mut Vec<Finding>) {
    if text.path.ends_with(".lock") {
        return;
    }
    for (number, line) in text.lines() {
        for path in MACHINE_PATHS.iter().filter(|path| has_path(line, path)) {
            findings.push(text.finding(number, format!("a path of one machine: {path}")));
        }
    }
}

/// Whether `path` begins in `line`; as part of a longer path or of a link it is something else.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '}' | ')' | '/'))
    })
}

fn module_head(text: &Text, findings: &mut Vec<Finding>) {
    let first = text.lines().find(|(_, line)| !line.trim().is_empty() && !line.starts_with("#!"));
    if !first.is_some_and(|(_, line)| line.starts_with("//!")) {
        findings.push(text.finding(1, "expected a module head (//!) that says what this is for"));
    }
}

fn unfinished(text: &Text, findings: &mut Vec<Finding>) {
    for (number, line) in text.lines() {
        for mark in UNFINISHED.iter().filter(|mark| line.contains(**mark)) {
            findings.push(text.finding(number, format!("unfinished work: {mark}")));
        }
    }
}

fn pure(text: &Text, findings: &mut Vec<Finding>) {
    for (number, code) in code_lines(text) {
        for name in BANNED_IN_CORE.iter().filter(|name| code.contains(**name)) {
            findings
                .push(text.finding(number, format!("core has no clock, no chance, no hash order: {name}")));
        }
        for name in PLATFORM_FLOATS.iter().filter(|name| calls_on_float(code, name)) {
            findings.push(
                text.finding(number, format!("expected libm::{name}: std's result depends on the platform")),
            );
        }
    }
}

fn calls_on_float(code: &str, name: &str) -> bool {
    let method = code.contains(&format!(".{name}("));
    let path = ["f64", "f32"].iter().any(|float| code.contains(&format!("{float}::{name}")));
    method || path
}

fn sim_is_outermost(text: &Text, findings: &mut Vec<Finding>) {
    // The crate root names what the crate offers; it holds no code that could depend on anything.
    let may = ["core/src/lib.rs", "core/src/sim.rs"].contains(&text.path.as_str());
    if may || text.path.starts_with("core/src/sim/") {
        return;
    }
    for (number, code) in code_lines(text) {
        let imports = ["crate::sim::", "super::sim::", "crate::sim;", "super::sim;", "{sim::", " sim::"];
        if imports.iter().any(|import| code.contains(import)) {
            findings.push(text.finding(number, "only sim itself may use sim"));
        }
    }
}

/// Lines with what stands before a comment.
fn code_lines(text: &Text) -> impl Iterator<Item = (usize, &str)> {
    text.lines().map(|(number, line)| (number, line.split("//").next().unwrap_or("")))
}

#[cfg(test)]
mod tests {
    use super::super::{messages, text};
    use super::*;

    #[track_caller]
    fn expect(path: &str, content: &str, wanted: &[&str]) {
        let found = messages(&check(&[text(path, content)]));
        assert_eq!(found.len(), wanted.len(), "{found:?}");
        for (message, part) in found.iter().zip(wanted) {
            assert!(message.contains(part), "expected {part} in {message}");
        }
    }

    #[test]
    fn a_clock_in_core_is_found_and_elsewhere_it_is_not() {
        let code = "//! Head.\nlet now = Instant::now();\n";
        expect("core/src/time.rs", code, &["core/src/time.rs:2: core has no clock"]);
        expect("native/src/time.rs", code, &[]);
    }

    #[test]
    fn a_banned_name_in_a_comment_is_fine() {
        expect("core/src/time.rs", "//! Unlike SystemTime.\nlet x = 1; // no HashMap\n", &[]);
    }

    #[test]
    fn floats_go_through_libm() {
        expect("core/src/law.rs", "//! Head.\nlet y = x.ln() + f64::exp(x);\n", &["libm::ln", "libm::exp"]);
        expect("core/src/law.rs", "//! Head.\nlet y = libm::log(x).sqrt();\n", &[]);
    }

    #[test]
    fn nothing_but_sim_uses_sim() {
        expect("core/src/stage.rs", "//! Head.\nuse crate::sim::Calendar;\n", &["only sim itself"]);
        expect("core/src/sim/clients.rs", "//! Head.\nuse crate::sim::Calendar;\n", &[]);
        expect("core/src/lib.rs", "//! Head.\n#![no_std]\npub mod sim;\n", &[]);
    }

    #[test]
    fn a_file_without_a_head_is_found() {
        expect("native/src/x.rs", "#![allow(x)]\n\n//! Head.\nfn f() {}\n", &[]);
        expect("native/src/x.rs", "fn f() {}\n", &["module head"]);
    }

    #[test]
    fn core_stays_without_std() {
        expect("core/src/lib.rs", "//! Head.\n#![cfg_attr(not(test), no_std)]\n", &["unconditional"]);
    }

    #[test]
    fn a_machine_path_is_found_but_a_link_that_looks_like_one_is_not() {
        let path = concat!("see /ho", "me/ann/x\n");
        expect("docs/a.md", path, &["a path of one machine"]);
        expect("docs/a.md", concat!("https://example.org/ho", "me/ann\n"), &[]);
    }
}
