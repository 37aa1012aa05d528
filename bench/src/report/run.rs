//! Measurements under one instruction set, and how its rows compare.

use std::path::Path;

use super::plots::crossing;
use super::tables::PERMUTATION;
use crate::figures::{Figures, Row};

/// How far above its roof a figure may be: rounds differ by this much.
const TOLERANCE: f64 = 1.05;

/// The figures of one instruction set, or those that are the same under all of them.
pub struct Run {
    /// Empty where it does not matter.
    pub(super) set: String,
    pub(super) figures: Vec<Figures>,
}

/// A peer that was measured in the same rounds as Tenure.
pub(super) struct Beside<'a> {
    /// The peer.
    pub(super) peer: &'a Row,
    /// How many times as fast as the peer Tenure is, in the median of the rounds.
    pub(super) gain: f64,
    /// The gain from the best round of each.
    pub(super) best_gain: f64,
}

impl Run {
    /// The figures of these subjects that lie in the folder of a set.
    pub(super) fn read(folder: &Path, set: &str, subjects: &[&str]) -> Run {
        let folder = folder.join(set);
        let figures = subjects.iter().filter_map(|name| Figures::read(&folder, name)).collect();
        Run { set: set.to_owned(), figures }
    }

    /// The set as readers know it.
    pub(super) fn name(&self) -> &str {
        match &*self.set {
            "" => "Tenure",
            "avx2" => "AVX2",
            "avx512" => "AVX-512",
            other => other,
        }
    }

    /// Tenure's own rows from Rust, and the figures they are in.
    pub(super) fn own(&self) -> impl Iterator<Item = (&Figures, &Row)> {
        let from_rust = self.figures.iter().filter(|one| !one.subject.starts_with("python"));
        let rows = from_rust.flat_map(|figures| figures.rows.iter().map(move |row| (figures, row)));
        rows.filter(|(_, row)| row.library == "tenure")
    }

    /// Tenure's row of an operation in one form.
    pub(super) fn find(
        &self,
        operation: &str,
        bytes: u64,
        threads: usize,
        how: &str,
    ) -> Option<&Row> {
        let wanted = (operation, bytes, threads, how);
        let is_it = |row: &Row| (&*row.operation, row.bytes, row.threads, &*row.how) == wanted;
        self.own().map(|(_, row)| row).find(|row| is_it(row))
    }

    /// Like `find`, for an operation that was measured at one size.
    pub(super) fn find_only(&self, operation: &str, threads: usize, how: &str) -> Option<&Row> {
        let wanted = (operation, threads, how);
        let is_it = |row: &Row| (&*row.operation, row.threads, &*row.how) == wanted;
        self.own().map(|(_, row)| row).find(|row| is_it(row))
    }

    /// How much of its roof a row has: the best of the roofs in the same rounds.
    pub(super) fn part_of_roof(&self, own: &Row) -> Option<(f64, &Row)> {
        let (figures, _) = self.own().find(|(_, row)| std::ptr::eq(*row, own))?;
        let roofs = figures.rows.iter().filter(|row| row.library == "roof" && row.is_beside(own));
        roofs.map(|roof| (own.speed_over(roof), roof)).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The peers that did the same operation in the same form, in the same rounds as Tenure, from
    /// Rust and from Python; the best one against Tenure first.
    pub(super) fn peers(&self, own: &Row) -> Vec<Beside<'_>> {
        let same = |row: &&Row| row.is_of_same_work(own) && form(&row.how) == form(&own.how);
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

    /// Figures of another set than their folder's, and rows whose roof is of another run, in words.
    pub(super) fn of_other_runs(&self) -> Vec<String> {
        let misplaced = self.figures.iter().filter(|figures| figures.set != self.set);
        let misplaced = misplaced.map(|Figures { subject, set, .. }| {
            format!("{subject} was measured under {set:?} and lies in the folder {:?}", self.set)
        });
        let apart = self.own().flat_map(|(figures, own)| {
            let is_its_roof = |row: &&Row| row.library == "roof" && row.is_of_same_work(own);
            let roofs = figures.rows.iter().filter(is_its_roof);
            roofs.filter(|roof| roof.run != own.run).map(move |roof| {
                let Row { operation, bytes, threads, how, run, .. } = own;
                format!(
                    "{operation} ({how}) of {bytes} bytes on {threads} threads is of the run \
                     {run:?}, and its roof, \"{}\", of {:?}: measure both in one",
                    roof.how, roof.run
                )
            })
        });
        misplaced.chain(apart).collect()
    }

    /// Figures above their roof, in words: then the roof was wrong.
    pub(super) fn above_their_roofs(&self) -> Vec<String> {
        let above = |(figures, own): (&Figures, &Row)| {
            let (part, roof) = self.part_of_roof(own)?;
            // Other operations of this size were measured with the same kind too.
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
            // Both, so that slow rounds of only the roof are no reason.
            (part > TOLERANCE && best > TOLERANCE).then(|| {
                let Row { operation, bytes, threads, how, .. } = own;
                format!(
                    "{operation} ({how}) of {bytes} bytes on {threads} threads is {part:.2} times \
                     as fast as its roof, \"{}\": the roof is wrong",
                    roof.how
                )
            })
        };
        // The roof of sparse matrices is a mix of two kernels, and that of files the system's one
        // way of reading: not the best of several. The roof of quantized rows reads more bytes than
        // the weights that a cache holds.
        let has_best = |subject: &str| !["sparse", "files", "quantized"].contains(&subject);
        // In a cache two threads are done before they have found each other: a call may do better
        // on one thread, and the roof may not.
        let lasts = |row: &Row| row.threads == 1 || row.bytes >= 64 << 20;
        let own = self.own().filter(|(figures, row)| has_best(&figures.subject) && lasts(row));
        own.filter_map(above).collect()
    }

    /// For each drawn permutation: the part of the copy roof, and how many times as fast as
    /// PyTorch.
    pub(super) fn drawn_permutations(&self, threads: usize) -> (Vec<f64>, Vec<f64>) {
        let drawn = || {
            let rows = self.own().map(|(_, row)| row);
            rows.filter(|row| row.operation.starts_with(PERMUTATION) && row.threads == threads)
        };
        let parts = drawn().filter_map(|row| Some(self.part_of_roof(row)?.0)).collect();
        let gains = drawn().filter_map(|row| Some(self.peers(row).first()?.gain)).collect();
        (parts, gains)
    }

    /// Figures of calls on `count` elements; `None` where none were measured.
    pub(super) fn call(&self, library: &str, how: &str, count: u64) -> Option<&Row> {
        let mut rows = self.figures.iter().flat_map(|figures| &figures.rows);
        rows.find(|row| {
            row.operation.starts_with("call")
                && (&*row.library, &*row.how, row.bytes) == (library, how, count * 4)
        })
    }

    /// Elements, and nanoseconds of a call on them.
    pub(super) fn call_points(&self, library: &str, how: &str) -> Vec<(f64, f64)> {
        let rows = self.figures.iter().flat_map(|figures| &figures.rows).filter(|row| {
            row.operation.starts_with("call") && (&*row.library, &*row.how) == (library, how)
        });
        rows.map(|row| (row.bytes as f64 / 4.0, row.median())).collect()
    }

    /// The ways to call, in the order in which they were measured.
    pub(super) fn ways_to_call(&self) -> Vec<(&str, &str)> {
        let mut ways = Vec::new();
        for row in self.figures.iter().flat_map(|figures| &figures.rows) {
            let way = (&*row.library, &*row.how);
            // From Python, Tenure is measured through ctypes: that is no figure of Tenure.
            if row.operation.starts_with("call") && row.how != "cold" && !ways.contains(&way) {
                ways.push(way);
            }
        }
        ways.retain(|way| *way != ("tenure", "into"));
        ways
    }

    /// From how many elements on Tenure, from Rust and in the same form, is faster than a peer.
    pub(super) fn faster_from(&self, library: &str, how: &str) -> Option<String> {
        let allocates = ["recycled", "allocates"].contains(&how);
        let own = self.call_points("tenure", if allocates { "recycled" } else { "into views" });
        let peer = self.call_points(library, how);
        let is_faster = |(x, y): &(f64, f64)| Some(*y < own.iter().find(|point| point.0 == *x)?.1);
        let compared: Vec<bool> = peer.iter().filter_map(is_faster).collect();
        match crossing(&own, &peer) {
            Some((elements, _)) => Some(format!("{elements:.0} elements")),
            None if compared.is_empty() => None,
            None if compared.contains(&true) => Some("never".to_owned()),
            None => Some("1 element".to_owned()),
        }
    }
}

/// Results in memory that is given and in memory so small that it costs nothing are of one form.
fn form(how: &str) -> &str {
    if how == "allocates" { "into" } else { how }
}
