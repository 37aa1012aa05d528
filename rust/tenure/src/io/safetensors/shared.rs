//! A file with an owner of its bytes, shared by the tensors in it.

use std::collections::BTreeMap;

use super::Entry;
use super::reader::Contents;
use crate::dense::SharedTensor;
use crate::dtype::Element;
use crate::error::{Rejected, Result};

/// A file that tensors share: each holds on to the bytes, and the owner of them, a map or a `Vec`,
/// is dropped with the last one.
///
/// ```
/// use tenure::{SharedTensor, TensorView, io::safetensors::{Shared, Writer}};
///
/// let mut file = Vec::new();
/// let tensors = [("w", TensorView::from_slice(&[1_u8, 2], 2)?.into())];
/// Writer::new().write(&tensors, &mut file)?;
///
/// let model = Shared::new(file)?; // or a map of a file
/// let weights: SharedTensor<u8> = model.tensor("w")?;
/// drop(model);
/// assert_eq!(weights, [1, 2]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shared {
    bytes: SharedTensor<u8>,
    contents: Contents,
}

impl Shared {
    /// Reads the header, and no element. The owner is one of bytes: a `Vec<u8>`, a
    /// `SharedTensor<u8>`, memory that is mapped; not behind an `Arc`, which is what this is.
    ///
    /// # Errors
    ///
    /// The errors of [`Reader::new`](super::Reader::new); the owner comes back with the error.
    pub fn new<O>(owner: O) -> Result<Self, Rejected<O>>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        let bytes = owner.as_ref();
        let (len, contents) = (bytes.len(), Contents::read(bytes));
        match contents {
            Ok(contents) => {
                Ok(Shared { bytes: SharedTensor::from_bytes(owner, 0, len)?, contents })
            }
            Err(error) => Err(Rejected::new(error, owner)),
        }
    }

    /// A tensor, which shares the bytes.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such tensor, or not of `T`; elements that are misaligned in memory;
    /// more than 8 axes. `Unsupported`: on a big-endian machine, elements of several bytes.
    pub fn tensor<T: Element>(&self, name: &str) -> Result<SharedTensor<T>> {
        let bytes = self.bytes.as_ref();
        // All that can be wrong is found by the way that lends it.
        self.contents.with_payload(bytes, name, |payload| {
            let of_name = |error: crate::error::Error| error.prefixed(&format!("'{name}': "));
            payload.view()?.downcast::<T>().map(|_| ()).map_err(of_name)
        })?;
        let entry = self.contents.entry(name)?;
        Ok(SharedTensor::from_bytes(self.bytes.clone(), entry.offset(), entry.shape())?)
    }

    /// The tensors of the file, in the order in which they lie there.
    pub fn tensors(&self) -> &[Entry] {
        self.contents.entries()
    }

    /// All text that goes with the file, by its keys.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        self.contents.metadata()
    }
}
