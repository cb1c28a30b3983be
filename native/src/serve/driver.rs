//! Drives the core [`Gateway`] in real time: the one file that knows the lock, the clock and the timer.
//!
//! The contract of the core is "change, then drain": after every input the outputs are taken until there is none.
//! That happens here, under one short lock, and nowhere else. A request waits on a oneshot of its own; whoever
//! causes a decision (an arrival, an answer, a timer) delivers it.
//!
//! One stage holds its workers while real work is done: the one that works at servers, or, where files are served, the
//! last if there is no such stage. All others are passed at once: in a running gateway their work (accepting, parsing,
//! routing) has been done by the time a request is offered, so only their queues and limits would be imitated, and a
//! queue in front of no work is always empty.
//!
//! No policy here: who waits, who goes and who is turned away is the core's answer, always.

use std::future::pending;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_core::balance::{LoadReport, Server, bar};
use tidegate_core::frame::{Cause, Frame};
use tidegate_core::gateway::{Arrival, Asked, Departure, Dispatch, Gateway, Outcome, Output, Step};
use tidegate_core::id::{ClassId, JobId, ServerId, StageId};
use tidegate_core::scenario::{Scenario, ServerSpec};
use tidegate_core::time::{Duration, Instant};
use tidegate_core::unit::{Chance, mix};
use tokio::sync::{Notify, oneshot};

/// The gateway of one running server.
pub(crate) struct Driver {
    /// The moment that is [`Instant::START`] to the core.
    started: tokio::time::Instant,
    /// Numbers the arrivals; scattered over 64 bits, it is the chance of each.
    draws: AtomicU64,
    inner: Mutex<Inner>,
    /// Wakes the timer when an earlier deadline has come up.
    earlier: Notify,
}

struct Inner {
    gateway: Gateway,
    /// The stage whose workers are held while real work is done.
    working: StageId,
    /// Who waits for a decision, by the job's slot. Never longer than the core's own job table.
    waiting: Vec<Option<Waiting>>,
    /// When the timer will look again.
    armed: Option<Instant>,
    times: Vec<Times>,
}

struct Waiting {
    job: JobId,
    answer: oneshot::Sender<Result<Granted, Cause>>,
}

/// A decision to give a request a worker.
#[derive(Clone, Copy)]
struct Granted {
    /// The server to send it to; `None` if the worker does the work itself.
    server: Option<ServerId>,
    at: Instant,
}

/// Wait and response time of the completed requests of one class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// Time in queues.
    pub(crate) wait: Buckets,
    /// Time from arrival to the end of the answer.
    pub(crate) response: Buckets,
}

/// Counts of times by upper bound, as a Prometheus histogram has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets {
    /// One count a bound of [`BOUNDS_MS`], and one for all above; not cumulative.
    counts: [u64; BOUNDS_MS.len() + 1],
    sum: Duration,
}

/// Upper bounds of the histogram buckets, in milliseconds.
pub(crate) const BOUNDS_MS: [u64; 16] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];

impl Buckets {
    fn record(&mut self, time: Duration) {
        let bucket = BOUNDS_MS.partition_point(|&bound| Duration::from_millis(bound) < time);
        self.counts[bucket] += 1;
        self.sum += time;
    }

    /// Counts up to each bound, then the count of all.
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = u64> + '_ {
        self.counts.iter().scan(0, |total, &count| {
            *total += count;
            Some(*total)
        })
    }

    /// Sum of all recorded times.
    pub(crate) const fn sum(&self) -> Duration {
        self.sum
    }
}

impl Driver {
    /// A driver whose clock starts now. Its timer must be run beside it: [`keep_time`](Self::keep_time).
    pub(crate) fn new(scenario: &Scenario) -> Arc<Self> {
        Arc::new(Self {
            started: tokio::time::Instant::now(),
            draws: AtomicU64::new(RandomState::new().hash_one(0)),
            inner: Mutex::new(Inner {
                gateway: Gateway::seated(scenario, RandomState::new().hash_one(1)),
                working: working_stage(scenario),
                waiting: Vec::new(),
                armed: None,
                times: vec![Times::default(); scenario.classes.len()],
            }),
            earlier: Notify::new(),
        })
    }

    /// Now, to the core.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// 64 random bits nobody else gets.
    pub(crate) fn draw(&self) -> u64 {
        mix(self.draws.fetch_add(1, Ordering::Relaxed))
    }

    /// Offers a request of `class` that wants its answer within `patience`; `size` is the bytes its answer is thought
    /// to have, if anything is known.
    ///
    /// # Errors
    /// The cause, if it is turned away at once.
    pub(crate) fn arrive(
        self: &Arc<Self>,
        class: ClassId,
        patience: Duration,
        size: Option<u64>,
        asked: Asked,
    ) -> Result<Ticket, Cause> {
        let chance = Chance(self.draw());
        self.change(|inner, now| {
            let deadline = Some(now + patience);
            let job = inner.gateway.arrive(now, Arrival { class, deadline, chance, size, asked })?;
            let answer = inner.wait_for(job);
            Ok(Ticket { answer, place: Place { driver: Arc::clone(self), job: Some(job) }, arrived: now })
        })
    }

    /// Says whether a server can be reached.
    pub(crate) fn set_server(&self, server: ServerId, up: bool) {
        self.change(|inner, now| inner.gateway.set_server(now, server, up));
    }

    /// One more server, unless there are `most` already, those included that leave and still have something to do.
    pub(crate) fn add_server(&self, spec: &ServerSpec, most: usize) -> Option<ServerId> {
        self.change(|inner, now| {
            let there = |server: &&Server| server.bars & bar::GONE == 0 || server.in_flight > 0;
            let there = inner.gateway.servers().iter().filter(there).count();
            (there < most).then(|| inner.gateway.add_server(now, spec))
        })
    }

    /// Takes a server off the list; what is in flight there is finished.
    pub(crate) fn remove_server(&self, server: ServerId) {
        self.change(|inner, now| inner.gateway.remove_server(now, server));
    }

    /// Notes what a server reports of its load.
    pub(crate) fn report(&self, server: ServerId, report: &LoadReport) {
        self.change(|inner, now| inner.gateway.report(now, server, report));
    }

    /// Says what a server counts; 0 for nothing new.
    pub(crate) fn set_weight(&self, server: ServerId, weight: f64) {
        self.change(|inner, now| inner.gateway.set_weight(now, server, weight));
    }

    /// Says the most a server is sent at once; `None` for no limit.
    pub(crate) fn set_max_in_flight(&self, server: ServerId, most: Option<u32>) {
        self.change(|inner, now| inner.gateway.set_max_in_flight(now, server, most));
    }

    /// Says whether a server is to get nothing new.
    pub(crate) fn set_draining(&self, server: ServerId, draining: bool) {
        self.change(|inner, now| inner.gateway.set_draining(now, server, draining));
    }

    /// How long somebody should wait who is turned away because no server is fit; `None` while one is.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let inner = self.lock();
        inner.gateway.retry_after(self.now())
    }

    /// What the gateway looks like now, into `frame`, and the times of each class of the same moment.
    pub(crate) fn observe(&self, frame: &mut Frame) -> Vec<Times> {
        let inner = self.lock();
        inner.gateway.frame(self.now(), frame);
        inner.times.clone()
    }

    /// What the gateway looks like now, into `frame`.
    pub(crate) fn frame(&self, frame: &mut Frame) {
        self.lock().gateway.frame(self.now(), frame);
    }

    /// Turns away whoever waits beyond its deadline. Runs for as long as it is polled.
    pub(crate) async fn keep_time(self: Arc<Self>) {
        loop {
            let next = {
                let mut inner = self.lock();
                inner.armed = inner.gateway.poll_at();
                inner.armed
            };
            let due = async {
                match next {
                    Some(at) => {
                        tokio::time::sleep_until(
                            self.started + std::time::Duration::from_nanos(at.as_nanos()),
                        )
                        .await;
                    }
                    None => pending().await,
                }
            };
            tokio::select! {
                () = due => (),
                () = self.earlier.notified() => (),
            }
            self.change(|_, _| ());
        }
    }

    /// One input to the core, then all its outputs.
    fn change<R>(&self, input: impl FnOnce(&mut Inner, Instant) -> R) -> R {
        let (result, wake) = {
            let mut inner = self.lock();
            // Read under the lock, so that the core never sees time step back.
            let now = self.now();
            let result = input(&mut inner, now);
            inner.drain(now);
            let next = inner.gateway.poll_at();
            (result, next.is_some_and(|at| inner.armed.is_none_or(|armed| at < armed)))
        };
        if wake {
            self.earlier.notify_one();
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Poisoned only if the core panicked, which is a bug of its own; the others go on meanwhile.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn wait_for(&mut self, job: JobId) -> oneshot::Receiver<Result<Granted, Cause>> {
        let (answer, receiver) = oneshot::channel();
        let slot = job.slot as usize;
        if self.waiting.len() <= slot {
            self.waiting.resize_with(slot + 1, || None);
        }
        self.waiting[slot] = Some(Waiting { job, answer });
        receiver
    }

    fn drain(&mut self, now: Instant) {
        while let Some(output) = self.gateway.poll(now) {
            match output {
                Output::Dispatch(Dispatch { job, stage, server, .. }) if stage == self.working => {
                    self.tell(job, Ok(Granted { server, at: now }));
                }
                Output::Dispatch(Dispatch { job, .. }) => {
                    self.leave_stage(now, job, Outcome::Completed);
                }
                Output::Shed { job, cause, .. } => self.tell(job, Err(cause)),
            }
        }
    }

    /// Ends a job's work at the stage where it is.
    fn leave_stage(&mut self, now: Instant, job: JobId, outcome: Outcome) {
        match self.gateway.done(now, job, outcome) {
            Step::Queued(_) | Step::Stale => (),
            Step::Shed(_, cause) => self.tell(job, Err(cause)),
            Step::Left(departure) => self.record(departure),
        }
    }

    fn record(&mut self, departure: Departure) {
        if matches!(departure.outcome, Outcome::Completed) {
            let times = &mut self.times[usize::from(departure.class.0)];
            times.wait.record(departure.waited);
            times.response.record(departure.response);
        }
    }

    /// Delivers a decision. A job whose request has its answer already (a stage behind the serving one) has no
    /// one waiting, and one whose client left is cancelled by its [`Place`].
    fn tell(&mut self, job: JobId, decision: Result<Granted, Cause>) {
        let Some(waiting) = self.waiting.get_mut(job.slot as usize) else { return };
        if let Some(Waiting { answer, .. }) = waiting.take_if(|waiting| waiting.job == job) {
            let _ = answer.send(decision);
        }
    }
}

/// The stage that works at servers; without one, the last.
fn working_stage(scenario: &Scenario) -> StageId {
    let last = u8::try_from(scenario.stages.len().saturating_sub(1)).unwrap_or(u8::MAX);
    scenario.serving_stage.unwrap_or(StageId(last))
}

/// A request's place in the gateway; dropping it gives the place up at once, wherever it is.
struct Place {
    driver: Arc<Driver>,
    /// `None` once the job has left.
    job: Option<JobId>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(job) = self.job {
            self.driver.change(|inner, now| {
                inner.gateway.cancel(now, job);
                if let Some(waiting) = inner.waiting.get_mut(job.slot as usize) {
                    waiting.take_if(|waiting| waiting.job == job);
                }
            });
        }
    }
}

/// A request that waits.
pub(crate) struct Ticket {
    answer: oneshot::Receiver<Result<Granted, Cause>>,
    place: Place,
    arrived: Instant,
}

impl Ticket {
    /// Waits for a server. Dropping the future leaves the queue.
    ///
    /// # Errors
    /// The cause, if the request is turned away while it waits.
    pub(crate) async fn wait(self) -> Result<Slot, Cause> {
        let Self { answer, mut place, arrived } = self;
        match answer.await {
            Ok(Ok(Granted { server, at })) => Ok(Slot { place, server, waited: at.since(arrived) }),
            Ok(Err(cause)) => {
                place.job = None;
                Err(cause)
            }
            // The sender goes without a word only if the slot was reused, which the core does not do to a
            // job that is inside; give the place up and say "turned away".
            Err(_) => Err(Cause::Forced),
        }
    }
}

/// A worker slot, and the server it is for if there is one; held until the answer has been passed on.
pub(crate) struct Slot {
    place: Place,
    server: Option<ServerId>,
    waited: Duration,
}

impl Slot {
    /// Where to send the request, if the worker does not do the work itself.
    pub(crate) const fn server(&self) -> Option<ServerId> {
        self.server
    }

    /// How long the request waited.
    pub(crate) const fn waited(&self) -> Duration {
        self.waited
    }

    /// Moves the request to another server, because this one could not be reached. `false` if there is none.
    pub(crate) fn retry(&mut self) -> bool {
        let Some(job) = self.place.job else { return false };
        match self.place.driver.change(|inner, now| inner.gateway.retry(now, job)) {
            Some(server) => {
                self.server = Some(server);
                true
            }
            None => false,
        }
    }

    /// Gives the slot back: the request has its answer, or there will be none.
    pub(crate) fn finish(mut self, outcome: Outcome) {
        if let Some(job) = self.place.job.take() {
            self.place.driver.change(|inner, now| inner.leave_stage(now, job, outcome));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One worker, one server, room for one to wait.
    fn driver() -> Arc<Driver> {
        driver_of(
            r#"{"tidegate":1,"classes":[{"name":"all"}],
            "stages":[{"name":"accept","workers":9,"work":{"at":"stage","service":{"law":"constant","mean_us":1}}},
                {"name":"serve","workers":1,"queue":{"policy":"tail_drop","limit":1},"work":{"at":"servers"}},
                {"name":"log","workers":9,"work":{"at":"stage","service":{"law":"constant","mean_us":1}}}],
            "servers":[{"name":"a"}]}"#,
        )
    }

    fn driver_of(text: &str) -> Arc<Driver> {
        let scenario = tidegate_core::scenario::parse_json(text).unwrap().check().unwrap();
        let driver = Driver::new(&scenario);
        tokio::spawn(Arc::clone(&driver).keep_time());
        driver
    }

    const ALL: ClassId = ClassId(0);
    const PATIENCE: Duration = Duration::from_secs(1);

    fn counts(driver: &Driver) -> (u64, u64, u64, [u64; 4]) {
        let mut frame = Frame::default();
        driver.frame(&mut frame);
        let class = frame.classes[0];
        (class.completed, class.cancelled, class.in_system, class.shed)
    }

    #[tokio::test(start_paused = true)]
    async fn stages_without_servers_are_passed_at_once_and_every_way_out_is_counted_once() {
        let driver = driver();
        let slot = driver.arrive(ALL, PATIENCE, None, Asked::default()).unwrap().wait().await.unwrap();
        let waits = driver.arrive(ALL, PATIENCE, None, Asked::default()).unwrap();
        let late = driver.arrive(ALL, PATIENCE, None, Asked::default()).unwrap();
        assert!(matches!(late.wait().await, Err(Cause::Full)), "the second stage has no room");
        drop(waits);
        assert_eq!(counts(&driver), (0, 1, 1, [0, 1, 0, 0]));
        let next = driver.arrive(ALL, PATIENCE, None, Asked::default()).unwrap();
        slot.finish(Outcome::Completed);
        let next = next.wait().await.unwrap();
        assert_eq!(counts(&driver), (1, 1, 1, [0, 1, 0, 0]));
        drop(next);
        assert_eq!(counts(&driver), (1, 2, 0, [0, 1, 0, 0]));
        let times = driver.observe(&mut Frame::default());
        assert_eq!(times[0].response.cumulative().last(), Some(1), "one answer, whatever came after it");
    }

    #[tokio::test(start_paused = true)]
    async fn without_servers_the_last_stage_holds_its_worker() {
        let driver = driver_of(
            r#"{"tidegate":1,"classes":[{"name":"all"}],"stages":[
                {"name":"receive","workers":1,"work":{"at":"stage","service":{"law":"constant","mean_us":1}}},
                {"name":"send","workers":1,"work":{"at":"stage","service":{"law":"constant","mean_us":1}}}]}"#,
        );
        let slot = driver.arrive(ALL, PATIENCE, None, Asked::default()).unwrap().wait().await.unwrap();
        assert_eq!(slot.server(), None, "there is no server to send it to");
        let next = tokio::spawn(driver.arrive(ALL, PATIENCE, None, Asked::default()).unwrap().wait());
        tokio::time::sleep(std::time::Duration::from_millis(7)).await;
        assert_eq!(
            counts(&driver),
            (0, 0, 2, [0; 4]),
            "the first holds the worker, the second waits behind it"
        );
        slot.finish(Outcome::Completed);
        let next = next.await.unwrap().unwrap();
        assert!(next.waited() >= Duration::from_millis(7), "it waited until the worker was given back");
        assert_eq!(counts(&driver), (1, 0, 1, [0; 4]));
    }

    #[tokio::test(start_paused = true)]
    async fn the_timer_turns_away_whoever_waits_too_long() {
        let driver = driver();
        let _slot = driver.arrive(ALL, PATIENCE, None, Asked::default()).unwrap().wait().await.unwrap();
        let begun = tokio::time::Instant::now();
        let refused =
            driver.arrive(ALL, Duration::from_millis(300), None, Asked::default()).unwrap().wait().await;
        assert!(matches!(refused, Err(Cause::Deadline)));
        assert_eq!(begun.elapsed().as_millis() / 10, 30, "when its time was over, not later");
        // The one before set the timer to its own deadline; an earlier one must move it.
        let late = driver.arrive(ALL, Duration::from_secs(100), None, Asked::default()).unwrap();
        drop(late);
        let refused =
            driver.arrive(ALL, Duration::from_millis(300), None, Asked::default()).unwrap().wait().await;
        assert!(matches!(refused, Err(Cause::Deadline)));
        assert_eq!(begun.elapsed().as_millis() / 10, 60);
        assert_eq!(counts(&driver), (0, 1, 1, [0, 0, 0, 2]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_that_is_given_up_goes_to_the_next_at_once() {
        let driver = driver();
        let slot = driver.arrive(ALL, PATIENCE, None, Asked::default()).unwrap().wait().await.unwrap();
        let waits = tokio::spawn(driver.arrive(ALL, PATIENCE, None, Asked::default()).unwrap().wait());
        drop(slot);
        let slot = waits.await.unwrap().unwrap();
        assert_eq!(slot.server(), Some(ServerId(0)));
        assert_eq!(slot.waited(), Duration::ZERO);
    }

    /// Two classes at one stage whose split is looked at every 0.25 s.
    fn split_driver() -> Arc<Driver> {
        driver_of(
            r#"{"tidegate":1,"classes":[{"name":"high"},{"name":"low","delay_weight":4}],
            "stages":[{"name":"serve","workers":4,"work":{"at":"servers"},"split_by":{"policy":"stc_lead"},
                "queue":{"policy":"tail_drop","limit":1000}}],
            "servers":[{"name":"a"}]}"#,
        )
    }

    /// Looks of the controller of the first stage's split so far.
    fn samples(driver: &Driver) -> u64 {
        let mut frame = Frame::default();
        driver.frame(&mut frame);
        frame.stages[0].split.samples
    }

    /// Lets so much time pass, in steps that come due at no particular moment.
    async fn pass(ms: u64) {
        tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_split_is_looked_at_each_period_though_nobody_comes() {
        let driver = split_driver();
        pass(249).await;
        assert_eq!(samples(&driver), 0, "not before its period is over");
        pass(2).await;
        assert_eq!(samples(&driver), 1, "the timer has looked");
        pass(9_750).await;
        assert_eq!(samples(&driver), 40, "ten seconds, four looks each");
    }

    #[tokio::test(start_paused = true)]
    async fn a_split_is_looked_at_each_period_however_much_comes() {
        let driver = split_driver();
        // Three of four workers are held for good, and every 7 ms somebody comes, is given the last or waits, and leaves:
        // the deadlines of those who wait are all the timer had before.
        let mut held = Vec::new();
        for class in [0, 0, 1] {
            held.push(
                driver
                    .arrive(ClassId(class), PATIENCE, None, Asked::default())
                    .unwrap()
                    .wait()
                    .await
                    .unwrap(),
            );
        }
        for n in 0..1_429_u64 {
            let ticket = driver.arrive(ClassId((n % 2) as u8), PATIENCE, None, Asked::default()).unwrap();
            pass(7).await;
            drop(ticket);
        }
        assert_eq!(samples(&driver), 40, "ten seconds, four looks each");
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_standstill_a_split_is_looked_at_once_and_then_each_period() {
        let driver = split_driver();
        pass(1).await;
        // As when the machine slept: no timer ran meanwhile.
        tokio::time::advance(std::time::Duration::from_secs(3_600)).await;
        pass(1).await;
        let woken = samples(&driver);
        assert!(woken <= 2, "an hour is not caught up with, found {woken} looks");
        pass(1_000).await;
        assert_eq!(samples(&driver) - woken, 4, "and it goes on as before");
    }

    #[test]
    fn the_core_never_sees_time_step_back() {
        let driver = Driver::new(&tidegate_core::scenario::presets::get("demo").unwrap().scenario());
        let seen = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        driver.change(|_, now| seen.lock().unwrap().push(now));
                    }
                });
            }
        });
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen.len(), 8_000);
        assert!(seen.is_sorted(), "the moments of all threads' changes, in the order the core saw them");
    }

    #[test]
    fn a_time_lies_in_the_first_bucket_that_is_not_below_it() {
        let mut buckets = Buckets::default();
        for ms in [0, 1, 2, 3, 200_000] {
            buckets.record(Duration::from_millis(ms));
        }
        let counts: Vec<u64> = buckets.cumulative().collect();
        assert_eq!(counts[..3], [2, 3, 4]);
        assert_eq!(counts[BOUNDS_MS.len() - 1..], [4, 5]);
        assert_eq!(buckets.sum(), Duration::from_millis(200_006));
    }
}
