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
        // A static: of a constant, each crate that names it would carry a copy.
        pub static ALL: &[Preset] = &[$(Preset {
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
    "Checkout stays fast throughout. From 1:00 on three in four Crawlers are turned away, and all of them while \
     api-4 is gone; only then Browse loses some too.";

    "mm1", "One server, M/M/1",
    "How long is the wait in front of one server that is busy 80 % of the time?",
    "The mean wait settles at 4 ms, four times the service time, and the mean response at 5 ms.";

    "mmc", "Eight slots, M/M/8",
    "How much does it help that eight slots share one queue?",
    "At 90 % utilisation the mean wait is 8.77 ms, less than one service time; a single server at that load would \
     make requests wait for nine.";

    "four-classes", "Four classes in overload",
    "With a fifth more work than eight servers can do, which class pays?",
    "Three classes keep their goodput; the lowest takes the whole loss, more than half of its 300 requests a second.";

    "closed-clients", "Clients who wait",
    "What changes when clients wait for an answer before they ask again?",
    "Twenty clients settle at about 165 requests a second and the queue stays short: they slow down by themselves.";

    "bursty", "Bursts against a steady stream",
    "Do bursts hurt when the mean load is only 70 %?",
    "Nearly all waiting happens while a burst lasts. The bursty class waits about twice as long as the steady one: \
     most of its requests come when it is full.";

    "slow-server", "One server slows down",
    "What does one slow server do to everyone when requests go round in turn?",
    "From 0:30 to 1:00 goodput falls to four times what the slow api-3 can do: its requests hold all workers. With \
     least connections hardly anyone notices.";

    "server-down", "A server goes away",
    "How long does it take to get over twenty seconds without one server in four?",
    "The queue fills in about eight seconds, then one request in seven is turned away. It is empty again a few \
     seconds after the server is back at 0:50.";

    "strict-starvation", "Starved by priority",
    "What is left for the low class when the high class alone fills the servers?",
    "From about 0:23 to 0:40 Interactive gets all 100 requests a second of capacity and Batch is not served at all.";

    "fixed-split", "Workers set aside",
    "What does it cost to reserve workers for a class?",
    "Gold waits 2 ms although Bronze is turned away 100 times a second; meanwhile Gold's two workers are idle most of \
     the time. Without the split nearly everyone is served.";

    "trace-replay", "Replay a trace",
    "What would your own traffic have done to three servers?",
    "Hand it a log or a trace with --input; every row becomes a request at its recorded time.";

    "demo", "Live demo",
    "Three origins, a load that rises and falls: what do real requests do?",
    "Every thirty seconds the load rises above what the origins can do: Checkout hardly waits, Crawlers wait for \
     seconds or are turned away.";
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
