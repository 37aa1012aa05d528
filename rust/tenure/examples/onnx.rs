//! Prints the inputs, the outputs, the steps and the memory of an ONNX model, runs it on zeros or on
//! NumPy's files, and prints its results.
//!
//! ```text
//! onnx MODEL.onnx [NAME=FILE.npy ...] [--dim NAME=N | --dim NAME=..N] [--constant NAME=FILE.npy]
//!                 [--out DIR] [--time ROUNDS]
//! onnx --cases FOLDER
//! ```
//!
//! `--dim` fixes an extent that the model leaves open, or gives its maximum; `--constant` makes an
//! input a constant of the program. Each folder of `--cases` has a model and its inputs, and gets the
//! outputs, or the file `refused`: `tests/interop/onnx_test.py` compares them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tenure::io::{self, npy};
use tenure::onnx::{Dimension, Model, Port, Settings};
use tenure::program::Passes;
use tenure::program::report::Report;
use tenure::{DType, DynTensor, DynView, Tensor};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("onnx: {why}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    match arguments {
        [flag, folder] if flag == "--cases" => cases(Path::new(folder)),
        [model, rest @ ..] if !model.starts_with("--") => show(model, rest),
        _ => Err("usage: onnx MODEL.onnx [NAME=FILE.npy ...] [--dim NAME=N | --dim NAME=..N] \
             [--constant NAME=FILE.npy] [--out DIR] [--time ROUNDS]"
            .into()),
    }
}

/// The elements of a `.npy` file. NumPy has no bf16: its files have the bits as u16.
struct Array {
    bytes: Tensor<u8>,
}

impl Array {
    fn read(path: impl AsRef<Path>) -> Result<Array> {
        Ok(Array { bytes: io::read(path)? })
    }

    fn view(&self, dtype: DType) -> Result<DynView<'_>> {
        let view = npy::Array::new(self.bytes.as_ref())?.view()?;
        match (dtype, view.dtype(), view.as_bytes()) {
            (DType::BF16, DType::U16, Some(bytes)) => {
                Ok(DynView::from_bytes(bytes, DType::BF16, view.shape())?)
            }
            _ => Ok(view),
        }
    }
}

fn save(path: impl AsRef<Path>, tensor: &DynTensor) -> Result<()> {
    let view = tensor.view();
    match (view.dtype(), view.as_bytes()) {
        (DType::BF16, Some(bytes)) => {
            npy::save(path, DynView::from_bytes(bytes, DType::U16, view.shape())?)?;
        }
        _ => npy::save(path, view)?,
    }
    Ok(())
}

// ---- one model ----

/// The arguments of the command line.
#[derive(Default)]
struct Given {
    arrays: Vec<(String, Array)>,
    constants: Vec<(String, Array)>,
    extents: Vec<(String, usize, bool)>,
    out: Option<PathBuf>,
    rounds: usize,
}

impl Given {
    fn of(arguments: &[String]) -> Result<Given> {
        let mut given = Given::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} has no value"));
            let named = |pair: &str| match pair.rsplit_once('=') {
                Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
                None => Err(format!("{pair} is not NAME=VALUE")),
            };
            match argument.as_str() {
                "--dim" => {
                    let (name, extent) = named(value()?)?;
                    let maximum = extent.strip_prefix("..");
                    let number = maximum.unwrap_or(&extent).parse()?;
                    given.extents.push((name, number, maximum.is_some()));
                }
                "--constant" => {
                    let (name, path) = named(value()?)?;
                    given.constants.push((name, Array::read(path)?));
                }
                "--out" => given.out = Some(value()?.into()),
                "--time" => given.rounds = value()?.parse()?,
                pair => {
                    let (name, path) = named(pair)?;
                    given.arrays.push((name, Array::read(path)?));
                }
            }
        }
        Ok(given)
    }

    fn settings(&self, model: &Model) -> Result<Settings> {
        // The program is made once and run often, which pays for packing.
        let mut settings = Settings::new().passes(Passes::DEFAULT.with(Passes::PACKING));
        for (name, extent, is_maximum) in &self.extents {
            settings = match is_maximum {
                true => settings.extent_up_to(name, *extent),
                false => settings.extent(name, *extent),
            };
        }
        for (name, array) in &self.constants {
            let port = model.inputs().iter().find(|port| port.name() == name);
            let dtype = port.ok_or(format!("the model has no input named {name}"))?.dtype();
            settings = settings.constant(name, array.view(dtype)?);
        }
        Ok(settings)
    }

    /// The extents of zeros: an open one is at its maximum.
    fn shape(&self, port: &Port) -> Result<Vec<usize>> {
        let size = |dimension: &Dimension| match dimension {
            Dimension::Known(extent) => Ok(*extent),
            Dimension::Named(name) => {
                let extent = self.extents.iter().find(|(known, ..)| known == name);
                extent.map(|(_, extent, _)| *extent).ok_or(format!("{name} has no extent"))
            }
        };
        Ok(port.dimensions().iter().map(size).collect::<Result<_, _>>()?)
    }
}

/// Memory of zero bytes, aligned for every type.
struct Zeros {
    bytes: Tensor<u8>,
    dtype: DType,
    shape: Vec<usize>,
}

impl Zeros {
    fn of(port: &Port, shape: Vec<usize>) -> Result<Zeros> {
        let count = shape.iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent));
        let bytes = count.and_then(|count| count.checked_mul(port.dtype().size_bytes()));
        let bytes = bytes.ok_or(format!("{shape:?} is larger than memory"))?;
        Ok(Zeros { bytes: Tensor::zeros(bytes)?, dtype: port.dtype(), shape })
    }
}

fn show(path: &str, arguments: &[String]) -> Result<()> {
    let model = Model::open(path)?;
    println!("{path}: {} nodes, ONNX's operators {}", model.node_count(), model.version());
    for port in model.inputs() {
        println!("  input   {port}");
    }
    for port in model.outputs() {
        println!("  output  {port}");
    }
    let given = Given::of(arguments)?;
    for (name, _) in &given.arrays {
        if !model.inputs().iter().any(|port| port.name() == name) {
            return Err(format!("the model has no input named {name}").into());
        }
    }
    let began = Instant::now();
    let program = model.program(&given.settings(&model)?)?;
    let imported = began.elapsed();
    let asked: Vec<&Port> = {
        let is_asked = |port: &&Port| !given.constants.iter().any(|(name, _)| name == port.name());
        model.inputs().iter().filter(is_asked).collect()
    };
    let array = |port: &Port| given.arrays.iter().find(|(name, _)| name == port.name());
    let mut zeros = Vec::new();
    for port in asked.iter().filter(|port| array(port).is_none()) {
        zeros.push(Zeros::of(port, given.shape(port)?)?);
    }
    let mut next_zeros = zeros.iter();
    let mut views: Vec<DynView<'_>> = Vec::new();
    for port in &asked {
        views.push(match (array(port), next_zeros.as_slice()) {
            (Some((_, array)), _) => array.view(port.dtype())?,
            (None, [zeros, ..]) => {
                next_zeros.next();
                DynView::from_bytes(zeros.bytes.as_ref(), zeros.dtype, &zeros.shape[..])?
            }
            (None, []) => return Err("an input has no elements".into()),
        });
    }
    let report = program.report_dyn(&views, &mut [])?;
    println!(
        "  {} steps, {} bytes of intermediate values; built in {:.1} ms",
        report.memory.steps,
        report.memory.peak_bytes,
        imported.as_secs_f64() * 1e3
    );
    println!("  {}", kinds_of(&report));
    let outputs = program.run_dyn(&views, &mut [])?;
    for (nth, (port, output)) in model.outputs().iter().zip(&outputs).enumerate() {
        println!("  {}: {} {:?} {}", port.name(), output.dtype(), output.shape(), first(output)?);
        if let Some(folder) = &given.out {
            std::fs::create_dir_all(folder)?;
            save(folder.join(format!("output_{nth}.npy")), output)?;
        }
    }
    if given.rounds > 0 {
        let mut times: Vec<f64> = Vec::new();
        for _ in 0..given.rounds {
            let began = Instant::now();
            program.run_dyn(&views, &mut [])?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!("  {:.3} ms, the median of {} runs", times[times.len() / 2], times.len());
    }
    Ok(())
}

/// The names of steps with their numbers, the most frequent first.
fn kinds_of(report: &Report) -> String {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for step in &report.steps {
        let name = step.name.split([' ', '(', '[']).next().unwrap_or_default();
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&(name, count)| (Reverse(count), name));
    let texts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    texts.join(", ")
}

/// The first numbers of an output.
fn first(output: &DynTensor) -> Result<String> {
    const MOST: usize = 6;
    let numbers = output.view().cast_to::<f64>()?;
    let shown: Vec<String> = numbers.as_ref().iter().take(MOST).map(f64::to_string).collect();
    let more = if numbers.as_ref().len() > MOST { ", ..." } else { "" };
    Ok(format!("[{}{more}]", shown.join(", ")))
}

// ---- cases ----

fn cases(folder: &Path) -> Result<()> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.sort();
    for case in folders {
        if let Err(why) = run_case(&case) {
            std::fs::write(case.join("refused"), why.to_string())?;
        }
    }
    Ok(())
}

/// Runs a case with all inputs given to the run, or where numbers of inputs are to be known before,
/// with these as constants.
fn run_case(case: &Path) -> Result<()> {
    let model = Model::open(case.join("model.onnx"))?;
    let count = model.inputs().len();
    let read = |nth| Array::read(case.join(format!("input_{nth}.npy")));
    let arrays: Vec<Array> = (0..count).map(read).collect::<Result<_>>()?;
    let mut first_refusal = None;
    for constants in [count..count, 1..count, 0..count] {
        match try_case(&model, &arrays, constants) {
            Ok(outputs) => {
                for (nth, output) in outputs.iter().enumerate() {
                    save(case.join(format!("got_{nth}.npy")), output)?;
                }
                return Ok(());
            }
            Err(why) => {
                let is_unknown = why.to_string().contains("to be known before a run");
                first_refusal.get_or_insert(why);
                if !is_unknown {
                    break;
                }
            }
        }
    }
    first_refusal.map_or(Ok(()), Err)
}

fn try_case(
    model: &Model,
    arrays: &[Array],
    constants: std::ops::Range<usize>,
) -> Result<Vec<DynTensor>> {
    let mut settings = Settings::new();
    let mut views = Vec::new();
    for (nth, (port, array)) in model.inputs().iter().zip(arrays).enumerate() {
        let view = array.view(port.dtype())?;
        if constants.contains(&nth) {
            settings = settings.constant(port.name(), view);
            continue;
        }
        for (dimension, extent) in port.dimensions().iter().zip(view.shape()) {
            if let Dimension::Named(name) = dimension {
                settings = settings.extent(name, *extent);
            }
        }
        views.push(view);
    }
    Ok(model.program(&settings)?.run_dyn(&views, &mut [])?)
}
