//! What a person prefers, kept in this browser only.

use crate::words::Language;
use core::sync::atomic::{AtomicBool, Ordering};

/// Light, dark, or whatever the system says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThemeChoice {
    /// As the system.
    #[default]
    System,
    /// Ink on paper.
    Light,
    /// The same at night.
    Dark,
}

impl ThemeChoice {
    /// Value in links and storage.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The choice of that code; anything else is the system's.
    #[must_use]
    pub fn of(code: &str) -> Self {
        match code {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }

    /// The choice that shows the other of light and dark, given what is shown.
    #[must_use]
    pub fn other(dark: bool) -> Self {
        if dark { Self::Light } else { Self::Dark }
    }
}

/// Preferences of this browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefs {
    /// Language of the page.
    pub language: Language,
    /// Light or dark.
    pub theme: ThemeChoice,
    /// Whether single letters are shortcuts (WCAG 2.1.4).
    pub letters: bool,
    /// Reduced motion, by the system or by choice.
    pub still: bool,
}

/// Whether nothing is kept, nor anything read that was kept.
static KEEPS_NOTHING: AtomicBool = AtomicBool::new(false);

/// Says whether to leave the browser's storage alone, as a page in a frame does.
pub fn keep_nothing(on: bool) {
    KEEPS_NOTHING.store(on, Ordering::Relaxed);
}

fn storage() -> Option<web_sys::Storage> {
    if KEEPS_NOTHING.load(Ordering::Relaxed) {
        return None;
    }
    web_sys::window()?.local_storage().ok()?
}

fn matches(query: &str) -> bool {
    web_sys::window().and_then(|w| w.match_media(query).ok().flatten()).is_some_and(|m| m.matches())
}

impl Prefs {
    /// What was kept; `lang` and `theme` of a link come first.
    #[must_use]
    pub fn load(lang: Option<&str>, theme: Option<&str>) -> Self {
        let browser = web_sys::window().and_then(|w| w.navigator().language());
        let language = lang.map(str::to_owned).or_else(|| Self::kept("lang")).or(browser).unwrap_or_default();
        let theme = theme.map(str::to_owned).or_else(|| Self::kept("theme")).unwrap_or_default();
        Self {
            language: Language::of(&language),
            theme: ThemeChoice::of(&theme),
            letters: Self::kept("letters").as_deref() != Some("off"),
            still: match Self::kept("motion").as_deref() {
                Some("reduced") => true,
                Some("full") => false,
                _ => matches("(prefers-reduced-motion: reduce)"),
            },
        }
    }

    /// What was kept of one choice.
    #[must_use]
    pub fn kept(key: &str) -> Option<String> {
        storage()?.get_item(&format!("tidegate.{key}")).ok()?
    }

    /// Keeps one choice.
    pub fn keep(key: &str, value: &str) {
        if let Some(storage) = storage() {
            let _ = storage.set_item(&format!("tidegate.{key}"), value);
        }
    }

    /// Whether the page is dark now.
    #[must_use]
    pub fn dark(&self) -> bool {
        match self.theme {
            ThemeChoice::Light => false,
            ThemeChoice::Dark => true,
            ThemeChoice::System => matches("(prefers-color-scheme: dark)"),
        }
    }

    /// Whether the system imposes its own colours.
    #[must_use]
    pub fn forced_colours() -> bool {
        matches("(forced-colors: active)")
    }
}
