//! Reductions of a square matrix: over all of it, and over each axis. Softmax and sort of its rows.

use std::cell::RefCell;

use bench::Scale;
use bench::operations::{Operation, REDUCTIONS, ROWS};
use bench::roofs::{self, kernels::Arrays};
use bench::sparse::normals;
use bench::subject::{Case, Subject};

fn main() {
    let mut subject = Subject::open("reduce");
    let sizes: &[usize] = match subject.scale() {
        Scale::Smoke => &[64 << 10],
        Scale::Quick => &[1 << 20, 64 << 20],
        Scale::Full => &[1 << 20, 64 << 20, 1 << 30],
    };
    for bytes in sizes.iter().copied() {
        let Some(arrays) = Arrays::if_they_fit(bytes) else { continue };
        let arrays = RefCell::new(arrays);
        for operation in REDUCTIONS {
            reduce(&mut subject, operation, &arrays);
        }
        // Sorting 1 GiB would take longer than all of this.
        if bytes > 64 << 20 {
            continue;
        }
        normals(arrays.borrow_mut().a_mut(), 50);
        for operation in ROWS {
            let mut cases = vec![operation.case(&arrays)];
            cases.extend(roofs::cases(&arrays, operation.roof, 1));
            let bytes = bytes as u64;
            subject.measure(operation.name, bytes, 1, bytes * operation.arrays, cases);
        }
    }
    subject.close();
}

fn reduce(subject: &mut Subject, operation: Operation, arrays: &RefCell<Arrays>) {
    let bytes = arrays.borrow().bytes() as u64;
    let mut cases = vec![operation.case(arrays)];
    // Slow enough to be known from a sixteenth.
    if bytes <= 64 << 20 {
        cases.extend(peers(operation.name, arrays));
    }
    cases.extend(roofs::cases(arrays, operation.roof, 1));
    subject.measure(operation.name, bytes, 1, bytes * operation.arrays, cases);
}

#[cfg(feature = "peers")]
fn peers<'a>(operation: &'static str, arrays: &'a RefCell<Arrays>) -> Vec<Case<'a>> {
    use std::hint::black_box;

    use candle_core::{Device, Tensor};

    let tensor = {
        let mut arrays = arrays.borrow_mut();
        let (a, ..) = arrays.parts();
        let side = bench::operations::side(a);
        Tensor::from_slice(a, (side, side), &Device::Cpu).expect("fits")
    };
    let mut cases = vec![
        Case::timed("ndarray", "allocates", move |passes| {
            let arrays = &mut *arrays.borrow_mut();
            let (a, ..) = arrays.parts();
            bench::subject::repeat(passes, || by_ndarray(operation, black_box(a)))
        }),
        Case::repeated("candle", "allocates", move || {
            let all = tensor.flatten_all();
            drop(black_box(match operation {
                "sum" => tensor.sum_all(),
                "sum, axis 0" => tensor.sum(0),
                "sum, axis 1" => tensor.sum(1),
                "max" => all.and_then(|all| all.max(0)),
                "max, axis 0" => tensor.max(0),
                _ => tensor.max(1),
            }));
        }),
    ];
    if operation == "sum" {
        cases.push(Case::timed("faer", "allocates", |passes| {
            let arrays = &mut *arrays.borrow_mut();
            let (a, ..) = arrays.parts();
            bench::subject::repeat(passes, || {
                black_box(faer::ColRef::from_slice(black_box(a)).sum());
            })
        }));
    }
    cases
}

#[cfg(feature = "peers")]
fn by_ndarray(operation: &str, a: &[f32]) {
    use std::hint::black_box;

    use ndarray::{ArrayView2, Axis};

    let side = bench::operations::side(a);
    let a = ArrayView2::from_shape((side, side), a).expect("a square");
    let max = |a: &f32, b: &f32| a.max(*b);
    match operation {
        "sum" => drop(black_box(a.sum())),
        "sum, axis 0" => drop(black_box(a.sum_axis(Axis(0)))),
        "sum, axis 1" => drop(black_box(a.sum_axis(Axis(1)))),
        "max" => drop(black_box(a.fold(f32::MIN, |a, b| max(&a, b)))),
        "max, axis 0" => drop(black_box(a.fold_axis(Axis(0), f32::MIN, max))),
        _ => drop(black_box(a.fold_axis(Axis(1), f32::MIN, max))),
    }
}

#[cfg(not(feature = "peers"))]
fn peers<'a>(_: &'static str, _: &'a RefCell<Arrays>) -> Vec<Case<'a>> {
    Vec::new()
}
