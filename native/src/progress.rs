//! The progress bar of long runs: on standard error, and only if somebody watches.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a run may take before a bar appears; most end sooner.
const PATIENCE: Duration = Duration::from_millis(400);
/// Steps of a whole bar.
const WHOLE: u64 = 10_000;

/// Progress of a number of equal parts, fed from several threads.
pub(crate) struct Progress {
    start: Instant,
    parts: u64,
    /// Sum over the parts of what is done of each, in steps.
    done: AtomicU64,
    bar: Option<ProgressBar>,
}

/// Progress of one of the parts.
pub(crate) struct Part<'a> {
    whole: &'a Progress,
    told: u64,
}

impl Progress {
    /// Progress of `parts` equal parts; silent if `quiet` or if standard error is no terminal.
    pub(crate) fn new(what: &str, parts: u64, quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(WHOLE), ProgressDrawTarget::hidden());
            let style = "{msg} {wide_bar:.cyan/dim} {percent:>3} %  {eta} left";
            bar.set_style(ProgressStyle::with_template(style).expect("a constant").progress_chars("━━─"));
            bar.set_message(what.to_owned());
            bar
        });
        Self { start: Instant::now(), parts, done: AtomicU64::new(0), bar }
    }

    /// The handle of one part, to be kept by whoever does it.
    pub(crate) const fn part(&self) -> Part<'_> {
        Part { whole: self, told: 0 }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Part<'_> {
    /// Says that `share` (0 to 1) of the part is done.
    pub(crate) fn at(&mut self, share: f64) {
        let Some(bar) = &self.whole.bar else { return };
        let now = (share * WHOLE as f64) as u64;
        let more = now.saturating_sub(self.told);
        self.told += more;
        let done = self.whole.done.fetch_add(more, Ordering::Relaxed) + more;
        if self.whole.start.elapsed() > PATIENCE {
            if bar.is_hidden() {
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            }
            bar.set_position(done / self.whole.parts.max(1));
        }
    }
}
