//! The roofline: operations a second, over operations for each byte that has to be moved.

use super::charts::{Axis, Colour, Dot, Lines, Series, Stroke};
use super::plots::decades;
use super::run::Run;
use crate::figures::Row;

/// A row that the chart shows.
struct Shown {
    /// In the chart.
    name: &'static str,
    colour: Colour,
    operation: &'static str,
    how: &'static str,
    /// Bytes of an array, where it was measured with several.
    bytes: Option<u64>,
    /// Operations, and bytes that have to be moved.
    work: fn(&Row) -> (f64, f64),
}

const LARGE: Option<u64> = Some(64 << 20);

const fn shown(
    (name, colour): (&'static str, Colour),
    (operation, how, bytes): (&'static str, &'static str, Option<u64>),
    work: fn(&Row) -> (f64, f64),
) -> Shown {
    Shown { name, colour, operation, how, bytes, work }
}

/// Each family of operations has at least one.
const SHOWN: [Shown; 17] = [
    shown(("add", 0), ("add", "into", LARGE), each::<1>),
    shown(("relu", 0), ("relu", "into", LARGE), each::<1>),
    shown(("sum", 5), ("sum", "into", LARGE), each::<1>),
    shown(("max, axis 1", 5), ("max, axis 1", "into", LARGE), each::<1>),
    shown(("transpose", 4), ("transpose", "into", LARGE), each::<1>),
    shown(("softmax", 6), ("softmax, axis 1", "into", LARGE), each::<5>),
    shown(("sort", 6), ("sort, axis 1", "into", LARGE), sorted),
    shown(("matmul f32", 1), ("matmul f32 1024", "into", None), counted),
    shown(("matmul f64", 1), ("matmul f64 1024", "into", None), counted),
    shown(("4 rows, f32", 1), ("matmul f32, 4 by 8192", "into", None), counted),
    shown(("conv2d", 3), ("conv2d 8x64x56x56 by 64 of 3x3", "into", None), counted),
    shown(("conv2d, NHWC", 3), ("conv2d 8x64x56x56 by 64 of 3x3, NHWC", "into", None), counted),
    shown(("int4, 256 rows", 7), ("256 by 4096", "int4, groups of 32", None), quantized),
    shown(("SpMV", 2), ("SpMV, 10 %", "into", None), entries::<1>),
    shown(("SpMM", 2), ("SpMM, 64 columns, 10 %", "into", None), entries::<64>),
    shown(("dense to CSR", 2), ("dense to CSR, 10 %", "recycled", None), each::<1>),
    shown(("CSR to dense", 2), ("CSR to dense, 10 %", "recycled", None), each::<1>),
];

/// Some operations for each f32 of an array: a comparison and a move count as one.
fn each<const COUNT: u64>(row: &Row) -> (f64, f64) {
    ((row.bytes / 4 * COUNT) as f64, row.traffic as f64)
}

/// The comparisons without which the rows of a square matrix have no order.
fn sorted(row: &Row) -> (f64, f64) {
    let elements = row.bytes as f64 / 4.0;
    (elements * elements.sqrt().log2(), row.traffic as f64)
}

/// Rows whose traffic is operations; their bytes are those of the operands and the result.
fn counted(row: &Row) -> (f64, f64) {
    (row.traffic as f64, row.bytes as f64)
}

/// The weights, 256 rows of 4096 f32, and as large a result.
fn quantized(row: &Row) -> (f64, f64) {
    (row.traffic as f64, row.bytes as f64 + f64::from(2 * 256 * 4096 * 4))
}

/// A product and a sum for each entry, of 8 bytes, and column.
fn entries<const COLUMNS: u64>(row: &Row) -> (f64, f64) {
    ((row.bytes / 8 * 2 * COLUMNS) as f64, row.traffic as f64)
}

impl Run {
    /// Tenure's rows of every family, each under the roof that was measured in turns with it. The
    /// lines are the best of these roofs.
    pub(super) fn roofline(&self) -> Lines {
        let (mut dots, mut memory) = (Vec::new(), 0.0_f64);
        let mut peaks: Vec<(&str, f64)> = Vec::new();
        for shown in &SHOWN {
            let row = match shown.bytes {
                Some(bytes) => self.find(shown.operation, bytes, 1, shown.how),
                None => self.find_only(shown.operation, 1, shown.how),
            };
            let Some(row) = row else { continue };
            let (operations, bytes) = (shown.work)(row);
            let (intensity, speed) = (operations / bytes, operations / row.best());
            let roof = self.part_of_roof(row).map(|(_, roof)| {
                let bound = speed / row.best_speed_over(roof);
                if let Some(peak) = peaks.iter_mut().find(|peak| peak.0 == roof.how) {
                    peak.1 = peak.1.max(bound);
                } else if is_arithmetic(roof) {
                    peaks.push((&roof.how, bound));
                } else if row.bytes >= 64 << 20 {
                    memory = memory.max(bound / intensity);
                }
                bound
            });
            let part =
                roof.map_or(String::new(), |roof| format!(" ({:.0} %)", 100.0 * speed / roof));
            let name = format!("{}: {speed:.1}{part}", shown.name);
            dots.push(Dot { name, colour: shown.colour, at: (intensity, speed), roof });
        }
        let (least, most) = (1.0 / 16.0, 2048.0);
        let flat = peaks.iter().map(|peak| peak.1).fold(0.0, f64::max);
        let mut series = Vec::new();
        if memory > 0.0 {
            let end = if flat > 0.0 { flat / memory } else { 1.0 };
            let points = vec![(least, least * memory), (end, end * memory)];
            let name = format!("memory, 64 MiB and more: {memory:.0} GB/s");
            series.push(Series { name, colour: 7, stroke: Stroke::Strong, points });
            for (how, peak) in peaks {
                let name = format!("{how}: {peak:.0}");
                let points = vec![(peak / memory, peak), (most, peak)];
                let stroke = if how.ends_with("f64") { Stroke::Dashed } else { Stroke::Thin };
                let colour = if how.starts_with("FMA") { 1 } else { 7 };
                series.push(Series { name, colour, stroke, points });
            }
        }
        let ratio = |value: f64| match value {
            value if value < 1.0 => (value, format!("1/{}", 1.0 / value)),
            value => (value, format!("{value}")),
        };
        Lines {
            title: format!(
                "Roofline, {}, one thread, best rounds (of the roof in turns with it)",
                self.name()
            ),
            x: Axis {
                name: "operations per byte moved",
                range: (least, most),
                ticks: [least, 0.25, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0].map(ratio).to_vec(),
                is_logarithmic: true,
            },
            y: decades("10^9 operations a second", (0.1, 2000.0), |value| format!("{value}")),
            series,
            marks: Vec::new(),
            dots,
        }
    }
}

fn is_arithmetic(roof: &Row) -> bool {
    ["FMA", "VNNI"].iter().any(|name| roof.how.starts_with(name))
}
