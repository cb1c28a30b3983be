//! Parts of the page that stay as they are until there is something new in them.
//!
//! Figures and words are told four times a second. All of the page at once would take longer than a frame has, so its
//! parts take turns; see [`News`](crate::app::News).

use yew::prelude::*;

/// What a part shows.
#[derive(Properties)]
struct Shown {
    /// Another number: something new.
    version: u32,
    /// The part; of no meaning if the version is that of before.
    body: Html,
}

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

struct Rested;

impl Component for Rested {
    type Message = ();
    type Properties = Shown;

    fn create(_: &Context<Self>) -> Self {
        Self
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        ctx.props().body.clone()
    }
}

/// A part that is made only if it is new.
pub(super) fn rested((version, is_new): (u32, bool), make: impl FnOnce() -> Html) -> Html {
    let body = if is_new { make() } else { Html::default() };
    yew::html! { <Rested {version} {body} /> }
}
