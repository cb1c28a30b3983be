//! What an operator sees of a split that is controlled: in `/state`, in `/metrics`, and on standard error.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tidegate_tests::wire::{Backend, Client, Folder, Gateway, Latch, binary, scenario};

/// Four workers for two classes, the low one to wait four times as long.
fn split() -> String {
    scenario(4, 1000, 1)
        .replace(r#""work":"#, r#""split_by":{"policy":"stc_lead"},"work":"#)
        .replace(r#""name":"low""#, r#""name":"low","delay_weight":4"#)
}

fn split_of(gateway: &Gateway) -> Value {
    let state: Value = serde_json::from_str(&gateway.admin("/state").text()).expect("JSON");
    state["frame"]["stages"][0]["split"].clone()
}

/// Looks at the split until it is as wanted.
#[track_caller]
fn await_split(gateway: &Gateway, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let split = split_of(gateway);
        if wanted(&split) {
            return split;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "the split is never {what}: {split}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn asking(gateway: &Gateway, path: &str, clients: usize) -> Vec<Client> {
    let one = |_| {
        let mut client = gateway.connect();
        client.get(path);
        client
    };
    (0..clients).map(one).collect()
}

#[test]
fn a_controlled_split_is_shown_by_name_and_adds_up() {
    let latch = Latch::default();
    let hold = latch.clone();
    let backend = Backend::start(move |exchange| {
        hold.wait();
        exchange.ok("done");
        true
    });
    let gateway = Gateway::start(&split(), &[backend.address]);

    let idle = await_split(&gateway, "looked at twice while nobody comes", |split| {
        split["samples"].as_u64().is_some_and(|samples| samples >= 2)
    });
    assert_eq!(idle["state"], "idle", "there is no ratio to hold: {idle}");
    assert_eq!(idle["stuck"], Value::Null, "{idle}");

    let mut waiting = asking(&gateway, "/high/x", 10);
    waiting.extend(asking(&gateway, "/x", 10));
    let busy = await_split(&gateway, "held while 16 wait", |split| split["state"] != "idle");
    let classes = busy["classes"].as_array().expect("classes");
    let names: Vec<&str> = classes.iter().filter_map(|class| class["name"].as_str()).collect();
    assert_eq!(names, ["high", "low"]);
    let sum = |key: &str| classes.iter().filter_map(|class| class[key].as_f64()).sum::<f64>();
    assert_eq!(sum("slots"), 4.0, "slots sum to the pool: {busy}");
    assert!(
        (sum("share") - 1.0).abs() < 1e-9 && (sum("target") - 1.0).abs() < 1e-9,
        "shares sum to 1: {busy}"
    );
    assert_eq!(classes[1]["target"], 0.8, "four fifths of the delay are the low class's");
    for key in ["delay_s", "error", "output", "b", "trust", "uncertainty", "bias", "margin"] {
        assert!(classes.iter().all(|class| class[key].is_f64()), "{key} is a number: {busy}");
    }
    assert!(busy["resolution"].as_f64().is_some_and(|r| r > 0.1), "four workers are coarse: {busy}");

    let metrics = gateway.metrics();
    assert_eq!(metrics.sum("tidegate_split_state", &["stage=\"serve\""]), 1.0, "one state at a time");
    assert_eq!(metrics.sum("tidegate_split_state", &["state=\"idle\""]), 0.0, "somebody waits");
    assert_eq!(metrics.sum("tidegate_class_slots", &[]), 4.0);
    assert_eq!(metrics.sum("tidegate_split_target_ratio", &["class=\"low\""]), 0.8);
    assert!((metrics.sum("tidegate_split_share_ratio", &[]) - 1.0).abs() < 1e-9);
    assert!(metrics.sum("tidegate_split_samples_total", &[]) >= 3.0);
    assert_eq!(metrics.sum("tidegate_queue_wait_seconds_count", &[]), 4.0, "four have a worker");

    latch.open();
    for client in &mut waiting {
        assert_eq!(client.response().status, 200);
    }
    let metrics = gateway.metrics();
    assert_eq!(metrics.sum("tidegate_queue_wait_seconds_count", &["class=\"high\""]), 10.0);
    let waited = metrics.sum("tidegate_queue_wait_seconds_sum", &[]);
    let known = metrics.sum("tidegate_wait_seconds_sum", &[]);
    assert!((waited - known).abs() < 1e-6, "all are done, in one stage: {waited} is {known}");
    metrics.assert_adds_up();
    await_split(&gateway, "idle again", |split| split["state"] == "idle");
}

#[test]
fn a_stage_without_a_controller_has_no_split_to_show() {
    let backend = Backend::echo();
    let gateway = Gateway::start(&scenario(4, 1000, 1), &[backend.address]);
    assert_eq!(split_of(&gateway), Value::Null);
    assert_eq!(gateway.metrics().sum("tidegate_split_state", &[]), 0.0);
}

/// The scenario with a deadline that ends waits of the low class before the ratio does.
fn cut_short() -> String {
    split().replace(r#""delay_weight":4"#, r#""delay_weight":4,"deadline_us":2000000"#)
}

#[test]
fn check_warns_of_a_deadline_in_the_way_of_the_ratio_and_the_file_is_right_all_the_same() {
    let folder = Folder::new();
    let check = |name: &str, scenario: String| -> Output {
        folder.write(name, scenario);
        Command::new(binary()).arg("check").arg(folder.path(name)).output().expect("it runs")
    };
    let fine = check("fine.json", split());
    assert!(!String::from_utf8_lossy(&fine.stdout).contains("warning"), "{fine:?}");
    let cut = check("cut.json", cut_short());
    let said = String::from_utf8_lossy(&cut.stdout).into_owned();
    assert!(cut.status.success(), "a warning is no error: {said}");
    assert!(said.contains("warning:") && said.contains("ends a wait of class low after 2.00 s"), "{said}");
}

#[test]
fn serve_warns_at_the_start() {
    let folder = Folder::new();
    folder.write("cut.json", cut_short());
    let mut serve = Command::new(binary());
    serve.arg("serve").arg(folder.path("cut.json")).args(["--upstream", "http://127.0.0.1:9"]);
    serve.args(["--listen", "127.0.0.1:0", "--no-admin"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut gateway = serve.spawn().expect("it starts");
    let mut line = String::new();
    let read = BufReader::new(gateway.stderr.take().expect("piped")).read_line(&mut line);
    let _ = gateway.kill();
    let _ = gateway.wait();
    assert!(read.is_ok() && line.contains("once class high waits 500 ms"), "{line:?}");
}
