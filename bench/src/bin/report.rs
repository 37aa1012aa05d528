//! Prints what the benches measured as a table: the median of each, and how many times the first of
//! its group that is. Then the roofs, where they were measured.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use bench::roofs::record::Record;
use serde_json::Value;

/// The line of a group that the others are divided by.
const ANCHORS: [(&str, &str); 4] = [
    ("roof", "copy"),
    ("lend", "tenure from_slice"),
    ("copy", "tenure copy_from_slice"),
    ("add 8 f32", "tenure add_into, views"),
];

struct Line {
    group: String,
    name: String,
    value: String,
    median_ns: f64,
}

fn main() {
    let mut lines = Vec::new();
    collect(&bench::target_folder().join("criterion"), &mut lines);
    lines.sort_by(|a, b| {
        let size = |line: &Line| line.value.parse::<u64>().unwrap_or(0);
        (&a.group, size(a)).cmp(&(&b.group, size(b))).then(a.median_ns.total_cmp(&b.median_ns))
    });
    println!("CPU: {}\n", bench::cpu_model());
    println!("| group | bytes | what | median | ratio |");
    println!("| --- | ---: | --- | ---: | ---: |");
    for line in &lines {
        let ratio = anchor(&lines, line)
            .map_or(String::new(), |anchor| format!("{:.2}", line.median_ns / anchor.median_ns));
        let Line { group, name, value, median_ns } = line;
        println!("| {group} | {value} | {name} | {} | {ratio} |", time(*median_ns));
    }
    if let Some(record) = Record::read(false) {
        println!("\nRoofs: {}\n\n{}", record.machine, record.to_markdown());
    }
}

/// Reads every measurement below a folder; an unreadable one is left out.
fn collect(folder: &Path, lines: &mut Vec<Line>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        if path.ends_with("new") {
            lines.extend(read(&path));
        } else {
            collect(&path, lines);
        }
    }
}

fn read(folder: &Path) -> Option<Line> {
    let json = |name: &str| -> Option<Value> {
        serde_json::from_str(&fs::read_to_string(folder.join(name)).ok()?).ok()
    };
    let (id, estimates) = (json("benchmark.json")?, json("estimates.json")?);
    let text = |key: &str| id[key].as_str().unwrap_or_default().to_owned();
    Some(Line {
        group: text("group_id"),
        name: text("function_id"),
        value: text("value_str"),
        median_ns: estimates["median"]["point_estimate"].as_f64()?,
    })
}

fn anchor<'a>(lines: &'a [Line], line: &Line) -> Option<&'a Line> {
    let (_, name) = ANCHORS.iter().find(|(group, _)| *group == line.group)?;
    lines
        .iter()
        .find(|other| other.group == line.group && other.value == line.value && other.name == *name)
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns => format!("{:.1} ms", ns / 1e6),
    }
}
