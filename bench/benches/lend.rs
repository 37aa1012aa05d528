//! Making a tensor of memory that is already there: lending it, and what peers do instead.

use std::hint::black_box;

use bench::{CountingAllocator, allocations_of, is_smoke_run, numbers, print_machine, roof};
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, measurement::WallTime};
use tenure::{Tensor, TensorView};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Elements of f64: 8 bytes, 8 KiB, 8 MiB, 2 GiB.
const COUNTS: [usize; 4] = [1, 1 << 10, 1 << 20, 1 << 28];

fn main() {
    print_machine();
    let smoke = is_smoke_run();
    let mut criterion = bench::criterion();
    roof(&mut criterion, if smoke { 1 << 20 } else { 256 << 20 });
    for count in COUNTS {
        if smoke && count > 1 << 20 {
            println!("skipped in a smoke run: {count} elements");
            continue;
        }
        let Some(data) = numbers(count) else { continue };
        lend(&mut criterion, &data);
        copy(&mut criterion, &data);
    }
    criterion.final_summary();
}

/// Ways that copy nothing.
fn lend(criterion: &mut Criterion, data: &[f64]) {
    let count = data.len();
    let made = allocations_of(|| TensorView::from_slice(data, [count]).expect("it fits"));
    println!("allocations of TensorView::from_slice at {} bytes: {made}", count * 8);
    assert_eq!(made, 0);

    let mut group = criterion.benchmark_group("lend");
    let id = |name: &str| BenchmarkId::new(name, count * 8);
    group.bench_function(id("tenure from_slice"), |bencher| {
        bencher.iter(|| TensorView::from_slice(black_box(data), [count]).expect("it fits"));
    });
    group.bench_function(id("tenure from_slice, slice"), |bencher| {
        bencher.iter(|| {
            let view = TensorView::from_slice(black_box(data), [count]).expect("it fits");
            view.slice(0, 0..count / 2).expect("in range")
        });
    });
    lend_by_peers(&mut group, data);
    group.finish();
}

/// Ways that copy everything.
fn copy(criterion: &mut Criterion, data: &[f64]) {
    let count = data.len();
    let mut group = criterion.benchmark_group("copy");
    group.sample_size(10);
    let id = |name: &str| BenchmarkId::new(name, count * 8);
    group.bench_function(id("clone the Vec"), |bencher| {
        bencher.iter(|| black_box(data).to_vec());
    });
    group.bench_function(id("tenure copy_from_slice"), |bencher| {
        bencher.iter(|| Tensor::copy_from_slice(black_box(data), [count]).expect("it fits"));
    });
    copy_by_peers(&mut group, data);
    group.finish();
}

fn lend_by_peers(group: &mut Group<'_>, data: &[f64]) {
    #[cfg(feature = "peers")]
    group.bench_function(BenchmarkId::new("ndarray from_shape", data.len() * 8), |bencher| {
        bencher.iter(|| ndarray::ArrayView::from_shape(data.len(), black_box(data)).expect("fits"));
    });
    #[cfg(feature = "tch")]
    group.bench_function(BenchmarkId::new("tch from_blob (unsafe)", data.len() * 8), |bencher| {
        bencher.iter(|| {
            let bytes = black_box(data).as_ptr().cast();
            let (shape, strides) = ([data.len() as i64], [1i64]);
            let (kind, device) = (tch::Kind::Double, tch::Device::Cpu);
            // SAFETY: the tensor is dropped here, before `data`, and nothing writes to it.
            unsafe { tch::Tensor::from_blob(bytes, &shape, &strides, kind, device) }
        });
    });
    let _ = (group, data); // unused where no peer is
}

fn copy_by_peers(group: &mut Group<'_>, data: &[f64]) {
    #[cfg(feature = "peers")]
    group.bench_function(BenchmarkId::new("candle from_slice", data.len() * 8), |bencher| {
        let device = candle_core::Device::Cpu;
        bencher.iter(|| candle_core::Tensor::from_slice(black_box(data), data.len(), &device));
    });
    #[cfg(feature = "tch")]
    group.bench_function(BenchmarkId::new("tch from_slice", data.len() * 8), |bencher| {
        bencher.iter(|| tch::Tensor::from_slice(black_box(data)));
    });
    let _ = (group, data); // unused where no peer is
}
