//! The figures as tables in Markdown.

use std::fmt::Write as _;

use super::plots::crossing;
use super::{Beside, Report, size, time};
use crate::figures::Row;
use crate::rounds::median_and_least;

/// How the names of the drawn permutations begin.
const PERMUTATION: &str = "permute ";

/// Elements of which the table of calls tells.
const CALLS: [u64; 6] = [1, 8, 64, 512, 8192, 1_000_000];

impl Report {
    /// Every table, each under its heading.
    pub(super) fn tables(&self) -> String {
        [
            self.machine(),
            self.given(),
            self.allocated(),
            self.sparse_table(),
            self.memory_table(),
            self.file_table(),
            self.permutations(),
            self.shared(),
            self.calls(),
            self.allocation(),
        ]
        .into_iter()
        .filter(|table| !table.trim_end().ends_with("--- |") && !table.ends_with(": |\n"))
        .collect()
    }

    fn machine(&self) -> String {
        let mut text = String::from("\n### What was measured, and on what\n\n");
        text += "| subject | UTC | load before | processor |\n| --- | --- | --- | --- |\n";
        for figures in &self.figures {
            let (subject, date, load, cpu) =
                (&figures.subject, &figures.date, &figures.load, &figures.cpu);
            let _ = writeln!(text, "| `{subject}` | {date} | {load} | {cpu} |");
        }
        let mut versions: Vec<_> = self.figures.iter().flat_map(|one| &one.versions).collect();
        versions.sort();
        versions.dedup();
        let named: Vec<_> =
            versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let _ =
            writeln!(text, "\nVersions: {}.", named.join("; ").replace("tenure tenure", "tenure"));
        text
    }

    /// The rows of Tenure in some forms, in the order of the subjects.
    fn rows<'a>(&'a self, forms: &'a [&str]) -> impl Iterator<Item = &'a Row> {
        let drawn = |row: &Row| row.operation.starts_with(PERMUTATION);
        let wanted = move |row: &&Row| forms.contains(&&*row.how) && !drawn(row);
        self.own()
            .filter(|(figures, _)| !["call", "alloc", "files"].contains(&&*figures.subject))
            .map(|(_, row)| row)
            .filter(wanted)
    }

    fn given(&self) -> String {
        let mut text = String::from(
            "\n### Into memory that is there\n\n\
             | operation | each array | threads | Tenure | GB/s | of the roof | best peer | \
             Tenure is faster by |\n\
             | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |\n",
        );
        for row in self.rows(&["into"]) {
            let Row { operation, bytes, threads, .. } = row;
            let bytes = size(*bytes);
            let own = format!("{} ({})", time(row.median()), time(row.best()));
            let speed = row.traffic as f64 / row.median();
            let part = self.part_of_roof(row).map_or(String::new(), |(part, roof)| {
                format!("{part:.2} ({:.2})", row.best_speed_over(roof))
            });
            let (peer, gain) = named(self.peers(row).first());
            let _ = writeln!(
                text,
                "| {operation} | {bytes} | {threads} | {own} | {speed:.1} | {part} | {peer} | {gain} |"
            );
        }
        text
    }

    fn allocated(&self) -> String {
        let mut text = String::from(
            "\n### Into memory that the operation allocates\n\n\
             | operation | result | threads | Tenure cold | best peer | faster by | \
             Tenure recycled | best peer | faster by |\n\
             | --- | ---: | ---: | ---: | --- | ---: | ---: | --- | ---: |\n",
        );
        let sparse = |row: &&Row| {
            let mut own = self.own().filter(|(figures, _)| figures.subject == "sparse");
            own.any(|(_, one)| std::ptr::eq(one, *row))
        };
        for cold in self.rows(&["cold"]).filter(|row| !sparse(row)) {
            let Row { operation, bytes, threads, .. } = cold;
            let _ = write!(text, "| {operation} | {} | {threads} |", size(*bytes));
            for row in [Some(cold), self.find(operation, *bytes, *threads, "recycled")] {
                let own = row.map_or(String::new(), |row| time(row.median()));
                let (peer, gain) =
                    named(row.and_then(|row| self.peers(row).into_iter().next()).as_ref());
                let _ = write!(text, " {own} | {peer} | {gain} |");
            }
            text.push('\n');
        }
        text
    }

    /// For each drawn permutation: the part of the copy roof, and how many times as fast as PyTorch.
    pub(super) fn drawn_permutations(&self) -> (Vec<f64>, Vec<f64>) {
        let drawn = || {
            let rows = self.own().map(|(_, row)| row);
            rows.filter(|row| row.operation.starts_with(PERMUTATION) && row.threads == 1)
        };
        let parts = drawn().filter_map(|row| Some(self.part_of_roof(row)?.0)).collect();
        let gains = drawn().filter_map(|row| Some(self.peers(row).first()?.gain)).collect();
        (parts, gains)
    }

    fn permutations(&self) -> String {
        let (parts, gains) = self.drawn_permutations();
        let mut text = String::from(
            "\n### Random permutations of 3 to 6 axes, 64 MiB, one thread\n\n\
             | what | of | worst | median | best |\n| --- | ---: | ---: | ---: | ---: |\n",
        );
        for (name, mut figures) in
            [("part of the copy roof", parts), ("times as fast as PyTorch", gains)]
        {
            figures.sort_unstable_by(f64::total_cmp);
            let Some((worst, best)) = figures.first().zip(figures.last()) else { continue };
            let (median, count) = (median_and_least(&figures).0, figures.len());
            let _ = writeln!(text, "| {name} | {count} | {worst:.2} | {median:.2} | {best:.2} |");
        }
        text
    }

    fn shared(&self) -> String {
        let mut text = String::from(
            "\n### On two threads\n\n\
             | operation | each array | one thread | two threads | faster by | in the worst round |\n\
             | --- | ---: | ---: | ---: | ---: | ---: |\n",
        );
        for two in self.rows(&["into", "two threads"]).filter(|row| row.threads == 2) {
            let Row { operation, bytes, .. } = two;
            let Some(one) = self.find(operation, *bytes, 2, "one thread") else { continue };
            let rounds = one.times.iter().zip(&two.times);
            let worst = rounds.map(|(one, two)| one / two).fold(f64::INFINITY, f64::min);
            let gain = two.speed_over(one);
            let (bytes, one, two) = (size(*bytes), time(one.median()), time(two.median()));
            let _ = writeln!(
                text,
                "| {operation} | {bytes} | {one} | {two} | {gain:.2} | {worst:.2} |"
            );
        }
        text
    }

    /// What was measured of calls on so many elements; `None` where nothing was.
    pub(super) fn call(&self, library: &str, how: &str, count: u64) -> Option<&Row> {
        let mut rows = self.figures.iter().flat_map(|figures| &figures.rows);
        rows.find(|row| {
            row.operation.starts_with("call")
                && (&*row.library, &*row.how, row.bytes) == (library, how, count * 4)
        })
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

    fn calls(&self) -> String {
        let mut text = String::from("\n### One call: adding so many f32\n\n| who | how |");
        CALLS.iter().for_each(|count| text += &format!(" {count} |"));
        text += " Tenure is faster from |\n| --- | --- |";
        text += &" ---: |".repeat(CALLS.len() + 1);
        text.push('\n');
        for (library, how) in self.ways_to_call() {
            let _ = write!(text, "| {} | {how} |", caller(library));
            for count in CALLS {
                let row = self.call(library, how, count);
                let _ = write!(text, " {} |", row.map_or(String::new(), |row| time(row.median())));
            }
            let from = if library == "tenure" { None } else { self.faster_from(library, how) };
            let _ = writeln!(text, " {} |", from.unwrap_or_default());
        }
        text
    }

    /// From how many elements on Tenure, from Rust and in the same form, is faster than a peer.
    fn faster_from(&self, library: &str, how: &str) -> Option<String> {
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

    fn allocation(&self) -> String {
        let mut text = String::from(
            "\n### Getting memory and giving it back\n\n\
             | bytes | Tenure cold | malloc cold | Tenure recycled | malloc recycled | \
             written: Tenure cold | malloc cold | Tenure recycled | malloc recycled |\n\
             | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        );
        let Some(figures) = self.figures.iter().find(|one| one.subject == "alloc") else {
            return String::new();
        };
        let mut sizes: Vec<u64> = figures.rows.iter().map(|row| row.bytes).collect();
        sizes.dedup();
        for bytes in sizes {
            let _ = write!(text, "| {} |", size(bytes));
            for operation in ["allocate", "allocate and write"] {
                for how in ["cold", "recycled"] {
                    for library in ["tenure", "malloc"] {
                        let row = figures.rows.iter().find(|row| {
                            (&*row.operation, row.bytes, &*row.how, &*row.library)
                                == (operation, bytes, how, library)
                        });
                        let cell = row.map_or(String::new(), |row| time(row.median()));
                        let _ = write!(text, " {cell} |");
                    }
                }
            }
            text.push('\n');
        }
        text
    }
}

/// How peers that are called from Python are told from the others.
pub(super) fn caller(library: &str) -> String {
    match library {
        "PyTorch" | "NumPy" => format!("{library}, from Python"),
        other => other.to_owned(),
    }
}

/// Name and time of a peer, and what is gained over it.
pub(super) fn named(beside: Option<&Beside<'_>>) -> (String, String) {
    beside.map_or_else(Default::default, |Beside { peer, gain, best_gain }| {
        (format!("{} {}", peer.library, time(peer.median())), format!("{gain:.2} ({best_gain:.2})"))
    })
}
