//! Reductions of rows inside element-wise chains: one step, with the bits of the calls.

use super::*;

const SHAPES: [[usize; 3]; 8] = [
    [1, 1, 2],
    [1, 1, 700],
    [2, 3, 10],
    [3, 37, 63],
    [2, 5, 64],
    [1, 600, 9],
    [2, 4, 1500],
    [3, 2, 40],
];

fn rows() -> Axes {
    Axes::keep(-1)
}

type Value<'g> = Traced<'g, f32>;
type Call = fn(&Tensor<f32>, &Tensor<f32>, &Tensor<f32>) -> Result<Tensor<f32>>;

/// A result of values, and the same by calls.
struct Chain {
    name: &'static str,
    traced: for<'g> fn(Value<'g>, Value<'g>, Value<'g>) -> Value<'g>,
    called: Call,
}

macro_rules! chain {
    ($name:literal, |$x:ident, $mask:ident, $scale:ident| $traced:expr, $called:expr) => {
        Chain {
            name: $name,
            traced: |$x, $mask, $scale| $traced,
            called: |$x, $mask, $scale| $called,
        }
    };
}

const CHAINS: [Chain; 5] = [
    chain!(
        "masked softmax",
        |x, mask, _scale| {
            let shifted = x + mask;
            let e = (shifted - shifted.max(rows())).exp();
            e / e.sum(rows())
        },
        {
            let shifted = ops::add(x, mask)?;
            let e = ops::exp(ops::sub(&shifted, ops::max(&shifted, rows())?)?)?;
            ops::div(&e, ops::sum(&e, rows())?)
        }
    ),
    chain!(
        "log_softmax",
        |x, _mask, _scale| {
            let shifted = x - x.max(rows());
            shifted - shifted.exp().sum(rows()).ln()
        },
        {
            let shifted = ops::sub(x, ops::max(x, rows())?)?;
            ops::sub(&shifted, ops::ln(ops::sum(ops::exp(&shifted)?, rows())?)?)
        }
    ),
    chain!(
        "layer norm",
        |x, _mask, scale| {
            let centred = x - x.mean(rows());
            centred * ((centred * centred).mean(rows()) + 1e-5).rsqrt() * scale
        },
        {
            let centred = ops::sub(x, ops::mean(x, rows())?)?;
            let squares = ops::mean(ops::mul(&centred, &centred)?, rows())?;
            ops::mul(ops::mul(&centred, ops::rsqrt(ops::add(squares, 1e-5_f32)?)?)?, scale)
        }
    ),
    chain!(
        "root mean square of a gate",
        |x, mask, scale| {
            let gated = x.silu() * mask;
            gated * ((gated * gated).mean(rows()) + 1e-5).rsqrt() * scale
        },
        {
            let gated = ops::mul(nn::silu(x)?, mask)?;
            let squares = ops::mean(ops::mul(&gated, &gated)?, rows())?;
            ops::mul(ops::mul(&gated, ops::rsqrt(ops::add(squares, 1e-5_f32)?)?)?, scale)
        }
    ),
    chain!(
        "distance from the ends",
        |x, _mask, _scale| (x - x.min(rows())) / (x.max(rows()) - x.min(rows()) + x.var(rows(), 0)),
        {
            let (low, high) = (ops::min(x, rows())?, ops::max(x, rows())?);
            ops::div(ops::sub(x, &low)?, ops::add(ops::sub(high, &low)?, ops::var(x, rows(), 0)?)?)
        }
    ),
];

fn operands(seed: u64, [batch, rows, columns]: [usize; 3]) -> [Tensor<f32>; 3] {
    [
        floats(seed, [batch, rows, columns]),
        floats(seed + 100, [batch, 1, columns]),
        floats(seed + 200, [1, 1, columns]),
    ]
}

type Made = Program<(f32, f32, f32), f32>;

/// `around` is applied to the first input and to the result.
fn made(
    chain: &Chain,
    passes: Passes,
    shape: [usize; 3],
    around: fn(Value<'_>) -> Value<'_>,
) -> Made {
    let [batch, rows, columns] = shape;
    Program::trace_with(passes, |graph| {
        let x = graph.input::<f32>([batch, rows, columns]);
        let mask = graph.input::<f32>([batch, 1, columns]);
        let scale = graph.input::<f32>([1, 1, columns]);
        graph.program((x, mask, scale), around((chain.traced)(around(x), mask, scale)))
    })
    .unwrap()
}

/// Runs the chain with these passes; returns the steps that the program has.
fn compare(chain: &Chain, passes: Passes, [x, mask, scale]: [&Tensor<f32>; 3]) -> usize {
    let shape = x.shape().try_into().unwrap();
    let program = made(chain, passes, shape, |value| value);
    let what = format!("{} of {shape:?}, {passes:?}", chain.name);
    assert_same(&program.run((x, mask, scale)), &(chain.called)(x, mask, scale), &what);
    program.report((x, mask, scale)).unwrap().steps.len()
}

#[test]
fn have_the_bits_of_the_calls_in_one_step() {
    for (seed, shape) in SHAPES.into_iter().enumerate() {
        let [x, mask, scale] = &operands(seed as u64, shape);
        for chain in &CHAINS {
            assert_eq!(compare(chain, Passes::DEFAULT, [x, mask, scale]), 1, "{}", chain.name);
            let without = Passes::DEFAULT.without(Passes::FUSION);
            assert!(compare(chain, without, [x, mask, scale]) > 3, "{}", chain.name);
        }
    }
}

/// Results of such rows have no room on the stack, where a run would have to allocate.
#[test]
fn are_steps_of_their_own_where_rows_are_long() {
    let [x, mask, scale] = &operands(8, [1, 3, 20_000]);
    for chain in &CHAINS {
        let is_one = compare(chain, Passes::DEFAULT, [x, mask, scale]) == 1;
        assert_eq!(is_one, chain.name == "distance from the ends", "{}", chain.name);
    }
}

/// Reductions of another axis, without the axis, and those that are outputs too.
#[test]
fn are_steps_of_their_own_elsewhere() {
    let x = &floats(9, [8, 1, 8]);
    let of = |f: fn(Value<'_>) -> Value<'_>| {
        let program = Program::trace(|graph| {
            let x = graph.input::<f32>([8, 1, 8]);
            graph.program((x,), f(x))
        });
        let program = program.unwrap();
        assert!(program.report((x,)).unwrap().steps.len() > 1);
        program.run((x,))
    };
    let expected = ops::sub(x, ops::mean(x, Axes::keep(0)).unwrap());
    assert_same(&of(|x| x - x.mean(Axes::keep(0))), &expected, "columns");
    assert_same(&of(|x| x - x.mean(-1)), &ops::sub(x, ops::mean(x, -1).unwrap()), "dropped");
    let both = Program::trace(|graph| {
        let x = graph.input::<f32>([8, 1, 8]);
        let mean = x.mean(rows());
        graph.program((x,), (x - mean, mean))
    });
    let (centred, of_rows) = both.unwrap().run((x,)).unwrap();
    assert_same(&Ok(of_rows), &ops::mean(x, rows()), "the mean");
    assert_same(&Ok(centred), &ops::sub(x, ops::mean(x, rows()).unwrap()), "centred");
}

/// Rows that lie apart, in another order and backwards, elements that are not adjacent; and outputs
/// that are not row-major.
#[test]
fn have_the_bits_of_the_calls_for_each_layout() {
    let wide = floats(10, [6, 5, 80]);
    let [_, mask, scale] = operands(11, [6, 5, 40]);
    let (row, column) = (floats(12, [1, 1, 40]), floats(13, [6, 1, 40]));
    let layouts = [
        row.broadcast([6, 5, 40]).unwrap(),
        column.broadcast([6, 5, 40]).unwrap(),
        wide.slice(2, ..40).unwrap(),
        wide.slice(2, 40..).unwrap(),
        wide.slice_step(2, .., 2).unwrap(),
        wide.slice(2, ..40).unwrap().flip(0).unwrap(),
        wide.slice(2, ..40).unwrap().flip(2).unwrap(),
    ];
    for (at, layout) in layouts.into_iter().enumerate() {
        let dense = layout.to_tensor().unwrap();
        for chain in &CHAINS {
            let program = made(chain, Passes::DEFAULT, [6, 5, 40], |value| value);
            let expected = (chain.called)(&dense, &mask, &scale);
            let what = format!("{}, layout {at}", chain.name);
            assert_same(&program.run((layout, &mask, &scale)), &expected, &what);
            let mut turned = Tensor::<f32>::zeros([40, 5, 6]).unwrap();
            let mut out = turned.view_mut().transpose(0, 2).unwrap();
            program.run_into((&dense, &mask, &scale), &mut out).unwrap();
            let got = turned.transpose(0, 2).unwrap().to_tensor();
            assert_same(&got, &expected, &what);
        }
    }
}

/// A value that the chain reads last gives its memory to the result.
#[test]
fn replace_what_they_read() {
    let [x, mask, scale] = &operands(12, [2, 9, 70]);
    for chain in &CHAINS {
        let summed = |of: &Tensor<f32>| ops::cumsum(of, -1);
        let program = made(chain, Passes::DEFAULT, [2, 9, 70], |value| value.cumsum(-1));
        let expected = (chain.called)(&summed(x).unwrap(), mask, scale).and_then(|of| summed(&of));
        assert_same(&program.run((x, mask, scale)), &expected, chain.name);
        let report = program.report((x, mask, scale)).unwrap();
        assert_eq!(report.steps.len(), 3, "{}", chain.name);
        assert!(report.count_of(Passes::IN_PLACE) > 0, "{}", chain.name);
    }
}
