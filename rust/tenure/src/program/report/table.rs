//! A report as a table.

use std::fmt::{self, Display, Formatter};

use super::{Report, ResultMemory, Step};

/// A number of bytes in the unit that leaves it below 1000.
pub(super) fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "KiB", "MiB"] {
        if value < 1000.0 {
            return scaled(value, unit, count < 1000);
        }
        value /= 1024.0;
    }
    scaled(value, "GiB", false)
}

/// A count in the decimal unit that leaves it below 1000, otherwise like [`bytes`].
pub(super) fn count(number: u64) -> String {
    let mut value = number as f64;
    for unit in ["", "k", "M", "G"] {
        if value < 1000.0 {
            return scaled(value, unit, number < 1000);
        }
        value /= 1000.0;
    }
    scaled(value, "T", false)
}

fn scaled(value: f64, unit: &str, is_whole: bool) -> String {
    let digits = if is_whole { 0 } else { 1 };
    format!("{value:.digits$} {unit}").trim_end().to_owned()
}

pub(super) fn time(nanoseconds: u64) -> String {
    match nanoseconds {
        0..=999 => format!("{nanoseconds} ns"),
        1_000..=999_999 => format!("{:.1} us", nanoseconds as f64 / 1e3),
        _ => format!("{:.2} ms", nanoseconds as f64 / 1e6),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Replaces the characters of a name that break a line or that XML does not allow. Names of custom
/// operations may hold any characters.
pub(super) fn printable(text: &str) -> String {
    let is_refused = |found: char| found.is_control() || matches!(found, '\u{fffe}' | '\u{ffff}');
    text.replace(is_refused, "\u{fffd}")
}

/// Lines of a table whose first row is its head. Columns without a text below the head are left out.
pub(super) fn aligned<const N: usize>(rows: &[[String; N]], left_aligned: &[usize]) -> String {
    let is_empty = |column: usize| rows[1..].iter().all(|row| row[column].is_empty());
    let columns: Vec<usize> = (0..N).filter(|at| !is_empty(*at)).collect();
    let width_of = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let mut table = String::new();
    for row in rows {
        let mut line = String::new();
        for &column in &columns {
            let (cell, width) = (&row[column], width_of(column));
            if left_aligned.contains(&column) {
                line += &format!("{cell:<width$}  ");
            } else {
                line += &format!("{cell:>width$}  ");
            }
        }
        table += line.trim_end();
        table.push('\n');
    }
    table
}

impl Report {
    fn rows(&self) -> Vec<[String; 9]> {
        let head = ["step", "", "result", "flop", "read", "written", "where", "time", "of roof"];
        let mut rows = vec![head.map(str::to_owned)];
        for (nth, step) in self.steps.iter().enumerate() {
            let memory = match step.result {
                ResultMemory::Output(output) => format!("output {output}"),
                ResultMemory::Block { bytes: 0, .. } => "-".to_owned(),
                ResultMemory::Block { offset, .. } => format!("{offset:#x}"),
            };
            rows.push([
                nth.to_string(),
                printable(&step.name),
                step.shape_text(),
                count(step.flops),
                bytes(step.read_bytes),
                bytes(step.written_bytes),
                memory,
                step.nanoseconds.map(time).unwrap_or_default(),
                self.share_of_roof(nth).map(percent).unwrap_or_default(),
            ]);
        }
        // Arrays that are one element again and again may have more than fit.
        let sum = |of: fn(&Step) -> u64| self.steps.iter().map(of).fold(0, u64::saturating_add);
        rows.push([
            "all".to_owned(),
            String::new(),
            String::new(),
            count(sum(|step| step.flops)),
            bytes(sum(|step| step.read_bytes)),
            bytes(sum(|step| step.written_bytes)),
            format!("peak {}", bytes(self.memory.peak_bytes as u64)),
            self.nanoseconds().filter(|_| !self.steps.is_empty()).map(time).unwrap_or_default(),
            self.share_of_all().map(percent).unwrap_or_default(),
        ]);
        rows
    }
}

/// Columns without a number in them are left out, and passes that did nothing.
impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&aligned(&self.rows(), &[1, 2]))?;
        for pass in self.passes.iter().filter(|pass| pass.count != 0) {
            writeln!(f, "{}, {}: {}", pass.name, pass.counted, pass.count)?;
        }
        Ok(())
    }
}
