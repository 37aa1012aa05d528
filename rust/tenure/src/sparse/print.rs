//! Printing: `Debug` says what a matrix is, `Display` also the first and the last of its entries.

use std::fmt;

use super::arrays::Arrays;
use super::{
    BlockEntries, BsrMatrix, BsrView, BsrViewMut, CooMatrix, CooView, CooViewMut, CscMatrix,
    CscView, CscViewMut, CsrMatrix, CsrView, CsrViewMut,
};
use crate::{Element, SparseIndex};

/// Entries that are printed at each end of a matrix that has more.
const EDGE: usize = 8;

fn debug<T: Element, I: SparseIndex>(
    name: &str,
    arrays: Arrays<'_, T, I>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let (form, entries) = (arrays.form, arrays.range().len());
    write!(f, "{name}({} x {}", form.rows, form.cols)?;
    match form.block {
        [1, 1] => write!(f, ", {entries} entries")?,
        [rows, cols] => write!(f, ", {entries} blocks of {rows} x {cols}")?,
    }
    write!(f, ", dtype={}, index={})", T::DTYPE, I::DTYPE)
}

fn display<T: Element, I: SparseIndex>(
    name: &str,
    arrays: Arrays<'_, T, I>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    debug(name, arrays, f)?;
    let entries = BlockEntries::new(arrays);
    let count = entries.len();
    let is_cut = count > 2 * EDGE;
    for (place, (row, col, values)) in entries.enumerate() {
        // A walk over what is left out: offsets are shorter than what a matrix is worth printing of.
        if is_cut && place >= EDGE && place < count - EDGE {
            if place == EDGE {
                write!(f, "\n  ...")?;
            }
            continue;
        }
        write!(f, "\n  ({row}, {col})  ")?;
        match values {
            [value] => fmt::Display::fmt(value, f)?,
            block => write_block(block, f)?,
        }
    }
    Ok(())
}

fn write_block<T: Element>(block: &[T], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (place, value) in block.iter().enumerate() {
        f.write_str(if place == 0 { "[" } else { ", " })?;
        fmt::Display::fmt(value, f)?;
    }
    f.write_str("]")
}

macro_rules! print {
    ($($name:ident $(<$life:lifetime>)?;)*) => {$(
        /// What it is, in one line.
        impl<$($life,)? T: Element, I: SparseIndex> fmt::Debug for $name<$($life,)? T, I> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                debug(stringify!($name), self.arrays(), f)
            }
        }

        /// What it is, and its entries: of many the first and the last eight.
        impl<$($life,)? T: Element, I: SparseIndex> fmt::Display for $name<$($life,)? T, I> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                display(stringify!($name), self.arrays(), f)
            }
        }
    )*};
}

print! {
    CooView<'a>; CooViewMut<'a>; CooMatrix;
    CsrView<'a>; CsrViewMut<'a>; CsrMatrix;
    CscView<'a>; CscViewMut<'a>; CscMatrix;
    BsrView<'a>; BsrViewMut<'a>; BsrMatrix;
}
