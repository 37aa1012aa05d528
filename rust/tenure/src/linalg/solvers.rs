//! Factorisations and solutions as functions, named as those of `numpy.linalg`.

use super::spectrum::{self, Vectors};
use super::{Cholesky, Lu, PivotedQr, Qr, matmul, operand};
use crate::dense::Tensor;
use crate::dtype::NativeFloat;
use crate::error::Result;
use crate::operand::AsView;

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
/// let back = tenure::linalg::matmul(&q, &r)?;
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
/// let back = tenure::linalg::matmul(tenure::ops::mul(&u, &s)?, &vt)?;
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
    matmul(vt.view().t(), u.view().t())
}
