//! Files of dense tensors: borrowed elements are within the bytes, and copied elements are equal.

use tenure::*;

use super::{Random, archive, corpus, fuzz, members, mutate};

/// Whatever a reader gives, every byte of it can be read; and a view lies within the file.
fn use_up<'a>(
    file: &'a [u8],
    view: Result<DynView<'a>>,
    load: impl Fn(CopyMode) -> Result<Loaded<'a>>,
) {
    let says_something = |error: &Error| assert!(error.message().len() > 8, "{error:?}");
    let copy = load(CopyMode::Always);
    match view {
        Ok(view) => {
            let bytes = view.as_bytes().or_else(|| view.t().as_bytes()).expect("it is dense");
            let range = file.as_ptr_range();
            let ends = bytes.as_ptr_range();
            assert!(bytes.is_empty() || range.start <= ends.start && ends.end <= range.end);
            // A copy may be refused for its checksum, which a view does not look at.
            if let Ok(copy) = &copy {
                let again = copy.view();
                assert_eq!(again.as_bytes().or_else(|| again.t().as_bytes()), Some(bytes));
            }
        }
        Err(error) => says_something(&error),
    }
    match copy {
        Ok(copy) => {
            let view = copy.view();
            let bytes = view.as_bytes().or_else(|| view.t().as_bytes()).expect("it is dense");
            std::hint::black_box(bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
            assert_eq!(bytes.len(), view.len() * view.dtype().size_bytes());
        }
        Err(error) => says_something(&error),
    }
}

fn read_npy(file: &[u8]) {
    match io::npy::Array::new(file) {
        Ok(array) => use_up(file, array.view(), |mode| array.load(mode)),
        Err(error) => assert!(error.message().len() > 8, "{error:?}"),
    }
}

#[test]
fn npy() {
    let corpus = corpus("npy");
    corpus.iter().for_each(|bytes| read_npy(bytes));
    fuzz(3_000, |random| {
        let mut bytes = random.pick(&corpus).clone();
        change(&mut bytes, &corpus, random);
        read_npy(&bytes);
    });
}

/// Bytes anywhere, or digits of a number where there is one.
fn change(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let digits: Vec<usize> =
        (0..bytes.len().min(400)).filter(|at| bytes[*at].is_ascii_digit()).collect();
    if digits.is_empty() || random.below(2) == 0 {
        return mutate(bytes, others, random);
    }
    let at = *random.pick(&digits);
    let number = random.number().unsigned_abs().to_string();
    drop(bytes.splice(at..=at, number.into_bytes()));
}

fn read_archive(file: &[u8]) {
    let archive = match io::npz::Archive::new(file) {
        Ok(archive) => archive,
        Err(error) => return assert!(error.message().len() > 8, "{error:?}"),
    };
    for name in archive.names() {
        let _ = (archive.header(name), archive.verify(name));
        use_up(file, archive.view(name), |mode| archive.load(name, mode));
    }
}

#[test]
fn archives() {
    let corpus = corpus("npz_arrays");
    corpus.iter().for_each(|bytes| read_archive(bytes));
    fuzz(2_000, |random| {
        let mut bytes = random.pick(&corpus).clone();
        mutate(&mut bytes, &corpus, random);
        read_archive(&bytes);
    });
}

/// Archives with right checksums, so that their arrays are reached.
#[test]
fn arrays_of_archives() {
    let arrays = corpus("npy");
    let mut written = Vec::new();
    let one = TensorView::from_slice(&[1.5, 2.5], 2).unwrap();
    io::npz::Writer::new().write_arrays(&[("one", one.into())], &mut written).unwrap();
    let first = members(&written).remove(0);
    assert!(io::npz::Archive::new(&archive(&[first])).unwrap().verify("one").is_ok());
    fuzz(2_000, |random| {
        let mut content = random.pick(&arrays).clone();
        change(&mut content, &arrays, random);
        let other = random.pick(&arrays).clone();
        read_archive(&archive(&[(b"a.npy".to_vec(), content), (b"b.npy".to_vec(), other)]));
    });
}

fn read_safetensors(file: &[u8]) {
    let reader = match io::safetensors::Reader::new(file) {
        Ok(reader) => reader,
        Err(error) => return assert!(error.message().len() > 8, "{error:?}"),
    };
    let mut covered = None;
    for entry in reader.tensors() {
        let begin = *covered.get_or_insert(entry.offset());
        assert_eq!(begin, entry.offset(), "no byte is of two tensors, and none of none");
        covered = Some(entry.offset() + entry.size_bytes());
        use_up(file, reader.view(entry.name()), |mode| reader.load(entry.name(), mode));
    }
    assert!(covered.is_none_or(|end| end == file.len()));
}

#[test]
fn safetensors() {
    let corpus = corpus("safetensors");
    corpus.iter().for_each(|bytes| read_safetensors(bytes));
    fuzz(3_000, |random| {
        let mut bytes = random.pick(&corpus).clone();
        change(&mut bytes, &corpus, random);
        if bytes.len() >= 8 && random.below(2) == 0 {
            // The length of the header, made right again where that is possible.
            let text = bytes[8..].iter().rposition(|byte| *byte == b'}').map_or(0, |at| at + 1);
            bytes[..8].copy_from_slice(&(text as u64).to_le_bytes());
        }
        read_safetensors(&bytes);
    });
}
