//! The importer against real traffic: exact counts of files that nobody of ours wrote.
//!
//! The files are not part of the project (their terms differ); each test looks for `../shared/data` beside the
//! workspace and says that it skips when it is missing. `core/src/import/tests.rs` holds small inputs of
//! the same shape.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tidegate_core::import::{
    AccessLine, Format, Options, Placement, Prefix, ServiceModel, TokenModel, Trace, TraceRow, flat,
    parse_counts, parse_trace,
};
use tidegate_core::measure::Summary;

/// The file's bytes, or a message and `None`.
fn load(name: &str) -> Option<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    let bytes = std::fs::read(&path).ok();
    if bytes.is_none() {
        println!("skipped: {name} is not beside the workspace (../shared/data)");
    }
    bytes
}

#[track_caller]
fn import(bytes: &[u8], options: &Options<'_>) -> Trace {
    let trace = parse_trace(bytes, options).unwrap_or_else(|e| panic!("{e}"));
    assert!(trace.rows.is_sorted_by_key(|row| row.at), "rows are in order of arrival");
    let played = flat::decode(&flat::encode(&trace.rows, &trace.labels)).expect("our own");
    let bare = |row: &TraceRow| TraceRow { bytes: None, ..*row };
    assert!(trace.rows.iter().map(bare).eq(played.rows), "rows are the same in the page's workers");
    assert_eq!(trace.labels, played.labels);
    trace
}

/// Rows by `seconds`-long bin that has any, counted from the start of the trace.
fn per(trace: &Trace, seconds: u64) -> BTreeMap<u64, u64> {
    let mut bins = BTreeMap::new();
    for row in &trace.rows {
        *bins.entry(row.at.as_nanos() / (seconds * 1_000_000_000)).or_default() += 1;
    }
    bins
}

/// Rows by clock minute that has any, whatever second the trace begins at.
fn per_minute(trace: &Trace) -> Vec<u64> {
    let start = trace.starts_at_unix_s.unwrap_or(0);
    let mut bins: BTreeMap<i64, u64> = BTreeMap::new();
    for row in &trace.rows {
        let second = start + (row.at.as_nanos() / 1_000_000_000) as i64;
        *bins.entry(second.div_euclid(60)).or_default() += 1;
    }
    bins.into_values().collect()
}

/// Greatest and median, the latter the upper middle of an even number.
fn most_and_median(mut values: Vec<u64>) -> (u64, u64) {
    values.sort_unstable();
    (values[values.len() - 1], values[values.len() / 2])
}

fn by_label(trace: &Trace) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for row in &trace.rows {
        *counts.entry(trace.labels[usize::from(row.label)].as_str()).or_default() += 1;
    }
    counts
}

/// Whole seconds from the first arrival to the last.
fn span_s(trace: &Trace) -> u64 {
    let second = |row: usize| trace.rows[row].at.as_nanos() / 1_000_000_000;
    second(trace.rows.len() - 1) - second(0)
}

fn services_s(trace: &Trace) -> Vec<f64> {
    let mut services: Vec<f64> = trace.rows.iter().filter_map(|r| Some(r.service?.as_secs_f64())).collect();
    services.sort_by(f64::total_cmp);
    services
}

fn nearest_rank(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}

#[track_caller]
fn assert_close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "got {got}, want {want}");
}

fn access_lines(bytes: &[u8]) -> Vec<AccessLine<'_>> {
    bytes.split(|&b| b == b'\n').filter_map(|line| AccessLine::parse(line.trim_ascii()).ok()).collect()
}

fn statuses(lines: &[AccessLine<'_>]) -> BTreeMap<u16, u64> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts.entry(line.status.expect("these files have a status in every line")).or_default() += 1;
    }
    counts
}

fn clients(lines: &[AccessLine<'_>]) -> usize {
    lines.iter().map(|line| line.client).collect::<BTreeSet<_>>().len()
}

#[test]
fn nasa_common_log() {
    let Some(bytes) = load("nasa-1995-08-01.clf.log") else { return };
    let trace = import(&bytes, &Options { service: Some(ServiceModel::default()), ..Options::default() });
    assert_eq!((trace.format, trace.rows.len(), trace.rejects.count), (Format::Access, 30_969, 0));
    assert_eq!((span_s(&trace), trace.starts_at_unix_s), (46_321, Some(807_256_800)));
    assert_eq!(per(&trace, 1).into_values().max(), Some(17), "most in a second");
    assert_eq!(most_and_median(per_minute(&trace)), (164, 36));
    assert_eq!(trace.rows.iter().filter_map(|row| row.bytes).sum::<u64>(), 482_000_467);
    let kinds = BTreeMap::from([("cgi", 620), ("image", 20_908), ("media", 263), ("page", 9_178)]);
    assert_eq!(by_label(&trace), kinds);
    assert_eq!(trace.placed, Some(Placement::Even), "stamps are whole seconds");
    let together = trace.rows.windows(2).filter(|pair| pair[0].at == pair[1].at).count();
    assert_eq!(together, 0, "no two arrivals at the same instant once they are spread");

    let lines = access_lines(&bytes);
    assert_eq!(clients(&lines), 2_365);
    let statuses = statuses(&lines);
    assert_eq!([200, 304, 302, 404].map(|s| statuses[&s]), [27_972, 2_421, 355, 221]);
    let mut methods: BTreeMap<&str, u64> = BTreeMap::new();
    for line in &lines {
        *methods.entry(line.request_line().map_or("malformed", |r| r.method)).or_default() += 1;
    }
    assert_eq!(methods, BTreeMap::from([("GET", 30_873), ("HEAD", 95), ("POST", 1)]));
}

#[test]
fn nasa_counts_per_second() {
    let Some(bytes) = load("nasa-1995-07-06.per-second.txt") else { return };
    let counts = parse_counts(&bytes).unwrap();
    assert_eq!((counts.total(), counts.rejects.count, counts.counts.len()), (100_960, 0, 86_400));
    assert_eq!(counts.peak().map(|(_, n)| n), Some(13));
    let minutes = counts.counts.chunks(60).map(|minute| minute.iter().sum::<u64>());
    assert_eq!(minutes.max(), Some(181));
    let trace = import(&bytes, &Options::default());
    assert_eq!((trace.format, trace.rows.len()), (Format::Counts, 100_960));
    assert_eq!(per(&trace, 1).into_values().max(), Some(13));
}

#[test]
fn world_cup_counts_per_minute() {
    let Some(bytes) = load("worldcup98-1998-06-30.per-minute.csv") else { return };
    let counts = parse_counts(&bytes).unwrap();
    assert_eq!((counts.total(), counts.rejects.count, counts.counts.len()), (75_207_657, 0, 1_440));
    assert_eq!(counts.peak(), Some((21 * 60 + 42, 215_241)));
    assert_eq!(most_and_median(counts.counts.clone()), (215_241, 19_981));
    assert!(parse_trace(&bytes, &Options::default()).is_err(), "75 million rows are refused");
    let thousandth = Options { scale_counts: Some(0.001), ..Options::default() };
    let even = import(&bytes, &thousandth);
    assert_eq!(even.rows.len(), 75_208);
    let poisson = import(&bytes, &Options { placement: Some(Placement::Random { seed: 1 }), ..thousandth });
    // Four standard deviations of a Poisson count.
    assert_close(poisson.rows.len() as f64, 75_207.657, 4.0 * 75_207.657f64.sqrt());
    assert_close(per(&poisson, 60)[&(21 * 60 + 42)] as f64, 215.241, 4.0 * 215.241f64.sqrt());
}

#[test]
fn apache_combined_log() {
    let Some(bytes) = load("apache-combined-2015.log") else { return };
    let trace = import(&bytes, &Options::default());
    assert_eq!((trace.format, trace.rows.len(), trace.rejects.count), (Format::Access, 3_000, 0));
    assert_eq!((span_s(&trace), trace.out_of_order), (90_059, 1_470));
    assert_eq!(per(&trace, 1).into_values().max(), Some(9));
    assert_eq!(most_and_median(per_minute(&trace)), (132, 120));
    let lines = access_lines(&bytes);
    assert_eq!(clients(&lines), 586);
    let want = BTreeMap::from([(200, 2_641), (304, 211), (301, 68), (404, 58), (206, 21), (500, 1)]);
    assert_eq!(statuses(&lines), want);
    assert!(lines.iter().all(|line| line.user_agent.is_some() && line.request_line().is_some()));
}

#[test]
fn messy_combined_log() {
    let Some(bytes) = load("messy-combined.log") else { return };
    let lines = access_lines(&bytes);
    let count = |wanted: fn(&AccessLine<'_>) -> bool| lines.iter().filter(|line| wanted(line)).count();
    assert_eq!(count(|l| l.prefix == Prefix::None), 124, "plain");
    assert_eq!(count(|l| l.prefix == Prefix::None && l.request_line().is_some()), 110, "proper request line");
    assert_eq!(count(|l| matches!(l.prefix, Prefix::Host(_))), 5, "virtual host first");
    assert_eq!(count(|l| matches!(l.prefix, Prefix::Shipper(_))), 14, "syslog first");
    let trace = import(&bytes, &Options::default());
    assert_eq!(trace.rows.len(), 143);
    assert_eq!(by_label(&trace)["malformed"], 14, "framed garbage");
    // Three lines of error logs and one with a field missing.
    let reasons: Vec<String> = trace.rejects.first.iter().map(ToString::to_string).collect();
    assert_eq!(trace.rejects.count, 4, "{reasons:?}");
    assert_eq!(reasons.iter().filter(|r| r.ends_with("no time")).count(), 3, "{reasons:?}");
    assert_eq!(reasons.iter().filter(|r| r.contains("no client")).count(), 1, "{reasons:?}");
}

#[test]
fn openstack_durations() {
    let Some(bytes) = load("openstack-nova-api.csv") else { return };
    let trace = import(&bytes, &Options::default());
    assert_eq!((trace.format, trace.rows.len(), trace.rejects.count), (Format::Table, 610, 0));
    assert_close(trace.rows[609].at.as_secs_f64() - trace.rows[0].at.as_secs_f64(), 544.7, 0.05);
    let classes =
        [("list", 430), ("meta", 111), ("event", 26), ("other", 17), ("create", 13), ("delete", 13)];
    assert_eq!(by_label(&trace), BTreeMap::from(classes));
    let services = services_s(&trace);
    assert_close(services.iter().sum(), 146.011, 5e-4);
    assert_close(nearest_rank(&services, 50), 0.260, 1e-3);
    assert_close(nearest_rank(&services, 99), 0.513, 1e-3);
    assert_close(services[609], 0.712, 5e-4);
    assert!(trace.rows.iter().all(|row| row.bytes.is_some()));
}

#[test]
fn azure_language_model_tokens() {
    let Some(bytes) = load("azure-llm-2023-code.csv") else { return };
    // Only the output tokens: the service times are then their number in seconds.
    let outputs = TokenModel { base_s: 0.0, input_s: 0.0, output_s: 1.0 };
    let trace = import(&bytes, &Options { tokens: Some(outputs), ..Options::default() });
    assert_eq!((trace.format, trace.rows.len(), trace.rejects.count), (Format::Table, 8_819, 0));
    let first = trace.rows[0].at.as_secs_f64();
    assert_close(trace.rows[8_818].at.as_secs_f64() - first, 3_435.9, 0.05);
    assert_eq!(per(&trace, 1).into_values().max(), Some(67));
    assert_eq!(most_and_median(per_minute(&trace)), (632, 158));
    let gaps: Vec<f64> =
        trace.rows.windows(2).map(|pair| pair[1].at.since(pair[0].at).as_secs_f64()).collect();
    let gaps = Summary::of(&gaps);
    assert_close(gaps.sd / gaps.mean, 13.15, 5e-3);
    let outputs = services_s(&trace);
    assert_close(outputs.iter().sum::<f64>() / 8_819.0, 27.88, 5e-3);
    assert_eq!([50, 99].map(|p| nearest_rank(&outputs, p)), [13.0, 252.0]);
    assert_eq!(outputs.last(), Some(&1_899.0));
    assert_eq!(trace.placed, None, "times have fractions");
}

#[test]
fn azure_functions_with_a_heavy_tail() {
    let Some(bytes) = load("azure-functions-2021-sample.csv") else { return };
    let trace = import(&bytes, &Options::default());
    assert_eq!((trace.format, trace.rows.len(), trace.rejects.count), (Format::Table, 199, 0));
    assert_close(trace.rows[198].at.as_secs_f64(), 1_200.0, 0.05);
    assert_eq!(trace.labels.len(), 31);
    let services = services_s(&trace);
    assert_close(nearest_rank(&services, 50), 1.6, 0.05);
    assert_close(nearest_rank(&services, 95), 336.5, 1.0);
    assert_close(services[198], 405.0, 0.5);
}

#[test]
fn gentd26_three_classes() {
    let Some(bytes) = load("gentd26-day-a.csv") else { return };
    let trace = import(&bytes, &Options::default());
    assert_eq!((trace.format, trace.rows.len(), trace.rejects.count), (Format::Table, 2_728, 0));
    assert_eq!(span_s(&trace), 86_390);
    assert_eq!(by_label(&trace), BTreeMap::from([("0", 2_516), ("1", 186), ("2", 26)]));
    assert_eq!(per(&trace, 1).into_values().max(), Some(3));
    assert_eq!(most_and_median(per_minute(&trace)), (17, 3));
    let services = services_s(&trace);
    assert_eq!(services.iter().sum::<f64>(), 80_185.0);
    assert_eq!([50, 99, 100].map(|p| nearest_rank(&services, p)), [23.0, 119.0, 430.0]);
    assert_eq!(trace.notes.len(), 1, "{:?}", trace.notes);
}
