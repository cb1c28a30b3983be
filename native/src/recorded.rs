//! Recorded traffic handed to `simulate`: an access log or a trace, read whole before anything runs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tidegate_core::classify::Classifier;
use tidegate_core::import::{
    Contents, Durations, Format, LabelBy, Options, Placement, ServiceModel, TimeUnit, TokenModel, Trace,
    TraceRow, parse_trace,
};
use tidegate_core::scenario::Scenario;
use tidegate_core::scenario::v1::RunV1;
use tidegate_core::time::Instant;

use crate::cli::{HorizonArg, InputArgs, LabelArg, PlaceArg};
use crate::text::{WARN, grouped, styled};

/// Most bytes read of a file with recorded traffic.
const LONGEST: u64 = 1 << 30;
/// Lines that could not be understood which are shown one by one.
const SHOWN: usize = 3;

/// Recorded traffic, at the speed asked for.
pub(crate) struct Recorded {
    file: String,
    speed: f64,
    trace: Trace,
}

impl InputArgs {
    /// Reads the file, if one is named. `scenario` has the rules for `--label-by classes`.
    ///
    /// # Errors
    /// A file that cannot be read, or that holds no traffic.
    pub(crate) fn read(&self, scenario: &Scenario) -> anyhow::Result<Option<Recorded>> {
        let Some(file) = &self.input else { return Ok(None) };
        let bytes = read(file).with_context(|| format!("cannot read {file}"))?;
        let classifier = Classifier::new(scenario);
        let names: Vec<_> = scenario.classes.iter().map(|class| class.name.clone()).collect();
        let options = Options {
            format: self.input_format.as_deref().and_then(Format::from_name),
            label_by: match self.label_by {
                LabelArg::Kind => LabelBy::Kind,
                LabelArg::Single => LabelBy::Single,
                LabelArg::Classes => LabelBy::Classes { classifier: &classifier, names: &names },
            },
            placement: self.place.map(|place| match place {
                PlaceArg::Start => Placement::AtStart,
                PlaceArg::Even => Placement::Even,
                PlaceArg::Random => Placement::Random { seed: scenario.seed },
            }),
            durations: self
                .time_unit
                .as_deref()
                .and_then(TimeUnit::from_name)
                .map(|unit| Durations { unit, stamped_at_end: self.stamped_at_end }),
            service: self.service_by_size.then(ServiceModel::default),
            tokens: match self.service_by_tokens.as_deref() {
                None => None,
                Some(&[base_s, input_s, output_s]) => Some(TokenModel { base_s, input_s, output_s }),
                Some(other) => bail!("--service-by-tokens: three numbers, found {}", other.len()),
            },
            scale_counts: self.scale,
            most_rows: None,
        };
        Recorded::of(file, &bytes, &options, self.speed).map(Some)
    }

    /// Sets the length of the run as asked for.
    ///
    /// # Errors
    /// `--horizon input` without input.
    pub(crate) fn set_horizon(&self, run: &mut RunV1, recorded: Option<&Recorded>) -> anyhow::Result<()> {
        run.horizon_us = match (self.horizon, recorded) {
            (None, _) => return Ok(()),
            (Some(HorizonArg::Seconds(s)), _) => (s * 1e6).round() as u64,
            (Some(HorizonArg::Input), Some(recorded)) => recorded.horizon_us(),
            (Some(HorizonArg::Input), None) => bail!("--horizon input: needs --input FILE"),
        };
        Ok(())
    }
}

/// `at`, in traffic that comes `speed` times as fast.
fn faster(at: Instant, speed: f64) -> Instant {
    if speed == 1.0 { at } else { Instant::from_nanos((at.as_nanos() as f64 / speed).round() as u64) }
}

/// Reads a file with recorded traffic, at most 1 GiB of it; `-` is standard input.
pub(crate) fn read(file: &str) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file == "-" {
        std::io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes)?;
    } else {
        File::open(file)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > LONGEST {
        return Err(std::io::Error::new(
            std::io::ErrorKind::FileTooLarge,
            "more than 1 GiB; take a part of it",
        ));
    }
    Ok(bytes)
}

impl Recorded {
    /// Reads the content of a file, for traffic so many times as fast.
    ///
    /// # Errors
    /// A content that holds no traffic, or a speed that is none.
    pub(crate) fn of(file: &str, bytes: &[u8], options: &Options<'_>, speed: f64) -> anyhow::Result<Self> {
        let mut trace = parse_trace(bytes, options).with_context(|| file.to_owned())?;
        if speed <= 0.0 || !speed.is_finite() {
            bail!("--speed: above 0, found {speed}");
        }
        for row in &mut trace.rows {
            row.at = faster(row.at, speed);
        }
        Ok(Self { file: file.to_owned(), speed, trace })
    }

    /// What it holds.
    pub(crate) fn contents(&self) -> Contents {
        Contents::of(&self.trace)
    }

    /// Rows and labels, as the simulator takes them.
    pub(crate) fn rows(&self) -> (&[TraceRow], &[String]) {
        (&self.trace.rows, &self.trace.labels)
    }

    /// Length of a run that plays all of it, in microseconds: up to the whole second after the last arrival.
    pub(crate) fn horizon_us(&self) -> u64 {
        (self.last().as_nanos() / 1_000_000_000 + 1) * 1_000_000
    }

    /// When the last request arrives.
    fn last(&self) -> Instant {
        self.trace.rows.last().map_or(Instant::START, |row| row.at)
    }

    /// Says on standard error what was not understood, what was assumed, and what will not be played.
    pub(crate) fn note(&self, scenario: &Scenario) {
        let mut notes = self.trace.notes.clone();
        let rejects = &self.trace.rejects;
        if rejects.count > 0 {
            let first: Vec<_> = rejects.first.iter().take(SHOWN).map(ToString::to_string).collect();
            let more = if rejects.count > first.len() as u64 { ", ..." } else { "" };
            let count = match rejects.count {
                1 => "1 line was".to_owned(),
                n => format!("{} lines were", grouped(n as f64)),
            };
            notes.push(format!("{count} not understood: {}{more}", first.join(", ")));
        }
        let end = Instant::START + scenario.horizon;
        let late = self.trace.rows.len() - self.trace.rows.partition_point(|row| row.at <= end);
        if late > 0 {
            notes.push(format!(
                "{} of {} requests come after the run's end at {} s; --horizon input plays all",
                grouped(late as f64),
                grouped(self.trace.rows.len() as f64),
                scenario.horizon.as_secs_f64(),
            ));
        }
        let mut text = String::new();
        for note in notes {
            let _ = writeln!(text, "{} {}: {note}", styled(WARN, "note:"), self.file);
        }
        anstream::eprint!("{text}");
    }

    /// What was read, as part of the JSON result.
    pub(crate) fn described(&self) -> Value {
        let trace = &self.trace;
        let first: Vec<_> = trace
            .rejects
            .first
            .iter()
            .map(|reject| json!({ "line": reject.line, "reason": reject.reason.to_string() }))
            .collect();
        json!({
            "file": self.file,
            "format": trace.format.name(),
            "rows": trace.rows.len(),
            "last_at_s": self.last().as_secs_f64(),
            "speed": self.speed,
            "labels": trace.labels,
            "starts_at_unix_s": trace.starts_at_unix_s,
            "out_of_order": trace.out_of_order,
            "rejects": { "count": trace.rejects.count, "first": first },
            "notes": trace.notes,
        })
    }
}
