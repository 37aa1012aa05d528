//! Moments in the work of a stream.

use std::fmt;

use crate::cuda::{Device, Stream};
use crate::error::Result;
use crate::raw::cuda::EventHandle;

/// The work that a stream had got at one moment: to wait for, to ask, or to put other work after.
///
/// ```
/// use tenure::cuda::Device;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let table = stream.full([1000, 1000], 2.0_f32)?;
/// let event = stream.record()?;
/// let later = stream.exp(&table)?; // not what the event waits for
/// event.wait()?;
/// assert!(event.is_done()?);
/// # drop(later);
/// # Ok::<(), tenure::Error>(())
/// ```
pub struct Event {
    device: Device,
    handle: EventHandle,
}

impl Event {
    /// Waits until the event's work is done.
    ///
    /// # Errors
    ///
    /// `DeviceError`: the device has failed since the last wait.
    #[doc(alias = "synchronize")]
    pub fn wait(&self) -> Result<()> {
        self.handle.wait()
    }

    /// Whether the event's work is done. Does not wait.
    ///
    /// # Errors
    ///
    /// The errors of [`wait`](Self::wait).
    #[doc(alias = "query")]
    pub fn is_done(&self) -> Result<bool> {
        self.handle.is_done()
    }

    /// The device of its stream.
    pub fn device(&self) -> Device {
        self.device
    }
}

/// Events.
impl Stream {
    /// The work that this stream has got so far.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`. `DeviceError`.
    pub fn record(&self) -> Result<Event> {
        Ok(Event { device: self.device(), handle: EventHandle::of(self.handle())? })
    }

    /// Orders work that is enqueued here from now on after the event's work. The event may be of
    /// another device. The host does not wait. Tensors need neither this call nor
    /// [`follow`](Self::follow).
    ///
    /// # Errors
    ///
    /// `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// let (one, two) = (device.stream()?, device.stream()?);
    /// two.follow_event(&one.record()?)?;
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "wait_event")]
    pub fn follow_event(&self, event: &Event) -> Result<()> {
        event.handle.precede(self.handle())
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("device", &self.device).finish_non_exhaustive()
    }
}
