//! Your traffic: a log that is read in the browser and played under one policy or two.

use super::Link;
use crate::app::App;
use yew::prelude::*;

/// What is shown of it on the page.
pub(super) fn view(_app: &App, _link: &Link) -> Html {
    Html::default()
}
