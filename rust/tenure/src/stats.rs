//! Counters of the library's operations and memory, and facts about its build.

use std::time::Duration;

use tenure_sys::tnr_operation;

use crate::raw;

/// Totals of this process since its start, ended threads included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Bytes allocated for tensors.
    pub allocated_bytes: u64,
    /// Bytes duplicated from memory that already held them, by functions named `to_` or `copy_`.
    /// The result of an operation is no copy, [`copy_into`](crate::ops::copy_into)'s included.
    pub copied_bytes: u64,
    /// Blobs made: memory held for a tensor, regardless of its allocator.
    pub blobs_made: u64,
    /// Blobs whose memory has been freed or given back.
    pub blobs_finished: u64,
    /// Bytes of tensors that ended, held back to be used again by the next large ones: what there
    /// is now, not a total. [`trim`] gives them back.
    pub cached_bytes: u64,
    /// Operations that succeeded.
    pub calls: u64,
    /// Bytes of the elements that operations read, as [`OperationStats`] counts them.
    pub read_bytes: u64,
    /// Bytes of the elements that operations wrote.
    pub written_bytes: u64,
    /// Kernels that were enqueued on devices: [`cuda`](crate::cuda).
    pub device_launches: u64,
    /// Times that a thread waited for a device.
    pub device_waits: u64,
}

/// Reads the totals. Other threads may be adding to them.
///
/// ```
/// use tenure::{Tensor, TensorView, stats};
///
/// let data = vec![1.0_f32; 1000];
/// let before = stats();
/// let view = TensorView::from_slice(&data, [10, 100])?; // lends
/// assert_eq!(stats().copied_bytes - before.copied_bytes, 0);
///
/// let tensor = Tensor::copy_from_slice(&data, [10, 100])?; // copies, and says so
/// assert_eq!(stats().copied_bytes - before.copied_bytes, 4000);
///
/// tenure::ops::sum(&tensor, 0)?;
/// let after = stats();
/// assert_eq!(after.calls - before.calls, 1);
/// assert_eq!(after.read_bytes - before.read_bytes, 4000);
/// assert_eq!(after.written_bytes - before.written_bytes, 400);
/// # drop((view, tensor));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn stats() -> Stats {
    let totals = raw::stats();
    Stats {
        allocated_bytes: totals.allocated_bytes,
        copied_bytes: totals.copied_bytes,
        blobs_made: totals.blobs_made,
        blobs_finished: totals.blobs_finished,
        cached_bytes: totals.cached_bytes,
        calls: totals.calls,
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        device_launches: totals.device_launches,
        device_waits: totals.device_waits,
    }
}

macro_rules! operations {
    ($($(#[doc = $doc:literal])+ $name:ident = $raw:ident;)+) => {
        /// A kind of operation, as [`operation_stats`] counts them.
        ///
        /// ```
        /// use tenure::{Operation, operation_stats};
        ///
        /// for operation in Operation::ALL {
        ///     println!("{operation:?}: {} calls", operation_stats(*operation).calls);
        /// }
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Operation {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Operation {
            /// Every kind that there is.
            pub const ALL: &[Operation] = &[$(Operation::$name,)+];

            fn raw(self) -> tnr_operation {
                match self {
                    $(Operation::$name => tnr_operation::$raw,)+
                }
            }
        }
    };
}

tenure_sys::for_each_counter!(operations);

/// Totals of one kind of operation since the process started, ended threads included. Calls that
/// fail count nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationStats {
    /// Calls that succeeded.
    pub calls: u64,
    /// Bytes of the elements of the inputs; of a sparse one its offsets, indices and values. An
    /// element that is repeated by broadcasting counts once, a single number not at all, and
    /// nothing counts where there was nothing to do.
    pub read_bytes: u64,
    /// Bytes of the elements of the outputs.
    pub written_bytes: u64,
    /// Time from start to end of the calls that began between [`start_timing`] and [`stop_timing`],
    /// by the clock of their callers: calls at the same moment add up, the threads within one do
    /// not.
    pub time: Duration,
}

/// Reads the totals of one kind of operation. Other threads may be adding to them.
///
/// ```
/// use tenure::{Operation, operation_stats};
///
/// let before = operation_stats(Operation::Binary);
/// tenure::ops::add(&[1.0_f64; 1000], &[2.0; 1000])?;
/// let after = operation_stats(Operation::Binary);
/// assert_eq!(after.calls - before.calls, 1);
/// assert_eq!(after.read_bytes - before.read_bytes, 16_000);
/// assert_eq!(after.written_bytes - before.written_bytes, 8_000);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn operation_stats(operation: Operation) -> OperationStats {
    let totals = raw::operation_stats(operation.raw());
    OperationStats {
        calls: totals.calls,
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        time: Duration::from_nanos(totals.nanoseconds),
    }
}

/// From here on the time of each operation is taken, on every thread, which costs two readings of
/// the clock for each call, some 50 ns. Off until asked for.
///
/// ```
/// use tenure::{Operation, operation_stats, start_timing, stop_timing};
///
/// start_timing();
/// let before = operation_stats(Operation::Reduce).time;
/// tenure::ops::sum(&vec![1.0_f32; 100_000], ..)?;
/// let time = operation_stats(Operation::Reduce).time - before;
/// stop_timing();
/// assert!(!time.is_zero());
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn start_timing() {
    raw::start_timing()
}

/// Operations that begin from here on are not timed. Counts so far stay.
///
/// See [`start_timing`].
pub fn stop_timing() {
    raw::stop_timing()
}

/// Gives the memory of ended tensors that the library holds back to the system; returns how many
/// bytes. Tensors that live are not touched.
///
/// Tensors of 1 MiB and more are recycled, because fresh memory costs several times the operation
/// that writes it. The environment variable `TENURE_CACHE_BYTES`, read once, sets how much may be
/// held back (512 MiB unless it says otherwise; 0 switches it off).
///
/// ```
/// use tenure::{Tensor, trim};
///
/// drop(Tensor::<f32>::zeros([1024, 1024])?); // 4 MiB, which the next such tensor would get
/// println!("{} bytes given back", trim());
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn trim() -> usize {
    raw::trim()
}

/// One line that says how the library was built (version, compiler, options, instruction sets) and
/// which instruction set is in use.
///
/// ```
/// println!("{}", tenure::build_info());
/// assert!(tenure::build_info().starts_with("tenure "));
/// ```
pub fn build_info() -> &'static str {
    raw::build_info()
}
