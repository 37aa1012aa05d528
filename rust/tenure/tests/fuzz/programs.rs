//! Files of programs: a built graph can be listed, written and made into a program.

use std::ptr;

use tenure::Tensor;
use tenure::program::file::{CustomOperation, GraphHandle, GraphRecord, ProgramFile};
use tenure_sys::*;

use super::{Random, corpus, fuzz, mutate};

use crate::graphs;

fn says_something(error: &tenure::Error) {
    assert!(error.message().len() > 8, "{error:?}");
}

fn built(file: &ProgramFile) -> Option<GraphHandle> {
    // The custom operations of the examples and of the kept files.
    let mut customs: Vec<CustomOperation> =
        ["scale\0", "scale again\0"].map(graphs::scaling).map(graphs::owned).into();
    customs.extend(["ones", "doubled"].map(|name| {
        let shape = |[x]: [&[usize]; 1]| Ok(x.to_vec());
        CustomOperation::new::<(f32,), f32>(name, shape, |_, _| Ok(())).unwrap()
    }));
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
    let own = custom_count(&graph);
    let names: Vec<&str> = names.iter().take(own).map(String::as_str).collect();
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
        budget_bytes: 0,
    };
    // SAFETY: the handles are alive, and the attributes during the call.
    unsafe {
        let program = tnr_program_create(ptr::null_mut(), graph.as_raw(), &attributes);
        graphs::ok(tnr_program_release(program));
    }
    true
}

/// How many operations of its caller's own a graph itself calls.
fn custom_count(graph: &GraphHandle) -> usize {
    let mut info: tnr_graph_info = graphs::attributes(|_| {});
    // SAFETY: the handle is alive, and the numbers are writable.
    graphs::ok(unsafe { tnr_graph_describe(graph.as_raw(), &mut info) });
    info.custom_count as usize
}

fn graph_bytes(file: &[u8]) -> usize {
    u64::from_le_bytes(file[24..32].try_into().unwrap()) as usize
}

/// The version and the parts of a file, and the header and the padding for others.
fn parts(file: &[u8]) -> (u8, Vec<u8>, Vec<u8>) {
    let end = HEADER_BYTES + graph_bytes(file);
    let constants = file.get(end.next_multiple_of(CONSTANTS_ALIGNMENT)..).unwrap_or_default();
    (file[8], file[HEADER_BYTES..end].to_vec(), constants.to_vec())
}

fn joined(version: u8, graph: &[u8], constants: &[u8]) -> Vec<u8> {
    let mut file = b"\x89TNRPG\r\n".to_vec();
    file.extend([version, 0, 0, 0, HEADER_BYTES as u8, 0, 0, 0]);
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
    let corpus: Vec<_> = examples().iter().map(|file| parts(file)).collect();
    let graphs: Vec<Vec<u8>> = corpus.iter().map(|(_, graph, _)| graph.clone()).collect();
    for (file, (version, graph, constants)) in examples().iter().zip(&corpus) {
        assert!(joined(*version, graph, constants) == *file);
    }
    let mut built = 0;
    fuzz(4_000, |random| {
        let (version, mut graph, mut constants) = random.pick(&corpus).clone();
        match random.below(4) {
            // The length stays, so that it is most often still a graph.
            0 | 1 => (0..1 + random.below(3)).for_each(|_| change(&mut graph, random)),
            2 => mutate(&mut graph, &graphs, random),
            _ => {
                change(&mut graph, random);
                constants.resize(random.below(constants.len() + 64), 0);
            }
        }
        built += u32::from(read(&joined(version, &graph, &constants)));
    });
    println!("{built} of them are graphs");
    assert!(built > 50);
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
