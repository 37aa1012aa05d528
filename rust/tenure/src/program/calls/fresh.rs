//! The forms of new outputs of a run: one, or a tuple, array or `Vec` of forms.

use std::slice;

use super::blank::{OutputMemory, RunExtents, Shape};
use crate::dtype::Element;
use crate::error::Result;
use crate::raw::call::ProgramCall;

/// Shapes of new outputs in their order, and lengths of `Vec`s of them.
pub struct Shapes<'n> {
    pub(super) next: usize,
    pub(super) lens: slice::Iter<'n, usize>,
    pub(super) shape_of: &'n mut dyn FnMut(usize) -> Result<Shape>,
}

impl Shapes<'_> {
    fn shape(&mut self) -> Result<Shape> {
        self.next += 1;
        (self.shape_of)(self.next - 1)
    }
}

/// The types of new outputs in the place `P`.
pub trait Fresh<P: OutputMemory> {
    #[doc(hidden)]
    type Blanks;
    #[doc(hidden)]
    type Made;
    #[doc(hidden)]
    fn blanks(at: P::At<'_>, shapes: &mut Shapes<'_>) -> Result<Self::Blanks>;
    #[doc(hidden)]
    fn lend_blanks<'s>(blanks: &'s mut Self::Blanks, call: &mut ProgramCall<'_, 's>);
    /// It panics where there are fewer extents than blanks.
    ///
    /// # Safety
    ///
    /// - The extents are those of the blanks in their order, each as [`OutputMemory::written`] asks
    ///   for.
    #[doc(hidden)]
    unsafe fn written(
        blanks: Self::Blanks,
        extents: &mut slice::Iter<'_, RunExtents>,
    ) -> Result<Self::Made>;
}

impl<T: Element, P: OutputMemory> Fresh<P> for T {
    type Blanks = P::Blank<T>;
    type Made = P::Tensor<T>;

    fn blanks(at: P::At<'_>, shapes: &mut Shapes<'_>) -> Result<P::Blank<T>> {
        P::blank(at, &shapes.shape()?)
    }
    fn lend_blanks<'s>(blank: &'s mut P::Blank<T>, call: &mut ProgramCall<'_, 's>) {
        P::lend(blank, call);
    }
    unsafe fn written(
        blank: P::Blank<T>,
        extents: &mut slice::Iter<'_, RunExtents>,
    ) -> Result<P::Tensor<T>> {
        let extents = extents.next().expect("each output has extents");
        // SAFETY: by this function's contract.
        unsafe { P::written(blank, extents) }
    }
}

impl<K: Fresh<P>, P: OutputMemory> Fresh<P> for Vec<K> {
    type Blanks = Vec<K::Blanks>;
    type Made = Vec<K::Made>;

    fn blanks(at: P::At<'_>, shapes: &mut Shapes<'_>) -> Result<Vec<K::Blanks>> {
        let len = shapes.lens.next().copied().unwrap_or(0);
        (0..len).map(|_| K::blanks(at, shapes)).collect()
    }
    fn lend_blanks<'s>(blanks: &'s mut Vec<K::Blanks>, call: &mut ProgramCall<'_, 's>) {
        for blank in blanks {
            K::lend_blanks(blank, call);
        }
    }
    unsafe fn written(
        blanks: Vec<K::Blanks>,
        extents: &mut slice::Iter<'_, RunExtents>,
    ) -> Result<Self::Made> {
        // SAFETY: by this function's contract.
        blanks.into_iter().map(|blank| unsafe { K::written(blank, extents) }).collect()
    }
}

impl<K: Fresh<P>, P: OutputMemory, const N: usize> Fresh<P> for [K; N] {
    type Blanks = [K::Blanks; N];
    type Made = [K::Made; N];

    fn blanks(at: P::At<'_>, shapes: &mut Shapes<'_>) -> Result<[K::Blanks; N]> {
        let blanks: Result<Vec<_>> = (0..N).map(|_| K::blanks(at, shapes)).collect();
        Ok(blanks?.try_into().unwrap_or_else(|_| unreachable!("there are N")))
    }
    fn lend_blanks<'s>(blanks: &'s mut [K::Blanks; N], call: &mut ProgramCall<'_, 's>) {
        for blank in blanks {
            K::lend_blanks(blank, call);
        }
    }
    unsafe fn written(
        blanks: [K::Blanks; N],
        extents: &mut slice::Iter<'_, RunExtents>,
    ) -> Result<Self::Made> {
        // SAFETY: by this function's contract.
        let made = unsafe { <Vec<K> as Fresh<P>>::written(blanks.into(), extents) }?;
        Ok(made.try_into().unwrap_or_else(|_| unreachable!("there are N")))
    }
}

impl<P: OutputMemory> Fresh<P> for () {
    type Blanks = ();
    type Made = ();

    fn blanks(_: P::At<'_>, _: &mut Shapes<'_>) -> Result<()> {
        Ok(())
    }
    fn lend_blanks<'s>((): &'s mut (), _: &mut ProgramCall<'_, 's>) {}
    unsafe fn written((): (), _: &mut slice::Iter<'_, RunExtents>) -> Result<()> {
        Ok(())
    }
}

macro_rules! tuples {
    ($($($element:ident)+;)*) => {$(
        impl<P: OutputMemory, $($element: Fresh<P>),+> Fresh<P> for ($($element,)+) {
            type Blanks = ($($element::Blanks,)+);
            type Made = ($($element::Made,)+);

            fn blanks(at: P::At<'_>, shapes: &mut Shapes<'_>) -> Result<Self::Blanks> {
                Ok(($($element::blanks(at, shapes)?,)+))
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn lend_blanks<'s>(blanks: &'s mut Self::Blanks, call: &mut ProgramCall<'_, 's>) {
                let ($($element,)+) = blanks;
                $($element::lend_blanks($element, call);)+
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            unsafe fn written(
                blanks: Self::Blanks,
                extents: &mut slice::Iter<'_, RunExtents>,
            ) -> Result<Self::Made> {
                let ($($element,)+) = blanks;
                // SAFETY: by this function's contract: expressions are computed in their order.
                Ok(unsafe { ($($element::written($element, extents)?,)+) })
            }
        }
    )*};
}
crate::dtype::tuples::up_to_eight!(tuples);
