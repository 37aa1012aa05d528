//! The functions of `faer` that factorise, in place, with scratch memory that may be refused.
//!
//! They are methods of a trait that a macro implements for each element type, and not generic
//! functions: those would be compiled again in every crate that calls them, and with its
//! optimisation instead of this crate's.

use faer::diag::{DiagMut, DiagRef};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::{lblt, llt};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
    apply_block_householder_sequence_transpose_on_the_left_in_place_scratch as transposed_scratch,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as apply_transposed,
};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::linalg::qr::{col_pivoting, no_pivoting};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::linalg::triangular_solve;
use faer::perm::{PermRef, permute_rows_in_place, permute_rows_in_place_scratch};
use faer::{Conj, MatMut, MatRef, Par};

use crate::dtype::{Float, NativeFloat, triangle::Triangle};
use crate::error::{Error, ErrorKind, Result};

// No thread but the caller's computes, as everywhere without a context; `faer` knows none of ours.
const PAR: Par = Par::Seq;

/// Whether a reflection of vectors is applied as it is or transposed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reflect {
    AsIs,
    Transposed,
}

/// Whether quotients of a triangle's elements can leave the range of their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    Narrow,
    Wide,
}

/// An iteration of `faer` that did not end.
pub struct Endless;

fn scratch(needed: StackReq) -> Result<MemBuffer> {
    MemBuffer::try_new(needed).map_err(|_| {
        let message = format!("{} bytes of scratch memory could not be had", needed.size_bytes());
        Error::new(ErrorKind::OutOfMemory, message)
    })
}

/// Substitutes without quotients of elements, which `faer` computes: those of columns of very
/// different lengths leave the range of their type.
fn substitute_in_turn<T: NativeFloat>(is_lower: bool, a: MatRef<'_, T>, mut x: MatMut<'_, T>) {
    let order = a.nrows();
    for step in 0..order {
        let place = if is_lower { step } else { order - 1 - step };
        let rest = if is_lower { place + 1..order } else { 0..place };
        for col in 0..x.ncols() {
            let found = x[(place, col)] / a[(place, place)];
            x[(place, col)] = found;
            for row in rest.clone() {
                x[(row, col)] -= a[(row, place)] * found;
            }
        }
    }
}

/// The rows of `faer`'s factor of a block of reflections.
pub(crate) fn reflection_block([rows, cols]: [usize; 2]) -> usize {
    no_pivoting::factor::recommended_block_size::<f64>(rows, cols)
}

/// Factorisations and substitutions of one element type. No extent is 0.
pub trait Backend: Float {
    /// The lower factor over the lower triangle; or the order of the leading minor that is not
    /// positive.
    #[doc(hidden)]
    fn cholesky(a: MatMut<'_, Self>) -> Result<Result<(), usize>>;

    /// Bunch-Kaufman's factors: `L` and the diagonal of `D` over the lower triangle.
    #[doc(hidden)]
    fn ldlt(
        a: MatMut<'_, Self>,
        subdiagonal: &mut [Self],
        permutation: [&mut [usize]; 2],
    ) -> Result<()>;

    #[doc(hidden)]
    fn solve_ldlt(
        l: MatRef<'_, Self>,
        diagonals: [&[Self]; 2],
        permutation: [&[usize]; 2],
        x: MatMut<'_, Self>,
    ) -> Result<()>;

    /// Both factors over the matrix, and how many rows were swapped.
    #[doc(hidden)]
    fn lu(a: MatMut<'_, Self>, permutation: [&mut [usize]; 2]) -> Result<usize>;

    #[doc(hidden)]
    fn permute_rows(x: MatMut<'_, Self>, permutation: [&[usize]; 2]) -> Result<()>;

    #[doc(hidden)]
    fn substitute(triangle: Triangle, range: Range, a: MatRef<'_, Self>, x: MatMut<'_, Self>);

    /// R over the upper triangle, the vectors of the reflections below it.
    #[doc(hidden)]
    fn qr(a: MatMut<'_, Self>, factor: MatMut<'_, Self>) -> Result<()>;

    #[doc(hidden)]
    fn pivoted_qr(
        a: MatMut<'_, Self>,
        factor: MatMut<'_, Self>,
        permutation: [&mut [usize]; 2],
    ) -> Result<()>;

    /// The product of Q and x.
    #[doc(hidden)]
    fn reflect(
        how: Reflect,
        vectors: MatRef<'_, Self>,
        factor: MatRef<'_, Self>,
        x: MatMut<'_, Self>,
    ) -> Result<()>;

    #[doc(hidden)]
    fn eigh(
        a: MatRef<'_, Self>,
        values: &mut [Self],
        vectors: Option<MatMut<'_, Self>>,
    ) -> Result<Result<(), Endless>>;

    #[doc(hidden)]
    fn svd(
        a: MatRef<'_, Self>,
        values: &mut [Self],
        vectors: Option<[MatMut<'_, Self>; 2]>,
    ) -> Result<Result<(), Endless>>;
}

macro_rules! compiled {
    ($($type:ty)*) => {$(
        impl Backend for $type {
            fn cholesky(a: MatMut<'_, $type>) -> Result<Result<(), usize>> {
                let needed = llt::factor::cholesky_in_place_scratch::<$type>(
                    a.nrows(), PAR, Default::default());
                let mut memory = scratch(needed)?;
                let stack = MemStack::new(&mut memory);
                let done = llt::factor::cholesky_in_place(
                    a, Default::default(), PAR, stack, Default::default());
                Ok(match done {
                    Ok(_) => Ok(()),
                    Err(llt::factor::LltError::NonPositivePivot { index }) => Err(index + 1),
                })
            }

            fn ldlt(
                a: MatMut<'_, $type>,
                subdiagonal: &mut [$type],
                [forward, inverse]: [&mut [usize]; 2],
            ) -> Result<()> {
                let needed = lblt::factor::cholesky_in_place_scratch::<usize, $type>(
                    a.nrows(), PAR, Default::default());
                let mut memory = scratch(needed)?;
                let stack = MemStack::new(&mut memory);
                lblt::factor::cholesky_in_place(
                    a, DiagMut::from_slice_mut(subdiagonal), forward, inverse, PAR, stack,
                    Default::default());
                Ok(())
            }

            fn solve_ldlt(
                l: MatRef<'_, $type>,
                [diagonal, subdiagonal]: [&[$type]; 2],
                [forward, inverse]: [&[usize]; 2],
                x: MatMut<'_, $type>,
            ) -> Result<()> {
                let needed = lblt::solve::solve_in_place_scratch::<usize, $type>(
                    l.nrows(), x.ncols(), PAR);
                let mut memory = scratch(needed)?;
                let stack = MemStack::new(&mut memory);
                let permutation = PermRef::new_checked(forward, inverse, l.nrows());
                lblt::solve::solve_in_place_with_conj(
                    l, DiagRef::from_slice(diagonal), DiagRef::from_slice(subdiagonal), Conj::No,
                    permutation, x, PAR, stack);
                Ok(())
            }

            fn lu(a: MatMut<'_, $type>, [forward, inverse]: [&mut [usize]; 2]) -> Result<usize> {
                let needed = lu_in_place_scratch::<usize, $type>(
                    a.nrows(), a.ncols(), PAR, Default::default());
                let mut memory = scratch(needed)?;
                let stack = MemStack::new(&mut memory);
                let done = lu_in_place(a, forward, inverse, PAR, stack, Default::default());
                Ok(done.0.transposition_count)
            }

            fn permute_rows(
                x: MatMut<'_, $type>,
                [forward, inverse]: [&[usize]; 2],
            ) -> Result<()> {
                let (rows, cols) = (x.nrows(), x.ncols());
                let needed = permute_rows_in_place_scratch::<usize, $type>(rows, cols);
                let mut memory = scratch(needed)?;
                let permutation = PermRef::new_checked(forward, inverse, rows);
                permute_rows_in_place(x, permutation, MemStack::new(&mut memory));
                Ok(())
            }

            fn substitute(
                triangle: Triangle,
                range: Range,
                a: MatRef<'_, $type>,
                x: MatMut<'_, $type>,
            ) {
                match (triangle, range) {
                    (Triangle::UnitLower, _) => {
                        triangular_solve::solve_unit_lower_triangular_in_place(a, x, PAR);
                    }
                    (Triangle::UnitUpper, _) => {
                        triangular_solve::solve_unit_upper_triangular_in_place(a, x, PAR);
                    }
                    (_, Range::Wide) => substitute_in_turn(triangle == Triangle::Lower, a, x),
                    (Triangle::Lower, Range::Narrow) => {
                        triangular_solve::solve_lower_triangular_in_place(a, x, PAR);
                    }
                    (Triangle::Upper, Range::Narrow) => {
                        triangular_solve::solve_upper_triangular_in_place(a, x, PAR);
                    }
                }
            }

            fn qr(a: MatMut<'_, $type>, factor: MatMut<'_, $type>) -> Result<()> {
                let needed = no_pivoting::factor::qr_in_place_scratch::<$type>(
                    a.nrows(), a.ncols(), factor.nrows(), PAR, Default::default());
                let mut memory = scratch(needed)?;
                let stack = MemStack::new(&mut memory);
                no_pivoting::factor::qr_in_place(a, factor, PAR, stack, Default::default());
                Ok(())
            }

            fn pivoted_qr(
                a: MatMut<'_, $type>,
                factor: MatMut<'_, $type>,
                [forward, inverse]: [&mut [usize]; 2],
            ) -> Result<()> {
                let needed = col_pivoting::factor::qr_in_place_scratch::<usize, $type>(
                    a.nrows(), a.ncols(), factor.nrows(), PAR, Default::default());
                let mut memory = scratch(needed)?;
                let stack = MemStack::new(&mut memory);
                col_pivoting::factor::qr_in_place(
                    a, factor, forward, inverse, PAR, stack, Default::default());
                Ok(())
            }

            fn reflect(
                how: Reflect,
                vectors: MatRef<'_, $type>,
                factor: MatRef<'_, $type>,
                x: MatMut<'_, $type>,
            ) -> Result<()> {
                let (rows, block, cols) = (vectors.nrows(), factor.nrows(), x.ncols());
                match how {
                    Reflect::AsIs => {
                        let mut memory = scratch(apply_scratch::<$type>(rows, block, cols))?;
                        let stack = MemStack::new(&mut memory);
                        apply(vectors, factor, Conj::No, x, PAR, stack);
                    }
                    Reflect::Transposed => {
                        let mut memory = scratch(transposed_scratch::<$type>(rows, block, cols))?;
                        let stack = MemStack::new(&mut memory);
                        apply_transposed(vectors, factor, Conj::No, x, PAR, stack);
                    }
                }
                Ok(())
            }

            fn eigh(
                a: MatRef<'_, $type>,
                values: &mut [$type],
                vectors: Option<MatMut<'_, $type>>,
            ) -> Result<Result<(), Endless>> {
                let compute = match vectors {
                    Some(_) => ComputeEigenvectors::Yes,
                    None => ComputeEigenvectors::No,
                };
                let needed = self_adjoint_evd_scratch::<$type>(
                    a.nrows(), compute, PAR, Default::default());
                let mut memory = scratch(needed)?;
                let stack = MemStack::new(&mut memory);
                let values = DiagMut::from_slice_mut(values);
                let done = self_adjoint_evd(a, values, vectors, PAR, stack, Default::default());
                Ok(done.map_err(|_| Endless))
            }

            fn svd(
                a: MatRef<'_, $type>,
                values: &mut [$type],
                vectors: Option<[MatMut<'_, $type>; 2]>,
            ) -> Result<Result<(), Endless>> {
                let compute = match vectors {
                    Some(_) => ComputeSvdVectors::Thin,
                    None => ComputeSvdVectors::No,
                };
                let needed = svd_scratch::<$type>(
                    a.nrows(), a.ncols(), compute, compute, PAR, Default::default());
                let mut memory = scratch(needed)?;
                let stack = MemStack::new(&mut memory);
                let values = DiagMut::from_slice_mut(values);
                let [left, right] = match vectors {
                    Some([left, right]) => [Some(left), Some(right)],
                    None => [None, None],
                };
                let done = svd(a, values, left, right, PAR, stack, Default::default());
                Ok(done.map_err(|_| Endless))
            }
        }
    )*};
}

compiled! { f64 f32 }
