//! Errors: a kind to branch on, and a message that names the value and the bound.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

/// The kind of an [`Error`]: one for each status of the C ABI, and three that only Rust has.
///
/// ```
/// use tenure::{ErrorKind, Tensor};
///
/// match Tensor::<f64>::zeros([1 << 40, 1 << 20]).err().map(|error| error.kind()) {
///     Some(ErrorKind::OutOfMemory) => println!("too large for this machine"),
///     Some(kind) => assert_eq!(kind, ErrorKind::InvalidArgument),
///     None => unreachable!("no machine has 2^63 bytes"),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is wrong by itself or does not fit another.
    InvalidArgument,
    /// Memory could not be had; nothing changed.
    OutOfMemory,
    /// The arguments are right, but there is no such operation for this dtype or device.
    Unsupported,
    /// The output shares bytes with an input, or itself, in a way the operation cannot take.
    Aliased,
    /// A view's owner has been released, or its borrow has ended.
    StaleView,
    /// A handle is garbage, of another kind, or was released.
    StaleHandle,
    /// Somebody is using the memory at this moment.
    Busy,
    /// Another holder still has borrowed memory.
    BorrowEscaped,
    /// A device failed.
    DeviceError,
    /// The library broke a promise of its own: please report it.
    Internal,
    /// An iteration did not reach the requested accuracy. No status of the C ABI, which has no
    /// solvers.
    NoConvergence,
    /// The argument of a closure for [`update`](crate::Tensor::update), which is the output of that
    /// call, stands in an expression that is computed elsewhere. No status of the C ABI, which
    /// checks no closures.
    UnboundArgument,
    /// The system refuses a file or a mapping: it is not there, not readable, not writable. Its own
    /// error is the [source](std::error::Error::source). No status of the C ABI, which has no
    /// files.
    Io,
}

/// The reason of a refusal: a [kind](Error::kind) and a [message](Error::message).
///
/// One pointer wide, so that a `Result` costs the successful path next to nothing.
///
/// ```
/// use tenure::{ErrorKind, TensorView};
///
/// let error = TensorView::from_slice(&[1.0, 2.0, 3.0], [2, 2]).err().unwrap();
/// assert_eq!(error.kind(), ErrorKind::InvalidArgument);
/// assert_eq!(error.message(), "shape [2, 2] has 4 elements but the memory has 3");
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    /// The system's error, where it was the cause. It is only read, so that no panic leaves it half
    /// changed.
    source: Option<Arc<AssertUnwindSafe<io::Error>>>,
}

/// A result with Tenure's error unless another is named, so that a glob import does not break a
/// two-parameter `Result` of the importing code.
///
/// ```
/// use tenure::*;
///
/// fn head<'a>(view: TensorView<'a, f32>) -> Result<TensorView<'a, f32>> {
///     view.slice(0, ..2)
/// }
/// fn parse(text: &str) -> Result<u32, std::num::ParseIntError> {
///     text.parse()
/// }
/// assert_eq!(head(TensorView::from_slice(&[1.0, 2.0, 3.0], 3)?)?.len(), 2);
/// assert_eq!(parse("7"), Ok(7));
/// # Ok::<(), Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An empty `Vec` with room for `count` elements. Without memory for them, the error names them as
/// `what`.
pub(crate) fn reserved<T>(count: usize, what: &str) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(count).map_err(|_| no_memory(count, what))?;
    Ok(vec)
}

/// An [`ErrorKind::OutOfMemory`].
#[cold]
pub(crate) fn no_memory(count: usize, what: &str) -> Error {
    Error::new(ErrorKind::OutOfMemory, format!("there is no memory for {count} {what}"))
}

/// The failure of a closure of the user's.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

impl Error {
    /// Called on failing paths only: building the message allocates.
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), source: None }))
    }

    /// An [`ErrorKind::InvalidArgument`].
    #[cold]
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::InvalidArgument, message)
    }

    /// A refusal by the system: its reason goes along as the source.
    #[cold]
    pub(crate) fn from_io(why: io::Error) -> Self {
        let kind = match why.kind() {
            io::ErrorKind::OutOfMemory => ErrorKind::OutOfMemory,
            io::ErrorKind::Unsupported => ErrorKind::Unsupported,
            _ => ErrorKind::Io,
        };
        let message = why.to_string();
        Error(Box::new(Inner { kind, message, source: Some(Arc::new(AssertUnwindSafe(why))) }))
    }

    /// Puts the name of a file in front of the error's message: readers of bytes do not know where
    /// the bytes come from.
    ///
    /// ```
    /// # use tenure::*;
    /// let error = io::npy::Array::new(b"no array").err().unwrap().in_file("a/b.npy");
    /// assert!(error.message().starts_with("a/b.npy: "));
    /// ```
    #[must_use]
    pub fn in_file(self, path: impl AsRef<Path>) -> Self {
        self.prefixed(&format!("{}: ", path.as_ref().display()))
    }

    /// Puts the name of a function in front of the error's message.
    #[cold]
    #[inline(never)]
    pub(crate) fn of_call(self, name: &str) -> Self {
        self.prefixed(&format!("{name}: "))
    }

    /// Puts `prefix` in front of the error's message.
    pub(crate) fn prefixed(mut self, prefix: &str) -> Self {
        self.0.message.insert_str(0, prefix);
        self
    }

    /// The kind of the error.
    ///
    /// ```
    /// # use tenure::*;
    /// let error = TensorView::from_slice(&[1, 2], [0; 9]).err().unwrap();
    /// assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message, with the value and the bound.
    ///
    /// ```
    /// # use tenure::*;
    /// let error = TensorView::from_slice(&[1, 2], [0; 9]).err().unwrap();
    /// assert_eq!(error.message(), "rank is 9 but at most 8 axes are supported");
    /// ```
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

/// An error of the system becomes the [source](std::error::Error::source) of an error of the kind
/// [`Io`](ErrorKind::Io). Its message does not name the file: [`in_file`](Error::in_file) adds the
/// name.
///
/// ```
/// use tenure::ErrorKind;
///
/// fn length(path: &str) -> tenure::Result<u64> {
///     Ok(std::fs::metadata(path)?.len())
/// }
/// let error = length("no/such/file").err().unwrap();
/// assert_eq!(error.kind(), ErrorKind::Io);
/// ```
impl From<io::Error> for Error {
    fn from(why: io::Error) -> Error {
        Error::from_io(why)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("message", &self.message())
            .finish()
    }
}

/// The source is the system's error, where a file could not be read.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|why| &***why as _)
    }
}

/// A refusal that gives the data back: the error, and the data as it was handed in.
///
/// `?` turns it into its [`Error`] and drops the data.
///
/// ```
/// use tenure::Tensor;
///
/// let rejected = Tensor::from_vec(vec![1.0_f32; 5], [2, 3]).err().unwrap();
/// assert_eq!(rejected.error().message(), "shape [2, 3] has 6 elements but the memory has 5");
/// assert_eq!(rejected.into_data(), vec![1.0; 5]);
/// ```
pub struct Rejected<D> {
    error: Error,
    data: D,
}

impl<D> Rejected<D> {
    pub(crate) fn new(error: Error, data: D) -> Self {
        Rejected { error, data }
    }

    /// The reason of the refusal.
    ///
    /// ```
    /// # use tenure::*;
    /// let rejected = Tensor::from_vec(vec![1, 2], 3).err().unwrap();
    /// assert_eq!(rejected.error().kind(), ErrorKind::InvalidArgument);
    /// ```
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The data, as it was handed in.
    ///
    /// ```
    /// # use tenure::*;
    /// let rejected = Tensor::from_vec(vec![1, 2], 3).err().unwrap();
    /// assert_eq!(rejected.into_data(), [1, 2]);
    /// ```
    pub fn into_data(self) -> D {
        self.data
    }

    /// Both.
    ///
    /// ```
    /// # use tenure::*;
    /// let (error, data) = Tensor::from_vec(vec![1, 2], 3).err().unwrap().into_parts();
    /// assert_eq!((error.kind(), data), (ErrorKind::InvalidArgument, vec![1, 2]));
    /// ```
    pub fn into_parts(self) -> (Error, D) {
        (self.error, self.data)
    }
}

impl<D> From<Rejected<D>> for Error {
    fn from(rejected: Rejected<D>) -> Error {
        rejected.error
    }
}

impl<D> fmt::Display for Rejected<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

// The data may be large and need not be printable.
impl<D> fmt::Debug for Rejected<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<D> std::error::Error for Rejected<D> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
