//! Files next to a model that have elements of its tensors.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use prost::bytes::Bytes;

use super::schema::Entry;
use crate::error::{Error, ErrorKind, Result};
use crate::io::payload::shown;

/// The folder of a model, and the files of it that have been read.
#[derive(Debug, Default)]
pub(super) struct External {
    /// `None`: a model that is no file has none.
    folder: Option<PathBuf>,
    files: RefCell<HashMap<String, Bytes>>,
}

impl External {
    pub(super) fn of(folder: &Path) -> External {
        External { folder: Some(folder.to_owned()), files: RefCell::default() }
    }

    /// The bytes that the entries of a tensor name.
    pub(super) fn bytes_of(&self, entries: &[Entry]) -> Result<Bytes> {
        let entry = |key: &str| entries.iter().find(|entry| entry.key == key);
        let number = |key: &str| match entry(key) {
            Some(entry) => entry.value.parse::<usize>().map(Some).map_err(|_| {
                Error::invalid(format!("its {key} is {}, which is no number", shown(&entry.value)))
            }),
            None => Ok(None),
        };
        let location = entry("location").ok_or_else(|| Error::invalid("its file has no name"))?;
        let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?);
        let file = self.file(&location.value)?;
        let end = match length {
            Some(length) => offset.checked_add(length),
            None => Some(file.len()),
        };
        match end.filter(|end| offset <= *end && *end <= file.len()) {
            Some(end) => Ok(file.slice(offset..end)),
            None => {
                let (name, there) = (shown(&location.value), file.len());
                let length = length.map_or_else(|| "all".to_owned(), |length| length.to_string());
                let why = format!("{length} bytes from {offset} on, but {name} has {there}");
                Err(Error::invalid(why))
            }
        }
    }

    /// A file of the folder. A name that leads out of it is refused, as is a link.
    fn file(&self, name: &str) -> Result<Bytes> {
        if let Some(bytes) = self.files.borrow().get(name) {
            return Ok(bytes.clone());
        }
        let refused = |why: &str| Err(Error::invalid(format!("its file {} {why}", shown(name))));
        let Some(folder) = &self.folder else {
            return refused("is next to the model, which was no file: open it by its path");
        };
        let mut path = folder.clone();
        for component in Path::new(name).components() {
            match component {
                Component::Normal(part) => path.push(part),
                Component::CurDir => continue,
                _ => return refused("is outside of the model's folder"),
            }
            let metadata = std::fs::symlink_metadata(&path)
                .map_err(|why| Error::from_io(why).in_file(&path))?;
            if metadata.file_type().is_symlink() {
                return refused("is a link, or in a folder that is one");
            }
        }
        if !path.is_file() {
            return Err(Error::new(ErrorKind::Io, "it is no file").in_file(&path));
        }
        let bytes = Bytes::from_owner(crate::io::read(&path)?);
        self.files.borrow_mut().insert(name.to_owned(), bytes.clone());
        Ok(bytes)
    }
}
