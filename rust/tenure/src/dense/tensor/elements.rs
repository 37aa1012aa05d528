//! Elements of memory with a single holder.

use std::ops::{Index, IndexMut};

use crate::dense::Tensor;
use crate::dense::iter::{AxisIterMut, ChunksMut, Iter, IterMut, RowsMut, SplitIntoMut};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout;
use crate::layout::axis::Axis;
use crate::layout::refusal;

/// Elements.
impl<T: Element> Tensor<T> {
    /// One element, or `None` where an index is outside its axis or the rank differs.
    ///
    /// ```
    /// # use tenure::*;
    /// let tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(tensor.get([1, 0]), Some(&3));
    /// assert_eq!(tensor.get([0, 2]), None);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn get<const N: usize>(&self, index: [usize; N]) -> Option<&T> {
        self.view().get(index)
    }

    /// One element to write, or `None` where an index is outside its axis or the rank differs.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
    /// *tensor.get_mut([1, 0]).unwrap() = 30;
    /// assert_eq!(tensor.to_vec(), [1, 2, 30, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn get_mut<const N: usize>(&mut self, index: [usize; N]) -> Option<&mut T> {
        let offset = layout::offset_of(self.raw(), &index)?;
        // SAFETY: every index is inside its axis, so the element is one of the tensor's, and
        // `&mut self` keeps everybody else away from them.
        Some(unsafe { &mut *self.as_ptr().cast_mut().offset(offset) })
    }

    /// The elements as a slice, where they are adjacent in row-major order.
    ///
    /// ```
    /// # use tenure::*;
    /// let tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(tensor.as_slice(), Some(&[1, 2, 3, 4][..]));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn as_slice(&self) -> Option<&[T]> {
        self.view().as_slice()
    }

    /// The elements as a slice to write, where they are adjacent in row-major order.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
    /// tensor.as_mut_slice().unwrap().reverse();
    /// assert_eq!(tensor.to_vec(), [4, 3, 2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        self.view_mut().into_mut_slice()
    }

    /// The elements in row-major order.
    ///
    /// ```
    /// # use tenure::*;
    /// let tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(tensor.iter().sum::<i32>(), 10);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        self.view().iter()
    }

    /// The elements in row-major order, to be written.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
    /// tensor.iter_mut().for_each(|element| *element *= 10);
    /// assert_eq!(tensor.to_vec(), [10, 20, 30, 40]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        self.view_mut().into_iter()
    }

    /// Sets every element.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut tensor = Tensor::<i32>::zeros([2, 2])?;
    /// tensor.fill(7);
    /// assert_eq!(tensor, [[7, 7], [7, 7]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn fill(&mut self, value: T) {
        self.view_mut().fill(value);
    }

    /// Does the same as [`TensorViewMut::axis_iter_mut`](crate::TensorViewMut::axis_iter_mut).
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut tensor = Tensor::<i32>::zeros([2, 3])?;
    /// tensor.axis_iter_mut(1)?.zip(1..).for_each(|(mut column, nth)| column.fill(nth));
    /// assert_eq!(tensor, [[1, 2, 3], [1, 2, 3]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn axis_iter_mut(&mut self, axis: impl Into<Axis>) -> Result<AxisIterMut<'_, T>> {
        AxisIterMut::new(self.view_mut(), axis.into())
    }

    /// Does the same as [`TensorViewMut::rows_mut`](crate::TensorViewMut::rows_mut).
    ///
    /// ```
    /// # use tenure::*;
    /// let mut tensor = Tensor::<i32>::zeros([2, 3])?;
    /// tensor.rows_mut().zip(1..).for_each(|(mut row, nth)| row.fill(nth));
    /// assert_eq!(tensor, [[1, 1, 1], [2, 2, 2]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn rows_mut(&mut self) -> RowsMut<'_, T> {
        RowsMut::new(self.view_mut())
    }

    /// Does the same as [`TensorViewMut::split_into_mut`](crate::TensorViewMut::split_into_mut).
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or no parts.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut tensor = Tensor::<i32>::zeros(5)?;
    /// tensor.split_into_mut(0, 2)?.zip(1..).for_each(|(mut part, nth)| part.fill(nth));
    /// assert_eq!(tensor, [1, 1, 1, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn split_into_mut(
        &mut self,
        axis: impl Into<Axis>,
        part_count: usize,
    ) -> Result<SplitIntoMut<'_, T>> {
        SplitIntoMut::new(self.view_mut(), axis.into(), part_count)
    }

    /// Does the same as [`TensorViewMut::chunks_mut`](crate::TensorViewMut::chunks_mut).
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or a size of 0.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut tensor = Tensor::<i32>::zeros(5)?;
    /// tensor.chunks_mut(0, 2)?.zip(1..).for_each(|(mut chunk, nth)| chunk.fill(nth));
    /// assert_eq!(tensor, [1, 1, 2, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn chunks_mut(&mut self, axis: impl Into<Axis>, size: usize) -> Result<ChunksMut<'_, T>> {
        ChunksMut::new(self.view_mut(), axis.into(), size)
    }
}

/// Panics as slices do where an index is outside; [`get`](Tensor::get) does not.
impl<T: Element, const N: usize> Index<[usize; N]> for Tensor<T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; N]) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => refusal::no_such_element(self.raw(), &index),
        }
    }
}

/// Panics as slices do where an index is outside; [`get_mut`](Tensor::get_mut) does not.
impl<T: Element, const N: usize> IndexMut<[usize; N]> for Tensor<T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: [usize; N]) -> &mut T {
        let raw = *self.raw();
        match self.get_mut(index) {
            Some(element) => element,
            None => refusal::no_such_element(&raw, &index),
        }
    }
}
