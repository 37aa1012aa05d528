//! Files keep the names of inputs and outputs, and a loaded program has the tree that they say.

use tenure::program::Updated;
use tenure::program::file::ProgramFile;
use tenure::*;

use super::{assert_golden, golden, opened};

type Layers<T> = Vec<(T, T)>;
type Step = Program<(Layers<Updated<f32>>, f32, [i64; 1]), (f32, Layers<f32>)>;

fn step() -> Step {
    Program::trace(|graph| {
        let layer = || (graph.input::<f32>([2]), graph.input::<f32>([1]));
        let layers = vec![layer(), layer()];
        let x = graph.input_named::<f32>("x", [2]);
        let index = graph.input::<i64>([2]);
        let [next] = graph.map_trees([&layers], |[p]| [p * 0.5]);
        let sums = layers.iter().map(|(a, b)| (*a + x, *b * *a)).collect::<Vec<_>>();
        graph.program((layers.updated_by(next), x, [index]), (x.take(0, index), sums))
    })
    .unwrap()
}

fn bytes<I, O>(program: &Program<I, O>) -> Vec<u8> {
    let mut bytes = Vec::new();
    program.write(&mut bytes).unwrap();
    bytes
}

fn loaded<I: program::InputTypes, O: program::OutputTypes>(bytes: &[u8]) -> Result<Program<I, O>> {
    Program::from_file(&opened(bytes)?, Vec::new())
}

fn refusal<I: program::InputTypes, O: program::OutputTypes>(bytes: &[u8]) -> String {
    let error = loaded::<I, O>(bytes).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    error.message().to_owned()
}

/// The bits of a run.
fn ran(step: &Step) -> (Vec<f32>, Vec<f32>) {
    let layer = |value| (Tensor::full(2, value).unwrap(), Tensor::full(1, value).unwrap());
    let mut layers = vec![layer(1.0_f32), layer(3.0)];
    let (taken, sums) = step.run((&mut layers, &[5.0, 7.0], [&[1, 0]])).unwrap();
    let elements = [taken.to_vec(), sums[1].0.to_vec(), sums[1].1.to_vec()].concat();
    (elements, layers[1].0.to_vec())
}

#[test]
fn names_and_lengths_come_back() {
    let (step, file) = (step(), bytes(&step()));
    let again: Step = loaded(&file).unwrap();
    let names = ["0.0.0", "0.0.1", "0.1.0", "0.1.1", "x", "2.0"];
    assert_eq!(step.input_names(), names);
    assert_eq!(again.input_names(), names);
    assert_eq!(again.output_names(), ["0", "1.0.0", "1.0.1", "1.1.0", "1.1.1"]);
    assert_eq!(ran(&again), ran(&step));
    assert_eq!(ran(&again), (vec![7.0, 5.0, 8.0, 10.0, 9.0, 9.0], vec![1.5, 1.5]));
    assert!(bytes(&again) == file);
    // A file that is listed and written again keeps them.
    let mut listed = Vec::new();
    opened(&file).unwrap().record().unwrap().save(&mut listed).unwrap();
    assert!(listed == file);
    // Messages have them.
    let mut layers = vec![([1.0_f32; 2], [1.0_f32]); 2];
    let error = again.run((&mut layers, &[5.0], [&[1, 0]])).unwrap_err();
    assert_eq!(error.message(), "input x: shape[0] is 1 but must be 2; its shape is [1]");
}

#[test]
fn version_4_is_read_and_written_for_ever() {
    assert_golden(4, &bytes(&step()));
    let read: Step = Program::load(golden(4), Vec::new()).unwrap();
    assert_eq!(ran(&read), ran(&step()));
}

#[test]
fn forms_that_a_file_has_not() {
    let file = bytes(&step());
    type Outputs = (f32, Layers<f32>);
    let why = refusal::<(Layers<Updated<f32>>, f32, i64), Outputs>(&file);
    assert_eq!(why, "inputs[5] is named 2.0 in the file but 2 in the program's type");
    let why = refusal::<(Vec<Updated<f32>>, f32, [i64; 1]), Outputs>(&file);
    assert_eq!(why, "inputs[0] is named 0.0.0 in the file but 0.0 in the program's type");
    let why = refusal::<(Layers<Updated<f32>>, f32, [i64; 2]), Outputs>(&file);
    assert_eq!(why, "the file has 6 inputs but the program's type has 7");
    let why = refusal::<(Layers<Updated<f32>>, f64, [i64; 1]), Outputs>(&file);
    assert_eq!(why, "input x is f32 of shape [2] in the file but f64 in the program's type");
    let why = refusal::<(Vec<(Updated<f32>, f32)>, f32, [i64; 1]), Outputs>(&file);
    let expected =
        "input 0.0.1 is Updated<f32> of shape [1] in the file but f32 in the program's type";
    assert_eq!(why, expected);
    type Inputs = (Layers<Updated<f32>>, f32, [i64; 1]);
    let why = refusal::<Inputs, (f32, Vec<f32>)>(&file);
    assert_eq!(why, "outputs[1] is named 1.0.0 in the file but 1.0 in the program's type");
    // Tuples and arrays have numbers too.
    assert!(loaded::<Inputs, (f32, [Vec<f32>; 2])>(&file).is_ok());
}

#[test]
fn files_without_names() {
    // Names that are numbers are not written, so that older readers know the file.
    let flat = Program::trace(|graph| {
        let list = vec![graph.input::<f32>([2]), graph.input::<f32>([2])];
        graph.program(list.clone(), list[0] + list[1])
    });
    let file = bytes(&flat.unwrap());
    assert_eq!(file[8], 1);
    for count in [
        loaded::<Vec<f32>, f32>(&file).unwrap().input_names().len(),
        loaded::<(f32, f32), Vec<f32>>(&file).unwrap().input_names().len(),
        loaded::<[f32; 2], (f32,)>(&file).unwrap().input_names().len(),
    ] {
        assert_eq!(count, 2);
    }
    let why = refusal::<(f32, Vec<f32>), f32>(&file);
    assert_eq!(why, "the file has 2 inputs but the program's type has 1");
    let why = refusal::<f32, f32>(&file);
    assert_eq!(why, "the file has 2 inputs but the program's type has 1");

    // A name that is given stands for the number of a tuple.
    let named = Program::trace(|graph| {
        let (x, y) = (graph.input_named::<f32>("x", [2]), graph.input_named::<f32>("y", [2]));
        graph.program((x, y), x + y)
    });
    let file = bytes(&named.unwrap());
    assert_eq!(file[8], 4);
    assert_eq!(loaded::<(f32, f32), f32>(&file).unwrap().input_names(), ["x", "y"]);
    assert!(loaded::<[f32; 2], f32>(&file).is_ok());
    assert_eq!(
        refusal::<Vec<f32>, f32>(&file),
        "the file has 2 inputs but the program's type has 0"
    );
}

/// A file of this graph, without constants.
fn file_of(version: u8, graph: &[u8]) -> Vec<u8> {
    let mut file = bytes(&step());
    file.truncate(64);
    file[8] = version;
    file[24..32].copy_from_slice(&(graph.len() as u64).to_le_bytes());
    [&file, graph].concat()
}

#[test]
fn hostile_names() {
    // An f32 of rank 0 with a name.
    let input = |name: &str| {
        let dtype = [0x08, 0x82, 0x80, 0x04];
        let name = [&[0x1a, name.len() as u8], name.as_bytes()].concat();
        let input = [&dtype[..], &name].concat();
        let value = [&[0x0a, input.len() as u8], &input[..]].concat();
        [&[0x1a, value.len() as u8], &value[..]].concat()
    };
    let read = |version, graph: &[u8]| ProgramFile::new(file_of(version, graph));
    let twice = [input("x"), input("x")].concat();
    let error = read(4, &twice).err().unwrap();
    assert_eq!(error.error().message(), "the name 'x' of an input stands twice");
    let error = read(4, &[input("1"), input("")].concat()).err().unwrap();
    // A field that is given as nothing is not written back.
    assert_eq!(error.error().kind(), ErrorKind::Unsupported);
    let error = read(1, &input("x")).err().unwrap();
    assert!(error.error().message().contains("its subgraphs or names are of another"), "{error:?}");
    let inner = [&[0x2a, input("x").len() as u8], &input("x")[..]].concat();
    let error = read(2, &inner).err().unwrap();
    assert_eq!(error.error().message(), "subgraphs[0]: it names inputs or outputs");
    // The largest number of an element, which no `Vec` has.
    for name in [
        "18446744073709551615.0",
        "65536.4294967295",
        "0.99999999999999999999",
        "00.0",
        "+0.0",
        "0.",
    ] {
        let file = file_of(4, &input(name));
        let load = || Program::<Vec<Vec<Vec<f32>>>, ()>::from_file(&opened(&file)?, Vec::new());
        assert!(load().is_err(), "{name}");
    }
    let file = file_of(4, &input("65535.65535"));
    assert!(Program::<Vec<Vec<f32>>, ()>::from_file(&opened(&file).unwrap(), Vec::new()).is_err());
}
