//! ONNX models: one that is read can be listed, and made a program or refused.

use tenure::Passes;
use tenure::onnx::{Model, Settings};

use super::{fuzz, mutate};
use crate::models::{FLOAT, Graph, INT64, Message, floats, int_of, ints, node, perceptron, port};

/// Operators of many kinds, on constants and on extents of a run.
fn everything() -> Graph {
    let list = |name: &str, numbers: &[i64]| {
        let attribute = Message::default().texts(1, &[name]);
        numbers.iter().fold(attribute, |message, number| message.int(8, *number)).int(20, 7)
    };
    Graph {
        nodes: vec![
            node("Conv", &["x", "w"], &["c"], &[list("pads", &[1, 1, 1, 1])]),
            node(
                "MaxPool",
                &["c"],
                &["p"],
                &[list("kernel_shape", &[2, 2]), list("strides", &[2, 2])],
            ),
            node("GlobalAveragePool", &["p"], &["g"], &[]),
            node("Flatten", &["g"], &["f"], &[int_of("axis", 1)]),
            node("Slice", &["f", "from", "to", "axes"], &["s"], &[]),
            node("Split", &["f", "halves"], &["l", "r"], &[int_of("axis", 1)]),
            node("Concat", &["l", "r", "s"], &["j"], &[int_of("axis", 1)]),
            node("TopK", &["j", "k"], &["v", "i"], &[]),
            node("ReduceSum", &["v", "axes"], &["t"], &[int_of("keepdims", 0)]),
            node("Cast", &["i"], &["n"], &[int_of("to", 1)]),
            node("Pad", &["n", "sides"], &["q"], &[]),
            node("Shape", &["q"], &["shape"], &[]),
            node("Expand", &["half", "shape"], &["e"], &[]),
            node("Add", &["e", "q"], &["y"], &[]),
            node("QuantizeLinear", &["y", "half", "zero"], &["z"], &[]),
        ],
        constants: vec![
            floats("w", &[4, 1, 3, 3], &[0.25; 36]),
            floats("half", &[], &[0.5]),
            Message::default().int(2, 2).texts(8, &["zero"]).bytes(9, &[128]),
            ints("from", &[1], &[1]),
            ints("to", &[1], &[i64::MAX]),
            ints("axes", &[1], &[1]),
            ints("halves", &[2], &[2, 2]),
            ints("k", &[1], &[3]),
            ints("sides", &[4], &[0, 1, 0, 1]),
        ],
        inputs: vec![port("x", FLOAT, &["batch", "1", "6", "6"])],
        outputs: vec![port("t", FLOAT, &["batch"]), port("z", 2, &[]), port("i", INT64, &[])],
    }
}

/// Whether it was made a program. Nothing is run: a program may ask for any amount of work.
fn read(bytes: Vec<u8>) -> bool {
    let says_something = |error: &tenure::Error| assert!(error.message().len() > 8, "{error:?}");
    let Ok(model) = Model::from_bytes(bytes).inspect_err(says_something) else { return false };
    model.unsupported();
    let settings = Settings::new().extent_up_to("batch", 4).passes(Passes::NONE);
    model.program(&settings).inspect_err(says_something).is_ok()
}

#[test]
fn models() {
    let originals = [perceptron().model(17), everything().model(17)];
    assert!(originals.iter().all(|model| read(model.clone())));
    fuzz(3000, |random| {
        let mut model = random.pick(&originals).clone();
        mutate(&mut model, &originals, random);
        read(model);
    });
}
