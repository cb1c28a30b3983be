//! Handing over: pictures, tables and files of a run, embedding, and what other pages may ask of an embedded one.

use super::App;
use yew::prelude::*;

/// What is being handed over.
#[derive(Clone, Debug, Default)]
pub struct State {}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {}

impl App {
    pub(super) fn handover(&mut self, _ctx: &Context<Self>, command: Do) {
        match command {}
    }
}
