//! `cargo xtask bench seda`: the experiment of paper S, 1.6, on real sockets.
//!
//! `tidegate serve --files` sends files over one link of 100 Mbit/s, which `--send-rate` stands in for; `tidegate load`
//! plays 3 x 300 clients, each with one request and the priority of its machine. Once the queue is first come, first
//! served, once it is the paper's. Everything else is the same in both: files, clients, seed, link.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::process::{self, Owned};
use crate::workspace::Workspace;
use crate::{play, say};

/// Clients of each priority.
const CLIENTS: u64 = 300;
/// Priorities, 0 the lowest.
const PRIORITIES: usize = 3;
/// All requests are sent within this time, at random.
const SPREAD_US: u64 = 500_000;
/// 100 Mbit/s, in bytes a second.
const LINK: u32 = 12_500_000;
/// Longest wait of a client, in seconds: longer than the slowest experiment takes, so that every answer is counted.
const PATIENCE_S: u64 = 600;
/// How long the gateway may take to say where it is.
const START_LIMIT: Duration = Duration::from_secs(10);

/// A file that is asked for.
#[derive(Clone, Copy)]
struct Target {
    name: &'static str,
    bytes: usize,
}

const SMALL: Target = Target { name: "20KB.bin", bytes: 20_000 };
const LARGE: Target = Target { name: "1.1MB.bin", bytes: 1_100_000 };

/// One of the paper's three experiments.
struct Experiment {
    what: &'static str,
    /// What the clients of each priority ask for.
    targets: [Target; PRIORITIES],
    /// The built-in scenarios whose policies are compared, in the order of [`POLICIES`].
    presets: [&'static str; POLICIES.len()],
}

/// What is compared: the name of its column, and the order of the queue where there is no built-in scenario.
const POLICIES: [(&str, &str); 2] = [("FIFO", "fifo"), ("priority", "strict_priority")];

const EXPERIMENTS: [Experiment; 3] = [
    Experiment {
        what: "1: 20 KB for all",
        targets: [SMALL; PRIORITIES],
        presets: ["seda-exp1-haboob", "seda-exp1"],
    },
    Experiment {
        what: "2: 1.1 MB for all",
        targets: [LARGE; PRIORITIES],
        presets: ["seda-exp2-haboob", "seda-exp2"],
    },
    Experiment {
        what: "3: 1.1 MB for 0",
        targets: [LARGE, SMALL, SMALL],
        presets: ["seda-exp3-haboob", "seda-exp3"],
    },
];

/// What became of the clients under one policy.
struct Outcome {
    /// By priority.
    classes: [Class; PRIORITIES],
    total_s: f64,
}

/// What became of the clients of one priority.
#[derive(Clone, Copy, Default)]
struct Class {
    completed: u64,
    /// `None` if nobody was answered.
    mean_s: Option<f64>,
}

/// Runs the three experiments under both policies and prints the table; about four minutes.
///
/// # Errors
/// When the binary does not build or start, or a request was lost rather than answered or refused.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let bench = Bench::prepare(workspace)?;
    let mut outcomes = Vec::new();
    for experiment in &EXPERIMENTS {
        for (preset, (policy, order)) in experiment.presets.iter().zip(POLICIES) {
            say::heading(&format!("{}: {policy}", experiment.what));
            let mut scenario = bench.preset(preset)?.unwrap_or_else(|| plain(order));
            with_clients(&mut scenario, &experiment.targets)?;
            outcomes.push(bench.run(&scenario)?);
        }
    }
    print!("{}", table(&outcomes));
    Ok(())
}

/// The binary, and a folder with the files.
struct Bench {
    binary: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn prepare(workspace: &Workspace) -> Result<Self> {
        // As in the tests: whoever has a binary need not build one.
        let binary = match std::env::var_os("TIDEGATE_BIN") {
            Some(binary) => binary.into(),
            None => {
                play::build_binary(workspace, "release")?;
                workspace.binary("release")
            }
        };
        let folder = workspace.target.join("seda");
        for target in [SMALL, LARGE] {
            let path = folder.join("www").join(target.name);
            fs::create_dir_all(folder.join("www")).context("cannot make a folder below target/")?;
            fs::write(&path, vec![b'x'; target.bytes])
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        let settings = format!("[limits]\nqueue_timeout_ms = {}\n", PATIENCE_S * 1000);
        fs::write(folder.join("settings.toml"), settings).context("cannot write settings")?;
        Ok(Self { binary, folder })
    }

    /// A built-in scenario, if this binary has it.
    fn preset(&self, name: &str) -> Result<Option<Value>> {
        let mut presets = Command::new(&self.binary);
        let Ok(text) = process::output(presets.args(["presets", name, "--format", "json"])) else {
            say::note(&format!("no preset {name}: one queue without a limit instead"));
            return Ok(None);
        };
        serde_json::from_str(&text).map(Some).with_context(|| format!("preset {name}"))
    }

    /// Serves the files under a scenario's policy and plays its clients.
    fn run(&self, scenario: &Value) -> Result<Outcome> {
        let file = self.folder.join("scenario.json");
        fs::write(&file, scenario.to_string()).context("cannot write the scenario")?;
        let (_gateway, address) = self.serve(&file)?;
        let mut load = Command::new(&self.binary);
        load.arg("load").arg(&file).args(["--target", &address, "--format", "json"]);
        load.args(["--timeout", &PATIENCE_S.to_string()]);
        let report = process::output(&mut load)?;
        outcome(scenario, &serde_json::from_str(&report).context("the report of `tidegate load`")?)
    }

    /// Starts the gateway; the URL at which clients reach it.
    fn serve(&self, scenario: &Path) -> Result<(Owned, String)> {
        let mut serve = Command::new(&self.binary);
        serve.arg("serve").arg(scenario).arg("--config").arg(self.folder.join("settings.toml"));
        serve.arg("--files").arg(self.folder.join("www")).args(["--send-rate", &LINK.to_string()]);
        serve.args(["--listen", "127.0.0.1:0", "--no-admin"]);
        let child = serve.stdout(Stdio::piped()).stdin(Stdio::null()).spawn();
        let mut gateway = Owned(child.context("cannot start the gateway")?);
        let address = address(&mut gateway.0).context("the gateway did not say where it is")?;
        Ok((gateway, address))
    }
}

/// Where a gateway says that clients reach it, if it does in time.
fn address(gateway: &mut Child) -> Option<String> {
    let lines = BufReader::new(gateway.stdout.take()?).lines();
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        // Read to the end, so that the gateway can say what it wants.
        for line in lines.map_while(Result::ok) {
            if let Some(at) = line.find("http://").filter(|_| line.contains("clients")) {
                let _ = tell.send(line[at..].trim().to_owned());
            }
        }
    });
    told.recv_timeout(START_LIMIT).ok()
}

/// One stage that sends, one file at a time, and room for everybody.
fn plain(order: &str) -> Value {
    let class = |priority| json!({ "name": format!("priority {priority}"), "priority": priority });
    json!({
        "tidegate": 1,
        "classes": [class(0), class(1), class(2)],
        "stages": [{
            "name": "send", "workers": 1, "order": order,
            "queue": { "policy": "tail_drop", "limit": 1_000_000, "per": "stage" },
            "work": { "at": "stage", "service": { "law": "constant", "mean_us": 1600 } },
        }],
    })
}

/// Replaces load and rules of a scenario of three classes by the experiment's. A deadline goes, because it would turn
/// requests away that the paper waits for.
fn with_clients(scenario: &mut Value, targets: &[Target; PRIORITIES]) -> Result<()> {
    scenario["run"] = json!({ "horizon_us": PATIENCE_S * 1_000_000, "mode": "transient" });
    let classes = scenario["classes"].as_array_mut().context("a scenario has classes")?;
    ensure!(classes.len() == PRIORITIES, "{PRIORITIES} classes, found {}", classes.len());
    for class in classes {
        let priority = priority(class)?;
        class["rules"] = json!([{
            "path": format!("/{}", targets[priority].name),
            "header": "x-class", "value": priority.to_string(), "from": "anyone",
        }]);
        class["load"] = json!({
            "kind": "closed", "clients": CLIENTS, "count": 1,
            "think": { "law": "uniform", "min_us": 0, "max_us": SPREAD_US },
        });
        class.as_object_mut().context("a class is an object")?.remove("deadline_us");
    }
    Ok(())
}

fn priority(class: &Value) -> Result<usize> {
    let priority = class["priority"].as_u64().unwrap_or(0) as usize;
    ensure!(priority < PRIORITIES, "priorities below {PRIORITIES}, found {priority}");
    Ok(priority)
}

fn outcome(scenario: &Value, report: &Value) -> Result<Outcome> {
    let mut classes = [Class::default(); PRIORITIES];
    let pairs = scenario["classes"]
        .as_array()
        .into_iter()
        .flatten()
        .zip(report["classes"].as_array().into_iter().flatten());
    for (class, report) in pairs {
        let count = |name: &str| report[name].as_u64().with_context(|| format!("no {name} in {report}"));
        let lost = count("failed")? + count("timed_out")? + count("unsent")?;
        ensure!(lost == 0, "{lost} requests without an answer; is `ulimit -n` below 2,000?");
        classes[priority(class)?] =
            Class { completed: count("completed")?, mean_s: report["response_s"]["mean"].as_f64() };
    }
    Ok(Outcome { classes, total_s: report["elapsed_s"].as_f64().context("no elapsed_s")? })
}

/// One block an experiment, one line a priority, both policies side by side.
fn table(outcomes: &[Outcome]) -> String {
    let mut text = format!("{:<18} {:>8}", "", "");
    for (policy, _) in POLICIES {
        let _ = write!(text, "  {policy:>22}");
    }
    let _ = write!(text, "\n{:<18} {:>8}", "experiment", "priority");
    for _ in POLICIES {
        let _ = write!(text, "  {:>10} {:>11}", "completed", "mean");
    }
    text.push('\n');
    for (experiment, outcomes) in EXPERIMENTS.iter().zip(outcomes.chunks(POLICIES.len())) {
        for priority in 0..PRIORITIES {
            let what = if priority == 0 { experiment.what } else { "" };
            let cells = outcomes.iter().map(|outcome| {
                let Class { completed, mean_s } = outcome.classes[priority];
                (completed, CLIENTS, mean_s)
            });
            row(&mut text, what, &priority.to_string(), cells);
        }
        let totals = outcomes.iter().map(|outcome| {
            let completed = outcome.classes.iter().map(|class| class.completed).sum();
            (completed, CLIENTS * PRIORITIES as u64, Some(outcome.total_s))
        });
        row(&mut text, "", "total", totals);
    }
    text
}

fn row(text: &mut String, what: &str, who: &str, cells: impl Iterator<Item = (u64, u64, Option<f64>)>) {
    // Writing to a String cannot fail.
    let _ = write!(text, "{what:<18} {who:>8}");
    for (completed, of, seconds) in cells {
        let seconds = seconds.map_or("-".to_owned(), |s| format!("{s:.3} s"));
        let _ = write!(text, "  {:>10} {seconds:>11}", format!("{completed}/{of}"));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_asks_for_its_file_and_is_known_by_its_header() {
        let mut scenario = plain("fifo");
        scenario["classes"][0]["deadline_us"] = json!(1);
        with_clients(&mut scenario, &EXPERIMENTS[2].targets).expect("three classes");
        for (class, path) in [(0, "/1.1MB.bin"), (1, "/20KB.bin"), (2, "/20KB.bin")] {
            let rule = &scenario["classes"][class]["rules"][0];
            assert_eq!(
                (&rule["path"], &rule["value"]),
                (&json!(path), &json!(class.to_string())),
                "class {class}"
            );
        }
        assert!(scenario["classes"][0]["deadline_us"].is_null(), "a deadline would turn requests away");
        let error = with_clients(&mut json!({ "classes": [{}] }), &EXPERIMENTS[0].targets).unwrap_err();
        assert_eq!(error.to_string(), "3 classes, found 1");
    }

    #[test]
    fn a_report_is_read_by_priority_and_a_lost_request_is_an_error() {
        let scenario = json!({ "classes": [{ "priority": 2 }, { "priority": 1 }, {}] });
        let class = |completed: u64, failed: u64| {
            json!({ "completed": completed, "failed": failed, "timed_out": 0, "unsent": 0,
                "response_s": { "mean": 0.5 } })
        };
        let report = json!({ "elapsed_s": 2.0, "classes": [class(3, 0), class(2, 0), class(1, 0)] });
        let read = outcome(&scenario, &report).expect("all there");
        assert_eq!(read.classes.map(|class| class.completed), [1, 2, 3]);
        let report = json!({ "elapsed_s": 2.0, "classes": [class(3, 0), class(2, 7), class(1, 0)] });
        let error = outcome(&scenario, &report).err().expect("seven are lost").to_string();
        assert!(error.starts_with("7 requests without an answer"), "{error}");
    }

    #[test]
    fn the_table_has_a_block_for_each_experiment() {
        let class = Class { completed: 300, mean_s: Some(0.47) };
        let outcomes: Vec<Outcome> = (0..6).map(|_| Outcome { classes: [class; 3], total_s: 1.44 }).collect();
        let text = table(&outcomes);
        assert_eq!(text.lines().count(), 2 + 3 * 4);
        let line = text.lines().nth(2).expect("a first row");
        assert_eq!(line, "1: 20 KB for all          0     300/300     0.470 s     300/300     0.470 s");
        assert!(text.contains("   total     900/900     1.440 s     900/900     1.440 s\n"), "{text}");
    }
}
