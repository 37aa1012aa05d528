//! Batches on their way to a device, while work on those before them goes on.

use std::fmt;
use std::mem;

use crate::cuda::{Device, Pending, Stream, Tensor, TensorView};
use crate::dense;
use crate::dense::IntoShape;
use crate::dtype::Element;
use crate::error::reserved;
use crate::error::{Error, Result};

/// Batches of the host's data, copied to a device while work on the batches before them goes on.
///
/// It has `depth` pairs of buffers, one in [pinned](Stream::pinned_zeros) memory of the host and
/// one in memory of the device. A batch is written to the host's buffer, copied to the device's
/// buffer concurrently with other work of the device, and lent from there.
///
/// ```
/// use tenure::cuda::{Device, Loader};
/// use tenure::TensorView;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let data: Vec<f32> = (0..1000).map(|i| i as f32).collect(); // or a mapped file
/// let samples = TensorView::from_slice(&data, [250, 4])?;
///
/// let mut loader = Loader::new(device, [32, 4], 2)?;
/// let mut sums = stream.zeros::<f32>([4])?;
/// let mut batches = loader.batches(samples.chunks(0, 32)?);
/// while let Some(batch) = batches.next() {
///     let batch = batch?; // lent until the next one is asked for
///     stream.add_assign(&mut sums, &stream.sum(batch, 0)?)?; // enqueued
/// }
/// assert_eq!(stream.to_vec(&sums)?, [124_500.0, 124_750.0, 125_000.0, 125_250.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
///
/// # Order
///
/// Batches may be used on any stream of the device, like all tensors: work on a batch begins when
/// its copy is done, and does not wait for the copies of others. The device's buffer is written
/// again after the work that was enqueued on its batch, and the host's buffer when its copy is
/// done. [`buffer`](Self::buffer) waits for that copy: the only wait on the host. Dropping the
/// loader waits for its copies and for the work on its batches, as dropping a stream does.
// Each pair has a stream of its own. Work on memory is ordered by the stream that it was made on,
// its home, as a whole: were it one for all, work on a batch would come after the copy of the next.
pub struct Loader<T: Element> {
    /// A ring: first the pair whose batch is lent, then those that are submitted, then free ones.
    pairs: Vec<Pair<T>>,
    first: usize,
    is_lent: bool,
    submitted: usize,
}

struct Pair<T: Element> {
    stream: Stream,
    host: Host<T>,
    on_device: Tensor<T>,
    /// The number of samples of the current batch.
    count: usize,
}

/// Memory of the host.
enum Host<T: Element> {
    Here(crate::dense::Tensor<T>),
    Copied(Pending<crate::dense::Tensor<T>>),
    /// Its copy failed, and with it went the memory.
    Lost,
}

const THERE: &str = "a pair has its memory of the host while it is written";
const FITS: &str = "a batch has no more samples than its memory has room for";

impl<T: Element> Pair<T> {
    fn new(device: Device, extents: &[usize]) -> Result<Self> {
        let stream = device.stream()?;
        let host = Host::Here(stream.pinned_zeros(extents)?);
        let on_device = stream.zeros(extents)?;
        Ok(Pair { stream, host, on_device, count: 0 })
    }

    /// Waits for the copy of the batch before.
    fn take_back(&mut self) -> Result<()> {
        let host = match mem::replace(&mut self.host, Host::Lost) {
            Host::Here(host) => host,
            Host::Copied(pending) => pending.wait()?,
            Host::Lost => self.stream.pinned_zeros(self.on_device.shape())?,
        };
        self.host = Host::Here(host);
        Ok(())
    }

    fn view_mut(&mut self) -> dense::TensorViewMut<'_, T> {
        match &mut self.host {
            Host::Here(host) => host.view_mut(),
            Host::Copied(_) | Host::Lost => unreachable!("{THERE}"),
        }
    }

    /// Enqueues the copy of the first samples.
    fn submit(&mut self, count: usize) -> Result<()> {
        let Host::Here(host) = mem::replace(&mut self.host, Host::Lost) else {
            unreachable!("{THERE}")
        };
        let (host, result) = match self.stream.upload_first(host, count, &mut self.on_device) {
            Ok(pending) => (Host::Copied(pending), Ok(())),
            Err(rejected) => {
                let (error, host) = rejected.into_parts();
                (Host::Here(host), Err(error))
            }
        };
        self.host = host;
        self.count = count;
        result
    }
}

impl<T: Element> Loader<T> {
    /// `depth` pairs of memory for batches of this shape, whose axis 0 counts the samples; a batch
    /// may have fewer. One pair is lent with the current batch: with 2 the next one is copied
    /// meanwhile, and each more evens out times that differ.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a depth below 2, a shape without axes or of more than 8, or more bytes
    /// than memory can have. `OutOfMemory`: of the host, or of the device. `DeviceError`.
    pub fn new(device: Device, shape: impl IntoShape, depth: usize) -> Result<Self> {
        let extents = shape.extents();
        if depth < 2 {
            return Err(Error::invalid(format!("depth is {depth} but must be at least 2")));
        }
        if extents.is_empty() {
            return Err(Error::invalid("the shape has no axis to count samples along"));
        }
        let mut pairs = reserved(depth, "pairs of memory")?;
        for _ in 0..depth {
            pairs.push(Pair::new(device, extents)?);
        }
        Ok(Loader { pairs, first: 0, is_lent: false, submitted: 0 })
    }

    /// The batches of `source`: views of the host, each of samples as the shape has them, and of no
    /// more than it says. Their elements may have any strides. Views without samples are passed
    /// over.
    ///
    /// [`TensorView::chunks`](crate::TensorView::chunks) of a mapped file is one such source. An
    /// error is the last of the batches.
    ///
    /// ```
    /// use tenure::cuda::{Device, Loader};
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let mut loader = Loader::new(device, 2, 3)?;
    /// let mut batches = loader.batches([vec![1, 2], vec![3, 4], vec![5]]);
    /// let mut seen = Vec::new();
    /// while let Some(batch) = batches.next() {
    ///     seen.push(stream.to_vec(batch?)?);
    /// }
    /// assert_eq!(seen, [vec![1, 2], vec![3, 4], vec![5]]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn batches<I>(
        &mut self,
        source: I,
    ) -> Batches<'_, T, impl FnMut(dense::TensorViewMut<'_, T>) -> Result<usize> + use<T, I>>
    where
        I: IntoIterator<Item: crate::operand::AsView<T>>,
    {
        let mut source = source.into_iter();
        self.batches_by(move |mut buffer| {
            let mut given = source.by_ref().map(|view| write(&view, &mut buffer.view_mut()));
            given.find(|written| !matches!(written, Ok(0))).unwrap_or(Ok(0))
        })
    }
    /// The batches that `fill` writes, each to the memory that it is lent, of the loader's shape:
    /// it answers with the number of samples, the first along axis 0, and with 0 at the end.
    ///
    /// Batches are written ahead of their use, until no memory is free. Batches that were submitted
    /// before and not taken are dropped. An error of `fill` is the last of the batches.
    ///
    /// Filled by threads, shuffled and transformed, by a [`tenure::Loader`](crate::Loader):
    ///
    /// ```
    /// use std::error::Error;
    ///
    /// use tenure::SharedTensor;
    /// use tenure::cuda::{Device, Loader};
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let x = SharedTensor::from_owner(vec![0.5_f32; 400], [100, 4])?;
    /// let mut host = tenure::Loader::new(x, 32)?.shuffle(42).threads(2).start()?;
    ///
    /// let mut loader = Loader::new(device, [32, 4], 2)?;
    /// let mut batches = loader.batches_by(|out| {
    ///     let Some(batch) = host.next() else { return Ok(0) };
    ///     let batch = batch?;
    ///     tenure::ops::copy_into(batch.views(), &mut out.slice(0, ..batch.len())?)?;
    ///     Ok::<_, Box<dyn Error>>(batch.len())
    /// });
    /// let mut samples = 0;
    /// while let Some(batch) = batches.next() {
    ///     samples += batch?.shape()[0];
    /// }
    /// assert_eq!(samples, 100);
    /// # Ok::<(), Box<dyn Error>>(())
    /// ```
    pub fn batches_by<F, E>(&mut self, fill: F) -> Batches<'_, T, F, E>
    where
        F: FnMut(dense::TensorViewMut<'_, T>) -> Result<usize, E>,
        E: From<Error>,
    {
        self.give_back();
        self.first = (self.first + mem::take(&mut self.submitted)) % self.pairs.len();
        Batches { loader: self, fill: Some(fill), failed: None }
    }

    /// Memory of the host for the next batch, of the loader's shape: it holds the elements that
    /// were last written to it, or zeros. The call waits for the last copy from this memory, if
    /// there was one.
    ///
    /// [`batches`](Self::batches) is simpler if the data come from one source.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `depth` batches have been submitted, and none taken. `OutOfMemory`,
    /// `DeviceError`: the device has failed since the last wait.
    ///
    /// ```
    /// use tenure::cuda::{Device, Loader};
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let mut loader = Loader::<i32>::new(device, [2, 3], 2)?;
    /// let mut buffer = loader.buffer()?;
    /// buffer.view_mut().fill(7);
    /// buffer.submit()?; // enqueued
    /// let batch = loader.next().expect("one is submitted");
    /// assert_eq!(stream.to_vec(batch)?, [7; 6]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn buffer(&mut self) -> Result<HostBuffer<'_, T>> {
        self.give_back();
        let depth = self.pairs.len();
        if self.submitted == depth {
            return Err(Error::invalid(format!(
                "{depth} batches are submitted and none is taken but the depth is {depth}"
            )));
        }
        let pair = &mut self.pairs[(self.first + self.submitted) % depth];
        pair.take_back()?;
        Ok(HostBuffer { pair, submitted: &mut self.submitted })
    }

    /// The next submitted batch, lent until the loader is used again. The call does not wait: work
    /// on the batch runs after its copy.
    #[expect(clippy::should_implement_trait, reason = "an iterator's items outlive its next step")]
    pub fn next(&mut self) -> Option<TensorView<'_, T>> {
        self.give_back();
        self.submitted = self.submitted.checked_sub(1)?;
        self.is_lent = true;
        let pair = &self.pairs[self.first];
        Some(pair.on_device.view().slice(0, ..pair.count).expect(FITS))
    }

    /// Ends the loan of a batch. No view of it is alive, as `self` is borrowed exclusively.
    fn give_back(&mut self) {
        if mem::take(&mut self.is_lent) {
            self.first = (self.first + 1) % self.pairs.len();
        }
    }

    /// The shape of a whole batch.
    pub fn shape(&self) -> &[usize] {
        self.pairs[0].on_device.shape()
    }

    /// The number of pairs of memory.
    pub fn depth(&self) -> usize {
        self.pairs.len()
    }
}

/// Copies a batch of the host to the first samples of `out`, and gives their number.
fn write<T: Element>(
    batch: &impl crate::operand::AsView<T>,
    out: &mut dense::TensorViewMut<'_, T>,
) -> Result<usize> {
    let (batch, room) = (batch.as_view(), out.shape());
    let count = match (batch.shape(), room) {
        ([count, rest @ ..], [most, expected @ ..]) if rest == expected && count <= most => *count,
        (shape, room) => {
            return Err(Error::invalid(format!(
                "a batch has shape {shape:?} but the loader's is {room:?}, of which axis 0 may be \
                 shorter"
            )));
        }
    };
    crate::ops::copy_into(batch, &mut out.view_mut().slice(0, ..count)?)?;
    Ok(count)
}

/// Memory of the host that a [`Loader`] lends for the next batch, until it is submitted. Dropped or
/// forgotten instead, it submits nothing.
#[must_use = "dropped, it submits nothing"]
pub struct HostBuffer<'a, T: Element> {
    pair: &'a mut Pair<T>,
    submitted: &'a mut usize,
}

impl<T: Element> HostBuffer<'_, T> {
    /// The memory, to be written.
    pub fn view_mut(&mut self) -> dense::TensorViewMut<'_, T> {
        self.pair.view_mut()
    }

    /// Enqueues the copy of the batch, after those that were submitted before it.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`, `DeviceError`: nothing is submitted.
    pub fn submit(self) -> Result<()> {
        let count = self.pair.on_device.shape()[0];
        self.submit_first(count)
    }

    /// Enqueues the copy of the first `count` samples as a shorter batch.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: more samples than the memory has room for. Also the errors of
    /// [`submit`](Self::submit).
    pub fn submit_first(self, count: usize) -> Result<()> {
        let most = self.pair.on_device.shape()[0];
        if count > most {
            return Err(Error::invalid(format!(
                "a batch has {count} samples but the loader has room for {most}"
            )));
        }
        self.pair.submit(count)?;
        *self.submitted += 1;
        Ok(())
    }
}

/// Batches of a [`Loader`] from one source. Each is lent until the next call of
/// [`next`](Batches::next): see [`Loader::batches`].
pub struct Batches<'a, T: Element, F, E = Error> {
    loader: &'a mut Loader<T>,
    /// None at its end.
    fill: Option<F>,
    /// The error that comes after the batches that are submitted.
    failed: Option<E>,
}

impl<T, F, E> Batches<'_, T, F, E>
where
    T: Element,
    F: FnMut(dense::TensorViewMut<'_, T>) -> Result<usize, E>,
    E: From<Error>,
{
    /// The next batch; `None` at the end.
    ///
    /// First fills all free memory and enqueues its copies, which run concurrently with the work on
    /// the batch. Waits where memory cannot be filled before a copy from it is done.
    ///
    /// The batch is lent, which no iterator can do: write `while let Some(batch) = batches.next()`.
    ///
    /// # Errors
    ///
    /// Errors of the source, of [`Loader::buffer`] and of [`HostBuffer::submit`]. No batch follows
    /// an error.
    #[expect(clippy::should_implement_trait, reason = "an iterator's items outlive its next step")]
    pub fn next(&mut self) -> Option<Result<TensorView<'_, T>, E>> {
        self.loader.give_back();
        while self.loader.submitted < self.loader.depth() {
            let Some(fill) = &mut self.fill else { break };
            match submit_by(self.loader, fill) {
                Ok(0) => self.fill = None,
                Ok(_) => {}
                Err(error) => (self.fill, self.failed) = (None, Some(error)),
            }
        }
        match self.loader.next() {
            Some(batch) => Some(Ok(batch)),
            None => self.failed.take().map(Err),
        }
    }
}

/// Submits the batch that `fill` writes, if that has any samples; gives their number.
fn submit_by<T: Element, E: From<Error>>(
    loader: &mut Loader<T>,
    fill: &mut impl FnMut(dense::TensorViewMut<'_, T>) -> Result<usize, E>,
) -> Result<usize, E> {
    let mut buffer = loader.buffer()?;
    let count = fill(buffer.view_mut())?;
    if count > 0 {
        buffer.submit_first(count)?;
    }
    Ok(count)
}

impl<T: Element> fmt::Debug for Loader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader")
            .field("shape", &self.shape())
            .field("depth", &self.depth())
            .field("submitted", &self.submitted)
            .finish_non_exhaustive()
    }
}

impl<T: Element> fmt::Debug for HostBuffer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = self.pair.on_device.shape();
        f.debug_struct("HostBuffer").field("shape", &shape).finish_non_exhaustive()
    }
}

impl<T: Element, F, E> fmt::Debug for Batches<'_, T, F, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").field("loader", &self.loader).finish_non_exhaustive()
    }
}
