//! Guards what every call pays: counts its instructions under callgrind, and fails where one costs
//! 3 % more than `baseline.txt` says. Instructions are the same in every run, where times are not.
//!
//! `./x guard` runs it, and `./x guard --record` writes the baseline. Counts depend on the
//! compilers, so those that recorded stand in the baseline; under others nothing is compared.
//! Callgrind knows no AVX-512: what is counted are the kernels for AVX2.

mod report;
mod subjects;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, process};

use report::Baseline;

/// The argument with which this program runs itself under callgrind.
const COUNTED_RUN: &str = "--counted-run";

fn main() -> ExitCode {
    let asked = env::args().nth(1);
    if asked.as_deref() == Some(COUNTED_RUN) {
        subjects::run_all();
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: instruction counts (no valgrind)");
        return ExitCode::SUCCESS;
    }
    let (toolchain, counts) = match count() {
        Ok(counted) => counted,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let measured = Baseline { toolchain, calls: report::calls(&subjects::names(), &counts) };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("baseline.txt");
    if asked.as_deref() == Some("--record") {
        fs::write(&path, measured.to_text()).expect("the source tree can be written");
        print!("{}", measured.to_text());
        return ExitCode::SUCCESS;
    }
    let text = fs::read_to_string(&path).expect("the baseline is in the source tree");
    report::compare(&Baseline::from_text(&text), &measured)
}

/// The toolchain as the counted run names it, and the instructions of each subject's rounds.
fn count() -> Result<(String, Vec<u64>), String> {
    let folder = Scratch::new();
    let dumps = folder.0.join("counts");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        // Collecting begins and ends with this function, and each of its ends writes a dump.
        .arg(format!("--toggle-collect={}", subjects::COUNTED_FUNCTION))
        .arg(format!("--dump-after={}", subjects::COUNTED_FUNCTION))
        .arg(format!("--callgrind-out-file={}", dumps.display()))
        .arg(env::current_exe().map_err(|error| error.to_string())?)
        .arg(COUNTED_RUN)
        // The set is what callgrind's processor has, not what the user's environment says.
        .env_remove("TENURE_ISA")
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("valgrind: {}\n{said}", output.status));
    }
    let toolchain = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let count_of = |number: usize| -> Result<u64, String> {
        let path = dumps.with_extension(number.to_string());
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        total.and_then(|total| total.trim().parse().ok()).ok_or(format!("no total in {text}"))
    };
    let counts = (1..=subjects::names().len()).map(count_of).collect::<Result<_, _>>()?;
    Ok((toolchain, counts))
}

/// A folder that lives as long as this.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        let path = env::temp_dir().join(format!("tenure-instructions-{}", process::id()));
        fs::create_dir_all(&path).expect("the system's folder for such files can be written");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
