//! Comparisons and select.

use tenure::ops::*;
use tenure::*;

use crate::layouts::{Samples, assert_same, inputs, outputs};

fn check<T: Samples + Real + PartialOrd>(equal_elements: bool) {
    let a_memory = T::samples(5);
    let b_memory = if equal_elements { a_memory.clone() } else { T::samples(6) };
    macro_rules! each {
        ($($new:ident $into:ident => $naive:tt;)*) => {$(
            for a in inputs(&a_memory) {
                for b in inputs(&b_memory) {
                    let expected: Vec<Bool8> =
                        a.iter().zip(b.iter()).map(|(x, y)| Bool8::from(x $naive y)).collect();
                    let what = format!("{} of {}", stringify!($new), T::DTYPE);
                    assert_same(&$new(a, b).unwrap().to_vec(), &expected, &what);
                    let into = |out: &mut TensorViewMut<'_, Bool8>| $into(a, b, out).unwrap();
                    outputs(Bool8::TRUE, into, |got| assert_same(&got, &expected, &what));
                }
            }
        )*};
    }
    each! {
        eq eq_into => ==;
        ne ne_into => !=;
        lt lt_into => <;
        le le_into => <=;
        gt gt_into => >;
        ge ge_into => >=;
    }
}

macro_rules! check_types {
    ($($test:ident: $type:ty;)*) => {$(
        #[test]
        fn $test() {
            check::<$type>(true);
            check::<$type>(false);
        }
    )*};
}

check_types! {
    f64_compares: f64;
    f32_compares: f32;
    f16_compares: f16;
    bf16_compares: bf16;
    i8_compares: i8;
    i16_compares: i16;
    i32_compares: i32;
    i64_compares: i64;
    u8_compares: u8;
    u16_compares: u16;
    u32_compares: u32;
    u64_compares: u64;
}

#[test]
fn bool8_compares_truth_and_not_bytes() {
    let a = [0, 1, 2, 255].map(Bool8::from_byte);
    let b = [2, 2, 0, 1].map(Bool8::from_byte);
    let bytes = |tensor: Tensor<Bool8>| tensor.to_vec().iter().map(|x| x.to_byte()).collect();
    let equal: Vec<u8> = bytes(eq(&a, &b).unwrap());
    assert_eq!(equal, [0, 1, 0, 1]);
    let less: Vec<u8> = bytes(lt(&a, &b).unwrap());
    assert_eq!(less, [1, 0, 0, 0]);
    let greater_equal: Vec<u8> = bytes(ge(&a, &b).unwrap());
    assert_eq!(greater_equal, [0, 1, 1, 1]);
}

fn check_select<T: Samples>() {
    let (a_memory, b_memory) = (T::samples(7), T::samples(8));
    let truth: Vec<Bool8> =
        i32::samples(9).iter().map(|x| Bool8::from_byte(*x as u8 & 3)).collect();
    for condition in inputs(&truth) {
        for a in inputs(&a_memory) {
            for b in inputs(&b_memory) {
                let choose = |((c, a), b): ((&Bool8, &T), &T)| if c.is_true() { *a } else { *b };
                let expected: Vec<T> =
                    condition.iter().zip(a.iter()).zip(b.iter()).map(choose).collect();
                let what = format!("select of {}", T::DTYPE);
                assert_same(&select(condition, a, b).unwrap().to_vec(), &expected, &what);
                let into =
                    |out: &mut TensorViewMut<'_, T>| select_into(condition, a, b, out).unwrap();
                outputs(a_memory[0], into, |got| assert_same(&got, &expected, &what));
            }
        }
    }
}

#[test]
fn select_takes_every_width() {
    check_select::<u8>();
    check_select::<f16>();
    check_select::<f32>();
    check_select::<i64>();
    let complex = [Complex::new(1.0, 2.0), Complex::new(3.0, 4.0)];
    let condition = [Bool8::FALSE, Bool8::from_byte(2)];
    let chosen = select(&condition, &complex, Complex::new(0.0, 0.0)).unwrap();
    assert_eq!(chosen.to_vec(), [Complex::new(0.0, 0.0), Complex::new(3.0, 4.0)]);
}
