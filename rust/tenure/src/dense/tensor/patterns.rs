//! Tensors of elements that a rule gives: ones, sequences, the identity, functions of the index;
//! and of elements that come in Rust's ways, as a `Vec`, an array or an iterator.

use std::alloc::{Layout, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::dense::{IntoShape, Tensor};
use crate::dtype::{Element, Float, Number};
use crate::error::{Error, ErrorKind, Result};
use crate::layout;
use crate::layout::{order::Order, refusal};

/// Patterns.
impl<T: Element> Tensor<T> {
    /// New memory with what `f` says of each index, row-major. It is called in that order, on this
    /// thread.
    ///
    /// # Errors
    ///
    /// The errors of [`zeros`](Self::zeros).
    ///
    /// ```
    /// # use tenure::*;
    /// let table = Tensor::from_fn([2, 3], |[row, col]| 10 * row as i32 + col as i32)?;
    /// assert_eq!(table, [[0, 1, 2], [10, 11, 12]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias("fromfunction", "from_shape_fn"))]
    pub fn from_fn<const N: usize>(
        shape: [usize; N],
        mut f: impl FnMut([usize; N]) -> T,
    ) -> Result<Self> {
        let (_, count) = layout::shaped(T::DTYPE, &shape, Order::RowMajor)?;
        let mut index = [0; N];
        let elements = (0..count).map(|_| {
            let element = f(index);
            for axis in (0..N).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
            element
        });
        Self::collected(&shape, elements)
    }

    /// New row-major memory with the elements of an iterator, which has as many as the shape.
    pub(crate) fn collected(extents: &[usize], elements: impl Iterator<Item = T>) -> Result<Self> {
        let mut written = 0;
        let write = |bytes: &mut [MaybeUninit<u8>]| {
            let (slots, len) = (bytes.as_mut_ptr().cast(), bytes.len() / size_of::<T>());
            if len == 0 {
                return Ok(());
            }
            // SAFETY: the bytes are the library's memory for elements of `T`, aligned for them.
            let slots: &mut [MaybeUninit<T>] =
                unsafe { std::slice::from_raw_parts_mut(slots, len) };
            slots.iter_mut().zip(elements).for_each(|(slot, element)| {
                slot.write(element);
                written += 1;
            });
            match written == len {
                true => Ok(()),
                false => Err(Error::new(
                    ErrorKind::Internal,
                    format!("{written} elements came for shape {extents:?}"),
                )),
            }
        };
        // SAFETY: the closure returns Ok only where each of the elements has been written.
        unsafe { Self::filled_by(extents, Order::RowMajor, write) }
    }
}

/// Patterns of numbers.
impl<T: Number> Tensor<T> {
    /// New memory of ones, row-major.
    ///
    /// # Errors
    ///
    /// The errors of [`zeros`](Self::zeros).
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Tensor::<f32>::ones([2, 3])?.to_vec(), [1.0; 6]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn ones(shape: impl IntoShape) -> Result<Self> {
        Self::full(shape, T::UNIT)
    }

    /// The identity matrix of `n` rows.
    ///
    /// # Errors
    ///
    /// The errors of [`zeros`](Self::zeros).
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Tensor::<i32>::eye(2)?, [[1, 0], [0, 1]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "identity")]
    pub fn eye(n: usize) -> Result<Self> {
        let mut matrix = Self::zeros([n, n])?;
        matrix.view_mut().diagonal(0)?.fill(T::UNIT);
        Ok(matrix)
    }

    /// The numbers of a range, one apart, as rank 1; as many as are below its end.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a bound that is NaN or infinite. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Tensor::arange(0..4)?.to_vec(), [0, 1, 2, 3]);
    /// assert_eq!(Tensor::arange(0.5..3.0)?.to_vec(), [0.5, 1.5, 2.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias("range", "iota"))]
    pub fn arange(range: Range<T>) -> Result<Self> {
        Self::arange_step(range.start, range.end, T::UNIT)
    }

    /// The numbers from `start` on, `step` apart, as rank 1: those before `end`, which lies below
    /// `start` where `step` is negative. Each is start + nth · step, rounded once.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a step of 0, or a bound or step that is NaN or infinite. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Tensor::arange_step(0, 10, 4)?.to_vec(), [0, 4, 8]);
    /// assert_eq!(Tensor::arange_step(1.0, 0.0, -0.25)?.to_vec(), [1.0, 0.75, 0.5, 0.25]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn arange_step(start: T, end: T, step: T) -> Result<Self> {
        match T::step_count(start, end, step) {
            Some(count) => {
                Self::collected(&[count], (0..count).map(|nth| T::nth_step(start, step, nth)))
            }
            None => Err(refusal::no_steps(&start, &end, &step)),
        }
    }
}

impl<T: Float> Tensor<T> {
    /// `count` evenly spaced numbers from `first` to `last`, both included, as rank 1. A count of 1
    /// gives `first`.
    ///
    /// Each number between the ends is the exact first + (last - first) nth / (count - 1), rounded
    /// to `f64` and then to `T`. A number that the type holds is therefore exact, equal ends give a
    /// constant, and exchanged ends give the same numbers in reverse order.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Tensor::linspace(0.0, 1.0, 5)?.to_vec(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// assert_eq!(Tensor::linspace(0.0, 22.0, 23)?[[15]], 15.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn linspace(first: T, last: T, count: usize) -> Result<Self> {
        let (ends, steps) = ([first.to_double(), last.to_double()], count.saturating_sub(1));
        let elements = (0..count).map(|nth| match nth {
            0 => first,
            _ if nth == steps || first == last => last,
            // The products of narrower numbers are exact as they are.
            _ if size_of::<T>() < size_of::<f64>() => {
                T::of_double((ends[0] * (steps - nth) as f64 + ends[1] * nth as f64) / steps as f64)
            }
            _ => T::of_double(between(ends, nth as f64, steps as f64)),
        });
        Self::collected(&[count], elements)
    }
}

/// A sum, and the part of it that rounding cut off.
fn exact_sum(a: f64, b: f64) -> [f64; 2] {
    let sum = a + b;
    let of_b = sum - a;
    [sum, (a - (sum - of_b)) + (b - of_b)]
}

/// A product, and the part of it that rounding cut off.
fn exact_product(a: f64, b: f64) -> [f64; 2] {
    let product = a * b;
    [product, a.mul_add(b, -product)]
}

/// The mean of two numbers with the weights `steps - nth` and `nth`: all but the last rounding is
/// in numbers of twice the digits.
fn between([from, to]: [f64; 2], nth: f64, steps: f64) -> f64 {
    const LARGE: f64 = f64::MAX / (1_u64 << 53) as f64;
    const SMALLER: f64 = 1.0 / (1_u64 << 54) as f64;
    if !(from.is_finite() && to.is_finite()) {
        return from + to;
    }
    if from.abs().max(to.abs()) > LARGE {
        return between([from * SMALLER, to * SMALLER], nth, steps) / SMALLER;
    }
    let ([a, a_rest], [b, b_rest]) = (exact_product(from, steps - nth), exact_product(to, nth));
    let ([total, rest], [low, lowest]) = (exact_sum(a, b), exact_sum(a_rest, b_rest));
    let [total, rest] = exact_sum(total, rest + low);
    let [total, rest] = exact_sum(total, rest + lowest);
    let quotient = total / steps;
    quotient + (quotient.mul_add(-steps, total) + rest) / steps
}

/// The `Vec` itself, as rank 1: nothing is copied, and [`into_vec`](Tensor::into_vec) gives it back.
/// Where there is no memory for the library's record of it, the program ends as a `Vec` ends it;
/// [`from_vec`](Tensor::from_vec) does not, and takes other shapes.
///
/// ```
/// use tenure::Tensor;
///
/// let vec = vec![1.0, 2.0, 3.0];
/// let address = vec.as_ptr();
/// let tensor = Tensor::from(vec);
/// assert_eq!((tensor.shape(), tensor.as_ptr()), (&[3][..], address));
/// ```
impl<T: Element> From<Vec<T>> for Tensor<T> {
    fn from(vec: Vec<T>) -> Self {
        let len = vec.len();
        held(Tensor::from_vec(vec, len).map_err(Error::from))
    }
}

/// The elements of an iterator as rank 1, collected into a `Vec`.
///
/// ```
/// use tenure::Tensor;
///
/// let squares: Tensor<i64> = (0..5).map(|x| x * x).collect();
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
impl<T: Element> FromIterator<T> for Tensor<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Tensor::from(Vec::from_iter(elements))
    }
}

/// Handles a failure as a `Vec` does, where its length fits and only a lack of memory can occur.
fn held<T: Element>(tensor: Result<Tensor<T>>) -> Tensor<T> {
    tensor.unwrap_or_else(|_| handle_alloc_error(Layout::new::<Tensor<T>>()))
}

/// An array's elements, moved into a `Vec` that the tensor adopts.
macro_rules! from_arrays {
    ($($type:ty => $($extent:ident)+ $(, $flatten:ident)*;)*) => {$(
        /// The elements, moved to memory of their own, under the array's shape.
        ///
        /// ```
        /// use tenure::Tensor;
        ///
        /// assert_eq!(Tensor::from([[1, 2, 3], [4, 5, 6]]).shape(), [2, 3]);
        /// ```
        impl<T: Element, $(const $extent: usize),+> From<$type> for Tensor<T> {
            fn from(array: $type) -> Self {
                let elements = array.as_slice()$(.$flatten())*.to_vec();
                held(Tensor::from_vec(elements, [$($extent),+]).map_err(Error::from))
            }
        }
    )*};
}

from_arrays! {
    [T; A] => A;
    [[T; B]; A] => A B, as_flattened;
    [[[T; C]; B]; A] => A B C, as_flattened, as_flattened;
    [[[[T; D]; C]; B]; A] => A B C D, as_flattened, as_flattened, as_flattened;
}
