//! The presets as the gallery shows them: drawing, and words of the language for what the core says in English.

use crate::library;
use crate::words::{Language, Word};
use tidegate_core::scenario::presets;

/// Title of a scenario in a language: translated if it is a preset's, else as it is.
#[must_use]
pub fn title(title: &str, language: Language) -> &str {
    let preset = presets::TITLES.iter().find(|(_, known)| *known == title);
    preset.and_then(|(name, _)| language.preset(name)).map_or(title, |texts| texts[0])
}

/// Title, question and what to look for of a preset; of one that is still to be loaded the title.
#[must_use]
pub fn texts(name: &str, language: Language) -> Option<[&'static str; 3]> {
    let title = presets::title(name)?;
    Some(language.preset(name).unwrap_or_else(|| {
        let card = library::card(name);
        [title, card.question, card.look_for]
    }))
}

/// Name of the page without requests, which is no scenario of the core: there is nothing in it to simulate.
pub const EMPTY: &str = "empty";

/// The page without requests as a link.
pub const EMPTY_JSON: &str = r#"{"tidegate":1,"classes":[{"name":"Clients","load":{"kind":"poisson","rate_per_s":0}}],"stages":[{"name":"Serve","workers":4,"work":{"at":"servers"}}],"servers":[{"name":"server-1","slots":4}]}"#;

/// A heading, and its cards: each a preset, and what is beside it.
pub type Group = (Word, &'static [&'static [&'static str]]);

/// The gallery from its beginning to its end. Read through, it is a course: each preset's next step is the one after it.
pub static GROUPS: &[Group] = &[
    (
        Word::group_papers,
        &[
            &["seda-exp1", "seda-exp1-haboob"],
            &["seda-exp2", "seda-exp2-haboob"],
            &["seda-exp3", "seda-exp3-haboob"],
            &["seda-loop-3", "seda-loop-3-published", "seda-loop-3-fifo", "seda-loop-1", "seda-loop-2"],
            &["pdd-two-class", "pdd-open-loop", "pdd-reservation", "pdd-best-effort"],
            &["pdd-three-class", "pdd-class-flip", "pdd-operating-point", "pdd-small-pool", "wrong-prior"],
            &["red5-dnf", "mixed-generation-servers"],
            &["herd", "stale-reports"],
        ],
    ),
    (
        Word::group_overload,
        &[
            &["flash-crowd", "four-classes"],
            &["retry-storm", "retry-storm-calmed"],
            &["starvation", "starvation-aged", "strict-starvation", "fixed-split"],
            &["early-drop-vs-late-drop", "early-drop-vs-late-drop-late"],
            &["slow-backend", "slow-server"],
            &["noisy-neighbour"],
            &["server-down"],
            &["bursty"],
        ],
    ),
    (Word::group_basics, &[&["mm1", "mmc"], &["closed-clients"], &["trace-replay", "demo"], &[EMPTY]]),
];

/// The preset after one in the gallery.
#[must_use]
pub fn next(name: &str) -> Option<&'static str> {
    let mut names = GROUPS.iter().flat_map(|(_, cards)| *cards).flat_map(|card| *card);
    names.find(|n| **n == name)?;
    names.next().copied().filter(|name| *name != EMPTY)
}

/// Whether every word typed is somewhere in `text`. Not letter by letter, as in the palette: a card is long enough to
/// have the letters of anything.
#[must_use]
pub fn matches(typed: &str, text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    typed.to_ascii_lowercase().split(' ').all(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_translated() {
        library::learn(&library::file());
        for [name, ..] in &crate::words::chinese().preset_texts {
            assert!(presets::get(name).is_some(), "{name} is no preset any more");
        }
        for preset in presets::ALL {
            let english = texts(preset.name, Language::English).expect("a preset");
            let chinese = texts(preset.name, Language::Chinese).expect("a preset");
            assert!(english.iter().zip(chinese).all(|(e, c)| *e != c), "{} has no Chinese", preset.name);
            assert_eq!(super::title(preset.title, Language::Chinese), chinese[0]);
            assert_eq!(super::title(preset.title, Language::English), preset.title);
        }
    }

    #[test]
    fn every_preset_is_in_the_gallery_once_and_leads_on() {
        let all: Vec<&str> = GROUPS.iter().flat_map(|(_, cards)| *cards).flat_map(|c| *c).copied().collect();
        for preset in presets::ALL {
            let times = all.iter().filter(|name| **name == preset.name).count();
            assert_eq!(times, 1, "{} is {times} times in the gallery", preset.name);
        }
        assert_eq!(all.len(), presets::ALL.len() + 1, "and the empty page");
        let cards: usize = GROUPS.iter().map(|(_, cards)| cards.len()).sum();
        assert!((15..=20).contains(&cards), "{cards} cards");
        assert_eq!(next("seda-exp1"), Some("seda-exp1-haboob"));
        assert_eq!(next("seda-exp1-haboob"), Some("seda-exp2"));
        assert_eq!(next("demo"), None, "nothing follows but the empty page");
    }

    #[test]
    fn a_card_is_found_by_whole_words_of_it() {
        let text = "Retry storm Why does the overload go on when the crowd has left?";
        assert!(matches("", text) && matches("crowd retry", text) && matches("OVERLOAD ", text));
        assert!(!matches("rtry", text) && !matches("retry herd", text));
    }

    #[test]
    fn the_empty_page_is_a_scenario_in_which_nobody_comes() {
        let parsed = tidegate_core::scenario::parse_json(EMPTY_JSON).expect("reads");
        let scenario = parsed.check().expect("follows the rules");
        assert_eq!(scenario.estimated_events(), 0.0);
        assert!(presets::get(EMPTY).is_none());
    }
}
