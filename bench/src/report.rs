//! Reads what was measured, and says how it compares.

use std::path::Path;

use crate::figures::{Figures, Row};
use crate::memory::{self, Growth};
use crate::roofs::record::Record;

mod files;
mod goals;
pub mod plots;
mod sparse;
mod svg;
mod tables;

/// The subjects, in the order of the report; those of Python are what `peers.py` and
/// `sparse_peers.py` measure.
const SUBJECTS: [&str; 11] = [
    "elementwise",
    "movement",
    "reduce",
    "threads",
    "call",
    "alloc",
    "loader",
    "sparse",
    "files",
    "python",
    "python-sparse",
];

/// How far above its roof a figure may be: rounds differ by this much.
const TOLERANCE: f64 = 1.05;

/// Everything that was measured.
pub struct Report {
    figures: Vec<Figures>,
    memory: Vec<Growth>,
    files_memory: Vec<Growth>,
    roofs: Option<Record>,
}

/// A peer beside Tenure, measured in the same rounds.
pub struct Beside<'a> {
    /// The peer.
    pub peer: &'a Row,
    /// How many times as fast as the peer Tenure is, in the median of the rounds.
    pub gain: f64,
    /// The same of the best round of each.
    pub best_gain: f64,
}

impl Report {
    /// What lies in `folder`, and the roofs in cargo's target folder.
    pub fn read(folder: &Path) -> Report {
        let figures = SUBJECTS.iter().filter_map(|name| Figures::read(folder, name)).collect();
        let memory = ["memory", "python-memory"];
        let memory = memory.iter().flat_map(|name| memory::read(folder, name)).collect();
        let files_memory = memory::read(folder, "files-memory");
        Report { figures, memory, files_memory, roofs: Record::read(false) }
    }

    /// What was measured, subject by subject.
    pub fn figures(&self) -> &[Figures] {
        &self.figures
    }

    /// Tenure's own rows from Rust, and the figures they are in.
    fn own(&self) -> impl Iterator<Item = (&Figures, &Row)> {
        let from_rust = self.figures.iter().filter(|one| !one.subject.starts_with("python"));
        let rows = from_rust.flat_map(|figures| figures.rows.iter().map(move |row| (figures, row)));
        rows.filter(|(_, row)| row.library == "tenure")
    }

    /// Tenure's row of an operation in one form.
    fn find(&self, operation: &str, bytes: u64, threads: usize, how: &str) -> Option<&Row> {
        let wanted = (operation, bytes, threads, how);
        let is_it = |row: &Row| (&*row.operation, row.bytes, row.threads, &*row.how) == wanted;
        self.own().map(|(_, row)| row).find(|row| is_it(row))
    }

    /// How much of its roof a row has: the best of the roofs beside it.
    fn part_of_roof(&self, own: &Row) -> Option<(f64, &Row)> {
        let (figures, _) = self.own().find(|(_, row)| std::ptr::eq(*row, own))?;
        let roofs = figures.rows.iter().filter(|row| row.library == "roof" && row.is_beside(own));
        roofs.map(|roof| (own.speed_over(roof), roof)).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The peers that were measured beside Tenure doing the same in the same form, from Rust and
    /// from Python; the one that does best against it first.
    fn peers(&self, own: &Row) -> Vec<Beside<'_>> {
        let same = |row: &&Row| {
            (&row.operation, row.bytes, row.threads) == (&own.operation, own.bytes, own.threads)
                && form(&row.how) == form(&own.how)
        };
        let mut found = Vec::new();
        for figures in &self.figures {
            let rows = || figures.rows.iter().filter(same);
            let Some(anchor) = rows().find(|row| row.library == "tenure") else { continue };
            let peers = rows().filter(|row| !["tenure", "roof"].contains(&&*row.library));
            let beside = |peer| Beside {
                peer,
                gain: anchor.speed_over(peer),
                best_gain: anchor.best_speed_over(peer),
            };
            found.extend(peers.filter(|row| row.is_beside(anchor)).map(beside));
        }
        found.sort_by(|a, b| a.gain.total_cmp(&b.gain));
        found
    }

    /// What Tenure does faster than its roof allows, in words: then the roof was wrong.
    pub fn above_their_roofs(&self) -> Vec<String> {
        let above = |(figures, own): (&Figures, &Row)| {
            let (part, roof) = self.part_of_roof(own)?;
            // The same kind was measured beside other operations of this size too.
            let is_like = |row: &&Row| {
                row.library == "roof" && (row.bytes, row.threads) == (own.bytes, own.threads)
            };
            let is_beside = |how: &str| {
                figures
                    .rows
                    .iter()
                    .any(|row| row.library == "roof" && row.how == how && row.is_beside(own))
            };
            let roofs = figures.rows.iter().filter(is_like).filter(|row| is_beside(&row.how));
            let best = roofs.map(|roof| own.best_speed_over(roof)).fold(f64::INFINITY, f64::min);
            // Both, so that slow rounds of the roof alone are no reason.
            (part > TOLERANCE && best > TOLERANCE).then(|| {
                let Row { operation, bytes, threads, how, .. } = own;
                format!(
                    "{operation} ({how}) of {bytes} bytes on {threads} threads is {part:.2} times \
                     as fast as its roof, \"{}\": the roof is wrong",
                    roof.how
                )
            })
        };
        // Of sparse matrices the roof is a mix of two kernels, and of files the system's one way of
        // reading: not the best of several.
        let has_best = |subject: &str| !["sparse", "files"].contains(&subject);
        let own = self.own().filter(|(figures, _)| has_best(&figures.subject));
        own.filter_map(above).collect()
    }

    /// The part of `bench/README.md` that is written by the report.
    pub fn to_markdown(&self) -> String {
        let roofs = self
            .roofs
            .as_ref()
            .map(|record| format!("\n### Roofs\n\n{}\n\n{}", record.machine, record.to_markdown()));
        [self.goals(), self.tables(), roofs.unwrap_or_default()].concat()
    }
}

/// Results in memory that is given and in memory so small that it costs nothing are of one form.
fn form(how: &str) -> &str {
    if how == "allocates" { "into" } else { how }
}

/// A time in a unit in which it has few digits.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns => (ns / 1e6, "ms"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// Bytes as people say them; what is no whole number of KiB or MiB is rounded.
fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes < 1 << 10 => format!("{bytes} B"),
        bytes if bytes < 1 << 20 => format!("{} KiB", bytes >> 10),
        bytes if bytes < 1 << 30 && bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        bytes if bytes < 1 << 30 => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        bytes => format!("{} GiB", bytes >> 30),
    }
}
