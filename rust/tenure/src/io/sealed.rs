//! Memory that the system protects from all further changes.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::ptr::{self, NonNull};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

use crate::error::{Error, ErrorKind, Rejected, Result};

/// The seals that make a mapping safe: no process writes the bytes, and none takes them away.
const NEEDED: SealFlags = SealFlags::WRITE.union(SealFlags::SHRINK);

/// Mapped memory that no process can write or shorten: the kernel holds it under seals that cannot
/// be taken off (Linux's `memfd_create` and `F_ADD_SEALS`). So, other than a mapped file, it is
/// safe.
///
/// It is made of bytes or of a file, which are copied once, or of a descriptor that another process
/// has sent, which is not copied. Its own descriptor ([`AsFd`]) can be sent on.
///
/// ```
/// use std::os::fd::AsFd;
/// use tenure::{SharedTensor, io::Sealed};
///
/// let sealed = Sealed::copy_from_slice(&[1, 2, 3, 4])?;
/// let sent = sealed.as_fd().try_clone_to_owned().unwrap(); // to another process, say
///
/// let received = Sealed::from_fd(sent)?;
/// let pixels = SharedTensor::<u8>::from_bytes(received, 0, [2, 2])?;
/// assert_eq!(pixels.to_vec(), [1, 2, 3, 4]);
///
/// let error = std::fs::File::from(sealed.as_fd().try_clone_to_owned().unwrap()).set_len(2);
/// assert_eq!(error.err().unwrap().kind(), std::io::ErrorKind::PermissionDenied);
/// # Ok::<(), tenure::Error>(())
/// ```
// The invariant: `data` is a mapping of `len` bytes of `fd`, which is sealed; dangling where `len`
// is 0.
#[derive(Debug)]
pub struct Sealed {
    data: NonNull<u8>,
    len: usize,
    fd: OwnedFd,
}

// SAFETY: a mapping is the process's, not a thread's.
unsafe impl Send for Sealed {}
// SAFETY: no code writes the bytes.
unsafe impl Sync for Sealed {}

impl Sealed {
    /// Copies bytes into sealed memory.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`; `Io`: the system refuses.
    ///
    /// ```
    /// # use tenure::io::Sealed;
    /// assert!(Sealed::copy_from_slice(&[])?.as_ref().is_empty());
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn copy_from_slice(bytes: &[u8]) -> Result<Self> {
        Self::written_by(|memory| memory.write_all(bytes)).map_err(Error::from_io)
    }

    /// Copies a file into sealed memory, within the kernel where it can.
    ///
    /// # Errors
    ///
    /// The errors of [`read`](super::read).
    ///
    /// ```
    /// # use tenure::io::Sealed;
    /// # let path = std::env::temp_dir().join(format!("tenure-sealed-{}.bin", std::process::id()));
    /// std::fs::write(&path, [1, 2, 3]).unwrap();
    /// let sealed = Sealed::read(&path)?;
    /// std::fs::remove_file(&path).unwrap(); // or write to it
    /// assert_eq!(sealed.as_ref(), [1, 2, 3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let copied = File::open(path).and_then(|mut file| {
            Self::written_by(|memory| io::copy(&mut file, memory).map(|_| ()))
        });
        copied.map_err(|why| Error::from_io(why).in_file(path))
    }

    fn written_by(write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut memory = File::from(rustix::fs::memfd_create("tenure", flags)?);
        write(&mut memory)?;
        let len = memory.metadata()?.len() as usize;
        let seals = NEEDED | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&memory, seals)?;
        Self::map(memory.into(), len).map_err(|(why, _)| why)
    }

    /// Maps memory that is already sealed against writing and shortening.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: those seals are missing, or it is no memory that can have seals.
    /// `OutOfMemory`: the system cannot map it. The descriptor comes back with the error.
    ///
    /// ```
    /// # use tenure::io::Sealed;
    /// let file = std::fs::File::open("/proc/self/exe").unwrap();
    /// let rejected = Sealed::from_fd(file.into()).err().unwrap();
    /// let expected = "it is no memory that can be sealed, as memfd_create makes";
    /// assert_eq!(rejected.error().message(), expected);
    /// let file = rejected.into_data();
    /// # let _ = file;
    /// ```
    pub fn from_fd(fd: OwnedFd) -> Result<Self, Rejected<OwnedFd>> {
        let len = match sealed_bytes(&fd) {
            Ok(len) => len,
            Err(error) => return Err(Rejected::new(error, fd)),
        };
        Self::map(fd, len).map_err(|(why, fd)| Rejected::new(Error::from_io(why), fd))
    }

    /// Maps `len` bytes of memory that is sealed and has no fewer.
    fn map(fd: OwnedFd, len: usize) -> Result<Self, (io::Error, OwnedFd)> {
        if len == 0 {
            return Ok(Sealed { data: NonNull::dangling(), len, fd });
        }
        // SAFETY: a new mapping, at a place of the system's choice.
        let mapped = unsafe {
            rustix::mm::mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, &fd, 0)
        };
        match mapped.map(|data| NonNull::new(data.cast())) {
            Ok(Some(data)) => Ok(Sealed { data, len, fd }),
            Ok(None) => Err((io::ErrorKind::OutOfMemory.into(), fd)),
            Err(why) => Err((why.into(), fd)),
        }
    }
}

/// The size of a descriptor, which cannot change any more.
fn sealed_bytes(fd: &OwnedFd) -> Result<usize> {
    let seals = rustix::fs::fcntl_get_seals(fd)
        .map_err(|_| Error::invalid("it is no memory that can be sealed, as memfd_create makes"))?;
    if !seals.contains(NEEDED) {
        return Err(Error::invalid(format!(
            "the memory has the seals {seals:?} but must have {NEEDED:?}"
        )));
    }
    // Asked once it cannot become less.
    let stat = rustix::fs::fstat(fd).map_err(|why| Error::from_io(why.into()))?;
    usize::try_from(stat.st_size)
        .ok()
        .filter(|len| *len <= isize::MAX as usize)
        .ok_or_else(|| Error::new(ErrorKind::OutOfMemory, format!("{} bytes", stat.st_size)))
}

/// The bytes.
impl AsRef<[u8]> for Sealed {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the type's invariant: mapped while `self` lives, and sealed, so that they neither
        // change nor go away. With 0 bytes the pointer dangles, as it may.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

/// To be sent to another process, which maps it by [`from_fd`](Sealed::from_fd).
impl AsFd for Sealed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Sealed {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: the mapping is this value's, and no borrow of it is left. Unmapping mapped
            // memory cannot fail.
            let _ = unsafe { rustix::mm::munmap(self.data.as_ptr().cast(), self.len) };
        }
    }
}
