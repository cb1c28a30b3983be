//! Servers from a file that is watched, and from names that are resolved.
//!
//! What cannot be read or resolved changes nothing: the last good list stays, and the trouble is said once, on standard
//! error. A list that is read is a list, though: an empty file takes all its servers out.

use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::list::{LONGEST, MOST, read_list};
use super::{Refused, Registry, Source, Target, Token};
use crate::text::{WARN, styled};

/// Time between two looks at the file.
const LOOK: Duration = Duration::from_secs(1);
/// Longest wait for a name to be resolved.
const RESOLVING: Duration = Duration::from_secs(5);

/// Where servers come from, beside the list of the settings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegistryConfig {
    /// A file with a server a line.
    pub(crate) servers_file: Option<PathBuf>,
    /// Names each of whose addresses is a server.
    pub(crate) names: Vec<Target>,
    /// How often they are resolved.
    pub(crate) resolve: Duration,
    /// What must be known to change servers by the operator's listener; without it, nobody can.
    pub(crate) token: Option<Token>,
}

impl Default for RegistryConfig {
    fn default() -> Self {
        Self { servers_file: None, names: Vec::new(), resolve: Duration::from_secs(10), token: None }
    }
}

impl RegistryConfig {
    /// Whether servers may come and go.
    pub(crate) fn is_open(&self) -> bool {
        self.servers_file.is_some() || !self.names.is_empty() || self.token.is_some()
    }
}

/// What is to be followed.
pub(crate) struct Sources {
    file: Option<Watched>,
    names: Vec<Target>,
    resolve: Duration,
}

impl Sources {
    /// Reads the file for the first time.
    ///
    /// # Errors
    /// What is wrong with it. Later, that changes nothing; to begin with, it is most likely a mistake.
    pub(crate) fn read(config: &RegistryConfig) -> Result<(Self, Vec<Target>), String> {
        let mut file = config.servers_file.as_deref().map(Watched::new);
        let list = file.as_mut().and_then(Watched::look).transpose()?.unwrap_or_default();
        Ok((Self { file, names: config.names.clone(), resolve: config.resolve }, list))
    }

    /// Follows them for as long as the answer is kept.
    pub(crate) fn follow(self, first: Vec<Target>, registry: &Arc<Registry>) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        if let Some(file) = self.file {
            let mut follower = Follower::new(registry, file.called(), Source::File, None);
            // Before the first request, not a moment later.
            follower.take(first);
            tasks.spawn(watch(file, follower));
        }
        for (number, name) in self.names.into_iter().enumerate() {
            let (from, like) = (name.url.to_string(), name.name.clone());
            let follower = Follower::new(registry, from, Source::Name(number), like);
            tasks.spawn(resolve(name, self.resolve, follower));
        }
        tasks
    }
}

/// Makes what a source has the servers of that source.
struct Follower {
    registry: Arc<Registry>,
    /// For messages.
    from: String,
    source: Source,
    /// The server of the scenario that they are like.
    like: Option<String>,
    list: Vec<Target>,
    /// What could not be done, the last time.
    refused: Vec<Refused>,
}

impl Follower {
    fn new(registry: &Arc<Registry>, from: String, source: Source, like: Option<String>) -> Self {
        let registry = Arc::clone(registry);
        Self { registry, from, source, like, list: Vec::new(), refused: Vec::new() }
    }

    /// There is another list.
    fn take(&mut self, list: Vec<Target>) {
        if list != self.list {
            self.list = list;
            self.apply();
        }
    }

    /// Tries again what could not be done: a name may be free by now.
    fn retry(&mut self) {
        if !self.refused.is_empty() {
            self.apply();
        }
    }

    fn apply(&mut self) {
        let refused = self.registry.follow(self.source, &self.list, self.like.as_deref());
        for new in refused.iter().filter(|one| !self.refused.contains(one)) {
            warn(&format!("{}: {new}; it is left out for now", self.from));
        }
        self.refused = refused;
    }
}

fn warn(text: &str) {
    // Whoever closed our output early does not want to read it.
    let _ = writeln!(anstream::stderr(), "{} {text}", styled(WARN, "warning:"));
}

/// When a file was written, and how long it is.
type Stamp = (SystemTime, u64);

/// A file that is watched.
struct Watched {
    path: PathBuf,
    /// Of the last look; `None` before the first, the inner one if there was no file.
    seen: Option<Option<Stamp>>,
}

impl Watched {
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), seen: None }
    }

    fn called(&self) -> String {
        format!("servers file {}", self.path.display())
    }

    /// The list, or what is wrong with it, if the file has changed since the last look.
    fn look(&mut self) -> Option<Result<Vec<Target>, String>> {
        let stamp = std::fs::metadata(&self.path).and_then(|file| Ok((file.modified()?, file.len()))).ok();
        if self.seen == Some(stamp) {
            return None;
        }
        self.seen = Some(stamp);
        Some(self.read())
    }

    fn read(&self) -> Result<Vec<Target>, String> {
        let text = self.text().map_err(|error| format!("cannot read {}: {error}", self.called()))?;
        if text.len() > LONGEST {
            return Err(format!("{}: at most {LONGEST} bytes, found more", self.called()));
        }
        read_list(&text).map_err(|problem| format!("{}, {problem}", self.called()))
    }

    /// What is in it; a byte more than is allowed, to know that there is more.
    fn text(&self) -> io::Result<String> {
        let mut text = String::new();
        std::fs::File::open(&self.path)?.take(LONGEST as u64 + 1).read_to_string(&mut text)?;
        Ok(text)
    }
}

async fn watch(mut file: Watched, mut follower: Follower) {
    let mut tick = interval(LOOK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let looked = tokio::task::spawn_blocking(move || {
            let list = file.look();
            (file, list)
        });
        let Ok((looked, list)) = looked.await else { return };
        file = looked;
        match list {
            None => follower.retry(),
            Some(Ok(list)) => follower.take(list),
            Some(Err(problem)) => warn(&format!("{problem}; the servers stay as they are")),
        }
    }
}

async fn resolve(name: Target, every: Duration, mut follower: Follower) {
    let mut tick = interval(every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_well = true;
    loop {
        tick.tick().await;
        let found = addresses(&name).await;
        match &found {
            Ok(addresses) => {
                follower.retry();
                follower.take(addresses.iter().map(|address| at(&name, *address)).collect());
            }
            Err(problem) if is_well => {
                warn(&format!("{} cannot be resolved ({problem}); the servers stay as they are", name.url));
            }
            Err(_) => {}
        }
        is_well = found.is_ok();
    }
}

/// The addresses of a name, every one once and always in the same order; at least one.
async fn addresses(name: &Target) -> Result<Vec<SocketAddr>, String> {
    let host = name.url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let lookup = tokio::net::lookup_host((host, name.url.port_u16().unwrap_or(80)));
    let found = tokio::time::timeout(RESOLVING, lookup).await.map_err(|_| "no answer in time".to_owned())?;
    let mut addresses: Vec<SocketAddr> = found.map_err(|error| error.to_string())?.collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses.truncate(MOST);
    if addresses.is_empty() { Err("no address".to_owned()) } else { Ok(addresses) }
}

/// The server at one address of a name; it is called by its address.
fn at(name: &Target, address: SocketAddr) -> Target {
    let url = format!("http://{address}").parse().expect("an address makes a URL");
    Target { name: None, url, ..name.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::read_one;
    use super::*;

    #[tokio::test]
    async fn every_address_of_a_name_is_a_server_once() {
        let name = read_one("web=http://127.0.0.1:81 weight=3").unwrap();
        let found = addresses(&name).await.unwrap();
        let servers: Vec<Target> = found.into_iter().map(|address| at(&name, address)).collect();
        assert_eq!(servers.len(), 1);
        assert_eq!((servers[0].called(), servers[0].weight), ("127.0.0.1:81", Some(3.0)));
        let six = at(&name, "[::1]:81".parse().unwrap());
        assert_eq!(six.called(), "[::1]:81");
    }

    #[test]
    fn a_file_is_read_when_it_has_changed_and_not_again() {
        let path = std::env::temp_dir().join(format!("tidegate-servers-{}", std::process::id()));
        let called = format!("servers file {}", path.display());
        let mut file = Watched::new(&path);
        let mut check = |write: Option<&str>, want: Option<Result<usize, String>>| {
            match write {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => drop(std::fs::remove_file(&path)),
            }
            let got = file.look().map(|list| list.map(|list| list.len()));
            assert_eq!(got, want, "after {write:?}");
            assert_eq!(file.look(), None, "the same again");
        };
        check(Some("http://a\nhttp://b\n"), Some(Ok(2)));
        check(
            Some("http://a\nhttp://b\nftp://c\n"),
            Some(Err(format!("{called}, line 3: http://HOST or http://HOST:PORT, found ftp://c"))),
        );
        check(None, Some(Err(format!("cannot read {called}: No such file or directory (os error 2)"))));
        check(Some(""), Some(Ok(0)));
        let long = format!("# {}\n", "x".repeat(LONGEST));
        check(Some(&long), Some(Err(format!("{called}: at most {LONGEST} bytes, found more"))));
        drop(std::fs::remove_file(&path));
    }
}
