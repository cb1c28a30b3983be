//! Logs and traces as they come: well-formed, odd, and broken.

use super::*;
use crate::classify::Classifier;
use crate::scenario::v1::{FromV1, RuleV1};
use crate::unit::mix;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;

#[track_caller]
fn read(text: &[u8], options: &Options<'_>) -> Trace {
    parse_trace(text, options).unwrap_or_else(|e| panic!("{e}\n{}", line::lossy(text)))
}

fn plain(text: &str) -> Trace {
    read(text.as_bytes(), &Options::default())
}

fn secs(trace: &Trace) -> Vec<f64> {
    trace.rows.iter().map(|row| row.at.as_secs_f64()).collect()
}

fn label(trace: &Trace, row: usize) -> &str {
    &trace.labels[usize::from(trace.rows[row].label)]
}

fn services(trace: &Trace) -> Vec<Option<f64>> {
    trace.rows.iter().map(|row| row.service.map(Duration::as_secs_f64)).collect()
}

const LOG: &str = r#"192.0.2.1 - - [01/Aug/1995:02:00:04 -0400] "GET /index.html HTTP/1.0" 200 1000
192.0.2.2 - - [01/Aug/1995:02:00:02 -0400] "GET /a.gif HTTP/1.0" 200 500000
192.0.2.3 - - [01/Aug/1995:02:00:04 -0400] "GET /cgi-bin/x HTTP/1.0" 302 -
not a line
192.0.2.4 - - [01/Aug/1995:02:00:04 -0400] "HELP" 400 157
192.0.2.5 - - [01/Aug/1995:02:00:04 -0400] "GET /m.mpg HTTP/1.0" 304 0"#;

#[test]
fn an_access_log_is_sorted_spread_and_labelled() {
    let trace =
        read(LOG.as_bytes(), &Options { service: Some(ServiceModel::default()), ..Options::default() });
    assert_eq!(trace.format, Format::Access);
    assert_eq!(secs(&trace), [0.5, 2.125, 2.375, 2.625, 2.875]);
    assert_eq!(trace.starts_at_unix_s, Some(807_256_802));
    let labels: Vec<&str> = (0..5).map(|row| label(&trace, row)).collect();
    assert_eq!(labels, ["image", "page", "cgi", "malformed", "media"]);
    assert_eq!(services(&trace), [Some(0.505), Some(0.006), Some(0.2), Some(0.005157), Some(0.005)]);
    assert_eq!(trace.rows[0].bytes, Some(500_000));
    assert_eq!(trace.rejects, Rejects { count: 1, first: vec![Reject { line: 4, reason: Reason::NoTime }] });
    assert_eq!(trace.rejects.first[0].to_string(), "line 4: no time");
    assert_eq!((trace.out_of_order, trace.placed), (1, Some(Placement::Even)));
    assert_eq!(
        trace.notes,
        [
            "service times are a model: 0.005 s + size at 1000000 B/s; cgi 0.2 s",
            "times are whole seconds: the arrivals of a second are spread evenly over it",
            "1 lines are stamped earlier than the line before; sorted by arrival",
        ]
    );
}

#[test]
fn arrivals_of_a_second_go_where_asked() {
    let with = |placement| {
        secs(&read(LOG.as_bytes(), &Options { placement: Some(placement), ..Options::default() }))
    };
    assert_eq!(with(Placement::AtStart), [0.0, 2.0, 2.0, 2.0, 2.0]);
    let random = with(Placement::Random { seed: 7 });
    assert_eq!(random, with(Placement::Random { seed: 7 }));
    assert_ne!(random, with(Placement::Random { seed: 8 }));
    assert!(random.is_sorted() && random[1] >= 2.0 && random[4] < 3.0, "{random:?}");
}

#[test]
fn a_number_after_the_line_is_a_duration_only_if_its_unit_is_told() {
    let log = "192.0.2.1 - - [10/Oct/2025:13:55:38 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"ua\" 1.204 0.002\n\
               192.0.2.1 - - [10/Oct/2025:13:55:38 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"ua\" -\n";
    let untold = plain(log);
    assert_eq!(services(&untold), [None, None]);
    assert!(
        untold.notes[0].starts_with("1 lines have a number after the known fields"),
        "{:?}",
        untold.notes
    );
    let at_end = Durations { unit: TimeUnit::Seconds, stamped_at_end: true };
    let told = read(log.as_bytes(), &Options { durations: Some(at_end), ..Options::default() });
    // Answered at 38.25 s, so it came at 37.046 s; the other has no duration and came at 38.75 s.
    assert_eq!(services(&told), [Some(1.204), None]);
    assert_eq!(told.starts_at_unix_s, Some(1_760_104_537));
    assert_eq!(secs(&told), [0.046, 1.75]);
    let micros = Durations { unit: TimeUnit::Micros, stamped_at_end: false };
    let apache = log.replace("1.204 0.002", "1736012");
    let told = read(apache.as_bytes(), &Options { durations: Some(micros), ..Options::default() });
    assert_eq!((services(&told)[0], secs(&told)), (Some(1.736012), vec![0.25, 0.75]));
}

#[test]
fn access_logs_can_be_labelled_by_the_classes_of_a_scenario() {
    let rule = |path: Option<&str>, client: Option<&str>| RuleV1 {
        path: path.map(Into::into),
        host: None,
        method: None,
        header: None,
        value: None,
        client: client.map(Into::into),
        from: FromV1::Trusted,
    };
    let rules = [vec![rule(Some("/**.gif"), None), rule(None, Some("192.0.2.5"))], vec![]];
    let classifier = Classifier::from_rules(rules.iter().map(Vec::as_slice));
    let names = ["gold".to_string(), "rest".to_string()];
    let by_class = LabelBy::Classes { classifier: &classifier, names: &names };
    let trace = read(LOG.as_bytes(), &Options { label_by: by_class, ..Options::default() });
    let labels: Vec<&str> = (0..5).map(|row| label(&trace, row)).collect();
    assert_eq!(labels, ["gold", "rest", "rest", "rest", "gold"]);
    let single = read(LOG.as_bytes(), &Options { label_by: LabelBy::Single, ..Options::default() });
    assert_eq!(single.labels, ["all"]);
}

#[test]
fn a_table_with_units_in_its_names_is_read_exactly() {
    let trace = plain(
        "t_ms,class,service_us,bytes,status\r\n0.5,gold,1500,10,200\r\n250,free,-1,,200\n\n# done\n1000.000001,gold,2,-,503",
    );
    assert_eq!((trace.format, trace.rejects.count), (Format::Table, 0));
    let at: Vec<u64> = trace.rows.iter().map(|row| row.at.as_nanos()).collect();
    assert_eq!(at, [500_000, 250_000_000, 1_000_000_001]);
    assert_eq!(services(&trace), [Some(0.0015), None, Some(0.000002)]);
    assert_eq!(trace.rows.iter().map(|r| r.bytes).collect::<Vec<_>>(), [Some(10), None, None]);
    assert_eq!(trace.labels, ["gold", "free"]);
    assert_eq!((trace.starts_at_unix_s, trace.placed, trace.notes.len()), (None, None, 0));
}

#[test]
fn without_header_the_columns_are_the_documented_ones() {
    let trace = plain("0,gold,0.25\n0,gold,0.5\n0.1,free,0.75,99,200\n");
    assert_eq!(secs(&trace), [0.0, 0.0, 0.1]);
    assert_eq!(services(&trace), [Some(0.25), Some(0.5), Some(0.75)]);
    assert_eq!(label(&trace, 2), "free");
    assert_eq!(plain("0.5 a 1\n0.7 b 2\n").labels, ["a", "b"]);
    assert_eq!(plain("0.5\n0.7\n").labels, ["all"]);
}

#[test]
fn rows_at_the_same_whole_second_stay_together_unless_asked() {
    let text = "t_s,class\n0,a\n0,b\n3,a\n";
    assert_eq!(secs(&plain(text)), [0.0, 0.0, 3.0]);
    assert_eq!(
        plain(text).notes,
        ["times are whole seconds, 1 rows share one with the row before; they are left as they are"]
    );
    let even = Options { placement: Some(Placement::Even), ..Options::default() };
    assert_eq!(secs(&read(text.as_bytes(), &even)), [0.25, 0.75, 3.5]);
}

#[test]
fn times_since_1970_are_told_by_their_digits() {
    for first in [
        "1760104538.115",
        "1760104538115",
        "1760104538115000",
        "1760104538115000000",
        "2025-10-10T13:55:38.115Z",
        "\"2025-10-10 13:55:38.1150000\"",
    ] {
        let trace = plain(&format!("timestamp,class\n{first},a\n"));
        assert_eq!(trace.starts_at_unix_s, Some(1_760_104_538), "{first}");
        assert_eq!(secs(&trace), [0.115], "{first}");
    }
    let trace = plain("TIMESTAMP\n1760104540\n1760104538\n1760104538\n");
    assert_eq!((secs(&trace), trace.out_of_order), (vec![0.25, 0.75, 2.5], 1));
}

#[test]
fn an_end_and_a_duration_make_an_arrival() {
    let trace = plain("end_s,duration_s,method,class\n1.0,0.25,GET,list\n1.1,1.5,GET,meta\n2.0,-,GET,list\n");
    // -0.4, 0.75 and 2.0, counted from the first.
    assert_eq!(secs(&trace), [0.0, 1.15, 2.4]);
    assert_eq!((label(&trace, 0), services(&trace)[0]), ("meta", Some(1.5)));
}

#[test]
fn token_counts_become_service_times_by_the_model() {
    let text = "t_s,context_tokens,generated_tokens\n0.5,1000,10\n0.75,x,1\n";
    assert_eq!(services(&plain(text)), [None]);
    assert!(plain(text).notes[0].contains("token model"), "{:?}", plain(text).notes);
    let model = TokenModel { base_s: 0.1, input_s: 0.001, output_s: 0.02 };
    let trace = read(text.as_bytes(), &Options { tokens: Some(model), ..Options::default() });
    assert_eq!(services(&trace), [Some(1.3)]);
    assert_eq!(trace.rejects.first, [Reject { line: 3, reason: Reason::NoTokens }]);
}

#[test]
fn json_lines_are_a_table_whose_header_is_in_the_keys() {
    let text = "{\"t_s\": 0.2477829, \"class\": \"gold\", \"service_ms\": 5, \"other\": [1]}\n{\"class\": \"free\", \"t_s\": \"1e-1\"}\nnope\n[1]\n{\"class\":\"x\"}\n";
    let trace = plain(text);
    assert_eq!(trace.format, Format::JsonLines);
    let at: Vec<u64> = trace.rows.iter().map(|row| row.at.as_nanos()).collect();
    assert_eq!(at, [100_000_000, 247_782_900]);
    assert_eq!((label(&trace, 0), services(&trace)), ("free", vec![None, Some(0.005)]));
    let reasons: Vec<Reason> = trace.rejects.first.iter().map(|r| r.reason).collect();
    assert_eq!(reasons, [Reason::NoObject, Reason::NoObject, Reason::NoTime]);
    // A line of another program first; its keys do not settle the columns.
    let mixed = plain("{\"level\": \"info\"}\n{\"t_s\": 1}\n{\"t_s\": 2, \"service_s\": 0.5}\n");
    assert_eq!((services(&mixed), mixed.rejects.count), (vec![None, Some(0.5)], 1));
    let none = parse_trace(b"{nope}\n", &Options::default()).unwrap_err();
    assert_eq!(none.to_string(), "no line could be read; line 1: no JSON object");
}

#[test]
fn a_duration_without_unit_is_used_only_if_the_unit_is_told() {
    let text = b"time,Duration\n1.5,2\n";
    let untold = read(text, &Options::default());
    assert_eq!((services(&untold), secs(&untold)), (vec![None], vec![1.5]));
    assert_eq!(
        untold.notes,
        ["column `Duration` is not used, since it names no unit (such as `Duration_ms`)"]
    );
    let told = |stamped_at_end| Durations { unit: TimeUnit::Millis, stamped_at_end };
    let at_start = read(text, &Options { durations: Some(told(false)), ..Options::default() });
    assert_eq!((services(&at_start), secs(&at_start)), (vec![Some(0.002)], vec![1.5]));
    let at_end = read(text, &Options { durations: Some(told(true)), ..Options::default() });
    assert_eq!(secs(&at_end), [1.498]);
}

#[test]
fn counts_a_second_are_spread_over_their_seconds() {
    let trace = plain("0\n2\n\n1\n");
    assert_eq!((trace.format, secs(&trace)), (Format::Counts, vec![1.25, 1.75, 2.5]));
    assert_eq!(trace.notes, ["arrivals are made of counts: spread evenly over its bin"]);
}

#[test]
fn counts_a_minute_come_with_or_without_header() {
    for text in [
        "minute_gmt,requests\n00:01,2\n00:03,1\n",
        "00:01,2\n00:03,1\n",
        "minute,requests\n7,2\n9,1\n",
        "minute,count\n2025-10-10T13:55:00Z,2\n2025-10-10T13:57:00Z,1\n",
    ] {
        let counts = parse_counts(text.as_bytes()).unwrap();
        assert_eq!(
            (counts.counts.as_slice(), counts.width.as_nanos()),
            (&[2, 0, 1][..], 60_000_000_000),
            "{text}"
        );
        assert_eq!((counts.total(), counts.peak()), (3, Some((0, 2))));
        assert_eq!(secs(&plain(text)), [15.0, 45.0, 150.0], "{text}");
        assert_eq!(counts.starts_at_unix_s.is_some(), text.contains('T'));
    }
    let past_midnight = parse_counts(b"minute,requests\n23:59,1\n00:00,2\nxx,3\n00:01,-4\n").unwrap();
    assert_eq!(past_midnight.counts, [1, 2]);
    let reasons: Vec<Reason> = past_midnight.rejects.first.iter().map(|r| r.reason).collect();
    assert_eq!(reasons, [Reason::NoTime, Reason::NoCount]);
}

#[test]
fn scaled_counts_carry_their_rounding() {
    let counts = parse_counts("3\n".repeat(1_000).as_bytes()).unwrap();
    let scaled = counts.expand(&Options { scale_counts: Some(0.1), ..Options::default() }).unwrap();
    assert_eq!(scaled.rows.len(), 300);
    assert!(scaled.rows.is_sorted_by_key(|row| row.at));
}

#[test]
fn poisson_arrivals_follow_the_counts() {
    let counts = parse_counts(b"minute,requests\n0,4000\n1,0\n2,1000\n").unwrap();
    let options = |seed| Options { placement: Some(Placement::Random { seed }), ..Options::default() };
    let trace = counts.expand(&options(1)).unwrap();
    let within = |from: f64, to: f64| secs(&trace).iter().filter(|s| (from..to).contains(*s)).count() as f64;
    // Four standard deviations of a Poisson count.
    assert!((within(0.0, 60.0) - 4_000.0).abs() < 4.0 * 63.2, "{}", within(0.0, 60.0));
    assert_eq!(within(60.0, 120.0), 0.0);
    assert!((within(120.0, 180.0) - 1_000.0).abs() < 4.0 * 31.6, "{}", within(120.0, 180.0));
    assert_eq!(trace, counts.expand(&options(1)).unwrap());
    assert_ne!(trace.rows, counts.expand(&options(2)).unwrap().rows);
    // Gaps within the first minute: exponential, so the coefficient of variation is 1.
    let arrivals: Vec<f64> = secs(&trace).into_iter().filter(|&s| s < 60.0).collect();
    let gaps: Vec<f64> = arrivals.windows(2).map(|w| w[1] - w[0]).collect();
    let summary = crate::measure::Summary::of(&gaps);
    assert!((summary.sd / summary.mean - 1.0).abs() < 0.06, "{summary:?}");
}

#[test]
fn rows_and_labels_are_bounded() {
    let few = Options { most_rows: Some(3), ..Options::default() };
    assert_eq!(parse_trace(b"0.1\n0.2\n0.3\n0.4\n", &few), Err(ImportError::TooManyRows { most: 3 }));
    assert_eq!(parse_trace(b"2\n2\n", &few), Err(ImportError::TooManyRows { most: 3 }));
    assert!(parse_trace(b"0.1\n0.2\n0.3\n", &few).is_ok());
    assert!(matches!(
        parse_trace(b"18446744073709551615\n9\n", &Options::default()),
        Err(ImportError::TooManyRows { .. })
    ));
    let many: String = (0..5_000).map(|n| format!("{n}.5,class{n}\n")).collect();
    let trace = plain(&many);
    assert_eq!((trace.rows.len(), trace.labels.len()), (4_096, 4_096));
    assert_eq!((trace.rejects.count, trace.rejects.first.len()), (904, 100));
    let long = format!("0.5,a\n0.6,{}\n0.7,a\n", "x".repeat(2 << 20));
    assert_eq!(plain(&long).rejects.first, [Reject { line: 2, reason: Reason::TooLong }]);
    // Two bins a million years apart do not take the memory between them.
    let counts = parse_counts(b"minute,requests\n0,1\n525600000000,1\n").unwrap();
    assert_eq!((counts.counts.len(), counts.rejects.count), (1, 1));
}

#[test]
fn what_gives_no_trace_says_why() {
    for (text, message) in [
        (&b""[..], "no known format: expected an access log, a table with times, JSON lines or counts"),
        (
            b"\x1f\x8b\x08\x00\xff\xfe",
            "no known format: expected an access log, a table with times, JSON lines or counts",
        ),
        (
            b"class,bytes\na,1\n",
            "no column with times: expected one named t_s, timestamp, start_s, end_s or minute, say",
        ),
        (
            b"192.0.2.1 - - [01/Aug/9995:02:00:04 -0400] \"GET / HTTP/1.0\" 200 1",
            "no line could be read; line 1: no time",
        ),
        (b"t_s,class\nx,a\n", "no line could be read; line 2: no time"),
        (b"0\n0\n", "there is not one request in the file"),
        (b"t_ns\n-9000000000000000000\n9000000000000000000\n", "the rows span more than 292 years"),
    ] {
        let got = parse_trace(text, &Options::default()).map(|t| t.rows.len()).map_err(|e| e.to_string());
        assert_eq!(got, Err(message.to_string()), "{}", line::lossy(text));
    }
    let forced = Options { format: Some(Format::Access), ..Options::default() };
    assert_eq!(parse_trace(b"", &forced), Err(ImportError::NoRows(None)));
}

#[test]
fn formats_and_units_have_stable_names() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
    assert_eq!(Format::from_name("csv"), None);
    assert_eq!(TimeUnit::from_name("us"), Some(TimeUnit::Micros));
    assert_eq!(TimeUnit::from_name("m"), None);
}

#[test]
fn any_bytes_give_a_trace_or_an_error_never_a_panic() {
    let seeds: [&[u8]; 5] = [
        LOG.as_bytes(),
        b"t_ms,class,service_us,bytes\n0.5,\"g,o\"\"ld\",1500,10\n1e3;x\t-\n",
        b"{\"t_s\": 1, \"class\": \"a\"}\n{\"t_s\": 1e300}\n",
        b"minute,requests\n23:59,1\n00:00,2\n",
        b"end_ns,duration_s,context_tokens,generated_tokens\n9223372036854775807,9999999999,1,2\n-9223372036854775808,5,1,1\n",
    ];
    for (number, seed) in (0u64..).zip(seeds) {
        for round in 0..3_000u64 {
            let mut text = seed.to_vec();
            let draw = |k: u64| mix(number << 40 | round << 8 | k) as usize;
            for k in 0..1 + round % 4 {
                let at = draw(3 * k) % text.len();
                match draw(3 * k + 1) % 4 {
                    0 => text[at] = draw(3 * k + 2) as u8,
                    1 => text.truncate(at.max(1)),
                    2 => text.insert(at, b"\n\",;:-[]{}09eE+. \t\xFF"[draw(3 * k + 2) % 19]),
                    _ => {
                        text.remove(at);
                        text.push(b'\n');
                    }
                }
            }
            for format in [None, Some(Format::ALL[round as usize % 4])] {
                let options = Options {
                    format,
                    most_rows: Some(10_000),
                    tokens: Some(TokenModel { base_s: 1.0, input_s: 1.0, output_s: -5.0 }),
                    ..Options::default()
                };
                if let Ok(trace) = parse_trace(&text, &options) {
                    assert!(trace.rows.is_sorted_by_key(|row| row.at), "{}", line::lossy(&text));
                    assert!(trace.rows.iter().all(|row| usize::from(row.label) < trace.labels.len()));
                }
            }
        }
    }
}
