//! Every row of the table of operations, as a method and as a function.

use super::*;
use tenure_sys::{
    for_each_binary, for_each_compare, for_each_reduce_of_reals, for_each_ternary, for_each_unary,
};

macro_rules! unary {
    ($($op:ident $name:literal $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $a:literal => $result:literal;)*) => {$(
        #[test]
        fn $new() {
            fn of<$($generic)*>() where $in: Sample, output!($in $out): Sample {
                let random = &mut Random::new(1);
                let a = tensor(random, [5, 37], <$in>::any);
                let expected = tenure::$module::$new(&a);
                assert_same(&a.expr().$new().eval(), &expected, $name);
                let turned = a.t();
                assert_same(&turned.expr().$new().eval(), &tenure::$module::$new(turned), $name);
                let mut out = expected.unwrap();
                let mut into = Tensor::<output!($in $out)>::zeros([2, 5, 37]).unwrap();
                a.expr().$new().eval_into(&mut into).unwrap();
                assert_same(&into.index(0, 1).unwrap().to_tensor(), &out.try_clone(), $name);
                a.expr().$new().eval_into(&mut out).unwrap();
                assert_same(&Ok(out), &into.index(0, 0).unwrap().to_tensor(), $name);
            }
            over!([$($generic)*] of);
        }
    )*};
}
for_each_unary!(unary);

macro_rules! binary {
    ($($op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $a:literal, $b:literal => $result:literal;)*) => {$(
        #[test]
        fn $new() {
            fn of<$($generic)*>() where $in: Sample, $out: Sample {
                let random = &mut Random::new(2);
                let a = tensor(random, [5, 37], <$in>::any);
                let right = |random: &mut Random| match <$in>::DTYPE.to_dlpack().0 {
                    2 | 4 => <$in>::any(random),
                    _ => <$in>::small(random),
                };
                let (b, row) = (tensor(random, [5, 37], right), tensor(random, [37], right));
                let one = row[[0]];
                assert_same(&a.expr().$new(&b).eval(), &tenure::ops::$new(&a, &b), $name);
                assert_same(&a.expr().$new(&row).eval(), &tenure::ops::$new(&a, &row), $name);
                let by_value = Expr::from(row.view());
                assert_same(&a.expr().$new(by_value).eval(), &tenure::ops::$new(&a, &row), $name);
                let full = Tensor::full([1], one).unwrap();
                assert_same(&a.expr().$new(&[one]).eval(), &tenure::ops::$new(&a, full), $name);
                let (a, b) = (a.t(), b.t());
                assert_same(&a.expr().$new(&b).eval(), &tenure::ops::$new(a, b), $name);
            }
            over!([$($generic)*] of);
        }
    )*};
}
for_each_binary!(binary);

macro_rules! ternary {
    ($($op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $a:literal, $b:literal, $c:literal => $result:literal;)*) => {$(
        #[test]
        fn $new() {
            fn of<$($generic)*>() where $in: Sample, $out: Sample {
                let random = &mut Random::new(3);
                let [a, b] = [0; 2].map(|_| tensor(random, [5, 37], <$in>::any));
                let c = tensor(random, [5, 1], <$in>::any);
                assert_same(&a.expr().$new(&b, &c).eval(), &tenure::ops::$new(&a, &b, &c), $name);
                let (low, high) = (b.index(0, 2).unwrap(), &[c[[1, 0]]]);
                assert_same(&a.expr().$new(&low, high).eval(), &tenure::ops::$new(&a, low, high), $name);
            }
            over!([$($generic)*] of);
        }
    )*};
}
for_each_ternary!(ternary);

macro_rules! compare {
    ($($op:ident $name:literal: $new:ident, $into:ident, $bound:ident;
        $what:literal => $result:literal;)*) => {$(
        #[test]
        fn $new() {
            fn of<T: $bound + Sample>() {
                let random = &mut Random::new(4);
                let (a, b) = (tensor(random, [5, 37], T::any), tensor(random, [37], T::any));
                assert_same(&a.expr().$new(&b).eval(), &tenure::ops::$new(&a, &b), $name);
                let a = a.t();
                assert_same(&a.expr().$new(&[b[[0]]]).eval(), &tenure::ops::$new(a, &[b[[0]]]), $name);
            }
            over!([T: $bound] of);
        }
    )*};
}
for_each_compare!(compare);

#[test]
fn select() {
    fn of<T: Element + Sample>() {
        let random = &mut Random::new(5);
        let (a, b) = (tensor(random, [5, 37], T::any), tensor(random, [37], T::any));
        let condition = tensor(random, [5, 1], Bool8::any);
        let got = condition.expr().select(&a, &b).eval();
        assert_same(&got, &tenure::ops::select(&condition, &a, &b), "select");
    }
    over!([T: Real] of);
}

#[test]
fn cast() {
    fn to<T: Real + Sample, U: Real + Sample>() {
        let a = tensor(&mut Random::new(6), [5, 37], T::any);
        assert_same(&a.expr().cast::<U>().eval(), &tenure::ops::cast(&a), "cast");
        assert_same(&a.t().expr().cast::<U>().eval(), &tenure::ops::cast(a.t()), "cast");
    }
    fn of<T: Real + Sample>() {
        over!([U: Real] to from T);
    }
    over!([T: Real] of);
}

/// Truth values have no sums, nor opposites.
macro_rules! numbers {
    ([T: Real] $of:ident) => {
        over!([T: Number] $of)
    };
    ([$($generic:tt)*] $of:ident) => {
        over!([$($generic)*] $of)
    };
}

/// Reductions as the last operation and amid others, of an expression and of a view.
macro_rules! reductions {
    ($($op:ident $name:literal: $new:ident, $into:ident, [$($generic:tt)*] => $result_type:ty
        $(, [$field:ident: $field_type:ty])?; $what:literal, errors $also:literal,
        example $a:literal, $arguments:literal => $result:literal;)*) => {$(
        #[test]
        fn $new() {
            #[allow(clippy::multiple_bound_locations, reason = "some come from the row")]
            fn of<$($generic)*>() where T: Real + Number + Sample, T::Sum: Sample {
                let a = tensor(&mut Random::new(7), [4, 19, 37], T::small);
                let negated = tenure::ops::neg(&a).unwrap();
                for axes in [Axes::from(0), Axes::from(1), Axes::from(-1), Axes::keep(-1)] {
                    let expected = tenure::ops::$new(&negated, axes $(, given!($field))?);
                    let got = (-&a).$new(axes $(, given!($field))?).eval();
                    assert_same(&got, &expected, stringify!($new));
                    let last = a.expr().$new(axes $(, given!($field))?);
                    let plain = tenure::ops::$new(&a, axes $(, given!($field))?);
                    assert_same(&last.eval(), &plain, stringify!($new));
                    let mut out = Tensor::zeros(plain.as_ref().unwrap().shape()).unwrap();
                    last.eval_into(&mut out).unwrap();
                    assert_same(&Ok(out), &plain, stringify!($new));
                }
            }
            numbers!([$($generic)*] of);
        }
    )*};
}

for_each_reduce_of_reals!(reductions);

macro_rules! normalizations {
    ($($new:ident $(($with:expr))?;)*) => {$(
        #[test]
        fn $new() {
            fn of<T: Float + Sample>() {
                let random = &mut Random::new(8);
                let a = tensor(random, [3, 5, 37], T::small);
                let weight = tensor(random, [37], T::small);
                let _ = &weight;
                for axes in [Axes::from(-1), Axes::from(1)] {
                    let _by = if axes == Axes::from(-1) { Some(&weight) } else { None };
                    let negated = tenure::ops::neg(&a).unwrap();
                    let expected = tenure::nn::$new(&negated, axes $(, $with(_by))?);
                    let got = (-&a).$new(axes $(, $with(_by))?).eval();
                    assert_same(&got, &expected, stringify!($new));
                    let mut out = a.try_clone().unwrap();
                    out.update(|x| (-x).$new(axes $(, $with(_by))?)).unwrap();
                    assert_same(&Ok(out), &expected, stringify!($new));
                }
            }
            over!([T: Float] of);
        }
    )*};
}

fn by<T: Float>(weight: Option<&Tensor<T>>) -> LayerNorm<'_, T> {
    match weight {
        Some(weight) => LayerNorm::new().weight(weight).eps(0.5),
        None => LayerNorm::new(),
    }
}
fn with_bias<T: Float>(weight: Option<&Tensor<T>>) -> LayerNorm<'_, T> {
    match weight {
        Some(weight) => by(Some(weight)).bias(weight),
        None => by(None),
    }
}

normalizations! {
    softmax;
    log_softmax;
    layer_norm (with_bias);
    rms_norm (by);
}
