//! Every word of the page, in English and Chinese. A string that one language lacks does not compile.
//!
//! Figures go in through `{0}`, `{1}`, …, so that each language puts them where it wants.
//!
//! English is part of the page's program. Chinese is a file ([`chinese_text`]), which the page loads when somebody reads
//! Chinese and [`learn`]s: nobody downloads words that are not read. The program knows a digest of the file it was built
//! with and takes no other, so texts cannot get mixed up. Until then, and without it, Chinese is English.

use std::cell::Cell;

/// A language of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::English => Self::Chinese,
            Self::Chinese => Self::English,
        }
    }

    /// Value for `lang` attributes.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }

    /// Value in links and storage.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// The language a tag such as `zh-CN` or `en` asks for.
    #[must_use]
    pub fn of(tag: &str) -> Self {
        if tag.to_ascii_lowercase().starts_with("zh") { Self::Chinese } else { Self::English }
    }

    /// Whether its words are there.
    #[must_use]
    pub fn is_known(self) -> bool {
        self == Self::English || CHINESE.get().is_some()
    }

    /// Words of the language.
    #[must_use]
    pub fn words(self) -> &'static Words {
        let chinese = CHINESE.get().filter(|_| self == Self::Chinese);
        chinese.or_else(|| ENGLISH.get()).unwrap_or_else(|| {
            let english = Words::keep(ENGLISH_TEXTS.concat());
            ENGLISH.set(Some(english));
            english
        })
    }

    /// Title, question and what to look for of a preset, if the language has words of its own for it.
    #[must_use]
    pub fn preset(self, name: &str) -> Option<[&'static str; 3]> {
        let mut presets = self.words().preset_texts.iter();
        presets
            .find(|preset| preset[0] == name)
            .map(|&[_, title, question, look_for]| [title, question, look_for])
    }
}

/// `text` with `{0}`, `{1}`, … replaced.
#[must_use]
pub fn fill(text: &str, values: &[&str]) -> String {
    let mut out = text.to_owned();
    for (i, value) in values.iter().enumerate() {
        out = out.replace(&format!("{{{i}}}"), value);
    }
    out
}

/// A group of words: a struct with a field a word, the texts of each language one below the other, and how the struct is
/// made of them. Texts in one piece and one function pack better than a table of them.
macro_rules! words {
    ($name:ident, $get:ident; $($key:ident: $english:literal, $chinese:literal;)*) => {
        /// Words of one language.
        #[derive(Debug)]
        pub struct $name {
            $(#[doc = concat!("“", $english, "”")] pub $key: &'static str,)*
        }

        impl $name {
            const NONE: Self = Self { $($key: "",)* };

            pub(crate) fn read(text: &mut &'static str) -> Self {
                let mut words = Self::NONE;
                $($crate::take(&mut words.$key, text);)*
                words
            }
        }

        impl $crate::Language {
            /// Words of the language.
            #[must_use]
            pub fn $get(self) -> &'static $name {
                &self.words().$get
            }
        }

        texts! { $($key: $english, $chinese;)* }
    };
}

/// The texts of a group, one below the other.
macro_rules! texts {
    ($($key:ident: $english:literal, $chinese:literal;)*) => {
        pub(crate) const TEXTS: [&str; 2] = [concat!($($english, "\n",)*), concat!($($chinese, "\n",)*)];

        #[cfg(test)]
        pub(crate) const ALL: &[(&str, &str, &str)] = &[$((stringify!($key), $english, $chinese),)*];
    };
}

pub mod compare;
pub mod handover;
mod labels;
mod page;
mod preset_file;
mod presets;
pub mod record;
pub mod replay;
pub mod text;
pub mod tour;

pub use labels::Word;
pub use page::Page;
pub use preset_file::preset_line;

thread_local! {
    // Each is made once, when it is first wanted, and kept as long as the program.
    static ENGLISH: Cell<Option<&'static Words>> = const { Cell::new(None) };
    static CHINESE: Cell<Option<&'static Words>> = const { Cell::new(None) };
}

const GROUPS: usize = 9;
const ENGLISH_TEXTS: [&str; GROUPS] = texts_of(0);
const CHINESE_TEXTS: [&str; GROUPS] = texts_of(1);
const CHINESE_DIGEST: u64 = digest(&CHINESE_TEXTS);

/// Texts of one language, in the order in which [`Words`] reads them. For constants only: a program that calls it
/// carries both.
const fn texts_of(language: usize) -> [&'static str; GROUPS] {
    [
        page::TEXTS[language],
        compare::TEXTS[language],
        handover::TEXTS[language],
        record::TEXTS[language],
        replay::TEXTS[language],
        text::TEXTS[language],
        tour::TEXTS[language],
        labels::TEXTS[language],
        presets::TEXTS[language],
    ]
}

/// FNV-1a of texts one after the other.
const fn digest(texts: &[&str]) -> u64 {
    let (mut digest, mut i) = (0xcbf2_9ce4_8422_2325, 0);
    while i < texts.len() {
        let bytes = texts[i].as_bytes();
        let mut k = 0;
        while k < bytes.len() {
            digest = (digest ^ bytes[k] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            k += 1;
        }
        i += 1;
    }
    digest
}

/// The file with all Chinese texts, one a line. For the programs that write it; one that calls this carries them.
#[must_use]
pub fn chinese_text() -> String {
    CHINESE_TEXTS.concat()
}

/// Takes the file with the Chinese texts, unless it is another version's. Says whether Chinese is known now.
pub fn learn(file: &str) -> bool {
    let known = Language::Chinese.is_known();
    if !known && digest(&[file]) == CHINESE_DIGEST {
        CHINESE.set(Some(Words::keep(file.to_owned())));
    }
    Language::Chinese.is_known()
}

/// English words, for tests.
#[must_use]
pub fn english() -> &'static Words {
    Language::English.words()
}

/// Chinese words, for tests, which need no file. A program that calls it carries them.
#[must_use]
pub fn chinese() -> &'static Words {
    learn(&chinese_text());
    Language::Chinese.words()
}

/// All words of one language. Those of the page itself are fields.
#[derive(Debug)]
pub struct Words {
    page: Page,
    compare: compare::CompareWords,
    handover: handover::HandoverWords,
    record: record::RecordWords,
    replay: replay::ReplayWords,
    text: text::Text,
    tour: tour::Tour,
    labels: [&'static str; labels::COUNT],
    /// Presets for which there are words: name, title, question and what to look for.
    pub preset_texts: Vec<[&'static str; 4]>,
}

impl Words {
    fn read(text: &mut &'static str) -> Self {
        Self {
            page: Page::read(text),
            compare: compare::CompareWords::read(text),
            handover: handover::HandoverWords::read(text),
            record: record::RecordWords::read(text),
            replay: replay::ReplayWords::read(text),
            text: text::Text::read(text),
            tour: tour::Tour::read(text),
            labels: lines(text),
            preset_texts: core::iter::from_fn(|| (!text.is_empty()).then(|| lines(text))).collect(),
        }
    }

    fn keep(text: String) -> &'static Self {
        Box::leak(Box::new(Self::read(&mut &*text.leak())))
    }
}

impl core::ops::Deref for Words {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

/// Moves the first line of `text` to `line`; a line that is not there is empty.
#[inline(never)]
fn take(line: &mut &'static str, text: &mut &'static str) {
    let (first, rest) = text.split_once('\n').unwrap_or((*text, ""));
    (*line, *text) = (first, rest);
}

/// The next so many lines.
fn lines<const N: usize>(text: &mut &'static str) -> [&'static str; N] {
    let mut lines = [""; N];
    for line in &mut lines {
        take(line, text);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strings that are rightly the same in both languages, or in the other language on purpose.
    const SAME: &[&str] = &[
        "other_language",
        "switch_language",
        "no_words",
        "between_sentences",
        "pid_p",
        "pid_i",
        "pid_d",
        "per_second",
        "flag_load_of",
        "flag_service",
        "policy_red",
        "policy_wred",
        "policy_codel",
        "policy_pie",
        "at_most",
        "json",
        "toml",
    ];

    fn all() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
        let groups = [page::ALL, compare::ALL, handover::ALL, record::ALL, replay::ALL, text::ALL, tour::ALL];
        groups.into_iter().chain([labels::ALL]).flatten()
    }

    #[test]
    fn no_string_is_missing_or_left_in_english() {
        let chinese = |s: &str| s.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        for (key, english, translated) in all() {
            let empty = english.trim().is_empty() || translated.trim().is_empty();
            assert!(!empty || *key == "between_sentences", "{key} is empty");
            assert!(!english.contains('\n') && !translated.contains('\n'), "{key} is more than a line");
            if !SAME.contains(key) {
                assert!(chinese(translated), "{key} has no Chinese: {translated}");
                assert!(!chinese(english), "{key} has Chinese in English: {english}");
            }
        }
    }

    #[test]
    fn both_languages_take_the_same_figures() {
        for (key, english, translated) in all() {
            for i in 0..6 {
                let slot = format!("{{{i}}}");
                // A language may leave out what it does not need, as Chinese does with plurals; never add.
                if translated.contains(&slot) {
                    assert!(english.contains(&slot), "{key}: {slot} only in Chinese");
                }
                if english.contains(&slot) {
                    assert!(translated.contains(&slot), "{key}: {slot} only in English");
                }
            }
        }
    }

    #[test]
    fn the_voice_is_calm() {
        for (key, english, translated) in all() {
            for banned in ["!", "please", "Please", "successfully", "！", "请您", "抱歉"] {
                assert!(!english.contains(banned) && !translated.contains(banned), "{key} says {banned}");
            }
        }
    }

    /// Text of the markup that is a name or a symbol in every language.
    const NAMES: &[&str] = &["Tidegate", "k"];

    /// String literals with letters where the markup shows or speaks them: `{"…"}`, and in attributes that are read out.
    fn written_out(source: &str) -> Vec<String> {
        let shown = source.split("{\"").skip(1);
        let shown = shown.filter_map(|rest| rest.split_once("\"}")).map(|(text, _)| text);
        let spoken = ["aria-label=\"", "title=\"", "placeholder=\"", "alt=\"", "aria-valuetext=\""];
        let spoken = spoken.iter().flat_map(|start| source.split(start).skip(1));
        let spoken = spoken.filter_map(|rest| rest.split_once('"')).map(|(text, _)| text);
        let worded =
            |text: &&str| text.len() < 200 && text.chars().any(char::is_alphabetic) && !NAMES.contains(text);
        shown.chain(spoken).filter(worded).map(str::to_owned).collect()
    }

    #[test]
    fn every_word_of_the_markup_is_in_both_languages() {
        let views = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/view");
        let mut files = 0;
        for file in std::fs::read_dir(views).expect("the views") {
            let path = file.expect("a file").path();
            let source = std::fs::read_to_string(&path).expect("text");
            let markup = source.split("#[cfg(test)]").next().unwrap_or_default();
            let found = written_out(markup);
            assert!(found.is_empty(), "{} says {found:?}; it belongs into the words", path.display());
            files += 1;
        }
        assert!(files > 10, "{files} views");
    }

    #[test]
    fn text_outside_the_words_is_found() {
        assert_eq!(written_out("<b>{\"Hello\"}</b>{\" · \"}{w.word}"), ["Hello"]);
        assert_eq!(written_out("<p aria-label=\"Lane\" class=\"x\">"), ["Lane"]);
        assert!(written_out("aria-label={w.lane} {\"Tidegate\"} fill(\"{0}\")").is_empty());
    }

    #[test]
    fn each_word_is_read_from_its_own_line() {
        for (words, number) in [(english(), 0), (chinese(), 1)] {
            let word = |key: &str| {
                let texts = all().find(|all| all.0 == key).expect("a key");
                [texts.1, texts.2][number]
            };
            assert_eq!((words.skip, words.unknown_fields), (word("skip"), word("unknown_fields")));
            assert_eq!(words.compare.share, compare::ALL.last().map(|all| [all.1, all.2][number]).unwrap());
            assert_eq!((words.tour.tour, words.tour.real), (word("tour"), word("real")));
            assert_eq!((Word::pid_p.of(words), Word::pid_p_help.of(words)), ("Kp", word("pid_p_help")));
        }
        assert!(english().preset_texts.is_empty());
        assert_eq!(chinese().preset_texts.last().map(|preset| preset[0]), Some("herd"));
        assert_eq!(Language::Chinese.preset("mmc").map(|texts| texts[0]), Some("八个位置 M/M/8"));
        assert_eq!(Language::English.preset("mmc"), None);
    }

    #[test]
    fn texts_of_another_version_are_not_taken() {
        let file = chinese_text();
        let shorter = file.split_once('\n').expect("lines").1;
        for other in ["", shorter, &file.replace("跳到", "去往"), &format!("{file}\n")] {
            assert!(!learn(other) && !Language::Chinese.is_known());
            assert_eq!(Language::Chinese.words().skip, english().skip);
        }
        assert!(learn(&file) && Language::Chinese.is_known());
        assert_ne!(Language::Chinese.words().skip, english().skip);
        assert!(learn(""), "once is enough");
    }

    #[test]
    fn figures_go_where_the_language_wants_them() {
        assert_eq!(fill("{1} after {0}", &["a", "b"]), "b after a");
        assert_eq!(Language::of("zh-CN"), Language::Chinese);
        assert_eq!(Language::of("fr"), Language::English);
    }
}
