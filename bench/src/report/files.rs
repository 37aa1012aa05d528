//! The goals of files, and their table.

use super::Report;
use super::goals::{Bound, Goal};
use super::tables::files;
use crate::figures::Row;

impl Report {
    pub(super) fn file_goals(&self) -> Vec<Goal> {
        let rows: Vec<&Row> = files(&self.without_kernels);
        let find = |operation: &str, how: &str| {
            rows.iter().find(|row| row.operation == operation && row.how == how)
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
            let row = find(operation, "recycled");
            let part = row.and_then(|row| self.without_kernels.part_of_roof(row));
            goals.push(Goal {
                what: format!("{operation}: time, in that of reading the bytes alone"),
                measured: part.map(|(part, _)| 1.0 / part),
                bound: Bound::AtMost(1.1, ""),
            });
        }
        goals
    }
}
