//! Readers and constructors on malformed input: mutations of good input, drawn from a seed.
//!
//! Every input gives a message or a usable matrix. `./x test` takes a few thousand inputs of each
//! kind; `./x long` runs for TENURE_FUZZ_SECONDS under the address sanitizer, with the C++
//! instrumented too. A panic prints the seed that leads to its input.
#![cfg(feature = "npz")]

#[path = "fuzz/batches.rs"]
mod batches;
#[path = "fuzz/constructors.rs"]
mod constructors;
#[path = "fuzz/dense.rs"]
mod dense;
#[path = "fuzz/dlpack.rs"]
mod dlpack;
#[path = "fuzz/einsum.rs"]
mod einsum;
#[path = "fuzz/factors.rs"]
mod factors;
#[path = "fuzz/files.rs"]
mod files;
#[cfg(feature = "programs")]
#[allow(dead_code, reason = "tests take what they need")]
#[path = "program_file/graphs.rs"]
mod graphs;
#[path = "fuzz/images.rs"]
mod images;
#[cfg(feature = "programs")]
#[path = "program_file/kinds.rs"]
mod kinds;
#[path = "fuzz/lent.rs"]
mod lent;
#[path = "fuzz/liars.rs"]
mod liars;
#[path = "dlpack/managed.rs"]
mod managed;
#[cfg(feature = "onnx")]
#[path = "program_file/models.rs"]
mod models;
#[cfg(feature = "programs")]
#[path = "fuzz/nodes.rs"]
mod nodes;
#[cfg(feature = "onnx")]
#[path = "fuzz/onnx.rs"]
mod onnx;
#[path = "fuzz/operations.rs"]
mod operations;
#[path = "fuzz/packed.rs"]
mod packed;
#[path = "fuzz/parts.rs"]
mod parts;
#[cfg(feature = "programs")]
#[path = "fuzz/programs.rs"]
mod programs;
#[allow(dead_code, reason = "tests take what they need")]
#[path = "../src/split_mix.rs"]
mod random;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use random::Random;
use tenure::*;

/// Draws of this fuzzer.
impl Random {
    fn pick<'a, E>(&mut self, from: &'a [E]) -> &'a E {
        &from[self.below(from.len())]
    }

    /// Small, or adjacent to a power of two, of either sign.
    fn number(&mut self) -> i64 {
        match self.below(4) {
            0..=2 => self.below(9) as i64 - 1,
            _ => {
                let power = 1_i64.wrapping_shl(self.below(64) as u32);
                power.wrapping_add(self.below(3) as i64 - 1)
            }
        }
    }
}

/// Calls `try_one` with successive seeds: some thousand, or for the requested time.
fn fuzz(count: u64, mut try_one: impl FnMut(&mut Random)) {
    /// Says which seed a panic is of.
    struct Seed(u64);
    impl Drop for Seed {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("the seed is {}", self.0);
            }
        }
    }
    let seconds = std::env::var("TENURE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let (start, mut seed) = (Instant::now(), Seed(0));
    let goes_on = |done: u64| match seconds {
        Some(seconds) => start.elapsed() < Duration::from_secs(seconds),
        None => done < count,
    };
    while goes_on(seed.0) {
        try_one(&mut Random::new(seed.0));
        seed.0 += 1;
    }
    println!("{} inputs in {:.1} s", seed.0, start.elapsed().as_secs_f64());
}

fn corpus(kind: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(kind);
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Changes some bytes, or words that mean something in one of the formats.
fn mutate(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    const WORDS: [&[u8]; 24] = [
        b"0",
        b"-1",
        b"18446744073709551616",
        b"9223372036854775807",
        b"2147483648",
        b"nan",
        b"1e999",
        b"\n",
        b" ",
        b"%",
        b"symmetric",
        b"pattern",
        b"complex",
        b"array",
        b"\xff\xff\xff\xff",
        b"\0\0\0\0",
        b"PK\x01\x02",
        b"(9999999999,)",
        b"\xef\xbb\xbf",
        b"skew-symmetric",
        b"1.5D+02",
        b"'float64'",
        b"\"more\":[null,{}],",
        b"PK\x05\x06",
    ];
    for _ in 0..1 + random.below(6) {
        let (at, count) = (random.below(bytes.len() + 1), random.below(24));
        let end = (at + count).min(bytes.len());
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => drop(bytes.splice(at..at, random.pick(&WORDS).iter().copied())),
            5 => {
                let repeated = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, repeated));
            }
            _ => {
                let other = random.pick(others);
                let from = random.below(other.len());
                let to = (from + count).min(other.len());
                drop(bytes.splice(at..end, other[from..to].iter().copied()));
            }
        }
    }
}

/// Asserts a message of more than 8 bytes, or a matrix with all entries inside its shape.
fn usable<T: Element, I: SparseIndex>(read: Result<CooMatrix<T, I>>) -> Option<CooMatrix<T, I>> {
    match read {
        Ok(matrix) => {
            for (row, col, _) in matrix.view().iter() {
                assert!(row < matrix.rows() && col < matrix.cols());
            }
            Some(matrix)
        }
        Err(error) => {
            assert!(error.message().len() > 8, "{error:?}");
            None
        }
    }
}

fn read_market(bytes: &[u8]) {
    let reader = match io::matrix_market::Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return assert!(error.message().len() > 8, "{error:?}"),
    };
    usable(reader.to_coo::<f32, i64>());
    usable(reader.to_coo::<i8, i32>());
    usable(reader.to_coo::<Complex<f32>, i32>());
    if let Some(matrix) = usable(reader.to_coo::<f64, i32>()) {
        let mut out = Vec::new();
        io::matrix_market::Writer::new().write(&matrix.view(), &mut out).unwrap();
        let again = io::matrix_market::Reader::new(&out).unwrap().to_coo::<f64, i32>().unwrap();
        assert_eq!((again.rows(), again.row_indices()), (matrix.rows(), matrix.row_indices()));
        let bits = |matrix: &CooMatrix<f64>| -> Vec<u64> {
            let values = matrix.values().iter();
            values.map(|value| if value.is_nan() { 1 } else { value.to_bits() }).collect()
        };
        assert_eq!(bits(&again), bits(&matrix));
    }
    if let Ok(dense) = reader.to_dense::<Complex<f64>>() {
        assert_eq!(dense.shape(), [reader.rows(), reader.cols()]);
    }
}

#[test]
fn matrix_market() {
    let corpus = corpus("matrix_market");
    corpus.iter().for_each(|bytes| read_market(bytes));
    fuzz(3_000, |random| {
        let mut bytes = random.pick(&corpus).clone();
        mutate(&mut bytes, &corpus, random);
        read_market(&bytes);
    });
}

fn read_npz(bytes: &[u8]) {
    let reader = match io::npz::Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return assert!(error.message().len() > 8, "{error:?}"),
    };
    usable(reader.to_coo::<f64, i32>());
    usable(reader.to_coo::<i8, i64>());
    if let Ok(matrix) = reader.to_csr::<f64, i32>() {
        assert_eq!(matrix.view().iter().count(), matrix.nnz());
    }
    if let Ok(matrix) = reader.to_csc::<f32, i64>() {
        assert_eq!(matrix.view().iter().count(), matrix.nnz());
    }
    if let Ok(matrix) = reader.to_bsr::<f64, i32>() {
        assert_eq!(
            matrix.view().iter().map(|(_, _, block)| block.len()).sum::<usize>(),
            matrix.nnz()
        );
    }
}

/// The arrays of an archive that the library has written: names and stored bytes.
fn members(archive: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let (mut rest, mut members) = (archive, Vec::new());
    while let Some(body) = rest.strip_prefix(b"PK\x03\x04") {
        let size = u32::from_le_bytes(body[14..18].try_into().unwrap()) as usize;
        let length = |at: usize| usize::from(u16::from_le_bytes([body[at], body[at + 1]]));
        let (name, extra) = (length(22), length(24));
        let content = &body[26 + name + extra..];
        members.push((body[26..26 + name].to_vec(), content[..size].to_vec()));
        rest = &content[size..];
    }
    members
}

/// An archive of these, with the checksums that they have.
fn archive(members: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let size = (content.len() as u32).to_le_bytes();
        let common = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..],
            &crc.sum().to_le_bytes(),
            &size,
            &size,
            &(name.len() as u16).to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        directory.extend([b"PK\x01\x02\x14\0", &common[..], &[0; 10]].concat());
        directory.extend((out.len() as u32).to_le_bytes());
        directory.extend(name);
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

#[test]
fn npz() {
    let corpus = corpus("npz");
    corpus.iter().for_each(|bytes| read_npz(bytes));
    fuzz(3_000, |random| {
        let mut bytes = random.pick(&corpus).clone();
        mutate(&mut bytes, &corpus, random);
        read_npz(&bytes);
    });
}

/// Archives with right checksums, so that headers and elements are reached.
#[test]
fn arrays_of_npz() {
    let mut corpus = Vec::new();
    let graph: CsrMatrix<f64> = sparse::gallery::rmat(4, 3, 1).unwrap();
    let narrow: Vec<f32> = graph.values().iter().map(|value| *value as f32).collect();
    let blocks: Vec<f64> = (0..18).map(f64::from).collect();
    let coo = CooView::new(3, 3, &[2, 0], &[1, 0], &[1.0, 2.0]).unwrap();
    let csc = graph.view().with_values(&narrow).unwrap().t();
    let bsr = BsrView::new(4, 9, [2, 3], &[0, 2, 3], &[0, 2, 1], &blocks).unwrap();
    let writer = io::npz::Writer::new();
    let mut write = |matrix: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        matrix(&mut out);
        corpus.push(members(&out));
    };
    write(&|out| writer.write(&graph.view(), out).unwrap());
    write(&|out| writer.write(&csc, out).unwrap());
    write(&|out| writer.write(&coo, out).unwrap());
    write(&|out| writer.write(&bsr, out).unwrap());
    let again = archive(&corpus[0]);
    assert_eq!(
        io::npz::Reader::new(&again).unwrap().to_csr::<f64, i32>().unwrap().nnz(),
        graph.nnz()
    );
    let contents: Vec<Vec<u8>> =
        corpus.iter().flatten().map(|(_, content)| content.clone()).collect();
    fuzz(3_000, |random| {
        let mut members = random.pick(&corpus).clone();
        for _ in 0..1 + random.below(2) {
            let member = random.below(members.len());
            let content = &mut members[member].1;
            if random.below(2) == 0 {
                mutate(content, &contents, random);
            } else if let Some(at) = content.len().checked_sub(8) {
                // An offset, an index, an extent.
                let at = at.saturating_sub(8 * random.below(6));
                let number = random.number();
                content[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
        }
        read_npz(&archive(&members));
    });
}
