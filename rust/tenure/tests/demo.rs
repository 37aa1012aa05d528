//! The tour of `examples/digits`, taken on its own file and on files made wrong on purpose.

#[path = "../examples/digits/network.rs"]
mod network;
#[path = "../examples/digits/npy.rs"]
mod npy;
#[path = "../src/split_mix.rs"]
mod random;
#[path = "../examples/digits/tour.rs"]
mod tour;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tenure::Order;

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

    // The same allocation, lent, handed over and back; one Arc in two threads.
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
    let digits = npy::read(&tour::default_path()).unwrap();
    let npy::Payload::U8(bytes) = &digits.payload else { panic!("the digits are bytes") };
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
    for (name, shown) in [("|i1", "i8"), ("|u1", "u8"), ("|b1", "u8")] {
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
    assert_eq!(npy::read(&path).unwrap().order, Order::ColumnMajor);
    let text = tour_of(&path).unwrap();
    assert!(text.contains("shape    [3, 2]\nstrides  [1, 3]\n"), "{text}");
    assert!(text.contains("[[1 4]\n [2 5]\n [3 6]]\n"), "{text}");
    assert_eq!(after(&text, "bytes copied by Tenure: "), ["0"]);
}

#[test]
fn versions_2_and_3_are_read() {
    let first = npy_bytes("'|u1'", false, "(2,)", &[7, 8]);
    for version in [2, 3] {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        bytes.extend(u32::from(u16::from_le_bytes([first[8], first[9]])).to_le_bytes());
        bytes.extend(&first[10..]);
        let text = tour_of(&file(&format!("version{version}.npy"), &bytes)).unwrap();
        assert!(text.contains("\n[7 8]\n"), "{text}");
    }
}

#[test]
fn a_truncated_file_is_a_message() {
    let whole = npy_bytes("'<f4'", false, "(2, 3)", &[0; 24]);
    assert_eq!(
        refusal("short.npy", &whole[..whole.len() - 5]),
        "shape [2, 3] of '<f4' takes 24 bytes but the file holds 19"
    );
    assert_eq!(
        refusal("half_header.npy", &whole[..60]),
        "the header ends at byte 128 but the file has 60"
    );
    assert_eq!(refusal("nothing.npy", b""), "no .npy file: it has 0 bytes, a header at least 12");
    // Cut anywhere: a message, never a panic.
    for length in 0..whole.len() {
        refusal("cut.npy", &whole[..length]);
    }
}

#[test]
fn a_misdeclared_file_is_a_message() {
    let long = npy_bytes("'<f4'", false, "(2, 3)", &[0; 32]);
    assert_eq!(
        refusal("long.npy", &long),
        "shape [2, 3] of '<f4' takes 24 bytes but the file holds 32"
    );
    let huge = npy_bytes("'|u1'", false, "(4294967296, 4294967296, 2)", &[0; 8]);
    assert_eq!(
        refusal("huge.npy", &huge),
        "shape (4294967296, 4294967296, 2) counts beyond 9223372036854775807"
    );
    // As many bytes as there are addresses, and none of them there.
    let large = npy_bytes("'<f8'", false, "(1152921504606846975,)", &[0; 8]);
    assert_eq!(
        refusal("large.npy", &large),
        "shape [1152921504606846975] of '<f8' takes 9223372036854775800 bytes but the file holds 8"
    );
    let larger = npy_bytes("'<f8'", false, "(4611686018427387904,)", &[0; 8]);
    assert_eq!(
        refusal("larger.npy", &larger),
        "shape [4611686018427387904] takes more than 18446744073709551615 bytes"
    );
    let negative = npy_bytes("'|u1'", false, "(-1, 8)", &[0; 8]);
    assert_eq!(
        refusal("negative.npy", &negative),
        "extent -1 is not a number from 0 to 18446744073709551615"
    );
}

#[test]
fn foreign_byte_order_is_a_message() {
    let (foreign, own) = if cfg!(target_endian = "little") { ('>', '<') } else { ('<', '>') };
    let bytes = npy_bytes(&format!("'{foreign}f4'"), false, "(2,)", &[0; 8]);
    assert_eq!(
        refusal("foreign.npy", &bytes),
        format!("dtype '{foreign}f4' has foreign byte order: this machine reads '{own}'")
    );
}

#[test]
fn dtypes_that_are_no_real_numbers_are_a_message() {
    for (name, dtype, payload) in [("c8", "<c8", 8), ("S3", "|S3", 3), ("M8", "<M8[s]", 8)] {
        let bytes = npy_bytes(&format!("'{dtype}'"), false, "(1,)", &vec![0; payload]);
        let message = refusal(&format!("{name}.npy"), &bytes);
        assert!(message.contains("real number") || message.contains("structured"), "{message}");
    }
    let record = npy_bytes("[('x', '<f4')]", false, "(1,)", &[0; 4]);
    assert_eq!(refusal("record.npy", &record), "structured dtypes are not read");
}

#[test]
fn malformed_npy_files_are_a_message() {
    assert_eq!(
        refusal("text.npy", b"1.0, 2.0, 3.0, 4.0\n"),
        "no .npy file: it does not begin with \\x93NUMPY"
    );
    assert!(tour_of(Path::new("no such file.npy")).is_err());
    let garbled = npy_bytes("'<f4'", false, "(2, 3", &[0; 24]);
    assert!(!refusal("garbled.npy", &garbled).is_empty());
}
