//! What the library has done so far, and how it was built.

use crate::raw;

/// Totals of this process since its start, ended threads included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Bytes allocated for tensors.
    pub allocated_bytes: u64,
    /// Bytes duplicated from memory that already held them, by what is called `to_` or `copy_`.
    /// The result of an operation is no copy, [`copy_into`](crate::copy_into)'s included.
    pub copied_bytes: u64,
    /// Blobs made: memory held for a tensor, whoever allocated it.
    pub blobs_made: u64,
    /// Blobs whose memory has been freed or given back.
    pub blobs_finished: u64,
    /// Bytes of tensors that ended, held back to be used again by the next large ones: what there
    /// is now, not a total. [`trim`] gives them back.
    pub cached_bytes: u64,
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
    }
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
