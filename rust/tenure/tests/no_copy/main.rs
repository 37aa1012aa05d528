//! Proof from outside that nothing is copied: every zero-copy claim of the crate and of the C ABI
//! on 64 MiB, watched by a preloaded library that counts what the process allocates and copies,
//! and by the kernel's own count of resident memory and page faults. The copying constructors are
//! measured the same way, to show that a copy is seen.
#![cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]

mod abi;
mod hold;
mod lend;
mod neighbours;
mod operate;
mod probe;
#[path = "../sanitizer/mod.rs"]
mod sanitizer;

use probe::Probe;

/// Builds the preloaded library and runs the claims below it, in a process of their own.
#[test]
fn nothing_is_copied() {
    if sanitizer::owns_malloc() {
        println!("skipped: the sanitizer's malloc hides what the probe counts");
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "claims", "--test-threads=1", "--nocapture"])
        .env("LD_PRELOAD", probe::build())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "the claims did not run: {said}");
}

#[test]
#[ignore = "runs below the probe, started by nothing_is_copied"]
fn claims() {
    // First calls allocate: tables grow, pages of code are mapped.
    for probe in [Probe::rehearsal(), Probe::performance()] {
        lend::claims(&probe);
        hold::claims(&probe);
        operate::claims(&probe);
        neighbours::claims(&probe);
        abi::claims(&probe);
        controls(&probe);
    }
}

/// Positive controls: calls that copy, and say so in their names, are seen by every means that the
/// claims rely on.
fn controls(probe: &Probe) {
    let data = probe.data();
    let shape = [probe.side, probe.side];
    probe.copies("Tensor::copy_from_slice", || {
        tenure::Tensor::copy_from_slice(&data, shape).unwrap()
    });
    let tensor = tenure::Tensor::from_vec(data, shape).unwrap();
    probe.copies("Tensor::to_vec", || tensor.to_vec());
    probe.copies("Tensor::to_tensor", || tensor.to_tensor().unwrap());
    probe.copies("TensorView::to_vec", || tensor.view().t().to_vec());
    probe.copies("tnr_blob_copy", || abi::copy_of(&tensor));
    // The standard library's own copy is no business of our counter, but memcpy it is.
    let data = probe.data();
    let (_copy, cost) = probe.measure(|| data.clone());
    assert!(!probe.enforces || cost.copied >= probe.size_bytes(), "Vec::clone: {cost:?}");
    // A result is allocated memory and no copy.
    tenure::trim();
    let before = tenure::stats().copied_bytes;
    let (_sum, cost) = probe.measure(|| tenure::ops::add(&tensor, &tensor).unwrap());
    assert!(!probe.enforces || cost.allocated >= probe.size_bytes(), "add: {cost:?}");
    drop(tensor.to_csr().unwrap());
    assert_eq!(tenure::stats().copied_bytes, before, "add and to_csr");
    recycles(probe, &tensor);
}

/// The second result takes the memory of the first: nothing is allocated, no page is touched for
/// the first time.
fn recycles(probe: &Probe, tensor: &tenure::Tensor<f32>) {
    drop(tenure::ops::add(tensor, tensor).unwrap());
    probe.recycles("add", || tenure::ops::add(tensor, tensor).unwrap());
    assert!(!probe.enforces || tenure::stats().cached_bytes >= probe.size_bytes() as u64);
    tenure::trim();
    assert_eq!(tenure::stats().cached_bytes, 0);
}
