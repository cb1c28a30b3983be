//! The event calendar: what happens next, in an order that every machine agrees on.
//!
//! Events leave by time; at equal times by [`Rank`]; at equal ranks in the order they were entered. Nothing
//! is ever removed early: an event that has lost its meaning is recognised when it comes up.

use crate::id::JobId;
use crate::time::Instant;
use alloc::vec::Vec;

/// Order of events at the same instant: what ends comes first, what begins comes last.
///
/// Between `Control` and `Arrival` the gateway is polled: deadlines pass and jobs are dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Rank {
    /// Work ends.
    Completion = 0,
    /// Controllers, workers and servers change; the scenario's timed events.
    Control = 1,
    /// A request arrives, with the dispatch it causes.
    Arrival = 4,
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// Work on a job ends.
    Completion(JobId),
    /// Timed event number so-and-so of the scenario.
    Timed(u32),
    /// The next open-loop arrival of a class. The class's next one has to be [set](Calendar::set_arrival) before the
    /// calendar is asked again.
    Arrival { class: u8 },
    /// A client asks.
    Client { client: u32 },
    /// The next transfer over a stage's link ends; void if it was set anew since.
    Link { stage: u8, version: u32 },
    /// A client that was turned away asks again: its number among those who wait to.
    Again(u32),
    /// A batch of jobs is done: its number among those in work.
    Batch(u32),
    /// The deadline of a job passes whose client asks again then.
    Overdue(JobId),
    /// The next job of a server whose cores are shared ends; void if it was set anew since.
    Shared { server: u16, version: u32 },
    /// The servers report their load; void if reports were set anew since.
    Reports { version: u32 },
}

/// Bits that the kind of an event takes, or the class of an arrival.
const KIND_BITS: u32 = 8;
/// A sequence number that no run comes to, with room for those of events that come [last](Calendar::push_last).
const LAST: u64 = (1 << 48) - (1 << 16);

impl What {
    /// Kind and detail as numbers.
    #[inline(always)]
    const fn pack(self) -> (u64, u64) {
        match self {
            Self::Completion(job) => (0, (job.generation as u64) << 32 | job.slot as u64),
            Self::Timed(number) => (1, number as u64),
            Self::Arrival { class } => (2, class as u64),
            Self::Client { client } => (3, client as u64),
            Self::Link { stage, version } => (4, (version as u64) << 32 | stage as u64),
            Self::Again(number) => (5, number as u64),
            Self::Batch(number) => (6, number as u64),
            Self::Overdue(job) => (7, (job.generation as u64) << 32 | job.slot as u64),
            Self::Shared { server, version } => (8, (version as u64) << 32 | server as u64),
            Self::Reports { version } => (9, version as u64),
        }
    }

    #[inline]
    const fn unpack(kind: u64, detail: u64) -> Self {
        let (upper, lower) = ((detail >> 32) as u32, detail as u32);
        match kind as u8 {
            0 => Self::Completion(JobId { slot: lower, generation: upper }),
            1 => Self::Timed(lower),
            2 => Self::Arrival { class: lower as u8 },
            3 => Self::Client { client: lower },
            4 => Self::Link { stage: lower as u8, version: upper },
            5 => Self::Again(lower),
            6 => Self::Batch(lower),
            7 => Self::Overdue(JobId { slot: lower, generation: upper }),
            8 => Self::Shared { server: lower as u16, version: upper },
            _ => Self::Reports { version: lower },
        }
    }
}

/// Time, rank, sequence and kind in one number, from the top bits down: one comparison without a branch, as no
/// predictor could guess which of two events comes first.
type Key = u128;

/// Later than every event.
const NEVER: Key = Key::MAX;

/// An event in the heap.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u64,
    /// Rank in the upper byte, sequence number below, kind of event in the lowest bits.
    order: u64,
    detail: u64,
}

impl Entry {
    #[inline]
    const fn key(&self) -> Key {
        (self.at as u128) << 64 | self.order as u128
    }
}

/// Time of an event.
#[inline]
const fn time(key: Key) -> Instant {
    Instant::from_nanos((key >> 64) as u64)
}

/// What the calendar knows of the next event before it is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    key: Key,
    /// Whether it is the arrival of an open class.
    arrives: bool,
}

impl Next {
    /// When it is; [`Instant::NEVER`] if there is none.
    #[inline]
    pub(crate) const fn at(self) -> Instant {
        time(self.key)
    }

    /// Whether it comes after everything of a rank at an instant.
    #[inline]
    pub(crate) const fn is_after(self, at: Instant, rank: u8) -> bool {
        // In one comparison: which part of it decides cannot be foreseen.
        self.key >= (at.as_nanos() as Key) << 64 | (rank as Key + 1) << 56
    }

    /// Its rank; above all others if there is none.
    #[inline]
    pub(crate) const fn rank(self) -> u8 {
        (self.key as u64 >> 56) as u8
    }
}

/// Keys that are kept in a [`Tournament`], as events and as arrivals: a scenario has no more classes.
const FEW: usize = 16;

/// The first of a few keys: a tree of matches. A key that changes plays again those between it and the top, four, and no
/// branch depends on how they end, as nobody could foresee it.
#[derive(Clone, Debug)]
struct Tournament {
    /// The first of all at 1, the seats from [`FEW`] on; at `n` the earlier of those at `2 n` and `2 n + 1`.
    keys: [Key; 2 * FEW],
}

impl Tournament {
    const fn new() -> Self {
        Self { keys: [NEVER; 2 * FEW] }
    }

    #[inline]
    const fn first(&self) -> Key {
        self.keys[1]
    }

    /// The key at a seat.
    const fn at(&self, seat: usize) -> Key {
        self.keys[FEW + seat % FEW]
    }

    // The page has one copy, for its weight; natively the call would cost a twentieth of a run.
    #[cfg_attr(not(target_family = "wasm"), inline)]
    #[cfg_attr(target_family = "wasm", inline(never))]
    fn set(&mut self, seat: usize, key: Key) {
        let (mut at, mut first) = (FEW + seat % FEW, key);
        self.keys[at] = key;
        for _ in 0..FEW.ilog2() {
            first = first.min(self.keys[at ^ 1]);
            at /= 2;
            self.keys[at] = first;
        }
    }
}

/// The events to come, least (time, rank, sequence) first, and beside them the next arrival of each class, of which there is
/// one at any time.
///
/// Few events stand in a [`Tournament`], many in a binary heap. Ours rather than the library's because the simulator nearly
/// always enters one event for each it takes, and [`Calendar::pop`] leaves the hole at the root open for it: one walk
/// instead of two.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    /// The next arrival of each class. Its lowest bits say whose it is.
    arrivals: Tournament,
    /// The first of the other events, or [`NEVER`].
    first: Key,
    /// Few events by their seats. The lowest bits of a key say which it has.
    few: Tournament,
    seated: [Entry; FEW],
    /// Seats that are free, as bits.
    free: u16,
    /// All events, if they are too many.
    heap: Vec<Entry>,
    /// Whether the root of the heap is a hole left by `pop`.
    hole: bool,
    sequence: u64,
}

impl Calendar {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self {
            arrivals: Tournament::new(),
            first: NEVER,
            few: Tournament::new(),
            seated: [Entry { at: 0, order: 0, detail: 0 }; FEW],
            free: u16::MAX,
            heap: Vec::new(),
            hole: false,
            sequence: 0,
        }
    }

    /// Enters an event that comes after all others of its rank at its instant, whenever they are entered; those entered this
    /// way come by `number`, which is small.
    pub(crate) fn push_last(&mut self, at: Instant, rank: Rank, number: u16, what: What) {
        let (kind, detail) = what.pack();
        let sequence = LAST + u64::from(number);
        self.enter(Entry {
            at: at.as_nanos(),
            order: (rank as u64) << 56 | sequence << KIND_BITS | kind,
            detail,
        });
    }

    /// Enters an event other than an arrival.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: Instant, rank: Rank, what: What) {
        let (kind, detail) = what.pack();
        let entry = Entry { at: at.as_nanos(), order: self.order(rank) | kind, detail };
        self.enter(entry);
    }

    #[inline(always)]
    fn enter(&mut self, entry: Entry) {
        if self.free == 0 {
            return self.enter_heap(entry);
        }
        let seat = self.free.trailing_zeros() as usize % FEW;
        self.free &= self.free - 1;
        self.seated[seat] = entry;
        self.few.set(seat, entry.key() >> KIND_BITS << KIND_BITS | seat as Key);
        self.first = self.few.first();
    }

    /// Enters one of many events, or the first that is one too many.
    #[inline(never)]
    fn enter_heap(&mut self, entry: Entry) {
        if self.heap.is_empty() {
            // In order is a heap, too.
            self.heap.extend(self.seated);
            self.heap.sort_unstable_by_key(Entry::key);
        }
        if self.hole {
            self.hole = false;
            sink(&mut self.heap, entry);
        } else {
            self.heap.push(entry);
            let last = self.heap.len() - 1;
            rise(&mut self.heap, last, entry);
        }
        self.first = self.heap[0].key();
    }

    /// Enters the next arrival of a class, in place of the one that was entered before.
    #[inline(always)]
    pub(crate) fn set_arrival(&mut self, class: usize, at: Option<Instant>) {
        let order = self.order(Rank::Arrival) | class as u64;
        self.arrivals.set(class, at.map_or(NEVER, |at| (at.as_nanos() as u128) << 64 | order as u128));
    }

    /// The arrival that a class expects.
    pub(crate) fn arrival(&self, class: usize) -> Option<Instant> {
        let key = self.arrivals.at(class);
        (key != NEVER).then(|| time(key))
    }

    /// The next event, there or not.
    #[inline]
    pub(crate) fn peek(&self) -> Next {
        let (event, arrival) = (self.first, self.arrivals.first());
        Next { key: event.min(arrival), arrives: arrival < event }
    }

    /// Takes the next event, which was [peeked](Self::peek) at after the last was entered.
    #[inline]
    pub(crate) fn pop(&mut self, next: Next) -> Option<(Instant, What)> {
        if next.arrives {
            return Some((next.at(), What::Arrival { class: next.key as u8 }));
        }
        if next.key == NEVER {
            return None;
        }
        let first = if self.heap.is_empty() { self.pop_few() } else { self.pop_heap() };
        Some((Instant::from_nanos(first.at), What::unpack(first.order, first.detail)))
    }

    #[inline(always)]
    fn pop_few(&mut self) -> Entry {
        let seat = self.first as usize % FEW;
        self.free |= 1 << seat;
        self.few.set(seat, NEVER);
        self.first = self.few.first();
        self.seated[seat]
    }

    #[inline(never)]
    fn pop_heap(&mut self) -> Entry {
        self.fill();
        if self.heap.len() <= FEW / 2 {
            // They are few again.
            (self.few, self.free) = (Tournament::new(), u16::MAX);
            core::mem::take(&mut self.heap).into_iter().for_each(|entry| self.enter(entry));
            return self.pop_few();
        }
        let key = |at: usize| self.heap.get(at).map_or(NEVER, Entry::key);
        self.first = key(1).min(key(2));
        self.hole = true;
        self.heap[0]
    }

    /// About how many bytes it takes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.heap.len() * core::mem::size_of::<Entry>()
    }

    /// Rank and the next sequence number.
    #[inline]
    fn order(&mut self, rank: Rank) -> u64 {
        let order = (rank as u64) << 56 | self.sequence << KIND_BITS;
        self.sequence += 1;
        order
    }

    /// Closes the hole at the root with the last entry.
    fn fill(&mut self) {
        if core::mem::take(&mut self.hole)
            && let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            sink(&mut self.heap, last);
        }
    }
}

/// Puts `entry` in place of the root of a heap: the hole goes down to a leaf, and the entry up from there. It seldom
/// goes far, as what is entered is mostly later than what is there.
#[inline]
fn sink(heap: &mut [Entry], entry: Entry) {
    let (mut at, mut child) = (0, 1);
    while let Some([left, right]) = heap.get(child..child + 2) {
        child += usize::from(right.key() < left.key());
        heap[at] = heap[child];
        (at, child) = (child, 2 * child + 1);
    }
    if let Some(&only) = heap.get(child) {
        heap[at] = only;
        at = child;
    }
    rise(heap, at, entry);
}

/// Moves `entry` from the free place `at` up to where it belongs.
#[inline]
fn rise(heap: &mut [Entry], mut at: usize, entry: Entry) {
    while at > 0 {
        let parent = (at - 1) / 2;
        if heap[parent].key() <= entry.key() {
            break;
        }
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = entry;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::mix;

    #[test]
    fn the_earliest_arrival_of_all_classes_is_next() {
        let mut calendar = Calendar::new();
        let mut expected = [None; FEW];
        for n in 0..2_000_u64 {
            let class = (mix(n) % FEW as u64) as usize;
            let at = (!mix(n ^ 5).is_multiple_of(7)).then(|| Instant::from_nanos(mix(n ^ 9) % 1_000_000));
            calendar.set_arrival(class, at);
            expected[class] = at;
            let first = expected.iter().flatten().min();
            assert_eq!(calendar.peek().at(), first.copied().unwrap_or(Instant::NEVER));
            assert_eq!(calendar.arrival(class), at);
            if let Some((at, What::Arrival { class })) = calendar.pop(calendar.peek()) {
                assert_eq!(expected[usize::from(class)], Some(at));
            }
        }
    }

    fn number(what: What) -> u32 {
        let What::Timed(n) = what else { panic!("the test enters timed events") };
        n
    }

    #[test]
    fn equal_times_leave_by_rank_then_in_the_order_entered() {
        let mut calendar = Calendar::new();
        let at = Instant::from_nanos(5);
        for (n, rank) in
            [Rank::Arrival, Rank::Control, Rank::Completion, Rank::Completion].into_iter().enumerate()
        {
            calendar.push(at, rank, What::Timed(n as u32));
        }
        calendar.push(Instant::from_nanos(4), Rank::Arrival, What::Timed(9));
        let order: Vec<u32> =
            core::iter::from_fn(|| calendar.pop(calendar.peek()).map(|(_, what)| number(what))).collect();
        assert_eq!(order, [9, 2, 3, 1, 0]);
    }

    /// Against a sorted list, with pushes and pops mixed so that the open hole is used and closed, and events become many and
    /// few again.
    #[test]
    fn random_traffic_leaves_in_order() {
        let mut calendar = Calendar::new();
        let mut list: Vec<(u64, u64)> = Vec::new();
        let (mut most, mut emptied) = (0, 0);
        for n in 0..4_000_u64 {
            let entered = if n % 200 < 80 { 4 } else { 1 };
            most = most.max(list.len());
            if mix(n) % 5 < entered {
                let at = mix(n ^ 77) % 1_000;
                calendar.push(Instant::from_nanos(at), Rank::Control, What::Timed(n as u32));
                list.push((at, n));
            } else {
                list.sort_unstable();
                let want = (!list.is_empty()).then(|| list.remove(0));
                let next = calendar.peek();
                assert_eq!(next.at().as_nanos(), want.map_or(u64::MAX, |(at, _)| at));
                let got = calendar.pop(next).map(|(at, what)| (at.as_nanos(), u64::from(number(what))));
                assert_eq!(got, want, "after {n} steps");
                emptied += u32::from(want.is_none());
            }
        }
        assert!(most > 2 * FEW && emptied > 10, "at most {most} events, {emptied} times none");
    }
}
