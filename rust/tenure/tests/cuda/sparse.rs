//! Sparse matrices on a device, compared with the host's, of numbers with exact sums.

use tenure::*;

use crate::samples::Random;
use crate::{alone, stream};

/// Rows of 0 to 8 entries, and one of `long`.
fn matrix<T: Element, I: SparseIndex>(
    random: &mut Random,
    long: usize,
    of: impl Fn(i8) -> T,
) -> CsrMatrix<T, I> {
    let (rows, cols) = (60, 41);
    let (mut offsets, mut indices) = (vec![0], Vec::new());
    for row in 0..rows {
        let count = if row == 30 { long } else { random.below(9) };
        indices.extend((0..count).map(|_| random.below(cols)));
        offsets.push(indices.len());
    }
    let values = indices.iter().map(|_| of(random.below(7) as i8 - 3)).collect();
    let narrow = |numbers: Vec<usize>| numbers.iter().map(|&n| I::from_usize(n).unwrap()).collect();
    CsrMatrix::from_vecs(rows, cols, narrow(offsets), narrow(indices), values).unwrap()
}

fn numbers<T: Element>(random: &mut Random, shape: &[usize], of: impl Fn(i8) -> T) -> Tensor<T> {
    let count = shape.iter().product();
    let elements = (0..count).map(|_| of(random.below(7) as i8 - 3)).collect::<Vec<_>>();
    Tensor::from_vec(elements, shape).unwrap()
}

/// Every form of a product.
macro_rules! products {
    ($($name:ident: $type:ty, $index:ty, $of:expr;)*) => {$(
        #[test]
        fn $name() {
            let stream = &stream!();
            let random = &mut Random::new(1);
            let of = $of;
            let host = matrix::<$type, $index>(random, 700, of);
            let there = stream.upload_csr(&host).unwrap();
            for shape in [&[41][..], &[41, 1], &[41, 5], &[41, 70]] {
                let b = numbers(random, shape, of);
                let mut expected = host.matmul(&b).unwrap();
                let b_there = stream.upload(&b).unwrap();
                let mut out = stream.sparse_matmul(&there, &b_there).unwrap();
                assert_eq!(stream.download(&out).unwrap(), expected, "sparse_matmul");
                let (two, three) = (of(2), of(3));
                host.matmul_scaled_into(two, &b, three, &mut expected).unwrap();
                stream.sparse_matmul_scaled_into(two, &there, &b_there, three, &mut out).unwrap();
                assert_eq!(stream.download(&out).unwrap(), expected, "sparse_matmul_scaled_into");
                let expected = host.view().row_range(20..50).unwrap().matmul(&b).unwrap();
                let range = there.view().row_range(20..50).unwrap();
                let mut rows = out.view_mut().slice(0, 5..35).unwrap();
                stream.sparse_matmul_into(range, &b_there, &mut rows).unwrap();
                assert_eq!(stream.download(&rows).unwrap(), expected, "sparse_matmul_into");
            }
            let (x, y) = (numbers(random, &[60, 19], of), numbers(random, &[19, 41], of));
            let (x_there, y_there) = (stream.upload(&x).unwrap(), stream.upload(&y).unwrap());
            let products = stream.sparse_sddmm(&there, &x_there, &y_there).unwrap();
            assert_eq!(stream.download(&products).unwrap(), host.sddmm(&x, &y).unwrap());
            let products = stream.sparse_sddmm_times_values(&there, &x_there, &y_there).unwrap();
            let expected = host.sddmm_times_values(&x, &y).unwrap();
            assert_eq!(stream.download(&products).unwrap(), expected);
            let error = stream.sparse_sddmm(&there, &y_there, &y_there).unwrap_err();
            let expected = host.sddmm(&y, &y).unwrap_err();
            assert_eq!((error.kind(), error.message()), (expected.kind(), expected.message()));
            // With columns of b that are not adjacent.
            let b = numbers(random, &[6, 41], of);
            let product = stream.sparse_matmul(&there, stream.upload(&b).unwrap().t()).unwrap();
            assert_eq!(stream.download(&product).unwrap(), host.matmul(&b.t()).unwrap());
        }
    )*};
}

products! {
    of_f64: f64, i32, f64::from;
    of_f32: f32, i64, f32::from;
    of_f16: f16, i32, |x: i8| f16::from_f32(x.into());
    of_bf16: bf16, i64, |x: i8| bf16::from_f32(x.into());
}

#[test]
fn matrices_go_to_the_device_and_back() {
    let stream = &stream!();
    let host = matrix::<i16, i64>(&mut Random::new(2), 20, i16::from);
    let there = stream.upload_csr(&host).unwrap();
    assert_eq!((there.rows(), there.cols(), there.nnz()), (60, 41, host.nnz()));
    let back = stream.download_csr(&there).unwrap();
    assert_eq!(back.row_offsets(), host.row_offsets());
    assert_eq!((back.col_indices(), back.values()), (host.col_indices(), host.values()));
    assert!(!there.is_coalesced() && !back.is_coalesced());

    let range = host.view().row_range(10..35).unwrap();
    let part = stream.upload_csr(range).unwrap();
    let same_part = stream.download_csr(there.view().row_range(10..35).unwrap()).unwrap();
    for back in [stream.download_csr(&part).unwrap(), same_part] {
        assert_eq!((back.rows(), back.row_offsets()[0]), (25, 0));
        assert_eq!((back.col_indices(), back.values()), (range.col_indices(), range.values()));
    }
    let nothing = CsrView::new(0, 3, &[0], &[], &[0.5_f32; 0]).unwrap().check_coalesced().unwrap();
    let nothing = stream.upload_csr(nothing).unwrap();
    assert!(nothing.is_coalesced() && stream.download_csr(&nothing).unwrap().is_coalesced());
    let empty = stream.sparse_matmul(&nothing, &stream.zeros([3, 2]).unwrap()).unwrap();
    assert_eq!(empty.shape(), [0, 2]);
}

/// The arrays have been checked, so that no call waits for a finding.
#[test]
fn products_wait_for_nothing() {
    let stream = &stream!();
    if !alone("sparse::products_wait_for_nothing", "RUST_TEST_THREADS", "1") {
        return;
    }
    let host = matrix::<f32, i32>(&mut Random::new(3), 900, f32::from);
    let mut there = stream.upload_csr(&host).unwrap();
    let b = stream.full([41], 1.0_f32).unwrap();
    let before = stats().device_waits;
    stream.mul_assign(&mut there.values_mut(), 2.0).unwrap();
    let product = stream.sparse_matmul(&there, &b).unwrap();
    assert_eq!(stats().device_waits, before);
    let ones = Tensor::full([41], 2.0_f32).unwrap();
    assert_eq!(stream.download(&product).unwrap(), host.matmul(&ones).unwrap());
}

#[test]
fn parts_are_checked_when_a_matrix_is_made() {
    let stream = &stream!();
    let part = |numbers: &[i32]| stream.upload(numbers).unwrap();
    let values = || stream.upload(&[1.0_f64, 2.0, 3.0]).unwrap();
    let cases: [(&[i32], &[i32], &str); 6] = [
        (&[0, 2, 3], &[0, 3, 1], "col_indices[1] is 3 but must be at least 0 and below cols"),
        (&[0, 2, 3], &[0, -1, 1], "col_indices[1] is -1 but must be at least 0"),
        (&[0, 4, 3], &[0, 1, 1], "row_offsets[1] is 4 but must be at least 0 and at most 3"),
        (&[2, 0, 3], &[0, 1, 1], "row_offsets"),
        (&[0, 3], &[0, 1, 1], "row_offsets has 2 elements but must have 3: rows + 1"),
        (&[0, 2, 3], &[0, 1], "values has 3 elements but must have one for each of the 2"),
    ];
    for (offsets, indices, message) in cases {
        let (offsets, indices, values) = (part(offsets), part(indices), values());
        let lent = cuda::CsrView::new(2, 3, offsets.view(), indices.view(), values.view());
        let error = lent.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().contains(message), "{error}");
        let rejected = cuda::CsrMatrix::from_parts(2, 3, offsets, indices, values).unwrap_err();
        assert!(rejected.error().message().contains(message), "{rejected}");
        assert_eq!(stream.to_vec(&rejected.into_data().2).unwrap(), [1.0, 2.0, 3.0]);
    }
    // Entries that no row has: a view may leave them out.
    let (offsets, indices) = (part(&[1, 2, 2]), part(&[9, 2, 9]));
    let held = values();
    let rest = cuda::CsrView::new(2, 3, offsets.view(), indices.view(), held.view()).unwrap();
    let product = stream.sparse_matmul(rest, &stream.upload(&[1.0, 1.0, 5.0]).unwrap()).unwrap();
    assert_eq!(stream.to_vec(&product).unwrap(), [10.0, 0.0]);
    let rejected = cuda::CsrMatrix::from_parts(2, 3, offsets, indices, held).unwrap_err();
    assert_eq!(rejected.error().message(), "row_offsets[0] is 1 but must be 0");
    // A view that is not contiguous.
    let (offsets, indices) = (part(&[0, 2, 3]), part(&[0, 7, 1, 7, 2, 7]));
    let spaced = indices.view().slice_step(0, .., 2).unwrap();
    let error = cuda::CsrView::new(2, 3, offsets.view(), spaced, values().view()).unwrap_err();
    assert!(error.message().contains("contiguous"), "{error}");
}

#[test]
fn products_refuse_what_the_host_refuses() {
    let stream = &stream!();
    let host = matrix::<f32, i32>(&mut Random::new(4), 3, f32::from);
    let there = stream.upload_csr(&host).unwrap();
    for shape in [&[40][..], &[41, 2, 2], &[]] {
        let b = Tensor::<f32>::zeros(shape).unwrap();
        let expected = host.matmul(&b).unwrap_err();
        let error = stream.sparse_matmul(&there, &stream.upload(&b).unwrap()).unwrap_err();
        assert_eq!((error.kind(), error.message()), (expected.kind(), expected.message()));
    }
    let b = stream.zeros::<f32>([41]).unwrap();
    let mut out = stream.zeros::<f32>([59]).unwrap();
    let error = stream.sparse_matmul_into(&there, &b, &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

/// Entries and elements, there and back.
macro_rules! conversions {
    ($($name:ident: $type:ty, $index:ty, $of:expr;)*) => {$(
        #[test]
        fn $name() {
            let stream = &stream!();
            let random = &mut Random::new(5);
            let of = $of;
            let dense = numbers::<$type>(random, &[70, 90], of);
            let there = stream.upload(&dense).unwrap();
            let same = |made: Result<cuda::CsrMatrix<$type, $index>>, host: CsrMatrix<_, _>| {
                let made = stream.download_csr(&made.unwrap()).unwrap();
                assert_eq!(made.row_offsets(), host.row_offsets());
                assert_eq!(made.col_indices(), host.col_indices());
                assert_eq!(made.values(), host.values());
                assert!(made.is_coalesced());
            };
            same(stream.sparsify(&there).to_csr(), sparse::sparsify(&dense).to_csr().unwrap());
            let one = of(1_i8);
            same(stream.sparsify(&there).above(one).to_csr(),
                sparse::sparsify(&dense).above(one).to_csr().unwrap());
            same(stream.sparsify(&there).above_in_magnitude(one).to_csr(),
                sparse::sparsify(&dense).above_in_magnitude(one).to_csr().unwrap());
            let mask = ops::lt(&dense, one).unwrap();
            let mask_there = stream.upload(&mask).unwrap();
            same(stream.sparsify(&there).masked(&mask_there).to_csr(),
                sparse::sparsify(&dense).masked(&mask).to_csr().unwrap());
            same(stream.sparsify(&there.t()).to_csr(), sparse::sparsify(&dense.t()).to_csr().unwrap());

            let matrix = stream.sparsify(&there).to_csr::<$index>().unwrap();
            let back = stream.sparse_to_dense(&matrix).unwrap();
            assert_eq!(stream.download(&back).unwrap(), dense);
            let mut out = stream.full([90, 70], one).unwrap();
            stream.sparse_to_dense_into(&matrix, &mut out.view_mut().t()).unwrap();
            assert_eq!(stream.download(out.t()).unwrap(), dense);
        }
    )*};
}

conversions! {
    of_dense_f64: f64, i64, f64::from;
    of_dense_f32: f32, i32, f32::from;
    of_dense_f16: f16, i32, |x: i8| f16::from_f32(x.into());
    of_dense_i8: i8, i64, |x| x;
    of_dense_i64: i64, i32, i64::from;
}

#[test]
fn conversions_wait_once_or_not_at_all() {
    let stream = &stream!();
    if !alone("sparse::conversions_wait_once_or_not_at_all", "RUST_TEST_THREADS", "1") {
        return;
    }
    let dense = stream.upload(&[[0.0_f64, -0.0, 3.0], [4.0, 0.0, 0.0]]).unwrap();
    let before = stats().device_waits;
    let matrix = stream.sparsify(&dense).keep_negative_zero().to_csr::<i32>().unwrap();
    assert_eq!(stats().device_waits, before + 1);
    let back = stream.sparse_to_dense(&matrix).unwrap();
    assert_eq!(stats().device_waits, before + 1);
    stream.sparse_coalesce(&matrix, Combine::Sum).unwrap();
    assert_eq!(stats().device_waits, before + 2);
    let back = stream.to_vec(&back).unwrap();
    assert_eq!(back, [0.0, -0.0, 3.0, 4.0, 0.0, 0.0]);
    assert!(back[1].is_sign_negative() && matrix.nnz() == 3);
}

fn assert_same<T: Element, I: SparseIndex>(a: &CsrMatrix<T, I>, b: &CsrMatrix<T, I>) {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()));
    assert_eq!(a.row_offsets(), b.row_offsets());
    assert_eq!(a.col_indices(), b.col_indices());
    assert_eq!(a.values(), b.values());
}

/// Every type: all entries, the entries of a range of rows, and coordinates in no order.
macro_rules! coalesced {
    ($($name:ident: $type:ty, $index:ty, $of:expr;)*) => {$(
        #[test]
        fn $name() {
            let stream = &stream!();
            let host = matrix::<$type, $index>(&mut Random::new(7), 700, $of);
            let there = stream.upload_csr(&host).unwrap();
            for combine in [Combine::Sum, Combine::Min, Combine::Max, Combine::Last] {
                let expected = host.view().coalesce(combine).unwrap();
                let made = stream.sparse_coalesce(&there, combine).unwrap();
                assert!(made.is_coalesced());
                assert_same(&stream.download_csr(&made).unwrap(), &expected);
                let rows = host.view().row_range(20..50).unwrap().coalesce(combine).unwrap();
                let range = there.view().row_range(20..50).unwrap();
                let made = stream.sparse_coalesce(range, combine).unwrap();
                assert_same(&stream.download_csr(&made).unwrap(), &rows);
            }

            let (random, of) = (&mut Random::new(8), $of);
            let (rows, cols): (Vec<$index>, Vec<$index>) = (0..500)
                .map(|_| (random.below(60), random.below(41)))
                .map(|(row, col)| (<$index>::from_usize(row), <$index>::from_usize(col)))
                .map(|(row, col)| (row.unwrap(), col.unwrap()))
                .unzip();
            let values = (0..500).map(|_| of(random.below(7) as i8 - 3)).collect::<Vec<$type>>();
            let expected = CooView::new(60, 41, &rows, &cols, &values).unwrap().to_csr().unwrap();
            let (rows, cols) = (stream.upload(&rows).unwrap(), stream.upload(&cols).unwrap());
            let values = stream.upload(&values).unwrap();
            let pairs = cuda::CooView::new(60, 41, rows.view(), cols.view(), values.view());
            let made = stream.sparse_to_csr(pairs.unwrap()).unwrap();
            assert_same(&stream.download_csr(&made).unwrap(), &expected);
        }
    )*};
}

#[test]
fn coordinates_are_refused_as_on_the_host() {
    let stream = &stream!();
    let (rows, cols) = (stream.upload(&[1, 0]).unwrap(), stream.upload(&[0, 3]).unwrap());
    let values = stream.upload(&[1.0, 2.0]).unwrap();
    let error =
        cuda::CooView::new(2, 3, rows.view(), cols.view(), values.view().slice(0, ..1).unwrap());
    let expected = CooView::new(2, 3, &[1, 0], &[0, 3], &[1.0]).unwrap_err();
    assert_eq!(error.unwrap_err().message(), expected.message());
    let pairs = cuda::CooView::new(2, 3, rows.view(), cols.view(), values.view()).unwrap();
    assert_eq!((pairs.rows(), pairs.cols()), (2, 3));
    assert!(format!("{pairs:?}").starts_with("CooView"));
    let error = stream.sparse_to_csr(pairs).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("col_indices[1] is 3"), "{error}");
}

coalesced! {
    coalesced_f64: f64, i64, f64::from;
    coalesced_f16: f16, i32, |x: i8| f16::from_f32(x.into());
    coalesced_i8: i8, i64, |x| x;
    coalesced_i64: i64, i32, i64::from;
}

/// Several entries for one position are added up.
#[test]
fn entries_of_one_position_are_added_up() {
    let stream = &stream!();
    let host = matrix::<f32, i32>(&mut Random::new(6), 300, f32::from);
    let there = stream.upload_csr(&host).unwrap();
    let dense = stream.sparse_to_dense(&there).unwrap();
    assert_eq!(stream.download(&dense).unwrap(), host.to_dense().unwrap());
    let range = there.view().row_range(7..40).unwrap();
    let dense = stream.download(&stream.sparse_to_dense(range).unwrap()).unwrap();
    assert_eq!(dense, host.view().row_range(7..40).unwrap().to_dense().unwrap());

    let halves = matrix::<f16, i32>(&mut Random::new(6), 3, |x| f16::from_f32(x.into()));
    let error = stream.sparse_to_dense(&stream.upload_csr(&halves).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().starts_with("sparse_to_dense takes f16"), "{error}");
}

#[test]
fn conversions_refuse_what_the_host_refuses() {
    let stream = &stream!();
    let dense = Tensor::<f32>::zeros([2, 3]).unwrap();
    let there = stream.upload(&dense).unwrap();
    let same = |error: Error, expected: Error| {
        assert_eq!((error.kind(), error.message()), (expected.kind(), expected.message()));
    };
    let row = stream.zeros::<f32>([3]).unwrap();
    same(
        stream.sparsify(&row).to_csr::<i32>().unwrap_err(),
        sparse::sparsify(&[0.0_f32; 3]).to_csr::<i32>().err().unwrap(),
    );
    same(
        stream.sparsify(&there).above(f32::NAN).to_csr::<i32>().unwrap_err(),
        sparse::sparsify(&dense).above(f32::NAN).to_csr::<i32>().err().unwrap(),
    );
    let mask = [[Bool8::TRUE; 2]; 2];
    let mask_there = stream.upload(&mask).unwrap();
    same(
        stream.sparsify(&there).masked(&mask_there).to_csr::<i32>().unwrap_err(),
        sparse::sparsify(&dense).masked(&mask).to_csr::<i32>().err().unwrap(),
    );
    let matrix = stream.sparsify(&there).to_csr::<i32>().unwrap();
    let error = stream.sparse_to_dense_into(&matrix, &mut stream.zeros([3, 2]).unwrap());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidArgument);
}
