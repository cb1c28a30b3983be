//! Why a link does not open, in words for whoever pasted it.

use crate::scenario::{Newer, ScenarioError};
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// Why a link does not open.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkError {
    /// There is no `t<version><codec>.` where it should be.
    NotALink,
    /// It is longer than [`MAX_CHARS`](super::MAX_CHARS).
    TooLong {
        /// How long it is.
        chars: usize,
    },
    /// It ends too early.
    CutShort,
    /// A character is not what it was.
    Damaged {
        /// Which one, counted from 1 in the text that was given.
        character: usize,
        /// What is there.
        found: char,
        /// The link as it probably was, without view parameters. Only if changing this one character is all it takes.
        repaired: Option<String>,
    },
    /// Several characters are not what they were, or some are missing; which, cannot be told.
    Check,
    /// The check fits, but what is inside is no compressed text.
    Content,
    /// It needs a newer Tidegate.
    Newer {
        /// Version of the format.
        version: u32,
        /// What can be shown of it.
        scenario: Option<Box<Newer>>,
    },
    /// Codec `p` is reserved for a preset with changes.
    Reserved,
    /// No such codec.
    Codec(char),
    /// It is whole, but the scenario in it is not as it should be.
    Scenario(ScenarioError),
}

impl LinkError {
    /// The error for a scenario that came by link.
    pub(super) fn from_scenario(error: ScenarioError) -> Self {
        match error.newer {
            Some(newer) => Self::Newer {
                version: u32::try_from(newer.version).unwrap_or(u32::MAX),
                scenario: Some(newer),
            },
            None => Self::Scenario(error),
        }
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotALink => {
                f.write_str("This is not a Tidegate link. One begins with t1z. or t1j., possibly after a #.")
            }
            Self::TooLong { chars } => write!(
                f,
                "This link is too long: {chars} characters, and at most {} are read.",
                super::MAX_CHARS
            ),
            Self::CutShort => f.write_str(
                "This link is damaged. It was cut short: it should end in a dot and seven characters.",
            ),
            Self::Damaged { character, found, repaired: None } => {
                write!(f, "This link is damaged. Character {character} is not part of a Tidegate link: {found:?}.")
            }
            Self::Damaged { character, found, repaired: Some(_) } => {
                write!(f, "This link is damaged. Character {character} was changed; it is now {found:?}.")
            }
            Self::Check => f.write_str(
                "This link is damaged. Characters were changed or are missing; which, cannot be told.",
            ),
            Self::Content => f.write_str(
                "This link is damaged. Nothing was changed on the way, but what is in it is no scenario.",
            ),
            Self::Newer { version, .. } => write!(
                f,
                "This link needs a newer Tidegate. It was made with version {version} of the scenario format; \
                 this one knows {}.",
                crate::scenario::v1::VERSION
            ),
            Self::Reserved => f.write_str(
                "This link names a preset and changes to it (codec p), which this version of Tidegate does not read.",
            ),
            Self::Codec(codec) => {
                write!(f, "This link is packed in a way (codec {codec}) that this version of Tidegate does not read.")
            }
            Self::Scenario(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl core::error::Error for LinkError {}
