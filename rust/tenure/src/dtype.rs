//! Element types: their names at run time, and the traits that let them into a tensor.

#[cfg(feature = "linalg")]
pub(crate) mod backend;
pub(crate) mod bytes;
pub(crate) mod index;
pub(crate) mod triangle;
pub(crate) mod tuples;

use std::fmt;
use std::hash::{Hash, Hasher};

use half::{bf16, f16};
use num_complex::Complex;
use tenure_sys::tnr_dtype;

/// An element type at run time. Its parts are DLPack's code, bits and lanes.
///
/// ```
/// use tenure::{DType, Element};
///
/// assert_eq!(f32::DTYPE, DType::F32);
/// assert_eq!(DType::F32.name(), "f32");
/// assert_eq!(DType::C128.size_bytes(), 16);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct DType(tnr_dtype);

macro_rules! named_dtypes {
    ($($(#[$doc:meta])* $constant:ident = $name:literal;)*) => {
        impl DType {
            $($(#[$doc])* pub const $constant: DType = DType(tnr_dtype::$constant);)*

            /// Short name, `"f32"` for example; `"unknown"` for a dtype that no operation takes.
            ///
            /// ```
            /// # use tenure::*;
            /// assert_eq!(DType::BF16.name(), "bf16");
            /// ```
            pub const fn name(self) -> &'static str {
                match self {
                    $(DType::$constant => $name,)*
                    _ => "unknown",
                }
            }
        }
    };
}

named_dtypes! {
    /// IEEE binary64.
    F64 = "f64";
    /// IEEE binary32.
    F32 = "f32";
    /// IEEE binary16.
    F16 = "f16";
    /// bfloat16: the upper half of a binary32.
    BF16 = "bf16";
    /// Signed, 8 bits.
    I8 = "i8";
    /// Signed, 16 bits.
    I16 = "i16";
    /// Signed, 32 bits.
    I32 = "i32";
    /// Signed, 64 bits.
    I64 = "i64";
    /// Unsigned, 8 bits.
    U8 = "u8";
    /// Unsigned, 16 bits.
    U16 = "u16";
    /// Unsigned, 32 bits.
    U32 = "u32";
    /// Unsigned, 64 bits.
    U64 = "u64";
    /// A truth value in a byte; see [`Bool8`].
    BOOL8 = "bool8";
    /// Complex of two binary32, 8 bytes.
    C64 = "c64";
    /// Complex of two binary64, 16 bytes.
    C128 = "c128";
}

impl DType {
    /// The dtype with DLPack's `code`, `bits` and `lanes`. Views may carry any of whole bytes;
    /// operations take those named here.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(DType::from_dlpack(2, 32, 1), DType::F32);
    /// // An 8-bit float: carried, not computed.
    /// assert_eq!(DType::from_dlpack(7, 8, 1).size_bytes(), 1);
    /// ```
    pub const fn from_dlpack(code: u8, bits: u8, lanes: u16) -> DType {
        DType(tnr_dtype(code as u32 | (bits as u32) << 8 | (lanes as u32) << 16))
    }

    /// DLPack's code, bits and lanes.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(DType::I16.to_dlpack(), (0, 16, 1));
    /// ```
    pub const fn to_dlpack(self) -> (u8, u8, u16) {
        (self.0.0 as u8, (self.0.0 >> 8) as u8, (self.0.0 >> 16) as u16)
    }

    /// Bytes of one element; 0 for a dtype of zero lanes or no whole number of bytes.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(DType::C64.size_bytes(), 8);
    /// assert_eq!(DType::from_dlpack(0, 4, 1).size_bytes(), 0);
    /// ```
    pub const fn size_bytes(self) -> usize {
        let (_, bits, lanes) = self.to_dlpack();
        if bits % 8 == 0 { (bits / 8) as usize * lanes as usize } else { 0 }
    }

    /// Alignment that a view's memory must have, in bytes: one lane's bytes, half of that for
    /// complex, at most 8; for odd sizes the largest power of two that divides them.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(DType::F64.alignment_bytes(), 8);
    /// assert_eq!(DType::C64.alignment_bytes(), 4);
    /// ```
    pub const fn alignment_bytes(self) -> usize {
        let (code, bits, _) = self.to_dlpack();
        let mut lane_bytes = (bits / 8) as usize;
        if code == DType::C64.to_dlpack().0 && lane_bytes % 2 == 0 {
            lane_bytes /= 2;
        }
        let power = lane_bytes & lane_bytes.wrapping_neg();
        if power < 8 { power } else { 8 }
    }

    #[inline]
    pub(crate) const fn from_raw(raw: tnr_dtype) -> DType {
        DType(raw)
    }

    #[inline]
    pub(crate) const fn raw(self) -> tnr_dtype {
        self.0
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self.to_dlpack()) {
            ("unknown", (code, bits, lanes)) => {
                write!(f, "DType {{ code: {code}, bits: {bits}, lanes: {lanes} }}")
            }
            (name, _) => f.write_str(name),
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type that can be an element of a tensor: f64, f32, [`f16`](struct@f16), [`bf16`], i8 to i64,
/// u8 to u64, [`Bool8`], and [`Complex`] of f32 or f64. Sealed.
///
/// # Safety
///
/// - `DTYPE` describes the type's bytes: same size, and same alignment, since views are made of
///   elements for the library and of bytes for Rust.
/// - Every pattern of those bytes is a value. This is why `bool` is not here and [`Bool8`] is.
///
/// ```
/// use tenure::{AsView, Element};
///
/// fn describe<T: Element>(a: impl AsView<T>) -> String {
///     format!("{:?} of {}", a.as_view().shape(), T::DTYPE)
/// }
/// assert_eq!(describe(&[[1_u8, 2], [3, 4]]), "[2, 2] of u8");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a tensor",
    label = "not an element type",
    note = "elements are f64, f32, f16, bf16, i8 to i64, u8 to u64, Bool8, Complex<f32>, Complex<f64>",
    note = "of `usize` and `isize`, whose size depends on the machine, use `u64` and `i64`",
    note = "for truth values use `Bool8`: a `bool` may only hold 0 or 1, and lent memory may hold more"
)]
pub unsafe trait Element:
    sealed::Sealed + Copy + Default + PartialEq + fmt::Debug + fmt::Display + Send + Sync + 'static
{
    /// The dtype of these elements at run time.
    const DTYPE: DType;
}

/// An element that adds and multiplies: every [`Number`], and [`Complex`] of f32 or f64. Sealed.
///
/// ```
/// use tenure::{Arithmetic, AsView, Complex, Result, Tensor, ops::{add, mul}};
///
/// fn fused<T: Arithmetic>(
///     a: impl AsView<T>,
///     b: impl AsView<T>,
///     c: impl AsView<T>,
/// ) -> Result<Tensor<T>> {
///     add(mul(a, b)?, c)
/// }
/// let i = Complex::new(0.0, 1.0);
/// assert_eq!(fused(&[i, i + 1.0], i, i)?.to_vec(), [i - 1.0, 2.0 * i - 1.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "arithmetic does not take `{Self}`",
    label = "not a number that Tenure calculates with",
    note = "numbers are f64, f32, f16, bf16, i8 to i64, u8 to u64, Complex<f32>, Complex<f64>"
)]
pub trait Arithmetic: Element {
    /// The type of sums and products of these elements: the type itself for floats and complex
    /// numbers, `i64` or `u64` for integers.
    type Sum: Arithmetic<Sum = Self::Sum>;
    /// The type of magnitudes: that of a complex number's parts, and the type itself for others.
    type Magnitude: Number;
}

/// An element that has a place among all others of its type: all but [`Bool8`] and [`Complex`].
/// Sealed.
///
/// ```
/// use tenure::{AsView, Number, Result, Tensor, ops::{add, mul}};
///
/// fn fused<T: Number>(
///     a: impl AsView<T>,
///     b: impl AsView<T>,
///     c: impl AsView<T>,
/// ) -> Result<Tensor<T>> {
///     add(mul(a, b)?, c)
/// }
/// assert_eq!(fused(&[1, 2, 3], 2, 10)?.to_vec(), [12, 14, 16]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this operation takes real numbers, and `{Self}` is none",
    label = "not a real number that Tenure calculates with",
    note = "real numbers are f64, f32, f16, bf16, i8 to i64, u8 to u64"
)]
pub trait Number: Arithmetic<Magnitude = Self> + sequence::Sequence {}

/// Sequences of numbers, for generic code of this crate.
pub(crate) mod sequence {
    use half::{bf16, f16};

    pub trait Sequence: Copy {
        const UNIT: Self;
        /// How many of start, start + step, ... lie before `end`; `None` where the step is 0, or
        /// one of them is not finite.
        fn step_count(start: Self, end: Self, step: Self) -> Option<usize>;
        /// `start + nth * step`, which lies before an end.
        fn nth_step(start: Self, step: Self, nth: usize) -> Self;
        fn to_double(self) -> f64;
        fn of_double(value: f64) -> Self;
    }

    macro_rules! integers {
        ($($type:ty)*) => {$(
            impl Sequence for $type {
                const UNIT: Self = 1;
                fn step_count(start: Self, end: Self, step: Self) -> Option<usize> {
                    // Wide enough for any difference of two.
                    let (distance, step) = (end as i128 - start as i128, step as i128);
                    let count = match step.signum() {
                        0 => return None,
                        1 => distance.max(0) as u128,
                        _ => (-distance).max(0) as u128,
                    };
                    usize::try_from(count.div_ceil(step.unsigned_abs())).ok()
                }
                fn nth_step(start: Self, step: Self, nth: usize) -> Self {
                    // The result is in range, and so it is where the steps wrap.
                    start.wrapping_add(step.wrapping_mul(nth as Self))
                }
                fn to_double(self) -> f64 {
                    self as f64
                }
                fn of_double(value: f64) -> Self {
                    value as Self
                }
            }
        )*};
    }

    macro_rules! floats {
        ($($type:ident: $unit:expr, $to:expr, $of:expr;)*) => {$(
            impl Sequence for $type {
                const UNIT: Self = $unit;
                fn step_count(start: Self, end: Self, step: Self) -> Option<usize> {
                    let doubles = [start.to_double(), end.to_double(), step.to_double()];
                    if doubles.iter().any(|one| !one.is_finite()) || step.to_double() == 0.0 {
                        return None;
                    }
                    let precedes = |nth| {
                        let number = Self::nth_step(start, step, nth);
                        if step.to_double() > 0.0 { number < end } else { number > end }
                    };
                    // The numbers themselves, as a quotient of rounded numbers may be one off.
                    // More than any memory has saturates, and is refused as a shape.
                    let (mut count, mut most) = (0, usize::MAX);
                    while count < most {
                        let middle = count + (most - count) / 2;
                        if precedes(middle) { count = middle + 1 } else { most = middle }
                    }
                    Some(count)
                }
                fn nth_step(start: Self, step: Self, nth: usize) -> Self {
                    Self::of_double(step.to_double().mul_add(nth as f64, start.to_double()))
                }
                fn to_double(self) -> f64 {
                    $to(self)
                }
                fn of_double(value: f64) -> Self {
                    $of(value)
                }
            }
        )*};
    }

    integers! { i8 i16 i32 i64 u8 u16 u32 u64 }
    floats! {
        f64: 1.0, f64::from, f64::from;
        f32: 1.0, f64::from, |value| value as f32;
        f16: f16::ONE, f16::to_f64, |value| f16::from_f32(odd(value));
        bf16: bf16::ONE, bf16::to_f64, |value| bf16::from_f32(odd(value));
    }

    /// Rounds to the neighbour with an odd last bit, unless the value is exact: rounding that to a
    /// type of fewer bits then gives what rounding once gives. `half` rounds twice where the
    /// processor converts `f32` only.
    fn odd(value: f64) -> f32 {
        let nearest = value as f32;
        let (wide, bits) = (f64::from(nearest), nearest.to_bits());
        if wide == value || value.is_nan() || bits & 1 == 1 {
            return nearest;
        }
        f32::from_bits(if wide.abs() < value.abs() { bits + 1 } else { bits - 1 })
    }
}

/// A number with a fraction: f64, f32, [`f16`](struct@f16), [`bf16`]. Sealed.
///
/// ```
/// use tenure::{AsView, Float, Result, Tensor, ops::{exp, neg}};
///
/// fn decay<T: Float>(a: impl AsView<T>) -> Result<Tensor<T>> {
///     exp(neg(a)?)
/// }
/// assert_eq!(decay(&[0.0_f32])?.to_vec(), [1.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this operation takes floats, and `{Self}` is none",
    label = "not a float",
    note = "floats are f64, f32, f16, bf16; `cast` converts to one"
)]
pub trait Float: Number + Factor<Product = Self> + Field {}

/// An element with a quotient of its own type: every [`Float`], and [`Complex`] of f32 or f64.
/// Sealed.
///
/// ```
/// use tenure::{AsView, Complex, Field, Result, ops::{mean_all, mul, reciprocal}};
///
/// fn of_inverses<T: Field>(a: impl AsView<T>) -> Result<T> {
///     mean_all(reciprocal(a)?)
/// }
/// let i = Complex::new(0.0_f32, 1.0);
/// assert_eq!(of_inverses(&[i, -i, 2.0 * i, -2.0 * i])?, Complex::ZERO);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this operation takes floats and complex numbers, and `{Self}` is neither",
    label = "neither a float nor a complex number",
    note = "they are f64, f32, f16, bf16, Complex<f32>, Complex<f64>; `cast` converts to a float"
)]
pub trait Field: Arithmetic<Sum = Self> {}

/// [`Complex`] of f32 or f64. Sealed.
///
/// ```
/// use tenure::{AsView, Complex, ComplexNumber, Result, Tensor, ops::{conj, mul}};
///
/// fn squared_magnitudes<T: ComplexNumber>(a: impl AsView<T>) -> Result<Tensor<T>> {
///     let a = a.as_view();
///     mul(a, conj(a)?)
/// }
/// let squares = squared_magnitudes(&[Complex::new(3.0, 4.0)])?;
/// assert_eq!(squares.to_vec(), [Complex::new(25.0, 0.0)]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this operation takes complex numbers, and `{Self}` is none",
    label = "not a complex number",
    note = "complex numbers are Complex<f32> and Complex<f64>"
)]
pub trait ComplexNumber: Field + Factor<Product = Self> {}

/// A number without a fraction: i8 to i64, u8 to u64. Sealed.
///
/// ```
/// use tenure::{AsView, Integer, Result, Tensor, ops::bitwise_and};
///
/// fn low_bits<T: Integer>(a: impl AsView<T>, mask: impl AsView<T>) -> Result<Tensor<T>> {
///     bitwise_and(a, mask)
/// }
/// assert_eq!(low_bits(&[0b1011_0101_u8], 0b111)?.to_vec(), [0b101]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this operation takes integers, and `{Self}` is none",
    label = "not an integer",
    note = "integers are i8 to i64, u8 to u64; truth values have `logical_and` and its kin"
)]
pub trait Integer: Number {}

/// An element of matrices that are multiplied: every [`Float`], [`Complex`] of f32 or f64, i8 and
/// u8. Sealed.
///
/// ```
/// use tenure::{AsView, Factor, Result, Tensor, linalg::matmul};
///
/// fn gram<T: Factor>(a: impl AsView<T>) -> Result<Tensor<T::Product>> {
///     let a = a.as_view();
///     matmul(a, a.t())
/// }
/// let sums: Vec<i32> = gram(&[[100_u8, 200]])?.to_vec();
/// assert_eq!(sums, [50_000]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "products of matrices do not take `{Self}`",
    label = "not an element of a factor",
    note = "factors are f64, f32, f16, bf16, Complex<f32>, Complex<f64>, i8, u8; `cast` gives one"
)]
pub trait Factor: Element {
    /// The type of the product's elements: the type itself, and `i32` for bytes.
    type Product: Element;
}

/// A float that Rust itself calculates with, and that solvers take: f64, f32. Sealed.
///
/// ```
/// use tenure::{AsView, NativeFloat, Result, ops::{mul, sum}};
///
/// fn square<T: NativeFloat>(a: impl AsView<T>) -> Result<Option<T>> {
///     let a = a.as_view();
///     Ok(sum(mul(a, a)?, ..)?.item())
/// }
/// assert_eq!(square(&[3.0_f32, 4.0])?, Some(25.0));
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "solvers do not take `{Self}`",
    label = "neither `f32` nor `f64`",
    note = "`cast` converts to one of them"
)]
pub trait NativeFloat: Float + Number<Sum = Self> + native::Arithmetic {}

impl NativeFloat for f64 {}
impl NativeFloat for f32 {}

/// The arithmetic of [`NativeFloat`], for generic code of this crate.
pub(crate) mod native {
    use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

    #[cfg(feature = "linalg")]
    use crate::dtype::backend::Backend;

    /// Replaces the supertrait in builds without the feature.
    #[cfg(not(feature = "linalg"))]
    pub trait Backend {}
    #[cfg(not(feature = "linalg"))]
    impl Backend for f64 {}
    #[cfg(not(feature = "linalg"))]
    impl Backend for f32 {}

    pub trait Arithmetic:
        Backend
        + Copy
        + PartialOrd
        + Neg<Output = Self>
        + Add<Output = Self>
        + Sub<Output = Self>
        + Mul<Output = Self>
        + Div<Output = Self>
        + AddAssign
        + SubAssign
        + MulAssign
    {
        const ZERO: Self;
        const ONE: Self;
        /// From 1 to the next number.
        const EPSILON: Self;
        /// Up to here and down to its reciprocal, a square is far from the ends of the range.
        const LARGE: f64;
        /// A power of two. A product with it brings every smaller number into these bounds, and a
        /// division by it every larger number.
        const RESCALE: f64;
        /// The exponent up to which a matrix needs no scaling for the sums of an iterative solver.
        const NEAR: i32;
        /// An exponent that brings a product into the range, where it is 0 or infinite.
        const FAR: i32;
        fn from_f64(value: f64) -> Self;
        fn to_f64(self) -> f64;
        fn magnitude(self) -> Self;
        fn root(self) -> Self;
        fn finite(self) -> bool;
    }

    macro_rules! arithmetic {
        ($($type:ident: $large:literal, $rescale:literal, $near:literal, $far:literal;)*) => {$(
            impl Arithmetic for $type {
                const ZERO: Self = 0.0;
                const ONE: Self = 1.0;
                const EPSILON: Self = $type::EPSILON;
                const LARGE: f64 = power_of_two($large);
                const RESCALE: f64 = power_of_two($rescale);
                const NEAR: i32 = $near;
                const FAR: i32 = $far;
                fn from_f64(value: f64) -> Self {
                    value as Self
                }
                fn to_f64(self) -> f64 {
                    f64::from(self)
                }
                fn magnitude(self) -> Self {
                    self.abs()
                }
                fn root(self) -> Self {
                    self.sqrt()
                }
                fn finite(self) -> bool {
                    self.is_finite()
                }
            }
        )*};
    }

    /// One with an exponent that `f64` has.
    const fn power_of_two(exponent: u64) -> f64 {
        f64::from_bits((1023 + exponent) << 52)
    }

    arithmetic! { f64: 400, 600, 120, 512; f32: 50, 90, 20, 64; }
}

/// An element that compares and casts: every [`Number`], and [`Bool8`]. Sealed.
///
/// ```
/// use tenure::{AsView, Bool8, Real, Result, ops::{cast, count}};
///
/// fn truths<T: Real>(a: impl AsView<T>) -> Result<Option<i64>> {
///     Ok(count(cast::<Bool8, T>(a)?, ..)?.item())
/// }
/// assert_eq!(truths(&[0.0, 0.5, 2.0])?, Some(2));
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` neither compares nor casts",
    label = "not a number or a truth value",
    note = "these operations take f64, f32, f16, bf16, i8 to i64, u8 to u64, Bool8"
)]
pub trait Real: Element {}

macro_rules! elements {
    ($($type:ty => $dtype:ident;)*) => {$(
        const _: () = assert!(
            size_of::<$type>() == DType::$dtype.size_bytes()
                && align_of::<$type>() == DType::$dtype.alignment_bytes()
        );
        impl sealed::Sealed for $type {}
        // SAFETY: size and alignment are asserted above; integers, IEEE floats, pairs of those
        // and a byte that means "zero or not" have no invalid patterns.
        unsafe impl Element for $type {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

elements! {
    f64 => F64; f32 => F32; f16 => F16; bf16 => BF16;
    i8 => I8; i16 => I16; i32 => I32; i64 => I64;
    u8 => U8; u16 => U16; u32 => U32; u64 => U64;
    Bool8 => BOOL8;
    Complex<f32> => C64; Complex<f64> => C128;
}

macro_rules! numbers {
    ($($type:ty => $sum:ty;)*) => {$(
        impl Arithmetic for $type {
            type Sum = $sum;
            type Magnitude = $type;
        }
        impl Number for $type {}
        impl Real for $type {}
    )*};
}

numbers! {
    f64 => f64; f32 => f32; f16 => f16; bf16 => bf16;
    i8 => i64; i16 => i64; i32 => i64; i64 => i64;
    u8 => u64; u16 => u64; u32 => u64; u64 => u64;
}

macro_rules! complex_numbers {
    ($($part:ty)*) => {$(
        impl Arithmetic for Complex<$part> {
            type Sum = Complex<$part>;
            type Magnitude = $part;
        }
        impl Field for Complex<$part> {}
        impl ComplexNumber for Complex<$part> {}
        impl Field for $part {}
    )*};
}

complex_numbers! { f32 f64 }
impl Field for f16 {}
impl Field for bf16 {}

macro_rules! factors {
    ($($type:ty => $product:ty;)*) => {$(
        impl Factor for $type {
            type Product = $product;
        }
    )*};
}

factors! {
    f64 => f64; f32 => f32; f16 => f16; bf16 => bf16;
    Complex<f32> => Complex<f32>; Complex<f64> => Complex<f64>;
    i8 => i32; u8 => i32;
}

impl Real for Bool8 {}
impl Float for f64 {}
impl Float for f32 {}
impl Float for f16 {}
impl Float for bf16 {}
impl Integer for i8 {}
impl Integer for i16 {}
impl Integer for i32 {}
impl Integer for i64 {}
impl Integer for u8 {}
impl Integer for u16 {}
impl Integer for u32 {}
impl Integer for u64 {}

/// A truth value in a byte. Any non-zero byte is true; the library writes 0 or 1.
///
/// Rust's `bool` cannot stand in lent memory: reading a byte of 2 as a `bool` is undefined.
///
/// ```
/// use tenure::Bool8;
///
/// assert_eq!(Bool8::from(true), Bool8::TRUE);
/// assert_eq!(Bool8::from_byte(2), Bool8::TRUE);
/// assert!(!Bool8::FALSE.is_true());
/// ```
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bool8(u8);

impl Bool8 {
    /// Written as 1.
    pub const TRUE: Bool8 = Bool8(1);
    /// Written as 0.
    pub const FALSE: Bool8 = Bool8(0);

    /// A byte that stands in memory: true unless 0.
    ///
    /// ```
    /// # use tenure::*;
    /// assert!(Bool8::from_byte(2).is_true());
    /// ```
    pub const fn from_byte(byte: u8) -> Bool8 {
        Bool8(byte)
    }

    /// The byte as it stands in memory.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!((Bool8::TRUE.to_byte(), Bool8::from_byte(2).to_byte()), (1, 2));
    /// ```
    pub const fn to_byte(self) -> u8 {
        self.0
    }

    /// Whether the byte is not 0.
    ///
    /// ```
    /// # use tenure::*;
    /// assert!(Bool8::TRUE.is_true() && !Bool8::FALSE.is_true());
    /// ```
    pub const fn is_true(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool8 {
    fn from(value: bool) -> Bool8 {
        Bool8(value.into())
    }
}

impl From<Bool8> for bool {
    fn from(value: Bool8) -> bool {
        value.is_true()
    }
}

// Equality is of truth, not of bytes: 2 and 1 are both true.
impl PartialEq for Bool8 {
    fn eq(&self, other: &Bool8) -> bool {
        self.is_true() == other.is_true()
    }
}

impl Eq for Bool8 {}

impl Hash for Bool8 {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.is_true().hash(state);
    }
}

impl fmt::Display for Bool8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.is_true(), f)
    }
}

impl fmt::Debug for Bool8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.is_true(), f)
    }
}
