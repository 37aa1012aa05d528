//! Memory that is not the library's own.

use std::alloc::Layout;
use std::ptr::NonNull;

/// Gives memory to tensors: results of operations, and what [`zeros`](crate::Tensor::zeros) and
/// [`copy_from_slice`](crate::Tensor::copy_from_slice) make, inside
/// [`Context::install`](crate::Context::install).
///
/// Adopted memory stays where it is. The memory of a tensor goes back to the allocator that gave
/// it, when the tensor ends, on whatever thread that is, and also after the last handle on the
/// context: a tensor keeps its allocator.
///
/// ```
/// use std::alloc::{Layout, alloc, dealloc};
/// use std::ptr::NonNull;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
/// use tenure::{Allocator, Context, Tensor};
///
/// /// The global allocator, with a count of what is out.
/// struct Counted(Arc<AtomicUsize>);
///
/// // SAFETY: the global allocator's memory is what the trait asks for; the library asks for a byte
/// // at least.
/// unsafe impl Allocator for Counted {
///     fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
///         // SAFETY: the layout has a size, as this function may ask.
///         let memory = NonNull::new(unsafe { alloc(layout) })?;
///         self.0.fetch_add(layout.size(), Relaxed);
///         Some(memory)
///     }
///     unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
///         self.0.fetch_sub(layout.size(), Relaxed);
///         // SAFETY: `allocate` gave the memory, of this layout.
///         unsafe { dealloc(memory.as_ptr(), layout) }
///     }
/// }
///
/// let out = Arc::new(AtomicUsize::new(0));
/// let context = Context::with_allocator(Counted(Arc::clone(&out)))?;
/// let tensor = context.install(|| Tensor::<f64>::zeros([10, 10]))?;
/// drop(context);
/// assert!(out.load(Relaxed) >= 800);
/// assert_eq!(tensor.to_vec(), [0.0; 100]); // the tensor keeps it
/// drop(tensor);
/// assert_eq!(out.load(Relaxed), 0);
/// # Ok::<(), tenure::Error>(())
/// ```
///
/// Both functions run in the default context, with no lock held. A function that panics has given
/// no memory, or has kept the memory that was handed to it.
///
/// # Safety
///
/// Memory that [`allocate`](Self::allocate) returns
///
/// - has `layout.size()` bytes, at an address that is a multiple of `layout.align()`;
/// - may be read and written, from any thread, and is touched by nothing else, until it is handed
///   to `deallocate`.
///
/// Its bytes need not be initialised.
pub unsafe trait Allocator: Send + Sync + 'static {
    /// Memory of this layout, whose size is not 0; `None` where there is none, which fails the
    /// operation with `OutOfMemory`.
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>>;

    /// Takes memory back.
    ///
    /// # Safety
    ///
    /// - `memory` came from `allocate` of this allocator, for this layout, and is not used again.
    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout);
}
