//! The damage of quantization: its times, as a table and as a picture.

mod svg;

use std::fmt::{self, Display, Formatter};

use super::Report as RunReport;
use super::table::{aligned, printable, time};
use crate::quantize::{Damage, Report};

impl Report {
    /// Adds the times of both programs, as [`measure`](crate::Program::measure) reports them: of the
    /// network in `f32`, and of the quantized one. Nodes are found by their numbers, so both are
    /// traces of the network that was compared.
    #[must_use]
    pub fn with_times(mut self, float: &RunReport, integers: &RunReport) -> Report {
        let of_node = |report: &RunReport, node: usize| {
            let steps = || report.steps.iter().filter(|step| step.node == Some(node));
            steps().next().and_then(|_| steps().map(|step| step.nanoseconds).sum())
        };
        for node in &mut self.nodes {
            node.float_nanoseconds = of_node(float, node.node);
            node.integer_nanoseconds = of_node(integers, node.node);
        }
        self.float_nanoseconds = float.nanoseconds();
        self.integer_nanoseconds = integers.nanoseconds();
        self
    }

    /// Draws the report as SVG: a line for each node, with bars of its share of the damage and of its
    /// times.
    #[must_use]
    pub fn to_svg(&self) -> String {
        svg::draw(self)
    }
}

/// Cells of the figures of a damage.
fn figures(damage: &Damage) -> [String; 3] {
    [
        format!("{:.1} dB", damage.snr_db),
        format!("{:.6}", damage.cosine),
        format!("{:.3e}", damage.largest_error),
    ]
}

/// Such as "1.50x"; nothing where a time is missing.
fn faster(float: Option<u64>, integers: Option<u64>) -> String {
    let (Some(float), Some(integers)) = (float, integers) else { return String::new() };
    format!("{:.2}x", float as f64 / integers.max(1) as f64)
}

/// Columns without a number in them are left out.
impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let head = ["node", "", "share", "SNR", "cosine", "error", "f32", "int8", "faster"];
        let row = |node: String, name, share, damage, float: Option<u64>, integers| {
            let [snr, cosine, error] = figures(damage);
            let [of_float, of_integers] =
                [float, integers].map(|it| it.map(time).unwrap_or_default());
            let ratio = faster(float, integers);
            [node, name, share, snr, cosine, error, of_float, of_integers, ratio]
        };
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(self.nodes.iter().map(|it| {
            let share = format!("{:.1} %", it.share * 100.0);
            let (float, integers) = (it.float_nanoseconds, it.integer_nanoseconds);
            row(it.node.to_string(), printable(&it.name), share, &it.damage, float, integers)
        }));
        let (float, integers) = (self.float_nanoseconds, self.integer_nanoseconds);
        let outputs = "outputs of the network".to_owned();
        rows.push(row("all".to_owned(), outputs, String::new(), &self.output, float, integers));
        f.write_str(&aligned(&rows, &[1]))
    }
}
