//! Quantiles and medians over axes, as methods of values.

use std::panic::Location;

use tenure_sys::{TNR_NODE_PERMUTE, TNR_NODE_QUANTILE, TNR_NODE_TAKE, TNR_QUANTILE_SKIP_NAN};

use super::Traced;
use super::state::Step;
use crate::dense::Tensor;
use crate::dtype::Float;
use crate::ops::axes::Axes;
use crate::program::calls::flags_of_node;

/// Whether the result has a first axis for the quantiles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Front {
    Quantiles,
    Nothing,
}

impl<'g, T: Float> Traced<'g, T> {
    fn quantiles_by(
        self,
        name: &'static str,
        (q, front): (&[f64], Front),
        axes: Axes,
        flags: u32,
        at: &'static Location<'static>,
    ) -> Traced<'g, T> {
        let graph = self.graph();
        let rank = self.rank();
        let mask = match axes.mask(rank) {
            Ok(mask) => mask,
            Err(error) => return graph.refuse(name, at, error),
        };
        let (operands, given) =
            ([self.value(), graph.copy_constant(q).value()], flags_of_node(flags));
        let step = Step::new(name, TNR_NODE_QUANTILE, &operands).named(&["a", "q"]).flags(mask);
        let with_front: Traced<'g, T> = graph.step(at, &step.with(&given));
        let kept = if axes.are_kept() { mask } else { 0 };
        if front == Front::Quantiles && kept == 0 {
            return with_front;
        }
        // Elements along the first axis, by indices that have the axes that it is to be: that of
        // the quantiles, and those that are kept.
        let mut shape = vec![1; kept.count_ones() as usize];
        if front == Front::Quantiles {
            shape.insert(0, q.len());
        }
        let indices = match Tensor::from_vec((0..q.len() as i64).collect(), &shape[..]) {
            Ok(indices) => graph.copy_constant(&indices),
            Err(error) => return graph.refuse(name, at, error.into()),
        };
        let operands = [with_front.value(), indices.value()];
        let taken = graph.step(at, &Step::new(name, TNR_NODE_TAKE, &operands).numbers(&[0]));
        if kept == 0 {
            return taken;
        }
        // In front are now the quantiles' and the kept axes, in their order; then the others.
        let quantiles = usize::from(front == Front::Quantiles);
        let (mut next_kept, mut next_other) = (quantiles, shape.len());
        let mut order: Vec<i64> = (0..quantiles as i64).collect();
        for axis in 0..rank {
            let next = if kept >> axis & 1 != 0 { &mut next_kept } else { &mut next_other };
            order.push(*next as i64);
            *next += 1;
        }
        let operands = [taken.value()];
        graph.step(at, &Step::new(name, TNR_NODE_PERMUTE, &operands).numbers(&order))
    }
}

macro_rules! quantiles {
    ($($flags:expr, $quantile:ident $quantiles:ident $median:ident;)*) => {
        impl<'g, T: Float> Traced<'g, T> {$(
            #[doc = concat!("The function [`", stringify!($quantile), "`](fn@crate::ops::",
                stringify!($quantile), "), over axes of this.")]
            #[track_caller]
            #[doc(alias = "percentile")]
            pub fn $quantile(self, q: f64, axes: impl Into<Axes>) -> Traced<'g, T> {
                let (name, at) = (stringify!($quantile), Location::caller());
                self.quantiles_by(name, (&[q], Front::Nothing), axes.into(), $flags, at)
            }

            #[doc = concat!("The function [`", stringify!($quantiles), "`](fn@crate::ops::",
                stringify!($quantiles), "), over axes of this.")]
            #[track_caller]
            #[doc(alias = "percentile")]
            pub fn $quantiles(self, q: &[f64], axes: impl Into<Axes>) -> Traced<'g, T> {
                let (name, at) = (stringify!($quantiles), Location::caller());
                self.quantiles_by(name, (q, Front::Quantiles), axes.into(), $flags, at)
            }

            #[doc = concat!("The function [`", stringify!($median), "`](fn@crate::ops::",
                stringify!($median), "), over axes of this.")]
            #[track_caller]
            pub fn $median(self, axes: impl Into<Axes>) -> Traced<'g, T> {
                let (name, at) = (stringify!($median), Location::caller());
                self.quantiles_by(name, (&[0.5], Front::Nothing), axes.into(), $flags, at)
            }
        )*}
    };
}

quantiles! {
    0, quantile quantiles median;
    TNR_QUANTILE_SKIP_NAN, nan_quantile nan_quantiles nan_median;
}
