//! Files of programs: what is built of one is a graph that can be listed, written and made into a
//! program.

use std::ptr;

use tenure::Tensor;
use tenure::program_file::{CustomOperation, GraphHandle, GraphRecord, ProgramFile};
use tenure_sys::*;

use super::{Random, corpus, fuzz, mutate};

#[allow(dead_code, reason = "tests take what they need")]
#[path = "../program_file/graphs.rs"]
mod graphs;

fn says_something(error: &tenure::Error) {
    assert!(error.message().len() > 8, "{error:?}");
}

fn built(file: &ProgramFile) -> Option<GraphHandle> {
    let customs: Vec<CustomOperation> =
        ["scale\0", "scale again\0"].map(graphs::scaling).map(graphs::owned).into();
    file.build(customs).inspect_err(says_something).ok()
}

const HEADER_BYTES: usize = 64;
const CONSTANTS_ALIGNMENT: usize = 4096;

/// Whether there was a graph.
fn read(file: &[u8]) -> bool {
    let owner = Tensor::copy_from_slice(file, file.len()).unwrap();
    let read = match ProgramFile::new(owner) {
        Ok(read) => read,
        Err(refused) => {
            says_something(refused.error());
            return false;
        }
    };
    read.record().unwrap().save(std::io::sink()).unwrap();
    let Some(graph) = built(&read) else { return false };
    let names = read.custom_names().to_vec();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    drop(read);
    // Written again, it is the file of the same graph.
    let written = |graph: &GraphHandle| {
        let mut file = Vec::new();
        GraphRecord::of(graph, &names).unwrap().save(&mut file).unwrap();
        Tensor::copy_from_slice(&file, file.len()).unwrap()
    };
    let file = written(&graph);
    let again = built(&ProgramFile::new(file.try_clone().unwrap()).unwrap()).unwrap();
    assert!(written(&again) == file);
    // Nothing is computed: a graph may ask for any amount of work.
    let attributes = tnr_program_attributes {
        struct_size: size_of::<tnr_program_attributes>() as u64,
        disabled_passes: TNR_PASS_CONSTANT_FOLDING,
        enabled_passes: 0,
        packed: ptr::null(),
    };
    // SAFETY: the handles are alive, and the attributes during the call.
    unsafe {
        let program = tnr_program_create(ptr::null_mut(), graph.as_raw(), &attributes);
        graphs::ok(tnr_program_release(program));
    }
    true
}

fn graph_bytes(file: &[u8]) -> usize {
    u64::from_le_bytes(file[24..32].try_into().unwrap()) as usize
}

/// The parts of a file, and the header and the padding for others.
fn parts(file: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let end = HEADER_BYTES + graph_bytes(file);
    let constants = file.get(end.next_multiple_of(CONSTANTS_ALIGNMENT)..).unwrap_or_default();
    (file[HEADER_BYTES..end].to_vec(), constants.to_vec())
}

fn joined(graph: &[u8], constants: &[u8]) -> Vec<u8> {
    let mut file = b"\x89TNRPG\r\n\x01\0\0\0\x40\0\0\0".to_vec();
    let end = HEADER_BYTES + graph.len();
    let begin = if constants.is_empty() { 0 } else { end.next_multiple_of(CONSTANTS_ALIGNMENT) };
    for number in [HEADER_BYTES, graph.len(), begin, constants.len()] {
        file.extend((number as u64).to_le_bytes());
    }
    file.resize(HEADER_BYTES, 0);
    file.extend(graph);
    file.resize(begin.max(end), 0);
    file.extend(constants);
    file
}

fn examples() -> Vec<Vec<u8>> {
    let mut files = corpus("program");
    for example in [graphs::small(), graphs::everything()] {
        let mut file = Vec::new();
        GraphRecord::of(&example.graph, &example.names).unwrap().save(&mut file).unwrap();
        files.push(file);
    }
    files
}

/// Bytes anywhere.
#[test]
fn files() {
    let corpus = examples();
    assert!(corpus.iter().all(|file| read(file)));
    fuzz(2_000, |random| {
        let mut file = random.pick(&corpus).clone();
        mutate(&mut file, &corpus, random);
        let _ = read(&file);
    });
}

/// Graphs behind right headers, so that their parts are reached.
#[test]
fn graphs_of_files() {
    let corpus: Vec<(Vec<u8>, Vec<u8>)> = examples().iter().map(|file| parts(file)).collect();
    let graphs: Vec<Vec<u8>> = corpus.iter().map(|(graph, _)| graph.clone()).collect();
    let again = joined(&corpus[0].0, &corpus[0].1);
    assert!(again == super::corpus("program")[0]);
    let mut built = 0;
    fuzz(4_000, |random| {
        let (mut graph, mut constants) = random.pick(&corpus).clone();
        match random.below(4) {
            // The length stays, so that it is most often still a graph.
            0 | 1 => (0..1 + random.below(3)).for_each(|_| change(&mut graph, random)),
            2 => mutate(&mut graph, &graphs, random),
            _ => {
                change(&mut graph, random);
                constants.resize(random.below(constants.len() + 64), 0);
            }
        }
        built += u32::from(read(&joined(&graph, &constants)));
    });
    println!("{built} of them are graphs");
    assert!(built > 100);
}

/// A byte, or a number in its place.
fn change(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(3) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.number() as u8 & 0x7f,
        _ => bytes[at] = bytes[random.below(bytes.len())],
    }
}
