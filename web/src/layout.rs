//! Where the browser has put the parts: the page lays them out with CSS, this reads the rectangles.

use crate::draw::tracks::TrackBoxes;
use crate::draw::{Boxes, Orientation, PoolBoxes, Rect, ServerBoxes, StageBoxes};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// Below this many CSS pixels the picture stands upright.
pub const NARROW: f64 = 720.0;

/// Width and height of the window.
#[must_use]
pub fn window_size() -> (f64, f64) {
    let size = |v: Result<wasm_bindgen::JsValue, _>| v.ok().and_then(|v| v.as_f64()).unwrap_or(0.0);
    web_sys::window().map_or((0.0, 0.0), |w| (size(w.inner_width()), size(w.inner_height())))
}

/// Height of one track.
#[must_use]
pub fn track_height() -> f64 {
    let (w, h) = window_size();
    if w < NARROW {
        66.0
    } else if h < 860.0 {
        28.0
    } else {
        40.0
    }
}

struct Within {
    x: f64,
    y: f64,
}

impl Within {
    fn rect(&self, element: &Element) -> Rect {
        let r = element.get_bounding_client_rect();
        Rect::new(r.left() - self.x, r.top() - self.y, r.width(), r.height())
    }

    fn find(&self, root: &Element, selector: &str) -> Rect {
        root.query_selector(selector).ok().flatten().map_or_else(Rect::default, |e| self.rect(&e))
    }
}

fn all(root: &Element, selector: &str) -> Vec<Element> {
    let Ok(list) = root.query_selector_all(selector) else { return Vec::new() };
    (0..list.length()).filter_map(|i| list.item(i)?.dyn_into().ok()).collect()
}

fn index(element: &Element, name: &str) -> Option<usize> {
    element.get_attribute(name)?.parse().ok()
}

/// Measures the picture. `scene` holds the canvas, which fills it.
#[must_use]
pub fn picture(scene: &HtmlElement, classes: usize, stages: usize) -> Boxes {
    let frame = scene.get_bounding_client_rect();
    let within = Within { x: frame.left(), y: frame.top() };
    let narrow = window_size().0 < NARROW;
    let mut boxes = Boxes {
        size: (frame.width(), frame.height()),
        orientation: if narrow { Orientation::Narrow } else { Orientation::Wide },
        clients: vec![Rect::default(); classes],
        stages: vec![StageBoxes { lanes: vec![Rect::default(); classes], ..StageBoxes::default() }; stages],
        ..Boxes::default()
    };
    for client in all(scene, ".client") {
        if let Some(slot) = index(&client, "data-class").and_then(|c| boxes.clients.get_mut(c)) {
            *slot = within.rect(&client);
        }
    }
    for element in all(scene, ".comp.stage") {
        let Some(stage) = index(&element, "data-stage").and_then(|k| boxes.stages.get_mut(k)) else {
            continue;
        };
        stage.whole = within.rect(&element);
        stage.curve = within.find(&element, ".curve");
        stage.foot = within.find(&element, ".foot");
        stage.gate_x = stage.curve.x - 6.0;
        for lane in all(&element, ".lane") {
            if let Some(slot) = index(&lane, "data-class").and_then(|c| stage.lanes.get_mut(c)) {
                *slot = within.rect(&lane);
            }
        }
    }
    for element in all(scene, ".comp.pool") {
        let Some(stage) = index(&element, "data-stage").and_then(|k| boxes.stages.get_mut(k)) else {
            continue;
        };
        let cells = within.find(&element, ".cells");
        stage.pool = (!cells.is_empty()).then(|| PoolBoxes {
            cells,
            wait: within.find(&element, ".waits"),
            whole: within.rect(&element),
        });
    }
    boxes.servers = all(scene, ".server")
        .iter()
        .map(|e| ServerBoxes {
            card: within.rect(e),
            marks: within.find(e, ".marks"),
            load: within.find(e, ".load"),
            bars: within.find(e, ".bars"),
        })
        .collect();
    boxes.classifier = classifier(&within, scene, &boxes);
    boxes.balancer = balancer(&within, scene, &boxes, narrow);
    boxes
}

/// The classifier's bar: its column, beside the lanes of the first stage.
fn classifier(within: &Within, scene: &Element, boxes: &Boxes) -> Option<Rect> {
    let column = within.find(scene, ".comp.classifier");
    let stage = boxes.stages.iter().find(|s| !s.curve.is_empty())?;
    let top = stage.curve.y + 22.0;
    let bottom = stage.lanes.iter().map(Rect::bottom).fold(top, f64::max);
    let bar = Rect::new(column.x, top, column.w, bottom - top);
    (!bar.is_empty()).then_some(bar)
}

/// The balancer's bar: its column on wide screens, the strip above the servers on narrow ones.
fn balancer(within: &Within, scene: &Element, boxes: &Boxes, narrow: bool) -> Option<Rect> {
    let (first, last) = (boxes.servers.first()?.card, boxes.servers.last()?.card);
    if !narrow {
        let column = within.find(scene, ".comp.balancer");
        let bar = Rect::new(column.x, first.y, column.w, (last.bottom() - first.y).max(40.0));
        return (!bar.is_empty()).then_some(bar);
    }
    let right = boxes.size.0 - 6.0;
    let left = first.cx() - 14.0;
    Some(Rect::new(left, first.y - 24.0, right - left, 12.0))
}

/// Measures the tracks. `canvas` begins left of the time axis on wide screens, for the axis numbers.
#[must_use]
pub fn tracks(plot: &HtmlElement, canvas: &HtmlElement, rows: usize) -> TrackBoxes {
    let (p, c) = (plot.get_bounding_client_rect(), canvas.get_bounding_client_rect());
    let height = track_height();
    TrackBoxes {
        size: (c.width(), c.height()),
        plot_x: p.left() - c.left(),
        plot_w: p.width(),
        rows: (0..rows).map(|i| Rect::new(0.0, i as f64 * height, c.width(), height)).collect(),
        row_head: if window_size().0 < NARROW { 22.0 } else { 0.0 },
    }
}
