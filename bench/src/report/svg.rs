//! Charts as SVG, each for a light page and a dark one: lines over logarithmic axes, and bars.

use std::fmt::Write as _;

/// Colours of a page. Those of series are apart for eyes that confuse red and green too: after
/// Okabe and Ito, "Color Universal Design", 2008, and lighter for the dark page.
pub struct Theme {
    /// As in the names of files.
    pub name: &'static str,
    paper: &'static str,
    ink: &'static str,
    muted: &'static str,
    rule: &'static str,
    series: [&'static str; 8],
}

/// The two pages.
pub const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        paper: "#ffffff",
        ink: "#1f2328",
        muted: "#59636e",
        rule: "#dfe3e8",
        series: [
            "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7a5195", "#59636e",
        ],
    },
    Theme {
        name: "dark",
        paper: "#0d1117",
        ink: "#e6edf3",
        muted: "#9198a1",
        rule: "#2a313a",
        series: [
            "#58b4ff", "#ff8a4c", "#3fcf9f", "#eaa0cb", "#e3c04a", "#a5d8f5", "#b79be0", "#9198a1",
        ],
    },
];

/// The number of a colour.
pub type Colour = usize;

const FONT: &str = "font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\"";

/// A line, or points, of one name.
pub struct Series {
    /// Right of the chart, at the height of its end; of dots and bounds, beside that.
    pub name: String,
    /// Of the line and the name.
    pub colour: Colour,
    /// Of the line: thicker, dashed or none.
    pub stroke: Stroke,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
}

/// How the points of a series are joined.
#[derive(Clone, Copy, PartialEq)]
pub enum Stroke {
    /// What the chart is about.
    Strong,
    /// What it is compared with.
    Thin,
    /// One of two that belong together.
    Dashed,
    /// What bounds the others, rising: the name is left of its end.
    BoundFromLeft,
    /// The same, with the name right of it.
    BoundFromRight,
    /// Not joined: dots.
    Dots,
}

/// Series over two axes, both logarithmic.
pub struct Lines {
    /// What it shows.
    pub title: String,
    /// Of the lower axis, and the units.
    pub x: Axis,
    /// Of the left axis, and the units.
    pub y: Axis,
    /// In the order of drawing.
    pub series: Vec<Series>,
    /// Circles, where lines cross.
    pub marks: Vec<(f64, f64)>,
}

/// An axis.
pub struct Axis {
    /// What it counts.
    pub name: &'static str,
    /// Least and most.
    pub range: (f64, f64),
    /// Where there is a rule, and what stands there.
    pub ticks: Vec<(f64, String)>,
    /// Whether each decade is as wide as the others.
    pub is_logarithmic: bool,
}

impl Axis {
    /// Where a value lies between the ends, 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.is_logarithmic { value.ln() } else { value };
        let (least, most) = (scaled(self.range.0), scaled(self.range.1));
        (scaled(value) - least) / (most - least)
    }
}

impl Lines {
    /// The chart on one of the pages.
    pub fn to_svg(&self, theme: &Theme) -> String {
        let (left, top, width, height) = (64.0, 66.0, 500.0, 310.0);
        let at = |(x, y): (f64, f64)| {
            (left + self.x.place(x) * width, top + (1.0 - self.y.place(y)) * height)
        };
        let mut svg = Svg::new(theme, 760.0, 430.0, &self.title);
        for (value, name) in &self.x.ticks {
            let (x, _) = at((*value, self.y.range.0));
            svg.rule((x, top), (x, top + height));
            svg.text((x, top + height + 18.0), "middle", 12, theme.muted, name);
        }
        for (value, name) in &self.y.ticks {
            let (_, y) = at((self.x.range.0, *value));
            svg.rule((left, y), (left + width, y));
            svg.text((left - 8.0, y + 4.0), "end", 12, theme.muted, name);
        }
        svg.text((left + width / 2.0, top + height + 40.0), "middle", 12, theme.ink, self.x.name);
        svg.text((left, top - 10.0), "start", 12, theme.ink, self.y.name);
        let mut names = Vec::new();
        for series in &self.series {
            let points: Vec<_> = series.points.iter().map(|point| at(*point)).collect();
            let Some((x, y)) = points.last() else { continue };
            svg.series(&points, theme.series[series.colour], series.stroke);
            match series.stroke {
                Stroke::Dots => {
                    svg.text((x + 8.0, y + 14.0), "start", 12, theme.ink, &series.name);
                }
                Stroke::BoundFromLeft => {
                    svg.text((x - 40.0, y + 20.0), "end", 12, theme.muted, &series.name);
                }
                Stroke::BoundFromRight => {
                    svg.text((x + 8.0, y + 20.0), "start", 12, theme.muted, &series.name);
                }
                _ => names.push((*y, series)),
            }
        }
        for mark in &self.marks {
            let (x, y) = at(*mark);
            let _ = writeln!(
                svg.body,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"none\" stroke=\"{}\" \
                 stroke-width=\"1.5\"/>",
                theme.ink
            );
        }
        for (y, series) in apart(names, 16.0) {
            let colour = theme.series[series.colour];
            svg.text((left + width + 10.0, y + 4.0), "start", 12, colour, &series.name);
        }
        svg.close()
    }
}

/// Moves names that would lie on each other apart, from the top down.
fn apart<T>(mut names: Vec<(f64, T)>, least: f64) -> Vec<(f64, T)> {
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut above = f64::NEG_INFINITY;
    for (y, _) in &mut names {
        *y = y.max(above + least);
        above = *y;
    }
    names
}

/// A bar.
pub struct Bar {
    /// Left of it.
    pub name: String,
    /// Of the bar.
    pub colour: Colour,
    /// Its length.
    pub value: f64,
    /// In it, or right of it.
    pub label: String,
}

/// Bars that belong together, under a heading.
pub struct Group {
    /// What they are of.
    pub name: String,
    /// From the top down.
    pub bars: Vec<Bar>,
    /// A line across them, and its name: what is possible.
    pub limit: Option<(f64, String)>,
}

/// Groups of bars from one axis.
pub struct Bars {
    /// What it shows, and whether more is better.
    pub title: String,
    /// From the top down.
    pub groups: Vec<Group>,
}

impl Bars {
    /// The chart on one of the pages.
    pub fn to_svg(&self, theme: &Theme) -> String {
        const ROW: f64 = 20.0;
        const HEADING: f64 = 30.0;
        let (left, width) = (100.0, 560.0);
        let rows: usize = self.groups.iter().map(|group| group.bars.len()).sum();
        let height = 56.0 + self.groups.len() as f64 * HEADING + rows as f64 * ROW;
        let values = self.groups.iter().flat_map(|group| {
            let limit = group.limit.iter().map(|(value, _)| *value);
            group.bars.iter().map(|bar| bar.value).chain(limit)
        });
        let most = values.fold(f64::MIN_POSITIVE, f64::max);
        let mut svg = Svg::new(theme, 760.0, height, &self.title);
        let mut y = 40.0;
        for group in &self.groups {
            svg.text((16.0, y + 20.0), "start", 13, theme.ink, &group.name);
            y += HEADING;
            let top = y;
            for bar in &group.bars {
                let length = (bar.value / most * width).max(1.0);
                svg.text((left - 8.0, y + 14.0), "end", 12, theme.muted, &bar.name);
                let _ = writeln!(
                    svg.body,
                    "<rect x=\"{left}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"14\" rx=\"2\" \
                     fill=\"{}\"/>",
                    y + 3.0,
                    theme.series[bar.colour]
                );
                // Within the bar where there is room, out of the way of the limit.
                let (x, anchor, ink) = if length > 80.0 {
                    (left + length - 6.0, "end", theme.paper)
                } else {
                    (left + length + 6.0, "start", theme.ink)
                };
                svg.text((x, y + 14.0), anchor, 12, ink, &bar.label);
                y += ROW;
            }
            if let Some((value, name)) = &group.limit {
                let x = left + value / most * width;
                let _ = writeln!(
                    svg.body,
                    "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{y:.1}\" stroke=\"{}\" \
                     stroke-width=\"1.5\" stroke-dasharray=\"4 3\"/>",
                    top - 4.0,
                    theme.ink
                );
                svg.text((x, top - 8.0), "middle", 12, theme.muted, name);
            }
        }
        svg.close()
    }
}

/// A picture in the making.
struct Svg {
    body: String,
    rule: &'static str,
}

impl Svg {
    fn new(theme: &Theme, width: f64, height: f64, title: &str) -> Svg {
        let title_text = escaped(title);
        let body = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" {FONT}>\n\
             <title>{title_text}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
            theme.paper
        );
        let mut svg = Svg { body, rule: theme.rule };
        svg.text((16.0, 24.0), "start", 15, theme.ink, title);
        svg
    }

    fn text(&mut self, (x, y): (f64, f64), anchor: &str, size: u32, colour: &str, text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" \
             fill=\"{colour}\">{text}</text>"
        );
    }

    fn rule(&mut self, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.body,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{}\"/>",
            from.0, from.1, to.0, to.1, self.rule
        );
    }

    fn series(&mut self, points: &[(f64, f64)], colour: &str, stroke: Stroke) {
        if stroke == Stroke::Dots {
            for (x, y) in points {
                let _ = writeln!(
                    self.body,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>"
                );
            }
            return;
        }
        let places: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let style = match stroke {
            Stroke::Strong => "stroke-width=\"2.5\"",
            Stroke::Dashed | Stroke::BoundFromLeft | Stroke::BoundFromRight => {
                "stroke-width=\"1.5\" stroke-dasharray=\"5 4\""
            }
            _ => "stroke-width=\"1.5\"",
        };
        let _ = writeln!(
            self.body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-linejoin=\"round\" \
             {style}/>",
            places.join(" ")
        );
    }

    fn close(mut self) -> String {
        self.body += "</svg>\n";
        self.body
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
