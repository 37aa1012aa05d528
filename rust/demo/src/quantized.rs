//! The convolutional network of the digits in `f32`, in integers of 8 bits and in `bf16`: accuracy,
//! time and the size of its weights.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use tenure::quantize::{Calibration, Comparison, Observer, Report};
use tenure::{Loader, Program, Result, SharedTensor, Tensor, bf16};

use crate::learned::{self, Classifier};

/// Images in a batch of calibration.
const BATCH: usize = 50;
/// Runs of each program, in turns.
const ROUNDS: usize = 101;

/// A form of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// The share of right answers on the digits that it has not seen.
    pub accuracy: f32,
    /// The least time of a run on all of them.
    pub time: Duration,
    /// Bytes of its weights and their scales, as they are kept without packing.
    pub weight_bytes: usize,
}

/// The forms of the network. `Display` writes a table of them, and the damage of static quantization
/// below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// In `f32`, dynamic and static `int8`, and `bf16`.
    pub rows: Vec<Row>,
    /// The damage of static quantization.
    pub report: Report,
    /// Digits that were classified in a run.
    pub digits: usize,
}

/// Bytes of weights. A weight is quantized if a node of this kind multiplies this left operand by it.
fn weight_bytes(weights: &[SharedTensor<f32>], operands: &[(&str, Vec<usize>)]) -> usize {
    let is_quantized = |shape: &[usize]| {
        operands.iter().any(|(kind, operand)| match (*kind, shape) {
            ("conv2d", [_, channels, _, _]) => operand[1] == *channels,
            ("matmul", [rows, _]) => operand.last() == Some(rows),
            _ => false,
        })
    };
    let bytes = |weight: &SharedTensor<f32>| {
        let scales = match weight.shape() {
            [filters, _, _, _] => *filters,
            shape => shape[shape.len() - 1],
        };
        match is_quantized(weight.shape()) {
            true => weight.len() + 4 * scales,
            false => 4 * weight.len(),
        }
    };
    weights.iter().map(bytes).sum()
}

/// The ranges of the network on the digits that it has learned.
///
/// # Errors
///
/// Errors of reading the files, and of the library.
pub fn calibrated(
    weights: &[SharedTensor<f32>],
    observer: Observer,
    data: &str,
) -> std::result::Result<Calibration, Box<dyn Error>> {
    let mut calibration = Calibration::new(observer)?;
    let observed = Program::trace(|graph| {
        let x = graph.input::<u8>((graph.extent("batch", BATCH), 64));
        let scores = learned::scores_of(x, weights);
        graph.program((x,), graph.observe(scores, &mut calibration))
    })?;
    let (pixels, _) = learned::digits(data)?;
    let mut batches = Loader::new(pixels.slice(0, ..learned::LEARNED)?, BATCH)?.serial()?;
    while let Some(batch) = batches.next() {
        calibration.add(&observed.run((batch?.views(),))?)?;
    }
    Ok(calibration)
}

/// Learns the digits of the files in the folder `data`, quantizes the network, and tries all its
/// forms.
///
/// # Errors
///
/// Errors of reading the files, and of the library.
pub fn table(data: &str) -> std::result::Result<Table, Box<dyn Error>> {
    let (weights, _) = learned::trained(&learned::step()?, learned::first_states(None)?, data)?;
    let calibration = calibrated(&weights, Observer::Mse, data)?;
    let (x, y) = learned::unseen(data)?;

    let forms: [(&'static str, Classifier); 4] = [
        ("f32", learned::classifier(&weights, |_, scores| scores)?),
        ("dynamic int8", learned::classifier(&weights, |graph, y| graph.quantize(y, &[]))?),
        (
            "static int8",
            learned::classifier(&weights, |graph, y| graph.quantize_static(y, &calibration, &[]))?,
        ),
        (
            "bf16",
            learned::classifier(&weights, |graph, y| graph.mixed_precision::<bf16, _>(y, &[]))?,
        ),
    ];

    let (mut comparison, mut operands) = (Comparison::new(), Vec::new());
    let compared = Program::trace(|graph| {
        let x = graph.input::<u8>((graph.extent("batch", 1 << 20), 64));
        let y = learned::scores_of(x, &weights);
        let found = graph.quantizable(y, &[]);
        operands = found.iter().map(|it| (it.kind, it.operand.largest_shape())).collect();
        let figures = graph.compare_quantized(y, Some(&calibration), &mut comparison, &[]);
        graph.program((x,), figures)
    })?;
    comparison.add(&compared.run((&x,))?)?;
    let [float, integers] = [0, 2].map(|form| forms[form].1.measure((&x,), ROUNDS));
    let report = comparison.report()?.with_times(&float?, &integers?);

    let quantized = weight_bytes(&weights, &operands);
    let elements: usize = weights.iter().map(|weight| weight.len()).sum();
    let bytes = [4 * elements, quantized, quantized, 2 * elements];
    let mut rows = Vec::new();
    for (((name, classify), weight_bytes), time) in forms.iter().zip(bytes).zip(times(&forms, &x)?)
    {
        let accuracy = learned::accuracy(classify, &x, &y)?;
        rows.push(Row { name, accuracy, time, weight_bytes });
    }
    Ok(Table { rows, report, digits: y.len() })
}

/// The least time of each program: other work on the machine only adds to it.
fn times(forms: &[(&str, Classifier)], x: &Tensor<u8>) -> Result<Vec<Duration>> {
    let mut least = vec![Duration::MAX; forms.len()];
    for _ in 0..ROUNDS {
        for ((_, classify), least) in forms.iter().zip(&mut least) {
            let begin = Instant::now();
            classify.run((x,))?;
            *least = begin.elapsed().min(*least);
        }
    }
    Ok(least)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:12}  accuracy    lost  time of {}  faster  bytes of weights",
            "", self.digits
        )?;
        let first = &self.rows[0];
        for row in &self.rows {
            writeln!(
                f,
                "{:12}  {:6.2} %  {:6.2}  {:8.2} ms  {:5.2}x  {:16}",
                row.name,
                100.0 * row.accuracy,
                100.0 * (first.accuracy - row.accuracy),
                row.time.as_secs_f64() * 1e3,
                first.time.as_secs_f64() / row.time.as_secs_f64(),
                row.weight_bytes,
            )?;
        }
        write!(f, "\nstatic int8, node by node\n{}", self.report)
    }
}
