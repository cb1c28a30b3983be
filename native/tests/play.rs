//! The playground's server as a browser meets it.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use common::Folder;

/// A running `tidegate play`.
struct Play {
    child: Child,
    address: String,
    announced: String,
}

impl Play {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .args(["play", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .env_remove("TIDEGATE_WWW")
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was built");
        let mut announced = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut announced).expect("text");
        let (_, address) = announced.trim().rsplit_once("http://").expect("the address is announced");
        let address = address.trim_end_matches('/').to_owned();
        Self { child, address, announced }
    }

    /// Sends a request and gives the whole answer: head in lower case, and body.
    fn ask(&self, method: &str, path: &str, fields: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{fields}\r\n",
            self.address
        )
        .expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("a head") + 4;
        let body = answer.split_off(end);
        (String::from_utf8(answer).expect("text").to_lowercase(), body)
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn status(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn a_page_on_disk_is_served_with_its_types_and_tags() {
    let folder = Folder::new("play-www");
    let index = folder.file("index.html", "<!doctype html><p>hello");
    std::fs::create_dir(folder.path().join("pkg")).unwrap();
    folder.file("pkg/tidegate_web.js", "export {}");
    folder.file("pkg/tidegate_web_bg.wasm", "\0asm");
    let play = Play::start(&["--www", folder.path().to_str().unwrap()]);
    assert!(play.announced.starts_with("Tidegate "), "{}", play.announced);

    let (head, body) = play.ask("GET", "/", "");
    assert_eq!(status(&head), "200", "{head}");
    assert!(head.contains("content-type: text/html; charset=utf-8"), "{head}");
    assert_eq!(body, b"<!doctype html><p>hello");
    let (head, _) = play.ask("GET", "/pkg/tidegate_web_bg.wasm", "");
    assert!(head.contains("content-type: application/wasm"), "{head}");

    let (head, body) = play.ask("HEAD", "/index.html", "");
    assert!(head.contains("content-length: 23"), "{head}");
    assert_eq!(body, b"");
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).expect("an entity tag").to_owned();
    let (head, body) = play.ask("GET", "/", &format!("if-none-match: {tag}\r\n"));
    assert_eq!((status(&head), body.as_slice()), ("304", &b""[..]), "{head}");
    std::fs::write(index, "<!doctype html><p>new").unwrap();
    let (head, _) = play.ask("GET", "/", &format!("if-none-match: {tag}\r\n"));
    assert_eq!(status(&head), "200", "a changed file has another tag: {head}");

    for (method, path, want) in
        [("GET", "/nowhere", "404"), ("GET", "/../Cargo.toml", "404"), ("POST", "/", "405")]
    {
        assert_eq!(status(&play.ask(method, path, "").0), want, "{method} {path}");
    }
}

#[test]
fn the_page_in_the_binary_is_packed_for_those_who_take_it_packed() {
    let play = Play::start(&[]);
    let (head, _) = play.ask("GET", "/", "accept-encoding: gzip, deflate, br\r\n");
    match status(&head) {
        "200" => {
            // A build without `cargo xtask web` has only the plain form.
            let coding = head.lines().find_map(|line| line.strip_prefix("content-encoding: "));
            assert!(matches!(coding, None | Some("br" | "gzip")), "{head}");
            assert!(head.contains("vary: accept-encoding"), "{head}");
            let (head, body) = play.ask("GET", "/", "accept-encoding: identity\r\n");
            assert!(!head.contains("content-encoding"), "{head}");
            assert!(body.starts_with(b"<!"), "plain");
        }
        // Built without the page; then it says so.
        "503" => {
            let (_, body) = play.ask("GET", "/", "");
            assert!(String::from_utf8(body).unwrap().contains("cargo xtask"), "it names the command");
        }
        other => panic!("status {other}: {head}"),
    }
}

#[test]
fn the_demonstration_serves_page_and_live_gateway_at_one_address() {
    let play = Play::start(&["--demo"]);
    assert_eq!(status(&play.ask("GET", "/livez", "").0), "200");
    let (head, body) = play.ask("GET", "/state", "");
    assert_eq!(status(&head), "200", "{head}");
    let state: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(state["scenario"]["title"], "Live demo");
    // The load has begun: sooner or later a request is answered.
    let answered = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let (_, body) = play.ask("GET", "/metrics", "");
        let text = String::from_utf8(body).expect("text");
        text.lines().any(|line| line.contains("outcome=\"completed\"") && !line.ends_with(" 0"))
    });
    assert!(answered, "no request was answered in ten seconds");
}

#[cfg(unix)]
#[test]
fn it_stops_when_asked() {
    let mut play = Play::start(&[]);
    let (head, _) = play.ask("GET", "/nowhere", "");
    assert_eq!(status(&head), "404");
    let sent = Command::new("kill").arg(play.child.id().to_string()).status().expect("kill is there");
    assert!(sent.success());
    assert_eq!(play.child.wait().expect("it ends").code(), Some(0));
}
