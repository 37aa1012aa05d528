//! Walks over views: their elements in row-major order, and their parts along an axis.
//!
//! Elements are reached through raw pointers: a slice over the whole memory would claim elements
//! that belong to others, such as the other half of a split view.

use std::iter::FusedIterator;
use std::marker::PhantomData;

use tenure_sys::{TNR_MAX_RANK, tnr_view};

use crate::dense::manipulate;
use crate::dense::{TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout;
use crate::layout::axis::Axis;

/// Places of a view's elements in row-major order: an odometer whose last wheel is a plain run.
/// Axes that run on into each other are merged first, so that a contiguous view is a single run.
#[derive(Clone)]
struct Places<T> {
    /// The next element, if any remain.
    next: *const T,
    /// Elements left, this run's included.
    remaining: usize,
    /// Elements left in this run.
    run_remaining: usize,
    run_stride: isize,
    run_extent: usize,
    /// The outer axes, innermost first: (extent, stride, index).
    outer: [(usize, isize, usize); TNR_MAX_RANK],
    outer_rank: usize,
}

impl<T> Places<T> {
    fn new(view: &tnr_view) -> Self {
        let remaining = layout::count(view);
        let mut axes = [(1_usize, 0_isize, 0_usize); TNR_MAX_RANK];
        let mut used = 0;
        let all = layout::extents(view).iter().zip(layout::strides(view));
        for (&extent, &stride) in all.rev().filter(|axis| remaining > 0 && *axis.0 > 1) {
            // The wheel inside this one, if its last step lands where this one's first does.
            match axes[..used].last_mut() {
                Some((inner_extent, inner_stride, _))
                    if inner_stride.wrapping_mul(*inner_extent as isize) == stride =>
                {
                    *inner_extent *= extent;
                }
                _ => {
                    axes[used] = (extent, stride, 0);
                    used += 1;
                }
            }
        }
        let (run_extent, run_stride, _) = axes[0];
        axes.rotate_left(1);
        Places {
            next: view.data.cast(),
            remaining,
            run_remaining: run_extent.min(remaining),
            run_stride,
            run_extent,
            outer: axes,
            outer_rank: used.saturating_sub(1),
        }
    }

    /// Back to the run's start, and on to the next one. There is one.
    fn next_run(&mut self) {
        let back = self.run_stride.wrapping_mul(self.run_extent as isize);
        self.next = self.next.wrapping_offset(back.wrapping_neg());
        self.run_remaining = self.run_extent;
        for (extent, stride, index) in &mut self.outer[..self.outer_rank] {
            *index += 1;
            if *index < *extent {
                self.next = self.next.wrapping_offset(*stride);
                return;
            }
            *index = 0;
            self.next = self.next.wrapping_offset(-*stride * (*extent as isize - 1));
        }
    }

    #[inline]
    fn advance(&mut self) -> Option<*const T> {
        if self.remaining == 0 {
            return None;
        }
        if self.run_remaining == 0 {
            self.next_run();
        }
        let place = self.next;
        self.remaining -= 1;
        self.run_remaining -= 1;
        self.next = place.wrapping_offset(self.run_stride);
        Some(place)
    }

    /// The last element that is left: as many steps as there are after the next one, carried from
    /// wheel to wheel.
    #[inline]
    fn retreat(&mut self) -> Option<*const T> {
        let steps = self.remaining.checked_sub(1)?;
        self.remaining = steps;
        // A run that is used up stands behind its end, and steps count from there as well.
        let at = self.run_extent - self.run_remaining;
        let target = at + steps;
        let run_steps = (target % self.run_extent) as isize - at as isize;
        let mut place = self.next.wrapping_offset(run_steps.wrapping_mul(self.run_stride));
        let mut carried = target / self.run_extent;
        for &(extent, stride, index) in &self.outer[..self.outer_rank] {
            if carried == 0 {
                break;
            }
            let steps = ((index + carried) % extent) as isize - index as isize;
            place = place.wrapping_offset(steps.wrapping_mul(stride));
            carried = (index + carried) / extent;
        }
        Some(place)
    }

    /// All that are left, run by run: the loop that a compiler can make fast.
    #[inline]
    fn fold<A>(mut self, mut accumulated: A, mut f: impl FnMut(A, *const T) -> A) -> A {
        while self.remaining > 0 {
            if self.run_remaining == 0 {
                self.next_run();
            }
            let (count, stride) = (self.run_remaining.min(self.remaining), self.run_stride);
            // Two copies of the loop: with a stride known to be 1 it can be vectorised.
            if stride == 1 {
                for nth in 0..count {
                    accumulated = f(accumulated, self.next.wrapping_add(nth));
                }
            } else {
                for nth in 0..count as isize {
                    accumulated = f(accumulated, self.next.wrapping_offset(nth * stride));
                }
            }
            self.next = self.next.wrapping_offset(stride.wrapping_mul(count as isize));
            self.remaining -= count;
            self.run_remaining = 0;
        }
        accumulated
    }
}

/// The elements of a view in row-major order; from [`TensorView::iter`].
#[derive(Clone)]
pub struct Iter<'a, T: Element> {
    places: Places<T>,
    _lent: PhantomData<&'a [T]>,
}

// SAFETY: it is the unvisited rest of a `TensorView`.
unsafe impl<T: Element + Sync> Send for Iter<'_, T> {}
// SAFETY: `&Iter` gives only clones and the number of elements left; a clone only reads elements,
// which no code writes for 'a; `&T` may be used on any thread, because T is Sync.
unsafe impl<T: Element + Sync> Sync for Iter<'_, T> {}

impl<'a, T: Element> Iter<'a, T> {
    pub(crate) fn new(view: TensorView<'a, T>) -> Self {
        Iter { places: Places::new(view.raw()), _lent: PhantomData }
    }
}

impl<'a, T: Element> Iterator for Iter<'a, T> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        // SAFETY: the place is an element of the view, readable for 'a.
        self.places.advance().map(|place| unsafe { &*place })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.places.remaining, Some(self.places.remaining))
    }

    #[inline]
    fn fold<A, F: FnMut(A, &'a T) -> A>(self, accumulated: A, mut f: F) -> A {
        // SAFETY: each place is an element of the view; the view's elements are initialised, and
        // not written for 'a.
        self.places.fold(accumulated, |accumulated, place| f(accumulated, unsafe { &*place }))
    }
}

/// The elements of a view in row-major order, to be written; from [`TensorViewMut::iter_mut`].
pub struct IterMut<'a, T: Element> {
    places: Places<T>,
    _lent: PhantomData<&'a mut [T]>,
}

// SAFETY: it is the unvisited rest of a `TensorViewMut`.
unsafe impl<T: Element + Send> Send for IterMut<'_, T> {}
// SAFETY: `&IterMut` gives only the number of elements left; every method that reaches an element
// takes `&mut self` or the iterator by value.
unsafe impl<T: Element + Sync> Sync for IterMut<'_, T> {}

impl<'a, T: Element> IterMut<'a, T> {
    pub(crate) fn new(view: TensorViewMut<'a, T>) -> Self {
        IterMut { places: Places::new(view.raw()), _lent: PhantomData }
    }
}

impl<'a, T: Element> Iterator for IterMut<'a, T> {
    type Item = &'a mut T;

    #[inline]
    fn next(&mut self) -> Option<&'a mut T> {
        // SAFETY: the place is an element of the view, exclusive for 'a; no two indices of a
        // `TensorViewMut` meet, and each is visited once.
        self.places.advance().map(|place| unsafe { &mut *place.cast_mut() })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.places.remaining, Some(self.places.remaining))
    }

    #[inline]
    fn fold<A, F: FnMut(A, &'a mut T) -> A>(self, accumulated: A, mut f: F) -> A {
        self.places.fold(accumulated, |accumulated, place| {
            // SAFETY: each place is an element of the view, whose elements are exclusive for 'a; no
            // two indices of a `TensorViewMut` meet; `fold` visits each place that is left once.
            f(accumulated, unsafe { &mut *place.cast_mut() })
        })
    }
}

impl<T: Element> DoubleEndedIterator for Iter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        // SAFETY: the place is an element of the view; the view's elements are initialised, and not
        // written for 'a.
        self.places.retreat().map(|place| unsafe { &*place })
    }
}

impl<T: Element> DoubleEndedIterator for IterMut<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        // SAFETY: the place is an element of the view, whose elements are exclusive for 'a; no two
        // indices of a `TensorViewMut` meet; `retreat` counts the element out of those that are
        // left, so that no later call visits it.
        self.places.retreat().map(|place| unsafe { &mut *place.cast_mut() })
    }
}

impl<T: Element> ExactSizeIterator for Iter<'_, T> {}
impl<T: Element> FusedIterator for Iter<'_, T> {}
impl<T: Element> ExactSizeIterator for IterMut<'_, T> {}
impl<T: Element> FusedIterator for IterMut<'_, T> {}

/// The arithmetic that gives part number `index` of a view.
trait Parts {
    fn part(&self, view: &tnr_view, index: usize) -> tnr_view;
}

#[derive(Clone)]
struct AxisParts {
    axis: usize,
}

impl Parts for AxisParts {
    #[inline]
    fn part(&self, view: &tnr_view, index: usize) -> tnr_view {
        manipulate::at_index(view, self.axis, index)
    }
}

#[derive(Clone)]
struct RowParts;

impl Parts for RowParts {
    #[inline]
    fn part(&self, view: &tnr_view, index: usize) -> tnr_view {
        manipulate::row(view, index)
    }
}

#[derive(Clone)]
struct ChunkParts {
    axis: usize,
    size: usize,
}

impl Parts for ChunkParts {
    #[inline]
    fn part(&self, view: &tnr_view, index: usize) -> tnr_view {
        manipulate::at_chunk(view, self.axis, self.size, index)
    }
}

#[derive(Clone)]
struct SplitParts {
    axis: usize,
    part_count: usize,
}

impl Parts for SplitParts {
    #[inline]
    fn part(&self, view: &tnr_view, index: usize) -> tnr_view {
        manipulate::at_part(view, self.axis, self.part_count, index)
    }
}

/// A pair of iterators over parts that share no element, one for each kind of view.
macro_rules! parts_iterators {
    (
        $parts:ident,
        $(#[$shared_doc:meta])* $shared:ident,
        $(#[$exclusive_doc:meta])* $exclusive:ident
    ) => {
        $(#[$shared_doc])*
        #[derive(Clone)]
        pub struct $shared<'a, T: Element> {
            view: TensorView<'a, T>,
            parts: $parts,
            left: std::ops::Range<usize>,
        }

        impl<'a, T: Element> Iterator for $shared<'a, T> {
            type Item = TensorView<'a, T>;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                let index = self.left.next()?;
                // SAFETY: the part's elements are among the view's.
                Some(unsafe { TensorView::from_raw(self.parts.part(self.view.raw(), index)) })
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.left.size_hint()
            }
        }

        impl<T: Element> DoubleEndedIterator for $shared<'_, T> {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                let index = self.left.next_back()?;
                // SAFETY: the part's elements are among the view's.
                Some(unsafe { TensorView::from_raw(self.parts.part(self.view.raw(), index)) })
            }
        }

        impl<T: Element> ExactSizeIterator for $shared<'_, T> {}
        impl<T: Element> FusedIterator for $shared<'_, T> {}

        $(#[$exclusive_doc])*
        pub struct $exclusive<'a, T: Element> {
            view: TensorViewMut<'a, T>,
            parts: $parts,
            left: std::ops::Range<usize>,
        }

        impl<'a, T: Element> Iterator for $exclusive<'a, T> {
            type Item = TensorViewMut<'a, T>;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                let index = self.left.next()?;
                // SAFETY: the part's elements are among the view's, and parts of different
                // indices share none; each index is given out once, and the view itself is not
                // used again.
                Some(unsafe { TensorViewMut::from_raw(self.parts.part(self.view.raw(), index)) })
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.left.size_hint()
            }
        }

        impl<T: Element> DoubleEndedIterator for $exclusive<'_, T> {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                let index = self.left.next_back()?;
                // SAFETY: the part's elements are among the view's, and parts of different indices
                // share none; `left` gives each index once, from either end; the view itself is not
                // used again.
                Some(unsafe { TensorViewMut::from_raw(self.parts.part(self.view.raw(), index)) })
            }
        }

        impl<T: Element> ExactSizeIterator for $exclusive<'_, T> {}
        impl<T: Element> FusedIterator for $exclusive<'_, T> {}
    };
}

parts_iterators! {
    AxisParts,
    /// The parts at each index of an axis; from [`TensorView::axis_iter`].
    AxisIter,
    /// The parts at each index of an axis, to be written; from [`TensorViewMut::axis_iter_mut`].
    AxisIterMut
}

parts_iterators! {
    RowParts,
    /// The rows of a view; from [`TensorView::rows`].
    Rows,
    /// The rows of a view, to be written; from [`TensorViewMut::rows_mut`].
    RowsMut
}

parts_iterators! {
    ChunkParts,
    /// Chunks of one size along an axis; from [`TensorView::chunks`].
    Chunks,
    /// Chunks of one size along an axis, to be written; from [`TensorViewMut::chunks_mut`].
    ChunksMut
}

parts_iterators! {
    SplitParts,
    /// A requested number of parts of an axis; from [`TensorView::split_into`].
    SplitInto,
    /// A requested number of parts of an axis, to be written; from
    /// [`TensorViewMut::split_into_mut`].
    SplitIntoMut
}

impl<'a, T: Element> AxisIter<'a, T> {
    pub(crate) fn new(view: TensorView<'a, T>, axis: Axis) -> Result<Self> {
        let (axis, extent) = manipulate::locate("axis_iter", view.raw(), axis)?;
        Ok(AxisIter { view, parts: AxisParts { axis }, left: 0..extent })
    }
}

impl<'a, T: Element> AxisIterMut<'a, T> {
    pub(crate) fn new(view: TensorViewMut<'a, T>, axis: Axis) -> Result<Self> {
        let (axis, extent) = manipulate::locate("axis_iter_mut", view.raw(), axis)?;
        Ok(AxisIterMut { view, parts: AxisParts { axis }, left: 0..extent })
    }
}

impl<'a, T: Element> Rows<'a, T> {
    pub(crate) fn new(view: TensorView<'a, T>) -> Self {
        let left = 0..manipulate::row_count(view.raw());
        Rows { view, parts: RowParts, left }
    }
}

impl<'a, T: Element> RowsMut<'a, T> {
    pub(crate) fn new(view: TensorViewMut<'a, T>) -> Self {
        let left = 0..manipulate::row_count(view.raw());
        RowsMut { view, parts: RowParts, left }
    }
}

impl<'a, T: Element> Chunks<'a, T> {
    pub(crate) fn new(view: TensorView<'a, T>, axis: Axis, size: usize) -> Result<Self> {
        let (axis, count) = manipulate::chunked("chunks", view.raw(), axis, size)?;
        Ok(Chunks { view, parts: ChunkParts { axis, size }, left: 0..count })
    }
}

impl<'a, T: Element> ChunksMut<'a, T> {
    pub(crate) fn new(view: TensorViewMut<'a, T>, axis: Axis, size: usize) -> Result<Self> {
        let (axis, count) = manipulate::chunked("chunks_mut", view.raw(), axis, size)?;
        Ok(ChunksMut { view, parts: ChunkParts { axis, size }, left: 0..count })
    }
}

impl<'a, T: Element> SplitInto<'a, T> {
    pub(crate) fn new(view: TensorView<'a, T>, axis: Axis, part_count: usize) -> Result<Self> {
        let axis = manipulate::splittable("split_into", view.raw(), axis, part_count)?;
        Ok(SplitInto { view, parts: SplitParts { axis, part_count }, left: 0..part_count })
    }
}

impl<'a, T: Element> SplitIntoMut<'a, T> {
    pub(crate) fn new(view: TensorViewMut<'a, T>, axis: Axis, part_count: usize) -> Result<Self> {
        let axis = manipulate::splittable("split_into_mut", view.raw(), axis, part_count)?;
        Ok(SplitIntoMut { view, parts: SplitParts { axis, part_count }, left: 0..part_count })
    }
}
