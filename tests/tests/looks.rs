//! How the page looks: in two themes, two languages and three widths it looks as it did when somebody last looked at it.
//!
//! Ignored by default, as `page`. What is compared is a picture of squares of 8 by 8 pixels, so that another version of the
//! browser or of a font, which moves edges by a pixel, is no difference, and a part that is missing, moved or dark is one.
//! `TIDEGATE_BLESS=1` writes the pictures anew, to be looked at before they are committed.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use tidegate_tests::page::{SOON, Site, browser, no_complaints, open};
use tidegate_tests::webdriver::Browser;

/// Side of a square, in pixels.
const SQUARE: usize = 8;
/// A square differs when one of its colours does by more than this, of 255.
const DIFFERENT: u8 = 32;
/// Squares that may differ, in percent.
const FEW: f64 = 4.0;
/// Widths and heights of the window.
const WINDOWS: [(u32, u32); 3] = [(1440, 900), (900, 1100), (390, 844)];

/// Mean colours of the squares of a picture.
#[derive(Debug)]
struct Squares {
    across: usize,
    down: usize,
    /// Red, green and blue of each, row by row.
    colours: Vec<[u8; 3]>,
}

impl Squares {
    fn of(png: &[u8]) -> Self {
        let (across, down, pixels) = pixels(png);
        let mut squares = Self { across: across / SQUARE, down: down / SQUARE, colours: Vec::new() };
        for at in 0..squares.across * squares.down {
            let (left, top) = (at % squares.across * SQUARE, at / squares.across * SQUARE);
            let inside = (0..SQUARE * SQUARE).map(|i| (top + i / SQUARE) * across + left + i % SQUARE);
            let mut sum = [0_usize; 3];
            for place in inside {
                for (sum, colour) in sum.iter_mut().zip(pixels[place]) {
                    *sum += usize::from(colour);
                }
            }
            squares.colours.push(sum.map(|s| u8::try_from(s / (SQUARE * SQUARE)).expect("a mean of bytes")));
        }
        squares
    }

    /// Squares that differ, in percent; all of them if the sizes do.
    fn difference(&self, other: &Self) -> f64 {
        if (self.across, self.down) != (other.across, other.down) {
            return 100.0;
        }
        let pairs = self.colours.iter().zip(&other.colours);
        let differ = pairs.filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > DIFFERENT));
        100.0 * differ.count() as f64 / self.colours.len() as f64
    }

    fn read(path: &Path) -> Option<Self> {
        let (across, down, colours) = pixels(&std::fs::read(path).ok()?);
        Some(Self { across, down, colours })
    }

    fn write(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let file = BufWriter::new(File::create(path).expect("a file"));
        let size = |n: usize| u32::try_from(n).expect("a picture");
        let mut encoder = png::Encoder::new(file, size(self.across), size(self.down));
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().expect("written");
        writer.write_image_data(self.colours.as_flattened()).expect("written");
    }
}

/// Width, height and colours of a PNG.
fn pixels(png: &[u8]) -> (usize, usize, Vec<[u8; 3]>) {
    let decoder = png::Decoder::new(BufReader::new(std::io::Cursor::new(png)));
    let mut reader = decoder.read_info().expect("a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut bytes).expect("a picture");
    let samples = info.color_type.samples();
    assert!(samples >= 3, "the browser gives colours, not {:?}", info.color_type);
    let colours = bytes[..info.buffer_size()].chunks_exact(samples).map(|p| [p[0], p[1], p[2]]).collect();
    (info.width as usize, info.height as usize, colours)
}

/// Waits until four pictures in a row are the same.
fn still(browser: &Browser) -> Vec<u8> {
    let mut last = browser.screenshot().expect("a picture");
    let mut same = 1;
    for _ in 0..120 {
        std::thread::sleep(std::time::Duration::from_millis(250));
        let next = browser.screenshot().expect("a picture");
        same = if next == last { same + 1 } else { 1 };
        if same == 4 {
            return next;
        }
        last = next;
    }
    panic!("a page that stands still goes on changing");
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/looks").join(format!("{name}.png"))
}

#[test]
#[ignore = "needs a browser and a built page: cargo xtask test"]
fn it_looks_as_it_did_in_both_themes_and_languages_and_three_widths() {
    let site = Site::start();
    let browser = browser();
    let reduced = [("prefers-reduced-motion", "reduce")];
    browser.prefer(&reduced).expect("reduced motion");
    let (mut wrong, mut told_apart) = (Vec::new(), Vec::new());
    for (view, address) in
        [("explore", "#preset=flash-crowd&at=117"), ("compare", "#preset=flash-crowd&at=117&cmp=1")]
    {
        for (width, height) in WINDOWS {
            browser.resize(width, height).expect("a window");
            for theme in ["light", "dark"] {
                for language in ["en", "zh"] {
                    let name = format!("{view}-{width}-{theme}-{language}");
                    open(&browser, &site, &format!("{address}&play=0&theme={theme}&lang={language}"));
                    browser
                        .wait_for(
                            "!document.querySelector('#state') && (document.querySelector('#hash')?.dataset.hash || document.querySelectorAll('.versus canvas').length === 2)",
                            SOON,
                        )
                        .expect("the whole run is computed");
                    let shot = still(&browser);
                    let seen = Squares::of(&shot);
                    if std::env::var_os("TIDEGATE_BLESS").is_some() {
                        seen.write(&golden(&name));
                        continue;
                    }
                    let known = Squares::read(&golden(&name)).unwrap_or_else(|| panic!("no picture {name}"));
                    let percent = seen.difference(&known);
                    told_apart.push((name.clone(), known));
                    if percent > FEW {
                        let whole = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
                        std::fs::write(&whole, &shot).expect("a file");
                        wrong.push(format!("{name}: {percent:.1} % of it differ; it is {}", whole.display()));
                    }
                }
            }
        }
    }
    no_complaints(&browser);
    assert!(
        wrong.is_empty(),
        "look at these, and set TIDEGATE_BLESS=1 if they are right:\n{}",
        wrong.join("\n")
    );
    // Pictures of other views, themes and widths are told apart, or the comparison would be worth nothing. Two languages may
    // be alike: little of the page is text.
    let but_language = |name: &str| name.rsplit_once('-').map(|(all, _)| all.to_owned());
    for (i, (name, one)) in told_apart.iter().enumerate() {
        for (other, two) in told_apart[..i].iter().filter(|(o, _)| but_language(o) != but_language(name)) {
            let percent = one.difference(two);
            assert!(percent > FEW, "{name} and {other} differ by {percent:.1} % only");
        }
    }
}
