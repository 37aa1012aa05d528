//! The figures: kept as JSON and CSV in cargo's target folder, shown as a table.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{fs, io};

use serde_json::{Value, json};

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The kernel.
    pub name: String,
    /// Bytes of each array; 0 where there is none.
    pub bytes: u64,
    /// On how many threads.
    pub threads: usize,
    /// Unit of `median` and `best`: GB/s, 10^9 operations a second (`Gop/s`), or ns.
    pub unit: String,
    /// The median of the rounds.
    pub median: f64,
    /// The best of the rounds.
    pub best: f64,
}

/// The figures of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Processor, instruction set, rounds.
    pub machine: String,
    /// In the order in which they are shown.
    pub rows: Vec<Row>,
}

/// Where a run is kept, without the ending. A smoke run has a place of its own: it says nothing.
fn place(smoke: bool) -> PathBuf {
    crate::target_folder().join("roofs").join(if smoke { "smoke" } else { "roofs" })
}

impl Record {
    /// Writes `roofs/roofs.json` and `.csv` into cargo's target folder; returns the first's path.
    pub fn write(&self, smoke: bool) -> io::Result<PathBuf> {
        let path = place(smoke);
        fs::create_dir_all(path.parent().expect("joined above"))?;
        fs::write(path.with_extension("csv"), self.to_csv())?;
        let path = path.with_extension("json");
        fs::write(&path, format!("{:#}\n", self.to_json()))?;
        Ok(path)
    }

    /// Reads the record that `write` wrote; `None` where there is none.
    pub fn read(smoke: bool) -> Option<Record> {
        let text = fs::read_to_string(place(smoke).with_extension("json")).ok()?;
        let json: Value = serde_json::from_str(&text).ok()?;
        let row = |row: &Value| {
            Some(Row {
                name: row["name"].as_str()?.to_owned(),
                bytes: row["bytes"].as_u64()?,
                threads: row["threads"].as_u64()?.try_into().ok()?,
                unit: row["unit"].as_str()?.to_owned(),
                median: row["median"].as_f64()?,
                best: row["best"].as_f64()?,
            })
        };
        Some(Record {
            machine: json["machine"].as_str()?.to_owned(),
            rows: json["rows"].as_array()?.iter().map(row).collect::<Option<_>>()?,
        })
    }

    fn to_json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "name": row.name, "bytes": row.bytes, "threads": row.threads, "unit": row.unit,
                "median": row.median, "best": row.best,
            })
        };
        json!({ "machine": self.machine, "rows": self.rows.iter().map(row).collect::<Vec<_>>() })
    }

    fn to_csv(&self) -> String {
        let mut text = String::from("name,bytes,threads,unit,median,best\n");
        for Row { name, bytes, threads, unit, median, best } in &self.rows {
            // Names have commas.
            let _ = writeln!(text, "\"{name}\",{bytes},{threads},{unit},{median},{best}");
        }
        text
    }

    /// Two tables in Markdown: memory by size, and the rest. Each cell is the median and the best.
    pub fn to_markdown(&self) -> String {
        let mut sizes: Vec<u64> =
            self.rows.iter().map(|row| row.bytes).filter(|b| *b > 0).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut text = String::from("| GB/s | threads |");
        sizes.iter().for_each(|bytes| text += &format!(" {} |", size(*bytes)));
        text += "\n| --- | ---: |";
        text += &" ---: |".repeat(sizes.len());
        text.push('\n');
        let mut shown: Vec<(&str, usize)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.bytes > 0) {
            if shown.contains(&(&row.name, row.threads)) {
                continue;
            }
            shown.push((&row.name, row.threads));
            let _ = write!(text, "| {} | {} |", row.name, row.threads);
            for bytes in &sizes {
                let same = |other: &&Row| {
                    (&other.name, other.threads, other.bytes) == (&row.name, row.threads, *bytes)
                };
                text += &self.rows.iter().find(same).map_or(" |".to_owned(), cell);
            }
            text.push('\n');
        }
        text += "\n| what | threads | median (best) | unit |\n| --- | ---: | ---: | --- |\n";
        for row in self.rows.iter().filter(|row| row.bytes == 0) {
            let _ =
                writeln!(text, "| {} | {} |{} {} |", row.name, row.threads, cell(row), row.unit);
        }
        text
    }
}

fn cell(row: &Row) -> String {
    let digits = if row.median < 10.0 { 2 } else { usize::from(row.median < 100.0) };
    format!(" {:.digits$} ({:.digits$}) |", row.median, row.best)
}

fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes < 1 << 20 => format!("{} KiB", bytes >> 10),
        bytes if bytes < 1 << 30 => format!("{} MiB", bytes >> 20),
        bytes => format!("{} GiB", bytes >> 30),
    }
}
