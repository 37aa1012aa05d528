//! Products by a right factor that is packed once, for many of them.

use std::fmt;
use std::marker::PhantomData;

use super::matmul::{Matmul, product_shape};
use crate::dense::Tensor;
use crate::dtype::{DType, Element, Factor};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::ops::results::filled;
use crate::raw::factor::FactorHandle;
use crate::raw::operations::Epilogue;
use crate::sparse::calls::matmul::PLAIN;

/// A matrix as the right factor of [`matmul_packed`]: in the layout that kernels read, which
/// [`matmul`](crate::linalg::matmul) makes anew for each product. For weights, say, that are
/// multiplied again and again; by a few rows above all, whose product takes as long as reading
/// them. It owns a copy; the source may be written, or end.
///
/// The layout is that of the instruction set in use. Threads may share one.
///
/// ```
/// use tenure::{PackedFactor, linalg::matmul_packed};
///
/// let weights = &PackedFactor::pack(&[[1.0, 2.0], [3.0, 4.0]])?;
/// std::thread::scope(|scope| {
///     let rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
///     let threads = rows.map(|row| scope.spawn(move || matmul_packed(&row, weights)));
///     for (thread, expected) in threads.into_iter().zip([[1.0, 2.0], [3.0, 4.0], [4.0, 6.0]]) {
///         assert_eq!(thread.join().unwrap()?.to_vec(), expected);
///     }
///     Ok::<(), tenure::Error>(())
/// })?;
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("prepack", "prepacked"))]
pub struct PackedFactor<T> {
    handle: FactorHandle,
    _elements: PhantomData<T>,
}

impl<T: Factor> PackedFactor<T> {
    /// Copies a matrix `[k, n]` of any strides.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a rank that is not 2. `OutOfMemory`.
    pub fn pack(b: impl AsView<T>) -> Result<Self> {
        Self::pack_for(b, T::DTYPE)
    }

    fn pack_for(b: impl AsView<T>, a: DType) -> Result<Self> {
        let handle = FactorHandle::create(b.as_view().lent(), a, None)?;
        Ok(PackedFactor { handle, _elements: PhantomData })
    }

    /// Rows: the number of columns of the left factor.
    pub fn rows(&self) -> usize {
        self.handle.info().rows as usize
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.handle.info().cols as usize
    }

    /// Bytes that a product reads of it.
    ///
    /// ```
    /// use tenure::{PackedFactor, Tensor};
    ///
    /// let weights = PackedFactor::pack(&Tensor::<f32>::zeros([256, 512])?)?;
    /// assert!(weights.size_bytes() < 256 * 512 * 4 + 4096);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn size_bytes(&self) -> usize {
        self.handle.info().size_bytes as usize
    }

    /// The product of `a`, of bytes of either sign, and this.
    fn product<A: Element, P: Element>(
        &self,
        a: impl AsView<A>,
        with: Option<Epilogue<'_>>,
    ) -> Result<Tensor<P>> {
        let a = a.as_view();
        let extents = product_shape(a.shape(), &[self.rows(), self.cols()])?;
        let lent = a.lent();
        // With a beta of 0 no element is read.
        filled(extents.as_slice(), |out| self.handle.matmul(PLAIN, lent, with, out))
    }
}

impl PackedFactor<i8> {
    /// Packs as [`pack`](PackedFactor::pack) does, but only for [`matmul_packed_u8_i8`]: the packed
    /// bytes depend on whether the left factor is signed.
    ///
    /// # Errors
    ///
    /// The errors of [`pack`](PackedFactor::pack).
    pub fn pack_for_u8(b: impl AsView<i8>) -> Result<Self> {
        Self::pack_for(b, DType::U8)
    }
}

impl<T: Factor> fmt::Debug for PackedFactor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, cols, bytes) = (self.rows(), self.cols(), self.size_bytes());
        write!(f, "PackedFactor({rows} x {cols}, dtype={}, {bytes} bytes)", T::DTYPE)
    }
}

/// Does the same as [`matmul`](crate::linalg::matmul), by a right factor that has been packed, and
/// with the same bits. `a` may be a vector, or have a batch.
///
/// # Errors
///
/// The errors of [`matmul`](crate::linalg::matmul).
///
/// ```
/// use tenure::{PackedFactor, linalg::matmul_packed};
///
/// let b = PackedFactor::pack(&[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])?;
/// let product = matmul_packed(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &b)?;
/// assert_eq!(product.to_vec(), [7.0, 8.0, 16.0, 17.0]);
/// assert_eq!(matmul_packed(&[1.0, 0.0, 1.0], &b)?.to_vec(), [3.0, 2.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn matmul_packed<T: Factor>(
    a: impl AsView<T>,
    b: &PackedFactor<T>,
) -> Result<Tensor<T::Product>> {
    b.product(a, None)
}

/// Does the same as [`matmul_packed`], into the caller's memory.
///
/// # Errors
///
/// The errors of [`matmul_packed`].
///
/// ```
/// use tenure::{PackedFactor, linalg::matmul_packed_into};
///
/// let b = PackedFactor::pack(&[[0.0, 1.0], [1.0, 0.0]])?;
/// let mut out = [[f64::NAN; 2]; 2];
/// matmul_packed_into(&[[1.0, 2.0], [3.0, 4.0]], &b, &mut out)?;
/// assert_eq!(out, [[2.0, 1.0], [4.0, 3.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn matmul_packed_into<T: Factor>(
    a: impl AsView<T>,
    b: &PackedFactor<T>,
    out: &mut (impl AsViewMut<T::Product> + ?Sized),
) -> Result<()> {
    b.handle.matmul(PLAIN, a.as_view().lent(), None, out.as_view_mut().lent_mut())
}

/// `out = alpha * a b + beta * out`; `out` is not read where `beta` is 0, and may hold anything.
/// Everything else is as in [`matmul_packed_into`].
///
/// # Errors
///
/// The errors of [`matmul_packed`].
///
/// ```
/// use tenure::{PackedFactor, linalg::matmul_packed_scaled_into};
///
/// let b = PackedFactor::pack(&[[0.0, 1.0], [1.0, 0.0]])?;
/// let mut out = [[1.0, 0.0], [0.0, 1.0]];
/// matmul_packed_scaled_into(2.0, &[[1.0, 2.0], [3.0, 4.0]], &b, -1.0, &mut out)?;
/// assert_eq!(out, [[3.0, 2.0], [8.0, 5.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn matmul_packed_scaled_into<T: Factor>(
    alpha: T::Product,
    a: impl AsView<T>,
    b: &PackedFactor<T>,
    beta: T::Product,
    out: &mut (impl AsViewMut<T::Product> + ?Sized),
) -> Result<()> {
    b.handle.matmul([alpha, beta], a.as_view().lent(), None, out.as_view_mut().lent_mut())
}

/// Does the same as [`matmul_packed`], with a bias and an activation as in
/// [`matmul_with`](crate::linalg::matmul_with).
///
/// # Errors
///
/// The errors of [`matmul_with`](crate::linalg::matmul_with).
///
/// ```
/// use tenure::{Activation, Matmul, PackedFactor, linalg::matmul_packed_with};
///
/// let b = PackedFactor::pack(&[[1.0, -1.0], [1.0, -1.0]])?;
/// let layer = Matmul::new().bias(&[0.5, 0.5]).activation(Activation::Relu);
/// assert_eq!(matmul_packed_with(&[[1.0, 2.0]], &b, layer)?.to_vec(), [3.5, 0.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn matmul_packed_with<T: Factor>(
    a: impl AsView<T>,
    b: &PackedFactor<T>,
    with: Matmul<'_, T>,
) -> Result<Tensor<T::Product>> {
    b.product(a, Some(with.lent()))
}

/// Does the same as [`matmul_packed_with`], into the caller's memory.
///
/// # Errors
///
/// The errors of [`matmul_with`](crate::linalg::matmul_with).
///
/// ```
/// use tenure::{Activation, Matmul, PackedFactor, linalg::matmul_packed_with_into};
///
/// let b = PackedFactor::pack(&[[1.0, 0.0], [0.0, 1.0]])?;
/// let mut out = [[f64::NAN; 2]; 1];
/// let layer = Matmul::new().activation(Activation::Relu);
/// matmul_packed_with_into(&[[1.0, -2.0]], &b, layer, &mut out)?;
/// assert_eq!(out, [[1.0, 0.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn matmul_packed_with_into<T: Factor>(
    a: impl AsView<T>,
    b: &PackedFactor<T>,
    with: Matmul<'_, T>,
    out: &mut (impl AsViewMut<T::Product> + ?Sized),
) -> Result<()> {
    b.handle.matmul(PLAIN, a.as_view().lent(), Some(with.lent()), out.as_view_mut().lent_mut())
}

/// Does the same as [`matmul_packed`], for unsigned numbers times signed ones: quantised
/// activations by weights.
///
/// # Errors
///
/// The errors of [`matmul_packed`]. `InvalidArgument`: `b` was not packed for this, by
/// [`pack_for_u8`](PackedFactor::pack_for_u8); such a factor, by another product.
///
/// ```
/// use tenure::{PackedFactor, linalg::matmul_packed_u8_i8};
///
/// let weights = PackedFactor::pack_for_u8(&[[-100, 1], [1, -1]])?;
/// assert_eq!(matmul_packed_u8_i8(&[[200, 100]], &weights)?.to_vec(), [-19_900, 100]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn matmul_packed_u8_i8(a: impl AsView<u8>, b: &PackedFactor<i8>) -> Result<Tensor<i32>> {
    b.product(a, None)
}
