//! Nodes that control a run: a branch to one of two bodies, and a loop that repeats a body.

use std::iter;
use std::marker::PhantomData;
use std::panic::Location;

use tenure_sys::{TNR_NODE_COND, TNR_NODE_WHILE};

use super::state::{CallSite, InputName, State, Step, Value};
use super::tree::{Made, Parts, walked};
use super::{Graph, OutputTypes, Outputs, Size, Traced};
use crate::dtype::Bool8;
use crate::error::{Error, Result};

/// The outputs of a body of [`Graph::cond`] or [`Graph::while_loop`], of these element types:
/// [`Graph::outputs`] makes it.
#[derive(Debug)]
#[must_use = "it is what the body's closure returns"]
pub struct Body<'h, O> {
    /// The numbers of outputs, and the lengths of `Vec`s among them.
    output_count: usize,
    lens: Vec<usize>,
    // Invariant in 'h, as graphs are: no other graph's outputs pass for those of this.
    _brand: PhantomData<fn(Graph<'h>) -> O>,
}

/// The number of outputs of a body, and the lengths of `Vec`s among them.
struct BodyOutputs {
    output_count: usize,
    lens: Vec<usize>,
}

/// Values that a body is handed, in its own graph.
type Handed<'h, V> = <V as OutputTypes>::Values<'h>;

/// Checks that `Vec`s in two trees of one type have the same lengths.
fn require_one_form(site: CallSite, a: &[usize], b: &[usize]) -> Result<()> {
    match a == b {
        true => Ok(()),
        false => Err(Error::invalid(format!("{site}: Vecs of outputs differ in their lengths"))),
    }
}

/// Control flow.
impl<'g> Graph<'g> {
    /// The outputs of a body of [`cond`](Self::cond) or [`while_loop`](Self::while_loop): a
    /// [tree](crate::tree) of values of its own graph.
    ///
    /// # Errors
    ///
    /// The first refusal of a value, as [`program`](Self::program) gives it. `InvalidArgument`: an
    /// output that is a number; a second call.
    pub fn outputs<O: Outputs<'g>>(self, outputs: O) -> Result<Body<'g, O::Types>> {
        self.state.require_sound()?;
        let outputs = walked(&outputs);
        self.add_outputs(&outputs)?;
        self.fail(Error::invalid("the graph has been given its outputs"));
        let (output_count, lens) = (outputs.leaves.len(), outputs.lens);
        Ok(Body { output_count, lens, _brand: PhantomData })
    }

    /// The outputs of one of two bodies: of `then` in runs where `flag`, which has one element, is
    /// true, and of `otherwise` in others. Only the one that is taken is computed, so that what the
    /// other would refuse of the elements is no error.
    ///
    /// A body is a graph of its own. It is handed `values`, a [tree](crate::tree) of them, and takes
    /// no other of the graph around it. Its extents are those of the graph around it,
    /// [named](Self::extent) again; those of a body within it are to be named in it too. Both give
    /// outputs of the same types and shapes, by [`outputs`](Self::outputs); where a run
    /// [finds](Traced::nonzero) how many elements there are, in the body or in the values, the
    /// result has as many as the branch gives that is taken.
    ///
    /// # Errors
    ///
    /// The errors of the closures. `InvalidArgument`: a flag of another number of elements, a value
    /// that is a number, outputs of other shapes or another number of them; bodies within bodies
    /// deeper than 8. `OutOfMemory`. [`program`](Self::program) then gives the same error.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (a, b) = (graph.input::<i32>([2]), graph.input::<i32>([2]));
    ///     let all = b.ne(0).all(0);
    ///     let quotient = graph.cond(
    ///         all,
    ///         (a, b),
    ///         |body, (a, b)| body.outputs(a / b),
    ///         |body, (a, _)| body.outputs(a),
    ///     )?;
    ///     graph.program((a, b), quotient)
    /// })?;
    /// assert_eq!(program.run((&[6, 8], &[3, 2]))?, [2, 4]);
    /// assert_eq!(program.run((&[6, 8], &[3, 0]))?, [6, 8]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("if", "where"))]
    pub fn cond<V: Outputs<'g>, O: OutputTypes>(
        self,
        flag: Traced<'g, Bool8>,
        values: V,
        then: impl for<'h> FnOnce(Graph<'h>, Handed<'h, V::Types>) -> Result<Body<'h, O>>,
        otherwise: impl for<'h> FnOnce(Graph<'h>, Handed<'h, V::Types>) -> Result<Body<'h, O>>,
    ) -> Result<O::Values<'g>> {
        let site = CallSite { name: "cond", at: Location::caller() };
        let walk = walked(&values);
        self.control(|graph| {
            let (lens, handed) = (&walk.lens, walk.numbers());
            let (then, outputs) = graph.body(site, &handed, |inner, values| {
                then(inner, Parts::made(inner, values, lens))
            })?;
            let (otherwise, others) = graph.body(site, &handed, |inner, values| {
                otherwise(inner, Parts::made(inner, values, lens))
            })?;
            // The core refuses other numbers of outputs.
            if outputs.output_count == others.output_count {
                require_one_form(site, &outputs.lens, &others.lens)?;
            }
            let operands: Vec<u32> = iter::once(flag.value()).chain(handed).collect();
            let numbers = [then.into(), otherwise.into()];
            let step = Step::new(site.name, TNR_NODE_COND, &operands).numbers(&numbers);
            let step = step.named(&["the flag", "a value"]);
            Ok((graph.results(site, &step, outputs.output_count)?, outputs.lens))
        })
    }

    /// The state behind a loop: as long as `condition` gives true, `body` makes the next state of
    /// the one before, at most `limit` times, a number or an extent; a run whose condition still holds
    /// then is refused.
    ///
    /// Both are graphs of their own, as those of [`cond`](Self::cond), and are handed the state and
    /// the values of `kept`, which no iteration changes; each is a [tree](crate::tree), and
    /// `()` for none. The condition gives one element, and the body outputs of the types
    /// and shapes of the state; where a run [finds](Traced::nonzero) how many elements there are,
    /// each iteration may give fewer than the state began with.
    ///
    /// # Errors
    ///
    /// The errors of [`cond`](Self::cond); a limit of 0. Runs: `InvalidArgument` for a loop that
    /// does not end within its limit.
    ///
    /// ```
    /// # use tenure::*;
    /// let root = Program::trace(|graph| {
    ///     let a = graph.input::<f64>(());
    ///     let near = graph.while_loop(
    ///         50,
    ///         a,
    ///         a,
    ///         |body, x, a| body.outputs((x * x - a).abs().gt(1e-9)),
    ///         |body, x, a| body.outputs((x + a / x) * 0.5),
    ///     )?;
    ///     graph.program((a,), near)
    /// })?;
    /// let found = root.run((&Tensor::full([], 2.0)?,))?.item().unwrap();
    /// assert!((found - 2.0_f64.sqrt()).abs() < 1e-9);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("loop", "scan", "fori_loop"))]
    pub fn while_loop<S, K>(
        self,
        limit: impl Into<Size<'g>>,
        state: S,
        kept: K,
        condition: impl for<'h> FnOnce(
            Graph<'h>,
            Handed<'h, S::Types>,
            Handed<'h, K::Types>,
        ) -> Result<Body<'h, Bool8>>,
        body: impl for<'h> FnOnce(
            Graph<'h>,
            Handed<'h, S::Types>,
            Handed<'h, K::Types>,
        ) -> Result<Body<'h, S::Types>>,
    ) -> Result<Handed<'g, S::Types>>
    where
        S: Outputs<'g>,
        K: Outputs<'g>,
    {
        let (site, limit) = (CallSite { name: "while_loop", at: Location::caller() }, limit.into());
        self.control(|graph| {
            let (state, kept) = (walked(&state), walked(&kept));
            let mut handed = state.numbers();
            let state_count = handed.len();
            handed.extend(kept.numbers());
            let (condition, _) = graph.body(site, &handed, |inner, values| {
                let state = Parts::made(inner, &mut values.take(state_count), &state.lens);
                condition(inner, state, Parts::made(inner, values, &kept.lens))
            })?;
            let (body, outputs) = graph.body(site, &handed, |inner, values| {
                let state = Parts::made(inner, &mut values.take(state_count), &state.lens);
                body(inner, state, Parts::made(inner, values, &kept.lens))
            })?;
            let count = outputs.output_count;
            if count != state_count {
                return Err(Error::invalid(format!(
                    "the state has {state_count} values but the body gives {count}"
                ))
                .prefixed(&format!("{site}: ")));
            }
            require_one_form(site, &state.lens, &outputs.lens)?;
            let limit = limit.number_up_to(tenure_sys::TNR_EXTENT - 1)?;
            let numbers = [condition.into(), body.into(), limit];
            let step = Step::new(site.name, TNR_NODE_WHILE, &handed).numbers(&numbers);
            Ok((graph.results(site, &step.named(&["a value"]), count)?, outputs.lens))
        })
    }

    /// Returns the values that `add` adds, with the lengths of `Vec`s among them, unless something
    /// was refused before. An error of `add` is also recorded as the graph's failure.
    fn control<M: Made<'g>>(
        self,
        add: impl FnOnce(Graph<'g>) -> Result<(std::ops::Range<u32>, Vec<usize>)>,
    ) -> Result<M> {
        self.state.require_sound()?;
        match add(self) {
            Ok((mut numbers, lens)) => Ok(Parts::made(self, &mut numbers, &lens)),
            Err(error) => {
                self.fail(error.clone());
                Err(error)
            }
        }
    }

    /// Adds the graph that `trace` makes of inputs like these values; with its outputs.
    fn body<O>(
        self,
        site: CallSite,
        handed: &[u32],
        trace: impl for<'h> FnOnce(Graph<'h>, &mut dyn Iterator<Item = u32>) -> Result<Body<'h, O>>,
    ) -> Result<(u32, BodyOutputs)> {
        let inner = State::new(self.state.passes, None)?;
        for (number, value) in handed.iter().enumerate() {
            let outer = &self.state.handle;
            let shape = outer.shape_of(*value)?;
            let shape: Vec<i64> = shape.as_slice().iter().map(|extent| *extent as i64).collect();
            let input = inner.handle.add_input(outer.dtype_of(*value)?, &shape)?;
            inner.note_value(input, Value::Input(number));
        }
        inner.inputs.replace(vec![InputName::default(); handed.len()]);
        let inputs = 0..handed.len() as u32;
        let Body { output_count, lens, .. } = trace(Graph::of(&inner), &mut inputs.into_iter())?;
        let added = self.state.add_body(&inner);
        let added = added.map_err(|error| error.prefixed(&format!("{site}: ")))?;
        Ok((added, BodyOutputs { output_count, lens }))
    }

    /// Adds a node, and returns the numbers of its `count` results.
    fn results(
        self,
        site: CallSite,
        step: &Step<'_>,
        count: usize,
    ) -> Result<std::ops::Range<u32>> {
        let state = self.state;
        let first = state.handle.add_node(&step.node);
        let first = first.map_err(|error| state.refused(site, step, &error))?;
        let results = first..first + count as u32;
        results.clone().for_each(|value| state.note_value(value, Value::Node(site)));
        state.note_node(site);
        Ok(results)
    }
}
