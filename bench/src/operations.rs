//! The operations that are measured on large arrays, as Tenure does them.

use std::cell::RefCell;

use tenure::{TensorView, TensorViewMut};

use crate::roofs::kernels::{Arrays, Move};
use crate::roofs::{ADD, COPY, READ};
use crate::subject::{Case, repeat};

pub mod convolutions;
pub mod products;
pub mod windows;

/// Runs it once, on `a`, `b` and `c`.
type Pass = fn(&[f32], &[f32], &mut [f32]) -> tenure::Result<()>;

/// Something done on one or two of three arrays of f32, as many in each.
#[derive(Clone, Copy)]
pub struct Operation {
    /// The name in the figures.
    pub name: &'static str,
    /// The kinds of moves; the best of them is the roof.
    pub roof: &'static [Move],
    /// How many of the arrays have to be read and written.
    pub arrays: u64,
    run: Pass,
}

impl Operation {
    /// The operation `into` preallocated memory.
    pub fn case<'a>(&self, arrays: &'a RefCell<Arrays>) -> Case<'a> {
        let run = self.run;
        Case::timed("tenure", "into", move |passes| {
            let arrays = &mut *arrays.borrow_mut();
            let (a, b, c) = arrays.parts();
            repeat(passes, || run(a, b, c).expect("the shapes fit"))
        })
    }
}

/// On all three arrays as they lie, or on two.
pub const ELEMENTWISE: [Operation; 3] = [
    Operation { name: "add", roof: ADD, arrays: 3, run: |a, b, c| tenure::ops::add_into(a, b, c) },
    Operation { name: "mul", roof: ADD, arrays: 3, run: |a, b, c| tenure::ops::mul_into(a, b, c) },
    Operation { name: "relu", roof: COPY, arrays: 2, run: |a, _, c| tenure::nn::relu_into(a, c) },
];

/// Movements of a square matrix.
pub const TRANSPOSITION: Operation =
    to_square("transpose", |a, _, c| tenure::ops::copy_into(square(a)?.t(), &mut square_mut(c)?));

/// Reductions of a square matrix: over all of it, its columns (axis 0) and its rows (axis 1).
pub const REDUCTIONS: [Operation; 6] = [
    reduction("sum", |a, _, c| {
        tenure::ops::sum_into(square(a)?, .., &mut TensorViewMut::from_mut(&mut c[0]))
    }),
    reduction("sum, axis 0", |a, _, c| tenure::ops::sum_into(square(a)?, 0, &mut c[..side(a)])),
    reduction("sum, axis 1", |a, _, c| tenure::ops::sum_into(square(a)?, 1, &mut c[..side(a)])),
    reduction("max", |a, _, c| {
        tenure::ops::max_into(square(a)?, .., &mut TensorViewMut::from_mut(&mut c[0]))
    }),
    reduction("max, axis 0", |a, _, c| tenure::ops::max_into(square(a)?, 0, &mut c[..side(a)])),
    reduction("max, axis 1", |a, _, c| tenure::ops::max_into(square(a)?, 1, &mut c[..side(a)])),
];

/// Operations on the rows of a square matrix that have as large a result.
pub const ROWS: [Operation; 2] = [
    to_square("softmax, axis 1", |a, _, c| {
        tenure::nn::softmax_into(square(a)?, 1, &mut square_mut(c)?)
    }),
    to_square("sort, axis 1", |a, _, c| tenure::ops::sort_into(square(a)?, 1, &mut square_mut(c)?)),
];

/// Operations that are measured on two threads too.
pub const LARGE: [Operation; 10] = [
    ELEMENTWISE[0],
    ELEMENTWISE[1],
    ELEMENTWISE[2],
    TRANSPOSITION,
    REDUCTIONS[0],
    REDUCTIONS[1],
    REDUCTIONS[2],
    REDUCTIONS[3],
    REDUCTIONS[4],
    REDUCTIONS[5],
];

const fn reduction(name: &'static str, run: Pass) -> Operation {
    Operation { name, roof: READ, arrays: 1, run }
}

/// From a square matrix to another.
const fn to_square(name: &'static str, run: Pass) -> Operation {
    Operation { name, roof: COPY, arrays: 2, run }
}

/// Rows, and columns, of a square matrix of these elements.
pub fn side(elements: &[f32]) -> usize {
    elements.len().isqrt()
}

/// The elements as the square matrix that they are.
pub fn square(elements: &[f32]) -> tenure::Result<TensorView<'_, f32>> {
    TensorView::from_slice(elements, [side(elements); 2])
}

fn square_mut(elements: &mut [f32]) -> tenure::Result<TensorViewMut<'_, f32>> {
    let side = side(elements);
    TensorViewMut::from_slice(elements, [side; 2])
}
