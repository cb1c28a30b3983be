//! Logs and traces as the page reads them: the core's importer with the page's choices.

use crate::protocol::LogRead;
use tidegate_core::import::{Options, Placement, ServiceModel, Trace, parse_trace};

/// Seed of the places of arrivals of which only the second is known: the same file gives the same run.
const PLACEMENT_SEED: u64 = 1;

/// Reads a file. Access logs do not say how long requests took; then the time follows from the size, and the
/// trace's notes say so.
///
/// # Errors
/// Why it is no log or trace, in words of the core.
pub fn read(bytes: &[u8]) -> Result<Trace, String> {
    let options = Options {
        placement: Some(Placement::Random { seed: PLACEMENT_SEED }),
        service: Some(ServiceModel::default()),
        ..Options::default()
    };
    parse_trace(bytes, &options).map_err(|e| e.to_string())
}

/// Fills in what the trace says about itself.
#[must_use]
pub fn describe(trace: &Trace, read: LogRead) -> LogRead {
    LogRead {
        format: trace.format.name().to_owned(),
        rejects: trace.rejects.count,
        first_rejects: trace.rejects.first.iter().take(5).map(|r| (r.line, r.reason.to_string())).collect(),
        notes: trace.notes.clone(),
        ..read
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Engine, Output};
    use crate::protocol::{Answer, Order};

    #[test]
    fn a_small_log_is_read_and_counted() {
        let text = "192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] \"GET /a.html HTTP/1.1\" 200 2326\n\
                    nonsense\n\
                    192.0.2.8 - - [10/Oct/2025:13:55:39 +0000] \"GET /b.png HTTP/1.1\" 200 12\n";
        let mut engine = Engine::default();
        let mut out = Vec::new();
        engine.take(Order::ReadLog { name: "a.log".into() }, &mut out);
        engine.take_log(text.as_bytes(), &mut out);
        let [Output::Answer(Answer::Log(read))] = &out[..] else { panic!("{out:?}") };
        assert_eq!((read.name.as_str(), read.rows, read.rejects), ("a.log", 2, 1));
        assert_eq!(read.first_rejects[0].0, 2);
        assert_eq!(read.labels.len(), 2);
    }

    #[test]
    fn a_file_that_is_no_log_is_refused_with_its_first_line() {
        let mut engine = Engine::default();
        let mut out = Vec::new();
        engine.take(Order::ReadLog { name: "poem.txt".into() }, &mut out);
        engine.take_log(b"Shall I compare thee\nto a summer's day\n", &mut out);
        let [Output::Answer(Answer::LogRefused { name, first_line, .. })] = &out[..] else {
            panic!("{out:?}")
        };
        assert_eq!((name.as_str(), first_line.as_str()), ("poem.txt", "Shall I compare thee"));
    }
}
