//! Files of programs: a loaded program computes the same bits, and an invalid file is refused.
#![cfg(feature = "programs")]

mod broken;
mod control;
mod custom;
mod graphs;
mod kinds;
#[cfg(feature = "onnx")]
mod models;
mod names;
#[cfg(feature = "onnx")]
mod onnx;
mod programs;
mod schema;

use std::path::{Path, PathBuf};

use graphs::{Example, everything, floats, owned, scaling, small};
use tenure::program::file::{GraphHandle, GraphRecord, ProgramFile};
use tenure::{ErrorKind, io};

fn saved(graph: &GraphHandle, names: &[&str]) -> Vec<u8> {
    let mut file = Vec::new();
    GraphRecord::of(graph, names).unwrap().save(&mut file).unwrap();
    file
}

/// In memory that is aligned as a map is.
fn opened(file: &[u8]) -> tenure::Result<ProgramFile> {
    Ok(ProgramFile::new(tenure::Tensor::copy_from_slice(file, file.len())?)?)
}

/// A file that an earlier state of the library wrote, kept for ever.
fn golden(version: u32) -> PathBuf {
    let name = format!("tests/corpus/program/version_{version}.tnrp");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// It is the kept file of its version, bit for bit.
fn assert_golden(version: u32, file: &[u8]) {
    let path = golden(version);
    if std::env::var_os("TENURE_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, file).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == file, "TENURE_WRITE_GOLDEN=1 writes it anew");
}

fn assert_round_trip(example: &Example) {
    let file = saved(&example.graph, &example.names);
    let read = opened(&file).unwrap();
    assert_eq!(read.custom_names(), example.names);
    let customs = vec![owned(scaling("scale again\0")), owned(scaling("scale\0"))];
    let again = read.build(customs).unwrap();
    // Listed again, or lent by the file, it is the same.
    assert!(saved(&again, &example.names) == file);
    let mut lent = Vec::new();
    read.record().unwrap().save(&mut lent).unwrap();
    assert!(lent == file);
    drop(read);
    let (expected, results) = (example.run(&example.graph), example.run(&again));
    assert_eq!(expected.len(), example.updated.len());
    for (output, (expected, result)) in expected.iter().zip(&results).enumerate() {
        assert_eq!(expected, result, "output {output}");
    }
}

#[test]
fn every_kind_and_attribute_comes_back_with_the_same_bits() {
    assert_round_trip(&everything());
    assert_round_trip(&kinds::ordered_random_and_sparse());
    assert_round_trip(&small());
}

#[test]
fn nothing_but_the_graph() {
    let empty = graphs::Builder::new().finish();
    let file = saved(&empty, &[]);
    assert_eq!(file.len(), 64);
    assert_eq!(saved(&opened(&file).unwrap().build(Vec::new()).unwrap(), &[]), file);
}

#[test]
fn constants_are_lent_by_the_file() {
    let file = saved(&small().graph, &[]);
    let bytes = tenure::Tensor::copy_from_slice(&file, file.len()).unwrap().into_shared();
    let read = ProgramFile::new(bytes.clone()).unwrap();
    let graph = read.build(Vec::new()).unwrap();
    let record = GraphRecord::of(&graph, &[]).unwrap();
    let (first, range) = (record.constants()[0], bytes.as_ref().as_ptr_range());
    let elements = first.as_bytes().unwrap().as_ptr_range();
    assert!(range.start <= elements.start && elements.end <= range.end);
    assert_eq!(elements.start.addr() % 64, 0);
    drop((read, bytes));
    assert_eq!(first.as_bytes().unwrap(), &file[4096..4096 + 24]);
}

#[test]
fn version_1_is_read_for_ever() {
    let file = io::read(golden(1)).unwrap();
    let example = small();
    let graph = ProgramFile::new(file).unwrap().build(Vec::new()).unwrap();
    let result = example.run(&graph);
    assert_eq!(result, example.run(&example.graph));
    assert_eq!(floats(&result[0]), [2.375, 0.5, 0.0, 3.75]);
}

#[test]
fn version_1_is_written_as_it_was() {
    assert_golden(1, &saved(&small().graph, &[]));
}

#[test]
fn graphs_that_are_no_handles() {
    // SAFETY: the library takes any number for a handle, and no object has this one.
    let graph = unsafe { GraphHandle::from_raw(64 as *mut _) }.unwrap();
    let error = GraphRecord::of(&graph, &[]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::StaleHandle, "{error}");
    // SAFETY: NULL is allowed.
    assert!(unsafe { GraphHandle::from_raw(std::ptr::null_mut()) }.is_err());
}
