//! Loads from the page of Prometheus's `node_exporter`, which runs on many servers anyway.
//!
//! Most of its figures are counters, so it takes two looks at the page to know a load:
//!
//! | load | of |
//! |---|---|
//! | processors | 1 less the rate of `node_cpu_seconds_total{mode="idle"}`, mean over all |
//! | memory | 1 less `node_memory_MemAvailable_bytes` over `node_memory_MemTotal_bytes` |
//! | network | the larger rate of `node_network_receive_bytes_total` and `…_transmit_…` over `node_network_speed_bytes`, the busiest interface that says its speed |
//! | disk | the rate of `node_disk_io_time_seconds_total`, the busiest disk |
//! | rooms | unknown: no machine knows what a room is |
//!
//! A counter that went back was reset, and says nothing until the next look. A page is a stranger's: lines that make no
//! sense are passed over, and only so many processors, interfaces and disks are looked at.

use super::{number, set_load};
use crate::balance::LoadReport;
use crate::scenario::v1::ResourceV1;
use crate::time::Duration;
use alloc::collections::BTreeMap;
use alloc::string::String;

/// The longest page that is read, in bytes; what is beyond is not looked at.
pub const LONGEST: usize = 4 << 20;
/// Processors, interfaces or disks that are looked at.
const MOST: usize = 1_024;
/// The longest name of one, in bytes.
const LONGEST_NAME: usize = 64;

/// What one look at the page found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scrape {
    /// Seconds each processor was idle.
    idle_s: Counters,
    /// Bytes each interface received, and sent.
    received: Counters,
    sent: Counters,
    /// Bytes a second each interface can carry.
    speed: Counters,
    /// Seconds each disk was busy.
    busy_s: Counters,
    /// Bytes of memory that could be used.
    available: Option<f64>,
    /// Bytes of memory.
    memory: Option<f64>,
}

/// Figures by device; no more than [`MOST`].
#[derive(Clone, Debug, Default, PartialEq)]
struct Counters(BTreeMap<String, f64>);

impl Counters {
    fn note(&mut self, device: Option<&str>, value: f64) {
        let Some(device) = device.filter(|device| device.len() <= LONGEST_NAME) else { return };
        if self.0.len() < MOST || self.0.contains_key(device) {
            self.0.insert(device.into(), value);
        }
    }

    /// Rate of each counter that is at both looks and did not go back.
    fn rates<'a>(&'a self, before: &'a Self, elapsed_s: f64) -> impl Iterator<Item = (&'a str, f64)> {
        self.0.iter().filter_map(move |(device, &value)| {
            let risen = value - before.0.get(device)?;
            (risen >= 0.0).then(|| (device.as_str(), risen / elapsed_s))
        })
    }
}

/// Looks at a page.
#[must_use]
pub fn read(page: &[u8]) -> Scrape {
    let mut scrape = Scrape::default();
    let page = &page[..page.len().min(LONGEST)];
    for line in page.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"node_")) {
        if let Some(sample) = core::str::from_utf8(line).ok().and_then(Sample::read) {
            scrape.note(&sample);
        }
    }
    scrape
}

impl Scrape {
    fn note(&mut self, sample: &Sample<'_>) {
        let device = || sample.label("device");
        let value = sample.value;
        match sample.name {
            "node_cpu_seconds_total" if sample.label("mode") == Some("idle") => {
                self.idle_s.note(sample.label("cpu"), value);
            }
            "node_memory_MemAvailable_bytes" => self.available = Some(value),
            "node_memory_MemTotal_bytes" => self.memory = Some(value),
            "node_network_receive_bytes_total" => self.received.note(device(), value),
            "node_network_transmit_bytes_total" => self.sent.note(device(), value),
            "node_network_speed_bytes" => self.speed.note(device().filter(|&name| name != "lo"), value),
            "node_disk_io_time_seconds_total" => self.busy_s.note(device(), value),
            _ => {}
        }
    }

    /// Whether there was anything of use on the page.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The loads between two looks, of which the other was `elapsed` earlier.
    #[must_use]
    pub fn since(&self, before: &Self, elapsed: Duration) -> LoadReport {
        let mut report = LoadReport::default();
        let elapsed_s = elapsed.as_secs_f64();
        let mut note = |of, load: Option<f64>| {
            if let Some(load) = load.filter(|load| load.is_finite()) {
                set_load(&mut report, of, load.clamp(0.0, 1.0));
            }
        };
        note(ResourceV1::Mem, self.memory_used());
        if elapsed_s > 0.0 {
            note(ResourceV1::Cpu, self.processors(before, elapsed_s));
            note(ResourceV1::Net, self.network(before, elapsed_s));
            note(ResourceV1::Disk, largest(self.busy_s.rates(&before.busy_s, elapsed_s)));
        }
        report
    }

    fn processors(&self, before: &Self, elapsed_s: f64) -> Option<f64> {
        let mut idle = (0.0, 0.0);
        for (_, rate) in self.idle_s.rates(&before.idle_s, elapsed_s) {
            idle = (idle.0 + rate.min(1.0), idle.1 + 1.0);
        }
        (idle.1 > 0.0).then(|| 1.0 - idle.0 / idle.1)
    }

    fn memory_used(&self) -> Option<f64> {
        self.memory.filter(|&memory| memory > 0.0).zip(self.available).map(|(all, free)| 1.0 - free / all)
    }

    /// Of both directions the fuller, as a line carries its speed each way. Without a speed a rate says nothing.
    fn network(&self, before: &Self, elapsed_s: f64) -> Option<f64> {
        let directions =
            [self.received.rates(&before.received, elapsed_s), self.sent.rates(&before.sent, elapsed_s)];
        largest(directions.into_iter().flatten().filter_map(|(device, rate)| {
            let speed = self.speed.0.get(device).filter(|&&speed| speed > 0.0)?;
            Some((device, rate / speed))
        }))
    }
}

fn largest<'a>(loads: impl Iterator<Item = (&'a str, f64)>) -> Option<f64> {
    loads.map(|(_, load)| load).reduce(f64::max)
}

/// A line of the exposition: `name{label="value"} number`, and a time stamp that nobody needs.
struct Sample<'a> {
    name: &'a str,
    labels: &'a str,
    value: f64,
}

impl<'a> Sample<'a> {
    /// `None` for what is no sample, or none with a number of 0 or more.
    fn read(line: &'a str) -> Option<Self> {
        let (name, labels, rest) = match line.split_once('{') {
            Some((name, rest)) => {
                let (labels, rest) = rest.rsplit_once('}')?;
                (name, labels, rest)
            }
            None => {
                let (name, rest) = line.split_once([' ', '\t'])?;
                (name, "", rest)
            }
        };
        let value = number(rest.split_ascii_whitespace().next()?).ok()?;
        Some(Self { name: name.trim_end(), labels, value })
    }

    /// The value of a label; `None` for one with an escape in it, which no name of a device has.
    fn label(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.labels;
        loop {
            let (label, after) = rest.split_once("=\"")?;
            let (value, after) = after.split_once('"')?;
            if value.contains('\\') {
                return None;
            }
            if label.trim_matches([',', ' ']) == name {
                return Some(value);
            }
            rest = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::noise;
    use super::*;
    use alloc::format;

    const FIRST: &str = r#"# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 1000.5
node_cpu_seconds_total{cpu="0",mode="user"} 200
node_cpu_seconds_total{cpu="1",mode="idle"} 2000
node_memory_MemAvailable_bytes 4.294967296e+09
node_memory_MemTotal_bytes 1.7179869184e+10
node_network_receive_bytes_total{device="eth0"} 1e+09
node_network_receive_bytes_total{device="lo"} 0
node_network_transmit_bytes_total{device="eth0"} 5e+08
node_network_transmit_bytes_total{device="wlan0"} 0
node_network_speed_bytes{device="eth0"} 1.25e+08
node_network_speed_bytes{device="lo"} 1
node_network_speed_bytes{device="wlan0"} -125000
node_disk_io_time_seconds_total{device="sda"} 50
node_disk_io_time_seconds_total{device="sdb"} 7
"#;

    const SECOND: &str = r#"node_cpu_seconds_total{cpu="0",mode="idle"} 1003.5
node_cpu_seconds_total{cpu="1",mode="idle"} 2005
node_memory_MemAvailable_bytes 4.294967296e+09
node_memory_MemTotal_bytes 1.7179869184e+10
node_network_receive_bytes_total{device="eth0"} 1.125e+09
node_network_receive_bytes_total{device="lo"} 9e+12
node_network_transmit_bytes_total{device="eth0"} 1.125e+09 1395066363000
node_network_transmit_bytes_total{device="wlan0"} 1e+09
node_network_speed_bytes{device="eth0"} 1.25e+08
node_network_speed_bytes{device="lo"} 1
node_network_speed_bytes{device="wlan0"} -125000
node_disk_io_time_seconds_total{device="sda"} 52
node_disk_io_time_seconds_total{device="sdb"} 7.5
"#;

    /// Loads of two looks 10 s apart: processors, memory, network, disk, rooms.
    #[track_caller]
    fn check(first: &str, second: &str, want: [Option<f64>; 5]) {
        let report = read(second.as_bytes()).since(&read(first.as_bytes()), Duration::from_secs(10));
        for ((got, want), of) in report.loads.into_iter().zip(want).zip(ResourceV1::FIVE) {
            let close = match (got, want) {
                (Some(got), Some(want)) => (got - want).abs() < 1e-9,
                (got, want) => got == want,
            };
            assert!(close, "{}: {got:?}, expected {want:?}", of.name());
        }
        assert_eq!(LoadReport { loads: report.loads, ..LoadReport::default() }, report, "nothing but loads");
    }

    /// Idle 3 s and 5 s of 10 s; a quarter of the memory free; 62.5 MB/s of 125 sent; 2 s of 10 s at the disk.
    #[test]
    fn two_looks_give_the_loads_of_a_machine() {
        check(FIRST, SECOND, [Some(0.6), Some(0.75), Some(0.5), Some(0.2), None]);
    }

    #[test]
    fn one_look_knows_the_memory_alone() {
        check("", SECOND, [None, Some(0.75), None, None, None]);
        let scrape = read(SECOND.as_bytes());
        let at_once = scrape.since(&read(FIRST.as_bytes()), Duration::ZERO);
        assert_eq!(at_once.loads, [None, Some(0.75), None, None, None], "no time, no rate");
        assert!(!scrape.is_empty() && read(b"go_goroutines 7\n").is_empty());
    }

    #[test]
    fn a_counter_that_went_back_says_nothing() {
        check(SECOND, FIRST, [None, Some(0.75), None, None, None]);
        let one_reset = SECOND.replace("1003.5", "3.5").replace("} 52", "} 0");
        check(FIRST, &one_reset, [Some(0.5), Some(0.75), Some(0.5), Some(0.05), None]);
    }

    #[test]
    fn a_line_without_speed_is_unknown_and_shares_stay_shares() {
        let without = SECOND.replace("node_network_speed_bytes{device=\"eth0\"}", "other{device=\"eth0\"}");
        check(FIRST, &without, [Some(0.6), Some(0.75), None, Some(0.2), None]);
        let beyond = SECOND.replace("} 52", "} 9e9").replace("1003.5", "9e9").replace("2005", "9e9");
        check(FIRST, &beyond, [Some(0.0), Some(0.75), Some(0.5), Some(1.0), None]);
    }

    #[test]
    fn lines_that_make_no_sense_are_passed_over() {
        let strange = r#"node_cpu_seconds_total{cpu="0",mode="idle"}
node_cpu_seconds_total{cpu="0",mode="idle"} NaN
node_cpu_seconds_total{cpu="0",mode="idle" 7
node_cpu_seconds_total{mode="idle"} 7
node_cpu_seconds_total 7
node_disk_io_time_seconds_total{device="s\"da"} 9e9
node_disk_io_time_seconds_total{device="} 9e9
node_memory_MemTotal_bytes +Inf
node_memory_MemTotal_bytes -1
"#;
        check(FIRST, &format!("{SECOND}{strange}"), [Some(0.6), Some(0.75), Some(0.5), Some(0.2), None]);
        let spaced = FIRST.replace("{cpu=\"0\",", "{ cpu=\"0\" , ").replace('\n', "\r\n");
        assert_eq!(read(spaced.as_bytes()), read(FIRST.as_bytes()), "blanks and line ends do not count");
    }

    #[test]
    fn a_page_takes_no_more_memory_than_a_large_machine_needs() {
        let many: String = (0..3 * MOST)
            .map(|n| format!("node_disk_io_time_seconds_total{{device=\"d{n}\"}} 1\n"))
            .collect();
        let long = format!("node_disk_io_time_seconds_total{{device=\"{}\"}} 1\n", "x".repeat(5_000));
        let scrape = read(format!("{long}{many}").as_bytes());
        assert_eq!(scrape.busy_s.0.len(), MOST);
        assert!(scrape.busy_s.0.keys().all(|name| name.len() <= LONGEST_NAME));
        let late = format!("{}\n{FIRST}", "#".repeat(LONGEST));
        assert!(read(late.as_bytes()).is_empty(), "what is beyond the limit is not looked at");
    }

    #[test]
    fn no_input_breaks_the_reader_or_gives_a_load_that_is_none() {
        let first = read(FIRST.as_bytes());
        noise::feed(&[FIRST.as_bytes(), SECOND.as_bytes()], |bytes| {
            let report = read(bytes).since(&first, Duration::from_secs(10));
            assert!(report.loads.into_iter().flatten().all(|load| (0.0..=1.0).contains(&load)), "{report:?}");
        });
    }
}
