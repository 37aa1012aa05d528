//! Writing archives.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use super::pack::{ArchiveWriter, Packing};
use crate::dense::DynView;
use crate::error::{Error, Result};
use crate::io::npy;
use crate::io::save;

/// Writes archives: of arrays, and SciPy's of sparse matrices.
///
/// ```
/// use tenure::{CsrMatrix, io::npz::Writer, sparse::gallery};
///
/// let matrix: CsrMatrix<f32> = gallery::poisson([10, 10, 10])?;
/// let (mut stored, mut deflated) = (Vec::new(), Vec::new());
/// Writer::new().write(&matrix.view(), &mut stored)?;
/// Writer::new().deflated().write(&matrix.view(), &mut deflated)?;
/// assert!(deflated.len() < stored.len() / 3);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Writer {
    pub(crate) packing: Packing,
}

impl Default for Writer {
    fn default() -> Self {
        Writer { packing: Packing::Stored }
    }
}

impl Writer {
    /// Stores arrays as they are.
    ///
    /// ```
    /// # use tenure::{CooView, io::npz::Writer};
    /// let mut file = Vec::new();
    /// Writer::new().write(&CooView::new(2, 3, &[1], &[2], &[7_u16])?, &mut file)?;
    /// assert!(file.starts_with(b"PK"));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn new() -> Self {
        Writer::default()
    }

    /// Deflates arrays. Each is packed in memory before it is written.
    ///
    /// ```
    /// # use tenure::{CooMatrix, CooView, io::npz::{Reader, Writer}};
    /// let mut file = Vec::new();
    /// let matrix = CooView::new(2, 3, &[1], &[2], &[7_u16])?;
    /// Writer::new().deflated().write(&matrix, &mut file)?;
    /// let again: CooMatrix<u16> = Reader::new(&file)?.to_coo()?;
    /// assert_eq!(again.values(), [7]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[must_use]
    pub fn deflated(mut self) -> Self {
        self.packing = Packing::Deflated;
        self
    }

    /// Writes an archive that `numpy.load` reads, with these arrays by name. Each is written as
    /// [`npy::write`](npy::write()) does; where they are stored, their elements begin at multiples
    /// of 64 bytes, so that they can be lent again.
    ///
    /// # Errors
    ///
    /// `Io`: those of the output. `Unsupported`: elements that NumPy does not have.
    /// `InvalidArgument`: a name that occurs twice or is too long.
    ///
    /// ```
    /// # use tenure::{TensorView, io::npz};
    /// let one = TensorView::from_slice(&[1.5], 1)?;
    /// let mut file = Vec::new();
    /// npz::Writer::new().write_arrays(&[("one", one.into())], &mut file)?;
    /// assert_eq!(npz::Archive::new(&file)?.view("one")?.to_string(), "[1.5]");
    ///
    /// let twice = [("one", one.into()), ("one", one.into())];
    /// let error = npz::Writer::new().write_arrays(&twice, &mut file).err().unwrap();
    /// assert_eq!(error.to_string(), "the name 'one' stands twice");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn write_arrays(&self, arrays: &[(&str, DynView<'_>)], out: impl Write) -> Result<()> {
        let refuse = |why: String| Err(Error::invalid(why));
        let mut names = HashSet::new();
        for (name, _) in arrays {
            if !names.insert(name) {
                return refuse(format!("the name '{name}' stands twice"));
            }
            let most = usize::from(u16::MAX) - ".npy".len();
            if name.len() > most {
                return refuse(format!("a name has {} bytes but at most {most}", name.len()));
            }
        }
        if arrays.len() > usize::from(u16::MAX) {
            return refuse(format!("{} arrays are more than {}", arrays.len(), u16::MAX));
        }
        let mut archive = ArchiveWriter::new(out, self.packing);
        for (name, view) in arrays {
            let (head, body) = npy::encoded(view)?;
            archive.member(&format!("{name}.npy"), &head, body.as_ref())?;
        }
        Ok(archive.finish()?)
    }

    /// Writes a file as [`write_arrays`](Self::write_arrays) does. It replaces an existing file only
    /// once the new file is complete.
    ///
    /// # Errors
    ///
    /// The errors of `write_arrays`. The message names the file.
    ///
    /// ```
    /// # use tenure::{CopyMode, Tensor, io::{self, npz}};
    /// # let path = std::env::temp_dir().join(format!("tenure-save-{}.npz", std::process::id()));
    /// let (weights, labels) = (Tensor::full([2, 3], 0.5_f32)?, Tensor::from([1_i64, 2, 3]));
    /// let arrays = [("weights", (&weights).into()), ("labels", (&labels).into())];
    /// npz::Writer::new().save_arrays(&path, &arrays)?;
    ///
    /// let file = io::read(&path)?;
    /// assert!(npz::Archive::new(file.as_ref())?.names().eq(["weights", "labels"]));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn save_arrays(
        &self,
        path: impl AsRef<Path>,
        arrays: &[(&str, DynView<'_>)],
    ) -> Result<()> {
        save::save(path.as_ref(), |out| self.write_arrays(arrays, out))
    }
}
