//! Tidegate's policy core: who gets served, how fast, and by which server.
#![no_std]

extern crate alloc;

pub mod admission;
pub mod balance;
pub mod classify;
pub mod compare;
pub mod control;
pub mod frame;
pub mod gateway;
pub mod id;
pub mod import;
mod jobs;
pub mod json;
pub mod link;
pub mod measure;
pub mod reports;
pub mod scenario;
pub mod sim;
pub mod stage;
pub mod theory;
pub mod time;
pub mod unit;

pub use sim::report;
