//! One folder, and nothing outside it.
//!
//! `cap-std` opens every file relative to the open folder and has the kernel refuse a way that leads out of it, be it by
//! a symbolic link, by `..`, or by a folder that is swapped for a link at that very moment. Checking a path first and
//! opening it then would leave a gap between the two. A link may lead to another place inside if it is relative.
//!
//! Only regular files are opened: a pipe or a device would block whoever reads it.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tokio::io::{AsyncRead, AsyncSeek, ReadBuf};
use tokio::sync::Semaphore;
use tower_http::services::fs::{Backend, File, Metadata};

/// Looked up or opened at once. A call that the disk does not answer cannot be taken back, so whoever gives up waiting
/// leaves it behind; this bounds how many there can be.
const AT_ONCE: usize = 256;

/// The served folder. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Rooted {
    dir: Arc<Dir>,
    turns: Arc<Semaphore>,
}

/// An open regular file.
#[derive(Debug)]
pub(super) struct Opened {
    file: tokio::fs::File,
    about: About,
}

/// What is known about a file or folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    is_dir: bool,
    length: u64,
    modified: Option<SystemTime>,
}

type Answer<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

impl Rooted {
    /// Opens a folder to serve from.
    ///
    /// # Errors
    /// If it is none, or cannot be read.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(folder, ambient_authority())?;
        // Opening needs less than reading; whoever may not read it should hear of it now.
        dir.entries()?;
        Ok(Self { dir: Arc::new(dir), turns: Arc::new(Semaphore::new(AT_ONCE)) })
    }

    /// Length of a regular file, in bytes.
    ///
    /// # Errors
    /// If there is no such file.
    pub(super) async fn length(&self, path: &Path) -> io::Result<u64> {
        let path = path.to_owned();
        let about = self.on_disk(move |dir| about(dir, &path)).await?;
        if about.is_dir { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(about.length) }
    }

    /// Runs `work` where it may wait for the disk, when it is its turn.
    fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Dir) -> io::Result<T> + Send + 'static,
    ) -> Answer<T> {
        let Self { dir, turns } = self.clone();
        Box::pin(async move {
            let turn = turns.acquire_owned().await.map_err(io::Error::other)?;
            let done = tokio::task::spawn_blocking(move || {
                let done = work(&dir);
                drop(turn);
                done
            });
            done.await.unwrap_or_else(|error| Err(io::Error::other(error)))
        })
    }
}

/// Whether an error says that there is no file to be had here: none of that name, none that may be read, or one outside.
pub(super) fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{
        InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied,
    };
    matches!(
        error.kind(),
        NotFound | PermissionDenied | NotADirectory | IsADirectory | InvalidFilename | InvalidInput
    )
}

/// What lies at `path`; nothing, if it is neither a regular file nor a folder.
fn about(dir: &Dir, path: &Path) -> io::Result<About> {
    let metadata = dir.metadata(path)?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    Ok(About { is_dir: metadata.is_dir(), length: metadata.len(), modified })
}

fn open(dir: &Dir, path: &Path) -> io::Result<Opened> {
    // Opening a pipe would wait for a writer, so it is looked at before.
    if about(dir, path)?.is_dir {
        return Err(io::ErrorKind::NotFound.into());
    }
    let file = dir.open(path)?.into_std();
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let about = About { is_dir: false, length: metadata.len(), modified: metadata.modified().ok() };
    Ok(Opened { file: tokio::fs::File::from_std(file), about })
}

impl Backend for Rooted {
    type File = Opened;
    type Metadata = About;
    type OpenFuture = Answer<Opened>;
    type MetadataFuture = Answer<About>;

    fn open(&self, path: PathBuf) -> Self::OpenFuture {
        self.on_disk(move |dir| open(dir, &path))
    }

    fn metadata(&self, path: PathBuf) -> Self::MetadataFuture {
        self.on_disk(move |dir| about(dir, &path))
    }
}

impl Metadata for About {
    fn is_dir(&self) -> bool {
        self.is_dir
    }

    fn modified(&self) -> io::Result<SystemTime> {
        self.modified.ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    fn len(&self) -> u64 {
        self.length
    }
}

impl File for Opened {
    type Metadata = About;
    type MetadataFuture<'a> = std::future::Ready<io::Result<About>>;

    fn metadata(&self) -> Self::MetadataFuture<'_> {
        std::future::ready(Ok(self.about))
    }
}

impl AsyncRead for Opened {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.file).poll_read(cx, buffer)
    }
}

impl AsyncSeek for Opened {
    fn start_seek(mut self: Pin<&mut Self>, position: io::SeekFrom) -> io::Result<()> {
        Pin::new(&mut self.file).start_seek(position)
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Pin::new(&mut self.file).poll_complete(cx)
    }
}
