//! Your traffic: a log that is read in the browser and played under one policy or two.

use super::App;
use yew::prelude::*;

/// The log and what is made of it.
#[derive(Clone, Debug, Default)]
pub struct State {}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {}

impl App {
    pub(super) fn replay(&mut self, _ctx: &Context<Self>, command: Do) {
        match command {}
    }
}
