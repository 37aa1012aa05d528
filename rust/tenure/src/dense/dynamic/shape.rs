//! Metadata accessors and manipulations of both dynamic views.

use tenure_sys::tnr_view;

use super::{DynView, DynViewMut};
use crate::dense::IntoIndex;
use crate::dense::IntoReshape;
use crate::dense::IntoSlice;
use crate::dense::manipulate;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout;
use crate::layout::{axis::Axis, order::Order};

/// Metadata accessors and manipulations of a dynamic view. `$raw` is the way to the `tnr_view`,
/// `$start` how an example begins, `$by` how a manipulation takes the view.
macro_rules! views {
    ($view:ident, $self:ident, [$($raw:ident).+], $start:literal, $doc:literal, $($by:tt)+) => {
        /// Metadata: dtype, shape, strides.
        impl<'a> $view<'a> {
            /// The dtype of the elements.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.dtype(), DType::U8);
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn dtype(&self) -> DType {
                DType::from_raw(self.$($raw).+.dtype)
            }

            /// The extent of each axis, outermost first.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.shape(), [2, 3]);
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn shape(&self) -> &[usize] {
                layout::extents(&self.$($raw).+)
            }

            /// Elements from one index to the next, for each axis.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.strides(), [3, 1]);
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn strides(&self) -> &[isize] {
                layout::strides(&self.$($raw).+)
            }

            /// Whether the elements are adjacent in memory in this order.
            ///
            /// ```
            #[doc = $start]
            /// assert!(view.is_contiguous(tenure::Order::RowMajor));
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn is_contiguous(&self, order: Order) -> bool {
                layout::is_contiguous(&self.$($raw).+, order)
            }

            /// Number of axes, 0 to 8.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.rank(), 2);
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn rank(&self) -> usize {
                self.$($raw).+.rank as usize
            }

            /// Number of elements.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.len(), 6);
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn len(&self) -> usize {
                layout::count(&self.$($raw).+)
            }

            /// Whether an extent is 0.
            ///
            /// ```
            #[doc = $start]
            /// assert!(!view.is_empty());
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn is_empty(&self) -> bool {
                layout::is_empty(&self.$($raw).+)
            }
        }

        #[doc = $doc]
        impl<'a> $view<'a> {
            /// A view of some of the elements, as `manipulate` computes it.
            fn part(raw: tnr_view) -> Self {
                // SAFETY: `manipulate` gives views whose elements are among those of the view it
                // takes, and those used here put each under one index.
                unsafe { Self::from_raw(raw) }
            }

            /// The elements of a range of one axis.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, or a range outside it.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.slice(1, 1..)?.to_string(), "[[2 3]\n [5 6]]");
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn slice($($by)+, axis: impl Into<Axis>, range: impl IntoSlice) -> Result<Self> {
                let raw = &$self.$($raw).+;
                Ok(Self::part(manipulate::slice("slice", raw, axis.into(), range, 1)?))
            }

            /// Every `|step|`-th element of a range of one axis, from its end when `step` is
            /// negative.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, a range outside it, or a step of 0.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.slice_step(1, .., -2)?.to_string(), "[[3 1]\n [6 4]]");
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn slice_step(
                $($by)+,
                axis: impl Into<Axis>,
                range: impl IntoSlice,
                step: isize,
            ) -> Result<Self> {
                let raw = &$self.$($raw).+;
                Ok(Self::part(manipulate::slice("slice_step", raw, axis.into(), range, step)?))
            }

            /// The part at one index of an axis; the axis is gone from the result.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis or index.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.index(0, 1)?.to_string(), "[4 5 6]");
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn index($($by)+, axis: impl Into<Axis>, index: impl IntoIndex) -> Result<Self> {
                let raw = &$self.$($raw).+;
                Ok(Self::part(manipulate::index("index", raw, axis.into(), index)?))
            }

            /// Reorders the axes: axis i of the result is axis `axes[i]`.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: `axes` is no permutation of the axes.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.permute(&[1, 0])?.shape(), [3, 2]);
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn permute($($by)+, axes: &[impl Into<Axis> + Copy]) -> Result<Self> {
                Ok(Self::part(manipulate::permute(&$self.$($raw).+, axes)?))
            }

            /// Exchanges two axes.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.transpose(0, 1)?.shape(), [3, 2]);
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn transpose($($by)+, axis_a: impl Into<Axis>, axis_b: impl Into<Axis>) -> Result<Self> {
                Ok(Self::part(manipulate::transpose(&$self.$($raw).+, axis_a.into(), axis_b.into())?))
            }

            /// The last axis as the second one: of `[n, height, width, channels]` the view
            /// `[n, channels, height, width]`.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: fewer than three axes.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.reshape([1, 1, 2, 3])?.channels_last()?.shape(), [1, 3, 1, 2]);
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn channels_last($($by)+) -> Result<Self> {
                Ok(Self::part(manipulate::channels_last(&$self.$($raw).+)?))
            }

            /// All axes in reverse order.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.t().to_string(), "[[1 4]\n [2 5]\n [3 6]]");
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn t($($by)+) -> Self {
                Self::part(manipulate::reversed(&$self.$($raw).+))
            }

            /// Gives the elements in row-major order another shape; never copies.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: another count of elements, or strides that cannot say it.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.reshape(6)?.to_string(), "[1 2 3 4 5 6]");
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn reshape($($by)+, shape: impl IntoReshape) -> Result<Self> {
                Ok(Self::part(manipulate::reshape(&$self.$($raw).+, &shape)?))
            }

            /// Reverses an axis.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis.
            ///
            /// ```
            #[doc = $start]
            /// assert_eq!(view.flip(0)?.to_string(), "[[4 5 6]\n [1 2 3]]");
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn flip($($by)+, axis: impl Into<Axis>) -> Result<Self> {
                Ok(Self::part(manipulate::flip(&$self.$($raw).+, axis.into())?))
            }

            /// The parts before and from `index` of an axis.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, or an index beyond its extent.
            ///
            /// ```
            #[doc = $start]
            /// let (left, right) = view.split_at(1, 1)?;
            /// assert_eq!(left.to_string(), "[[1]\n [4]]");
            /// assert_eq!(right.to_string(), "[[2 3]\n [5 6]]");
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn split_at($($by)+, axis: impl Into<Axis>, index: usize) -> Result<(Self, Self)> {
                let (low, high) = manipulate::split(&$self.$($raw).+, axis.into(), index)?;
                Ok((Self::part(low), Self::part(high)))
            }
        }
    };
}

views!(
    DynView,
    self,
    [raw],
    "use tenure::{DType, DynView};

let view = DynView::from_bytes(&[1, 2, 3, 4, 5, 6], DType::U8, [2, 3])?;",
    "Manipulation: none allocates or copies.",
    &self
);
views!(
    DynViewMut,
    self,
    [raw.view],
    "use tenure::{DType, DynViewMut};

let mut bytes = [1, 2, 3, 4, 5, 6];
let view = DynViewMut::from_bytes(&mut bytes, DType::U8, [2, 3])?;",
    "Manipulation: consumes the view; [`view_mut`](Self::view_mut) reborrows it first.",
    self
);
