//! Reads the measurements, and reports how they compare: under each instruction set, on one thread
//! and on two.

use std::fs;
use std::path::Path;

use crate::figures::WITHOUT_KERNELS;
use crate::memory::{Growth, read};
use crate::roofs::record::Record;
use lending::Lending;
use run::Run;

mod charts;
mod files;
mod goals;
mod headlines;
mod lending;
mod memory;
pub mod plots;
mod roofline;
mod run;
mod sparse;
mod tables;

/// The subjects of each instruction set, in the order of the report; those of Python are what
/// `peers.py` and `sparse_peers.py` measure.
const WITH_KERNELS: [&str; 13] = [
    "elementwise",
    "movement",
    "reduce",
    "matmul",
    "quantized",
    "conv2d",
    "windows",
    "threads",
    "call",
    "loader",
    "sparse",
    "python",
    "python-sparse",
];

/// Everything that was measured.
pub struct Report {
    /// One for each instruction set, the widest last.
    runs: Vec<Run>,
    /// Figures that do not depend on the set.
    without_kernels: Run,
    memory: Vec<Growth>,
    files_memory: Vec<Growth>,
    roofs: Option<Record>,
    lending: Vec<Lending>,
}

impl Report {
    /// Reads `folder` and its folders of instruction sets.
    pub fn read(folder: &Path) -> Report {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let sets = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let runs = sets.map(|set| Run::read(folder, &set, &WITH_KERNELS));
        let mut runs: Vec<Run> = runs.filter(|run| !run.figures.is_empty()).collect();
        // x86-64-v2, avx2, avx512.
        runs.sort_by(|a, b| {
            let key = |run: &Run| (run.set.starts_with("avx"), run.set.clone());
            key(a).cmp(&key(b))
        });
        let memory = ["memory", "python-memory"];
        Report {
            runs,
            without_kernels: Run::read(folder, "", &WITHOUT_KERNELS),
            memory: memory.iter().flat_map(|name| read(folder, name)).collect(),
            files_memory: read(folder, "files-memory"),
            roofs: None,
            lending: Vec::new(),
        }
    }

    /// Adds the figures of benches that keep them elsewhere in cargo's target folder.
    pub fn with_target_folder(self) -> Report {
        Report { roofs: Record::read(false), lending: lending::read(), ..self }
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.without_kernels.figures.is_empty()
    }

    fn all_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().chain([&self.without_kernels])
    }

    /// Reasons to write nothing, in words: figures and roofs of different runs, or else figures
    /// above their roof, which then was wrong.
    pub fn refusals(&self) -> Vec<String> {
        let apart: Vec<String> = self.all_runs().flat_map(Run::of_other_runs).collect();
        if !apart.is_empty() {
            return apart;
        }
        self.all_runs().flat_map(Run::above_their_roofs).collect()
    }

    /// The part of `bench/README.md` that is written by the report.
    pub fn to_markdown(&self) -> String {
        let roofs = self
            .roofs
            .as_ref()
            .map(|record| format!("\n### Roofs\n\n{}\n\n{}", record.machine, record.to_markdown()));
        [self.goals(), self.tables(), roofs.unwrap_or_default()].concat()
    }

    /// Which sets there are figures of, in a sentence.
    fn sets_in_words(&self) -> String {
        let names: Vec<&str> = self.runs.iter().map(Run::name).collect();
        let measured = format!("Under {}, on one thread and on two.", names.join(" and under "));
        if names.contains(&"AVX-512") {
            return measured;
        }
        let has_it = crate::roofs::kernels::sets().last().is_some_and(|set| set.name == "avx512");
        let why = if has_it { "was not measured" } else { "is not among this processor's sets" };
        format!("{measured} AVX-512 {why}.")
    }
}

/// A time in a unit in which it has few digits.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// Bytes in the usual unit; KiB and GiB are rounded down, and MiB to one decimal.
fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes < 1 << 10 => format!("{bytes} B"),
        bytes if bytes < 1 << 20 => format!("{} KiB", bytes >> 10),
        bytes if bytes < 1 << 30 && bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        bytes if bytes < 1 << 30 => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        bytes => format!("{} GiB", bytes >> 30),
    }
}
