//! The Tidegate playground: Yew page and simulation worker, compiled to one WebAssembly module.
//!
//! The page ([`app`]) owns state, words and canvases; the worker ([`engine`]) owns the simulation. They speak in
//! [`protocol`]. A running system, simulated or live, is a [`feed`] of frames; [`story`] says it in words,
//! [`history`] in curves, [`draw`] in a picture. Neither side decides anything about requests: that is the core.
//!
//! Exports: `run_app` and `run_worker` for the browser; `run_hash` for checks and measurements, without a page.

pub mod address;
pub mod advice;
pub mod app;
pub mod draw;
pub mod edit;
pub mod embed;
pub mod engine;
pub mod feed;
pub mod figures;
pub mod gallery;
pub mod history;
pub mod keys;
pub mod knobs;
pub mod layout;
pub mod library;
pub mod link;
pub mod live;
pub mod log;
pub mod prefs;
pub mod protocol;
pub mod story;
pub mod toml;
pub mod tools;
pub mod trace;
mod trial;
pub mod view;
pub mod worker;

pub use tidegate_words as words;

use wasm_bindgen::prelude::*;

/// Starts the page in the element `#app`. `chinese` is the file with the Chinese texts, if somebody reads Chinese;
/// `presets` is the one with the built-in scenarios, if the address asks for one that is in it.
///
/// # Errors
/// If the document has no such element.
#[wasm_bindgen]
pub fn run_app(chinese: &str, presets: &str) -> Result<(), JsValue> {
    words::learn(chinese);
    library::learn(presets);
    let document = web_sys::window().and_then(|w| w.document()).ok_or("no document")?;
    let root = document.get_element_by_id("app").ok_or("no element #app")?;
    yew::Renderer::<app::App>::with_root(root).render();
    Ok(())
}
