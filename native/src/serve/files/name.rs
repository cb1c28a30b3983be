//! Which paths name a file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A path of plain names below the served folder.
///
/// Anything else names no file: a segment that is empty, `.` or `..`, that begins with a dot (such files are not served),
/// or that has a backslash or a colon (which mean something elsewhere), or a separator or NUL behind a percent sign. The
/// classifier compares paths in one spelling; with these out of the way, the file that is sent is the file that was
/// classified.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name(PathBuf);

impl Name {
    /// The file that the path of a request names; the folder's `index.html` if it ends with `/`.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.strip_prefix('/')?;
        let (folders, last) =
            path.rsplit_once('/').map_or((None, path), |(folders, last)| (Some(folders), last));
        let mut file = PathBuf::new();
        for folder in folders.into_iter().flat_map(|folders| folders.split('/')) {
            file.push(plain(folder)?.as_ref());
        }
        file.push(if last.is_empty() { Cow::Borrowed("index.html") } else { plain(last)? }.as_ref());
        Some(Self(file))
    }

    /// Relative to the served folder.
    pub(super) fn file(&self) -> &Path {
        &self.0
    }
}

/// A segment, decoded, if it is a name and nothing else.
fn plain(segment: &str) -> Option<Cow<'_, str>> {
    let name = decoded(segment)?;
    let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0']);
    is_plain.then_some(name)
}

/// A segment without percent signs; `None` if it is not UTF-8 or a percent sign has no two digits behind it.
pub(crate) fn decoded(segment: &str) -> Option<Cow<'_, str>> {
    if !segment.contains('%') {
        return Some(segment.into());
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' { digit(rest.next()?)? << 4 | digit(rest.next()?)? } else { byte });
    }
    String::from_utf8(bytes).ok().map(Cow::from)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_plain_names_name_a_file() {
        for (path, file) in [
            ("/", Some("index.html")),
            ("/a", Some("a")),
            ("/a/", Some("a/index.html")),
            ("/a/b.txt", Some("a/b.txt")),
            ("/%61/b%20c", Some("a/b c")),
            ("/%C3%A9", Some("é")),
            ("/a..b", Some("a..b")),
            ("/..", None),
            ("/../a", None),
            ("/a/../b", None),
            ("/%2e%2E/a", None),
            ("/.", None),
            ("/./a", None),
            ("/.env", None),
            ("/%2eenv", None),
            ("/.git/config", None),
            ("//etc/passwd", None),
            ("/a//b", None),
            ("//", None),
            ("/a%2fb", None),
            ("/a%5Cb", None),
            ("/a%00b", None),
            ("/c:/windows", None),
            ("/%ff", None),
            ("/%", None),
            ("/%6", None),
            ("/%+1", None),
            ("", None),
            ("*", None),
            ("a", None),
        ] {
            assert_eq!(Name::of(path).as_ref().map(Name::file), file.map(Path::new), "{path}");
        }
    }
}
