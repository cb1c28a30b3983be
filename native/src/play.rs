//! `tidegate play`: the playground on a local address.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::assets::Assets;
use crate::cli::PlayArgs;
use crate::output;

/// Browsers connected at once; a page opens about six.
const CONNECTIONS: usize = 256;
/// Longest wait for a complete request head.
const HEAD: Duration = Duration::from_secs(10);
/// Longest wait for answers in flight when stopped.
const DRAIN: Duration = Duration::from_secs(2);

/// Serves the page until interrupted.
///
/// # Errors
/// When the address cannot be used.
pub(crate) fn run(args: PlayArgs) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    runtime.block_on(serve(args))
}

async fn serve(args: PlayArgs) -> anyhow::Result<()> {
    let listener =
        TcpListener::bind(args.listen).await.with_context(|| format!("cannot listen on {}", args.listen))?;
    let address = listener.local_addr().context("the listener has no address")?;
    let assets = Assets::new(args.www.clone());
    output::print(&announcement(&format!("http://{address}/"), &args, &assets))?;
    if args.open {
        open(&format!("http://{address}/"));
    }

    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stopped());
    loop {
        let permit = Arc::clone(&connections).acquire_owned().await.expect("the semaphore is never closed");
        let stream = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of descriptors, most likely: wait for some to be freed instead of spinning.
                    eprintln!("cannot accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let assets = assets.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let answer = assets.answer(&request);
            async move { Ok::<_, Infallible>(answer) }
        });
        let connection = server.serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection.into_owned());
        tokio::spawn(async move {
            let _permit = permit;
            // A browser that breaks off is its own business.
            let _ = connection.await;
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
    Ok(())
}

/// What is served where, for the reader of the terminal.
fn announcement(url: &str, args: &PlayArgs, assets: &Assets) -> String {
    let bold = anstyle::Style::new().bold();
    let mut text = format!("Tidegate {} playground: {bold}{url}{bold:#}\n", env!("CARGO_PKG_VERSION"));
    if let Some(folder) = &args.www {
        text += &format!("  page read from {}\n", folder.display());
    }
    if !assets.has_program() {
        text += "  the page's program is missing; `cargo xtask web` makes it, then build again\n";
    }
    text + "Press Ctrl-C to stop.\n"
}

/// Resolves when the process is asked to stop.
async fn stopped() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else {
            let _ = interrupt.await;
            return;
        };
        tokio::select! {
            _ = interrupt => (),
            _ = terminate.recv() => (),
        }
    }
    #[cfg(not(unix))]
    let _ = interrupt.await;
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
        eprintln!("cannot open a browser ({program}: {error}); open the address above");
    }
}
