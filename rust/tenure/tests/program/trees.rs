//! Inputs and outputs that are trees: nested tuples, arrays and `Vec`s.

use tenure::program::Updated;
use tenure::*;

type Layer = (Tensor<f32>, Tensor<f32>);

fn layer(rows: usize, cols: usize, value: f32) -> Layer {
    (Tensor::full([rows, cols], value).unwrap(), Tensor::full(cols, value).unwrap())
}

/// `value` of each element of two layers.
fn layers(value: f32) -> Vec<Layer> {
    vec![layer(2, 3, value), layer(3, 1, value)]
}

type Layers<T> = Vec<(T, T)>;

#[test]
fn inputs_nest() {
    type Inputs = (f32, Vec<Updated<f32>>, (f32, [i64; 2]));
    type Outputs = (f32, Vec<f32>, [(i64, f32); 1]);
    let program: Program<Inputs, Outputs> = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        let states = [(); 3].map(|()| graph.input::<f32>([2])).to_vec();
        let scale = graph.input::<f32>([1]);
        let [i, j] = [(); 2].map(|()| graph.input::<i64>([1]));
        let sums: Vec<_> = states.iter().map(|state| *state + x).collect();
        let [doubled] = graph.map_trees([&sums], |[sum]| [sum * 2.0]);
        let inputs = (x, states.updated_by(sums), (scale, [i, j]));
        graph.program(inputs, (x * scale, doubled, [(i + j, x)]))
    })
    .unwrap();
    assert_eq!(program.input_names(), ["0", "1.0", "1.1", "1.2", "2.0", "2.1.0", "2.1.1"]);
    assert_eq!(program.output_names(), ["0", "1.0", "1.1", "1.2", "2.0.0", "2.0.1"]);

    let mut states: Vec<Tensor<f32>> =
        (0..3).map(|value| Tensor::full(2, value as f32).unwrap()).collect();
    let (x, rest) = ([1.0_f32, -1.0], (Tensor::from([10.0_f32]), [[3_i64], [4]]));
    // A `Vec`, a slice, and views of parts.
    let (scaled, doubled, pairs) = program.run((&x, &mut states, &rest)).unwrap();
    assert_eq!((scaled, &pairs[0].0), (Tensor::from([10.0, -10.0]), &Tensor::from([7])));
    assert_eq!(doubled[2], [6.0, 2.0]);
    assert_eq!(states[2], [3.0, 1.0]);
    program.run((&x, &mut states[..], (&rest.0, [&rest.1[0], &rest.1[1]]))).unwrap();
    assert_eq!(states[2], [4.0, 0.0]);
    let [a, b, c] = &mut states[..] else { unreachable!() };
    program.run((&x, [&mut *a, &mut *b, &mut *c], &rest)).unwrap();
    program.run((&x, vec![a, b, c], &rest)).unwrap();
    assert_eq!(states[0], [4.0, -4.0]);

    // Into memory of the caller, of the same form.
    let (mut out, mut list) = ([0.0_f32; 2], vec![[0.0_f32; 2]; 3]);
    let (mut number, mut copy) = ([0_i64], [0.0_f32; 2]);
    let outputs = (&mut out, &mut list, [(&mut number, &mut copy)]);
    program.run_into((&x, &mut states, &rest), outputs).unwrap();
    assert_eq!((out, list[0], number, copy), ([10.0, -10.0], [10.0, -10.0], [7], x));
    let mut whole = ([0.0_f32; 2], vec![[0.0_f32; 2]; 3], [([0_i64], [0.0_f32; 2])]);
    let bound = program.bind((&x, &mut states, &rest), &mut whole).unwrap();
    bound.run((&x, &mut states, &rest), &mut whole).unwrap();
    assert_eq!((whole.1[0], whole.2[0].0), ([12.0, -12.0], [7]));
    assert_eq!(bound.shapes().iter().count(), 6);
    let shapes = program.output_shapes((&x, &mut states, &rest)).unwrap();
    assert_eq!(shapes, [[2], [2], [2], [2], [1], [2]]);
    assert!(program.memory((&x, &mut states, &rest)).unwrap().steps > 0);
    assert_eq!(program.measure((&x, &mut states, &rest), 2).unwrap().input_count, 7);
}

#[test]
fn another_length_than_the_graph_has() {
    let program: Program<(f32, Vec<f32>), Vec<f32>> = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        let list = vec![graph.input::<f32>([2]), graph.input::<f32>([2])];
        let [sums] = graph.map_trees([&list], |[y]| [x + y]);
        graph.program((x, list), sums)
    })
    .unwrap();
    let x = [1.0_f32, 2.0];
    assert_eq!(program.run((&x, vec![&x; 2])).unwrap().len(), 2);
    assert!(program.run((&x, vec![&x; 1])).is_err());
    assert_eq!(program.run((&x, vec![&x; 3])).unwrap().len(), 2); // the rest is not lent
    let mut one = [[0.0; 2]];
    assert!(program.run_into((&x, vec![&x; 2]), &mut one[..]).is_err());
    assert_eq!(one, [[0.0; 2]]);
}

#[test]
fn a_lone_input_and_empty_lists() {
    let negate = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program(x, -x)
    })
    .unwrap();
    assert_eq!(negate.run(&[1.0, 2.0]).unwrap(), [-1.0, -2.0]);
    assert_eq!(negate.input_names(), ["0"]);

    type Lists = (Vec<f32>, f32, Vec<Vec<f32>>);
    let lists: Program<Lists, Lists> = Program::trace(|graph| {
        let x = graph.input::<f32>([1]);
        let none = Vec::<Traced<'_, f32>>::new;
        graph.program((none(), x, vec![none(), none()]), (none(), x, vec![none(), vec![x], none()]))
    })
    .unwrap();
    let none: [&Tensor<f32>; 0] = [];
    let (first, x, last) = lists.run((none, &[4.0], vec![none, none])).unwrap();
    let lengths: Vec<_> = last.iter().map(Vec::len).collect();
    assert_eq!((first.len(), x.item(), &lengths[..]), (0, Some(4.0), &[0, 1, 0][..]));
}

type Inputs = ((Layers<Updated<f32>>, Layers<Updated<f32>>), f32);

/// The loss of a network, and its gradients.
type Trained = (f32, Layers<f32>);

fn training() -> Program<Inputs, Trained> {
    Program::trace(|graph| {
        let weights = graph.inputs(&layers(0.0));
        let momenta = graph.inputs(&weights);
        let x = graph.input_named::<f32>("x", (graph.extent("rows", 16), 2));
        let mut y = x;
        for (weight, bias) in &weights {
            y = (y.matmul(*weight) + *bias).tanh();
        }
        let loss = (y - 0.25).square().mean(..);
        let gradients = graph.gradients(loss, &weights);
        let [next, next_momenta] =
            graph.map_trees([&weights, &momenta, &gradients], |[p, m, g]| {
                let m = m * 0.5 + g;
                [p - m * 0.1, m]
            });
        let updates = (weights.updated_by(next), momenta.updated_by(next_momenta));
        graph.program((updates, x), (loss, gradients))
    })
    .unwrap()
}

#[test]
fn parameters_are_trained() {
    let step = training();
    assert_eq!(step.input_names()[2..5], ["0.0.1.0", "0.0.1.1", "0.1.0.0"]);
    assert_eq!(step.input_names()[8], "x");
    assert_eq!(step.output_names(), ["0", "1.0.0", "1.0.1", "1.1.0", "1.1.1"]);
    let (mut weights, mut momenta) = (layers(0.5), layers(0.0));
    let x = [[1.0_f32, -0.5], [0.25, 2.0], [1.0, 1.0]];
    let (first, gradients) = step.run(((&mut weights, &mut momenta), &x)).unwrap();
    assert_eq!(gradients[1].0.shape(), [3, 1]);
    assert_eq!(momenta[1].0, gradients[1].0);
    let mut both = (weights, momenta);
    let mut loss = first.try_clone().unwrap();
    for _ in 0..20 {
        loss = step.run((&mut both, &x)).unwrap().0;
    }
    assert!(loss.item() < first.item());
}

#[test]
fn messages_name_inputs() {
    let step = training();
    let (mut weights, mut momenta) = (layers(0.5), layers(0.0));
    weights[1].0 = Tensor::zeros([1, 1]).unwrap();
    let x = [[1.0_f32, -0.5]];
    let error = step.run(((&mut weights, &mut momenta), &x)).unwrap_err();
    assert_eq!(error.message(), "input 0.0.1.0: shape[0] is 1 but must be 3; its shape is [1, 1]");
    let (mut weights, mut gradients) = (layers(0.5), layers(0.0));
    gradients[0].1 = Tensor::zeros(7).unwrap();
    let mut loss = Tensor::zeros([]).unwrap();
    let error =
        step.run_into(((&mut weights, &mut momenta), &x), (&mut loss, &mut gradients)).unwrap_err();
    assert!(error.message().starts_with("output 1.0.1"), "{error}");

    let said = super::said(|graph| {
        let (weight, x) = (graph.input_named::<f32>("weight", [2, 3]), graph.input::<f32>([4]));
        graph.program((weight, x), weight * x)
    });
    assert!(
        said.contains("a is input weight of shape [2, 3] and b is input 1 of shape [4]"),
        "{said}"
    );
    let said = super::said(|graph| {
        let weights = graph.inputs(&layers(0.0));
        graph.program(&weights, weights[0].0 + weights[1].1.reshape([2]))
    });
    assert!(said.starts_with("reshape at "), "{said}");
    assert!(said.contains(": a is input 1.1 of shape [1]: "), "{said}");
}

#[test]
fn names_that_are_refused() {
    for name in ["", "a.b", "1", "a\0"] {
        let said = super::said(|graph| {
            let x = graph.input_named::<f32>(name, [2]);
            graph.program(x, x)
        });
        assert!(said.contains("or begins with a digit"), "{said}");
    }
    let said = super::said(|graph| {
        let (a, b) = (graph.input_named::<f32>("x", [2]), graph.input_named::<f32>("x", [2]));
        graph.program((a, b), a)
    });
    assert_eq!(said, "two inputs have the name x");
    // In a `Vec` the number counts the elements.
    let program = Program::trace(|graph| {
        let a = graph.input_named::<f32>("a", [2]);
        graph.program(vec![a], a)
    });
    assert_eq!(program.unwrap().input_names(), ["0"]);
}

#[test]
fn trees_of_other_lengths() {
    let said = super::said(|graph| {
        let (a, b) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
        let list = vec![a, b].updated_by(vec![a]);
        graph.program(list, ())
    });
    assert_eq!(said, "trees differ in the length of a Vec: they have 2 and 1 values");
    let said = super::said(|graph| {
        let a = graph.input::<f32>([2]);
        let [sum] = graph.map_trees([&vec![a], &vec![a, a]], |[a, b]| [a + b]);
        graph.program(a, sum)
    });
    assert_eq!(said, "trees differ in the length of a Vec: they have 1 and 2 values");
}

#[test]
fn bodies_take_and_give_trees() {
    let program: Program<(Layers<f32>, Bool8), (f32, Layers<f32>)> = Program::trace(|graph| {
        let pair = || (graph.input::<f32>([2]), graph.input::<f32>([2]));
        let (pairs, flag) = (vec![pair(), pair()], graph.input::<Bool8>([1]));
        let (sum, chosen) = graph.cond(
            flag,
            (pairs.clone(), [pairs[0].0]),
            |body, (pairs, [x])| body.outputs((x + 1.0, pairs)),
            |body, (pairs, [x])| {
                let swapped: Vec<_> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
                body.outputs((x, swapped))
            },
        )?;
        let state = graph.while_loop(
            10,
            (sum, chosen),
            vec![pairs[0].1],
            |body, (sum, _), _| body.outputs(sum.sum(0).lt(20.0)),
            |body, (sum, pairs), kept| body.outputs((sum + kept[0], pairs)),
        )?;
        graph.program((pairs, flag), state)
    })
    .unwrap();
    let pairs = [([1.0_f32, 1.0], [2.0_f32, 2.0]), ([3.0, 3.0], [4.0, 4.0])];
    let flags = [true, false].map(|flag| [Bool8::from(flag)]);
    let (sum, same) = program.run((&pairs, &flags[0])).unwrap();
    assert_eq!((sum, &same[1].0), (Tensor::from([10.0, 10.0]), &Tensor::from([3.0, 3.0])));
    let (_, swapped) = program.run((&pairs, &flags[1])).unwrap();
    assert_eq!(
        (&swapped[1].0, &swapped[0].1),
        (&Tensor::from([4.0, 4.0]), &Tensor::from([1.0; 2]))
    );

    let said = super::said(|graph| {
        let (x, flag) = (graph.input::<f32>([2]), graph.input::<Bool8>([1]));
        let chosen = graph.cond(
            flag,
            x,
            |body, x| body.outputs((vec![x, x], vec![x])),
            |body, x| body.outputs((vec![x], vec![x, x])),
        )?;
        graph.program((x, flag), chosen)
    });
    assert!(said.starts_with("cond at "), "{said}");
    assert!(said.ends_with("Vecs of outputs differ in their lengths"), "{said}");
    let said = super::said(|graph| {
        let x = graph.input::<f32>([1]);
        let state = graph.while_loop(
            10,
            (vec![x, x], vec![x]),
            (),
            |body, (xs, _), ()| body.outputs(xs[0].lt(20.0)),
            |body, (xs, ys), ()| body.outputs((ys, xs)),
        )?;
        graph.program(x, state)
    });
    assert!(said.ends_with("Vecs of outputs differ in their lengths"), "{said}");
}

#[test]
fn more_inputs_than_a_stack_has_room_for() {
    let program: Program<Vec<Updated<f64>>, f64> = Program::trace(|graph| {
        let inputs: Vec<_> = (0..104).map(|_| graph.input::<f64>([3])).collect();
        let sum = inputs.iter().copied().reduce(|a, b| a + b).unwrap();
        let [next] = graph.map_trees([&inputs], |[x]| [x + 1.0]);
        graph.program(inputs.updated_by(next), sum)
    })
    .unwrap();
    let mut tensors = vec![[1.0_f64; 3]; 104];
    assert_eq!(program.run(&mut tensors).unwrap(), [104.0; 3]);
    let mut sum = [0.0; 3];
    let bound = program.bind_preallocated(&mut tensors, &mut sum).unwrap();
    bound.run(&mut tensors, &mut sum).unwrap();
    assert_eq!((sum, tensors[103]), ([208.0; 3], [3.0; 3]));
}
