//! Random numbers that follow from a seed and a place.
//!
//! A [`Generator`] is two numbers: a seed, and how many places have been used. There is no other
//! state, so it is stored, sent and compared as two numbers are, and the numbers of a call are the
//! same for any number of threads and under every instruction set. They are those of Philox4x32-10
//! (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011); which
//! number stands at which place is stated in `docs/random.md`, and stays.
//!
//! ```
//! use tenure::random::Generator;
//! use tenure::Tensor;
//!
//! let mut random = Generator::new(42);
//! let weights: Tensor<f32> = random.normal(0.0, 0.02, [64, 32])?;
//! let noise: Tensor<f32> = random.uniform(-1.0..1.0, [8, 64])?;
//!
//! // The same again: only two numbers decide.
//! let again: Tensor<f32> = Generator::new(42).normal(0.0, 0.02, [64, 32])?;
//! assert!(weights == again);
//! // And from where the first one was, what came next.
//! let mut later = Generator::at(42, 64 * 32);
//! assert!(noise == later.uniform::<f32>(-1.0..1.0, [8, 64])?);
//! # Ok::<(), tenure::Error>(())
//! ```

use std::collections::HashMap;
use std::ops::Range;

use tenure_sys::tnr_random_distribution as distribution;

use crate::dense::{IntoShape, Tensor};
use crate::dtype::{Bool8, Element, Float, Number, index::SparseIndex};
use crate::error::{Error, Result};
use crate::error::{no_memory, reserved};
use crate::layout::refusal;
use crate::operand::{AsView, AsViewMut};
use crate::raw::operations::{self, DEFAULT_RANDOM, RandomAttributes};

/// A seed, and the place of the next number: see the [module](self).
///
/// A tensor of n numbers takes the next n places, from an even one on and up to an even one; a
/// single number takes one. Refused calls take none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Generator {
    seed: u64,
    offset: u64,
}

impl Generator {
    /// At place 0.
    ///
    /// Seeds that are close to each other give numbers that have nothing to do with each other.
    pub const fn new(seed: u64) -> Generator {
        Generator::at(seed, 0)
    }

    /// At a place: to continue where another was, or to leave room for one.
    ///
    /// ```
    /// use tenure::random::Generator;
    ///
    /// let mut random = Generator::new(7);
    /// let _ = random.next_u64();
    /// let mut same = Generator::at(random.seed(), random.offset());
    /// assert_eq!(random.next_u64(), same.next_u64());
    /// ```
    pub const fn at(seed: u64, offset: u64) -> Generator {
        Generator { seed, offset }
    }

    /// The seed.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The place of the next number.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Floats that are uniform in a range, excluding its end.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a range that is empty, not finite, or has no number of the dtype in it.
    /// `OutOfMemory`.
    ///
    /// ```
    /// use tenure::Tensor;
    /// use tenure::random::Generator;
    ///
    /// let numbers: Tensor<f32> = Generator::new(1).uniform(0.0..1.0, [100])?;
    /// assert!(numbers.iter().all(|x| (0.0..1.0).contains(x)));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("rand", "random"))]
    pub fn uniform<T: Float>(
        &mut self,
        range: Range<f64>,
        shape: impl IntoShape,
    ) -> Result<Tensor<T>> {
        let with = uniform(&range)?;
        self.fresh(shape.extents(), distribution::UNIFORM, &with)
    }

    /// Does the same as [`uniform`](Generator::uniform), into the caller's memory.
    ///
    /// # Errors
    ///
    /// The errors of [`uniform`](Generator::uniform).
    ///
    /// ```
    /// let mut numbers = [0.0_f64; 100];
    /// tenure::random::Generator::new(1).uniform_into(2.0..3.0, &mut numbers)?;
    /// assert!(numbers.iter().all(|x| (2.0..3.0).contains(x)));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn uniform_into<T: Float>(
        &mut self,
        range: Range<f64>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let with = uniform(&range)?;
        self.into(out, distribution::UNIFORM, &with)
    }

    /// Floats with a normal distribution, of this mean and deviation.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a mean that is not finite, a deviation that is not above 0 and finite.
    /// `OutOfMemory`.
    ///
    /// ```
    /// use tenure::random::Generator;
    /// use tenure::{Tensor, ops::mean};
    ///
    /// let numbers: Tensor<f64> = Generator::new(1).normal(10.0, 2.0, [10_000])?;
    /// let found = mean(&numbers, ..)?.item().unwrap();
    /// assert!((found - 10.0).abs() < 0.1);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("randn", "standard_normal", "gaussian"))]
    pub fn normal<T: Float>(
        &mut self,
        mean: f64,
        deviation: f64,
        shape: impl IntoShape,
    ) -> Result<Tensor<T>> {
        let with = normal(mean, deviation)?;
        self.fresh(shape.extents(), distribution::NORMAL, &with)
    }

    /// Does the same as [`normal`](Generator::normal), into the caller's memory.
    ///
    /// # Errors
    ///
    /// The errors of [`normal`](Generator::normal).
    ///
    /// ```
    /// let mut numbers = [0.0_f32; 100];
    /// tenure::random::Generator::new(1).normal_into(0.0, 1.0, &mut numbers)?;
    /// assert!(numbers.iter().any(|x| *x < 0.0));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn normal_into<T: Float>(
        &mut self,
        mean: f64,
        deviation: f64,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let with = normal(mean, deviation)?;
        self.into(out, distribution::NORMAL, &with)
    }

    /// Integers that are uniform in a range.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a range that is empty or reaches beyond the dtype. `Unsupported`: floats.
    /// `OutOfMemory`.
    ///
    /// ```
    /// use tenure::Tensor;
    /// use tenure::random::Generator;
    ///
    /// let dice: Tensor<u8> = Generator::new(1).integers(1..7, [1000])?;
    /// assert!((1..7).all(|side| dice.iter().any(|x| *x == side)));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("randint"))]
    pub fn integers<T: Number>(
        &mut self,
        range: Range<i64>,
        shape: impl IntoShape,
    ) -> Result<Tensor<T>> {
        let with = integers(&range)?;
        self.fresh(shape.extents(), distribution::INTEGERS, &with)
    }

    /// Does the same as [`integers`](Generator::integers), into the caller's memory.
    ///
    /// # Errors
    ///
    /// The errors of [`integers`](Generator::integers).
    ///
    /// ```
    /// let mut numbers = [0_i32; 100];
    /// tenure::random::Generator::new(1).integers_into(-5..5, &mut numbers)?;
    /// assert!(numbers.iter().all(|x| (-5..5).contains(x)));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn integers_into<T: Number>(
        &mut self,
        range: Range<i64>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let with = integers(&range)?;
        self.into(out, distribution::INTEGERS, &with)
    }

    /// Truths, each with this probability, to a multiple of 2^-32: the mask of a dropout.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a probability that is not from 0 to 1. `OutOfMemory`.
    ///
    /// ```
    /// use tenure::random::Generator;
    /// use tenure::{Tensor, ops::select};
    ///
    /// let mut random = Generator::new(1);
    /// let activations = [1.0_f32, 2.0, 3.0, 4.0];
    /// let kept = random.bernoulli(0.8, [4])?;
    /// let thinned: Tensor<f32> = select(&kept, &activations, 0.0)?;
    /// # let _ = thinned;
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "dropout")]
    pub fn bernoulli(&mut self, probability: f64, shape: impl IntoShape) -> Result<Tensor<Bool8>> {
        let with = bernoulli(probability);
        self.fresh(shape.extents(), distribution::BERNOULLI, &with)
    }

    /// Does the same as [`bernoulli`](Generator::bernoulli), into the caller's memory.
    ///
    /// # Errors
    ///
    /// The errors of [`bernoulli`](Generator::bernoulli).
    ///
    /// ```
    /// use tenure::Bool8;
    ///
    /// let mut truths = [Bool8::FALSE; 8];
    /// tenure::random::Generator::new(1).bernoulli_into(1.0, &mut truths)?;
    /// assert_eq!(truths, [Bool8::TRUE; 8]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn bernoulli_into(
        &mut self,
        probability: f64,
        out: &mut (impl AsViewMut<Bool8> + ?Sized),
    ) -> Result<()> {
        let with = bernoulli(probability);
        self.into(out, distribution::BERNOULLI, &with)
    }

    /// The numbers from 0 to `count - 1` in a random order.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// let order = tenure::random::Generator::new(1).permutation(5)?;
    /// let mut sorted = order.to_vec();
    /// sorted.sort();
    /// assert_eq!(sorted, [0, 1, 2, 3, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("randperm", "shuffle"))]
    pub fn permutation(&mut self, count: usize) -> Result<Tensor<i64>> {
        self.take(count, |seed, offset| {
            crate::ops::results::filled(&[count], |out| {
                operations::random_permutation(seed, offset, out)
            })
        })
    }

    /// Does the same as [`permutation`](Generator::permutation) for the number of elements of
    /// `out`, into `out`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `out` is no vector, or has more elements than `i32` can count.
    ///
    /// ```
    /// let mut order = [0_i32; 5];
    /// tenure::random::Generator::new(1).permutation_into(&mut order)?;
    /// order.sort();
    /// assert_eq!(order, [0, 1, 2, 3, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn permutation_into<I: SparseIndex>(
        &mut self,
        out: &mut (impl AsViewMut<I> + ?Sized),
    ) -> Result<()> {
        let mut out = out.as_view_mut();
        self.take(out.len(), |seed, offset| {
            operations::random_permutation(seed, offset, out.lent_mut())
        })
    }

    /// Draws `count` numbers from 0 to `bound - 1`, each from all of them.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: none to draw from, or more than `i64` counts. `OutOfMemory`.
    ///
    /// ```
    /// let rows = tenure::random::Generator::new(1).choice(10, 100)?;
    /// assert!(rows.iter().all(|row| (0..10).contains(row)));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn choice(&mut self, bound: usize, count: usize) -> Result<Tensor<i64>> {
        self.integers(0..refusal::counted(&"bound", bound)?, [count])
    }

    /// Draws `count` different numbers from 0 to `bound - 1`, in a random order: the first of
    /// [`permutation`](Generator::permutation).
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: more than there are, or a bound that `i64` does not count.
    /// `OutOfMemory`.
    ///
    /// ```
    /// let rows = tenure::random::Generator::new(1).choice_distinct(10, 3)?.to_vec();
    /// assert!(rows[0] != rows[1] && rows[0] != rows[2] && rows[1] != rows[2]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "sample")]
    pub fn choice_distinct(&mut self, bound: usize, count: usize) -> Result<Tensor<i64>> {
        if count > bound {
            let message = format!("count is {count} but there are {bound} numbers to choose from");
            return Err(Error::invalid(message));
        }
        refusal::counted(&"bound", bound)?;
        if count > bound / 8 {
            return self.take(count, |seed, offset| {
                let order = crate::ops::results::filled::<i64>(&[bound], |out| {
                    operations::random_permutation(seed, offset, out)
                })?;
                let first = order.as_slice().unwrap_or_default();
                Tensor::copy_from_slice(&first[..count], [count])
            });
        }
        let mut chosen = Tensor::<i64>::zeros([count])?;
        self.take(count, |seed, offset| {
            // The exchanges of a permutation; only the numbers that have moved are remembered.
            let mut moved = HashMap::new();
            moved.try_reserve(count).map_err(|_| no_memory(count, "numbers"))?;
            let mut chosen = chosen.view_mut();
            for (at, chosen) in chosen.iter_mut().enumerate() {
                let word = word_of_64_bits(seed, offset.wrapping_add(at as u64));
                let other = at + scaled(word, bound - at);
                let here = moved.get(&at).copied().unwrap_or(at);
                *chosen = moved.insert(other, here).unwrap_or(other) as i64;
            }
            Ok(())
        })?;
        Ok(chosen)
    }

    /// Draws `count` indices of `weights` with replacement, with probabilities proportional to the
    /// weights: a uniform number is searched among their cumulative sums.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a weight that is negative or not finite, weights whose sum is 0 or
    /// infinite. `OutOfMemory`.
    ///
    /// ```
    /// let drawn = tenure::random::Generator::new(1).choice_weighted(&[0.0, 3.0, 1.0], 1000)?;
    /// let ones = drawn.iter().filter(|place| **place == 1).count();
    /// assert!((700..800).contains(&ones) && drawn.iter().all(|place| *place != 0));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("multinomial", "categorical"))]
    pub fn choice_weighted(
        &mut self,
        weights: impl AsView<f64>,
        count: usize,
    ) -> Result<Tensor<i64>> {
        let weights = weights.as_view();
        let mut total = 0.0;
        let mut sums = reserved(weights.len(), "sums of weights")?;
        for (place, weight) in weights.iter().enumerate() {
            if !(*weight >= 0.0 && weight.is_finite()) {
                let message =
                    format!("weights[{place}] is {weight} but must be finite and 0 at least");
                return Err(Error::invalid(message));
            }
            total += weight;
            sums.push(total);
        }
        if !(total > 0.0 && total.is_finite()) {
            let message =
                format!("the sum of the weights is {total} but must be above 0 and finite");
            return Err(Error::invalid(message));
        }
        let parts: Tensor<f64> = self.uniform(0.0..1.0, [count])?;
        let last = sums.partition_point(|sum| *sum < total);
        let mut chosen = Tensor::<i64>::zeros([count])?;
        for (chosen, part) in chosen.view_mut().iter_mut().zip(parts.iter()) {
            // Rounded, the product may be the total, before which the last weight above 0 ends.
            let found = sums.partition_point(|sum| *sum <= part * total);
            *chosen = found.min(last) as i64;
        }
        Ok(chosen)
    }

    /// A number of 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        let place = self.next_place();
        philox(self.seed, place / 4, 0)[(place % 4) as usize]
    }

    /// A number of 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        word_of_64_bits(self.seed, self.next_place())
    }

    fn next_place(&mut self) -> u64 {
        let place = self.offset;
        self.offset = place.wrapping_add(1);
        place
    }

    fn fresh<T: Element>(
        &mut self,
        extents: &[usize],
        kind: distribution,
        with: &RandomAttributes,
    ) -> Result<Tensor<T>> {
        // Saturated, the shape is refused.
        let count = extents.iter().fold(1_usize, |count, extent| count.saturating_mul(*extent));
        self.take(count, |seed, offset| {
            crate::ops::results::filled(extents, |out| {
                operations::random(kind, seed, offset, with, out)
            })
        })
    }

    fn into<T: Element>(
        &mut self,
        out: &mut (impl AsViewMut<T> + ?Sized),
        kind: distribution,
        with: &RandomAttributes,
    ) -> Result<()> {
        let mut out = out.as_view_mut();
        self.take(out.len(), |seed, offset| {
            operations::random(kind, seed, offset, with, out.lent_mut())
        })
    }

    /// Pairs of places, as normal numbers are made of, belong to one call.
    fn take<R>(&mut self, count: usize, draw: impl FnOnce(u64, u64) -> Result<R>) -> Result<R> {
        let first = self.offset.wrapping_add(self.offset % 2);
        let drawn = draw(self.seed, first)?;
        let count = count as u64;
        self.offset = first.wrapping_add(count).wrapping_add(count % 2);
        Ok(drawn)
    }
}

/// Ranges that are empty are refused here: the library names its attributes, and two that are 0
/// mean its defaults.
pub(crate) fn uniform(range: &Range<f64>) -> Result<RandomAttributes> {
    let Range { start, end } = range;
    if !(start.is_finite() && end.is_finite()) {
        return Err(Error::invalid(format!("the range {start}..{end} must have finite ends")));
    }
    if start >= end {
        return Err(Error::invalid(format!("the range {start}..{end} is empty")));
    }
    Ok(RandomAttributes { low: *start, high: *end, ..DEFAULT_RANDOM })
}

pub(crate) fn normal(mean: f64, deviation: f64) -> Result<RandomAttributes> {
    if deviation == 0.0 {
        return Err(Error::invalid("deviation is 0 but must be above"));
    }
    Ok(RandomAttributes { mean, deviation, ..DEFAULT_RANDOM })
}

pub(crate) fn integers(range: &Range<i64>) -> Result<RandomAttributes> {
    if range.is_empty() {
        let message = format!("the range {}..{} is empty", range.start, range.end);
        return Err(Error::invalid(message));
    }
    Ok(RandomAttributes { least: range.start, bound: range.end, ..DEFAULT_RANDOM })
}

pub(crate) fn bernoulli(probability: f64) -> RandomAttributes {
    RandomAttributes { probability, ..DEFAULT_RANDOM }
}

/// From 0 up to, but not, `bound`.
fn scaled(word: u64, bound: usize) -> usize {
    ((u128::from(word) * bound as u128) >> 64) as usize
}

fn word_of_64_bits(seed: u64, place: u64) -> u64 {
    let block = philox(seed, place / 2, 1);
    let first = (place % 2 * 2) as usize;
    u64::from(block[first]) | u64::from(block[first + 1]) << 32
}

/// A block of Philox4x32-10, one by one: for single numbers a call of the core takes longer.
fn philox(seed: u64, block: u64, stream: u32) -> [u32; 4] {
    let mut counter = [block as u32, (block >> 32) as u32, stream, 0];
    let mut key = [seed as u32, (seed >> 32) as u32];
    for _ in 0..10 {
        let first = u64::from(counter[0]) * 0xd251_1f53;
        let second = u64::from(counter[2]) * 0xcd9e_8d57;
        counter = [
            (second >> 32) as u32 ^ counter[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ counter[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

/// The traits of `rand`, by which its distributions, and other crates, draw from a [`Generator`].
#[cfg(feature = "rand")]
mod rand {
    use rand_core::{RngCore, SeedableRng, impls};

    use super::Generator;

    impl RngCore for Generator {
        fn next_u32(&mut self) -> u32 {
            Generator::next_u32(self)
        }

        fn next_u64(&mut self) -> u64 {
            Generator::next_u64(self)
        }

        fn fill_bytes(&mut self, out: &mut [u8]) {
            impls::fill_bytes_via_next(self, out);
        }
    }

    impl SeedableRng for Generator {
        type Seed = [u8; 8];

        /// The bytes of the seed, the lowest first.
        fn from_seed(seed: [u8; 8]) -> Generator {
            Generator::new(u64::from_le_bytes(seed))
        }

        fn seed_from_u64(seed: u64) -> Generator {
            Generator::new(seed)
        }
    }
}
