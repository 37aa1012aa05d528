//! SciPy's files and NumPy's archives: a written file reads back, and an invalid file gives a
//! message. `tests/interop` asks SciPy and NumPy.
#![cfg(feature = "npz")]

use tenure::io::npz::{Archive, Format, Reader, ScipyMatrix, Writer};
use tenure::*;

fn written(writer: &Writer, matrix: &impl ScipyMatrix) -> Vec<u8> {
    let mut file = Vec::new();
    writer.write(matrix, &mut file).unwrap();
    file
}

/// Stored and deflated.
fn both(matrix: &impl ScipyMatrix) -> [Vec<u8>; 2] {
    [written(&Writer::new(), matrix), written(&Writer::new().deflated(), matrix)]
}

fn graph() -> CsrMatrix<f32> {
    sparse::gallery::rmat(6, 4, 1).unwrap()
}

/// The message of the first step that refuses a file.
fn message(file: &[u8]) -> String {
    let csr = Reader::new(file).and_then(|reader| reader.to_csr::<f32, i32>());
    csr.expect_err("it is refused").message().to_owned()
}

/// Where `text` is in a file, once at least.
fn place(file: &[u8], text: &[u8]) -> usize {
    file.windows(text.len()).position(|bytes| bytes == text).expect("it is there")
}

/// Replaces one text of the file by another of equal length.
fn with(file: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let (mut file, place) = (file.to_vec(), place(file, from));
    file[place..place + to.len()].copy_from_slice(to);
    file
}

#[test]
fn every_format_comes_back() -> Result<()> {
    let matrix = graph();
    let view = matrix.view();
    for file in both(&view) {
        let reader = Reader::new(&file)?;
        assert_eq!((reader.format(), reader.dtype()), (Format::Csr, DType::F32));
        let again: CsrMatrix<f32> = reader.to_csr()?;
        assert!(again.view().iter().eq(view.iter()));
        let wide: CsrMatrix<f32, i64> = reader.to_csr()?;
        assert!(wide.row_offsets().iter().eq(wide.row_offsets()));
        assert!(wide.view().iter().eq(view.iter()));
        let refused = reader.to_csc::<f32, i32>().err().unwrap();
        assert_eq!(refused.message(), "the file is csr but csc is asked for");
    }
    for file in both(&view.t()) {
        let again: CscMatrix<f32> = Reader::new(&file)?.to_csc()?;
        assert!(again.view().iter().eq(view.t().iter()));
    }
    let coo = CooView::new(3, 9_000_000_000, &[2_i64, 0], &[8_999_999_999, 0], &[1_u8, 2])?;
    for file in both(&coo) {
        let reader = Reader::new(&file)?;
        assert_eq!((reader.rows(), reader.cols()), (3, 9_000_000_000));
        assert!(reader.to_coo::<u8, i64>()?.view().iter().eq(coo.iter()));
        let refused = reader.to_coo::<u8, i32>().err().unwrap();
        assert_eq!(refused.message(), "col.npy holds 8999999999, more than i32 can count: use i64");
    }
    let blocks: Vec<f64> = (0..18).map(f64::from).collect();
    let bsr = BsrView::new(4, 9, [2, 3], &[0, 2, 3], &[0, 2, 1], &blocks)?;
    for file in both(&bsr) {
        let again: BsrMatrix<f64> = Reader::new(&file)?.to_bsr()?;
        assert_eq!((again.view().block(), again.values()), ([2, 3], &blocks[..]));
    }
    Ok(())
}

#[test]
fn every_dtype_of_numpy_comes_back() -> Result<()> {
    fn check<T: Element>(values: [T; 2]) -> Result<()> {
        let coo = CooView::new(2, 2, &[0, 1], &[1, 0], &values)?;
        for file in both(&coo) {
            let reader = Reader::new(&file)?;
            assert_eq!(reader.dtype(), T::DTYPE);
            assert_eq!(reader.to_coo::<T, i32>()?.values(), values);
        }
        Ok(())
    }
    check([1.5_f64, -2.5])?;
    check([1.5_f32, -2.5])?;
    check([f16::ONE, f16::MAX])?;
    check([-1_i8, 2])?;
    check([-1_i16, 2])?;
    check([-1_i32, 2])?;
    check([-1_i64, 2])?;
    check([1_u8, 2])?;
    check([1_u16, 2])?;
    check([1_u32, 2])?;
    check([1_u64, 2])?;
    check([Complex::new(1.0_f32, 2.0), Complex::new(3.0, 4.0)])?;
    check([Complex::new(1.0_f64, 2.0), Complex::new(3.0, 4.0)])?;
    check([Bool8::FALSE, Bool8::from_byte(7)])?;
    let truth = [Bool8::from_byte(7)];
    let coo = CooView::new(1, 1, &[0], &[0], &truth)?;
    let again: CooMatrix<Bool8> = Reader::new(&written(&Writer::new(), &coo))?.to_coo()?;
    assert_eq!(again.values()[0].to_byte(), 1, "NumPy's truth values are 0 or 1");
    Ok(())
}

#[test]
fn matrices_of_nothing_come_back() -> Result<()> {
    for [rows, cols] in [[0, 0], [0, 7], [7, 0], [3, 3]] {
        let offsets = vec![0; rows + 1];
        let empty = CsrView::<f64>::new(rows, cols, &offsets, &[], &[])?;
        for file in both(&empty) {
            let again: CsrMatrix<f64> = Reader::new(&file)?.to_csr()?;
            assert_eq!((again.rows(), again.cols(), again.nnz()), (rows, cols, 0));
        }
    }
    Ok(())
}

#[test]
fn a_range_of_rows_is_written_alone() -> Result<()> {
    let matrix = graph();
    let part = matrix.view().row_range(10..30)?;
    for file in both(&part) {
        let again: CsrMatrix<f32> = Reader::new(&file)?.to_csr()?;
        assert_eq!((again.rows(), again.row_offsets()[0]), (20, 0));
        assert!(again.view().iter().eq(part.iter()));
    }
    let values: Vec<u8> = (0..8).collect();
    let bsr = BsrView::new(4, 2, [2, 2], &[0, 1, 2], &[0, 0], &values)?;
    let part = bsr.block_row_range(1..)?;
    let again: BsrMatrix<u8> = Reader::new(&written(&Writer::new(), &part))?.to_bsr()?;
    assert_eq!((again.rows(), again.values()), (2, &[4, 5, 6, 7][..]));
    Ok(())
}

#[test]
fn the_same_matrix_gives_the_same_bytes() {
    let matrix = graph();
    assert_eq!(both(&matrix.view()), both(&matrix.view()));
}

#[test]
fn a_file_cut_anywhere_is_a_message() {
    for file in both(&graph().view()) {
        for length in (0..file.len()).rev().take(600).chain((0..file.len()).step_by(7)) {
            assert!(
                message(&file[..length]).starts_with("no .npz file: it has no end"),
                "{length}"
            );
        }
    }
}

#[test]
fn a_byte_changed_in_an_array_is_a_message() -> Result<()> {
    let matrix = graph();
    for file in both(&matrix.view()) {
        let directory = place(&file, b"PK\x01\x02");
        for at in (0..directory).step_by(3) {
            let mut file = file.clone();
            file[at] ^= 0x10;
            // No check covers names and dates of the local headers; a checksum covers all else.
            match Reader::new(&file).and_then(|reader| reader.to_csr::<f32, i32>()) {
                Ok(again) => assert!(again.view().iter().eq(matrix.view().iter())),
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::Unsupported),
                    "{error:?}"
                ),
            }
        }
    }
    Ok(())
}

#[test]
fn errors_name_the_array() {
    let file = written(&Writer::new(), &graph().view());
    assert_eq!(message(b""), "no .npz file: it has no end of a directory");
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    let object = with(&file, text.as_bytes(), text.replace("<f4", "|O1").as_bytes());
    assert_eq!(message(&object), "data.npy is of '|O1', which is not read");
    let double = with(&file, text.as_bytes(), text.replace("f4", "f8").as_bytes());
    assert_eq!(message(&double), "data.npy is of f64 but f32 is asked for");
    let nnz = graph().nnz();
    let shape = |count: usize| format!("'<f4', 'fortran_order': False, 'shape': ({count},");
    let more = with(&file, shape(nnz).as_bytes(), shape(nnz + 1).as_bytes());
    let wanted = format!("data.npy has {} bytes of f32 but shape [{}]", 4 * nnz, nnz + 1);
    assert_eq!(message(&more), wanted);
    let other = with(&file, b"\ncsr", b"\ndia");
    assert_eq!(message(&other), "format.npy is damaged: checksum a6a86e23 but 9774c3a3 is stated");
    let missing = with(&file, b"PK\x01\x02", b"PK\x01\x03");
    let directory_bytes = file.len() - 22 - place(&file, b"PK\x01\x02");
    let refused = |at: usize, done: usize| {
        format!(
            "no .npz file: its directory states 5 entries but has no whole one at byte {at} of \
             {directory_bytes}, after {done}"
        )
    };
    assert_eq!(message(&missing), refused(0, 0));
    // A count that is too high.
    let end = file.len() - 22;
    let mut more = file.clone();
    more[end + 10] += 1;
    let wanted = refused(directory_bytes, 5).replace("states 5", "states 6");
    assert_eq!(message(&more), wanted);

    // The directory, which has names and numbers, follows the last local header.
    let directory = place(&file, b"PK\x01\x02");
    let in_directory = |offset: usize, bytes: &[u8]| {
        let mut file = file.clone();
        let at = directory + offset;
        file[at..at + bytes.len()].copy_from_slice(bytes);
        message(&file)
    };
    let name = place(&file[directory..], b"indices.npy");
    assert_eq!(in_directory(name, b"INDICES.npy"), "the archive has no indices.npy");
    assert_eq!(in_directory(8, &[1]), "indices.npy is encrypted");
    assert_eq!(in_directory(10, &[12]), "indices.npy is packed by method 12, not 0 or 8");
    assert!(
        in_directory(24, &[0xfe, 0xff, 0xff, 0xff])
            .starts_with("indices.npy has 4294967294 bytes by the directory but at most ")
    );
    assert!(
        in_directory(20, &[0xfe, 0xff, 0xff, 0xff])
            .starts_with("indices.npy has 4294967294 bytes at 0 but the archive has ")
    );
    assert!(in_directory(42, &[0xfe, 0xff, 0xff, 0x7f]).contains(" bytes at 2147483646 but "));
    // An offset beyond 32 bits, and no field that has it.
    let none = in_directory(42, &[0xff; 4]);
    assert_eq!(none, refused(0, 0));
}

#[test]
fn entries_that_are_no_matrix_are_a_message() -> Result<()> {
    let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.0_f32, 2.0])?;
    let file = written(&Writer::new(), &matrix);
    // Written as 2 x 3; read, under a right checksum, as what the arrays of another matrix say.
    let wide = CsrView::new(2, 9, &[0, 1, 2], &[0, 8], &[1.0_f32, 2.0])?;
    let wide = written(&Writer::new(), &wide);
    let shape = place(&wide, b"PK\x03\x04\x14\0\0\0\0\0\0\0\x21\0");
    assert_eq!(shape, 0);
    // Both files have the same layout: the member of the shape is that of the other.
    assert_eq!(file.len(), wide.len());
    let member = place(&file, b"shape.npy") - 30;
    let mut mixed = wide.clone();
    let directory = place(&file, b"PK\x01\x02");
    mixed[member..directory].copy_from_slice(&file[member..directory]);
    let line = directory + place(&file[directory..], b"shape.npy") - 46;
    mixed[line..line + 46].copy_from_slice(&file[line..line + 46]);
    assert_eq!(
        message(&mixed),
        "col_indices[1] is 8 but must be at least 0 and below cols, which is 3"
    );
    Ok(())
}

#[test]
fn an_output_that_fails_is_an_error() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0 < bytes.len() {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            self.0 -= bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let matrix = graph();
    let whole = written(&Writer::new(), &matrix.view()).len();
    for room in (0..whole).step_by(97) {
        let error = Writer::new().write(&matrix.view(), Full(room)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Io);
        let source = std::error::Error::source(&error).unwrap();
        let source = source.downcast_ref::<std::io::Error>().unwrap();
        assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
    }
    assert!(Writer::new().write(&matrix.view(), Full(whole)).is_ok());
}

/// An archive in memory that is aligned to 64 bytes, as that of `io::read` and of maps is.
struct Aligned(Vec<u8>, usize);

impl Aligned {
    fn new(writer: &Writer, arrays: &[(&str, DynView<'_>)]) -> Aligned {
        let mut file = Vec::new();
        writer.write_arrays(arrays, &mut file).unwrap();
        let mut bytes = vec![0; file.len() + 64];
        let start = bytes.as_ptr().align_offset(64);
        bytes.truncate(start + file.len());
        bytes[start..].copy_from_slice(&file);
        Aligned(bytes, start)
    }

    fn bytes(&self) -> &[u8] {
        &self.0[self.1..]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0[self.1..]
    }
}

#[test]
fn stored_arrays_are_lent_and_deflated_ones_are_copied() -> Result<()> {
    let (floats, bytes) = ([1.5, 2.5, 3.5, 4.5, 5.5, 6.5], [1_u8, 2, 3]);
    let floats = TensorView::from_slice(&floats, [2, 3])?;
    let bytes = TensorView::from_slice(&bytes, 3)?;
    let strided = floats.slice_step(1, .., 2)?;
    let arrays = [
        ("b", bytes.into()),
        ("rows", floats.into()),
        ("columns/of it", floats.t().into()),
        ("some", strided.into()),
    ];
    let stored = Aligned::new(&Writer::new(), &arrays);
    let deflated = Aligned::new(&Writer::new().deflated(), &arrays);
    for (file, is_lent) in [(&stored, true), (&deflated, false)] {
        let archive = Archive::new(file.bytes())?;
        assert!(archive.names().eq(arrays.iter().map(|(name, _)| *name)));
        for (name, view) in arrays {
            let loaded = archive.load(name, CopyMode::IfNeeded)?;
            assert_eq!((loaded.is_copied(), loaded.view().shape()), (!is_lent, view.shape()));
            assert_eq!(loaded.view().to_string(), view.to_string());
            assert_eq!(archive.view(name).is_ok(), is_lent, "{name}");
            assert_eq!(archive.load(name, CopyMode::Never).is_ok(), is_lent);
            let copy = archive.load(name, CopyMode::Always)?;
            assert!(copy.is_copied());
            assert_eq!(copy.view().to_string(), view.to_string());
            archive.verify(name)?;
        }
        let columns = archive.load("columns/of it", CopyMode::IfNeeded)?;
        assert_eq!(columns.view().strides(), [1, 3], "Fortran order as strides");
        assert_eq!(columns.into_tensor::<f64>()?.to_vec(), floats.t().to_vec());
    }
    Ok(())
}

#[test]
fn stored_arrays_begin_at_multiples_of_64_bytes() -> Result<()> {
    for length in 1..80 {
        let (name, one) = ("n".repeat(length), [1.0]);
        let arrays = [
            (name.as_str(), TensorView::from_slice(&one, 1)?.into()),
            ("last", TensorView::from_slice(&one, 1)?.into()),
        ];
        let file = Aligned::new(&Writer::new(), &arrays);
        for (name, _) in arrays {
            let view = Archive::new(file.bytes())?.view(name)?.downcast::<f64>()?;
            assert_eq!(view.as_ptr().addr() % 64, 0, "{name}");
        }
    }
    Ok(())
}

#[test]
fn archives_that_lie_are_refused() -> Result<()> {
    let bytes: [u8; 40] = std::array::from_fn(|at| at as u8 + 100);
    let view = TensorView::from_slice(&bytes, [4, 10])?;
    let arrays = [("aa", view.into()), ("bb", view.into())];
    let file = || Aligned::new(&Writer::new(), &arrays);
    let message = |file: &Aligned| {
        let loaded = Archive::new(file.bytes()).and_then(|archive| {
            archive.view("aa")?;
            archive.load("aa", CopyMode::Always).map(|_| ())
        });
        loaded.err().unwrap().message().to_owned()
    };
    let change = |from: &[u8], to: &[u8], nth: usize| {
        let mut file = file();
        let found = file.bytes().windows(from.len()).enumerate();
        let at = found.filter(|(_, bytes)| *bytes == from).nth(nth).unwrap().0;
        file.bytes_mut()[at..at + to.len()].copy_from_slice(to);
        file
    };
    assert_eq!(
        message(&change(b"(4, 10)", b"(4, 11)", 0)),
        "aa.npy has shape [4, 11] of u8, which takes 44 bytes from byte 128 on but there are 40"
    );
    assert_eq!(
        message(&change(b"(4, 10)", b"(4,  9)", 0)),
        "aa.npy goes on for 4 bytes after its shape [4, 9]"
    );
    assert!(message(&change(&bytes, &[1], 0)).starts_with("aa.npy is damaged: checksum "));
    // Nobody has read the elements of a view.
    assert!(Archive::new(change(&bytes, &[1], 0).bytes())?.view("aa").is_ok());
    assert_eq!(
        message(&change(b"aa.npy", b"\xffa.npy", 1)),
        "the archive has no aa.npy, but the name \\xffa.npy, which is not UTF-8"
    );
    assert_eq!(
        message(&change(b"aa.npy", b"ab.npy", 1)),
        "the archive has no aa.npy: did you mean 'ab'?"
    );
    // The size of the stored data in the directory: 24 bytes into its first entry.
    let mut other = file();
    let at = place(other.bytes(), b"PK\x01\x02") + 24;
    other.bytes_mut()[at] -= 8;
    assert_eq!(message(&other), "aa.npy is stored in 168 bytes but has 160 by the directory");
    Ok(())
}

/// An archive of these, stored, as any program may write it.
fn archive(members: &[(&[u8], &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let size = (content.len() as u32).to_le_bytes();
        let crc = crc.sum().to_le_bytes();
        let name_bytes = (name.len() as u16).to_le_bytes();
        let common =
            [&[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..], &crc, &size, &size, &name_bytes, &[0, 0]];
        let common = common.concat();
        let local = (out.len() as u32).to_le_bytes();
        directory.extend([b"PK\x01\x02\x14\0", &common[..], &[0; 10], &local, name].concat());
        out.extend([b"PK\x03\x04", &common[..], name, content].concat());
    }
    let (start, length, count) = (out.len() as u32, directory.len() as u32, members.len() as u16);
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count.to_le_bytes(); 2].as_flattened());
    out.extend([length.to_le_bytes(), start.to_le_bytes()].as_flattened());
    out.extend([0, 0]);
    out
}

fn npy_of(values: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    io::npy::write(TensorView::from_slice(values, values.len()).unwrap(), &mut file).unwrap();
    file
}

/// All arrays of an archive, by name, as they print.
fn arrays(file: &[u8]) -> Result<Vec<(String, String)>> {
    let archive = Archive::new(file)?;
    let print = |name| archive.load(name, CopyMode::IfNeeded).map(|array| array.view().to_string());
    archive.names().map(|name| Ok((name.to_owned(), print(name)?))).collect()
}

fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
}

/// Python's `zipfile` reads all of these, except the name that is not UTF-8.
#[test]
fn members_of_any_kind_block_no_others() -> Result<()> {
    let (one, two, text) = (npy_of(&[1]), npy_of(&[2, 3]), b"no array".to_vec());
    let short = b"\x93NUM".to_vec();
    let file = archive(&[
        (b"a.npy", &text),
        (b"README.txt", &text),
        (b"\xff\xfe.npy", &one),
        (b"b.npy", &two),
        (b"a.npy", &one),
        (b"without", &two),
        (b"folder/", b""),
        (b"short", &short),
        (b"x.npy.npy", &two),
        (b"with.npy", &text),
        (b"with", &one),
    ]);
    let wanted =
        [("a", "[1]"), ("b", "[2 3]"), ("without", "[2 3]"), ("x.npy", "[2 3]"), ("with", "[1]")];
    assert_eq!(arrays(&file)?, named(&wanted));
    let archive = Archive::new(&file)?;
    // By their whole names, too.
    for (name, values) in [("a.npy", "[1]"), ("x.npy.npy", "[2 3]"), ("x.npy", "[2 3]")] {
        assert_eq!(archive.load(name, CopyMode::Always)?.view().to_string(), values, "{name}");
        archive.verify(name)?;
    }
    for (name, wanted) in [
        (
            "README.txt",
            "the archive has no README.txt.npy, but the name \\xff\\xfe.npy, which is not",
        ),
        ("x", "the archive has no x.npy, but the name"),
        ("npy", "the archive has no npy.npy, but the name"),
        (".npy", "the archive has no .npy.npy, but the name"),
    ] {
        let found = archive.view(name).err().unwrap();
        assert!(found.message().starts_with(wanted), "{found}");
    }
    // An array by its name that is none.
    let file = self::archive(&[(b"a.npy", &text), (b"b.npy", &one)]);
    let archive = Archive::new(&file)?;
    assert!(archive.names().eq(["a", "b"]));
    let found = archive.header("a").err().unwrap();
    let wanted = "a.npy begins with 'no array' but must begin with \\x93NUMPY and version 1 to 3";
    assert_eq!(found.message(), wanted);
    assert_eq!(archive.load("b", CopyMode::IfNeeded)?.view().to_string(), "[1]");
    Ok(())
}

#[test]
fn bytes_around_an_archive_are_passed() -> Result<()> {
    let plain = archive(&[(b"a.npy", &npy_of(&[1])), (b"b.npy", &npy_of(&[2, 3]))]);
    let other = archive(&[(b"a.npy", &npy_of(&[4])), (b"b.npy", &npy_of(&[5, 6]))]);
    let wanted = named(&[("a", "[1]"), ("b", "[2 3]")]);
    let mut comment = plain.clone();
    let at = comment.len() - 2;
    comment[at..].copy_from_slice(&7_u16.to_le_bytes());
    comment.extend(b"comment");
    let script = b"#!/bin/sh\nexit\n";
    let cases: [(&[u8], &[u8], &[u8]); 10] = [
        (b"", &plain, b"\n"),
        (b"", &plain, &[0; 65_000]),
        (b"", &comment, b""),
        (b"", &comment, b"more"),
        (script, &plain, b""),
        (script, &comment, b"more"),
        (b"PK\x03\x04", &plain, b"PK\x03\x04"),
        // The last archive counts, as for Python.
        (&other, &plain, b""),
        (&plain[..40], &plain, b""),
        (&plain, &plain, b"PK\x05"),
    ];
    for (before, file, behind) in cases {
        let file = [before, file, behind].concat();
        assert_eq!(arrays(&file)?, wanted, "{} {}", before.len(), behind.len());
    }
    let matrix = graph();
    let file = [script, &written(&Writer::new(), &matrix.view())[..], b"\n"].concat();
    let again: CsrMatrix<f32> = Reader::new(&file)?.to_csr()?;
    assert!(again.view().iter().eq(matrix.view().iter()));
    // Without entries.
    assert!(arrays(&[script, &archive(&[])[..], script].concat())?.is_empty());

    let refused = |file: &[u8]| Archive::new(file).err().unwrap().message().to_owned();
    let far = [&plain[..], &[0; 65_536]].concat();
    assert_eq!(refused(&far), "no .npz file: it has no end of a directory");
    // A part of the archive is missing at its beginning.
    let (directory, end) = (place(&plain, b"PK\x01\x02"), plain.len() - 22);
    assert_eq!(
        refused(&plain[directory - 40..]),
        format!(
            "no .npz file: its directory of {} bytes at {directory} does not end before {}",
            end - directory,
            end - (directory - 40)
        )
    );
    // A comment that extends beyond the end of the file.
    let mut cut = plain.clone();
    cut[end + 20] = 9;
    assert_eq!(refused(&cut), "no .npz file: it has no end of a directory");
    Ok(())
}

/// The bytes of an array of one axis, in big-endian, or of a scalar.
fn array_of(descr: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    array_in(descr, "False", shape, elements)
}

fn array_in(descr: &str, fortran: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..], text.as_bytes(), elements].concat()
}

/// A compressed matrix of 2 x 3 with these index arrays of dtype `descr`.
fn compressed(descr: &str, offsets: &[i128; 3], indices: &[i128; 2]) -> Vec<u8> {
    let size: usize = descr[2..].parse().unwrap();
    let bytes = |numbers: &[i128]| -> Vec<u8> {
        let turn = |number: &i128| match descr.as_bytes()[0] {
            b'>' => number.to_be_bytes()[16 - size..].to_vec(),
            _ => number.to_le_bytes()[..size].to_vec(),
        };
        numbers.iter().flat_map(turn).collect()
    };
    let format = array_of("|S3", "()", b"csr");
    let shape = array_of("<i8", "(2,)", [2_i64.to_le_bytes(), 3_i64.to_le_bytes()].as_flattened());
    let data =
        array_of(">f4", "(2,)", [1.5_f32.to_be_bytes(), 2.5_f32.to_be_bytes()].as_flattened());
    archive(&[
        (b"format.npy", &format),
        (b"shape.npy", &shape),
        (b"data.npy", &data),
        (b"indptr.npy", &array_of(descr, "(3,)", &bytes(offsets))),
        (b"indices.npy", &array_of(descr, "(2,)", &bytes(indices))),
    ])
}

#[test]
fn indices_of_every_integer_are_read() -> Result<()> {
    fn check<I: SparseIndex>() -> Result<()> {
        for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"] {
            for order in ["<", ">"] {
                let file = compressed(&format!("{order}{kind}"), &[0, 1, 2], &[2, 0]);
                let matrix = Reader::new(&file)?.to_csr::<f32, I>()?;
                let entries: Vec<_> = matrix.view().iter().map(|(r, c, v)| (r, c, *v)).collect();
                assert_eq!(entries, [(0, 2, 1.5), (1, 0, 2.5)], "{order}{kind}");
            }
        }
        Ok(())
    }
    check::<i32>()?;
    check::<i64>()
}

/// A number that is refused is the file's, with the bound that it breaks, and with an advice only
/// where it helps.
#[test]
fn indices_that_are_none_are_named() -> Result<()> {
    const I64_MOST: i128 = i64::MAX as i128;
    let beyond = |number: i128| format!("holds {number}, more than i32 can count: use i64");
    let beyond_all =
        |number: i128| format!("holds {number}, more than {I64_MOST}, the most that i64 can count");
    let negative = |number: i128| format!("holds {number} but must hold no less than 0");
    for (descr, number, narrow, wide) in [
        ("<i1", -1, negative(-1), negative(-1)),
        (">i2", -2, negative(-2), negative(-2)),
        ("<i4", -1, "must be at least 0".into(), negative(-1)),
        ("<i8", -1, negative(-1), "must be at least 0".into()),
        (">i8", I64_MOST, beyond(I64_MOST), "must be at least 0".into()),
        ("<i8", 1 << 31, beyond(1 << 31), "must be at least 0".into()),
        ("<u4", 1 << 31, beyond(1 << 31), "must be at least 0".into()),
        ("<u8", 1 << 63, beyond_all(1 << 63), beyond_all(1 << 63)),
        (">u8", u64::MAX as i128, beyond_all(u64::MAX as i128), beyond_all(u64::MAX as i128)),
    ] {
        for (offsets, indices, name) in
            [([0, 1, 2], [2, number], "indices.npy"), ([0, number, 2], [2, 0], "indptr.npy")]
        {
            let file = compressed(descr, &offsets, &indices);
            let reader = Reader::new(&file)?;
            let narrow_error = reader.to_csr::<f32, i32>().err().unwrap();
            let wide_error = reader.to_csr::<f32, i64>().err().unwrap();
            for (error, wanted) in [(narrow_error, &narrow), (wide_error, &wide)] {
                // Indices of the matrix's own type are checked with it, by their names there.
                if wanted.starts_with("holds") {
                    assert_eq!(error.message(), format!("{name} {wanted}"));
                } else {
                    let number = number.to_string();
                    assert!(error.message().contains(&number), "{error}");
                }
            }
        }
    }
    let file = compressed("<f8", &[0, 0, 0], &[0, 0]);
    let error = Reader::new(&file)?.to_csr::<f32, i32>().err().unwrap();
    assert_eq!(error.message(), "indptr.npy is of f64 but must be of integers");
    Ok(())
}

/// A transposed matrix of one block is column-major for NumPy; letters may be wide.
#[test]
fn blocks_and_words_of_any_order_are_read() -> Result<()> {
    let numbers = |numbers: &[i32]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
    };
    let wide = |order: char| -> Vec<u8> {
        let turn = |letter: &u8| match order {
            '>' => u32::from(*letter).to_be_bytes(),
            _ => u32::from(*letter).to_le_bytes(),
        };
        b"bsr".iter().flat_map(turn).collect()
    };
    for (format, word) in [
        (array_of("|S3", "()", b"bsr"), "|S3"),
        (array_of("S4", "()", b"bsr\0"), "S4"),
        (array_of("<U3", "()", &wide('<')), "<U3"),
        (array_of(">U3", "()", &wide('>')), ">U3"),
    ] {
        let file = archive(&[
            (b"format.npy", &format),
            (b"shape.npy", &array_of(">i4", "(2,)", &numbers(&[2, 3]))),
            (b"data.npy", &array_in(">i4", "True", "(1, 2, 3)", &numbers(&[1, 4, 2, 5, 3, 6]))),
            (b"indptr.npy", &array_of(">i4", "(2,)", &numbers(&[0, 1]))),
            (b"indices.npy", &array_of(">i4", "(1,)", &numbers(&[0]))),
        ]);
        let matrix: BsrMatrix<i32> = Reader::new(&file)?.to_bsr()?;
        assert_eq!(matrix.values(), [1, 2, 3, 4, 5, 6], "{word}");
    }
    for format in [array_of("<i4", "()", &[0; 4]), array_of("|S99", "()", &[0; 99])] {
        let found = message(&archive(&[(b"format.npy", &format)]));
        assert!(found.starts_with("format.npy is of '") && found.ends_with("' but must be a word"));
    }
    Ok(())
}

#[test]
fn archives_are_saved_to_paths() -> Result<()> {
    let path = std::env::temp_dir().join(format!("tenure-saved-{}.npz", std::process::id()));
    let matrix = graph();
    Writer::new().save(&path, &matrix)?;
    assert_eq!(std::fs::read(&path)?, written(&Writer::new(), &matrix.view()));
    let tensor = Tensor::from([1.0, 2.0]);
    let arrays = [("one", (&tensor).into()), ("two", (&tensor.view()).into())];
    Writer::new().deflated().save_arrays(&path, &arrays)?;
    let file = io::read(&path)?;
    assert!(Archive::new(file.as_ref())?.names().eq(["one", "two"]));
    let twice = [("one", (&tensor).into()), ("one", (&tensor).into())];
    let error = Writer::new().save_arrays(&path, &twice).err().unwrap();
    assert_eq!(error.message(), format!("{}: the name 'one' stands twice", path.display()));
    std::fs::remove_file(path)?;
    Ok(())
}
