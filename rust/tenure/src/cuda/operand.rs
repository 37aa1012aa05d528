//! Operands of a stream's operations: tensors and views on a device, and numbers.

use half::{bf16, f16};
use num_complex::Complex;

use crate::cuda::{Stream, Tensor, TensorView, TensorViewMut};
use crate::dtype::{Bool8, Element};
use crate::error::Result;
use crate::expr::OnDevice;
use crate::raw::expression::{Leaf, LendView};

/// An input on a device: tensors and views of it, and references to them.
///
/// ```
/// use tenure::cuda::{AsView, Device};
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let tensor = device.stream()?.zeros::<f32>([2, 3])?;
/// assert_eq!(tensor.as_view().shape(), [2, 3]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not on a device",
    label = "not a tensor or view of `{T}` elements on a device",
    note = "`stream.upload` copies what is in memory of the host to the device",
    note = "element types are not converted: `stream.cast` does that"
)]
pub trait AsView<T: Element> {
    /// Lends a view for as long as `self` is borrowed.
    fn as_view(&self) -> TensorView<'_, T>;
}

impl<T: Element, A: AsView<T>> LendView<T, OnDevice> for A {
    #[inline]
    fn lent_leaf(&self) -> Leaf<'_> {
        self.as_view().into_leaf()
    }
}

/// An output on a device: a tensor or view that can be written through `&mut`.
///
/// ```
/// use tenure::cuda::{AsViewMut, Device};
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let mut tensor = device.stream()?.zeros::<f32>([2, 3])?;
/// assert_eq!(tensor.as_view_mut().shape(), [2, 3]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as `{T}` elements on a device",
    label = "not a tensor or an exclusive view of `{T}` elements on a device",
    note = "outputs are passed as `&mut out`; a `TensorView` may not be written"
)]
pub trait AsViewMut<T: Element> {
    /// Lends an exclusive view for as long as `self` is borrowed.
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T>;
}

/// An operand of an operation on several: a tensor or view [on a device](AsView), or a number. A
/// number fits every shape and is passed to the device with the call.
///
/// ```
/// use tenure::cuda::Device;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let a = stream.upload(&[1.0, 2.0])?;
/// assert_eq!(stream.to_vec(&stream.sub(10.0, &a)?)?, [9.0, 8.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand on a device",
    label = "not a tensor or view of `{T}` elements on a device, and no number",
    note = "`stream.upload` copies what is in memory of the host to the device",
    note = "a number is written in the type of the elements: `2.0` beside floats, `2_u8` by `u8`"
)]
pub trait Operand<T: Element> {
    /// Its form as an operation takes it.
    #[doc(hidden)]
    fn argument(&self) -> Argument<'_, T>;
}

/// The form of an operand as an operation takes it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Argument<'a, T: Element> {
    View(TensorView<'a, T>),
    Number(T),
}

impl<'a, T: Element> Argument<'a, T> {
    pub(super) fn shape(&self) -> &[usize] {
        match self {
            Argument::View(view) => view.shape(),
            Argument::Number(_) => &[],
        }
    }

    /// For an operation that takes no numbers: one is put into memory of the device.
    pub(super) fn placed(self, stream: &Stream) -> Result<Placed<'a, T>> {
        Ok(match self {
            Argument::View(view) => Placed::View(view),
            Argument::Number(value) => Placed::Number(stream.full(&[][..], value)?),
        })
    }
}

/// An operand that is on the device. Where it is a number its memory ends in the order of the
/// stream, after the operation.
pub(super) enum Placed<'a, T: Element> {
    View(TensorView<'a, T>),
    Number(Tensor<T>),
}

impl<T: Element> AsView<T> for Placed<'_, T> {
    fn as_view(&self) -> TensorView<'_, T> {
        match self {
            Placed::View(view) => *view,
            Placed::Number(tensor) => tensor.view(),
        }
    }
}

impl<T: Element, A: AsView<T> + ?Sized> Operand<T> for A {
    fn argument(&self) -> Argument<'_, T> {
        Argument::View(self.as_view())
    }
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Operand<$type> for $type {
            fn argument(&self) -> Argument<'_, $type> {
                Argument::Number(*self)
            }
        }
    )*};
}

numbers! {
    f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 Bool8 Complex<f32> Complex<f64>
}

impl<T: Element, A: AsView<T> + ?Sized> AsView<T> for &A {
    fn as_view(&self) -> TensorView<'_, T> {
        (**self).as_view()
    }
}

impl<T: Element, A: AsView<T> + ?Sized> AsView<T> for &mut A {
    fn as_view(&self) -> TensorView<'_, T> {
        (**self).as_view()
    }
}

impl<T: Element> AsView<T> for Tensor<T> {
    fn as_view(&self) -> TensorView<'_, T> {
        self.view()
    }
}

impl<T: Element> AsView<T> for TensorView<'_, T> {
    fn as_view(&self) -> TensorView<'_, T> {
        *self
    }
}

impl<T: Element> AsView<T> for TensorViewMut<'_, T> {
    fn as_view(&self) -> TensorView<'_, T> {
        self.view()
    }
}

impl<T: Element, A: AsViewMut<T> + ?Sized> AsViewMut<T> for &mut A {
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        (**self).as_view_mut()
    }
}

impl<T: Element> AsViewMut<T> for Tensor<T> {
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        self.view_mut()
    }
}

impl<T: Element> AsViewMut<T> for TensorViewMut<'_, T> {
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        self.view_mut()
    }
}
