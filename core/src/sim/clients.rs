//! Closed-loop clients: each asks, waits for the answer, thinks, and asks again.
//!
//! How long a client thinks and what it asks for depend on who it is and how often it has asked, not on when
//! the others were answered; so two policies meet the same people.

use super::law::Law;
use super::random::{Stream, nth};
use crate::time::{Duration, Instant};
use alloc::vec::Vec;

/// A refused client does not ask again at the same instant, whatever its think time: it would do so for ever.
const AFTER_REFUSAL: Duration = Duration::from_millis(1);

/// The clients of one class.
#[derive(Clone, Debug)]
pub(crate) struct Population {
    pub class: u8,
    think: Law,
    think_key: u64,
    request_key: u64,
    /// Clients of the class before the first of these: there are some if the class was given more during the run.
    offset: u32,
    /// Requests a client makes.
    count: u64,
    /// As many as the scenario says, before any factor.
    base: u32,
    /// Clients below this index take part; the others leave when they would next think.
    wanted: u32,
    clients: Vec<Client>,
    /// Number of the population's first client among all clients of the run.
    pub first: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Client {
    /// Requests made so far.
    asked: u64,
    /// Thinking or waiting; otherwise it has left.
    active: bool,
}

/// The most that clients can grow to by a load event; the table is sized for it at the start.
const MOST_FACTOR_CLIENTS: f64 = 1_000_000.0;

impl Population {
    pub(crate) fn new(
        class: u8,
        clients: u32,
        think: Law,
        count: Option<u64>,
        keys: (u64, u64),
        first: u32,
        largest_factor: f64,
    ) -> Self {
        let most = scaled(clients, largest_factor.max(1.0));
        Self {
            class,
            think,
            think_key: keys.0,
            request_key: keys.1,
            offset: 0,
            count: count.unwrap_or(u64::MAX),
            base: clients,
            wanted: clients,
            clients: alloc::vec![Client::default(); most as usize],
            first,
        }
    }

    /// Places for more clients of the class: so many as `clients` times the factor are beyond those there are places for.
    /// `None` if that is none.
    pub(crate) fn more(&self, clients: u32, factor: f64, first: u32) -> Option<Self> {
        let offset = self.offset + self.len();
        let more = scaled(clients, factor.max(1.0)).checked_sub(offset).filter(|&more| more > 0)?;
        let clients = alloc::vec![Client::default(); more as usize];
        Some(Self { offset, wanted: 0, clients, first, ..self.clone() })
    }

    /// So many clients, who think and ask by this from now on. Who takes part changes with the next
    /// [`set_factor`](Self::set_factor).
    pub(crate) fn set_load(&mut self, clients: u32, think: Law, count: Option<u64>) {
        (self.base, self.think, self.count) = (clients, think, count.unwrap_or(u64::MAX));
    }

    /// Numbers of clients set aside for it.
    pub(crate) fn len(&self) -> u32 {
        self.clients.len() as u32
    }

    /// Changes the number of clients to `factor` times the scenario's; calls `starts` with the number of each
    /// who joins and the time it will think first.
    pub(crate) fn set_factor(&mut self, factor: f64, mut starts: impl FnMut(u32, Duration)) {
        self.wanted = scaled(self.base, factor).saturating_sub(self.offset).min(self.len());
        for index in 0..self.wanted {
            if !self.clients[index as usize].active {
                self.clients[index as usize].active = true;
                if let Some(think) = self.thinks(index, false) {
                    starts(self.first + index, think);
                }
            }
        }
    }

    /// A client asks: the key of its request, or `None` if it has left meanwhile.
    pub(crate) fn asks(&mut self, number: u32) -> Option<u64> {
        let index = number - self.first;
        let wanted = index < self.wanted;
        let client = &mut self.clients[index as usize];
        if !wanted {
            client.active = false;
            return None;
        }
        let key = nth(nth(self.request_key, u64::from(self.offset + index)), client.asked);
        client.asked += 1;
        Some(key)
    }

    /// A client has its answer, or was refused: how long it thinks, or `None` if it leaves.
    pub(crate) fn answered(&mut self, number: u32, refused: bool) -> Option<Duration> {
        let index = number - self.first;
        self.thinks(index, refused)
    }

    fn thinks(&mut self, index: u32, refused: bool) -> Option<Duration> {
        let client = &mut self.clients[index as usize];
        if client.asked >= self.count || index >= self.wanted {
            client.active = false;
            return None;
        }
        let mut stream = Stream::new(nth(nth(self.think_key, u64::from(self.offset + index)), client.asked));
        let think = self.think.draw(&mut stream);
        Some(if refused { think.max(AFTER_REFUSAL) } else { think })
    }
}

/// `factor` times so many clients, to the nearest.
fn scaled(clients: u32, factor: f64) -> u32 {
    (f64::from(clients) * factor + 0.5).min(MOST_FACTOR_CLIENTS) as u32
}

/// All clients of a run, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clients {
    pub populations: Vec<Population>,
}

impl Clients {
    /// The population a client belongs to.
    pub(crate) fn of(&mut self, number: u32) -> &mut Population {
        let at = self.populations.partition_point(|p| p.first <= number) - 1;
        &mut self.populations[at]
    }

    /// When a client who thinks for so long from `now` asks.
    pub(crate) fn asks_at(now: Instant, think: Duration) -> Instant {
        now + think
    }
}
