//! Tensors by a rule, and from Rust's own collections; equality; walks by reference.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::split_mix::Random;
use tenure::{
    Complex, ErrorKind, Order, Tensor, TensorView, TensorViewMut, Tenure, bf16, f16, ops::meshgrid,
};

#[test]
fn sequences_end_before_their_end() {
    assert_eq!(Tensor::arange(0..0).unwrap().shape(), [0]);
    let (start, end) = (3, 1);
    assert_eq!(Tensor::arange(start..end).unwrap().len(), 0);
    assert_eq!(Tensor::arange(-2..2_i64).unwrap(), [-2, -1, 0, 1]);
    assert_eq!(Tensor::arange_step(0, 7, 3).unwrap(), [0, 3, 6]);
    assert_eq!(Tensor::arange_step(0, 6, 3).unwrap(), [0, 3]);
    assert_eq!(Tensor::arange_step(5, 0, -2).unwrap(), [5, 3, 1]);
    assert_eq!(Tensor::arange_step(0_u8, 255, 100).unwrap(), [0, 100, 200]);
    let most = Tensor::arange(i8::MIN..i8::MAX).unwrap();
    assert_eq!((most.len(), most[[0]], most[[254]]), (255, i8::MIN, i8::MAX - 1));
    assert_eq!(Tensor::arange_step(0.0_f32, 1.0, 0.25).unwrap(), [0.0, 0.25, 0.5, 0.75]);
    let halves = Tensor::arange_step(f16::ZERO, f16::ONE, f16::from_f32(0.5)).unwrap();
    assert_eq!(halves, [f16::ZERO, f16::from_f32(0.5)]);
    // Each is rounded once, and not a sum of rounded steps.
    let tenths = Tensor::arange_step(0.0_f32, 100.0, 0.1).unwrap();
    assert!(tenths.iter().zip(0..).all(|(&x, nth)| x == (0.1_f32 as f64 * nth as f64) as f32));
    // (1.3 - 1) / 0.1 is more than 3 in f64, but the fourth number is 1.3.
    assert_eq!(Tensor::arange_step(1.0, 1.3, 0.1).unwrap(), [1.0, 1.1, 1.2]);
    assert_eq!(Tensor::arange_step(-f64::MAX, f64::MAX, 1e308).unwrap().len(), 4);
}

/// The numbers before the end, and no fewer, of any step.
#[test]
fn sequences_have_all_numbers_before_their_end() {
    let mut random = Random::new(3);
    for _ in 0..500 {
        let [start, step] = [(); 2].map(|()| random.below(2000) as f64 / 64.0 / 3.0 - 5.0);
        if step == 0.0 {
            continue;
        }
        // Often one of the numbers.
        let nth = random.below(40) as f64;
        let end = step.mul_add(nth, start) + step * [0.0, 0.0, 0.25][random.below(3)];
        let numbers = Tensor::arange_step(start, end, step).unwrap();
        let before = |number: f64| if step > 0.0 { number < end } else { number > end };
        assert!(numbers.iter().all(|number| before(*number)), "{start} {end} {step}");
        assert!(!before(step.mul_add(numbers.len() as f64, start)), "{start} {end} {step}");
        let [start, end, step] = [start, end, step].map(f16::from_f64);
        let numbers = Tensor::arange_step(start, end, step).unwrap();
        let before = |number: f16| if step > f16::ZERO { number < end } else { number > end };
        assert!(numbers.iter().all(|number| before(*number)), "{start} {end} {step}");
    }
}

#[test]
fn sequences_without_an_end_are_refused() {
    let error = Tensor::arange_step(0, 4, 0).err().unwrap();
    assert_eq!(
        error.message(),
        "no steps of 0 lead from 0 to 4: a step is not 0, and all three are finite"
    );
    assert!(Tensor::arange(0.0..f64::INFINITY).is_err());
    assert!(Tensor::arange(f32::NAN..1.0).is_err());
    assert!(Tensor::arange_step(0.0, 1.0, 0.0).is_err());
    let kind = |tensor: tenure::Result<Tensor<f64>>| tensor.err().map(|error| error.kind());
    assert_eq!(kind(Tensor::arange(-f64::MAX..f64::MAX)), Some(ErrorKind::InvalidArgument));
    assert!(Tensor::arange(0..i64::MAX).is_err());
}

#[test]
fn spaces_have_both_ends() {
    assert_eq!(Tensor::linspace(0.0, 1.0, 0).unwrap().len(), 0);
    assert_eq!(Tensor::linspace(3.0, 1.0, 1).unwrap(), [3.0]);
    assert_eq!(Tensor::linspace(1.0_f32, -1.0, 3).unwrap(), [1.0, 0.0, -1.0]);
    let wide = Tensor::linspace(-f64::MAX, f64::MAX, 3).unwrap();
    assert_eq!(wide, [-f64::MAX, 0.0, f64::MAX]);
    let third = Tensor::linspace(bf16::ZERO, bf16::ONE, 4).unwrap();
    assert_eq!((third[[0]], third[[3]]), (bf16::ZERO, bf16::ONE));
    let fine = Tensor::linspace(0.1, 0.7, 1001).unwrap();
    assert!(fine.as_slice().unwrap().is_sorted() && fine[[1000]] == 0.7);
    let endless = Tensor::linspace(1.0, f64::INFINITY, 3).unwrap();
    assert_eq!(endless, [1.0, f64::INFINITY, f64::INFINITY]);
}

/// Each number between two integers is the nearest one to the exact fraction.
#[test]
fn spaces_are_exact_but_for_one_rounding() {
    const UNIT: u32 = 62;
    let exact = |x: f64| {
        let (bits, exponent) = (x.to_bits(), (x.to_bits() >> 52 & 0x7ff) as i32);
        let digits = i128::from(bits & ((1 << 52) - 1) | u64::from(exponent > 0) << 52);
        let places = exponent.max(1) - 1075 + UNIT as i32;
        // Numbers here are multiples of 2^-62, or 0.
        let magnitude = if x == 0.0 { 0 } else { digits << places };
        if x < 0.0 { -magnitude } else { magnitude }
    };
    let mut random = Random::new(7);
    let mut check =
        |bits: u32, neighbours: fn(f64) -> [f64; 2], space: fn([f64; 2], usize) -> Vec<f64>| {
            for _ in 0..300 {
                let mut end = || (random.next() >> (64 - bits)) as i64 - (1 << (bits - 1));
                let ends = [end(), end()];
                let steps = 1 + random.below(600);
                let numbers = space(ends.map(|end| end as f64), steps + 1);
                for (nth, number) in numbers.into_iter().enumerate() {
                    let [from, to] = ends.map(i128::from);
                    let wanted = (from * (steps - nth) as i128 + to * nth as i128) << UNIT;
                    let error = |x: f64| (exact(x) * steps as i128 - wanted).abs();
                    let nearest = neighbours(number).into_iter().all(|x| error(number) <= error(x));
                    assert!(nearest, "{number} is number {nth} of {ends:?} in {steps} steps");
                }
            }
        };
    check(
        40,
        |x| [x.next_down(), x.next_up()],
        |[from, to], count| Tensor::linspace(from, to, count).unwrap().to_vec(),
    );
    check(
        24,
        |x| [(x as f32).next_down().into(), (x as f32).next_up().into()],
        |[from, to], count| {
            let numbers = Tensor::linspace(from as f32, to as f32, count).unwrap();
            numbers.iter().map(|x| f64::from(*x)).collect()
        },
    );
    check(
        11,
        |x| {
            let bits = f16::from_f64(x).to_bits();
            let [below, above] = [bits - (bits & 0x7fff).min(1), bits + 1];
            [below, above].map(|bits| f16::from_bits(bits).to_f64())
        },
        |[from, to], count| {
            let numbers = Tensor::linspace(f16::from_f64(from), f16::from_f64(to), count);
            numbers.unwrap().iter().map(|x| x.to_f64()).collect()
        },
    );
    assert_eq!(
        Tensor::linspace(0.0, 22.0, 23).unwrap().to_vec(),
        Vec::from_iter((0..23).map(f64::from))
    );
}

/// Ends of any size: equal ends give a constant, numbers are monotone, and exchanged ends, other
/// signs and powers of two give the same numbers in reverse order, with other signs, and scaled.
#[test]
fn spaces_are_symmetric_and_rise() {
    fn check(ends: [f64; 2], count: usize) {
        let [from, to] = ends;
        let numbers = |from, to| Tensor::linspace(from, to, count).unwrap().to_vec();
        let space = numbers(from, to);
        assert_eq!([space[0], space[count - 1]], ends);
        let goes_on =
            |pair: &[f64]| if from <= to { pair[0] <= pair[1] } else { pair[0] >= pair[1] };
        assert!(space.windows(2).all(goes_on), "{ends:?} {count}");
        let bits = from.to_bits();
        let is_constant = space.iter().all(|x| x.to_bits() == bits);
        assert!(is_constant || bits != to.to_bits(), "{from} {count}");
        let mut back = numbers(to, from);
        back.reverse();
        assert_eq!(space, back);
        let negative = numbers(-from, -to);
        assert!(space.iter().zip(negative).all(|(x, y)| *x == -y), "{ends:?} {count}");
        if ends.iter().all(|end| (1e-100..1e250).contains(&end.abs())) {
            let factor = 2.0_f64.powi(190);
            let larger = numbers(from * factor, to * factor);
            assert!(space.iter().zip(larger).all(|(x, y)| x * factor == y), "{ends:?} {count}");
        }
        let space = Tensor::linspace(from as f32, to as f32, count).unwrap().to_vec();
        let goes_on =
            |pair: &[f32]| if from <= to { pair[0] <= pair[1] } else { pair[0] >= pair[1] };
        assert!(
            !space[0].is_finite() || !space[count - 1].is_finite() || space.windows(2).all(goes_on)
        );
    }
    let special = [0.0, -0.0, 1.0, 5.0, -0.1, 1.7e308, -1.7e308, f64::MAX, 5e-324, -3e-310, 2e-308];
    for (from, to) in special.into_iter().flat_map(|from| special.map(|to| (from, to))) {
        for count in [2, 3, 50, 64, 101] {
            check([from, to], count);
        }
    }
    let mut random = Random::new(11);
    for _ in 0..400 {
        let mut end = || f64::from_bits(random.next());
        let (from, to) = (end(), end());
        let near = f64::from_bits(from.to_bits() ^ random.next() >> 40);
        for to in [to, near, from] {
            if from.is_finite() && to.is_finite() {
                check([from, to], 2 + random.below(90));
            }
        }
    }
}

#[test]
fn functions_of_the_index_see_each_once_in_order() {
    let mut seen = Vec::new();
    let cube = Tensor::from_fn([2, 1, 3], |index| {
        seen.push(index);
        seen.len() as i32
    });
    assert_eq!(seen, [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 0, 1], [1, 0, 2]]);
    assert_eq!(cube.unwrap(), [[[1, 2, 3]], [[4, 5, 6]]]);
    assert_eq!(Tensor::from_fn([], |[]| 7_u8).unwrap().item(), Some(7));
    assert!(Tensor::from_fn([2, 0], |_| -> f32 { panic!("there is no element") }).is_ok());
    assert!(Tensor::from_fn([usize::MAX, 2], |_| -> f32 { panic!("nor is there one") }).is_err());
    assert!(Tensor::from_fn([1; 9], |_| -> f32 { panic!("nor here") }).is_err());
    assert!(catch_unwind(|| Tensor::from_fn([3], |[at]| 1 / (1 - at as i32))).is_err());
}

#[test]
fn the_identity_is_one_on_its_diagonal() {
    assert_eq!(Tensor::<u8>::eye(3).unwrap(), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
    assert_eq!(Tensor::<f16>::eye(0).unwrap().shape(), [0, 0]);
    assert!(Tensor::<f64>::eye(1 << 40).is_err());
    assert_eq!(Tensor::<bf16>::ones([2]).unwrap(), [bf16::ONE; 2]);
}

#[test]
fn grids_are_views_of_their_axes() {
    let (x, y, z) = (vec![1, 2], vec![3, 4, 5], vec![6]);
    let [a, b, c] = meshgrid([&x, &y, &z]).unwrap();
    assert_eq!((a.shape(), b.shape(), c.shape()), (&[2, 3, 1][..], &[2, 3, 1][..], &[2, 3, 1][..]));
    assert_eq!((a.as_ptr(), b.as_ptr(), c.as_ptr()), (x.as_ptr(), y.as_ptr(), z.as_ptr()));
    assert_eq!((a[[1, 0, 0]], b[[1, 2, 0]], c[[1, 2, 0]]), (2, 5, 6));
    let error = meshgrid([&TensorView::from_ref(&1)]).err().unwrap();
    assert_eq!(error.message(), "axes[0] has rank 0 but must have 1");
    assert_eq!(meshgrid::<i32, Vec<i32>, 0>([]).unwrap().len(), 0);
    assert!(meshgrid([&x; 9]).is_err());
}

#[test]
fn collections_become_tensors() {
    let vec = vec![1.0, 2.0, 3.0];
    let address = vec.as_ptr();
    let tensor = Tensor::from(vec);
    assert_eq!((tensor.tenure(), tensor.as_ptr()), (Tenure::Adopted, address));
    assert_eq!(tensor.into_vec().unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(Tensor::<f32>::from(Vec::new()).shape(), [0]);
    let collected: Tensor<u8> = "abc".bytes().collect();
    assert_eq!(collected, *b"abc");
    let halved = collected.iter().map(|&byte| f32::from(byte) / 2.0).collect::<Tensor<f32>>();
    assert_eq!(halved.len(), 3);
    let cube = Tensor::from([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]);
    assert_eq!((cube.shape(), cube[[1, 0, 1]]), (&[2, 2, 2][..], 6));
    assert_eq!(Tensor::from([[0_i8; 0]; 3]).shape(), [3, 0]);
}

#[test]
fn equality_is_of_shapes_and_elements() {
    let tensor = Tensor::from([[1, 2], [3, 4]]);
    let columns = Tensor::from_vec_in(vec![1, 3, 2, 4], [2, 2], Order::ColumnMajor).unwrap();
    let shared = tensor.try_clone().unwrap().into_shared();
    let mut data = [1, 2, 3, 4];
    let exclusive = TensorViewMut::from_slice(&mut data, [2, 2]).unwrap();
    assert_eq!(tensor, columns);
    assert_eq!(tensor, shared);
    assert_eq!(shared, tensor.view());
    assert_eq!(exclusive, tensor);
    assert_eq!(tensor.view(), exclusive);
    assert_eq!(&tensor, &columns);
    assert_eq!(columns, [[1, 2], [3, 4]]);
    assert_eq!(tensor.index(0, 1).unwrap(), vec![3, 4]);
    assert_eq!(tensor.index(0, 1).unwrap(), &[3, 4][..]);
    assert_ne!(tensor, columns.t());
    assert_ne!(tensor, [[1, 2], [3, 5]]);
    assert_ne!(tensor, tensor.flatten().unwrap());
    assert_ne!(Tensor::<i32>::zeros([0, 3]).unwrap(), Tensor::zeros([3, 0]).unwrap());
    assert_ne!(Tensor::from([f32::NAN]), [f32::NAN]);
    assert_eq!(Tensor::from([0.0]), [-0.0]);
    assert_eq!(Tensor::from([Complex::new(1.0_f32, 2.0)]), [Complex::new(1.0, 2.0)]);
    fn is_eq<T: Eq>(_: &T) {}
    is_eq(&tensor);
}

#[test]
fn references_are_walked() {
    let mut tensor = Tensor::from([[1, 2], [3, 4]]);
    for x in &mut tensor {
        *x *= 10;
    }
    let mut total = 0;
    for x in &tensor {
        total += x;
    }
    assert_eq!(total, 100);
    let shared = tensor.into_shared();
    assert_eq!((&shared).into_iter().copied().max(), Some(40));
    let mut data = [1, 2, 3];
    let mut view = TensorViewMut::from_slice(&mut data, 3).unwrap();
    for x in &mut view {
        *x += 1;
    }
    assert_eq!((&view).into_iter().sum::<i32>(), 9);
}

#[test]
fn a_closure_that_panics_leaves_what_was_written() {
    let mut data = [1, 2, 3, 4];
    let panics = |x: i32| if x == 3 { panic!("no 3") } else { x * 10 };
    assert!(catch_unwind(|| tenure::ops::map([1, 2, 3], panics)).is_err());
    let assigned = AssertUnwindSafe(&mut data);
    assert!(catch_unwind(move || tenure::ops::map_assign(*{ assigned }, panics)).is_err());
    assert_eq!(data, [10, 20, 3, 4]);
}
