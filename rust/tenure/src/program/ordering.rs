//! Elements in order, searched and counted, as methods of values.

use std::ops::RangeInclusive;
use std::panic::Location;

use tenure_sys::{
    TNR_NODE_BINCOUNT, TNR_NODE_HISTOGRAM, TNR_NODE_PARTITION, TNR_NODE_SEARCHSORTED,
    TNR_NODE_SORT, TNR_NODE_TOP_K, TNR_SEARCHSORTED_RIGHT, TNR_SORT_DESCENDING, TNR_TOP_K_SMALLEST,
    tnr_histogram_attributes, tnr_order_result,
};

use super::reduce::value_or_none;
use super::state::Step;
use super::{Size, Traced};
use crate::dtype::{Element, Number, Real};
use crate::error::{Error, Result};
use crate::layout::axis::Axis;
use crate::program::calls::flags_of_node;

/// An operation that orders elements, and its parameters.
#[derive(Clone, Copy)]
struct Order<'g> {
    name: &'static str,
    kind: u32,
    flags: u32,
    axis: Axis,
    /// The second number, `k` or `kth`, for operations that have one.
    place: Option<Size<'g>>,
}

/// Sorting, the first and a partition.
impl<'g, T: Real> Traced<'g, T> {
    /// One of the results.
    fn ordered<R: Element>(
        self,
        order: Order<'g>,
        result: tnr_order_result,
        at: &'static Location<'static>,
    ) -> Traced<'g, R> {
        let Order { name, kind, flags, axis, place } = order;
        let place_number = place.map(Size::number).transpose();
        let (axis, place_number) = match (self.axis(axis), place_number) {
            (Ok(axis), Ok(place_number)) => (axis, place_number),
            (Err(error), _) | (_, Err(error)) => return self.graph().refuse(name, at, error),
        };
        let numbers = [axis, place_number.unwrap_or(0)];
        let (operands, given) = ([self.value()], flags_of_node(flags));
        let step = Step::new(name, kind | result.0 as u32, &operands);
        let step = step.numbers(&numbers[..if place.is_some() { 2 } else { 1 }]);
        match flags {
            0 => self.graph().step(at, &step),
            _ => self.graph().step(at, &step.with(&given)),
        }
    }

    fn ranked(
        self,
        order: Order<'g>,
        at: &'static Location<'static>,
    ) -> (Traced<'g, T>, Traced<'g, i64>) {
        let values = self.ordered(order, tnr_order_result::VALUES, at);
        (values, self.ordered(order, tnr_order_result::INDICES, at))
    }

    /// The function [`top_k`](fn@crate::ops::top_k), of this: values and indices. If only one of
    /// them is used, only that one is computed.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let scores = graph.input::<f32>((graph.extent("batch", 64), 3));
    ///     graph.program((scores,), scores.top_k(2, -1))
    /// })?;
    /// let (values, indices) = program.run((&[[0.1, 0.7, 0.2]],))?;
    /// assert_eq!(values, [[0.7, 0.2]]);
    /// assert_eq!(indices, [[1, 2]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("topk", "nlargest"))]
    pub fn top_k(
        self,
        k: impl Into<Size<'g>>,
        axis: impl Into<Axis>,
    ) -> (Traced<'g, T>, Traced<'g, i64>) {
        let (axis, place) = (axis.into(), Some(k.into()));
        let order = Order { name: "top_k", kind: TNR_NODE_TOP_K, flags: 0, axis, place };
        self.ranked(order, Location::caller())
    }

    /// The function [`bottom_k`](fn@crate::ops::bottom_k), of this: values and indices.
    #[track_caller]
    #[doc(alias = "nsmallest")]
    pub fn bottom_k(
        self,
        k: impl Into<Size<'g>>,
        axis: impl Into<Axis>,
    ) -> (Traced<'g, T>, Traced<'g, i64>) {
        let (axis, place, flags) = (axis.into(), Some(k.into()), TNR_TOP_K_SMALLEST);
        let order = Order { name: "bottom_k", kind: TNR_NODE_TOP_K, flags, axis, place };
        self.ranked(order, Location::caller())
    }

    /// The function [`partition`](fn@crate::ops::partition), of this.
    #[track_caller]
    #[doc(alias("nth_element", "kthvalue"))]
    pub fn partition(self, kth: impl Into<Size<'g>>, axis: impl Into<Axis>) -> Traced<'g, T> {
        let (axis, place) = (axis.into(), Some(kth.into()));
        let order = Order { name: "partition", kind: TNR_NODE_PARTITION, flags: 0, axis, place };
        self.ordered(order, tnr_order_result::VALUES, Location::caller())
    }

    /// The function [`argpartition`](fn@crate::ops::argpartition), of this.
    #[track_caller]
    pub fn argpartition(self, kth: impl Into<Size<'g>>, axis: impl Into<Axis>) -> Traced<'g, i64> {
        let (axis, place) = (axis.into(), Some(kth.into()));
        let order = Order { name: "argpartition", kind: TNR_NODE_PARTITION, flags: 0, axis, place };
        self.ordered(order, tnr_order_result::INDICES, Location::caller())
    }
}

macro_rules! sorts {
    ($($flags:expr, $sort:ident $argsort:ident $with_indices:ident;)*) => {
        impl<'g, T: Real> Traced<'g, T> {$(
            #[doc = concat!("The function [`", stringify!($sort), "`](fn@crate::ops::",
                stringify!($sort), "), along an axis of this.")]
            #[track_caller]
            pub fn $sort(self, axis: impl Into<Axis>) -> Traced<'g, T> {
                let order = sorts!(@order $sort $flags, axis);
                self.ordered(order, tnr_order_result::VALUES, Location::caller())
            }

            #[doc = concat!("The function [`", stringify!($argsort), "`](fn@crate::ops::",
                stringify!($argsort), "), along an axis of this.")]
            #[track_caller]
            pub fn $argsort(self, axis: impl Into<Axis>) -> Traced<'g, i64> {
                let order = sorts!(@order $argsort $flags, axis);
                self.ordered(order, tnr_order_result::INDICES, Location::caller())
            }

            #[doc = concat!("The function [`", stringify!($with_indices), "`](fn@crate::ops::",
                stringify!($with_indices), "), along an axis of this: values and indices.")]
            #[track_caller]
            pub fn $with_indices(
                self,
                axis: impl Into<Axis>,
            ) -> (Traced<'g, T>, Traced<'g, i64>) {
                self.ranked(sorts!(@order $with_indices $flags, axis), Location::caller())
            }
        )*}
    };
    (@order $name:ident $flags:expr, $axis:ident) => {
        Order {
            name: stringify!($name),
            kind: TNR_NODE_SORT,
            flags: $flags,
            axis: $axis.into(),
            place: None,
        }
    };
}

sorts! {
    0, sort argsort sort_with_indices;
    TNR_SORT_DESCENDING, sort_descending argsort_descending sort_descending_with_indices;
}

/// Searching and counting.
impl<'g, T: Real> Traced<'g, T> {
    fn searched(
        self,
        name: &'static str,
        values: Traced<'g, T>,
        flags: u32,
        at: &'static Location<'static>,
    ) -> Traced<'g, i64> {
        let (operands, given) = ([self.value(), values.value()], flags_of_node(flags));
        let step = Step::new(name, TNR_NODE_SEARCHSORTED, &operands).named(&["a", "values"]);
        self.graph().step(at, &step.with(&given))
    }

    /// The function [`searchsorted`](fn@crate::ops::searchsorted), of this sorted vector and
    /// `values`.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (edges, x) = (graph.copy_constant(&[1, 3, 3, 5]), graph.input::<i32>([3]));
    ///     graph.program((x,), edges.searchsorted(x))
    /// })?;
    /// assert_eq!(program.run((&[0, 3, 9],))?, [0, 1, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("bisect", "binary_search", "bucketize", "digitize"))]
    pub fn searchsorted(self, values: Traced<'g, T>) -> Traced<'g, i64> {
        self.searched("searchsorted", values, 0, Location::caller())
    }

    /// The function [`searchsorted_right`](fn@crate::ops::searchsorted_right), of this sorted
    /// vector and `values`.
    #[track_caller]
    pub fn searchsorted_right(self, values: Traced<'g, T>) -> Traced<'g, i64> {
        self.searched("searchsorted_right", values, TNR_SEARCHSORTED_RIGHT, Location::caller())
    }

    /// The function [`histogram`](fn@crate::ops::histogram), of this.
    #[track_caller]
    #[doc(alias = "histc")]
    pub fn histogram(
        self,
        bins: impl Into<Size<'g>>,
        range: RangeInclusive<f64>,
    ) -> Traced<'g, i64> {
        let given = tnr_histogram_attributes {
            struct_size: size_of::<tnr_histogram_attributes>() as u64,
            low: *range.start(),
            high: *range.end(),
        };
        let operands = [self.value()];
        let step = Step::new("histogram", TNR_NODE_HISTOGRAM, &operands).with(&given);
        self.counted(step, bins.into().number(), Location::caller())
    }

    /// The function [`histogram_edges`](fn@crate::ops::histogram_edges), of this. There are as many
    /// edges in each run as at the maxima of extents: theirs is none that differs.
    #[track_caller]
    pub fn histogram_edges(self, edges: Traced<'g, T>) -> Traced<'g, i64> {
        let bins = self.graph().shape_of(edges.value()).as_slice().first().copied().unwrap_or(0);
        let bins = bins.checked_sub(1).map(|bins| bins as i64);
        let bins =
            bins.ok_or_else(|| Error::invalid("there are no edges but must be one at least"));
        let operands = [self.value(), edges.value()];
        let step = Step::new("histogram_edges", TNR_NODE_HISTOGRAM, &operands);
        self.counted(step.named(&["a", "edges"]), bins, Location::caller())
    }
}

impl<'g, T: Element> Traced<'g, T> {
    /// Adds a node that gives `count` counts or sums.
    fn counted<R: Element>(
        self,
        step: Step<'_>,
        count: Result<i64>,
        at: &'static Location<'static>,
    ) -> Traced<'g, R> {
        match count {
            Ok(count) => self.graph().step(at, &step.numbers(&[count])),
            Err(error) => self.graph().refuse(step.name, at, error),
        }
    }
}

impl<'g, T: Number> Traced<'g, T> {
    fn by_number<R: Element>(
        self,
        name: &'static str,
        weights: Option<Traced<'g, R>>,
        count: Size<'g>,
        at: &'static Location<'static>,
    ) -> Traced<'g, R> {
        let operands = [self.value(), value_or_none(weights)];
        let step = Step::new(name, TNR_NODE_BINCOUNT, &operands).named(&["a", "weights"]);
        self.counted(step, count.number(), at)
    }

    /// The function [`bincount`](fn@crate::ops::bincount), of this.
    ///
    /// A number that is negative or not below `count` is found in a run.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let labels = graph.input::<u8>([graph.extent("n", 100)]);
    ///     graph.program((labels,), labels.bincount(3))
    /// })?;
    /// assert_eq!(program.run((&[0, 2, 2, 0, 2],))?, [2, 0, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn bincount(self, count: impl Into<Size<'g>>) -> Traced<'g, i64> {
        self.by_number("bincount", None, count.into(), Location::caller())
    }

    /// The function [`bincount_weighted`](fn@crate::ops::bincount_weighted), of this.
    #[track_caller]
    pub fn bincount_weighted<W: Element>(
        self,
        weights: Traced<'g, W>,
        count: impl Into<Size<'g>>,
    ) -> Traced<'g, W> {
        self.by_number("bincount_weighted", Some(weights), count.into(), Location::caller())
    }
}
