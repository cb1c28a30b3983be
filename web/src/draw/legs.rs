//! The ways requests travel between the parts of the picture: one leg a class from part to part, one a
//! server, one down the spillway of each lane.

use super::boxes::{Boxes, Orientation, StageBoxes};
use super::geom::{Curve, Rect};
use super::model::{Flow, PictureModel};
use super::pool::PoolLayout;

/// What travels on a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Travel {
    /// A request without a class yet: from a client to the classifier.
    Ask,
    /// A request of a class.
    Go,
    /// A request turned away: it falls.
    Fall,
    /// A waiting request that moves up a level.
    Rise,
    /// A request of any class on its way to this server.
    Send(usize),
}

/// One way.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// What travels.
    pub travel: Travel,
    /// Whose requests; meaningless on the way to a server.
    pub class: usize,
    /// Where.
    pub curve: Curve,
    /// How many.
    pub flow: Flow,
}

/// Every leg of the picture. Their number and order depend on the boxes and the numbers of classes, stages
/// and servers only, so that marks in flight can refer to them by index.
#[must_use]
pub fn legs(boxes: &Boxes, model: &PictureModel, pools: &[Option<PoolLayout>]) -> Vec<Leg> {
    let mut legs = Vec::new();
    let shown: Vec<usize> =
        (0..model.stages.len().min(boxes.stages.len())).filter(|&k| visible(&boxes.stages[k])).collect();
    if let Some(&first) = shown.first() {
        entry(&mut legs, boxes, model, first);
    }
    for (i, &k) in shown.iter().enumerate() {
        let pool = pools.get(k).and_then(Option::as_ref);
        for &class in &model.order {
            onward(&mut legs, boxes, model, pool, k, shown.get(i + 1).copied(), class);
            fall(&mut legs, boxes, model, k, class);
            rise(&mut legs, boxes, model, k, class);
        }
    }
    to_servers(&mut legs, boxes, model);
    legs
}

fn visible(stage: &StageBoxes) -> bool {
    stage.lanes.iter().any(|lane| !lane.is_empty())
}

fn lane(stage: &StageBoxes, class: usize) -> Option<&Rect> {
    stage.lanes.get(class).filter(|lane| !lane.is_empty())
}

/// From the clients, through the classifier, to the first stage.
fn entry(legs: &mut Vec<Leg>, boxes: &Boxes, model: &PictureModel, first: usize) {
    for &class in &model.order {
        let Some(lane) = lane(&boxes.stages[first], class) else { continue };
        let (flow, y) = (model.stages[first].classes[class].offered, lane.cy());
        let client = boxes.clients.get(class).filter(|r| !r.is_empty());
        let from = client.map_or(0.0, Rect::right);
        let mut go = |travel, from: f64, to: f64| {
            legs.push(Leg { travel, class, curve: Curve::across((from, y), (to, y)), flow });
        };
        match boxes.classifier.filter(|r| !r.is_empty()) {
            Some(bar) => {
                go(Travel::Ask, from, bar.cx() - 5.0);
                go(Travel::Go, bar.cx() + 5.0, lane.x);
            }
            None => go(Travel::Go, from, lane.x),
        }
    }
}

/// From a lane to the workers and on to the next stage, the balancer, or out.
fn onward(
    legs: &mut Vec<Leg>,
    boxes: &Boxes,
    model: &PictureModel,
    pool: Option<&PoolLayout>,
    k: usize,
    next: Option<usize>,
    class: usize,
) {
    let (stage, view) = (&boxes.stages[k], &model.stages[k].classes[class]);
    let Some(lane) = lane(stage, class) else { return };
    let mut from = (lane.right(), lane.cy());
    if let (Some(pool), Some(area)) = (pool, stage.pool) {
        let door = pool.door[class];
        let to = (area.cells.x - 3.0, door);
        legs.push(Leg { travel: Travel::Go, class, curve: Curve::across(from, to), flow: view.started });
        from = (area.wait.union(&area.cells).right() + 5.0, door);
    }
    let left = Flow { total: view.started.total.saturating_sub(u64::from(view.busy)), ..view.started };
    let (curve, flow) = match next {
        Some(n) => {
            let Some(to) = self::lane(&boxes.stages[n], class) else { return };
            (Curve::across(from, (to.x, to.cy())), model.stages[n].classes[class].offered)
        }
        None => (out(boxes, model, from, class), left),
    };
    legs.push(Leg { travel: Travel::Go, class, curve, flow });
}

/// From the last workers to the balancer, or out of the picture.
fn out(boxes: &Boxes, model: &PictureModel, from: (f64, f64), class: usize) -> Curve {
    match (balancer_bar(boxes), boxes.orientation) {
        (None, _) => Curve::across(from, ((from.0 + 60.0).min(boxes.size.0 - 4.0).max(from.0 + 1.0), from.1)),
        (Some(bar), Orientation::Wide) => Curve::across(from, (bar.x, from.1)),
        (Some(bar), Orientation::Narrow) => {
            let x = boxes.size.0 - 9.0 - 3.0 * model.classes[class].rank.min(5) as f64;
            Curve::new([from, (x + 2.0, from.1), (x, from.1 + 18.0), (x, bar.y)])
        }
    }
}

/// Down the spillway: out of the gate's way, then straight to the slot.
fn fall(legs: &mut Vec<Leg>, boxes: &Boxes, model: &PictureModel, k: usize, class: usize) {
    let stage = &boxes.stages[k];
    let Some(lane) = lane(stage, class) else { return };
    let shift = [0.0, 6.0, 11.0][model.classes[class].rank % 3];
    let x = stage.gate_x - 6.0 - shift;
    let y = slot(stage).y.max(lane.cy() + 20.0);
    let curve =
        Curve::new([(stage.gate_x - 4.0, lane.cy()), (x, lane.cy() + 2.0), (x, lane.cy() + 14.0), (x, y)]);
    legs.push(Leg { travel: Travel::Fall, class, curve, flow: model.stages[k].classes[class].shed });
}

/// Out of a lane, near its head, into the one above it.
fn rise(legs: &mut Vec<Leg>, boxes: &Boxes, model: &PictureModel, k: usize, class: usize) {
    let stage = &boxes.stages[k];
    let rank = model.classes[class].rank;
    let above = rank.checked_sub(1).and_then(|above| model.order.get(above));
    let (Some(from), Some(to)) = (lane(stage, class), above.and_then(|&c| lane(stage, c))) else { return };
    // The oldest stand at the right; a lane's own place keeps those who climb twice apart.
    let x = from.right() - (12.0 + 8.0 * (rank % 3) as f64).min(from.w / 2.0);
    let (low, high) = ((x, from.y + from.h / 3.0), (x - 6.0, to.bottom() - to.h / 3.0));
    let curve = Curve::new([low, (x, from.y), (x - 6.0, to.bottom()), high]);
    legs.push(Leg { travel: Travel::Rise, class, curve, flow: model.stages[k].classes[class].promoted });
}

/// The slot that requests turned away at a stage fall into.
#[must_use]
pub fn slot(stage: &StageBoxes) -> Rect {
    let y = if stage.foot.is_empty() {
        stage.lanes.iter().map(Rect::bottom).fold(0.0, f64::max)
    } else {
        stage.foot.y + 10.0
    };
    Rect::new((stage.gate_x - 21.0).max(2.0), y, 20.0, 3.0)
}

fn to_servers(legs: &mut Vec<Leg>, boxes: &Boxes, model: &PictureModel) {
    let Some(bar) = balancer_bar(boxes) else { return };
    for (i, server) in model.servers.iter().enumerate().take(boxes.servers.len()) {
        let card = boxes.servers[i].card;
        let curve = match boxes.orientation {
            Orientation::Wide => Curve::across((bar.right(), card.cy()), (card.x, card.cy())),
            Orientation::Narrow => Curve::down((card.cx(), bar.bottom()), (card.cx(), card.y)),
        };
        legs.push(Leg { travel: Travel::Send(i), class: 0, curve, flow: server.picked });
    }
}

/// The bar of the balancer: along all servers it feeds.
#[must_use]
pub fn balancer_bar(boxes: &Boxes) -> Option<Rect> {
    let region = boxes.balancer.filter(|r| !r.is_empty())?;
    let cards = || boxes.servers.iter().map(|s| s.card).filter(|r| !r.is_empty());
    let (first, last) = (cards().next()?, cards().next_back()?);
    Some(match boxes.orientation {
        Orientation::Wide => {
            let (top, bottom) = (first.cy().min(last.cy()) - 20.0, first.cy().max(last.cy()) + 20.0);
            let rows = (0..boxes.clients.len().max(1)).filter_map(|class| boxes.row(class));
            let (top, bottom) = rows.fold((top, bottom), |(a, b), y| (a.min(y - 14.0), b.max(y + 14.0)));
            Rect::new(region.cx() - 3.0, top, 6.0, bottom - top)
        }
        Orientation::Narrow => {
            let x = cards().map(|r| r.cx()).fold(f64::INFINITY, f64::min) - 14.0;
            Rect::new(x, region.cy() - 3.0, (boxes.size.0 - 6.0 - x).max(1.0), 6.0)
        }
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::draw::boxes::{PoolBoxes, ServerBoxes};
    use crate::draw::model::tests::{cast, frame};

    /// Two stages (the second with a pool) and two servers, side by side.
    pub(crate) fn wide() -> Boxes {
        let lanes =
            |x: f64, w: f64| [2.0, 0.0, 1.0].map(|row| Rect::new(x, 100.0 + 110.0 * row, w, 80.0)).into();
        let stage = |x: f64, w: f64, pool| StageBoxes {
            curve: Rect::new(x, 50.0, w, 34.0),
            lanes: lanes(x, w),
            gate_x: x - 6.0,
            foot: Rect::new(x, 410.0, w, 46.0),
            pool,
            whole: Rect::default(),
        };
        let pool = PoolBoxes {
            cells: Rect::new(700.0, 100.0, 62.0, 300.0),
            wait: Rect::new(800.0, 100.0, 14.0, 300.0),
            whole: Rect::default(),
        };
        let server =
            |y: f64| ServerBoxes { card: Rect::new(920.0, y, 200.0, 90.0), ..ServerBoxes::default() };
        Boxes {
            size: (1140.0, 480.0),
            orientation: Orientation::Wide,
            clients: [2.0, 0.0, 1.0].map(|row| Rect::new(20.0, 110.0 + 110.0 * row, 86.0, 60.0)).into(),
            classifier: Some(Rect::new(160.0, 60.0, 50.0, 400.0)),
            stages: vec![stage(230.0, 150.0, None), stage(420.0, 250.0, Some(pool))],
            balancer: Some(Rect::new(850.0, 60.0, 26.0, 400.0)),
            servers: vec![server(80.0), server(300.0)],
        }
    }

    fn model() -> PictureModel {
        PictureModel::new(&cast(), &frame(10.0, 1), &frame(12.0, 3))
    }

    fn pools(boxes: &Boxes, model: &PictureModel) -> Vec<Option<PoolLayout>> {
        (boxes.stages.iter().zip(&model.stages))
            .map(|(b, s)| b.pool.map(|p| PoolLayout::new(&p.cells, s, &model.order, &[360.0, 140.0, 250.0])))
            .collect()
    }

    #[test]
    fn legs_join_end_to_end_and_keep_their_row() {
        let (boxes, model) = (wide(), model());
        let legs = legs(&boxes, &model, &pools(&boxes, &model));
        let of = |class: usize, travel: Travel| {
            legs.iter().filter(move |l| l.class == class && l.travel == travel)
        };
        for class in 0..3 {
            assert_eq!(of(class, Travel::Ask).count(), 1);
            assert_eq!(of(class, Travel::Fall).count(), 2);
            // Nobody climbs out of the highest lane.
            assert_eq!(of(class, Travel::Rise).count(), if class == 1 { 0 } else { 2 });
            assert!(of(class, Travel::Rise).all(|l| l.curve.p[0].1 > l.curve.p[3].1), "climbs");
            let go: Vec<_> = of(class, Travel::Go).collect();
            assert_eq!(go.len(), 4, "classifier to stage, to stage, to pool, to balancer");
            for pair in go.windows(2) {
                assert!(pair[0].curve.p[3].0 <= pair[1].curve.p[0].0, "class {class} travels rightwards");
            }
            let row = boxes.row(class).unwrap();
            assert!(go[..2].iter().all(|l| l.curve.p.iter().all(|p| p.1 == row)));
        }
        assert_eq!(legs.iter().filter(|l| matches!(l.travel, Travel::Send(_))).count(), 2);
    }

    #[test]
    fn a_leg_carries_the_flow_of_the_place_it_leads_to() {
        let (boxes, model) = (wide(), model());
        let legs = legs(&boxes, &model, &pools(&boxes, &model));
        let asked: f64 = legs.iter().filter(|l| l.travel == Travel::Ask).map(|l| l.flow.per_s).sum();
        assert_eq!(asked, model.classes.iter().map(|c| c.offered.per_s).sum::<f64>());
        let fallen: f64 = legs.iter().filter(|l| l.travel == Travel::Fall).map(|l| l.flow.per_s).sum();
        assert_eq!(fallen, 2.0 * 12.0);
    }

    #[test]
    fn absurd_frames_from_a_network_do_not_panic() {
        let mut numbers = Vec::new();
        frame(10.0, 1).encode(&mut numbers);
        for at in 5..numbers.len() {
            for strange in [f64::MAX, f64::NAN, -1.0] {
                let mut bad = numbers.clone();
                bad[at..].fill(strange);
                // Such a list may have lost its shape; then there is no frame.
                let bad = tidegate_core::frame::Frame::decode(&bad).unwrap_or_else(|_| {
                    let mut one = numbers.clone();
                    one[at] = strange;
                    tidegate_core::frame::Frame::decode(&one).unwrap_or_default()
                });
                let (boxes, model) = (wide(), PictureModel::new(&cast(), &frame(9.0, 1), &bad));
                let legs = legs(&boxes, &model, &pools(&boxes, &model));
                let mut flight = crate::draw::flight::Flight::default();
                flight.settle(&legs, &model, 1.0);
                flight.advance(&legs, &model, 0.016, 1.0);
                let _ = (model.wait_shares(0), model.wait_targets(0));
            }
        }
    }

    #[test]
    fn nothing_is_drawn_for_what_the_page_does_not_show() {
        let model = model();
        assert!(legs(&Boxes::default(), &model, &[]).is_empty());
        let mut boxes = wide();
        boxes.stages[0].lanes = vec![Rect::default(); 3];
        boxes.classifier = None;
        boxes.balancer = None;
        let legs = legs(&boxes, &model, &pools(&boxes, &model));
        assert_eq!(legs.len(), 3 + 2 * 3 + 3 + 2);
        assert!(legs.iter().all(|l| l.travel != Travel::Ask));
    }
}
