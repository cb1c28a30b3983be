//! `tidegate play`: the playground on a local address, alone or beside a live gateway.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::net::TcpListener;

use crate::assets::Assets;
use crate::cli::PlayArgs;
use crate::demo::demo;
use crate::serve::Addresses;
use crate::serve::body::Reply;
use crate::serve::connection::{Client, Rules, Serve, accept};
use crate::serve::shutdown::Shutdown;
use crate::serving::{failure, on_runtime};
use crate::text::{BOLD, WARN, styled};
use crate::{output, source};

/// What a browser may take; a page opens about six connections.
const RULES: Rules = Rules {
    connections: 256,
    header_bytes: 16 * 1024,
    header_timeout: Duration::from_secs(10),
    idle_timeout: Duration::from_secs(60),
    write_timeout: Duration::from_secs(30),
};
/// Longest wait for answers in flight when stopped.
const DRAIN: Duration = Duration::from_secs(2);

/// Serves the page until interrupted.
///
/// # Errors
/// When an address cannot be used; with `--demo` also a scenario that cannot be served.
pub(crate) fn run(args: PlayArgs) -> anyhow::Result<()> {
    let scenario = match &args.demo {
        Some(reference) => Some(source::checked(Ok(source::load(reference)?))?),
        None => None,
    };
    on_runtime(async move {
        let shutdown = Shutdown::on_signals().context("cannot listen to signals")?;
        let assets = Assets::new(args.www.clone());
        match scenario {
            Some(scenario) => {
                let (listen, page) = (args.listen, assets.clone());
                let ready = move |addresses: Addresses| announce(&args, &page, addresses);
                demo(scenario, listen, assets, shutdown, ready).await.map_err(failure)
            }
            None => alone(&args, assets, shutdown).await,
        }
    })
}

/// The page without a gateway.
async fn alone(args: &PlayArgs, assets: Assets, shutdown: Shutdown) -> anyhow::Result<()> {
    let listener =
        TcpListener::bind(args.listen).await.with_context(|| format!("cannot listen on {}", args.listen))?;
    let address = listener.local_addr().context("the listener has no address")?;
    announce(args, &assets, Addresses { listen: address, admin: None });
    accept(listener, Arc::new(Page(assets)), RULES, shutdown.bounded(DRAIN)).await;
    Ok(())
}

/// Answers with the page's files.
struct Page(Assets);

impl Serve for Page {
    async fn serve(self: Arc<Self>, _: Arc<Client>, request: Request<Incoming>) -> Response<Reply> {
        self.0.answer(&request).map(Reply::new)
    }
}

/// Says what is served where, and opens the page if asked to.
fn announce(args: &PlayArgs, assets: &Assets, addresses: Addresses) {
    // With a gateway, its operator's address serves the page.
    let page = format!("http://{}/", addresses.admin.unwrap_or(addresses.listen));
    let mut text = format!("Tidegate {} playground: {}\n", env!("CARGO_PKG_VERSION"), styled(BOLD, &page));
    if addresses.admin.is_some() {
        text += &format!(
            "  live gateway: http://{}/, with its origins and a load, all on this machine\n",
            addresses.listen
        );
        text += &format!("  its figures:  {page}metrics  {page}state  {page}events\n");
    }
    if let Some(folder) = &args.www {
        text += &format!("  page read from {}\n", folder.display());
    }
    if !assets.has_program() {
        let missing = "the page's program is missing; `cargo xtask web` makes it, then build again";
        text += &format!("  {}\n", styled(WARN, missing));
    }
    // Whoever closed our output early does not want to read it.
    let _ = output::print(&(text + "Press Ctrl-C to stop.\n"));
    if args.open {
        open(&page);
    }
}

/// Opens `url` in the default browser; whoever has none still has the printed address.
fn open(url: &str) {
    let (program, arguments): (_, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/c", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = std::process::Command::new(program);
    command.args(arguments).arg(url);
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    if let Err(error) = command.spawn() {
        anstream::eprintln!("cannot open a browser ({program}: {error}); open the address above");
    }
}
