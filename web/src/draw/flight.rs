//! Marks in flight: requests that travel or fall between the parts.
//!
//! Each leg counts the requests that took it and sends off a mark for every `n` of them, with one `n` for
//! the whole picture out of 1, 2, 5, 10 …, so that no more than [`Flight::MOST`] are under way and the marks
//! of the busiest leg can be told apart. How fast a mark flies is fixed and says nothing about latency.

use super::legs::{Leg, Travel};
use super::model::PictureModel;

/// One mark under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flyer {
    /// Index of its leg.
    pub leg: usize,
    /// Its class.
    pub class: usize,
    /// Seconds it has been under way, at pace 1; below 0 it has yet to leave.
    age_s: f64,
    /// Between 0.92 and 1.08: so that marks do not march in step.
    stride: f64,
    /// From -1 to 1: how far to the side it falls.
    pub sway: f64,
}

impl Flyer {
    /// How far it has come, 0 to 1; `None` before it leaves and after it arrives.
    #[must_use]
    pub fn progress(&self, leg: &Leg) -> Option<f64> {
        let u = way(leg.travel, self.age_s * self.stride) / leg.curve.len();
        (self.age_s >= 0.0 && u < 1.0).then_some(u)
    }

    fn has_arrived(&self, leg: &Leg) -> bool {
        way(leg.travel, self.age_s.max(0.0) * self.stride) >= leg.curve.len()
    }
}

const FLY_PX_S: f64 = 150.0;
const CLIMB_PX_S: f64 = 46.0;
const FALL_PX_S: f64 = 26.0;
const FALL_PX_S2: f64 = 110.0;

/// Pixels covered after `t` seconds.
fn way(travel: Travel, t: f64) -> f64 {
    match travel {
        Travel::Fall => FALL_PX_S * t + FALL_PX_S2 / 2.0 * t * t,
        Travel::Rise => CLIMB_PX_S * t,
        _ => FLY_PX_S * t,
    }
}

/// Seconds a leg takes, at pace 1.
fn time(leg: &Leg) -> f64 {
    if leg.travel == Travel::Fall {
        let root = (FALL_PX_S * FALL_PX_S + 2.0 * FALL_PX_S2 * leg.curve.len()).sqrt();
        (root - FALL_PX_S) / FALL_PX_S2
    } else {
        leg.curve.len() / way(leg.travel, 1.0)
    }
}

/// How much faster marks fly when the run plays `speed` times as fast as real time.
#[must_use]
pub fn pace(speed: f64) -> f64 {
    libm::pow(speed.max(0.0), 0.3).clamp(0.35, 2.2)
}

/// Requests one leg has seen.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    seen: u64,
    over: u64,
}

/// All marks under way.
#[derive(Clone, Debug)]
pub struct Flight {
    flyers: Vec<Flyer>,
    meters: Vec<Meter>,
    per_mark: u64,
    now_s: f64,
    since_change_s: f64,
    noise: u32,
}

impl Default for Flight {
    fn default() -> Self {
        Self {
            flyers: Vec::new(),
            meters: Vec::new(),
            per_mark: 1,
            now_s: f64::NAN,
            since_change_s: 0.0,
            noise: 0x9E37_79B9,
        }
    }
}

impl Flight {
    /// Most marks under way.
    pub const MOST: usize = 300;
    /// Number of marks the choice of `n` aims to stay below, with room for chance.
    const AIM: f64 = 250.0;
    /// Mean distance between two marks of the busiest leg, at least.
    const APART_PX: f64 = 5.5;

    /// Marks under way; some may have yet to leave.
    #[must_use]
    pub fn flyers(&self) -> &[Flyer] {
        &self.flyers
    }

    /// Requests a mark stands for.
    #[must_use]
    pub const fn per_mark(&self) -> u64 {
        self.per_mark
    }

    /// Moves on by `dt_s` of real time while the run plays at `speed`, and sends off marks for what the
    /// model has counted since the last call. After a jump in the run's time, or when the legs are others,
    /// marks are laid out anew as the present rates would have them.
    pub fn advance(&mut self, legs: &[Leg], model: &PictureModel, dt_s: f64, speed: f64) {
        let step_s = model.now_s - self.now_s;
        let jumped = !(0.0..=1.0 + speed).contains(&step_s);
        if jumped || self.meters.len() != legs.len() {
            self.settle(legs, model, speed);
            return;
        }
        self.fly(legs, dt_s * pace(speed));
        self.since_change_s += dt_s;
        if step_s > 0.0 {
            self.rescale(legs, speed);
            self.launch(legs, model, speed);
            self.since_change_s = 0.0;
            self.now_s = model.now_s;
        }
    }

    /// Leaves the marks where they are; lays them out anew if the run's time (or the layout) has changed.
    pub fn hold(&mut self, legs: &[Leg], model: &PictureModel, speed: f64) {
        if model.now_s != self.now_s || self.meters.len() != legs.len() {
            self.settle(legs, model, speed);
        }
    }

    /// Lays out marks as if the present rates had lasted for a while.
    pub fn settle(&mut self, legs: &[Leg], model: &PictureModel, speed: f64) {
        self.now_s = model.now_s;
        self.since_change_s = 0.0;
        self.flyers.clear();
        self.meters = legs.iter().map(|leg| Meter { seen: leg.flow.total, over: 0 }).collect();
        self.per_mark = fitting(crowding(legs, speed), 1);
        for (i, leg) in legs.iter().enumerate() {
            let apart_s = self.per_mark as f64 / (leg.flow.per_s * speed / pace(speed));
            if apart_s.is_finite() && apart_s > 0.0 {
                let mut age_s = apart_s * self.chance();
                while age_s < time(leg) && self.flyers.len() < Self::MOST {
                    self.send(i, leg, model, age_s);
                    age_s += apart_s * (0.7 + 0.6 * self.chance());
                }
            }
            self.meters[i].over = (self.chance() * self.per_mark as f64) as u64;
        }
    }

    /// Takes every mark off.
    pub fn clear(&mut self) {
        self.flyers.clear();
        self.now_s = f64::NAN;
    }

    fn fly(&mut self, legs: &[Leg], dt_s: f64) {
        self.flyers.iter_mut().for_each(|f| f.age_s += dt_s);
        self.flyers.retain(|f| legs.get(f.leg).is_some_and(|leg| !f.has_arrived(leg)));
    }

    /// Chooses `n` anew; marks under way are thinned so that they stand for as many requests as before.
    fn rescale(&mut self, legs: &[Leg], speed: f64) {
        let old = self.per_mark;
        self.per_mark = fitting(crowding(legs, speed), old);
        if self.per_mark > old {
            let keep = old as f64 / self.per_mark as f64;
            let mut flyers = core::mem::take(&mut self.flyers);
            flyers.retain(|_| self.chance() < keep);
            self.flyers = flyers;
        }
    }

    fn launch(&mut self, legs: &[Leg], model: &PictureModel, speed: f64) {
        for (i, leg) in legs.iter().enumerate() {
            let meter = &mut self.meters[i];
            let count = leg.flow.total.saturating_sub(meter.seen).saturating_add(meter.over);
            *meter = Meter { seen: leg.flow.total, over: count % self.per_mark };
            let marks = (count / self.per_mark) as usize;
            // What was counted at once happened over the time since the last count.
            let spread_s = self.since_change_s * pace(speed);
            for j in 0..marks.min(Self::MOST.saturating_sub(self.flyers.len())) {
                let late = (j as f64 + self.chance()) / marks as f64;
                self.send(i, leg, model, -late * spread_s);
            }
        }
    }

    fn send(&mut self, i: usize, leg: &Leg, model: &PictureModel, age_s: f64) {
        let class = match leg.travel {
            Travel::Send(server) => self.some_class(model, server),
            _ => leg.class,
        };
        let stride = if leg.travel == Travel::Fall { 1.0 } else { 0.92 + 0.16 * self.chance() };
        let sway = 2.0 * self.chance() - 1.0;
        self.flyers.push(Flyer { leg: i, class, age_s, stride, sway });
    }

    /// A class out of the mix that is in flight at a server (of what completes, if nothing is).
    fn some_class(&mut self, model: &PictureModel, server: usize) -> usize {
        let in_flight = model.servers.get(server).map_or(&[][..], |s| &s.in_flight);
        let mut mix: Vec<f64> = in_flight.iter().map(|&n| f64::from(n)).collect();
        if mix.iter().sum::<f64>() <= 0.0 {
            mix = model.classes.iter().map(|c| c.completed.per_s).collect();
        }
        let mut left = self.chance() * mix.iter().sum::<f64>();
        for (class, weight) in mix.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return class;
            }
        }
        model.order.first().copied().unwrap_or(0)
    }

    /// Looks only: strides, mixes and phases. From 0 to 1.
    fn chance(&mut self) -> f64 {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 17;
        self.noise ^= self.noise << 5;
        f64::from(self.noise) / 4_294_967_296.0
    }
}

/// How many times too many, or too close, marks would be if every request had one; 1 is just right.
fn crowding(legs: &[Leg], speed: f64) -> f64 {
    let tempo = speed / pace(speed);
    let under_way: f64 = legs.iter().map(|leg| leg.flow.per_s * time(leg)).sum();
    // Those who climb are slower, hence closer together.
    let px_s = |leg: &Leg| if leg.travel == Travel::Rise { CLIMB_PX_S } else { FLY_PX_S };
    let busiest = legs.iter().map(|leg| leg.flow.per_s / px_s(leg)).fold(0.0, f64::max);
    (tempo * under_way / Flight::AIM).max(tempo * busiest * Flight::APART_PX)
}

/// Requests per mark for that crowding: 1, 2, 5, 10 …; stays at `now` unless that is too few or far too many.
fn fitting(crowding: f64, now: u64) -> u64 {
    let needed = super::geom::round_up_125(crowding) as u64;
    let much_less = needed < now && crowding / now as f64 <= 0.25;
    if needed > now || much_less { needed } else { now }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::geom::Curve;
    use crate::draw::model::{Flow, ServerView};

    fn leg(travel: Travel, per_s: f64) -> Leg {
        let curve = Curve::across((0.0, 0.0), (75.0, 0.0));
        Leg { travel, class: 0, curve, flow: Flow { total: 0, per_s } }
    }

    /// Plays `seconds` at 60 frames a second and says how many marks were under way after each.
    fn play(flight: &mut Flight, legs: &mut [Leg], seconds: f64, speed: f64) -> Vec<usize> {
        let mut model = PictureModel::default();
        let mut came = vec![0.0; legs.len()];
        let mut counts = Vec::new();
        for i in 1..=(seconds * 60.0) as u64 {
            model.now_s = i as f64 / 60.0 * speed;
            for (leg, came) in legs.iter_mut().zip(&mut came) {
                *came += leg.flow.per_s * speed / 60.0;
                leg.flow.total = *came as u64;
            }
            flight.advance(legs, &model, 1.0 / 60.0, speed);
            counts.push(flight.flyers().len());
        }
        counts
    }

    #[test]
    fn never_more_than_three_hundred_marks_fly_whatever_the_rate() {
        for per_s in [0.0, 1.0, 900.0, 5e4, 1e6] {
            for speed in [0.1, 1.0, 8.0] {
                let mut legs = vec![leg(Travel::Go, per_s); 20];
                legs.extend(vec![leg(Travel::Fall, per_s); 5]);
                let mut flight = Flight::default();
                let counts = play(&mut flight, &mut legs, 3.0, speed);
                let most = counts.iter().max().unwrap();
                assert!(*most <= Flight::MOST, "{most} marks at {per_s}/s and {speed}x");
                if per_s >= 900.0 && speed >= 1.0 {
                    assert!(counts[120] >= 40, "only {} marks at {per_s}/s and {speed}x", counts[120]);
                }
            }
        }
    }

    #[test]
    fn marks_of_a_busy_leg_can_be_told_apart() {
        let mut legs = vec![leg(Travel::Go, 350.0), leg(Travel::Go, 10.0)];
        let mut flight = Flight::default();
        play(&mut flight, &mut legs, 2.0, 1.0);
        // 17.5 marks a second, 150 px apart in a second.
        assert_eq!(flight.per_mark(), 20);
    }

    #[test]
    fn a_mark_leaves_for_every_n_requests() {
        let mut legs = vec![leg(Travel::Go, 4.0)];
        let mut flight = Flight::default();
        let counts = play(&mut flight, &mut legs, 10.0, 1.0);
        assert_eq!(flight.per_mark(), 1);
        // 4 a second for half a second each: 2 under way.
        let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
        assert!((1.5..=2.5).contains(&mean), "{mean} under way");
    }

    #[test]
    fn a_jump_lays_the_marks_out_by_rate() {
        let legs = vec![leg(Travel::Go, 18.0), leg(Travel::Go, 0.0)];
        let mut flight = Flight::default();
        let model = PictureModel { now_s: 50.0, ..PictureModel::default() };
        flight.advance(&legs, &model, 0.016, 1.0);
        let under_way = flight.flyers().len();
        assert!((7..=11).contains(&under_way), "{under_way} marks for 9 expected");
        assert!(flight.flyers().iter().all(|f| f.leg == 0));
    }

    #[test]
    fn falling_marks_gather_speed() {
        let leg = leg(Travel::Fall, 1.0);
        let at = |age_s| Flyer { leg: 0, class: 0, age_s, stride: 1.0, sway: 0.0 }.progress(&leg);
        let (a, b, c) = (at(0.2).unwrap(), at(0.4).unwrap(), at(0.6).unwrap());
        assert!(c - b > b - a);
        assert_eq!(at(time(&leg) + 1e-9), None);
        assert_eq!(at(-0.1), None);
    }

    #[test]
    fn marks_to_a_server_show_its_mix() {
        let server = ServerView { in_flight: vec![0, 3, 1], ..ServerView::default() };
        let model = PictureModel { servers: vec![server], order: vec![0, 1, 2], ..PictureModel::default() };
        let mut flight = Flight::default();
        let mut seen = [0; 3];
        (0..400).for_each(|_| seen[flight.some_class(&model, 0)] += 1);
        assert!(seen[0] == 0 && seen[1] > 2 * seen[2] && seen[2] > 50, "{seen:?}");
    }
}
