//! One request on its way: checked, classified, queued, sent to a server or answered with a file.
//!
//! Every decision about who waits and where to is the core's; this file moves the bytes and keeps the rules of HTTP:
//!
//! * the worker slot is held from the dispatch until the answer has been handed to the client's connection, and given
//!   back exactly once, whichever way the exchange ends;
//! * a request is sent a second time only if the server cannot have worked on it: none of it was sent, or it has no
//!   body and its method may be repeated. The core hears of it as a retry, not as a new arrival;
//! * a request that is turned away is not read: no `100 Continue`, no body beyond what is small enough to throw away.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::{Authority, PathAndQuery};
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use ipnet::IpNet;
use tidegate_core::classify::{Classifier, RequestFacts};
use tidegate_core::frame::Cause;
use tidegate_core::gateway::Outcome;
use tidegate_core::scenario::Scenario;
use tidegate_core::time::Duration;

use super::Limits;
use super::answers::Refusal;
use super::body::{Answer, Fault, Held, Lesson, Progress, Reply, Upload, discard};
use super::connection::{Client, Serve};
use super::driver::{Driver, Slot};
use super::fields;
use super::files::{FileAnswer, Files, Sending};
use super::forwarded::Origin;
use super::hold::Hold;
use super::registry::Registry;
use super::shutdown::Shutdown;
use super::size::{Route, Sizes};
use super::tunnel;
use super::upstream::Unanswered;

/// The largest body of a refused request that is read and thrown away to keep the connection, and for how long.
const DISCARD: (u64, std::time::Duration) = (64 << 10, std::time::Duration::from_secs(2));

/// The gateway on real traffic.
pub(crate) struct Gate {
    pub(crate) scenario: Scenario,
    pub(crate) classifier: Classifier,
    pub(crate) driver: Arc<Driver>,
    /// The servers; none where files are served.
    pub(crate) registry: Arc<Registry>,
    /// The files that are served instead, if any.
    pub(crate) files: Option<Files>,
    pub(crate) sizes: Arc<Sizes>,
    /// Peers whose word counts.
    pub(crate) trusted: Vec<IpNet>,
    pub(crate) limits: Limits,
    pub(crate) counts: Counts,
    /// Class names as header values, in class order.
    pub(crate) class_names: Vec<HeaderValue>,
    /// Whether load reports in the header of an answer stay here.
    pub(crate) strip_load_reports: bool,
    pub(crate) shutdown: Shutdown,
}

/// Times a request is sent again at most: once over a new connection, and once to another server.
const MOST_RESENT: u32 = 2;

/// What happens outside the core.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Requests that were no good and never reached the policy.
    pub(crate) malformed: AtomicU64,
    /// Requests sent again to the same server over a new connection.
    pub(crate) resent: AtomicU64,
    /// Requests moved to another server.
    pub(crate) moved: AtomicU64,
    /// Connections that became tunnels.
    pub(crate) tunnels: AtomicU64,
}

impl Serve for Gate {
    async fn serve(self: Arc<Self>, client: Arc<Client>, request: Request<Incoming>) -> Response<Reply> {
        let exchange = match self.examine(&client, &request) {
            Ok(exchange) => exchange,
            Err(refusal) => {
                self.counts.malformed.fetch_add(1, Ordering::Relaxed);
                return if refusal == Refusal::NotForFiles {
                    self.turn_away(refusal, request)
                } else {
                    refusal.answer(0, None)
                };
            }
        };
        let size = self.size(&exchange, &request).await;
        let slot = match self.driver.arrive(exchange.class, exchange.patience, size, exchange.who) {
            Ok(ticket) => ticket.wait().await,
            Err(cause) => Err(cause),
        };
        let slot = match slot {
            Ok(slot) => slot,
            Err(cause) => return self.turn_away(Refusal::Shed(cause), request),
        };
        let answer = match &self.files {
            Some(files) => self.send_file(files, slot, request).await,
            None => self.forward(&client, exchange, slot, request).await,
        };
        answer.unwrap_or_else(|refusal| self.refuse(refusal))
    }
}

/// What is known about a request once it has been examined.
struct Exchange {
    origin: Origin,
    /// What the client asked for, as the server will see it.
    host: Option<HeaderValue>,
    class: tidegate_core::id::ClassId,
    /// What its answer's size is learned by.
    route: Route,
    patience: Duration,
    /// Who asks and what for, to balancers that hash.
    who: tidegate_core::gateway::Asked,
    /// Whether the client waits for leave to send its body.
    asks_first: bool,
}

/// What a request says about how its answer is passed on.
struct Asked {
    /// No body, whatever the answer announces.
    head_only: bool,
    upgrade: Option<(OnUpgrade, HeaderValue)>,
    lesson: Lesson,
    /// How long its client may take nothing, if the connection does not see to that.
    stream_limit: Option<std::time::Duration>,
}

/// The request as the classifier sees it.
struct Facts<'a> {
    request: &'a Request<Incoming>,
    host: &'a str,
    client: IpAddr,
}

impl RequestFacts for Facts<'_> {
    fn path(&self) -> &str {
        self.request.uri().path()
    }

    fn host(&self) -> &str {
        self.host
    }

    fn method(&self) -> &str {
        self.request.method().as_str()
    }

    fn header(&self, name: &str) -> Option<&[u8]> {
        self.request.headers().get(name).map(HeaderValue::as_bytes)
    }

    fn client(&self) -> IpAddr {
        self.client
    }
}

/// A text as a number, the same on every machine and in every run.
fn number(text: &[u8]) -> u32 {
    text.iter().fold(0, |hash, &byte| tidegate_core::unit::mix(hash ^ u64::from(byte))) as u32
}

impl Gate {
    fn examine(&self, client: &Client, request: &Request<Incoming>) -> Result<Exchange, Refusal> {
        let bad = |reason| Refusal::Bad(StatusCode::BAD_REQUEST, reason);
        let headers = request.headers();
        if request.method() == Method::CONNECT {
            return Err(Refusal::Bad(StatusCode::NOT_IMPLEMENTED, "this is no forward proxy"));
        }
        if fields::has_strange_coding(headers) {
            return Err(Refusal::Bad(StatusCode::NOT_IMPLEMENTED, "unknown transfer coding"));
        }
        let expects = headers.get(header::EXPECT).filter(|_| request.version() > Version::HTTP_10);
        if expects.is_some_and(|value| !value.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
            return Err(Refusal::Bad(StatusCode::EXPECTATION_FAILED, "unknown expectation"));
        }
        let host = host_of(request).map_err(bad)?;
        if self.files.is_some() && !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(Refusal::NotForFiles);
        }
        let origin = Origin::of(client.peer.ip(), headers, &self.trusted);
        let name = host.as_ref().and_then(|host| host.to_str().ok()).map_or("", without_port);
        let facts = Facts { request, host: name, client: origin.client };
        let class = self.classifier.classify(&facts, origin.trusted).class;
        let patience = self.scenario.classes[usize::from(class.0)].deadline;
        Ok(Exchange {
            origin,
            class,
            route: self.sizes.route(class, request.uri().path()),
            patience: patience.unwrap_or(self.limits.queue_timeout()),
            asks_first: expects.is_some() && !request.body().is_end_stream(),
            who: tidegate_core::gateway::Asked {
                source: number(facts.client.to_string().as_bytes()),
                target: number(name.as_bytes()) ^ number(request.uri().path().as_bytes()).rotate_left(16),
            },
            host,
        })
    }

    /// Bytes that the answer is thought to have, before anybody has decided about the request.
    async fn size(&self, exchange: &Exchange, request: &Request<Incoming>) -> Option<u64> {
        match &self.files {
            Some(files) => {
                let length = files.size(request.method(), request.uri().path()).await;
                self.sizes.file(exchange.class, length)
            }
            None => {
                let trusted = exchange.origin.trusted;
                self.sizes.estimate(exchange.class, exchange.route, request.headers(), trusted)
            }
        }
    }

    /// How long the client may take nothing of an answer: a stream can stand still while its connection is well. Of
    /// HTTP/1.1 the connection knows enough.
    fn stream_limit(&self, version: Version) -> Option<std::time::Duration> {
        (version == Version::HTTP_2).then_some(self.limits.write_timeout)
    }

    fn refuse(&self, refusal: Refusal) -> Response<Reply> {
        // Where files are served there are no servers to be fit.
        let unfit = if self.files.is_some() { None } else { self.driver.retry_after() };
        let refusal = match refusal {
            Refusal::Shed(Cause::Deadline) if unfit.is_some() => Refusal::Unfit,
            refusal => refusal,
        };
        refusal.answer(self.driver.draw(), unfit)
    }

    /// Answers a request that was turned away.
    fn turn_away(&self, refusal: Refusal, request: Request<Incoming>) -> Response<Reply> {
        let mut answer = self.refuse(refusal);
        leave_unread(request, &mut answer);
        answer
    }

    /// Answers with a file; the worker is held until the last of it has been handed over.
    async fn send_file(
        &self,
        files: &Files,
        slot: Slot,
        request: Request<Incoming>,
    ) -> Result<Response<Reply>, Refusal> {
        let answer = tokio::time::timeout(self.limits.answer_timeout, files.answer(&request)).await;
        let refusal = match answer {
            Ok(Ok(answer)) => return Ok(self.pass_file(files, slot, request, answer)),
            Ok(Err(_)) => Refusal::Unreadable,
            Err(_) => Refusal::Silent,
        };
        slot.finish(Outcome::Failed);
        Err(refusal)
    }

    fn pass_file(
        &self,
        files: &Files,
        slot: Slot,
        request: Request<Incoming>,
        answer: FileAnswer,
    ) -> Response<Reply> {
        let (mut parts, body) = answer.into_parts();
        add_timing(&mut parts.headers, slot.waited());
        let announced =
            parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let length = announced.or(body.size_hint().exact()).unwrap_or(0);
        let reply = if length == 0 || request.method() == Method::HEAD {
            slot.finish(Outcome::Completed);
            Reply::empty()
        } else {
            let worker = Hold::new(slot, self.stream_limit(request.version()));
            let pace = files.pace().cloned();
            Reply::new(Sending::new(body, length, worker, self.limits.body_timeout, pace))
        };
        let mut response = Response::from_parts(parts, reply);
        leave_unread(request, &mut response);
        response
    }

    /// Sends a request to the server of its slot and passes the answer on.
    async fn forward(
        &self,
        client: &Arc<Client>,
        exchange: Exchange,
        mut slot: Slot,
        request: Request<Incoming>,
    ) -> Result<Response<Reply>, Refusal> {
        let (mut parts, body) = request.into_parts();
        let stream_limit = self.stream_limit(parts.version);
        let upgrade = parts.extensions.remove::<OnUpgrade>().zip(fields::upgrade(&parts.headers));
        self.rewrite(&mut parts, &exchange, upgrade.as_ref().map(|(_, protocol)| protocol));
        let (mut upload, stop) = Upload::new(body, self.limits.body_timeout);
        let progress = upload.progress();
        let repeatable = upload.is_end_stream() && parts.method.is_idempotent();
        let spare = repeatable.then(|| parts.clone());
        let head_only = parts.method == Method::HEAD;
        let word = exchange.asks_first.then(|| upload.ask_first(self.limits.continue_timeout));
        let mut request = Request::from_parts(parts, upload);
        if let Some(word) = word {
            let word = Mutex::new(Some(word));
            hyper::ext::on_informational(&mut request, move |response| {
                let word = word
                    .lock()
                    .ok()
                    .and_then(|mut word| word.take_if(|_| response.status() == StatusCode::CONTINUE));
                if let Some(word) = word {
                    let _ = word.send(());
                }
            });
        }

        let (mut moves, mut fresh, mut resent) = (0, false, 0);
        let (lease, mut response) = loop {
            let Some(upstream) = slot.server().and_then(|server| self.registry.get(server)) else {
                slot.finish(Outcome::Failed);
                return Err(Refusal::Unreachable);
            };
            let pooled = if fresh { None } else { upstream.reuse() };
            let mut lease = match pooled {
                Some(lease) => lease,
                None => match upstream.connect().await {
                    Ok(lease) => lease,
                    Err(_) => {
                        upstream.take_out(&self.driver);
                        moves += 1;
                        fresh = false;
                        if moves < self.registry.len() && slot.retry() {
                            self.counts.moved.fetch_add(1, Ordering::Relaxed);
                            continue;
                        }
                        slot.finish(Outcome::Failed);
                        return Err(Refusal::Unreachable);
                    }
                },
            };
            let answer = tokio::select! {
                answer = lease.send(request) => answer,
                () = silence(&progress, self.limits.answer_timeout) => {
                    slot.finish(Outcome::Failed);
                    return Err(Refusal::Silent);
                }
            };
            let Unanswered { error, unsent } = match answer {
                Ok(response) => break (lease, response),
                Err(unanswered) => unanswered,
            };
            if let Some(fault) = progress.fault() {
                // The client's own doing; dropping the slot counts it as one that left.
                return Err(match fault {
                    Fault::Invalid => Refusal::Bad(StatusCode::BAD_REQUEST, "broken body"),
                    Fault::Slow => Refusal::Bad(StatusCode::REQUEST_TIMEOUT, "the body stopped coming"),
                });
            }
            if lease.reused {
                upstream.forget();
            }
            let again = match (unsent, &spare) {
                (Some(unsent), _) if lease.reused => Some(unsent),
                (_, Some(parts)) if !error.is_parse() => {
                    Some(Request::from_parts(parts.clone(), Upload::none()))
                }
                _ => None,
            };
            match again {
                Some(again) if resent < MOST_RESENT => {
                    resent += 1;
                    // A connection that had been idle was most likely closed meanwhile: the same server, then. A new
                    // one that breaks says something about the server.
                    if lease.reused && !fresh {
                        fresh = true;
                        self.counts.resent.fetch_add(1, Ordering::Relaxed);
                    } else if slot.retry() {
                        self.counts.moved.fetch_add(1, Ordering::Relaxed);
                    } else {
                        slot.finish(Outcome::Failed);
                        return Err(Refusal::Broken);
                    }
                    request = again;
                }
                _ => {
                    slot.finish(Outcome::Failed);
                    return Err(if error.is_parse() { Refusal::Nonsense } else { Refusal::Broken });
                }
            }
        };
        if let Some(upstream) = slot.server().and_then(|server| self.registry.get(server)) {
            self.take_report(&upstream, response.headers_mut());
        }
        let held = Held { slot, lease, upload: stop };
        let lesson = Lesson { sizes: Arc::clone(&self.sizes), route: exchange.route };
        let asked = Asked { head_only, upgrade, lesson, stream_limit };
        let mut response = self.pass_back(client, held, response, asked)?;
        if exchange.asks_first && !progress.has_begun() {
            // The client may send its body all the same or leave it; there is no telling what its next bytes are.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(response)
    }

    /// Makes the head of a request what the server is to see.
    fn rewrite(&self, parts: &mut Parts, exchange: &Exchange, upgrade: Option<&HeaderValue>) {
        let target = parts.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        parts.uri = Uri::from(target);
        parts.version = Version::HTTP_11;
        let headers = &mut parts.headers;
        fields::strip_hop(headers);
        fields::join_cookies(headers);
        if !exchange.asks_first {
            headers.remove(header::EXPECT);
        }
        // HTTP/1.0 may come without a host, HTTP/1.1 must not go without.
        headers.insert(header::HOST, exchange.host.clone().unwrap_or(HeaderValue::from_static("")));
        exchange.origin.announce(headers, exchange.host.as_ref());
        fields::add_via(headers);
        headers.insert(fields::CLASS, self.class_names[usize::from(exchange.class.0)].clone());
        if let Some(protocol) = upgrade {
            headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            headers.insert(header::UPGRADE, protocol.clone());
        }
    }

    /// Passes an answer on to the client.
    fn pass_back(
        &self,
        client: &Arc<Client>,
        held: Held,
        response: Response<Incoming>,
        asked: Asked,
    ) -> Result<Response<Reply>, Refusal> {
        let Asked { head_only, upgrade, lesson, stream_limit } = asked;
        let (mut parts, body) = response.into_parts();
        if fields::has_strange_coding(&parts.headers) {
            held.slot.finish(Outcome::Failed);
            return Err(Refusal::Nonsense);
        }
        let switched = fields::upgrade(&parts.headers);
        fields::strip_hop(&mut parts.headers);
        fields::add_via(&mut parts.headers);
        add_timing(&mut parts.headers, held.slot.waited());
        parts.version = Version::HTTP_11;
        let extensions = std::mem::take(&mut parts.extensions);

        if parts.status == StatusCode::SWITCHING_PROTOCOLS {
            let mut extensions = extensions;
            let server = extensions.remove::<OnUpgrade>();
            let (Some((ours, _)), Some(theirs), Some(protocol)) = (upgrade, server, switched) else {
                held.slot.finish(Outcome::Failed);
                return Err(Refusal::Nonsense);
            };
            parts.headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            parts.headers.insert(header::UPGRADE, protocol);
            self.counts.tunnels.fetch_add(1, Ordering::Relaxed);
            client.becomes_tunnel();
            tokio::spawn(tunnel::run(
                (ours, theirs),
                held.slot,
                Arc::clone(client),
                self.limits.tunnel_timeout,
                self.shutdown.clone(),
            ));
            return Ok(Response::from_parts(parts, Reply::empty()));
        }

        let bodyless = head_only || matches!(parts.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let reply = if bodyless {
            let Held { slot, lease, .. } = held;
            slot.finish(Outcome::Completed);
            lease.give_back();
            Reply::empty()
        } else {
            // A refusal or an error page says nothing about what is asked for.
            let lesson = parts.status.is_success().then_some(lesson);
            let held = Hold::new(held, stream_limit);
            Reply::new(Answer::new(body, held, self.limits.body_timeout, lesson))
        };
        Ok(Response::from_parts(parts, reply))
    }
}

/// Answers a request without reading more of it than can be helped.
fn leave_unread(request: Request<Incoming>, answer: &mut Response<Reply>) {
    let asks_first = request.headers().contains_key(header::EXPECT);
    let body = request.into_body();
    if body.is_end_stream() {
        return;
    }
    let (most, time) = DISCARD;
    if !asks_first && body.size_hint().upper().is_some_and(|size| size <= most) {
        tokio::spawn(discard(body, most, time));
    } else {
        // Reading on would cost more than a new connection does. The connection is closed in order: the client can
        // read the answer whatever it still sends.
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Resolves when the server has said nothing for `limit` after the last of the request.
async fn silence(progress: &Progress, limit: std::time::Duration) {
    loop {
        let due = progress.last() + limit;
        if due <= tokio::time::Instant::now() {
            return;
        }
        tokio::time::sleep_until(due).await;
    }
}

/// Whom a request is for: the target's authority if it has one, else the one `Host` (RFC 9112, 3.2 and 3.2.2).
fn host_of(request: &Request<Incoming>) -> Result<Option<HeaderValue>, &'static str> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err("more than one Host");
    }
    if request.version() == Version::HTTP_11 && host.is_none() {
        return Err("no Host");
    }
    if let Some(authority) = request.uri().authority() {
        return HeaderValue::from_str(authority.as_str()).map(Some).map_err(|_| "bad authority");
    }
    let readable = |host: &HeaderValue| {
        let text = host.to_str().unwrap_or("\0");
        text.is_empty() || (!text.contains('@') && text.parse::<Authority>().is_ok())
    };
    match host {
        Some(host) if !readable(host) => Err("bad Host"),
        host => Ok(host.cloned()),
    }
}

/// `example.org` of `example.org:8080`; an IPv6 address keeps its brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Says how long the request was queued.
fn add_timing(headers: &mut HeaderMap, waited: Duration) {
    let value = format!("queue;dur={:.3}", waited.as_secs_f64() * 1e3);
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.append(fields::SERVER_TIMING, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_no_part_of_the_name() {
        for (host, name) in [
            ("example.org", "example.org"),
            ("example.org:8080", "example.org"),
            ("[::1]:8080", "[::1]"),
            ("[::1]", "[::1]"),
            ("", ""),
        ] {
            assert_eq!(without_port(host), name, "{host}");
        }
    }
}
