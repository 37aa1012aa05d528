//! Printing as NumPy prints: `Display` as its `str`, `Debug` as its `repr`.
//!
//! The precision of a format, `{:.3}`, is NumPy's `precision`; the default is 8. A width, `{:8.2}`,
//! is that of each element at least; `{:+}` gives numbers that are not negative a plus sign. Arrays
//! of more than 1000 elements are cut to the ends of their axes. Two things differ in `Debug`: the
//! dtype is always named, and by Tenure's name.

mod cells;
mod layout;

use std::fmt;

use cells::{FloatKind, Plus};
use layout::{LINE_WIDTH, Layout, shown_indices};

use crate::dense::{
    DynTensor, DynView, DynViewMut, SharedTensor, Tensor, TensorView, TensorViewMut,
};
use crate::dtype::{Bool8, DType, Element};
use half::{bf16, f16};
use num_complex::Complex;

/// Elements that are printed before an array is cut short.
const THRESHOLD: usize = 1000;

/// Digits after the point, at most.
const PRECISION: usize = 8;

/// Prefix of an array in `Debug`.
const PREFIX: &str = "array(";

/// Elements as the few kinds that print differently.
enum Shown {
    Floats(Vec<f64>, FloatKind),
    Complex(Vec<(f64, f64)>, FloatKind),
    Integers(Vec<i128>),
    Bools(Vec<bool>),
}

impl Shown {
    /// The elements of a view that are shown, in row-major order; `None` where the library does
    /// not know the dtype.
    fn of(view: DynView<'_>, summarised: bool) -> Option<Shown> {
        use FloatKind::{Bf16, F16, F32, F64};
        let shown = Picker { view, summarised };
        Some(match view.dtype() {
            DType::F64 => Shown::Floats(shown.pick(|x: f64| x)?, F64),
            DType::F32 => Shown::Floats(shown.pick(f64::from as fn(f32) -> f64)?, F32),
            DType::F16 => Shown::Floats(shown.pick(f16::to_f64)?, F16),
            DType::BF16 => Shown::Floats(shown.pick(bf16::to_f64)?, Bf16),
            DType::I8 => Shown::Integers(shown.pick(i128::from as fn(i8) -> i128)?),
            DType::I16 => Shown::Integers(shown.pick(i128::from as fn(i16) -> i128)?),
            DType::I32 => Shown::Integers(shown.pick(i128::from as fn(i32) -> i128)?),
            DType::I64 => Shown::Integers(shown.pick(i128::from as fn(i64) -> i128)?),
            DType::U8 => Shown::Integers(shown.pick(i128::from as fn(u8) -> i128)?),
            DType::U16 => Shown::Integers(shown.pick(i128::from as fn(u16) -> i128)?),
            DType::U32 => Shown::Integers(shown.pick(i128::from as fn(u32) -> i128)?),
            DType::U64 => Shown::Integers(shown.pick(i128::from as fn(u64) -> i128)?),
            DType::BOOL8 => Shown::Bools(shown.pick(Bool8::is_true)?),
            DType::C64 => {
                let parts = |z: Complex<f32>| (f64::from(z.re), f64::from(z.im));
                Shown::Complex(shown.pick(parts)?, F32)
            }
            DType::C128 => Shown::Complex(shown.pick(|z: Complex<f64>| (z.re, z.im))?, F64),
            _ => return None,
        })
    }

    /// All elements as cells of one width.
    fn cells(&self, f: &fmt::Formatter<'_>) -> Vec<String> {
        let precision = f.precision().unwrap_or(PRECISION);
        let plus = if f.sign_plus() { Plus::Shown } else { Plus::Hidden };
        let mut cells = match self {
            Shown::Floats(values, kind) => cells::floats(values, *kind, precision, plus),
            Shown::Complex(values, kind) => cells::complex(values, *kind, precision, plus),
            Shown::Integers(values) => cells::integers(values, plus),
            Shown::Bools(values) => cells::bools(values),
        };
        if let Some(width) = f.width() {
            cells.iter_mut().for_each(|cell| *cell = cells::widened(cell, width, f.align()));
        }
        cells
    }

    /// The one element of rank 0, as a number by itself.
    fn alone(&self) -> String {
        match self {
            Shown::Floats(values, kind) => cells::float_alone(values[0], *kind),
            Shown::Complex(values, kind) => cells::complex_alone(values[0], *kind),
            Shown::Integers(values) => values[0].to_string(),
            Shown::Bools(values) => cells::bools(values).concat().trim_start().to_owned(),
        }
    }
}

/// Picks the elements that are shown.
struct Picker<'a> {
    view: DynView<'a>,
    summarised: bool,
}

impl Picker<'_> {
    fn pick<T: Element, V>(&self, convert: impl Fn(T) -> V) -> Option<Vec<V>> {
        let mut picked = Vec::new();
        self.descend(self.view.downcast().ok()?, &mut |element| picked.push(convert(element)))?;
        Some(picked)
    }

    fn descend<T: Element>(&self, part: TensorView<'_, T>, see: &mut impl FnMut(T)) -> Option<()> {
        let Some(&extent) = part.shape().first() else {
            see(*part.get([])?);
            return Some(());
        };
        for index in shown_indices(extent, self.summarised) {
            self.descend(part.index(0, index).ok()?, see)?;
        }
        Some(())
    }
}

fn display(view: DynView<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if view.is_empty() {
        return f.write_str("[]");
    }
    let summarised = view.len() > THRESHOLD;
    let Some(shown) = Shown::of(view, summarised) else {
        return write!(f, "<{:?} of shape {:?}>", view.dtype(), view.shape());
    };
    if view.rank() == 0 && f.precision().is_none() && f.width().is_none() && !f.sign_plus() {
        return f.write_str(&shown.alone());
    }
    let cells = shown.cells(f);
    let layout = Layout { shape: view.shape(), summarised, separator: " ", indent: 0 };
    f.write_str(&layout.write(&cells))
}

fn debug(view: DynView<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (shape, summarised) = (view.shape(), view.len() > THRESHOLD);
    let cells = if view.is_empty() {
        // Beside the extent of 0 others may be too long to be walked.
        Some(Vec::new())
    } else {
        Shown::of(view, summarised).map(|shown| shown.cells(f))
    };
    let text = match &cells {
        None => "<...>".to_owned(),
        Some(_) if view.is_empty() => "[]".to_owned(),
        // One element by itself is not aligned with others.
        Some(cells) if shape.is_empty() => cells.concat().trim_start().to_owned(),
        Some(cells) => {
            Layout { shape, summarised, separator: ", ", indent: PREFIX.len() }.write(cells)
        }
    };
    let mut rest = format!("dtype={:?})", view.dtype());
    if summarised || view.is_empty() || cells.is_none() {
        rest = format!("shape={shape:?}, {rest}");
    }
    let start = if text.contains('\n') { 0 } else { PREFIX.len() };
    let last_line = start + text.rsplit('\n').next().map_or(0, str::len) + ", ".len();
    let gap = if last_line + rest.len() > LINE_WIDTH { "\n      " } else { " " };
    write!(f, "{PREFIX}{text},{gap}{rest}")
}

macro_rules! print {
    ($($name:ident [$($generics:tt)*], $self:ident => $view:expr;)*) => {$(
        impl<$($generics)*> fmt::Display for print!(@type $name $($generics)*) {
            /// As NumPy's `str`.
            fn fmt(&$self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                display($view, f)
            }
        }

        impl<$($generics)*> fmt::Debug for print!(@type $name $($generics)*) {
            /// As NumPy's `repr`, with the dtype always named.
            fn fmt(&$self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                debug($view, f)
            }
        }
    )*};
    (@type $name:ident T: Element) => { $name<T> };
    (@type $name:ident 'a, T: Element) => { $name<'a, T> };
    (@type $name:ident 'a) => { $name<'a> };
    (@type $name:ident) => { $name };
}

print! {
    TensorView ['a, T: Element], self => DynView::from(*self);
    TensorViewMut ['a, T: Element], self => DynView::from(self.view());
    Tensor [T: Element], self => DynView::from(self.view());
    SharedTensor [T: Element], self => DynView::from(self.view());
    DynView ['a], self => *self;
    DynViewMut ['a], self => self.view();
    DynTensor [], self => self.view();
}
