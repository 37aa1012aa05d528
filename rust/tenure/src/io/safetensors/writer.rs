//! Writing.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::Path;

use super::dtypes;
use super::header::{LENGTH_BYTES, METADATA, MOST_HEADER_BYTES, quoted};
use crate::dense::DynView;
use crate::dtype::bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::io::payload::{Body, shown};
use crate::io::save;

/// Alignment of elements: a cache line, for readers that map the file.
const PAYLOAD_ALIGNMENT: usize = 64;

/// Writes files of named tensors.
///
/// Equal tensors and metadata give equal bytes.
///
/// ```
/// use tenure::{TensorView, io::safetensors::{Reader, Writer}};
///
/// let (wide, narrow) = ([1.5_f64], [1_u8, 2, 3]);
/// let tensors = [
///     ("narrow", TensorView::from_slice(&narrow, 3)?.into()),
///     ("wide", TensorView::from_slice(&wide, 1)?.into()),
/// ];
/// let mut file = Vec::new(); // or a `File`
/// Writer::new().metadata("author", "me").write(&tensors, &mut file)?;
///
/// // In Python: safetensors.numpy.load_file(path)
/// let reader = Reader::new(&file)?;
/// let names: Vec<&str> = reader.tensors().iter().map(|entry| entry.name()).collect();
/// assert_eq!(names, ["wide", "narrow"], "those of larger elements first: all are aligned");
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Writer {
    metadata: BTreeMap<String, String>,
}

impl Writer {
    /// Without metadata.
    pub fn new() -> Self {
        Writer::default()
    }

    /// Adds text that goes with the file.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Writes tensors by name. The elements go out as they lie; of a view that is not dense and
    /// row-major they are gathered first, in memory of their size.
    ///
    /// # Errors
    ///
    /// `Io`: those of the output. `Unsupported`: a dtype that the format has no name for.
    /// `InvalidArgument`: a name that occurs twice, or is the one of the metadata.
    ///
    /// ```
    /// # use tenure::{Complex, TensorView, io::safetensors::Writer};
    /// let values = [Complex::new(1.0_f64, 2.0)];
    /// let tensors = [("z", TensorView::from_slice(&values, 1)?.into())];
    /// let error = Writer::new().write(&tensors, &mut Vec::new()).err().unwrap();
    /// assert_eq!(error.to_string(), "safetensors have no c128, which 'z' is of");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn write(&self, tensors: &[(&str, DynView<'_>)], mut out: impl Write) -> Result<()> {
        let mut names = HashSet::new();
        for (name, _) in tensors {
            if *name == METADATA || !names.insert(name) {
                let why = format!("the name '{}' stands twice or is {METADATA}", shown(name));
                return Err(Error::invalid(why));
            }
        }
        let mut tensors: Vec<&(&str, DynView<'_>)> = tensors.iter().collect();
        tensors.sort_by_key(|(name, view)| (usize::MAX - view.dtype().size_bytes(), *name));
        let header = self.header(&tensors)?;
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for (_, view) in tensors {
            let body = Body::new(*view)?;
            if cfg!(target_endian = "little") {
                out.write_all(body.as_ref())?;
            } else {
                let mut turned = body.as_ref().to_vec();
                bytes::swap(&mut turned, view.dtype());
                out.write_all(&turned)?;
            }
        }
        Ok(out.flush()?)
    }

    /// Writes a file as [`write`](Self::write) does. It replaces an existing file only once the new
    /// file is complete.
    ///
    /// # Errors
    ///
    /// The errors of `write`. The message names the file.
    ///
    /// ```
    /// # use tenure::{Tensor, io::{self, safetensors}};
    /// # let path = std::env::temp_dir().join(format!("tenure-w-{}.safetensors", std::process::id()));
    /// let weights = Tensor::full([2, 3], 0.5_f32)?;
    /// safetensors::Writer::new().save(&path, &[("weights", (&weights).into())])?;
    ///
    /// let file = io::read(&path)?;
    /// assert_eq!(safetensors::Reader::new(file.as_ref())?.view("weights")?.shape(), [2, 3]);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>, tensors: &[(&str, DynView<'_>)]) -> Result<()> {
        save::save(path.as_ref(), |out| self.write(tensors, out))
    }

    /// The header, with spaces at its end that align the elements.
    fn header(&self, tensors: &[&(&str, DynView<'_>)]) -> Result<String> {
        let mut members = Vec::new();
        if !self.metadata.is_empty() {
            let texts = self.metadata.iter();
            let texts: Vec<String> =
                texts.map(|(key, value)| format!("{}:{}", quoted(key), quoted(value))).collect();
            members.push(format!("\"{METADATA}\":{{{}}}", texts.join(",")));
        }
        let mut begin = 0;
        for (name, view) in tensors {
            let dtype = dtypes::name_of(view.dtype()).ok_or_else(|| {
                let why =
                    format!("safetensors have no {}, which '{}' is of", view.dtype(), shown(name));
                Error::new(ErrorKind::Unsupported, why)
            })?;
            let end = begin + view.len() * view.dtype().size_bytes();
            let shape: Vec<String> = view.shape().iter().map(usize::to_string).collect();
            members.push(format!(
                "{}:{{\"dtype\":\"{dtype}\",\"shape\":[{}],\"data_offsets\":[{begin},{end}]}}",
                quoted(name),
                shape.join(",")
            ));
            begin = end;
        }
        let mut header = format!("{{{}}}", members.join(","));
        let padded = (LENGTH_BYTES + header.len()).next_multiple_of(PAYLOAD_ALIGNMENT);
        header.extend(std::iter::repeat_n(' ', padded - LENGTH_BYTES - header.len()));
        if header.len() > MOST_HEADER_BYTES {
            let why =
                format!("the header has {} bytes but may have {MOST_HEADER_BYTES}", header.len());
            return Err(Error::invalid(why));
        }
        Ok(header)
    }
}
