//! Programs and files: a program is saved as the graph that it was traced from, and a loaded
//! program is checked against the types that the caller expects.

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::{GraphRecord, ProgramFile};
use crate::dense::SharedTensor;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::io::payload::shown;
use crate::program::calls::custom::CustomOperation;
use crate::program::calls::graph_record::{GraphHandle, ValueSource};
use crate::program::state::{CallSites, State};
use crate::program::tree::Expected;
use crate::program::{InputTypes, OutputTypes, Passes, Program, Shared};

/// Gives a program its graph, which nothing is added to from here on.
pub(in crate::program) fn keep_graph(state: State) {
    if let Some(shared) = state.made.into_inner() {
        // It is empty: the state is that of one trace.
        let _ = shared.graph.set(Mutex::new(state.handle.into()));
    }
}

/// Files. (Feature `programs`.)
impl<I, O> Program<I, O> {
    /// Writes the graph that the program was traced from, and its constants, to a file that
    /// [`load`](Self::load) reads, and programs in C. It replaces an existing file only once the
    /// new file is complete.
    ///
    /// Custom operations are saved by their names. Passes and budgets are not saved, nor are values
    /// that no output depends on: a program that is [quantized](crate::Graph::quantize) is saved with
    /// integers, and without the `f32` constants that they were made of.
    ///
    /// # Errors
    ///
    /// `Io`: those of the system. `InvalidArgument`: two operations of one name, and a program that
    /// is still being traced.
    ///
    /// ```
    /// use tenure::Program;
    ///
    /// # let path = std::env::temp_dir().join(format!("tenure-save-{}.tnrp", std::process::id()));
    /// let doubled = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([graph.extent("n", 100)]);
    ///     graph.program((x,), x * 2.0)
    /// })?;
    /// doubled.save(&path)?;
    ///
    /// let loaded = Program::<(f32,), f32>::load(&path, Vec::new())?;
    /// assert_eq!(loaded.run((&[1.0, 2.0],))?, [2.0, 4.0]);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.with_record(|record| record.save_as(path))
    }

    /// Writes the bytes of a file of [`save`](Self::save) to `out`.
    ///
    /// # Errors
    ///
    /// The errors of [`save`](Self::save).
    ///
    /// ```
    /// use tenure::{Program, Tensor, program::file::ProgramFile};
    ///
    /// let sum = Program::trace(|graph| {
    ///     let x = graph.input::<i32>([3]);
    ///     graph.program((x,), x.sum(0))
    /// })?;
    /// let mut bytes = Vec::new();
    /// sum.write(&mut bytes)?;
    ///
    /// let file = ProgramFile::new(Tensor::from_vec(bytes.clone(), bytes.len())?)?;
    /// let loaded = Program::<(i32,), i64>::from_file(&file, Vec::new())?;
    /// assert_eq!(loaded.run((&[1, 2, 3],))?.item(), Some(6));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn write(&self, out: impl Write) -> Result<()> {
        self.with_record(|record| record.save(out))
    }

    fn with_record(&self, f: impl FnOnce(&GraphRecord<'_>) -> Result<()>) -> Result<()> {
        let graph = self.shared.graph.get().ok_or_else(|| {
            Error::invalid("the program is saved when its closure has returned, not in it")
        })?;
        // A poisoned lock is harmless: under it, the graph is only read.
        let graph = graph.lock().unwrap_or_else(PoisonError::into_inner);
        let names = graph.custom_names()?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let call_sites = &self.shared.call_sites;
        let record = GraphRecord::of_outputs(&graph, &names)?;
        f(&record.with_names(&call_sites.inputs, &call_sites.outputs))
    }
}

/// Files. (Feature `programs`.)
impl<I: InputTypes, O: OutputTypes> Program<I, O> {
    /// The program of a file that [`save`](Self::save) has written, or a program in C. The file is
    /// read once, and constants stay where it was read to; [`from_file`](Self::from_file) takes one
    /// that is mapped.
    ///
    /// The types say what the program's inputs and outputs are to be, and are compared with the
    /// file's: their element types, and their [names](Self::input_names). A `Vec` has as many
    /// elements as the names say. Where a type has a tuple or array, the number or any
    /// [given name](crate::Graph::input_named) is taken. Custom operations that the program calls,
    /// also in bodies, are found by their names in `customs`.
    ///
    /// # Errors
    ///
    /// `Io`: those of the system. `InvalidArgument`: a file that is none, with the part and the
    /// number; inputs or outputs of other element types or names, or another number of them, with
    /// their shapes in the file; an operation that is not given, or twice. `Unsupported`: a file of
    /// a newer version. `OutOfMemory`.
    ///
    /// ```
    /// use tenure::Program;
    ///
    /// # let path = std::env::temp_dir().join(format!("tenure-load-{}.tnrp", std::process::id()));
    /// # Program::trace(|graph| {
    /// #     let x = graph.input::<f32>((graph.extent("batch", 8), 64));
    /// #     graph.program((x,), x.argmax(1))
    /// # })?.save(&path)?;
    /// let error = Program::<(f64,), i64>::load(&path, Vec::new()).err().unwrap();
    /// assert!(error.message().ends_with(
    ///     ".tnrp: inputs[0] is f32 of shape [batch, 64] in the file but f64 in the program's type"
    /// ));
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn load(path: impl AsRef<Path>, customs: Vec<CustomOperation>) -> Result<Self> {
        let path = path.as_ref();
        // It names the path itself.
        let bytes = crate::io::read(path)?;
        let load = || Self::from_file(&ProgramFile::new(bytes)?, customs);
        load().map_err(|error: Error| error.in_file(path))
    }

    /// Builds the program of a file that is mapped, sealed or in memory already, otherwise like
    /// [`load`](Self::load). No constant is copied or read: the program holds the file's bytes.
    ///
    /// # Errors
    ///
    /// The errors of [`load`](Self::load) and of [`ProgramFile::build`].
    ///
    /// ```no_run
    /// use memmap2::Mmap;
    /// use tenure::{Program, program::file::ProgramFile};
    ///
    /// let file = std::fs::File::open("digits.tnrp")?;
    /// // SAFETY: no process writes to the file while the program lives.
    /// let map = unsafe { Mmap::map(&file) }?;
    /// let classify = Program::<(f32,), i64>::from_file(&ProgramFile::new(map)?, Vec::new())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_file(file: &ProgramFile, customs: Vec<CustomOperation>) -> Result<Self> {
        Self::from_file_with(Passes::DEFAULT, file, customs)
    }

    /// Builds the program with these passes, otherwise like [`from_file`](Self::from_file). Files
    /// do not store passes. With [`PACKING`](Passes::PACKING) the call reads the constants that it
    /// packs, and copies them.
    ///
    /// # Errors
    ///
    /// The errors of [`from_file`](Self::from_file).
    pub fn from_file_with(
        passes: Passes,
        file: &ProgramFile,
        customs: Vec<CustomOperation>,
    ) -> Result<Self> {
        Self::built(passes, None, file, customs)
    }

    /// Builds the program with the constants of products packed as in the bytes `packed`, otherwise
    /// like [`from_file`](Self::from_file): see [`trace_packed`](Self::trace_packed).
    ///
    /// # Errors
    ///
    /// The errors of [`from_file`](Self::from_file) and [`trace_packed`](Self::trace_packed).
    pub fn from_file_packed(
        packed: &SharedTensor<u8>,
        file: &ProgramFile,
        customs: Vec<CustomOperation>,
    ) -> Result<Self> {
        Self::built(Passes::DEFAULT.with(Passes::PACKING), Some(packed), file, customs)
    }

    fn built(
        passes: Passes,
        packed: Option<&SharedTensor<u8>>,
        file: &ProgramFile,
        customs: Vec<CustomOperation>,
    ) -> Result<Self> {
        // Outputs that update inputs are sorted behind the other outputs, in the order of the
        // inputs. Files of other writers may have another order.
        let graph = file.with_updates_last().build(customs)?;
        let inputs = inputs_of(&graph)?;
        let outputs = outputs_of(&graph)?;
        let update_count = inputs.iter().filter(|input| input.is_updated).count();
        let fresh = &outputs[..outputs.len() - update_count];
        let [input_names, output_names] = file.names();
        require("inputs", &Expected::of::<I>(&input_names), &inputs, &input_names)?;
        let expected = Expected::of::<O>(&output_names);
        require("outputs", &expected, fresh, &output_names)?;
        let output_lens = expected.lens.into();
        let counts = [inputs.len(), fresh.len(), update_count];
        let handle = graph.program(passes.to_bits(), packed, counts)?;
        let is_updated = inputs.iter().map(|input| input.is_updated).collect();
        let call_sites = CallSites {
            inputs: input_names.into(),
            outputs: output_names.into(),
            ..CallSites::default()
        };
        let shared = Shared::new(handle, call_sites, is_updated, output_lens);
        Ok(Self::of_graph(shared, graph))
    }
}

impl<I, O> Program<I, O> {
    /// The program of a graph, which it keeps to be saved.
    pub(in crate::program) fn of_graph(shared: Shared, graph: GraphHandle) -> Self {
        // It is empty.
        let _ = shared.graph.set(Mutex::new(graph));
        Program::made(shared)
    }
}

/// Checks that the leaves of a type are those of the file.
fn require(
    array: &str,
    expected: &Expected<'_>,
    entries: &[Entry],
    names: &[String],
) -> Result<()> {
    let leaves = || expected.leaves.iter().zip(names).enumerate();
    // It says more than a number that a `Vec` makes differ.
    if let Some((nth, (leaf, name))) = leaves().find(|(_, (leaf, name))| !leaf.name.accepts(name)) {
        let (wanted, name) = (&leaf.name.text, shown(name));
        return Err(Error::invalid(format!(
            "{array}[{nth}] is named {name} in the file but {wanted} in the program's type"
        )));
    }
    let (wanted, has) = (expected.leaves.len(), entries.len());
    if wanted != has {
        return Err(Error::invalid(format!(
            "the file has {has} {array} but the program's type has {wanted}"
        )));
    }
    for ((nth, (leaf, name)), entry) in leaves().zip(entries) {
        let what = match *name == nth.to_string() {
            true => format!("{array}[{nth}]"),
            false => format!("{} {}", array.trim_end_matches('s'), shown(name)),
        };
        entry.require(&what, leaf.dtype, leaf.is_updated)?;
    }
    Ok(())
}

/// An input or output of a file.
struct Entry {
    dtype: DType,
    /// For messages.
    shape: String,
    is_updated: bool,
}

impl Entry {
    fn require(&self, what: &str, dtype: DType, is_updated: bool) -> Result<()> {
        if (self.dtype, self.is_updated) == (dtype, is_updated) {
            return Ok(());
        }
        let named = |dtype, is_updated| match is_updated {
            true => format!("Updated<{dtype}>"),
            false => format!("{dtype}"),
        };
        let (has, wanted) = (named(self.dtype, self.is_updated), named(dtype, is_updated));
        let shape = &self.shape;
        Err(Error::invalid(format!(
            "{what} is {has} of shape {shape} in the file but {wanted} in the program's type"
        )))
    }
}

fn inputs_of(graph: &GraphHandle) -> Result<Vec<Entry>> {
    let info = graph.info()?;
    let updated = (0..info.output_count).map(|index| Ok(graph.output(index)?.1));
    let updated = updated.collect::<Result<Vec<_>>>()?;
    let mut inputs = Vec::new();
    for value in 0..info.value_count {
        if let ValueSource::Input { dtype, numbers } = graph.source(value)? {
            let sizes: Result<Vec<_>> = numbers.iter().map(|n| graph.number_text(*n)).collect();
            let shape = format!("[{}]", sizes?.join(", "));
            inputs.push(Entry { dtype, shape, is_updated: updated.contains(&Some(value)) });
        }
    }
    Ok(inputs)
}

fn outputs_of(graph: &GraphHandle) -> Result<Vec<Entry>> {
    let outputs = (0..graph.info()?.output_count).map(|index| {
        let (value, _) = graph.output(index)?;
        let (dtype, shape) = graph.type_of(value)?;
        // Extents that are not known yet are at their maxima.
        Ok(Entry { dtype, shape: format!("{:?}", shape.as_slice()), is_updated: false })
    });
    outputs.collect()
}
