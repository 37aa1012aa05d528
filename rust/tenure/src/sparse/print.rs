//! Printing: `Debug` says what a matrix is, `Display` also the first and the last of its entries.

use std::fmt;

use super::arrays::Arrays;
use super::{BlockEntries, SparseFormat, SparseMatrix, SparseView, SparseViewMut};
use crate::dtype::{Element, index::SparseIndex};

/// Entries that are printed at each end of a matrix that has more.
const EDGE: usize = 8;

/// `name` is the rest of the type's name, behind that of the format.
fn debug<F: SparseFormat, T: Element, I: SparseIndex>(
    name: &str,
    arrays: Arrays<'_, T, I>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let (form, entries) = (arrays.form, arrays.range().len());
    write!(f, "{}{name}({} x {}", F::NAME, form.rows, form.cols)?;
    match form.block {
        [1, 1] => write!(f, ", {entries} entries")?,
        [rows, cols] => write!(f, ", {entries} blocks of {rows} x {cols}")?,
    }
    write!(f, ", dtype={}, index={})", T::DTYPE, I::DTYPE)
}

fn display<F: SparseFormat, T: Element, I: SparseIndex>(
    name: &str,
    arrays: Arrays<'_, T, I>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    debug::<F, T, I>(name, arrays, f)?;
    let entries = BlockEntries::new(arrays);
    let count = entries.len();
    let is_cut = count > 2 * EDGE;
    for (place, (row, col, values)) in entries.enumerate() {
        // The loop also visits the entries that are left out.
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
    ($($name:ident $(<$life:lifetime>)?, $part:literal;)*) => {$(
        /// Format, size and types, in one line.
        impl<$($life,)? F, T, I> fmt::Debug for $name<$($life,)? F, T, I>
        where
            F: SparseFormat,
            T: Element,
            I: SparseIndex,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                debug::<F, T, I>($part, self.arrays(), f)
            }
        }

        /// Format, size and types, and the entries: of many the first and the last eight.
        impl<$($life,)? F, T, I> fmt::Display for $name<$($life,)? F, T, I>
        where
            F: SparseFormat,
            T: Element,
            I: SparseIndex,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                display::<F, T, I>($part, self.arrays(), f)
            }
        }
    )*};
}

print! {
    SparseView<'a>, "View";
    SparseViewMut<'a>, "ViewMut";
    SparseMatrix, "Matrix";
}
