//! Elements of files: lent where possible, copied where needed and allowed.

use crate::dense::{DynView, Tensor};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::io::payload::Payload;
use crate::layout::order::Order;

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
