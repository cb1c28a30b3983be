//! A text as a QR code, drawn as one path.

use core::fmt::Write;
use qrcodegen::{QrCode, QrCodeEcc};

/// Empty modules around it, as the standard asks for.
const QUIET: i32 = 4;

/// Side in modules, quiet zone included, and the dark modules as the `d` of an SVG path; `None` if the text is too long.
///
/// The code with the least redundancy is the smallest, and is made as safe as its size allows.
pub(crate) fn path(text: &str) -> Option<(i32, String)> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low).ok()?;
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let from = x;
            while x < code.size() && code.get_module(x, y) {
                x += 1;
            }
            if x > from {
                // Writing to a String cannot fail.
                let _ = write!(path, "M{} {}h{}v1H{}z", from + QUIET, y + QUIET, x - from, from + QUIET);
            }
            x += 1;
        }
    }
    Some((code.size() + 2 * QUIET, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most bytes that the largest code carries.
    const MOST_BYTES: usize = 2_953;

    #[test]
    fn the_path_covers_exactly_the_dark_modules() {
        let text = "https://example.org/play/#t1z.abc-_.0123456&at=12.5";
        let (side, path) = path(text).expect("short");
        let code = QrCode::encode_text(text, QrCodeEcc::Low).expect("short");
        let mut dark = vec![vec![false; side as usize]; side as usize];
        for run in path.split('M').skip(1) {
            let (x, rest) = run.split_once(' ').expect("x");
            let (y, rest) = rest.split_once('h').expect("y");
            let (w, _) = rest.split_once('v').expect("w");
            let [x, y, w] = [x, y, w].map(|n| n.parse::<usize>().expect("a number"));
            dark[y][x..x + w].fill(true);
        }
        for y in 0..side {
            for x in 0..side {
                let want = code.get_module(x - QUIET, y - QUIET);
                assert_eq!(dark[y as usize][x as usize], want, "at {x}, {y}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_has_none() {
        assert!(path(&"x".repeat(MOST_BYTES)).is_some());
        assert!(path(&"x".repeat(MOST_BYTES + 1)).is_none());
    }
}
