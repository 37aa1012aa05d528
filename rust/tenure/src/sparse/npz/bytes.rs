//! Elements as the bytes that they are.

use crate::Element;

/// The bytes of elements, in the order of this machine.
pub(super) fn of<T: Element>(elements: &[T]) -> &[u8] {
    let size_bytes = size_of_val(elements);
    // SAFETY: elements have no padding: their dtype describes all of their bytes.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_bytes) }
}

/// The bytes of elements, to be written.
pub(super) fn of_mut<T: Element>(elements: &mut [T]) -> &mut [u8] {
    let size_bytes = size_of_val(elements);
    // SAFETY: as above, and whatever is written there is a value: every pattern of an element's
    // bytes is, by the trait's contract.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_bytes) }
}
