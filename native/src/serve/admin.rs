//! The operator's listener: health, metrics, state, events, and the page in live mode.
//!
//! It is never queued and never turned away, so it answers when nothing else does. It changes nothing but the list of
//! servers, and that only for who knows the token (see [`registry`]). Bound to a loopback address it answers only to
//! loopback names, so that no web page can reach it by a name of its own (DNS rebinding), and only pages from loopback
//! may read its data.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde_json::{Value, json};
use tidegate_core::balance::bar;
use tidegate_core::frame::{Cause, Frame, Gauged, LoopFrame, ServerFrame, SplitState, StageFrame};
use tidegate_core::scenario::Scenario;
use tidegate_core::scenario::v1::ResourceV1;
use tidegate_core::{link, scenario};

use super::body::Reply;
use super::connection::{Client, Rules, Serve};
use super::driver::Driver;
use super::events::{self, Events, Feed};
use super::metrics;
use super::proxy::Gate;
use super::registry::{self, Shown, Token};
use super::upstream::{Upstream, Why};
use super::{Addresses, Feedback};
use crate::assets::Assets;

/// What answers the operator.
pub(crate) struct Admin {
    gate: Arc<Gate>,
    /// What must be known to change servers.
    token: Option<Token>,
    assets: Assets,
    feed: Feed,
    /// The scenario in canonical JSON.
    canonical: String,
    /// What does not change while it runs: version, scenario, link, settings.
    fixed: Value,
    /// Whether only loopback names are answered to.
    local: bool,
}

impl Admin {
    /// What a connection to the operator's listener may take.
    pub(crate) const RULES: Rules = Rules {
        connections: 128,
        header_bytes: 16 * 1024,
        header_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(60),
        write_timeout: Duration::from_secs(10),
    };

    pub(crate) fn new(
        gate: Arc<Gate>,
        token: Option<Token>,
        feedback: &Feedback,
        assets: Assets,
        addresses: &Addresses,
    ) -> Self {
        let wire = gate.scenario.wire();
        let canonical = scenario::to_canonical_json(wire);
        let limits = &gate.limits;
        let files = gate.files.as_ref();
        let fixed = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "scenario": serde_json::from_str::<Value>(&canonical).unwrap_or_default(),
            "link": format!("#{}", link::encode(wire)),
            "config": {
                "listen": addresses.listen.to_string(),
                "admin": addresses.admin.map(|address| address.to_string()),
                "changeable": token.is_some(),
                "files": files.map(|files| files.folder().display().to_string()),
                "send_rate": files.and_then(|files| files.pace()).map(|pace| pace.bytes_per_s()),
                "size_header": gate.sizes.header().map(HeaderName::as_str),
                "trusted": gate.trusted.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "strip_load_reports": feedback.strip,
                "reports": feedback.reports.as_ref().map(|reports| json!({
                    "kind": reports.kind.name(), "path": reports.path.as_str(), "port": reports.port,
                    "interval_s": reports.interval.as_secs_f64(), "timeout_s": reports.timeout.as_secs_f64(),
                })),
                "health": feedback.health.as_ref().map(|health| json!({
                    "path": health.path.as_str(), "rise": health.rise, "fall": health.fall,
                    "interval_s": health.interval.as_secs_f64(), "timeout_s": health.timeout.as_secs_f64(),
                    "status": [health.status.start(), health.status.end()],
                })),
                "limits": {
                    "connections": limits.connections,
                    "header_bytes": limits.header_bytes,
                    "header_timeout_s": limits.header_timeout.as_secs_f64(),
                    "idle_timeout_s": limits.idle_timeout.as_secs_f64(),
                    "write_timeout_s": limits.write_timeout.as_secs_f64(),
                    "body_timeout_s": limits.body_timeout.as_secs_f64(),
                    "queue_timeout_s": limits.queue_timeout.as_secs_f64(),
                    "connect_timeout_s": limits.connect_timeout.as_secs_f64(),
                    "pool_timeout_s": limits.pool_timeout.as_secs_f64(),
                    "answer_timeout_s": limits.answer_timeout.as_secs_f64(),
                    "continue_timeout_s": limits.continue_timeout.as_secs_f64(),
                    "tunnel_timeout_s": limits.tunnel_timeout.as_secs_f64(),
                    "drain_timeout_s": limits.drain_timeout.as_secs_f64(),
                },
            },
        });
        let local = addresses.admin.is_some_and(|address: SocketAddr| address.ip().is_loopback());
        Self { gate, token, assets, feed: events::feed(), canonical, fixed, local }
    }

    /// Where the frames are to be sent.
    pub(crate) fn feed(&self) -> Feed {
        self.feed.clone()
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Reply> {
        if self.local && !is_local_host(&request) {
            return text(StatusCode::FORBIDDEN, "this address answers to loopback names only\n");
        }
        let origin = request.headers().get(header::ORIGIN).cloned();
        let mut response = match request.uri().path().strip_prefix("/servers") {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                registry::answer(&self.gate.registry, self.token.as_ref(), request).await
            }
            _ => match self.look(&request) {
                Some(response) => response,
                None => return self.assets.answer(&request).map(Reply::new),
            },
        };
        allow_loopback_pages(origin.as_ref(), response.headers_mut());
        response
    }

    /// What there is to be seen at an address; `None` for the page.
    fn look(&self, request: &Request<Incoming>) -> Option<Response<Reply>> {
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        Some(match request.uri().path() {
            "/livez" | "/healthz" => text(StatusCode::OK, "ok\n"),
            "/readyz" | "/ready" => self.readiness(),
            "/metrics" | "/state" | "/events" if !reads => {
                text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n")
            }
            "/metrics" => {
                typed("text/plain; version=0.0.4; charset=utf-8", Reply::text(metrics::render(&self.gate)))
            }
            "/state" => typed("application/json", Reply::text(self.state())),
            "/events" => typed("text/event-stream", Reply::new(Events::new(&self.canonical, &self.feed))),
            _ => return None,
        })
    }

    fn readiness(&self) -> Response<Reply> {
        if self.gate.shutdown.has_begun() {
            return text(StatusCode::SERVICE_UNAVAILABLE, "draining\n");
        }
        let mut frame = Frame::default();
        self.gate.driver.frame(&mut frame);
        let is_there = |server: &ServerFrame| server.up && server.bars & bar::GONE == 0;
        if self.gate.files.is_none() && !frame.servers.iter().any(is_there) {
            return text(StatusCode::SERVICE_UNAVAILABLE, "no server can be reached\n");
        }
        text(StatusCode::OK, "ok\n")
    }

    fn state(&self) -> String {
        let mut frame = Frame::default();
        let (servers, ()) = self.gate.registry.observe(&mut frame, Driver::frame);
        let mut state = self.fixed.clone();
        let listed = self.gate.registry.present();
        let listed =
            listed.iter().map(|server| json!({ "name": server.name, "url": server.url.to_string() }));
        state["config"]["upstreams"] = listed.collect();
        state["draining"] = self.gate.shutdown.has_begun().into();
        let class_names = self.gate.scenario.classes.iter().map(|class| class.name.as_str());
        state["sizes"] = self.gate.sizes.to_json(class_names);
        state["frame"] = readable(&self.gate, &frame, &servers);
        state.to_string()
    }
}

impl Serve for Admin {
    async fn serve(self: Arc<Self>, _: Arc<Client>, request: Request<Incoming>) -> Response<Reply> {
        self.answer(request).await
    }
}

/// A frame with names, for people.
fn readable(gate: &Gate, frame: &Frame, servers: &[Shown]) -> Value {
    let scenario = &gate.scenario;
    let classes: Vec<Value> = scenario
        .classes
        .iter()
        .zip(&frame.classes)
        .map(|(class, now)| {
            let shed: serde_json::Map<String, Value> = Cause::ALL
                .iter()
                .zip(now.shed)
                .map(|(cause, n)| (cause.name().to_owned(), n.into()))
                .collect();
            json!({
                "name": class.name, "arrived": now.arrived, "completed": now.completed, "good": now.good,
                "shed": shed, "failed": now.failed, "cancelled": now.cancelled, "in_system": now.in_system,
                "wait_sum_s": now.wait_sum_s, "response_sum_s": now.response_sum_s,
            })
        })
        .collect();
    let stages: Vec<Value> = scenario
        .stages
        .iter()
        .zip(&frame.stages)
        .map(|(stage, now)| {
            let classes: Vec<Value> = scenario
                .classes
                .iter()
                .zip(&now.classes)
                .enumerate()
                .map(|(i, (class, here))| {
                    let waiting: u32 = now.waiting.iter().skip(i).step_by(scenario.classes.len()).sum();
                    json!({
                        "name": class.name, "waiting": waiting, "busy": here.busy, "slots": here.slots,
                        "started": here.started, "shed": here.shed, "wait_sum_s": here.wait_sum_s,
                        "oldest_wait_s": here.oldest_wait_s,
                    })
                })
                .collect();
            let unit = match now.gauged {
                Gauged::Nothing => Value::Null,
                Gauged::Jobs => "jobs".into(),
                Gauged::Seconds => "seconds".into(),
            };
            let levels: Vec<Value> = now
                .gauges
                .iter()
                .map(|level| {
                    json!({
                        "average": level.average, "min": level.min, "max": level.max, "drop_p": level.drop_p,
                        "max_p": level.max_p, "promoted": level.promoted,
                    })
                })
                .collect();
            json!({
                "name": stage.name, "workers": now.workers, "batch": now.batch, "limit": now.limit,
                "worked_s": now.worked_s, "wasted_s": now.wasted_s, "gauged": unit, "levels": levels,
                "classes": classes, "split": readable_split(scenario, now),
            })
        })
        .collect();
    let servers: Vec<Value> = servers
        .iter()
        .map(|Shown { name, at, upstream }| readable_server(name, &frame.servers[*at], upstream.as_ref()))
        .collect();
    json!({ "now_s": frame.now.as_secs_f64(), "classes": classes, "stages": stages, "servers": servers })
}

/// A server: how it stands, what it said last, what the balancer makes of it. `null` where nothing is known.
pub(super) fn readable_server(name: &str, now: &ServerFrame, upstream: Option<&Arc<Upstream>>) -> Value {
    let known = |number: f64| if number.is_nan() { Value::Null } else { number.into() };
    let loads: serde_json::Map<String, Value> = ResourceV1::FIVE
        .iter()
        .zip(now.loads)
        .map(|(of, load)| (of.name().to_owned(), known(load)))
        .collect();
    let bars = bar::NAMES.iter().filter(|(bit, _)| now.bars & bit != 0).map(|&(_, name)| name);
    let out = upstream.into_iter().flat_map(|upstream| upstream.why_out()).map(Why::name);
    json!({
        "name": name, "up": now.up, "out": out.collect::<Vec<_>>(), "barred": bars.collect::<Vec<_>>(),
        "weight": now.weight, "session_weight": now.session_weight, "group": now.group, "warm": now.warm,
        "loads": loads, "report_age_s": known(now.report_age_s), "balanced_load": known(now.balanced_load),
        "latency_s": known(now.latency_s),
        "max_in_flight": (now.max_in_flight < u32::MAX).then_some(now.max_in_flight),
        "in_flight": now.in_flight, "sessions": now.sessions,
        "picked": now.picked, "completed": now.completed, "failed": now.failed,
    })
}

/// What the controller of a stage's split makes of it; null where there is none.
fn readable_split(scenario: &Scenario, stage: &StageFrame) -> Value {
    let split = &stage.split;
    if split.state == SplitState::None {
        return Value::Null;
    }
    let name = |class: usize| scenario.classes.get(class).map(|class| class.name.as_str());
    let classes: Vec<Value> = split
        .classes
        .iter()
        .zip(&stage.classes)
        .enumerate()
        .map(|(number, (now, here))| {
            json!({
                "name": name(number), "slots": here.slots, "share": now.share, "target": now.target,
                "delay_s": now.delay_s, "error": now.error, "output": now.output, "a": now.a, "b": now.b,
                "gains": now.gains, "trust": now.trust, "uncertainty": now.uncertainty, "bias": now.bias,
                "margin": now.margin, "flags": flags(now.flags),
            })
        })
        .collect();
    let stuck = (split.state == SplitState::Infeasible).then(|| name(split.stuck as usize)).flatten();
    json!({
        "state": split.state.name(), "stuck": stuck, "samples": split.samples, "moved": split.moved,
        "resolution": split.resolution, "classes": classes,
    })
}

/// Names of the flags that are set.
fn flags(bits: u32) -> Vec<&'static str> {
    let set = LoopFrame::FLAGS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    set.map(|(_, &name)| name).collect()
}

fn text(status: StatusCode, text: &'static str) -> Response<Reply> {
    let mut response = typed("text/plain; charset=utf-8", Reply::text(text));
    *response.status_mut() = status;
    response
}

fn typed(media_type: &'static str, body: Reply) -> Response<Reply> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether the request was made to a loopback name or to a bare address.
fn is_local_host(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = request.uri().authority().map(hyper::http::uri::Authority::as_str).or(host);
    host.is_none_or(|host| is_local(host.parse().ok().as_ref()))
}

fn is_local(authority: Option<&hyper::http::uri::Authority>) -> bool {
    let Some(authority) = authority else { return false };
    let host = authority.host();
    host.eq_ignore_ascii_case("localhost")
        || host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>().is_ok()
}

/// Lets a page served from another loopback port (the playground) read the answer.
fn allow_loopback_pages(origin: Option<&HeaderValue>, response: &mut HeaderMap) {
    response.insert(header::VARY, HeaderValue::from_static("origin"));
    let Some(origin) = origin else { return };
    let uri = origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
    let host =
        uri.as_ref().and_then(Uri::host).map(|host| host.trim_start_matches('[').trim_end_matches(']'));
    let loopback = host.is_some_and(|host| {
        host.eq_ignore_ascii_case("localhost")
            || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
    });
    if loopback {
        response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_pages_may_read() {
        for (origin, allowed) in [
            ("http://127.0.0.1:7171", true),
            ("http://localhost:8000", true),
            ("http://[::1]:1", true),
            ("https://example.org", false),
            ("http://127.0.0.1.example.org", false),
            ("null", false),
        ] {
            let from = HeaderValue::from_static(origin);
            let mut response = HeaderMap::new();
            allow_loopback_pages(Some(&from), &mut response);
            assert_eq!(response.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN), allowed, "{origin}");
        }
    }

    #[test]
    fn names_of_the_web_are_not_local() {
        for (host, local) in [
            ("localhost:9900", true),
            ("127.0.0.1:9900", true),
            ("[::1]:9900", true),
            ("10.0.0.1", true),
            ("evil.example:9900", false),
        ] {
            assert_eq!(is_local(host.parse().ok().as_ref()), local, "{host}");
        }
    }
}
