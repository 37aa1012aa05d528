//! Charts as SVG, each for a light page and a dark one: lines over two axes, and bars. Drawn by
//! plotters, twice as large as they are shown: it knows whole pixels only.

use std::f64::consts::PI;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::element::{DashedPathElement, IntoDynElement};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
type Point = (f64, f64);
type Place = (i32, i32);

/// Colours of a page. The colours of series also differ for eyes that confuse red and green: after
/// Okabe and Ito, "Color Universal Design", 2008, and lighter for the dark page.
pub struct Theme {
    /// The name in the names of files.
    pub name: &'static str,
    paper: RGBColor,
    ink: RGBColor,
    muted: RGBColor,
    rule: RGBColor,
    series: [u32; 8],
}

const fn rgb(hex: u32) -> RGBColor {
    RGBColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// The two pages.
pub const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        paper: rgb(0xffffff),
        ink: rgb(0x1f2328),
        muted: rgb(0x59636e),
        rule: rgb(0xdfe3e8),
        series: [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0x8a6d00, 0x56b4e9, 0x7a5195, 0x59636e],
    },
    Theme {
        name: "dark",
        paper: rgb(0x0d1117),
        ink: rgb(0xe6edf3),
        muted: rgb(0x9198a1),
        rule: rgb(0x2a313a),
        series: [0x58b4ff, 0xff8a4c, 0x3fcf9f, 0xeaa0cb, 0xe3c04a, 0xa5d8f5, 0xb79be0, 0x9198a1],
    },
];

/// The number of a colour.
pub type Colour = usize;

const FONT: &str = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";

/// A line, or points, of one name.
pub struct Series {
    /// In the legend.
    pub name: String,
    /// Colour of the line.
    pub colour: Colour,
    /// Style of the line: thicker, thin or dashed.
    pub stroke: Stroke,
    /// From left to right.
    pub points: Vec<Point>,
}

/// How the points of a series are joined.
#[derive(Clone, Copy, PartialEq)]
pub enum Stroke {
    /// Series that the chart is about.
    Strong,
    /// Series that it is compared with.
    Thin,
    /// One of two that belong together.
    Dashed,
}

/// Series over two axes.
pub struct Lines {
    /// Title.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From the bottom up.
    pub y: Axis,
    /// Drawn one over the other, in this order.
    pub series: Vec<Series>,
    /// Circles, for points that are spoken of.
    pub marks: Vec<Point>,
    /// Points with a number, whose names are listed on the right.
    pub dots: Vec<Dot>,
}

/// A point with a name.
pub struct Dot {
    /// In the list, after its number.
    pub name: String,
    /// Colour of the point.
    pub colour: Colour,
    /// Where it is.
    pub at: Point,
    /// The height of its own upper bound: a line up to a bar there.
    pub roof: Option<f64>,
}

/// An axis and its labels.
#[derive(Clone)]
pub struct Axis {
    /// Unit.
    pub name: &'static str,
    /// Its ends.
    pub range: Point,
    /// Values, and their names.
    pub ticks: Vec<(f64, String)>,
    /// Whether equal distances are equal ratios.
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

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (self.place(*value) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let ticks = self.ticks.iter().filter(|_| !hint.weight().allow_light_points());
        ticks.map(|tick| tick.0).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.0..self.range.1
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|tick| tick.0 == *value);
        tick.map_or(String::new(), |tick| tick.1.clone())
    }
}

impl Lines {
    /// The chart on one of the pages.
    pub fn to_svg(&self, theme: &Theme) -> String {
        let height = if self.dots.is_empty() { 430 } else { 480 };
        drawn(theme, (760, height), &self.title, |area| self.draw(theme, area))
    }

    fn draw(&self, theme: &Theme, area: &Area) -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .margin_top(132)
            .margin_right(if self.dots.is_empty() { 72 } else { 470 })
            .margin_bottom(18)
            .x_label_area_size(90)
            .y_label_area_size(128)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        chart
            .configure_mesh()
            .bold_line_style(theme.rule.stroke_width(2))
            .light_line_style(TRANSPARENT)
            .axis_style(theme.rule)
            .label_style(style(12, &theme.muted, HPos::Center))
            .axis_desc_style(style(12, &theme.ink, HPos::Center))
            .x_desc(self.x.name)
            .draw()?;
        area.draw_text(self.y.name, &style(12, &theme.ink, HPos::Left), (128, 106))?;
        for series in &self.series {
            let points = series.points.clone();
            if points.is_empty() {
                continue;
            }
            let (stroke, colour) = (series.stroke, rgb(theme.series[series.colour]));
            let line = chart.draw_series([path(points, stroke, colour)])?.label(&series.name);
            line.legend(move |(x, y)| path(vec![(x, y), (x + 56, y)], stroke, colour).into_dyn());
        }
        let marks = self.marks.iter().map(|mark| Circle::new(*mark, 10, theme.ink.stroke_width(3)));
        chart.draw_series(marks)?;
        for (dot, colour) in self.dots.iter().map(|dot| (dot, rgb(theme.series[dot.colour]))) {
            if let Some((x, y)) = dot.roof.map(|roof| chart.backend_coord(&(dot.at.0, roof))) {
                let (own, line) = (chart.backend_coord(&dot.at), colour.stroke_width(2));
                area.draw(&PathElement::new(vec![own, (x, y)], line))?;
                area.draw(&PathElement::new(vec![(x - 9, y), (x + 9, y)], line.stroke_width(4)))?;
            }
            chart.draw_series([Circle::new(dot.at, 8, colour.filled())])?;
        }
        let places: Vec<Place> = self.dots.iter().map(|dot| chart.backend_coord(&dot.at)).collect();
        let numbers = beside(&places);
        for (i, (dot, at)) in self.dots.iter().zip(numbers).enumerate() {
            let (number, line) = (format!("{}", i + 1), 140 + 38 * i as i32);
            let colour = rgb(theme.series[dot.colour]);
            area.draw_text(&number, &style(11, &theme.ink, HPos::Center), at)?;
            area.draw_text(&number, &style(11, &theme.ink, HPos::Right), (1110, line))?;
            area.draw(&Circle::new((1130, line), 8, colour.filled()))?;
            area.draw_text(&dot.name, &style(11, &theme.ink, HPos::Left), (1148, line))?;
        }
        // All curves rise, and dots lie below their bounds: this corner is free.
        let corner = match &self.dots[..] {
            [] => SeriesLabelPosition::UpperLeft,
            _ => SeriesLabelPosition::LowerRight,
        };
        chart
            .configure_series_labels()
            .position(corner)
            .legend_area_size(68)
            .margin(12)
            .background_style(theme.paper)
            .label_font(style(12, &theme.ink, HPos::Left).pos(Pos::new(HPos::Left, VPos::Top)))
            .draw()
    }
}

/// A free place near each dot for its number: on no dot, and on no number before.
fn beside(dots: &[Place]) -> Vec<Place> {
    let mut numbers: Vec<Place> = Vec::new();
    for (x, y) in dots {
        // Rings around the dot, sixteen places on each.
        let ring = |i: i32| (26.0 + 8.0 * f64::from(i / 16), f64::from(i % 16) * PI / 8.0);
        let place = |i| {
            let (radius, angle) = ring(i);
            (x + (radius * angle.cos()) as i32, y - (radius * angle.sin()) as i32)
        };
        let is_free = |at: &Place| {
            let apart = |other: &Place, wide, high| {
                (at.0 - other.0).abs() >= wide || (at.1 - other.1).abs() >= high
            };
            dots.iter().all(|dot| apart(dot, 23, 21))
                && numbers.iter().all(|number| apart(number, 32, 26))
        };
        numbers.push((0..16 * 24).map(place).find(is_free).unwrap_or((x + 26, *y)));
    }
    numbers
}

/// A line in the chart or in its legend. A solid one is a dash that is longer than the page.
fn path<P: Clone>(
    points: Vec<P>,
    stroke: Stroke,
    colour: RGBColor,
) -> DashedPathElement<std::vec::IntoIter<P>, i32> {
    let (dash, width) = match stroke {
        Stroke::Strong => (10_000, 5),
        Stroke::Thin => (10_000, 3),
        _ => (10, 3),
    };
    DashedPathElement::new(points, dash, 8, colour.stroke_width(width))
}

/// A bar.
pub struct Bar {
    /// Left of it.
    pub name: String,
    /// Colour of the bar.
    pub colour: Colour,
    /// Its length.
    pub value: f64,
    /// Between the name and the bar, where no roof crosses it.
    pub label: String,
    /// The roof that was measured in turns with it: a line across the bar.
    pub roof: Option<f64>,
}

/// Bars that belong together, under a heading.
pub struct Group {
    /// Group of bars.
    pub name: String,
    /// From the top down.
    pub bars: Vec<Bar>,
    /// Names of the roofs; empty where there is none.
    pub roofs: String,
}

/// Groups of bars from one axis.
pub struct Bars {
    /// Title, and whether more is better.
    pub title: String,
    /// From the top down.
    pub groups: Vec<Group>,
}

impl Bars {
    /// The chart on one of the pages.
    pub fn to_svg(&self, theme: &Theme) -> String {
        let rows: usize = self.groups.iter().map(|group| group.bars.len()).sum();
        let height = 56 + self.groups.len() * 30 + rows * 20;
        drawn(theme, (760, height as u32), &self.title, |area| self.draw(theme, area))
    }

    fn draw(&self, theme: &Theme, area: &Area) -> Drawn {
        let (left, width) = (368, 1120.0);
        let values = self.groups.iter().flat_map(|group| {
            group.bars.iter().flat_map(|bar| [bar.value, bar.roof.unwrap_or(0.0)])
        });
        let most = values.fold(f64::MIN_POSITIVE, f64::max);
        let at = |value: f64| left + ((value / most * width) as i32).max(2);
        let mut y = 80;
        for group in &self.groups {
            area.draw_text(&group.name, &style(13, &theme.ink, HPos::Left), (32, y + 32))?;
            area.draw_text(&group.roofs, &style(12, &theme.muted, HPos::Right), (1488, y + 32))?;
            y += 60;
            for bar in &group.bars {
                let texts = [(&bar.name, theme.muted, 236), (&bar.label, theme.ink, left - 12)];
                for (text, ink, x) in texts {
                    area.draw_text(text, &style(12, &ink, HPos::Right), (x, y + 20))?;
                }
                let corners = [(left, y + 6), (at(bar.value), y + 34)];
                let colour = rgb(theme.series[bar.colour]);
                area.draw(&Rectangle::new(corners, colour.filled()))?;
                if let Some(roof) = bar.roof {
                    let line = vec![(at(roof), y), (at(roof), y + 40)];
                    area.draw(&PathElement::new(line, theme.ink.stroke_width(4)))?;
                }
                y += 40;
            }
        }
        Ok(())
    }
}

/// Text of a size as it is shown, its middle at a height.
fn style(size: u32, colour: &RGBColor, side: HPos) -> TextStyle<'static> {
    // The backend takes a part of the size for what letters without ascenders have.
    let font = (FONT, f64::from(2 * size) * 1.24).into_font();
    font.color(colour).pos(Pos::new(side, VPos::Center))
}

/// A page with its title; `width` and `height` are pixels as it is shown.
fn drawn(
    theme: &Theme,
    (width, height): (u32, u32),
    title: &str,
    draw: impl FnOnce(&Area) -> Drawn,
) -> String {
    let mut text = String::new();
    let on = |area: Area| {
        area.fill(&theme.paper)?;
        area.draw_text(title, &style(15, &theme.ink, HPos::Left), (32, 40))?;
        draw(&area)?;
        area.present()
    };
    let backend = SVGBackend::with_string(&mut text, (2 * width, 2 * height));
    on(backend.into_drawing_area()).expect("a string takes all");
    let size = |width, height| format!("width=\"{width}\" height=\"{height}\"");
    text.replacen(&size(2 * width, 2 * height), &size(width, height), 1)
}
