//@ error: E0200
//! Memory that an allocator gives is believed, so being one takes `unsafe`.
use std::alloc::Layout;
use std::ptr::NonNull;
use tenure::Allocator;

struct Dangling;

macro_rules! functions {
    () => {
        fn allocate(&self, _: Layout) -> Option<NonNull<u8>> {
            None
        }
        unsafe fn deallocate(&self, _: NonNull<u8>, _: Layout) {}
    };
}

#[cfg(bad)]
impl Allocator for Dangling {
    functions!();
}
#[cfg(not(bad))]
// SAFETY: it gives nothing.
unsafe impl Allocator for Dangling {
    functions!();
}

fn main() {}
