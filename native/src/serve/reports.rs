//! Takes in what servers say of their load: headers in their answers, pages that are fetched, agents that are asked.
//!
//! A source that gives nothing changes nothing: neither the weight of a server nor whether it is up. How long a
//! silence may last, and what a report is worth, is for the core to judge. Everything that came, or did not, is counted.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::uri::PathAndQuery;
use tidegate_core::balance::LoadReport;
use tidegate_core::reports::node_exporter::Scrape;
use tidegate_core::reports::{AgentState, BadReport, agent_check, load_json, node_exporter, orca};
use tokio::io::AsyncReadExt as _;
use tokio::time::MissedTickBehavior;

use super::driver::Driver;
use super::fetch::{Place, Trouble};
use super::proxy::Gate;
use super::upstream::Upstream;
use crate::text::{WARN, styled};

/// Where the load of servers is asked for, beside the headers of their answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReportsConfig {
    /// What is there.
    pub(crate) kind: Kind,
    /// The page.
    pub(crate) path: PathAndQuery,
    /// The port, if it is not the one that requests go to.
    pub(crate) port: Option<u16>,
    /// Time between two questions.
    pub(crate) interval: Duration,
    /// Longest wait for an answer, all of it.
    pub(crate) timeout: Duration,
}

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A JSON object of loads.
    Load,
    /// The page of Prometheus's exporter for machines.
    NodeExporter,
    /// HAProxy's agent check.
    Agent,
}

impl Kind {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Load, Self::NodeExporter, Self::Agent];

    /// As it is written in settings and metrics labels.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::NodeExporter => "node_exporter",
            Self::Agent => "agent",
        }
    }
}

/// Where a report came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The header of an answer.
    Header,
    /// A question.
    Asked(Kind),
    /// The server itself, at the operator's listener.
    Pushed,
}

impl Source {
    const ALL: [Self; 5] = [
        Self::Header,
        Self::Asked(Kind::Load),
        Self::Asked(Kind::NodeExporter),
        Self::Asked(Kind::Agent),
        Self::Pushed,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Asked(kind) => kind.name(),
            Self::Pushed => "pushed",
        }
    }
}

/// What came of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It counts.
    Taken,
    /// It counts, but for words that make no sense.
    UnknownWords,
    /// There was no connection.
    Unreachable,
    /// It did not come in time.
    Late,
    /// The exchange broke off.
    Broken,
    /// The status of the answer was no success.
    Status,
    /// It is no good.
    Bad(BadReport),
}

impl Seen {
    const PLAIN: [Self; 6] =
        [Self::Taken, Self::UnknownWords, Self::Unreachable, Self::Late, Self::Broken, Self::Status];
    const COUNT: usize = Self::PLAIN.len() + BadReport::ALL.len();

    fn all() -> impl Iterator<Item = Self> {
        Self::PLAIN.into_iter().chain(BadReport::ALL.into_iter().map(Self::Bad))
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::UnknownWords => "unknown_words",
            Self::Unreachable => "unreachable",
            Self::Late => "timeout",
            Self::Broken => "broken",
            Self::Status => "status",
            Self::Bad(bad) => bad.name(),
        }
    }
}

impl From<Trouble> for Seen {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unreachable => Self::Unreachable,
            Trouble::Late => Self::Late,
            Trouble::Broken => Self::Broken,
            Trouble::TooLong => Self::Bad(BadReport::TooLong),
        }
    }
}

/// What came of the reports of one server.
#[derive(Debug, Default)]
pub(crate) struct Tally([[AtomicU64; Seen::COUNT]; Source::ALL.len()]);

impl Tally {
    pub(crate) fn count(&self, source: Source, seen: Seen) {
        let row = Source::ALL.iter().zip(&self.0).find(|(one, _)| **one == source);
        if let Some((_, cell)) = row.and_then(|(_, row)| Seen::all().zip(row).find(|(one, _)| *one == seen)) {
            cell.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Source, result and number of all that happened.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let rows = Source::ALL.into_iter().zip(&self.0);
        let cells = rows.flat_map(|(source, row)| {
            Seen::all().zip(row).map(move |(seen, cell)| (source, seen, cell.load(Ordering::Relaxed)))
        });
        cells
            .filter(|(.., count)| *count > 0)
            .map(|(source, seen, count)| (source.name(), seen.name(), count))
    }
}

const ORCA: HeaderName = HeaderName::from_static(orca::HEADER);
const ORCA_BIN: HeaderName = HeaderName::from_static(orca::HEADER_BIN);

/// The report in the header of an answer, if there is one.
fn in_header(headers: &HeaderMap) -> Option<Result<LoadReport, BadReport>> {
    type Read = fn(&[u8]) -> Result<LoadReport, BadReport>;
    let named = |name, read: Read| {
        let mut values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
        let first = values.next()?;
        Some(if values.next().is_some() { Err(BadReport::Duplicate) } else { read(first) })
    };
    named(ORCA, orca::read).or_else(|| named(ORCA_BIN, orca::read_bin))
}

impl Gate {
    /// Takes the report out of the header of a server's answer. A bad one is counted and changes nothing.
    pub(crate) fn take_report(&self, upstream: &Upstream, headers: &mut HeaderMap) {
        if let Some(report) = in_header(headers) {
            take(&self.driver, upstream, Source::Header, report);
        }
        if self.strip_load_reports {
            headers.remove(ORCA);
            headers.remove(ORCA_BIN);
        }
    }
}

fn take(driver: &Driver, upstream: &Upstream, source: Source, report: Result<LoadReport, BadReport>) {
    let seen = match report {
        Ok(report) => {
            upstream.report(driver, &report);
            Seen::Taken
        }
        Err(bad) => Seen::Bad(bad),
    };
    upstream.reports.count(source, seen);
}

/// One server that is asked again and again.
pub(crate) struct Asking {
    pub(crate) driver: Arc<Driver>,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) place: Place,
    pub(crate) config: ReportsConfig,
}

/// What is remembered of a server from one answer to the next.
#[derive(Default)]
struct Memory {
    agent: AgentState,
    /// Words of the agent that were said to make no sense.
    told: String,
    scrape: Option<(Scrape, tokio::time::Instant)>,
}

impl Asking {
    /// A server to be asked as the settings say.
    pub(crate) fn new(driver: Arc<Driver>, upstream: Arc<Upstream>, config: ReportsConfig) -> Self {
        let place = Place { port: config.port.unwrap_or(upstream.place.port), ..upstream.place.clone() };
        Self { driver, upstream, place, config }
    }

    /// Asks for as long as it is polled.
    pub(crate) async fn run(self) {
        let mut tick = paced(&self.driver, self.config.interval).await;
        let mut memory = Memory::default();
        loop {
            tick.tick().await;
            let source = Source::Asked(self.config.kind);
            let seen = match self.config.kind {
                Kind::Load => self.load().await,
                Kind::NodeExporter => self.machine(&mut memory).await,
                Kind::Agent => self.agent(&mut memory).await,
            };
            self.upstream.reports.count(source, seen.unwrap_or_else(|not| not));
        }
    }

    async fn page(&self, longest: usize) -> Result<Vec<u8>, Seen> {
        let page = self.place.get(&self.config.path, longest, self.config.timeout).await?;
        if page.status.is_success() { Ok(page.body) } else { Err(Seen::Status) }
    }

    async fn load(&self) -> Result<Seen, Seen> {
        let page = self.page(load_json::LONGEST).await?;
        let report = load_json::read(&page).map_err(Seen::Bad)?;
        self.upstream.report(&self.driver, &report);
        Ok(Seen::Taken)
    }

    async fn machine(&self, memory: &mut Memory) -> Result<Seen, Seen> {
        let page = self.page(node_exporter::LONGEST).await?;
        let now = tokio::time::Instant::now();
        let scrape = node_exporter::read(&page);
        if scrape.is_empty() {
            return Err(Seen::Bad(BadReport::Empty));
        }
        // One look alone knows no rates, so it is no report yet.
        if let Some((before, at)) = memory.scrape.replace((scrape.clone(), now)) {
            let elapsed = u64::try_from(now.duration_since(at).as_nanos()).unwrap_or(u64::MAX);
            let elapsed = tidegate_core::time::Duration::from_nanos(elapsed);
            self.upstream.report(&self.driver, &scrape.since(&before, elapsed));
        }
        Ok(Seen::Taken)
    }

    async fn agent(&self, memory: &mut Memory) -> Result<Seen, Seen> {
        let line =
            tokio::time::timeout(self.config.timeout, self.line()).await.unwrap_or(Err(Trouble::Late))?;
        if line.trim_ascii().is_empty() {
            return Err(Seen::Bad(BadReport::Empty));
        }
        let reply = agent_check::read(&line);
        if memory.agent.apply(&reply) {
            self.upstream.obey(&self.driver, &memory.agent);
        }
        let words = reply.unknown_words();
        let seen = if words.is_empty() { Seen::Taken } else { Seen::UnknownWords };
        if memory.told != words {
            self.tell(&words);
            memory.told = words;
        }
        Ok(seen)
    }

    /// What the agent says up to the end of its line, to the end of the connection, or to the limit.
    async fn line(&self) -> Result<Vec<u8>, Trouble> {
        let mut stream = self.place.connect().await?;
        let mut line = Vec::new();
        let mut piece = [0; 512];
        while line.len() <= agent_check::LONGEST && !line.contains(&b'\n') {
            match stream.read(&mut piece).await.map_err(|_| Trouble::Broken)? {
                0 => break,
                read => line.extend_from_slice(&piece[..read]),
            }
        }
        Ok(line)
    }

    fn tell(&self, words: &str) {
        if !words.is_empty() {
            // Whoever closed our output early does not want to read it.
            let _ = writeln!(
                anstream::stderr(),
                "{} the agent of {} says what makes no sense: {words}",
                styled(WARN, "warning:"),
                self.upstream.name
            );
        }
    }
}

/// A clock that ticks every `interval`, after a part of it (a second at most) that is drawn, so that not all servers
/// are asked at the same moment.
pub(crate) async fn paced(driver: &Driver, interval: Duration) -> tokio::time::Interval {
    let most = interval.min(Duration::from_secs(1)).as_micros().max(1) as u64;
    tokio::time::sleep(Duration::from_micros(driver.draw() % most)).await;
    let mut tick = tokio::time::interval(interval);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_report_is_in_either_header_and_in_one_line() {
        let cpu = LoadReport { loads: [Some(0.3), None, None, None, None], ..LoadReport::default() };
        for (lines, want) in [
            (&[][..], None),
            (&[("endpoint-load-metrics", "TEXT cpu_utilization=0.3")], Some(Ok(cpu))),
            (&[("endpoint-load-metrics-bin", "CTMzMzMzM9M/")], Some(Ok(cpu))),
            (&[("endpoint-load-metrics", "")], Some(Err(BadReport::Empty))),
            (
                &[("endpoint-load-metrics", "TEXT eps=1"), ("endpoint-load-metrics", "TEXT eps=1")],
                Some(Err(BadReport::Duplicate)),
            ),
            (
                &[("endpoint-load-metrics-bin", "!"), ("endpoint-load-metrics", "TEXT cpu_utilization=0.3")],
                Some(Ok(cpu)),
            ),
        ] {
            assert_eq!(in_header(&headers(lines)), want, "{lines:?}");
        }
    }

    #[test]
    fn what_came_of_reports_is_counted_by_source_and_result() {
        let tally = Tally::default();
        tally.count(Source::Header, Seen::Taken);
        tally.count(Source::Header, Seen::Bad(BadReport::Negative));
        tally.count(Source::Asked(Kind::Agent), Seen::Late);
        tally.count(Source::Asked(Kind::Agent), Seen::Late);
        let counts: Vec<_> = tally.counts().collect();
        assert_eq!(counts, [("header", "taken", 1), ("header", "negative", 1), ("agent", "timeout", 2)]);
        let names: std::collections::BTreeSet<_> = Seen::all().map(Seen::name).collect();
        assert_eq!(names.len(), Seen::COUNT, "every result has a name of its own");
    }
}
