//! Products of dense matrices: large squares, transposed factors, a few rows, and cubes in the
//! caches; by factors that were packed before, and with a sparse result. Beside gemm and faer, on
//! the same memory, and the roof of what limits them.

use std::cell::RefCell;

use bench::Scale;
use bench::operations::products::{Number, Product, Shape};
use bench::roofs::{self, kernels::Arrays};
use bench::subject::{Case, Subject};
use tenure::{Context, Tensor};

fn main() {
    let mut subject = Subject::open("matmul");
    let context = Context::with_threads(2).expect("a thread can be had");
    products::<f32>(&mut subject, &context);
    products::<f64>(&mut subject, &context);
    few_rows(&mut subject, &context);
    to_csr(&mut subject, &context);
    subject.close();
}

fn products<T: Number>(subject: &mut Subject, context: &Context) {
    let (large, turned, cubes): (&[usize], _, &[usize]) = match subject.scale() {
        Scale::Smoke => (&[48], 40, &[8]),
        Scale::Quick => (&[1024], 1024, &[8, 16, 32, 64]),
        Scale::Full => (&[1024, 2048], 1024, &[8, 12, 16, 24, 32, 48, 64]),
    };
    for side in large.iter().copied() {
        for threads in [1, 2] {
            let name = format!("matmul {} {side}", T::NAME);
            let product = Product::<T>::new(Shape::cube(side));
            let mut cases = vec![product.case(), product.packed_case()];
            if threads == 2 {
                cases = cases.into_iter().map(|case| case.on(context)).collect();
            }
            cases.extend(product.peers(threads));
            cases.push(roofs::fma(T::NAME, product.operations(), threads));
            subject.measure(&name, product.bytes(), threads, product.operations(), cases);
        }
    }
    for (name, a_turned, b_turned) in
        [("a", true, false), ("b", false, true), ("a and b", true, true)]
    {
        let name = format!("matmul {} {turned}, {name} transposed", T::NAME);
        let contiguous = Product::<T>::new(Shape::cube(turned));
        let shape = Shape { a_turned, b_turned, ..Shape::cube(turned) };
        let product = Product::<T>::new(shape);
        let mut cases = vec![
            product.case(),
            contiguous.case().within("contiguous", |work| work()),
            roofs::fma(T::NAME, product.operations(), 1),
        ];
        cases.extend(product.peers(1));
        subject.measure(&name, product.bytes(), 1, product.operations(), cases);
    }
    for side in cubes.iter().copied() {
        let name = format!("matmul {} {side}", T::NAME);
        let product = Product::<T>::new(Shape::cube(side));
        let mut cases = vec![product.case()];
        cases.extend(product.peers(1));
        subject.measure(&name, product.bytes(), 1, product.operations(), cases);
    }
}

/// A few rows by a matrix that no cache holds: the roof is reading it once.
fn few_rows(subject: &mut Subject, context: &Context) {
    let side = if subject.scale() == Scale::Smoke { 64 } else { 8192 };
    let bytes = side * side * 4;
    let Some(arrays) = Arrays::if_they_fit(bytes) else { return };
    let arrays = RefCell::new(arrays);
    for rows in [1, 2, 4, 8] {
        let name = format!("matmul f32, {rows} by {side}");
        let product = Product::<f32>::new(Shape { rows, ..Shape::cube(side) });
        for threads in [1, 2] {
            let mut cases = vec![product.case(), product.packed_case()];
            if threads == 2 {
                cases = cases.into_iter().map(|case| case.on(context)).collect();
            }
            cases.extend(product.peers(threads));
            let reads = roofs::cases(&arrays, roofs::READ, threads);
            let reads: Vec<Case> =
                reads.into_iter().map(|roof| roof.moving(product.operations())).collect();
            cases.extend(reads);
            subject.measure(&name, product.bytes(), threads, product.operations(), cases);
        }
    }
}

/// A layer with a mostly zero result, compared with only the product.
fn to_csr(subject: &mut Subject, context: &Context) {
    let side = if subject.scale() == Scale::Smoke { 48 } else { 2048 };
    let product = Product::<f32>::new(Shape::cube(side));
    // Sums are 64 times the depth, more or less: nine columns of ten are below 0.
    let below = |[column]: [usize; 1]| if column % 10 == 0 { 0.0 } else { -1e6 };
    let bias = Tensor::from_fn([side], below).expect("it fits");
    let name = format!("matmul f32 {side}, relu, to CSR");
    for threads in [1, 2] {
        let mut cases = vec![product.case()];
        cases.extend(product.sparse_cases(&bias));
        if threads == 2 {
            cases = cases.into_iter().map(|case| case.on(context)).collect();
        }
        subject.measure(&name, product.bytes(), threads, product.operations(), cases);
    }
}
