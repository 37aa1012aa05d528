//! Every row of the table of operations, as a value of a graph and as a function.

use super::*;
use tenure_sys::{
    for_each_binary, for_each_compare, for_each_reduce, for_each_ternary, for_each_unary,
};

macro_rules! unary {
    ($($op:ident $name:literal $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $a:literal => $result:literal;)*) => {$(
        #[test]
        fn $new() {
            fn of<$($generic)*>() where $in: Sample, output!($in $out): Sample {
                let program = Program::trace(|graph| {
                    let a = graph.input::<$in>((graph.extent("n", 100), graph.extent("m", 100)));
                    graph.program((a,), a.$new())
                });
                let (program, random) = (program.unwrap(), &mut Random::new(1));
                let a = tensor(random, [5, 37], <$in>::any);
                assert_same(&program.run((&a,)), &tenure::$module::$new(&a), $name);
                let turned = a.t();
                assert_same(&program.run((&turned,)), &tenure::$module::$new(turned), $name);
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
                let program = Program::trace(|graph| {
                    let (n, m) = (graph.extent("n", 100), graph.extent("m", 100));
                    let (a, b) = (graph.input::<$in>((n, m)), graph.input::<$in>(m));
                    graph.program((a, b), a.$new(b))
                });
                let (program, random) = (program.unwrap(), &mut Random::new(2));
                let a = tensor(random, [5, 37], <$in>::any);
                let b = tensor(random, [37], |random| match <$in>::DTYPE.to_dlpack().0 {
                    2 | 4 => <$in>::any(random),
                    _ => <$in>::small(random),
                });
                assert_same(&program.run((&a, &b)), &tenure::ops::$new(&a, &b), $name);
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
                let program = Program::trace(|graph| {
                    let [a, b] = [0; 2].map(|_| graph.input::<$in>([5, 37]));
                    let c = graph.input::<$in>([5, 1]);
                    graph.program((a, b, c), a.$new(b, c))
                });
                let (program, random) = (program.unwrap(), &mut Random::new(3));
                let [a, b] = [0; 2].map(|_| tensor(random, [5, 37], <$in>::any));
                let c = tensor(random, [5, 1], <$in>::any);
                assert_same(&program.run((&a, &b, &c)), &tenure::ops::$new(&a, &b, &c), $name);
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
                let program = Program::trace(|graph| {
                    let (a, b) = (graph.input::<T>([5, 37]), graph.input::<T>([37]));
                    graph.program((a, b), a.$new(b))
                });
                let (program, random) = (program.unwrap(), &mut Random::new(4));
                let (a, b) = (tensor(random, [5, 37], T::any), tensor(random, [37], T::any));
                assert_same(&program.run((&a, &b)), &tenure::ops::$new(&a, &b), $name);
            }
            over!([T: $bound] of);
        }
    )*};
}
for_each_compare!(compare);

#[test]
fn select_and_cast() {
    fn of<T: Real + Sample>() {
        let program = Program::trace(|graph| {
            let (a, b) = (graph.input::<T>([5, 37]), graph.input::<T>([37]));
            let condition = graph.input::<Bool8>([5, 1]);
            let chosen = condition.select(a, b);
            let outputs = (chosen, chosen.cast::<f64>(), chosen.cast::<u8>());
            graph.program((a, b, condition), outputs)
        });
        let (program, random) = (program.unwrap(), &mut Random::new(5));
        let (a, b) = (tensor(random, [5, 37], T::any), tensor(random, [37], T::any));
        let condition = tensor(random, [5, 1], Bool8::any);
        let (chosen, double, byte) = program.run((&a, &b, &condition)).unwrap();
        assert_same(&tenure::ops::cast(&chosen), &Ok(double), "a cast");
        assert_same(&tenure::ops::cast(&chosen), &Ok(byte), "a cast");
        assert_same(&Ok(chosen), &tenure::ops::select(&condition, &a, &b), "select");
    }
    over!([T: Real] of);
}

macro_rules! over_axes {
    ($module:ident $name:ident($($argument:expr)?)) => {
        #[test]
        fn $name() {
            for axes in [Axes::from(0), 1.into(), (-1).into(), (..).into(), Axes::keep(2)] {
                let program = Program::trace(|graph| {
                    let a = graph.input::<f32>((graph.extent("n", 100), 6, 7));
                    graph.program((a,), a.$name(axes $(, $argument)?))
                });
                let a = floats(6, [9, 6, 7]);
                let expected = tenure::$module::$name(&a, axes $(, $argument)?);
                assert_same(&program.unwrap().run((&a,)), &expected, stringify!($name));
            }
        }
    };
}
macro_rules! reductions {
    ($($op:ident $name:literal: $new:ident, $into:ident, [$($generic:tt)*] => $result_type:ty
        $(, [$field:ident: $field_type:ty])?; $what:literal, errors $also:literal,
        example $a:literal, $arguments:literal => $result:literal;)*) => {$(
        over_axes! { ops $new($(given!($field))?) }
    )*};
}
for_each_reduce!(reductions);
over_axes! { nn softmax() }
over_axes! { nn log_softmax() }

macro_rules! scans {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let program = Program::trace(|graph| {
                let a = graph.input::<i32>([5, 6]);
                graph.program((a,), a.$name(-1))
            });
            let a = tensor(&mut Random::new(7), [5, 6], i32::any);
            assert_same(&program.unwrap().run((&a,)), &tenure::ops::$name(&a, -1), stringify!($name));
        }
    )*};
}
scans! { cumsum cumprod cummin cummax }

#[test]
fn operators_and_numbers_on_both_sides() {
    let (a, b) = (tensor(&mut Random::new(8), [40], f32::small), floats(9, [40]));
    let program = Program::trace(|graph| {
        let (a, b) = (graph.input::<f32>([40]), graph.input([40]));
        graph.program((a, b), [a + b, a - 1.5, 2.0 * b, 1.0 / a, a % 3.0, -b])
    });
    let got = program.unwrap().run((&a, &b)).unwrap();
    let expected = [
        (&a + &b).eval(),
        (&a - 1.5).eval(),
        (2.0 * &b).eval(),
        (1.0 / &a).eval(),
        (&a % 3.0).eval(),
        (-&b).eval(),
    ];
    for (got, expected) in got.into_iter().zip(&expected) {
        assert_same(&Ok(got), expected, "an operator");
    }

    let (x, y) = (Tensor::from([0b0110_u8, 0b0101]), Tensor::from([1_u8, 3]));
    let program = Program::trace(|graph| {
        let (x, y) = (graph.input::<u8>([2]), graph.input([2]));
        graph.program((x, y), vec![x & y, x | 8, x ^ y, !x, x << 1, x >> y, 1 << y])
    });
    let got = program.unwrap().run((&x, &y)).unwrap();
    let rows: Vec<_> = got.iter().map(|row| row.to_vec()).collect();
    assert_eq!(rows, [[0, 1], [14, 13], [7, 6], [249, 250], [12, 10], [3, 0], [2, 8]]);
}

#[test]
fn short_names_of_comparisons() {
    let program = Program::trace(|graph| {
        let x = graph.input::<i32>([3]);
        graph.program((x,), [x.eq(2), x.ne(2), x.lt(2), x.le(2), x.gt(2), x.ge(2)])
    });
    let got = program.unwrap().run((&[1, 2, 3],)).unwrap();
    let truths = got.map(|truth| truth.iter().map(|bit| bit.is_true()).collect::<Vec<_>>());
    let [t, f] = [true, false];
    let expected = [[f, t, f], [t, f, t], [t, f, f], [t, t, f], [f, f, t], [f, t, t]];
    assert_eq!(truths, expected.map(Vec::from));
}
