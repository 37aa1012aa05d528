//! New memory for the outputs of a run.

use tenure_sys::{TNR_MAX_RANK, TNR_VIEW_EXCLUSIVE, tnr_view, tnr_view_mut};

use super::run::Call;
use crate::dense::Held;
use crate::ops::Extents;
use crate::raw::LentMut;
use crate::{DType, DynTensor, Element, Error, ErrorKind, Order, Result, Tensor, TensorView};

/// The shape of an output.
pub struct Shape(pub(super) Extents);

impl Shape {
    pub(crate) fn as_slice(&self) -> &[usize] {
        self.0.as_slice()
    }
}

/// New memory for an output, of which nothing can be read.
pub struct Blank<T: Element> {
    view: tnr_view_mut,
    held: Held<T>,
}

impl<T: Element> Blank<T> {
    pub(crate) fn new(extents: &[usize]) -> Result<Blank<T>> {
        // SAFETY: it is shown by `written` alone, whose callers say that it was.
        let held = unsafe { Held::<T>::uninitialised(extents, Order::RowMajor) }?;
        let view = tnr_view { flags: TNR_VIEW_EXCLUSIVE, ..*held.raw() };
        Ok(Blank { view: tnr_view_mut { view }, held })
    }

    #[inline]
    pub(crate) fn lend<'s>(&'s mut self, call: &mut Call<'_, 's>) {
        // SAFETY: a dense view of memory that nobody else knows of.
        call.output(unsafe { LentMut::new(&self.view) });
    }

    /// The elements that a run has written: the memory itself, or a copy of its first part.
    ///
    /// # Safety
    ///
    /// - No extent is more than the memory's, and every element up to them has been written.
    pub(crate) unsafe fn written(self, extents: &RunExtents) -> Result<Tensor<T>> {
        let view = &self.view.view;
        if view.shape == *extents {
            return Ok(Tensor::over(self.held));
        }
        // SAFETY: a part of a dense view, whose elements have been written; the memory is alive,
        // and nobody else knows of it.
        unsafe { TensorView::<T>::from_raw(tnr_view { shape: *extents, ..*view }) }.to_tensor()
    }
}

/// The extents of an output as a run has them; those beyond its rank are 0.
pub type RunExtents = [i64; TNR_MAX_RANK];

/// The types of new outputs.
pub trait Fresh {
    #[doc(hidden)]
    type Blanks;
    #[doc(hidden)]
    type Made;
    /// One for each of `count`, by their numbers.
    #[doc(hidden)]
    fn blanks(
        count: usize,
        shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
    ) -> Result<Self::Blanks>;
    #[doc(hidden)]
    fn lend_blanks<'s>(blanks: &'s mut Self::Blanks, call: &mut Call<'_, 's>);
    /// # Safety
    ///
    /// - The extents are as many as the blanks, each as [`Blank::written`] asks for.
    #[doc(hidden)]
    unsafe fn written(blanks: Self::Blanks, extents: &[RunExtents]) -> Result<Self::Made>;
}

impl<T: Element> Fresh for T {
    type Blanks = Blank<T>;
    type Made = Tensor<T>;

    fn blanks(_: usize, shape_of: &mut dyn FnMut(usize) -> Result<Shape>) -> Result<Blank<T>> {
        Blank::new(shape_of(0)?.as_slice())
    }
    fn lend_blanks<'s>(blank: &'s mut Blank<T>, call: &mut Call<'_, 's>) {
        blank.lend(call);
    }
    unsafe fn written(blank: Blank<T>, extents: &[RunExtents]) -> Result<Tensor<T>> {
        // SAFETY: by this function's contract.
        unsafe { blank.written(&extents[0]) }
    }
}

impl<T: Element> Fresh for Vec<T> {
    type Blanks = Vec<Blank<T>>;
    type Made = Vec<Tensor<T>>;

    fn blanks(
        count: usize,
        shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
    ) -> Result<Vec<Blank<T>>> {
        (0..count).map(|nth| Blank::new(shape_of(nth)?.as_slice())).collect()
    }
    fn lend_blanks<'s>(blanks: &'s mut Vec<Blank<T>>, call: &mut Call<'_, 's>) {
        for blank in blanks {
            blank.lend(call);
        }
    }
    unsafe fn written(blanks: Vec<Blank<T>>, extents: &[RunExtents]) -> Result<Vec<Tensor<T>>> {
        // SAFETY: by this function's contract.
        blanks.into_iter().zip(extents).map(|(blank, of)| unsafe { blank.written(of) }).collect()
    }
}

impl<T: Element, const N: usize> Fresh for [T; N] {
    type Blanks = [Blank<T>; N];
    type Made = [Tensor<T>; N];

    fn blanks(_: usize, shape_of: &mut dyn FnMut(usize) -> Result<Shape>) -> Result<[Blank<T>; N]> {
        let blanks: Vec<_> = Vec::<T>::blanks(N, shape_of)?;
        Ok(blanks.try_into().unwrap_or_else(|_| unreachable!("there are N")))
    }
    fn lend_blanks<'s>(blanks: &'s mut [Blank<T>; N], call: &mut Call<'_, 's>) {
        for blank in blanks {
            blank.lend(call);
        }
    }
    unsafe fn written(blanks: [Blank<T>; N], extents: &[RunExtents]) -> Result<[Tensor<T>; N]> {
        // SAFETY: by this function's contract.
        let made = unsafe { Vec::<T>::written(blanks.into(), extents) }?;
        Ok(made.try_into().unwrap_or_else(|_| unreachable!("there are N")))
    }
}

impl Fresh for () {
    type Blanks = ();
    type Made = ();

    fn blanks(_: usize, _: &mut dyn FnMut(usize) -> Result<Shape>) -> Result<()> {
        Ok(())
    }
    fn lend_blanks<'s>((): &'s mut (), _: &mut Call<'_, 's>) {}
    unsafe fn written((): (), _: &[RunExtents]) -> Result<()> {
        Ok(())
    }
}

macro_rules! tuples {
    ($($($element:ident $number:literal)+;)*) => {$(
        impl<$($element: Element),+> Fresh for ($($element,)+) {
            type Blanks = ($(Blank<$element>,)+);
            type Made = ($(Tensor<$element>,)+);

            fn blanks(
                _: usize,
                shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
            ) -> Result<Self::Blanks> {
                Ok(($(Blank::<$element>::new(shape_of($number)?.as_slice())?,)+))
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn lend_blanks<'s>(blanks: &'s mut Self::Blanks, call: &mut Call<'_, 's>) {
                let ($($element,)+) = blanks;
                $($element.lend(call);)+
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            unsafe fn written(
                blanks: Self::Blanks,
                extents: &[RunExtents],
            ) -> Result<Self::Made> {
                let ($($element,)+) = blanks;
                // SAFETY: by this function's contract.
                Ok(unsafe { ($($element.written(&extents[$number])?,)+) })
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

/// New memory for an output whose element type is found when it runs.
pub(super) struct DynBlank(pub(super) Box<dyn AnyBlank>);

pub(super) trait AnyBlank {
    fn lend<'s>(&'s mut self, call: &mut Call<'_, 's>);
    /// # Safety
    ///
    /// - As of [`Blank::written`].
    unsafe fn written(self: Box<Self>, extents: &RunExtents) -> Result<DynTensor>;
}

impl<T: Element> AnyBlank for Blank<T> {
    fn lend<'s>(&'s mut self, call: &mut Call<'_, 's>) {
        Blank::lend(self, call);
    }
    unsafe fn written(self: Box<Self>, extents: &RunExtents) -> Result<DynTensor> {
        // SAFETY: by this function's contract.
        Ok(unsafe { Blank::written(*self, extents) }?.into())
    }
}

macro_rules! dyn_blank {
    ($dtype:expr, $extents:expr; $($element:ty)*) => {
        $(if $dtype == <$element>::DTYPE {
            return Ok(DynBlank(Box::new(Blank::<$element>::new($extents)?)));
        })*
    };
}

impl DynBlank {
    pub(super) fn new(dtype: DType, extents: &[usize]) -> Result<DynBlank> {
        dyn_blank! {
            dtype, extents;
            f64 f32 crate::f16 crate::bf16 i8 i16 i32 i64 u8 u16 u32 u64 crate::Bool8
            crate::Complex<f32> crate::Complex<f64>
        }
        Err(Error::new(ErrorKind::Unsupported, format!("an output of {dtype:?}")))
    }
}
