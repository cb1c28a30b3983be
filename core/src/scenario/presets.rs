//! The built-in scenarios: each asks one question, and says what to look for.
//!
//! They are ordinary scenario files, embedded. Page, command line and tests load the same bytes.

use super::{Scenario, parse_json};

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name, as in `preset:NAME`.
    pub name: &'static str,
    /// Title, the same as the scenario's.
    pub title: &'static str,
    /// The question it answers, in one sentence.
    pub question: &'static str,
    /// What to look for when it runs.
    pub look_for: &'static str,
    /// The scenario as JSON, laid out for reading.
    pub json: &'static str,
}

impl Preset {
    /// The scenario, ready to run.
    ///
    /// # Panics
    /// Never: that each preset reads and checks is a test.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        let parsed = parse_json(self.json).expect("tested: presets are scenarios");
        parsed.check().expect("tested: presets follow the rules")
    }
}

macro_rules! presets {
    ($($name:literal, $title:literal, $question:literal, $look_for:literal;)*) => {
        /// Every preset; the first is what the page opens with.
        pub const ALL: &[Preset] = &[$(Preset {
            name: $name,
            title: $title,
            question: $question,
            look_for: $look_for,
            json: include_str!(concat!("../../presets/", $name, ".json")),
        }),*];
    };
}

presets! {
    "flash-crowd", "Flash crowd",
    "A crowd arrives and a server dies: who still gets an answer?",
    "Checkout stays fast throughout; Crawlers lose nearly everything from 1:00 on, and Browse starts losing when \
     api-4 goes down at 1:36.";

    "mm1", "One server, M/M/1",
    "How long is the wait in front of one server that is busy 80 % of the time?",
    "The mean wait settles at 4 ms, four times the service time, and the mean response at 5 ms.";

    "mmc", "Eight slots, M/M/8",
    "How much does it help that eight slots share one queue?",
    "At 90 % utilisation the mean wait is 8.77 ms, less than one service time; a single server at that load would \
     make requests wait for nine.";

    "four-classes", "Four classes in overload",
    "With a fifth more work than eight servers can do, which class pays?",
    "Three classes keep their goodput; the lowest takes the whole loss, about 160 of its 300 requests a second.";

    "closed-clients", "Clients who wait",
    "What changes when clients wait for an answer before they ask again?",
    "Twenty clients settle at about 165 requests a second and the queue stays short: they slow down by themselves.";

    "bursty", "Bursts against a steady stream",
    "Do bursts hurt when the mean load is only 70 %?",
    "Both classes send 350 requests a second on average, but nearly all waiting happens during the bursts.";

    "slow-server", "One server slows down",
    "What does one slow server do to everyone when requests go round in turn?",
    "From 0:30 to 1:00 api-3 works at a quarter of its speed and its requests pile up; with least connections the others \
     take over.";

    "server-down", "A server goes away",
    "How long does it take to get over twenty seconds without one server in four?",
    "From 0:30 to 0:50 requests are turned away; the queue is empty again about ten seconds after the server \
     is back.";

    "strict-starvation", "Starved by priority",
    "What is left for the low class when the high class alone fills the servers?",
    "Interactive gets all 100 requests a second of capacity between 0:20 and 0:40; Batch is not served at all.";

    "fixed-split", "Workers set aside",
    "What does it cost to reserve workers for a class?",
    "Gold keeps its two workers even when Bronze overflows; Bronze sheds while Gold's workers stand idle.";

    "trace-replay", "Replay a trace",
    "What would your own traffic have done to three servers?",
    "Hand it a log or a trace with --trace; every row becomes a request at its recorded time.";

    "demo", "Live demo",
    "Three origins, a load that rises and falls: what do real requests do?",
    "Every thirty seconds the load rises above what the origins can do; Checkout keeps its wait, Crawlers queue.";
}

/// The names, in order.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    ALL.iter().map(|preset| preset.name)
}

/// The preset of that name.
#[must_use]
pub fn get(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::parse;

    #[test]
    fn every_preset_is_valid_quick_and_says_what_it_is() {
        for preset in ALL {
            let name = preset.name;
            let parsed = parse_json(preset.json).unwrap_or_else(|e| panic!("{name}: {e}"));
            let parsed = parsed.deny_unknown().unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(parsed.wire.title, preset.title, "{name}");
            assert!(
                parsed.wire.about.starts_with(preset.question),
                "{name}: the question comes first in `about`"
            );
            assert_eq!(
                parse::to_pretty_json(&parsed.wire),
                preset.json,
                "{name}: laid out as the program writes it"
            );
            let scenario = parsed.check().unwrap_or_else(|e| panic!("{name}: {e}"));
            let events = scenario.estimated_events();
            assert!(events < 2e6, "{name}: {events} events are too many for a preset");
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for (i, name) in names().enumerate() {
            assert_eq!(names().position(|other| other == name), Some(i));
            assert_eq!(get(name).map(|p| p.name), Some(name));
        }
        assert!(get("nothing").is_none());
    }
}
