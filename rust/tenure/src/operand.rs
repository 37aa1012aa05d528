//! Operands: anything that lends a view of itself.

use half::{bf16, f16};
use num_complex::Complex;

pub(crate) mod contiguous;
mod equality;
pub(crate) mod expression;

use self::expression::{Expr, Host};
use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::bytes;
use crate::dtype::index::SparseIndex;
use crate::dtype::{Bool8, Element};
use crate::raw::expression::{Leaf, LendView};
use crate::raw::leaf_mut::LeafMut;

/// An input: tensors, views, slices, `Vec`s, arrays, arrays of arrays, single numbers, and
/// references to them.
///
/// ```
/// use tenure::AsView;
///
/// assert_eq!([[1, 2, 3], [4, 5, 6]].as_view().shape(), [2, 3]);
/// assert_eq!(vec![1.0, 2.0].as_view().shape(), [2]);
/// assert_eq!(1.0_f32.as_view().rank(), 0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as a view of `{T}` elements",
    label = "not a tensor, view, slice, `Vec`, array or number of `{T}`",
    note = "element types are not converted: `cast` does that",
    note = "a number is written in the type of the elements: `2.0` beside floats, `2_u8` beside `u8`",
    note = "types of ndarray, nalgebra, faer and image are operands with the feature of that name"
)]
pub trait AsView<T: Element> {
    /// Lends a view for as long as `self` is borrowed.
    fn as_view(&self) -> TensorView<'_, T>;

    /// An [expression](Expr) that has this as its only operand, for further methods and operators.
    /// A tensor or a view is an operand by itself, and needs this before a method only.
    ///
    /// ```
    /// use tenure::AsView;
    ///
    /// let data = vec![1.0, 4.0, 9.0];
    /// assert_eq!((data.expr().sqrt() * 2.0 + &[0.0, 1.0, 2.0]).eval()?, [2.0, 5.0, 8.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    fn expr(&self) -> Expr<'_, T> {
        Expr::from(self)
    }

    /// The part of this that an expression keeps: a view's words, or its address where it has one.
    #[doc(hidden)]
    #[inline]
    fn leaf(&self) -> Leaf<'_> {
        self.as_view().into_leaf()
    }

    /// Lends a view to `f`. A view itself is not copied: its 192 bytes would slow down an operation
    /// on a few elements.
    #[doc(hidden)]
    #[inline]
    fn with_view<R>(&self, f: impl FnOnce(&TensorView<'_, T>) -> R) -> R {
        f(&self.as_view())
    }
}

impl<T: Element, A: AsView<T>> LendView<T, Host> for A {
    #[inline(always)]
    fn lent_leaf(&self) -> Leaf<'_> {
        self.leaf()
    }
}

/// An output: what can be written through `&mut`.
///
/// ```
/// use tenure::AsViewMut;
///
/// let mut data = [[0; 3]; 2];
/// data.as_view_mut()[[1, 2]] = 7;
/// assert_eq!(data, [[0, 0, 0], [0, 0, 7]]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as `{T}` elements",
    label = "not an exclusive view, tensor, slice, `Vec` or array of `{T}`",
    note = "outputs are passed as `&mut out`; a `TensorView` or `SharedTensor` may not be written",
    note = "types of ndarray, nalgebra, faer and image are outputs with the feature of that name"
)]
pub trait AsViewMut<T: Element> {
    /// Lends an exclusive view for as long as `self` is borrowed.
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T>;

    /// A view for a run of a program, by its address where it has one: see [`AsView::with_view`].
    #[doc(hidden)]
    #[inline]
    fn leaf_mut(&mut self) -> LeafMut<'_> {
        self.as_view_mut().into()
    }

    /// Lends an exclusive view to `f`, as [`AsView::with_view`] does.
    #[doc(hidden)]
    #[inline]
    fn with_view_mut<R>(&mut self, f: impl FnOnce(&mut TensorViewMut<'_, T>) -> R) -> R {
        f(&mut self.as_view_mut())
    }
}

/// Indices: every input of `i32` or `i64`, and slices, `Vec`s, arrays and single numbers of `usize`,
/// which are lent as `i64` without a copy.
///
/// ```
/// use tenure::ops::take;
///
/// let mut order: Vec<usize> = vec![0, 1, 2];
/// order.reverse();
/// assert_eq!(take(&[10, 20, 30], 0, &order)?, [30, 20, 10]);
/// assert_eq!(take(&[10, 20, 30], 0, order[0])?.item(), Some(30));
///
/// let error = take(&[10, 20, 30], 0, &[3_usize]).unwrap_err();
/// assert!(error.message().starts_with("take: indices[0] is 3 but must be at least 0 and less than 3"));
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as indices",
    label = "not a tensor, view, slice, `Vec`, array or number of `i32` or `i64`, or of `usize`",
    note = "of `usize` there are slices, `Vec`s, arrays and numbers; tensors have `i32` or `i64`"
)]
pub trait AsIndices<I: SparseIndex> {
    /// Lends a view for as long as `self` is borrowed.
    fn as_indices(&self) -> TensorView<'_, I>;
}

impl<I: SparseIndex, A: AsView<I> + ?Sized> AsIndices<I> for A {
    #[inline]
    fn as_indices(&self) -> TensorView<'_, I> {
        self.as_view()
    }
}

/// Implements `AsIndices` for types that hold `usize`, and for references to them. One generic
/// implementation for references would overlap with the one above.
macro_rules! rust_indices {
    ($($type:ty, [$($generic:tt)*], $self:ident => $slice:expr, $extents:expr;)*) => {$(
        impl<$($generic)*> AsIndices<i64> for $type {
            #[inline]
            fn as_indices(&$self) -> TensorView<'_, i64> {
                TensorView::from_exact(bytes::as_signed($slice), $extents)
            }
        }
    )*};
}

rust_indices! {
    usize, [], self => std::slice::from_ref(self), &[];
    &usize, [], self => std::slice::from_ref(*self), &[];
    [usize], [], self => self, &[self.len()];
    &[usize], [], self => self, &[self.len()];
    Vec<usize>, [], self => self, &[self.len()];
    &Vec<usize>, [], self => self, &[self.len()];
    [usize; N], [const N: usize], self => self, &[N];
    &[usize; N], [const N: usize], self => *self, &[N];
    [[usize; N]; M], [const M: usize, const N: usize], self => self.as_flattened(), &[M, N];
    &[[usize; N]; M], [const M: usize, const N: usize], self => self.as_flattened(), &[M, N];
}

/// Several inputs: arrays, slices and `Vec`s of inputs of one type, and tuples of up to eight of
/// any.
///
/// ```
/// use tenure::{Tensor, linalg::einsum};
///
/// let matrix = Tensor::<f32>::zeros([2, 3])?;
/// assert_eq!(einsum("ij,kj->ik", [&matrix, &matrix])?.shape(), [2, 2]);
/// assert_eq!(einsum("ij,j->i", (&matrix, [1.0, 2.0, 3.0]))?.shape(), [2]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as several views of `{T}` elements",
    label = "not a tuple, array, slice or `Vec` of tensors, views or arrays of `{T}`",
    note = "one operand alone is written as `(&a,)` or `[&a]`"
)]
pub trait AsViews<T: Element> {
    /// Lends views to `f`, in their order.
    fn with_views<R>(&self, f: impl FnOnce(&[TensorView<'_, T>]) -> R) -> R;
}

impl<T: Element, A: AsViews<T> + ?Sized> AsViews<T> for &A {
    fn with_views<R>(&self, f: impl FnOnce(&[TensorView<'_, T>]) -> R) -> R {
        (**self).with_views(f)
    }
}

impl<T: Element, A: AsView<T>, const N: usize> AsViews<T> for [A; N] {
    fn with_views<R>(&self, f: impl FnOnce(&[TensorView<'_, T>]) -> R) -> R {
        f(&self.each_ref().map(AsView::as_view))
    }
}

impl<T: Element, A: AsView<T>> AsViews<T> for [A] {
    fn with_views<R>(&self, f: impl FnOnce(&[TensorView<'_, T>]) -> R) -> R {
        f(&self.iter().map(AsView::as_view).collect::<Vec<_>>())
    }
}

impl<T: Element, A: AsView<T>> AsViews<T> for Vec<A> {
    fn with_views<R>(&self, f: impl FnOnce(&[TensorView<'_, T>]) -> R) -> R {
        self.as_slice().with_views(f)
    }
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        impl<T: Element, $($name: AsView<T>),+> AsViews<T> for ($($name,)+) {
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn with_views<R>(&self, f: impl FnOnce(&[TensorView<'_, T>]) -> R) -> R {
                let ($($name,)+) = self;
                f(&[$($name.as_view()),+])
            }
        }
    )*};
}

crate::dtype::tuples::up_to_eight!(tuples);

impl<T: Element, A: AsView<T> + ?Sized> AsView<T> for &A {
    #[inline]
    fn as_view(&self) -> TensorView<'_, T> {
        (**self).as_view()
    }

    #[inline]
    fn with_view<R>(&self, f: impl FnOnce(&TensorView<'_, T>) -> R) -> R {
        (**self).with_view(f)
    }

    #[inline]
    fn leaf(&self) -> Leaf<'_> {
        (**self).leaf()
    }
}

impl<T: Element, A: AsView<T> + ?Sized> AsView<T> for &mut A {
    #[inline]
    fn as_view(&self) -> TensorView<'_, T> {
        (**self).as_view()
    }

    #[inline]
    fn with_view<R>(&self, f: impl FnOnce(&TensorView<'_, T>) -> R) -> R {
        (**self).with_view(f)
    }

    #[inline]
    fn leaf(&self) -> Leaf<'_> {
        (**self).leaf()
    }
}

impl<T: Element, A: AsViewMut<T> + ?Sized> AsViewMut<T> for &mut A {
    #[inline]
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        (**self).as_view_mut()
    }

    #[inline]
    fn leaf_mut(&mut self) -> LeafMut<'_> {
        (**self).leaf_mut()
    }

    #[inline]
    fn with_view_mut<R>(&mut self, f: impl FnOnce(&mut TensorViewMut<'_, T>) -> R) -> R {
        (**self).with_view_mut(f)
    }
}

impl<T: Element> AsView<T> for TensorView<'_, T> {
    #[inline]
    fn as_view(&self) -> TensorView<'_, T> {
        *self
    }

    #[inline]
    fn with_view<R>(&self, f: impl FnOnce(&TensorView<'_, T>) -> R) -> R {
        f(self)
    }

    #[inline]
    fn leaf(&self) -> Leaf<'_> {
        self.as_leaf()
    }
}

impl<T: Element> AsView<T> for TensorViewMut<'_, T> {
    #[inline]
    fn as_view(&self) -> TensorView<'_, T> {
        self.view()
    }

    #[inline]
    fn leaf(&self) -> Leaf<'_> {
        self.view_ref().as_leaf()
    }
}

impl<T: Element> AsViewMut<T> for TensorViewMut<'_, T> {
    #[inline]
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        self.view_mut()
    }

    #[inline]
    fn leaf_mut(&mut self) -> LeafMut<'_> {
        self.lent_mut().into()
    }

    #[inline]
    fn with_view_mut<R>(&mut self, f: impl FnOnce(&mut TensorViewMut<'_, T>) -> R) -> R {
        f(self)
    }
}

impl<T: Element> AsView<T> for Tensor<T> {
    #[inline]
    fn as_view(&self) -> TensorView<'_, T> {
        self.view()
    }

    #[inline]
    fn with_view<R>(&self, f: impl FnOnce(&TensorView<'_, T>) -> R) -> R {
        f(self.view_ref())
    }

    #[inline]
    fn leaf(&self) -> Leaf<'_> {
        self.view_ref().as_leaf()
    }
}

impl<T: Element> AsViewMut<T> for Tensor<T> {
    #[inline]
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        self.view_mut()
    }

    #[inline]
    fn leaf_mut(&mut self) -> LeafMut<'_> {
        self.lent_mut().into()
    }
}

impl<T: Element> AsView<T> for SharedTensor<T> {
    #[inline]
    fn as_view(&self) -> TensorView<'_, T> {
        self.view()
    }

    #[inline]
    fn with_view<R>(&self, f: impl FnOnce(&TensorView<'_, T>) -> R) -> R {
        f(self.view_ref())
    }

    #[inline]
    fn leaf(&self) -> Leaf<'_> {
        self.view_ref().as_leaf()
    }
}

impl<T: Element> AsView<T> for [T] {
    #[inline]
    fn as_view(&self) -> TensorView<'_, T> {
        TensorView::from(self)
    }
}

impl<T: Element> AsViewMut<T> for [T] {
    #[inline]
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        TensorViewMut::from(self)
    }
}

impl<T: Element> AsView<T> for Vec<T> {
    #[inline]
    fn as_view(&self) -> TensorView<'_, T> {
        TensorView::from(self.as_slice())
    }
}

impl<T: Element> AsViewMut<T> for Vec<T> {
    #[inline]
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        TensorViewMut::from(self.as_mut_slice())
    }
}

/// The extents of an array type. Arrays without elements may be longer than any memory, also those
/// that appear on the way to a flat one; they do not compile.
const fn extents<const N: usize>(lens: [usize; N]) -> [usize; N] {
    let mut count: usize = 1;
    let mut axis = 0;
    while axis < N {
        let extent = if lens[axis] == 0 { 1 } else { lens[axis] };
        count = match count.checked_mul(extent) {
            Some(count) if count <= isize::MAX as usize => count,
            _ => panic!("an array this long is no operand"),
        };
        axis += 1;
    }
    lens
}

/// Arrays of arrays and their extents, outermost first.
macro_rules! arrays {
    (@flat $slice:expr, $method:ident; $first:ident) => { $slice };
    (@flat $slice:expr, $method:ident; $first:ident $($rest:ident)+) => {
        arrays!(@flat $slice.$method(), $method; $($rest)+)
    };
    ($($type:ty => $($extent:ident)+;)*) => {$(
        impl<T: Element, $(const $extent: usize),+> AsView<T> for $type {
            #[inline]
            fn as_view(&self) -> TensorView<'_, T> {
                let elements = arrays!(@flat self.as_slice(), as_flattened; $($extent)+);
                TensorView::from_exact(elements, const { &extents([$($extent),+]) })
            }
        }

        impl<T: Element, $(const $extent: usize),+> AsViewMut<T> for $type {
            #[inline]
            fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
                let elements = arrays!(@flat self.as_mut_slice(), as_flattened_mut; $($extent)+);
                TensorViewMut::from_exact(elements, const { &extents([$($extent),+]) })
            }
        }
    )*};
}

arrays! {
    [T; A] => A;
    [[T; B]; A] => A B;
    [[[T; C]; B]; A] => A B C;
    [[[[T; D]; C]; B]; A] => A B C D;
    [[[[[T; E]; D]; C]; B]; A] => A B C D E;
    [[[[[[T; F]; E]; D]; C]; B]; A] => A B C D E F;
    [[[[[[[T; G]; F]; E]; D]; C]; B]; A] => A B C D E F G;
    [[[[[[[[T; H]; G]; F]; E]; D]; C]; B]; A] => A B C D E F G H;
}

/// Single numbers, as rank 0.
macro_rules! scalars {
    ($($type:ty)*) => {$(
        impl AsView<$type> for $type {
            #[inline]
            fn as_view(&self) -> TensorView<'_, $type> {
                TensorView::from_ref(self)
            }
        }
    )*};
}

scalars! {
    f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 Bool8 Complex<f32> Complex<f64>
}
