//! The tour: one file, lent, computed on, handed over and shared, with every address shown.

use std::env;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use tenure::{io, *};

use super::network;

/// Success, or the error that ends the tour.
pub type Outcome<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// The file that comes with the examples of the crate `tenure`.
pub fn default_path() -> PathBuf {
    Path::new(crate::DATA).join("digits.npy")
}

/// Takes the tour of the file at `path`, written to `out`.
pub fn run(path: &Path, out: &mut dyn Write) -> Outcome {
    let file = io::read(path)?;
    let array = io::npy::Array::new(file.as_ref())?;
    let view = array.view()?;
    let name = Path::new(path.file_name().unwrap_or(path.as_os_str()));
    writeln!(out, "{}, read as bytes\n", name.display())?;
    let labels = labels_of(path, view.shape())?;
    let labels = labels.as_deref();
    match view.dtype() {
        DType::F64 => tour::<f64>(view.downcast()?, labels, out),
        DType::F32 => tour::<f32>(view.downcast()?, labels, out),
        DType::F16 => tour::<f16>(view.downcast()?, labels, out),
        DType::I8 => tour::<i8>(view.downcast()?, labels, out),
        DType::I16 => tour::<i16>(view.downcast()?, labels, out),
        DType::I32 => tour::<i32>(view.downcast()?, labels, out),
        DType::I64 => tour::<i64>(view.downcast()?, labels, out),
        DType::U8 => tour::<u8>(view.downcast()?, labels, out),
        DType::U16 => tour::<u16>(view.downcast()?, labels, out),
        DType::U32 => tour::<u32>(view.downcast()?, labels, out),
        DType::U64 => tour::<u64>(view.downcast()?, labels, out),
        dtype => Err(format!("the tour needs real numbers but the array is of {dtype}").into()),
    }
}

/// The labels of the rows, from `NAME.labels.npy` next to `NAME.npy`, if that file exists.
fn labels_of(path: &Path, shape: &[usize]) -> Outcome<Option<Vec<u8>>> {
    let path = path.with_extension("labels.npy");
    if !path.exists() {
        return Ok(None);
    }
    let labels = io::npy::read::<u8>(&path)?;
    if labels.shape().first() != shape.first() {
        return Err(format!("{} is not one u8 for each row", path.display()).into());
    }
    Ok(Some(labels.to_vec()))
}

fn tour<T: Real>(lent: TensorView<'_, T>, labels: Option<&[u8]>, out: &mut dyn Write) -> Outcome {
    let before = stats();
    show_loan(lent, out)?;
    if lent.is_empty() {
        return Ok(writeln!(out, "No elements: nothing to compute.")?);
    }
    // A single number is a table of one column.
    let table = if lent.rank() == 0 { lent.unsqueeze(0)? } else { lent };
    show_picture(table, out)?;
    show_views(table, out)?;
    compress(table, out)?;
    classify(table, labels, out)?;
    network::show(table, labels, out)?;
    let mut pixels = vec![0.0_f32; table.len()];
    standardise_columns(table, &mut pixels, out)?;
    reduce_axes(TensorView::from_slice(&pixels, table.shape())?, out)?;
    let pixels = lend_a_vec_away(pixels, table.shape(), out)?;
    share_between_threads(&pixels, out)?;
    count_copies(before, &pixels, out)
}

/// Writes the heading of one stop.
pub fn heading(out: &mut dyn Write, text: &str) -> Outcome {
    Ok(writeln!(out, "-- {text}")?)
}

fn show_loan<T: Real>(lent: TensorView<'_, T>, out: &mut dyn Write) -> Outcome {
    heading(out, "The bytes borrowed in place: nothing is copied, nothing will be freed")?;
    writeln!(out, "dtype    {}", lent.dtype())?;
    writeln!(out, "shape    {:?}", lent.shape())?;
    writeln!(out, "strides  {:?}", lent.strides())?;
    writeln!(out, "tenure   {}", lent.tenure())?;
    writeln!(out, "address  {:p}, inside the file's bytes", lent.as_ptr())?;
    Ok(writeln!(out, "{lent}\n")?)
}

/// Draws the first row, where it is a square picture.
fn show_picture<T: Real>(table: TensorView<'_, T>, out: &mut dyn Write) -> Outcome {
    let side = table.shape().last().map_or(0, |width| width.isqrt());
    if table.rank() != 2 || side * side != table.shape()[1] || !(4..=64).contains(&side) {
        return Ok(());
    }
    heading(out, "Row 0, reshaped to a picture; cast to f32, divided by its largest pixel")?;
    let mut picture: Tensor<f32> = ops::cast(table.index(0, 0)?.reshape([side, side])?)?;
    let brightest = ops::max(&picture, ..)?;
    ops::div_assign(&mut picture, &brightest)?;
    let ink = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];
    for row in picture.view().rows() {
        let shades = row.iter().map(|shade| ink[(shade * 9.0).round().clamp(0.0, 9.0) as usize]);
        // Twice, because a character is about twice as high as wide.
        let line: String = shades.flat_map(|shade| [shade, shade]).collect();
        writeln!(out, "    {}", line.trim_end())?;
    }
    Ok(writeln!(out)?)
}

/// Transposes, slices and splits: other shapes over the same bytes.
fn show_views<T: Real>(table: TensorView<'_, T>, out: &mut dyn Write) -> Outcome {
    heading(out, "Other shapes over the same bytes")?;
    let base = table.as_ptr() as usize;
    let mut show = |name: &str, view: TensorView<'_, T>| {
        let (shape, strides) = (format!("{:?}", view.shape()), format!("{:?}", view.strides()));
        let offset = (view.as_ptr() as usize).wrapping_sub(base) as isize;
        writeln!(out, "{name:<22} shape {shape:<14} strides {strides:<14} byte {offset:+}")
    };
    let last = table.rank() - 1;
    let (rows, columns) = (table.shape()[0], table.shape()[last]);
    show("as lent", table)?;
    show("transposed", table.t())?;
    show("every second row", table.slice_step(0, .., 2)?)?;
    show("rows back to front", table.flip(0)?)?;
    show("the middle third", table.slice(0, rows / 3..rows - rows / 3)?)?;
    let (left, right) = table.split_at(last, columns / 2)?;
    show("left half", left)?;
    show("right half", right)?;
    Ok(writeln!(out)?)
}

/// Keeps only the ink, multiplies by it, and writes it to a file.
fn compress<T: Real>(table: TensorView<'_, T>, out: &mut dyn Write) -> Outcome {
    if table.rank() != 2 || table.shape()[0] < 2 {
        return Ok(());
    }
    heading(out, "Compressed by rows: what is not 0, and where")?;
    let dense: Tensor<f32> = ops::cast(table)?;
    let sparse: CsrMatrix<f32> = dense.view().to_csr()?;
    writeln!(out, "entries  {} of {} elements", sparse.nnz(), dense.len())?;
    let first = dense.view().index(0, 0)?;
    let products = sparse.view().matmul(&first)?;
    let alike = ops::argmax(products.view().slice(0, 1..)?, ..)?.item().unwrap_or_default() + 1;
    writeln!(out, "times row 0: most from row {alike}, after itself")?;
    let difference = ops::sub(&products, &ops::sum(ops::mul(&dense, first)?, 1)?)?;
    writeln!(out, "furthest from the dense product: {}", ops::max(ops::abs(&difference)?, ..)?)?;

    let path = env::temp_dir().join("tenure-digits.mtx");
    io::matrix_market::Writer::new().save(&path, &sparse)?;
    let again: CooMatrix<f32> = io::matrix_market::Reader::new(&fs::read(&path)?)?.to_coo()?;
    let equal = again.view().iter().eq(sparse.view().iter());
    writeln!(
        out,
        "file     {}, read back {}",
        path.display(),
        if equal { "equal" } else { "unlike" }
    )?;
    Ok(writeln!(out, "         scipy.io.mmread reads it too\n")?)
}

/// Gives every row the label of the nearest other row, by the squares of all distances: `|a|^2 +
/// |b|^2 - 2 a b`, which is one product of matrices.
fn classify<T: Real>(
    table: TensorView<'_, T>,
    labels: Option<&[u8]>,
    out: &mut dyn Write,
) -> Outcome {
    let (Some(labels), 2) = (labels, table.rank()) else { return Ok(()) };
    heading(out, "Each row classified by its nearest neighbour: one product with the transpose")?;
    let rows: Tensor<f32> = ops::cast(table)?;
    let squares = ops::sum(ops::mul(&rows, &rows)?, 1)?;
    let mut distances = ops::add(squares.view().unsqueeze(1)?, &squares)?;
    linalg::matmul_scaled_into(-2.0, &rows, rows.view().t(), 1.0, &mut distances)?;
    for row in 0..labels.len() {
        distances[[row, row]] = f32::INFINITY;
    }
    let nearest = ops::argmin(&distances, 1)?;
    let right = nearest.iter().zip(labels).filter(|(row, label)| labels[**row as usize] == **label);
    let accuracy = right.count() as f64 / labels.len() as f64;
    writeln!(out, "distances {:?}", distances.shape())?;
    Ok(writeln!(out, "accuracy  {accuracy:.4}, each row among the {} others\n", labels.len() - 1)?)
}

/// Gives every column mean 0 and deviation 1, in place in `pixels`.
fn standardise_columns<T: Real>(
    table: TensorView<'_, T>,
    pixels: &mut [f32],
    out: &mut dyn Write,
) -> Outcome {
    heading(out, "Cast into a &mut [f32] of our own; each column standardised in place")?;
    let address = pixels.as_ptr();
    let mut pixels = TensorViewMut::from_slice(pixels, table.shape())?;
    ops::cast_into(table, &mut pixels)?;
    sub_assign_columns(&mut pixels)?;
    writeln!(out, "tenure   {}", pixels.tenure())?;
    writeln!(out, "address  {address:p} before, {:p} after", pixels.as_ptr())?;
    Ok(writeln!(out, "{:.3}\n", pixels.view())?)
}

fn sub_assign_columns(pixels: &mut TensorViewMut<'_, f32>) -> tenure::Result<()> {
    let means = ops::mean(pixels.view(), 0)?;
    ops::sub_assign(pixels, &means)?;
    let deviations = ops::std(pixels.view(), 0, 0)?;
    // A pixel that is the same in every row has no deviation to divide by.
    let constant = ops::eq(&deviations, 0.0)?;
    ops::div_assign(pixels, &ops::select(&constant, 1.0, &deviations)?)
}

fn reduce_axes(pixels: TensorView<'_, f32>, out: &mut dyn Write) -> Outcome {
    heading(out, "Reduced along each axis")?;
    for axis in 0..pixels.rank() {
        let (low, high) = (ops::min(pixels, axis)?, ops::max(pixels, axis)?);
        let means = ops::mean(pixels, axis)?;
        writeln!(out, "axis {axis}: {:?} -> {:?}", pixels.shape(), means.shape())?;
        writeln!(out, "  means from {:.4} to {:.4}", ops::min(&means, ..)?, ops::max(&means, ..)?)?;
        writeln!(out, "  values from {:.4} to {:.4}", ops::min(&low, ..)?, ops::max(&high, ..)?)?;
    }
    let whole = Axes::from(..);
    writeln!(
        out,
        "all: mean {:.4}, deviation {:.4}\n",
        ops::mean(pixels, whole)?,
        ops::std(pixels, .., 0)?
    )?;
    Ok(())
}

/// Hands a Vec over, works on it, and gets the same allocation back.
fn lend_a_vec_away(pixels: Vec<f32>, shape: &[usize], out: &mut dyn Write) -> Outcome<Vec<f32>> {
    heading(out, "A Vec handed over, and given back")?;
    writeln!(out, "Vec      {:p}, capacity {}", pixels.as_ptr(), pixels.capacity())?;
    let mut tensor = Tensor::from_vec(pixels, shape)?;
    ops::abs_assign(&mut tensor)?;
    writeln!(out, "Tensor   {:p}, tenure {}", tensor.as_ptr(), tensor.tenure())?;
    let pixels = tensor.into_vec().map_err(|_| "the tensor is not a whole Vec any more")?;
    writeln!(out, "Vec      {:p}, capacity {}\n", pixels.as_ptr(), pixels.capacity())?;
    Ok(pixels)
}

/// Two threads sum the halves of one `Arc<[f32]>`.
fn share_between_threads(pixels: &[f32], out: &mut dyn Write) -> Outcome {
    heading(out, "One Arc<[f32]>, held by two threads")?;
    let squares: Arc<[f32]> = pixels.iter().map(|pixel| pixel * pixel).collect();
    let shared = SharedTensor::from_arc(Arc::clone(&squares), squares.len())?;
    writeln!(out, "Arc      {:p}", squares.as_ptr())?;
    let middle = squares.len() / 2;
    let halves = [(0..middle, "first"), (middle..squares.len(), "second")];
    let threads = halves.map(|(range, name)| {
        let shared = shared.clone();
        let work = move || {
            let half = shared.view().slice(0, range)?;
            Ok((shared.as_ptr() as usize, ops::sum(half, ..)?.item()))
        };
        (name, thread::spawn(work))
    });
    for (name, handle) in threads {
        let joined: tenure::Result<_> = handle.join().map_err(|_| "a thread panicked")?;
        let (address, total) = joined?;
        let total = total.unwrap_or_default();
        writeln!(out, "thread   {address:#x}, {name} half: sum of squares {total}")?;
    }
    Ok(writeln!(out, "tenure   {}\n", shared.tenure())?)
}

/// Shows what all of this copied, and what the constructor that copies copies.
fn count_copies(before: Stats, pixels: &[f32], out: &mut dyn Write) -> Outcome {
    heading(out, "The library's own counters")?;
    let after = stats();
    let allocated = after.allocated_bytes - before.allocated_bytes;
    writeln!(out, "bytes allocated for results: {allocated}")?;
    let copied = after.copied_bytes - before.copied_bytes;
    writeln!(out, "bytes copied by Tenure: {copied}")?;
    let control = Tensor::copy_from_slice(pixels, pixels.len())?;
    let copied = stats().copied_bytes - after.copied_bytes;
    writeln!(out, "control: Tensor::copy_from_slice of {} f32: {copied} bytes", control.len())?;
    Ok(())
}
