//! Expressions allocate nothing up to 16 operations, and preallocated programs never: counted by the
//! allocator of this program.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tenure::*;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all is the system's allocator's, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The count of memory requests. The first call is not looked at: it asks for the version.
fn allocations(mut f: impl FnMut()) -> usize {
    f();
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}

#[test]
fn up_to_16_operations_allocate_nothing() {
    let [a, b, c] = [1.0_f32, 2.0, 3.0].map(|value| Tensor::full([4, 8], value).unwrap());
    let (slice, weight) = ([5.0_f32; 8], [1.0_f32; 8]);
    let mut out = Tensor::<f32>::zeros([4, 8]).unwrap();
    let mut row = [0.0_f32; 8];
    let counts = [
        allocations(|| (&a * &b + &c).eval_into(&mut out).unwrap()),
        allocations(|| {
            let sum = (0..16).fold(a.expr(), |sum, n| sum + n as f32);
            sum.clone().eval_into(&mut out).unwrap();
        }),
        allocations(|| (&a * &slice + Expr::from(a.view().t().t())).eval_into(&mut out).unwrap()),
        allocations(|| out.update(|x| (x - &slice) / 2.0).unwrap()),
        allocations(|| (&a - a.expr().mean(Axes::keep(-1))).eval_into(&mut out).unwrap()),
        allocations(|| (&a + &b).var(0, 1).eval_into(&mut row).unwrap()),
        allocations(|| {
            let norm = LayerNorm::new().weight(&weight).bias(&slice);
            (&a + &b).layer_norm(-1, norm).eval_into(&mut out).unwrap();
        }),
    ];
    assert_eq!(counts, [0; 7]);

    // Beyond, they lie on the heap: this shows that the counter counts.
    let many = allocations(|| {
        (0..17).fold(a.expr(), |sum, n| sum + n as f32).eval_into(&mut out).unwrap();
    });
    assert!(many > 0);
}

#[test]
fn preallocated_programs_allocate_nothing() {
    let program = Program::trace(|graph| {
        let (x, w) = (graph.input::<f32>([4, 8]), graph.input::<f32>([8, 8]));
        let product = x.matmul(w).tanh();
        let centred = product - product.mean(Axes::keep(-1));
        let scale = ((centred * centred).mean(Axes::keep(-1)) + 1e-5).rsqrt();
        graph.program((x, w), (centred * scale).softmax(-1))
    })
    .unwrap();
    let (x, w) = ([[0.5_f32; 8]; 4], Tensor::full([8, 8], 0.25_f32).unwrap());
    let (mut out, wide) = ([[0.0_f32; 8]; 4], [[0.0_f32; 8]; 5]);
    let bound = program.bind_preallocated((&x, &w), &mut out).unwrap();
    // The first run too.
    let before = ALLOCATIONS.get();
    bound.run((&x, &w), &mut out).unwrap();
    assert_eq!(ALLOCATIONS.get(), before);
    let refused = bound.run((&wide, &w), &mut out).err().map(|refused| refused.kind());
    assert_eq!(ALLOCATIONS.get(), before);
    assert_eq!(refused, Some(ErrorKind::InvalidArgument));
}
