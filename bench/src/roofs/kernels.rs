//! The kernels in `kernels.c` and `products.c`, and their plain reference implementations.

use std::slice;

use super::pages::{Mapping, Pages};

/// `a`, `b` and `c` of a count of bytes; returns a sum of the elements that it read, or 0.
type Mover = unsafe extern "C" fn(*const u8, *const u8, *mut u8, usize) -> u64;
/// A count of iterations with two numbers; returns the sum of all lanes.
type Product = unsafe extern "C" fn(u64, f64, f64) -> f64;

/// The layout of `struct table` in `kernels.c`.
#[repr(C)]
struct Table {
    read: Option<Mover>,
    fill: Option<Mover>,
    fill_streamed: Option<Mover>,
    copy: Option<Mover>,
    copy_streamed: Option<Mover>,
    copy_paged: Option<Mover>,
    add: Option<Mover>,
    add_streamed: Option<Mover>,
    add_paged: Option<Mover>,
    fma_f32: Product,
    fma_f64: Product,
}

unsafe extern "C" {
    static tenure_roofs_plain: Table;
}

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    static tenure_roofs_avx2: Table;
    static tenure_roofs_avx512: Table;
    fn tenure_roofs_bf16(iterations: u64, a: f64, b: f64) -> f64;
    fn tenure_roofs_vnni(iterations: u64, a: f64, b: f64) -> f64;
}

/// The kernels of one instruction set, which this processor has.
#[derive(Clone, Copy)]
pub struct Set {
    /// The name in the figures: `plain`, `avx2`, `avx512`.
    pub name: &'static str,
    table: &'static Table,
    vector_bytes: u64,
}

/// Every set that this processor has, the widest last.
pub fn sets() -> Vec<Set> {
    // SAFETY: constants, which nothing writes; here and below.
    let plain = Set { name: "plain", table: unsafe { &tenure_roofs_plain }, vector_bytes: 16 };
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut))]
    let mut sets = vec![plain];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: as above.
        sets.push(Set { name: "avx2", table: unsafe { &tenure_roofs_avx2 }, vector_bytes: 32 });
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: as above.
            let table = unsafe { &tenure_roofs_avx512 };
            sets.push(Set { name: "avx512", table, vector_bytes: 64 });
        }
    }
    sets
}

/// A way to use memory.
#[derive(Clone, Copy, PartialEq)]
pub enum Move {
    /// Sums up `a`.
    Read,
    /// Sets `c` to the first number of `a`.
    Fill,
    /// `Fill` with non-temporal stores.
    FillStreamed,
    /// Sets `c` to `a`.
    Copy,
    /// `Copy` with non-temporal stores.
    CopyStreamed,
    /// `CopyStreamed`, read and written in turns of a page.
    CopyPaged,
    /// Sets `c` to `a + b`, of f32.
    Add,
    /// `Add` with non-temporal stores.
    AddStreamed,
    /// `AddStreamed`, read and written in turns of a page.
    AddPaged,
}

impl Move {
    /// In the order of the figures.
    pub const ALL: [Move; 9] = [
        Move::Read,
        Move::Fill,
        Move::FillStreamed,
        Move::Copy,
        Move::CopyStreamed,
        Move::CopyPaged,
        Move::Add,
        Move::AddStreamed,
        Move::AddPaged,
    ];

    /// The name in the figures.
    pub fn name(self) -> &'static str {
        match self {
            Move::Read => "read",
            Move::Fill => "fill",
            Move::FillStreamed => "fill, non-temporal",
            Move::Copy => "copy",
            Move::CopyStreamed => "copy, non-temporal",
            Move::CopyPaged => "copy, non-temporal by pages",
            Move::Add => "a + b into c",
            Move::AddStreamed => "a + b into c, non-temporal",
            Move::AddPaged => "a + b into c, non-temporal by pages",
        }
    }

    /// How many of the arrays it reads and writes. The lines that an ordinary store fetches before
    /// it changes them are not counted: they are what non-temporal stores save.
    pub fn arrays(self) -> u64 {
        match self {
            Move::Read | Move::Fill | Move::FillStreamed => 1,
            Move::Copy | Move::CopyStreamed | Move::CopyPaged => 2,
            Move::Add | Move::AddStreamed | Move::AddPaged => 3,
        }
    }

    /// The plain reference implementation of the kernel's effect on `c`; `None` when it does not
    /// write `c`.
    fn expected(self, a: f32, b: f32, first: f32) -> Option<f32> {
        match self {
            Move::Read => None,
            Move::Fill | Move::FillStreamed => Some(first),
            Move::Copy | Move::CopyStreamed | Move::CopyPaged => Some(a),
            Move::Add | Move::AddStreamed | Move::AddPaged => Some(a + b),
        }
    }
}

/// Three arrays of one size. Their pages are huge where the system gives them.
pub struct Arrays {
    a: Mapping,
    b: Mapping,
    c: Mapping,
    bytes: usize,
}

impl Arrays {
    /// Bytes of each of them.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// As `new`; `None`, with a message, where the machine has less than half as much memory again
    /// as this needs.
    pub fn if_they_fit(bytes: usize) -> Option<Arrays> {
        let (needed, available) = (bytes as u64 * 3, crate::available_bytes());
        // 0 means that the system does not tell.
        if available > 0 && available < needed + needed / 2 {
            println!("skipped: three arrays of {bytes} bytes, with {available} available");
            return None;
        }
        Some(Arrays::new(bytes))
    }

    /// Touches each page.
    ///
    /// # Panics
    ///
    /// When `bytes` is no multiple of 512, or the memory is not to be had.
    pub fn new(bytes: usize) -> Arrays {
        assert_eq!(bytes % 512, 0, "bytes is {bytes} but must be a multiple of 512");
        let [mut a, mut b, mut c] = [(); 3].map(|()| Mapping::new(bytes, Pages::Huge));
        for (i, (a, b)) in a.numbers().iter_mut().zip(b.numbers()).enumerate() {
            // Whole numbers below 2^23, so that their sums have one value; none repeats nearby.
            // Not from 0: there are processors that write zeros faster than other bytes.
            *a = (i % 8_388_593) as f32 + 1.0;
            *b = (i % 4_093) as f32 + 1.0;
        }
        c.numbers().fill(-1.0);
        Arrays { a, b, c, bytes }
    }

    /// Arrays that an operation reads and writes: `a`, `b` and `c`.
    pub fn parts(&mut self) -> (&[f32], &[f32], &mut [f32]) {
        (self.a.numbers(), self.b.numbers(), self.c.numbers())
    }

    /// `a`, to give it other numbers.
    pub fn a_mut(&mut self) -> &mut [f32] {
        self.a.numbers()
    }

    /// One pass over part `part` of `parts`, each of a different thread; what the kernel returns.
    /// `None` where the set has no such kernel.
    ///
    /// # Panics
    ///
    /// When there is no such part, or it is no multiple of 256 bytes.
    pub fn pass(&self, set: Set, what: Move, part: usize, parts: usize) -> Option<u64> {
        let bytes = part_bytes(self.bytes, part, parts);
        let at = bytes * part;
        self.pass_over(set, what, (at, at), bytes)
    }

    /// One pass over `bytes` bytes, from the first place of `a` and `b` and from the second of `c`;
    /// what the kernel returns. `None` where the set has no such kernel.
    ///
    /// # Panics
    ///
    /// When they are not within the arrays, or one of these is no multiple of 256.
    pub fn pass_over(
        &self,
        set: Set,
        what: Move,
        (from, to): (usize, usize),
        bytes: usize,
    ) -> Option<u64> {
        let kernel = set.mover(what)?;
        let is_whole = [from, to, bytes].iter().all(|number| number % 256 == 0);
        assert!(is_whole, "{bytes} bytes from {from} to {to}: multiples of 256 they must be");
        let last = from.max(to) + bytes;
        assert!(last <= self.bytes, "{last} bytes, of arrays of {}", self.bytes);
        // SAFETY: the three mappings are `self.bytes` long and aligned to 64 bytes, as each range
        // of them is. Ranges of threads do not overlap, nothing reads `c` while passes run (`check`
        // takes `&mut`), and the processor has the set, or there would be no `Set`.
        Some(unsafe {
            let (a, b, c) = (self.a.start(), self.b.start(), self.c.start());
            kernel(a.add(from), b.add(from), c.add(to), bytes)
        })
    }

    /// Compares each kernel's result with plain Rust, whole and in two parts.
    ///
    /// # Panics
    ///
    /// When one differs.
    pub fn check(&mut self, set: Set) {
        for what in Move::ALL {
            for parts in [1, 2] {
                self.c.numbers().fill(-1.0);
                let sums: Option<Vec<_>> =
                    (0..parts).map(|part| self.pass(set, what, part, parts)).collect();
                let Some(sums) = sums else { continue };
                self.check_one(set, what, &sums);
            }
        }
    }

    fn check_one(&mut self, set: Set, what: Move, sums: &[u64]) {
        let (name, kind) = (set.name, what.name());
        let part = self.bytes / 4 / sums.len();
        let (a, b, c) = (self.a.numbers(), self.b.numbers(), self.c.numbers());
        for (i, c) in c.iter().enumerate() {
            let expected = what.expected(a[i], b[i], a[i / part * part]).unwrap_or(-1.0);
            assert!(*c == expected, "{name} {kind}: c[{i}] is {c} but must be {expected}");
        }
        for (i, (part, sum)) in a.chunks_exact(part).zip(sums).enumerate() {
            let expected = if what == Move::Read { sum_of_words(part) } else { 0 };
            assert!(*sum == expected, "{name} {kind}: part {i} gives {sum}, not {expected}");
        }
    }
}

/// Bytes of a part; the kernels demand a multiple of 256.
fn part_bytes(bytes: usize, part: usize, parts: usize) -> usize {
    assert!(part < parts, "part is {part} but must be less than {parts}");
    assert_eq!(bytes / parts % 256, 0, "part {part} of {parts} is {} bytes", bytes / parts);
    bytes / parts
}

/// The plain reference implementation of `read_all`.
fn sum_of_words(numbers: &[f32]) -> u64 {
    let word = |pair: &[f32]| {
        let halves = [pair[0].to_ne_bytes(), pair[1].to_ne_bytes()].concat();
        u64::from_ne_bytes(halves.try_into().expect("eight bytes"))
    };
    numbers.chunks_exact(2).map(word).fold(0, u64::wrapping_add)
}

impl Set {
    fn mover(self, what: Move) -> Option<Mover> {
        let table = self.table;
        match what {
            Move::Read => table.read,
            Move::Fill => table.fill,
            Move::FillStreamed => table.fill_streamed,
            Move::Copy => table.copy,
            Move::CopyStreamed => table.copy_streamed,
            Move::CopyPaged => table.copy_paged,
            Move::Add => table.add,
            Move::AddStreamed => table.add_streamed,
            Move::AddPaged => table.add_paged,
        }
    }

    /// Writes each byte of `part` of `parts` of fresh memory for the first time.
    pub fn touch(self, fresh: &Mapping, part: usize, parts: usize) {
        let bytes = part_bytes(fresh.bytes(), part, parts);
        let value = [1.0f32];
        let fill = self.table.fill.expect("every set has it");
        // SAFETY: as in `pass`; of `a` only the first number is read, and `b` not at all.
        unsafe {
            let to = fresh.start().add(bytes * part);
            fill(value.as_ptr().cast(), std::ptr::null(), to, bytes);
        }
    }

    /// The peaks that this processor has, with this set and with its extensions.
    pub fn peaks(self) -> Vec<Peak> {
        let chains = 12;
        let fma = |name, kernel, lanes| Peak {
            name,
            operations: chains * lanes * 2,
            numbers: (0.5, 1.0),
            kernel,
            sum: Sum::Converging { lanes },
        };
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut))]
        let mut peaks = vec![
            fma("FMA f32", self.table.fma_f32, self.vector_bytes / 4),
            fma("FMA f64", self.table.fma_f64, self.vector_bytes / 8),
        ];
        #[cfg(target_arch = "x86_64")]
        if self.vector_bytes == 64 && is_x86_feature_detected!("avx512bw") {
            let narrow = |name, kernel, products| Peak {
                name,
                operations: chains * products * 2,
                numbers: (3.0, -2.0),
                kernel,
                sum: Sum::Growing { products: chains * products },
            };
            if is_x86_feature_detected!("avx512bf16") {
                peaks.push(narrow("BF16 products", tenure_roofs_bf16, 32));
            }
            if is_x86_feature_detected!("avx512vnni") {
                peaks.push(narrow("VNNI products, u8 x i8", tenure_roofs_vnni, 64));
            }
        }
        peaks
    }
}

/// A kernel that does arithmetic in registers only.
#[derive(Clone, Copy)]
pub struct Peak {
    /// The name in the figures.
    pub name: &'static str,
    /// Additions and multiplications of one iteration.
    pub operations: u64,
    numbers: (f64, f64),
    kernel: Product,
    sum: Sum,
}

/// Result of a product kernel.
#[derive(Clone, Copy)]
enum Sum {
    /// Twelve chains of `x * factor + addend` in each lane.
    Converging { lanes: u64 },
    /// Products of the two numbers in each iteration, added to twelve chains.
    Growing { products: u64 },
}

impl Peak {
    /// Like [`run`](Peak::run), with any number of iterations.
    pub fn run_long(self, iterations: u64) {
        const MOST: u64 = 1 << 20;
        (0..iterations / MOST).for_each(|_| self.run(MOST));
        self.run(iterations % MOST);
    }

    /// Runs the kernel and compares its result with plain Rust.
    ///
    /// # Panics
    ///
    /// When `iterations` is more than 2^20 (f32 and i32 would no longer hold the sums), or the
    /// result is wrong.
    pub fn run(self, iterations: u64) {
        assert!(iterations <= 1 << 20, "iterations is {iterations} but must be at most 2^20");
        let (a, b) = self.numbers;
        // SAFETY: no memory is used, and the processor has the instructions: `peaks` asked.
        let sum = unsafe { (self.kernel)(iterations, a, b) };
        let expected = match self.sum {
            Sum::Converging { lanes } => {
                // After 100 halvings of the distance, more change nothing.
                let chain = |start| (0..iterations.min(100)).fold(start, |x, _| x * a + b);
                (0..12).map(|start| chain(f64::from(start))).sum::<f64>() * lanes as f64
            }
            // In 16 lanes each, from 0 + 1 + ... + 11.
            Sum::Growing { products } => (products * iterations) as f64 * a * b + 16.0 * 66.0,
        };
        let (name, close) = (self.name, expected.abs() * 1e-6);
        assert!((sum - expected).abs() <= close, "{name}: {sum} is not {expected}");
    }
}

impl Mapping {
    fn numbers(&mut self) -> &mut [f32] {
        // SAFETY: the memory is this mapping's own for as long as it lives, zero at first, aligned
        // to 64 bytes, and any bytes are numbers.
        unsafe { slice::from_raw_parts_mut(self.start().cast(), self.bytes() / 4) }
    }
}
