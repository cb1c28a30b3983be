//! The palettes, and what makes a class recognisable without its colour: a mark and a pattern.
//!
//! Colour belongs to requests: hue means a class, or loss. Everything else is ink on paper. From four
//! classes on colour alone is not enough for every eye, so the mark and the pattern always go with it.

/// Shape of a class's requests, by rank of its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Highest priority.
    Circle,
    /// Second.
    Diamond,
    /// Third.
    Square,
    /// Fourth.
    Triangle,
    /// Fifth.
    Plus,
    /// Sixth.
    Ring,
}

/// How a class's areas are filled, by rank of its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    /// Without a pattern.
    Solid,
    /// Lines from left bottom to right top, 8 px apart.
    Rising,
    /// Dots, 4 px apart.
    Dots,
    /// Horizontal lines.
    Level,
    /// Lines from left top to right bottom.
    Falling,
    /// Checkers.
    Checker,
}

/// How one class looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassStyle {
    /// CSS colour of marks, bars and lines; never of text.
    pub colour: &'static str,
    /// Shape of its requests.
    pub mark: Mark,
    /// Filling of its areas.
    pub pattern: Pattern,
}

/// Every colour of the picture. The names are those of the page's style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Distinguishes themes, for caches.
    pub name: &'static str,
    /// Application background.
    pub paper: &'static str,
    /// Background of the picture.
    pub sheet: &'static str,
    /// Lanes and empty bars.
    pub water: &'static str,
    /// Text, averages, the playhead.
    pub ink: &'static str,
    /// Gate bars, the balancer.
    pub ink_2: &'static str,
    /// Captions, axis numbers.
    pub ink_3: &'static str,
    /// Hairlines.
    pub line: &'static str,
    /// Dividers.
    pub line_2: &'static str,
    /// Turned away, down, over a limit.
    pub loss: &'static str,
    /// The six class looks, highest priority first.
    pub classes: [ClassStyle; 6],
}

const fn styles(colours: [&'static str; 6]) -> [ClassStyle; 6] {
    let [a, b, c, d, e, f] = colours;
    [
        ClassStyle { colour: a, mark: Mark::Circle, pattern: Pattern::Solid },
        ClassStyle { colour: b, mark: Mark::Diamond, pattern: Pattern::Rising },
        ClassStyle { colour: c, mark: Mark::Square, pattern: Pattern::Dots },
        ClassStyle { colour: d, mark: Mark::Triangle, pattern: Pattern::Level },
        ClassStyle { colour: e, mark: Mark::Plus, pattern: Pattern::Falling },
        ClassStyle { colour: f, mark: Mark::Ring, pattern: Pattern::Checker },
    ]
}

impl Theme {
    /// Ink on paper.
    pub const LIGHT: Self = Self {
        name: "light",
        paper: "#F4F1E9",
        sheet: "#FCFBF7",
        water: "#E4EEF0",
        ink: "#14222A",
        ink_2: "#46565F",
        ink_3: "#626F76",
        line: "#DFDACD",
        line_2: "#BFB9AA",
        loss: "#B3200F",
        classes: styles(["#1C3C9C", "#BF6C05", "#A34D95", "#2A967D", "#4E3A6B", "#7B8A52"]),
    };

    /// The same chart at night.
    pub const DARK: Self = Self {
        name: "dark",
        paper: "#0A1216",
        sheet: "#0E191E",
        water: "#13262E",
        ink: "#E8EFEC",
        ink_2: "#A6B6B9",
        ink_3: "#84979C",
        line: "#1F2F37",
        line_2: "#37494F",
        loss: "#FF5F4C",
        classes: styles(["#9CBFF9", "#F7C64A", "#C67FBE", "#2FC2A8", "#9B78F2", "#B0B559"]),
    };

    /// For forced colours: the system's two colours, and the shapes.
    pub const FORCED: Self = Self {
        name: "forced",
        paper: "Canvas",
        sheet: "Canvas",
        water: "Canvas",
        ink: "CanvasText",
        ink_2: "CanvasText",
        ink_3: "CanvasText",
        line: "GrayText",
        line_2: "GrayText",
        loss: "CanvasText",
        classes: styles(["CanvasText"; 6]),
    };

    /// The look of the class at `rank` (0 is the highest priority). Beyond six the looks repeat.
    #[must_use]
    pub const fn class(&self, rank: usize) -> &ClassStyle {
        &self.classes[rank % self.classes.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance after WCAG 2.
    fn luminance(colour: &str) -> f64 {
        let channel = |i: usize| {
            let c = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).expect("#RRGGBB")) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn marks_stand_out_from_the_water_and_text_from_the_paper() {
        for theme in [Theme::LIGHT, Theme::DARK] {
            for class in theme.classes {
                let got = contrast(class.colour, theme.water);
                assert!(got >= 3.0, "{} on water is {got:.2} in {}", class.colour, theme.name);
            }
            for text in [theme.ink, theme.ink_2, theme.ink_3, theme.loss] {
                let got = contrast(text, theme.paper);
                assert!(got >= 4.5, "{text} on paper is {got:.2} in {}", theme.name);
            }
        }
    }

    #[test]
    fn no_two_of_six_classes_share_a_mark_or_a_pattern() {
        for a in 0..6 {
            for b in 0..a {
                let (a, b) = (Theme::LIGHT.class(a), Theme::LIGHT.class(b));
                assert!(a.mark != b.mark && a.pattern != b.pattern && a.colour != b.colour);
            }
        }
    }
}
