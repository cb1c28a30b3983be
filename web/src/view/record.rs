//! Why one request, refusal or pick went as it did.

use super::Link;
use crate::app::App;
use yew::prelude::*;

/// What is shown of it on the page.
pub(super) fn view(_app: &App, _link: &Link) -> Html {
    Html::default()
}
