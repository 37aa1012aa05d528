//! Operations on dense operands: element-wise functions, reductions, scans, order, movement.
//!
//! They are free functions over anything that lends a view ([`AsView`]): tensors, views, slices,
//! arrays, numbers, arrays of other crates. Inputs broadcast as NumPy's do, and dtypes are never
//! mixed. Most functions come in three forms:
//!
//! | form | writes |
//! | --- | --- |
//! | [`add`] | a new row-major tensor |
//! | [`add_into`] | the caller's memory, to whose shape the inputs are broadcast |
//! | [`add_assign`] | its first operand |
//!
//! ```
//! use tenure::ops;
//!
//! let table = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! let means = ops::mean(&table, 0)?;
//! let mut centred = ops::sub(&table, &means)?;
//! assert_eq!(centred, [[-1.5, -1.5, -1.5], [1.5, 1.5, 1.5]]);
//!
//! ops::abs_assign(&mut centred)?;
//! assert_eq!(ops::max_all(&centred)?, 1.5);
//! assert_eq!(ops::cumsum(&[1, 2, 3], 0)?, [1_i64, 3, 6]);
//! # Ok::<(), tenure::Error>(())
//! ```
//!
//! Functions of neural networks are in [`nn`](crate::nn), products in [`linalg`](crate::linalg).
//! Operators and methods that compute several operations in one pass make an
//! [`Expr`](crate::Expr).
//!
//! [`AsView`]: crate::AsView

pub(crate) mod axes;
pub(crate) mod close;
mod compare;
pub(crate) mod concat;
pub(crate) mod elementwise;
pub(crate) mod indexed;
mod map;
mod meshgrid;
mod movement;
mod nonzero;
pub(crate) mod order;
pub(crate) mod pad;
mod quantile;
pub(crate) mod reduce;
pub(crate) mod results;
mod scan;
pub(crate) mod search;
mod select;
mod triangle;

pub use close::all_close;
pub use compare::*;
pub use concat::*;
pub use elementwise::*;
pub use indexed::*;
pub use map::*;
pub use meshgrid::meshgrid;
pub use movement::*;
pub use nonzero::*;
pub use order::{
    argpartition, argsort, argsort_descending, argsort_descending_into, argsort_into, bottom_k,
    partition, partition_assign, partition_into, sort, sort_assign, sort_descending,
    sort_descending_assign, sort_descending_into, sort_descending_with_indices, sort_into,
    sort_with_indices, top_k,
};
pub use pad::{pad, pad_into, repeat, repeat_into, roll, roll_into, tile, tile_into};
pub use quantile::*;
pub use reduce::*;
pub use scan::*;
pub use search::{
    bincount, bincount_into, bincount_weighted, histogram, histogram_edges, searchsorted,
    searchsorted_into, searchsorted_right, searchsorted_right_into, unique, unique_counts,
    unique_inverse,
};
pub use select::*;
pub use triangle::*;
