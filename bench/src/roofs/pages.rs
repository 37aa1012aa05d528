//! Fresh memory from the system, in pages of a chosen size.

#[cfg(not(target_os = "linux"))]
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Bytes of a huge page of the usual processors, and the alignment of a mapping.
const HUGE: usize = 2 << 20;

/// The page size that a mapping requests. The system may give small pages instead of huge ones.
#[derive(Clone, Copy, PartialEq)]
pub enum Pages {
    /// 4 KiB on the usual processors.
    Small,
    /// 2 MiB.
    Huge,
}

/// Memory that no code has touched yet: zero. Aligned to 2 MiB, given back when dropped.
pub struct Mapping {
    start: *mut u8,
    bytes: usize,
    #[cfg(target_os = "linux")]
    base: *mut libc::c_void,
}

// SAFETY: a mapping owns its memory, and hands out nothing but its address.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Whether a mapping here may request a page size, and does not touch its pages.
    pub const HAS_PAGES: bool = cfg!(target_os = "linux");

    /// Address of the first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// The requested bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(target_os = "linux")]
impl Mapping {
    /// Maps `bytes` of memory.
    ///
    /// # Panics
    ///
    /// When the system refuses.
    pub fn new(bytes: usize, pages: Pages) -> Mapping {
        use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, PROT_READ, PROT_WRITE};
        let access = PROT_READ | PROT_WRITE;
        let (none, private) = (std::ptr::null_mut(), MAP_PRIVATE | MAP_ANONYMOUS);
        // SAFETY: a new mapping, anywhere.
        let base = unsafe { libc::mmap(none, bytes + HUGE, access, private, -1, 0) };
        assert!(base != MAP_FAILED, "no {bytes} bytes: {}", std::io::Error::last_os_error());
        let start = base.cast::<u8>().wrapping_add(base.cast::<u8>().align_offset(HUGE));
        let advice = if pages == Pages::Huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
        // SAFETY: within the mapping. Advice that a kernel without huge pages refuses changes
        // nothing, so the result does not matter.
        unsafe { libc::madvise(start.cast(), bytes, advice) };
        Mapping { start, bytes, base }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped this memory, and no reference into it exists any more.
        let status = unsafe { libc::munmap(self.base, self.bytes + HUGE) };
        assert_eq!(status, 0, "munmap: {}", std::io::Error::last_os_error());
    }
}

#[cfg(not(target_os = "linux"))]
impl Mapping {
    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes.max(1), HUGE).expect("a size that fits")
    }

    /// Allocates `bytes` of memory; pages are as the system likes.
    ///
    /// # Panics
    ///
    /// When there is not enough.
    pub fn new(bytes: usize, _pages: Pages) -> Mapping {
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(Mapping::layout(bytes)) };
        assert!(!start.is_null(), "no {bytes} bytes");
        Mapping { start, bytes }
    }
}

#[cfg(not(target_os = "linux"))]
impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: what `new` allocated, with the same layout.
        unsafe { dealloc(self.start, Mapping::layout(self.bytes)) };
    }
}
