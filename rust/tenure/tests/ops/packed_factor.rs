//! Products by a packed factor, and products with a sparse result, compared with the plain ones.

use std::thread;

use half::{bf16, f16};
use num_complex::Complex;
use tenure::{
    Activation, Context, CsrMatrix, ErrorKind, Factor, Matmul, PackedFactor, Tensor,
    linalg::{
        matmul, matmul_csr, matmul_packed, matmul_packed_into, matmul_packed_scaled_into,
        matmul_packed_u8_i8, matmul_packed_with, matmul_packed_with_into, matmul_u8_i8,
        matmul_with,
    },
    sparse::sparsify,
    stats,
};

/// Numbers between -1 and 1; adjacent ones differ.
fn number(index: usize) -> f32 {
    ((index * 7919 + 13) % 1009) as f32 / 504.0 - 1.0
}

fn tensor<T: Factor>(shape: &[usize], of: impl Fn(f32) -> T) -> Tensor<T> {
    let count = shape.iter().product();
    let elements: Vec<T> = (0..count).map(|index| of(number(index))).collect();
    Tensor::copy_from_slice(&elements, shape).unwrap()
}

fn check<T: Factor>(of: impl Fn(f32) -> T + Copy)
where
    T::Product: PartialEq + std::fmt::Debug,
{
    for [rows, cols, depth] in [[1, 40, 33], [9, 1, 70], [33, 70, 1030], [4, 3, 0], [0, 5, 2]] {
        let (a, b) = (tensor(&[rows, depth], of), tensor(&[depth, cols], of));
        let packed = PackedFactor::pack(&b).unwrap();
        assert_eq!([packed.rows(), packed.cols()], [depth, cols]);
        let expected = matmul(&a, &b).unwrap();
        assert_eq!(matmul_packed(&a, &packed).unwrap().to_vec(), expected.to_vec());
        let mut out = Tensor::<T::Product>::zeros([rows, cols]).unwrap();
        matmul_packed_into(&a, &packed, &mut out).unwrap();
        assert_eq!(out.to_vec(), expected.to_vec());
    }
}

#[test]
fn every_dtype_has_the_bits_of_the_plain_product() {
    check(|x| x);
    check(f64::from);
    check(f16::from_f32);
    check(bf16::from_f32);
    check(|x| (x * 100.0) as i8);
    check(|x| (x * 100.0) as u8);
    check(|x| Complex::new(x, 1.0 - x));
    check(|x| Complex::new(f64::from(x), 0.5));
}

#[test]
fn scalars_bias_and_activation_follow_as_of_the_plain_product() {
    let (a, b) = (tensor(&[7, 50], |x| x), tensor(&[50, 33], |x| x));
    let bias = tensor(&[33], |x| x);
    let packed = PackedFactor::pack(&b).unwrap();
    let layer = Matmul::new().bias(&bias).activation(Activation::Relu);
    let expected = matmul_with(&a, &b, layer).unwrap();
    assert_eq!(matmul_packed_with(&a, &packed, layer).unwrap().to_vec(), expected.to_vec());
    let mut out = Tensor::<f32>::zeros([7, 33]).unwrap();
    matmul_packed_with_into(&a, &packed, layer, &mut out).unwrap();
    assert_eq!(out.to_vec(), expected.to_vec());
    let mut plain = out.to_tensor().unwrap();
    tenure::linalg::matmul_scaled_into(2.0, &a, &b, -0.5, &mut plain).unwrap();
    matmul_packed_scaled_into(2.0, &a, &packed, -0.5, &mut out).unwrap();
    assert_eq!(out.to_vec(), plain.to_vec());
    let (a, b) = (tensor(&[3, 9], |x| (x * 100.0) as u8), tensor(&[9, 20], |x| (x * 100.0) as i8));
    let packed = PackedFactor::pack_for_u8(&b).unwrap();
    assert_eq!(
        matmul_packed_u8_i8(&a, &packed).unwrap().to_vec(),
        matmul_u8_i8(&a, &b).unwrap().to_vec()
    );
}

#[test]
fn threads_share_a_factor() {
    fn assert_shared<T: Send + Sync>() {}
    assert_shared::<PackedFactor<f32>>();
    let (a, b) = (tensor(&[5, 300], |x| x), tensor(&[300, 200], |x| x));
    let expected = matmul(&a, &b).unwrap().to_vec();
    let packed = PackedFactor::pack(&b).unwrap();
    drop(b);
    thread::scope(|scope| {
        for threads in [1, 2, 2] {
            let (a, packed, expected) = (&a, &packed, &expected);
            scope.spawn(move || {
                Context::with_threads(threads).unwrap().install(|| {
                    for _ in 0..20 {
                        assert_eq!(matmul_packed(a, packed).unwrap().to_vec(), *expected);
                    }
                })
            });
        }
    });
}

#[test]
fn shapes_that_do_not_agree_are_refused() {
    let packed = PackedFactor::pack(&tensor(&[3, 4], |x| x)).unwrap();
    let error = matmul_packed(&tensor(&[2, 5], |x| x), &packed).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("b.shape[0] is 3 but must be 5"), "{error}");
    let signed = PackedFactor::pack(&[[1_i8]]).unwrap();
    let error = matmul_packed_u8_i8(&[[1]], &signed).unwrap_err();
    assert!(error.to_string().contains("a.dtype is u8 but b was packed for"), "{error}");
    let error = matmul_packed(&[[1_i8]], &PackedFactor::pack_for_u8(&[[1]]).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let error = PackedFactor::pack(&[1.0, 2.0]).unwrap_err();
    assert!(error.to_string().contains("b.rank is 1 but must be 2"), "{error}");
    assert!(format!("{packed:?}").starts_with("PackedFactor(3 x 4, dtype=f32, "), "{packed:?}");
}

#[test]
fn a_sparse_product_is_the_dense_one_converted() {
    for [rows, cols, depth] in [[33, 70, 130], [1, 1, 1], [3, 4, 0], [0, 5, 2], [1500, 1600, 3]] {
        let (a, b) = (tensor(&[rows, depth], |x| x), tensor(&[depth, cols], |x| x));
        let bias = tensor(&[cols], |x| x);
        let layer = Matmul::new().bias(&bias).activation(Activation::Relu);
        let dense = matmul_with(&a, &b, layer).unwrap();
        let expected: CsrMatrix<f32> = sparsify(&dense).to_csr().unwrap();
        for threads in [1, 2] {
            let context = Context::with_threads(threads).unwrap();
            let matrix: CsrMatrix<f32> = context.install(|| matmul_csr(&a, &b, layer)).unwrap();
            assert_eq!(matrix.row_offsets(), expected.row_offsets());
            assert_eq!(matrix.col_indices(), expected.col_indices());
            assert_eq!(matrix.values(), expected.values());
            assert!(matrix.view().is_coalesced());
        }
        let wide: CsrMatrix<f32, i64> = matmul_csr(&a, &b, layer).unwrap();
        assert_eq!(wide.values(), expected.values());
    }
}

#[test]
fn a_sparse_product_is_never_dense() {
    let a = tensor(&[2500, 1], |_| -1.0_f32);
    let b = tensor(&[1, 1000], |x| x.abs() + 1.0);
    let before = stats();
    let layer = Matmul::new().activation(Activation::Relu);
    let matrix: CsrMatrix<f32> = matmul_csr(&a, &b, layer).unwrap();
    assert_eq!(matrix.nnz(), 0);
    // Tests at the same time allocate too, but no 10 MB.
    assert!(stats().allocated_bytes - before.allocated_bytes < 8 << 20);
    let error = matmul_csr::<f32, i32>(&a.view().index(1, 0).unwrap(), &b, layer).unwrap_err();
    assert!(error.to_string().contains("a.rank is 1 but must be 2"), "{error}");
}
