//! Elements of memory lent for writing, one by one and in walks.

use std::ops::{Index, IndexMut};

use crate::dense::iter::{AxisIterMut, ChunksMut, Iter, IterMut, RowsMut, SplitIntoMut};
use crate::dense::{Tensor, TensorViewMut};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout;
use crate::layout::{axis::Axis, refusal};

/// Elements.
impl<'a, T: Element> TensorViewMut<'a, T> {
    /// One element, or `None` where an index is outside its axis or the rank differs.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2, 3, 4];
    /// let view = TensorViewMut::from_slice(&mut data, [2, 2])?;
    /// assert_eq!(view.get([1, 0]), Some(&3));
    /// assert_eq!(view.get([2, 0]), None);
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
    /// let mut data = [1, 2, 3, 4];
    /// let mut view = TensorViewMut::from_slice(&mut data, [2, 2])?;
    /// *view.get_mut([1, 0]).unwrap() = 30;
    /// assert!(view.get_mut([2, 0]).is_none());
    /// assert_eq!(data, [1, 2, 30, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn get_mut<const N: usize>(&mut self, index: [usize; N]) -> Option<&mut T> {
        let offset = layout::offset_of(self.raw(), &index)?;
        // SAFETY: every index is inside its axis, so the element is one of the view's, and
        // `&mut self` keeps everybody else away from them.
        Some(unsafe { &mut *self.as_mut_ptr().offset(offset) })
    }

    /// The elements as a slice, where they are adjacent in row-major order.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2, 3, 4];
    /// let view = TensorViewMut::from_slice(&mut data, [2, 2])?;
    /// assert_eq!(view.as_slice(), Some(&[1, 2, 3, 4][..]));
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
    /// let mut data = [1, 2, 3, 4];
    /// let mut view = TensorViewMut::from_slice(&mut data, [2, 2])?;
    /// view.as_mut_slice().unwrap().reverse();
    /// assert!(view.t().as_mut_slice().is_none());
    /// assert_eq!(data, [4, 3, 2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        self.view_mut().into_mut_slice()
    }

    /// The elements as a slice to write for the rest of the loan, where they are adjacent in
    /// row-major order.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2, 3, 4];
    /// let view = TensorViewMut::from_slice(&mut data, [2, 2])?;
    /// view.index(0, 1)?.into_mut_slice().unwrap().fill(0);
    /// assert_eq!(data, [1, 2, 0, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn into_mut_slice(mut self) -> Option<&'a mut [T]> {
        if !self.is_row_major() {
            return None;
        }
        match self.len() {
            0 => Some(&mut []),
            // SAFETY: row-major means that the `len` elements of the view are the `len` elements
            // from `data` on; they are exclusive for 'a, and the view is consumed.
            len => Some(unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), len) }),
        }
    }

    /// Sets every element.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2, 3, 4];
    /// TensorViewMut::from_slice(&mut data, [2, 2])?.fill(7);
    /// assert_eq!(data, [7; 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn fill(&mut self, value: T) {
        match self.as_mut_slice() {
            Some(elements) => elements.fill(value),
            None => self.iter_mut().for_each(|element| *element = value),
        }
    }

    /// The elements in row-major order.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2, 3, 4];
    /// let view = TensorViewMut::from_slice(&mut data, [2, 2])?.t();
    /// assert!(view.iter().eq(&[1, 3, 2, 4]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        self.view().iter()
    }

    /// The elements in row-major order, to be written.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2, 3, 4];
    /// let mut view = TensorViewMut::from_slice(&mut data, [2, 2])?;
    /// view.iter_mut().for_each(|element| *element *= 10);
    /// assert_eq!(data, [10, 20, 30, 40]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut::new(self.view_mut())
    }

    /// The parts at each index of an axis, to be written; they share no element.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [0; 6];
    /// let mut view = TensorViewMut::from_slice(&mut data, [2, 3])?;
    /// view.axis_iter_mut(1)?.zip(1..).for_each(|(mut column, nth)| column.fill(nth));
    /// assert_eq!(data, [1, 2, 3, 1, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn axis_iter_mut(&mut self, axis: impl Into<Axis>) -> Result<AxisIterMut<'_, T>> {
        AxisIterMut::new(self.view_mut(), axis.into())
    }

    /// The rows, to be written: views of rank 1 along the last axis, in row-major order of the
    /// other axes. A view of rank 0 is one row of one element.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [0; 6];
    /// let mut view = TensorViewMut::from_slice(&mut data, [2, 3])?;
    /// view.rows_mut().zip(1..).for_each(|(mut row, nth)| row.fill(nth));
    /// assert_eq!(data, [1, 1, 1, 2, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn rows_mut(&mut self) -> RowsMut<'_, T> {
        RowsMut::new(self.view_mut())
    }

    /// An axis split into `part_count` [parts](Self::split_part), to be written; they share no
    /// element. Their extents differ by at most one, the longer ones come first.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or no parts.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [0; 5];
    /// let mut view = TensorViewMut::from_slice(&mut data, 5)?;
    /// std::thread::scope(|scope| {
    ///     for (mut part, nth) in view.split_into_mut(0, 2)?.zip(1..) {
    ///         scope.spawn(move || part.fill(nth));
    ///     }
    ///     Ok::<(), Error>(())
    /// })?;
    /// assert_eq!(data, [1, 1, 1, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn split_into_mut(
        &mut self,
        axis: impl Into<Axis>,
        part_count: usize,
    ) -> Result<SplitIntoMut<'_, T>> {
        SplitIntoMut::new(self.view_mut(), axis.into(), part_count)
    }

    /// Chunks of `size` along an axis, to be written; they share no element. The last one is
    /// smaller where `size` does not divide the extent.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or a size of 0.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [0; 5];
    /// let mut view = TensorViewMut::from_slice(&mut data, 5)?;
    /// view.chunks_mut(0, 2)?.zip(1..).for_each(|(mut chunk, nth)| chunk.fill(nth));
    /// assert_eq!(data, [1, 1, 2, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn chunks_mut(&mut self, axis: impl Into<Axis>, size: usize) -> Result<ChunksMut<'_, T>> {
        ChunksMut::new(self.view_mut(), axis.into(), size)
    }

    /// Copies the elements, in row-major order, into a new `Vec`.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2, 3, 4];
    /// let view = TensorViewMut::from_slice(&mut data, [2, 2])?;
    /// assert_eq!(view.t().to_vec(), [1, 3, 2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_vec(&self) -> Vec<T> {
        self.view().to_vec()
    }

    /// Copies the elements into a new row-major [`Tensor`].
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2, 3, 4];
    /// let tensor = TensorViewMut::from_slice(&mut data, [2, 2])?.to_tensor()?;
    /// data.fill(0);
    /// assert_eq!(tensor[[1, 1]], 4);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_tensor(&self) -> Result<Tensor<T>> {
        self.view().to_tensor()
    }
}

/// Panics as slices do where an index is outside; [`get`](TensorViewMut::get) does not.
impl<T: Element, const N: usize> Index<[usize; N]> for TensorViewMut<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; N]) -> &T {
        match self.view().get(index) {
            Some(element) => element,
            None => refusal::no_such_element(self.raw(), &index),
        }
    }
}

/// Panics as slices do where an index is outside; [`get_mut`](TensorViewMut::get_mut) does not.
impl<T: Element, const N: usize> IndexMut<[usize; N]> for TensorViewMut<'_, T> {
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

impl<'a, T: Element> IntoIterator for TensorViewMut<'a, T> {
    type Item = &'a mut T;
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        IterMut::new(self)
    }
}
