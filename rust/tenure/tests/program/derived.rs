//! Structs that are trees, by `#[derive(Tree)]`.

use tenure::program::file::ProgramFile;
use tenure::train::{AdamW, Optimizer};
use tenure::tree::{InGraph, Shapes, Tensors, Types, UpdatedTypes, Views};
use tenure::*;

#[derive(Debug, Tree)]
struct Layer<L: Leaves> {
    weight: L::Of<f32>,
    /// One for each column.
    pub(crate) bias: <L as Leaves>::Of<f32>,
}

#[derive(Debug, Tree)]
struct Model<L: Leaves, const HEADS: usize> {
    layers: Vec<Layer<L>>,
    heads: [(Layer<L>, L::Of<f64>); HEADS],
    r#final: L::Of<f32>,
}

type Two<L> = Model<L, 2>;

type Floats<L> = Vec<<L as Leaves>::Of<f32>>;

/// Bounds and defaults of parameters.
#[derive(Debug, Tree)]
pub struct Pairs<L: Leaves + Copy = Types, const N: usize = 1> {
    /// Raw arrays of tuples.
    #[allow(dead_code, reason = "types have no values")]
    pub(in crate::derived) pairs: [(L::Of<i64>, Floats<L>); N],
}

fn layer(rows: usize, cols: usize, value: f32) -> Layer<Tensors> {
    Layer {
        weight: Tensor::full([rows, cols], value).unwrap(),
        bias: Tensor::full(cols, value).unwrap(),
    }
}

fn model(value: f32) -> Two<Tensors> {
    let head = |cols| (layer(4, cols, value), Tensor::full(1, f64::from(value)).unwrap());
    Model {
        layers: vec![layer(2, 3, value), layer(3, 4, value)],
        heads: [head(1), head(5)],
        r#final: Tensor::full(1, value).unwrap(),
    }
}

fn out<'g>(model: &Two<InGraph<'g>>, x: Traced<'g, f32>) -> Traced<'g, f32> {
    let layer = |x: Traced<'g, f32>, layer: &Layer<InGraph<'g>>| {
        (x.matmul(layer.weight) + layer.bias).tanh()
    };
    let x = model.layers.iter().fold(x, layer);
    let [a, b] =
        model.heads.each_ref().map(|(head, scale)| layer(x, head).sum(1) * scale.cast::<f32>());
    (a + b) * model.r#final
}

const NAMES: [&str; 11] = [
    "layers.0.weight",
    "layers.0.bias",
    "layers.1.weight",
    "layers.1.bias",
    "heads.0.0.weight",
    "heads.0.0.bias",
    "heads.0.1",
    "heads.1.0.weight",
    "heads.1.0.bias",
    "heads.1.1",
    "final",
];

/// A step of gradient descent. Each leaf of the model has its own element type, so that a tree of one
/// type is updated by parts.
fn step() -> Program<(Two<UpdatedTypes>, f32), (f32, Two<Types>)> {
    Program::trace(|graph| {
        let parameters = graph.inputs(&model(0.0));
        let x = graph.input_named::<f32>("x", (graph.extent("rows", 16), 2));
        let loss = (out(&parameters, x) - 0.25).square().mean(..);
        let gradients = graph.gradients(loss, &parameters);
        let [layers] =
            graph.map_trees([&parameters.layers, &gradients.layers], |[p, g]| [p - g * 0.1]);
        let heads = [0, 1].map(|nth| {
            let ((p, scale), (g, by_scale)) = (&parameters.heads[nth], &gradients.heads[nth]);
            let [head] = graph.map_trees([p, g], |[p, g]| [p - g * 0.1]);
            (head, *scale - *by_scale * 0.1)
        });
        let next = Model { layers, heads, r#final: parameters.r#final };
        graph.program((parameters.updated_by(next), x), (loss, gradients))
    })
    .unwrap()
}

#[test]
fn bounds_and_defaults() {
    let program: Program<Pairs, Pairs> = Program::trace(|graph| {
        let pairs = [(graph.input::<i64>([1]), vec![graph.input::<f32>([2]); 1])];
        let pairs = Pairs::<InGraph<'_>> { pairs };
        graph.program(&pairs, &pairs)
    })
    .unwrap();
    assert_eq!(program.input_names(), ["pairs.0.0", "pairs.0.1.0"]);
    let pairs = Pairs::<Tensors> { pairs: [(Tensor::from([3]), vec![Tensor::from([1.0, 2.0])])] };
    assert_eq!(program.run(&pairs).unwrap().pairs[0].1[0], [1.0, 2.0]);
}

#[test]
fn a_model_is_lent_as_a_whole() {
    let step = step();
    let names: Vec<_> = NAMES.iter().map(|name| format!("0.{name}")).collect();
    assert_eq!(
        (&step.input_names()[..11], &step.input_names()[11..]),
        (&names[..], &["x".into()][..])
    );
    let names: Vec<_> = NAMES.iter().map(|name| format!("1.{name}")).collect();
    assert_eq!(step.output_names()[1..], names);
    let (mut parameters, x) = (model(0.5), [[1.0_f32, -0.5], [0.25, 2.0]]);
    let (first, gradients) = step.run((&mut parameters, &x)).unwrap();
    assert_eq!(gradients.layers[1].weight.shape(), [3, 4]);
    assert_eq!(gradients.heads[0].1.dtype(), DType::F64);
    let moved = parameters.layers[0].bias[[0]];
    assert_eq!(moved, 0.5 - gradients.layers[0].bias[[0]] * 0.1);
    let (mut loss, mut gradients) = (first.try_clone().unwrap(), gradients);
    for _ in 0..20 {
        step.run_into((&mut parameters, &x), (&mut loss, &mut gradients)).unwrap();
    }
    assert!(loss.item() < first.item());

    parameters.layers[1].bias = Tensor::zeros(9).unwrap();
    let error = step.run((&mut parameters, &x)).unwrap_err();
    let why = "input 0.layers.1.bias: shape[0] is 9 but must be 4; its shape is [9]";
    assert_eq!(error.message(), why);
}

#[test]
fn a_model_is_read() {
    let scores: Program<(Two<Types>, f32), f32> = Program::trace(|graph| {
        let shape = |rows: usize, cols: usize| Layer::<Shapes> {
            weight: [rows, cols].into(),
            bias: [cols].into(),
        };
        let parameters = graph.inputs(&Model::<Shapes, 2> {
            layers: vec![shape(2, 3), shape(3, 4)],
            heads: [1, 5].map(|cols| (shape(4, cols), [1].into())),
            r#final: [1].into(),
        });
        let x = graph.input::<f32>([1, 2]);
        graph.program((&parameters, x), out(&parameters, x))
    })
    .unwrap();
    let (mut parameters, x) = (model(0.5), [[1.0_f32, -0.5]]);
    let read = scores.run((&parameters, &x)).unwrap();
    // Exclusively too, and by views.
    assert_eq!(scores.run((&mut parameters, &x)).unwrap(), read);
    fn viewed(layer: &Layer<Tensors>) -> Layer<Views<'_>> {
        Layer { weight: layer.weight.view(), bias: layer.bias.view() }
    }
    let views: Model<Views<'_>, 2> = Model {
        layers: parameters.layers.iter().map(viewed).collect(),
        heads: parameters.heads.each_ref().map(|(head, scale)| (viewed(head), scale.view())),
        r#final: parameters.r#final.view(),
    };
    assert_eq!(scores.run((&views, &x)).unwrap(), read);
    let bound = scores.bind((&parameters, &x), &mut [0.0]).unwrap();
    let mut out = [0.0];
    bound.run((&parameters, &x), &mut out).unwrap();
    assert_eq!(read, out);
}

#[test]
fn a_file_has_the_names() {
    let mut bytes = Vec::new();
    step().write(&mut bytes).unwrap();
    assert_eq!(bytes[8], 4, "the version");
    let len = bytes.len();
    let file = ProgramFile::new(Tensor::from_vec(bytes, len).unwrap()).unwrap();
    type Step = Program<(Two<UpdatedTypes>, f32), (f32, Two<Types>)>;
    let loaded = Step::from_file(&file, Vec::new()).unwrap();
    assert_eq!(loaded.input_names(), step().input_names());
    let x = [[1.0_f32, -0.5], [0.25, 2.0]];
    let [a, b] = [loaded, step()].map(|step| {
        let mut parameters = model(0.5);
        let (loss, gradients) = step.run((&mut parameters, &x)).unwrap();
        let [_, (head, _)] = gradients.heads;
        (loss, head.weight, parameters.layers.remove(1).bias)
    });
    assert_eq!(a, b);

    #[derive(Tree)]
    struct Other<L: Leaves> {
        stages: Vec<L::Of<f32>>,
    }
    type Wrong = Program<(Two<UpdatedTypes>, f32), (f32, Other<Types>)>;
    let error = Wrong::from_file(&file, Vec::new()).err().unwrap();
    assert_eq!(error.message(), "the file has 12 outputs but the program's type has 1");
    #[derive(Debug, Tree)]
    struct Renamed<L: Leaves> {
        layers: Vec<Weight<L>>,
    }
    #[derive(Debug, Tree)]
    struct Weight<L: Leaves> {
        weights: L::Of<f32>,
    }
    type Differs = Program<(Renamed<UpdatedTypes>, f32), f32>;
    let error = Differs::from_file(&file, Vec::new()).err().unwrap();
    assert_eq!(
        error.message(),
        "inputs[0] is named 0.layers.0.weight in the file but 0.layers.0.weights in the program's \
         type"
    );
}

/// A step of a struct has the bits of the same step of its leaves.
#[test]
fn optimizers_step_structs() -> Result<()> {
    let before = || layer(3, 4, 0.5);
    let gradient = layer(3, 4, 0.25);
    let rule = AdamW::new().weight_decay(0.1);

    let of_struct = Program::trace(|graph| {
        let (gradient, weights) = (graph.inputs(&gradient), graph.inputs(&before()));
        let moments = [graph.inputs(&before()), graph.inputs(&before())];
        let states = (moments, graph.input::<f32>([1]));
        let gradients = graph.leaves(&gradient);
        let (next, states) = rule.step_tree(0.1, weights, &gradients, states);
        graph.program((gradient, next, states), ())
    })?;
    let mut weights = before();
    let mut states = ([layer(3, 4, 0.0), layer(3, 4, 0.125)], Tensor::<f32>::zeros(1)?);
    for _ in 0..3 {
        of_struct.run((&gradient, &mut weights, &mut states))?;
    }

    let of_leaves = Program::trace(|graph| {
        let [g_weight, g_bias] = [graph.input::<f32>([3, 4]), graph.input(4)];
        let [weight, bias] = [graph.input::<f32>([3, 4]), graph.input(4)];
        let given = rule.states(graph, &[weight, bias]);
        let next = rule.step(0.1, &[weight, bias], &[g_weight, g_bias], &given);
        graph.program((g_weight, g_bias, next.parameters, next.states), ())
    })?;
    let Layer { weight, bias } = before();
    let mut leaves = vec![weight, bias];
    let full = |shape: &[usize], value| Tensor::<f32>::full(shape, value);
    let mut leaf_states = vec![
        full(&[3, 4], 0.0)?,
        full(&[3, 4], 0.125)?,
        full(&[4], 0.0)?,
        full(&[4], 0.125)?,
        full(&[1], 0.0)?,
    ];
    for _ in 0..3 {
        of_leaves.run((&gradient.weight, &gradient.bias, &mut leaves, &mut leaf_states))?;
    }

    let ([m, v], count) = &states;
    assert_eq!([&weights.weight, &weights.bias], [&leaves[0], &leaves[1]]);
    assert_ne!(weights.weight, before().weight);
    let of_struct = [&m.weight, &v.weight, &m.bias, &v.bias, count];
    assert_eq!(of_struct.as_slice(), leaf_states.iter().collect::<Vec<_>>());
    Ok(())
}

/// A tree of states that is not one of the rule is refused, with both numbers.
#[test]
fn optimizers_refuse_other_trees_of_states() -> Result<()> {
    let like = layer(3, 4, 0.5);
    let refused = Program::trace(|graph| {
        let (weights, moments) = (graph.inputs(&like), graph.inputs(&like));
        let gradients = graph.leaves(&weights);
        let states = ([moments], graph.input::<f32>([1]));
        let (next, states) = AdamW::new().step_tree(0.1, weights, &gradients, states);
        graph.program((next, states), ())
    });
    let message = refused.expect_err("one of two states is missing").to_string();
    assert!(message.contains("3 states but the rule has 5"), "{message}");
    Ok(())
}
