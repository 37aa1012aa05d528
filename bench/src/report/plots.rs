//! The figures as charts.

use super::charts::{Axis, Bar, Bars, Colour, Group, Lines, Series, Stroke, THEMES, Theme};
use super::run::Run;
use super::tables::{caller, own_name};
use super::{Report, size, time};
use crate::figures::Row;

/// A chart, drawn once for each page.
pub struct Plot {
    /// The name in the names of its files.
    pub name: &'static str,
    /// Alternative text.
    pub title: String,
    /// Name of the page, and the chart on it.
    pub drawn: Vec<(&'static str, String)>,
}

const TENURE: Colour = 0;

/// Each library has its colour, in every chart.
pub(super) fn colour(library: &str) -> Colour {
    match library {
        "tenure" => TENURE,
        "PyTorch" | "tch" => 1,
        "ndarray" => 2,
        "candle" => 3,
        "NumPy" => 4,
        "faer" | "malloc" => 5,
        "numexpr" => 6,
        _ => 7,
    }
}

impl Report {
    /// Every chart that there are figures for. Calls and the roofline are under the widest set.
    pub fn plots(&self) -> Vec<Plot> {
        let nothing = Run { set: String::new(), figures: Vec::new() };
        let widest = self.runs.last().unwrap_or(&nothing);
        let plot = |name, title: &str, to_svg: &dyn Fn(&Theme) -> String| Plot {
            name,
            title: title.to_owned(),
            drawn: THEMES.iter().map(|theme| (theme.name, to_svg(theme))).collect(),
        };
        let lines = |name, lines: Lines| {
            let is_drawn = lines.series.iter().any(|series| !series.points.is_empty())
                || !lines.dots.is_empty();
            is_drawn.then(|| plot(name, &lines.title, &|theme| lines.to_svg(theme)))
        };
        let bars = |name, bars: Bars| {
            (!bars.groups.is_empty()).then(|| plot(name, &bars.title, &|theme| bars.to_svg(theme)))
        };
        let into = widest.call_cost("One call that adds into memory that is there", false);
        let allocating = widest.call_cost("One call that adds and allocates its result", true);
        let large = self.speeds("Element-wise, 64 MiB arrays, into", &["add", "mul", "relu"]);
        let fresh = self.fresh("Allocating a result of 64 MiB", &["a + b", "transpose"]);
        let moved = ["transpose", "NCHW to NHWC", "NHWC to NCHW"];
        let reduced = ["sum", "sum, axis 0", "sum, axis 1", "max", "max, axis 0", "max, axis 1"];
        let plots = [
            lines("roofline", widest.roofline()),
            lines("call-into", into),
            lines("call-allocating", allocating),
            lines("permutations", self.permutation_curve()),
            lines("alloc", self.allocation_cost()),
            lines("resident", self.resident_curves()),
            bars("elementwise", large),
            bars("allocating", fresh),
            bars("movement", self.speeds("Movement, one thread, into", &moved)),
            bars("reduce", self.speeds("Reductions of 4096 x 4096 f32", &reduced)),
        ];
        plots.into_iter().flatten().collect()
    }

    /// The drawn permutations from the worst to the best, as parts of the copy roof.
    fn permutation_curve(&self) -> Lines {
        let curve = |name: String, library: &str, mut parts: Vec<f64>, stroke| {
            parts.sort_unstable_by(f64::total_cmp);
            let last = (parts.len().max(2) - 1) as f64;
            let place = |(i, part)| (100.0 * i as f64 / last, part);
            let points = parts.into_iter().enumerate().map(place).collect();
            Series { name, colour: colour(library), stroke, points }
        };
        let drawn: Vec<_> = self.runs.iter().map(|run| run.drawn_permutations(1)).collect();
        let mut series = Vec::new();
        for (run, (parts, _)) in self.runs.iter().zip(&drawn) {
            let is_last = series.len() + 1 == self.runs.len();
            let stroke = if is_last { Stroke::Strong } else { Stroke::Thin };
            series.push(curve(own_name(run), "tenure", parts.clone(), stroke));
        }
        let theirs = drawn.last().map_or(Vec::new(), |(parts, gains)| {
            parts.iter().zip(gains).map(|(part, gain)| part / gain).collect()
        });
        series.push(curve("PyTorch".to_owned(), "PyTorch", theirs, Stroke::Thin));
        let quarters = [0.0, 0.25, 0.5, 0.75, 1.0];
        let count = drawn.iter().map(|(parts, _)| parts.len()).max().unwrap_or(0);
        Lines {
            title: format!("{count} random permutations of 64 MiB, one thread, worst first"),
            x: Axis {
                name: "percent of the permutations",
                range: (0.0, 100.0),
                ticks: quarters.map(|part| (100.0 * part, format!("{}", 100.0 * part))).to_vec(),
                is_logarithmic: false,
            },
            y: Axis {
                name: "part of the copy roof",
                range: (0.0, 1.1),
                ticks: quarters.map(|part| (part, format!("{} %", 100.0 * part))).to_vec(),
                is_logarithmic: false,
            },
            series,
            marks: Vec::new(),
            dots: Vec::new(),
        }
    }

    /// Time of getting memory, writing to it and giving it back, by its size.
    fn allocation_cost(&self) -> Lines {
        let rows = self.without_kernels.figures.iter().filter(|one| one.subject == "alloc");
        let rows: Vec<&Row> = rows.flat_map(|figures| &figures.rows).collect();
        let ways = [
            ("tenure", "cold", Stroke::Dashed),
            ("tenure", "recycled", Stroke::Strong),
            ("malloc", "cold", Stroke::Dashed),
            ("malloc", "recycled", Stroke::Thin),
        ];
        let series = ways.map(|(library, how, stroke)| {
            let way = (library, how, "allocate and write");
            let same = |row: &&&Row| (&*row.library, &*row.how, &*row.operation) == way;
            let points = rows.iter().filter(same).map(|row| (row.bytes as f64, row.median()));
            let name = format!("{library}, {how}");
            Series { name, colour: colour(library), stroke, points: points.collect() }
        });
        let sizes = [32u64, 1 << 10, 32 << 10, 1 << 20, 32 << 20, 256 << 20];
        Lines {
            title: "Memory got, written once and given back".to_owned(),
            x: Axis {
                name: "bytes",
                range: (32.0, 256e6 * 1.048_576 * 1.024),
                ticks: sizes.map(|bytes| (bytes as f64, size(bytes))).to_vec(),
                is_logarithmic: true,
            },
            y: decades("time", (10.0, 1e9), round_time),
            series: series.into(),
            marks: Vec::new(),
            dots: Vec::new(),
        }
    }

    /// GB/s of some operations at the size that all of them have, and of their peers.
    fn speeds(&self, title: &str, operations: &[&str]) -> Bars {
        let speed = |row: &Row| row.traffic as f64 / row.median();
        let group = |operation: &&str| {
            let (mut bars, mut roofs) = (Vec::new(), Vec::new());
            for run in &self.runs {
                let Some(own) = run.one_of(operation, "into") else { continue };
                // A peer's speed follows from the common rounds, and not from those of another
                // process.
                let theirs = run
                    .peers(own)
                    .into_iter()
                    .map(|beside| (beside.peer.library.clone(), speed(own) / beside.gain));
                let roof = run.part_of_roof(own).map(|(part, roof)| {
                    let speed = speed(own) / part;
                    let name = format!("{} {speed:.1} ({})", roof.how, run.name());
                    roofs.insert(0, name);
                    speed
                });
                add(&mut bars, run, (speed(own), roof), theirs, |speed| format!("{speed:.1}"));
            }
            let line = if roofs.is_empty() { "" } else { "roofs (lines): " };
            let roofs = format!("{line}{}", roofs.join("; "));
            (!bars.is_empty()).then(|| Group { name: (*operation).to_owned(), bars, roofs })
        };
        Bars {
            title: format!("{title}: GB/s, more is better"),
            groups: operations.iter().filter_map(group).collect(),
        }
    }

    /// Milliseconds of what allocates its result, cold and recycled.
    fn fresh(&self, title: &str, operations: &[&str]) -> Bars {
        let mut groups = Vec::new();
        for operation in operations {
            for how in ["cold", "recycled"] {
                let mut bars = Vec::new();
                for run in &self.runs {
                    let Some(own) = run.one_of(operation, how) else { continue };
                    let theirs = run
                        .peers(own)
                        .into_iter()
                        .map(|beside| (beside.peer.library.clone(), own.median() * beside.gain));
                    add(&mut bars, run, (own.median(), None), theirs, time);
                }
                if !bars.is_empty() {
                    let name = format!("{operation}, {how}");
                    groups.push(Group { name, bars, roofs: String::new() });
                }
            }
        }
        Bars { title: format!("{title}: time, less is better"), groups }
    }
}

/// Puts Tenure before the existing bars, and replaces the peers by those of this run; each has the
/// roof of its run.
fn add(
    bars: &mut Vec<Bar>,
    run: &Run,
    (own, roof): (f64, Option<f64>),
    theirs: impl Iterator<Item = (String, f64)>,
    label: impl Fn(f64) -> String,
) {
    bars.retain(|bar| bar.colour == TENURE);
    let name = own_name(run);
    bars.insert(0, Bar { name, colour: TENURE, value: own, label: label(own), roof });
    bars.extend(theirs.map(|(name, value)| {
        let colour = colour(&name);
        Bar { name, colour, value, label: label(value), roof }
    }));
}

impl Run {
    /// Nanoseconds by elements. Circles: from here on Tenure is faster than a peer.
    fn call_cost(&self, title: &str, allocates: bool) -> Lines {
        let is_wanted = |how: &str| ["recycled", "allocates"].contains(&how) == allocates;
        let ways = self.ways_to_call().into_iter().filter(|(_, how)| is_wanted(how));
        let mut series: Vec<Series> = ways
            .map(|(library, how)| Series {
                name: if library == "tenure" && !allocates {
                    format!("tenure {how}")
                } else {
                    caller(library)
                },
                colour: colour(library),
                stroke: match (library, how) {
                    ("tenure", "into views" | "recycled") => Stroke::Strong,
                    ("tenure", "from C, plain views") => Stroke::Dashed,
                    _ => Stroke::Thin,
                },
                points: self.call_points(library, how),
            })
            .collect();
        series.retain(|series| !["tenure into slices"].contains(&&*series.name));
        let is_own = |series: &&Series| ["tenure into views", "tenure"].contains(&&*series.name);
        let own = series.iter().find(is_own);
        let peers = series.iter().filter(|series| series.colour != TENURE);
        let marks = own.map_or(Vec::new(), |own| {
            peers.filter_map(|peer| crossing(&own.points, &peer.points)).collect()
        });
        Lines {
            title: format!("{title}, {} (circles: from there on Tenure is faster)", self.name()),
            x: decades("elements (f32)", (1.0, 1e6), count),
            y: decades("time of a call", (1.0, 1e6), round_time),
            series,
            marks,
            dots: Vec::new(),
        }
    }

    /// The row on one thread at the size that the charts of large operations show.
    fn one_of(&self, operation: &str, how: &str) -> Option<&Row> {
        [64 << 20, 32 * 64 * 56 * 56 * 4]
            .into_iter()
            .find_map(|bytes| self.find(operation, bytes, 1, how))
    }
}

/// A power of ten, of nanoseconds.
pub(super) fn round_time(ns: f64) -> String {
    time(ns).replace(".00", "").replace(".0", "")
}

/// A power of ten.
fn count(value: f64) -> String {
    if value < 1e4 { format!("{value}") } else { format!("10^{:.0}", value.log10()) }
}

/// A logarithmic axis with a tick at each power of ten.
pub(super) fn decades(
    name: &'static str,
    range: (f64, f64),
    label: impl Fn(f64) -> String,
) -> Axis {
    let powers = (-3..=12).map(|power| 10f64.powi(power));
    let ticks = powers.filter(|value| (range.0..=range.1).contains(value));
    let ticks = ticks.map(|value| (value, label(value))).collect();
    Axis { name, range, ticks, is_logarithmic: true }
}

/// Where the first of two lines falls below the second for good; `None` where it is below from the
/// start, or above at the end. Between points both are straight on logarithmic axes.
pub(super) fn crossing(own: &[(f64, f64)], peer: &[(f64, f64)]) -> Option<(f64, f64)> {
    let lead = |(x, y): &(f64, f64)| {
        let other = peer.iter().find(|point| point.0 == *x)?;
        Some((x.ln(), y.ln(), (y / other.1).ln()))
    };
    let leads: Vec<_> = own.iter().filter_map(lead).collect();
    let last = leads.iter().rposition(|lead| lead.2 > 0.0)?;
    let (before, after) = (leads[last], leads.get(last + 1)?);
    let part = before.2 / (before.2 - after.2);
    let between = |from: f64, to: f64| (from + (to - from) * part).exp();
    Some((between(before.0, after.0), between(before.1, after.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cross_where_one_falls_below_the_other_for_good() {
        let flat = [(1.0, 10.0), (10.0, 10.0), (100.0, 10.0)];
        let rising = [(1.0, 1.0), (10.0, 10.0 / 1e1), (100.0, 100.0)];
        let (x, y) = crossing(&flat, &rising).expect("they cross between 10 and 100");
        assert!((x - 10.0 * 10f64.sqrt()).abs() < 1e-9 && (y - 10.0).abs() < 1e-9, "{x}, {y}");
        assert_eq!(crossing(&rising, &flat), None);
        assert_eq!(crossing(&[(1.0, 1.0)], &[(1.0, 2.0)]), None);
    }
}
