//! The gateway on the wire: what broke other proxies must not break this one.
//!
//! Numbers name the cases: smuggling (01), chunk sizes (03), `Expect` (06), bodyless answers (07), stale pooled
//! connections (08), refusals during an upload (10), pipelining (12), slow heads (13), clients that leave (16).

use std::thread;
use std::time::{Duration, Instant};

use tidegate_tests::wire::{Backend, Client, Client2, Gateway, Latch, Response, header, scenario};

/// A gateway with room for everybody in front of one backend.
fn open(backend: &Backend) -> Gateway {
    Gateway::start(&scenario(64, 1000, 1), &[backend.address])
}

/// A gateway whose one worker is taken by a request for `/hold`, with no room to wait. The client must be kept.
fn shut(backend: &Backend) -> (Gateway, Client) {
    let gateway = Gateway::start(&scenario(1, 0, 1), &[backend.address]);
    let mut holder = gateway.connect();
    holder.get("/hold");
    backend.await_requests(1);
    (gateway, holder)
}

/// Answers `/hold` when the latch is open, and everything else at once.
fn holding() -> (Backend, Latch) {
    let latch = Latch::default();
    let hold = latch.clone();
    let backend = Backend::start(move |exchange| {
        let path = exchange.path().to_owned();
        if path == "/hold" {
            hold.wait();
        }
        exchange.ok(&path);
        true
    });
    (backend, latch)
}

/// What was asked for, in the order in which the backend saw it.
fn paths(backend: &Backend) -> Vec<String> {
    backend.heads().iter().map(|head| head.split(' ').nth(1).unwrap_or_default().to_owned()).collect()
}

fn assert_refused(response: &Response) {
    assert_eq!(response.status, 503, "{}", response.head);
    let seconds: u32 = response.header("retry-after").expect("Retry-After").parse().expect("whole seconds");
    assert!((1..=60).contains(&seconds), "{seconds}");
    let reason = response.header("proxy-status").expect("a reason");
    assert_eq!(reason, "tidegate; error=http_request_denied; details=\"full\"");
}

#[test]
fn case_01_a_length_beside_chunks_smuggles_nothing() {
    let backend = Backend::echo();
    let gateway = open(&backend);
    for request in [
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 13\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\nGPOST /admin HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 15\r\n\r\nx=1\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n2d\r\nGET /gotcha HTTP/1.1\r\nHost: a\r\nFoo: bar\r\nX: y\r\n0\r\n\r\nGET /gotcha HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n1234GET /admin HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\nHost: a\r\n\r\n",
    ] {
        let mut client = gateway.connect();
        client.send(request);
        if let Some(response) = client.try_response("POST") {
            assert!(matches!(response.status, 200 | 400 | 501), "{}: {request:?}", response.head);
        }
        assert!(client.is_closed(), "closed after {request:?}");
    }
    for head in backend.heads() {
        assert!(head.starts_with("POST / "), "smuggled: {head}");
        let lengths = head.to_lowercase().matches("content-length").count();
        let chunked = usize::from(head.to_lowercase().contains("transfer-encoding"));
        assert!(lengths + chunked <= 1, "one length only: {head}");
    }
}

#[test]
fn case_03_chunk_sizes_are_hexadecimal_digits_and_nothing_else() {
    let backend = Backend::echo();
    let gateway = open(&backend);
    let post = |path: &str, body: &str| {
        let mut client = gateway.connect();
        client.send(format!("POST {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
        client
    };
    for body in [
        "0_2e\r\n",
        "0x5\r\nabcde\r\n0\r\n\r\n",
        "+5\r\nabcde\r\n0\r\n\r\n",
        "-1\r\n",
        "\r\nabcde\r\n0\r\n\r\n",
        "5 5\r\nabcde\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFFF\r\nabcde\r\n0\r\n\r\n",
        "4\r\nSEE-THIS\r\n0\r\n\r\n",
        "5\nabcde\r\n0\r\n\r\n",
        "5;x\nabcde\r\n0\r\n\r\n",
    ] {
        let mut client = post("/bad", body);
        let response = client.response();
        assert_eq!(response.status, 400, "{} for {body:?}", response.head);
        assert!(client.is_closed(), "closed after {body:?}");
    }
    for (body, content) in [
        ("5;ext=1\r\nabcde\r\n0\r\n\r\n", "abcde"),
        ("0005\r\nabcde\r\n0\r\n\r\n", "abcde"),
        ("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
        ("1\r\nx\r\n0\r\nTrailer: yes\r\n\r\n", "x"),
    ] {
        let before = backend.bytes().len();
        let mut client = post("/good", body);
        assert_eq!(client.response().status, 200, "{body:?}");
        assert_eq!(backend.bytes()[before..], *content.as_bytes(), "{body:?}");
        client.get("/next");
        assert_eq!(client.response().text(), "/next", "the connection goes on after {body:?}");
    }
    gateway.metrics().assert_adds_up();
}

/// Size lines made from a small alphabet: every one is taken exactly if the grammar has it.
#[test]
fn case_03_the_lines_that_are_taken_are_those_of_the_grammar() {
    let backend = Backend::echo();
    let gateway = open(&backend);
    let mut taken = 0;
    for n in 0..1500_u64 {
        let mut bits = tidegate_core::unit::mix(n);
        let mut line = String::new();
        for _ in 0..1 + bits % 4 {
            bits = tidegate_core::unit::mix(bits);
            line.push(char::from(b"0127aF;= x+_\t"[(bits % 13) as usize]));
        }
        // chunk-size [chunk-ext]; spaces before an extension are bad but common (RFC 9112, 7.1.1).
        let size: String = line.chars().take_while(char::is_ascii_hexdigit).collect();
        let rest = line[size.len()..].trim_start_matches([' ', '\t']);
        let fits = !size.is_empty() && (rest.is_empty() || rest.starts_with(';'));
        let length = usize::from_str_radix(&size, 16).unwrap_or(0);
        let body = if length == 0 { String::new() } else { format!("{}\r\n0\r\n", "y".repeat(length)) };
        let mut client = gateway.connect();
        client.send(format!(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{line}\r\n{body}\r\n"
        ));
        let status = client.response().status;
        assert_eq!(status, if fits { 200 } else { 400 }, "size line {line:?}");
        taken += usize::from(fits);
    }
    assert!(taken > 100, "enough of both, found {taken}");
}

#[test]
fn case_06_expect_is_asked_of_the_server_and_never_of_the_refused() {
    let backend = Backend::start(|exchange| {
        match exchange.path() {
            "/refuses" => {
                exchange.answer("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nno\n");
                return true;
            }
            "/agrees" => exchange.answer("HTTP/1.1 100 Continue\r\n\r\n"),
            _ => (),
        }
        let Some(body) = exchange.body() else { return false };
        exchange.ok(&body.len().to_string());
        true
    });
    let gateway = open(&backend);
    let put = |path: &str, expect: &str| {
        let mut client = gateway.connect();
        client.send(format!(
            "PUT {path} HTTP/1.1\r\nHost: a\r\nExpect: {expect}\r\nContent-Length: 50000\r\n\r\n"
        ));
        client
    };

    let mut client = put("/refuses", "100-continue");
    assert_eq!(client.response().status, 413, "no 100 before it");
    assert!(client.is_closed());

    for (path, expect) in
        [("/agrees", "100-continue"), ("/silent", "100-continue"), ("/agrees", "100-Continue")]
    {
        let mut client = put(path, expect);
        assert_eq!(client.response().status, 100, "{path}");
        client.send(vec![b'x'; 50_000]);
        assert_eq!(client.response().text(), "50000", "{path}");
        client.get("/next");
        assert_eq!(client.response().status, 200, "the connection goes on after {path}");
    }

    let mut client = gateway.connect();
    client.send("PUT /old HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!(client.response().status, 200, "no 100 to HTTP/1.0");

    assert_eq!(put("/", "x").response().status, 417);

    let (holding, _latch) = holding();
    let (gateway, _holder) = shut(&holding);
    let mut client = gateway.connect();
    client.send("PUT /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n");
    let response = client.response();
    assert_refused(&response);
    assert_eq!(response.header("connection"), Some("close"));
    assert!(client.is_closed());
    assert_eq!(holding.heads().len(), 1, "only the holder reached the server");
}

#[test]
fn case_07_answers_without_content_end_at_the_blank_line() {
    let backend = Backend::start(|exchange| {
        let answer = match exchange.path() {
            "/chunked" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "/length" => "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
            "/304-chunked" => "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
            "/304-length" => "HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\n\r\n",
            "/204" => "HTTP/1.1 204 No Content\r\n\r\n",
            "/rogue" => "HTTP/1.1 304 Not Modified\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison",
            _ => {
                exchange.ok("own");
                return true;
            }
        };
        exchange.answer(answer);
        true
    });
    let gateway = open(&backend);
    let mut client = gateway.connect();
    for (method, path, status) in [
        ("HEAD", "/chunked", 200),
        ("HEAD", "/length", 200),
        ("GET", "/304-chunked", 304),
        ("GET", "/204", 204),
        ("GET", "/304-length", 304),
        ("GET", "/rogue", 304),
    ] {
        for _ in 0..20 {
            client.send(format!(
                "{method} {path} HTTP/1.1\r\nHost: a\r\n\r\nGET /own HTTP/1.1\r\nHost: a\r\n\r\n"
            ));
            let response = client.response_to(method);
            assert_eq!(response.status, status, "{method} {path}");
            assert_ne!(response.header("content-length"), Some("0"), "{path}: {}", response.head);
            if status != 200 {
                assert_eq!(response.header("transfer-encoding"), None, "{path}: {}", response.head);
            }
            if path == "/length" {
                assert_eq!(response.header("content-length"), Some("9"));
            }
            assert_eq!(client.response().text(), "own", "after {method} {path}");
        }
    }
    assert!(backend.connections() <= 21, "only the rogue's are given up, found {}", backend.connections());
}

#[test]
fn case_08_a_connection_the_server_closed_costs_no_request() {
    // It answers, then closes without a word, as one whose keep-alive time is over.
    let fickle = Backend::start(|exchange| {
        exchange.ok("once");
        thread::sleep(Duration::from_millis(2));
        false
    });
    let gateway = open(&fickle);
    let mut client = gateway.connect();
    for n in 0..200 {
        client.get("/");
        let response = client.response();
        assert_eq!(response.status, 200, "request {n}: {}", response.head);
        // Around the very moment it closes.
        thread::sleep(Duration::from_micros(n * 20));
    }
    let metrics = gateway.metrics();
    assert_eq!(metrics.sum("tidegate_arrivals_total", &[]), 200.0, "a retry is no arrival");
    assert_eq!(metrics.sum("tidegate_requests_total", &["outcome=\"completed\""]), 200.0);
    metrics.assert_adds_up();
}

#[test]
fn case_08_a_server_that_is_gone_is_left_out_until_it_is_back() {
    let steady = Backend::echo();
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gateway = Gateway::start(&scenario(8, 100, 2), &[gone, steady.address]);
    let mut client = gateway.connect();
    for _ in 0..50 {
        client.get("/");
        assert_eq!(client.response().status, 200);
    }
    assert_eq!(gateway.metrics().sum("tidegate_upstream_up", &["upstream=\"s0\""]), 0.0);
    let back = std::net::TcpListener::bind(gone).unwrap();
    gateway.await_metric("tidegate_upstream_up", &["upstream=\"s0\""], 1.0);
    drop(back);
    gateway.metrics().assert_adds_up();
}

#[test]
fn case_10_a_refusal_can_be_read_while_the_body_is_still_coming() {
    let (backend, _latch) = holding();
    let (gateway, _holder) = shut(&backend);
    let chunk = format!("{:x}\r\n{}\r\n", 65_536, "x".repeat(65_536));
    let bodies = [
        (format!("Content-Length: {}", 60_000), "x".repeat(60_000)),
        (format!("Content-Length: {}", 5_000_000), "x".repeat(5_000_000)),
        ("Transfer-Encoding: chunked".to_owned(), chunk.repeat(16) + "0\r\n\r\n"),
    ];
    for (length, body) in &bodies {
        for _ in 0..20 {
            let mut client = gateway.connect();
            client.send(format!("POST / HTTP/1.1\r\nHost: a\r\n{length}\r\n\r\n"));
            // A client that looks for an answer only when it has sent everything.
            client.try_send(body);
            client.try_send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            let response = client.response();
            assert_refused(&response);
            if response.header("connection") != Some("close") {
                assert_refused(&client.response());
            } else {
                assert!(client.is_closed());
            }
        }
    }
    let metrics = gateway.metrics();
    metrics.assert_adds_up();
    assert_eq!(backend.heads().len(), 1, "only the holder reached the server");
}

#[test]
fn case_12_answers_come_in_the_order_of_the_questions() {
    let backend = Backend::start(|exchange| {
        let path = exchange.path().to_owned();
        if path.contains("slow") {
            thread::sleep(Duration::from_millis(100));
        }
        exchange.ok(&path);
        true
    });
    let gateway = open(&backend);
    let mut client = gateway.connect();
    client.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /high/fast HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.response().text(), "/slow");
    assert_eq!(client.response().text(), "/high/fast");

    let many: String = (0..50).map(|n| format!("GET /{n} HTTP/1.1\r\nHost: a\r\n\r\n")).collect();
    client.send(&many);
    for n in 0..50 {
        assert_eq!(client.response().text(), format!("/{n}"));
    }

    let two = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /3 HTTP/1.1\r\nHost: a\r\n\r\n";
    for cut in 1..two.len() {
        client.send(&two[..cut]);
        if cut % 8 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        client.send(&two[cut..]);
        for path in ["/1", "/2", "/3"] {
            assert_eq!(client.response().text(), path, "cut at {cut}");
        }
    }
}

#[test]
fn case_13_a_head_has_its_time_and_a_pause_has_another() {
    let backend = Backend::echo();
    let gateway =
        Gateway::start_with(&scenario(8, 100, 1), &[backend.address], "[limits]\nheader_timeout_ms = 1000\n");
    let mut mute: Vec<_> = (0..50).map(|_| gateway.connect()).collect();
    let mut drip: Vec<_> = (0..20).map(|_| gateway.connect()).collect();
    let mut idle: Vec<_> = (0..20).map(|_| gateway.connect()).collect();
    let mut again = gateway.connect();
    for client in idle.iter_mut().chain([&mut again]) {
        client.get("/done");
        assert_eq!(client.response().status, 200);
    }
    again.send("GET /half");
    for byte in b"GET / HTTP/1.1\r\n".chunks(2).take(5) {
        for client in &mut drip {
            client.try_send(byte);
        }
        thread::sleep(Duration::from_millis(400));
        let mut client = gateway.connect();
        client.get("/normal");
        assert_eq!(client.response().status, 200, "others are served meanwhile");
    }
    for client in mute.iter_mut().chain(&mut drip).chain([&mut again]) {
        let begun = Instant::now();
        client.rest();
        assert!(begun.elapsed() < Duration::from_secs(1), "closed long ago");
    }
    for client in &mut idle {
        assert!(client.is_silent_for(Duration::from_millis(5)), "a pause is no slow head");
        client.get("/later");
        assert_eq!(client.response().status, 200);
    }
    let metrics = gateway.metrics();
    assert_eq!(metrics.sum("tidegate_arrivals_total", &[]), 21.0 + 5.0 + 20.0, "no half head is an arrival");
    metrics.assert_adds_up();
}

#[test]
fn case_16_whoever_leaves_frees_its_place_at_once() {
    let (backend, latch) = holding();
    let gateway = Gateway::start(&scenario(1, 100, 1), &[backend.address]);
    let mut holder = gateway.connect();
    holder.get("/hold");
    backend.await_requests(1);
    let mut waiting: Vec<_> = (0..49).map(|_| gateway.connect()).collect();
    for (n, client) in waiting.iter_mut().enumerate() {
        match n % 3 {
            0 => client.get("/waits"),
            // What lies unread must not hide that its sender is gone.
            1 => client
                .send("GET /waits HTTP/1.1\r\nHost: a\r\n\r\nGET /pipelined HTTP/1.1\r\nHost: a\r\n\r\n"),
            _ => client.send("POST /waits HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nsome of it"),
        }
    }
    gateway.await_metric("tidegate_queue_depth", &[], 49.0);
    drop(waiting);
    gateway.await_metric("tidegate_queue_depth", &[], 0.0);
    assert_eq!(gateway.metrics().sum("tidegate_requests_total", &["outcome=\"cancelled\""]), 49.0);
    let mut late = gateway.connect();
    late.get("/late");
    gateway.await_metric("tidegate_queue_depth", &[], 1.0);
    latch.open();
    assert_eq!(holder.response().status, 200);
    assert_eq!(late.response().status, 200);
    assert_eq!(backend.heads().len(), 2, "nobody who left reached the server");
    let metrics = gateway.metrics();
    assert_eq!(metrics.sum("tidegate_requests_total", &["outcome=\"shed\""]), 0.0);
    assert_eq!(metrics.sum("tidegate_wait_seconds_count", &[]), 2.0, "only the served are in the mean");
    metrics.assert_adds_up();
}

#[test]
fn a_client_that_leaves_in_the_middle_of_its_answer_frees_the_worker() {
    let backend = Backend::start(|exchange| {
        exchange.answer("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
        while exchange.client.try_send(vec![b'x'; 65_536]) {}
        false
    });
    let gateway = Gateway::start(&scenario(1, 100, 1), &[backend.address]);
    let mut client = gateway.connect();
    client.get("/");
    client.take(100_000);
    drop(client);
    gateway.await_metric("tidegate_workers_busy", &[], 0.0);
    gateway.await_metric("tidegate_requests_total", &["outcome=\"cancelled\""], 1.0);
}

#[test]
fn a_client_that_leaves_while_the_server_works_calls_the_work_off() {
    let called_off = Latch::default();
    let tell = called_off.clone();
    let backend = Backend::start(move |exchange| {
        exchange.client.rest();
        tell.open();
        false
    });
    let gateway = open(&backend);
    let mut client = gateway.connect();
    client.get("/");
    backend.await_requests(1);
    drop(client);
    gateway.await_metric("tidegate_workers_busy", &[], 0.0);
    assert!(called_off.wait(), "the server is told by the end of its connection");
}

/// Clients that break off anywhere, servers that break off anywhere: in the end nothing is left over.
#[test]
fn whatever_breaks_off_nothing_is_left_over() {
    let backend = || {
        Backend::start(|exchange| {
            let path = exchange.path().to_owned();
            if !path.ends_with("/early") && exchange.body().is_none() {
                return false;
            }
            match path.rsplit('/').next() {
                Some("slow") => thread::sleep(Duration::from_millis(5)),
                Some("break") => return false,
                Some("half") => {
                    exchange.answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
                    return false;
                }
                Some("big") => {
                    exchange.answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                    let chunk = format!("10000\r\n{}\r\n", "x".repeat(65_536)).repeat(8);
                    exchange.answer(chunk + "0\r\n\r\n");
                    return true;
                }
                _ => (),
            }
            exchange.ok(&path);
            true
        })
    };
    let (one, two) = (backend(), backend());
    let gateway = Gateway::start(&scenario(4, 10, 2), &[one.address, two.address]);
    thread::scope(|scope| {
        for seed in 0..24 {
            let gateway = &gateway;
            scope.spawn(move || {
                let mut bits = seed;
                let mut draw = |below: u64| {
                    bits = tidegate_core::unit::mix(bits);
                    bits % below
                };
                for _ in 0..40 {
                    let mut client = gateway.connect();
                    let level = ["", "/high"][draw(2) as usize];
                    let kind = ["ok", "slow", "break", "half", "big", "early"][draw(6) as usize];
                    let length = [0, 10, 100_000][draw(3) as usize];
                    let whole = format!(
                        "POST {level}/{kind} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{}",
                        "x".repeat(length)
                    );
                    if draw(3) == 0 {
                        client.try_send(&whole[..draw(whole.len() as u64) as usize]);
                    } else {
                        client.try_send(&whole);
                        if draw(3) > 0 {
                            client.rest_of_some(1 + draw(2000) as usize);
                        }
                    }
                }
            });
        }
    });
    gateway.await_metric("tidegate_in_system", &[], 0.0);
    let metrics = gateway.metrics();
    for gauge in ["tidegate_queue_depth", "tidegate_workers_busy", "tidegate_upstream_in_flight"] {
        assert_eq!(metrics.sum(gauge, &[]), 0.0, "{gauge}");
    }
    for outcome in ["completed", "shed", "failed", "cancelled"] {
        let count = metrics.sum("tidegate_requests_total", &[&format!("outcome=\"{outcome}\"")]);
        assert!(count > 0.0, "some are {outcome}");
    }
    metrics.assert_adds_up();
}

#[test]
fn fields_of_one_hop_stay_and_what_strangers_say_of_themselves_is_not_believed() {
    let backend = Backend::start(|exchange| {
        exchange.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: X-Secret\r\nX-Secret: 1\r\nKeep-Alive: timeout=5\r\nX-Kept: yes\r\n\r\n");
        true
    });
    let send = |gateway: &Gateway| {
        let mut client = gateway.connect();
        client.send("GET /p?q=1 HTTP/1.1\r\nHost: shop.example:81\r\nConnection: X-Hop, keep-alive\r\nX-Hop: 1\r\nTE: trailers\r\nX-Forwarded-For: 1.1.1.1\r\nX-Forwarded-Proto: https\r\nForwarded: for=1.1.1.1\r\nTidegate-Class: high\r\nAccept: */*\r\n\r\n");
        let response = client.response();
        (response, backend.heads().pop().expect("a request"))
    };
    let gateway = open(&backend);
    let (response, head) = send(&gateway);
    assert!(head.starts_with("GET /p?q=1 HTTP/1.1\r\n"), "{head}");
    for (name, value) in [
        ("host", Some("shop.example:81")),
        ("x-hop", None),
        ("te", None),
        ("x-forwarded-for", Some("127.0.0.1")),
        ("x-forwarded-proto", Some("http")),
        ("x-forwarded-host", Some("shop.example:81")),
        ("forwarded", Some("for=127.0.0.1;proto=http")),
        ("tidegate-class", Some("low")),
        ("via", Some("1.1 tidegate")),
        ("accept", Some("*/*")),
    ] {
        assert_eq!(header(&head, name), value, "{name} in {head}");
    }
    for (name, value) in
        [("x-secret", None), ("keep-alive", None), ("x-kept", Some("yes")), ("via", Some("1.1 tidegate"))]
    {
        assert_eq!(response.header(name), value, "{name} in {}", response.head);
    }
    assert!(response.header("server-timing").is_some_and(|timing| timing.starts_with("queue;dur=")));

    let trusting =
        Gateway::start_with(&scenario(8, 100, 1), &[backend.address], "trusted = [\"127.0.0.0/8\"]\n");
    let (_, head) = send(&trusting);
    assert_eq!(header(&head, "x-forwarded-for"), Some("1.1.1.1, 127.0.0.1"), "{head}");
    assert_eq!(header(&head, "x-forwarded-proto"), Some("https"), "{head}");
}

#[test]
fn a_bad_head_is_refused_before_anybody_is_asked() {
    let backend = Backend::echo();
    let gateway = open(&backend);
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 501),
        ("nonsense\r\n\r\n", 400),
    ] {
        let mut client = gateway.connect();
        client.send(request);
        assert_eq!(client.response().status, status, "{request:?}");
        assert!(client.is_closed(), "{request:?}");
    }
    let mut client = gateway.connect();
    client.send(format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(100_000)));
    assert_eq!(client.response().status, 431);
    assert!(backend.heads().is_empty());
    let mut client = gateway.connect();
    client.send("GET http://inside.example/x HTTP/1.1\r\nHost: outside.example\r\n\r\n");
    assert_eq!(client.response().text(), "/x");
    assert_eq!(header(&backend.heads()[0], "host"), Some("inside.example"), "the target's authority counts");
}

#[test]
fn a_deadline_that_passes_in_the_queue_is_a_timeout_and_reaches_no_server() {
    let (backend, _latch) = holding();
    let scenario = scenario(1, 100, 1).replace("\"name\":\"low\"", "\"name\":\"low\",\"deadline_us\":100000");
    let gateway = Gateway::start(&scenario, &[backend.address]);
    let mut holder = gateway.connect();
    holder.get("/hold");
    backend.await_requests(1);
    let mut client = gateway.connect();
    client.get("/");
    let response = client.response();
    assert_eq!(response.status, 504);
    assert!(response.header("proxy-status").is_some_and(|reason| reason.contains("deadline")));
    assert_eq!(backend.heads().len(), 1);
    let metrics = gateway.metrics();
    assert_eq!(metrics.sum("tidegate_shed_total", &["class=\"low\"", "reason=\"deadline\""]), 1.0);
    metrics.assert_adds_up();
}

#[test]
fn a_server_that_breaks_off_is_502_or_a_cut_answer_and_never_a_whole_one() {
    let backend = Backend::start(|exchange| {
        match exchange.path() {
            "/nothing" => (),
            "/nonsense" => exchange.answer("what?\r\n\r\n"),
            "/half" => exchange.answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
            _ => exchange.ok("whole"),
        }
        exchange.path() == "/"
    });
    let gateway = open(&backend);
    for path in ["/nothing", "/nonsense"] {
        let mut client = gateway.connect();
        client.get(path);
        assert_eq!(client.response().status, 502, "{path}");
        client.get("/");
        assert_eq!(client.response().text(), "whole", "the client's connection goes on after {path}");
    }
    let mut client = gateway.connect();
    client.get("/half");
    let rest = client.rest();
    assert!(rest.ends_with(b"half"), "{:?}", String::from_utf8_lossy(&rest));
    let metrics = gateway.metrics();
    assert_eq!(metrics.sum("tidegate_requests_total", &["outcome=\"failed\""]), 3.0);
    metrics.assert_adds_up();
    let posts = backend.heads().iter().filter(|head| head.starts_with("GET /nothing")).count();
    assert!(posts <= 2, "sent again once at most, found {posts}");
    let mut client = gateway.connect();
    client.send("POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
    assert_eq!(client.response().status, 502);
    let posts = backend.heads().iter().filter(|head| head.starts_with("POST")).count();
    assert_eq!(posts, 1, "what may have been done is not done again");
}

#[test]
fn the_urgent_go_first() {
    let (backend, latch) = holding();
    let gateway = Gateway::start(&scenario(1, 100, 1), &[backend.address]);
    let mut clients: Vec<_> = (0..5).map(|_| gateway.connect()).collect();
    for (n, (client, path)) in
        clients.iter_mut().zip(["/hold", "/low/1", "/low/2", "/high/1", "/high/2"]).enumerate()
    {
        client.get(path);
        gateway.await_metric("tidegate_in_system", &[], (n + 1) as f64);
    }
    latch.open();
    for client in &mut clients {
        assert_eq!(client.response().status, 200);
    }
    assert_eq!(paths(&backend), ["/hold", "/high/1", "/high/2", "/low/1", "/low/2"]);
}

#[test]
fn a_drain_finishes_what_is_in_work_and_takes_nothing_new() {
    let (backend, latch) = holding();
    let mut gateway = open(&backend);
    assert_eq!(gateway.admin("/readyz").status, 200);
    let mut idle = gateway.connect();
    let mut client = gateway.connect();
    client.get("/hold");
    gateway.await_metric("tidegate_in_system", &[], 1.0);
    gateway.signal("TERM");
    gateway.await_metric("tidegate_draining", &[], 1.0);
    assert_eq!(gateway.admin("/readyz").status, 503);
    assert_eq!(gateway.admin("/livez").status, 200);
    gateway.await_closed_door();
    assert!(idle.is_closed(), "an idle connection is closed at once");
    latch.open();
    assert_eq!(client.response().text(), "/hold");
    assert!(client.is_closed());
    assert!(gateway.ended().success(), "exit status 0");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let (backend, _latch) = holding();
    let (mut gateway, mut holder) = shut(&backend);
    gateway.signal("INT");
    gateway.await_metric("tidegate_draining", &[], 1.0);
    gateway.signal("INT");
    gateway.ended();
    assert!(holder.is_closed());
}

#[test]
fn a_tunnel_passes_bytes_both_ways_and_holds_its_worker() {
    let backend = Backend::start(|exchange| {
        assert_eq!(header(&exchange.head, "upgrade"), Some("websocket"));
        exchange.answer(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello",
        );
        let said = exchange.client.take(5);
        exchange.answer(&said);
        exchange.client.rest();
        false
    });
    let gateway = open(&backend);
    let mut client = gateway.connect();
    client.send("GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    let response = client.response();
    assert_eq!(response.status, 101);
    assert_eq!(response.header("upgrade"), Some("websocket"));
    assert_eq!(client.take(5), b"hello");
    client.send("12345");
    assert_eq!(client.take(5), b"12345");
    gateway.await_metric("tidegate_workers_busy", &[], 1.0);
    drop(client);
    gateway.await_metric("tidegate_workers_busy", &[], 0.0);
    gateway.metrics().assert_adds_up();
}

#[test]
fn http2_comes_in_on_the_same_port_and_its_streams_wait_by_themselves() {
    const OK: u8 = 0x88; // :status 200 in HPACK's table
    let (backend, latch) = holding();
    let gateway = Gateway::start(&scenario(1, 100, 1), &[backend.address]);
    let mut client = Client2::connect(gateway.address);
    client.get(1, "/hold");
    gateway.await_metric("tidegate_workers_busy", &[], 1.0);
    for (stream, path) in [(3, "/low"), (5, "/leaves"), (7, "/high/x")] {
        client.get(stream, path);
    }
    gateway.await_metric("tidegate_queue_depth", &[], 3.0);
    client.reset(5);
    gateway.await_metric("tidegate_queue_depth", &[], 2.0);
    gateway.await_metric("tidegate_requests_total", &["outcome=\"cancelled\""], 1.0);
    latch.open();
    let mut answers = [(); 3].map(|()| client.response().expect("an answer"));
    answers.sort();
    let want = [(1, OK, b"/hold".to_vec()), (3, OK, b"/low".to_vec()), (7, OK, b"/high/x".to_vec())];
    assert_eq!(answers, want);
    assert_eq!(paths(&backend), ["/hold", "/high/x", "/low"], "the urgent one overtakes");
    assert_eq!(header(&backend.heads()[0], "host"), Some("ab"));
    gateway.metrics().assert_adds_up();
    gateway.signal("TERM");
    assert_eq!(client.response(), None, "told to go away");
}

#[test]
fn the_operator_sees_the_scenario_then_frames() {
    use tidegate_core::frame::Frame;
    let backend = Backend::echo();
    let gateway = open(&backend);
    let mut client = gateway.connect();
    for _ in 0..3 {
        client.get("/high/x");
        assert_eq!(client.response().status, 200);
    }
    let mut events = Client::connect(gateway.admin);
    events.send("GET /events HTTP/1.1\r\nHost: localhost\r\nOrigin: http://127.0.0.1:7171\r\n\r\n");
    let mut text = String::new();
    while text.matches("event: frame").count() < 3 {
        text += &String::from_utf8(events.take(1)).expect("text");
    }
    assert!(text.contains("content-type: text/event-stream\r\n"), "{text}");
    assert!(text.contains("access-control-allow-origin: http://127.0.0.1:7171\r\n"), "{text}");
    let (_, text) = text.split_once("event: scenario\n").expect("the scenario comes first");
    let scenario = text.lines().next().and_then(|line| line.strip_prefix("data: ")).expect("data");
    let parsed = tidegate_core::scenario::parse_json(scenario).expect("a scenario");
    assert_eq!(parsed.wire.classes[0].name, "high");
    let frame = text.lines().find_map(|line| line.strip_prefix("data: [")).expect("a frame");
    // What is not known of a server is NaN, for which JSON has no word but null.
    let number = |n: &str| if n == "null" { f64::NAN } else { n.parse().expect("a number") };
    let numbers: Vec<f64> = frame.trim_end_matches(']').split(',').map(number).collect();
    let frame = Frame::decode(&numbers).expect("a frame");
    assert_eq!(frame.classes[0].completed, 3);
    assert_eq!(frame.servers[0].picked, 3);

    let state: serde_json::Value = serde_json::from_str(&gateway.admin("/state").text()).expect("JSON");
    assert_eq!(state["frame"]["classes"][0]["completed"], 3);
    assert_eq!(state["scenario"]["tidegate"], 1);
    let link = state["link"].as_str().expect("a link");
    assert!(tidegate_core::link::decode(link).is_ok(), "{link}");

    let mut stranger = Client::connect(gateway.admin);
    stranger.send("GET /state HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert_eq!(stranger.response().status, 403, "a name of the web that points here is not ours");
}

#[test]
fn the_demonstration_is_real_traffic() {
    let mut gateway = Gateway::demo();
    let begun = Instant::now();
    while gateway.metrics().sum("tidegate_requests_total", &["outcome=\"completed\""]) < 50.0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", gateway.admin("/state").text());
        thread::sleep(Duration::from_millis(50));
    }
    let metrics = gateway.metrics();
    metrics.assert_adds_up();
    assert_eq!(metrics.sum("tidegate_upstream_up", &[]), 3.0);
    assert_eq!(metrics.sum("tidegate_malformed_total", &[]), 0.0);
    for class in ["Checkout", "Browse", "Crawlers"] {
        let arrivals = metrics.sum("tidegate_arrivals_total", &[&format!("class=\"{class}\"")]);
        assert!(arrivals > 0.0, "requests find their class: {class}");
    }
    gateway.signal("TERM");
    assert!(gateway.ended().success());
}

#[test]
fn two_thousand_requests_and_none_is_lost() {
    let (one, two) = (Backend::echo(), Backend::echo());
    // Few workers and a short queue, so that some are turned away.
    let gateway = Gateway::start(&scenario(4, 8, 2), &[one.address, two.address]);
    let answered = std::sync::atomic::AtomicUsize::new(0);
    let refused = std::sync::atomic::AtomicUsize::new(0);
    thread::scope(|scope| {
        for n in 0..40 {
            let (gateway, answered, refused) = (&gateway, &answered, &refused);
            scope.spawn(move || {
                let mut client = gateway.connect();
                for i in 0..50 {
                    let path = if (n + i) % 3 == 0 { format!("/high/{i}") } else { format!("/{i}") };
                    client.get(&path);
                    let response = client.response();
                    match response.status {
                        200 => {
                            assert_eq!(response.text(), path);
                            answered.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        }
                        _ => {
                            assert_refused(&response);
                            refused.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let (answered, refused) = (answered.into_inner() as f64, refused.into_inner() as f64);
    assert_eq!(answered + refused, 2000.0);
    let metrics = gateway.metrics();
    assert_eq!(metrics.sum("tidegate_arrivals_total", &[]), 2000.0);
    assert_eq!(metrics.sum("tidegate_requests_total", &["outcome=\"completed\""]), answered);
    assert_eq!(metrics.sum("tidegate_requests_total", &["outcome=\"shed\""]), refused);
    assert_eq!(metrics.sum("tidegate_upstream_picks_total", &[]), answered);
    assert_eq!((one.heads().len() + two.heads().len()) as f64, answered);
    metrics.assert_adds_up();
}
