//! The overhead of one call: adding from one f32, where the arithmetic takes no time, to 10^6; and
//! a tensor of DLPack on its way in and out.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use bench::subject::{Case, Subject};
use bench::{
    CountingAllocator, Scale, add_from_c, allocations_of, dlpack_exports_from_c,
    dlpack_imports_from_c,
};
use tenure::{TensorView, TensorViewMut};
use tenure_sys::{
    tnr_blob, tnr_blob_copy, tnr_blob_release, tnr_blob_view, tnr_dtype, tnr_status, tnr_view,
    tnr_view_lend, tnr_view_lend_mut, tnr_view_mut,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const COUNTS: [usize; 14] =
    [1, 4, 8, 16, 32, 64, 128, 256, 512, 2048, 8192, 65536, 262_144, 1_000_000];

fn main() {
    let mut subject = Subject::open("call");
    let smoke = subject.scale() == Scale::Smoke;
    for count in COUNTS.into_iter().filter(|count| !smoke || *count <= 512) {
        add(&mut subject, count);
    }
    dlpack(&mut subject);
    subject.close();
}

/// Each with its end: the release of what came in, the deleter of what went out.
fn dlpack(subject: &mut Subject) {
    let blob = blob(&[0.0; 12]);
    let view = owned(blob, 12);
    subject.measure(
        "DLPack",
        48,
        1,
        0,
        vec![
            Case::timed("tenure", "import", |passes| dlpack_imports_from_c(passes.into())),
            Case::timed("tenure", "export", |passes| dlpack_exports_from_c(&view, passes.into())),
        ],
    );
    // SAFETY: released once.
    assert_eq!(unsafe { tnr_blob_release(blob) }, tnr_status::OK);
}

fn add(subject: &mut Subject, count: usize) {
    let a: Vec<f32> = (0..count).map(|i| (i % 1000) as f32).collect();
    let b = vec![1.0f32; count];
    let (mut plain, mut slices, mut views) = (vec![0.0f32; count], a.clone(), a.clone());
    let made = allocations_of(|| tenure::ops::add_into(&a, &b, &mut slices).expect("one shape"));
    assert_eq!(made, 0, "allocations of add_into");

    let (lent_a, lent_b, lent_out) = (lent(&a), lent(&b), lent_mut(&mut plain));
    let blobs = [blob(&a), blob(&b), blob(&b)];
    let (owned_a, owned_b) = (owned(blobs[0], count), owned(blobs[1], count));
    let owned_out = tnr_view_mut { view: owned(blobs[2], count) };
    let view_a = TensorView::from_slice(&a, [count]).expect("it fits");
    let view_b = TensorView::from_slice(&b, [count]).expect("it fits");
    let mut view_out = TensorViewMut::from_slice(&mut views, [count]).expect("it fits");
    let allocating = || {
        drop(black_box(
            tenure::ops::add(black_box(&view_a), black_box(&view_b)).expect("one shape"),
        ));
    };
    let mut cases = vec![
        // SAFETY: the views name three vectors of this function; here and below.
        Case::timed("tenure", "from C, plain views", |passes| unsafe {
            add_from_c(&lent_a, &lent_b, &lent_out, passes.into())
        }),
        // SAFETY: the blobs hold the memory of the views, and live until below.
        Case::timed("tenure", "from C, owned views", |passes| unsafe {
            add_from_c(&owned_a, &owned_b, &owned_out, passes.into())
        }),
        Case::repeated("tenure", "into views", || {
            tenure::ops::add_into(black_box(&view_a), black_box(&view_b), black_box(&mut view_out))
                .expect("one shape");
        }),
        Case::repeated("tenure", "into slices", || {
            tenure::ops::add_into(black_box(&a), black_box(&b), black_box(&mut slices))
                .expect("one shape");
        }),
        Case::cold("tenure", allocating),
        Case::recycled("tenure", allocating),
    ];
    cases.extend(peers(&a, &b));
    let bytes = count as u64 * 4;
    subject.measure("call", bytes, 1, bytes * 3, cases);

    assert!(plain.iter().zip(&a).all(|(sum, a)| *sum == a + 1.0) || !subject.wants("call"));
    for blob in blobs {
        // SAFETY: each handle is released once.
        assert_eq!(unsafe { tnr_blob_release(blob) }, tnr_status::OK);
    }
}

fn lent(data: &[f32]) -> tnr_view {
    let mut view = MaybeUninit::uninit();
    let (base, shape) = (data.as_ptr().cast(), data.len() as i64);
    // SAFETY: `data` is readable, and the shape is one extent.
    let status = unsafe {
        let size_bytes = size_of_val(data);
        tnr_view_lend(base, size_bytes, 0, tnr_dtype::F32, 1, &shape, null(), view.as_mut_ptr())
    };
    assert_eq!(status, tnr_status::OK);
    // SAFETY: written, as the status says.
    unsafe { view.assume_init() }
}

fn lent_mut(data: &mut [f32]) -> tnr_view_mut {
    let mut view = MaybeUninit::uninit();
    let (base, shape) = (data.as_mut_ptr().cast(), data.len() as i64);
    // SAFETY: `data` is exclusively this function's, and the shape is one extent.
    let status = unsafe {
        let size_bytes = size_of_val(data);
        tnr_view_lend_mut(base, size_bytes, 0, tnr_dtype::F32, 1, &shape, null(), view.as_mut_ptr())
    };
    assert_eq!(status, tnr_status::OK);
    // SAFETY: written, as the status says.
    unsafe { view.assume_init() }
}

fn blob(data: &[f32]) -> *mut tnr_blob {
    // SAFETY: `data` is readable; the library copies it.
    let blob = unsafe { tnr_blob_copy(null_mut(), data.as_ptr().cast(), size_of_val(data)) };
    assert!(!blob.is_null());
    blob
}

fn owned(blob: *mut tnr_blob, count: usize) -> tnr_view {
    let mut view = MaybeUninit::uninit();
    let shape = count as i64;
    // SAFETY: `blob` is a live handle, and the shape is one extent.
    let status =
        unsafe { tnr_blob_view(blob, 0, tnr_dtype::F32, 1, &shape, null(), view.as_mut_ptr()) };
    assert_eq!(status, tnr_status::OK);
    // SAFETY: written, as the status says.
    unsafe { view.assume_init() }
}

#[cfg_attr(not(any(feature = "peers", feature = "tch")), expect(unused_variables))]
fn peers<'a>(a: &'a [f32], b: &'a [f32]) -> Vec<Case<'a>> {
    #[cfg_attr(not(any(feature = "peers", feature = "tch")), expect(unused_mut))]
    let mut cases = Vec::new();
    #[cfg(feature = "peers")]
    {
        let (a, b) = (ndarray::aview1(a), ndarray::aview1(b));
        let mut out = ndarray::Array1::<f32>::zeros(a.len());
        cases.push(Case::repeated("ndarray", "into", move || {
            ndarray::Zip::from(black_box(&mut out))
                .and(black_box(&a))
                .and(black_box(&b))
                .for_each(|out, a, b| *out = a + b);
        }));
        let allocating = move || drop(black_box(black_box(&a) + black_box(&b)));
        cases.extend([Case::cold("ndarray", allocating), Case::recycled("ndarray", allocating)]);
    }
    #[cfg(feature = "peers")]
    {
        let device = candle_core::Device::Cpu;
        let tensor = |from: &[f32]| candle_core::Tensor::from_slice(from, from.len(), &device);
        let (a, b) = (tensor(a).expect("it fits"), tensor(b).expect("it fits"));
        let allocating = move || drop(black_box((black_box(&a) + black_box(&b)).expect("fits")));
        cases.push(Case::cold("candle", allocating.clone()));
        cases.push(Case::recycled("candle", allocating));
    }
    #[cfg(feature = "tch")]
    {
        let (a, b) = (tch::Tensor::from_slice(a), tch::Tensor::from_slice(b));
        let (in_a, in_b, out) = (a.shallow_clone(), b.shallow_clone(), a.zeros_like());
        cases.push(Case::repeated("tch", "into", move || {
            drop(in_a.f_add_out(black_box(&out), black_box(&in_b)).expect("one shape"));
        }));
        cases.push(Case::recycled("tch", move || drop(black_box(black_box(&a) + black_box(&b)))));
    }
    cases
}
