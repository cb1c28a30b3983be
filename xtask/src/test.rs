//! `cargo xtask test`: everything CI runs, step by step, with the time of each.
//!
//! A failed step does not hide what comes after it: all steps run, and the summary names the failures. The last line,
//! `N passed, N failed`, counts steps.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::toolchain::{Target, WasmToolchain};
use crate::workspace::Workspace;
use crate::{browser, files, parity, play, process, say, tidy, web};

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All steps.
    Full,
    /// Without the steps that need Node and a browser.
    Fast,
}

struct Step {
    name: &'static str,
    action: fn(&Workspace) -> Result<()>,
    needs: Extent,
}

/// The page comes early: the native binary embeds it, and would be compiled again after it.
const STEPS: &[Step] = &[
    Step { name: "format", action: format, needs: Extent::Fast },
    Step { name: "tidy", action: tidy::run, needs: Extent::Fast },
    Step { name: "page and its budget", action: page, needs: Extent::Fast },
    Step { name: "core without std", action: bare_core, needs: Extent::Fast },
    Step { name: "lints, host", action: lints, needs: Extent::Fast },
    Step { name: "lints, browser", action: lints_for_browser, needs: Extent::Fast },
    Step { name: "documentation", action: documentation, needs: Extent::Fast },
    Step { name: "tests", action: tests, needs: Extent::Fast },
    Step { name: "binary, debug", action: |ws| play::build_binary(ws, "debug"), needs: Extent::Fast },
    Step { name: "binary, release", action: |ws| play::build_binary(ws, "release"), needs: Extent::Fast },
    Step { name: "example scenarios", action: examples, needs: Extent::Fast },
    Step { name: "parity", action: parity::run, needs: Extent::Full },
    Step { name: "page in a browser", action: page_in_browser, needs: Extent::Full },
];

/// Runs the steps and prints the summary.
///
/// # Errors
/// When a step failed.
pub(crate) fn run(workspace: &Workspace, extent: Extent) -> Result<()> {
    let start = Instant::now();
    let steps: Vec<&Step> =
        STEPS.iter().filter(|step| step.needs == Extent::Fast || extent == Extent::Full).collect();
    let mut done = Vec::new();
    for (number, step) in (1..).zip(&steps) {
        println!("\n=== {number}/{} {}", steps.len(), step.name);
        let began = Instant::now();
        let result = (step.action)(workspace);
        if let Err(error) = &result {
            say::failure(error);
        }
        println!("=== {} ({})", verdict(result.is_ok()), say::seconds(began.elapsed()));
        done.push((step.name, result.is_ok(), began.elapsed()));
    }
    summarise(&done, start.elapsed())
}

fn verdict(ok: bool) -> &'static str {
    if ok { "ok" } else { "FAILED" }
}

fn summarise(done: &[(&str, bool, Duration)], total: Duration) -> Result<()> {
    println!("\n{:<24} {:>8}", "step", "time");
    for (name, ok, time) in done {
        println!("{name:<24} {:>8}  {}", say::seconds(*time), verdict(*ok));
    }
    println!("{:<24} {:>8}", "all", say::seconds(total));
    let failed = done.iter().filter(|(_, ok, _)| !ok).count();
    println!("\n{} passed, {failed} failed", done.len() - failed);
    if failed > 0 {
        bail!("{failed} step(s) failed");
    }
    Ok(())
}

fn host(workspace: &Workspace, words: &[&str]) -> Result<()> {
    process::run(process::host_cargo(&workspace.root).args(words))
}

fn format(workspace: &Workspace) -> Result<()> {
    host(workspace, &["fmt", "--all", "--check"])
}

fn page(workspace: &Workspace) -> Result<()> {
    web::run(workspace, None)
}

/// Builds the core, without its tests, where there is no std: there `x.ln()` does not compile.
fn bare_core(workspace: &Workspace) -> Result<()> {
    for target in [Target::Bare, Target::Browser] {
        let toolchain = WasmToolchain::find(workspace, target)?;
        let mut cargo = toolchain.cargo(workspace);
        cargo.args(["build", "--package", "tidegate-core", "--lib"]).args(toolchain.place(workspace));
        process::run(&mut cargo)?;
    }
    Ok(())
}

fn lints(workspace: &Workspace) -> Result<()> {
    host(workspace, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn lints_for_browser(workspace: &Workspace) -> Result<()> {
    let toolchain = WasmToolchain::find(workspace, Target::Browser)?;
    toolchain.ensure_linter()?;
    let mut cargo = toolchain.cargo(workspace);
    // The page's profile, so that the macros and build scripts of its build serve here too.
    cargo.args(["clippy", "--package", "tidegate-core", "--package", "tidegate-web"]);
    cargo.args(["--package", "tidegate-module", "--lib"]);
    cargo.args(["--profile", web::PROFILE]).args(toolchain.place(workspace)).args(["--", "-D", "warnings"]);
    process::run(&mut cargo)
}

fn documentation(workspace: &Workspace) -> Result<()> {
    let mut cargo = process::host_cargo(&workspace.root);
    // Private items are documented too, so links to them are alive.
    cargo.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links");
    process::run(cargo.args(["doc", "--workspace", "--no-deps", "--document-private-items"]))
}

/// `cargo test`, not nextest: the same command everywhere, and it runs the examples in the documentation.
fn tests(workspace: &Workspace) -> Result<()> {
    host(workspace, &["test", "--workspace"])
}

/// Every example scenario means something to the binary.
fn examples(workspace: &Workspace) -> Result<()> {
    let folder = workspace.www().join("scenarios");
    let examples = if folder.is_dir() { files::walk(&folder, &|_| false)? } else { Vec::new() };
    for file in examples.iter().filter(|file| file.extension().is_some_and(|e| e == "json" || e == "toml")) {
        process::run(std::process::Command::new(workspace.binary("debug")).arg("check").arg(file))?;
    }
    Ok(())
}

/// The checks of the page in Chromium, and in Firefox where it can be had; they are marked `ignore` because they need what the
/// steps before built.
fn page_in_browser(workspace: &Workspace) -> Result<()> {
    let found = browser::chromium()?;
    let mut cargo = process::host_cargo(&workspace.root);
    cargo.env("TIDEGATE_CHROMIUM", &found.chromium).env("TIDEGATE_CHROMEDRIVER", &found.driver);
    cargo.env("TIDEGATE_BINARY", workspace.binary("release"));
    cargo.env("TIDEGATE_AXE", browser::axe(workspace)?);
    cargo.args(["test", "--workspace"]);
    let firefox = browser::firefox();
    if let Ok(firefox) = &firefox {
        cargo.env("TIDEGATE_FIREFOX", firefox).args(["--test", "firefox"]);
    }
    for test in ["page", "access", "looks", "use"] {
        cargo.args(["--test", test]);
    }
    let result = process::run(cargo.args(["--", "--ignored", "--test-threads=1"]));
    // Said last, where it is seen.
    if let Err(error) = firefox {
        say::heading(&format!("SKIPPED: the page in Firefox. {error}"));
    }
    result
}
