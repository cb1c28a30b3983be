//! The Tidegate playground: Yew page and simulation worker, compiled to one WebAssembly module.

pub mod draw;

use wasm_bindgen::prelude::*;

/// Probe.
#[wasm_bindgen]
pub fn run_app() {
    let _ = yew::html! {<p/>};
}
