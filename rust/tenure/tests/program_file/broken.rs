//! Files that are cut, changed, newer or hostile: a message for each.

use super::graphs::{everything, small};
use super::kinds::ordered_random_and_sparse;
use super::{opened, saved};
use tenure::ErrorKind;

fn refused(file: &[u8]) -> tenure::Error {
    let error = match opened(file) {
        Ok(file) => file.build(Vec::new()).expect_err("it is no graph"),
        Err(error) => error,
    };
    assert!(error.message().len() > 8, "{error:?}");
    error
}

#[test]
fn cut_anywhere() {
    for file in [saved(&small().graph, &[]), saved(&everything().graph, &["a", "b"])] {
        (0..file.len()).for_each(|len| drop(refused(&file[..len])));
        let longer = [&file[..], &[0]].concat();
        let expected = format!(
            "the header says that the file ends at byte {} but it has {} bytes",
            file.len(),
            longer.len()
        );
        assert_eq!(refused(&longer).message(), expected);
    }
}

#[test]
fn every_field_of_the_header() {
    let file = saved(&small().graph, &[]);
    // A bit anywhere.
    for bit in 0..8 * 64 {
        let mut file = file.clone();
        file[bit / 8] ^= 1 << (bit % 8);
        refused(&file);
    }
    // Numbers that are large, small, or adjacent to the stored one.
    for at in (16..48).step_by(8) {
        let is = u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        let others = [0, 1, 63, 64, 4096, is - 1, is + 1, is + 4096, 1 << 62, 1 << 63, u64::MAX];
        for number in others.into_iter().filter(|number| *number != is) {
            let mut file = file.clone();
            file[at..at + 8].copy_from_slice(&number.to_le_bytes());
            refused(&file);
        }
    }
}

#[test]
fn newer_and_others() {
    let mut file = saved(&small().graph, &[]);
    file[8] = 5;
    let error = refused(&file);
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.message(),
        "the file has version 5, which a newer library has written; this one reads 1 to 4"
    );
    file[..2].copy_from_slice(b"PK");
    assert_eq!(refused(&file).message(), "the file is no program: its first 8 bytes are others");
    assert_eq!(refused(&[]).message(), "the file has 0 bytes but begins with a header of 64");
}

/// The header of a graph without constants, and the graph.
fn file_of(graph: &[u8]) -> Vec<u8> {
    let mut file = saved(&super::graphs::Builder::new().finish(), &[]);
    file[24..32].copy_from_slice(&(graph.len() as u64).to_le_bytes());
    file.extend(graph);
    file
}

#[test]
fn graphs_of_too_many_parts() {
    let refused = |part: &[u8], count: usize| refused(&file_of(&part.repeat(count)));
    assert_eq!(refused(&[0x0a, 0], 257).message(), "the graph has more than 256 extents");
    assert_eq!(refused(&[0x1a, 0], 65_537).message(), "the graph has more than 65536 values");
    assert_eq!(refused(&[0x22, 0], 65_537).message(), "the graph has more than 65536 outputs");
    assert_eq!(refused(&[0x2a, 0], 65_537).message(), "the graph has more than 65536 subgraphs");
    assert_eq!(refused(&[0x32, 0], 1).kind(), ErrorKind::Unsupported);
    assert_eq!(refused(&[0x08, 0], 1).kind(), ErrorKind::Unsupported);
    let mut large = file_of(&[]);
    large[24..32].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    let message = "the graph has 1099511627776 bytes but may have at most 16777216";
    assert_eq!(super::broken::refused(&large).message(), message);
}

#[test]
fn graphs_that_name_what_is_not_there() {
    let message = |graph: &[u8]| refused(&file_of(graph)).message().to_owned();
    // A value without a source; one of a source that is not known.
    assert_eq!(message(&[0x1a, 0]), "values[0]: it has no source");
    assert!(message(&[0x1a, 2, 0x32, 0]).contains("of which"));
    // A constant of 12 bytes where there are none.
    let constant = [0x1a, 10, 0x12, 8, 0x08, 0x82, 0x40, 0x12, 1, 3, 0x20, 12];
    assert_eq!(
        message(&constant),
        "values[0]: its dtype DType { code: 2, bits: 32, lanes: 0 } has no whole number of bytes"
    );
    // An output of value 0, and a node of a value that does not exist.
    assert_eq!(message(&[0x22, 2, 0x08, 1]), "outputs[0]: it names value 1, of 0 before it");
    let node = [0x1a, 9, 0x22, 7, 0x08, 0x85, 0x80, 0x04, 0x22, 1, 7];
    assert_eq!(message(&node), "values[0]: it names value 7, of 0 before it");
    // A custom operation.
    let custom = [0x1a, 6, 0x22, 4, 0x08, 0x80, 0x80, 0x5c];
    assert_eq!(message(&custom), "values[0]: it calls operation 0 of its caller's own, of 0");
    // Attributes of another kind: those of a reduction, at a cast.
    let node = [0x1a, 8, 0x22, 6, 0x08, 0x80, 0x80, 0x18, 0x42, 0];
    assert_eq!(message(&node), "values[0]: its attributes are not those of kind 0x00060000");
    // A spec with a 0 in it, and one that has no end where the core keeps it.
    let mut node = vec![0x1a, 13, 0x22, 11, 0x08, 0x80, 0x80, 0x64, 0x82, 1, 4, 0x0a, 2, b'i', 0];
    assert_eq!(message(&node), "values[0]: spec[1] is byte 0x00, but must be a letter");
    node.truncate(10);
    node.splice(1..2, [0x84, 1]);
    node.splice(4..5, [0x81, 1]);
    node.extend([122, 0x0a, 120]);
    node.extend([b'i'; 120]);
    let expected = "values[0]: the spec has 120 bytes but a graph takes at most 119";
    assert_eq!(message(&node), expected);
}

/// Nodes that order, draw at random and have sparse matrices, with each bit flipped: the core
/// refuses a node that it would not accept from a program, and an accepted graph is written and
/// read again.
#[test]
fn every_bit_of_newer_nodes() {
    let file = saved(&ordered_random_and_sparse().graph, &[]);
    let graph_bytes = u64::from_le_bytes(file[24..32].try_into().unwrap()) as usize;
    let (mut built, mut refused) = (0, 0);
    for bit in 0..8 * graph_bytes {
        let mut changed = file.clone();
        changed[64 + bit / 8] ^= 1 << (bit % 8);
        let Ok(read) = opened(&changed) else { continue };
        match read.build(Vec::new()) {
            Ok(graph) => {
                opened(&saved(&graph, &[])).unwrap();
                built += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(built > 100 && refused > 100, "{built} are built and {refused} are refused");
}

/// Each bit of the graph of a file that has everything: a message, or another graph.
#[test]
fn every_bit_of_the_graph() {
    let file = saved(&everything().graph, &["scale", "scale again"]);
    let graph_bytes = u64::from_le_bytes(file[24..32].try_into().unwrap()) as usize;
    let mut built = 0;
    for bit in 0..8 * graph_bytes {
        let mut changed = file.clone();
        changed[64 + bit / 8] ^= 1 << (bit % 8);
        let Ok(read) = opened(&changed) else { continue };
        read.record().unwrap();
        built += u32::from(read.build(Vec::new()).is_ok());
    }
    assert_eq!(built, 0, "no operation of one's own was given");
}
