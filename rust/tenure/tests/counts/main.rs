//! Every count, extent and index that a function of the crate takes, from 0 to the largest: an
//! answer or an error, in a process of its own with little memory and little time.

#![allow(clippy::needless_borrows_for_generic_args, reason = "as users have operands")]

mod dense;
mod files;
mod functions;
mod layers;
mod ops;
mod programs;
mod rest;
mod sparse;

use std::collections::BTreeSet;
use std::env;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::{Command, Output};

use tenure::{Error, ErrorKind};

const COUNTS: [usize; 9] =
    [0, 1, 3, 1 << 31, 1 << 40, 1 << 62, i64::MAX as usize, 1 << 63, usize::MAX];

/// A function, by its file in `src` and its name there, and calls of it with a count. Without a
/// file: what the scan of signatures does not look for.
type Row = (&'static str, &'static str, fn(usize));

fn rows() -> Vec<Row> {
    let rows = [dense::ROWS, ops::ROWS, sparse::ROWS, programs::ROWS, files::ROWS];
    rows.into_iter().chain([layers::ROWS, rest::ROWS]).flatten().copied().collect()
}

/// A result that is right, or refused for a reason of the caller's.
#[track_caller]
fn done<T, E: Into<Error>>(result: Result<T, E>) {
    if let Err(error) = result {
        let error = error.into();
        assert_ne!(error.kind(), ErrorKind::Internal, "{error}");
    }
}

/// An answer that is no `Result`.
fn answered<T>(_: T) {}

fn each<T, const N: usize>(values: [T; N], call: impl FnMut(T)) {
    values.into_iter().for_each(call);
}

/// Shapes of two axes, with a count in each place.
fn shapes(n: usize) -> [[usize; 2]; 6] {
    [[n, 1], [1, n], [n, n], [n, 2], [n, 0], [0, n]]
}

/// Set in the process of its own: the number of the call to begin with.
const FIRST: &str = "TENURE_TEST_FIRST_CALL";

/// Runs a test of this program in a process with 1 GiB of memory and 60 seconds of a processor.
/// `None` where such a process cannot begin: a sanitizer needs the address space itself.
fn run_limited(arguments: &[&str], first: usize) -> Option<Output> {
    let run = |arguments: &[&str]| {
        Command::new("sh")
            .args(["-c", "ulimit -v 1048576 && ulimit -t 60 && exec \"$@\"", "sh"])
            .arg(env::current_exe().unwrap())
            .args(arguments)
            .env(FIRST, first.to_string())
            .output()
            .unwrap()
    };
    run(&["--list"]).status.success().then(|| run(arguments))
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn every_count_is_answered() {
    if let Ok(first) = env::var(FIRST) {
        let rows = rows();
        let calls = rows.iter().flat_map(|row| COUNTS.map(|count| (row, count)));
        for (number, ((file, name, call), count)) in calls.enumerate().skip(first.parse().unwrap())
        {
            println!("call {number}: {file} {name} {count}");
            if catch_unwind(|| call(count)).is_err() {
                println!("panicked: {file} {name} {count}");
            }
        }
        return;
    }
    let (mut wrong, mut first) = (Vec::new(), 0);
    loop {
        let arguments = ["--exact", "every_count_is_answered", "--nocapture"];
        let Some(output) = run_limited(&arguments, first) else {
            println!("skipped: no process can begin with little memory");
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout);
        wrong.extend(said.lines().filter(|line| line.starts_with("panicked: ")).map(str::to_owned));
        if output.status.success() {
            assert!(said.contains("1 passed"), "{said}");
            break;
        }
        let last = said.lines().rev().find_map(|line| line.split_once("call "));
        let (number, call) = last.expect("it has begun").1.split_once(": ").unwrap();
        wrong.push(format!("ended by {}: {call}", output.status));
        first = number.parse::<usize>().unwrap() + 1;
    }
    assert!(wrong.is_empty(), "{} of the calls: {wrong:#?}", wrong.len());
}

/// Functions that are not called here, by file (or folder) and name, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("cuda/", "", "needs a device; shapes and parts are those of dense/, whose checks it calls"),
    ("dense/from_behind.rs", "resolve", "is of this crate alone; by slice and index"),
    ("dtype.rs", "from_dlpack", "three codes, of which each combination is a dtype or none"),
    ("dtype.rs", "nth_step", "is of this crate alone; by arange_step"),
    ("dtype/backend.rs", "", "is of this crate alone; lengths are those of the matrix"),
    ("loader/dataset.rs", "", "is of this crate alone; by Loader"),
    ("program/on_device.rs", "measure", "needs a device"),
    ("train/check.rs", "directions", "runs the program as often as is asked for"),
    ("program/report.rs", "measure", "runs the program as often as is asked for"),
    ("program/calls/custom/own.rs", "with_device", "needs a device; its shapes are those of new"),
    ("program/tree/", "", "is of this crate alone; numbers of the places in trees"),
    ("program/calls/custom/own.rs", "traced", "numbers of values, which this crate gives"),
    ("program/calls/fresh.rs", "blanks", "is of this crate alone; outputs of a program"),
    ("io/matrix_market/write.rs", "for_each", "hands indices out"),
    ("sparse/view.rs", "new_unchecked", "is unsafe: the caller promises what new checks"),
];

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn every_function_that_takes_a_count_is_called() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let functions = functions::public(&source);
    let called: BTreeSet<_> = rows().into_iter().map(|(file, name, _)| (file, name)).collect();
    let excepted = |file: &str, name: &str| {
        EXCEPTIONS
            .iter()
            .any(|(of, one, _)| file.starts_with(of) && (one.is_empty() || *one == name))
    };
    let missing: BTreeSet<_> = functions
        .iter()
        .filter(|of| of.takes_count && !called.contains(&(&of.file[..], &of.name[..])))
        .filter(|of| !excepted(&of.file, &of.name))
        .map(|of| format!("{} {}", of.file, of.name))
        .collect();
    assert!(missing.is_empty(), "neither called nor excepted: {missing:#?}");

    let is_there = |file: &str, name: &str| {
        functions.iter().any(|of| of.file.starts_with(file) && (name.is_empty() || of.name == name))
    };
    for (file, name, _) in EXCEPTIONS {
        assert!(is_there(file, name), "no such function: {file} {name}");
    }
    for (file, name) in called {
        assert!(file.is_empty() || is_there(file, name), "no such function: {file} {name}");
    }
}
