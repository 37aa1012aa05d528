//! Element-wise operations, from sizes that a cache holds to those that only memory does: into a
//! given output, and allocating it.

use std::cell::RefCell;
use std::hint::black_box;

use bench::Scale;
use bench::operations::{ELEMENTWISE, Operation};
use bench::roofs::{self, kernels::Arrays};
use bench::subject::{Case, Subject};
use tenure::Context;

fn main() {
    let mut subject = Subject::open("elementwise");
    let context = Context::with_threads(2).expect("a thread can be had");
    let sizes: &[usize] = match subject.scale() {
        Scale::Smoke => &[4 << 10, 64 << 10],
        Scale::Quick => &[64 << 10, 1 << 20, 64 << 20],
        Scale::Full => &[64 << 10, 1 << 20, 8 << 20, 64 << 20, 1 << 30],
    };
    for bytes in sizes.iter().copied() {
        let Some(arrays) = Arrays::if_they_fit(bytes) else { continue };
        let arrays = RefCell::new(arrays);
        for operation in ELEMENTWISE {
            into(&mut subject, operation, &arrays);
        }
        // Each library would have its result of 1 GiB at once.
        if bytes <= 64 << 20 {
            allocating(&mut subject, &context, &arrays);
        }
    }
    subject.close();
}

fn into(subject: &mut Subject, operation: Operation, arrays: &RefCell<Arrays>) {
    let bytes = arrays.borrow().bytes() as u64;
    let mut cases = vec![operation.case(arrays)];
    cases.extend(peers_into(operation.name, arrays));
    cases.extend(roofs::cases(arrays, operation.roof, 1));
    subject.measure(operation.name, bytes, 1, bytes * operation.arrays, cases);
}

/// On one thread, in turns with peers, and on two threads.
fn allocating(subject: &mut Subject, context: &Context, arrays: &RefCell<Arrays>) {
    let bytes = arrays.borrow().bytes() as u64;
    let add = || {
        let arrays = &mut *arrays.borrow_mut();
        let (a, b, _) = arrays.parts();
        drop(black_box(tenure::ops::add(a, b).expect("one shape")));
    };
    let mut cases = vec![Case::cold("tenure", add), Case::recycled("tenure", add)];
    cases.extend(peers_allocating(arrays));
    cases.extend(roofs::cases(arrays, roofs::ADD, 1));
    subject.measure("a + b", bytes, 1, bytes * 3, cases);

    // Work this small is not shared out.
    if bytes < 1 << 20 && subject.scale() != Scale::Smoke {
        return;
    }
    let mut cases = vec![
        Case::cold("tenure", add).within("cold", |work| context.install(work)),
        Case::recycled("tenure", add).within("recycled", |work| context.install(work)),
    ];
    cases.extend(roofs::cases(arrays, roofs::ADD, 2));
    subject.measure("a + b", bytes, 2, bytes * 3, cases);
}

#[cfg(feature = "peers")]
fn peers_into<'a>(operation: &str, arrays: &'a RefCell<Arrays>) -> Vec<Case<'a>> {
    type Pass = fn(&[f32], &[f32], &mut [f32]);
    let (ndarray, faer): (Pass, Pass) = match operation {
        "add" => (|a, b, c| zip(a, b, c, |a, b| a + b), |a, b, c| faer_zip(a, b, c, |a, b| a + b)),
        "mul" => (|a, b, c| zip(a, b, c, |a, b| a * b), |a, b, c| faer_zip(a, b, c, |a, b| a * b)),
        "relu" => (
            |a, _, c| zip(a, a, c, |a, _| a.max(0.0)),
            |a, _, c| faer_zip(a, a, c, |a, _| a.max(0.0)),
        ),
        other => unreachable!("no operation of this bench: {other}"),
    };
    let case = |library, pass: Pass| {
        Case::timed(library, "into", move |passes| {
            let arrays = &mut *arrays.borrow_mut();
            let (a, b, c) = arrays.parts();
            bench::subject::repeat(passes, || pass(black_box(a), black_box(b), black_box(c)))
        })
    };
    vec![case("ndarray", ndarray), case("faer", faer)]
}

#[cfg(feature = "peers")]
#[inline(always)]
fn zip(a: &[f32], b: &[f32], c: &mut [f32], each: impl Fn(f32, f32) -> f32) {
    let (a, b) = (ndarray::aview1(a), ndarray::aview1(b));
    ndarray::Zip::from(ndarray::aview_mut1(c)).and(a).and(b).for_each(|c, a, b| *c = each(*a, *b));
}

#[cfg(feature = "peers")]
#[inline(always)]
fn faer_zip(a: &[f32], b: &[f32], c: &mut [f32], each: impl Fn(f32, f32) -> f32) {
    let (a, b) = (faer::ColRef::from_slice(a), faer::ColRef::from_slice(b));
    let c = faer::ColMut::from_slice_mut(c);
    faer::zip!(c, a, b).for_each(|faer::unzip!(c, a, b)| *c = each(*a, *b));
}

#[cfg(feature = "peers")]
fn peers_allocating<'a>(arrays: &'a RefCell<Arrays>) -> Vec<Case<'a>> {
    let ndarray = || {
        let arrays = &mut *arrays.borrow_mut();
        let (a, b, _) = arrays.parts();
        drop(black_box(&ndarray::aview1(a) + &ndarray::aview1(b)));
    };
    let faer = || {
        let arrays = &mut *arrays.borrow_mut();
        let (a, b, _) = arrays.parts();
        drop(black_box(faer::ColRef::from_slice(a) + faer::ColRef::from_slice(b)));
    };
    let tensor = |from: &[f32]| {
        candle_core::Tensor::from_slice(from, from.len(), &candle_core::Device::Cpu).expect("fits")
    };
    let (a, b) = {
        let arrays = &mut *arrays.borrow_mut();
        let (a, b, _) = arrays.parts();
        (tensor(a), tensor(b))
    };
    let candle = move || drop(black_box((&a + &b).expect("one shape")));
    vec![
        Case::cold("ndarray", ndarray),
        Case::recycled("ndarray", ndarray),
        Case::cold("faer", faer),
        Case::recycled("faer", faer),
        Case::cold("candle", candle.clone()),
        Case::recycled("candle", candle),
    ]
}

#[cfg(not(feature = "peers"))]
fn peers_into<'a>(_: &str, _: &'a RefCell<Arrays>) -> Vec<Case<'a>> {
    Vec::new()
}

#[cfg(not(feature = "peers"))]
fn peers_allocating(_: &RefCell<Arrays>) -> Vec<Case<'_>> {
    Vec::new()
}
