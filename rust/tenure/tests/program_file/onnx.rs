//! ONNX models: their results, and a message for each invalid one.

use std::sync::Arc;

use super::models::{
    FLOAT, Graph, INT64, Message, floats, header, int_of, ints, node, perceptron, port,
};
use tenure::onnx::{Dimension, Model, Settings};
use tenure::{DynTensor, DynView, ErrorKind, Result, Tensor};

const INT8: i64 = 3;

fn run(model: Vec<u8>, settings: &Settings, inputs: &[DynView<'_>]) -> Result<Vec<DynTensor>> {
    Model::from_bytes(model)?.program(settings)?.run_dyn(inputs, &mut [])
}

/// The error of a model that is refused, at once or when a program is made of it.
fn refused(model: Vec<u8>) -> tenure::Error {
    let settings = Settings::new().extent("batch", 2);
    let made = Model::from_bytes(model).and_then(|model| model.program(&settings));
    made.expect_err("it is no model")
}

fn assert_refused(graph: &Graph, message: &str) {
    let error = refused(graph.model(17));
    assert!(error.message().contains(message), "{error}");
}

#[test]
fn a_perceptron_runs_with_any_number_of_rows() {
    let model = Model::from_bytes(perceptron().model(17)).unwrap();
    assert_eq!(model.inputs()[0].to_string(), "x: f32 [batch, 2]");
    assert_eq!(model.outputs()[0].dimensions()[1], Dimension::Known(1));
    assert_eq!((model.version(), model.node_count()), (17, 7));
    assert!(model.unsupported().is_empty());

    let program = model.program(&Settings::new().extent_up_to("batch", 8)).unwrap();
    assert_eq!(program.input_names(), ["x"]);
    assert_eq!(program.output_names(), ["y"]);
    for rows in [1, 3] {
        let x = Tensor::<f32>::full([rows, 2], 1.0).unwrap();
        let outputs = program.run_dyn(&[(&x).into()], &mut []).unwrap();
        assert_eq!(outputs[0].shape(), [rows, 1, 3]);
        // relu([3.5, 0, -0.5]) has one number above 0.
        let sum = 3.5_f32.exp() + 2.0;
        let y = outputs[0].view().downcast::<f32>().unwrap();
        assert!((y[[rows - 1, 0, 0]] - 3.5_f32.exp() / sum).abs() < 1e-6);
        assert!((y[[0, 0, 2]] - 1.0 / sum).abs() < 1e-6);
    }
    let x = Tensor::<f32>::zeros([9, 2]).unwrap();
    let error = program.run_dyn(&[(&x).into()], &mut []).unwrap_err();
    assert!(error.message().starts_with("input x"), "{error}");
}

#[test]
fn a_program_of_a_model_is_saved_as_others_are() {
    let model = Model::from_bytes(perceptron().model(17)).unwrap();
    let program = model.program(&Settings::new().extent_up_to("batch", 8)).unwrap();
    let mut file = Vec::new();
    program.write(&mut file).unwrap();
    let file = super::opened(&file).unwrap();
    assert_eq!(file.names(), [vec!["x"], vec!["y"]]);
}

/// `y = Gather(table, i)`.
fn lookup() -> Graph {
    Graph {
        nodes: vec![node("Gather", &["table", "i"], &["y"], &[])],
        constants: vec![floats("table", &[3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])],
        inputs: vec![port("i", INT64, &["2"])],
        outputs: vec![port("y", FLOAT, &["2", "2"])],
    }
}

#[test]
fn indices_count_from_the_end_and_are_checked_by_a_run() {
    let run_with = |indices: [i64; 2]| {
        let indices = Tensor::from(indices);
        run(lookup().model(17), &Settings::new(), &[(&indices).into()])
    };
    let outputs = run_with([-1, 0]).unwrap();
    let y = outputs[0].view().downcast::<f32>().unwrap();
    assert_eq!(y.to_vec(), [4.0, 5.0, 0.0, 1.0]);
    let error = run_with([0, 3]).unwrap_err();
    assert!(error.message().starts_with("node 'the Gather' (Gather): "), "{error}");
}

/// A product of integers, as models write it: dynamic, with sums that are scaled, or of floats.
fn products_of_integers() -> [Graph; 2] {
    let bytes: Vec<u8> = [1_i8, -2, 3, -4, 5, -6].iter().map(|byte| *byte as u8).collect();
    let constants = vec![
        header("w", INT8, &[2, 3]).bytes(9, &bytes),
        floats("w_scale", &[3], &[0.5, 0.25, 1.0]),
    ];
    let inputs = vec![port("x", FLOAT, &["2", "2"])];
    let outputs = vec![port("y", FLOAT, &["2", "3"])];
    let quantize = node("DynamicQuantizeLinear", &["x"], &["a", "scale", "zero"], &[]);
    let sums = vec![
        quantize.clone(),
        node("MatMulInteger", &["a", "w", "zero"], &["sums"], &[]),
        node("Cast", &["sums"], &["numbers"], &[int_of("to", FLOAT)]),
        node("Mul", &["scale", "w_scale"], &["scales"], &[]),
        node("Mul", &["numbers", "scales"], &["y"], &[]),
    ];
    let floats = vec![
        quantize,
        node("DequantizeLinear", &["a", "scale", "zero"], &["left"], &[]),
        node("DequantizeLinear", &["w", "w_scale"], &["right"], &[int_of("axis", 1)]),
        node("MatMul", &["left", "right"], &["y"], &[]),
    ];
    [sums, floats].map(|nodes| Graph {
        nodes,
        constants: constants.clone(),
        inputs: inputs.clone(),
        outputs: outputs.clone(),
    })
}

#[test]
fn products_of_integers_are_one_step() {
    for graph in products_of_integers() {
        let program = Model::from_bytes(graph.model(17)).unwrap();
        let program = program.program(&Settings::new()).unwrap();
        let x = Tensor::from([[255.0_f32, 1.0], [2.0, 0.0]]);
        let report = program.report_dyn(&[(&x).into()], &mut []).unwrap();
        let steps: Vec<&str> = report.steps.iter().map(|step| step.name.as_str()).collect();
        let products = steps.iter().filter(|name| name.contains("matmul")).count();
        assert_eq!(products, 1, "{steps:?}");
        assert!(steps.iter().any(|name| name.contains("quantized_matmul")), "{steps:?}");

        // The range is 0 to 255: its integers are the numbers.
        let outputs = program.run_dyn(&[(&x).into()], &mut []).unwrap();
        let y = outputs[0].view().downcast::<f32>().unwrap();
        assert_eq!(y.to_vec(), [125.5, -126.25, 759.0, 1.0, -1.0, 6.0]);
    }
}

#[test]
fn a_convolution_of_integers_gives_integers_in_one_step() {
    let signed = |name: &str, dims: &[i64], bytes: &[i8]| {
        let bytes: Vec<u8> = bytes.iter().map(|byte| *byte as u8).collect();
        header(name, INT8, dims).bytes(9, &bytes)
    };
    let graph = Graph {
        nodes: vec![
            node("DequantizeLinear", &["x", "x_scale", "x_zero"], &["left"], &[]),
            node("DequantizeLinear", &["w", "w_scale"], &["right"], &[int_of("axis", 0)]),
            node("Conv", &["left", "right", "bias"], &["sum"], &[]),
            node("Relu", &["sum"], &["high"], &[]),
            node("QuantizeLinear", &["high", "y_scale", "y_zero"], &["y"], &[]),
        ],
        constants: vec![
            signed("w", &[2, 2, 1, 1], &[2, -1, -3, 1]),
            floats("w_scale", &[2], &[1.0, 0.5]),
            floats("x_scale", &[], &[0.5]),
            signed("x_zero", &[], &[1]),
            floats("y_scale", &[], &[0.25]),
            signed("y_zero", &[], &[10]),
            floats("bias", &[2], &[1.0, 0.5]),
        ],
        inputs: vec![port("x", INT8, &["1", "2", "1", "1"])],
        outputs: vec![port("y", INT8, &["1", "2", "1", "1"])],
    };
    let program = Model::from_bytes(graph.model(17)).unwrap();
    let program = program.program(&Settings::new()).unwrap();
    let x = Tensor::from([[[[3_i8]], [[4]]]]);
    let report = program.report_dyn(&[(&x).into()], &mut []).unwrap();
    let steps: Vec<&str> = report.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["quantized_conv2d"]);
    // 1.5 and -0.25, which the rectifier makes 0.
    let outputs = program.run_dyn(&[(&x).into()], &mut []).unwrap();
    assert_eq!(outputs[0].view().downcast::<i8>().unwrap().to_vec(), [16, 10]);
}

#[test]
fn an_input_may_be_a_constant() {
    let indices = Tensor::from([2_i64, 2]);
    let settings = Settings::new().constant("i", &indices);
    let outputs = run(lookup().model(17), &settings, &[]).unwrap();
    let y = outputs[0].view().downcast::<f32>().unwrap();
    assert_eq!(y.to_vec(), [4.0, 5.0, 4.0, 5.0]);

    let wrong = Tensor::from([2_i32, 2]);
    let model = Model::from_bytes(lookup().model(17)).unwrap();
    let error = model.program(&Settings::new().constant("i", &wrong)).unwrap_err();
    assert_eq!(error.message(), "input i: the constant is i32 but must be i64");
    let error = model.program(&Settings::new().constant("j", &wrong)).unwrap_err();
    assert_eq!(error.message(), "the model has no input named j");
}

/// Bytes at a multiple of 8, and a count of their holders.
struct Counted {
    words: Vec<u64>,
    len: usize,
    _holder: Arc<()>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
}

#[test]
fn constants_are_lent_by_the_model_where_they_are_aligned() {
    let is_lent = |more: usize| {
        let mut graph = lookup();
        // A text of this length precedes the constants.
        graph.nodes[0] = graph.nodes[0].clone().texts(6, &[&"    "[..more]]);
        let bytes = graph.model(17);
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
        let holder = Arc::new(());
        let owner = Counted { words, len: bytes.len(), _holder: Arc::clone(&holder) };
        let model = Model::from_bytes(owner).unwrap();
        let program = model.program(&Settings::new()).unwrap();
        drop(model);
        let is_held = Arc::strong_count(&holder) > 1;
        let indices = Tensor::from([1_i64, 0]);
        let outputs = program.run_dyn(&[(&indices).into()], &mut []).unwrap();
        let y = outputs[0].view().downcast::<f32>().unwrap();
        assert_eq!(y.to_vec(), [2.0, 3.0, 0.0, 1.0]);
        drop(program);
        assert_eq!(Arc::strong_count(&holder), 1);
        is_held
    };
    // One of four adjacent addresses is aligned for f32.
    assert_eq!((0..4).filter(|more| is_lent(*more)).count(), 1);
}

#[test]
fn operators_of_the_documentation_are_supported() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/onnx.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split("## ").find(|part| part.starts_with("Operators")).unwrap();
    let cells = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").nth(1));
    let names: Vec<&str> = cells.flat_map(|cell| cell.trim_end_matches(" |").split(", ")).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.contains('-')).collect();
    assert_eq!(names.len(), 136);
    let nodes = names.iter().map(|name| node(name, &["x"], &[], &[])).collect();
    let graph = Graph { nodes, inputs: vec![port("x", FLOAT, &[])], ..Graph::default() };
    let unsupported = Model::from_bytes(graph.model(28)).unwrap().unsupported();
    assert_eq!(unsupported, []);
}

// ---- refusals ----

#[test]
fn extents_without_a_bound_are_named() {
    let model = Model::from_bytes(perceptron().model(17)).unwrap();
    let error = model.program(&Settings::new()).unwrap_err();
    assert_eq!(
        error.message(),
        "extents without a bound: batch; Settings::extent(\"batch\", n) fixes one, and \
         Settings::extent_up_to(\"batch\", n) leaves it to each run"
    );
    let error = model.program(&Settings::new().extent("rows", 1)).unwrap_err();
    assert_eq!(error.message(), "the model has no open extent named rows");
}

#[test]
fn unsupported_operators_are_listed_at_once() {
    let mut graph = perceptron();
    graph.nodes.push(node("Det", &["x"], &["d"], &[]));
    graph.nodes.push(node("Fused", &["x"], &["e"], &[]).texts(7, &["com.example"]));
    let model = Model::from_bytes(graph.model(17)).unwrap();
    let names: Vec<_> = model.unsupported().iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        ["Det (ai.onnx 17) of node the Det", "Fused (com.example 0) of node the Fused"]
    );
    let error = model.program(&Settings::new().extent("batch", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().ends_with(&names.join(", ")), "{error}");
}

#[test]
fn versions_of_the_operators() {
    for (version, why) in [(6, "older"), (29, "newer"), (i64::MAX, "newer"), (-1, "older")] {
        let error = refused(perceptron().model(version));
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let expected = format!(
            "the model has version {version} of ONNX's operators, which is {why} than those that \
             are read, 7 to 28"
        );
        assert_eq!(error.message(), expected);
    }
    let error = refused(Message::default().int(1, 8).0);
    assert!(error.message().contains("does not say which version"), "{error}");
}

#[test]
fn names_and_the_order_of_nodes() {
    let mut cycle = perceptron();
    cycle.nodes.swap(0, 1);
    assert_refused(
        &cycle,
        "node 'the Relu' (Relu) reads h, which a later node gives, node 'the Gemm'",
    );
    let mut itself = perceptron();
    itself.nodes[0] = node("Add", &["x", "h"], &["h"], &[]);
    assert_refused(&itself, "reads h, which a later node gives");
    let mut missing = perceptron();
    missing.nodes[0] = node("Gemm", &["x", "v", "b"], &["h"], &[]);
    assert_refused(&missing, "reads v, which nothing gives");
    let mut twice = perceptron();
    twice.nodes.push(node("Relu", &["h"], &["r"], &[]));
    assert_refused(&twice, "two parts of the model give the value r");
    let mut constants = perceptron();
    constants.constants.push(floats("w", &[], &[0.0]));
    assert_refused(&constants, "two parts of the model give the value w");
    let mut output = perceptron();
    output.outputs = vec![port("z", FLOAT, &[])];
    assert_refused(&output, "output z: no node gives it");
}

#[test]
fn tensors_whose_bytes_are_not_those_of_their_shapes() {
    let with = |constant: Message| {
        let mut graph = perceptron();
        graph.constants[0] = constant;
        graph
    };
    let raw = |dims: &[i64], bytes: &[u8]| header("w", FLOAT, dims).bytes(9, bytes);
    let refusal = "initializer w: it has 20 bytes, which is not f32 of shape [2, 3]";
    assert_refused(&with(raw(&[2, 3], &[0; 20])), refusal);
    assert_refused(&with(raw(&[-2, 3], &[0; 24])), "initializer w: it has an extent of -2");
    assert_refused(&with(raw(&[1 << 40, 1 << 40], &[0; 24])), "is larger than memory");
    assert_refused(&with(raw(&[i64::MAX], &[0; 24])), "is larger than memory");
    assert_refused(&with(raw(&[1 << 40], &[0; 24])), "it has 24 bytes");
    assert_refused(&with(raw(&[1; 9], &[0; 4])), "it has rank 9 but the most is 8");
    assert_refused(&with(header("w", FLOAT, &[2, 3])), "it has 0 bytes");
    assert_refused(&with(header("w", 8, &[1])), "elements of the type STRING are not supported");
    assert_refused(&with(header("w", 99, &[1])), "elements of the type 99 are not supported");
    assert_refused(&with(ints("w", &[2, 3], &[0; 6])), "(operands: f32 [2, 2], i64 [2, 3])");
}

#[test]
fn numbers_that_no_shape_has() {
    let with = |rest: &[i64]| {
        let mut graph = perceptron();
        graph.constants[3] = ints("rest", &[rest.len() as i64], rest);
        graph
    };
    assert_refused(&with(&[-1, -1]), "node 'the Reshape' (Reshape): two extents are -1");
    assert_refused(&with(&[-7, 1]), "an extent is -7");
    assert_refused(&with(&[i64::MAX, i64::MAX, -1]), "is no 64-bit integer");
    assert_refused(&with(&[0, 0, 0, 0]), "extent 2 is 0, which the input lacks");
    assert_refused(&with(&[1 << 40]), "the Reshape");

    // A constant of more elements than memory has is not made while the model is read.
    let mut huge = perceptron();
    huge.nodes.push(node("ConstantOfShape", &["huge"], &["z"], &[]));
    huge.constants.push(ints("huge", &[2], &[1 << 30, 1 << 20]));
    huge.outputs.push(port("z", FLOAT, &[]));
    let model = Model::from_bytes(huge.model(17)).unwrap();
    let program = model.program(&Settings::new().extent("batch", 1)).unwrap();
    let x = Tensor::<f32>::zeros([1, 2]).unwrap();
    let error = program.run_dyn(&[(&x).into()], &mut []).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
}

#[test]
fn attributes_and_axes() {
    let with = |attribute: Message| {
        let mut graph = perceptron();
        graph.nodes[6] = node("Softmax", &["s"], &["y"], &[attribute]);
        graph
    };
    for axis in [3, -4, i64::MAX, i64::MIN] {
        let message = format!("an axis is {axis} but the rank is 3");
        assert_refused(&with(int_of("axis", axis)), &message);
    }
}

#[test]
fn files_next_to_a_model() {
    let folder = std::env::temp_dir().join(format!("tenure-onnx-{}", std::process::id()));
    let inner = folder.join("model");
    std::fs::create_dir_all(&inner).unwrap();
    let raw: Vec<u8> =
        [1.0_f32, -1.0, 0.5, 2.0, 1.0, -0.5].iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(inner.join("w.bin"), [&[0; 64], &raw[..]].concat()).unwrap();
    std::fs::write(folder.join("secret.bin"), [0; 88]).unwrap();
    let with = |entries: &[(&str, &str)]| {
        let entry =
            |(key, value): &(&str, &str)| Message::default().texts(1, &[key]).texts(2, &[value]);
        let entries: Vec<Message> = entries.iter().map(entry).collect();
        let mut graph = perceptron();
        graph.constants[0] = header("w", FLOAT, &[2, 3]).parts(13, &entries).int(14, 1);
        std::fs::write(inner.join("m.onnx"), graph.model(17)).unwrap();
        Model::open(inner.join("m.onnx")).unwrap().program(&Settings::new().extent("batch", 1))
    };
    let program = with(&[("location", "w.bin"), ("offset", "64"), ("length", "24")]).unwrap();
    let x = Tensor::<f32>::full([1, 2], 1.0).unwrap();
    let outputs = program.run_dyn(&[(&x).into()], &mut []).unwrap();
    let expected = 3.5_f32.exp() / (3.5_f32.exp() + 2.0);
    let y = outputs[0].view().downcast::<f32>().unwrap();
    assert!((y[[0, 0, 0]] - expected).abs() < 1e-6);

    let absolute = folder.join("secret.bin");
    let outside = "is outside of the model's folder";
    let cases = [
        (vec![("location", "../secret.bin"), ("offset", "64")], outside),
        (vec![("location", absolute.to_str().unwrap()), ("offset", "64")], outside),
        (vec![("location", "w.bin"), ("offset", "65")], "which is not f32 of shape [2, 3]"),
        (
            vec![("location", "w.bin"), ("offset", "64"), ("length", "25")],
            "25 bytes from 64 on, but w.bin has 88",
        ),
        (
            vec![("location", "w.bin"), ("offset", "18446744073709551615"), ("length", "24")],
            "but w.bin has 88",
        ),
        (vec![("location", "w.bin"), ("offset", "-1")], "its offset is -1, which is no number"),
        (vec![("location", "")], "it is no file"),
        (vec![], "its file has no name"),
    ];
    for (entries, message) in cases {
        let error = with(&entries).unwrap_err();
        assert!(error.message().contains(message), "{error}");
    }
    assert_eq!(with(&[("location", "no.bin")]).unwrap_err().kind(), ErrorKind::Io);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&absolute, inner.join("link.bin")).unwrap();
        std::os::unix::fs::symlink(&folder, inner.join("up")).unwrap();
        for name in ["link.bin", "up/secret.bin"] {
            let error = with(&[("location", name), ("offset", "64")]).unwrap_err();
            assert!(error.message().contains("is a link"), "{error}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();

    // A model in memory has no folder.
    let mut graph = perceptron();
    let entry = Message::default().texts(1, &["location"]).texts(2, &["w.bin"]);
    graph.constants[0] = header("w", FLOAT, &[2, 3]).parts(13, &[entry]).int(14, 1);
    assert_refused(&graph, "is next to the model, which was no file");
}

#[test]
fn parts_are_counted_before_memory_is_taken_for_them() {
    // An empty node takes two bytes.
    let graph = [0x0a, 0].repeat(1 << 20);
    let error = refused(Message::default().bytes(7, &graph).0);
    assert_eq!(error.message(), "the model has more than 524288 parts");
}

#[test]
fn cut_anywhere_and_a_bit_anywhere() {
    let file = perceptron().model(17);
    let settings = Settings::new().extent("batch", 2);
    let x = Tensor::<f32>::full([2, 2], 1.0).unwrap();
    // Whatever it computes, it neither panics nor takes memory without bound.
    let try_one = |bytes: Vec<u8>| -> Result<()> {
        let model = Model::from_bytes(bytes)?;
        model.unsupported();
        model.program(&settings)?.run_dyn(&[(&x).into()], &mut []).map(drop)
    };
    let cut = (0..file.len()).filter(|len| try_one(file[..*len].to_vec()).is_err()).count();
    assert_eq!(cut, file.len(), "no part of a model is a model");
    let mut refused = 0;
    for bit in 0..8 * file.len() {
        let mut changed = file.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        refused += usize::from(try_one(changed).is_err());
    }
    assert!(refused > 2 * file.len(), "{refused} of {} bits", 8 * file.len());
}
