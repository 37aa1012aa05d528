//! Memory got and given back, with its pages fresh and recycled: with nothing done to it, and
//! written to once.

use std::hint::black_box;
use std::ptr::null_mut;

use bench::Scale;
use bench::subject::{Case, Subject};
use tenure_sys::{tnr_blob_alloc, tnr_blob_data_mut, tnr_blob_release, tnr_status};

/// From 1 to 4 MiB in small steps: there, where large blobs begin, glibc changes its ways too.
const SIZES: [usize; 14] = [
    32,
    512,
    8 << 10,
    64 << 10,
    256 << 10,
    512 << 10,
    1 << 20,
    3 << 19,
    2 << 20,
    3 << 20,
    4 << 20,
    16 << 20,
    64 << 20,
    256 << 20,
];

fn main() {
    let mut subject = Subject::open("alloc");
    let most = match subject.scale() {
        Scale::Smoke => 4 << 20,
        Scale::Quick => 64 << 20,
        Scale::Full => 256 << 20,
    };
    for bytes in SIZES.into_iter().filter(|bytes| *bytes <= most) {
        measure(&mut subject, "allocate", bytes, |_, _| ());
        measure(&mut subject, "allocate and write", bytes, |data, bytes| {
            // SAFETY: `data` has `bytes` bytes, and no other code knows of them.
            unsafe { data.write_bytes(1, bytes) };
        });
    }
    subject.close();
}

fn measure(subject: &mut Subject, operation: &str, bytes: usize, work: fn(*mut u8, usize)) {
    let tenure = move || by_tenure(bytes, work);
    let glibc = move || by_malloc(bytes, work);
    let cases = vec![
        Case::cold("tenure", tenure),
        Case::recycled("tenure", tenure),
        Case::cold("malloc", glibc),
        Case::recycled("malloc", glibc),
    ];
    subject.measure(operation, bytes as u64, 1, bytes as u64, cases);
}

fn by_tenure(bytes: usize, work: fn(*mut u8, usize)) {
    // SAFETY: the handle is released once, after the last use of its memory.
    unsafe {
        let blob = tnr_blob_alloc(null_mut(), bytes);
        assert!(!blob.is_null(), "no {bytes} bytes");
        work(black_box(tnr_blob_data_mut(blob)).cast(), bytes);
        assert_eq!(tnr_blob_release(blob), tnr_status::OK);
    }
}

fn by_malloc(bytes: usize, work: fn(*mut u8, usize)) {
    // SAFETY: freed once, after its last use.
    unsafe {
        let data = libc::malloc(bytes);
        assert!(!data.is_null(), "no {bytes} bytes");
        work(black_box(data).cast(), bytes);
        libc::free(black_box(data));
    }
}
