//! The tour on its own file and on files that it has to refuse.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tenure::io::npy;
use tenure_demo::digits::tour;

/// The bytes of a version 1 file.
fn npy_bytes(dtype: &str, fortran: bool, shape: &str, payload: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': {dtype}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let text = format!("{text:<117}\n");
    let length = (text.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes(), payload].concat()
}

/// Writes a file of this test's own.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// The tour's text, or its error's message.
fn tour_of(path: &Path) -> Result<String, String> {
    // The counters are the process's: one tour at a time.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _lock = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = Vec::new();
    tour::run(path, &mut text).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(text).unwrap())
}

/// The error's message for a file of these bytes.
fn refusal(name: &str, bytes: &[u8]) -> String {
    tour_of(&file(name, bytes)).expect_err("this file is refused")
}

/// The text after `label` on each line that begins with it, up to a comma.
fn after<'a>(text: &'a str, label: &str) -> Vec<&'a str> {
    let rest = text.lines().filter_map(|line| line.strip_prefix(label));
    rest.map(|rest| rest.split(',').next().unwrap_or("").trim()).collect()
}

#[test]
fn the_digits() {
    let text = tour_of(&tour::default_path()).unwrap();
    assert_eq!(after(&text, "dtype "), ["u8"]);
    assert!(text.contains("shape    [1797, 64]\nstrides  [64, 1]\ntenure   borrowed\n"), "{text}");
    assert!(
        text.contains("\n        --%%++..\n        %%@@**@@--\n"),
        "the picture of a 0: {text}"
    );
    assert!(text.contains("axis 0: [1797, 64] -> [64]\n"), "{text}");
    assert_eq!(after(&text, "entries "), ["58736 of 115008 elements"]);
    assert_eq!(after(&text, "furthest from the dense product: "), ["0.0"]);
    assert!(text.contains("tenure-digits.mtx, read back equal\n"), "{text}");
    let accuracies = after(&text, "accuracy ");
    assert_eq!((accuracies.len(), accuracies[0]), (2, "0.9883"));
    assert!(text.contains("axis 1: [1797, 64] -> [1797]\n"), "{text}");

    // The network: no tensor, the same bits in the same layout, the same digits.
    let in_place = "peak 272800 bytes, 0 of them allocated by each batch\n";
    assert_eq!(text.matches(in_place).count(), 2, "{text}");
    let allocating = "peak 545600 bytes, 545600 of them allocated by each batch\n";
    assert_eq!(text.matches(allocating).count(), 1, "{text}");
    let [furthest] = after(&text, "furthest from the first: ")[..] else { panic!("{text}") };
    assert!(furthest.parse::<f32>().unwrap() < 1e-5, "{furthest}");
    assert!(text.contains(&format!("first: {furthest}, 0.0\n")), "{text}");
    assert!(accuracies[1].parse::<f64>().unwrap() > 0.93, "{accuracies:?}");

    // One allocation, lent, handed over and back; one Arc in two threads.
    let given = after(&text, "Vec ");
    assert_eq!(given.len(), 2);
    assert_eq!(given[0], given[1]);
    assert_eq!(after(&text, "Tensor "), [given[0]]);
    let shared = after(&text, "Arc ");
    assert_eq!(after(&text, "thread "), [shared[0]; 2]);

    assert_eq!(after(&text, "bytes copied by Tenure: "), ["0"]);
    let control = "control: Tensor::copy_from_slice of 115008 f32: 460032 bytes";
    assert_eq!(text.lines().last(), Some(control));
}

#[test]
fn the_standardised_digits_have_mean_0_and_deviation_1() {
    let digits = npy::read::<u8>(tour::default_path()).unwrap();
    let bytes = digits.as_slice().unwrap();
    let text = tour_of(&tour::default_path()).unwrap();
    // The 61 columns that are not constant have a variance of 1, the 3 others one of 0.
    let varied =
        (0..64).filter(|column| bytes.chunks(64).any(|row| row[*column] != bytes[*column]));
    let deviation = (varied.count() as f64 / 64.0).sqrt();
    assert!(text.contains(&format!(", deviation {deviation:.4}\n")), "{deviation}: {text}");
}

#[test]
fn every_dtype_takes_the_tour() {
    let sizes = [
        ("f8", 8),
        ("f4", 4),
        ("f2", 2),
        ("i8", 8),
        ("i4", 4),
        ("i2", 2),
        ("u8", 8),
        ("u4", 4),
        ("u2", 2),
    ];
    for (name, size) in sizes {
        let bytes = npy_bytes(&format!("'<{name}'"), false, "(2, 3)", &vec![0; 6 * size]);
        let text = tour_of(&file(&format!("{name}.npy"), &bytes)).unwrap();
        assert_eq!(after(&text, "bytes copied by Tenure: "), ["0"], "{name}");
    }
    for (name, shown) in [("|i1", "i8"), ("|u1", "u8")] {
        let bytes = npy_bytes(&format!("'{name}'"), false, "(2, 3)", &[0, 1, 1, 0, 0, 1]);
        let text = tour_of(&file(&format!("{}.npy", &name[1..]), &bytes)).unwrap();
        assert_eq!(after(&text, "dtype "), [shown]);
    }
}

#[test]
fn every_rank_takes_the_tour() {
    for (name, shape, count) in [
        ("0", "()", 1),
        ("1", "(5,)", 5),
        ("3", "(2, 3, 4)", 24),
        ("8", "(1, 1, 1, 1, 1, 1, 1, 2)", 2),
    ] {
        let bytes = npy_bytes("'|u1'", false, shape, &vec![3; count]);
        let text = tour_of(&file(&format!("rank{name}.npy"), &bytes)).unwrap();
        assert_eq!(after(&text, "bytes copied by Tenure: "), ["0"], "rank {name}");
    }
    let empty = npy_bytes("'<f8'", false, "(0, 64)", &[]);
    let text = tour_of(&file("empty.npy", &empty)).unwrap();
    assert!(text.ends_with("No elements: nothing to compute.\n"), "{text}");
    let deep = npy_bytes("'|u1'", false, "(1, 1, 1, 1, 1, 1, 1, 1, 1)", &[3]);
    assert_eq!(refusal("rank9.npy", &deep), "rank is 9 but at most 8 axes are supported");
}

#[test]
fn a_fortran_ordered_file_is_lent_as_it_is() {
    let bytes = npy_bytes("'|u1'", true, "(3, 2)", &[1, 2, 3, 4, 5, 6]);
    let path = file("fortran.npy", &bytes);
    let text = tour_of(&path).unwrap();
    assert!(text.contains("shape    [3, 2]\nstrides  [1, 3]\n"), "{text}");
    assert!(text.contains("[[1 4]\n [2 5]\n [3 6]]\n"), "{text}");
    assert_eq!(after(&text, "bytes copied by Tenure: "), ["0"]);
}

#[test]
fn unsuitable_files_are_a_message() {
    let long = npy_bytes("'<f4'", false, "(2, 3)", &[0; 23]);
    let message = refusal("long.npy", &long);
    assert!(message.contains("takes 24 bytes"), "{message}");
    for (name, dtype, payload) in [("c8", "<c8", 8), ("b1", "|b1", 1)] {
        let bytes = npy_bytes(&format!("'{dtype}'"), false, "(1,)", &vec![0; payload]);
        let message = refusal(&format!("{name}.npy"), &bytes);
        assert!(message.starts_with("the tour needs real numbers but"), "{message}");
    }
    assert!(tour_of(Path::new("no such file.npy")).is_err());
}
