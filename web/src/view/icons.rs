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
pub(crate) const PLOT_LEVEL: &str = "M2 4h14M2 9h9M2 14h17M20 2v14";
pub(crate) const PLOT_STAGE: &str = "M2 15h15V3h5";
pub(crate) const PLOT_ROUND: &str = "M12 3a6 6 0 1 1-6 6M6 5v4h4";
pub(crate) const PLOT_LEAST: &str = "M4 15V9M10 15V4M16 15v-4M21 15V7";
pub(crate) const PLOT_WEIGHT: &str = "M12 3v11M7 15h10M4 5h16M4 5l-2 5h4zM20 5l-2 5h4z";
pub(crate) const PLOT_HASH: &str = "M9 3 7 15M16 3l-2 12M4 7h16M3 11h16";
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
