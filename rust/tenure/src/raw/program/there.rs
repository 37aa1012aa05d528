//! Runs on a device: what is lent to them there, and new memory for their outputs.

use super::fresh::Shape;
use super::run::{Call, Options, ProgramHandle};
use crate::cuda::{Stream, Tensor};
use crate::{Element, Order, Result};

/// What lends inputs of these types on a device.
pub trait LendThere<I> {
    #[doc(hidden)]
    fn lend_there<'s>(&'s mut self, call: &mut Call<'_, 's>);
}

/// What lends outputs of these types on a device.
pub trait LendOutThere<O> {
    #[doc(hidden)]
    fn lend_out_there<'s>(&'s mut self, call: &mut Call<'_, 's>);
}

/// New memory of a device for an output, of which nothing can be read.
pub struct BlankThere<T: Element>(Tensor<T>);

impl<T: Element> BlankThere<T> {
    fn new(stream: &Stream, shape: &Shape) -> Result<BlankThere<T>> {
        // SAFETY: it is shown by `written` alone, whose callers say that it was.
        Ok(BlankThere(unsafe { Tensor::uninitialised(stream, shape.as_slice(), Order::RowMajor) }?))
    }

    fn lend<'s>(&'s mut self, call: &mut Call<'_, 's>) {
        call.output_there(self.0.view_mut());
    }

    /// # Safety
    ///
    /// - Work that writes every element has been enqueued.
    unsafe fn written(self) -> Tensor<T> {
        self.0
    }
}

/// The types of new outputs on a device.
pub trait FreshThere {
    #[doc(hidden)]
    type BlanksThere;
    #[doc(hidden)]
    type MadeThere;
    /// One for each of `count`, by their numbers.
    #[doc(hidden)]
    fn blanks_there(
        stream: &Stream,
        count: usize,
        shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
    ) -> Result<Self::BlanksThere>;
    #[doc(hidden)]
    fn lend_blanks_there<'s>(blanks: &'s mut Self::BlanksThere, call: &mut Call<'_, 's>);
    /// # Safety
    ///
    /// - Work that writes every element of each has been enqueued.
    #[doc(hidden)]
    unsafe fn written_there(blanks: Self::BlanksThere) -> Self::MadeThere;
}

impl<T: Element> FreshThere for T {
    type BlanksThere = BlankThere<T>;
    type MadeThere = Tensor<T>;

    fn blanks_there(
        stream: &Stream,
        _: usize,
        shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
    ) -> Result<BlankThere<T>> {
        BlankThere::new(stream, &shape_of(0)?)
    }
    fn lend_blanks_there<'s>(blank: &'s mut BlankThere<T>, call: &mut Call<'_, 's>) {
        blank.lend(call);
    }
    unsafe fn written_there(blank: BlankThere<T>) -> Tensor<T> {
        // SAFETY: by this function's contract.
        unsafe { blank.written() }
    }
}

impl<T: Element> FreshThere for Vec<T> {
    type BlanksThere = Vec<BlankThere<T>>;
    type MadeThere = Vec<Tensor<T>>;

    fn blanks_there(
        stream: &Stream,
        count: usize,
        shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
    ) -> Result<Vec<BlankThere<T>>> {
        (0..count).map(|nth| BlankThere::new(stream, &shape_of(nth)?)).collect()
    }
    fn lend_blanks_there<'s>(blanks: &'s mut Vec<BlankThere<T>>, call: &mut Call<'_, 's>) {
        for blank in blanks {
            blank.lend(call);
        }
    }
    unsafe fn written_there(blanks: Vec<BlankThere<T>>) -> Vec<Tensor<T>> {
        // SAFETY: by this function's contract.
        blanks.into_iter().map(|blank| unsafe { blank.written() }).collect()
    }
}

impl<T: Element, const N: usize> FreshThere for [T; N] {
    type BlanksThere = [BlankThere<T>; N];
    type MadeThere = [Tensor<T>; N];

    fn blanks_there(
        stream: &Stream,
        _: usize,
        shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
    ) -> Result<[BlankThere<T>; N]> {
        let blanks: Vec<_> = Vec::<T>::blanks_there(stream, N, shape_of)?;
        Ok(blanks.try_into().unwrap_or_else(|_| unreachable!("there are N")))
    }
    fn lend_blanks_there<'s>(blanks: &'s mut [BlankThere<T>; N], call: &mut Call<'_, 's>) {
        for blank in blanks {
            blank.lend(call);
        }
    }
    unsafe fn written_there(blanks: [BlankThere<T>; N]) -> [Tensor<T>; N] {
        // SAFETY: by this function's contract.
        blanks.map(|blank| unsafe { blank.written() })
    }
}

impl FreshThere for () {
    type BlanksThere = ();
    type MadeThere = ();

    fn blanks_there(_: &Stream, _: usize, _: &mut dyn FnMut(usize) -> Result<Shape>) -> Result<()> {
        Ok(())
    }
    fn lend_blanks_there<'s>((): &'s mut (), _: &mut Call<'_, 's>) {}
    unsafe fn written_there((): ()) {}
}

macro_rules! tuples {
    ($($($element:ident $number:literal)+;)*) => {$(
        impl<$($element: Element),+> FreshThere for ($($element,)+) {
            type BlanksThere = ($(BlankThere<$element>,)+);
            type MadeThere = ($(Tensor<$element>,)+);

            fn blanks_there(
                stream: &Stream,
                _: usize,
                shape_of: &mut dyn FnMut(usize) -> Result<Shape>,
            ) -> Result<Self::BlanksThere> {
                Ok(($(BlankThere::<$element>::new(stream, &shape_of($number)?)?,)+))
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn lend_blanks_there<'s>(blanks: &'s mut Self::BlanksThere, call: &mut Call<'_, 's>) {
                let ($($element,)+) = blanks;
                $($element.lend(call);)+
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            unsafe fn written_there(blanks: Self::BlanksThere) -> Self::MadeThere {
                let ($($element,)+) = blanks;
                // SAFETY: by this function's contract.
                unsafe { ($($element.written(),)+) }
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

impl ProgramHandle {
    /// Enqueues a run into new outputs.
    pub(crate) fn run_new_there<I, O: FreshThere>(
        &self,
        stream: &Stream,
        inputs: &mut impl LendThere<I>,
        options: Options,
    ) -> Result<O::MadeThere> {
        let mut blanks = self.with_call(|call| {
            inputs.lend_there(call);
            O::blanks_there(stream, self.output_count(), &mut |nth| Ok(self.shape_of(call, nth)?.1))
        })?;
        self.with_call(|call| {
            inputs.lend_there(call);
            O::lend_blanks_there(&mut blanks, call);
            stream.within(|| self.run(call, options))
        })?;
        // SAFETY: as many were lent as there are outputs, or the library had refused NULL, and a
        // run that answers Ok has enqueued the writing of every element of each: no device computes
        // what decides in a run how many there are.
        Ok(unsafe { O::written_there(blanks) })
    }

    /// Enqueues a run into memory of the caller's.
    pub(crate) fn run_into_there<I, O>(
        &self,
        stream: &Stream,
        inputs: &mut impl LendThere<I>,
        outputs: &mut impl LendOutThere<O>,
        options: Options,
    ) -> Result<()> {
        self.with_call(|call| {
            inputs.lend_there(call);
            outputs.lend_out_there(call);
            stream.within(|| self.run(call, options))
        })
    }
}
