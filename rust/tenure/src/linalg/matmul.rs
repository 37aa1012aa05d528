//! Products of dense matrices.

use tenure_sys::tnr_matmul_attributes;

use crate::dense::{Tensor, TensorView};
use crate::dtype::{Factor, index::SparseIndex};
use crate::error::{Error, Result};
use crate::nn::activation::Activation;
use crate::operand::{AsView, AsViewMut};
use crate::ops::results::{Extents, broadcast_shape, filled, no_view, refused};
use crate::raw::operations::{self, matmul_attributes};
use crate::sparse::calls::from_matmul;
use crate::sparse::calls::matmul::PLAIN;
use crate::sparse::matrix::CsrMatrix;

/// The shape of a product: of the axes before the last two, those that broadcast; then the rows of
/// `a` and the columns of `b`, which a vector has none of. The library refuses a wrong depth.
pub(crate) fn product_shape(a: &[usize], b: &[usize]) -> Result<Extents> {
    if a.is_empty() || b.is_empty() {
        let name = if a.is_empty() { "a" } else { "b" };
        return Err(Error::invalid(format!("{name}.rank is 0 but must be 1 at least")));
    }
    let (a_batch, b_batch) = (&a[..a.len().max(2) - 2], &b[..b.len().max(2) - 2]);
    let mut extents = broadcast_shape([a_batch, b_batch])
        .map_err(|error| refused(error, "matmul", &[a, b], None))?;
    let rows = (a.len() > 1).then(|| a[a.len() - 2]);
    let columns = (b.len() > 1).then(|| b[b.len() - 1]);
    for extent in [rows, columns].into_iter().flatten() {
        extents.values[extents.rank] = extent;
        extents.rank += 1;
    }
    Ok(extents)
}

/// The product of two matrices, `[m, k]` and `[k, n]`: `[m, n]`, as a new row-major tensor.
///
/// Axes before the last two are a batch of matrices, and broadcast. A vector, of rank 1, is a row
/// on the left and a column on the right, and has no axis in the result: the product of two is
/// their dot product, of rank 0. Any strides will do; nothing need be contiguous.
///
/// Each element is a sum in the order of k, by fused multiplication and addition where the
/// processor has it; those of [`f16`](struct@crate::f16) and [`bf16`](crate::bf16) are sums of f32,
/// rounded once, those of bytes are whole numbers. The bits depend neither on the number of
/// threads, nor on strides, nor on the other elements of the result.
///
/// # Errors
///
/// `InvalidArgument`: rank 0, or shapes that do not agree. `OutOfMemory`.
///
/// ```
/// use tenure::linalg::matmul;
///
/// let a = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// let b = [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]];
/// let product = matmul(&a, &b)?;
/// assert_eq!(product.shape(), [2, 2]);
/// assert_eq!(product.to_vec(), [7.0, 8.0, 16.0, 17.0]);
/// assert_eq!(matmul(&a, &[1.0, 0.0, -1.0])?.to_vec(), [-2.0, -2.0]);
///
/// let sums: Vec<i32> = matmul(&[[100_i8, 100]], &[[100], [100]])?.to_vec();
/// assert_eq!(sums, [20_000]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
#[doc(alias("gemm", "gemv", "dot", "mm", "bmm"))]
pub fn matmul<T: Factor>(a: impl AsView<T>, b: impl AsView<T>) -> Result<Tensor<T::Product>> {
    let (a, b) = (a.as_view(), b.as_view());
    let extents = product_shape(a.shape(), b.shape())?;
    let lent = (a.lent(), b.lent());
    // With a beta of 0 no element is read.
    filled(extents.as_slice(), |out| operations::matmul(PLAIN, lent.0, lent.1, None, out))
}

/// Does the same as [`matmul`], into the caller's memory. The matrices of `a` and `b` are broadcast
/// to the batch of matrices in `out`.
///
/// # Errors
///
/// `InvalidArgument`: rank 0, or shapes that do not agree. `OutOfMemory`.
///
/// ```
/// use tenure::linalg::matmul_into;
///
/// let (a, b) = ([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]);
/// let mut out = [[f64::NAN; 2]; 2];
/// matmul_into(&a, &b, &mut out)?;
/// assert_eq!(out, [[2.0, 1.0], [4.0, 3.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
pub fn matmul_into<T: Factor>(
    a: impl AsView<T>,
    b: impl AsView<T>,
    out: &mut (impl AsViewMut<T::Product> + ?Sized),
) -> Result<()> {
    let (a, b) = (a.as_view(), b.as_view());
    operations::matmul(PLAIN, a.lent(), b.lent(), None, out.as_view_mut().lent_mut())
}

/// `out = alpha * a b + beta * out`; `out` is not read where `beta` is 0, and may hold anything.
/// Everything else is as in [`matmul_into`].
///
/// # Errors
///
/// The errors of [`matmul_into`].
///
/// ```
/// use tenure::linalg::matmul_scaled_into;
///
/// let (a, b) = ([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]);
/// let mut out = [[1.0, 0.0], [0.0, 1.0]];
/// matmul_scaled_into(2.0, &a, &b, -1.0, &mut out)?;
/// assert_eq!(out, [[3.0, 2.0], [8.0, 5.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
pub fn matmul_scaled_into<T: Factor>(
    alpha: T::Product,
    a: impl AsView<T>,
    b: impl AsView<T>,
    beta: T::Product,
    out: &mut (impl AsViewMut<T::Product> + ?Sized),
) -> Result<()> {
    let (a, b) = (a.as_view(), b.as_view());
    operations::matmul([alpha, beta], a.lent(), b.lent(), None, out.as_view_mut().lent_mut())
}

/// Does the same as [`matmul`], for unsigned numbers times signed ones: quantised activations by
/// weights.
///
/// # Errors
///
/// The errors of [`matmul`].
///
/// ```
/// use tenure::linalg::matmul_u8_i8;
///
/// let sums = matmul_u8_i8(&[[200, 100]], &[[-100, 1], [1, -1]])?;
/// assert_eq!(sums.to_vec(), [-19_900, 100]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("quantized", "MatMulInteger"))]
pub fn matmul_u8_i8(a: impl AsView<u8>, b: impl AsView<i8>) -> Result<Tensor<i32>> {
    let (a, b) = (a.as_view(), b.as_view());
    let extents = product_shape(a.shape(), b.shape())?;
    let lent = (a.lent(), b.lent());
    filled(extents.as_slice(), |out| operations::matmul(PLAIN, lent.0, lent.1, None, out))
}

/// The options of a product, over views of `$View`.
macro_rules! matmul_options {
    ($(#[$about:meta])* $View:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct Matmul<'a, T: Factor> {
            bias: Option<$View<'a, T::Product>>,
            activation: Option<Activation>,
            clamp: Option<[f64; 2]>,
        }

        impl<T: Factor> Default for Matmul<'_, T> {
            fn default() -> Self {
                Matmul::new()
            }
        }

        impl<'a, T: Factor> Matmul<'a, T> {
            /// No bias, no activation and no bounds.
            pub const fn new() -> Self {
                Matmul { bias: None, activation: None, clamp: None }
            }

            /// Added to each row of the result: one number for each column of `b`.
            pub fn bias(mut self, bias: &'a (impl AsView<T::Product> + ?Sized)) -> Self {
                self.bias = Some(bias.as_view());
                self
            }

            /// Applied after that.
            pub const fn activation(mut self, activation: Activation) -> Self {
                self.activation = Some(activation);
                self
            }

            /// Bounds of each element, applied last: `clamp(0.0, 6.0)` is ReLU6. NaN stays NaN.
            ///
            /// Calls refuse a `low` above `high` and NaN, and bounds of bytes' sums that are
            /// neither whole nor infinite, with `InvalidArgument`; of complex numbers they are
            /// `Unsupported`.
            #[doc(alias("relu6", "clip", "hardtanh"))]
            pub const fn clamp(mut self, low: f64, high: f64) -> Self {
                self.clamp = Some([low, high]);
                self
            }

            pub(crate) fn lent(&self) -> operations::Epilogue<'_> {
                operations::Epilogue {
                    bias: self.bias.as_ref().map($View::lent),
                    activation: Activation::code(self.activation),
                    clamp: self.clamp,
                }
            }
        }
    };
}
pub(crate) use matmul_options;

matmul_options! {
    /// How [`matmul_with`] goes on from the sums: a fully connected layer of a neural network in
    /// one call.
    ///
    /// ```
    /// use tenure::{Activation, Matmul, linalg::matmul_with};
    ///
    /// let (a, b, bias) = ([[1.0, 2.0]], [[1.0, -1.0], [1.0, -1.0]], [0.5, 0.5]);
    /// let layer = Matmul::new().bias(&bias).activation(Activation::Relu);
    /// assert_eq!(matmul_with(&a, &b, layer)?.to_vec(), [3.5, 0.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    ///
    /// Bounds are those of a [`clamp`](Matmul::clamp):
    ///
    /// ```
    /// use tenure::{Matmul, linalg::matmul_with};
    ///
    /// let with = Matmul::new().clamp(0.0, 6.0);
    /// assert_eq!(matmul_with(&[[1.0, 2.0]], &[[4.0, -1.0, 1.0]; 2], with)?.to_vec(), [6.0, 0.0, 3.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    TensorView
}

impl<T: Factor> Matmul<'_, T> {
    /// For a node of a graph, whose bias is an operand.
    pub(crate) fn of_node(&self) -> Result<tnr_matmul_attributes> {
        no_view("matmul", "bias", self.bias.is_some())?;
        Ok(matmul_attributes(self.lent()))
    }
}

/// Does the same as [`matmul`], then applies a bias and an activation while the caches hold the
/// sums.
///
/// # Errors
///
/// The errors of [`matmul`], and for a bias of another shape. `Unsupported`: an activation that
/// does not take the type in which is computed: of complex numbers all, of bytes
/// [`Activation::Tanh`].
///
/// ```
/// use tenure::{Matmul, linalg::matmul_with};
///
/// let bias = [10, 20];
/// let sums = matmul_with(&[[1_i8, 2]], &[[1, 2], [3, 4]], Matmul::new().bias(&bias))?;
/// assert_eq!(sums.to_vec(), [17, 30]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("linear", "addmm", "dense", "fully_connected"))]
pub fn matmul_with<T: Factor>(
    a: impl AsView<T>,
    b: impl AsView<T>,
    with: Matmul<'_, T>,
) -> Result<Tensor<T::Product>> {
    let (a, b) = (a.as_view(), b.as_view());
    let extents = product_shape(a.shape(), b.shape())?;
    let lent = (a.lent(), b.lent());
    filled(extents.as_slice(), |out| {
        operations::matmul(PLAIN, lent.0, lent.1, Some(with.lent()), out)
    })
}

/// Does the same as [`matmul_with`], into the caller's memory.
///
/// # Errors
///
/// The errors of [`matmul_with`].
///
/// ```
/// use tenure::{Activation, Matmul, linalg::matmul_with_into};
///
/// let mut out = [[f64::NAN; 2]; 1];
/// let layer = Matmul::new().activation(Activation::Relu);
/// matmul_with_into(&[[1.0, -2.0]], &[[1.0, 0.0], [0.0, 1.0]], layer, &mut out)?;
/// assert_eq!(out, [[1.0, 0.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn matmul_with_into<T: Factor>(
    a: impl AsView<T>,
    b: impl AsView<T>,
    with: Matmul<'_, T>,
    out: &mut (impl AsViewMut<T::Product> + ?Sized),
) -> Result<()> {
    let (a, b) = (a.as_view(), b.as_view());
    operations::matmul(PLAIN, a.lent(), b.lent(), Some(with.lent()), out.as_view_mut().lent_mut())
}

/// Does the same as [`matmul_with`] for two matrices, and makes a sparse matrix of the elements
/// that are not zero: for a layer whose result is mostly zeros. The dense result never exists as a
/// whole: some rows are computed at a time.
///
/// The values have the bits of [`matmul_with`], and the matrix is that of
/// [`sparsify`](crate::sparse::sparsify) and [`to_csr`](crate::Sparsify::to_csr).
///
/// # Errors
///
/// The errors of [`matmul_with`]; `InvalidArgument` for a rank that is not 2, and for more entries
/// than the indices can count: use `i64` then. `Unsupported`: `Complex<f64>`, and
/// [`Matmul::clamp`].
///
/// ```
/// use tenure::{Activation, CsrMatrix, Matmul, linalg::matmul_csr};
///
/// let (a, b) = ([[1.0, -2.0], [0.5, 1.0]], [[1.0, 3.0, -1.0], [1.0, 1.0, 1.0]]);
/// let layer = Matmul::new().activation(Activation::Relu);
/// let product: CsrMatrix<f64> = matmul_csr(&a, &b, layer)?;
/// assert_eq!(product.row_offsets(), [0, 1, 4]);
/// assert_eq!(product.col_indices(), [1, 0, 1, 2]);
/// assert_eq!(product.values(), [1.0, 1.5, 2.5, 0.5]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("sparse", "relu"))]
pub fn matmul_csr<T: Factor, I: SparseIndex>(
    a: impl AsView<T>,
    b: impl AsView<T>,
    with: Matmul<'_, T>,
) -> Result<CsrMatrix<T::Product, I>> {
    let (a, b) = (a.as_view(), b.as_view());
    CsrMatrix::from_made(from_matmul::<I>(a.lent(), b.lent(), with.lent())?)
}
