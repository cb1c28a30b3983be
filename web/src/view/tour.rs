//! The guided tour: one idea at a time, on the running page.

use super::Link;
use crate::app::App;
use yew::prelude::*;

/// What is shown of it on the page.
pub(super) fn view(_app: &App, _link: &Link) -> Html {
    Html::default()
}
