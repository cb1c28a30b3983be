//! Painting of the playground: plain functions from a model and rectangles to canvas calls.
//!
//! The page owns layout and text; this module owns what is drawn between. It reads no clock, listens to
//! nothing and knows no language: numbers only. Geometry is in modules without a canvas ([`geom`],
//! [`boxes`], [`gauge`], [`model`], [`legs`], [`pool`], [`response`], [`flight`], [`tracks::runs`]) and is tested on
//! the host.
//!
//! A frame of the page, with `cast` made once per scenario:
//! ```ignore
//! let (ctx, w, h) = draw::fit(&canvas)?;
//! let model = PictureModel::new(&cast, &a_second_ago, &now);
//! picture.paint(&ctx, &boxes, &model, &Theme::LIGHT, Pace { dt_s, speed, motion: Motion::Full });
//! ```

pub mod boxes;
mod cards;
pub mod flight;
pub mod gauge;
pub mod geom;
mod lanes;
pub mod legs;
pub mod model;
mod pen;
mod picture;
pub mod pool;
pub mod response;
mod theme;
pub mod tracks;

pub use boxes::{Boxes, Orientation, Part, PoolBoxes, ServerBoxes, StageBoxes};
pub use geom::Rect;
pub use model::{Cast, PictureModel};
pub use pen::{fit, grouped};
pub use picture::{LANE_MARKS, Motion, Pace, Picture, Scales};
pub use theme::{ClassStyle, Mark, Pattern, Theme};
