//! Elements moved into another order: a transposition, images between two layouts, and permutations
//! of many shapes.

use std::cell::RefCell;
use std::hint::black_box;

use bench::Scale;
use bench::operations::{TRANSPOSITION, square};
use bench::permutation::{Numbers, Permutation};
use bench::roofs::{self, kernels::Arrays};
use bench::subject::{Case, Subject, repeat};
use tenure::{Context, TensorView, TensorViewMut};

/// The permutations are the same in each run, and in `peers.py`.
const SEED: u64 = 1;

fn main() {
    let mut subject = Subject::open("movement");
    let two = Context::with_threads(2).expect("a thread can be had");
    // `shared` of the permutations are also run on two threads.
    let (log2, count, shared, batch) = match subject.scale() {
        Scale::Smoke => (12, 20, 5, 1),
        Scale::Quick => (24, 20, 5, 32),
        Scale::Full => (24, 200, 40, 32),
    };
    if let Some(arrays) = Arrays::if_they_fit(4 << log2) {
        let arrays = RefCell::new(arrays);
        transpose(&mut subject, &two, &arrays);
        let mut numbers = Numbers::from_seed(SEED);
        for i in 0..count {
            let permutation = Permutation::draw(&mut numbers, log2);
            permute(&mut subject, &permutation, None, None, &arrays);
            if i < shared {
                permute(&mut subject, &permutation, None, Some(&two), &arrays);
            }
        }
    }
    if let Some(arrays) = Arrays::if_they_fit(batch * 64 * 56 * 56 * 4) {
        let arrays = RefCell::new(arrays);
        let images = |shape: [usize; 3], axes: [usize; 4]| Permutation {
            shape: [&[batch], &shape[..]].concat(),
            axes: axes.to_vec(),
        };
        let last = images([64, 56, 56], [0, 2, 3, 1]);
        let first = images([56, 56, 64], [0, 3, 1, 2]);
        for context in [None, Some(&two)] {
            permute(&mut subject, &last, Some("NCHW to NHWC"), context, &arrays);
            permute(&mut subject, &first, Some("NHWC to NCHW"), context, &arrays);
        }
    }
    subject.close();
}

/// On one thread, in turns with peers, and on two threads; the bench `threads` has the latter into
/// preallocated memory.
fn transpose(subject: &mut Subject, two: &Context, arrays: &RefCell<Arrays>) {
    let bytes = arrays.borrow().bytes() as u64;
    let allocating = || {
        let arrays = &mut *arrays.borrow_mut();
        let (a, ..) = arrays.parts();
        drop(black_box(square(a).expect("a square").t().to_tensor().expect("there is room")));
    };
    let mut cases = vec![
        TRANSPOSITION.case(arrays),
        Case::cold("tenure", allocating),
        Case::recycled("tenure", allocating),
    ];
    cases.extend(transpose_by_peers(arrays));
    cases.extend(roofs::cases(arrays, roofs::COPY, 1));
    subject.measure(TRANSPOSITION.name, bytes, 1, bytes * 2, cases);

    let mut cases = vec![
        Case::cold("tenure", allocating).within("cold", |work| two.install(work)),
        Case::recycled("tenure", allocating).within("recycled", |work| two.install(work)),
    ];
    cases.extend(roofs::cases(arrays, roofs::COPY, 2));
    subject.measure(TRANSPOSITION.name, bytes, 2, bytes * 2, cases);
}

/// On one thread, or on the two of a context.
fn permute(
    subject: &mut Subject,
    permutation: &Permutation,
    name: Option<&str>,
    context: Option<&Context>,
    arrays: &RefCell<Arrays>,
) {
    let (count, shape) = (permutation.len(), permutation.permuted_shape());
    let case = Case::timed("tenure", "into", |passes| {
        let arrays = &mut *arrays.borrow_mut();
        let (a, _, c) = arrays.parts();
        let a = TensorView::from_slice(&a[..count], permutation.shape.as_slice()).expect("fits");
        let a = a.permute(&permutation.axes).expect("each axis once");
        let mut c = TensorViewMut::from_slice(&mut c[..count], shape.as_slice()).expect("fits");
        repeat(passes, || tenure::ops::copy_into(a, &mut c).expect("one shape"))
    });
    let threads = context.map_or(1, |_| 2);
    let case = case.within("into", |work| match context {
        Some(context) => context.install(work),
        None => work(),
    });
    let mut cases = vec![case];
    cases.extend(roofs::cases(arrays, roofs::COPY, threads));
    let (name, bytes) = (name.map_or(permutation.name(), str::to_owned), count as u64 * 4);
    subject.measure(&name, bytes, threads, bytes * 2, cases);
}

#[cfg(feature = "peers")]
fn transpose_by_peers(arrays: &RefCell<Arrays>) -> Vec<Case<'_>> {
    use bench::operations::side;

    let into = |library, pass: fn(&[f32], &mut [f32], usize)| {
        Case::timed(library, "into", move |passes| {
            let arrays = &mut *arrays.borrow_mut();
            let (a, _, c) = arrays.parts();
            let side = side(a);
            repeat(passes, || pass(black_box(a), black_box(c), side))
        })
    };
    let ndarray = into("ndarray", |a, c, side| {
        let a = ndarray::ArrayView2::from_shape((side, side), a).expect("a square");
        let mut c = ndarray::ArrayViewMut2::from_shape((side, side), c).expect("a square");
        c.assign(&a.t());
    });
    let faer = into("faer", |a, c, side| {
        let a = faer::MatRef::from_column_major_slice(a, side, side);
        faer::MatMut::from_column_major_slice_mut(c, side, side).copy_from(a.transpose());
    });
    let ndarray_allocating = || {
        let arrays = &mut *arrays.borrow_mut();
        let (a, ..) = arrays.parts();
        let a = ndarray::ArrayView2::from_shape((side(a), side(a)), a).expect("a square");
        drop(black_box(a.t().as_standard_layout().into_owned()));
    };
    let tensor = {
        let mut arrays = arrays.borrow_mut();
        let (a, ..) = arrays.parts();
        let shape = (side(a), side(a));
        candle_core::Tensor::from_slice(a, shape, &candle_core::Device::Cpu).expect("it fits")
    };
    let candle = move || {
        drop(black_box(tensor.t().and_then(|tensor| tensor.contiguous()).expect("a matrix")));
    };
    vec![
        ndarray,
        faer,
        Case::cold("ndarray", ndarray_allocating),
        Case::recycled("ndarray", ndarray_allocating),
        Case::cold("candle", candle.clone()),
        Case::recycled("candle", candle),
    ]
}

#[cfg(not(feature = "peers"))]
fn transpose_by_peers(_: &RefCell<Arrays>) -> Vec<Case<'_>> {
    Vec::new()
}
