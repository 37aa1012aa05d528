//! Histograms of numbers whose range is not known before: bins become wider as numbers arrive.

use crate::dense::TensorView;
use crate::error::Result;
use crate::ops;

/// Bins of a histogram.
pub(super) const BINS: usize = 2048;

/// The width of a bin is a power of two, and its lower edge is a multiple of the width: two adjacent
/// bins are exactly one of the next width. So the histogram is that of all numbers together,
/// whatever batches they come in.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(super) struct Histogram {
    /// The width of a bin is 2 to the power of this.
    exponent: i32,
    /// The lower edge of the first bin, in widths.
    first: i64,
    counts: Vec<u64>,
}

/// Parts of the range of numbers on each side of 0: a quantized range has a whole number of them.
const PARTS: u32 = 256;
/// Parts between two candidates of the search over both ends.
const COARSE: usize = 8;

fn width(exponent: i32) -> f64 {
    2.0_f64.powi(exponent)
}

/// The bin that has the number, counted from 0.
fn bin(number: f32, exponent: i32) -> i64 {
    (f64::from(number) / width(exponent)).floor() as i64
}

/// The least width with which there are enough bins. It is not below the distance of adjacent `f32`
/// of this size.
fn exponent_for(low: f32, high: f32) -> i32 {
    let greatest = low.abs().max(high.abs());
    let least = match greatest.is_normal() {
        true => f64::from(greatest).log2().floor() as i32 - (f32::MANTISSA_DIGITS as i32 - 1),
        false => f32::MIN_EXP - f32::MANTISSA_DIGITS as i32,
    };
    let fits = |exponent: &i32| bin(high, *exponent) - bin(low, *exponent) < BINS as i64;
    (least..).find(fits).unwrap_or(least)
}

impl Histogram {
    /// Without numbers, and with room for those from `low` to `high`.
    pub(super) fn new([low, high]: [f32; 2]) -> Histogram {
        let exponent = exponent_for(low, high);
        Histogram { exponent, first: bin(low, exponent), counts: vec![0; BINS] }
    }

    /// Adds numbers that are all finite. All numbers, with those that were added before, are from
    /// `low` to `high`.
    pub(super) fn add(
        &mut self,
        numbers: TensorView<'_, f32>,
        [low, high]: [f32; 2],
    ) -> Result<()> {
        self.widen([low, high]);
        let range = self.edge(0)..=self.edge(BINS);
        for (count, more) in self.counts.iter_mut().zip(&ops::histogram(numbers, BINS, range)?) {
            *count = count.saturating_add(*more as u64);
        }
        Ok(())
    }

    fn widen(&mut self, range: [f32; 2]) {
        let wide = Histogram::new(range);
        let before = std::mem::replace(self, wide);
        for (nth, count) in before.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // Rounds down. A number of a bin has 25 bits, which 63 shift out.
            let bin = (before.first + nth as i64) >> (self.exponent - before.exponent).min(63);
            let wide = &mut self.counts[(bin - self.first) as usize];
            *wide = wide.saturating_add(*count);
        }
    }

    /// The lower edge of a bin.
    fn edge(&self, bin: usize) -> f64 {
        (self.first + bin as i64) as f64 * width(self.exponent)
    }

    pub(super) fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Whether it could be the histogram of numbers from `low` to `high`.
    #[cfg(feature = "serde")]
    pub(super) fn is_of(&self, [low, high]: [f32; 2]) -> bool {
        let room = Histogram::new([low, high]);
        let sum = self.counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
        let end = (bin(high, room.exponent) - room.first) as usize;
        (self.exponent, self.first, self.counts.len()) == (room.exponent, room.first, BINS)
            && sum.is_some_and(|sum| sum > 0)
            && self.counts[0] > 0
            && self.counts[end] > 0
            && self.counts[end + 1..].iter().all(|count| *count == 0)
    }

    /// The range without the smallest and the largest numbers: `share` of all is within it, and as
    /// many are below as above. Numbers are spread evenly over their bin.
    pub(super) fn inner(&self, share: f64, [low, high]: [f32; 2]) -> [f32; 2] {
        let outside = (1.0 - share) / 2.0 * self.count() as f64;
        // How far from an end of the range the number is, in bins.
        let along = |bins: &mut dyn Iterator<Item = f64>| {
            let (mut left, mut along) = (outside, 0.0);
            for count in bins {
                if left < count {
                    return along + left / count;
                }
                (left, along) = (left - count, along + 1.0);
            }
            along
        };
        let counts = || self.counts.iter().map(|count| *count as f64);
        let lower = self.edge(0) + along(&mut counts()) * width(self.exponent);
        let upper = self.edge(BINS) - along(&mut counts().rev()) * width(self.exponent);
        let within = |end: f64| end.clamp(f64::from(low), f64::from(high)) as f32;
        [within(lower), within(upper)]
    }

    /// The range that has the least sum of squared errors when numbers are rounded to `u8`: of all
    /// whose ends are a whole number of 256 parts of the range of the numbers and 0.
    pub(super) fn least_error(&self, [low, high]: [f32; 2]) -> [f32; 2] {
        let ends = [f64::from(low.min(0.0)), f64::from(high.max(0.0))];
        let range = |parts: [u32; 2]| {
            [0, 1].map(|end| ends[end] * (f64::from(parts[end]) / f64::from(PARTS)))
        };
        let candidates = |end: usize| if ends[end] == 0.0 { PARTS..=PARTS } else { 0..=PARTS };
        let mut best = ([PARTS; 2], self.squared_error(range([PARTS; 2])));
        let consider = |best: &mut ([u32; 2], f64), parts: [u32; 2]| {
            let error = self.squared_error(range(parts));
            if error < best.1 {
                *best = (parts, error);
            }
        };
        for lower in candidates(0).rev().step_by(COARSE) {
            for upper in candidates(1).rev().step_by(COARSE) {
                consider(&mut best, [lower, upper]);
            }
        }
        // Then each end by itself, until neither changes.
        loop {
            let ([_, upper], _) = best;
            candidates(0).for_each(|lower| consider(&mut best, [lower, upper]));
            let ([lower, _], before) = best;
            candidates(1).for_each(|upper| consider(&mut best, [lower, upper]));
            if best.1 == before {
                return range(best.0).map(|end| end as f32);
            }
        }
    }

    /// The sum of squared errors of the numbers, rounded to `u8` by the scale and the zero point of
    /// this range. Numbers are spread evenly over their bin.
    fn squared_error(&self, [low, high]: [f64; 2]) -> f64 {
        let scale = match (high - low) / 255.0 {
            0.0 => 1.0, // only 0 has an integer
            scale => scale,
        };
        let zero = (-low / scale).round_ties_even();
        let ends = match high > low {
            true => [-zero, 255.0 - zero],
            false => [0.0, 0.0],
        };
        // The integral of the squared error from the number 0 to `at`, where numbers are measured
        // in scales, plus a constant.
        let integral = |at: f64| {
            let nearest = at.round_ties_even().clamp(ends[0], ends[1]);
            nearest / 12.0 + (at - nearest).powi(3) / 3.0
        };
        let bin_width = width(self.exponent) / scale;
        let mut sum = 0.0;
        for (bin, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let edge = self.edge(bin) / scale;
            sum += *count as f64 * (integral(edge + bin_width) - integral(edge)) / bin_width;
        }
        sum * scale * scale
    }
}
