//! The built-in scenarios: each asks one question, and says what to look for.
//!
//! They are ordinary scenario files, embedded. Page, command line and tests load the same bytes. [`Preset::json`] is apart
//! from [`ALL`], so that a program that never asks for it (the page, which loads them on request) does not carry the files.

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
}

impl Preset {
    /// The scenario as JSON, laid out for reading; empty if this is none of [`ALL`].
    #[must_use]
    pub fn json(&self) -> &'static str {
        FILES.iter().find(|(name, _)| *name == self.name).map_or("", |(_, json)| json)
    }

    /// The scenario, ready to run.
    ///
    /// # Panics
    /// If this is none of [`ALL`]. That each of those reads and checks is a test.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        let parsed = parse_json(self.json()).expect("tested: presets are scenarios");
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
        }),*];

        /// Name and title of each.
        // Apart from `ALL`, as is what follows: a program that shows no more of them, as the page at first, does not carry
        // the rest.
        pub static TITLES: &[(&str, &str)] = &[$(($name, $title)),*];

        /// Name and file of each.
        static FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../presets/", $name, ".json")))),*];
    };
}

/// The title of a preset.
#[must_use]
pub fn title(name: &str) -> Option<&'static str> {
    TITLES.iter().find(|(known, _)| *known == name).map(|&(_, title)| title)
}

/// What to look for in the first of [`ALL`].
pub const FIRST_LOOK_FOR: &str = ALL[0].look_for;

/// The file of the first of [`ALL`].
pub const FIRST: &str = include_str!("../../presets/flash-crowd.json");

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

    "seda-exp1", "SEDA experiment 1, priority",
    "What does priority do for a crowd of 900 that all ask for 20 KB?",
    "Paper S, experiment 1, by its published rules. Nobody is turned away; High answers in about ten \
     milliseconds, Middle in half a second, Low in one.";

    "seda-exp1-haboob", "SEDA experiment 1, Haboob",
    "And if the same crowd of 900 waits in one line?",
    "The other side of experiment 1: everybody waits about half a second, and the last answer leaves at the \
     same moment.";

    "seda-exp2", "SEDA experiment 2, priority",
    "Who gets a page of 1.1 MB when 900 ask and the link takes 79 s for all?",
    "Paper S, experiment 2, as published. About 110, 160 and 280 of 300 are answered, from Low to High: the \
     rest was turned away for them.";

    "seda-exp2-haboob", "SEDA experiment 2, Haboob",
    "And if all 900 may wait for their 1.1 MB?",
    "Everybody is answered, on average after 40 s, and whoever came first is first, whatever its class.";

    "seda-exp3", "SEDA experiment 3, priority",
    "What happens to small urgent pages when the lowest class asks for large ones?",
    "Paper S, experiment 3, as published: the widest gap. Within 10 s about 700 of 900 are answered, more \
     than twice as many as in one line.";

    "seda-exp3-haboob", "SEDA experiment 3, Haboob",
    "And if small pages wait behind large ones?",
    "Within 10 s only some 330 of 900 are answered: a page of 20 KB waits for as many large ones as came \
     before it.";

    "seda-loop-1", "SEDA loop 1, Tidegate",
    "Does the lowest class get anything when 900 clients ask for 20 KB again and again?",
    "Low and Middle together get a fifth of the link, not a thousandth as under strict priority; the mean \
     response of High goes from 0.31 to 0.43 s for it.";

    "seda-loop-2", "SEDA loop 2, Tidegate",
    "Who waits how long when 900 clients ask for 1.1 MB again and again?",
    "The link is full all the time; from High to Low the mean response is about 4, 8 and 13 s, and \
     nobody waits longer than 23 s.";

    "seda-loop-3", "SEDA loop 3, Tidegate",
    "Can small urgent pages stay fast beside endless large ones, and the large ones still come through?",
    "High answers in some 35 ms; Low gets a fifth of the link, and the longest wait stays below 23 s. No work \
     is done for requests turned away later.";

    "seda-loop-3-published", "SEDA loop 3, as published",
    "What do the published rules make of the same loop?",
    "Promoted large pages fill the top queue: High waits seconds instead of milliseconds, a third of it is \
     turned away, and most of the work upstream is for nothing.";

    "seda-loop-3-fifo", "SEDA loop 3, first come",
    "And one line for all in the same loop?",
    "Everybody waits behind 1.1 MB: some 30 answers a second where 450 were possible.";

    "starvation", "Starvation, strict priority alone",
    "What is left for the low class while urgent requests alone ask for more than there is?",
    "Nothing, for the whole minute: not one request of Low is served.";

    "starvation-aged", "Starvation, with ageing",
    "And if a fifth of the work goes to whoever has waited too long?",
    "Low is served all along, and no wait passes the bound of 17 s. More than half of Low is turned away at \
     the door, where the urgent leave no room; the urgent class loses a fiftieth.";

    "early-drop-vs-late-drop", "Turned away early",
    "Does it matter where a request is turned away?",
    "The same load is refused, but at the door: nothing is built for requests that are turned away later. \
     Compare the wasted time with the other half of the pair.";

    "early-drop-vs-late-drop-late", "Turned away late",
    "And if each stage turns away for itself?",
    "A third of the pages that were built is thrown away in front of the link.";

    "retry-storm", "Retry storm",
    "Why does the overload go on when the crowd has left?",
    "The load is back to normal at 0:30, and yet nearly every answer still comes too late: the queue is full \
     of requests nobody waits for any more, and each of those clients has asked again.";

    "retry-storm-calmed", "Retry storm, calmed",
    "And if the queue is kept short?",
    "Answers are in time again seconds after the crowd has left.";

    "pdd-two-class", "Delays one to two",
    "Does Gold still wait half as long as Silver when twice as many of its clients come?",
    "The waits are 1 to 2 before 10:00, and again some ten seconds after it; the workers go from 38 and 26 to 49 and \
     15. With stc_paper the ratio is upside down at first and takes most of a minute to come back.";

    "pdd-open-loop", "Delays left alone",
    "What becomes of the delays when the split of the workers stays as it is?",
    "Gold and Silver wait alike until 10:00. From then on Gold waits three times as long as Silver: the ratio is \
     upside down.";

    "pdd-reservation", "Quotas set aside",
    "Do quotas that are right for the busy hour keep the ratio at other times?",
    "From 10:00 on the ratio is 2. Before, Silver waits more than nine times as long as Gold, which does not need \
     what it has.";

    "pdd-best-effort", "One line for both",
    "And if both classes wait in one line?",
    "Both wait alike, whatever they are worth, before 10:00 and after.";

    "pdd-three-class", "Delays one to two to four",
    "Can three classes keep to 1 : 2 : 4 while the load of one doubles and falls back?",
    "The workers go from 30, 21 and 13 to 43, 14 and 8 and back, and the ratios stay.";

    "pdd-operating-point", "From light load to heavy",
    "Does a controller that is right under heavy load still hold the ratio under light load?",
    "stc_lead holds 1 to 2 at both loads. Gains of pid that suit the heavy load swing under the light one: eleven \
     workers move each 5 s, and Silver waits more than three times as long as Gold.";

    "pdd-small-pool", "Eight workers",
    "How close can a ratio be kept when one worker more or less changes it by half?",
    "On average the ratio is 1.97, before 10:00 and after, as the split alternates. With stc_paper it is 1.75 after \
     the step, for good, and with dither 2.05.";

    "pdd-class-flip", "Crowds change places",
    "How fast do the workers follow when the crowd changes from one class to the other?",
    "Within five seconds of 5:00 the split has turned over, from 7 workers for Gold to 28, and the ratio with it.";

    "wrong-prior", "A wrong guess",
    "What if the controller begins with a gain that is wrong by four?",
    "The ratio is 2 all the same, and it soon moves no more workers than with the right guess. With tune off it holds \
     the ratio too, and moves six times as many.";

    "red5-dnf", "Chat, live and video on four media servers",
    "Do load reports place long sessions better than counting connections does?",
    "Two large servers and two small ones come to much the same load, and a session's first answer takes a third \
     of a second. With least connections, which counts sessions alike, it takes two to three times as long; with \
     100 users there is no difference.";

    "noisy-neighbour", "A neighbour takes two thirds of a server",
    "What happens to everybody when something else takes two thirds of one machine?",
    "From 2:00 to 4:40 server-4 has a third of its processors. Its weight falls within two reports, the others \
     take its part, and one request in a hundred takes 0.12 s at most; under configured weights that is half as \
     much again.";

    "slow-backend", "One backend in six turns grey",
    "How much does a server cost that is half dead and still passes its health check?",
    "server-2 works at a fifth of its speed from 2:00 to 4:40. Its weight and its requests in flight fall; one \
     request in a hundred takes a tenth of a second. Round robin makes everybody wait for it.";

    "stale-reports", "A load report that is stuck",
    "What if a server says again and again that it has little to do?",
    "Reports of server-3 are stuck from 0:30 on, and the load doubles at 1:00: the published rule takes server-3 \
     for the idlest and sends it all it can. With dnf, which counts what it has sent since, nobody notices.";

    "mixed-generation-servers", "Old and new machines, two kinds of work",
    "Which weight is right for a machine with many cores and a slow network?",
    "There is none: each server has a weight for requests, which need cores, and one for sessions, which need \
     bandwidth. gen-4 gets many of the ones and few of the others, and no session loses bandwidth. With weighted \
     least connections a fifth is lost.";

    "herd", "Everybody to the best third",
    "Why not send everything to the third of the servers that is least loaded?",
    "A third cannot carry it: within seconds hundreds wait in each of its servers, and with the next report the \
     herd runs on. The others are idle meanwhile. Group by width, or take dnf: queues stay below fifteen.";
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
            let parsed = parse_json(preset.json()).unwrap_or_else(|e| panic!("{name}: {e}"));
            let parsed = parsed.deny_unknown().unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(parsed.wire.title, preset.title, "{name}");
            assert!(
                parsed.wire.about.starts_with(preset.question),
                "{name}: the question comes first in `about`"
            );
            assert_eq!(
                parse::to_pretty_json(&parsed.wire),
                preset.json(),
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
        assert_eq!(ALL[0].json(), FIRST);
    }
}
