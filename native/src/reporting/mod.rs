//! How a server says its load: what `tidegate origin` and `tidegate agent` have in common.
//!
//! Three forms, for whoever is in front: a JSON object to be fetched, a header in answers (ORCA), and a line on a TCP
//! port of its own (HAProxy's agent check).

mod orca;
mod smooth;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::Value;
use tidegate_core::balance::LoadReport;
use tidegate_core::reports::agent_check::{AgentAdmin, AgentHealth};
use tidegate_core::reports::{AgentReply, orca as wire};
use tidegate_core::scenario::v1::ResourceV1;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

pub(crate) use self::smooth::{Level, Rate};
use crate::serve::body::Reply;

/// Checks answered at once; more wait in the kernel's backlog.
const CHECKS: usize = 64;
/// Longest time for one check.
const CHECK: Duration = Duration::from_secs(2);
/// Bytes of a check that are read and thrown away: closing with any unread could destroy the answer.
const UNREAD: u64 = 4096;

/// Somebody who knows a server's load.
pub(crate) trait Loaded: Send + Sync + 'static {
    /// The load, as it is now.
    fn report(&self) -> LoadReport;

    /// Whether the server wants nothing new.
    fn drains(&self) -> bool {
        false
    }
}

/// The form of the header in answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HeaderForm {
    /// Names and numbers.
    Text,
    /// A JSON object.
    Json,
    /// A protocol buffer in base64.
    Bin,
    /// No header.
    None,
}

/// The header that carries a report; `None` if there is to be none, or nothing is known yet.
pub(crate) fn orca_header(form: HeaderForm, report: &LoadReport) -> Option<(HeaderName, HeaderValue)> {
    let text = wire::write(report)?;
    let (name, value) = match form {
        HeaderForm::None => return None,
        HeaderForm::Text => (wire::HEADER, text),
        HeaderForm::Json => (wire::HEADER, format!("JSON {}", orca::to_json(report))),
        HeaderForm::Bin => (wire::HEADER_BIN, orca::to_base64(report)),
    };
    Some((HeaderName::from_static(name), HeaderValue::try_from(value).ok()?))
}

/// A report as the JSON object that `/load` answers with.
pub(crate) fn to_json(report: &LoadReport) -> Value {
    let loads = ResourceV1::FIVE.into_iter().map(ResourceV1::name).zip(report.loads);
    let rest =
        [("application", report.application), ("rps", report.requests_per_s), ("eps", report.errors_per_s)];
    let known = loads.chain(rest).filter_map(|(name, number)| Some((name.to_owned(), number?.into())));
    Value::Object(known.collect())
}

/// The answer to `GET /load`: 503 as long as nothing is known.
pub(crate) fn load_answer(whom: &impl Loaded) -> Response<Reply> {
    let value = to_json(&whom.report());
    let mut response = Response::new(Reply::text(format!("{value}\n")));
    if value.as_object().is_none_or(serde_json::Map::is_empty) {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Percent of the configured weight that a server with this load should have: what is left of the resource of which
/// least is left. At least 1, as 0 means "nothing new" to HAProxy, and a busy server is not a drained one; all of it
/// as long as nothing is known.
pub(crate) fn percent(report: &LoadReport) -> u32 {
    let highest = report.loads.into_iter().flatten().fold(0.0, f64::max);
    // The cast saturates, and NaN has been left out by the fold.
    (((1.0 - highest) * 100.0).round() as u32).max(1)
}

/// What an agent check is answered with. One that drains says so beside its share; one that does not takes back that
/// it did.
fn reply(whom: &impl Loaded) -> AgentReply {
    let admin = if whom.drains() { AgentAdmin::Drain } else { AgentAdmin::Ready };
    AgentReply { admin: Some(admin), ..AgentReply::of(AgentHealth::Up, percent(&whom.report()), None) }
}

/// Where agent checks are answered.
pub(crate) async fn listen_for_checks(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Answers agent checks for as long as it is polled.
pub(crate) async fn answer_checks(listener: TcpListener, whom: Arc<impl Loaded>) {
    let places = Arc::new(Semaphore::new(CHECKS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, most likely.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let line = reply(&*whom).to_string();
        tokio::spawn(async move {
            let _ = tokio::time::timeout(CHECK, answer_check(stream, &line)).await;
            drop(place);
        });
    }
}

async fn answer_check(mut stream: TcpStream, line: &str) -> io::Result<()> {
    stream.write_all(line.as_bytes()).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(UNREAD), &mut tokio::io::sink()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::reports::{agent_check, load_json};

    struct Known(LoadReport, bool);

    impl Loaded for Known {
        fn report(&self) -> LoadReport {
            self.0
        }

        fn drains(&self) -> bool {
            self.1
        }
    }

    fn loads(loads: [Option<f64>; 5]) -> LoadReport {
        LoadReport { loads, ..LoadReport::default() }
    }

    /// A report of everything there is.
    fn full() -> LoadReport {
        LoadReport {
            loads: [Some(0.25), Some(0.5), Some(0.125), Some(0.0), Some(0.75)],
            application: Some(1.5),
            requests_per_s: Some(120.5),
            errors_per_s: Some(0.25),
        }
    }

    #[test]
    fn every_form_is_read_back_as_it_was_meant() {
        for report in [full(), loads([Some(0.1), None, None, None, None])] {
            assert_eq!(load_json::read(to_json(&report).to_string().as_bytes()), Ok(report));
            for form in [HeaderForm::Text, HeaderForm::Json, HeaderForm::Bin] {
                let (name, value) = orca_header(form, &report).unwrap();
                let read = match form {
                    HeaderForm::Bin => wire::read_bin(value.as_bytes()),
                    _ => wire::read(value.as_bytes()),
                };
                assert_eq!(name.as_str().ends_with("-bin"), form == HeaderForm::Bin);
                assert_eq!(read, Ok(report), "{form:?}: {value:?}");
            }
        }
        assert_eq!(orca_header(HeaderForm::None, &full()), None);
        assert_eq!(orca_header(HeaderForm::Text, &LoadReport::default()), None, "nothing to say");
    }

    #[test]
    fn the_share_is_what_is_left_of_the_scarcest() {
        let check = |cpu, disk, want| {
            let report = loads([cpu, None, None, disk, None]);
            assert_eq!(percent(&report), want, "cpu {cpu:?}, disk {disk:?}");
        };
        check(Some(0.2), Some(0.6), 40);
        check(Some(0.0), None, 100);
        check(None, None, 100);
        check(Some(0.999), None, 1);
        check(Some(7.0), None, 1);
    }

    #[test]
    fn a_check_is_answered_in_words_that_are_understood() {
        let check = |drains, want: &str| {
            let line = reply(&Known(loads([Some(0.3), None, None, None, None]), drains)).to_string();
            assert_eq!(line, want);
            let mut state = agent_check::AgentState::default();
            state.apply(&agent_check::read(line.as_bytes()));
            assert_eq!((state.drains(), state.is_up(), state.weight(10.0)), (drains, true, 7.0), "{line}");
        };
        check(false, "70% ready up\n");
        check(true, "70% drain up\n");
    }

    #[tokio::test]
    async fn a_check_gets_its_line_though_it_sent_something_itself() {
        let (listener, address) = listen_for_checks("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let answering = tokio::spawn(answer_checks(listener, Arc::new(Known(full(), false))));
        for _ in 0..2 * CHECKS {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"hello\n").await.unwrap();
            let mut line = String::new();
            stream.read_to_string(&mut line).await.unwrap();
            assert_eq!(line, "25% ready up\n");
        }
        answering.abort();
    }
}
