//! The baseline as a file, and what is said of a run beside it.

use std::process::ExitCode;

use crate::subjects;

/// Growth that fails.
const ALLOWED: f64 = 1.03;
/// Growth that is none: small calls may gain one instruction when the linker moves things.
const NOISE: f64 = 0.5;

/// Instructions of one call of each subject, and the compilers that gave them.
pub struct Baseline {
    pub toolchain: String,
    pub calls: Vec<(String, f64)>,
}

impl Baseline {
    pub fn to_text(&self) -> String {
        let mut text = String::from(
            "# Instructions of one call, counted by callgrind. `./x guard --record` writes this.\n",
        );
        text += &format!("toolchain: {}\n", self.toolchain);
        for (name, count) in &self.calls {
            text += &format!("{count:>10.2}  {name}\n");
        }
        text
    }

    pub fn from_text(text: &str) -> Baseline {
        let mut baseline = Baseline { toolchain: String::new(), calls: Vec::new() };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(toolchain) = line.strip_prefix("toolchain: ") {
                baseline.toolchain = toolchain.to_owned();
            } else if let Some((count, name)) = line.trim_start().split_once("  ") {
                let count = count.parse().expect("a count begins each line of the baseline");
                baseline.calls.push((name.to_owned(), count));
            }
        }
        baseline
    }

    fn count_of(&self, name: &str) -> Option<f64> {
        self.calls.iter().find(|(known, _)| known == name).map(|(_, count)| *count)
    }
}

/// Instructions of one call of each subject but the first, which does nothing: its own, without
/// those of the loop around it.
pub fn calls(names: &[&'static str], counts: &[u64]) -> Vec<(String, f64)> {
    let count_of = |name: &str| {
        let index = names.iter().position(|known| *known == name).expect("a subject's name");
        counts[index] as f64 / f64::from(subjects::ROUNDS)
    };
    let own = |name: &&str| count_of(name) - count_of(subjects::base_of(name));
    names.iter().skip(1).map(|name| ((*name).to_owned(), own(name))).collect()
}

/// Prints the counts beside those of the baseline; fails where one has grown, or has none.
pub fn compare(baseline: &Baseline, measured: &Baseline) -> ExitCode {
    if baseline.toolchain != measured.toolchain {
        println!(
            "skipped: instruction counts, which were recorded with {}; this is {}",
            baseline.toolchain, measured.toolchain
        );
        return ExitCode::SUCCESS;
    }
    let mut failed = 0;
    println!("{:>10} {:>10}", "recorded", "now");
    for (name, count) in &measured.calls {
        let known = baseline.count_of(name);
        let allowed = known.is_some_and(|known| *count <= (known * ALLOWED).max(known + NOISE));
        let recorded = known.map_or("none".to_owned(), |known| format!("{known:.2}"));
        println!(
            "{recorded:>10} {count:>10.2}  {name}{}",
            if allowed { "" } else { "  <-- TOO MANY" }
        );
        failed += usize::from(!allowed);
    }
    for (name, _) in &baseline.calls {
        if measured.count_of(name).is_none() {
            println!("{name} is in the baseline and was not counted");
            failed += 1;
        }
    }
    if failed == 0 {
        println!("{} passed", measured.calls.len());
        return ExitCode::SUCCESS;
    }
    println!(
        "{failed} of {} grew by more than 3 %, or have no record. Where that was wanted:\n\
         ./x guard --record, and say in the change what is bought with it.",
        measured.calls.len()
    );
    ExitCode::FAILURE
}
