//! Measures what a call costs the process: bytes allocated and copied as the preloaded library
//! counts them, resident memory and page faults as the kernel does.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles `probe.c` with the C compiler of the machine.
pub fn build() -> PathBuf {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libprobe.so");
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = cc.split_whitespace();
    let status = Command::new(words.next().expect("CC is blank"))
        .args(words)
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"])
        // Else the compiler sees a memcpy in the loop of our memcpy, and calls it.
        .args(["-fno-builtin", "-o"])
        .arg(&library)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/no_copy/probe.c"))
        .status()
        .unwrap();
    assert!(status.success(), "{cc} could not build the probe");
    library
}

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: NULL is RTLD_DEFAULT, and the name ends in NUL.
    let address = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

#[repr(C)]
struct Counts {
    allocated_bytes: u64,
    copied_bytes: u64,
}

/// The cost of one call.
#[derive(Debug)]
pub struct Cost {
    /// Bytes asked of malloc and its family, and of anonymous mmap.
    pub allocated: usize,
    /// Bytes moved by calls of memcpy and memmove of 4 KiB and more.
    pub copied: usize,
    /// Growth of the memory that is resident and backed by no file.
    pub resident: isize,
    /// Page faults that needed no disk: one for each 4 KiB touched for the first time.
    pub faults: usize,
}

/// One pass over the claims.
pub struct Probe {
    /// Rows and columns of every matrix.
    pub side: usize,
    /// Whether the costs are judged.
    pub enforces: bool,
    start: extern "C" fn(),
    stop: extern "C" fn() -> Counts,
}

/// Allowance of a holder for itself: a boxed owner, a count, a slot.
const HEADER_BYTES: usize = 1024;

impl Probe {
    /// 16 KiB, not judged: everything that is set up once is set up here.
    pub fn rehearsal() -> Probe {
        Probe::of(64, false)
    }

    /// 64 MiB of f32: 16,384 pages.
    pub fn performance() -> Probe {
        Probe::of(4096, true)
    }

    fn of(side: usize, enforces: bool) -> Probe {
        let missing = "run nothing_is_copied, which preloads the probe";
        let start = symbol(c"probe_start").expect(missing);
        let stop = symbol(c"probe_stop").expect(missing);
        // SAFETY: probe.c defines the two functions with these signatures.
        let (start, stop) = unsafe {
            (
                std::mem::transmute::<*mut c_void, extern "C" fn()>(start),
                std::mem::transmute::<*mut c_void, extern "C" fn() -> Counts>(stop),
            )
        };
        Probe { side, enforces, start, stop }
    }

    pub fn len(&self) -> usize {
        self.side * self.side
    }

    pub fn size_bytes(&self) -> usize {
        self.len() * size_of::<f32>()
    }

    /// `side` x `side` values, every page of them touched.
    pub fn data(&self) -> Vec<f32> {
        let row: Vec<f32> = (0..self.side).map(|i| i as f32).collect();
        row.repeat(self.side)
    }

    pub fn measure<R>(&self, call: impl FnOnce() -> R) -> (R, Cost) {
        let before = Kernel::read();
        (self.start)();
        let result = call();
        let counts = (self.stop)();
        let after = Kernel::read();
        let cost = Cost {
            allocated: counts.allocated_bytes as usize,
            copied: counts.copied_bytes as usize,
            resident: after.resident - before.resident,
            faults: after.faults - before.faults,
        };
        (result, cost)
    }

    /// Claims that a call allocates at most `allocation` bytes, copies `copied` bytes, and touches
    /// no fresh memory.
    fn stays_in_place<R>(
        &self,
        claim: &str,
        allocation: usize,
        copied: usize,
        call: impl FnOnce() -> R,
    ) -> R {
        let before = tenure::stats();
        let (result, cost) = self.measure(call);
        let after = tenure::stats();
        if self.enforces {
            assert!(cost.allocated <= allocation, "{claim} allocates: {cost:?}");
            // A reduction moves its accumulators, which are no elements: a row at a time.
            let state = if copied == 0 && allocation > 0 { self.size_bytes() / 128 } else { 0 };
            assert!((copied..=copied + state).contains(&cost.copied), "{claim} copies: {cost:?}");
            // The kernel counts in batches, and a stack or a heap may grow by a few pages.
            assert!(cost.resident < 1 << 20, "{claim} makes memory resident: {cost:?}");
            assert!(cost.faults < 256, "{claim} touches fresh memory: {cost:?}");
            assert_eq!(after.copied_bytes, before.copied_bytes, "{claim}");
            assert_eq!(after.allocated_bytes, before.allocated_bytes, "{claim}");
        }
        result
    }

    /// Claims that a call allocates nothing at all.
    pub fn costs_nothing<R>(&self, claim: &str, call: impl FnOnce() -> R) -> R {
        self.stays_in_place(claim, 0, 0, call)
    }

    /// Claims that a call allocates a header at most.
    pub fn copies_nothing<R>(&self, claim: &str, call: impl FnOnce() -> R) -> R {
        self.stays_in_place(claim, HEADER_BYTES, 0, call)
    }

    /// Claims that a call moves the data once, to where the caller wants it, and allocates nothing.
    pub fn moves_once<R>(&self, claim: &str, call: impl FnOnce() -> R) -> R {
        self.stays_in_place(claim, 0, self.size_bytes(), call)
    }

    /// Claims that a call gives a new tensor without fresh memory.
    pub fn recycles<R>(&self, claim: &str, call: impl FnOnce() -> R) {
        let (_result, cost) = self.measure(call);
        if self.enforces {
            assert!(cost.allocated <= HEADER_BYTES, "{claim} allocates: {cost:?}");
            assert!(cost.faults < 256, "{claim} touches fresh memory: {cost:?}");
        }
    }

    /// The control: a copy is seen, by the heap, the kernel and the library's own counter.
    pub fn copies<R>(&self, control: &str, call: impl FnOnce() -> R) {
        // Into fresh memory: recycled memory would hide the copy from the heap and the kernel.
        tenure::trim();
        let before = tenure::stats().copied_bytes;
        let (_result, cost) = self.measure(call);
        let counted = (tenure::stats().copied_bytes - before) as usize;
        if self.enforces {
            let size_bytes = self.size_bytes();
            assert!(cost.allocated >= size_bytes, "{control}: {cost:?}");
            assert!(cost.resident >= size_bytes as isize * 9 / 10, "{control}: {cost:?}");
            assert!(cost.faults >= size_bytes / 4096 * 9 / 10, "{control}: {cost:?}");
            assert_eq!(counted, size_bytes, "{control}");
        }
    }
}

/// The kernel's account of this process.
struct Kernel {
    resident: isize,
    faults: usize,
}

impl Kernel {
    fn read() -> Kernel {
        // In pages: size, resident, shared with files.
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: Vec<isize> =
            statm.split_whitespace().map(|word| word.parse().unwrap()).collect();
        // The program's name, in parentheses, may hold spaces: count from its end.
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let faults = fields.split_whitespace().nth(7).unwrap().parse().unwrap();
        Kernel { resident: (pages[1] - pages[2]) * 4096, faults }
    }
}
