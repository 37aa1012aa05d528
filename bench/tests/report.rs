//! The program `report` on made-up figures: its output and its refusals.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bench::figures::{Figures, Row};
use bench::memory::Growth;

const PAGE: &str =
    "before\n<!-- written by ./x bench report -->\nstale figures\n<!-- until here -->\nafter\n";

fn row(library: &str, how: &str, times: [f64; 3]) -> Row {
    Row {
        operation: "add".to_owned(),
        bytes: 64 << 20,
        threads: 1,
        library: library.to_owned(),
        how: how.to_owned(),
        traffic: 3 * (64 << 20),
        run: "a run".to_owned(),
        times: times.to_vec(),
    }
}

fn figures(subject: &str, set: &str, rows: Vec<Row>) -> Figures {
    Figures {
        subject: subject.to_owned(),
        set: set.to_owned(),
        cpu: "a processor".to_owned(),
        date: "2026-11-21 12:00".to_owned(),
        load: "0.1 0.2 0.3".to_owned(),
        versions: BTreeMap::new(),
        rows,
    }
}

/// Runs the report on a folder, with `README.md` in it.
fn run(folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_report"))
        .args([folder, &folder.join("README.md")])
        .output()
        .expect("it was built")
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("tenure-report-{name}-{}", std::process::id()))
}

/// Runs the report on one subject of these rows; returns its output, and the README after it.
fn report(name: &str, rows: Vec<Row>, readme: &str) -> (Output, String, PathBuf) {
    let folder = temporary(name);
    let figures = figures("elementwise", "avx2", rows);
    figures.write(&folder).expect("the temporary folder can be written");
    let path = folder.join("README.md");
    fs::write(&path, readme).expect("as above");
    let output = run(&folder);
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
    let (output, readme, folder) = report("writes", rows, PAGE);
    assert!(output.status.success(), "{output:?}");
    assert!(readme.starts_with("before\n") && readme.ends_with("\nafter\n"), "{readme}");
    assert!(!readme.contains("stale"), "{readme}");
    let line = "| add | 64 MiB | 1 | 10.0 ms | 0.80 (0.80) | ndarray 20.0 ms | 2.00 (2.00) |";
    assert!(readme.contains(line), "{readme}");
    for page in ["light", "dark"] {
        let svg = fs::read_to_string(folder.join(format!("plots/elementwise-{page}.svg")));
        assert!(svg.is_ok_and(|svg| svg.contains("\nndarray\n")));
        assert!(readme.contains(&format!("plots/elementwise-{page}.svg")));
    }
    let line = "| `add` into memory that is there | 1 | 10.0 ms | 0.80 | ndarray 2.00 × |";
    assert!(readme.contains(line), "{readme}");
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn each_instruction_set_has_its_columns_and_what_has_no_kernels_has_none() {
    let folder = temporary("sets");
    let rows =
        |ms: f64| vec![row("tenure", "into", [ms * 1e6; 3]), row("roof", "a + b into c", [9e6; 3])];
    let two = |ms: f64| Row { threads: 2, ..row("tenure", "into", [ms * 1e6; 3]) };
    for (set, one, both) in [("avx512", 10.0, 5.0), ("avx2", 12.0, 6.0)] {
        figures("elementwise", set, rows(one)).write(&folder).expect("it can be written");
        figures("threads", set, vec![two(both)]).write(&folder).expect("as above");
    }
    let allocated = row("malloc", "cold", [1e6; 3]);
    let allocated = Row { operation: "allocate".to_owned(), bytes: 32, ..allocated };
    figures("alloc", "", vec![allocated]).write(&folder).expect("as above");
    fs::write(folder.join("README.md"), PAGE).expect("as above");
    let output = run(&folder);
    assert!(output.status.success(), "{output:?}");
    let readme = fs::read_to_string(folder.join("README.md")).expect("written above");
    for line in [
        "| what | goal | AVX2 | AVX-512 |",
        "| add, 64 MiB, 1 thread: part of the roof | >= 0.92 | **0.75** | **0.90** |",
        "| operation | bytes | threads | AVX2 | of the roof | best peer | faster by | AVX-512 | \
         of the roof | best peer | faster by |",
        "| add | 64 MiB | 1 | 12.0 ms | 0.75 (0.75) |  |  | 10.0 ms | 0.90 (0.90) |  |  |\n\
         | add | 64 MiB | 2 | 6.00 ms |  |  |  | 5.00 ms |  |  |  |",
        "| 32 B |  | 1.00 ms |",
        "| `alloc` | any |",
        "Under AVX2 and under AVX-512, on one thread and on two.",
    ] {
        assert!(readme.contains(line), "{line} is not in {readme}");
    }
    fs::remove_dir_all(folder.join("avx512")).expect("written above");
    assert!(run(&folder).status.success());
    let readme = fs::read_to_string(folder.join("README.md")).expect("written above");
    assert!(readme.contains("| what | goal | AVX2 |\n"), "{readme}");
    assert!(readme.contains("Under AVX2, on one thread and on two. AVX-512 "), "{readme}");
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn a_figure_above_its_roof_is_refused_by_name() {
    let rows = vec![
        row("tenure", "into", [10e6, 10e6, 10e6]),
        row("roof", "a + b into c", [11e6, 11e6, 11e6]),
    ];
    let (output, readme, folder) = report("refuses", rows, PAGE);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    let named = "add (into) of 67108864 bytes on 1 threads is 1.10 times as fast as its roof, \
                 \"a + b into c\": the roof is wrong";
    assert!(message.contains(named), "{message}");
    assert_eq!(readme, PAGE, "nothing is written");
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn a_roof_of_another_run_or_set_is_refused() {
    let of = |run: &str, row: Row| Row { run: run.to_owned(), ..row };
    let rows = vec![
        of("now", row("tenure", "into", [10e6; 3])),
        of("before", row("roof", "a + b into c", [9e6; 3])),
    ];
    let (output, readme, folder) = report("runs", rows, PAGE);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    let named = "add (into) of 67108864 bytes on 1 threads is of the run \"now\", and its roof, \
                 \"a + b into c\", of \"before\": measure both in one";
    assert!(message.contains(named), "{message}");
    assert_eq!(readme, PAGE, "nothing is written");
    assert!(!folder.join("plots").exists(), "nothing is drawn");
    fs::rename(folder.join("avx2"), folder.join("avx512")).expect("written above");
    let message = String::from_utf8_lossy(&run(&folder).stderr).into_owned();
    let named = "elementwise was measured under \"avx2\" and lies in the folder \"avx512\"";
    assert!(message.contains(named), "{message}");
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn bars_of_each_set_have_the_roof_of_their_run() {
    let folder = temporary("bars");
    // AVX2 is above the other set's roof, and below its own.
    for (set, own, roof) in [("avx512", 10e6, 9e6), ("avx2", 8e6, 7e6)] {
        let rows = vec![row("tenure", "into", [own; 3]), row("roof", "a + b into c", [roof; 3])];
        figures("elementwise", set, rows).write(&folder).expect("it can be written");
    }
    fs::write(folder.join("README.md"), PAGE).expect("as above");
    assert!(run(&folder).status.success());
    let svg = fs::read_to_string(folder.join("plots/elementwise-light.svg"));
    let svg = svg.expect("there are bars");
    let named = "\nroofs (lines): a + b into c 22.4 (AVX-512); a + b into c 28.8 (AVX2)\n";
    assert!(svg.contains(named), "{svg}");
    // The longest is the roof of AVX2: its line is at the end, and the other where its speed is.
    for (x, what) in [(1488, "AVX2"), (368 + 1120 * 7 / 9, "AVX-512")] {
        let marks = svg.matches("<polyline").count();
        assert_eq!(marks, 2, "{svg}");
        let end = format!("points=\"{x},");
        assert!(svg.contains(&end), "{what}: {end} is not in {svg}");
    }
    fs::remove_dir_all(folder).expect("made above");
}

/// Operation, form, bytes, traffic, roof.
type Placed = (&'static str, &'static str, u64, u64, &'static str);

/// The rows of the roofline by subject, with the name of each in it.
const PLACED: [(&str, &[(&str, Placed)]); 7] = [
    (
        "elementwise",
        &[
            ("add", ("add", "into", 64 << 20, 3 << 26, "a + b into c")),
            ("relu", ("relu", "into", 64 << 20, 2 << 26, "copy")),
        ],
    ),
    ("movement", &[("transpose", ("transpose", "into", 64 << 20, 2 << 26, "copy"))]),
    (
        "reduce",
        &[
            ("sum", ("sum", "into", 64 << 20, 1 << 26, "read")),
            ("max, axis 1", ("max, axis 1", "into", 64 << 20, 1 << 26, "read")),
            ("softmax", ("softmax, axis 1", "into", 64 << 20, 2 << 26, "copy")),
            ("sort", ("sort, axis 1", "into", 64 << 20, 2 << 26, "copy")),
        ],
    ),
    (
        "matmul",
        &[
            ("matmul f32", ("matmul f32 1024", "into", 12 << 20, 2 << 30, "FMA f32")),
            ("matmul f64", ("matmul f64 1024", "into", 24 << 20, 2 << 30, "FMA f64")),
            ("4 rows, f32", ("matmul f32, 4 by 8192", "into", 256 << 20, 1 << 29, "read")),
        ],
    ),
    (
        "conv2d",
        &[
            (
                "conv2d",
                ("conv2d 8x64x56x56 by 64 of 3x3", "into", 12 << 20, 1_849_688_064, "FMA f32"),
            ),
            (
                "conv2d, NHWC",
                (
                    "conv2d 8x64x56x56 by 64 of 3x3, NHWC",
                    "into",
                    12 << 20,
                    1_849_688_064,
                    "FMA f32",
                ),
            ),
        ],
    ),
    (
        "quantized",
        &[(
            "int4, 256 rows",
            ("256 by 4096", "int4, groups of 32", 9 << 20, 1 << 33, "VNNI products, u8 x i8"),
        )],
    ),
    (
        "sparse",
        &[
            ("SpMV", ("SpMV, 10 %", "into", 50 << 20, 51 << 20, "copies and reads")),
            ("SpMM", ("SpMM, 64 columns, 10 %", "into", 50 << 20, 54 << 20, "FMA f32")),
            (
                "dense to CSR",
                ("dense to CSR, 10 %", "recycled", 64 << 20, 77 << 20, "copies and reads"),
            ),
            (
                "CSR to dense",
                ("CSR to dense, 10 %", "recycled", 64 << 20, 77 << 20, "copies and reads"),
            ),
        ],
    ),
];

#[test]
fn the_roofline_has_a_point_of_every_family_under_its_roof() {
    let folder = temporary("roofline");
    for (subject, placed) in PLACED {
        let rows = placed.iter().flat_map(|(_, (operation, how, bytes, traffic, roof))| {
            let own = Row {
                operation: (*operation).to_owned(),
                bytes: *bytes,
                traffic: *traffic,
                ..row("tenure", how, [10e6; 3])
            };
            let roof = Row {
                library: "roof".to_owned(),
                how: (*roof).to_owned(),
                times: vec![8e6; 3],
                ..own.clone()
            };
            [own, roof]
        });
        figures(subject, "avx512", rows.collect()).write(&folder).expect("it can be written");
    }
    fs::write(folder.join("README.md"), PAGE).expect("as above");
    let output = run(&folder);
    assert!(output.status.success(), "{output:?}");
    let names: Vec<&str> =
        PLACED.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.0)).collect();
    for page in ["light", "dark"] {
        let svg = fs::read_to_string(folder.join(format!("plots/roofline-{page}.svg")));
        let svg = svg.expect("it is drawn");
        for name in &names {
            assert!(svg.contains(&format!("\n{name}: ")), "{name} is not in {svg}");
        }
        for line in ["memory, 64 MiB and more: 34 GB/s", "FMA f32: 268", "FMA f64: 268"] {
            assert!(svg.contains(&format!("\n{line}")), "{line} is not in {svg}");
        }
        // Each in the chart and in the list.
        assert_eq!(svg.matches("<circle").count(), 2 * names.len(), "{svg}");
        let speed = format!("\nadd: {:.1} (80 %)\n", f64::from(1 << 24) / 10e6);
        assert!(svg.contains(&speed), "{speed} is not in {svg}");
    }
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn two_threads_within_a_cache_may_be_slower_than_a_call() {
    let small = |library, how, ms: f64| Row {
        bytes: 64 << 10,
        threads: 2,
        ..row(library, how, [ms * 1e6; 3])
    };
    let rows = vec![small("tenure", "into", 10.0), small("roof", "a + b into c", 11.0)];
    let (output, _, folder) = report("small", rows, PAGE);
    assert!(output.status.success(), "{output:?}");
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn a_roof_with_one_slow_round_is_no_reason_to_refuse() {
    let rows = vec![
        row("tenure", "into", [10e6, 10e6, 10e6]),
        row("roof", "a + b into c", [20e6, 20e6, 9e6]),
    ];
    let (output, _, folder) = report("one-round", rows, PAGE);
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
    fs::remove_file(folder.join("avx2/elementwise.json")).expect("written above");
    let message = String::from_utf8_lossy(&run(&folder).stderr).into_owned();
    assert!(message.contains("nothing was measured yet"), "{message}");
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn sparse_goals_are_compared_in_both_languages_and_memory_is_drawn() {
    let folder = temporary("sparse");
    let row = |library: &str, how: &str, ms: f64| Row {
        operation: "dense to CSR, 10 %".to_owned(),
        bytes: 256 << 20,
        threads: 1,
        library: library.to_owned(),
        how: how.to_owned(),
        traffic: 300 << 20,
        run: "a run".to_owned(),
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
        let figures = figures(subject, "avx2", rows);
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
    fs::write(folder.join("README.md"), PAGE).expect("as above");
    assert!(run(&folder).status.success());
    let readme = fs::read_to_string(folder.join("README.md")).expect("written above");
    for line in [
        "| dense to CSR, 10 %, cold, 1 thread: times as fast as PyTorch | >= 26 | 30.00 |",
        "| dense to CSR, 10 %, cold, 1 thread: times as fast as sprs | >= 5 | 10.00 |",
        "| dense to CSR, 10 %, recycled, 1 thread: time, of the roof's | <= 1.25 | 1.10 |",
        "| relu to CSR, 16384^2: memory above input and output | <= 2 MiB | **3.00 MiB** |",
        "| dense to CSR, 10 % | 256 MiB | 1 | cold | 30.0 ms | 3.00 | sprs 300 ms | 10.00 (10.00) |",
        "| dense to CSR, 10 % | 256 MiB | 1 | recycled | 11.0 ms | 1.10 |  |  |",
        "| relu to CSR, 16384^2 | tenure | 1 GiB | 1 GiB | 3.0 MiB |",
    ] {
        assert!(readme.contains(line), "{line} is not in {readme}");
    }
    let svg = fs::read_to_string(folder.join("plots/resident-light.svg"));
    assert!(svg.is_ok_and(|svg| svg.contains("\ntenure, 1 GiB\n")));
    fs::remove_dir_all(folder).expect("made above");
}

#[test]
fn every_plot_of_the_page_is_drawn_for_both_pages() {
    let folder = temporary("plots");
    let row = |operation: &str, library: &str, how: &str| Row {
        operation: operation.to_owned(),
        ..row(library, how, [10e6; 3])
    };
    let own = |operation: &str, how: &str| row(operation, "tenure", how);
    let permuted = [own("permute 1", "into"), row("permute 1", "roof", "copy")];
    for (subject, set, rows) in [
        ("elementwise", "avx2", vec![own("add", "into"), own("a + b", "cold")]),
        ("movement", "avx2", [&permuted[..], &[own("transpose", "into")]].concat()),
        ("reduce", "avx2", vec![own("sum", "into")]),
        ("call", "avx2", vec![own("call", "into views"), own("call", "recycled")]),
        ("alloc", "", vec![own("allocate and write", "cold")]),
    ] {
        figures(subject, set, rows).write(&folder).expect("the temporary folder can be written");
    }
    let growth = Growth {
        operation: "relu to CSR, 16384^2".to_owned(),
        library: "tenure".to_owned(),
        input: 1 << 30,
        output: 1 << 30,
        peak: 1 << 30,
        curve: vec![(0, 0), (100_000, 1 << 30)],
    };
    bench::memory::write(&folder, "memory", &[growth]).expect("as above");
    fs::write(folder.join("README.md"), PAGE).expect("as above");
    assert!(run(&folder).status.success());
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("it has plots").flatten();
        entries.map(|entry| entry.file_name()).collect::<BTreeSet<_>>()
    };
    let plots = folder.join("plots");
    assert_eq!(names(&plots), names(&Path::new(env!("CARGO_MANIFEST_DIR")).join("plots")));
    for (page, paper) in [("light", "#FFFFFF"), ("dark", "#0D1117")] {
        let svg = fs::read_to_string(plots.join(format!("call-into-{page}.svg")));
        let svg = svg.expect("it is among the names above");
        for text in [paper, "\ntenure into views\n", "\nelements (f32)\n", "\n10^5\n"] {
            assert!(svg.contains(text), "{text} is not in {svg}");
        }
    }
    fs::remove_dir_all(folder).expect("made above");
}
