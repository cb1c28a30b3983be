//! Logs and traces as the page reads them: the core's importer with the page's choices.

use crate::protocol::LogRead;
use tidegate_core::import::{Contents, Options, Trace, parse_trace};

/// Reads a file. Access logs do not say how long requests took; then the time follows from the size, and the
/// trace's notes say so.
///
/// # Errors
/// Why it is no log or trace, in words of the core.
pub fn read(bytes: &[u8]) -> Result<Trace, String> {
    parse_trace(bytes, &Options::to_play()).map_err(|e| e.to_string())
}

/// Labels that the page is told of.
const MOST_LABELS: usize = 64;

/// What the page is told of a trace.
#[must_use]
pub fn describe(name: String, trace: &Trace) -> LogRead {
    let mut contents = Contents::of(trace);
    contents.labels.truncate(MOST_LABELS);
    LogRead {
        name,
        format: trace.format.name().to_owned(),
        rows: trace.rows.len() as u64,
        rejects: trace.rejects.count,
        first_rejects: trace.rejects.first.iter().take(5).map(|r| (r.line, r.reason.to_string())).collect(),
        labels: contents.labels,
        span_s: contents.span_s,
        timed: contents.timed,
        mean_service_s: contents.mean_service_s,
        notes: trace.notes.clone(),
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
