//! Shared by the benches: the machine they ran on, how much memory it has, a count of allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{fs, hint};

use criterion::{Criterion, Throughput};

mod c;
pub mod figures;
pub mod memory;
pub mod operations;
pub mod permutation;
pub mod python;
pub mod report;
pub mod roofs;
pub mod rounds;
pub mod sparse;
pub mod subject;
pub mod turns;
pub use c::{add_from_c, dlpack_exports_from_c, dlpack_imports_from_c, empty_calls_from_c};

/// Counts the allocations of the Rust side. The benches install it as the global allocator.
pub struct CountingAllocator;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every method forwards its arguments unchanged to `System`.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// How many allocations `work` makes.
pub fn allocations_of<R>(work: impl FnOnce() -> R) -> u64 {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    hint::black_box(work());
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// How much a run measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// `cargo bench -- --test`: every routine once, on small sizes.
    Smoke,
    /// `cargo bench -- --quick`: no size above 64 MiB.
    Quick,
    /// Everything.
    Full,
}

impl Scale {
    /// Parsed arguments.
    pub fn asked_for() -> Scale {
        let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
        match (has("--test"), has("--quick")) {
            (true, _) => Scale::Smoke,
            (_, true) => Scale::Quick,
            _ => Scale::Full,
        }
    }
}

/// Whether this is `cargo bench -- --test`.
pub fn is_smoke_run() -> bool {
    Scale::asked_for() == Scale::Smoke
}

/// The words among the arguments, which select the measured operations.
pub fn words() -> impl Iterator<Item = String> {
    std::env::args().skip(1).filter(|word| !word.starts_with('-'))
}

/// Whether this run is of the bench `name`: a word among the arguments picks those that contain it.
pub fn is_asked_for(name: &str) -> bool {
    let mut words = words().peekable();
    words.peek().is_none() || words.any(|word| name.contains(&word))
}

/// Gives memory that the library and the C library hold back to the system, so that later
/// allocations have fresh pages.
pub fn give_back_memory() {
    tenure::trim();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: takes no memory that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The settings of every bench: shorter than criterion's, since there are many.
pub fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args()
}

/// Prints what a figure means nothing without.
pub fn print_machine() {
    println!("CPU: {}; {}", cpu_model(), tenure::build_info());
}

/// The processor's name as the kernel tells it.
pub fn cpu_model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        text.lines().find(|line| line.starts_with(name))?.split_once(": ").map(|(_, value)| value)
    };
    let name = field("model name").unwrap_or("unknown");
    let (family, model) = (field("cpu family").unwrap_or("?"), field("model\t").unwrap_or("?"));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name} (family {family}, model {model}), {cores} cores")
}

/// Where cargo builds, and results are kept.
pub fn target_folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(beside, PathBuf::from)
}

/// Bytes of a line such as `MemAvailable:  123 kB` in a file of `/proc`.
fn proc_bytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Bytes that can be had without swapping; 0 where the system does not tell.
pub fn available_bytes() -> u64 {
    proc_bytes("/proc/meminfo", "MemAvailable:").unwrap_or(0)
}

/// Bytes of this process that are in memory; 0 where the system does not tell. Not from
/// `/proc/self/status`: its figure lags behind by up to 64 pages a thread.
pub fn resident_bytes() -> u64 {
    proc_bytes("/proc/self/smaps_rollup", "Rss:").unwrap_or(0)
}

/// A vector of `count` numbers, each page of it touched; `None`, with a message, where the machine
/// has less than twice the room.
pub fn numbers(count: usize) -> Option<Vec<f64>> {
    let bytes = count as u64 * 8;
    let available = available_bytes();
    if available < 2 * bytes {
        println!("skipped: {bytes} bytes twice over, with {available} available");
        return None;
    }
    Some((0..count).map(|i| i as f64).collect())
}

/// The memory's own speed, as the reference for a copy: one thread reads, and copies.
pub fn roof(criterion: &mut Criterion, bytes: usize) {
    let Some(from) = numbers(bytes / 8) else { return };
    let mut to = vec![0.0f64; from.len()];
    let mut group = criterion.benchmark_group("roof");
    group.sample_size(10).throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("read", |bencher| bencher.iter(|| sum(hint::black_box(&from))));
    group.bench_function("copy", |bencher| {
        bencher.iter(|| hint::black_box(&mut to).copy_from_slice(hint::black_box(&from)));
    });
    group.finish();
}

/// Sixteen sums at a time, so that additions do not wait for each other and the memory is the
/// limit.
fn sum(numbers: &[f64]) -> f64 {
    let mut lanes = [0.0; 16];
    for chunk in numbers.chunks_exact(16) {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane += number;
        }
    }
    lanes.iter().sum()
}
