//! Products of dense matrices against a plain triple loop in f64.

use tenure::*;

use crate::random::Random;

/// Whole numbers from -8 to 8: every sum is exact in f32 too, so that results are compared to the
/// bit.
fn numbers<T: Float>(count: usize, seed: u64, from: impl Fn(i8) -> T) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..count).map(|_| from(random.below(17) as i8 - 8)).collect()
}

fn in_f64<T: Float + Into<f64>>(view: TensorView<'_, T>) -> Vec<f64> {
    view.to_vec().into_iter().map(Into::into).collect()
}

/// The sums of products of batches of matrices, all in row-major order.
fn naive([batch, rows, columns, depth]: [usize; 4], a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sums = Vec::new();
    for one in 0..batch {
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            let row = &a[(one * rows + i) * depth..][..depth];
            let column = b[one * depth * columns + j..].iter().step_by(columns);
            sums.push(row.iter().zip(column).map(|(x, y)| x * y).sum());
        }
    }
    sums
}

/// A batch of matrices over `memory`, in one of five layouts: row-major, column-major, with gaps,
/// rows and columns backwards, and one matrix for the whole batch.
const LAYOUTS: usize = 5;
const GAP: usize = 3;
fn laid_out<T: Element>(
    memory: &[T],
    [batch, rows, columns]: [usize; 3],
    layout: usize,
) -> TensorView<'_, T> {
    let (r, c) = (rows as isize, columns as isize);
    let (offset, strides) = match layout {
        0 => (0, [r * c, c, 1]),
        1 => (0, [r * c, 1, r]),
        2 => (1, [r * c * GAP as isize, c * GAP as isize, GAP as isize]),
        3 => (batch * rows * columns - 1, [-r * c, -c, -1]),
        _ => (0, [0, c, 1]),
    };
    // No elements have no last one.
    let offset = if batch * rows * columns == 0 { 0 } else { offset };
    TensorView::from_slice_strided(memory, offset, [batch, rows, columns], &strides).unwrap()
}

fn check_every_layout<T: Float + Into<f64>>(
    [batch, rows, columns, depth]: [usize; 4],
    from: impl Fn(i8) -> T + Copy,
) {
    let room = |rows: usize, columns: usize| batch * rows * columns * GAP + 1;
    let a_memory = numbers(room(rows, depth), 1, from);
    let b_memory = numbers(room(depth, columns), 2, from);
    let old = numbers(room(rows, columns), 3, from);
    for (a_layout, b_layout) in (0..LAYOUTS).flat_map(|a| (0..LAYOUTS).map(move |b| (a, b))) {
        let a = laid_out(&a_memory, [batch, rows, depth], a_layout);
        let b = laid_out(&b_memory, [batch, depth, columns], b_layout);
        let shape = [batch, rows, columns];
        let before = laid_out(&old, shape, 0);
        let plain = naive([batch, rows, columns, depth], &in_f64(a), &in_f64(b));
        let scaled: Vec<f64> =
            plain.iter().zip(in_f64(before)).map(|(sum, old)| 2.0 * sum - 3.0 * old).collect();
        let same = |got: TensorView<'_, T>, expected: &[f64], how: &str| {
            assert_eq!(in_f64(got), expected, "{how} {shape:?}, {depth}: {a_layout} by {b_layout}");
        };
        let product = linalg::matmul(a, b).unwrap();
        assert_eq!(product.shape(), shape);
        same(product.view(), &plain, "matmul");

        for order in [Order::RowMajor, Order::ColumnMajor] {
            let mut out = Tensor::<T>::zeros_in(shape, order).unwrap();
            linalg::matmul_into(a, b, &mut out).unwrap();
            same(out.view(), &plain, "matmul_into");
            ops::copy_into(before, &mut out).unwrap();
            linalg::matmul_scaled_into(from(2), a, b, from(-3), &mut out).unwrap();
            same(out.view(), &scaled, "matmul_scaled_into");
        }
    }
}

#[test]
fn products_in_every_layout() {
    // Read where they lie, and packed.
    for extents in [[1, 1, 1, 1], [2, 3, 5, 7], [3, 8, 8, 8], [2, 61, 67, 53]] {
        check_every_layout::<f32>(extents, f32::from);
        check_every_layout::<f64>(extents, f64::from);
    }
    // Sums of so few small numbers are exact in these too.
    let small = |number: i8| if number.abs() < 4 { f32::from(number) } else { 0.0 };
    for extents in [[1, 1, 1, 1], [2, 3, 5, 7], [3, 8, 8, 8]] {
        check_every_layout(extents, |number| f16::from_f32(small(number)));
        check_every_layout(extents, |number| bf16::from_f32(small(number)));
    }
}

#[test]
fn complex_products() {
    let i = Complex::new(0.0_f32, 1.0);
    let one = Complex::new(1.0, 0.0);
    let product = linalg::matmul(&[[one, i]], &[[i, one], [i, one]]).unwrap();
    assert_eq!(product.to_vec(), [i - one, one + i]);
    let mut out = [[i, one]];
    linalg::matmul_scaled_into(i, &[[one, i]], &[[i, one], [i, one]], -one, &mut out).unwrap();
    assert_eq!(out, [[-one - i - i, i - one - one]]);
}

#[test]
fn products_of_bytes() {
    let (a, b) = ([[255_u8, 255], [0, 1]], [[255_u8, 0], [255, 1]]);
    assert_eq!(linalg::matmul(&a, &b).unwrap().to_vec(), [130_050, 255, 255, 1]);
    let b = [[-128_i8, 0], [-128, 1]];
    assert_eq!(linalg::matmul_u8_i8(&a, &b).unwrap().to_vec(), [-65_280, 255, -128, 1]);
    let mut out = [[1; 2]; 2];
    linalg::matmul_scaled_into(2, &b, &b, -1, &mut out).unwrap();
    assert_eq!(out, [[32_767, -1], [32_511, 1]]);
}

#[test]
fn a_bias_and_an_activation_follow_the_sums() {
    let (a, b) = ([[1.0_f32, -2.0], [3.0, 0.5]], [[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]]);
    let bias = [0.5_f32, -1.0, 2.0];
    let plain = ops::add(linalg::matmul(&a, &b).unwrap(), &bias).unwrap();
    let with = Matmul::new().bias(&bias);
    assert_eq!(linalg::matmul_with(&a, &b, with).unwrap().to_vec(), plain.to_vec());
    let mut out = Tensor::zeros_in([2, 3], Order::ColumnMajor).unwrap();
    linalg::matmul_with_into(&a, &b, with.activation(Activation::Tanh), &mut out).unwrap();
    assert_eq!(out.to_vec(), ops::tanh(&plain).unwrap().to_vec());

    let short = linalg::matmul_with(&a, &b, Matmul::new().bias(&[1.0, 2.0])).unwrap_err();
    assert_eq!(short.kind(), ErrorKind::InvalidArgument);
    assert!(short.to_string().contains("attributes->bias has shape [2]"), "{short}");
    let bytes = Matmul::new().activation(Activation::Tanh);
    let refused = linalg::matmul_with(&[[1_u8]], &[[1]], bytes).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}

#[test]
fn bounds_follow_the_activation() {
    let (a, one) = ([[-3.0_f32], [-0.5], [2.0], [9.0], [f32::NAN]], [[1.0_f32]]);
    let clamped = linalg::matmul_with(&a, &one, Matmul::new().clamp(-1.0, 6.0)).unwrap().to_vec();
    assert_eq!(clamped[..4], [-1.0, -0.5, 2.0, 6.0]);
    assert!(clamped[4].is_nan());
    let relu = Matmul::new().activation(Activation::Relu).clamp(-1.0, 6.0);
    assert_eq!(linalg::matmul_with(&a, &one, relu).unwrap().to_vec()[..4], [0.0, 0.0, 2.0, 6.0]);
    let bytes = Matmul::new().clamp(f64::NEG_INFINITY, 255.0);
    assert_eq!(linalg::matmul_with(&[[-100_i8]], &[[1, -3]], bytes).unwrap().to_vec(), [-100, 255]);
    let refused = linalg::matmul_with(&a, &one, Matmul::new().clamp(1.0, f64::NAN)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    let refused =
        linalg::matmul_csr::<f32, i32>(&a, &one, Matmul::new().clamp(0.0, 6.0)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}

#[test]
fn each_activation_is_the_function_of_its_name() {
    let a = [[0.75_f32, -3.5, 0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 9.0]];
    let plain = linalg::matmul(&[[1.0]], &a).unwrap();
    type Function = fn(&Tensor<f32>) -> tenure::Result<Tensor<f32>>;
    let functions: [(Activation, Function); 10] = [
        (Activation::Relu, |a| tenure::nn::relu(a)),
        (Activation::Tanh, |a| tenure::ops::tanh(a)),
        (Activation::Sigmoid, |a| tenure::nn::sigmoid(a)),
        (Activation::Silu, |a| tenure::nn::silu(a)),
        (Activation::Gelu, |a| tenure::nn::gelu(a)),
        (Activation::GeluTanh, |a| tenure::nn::gelu_tanh(a)),
        (Activation::Softplus, |a| tenure::nn::softplus(a)),
        (Activation::Hardswish, |a| tenure::nn::hardswish(a)),
        (Activation::Elu, |a| tenure::nn::elu(a)),
        (Activation::LeakyRelu, |a| tenure::nn::leaky_relu(a)),
    ];
    for (activation, function) in functions {
        let with = Matmul::new().activation(activation);
        let found = linalg::matmul_with(&[[1.0]], &a, with).unwrap().to_vec();
        let wanted = function(&plain).unwrap().to_vec();
        assert!(wanted[3].is_nan() && wanted.iter().filter(|x| x.is_nan()).count() == 1);
        let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found), bits(&wanted), "{activation:?}");
    }
}

#[test]
fn sums_of_many_depths() {
    check_every_layout::<f32>([1, 33, 40, 1100], f32::from);
    check_every_layout::<f64>([1, 1, 40, 1100], f64::from);
    check_every_layout::<f64>([1, 40, 1, 1100], f64::from);
}

#[test]
fn vectors_are_rows_and_columns_without_an_axis() {
    let (a, x) = ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [1.0, 10.0, 100.0]);
    let by_column = linalg::matmul(&a, &x).unwrap();
    assert_eq!((by_column.shape(), by_column.to_vec()), (&[2][..], vec![321.0, 654.0]));
    let by_row = linalg::matmul(&[1.0, -1.0], &a).unwrap();
    assert_eq!((by_row.shape(), by_row.to_vec()), (&[3][..], vec![-3.0; 3]));
    let dot = linalg::matmul(&x, &x).unwrap();
    assert_eq!((dot.shape(), dot.to_vec()), (&[][..], vec![10101.0]));
    let batch = linalg::matmul(&[a, a], &x).unwrap();
    assert_eq!((batch.shape(), batch.to_vec()), (&[2, 2][..], vec![321.0, 654.0, 321.0, 654.0]));
}

#[test]
fn batches_broadcast() {
    let memory = numbers(2 * 3 * 4 * 5, 4, f64::from);
    let a = TensorView::from_slice(&memory[..24], [2, 1, 3, 4]).unwrap();
    let b = TensorView::from_slice(&memory[..60], [3, 4, 5]).unwrap();
    let product = linalg::matmul(a, b).unwrap();
    assert_eq!(product.shape(), [2, 3, 3, 5]);
    for (i, j) in (0..2).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let one = a.index(0, i).unwrap().index(0, 0).unwrap();
        let one = linalg::matmul(one, b.index(0, j).unwrap()).unwrap();
        let of_batch = product.view().index(0, i).unwrap().index(0, j).unwrap();
        assert_eq!(of_batch.to_vec(), one.to_vec());
    }
    // The caller's memory may have axes that neither factor has.
    let mut out = Tensor::<f64>::zeros([2, 3, 5]).unwrap();
    linalg::matmul_into(
        a.index(0, 0).unwrap().index(0, 0).unwrap(),
        b.index(0, 2).unwrap(),
        &mut out,
    )
    .unwrap();
    let (first, second) = (out.view().index(0, 0).unwrap(), out.view().index(0, 1).unwrap());
    assert_eq!(first.to_vec(), second.to_vec());
}

#[test]
fn no_depth_is_a_sum_of_nothing() {
    let a = TensorView::<f32>::from_slice(&[], [2, 0]).unwrap();
    let b = TensorView::<f32>::from_slice(&[], [0, 3]).unwrap();
    assert_eq!(linalg::matmul(a, b).unwrap().to_vec(), [0.0; 6]);
    let mut out = [[1.0_f32, 2.0, 3.0], [4.0, 5.0, f32::NAN]];
    linalg::matmul_scaled_into(f32::INFINITY, a, b, 2.0, &mut out).unwrap();
    assert_eq!(out[0], [2.0, 4.0, 6.0]);
    assert!(out[1][2].is_nan());
    linalg::matmul_into(a, b, &mut out).unwrap();
    assert_eq!(out, [[0.0; 3]; 2]);
}

#[test]
fn a_beta_of_0_reads_nothing() {
    for count in [2, 70] {
        let ones = Tensor::<f64>::full([count, count], 1.0).unwrap();
        let mut out = Tensor::<f64>::full([count, count], f64::NAN).unwrap();
        linalg::matmul_scaled_into(0.5, &ones, &ones, 0.0, &mut out).unwrap();
        assert_eq!(out.to_vec(), vec![count as f64 / 2.0; count * count]);
    }
}

#[test]
fn nan_and_infinities_meet_every_product() {
    let (a, b) = ([[0.0, f64::INFINITY]], [[f64::NAN, 1.0], [1.0, 2.0]]);
    let product = linalg::matmul(&a, &b).unwrap().to_vec();
    assert!(product[0].is_nan());
    assert_eq!(product[1], f64::INFINITY);
    let mut out = [[1.0, 1.0]];
    linalg::matmul_scaled_into(0.0, &a, &b, 1.0, &mut out).unwrap();
    assert!(out[0].iter().all(|element| element.is_nan()), "0 times an infinity");
}

#[test]
fn threads_do_not_change_bits() {
    let fractions = |seed| -> Vec<f32> {
        let mut random = Random::new(seed);
        (0..200 * 200).map(|_| random.below(1 << 20) as f32 / 3.0).collect()
    };
    let (a, b) = (fractions(5), fractions(6));
    let square = |memory| TensorView::from_slice(memory, [200, 200]);
    let (a, b) = (square(&a).unwrap(), square(&b).unwrap());
    let alone = linalg::matmul(a, b).unwrap();
    let shared = Context::with_threads(3).unwrap().install(|| linalg::matmul(a, b)).unwrap();
    assert_eq!(alone.to_vec(), shared.to_vec());
    let transposed = linalg::matmul(b.t(), a.t()).unwrap();
    assert_eq!(
        alone.to_vec(),
        transposed.view().t().to_vec(),
        "the same sums, in the other layout"
    );
}

#[test]
fn calls_are_counted() {
    let before = operation_stats(Operation::Matmul);
    linalg::matmul(&[[1.0_f32; 3]; 2], &[[1.0_f32; 4]; 3]).unwrap();
    let after = operation_stats(Operation::Matmul);
    assert!(after.calls > before.calls);
    assert!(after.read_bytes >= before.read_bytes + 4 * (6 + 12));
    assert!(after.written_bytes >= before.written_bytes + 4 * 8);
}
