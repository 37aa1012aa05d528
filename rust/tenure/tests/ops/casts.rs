//! Casts between every pair of real dtypes, copies of every dtype, and fill.

use tenure::*;

use crate::layouts::{MEMORY, Samples, assert_same, inputs, is_nan, outputs};

/// Intermediate of a naive cast: wide enough for every element type.
#[derive(Clone, Copy)]
enum Wide {
    Integer(i128),
    Float(f64),
}

trait Naive: Real {
    fn widen(self) -> Wide;
    fn narrow(wide: Wide) -> Self;
}

macro_rules! naive {
    (integers: $($integer:ty)*) => {$(
        impl Naive for $integer {
            fn widen(self) -> Wide {
                Wide::Integer(self.into())
            }

            fn narrow(wide: Wide) -> Self {
                match wide {
                    Wide::Integer(x) => x as $integer,
                    Wide::Float(x) => x as $integer,
                }
            }
        }
    )*};
    (floats: $($float:ty: $narrow:expr;)*) => {$(
        impl Naive for $float {
            fn widen(self) -> Wide {
                Wide::Float(self.into())
            }

            fn narrow(wide: Wide) -> Self {
                match wide {
                    Wide::Integer(x) => $narrow(x as f64),
                    Wide::Float(x) => $narrow(x),
                }
            }
        }
    )*};
}

naive! { integers: i8 i16 i32 i64 u8 u16 u32 u64 }
naive! { floats: f64: f64::from; f16: f16::from_f64; bf16: bf16::from_f64; }

impl Naive for f32 {
    fn widen(self) -> Wide {
        Wide::Float(self.into())
    }

    fn narrow(wide: Wide) -> Self {
        match wide {
            Wide::Integer(x) => x as f32,
            Wide::Float(x) => x as f32,
        }
    }
}

impl Naive for Bool8 {
    fn widen(self) -> Wide {
        Wide::Integer(self.is_true().into())
    }

    fn narrow(wide: Wide) -> Self {
        Bool8::from(match wide {
            Wide::Integer(x) => x != 0,
            Wide::Float(x) => x != 0.0,
        })
    }
}

/// Values that each type's neighbours cannot hold. Integers stay below 2^11 in magnitude where a
/// rounding to f16 or bf16 through f64 could differ from a single one.
fn values<T: Samples>(moderate: fn(u8) -> T) -> Vec<T> {
    let extreme = T::samples(10);
    (0..MEMORY).map(|i| if i % 3 == 0 { moderate(i as u8) } else { extreme[i] }).collect()
}

fn check_cast<T: Naive, U: Naive>(memory: &[T]) {
    for a in inputs(memory) {
        let expected: Vec<U> = a.iter().map(|x| U::narrow(x.widen())).collect();
        let what = format!("cast of {} to {}", T::DTYPE, U::DTYPE);
        assert_same(&ops::cast::<U, T>(a).unwrap().to_vec(), &expected, &what);
        let filler = expected[0];
        if !is_nan(&filler) {
            outputs(
                filler,
                |out| ops::cast_into(a, out).unwrap(),
                |got| assert_same(&got, &expected, &what),
            );
        }
    }
}

macro_rules! check_casts {
    ($($test:ident: $from:ty, $memory:expr;)*) => {$(
        #[test]
        fn $test() {
            let memory: Vec<$from> = $memory;
            check_cast::<$from, f64>(&memory);
            check_cast::<$from, f32>(&memory);
            check_cast::<$from, f16>(&memory);
            check_cast::<$from, bf16>(&memory);
            check_cast::<$from, i8>(&memory);
            check_cast::<$from, i16>(&memory);
            check_cast::<$from, i32>(&memory);
            check_cast::<$from, i64>(&memory);
            check_cast::<$from, u8>(&memory);
            check_cast::<$from, u16>(&memory);
            check_cast::<$from, u32>(&memory);
            check_cast::<$from, u64>(&memory);
            check_cast::<$from, Bool8>(&memory);
        }
    )*};
}

check_casts! {
    f64_casts: f64, values(|x| f64::from(x) * 1e3 - 1e4);
    f32_casts: f32, values(|x| f32::from(x) * 1e3 - 1e4);
    f16_casts: f16, values(|x| f16::from(x) * f16::from_f32(1e3));
    bf16_casts: bf16, values(|x| bf16::from(x) * bf16::from_f32(-1e3));
    i8_casts: i8, values(|x| x as i8);
    i16_casts: i16, values(|x| i16::from(x) - 100);
    i32_casts: i32, values(|x| i32::from(x) - 100);
    i64_casts: i64, values(|x| i64::from(x) - 100);
    u8_casts: u8, values(|x| x);
    u16_casts: u16, values(u16::from);
    u32_casts: u32, values(u32::from);
    u64_casts: u64, values(u64::from);
    bool8_casts: Bool8, values::<u8>(|x| x % 2).iter().map(|x| Bool8::from_byte(*x)).collect();
}

#[test]
fn casts_round_once() {
    // Through f32 each of these would first meet the tie and then go to the even neighbour below.
    let above_tie = 1.0 + f64::EPSILON + 1.0 / 2048.0;
    assert_eq!(ops::cast::<f16, f64>(&[above_tie]).unwrap().to_vec(), [f16::from_bits(0x3c01)]);
    let above_tie = 1.0 + f64::EPSILON + 1.0 / 256.0;
    assert_eq!(ops::cast::<bf16, f64>(&[above_tie]).unwrap().to_vec(), [bf16::from_bits(0x3f81)]);
    let above_tie = (1_i64 << 60) + (1 << 52) + 1;
    assert_eq!(ops::cast::<bf16, i64>(&[above_tie]).unwrap().to_vec(), [bf16::from_bits(0x5d81)]);
}

fn check_copy<T: Element>(memory: &[T]) {
    for a in inputs(memory) {
        let expected = a.to_vec();
        let what = format!("copy of {}", T::DTYPE);
        outputs(
            memory[0],
            |out| ops::copy_into(a, out).unwrap(),
            |got| assert_same(&got, &expected, &what),
        );
    }
    let everywhere = vec![memory[3]; 12];
    outputs(
        memory[0],
        |out| ops::fill(out, memory[3]).unwrap(),
        |got| assert_same(&got, &everywhere, "fill"),
    );
}

#[test]
fn every_dtype_moves() {
    let numbers = || (0..MEMORY).map(|i| i as u8);
    check_copy(&numbers().map(f64::from).collect::<Vec<_>>());
    check_copy(&numbers().map(f32::from).collect::<Vec<_>>());
    check_copy(&numbers().map(f16::from).collect::<Vec<_>>());
    check_copy(&numbers().map(bf16::from).collect::<Vec<_>>());
    check_copy(&numbers().map(|x| x as i8).collect::<Vec<_>>());
    check_copy(&numbers().map(i16::from).collect::<Vec<_>>());
    check_copy(&numbers().map(i32::from).collect::<Vec<_>>());
    check_copy(&numbers().map(i64::from).collect::<Vec<_>>());
    check_copy(&numbers().collect::<Vec<_>>());
    check_copy(&numbers().map(u16::from).collect::<Vec<_>>());
    check_copy(&numbers().map(u32::from).collect::<Vec<_>>());
    check_copy(&numbers().map(u64::from).collect::<Vec<_>>());
    check_copy(&numbers().map(|x| Complex::new(f32::from(x), -1.0)).collect::<Vec<_>>());
    check_copy(&numbers().map(|x| Complex::new(f64::from(x), -1.0)).collect::<Vec<_>>());
}

#[test]
fn bool8_is_written_as_0_or_1() {
    let lent = [0, 1, 2, 255].map(Bool8::from_byte);
    let mut out = [Bool8::TRUE; 4];
    ops::copy_into(&lent, &mut out).unwrap();
    assert_eq!(out.map(Bool8::to_byte), [0, 1, 1, 1]);
    ops::cast_into(&[0.0, -0.0, 0.5, f64::NAN], &mut out).unwrap();
    assert_eq!(out.map(Bool8::to_byte), [0, 0, 1, 1]);
    ops::fill(&mut out, Bool8::from_byte(2)).unwrap();
    assert_eq!(out.map(Bool8::to_byte), [1; 4]);
    ops::select_into(&lent, Bool8::from_byte(4), &lent, &mut out).unwrap();
    assert_eq!(out.map(Bool8::to_byte), [0, 1, 1, 1]);
    assert_eq!(ops::cast::<u8, _>(&lent).unwrap().to_vec(), [0, 1, 1, 1]);
}
