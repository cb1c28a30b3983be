//! Tidegate's policy core: who gets served, how fast, and by which server.
#![no_std]

extern crate alloc;

pub mod frame;
pub mod id;
pub mod import;
pub mod measure;
pub mod scenario;
pub mod time;
pub mod unit;
