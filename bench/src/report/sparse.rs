//! The goals of sparse matrices, their table, and the memory that they take over time.

use super::charts::{Axis, Lines, Series, Stroke};
use super::goals::{Bound, Goal};
use super::plots::{colour, decades};
use super::run::Run;
use super::tables::table;
use super::{Report, size, time};
use crate::figures::Row;
use crate::memory::Growth;

/// Bytes of a dense matrix of 8192 x 8192 f32.
const DENSE: u64 = 256 << 20;

impl Run {
    pub(super) fn sparse_goals(&self) -> Vec<Goal> {
        let mut goals = self.conversion_goals();
        goals.extend(self.densifying_goals());
        goals.extend(self.grouping_goals());
        goals.extend(self.rectified_goals());
        goals.extend(self.product_goals());
        let read = self.sparse("Matrix Market, read", 1, "recycled");
        goals.push(Goal {
            what: "Matrix Market, read, 1 thread: MB/s of text".to_owned(),
            measured: read.map(|row| row.bytes as f64 / row.median() * 1e3),
            bound: Bound::AtLeast(300.0),
        });
        goals
    }

    /// Figures of Tenure in one form: 8192 x 8192, or the only size there is.
    pub(super) fn sparse(&self, operation: &str, threads: usize, how: &str) -> Option<&Row> {
        let is_it =
            |row: &&Row| (&*row.operation, row.threads, &*row.how) == (operation, threads, how);
        let rows: Vec<_> = self.sparse_rows().filter(is_it).collect();
        rows.iter().find(|row| row.bytes == DENSE).or(rows.first()).copied()
    }

    /// Tenure's rows of sparse matrices: from Rust, and then those that are from Python alone.
    pub(super) fn sparse_rows(&self) -> impl Iterator<Item = &Row> {
        let rows = |subject| {
            let figures = self.figures.iter().filter(move |figures| figures.subject == subject);
            figures.flat_map(|figures| &figures.rows).filter(|row| row.library == "tenure")
        };
        let is_same = |a: &Row, b: &Row| (&a.operation, &a.how) == (&b.operation, &b.how);
        let alone = move |row: &&Row| !rows("sparse").any(|other| is_same(row, other));
        rows("sparse").chain(rows("python-sparse").filter(alone))
    }

    /// How many times as fast as a library, or, without a name, as the best of all that do not make
    /// the matrix dense.
    fn times_as_fast(
        &self,
        (operation, threads, how): (&str, usize, &str),
        library: Option<&str>,
        least: f64,
    ) -> Goal {
        let peers = self.sparse(operation, threads, how).map_or(Vec::new(), |row| self.peers(row));
        let wanted = |name: &str| library.map_or(!name.ends_with(", dense"), |one| one == name);
        let best = peers.iter().find(|beside| wanted(&beside.peer.library));
        let name = library.unwrap_or("the best peer");
        let on = on(threads);
        Goal {
            what: format!("{operation}, {how}, {on}: times as fast as {name}"),
            measured: best.map(|beside| beside.gain),
            bound: Bound::AtLeast(least),
        }
    }

    /// Time, in that of moving as many bytes at the speed of the memory.
    fn times_of_roof(&self, operation: &str, how: &str, most: f64) -> Goal {
        let row = self.sparse(operation, 1, how);
        Goal {
            what: format!("{operation}, {how}, {}: time, of the roof's", on(1)),
            measured: row.and_then(|row| self.part_of_roof(row)).map(|(part, _)| 1.0 / part),
            bound: Bound::AtMost(most, ""),
        }
    }

    fn conversion_goals(&self) -> Vec<Goal> {
        let mut goals = Vec::new();
        for (percent, one, two, coo) in
            [(1, 17.0, 9.0, 8.0), (10, 26.0, 13.0, 14.0), (50, 30.0, 24.0, 30.0)]
        {
            let csr = &*format!("dense to CSR, {percent} %");
            goals.push(self.times_as_fast((csr, 1, "cold"), Some("PyTorch"), one));
            goals.push(self.times_as_fast((csr, 2, "cold"), Some("PyTorch"), two));
            goals.push(self.times_as_fast((csr, 1, "cold"), Some("SciPy"), 12.0));
            goals.push(self.times_as_fast((csr, 1, "cold"), Some("sprs"), 5.0));
            goals.push(self.times_of_roof(csr, "recycled", 1.25));
            let entries = &*format!("dense to COO, {percent} %");
            goals.push(self.times_as_fast((entries, 1, "cold"), Some("PyTorch"), coo));
            goals.push(self.times_of_roof(entries, "recycled", 1.25));
        }
        for (operation, least) in
            [("dense to CSC, 10 %", 20.0), ("dense to BSR 4x4, 10 % of blocks", 15.0)]
        {
            goals.push(self.times_of_roof(operation, "recycled", 1.5));
            goals.push(self.times_as_fast((operation, 1, "cold"), Some("PyTorch"), least));
        }
        goals
    }

    /// From sparse to sparse.
    fn grouping_goals(&self) -> Vec<Goal> {
        let goals = [
            ("CSR to CSC, 10 %", "SciPy", 3.0),
            ("CSR to CSC, 10 %", "PyTorch", 30.0),
            ("coalesce", "PyTorch", 10.0),
            ("coalesce", "SciPy", 4.0),
        ];
        let goal =
            |(name, library, least)| self.times_as_fast((name, 1, "cold"), Some(library), least);
        goals.map(goal).into()
    }

    fn densifying_goals(&self) -> Vec<Goal> {
        let operations = ["CSR to dense, 1 %", "CSR to dense, 10 %"];
        let goals = |operation| {
            [("recycled", 10.0), ("cold", 5.0)]
                .map(|(how, least)| self.times_as_fast((operation, 1, how), Some("PyTorch"), least))
        };
        operations.into_iter().flat_map(goals).collect()
    }

    fn rectified_goals(&self) -> Vec<Goal> {
        let goals = [("sparse relu, normal", 30.0), ("sparse relu, 90 % negative", 20.0)];
        goals
            .map(|(name, least)| self.times_as_fast((name, 1, "cold"), Some("PyTorch"), least))
            .into()
    }

    fn product_goals(&self) -> Vec<Goal> {
        let mut goals = Vec::new();
        for (operation, least) in [("SpMM, 64 columns, 10 %", 2.5), ("SpMM, 64 columns, 1 %", 2.0)]
        {
            goals.push(self.times_as_fast((operation, 2, "into"), None, least));
        }
        let dense = ("SpMM, 64 columns, 10 %", 2, "into");
        goals.push(self.times_as_fast(dense, Some("PyTorch, dense"), 1.0));
        for name in ["RMAT", "Poisson", "banded"] {
            let operation = &*format!("SpMV, {name}");
            goals.push(Goal {
                what: format!("{operation}, 1 thread: part of the roof"),
                measured: self
                    .sparse(operation, 1, "into")
                    .and_then(|row| Some(self.part_of_roof(row)?.0)),
                bound: Bound::AtLeast(0.85),
            });
            goals.push(self.times_as_fast((operation, 1, "into"), Some("SciPy"), 1.5));
            let squared = &*format!("SpGEMM, {name}");
            for (threads, least) in [(1, 2.0), (2, 3.5)] {
                let way = (squared, threads, "recycled");
                goals.push(self.times_as_fast(way, Some("SciPy"), least));
            }
        }
        for percent in [5, 10, 30] {
            let operation = format!("SpMV, {percent} %");
            let rows = ["packed", "into"].map(|how| self.sparse(&operation, 1, how));
            goals.push(Goal {
                what: format!("{operation}, 1 thread: packed, times as fast as CSR"),
                measured: rows[0].zip(rows[1]).map(|(packed, own)| packed.speed_over(own)),
                bound: Bound::AtLeast(1.3),
            });
        }
        goals
    }
}

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
            vec![operation, who, input, output, format!("{above:.1} MiB")]
        };
        let columns = ["operation", "who", "input", "output", "above"];
        let rows = self.memory.iter().map(row).collect();
        table("### Sparse: memory above input and output", &columns, rows)
    }

    /// Growth over time, in sizes of the input.
    pub(super) fn resident_curves(&self) -> Lines {
        let followed = self.memory.iter().filter(|growth| !growth.curve.is_empty());
        let series: Vec<Series> = followed
            .map(|growth| Series {
                name: format!("{}, {}", growth.library, size(growth.input)),
                colour: colour(&growth.library),
                stroke: if growth.library == "tenure" { Stroke::Strong } else { Stroke::Thin },
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
            x: decades("time", (1.0, last), |ms| {
                time(ms * 1e6).replace(".00", "").replace(".0", "")
            }),
            y: Axis {
                name: "of the input's size; the result has 1",
                range: (0.0, most),
                ticks: ticks.map(|tick| (tick, format!("{tick}"))).collect(),
                is_logarithmic: false,
            },
            series,
            marks: Vec::new(),
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

fn on(threads: usize) -> &'static str {
    if threads == 1 { "1 thread" } else { "2 threads" }
}
