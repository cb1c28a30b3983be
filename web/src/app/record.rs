//! Why one request, refusal or pick went as it did: a request is followed through a copy of the run.

use super::{App, Mode, Section};
use crate::protocol::Order;
use crate::trace::{Spot, Told};
use yew::prelude::*;

/// What is being explained.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Whether the panel is open.
    pub open: bool,
    /// What was found, once it was.
    pub told: Option<Told>,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// Follows the request at a spot.
    Follow(Spot),
    /// Follows the request whose mark is at a point of the lane of a class (second) at a stage (first), counted from the
    /// lane's corner in CSS pixels; explains the lane where there is none.
    At(usize, usize, f64, f64),
    /// Closes the panel.
    Close,
}

impl App {
    pub(super) fn record(&mut self, ctx: &Context<Self>, command: Do) {
        match command {
            Do::Follow(spot) => self.follow(spot),
            Do::At(stage, class, x, y) => {
                let found = self.mark_at(stage, class, (x, y)).filter(|_| self.mode != Mode::Live);
                match found {
                    Some((of, nth)) => {
                        self.follow(Spot::Waiting { stage: stage as u8, class: of as u8, nth })
                    }
                    None => self.obey(ctx, super::Do::Why(stage, class)),
                }
            }
            Do::Close => self.record = State::default(),
        }
    }

    fn follow(&mut self, spot: Spot) {
        if self.mode == Mode::Live {
            return;
        }
        self.playing = false;
        self.record = State { open: true, told: None };
        if let Spot::Sent { .. } = spot {
            self.section = Some(Section::Servers);
        }
        self.order(Order::Trace { run: self.run_number, spot });
    }

    /// Takes what the worker found.
    pub(super) fn hear_trace(&mut self, told: Told) {
        if told.run == self.run_number && self.record.open {
            self.record.told = Some(told);
        }
    }

    fn mark_at(&self, stage: usize, class: usize, (x, y): (f64, f64)) -> Option<(usize, u32)> {
        let lane = self.boxes.stages.get(stage)?.lanes.get(class)?;
        let feed = self.feed()?;
        self.picture.mark_at(&self.boxes, &feed.model, (stage, class), (lane.x + x, lane.y + y))
    }
}
