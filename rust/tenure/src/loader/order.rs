//! The order of an epoch: a permutation of the samples that is computed, not stored.
//!
//! A table of indices would take 8 bytes for each sample and a pass over memory at random before
//! each epoch. Here index `i` passes through rounds of steps that can each be undone on numbers of
//! a fixed count of bits (an odd factor, a sum, and the upper half folded onto the lower one); a
//! number outside the range of samples passes through them again until it is inside, which visits
//! each sample once ("cycle walking": Black and Rogaway, "Ciphers with Arbitrary Finite Domains",
//! 2002). So any thread can compute any batch, and resuming costs nothing.

use crate::split_mix::{Random, mixed};

/// Rounds after which neighbours go apart: the tests of this module hold from four on.
const ROUNDS: usize = 6;

/// Fewer bits than these know too few permutations. Up to 2^10 steps a sample are walked then.
const LEAST_BITS: u32 = 10;

/// In which order the samples of one epoch come.
pub(super) enum Order {
    /// In the order of the data.
    Sequential,
    /// Drawn from a seed and the number of the epoch.
    Shuffled(Permutation),
}

impl Order {
    /// The sample at `place`, which is below the count of samples.
    pub(super) fn sample(&self, place: usize) -> usize {
        match self {
            Order::Sequential => place,
            Order::Shuffled(permutation) => permutation.at(place as u64) as usize,
        }
    }
}

/// A permutation of `0..count`.
pub(super) struct Permutation {
    count: u64,
    bits: u32,
    /// A factor, odd, and a summand.
    keys: [(u64, u64); ROUNDS],
}

impl Permutation {
    pub(super) fn new(count: usize, seed: u64, epoch: u64) -> Permutation {
        let count = count as u64;
        let bits = (u64::BITS - count.saturating_sub(1).leading_zeros()).max(LEAST_BITS);
        // Mixed before the epoch is added: seed 1 in epoch 0 has nothing of seed 0 in epoch 1.
        let mut random = Random::new(mixed(seed).wrapping_add(epoch));
        let keys = std::array::from_fn(|_| (random.next() | 1, random.next()));
        Permutation { count, bits, keys }
    }

    fn at(&self, place: u64) -> u64 {
        let mut at = place;
        loop {
            at = self.step(at);
            if at < self.count {
                return at;
            }
        }
    }

    fn step(&self, mut at: u64) -> u64 {
        let mask = u64::MAX >> (u64::BITS - self.bits);
        for (factor, summand) in self.keys {
            at = at.wrapping_mul(factor).wrapping_add(summand) & mask;
            at ^= at >> self.bits.div_ceil(2);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(count: usize, seed: u64, epoch: u64) -> Vec<u64> {
        let permutation = Permutation::new(count, seed, epoch);
        (0..count as u64).map(|place| permutation.at(place)).collect()
    }

    #[test]
    fn each_sample_comes_once() {
        let counts = if cfg!(miri) { 0..20 } else { 0..1100 };
        for count in counts.chain([1 << 10, (1 << 10) + 1]) {
            let mut order = order(count, 7, 3);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..count as u64), "{count} samples");
        }
    }

    #[test]
    fn orders_stay_what_they_are() {
        // A position that was kept must lead to the same samples in every later version.
        assert_eq!(order(8, 1, 0), [1, 2, 7, 5, 6, 4, 0, 3]);
        assert_eq!(order(8, 1, 1), [6, 4, 0, 2, 7, 3, 1, 5]);
        assert_eq!(order(8, 2, 0), [2, 4, 6, 5, 7, 3, 0, 1]);
    }

    /// The statistic of Pearson's test of equal shares, less its mean, in standard deviations.
    fn deviation(counts: &[u32]) -> f64 {
        let total: u32 = counts.iter().sum();
        let share = f64::from(total) / counts.len() as f64;
        let distance = |count: &u32| (f64::from(*count) - share).powi(2) / share;
        let freedom = counts.len() as f64 - 1.0;
        (counts.iter().map(distance).sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn every_sample_comes_everywhere_and_after_every_other() {
        const COUNT: usize = 12;
        let (mut places, mut followers) = (vec![0; COUNT * COUNT], vec![0; COUNT * COUNT]);
        for (seed, epoch) in (0..40).flat_map(|seed| (0..40).map(move |epoch| (seed, epoch))) {
            let order = order(COUNT, seed, epoch);
            order
                .iter()
                .enumerate()
                .for_each(|(place, at)| places[place * COUNT + *at as usize] += 1);
            order
                .windows(2)
                .for_each(|two| followers[two[0] as usize * COUNT + two[1] as usize] += 1);
        }
        followers.retain(|count| *count > 0); // no sample follows itself
        assert_eq!(followers.len(), COUNT * (COUNT - 1));
        let found = [deviation(&places), deviation(&followers)];
        assert!(found.iter().all(|deviation| deviation.abs() < 5.0), "{found:?}");
    }

    #[test]
    fn neighbours_go_apart() {
        const COUNT: usize = if cfg!(miri) { 1 << 11 } else { 100_000 };
        let order = order(COUNT, 5, 0);
        let mut steps = vec![0; 16];
        for two in order.windows(2) {
            let step = (two[1] + COUNT as u64 - two[0]) % COUNT as u64;
            steps[step as usize * 16 / COUNT] += 1;
        }
        assert!(deviation(&steps).abs() < 5.0, "{steps:?}");
    }
}
