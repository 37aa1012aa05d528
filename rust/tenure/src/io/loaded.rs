//! Elements of files: lent where possible, copied where needed and allowed.

use crate::io::payload::Payload;
use crate::{DType, DynView, Element, Order, Result, Tensor};

/// Whether elements may be copied that cannot be lent in their layout: in files misaligned, packed,
/// or in the byte order of other machines; in [views](crate::TensorView::contiguous) in another
/// order of memory. [`stats`](crate::stats) counts the copied bytes.
///
/// ```
/// use tenure::{CopyMode, TensorView, io::npy};
///
/// let mut file = vec![0]; // one byte more, and nothing is aligned
/// npy::write(TensorView::from_slice(&[1.0, 2.0], 2)?, &mut file)?;
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

/// Elements from a file: lent by its bytes, or a copy.
///
/// ```
/// use tenure::{CopyMode, TensorView, io::npy};
///
/// let mut file = Vec::new();
/// npy::write(TensorView::from_slice(&[1, 2, 3], 3)?, &mut file)?;
/// let array = npy::Array::new(&file)?;
/// let copy = array.load(CopyMode::Always)?;
/// assert!(copy.is_copied());
/// assert_eq!(copy.into_tensor::<i32>()?.to_vec(), [1, 2, 3]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub struct Loaded<'a>(Held<'a>);

enum Held<'a> {
    Lent(DynView<'a>),
    /// The bytes are a dense view of this.
    Copied {
        bytes: Tensor<u8>,
        dtype: DType,
        shape: Vec<usize>,
        order: Order,
    },
}

impl<'a> Loaded<'a> {
    pub(crate) fn lent(view: DynView<'a>) -> Self {
        Loaded(Held::Lent(view))
    }

    /// `bytes` as elements in the byte order of this machine.
    pub(crate) fn copied(bytes: Tensor<u8>, of: &Payload<'_, '_>) -> Result<Self> {
        let &Payload { dtype, order, shape, .. } = of;
        DynView::from_bytes_in(bytes.as_ref(), dtype, shape, order)?;
        Ok(Loaded(Held::Copied { bytes, dtype, shape: shape.to_vec(), order }))
    }

    /// Whether it is a copy.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut file = Vec::new();
    /// io::npy::write(TensorView::from_slice(&[1_u8, 2], 2)?, &mut file)?;
    /// assert!(!io::npy::Array::new(&file)?.load(CopyMode::IfNeeded)?.is_copied());
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn is_copied(&self) -> bool {
        matches!(self.0, Held::Copied { .. })
    }

    /// Lends the elements for reading.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut file = Vec::new();
    /// io::npy::write(TensorView::from_slice(&[1_u8, 2], 2)?, &mut file)?;
    /// assert_eq!(io::npy::Array::new(&file)?.load(CopyMode::Never)?.view().to_string(), "[1 2]");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn view(&self) -> DynView<'_> {
        match &self.0 {
            Held::Lent(view) => *view,
            Held::Copied { bytes, dtype, shape, order } => {
                match DynView::from_bytes_in(bytes.as_ref(), *dtype, shape, *order) {
                    Ok(view) => view,
                    Err(_) => unreachable!("it was laid over these bytes before"),
                }
            }
        }
    }

    /// A tensor of its own: the copy, where it is one; else copied now.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the dtype is not `T`'s. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut file = Vec::new();
    /// io::npy::write(TensorView::from_slice(&[1_u8, 2], 2)?, &mut file)?;
    /// let mut tensor = io::npy::Array::new(&file)?.load(CopyMode::Always)?.into_tensor::<u8>()?;
    /// tensor[[0]] = 7;
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn into_tensor<T: Element>(self) -> Result<Tensor<T>> {
        let view = self.view().downcast::<T>()?;
        match self.0 {
            Held::Lent(_) => view.to_tensor(),
            Held::Copied { bytes, shape, order, .. } => bytes.into_elements(&shape, order),
        }
    }
}

impl std::fmt::Debug for Loaded<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let view = self.view();
        f.debug_struct("Loaded")
            .field("dtype", &view.dtype())
            .field("shape", &view.shape())
            .field("is_copied", &self.is_copied())
            .finish()
    }
}
