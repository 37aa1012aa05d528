//! The program `report` on made-up figures: what it writes, and when it refuses.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use bench::figures::{Figures, Row};
use bench::memory::Growth;

const README: &str =
    "before\n<!-- written by ./x bench report -->\nstale figures\n<!-- until here -->\nafter\n";

fn row(library: &str, how: &str, times: [f64; 3]) -> Row {
    Row {
        operation: "add".to_owned(),
        bytes: 64 << 20,
        threads: 1,
        library: library.to_owned(),
        how: how.to_owned(),
        traffic: 3 * (64 << 20),
        times: times.to_vec(),
    }
}

/// Runs the report on one subject of these rows; returns what it says, and the README after it.
fn report(name: &str, rows: Vec<Row>, readme: &str) -> (Output, String, PathBuf) {
    let folder = std::env::temp_dir().join(format!("tenure-report-{name}-{}", std::process::id()));
    let figures = Figures {
        subject: "elementwise".to_owned(),
        cpu: "a processor".to_owned(),
        date: "2026-11-21 12:00".to_owned(),
        load: "0.1 0.2 0.3".to_owned(),
        versions: BTreeMap::new(),
        rows,
    };
    figures.write(&folder).expect("the temporary folder can be written");
    let path = folder.join("README.md");
    fs::write(&path, readme).expect("as above");
    let output = Command::new(env!("CARGO_BIN_EXE_report"))
        .args([&folder, &path])
        .output()
        .expect("it was built");
    let after = fs::read_to_string(&path).expect("written above");
    (output, after, folder)
}

#[test]
fn figures_are_written_between_the_marks() {
    let rows = vec![
        row("tenure", "into", [10e6, 30e6, 10e6]),
        row("ndarray", "into", [20e6, 60e6, 20e6]),
        row("roof", "a + b into c", [9e6, 27e6, 9e6]),
        row("roof", "a + b into c, non-temporal", [8e6, 24e6, 8e6]),
    ];
    let (output, readme, folder) = report("writes", rows, README);
    assert!(output.status.success(), "{output:?}");
    assert!(readme.starts_with("before\n") && readme.ends_with("\nafter\n"), "{readme}");
    assert!(!readme.contains("stale"), "{readme}");
    let line = "| add | 64 MiB | 1 | 10.0 ms (10.0 ms) | 20.1 | 0.80 (0.80) | \
                ndarray 20.0 ms | 2.00 (2.00) |";
    assert!(readme.contains(line), "{readme}");
    for page in ["light", "dark"] {
        let svg = fs::read_to_string(folder.join(format!("plots/elementwise-{page}.svg")));
        assert!(svg.is_ok_and(|svg| svg.contains(">ndarray</text>")));
        assert!(readme.contains(&format!("plots/elementwise-{page}.svg")));
    }
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn a_figure_above_its_roof_is_refused_by_name() {
    let rows = vec![
        row("tenure", "into", [10e6, 10e6, 10e6]),
        row("roof", "a + b into c", [11e6, 11e6, 11e6]),
    ];
    let (output, readme, folder) = report("refuses", rows, README);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    let named = "add (into) of 67108864 bytes on 1 threads is 1.10 times as fast as its roof, \
                 \"a + b into c\": the roof is wrong";
    assert!(message.contains(named), "{message}");
    assert_eq!(readme, README, "nothing is written");
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn a_roof_with_one_slow_round_is_no_reason_to_refuse() {
    let rows = vec![
        row("tenure", "into", [10e6, 10e6, 10e6]),
        row("roof", "a + b into c", [20e6, 20e6, 9e6]),
    ];
    let (output, _, folder) = report("one-round", rows, README);
    assert!(output.status.success(), "{output:?}");
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn what_cannot_be_written_or_read_is_told() {
    let rows = vec![row("tenure", "into", [1e6; 3])];
    let (output, _, folder) = report("marks", rows, "no marks here\n");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("has no lines <!-- written by"), "{message}");
    fs::remove_file(folder.join("elementwise.json")).expect("written above");
    let output = Command::new(env!("CARGO_BIN_EXE_report")).args([&folder, &folder]).output();
    let message = String::from_utf8_lossy(&output.expect("it was built").stderr).into_owned();
    assert!(message.contains("nothing was measured yet"), "{message}");
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn sparse_goals_are_compared_in_both_languages_and_memory_is_drawn() {
    let folder = std::env::temp_dir().join(format!("tenure-report-sparse-{}", std::process::id()));
    let row = |library: &str, how: &str, ms: f64| Row {
        operation: "dense to CSR, 10 %".to_owned(),
        bytes: 256 << 20,
        threads: 1,
        library: library.to_owned(),
        how: how.to_owned(),
        traffic: 300 << 20,
        times: vec![ms * 1e6; 3],
    };
    for (subject, rows) in [
        (
            "sparse",
            vec![
                row("tenure", "cold", 30.0),
                row("tenure", "recycled", 11.0),
                row("sprs", "cold", 300.0),
                row("roof", "copies and reads", 10.0),
            ],
        ),
        ("python-sparse", vec![row("tenure", "cold", 32.0), row("PyTorch", "cold", 960.0)]),
    ] {
        let figures = Figures {
            subject: subject.to_owned(),
            cpu: "a processor".to_owned(),
            date: "2026-11-21 12:00".to_owned(),
            load: "0.1 0.2 0.3".to_owned(),
            versions: BTreeMap::new(),
            rows,
        };
        figures.write(&folder).expect("the temporary folder can be written");
    }
    let growth = Growth {
        operation: "relu to CSR, 16384^2".to_owned(),
        library: "tenure".to_owned(),
        input: 1 << 30,
        output: 1 << 30,
        peak: (1 << 30) + (3 << 20),
        curve: vec![(0, 0), (50_000, 500_000_000), (100_000, 1_000_000_000)],
    };
    bench::memory::write(&folder, "memory", &[growth]).expect("as above");
    let path = folder.join("README.md");
    fs::write(&path, README).expect("as above");
    let output = Command::new(env!("CARGO_BIN_EXE_report")).args([&folder, &path]).output();
    assert!(output.expect("it was built").status.success());
    let readme = fs::read_to_string(&path).expect("written above");
    for line in [
        "| dense to CSR, 10 %, cold, 1 thread: times as fast as PyTorch | >= 26 | 30.00 | yes |",
        "| dense to CSR, 10 %, cold, 1 thread: times as fast as sprs | >= 5 | 10.00 | yes |",
        "| dense to CSR, 10 %, recycled, 1 thread: time, of the roof's | <= 1.25 | 1.10 | yes |",
        "| relu to CSR, 16384^2: memory above input and output | <= 2 MiB | 3.00 MiB | **no** |",
        "| dense to CSR, 10 % | 256 MiB | 1 | 30.0 ms | sprs 300 ms | 10.00 (10.00) | 11.0 ms | 1.10 \
         |  |  |",
        "| relu to CSR, 16384^2 | tenure | 1 GiB | 1 GiB | 3.0 MiB |",
    ] {
        assert!(readme.contains(line), "{line} is not in {readme}");
    }
    let svg = fs::read_to_string(folder.join("plots/resident-light.svg"));
    assert!(svg.is_ok_and(|svg| svg.contains(">tenure, 1 GiB</text>")));
    fs::remove_dir_all(folder).expect("made above");
}
