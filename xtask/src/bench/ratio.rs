//! `cargo xtask bench ratio`: whether a gateway holds a ratio of delays between two classes, on real sockets.
//!
//! One emulated server (8 requests at once, 20 ms each), two classes of closed clients that ask again at once, and the
//! low class is to wait four times as long as the high one. HAProxy has no such policy; the nearest it has are a
//! priority offset in time and a priority class, and both run beside Tidegate in front of the same server.
//!
//! The controlled quantity is the time in the gateway's queue: what `/state` sums up for Tidegate, and `%Tw` of its log
//! for HAProxy, in whole milliseconds. The times that clients see have the service time on top and are printed beside it.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::process::{self, Owned};
use crate::workspace::Workspace;
use crate::{packages, play, say};

/// The two classes, by name; the low one is to wait [`TARGET`] times as long.
const CLASSES: [&str; 2] = ["high", "low"];
const TARGET: f64 = 4.0;
/// How far from the target a ratio may be.
const BAND: f64 = 0.1;
/// Requests at the server at once.
const SLOTS: u32 = 8;
const SERVICE_US: u64 = 20_000;

/// Closed clients of the two classes.
const MIXES: [[u32; 2]; 4] = [[10, 20], [20, 40], [10, 60], [30, 30]];
/// Each mix is played for so long, and its first seconds are left out.
const MIX_S: u32 = 25;
const WARM_UP_S: u32 = 5;
/// The step: the first mix, then three times its clients.
const STEP_FACTOR: f64 = 3.0;
const BEFORE_STEP_S: u32 = 15;
const AFTER_STEP_S: u32 = 30;

/// Time between two looks at the sums of delays.
const LOOK: Duration = Duration::from_millis(100);
/// Seconds that a ratio is averaged over where it is followed in time.
const SMOOTH_S: usize = 5;
/// How long a program may take to come up.
const START_LIMIT: Duration = Duration::from_secs(10);

/// A gateway and its policy.
#[derive(Clone, Copy)]
enum Contender {
    /// HAProxy, with what it does to the low class.
    Haproxy(&'static str, &'static str),
    /// Tidegate, with what its stage has beside workers.
    Tidegate(&'static str, &'static str),
}

use Contender::{Haproxy, Tidegate};

/// The first is what the others' throughput is compared with.
const CONTENDERS: [Contender; 4] = [
    Haproxy("HAProxy, offset 400 ms", "set-priority-offset int(400)"),
    Haproxy("HAProxy, priority class", "set-priority-class int(1)"),
    Tidegate("Tidegate, wtp", r#"{"order":"wtp"}"#),
    Tidegate("Tidegate, stc_lead", r#"{"split_by":{"policy":"stc_lead"},"dither":true}"#),
];

impl Contender {
    const fn name(self) -> &'static str {
        match self {
            Haproxy(name, _) | Tidegate(name, _) => name,
        }
    }
}

/// Plays all mixes, then the step, and prints the tables; about ten minutes.
///
/// # Errors
/// When a program cannot be had, built or started, or a request was lost. A ratio that is not held is printed.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let bench = Bench::prepare(workspace)?;
    let mut mixes = Vec::new();
    for mix in MIXES {
        for contender in CONTENDERS {
            say::heading(&format!("{}/{} clients: {}", mix[0], mix[1], contender.name()));
            let played = bench.play(contender, &scenario(mix, MIX_S, None))?;
            mixes.push(Row::of(&played));
        }
    }
    let mut steps = Vec::new();
    for contender in CONTENDERS {
        say::heading(&format!(
            "{}/{} clients, then three times as many: {}",
            MIXES[0][0],
            MIXES[0][1],
            contender.name()
        ));
        let seconds = BEFORE_STEP_S + AFTER_STEP_S;
        let played = bench.play(contender, &scenario(MIXES[0], seconds, Some(BEFORE_STEP_S)))?;
        steps.push(Step::of(&played));
    }
    print!("{}\n{}", mix_table(&mixes), step_table(&steps));
    Ok(())
}

/// What became of one run.
struct Played {
    series: Series,
    /// Mean time a client waits for its answer, by class, in seconds; `None` if nobody was answered.
    client_s: [Option<f64>; 2],
    per_s: f64,
}

/// The programs, and a folder for their configuration.
struct Bench {
    tidegate: PathBuf,
    haproxy: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn prepare(workspace: &Workspace) -> Result<Self> {
        // As in the tests: whoever has a binary need not build one.
        let tidegate = match std::env::var_os("TIDEGATE_BIN") {
            Some(binary) => binary.into(),
            None => {
                play::build_binary(workspace, "release")?;
                workspace.binary("release")
            }
        };
        let folder = workspace.target.join("ratio");
        fs::create_dir_all(&folder).context("cannot make a folder below target/")?;
        Ok(Self { tidegate, haproxy: haproxy()?, folder })
    }

    /// Plays a scenario's clients against a contender in front of a fresh server.
    fn play(&self, contender: Contender, scenario: &Value) -> Result<Played> {
        let mut origin = Command::new(&self.tidegate);
        origin.args(["origin", "--listen", "127.0.0.1:0", "--slots", &SLOTS.to_string()]);
        let (_origin, origin_at) = started(origin, &["origin"])?;
        let (_gateway, address, meter) = match contender {
            Haproxy(_, low) => self.start_haproxy(&origin_at[0], low)?,
            Tidegate(_, policy) => self.start_tidegate(&origin_at[0], scenario, policy)?,
        };
        let file = self.folder.join("load.json");
        fs::write(&file, scenario.to_string()).context("cannot write the scenario")?;
        let mut load = Command::new(&self.tidegate);
        load.arg("load").arg(&file).args(["--target", &address, "--format", "json"]);
        load.args(["--warmup", &WARM_UP_S.to_string()]);
        let series = Follower::start(meter);
        let report = process::output(&mut load)?;
        let series = series.end()?;
        let report = serde_json::from_str(&report).context("the report of `tidegate load`")?;
        outcome(&report, series)
    }

    fn start_haproxy(&self, origin: &str, low: &str) -> Result<(Owned, String, Meter)> {
        let port = free_port()?;
        let file = self.folder.join("haproxy.cfg");
        fs::write(&file, haproxy_config(port, origin.trim_start_matches("http://"), low))
            .context("cannot write the configuration of HAProxy")?;
        let mut haproxy = Command::new(&self.haproxy);
        haproxy.args(["-db", "-f"]).arg(&file).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = Owned(haproxy.spawn().context("cannot start HAProxy")?);
        let log = child.0.stdout.take().context("the log of HAProxy is piped")?;
        let sums = Arc::new(Mutex::new([Sum::default(); 2]));
        let read = Arc::clone(&sums);
        thread::spawn(move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                if let Some((class, wait_s)) = logged(&line) {
                    let sum = &mut read.lock().unwrap_or_else(PoisonError::into_inner)[class];
                    *sum = Sum { count: sum.count + 1.0, seconds: sum.seconds + wait_s };
                }
            }
        });
        await_port(port)?;
        let meter = move || Ok(*sums.lock().unwrap_or_else(PoisonError::into_inner));
        Ok((child, format!("http://127.0.0.1:{port}"), Box::new(meter)))
    }

    fn start_tidegate(&self, origin: &str, scenario: &Value, policy: &str) -> Result<(Owned, String, Meter)> {
        let mut scenario = scenario.clone();
        let stage = scenario["stages"][0].as_object_mut().context("a scenario has a stage")?;
        let policy: Value = serde_json::from_str(policy).context("the policy of a contender")?;
        stage.extend(policy.as_object().cloned().unwrap_or_default());
        let file = self.folder.join("gateway.json");
        fs::write(&file, scenario.to_string()).context("cannot write the scenario")?;
        let mut serve = Command::new(&self.tidegate);
        serve.arg("serve").arg(&file).args(["--upstream", origin]);
        serve.args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]);
        let (child, at) = started(serve, &["clients", "operator"])?;
        let state = format!("{}/state", at[1]);
        let meter = move || {
            let text = ureq::get(&state).call().context("/state")?.body_mut().read_to_string()?;
            sums(&serde_json::from_str(&text).context("/state")?)
        };
        Ok((child, at[0].clone(), Box::new(meter)))
    }
}

/// Finds HAProxy, or installs it. Debian's package also sets up a service; as it comes, that listens nowhere.
fn haproxy() -> Result<PathBuf> {
    let found = || {
        let usual = PathBuf::from("/usr/sbin/haproxy");
        process::find("haproxy").or_else(|| usual.is_file().then_some(usual))
    };
    if found().is_none() {
        packages::install("HAProxy, for the comparison", &["haproxy"])?;
    }
    found().context("HAProxy was installed and is not found")
}

/// HAProxy's best settings for this: as many connections as the server has slots, requests wait in HAProxy's queue, and
/// connections to the server are used again. The log has a line a request: class, and milliseconds in the queue.
fn haproxy_config(port: u16, origin: &str, low: &str) -> String {
    format!(
        "global
    log stdout len 256 format raw local0 info
defaults
    mode http
    log global
    timeout connect 5s
    timeout client 120s
    timeout server 120s
    timeout queue 120s
frontend clients
    bind 127.0.0.1:{port}
    http-request set-var(txn.class) req.hdr(x-class)
    http-request {low} if {{ var(txn.class) -m str low }}
    log-format \"wait %[var(txn.class)] %Tw\"
    default_backend origin
backend origin
    http-reuse always
    server origin {origin} maxconn {SLOTS}
"
    )
}

/// Class and seconds in the queue of a line of HAProxy's log.
fn logged(line: &str) -> Option<(usize, f64)> {
    let mut words = line.strip_prefix("wait ")?.split(' ');
    let class = words.next()?;
    let wait_ms: f64 = words.next()?.parse().ok()?;
    let class = CLASSES.iter().position(|name| *name == class)?;
    (wait_ms >= 0.0).then_some((class, wait_ms / 1e3))
}

/// Delays in the queue of the gateway since its start, from its `/state`.
fn sums(state: &Value) -> Result<[Sum; 2]> {
    let classes = &state["frame"]["stages"][0]["classes"];
    let mut sums = [Sum::default(); 2];
    for (sum, class) in sums.iter_mut().zip(0..) {
        let figure =
            |name: &str| classes[class][name].as_f64().with_context(|| format!("no {name} in /state"));
        *sum = Sum { count: figure("started")?, seconds: figure("wait_sum_s")? };
    }
    Ok(sums)
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}

fn await_port(port: u16) -> Result<()> {
    let (address, begun) = (SocketAddr::from((Ipv4Addr::LOCALHOST, port)), Instant::now());
    while begun.elapsed() < START_LIMIT {
        if TcpStream::connect(address).is_ok() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(20));
    }
    bail!("nothing listens on {address} after {} s", START_LIMIT.as_secs())
}

/// Starts a program of ours; the addresses in its lines that have these words, in their order.
fn started(mut command: Command, words: &[&str]) -> Result<(Owned, Vec<String>)> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = Owned(child.context("cannot start the binary")?);
    let lines = BufReader::new(child.0.stdout.take().context("its output is piped")?).lines();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        // Read to the end, so that the program can say what it wants.
        for line in lines.map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    let mut found = Vec::new();
    for word in words {
        let address = std::iter::from_fn(|| told.recv_timeout(START_LIMIT).ok())
            .find_map(|line| address_in(&line, word))
            .with_context(|| format!("the binary did not say where its {word} address is"))?;
        found.push(address);
    }
    Ok((child, found))
}

/// The address in a line, if the line is about this word.
fn address_in(line: &str, word: &str) -> Option<String> {
    let at = line.find("http://").filter(|_| line.contains(word))?;
    Some(line[at..].split([' ', ',']).next()?.to_owned())
}

/// Two classes of closed clients that do not think, at one stage of as many workers as the server has slots.
fn scenario(clients: [u32; 2], seconds: u32, step_at_s: Option<u32>) -> Value {
    let class = |number: usize| {
        json!({
            "name": CLASSES[number],
            "delay_weight": [1.0, TARGET][number],
            "service": { "law": "constant", "mean_us": SERVICE_US },
            "load": { "kind": "closed", "clients": clients[number] },
            "rules": [{ "path": "/", "header": "x-class", "value": CLASSES[number], "from": "anyone" }],
        })
    };
    let events: Vec<Value> = step_at_s
        .map(|at| json!({ "at_us": u64::from(at) * 1_000_000, "do": "load", "factor": STEP_FACTOR }))
        .into_iter()
        .collect();
    json!({
        "tidegate": 1,
        "title": "Ratio",
        "run": { "horizon_us": u64::from(seconds) * 1_000_000, "mode": "transient" },
        "classes": [class(0), class(1)],
        "stages": [{ "name": "serve", "workers": SLOTS, "work": { "at": "servers" } }],
        "servers": [{ "name": "origin" }],
        "events": events,
    })
}

fn outcome(report: &Value, series: Series) -> Result<Played> {
    let classes = report["classes"].as_array().context("no classes in the report")?;
    ensure!(classes.len() == CLASSES.len(), "{} classes in the report", classes.len());
    let count =
        |class: &Value, name: &str| class[name].as_u64().with_context(|| format!("no {name} in {class}"));
    let mut completed = 0;
    for class in classes {
        let lost = count(class, "failed")? + count(class, "timed_out")? + count(class, "unsent")?;
        ensure!(lost == 0, "{lost} requests without an answer: {class}");
        completed += count(class, "completed")?;
    }
    let seconds = report["elapsed_s"].as_f64().context("no elapsed_s")?;
    let client_s = [0, 1].map(|number| classes[number]["response_s"]["mean"].as_f64());
    Ok(Played { series, client_s, per_s: completed as f64 / seconds })
}

/// Delays of one class so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    count: f64,
    seconds: f64,
}

/// Reads the delays in a gateway's queue so far.
type Meter = Box<dyn Fn() -> Result<[Sum; 2]> + Send>;

/// Looks at a meter again and again.
struct Follower {
    stop: mpsc::Sender<()>,
    thread: thread::JoinHandle<Result<Series>>,
}

impl Follower {
    fn start(meter: Meter) -> Self {
        let (stop, stopped) = mpsc::channel();
        let begun = Instant::now();
        let thread = thread::spawn(move || {
            let mut series = Series::default();
            loop {
                series.0.push((begun.elapsed().as_secs_f64(), meter()?));
                if stopped.recv_timeout(LOOK) != Err(mpsc::RecvTimeoutError::Timeout) {
                    return Ok(series);
                }
            }
        });
        Self { stop, thread }
    }

    fn end(self) -> Result<Series> {
        // It may have ended by itself, with an error.
        let _ = self.stop.send(());
        self.thread.join().map_err(|_| anyhow::anyhow!("the thread that reads the delays stopped"))?
    }
}

/// Delays so far, by seconds since the load began.
#[derive(Clone, Debug, Default)]
struct Series(Vec<(f64, [Sum; 2])>);

impl Series {
    fn at(&self, at_s: f64) -> [Sum; 2] {
        let after = self.0.partition_point(|&(t, _)| t <= at_s);
        self.0.get(after.saturating_sub(1)).map_or_else(Default::default, |&(_, sums)| sums)
    }

    /// Mean delay of each class between two moments; `None` for a class nobody of which was handed over.
    fn means(&self, from_s: f64, to_s: f64) -> [Option<f64>; 2] {
        let (before, after) = (self.at(from_s), self.at(to_s));
        [0, 1].map(|class| {
            let count = after[class].count - before[class].count;
            (count > 0.0).then(|| (after[class].seconds - before[class].seconds) / count)
        })
    }

    /// The ratio at a moment: means of seconds, averaged over the last [`SMOOTH_S`].
    fn ratio_at(&self, end_s: f64) -> Option<f64> {
        let mut sums = [0.0; 2];
        for back in 0..SMOOTH_S {
            let to = end_s - back as f64;
            let [high, low] = self.means(to - 1.0, to);
            sums[0] += high?;
            sums[1] += low?;
        }
        ratio([Some(sums[0]), Some(sums[1])])
    }

    /// The seconds after a step from which on the ratio is in the band to the end; only windows after the step count,
    /// so it is [`SMOOTH_S`] at least.
    fn settled_s(&self, step_s: u32, end_s: u32) -> Option<u32> {
        let first = step_s + SMOOTH_S as u32;
        let out_of_band = (first..=end_s).rev().find(|&t| !self.ratio_at(f64::from(t)).is_some_and(in_band));
        let settled = out_of_band.map_or(first, |t| t + 1);
        (settled <= end_s).then(|| settled - step_s)
    }
}

/// The low class's mean over the high one's.
fn ratio([high, low]: [Option<f64>; 2]) -> Option<f64> {
    let (high, low) = (high?, low?);
    (high > 0.0).then(|| low / high)
}

fn in_band(ratio: f64) -> bool {
    (ratio / TARGET - 1.0).abs() <= BAND
}

/// One line of the first table.
struct Row {
    queue_s: [Option<f64>; 2],
    client_s: [Option<f64>; 2],
    per_s: f64,
}

impl Row {
    fn of(played: &Played) -> Self {
        let queue_s = played.series.means(f64::from(WARM_UP_S), f64::from(MIX_S));
        Self { queue_s, client_s: played.client_s, per_s: played.per_s }
    }
}

fn mix_table(rows: &[Row]) -> String {
    let mut text = format!(
        "Ratio of mean delays, {TARGET} wanted; {SLOTS} workers, {} ms each\n\n{:<8} {:<24} {:>9} {:>9} {:>7} {:>8} \
         {:>10} {:>9} {:>7} {:>8} {:>8}\n",
        SERVICE_US / 1_000,
        "clients",
        "",
        "queue: hi",
        "lo",
        "ratio",
        "error",
        "client: hi",
        "lo",
        "ratio",
        "req/s",
        "to first",
    );
    let mut held = [0; CONTENDERS.len()];
    for (mix, rows) in MIXES.iter().zip(rows.chunks(CONTENDERS.len())) {
        for (number, (contender, row)) in CONTENDERS.iter().zip(rows).enumerate() {
            let clients = if number == 0 { format!("{}/{}", mix[0], mix[1]) } else { String::new() };
            let queue = ratio(row.queue_s);
            held[number] += usize::from(queue.is_some_and(in_band));
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{clients:<8} {:<24} {:>9} {:>9} {:>7} {:>8} {:>10} {:>9} {:>7} {:>8.1} {:>7.1} %",
                contender.name(),
                ms(row.queue_s[0]),
                ms(row.queue_s[1]),
                two(queue),
                queue.map_or("-".to_owned(), |ratio| format!("{:+.1} %", (ratio / TARGET - 1.0) * 100.0)),
                ms(row.client_s[0]),
                ms(row.client_s[1]),
                two(ratio(row.client_s)),
                row.per_s,
                row.per_s / rows[0].per_s * 100.0,
            );
        }
    }
    text.push_str("\nwithin 10 % of the wanted ratio in the queue:\n");
    for (contender, held) in CONTENDERS.iter().zip(held) {
        let _ = writeln!(text, "  {:<24} {held} of {} mixes", contender.name(), MIXES.len());
    }
    text
}

/// One line of the second table.
struct Step {
    before: Option<f64>,
    after: Option<f64>,
    settled_s: Option<u32>,
    per_s: f64,
}

impl Step {
    fn of(played: &Played) -> Self {
        let [warm, step, end] = [WARM_UP_S, BEFORE_STEP_S, BEFORE_STEP_S + AFTER_STEP_S].map(f64::from);
        // The new load has settled in the second half.
        let half = f64::midpoint(step, end);
        Self {
            before: ratio(played.series.means(warm, step)),
            after: ratio(played.series.means(half, end)),
            settled_s: played.series.settled_s(BEFORE_STEP_S, BEFORE_STEP_S + AFTER_STEP_S),
            per_s: played.per_s,
        }
    }
}

fn step_table(steps: &[Step]) -> String {
    let [high, low] = MIXES[0];
    let mut text = format!(
        "{high}/{low} clients, then three times as many: ratio in the queue, and the seconds after the step from which on its \
         average over {SMOOTH_S} s stays within 10 %\n\n{:<24} {:>7} {:>7} {:>10} {:>8}\n",
        "", "before", "after", "held from", "req/s",
    );
    for (contender, step) in CONTENDERS.iter().zip(steps) {
        let held = step.settled_s.map_or("never".to_owned(), |s| format!("{s} s"));
        let (before, after) = (two(step.before), two(step.after));
        let _ =
            writeln!(text, "{:<24} {before:>7} {after:>7} {held:>10} {:>8.1}", contender.name(), step.per_s);
    }
    text
}

fn ms(seconds: Option<f64>) -> String {
    seconds.map_or("-".to_owned(), |s| format!("{:.1} ms", s * 1e3))
}

fn two(number: Option<f64>) -> String {
    number.map_or("-".to_owned(), |number| format!("{number:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request of each class every 10 ms; the low class waits 400 ms, the high one what it is given at a second.
    fn series(seconds: u32, high_ms: impl Fn(f64) -> f64) -> Series {
        let mut sums = [Sum::default(); 2];
        let mut series = Series(vec![(0.0, sums)]);
        for n in 0..seconds * 100 {
            let at = f64::from(n) / 100.0;
            for (sum, wait_s) in sums.iter_mut().zip([high_ms(at) / 1e3, 0.4]) {
                *sum = Sum { count: sum.count + 1.0, seconds: sum.seconds + wait_s };
            }
            series.0.push((f64::from(n + 1) / 100.0, sums));
        }
        series
    }

    #[test]
    fn means_are_those_of_a_stretch() {
        let series = series(20, |t| if t < 10.0 { 50.0 } else { 100.0 });
        let near = |got: Option<f64>, want: f64| got.is_some_and(|got| (got - want).abs() < 0.01 * want);
        assert!(near(ratio(series.means(2.0, 10.0)), 8.0), "{:?}", series.means(2.0, 10.0));
        assert!(near(ratio(series.means(10.0, 20.0)), 4.0), "{:?}", series.means(10.0, 20.0));
        assert_eq!(series.means(30.0, 40.0), [None, None], "nobody was handed over then");
    }

    #[test]
    fn a_ratio_is_held_from_where_it_no_longer_leaves_the_band() {
        // In the band at once, out of it between 13 and 17 s, in it from then on: the average over 5 s is 21 s late.
        let series = series(40, |t| if (13.0..17.0).contains(&t) { 60.0 } else { 100.0 });
        assert_eq!(series.settled_s(10, 40), Some(11), "windows that touch the bad ones count as bad");
        let drifts = |t: f64| if t > 38.0 { 50.0 } else { 100.0 };
        assert_eq!(self::series(40, drifts).settled_s(10, 40), None, "out of the band at the end");
        assert_eq!(
            self::series(40, |_| 100.0).settled_s(10, 40),
            Some(5),
            "no window after the step is shorter"
        );
    }

    #[test]
    fn what_the_gateways_say_of_delays_is_read() {
        assert_eq!(logged("wait low 412"), Some((1, 0.412)));
        assert_eq!(logged("wait high -1"), None, "it never had a place in the queue");
        assert_eq!(logged("[NOTICE] wait high 3"), None);
        let class = |started: u64, wait: f64| json!({ "started": started, "wait_sum_s": wait });
        let state = json!({ "frame": { "stages": [{ "classes": [class(3, 0.5), class(1, 2.0)] }] } });
        assert_eq!(sums(&state).expect("all there")[0], Sum { count: 3.0, seconds: 0.5 });
        assert!(sums(&json!({})).is_err());
        let line = "  operator  http://127.0.0.1:9900  the page, /metrics";
        assert_eq!(address_in(line, "operator").as_deref(), Some("http://127.0.0.1:9900"));
        assert_eq!(
            address_in("origin on http://127.0.0.1:1, 8 at once", "origin").as_deref(),
            Some("http://127.0.0.1:1")
        );
        assert_eq!(address_in(line, "clients"), None);
    }

    #[test]
    fn both_gateways_tell_the_classes_apart_by_the_same_header() {
        let scenario = scenario([10, 20], 25, Some(15));
        assert_eq!(scenario["classes"][1]["rules"][0]["value"], "low");
        assert_eq!(scenario["events"][0]["factor"], 3.0);
        let config = haproxy_config(1, "127.0.0.1:2", "set-priority-offset int(400)");
        assert!(
            config.contains("http-request set-priority-offset int(400) if { var(txn.class) -m str low }")
        );
        assert!(config.contains("maxconn 8"), "{config}");
    }

    #[test]
    fn the_tables_have_a_line_for_each_run() {
        let row = || Row { queue_s: [Some(0.1), Some(0.41)], client_s: [Some(0.12), None], per_s: 390.0 };
        let text = mix_table(&(0..MIXES.len() * CONTENDERS.len()).map(|_| row()).collect::<Vec<_>>());
        let line = text.lines().find(|line| line.starts_with("10/60")).expect("a mix");
        assert!(line.contains("100.0 ms") && line.contains("4.10") && line.contains("+2.5 %"), "{line}");
        assert!(text.contains("Tidegate, stc_lead       4 of 4 mixes"), "{text}");
        let step = || Step { before: Some(4.0), after: None, settled_s: Some(6), per_s: 390.0 };
        let text = step_table(&(0..CONTENDERS.len()).map(|_| step()).collect::<Vec<_>>());
        assert_eq!(text.matches("6 s").count(), CONTENDERS.len(), "{text}");
    }
}
