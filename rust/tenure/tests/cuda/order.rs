//! Streams, threads and ends: work that is still to come when others use its memory or end it.

use std::thread;

use tenure::Result;
use tenure::cuda::{Stream, Tensor};

use crate::{alone, stream};

/// Elements of a tensor; Miri takes its time for each.
const COUNT: usize = if cfg!(miri) { 10 } else { 1000 };

fn fills(stream: &Stream, count: usize) -> Result<Tensor<f32>> {
    let mut tensor = stream.zeros(COUNT)?;
    for value in 0..count {
        stream.fill(&mut tensor, value as f32)?;
    }
    Ok(tensor)
}

#[test]
fn two_streams_on_one_tensor() {
    let one = stream!();
    let two = one.device().stream().unwrap();
    let mut tensor = fills(&one, 20).unwrap();
    for value in [1.0, 2.0, 3.0] {
        // Each comes after what the other has got.
        one.fill(&mut tensor.view_mut().slice(0, ..COUNT / 2).unwrap(), value).unwrap();
        let copy = two.to_tensor(&tensor).unwrap();
        one.fill(&mut tensor, 0.0).unwrap();
        let expected = if value == 1.0 { 19.0 } else { 0.0 };
        let copied = one.to_vec(&copy).unwrap();
        assert!(copied[..COUNT / 2].iter().all(|&element| element == value));
        assert!(copied[COUNT / 2..].iter().all(|&element| element == expected));
    }
    two.follow(&one).unwrap();
    two.wait().unwrap();
}

#[test]
fn memory_ends_after_the_work_on_it() {
    let one = stream!();
    let two = one.device().stream().unwrap();
    let mut results = Vec::new();
    for value in 0..20 {
        let tensor = one.full(COUNT, value).unwrap();
        // Read by another stream than the one in whose order it ends, and dropped at once.
        results.push(two.to_tensor(&tensor).unwrap());
        drop(tensor);
        // Likely to get the same memory.
        one.full(COUNT, -1).unwrap();
    }
    for (value, result) in (0..).zip(&results) {
        assert!(two.to_vec(result).unwrap().iter().all(|&element| element == value));
    }
    std::mem::forget(one.full(10, 1_u8).unwrap());
}

#[test]
fn tensors_outlive_their_stream() {
    let stream = stream!();
    let other = stream.device().stream().unwrap();
    let tensor = fills(&stream, 3).unwrap();
    drop(stream);
    assert_eq!(other.to_vec(tensor.slice(0, ..2).unwrap()).unwrap(), [2.0; 2]);
}

#[test]
fn threads_share_a_stream_and_tensors() {
    let stream = stream!();
    let shared = stream.upload(&[1, 2, 3, 4]).unwrap();
    let count = if cfg!(miri) { 2 } else { 50 };
    thread::scope(|scope| {
        for value in 0..4 {
            let (stream, shared) = (&stream, &shared);
            scope.spawn(move || {
                let own = stream.device().stream().unwrap();
                for _ in 0..count {
                    let mut mine = own.full([3, 4], value).unwrap();
                    own.copy_into(shared, &mut mine.view_mut().index(0, 1).unwrap()).unwrap();
                    let expected = [[value; 4], [1, 2, 3, 4], [value; 4]].concat();
                    assert_eq!(stream.to_vec(&mine).unwrap(), expected);
                }
            });
        }
    });
    // Two halves written by two threads, on streams of their own.
    let mut tensor = stream.zeros::<i32>([100, 2]).unwrap();
    let (mut left, mut right) = tensor.view_mut().split_at(1, 1).unwrap();
    thread::scope(|scope| {
        let stream = &stream;
        scope.spawn(move || stream.device().stream().unwrap().fill(&mut left, 1).unwrap());
        scope.spawn(move || stream.device().stream().unwrap().fill(&mut right, 2).unwrap());
    });
    assert_eq!(stream.to_vec(&tensor).unwrap(), [1, 2].repeat(100));
    // Made on one thread, dropped on another.
    thread::spawn(move || drop(tensor)).join().unwrap();
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn n_operations_wait_not_once() {
    let stream = stream!();
    if !alone("order::n_operations_wait_not_once", "RUST_TEST_THREADS", "1") {
        return;
    }
    let a = stream.upload(&vec![0.5_f32; 10_000]).unwrap();
    let before = tenure::stats();
    for _ in 0..10 {
        let b = stream.exp(&a).unwrap();
        let c = stream.add(&b, 1.0).unwrap();
        let d = stream.fma(&c, 2.0, &a).unwrap();
        let truths = stream.lt(&d, &c).unwrap();
        let chosen = stream.select(&truths, &d, 0.0).unwrap();
        stream.sum(&chosen, 0).unwrap();
        stream.cast::<f64, _>(&chosen).unwrap();
    }
    let after = tenure::stats();
    assert!(after.device_launches >= before.device_launches + 70);
    assert_eq!(after.device_waits, before.device_waits);
    assert_eq!(after.copied_bytes, before.copied_bytes);

    stream.to_vec(&a).unwrap();
    let copied = tenure::stats();
    assert_eq!(copied.device_waits, after.device_waits + 1);
    assert_eq!(copied.copied_bytes, after.copied_bytes + 40_000);
    stream.upload(&[1.0_f32; 100]).unwrap();
    assert_eq!(tenure::stats().copied_bytes, copied.copied_bytes + 400);
    assert_eq!(tenure::stats().device_waits, copied.device_waits + 1);
}
