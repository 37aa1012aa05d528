//! Memory that operations take: its goals, its table, and its growth over time.

use super::charts::{Axis, Lines, Series, Stroke};
use super::goals::{Bound, Goal};
use super::plots::{colour, decades, round_time};
use super::tables::table;
use super::{Report, size};
use crate::memory::Growth;

impl Report {
    pub(super) fn memory_goals(&self) -> Vec<Goal> {
        let own = self.memory.iter().filter(|growth| growth.library == "tenure");
        own.map(|growth| Goal {
            what: format!("{}: memory above input and output", growth.operation),
            measured: Some(growth.above() as f64 / f64::from(1 << 20)),
            bound: Bound::AtMost(2.0, " MiB"),
        })
        .collect()
    }

    /// The most memory that each operation took, as one table.
    pub(super) fn memory_table(&self) -> String {
        let row = |growth: &Growth| {
            let above = growth.above() as f64 / f64::from(1 << 20);
            let (input, output) = (size(growth.input), size(growth.output));
            let (operation, who) = (growth.operation.clone(), growth.library.clone());
            let together = (growth.input + growth.peak.max(growth.output)) as f64;
            let together = format!("{:.0} MiB", together / f64::from(1 << 20));
            vec![operation, who, input, output, format!("{above:.1} MiB"), together]
        };
        let columns = ["operation", "who", "input", "output", "above", "together"];
        let rows = self.memory.iter().map(row).collect();
        table("### Memory above input and output", &columns, rows)
    }

    /// Growth over time, in sizes of the input.
    pub(super) fn resident_curves(&self) -> Lines {
        let followed = self.memory.iter().filter(|growth| !growth.curve.is_empty());
        let series: Vec<Series> = followed
            .map(|growth| Series {
                name: format!("{}, {}", growth.library, size(growth.input)),
                colour: colour(&growth.library),
                stroke: match &*growth.library {
                    "tenure" if growth.input > 1 << 30 => Stroke::Dashed,
                    "tenure" => Stroke::Strong,
                    _ => Stroke::Thin,
                },
                points: thinned(&growth.curve, growth.input as f64),
            })
            .collect();
        let points = || series.iter().flat_map(|series| &series.points);
        let most = points().map(|point| point.1).fold(1.0, f64::max).ceil();
        let last = points().map(|point| point.0).fold(10.0, f64::max);
        let step = (most / 8.0).ceil().max(1.0);
        let ticks = (0..=8).map(|i| f64::from(i) * step).filter(|tick| *tick <= most);
        Lines {
            title: "relu to CSR: resident memory beyond the input, normal random f32".to_owned(),
            x: decades("time", (1.0, last), |ms| round_time(ms * 1e6)),
            y: Axis {
                name: "of the input's size; the result has 1",
                range: (0.0, most),
                ticks: ticks.map(|tick| (tick, format!("{tick}"))).collect(),
                is_logarithmic: false,
            },
            series,
            marks: Vec::new(),
            dots: Vec::new(),
        }
    }
}

/// The most of each of 300 spans of time, which look alike on a logarithmic axis; parts of `whole`.
fn thinned(curve: &[(u64, u64)], whole: f64) -> Vec<(f64, f64)> {
    let milliseconds = |micros: u64| (micros as f64 / 1e3).max(1.0);
    let last = curve.last().map_or(2.0, |point| milliseconds(point.0).max(2.0));
    let mut spans = vec![None; 300];
    for (micros, bytes) in curve {
        let ms = milliseconds(*micros);
        let span = &mut spans[(ms.ln() / last.ln() * 299.0) as usize];
        let (_, most) = span.get_or_insert((ms, 0.0_f64));
        *most = most.max(*bytes as f64 / whole);
    }
    spans.into_iter().flatten().collect()
}
