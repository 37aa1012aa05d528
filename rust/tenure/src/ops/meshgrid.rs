//! Grids of coordinates that are no more than the coordinates.

use crate::dense::TensorView;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::operand::AsView;

/// The coordinates of a grid along each of its axes: view `i` has `axes[i]` along axis `i`,
/// repeated along the others. Nothing is copied. The order of axes is that of `indexing="ij"` in
/// NumPy.
///
/// # Errors
///
/// `InvalidArgument`: an axis whose rank is not 1, more than 8 of them, or more points than can be
/// counted.
///
/// ```
/// use tenure::ops::{add, meshgrid, mul};
///
/// let [y, x] = meshgrid([&[0, 1, 2], &[0, 10, 20]])?;
/// assert_eq!(y.shape(), [3, 3]);
/// assert_eq!(add(x, y)?, [[0, 10, 20], [1, 11, 21], [2, 12, 22]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("indices", "mgrid", "ogrid"))]
pub fn meshgrid<'a, T: Element, A: AsView<T> + ?Sized, const N: usize>(
    axes: [&'a A; N],
) -> Result<[TensorView<'a, T>; N]> {
    let mut grid = axes.map(|axis| axis.as_view());
    let mut extents = [0; N];
    for (nth, (view, extent)) in grid.iter().zip(&mut extents).enumerate() {
        if view.rank() != 1 {
            let rank = view.rank();
            return Err(Error::invalid(format!("axes[{nth}] has rank {rank} but must have 1")));
        }
        *extent = view.len();
    }
    for (nth, view) in grid.iter_mut().enumerate() {
        let mut shape = [1; N];
        shape[nth] = extents[nth];
        *view = view.reshape(shape)?.broadcast(extents)?;
    }
    Ok(grid)
}
