//! Whether functions that can lend may copy.

/// Whether elements may be copied that cannot be lent in their layout: in files misaligned, packed,
/// or in the byte order of other machines; in [views](crate::TensorView::contiguous) in another
/// order of memory. [`stats`](crate::stats) counts the copied bytes.
///
/// ```
/// use tenure::{CopyMode, TensorView, io::npy};
///
/// let mut file = vec![0]; // one byte more, and nothing is aligned
/// npy::write(TensorView::from_slice(&[1.0, 2.0], 2)?, &mut file).unwrap();
/// let shifted = file.as_ptr().addr() % 8 == 0;
/// let array = npy::Array::new(&file[1..])?;
/// let array = array.load(CopyMode::IfNeeded)?;
/// assert_eq!(array.is_copied(), shifted);
/// assert_eq!(array.view().downcast::<f64>()?.to_vec(), [1.0, 2.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CopyMode {
    /// Lent, or refused.
    #[default]
    Never,
    /// Lent where that is possible, copied elsewhere.
    IfNeeded,
    /// Copied: what comes does not depend on the bytes it came from.
    Always,
}
