//! NumPy's files of one array: a written file reads back, with `npyz` too, and an invalid file
//! gives a message. `tests/interop` asks NumPy.

use tenure::io::npy::Array;
use tenure::*;

fn written<'v>(view: impl Into<DynView<'v>>) -> Vec<u8> {
    let mut file = Vec::new();
    io::npy::write(view, &mut file).unwrap();
    file
}

/// A file with this header, and elements.
fn file(descr: &str, fortran: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((length as u16).to_le_bytes());
    file.extend(format!("{text:<width$}\n", width = length - 1).as_bytes());
    file.extend(elements);
    file
}

fn message(file: &[u8]) -> String {
    let read = Array::new(file).and_then(|array| array.view().map(|_| ()));
    read.err().unwrap().message().to_owned()
}

/// The bytes of a file at an address `shift` bytes past a multiple of 64.
struct Shifted(Vec<u8>, usize, usize);

impl Shifted {
    fn new(file: &[u8], shift: usize) -> Shifted {
        let mut bytes = vec![0; file.len() + 128];
        let start = bytes.as_ptr().align_offset(64) + shift;
        bytes[start..start + file.len()].copy_from_slice(file);
        Shifted(bytes, start, file.len())
    }

    fn bytes(&self) -> &[u8] {
        &self.0[self.1..self.1 + self.2]
    }
}

#[test]
fn every_dtype_of_numpy_comes_back() -> Result<()> {
    fn check<T: Element>(values: [T; 6]) -> Result<()> {
        let view = TensorView::from_slice(&values, [2, 3])?;
        for view in [view, view.t()] {
            let bytes = Shifted::new(&written(view), 0);
            let array = Array::new(bytes.bytes())?;
            assert_eq!(array.header().dtype(), Some(T::DTYPE));
            let lent = array.view()?.downcast::<T>()?;
            assert_eq!((lent.shape(), lent.strides()), (view.shape(), view.strides()));
            assert!(lent.iter().eq(view.iter()));
            let range = bytes.bytes().as_ptr_range();
            assert!(range.contains(&lent.as_ptr().cast()), "it is lent by the file");
        }
        Ok(())
    }
    check([1.5_f64, -2.5, 0.0, 1.0, 2.0, 3.0])?;
    check([1.5_f32, -2.5, 0.0, 1.0, 2.0, 3.0])?;
    check([f16::ONE, f16::MAX, f16::MIN, f16::ZERO, f16::ONE, f16::ONE])?;
    check([-1_i8, 2, 3, 4, 5, 6])?;
    check([-1_i16, 2, 3, 4, 5, 6])?;
    check([-1_i32, 2, 3, 4, 5, 6])?;
    check([-1_i64, 2, 3, 4, 5, 6])?;
    check([1_u8, 2, 3, 4, 5, 6])?;
    check([1_u16, 2, 3, 4, 5, 6])?;
    check([1_u32, 2, 3, 4, 5, 6])?;
    check([1_u64, 2, 3, 4, 5, 6])?;
    check([Complex::new(1.0_f32, 2.0); 6])?;
    check([Complex::new(1.0_f64, 2.0); 6])?;
    check([Bool8::FALSE, Bool8::TRUE, Bool8::TRUE, Bool8::FALSE, Bool8::TRUE, Bool8::FALSE])
}

#[test]
fn shapes_of_every_rank_come_back() -> Result<()> {
    for shape in [vec![], vec![0], vec![7], vec![3, 0, 2], vec![1; 8], vec![2, 1, 3, 1, 2]] {
        let count = shape.iter().product();
        let values: Vec<i16> = (0..count).map(|value| value as i16).collect();
        let file = Shifted::new(&written(TensorView::from_slice(&values, shape.clone())?), 0);
        let array = Array::new(file.bytes())?;
        assert_eq!((array.header().shape(), array.view()?.shape()), (&shape[..], &shape[..]));
        assert_eq!(array.view()?.downcast::<i16>()?.to_vec(), values);
    }
    Ok(())
}

#[test]
fn npyz_reads_what_is_written() -> Result<()> {
    let values: Vec<f64> = (0..24).map(f64::from).collect();
    let view = TensorView::from_slice(&values, [2, 3, 4])?;
    for (view, order) in [
        (view, npyz::Order::C),
        (view.t(), npyz::Order::Fortran),
        (view.slice_step(2, .., -2)?, npyz::Order::C),
        (view.permute(&[1, 0, 2])?, npyz::Order::C),
    ] {
        let bytes = written(view);
        let read = npyz::NpyFile::new(&bytes[..]).unwrap();
        let shape: Vec<usize> = read.shape().iter().map(|extent| *extent as usize).collect();
        assert_eq!((shape.as_slice(), read.order()), (view.shape(), order));
        let wanted = if order == npyz::Order::C { view.to_vec() } else { view.t().to_vec() };
        assert_eq!(read.into_vec::<f64>().unwrap(), wanted);
    }
    Ok(())
}

#[test]
fn truth_is_written_as_0_or_1() -> Result<()> {
    let truths = [Bool8::from_byte(7), Bool8::FALSE, Bool8::TRUE, Bool8::from_byte(9)];
    let view = TensorView::from_slice(&truths, [2, 2])?;
    for view in [view, view.t(), view.slice_step(0, .., -1)?] {
        let bytes = written(view);
        let found: Vec<u8> = bytes[bytes.len() - 4..].to_vec();
        assert!(found.iter().all(|byte| *byte <= 1));
        assert_eq!(Array::new(&bytes)?.view()?.downcast::<Bool8>()?.to_vec(), view.to_vec());
    }
    Ok(())
}

#[test]
fn misaligned_elements_follow_the_copy_mode() -> Result<()> {
    let bytes = written(TensorView::from_slice(&[1.0, 2.0], 2)?);
    for shift in [0, 8, 4, 1] {
        let bytes = Shifted::new(&bytes, shift);
        let array = Array::new(bytes.bytes())?;
        let before = stats().copied_bytes;
        let loaded = array.load(CopyMode::IfNeeded)?;
        assert_eq!(loaded.is_copied(), shift % 8 != 0);
        assert_eq!(loaded.view().downcast::<f64>()?.to_vec(), [1.0, 2.0]);
        if shift % 8 != 0 {
            assert!(stats().copied_bytes >= before + 16);
            let wanted = format!(
                "the array has f64 at byte 128 that cannot be lent: in memory they begin {} past a \
                 multiple of 8; load it with CopyMode::IfNeeded",
                shift % 8
            );
            assert_eq!(array.load(CopyMode::Never).err().unwrap().message(), wanted);
            assert_eq!(array.view().err().unwrap().message(), wanted);
        }
        let mut own = array.load(CopyMode::Always)?.into_tensor::<f64>()?;
        own[[0]] = 7.0;
        assert_eq!(array.load(CopyMode::IfNeeded)?.view().downcast::<f64>()?.to_vec()[0], 1.0);
    }
    // Without elements any address will do.
    let empty = Shifted::new(&written(TensorView::<f64>::from_slice(&[], 0)?), 3);
    assert!(Array::new(empty.bytes())?.view().is_ok());
    Ok(())
}

#[test]
fn numbers_of_other_machines_are_copied_and_turned() -> Result<()> {
    fn check<T: Element>(kind: &str, values: &[T], turned: &[u8]) -> Result<()> {
        let order = if cfg!(target_endian = "little") { '>' } else { '<' };
        let bytes = file(&format!("'{order}{kind}'"), "False", "(2,)", turned);
        let array = Array::new(&bytes)?;
        assert!(!array.header().is_native());
        let error = array.view().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("another byte order"), "{error}");
        let loaded = array.load(CopyMode::IfNeeded)?;
        assert!(loaded.is_copied());
        assert_eq!(loaded.view().downcast::<T>()?.to_vec(), values);
        assert_eq!(loaded.into_tensor::<T>()?.to_vec(), values);
        Ok(())
    }
    let turned = |bytes: &[u8], width: usize| -> Vec<u8> {
        bytes.chunks(width).flat_map(|lane| lane.iter().rev().copied()).collect()
    };
    check("i2", &[1_i16, -2], &turned(bytemuck::cast_slice(&[1_i16, -2]), 2))?;
    check("f4", &[1.5_f32, -2.0], &turned(bytemuck::cast_slice(&[1.5_f32, -2.0]), 4))?;
    check("u8", &[1_u64, 2], &turned(bytemuck::cast_slice(&[1_u64, 2]), 8))?;
    let complex = [Complex::new(1.0_f32, 2.0), Complex::new(3.0, 4.0)];
    check("c8", &complex, &turned(bytemuck::cast_slice(&[1.0_f32, 2.0, 3.0, 4.0]), 4))?;
    let complex = [Complex::new(1.0_f64, 2.0), Complex::new(3.0, 4.0)];
    check("c16", &complex, &turned(bytemuck::cast_slice(&[1.0_f64, 2.0, 3.0, 4.0]), 8))
}

#[test]
fn paths_are_read_in_place_and_named_in_messages() -> Result<()> {
    let path = std::env::temp_dir().join(format!("tenure-{}-array.npy", std::process::id()));
    let put = |bytes: &[u8]| std::fs::write(&path, bytes).unwrap();
    let view = TensorView::from_slice(&[1_u32, 2, 3, 4, 5, 6], [2, 3])?;
    put(&written(view.t()));
    let tensor = io::npy::read::<u32>(&path)?;
    assert_eq!((tensor.strides(), tensor.to_vec()), (view.t().strides(), view.t().to_vec()));
    let foreign = if cfg!(target_endian = "little") { "'>u4'" } else { "'<u4'" };
    let bytes: Vec<u8> =
        [1_u32, 2].iter().flat_map(|value| value.swap_bytes().to_ne_bytes()).collect();
    put(&file(foreign, "False", "(2,)", &bytes));
    assert_eq!(io::npy::read::<u32>(&path)?.to_vec(), [1, 2]);

    let named = |why: &str| {
        let error = io::npy::read::<u32>(&path).err().unwrap();
        assert_eq!(error.message(), format!("{}: {why}", path.display()));
    };
    put(&written(view)[..140]);
    named(
        "the array has shape [2, 3] of u32, which takes 24 bytes from byte 128 on but there are 12",
    );
    put(&file("'|u1'", "False", "(2,)", &[1, 2]));
    named("the array is of u8 but u32 is asked for");
    // The header would take 2^62 bytes of memory; the file has 4.
    put(&file("'<u4'", "False", "(1152921504606846976,)", &[0; 4]));
    named(
        "the array has shape [1152921504606846976] of u32, which takes 4611686018427387904 bytes \
         from byte 128 on but there are 4",
    );
    put(b"\x93NUMPY\x01");
    named("it ends at byte 7 but 8 bytes are needed");
    std::fs::remove_file(&path).unwrap();
    assert!(io::npy::read::<u32>(&path).err().unwrap().message().contains("array.npy: "));
    Ok(())
}

#[test]
fn errors_name_the_place() {
    let whole = file("'<f4'", "False", "(2, 2)", &[0; 16]);
    assert!(Array::new(&whole).is_ok());
    for length in 0..whole.len() {
        assert!(Array::new(&whole[..length]).is_err(), "{length}");
    }
    for (bytes, wanted) in [
        (b"".to_vec(), "the array ends at byte 0 but its header goes on to byte 8"),
        (
            b"PK\x03\x04PK\x03\x04".to_vec(),
            "the array begins with 'PK\\x03\\x04PK\\x03\\x04' but must begin with \\x93NUMPY and version 1 to 3",
        ),
        (whole[..50].to_vec(), "the array ends at byte 50 but its header goes on to byte 128"),
        (
            file("'<f4'", "False", "(2, 3)", &[0; 23]),
            "the array has shape [2, 3] of f32, which takes 24 bytes from byte 128 on but there are 23",
        ),
        (file("'|O'", "False", "(2,)", &[0; 16]), "the array is of '|O', which is not read"),
        (file("'<U8'", "False", "(2,)", &[0; 64]), "the array is of '<U8', which is not read"),
        (
            file("'|b1'", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", &[0]),
            "rank is 9 but at most 8 axes are supported",
        ),
    ] {
        assert_eq!(message(&bytes), wanted);
    }
    let overflow = file("'<f8'", "False", "(4294967296, 4294967296)", &[0; 8]);
    assert!(message(&overflow).contains("needs more than"), "{}", message(&overflow));
    let text = message(&file("'<f4'", "Maybe", "(2, 2)", &[0; 16]));
    assert!(text.contains("which at byte 44 is no dictionary of"), "{text}");
    let mut long = b"\x93NUMPY\x02\x00\xff\xff\xff\x7f".to_vec();
    long.resize(200, b' ');
    assert_eq!(
        message(&long),
        "the array has a header of 2147483647 bytes at byte 8 but must have at most 65536"
    );
}

/// `numpy.dtype` takes these words; `tests/interop` asks it for all of them.
#[test]
fn every_word_for_a_dtype_is_read() -> Result<()> {
    let (native, foreign) = if cfg!(target_endian = "little") { ('<', '>') } else { ('>', '<') };
    for (words, dtype) in [
        ("f8 =f8 |f8 d =d float64 double float", DType::F64),
        ("f4 =f4 f =f float32 single", DType::F32),
        ("f2 =f2 e float16 half", DType::F16),
        ("i1 =i1 |i1 b int8 byte", DType::I8),
        ("i2 =i2 h int16 short", DType::I16),
        ("i4 =i4 i int32 intc", DType::I32),
        ("i8 =i8 q p n int64 longlong int int_ intp", DType::I64),
        ("u1 =u1 |u1 B =B |B uint8 ubyte", DType::U8),
        ("u2 =u2 H uint16 ushort", DType::U16),
        ("u4 =u4 I uint32 uintc", DType::U32),
        ("u8 =u8 Q P N uint64 ulonglong uint uintp", DType::U64),
        ("b1 |b1 ? |? =? <? >? bool bool_", DType::BOOL8),
        ("c8 =c8 F complex64 csingle", DType::C64),
        ("c16 =c16 D complex128 cdouble complex", DType::C128),
    ] {
        let bytes: Vec<u8> = (0..16).collect();
        let elements = &bytes[..dtype.size_bytes()];
        for word in words.split(' ') {
            let bytes = Shifted::new(&file(&format!("'{word}'"), "False", "(1,)", elements), 0);
            let array = Array::new(bytes.bytes())?;
            assert_eq!((array.header().dtype(), array.header().descr()), (Some(dtype), word));
            assert_eq!(array.view()?.as_bytes(), Some(elements), "{word}");
        }
        // The first word of each, in both byte orders.
        let word = words.split(' ').next().unwrap();
        let is_foreign = |order: char| {
            let bytes = file(&format!("'{order}{word}'"), "False", "(1,)", elements);
            !Array::new(&bytes).unwrap().header().is_native()
        };
        let has_order = dtype.size_bytes() > 1;
        assert_eq!((is_foreign(native), is_foreign(foreign)), (false, has_order), "{word}");
    }
    let long = file("'l'", "False", "(1,)", &[0; 8]);
    let wide = size_of::<std::ffi::c_long>() == 8;
    let wanted = if wide { DType::I64 } else { DType::I32 };
    assert_eq!(Array::new(&long)?.header().dtype(), Some(wanted));
    Ok(())
}

#[test]
fn other_dtypes_are_refused_by_name() {
    for word in ["'|O'", "'<U8'", "'|S3'", "'<M8[25us]'", "'<f16'", "'|V4'", "''", "'<'"] {
        let bytes = file(word, "False", "(2,)", &[0; 64]);
        let word = word.trim_matches('\'');
        assert_eq!(message(&bytes), format!("the array is of '{word}', which is not read"));
    }
    for descr in [
        "[('a', '<f4')]",
        "[('a', '<f4'), ('b]', '|u1', (2, 2))]",
        "('<f8', (2,))",
        "('<i4', [('r', 'u1'), ('g', 'u1')])",
        "{'names': ['a'], 'formats': ['<f4']}",
        "[]",
    ] {
        let bytes = file(descr, "False", "(2,)", &[0; 64]);
        let cut: String = descr.chars().take(60).collect();
        let wanted = format!(
            "the array is of '{cut}', which is not read: structured dtypes are not supported"
        );
        assert_eq!(message(&bytes), wanted);
    }
    for descr in ["'f8,i4'", "'(2,)f8'"] {
        let bytes = file(descr, "False", "(2,)", &[0; 64]);
        assert!(message(&bytes).ends_with(": structured dtypes are not supported"), "{descr}");
    }
    // A name in Latin-1, as version 1 has it.
    let mut latin = file("[('?', '<f4')]", "False", "(2,)", &[0; 64]);
    let at = latin.iter().position(|byte| *byte == b'?').unwrap();
    latin[at] = 0xe9;
    let wanted = "the array is of '[('\u{e9}', '<f4')]', which is not read: structured dtypes are";
    assert!(message(&latin).starts_with(wanted), "{}", message(&latin));
    for descr in ["[('a', '<f4')", "('<f8', (2,)", "[('a, '<f4')]", "None", "['", "'float'f"] {
        let text = message(&file(descr, "False", "(2,)", &[0; 64]));
        assert!(text.contains("is no dictionary of"), "{descr}: {text}");
    }
}

/// Headers that `numpy.load` reads, of programs that write them in ways of their own.
#[test]
fn headers_of_other_programs_are_read() -> Result<()> {
    let text = |version: u8, header: &str| {
        let length = header.len() as u32;
        let length = length.to_le_bytes();
        let length = if version == 1 { &length[..2] } else { &length[..] };
        [b"\x93NUMPY", &[version, 0][..], length, header.as_bytes(), &[1, 2, 3, 4, 5, 6]].concat()
    };
    for header in [
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr':'|u1','fortran_order':False,'shape':(2,3)}",
        "{ 'shape' : ( 2 , 3 , ) , 'descr' : \"|u1\" , 'fortran_order' : False , } \n\n",
        "\t{\n'fortran_order': False,\n'shape': (2, 3),\n'descr': '|u1'}   ",
        "{'descr': u'|u1', u'fortran_order': False, 'shape': (2L, 3L), }",
    ] {
        for version in 1..=3 {
            let bytes = text(version, header);
            let array = Array::new(&bytes)?;
            assert_eq!(array.header().order(), Order::RowMajor);
            assert_eq!(array.view()?.to_string(), "[[1 2 3]\n [4 5 6]]", "{header}");
        }
    }
    let columns = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}";
    assert_eq!(Array::new(&text(3, columns))?.view()?.to_string(), "[[1 3 5]\n [2 4 6]]");
    for version in [0, 4] {
        assert!(message(&text(version, columns)).ends_with("and version 1 to 3"));
    }
    Ok(())
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn files_are_read_as_another_type() -> Result<()> {
    let path = std::env::temp_dir().join(format!("tenure-read-as-{}.npy", std::process::id()));
    for (bytes, expected) in [
        (file("'|u1'", "False", "(2, 2)", &[0, 1, 2, 255]), [[0.0_f32, 1.0], [2.0, 255.0]]),
        (file("'|u1'", "True", "(2, 2)", &[0, 1, 2, 255]), [[0.0, 2.0], [1.0, 255.0]]),
        (
            file("'>i2'", "False", "(2, 2)", &[0, 1, 0, 2, 255, 255, 1, 0]),
            [[1.0, 2.0], [-1.0, 256.0]],
        ),
    ] {
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(io::npy::read_as::<f32>(&path)?, expected);
    }
    std::fs::write(&path, file("'<c8'", "False", "(1,)", &[0; 8])).unwrap();
    let error = io::npy::read_as::<f32>(&path).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(io::npy::read_as::<f32>(&path).err().unwrap().kind(), ErrorKind::Io);
    Ok(())
}
