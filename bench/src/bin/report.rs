//! Writes what the benches measured into `bench/README.md`, with charts in `bench/plots`; measures
//! nothing. Fails where a figure is above its roof.
//!
//!     report [FOLDER README]
//!
//! FOLDER is where the figures are, README what they are written into, between two marks; the
//! charts go into the folder `plots` beside it. Without them: cargo's target folder, and this
//! package's.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use bench::Scale;
use bench::figures::folder;
use bench::report::plots::Plot;
use bench::report::{Report, time};
use serde_json::Value;

/// Between these the README is the report's.
const MARKS: (&str, &str) = ("<!-- written by ./x bench report -->", "<!-- until here -->");

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let from = arguments.next().unwrap_or_else(|| folder(Scale::Full));
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = arguments.next().unwrap_or_else(beside);
    match write_report(&Report::read(&from), &readme) {
        Ok(()) => {
            println!("Written to {} and the plots beside it", readme.display());
            print_criterion();
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("report: {message}");
            ExitCode::FAILURE
        }
    }
}

fn write_report(report: &Report, readme: &Path) -> Result<(), String> {
    if report.figures().is_empty() {
        return Err("nothing was measured yet: ./x bench quick".to_owned());
    }
    let above = report.above_their_roofs();
    if !above.is_empty() {
        return Err(above.join("\n        "));
    }
    let told = |error: io::Error| format!("{}: {error}", readme.display());
    let plots = report.plots();
    let folder = readme.with_file_name("plots");
    fs::create_dir_all(&folder).map_err(told)?;
    for Plot { name, drawn, .. } in &plots {
        for (page, svg) in drawn {
            fs::write(folder.join(format!("{name}-{page}.svg")), svg).map_err(told)?;
        }
    }
    let text = fs::read_to_string(readme).map_err(told)?;
    let figures = [pictures(&plots), report.to_markdown()].concat();
    let text = between_marks(&text, &figures)
        .ok_or_else(|| format!("{} has no lines {} and {}", readme.display(), MARKS.0, MARKS.1))?;
    fs::write(readme, text).map_err(told)
}

/// `text` with the part between the marks replaced.
fn between_marks(text: &str, part: &str) -> Option<String> {
    let (before, rest) = text.split_once(MARKS.0)?;
    let (_, after) = rest.split_once(MARKS.1)?;
    Some([before, MARKS.0, "\n", part.trim_end(), "\n", MARKS.1, after].concat())
}

fn pictures(plots: &[Plot]) -> String {
    let picture = |Plot { name, title, .. }: &Plot| {
        format!(
            "\n<picture>\n  <source media=\"(prefers-color-scheme: dark)\" \
             srcset=\"plots/{name}-dark.svg\">\n  <img src=\"plots/{name}-light.svg\" \
             alt=\"{title}\">\n</picture>\n"
        )
    };
    plots.iter().map(picture).collect()
}

/// What criterion measured (`./x bench lend`), as a table.
fn print_criterion() {
    let mut lines = Vec::new();
    collect(&bench::target_folder().join("criterion"), &mut lines);
    lines.sort_by(|a, b| {
        let size = |line: &Line| line.value.parse::<u64>().unwrap_or(0);
        (&a.group, size(a)).cmp(&(&b.group, size(b))).then(a.median_ns.total_cmp(&b.median_ns))
    });
    if !lines.is_empty() {
        println!("\n| group | bytes | what | median |\n| --- | ---: | --- | ---: |");
    }
    for Line { group, name, value, median_ns } in &lines {
        println!("| {group} | {value} | {name} | {} |", time(*median_ns));
    }
}

struct Line {
    group: String,
    name: String,
    value: String,
    median_ns: f64,
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
