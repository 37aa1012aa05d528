//! The reading methods of views, on the owners of memory: each is that of `view()`.

use crate::dense::{
    AxisIter, Chunks, IntoIndex, IntoReshape, IntoShape, IntoSlice, Iter, IterMut, Rows,
    SharedTensor, Slice, SplitInto, Tensor, TensorView, TensorViewMut,
};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::axis::Axis;

/// A method that calls the view's method of the same name, with an example: `$code` is true of
/// `it`, a (2, 3) of 1 to 6.
macro_rules! reader {
    ($make:literal, $code:literal, $what:literal, $($method:tt)+) => {
        #[doc = $what]
        ///
        /// ```
        /// # use tenure::*;
        #[doc = concat!("let it = ", $make, ";")]
        #[doc = concat!("assert_eq!(", $code, ");")]
        /// # Ok::<(), Error>(())
        /// ```
        #[inline]
        $($method)+
    };
}

macro_rules! readers {
    ($type:ident, $make:literal) => {
        /// Parts and other shapes, and walks over parts: as the methods of [`view`](Self::view) by
        /// the same names. Nothing is copied.
        impl<T: Element> $type<T> {
            reader! { $make, "it.slice(1, 1..)?, [[2, 3], [5, 6]]",
                "As [`TensorView::slice`].",
                pub fn slice(
                    &self,
                    axis: impl Into<Axis>,
                    range: impl IntoSlice,
                ) -> Result<TensorView<'_, T>> {
                    self.view().slice(axis, range)
                }
            }
            reader! { $make, "it.slice_step(1, .., 2)?, [[1, 3], [4, 6]]",
                "As [`TensorView::slice_step`].",
                pub fn slice_step(
                    &self,
                    axis: impl Into<Axis>,
                    range: impl IntoSlice,
                    step: isize,
                ) -> Result<TensorView<'_, T>> {
                    self.view().slice_step(axis, range, step)
                }
            }
            reader! { $make, "it.slice_axes(s![-1, ..;2])?, [4, 6]",
                "As [`TensorView::slice_axes`].",
                pub fn slice_axes(
                    &self,
                    slices: impl AsRef<[Slice]>,
                ) -> Result<TensorView<'_, T>> {
                    self.view().slice_axes(slices)
                }
            }
            reader! { $make, "it.index(0, 1)?, [4, 5, 6]",
                "As [`TensorView::index`].",
                pub fn index(
                    &self,
                    axis: impl Into<Axis>,
                    index: impl IntoIndex,
                ) -> Result<TensorView<'_, T>> {
                    self.view().index(axis, index)
                }
            }
            reader! { $make, "it.permute(&[1, 0])?, [[1, 4], [2, 5], [3, 6]]",
                "As [`TensorView::permute`].",
                pub fn permute(
                    &self,
                    axes: &[impl Into<Axis> + Copy],
                ) -> Result<TensorView<'_, T>> {
                    self.view().permute(axes)
                }
            }
            reader! { $make, "it.transpose(0, 1)?, [[1, 4], [2, 5], [3, 6]]",
                "As [`TensorView::transpose`].",
                pub fn transpose(
                    &self,
                    axis_a: impl Into<Axis>,
                    axis_b: impl Into<Axis>,
                ) -> Result<TensorView<'_, T>> {
                    self.view().transpose(axis_a, axis_b)
                }
            }
            reader! { $make, "it.unsqueeze(0)?.unsqueeze(0)?.channels_last()?.shape(), [1, 3, 1, 2]",
                "As [`TensorView::channels_last`].",
                pub fn channels_last(&self) -> Result<TensorView<'_, T>> {
                    self.view().channels_last()
                }
            }
            reader! { $make, "it.t(), [[1, 4], [2, 5], [3, 6]]",
                "As [`TensorView::t`].",
                pub fn t(&self) -> TensorView<'_, T> {
                    self.view().t()
                }
            }
            reader! { $make, "it.reshape([3, -1])?, [[1, 2], [3, 4], [5, 6]]",
                "As [`TensorView::reshape`].",
                pub fn reshape(&self, shape: impl IntoReshape) -> Result<TensorView<'_, T>> {
                    self.view().reshape(shape)
                }
            }
            reader! { $make, "it.flatten()?, [1, 2, 3, 4, 5, 6]",
                "As [`TensorView::flatten`].",
                pub fn flatten(&self) -> Result<TensorView<'_, T>> {
                    self.view().flatten()
                }
            }
            reader! { $make, "it.slice(0, ..1)?.squeeze(0)?, [1, 2, 3]",
                "As [`TensorView::squeeze`].",
                pub fn squeeze(&self, axis: impl Into<Axis>) -> Result<TensorView<'_, T>> {
                    self.view().squeeze(axis)
                }
            }
            reader! { $make, "it.unsqueeze(-1)?.shape(), [2, 3, 1]",
                "As [`TensorView::unsqueeze`].",
                pub fn unsqueeze(&self, axis: impl Into<Axis>) -> Result<TensorView<'_, T>> {
                    self.view().unsqueeze(axis)
                }
            }
            reader! { $make, "it.broadcast([4, 2, 3])?.len(), 24",
                "As [`TensorView::broadcast`].",
                pub fn broadcast(&self, shape: impl IntoShape) -> Result<TensorView<'_, T>> {
                    self.view().broadcast(shape)
                }
            }
            reader! { $make, "it.flip(1)?, [[3, 2, 1], [6, 5, 4]]",
                "As [`TensorView::flip`].",
                pub fn flip(&self, axis: impl Into<Axis>) -> Result<TensorView<'_, T>> {
                    self.view().flip(axis)
                }
            }
            reader! { $make, "it.split_at(1, 1)?.0, [[1], [4]]",
                "As [`TensorView::split_at`].",
                pub fn split_at(
                    &self,
                    axis: impl Into<Axis>,
                    index: usize,
                ) -> Result<(TensorView<'_, T>, TensorView<'_, T>)> {
                    self.view().split_at(axis, index)
                }
            }
            reader! { $make, "it.split_part(1, 2, 1)?, [[3], [6]]",
                "As [`TensorView::split_part`].",
                pub fn split_part(
                    &self,
                    axis: impl Into<Axis>,
                    part_count: usize,
                    index: usize,
                ) -> Result<TensorView<'_, T>> {
                    self.view().split_part(axis, part_count, index)
                }
            }
            reader! { $make, "it.split_into(1, 2)?.map(|part| part.len()).collect::<Vec<_>>(), [4, 2]",
                "As [`TensorView::split_into`].",
                pub fn split_into(
                    &self,
                    axis: impl Into<Axis>,
                    part_count: usize,
                ) -> Result<SplitInto<'_, T>> {
                    self.view().split_into(axis, part_count)
                }
            }
            reader! { $make, "it.chunks(1, 2)?.map(|chunk| chunk.len()).collect::<Vec<_>>(), [4, 2]",
                "As [`TensorView::chunks`].",
                pub fn chunks(&self, axis: impl Into<Axis>, size: usize) -> Result<Chunks<'_, T>> {
                    self.view().chunks(axis, size)
                }
            }
            reader! { $make, "it.windows(1, 2, 1)?, [[[1, 2], [2, 3]], [[4, 5], [5, 6]]]",
                "As [`TensorView::windows`].",
                pub fn windows(
                    &self,
                    axis: impl Into<Axis>,
                    size: usize,
                    step: usize,
                ) -> Result<TensorView<'_, T>> {
                    self.view().windows(axis, size, step)
                }
            }
            reader! { $make, "it.diagonal(0)?, [1, 5]",
                "As [`TensorView::diagonal`].",
                pub fn diagonal(&self, offset: isize) -> Result<TensorView<'_, T>> {
                    self.view().diagonal(offset)
                }
            }
            reader! { $make, "it.axis_iter(1)?.map(|col| col[[0]]).collect::<Vec<_>>(), [1, 2, 3]",
                "As [`TensorView::axis_iter`].",
                pub fn axis_iter(&self, axis: impl Into<Axis>) -> Result<AxisIter<'_, T>> {
                    self.view().axis_iter(axis)
                }
            }
            reader! { $make, "it.rows().map(|row| row[[0]]).collect::<Vec<_>>(), [1, 4]",
                "As [`TensorView::rows`].",
                pub fn rows(&self) -> Rows<'_, T> {
                    self.view().rows()
                }
            }
        }
    };
}

readers!(Tensor, "Tensor::from([[1, 2, 3], [4, 5, 6]])");
readers!(SharedTensor, "Tensor::from([[1, 2, 3], [4, 5, 6]]).into_shared()");

/// Methods by value of every type that lends a view.
macro_rules! values {
    ($type:ty, [$($lifetime:lifetime)?], $make:literal) => {
        impl<$($lifetime,)? T: Element> $type {
            /// The one element, where there is one, whatever the rank.
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut data = [7];
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.item(), Some(7));
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn item(&self) -> Option<T> {
                match self.as_slice() {
                    Some(&[element]) => Some(element),
                    _ => None,
                }
            }
        }
    };
}

values!(Tensor<T>, [], "Tensor::from([7])");
values!(SharedTensor<T>, [], "Tensor::from([7]).into_shared()");
values!(TensorView<'a, T>, ['a], "TensorView::from_slice(&data, 1)?");
values!(TensorViewMut<'a, T>, ['a], "TensorViewMut::from_slice(&mut data, 1)?");

/// Walks over the elements that a reference reaches.
macro_rules! walks {
    ($($type:ty, [$($lifetime:lifetime)?];)*) => {$(
        impl<'s, $($lifetime,)? T: Element> IntoIterator for &'s $type {
            type Item = &'s T;
            type IntoIter = Iter<'s, T>;

            fn into_iter(self) -> Iter<'s, T> {
                self.iter()
            }
        }
    )*};
}

walks! { Tensor<T>, []; SharedTensor<T>, []; TensorViewMut<'a, T>, ['a]; }

impl<'s, T: Element> IntoIterator for &'s mut Tensor<T> {
    type Item = &'s mut T;
    type IntoIter = IterMut<'s, T>;

    fn into_iter(self) -> IterMut<'s, T> {
        self.iter_mut()
    }
}

impl<'s, T: Element> IntoIterator for &'s mut TensorViewMut<'_, T> {
    type Item = &'s mut T;
    type IntoIter = IterMut<'s, T>;

    fn into_iter(self) -> IterMut<'s, T> {
        self.iter_mut()
    }
}
