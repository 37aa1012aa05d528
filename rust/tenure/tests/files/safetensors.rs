//! Files of named tensors: a written file reads back, by the `safetensors` crate's rules too, and
//! an invalid file gives a message. `tests/interop` asks NumPy.

use tenure::io::safetensors::{Reader, Shared, Writer};
use tenure::*;

/// A file with this header, and `payload_bytes` bytes of elements: 0, 1, 2 and so on.
fn file(header: &str, payload_bytes: usize) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend((0..payload_bytes).map(|byte| byte as u8));
    file
}

fn entry(name: &str, dtype: &str, shape: &str, begin: usize, end: usize) -> String {
    format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}"#)
}

fn message(file: &[u8]) -> String {
    Reader::new(file).expect_err("it is refused").message().to_owned()
}

/// The bytes at an address `shift` bytes past a multiple of 64.
fn shifted(file: &[u8], shift: usize) -> (Vec<u8>, std::ops::Range<usize>) {
    let mut bytes = vec![0; file.len() + 128];
    let start = bytes.as_ptr().align_offset(64) + shift;
    bytes[start..start + file.len()].copy_from_slice(file);
    (bytes, start..start + file.len())
}

#[test]
fn every_dtype_comes_back_lent_and_aligned() -> Result<()> {
    fn view<T: Element>(values: &[T; 6]) -> DynView<'_> {
        TensorView::from_slice(values, [2, 3]).unwrap().into()
    }
    let complex = [Complex::new(1.0_f32, -2.0); 6];
    let truths = [Bool8::TRUE, Bool8::FALSE, Bool8::TRUE, Bool8::TRUE, Bool8::FALSE, Bool8::TRUE];
    let tensors = [
        ("u8", view(&[1_u8, 2, 3, 4, 5, 6])),
        ("f64", view(&[1.5_f64, 2.0, 3.0, 4.0, 5.0, 6.0])),
        ("f32", view(&[1.5_f32, 2.0, 3.0, 4.0, 5.0, 6.0])),
        ("f16", view(&[f16::ONE; 6])),
        ("bf16", view(&[bf16::ONE; 6])),
        ("i64", view(&[-1_i64, 2, 3, 4, 5, 6])),
        ("i32", view(&[-1_i32, 2, 3, 4, 5, 6])),
        ("i16", view(&[-1_i16, 2, 3, 4, 5, 6])),
        ("i8", view(&[-1_i8, 2, 3, 4, 5, 6])),
        ("u64", view(&[1_u64, 2, 3, 4, 5, 6])),
        ("u32", view(&[1_u32, 2, 3, 4, 5, 6])),
        ("u16", view(&[1_u16, 2, 3, 4, 5, 6])),
        ("bool", view(&truths)),
        ("c64", view(&complex)),
        ("float8", DynView::from_bytes(&[1, 2, 3], DType::from_dlpack(10, 8, 1), 3)?),
    ];
    let mut written = Vec::new();
    Writer::new()
        .metadata("a", "1")
        .metadata("\"b\n", "\u{20ac}")
        .write(&tensors, &mut written)
        .unwrap();
    let (bytes, range) = shifted(&written, 0);
    let reader = Reader::new(&bytes[range])?;
    assert_eq!(reader.tensors().len(), tensors.len());
    assert!(reader.all_metadata().eq([("\"b\n", "\u{20ac}"), ("a", "1")]));
    assert_eq!(reader.tensors()[0].offset() % 64, 0);
    for (name, view) in tensors {
        let found = reader.view(name)?;
        assert_eq!((found.dtype(), found.shape()), (view.dtype(), view.shape()), "{name}");
        assert_eq!(found.as_bytes(), view.as_bytes(), "{name}");
        let entry = reader.entry(name)?;
        assert_eq!(found.as_bytes().unwrap().as_ptr(), bytes_at(&reader, entry.offset()));
        assert!(!reader.load(name, CopyMode::IfNeeded)?.is_copied());
        assert_eq!(reader.load(name, CopyMode::Always)?.view().as_bytes(), view.as_bytes());
    }
    let mut again = Vec::new();
    Writer::new()
        .metadata("\"b\n", "\u{20ac}")
        .metadata("a", "1")
        .write(&tensors, &mut again)
        .unwrap();
    assert!(again == written, "the same tensors give the same bytes");
    Ok(())
}

/// Where byte `offset` of a file is in memory.
fn bytes_at(reader: &Reader<'_>, offset: usize) -> *const u8 {
    let first = &reader.tensors()[0];
    let base = reader.view(first.name()).unwrap().as_bytes().unwrap().as_ptr();
    base.wrapping_sub(first.offset()).wrapping_add(offset)
}

#[test]
fn strided_views_and_tensors_of_nothing_are_written() -> Result<()> {
    let values: Vec<i32> = (0..24).collect();
    let view = TensorView::from_slice(&values, [2, 3, 4])?;
    let empty = TensorView::<f32>::from_slice(&[], [0, 3])?;
    let scalar = TensorView::from_slice(&[7_i32], [0; 0])?;
    let strided = view.permute(&[2, 0, 1])?;
    let tensors = [
        ("t", strided.into()),
        ("empty", empty.into()),
        ("scalar", scalar.into()),
        ("", view.into()),
    ];
    let mut written = Vec::new();
    Writer::new().write(&tensors, &mut written).unwrap();
    let reader = Reader::new(&written)?;
    for (name, view) in tensors {
        let found = reader.load(name, CopyMode::IfNeeded)?;
        assert_eq!(found.view().shape(), view.shape());
        assert_eq!(found.view().to_string(), view.to_string());
    }
    assert_eq!(
        reader.load("t", CopyMode::IfNeeded)?.into_tensor::<i32>()?.to_vec(),
        strided.to_vec()
    );
    let mut nothing = Vec::new();
    Writer::new().write(&[], &mut nothing).unwrap();
    assert_eq!((nothing.len(), Reader::new(&nothing)?.tensors().len()), (64, 0));
    Ok(())
}

#[test]
fn misaligned_elements_follow_the_copy_mode() -> Result<()> {
    let header =
        format!("{{{},{}}}", entry("a", "U8", "[3]", 0, 3), entry("b", "U32", "[1]", 3, 7));
    let plain = file(&header, 7);
    for shift in 0..8 {
        let (bytes, range) = shifted(&plain, shift);
        let reader = Reader::new(&bytes[range])?;
        let offset = reader.entry("b")?.offset();
        let past = (offset + shift) % 4;
        let loaded = reader.load("b", CopyMode::IfNeeded)?;
        assert_eq!(loaded.is_copied(), past != 0);
        let value = u32::from_le_bytes([3, 4, 5, 6]);
        assert_eq!(loaded.view().downcast::<u32>()?.to_vec(), [value]);
        assert!(reader.view("a").is_ok());
        if past != 0 {
            let wanted = format!(
                "tensor 'b' has u32 at byte {offset} that cannot be lent: in memory they begin {past} \
                 past a multiple of 4; load it with CopyMode::IfNeeded"
            );
            assert_eq!(reader.view("b").err().unwrap().message(), wanted);
            assert_eq!(reader.load("b", CopyMode::Never).err().unwrap().message(), wanted);
        }
    }
    Ok(())
}

#[test]
fn dtypes_that_are_not_read_spoil_no_others() -> Result<()> {
    let header = format!(
        "{{{},{},{}}}",
        entry("f4", "F4", "[4]", 0, 2),
        entry("new", "X9", "[2]", 2, 3),
        entry("u8", "U8", "[2]", 3, 5)
    );
    let bytes = file(&header, 5);
    let reader = Reader::new(&bytes)?;
    assert_eq!(reader.view("u8")?.to_string(), "[3 4]");
    for (name, dtype) in [("f4", "F4"), ("new", "X9")] {
        let entry = reader.entry(name)?;
        assert_eq!((entry.dtype(), entry.dtype_name()), (None, dtype));
        let error = reader.load(name, CopyMode::Always).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.message(), format!("tensor '{name}' is of {dtype}, which is not read"));
    }
    Ok(())
}

/// Headers that the format's own library reads.
#[test]
fn headers_of_other_programs_are_read() -> Result<()> {
    let w = entry("w", "U8", "[2]", 0, 2);
    let fields = w.strip_prefix("\"w\":{").unwrap();
    let more = |pairs: &str| format!(r#"{{"w":{{{pairs},{fields}}}"#);
    let nested = format!("{}1{}", "[".repeat(127), "]".repeat(127));
    for header in [
        format!("{{{w}}}"),
        format!("{{{w}}}      \n"),
        format!(r#"{{"__metadata__":null,{w}}}"#),
        format!(r#"{{{w}, "__metadata__" : null }}"#),
        format!(r#"{{"__metadata__":{{}},{w}}}"#),
        more(r#""strides":[1]"#),
        more(r#""note":null,"is":true,"was":false,"rate":-1.5e-3,"none":{},"empty":[]"#),
        more(r#""quantization":{"scale":[0.5,1e3],"zero":{"at":[0,[1,{"\u0041":"}"}]]}}"#),
        more(r#""note":"a","note":"b""#),
        more(&format!(r#""deep":{nested}"#)),
    ] {
        let bytes = file(&header, 2);
        let reader = Reader::new(&bytes).unwrap_or_else(|error| panic!("{header}: {error}"));
        assert_eq!(reader.view("w")?.to_string(), "[0 1]", "{header}");
        assert_eq!(reader.all_metadata().count(), 0);
    }
    let huge = 1_u64 << 62;
    for shape in
        [format!("[{huge}, 0]"), format!("[0, {huge}, {huge}]"), format!("[{huge}, {huge}, 0]")]
    {
        let header = format!("{{{},{w}}}", entry("none", "F64", &shape, 0, 0));
        let bytes = file(&header, 2);
        let reader = Reader::new(&bytes)?;
        assert!(reader.view("none")?.is_empty() && reader.load("none", CopyMode::Always).is_ok());
        assert_eq!(format!("{:?}", reader.entry("none")?.shape()), shape);
        assert_eq!(reader.view("w")?.to_string(), "[0 1]");
    }
    let deep = format!("{}1{}", "[".repeat(128), "]".repeat(128));
    for (pairs, wanted) in [
        (format!(r#""deep":{deep}"#), "where no more than 127 nested values must be"),
        (r#""x":nul"#.into(), "the header has 'n' at byte 18 where a value of JSON must be"),
        (r#""x":"#.into(), "the header has ',' at byte 18 where a value of JSON must be"),
        (r#""x":1.2.3"#.into(), "the header has '1' at byte 18 where a number must be"),
        (r#""x":-"#.into(), "the header has '-' at byte 18 where a number must be"),
        (r#""x":[1,]"#.into(), "the header has ']' at byte 21 where a value of JSON must be"),
        (r#""x":{"a" 1}"#.into(), "the header has '1' at byte 23 where ':' must be"),
        (r#""x":{1:2}"#.into(), "the header has '1' at byte 19 where a string must be"),
        (r#""x":"\x""#.into(), "where an escape of JSON must be"),
        (r#""dtype":"U8""#.into(), "where no second value of dtype must be"),
    ] {
        let found = message(&file(&more(&pairs), 2));
        assert!(found.ends_with(wanted), "{found}\n{wanted}");
    }
    let twice = format!(r#"{{"__metadata__":null,"__metadata__":{{}},{w}}}"#);
    assert!(
        message(&file(&twice, 2)).ends_with("where another key than a second __metadata__ must be")
    );
    let number = format!(r#"{{"__metadata__":nil,{w}}}"#);
    assert_eq!(message(&file(&number, 2)), "the header has 'n' at byte 24 where '{' must be");
    Ok(())
}

#[test]
fn files_cut_anywhere_are_refused() {
    let header = format!("{{{}}}", entry("w", "F32", "[2, 3]", 0, 24));
    let whole = file(&header, 24);
    assert!(Reader::new(&whole).is_ok());
    for length in 0..whole.len() {
        assert!(Reader::new(&whole[..length]).is_err(), "{length}");
    }
    assert!(Reader::new(&[&whole[..], &[0]].concat()).is_err());
}

#[test]
fn headers_that_lie_are_refused_with_tensor_value_and_bound() {
    let of = |entries: &[String], payload: usize| {
        message(&file(&format!("{{{}}}", entries.join(",")), payload))
    };
    let w = |shape, begin, end| entry("w", "F32", shape, begin, end);
    assert_eq!(message(&[]), "the file has 0 bytes but begins with a length of 8");
    assert_eq!(
        message(&u64::MAX.to_le_bytes()),
        "the header has 18446744073709551615 bytes at byte 0 but may have at most 100000000: this \
         is no safetensors file"
    );
    assert_eq!(
        message(&30_u64.to_le_bytes()),
        "the header has 30 bytes from byte 8 on but the file has 8 bytes"
    );
    assert_eq!(
        of(&[w("[2]", 0, 8), entry("v", "U8", "[4]", 6, 10)], 10),
        "tensor 'v' has data_offsets [6, 10] but 'w' ends at 8: tensors must not overlap"
    );
    assert_eq!(
        of(&[w("[2]", 0, 8), entry("v", "U8", "[1]", 9, 10)], 10),
        "tensor 'v' has data_offsets [9, 10] but 'w' ends at 8: tensors must not leave bytes between them"
    );
    assert_eq!(
        of(&[w("[2]", 4, 12)], 12),
        "tensor 'w' has data_offsets [4, 12] but it is the first: tensors must not leave bytes between them"
    );
    // Two tensors over equal bytes overlap, too.
    assert!(of(&[w("[2]", 0, 8), entry("v", "F32", "[2]", 0, 8)], 8).contains("must not overlap"));
    assert_eq!(
        of(&[w("[3]", 0, 12)], 8),
        "tensor 'w' has data_offsets [0, 12] but there are 8 bytes from byte 63 on"
    );
    assert_eq!(
        of(&[w("[0]", 0, 0), entry("v", "U8", "[2]", 0, 2)], 5),
        "the file has 5 bytes from byte 114 on but its tensors take 2"
    );
    assert_eq!(
        of(&[w("[3]", 0, 8)], 8),
        "tensor 'w' has shape [3] of F32, which takes 12 bytes, but data_offsets [0, 8]"
    );
    assert_eq!(
        of(&[entry("w", "F4", "[3]", 0, 1)], 1),
        "tensor 'w' has shape [3] of F4, which takes 12 bits, but data_offsets [0, 1]"
    );
    let huge = of(&[w("[4294967296, 4294967296]", 0, 8)], 8);
    assert!(huge.contains("which takes more than 18446744073709551615 bits"), "{huge}");
    let backwards = of(&[w("[1]", 0, 4), entry("v", "U8", "[0]", 4, 3)], 4);
    assert_eq!(
        backwards,
        "tensor 'v' has data_offsets [4, 3] but there are 4 bytes from byte 114 on"
    );
    assert_eq!(of(&[w("[1]", 0, 4), w("[1]", 4, 8)], 8), "tensor 'w' stands twice in the header");
    let metadata = r#""__metadata__":{"a":"1","a":"2"}"#.to_owned();
    assert_eq!(of(&[metadata], 0), "a key of __metadata__ stands twice in the header");
    let ranks = file(&format!("{{{}}}", entry("w", "U8", "[1,1,1,1,1,1,1,1,1]", 0, 1)), 1);
    let error = Reader::new(&ranks).unwrap().view("w").err().unwrap();
    assert_eq!(error.message(), "rank is 9 but at most 8 axes are supported");
}

#[test]
fn a_long_name_is_cut_in_messages() {
    let name = "n".repeat(100_000);
    let bytes = file(&format!("{{{}}}", entry(&name, "F32", "[3]", 0, 8)), 8);
    assert!(message(&bytes).len() < 200);
}

#[test]
fn a_missing_tensor_is_refused_with_similar_names() -> Result<()> {
    let names = ["layer.0.bias", "layer.0.weight", "layer.1.weight"];
    let byte = [1_u8];
    let tensors = names.map(|name| (name, TensorView::from_slice(&byte, 1).unwrap().into()));
    let mut file = Vec::new();
    Writer::new().write(&tensors, &mut file)?;
    let reader = Reader::new(&file)?;
    for (wanted, says) in [
        ("layer.2.weight", ": did you mean 'layer.0.weight' or 'layer.1.weight'?"),
        ("model.layer.0.bias", ": did you mean 'layer.0.bias'?"),
        ("embedding", ""),
    ] {
        let says = format!("there is no tensor '{wanted}'{says}");
        assert_eq!(reader.view(wanted).err().unwrap().message(), says);
        assert_eq!(reader.entry(wanted).err().unwrap().message(), says);
    }
    Ok(())
}

#[test]
fn outputs_that_fail_and_names_that_cannot_be_are_errors() -> Result<()> {
    let view: DynView<'_> = TensorView::from_slice(&[1.0], 1)?.into();
    let refused = |tensors: &[(&str, DynView<'_>)]| {
        Writer::new().write(tensors, &mut Vec::new()).err().unwrap().to_string()
    };
    assert_eq!(
        refused(&[("a", view), ("a", view)]),
        "the name 'a' stands twice or is __metadata__"
    );
    assert_eq!(
        refused(&[("__metadata__", view)]),
        "the name '__metadata__' stands twice or is __metadata__"
    );
    let mut room = [0; 70];
    assert!(Writer::new().write(&[("a", view)], &mut room[..]).is_err());
    Ok(())
}

#[test]
fn tensors_share_the_bytes_of_their_file() -> Result<()> {
    let weights = [1.0_f32, 2.0, 3.0, 4.0];
    let tensors: [(&str, DynView<'_>); 2] = [
        ("a", TensorView::from_slice(&weights, [2, 2])?.into()),
        ("b", TensorView::from_slice(&[7_u8], 1)?.into()),
    ];
    let mut bytes = Vec::new();
    Writer::new().write(&tensors, &mut bytes).unwrap();
    let mut owner = Tensor::<u8>::zeros(bytes.len())?; // aligned for every dtype
    owner.as_mut_slice().unwrap().copy_from_slice(&bytes);
    let model = Shared::new(owner)?;
    let names: Vec<&str> = model.tensors().iter().map(|entry| entry.name()).collect();
    assert_eq!(names, ["a", "b"]);
    let (a, again) = (model.tensor::<f32>("a")?, model.clone().tensor::<f32>("a")?);
    let b = model.tensor::<u8>("b")?;
    drop(model);
    assert_eq!((a.as_ptr(), again.clone()), (again.as_ptr(), a.clone()));
    assert_eq!(a, [[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!(b, [7]);
    Ok(())
}

#[test]
fn shared_files_refuse_what_lent_ones_do_and_give_the_owner_back() -> Result<()> {
    let rejected = Shared::new(vec![1, 2, 3]).err().unwrap();
    assert_eq!(rejected.error().message(), "the file has 3 bytes but begins with a length of 8");
    assert_eq!(rejected.into_data(), [1, 2, 3]);
    let mut bytes = Vec::new();
    let tensors = [("w", TensorView::from_slice(&[1_u8, 2], 2)?.into())];
    Writer::new().write(&tensors, &mut bytes).unwrap();
    let model = Shared::new(bytes)?;
    assert!(model.tensor::<u8>("v").err().unwrap().message().contains("there is no"));
    let error = model.tensor::<f32>("w").err().unwrap();
    assert_eq!(error.message(), "'w': dtype is u8 but f32 is asked for");
    assert!(model.metadata().is_empty());
    Ok(())
}
