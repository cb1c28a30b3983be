//! The scenario as text, in both directions.

use super::App;
use yew::prelude::*;

/// The text view.
#[derive(Clone, Debug, Default)]
pub struct State {}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {}

impl App {
    pub(super) fn text(&mut self, _ctx: &Context<Self>, command: Do) {
        match command {}
    }
}
