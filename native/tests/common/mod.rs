//! Running the binary, and folders that go away.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A small scenario as TOML.
pub(crate) const TINY_TOML: &str = r#"
tidegate = 1
title = "Tiny"

[run]
seed = 3
horizon_us = 5_000_000

[[classes]]
name = "all"
load = { kind = "poisson", rate_per_s = 100.0 }
service = { law = "exponential", mean_us = 8_000 }

[[stages]]
name = "gate"
workers = 2
work = { at = "servers" }

[[servers]]
name = "one"
slots = 2
"#;

/// The same as JSON.
pub(crate) const TINY_JSON: &str = r#"{
  "tidegate": 1,
  "title": "Tiny",
  "run": { "seed": 3, "horizon_us": 5000000 },
  "classes": [
    {
      "name": "all",
      "load": { "kind": "poisson", "rate_per_s": 100 },
      "service": { "law": "exponential", "mean_us": 8000 }
    }
  ],
  "stages": [{ "name": "gate", "workers": 2, "work": { "at": "servers" } }],
  "servers": [{ "name": "one", "slots": 2 }]
}"#;

/// What a run of the binary came to.
pub(crate) struct Outcome {
    pub(crate) arguments: String,
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    fn of(arguments: &[&str], output: Output) -> Self {
        Self {
            arguments: arguments.join(" "),
            status: output.status.code().expect("ended by itself"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Standard output of a run that has to have gone well.
    pub(crate) fn text(self) -> String {
        assert_eq!(self.status, 0, "tidegate {}: {}", self.arguments, self.stderr);
        self.stdout
    }

    /// The same as JSON.
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.text()).expect("JSON")
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.args(arguments).env_remove("TIDEGATE_WWW").env_remove("CLICOLOR_FORCE");
    command
}

/// Runs the binary.
pub(crate) fn tidegate(arguments: &[&str]) -> Outcome {
    Outcome::of(arguments, command(arguments).stdin(Stdio::null()).output().expect("it was built"))
}

/// Runs the binary with `input` on standard input.
pub(crate) fn tidegate_with_input(arguments: &[&str], input: &str) -> Outcome {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was built");
    // Who has seen enough is gone before it has read all: what it says counts.
    if let Err(error) = child.stdin.take().expect("piped").write_all(input.as_bytes()) {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{error}");
    }
    Outcome::of(arguments, child.wait_with_output().expect("it ends"))
}

/// Runs the binary with a standard output whose reader has already left.
pub(crate) fn closed_pipe(arguments: &[&str]) -> Outcome {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut child = command(arguments)
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was built");
    let mut stderr = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut stderr).expect("text");
    let status = child.wait().expect("it ends").code().expect("ended by itself");
    Outcome { arguments: arguments.join(" "), status, stdout: String::new(), stderr }
}

/// A folder of one test's files, removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new folder; `name` is unique to the test.
    pub(crate) fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("cargo's folder for tests can be written");
        Self(path)
    }

    /// Writes a file and gives its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("the folder can be written");
        path.to_str().expect("cargo's path is text").to_owned()
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }

    /// Names of what is in it.
    pub(crate) fn entries(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("it is there");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
