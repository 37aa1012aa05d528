//! Devices and their properties.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use crate::context::Engine;
use crate::cuda::Stream;
use crate::error::{Error, ErrorKind, Result};
use crate::raw::cuda as raw;

/// A GPU: a plain value, `Copy`, that names the device.
///
/// ```
/// use tenure::cuda::Device;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let (major, minor) = device.capability();
/// println!("{device}: {}, {major}.{minor}, {} bytes", device.name(), device.memory_bytes());
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Device {
    facts: &'static Facts,
}

/// Facts that do not change while the process runs.
struct Facts {
    index: u32,
    name: String,
    memory_bytes: u64,
    capability: (u32, u32),
    multiprocessor_count: u32,
}

/// The devices that [`Device::new`] has returned. Each is described once and kept until the process
/// ends, so that a [`Device`] is one pointer.
static KNOWN: Mutex<Vec<&'static Facts>> = Mutex::new(Vec::new());

impl Device {
    /// Device number `index`, from 0, as CUDA counts them (`CUDA_VISIBLE_DEVICES`).
    ///
    /// # Errors
    ///
    /// `Unsupported`: no driver of CUDA 13 or newer, or it finds no device; the message says why.
    /// `InvalidArgument`: no such device. `DeviceError`.
    ///
    /// ```
    /// use tenure::ErrorKind;
    /// use tenure::cuda::Device;
    ///
    /// match Device::new(0) {
    ///     Ok(device) => println!("{}", device.name()),
    ///     Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}"),
    /// }
    /// ```
    pub fn new(index: usize) -> Result<Device> {
        let index = u32::try_from(index).map_err(|_| {
            Error::invalid(format!("device is {index} but must be at most {}", u32::MAX))
        })?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = known.iter().find(|facts| facts.index == index) {
            return Ok(Device { facts });
        }
        let info = raw::describe(index)?;
        let name = info.name.iter().map(|&letter| letter as u8).take_while(|&letter| letter != 0);
        let facts = Box::leak(Box::new(Facts {
            index,
            name: String::from_utf8_lossy(&name.collect::<Vec<u8>>()).into_owned(),
            memory_bytes: info.memory_bytes,
            capability: (info.capability_major, info.capability_minor),
            multiprocessor_count: info.multiprocessor_count,
        }));
        known.push(facts);
        Ok(Device { facts })
    }

    /// How many devices there are; 0 where no driver can be used: [`new`](Self::new) says why.
    ///
    /// # Errors
    ///
    /// `DeviceError`.
    ///
    /// ```
    /// for index in 0..tenure::cuda::Device::count()? {
    ///     println!("{}", tenure::cuda::Device::new(index)?.name());
    /// }
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn count() -> Result<usize> {
        match raw::device_count() {
            Ok(count) => Ok(count as usize),
            Err(error) => none_or(error),
        }
    }

    /// Its number.
    pub fn index(self) -> usize {
        self.facts.index as usize
    }

    /// Its name, such as `NVIDIA H100 80GB HBM3`.
    pub fn name(self) -> &'static str {
        &self.facts.name
    }

    /// Bytes of the device's memory in total, whether free or in use.
    pub fn memory_bytes(self) -> u64 {
        self.facts.memory_bytes
    }

    /// Its compute capability: `(9, 0)` is 9.0.
    pub fn capability(self) -> (u32, u32) {
        self.facts.capability
    }

    /// How many multiprocessors it has.
    pub fn multiprocessor_count(self) -> u32 {
        self.facts.multiprocessor_count
    }

    /// A new stream of it.
    ///
    /// # Errors
    ///
    /// `Unsupported`: a compute capability below 8.0, or a build of the library that has no kernels
    /// for it. `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # use tenure::cuda::Device;
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// assert_eq!(stream.device(), device);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn stream(self) -> Result<Stream> {
        Stream::new(self, Engine::default())
    }

    /// A new stream of the device. `engine` computes its products and convolutions.
    ///
    /// # Errors
    ///
    /// The errors of [`stream`](Self::stream). `Unsupported`: an engine that is not in this build.
    /// If a library of [`Engine::Vendor`] is missing, the first call that needs it returns an
    /// error.
    ///
    /// ```
    /// # use tenure::Engine;
    /// # use tenure::cuda::Device;
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream_with_engine(Engine::Vendor)?;
    /// let a = stream.upload(&[[1.0_f32, 2.0]])?;
    /// match stream.matmul(&a, a.t()) {
    ///     Ok(product) => assert_eq!(stream.to_vec(&product)?, [5.0]),
    ///     Err(error) => println!("{error}"), // no cuBLASLt, and what was tried
    /// }
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn stream_with_engine(self, engine: Engine) -> Result<Stream> {
        Stream::new(self, engine)
    }
}

/// A machine without a driver has no devices.
fn none_or(error: Error) -> Result<usize> {
    match error.kind() {
        ErrorKind::Unsupported => Ok(0),
        _ => Err(error),
    }
}

/// Formats the device in the form `cuda:0`.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cuda:{}", self.facts.index)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({self}, {})", self.facts.name)
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.facts.index == other.facts.index
    }
}

impl Eq for Device {}

impl Hash for Device {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.facts.index.hash(state);
    }
}
