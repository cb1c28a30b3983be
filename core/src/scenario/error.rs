//! What is wrong with a scenario: where, which rule, what was found there.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;

/// One thing wrong with a scenario.
///
/// Reads `classes[1].delay_weight: above 0 and at most 1000, found 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// Where, as in `classes[1].delay_weight`; `scenario` for the whole.
    pub path: String,
    /// The rule that is broken: what the value has to be.
    pub rule: String,
    /// The value that breaks it, as JSON and cut short, or `nothing`.
    pub found: String,
    /// What was probably meant, if a known name is close to the one found.
    pub meant: Option<String>,
    /// Set if the scenario was written for a newer version of the format.
    pub newer: Option<Box<Newer>>,
}

/// A scenario of a version of the format that this program does not know.
///
/// Nothing in it is interpreted but the title; it can be shown, and opened by the release that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newer {
    /// Version of the format.
    pub version: u64,
    /// Its title, if it still has one.
    pub title: String,
    /// Release that wrote it (`eng`), if it says so.
    pub engine: String,
    /// The whole scenario as indented JSON.
    pub json: String,
}

impl ScenarioError {
    /// An error at `path`: it should be `rule`, and `found` was there.
    ///
    /// They are written out here, not by the many callers, whose code would each time hold the writing.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(path: &dyn fmt::Display, rule: &dyn fmt::Display, found: &dyn fmt::Display) -> Self {
        let (path, rule, found) = (path.to_string(), rule.to_string(), found.to_string());
        Self { path, rule, found, meant: None, newer: None }
    }

    /// The same error with a guess at what was meant.
    pub(crate) fn with_guess(mut self, meant: Option<&str>) -> Self {
        self.meant = meant.map(String::from);
        self
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, found {}", self.path, self.rule, self.found)?;
        match &self.meant {
            Some(meant) => write!(f, " (did you mean {meant}?)"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for ScenarioError {}
