//! Writing.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use tenure_sys::tnr_sparse_format;

use super::Format;
use crate::dtype::bytes;
use crate::dtype::{DType, Element, index::SparseIndex};
use crate::error::Result;
use crate::io::npy;
use crate::io::npz::Writer;
use crate::io::npz::pack::ArchiveWriter;
use crate::io::save;
use crate::layout::order::Order;
use crate::sparse::arrays::Arrays;
use crate::sparse::matrix::SparseMatrix;
use crate::sparse::{format::SparseFormat, view::SparseView};

/// Sparse matrices and their views, which can be written. Sealed.
///
/// ```
/// use tenure::{CscView, io::npz::{Format, Reader, ScipyMatrix, Writer}};
///
/// fn format(matrix: &impl ScipyMatrix) -> tenure::Result<Format> {
///     let mut file = Vec::new();
///     Writer::new().write(matrix, &mut file)?;
///     Ok(Reader::new(&file)?.format())
/// }
/// assert_eq!(format(&CscView::new(3, 1, &[0, 1], &[2], &[7_u16])?)?, Format::Csc);
/// # Ok::<(), tenure::Error>(())
/// ```
pub trait ScipyMatrix: sealed::Sealed {}

mod sealed {
    use super::{Format, Named};

    pub trait Sealed {
        fn format(&self) -> Format;
        fn extents(&self) -> [usize; 2];
        fn named(&self) -> [Named<'_>; 3];
    }
}

/// An array with its name, as bytes.
#[doc(hidden)]
pub struct Named<'a> {
    name: &'static str,
    dtype: DType,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

fn named<'a, T: Element>(name: &'static str, elements: &'a [T]) -> Named<'a> {
    let bytes = Cow::Borrowed(bytes::of(elements));
    Named { name, dtype: T::DTYPE, shape: vec![elements.len()], bytes }
}

/// Offsets that begin at 0, as SciPy wants them; those of a range of rows begin elsewhere.
fn from_zero<'a, T: Element, I: SparseIndex>(arrays: &Arrays<'a, T, I>) -> Named<'a> {
    let named = named("indptr", arrays.major());
    if arrays.range().start == 0 {
        return named;
    }
    let shifted: Vec<I> = arrays.offsets_from_zero().collect();
    Named { bytes: Cow::Owned(bytes::of(&shifted).to_vec()), ..named }
}

/// Values; NumPy's truth values are 0 or 1.
fn values<'a, T: Element>(elements: &'a [T]) -> Named<'a> {
    let mut named = named("data", elements);
    if T::DTYPE == DType::BOOL8 && named.bytes.iter().any(|byte| *byte > 1) {
        named.bytes = named.bytes.iter().map(|byte| u8::from(*byte != 0)).collect();
    }
    named
}

/// The three arrays; only the range of the matrix is written.
fn parts<'a, T: Element, I: SparseIndex>(arrays: Arrays<'a, T, I>) -> [Named<'a>; 3] {
    let (form, minor) = (arrays.form, arrays.minor());
    let mut data = values(arrays.values());
    if form.is_coo() {
        return [named("row", arrays.major()), named("col", minor), data];
    }
    if form.format == tnr_sparse_format::BSR {
        data.shape = vec![minor.len(), form.block[0], form.block[1]];
    }
    [named("indices", minor), from_zero(&arrays), data]
}

impl<F: SparseFormat, T: Element, I: SparseIndex> ScipyMatrix for SparseView<'_, F, T, I> {}
impl<F: SparseFormat, T: Element, I: SparseIndex> sealed::Sealed for SparseView<'_, F, T, I> {
    fn format(&self) -> Format {
        match F::FORMAT {
            tnr_sparse_format::COO => Format::Coo,
            tnr_sparse_format::CSR => Format::Csr,
            tnr_sparse_format::CSC => Format::Csc,
            _ => Format::Bsr,
        }
    }

    fn extents(&self) -> [usize; 2] {
        [self.rows(), self.cols()]
    }

    fn named(&self) -> [Named<'_>; 3] {
        parts(self.arrays())
    }
}

impl<F: SparseFormat, T: Element, I: SparseIndex> ScipyMatrix for SparseMatrix<F, T, I> {}
impl<F: SparseFormat, T: Element, I: SparseIndex> sealed::Sealed for SparseMatrix<F, T, I> {
    fn format(&self) -> Format {
        self.view().format()
    }

    fn extents(&self) -> [usize; 2] {
        [self.rows(), self.cols()]
    }

    fn named(&self) -> [Named<'_>; 3] {
        parts(self.view().arrays())
    }
}

/// Sparse matrices.
impl Writer {
    /// Writes a matrix that `scipy.sparse.load_npz` reads, as `csr_matrix` and its like. A range of
    /// rows is written as that range. Equal matrices give equal bytes.
    ///
    /// # Errors
    ///
    /// `Io`: those of the output. `Unsupported`: values of a type that NumPy does not have.
    ///
    /// ```
    /// # use tenure::{CooView, bf16, io::npz::Writer};
    /// let matrix = CooView::new(2, 3, &[1], &[2], &[bf16::ONE])?;
    /// let error = Writer::new().write(&matrix, &mut Vec::new()).err().unwrap();
    /// assert_eq!(error.to_string(), "NumPy has no bf16");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn write(&self, matrix: &impl ScipyMatrix, out: impl Write) -> Result<()> {
        let named = matrix.named();
        let mut heads = Vec::new();
        for Named { dtype, shape, .. } in &named {
            let descr = npy::descr_of(*dtype).ok_or_else(|| npy::not_in_numpy(*dtype))?;
            heads.push(npy::header(&descr, Order::RowMajor, shape));
        }
        let mut archive = ArchiveWriter::new(out, self.packing);
        for (Named { name, bytes, .. }, head) in named.iter().zip(heads) {
            archive.member(&format!("{name}.npy"), &head, bytes)?;
        }
        let word = matrix.format().word();
        archive.member("format.npy", &npy::header("|S3", Order::RowMajor, &[]), word.as_bytes())?;
        let extents = matrix.extents().map(|extent| extent as i64);
        let shape = named_shape(&extents);
        archive.member("shape.npy", &shape, bytes::of(&extents))?;
        Ok(archive.finish()?)
    }

    /// Writes a file as [`write`](Self::write) does. It replaces an existing file only once the new
    /// file is complete.
    ///
    /// # Errors
    ///
    /// The errors of `write`. The message names the file.
    ///
    /// ```
    /// # use tenure::{CsrMatrix, io::{self, npz}, sparse::gallery};
    /// # let path = std::env::temp_dir().join(format!("tenure-csr-{}.npz", std::process::id()));
    /// let matrix: CsrMatrix<f32> = gallery::poisson([10, 10, 10])?;
    /// npz::Writer::new().deflated().save(&path, &matrix)?; // scipy.sparse.load_npz(path)
    ///
    /// let file = io::read(&path)?;
    /// let again: CsrMatrix<f32> = npz::Reader::new(file.as_ref())?.to_csr()?;
    /// assert_eq!(again.values(), matrix.values());
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>, matrix: &impl ScipyMatrix) -> Result<()> {
        save::save(path.as_ref(), |out| self.write(matrix, out))
    }
}

fn named_shape(extents: &[i64; 2]) -> Vec<u8> {
    let descr = npy::descr_of(DType::I64).unwrap_or_default();
    npy::header(&descr, Order::RowMajor, &[extents.len()])
}
