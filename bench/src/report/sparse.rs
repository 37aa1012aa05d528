//! The goals of sparse matrices.

use super::goals::{Bound, Goal};
use super::run::Run;
use crate::figures::Row;

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

    /// Tenure's rows of sparse matrices: from Rust, and then the rows that only Python has.
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

fn on(threads: usize) -> &'static str {
    if threads == 1 { "1 thread" } else { "2 threads" }
}
