//! Sparse matrices that look like those of applications, made from a seed: for tests and for
//! measurements.
//!
//! Uniformly random entries are the one pattern that no application has, and code that is fast or
//! right only on them is neither. These functions make the other patterns.
//!
//! | function | where such matrices come from | its rows |
//! | --- | --- | --- |
//! | [`rmat`] | graphs of people, pages, citations | some have thousands of entries, many none |
//! | [`poisson`] | heat, flow and pressure on a grid | up to 7 entries, at 7 fixed distances |
//! | [`banded`] | signals, splines, beams | a dense or a holed band around the diagonal |
//! | [`arrow`] | bordered systems: all is coupled to a few | a diagonal, and a few dense rows and columns |
//! | [`blocks`] | finite elements, several unknowns a node | small dense blocks at random places |
//! | [`uniform`] | nowhere; pruned weights come near it | about as many as any other |
//!
//! Every matrix is coalesced. Values that are random are multiples of 1/64 from -1 to 1 without 0:
//! every float type holds them exactly, and sums of their products are exact in `f32` in any order
//! while they stay under 4096, so a test can ask for equality.
//!
//! ```
//! use tenure::{CsrMatrix, sparse::gallery};
//!
//! let grid: CsrMatrix<f32> = gallery::poisson([20, 20, 20])?;
//! assert_eq!((grid.rows(), grid.nnz()), (8000, 7 * 8000 - 6 * 400));
//!
//! let graph: CsrMatrix<f64, i64> = gallery::rmat(10, 8, 1)?;
//! let lengths = graph.row_offsets().windows(2).map(|ends| ends[1] - ends[0]);
//! assert!(lengths.max() > Some(50));
//! # Ok::<(), tenure::Error>(())
//! ```

use std::collections::HashSet;

use crate::dense::Tensor;
use crate::dtype::{Float, Real, index::SparseIndex};
use crate::error::{Error, Rejected, Result};
use crate::error::{no_memory, reserved};
use crate::layout::refusal;
use crate::ops::cast;
use crate::sparse::matrix::CsrMatrix;
use crate::split_mix::Random;

/// The numbers that matrices are made of.
impl Random {
    /// More than 0 and at most 1.
    fn fraction(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A multiple of 1/64 from -1 to 1, never 0.
    fn value(&mut self) -> f32 {
        let magnitude = (self.below(64) + 1) as f32 / 64.0;
        if self.next() & 1 == 0 { magnitude } else { -magnitude }
    }
}

/// A matrix as its rows are written, from the first to the last, each with rising columns.
struct Rows<I> {
    cols: usize,
    row_offsets: Vec<I>,
    col_indices: Vec<I>,
    values: Vec<f32>,
}

impl<I: SparseIndex> Rows<I> {
    /// No rows yet, with memory for about `entries`. More than memory can hold are refused here,
    /// before the first one is written.
    fn new(rows: usize, cols: usize, entries: f64) -> Result<Self> {
        let mut row_offsets = reserved(rows.saturating_add(1), "row offsets")?;
        row_offsets.push(index(0)?);
        let entries = entries as usize;
        let (col_indices, values) = (reserved(entries, "entries")?, reserved(entries, "entries")?);
        Ok(Rows { cols, row_offsets, col_indices, values })
    }

    fn push(&mut self, col: usize, value: f32) -> Result<()> {
        let col = index(col)?;
        if self.values.len() == self.values.capacity() {
            let count = self.values.len() + 1;
            let refused = |_| no_memory(count, "entries");
            self.values.try_reserve(1).map_err(refused)?;
            self.col_indices.try_reserve(1).map_err(refused)?;
        }
        self.col_indices.push(col);
        self.values.push(value);
        Ok(())
    }

    fn end_row(&mut self) -> Result<()> {
        self.row_offsets.push(index(self.col_indices.len())?);
        Ok(())
    }

    fn finish<T: Float + Real>(self) -> Result<CsrMatrix<T, I>> {
        let Rows { cols, row_offsets, col_indices, values } = self;
        let (rows, nnz) = (row_offsets.len() - 1, values.len());
        // Copied, as values are: the library's memory has huge pages where a Vec's has small ones,
        // which take a third longer to read.
        let row_offsets = Tensor::copy_from_slice(&row_offsets, rows + 1)?.into_shared();
        let col_indices = Tensor::copy_from_slice(&col_indices, nnz)?.into_shared();
        let values = cast(&values)?;
        let matrix = CsrMatrix::from_parts(rows, cols, row_offsets, col_indices, values)?;
        matrix.check_coalesced().map_err(Rejected::into)
    }
}

fn index<I: SparseIndex>(number: usize) -> Result<I> {
    I::from_usize(number).ok_or_else(|| {
        Error::invalid(format!("{number} is {}", refusal::more_than_counted(number, I::DTYPE)))
    })
}

/// A product of two counts, whose name is in the error where it is no number.
fn product(a: usize, b: usize, what: &str) -> Result<usize> {
    a.checked_mul(b).ok_or_else(|| no_memory(usize::MAX, what))
}

/// A random graph of 2^`scale` vertices, with up to `edges_per_vertex` times as many edges: edges
/// that are drawn twice are there once. The weights are random.
///
/// Each edge halves the matrix `scale` times and goes to one of the four quarters with 57, 19, 19
/// and 5 in a hundred, as in Graph500; then vertices are renumbered at random. A few rows and
/// columns have very many entries. (Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for
/// graph mining", 2004.)
///
/// # Errors
///
/// `InvalidArgument`: vertices or edges that the type of indices cannot count. `OutOfMemory`.
///
/// ```
/// use tenure::{CsrMatrix, sparse::gallery};
///
/// let graph: CsrMatrix<f32> = gallery::rmat(8, 4, 1)?;
/// assert_eq!((graph.rows(), graph.cols()), (256, 256));
/// assert!(graph.nnz() > 700 && graph.nnz() <= 1024);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn rmat<T: Float + Real, I: SparseIndex>(
    scale: u32,
    edges_per_vertex: usize,
    seed: u64,
) -> Result<CsrMatrix<T, I>> {
    // Row and column are one number below.
    if scale > 31 {
        return Err(Error::invalid(format!("scale is {scale} but must be at most 31")));
    }
    let vertices = 1_usize << scale;
    index::<I>(vertices)?;
    let edges = product(vertices, edges_per_vertex, "edges")?;
    index::<I>(edges)?;
    let mut random = Random::new(seed);
    let mut names = reserved(vertices, "vertices")?;
    names.extend(0..vertices as u64);
    for last in (1..vertices).rev() {
        names.swap(last, random.below(last + 1));
    }
    let mut places = reserved(edges, "edges")?;
    for _ in 0..edges {
        let (mut row, mut col) = (0, 0);
        for _ in 0..scale {
            let quarter = random.below(100);
            row = row << 1 | usize::from(quarter >= 76);
            col = col << 1 | usize::from((57..76).contains(&quarter) || quarter >= 95);
        }
        places.push(names[row] << 32 | names[col]);
    }
    places.sort_unstable();
    places.dedup();
    let mut places = places.into_iter().peekable();
    let mut rows = Rows::new(vertices, vertices, places.len() as f64)?;
    for row in 0..vertices as u64 {
        while let Some(place) = places.next_if(|place| place >> 32 == row) {
            rows.push((place & u64::from(u32::MAX)) as usize, random.value())?;
        }
        rows.end_row()?;
    }
    rows.finish()
}

/// The negative Laplace operator on a grid of `extents` points, by differences between each point
/// and its neighbours: 6 on the diagonal, -1 for each of up to 6 neighbours. Points are numbered
/// row-major, the last axis fastest; beyond the border all is 0. Extents of 1 make planes and
/// lines, whose diagonal is 6 all the same.
///
/// The matrix is symmetric and positive definite.
///
/// # Errors
///
/// `InvalidArgument`: points or entries that the type of indices cannot count.
///
/// ```
/// use tenure::{CsrMatrix, sparse::gallery};
///
/// let line: CsrMatrix<f64> = gallery::poisson([1, 1, 3])?;
/// assert_eq!(line.view().row(1), Some((&[0, 1, 2][..], &[-1.0, 6.0, -1.0][..])));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn poisson<T: Float + Real, I: SparseIndex>(extents: [usize; 3]) -> Result<CsrMatrix<T, I>> {
    let [depth, height, width] = extents;
    let plane = product(height, width, "points")?;
    let points = product(depth, plane, "points")?;
    index::<I>(points)?;
    let mut rows = Rows::new(points, points, 7.0 * points as f64)?;
    for point in 0..points {
        let (z, y, x) = (point / plane, point / width % height, point % width);
        let neighbours = [
            (z > 0).then(|| (point - plane, -1.0)),
            (y > 0).then(|| (point - width, -1.0)),
            (x > 0).then(|| (point - 1, -1.0)),
            Some((point, 6.0)),
            (x + 1 < width).then(|| (point + 1, -1.0)),
            (y + 1 < height).then(|| (point + width, -1.0)),
            (z + 1 < depth).then(|| (point + plane, -1.0)),
        ];
        for (col, value) in neighbours.into_iter().flatten() {
            rows.push(col, value)?;
        }
        rows.end_row()?;
    }
    rows.finish()
}

/// A square matrix with random entries at most `half_width` away from the diagonal: all of the
/// diagonal, and of the rest about the fraction `fill`.
///
/// # Errors
///
/// `InvalidArgument`: a `fill` that is not from 0 to 1, or entries that the type of indices cannot
/// count.
///
/// ```
/// use tenure::{CsrMatrix, sparse::gallery};
///
/// let band: CsrMatrix<f32> = gallery::banded(100, 2, 1.0, 1)?;
/// assert_eq!(band.view().row(50).map(|(cols, _)| cols), Some(&[48, 49, 50, 51, 52][..]));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn banded<T: Float + Real, I: SparseIndex>(
    rows: usize,
    half_width: usize,
    fill: f64,
    seed: u64,
) -> Result<CsrMatrix<T, I>> {
    check_fraction("fill", fill)?;
    index::<I>(rows)?;
    let mut random = Random::new(seed);
    let width = (2.0 * half_width as f64).min(rows as f64);
    let mut band = Rows::new(rows, rows, rows as f64 * (1.0 + width * fill))?;
    for row in 0..rows {
        let end = row.saturating_add(half_width).saturating_add(1).min(rows);
        for col in row.saturating_sub(half_width)..end {
            if col == row || random.fraction() <= fill {
                band.push(col, random.value())?;
            }
        }
        band.end_row()?;
    }
    band.finish()
}

/// A square matrix with a random diagonal whose first `width` rows and columns are dense: an arrow
/// towards the first element.
///
/// # Errors
///
/// `InvalidArgument`: a `width` over `rows`, or entries that the type of indices cannot count.
///
/// ```
/// use tenure::{CsrMatrix, sparse::gallery};
///
/// let arrow: CsrMatrix<f32> = gallery::arrow(5, 1, 1)?;
/// assert_eq!(arrow.row_offsets(), [0, 5, 7, 9, 11, 13]);
/// assert_eq!(arrow.view().row(3).map(|(cols, _)| cols), Some(&[0, 3][..]));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn arrow<T: Float + Real, I: SparseIndex>(
    rows: usize,
    width: usize,
    seed: u64,
) -> Result<CsrMatrix<T, I>> {
    if width > rows {
        return Err(Error::invalid(format!("width is {width} but must be at most {rows}: rows")));
    }
    index::<I>(rows)?;
    let mut random = Random::new(seed);
    let mut arrow = Rows::new(rows, rows, rows as f64 * (1.0 + 2.0 * width as f64))?;
    for row in 0..rows {
        let dense = if row < width { rows } else { width };
        for col in (0..dense).chain((row >= width).then_some(row)) {
            arrow.push(col, random.value())?;
        }
        arrow.end_row()?;
    }
    arrow.finish()
}

/// A matrix of `rows` by `cols` blocks of `block` elements: each row of blocks has `blocks_per_row`
/// dense blocks, with random values, at random places. BSR is made for such matrices.
///
/// # Errors
///
/// `InvalidArgument`: a `blocks_per_row` over `cols`, or columns or entries that the type of
/// indices cannot count.
///
/// ```
/// use tenure::{CsrMatrix, sparse::gallery};
///
/// let matrix: CsrMatrix<f32> = gallery::blocks(10, 20, [2, 3], 4, 1)?;
/// assert_eq!((matrix.rows(), matrix.cols(), matrix.nnz()), (20, 60, 10 * 4 * 6));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn blocks<T: Float + Real, I: SparseIndex>(
    rows: usize,
    cols: usize,
    block: [usize; 2],
    blocks_per_row: usize,
    seed: u64,
) -> Result<CsrMatrix<T, I>> {
    if blocks_per_row > cols {
        return Err(Error::invalid(format!(
            "blocks_per_row is {blocks_per_row} but must be at most {cols}: cols"
        )));
    }
    let [height, width] = block;
    let extent = product(cols, width, "columns")?;
    index::<I>(extent)?;
    let count = product(rows, height, "rows")?;
    let mut random = Random::new(seed);
    let mut matrix = Rows::new(count, extent, count as f64 * (blocks_per_row * width) as f64)?;
    for _ in 0..if height == 0 { 0 } else { rows } {
        let chosen = sample(cols, blocks_per_row, &mut random)?;
        for _ in 0..height {
            for col in chosen.iter().flat_map(|col| col * width..(col + 1) * width) {
                matrix.push(col, random.value())?;
            }
            matrix.end_row()?;
        }
    }
    matrix.finish()
}

/// A matrix in which every element is there, with a random value, with the probability `density`.
///
/// Logarithms choose the places, so another system may give another matrix for the same seed; no
/// other function here has any.
///
/// # Errors
///
/// `InvalidArgument`: a `density` that is not from 0 to 1, or columns or entries that the type of
/// indices cannot count.
///
/// ```
/// use tenure::{CsrMatrix, sparse::gallery};
///
/// let matrix: CsrMatrix<f32> = gallery::uniform(100, 1000, 0.1, 1)?;
/// assert!((9_500..10_500).contains(&matrix.nnz()));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn uniform<T: Float + Real, I: SparseIndex>(
    rows: usize,
    cols: usize,
    density: f64,
    seed: u64,
) -> Result<CsrMatrix<T, I>> {
    check_fraction("density", density)?;
    index::<I>(cols)?;
    let mut random = Random::new(seed);
    let mut matrix = Rows::new(rows, cols, rows as f64 * cols as f64 * density)?;
    // How many elements lie before the next entry, without a draw for each of them: the logarithm
    // of a uniform number is as long as such a wait. A density of 1 gives 0, one of 0 infinity.
    let scale = (-density).ln_1p().recip();
    let mut gap = || {
        let wait = (random.fraction().ln() * scale).floor();
        (if wait.is_nan() { usize::MAX } else { wait as usize }, random.value())
    };
    let (mut skipped, mut value) = gap();
    for _ in 0..rows {
        let mut col = 0_usize;
        while let Some(next) = col.checked_add(skipped).filter(|next| *next < cols) {
            matrix.push(next, value)?;
            col = next + 1;
            (skipped, value) = gap();
        }
        skipped -= cols - col;
        matrix.end_row()?;
    }
    matrix.finish()
}

fn check_fraction(name: &str, fraction: f64) -> Result<()> {
    if (0.0..=1.0).contains(&fraction) {
        return Ok(());
    }
    Err(Error::invalid(format!("{name} is {fraction} but must be from 0 to 1")))
}

/// `count` different numbers below `bound`, rising: Floyd's algorithm (Bentley, Floyd, "A sample of
/// brilliance", 1987).
fn sample(bound: usize, count: usize, random: &mut Random) -> Result<Vec<usize>> {
    let mut chosen = HashSet::new();
    chosen.try_reserve(count).map_err(|_| no_memory(count, "blocks of a row"))?;
    for last in bound - count..bound {
        if !chosen.insert(random.below(last + 1)) {
            chosen.insert(last);
        }
    }
    let mut rising = reserved(count, "blocks of a row")?;
    rising.extend(chosen);
    rising.sort_unstable();
    Ok(rising)
}
