//! `/metrics`: the Prometheus text exposition, version 0.0.4.
//!
//! Everything about requests is taken from one look at the core, so the numbers add up in every scrape:
//! arrivals = completed + shed + failed + cancelled + in system. Labels are classes, stages, servers and causes, whose
//! number is bounded; never a path or an address.

use std::fmt::{Display, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tidegate_core::balance::bar;
use tidegate_core::frame::{
    Cause, Frame, Gauged, LevelFrame, LoopFrame, ServerFrame, SplitState, StageFrame,
};
use tidegate_core::scenario::v1::ResourceV1;

use super::driver::{BOUNDS_MS, Buckets, Driver};
use super::proxy::Gate;
use super::registry::Shown;
use super::size::Source;
use super::upstream::Upstream;

/// The exposition, as it is now.
pub(crate) fn render(gate: &Gate) -> String {
    let mut frame = Frame::default();
    let (shown, times) = gate.registry.observe(&mut frame, Driver::observe);
    let scenario = &gate.scenario;
    let class_names: Vec<_> = scenario.classes.iter().map(|class| escape(&class.name)).collect();
    let stage_names: Vec<_> = scenario.stages.iter().map(|stage| escape(&stage.name)).collect();
    let classes = || class_names.iter().zip(&frame.classes);
    let mut page = Page { text: String::with_capacity(16 * 1024), family: "" };

    page.family("tidegate_arrivals_total", "counter", "Requests that asked.");
    for (name, class) in classes() {
        page.sample(format_args!("class=\"{name}\""), class.arrived);
    }
    page.family("tidegate_requests_total", "counter", "Requests that left, by how.");
    for (name, class) in classes() {
        for (outcome, count) in [
            ("completed", class.completed),
            ("shed", class.shed.iter().sum()),
            ("failed", class.failed),
            ("cancelled", class.cancelled),
        ] {
            page.sample(format_args!("class=\"{name}\",outcome=\"{outcome}\""), count);
        }
    }
    page.family("tidegate_good_total", "counter", "Requests completed within their deadline.");
    for (name, class) in classes() {
        page.sample(format_args!("class=\"{name}\""), class.good);
    }
    page.family("tidegate_shed_total", "counter", "Requests turned away, by reason.");
    for (name, class) in classes() {
        for (cause, count) in Cause::ALL.iter().zip(class.shed) {
            page.sample(format_args!("class=\"{name}\",reason=\"{}\"", cause.name()), count);
        }
    }
    page.family("tidegate_in_system", "gauge", "Requests inside now, waiting or in work.");
    for (name, class) in classes() {
        page.sample(format_args!("class=\"{name}\""), class.in_system);
    }
    page.family("tidegate_wait_seconds", "histogram", "Time completed requests spent in queues.");
    for (name, times) in class_names.iter().zip(&times) {
        page.histogram(name, &times.wait);
    }
    page.family(
        "tidegate_response_seconds",
        "histogram",
        "Time of completed requests from arrival to the end of the answer.",
    );
    for (name, times) in class_names.iter().zip(&times) {
        page.histogram(name, &times.response);
    }

    let stages = || stage_names.iter().zip(&frame.stages);
    page.family("tidegate_queue_depth", "gauge", "Requests waiting at a stage now.");
    for (stage_name, stage) in stages() {
        for (i, name) in class_names.iter().enumerate() {
            let waiting: u32 = stage.waiting.iter().skip(i).step_by(class_names.len()).sum();
            page.sample(format_args!("stage=\"{stage_name}\",class=\"{name}\""), waiting);
        }
    }
    page.family("tidegate_workers_busy", "gauge", "Workers of a stage in use now.");
    for (stage_name, stage) in stages() {
        for (name, class) in class_names.iter().zip(&stage.classes) {
            page.sample(format_args!("stage=\"{stage_name}\",class=\"{name}\""), class.busy);
        }
    }
    page.family("tidegate_class_slots", "gauge", "Workers of a stage a class may use.");
    for (stage_name, stage) in stages() {
        for (name, class) in class_names.iter().zip(&stage.classes) {
            page.sample(format_args!("stage=\"{stage_name}\",class=\"{name}\""), class.slots);
        }
    }
    page.family("tidegate_started_total", "counter", "Requests a stage gave a worker.");
    for (stage_name, stage) in stages() {
        for (name, class) in class_names.iter().zip(&stage.classes) {
            page.sample(format_args!("stage=\"{stage_name}\",class=\"{name}\""), class.started);
        }
    }
    page.family("tidegate_queue_wait_seconds", "summary", "Time in a stage's queue of those given a worker.");
    for (stage_name, stage) in stages() {
        for (name, class) in class_names.iter().zip(&stage.classes) {
            let labels = format!("stage=\"{stage_name}\",class=\"{name}\"");
            page.line("_sum", &labels, class.wait_sum_s);
            page.line("_count", &labels, class.started);
        }
    }
    splits(&mut page, &stage_names, &class_names, &frame.stages);

    page.family("tidegate_workers", "gauge", "Workers of a stage.");
    for (stage_name, stage) in stages() {
        page.sample(format_args!("stage=\"{stage_name}\""), stage.workers);
    }
    page.family("tidegate_promoted_total", "counter", "Requests promoted out of a priority level by ageing.");
    for (stage_name, stage) in stages() {
        for (level, gauge) in stage.gauges.iter().enumerate() {
            page.sample(format_args!("stage=\"{stage_name}\",level=\"{level}\""), gauge.promoted);
        }
    }
    type Of = fn(&LevelFrame) -> f64;
    let of_levels: [(&str, &str, Of); 3] = [
        (
            "tidegate_queue_average",
            "What the queue control of a level goes by, in requests or seconds.",
            |l| l.average,
        ),
        ("tidegate_drop_probability", "Probability that who asks at a level is turned away.", |l| l.drop_p),
        ("tidegate_max_p", "Height of the drop curve of a level.", |l| l.max_p),
    ];
    for (name, help, of) in of_levels {
        page.family(name, "gauge", help);
        for (stage_name, stage) in stages().filter(|(_, stage)| stage.gauged != Gauged::Nothing) {
            for (level, gauge) in stage.gauges.iter().enumerate() {
                page.sample(format_args!("stage=\"{stage_name}\",level=\"{level}\""), of(gauge));
            }
        }
    }
    page.family(
        "tidegate_wasted_seconds_total",
        "counter",
        "Time at earlier stages spent on requests that a stage turned away.",
    );
    for (stage_name, stage) in stages() {
        page.sample(format_args!("stage=\"{stage_name}\""), stage.wasted_s);
    }

    let listed: Vec<Listed<'_>> = shown
        .into_iter()
        .map(|Shown { name, at, upstream }| (escape(&name), &frame.servers[at], upstream))
        .collect();
    let servers = || listed.iter().map(|(name, server, _)| (name, *server));
    let upstreams = || listed.iter().filter_map(|(name, _, upstream)| Some((name, upstream.as_ref()?)));
    page.family("tidegate_upstream_up", "gauge", "Whether a server can be reached.");
    for (name, server) in servers() {
        page.sample(format_args!("upstream=\"{name}\""), u8::from(server.up));
    }
    page.family("tidegate_upstream_in_flight", "gauge", "Requests at a server now.");
    for (name, server) in servers() {
        for (class, in_flight) in class_names.iter().zip(&server.in_flight) {
            page.sample(format_args!("upstream=\"{name}\",class=\"{class}\""), in_flight);
        }
    }
    page.family(
        "tidegate_upstream_weight",
        "gauge",
        "What the balancer makes of a server; larger gets more.",
    );
    for (name, server) in servers() {
        page.sample(format_args!("upstream=\"{name}\""), server.weight);
    }
    page.family("tidegate_upstream_picks_total", "counter", "Requests a server was sent.");
    for (name, server) in servers() {
        page.sample(format_args!("upstream=\"{name}\""), server.picked);
    }
    page.family("tidegate_upstream_completed_total", "counter", "Requests a server answered.");
    for (name, server) in servers() {
        page.sample(format_args!("upstream=\"{name}\""), server.completed);
    }
    page.family("tidegate_upstream_failed_total", "counter", "Requests that failed at a server.");
    for (name, server) in servers() {
        page.sample(format_args!("upstream=\"{name}\""), server.failed);
    }
    page.family("tidegate_upstream_connections_total", "counter", "Connections made to a server.");
    for (name, upstream) in upstreams() {
        page.sample(format_args!("upstream=\"{name}\""), get(&upstream.connected));
    }
    page.family(
        "tidegate_upstream_unreachable_total",
        "counter",
        "Connections to a server that could not be made.",
    );
    for (name, upstream) in upstreams() {
        page.sample(format_args!("upstream=\"{name}\""), get(&upstream.unreachable));
    }
    feedback(&mut page, &listed);

    page.family(
        "tidegate_sizes_total",
        "counter",
        "Requests by where the size of the answer was known from.",
    );
    for (name, seen) in class_names.iter().zip(gate.sizes.seen()) {
        for (source, count) in Source::ALL.iter().zip(seen.sources) {
            page.sample(format_args!("class=\"{name}\",source=\"{}\"", source.name()), count);
        }
    }
    page.family("tidegate_retries_total", "counter", "Requests sent again, by how; not counted as arrivals.");
    page.sample("kind=\"same_server\"", get(&gate.counts.resent));
    page.sample("kind=\"other_server\"", get(&gate.counts.moved));
    page.family("tidegate_malformed_total", "counter", "Requests refused as bad HTTP; no arrivals.");
    page.sample("", get(&gate.counts.malformed));
    page.family("tidegate_tunnels_total", "counter", "Connections that became tunnels.");
    page.sample("", get(&gate.counts.tunnels));
    page.family("tidegate_draining", "gauge", "Whether the gateway is stopping.");
    page.sample("", u8::from(gate.shutdown.has_begun()));
    page.family("tidegate_uptime_seconds", "gauge", "Time since the gateway started.");
    page.sample("", frame.now.as_secs_f64());
    page.family("tidegate_build_info", "gauge", "Version of the program; always 1.");
    page.sample(format_args!("version=\"{}\"", env!("CARGO_PKG_VERSION")), 1);
    page.text
}

/// A server: its label, how it is, and its part outside the core.
type Listed<'a> = (String, &'a ServerFrame, Option<Arc<Upstream>>);

/// What servers say of themselves, and what follows from it. Nothing where nothing is known.
fn feedback(page: &mut Page, listed: &[Listed<'_>]) {
    let servers = || listed.iter().map(|(name, server, _)| (name, *server));
    let upstreams = || listed.iter().filter_map(|(name, _, upstream)| Some((name, upstream.as_ref()?)));
    page.family("tidegate_upstream_load_ratio", "gauge", "Load a server reported last, by resource.");
    for (name, server) in servers() {
        for (of, load) in ResourceV1::FIVE.iter().zip(server.loads).filter(|(_, load)| !load.is_nan()) {
            page.sample(format_args!("upstream=\"{name}\",resource=\"{}\"", of.name()), load);
        }
    }
    page.family("tidegate_upstream_report_age_seconds", "gauge", "Time since a server last reported.");
    for (name, server) in servers().filter(|(_, server)| !server.report_age_s.is_nan()) {
        page.sample(format_args!("upstream=\"{name}\""), server.report_age_s);
    }
    page.family(
        "tidegate_upstream_barred",
        "gauge",
        "Why a server is sent nothing though it is up, 1 if so.",
    );
    for (name, server) in servers() {
        for (bit, why) in bar::NAMES {
            let labels = format_args!("upstream=\"{name}\",reason=\"{why}\"");
            page.sample(labels, u8::from(server.bars & bit != 0));
        }
    }
    page.family(
        "tidegate_upstream_group",
        "gauge",
        "Group of a server, 1 the one that gets new work; 0 for none.",
    );
    for (name, server) in servers() {
        page.sample(format_args!("upstream=\"{name}\""), server.group);
    }
    page.family("tidegate_load_reports_total", "counter", "Load reports of servers, by what came of them.");
    for (name, upstream) in upstreams() {
        for (source, result, count) in upstream.reports.counts() {
            let labels = format_args!("upstream=\"{name}\",source=\"{source}\",result=\"{result}\"");
            page.sample(labels, count);
        }
    }
    page.family("tidegate_health_checks_total", "counter", "Health checks of servers, by outcome.");
    for (name, upstream) in upstreams() {
        for (result, count) in ["bad", "good"].iter().zip(&upstream.checks) {
            page.sample(format_args!("upstream=\"{name}\",result=\"{result}\""), get(count));
        }
    }
}

/// What the controllers of splits make of their stages; nothing for stages without one.
fn splits(page: &mut Page, stage_names: &[String], class_names: &[String], stages: &[StageFrame]) {
    let splits = || {
        let splits = stage_names.iter().zip(stages).map(|(name, stage)| (name, &stage.split));
        splits.filter(|(_, split)| split.state != SplitState::None)
    };
    page.family("tidegate_split_state", "gauge", "What a controlled split does: 1 for the present state.");
    for (stage, split) in splits() {
        for state in SplitState::ALL.iter().filter(|state| **state != SplitState::None) {
            let labels = format_args!("stage=\"{stage}\",state=\"{}\"", state.name());
            page.sample(labels, u8::from(*state == split.state));
        }
    }
    page.family("tidegate_split_samples_total", "counter", "Looks of the controller of a split.");
    for (stage, split) in splits() {
        page.sample(format_args!("stage=\"{stage}\""), split.samples);
    }
    page.family("tidegate_split_moved_total", "counter", "Workers moved from class to class.");
    for (stage, split) in splits() {
        page.sample(format_args!("stage=\"{stage}\""), split.moved);
    }
    page.family(
        "tidegate_split_resolution_ratio",
        "gauge",
        "Relative error of a delay ratio that whole workers leave.",
    );
    for (stage, split) in splits() {
        page.sample(format_args!("stage=\"{stage}\""), split.resolution);
    }
    type Of = fn(&LoopFrame) -> f64;
    let of_classes: [(&str, &str, Of); 4] = [
        ("tidegate_split_share_ratio", "Share of the workers a class should have.", |c| c.share),
        ("tidegate_split_target_ratio", "Share of the sum of delays a class should bear.", |c| c.target),
        (
            "tidegate_split_delay_seconds",
            "Mean time in the queue of those given a worker in the controller's last window.",
            |c| c.delay_s,
        ),
        (
            "tidegate_delay_error_ratio",
            "That delay over what the ratio asks of the class, less 1; 0 is on target.",
            |c| c.error.exp_m1(),
        ),
    ];
    for (name, help, of) in of_classes {
        page.family(name, "gauge", help);
        for (stage, split) in splits() {
            for (class, seen) in class_names.iter().zip(&split.classes) {
                page.sample(format_args!("stage=\"{stage}\",class=\"{class}\""), of(seen));
            }
        }
    }
    page.family("tidegate_split_estimate", "gauge", "What the controller of a split thinks of a class.");
    for (stage, split) in splits() {
        for (class, seen) in class_names.iter().zip(&split.classes) {
            for (param, value) in estimates(seen) {
                let labels = format_args!("stage=\"{stage}\",class=\"{class}\",param=\"{param}\"");
                page.sample(labels, value);
            }
        }
    }
    page.family(
        "tidegate_split_flag",
        "gauge",
        "What limits the controller of a split for a class, 1 if so.",
    );
    for (stage, split) in splits() {
        for (class, seen) in class_names.iter().zip(&split.classes) {
            for (bit, flag) in LoopFrame::FLAGS.iter().enumerate() {
                let labels = format_args!("stage=\"{stage}\",class=\"{class}\",flag=\"{flag}\"");
                page.sample(labels, seen.flags >> bit & 1);
            }
        }
    }
}

/// Model, gains and trust, by the names they have in `/state`; members of a list are numbered.
const fn estimates(seen: &LoopFrame) -> [(&'static str, f64); 11] {
    let ([a1, a2], [g0, g1, g2]) = (seen.a, seen.gains);
    [
        ("output", seen.output),
        ("a1", a1),
        ("a2", a2),
        ("b", seen.b),
        ("g0", g0),
        ("g1", g1),
        ("g2", g2),
        ("trust", seen.trust),
        ("uncertainty", seen.uncertainty),
        ("bias", seen.bias),
        ("margin", seen.margin),
    ]
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// A label value: backslash, quote and line break escaped.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The exposition under way. Samples belong to the family begun last.
struct Page {
    text: String,
    family: &'static str,
}

impl Page {
    fn family(&mut self, name: &'static str, kind: &str, help: &str) {
        self.family = name;
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, labels: impl Display, value: impl Display) {
        self.line("", labels, value);
    }

    fn line(&mut self, suffix: &str, labels: impl Display, value: impl Display) {
        let name = self.family;
        let labels = labels.to_string();
        let _ = if labels.is_empty() {
            writeln!(self.text, "{name}{suffix} {value}")
        } else {
            writeln!(self.text, "{name}{suffix}{{{labels}}} {value}")
        };
    }

    fn histogram(&mut self, class: &str, buckets: &Buckets) {
        let mut count = 0;
        let bounds = BOUNDS_MS.iter().map(|&ms| (ms as f64 / 1e3).to_string()).chain(["+Inf".to_owned()]);
        for (bound, total) in bounds.zip(buckets.cumulative()) {
            self.line("_bucket", format_args!("class=\"{class}\",le=\"{bound}\""), total);
            count = total;
        }
        self.line("_sum", format_args!("class=\"{class}\""), buckets.sum().as_secs_f64());
        self.line("_count", format_args!("class=\"{class}\""), count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_break_the_page() {
        assert_eq!(escape("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }

    #[test]
    fn a_histogram_ends_with_all() {
        let mut page = Page { text: String::new(), family: "" };
        page.family("t", "histogram", "Times.");
        page.histogram("gold", &Buckets::default());
        let lines: Vec<_> = page.text.lines().collect();
        assert_eq!(
            lines[..3],
            ["# HELP t Times.", "# TYPE t histogram", "t_bucket{class=\"gold\",le=\"0.001\"} 0"]
        );
        assert_eq!(
            lines[lines.len() - 3..],
            [
                "t_bucket{class=\"gold\",le=\"+Inf\"} 0",
                "t_sum{class=\"gold\"} 0",
                "t_count{class=\"gold\"} 0"
            ]
        );
    }
}
