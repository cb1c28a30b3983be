//! The guided tour: one idea at a time, on the running page.

use super::App;
use yew::prelude::*;

/// Where the tour stands.
#[derive(Clone, Debug, Default)]
pub struct State {}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {}

impl App {
    pub(super) fn tour(&mut self, _ctx: &Context<Self>, command: Do) {
        match command {}
    }
}
