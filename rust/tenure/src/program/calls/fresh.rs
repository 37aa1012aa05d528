//! The forms of new outputs of a run: one, or a tuple, array or `Vec`.

use super::blank::{OutputMemory, RunExtents, Shape};
use crate::dtype::Element;
use crate::error::Result;
use crate::raw::call::ProgramCall;

/// The types of new outputs in the memory `P`.
pub trait Fresh<P: OutputMemory> {
    #[doc(hidden)]
    type Blanks;
    #[doc(hidden)]
    type Made;
    /// One for each of `count`, by their numbers.
    #[doc(hidden)]
    fn blanks(
        at: P::At<'_>,
        count: usize,
        shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
    ) -> Result<Self::Blanks>;
    #[doc(hidden)]
    fn lend_blanks<'s>(blanks: &'s mut Self::Blanks, call: &mut ProgramCall<'_, 's>);
    /// # Safety
    ///
    /// - The extents are as many as the blanks, each as [`OutputMemory::written`] asks for.
    #[doc(hidden)]
    unsafe fn written(blanks: Self::Blanks, extents: &[RunExtents]) -> Result<Self::Made>;
}

impl<T: Element, P: OutputMemory> Fresh<P> for T {
    type Blanks = P::Blank<T>;
    type Made = P::Tensor<T>;

    fn blanks(
        at: P::At<'_>,
        _: usize,
        shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
    ) -> Result<P::Blank<T>> {
        P::blank(at, &shape_of(0)?)
    }
    fn lend_blanks<'s>(blank: &'s mut P::Blank<T>, call: &mut ProgramCall<'_, 's>) {
        P::lend(blank, call);
    }
    unsafe fn written(blank: P::Blank<T>, extents: &[RunExtents]) -> Result<P::Tensor<T>> {
        // SAFETY: by this function's contract.
        unsafe { P::written(blank, &extents[0]) }
    }
}

impl<T: Element, P: OutputMemory> Fresh<P> for Vec<T> {
    type Blanks = Vec<P::Blank<T>>;
    type Made = Vec<P::Tensor<T>>;

    fn blanks(
        at: P::At<'_>,
        count: usize,
        shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
    ) -> Result<Vec<P::Blank<T>>> {
        (0..count).map(|nth| P::blank(at, &shape_of(nth)?)).collect()
    }
    fn lend_blanks<'s>(blanks: &'s mut Vec<P::Blank<T>>, call: &mut ProgramCall<'_, 's>) {
        for blank in blanks {
            P::lend(blank, call);
        }
    }
    unsafe fn written(blanks: Vec<P::Blank<T>>, extents: &[RunExtents]) -> Result<Self::Made> {
        blanks
            .into_iter()
            .zip(extents)
            // SAFETY: by this function's contract.
            .map(|(blank, of)| unsafe { P::written(blank, of) })
            .collect()
    }
}

impl<T: Element, P: OutputMemory, const N: usize> Fresh<P> for [T; N] {
    type Blanks = [P::Blank<T>; N];
    type Made = [P::Tensor<T>; N];

    fn blanks(
        at: P::At<'_>,
        _: usize,
        shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
    ) -> Result<[P::Blank<T>; N]> {
        let blanks: Vec<_> = <Vec<T> as Fresh<P>>::blanks(at, N, shape_of)?;
        Ok(blanks.try_into().unwrap_or_else(|_| unreachable!("there are N")))
    }
    fn lend_blanks<'s>(blanks: &'s mut [P::Blank<T>; N], call: &mut ProgramCall<'_, 's>) {
        for blank in blanks {
            P::lend(blank, call);
        }
    }
    unsafe fn written(blanks: [P::Blank<T>; N], extents: &[RunExtents]) -> Result<Self::Made> {
        // SAFETY: by this function's contract.
        let made = unsafe { <Vec<T> as Fresh<P>>::written(blanks.into(), extents) }?;
        Ok(made.try_into().unwrap_or_else(|_| unreachable!("there are N")))
    }
}

impl<P: OutputMemory> Fresh<P> for () {
    type Blanks = ();
    type Made = ();

    fn blanks(_: P::At<'_>, _: usize, _: &mut dyn FnMut(usize) -> Result<Shape>) -> Result<()> {
        Ok(())
    }
    fn lend_blanks<'s>((): &'s mut (), _: &mut ProgramCall<'_, 's>) {}
    unsafe fn written((): (), _: &[RunExtents]) -> Result<()> {
        Ok(())
    }
}

macro_rules! tuples {
    ($($($element:ident $number:literal)+;)*) => {$(
        impl<P: OutputMemory, $($element: Element),+> Fresh<P> for ($($element,)+) {
            type Blanks = ($(P::Blank<$element>,)+);
            type Made = ($(P::Tensor<$element>,)+);

            fn blanks(
                at: P::At<'_>,
                _: usize,
                shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
            ) -> Result<Self::Blanks> {
                Ok(($(P::blank::<$element>(at, &shape_of($number)?)?,)+))
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn lend_blanks<'s>(blanks: &'s mut Self::Blanks, call: &mut ProgramCall<'_, 's>) {
                let ($($element,)+) = blanks;
                $(P::lend($element, call);)+
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            unsafe fn written(
                blanks: Self::Blanks,
                extents: &[RunExtents],
            ) -> Result<Self::Made> {
                let ($($element,)+) = blanks;
                // SAFETY: by this function's contract.
                Ok(unsafe { ($(P::written($element, &extents[$number])?,)+) })
            }
        }
    )*};
}

tuples! {
    T1 0;
    T1 0 T2 1;
    T1 0 T2 1 T3 2;
    T1 0 T2 1 T3 2 T4 3;
    T1 0 T2 1 T3 2 T4 3 T5 4;
    T1 0 T2 1 T3 2 T4 3 T5 4 T6 5;
    T1 0 T2 1 T3 2 T4 3 T5 4 T6 5 T7 6;
    T1 0 T2 1 T3 2 T4 3 T5 4 T6 5 T7 6 T8 7;
}
