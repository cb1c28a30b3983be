//! Starting other programs with a clean environment, and never waiting for them without a limit where one is known.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Variables of cargo that a user sets; the others were left behind by the cargo that started us.
const KEPT: &[&str] = &["CARGO_HOME", "CARGO_BUILD_JOBS", "CARGO_INCREMENTAL", "CARGO_TARGET_DIR"];
const KEPT_PREFIXES: &[&str] =
    &["CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_", "CARGO_TERM_"];

/// How often a program that has a limit is looked at.
const POLL: Duration = Duration::from_millis(50);

/// The cargo that started this xtask, without what it left in the environment for build scripts.
pub(crate) fn host_cargo(folder: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    scrub(&mut command);
    command.current_dir(folder);
    command
}

/// A cargo of another toolchain: also without rustup's choice and its library path.
///
/// A stale `LD_LIBRARY_PATH` made rustc pick another sysroot (E0463).
pub(crate) fn foreign_cargo(cargo: &Path, folder: &Path) -> Command {
    let mut command = Command::new(cargo);
    scrub(&mut command);
    for name in
        ["LD_LIBRARY_PATH", "RUSTUP_TOOLCHAIN", "RUSTUP_HOME", "RUSTFLAGS", "RUSTDOCFLAGS", "RUSTC_WRAPPER"]
    {
        command.env_remove(name);
    }
    command.current_dir(folder);
    command
}

fn scrub(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if is_left_behind(&name) {
            command.env_remove(name);
        }
    }
}

fn is_left_behind(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let ours =
        name == "CARGO" || name.starts_with("CARGO_") || matches!(name, "RUSTC" | "RUSTDOC" | "OUT_DIR");
    ours && !KEPT.contains(&name) && !KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Runs to the end with our output streams and no input.
///
/// # Errors
/// When it cannot start or does not succeed; the message holds the command line.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status =
        command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {}", line(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", line(command));
    }
    Ok(())
}

/// As [`run`], but ends the program after `limit`.
///
/// # Errors
/// As [`run`], and when the limit passes.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<()> {
    let child =
        command.stdin(Stdio::null()).spawn().with_context(|| format!("cannot start {}", line(command)))?;
    let mut child = Owned(child);
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.0.try_wait()? {
            if status.success() {
                return Ok(());
            }
            bail!("{} ended with {status}", line(command));
        }
        thread::sleep(POLL);
    }
    bail!("{} was still running after {} s", line(command), limit.as_secs());
}

/// Runs to the end and returns what it printed on standard output.
///
/// # Errors
/// As [`run`]; standard error is part of the message.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let done =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {}", line(command)))?;
    if !done.status.success() {
        let stderr = String::from_utf8_lossy(&done.stderr);
        bail!("{} ended with {}: {}", line(command), done.status, stderr.trim());
    }
    String::from_utf8(done.stdout)
        .with_context(|| format!("{} printed something that is not text", line(command)))
}

/// The full path of a program on the search path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// A child that does not outlive its owner.
pub(crate) struct Owned(pub(crate) Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // It may have ended by itself; then both calls report that, which is what we want.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cargo_left_behind_is_removed() {
        for name in ["CARGO", "CARGO_PKG_NAME", "CARGO_MANIFEST_DIR", "RUSTC"] {
            assert!(is_left_behind(OsStr::new(name)), "{name} should go");
        }
        for name in ["CARGO_HOME", "CARGO_BUILD_JOBS", "CARGO_NET_OFFLINE", "CARGO_TERM_COLOR", "PATH"] {
            assert!(!is_left_behind(OsStr::new(name)), "{name} should stay");
        }
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let error = run_within(Command::new("sleep").arg("60"), Duration::from_millis(100)).unwrap_err();
        assert!(error.to_string().contains("still running"), "{error}");
    }
}
