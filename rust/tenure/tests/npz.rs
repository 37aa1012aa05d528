//! SciPy's files and NumPy's archives: what is written is read, and what is wrong is a message.
//! `tests/interop` asks SciPy and NumPy.
#![cfg(feature = "npz")]

use tenure::npz::{Archive, Format, Reader, Source, Writer};
use tenure::*;

fn written(writer: &Writer, matrix: &impl Source) -> Vec<u8> {
    let mut file = Vec::new();
    writer.write(matrix, &mut file).unwrap();
    file
}

/// Stored and deflated.
fn both(matrix: &impl Source) -> [Vec<u8>; 2] {
    [written(&Writer::new(), matrix), written(&Writer::new().deflated(), matrix)]
}

fn graph() -> CsrMatrix<f32> {
    gallery::rmat(6, 4, 1).unwrap()
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

/// The file with another text in the place of one, which is as long.
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
            // Names and dates of the local headers are nobody's; all else is under a checksum.
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
    let blocks = BsrView::new(2, 4, [2, 4], &[0, 1], &[0], &[1.0_f32; 8]).unwrap();
    let blocks = written(&Writer::new(), &blocks);
    let order = with(&blocks, b"False, 'shape': (1, 2, 4)", b"True,  'shape': (1, 2, 4)");
    assert_eq!(message(&order), "data.npy is column-major, which is not read");
    let foreign = with(&file, text.as_bytes(), text.replace('<', ">").as_bytes());
    assert_eq!(message(&foreign), "data.npy is of '>f4', which is not read");
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
    assert_eq!(message(&missing), "no .npz file: its directory is cut");

    // The directory: names and numbers stand behind its last local header.
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
    assert_eq!(none, "no .npz file: its directory is cut");
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
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
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
    assert_eq!(message(&change(b"bb.npy", b"aa.npy", 1)), "the archive has aa.npy twice");
    assert_eq!(message(&change(b"bb.npy", b"\xffb.npy", 1)), "the name \\xffb.npy is not UTF-8");
    assert_eq!(message(&change(b"aa.npy", b"ab.npy", 1)), "the archive has no aa.npy");
    // The size that the directory says of what is stored: 24 bytes into its first entry.
    let mut other = file();
    let at = place(other.bytes(), b"PK\x01\x02") + 24;
    other.bytes_mut()[at] -= 8;
    assert_eq!(message(&other), "aa.npy is stored in 168 bytes but has 160 by the directory");
    Ok(())
}
