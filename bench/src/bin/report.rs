//! Writes the figures of the benches into `bench/README.md`, with plots in `bench/plots`; measures
//! nothing. Fails where a figure is above its roof, or is of another run than its roof.
//!
//!     report [FOLDER README]
//!
//! FOLDER has the figures; README is the file that it writes into, between two marks; it writes the
//! plots into the folder `plots` next to README. Without arguments: cargo's target folder and this
//! package's README.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use bench::Scale;
use bench::figures::folder;
use bench::report::Report;
use bench::report::plots::Plot;

/// Between these a page is the report's.
const MARKS: (&str, &str) = ("<!-- written by ./x bench report -->", "<!-- until here -->");

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let here = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let (report, readme) = match arguments.next() {
        Some(from) => (Report::read(&from), arguments.next()),
        None => (Report::read(&folder(Scale::Full)).with_target_folder(), None),
    };
    let readme = readme.unwrap_or_else(|| here("README.md"));
    match write_report(&report, &readme) {
        Ok(()) => {
            println!("Written to {}, with the plots next to it", readme.display());
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("report: {message}");
            ExitCode::FAILURE
        }
    }
}

fn write_report(report: &Report, readme: &Path) -> Result<(), String> {
    if report.is_empty() {
        return Err("nothing was measured yet: ./x bench quick".to_owned());
    }
    let refusals = report.refusals();
    if !refusals.is_empty() {
        return Err(refusals.join("\n        "));
    }
    let plots = report.plots();
    let folder = readme.with_file_name("plots");
    let told = |error: io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(told)?;
    for Plot { name, drawn, .. } in &plots {
        for (page, svg) in drawn {
            fs::write(folder.join(format!("{name}-{page}.svg")), svg).map_err(told)?;
        }
    }
    let headlines = report.headlines().unwrap_or_default();
    write_between_marks(readme, &[headlines, pictures(&plots), report.to_markdown()].concat())
}

fn write_between_marks(page: &Path, figures: &str) -> Result<(), String> {
    let told = |error: io::Error| format!("{}: {error}", page.display());
    let text = fs::read_to_string(page).map_err(told)?;
    let text = between_marks(&text, figures)
        .ok_or_else(|| format!("{} has no lines {} and {}", page.display(), MARKS.0, MARKS.1))?;
    fs::write(page, text).map_err(told)
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
