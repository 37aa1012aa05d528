//! Shapes of values, and elements moved.

use std::panic::Location;

use tenure_sys::{
    TNR_NODE_BROADCAST, TNR_NODE_GATHER, TNR_NODE_PAD, TNR_NODE_PERMUTE, TNR_NODE_PUT,
    TNR_NODE_RESHAPE, TNR_NODE_SCATTER, TNR_NODE_SLICE, TNR_NODE_TAKE, TNR_NODE_TRIANGULAR,
    tnr_binary_op, tnr_pad_attributes, tnr_triangle, tnr_triangle_attributes,
};

use super::state::Step;
use super::{IntoSizes, Size, Traced};
use crate::dtype::{Element, Number, index::SparseIndex};
use crate::error::{Error, Result};
use crate::layout::axis::Axis;
use crate::ops::pad::PadMode;
use crate::raw::operations::scalar;

/// Shapes.
impl<'g, T: Element> Traced<'g, T> {
    /// A node of this value and numbers, which may have been refused.
    fn by_numbers(
        self,
        name: &'static str,
        code: u32,
        numbers: Result<impl AsRef<[i64]>>,
        at: &'static Location<'static>,
    ) -> Traced<'g, T> {
        match numbers {
            Ok(numbers) => {
                let operands = [self.value()];
                self.graph().step(at, &Step::new(name, code, &operands).numbers(numbers.as_ref()))
            }
            Err(error) => self.graph().refuse(name, at, error),
        }
    }

    /// Gives the elements in row-major order another shape with the same number of elements.
    ///
    /// The elements are copied if their order in memory is another one. An extent of -1 is not
    /// possible: shapes are those of each run.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let batch = graph.extent("batch", 32);
    ///     let x = graph.input::<i32>((batch, 2, 2));
    ///     graph.program((x,), x.reshape((batch, 4)))
    /// })?;
    /// assert_eq!(program.run((&[[[1, 2], [3, 4]]],))?, [[1, 2, 3, 4]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("view", "flatten", "squeeze", "unsqueeze"))]
    pub fn reshape(self, shape: impl IntoSizes<'g>) -> Traced<'g, T> {
        self.by_numbers("reshape", TNR_NODE_RESHAPE, shape.numbers(), Location::caller())
    }

    /// The elements with axes of extent 1, and new ones in front, repeated to this shape.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<i32>([2]);
    ///     graph.program((x,), x.broadcast([2, 2]))
    /// })?;
    /// assert_eq!(program.run((&[1, 2],))?, [[1, 2], [1, 2]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("broadcast_to", "expand"))]
    pub fn broadcast(self, shape: impl IntoSizes<'g>) -> Traced<'g, T> {
        self.by_numbers("broadcast", TNR_NODE_BROADCAST, shape.numbers(), Location::caller())
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<i32>([1, 2, 3]);
    ///     graph.program((x,), x.permute(&[2, 0, 1]))
    /// })?;
    /// assert_eq!(program.run((&[[[1, 2, 3], [4, 5, 6]]],))?.shape(), [3, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn permute(self, axes: &[impl Into<Axis> + Copy]) -> Traced<'g, T> {
        let numbers: Result<Vec<_>> = axes.iter().map(|axis| self.axis((*axis).into())).collect();
        self.by_numbers("permute", TNR_NODE_PERMUTE, numbers, Location::caller())
    }

    /// Two axes exchanged.
    #[track_caller]
    #[doc(alias("swapaxes"))]
    pub fn transpose(self, axis_a: impl Into<Axis>, axis_b: impl Into<Axis>) -> Traced<'g, T> {
        let of_both = || Ok([self.axis(axis_a.into())?, self.axis(axis_b.into())?]);
        let numbers = of_both().map(|[a, b]| {
            let mut axes: Vec<_> = (0..self.rank() as i64).collect();
            // Both are axes: there is a rank.
            axes.swap(a as usize, b as usize);
            axes
        });
        self.by_numbers("transpose", TNR_NODE_PERMUTE, numbers, Location::caller())
    }

    /// The axes in reverse order.
    #[track_caller]
    #[doc(alias = "transpose")]
    pub fn t(self) -> Traced<'g, T> {
        let numbers: Vec<_> = (0..self.rank() as i64).rev().collect();
        self.by_numbers("t", TNR_NODE_PERMUTE, Ok(numbers), Location::caller())
    }

    /// The elements from `start` to before `stop` along an axis.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let n = graph.extent("n", 10);
    ///     let x = graph.input::<i32>([n]);
    ///     graph.program((x,), x.slice(0, 1, n) - x.slice(0, 0, n - 1))
    /// })?;
    /// assert_eq!(program.run((&[1, 4, 9],))?, [3, 5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn slice(
        self,
        axis: impl Into<Axis>,
        start: impl Into<Size<'g>>,
        stop: impl Into<Size<'g>>,
    ) -> Traced<'g, T> {
        self.slice_step(axis, start, stop, 1)
    }

    /// Every `step`th element of [`slice`](Self::slice), beginning with the first one.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<i32>([5]);
    ///     graph.program((x,), x.slice_step(0, 0, 5, 2))
    /// })?;
    /// assert_eq!(program.run((&[1, 2, 3, 4, 5],))?, [1, 3, 5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn slice_step(
        self,
        axis: impl Into<Axis>,
        start: impl Into<Size<'g>>,
        stop: impl Into<Size<'g>>,
        step: usize,
    ) -> Traced<'g, T> {
        let (axis, start, stop) = (axis.into(), start.into(), stop.into());
        let step = Size::from(step);
        let numbers = || Ok([self.axis(axis)?, start.number()?, stop.number()?, step.number()?]);
        self.by_numbers("slice", TNR_NODE_SLICE, numbers(), Location::caller())
    }

    /// An array of this shape, which has these elements from `before` on and others around them, by
    /// `mode`: as [`pad`](fn@crate::ops::pad), with the result's shape where that has widths.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let n = graph.extent("n", 10);
    ///     let x = graph.input::<i32>([n]);
    ///     graph.program((x,), x.pad_to(n + 3, [1], PadMode::Constant(0)))
    /// })?;
    /// assert_eq!(program.run((&[7, 8],))?, [0, 7, 8, 0, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn pad_to(
        self,
        shape: impl IntoSizes<'g>,
        before: impl AsRef<[usize]>,
        mode: PadMode<T>,
    ) -> Traced<'g, T> {
        let (at, given) = (Location::caller(), before.as_ref());
        let (mode, value) = mode.code();
        let mut before = [0; 8];
        let numbers = shape.numbers().and_then(|numbers| {
            let rank = numbers.as_ref().len();
            if given.len() != rank {
                let given = given.len();
                return Err(Error::invalid(format!(
                    "{given} numbers before are given but the shape has rank {rank}"
                )));
            }
            for (number, given) in before.iter_mut().zip(given) {
                *number = Size::from(*given).number()?;
            }
            Ok(numbers)
        });
        let none =
            tenure_sys::tnr_scalar { dtype: tenure_sys::tnr_dtype(0), reserved: 0, bytes: [0; 16] };
        let attributes = tnr_pad_attributes {
            struct_size: size_of::<tnr_pad_attributes>() as u64,
            before,
            value: value.map_or(none, scalar),
        };
        match numbers {
            Ok(numbers) => {
                let operands = [self.value()];
                let step = Step::new("pad", TNR_NODE_PAD | mode.0 as u32, &operands);
                self.graph().step(at, &step.numbers(numbers.as_ref()).with(&attributes))
            }
            Err(error) => self.graph().refuse("pad", at, error),
        }
    }
}

/// Elements by their indices, and triangles.
impl<'g, T: Element> Traced<'g, T> {
    fn indexed<I: SparseIndex>(
        self,
        name: &'static str,
        code: u32,
        axis: Axis,
        indices: Traced<'g, I>,
        at: &'static Location<'static>,
    ) -> Traced<'g, T> {
        match self.axis(axis) {
            Ok(axis) => {
                let (operands, numbers) = ([self.value(), indices.value()], [axis]);
                let step = Step::new(name, code, &operands).named(&["a", "indices"]);
                self.graph().step(at, &step.numbers(&numbers))
            }
            Err(error) => self.graph().refuse(name, at, error),
        }
    }

    /// The function [`take`](fn@crate::ops::take), of this along an axis.
    ///
    /// An index that is out of bounds is found in a run, whose outputs then hold a mixture.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let words = graph.input::<i64>([graph.extent("words", 512)]);
    ///     let embedding = graph.copy_constant(&[[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]]);
    ///     graph.program((words,), embedding.take(0, words))
    /// })?;
    /// assert_eq!(program.run((&[2, 0],))?, [[2.0, 2.5], [0.0, 0.5]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("index_select", "embedding", "gather_rows", "select_rows"))]
    pub fn take<I: SparseIndex>(
        self,
        axis: impl Into<Axis>,
        indices: Traced<'g, I>,
    ) -> Traced<'g, T> {
        self.indexed("take", TNR_NODE_TAKE, axis.into(), indices, Location::caller())
    }

    /// The function [`gather`](fn@crate::ops::gather), of this along an axis.
    ///
    /// An index that is out of bounds is found in a run, whose outputs then hold a mixture.
    #[track_caller]
    #[doc(alias = "take_along_axis")]
    pub fn gather<I: SparseIndex>(
        self,
        axis: impl Into<Axis>,
        indices: Traced<'g, I>,
    ) -> Traced<'g, T> {
        self.indexed("gather", TNR_NODE_GATHER, axis.into(), indices, Location::caller())
    }

    fn written<I: SparseIndex>(
        self,
        name: &'static str,
        code: u32,
        axis: Axis,
        indices: Traced<'g, I>,
        values: Traced<'g, T>,
        at: &'static Location<'static>,
    ) -> Traced<'g, T> {
        match self.axis(axis) {
            Ok(axis) => {
                let operands = [self.value(), values.value(), indices.value()];
                let step = Step::new(name, code, &operands).named(&["a", "values", "indices"]);
                self.graph().step(at, &step.numbers(&[axis]))
            }
            Err(error) => self.graph().refuse(name, at, error),
        }
    }

    fn triangle(
        self,
        name: &'static str,
        part: tnr_triangle,
        diagonal: isize,
        at: &'static Location<'static>,
    ) -> Traced<'g, T> {
        let struct_size = size_of::<tnr_triangle_attributes>() as u64;
        let attributes = tnr_triangle_attributes { struct_size, diagonal: diagonal as i64 };
        let operands = [self.value()];
        let step = Step::new(name, TNR_NODE_TRIANGULAR | part.0 as u32, &operands);
        self.graph().step(at, &step.with(&attributes))
    }

    /// The function [`tril`](fn@crate::ops::tril), of this.
    #[track_caller]
    pub fn tril(self, diagonal: isize) -> Traced<'g, T> {
        self.triangle("tril", tnr_triangle::LOWER, diagonal, Location::caller())
    }

    /// The function [`triu`](fn@crate::ops::triu), of this.
    #[track_caller]
    pub fn triu(self, diagonal: isize) -> Traced<'g, T> {
        self.triangle("triu", tnr_triangle::UPPER, diagonal, Location::caller())
    }
}

macro_rules! puts {
    ($($kind:ident $op:expr, $bound:ident: $new:ident;)*) => {$(
        impl<'g, T: $bound> Traced<'g, T> {
            #[doc = concat!("The function [`", stringify!($new), "`](fn@crate::ops::",
                stringify!($new),
                "), of this along an axis.")]
            ///
            /// An index that is out of bounds is found in a run, whose outputs then hold a mixture.
            #[track_caller]
            pub fn $new<I: SparseIndex>(
                self,
                axis: impl Into<Axis>,
                indices: Traced<'g, I>,
                values: Traced<'g, T>,
            ) -> Traced<'g, T> {
                let (code, at) = ($kind | $op.0 as u32, Location::caller());
                self.written(stringify!($new), code, axis.into(), indices, values, at)
            }
        }
    )*};
}

puts! {
    TNR_NODE_PUT tnr_binary_op(0), Element: put;
    TNR_NODE_PUT tnr_binary_op::ADD, Number: put_add;
    TNR_NODE_PUT tnr_binary_op::MUL, Number: put_mul;
    TNR_NODE_PUT tnr_binary_op::MIN, Number: put_min;
    TNR_NODE_PUT tnr_binary_op::MAX, Number: put_max;
    TNR_NODE_SCATTER tnr_binary_op(0), Element: scatter;
    TNR_NODE_SCATTER tnr_binary_op::ADD, Number: scatter_add;
    TNR_NODE_SCATTER tnr_binary_op::MUL, Number: scatter_mul;
    TNR_NODE_SCATTER tnr_binary_op::MIN, Number: scatter_min;
    TNR_NODE_SCATTER tnr_binary_op::MAX, Number: scatter_max;
}
