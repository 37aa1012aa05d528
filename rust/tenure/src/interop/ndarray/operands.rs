//! Arrays where an operation takes operands and outputs.

use ::ndarray::{
    ArrayBase, ArrayRef, Data, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, OwnedRepr, ViewRepr,
};

use crate::dense::{TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::layout;
use crate::operand::{AsView, AsViewMut};

/// Arrays of a fixed rank, which is 6 at most, are operands: their views need no check.
macro_rules! operands {
    ($($dimension:ident)*) => {$(
        impl<T: Element> AsView<T> for ArrayRef<T, $dimension> {
            fn as_view(&self) -> TensorView<'_, T> {
                let raw = layout::around_unchecked(
                    self.as_ptr().cast(), T::DTYPE, self.shape(), self.strides(),
                );
                // SAFETY: an array promises the same of its elements as a view: aligned, inside one
                // allocation, counted within `isize`, initialised, not written.
                unsafe { TensorView::from_raw(raw) }
            }
        }

        impl<T: Element> AsViewMut<T> for ArrayRef<T, $dimension> {
            fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
                let data = self.as_mut_ptr();
                let raw = layout::around_unchecked(
                    data.cast(), T::DTYPE, self.shape(), self.strides(),
                );
                // SAFETY:
                // - an array's elements are aligned, initialised, inside one allocation and counted
                //   within `isize`.
                // - `&mut self` gives exclusive access to them.
                // - no two indices of a writable array meet. Where `check_distinct` cannot tell
                //   that, operations answer ALIASED.
                unsafe { TensorViewMut::from_raw(raw) }
            }
        }

        impl<T: Element, S: Data<Elem = T>> AsView<T> for ArrayBase<S, $dimension> {
            fn as_view(&self) -> TensorView<'_, T> {
                (**self).as_view()
            }
        }

        // Not every array that can be written: a shared one would be copied first, unasked.
        impl<T: Element> AsViewMut<T> for ArrayBase<OwnedRepr<T>, $dimension> {
            fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
                (**self).as_view_mut()
            }
        }

        impl<T: Element> AsViewMut<T> for ArrayBase<ViewRepr<&mut T>, $dimension> {
            fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
                (**self).as_view_mut()
            }
        }
    )*};
}

operands! { Ix0 Ix1 Ix2 Ix3 Ix4 Ix5 Ix6 }
