//! Matrix Market files: a written file reads back, and the error of an invalid file names its line.

use tenure::io::matrix_market::{Field, Layout, Reader, Symmetry, Value, Writer};
use tenure::*;

const REAL: &str = "%%MatrixMarket matrix coordinate real general\n";

fn coo<T: Value>(text: &str) -> Result<CooMatrix<T>> {
    Reader::new(text.as_bytes())?.to_coo()
}

fn message(text: &str) -> String {
    coo::<f64>(text).expect_err(text).message().to_owned()
}

fn written<T: Value, S: io::matrix_market::WritableMatrix<T>>(
    writer: &Writer,
    matrix: &S,
) -> String {
    let mut out = Vec::new();
    writer.write(matrix, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn entries<T: Element>(matrix: &CooMatrix<T>) -> Vec<(usize, usize, T)> {
    matrix.view().iter().map(|(row, col, value)| (row, col, *value)).collect()
}

#[test]
fn every_symmetry_gives_back_what_it_leaves_out() -> Result<()> {
    let head =
        |words: &str| format!("%%matrixmarket MATRIX Coordinate {words}\n%c\n\n% d\n3 3 2\n");
    let text = head("real symmetric") + "2 2 1.5\n3 1 -2\n";
    assert_eq!(entries(&coo::<f32>(&text)?), [(1, 1, 1.5), (2, 0, -2.0), (0, 2, -2.0)]);
    let text = head("integer skew-symmetric") + "2 1 1\n3 1 -2";
    assert_eq!(entries(&coo::<i8>(&text)?), [(1, 0, 1), (0, 1, -1), (2, 0, -2), (0, 2, 2)]);
    let text = head("complex hermitian") + "2 2 4 0\n3 1 5 6\n";
    let complex = |re, im| Complex::new(re, im);
    let wanted = [(1, 1, complex(4.0, 0.0)), (2, 0, complex(5.0, 6.0)), (0, 2, complex(5.0, -6.0))];
    assert_eq!(entries(&coo::<Complex<f64>>(&text)?), wanted);
    // The other half, as some write it.
    let text = head("pattern symmetric") + "1 2\n1 3\r\n\n";
    assert_eq!(entries(&coo::<u8>(&text)?), [(0, 1, 1), (1, 0, 1), (0, 2, 1), (2, 0, 1)]);
    Ok(())
}

#[test]
fn arrays_are_column_major() -> Result<()> {
    let text = b"%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n";
    let dense = Reader::new(text)?.to_dense::<f64>()?;
    assert_eq!(dense.to_vec(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    assert_eq!(dense.strides(), [1, 2]);
    let text = b"%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n";
    let dense = Reader::new(text)?.to_dense::<Complex<f32>>()?;
    assert_eq!((dense[[1, 0]], dense[[0, 1]]), (Complex::new(2.0, 3.0), Complex::new(2.0, -3.0)));
    let text = b"%%MatrixMarket matrix array real general\n0 9223372036854775807\n";
    assert!(Reader::new(text)?.to_dense::<f32>().is_ok_and(|dense| dense.is_empty()));
    Ok(())
}

#[test]
fn files_of_a_field_are_read_as_what_holds_it() -> Result<()> {
    let integers = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 -3\n2 2 127\n";
    assert_eq!(coo::<i8>(integers)?.values(), [-3, 127]);
    assert_eq!(coo::<f16>(integers)?.values(), [f16::from_f32(-3.0), f16::from_f32(127.0)]);
    assert_eq!(coo::<Complex<f32>>(integers)?.values()[0], Complex::new(-3.0, 0.0));
    assert_eq!(coo::<Bool8>(integers)?.values(), [Bool8::TRUE, Bool8::TRUE]);
    let refused = coo::<u16>(integers).err().unwrap();
    assert_eq!(refused.message(), "line 3: value is -3 but u16 holds 0 to 65535");
    let unsigned = "%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 \
                    18446744073709551615\n";
    assert_eq!(coo::<u64>(unsigned)?.values(), [u64::MAX]);
    assert!(coo::<i64>(unsigned).is_err());
    let real = format!("{REAL}1 1 1\n1 1 0.1\n");
    assert_eq!(coo::<bf16>(&real)?.values(), [bf16::from_f32(0.1)]);
    let refused = coo::<i32>(&real).err().unwrap();
    assert_eq!(refused.message(), "the file is real, and i32 does not hold it");
    let complex = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n";
    let refused = coo::<f64>(complex).err().unwrap();
    assert_eq!(refused.message(), "the file is complex, and f64 does not hold it");
    let special = format!("{REAL}1 5 5\n1 1 NaN\n1 2 -inf\n1 3 Infinity\n1 4 -0\n1 5 1e999\n");
    let values = coo::<f64>(&special)?;
    let [nan, low, high, zero, beyond] = values.values() else { panic!("five values") };
    assert!(nan.is_nan() && zero.is_sign_negative());
    assert_eq!([*low, *high, *beyond], [-f64::INFINITY, f64::INFINITY, f64::INFINITY]);
    Ok(())
}

#[test]
fn duplicates_are_entries_that_add_up() -> Result<()> {
    let matrix = coo::<f32>(&format!("{REAL}2 2 3\n1 1 1\n1 1 2\n2 1 4\n"))?;
    assert_eq!(matrix.nnz(), 3);
    let refused = matrix.check_coalesced().err().unwrap();
    assert_eq!(refused.error().kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn errors_name_the_line() {
    let head = |words: &str, rest: &str| format!("%%MatrixMarket matrix {words}\n{rest}");
    let cases = [
        (String::new(), "line 1: no Matrix Market file: it must begin %%MatrixMarket"),
        ("%%MatrixMarket".into(), "line 1: the object is missing"),
        ("%%MatrixMarket vector x".into(), "line 1: the object is 'vector' but must be matrix"),
        (head("dense", ""), "line 1: the layout is 'dense' but must be one of coordinate, array"),
        (
            head("coordinate reel", ""),
            "line 1: the field is 'reel' but must be one of real, integer, unsigned-integer, \
             complex, pattern",
        ),
        (
            head("coordinate real odd", ""),
            "line 1: the symmetry is 'odd' but must be one of general, symmetric, skew-symmetric, \
             hermitian",
        ),
        (head("array pattern general", ""), "line 1: an array of pattern: it would list nothing"),
        (
            head("coordinate pattern skew-symmetric", ""),
            "line 1: a pattern has no negatives to be skew",
        ),
        (head("coordinate real hermitian", ""), "line 1: only complex matrices are hermitian"),
        (head("coordinate real general", "% c\n\n"), "line 3: the file ends before its size line"),
        (format!("{REAL}% c\n3 3"), "line 3: the number of entries is missing"),
        (
            format!("{REAL}-3 3 1\n"),
            "line 2: rows is '-3' but must be a whole number from 0 to 18446744073709551615",
        ),
        (
            format!("{REAL}99999999999999999999 3 1\n"),
            "line 2: rows is '99999999999999999999' but must be a whole number from 0 to \
             18446744073709551615",
        ),
        (
            format!("{REAL}3000000000 3 1\n1 1 1\n"),
            "rows is 3000000000, more than i32 can count: use i64",
        ),
        (
            format!("{REAL}3 3 18446744073709551615\n1 1 1\n"),
            "line 2: 18446744073709551615 entries must follow, but the 6 bytes that do hold at \
             most 1",
        ),
        (
            head("coordinate real symmetric", "3 4 0\n"),
            "line 2: a matrix of 3 rows and 4 columns cannot be symmetric: it is not square",
        ),
        (
            head("array real general", "4294967296 4294967296\n1\n"),
            "line 2: 4294967296 x 4294967296 elements are beyond 18446744073709551615",
        ),
        (format!("{REAL}3 3 1\n0 1 1\n"), "line 3: row is 0 but must be from 1 to 3"),
        (format!("{REAL}3 3 1\n\n1 4 1\n"), "line 4: column is 4 but must be from 1 to 3"),
        (
            format!("{REAL}3 3 1\n1 1 a\u{e9}\n"),
            "line 3: value is 'a\\xc3\\xa9' but must be a number",
        ),
        (format!("{REAL}3 3 1\n1 1    \n"), "line 3: value is missing"),
        (
            format!("{REAL}3 3 1\n1 1 1 1\n"),
            "line 3: '1' follows the entry but its line must end there",
        ),
        (
            format!("{REAL}3 3 1\n1.0 1 1\n"),
            "line 3: row is '1.0' but must be a whole number from 0 to 18446744073709551615",
        ),
        (
            format!("{REAL}3 3 1\n1 1 {}\n", "x".repeat(99)),
            "line 3: value is 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' but must be a number",
        ),
        (
            format!("{REAL}3 3 2\n1 1 1.0000000\n"),
            "line 3: the file ends after 1 of the 2 entries that its size line states",
        ),
        (
            format!("{REAL}3 3 1\n1 1 1\n2 2 2\n"),
            "line 4: '2' follows the 1 entries that the size line states",
        ),
        (
            head("coordinate real skew-symmetric", "3 3 1\n2 2 1\n"),
            "line 3: value is 1 but must be 0, because a skew-symmetric matrix has it on the diagonal",
        ),
        (
            head("coordinate real symmetric", "3 3 2\n2 1 1\n1 2 1\n"),
            "line 4: row 1 and column 2 are on the other side of the diagonal than entries before, \
             but a symmetric file lists one half",
        ),
        (
            head("array real general", "1 1\n1\n"),
            "the file is an array: to_dense reads it, to_coo does not",
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(message(&text), wanted, "{text}");
    }
    let hermitian = head("coordinate complex hermitian", "1 1 1\n1 1 2 3\n");
    assert_eq!(
        coo::<Complex<f64>>(&hermitian).err().unwrap().message(),
        "line 3: value is 2+3i but must be real, because a hermitian matrix has it on the diagonal"
    );
    let lowest = head("coordinate integer skew-symmetric", "2 2 1\n2 1 -128\n");
    assert_eq!(coo::<i8>(&lowest).err().unwrap().message(), "line 3: -128 has no negative in i8");
}

/// Files that differ from the format, but have one meaning.
#[test]
fn files_of_practice_are_read() {
    let plain = format!("{REAL}2 2 2\n1 1 2.5\n2 1 100\n");
    let wanted = [(0, 0, 2.5), (1, 0, 100.0)];
    let with = |from: &str, to: &str| plain.replace(from, to);
    let upper = plain.to_uppercase();
    for (what, text) in [
        ("as the format is", plain.clone()),
        ("a byte-order mark", format!("\u{feff}{plain}")),
        ("a byte-order mark and an empty line", format!("\u{feff}\r\n{plain}")),
        ("empty lines first", format!("\n \t\n{plain}")),
        ("blanks first", format!("  {plain}")),
        ("words behind the first line", with("general", "general of mine, 1996")),
        ("a comment behind the first line", with("general", "general % mine")),
        ("double", with("real", "double")),
        ("Double", with("real", "Double")),
        ("one percent sign", with("%%", "%")),
        ("capitals", upper),
        ("tabs", with(" ", "\t")),
        ("many blanks", with(" ", "  \t ")),
        ("line breaks of Windows", with("\n", "\r\n")),
        ("empty lines everywhere", with("\n", "\n\n \t\n")),
        ("blanks at the ends of lines", with("\n", " \t\n")),
        ("blanks at the beginnings of lines", with("\n", "\n \t")),
        ("no last line break", plain.trim_end().to_owned()),
        ("many last line breaks", plain.clone() + "\n\r\n\n"),
        ("a comment behind the size line", with("2 2 2\n", "2 2 2\n% size\n")),
        ("a comment between entries", with("2.5\n", "2.5\n%\n% 1 1 7\n")),
        ("a comment at the end", plain.clone() + "% 2 2 9\n%"),
        ("a comment that is indented", with("2.5\n", "2.5\n \t% 1 1 7\n")),
        ("comments at the ends of lines", with("\n", " % 1\n")),
        ("Fortran's doubles", with("100", "1.0D+02").replace("2.5", "25d-1")),
        ("exponents", with("100", "1.E2").replace("2.5", "+.25e+1")),
        ("zeros in front", with("1 1 2.5", "01 001 002.50")),
    ] {
        let read = coo::<f64>(&text).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(entries(&read), wanted, "{what}");
    }
    let skew =
        "%%MatrixMarket matrix coordinate FIELD skew-symmetric\n2 2 3\n1 1 0\n2 1 3\n2 2 -0\n";
    for field in ["real", "double", "integer"] {
        let text = skew.replace("FIELD", field);
        let wanted = [(0, 0, 0.0), (1, 0, 3.0), (0, 1, -3.0), (1, 1, 0.0)];
        assert_eq!(entries(&coo::<f64>(&text).unwrap()), wanted);
    }
    assert_eq!(coo::<i8>(&skew.replace("FIELD", "integer")).unwrap().nnz(), 4);
    let complex = "%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n1 1 0 -0\n";
    assert_eq!(coo::<Complex<f32>>(complex).unwrap().nnz(), 1);
    let array =
        "%%MatrixMarket matrix array double general\n% a\n2 1\n% b\n1D2\n\n % c\n-3 % d\n% e";
    let dense = Reader::new(array.as_bytes()).unwrap().to_dense::<f32>().unwrap();
    assert_eq!(dense.to_vec(), [100.0, -3.0]);
}

/// Files that resemble those and are malformed, with the line of the file.
#[test]
fn files_beyond_practice_are_refused() {
    let plain = format!("{REAL}2 2 2\n1 1 2.5\n2 1 100\n");
    let with = |from: &str, to: &str| plain.replace(from, to);
    for (text, wanted) in [
        (
            format!("\n\n% c\n{plain}"),
            "line 3: no Matrix Market file: it must begin %%MatrixMarket",
        ),
        (format!("\u{feff}\u{feff}{plain}"), "line 1: no Matrix Market file: it must begin"),
        (with("%%", "%% "), "line 1: no Matrix Market file: it must begin %%MatrixMarket"),
        (with("%%", "%%%"), "line 1: no Matrix Market file: it must begin %%MatrixMarket"),
        (
            with("real", "doubles"),
            "line 1: the field is 'doubles' but must be one of real, integer,",
        ),
        (with("2 2 2\n", "2 2 2 2\n"), "line 2: '2' follows the size but its line must end there"),
        (with("2 2 2\n", "2 2 % 2\n"), "line 2: the number of entries is '%' but must be a whole"),
        (with("2.5", "2.5 x"), "line 3: 'x' follows the entry but its line must end there"),
        (with("2.5", "2.5%"), "line 3: value is '2.5%' but must be a number"),
        (with("2.5", "% 2.5"), "line 3: value is '%' but must be a number"),
        (with("2.5", "2.5Q1"), "line 3: value is '2.5Q1' but must be a number"),
        (with("2.5", "2D5D1"), "line 3: value is '2D5D1' but must be a number"),
        (with("2.5", "2D"), "line 3: value is '2D' but must be a number"),
        (with("2.5", "2,5"), "line 3: value is '2,5' but must be a number"),
        (with("1 1 ", "1D0 1 "), "line 3: row is '1D0' but must be a whole number from 0 to"),
        (with("2.5\n", "2.5\n% 2 2 1\n% c\n3 1 1\n"), "line 6: row is 3 but must be from 1 to 2"),
        (with("2.5\n", "2.5 2 1 100\n"), "line 3: '2' follows the entry but its line must end"),
        (plain.clone() + "% c\n2 2 1\n", "line 6: '2' follows the 2 entries that the size line"),
        (with("2 1 100", "% 2 1 100"), "line 4: the file ends after 1 of the 2 entries that its"),
        (
            with("general", "skew-symmetric").replace("2.5", "0.25"),
            "line 3: value is 0.25 but must be 0, because a skew-symmetric matrix has it on the",
        ),
        (
            with("general", "skew-symmetric").replace("2.5", "nan"),
            "line 3: value is NaN but must be 0, because a skew-symmetric matrix has it on the",
        ),
    ] {
        let found = message(&text);
        assert!(found.starts_with(wanted), "{found}\n{wanted}");
    }
    for (text, wanted) in [
        (
            format!("{REAL}18446744073709551615 1 0\n"),
            "rows is 18446744073709551615, more than 9223372036854775807, the most that i64 can count",
        ),
        (
            format!("{REAL}1 18446744073709551615 0\n"),
            "cols is 18446744073709551615, more than 9223372036854775807, the most that i64 can count",
        ),
    ] {
        let read = Reader::new(text.as_bytes()).unwrap();
        assert_eq!(read.to_coo::<f64, i32>().err().unwrap().message(), wanted);
        assert_eq!(read.to_coo::<f64, i64>().err().unwrap().message(), wanted);
    }
}

#[test]
fn bytes_that_are_no_text_are_bytes() -> Result<()> {
    let mut bytes = REAL.as_bytes().to_vec();
    bytes.extend(b"% \xff\xfe comments may be anything\n1 1 1\n1 1 2\n");
    assert_eq!(Reader::new(&bytes)?.to_coo::<f64, i32>()?.values(), [2.0]);
    let mut bytes = REAL.as_bytes().to_vec();
    bytes.extend(b"1 1 1\n1 1 \xff\x00\n");
    let error = Reader::new(&bytes)?.to_coo::<f64, i32>().err().unwrap();
    assert_eq!(error.message(), "line 3: value is '\\xff\\x00' but must be a number");
    Ok(())
}

#[test]
fn a_file_cut_anywhere_is_a_message() {
    let general = sparse::gallery::uniform::<f32, i32>(5, 5, 0.5, 1).unwrap();
    let text = written(&Writer::new(), &general.view());
    let whole = text.trim_end().len();
    for length in 0..whole {
        match coo::<f32>(&text[..length]) {
            // The last number may lose digits and be one.
            Ok(_) => assert!(whole - length < 8, "cut to {length} of {whole}"),
            Err(error) => assert!(error.message().starts_with("line "), "{error}"),
        }
    }
}

#[test]
fn written_files_are_read() -> Result<()> {
    let matrix: CsrMatrix<f64> = sparse::gallery::rmat(8, 4, 1)?;
    let thirds: Vec<f64> = matrix
        .values()
        .iter()
        .enumerate()
        .map(|(k, v)| v / 3.0 * 10_f64.powi(k as i32 - 99))
        .collect();
    let view = matrix.view().with_values(&thirds)?;
    let again = coo::<f64>(&written(&Writer::new(), &view))?;
    assert!(again.view().iter().eq(view.iter()));
    let narrow: Vec<f32> = thirds.iter().map(|value| *value as f32).collect();
    let again = coo::<f32>(&written(&Writer::new(), &view.with_values(&narrow)?))?;
    assert_eq!(again.values(), narrow);
    let halves: Vec<f16> = narrow.iter().map(|value| f16::from_f32(*value)).collect();
    let again = coo::<f16>(&written(&Writer::new(), &view.with_values(&halves)?))?;
    assert_eq!(again.values(), halves);
    let pattern = coo::<u8>(&written(&Writer::new().pattern(), &view))?;
    assert_eq!(pattern.col_indices(), matrix.col_indices());
    assert!(pattern.values().iter().all(|one| *one == 1));
    Ok(())
}

#[test]
fn every_source_has_its_lines() -> Result<()> {
    let head = "%%MatrixMarket matrix coordinate integer general\n";
    let coo = CooView::new(2, 3, &[1, 0], &[0, 2], &[7, 8])?;
    assert_eq!(written(&Writer::new(), &coo), format!("{head}2 3 2\n2 1 7\n1 3 8\n"));
    let csr = CsrView::new(2, 3, &[0, 1, 2], &[2, 0], &[8, 7])?;
    assert_eq!(written(&Writer::new(), &csr), format!("{head}2 3 2\n1 3 8\n2 1 7\n"));
    let part = csr.row_range(1..)?;
    assert_eq!(written(&Writer::new(), &part), format!("{head}1 3 1\n1 1 7\n"));
    let bsr = BsrView::new(4, 2, [2, 1], &[0, 0, 1], &[1], &[5, 6])?;
    assert_eq!(written(&Writer::new(), &bsr), format!("{head}4 2 2\n3 2 5\n4 2 6\n"));
    let data = [1, 2, 3, 4, 5, 6];
    let dense = TensorView::from_slice(&data, [3, 2])?;
    let text = written(&Writer::new(), &dense.t());
    assert_eq!(text, "%%MatrixMarket matrix array integer general\n2 3\n1\n2\n3\n4\n5\n6\n");
    let reader = Reader::new(text.as_bytes())?;
    assert_eq!((reader.layout(), reader.field()), (Layout::Array, Field::Integer));
    assert_eq!(reader.to_dense::<i32>()?.to_vec(), dense.t().to_vec());
    let empty = TensorView::<f32>::from_slice(&[], [0, 5])?;
    assert!(written(&Writer::new(), &empty).ends_with("general\n0 5\n"));
    Ok(())
}

#[test]
fn a_symmetry_is_written_where_the_matrix_has_it() -> Result<()> {
    let grid: CsrMatrix<f32> = sparse::gallery::poisson([3, 4, 2])?;
    let text = written(&Writer::new().symmetry(Symmetry::Symmetric), &grid.view());
    let reader = Reader::new(text.as_bytes())?;
    assert_eq!((reader.symmetry(), reader.stored()), (Symmetry::Symmetric, (grid.nnz() + 24) / 2));
    let mut again = entries(&reader.to_coo::<f32, i32>()?);
    again.sort_by_key(|(row, col, _)| (*row, *col));
    assert!(again.into_iter().eq(grid.view().iter().map(|(row, col, value)| (row, col, *value))));

    let complex = |re, im| Complex::new(re, im);
    let data = [complex(1.0, 0.0), complex(2.0, 3.0), complex(2.0, -3.0), complex(f64::NAN, 0.0)];
    let dense = TensorView::from_slice(&data, [2, 2])?;
    let text = written(&Writer::new().symmetry(Symmetry::Hermitian), &dense);
    assert_eq!(Reader::new(text.as_bytes())?.to_dense::<Complex<f64>>()?.to_vec()[..3], data[..3]);

    let refusal = |matrix: &CooView<'_, i32>, symmetry| {
        let out = Writer::new().symmetry(symmetry).write(matrix, &mut Vec::new());
        out.expect_err("it lacks the symmetry").to_string()
    };
    let alone = CooView::new(3, 3, &[0, 1, 0], &[1, 0, 2], &[4, 4, 5])?;
    assert_eq!(
        refusal(&alone, Symmetry::Symmetric),
        "the matrix is not symmetric: row 1, column 3 has an entry without mirror image"
    );
    let other = CooView::new(3, 3, &[0, 1], &[1, 0], &[4, 5])?;
    assert_eq!(
        refusal(&other, Symmetry::Symmetric),
        "the matrix is not symmetric: row 2, column 1 has 5, and its mirror image 4"
    );
    let diagonal = CooView::new(3, 3, &[1], &[1], &[4])?;
    assert_eq!(
        refusal(&diagonal, Symmetry::SkewSymmetric),
        "the matrix is not skew-symmetric: row 2, column 2 has 4"
    );
    assert_eq!(refusal(&diagonal, Symmetry::Hermitian), "a file of integer cannot be hermitian");
    let oblong = CooView::<i32>::new(3, 4, &[], &[], &[])?;
    assert_eq!(refusal(&oblong, Symmetry::Symmetric), "3 rows and 4 columns cannot be symmetric");
    let cube = TensorView::from_slice(&[1, 2], [1, 1, 2])?;
    let error = Writer::new().write(&cube, &mut Vec::new()).err().unwrap();
    assert_eq!(error.to_string(), "rank is 3 but must be 2");
    let flat = TensorView::from_slice(&[1, 2], [1, 2])?;
    let error = Writer::new().pattern().write(&flat, &mut Vec::new()).err().unwrap();
    assert_eq!(error.to_string(), "a dense matrix has no pattern");
    Ok(())
}

/// A matrix of four rows with the symmetry: below the diagonal and on it `value(n)`, `None` where
/// the mirror image has no value.
fn with_symmetry<T: Value>(
    symmetry: Symmetry,
    value: fn(i8) -> T,
    mirror: fn(T, Symmetry) -> Option<T>,
) -> Option<Tensor<T>> {
    let mut elements = vec![T::default(); 16];
    for (row, col) in (0..4).flat_map(|row| (0..=row).map(move |col| (row, col))) {
        let one = value((row * 5 + col * 3) as i8 % 7 + 1);
        if row != col {
            elements[col * 4 + row] = mirror(one, symmetry)?;
            elements[row * 4 + col] = one;
        } else if symmetry != Symmetry::SkewSymmetric {
            // Its own mirror image.
            elements[row * 5] = if symmetry == Symmetry::Hermitian { value(-4) } else { one };
        }
    }
    Some(Tensor::from_vec(elements, [4, 4]).unwrap())
}

/// Every field in every symmetry, as an array and as coordinates: the same bits come back.
#[test]
fn every_field_comes_back_in_every_symmetry() -> Result<()> {
    fn check<T: Value>(value: fn(i8) -> T, mirror: fn(T, Symmetry) -> Option<T>) -> Result<()> {
        for symmetry in
            [Symmetry::General, Symmetry::Symmetric, Symmetry::SkewSymmetric, Symmetry::Hermitian]
        {
            let Some(dense) = with_symmetry(symmetry, value, mirror) else { continue };
            let writer = Writer::new().symmetry(symmetry);
            let mut out = Vec::new();
            if symmetry == Symmetry::Hermitian && T::FIELD != Field::Complex {
                assert!(writer.write(&dense.view(), &mut out).is_err());
                continue;
            }
            // The text differs for 0 and -0.
            let shown = format!("{:?}", dense.to_vec());
            writer.write(&dense.view(), &mut out).unwrap();
            let reader = Reader::new(&out)?;
            assert_eq!((reader.field(), reader.symmetry()), (T::FIELD, symmetry));
            let again = format!("{:?}", reader.to_dense::<T>()?.to_vec());
            assert_eq!(again, shown, "{}", String::from_utf8_lossy(&out));

            let places = (0..16).filter(|at| at % 5 != 0 || symmetry != Symmetry::SkewSymmetric);
            let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
            for at in places {
                rows.push(at as i32 / 4);
                cols.push(at as i32 % 4);
                values.push(dense.to_vec()[at]);
            }
            let mut out = Vec::new();
            writer.write(&CooView::new(4, 4, &rows, &cols, &values)?, &mut out).unwrap();
            let mut again = entries(&Reader::new(&out)?.to_coo::<T, i32>()?);
            again.sort_by_key(|(row, col, _)| (*row, *col));
            let again: Vec<_> = again.into_iter().map(|(_, _, value)| value).collect();
            assert_eq!(format!("{again:?}"), format!("{values:?}"), "{symmetry}");
        }
        Ok(())
    }
    macro_rules! numbers {
        ($($type:ident: $value:expr, $negative:expr;)*) => {$(
            check::<$type>($value, |value, symmetry| match symmetry {
                Symmetry::SkewSymmetric => $negative(value),
                _ => Some(value),
            })?;
        )*};
    }
    numbers! {
        f64: |n| f64::from(n) / 3.0, |x: f64| Some(-x);
        f32: |n| f32::from(n) / 3.0, |x: f32| Some(-x);
        f16: |n| f16::from_f32(f32::from(n) / 3.0), |x: f16| Some(-x);
        bf16: |n| bf16::from_f32(f32::from(n) / 3.0), |x: bf16| Some(-x);
        i8: |n| n, i8::checked_neg;
        i16: i16::from, i16::checked_neg;
        i32: i32::from, i32::checked_neg;
        i64: i64::from, i64::checked_neg;
        u8: |n| n as u8, |_| None;
        u16: |n| n as u16, |_| None;
        u32: |n| n as u32, |_| None;
        u64: |n| n as u64, |_| None;
        Bool8: |n| Bool8::from(n > 3), |_| None;
    }
    macro_rules! complex_numbers {
        ($($part:ident)*) => {$(
            // -4 is on a diagonal, where it is real.
            let value = |n| Complex::new($part::from(n) / 3.0, if n == -4 { 0.0 } else { 0.75 });
            check::<Complex<$part>>(value, |value, symmetry| match symmetry {
                Symmetry::SkewSymmetric => Some(-value),
                Symmetry::Hermitian => Some(value.conj()),
                _ => Some(value),
            })?;
        )*};
    }
    complex_numbers! { f32 f64 }
    let text = b"%%MatrixMarket matrix array complex hermitian\n2 2\n1 -0\n2 0\n-4 0\n";
    let dense = Reader::new(text)?.to_dense::<Complex<f64>>()?.to_vec();
    assert_eq!(
        format!("{dense:?}"),
        format!(
            "{:?}",
            [
                Complex::new(1.0, -0.0),
                Complex::new(2.0, -0.0),
                Complex::new(2.0, 0.0),
                Complex::new(-4.0, 0.0),
            ]
        )
    );
    Ok(())
}

#[test]
fn an_output_that_fails_is_an_error() -> Result<()> {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for edges in [1, 64] {
        let matrix: CsrMatrix<f64> = sparse::gallery::rmat(8, edges, 1)?;
        let error = Writer::new().write(&matrix.view(), Full).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Io);
        let source = std::error::Error::source(&error).unwrap();
        let source = source.downcast_ref::<std::io::Error>().unwrap();
        assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
    }
    Ok(())
}

/// The files that seed the fuzzer; some are invalid.
#[test]
fn files_of_the_corpus_are_read_or_named() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/matrix_market/");
    let read = |name: &str| {
        let bytes = std::fs::read(format!("{folder}{name}.mtx")).unwrap();
        Reader::new(&bytes).and_then(|reader| reader.to_coo::<Complex<f64>, i64>())
    };
    let refused = |name| read(name).err().map(|error| error.message().to_owned());
    let messages = ["off_by_one", "truncated", "too_few", "largest"].map(refused);
    assert_eq!(
        messages.map(Option::unwrap_or_default),
        [
            "line 3: row is 0 but must be from 1 to 3",
            "line 5: value is missing",
            "line 2: 99 entries must follow, but the 8 bytes that do hold at most 1",
            "rows is 9223372036854775807 but must be at most 9223372036854775806",
        ]
    );
    for (name, size, entries) in [
        ("complex", (3, 2), 3),
        ("crlf", (4, 5), 3),
        ("nothing", (0, 7), 0),
        ("pattern_symmetric", (5, 5), 6),
        ("unsigned", (2, 2), 2),
    ] {
        let matrix = read(name).unwrap();
        assert_eq!(((matrix.rows(), matrix.cols()), matrix.nnz()), (size, entries), "{name}");
    }
}
