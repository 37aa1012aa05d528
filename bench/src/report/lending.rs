//! Criterion's figures of making a tensor of existing memory: `./x bench lend`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Report, size, tables::table, time};

/// 2 GiB, as README has it.
const LARGE: u64 = 2 << 30;

/// One way, at one size.
pub(super) struct Lending {
    group: String,
    name: String,
    /// 0 where there is no size.
    bytes: u64,
    median_ns: f64,
}

/// Results that criterion keeps in cargo's target folder, the fastest of each size first.
pub(super) fn read() -> Vec<Lending> {
    let mut found = Vec::new();
    collect(&crate::target_folder().join("criterion"), &mut found);
    found.sort_by(|a: &Lending, b| {
        (&a.group, a.bytes).cmp(&(&b.group, b.bytes)).then(a.median_ns.total_cmp(&b.median_ns))
    });
    found
}

/// Reads every measurement below a folder; an unreadable one is left out.
fn collect(folder: &Path, found: &mut Vec<Lending>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        if path.ends_with("new") {
            found.extend(read_one(&path));
        } else {
            collect(&path, found);
        }
    }
}

fn read_one(folder: &Path) -> Option<Lending> {
    let json = |name: &str| -> Option<Value> {
        serde_json::from_str(&fs::read_to_string(folder.join(name)).ok()?).ok()
    };
    let (id, estimates) = (json("benchmark.json")?, json("estimates.json")?);
    let text = |key: &str| id[key].as_str().unwrap_or_default().to_owned();
    Some(Lending {
        group: text("group_id"),
        name: text("function_id"),
        bytes: text("value_str").parse().unwrap_or(0),
        median_ns: estimates["median"]["point_estimate"].as_f64()?,
    })
}

impl Report {
    /// Everything that criterion measured.
    pub(super) fn lending_table(&self) -> String {
        let row = |one: &Lending| {
            let bytes = if one.bytes == 0 { String::new() } else { size(one.bytes) };
            [one.group.clone(), bytes, one.name.clone(), time(one.median_ns)].into()
        };
        let rows = self.lending.iter().map(row).collect();
        table("### Lending, and copying", &["group", "bytes", "what", "median"], rows)
    }

    /// Rows of 2 GiB: lending, and copying.
    pub(super) fn lending_headline(&self) -> String {
        let row = |group: &str, copied: &str| {
            let wanted = |one: &&Lending| {
                (&*one.group, one.bytes) == (group, LARGE) && !one.name.ends_with(", slice")
            };
            let row =
                |one: &Lending| vec![one.name.clone(), time(one.median_ns), copied.to_owned()];
            self.lending.iter().filter(wanted).map(row).collect::<Vec<_>>()
        };
        let rows = [row("lend", "0"), row("copy", "all")].concat();
        let columns = ["2 GiB of f64 that are in memory already", "time", "bytes copied"];
        table("", &columns, rows)
    }
}
