//! Dense linear algebra of `f32` and `f64`: factorisations, and the systems that they solve.
//!
//! | function | gives | by |
//! | --- | --- | --- |
//! | [`solve`], [`inv`], [`det`] | x of `a x = b`; the inverse; the determinant | [`Lu`] |
//! | [`lstsq`] | the shortest x for which `a x - b` is shortest | [`PivotedQr`] |
//! | [`cholesky`] | `L` of `a = L Lᵀ` | [`Cholesky`] |
//! | [`qr`] | `Q` and `R` of `a = Q R` | [`Qr`] |
//! | [`eigh`], [`eigvalsh`] | eigenvalues of a symmetric matrix, with or without eigenvectors | |
//! | [`svd`], [`svdvals`] | singular values, with or without singular vectors | |
//! | [`pinv`] | the pseudo-inverse | [`svd`] |
//!
//! The types ([`Cholesky`], [`Ldlt`], [`Lu`], [`Qr`], [`PivotedQr`]) keep their factors, for right
//! sides that come later. Functions are named as NumPy's of `numpy.linalg`, and do as those.
//!
//! Operands are lent in any strides. A factorisation overwrites a copy of the operand, the only
//! copy that is made; `eigh` and `svd` read the operand in place. Matrices have rank 2, without
//! batches; a right side is a vector, or a matrix of a column for each system. Factors are
//! column-major and solutions row-major tensors.
//!
//! The crate [`faer`](https://docs.rs/faer) calculates, and only on the calling thread, whatever
//! the context. Residuals stay within the bounds that LAPACK's tests ask for, with `e` the distance
//! from 1 to the next number: `|a - q r| <= 30 n e |a|`, and the like of each. These bounds hold
//! for columns and rows of magnitudes from 1e-160 to 1e160 (f32: from 1e-19 to 1e19), for each in
//! its own magnitude.
//!
//! # Errors
//!
//! All is refused with `InvalidArgument` before it is computed that has another rank, a shape that
//! does not fit (the message has both whole), or an element that is NaN or infinite (the message
//! has its index). A matrix is singular where a pivot is exactly 0, as in LAPACK: one that is
//! nearly so gives a large, inexact solution. Factors that leave the range of their type are
//! refused too; a solution that leaves it is infinite or NaN. `eigh` and `svd` refuse with
//! `NoConvergence` where their iterations do not end, which finite elements are not known to cause.
//!
//! ```
//! use tenure::{Tensor, linalg};
//!
//! let a = Tensor::from_vec(vec![4.0, 1.0, 1.0, 3.0], [2, 2])?;
//! assert_eq!(linalg::solve(&a, &[9.0, 5.0])?.to_vec(), [2.0, 1.0]);
//!
//! let error = linalg::solve(&a, &[1.0, 2.0, 3.0]).err().unwrap();
//! assert_eq!(
//!     error.message(),
//!     "solve: b has shape [3] but a has shape [2, 2], so that b must be [2] or [2, k]"
//! );
//! # Ok::<(), tenure::Error>(())
//! ```

mod backend;
mod cholesky;
mod lu;
mod operand;
mod qr;
mod spectrum;

pub(crate) use backend::Backend;
pub use cholesky::{Cholesky, Ldlt};
pub use lu::Lu;
pub use qr::{PivotedQr, Qr};

use crate::{AsView, NativeFloat, Result, Tensor};
use spectrum::Vectors;

/// The x of a x = b, for a square `a`; `b` is `[n]`, or `[n, k]` for k systems at once.
///
/// # Errors
///
/// `InvalidArgument`: `a` is no square matrix or singular, `b` has another shape, either has a NaN
/// or an infinity. `OutOfMemory`.
///
/// ```
/// use tenure::linalg::solve;
///
/// assert_eq!(solve(&[[0.0, 2.0], [4.0, 0.0]], &[6.0, 8.0])?.to_vec(), [2.0, 3.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "gesv")]
pub fn solve<T: NativeFloat>(a: impl AsView<T>, b: impl AsView<T>) -> Result<Tensor<T>> {
    let (a, b) = (a.as_view(), b.as_view());
    // The shape of `b` first: to factorise is the work.
    operand::require_right_side("solve", a.shape(), b.shape())?;
    let factors = Lu::of("solve", a)?.map_err(|pivot| operand::singular("solve", pivot))?;
    factors.solve_for("solve", b)
}

/// The inverse of a square matrix. [`solve`] is less work, and more exact.
///
/// # Errors
///
/// The errors of [`Lu::new`].
///
/// ```
/// use tenure::linalg::inv;
///
/// assert_eq!(inv(&[[2.0, 0.0], [0.0, 4.0]])?.to_vec(), [0.5, 0.0, 0.0, 0.25]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("inverse", "getri"))]
pub fn inv<T: NativeFloat>(a: impl AsView<T>) -> Result<Tensor<T>> {
    Lu::of("inv", a.as_view())?.map_err(|pivot| operand::singular("inv", pivot))?.inverse()
}

/// The determinant of a square matrix: 0 of a singular one, 1 of one without elements.
///
/// # Errors
///
/// `InvalidArgument`: `a` is no square matrix, or has a NaN or an infinity. `OutOfMemory`.
///
/// ```
/// use tenure::linalg::det;
///
/// assert_eq!(det(&[[0.0, 2.0], [4.0, 1.0]])?, -8.0);
/// assert_eq!(det(&[[1.0, 2.0], [2.0, 4.0]])?, 0.0);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "determinant")]
pub fn det<T: NativeFloat>(a: impl AsView<T>) -> Result<T> {
    Ok(Lu::of("det", a.as_view())?.map_or(T::ZERO, |factors| factors.det()))
}

/// Least squares, of a matrix of any extents and rank: among all x for which the length of a x - b
/// is least, the shortest. `b` is `[m]`, or `[m, k]` for k systems at once.
///
/// The rank is that of [`PivotedQr::rank`].
///
/// # Errors
///
/// `InvalidArgument`: `a` is no matrix, `b` has another shape, either has a NaN or an infinity.
/// `OutOfMemory`.
///
/// ```
/// use tenure::linalg::lstsq;
///
/// // The line through four points.
/// let line = lstsq(&[[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0]], &[-1.0, 0.2, 0.9, 2.1])?;
/// assert!((line[[0]] - 1.0_f64).abs() < 1e-14 && (line[[1]] + 0.95).abs() < 1e-14);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("least_squares", "gelsy"))]
pub fn lstsq<T: NativeFloat>(a: impl AsView<T>, b: impl AsView<T>) -> Result<Tensor<T>> {
    let (a, b) = (a.as_view(), b.as_view());
    operand::require_right_side("lstsq", a.shape(), b.shape())?;
    PivotedQr::of("lstsq", a)?.solve_for("lstsq", b)
}

/// `L` of `a = L Lᵀ`, lower triangular, of a symmetric positive definite matrix, whose lower
/// triangle is read.
///
/// # Errors
///
/// The errors of [`Cholesky::new`].
///
/// ```
/// use tenure::linalg::cholesky;
///
/// assert_eq!(cholesky(&[[4.0, 2.0], [2.0, 5.0]])?.to_vec(), [2.0, 0.0, 1.0, 2.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "potrf")]
pub fn cholesky<T: NativeFloat>(a: impl AsView<T>) -> Result<Tensor<T>> {
    Ok(Cholesky::new(a)?.into_l())
}

/// `Q`, `[m, k]` with orthonormal columns, and `R`, `[k, n]` and upper triangular, of `a = Q R`,
/// with k the smaller of m and n.
///
/// # Errors
///
/// The errors of [`Qr::new`].
///
/// ```
/// use tenure::linalg::qr;
///
/// let [q, r] = qr(&[[3.0_f64, 1.0], [4.0, 2.0]])?;
/// let back = tenure::matmul(&q, &r)?;
/// assert!((back[[1, 0]] - 4.0_f64).abs() < 1e-14);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "geqrf")]
pub fn qr<T: NativeFloat>(a: impl AsView<T>) -> Result<[Tensor<T>; 2]> {
    let factors = Qr::new(a)?;
    Ok([factors.q()?, factors.r()?])
}

/// The eigenvalues `[n]` of a symmetric matrix, in rising order, and its eigenvectors, the columns
/// of an orthogonal matrix `[n, n]`. The lower triangle is read.
///
/// # Errors
///
/// `InvalidArgument`: `a` is no square matrix, or has a NaN or an infinity in its lower triangle.
/// `NoConvergence`. `OutOfMemory`.
///
/// ```
/// use tenure::linalg::eigh;
///
/// let [values, vectors] = eigh(&[[2.0_f64, 1.0], [1.0, 2.0]])?;
/// assert!((values[[0]] - 1.0).abs() < 1e-14 && (values[[1]] - 3.0).abs() < 1e-14);
/// assert!((vectors[[0, 1]].abs() - 0.5_f64.sqrt()).abs() < 1e-14);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("syev", "eigen"))]
pub fn eigh<T: NativeFloat>(a: impl AsView<T>) -> Result<[Tensor<T>; 2]> {
    spectrum::symmetric("eigh", a.as_view(), Vectors::Computed)
}

/// The eigenvalues that [`eigh`] gives, without the eigenvectors, which are most of its work.
///
/// # Errors
///
/// The errors of [`eigh`].
///
/// ```
/// use tenure::linalg::eigvalsh;
///
/// assert_eq!(eigvalsh(&[[5.0, 0.0], [0.0, -2.0]])?.to_vec(), [-2.0, 5.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn eigvalsh<T: NativeFloat>(a: impl AsView<T>) -> Result<Tensor<T>> {
    let [values, _] = spectrum::symmetric("eigvalsh", a.as_view(), Vectors::Omitted)?;
    Ok(values)
}

/// `U`, `[m, k]`, the singular values `[k]` in falling order, and `Vᵀ`, `[k, n]`, of `a = U S Vᵀ`,
/// with k the smaller of m and n: columns of `U` and rows of `Vᵀ` are orthonormal.
///
/// # Errors
///
/// `InvalidArgument`: `a` is no matrix, or has a NaN or an infinity. `NoConvergence`.
/// `OutOfMemory`.
///
/// ```
/// use tenure::linalg::svd;
///
/// let [u, s, vt] = svd(&[[0.0_f64, -2.0], [3.0, 0.0]])?;
/// assert_eq!(s.to_vec(), [3.0, 2.0]);
/// let back = tenure::matmul(tenure::mul(&u, &s)?, &vt)?;
/// assert!((back[[1, 0]] - 3.0_f64).abs() < 1e-14);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "gesdd")]
pub fn svd<T: NativeFloat>(a: impl AsView<T>) -> Result<[Tensor<T>; 3]> {
    spectrum::singular("svd", a.as_view(), Vectors::Computed)
}

/// The singular values that [`svd`] gives, without the singular vectors, which are most of its
/// work.
///
/// # Errors
///
/// The errors of [`svd`].
///
/// ```
/// use tenure::linalg::svdvals;
///
/// assert_eq!(svdvals(&[[0.0, -2.0], [3.0, 0.0]])?.to_vec(), [3.0, 2.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn svdvals<T: NativeFloat>(a: impl AsView<T>) -> Result<Tensor<T>> {
    let [_, values, _] = spectrum::singular("svdvals", a.as_view(), Vectors::Omitted)?;
    Ok(values)
}

/// The pseudo-inverse `[n, m]` of Moore and Penrose, of a matrix `[m, n]`. Singular values count as
/// 0 up to the largest times the larger extent of `a` and the distance from 1 to the next number.
///
/// # Errors
///
/// The errors of [`svd`].
///
/// ```
/// use tenure::linalg::pinv;
///
/// let inverse = pinv(&[[2.0_f64, 0.0], [0.0, 0.0], [0.0, 0.0]])?;
/// assert_eq!(inverse.shape(), [2, 3]);
/// assert!((inverse[[0, 0]] - 0.5).abs() < 1e-15);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("pseudoinverse", "moore_penrose"))]
pub fn pinv<T: NativeFloat>(a: impl AsView<T>) -> Result<Tensor<T>> {
    let a = a.as_view();
    let [u, s, mut vt] = spectrum::singular("pinv", a, Vectors::Computed)?;
    let values: &[T] = s.as_ref();
    let extent = a.shape().iter().copied().max().unwrap_or(0);
    let least =
        values.first().map_or(T::ZERO, |&first| first * T::EPSILON) * T::from_f64(extent as f64);
    let cols = vt.shape()[1];
    for (row, &value) in vt.as_mut().chunks_exact_mut(cols.max(1)).zip(values) {
        let factor = if value > least { T::ONE / value } else { T::ZERO };
        row.iter_mut().for_each(|element| *element *= factor);
    }
    crate::matmul(vt.view().t(), u.view().t())
}
