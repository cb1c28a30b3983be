//! `tidegate agent`: says how loaded this machine is, for a server that does not say it itself.
//!
//! The five loads of paper B, 2.1, as shares of what the machine can give, from `/proc`:
//!
//! | load | share |
//! |---|---|
//! | cpu | time at work, of the processors this process may use; stolen time counts as work, waiting for disks does not |
//! | mem | what is not available, of all |
//! | net | bits a second in the busier direction of the busiest interface, of its speed |
//! | disk | time in which the busiest disk had something to do |
//! | rooms | places taken, by a file that the server writes, of a limit |
//!
//! The first, third and fourth are rates: two snapshots make one, and rates are smoothed, as a second of work says
//! little about the next ten. What cannot be known is not reported, rather than reported as 0.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use procfs_core::net::InterfaceDeviceStatus;
use procfs_core::{DiskStats, ExplicitSystemInfo, FromRead as _, FromReadSI as _, KernelStats, Meminfo};
use tidegate_core::balance::LoadReport;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::reporting::{HeaderForm, Loaded, answer_checks, listen_for_checks, load_answer, orca_header};
use crate::serve::body::Reply;
use crate::serve::connection::{Client, Rules, Serve, accept};
use crate::serve::shutdown::Shutdown;

/// How the machine is looked at, and who may ask.
#[derive(Clone, Debug)]
pub(crate) struct AgentConfig {
    /// Where `/load` is answered; port 0 takes any free one.
    pub(crate) listen: SocketAddr,
    /// Where agent checks are answered, if anywhere.
    pub(crate) agent_check: Option<SocketAddr>,
    /// Time between two snapshots.
    pub(crate) interval: Duration,
    /// Time constant of the averages.
    pub(crate) period: Duration,
    /// Speed of interfaces that do not say theirs, in Mbit/s.
    pub(crate) net_speed: Option<f64>,
    /// Where the number of places taken is read, and how many there are.
    pub(crate) rooms: Option<(PathBuf, f64)>,
    /// Whether it begins by wanting nothing new.
    pub(crate) drain: bool,
}

const RULES: Rules = Rules {
    connections: 128,
    header_bytes: 16 * 1024,
    header_timeout: Duration::from_secs(5),
    idle_timeout: Duration::from_secs(60),
    write_timeout: Duration::from_secs(10),
};

/// Reports until the shutdown; `ready` hears of the addresses, that of `/load` first.
///
/// # Errors
/// An address that cannot be listened on, or a machine without `/proc`.
pub(crate) async fn run(
    config: AgentConfig,
    shutdown: Shutdown,
    ready: impl FnOnce(SocketAddr, Option<SocketAddr>),
) -> anyhow::Result<()> {
    let cannot = |address| move || format!("cannot listen on {address}");
    let listener = TcpListener::bind(config.listen).await.with_context(cannot(config.listen))?;
    let checks = match config.agent_check {
        Some(address) => Some(listen_for_checks(address).await.with_context(cannot(address))?),
        None => None,
    };
    let first =
        Snapshot::take(Path::new("/proc")).context("this machine's load cannot be read from /proc")?;
    let agent = Arc::new(Agent {
        report: Mutex::new(LoadReport { loads: first.present(&config), ..LoadReport::default() }),
        drains: AtomicBool::new(config.drain),
    });
    ready(listener.local_addr()?, checks.as_ref().map(|(_, address)| *address));
    let told = tokio::spawn(listen_to_signals(Arc::clone(&agent))?);
    let looking = tokio::spawn(look(config, first, Arc::clone(&agent)));
    let checking = checks.map(|(listener, _)| tokio::spawn(answer_checks(listener, Arc::clone(&agent))));
    accept(listener, agent, RULES, shutdown.bounded(Duration::from_secs(2))).await;
    told.abort();
    looking.abort();
    if let Some(checking) = checking {
        checking.abort();
    }
    Ok(())
}

/// What is known of the machine.
struct Agent {
    report: Mutex<LoadReport>,
    drains: AtomicBool,
}

impl Loaded for Agent {
    fn report(&self) -> LoadReport {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drains(&self) -> bool {
        self.drains.load(Ordering::Relaxed)
    }
}

impl Serve for Agent {
    async fn serve(self: Arc<Self>, _: Arc<Client>, request: Request<Incoming>) -> Response<Reply> {
        if request.uri().path() != "/load" {
            let mut response = Response::new(Reply::text("there is /load\n"));
            *response.status_mut() = StatusCode::NOT_FOUND;
            return response;
        }
        let mut response = load_answer(&*self);
        if let Some((name, value)) = orca_header(HeaderForm::Text, &self.report()) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// SIGUSR1: nothing new. SIGUSR2: as usual.
fn listen_to_signals(agent: Arc<Agent>) -> io::Result<impl Future<Output = ()>> {
    let (mut drain, mut ready) = (signal(SignalKind::user_defined1())?, signal(SignalKind::user_defined2())?);
    Ok(async move {
        loop {
            let drains = tokio::select! {
                Some(()) = drain.recv() => true,
                Some(()) = ready.recv() => false,
                else => return,
            };
            agent.drains.store(drains, Ordering::Relaxed);
        }
    })
}

/// Looks at the machine for as long as it is polled.
async fn look(config: AgentConfig, mut before: Snapshot, agent: Arc<Agent>) {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
    let mut tick = interval(config.interval);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick.tick().await;
    loop {
        tick.tick().await;
        let speed = |name: &str| interface_speed(name).or(config.net_speed);
        // A look that fails is left out; the next rate is then over a longer time.
        let Ok(now) = Snapshot::take(Path::new("/proc")) else { continue };
        let passed = now.at - before.at;
        let rates = now.rates_since(&before, passed, processors, speed);
        let mut report = agent.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.loads = smoothed(report.loads, rates, passed, config.period);
        for (load, present) in report.loads.iter_mut().zip(now.present(&config)) {
            *load = present.or(*load);
        }
        drop(report);
        before = now;
    }
}

/// Averages in which a look of this length counts as much as the time constant says.
fn smoothed(
    average: [Option<f64>; 5],
    new: [Option<f64>; 5],
    passed: Duration,
    period: Duration,
) -> [Option<f64>; 5] {
    let gain = 1.0 - (-passed.as_secs_f64() / period.as_secs_f64()).exp();
    std::array::from_fn(|of| match (average[of], new[of]) {
        (Some(average), Some(new)) => Some(average + gain * (new - average)),
        (average, new) => new.or(average),
    })
}

/// The speed that the driver of an interface says, in Mbit/s. Virtual ones say none, or -1.
fn interface_speed(name: &str) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{name}/speed")).ok()?;
    text.trim().parse().ok().filter(|&speed| speed > 0.0)
}

/// The kernel's counters at one moment.
#[derive(Clone, Debug)]
struct Snapshot {
    at: Instant,
    /// Ticks of all processors together, since the start: at work, and all.
    ticks: (u64, u64),
    /// How many processors these are.
    processors: usize,
    /// Share of the memory that is not available.
    mem: Option<f64>,
    /// Bytes so far, received and sent, by interface.
    net: BTreeMap<String, (u64, u64)>,
    /// Milliseconds with something to do so far, by disk.
    disks: BTreeMap<String, u64>,
}

impl Snapshot {
    fn take(proc: &Path) -> anyhow::Result<Self> {
        let read = |name: &str| std::fs::read_to_string(proc.join(name)).with_context(|| name.to_owned());
        let (stat, meminfo) = (read("stat")?, read("meminfo")?);
        // Containers often have neither; the loads are then unknown.
        let (net, disks) = (read("net/dev").unwrap_or_default(), read("diskstats").unwrap_or_default());
        Self::of(Instant::now(), &stat, &meminfo, &net, &disks)
    }

    /// Reads the texts of `/proc/stat`, `meminfo`, `net/dev` and `diskstats`.
    fn of(at: Instant, stat: &str, meminfo: &str, net: &str, disks: &str) -> anyhow::Result<Self> {
        // Only ratios of ticks are used, so none of this matters.
        let system = ExplicitSystemInfo {
            boot_time_secs: 0,
            ticks_per_second: 100,
            page_size: 4096,
            is_little_endian: true,
        };
        let stat = KernelStats::from_read(stat.as_bytes(), &system)?;
        let memory = Meminfo::from_read(meminfo.as_bytes())?;
        let interfaces = InterfaceDeviceStatus::from_read(net.as_bytes())?.0.into_iter();
        let disks = DiskStats::from_read(disks.as_bytes())?.0.into_iter();
        let total = &stat.total;
        let idle = total.idle + total.iowait.unwrap_or(0);
        // A guest's time is in `user` already.
        let busy = total.user
            + total.nice
            + total.system
            + [total.irq, total.softirq, total.steal].into_iter().flatten().sum::<u64>();
        let available = memory.mem_available.unwrap_or(memory.mem_free);
        Ok(Self {
            at,
            ticks: (busy, busy + idle),
            processors: stat.cpu_time.len(),
            mem: share((memory.mem_total.saturating_sub(available)) as f64, memory.mem_total as f64),
            net: interfaces
                .filter(|(name, _)| name != "lo")
                .map(|(name, counts)| (name, (counts.recv_bytes, counts.sent_bytes)))
                .collect(),
            disks: disks.filter(is_disk).map(|disk| (disk.name, disk.time_in_progress)).collect(),
        })
    }

    /// Loads that one snapshot shows.
    fn present(&self, config: &AgentConfig) -> [Option<f64>; 5] {
        let rooms = config.rooms.as_ref().and_then(|(file, limit)| {
            let taken: f64 = std::fs::read_to_string(file).ok()?.trim().parse().ok()?;
            share(taken, *limit)
        });
        [None, self.mem, None, None, rooms]
    }

    /// Loads that are rates since an earlier snapshot. `processors` are those this process may use, and `speed` is an
    /// interface's, in Mbit/s.
    fn rates_since(
        &self,
        before: &Self,
        passed: Duration,
        processors: f64,
        speed: impl Fn(&str) -> Option<f64>,
    ) -> [Option<f64>; 5] {
        let since = |now: u64, before: u64| now.saturating_sub(before) as f64;
        let (busy, all) = (since(self.ticks.0, before.ticks.0), since(self.ticks.1, before.ticks.1));
        let cpu = share(busy * self.processors as f64, all * processors);
        let net = self.net.iter().filter_map(|(name, &(received, sent))| {
            let &(received_before, sent_before) = before.net.get(name)?;
            let bytes = since(received, received_before).max(since(sent, sent_before));
            share(bytes * 8.0, speed(name)? * 1e6 * passed.as_secs_f64())
        });
        let disk = self.disks.iter().filter_map(|(name, &busy)| {
            share(since(busy, *before.disks.get(name)?), passed.as_secs_f64() * 1e3)
        });
        [cpu, None, highest(net), highest(disk), None]
    }
}

/// Not the memory disks and loop devices, whose time is somebody else's.
fn is_disk(disk: &procfs_core::DiskStat) -> bool {
    const RAM: i32 = 1;
    const LOOP: i32 = 7;
    !matches!(disk.major, RAM | LOOP)
}

/// A part of a whole, 0 to 1; `None` where there is no whole.
fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0 && part.is_finite()).then(|| (part / whole).clamp(0.0, 1.0))
}

fn highest(loads: impl Iterator<Item = f64>) -> Option<f64> {
    loads.reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/proc/meminfo` of a machine with 2 GiB, as far as it is asked for.
    const MEMORY: &str = include_str!("agent/meminfo");

    /// A snapshot of a machine of four processors, `user` and `idle` ticks on, with these bytes and disk times.
    fn snapshot(user: u64, idle: u64, eth0: (u64, u64), vda: u64) -> Snapshot {
        let stat = format!(
            "cpu  {user} 10 20 {idle} 300 1 2 7 5 0\ncpu0 1 0 0 1 0 0 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0 0 0\n\
             cpu2 1 0 0 1 0 0 0 0 0 0\ncpu3 1 0 0 1 0 0 0 0 0 0\nintr 1\nctxt 5\nbtime 1700000000\nprocesses 9\n"
        );
        let net = format!(
            "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop \
             fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
             lo: 99999999 1 0 0 0 0 0 0 99999999 1 0 0 0 0 0 0\n  \
             eth0: {} 1 0 0 0 0 0 0 {} 1 0 0 0 0 0 0\n  eth1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
            eth0.0, eth0.1
        );
        let disks = format!(
            "   7       0 loop0 0 0 0 0 0 0 0 0 0 900000 0 0 0 0 0 0 0\n \
             254       0 vda 1 2 3 4 5 6 7 8 0 {vda} 12 0 0 0 0 0 0\n \
             254       1 vda1 1 2 3 4 5 6 7 8 0 5 12 0 0 0 0 0 0\n"
        );
        Snapshot::of(Instant::now(), &stat, MEMORY, &net, &disks).unwrap()
    }

    #[track_caller]
    fn check(got: [Option<f64>; 5], want: [Option<f64>; 5]) {
        for (got, want) in got.into_iter().zip(want) {
            let is_near = match (got, want) {
                (Some(got), Some(want)) => (got - want).abs() < 1e-9,
                (got, want) => got == want,
            };
            assert!(is_near, "{got:?}, want {want:?}");
        }
    }

    /// Of two seconds: 400 of 800 ticks at work, 5 MB in and 1 MB out, half a second of disk.
    fn rates(processors: f64, speed: Option<f64>) -> [Option<f64>; 5] {
        let before = snapshot(1000, 9000, (1_000_000, 1_000_000), 10_000);
        let now = snapshot(1400, 9400, (6_000_000, 2_000_000), 10_500);
        now.rates_since(&before, Duration::from_secs(2), processors, |_| speed)
    }

    #[test]
    fn two_snapshots_make_a_rate() {
        check(rates(4.0, Some(100.0)), [Some(0.5), None, Some(0.2), Some(0.25), None]);
        check(rates(4.0, None), [Some(0.5), None, None, Some(0.25), None]);
        check(rates(2.0, Some(10.0)), [Some(1.0), None, Some(1.0), Some(0.25), None]);
    }

    #[test]
    fn what_went_backwards_or_came_new_makes_no_rate() {
        let before = snapshot(1400, 9400, (6_000_000, 2_000_000), 10_500);
        let mut now = snapshot(1000, 9800, (0, 0), 0);
        now.disks.insert("sdb".to_owned(), 99_999);
        let rates = now.rates_since(&before, Duration::from_secs(1), 4.0, |_| Some(100.0));
        check(rates, [None, None, Some(0.0), Some(0.0), None]);
        let none =
            Snapshot::of(Instant::now(), "cpu  1 1 1 1\nctxt 1\nbtime 1\nprocesses 1\n", MEMORY, "", "");
        assert!(none.unwrap().net.is_empty(), "a machine that shows neither interfaces nor disks");
    }

    #[test]
    fn rooms_and_memory_are_shares_at_once() {
        let file = std::env::temp_dir().join(format!("tidegate-rooms-{}", std::process::id()));
        let config = |rooms| AgentConfig {
            listen: "127.0.0.1:0".parse().unwrap(),
            agent_check: None,
            interval: Duration::from_secs(1),
            period: Duration::from_secs(5),
            net_speed: None,
            rooms,
            drain: false,
        };
        let now = snapshot(0, 0, (0, 0), 0);
        check(now.present(&config(None)), [None, Some(0.25), None, None, None]);
        std::fs::write(&file, "30\n").unwrap();
        let rooms = Some((file.clone(), 120.0));
        check(now.present(&config(rooms.clone())), [None, Some(0.25), None, None, Some(0.25)]);
        std::fs::write(&file, "many").unwrap();
        check(now.present(&config(rooms)), [None, Some(0.25), None, None, None]);
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn averages_follow_by_two_thirds_in_a_period() {
        let second = Duration::from_secs(1);
        let old = [Some(0.0), Some(0.5), None, Some(0.3), None];
        let new = [Some(1.0), None, Some(0.2), Some(0.3), None];
        let want = 1.0 - (-1.0_f64).exp();
        check(smoothed(old, new, second, second), [Some(want), Some(0.5), Some(0.2), Some(0.3), None]);
    }
}
