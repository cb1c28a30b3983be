//! Shared helpers of the whole-system tests.

pub mod webdriver;
