//! The calls whose instructions are counted: calls on eight numbers, views, and the sharing of a
//! call among threads.

use std::ffi::{CStr, c_char, c_void};
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use tenure::{TensorView, TensorViewMut};
use tenure_sys::{
    tnr_binary, tnr_binary_op, tnr_blob, tnr_blob_copy, tnr_blob_release, tnr_blob_view,
    tnr_context, tnr_context_create, tnr_context_options, tnr_context_release, tnr_device,
    tnr_device_kind, tnr_dtype, tnr_engine, tnr_reduce, tnr_reduce_op, tnr_status, tnr_view,
    tnr_view_lend, tnr_view_lend_mut, tnr_view_mut,
};

/// Calls of each subject that are counted together.
pub const ROUNDS: u32 = 100;

/// The function that callgrind watches.
pub const COUNTED_FUNCTION: &str = "tenure_counted_rounds";

const NOTHING: &str = "nothing";
const WHOLE: &str = "tnr_binary of 64 Ki, whole";
const SLICED: &str = "the slices of tnr_binary of 64 Ki";

/// The subject whose instructions are not the named one's own.
pub fn base_of(name: &str) -> &'static str {
    if name == SLICED { WHOLE } else { NOTHING }
}

const COUNT: usize = 8;
const A: [f32; COUNT] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
const B: [f32; COUNT] = [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0];

type Body<'a> = &'a mut dyn FnMut();

#[unsafe(no_mangle)]
#[inline(never)]
fn tenure_counted_rounds(body: Body) {
    for _ in 0..ROUNDS {
        body();
    }
}

/// The subjects' names in the order in which they run; the first is of the one that does nothing.
pub fn names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for_each(&mut |name, _| names.push(name));
    names
}

/// Prints the toolchain, then runs each subject's rounds.
pub fn run_all() {
    println!("{}", toolchain());
    for_each(&mut |_, body| {
        // Once for what happens at a first call alone.
        body();
        tenure_counted_rounds(body);
    });
}

/// Everything that counts depend on, apart from the source.
fn toolchain() -> String {
    unsafe extern "C" {
        fn gnu_get_libc_version() -> *const c_char;
    }
    // SAFETY: takes nothing; the text is NUL-terminated and lives as long as the process.
    let glibc = unsafe { CStr::from_ptr(gnu_get_libc_version()) }.to_string_lossy();
    let info = tenure::build_info();
    // "tenure 0.1.0, g++ 12.2.0, optimized, assertions off, kernels: ...; in use: avx2"
    let compiler = info.split(", ").skip(1).take(3).collect::<Vec<_>>().join(", ");
    let set = info.rsplit("in use: ").next().unwrap_or_default();
    format!("{compiler}, {set}, {}, glibc {glibc}", env!("INSTRUCTIONS_RUSTC"))
}

type Visit<'a> = &'a mut dyn FnMut(&'static str, Body);

fn for_each(visit: Visit) {
    visit(NOTHING, &mut || {
        black_box(0);
    });
    calls_from_rust(visit);
    calls_from_c(visit);
    views(visit);
    dispatch(visit);
}

fn calls_from_rust(visit: Visit) {
    let mut out = [0.0_f32; COUNT];
    visit("add_into, slices", &mut || {
        let out = black_box(&mut out);
        black_box(tenure::ops::add_into(black_box(&A), black_box(&B), out)).expect("one shape");
    });
    let a = TensorView::from_slice(&A, [COUNT]).expect("it fits");
    let b = TensorView::from_slice(&B, [COUNT]).expect("it fits");
    let mut view = TensorViewMut::from_slice(&mut out, [COUNT]).expect("it fits");
    visit("add_into, views", &mut || {
        let out = black_box(&mut view);
        black_box(tenure::ops::add_into(black_box(&a), black_box(&b), out)).expect("one shape");
    });
    visit("add, allocates", &mut || {
        drop(black_box(tenure::ops::add(black_box(&a), black_box(&b))).expect("one shape"));
    });
    visit("&a * &b + &a, built and into views", &mut || {
        let (a, b, out) = (black_box(&a), black_box(&b), black_box(&mut view));
        black_box((a * b + a).eval_into(out)).expect("one shape");
    });
    let square = TensorView::from_slice(&A, [2, 4]).expect("it fits");
    let columns = square.t();
    let mut turned = [0.0_f32; COUNT];
    let mut turned = TensorViewMut::from_slice(&mut turned, [4, 2]).expect("it fits");
    visit("copy_into of a transpose, 4 by 2", &mut || {
        let out = black_box(&mut turned);
        black_box(tenure::ops::copy_into(black_box(&columns), out)).expect("one shape");
    });
    let (side, sums) = ([[0.5_f32; COUNT]; COUNT], &mut [[0.0_f32; COUNT]; COUNT]);
    visit("matmul_into, 8 by 8", &mut || {
        let (a, b) = (black_box(&side), black_box(&side));
        black_box(tenure::linalg::matmul_into(a, b, black_box(sums))).expect("one shape");
    });
}

fn calls_from_c(visit: Visit) {
    let mut out = [0.0_f32; COUNT];
    let (a, b) = (lent(&A), lent(&B));
    let lent_out = lent_mut(&mut out);
    visit("tnr_binary, plain views", &mut || add(null_mut(), &a, &b, &lent_out));
    let mut sum = [0.0_f32];
    let mut lent_sum = lent_mut(&mut sum);
    lent_sum.view.rank = 0;
    visit("tnr_reduce to one sum", &mut || {
        // SAFETY: the views name arrays of this function.
        let status = unsafe {
            tnr_reduce(
                null_mut(),
                tnr_reduce_op::SUM,
                black_box(&a),
                1,
                null(),
                black_box(&lent_sum),
            )
        };
        assert_eq!(status, tnr_status::OK);
    });

    let blobs = [blob(&A), blob(&B), blob(&[0.0; COUNT])];
    let (a, b) = (owned(blobs[0]), owned(blobs[1]));
    let owned_out = tnr_view_mut { view: owned(blobs[2]) };
    visit("tnr_binary, owned views", &mut || add(null_mut(), &a, &b, &owned_out));
    for blob in blobs {
        // SAFETY: each handle is released once.
        assert_eq!(unsafe { tnr_blob_release(blob) }, tnr_status::OK);
    }
}

fn views(visit: Visit) {
    let data = [0_i32; 24];
    visit("from_slice", &mut || {
        black_box(TensorView::from_slice(black_box(&data), black_box([2, 3, 4]))).expect("it fits");
    });
    let view = TensorView::from_slice(&data, [2, 3, 4]).expect("it fits");
    visit("slice", &mut || {
        black_box(black_box(&view).slice(black_box(1), black_box(1)..black_box(3)))
            .expect("inside");
    });
    visit("index", &mut || {
        black_box(black_box(&view).index(black_box(1), black_box(2))).expect("inside");
    });
    visit("permute", &mut || {
        black_box(black_box(&view).permute(black_box(&[2, 0, 1]))).expect("each axis once");
    });
    visit("transpose", &mut || {
        black_box(black_box(&view).transpose(black_box(0), black_box(2))).expect("two axes");
    });
    visit("reshape", &mut || {
        black_box(black_box(&view).reshape(black_box([4, 6]))).expect("as many elements");
    });
    visit("split_at", &mut || {
        black_box(black_box(&view).split_at(black_box(2), black_box(1))).expect("inside");
    });
}

/// The caller's part of sharing a call: what its slices cost beside one run over everything. The
/// other thread is an executor's that never comes, because who takes which slice is chance.
fn dispatch(visit: Visit) {
    // 12 bytes of each: enough to be shared, and few enough to count fast.
    const SHARED: usize = 64 << 10;
    unsafe extern "C" fn never(_: *mut c_void, _: u64) {}
    let options = tnr_context_options {
        struct_size: size_of::<tnr_context_options>() as u64,
        thread_count: 2,
        reserved: 0,
        spawn: Some(never),
        allocate: None,
        deallocate: None,
        user_context: null_mut(),
        release: None,
        engine: tnr_engine::ENVIRONMENT,
        reserved_end: 0,
        device: tnr_device { kind: tnr_device_kind::CPU, index: 0 },
        stream: 0,
    };
    // SAFETY: the options are whole, and the callback uses nothing.
    let context = unsafe { tnr_context_create(&options) };
    assert!(!context.is_null());
    let a = vec![1.0_f32; SHARED];
    let mut sums = vec![0.0_f32; SHARED];
    let (a, out) = (lent(&a), lent_mut(&mut sums));
    visit(WHOLE, &mut || add(null_mut(), &a, &a, &out));
    visit(SLICED, &mut || add(context, &a, &a, &out));
    // SAFETY: the one handle, and no call uses it.
    assert_eq!(unsafe { tnr_context_release(context) }, tnr_status::OK);
}

/// The views' memory lives in the functions above, longer than the subject.
fn add(context: *mut tnr_context, a: &tnr_view, b: &tnr_view, out: &tnr_view_mut) {
    // SAFETY: the views name memory that their maker keeps, and this is the one thread.
    let status = unsafe {
        tnr_binary(context, tnr_binary_op::ADD, black_box(a), black_box(b), null(), black_box(out))
    };
    assert_eq!(status, tnr_status::OK);
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
