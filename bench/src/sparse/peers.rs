//! These operations by other libraries, on one thread; nothing without the feature `peers`.

use std::cell::RefCell;

use tenure::CsrMatrix;

use crate::roofs::kernels::Arrays;
use crate::subject::Case;

/// Conversions of the matrix in the arrays to compressed rows.
pub fn dense_to_csr(arrays: &RefCell<Arrays>) -> Vec<Case<'_>> {
    imp::dense_to_csr(arrays)
}

/// Conversions to dense.
pub fn csr_to_dense(matrix: &CsrMatrix<f32>) -> Vec<Case<'_>> {
    imp::to_dense(matrix)
}

/// Products with a vector, which is given, into another.
pub fn times_vector<'a>(matrix: &'a CsrMatrix<f32>, x: &'a [f32]) -> Vec<Case<'a>> {
    imp::times_vector(matrix, x)
}

/// Products with the columns of `b`, in row-major order.
pub fn times_columns<'a>(matrix: &'a CsrMatrix<f32>, b: &'a [f32]) -> Vec<Case<'a>> {
    imp::times_columns(matrix, b)
}

/// Reading the text of a Matrix Market file.
pub fn matrix_market(text: &[u8]) -> Vec<Case<'_>> {
    imp::matrix_market(text)
}

#[cfg(feature = "peers")]
mod imp {
    use std::cell::RefCell;
    use std::hint::black_box;

    use ndarray::{ArrayView2, ArrayViewMut2};
    use sprs::{CsMatI, CsMatViewI, TriMatI, prod};
    use tenure::CsrMatrix;

    use crate::operations::side;
    use crate::roofs::kernels::Arrays;
    use crate::subject::Case;

    fn lent(matrix: &CsrMatrix<f32>) -> CsMatViewI<'_, f32, i32> {
        let (offsets, indices) = (matrix.row_offsets(), matrix.col_indices());
        CsMatViewI::new((matrix.rows(), matrix.cols()), offsets, indices, matrix.values())
    }

    pub fn dense_to_csr(arrays: &RefCell<Arrays>) -> Vec<Case<'_>> {
        let work = move || {
            let arrays = &mut *arrays.borrow_mut();
            let (a, ..) = arrays.parts();
            let dense = ArrayView2::from_shape((side(a), side(a)), a).expect("a square");
            drop(black_box::<CsMatI<f32, i32>>(CsMatI::csr_from_dense(dense, 0.0)));
        };
        vec![Case::cold("sprs", work)]
    }

    pub fn to_dense(matrix: &CsrMatrix<f32>) -> Vec<Case<'_>> {
        let work = || drop(black_box(lent(matrix).to_dense()));
        vec![Case::cold("sprs", work), Case::recycled("sprs", work)]
    }

    pub fn times_vector<'a>(matrix: &'a CsrMatrix<f32>, x: &'a [f32]) -> Vec<Case<'a>> {
        let mut y = vec![0.0; matrix.rows()];
        let work = move || {
            y.fill(0.0); // It adds to what is there.
            prod::mul_acc_mat_vec_csr(lent(matrix), black_box(x), &mut y[..]);
            black_box(&y);
        };
        vec![Case::repeated("sprs", "into", work)]
    }

    pub fn times_columns<'a>(matrix: &'a CsrMatrix<f32>, b: &'a [f32]) -> Vec<Case<'a>> {
        let cols = b.len() / matrix.cols();
        let mut out = vec![0.0; matrix.rows() * cols];
        let work = move || {
            out.fill(0.0);
            let b = ArrayView2::from_shape((matrix.cols(), cols), b).expect("its shape");
            let out = ArrayViewMut2::from_shape((matrix.rows(), cols), &mut out);
            prod::csr_mulacc_dense_rowmaj(lent(matrix), b, out.expect("its shape"));
        };
        vec![Case::repeated("sprs", "into", work)]
    }

    pub fn matrix_market(text: &[u8]) -> Vec<Case<'_>> {
        let work = move || {
            let read = sprs::io::read_matrix_market_from_bufread(&mut black_box(text));
            let made: TriMatI<f32, i32> = read.expect("as it was written");
            drop(black_box(made));
        };
        vec![Case::recycled("sprs", work)]
    }
}

#[cfg(not(feature = "peers"))]
mod imp {
    use std::cell::RefCell;

    use tenure::CsrMatrix;

    use crate::roofs::kernels::Arrays;
    use crate::subject::Case;

    pub fn dense_to_csr(_: &RefCell<Arrays>) -> Vec<Case<'_>> {
        Vec::new()
    }

    pub fn to_dense(_: &CsrMatrix<f32>) -> Vec<Case<'_>> {
        Vec::new()
    }

    pub fn times_vector<'a>(_: &'a CsrMatrix<f32>, _: &'a [f32]) -> Vec<Case<'a>> {
        Vec::new()
    }

    pub fn times_columns<'a>(_: &'a CsrMatrix<f32>, _: &'a [f32]) -> Vec<Case<'a>> {
        Vec::new()
    }

    pub fn matrix_market(_: &[u8]) -> Vec<Case<'_>> {
        Vec::new()
    }
}
