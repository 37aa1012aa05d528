//! The goals of files, and their table.

use std::fmt::Write as _;

use super::goals::{Bound, Goal};
use super::tables::named;
use super::{Report, size, time};
use crate::figures::Row;

impl Report {
    fn of_files(&self) -> impl Iterator<Item = &Row> {
        self.own().filter(|(figures, _)| figures.subject == "files").map(|(_, row)| row)
    }

    pub(super) fn file_goals(&self) -> Vec<Goal> {
        let find = |operation: &str, how: &str| {
            self.of_files().find(|row| row.operation == operation && row.how == how)
        };
        let opened = find("safetensors, opened", "mapped");
        let mut goals = vec![
            Goal {
                what: "safetensors of 90 MB, opened by a map".to_owned(),
                measured: opened.map(|row| row.median() / 1e6),
                bound: Bound::AtMost(1.0, " ms"),
            },
            Goal {
                what: "the same: growth of resident memory".to_owned(),
                measured: self.files_memory.first().map(|row| row.peak as f64 / f64::from(1 << 20)),
                bound: Bound::AtMost(1.0, " MiB"),
            },
        ];
        for operation in ["safetensors, read", "npy, read"] {
            let part = find(operation, "recycled").and_then(|row| self.part_of_roof(row));
            goals.push(Goal {
                what: format!("{operation}: time, in that of reading the bytes alone"),
                measured: part.map(|(part, _)| 1.0 / part),
                bound: Bound::AtMost(1.1, ""),
            });
        }
        goals
    }

    pub(super) fn file_table(&self) -> String {
        let mut text = String::from(
            "\n### Files in the system's cache\n\n\
             | what | bytes | memory | Tenure | time, of the roof's | best peer | faster by |\n\
             | --- | ---: | --- | ---: | ---: | --- | ---: |\n",
        );
        for row in self.of_files() {
            let Row { operation, bytes, how, .. } = row;
            let part = self.part_of_roof(row);
            let part = part.map_or(String::new(), |(part, _)| format!("{:.2}", 1.0 / part));
            let (peer, gain) = named(self.peers(row).first());
            let (bytes, own) = (size(*bytes), time(row.median()));
            let _ = writeln!(
                text,
                "| {operation} | {bytes} | {how} | {own} | {part} | {peer} | {gain} |"
            );
        }
        text
    }
}
