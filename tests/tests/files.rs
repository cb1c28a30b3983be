//! The file server on the wire: `serve --files`, raw bytes over TCP.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidegate_tests::wire::{Backend, Client, Client2, Folder, Gateway, Response, scenario};

/// Larger than all the buffers between a worker and a client that reads nothing.
const LARGE: usize = 64 << 20;

/// A gateway that serves a folder with so many workers and so much room to wait, as in [`scenario`] but without servers.
fn serve(folder: &Folder, workers: usize, limit: usize, settings: &str) -> Gateway {
    let scenario = format!(
        r#"{{"tidegate":1,
        "classes":[{{"name":"high","priority":1,"rules":[{{"path":"/high/**"}}]}},{{"name":"low"}}],
        "stages":[{{"name":"send","workers":{workers},"queue":{{"policy":"tail_drop","limit":{limit}}},
            "work":{{"at":"stage","service":{{"law":"constant","mean_us":1}}}}}}]}}"#
    );
    let settings = format!("files = {:?}\n{settings}", folder.path(""));
    Gateway::start_with(&scenario, &[], &settings)
}

/// A gateway with room for everybody that serves a folder.
fn open(folder: &Folder) -> Gateway {
    serve(folder, 64, 1000, "")
}

/// The answer to a request with more header lines, each ended by CRLF.
fn ask(gateway: &Gateway, method: &str, path: &str, fields: &str) -> Response {
    let mut client = gateway.connect();
    client.send(format!("{method} {path} HTTP/1.1\r\nHost: a\r\n{fields}\r\n"));
    client.response_to(method)
}

fn state(gateway: &Gateway) -> Value {
    serde_json::from_str(&gateway.admin("/state").text()).expect("JSON")
}

/// A client whose answer is far from out, so that it holds a worker for as long as it is kept.
fn holder(gateway: &Gateway) -> Client {
    let mut client = gateway.connect();
    client.get("/large");
    client.rest_of_some(1000);
    client
}

fn with_large() -> Folder {
    let folder = Folder::new();
    // A hole: no disk is needed for it.
    let file = std::fs::File::create(folder.path("large")).expect("a file can be made");
    file.set_len(LARGE as u64).expect("it can be made long");
    folder
}

#[test]
fn a_file_comes_whole_with_what_a_cache_needs() {
    let folder = Folder::new();
    folder.write("page.html", "<p>hello");
    folder.write("docs/index.html", "index");
    folder.write("empty", "");
    folder.write("with space+ü.txt", "name");
    let gateway = open(&folder);
    let mut client = gateway.connect();
    client.get("/page.html?query=1");
    let response = client.response();
    assert_eq!((response.status, response.text()), (200, "<p>hello".to_owned()));
    for (name, value) in [
        ("content-type", "text/html"),
        ("content-length", "8"),
        ("accept-ranges", "bytes"),
        ("vary", "accept-encoding"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(response.header(name), Some(value), "{name} in {}", response.head);
    }
    for name in ["etag", "last-modified", "date", "server-timing"] {
        assert!(response.header(name).is_some(), "{name} in {}", response.head);
    }
    for (path, text) in [
        ("/docs/", "index"),
        ("/empty", ""),
        ("/with%20space+%C3%BC.txt", "name"),
        ("http://elsewhere.example/docs/", "index"),
    ] {
        client.get(path);
        let response = client.response();
        assert_eq!((response.status, response.text()), (200, text.to_owned()), "{path}: {}", response.head);
    }
    client.get("/docs?x=1");
    let response = client.response();
    assert_eq!((response.status, response.header("location")), (307, Some("/docs/?x=1")));
    gateway.await_metric("tidegate_requests_total", &["outcome=\"completed\""], 6.0);
    gateway.metrics().assert_adds_up();
    assert_eq!(gateway.admin("/readyz").status, 200, "ready without any server");
}

#[test]
fn ranges_are_parts_of_the_file_and_what_cannot_be_had_is_416() {
    let folder = Folder::new();
    folder.write("ten", "0123456789");
    let gateway = open(&folder);
    let whole = (200, None, "0123456789");
    for (range, want) in [
        ("bytes=0-3", (206, Some("bytes 0-3/10"), "0123")),
        ("bytes=7-", (206, Some("bytes 7-9/10"), "789")),
        ("bytes=-2", (206, Some("bytes 8-9/10"), "89")),
        ("bytes=9-9", (206, Some("bytes 9-9/10"), "9")),
        ("bytes=4-100", (206, Some("bytes 4-9/10"), "456789")),
        ("bytes=10-", (416, Some("bytes */10"), "")),
        ("bytes=5-2", (416, Some("bytes */10"), "")),
        ("bytes=0-1,4-5", whole),
    ] {
        let response = ask(&gateway, "GET", "/ten", &format!("Range: {range}\r\n"));
        let got = (response.status, response.header("content-range"), response.text());
        assert_eq!((got.0, got.1, got.2.as_str()), want, "{range}: {}", response.head);
    }
    gateway.metrics().assert_adds_up();
}

#[test]
fn what_the_client_has_is_not_sent_again() {
    let folder = Folder::new();
    folder.write("ten", "0123456789");
    let gateway = open(&folder);
    let first = ask(&gateway, "GET", "/ten", "");
    let tag = first.header("etag").expect("a tag").to_owned();
    let date = first.header("last-modified").expect("a date").to_owned();
    let (before, after) = ("Thu, 01 Jan 1970 00:00:01 GMT", "Fri, 31 Dec 2100 00:00:00 GMT");
    for (fields, status) in [
        (format!("If-None-Match: {tag}\r\n"), 304),
        (format!("If-None-Match: W/{tag}\r\n"), 304),
        (format!("If-None-Match: \"x\"\r\nIf-None-Match: {tag}\r\n"), 304),
        ("If-None-Match: *\r\n".to_owned(), 304),
        ("If-None-Match: \"x\"\r\n".to_owned(), 200),
        (format!("If-None-Match: \"x\"\r\nIf-Modified-Since: {after}\r\n"), 200),
        (format!("If-Modified-Since: {date}\r\n"), 304),
        (format!("If-Modified-Since: {before}\r\n"), 200),
        ("If-Match: \"x\"\r\n".to_owned(), 412),
        (format!("If-Match: {tag}\r\n"), 200),
        (format!("If-Unmodified-Since: {before}\r\n"), 412),
        (format!("Range: bytes=5-\r\nIf-Range: {tag}\r\n"), 206),
        (format!("Range: bytes=5-\r\nIf-Range: {date}\r\n"), 206),
        ("Range: bytes=5-\r\nIf-Range: \"x\"\r\n".to_owned(), 200),
        (format!("Range: bytes=5-\r\nIf-Range: W/{tag}\r\n"), 200),
        (format!("Range: bytes=5-\r\nIf-Range: {before}\r\n"), 200),
        ("Range: bytes=50-\r\nIf-Range: \"x\"\r\n".to_owned(), 200),
    ] {
        let response = ask(&gateway, "GET", "/ten", &fields);
        assert_eq!(response.status, status, "{fields}: {}", response.head);
        let text = match status {
            200 => "0123456789",
            206 => "56789",
            _ => "",
        };
        assert_eq!(response.text(), text, "{fields}");
        if status == 304 {
            assert_eq!(response.header("etag"), Some(tag.as_str()), "{fields}");
            assert_eq!(response.header("vary"), Some("accept-encoding"), "{fields}");
        }
    }
    folder.write("ten", "other bytes");
    let response = ask(&gateway, "GET", "/ten", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!(
        (response.status, response.text()),
        (200, "other bytes".to_owned()),
        "a file that has changed"
    );
    gateway.metrics().assert_adds_up();
}

#[test]
fn a_head_has_the_length_and_no_body() {
    let folder = Folder::new();
    folder.write("ten", "0123456789");
    let gateway = open(&folder);
    let mut client = gateway.connect();
    for (path, fields, status, length) in [
        ("/ten", "", 200, Some("10")),
        ("/ten", "Range: bytes=0-1\r\n", 200, Some("10")),
        ("/none", "", 404, Some("13")),
        ("/ten%00", "", 404, Some("13")),
        ("/ten", "If-None-Match: *\r\n", 304, None),
    ] {
        client.send(format!("HEAD {path} HTTP/1.1\r\nHost: a\r\n{fields}\r\n"));
        let response = client.response_to("HEAD");
        assert_eq!((response.status, response.header("content-length")), (status, length), "{path} {fields}");
    }
    client.get("/ten");
    assert_eq!(client.response().text(), "0123456789", "nothing lies between");
}

#[test]
fn a_packed_form_beside_the_file_is_sent_to_who_takes_it() {
    let folder = Folder::new();
    for (name, content) in [("a.js", "plain"), ("a.js.br", "brotli"), ("a.js.gz", "gzip"), ("b.js", "plain")]
    {
        folder.write(name, content);
    }
    let gateway = open(&folder);
    for (path, accepted, coding, text) in [
        ("/a.js", "gzip, br", Some("br"), "brotli"),
        ("/a.js", "gzip", Some("gzip"), "gzip"),
        ("/a.js", "br;q=0, gzip;q=0.5", Some("gzip"), "gzip"),
        ("/a.js", "identity", None, "plain"),
        ("/a.js", "zstd", None, "plain"),
        ("/b.js", "gzip, br", None, "plain"),
    ] {
        let response = ask(&gateway, "GET", path, &format!("Accept-Encoding: {accepted}\r\n"));
        assert_eq!(response.header("content-encoding"), coding, "{path}, {accepted}: {}", response.head);
        assert_eq!(response.text(), text, "{path}, {accepted}");
        assert_eq!(response.header("content-type"), Some("text/javascript"), "of what is packed");
        assert_eq!(response.header("vary"), Some("accept-encoding"));
    }
    assert_ne!(
        ask(&gateway, "GET", "/a.js", "").header("etag"),
        ask(&gateway, "GET", "/a.js", "Accept-Encoding: br\r\n").header("etag"),
        "two forms are two things to a cache"
    );
}

#[test]
fn nothing_outside_the_folder_and_nothing_hidden_is_served() {
    let outer = Folder::new();
    outer.write("secret", "secret");
    outer.write("www/shown", "shown");
    outer.write("www/.hidden", "secret");
    outer.write("www/.git/config", "secret");
    outer.write("www/sub/shown", "shown");
    let www = outer.path("www");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        for (to, link) in [
            ("../secret", "out"),
            ("..", "up"),
            ("sub", "within"),
            ("../../secret", "sub/out"),
            ("../shown", "sub/within"),
        ] {
            symlink(to, www.join(link)).expect("links can be made");
        }
        symlink(outer.path("secret"), www.join("absolute")).expect("links can be made");
        let made = std::process::Command::new("mkfifo").arg(www.join("pipe")).status().expect("mkfifo runs");
        assert!(made.success(), "a pipe is made");
    }
    let settings = format!("files = {www:?}\n");
    let scenario = scenario(8, 100, 1);
    let gateway = Gateway::start_with(&scenario, &[], &settings);
    let mut client = gateway.connect();
    for path in [
        "/../secret",
        "/sub/../../secret",
        "/%2e%2e/secret",
        "/%2E%2e%2fsecret",
        "/..%2fsecret",
        "/..%5csecret",
        "/..\\secret",
        "//secret",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/./shown",
        "/shown%00",
        "/%00",
        "/%c0%ae%c0%ae/secret",
        "/.hidden",
        "/%2ehidden",
        "/.git/config",
        "/sub/.%2e/.hidden",
        "/out",
        "/up/secret",
        "/up/www/shown",
        "/sub/out",
        "/absolute",
        "/pipe",
        "/shown/",
        "/shown/more",
        "/none",
        "/",
    ] {
        client.get(path);
        let response = client.response();
        assert_eq!(response.status, 404, "{path}: {}", response.head);
        assert!(!response.text().contains("secret"), "{path}");
    }
    for path in ["/shown", "/sub/shown", "/within/shown", "/sub/within"] {
        client.get(path);
        assert_eq!(client.response().text(), "shown", "{path}");
    }
    client.get(&format!("/{}", "long".repeat(200)));
    assert_eq!(client.response().status, 404, "no file can have such a name");
    gateway.metrics().assert_adds_up();
}

#[test]
fn only_get_and_head_are_for_files() {
    let folder = Folder::new();
    folder.write("a", "a");
    let gateway = open(&folder);
    let mut client = gateway.connect();
    for (method, body) in
        [("POST", "hello"), ("PUT", "hello"), ("DELETE", ""), ("OPTIONS", ""), ("PROPFIND", "")]
    {
        let length = body.len();
        client.send(format!("{method} /a HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}"));
        let response = client.response();
        assert_eq!((response.status, response.header("allow")), (405, Some("GET, HEAD")), "{method}");
        client.get("/a");
        assert_eq!(client.response().text(), "a", "the connection goes on after {method}");
    }
    client
        .send("GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    for _ in 0..2 {
        assert_eq!(client.response().text(), "a", "a body that nobody wants is passed over");
    }
    let metrics = gateway.metrics();
    assert_eq!(metrics.sum("tidegate_arrivals_total", &[]), 7.0, "refused methods wait in no queue");
    assert_eq!(metrics.sum("tidegate_malformed_total", &[]), 5.0);
    metrics.assert_adds_up();
}

#[test]
fn a_worker_is_held_until_the_body_is_out() {
    let folder = with_large();
    folder.write("small", "small");
    let gateway = serve(&folder, 1, 1, "");
    let mut first = holder(&gateway);
    let mut waits = gateway.connect();
    waits.get("/small");
    gateway.await_metric("tidegate_queue_depth", &[], 1.0);
    let refused = ask(&gateway, "GET", "/small", "");
    assert_eq!(refused.status, 503, "{}", refused.head);
    assert!(refused.header("retry-after").is_some(), "{}", refused.head);
    assert_eq!(refused.header("proxy-status"), Some("tidegate; error=http_request_denied; details=\"full\""));
    assert_eq!(gateway.metrics().sum("tidegate_workers_busy", &[]), 1.0);
    assert_eq!(first.response().body.len(), LARGE, "every byte of it");
    assert_eq!(waits.response().text(), "small", "then it is the next one's turn");
    gateway.await_metric("tidegate_requests_total", &["outcome=\"completed\""], 2.0);
    gateway.metrics().assert_adds_up();
}

#[test]
fn a_client_that_leaves_in_the_middle_of_a_file_frees_the_worker() {
    let folder = with_large();
    folder.write("small", "small");
    let gateway = serve(&folder, 1, 1, "");
    let first = holder(&gateway);
    let mut waits = gateway.connect();
    waits.get("/small");
    gateway.await_metric("tidegate_queue_depth", &[], 1.0);
    drop(first);
    assert_eq!(waits.response().text(), "small");
    gateway.await_metric("tidegate_requests_total", &["outcome=\"cancelled\""], 1.0);
    gateway.await_metric("tidegate_workers_busy", &[], 0.0);
    gateway.metrics().assert_adds_up();
}

#[test]
fn a_client_that_takes_nothing_loses_its_worker() {
    let folder = with_large();
    let gateway = serve(&folder, 8, 1, "[limits]\nwrite_timeout_ms = 300\n");
    let _one = holder(&gateway);
    // Its window stays at 65,535 bytes, so the stream stands still while the connection is well.
    let mut two = Client2::connect(gateway.address);
    two.get(1, "/large");
    gateway.await_metric("tidegate_arrivals_total", &[], 2.0);
    gateway.await_metric("tidegate_workers_busy", &[], 0.0);
    gateway.await_metric("tidegate_requests_total", &["outcome=\"cancelled\""], 2.0);
    gateway.metrics().assert_adds_up();
}

#[test]
fn a_stream_that_stands_still_loses_its_worker_at_a_server_too() {
    let backend = Backend::start(|exchange| {
        exchange.answer("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
        while exchange.client.try_send(vec![b'x'; 65_536]) {}
        false
    });
    let limits = "[limits]\nwrite_timeout_ms = 300\n";
    let gateway = Gateway::start_with(&scenario(1, 1, 1), &[backend.address], limits);
    let mut client = Client2::connect(gateway.address);
    client.get(1, "/");
    gateway.await_metric("tidegate_requests_total", &["outcome=\"cancelled\""], 1.0);
    gateway.await_metric("tidegate_workers_busy", &[], 0.0);
    gateway.metrics().assert_adds_up();
}

#[test]
fn the_urgent_go_first_and_nobody_is_faster_than_the_send_rate() {
    let folder = with_large();
    folder.write("low", vec![b'x'; 1_000_000]);
    folder.write("high/a", vec![b'x'; 20_000]);
    let gateway = serve(&folder, 1, 10, "send_rate = 100000\n");
    let first = holder(&gateway);
    let mut clients = Vec::new();
    for path in ["/low", "/high/a", "/high/a"] {
        let mut client = gateway.connect();
        client.get(path);
        clients.push(client);
        gateway.await_metric("tidegate_queue_depth", &[], clients.len() as f64);
    }
    let begun = Instant::now();
    drop(first);
    for client in &mut clients[1..] {
        assert_eq!(client.response().body.len(), 20_000);
    }
    // 40,000 bytes one after the other, less what an idle link gives away.
    assert!(begun.elapsed() >= Duration::from_millis(390), "{:?} at 100,000 bytes a second", begun.elapsed());
    let metrics = gateway.metrics();
    assert_eq!(metrics.sum("tidegate_requests_total", &["class=\"high\"", "outcome=\"completed\""]), 2.0);
    assert_eq!(metrics.sum("tidegate_in_system", &["class=\"low\""]), 1.0, "it came first and goes last");
    assert_eq!(state(&gateway)["config"]["send_rate"], 100_000);
}

#[test]
fn a_file_that_becomes_shorter_is_a_cut_answer_and_never_a_whole_one() {
    let folder = Folder::new();
    folder.write("log", vec![b'x'; 100_000]);
    let gateway = serve(&folder, 1, 1, "send_rate = 100000\n");
    let mut client = gateway.connect();
    client.get("/log");
    client.take(2_000);
    std::fs::File::create(folder.path("log")).expect("it can be emptied");
    let rest = client.rest().len();
    assert!(rest < 98_000, "{rest} bytes more");
    gateway.await_metric("tidegate_requests_total", &["outcome=\"failed\""], 1.0);
    gateway.await_metric("tidegate_workers_busy", &[], 0.0);
    gateway.metrics().assert_adds_up();
}

#[test]
fn the_operator_sees_where_sizes_come_from() {
    let folder = Folder::new();
    folder.write("high/a", vec![b'x'; 300]);
    folder.write("b", vec![b'x'; 500]);
    let gateway = open(&folder);
    for path in ["/high/a", "/b", "/b", "/none"] {
        let _ = ask(&gateway, "GET", path, "");
    }
    let from = |file: u64, declared: u64, learned: u64, none: u64| json!({ "file": file, "declared": declared, "learned": learned, "none": none });
    let sizes = state(&gateway)["sizes"].clone();
    assert_eq!(sizes["classes"][0], json!({ "name": "high", "from": from(1, 0, 0, 0), "mean_bytes": 300.0 }));
    assert_eq!(sizes["classes"][1], json!({ "name": "low", "from": from(2, 0, 0, 1), "mean_bytes": 500.0 }));
    assert_eq!(gateway.metrics().sum("tidegate_sizes_total", &["source=\"file\""]), 3.0);

    let backend = Backend::start(|exchange| {
        match exchange.path() {
            "/img/1" | "/img/2" => exchange.ok(&"x".repeat(1000)),
            "/chunks" => exchange.answer(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n2\r\n!!\r\n0\r\n\r\n",
            ),
            _ => exchange.answer("HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nwrong"),
        }
        true
    });
    let settings = "size_header = \"x-expected-bytes\"\n";
    let trusting = format!("{settings}trusted = [\"127.0.0.0/8\"]\n");
    for (settings, declared) in [(settings, 0), (&trusting, 1)] {
        let gateway = Gateway::start_with(&scenario(8, 100, 1), &[backend.address], settings);
        for path in ["/img/1", "/img/1", "/chunks", "/chunks", "/broken", "/broken"] {
            let _ = ask(&gateway, "GET", path, "");
        }
        let _ = ask(&gateway, "GET", "/img/1", "X-Expected-Bytes: 250\r\n");
        let sizes = state(&gateway)["sizes"].clone();
        let low = &sizes["classes"][1];
        // Four requests are the first of their route or of one that never succeeded.
        assert_eq!(low["from"], from(0, declared, 3 - declared, 4), "{settings}");
        let last = if declared == 1 { 250.0 } else { 1000.0 };
        assert_eq!(low["mean_bytes"], (1000.0 + 7.0 + last) / 3.0, "{settings}");
        assert_eq!(sizes["routes"], 2, "an error page teaches nothing");
    }
}
