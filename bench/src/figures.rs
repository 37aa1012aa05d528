//! The figures of one subject: kept as JSON in cargo's target folder, for the report to read. Each
//! instruction set has a separate folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use serde_json::{Map, Value, json};

use crate::rounds::median_and_least;

/// One way to do one thing, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The operation. Together with `bytes` and `threads`: what this is to be compared within.
    pub operation: String,
    /// Bytes of each array.
    pub bytes: u64,
    /// On how many threads.
    pub threads: usize,
    /// Who does it; `roof` for what the memory allows.
    pub library: String,
    /// In which form, e.g. `into`, `cold`, `recycled`.
    pub how: String,
    /// Bytes that have to be read and written for it, however it is done.
    pub traffic: u64,
    /// The process that measured it, under one set: a row and its roof are of one.
    pub run: String,
    /// Nanoseconds in each round. Rows that belong together have the same rounds.
    pub times: Vec<f64>,
}

impl Row {
    /// The median of the rounds, in nanoseconds.
    pub fn median(&self) -> f64 {
        median_and_least(&self.times).0
    }

    /// The best round, in nanoseconds.
    pub fn best(&self) -> f64 {
        median_and_least(&self.times).1
    }

    /// Whether the two are of one operation at one size, on as many threads.
    pub fn is_of_same_work(&self, other: &Row) -> bool {
        (&self.operation, self.bytes, self.threads)
            == (&other.operation, other.bytes, other.threads)
    }

    /// Whether the two were measured in turn: in the same rounds of the same program.
    pub fn is_beside(&self, other: &Row) -> bool {
        self.is_of_same_work(other)
            && self.run == other.run
            && self.times.len() == other.times.len()
    }

    /// The ratio of this row's speed to that of `other`, in bytes that have to be moved: the median
    /// over the common rounds. Where neither moves any, in time.
    pub fn speed_over(&self, other: &Row) -> f64 {
        let moved = self.traffic_over(other);
        let rounds = self.times.iter().zip(&other.times);
        median_and_least(&rounds.map(|(own, other)| moved * other / own).collect::<Vec<_>>()).0
    }

    /// Like `speed_over`, for the best round of each.
    pub fn best_speed_over(&self, other: &Row) -> f64 {
        self.traffic_over(other) * other.best() / self.best()
    }

    fn traffic_over(&self, other: &Row) -> f64 {
        if (self.traffic, other.traffic) == (0, 0) {
            return 1.0;
        }
        self.traffic as f64 / other.traffic as f64
    }

    fn to_json(&self) -> Value {
        json!({
            "operation": self.operation, "bytes": self.bytes, "threads": self.threads,
            "library": self.library, "how": self.how, "traffic": self.traffic,
            "run": self.run,
            "median_ns": self.median(), "best_ns": self.best(), "times_ns": self.times,
        })
    }

    fn from_json(json: &Value, run: &str) -> Option<Row> {
        let text = |name: &str| Some(json[name].as_str()?.to_owned());
        let times: Vec<f64> =
            json["times_ns"].as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
        (!times.is_empty()).then_some(Row {
            operation: text("operation")?,
            bytes: json["bytes"].as_u64()?,
            threads: json["threads"].as_u64()?.try_into().ok()?,
            library: text("library")?,
            how: text("how")?,
            traffic: json["traffic"].as_u64()?,
            run: json["run"].as_str().unwrap_or(run).to_owned(),
            times,
        })
    }
}

/// The subjects with equal figures under every instruction set: they time no kernel of the library.
pub const WITHOUT_KERNELS: [&str; 2] = ["alloc", "files"];

/// The figures of one subject, from one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// The bench that they are of.
    pub subject: String,
    /// The instruction set of the kernels; empty for a subject without any.
    pub set: String,
    /// The processor.
    pub cpu: String,
    /// When, in UTC.
    pub date: String,
    /// Load of the machine: processes that wanted to run, in the last 1, 5 and 15 minutes.
    pub load: String,
    /// Names and versions of the measured libraries.
    pub versions: BTreeMap<String, String>,
    /// In the order in which they were measured.
    pub rows: Vec<Row>,
}

impl Figures {
    /// An empty record of this machine, now.
    pub fn begin(subject: &str) -> Figures {
        let mut versions: BTreeMap<_, _> = ["ndarray", "candle-core", "faer", "gemm", "tch"]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), locked_version(name)?)))
            .collect();
        versions.insert("tenure".to_owned(), tenure::build_info().to_owned());
        let set = if WITHOUT_KERNELS.contains(&subject) { "" } else { set_in_use() };
        Figures {
            subject: subject.to_owned(),
            set: set.to_owned(),
            cpu: crate::cpu_model(),
            date: date(),
            load: load(),
            versions,
            rows: Vec::new(),
        }
    }

    /// The name of this process in the `run` of its rows.
    pub fn run(&self) -> String {
        format!("{}, {}, process {}", self.set, self.date, std::process::id())
    }

    /// Writes `SET/SUBJECT.json` into `folder`, or `SUBJECT.json` where there is no set; returns
    /// its path.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        let folder = &folder.join(&self.set);
        fs::create_dir_all(folder)?;
        let path = folder.join(&self.subject).with_extension("json");
        let versions: Map<String, Value> =
            self.versions.iter().map(|(name, version)| (name.clone(), json!(version))).collect();
        let json = json!({
            "subject": self.subject, "set": self.set, "cpu": self.cpu, "date": self.date,
            "load": self.load, "versions": versions,
            "rows": self.rows.iter().map(Row::to_json).collect::<Vec<_>>(),
        });
        fs::write(&path, format!("{json:#}\n"))?;
        Ok(path)
    }

    /// `SUBJECT.json` of a folder, as `write` wrote it, or `peers.py` in the same form; `None`
    /// where there is nothing, or it cannot be read.
    pub fn read(folder: &Path, subject: &str) -> Option<Figures> {
        let text = fs::read_to_string(folder.join(subject).with_extension("json")).ok()?;
        let json: Value = serde_json::from_str(&text).ok()?;
        let text = |name: &str| Some(json[name].as_str()?.to_owned());
        // `peers.py` names no run: its file is of one process.
        let run = [text("set")?, text("date")?].join(", ");
        let row = |row| Row::from_json(row, &run);
        let version =
            |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        Some(Figures {
            subject: text("subject")?,
            set: text("set")?,
            cpu: text("cpu")?,
            date: text("date")?,
            load: text("load")?,
            versions: json["versions"].as_object()?.iter().map(version).collect::<Option<_>>()?,
            rows: json["rows"].as_array()?.iter().map(row).collect::<Option<_>>()?,
        })
    }
}

/// Where figures are kept. Figures of a smoke run have a separate folder: they are not meaningful.
pub fn folder(scale: crate::Scale) -> PathBuf {
    let folder = crate::target_folder().join("bench");
    if scale == crate::Scale::Smoke { folder.join("smoke") } else { folder }
}

/// The instruction set of the kernels in use. `avx512` includes `avx512-vbmi2`, `avx512-vnni`,
/// `avx512-bf16` and `avx512-amx`: the same kernels, except for a few that only some processors with
/// AVX-512 have.
pub(crate) fn set_in_use() -> &'static str {
    let (_, name) = tenure::build_info().rsplit_once("in use: ").unwrap_or_default();
    if name.starts_with("avx512") { "avx512" } else { name }
}

/// The version that Cargo.lock names for a crate; the last, and newest, where it has several.
fn locked_version(name: &str) -> Option<String> {
    const LOCKED: &str = include_str!("../../Cargo.lock");
    let (_, rest) = LOCKED.rsplit_once(&format!("name = \"{name}\"\nversion = \""))?;
    Some(rest.split_once('"')?.0.to_owned())
}

fn date() -> String {
    let run = Command::new("date").args(["-u", "+%Y-%m-%d %H:%M"]).output();
    let text = run.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_default()
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(library: &str, traffic: u64, times: &[f64]) -> Row {
        Row {
            operation: "add".to_owned(),
            bytes: 4096,
            threads: 1,
            library: library.to_owned(),
            how: "into".to_owned(),
            traffic,
            run: "a run".to_owned(),
            times: times.to_vec(),
        }
    }

    #[test]
    fn speeds_are_compared_round_by_round() {
        // The machine was three times as slow in the second round, for both.
        let (own, other) = (row("a", 100, &[1.0, 3.0, 1.0]), row("b", 50, &[2.0, 6.0, 2.0]));
        assert_eq!(own.speed_over(&other), 4.0);
        assert_eq!((own.median(), own.best()), (1.0, 1.0));
        assert!(own.is_beside(&other));
        assert!(!own.is_beside(&row("b", 50, &[2.0])));
    }

    #[test]
    fn what_moves_no_bytes_is_compared_by_time() {
        let (own, other) = (row("a", 0, &[2.0, 1.0, 2.0]), row("b", 0, &[6.0, 3.0, 6.0]));
        assert_eq!((own.speed_over(&other), own.best_speed_over(&other)), (3.0, 3.0));
    }

    #[test]
    fn figures_are_read_back_as_written() {
        let folder = std::env::temp_dir().join(format!("tenure-figures-{}", std::process::id()));
        let mut figures = Figures::begin("subject");
        figures.rows.push(row("tenure", 12, &[1.5, 2.25]));
        figures.write(&folder).expect("the temporary folder can be written");
        assert!(!figures.set.is_empty());
        assert_eq!(Figures::read(&folder.join(&figures.set), "subject"), Some(figures));
        assert_eq!(Figures::read(&folder, "subject"), None);
        let figures = Figures::begin("alloc");
        figures.write(&folder).expect("as above");
        assert_eq!(figures.set, "");
        assert_eq!(Figures::read(&folder, "alloc").map(|read| read.subject), Some(figures.subject));
        fs::remove_dir_all(&folder).expect("made above");
    }

    #[test]
    fn peers_have_the_versions_of_the_lock_file() {
        assert!(locked_version("serde_json").is_some_and(|version| version.starts_with("1.")));
        assert_eq!(locked_version("no such crate"), None);
    }
}
