//! Permutations of the axes of a tensor, drawn from a seed: the same for every library, and in
//! `peers.py`.

/// Numbers that depend only on the seed. Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014: SplitMix64.
pub struct Numbers {
    state: u64,
}

impl Numbers {
    /// Seed of the permutations.
    pub fn from_seed(seed: u64) -> Numbers {
        Numbers { state: seed }
    }

    /// One of 0 to `bound - 1`. The lower ones are a little likelier, which matters nothing here.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

/// A shape, and the order in which its axes are to lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    /// Extent of each axis.
    pub shape: Vec<usize>,
    /// Which axis comes first, second and so on.
    pub axes: Vec<usize>,
}

impl Permutation {
    /// Three to six axes of close to 2^`bits` elements, but not more, in another order than they
    /// are in.
    pub fn draw(numbers: &mut Numbers, bits: u32) -> Permutation {
        let rank = 3 + numbers.below(4) as usize;
        let mut parts = vec![1u32; rank];
        for _ in rank as u32..bits {
            parts[numbers.below(rank as u64) as usize] += 1;
        }
        let mut shape = Vec::with_capacity(rank);
        for part in &parts[1..] {
            // Not only powers of two, which have their specific troubles.
            let most = 1u64 << part;
            shape.push((most - numbers.below(most / 4 + 1)) as usize);
        }
        shape.push((1usize << bits) / shape.iter().product::<usize>());
        let mut axes: Vec<usize> = (0..rank).collect();
        while axes.is_sorted() {
            for i in (1..rank).rev() {
                axes.swap(i, numbers.below(i as u64 + 1) as usize);
            }
        }
        Permutation { shape, axes }
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The extents in the new order.
    pub fn permuted_shape(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| self.shape[*axis]).collect()
    }

    /// The name in the figures.
    pub fn name(&self) -> String {
        let joined = |numbers: &[usize], between| {
            numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(between)
        };
        format!("permute {} by {}", joined(&self.shape, "x"), joined(&self.axes, ","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_depend_on_the_seed_alone() {
        let mut numbers = Numbers::from_seed(1);
        let drawn: Vec<_> = (0..3).map(|_| Permutation::draw(&mut numbers, 24).name()).collect();
        // `peers.py` draws the same permutations: it compares itself with this file.
        let expected = include_str!("../permutations.txt");
        assert_eq!(drawn, expected.lines().collect::<Vec<_>>());
    }

    #[test]
    fn permutations_fit_and_move_something() {
        let mut numbers = Numbers::from_seed(7);
        for _ in 0..1000 {
            let drawn = Permutation::draw(&mut numbers, 12);
            assert!((3..=6).contains(&drawn.shape.len()), "{drawn:?}");
            assert!(drawn.len() <= 1 << 12 && drawn.len() > 1 << 11, "{drawn:?}");
            assert!(!drawn.axes.is_sorted(), "{drawn:?}");
            let mut sorted = drawn.axes.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..drawn.shape.len()).collect::<Vec<_>>());
        }
    }
}
