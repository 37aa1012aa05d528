//! Expressions of device tensors, compared with the host's on the same data.

use num_complex::Complex;
use tenure::cuda::{self, Stream};
use tenure::{
    Axes, Bool8, Element, ErrorKind, Expr, IntoExpr, LayerNorm, Tensor,
    expr::{MemorySpace, OnDevice},
    f16,
};

use crate::{alone, stream};

/// Some numbers of either sign.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 37) % 101) as f32 / 8.0 - 6.0).collect()
}

/// One expression, wherever its operands are.
fn mixture<'a, P: MemorySpace>(
    a: Expr<'a, f32, P>,
    b: impl IntoExpr<'a, f32, P>,
    row: impl IntoExpr<'a, f32, P>,
) -> Expr<'a, f32, P> {
    let product = a.clone() * b + 1.5;
    let gate = (0.5 * product.clone()).sigmoid();
    let halves = gate.cast::<f16>().cast::<f32>();
    let sum = halves - row;
    a.lt(0.25).select(sum.clone().abs().sqrt(), sum.maximum(product) % 3.0)
}

fn bits(values: &[f32]) -> Vec<u32> {
    // One NaN is as good as another.
    values.iter().map(|value| if value.is_nan() { u32::MAX } else { value.to_bits() }).collect()
}

#[test]
fn bits_are_those_of_the_host() {
    let stream = stream!();
    for columns in [1, 4, 7, 64] {
        let shape = [33, columns];
        let data = numbers(33 * columns);
        let a = Tensor::copy_from_slice(&data, shape).unwrap();
        let row = Tensor::copy_from_slice(&numbers(columns), [columns]).unwrap();
        let (there, row_there) = (stream.upload(&a).unwrap(), stream.upload(&row).unwrap());
        let here = mixture(a.expr(), &a, &row).eval().unwrap();
        let computed = stream.eval(&mixture(there.expr(), &there, &row_there)).unwrap();
        assert_eq!(computed.shape(), shape);
        assert_eq!(bits(&stream.to_vec(&computed).unwrap()), bits(&here.to_vec()));

        // An expression of a temporary view, evaluated into existing memory of any strides.
        let turned = there.t();
        let mut out = stream.zeros::<f32>([2, columns, 33]).unwrap();
        let mut middle = out.view_mut();
        stream.eval_into(&(Expr::from(turned) * there.t() + 1.0), &mut middle).unwrap();
        let a = a.t();
        let expected = (a * a + 1.0).eval().unwrap().to_vec();
        let both = stream.to_vec(&out).unwrap();
        assert_eq!(both, [&expected[..], &expected].concat());
    }
}

#[test]
fn parts_of_tensors_are_operands_by_value() {
    let stream = stream!();
    let table = stream.upload(&[[1, 2, 3, 4], [5, 6, 7, 8]]).unwrap();
    let part = table.view().slice(1, 1..3).unwrap();
    let doubled = stream.eval(&(Expr::from(part) + part)).unwrap();
    assert_eq!(stream.to_vec(&doubled).unwrap(), [4, 6, 12, 14]);
    let row = Expr::from(table.view().index(0, 1).unwrap());
    assert_eq!(
        stream.to_vec(&stream.eval(&(row.clone() * row)).unwrap()).unwrap(),
        [25, 36, 49, 64]
    );
    // An expression of no operation is a copy, or a fill.
    let copy = stream.eval(&Expr::from(table.t())).unwrap();
    assert_eq!(stream.to_vec(&copy).unwrap(), [1, 5, 2, 6, 3, 7, 4, 8]);
    let mut filled = stream.zeros::<i32>([3]).unwrap();
    stream.eval_into(&IntoExpr::<i32, OnDevice>::into_expr(7), &mut filled).unwrap();
    assert_eq!(stream.to_vec(&filled).unwrap(), [7; 3]);
}

#[test]
fn reductions_and_normalizations_take_part() {
    let stream = stream!();
    let x = Tensor::copy_from_slice(&numbers(5 * 40), [5, 40]).unwrap();
    let there = stream.upload(&x).unwrap();
    fn near<T: Element + Into<f64>>(a: &[T], b: &[T]) {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            let (a, b): (f64, f64) = ((*a).into(), (*b).into());
            assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{a} but {b}");
        }
    }
    fn root_mean_square<'a, P: MemorySpace>(x: Expr<'a, f32, P>) -> Expr<'a, f32, P> {
        let scale = (x.clone().square().mean(Axes::keep(-1)) + 1e-5).rsqrt();
        x * scale
    }
    let here = root_mean_square(x.expr()).eval().unwrap();
    let computed = stream.eval(&root_mean_square(there.expr())).unwrap();
    near(&stream.to_vec(&computed).unwrap(), &here.to_vec());

    let here = (x.expr() * 0.5).softmax(-1).eval().unwrap();
    let computed = stream.eval(&(there.expr() * 0.5).softmax(-1)).unwrap();
    near(&stream.to_vec(&computed).unwrap(), &here.to_vec());

    let (weight, bias) = (numbers(40), numbers(40));
    let (weight_there, bias_there) =
        (stream.upload(&weight).unwrap(), stream.upload(&bias).unwrap());
    let norm = LayerNorm::new().weight(&weight).bias(&bias).eps(1e-3);
    let here = (x.expr() + 1.0).layer_norm(-1, norm).eval().unwrap();
    let norm = cuda::LayerNorm::new().weight(&weight_there).bias(&bias_there).eps(1e-3);
    let computed = stream.eval(&(there.expr() + 1.0).layer_norm(-1, norm)).unwrap();
    near(&stream.to_vec(&computed).unwrap(), &here.to_vec());

    let here = (x.expr() * -1.0).argmax(1).eval().unwrap();
    let computed = stream.eval(&(there.expr() * -1.0).argmax(1)).unwrap();
    assert_eq!(stream.to_vec(&computed).unwrap(), here.to_vec());
    let here = x.expr().gt(0.0).count(..).eval().unwrap();
    let computed = stream.eval(&there.expr().gt(0.0).count(..)).unwrap();
    assert_eq!(stream.to_vec(&computed).unwrap(), here.to_vec());
}

#[test]
fn outputs_are_updated_in_place() {
    let stream = stream!();
    let mut here = Tensor::from([[1.0_f64, 3.0], [4.0, 8.0]]);
    let mut there = stream.upload(&here).unwrap();
    let scale = Tensor::from([2.0, -1.0]);
    let scale_there = stream.upload(&scale).unwrap();
    here.update(|x| (x.clone() - x.mean(Axes::keep(-1))) * &scale).unwrap();
    stream.update(&mut there, |x| (x.clone() - x.mean(Axes::keep(-1))) * &scale_there).unwrap();
    assert_eq!(stream.to_vec(&there).unwrap(), here.to_vec());
    let mut part = there.view_mut().slice(1, ..1).unwrap();
    stream.update(&mut part, |x| -x).unwrap();
    assert_eq!(stream.to_vec(&there).unwrap(), [2.0, -1.0, 4.0, -2.0]);

    let mut escaped = None;
    stream
        .update(&mut there, |x| {
            escaped = Some(x.clone());
            x
        })
        .unwrap();
    let error = stream.eval(&escaped.unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnboundArgument);
}

#[test]
fn refusals_name_the_place() {
    let stream = stream!();
    let (a, b) = (stream.zeros::<f32>([2, 3]).unwrap(), stream.zeros::<f32>([4]).unwrap());
    let error = stream.eval(&(&a + &b)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("expressions.rs"), "{error}");
    assert!(error.message().contains("a view of shape [2, 3] and b is a view of shape [4]"));
    let mut small = stream.zeros::<f32>([2]).unwrap();
    let error = stream.eval_into(&(&a + 1.0), &mut small).unwrap_err();
    assert!(error.message().contains("a result of shape [2, 3] into [2]"), "{error}");

    let (ones, zeros) = (stream.full([3], 1).unwrap(), stream.zeros::<i32>([3]).unwrap());
    let error = stream.eval(&(&ones / &zeros)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("divided by an element 0"), "{error}");

    let complex = stream.zeros::<Complex<f32>>([3]).unwrap();
    let error = stream.eval(&(&complex + &complex)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("add takes c64 only on the CPU, not on cuda:0"), "{error}");
}

#[test]
fn several_operations_are_one_launch() {
    if !alone("expressions::several_operations_are_one_launch", "RUST_TEST_THREADS", "1") {
        return;
    }
    let stream = stream!();
    let (a, b) = (stream.full([100], 2.0_f32).unwrap(), stream.full([100], 3.0_f32).unwrap());
    let launches = |run: &dyn Fn(&Stream)| {
        let before = tenure::stats();
        run(&stream);
        let after = tenure::stats();
        (after.device_launches - before.device_launches, after.device_waits - before.device_waits)
    };
    let several = |stream: &Stream| {
        let expression = ((&a * &b + 1.0).tanh().gt(0.5)).select(&a, 0.0) - &b;
        assert_eq!(stream.eval(&expression).unwrap().shape(), [100]);
    };
    assert_eq!(launches(&several), (1, 0));
    let with_a_sum = |stream: &Stream| {
        stream.eval(&(&a * &b).sum(..)).unwrap();
    };
    // One for the product, one for the sum, and one that looks at the end of the range.
    assert_eq!(launches(&with_a_sum), (3, 0));
    let divided = |stream: &Stream| {
        let integers = stream.full([100], 7).unwrap();
        stream.eval(&(&integers / &integers)).unwrap();
    };
    assert_eq!(launches(&divided), (2, 1)); // the fill, too
}

#[test]
fn truths_are_operands_too() {
    let stream = stream!();
    let a = stream.upload(&[true, false, true].map(Bool8::from)).unwrap();
    let b = stream.upload(&[true, true, false].map(Bool8::from)).unwrap();
    let result = stream.eval(&(!(&a & &b) ^ &a)).unwrap();
    assert_eq!(stream.to_vec(&result).unwrap(), [true, true, false].map(Bool8::from));
}

/// Streams are ordered by what an expression reads, and its operands may end at once.
#[test]
fn operands_end_after_the_work() {
    let one = stream!();
    let two = one.device().stream().unwrap();
    let mut results = Vec::new();
    for value in 0..20 {
        let tensor = one.full([1000], value).unwrap();
        results.push(two.eval(&(&tensor * 2 + &tensor)).unwrap());
        drop(tensor);
        one.full([1000], -1).unwrap();
    }
    for (value, result) in (0..).zip(&results) {
        assert!(two.to_vec(result).unwrap().iter().all(|&element| element == 3 * value));
    }
}
