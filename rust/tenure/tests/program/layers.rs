//! Layers and their gradients by the numbers of PyTorch, which `layers.txt` has, with numbers and
//! with names for extents; refusals, and what PyTorch has no function for.

use crate::said;
use tenure::layers::{
    Attention, Conv, Coordinates, Pairs, Recurrent, Resize, Rotary, attention, batch_norm, cdist,
    conv1d, conv3d, dropout, embedding, group_norm, gru, lstm, positions, resize, resize_by,
    rotary,
};
use tenure::program::Size;
use tenure::*;

/// A case of `layers.txt`, which `tests/interop/torch_layers.py` writes.
struct Case<'t> {
    name: &'t str,
    inputs: Vec<Vec<(Option<&'t str>, usize)>>,
    output: Vec<f64>,
    gradients: Vec<Vec<f64>>,
}

fn cases() -> Vec<Case<'static>> {
    let mut cases: Vec<Case<'static>> = Vec::new();
    for line in include_str!("layers.txt").lines().skip(1) {
        let (word, rest) = line.split_once(' ').unwrap();
        if word == "case" {
            cases.push(Case { name: rest, inputs: vec![], output: vec![], gradients: vec![] });
            continue;
        }
        let case = cases.last_mut().unwrap();
        let numbers = || rest.split(' ').map(|number| number.parse().unwrap()).collect();
        match word {
            "input" => case.inputs.push(rest.split(' ').map(extent).collect()),
            "output" => case.output = numbers(),
            "gradient" => case.gradients.push(numbers()),
            _ => panic!("{word}"),
        }
    }
    cases
}

fn extent(text: &str) -> (Option<&str>, usize) {
    match text.split_once('=') {
        Some((name, number)) => (Some(name), number.parse().unwrap()),
        None => (None, text.parse().unwrap()),
    }
}

/// The numbers of the Python script.
fn numbers(seed: usize, shape: &[usize]) -> Result<Tensor<f64>> {
    let value = |i: usize| (((i * 37 + seed * 101) % 89) as f64 - 44.0) / 32.0;
    Tensor::from_vec((0..shape.iter().product()).map(value).collect(), shape).map_err(Error::from)
}

/// The layer of a case.
fn layer<'g, T: Float + Real>(
    graph: Graph<'g>,
    name: &str,
    x: &[Traced<'g, T>],
) -> Result<Vec<Traced<'g, T>>> {
    let corners = Coordinates::AlignCorners;
    let half_pixel = Resize::nearest().coordinates(Coordinates::HalfPixel);
    let indices = graph.copy_constant(&[[3_i64, 1, 3], [0, 2, 2]]);
    let recurrent = |weights: &[Traced<'g, T>]| {
        Recurrent::new(weights[0], weights[1]).biases(weights[2], weights[3])
    };
    let of_lstm = |with| {
        lstm(x[0], Some((x[1], x[2])), with).map(|(y, (hidden, cell))| vec![y, hidden, cell])
    };
    let rotated = |pairs| {
        let places = positions(graph, x[0].size(-2));
        rotary(x[0], places, Rotary::new().base(100.0).pairs(pairs))
    };
    let attended = |with| attention(x[0], x[1], x[2], with);
    let resized = |sizes: [usize; 2], with| resize(x[0], sizes, with);
    Ok(vec![match name {
        "attention" | "attention of matrices" => attended(Attention::new()),
        "attention causal" => attended(Attention::new().causal()),
        "attention masked" => {
            let mask = positions(graph, x[1].size(-2)).ne(1);
            attended(Attention::new().causal().mask(mask).scale(0.5))
        }
        "attention biased" => attended(Attention::new().bias(x[3])),
        "rotary halves" => rotated(Pairs::Halves),
        "rotary adjacent" => rotated(Pairs::Adjacent),
        "embedding" => embedding(x[0], indices, None),
        "embedding padded" => embedding(x[0], indices, Some(2)),
        "group norm" => group_norm(x[0], 2, Some(x[1]), Some(x[2]), 1e-3),
        "instance norm" => group_norm(x[0], 3, None, None, 1e-3),
        "batch norm" | "batch norm of rows" => {
            let [weight, bias] = [x[1], x[2]].map(Some);
            batch_norm(x[0], (x[1], x[2]), weight, bias, 0.1, 1e-3).0
        }
        "running statistics" => {
            let (mean, var) = batch_norm(x[0], (x[1], x[2]), None, None, 0.1, 1e-5).1;
            return Ok(vec![mean, var]);
        }
        "conv1d" => {
            let with = Conv::new().strides([2]).padding([2]).dilations([2]).groups(2);
            conv1d(x[0], x[1], Some(x[2]), with)
        }
        "conv1d plain" => conv1d(x[0], x[1], None, Conv::new()),
        "conv3d" => {
            let with = Conv::new().strides([2, 1, 2]).padding([1, 0, 1]).dilations([1, 2, 1]);
            conv3d(x[0], x[1], Some(x[2]), with.groups(2))
        }
        "conv3d plain" => conv3d(x[0], x[1], None, Conv::new()),
        "cdist" => cdist(x[0], x[1]),
        "lstm" => return of_lstm(recurrent(&x[3..])),
        "lstm reversed" => return of_lstm(recurrent(&x[3..]).reversed()),
        "gru" => {
            let (y, last) = gru(x[0], Some(x[1]), recurrent(&x[2..]))?;
            return Ok(vec![y, last]);
        }
        "resize nearest 5 2" => resized([5, 2], Resize::nearest()),
        "resize nearest 2 7" => resized([2, 7], Resize::nearest()),
        "resize nearest half pixel 5 2" => resized([5, 2], half_pixel),
        "resize nearest half pixel 2 7" => resized([2, 7], half_pixel),
        "resize linear 5 2" => resized([5, 2], Resize::linear()),
        "resize linear 2 7" => resized([2, 7], Resize::linear()),
        "resize linear corners 5 2" => resized([5, 2], Resize::linear().coordinates(corners)),
        "resize linear corners 2 7" => resized([2, 7], Resize::linear().coordinates(corners)),
        "resize factors nearest" => resize_by(x[0], [1.5, 0.5], Resize::nearest()),
        "resize factors linear" => resize_by(x[0], [1.5, 0.5], Resize::linear()),
        _ => panic!("{name}"),
    }])
}

fn count_of<'g, T: Float>(x: Traced<'g, T>) -> Size<'g> {
    x.sizes().into_iter().fold(Size::from(1), |count, size| count * size)
}

/// The sum of all elements, each times its own element of the seed.
fn seeded<'g, T: Float>(parts: &[Traced<'g, T>], seed: Traced<'g, T>) -> Traced<'g, T> {
    let (mut sum, mut start) = (seed.graph().copy_constant(&[T::default()]).sum(0), Size::from(0));
    for part in parts {
        let count = count_of(*part);
        let stop = start + count;
        // A slice states no extent that depends on a named one.
        let seed = seed.slice(0, start, stop).broadcast([count]);
        sum = sum + (part.reshape([count]) * seed).sum(0);
        start = stop;
    }
    sum
}

/// The layer of a case and its gradients, as a program of inputs and a seed.
fn traced<T: Float + Real>(case: &Case<'_>, is_named: bool, passes: Passes) -> Result<Layer<T>> {
    Program::trace_with(passes, |graph| {
        let size = |&(name, extent): &(Option<&str>, usize)| match name {
            // More than the run has, and as many more for all.
            Some(name) if is_named => Size::from(graph.extent(name, extent + 3)),
            _ => extent.into(),
        };
        let inputs = case.inputs.iter().map(|shape| shape.iter().map(size).collect::<Vec<_>>());
        let x: Vec<_> = inputs.map(|shape| graph.input::<T>(shape)).collect();
        let y = layer(graph, case.name, &x)?;
        let count = y.iter().fold(Size::from(0), |count, part| count + count_of(*part));
        let seed = graph.input::<T>([count]);
        let gradients = graph.gradients(seeded(&y, seed), &x);
        graph.program((&x, seed), (y, gradients))
    })
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64], bound: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= bound * (1.0 + b.abs()), "{what}[{i}]: {a} but {b}");
    }
}

type Layer<T> = Program<(Vec<T>, T), (Vec<T>, Vec<T>)>;

/// The results and the gradients of a run.
fn run<T: Float + Real>(case: &Case<'_>, program: &Layer<T>) -> Result<[Vec<Tensor<T>>; 2]> {
    let shape = |shape: &Vec<(_, usize)>| shape.iter().map(|(_, n)| *n).collect::<Vec<_>>();
    let inputs = case.inputs.iter().enumerate();
    let inputs: Vec<Tensor<T>> =
        inputs.map(|(seed, of)| ops::cast(&numbers(seed, &shape(of))?)).collect::<Result<_>>()?;
    let seed: Tensor<T> = ops::cast(&numbers(50, &[case.output.len()])?)?;
    let (y, gradients) = program.run((&inputs, &seed))?;
    Ok([y, gradients])
}

/// Compares all cases of `T` within a bound.
fn compare<T: Float + Real>(bound: f64, is_named: bool, passes: Passes) -> Result<()> {
    for case in cases() {
        let program = traced::<T>(&case, is_named, passes);
        let program = program.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let found = run(&case, &program);
        let [y, gradients] = found.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let doubles = |x: &Tensor<T>| ops::cast::<f64, _>(x).map(|x| x.to_vec());
        let y: Vec<f64> = y.iter().map(doubles).collect::<Result<Vec<_>>>()?.concat();
        assert_near(&y, &case.output, bound, case.name);
        for (nth, (found, expected)) in gradients.iter().zip(&case.gradients).enumerate() {
            let what = format!("{}, gradient {nth}", case.name);
            assert_near(&doubles(found)?, expected, bound, &what);
        }
    }
    Ok(())
}

#[test]
#[cfg(feature = "programs")]
fn layers_are_saved_with_their_gradients() -> Result<()> {
    let path = std::env::temp_dir().join(format!("tenure-layers-{}.tnrp", std::process::id()));
    for case in cases() {
        let program = traced::<f32>(&case, true, Passes::DEFAULT)?;
        program.save(&path)?;
        let loaded = Layer::<f32>::load(&path, Vec::new());
        std::fs::remove_file(&path)?;
        assert!(run(&case, &program)? == run(&case, &loaded?)?, "{}", case.name);
    }
    Ok(())
}

#[test]
fn layers_and_gradients_are_those_of_pytorch() -> Result<()> {
    compare::<f64>(1e-10, false, Passes::DEFAULT)
}

#[test]
fn layers_take_named_extents() -> Result<()> {
    compare::<f64>(1e-10, true, Passes::DEFAULT)?;
    compare::<f64>(1e-10, true, Passes::NONE)
}

#[test]
fn layers_take_other_floats() -> Result<()> {
    compare::<f32>(2e-5, true, Passes::DEFAULT)?;
    compare::<f16>(2e-2, true, Passes::DEFAULT)?;
    compare::<bf16>(2e-1, true, Passes::DEFAULT)
}

#[test]
fn a_query_that_sees_no_key_gives_zeros_and_no_gradient() -> Result<()> {
    let program = Program::trace(|graph| {
        let (q, k, v) =
            (graph.input::<f64>([2, 2]), graph.input::<f64>([2, 2]), graph.input::<f64>([2, 1]));
        let mask =
            graph.copy_constant(&[[false, false], [true, false]].map(|r| r.map(Bool8::from)));
        let y = attention(q, k, v, Attention::new().mask(mask));
        let gradients = graph.gradients(y.sum(..), (q, k, v));
        graph.program((q, k, v), (y, gradients))
    })?;
    let (y, (by_q, by_k, by_v)) =
        program.run((&[[1.0, 2.0], [3.0, 4.0]], &[[1.0, 0.5], [2.0, 0.0]], &[[5.0], [7.0]]))?;
    assert_eq!((y, by_v), (Tensor::from([[0.0], [5.0]]), Tensor::from([[1.0], [0.0]])));
    assert_eq!((by_q.to_vec(), by_k.to_vec()), (vec![0.0; 4], vec![0.0; 4]));
    Ok(())
}

#[test]
fn causal_attention_to_fewer_keys_is_refused() -> Result<()> {
    let attended = |queries: usize, keys: usize| {
        Program::trace(|graph| {
            let (q, k) = (graph.input::<f32>([queries, 2]), graph.input::<f32>([keys, 2]));
            graph.program((q, k), attention(q, k, k, Attention::new().causal()))
        })
    };
    let message = attended(3, 2).err().unwrap().message().to_owned();
    assert!(message.contains("an extent is -1 but must be 0 to 2^62 - 1"), "{message}");
    assert!(attended(0, 0)?.run((&Tensor::zeros([0, 2])?, &Tensor::zeros([0, 2])?))?.is_empty());
    // Named extents are refused in a run.
    let program = Program::trace(|graph| {
        let q = graph.input::<f32>((graph.extent("queries", 4), 2));
        let k = graph.input::<f32>((graph.extent("keys", 4), 2));
        graph.program((q, k), attention(q, k, k, Attention::new().causal()))
    })?;
    assert_eq!(program.run((&[[0.0; 2]; 1], &[[1.0; 2]; 3]))?, [[1.0, 1.0]]);
    assert!(program.run((&[[0.0; 2]; 3], &[[1.0; 2]; 1])).is_err());
    Ok(())
}

#[test]
fn dropout_is_the_same_when_it_is_computed_again() -> Result<()> {
    let traced = |is_again: bool| {
        Program::trace(|graph| {
            let (x, step) = (graph.input::<f64>([1000]), graph.input::<u64>(()));
            let layer = || dropout(x.tanh(), 0.5, graph.generator_at(7, step << 32)).square();
            let y = if is_again { graph.checkpoint(layer) } else { layer() };
            graph.program((x, step), (y, graph.gradients(y.sum(0), x)))
        })
    };
    let x = numbers(1, &[1000])?;
    let (y, by_x) = traced(false)?.run((&x, &3))?;
    let again = traced(true)?.run((&x, &3))?;
    assert!(y == again.0 && by_x == again.1);
    // An element that is dropped has no gradient.
    let zeros = y.iter().filter(|y| **y == 0.0).count();
    assert!((400..600).contains(&zeros), "{zeros}");
    assert!(y.iter().zip(&by_x).all(|(y, gradient)| (*y == 0.0) <= (*gradient == 0.0)));
    Ok(())
}

#[test]
fn distances_of_near_rows_keep_their_digits() -> Result<()> {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2, 1]);
        let d = cdist(x, x);
        graph.program((x,), (d, graph.gradients(d.sum(..), x)))
    })?;
    let (d, by_x) = program.run((&[[1000.0], [1000.0625]],))?;
    assert_eq!(d, [[0.0, 0.0625], [0.0625, 0.0]]);
    assert_eq!(by_x, [[-2.0], [2.0]]);
    Ok(())
}

#[test]
fn recurrent_layers_begin_with_zeros_and_go_on_from_a_state() -> Result<()> {
    let program = Program::trace(|graph| {
        let x = graph.input::<f64>((2, graph.extent("time", 9), 3));
        let of_lstm = (graph.input::<f64>([8, 3]), graph.input::<f64>([8, 2]));
        let of_gru = (graph.input::<f64>([6, 3]), graph.input::<f64>([6, 2]));
        let state = (graph.input::<f64>([2, 2]), graph.input::<f64>([2, 2]));
        let zero = state.0 * 0.0;
        let long = Recurrent::new(of_lstm.0, of_lstm.1);
        let gated = Recurrent::new(of_gru.0, of_gru.1);
        let (a, (_, cell)) = lstm(x, None, long)?;
        let (b, _) = lstm(x, Some((zero, zero)), long)?;
        let (on, _) = lstm(x, Some(state), long)?;
        let (c, last) = gru(x, None, gated)?;
        let (d, _) = gru(x, Some(zero), gated)?;
        graph.program((x, of_lstm, of_gru, state), ([a, b, c, d, on], (cell, last)))
    })?;
    let (x, shapes) = (numbers(0, &[2, 4, 3])?, [[8, 3], [8, 2], [6, 3], [6, 2], [2, 2]]);
    let [w, u, v, g, zero] = shapes.map(|shape| numbers(1, &shape));
    let (w, u, v, g, zero) = (w?, u?, v?, g?, ops::mul(&zero?, 0.0)?);
    let ([a, b, c, d, _], (cell, last)) = program.run((&x, (&w, &u), (&v, &g), (&zero, &zero)))?;
    assert!(a == b && c == d);
    assert_eq!(c.get([1, 3, 1]), last.get([1, 1]));
    // The second half, from the state behind the first one.
    let half = |start: usize| x.slice(1, start..start + 2);
    let (first, (cell_of_half, _)) =
        program.run((&half(0)?, (&w, &u), (&v, &g), (&zero, &zero)))?;
    let hidden = first[0].index(1, 1)?.to_tensor()?;
    let (second, _) = program.run((&half(2)?, (&w, &u), (&v, &g), (&hidden, &cell_of_half)))?;
    let expected = a.slice(1, 2..4)?.to_vec();
    assert_near(&second[4].to_vec(), &expected, 1e-14, "the second half");
    assert!(cell_of_half != cell);
    // No time at all.
    let (nothing, (_, last)) =
        program.run((&Tensor::zeros([2, 0, 3])?, (&w, &u), (&v, &g), (&zero, &zero)))?;
    assert_eq!((nothing[0].shape(), last), (&[2, 0, 2][..], zero));
    Ok(())
}

#[test]
fn layers_of_refused_values_do_not_panic() {
    for case in cases() {
        let message = said(|graph| {
            let shape = |of: &Vec<(_, usize)>| of.iter().map(|(_, n)| *n).collect::<Vec<_>>();
            let x: Vec<_> = case.inputs.iter().map(|of| graph.input::<f32>(shape(of))).collect();
            let refused = graph.input::<f32>([2]) + graph.input::<f32>([3]);
            let y = layer(graph, case.name, &x)?;
            let all = vec![refused; x.len()];
            let z = layer(graph, case.name, &all)?;
            graph.program(x, (y, z))
        });
        assert!(message.starts_with("add at "), "{}: {message}", case.name);
    }
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    /// The message for a layer of one input of this shape.
    fn of(shape: &[usize], layer: impl for<'g> Fn(Traced<'g, f32>) -> Traced<'g, f32>) -> String {
        said(|graph| {
            let x = graph.input::<f32>(shape);
            graph.program((x,), layer(x))
        })
    }
    assert!(
        of(&[3], |x| attention(x, x, x, Attention::new()))
            .ends_with("have ranks 1, 1 and 1 but must have one rank of at least 2")
    );
    assert!(
        of(&[3, 2, 2], |x| attention(x.slice(0, 0, 2), x, x, Attention::new()))
            .contains("have 2, 3 and 3 heads but those of key and value must be equal")
    );
    assert!(
        of(&[2, 2], |x| attention(x, x, x, Attention::new().scale(f64::NAN)))
            .ends_with("the scale is NaN but must be finite")
    );
    for probability in [1.0, -0.1, f64::NAN] {
        let message = of(&[2], |x| dropout_of(x, probability));
        assert!(
            message.ends_with(&format!(
                "the probability is {probability} but must be at least 0 and below 1"
            )),
            "{message}"
        );
    }
    assert!(
        of(&[2, 3], |x| rotary_of(x, Rotary::new())).ends_with("the width is 3 but must be even")
    );
    assert!(
        of(&[2, 2], |x| rotary_of(x, Rotary::new().base(0.0)))
            .ends_with("the base is 0 but must be above 0 and finite")
    );
    assert!(
        of(&[4, 2], |x| padded_of(x, 4)).ends_with("the padding is 4 but the table has 4 rows")
    );
    assert!(
        of(&[1, 4], |x| group_norm(x, 3, None, None, 0.0))
            .ends_with("3 groups do not divide 4 channels")
    );
    assert!(of(&[4], |x| group_norm(x, 1, None, None, 0.0)).ends_with("must have at least 2"));
    assert!(
        of(&[4], |x| batch_norm(x, (x, x), None, None, 0.1, 0.0).0)
            .ends_with("x has rank 1 but must have at least 2")
    );
    let convolved = |with: Conv<1>| of(&[1, 2, 3], |x| conv1d(x, x, None, with));
    assert!(
        convolved(Conv::new().groups(2))
            .ends_with("x has 2 channels but weight has 2 for each of 2 groups")
    );
    assert!(convolved(Conv::new().strides([0])).contains("axis 0 are 3, 0 and 1"));
    assert!(
        convolved(Conv::new().dilations([2]))
            .ends_with("the kernel reaches over 5 elements of axis 0 but the padded input has 3")
    );
    assert!(
        of(&[1, 2, 3], |x| conv3d(x, x, None, Conv::new()))
            .ends_with("x has rank 3 and weight has rank 3 but both must have 5")
    );
    assert!(
        of(&[4], |x| cdist(x, x))
            .ends_with("x has rank 1 and y has rank 1 but both must have at least 2")
    );
    assert!(
        of(&[4], |x| resize(x, [2, 2], Resize::nearest()))
            .ends_with("there are 2 sizes but x has rank 1")
    );
    assert!(
        of(&[4], |x| resize_by(x, [0.0], Resize::nearest()))
            .ends_with("a factor is 0 but must be above 0 and finite")
    );
    let named = said(|graph| {
        let x = graph.input::<f32>([graph.extent("n", 8)]);
        graph.program((x,), resize_by(x, [std::f64::consts::PI], Resize::linear()))
    });
    assert!(
        named.ends_with("must be a quotient of numbers up to 64 for a named extent"),
        "{named}"
    );
    let recurrent = said(|graph| {
        let (x, w) = (graph.input::<f32>([1, 2, 3]), graph.input::<f32>([8, 3]));
        let (y, _) = lstm(x, None, Recurrent::new(w, w))?;
        graph.program((x, w), y)
    });
    assert!(
        recurrent.ends_with(
            "the weights have shapes [8, 3] and [8, 3] but must have [12, 3] and [12, 3] for 4 gates"
        ) && recurrent.starts_with("lstm at "),
        "{recurrent}"
    );
}

fn dropout_of(x: Traced<'_, f32>, probability: f64) -> Traced<'_, f32> {
    dropout(x, probability, x.graph().generator_at(0, 0))
}

fn rotary_of(x: Traced<'_, f32>, with: Rotary) -> Traced<'_, f32> {
    rotary(x, positions(x.graph(), x.size(0)), with)
}

fn padded_of(x: Traced<'_, f32>, padding: usize) -> Traced<'_, f32> {
    embedding(x, x.graph().copy_constant(&[0_i64]), Some(padding))
}
