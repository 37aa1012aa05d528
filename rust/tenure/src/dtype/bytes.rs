//! Elements as the bytes that they are.

use crate::dtype::{DType, Element};

/// The bytes of elements, in the order of this machine.
#[cfg(feature = "npz")]
pub(crate) fn of<T: Element>(elements: &[T]) -> &[u8] {
    let size_bytes = size_of_val(elements);
    // SAFETY: elements have no padding: their dtype describes all of their bytes.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_bytes) }
}

/// The bytes of elements, to be written.
pub(crate) fn of_mut<T: Element>(elements: &mut [T]) -> &mut [u8] {
    let size_bytes = size_of_val(elements);
    // SAFETY: the bytes are those of the slice, which stays exclusively borrowed; each is
    // initialised, because elements have no padding; every pattern of bytes that is written there
    // is a value, by the contract of `Element`.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_bytes) }
}

/// Indices of Rust as the library has them. One that no `i64` counts becomes negative, which every
/// operation refuses.
pub(crate) fn as_signed(indices: &[usize]) -> &[i64] {
    const {
        assert!(size_of::<usize>() == size_of::<i64>() && align_of::<usize>() == align_of::<i64>());
    }
    // SAFETY:
    // - The two types have the same size and alignment, as the assertion says.
    // - Every pattern of their bytes is an `i64`.
    // - The memory stays borrowed, and can only be read.
    unsafe { std::slice::from_raw_parts(indices.as_ptr().cast(), indices.len()) }
}

/// Reverses the byte order of every number in `bytes`; a complex element has two numbers.
pub(crate) fn swap(bytes: &mut [u8], dtype: DType) {
    fn swap_of<const N: usize>(bytes: &mut [u8]) {
        bytes.chunks_exact_mut(N).for_each(<[u8]>::reverse);
    }
    let is_complex = dtype == DType::C64 || dtype == DType::C128;
    match dtype.size_bytes() / if is_complex { 2 } else { 1 } {
        2 => swap_of::<2>(bytes),
        4 => swap_of::<4>(bytes),
        8 => swap_of::<8>(bytes),
        _ => {}
    }
}
