//! Recurrent layers: loops over the time of sequences.

use std::panic::Location;

use crate::dtype::Float;
use crate::error::{Error, Result};
use crate::program::{IntoSizes, Traced};

/// The weights of [`lstm`] and [`gru`], in PyTorch's layout.
#[derive(Clone, Copy, Debug)]
pub struct Recurrent<'g, T: Float> {
    input: Traced<'g, T>,
    hidden: Traced<'g, T>,
    biases: Option<[Traced<'g, T>; 2]>,
    is_reversed: bool,
}

impl<'g, T: Float> Recurrent<'g, T> {
    /// The weights of the input, `[gates * hidden, inputs]`, and of the state,
    /// `[gates * hidden, hidden]`: `weight_ih_l0` and `weight_hh_l0`. An LSTM has 4 gates, a GRU 3.
    pub const fn new(input: Traced<'g, T>, hidden: Traced<'g, T>) -> Self {
        Recurrent { input, hidden, biases: None, is_reversed: false }
    }

    /// The biases of both, `[gates * hidden]`: `bias_ih_l0` and `bias_hh_l0`.
    #[must_use]
    pub const fn biases(mut self, input: Traced<'g, T>, hidden: Traced<'g, T>) -> Self {
        self.biases = Some([input, hidden]);
        self
    }

    /// Takes time from its end: the other direction of a bidirectional layer, which joins the
    /// outputs of both by [`concat`](crate::Graph::concat).
    #[must_use]
    #[doc(alias("bidirectional", "go_backwards"))]
    pub const fn reversed(mut self) -> Self {
        self.is_reversed = true;
        self
    }

    /// The extent of the state.
    fn width(self, x: Traced<'g, T>, gates: usize) -> Result<usize> {
        let [of_x, input, hidden] = [x, self.input, self.hidden].map(Traced::largest_shape);
        let [&[_, _, inputs], &[rows, of_input], &[others, width]] =
            [&of_x[..], &input[..], &hidden[..]]
        else {
            return Err(Error::invalid(format!(
                "x, the weight of the input and that of the state have ranks {}, {} and {} but must \
                 have 3, 2 and 2",
                of_x.len(),
                input.len(),
                hidden.len()
            )));
        };
        if of_input != inputs || rows != gates * width || others != rows {
            return Err(Error::invalid(format!(
                "the weights have shapes {input:?} and {hidden:?} but must have [{0}, {inputs}] and \
                 [{0}, {width}] for {gates} gates",
                gates * width
            )));
        }
        Ok(width)
    }

    /// The extent of the state, after all shapes have been checked.
    #[track_caller]
    fn checked(self, name: &str, x: Traced<'g, T>, gates: usize) -> Result<usize> {
        let at = Location::caller();
        self.width(x, gates).map_err(|error| error.prefixed(&format!("{name} at {at}: ")))
    }

    /// The input's part of the gates, `[time, batch, gates * hidden]`.
    #[track_caller]
    fn of_input(self, x: Traced<'g, T>, bias: Option<Traced<'g, T>>) -> Traced<'g, T> {
        let y = x.permute(&[1, 0, 2]).matmul(self.input.t());
        match bias {
            Some(bias) => y + bias,
            None => y,
        }
    }

    /// Runs `step` for each time, with what the input adds to the gates. Returns the outputs, which
    /// are the first values of all states, `[batch, time, hidden]`, and the last state.
    #[track_caller]
    fn run<const N: usize>(
        self,
        of_input: Traced<'g, T>,
        state: [Traced<'g, T>; N],
        kept: Vec<Traced<'g, T>>,
        step: Step<T, N>,
    ) -> Result<(Traced<'g, T>, [Traced<'g, T>; N])> {
        let (graph, time) = (of_input.graph(), of_input.size(0));
        let count = graph.size_value(time);
        let zero = graph.copy_constant(&[0_i64]).reshape(());
        let outputs = zeros(of_input, (time, of_input.size(1), state[0].size(1)));
        let is_reversed = self.is_reversed;
        // The condition ends the loop before its limit, which is at least 1.
        let (_, state, outputs) = graph.while_loop(
            time + 1,
            (zero, state, outputs),
            (of_input, kept, count),
            |body, (done, _, _), (_, _, count)| body.outputs(done.lt(count)),
            move |body, (done, state, outputs), (of_input, kept, count)| {
                let at = if is_reversed { count - done - 1 } else { done };
                let state = step(of_input.take(0, at), state, &kept);
                // `put` would have a gradient that searches for the last value of an index.
                body.outputs((done + 1, state, outputs.put_add(0, at, state[0])))
            },
        )?;
        Ok((outputs.permute(&[1, 0, 2]), state))
    }
}

/// The next state, of what the input adds to the gates, the state, and the values that all steps
/// read.
type Step<T, const N: usize> =
    for<'h> fn(Traced<'h, T>, [Traced<'h, T>; N], &[Traced<'h, T>]) -> [Traced<'h, T>; N];

#[track_caller]
fn zeros<'g, T: Float>(like: Traced<'g, T>, shape: impl IntoSizes<'g>) -> Traced<'g, T> {
    like.graph().copy_constant(&[T::default()]).broadcast(shape)
}

/// Part `nth` of the gates.
fn gate<T: Float>(gates: Traced<'_, T>, nth: usize, width: usize) -> Traced<'_, T> {
    gates.slice(-1, nth * width, (nth + 1) * width)
}

/// The extent of a state.
fn width_of<T: Float>(state: Traced<'_, T>) -> usize {
    state.largest_shape().last().copied().unwrap_or(0)
}

/// The sum that the gates of an LSTM are of: the order is input, forget, cell, output.
fn lstm_step<'h, T: Float>(
    of_input: Traced<'h, T>,
    [hidden, cell]: [Traced<'h, T>; 2],
    kept: &[Traced<'h, T>],
) -> [Traced<'h, T>; 2] {
    let width = width_of(hidden);
    let gates = hidden.matmul(kept[0].t()) + of_input;
    let [input, forget, output] = [0, 1, 3].map(|nth| gate(gates, nth, width).sigmoid());
    let cell = forget * cell + input * gate(gates, 2, width).tanh();
    [output * cell.tanh(), cell]
}

/// The order is reset, update, new.
fn gru_step<'h, T: Float>(
    of_input: Traced<'h, T>,
    [hidden]: [Traced<'h, T>; 1],
    kept: &[Traced<'h, T>],
) -> [Traced<'h, T>; 1] {
    let width = width_of(hidden);
    let mut of_state = hidden.matmul(kept[0].t());
    if let Some(bias) = kept.get(1) {
        of_state = of_state + *bias;
    }
    let [reset, update] =
        [0, 1].map(|nth| (gate(of_input, nth, width) + gate(of_state, nth, width)).sigmoid());
    let new = (gate(of_input, 2, width) + reset * gate(of_state, 2, width)).tanh();
    // `update * hidden + (1 - update) * new`.
    [new.lerp(hidden, update)]
}

/// A layer of long short-term memory (Hochreiter and Schmidhuber, 1997; with the forget gates of
/// Gers et al., 2000) over sequences `x`, `[batch, time, inputs]`: a
/// [loop](crate::Graph::while_loop) over the time. Returns the outputs of all times,
/// `[batch, time, hidden]`, and the hidden state and the cell behind the last one,
/// `[batch, hidden]` each, from which another call goes on. The first state is zeros unless it is
/// given.
///
/// The gates, their order and the layout of the weights are those of PyTorch's `LSTM` with
/// `batch_first`, so that its weights load as they are. Several layers are several calls.
///
/// The time may be a named extent. The gradients store the states of all times, of as many as a run
/// has.
///
/// # Errors
///
/// `InvalidArgument`: weights whose shapes do not agree with those of `x` and each other. The first
/// refusal of a value, as [`Graph::while_loop`](crate::Graph::while_loop) gives it.
///
/// ```
/// use tenure::Program;
/// use tenure::layers::{Recurrent, lstm};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>((graph.extent("batch", 8), graph.extent("time", 100), 1));
///     let (input, hidden) = (graph.input::<f32>([4, 1]), graph.input::<f32>([4, 1]));
///     let (outputs, (last, _)) = lstm(x, None, Recurrent::new(input, hidden))?;
///     graph.program((x, input, hidden), (outputs, last))
/// })?;
/// // Open gates: a cell that counts the steps.
/// let input = [[9.0], [9.0], [9.0], [9.0]];
/// let (outputs, last) = program.run((&[[[1.0]; 3]], &input, &[[9.0]; 4]))?;
/// assert_eq!((outputs.shape(), last.shape()), (&[1, 3, 1][..], &[1, 1][..]));
/// assert!((last.get([0, 0]).unwrap() - 3.0_f32.tanh()).abs() < 1e-3);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
#[allow(clippy::type_complexity, reason = "the state is a pair, as callers write it")]
pub fn lstm<'g, T: Float>(
    x: Traced<'g, T>,
    state: Option<(Traced<'g, T>, Traced<'g, T>)>,
    with: Recurrent<'g, T>,
) -> Result<(Traced<'g, T>, (Traced<'g, T>, Traced<'g, T>))> {
    let width = with.checked("lstm", x, 4)?;
    let (hidden, cell) = state.unwrap_or_else(|| {
        let zeros = zeros(x, (x.size(0), width));
        (zeros, zeros)
    });
    let bias = with.biases.map(|[input, hidden]| input + hidden);
    let of_input = with.of_input(x, bias);
    let (outputs, [hidden, cell]) =
        with.run(of_input, [hidden, cell], vec![with.hidden], lstm_step)?;
    Ok((outputs, (hidden, cell)))
}

/// A layer of gated recurrent units (Cho et al., 2014) over sequences `x`,
/// `[batch, time, inputs]`: the outputs of all times, `[batch, time, hidden]`, and the state behind
/// the last one, `[batch, hidden]`. The first state is zeros unless it is given.
///
/// The gates, their order and the layout of the weights are those of PyTorch's `GRU` with
/// `batch_first`, where the reset gate comes behind the product. Otherwise like [`lstm`].
///
/// # Errors
///
/// The errors of [`lstm`].
///
/// ```
/// use tenure::Program;
/// use tenure::layers::{Recurrent, gru};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>((graph.extent("batch", 8), graph.extent("time", 100), 1));
///     let (input, hidden) = (graph.input::<f32>([3, 1]), graph.input::<f32>([3, 1]));
///     let (outputs, last) = gru(x, None, Recurrent::new(input, hidden).reversed())?;
///     graph.program((x, input, hidden), (outputs, last))
/// })?;
/// let (outputs, last) = program.run((&[[[1.0]; 3]], &[[1.0]; 3], &[[1.0]; 3]))?;
/// assert_eq!(outputs.get([0, 0, 0]), last.get([0, 0])); // the last one is that of the first time
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn gru<'g, T: Float>(
    x: Traced<'g, T>,
    state: Option<Traced<'g, T>>,
    with: Recurrent<'g, T>,
) -> Result<(Traced<'g, T>, Traced<'g, T>)> {
    let width = with.checked("gru", x, 3)?;
    let hidden = state.unwrap_or_else(|| zeros(x, (x.size(0), width)));
    let [of_input, of_state] = with.biases.map_or([None; 2], |biases| biases.map(Some));
    let kept = [Some(with.hidden), of_state].into_iter().flatten().collect();
    let (outputs, [hidden]) = with.run(with.of_input(x, of_input), [hidden], kept, gru_step)?;
    Ok((outputs, hidden))
}
