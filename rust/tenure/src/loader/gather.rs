//! Rows of a matrix, copied to adjacent memory.

use crate::dtype::Element;

/// Bytes copied at a time, and fetched ahead at a time: as much as compilers copy without a call.
const PIECE_BYTES: usize = 128;

/// Prefetch distance in rows, into L2: L1 has too few places for misses to wait in. A row somewhere
/// in memory begins with a miss, and the processor's own prefetchers learn of a row of 4 KiB when
/// half of it is over; this makes such rows 1.7 times as fast.
const AHEAD_BYTES: usize = 8 << 10;

/// From this size of `out` on rows leave past the caches, where the next batch would not find room.
const STREAMED_BYTES: usize = 12 << 20;

/// Copies the rows of `width` elements that `indices` name in `data`, one after the other.
///
/// # Panics
///
/// For an index out of range, and an `out` of another size.
pub(super) fn rows<T: Element>(data: &[T], width: usize, indices: &[usize], out: &mut [T]) {
    assert_eq!(out.len(), width * indices.len(), "as many rows as indices");
    if out.is_empty() {
        return;
    }
    let row_bytes = width * size_of::<T>();
    let ahead = (AHEAD_BYTES / row_bytes).clamp(1, 64);
    let row = |i: usize| &data[indices[i.min(indices.len() - 1)] * width..][..width];
    if size_of_val(out) >= STREAMED_BYTES && row_bytes % PIECE_BYTES == 0 && is_aligned(out) {
        for (i, to) in out.chunks_exact_mut(width).enumerate() {
            copy_row(row(i), row(i + ahead), to, stream);
        }
        fence();
    } else {
        for (i, to) in out.chunks_exact_mut(width).enumerate() {
            copy_row(row(i), row(i + ahead), to, store);
        }
    }
}

/// Copies a row and meanwhile fetches another of its size.
#[inline(always)]
fn copy_row<T: Element>(from: &[T], next: &[T], to: &mut [T], copy: unsafe fn(*const u8, *mut u8)) {
    assert!(from.len() == to.len() && next.len() == to.len());
    if let ([from], [to]) = (from, &mut *to) {
        prefetch(next.as_ptr().cast());
        *to = *from;
        return;
    }
    let size_bytes = size_of_val(to);
    let (from, next) = (from.as_ptr().cast::<u8>(), next.as_ptr().cast::<u8>());
    let to = to.as_mut_ptr().cast::<u8>();
    let whole = size_bytes - size_bytes % PIECE_BYTES;
    for at in (0..whole).step_by(PIECE_BYTES) {
        prefetch(next.wrapping_add(at));
        prefetch(next.wrapping_add(at + PIECE_BYTES / 2));
        // SAFETY: both rows have `whole` bytes at least, and a `&mut` lies apart from all else.
        // Elements have no padding, so that their bytes are initialised.
        unsafe { copy(from.add(at), to.add(at)) };
    }
    if whole < size_bytes {
        prefetch(next.wrapping_add(whole));
        // SAFETY: these are the last bytes of both rows, which have `size_bytes` bytes each; `to`
        // comes from a `&mut` slice, so it lies apart from `from`; elements have no padding, so
        // their bytes are initialised.
        unsafe { from.add(whole).copy_to_nonoverlapping(to.add(whole), size_bytes - whole) };
    }
}

/// # Safety
///
/// - `PIECE_BYTES` can be read and written, and lie apart.
#[inline(always)]
unsafe fn store(from: *const u8, to: *mut u8) {
    // SAFETY: by this function's contract.
    unsafe { from.copy_to_nonoverlapping(to, PIECE_BYTES) }
}

// Miri has no instructions of a processor.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod processor {
    use std::arch::x86_64::{
        __m128i, _MM_HINT_T1, _mm_loadu_si128, _mm_prefetch, _mm_sfence, _mm_stream_si128,
    };

    use super::PIECE_BYTES;

    #[inline(always)]
    pub(super) fn prefetch(line: *const u8) {
        // SAFETY: a hint; any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.cast()) }
    }

    /// Whether `stream` may write there.
    pub(super) fn is_aligned<T>(out: &[T]) -> bool {
        out.as_ptr().cast::<__m128i>().is_aligned()
    }

    /// # Safety
    ///
    /// - The conditions of `store`, and `to` is aligned to 16 bytes.
    /// - `fence` is called before another thread reads the written bytes.
    #[inline(always)]
    pub(super) unsafe fn stream(from: *const u8, to: *mut u8) {
        let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
        for i in 0..PIECE_BYTES / size_of::<__m128i>() {
            // SAFETY: by this function's contract.
            unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) };
        }
    }

    /// Orders stores past the caches before all that follow.
    pub(super) fn fence() {
        // SAFETY: every x86-64 has it.
        unsafe { _mm_sfence() }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod processor {
    pub(super) use super::store as stream;

    pub(super) fn prefetch(_: *const u8) {}

    pub(super) fn is_aligned<T>(_: &[T]) -> bool {
        true
    }

    pub(super) fn fence() {}
}

use processor::{fence, is_aligned, prefetch, stream};

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Element>(width: usize, indices: &[usize], element: impl Fn(usize) -> T) {
        let count = indices.iter().max().map_or(0, |last| last + 1);
        let data: Vec<T> = (0..count * width).map(&element).collect();
        let mut out = vec![T::default(); indices.len() * width];
        rows(&data, width, indices, &mut out);
        let expected = indices.iter().flat_map(|i| (i * width..(i + 1) * width).map(&element));
        assert!(out.into_iter().eq(expected), "{indices:?} of {width}");
    }

    #[test]
    fn rows_of_all_sizes_arrive() {
        for width in [0, 1, 2, 31, 32, 33, 127, 128, 129, 300, 1024] {
            for indices in [&[][..], &[3], &[5, 0, 0, 2, 7, 1, 3]] {
                check(width, indices, |i| i as u8);
                check(width, indices, |i| i as f64);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn batches_beyond_the_caches_arrive() {
        let count = STREAMED_BYTES / 4096 + 1;
        let indices: Vec<usize> = (0..count).map(|i| i * 7 % count).collect();
        check(512, &indices, |i| i as u64);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn an_index_outside_panics() {
        rows(&[1, 2, 3, 4], 2, &[0, 2], &mut [0; 4]);
    }
}
