//! Calls of custom operations.

use std::panic::Location;

use tenure_sys::TNR_NODE_CUSTOM;

use super::state::Step;
use super::tree::walked;
use super::{Graph, IntoSizes, Operands, Traced};
use crate::dtype::Element;
use crate::error::Error;
use crate::program::calls::custom::CustomOperation;

/// Custom operations.
impl<'g> Graph<'g> {
    /// The result of a custom operation, with elements of type `T`.
    ///
    /// Operands are a [tree](crate::tree) of values.
    /// [`Program::save`](crate::Program) writes the operation's name, and
    /// [`Program::from_file`](crate::Program) takes it again.
    ///
    /// ```
    /// # use tenure::*;
    /// let swapped = CustomOperation::new::<(u16,), u16>(
    ///     "swap_bytes",
    ///     |[x]| Ok(x.to_vec()),
    ///     |(x,), mut out| {
    ///         out.iter_mut().zip(x.iter()).for_each(|(out, x)| *out = x.swap_bytes());
    ///         Ok(())
    ///     },
    /// )?;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<u16>([2]);
    ///     graph.program((x,), graph.custom::<u16>(&swapped, x))
    /// })?;
    /// assert_eq!(program.run((&[0x1234, 0x00ff],))?, [0x3412, 0xff00]);
    ///
    /// let error = Program::trace(|graph| {
    ///     let x = graph.input::<u32>([2]);
    ///     graph.program((x,), graph.custom::<u16>(&swapped, x))
    /// });
    /// assert!(error.err().unwrap().message().ends_with("operand 0 is u32 but it takes u16"));
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn custom<T: Element>(
        self,
        operation: &CustomOperation,
        operands: impl Operands<'g>,
    ) -> Traced<'g, T> {
        self.custom_with(operation, operands, ())
    }

    /// Calls an operation in C that takes numbers, otherwise like [`custom`](Self::custom). Each
    /// number may be an [extent](Self::extent).
    #[track_caller]
    pub fn custom_with<T: Element>(
        self,
        operation: &CustomOperation,
        operands: impl Operands<'g>,
        numbers: impl IntoSizes<'g>,
    ) -> Traced<'g, T> {
        const NAME: &str = "custom";
        let at = Location::caller();
        let numbers = match numbers.numbers() {
            Ok(numbers) => numbers,
            Err(error) => return self.refuse(NAME, at, error),
        };
        let index = self.number(at, NAME, |state| state.custom(operation).map(i64::from));
        let values = walked(&operands).numbers();
        let step = Step::new(NAME, TNR_NODE_CUSTOM | index as u32, &values);
        let result = self.step(at, &step.numbers(numbers.as_slice()));
        match self.dtype_of(result.value()) {
            Some(dtype) if dtype != T::DTYPE => {
                let (name, wanted) = (operation.name(), T::DTYPE);
                let why = format!("{name} gives {dtype} but {wanted} is asked for");
                self.refuse(NAME, at, Error::invalid(why))
            }
            _ => result,
        }
    }
}
