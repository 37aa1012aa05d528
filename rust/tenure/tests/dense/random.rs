//! Random numbers: the numbers that Rust computes are the library's, and the refusals.

use tenure::random::Generator;
use tenure::{Bool8, Context, ErrorKind, Tensor, bf16, f16};

const PLACE: u64 = (1 << 40) + 6;

#[test]
fn single_numbers_are_those_of_tensors() -> tenure::Result<()> {
    let mut random = Generator::at(9, PLACE);
    let truths = random.clone().bernoulli(0.5, [64])?;
    for truth in truths.iter() {
        assert_eq!(*truth == Bool8::TRUE, random.next_u32() < 1 << 31);
    }
    let mut random = Generator::at(9, PLACE);
    let numbers: Tensor<i64> = random.clone().integers(-1000..1 << 50, [64])?;
    for number in numbers.iter() {
        let scaled = u128::from(random.next_u64()) * ((1 << 50) + 1000);
        assert_eq!(*number, (scaled >> 64) as i64 - 1000);
    }
    Ok(())
}

#[test]
fn a_choice_of_different_ones_begins_a_permutation() -> tenure::Result<()> {
    for bound in [1, 2, 10, 1000] {
        let order = Generator::at(3, PLACE).permutation(bound)?.to_vec();
        for count in [0, 1, bound / 10, bound / 2, bound] {
            let mut random = Generator::at(3, PLACE);
            assert_eq!(random.choice_distinct(bound, count)?.to_vec(), order[..count]);
            assert_eq!(random.offset(), PLACE + (count as u64).next_multiple_of(2));
        }
        let mut into = vec![0_i32; bound];
        Generator::at(3, PLACE).permutation_into(&mut into)?;
        assert!(into.iter().map(|i| i64::from(*i)).eq(order));
    }
    Ok(())
}

/// Bounds up to the largest: numbers are below them, on both sides of their middle.
#[test]
fn bounds_may_be_as_large_as_indices() -> tenure::Result<()> {
    const MOST: usize = i64::MAX as usize;
    for bound in [1, 2, 3, 1 << 31, (1 << 32) + 1, 1 << 62, MOST - 1, MOST] {
        let count = bound.min(50);
        let drawn = Generator::new(2).choice(bound, count)?;
        let distinct = Generator::new(2).choice_distinct(bound, count)?;
        for numbers in [&drawn, &distinct] {
            let bound = bound as i64;
            assert!(numbers.iter().all(|number| (0..bound).contains(number)), "{numbers}");
            let lower = numbers.iter().filter(|number| **number < bound / 2).count();
            assert!(count < 50 || (10..40).contains(&lower), "{numbers}");
        }
        let mut sorted = distinct.to_vec();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), count);
    }
    for bound in [MOST + 1, usize::MAX] {
        let mut random = Generator::at(1, 8);
        for refused in [random.choice(bound, 3), random.choice_distinct(bound, 3)] {
            let message = format!("bound is {bound} but must be at most 9223372036854775807");
            assert_eq!(refused.err().unwrap().message(), message);
        }
        assert_eq!(random.offset(), 8);
        assert!(random.permutation(bound).is_err());
    }
    Ok(())
}

/// Ranges that end where the dtype does.
#[test]
fn ranges_may_be_as_wide_as_the_dtype() -> tenure::Result<()> {
    macro_rules! check {
        ($($type:ident)*) => {$(
            let least = $type::MIN as i64;
            let most = i64::try_from($type::MAX).unwrap_or(i64::MAX);
            for range in [least..most, least..least + 1, most - 1..most, least..0, -1..most, 0..1] {
                let inside = range.start >= least && !range.is_empty();
                let drawn = Generator::new(3).integers::<$type>(range.clone(), [40]);
                assert_eq!(drawn.is_ok(), inside, "{} {range:?}", stringify!($type));
                let Ok(drawn) = drawn else { continue };
                let middle = (i128::from(range.start) + i128::from(range.end)) / 2;
                let lower = drawn.iter().filter(|number| i128::from(**number) < middle).count();
                assert!(drawn.iter().all(|number| range.contains(&(*number as i64))));
                assert!(range.end.wrapping_sub(range.start) == 1 || (8..32).contains(&lower));
            }
            for range in [least.wrapping_sub(1)..0, 0..most.wrapping_add(2)] {
                let is_beyond = range.start < least || range.end > most.saturating_add(1);
                let drawn = Generator::new(3).integers::<$type>(range.clone(), [40]);
                assert!(drawn.is_err() || !is_beyond, "{} {range:?}", stringify!($type));
            }
        )*};
    }
    check! { i8 i16 i32 i64 u8 u16 u32 u64 }

    for [low, high] in
        [[-f64::MAX, f64::MAX], [0.0, f64::MAX], [1e308, f64::MAX], [-5e-324, 5e-324]]
    {
        let Ok(drawn) = Generator::new(4).uniform::<f64>(low..high, [100]) else { continue };
        assert!(drawn.iter().all(|x| (low..high).contains(x)), "{low} {high}: {drawn}");
    }
    for [low, high] in [[-3.4e38, 3.4e38], [0.0, 3.4e38], [-1e-45, 1e-45]] {
        let Ok(drawn) = Generator::new(4).uniform::<f32>(low..high, [100]) else { continue };
        assert!(
            drawn.iter().all(|x| (low as f32..high as f32).contains(x)),
            "{low} {high}: {drawn}"
        );
    }
    for [low, high] in [[-65504.0, 65504.0], [0.0, 65504.0], [-6e-8, 6e-8]] {
        let Ok(drawn) = Generator::new(4).uniform::<f16>(low..high, [100]) else { continue };
        assert!(
            drawn.iter().all(|x| (f16::from_f64(low)..f16::from_f64(high)).contains(x)),
            "{low} {high}: {drawn}"
        );
    }
    let drawn = Generator::new(5).choice_weighted([0.0, 5e-324, f64::MAX / 2.0, 0.0], 20)?;
    assert!(drawn.iter().all(|place| *place == 2));
    Ok(())
}

#[test]
fn weights_decide_how_often_a_place_is_drawn() -> tenure::Result<()> {
    let weights = [0.0, 2.0, 0.0, 1.0, 5.0, 0.0];
    let mut counts = [0; 6];
    for place in Generator::new(11).choice_weighted(weights, 80_000)?.iter() {
        counts[*place as usize] += 1;
    }
    assert_eq!((counts[0], counts[2], counts[5]), (0, 0, 0));
    for (count, expected) in [(counts[1], 20_000), (counts[3], 10_000), (counts[4], 50_000_i32)] {
        assert!(expected.abs_diff(count) < 600, "{counts:?}");
    }
    Ok(())
}

#[test]
fn tensors_take_pairs_of_places_and_are_the_same_on_any_threads() -> tenure::Result<()> {
    let mut random = Generator::at(5, 1);
    let threads = Context::builder().threads(3).build()?;
    let some: Tensor<f32> = threads.install(|| random.normal(1.0, 2.0, [7, 100_001]))?;
    assert_eq!(random.offset(), 2 + 700_008);
    let mut into = vec![0.0_f32; 700_007];
    Generator::at(5, 2).normal_into(1.0, 2.0, &mut into)?;
    assert_eq!(some.to_vec(), into);
    let _ = random.next_u32();
    assert_eq!(random, Generator::at(5, 700_011));

    let halves: Tensor<f16> = random.uniform(0.0..1.0, [100])?;
    assert!(halves.iter().all(|x| *x < f16::ONE));
    let narrow: Tensor<bf16> = random.uniform(0.0..1.0, [100])?;
    assert!(narrow.iter().all(|x| *x < bf16::ONE));
    Ok(())
}

#[test]
fn what_cannot_be_drawn_is_refused_and_takes_no_places() {
    let mut random = Generator::new(1);
    let mut refused = |draw: &dyn Fn(&mut Generator) -> tenure::Result<()>, kind, words: &str| {
        let error = draw(&mut random).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.message().contains(words), "{error}");
        assert_eq!(random.offset(), 0);
    };
    let invalid = ErrorKind::InvalidArgument;
    refused(&|r| r.uniform::<f32>(0.0..0.0, 3).map(drop), invalid, "0..0 is empty");
    refused(&|r| r.uniform::<f32>(1.0..0.0, 3).map(drop), invalid, "the range 1..0 is empty");
    refused(
        &|r| r.uniform::<f32>(0.0..f64::NAN, 3).map(drop),
        invalid,
        "the range 0..NaN must have finite",
    );
    refused(&|r| r.normal::<f32>(0.0, 0.0, 3).map(drop), invalid, "deviation is 0");
    refused(&|r| r.normal::<f32>(0.0, -1.0, 3).map(drop), invalid, "deviation is -1");
    refused(&|r| r.integers::<u8>(0..0, 3).map(drop), invalid, "0..0 is empty");
    refused(&|r| r.integers::<u8>(0..257, 3).map(drop), invalid, "bound is 257");
    refused(&|r| r.integers::<f32>(0..2, 3).map(drop), ErrorKind::Unsupported, "f32");
    refused(&|r| r.bernoulli(1.5, 3).map(drop), invalid, "probability is 1.5");
    refused(&|r| r.choice(0, 3).map(drop), invalid, "empty");
    refused(&|r| r.choice_distinct(3, 4).map(drop), invalid, "count is 4");
    refused(&|r| r.choice_weighted([1.0, -1.0], 4).map(drop), invalid, "weights[1] is -1");
    refused(&|r| r.choice_weighted([0.0], 4).map(drop), invalid, "sum of the weights is 0");
    refused(&|r| r.permutation_into(&mut [[0_i32; 2]; 2]), invalid, "rank");
    let mut last = Generator::at(1, u64::MAX - 1);
    assert!(last.uniform::<f32>(0.0..1.0, 3).is_err());
    assert_eq!(last.offset(), u64::MAX - 1);
}

#[cfg(feature = "rand")]
#[test]
fn traits_of_rand_draw_the_same_numbers() {
    use rand_core::{RngCore, SeedableRng};

    let mut random = Generator::seed_from_u64(0x0102_0304);
    assert_eq!(random, Generator::from_seed([4, 3, 2, 1, 0, 0, 0, 0]));
    let mut same = Generator::new(0x0102_0304);
    let mut bytes = [0; 11];
    random.fill_bytes(&mut bytes);
    assert_eq!(bytes[..8], same.next_u64().to_le_bytes());
    assert_eq!(
        RngCore::next_u32(&mut random),
        Generator::at(0x0102_0304, random.offset() - 1).next_u32()
    );
}
