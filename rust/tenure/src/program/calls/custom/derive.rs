//! Derivatives of custom operations that are closures.

use std::panic::Location;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use tenure_sys::{TNR_OPERAND_NONE, tnr_graph, tnr_status};

use super::CustomOperation;
use super::own::{self, OperandTypes};
use crate::dtype::Element;
use crate::error::{Error, Failure, Result};
use crate::program::calls::GraphHandle;
use crate::program::state::{CallSite, State};
use crate::program::{Graph, Passes, Traced};
use crate::raw::in_default;

/// The values of the operands, of the result and of its gradient; gives those of the gradients.
type Derive =
    dyn Fn(Graph<'_>, &[u32], [u32; 2]) -> Result<Vec<Option<u32>>, Failure> + Send + Sync;

#[derive(Clone)]
pub(super) struct Derivative(Arc<Derive>);

impl CustomOperation {
    /// Gives the operation a derivative, for [gradients](crate::Graph::gradients). The operands
    /// have the types `I`, and the result has elements of `T`.
    ///
    /// `derive` gets a graph, the operands, the result and the gradient of the result, which are
    /// values of this graph. It gives the gradient by each operand in the form of the operands, or
    /// `None` for an operand that the result does not change with, such as an integer. A gradient
    /// has the shape of its operand. The closure adds operations to the graph, but no inputs. The
    /// graph is the one that is differentiated, or the graph of a branch or a loop in it.
    ///
    /// The first refusal of a value, an error of the closure and a panic end
    /// [`gradients`](crate::Graph::gradients), as errors of [`new`](Self::new) refuse a node.
    ///
    /// ```
    /// #![forbid(unsafe_code)]
    /// use tenure::{CustomOperation, Program};
    ///
    /// # fn main() -> tenure::Result<()> {
    /// let squared = CustomOperation::new::<(f64,), f64>(
    ///     "squared",
    ///     |[x]| Ok(x.to_vec()),
    ///     |(x,), mut out| {
    ///         out.iter_mut().zip(x.iter()).for_each(|(out, x)| *out = x * x);
    ///         Ok(())
    ///     },
    /// )?
    /// .derive::<(f64,), f64>(|_graph, (x,), _squared, gradient| Ok((Some(x * gradient * 2.0),)));
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f64>([3]);
    ///     let by_x = graph.gradients(graph.custom::<f64>(&squared, x).sum(0), x);
    ///     graph.program((x,), by_x)
    /// })?;
    /// assert_eq!(program.run((&[1.0, -2.0, 4.0],))?, [2.0, -4.0, 8.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn derive<I: OperandTypes, T: Element>(
        self,
        derive: impl for<'g> Fn(
            Graph<'g>,
            I::Traced<'g>,
            Traced<'g, T>,
            Traced<'g, T>,
        ) -> Result<I::Gradients<'g>, Failure>
        + Send
        + Sync
        + 'static,
    ) -> CustomOperation {
        let derivative: Arc<Derive> = Arc::new(move |graph, operands, [result, gradient]| {
            require::<I, T>(graph, operands, result)?;
            let operands = I::traced(graph, operands);
            let (result, gradient) = (Traced::of(graph, result), Traced::of(graph, gradient));
            Ok(I::values(derive(graph, operands, result, gradient)?))
        });
        self.changed(0, Some(Derivative(derivative)))
    }
}

/// Refuses values of other types than the closure takes.
fn require<I: OperandTypes, T: Element>(
    graph: Graph<'_>,
    operands: &[u32],
    result: u32,
) -> Result<()> {
    let dtypes = I::dtypes();
    let (wanted, given) = (dtypes.len(), operands.len());
    if wanted != given {
        return Err(Error::invalid(format!("it takes {wanted} operands but is given {given}")));
    }
    let named = (0..).map(|nth| format!("operand {nth}")).zip(dtypes.into_iter().zip(operands));
    let of_result = (String::from("the result"), (T::DTYPE, &result));
    for (name, (wanted, value)) in named.chain([of_result]) {
        match graph.dtype_of(*value) {
            Some(given) if given != wanted => {
                return Err(Error::invalid(format!("{name} is {given} but it takes {wanted}")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// # Safety
///
/// - There are `count` operands, and room for as many gradients that nothing else uses.
pub(super) unsafe fn listed<'a>(
    operands: *const u32,
    gradients: *mut u32,
    count: u32,
) -> (&'a [u32], &'a mut [u32]) {
    if count == 0 {
        return (&[], &mut []);
    }
    // SAFETY: by this function's contract.
    unsafe {
        (
            slice::from_raw_parts(operands, count as usize),
            slice::from_raw_parts_mut(gradients, count as usize),
        )
    }
}

/// Calls the closure with a state of its own for the handle, which the library ends.
pub(super) fn answered(
    derivative: &Derivative,
    graph: *mut tnr_graph,
    operands: &[u32],
    values: [u32; 2],
    gradients: &mut [u32],
) -> tnr_status {
    own::answered(|| {
        let graph = NonNull::new(graph).ok_or_else(|| Error::invalid("the graph is NULL"))?;
        let state = State::of(GraphHandle::lent(graph), Passes::DEFAULT);
        state.note_added_nodes(CallSite { name: "derive", at: Location::caller() });
        let given = in_default(|| (derivative.0)(Graph::of(&state), operands, values))?;
        state.require_sound()?;
        for (to, gradient) in gradients.iter_mut().zip(given) {
            *to = gradient.unwrap_or(TNR_OPERAND_NONE);
        }
        Ok(())
    })
}
