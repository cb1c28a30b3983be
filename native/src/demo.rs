//! `tidegate play --demo`: real traffic on this machine, without anything else to start.
//!
//! The scenario's servers become emulated origins, the gateway runs its policy in front of them, and its clients are
//! played as real HTTP against the gateway, over and over: all on loopback, all in this process. The operator's address
//! serves the page, which finds the live gateway there.

use std::net::{Ipv4Addr, SocketAddr};

use tidegate_core::scenario::Scenario;
use tokio::task::JoinSet;

use crate::assets::Assets;
use crate::load::{self, LoadConfig};
use crate::origin::{self, OriginConfig};
use crate::reporting::HeaderForm;
use crate::serve::shutdown::{self, Shutdown};
use crate::serve::{
    self, Addresses, Behind, Feedback, Limits, RegistryConfig, ServeConfig, ServeError, Target,
};

/// Any free port, not to be reached from outside.
const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Runs the demonstration until the shutdown; `ready` hears of the addresses. The page is at `admin`.
///
/// # Errors
/// [`ServeError`] if an address cannot be listened on or the scenario cannot be served.
pub(crate) async fn demo(
    scenario: Scenario,
    admin: SocketAddr,
    assets: Assets,
    shutdown: Shutdown,
    ready: impl FnOnce(Addresses) + Send + 'static,
) -> Result<(), ServeError> {
    let (stop, rest) = shutdown::channel();
    let mut origins = JoinSet::new();
    let mut upstreams = Vec::new();
    for (seed, server) in (0..).zip(&scenario.servers) {
        let config = OriginConfig {
            listen: LOOPBACK,
            service: scenario.classes[0].service.clone(),
            slots: server.slots as usize,
            queue: 10_000,
            speed: server.speed,
            seed,
            // As in a simulation of it: elsewhere a load above the limit would do what it does not do there.
            report: if scenario.reports { HeaderForm::Text } else { HeaderForm::None },
            agent_check: None,
        };
        let (tell, told) = tokio::sync::oneshot::channel();
        let rest = rest.clone();
        origins.spawn(origin::run(config, rest, |address, _| {
            let _ = tell.send(address);
        }));
        let Ok(address) = told.await else {
            // It ended instead, and says why.
            let end = origins.join_next().await.and_then(Result::ok);
            return end.unwrap_or(Ok(()));
        };
        let url = format!("http://{address}").parse().expect("an address makes a URL");
        let name = Some(server.name.clone());
        upstreams.push(Target { name, url, weight: None, max_in_flight: None });
    }
    let config = ServeConfig {
        scenario: Some(scenario.clone()),
        listen: LOOPBACK,
        admin: Some(admin),
        behind: Behind::Upstreams(upstreams),
        trusted: Vec::new(),
        size_header: None,
        registry: RegistryConfig::default(),
        feedback: Feedback::default(),
        limits: Limits { drain_timeout: std::time::Duration::from_secs(2), ..Limits::default() },
        assets,
    };
    let (load_stop, load_shutdown) = shutdown::channel();
    let begin = move |addresses: Addresses| {
        let url = format!("http://{}", addresses.listen).parse().expect("an address makes a URL");
        let config = LoadConfig { repeat: true, ..LoadConfig::new(scenario, url) };
        tokio::spawn(load::run(config, load_shutdown));
        ready(addresses);
    };
    let mut ends = shutdown.clone();
    tokio::spawn(async move {
        ends.begins().await;
        load_stop.cut();
    });
    let result = serve::run(config, shutdown, begin).await;
    stop.cut();
    while origins.join_next().await.is_some() {}
    result
}
