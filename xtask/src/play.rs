//! `cargo xtask play`: from a fresh clone to a running system in a browser.

use std::process::Command;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, say, web};

/// Where the page is served unless the caller says otherwise.
const LISTEN: &str = "127.0.0.1:7171";

/// Builds page and binary, then runs `tidegate play --demo` until it is stopped; `rest` is passed on.
///
/// # Errors
/// When something does not build, or the binary ends with an error.
pub(crate) fn run(workspace: &Workspace, rest: &[&str]) -> Result<()> {
    web::build(workspace)?;
    build_binary(workspace, "release")?;
    let mut play = Command::new(workspace.binary("release"));
    play.args(["play", "--demo"]);
    if !rest.iter().any(|word| *word == "--listen" || word.starts_with("--listen=")) {
        play.args(["--listen", LISTEN]);
    }
    become_program(play.args(rest))
}

/// Puts the program in our place, so that signals reach it without a detour.
#[cfg(unix)]
fn become_program(command: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt as _;

    use anyhow::Context as _;

    let error = command.exec();
    Err(error).with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))
}

#[cfg(not(unix))]
fn become_program(command: &mut Command) -> Result<()> {
    process::run(command)
}

/// Builds the `tidegate` binary with a profile (`debug` or `release`).
///
/// # Errors
/// When it does not compile.
pub(crate) fn build_binary(workspace: &Workspace, profile: &str) -> Result<()> {
    say::heading(&format!("Building the tidegate binary ({profile})"));
    let mut cargo = process::host_cargo(&workspace.root);
    match profile {
        "release" => cargo.args(["build", "--release", "--package", "tidegate", "--bin", "tidegate"]),
        // With the features that `cargo test --workspace` gives the dependencies, so that both use the same builds.
        _ => cargo.args(["build", "--workspace", "--bin", "tidegate"]),
    };
    process::run(&mut cargo)
}
