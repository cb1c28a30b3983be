//! Where the page has put the parts of the picture, and which part lies under a point.
//!
//! The page lays the parts out with CSS and measures them; the picture only fills them. A part that is
//! not shown has an empty rectangle (or is absent) and is neither drawn nor hit.

use super::geom::Rect;

/// Which way requests travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Orientation {
    /// Left to right, servers in a column at the right.
    #[default]
    Wide,
    /// Enter at the left edge; streams run down a gutter at the right to servers in a row below.
    Narrow,
}

/// The measured picture. Lists over classes are indexed by class, not by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxes {
    /// Size of the whole canvas, in CSS pixels; its origin is 0, 0.
    pub size: (f64, f64),
    /// Which way requests travel.
    pub orientation: Orientation,
    /// Text of each class of clients; requests leave at the right edge, at mid-height of the class's first
    /// visible lane.
    pub clients: Vec<Rect>,
    /// Column of the classifier; the bar stands at its middle, as high as the lanes.
    pub classifier: Option<Rect>,
    /// The stages from the entry on; one without visible lanes is passed by.
    pub stages: Vec<StageBoxes>,
    /// Region of the balancer: a bar along its longer side is drawn at its middle.
    pub balancer: Option<Rect>,
    /// Cards of the servers.
    pub servers: Vec<ServerBoxes>,
}

/// A measured stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageBoxes {
    /// Strip above the lanes, exactly as wide as they: drop curve, or the axis.
    pub curve: Rect,
    /// Lane of each class.
    pub lanes: Vec<Rect>,
    /// Left edge of the gate bars (4 px wide), left of the lanes.
    pub gate_x: f64,
    /// Strip below the lanes; requests turned away fall to its top.
    pub foot: Rect,
    /// Its workers, if shown.
    pub pool: Option<PoolBoxes>,
    /// Everything of the stage, for hits.
    pub whole: Rect,
}

/// A measured pool of workers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoolBoxes {
    /// Area of the cells.
    pub cells: Rect,
    /// Bar of wait shares; the counts stand between it and the cells.
    pub wait: Rect,
    /// Everything of the pool, for hits.
    pub whole: Rect,
}

/// A measured server card.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerBoxes {
    /// The card; its frame is drawn by the picture.
    pub card: Rect,
    /// Area of the marks in flight; empty on compact cards.
    pub marks: Rect,
    /// Bar of places in use.
    pub load: Rect,
    /// Area of the loads that the server reports; empty where none does.
    pub bars: Rect,
}

/// A part of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Clients of a class.
    Clients(usize),
    /// The classifier.
    Classifier,
    /// A stage, but none of its lanes.
    Stage(usize),
    /// Lane of a class (second) at a stage (first).
    Lane(usize, usize),
    /// Workers of a stage.
    Workers(usize),
    /// The balancer.
    Balancer,
    /// A server.
    Server(usize),
}

impl Boxes {
    /// The part at a point, the most particular one.
    #[must_use]
    pub fn hit(&self, x: f64, y: f64) -> Option<Part> {
        let find = |rects: &[Rect]| rects.iter().position(|r| r.contains(x, y));
        if let Some(server) = self.servers.iter().position(|s| s.card.contains(x, y)) {
            return Some(Part::Server(server));
        }
        for (k, stage) in self.stages.iter().enumerate() {
            if let Some(class) = find(&stage.lanes) {
                return Some(Part::Lane(k, class));
            }
            if stage.pool.is_some_and(|p| p.whole.union(&p.cells).union(&p.wait).contains(x, y)) {
                return Some(Part::Workers(k));
            }
        }
        if let Some(class) = find(&self.clients) {
            return Some(Part::Clients(class));
        }
        // Bars are a few pixels wide: give the hand some room.
        if self.classifier.is_some_and(|r| r.grown(8.0, 0.0).contains(x, y)) {
            return Some(Part::Classifier);
        }
        if let Some(k) =
            self.stages.iter().position(|s| s.whole.union(&s.curve).union(&s.foot).contains(x, y))
        {
            return Some(Part::Stage(k));
        }
        self.balancer.is_some_and(|r| r.grown(8.0, 8.0).contains(x, y)).then_some(Part::Balancer)
    }

    /// Middle height of the first visible lane of a class, the row it stays on from the client onwards.
    #[must_use]
    pub fn row(&self, class: usize) -> Option<f64> {
        let lanes = self.stages.iter().filter_map(|s| s.lanes.get(class));
        lanes.filter(|r| !r.is_empty()).map(Rect::cy).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_particular_part_is_hit() {
        let boxes = Boxes {
            size: (600.0, 300.0),
            clients: vec![Rect::new(0.0, 0.0, 50.0, 50.0)],
            classifier: Some(Rect::new(80.0, 0.0, 4.0, 300.0)),
            stages: vec![StageBoxes {
                lanes: vec![Rect::new(120.0, 40.0, 100.0, 50.0)],
                whole: Rect::new(110.0, 0.0, 120.0, 300.0),
                pool: Some(PoolBoxes { cells: Rect::new(250.0, 0.0, 50.0, 300.0), ..PoolBoxes::default() }),
                ..StageBoxes::default()
            }],
            balancer: Some(Rect::new(340.0, 0.0, 6.0, 300.0)),
            servers: vec![ServerBoxes { card: Rect::new(400.0, 0.0, 100.0, 60.0), ..ServerBoxes::default() }],
            ..Boxes::default()
        };
        for (x, y, want) in [
            (10.0, 10.0, Some(Part::Clients(0))),
            (76.0, 10.0, Some(Part::Classifier)),
            (130.0, 50.0, Some(Part::Lane(0, 0))),
            (130.0, 200.0, Some(Part::Stage(0))),
            (260.0, 200.0, Some(Part::Workers(0))),
            (335.0, 200.0, Some(Part::Balancer)),
            (450.0, 20.0, Some(Part::Server(0))),
            (590.0, 290.0, None),
        ] {
            assert_eq!(boxes.hit(x, y), want, "at {x}, {y}");
        }
        assert_eq!(boxes.row(0), Some(65.0));
        assert_eq!(boxes.row(1), None);
    }
}
