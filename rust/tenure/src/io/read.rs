//! Reading a file from its beginning into memory of the library's.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use crate::dense::Tensor;
use crate::dtype::Element;
use crate::error::{Error, Rejected, Result};
use crate::layout::order::Order;

/// Reads a file, once, into memory of its own: large ones lie in huge pages, aligned for every
/// dtype.
///
/// Later writes to the file do not change the tensor. A file that grows while it is read is taken
/// as long as it was at first.
///
/// # Errors
///
/// `Io`: there is no such file, or the system cannot read it; its own error is the
/// [`source`](std::error::Error::source). `InvalidArgument`: it has become shorter meanwhile.
/// `OutOfMemory`.
///
/// ```
/// use tenure::{ErrorKind, io};
///
/// # let path = std::env::temp_dir().join(format!("tenure-read-{}.bin", std::process::id()));
/// std::fs::write(&path, [1, 2, 3]).unwrap();
/// assert_eq!(io::read(&path)?.as_slice(), Some(&[1, 2, 3][..]));
/// # std::fs::remove_file(&path).unwrap();
///
/// let error = io::read("no/such/file").err().unwrap();
/// assert_eq!(error.kind(), ErrorKind::Io);
/// assert!(error.message().starts_with("no/such/file: "));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn read(path: impl AsRef<Path>) -> Result<Tensor<u8>> {
    let path = path.as_ref();
    read_bytes(path).map_err(|error| error.in_file(path))
}

fn read_bytes(path: &Path) -> Result<Tensor<u8>> {
    let mut source = InputFile::open(path)?;
    match source.stated_bytes {
        // A pipe, or a file of /proc: its length is unknown before its end.
        0 => source.rest(),
        size_bytes => source.elements(&[size_bytes], Order::RowMajor),
    }
}

/// A file that is read from its beginning to its end. Its messages do not name it.
pub(crate) struct InputFile {
    file: File,
    /// The length that the system reports; 0 where it does not.
    pub(crate) stated_bytes: usize,
    read_bytes: usize,
}

impl InputFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = opened.map_err(Error::from_io)?;
        let stated_bytes = if metadata.is_file() { metadata.len() as usize } else { 0 };
        Ok(InputFile { file, stated_bytes, read_bytes: 0 })
    }

    /// Bytes that come next.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: bytes are read into it, which are initialised, and nothing else is written.
        self.fill_spare(unsafe { &mut *(bytes as *mut [u8] as *mut [MaybeUninit<u8>]) })
    }

    /// New memory of a shape, whose elements are the bytes that come next.
    pub(crate) fn elements<T: Element>(
        &mut self,
        extents: &[usize],
        order: Order,
    ) -> Result<Tensor<T>> {
        // SAFETY: `fill_spare` answers Ok once every byte has been read into.
        unsafe { Tensor::filled_by(extents, order, |spare| self.fill_spare(spare)) }
    }

    /// All that comes, for a file that does not say how long it is.
    pub(crate) fn rest(mut self) -> Result<Tensor<u8>> {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut self.file, &mut bytes).map_err(Error::from_io)?;
        let len = bytes.len();
        Tensor::from_vec(bytes, len).map_err(Rejected::into)
    }

    /// Writes every byte of `spare`, or fails.
    fn fill_spare(&mut self, spare: &mut [MaybeUninit<u8>]) -> Result<()> {
        let mut filled = 0;
        while filled < spare.len() {
            match read_some(&self.file, &mut spare[filled..]) {
                Ok(0) => return Err(self.ends_early(spare.len() - filled)),
                Ok(count) => {
                    filled += count;
                    self.read_bytes += count;
                }
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(Error::from_io(why)),
            }
        }
        Ok(())
    }

    #[cold]
    fn ends_early(&self, missing: usize) -> Error {
        let (read, needed) = (self.read_bytes, self.read_bytes + missing);
        Error::invalid(format!("it ends at byte {read} but {needed} bytes are needed"))
    }
}

/// Reads at most all of `spare`, and returns how many bytes at its beginning have been written.
#[cfg(unix)]
fn read_some(file: &File, spare: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
    use std::ffi::{c_int, c_void};
    use std::os::fd::AsRawFd;

    // `Read::read` asks for memory that is initialised: that would write everything twice.
    unsafe extern "C" {
        fn read(file: c_int, buffer: *mut c_void, count: usize) -> isize;
    }
    // More than this at once some systems refuse.
    const MOST: usize = 1 << 30;
    let count = spare.len().min(MOST);
    // SAFETY: the descriptor is open while `file` is borrowed, and the memory writable.
    let read = unsafe { read(file.as_raw_fd(), spare.as_mut_ptr().cast(), count) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

#[cfg(not(unix))]
fn read_some(mut file: &File, spare: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
    // Memory for `Read::read` must be initialised; in pieces that stay in a cache.
    let count = spare.len().min(1 << 18);
    spare[..count].fill(MaybeUninit::new(0));
    // SAFETY: initialised in the line above.
    let bytes = unsafe { std::slice::from_raw_parts_mut(spare.as_mut_ptr().cast(), count) };
    io::Read::read(&mut file, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    #[cfg_attr(miri, ignore = "counts on a file system")]
    fn a_file_that_has_become_shorter_is_a_message_with_both_sizes() {
        let path = std::env::temp_dir().join(format!("tenure-shorter-{}", std::process::id()));
        std::fs::write(&path, [0; 100]).unwrap();
        let mut source = InputFile::open(&path).unwrap();
        source.fill(&mut [0; 10]).unwrap();
        // Asks for 120 bytes in all, as if the file had had them when it was opened.
        assert_eq!(source.elements::<f32>(&[11], Order::RowMajor).unwrap().to_vec(), [0.0; 11]);
        let error = source.elements::<u8>(&[66], Order::RowMajor).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(error.message(), "it ends at byte 100 but 120 bytes are needed");
        std::fs::remove_file(&path).unwrap();
    }
}
