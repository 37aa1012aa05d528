//! The data behind batches: one array or several in step, the samples along axis 0.

use std::ops::Range;

use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::operand::AsView;
use crate::ops::copy_into;

/// The data that a [`Loader`](super::Loader) takes batches from. Axis 0 counts the samples.
///
/// | dataset | its batches are viewed as | and own |
/// | --- | --- | --- |
/// | [`SharedTensor<T>`], which threads of their own can read | [`TensorView<T>`](TensorView) | [`Tensor<T>`](Tensor) |
/// | [`TensorView<T>`](TensorView), of any strides | the same | the same |
/// | a tuple of two to four datasets, e.g. features and labels | a tuple of views | a tuple of tensors |
/// | a `Vec` of datasets of one type | a `Vec` of views | a `Vec` of tensors |
///
/// Sealed.
pub trait Dataset: Send + Sync + sealed::Dataset {}

/// A batch to read.
pub(super) type Views<'b, D> = <<D as sealed::Dataset>::Owned as sealed::Owned>::Views<'b>;
/// A batch to write.
pub(super) type ViewsMut<'b, D> = <<D as sealed::Dataset>::Owned as sealed::Owned>::ViewsMut<'b>;
/// A batch with its memory.
pub(super) type Owned<D> = <D as sealed::Dataset>::Owned;

pub(super) mod sealed {
    use super::{Range, Result};

    pub trait Dataset {
        type Owned: Owned;

        /// Calls `each` with the shape of each array.
        fn describe(&self, each: &mut dyn FnMut(&[usize]));
        fn part(&self, samples: Range<usize>) -> <Self::Owned as Owned>::Views<'_>;
        fn allocate(&self, samples: usize) -> Result<Self::Owned>;
        /// Copies samples to the first places of `owned`.
        fn gather(&self, indices: &[usize], owned: &mut Self::Owned) -> Result<()>;
    }

    // A separate trait, which is `'static`: with views of a dataset that is itself borrowed, no
    // bound could require a function that takes them for every lifetime.
    pub trait Owned: Send + 'static {
        type Views<'b>;
        type ViewsMut<'b>;

        /// The first samples.
        fn lend(&self, samples: usize) -> Self::Views<'_>;
        fn lend_mut(&mut self, samples: usize) -> Self::ViewsMut<'_>;
        fn copy(views: &Self::Views<'_>) -> Result<Self>
        where
            Self: Sized;
    }
}

/// Refuses arrays that do not go in step; returns how many samples there are.
pub(super) fn samples<D: Dataset>(data: &D) -> Result<usize> {
    let (mut count, mut number, mut refused) = (None, 0, None);
    data.describe(&mut |shape| {
        let wrong = match (shape.first(), count) {
            (None, _) => Some(format!("array {number} has no axis to count samples along")),
            (Some(&own), Some(first)) if own != first => {
                Some(format!("array {number} has {own} samples but array 0 has {first}"))
            }
            (Some(&own), _) => {
                count = Some(own);
                None
            }
        };
        refused = refused.take().or(wrong);
        number += 1;
    });
    match (refused, count) {
        (Some(message), _) => Err(Error::invalid(message)),
        (None, Some(count)) => Ok(count),
        (None, None) => Err(Error::invalid("a dataset of no arrays has no samples")),
    }
}

const FITS: &str = "the loader keeps to the samples that there are";

fn allocate<T: Element>(data: &TensorView<'_, T>, samples: usize) -> Result<Tensor<T>> {
    let mut shape = data.shape().to_vec();
    shape[0] = samples;
    Tensor::zeros(shape)
}

fn gather<T: Element>(
    data: &TensorView<'_, T>,
    indices: &[usize],
    owned: &mut Tensor<T>,
) -> Result<()> {
    let mut out = owned.view_mut().slice(0, ..indices.len())?;
    if let (Some(rows), Some(out)) = (data.as_slice(), out.view_mut().into_mut_slice()) {
        super::gather::rows(rows, out.len() / indices.len().max(1), indices, out);
        return Ok(());
    }
    for (place, index) in indices.iter().enumerate() {
        let row = data.index(0, *index)?;
        copy_into(row, &mut out.view_mut().index(0, place)?)?;
    }
    Ok(())
}

macro_rules! arrays {
    ($([$($parameter:tt)*] $type:ty;)*) => {$(
        impl<$($parameter)*> Dataset for $type {}

        impl<$($parameter)*> sealed::Dataset for $type {
            type Owned = Tensor<T>;

            fn describe(&self, each: &mut dyn FnMut(&[usize])) {
                each(self.shape());
            }

            fn part(&self, samples: Range<usize>) -> TensorView<'_, T> {
                self.as_view().slice(0, samples).expect(FITS)
            }

            fn allocate(&self, samples: usize) -> Result<Tensor<T>> {
                allocate(&self.as_view(), samples)
            }

            fn gather(&self, indices: &[usize], owned: &mut Tensor<T>) -> Result<()> {
                gather(&self.as_view(), indices, owned)
            }
        }
    )*};
}

arrays! {
    [T: Element] SharedTensor<T>;
    ['a, T: Element] TensorView<'a, T>;
}

impl<T: Element> sealed::Owned for Tensor<T> {
    type Views<'b> = TensorView<'b, T>;
    type ViewsMut<'b> = TensorViewMut<'b, T>;

    fn lend(&self, samples: usize) -> TensorView<'_, T> {
        self.view().slice(0, ..samples).expect(FITS)
    }

    fn lend_mut(&mut self, samples: usize) -> TensorViewMut<'_, T> {
        self.view_mut().slice(0, ..samples).expect(FITS)
    }

    fn copy(views: &TensorView<'_, T>) -> Result<Self> {
        views.to_tensor()
    }
}

impl<D: Dataset> Dataset for Vec<D> {}

impl<D: Dataset> sealed::Dataset for Vec<D> {
    type Owned = Vec<D::Owned>;

    fn describe(&self, each: &mut dyn FnMut(&[usize])) {
        self.iter().for_each(|data| data.describe(each));
    }

    fn part(&self, samples: Range<usize>) -> Views<'_, Self> {
        self.iter().map(|data| data.part(samples.clone())).collect()
    }

    fn allocate(&self, samples: usize) -> Result<Self::Owned> {
        self.iter().map(|data| data.allocate(samples)).collect()
    }

    fn gather(&self, indices: &[usize], owned: &mut Self::Owned) -> Result<()> {
        self.iter().zip(owned).try_for_each(|(data, owned)| data.gather(indices, owned))
    }
}

impl<O: sealed::Owned> sealed::Owned for Vec<O> {
    type Views<'b> = Vec<O::Views<'b>>;
    type ViewsMut<'b> = Vec<O::ViewsMut<'b>>;

    fn lend(&self, samples: usize) -> Self::Views<'_> {
        self.iter().map(|owned| owned.lend(samples)).collect()
    }

    fn lend_mut(&mut self, samples: usize) -> Self::ViewsMut<'_> {
        self.iter_mut().map(|owned| owned.lend_mut(samples)).collect()
    }

    fn copy(views: &Self::Views<'_>) -> Result<Self> {
        views.iter().map(O::copy).collect()
    }
}

macro_rules! tuples {
    ($($($data:ident $at:tt)+;)*) => {$(
        impl<$($data: Dataset),+> Dataset for ($($data,)+) {}

        impl<$($data: Dataset),+> sealed::Dataset for ($($data,)+) {
            type Owned = ($($data::Owned,)+);

            fn describe(&self, each: &mut dyn FnMut(&[usize])) {
                $(self.$at.describe(each);)+
            }

            fn part(&self, samples: Range<usize>) -> Views<'_, Self> {
                ($(self.$at.part(samples.clone()),)+)
            }

            fn allocate(&self, samples: usize) -> Result<Self::Owned> {
                Ok(($(self.$at.allocate(samples)?,)+))
            }

            fn gather(&self, indices: &[usize], owned: &mut Self::Owned) -> Result<()> {
                $(self.$at.gather(indices, &mut owned.$at)?;)+
                Ok(())
            }
        }

        impl<$($data: sealed::Owned),+> sealed::Owned for ($($data,)+) {
            type Views<'b> = ($($data::Views<'b>,)+);
            type ViewsMut<'b> = ($($data::ViewsMut<'b>,)+);

            fn lend(&self, samples: usize) -> Self::Views<'_> {
                ($(self.$at.lend(samples),)+)
            }

            fn lend_mut(&mut self, samples: usize) -> Self::ViewsMut<'_> {
                ($(self.$at.lend_mut(samples),)+)
            }

            fn copy(views: &Self::Views<'_>) -> Result<Self> {
                Ok(($($data::copy(&views.$at)?,)+))
            }
        }
    )*};
}

tuples! {
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
}
