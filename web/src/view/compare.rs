//! Compare: a second system, B, beside the one that is edited, A, on the same traffic; and many runs of both.

use super::Link;
use crate::app::App;
use yew::prelude::*;

/// What is shown of it on the page.
pub(super) fn view(_app: &App, _link: &Link) -> Html {
    Html::default()
}
