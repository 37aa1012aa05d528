//! Elements and tensors that tests make up, of every type; for expressions and for programs.

#[allow(dead_code, reason = "tests take what they need")]
#[path = "../../src/split_mix.rs"]
mod split_mix;

pub(crate) use split_mix::Random;
use tenure::*;

/// An element that a test makes up, and looks at bit by bit.
pub(crate) trait Sample: Element {
    /// Any value; floats include NaN, infinities, zeros and subnormal numbers.
    fn any(random: &mut Random) -> Self;
    /// From 1 to 5, whole where there is nothing else, or true: what every operation takes on its right side.
    fn small(random: &mut Random) -> Self;
    fn bits(self) -> u128;
}

macro_rules! floats {
    ($($type:ident: $bits:ty, $of:expr;)*) => {$(
        impl Sample for $type {
            fn any(random: &mut Random) -> Self {
                match random.below(16) {
                    0 => $type::NAN,
                    1 => $type::INFINITY,
                    2 => $type::NEG_INFINITY,
                    3 => $of(0.0),
                    4 => -$of(0.0),
                    5 => $type::MAX,
                    6 => $type::from_bits(random.below(99) as $bits),
                    7..=10 => $of((random.below(9) as f64) - 4.0),
                    11..=14 => $of((random.below(2000) as f64 - 1000.0) / 64.0),
                    _ => $type::from_bits(random.next() as $bits),
                }
            }
            fn small(random: &mut Random) -> Self {
                // All digits are random, so that sums round.
                $of(1.0 + (random.next() >> 11) as f64 / 2_f64.powi(51))
            }
            fn bits(self) -> u128 {
                // Which NaN comes of two depends on the loop that meets them, in calls too.
                if self.is_nan() { $type::NAN.to_bits().into() } else { self.to_bits().into() }
            }
        }
    )*};
}
floats! {
    f64: u64, f64::from;
    f32: u32, |value: f64| value as f32;
    f16: u16, f16::from_f64;
    bf16: u16, bf16::from_f64;
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Sample for $type {
            fn any(random: &mut Random) -> Self {
                match random.below(4) {
                    0 => random.next() as $type,
                    1 => $type::MIN,
                    _ => (random.below(9) as $type).wrapping_sub(4),
                }
            }
            fn small(random: &mut Random) -> Self {
                1 + random.below(5) as $type
            }
            fn bits(self) -> u128 {
                self as u128
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

impl Sample for Bool8 {
    fn any(random: &mut Random) -> Self {
        Bool8::from_byte(random.below(3) as u8)
    }
    fn small(_: &mut Random) -> Self {
        Bool8::TRUE
    }
    fn bits(self) -> u128 {
        // Copies keep a byte of 2, and results are 0 or 1.
        self.is_true().into()
    }
}

impl<T: Sample + Float> Sample for Complex<T>
where
    Complex<T>: Element,
{
    fn any(random: &mut Random) -> Self {
        Complex::new(T::any(random), T::any(random))
    }
    fn small(random: &mut Random) -> Self {
        Complex::new(T::small(random), T::small(random))
    }
    fn bits(self) -> u128 {
        self.re.bits() << 64 | self.im.bits()
    }
}

pub(crate) fn tensor<T: Sample, const N: usize>(
    random: &mut Random,
    shape: [usize; N],
    element: impl Fn(&mut Random) -> T,
) -> Tensor<T> {
    let elements = (0..shape.iter().product()).map(|_| element(random)).collect::<Vec<_>>();
    Tensor::from_vec(elements, shape).unwrap()
}

/// Asserts equal shapes and bits, or that both are refused.
#[track_caller]
pub(crate) fn assert_same<T: Sample>(
    got: &Result<Tensor<T>>,
    expected: &Result<Tensor<T>>,
    what: &str,
) {
    match (got, expected) {
        (Ok(got), Ok(expected)) => {
            assert_eq!(got.shape(), expected.shape(), "{what}");
            let differ = got.iter().zip(expected.iter()).position(|(a, b)| a.bits() != b.bits());
            if let Some(at) = differ {
                let [got, expected] = [got, expected].map(|tensor| tensor.iter().nth(at).unwrap());
                let bits = [got, expected].map(|element| element.bits());
                panic!("{what}: element {at} is {got} but was {expected}, bits {bits:x?}");
            }
        }
        (Err(_), Err(_)) => {}
        // Without elements the expression computes nothing, and meets no divisor of 0.
        (Ok(got), Err(_)) if got.is_empty() => {}
        (Ok(_), Err(error)) => panic!("{what}: computed what was refused: {error}"),
        (Err(error), Ok(_)) => panic!("{what}: {error}"),
    }
}

/// Calls a function of the row's types.
macro_rules! over {
    ([T: Float] $name:ident) => {
        over!(@ $name f64 f32 f16 bf16);
    };
    ([T: Integer] $name:ident) => {
        over!(@ $name i8 i16 i32 i64 u8 u16 u32 u64);
    };
    ([T: Number] $name:ident) => {
        over!(@ $name f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64);
    };
    ([T: Real] $name:ident) => {
        over!(@ $name f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 Bool8);
    };
    ([U: Real] $name:ident from $from:ident) => {
        over!(@ $name from $from: f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 Bool8);
    };
    (@ $name:ident from $from:ident: $($to:ty)*) => { $($name::<$from, $to>();)* };
    ([T: Element] $name:ident) => {
        over!([T: Real] $name);
        over!([T: ComplexNumber] $name);
    };
    ([T: Arithmetic] $name:ident) => {
        over!([T: Number] $name);
        over!([T: ComplexNumber] $name);
    };
    ([T: Field] $name:ident) => {
        over!([T: Float] $name);
        over!([T: ComplexNumber] $name);
    };
    ([T: ComplexNumber] $name:ident) => {
        $name::<Complex<f32>>();
        $name::<Complex<f64>>();
    };
    ([] $name:ident) => {
        $name();
    };
    (@ $name:ident $($type:ident)*) => {
        $($name::<$type>();)*
    };
}
pub(crate) use over;

/// The type of results.
macro_rules! output {
    ($in:ident Part) => {
        <$in as Arithmetic>::Magnitude
    };
    ($in:ident Magnitude) => {
        <$in as Arithmetic>::Magnitude
    };
    ($in:ident $out:ident) => {
        $out
    };
}
pub(crate) use output;

/// The attribute of a reduction.
macro_rules! given {
    (ddof) => {
        1
    };
    (power) => {
        3.0
    };
}
pub(crate) use given;
