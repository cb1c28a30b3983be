//! Compare: a second system, B, beside the one that is edited, A, on the same traffic; and many runs of both.

use super::App;
use yew::prelude::*;

/// What Compare holds.
#[derive(Clone, Debug, Default)]
pub struct State {}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {}

impl App {
    pub(super) fn compare(&mut self, _ctx: &Context<Self>, command: Do) {
        match command {}
    }
}
