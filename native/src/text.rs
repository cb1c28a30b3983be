//! Text for people: aligned tables, numbers with units, and no digit that the run does not support.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr as _;

/// Headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// What asks for attention.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// What is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();

/// `text` in a style.
pub(crate) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A table under construction: columns as wide as their widest cell, names to the left, figures to the right.
pub(crate) struct Table {
    head: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

struct Column {
    name: String,
    right: bool,
}

/// One cell: text and style.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell in a style.
    pub(crate) fn styled(style: Style, text: impl Into<String>) -> Self {
        Self { text: text.into(), style }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), style: Style::new() }
    }
}

impl Table {
    /// A table with these column names; a name that begins with `<` is of a column of text.
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let column = |name: &str| match name.strip_prefix('<') {
            Some(name) => Column { name: name.to_owned(), right: false },
            None => Column { name: name.to_owned(), right: true },
        };
        Self { head: names.into_iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table as lines, indented by two spaces, each with its line end.
    pub(crate) fn render(&self) -> String {
        let width = |i: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.text.width());
            cells.chain([self.head[i].name.width()]).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.head.len()).map(width).collect();
        let mut out = String::new();
        let head: Vec<_> = self.head.iter().map(|column| Cell::styled(BOLD, column.name.as_str())).collect();
        for row in std::iter::once(&head).chain(&self.rows) {
            let mut line = String::new();
            for ((cell, column), &width) in row.iter().zip(&self.head).zip(&widths) {
                let gap = " ".repeat(width - cell.text.width());
                let shown =
                    if cell.style.is_plain() { cell.text.clone() } else { styled(cell.style, &cell.text) };
                let _ = if column.right {
                    write!(line, "  {gap}{shown}")
                } else {
                    write!(line, "  {shown}{gap}")
                };
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// A time in seconds, with three digits and its unit: `2.31 ms`.
pub(crate) fn time(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 s".into();
    }
    let (scale, unit) = unit_of(seconds);
    format!("{} {unit}", digits3(seconds * scale))
}

/// A time of which only the order of magnitude and a digit more is known: `~2.3 ms`.
pub(crate) fn roughly(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 s".into();
    }
    let (scale, unit) = unit_of(seconds);
    let value = seconds * scale;
    let decimals = usize::from(value < 9.95);
    // From 100 on the third digit goes too: 123 ms is about 120.
    let shown = if value >= 99.5 { (value / 10.0).round() * 10.0 } else { value };
    format!("~{shown:.decimals$} {unit}")
}

/// A mean time with half the width of its interval, in digits that the width supports: `2.31 ± 0.08 ms`.
pub(crate) fn time_within(mean: f64, half_width: f64) -> String {
    let (scale, unit) = unit_of(mean.abs().max(half_width));
    let decimals = supported_decimals(half_width * scale);
    format!("{:.decimals$} ± {:.decimals$} {unit}", mean * scale, half_width * scale)
}

/// A count of which two digits are known: `~37`, `~1,200`.
pub(crate) fn roughly_whole(n: u32) -> String {
    let step = 10_u32.pow(n.checked_ilog10().unwrap_or(0).saturating_sub(1));
    format!("~{}", grouped(f64::from(n.div_ceil(step) * step)))
}

fn unit_of(seconds: f64) -> (f64, &'static str) {
    let size = seconds.abs();
    if size == 0.0 || size >= 1.0 {
        (1.0, "s")
    } else if size >= 1e-3 {
        (1e3, "ms")
    } else if size >= 1e-6 {
        (1e6, "µs")
    } else {
        (1e9, "ns")
    }
}

/// Decimals that show the first digit of `half_width`, or its first two if the first is a 1.
fn supported_decimals(half_width: f64) -> usize {
    if half_width <= 0.0 || !half_width.is_finite() {
        return 3;
    }
    let exponent = half_width.log10().floor();
    let leading = half_width / 10_f64.powf(exponent);
    let decimals = if leading < 2.0 { 1.0 - exponent } else { -exponent };
    decimals.clamp(0.0, 9.0) as usize
}

/// Three significant digits, without an exponent; whole numbers from 100 on, grouped.
pub(crate) fn digits3(x: f64) -> String {
    let size = x.abs();
    if !x.is_finite() {
        "-".into()
    } else if size >= 99.95 {
        grouped(x)
    } else if size >= 9.995 {
        format!("{x:.1}")
    } else if size >= 0.9995 || size == 0.0 {
        format!("{x:.2}")
    } else if size >= 0.0995 {
        format!("{x:.3}")
    } else {
        format!("{x:.4}")
    }
}

/// A whole number with its thousands set apart: `4,012,333`.
pub(crate) fn grouped(x: f64) -> String {
    let plain = format!("{x:.0}");
    let (sign, plain) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (i, digit) in plain.chars().enumerate() {
        if i > 0 && (plain.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share as percent: `12.3 %`; what is not zero never reads as zero.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 0.05 => "<0.1 %".into(),
        p if p < 100.0 && p > 99.95 => ">99.9 %".into(),
        p => format!("{p:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_end_where_the_interval_begins() {
        assert_eq!(time_within(0.002_314_1, 0.000_084), "2.31 ± 0.08 ms");
        assert_eq!(time_within(0.002_314_1, 0.000_014), "2.314 ± 0.014 ms");
        assert_eq!(time_within(12.345, 3.2), "12 ± 3 s");
        assert_eq!(time_within(0.0, 0.0), "0.000 ± 0.000 s");
    }

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (seconds, want) in [
            (0.0, "0 s"),
            (0.002_31, "2.31 ms"),
            (0.000_000_5, "500 ns"),
            (0.000_123_4, "123 µs"),
            (61.23, "61.2 s"),
            (12_345.0, "12,345 s"),
        ] {
            assert_eq!(time(seconds), want);
        }
    }

    #[test]
    fn what_is_roughly_known_has_two_digits() {
        for (seconds, want) in
            [(0.002_314, "~2.3 ms"), (0.023_14, "~23 ms"), (0.231_4, "~230 ms"), (0.0, "0 s")]
        {
            assert_eq!(roughly(seconds), want);
        }
    }

    #[test]
    fn a_rough_count_is_rounded_up_to_two_digits() {
        for (n, want) in [(0, "~0"), (7, "~7"), (37, "~37"), (321, "~330"), (1_101, "~1,200")] {
            assert_eq!(roughly_whole(n), want);
        }
    }

    #[test]
    fn a_small_share_is_not_shown_as_none() {
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(0.000_1), "<0.1 %");
        assert_eq!(percent(0.999_9), ">99.9 %");
        assert_eq!(percent(1.0), "100.0 %");
    }

    #[test]
    fn thousands_are_set_apart() {
        for (x, want) in [(0.0, "0"), (999.0, "999"), (1_000.0, "1,000"), (-1_234_567.0, "-1,234,567")] {
            assert_eq!(grouped(x), want);
        }
    }

    #[test]
    fn columns_line_up_whatever_the_width_of_a_letter() {
        let mut table = Table::new(["<class", "wait"]);
        table.row(["gold".into(), "1.00 ms".into()]);
        table.row(["银".into(), Cell::styled(WARN, "run longer")]);
        let plain = anstream::adapter::strip_str(&table.render()).to_string();
        assert_eq!(plain, "  class        wait\n  gold      1.00 ms\n  银     run longer\n");
    }
}
