//! Why one request, refusal or pick went as it did.

use super::App;
use yew::prelude::*;

/// What is being explained.
#[derive(Clone, Debug, Default)]
pub struct State {}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {}

impl App {
    pub(super) fn record(&mut self, _ctx: &Context<Self>, command: Do) {
        match command {}
    }
}
