//! Classes as vectors of a 1 and zeros.

use crate::dense::{Tensor, TensorView};
use crate::dtype::{Real, index::SparseIndex};
use crate::error::Result;
use crate::layout::axis::Axis;
use crate::operand::AsIndices;
use crate::operand::AsViewMut;
use crate::ops::indexed::{AS_THEY_ARE, put_assign_by};
use crate::ops::results::Extents;
use crate::ops::{cast, fill};
use crate::raw::movement::Names;

/// A 1 in the place that each index names, and 0 elsewhere: the axes of `indices` (`i32`, `i64`
/// or `usize`) and one of `classes` behind them. A new row-major tensor.
///
/// # Errors
///
/// `InvalidArgument`: an index that is negative or not below `classes`; indices of 8 axes.
/// `OutOfMemory`.
///
/// ```
/// use tenure::{Tensor, nn::one_hot};
///
/// let labels: Tensor<f32> = one_hot(&[2, 0], 3)?;
/// assert_eq!(labels.shape(), [2, 3]);
/// assert_eq!(labels.to_vec(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn one_hot<T: Real, I: SparseIndex>(
    indices: impl AsIndices<I>,
    classes: usize,
) -> Result<Tensor<T>> {
    let indices = indices.as_indices().unsqueeze(-1)?;
    let mut extents = Extents::of(indices.shape());
    extents.values[extents.rank - 1] = classes;
    let mut result = Tensor::zeros(extents.as_slice())?;
    put_ones(&indices, &mut result)?;
    Ok(result)
}

fn put_ones<T: Real, I: SparseIndex>(
    indices: &TensorView<'_, I>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let one: Tensor<T> = cast(1_u8)?;
    let ones = one.broadcast(indices.shape())?;
    put_assign_by(Names::Elements, AS_THEY_ARE, out, Axis::from(-1), indices, &ones)
}

/// A 1 in the place that each index names, and 0 elsewhere, as [`one_hot`], into `out`.
///
/// # Errors
///
/// `InvalidArgument`: an index that is negative or not below the last extent of `out`, or another
/// shape of `out`. Nothing is written then.
///
/// ```
/// use tenure::nn::one_hot_into;
///
/// let mut labels = [[7_u8; 3]; 2];
/// one_hot_into(&[2, 0], &mut labels)?;
/// assert_eq!(labels, [[0, 0, 1], [1, 0, 0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn one_hot_into<T: Real, I: SparseIndex>(
    indices: impl AsIndices<I>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let indices = indices.as_indices().unsqueeze(-1)?;
    // Twice: the first refuses what cannot be, before anything else is overwritten.
    put_ones(&indices, out)?;
    fill(out, T::default())?;
    put_ones(&indices, out)
}
