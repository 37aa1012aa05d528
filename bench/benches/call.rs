//! What one call costs: adding eight f32, where the arithmetic itself takes a nanosecond.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use bench::{CountingAllocator, add_from_c, allocations_of, print_machine};
use criterion::{BenchmarkGroup, measurement::WallTime};
use tenure::{TensorView, TensorViewMut};
use tenure_sys::{
    tnr_blob, tnr_blob_copy, tnr_blob_release, tnr_blob_view, tnr_dtype, tnr_status, tnr_view,
    tnr_view_lend, tnr_view_lend_mut, tnr_view_mut,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

const COUNT: usize = 8;
const A: [f32; COUNT] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
const B: [f32; COUNT] = [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0];

fn main() {
    print_machine();
    let mut criterion = bench::criterion();
    let mut group = criterion.benchmark_group("add 8 f32");
    from_rust(&mut group);
    plain_from_c(&mut group);
    owned_from_c(&mut group);
    peers(&mut group);
    group.finish();
    criterion.final_summary();
}

fn from_rust(group: &mut Group<'_>) {
    let mut out = [0.0f32; COUNT];
    let made = allocations_of(|| tenure::add_into(A, B, &mut out).expect("one shape"));
    println!("allocations of add_into: {made}");
    assert_eq!(made, 0);

    group.bench_function("tenure add_into, slices", |bencher| {
        bencher.iter(|| tenure::add_into(black_box(&A), black_box(&B), black_box(&mut out)));
    });
    let a = TensorView::from_slice(&A, [COUNT]).expect("it fits");
    let b = TensorView::from_slice(&B, [COUNT]).expect("it fits");
    let mut view = TensorViewMut::from_slice(&mut out, [COUNT]).expect("it fits");
    group.bench_function("tenure add_into, views", |bencher| {
        bencher.iter(|| tenure::add_into(black_box(&a), black_box(&b), black_box(&mut view)));
    });
    group.bench_function("tenure add (allocates)", |bencher| {
        bencher.iter(|| tenure::add(black_box(&a), black_box(&b)));
    });
}

fn plain_from_c(group: &mut Group<'_>) {
    let mut out = [0.0f32; COUNT];
    let (a, b) = (lent(&A), lent(&B));
    let result = lent_mut(&mut out);
    group.bench_function("tenure from C, plain views", |bencher| {
        // SAFETY: the views name three arrays of this function.
        bencher.iter_custom(|count| unsafe { add_from_c(&a, &b, &result, count) });
    });
    assert_eq!(out, [9.0; COUNT]);
}

fn owned_from_c(group: &mut Group<'_>) {
    let blobs = [blob(&A), blob(&B), blob(&[0.0; COUNT])];
    let (a, b) = (owned(blobs[0]), owned(blobs[1]));
    let out = tnr_view_mut { view: owned(blobs[2]) };
    group.bench_function("tenure from C, owned views", |bencher| {
        // SAFETY: the blobs hold the memory of the views, and live until below.
        bencher.iter_custom(|count| unsafe { add_from_c(&a, &b, &out, count) });
    });
    for blob in blobs {
        // SAFETY: each handle is released once.
        assert_eq!(unsafe { tnr_blob_release(blob) }, tnr_status::OK);
    }
}

fn lent(data: &[f32; COUNT]) -> tnr_view {
    let mut view = MaybeUninit::uninit();
    let (base, shape) = (data.as_ptr().cast(), COUNT as i64);
    // SAFETY: `data` is readable, and the shape is one extent.
    let status = unsafe {
        let size_bytes = size_of_val(data);
        tnr_view_lend(base, size_bytes, 0, tnr_dtype::F32, 1, &shape, null(), view.as_mut_ptr())
    };
    assert_eq!(status, tnr_status::OK);
    // SAFETY: written, as the status says.
    unsafe { view.assume_init() }
}

fn lent_mut(data: &mut [f32; COUNT]) -> tnr_view_mut {
    let mut view = MaybeUninit::uninit();
    let (base, shape) = (data.as_mut_ptr().cast(), COUNT as i64);
    // SAFETY: `data` is this function's alone, and the shape is one extent.
    let status = unsafe {
        let size_bytes = size_of_val(data);
        tnr_view_lend_mut(base, size_bytes, 0, tnr_dtype::F32, 1, &shape, null(), view.as_mut_ptr())
    };
    assert_eq!(status, tnr_status::OK);
    // SAFETY: written, as the status says.
    unsafe { view.assume_init() }
}

fn blob(data: &[f32; COUNT]) -> *mut tnr_blob {
    // SAFETY: `data` is readable; the library copies it.
    let blob = unsafe { tnr_blob_copy(null_mut(), data.as_ptr().cast(), size_of_val(data)) };
    assert!(!blob.is_null());
    blob
}

fn owned(blob: *mut tnr_blob) -> tnr_view {
    let mut view = MaybeUninit::uninit();
    let shape = COUNT as i64;
    // SAFETY: `blob` is a live handle, and the shape is one extent.
    let status =
        unsafe { tnr_blob_view(blob, 0, tnr_dtype::F32, 1, &shape, null(), view.as_mut_ptr()) };
    assert_eq!(status, tnr_status::OK);
    // SAFETY: written, as the status says.
    unsafe { view.assume_init() }
}

fn peers(group: &mut Group<'_>) {
    #[cfg(feature = "peers")]
    {
        let (mut a, b) = (ndarray::arr1(&A), ndarray::arr1(&B));
        let mut out = ndarray::Array1::<f32>::zeros(COUNT);
        group.bench_function("ndarray in place", |bencher| {
            bencher.iter(|| *black_box(&mut a) += black_box(&b));
        });
        group.bench_function("ndarray Zip into", |bencher| {
            bencher.iter(|| {
                ndarray::Zip::from(black_box(&mut out))
                    .and(black_box(&a))
                    .and(black_box(&b))
                    .for_each(|out, a, b| *out = a + b);
            });
        });
        group.bench_function("ndarray a + b (allocates)", |bencher| {
            bencher.iter(|| black_box(&a) + black_box(&b));
        });
        let device = candle_core::Device::Cpu;
        let a = candle_core::Tensor::from_slice(&A, COUNT, &device).expect("it fits");
        let b = candle_core::Tensor::from_slice(&B, COUNT, &device).expect("it fits");
        group.bench_function("candle a + b (allocates)", |bencher| {
            bencher.iter(|| black_box(&a) + black_box(&b));
        });
    }
    #[cfg(feature = "tch")]
    {
        let (mut a, b) = (tch::Tensor::from_slice(&A), tch::Tensor::from_slice(&B));
        group.bench_function("tch in place", |bencher| {
            bencher.iter(|| black_box(&mut a).g_add_(black_box(&b)));
        });
        group.bench_function("tch a + b (allocates)", |bencher| {
            bencher.iter(|| black_box(&a) + black_box(&b));
        });
    }
    let _ = group; // unused where no peer is
}
