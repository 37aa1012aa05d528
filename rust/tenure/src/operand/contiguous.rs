//! Elements in an order of memory: lent where they lie so, copied where needed and allowed.

use crate::dense::{CopyMode, SharedTensor, Tensor, TensorView};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::{order::Order, refusal};
use crate::operand::AsView;

/// Elements that are adjacent in memory in the order asked for: lent, or a copy.
///
/// ```
/// use tenure::{CopyMode, Order, TensorView, ops::add};
///
/// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// let columns = view.contiguous(Order::ColumnMajor, CopyMode::IfNeeded)?;
/// assert!(columns.is_copied());
/// assert_eq!((columns.view().shape(), columns.view().strides()), (&[2, 3][..], &[1, 2][..]));
/// assert_eq!(add(&columns, &view)?.to_vec(), [2, 4, 6, 8, 10, 12]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Debug)]
pub struct Contiguous<'a, T: Element>(Held<'a, T>);

#[derive(Debug)]
enum Held<'a, T: Element> {
    Lent(TensorView<'a, T>, Order),
    Copied(Tensor<T>),
}

impl<'a, T: Element> Contiguous<'a, T> {
    fn new(view: TensorView<'a, T>, order: Order, mode: CopyMode) -> Result<Self> {
        let is_contiguous = view.is_contiguous(order);
        match mode {
            CopyMode::Never if !is_contiguous => Err(refusal::not_contiguous(view.raw(), order)),
            CopyMode::Never | CopyMode::IfNeeded if is_contiguous => {
                Ok(Contiguous(Held::Lent(view, order)))
            }
            _ => Ok(Contiguous(Held::Copied(Tensor::copy_of(view, order)?))),
        }
    }

    /// Whether it is a copy.
    ///
    /// ```
    /// # use tenure::*;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 2])?;
    /// assert!(!view.contiguous(Order::RowMajor, CopyMode::IfNeeded)?.is_copied());
    /// assert!(view.contiguous(Order::RowMajor, CopyMode::Always)?.is_copied());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_copied(&self) -> bool {
        matches!(self.0, Held::Copied(_))
    }

    /// Lends the elements for reading.
    ///
    /// ```
    /// # use tenure::*;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 2])?;
    /// let rows = view.t();
    /// let rows = rows.contiguous(Order::RowMajor, CopyMode::IfNeeded)?;
    /// assert_eq!(rows.view().as_slice(), Some(&[1, 3, 2, 4][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn view(&self) -> TensorView<'_, T> {
        match &self.0 {
            Held::Lent(view, _) => *view,
            Held::Copied(tensor) => tensor.view(),
        }
    }

    /// A tensor of its own: the copy, where it is one; else copied now, in the order
    /// that it has.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 2])?;
    /// let mut tensor = view.contiguous(Order::ColumnMajor, CopyMode::Always)?.into_tensor()?;
    /// tensor[[0, 1]] = 7;
    /// assert_eq!(tensor.to_vec(), [1, 7, 3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_tensor(self) -> Result<Tensor<T>> {
        match self.0 {
            Held::Lent(view, order) => Tensor::copy_of(view, order),
            Held::Copied(tensor) => Ok(tensor),
        }
    }
}

impl<T: Element> AsView<T> for Contiguous<'_, T> {
    fn as_view(&self) -> TensorView<'_, T> {
        self.view()
    }
}

/// The method of a view or an owner; `$view` is the view.
macro_rules! contiguous {
    ($type:ty, [$($lifetime:lifetime)?] $lent:lifetime, |$self:ident| $view:expr) => {
        /// Layout.
        impl<$($lifetime,)? T: Element> $type {
            /// The elements adjacent in memory in this order: lent where they lie so, else copied,
            /// as `mode` allows.
            ///
            /// Operations take any strides; this is for slices and other libraries, which do not.
            /// [`stats`](crate::stats) counts the copies.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: they do not lie so, and [`CopyMode::Never`]. `OutOfMemory`.
            ///
            /// ```
            /// # use tenure::*;
            /// let tensor = Tensor::from_vec(vec![1, 2, 3, 4, 5, 6], [2, 3])?;
            /// let rows = tensor.contiguous(Order::RowMajor, CopyMode::Never)?;
            /// assert_eq!(rows.view().as_ptr(), tensor.as_ptr());
            /// assert!(tensor.contiguous(Order::ColumnMajor, CopyMode::Never).is_err());
            /// # Ok::<(), Error>(())
            /// ```
            #[doc(alias("ascontiguousarray", "asfortranarray", "memory_format"))]
            pub fn contiguous(
                &$self,
                order: Order,
                mode: CopyMode,
            ) -> Result<Contiguous<$lent, T>> {
                Contiguous::new($view, order, mode)
            }
        }
    };
}

contiguous!(TensorView<'a, T>, ['a] 'a, |self| *self);
contiguous!(crate::dense::TensorViewMut<'_, T>, [] '_, |self| self.view());
contiguous!(Tensor<T>, [] '_, |self| self.view());
contiguous!(SharedTensor<T>, [] '_, |self| self.view());
