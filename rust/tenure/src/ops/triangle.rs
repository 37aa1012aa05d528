//! Triangles of matrices.

use tenure_sys::tnr_triangle;

use super::results::{filled, named};
use crate::dense::Tensor;
use crate::dtype::Element;
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::raw::{Input, movement};

macro_rules! triangles {
    ($(
        $part:ident: $new:ident, $into:ident, $assign:ident;
        $kept:literal, example $diagonal:literal => $result:literal;
    )*) => {$(
        #[doc = concat!("The elements ", $kept, ", and 0 elsewhere.")]
        ///
        /// A new row-major tensor. `diagonal` 0 is the main one, those above it are positive; axes
        /// before the last two are a batch.
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: fewer than two axes. `OutOfMemory`.
        ///
        /// ```
        /// let a = [[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        #[doc = concat!("let part = tenure::ops::", stringify!($new), "(&a, ", $diagonal, ")?;")]
        #[doc = concat!("assert_eq!(part.to_vec(), ", $result, ".as_flattened());")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $new<T: Element>(a: impl AsView<T>, diagonal: isize) -> Result<Tensor<T>> {
            named(stringify!($new), || {
                let a = a.as_view();
                let part = tnr_triangle::$part;
                filled(a.shape(), |out| {
                    movement::triangular(part, a.lent().into(), diagonal as i64, out)
                })
            })
        }

        #[doc = concat!("The elements ", $kept, ", and 0 elsewhere, into `out`.")]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: fewer than two axes, or another shape of `out`.
        ///
        /// ```
        /// let a = [[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        /// let mut out = [[0; 3]; 3];
        #[doc = concat!("tenure::ops::", stringify!($into), "(&a, ", $diagonal, ", &mut out)?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $into<T: Element>(
            a: impl AsView<T>,
            diagonal: isize,
            out: &mut (impl AsViewMut<T> + ?Sized),
        ) -> Result<()> {
            named(stringify!($into), || {
                let (a, mut out) = (a.as_view(), out.as_view_mut());
                let part = tnr_triangle::$part;
                movement::triangular(part, a.lent().into(), diagonal as i64, out.lent_mut())
            })
        }

        #[doc = concat!("Keeps the elements ", $kept, ", and sets all others to 0.")]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: fewer than two axes.
        ///
        /// ```
        /// let mut a = [[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        #[doc = concat!("tenure::ops::", stringify!($assign), "(&mut a, ", $diagonal, ")?;")]
        #[doc = concat!("assert_eq!(a, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $assign<T: Element>(
            a: &mut (impl AsViewMut<T> + ?Sized),
            diagonal: isize,
        ) -> Result<()> {
            named(stringify!($assign), || {
                let mut a = a.as_view_mut();
                let part = tnr_triangle::$part;
                movement::triangular(part, Input::Output, diagonal as i64, a.lent_mut())
            })
        }
    )*};
}

triangles! {
    LOWER: tril, tril_into, tril_assign;
    "on and below a diagonal", example "0" => "[[1, 0, 0], [4, 5, 0], [7, 8, 9]]";
    UPPER: triu, triu_into, triu_assign;
    "on and above a diagonal", example "1" => "[[0, 2, 3], [0, 0, 6], [0, 0, 0]]";
}
