//! A tensor whose dtype is known at run time.

use std::any::Any;

use super::{DynView, DynViewMut, other_dtype};
use crate::dense::Tensor;
use crate::dtype::{DType, Element, Real};
use crate::error::{Rejected, Result};
use crate::tenure::Tenure;

/// A [`Tensor`] whose dtype is known at run time: tensors of different dtypes in one collection.
///
/// ```
/// use tenure::{DType, DynTensor, Tensor};
///
/// let columns: Vec<DynTensor> = vec![
///     Tensor::from_vec(vec![1.5_f64, 2.5], 2)?.into(),
///     Tensor::from_vec(vec![7_u8, 8], 2)?.into(),
/// ];
/// assert_eq!(columns[1].dtype(), DType::U8);
/// assert_eq!(columns[1].view().downcast::<u8>()?.to_vec(), [7, 8]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub struct DynTensor {
    held: Box<dyn AnyTensor>,
}

/// The interface of a tensor whose element type is erased.
trait AnyTensor: Any + Send + Sync {
    fn view(&self) -> DynView<'_>;
    fn view_mut(&mut self) -> DynViewMut<'_>;
    fn shape(&self) -> &[usize];
    fn tenure(&self) -> Tenure;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Element> AnyTensor for Tensor<T> {
    fn view(&self) -> DynView<'_> {
        self.into()
    }

    fn view_mut(&mut self) -> DynViewMut<'_> {
        self.into()
    }

    fn shape(&self) -> &[usize] {
        self.shape()
    }

    fn tenure(&self) -> Tenure {
        self.tenure()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl<T: Element> From<Tensor<T>> for DynTensor {
    fn from(tensor: Tensor<T>) -> Self {
        DynTensor { held: Box::new(tensor) }
    }
}

impl DynTensor {
    /// The tensor of elements of `T`, as it was before it became dynamic.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the dtype is not `T`'s; the tensor comes back with the error.
    ///
    /// ```
    /// use tenure::{DynTensor, Tensor};
    ///
    /// let tensor = DynTensor::from(Tensor::from_vec(vec![1_i32, 2], 2)?);
    /// let rejected = tensor.downcast::<f32>().err().unwrap();
    /// assert_eq!(rejected.error().message(), "dtype is i32 but f32 is asked for");
    /// assert_eq!(rejected.into_data().downcast::<i32>()?.into_vec().ok(), Some(vec![1, 2]));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn downcast<T: Element>(self) -> Result<Tensor<T>, Rejected<Self>> {
        if self.dtype() != T::DTYPE {
            return Err(Rejected::new(other_dtype(self.dtype(), T::DTYPE), self));
        }
        match self.held.into_any().downcast() {
            Ok(tensor) => Ok(*tensor),
            Err(_) => unreachable!("each dtype has one element type"),
        }
    }

    /// Lends the elements for reading.
    ///
    /// ```
    /// use tenure::{DynTensor, Tensor};
    ///
    /// let tensor = DynTensor::from(Tensor::full([2, 2], 1_u16)?);
    /// assert_eq!(tensor.view().to_string(), "[[1 1]\n [1 1]]");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn view(&self) -> DynView<'_> {
        self.held.view()
    }

    /// Lends the elements for writing.
    ///
    /// ```
    /// use tenure::{DynTensor, Tensor};
    ///
    /// let mut tensor = DynTensor::from(Tensor::full(3, 1_u16)?);
    /// tensor.view_mut().slice(0, 1..)?.downcast::<u16>()?.fill(2);
    /// assert_eq!(tensor.to_string(), "[1 2 2]");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn view_mut(&mut self) -> DynViewMut<'_> {
        self.held.view_mut()
    }

    /// The dtype of the elements.
    ///
    /// ```
    /// use tenure::{DType, DynTensor, Tensor};
    ///
    /// assert_eq!(DynTensor::from(Tensor::full(3, 1_u16)?).dtype(), DType::U16);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        self.view().dtype()
    }

    /// The extent of each axis, outermost first.
    ///
    /// ```
    /// use tenure::{DynTensor, Tensor};
    ///
    /// assert_eq!(DynTensor::from(Tensor::<f32>::zeros([2, 3])?).shape(), [2, 3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn shape(&self) -> &[usize] {
        self.held.shape()
    }

    /// Tenure of the memory.
    ///
    /// ```
    /// use tenure::{DynTensor, Tensor, Tenure};
    ///
    /// assert_eq!(DynTensor::from(Tensor::from_vec(vec![1.0], 1)?).tenure(), Tenure::Adopted);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn tenure(&self) -> Tenure {
        self.held.tenure()
    }

    /// Converts the elements into a new row-major tensor, as [`cast`](crate::ops::cast) does.
    ///
    /// # Errors
    ///
    /// The errors of [`DynView::cast_to`].
    ///
    /// ```
    /// use tenure::{DynTensor, Tensor};
    ///
    /// let tensor = DynTensor::from(Tensor::from_vec(vec![1.9, -1.9], 2)?);
    /// assert_eq!(tensor.cast_to::<i32>()?.to_vec(), [1, -1]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn cast_to<T: Real>(&self) -> Result<Tensor<T>> {
        self.view().cast_to()
    }
}
