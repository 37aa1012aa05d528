//! The sparse matrices that are measured, and where they are kept for `sparse_peers.py`.

use std::path::PathBuf;
use std::{fs, io};

use tenure::{CsrMatrix, Result, sparse::gallery};

use crate::Scale;
use crate::permutation::Numbers;

pub mod peers;

/// Rows and columns of every matrix here.
const SEED: u64 = 1;

/// How large they are.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// Rows and columns of dense and nearly dense matrices.
    pub side: usize,
    /// A graph has 2 to the power of this vertices.
    pub graph: u32,
    /// Like `graph`, for the graph that is multiplied by itself.
    pub squared_graph: u32,
    /// Points of a grid along each of its three axes.
    pub grid: usize,
    /// Rows of a band.
    pub band: usize,
}

impl Sizes {
    /// The sizes of a scale.
    pub fn of(scale: Scale) -> Sizes {
        let full = Sizes { side: 8192, graph: 18, squared_graph: 14, grid: 100, band: 1 << 18 };
        match scale {
            Scale::Smoke => Sizes { side: 256, graph: 8, squared_graph: 6, grid: 8, band: 256 },
            Scale::Quick => Sizes { side: 4096, ..full },
            Scale::Full => full,
        }
    }

    /// Uniformly random, with `percent` entries in a hundred.
    pub fn uniform(&self, percent: u32) -> Result<CsrMatrix<f32>> {
        gallery::uniform(self.side, self.side, f64::from(percent) / 100.0, SEED)
    }

    /// Blocks of 4 x 4, a tenth of them there.
    pub fn blocks(&self) -> Result<CsrMatrix<f32>> {
        let blocks = self.side / 4;
        gallery::blocks(blocks, blocks, [4, 4], blocks / 10, SEED)
    }

    /// The matrices that are multiplied by a vector, with their names.
    pub fn applied(&self) -> Result<[(&'static str, CsrMatrix<f32>); 4]> {
        let blocks = self.band / 16;
        Ok([
            ("RMAT", gallery::rmat(self.graph, 16, SEED)?),
            ("Poisson", gallery::poisson([self.grid; 3])?),
            ("banded", gallery::banded(self.band, 8, 1.0, SEED)?),
            ("blocks of 4", gallery::blocks(blocks, blocks, [4, 4], 16, SEED)?),
        ])
    }

    /// A graph that can be multiplied by itself: the square of a large one does not fit.
    pub fn squared_graph(&self) -> Result<CsrMatrix<f32>> {
        gallery::rmat(self.squared_graph, 16, SEED)
    }
}

/// Sets elements to normal random numbers that repeat after 2^24; `share` in a hundred are
/// negative.
pub fn normals(elements: &mut [f32], share: u64) {
    let mut numbers = Numbers::from_seed(SEED);
    let drawn = elements.len().min(1 << 24);
    for element in &mut elements[..drawn] {
        // Four uniform ones have nearly the shape of a normal one; their sign is drawn apart.
        let sum: u64 = (0..4).map(|_| numbers.below(1 << 16)).sum();
        let magnitude = (sum as f32 / f32::from(1_u16 << 15) - 4.0).abs() + f32::MIN_POSITIVE;
        *element = if numbers.below(100) < share { -magnitude } else { magnitude };
    }
    for at in (drawn..elements.len()).step_by(drawn) {
        let count = drawn.min(elements.len() - at);
        elements.copy_within(..count, at);
    }
}

/// Bytes of offsets, indices and values.
pub fn bytes_of(matrix: &CsrMatrix<f32>) -> u64 {
    (matrix.row_offsets().len() * 4 + matrix.nnz() * 8) as u64
}

/// Keeps the arrays of a matrix as files, whose names are `name` and what each array is.
pub fn keep(scale: Scale, name: &str, matrix: &CsrMatrix<f32>) -> io::Result<()> {
    let folder = folder(scale);
    fs::create_dir_all(&folder)?;
    let numbers = |numbers: &[i32]| numbers.iter().flat_map(|i| i.to_ne_bytes()).collect();
    let files: [(&str, Vec<u8>); 3] = [
        ("offsets", numbers(matrix.row_offsets())),
        ("indices", numbers(matrix.col_indices())),
        ("values", matrix.values().iter().flat_map(|value| value.to_ne_bytes()).collect()),
    ];
    for (what, bytes) in files {
        fs::write(folder.join(format!("{name}.{what}")), bytes)?;
    }
    Ok(())
}

/// Where `keep` keeps them.
pub fn folder(scale: Scale) -> PathBuf {
    crate::figures::folder(scale).join("matrices")
}
