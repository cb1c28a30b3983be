//! Servers that come and go, on the wire: by the operator's API, by a file that is watched, by names, and by dying.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tidegate_tests::wire::{Backend, Client, Folder, Gateway, Latch, Origin, Response, binary, scenario};

const TOKEN: &str = "a-token-that-nobody-guesses";
/// No single thing takes longer than this in any test.
const LONGEST: Duration = Duration::from_secs(20);

/// A gateway whose servers are registered by its API, and the folder that its token is in.
struct Open {
    gateway: Gateway,
    folder: Folder,
}

impl Open {
    /// Three servers in the scenario, none there to begin with; `settings` for the `[registry]` table.
    fn start(settings: impl Fn(&Folder) -> String) -> Self {
        Self::start_with(&scenario(64, 1000, 3), &[], settings)
    }

    fn start_with(scenario: &str, upstreams: &[SocketAddr], settings: impl Fn(&Folder) -> String) -> Self {
        let folder = Folder::new();
        folder.write("token", format!("{TOKEN}\n"));
        let token = folder.path("token");
        let registry = settings(&folder);
        let text = format!("[registry]\nadmin_token_file = '{}'\n{registry}\n", token.display());
        Self { gateway: Gateway::start_with(scenario, upstreams, &text), folder }
    }

    /// Asks for something at the operator's address, with a token.
    fn ask(&self, token: Option<&str>, method: &str, path: &str, body: &str) -> Response {
        let mut client = Client::connect(self.gateway.admin);
        let token = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
        client.send(format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{token}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ));
        client.response_to(method)
    }

    #[track_caller]
    fn must(&self, method: &str, path: &str, body: &str, status: u16) -> Response {
        let response = self.ask(Some(TOKEN), method, path, body);
        assert_eq!(response.status, status, "{method} {path} {body}: {}", response.text());
        response
    }

    #[track_caller]
    fn register(&self, name: &str, backend: SocketAddr) {
        self.must("PUT", &format!("/servers/{name}"), &format!(r#"{{"url":"http://{backend}"}}"#), 201);
    }

    /// The servers, by name.
    fn servers(&self) -> Vec<Value> {
        let list = self.gateway.admin("/servers");
        assert_eq!(list.status, 200);
        serde_json::from_str::<Value>(&list.text()).unwrap().as_array().unwrap().clone()
    }

    fn names(&self) -> Vec<String> {
        self.servers().iter().map(|server| server["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Sends a GET over a connection of its own.
    fn get(&self, path: &str) -> Response {
        let mut client = self.gateway.connect();
        client.get(path);
        client.response()
    }

    /// How many of so many requests were answered by each of these backends (which answer with their name).
    fn answers<const N: usize>(&self, requests: usize, names: [&str; N]) -> [usize; N] {
        let mut counts = [0; N];
        for _ in 0..requests {
            let response = self.get("/");
            assert_eq!(response.status, 200, "{}", response.head);
            let text = response.text();
            let at = names.iter().position(|name| *name == text);
            counts[at.unwrap_or_else(|| panic!("an answer of {text}"))] += 1;
        }
        counts
    }
}

/// A backend that answers with its name; `/hold` waits for the latch and answers in two pieces around it.
fn backend(name: &'static str, latch: &Latch) -> Backend {
    let latch = latch.clone();
    Backend::start(move |exchange| {
        if exchange.path() == "/hold" {
            exchange.answer("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nslow");
            latch.wait();
            exchange.answer("ness");
        } else {
            exchange.ok(name);
        }
        true
    })
}

#[track_caller]
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONGEST, "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn without_a_server_clients_wait_and_are_told_when_to_come_back_until_one_registers() {
    let scenario = r#"{"tidegate":1,
        "classes":[{"name":"hasty","deadline_us":200000,"rules":[{"path":"/hasty"}]},{"name":"patient"}],
        "stages":[{"name":"serve","workers":8,"work":{"at":"servers"}}],"servers":[{"name":"x"}]}"#;
    let open = Open::start_with(scenario, &[], |_| String::new());
    assert_eq!(open.gateway.admin("/readyz").status, 503, "there is nothing to pass requests to");
    let refused = open.get("/hasty");
    assert_eq!(refused.status, 503, "{}", refused.head);
    let seconds: u64 = refused.header("retry-after").expect("when to come back").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    assert!(refused.header("proxy-status").unwrap().contains("no server is fit"), "{}", refused.head);

    let server = backend("first", &Latch::default());
    let mut waits = open.gateway.connect();
    waits.get("/");
    open.gateway.await_metric("tidegate_queue_depth", &[], 1.0);
    open.register("first", server.address);
    let answer = waits.response();
    assert_eq!((answer.status, answer.text().as_str()), (200, "first"), "whoever waited is served");
    assert_eq!(open.gateway.admin("/readyz").status, 200);
    let metrics = open.gateway.metrics();
    assert_eq!(metrics.sum("tidegate_upstream_picks_total", &["upstream=\"first\""]), 1.0);
    metrics.assert_adds_up();
}

#[test]
fn only_who_knows_the_token_changes_servers() {
    let open = Open::start(|_| String::new());
    let body = r#"{"url":"http://127.0.0.1:1"}"#;
    let long = format!("{TOKEN}x");
    for token in [None, Some("a-token-that-nobody-guesseS"), Some(&long), Some("")] {
        for (method, path) in [
            ("PUT", "/servers/a"),
            ("DELETE", "/servers/a"),
            ("POST", "/servers/a/drain"),
            ("POST", "/servers/a/undrain"),
            ("PUT", "/servers/a/load"),
        ] {
            let response = open.ask(token, method, path, body);
            assert_eq!(response.status, 401, "{method} {path} with {token:?}");
            assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        }
    }
    assert_eq!(open.names(), [""; 0], "nothing came of it");
    open.must("PUT", "/servers/a", body, 201);
    assert_eq!(open.names(), ["a"]);

    // Without a token there is no way in at all.
    let backend = Backend::echo();
    let shut =
        Open { gateway: Gateway::start(&scenario(8, 8, 1), &[backend.address]), folder: Folder::new() };
    let response = shut.ask(Some(TOKEN), "DELETE", "/servers/s0", "");
    assert_eq!(response.status, 403, "{}", response.text());
    assert!(response.text().contains("--admin-token-file"), "{}", response.text());
    assert_eq!(shut.names(), ["s0"], "who only looks needs none");
    assert_eq!(shut.get("/").status, 200);
}

#[test]
fn a_server_that_is_taken_off_finishes_what_it_has_and_gets_nothing_new() {
    let latch = Latch::default();
    let (old, new) = (backend("old", &latch), backend("new", &latch));
    let open = Open::start(|_| String::new());
    open.register("a", old.address);
    let mut slow = open.gateway.connect();
    slow.get("/hold");
    old.await_requests(1);
    open.must("DELETE", "/servers/a", "", 200);
    let listed = open.servers();
    assert_eq!(listed.len(), 1, "it is still to be seen: {listed:?}");
    assert_eq!(listed[0]["barred"], serde_json::json!(["gone"]));
    open.register("a", new.address);
    assert_eq!(open.answers(20, ["old", "new"]), [0, 20]);
    latch.open();
    let answer = slow.response();
    assert_eq!((answer.status, answer.text().as_str()), (200, "slowness"), "what was in work is finished");
    assert_eq!(old.heads().len(), 1);
    open.must("DELETE", "/servers/a", "", 200);
    open.must("DELETE", "/servers/a", "", 404);
    eventually("it is gone", || open.names().is_empty());
    open.gateway.metrics().assert_adds_up();
}

#[test]
fn a_number_that_is_used_again_has_nothing_of_the_one_before() {
    let latch = Latch::default();
    let open = Open::start(|_| String::new());
    // Every server gets the number, and idle connections, that the last one left behind.
    for n in 0..5 {
        let server = backend("here", &latch);
        open.register(&format!("s{n}"), server.address);
        assert_eq!(open.answers(5, ["here"]), [5]);
        assert_eq!(server.heads().len(), 5, "server {n} has answered, and nobody else");
        open.must("DELETE", &format!("/servers/s{n}"), "", 200);
    }
    let names = open.gateway.metrics();
    assert_eq!(names.sum("tidegate_upstream_up", &[]), 0.0, "nothing is left of them");
}

#[test]
fn a_drained_server_stays_on_the_list_and_comes_back() {
    let latch = Latch::default();
    let (a, b) = (backend("a", &latch), backend("b", &latch));
    let open = Open::start(|_| String::new());
    open.register("a", a.address);
    open.register("b", b.address);
    open.must("POST", "/servers/a/drain", "", 200);
    assert_eq!(open.answers(10, ["a", "b"]), [0, 10]);
    assert_eq!(open.names(), ["a", "b"]);
    assert_eq!(open.servers()[0]["barred"], serde_json::json!(["draining"]));
    open.must("POST", "/servers/a/undrain", "", 200);
    assert_eq!(open.answers(10, ["a", "b"]), [5, 5]);
    open.must("POST", "/servers/c/drain", "", 404);
}

#[test]
fn a_report_counts_as_a_heartbeat_and_silence_takes_a_server_out() {
    let latch = Latch::default();
    let (a, b) = (backend("a", &latch), backend("b", &latch));
    let scenario = r#"{"tidegate":1,"classes":[{"name":"all"}],
        "stages":[{"name":"serve","workers":8,"work":{"at":"servers"}}],
        "servers":[{"name":"x"}],"feedback":{"period_us":100000,"silence_us":5000000,"limit":0.9,"clear":0.8}}"#;
    let open = Open::start_with(scenario, &[], |_| String::new());
    open.register("a", a.address);
    open.register("b", b.address);
    let response = open.must("PUT", "/servers/a/load", r#"{"cpu":0.25,"rooms":0.5}"#, 200);
    let value: Value = serde_json::from_str(&response.text()).unwrap();
    assert_eq!((&value["loads"]["cpu"], &value["loads"]["rooms"]), (&0.25.into(), &0.5.into()), "{value}");
    open.must("PUT", "/servers/a/load", r#"{"cpu":-1}"#, 400);
    open.must("PUT", "/servers/a/load", "", 400);
    assert_eq!(open.servers()[0]["loads"]["cpu"], 0.25, "a bad report changes nothing");
    open.must("PUT", "/servers/a/load", r#"{"cpu":0.1,"mem":0.95}"#, 200);
    assert_eq!(open.answers(6, ["a", "b"]), [0, 6], "its memory is full");
    open.must("PUT", "/servers/a/load", r#"{"cpu":0.1,"mem":0.5}"#, 200);
    assert_eq!(open.answers(6, ["a", "b"]), [3, 3]);
    eventually("a server that reported falls silent", || {
        open.servers()[0]["barred"] == serde_json::json!(["silent"])
    });
    assert_eq!(open.answers(6, ["a", "b"]), [0, 6], "the other never reported, so its silence says nothing");
    open.must("PUT", "/servers/a/load", r#"{"cpu":0.1}"#, 200);
    assert_eq!(open.answers(6, ["a", "b"]), [3, 3], "it speaks again");
    let pushed = |result: &str| {
        let labels = ["source=\"pushed\"", result];
        open.gateway.metrics().sum("tidegate_load_reports_total", &labels)
    };
    assert_eq!((pushed("result=\"taken\""), pushed("result=\"negative\"")), (4.0, 1.0));
}

#[test]
fn weight_and_limit_can_be_changed_and_count() {
    let latch = Latch::default();
    let (a, b) = (backend("a", &latch), backend("b", &latch));
    let scenario = r#"{"tidegate":1,"classes":[{"name":"all"}],
        "stages":[{"name":"serve","workers":8,"work":{"at":"servers"}}],
        "servers":[{"name":"x"}],"balancer":{"policy":"weighted_round_robin"}}"#;
    let open = Open::start_with(scenario, &[], |_| String::new());
    open.must("PUT", "/servers/a", &format!(r#"{{"url":"http://{}","weight":3}}"#, a.address), 201);
    open.register("b", b.address);
    assert_eq!(open.answers(12, ["a", "b"]), [9, 3]);
    open.must("PUT", "/servers/a", &format!(r#"{{"url":"http://{}","weight":0}}"#, a.address), 200);
    assert_eq!(open.answers(6, ["a", "b"]), [0, 6]);
    let refused = open.must("PUT", "/servers/a", r#"{"url":"http://x","weight":-1}"#, 400);
    assert_eq!(refused.text(), "weight: a number from 0 to 65535, found -1\n");
    assert_eq!(open.servers()[0]["configured"]["weight"], 0.0);
}

/// A gateway with a servers file, its standard error, and the file's folder. Killed when dropped.
struct Watched {
    child: Child,
    errors: std::sync::mpsc::Receiver<String>,
    admin: SocketAddr,
    folder: Folder,
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watched {
    fn start(list: &str) -> Self {
        let folder = Folder::new();
        folder.write("servers", list);
        let mut child = Command::new(binary())
            .args(["serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--servers-file"])
            .arg(folder.path("servers"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("operator")).expect("it says where it is");
        let url = line.split_once("http://").unwrap().1;
        let admin = url.split([' ', '/']).next().unwrap().parse().unwrap();
        thread::spawn(move || lines.for_each(drop));
        let (tell, errors) = std::sync::mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Self { child, errors, admin, folder }
    }

    fn names(&self) -> Vec<String> {
        let mut client = Client::connect(self.admin);
        client.send("GET /servers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let list: Value = serde_json::from_str(&client.response().text()).unwrap();
        list.as_array().unwrap().iter().map(|server| server["name"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn a_servers_file_is_followed_and_a_bad_one_changes_nothing() {
    let watched = Watched::start("# two\na=http://127.0.0.1:1\nb=http://127.0.0.1:2 weight=2\n");
    eventually("both are there", || watched.names() == ["a", "b"]);
    watched.folder.write("servers", "b=http://127.0.0.1:2\nc=http://127.0.0.1:3 max=5\n");
    eventually("the list is followed", || watched.names() == ["c", "b"]);
    watched.folder.write("servers", "c=http://127.0.0.1:3\n\nd=127.0.0.1:4\n");
    let said = watched.errors.recv_timeout(LONGEST).expect("something is said about it");
    assert!(said.contains("servers, line 3: http://HOST or http://HOST:PORT, found d=127.0.0.1:4"), "{said}");
    assert_eq!(watched.names(), ["c", "b"], "the last good list stays");
    std::fs::remove_file(watched.folder.path("servers")).unwrap();
    let said = watched.errors.recv_timeout(LONGEST).expect("that it is gone is said, too");
    assert!(said.contains("No such file"), "{said}");
    assert_eq!(watched.names(), ["c", "b"]);
    watched.folder.write("servers", "d=http://127.0.0.1:4\n");
    eventually("a good list counts again", || watched.names() == ["d"]);
}

#[test]
fn a_bad_servers_file_to_begin_with_is_a_bad_setting() {
    let folder = Folder::new();
    folder.write("servers", "a=http://x weight=much\n");
    let output = Command::new(binary())
        .args(["serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--servers-file"])
        .arg(folder.path("servers"))
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("servers, line 1: weight=N with N from 0 to 65535, found weight=much"), "{said}");
}

#[test]
fn each_address_of_a_name_is_a_server_and_a_name_without_any_keeps_the_last_ones() {
    let latch = Latch::default();
    let server = backend("found", &latch);
    let port = server.address.port();
    let open = Open::start(|_| {
        format!("dns = ['http://127.0.0.1:{port} weight=2', 'http://nobody.invalid:80']\nresolve_ms = 200")
    });
    eventually("the address is a server", || open.names() == [format!("127.0.0.1:{port}")]);
    assert_eq!(open.answers(4, ["found"]), [4]);
    let listed = open.servers();
    assert_eq!((&listed[0]["from"], &listed[0]["configured"]["weight"]), (&"dns".into(), &2.0.into()));
    let refused = open.must("DELETE", &format!("/servers/127.0.0.1%3A{port}"), "", 409);
    assert!(refused.text().contains("from: dns"), "{}", refused.text());
    thread::sleep(Duration::from_millis(500));
    assert_eq!(open.names(), [format!("127.0.0.1:{port}")], "looked up again and again, it is the same");
}

#[test]
fn the_list_of_the_settings_may_be_shorter_where_servers_come_and_go() {
    let latch = Latch::default();
    let server = backend("listed", &latch);
    let open = Open::start_with(&scenario(8, 8, 3), &[server.address], |folder| {
        folder.write("servers", "extra=http://127.0.0.1:1\n");
        format!("servers_file = '{}'", folder.path("servers").display())
    });
    eventually("both are there", || open.names() == ["s0", "extra"]);
    open.must("POST", "/servers/extra/drain", "", 200);
    open.must("PUT", "/servers/extra", r#"{"url":"http://127.0.0.1:2"}"#, 409);
    assert_eq!(open.answers(4, ["listed"]), [4]);
    open.folder
        .write("servers", "# drained or not, it stays the same server\nextra=http://127.0.0.1:1 max=7\n");
    eventually("its limit is changed", || open.servers()[1]["max_in_flight"] == 7);
    assert_eq!(open.servers()[1]["barred"], serde_json::json!(["draining"]));
    // A name that somebody else has is the file's as soon as it is free.
    open.must("PUT", "/servers/later", r#"{"url":"http://127.0.0.1:8"}"#, 201);
    open.folder.write("servers", "extra=http://127.0.0.1:3\nlater=http://127.0.0.1:9\n");
    let url = |name: &str| {
        let servers = open.servers();
        let found = servers.iter().find(|server| server["name"] == name);
        found.map_or(String::new(), |server| server["url"].as_str().unwrap().to_owned())
    };
    eventually("the file is read", || url("extra") == "http://127.0.0.1:3/");
    assert_eq!(url("later"), "http://127.0.0.1:8/");
    open.must("DELETE", "/servers/later", "", 200);
    eventually("the file has its turn", || url("later") == "http://127.0.0.1:9/");
}

/// A program that listens; killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn any_port() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

const FAST: [&str; 2] = ["--service", "const:1ms"];

#[test]
fn a_server_that_dies_costs_no_answer_and_gets_its_share_back_slowly() {
    let [a, b] = [(); 2].map(|()| Origin::start(&FAST));
    let scenario = r#"{"tidegate":1,"classes":[{"name":"all"}],
        "stages":[{"name":"serve","workers":8,"work":{"at":"servers"}}],
        "servers":[{"name":"a"},{"name":"b"}],"balancer":{"policy":"round_robin"},
        "feedback":{"slow_start_us":60000000}}"#;
    let open = Open::start_with(scenario, &[a.address, b.address], |_| String::new());
    let picks = |name: &str| {
        let label = format!("upstream=\"{name}\"");
        open.gateway.metrics().sum("tidegate_upstream_picks_total", &[&label])
    };
    let up = |name: &str| {
        let label = format!("upstream=\"{name}\"");
        open.gateway.metrics().sum("tidegate_upstream_up", &[&label])
    };
    let mut client = open.gateway.connect();
    let mut ask = |requests: usize| {
        for _ in 0..requests {
            client.get("/");
            let response = client.response();
            assert_eq!(response.status, 200, "no client sees that a server died: {}", response.head);
        }
    };
    ask(10);
    assert!(picks("a") > 0.0 && picks("b") > 0.0, "both are used");
    let address = b.address;
    drop(b);
    ask(20);
    assert_eq!(up("b"), 0.0, "it was found out");
    let before = picks("b");
    ask(20);
    assert_eq!(picks("b"), before, "and gets nothing since");
    let _back = Origin::start_at(address, &FAST);
    eventually("it is brought back", || up("b") == 1.0);
    // Of a slow start of a minute, the first seconds are a tenth and a little more of its share.
    let (a_before, b_before) = (picks("a"), picks("b"));
    ask(200);
    let (a_got, b_got) = (picks("a") - a_before, picks("b") - b_before);
    assert!(b_got > 0.0, "it gets something");
    assert!(b_got < 0.35 * (a_got + b_got), "but not its half at once: {b_got} of {}", a_got + b_got);
    open.gateway.metrics().assert_adds_up();
}

#[test]
fn an_origin_says_its_load_in_all_forms() {
    let free = TcpListener::bind(any_port()).unwrap().local_addr().unwrap();
    for (form, header) in [
        ("text", Some("endpoint-load-metrics: text cpu_utilization=")),
        ("json", Some("endpoint-load-metrics: json {")),
        ("bin", Some("endpoint-load-metrics-bin: ")),
        ("none", None),
    ] {
        let mut child = Command::new(binary())
            .args(["origin", "--report", form, "--listen", &free.to_string(), "--agent-check", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        let line = lines.next().unwrap().unwrap();
        let _origin = Running(child);
        let mut client = Client::connect(free);
        client.get("/");
        let answer = client.response();
        let head = answer.head.to_lowercase();
        match header {
            Some(header) => assert!(head.contains(header), "{form}: {head}"),
            None => assert!(!head.contains("endpoint-load"), "{form}: {head}"),
        }
        client.get("/load");
        let load: Value = serde_json::from_str(&client.response().text()).unwrap();
        assert!((0.0..=1.0).contains(&load["cpu"].as_f64().unwrap()), "{load}");
        assert!(load["rps"].as_f64().unwrap() > 0.0, "{load}");
        let checks: SocketAddr = line.rsplit_once(' ').unwrap().1.parse().unwrap();
        let mut said = String::new();
        TcpStream::connect(checks).unwrap().read_to_string(&mut said).unwrap();
        assert!(said.ends_with("% ready up\n"), "{said:?}");
    }
}

#[test]
fn an_agent_says_how_loaded_this_machine_is() {
    let folder = Folder::new();
    folder.write("rooms", "25\n");
    let mut child = Command::new(binary())
        .args(["agent", "--listen", "127.0.0.1:0", "--agent-check", "127.0.0.1:0", "--interval", "0.1"])
        .args(["--net-speed", "1000", "--rooms-limit", "100", "--rooms-file"])
        .arg(folder.path("rooms"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (first, second) = (lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap());
    let address = first.split_once("http://").unwrap().1.trim_end_matches("/load").parse().unwrap();
    let agent = Running(child);
    let load = || {
        let mut client = Client::connect(address);
        client.get("/load");
        let answer = client.response();
        assert_eq!(answer.status, 200);
        assert!(answer.header("endpoint-load-metrics").unwrap().starts_with("TEXT "), "{}", answer.head);
        serde_json::from_str::<Value>(&answer.text()).unwrap()
    };
    eventually("two looks make a rate", || load()["cpu"].is_number());
    let loads = load();
    assert_eq!(loads["rooms"], 0.25);
    for (name, load) in loads.as_object().unwrap() {
        assert!((0.0..=1.0).contains(&load.as_f64().unwrap()), "{name}: {loads}");
    }
    assert!(loads["mem"].as_f64().unwrap() > 0.0, "something is always in memory: {loads}");
    let checks: SocketAddr = second.rsplit_once(' ').unwrap().1.parse().unwrap();
    let check = || {
        let mut said = String::new();
        TcpStream::connect(checks).unwrap().read_to_string(&mut said).unwrap();
        said
    };
    assert!(check().ends_with("% ready up\n"), "{}", check());
    let signal = |name: &str| {
        let status = Command::new("kill").args([&format!("-{name}"), &agent.0.id().to_string()]).status();
        assert!(status.unwrap().success());
    };
    signal("USR1");
    eventually("it asks for nothing new", || check().ends_with("% drain up\n"));
    signal("USR2");
    eventually("and takes that back", || check().ends_with("% ready up\n"));
}

#[test]
fn the_servers_of_a_demonstration_report_where_the_scenario_goes_by_reports() {
    let folder = Folder::new();
    folder.write(
        "scenario.json",
        r#"{"tidegate":1,
        "classes":[{"name":"all","service":{"law":"constant","mean_us":5000},"load":{"kind":"poisson","rate_per_s":50}}],
        "stages":[{"name":"serve","workers":8,"work":{"at":"servers"}}],
        "servers":[{"name":"a","slots":2},{"name":"b","slots":2}],"balancer":{"policy":"dnf"}}"#,
    );
    let reported = |gateway: &Gateway| {
        let state: Value = serde_json::from_str(&gateway.admin("/state").text()).unwrap();
        let servers = state["frame"]["servers"].as_array().unwrap();
        assert!(!servers.is_empty());
        servers.iter().filter(|server| server["loads"]["cpu"].is_number()).count()
    };
    let gateway = Gateway::demo_of(&folder.path("scenario.json"));
    eventually("both have reported", || reported(&gateway) == 2);
}
