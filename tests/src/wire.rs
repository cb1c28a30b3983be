//! The gateway as strangers meet it: the real binary, raw bytes over TCP, and a backend that records every byte.
//!
//! Blocking sockets and threads on purpose: what is tested is asynchronous enough. Every read has a limit, so a
//! gateway that hangs fails a test instead of stopping it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// No single answer takes longer than this in any test.
const LONGEST: Duration = Duration::from_secs(10);

/// A running `tidegate serve`; killed when dropped.
pub struct Gateway {
    child: Child,
    /// For clients.
    pub address: SocketAddr,
    /// For the operator.
    pub admin: SocketAddr,
    files: Vec<PathBuf>,
}

impl Gateway {
    /// Starts the binary with a scenario in front of some backends.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn start(scenario: &str, upstreams: &[SocketAddr]) -> Self {
        Self::start_with(scenario, upstreams, "")
    }

    /// Starts `tidegate play --demo`.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn demo() -> Self {
        let mut command = Command::new(binary());
        command.args(["play", "--demo", "--listen", "127.0.0.1:0"]);
        Self::spawn(command, Vec::new(), ("live gateway", "playground"))
    }

    /// Starts `tidegate play --demo` with a scenario.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn demo_of(scenario: &Path) -> Self {
        let mut command = Command::new(binary());
        command.arg("play").arg(format!("--demo={}", scenario.display())).args(["--listen", "127.0.0.1:0"]);
        Self::spawn(command, Vec::new(), ("live gateway", "playground"))
    }

    /// Starts the binary with a scenario in front of some backends, and more lines for its configuration file.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn start_with(scenario: &str, upstreams: &[SocketAddr], settings: &str) -> Self {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let stem = std::env::temp_dir().join(format!("tidegate-wire-{}-{number}", std::process::id()));
        let files = vec![stem.with_extension("json"), stem.with_extension("toml")];
        std::fs::write(&files[0], scenario).expect("the scenario can be written");
        std::fs::write(&files[1], settings).expect("the settings can be written");
        let mut command = Command::new(binary());
        command.arg("serve").arg(&files[0]).arg("--config").arg(&files[1]);
        command.args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]);
        for upstream in upstreams {
            command.arg("--upstream").arg(format!("http://{upstream}"));
        }
        Self::spawn(command, files, ("clients", "operator"))
    }

    fn spawn(mut command: Command, files: Vec<PathBuf>, (clients, operator): (&str, &str)) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let (mut address, mut admin) = (None, None);
        while address.is_none() || admin.is_none() {
            let line = lines.next().and_then(Result::ok).expect("it says where it is before it ends");
            let url =
                line.split_once("http://").map(|(_, url)| url.split([' ', '/', ',']).next().unwrap_or(url));
            if let Some(at) = url.and_then(|url| url.parse().ok()) {
                if line.contains(clients) {
                    address = address.or(Some(at));
                } else if line.contains(operator) {
                    admin = admin.or(Some(at));
                }
            }
        }
        let (Some(address), Some(admin)) = (address, admin) else { unreachable!("both were found") };
        thread::spawn(move || lines.for_each(drop));
        Self { child, address, admin, files }
    }

    /// A new connection to the gateway.
    ///
    /// # Panics
    /// If there is none to be had.
    #[must_use]
    pub fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    /// Asks the operator's listener.
    ///
    /// # Panics
    /// If it does not answer.
    #[must_use]
    pub fn admin(&self, path: &str) -> Response {
        let mut client = Client::connect(self.admin);
        client.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
        client.response()
    }

    /// Every sample of `/metrics`.
    ///
    /// # Panics
    /// If the page is malformed.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let page = self.admin("/metrics");
        assert_eq!(page.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        Metrics::parse(&page.text())
    }

    /// Waits until a sum of samples reaches a value.
    ///
    /// # Panics
    /// If it never does.
    pub fn await_metric(&self, name: &str, labels: &[&str], value: f64) {
        let begun = Instant::now();
        loop {
            let now = self.metrics().sum(name, labels);
            if (now - value).abs() < 1e-9 {
                return;
            }
            assert!(begun.elapsed() < LONGEST, "{name}{labels:?} is {now}, never {value}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until nobody is let in any more: `draining` is said a moment before the listener is gone.
    ///
    /// # Panics
    /// If that takes longer than a test may.
    pub fn await_closed_door(&self) {
        let begun = Instant::now();
        while TcpStream::connect(self.address).is_ok() {
            assert!(begun.elapsed() < LONGEST, "a draining gateway still lets clients in");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal by name.
    ///
    /// # Panics
    /// If there is no `kill`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(status.expect("kill runs").success(), "the signal was sent");
    }

    /// Waits for the process to end by itself.
    ///
    /// # Panics
    /// If it does not.
    pub fn ended(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return status;
            }
            assert!(begun.elapsed() < LONGEST, "the gateway does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        for file in &self.files {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Samples of a metrics page, by name and labels.
pub struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    /// Reads a page and checks its form: help, type, samples in one block, no sample twice, LF at the end.
    ///
    /// # Panics
    /// If the form is wrong.
    #[must_use]
    pub fn parse(page: &str) -> Self {
        assert!(page.ends_with('\n') && !page.contains('\r'), "lines end in LF");
        let mut samples = BTreeMap::new();
        let mut families = Vec::new();
        for line in page.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let name = help.split(' ').next().expect("a name").to_owned();
                assert!(!families.contains(&name), "{name} begins twice");
                families.push(name);
                continue;
            }
            let family = families.last().expect("HELP comes first");
            if let Some(kind) = line.strip_prefix("# TYPE ") {
                assert!(kind.starts_with(family.as_str()), "{kind} follows HELP {family}");
                continue;
            }
            let (name, value) = line.rsplit_once(' ').expect("a value");
            assert!(name.starts_with(family.as_str()), "{name} is in the block of {family}");
            let value = value.parse().unwrap_or_else(|_| panic!("{line}: a number"));
            assert!(samples.insert(name.to_owned(), value).is_none(), "{name} twice");
        }
        Self(samples)
    }

    /// Sum of the samples of a name that have all the labels (as written, `class="gold"`).
    #[must_use]
    pub fn sum(&self, name: &str, labels: &[&str]) -> f64 {
        self.0
            .iter()
            .filter(|(key, _)| key.split('{').next() == Some(name) && labels.iter().all(|l| key.contains(l)))
            .map(|(_, value)| value)
            .sum()
    }

    /// Checks that no request of any class is unaccounted for.
    ///
    /// # Panics
    /// If one is.
    pub fn assert_adds_up(&self) {
        let arrivals = self.sum("tidegate_arrivals_total", &[]);
        let left = self.sum("tidegate_requests_total", &[]);
        let inside = self.sum("tidegate_in_system", &[]);
        assert_eq!(arrivals, left + inside, "arrivals = completed + shed + failed + cancelled + in system");
        let completed = self.sum("tidegate_requests_total", &["outcome=\"completed\""]);
        assert_eq!(self.sum("tidegate_wait_seconds_count", &[]), completed, "one wait a completion");
        assert_eq!(
            self.sum("tidegate_response_seconds_count", &[]),
            completed,
            "one response time a completion"
        );
        let shed = self.sum("tidegate_requests_total", &["outcome=\"shed\""]);
        assert_eq!(self.sum("tidegate_shed_total", &[]), shed, "one reason a refusal");
    }
}

/// A client that writes what it is told, byte for byte.
pub struct Client {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// What a client read.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Status line and header, as they came.
    pub head: String,
    /// Content, decoded.
    pub body: Vec<u8>,
}

impl Response {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// The body as text.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("text")
    }
}

/// The first value of a header in a head.
#[must_use]
pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

impl Client {
    /// A new connection.
    ///
    /// # Panics
    /// If there is none to be had.
    #[must_use]
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the gateway listens");
        stream.set_read_timeout(Some(LONGEST)).expect("a limit above zero");
        stream.set_write_timeout(Some(LONGEST)).expect("a limit above zero");
        stream.set_nodelay(true).expect("a TCP socket");
        Self { stream, unread: Vec::new() }
    }

    /// Sends bytes.
    ///
    /// # Panics
    /// If the connection is gone.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the gateway reads");
    }

    /// Sends bytes and tells whether all could be sent.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Sends a GET.
    pub fn get(&mut self, path: &str) {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
    }

    /// Reads the answer to a request that was no HEAD.
    ///
    /// # Panics
    /// If none comes.
    #[must_use]
    pub fn response(&mut self) -> Response {
        self.response_to("GET")
    }

    /// Reads the answer to a request of a method.
    ///
    /// # Panics
    /// If none comes.
    #[must_use]
    pub fn response_to(&mut self, method: &str) -> Response {
        self.try_response(method).expect("an answer, not the end of the connection")
    }

    /// Reads an answer, or the end of the connection.
    ///
    /// # Panics
    /// If nothing comes for long, or something that is no answer.
    pub fn try_response(&mut self, method: &str) -> Option<Response> {
        let head = self.head()?;
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or_else(|| panic!("{head}"));
        let bodyless = method == "HEAD" || status < 200 || status == 204 || status == 304;
        let body = if bodyless {
            Vec::new()
        } else if header(&head, "transfer-encoding").is_some() {
            self.chunks().expect("whole chunks")
        } else if let Some(length) = header(&head, "content-length") {
            self.take(length.parse().expect("a length"))
        } else {
            self.rest()
        };
        Some(Response { status, head, body })
    }

    /// A head, or `None` if the connection ends first.
    fn head(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.unread.windows(4).position(|w| w == b"\r\n\r\n") {
                let head = self.unread.drain(..end + 4).collect();
                return String::from_utf8(head).ok();
            }
            if self.more() == 0 {
                return None;
            }
        }
    }

    /// Takes exactly so many bytes.
    ///
    /// # Panics
    /// If they do not come.
    pub fn take(&mut self, bytes: usize) -> Vec<u8> {
        self.try_take(bytes).unwrap_or_else(|| panic!("{bytes} bytes, not {} and the end", self.unread.len()))
    }

    fn try_take(&mut self, bytes: usize) -> Option<Vec<u8>> {
        while self.unread.len() < bytes {
            if self.more() == 0 {
                return None;
            }
        }
        Some(self.unread.drain(..bytes).collect())
    }

    fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(self.line()?.split(';').next()?, 16).ok()?;
            if size == 0 {
                while !self.line()?.is_empty() {}
                return Some(body);
            }
            body.extend(self.try_take(size)?);
            if self.try_take(2)? != b"\r\n" {
                return None;
            }
        }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.extend(self.try_take(1)?);
        }
        line.truncate(line.len() - 2);
        String::from_utf8(line).ok()
    }

    /// Everything up to the end of the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.more() > 0 {}
        std::mem::take(&mut self.unread)
    }

    /// Reads at least so many bytes, or to the end.
    pub fn rest_of_some(&mut self, bytes: usize) {
        while self.unread.len() < bytes && self.more() > 0 {}
    }

    /// Whether the connection ends (or is reset) with nothing more to read.
    pub fn is_closed(&mut self) -> bool {
        self.rest().is_empty()
    }

    /// Whether nothing comes for a while: no byte, no end.
    pub fn is_silent_for(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).expect("a limit above zero");
        let silent = match self.stream.peek(&mut [0]) {
            Ok(_) => false,
            Err(error) => {
                matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
            }
        };
        self.stream.set_read_timeout(Some(LONGEST)).expect("a limit above zero");
        silent && self.unread.is_empty()
    }

    /// Closes the sending side.
    pub fn half_close(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Bytes read; 0 at the end, however it came.
    fn more(&mut self) -> usize {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(read) => {
                self.unread.extend(&buffer[..read]);
                read
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("nothing to read: {error}"),
        }
    }
}

/// A client of HTTP/2 with prior knowledge, in frames.
pub struct Client2 {
    client: Client,
    /// Answers under way: first byte of the header block, and content.
    open: BTreeMap<u32, (u8, Vec<u8>)>,
}

impl Client2 {
    /// A new connection, both sides' settings sent.
    ///
    /// # Panics
    /// If there is none to be had.
    #[must_use]
    pub fn connect(address: SocketAddr) -> Self {
        let mut client = Client::connect(address);
        client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        let mut client = Self { client, open: BTreeMap::new() };
        client.frame(4, 0, 0, &[]);
        client
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).expect("a short payload").to_be_bytes();
        let stream = stream.to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, flags];
        frame.extend(stream);
        frame.extend(payload);
        self.client.send(frame);
    }

    /// Sends a GET on a stream (odd, ascending).
    ///
    /// # Panics
    /// If the path is longer than 126 bytes.
    pub fn get(&mut self, stream: u32, path: &str) {
        // :method GET, :scheme http, :authority "ab" and :path as literals (RFC 7541, 6.1 and 6.2.2).
        let mut fields = vec![0x82, 0x86, 0x01, 2, b'a', b'b', 0x04];
        fields.push(u8::try_from(path.len()).ok().filter(|n| *n < 127).expect("a short path"));
        fields.extend(path.as_bytes());
        self.frame(1, 0x5, stream, &fields);
    }

    /// Gives a stream up.
    pub fn reset(&mut self, stream: u32) {
        self.frame(3, 0, stream, &[0, 0, 0, 8]);
    }

    /// Reads until a stream ends: which, the first byte of its header block, its content. `None`: GOAWAY or the end of
    /// the connection came first.
    pub fn response(&mut self) -> Option<(u32, u8, Vec<u8>)> {
        loop {
            let head = self.client.try_take(9)?;
            let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
            let payload = self.client.try_take(length)?;
            let stream = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]);
            match head[3] {
                0 => self.open.entry(stream).or_default().1.extend(payload),
                1 => self.open.entry(stream).or_default().0 = payload.first().copied().unwrap_or(0),
                4 if head[4] & 1 == 0 => self.frame(4, 1, 0, &[]),
                7 => return None,
                _ => (),
            }
            if matches!(head[3], 0 | 1) && head[4] & 1 == 1 {
                let (status, body) = self.open.remove(&stream)?;
                return Some((stream, status, body));
            }
        }
    }
}

/// A backend that answers by a script and records what it gets.
pub struct Backend {
    /// Where it listens.
    pub address: SocketAddr,
    log: Arc<Mutex<Log>>,
}

#[derive(Default)]
struct Log {
    connections: usize,
    heads: Vec<String>,
    bytes: Vec<u8>,
}

/// One request at the backend.
pub struct Exchange {
    /// Request line and header.
    pub head: String,
    /// Which request of its connection, from 0.
    pub nth: usize,
    /// The connection.
    pub client: Client,
    log: Arc<Mutex<Log>>,
}

impl Exchange {
    /// The path asked for.
    #[must_use]
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or("")
    }

    /// Reads the request's body; `None` if it is cut short or malformed.
    pub fn body(&mut self) -> Option<Vec<u8>> {
        let chunked = header(&self.head, "transfer-encoding").is_some();
        let length = header(&self.head, "content-length").and_then(|length| length.parse::<usize>().ok());
        let body = if chunked { self.client.chunks() } else { self.client.try_take(length.unwrap_or(0)) }?;
        self.log.lock().expect("no test panicked").bytes.extend(&body);
        Some(body)
    }

    /// Answers with these bytes.
    pub fn answer(&mut self, bytes: impl AsRef<[u8]>) {
        self.client.try_send(bytes);
    }

    /// Answers 200 with a text.
    pub fn ok(&mut self, text: &str) {
        self.answer(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len()));
    }
}

impl Backend {
    /// Starts a backend that answers every request with `script`; `false` from it closes the connection.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    pub fn start(script: impl Fn(&mut Exchange) -> bool + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let log = Arc::new(Mutex::new(Log::default()));
        let script = Arc::new(script);
        let shared = Arc::clone(&log);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, script) = (Arc::clone(&shared), Arc::clone(&script));
                log.lock().expect("no test panicked").connections += 1;
                thread::spawn(move || serve(stream, &log, &*script));
            }
        });
        Self { address, log }
    }

    /// Answers every request with 200 and the path, after reading its body.
    #[must_use]
    pub fn echo() -> Self {
        Self::start(|exchange| {
            let Some(_) = exchange.body() else { return false };
            let path = exchange.path().to_owned();
            exchange.ok(&path);
            true
        })
    }

    /// Heads of the requests so far.
    ///
    /// # Panics
    /// If a script panicked.
    #[must_use]
    pub fn heads(&self) -> Vec<String> {
        self.log.lock().expect("no script panicked").heads.clone()
    }

    /// Waits until so many requests have come.
    ///
    /// # Panics
    /// If they never do.
    pub fn await_requests(&self, requests: usize) {
        let begun = Instant::now();
        while self.heads().len() < requests {
            assert!(begun.elapsed() < LONGEST, "{} requests, never {requests}", self.heads().len());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Bodies so far, one after the other.
    ///
    /// # Panics
    /// If a script panicked.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.log.lock().expect("no script panicked").bytes.clone()
    }

    /// Connections so far.
    ///
    /// # Panics
    /// If a script panicked.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.log.lock().expect("no script panicked").connections
    }
}

fn serve(stream: TcpStream, log: &Arc<Mutex<Log>>, script: &(impl Fn(&mut Exchange) -> bool + ?Sized)) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
    let _ = stream.set_nodelay(true);
    let mut client = Client { stream, unread: Vec::new() };
    for nth in 0.. {
        let Some(head) = client.head() else { return };
        log.lock().expect("no test panicked").heads.push(head.clone());
        let mut exchange = Exchange { head, nth, client, log: Arc::clone(log) };
        if !script(&mut exchange) {
            return;
        }
        client = exchange.client;
    }
}

/// A running `tidegate origin`; killed (SIGKILL) when dropped.
pub struct Origin {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Origin {
    /// Starts one on any free port, with more arguments.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), arguments)
    }

    /// Starts one at an address, such as that of one that was killed.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn start_at(listen: SocketAddr, arguments: &[&str]) -> Self {
        let mut child = Command::new(binary())
            .args(["origin", "--listen", &listen.to_string()])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it says something");
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split([',', ' ', '\n']).next());
        let address = address.and_then(|address| address.parse().ok()).expect("it says where it is");
        Self { child, address }
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Something that happens once, and can be waited for by many. Cheap to clone.
#[derive(Clone, Default)]
pub struct Latch(Arc<(Mutex<bool>, Condvar)>);

impl Latch {
    /// Lets everybody go.
    pub fn open(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Waits until it is open, and tells whether it is: a minute at most, so that no thread outlives its test for
    /// long.
    pub fn wait(&self) -> bool {
        let open = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.1.wait_timeout_while(open, Duration::from_secs(60), |open| !*open);
        waited.is_ok_and(|(open, _)| *open)
    }
}

/// A folder of a test's own; removed when dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder.
    ///
    /// # Panics
    /// If it cannot be made.
    #[must_use]
    pub fn new() -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("tidegate-files-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        Self(folder)
    }

    /// The path of something in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file, and the folders it lies in.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("a folder can be made");
        std::fs::write(path, content).expect("a file can be written");
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A scenario of two classes (`high` takes `/high/**`, `low` the rest) in front of some servers.
#[must_use]
pub fn scenario(workers: usize, limit: usize, servers: usize) -> String {
    let mut names = String::new();
    for n in 0..servers {
        let _ = write!(names, "{}{{\"name\":\"s{n}\"}}", if n > 0 { "," } else { "" });
    }
    format!(
        r#"{{"tidegate":1,
        "classes":[{{"name":"high","priority":1,"rules":[{{"path":"/high/**"}}]}},{{"name":"low"}}],
        "stages":[{{"name":"serve","workers":{workers},
            "queue":{{"policy":"tail_drop","limit":{limit}}},"work":{{"at":"servers"}}}}],
        "servers":[{names}]}}"#
    )
}

/// The `tidegate` binary of this very source, in the profile the tests are in; built if need be.
/// `TIDEGATE_BIN` names another.
///
/// # Panics
/// If it cannot be built.
pub fn binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(find_binary).clone()
}

fn find_binary() -> PathBuf {
    if let Some(named) = std::env::var_os("TIDEGATE_BIN") {
        return named.into();
    }
    // A test runs as target/PROFILE/deps/NAME-HASH; the binary is target/PROFILE/tidegate.
    let test = std::env::current_exe().expect("a test is a program");
    let folder = test.ancestors().nth(2).expect("a profile's folder");
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    build.args(["build", "--quiet", "--package", "tidegate", "--bin", "tidegate"]);
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    if folder.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo runs").success(), "tidegate is built");
    folder.join(format!("tidegate{}", std::env::consts::EXE_SUFFIX))
}
