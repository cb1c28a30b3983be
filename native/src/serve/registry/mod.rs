//! The servers behind the gateway, as they come and go.
//!
//! They come from the list of the settings, a file that is watched, names that are resolved, and the operator's API;
//! paper B, 2.2 step 1, has the last only. Each belongs to where it came from: the file does not take out what the API
//! has put in. Beside the list of the settings nothing is kept: after a restart, servers register again.
//!
//! | file | |
//! |---|---|
//! | `list` | a server as it is written |
//! | `sources` | the file that is watched, names that are resolved |
//! | `api` | what the operator's listener is asked about servers |
//!
//! A server has a number in the core, which is given to another once it is gone and has nothing in flight. So a
//! request that holds a worker for number 3 means one server, whatever happens to the list meanwhile. The list is
//! locked while the core adds a server, so nobody looks up a number that the core has given out and the list does not
//! have yet; and what is found out about a server that is off the list reaches the core no longer
//! (see [`upstream`](super::upstream)).

mod api;
mod list;
mod sources;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde_json::{Value, json};
use tidegate_core::balance::bar;
use tidegate_core::frame::Frame;
use tidegate_core::id::ServerId;
use tidegate_core::scenario::{Scenario, ServerSpec};
use tokio::task::JoinSet;

pub(crate) use self::api::{Token, answer};
use self::list::MOST;
pub(crate) use self::list::{Wrong, read_one, read_table};
pub(crate) use self::sources::{RegistryConfig, Sources};
use super::driver::Driver;
use super::reports::Asking;
use super::upstream::{Connecting, Source, Terms, Upstream};
use super::{Feedback, Target, health};

/// The servers behind the gateway.
pub(crate) struct Registry {
    driver: Arc<Driver>,
    connecting: Connecting,
    feedback: Feedback,
    /// The servers of the scenario: what others are like.
    specs: Vec<ServerSpec>,
    list: RwLock<List>,
}

/// Servers by number; a number may be without one.
type List = Vec<Option<Entry>>;

/// A server of the list, or one that is off it and whose number nobody else has yet.
struct Entry {
    upstream: Arc<Upstream>,
    /// Asks how it is, for as long as it is on the list.
    attending: JoinSet<()>,
}

/// Why the list of servers stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is no server of this name.
    Unknown(String),
    /// The name belongs to a server from elsewhere.
    Taken(String, Source),
    /// There are as many as there may be.
    Full,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "there is no server {name}"),
            Self::Taken(name, source) => write!(f, "there is a server {name} already, from: {source}"),
            Self::Full => write!(f, "there are {MOST} servers already"),
        }
    }
}

/// A server that is to be shown.
pub(crate) struct Shown {
    /// What it is called.
    pub(crate) name: String,
    /// Where it is in the frame.
    pub(crate) at: usize,
    /// The server; `None` where files are served and servers only counted.
    pub(crate) upstream: Option<Arc<Upstream>>,
}

impl Registry {
    /// One server for each of the scenario's, in its order; none, where files are served.
    pub(crate) fn fixed(
        scenario: &Scenario,
        targets: &[Target],
        driver: Arc<Driver>,
        connecting: Connecting,
        feedback: Feedback,
    ) -> Arc<Self> {
        let registry = Self::new(scenario, driver, connecting, feedback);
        {
            let mut list = registry.write();
            for (id, target) in (0..).map(ServerId).zip(targets) {
                registry.settle(&mut list, id, target);
            }
        }
        registry
    }

    /// Servers that come and go, these to begin with.
    ///
    /// # Errors
    /// What is wrong with these.
    pub(crate) fn open(
        scenario: &Scenario,
        targets: Vec<Target>,
        driver: Arc<Driver>,
        connecting: Connecting,
        feedback: Feedback,
    ) -> Result<Arc<Self>, Refused> {
        let registry = Self::new(scenario, driver, connecting, feedback);
        {
            let mut list = registry.write();
            let mut targets = registry.named(targets);
            for (id, spec) in (0..).map(ServerId).zip(&registry.specs) {
                match targets.iter().position(|target| target.called() == spec.name) {
                    Some(at) => registry.settle(&mut list, id, &targets.remove(at)),
                    None => registry.driver.remove_server(id),
                }
            }
            for target in targets {
                if find(&list, target.called()).is_some() {
                    return Err(Refused::Taken(target.called().to_owned(), Source::List));
                }
                registry.add(&mut list, Source::List, &target, None)?;
            }
        }
        Ok(registry)
    }

    /// Puts a server of the settings into a place of the scenario, where it is not new to the core: whoever is there from
    /// the beginning need not start slowly.
    fn settle(&self, list: &mut List, id: ServerId, target: &Target) {
        let spec = &self.specs[usize::from(id.0)];
        let target = Target { name: Some(spec.name.clone()), ..target.clone() };
        let upstream = Upstream::new(id, &target, Source::List, Terms::of(spec), self.connecting);
        upstream.set_terms(&self.driver, Terms::of(&self.spec(&target, None)));
        self.place(list, upstream);
    }

    fn new(
        scenario: &Scenario,
        driver: Arc<Driver>,
        connecting: Connecting,
        feedback: Feedback,
    ) -> Arc<Self> {
        let specs = scenario.servers.clone();
        Arc::new(Self { driver, connecting, feedback, specs, list: RwLock::default() })
    }

    /// Targets without a name get those of the scenario's servers that nobody has, in order, for as long as there are
    /// any.
    fn named(&self, mut targets: Vec<Target>) -> Vec<Target> {
        let has = |name: &str| targets.iter().any(|target| target.name.as_deref() == Some(name));
        let free = self.specs.iter().map(|spec| &spec.name).filter(|name| !has(name)).cloned();
        let mut free = free.collect::<Vec<String>>().into_iter();
        for target in &mut targets {
            target.name = target.name.take().or_else(|| free.next());
        }
        targets
    }

    /// The server of this number.
    pub(crate) fn get(&self, id: ServerId) -> Option<Arc<Upstream>> {
        let list = self.read();
        list.get(usize::from(id.0))?.as_ref().map(|entry| Arc::clone(&entry.upstream))
    }

    /// The servers that are there.
    pub(crate) fn present(&self) -> Vec<Arc<Upstream>> {
        present(&self.read()).cloned().collect()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        present(&self.read()).count()
    }

    /// The server of this name.
    ///
    /// # Errors
    /// If there is none.
    fn find(&self, name: &str) -> Result<Arc<Upstream>, Refused> {
        find(&self.read(), name).ok_or_else(|| Refused::Unknown(name.to_owned()))
    }

    /// Registers a server, or changes one. `true` if it is new.
    ///
    /// # Errors
    /// [`Refused`]: nothing has changed.
    fn put(&self, target: &Target) -> Result<bool, Refused> {
        let mut list = self.write();
        let before = find(&list, target.called());
        if let Some(upstream) = &before {
            may_change(upstream)?;
            if upstream.url == target.url {
                upstream.set_terms(&self.driver, Terms::of(&self.spec(target, None)));
                return Ok(false);
            }
        }
        // Added first: if there is no room for both, the old one stays.
        self.add(&mut list, Source::Api, target, None)?;
        if let Some(before) = before {
            self.remove(&mut list, &before);
        }
        Ok(true)
    }

    /// Takes a server off the list; what is in flight there is finished.
    ///
    /// # Errors
    /// [`Refused`]: nothing has changed.
    fn delete(&self, name: &str) -> Result<(), Refused> {
        let mut list = self.write();
        let upstream = find(&list, name).ok_or_else(|| Refused::Unknown(name.to_owned()))?;
        may_change(&upstream)?;
        self.remove(&mut list, &upstream);
        Ok(())
    }

    /// Makes the servers of a source those that it has. `like` names the server of the scenario that they are like,
    /// unless there is one of their own name. What could not be done is told.
    fn follow(&self, source: Source, wanted: &[Target], like: Option<&str>) -> Vec<Refused> {
        let mut list = self.write();
        let theirs: Vec<_> = present(&list).filter(|upstream| upstream.source == source).cloned().collect();
        for upstream in theirs {
            let same = |target: &&Target| target.called() == upstream.name && target.url == upstream.url;
            match wanted.iter().find(same) {
                Some(target) => upstream.set_terms(&self.driver, Terms::of(&self.spec(target, like))),
                None => self.remove(&mut list, &upstream),
            }
        }
        let mut refused = Vec::new();
        for target in wanted {
            match find(&list, target.called()) {
                Some(upstream) if upstream.source == source => {}
                Some(upstream) => refused.push(Refused::Taken(upstream.name.clone(), upstream.source)),
                None => refused.extend(self.add(&mut list, source, target, like).err()),
            }
        }
        refused
    }

    /// What a server is like: the scenario's of its name, else the one named by `like`, else the last; weight and limit
    /// are its own if it has any.
    fn spec(&self, target: &Target, like: Option<&str>) -> ServerSpec {
        let of = |name: &str| self.specs.iter().find(|spec| spec.name == name);
        let spec = of(target.called()).or_else(|| like.and_then(of)).or(self.specs.last());
        let mut spec = spec.expect("a scenario that works at servers has one").clone();
        spec.name = target.called().to_owned();
        spec.weight = target.weight.unwrap_or(spec.weight);
        spec.max_in_flight = target.max_in_flight.or(spec.max_in_flight);
        spec
    }

    fn add(
        &self,
        list: &mut List,
        source: Source,
        target: &Target,
        like: Option<&str>,
    ) -> Result<(), Refused> {
        let spec = self.spec(target, like);
        let id = self.driver.add_server(&spec, MOST).ok_or(Refused::Full)?;
        self.place(list, Upstream::new(id, target, source, Terms::of(&spec), self.connecting));
        Ok(())
    }

    /// Puts a server into its place, and begins to ask how it is.
    fn place(&self, list: &mut List, upstream: Arc<Upstream>) {
        let at = usize::from(upstream.id.0);
        if list.len() <= at {
            list.resize_with(at + 1, || None);
        }
        let mut attending = JoinSet::new();
        if let Some(config) = &self.feedback.reports {
            let asking = Asking::new(Arc::clone(&self.driver), Arc::clone(&upstream), config.clone());
            attending.spawn(asking.run());
        }
        if let Some(config) = &self.feedback.health {
            let checking = health::check_one(Arc::clone(&self.driver), Arc::clone(&upstream), config.clone());
            attending.spawn(checking);
        }
        list[at] = Some(Entry { upstream, attending });
    }

    /// It stays in its place until another gets its number: who has been sent there must find it.
    fn remove(&self, list: &mut List, upstream: &Upstream) {
        if let Some(Some(entry)) = list.get_mut(usize::from(upstream.id.0)) {
            entry.attending.abort_all();
        }
        upstream.leave(&self.driver);
    }

    /// Looks at the gateway, with servers that fit what is seen.
    pub(crate) fn observe<T>(
        &self,
        frame: &mut Frame,
        look: impl FnOnce(&Driver, &mut Frame) -> T,
    ) -> (Vec<Shown>, T) {
        let list = self.read();
        let seen = look(&self.driver, frame);
        (self.shown(&list, frame), seen)
    }

    /// The servers that are there, and those that leave and still have something to do; every name once.
    fn shown(&self, list: &List, frame: &Frame) -> Vec<Shown> {
        let mut shown: Vec<Shown> = Vec::with_capacity(frame.servers.len());
        for (at, now) in frame.servers.iter().enumerate() {
            let upstream = list.get(at).and_then(Option::as_ref).map(|entry| Arc::clone(&entry.upstream));
            let name = match (&upstream, self.specs.get(at)) {
                (Some(upstream), _) => upstream.name.clone(),
                (None, Some(spec)) if now.bars & bar::GONE == 0 => spec.name.clone(),
                _ => continue,
            };
            let leaves = now.bars & bar::GONE != 0;
            if leaves {
                let is_idle = now.in_flight.iter().all(|&count| count == 0);
                let has_heir = find(list, &name).is_some();
                if is_idle || has_heir || shown.iter().any(|other| other.name == name) {
                    continue;
                }
            }
            shown.push(Shown { name, at, upstream });
        }
        shown
    }

    /// All servers, for people and programs.
    fn to_json(&self) -> Value {
        let mut frame = Frame::default();
        let (shown, ()) = self.observe(&mut frame, Driver::frame);
        Value::Array(shown.iter().map(|server| readable(server, &frame)).collect())
    }

    fn read(&self) -> RwLockReadGuard<'_, List> {
        self.list.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, List> {
        self.list.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn present(list: &List) -> impl Iterator<Item = &Arc<Upstream>> {
    list.iter().flatten().map(|entry| &entry.upstream).filter(|upstream| !upstream.is_gone())
}

fn find(list: &List, name: &str) -> Option<Arc<Upstream>> {
    present(list).find(|upstream| upstream.name == name).cloned()
}

/// What comes from a file or a name would be undone at the next look.
fn may_change(upstream: &Upstream) -> Result<(), Refused> {
    match upstream.source {
        Source::List | Source::Api => Ok(()),
        source @ (Source::File | Source::Name(_)) => Err(Refused::Taken(upstream.name.clone(), source)),
    }
}

/// One server: what is in `/state`, with where it comes from and what it counts by configuration.
fn readable(server: &Shown, frame: &Frame) -> Value {
    let now = &frame.servers[server.at];
    let mut value = super::admin::readable_server(&server.name, now, server.upstream.as_ref());
    if let Some(upstream) = &server.upstream {
        let terms = upstream.terms();
        value["url"] = upstream.url.to_string().into();
        value["from"] = upstream.source.to_string().into();
        value["configured"] = json!({ "weight": terms.weight, "max_in_flight": terms.max_in_flight });
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::upstream::Why;
    use tidegate_core::balance::LoadReport;
    use tidegate_core::gateway::Asked;
    use tidegate_core::id::ClassId;
    use tidegate_core::reports::{AgentState, agent_check};
    use tidegate_core::time::Duration;

    const CONNECTING: Connecting = Connecting {
        timeout: std::time::Duration::from_secs(1),
        idle_timeout: std::time::Duration::from_secs(1),
    };

    fn target(text: &str) -> Target {
        read_one(text).unwrap()
    }

    /// A gateway of two servers, `a` with its own weight, and the rest of it.
    fn open(targets: &[&str]) -> (Arc<Driver>, Arc<Registry>) {
        let scenario = tidegate_core::scenario::parse_json(
            r#"{"tidegate":1,"classes":[{"name":"all"}],
            "stages":[{"name":"serve","workers":9,"work":{"at":"servers"}}],
            "servers":[{"name":"a","weight":3},{"name":"b","max_in_flight":5}]}"#,
        );
        let scenario = scenario.unwrap().check().unwrap();
        let driver = Driver::new(&scenario);
        let targets = targets.iter().map(|text| target(text)).collect();
        let feedback = Feedback::default();
        let registry = Registry::open(&scenario, targets, Arc::clone(&driver), CONNECTING, feedback);
        let registry = registry.unwrap();
        (driver, registry)
    }

    /// Name, address, weight and limit of every server, as the core has the last two.
    fn listed(registry: &Registry) -> Vec<String> {
        let mut frame = Frame::default();
        let (shown, ()) = registry.observe(&mut frame, Driver::frame);
        let line = |server: &Shown| {
            let now = &frame.servers[server.at];
            let url = server.upstream.as_ref().unwrap().url.host().unwrap().to_owned();
            let leaves = if now.bars & bar::GONE != 0 { " leaves" } else { "" };
            let most = match now.max_in_flight {
                u32::MAX => "-".to_owned(),
                most => most.to_string(),
            };
            format!("{} {url} {} {most}{leaves}", server.name, now.weight)
        };
        shown.iter().map(line).collect()
    }

    /// A request that is at a server for as long as the slot is kept.
    async fn at_server(driver: &Arc<Driver>) -> crate::serve::driver::Slot {
        let patience = Duration::from_secs(9);
        driver.arrive(ClassId(0), patience, None, Asked::default()).unwrap().wait().await.unwrap()
    }

    #[tokio::test]
    async fn a_server_is_like_the_one_of_its_name_or_else_like_the_last() {
        let (_driver, registry) = open(&["http://x", "http://y weight=7", "c=http://z"]);
        assert_eq!(listed(&registry), ["a x 3 -", "b y 7 5", "c z 1 5"], "unnamed ones take names in order");
        registry.put(&target("d=http://d max=2")).unwrap();
        assert_eq!(listed(&registry)[3], "d d 1 2", "what is said of it comes first");
    }

    #[tokio::test]
    async fn without_any_server_requests_wait_for_the_first() {
        let (driver, registry) = open(&[]);
        let waits = tokio::spawn({
            let driver = Arc::clone(&driver);
            async move { at_server(&driver).await }
        });
        tokio::task::yield_now().await;
        assert!(driver.retry_after().is_some(), "nobody is fit");
        registry.put(&target("new=http://x")).unwrap();
        let slot = waits.await.unwrap();
        let upstream = registry.get(slot.server().unwrap()).expect("whom the core names is on the list");
        assert_eq!(upstream.name, "new");
    }

    #[tokio::test]
    async fn a_number_in_use_stays_with_its_server_however_the_list_changes() {
        let (driver, registry) = open(&["a=http://old"]);
        let slot = at_server(&driver).await;
        registry.delete("a").unwrap();
        registry.put(&target("a=http://new")).unwrap();
        let of_slot = |slot: &crate::serve::driver::Slot| {
            registry.get(slot.server().unwrap()).unwrap().url.host().unwrap().to_owned()
        };
        assert_eq!(of_slot(&slot), "old", "it was sent there");
        let next = at_server(&driver).await;
        assert_eq!(of_slot(&next), "new", "nothing new goes to one that is off the list");
        assert_eq!(listed(&registry), ["a new 3 -"], "a name is shown once");
        let old = slot.server();
        drop(slot);
        registry.put(&target("b=http://third")).unwrap();
        let third = registry.find("b").unwrap();
        assert_eq!(Some(third.id), old, "an empty number is used again");
        third.set_out(&driver, Why::Unreachable, true);
        drop(next);
        assert_eq!(of_slot(&at_server(&driver).await), "new");
    }

    #[tokio::test]
    async fn what_is_found_out_about_a_server_that_is_gone_hits_nobody_else() {
        let (driver, registry) = open(&["a=http://old"]);
        let old = registry.find("a").unwrap();
        registry.delete("a").unwrap();
        registry.put(&target("a=http://new")).unwrap();
        assert_eq!(registry.find("a").unwrap().id, old.id, "the number is used again");
        old.set_out(&driver, Why::Unreachable, true);
        old.drain(&driver, true);
        let overload = LoadReport { loads: [Some(1.0); 5], ..LoadReport::default() };
        old.report(&driver, &overload);
        old.set_terms(&driver, Terms { weight: 9.0, max_in_flight: Some(1) });
        old.leave(&driver);
        let mut frame = Frame::default();
        registry.observe(&mut frame, Driver::frame);
        let new = &frame.servers[0];
        assert!(new.up && new.bars == 0 && new.report_age_s.is_nan(), "the new one is untouched: {new:?}");
        assert_eq!(listed(&registry), ["a new 3 -"]);
    }

    #[tokio::test]
    async fn sources_leave_each_other_alone() {
        let (_driver, registry) = open(&["a=http://a"]);
        let file = |lines: &[&str]| lines.iter().map(|line| target(line)).collect::<Vec<_>>();
        assert_eq!(registry.follow(Source::File, &file(&["b=http://b", "c=http://c"]), None), []);
        assert_eq!(listed(&registry), ["a a 3 -", "b b 1 5", "c c 1 5"]);
        let refused = registry.follow(Source::File, &file(&["a=http://x", "c=http://c weight=9"]), None);
        assert_eq!(refused, [Refused::Taken("a".to_owned(), Source::List)]);
        assert_eq!(listed(&registry), ["a a 3 -", "c c 9 5"], "b is gone, c counts more");
        assert_eq!(registry.delete("c"), Err(Refused::Taken("c".to_owned(), Source::File)));
        assert_eq!(registry.put(&target("c=http://x")), Err(Refused::Taken("c".to_owned(), Source::File)));
        assert_eq!(registry.delete("z"), Err(Refused::Unknown("z".to_owned())));
        assert_eq!(registry.follow(Source::File, &file(&["c=http://d"]), None), []);
        assert_eq!(listed(&registry), ["a a 3 -", "c d 1 5"], "another address is another server");
    }

    #[tokio::test]
    async fn a_server_is_drained_for_as_long_as_anybody_wants_it() {
        let (driver, registry) = open(&["a=http://a"]);
        let server = registry.find("a").unwrap();
        let check = |want: bool, why: &str| {
            let mut frame = Frame::default();
            driver.frame(&mut frame);
            assert_eq!(frame.servers[0].bars & bar::DRAINING != 0, want, "{why}");
        };
        let agent = |words: &str| {
            let mut agent = AgentState::default();
            agent.apply(&agent_check::read(words.as_bytes()));
            server.obey(&driver, &agent);
        };
        server.drain(&driver, true);
        check(true, "the operator does");
        agent("drain");
        check(true, "its agent does, too");
        server.drain(&driver, false);
        check(true, "its agent still does");
        agent("ready");
        check(false, "nobody does");
    }

    #[tokio::test]
    async fn an_agent_speaks_of_the_weight_that_is_configured_now() {
        let (driver, registry) = open(&["a=http://a"]);
        let server = registry.find("a").unwrap();
        let mut agent = AgentState::default();
        agent.apply(&agent_check::read(b"50%"));
        server.obey(&driver, &agent);
        assert_eq!(listed(&registry), ["a a 1.5 -"]);
        registry.put(&target("a=http://a weight=8 max=4")).unwrap();
        assert_eq!(listed(&registry), ["a a 4 4"]);
    }

    #[tokio::test]
    async fn there_is_a_limit_to_servers_and_those_that_leave_count() {
        let (driver, registry) = open(&["a=http://a"]);
        let slot = at_server(&driver).await;
        registry.delete("a").unwrap();
        for n in 1..MOST {
            registry.put(&target(&format!("http://h{n}"))).unwrap();
        }
        assert_eq!(registry.put(&target("http://more")), Err(Refused::Full));
        drop(slot);
        assert_eq!(registry.put(&target("http://more")), Ok(true));
        assert_eq!(registry.len(), MOST);
    }
}
