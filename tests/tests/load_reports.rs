//! Servers tell their load, and the gateway goes by it.
//!
//! Numbers name the cases: load reports in headers (35), the words of an agent (36).

use std::io::Write as _;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::Value;
use tidegate_tests::wire::{Backend, Gateway, Response};

const PAIRS: &str = "cpu_utilization=0.7,application_utilization=0.8,mem_utilization=0.9,rps_fractional=1000,eps=2,\
    named_metrics.foo=123,named_metrics.bar=0.2";

/// One class and one stage in front of servers of weight 100, and what else the scenario has.
fn scenario(servers: usize, more: &str) -> String {
    let names: Vec<String> = (0..servers).map(|n| format!(r#"{{"name":"s{n}","weight":100}}"#)).collect();
    format!(
        r#"{{"tidegate":1,"classes":[{{"name":"all"}}],
        "stages":[{{"name":"serve","workers":64,"queue":{{"policy":"tail_drop","limit":0}},"work":{{"at":"servers"}}}}],
        "servers":[{}]{more}}}"#,
        names.join(",")
    )
}

/// Lines of the header of a backend's answers, to be changed while it runs.
type Lines = Arc<Mutex<String>>;

/// A backend that adds these lines to the header of every answer.
fn reporting(lines: &Lines) -> Backend {
    let lines = Arc::clone(lines);
    Backend::start(move |exchange| {
        let lines = lines.lock().expect("no test panicked").clone();
        exchange.answer(format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 2\r\n\r\nhi"));
        true
    })
}

fn say(lines: &Lines, header: &str, value: &str) {
    *lines.lock().expect("no test panicked") = format!("{header}: {value}\r\n");
}

fn get(gateway: &Gateway, path: &str) -> Response {
    let mut client = gateway.connect();
    client.get(path);
    client.response()
}

/// What the gateway says of its first server.
fn server(gateway: &Gateway) -> Value {
    let state: Value = serde_json::from_str(&gateway.admin("/state").text()).expect("JSON");
    state["frame"]["servers"][0].clone()
}

/// Waits until `is` holds.
#[track_caller]
fn await_that(what: &str, longest: Duration, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < longest, "never: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

const SOON: Duration = Duration::from_secs(20);

fn reports(gateway: &Gateway, source: &str, result: &str) -> f64 {
    let labels = [format!("source=\"{source}\""), format!("result=\"{result}\"")];
    gateway.metrics().sum("tidegate_load_reports_total", &labels.each_ref().map(String::as_str))
}

/// `cpu_utilization` as a protocol buffer in base64.
fn buffer(cpu: f64) -> String {
    let bytes = [&[0x09][..], &cpu.to_le_bytes()].concat();
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[test]
fn case_35_a_report_in_any_form_counts_and_stays_here() {
    let lines = Lines::default();
    let backend = reporting(&lines);
    let gateway = Gateway::start(&scenario(1, ""), &[backend.address]);
    for (n, (header, value, cpu)) in [
        ("endpoint-load-metrics", format!("TEXT {PAIRS}"), 0.7),
        ("Endpoint-Load-Metrics", format!("TEXT {}", PAIRS.replace('=', ":").replace("0.7", "0.6")), 0.6),
        ("endpoint-load-metrics", format!("TEXT {}", PAIRS.replace(',', ", ").replace("0.7", "0.5")), 0.5),
        ("endpoint-load-metrics", "JSON {\"cpu_utilization\":0.3}".to_owned(), 0.3),
        ("endpoint-load-metrics", format!("BIN {}", buffer(0.25)), 0.25),
        ("endpoint-load-metrics-bin", buffer(0.125), 0.125),
    ]
    .into_iter()
    .enumerate()
    {
        say(&lines, header, &value);
        let response = get(&gateway, "/");
        assert_eq!((response.status, response.text().as_str()), (200, "hi"), "{value}");
        assert_eq!(response.header(header), None, "{value}");
        let metrics = gateway.metrics();
        let load = metrics.sum("tidegate_upstream_load_ratio", &["upstream=\"s0\"", "resource=\"cpu\""]);
        assert_eq!(load, cpu, "{value}");
        assert_eq!(reports(&gateway, "header", "taken"), n as f64 + 1.0);
    }
    assert!(gateway.metrics().sum("tidegate_upstream_report_age_seconds", &[]) > 0.0);
}

#[test]
fn case_35_a_bad_report_is_counted_and_changes_neither_the_load_nor_the_answer() {
    let lines = Lines::default();
    let backend = reporting(&lines);
    let gateway = Gateway::start(&scenario(1, ""), &[backend.address]);
    say(&lines, "endpoint-load-metrics", &format!("TEXT {PAIRS}"));
    get(&gateway, "/");
    let fresh = server(&gateway);
    assert_eq!(fresh["loads"]["mem"], 0.9, "{fresh}");
    let long: String = (0..2_000).map(|n| format!("named_metrics.m{n}=1,")).collect();
    for (value, result) in [
        ("BADBAD x", "unknown_form"),
        ("", "empty"),
        ("TEXT cpu_utilization=\"0.7\"", "not_a_number"),
        ("TEXT cpu_utilization=0.1,cpu_utilization=0.2", "duplicate"),
        ("TEXT cpu_utilization=NaN", "not_finite"),
        ("TEXT cpu_utilization=0.1,eps=inf", "not_finite"),
        ("TEXT cpu_utilization=-1", "negative"),
        ("TEXT cpu_utilization=0.1,named_metrics.=1", "empty_name"),
        ("TEXT cpu_utilization=0.1,named_metrics", "missing_value"),
        (&format!("TEXT {long}cpu_utilization=0.1"), "too_long"),
        ("JSON {\"cpu_utilization\":0.1", "bad_json"),
        ("BIN !", "bad_base64"),
        ("BIN CQ==", "bad_protobuf"),
    ] {
        let before = reports(&gateway, "header", result);
        say(&lines, "endpoint-load-metrics", value);
        let response = get(&gateway, "/");
        assert_eq!((response.status, response.text().as_str()), (200, "hi"), "{value:.80}");
        assert_eq!(response.header("endpoint-load-metrics"), None, "{value:.80}");
        assert_eq!(reports(&gateway, "header", result), before + 1.0, "{result}: {value:.80}");
        let now = server(&gateway);
        assert_eq!((&now["loads"], &now["weight"]), (&fresh["loads"], &fresh["weight"]), "{value:.80}");
    }
    assert_eq!(reports(&gateway, "header", "taken"), 1.0);
    gateway.metrics().assert_adds_up();
}

#[test]
fn reports_go_on_to_a_client_that_is_to_have_them() {
    let lines = Lines::default();
    let backend = reporting(&lines);
    let settings = "strip_load_reports = false";
    let gateway = Gateway::start_with(&scenario(1, ""), &[backend.address], settings);
    say(&lines, "endpoint-load-metrics", "TEXT eps=1");
    assert_eq!(get(&gateway, "/").header("endpoint-load-metrics"), Some("TEXT eps=1"));
    assert_eq!(reports(&gateway, "header", "taken"), 1.0);
}

const REPORTED: &str = r#","balancer":{"policy":"weighted_round_robin","weights":"reported"}"#;

/// Weights of gRFC A58: requests a second over utilisation. They count once a server has reported for ten seconds.
#[test]
fn case_35_the_split_follows_what_servers_report() {
    let lines = [Lines::default(), Lines::default()];
    let backends = lines.each_ref().map(reporting);
    let gateway = Gateway::start(&scenario(2, REPORTED), &backends.each_ref().map(|one| one.address));
    for (lines, utilisation) in lines.iter().zip([0.2, 0.8]) {
        let value = format!("TEXT application_utilization={utilisation},rps_fractional=100");
        say(lines, "endpoint-load-metrics", &value);
    }
    let mut client = gateway.connect();
    let mut ask = || {
        client.get("/");
        assert_eq!(client.response().status, 200);
    };
    let weights = || {
        let metrics = gateway.metrics();
        ["upstream=\"s0\"", "upstream=\"s1\""]
            .map(|upstream| metrics.sum("tidegate_upstream_weight", &[upstream]))
    };
    await_that("weights of 500 and 125", Duration::from_secs(40), || {
        ask();
        let [idle, busy] = weights();
        (idle - 500.0).abs() < 1e-6 && (busy - 125.0).abs() < 1e-6
    });
    let before = backends.each_ref().map(|one| one.heads().len());
    (0..1_000).for_each(|_| ask());
    let after = backends.each_ref().map(|one| one.heads().len());
    let [idle, busy] = [after[0] - before[0], after[1] - before[1]];
    let ratio = idle as f64 / busy as f64;
    assert!((3.6..=4.4).contains(&ratio), "{idle} to {busy} is not four to one");

    // What says nothing of its utilisation has no weight; what was known stays.
    for lines in &lines {
        say(lines, "endpoint-load-metrics", "TEXT application_utilization=0,rps_fractional=100");
    }
    (0..50).for_each(|_| ask());
    thread::sleep(Duration::from_millis(1_100));
    ask();
    let [idle, busy] = weights();
    assert!((idle - 500.0).abs() < 1e-6 && (busy - 125.0).abs() < 1e-6, "{idle} and {busy}: kept");

    for lines in &lines {
        say(lines, "endpoint-load-metrics", &format!("TEXT {PAIRS}"));
    }
    await_that("1000 / (0.8 + 2 / 1000)", SOON, || {
        (0..10).for_each(|_| ask());
        weights().iter().all(|weight| (weight - 1000.0 / 0.802).abs() < 0.1)
    });
}

/// An agent that answers every connection with its present line, then closes.
struct Agent {
    port: u16,
    line: Arc<Mutex<Vec<u8>>>,
    gone: Arc<AtomicBool>,
    asked: Arc<AtomicU64>,
}

impl Agent {
    fn start(line: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address: SocketAddr = listener.local_addr().expect("it is bound");
        let agent = Self {
            port: address.port(),
            line: Arc::new(Mutex::new(line.into())),
            gone: Arc::default(),
            asked: Arc::default(),
        };
        let (line, gone, asked) = (agent.line.clone(), agent.gone.clone(), agent.asked.clone());
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                if gone.load(Ordering::Relaxed) {
                    return;
                }
                let line = line.lock().expect("no test panicked").clone();
                // Who has read enough may have closed already.
                let _ = stream.write_all(&line);
                let _ = stream.shutdown(Shutdown::Write);
                asked.fetch_add(1, Ordering::Relaxed);
            }
        });
        agent
    }

    /// Changes the line and waits until the gateway has asked twice more, so that it has acted on it.
    fn say(&self, line: impl AsRef<[u8]>) {
        *self.line.lock().expect("no test panicked") = line.as_ref().to_owned();
        let asked = self.asked.load(Ordering::Relaxed);
        await_that("the agent is asked", SOON, || self.asked.load(Ordering::Relaxed) >= asked + 3);
    }

    fn settings(&self) -> String {
        format!("[reports]\nkind = \"agent\"\nport = {}\ninterval_ms = 100\n", self.port)
    }
}

/// Weight, limit, whether it is up, and whether it drains.
#[track_caller]
fn assert_server(gateway: &Gateway, line: &str, want: (f64, Option<u64>, bool, bool)) {
    let now = server(gateway);
    let drains = now["barred"].as_array().is_some_and(|bars| bars.iter().any(|bar| bar == "draining"));
    let got = (
        now["weight"].as_f64().unwrap_or(f64::NAN),
        now["max_in_flight"].as_u64(),
        now["up"] == true,
        drains,
    );
    assert_eq!(got, want, "(weight, limit, up, drains) after {line:?}: {now}");
}

#[test]
fn case_36_the_words_of_an_agent_are_obeyed() {
    let backend = Backend::echo();
    let agent = Agent::start("75%,maxconn:30,maint,down\n");
    let gateway = Gateway::start_with(&scenario(1, ""), &[backend.address], &agent.settings());
    await_that("the agent takes the server out", SOON, || server(&gateway)["up"] == false);
    assert_server(&gateway, "75%,maxconn:30,maint,down", (75.0, Some(30), false, true));
    assert_eq!(server(&gateway)["out"][0], "agent");
    for (line, want) in [
        ("up 50%\n", (50.0, Some(30), false, true)),
        ("ready\n", (50.0, Some(30), true, false)),
        ("failed\n", (50.0, Some(30), true, false)),
        ("weight:300", (50.0, Some(30), true, false)),
        ("weight:-1\n", (50.0, Some(30), true, false)),
        ("150%", (150.0, Some(30), true, false)),
        ("weight:40 maxconn:7", (40.0, Some(7), true, false)),
        ("", (40.0, Some(7), true, false)),
    ] {
        agent.say(line);
        assert_server(&gateway, line, want);
    }
    assert!(reports(&gateway, "agent", "unknown_words") >= 3.0, "what makes no sense is counted");
    assert!(reports(&gateway, "agent", "empty") >= 1.0);
    agent.say(format!("down {}", "x".repeat(1 << 20)));
    assert_server(&gateway, "a megabyte without an end", (40.0, Some(7), false, false));
    agent.say("100% up\n");
    assert_server(&gateway, "100% up", (100.0, Some(7), true, false));
    assert_eq!(get(&gateway, "/").status, 200);
}

#[test]
fn case_36_a_server_that_drains_gets_nothing_new_and_a_closed_port_changes_nothing() {
    let backend = Backend::echo();
    let agent = Agent::start("up 50%\n");
    let gateway = Gateway::start_with(&scenario(1, ""), &[backend.address], &agent.settings());
    gateway.await_metric("tidegate_upstream_weight", &[], 50.0);
    assert_eq!(get(&gateway, "/before").status, 200);
    agent.say("drain\n");
    let refused = get(&gateway, "/while");
    assert_eq!(refused.status, 503, "{}", refused.head);
    // Nobody reports here, so a server may be fit again in one period of reports, which is 10 s.
    let seconds: u64 = refused.header("retry-after").expect("Retry-After").parse().expect("whole seconds");
    assert!((10..=14).contains(&seconds), "{seconds} s");
    agent.say("ready\n");
    assert_eq!(get(&gateway, "/after").status, 200);

    agent.gone.store(true, Ordering::Relaxed);
    await_that("the port is closed", SOON, || reports(&gateway, "agent", "unreachable") >= 2.0);
    assert_server(&gateway, "nothing", (50.0, None, true, false));
    assert_eq!(get(&gateway, "/alone").status, 200);
    assert_eq!(backend.heads().len(), 3, "nothing was sent while it drained");
}

/// A backend whose page `/health` is well or not, and which answers everything else.
fn with_health(well: &Arc<AtomicBool>) -> Backend {
    let well = Arc::clone(well);
    Backend::start(move |exchange| {
        if exchange.path() == "/health" && !well.load(Ordering::Relaxed) {
            exchange.answer("HTTP/1.1 500 Bad\r\nContent-Length: 0\r\n\r\n");
        } else {
            exchange.ok("hi");
        }
        true
    })
}

const HEALTH: &str =
    "[health]\npath = \"/health\"\ninterval_ms = 100\nrise = 2\nfall = 2\nstatus = [200, 299]\n";

#[test]
fn case_36_an_agent_does_not_raise_a_server_whose_health_checks_fail() {
    let well = Arc::new(AtomicBool::new(false));
    let backend = with_health(&well);
    let agent = Agent::start("down\n");
    let settings = format!("{}{HEALTH}", agent.settings());
    let gateway = Gateway::start_with(&scenario(1, ""), &[backend.address], &settings);
    await_that("both have a reason", SOON, || {
        server(&gateway)["out"].as_array().is_some_and(|o| o.len() == 2)
    });
    agent.say("ready,up\n");
    assert_server(&gateway, "ready,up", (100.0, None, false, false));
    assert_eq!(server(&gateway)["out"][0], "unhealthy");
    agent.say("down\n");
    well.store(true, Ordering::Relaxed);
    await_that("the checks agree", SOON, || {
        server(&gateway)["out"].as_array().is_some_and(|out| out.len() == 1 && out[0] == "agent")
    });
    agent.say("up\n");
    assert_server(&gateway, "up", (100.0, None, true, false));
}

#[test]
fn health_checks_take_a_server_out_and_bring_it_back() {
    let well = Arc::new(AtomicBool::new(true));
    let backend = with_health(&well);
    let gateway = Gateway::start_with(&scenario(1, ""), &[backend.address], HEALTH);
    await_that("a good check", SOON, || {
        gateway.metrics().sum("tidegate_health_checks_total", &["result=\"good\""]) >= 2.0
    });
    assert_eq!(get(&gateway, "/").status, 200);
    well.store(false, Ordering::Relaxed);
    gateway.await_metric("tidegate_upstream_up", &[], 0.0);
    assert!(gateway.metrics().sum("tidegate_health_checks_total", &["result=\"bad\""]) >= 2.0);
    assert_eq!(get(&gateway, "/").status, 503);
    well.store(true, Ordering::Relaxed);
    gateway.await_metric("tidegate_upstream_up", &[], 1.0);
    assert_eq!(get(&gateway, "/").status, 200);
}

/// A backend with one page, to be changed while it runs.
fn page(path: &'static str, content: &Lines) -> Backend {
    let content = Arc::clone(content);
    Backend::start(move |exchange| {
        if exchange.path() == path {
            exchange.ok(&content.lock().expect("no test panicked").clone());
        } else {
            exchange.answer("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
        }
        true
    })
}

fn write(content: &Lines, text: &str) {
    text.clone_into(&mut content.lock().expect("no test panicked"));
}

#[test]
fn a_load_page_is_fetched_and_a_broken_one_changes_nothing() {
    let content = Lines::default();
    write(&content, r#"{"cpu":0.25,"rooms":0.5,"rps":7,"host":"a"}"#);
    let backend = page("/load", &content);
    let settings = "[reports]\nkind = \"load\"\ninterval_ms = 100\n";
    let gateway = Gateway::start_with(&scenario(1, ""), &[backend.address], settings);
    gateway.await_metric("tidegate_upstream_load_ratio", &["resource=\"cpu\""], 0.25);
    gateway.await_metric("tidegate_upstream_load_ratio", &["resource=\"rooms\""], 0.5);
    for (text, result) in [("", "bad_json"), ("{\"cpu\":-1}", "negative"), ("{}", "empty")] {
        write(&content, text);
        await_that(result, SOON, || reports(&gateway, "load", result) >= 2.0);
        gateway.await_metric("tidegate_upstream_load_ratio", &["resource=\"cpu\""], 0.25);
    }
    write(&content, "{\"cpu\":0.75}");
    gateway.await_metric("tidegate_upstream_load_ratio", &["resource=\"cpu\""], 0.75);
    assert_eq!(server(&gateway)["up"], true);
}

#[test]
fn a_page_that_is_not_there_is_counted() {
    let backend = page("/load", &Lines::default());
    let settings = "[reports]\nkind = \"load\"\npath = \"/other\"\ninterval_ms = 100\n";
    let gateway = Gateway::start_with(&scenario(1, ""), &[backend.address], settings);
    await_that("404 is no report", SOON, || reports(&gateway, "load", "status") >= 2.0);
    assert_eq!(server(&gateway)["loads"]["cpu"], Value::Null);
    assert_eq!(server(&gateway)["up"], true);
}

#[test]
fn the_page_of_a_machine_is_fetched_twice_to_know_its_load() {
    let content = Lines::default();
    write(
        &content,
        "node_memory_MemAvailable_bytes 1e+09\nnode_memory_MemTotal_bytes 4e+09\n\
         node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 1000\n",
    );
    let backend = page("/metrics", &content);
    let port = backend.address.port();
    let settings = format!("[reports]\nkind = \"node_exporter\"\nport = {port}\ninterval_ms = 100\n");
    let gateway = Gateway::start_with(&scenario(1, ""), &[backend.address], &settings);
    gateway.await_metric("tidegate_upstream_load_ratio", &["resource=\"mem\""], 0.75);
    // Its one processor was never idle between two looks.
    gateway.await_metric("tidegate_upstream_load_ratio", &["resource=\"cpu\""], 1.0);
    assert!(backend.heads().len() >= 2);
}
