//! The goals, and the figures that were reached.

use std::fmt::{self, Display, Formatter};

use super::Report;
use super::run::Run;
use super::tables::table;
use crate::figures::Row;
use crate::operations::convolutions::{Layout, SHAPES};
use crate::operations::windows::{OPERATIONS, Operation};
use crate::rounds::median_and_least;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A figure and its required bound.
pub(super) struct Goal {
    pub(super) what: String,
    /// `None` where it was not measured.
    pub(super) measured: Option<f64>,
    pub(super) bound: Bound,
}

pub(super) enum Bound {
    AtLeast(f64),
    AtMost(f64, &'static str),
}

impl Report {
    /// All goals: those of the kernels with a column for each set, and the others. A goal that
    /// nothing was measured for stays empty.
    pub(super) fn goals(&self) -> String {
        let goals: Vec<Vec<Goal>> = self.runs.iter().map(Run::goals).collect();
        let mut rows = Vec::new();
        for i in 0..goals.first().map_or(0, Vec::len) {
            // The name contains numbers of the measurement.
            let named = goals.iter().find(|goals| goals[i].measured.is_some()).unwrap_or(&goals[0]);
            let mut row = vec![named[i].what.clone(), named[i].bound.to_string()];
            row.extend(goals.iter().map(|goals| goals[i].reached()));
            rows.push(row);
        }
        let names = self.runs.iter().map(Run::name);
        let columns: Vec<&str> = ["what", "goal"].into_iter().chain(names).collect();
        let of_kernels = table("", &columns, rows);
        let others = self.file_goals().into_iter().chain(self.memory_goals());
        let others: Vec<Vec<String>> = others
            .map(|goal| vec![goal.what.clone(), goal.bound.to_string(), goal.reached()])
            .collect();
        let others = table("", &["without kernels", "goal", "measured"], others);
        let intro = "\n### Goals\n\nBold: not reached. Empty: not measured.\n";
        [intro, &of_kernels, &others].concat()
    }
}

impl Goal {
    /// The measured figure, in bold where that is not enough.
    fn reached(&self) -> String {
        let Some(is) = self.measured else { return String::new() };
        let (shown, reached) = match self.bound {
            Bound::AtLeast(least) => (format!("{is:.2}"), is >= least),
            Bound::AtMost(most, unit) => (format!("{is:.2}{unit}"), is <= most),
        };
        if reached { shown } else { format!("**{shown}**") }
    }
}

impl Display for Bound {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Bound::AtLeast(least) => write!(formatter, ">= {least}"),
            Bound::AtMost(most, unit) => write!(formatter, "<= {most}{unit}"),
        }
    }
}

impl Run {
    /// The goals of the kernels, in one order for every run.
    fn goals(&self) -> Vec<Goal> {
        [
            self.elementwise_goals(),
            self.movement_goals(),
            self.reduction_goals(),
            self.matmul_goals(),
            self.conv2d_goals(),
            self.window_goals(),
            self.call_goals(),
            self.thread_goals(),
            self.loader_goals(),
            self.sparse_goals(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn roof_goal(&self, operation: &str, bytes: u64, threads: usize, least: f64) -> Goal {
        let row = self.find(operation, bytes, threads, "into");
        Goal {
            what: format!(
                "{operation}, {}, {threads} threads: part of the roof",
                super::size(bytes)
            )
            .replace("1 threads", "1 thread"),
            measured: row.and_then(|row| self.part_of_roof(row)).map(|(part, _)| part),
            bound: Bound::AtLeast(least),
        }
    }

    /// Against one library, or against the best of all, on one thread.
    fn peer_goal(
        &self,
        operation: &str,
        bytes: u64,
        how: &str,
        library: Option<&str>,
        least: f64,
    ) -> Goal {
        self.peer_goal_on(1, operation, bytes, how, library, least)
    }

    fn peer_goal_on(
        &self,
        threads: usize,
        operation: &str,
        bytes: u64,
        how: &str,
        library: Option<&str>,
        least: f64,
    ) -> Goal {
        let peers =
            self.find(operation, bytes, threads, how).map_or(Vec::new(), |row| self.peers(row));
        let wanted = |name: &str| library.is_none_or(|library| library == name);
        let best = peers.iter().find(|beside| wanted(&beside.peer.library));
        let name = library.unwrap_or("the best peer");
        let on = if threads == 1 { String::new() } else { format!(", {threads} threads") };
        let size = super::size(bytes);
        Goal {
            what: format!("{operation}, {size}, {how}{on}: times as fast as {name}"),
            measured: best.map(|beside| beside.gain),
            bound: Bound::AtLeast(least),
        }
    }

    fn elementwise_goals(&self) -> Vec<Goal> {
        let mut goals = Vec::new();
        for operation in ["add", "mul", "relu"] {
            for bytes in [64 * MIB, GIB] {
                goals.push(self.roof_goal(operation, bytes, 1, 0.92));
                goals.push(self.peer_goal(operation, bytes, "into", None, 1.0));
            }
        }
        for library in ["PyTorch", "ndarray", "candle"] {
            goals.push(self.peer_goal("a + b", 64 * MIB, "cold", Some(library), 3.0));
            goals.push(self.peer_goal("a + b", 64 * MIB, "recycled", Some(library), 6.0));
        }
        goals
    }

    fn movement_goals(&self) -> Vec<Goal> {
        let (parts, gains) = self.drawn_permutations(1);
        let middle = |figures: &[f64]| (!figures.is_empty()).then(|| median_and_least(figures));
        let permutations = |what: &str, measured, least| Goal {
            what: format!("{} permutations of 64 MiB: {what}", parts.len()),
            measured,
            bound: Bound::AtLeast(least),
        };
        let images = 32 * 64 * 56 * 56 * 4;
        vec![
            self.roof_goal("transpose", 64 * MIB, 1, 0.85),
            self.peer_goal("transpose", 64 * MIB, "cold", Some("PyTorch"), 3.0),
            permutations("median part of the roof", middle(&parts).map(|pair| pair.0), 0.75),
            permutations("worst part of the roof", middle(&parts).map(|pair| pair.1), 0.5),
            permutations("median times as fast as PyTorch", middle(&gains).map(|pair| pair.0), 2.0),
            self.peer_goal("NCHW to NHWC", images, "into", Some("PyTorch"), 2.0),
            self.peer_goal("NHWC to NCHW", images, "into", Some("PyTorch"), 2.0),
        ]
    }

    fn reduction_goals(&self) -> Vec<Goal> {
        let sizes = [64 * MIB, GIB];
        let goal = |name: &str| sizes.map(|bytes| self.roof_goal(name, bytes, 1, 0.92));
        crate::operations::REDUCTIONS.iter().flat_map(|operation| goal(operation.name)).collect()
    }

    fn matmul_goals(&self) -> Vec<Goal> {
        let mut goals = Vec::new();
        for (dtype, width_bytes) in [("f32", 4), ("f64", 8)] {
            let bytes = |side: u64| 3 * side * side * width_bytes;
            for side in [1024, 2048] {
                let name = format!("matmul {dtype} {side}");
                goals.extend(
                    [1, 2].map(|threads| self.roof_goal(&name, bytes(side), threads, 0.93)),
                );
                goals.push(self.peer_goal(&name, bytes(side), "into", None, 0.97));
            }
            for (side, least) in [(8, 1.5), (16, 1.5), (48, 1.0), (64, 1.0)] {
                let name = format!("matmul {dtype} {side}");
                goals.push(self.peer_goal(&name, bytes(side), "into", Some("gemm"), least));
            }
        }
        let side = 8192;
        for rows in [1, 2, 4, 8] {
            let name = format!("matmul f32, {rows} by {side}");
            goals.push(self.roof_goal(&name, 4 * side * (side + 2 * rows), 1, 0.9));
        }
        let square = 1 << 20;
        for (name, bytes, least) in [
            ("matmul bf16 1024", 6 * square, 0.95),
            ("matmul i8 1024", 6 * square, 0.95),
            ("matmul f32, 4096 of 32", 4096 * 3 * 32 * 32 * 4, 1.5),
        ] {
            goals.push(self.peer_goal(name, bytes, "into", Some("PyTorch"), least));
        }
        goals
    }

    fn conv2d_goals(&self) -> Vec<Goal> {
        let mut goals = Vec::new();
        for shape in SHAPES {
            for (layout, least) in [(Layout::Nchw, 1.1), (Layout::Nhwc, 0.95)] {
                let name = shape.name(layout);
                goals.push(self.peer_goal(&name, shape.bytes(), "into", Some("PyTorch"), least));
            }
        }
        let (batch, bytes) = (SHAPES[0].name(Layout::Nchw), SHAPES[0].bytes());
        goals.push(self.peer_goal_on(2, &batch, bytes, "into", Some("candle"), 7.0));
        goals
    }

    fn window_goals(&self) -> Vec<Goal> {
        let in_layout = |layout| {
            let roof = move |one: &Operation| self.roof_goal(&one.name(layout), 256 * MIB, 1, 0.8);
            OPERATIONS.iter().map(roof)
        };
        [Layout::Nchw, Layout::Nhwc].into_iter().flat_map(in_layout).collect()
    }

    fn call_goals(&self) -> Vec<Goal> {
        let goal = |how: &str, most| Goal {
            what: format!("add of 8 f32, {how}"),
            measured: self.call("tenure", how, 8).map(|row| row.median()),
            bound: Bound::AtMost(most, " ns"),
        };
        let dlpack = |how: &str| Goal {
            what: format!("a tensor of DLPack: {how} from C, and its end"),
            measured: self.find("DLPack", 48, 1, how).map(|row| row.median()),
            bound: Bound::AtMost(100.0, " ns"),
        };
        vec![
            goal("into views", 25.0),
            goal("from C, plain views", 20.0),
            goal("from C, owned views", 60.0),
            goal("recycled", 60.0),
            dlpack("import"),
            dlpack("export"),
        ]
    }

    fn loader_goals(&self) -> Vec<Goal> {
        let (bytes, shuffled) = (512 * MIB, "batches of shuffled rows of 4 KiB");
        let row = self.find(shuffled, bytes, 2, "into");
        let peers = row.map_or(Vec::new(), |row| self.peers(row));
        let workers = peers.iter().find(|beside| beside.peer.library.starts_with("DataLoader"));
        vec![
            self.roof_goal("batches in order, summed", bytes, 1, 0.95),
            self.roof_goal("batches of a mapped file, first pass, summed", bytes / 4, 1, 0.75),
            self.roof_goal(shuffled, bytes, 1, 0.8),
            self.roof_goal(shuffled, bytes, 2, 0.8),
            self.peer_goal(shuffled, bytes, "into", Some("NumPy"), 1.2),
            Goal {
                what: format!(
                    "{shuffled}, 2 threads: times as fast as DataLoader at its best worker count"
                ),
                measured: workers.map(|beside| beside.gain),
                bound: Bound::AtLeast(20.0),
            },
        ]
    }

    fn thread_goals(&self) -> Vec<Goal> {
        let large = crate::operations::LARGE.iter();
        let mut goals: Vec<Goal> =
            large.map(|operation| self.roof_goal(operation.name, 64 * MIB, 2, 0.9)).collect();
        let both = |operation: &str, bytes| {
            let row = |how| self.find(operation, bytes, 2, how);
            row("two threads").zip(row("one thread"))
        };
        let cost = both("add, the least that is shared", 88 << 10);
        goals.push(Goal {
            what: "sharing 256 KiB of work: time on two threads less half of that on one"
                .to_owned(),
            measured: cost.map(|(two, one)| two.median() - one.median() / 2.0),
            bound: Bound::AtMost(250.0, " ns"),
        });
        let after = both("add, 30 us after 3 ms of idleness", MIB);
        let worst = |(two, one): (&Row, &Row)| {
            let rounds = two.times.iter().zip(&one.times);
            rounds.map(|(two, one)| two / one).fold(0.0, f64::max)
        };
        goals.push(Goal {
            what: "30 us of work after 3 ms of idleness: worst round, times one thread".to_owned(),
            measured: after.map(worst),
            bound: Bound::AtMost(1.05, ""),
        });
        goals
    }
}
