//! Icons: 16 px, round ends. Policy icons are tiny plots of the policy's own behaviour.

use super::markup::html;
use yew::prelude::*;

/// A 16 px line icon.
pub(super) fn line(path: &'static str) -> Html {
    html! { <svg class="line" viewBox="0 0 16 16" aria-hidden="true"><path d={path} /></svg> }
}

pub(super) const CLOSE: &str = "m4 4 8 8M12 4l-8 8";
pub(super) const PLUS: &str = "M8 3v10M3 8h10";
pub(super) const RESTART: &str = "M3 3v3.6h3.6M3.2 6.4A5.2 5.2 0 1 1 2.9 9";
pub(super) const BACK: &str = "M11 3.5 5.5 8l5.5 4.5zM4 3.5v9";
pub(super) const FORWARD: &str = "M5 3.5 10.5 8 5 12.5zM12 3.5v9";
/// To the next fork in the way.
pub(super) const DECISION: &str = "M2.5 8H7l5-4M7 8l5 4M9.5 3.5 12.5 3.5v3M9.5 12.5h3v-3";
pub(super) const EVENT: &str = "M3 8h5.5M6.5 5.5 9 8l-2.5 2.5M12.5 8v.01";
pub(super) const TERMINAL: &str = "m3 4.5 3.5 3.5L3 11.5M8 12h5";

/// The mark of the product: a gate with three lanes before it and two behind.
pub(super) fn brand() -> Html {
    html! {
        <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round"
            aria-hidden="true">
            <path d="M12 2.5v19" stroke-width="2.6" />
            <path d="M2 7h7M2 12h7M2 17h7M15 7h7M15 12h4" />
        </svg>
    }
}

/// Half-filled circle.
pub(super) fn theme() -> Html {
    html! {
        <svg class="line" viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r="6" />
            <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" stroke="none" />
        </svg>
    }
}

/// Question mark.
pub(super) fn help() -> Html {
    html! {
        <svg class="line" viewBox="0 0 16 16" aria-hidden="true">
            <path d="M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6" />
            <path d="M8 12.3v.1" stroke-width="2" />
        </svg>
    }
}

/// Dice.
pub(super) fn dice() -> Html {
    html! {
        <svg class="line" viewBox="0 0 16 16" aria-hidden="true">
            <rect x="2.5" y="2.5" width="11" height="11" rx="2.5" />
            <path d="M6 6v.01M10 10v.01M10 6v.01M6 10v.01" stroke-width="2.2" />
        </svg>
    }
}

/// Small arrow downwards.
pub(super) fn down() -> Html {
    html! {
        <svg viewBox="0 0 10 10" fill="none" stroke="currentColor" stroke-width="1.6" aria-hidden="true">
            <path d="M1.5 3.5 5 7l3.5-3.5" />
        </svg>
    }
}

/// A 24 × 18 plot for a choice.
pub(super) fn plot(path: &'static str) -> Html {
    html! { <svg viewBox="0 0 24 18" aria-hidden="true"><path d={path} /></svg> }
}

pub(crate) const PLOT_POISSON: &str = "M3 15V9M6 15v-3M11 15V4M13 15V8M19 15v-5M21 15V7";
pub(crate) const PLOT_EVEN: &str = "M3 15V6M7.5 15V6M12 15V6M16.5 15V6M21 15V6";
pub(crate) const PLOT_BURSTY: &str = "M2 14h5l2-9 2 9h4l2-6 2 6h3";
pub(crate) const PLOT_CLOSED: &str = "M19 6a8 8 0 1 0 1 6M20 3v4h-4";
pub(crate) const PLOT_TRACE: &str = "M4 4h16M4 9h10M4 14h13";
pub(crate) const PLOT_SHARED: &str = "M3 4h18v10H3z";
pub(crate) const PLOT_SPLIT: &str = "M3 4h18v10H3zM9 4v10M15 4v10";
pub(crate) const PLOT_LED: &str = "M3 4h18v10H3zM9 4v10M15 4v10M11 9H7l1.5-1.5M7 9l1.5 1.5";
pub(crate) const PLOT_STAGE: &str = "M2 15h15V3h5";
pub(crate) const PLOT_ROUND: &str = "M12 3a6 6 0 1 1-6 6M6 5v4h4";
pub(crate) const PLOT_LEAST: &str = "M4 15V9M10 15V4M16 15v-4M21 15V7";
pub(crate) const PLOT_TIME: &str = "M12 2a7 7 0 1 0 .1 0M12 5v4l3 2";
pub(crate) const PLOT_FEEDBACK: &str = "M2 5h12v5h8M18 10v5H7v-5M5 12l2-2 2 2";
pub(crate) const PLOT_RED: &str = "M2 15h7l6-5V3h6";
pub(crate) const PLOT_PRIORITY_RED: &str = "M1 15h3q4 0 5-12M6 15h3q4 0 5-12M11 15h3q4 0 5-12";
pub(crate) const PLOT_WORK_RED: &str =
    "M2 15h5l5-4V3h3M15 15a3.5 3.5 0 1 0 7 0 3.5 3.5 0 1 0-7 0m3.5-2v2l1.5 1";
pub(crate) const PLOT_PDT_RED: &str = "M2 15h4l4-4V5M14 15l-3-3M9 15h4l4-4V3M19 6l2-3 2 3";
pub(crate) const PLOT_WRED: &str = "M2 15l6-12M6 15l9-8V3M10 15l12-4V3";
pub(crate) const PLOT_CODEL: &str = "M2 9h20M2 14c3 0 3-10 6-10s3 7 6 7 3-4 8-3";
pub(crate) const PLOT_PIE: &str = "M2 10h20M2 15c5 0 6-11 10-11 3 0 3 6 10 6";
pub(crate) const PLOT_SAW: &str = "M2 13l6-7v5l6-7v5l6-7";
pub(crate) const PLOT_BUCKET: &str = "M6 7v8h12V7M12 2v6M10 6l2 2 2-2";
pub(crate) const PLOT_WALL: &str = "M3 15V9M7 15V9M11 15V9M16 3v12M21 6l-3 3 3 3";
pub(crate) const PLOT_WINDOW: &str = "M2 15V6h5v9h5V6h3v9h7";
pub(crate) const PLOT_SHORTEST: &str = "M3 4h17M3 9h6M3 14h12M21 9h-8M15 7l-2 2 2 2";
pub(crate) const PLOT_DRAWN: &str = "M2 9h5l6-5h8M7 9l6 5h8M18 12l3 2-3 2";
pub(crate) const PLOT_BARS: &str = "M3 15v-5h4v5zM10 15V4h4v11zM17 15V7h4v8z";
pub(crate) const PLOT_TURNS: &str = "M12 2a7 7 0 1 1-7 7M5 4v5h5M12 9V5M12 9h4";
pub(crate) const PLOT_DICE: &str = "M5 3h14v12H5zM9 7v.01M15 7v.01M9 11v.01M15 11v.01";
pub(crate) const PLOT_RING: &str = "M12 3a6 6 0 1 0 .1 0M12 1v4M20 9h-4M6 14l3-3";
pub(crate) const PLOT_BY_CLIENT: &str =
    "M4 7a2 2 0 1 1 .1 0M1 15v-3h6v3M10 9h3M18 4l-1 11M22 4l-1 11M16 7h7M15 12h7";
pub(crate) const PLOT_BY_TARGET: &str = "M2 3h5v12H2zM10 9h3M18 4l-1 11M22 4l-1 11M16 7h7M15 12h7";
pub(crate) const PLOT_PEAK: &str = "M2 15h4l2-12c2 8 5 11 14 11";
pub(crate) const PLOT_ROOT: &str = "M2 14c8 0 10-2 10-5s2-5 10-5M12 2v14";
pub(crate) const PLOT_STRICT: &str = "M3 4h12M3 9h9M3 14h6M19 14V4M16.5 6.5 19 4l2.5 2.5";
pub(crate) const PLOT_FIFO: &str = "M3 9h.01M8 9h.01M12 9h9M18 6l3 3-3 3";
pub(crate) const PLOT_FAIR: &str = "M12 2a7 7 0 1 0 .1 0M12 9V2M12 9l6 4";
pub(crate) const PLOT_WTP: &str = "M3 15 20 3M3 15l17-5";
pub(crate) const PLOT_PAD: &str = "M2 9h20M2 13c4 0 4-8 8-8s4 7 7 7 2-3 5-3";
pub(crate) const PLOT_HPD: &str = "M3 15 20 3M2 10h20";
pub(crate) const PLOT_DEADLINE: &str = "M8 4a5 5 0 1 0 .1 0M8 7v2h2M20 15V3h-5v4h5";
pub(crate) const PLOT_LIFO: &str = "M4 4h10a4 4 0 0 1 0 9H6M9 10l-3 3 3 3";
pub(crate) const PLOT_HALVES: &str = "M3 4h18v10H3zM12 4v10";
pub(crate) const PLOT_LEAD: &str = "M3 4h18v10H3zM8 4v10M11 9h7M16 7l2 2-2 2";
pub(crate) const PLOT_SETTLE: &str = "M2 15c3 0 3-11 6-11s3 7 6 7 3-3 8-2";
pub(crate) const PLOT_SHARES: &str = "M2 15l4-9 4 7 4-5 4 3 4-1";
pub(crate) const PLOT_STAIRS: &str = "M2 15h5V8h5V4h10";
pub(crate) const PLOT_PAIRS: &str = "M4 15V9M8 15V6M15 15V9M19 15V6M4 3h4M15 3h4";
pub(crate) const PLOT_TUNED_PAIRS: &str = "M4 15V9M8 15V6M15 15V9M19 15V6M4 3c1-2 3-2 4 0M15 3c1-2 3-2 4 0";
pub(crate) const PLOT_FORWARD: &str = "M2 9h6M8 5h7v8H8zM15 9h7M19 6l3 3-3 3";
pub(crate) const PLOT_LEVELS: &str = "M3 4h18M3 9h18M3 14h18";
pub(crate) const PLOT_PROMOTE: &str = "M3 14h6V9h6V4h6M18 2l3 2-3 2";
pub(crate) const PLOT_PART: &str = "M3 4h18v10H3zM16 4v10M18.5 9h.01";
pub(crate) const PLOT_SAME: &str = "M3 9h18M3 6v6M21 6v6";
pub(crate) const PLOT_GROW: &str = "M2 15h4v-4h4V6h4v5h4v4h4";
pub(crate) const PLOT_TEETH: &str = "M2 14l7-9v4l6-7v4l6-3";
pub(crate) const PLOT_BEND: &str = "M2 15C8 15 8 5 14 5h8";
pub(crate) const PLOT_ONE: &str = "M5 7h4v4H5zM13 9h7M17 6l3 3-3 3";
pub(crate) const PLOT_BATCH: &str = "M3 3h4v4H3zM3 11h4v4H3zM10 3h4v4h-4zM10 11h4v4h-4zM17 9h5";
pub(crate) const PLOT_BATCHES: &str = "M3 15v-4h4v4zM10 15V7h4v8zM17 15V3h4v12z";
