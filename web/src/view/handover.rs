//! Handing over: pictures, tables and files of a run, embedding, and what other pages may ask of an embedded one.

use super::Link;
use crate::app::App;
use yew::prelude::*;

/// What is shown of it on the page.
pub(super) fn view(_app: &App, _link: &Link) -> Html {
    Html::default()
}
