//! Batches that are copied while work on those before them goes on.
#![expect(clippy::forget_non_drop, reason = "that it does nothing is what is tested")]

use std::mem;
use std::panic::{self, AssertUnwindSafe};

use tenure::cuda::{Loader, Stream};
use tenure::{AsView, Element, Error, ErrorKind, Result, Tensor, TensorView};

use crate::{alone, has_fake_driver, stream};

/// Samples of three numbers, which differ from each other.
fn numbered(count: usize) -> Tensor<i32> {
    let elements = (0..3 * count as i32).map(|i| i * 7 - 50).collect();
    Tensor::from_vec(elements, [count, 3]).unwrap()
}

/// The elements of all batches of a source, one after the other, by work that is only enqueued.
fn gathered<T: Element>(
    stream: &Stream,
    loader: &mut Loader<T>,
    source: impl IntoIterator<Item: AsView<T>>,
) -> Result<Vec<T>> {
    let mut batches = loader.batches(source);
    let mut kept = Vec::new();
    while let Some(batch) = batches.next() {
        kept.push(stream.to_tensor(batch?)?);
    }
    let kept: Vec<_> = kept.iter().map(|batch| stream.to_vec(batch)).collect::<Result<_>>()?;
    Ok(kept.concat())
}

#[test]
fn batches_are_those_of_the_source() {
    let stream = stream!();
    for (samples, size, depth) in [(0, 4, 2), (1, 4, 2), (40, 4, 2), (41, 4, 3), (9, 1, 4)] {
        let data = numbered(samples);
        let mut loader = Loader::new(stream.device(), [size, 3], depth).unwrap();
        for _ in 0..2 {
            let got = gathered(&stream, &mut loader, data.chunks(0, size).unwrap()).unwrap();
            assert_eq!(got, data.to_vec(), "{samples} samples, {size} at a time");
        }
    }
}

#[test]
fn views_of_a_source_may_have_any_strides() {
    let stream = stream!();
    let data = numbered(30);
    let columns = data.view().t().slice(1, 5..).unwrap();
    let mut loader = Loader::new(stream.device(), [2, 25], 2).unwrap();
    let got = gathered(&stream, &mut loader, columns.chunks(0, 2).unwrap()).unwrap();
    assert_eq!(got, columns.to_vec());
    // Truth values of all bytes are 0 or 1 on the device.
    let bools: Vec<_> = (0..100).map(tenure::Bool8::from_byte).collect();
    let bools = TensorView::from_slice(&bools, 100).unwrap();
    let mut loader = Loader::new(stream.device(), 30, 2).unwrap();
    let got = gathered(&stream, &mut loader, bools.chunks(0, 30).unwrap()).unwrap();
    assert!(got.iter().map(|truth| truth.to_byte()).eq((0..100).map(|byte| byte.min(1))));
}

#[test]
fn work_of_other_streams_is_behind_its_copy_too() {
    let one = stream!();
    let streams = [one.device().stream().unwrap(), one.device().stream().unwrap(), one];
    let data = numbered(90);
    let mut loader = Loader::new(streams[0].device(), [4, 3], 2).unwrap();
    let mut sums = streams[2].zeros::<i64>([3]).unwrap();
    let mut batches = loader.batches(data.chunks(0, 4).unwrap());
    let mut turn = 0;
    while let Some(batch) = batches.next() {
        let stream = &streams[turn % 3];
        let batch = batch.unwrap();
        stream.add_assign(&mut sums, &stream.sum(batch, 0).unwrap()).unwrap();
        turn += 1;
    }
    assert_eq!(turn, 23);
    let expected = tenure::ops::sum(&data, 0).unwrap().to_vec();
    assert_eq!(streams[0].to_vec(&sums).unwrap(), expected);
}

#[test]
fn buffers_are_filled_and_submitted_one_by_one() {
    let stream = stream!();
    let mut loader = Loader::<f32>::new(stream.device(), [2, 2], 2).unwrap();
    assert_eq!((loader.shape(), loader.depth()), (&[2, 2][..], 2));
    assert!(loader.next().is_none());
    for value in [1.0, 2.0] {
        let mut buffer = loader.buffer().unwrap();
        buffer.view_mut().fill(value);
        buffer.submit().unwrap();
    }
    let error = loader.buffer().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().starts_with("2 batches are submitted"), "{error}");
    assert_eq!(stream.to_vec(loader.next().unwrap()).unwrap(), [1.0; 4]);
    // The memory of the batch that was lent is free, and holds the values of the last write.
    let mut buffer = loader.buffer().unwrap();
    assert_eq!(buffer.view_mut()[[1, 1]], 1.0);
    buffer.view_mut()[[0, 0]] = 3.0;
    buffer.submit_first(1).unwrap();
    assert_eq!(stream.to_vec(loader.next().unwrap()).unwrap(), [2.0; 4]);
    let last = loader.next().unwrap();
    assert_eq!(last.shape(), [1, 2]);
    assert_eq!(stream.to_vec(last).unwrap(), [3.0, 1.0]);
    assert!(loader.next().is_none());
}

#[test]
fn refusals_name_the_value_and_the_bound() {
    let stream = stream!();
    let device = stream.device();
    let refused = |result: Result<Loader<f32>>| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        error.message().to_owned()
    };
    assert_eq!(refused(Loader::new(device, 4, 1)), "depth is 1 but must be at least 2");
    assert_eq!(
        refused(Loader::new(device, [0; 0], 2)),
        "the shape has no axis to count samples along"
    );
    refused(Loader::new(device, [1; 9], 2));
    let mut loader = Loader::<f32>::new(device, [4, 2], 2).unwrap();
    let error = loader.buffer().unwrap().submit_first(5).unwrap_err();
    assert_eq!(error.message(), "a batch has 5 samples but the loader has room for 4");
    for shape in [&[5, 2][..], &[4, 3], &[2], &[]] {
        let wrong = Tensor::<f32>::zeros(shape).unwrap();
        let mut batches = loader.batches([&wrong]);
        let error = batches.next().unwrap().unwrap_err();
        let expected = format!(
            "a batch has shape {shape:?} but the loader's is [4, 2], of which axis 0 may be shorter"
        );
        assert_eq!((error.kind(), error.message()), (ErrorKind::InvalidArgument, &expected[..]));
        assert!(batches.next().is_none());
    }
}

#[test]
fn an_error_of_the_source_comes_after_the_batches_before_it() {
    let stream = stream!();
    let mut loader = Loader::<u8>::new(stream.device(), 2, 3).unwrap();
    let mut calls = 0;
    let mut batches = loader.batches_by(|mut out| {
        calls += 1;
        if calls == 3 {
            return Err("no more".into());
        }
        out.fill(calls);
        Ok::<_, Box<dyn std::error::Error>>(2)
    });
    for value in [1, 2] {
        assert_eq!(stream.to_vec(batches.next().unwrap().unwrap()).unwrap(), [value; 2]);
    }
    assert_eq!(batches.next().unwrap().unwrap_err().to_string(), "no more");
    assert!(batches.next().is_none());
    assert!(batches.next().is_none());
    assert_eq!(calls, 3);
    // More samples than there is room for are none that were written.
    let mut batches = loader.batches_by(|_| Ok::<_, Error>(3));
    let error = batches.next().unwrap().unwrap_err();
    assert_eq!(error.message(), "a batch has 3 samples but the loader has room for 2");
}

#[test]
fn what_is_dropped_or_forgotten_leaves_the_loader_as_it_was() {
    let stream = stream!();
    let data = numbered(20);
    let mut loader = Loader::new(stream.device(), [4, 3], 3).unwrap();
    loader.buffer().unwrap().view_mut().fill(-1);
    mem::forget(loader.buffer().unwrap());
    let mut batches = loader.batches(data.chunks(0, 4).unwrap());
    batches.next().unwrap().unwrap();
    drop(batches);
    let mut batches = loader.batches(data.chunks(0, 4).unwrap());
    batches.next().unwrap().unwrap();
    mem::forget(batches);
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        let mut calls = 0;
        let mut batches = loader.batches_by(|mut out| {
            calls += 1;
            out.fill(calls);
            if calls == 2 { panic!("while it is filled") } else { Ok::<_, Error>(4) }
        });
        batches.next().unwrap().unwrap();
    }));
    assert!(panicked.is_err());
    // Nothing of all that is among the next batches.
    let got = gathered(&stream, &mut loader, data.chunks(0, 4).unwrap()).unwrap();
    assert_eq!(got, data.to_vec());
}

#[test]
fn loaders_end_with_copies_and_work_to_come() {
    let stream = stream!();
    let data = numbered(40);
    let mut kept = Vec::new();
    for taken in 0..6 {
        let mut loader = Loader::new(stream.device(), [4, 3], 3).unwrap();
        let mut batches = loader.batches(data.chunks(0, 4).unwrap());
        for _ in 0..taken {
            kept.push((stream.neg(batches.next().unwrap().unwrap()).unwrap(), taken));
        }
        drop(batches);
        if taken % 2 == 0 { drop(loader) } else { mem::forget(loader) }
    }
    let expected = tenure::ops::neg(&data).unwrap().to_vec();
    let mut at = 0;
    for (index, (batch, taken)) in kept.iter().enumerate() {
        at = if index > 0 && kept[index - 1].1 == *taken { at + 12 } else { 0 };
        assert_eq!(stream.to_vec(batch).unwrap(), expected[at..at + 12]);
    }
}

#[test]
fn a_loader_goes_to_another_thread() {
    let stream = stream!();
    let data = numbered(20);
    let mut loader = Loader::new(stream.device(), [4, 3], 2).unwrap();
    let mut buffer = loader.buffer().unwrap();
    buffer.view_mut().fill(1);
    buffer.submit().unwrap();
    let got = std::thread::scope(|scope| {
        let on = scope.spawn(|| {
            assert_eq!(stream.to_vec(loader.next().unwrap()).unwrap(), [1; 12]);
            gathered(&stream, &mut loader, data.chunks(0, 4).unwrap()).unwrap()
        });
        on.join().unwrap()
    });
    assert_eq!(got, data.to_vec());
}

#[test]
fn it_waits_for_its_memory_alone() {
    const NAME: &str = "loader::it_waits_for_its_memory_alone";
    let stream = stream!();
    if !alone(NAME, "RUST_TEST_THREADS", "1") {
        return;
    }
    let waits = || tenure::stats().device_waits;
    let data = numbered(40);
    for (count, depth) in [(1_usize, 2_usize), (10, 2), (10, 3), (2, 4)] {
        let part = data.slice(0, ..4 * count).unwrap();
        let mut before = waits();
        let mut loader = Loader::new(stream.device(), [4, 3], depth).unwrap();
        let mut sums = stream.zeros::<i64>([3]).unwrap();
        let copied = tenure::stats().copied_bytes;
        assert_eq!(waits(), before);
        let mut batches = loader.batches(part.chunks(0, 4).unwrap());
        while let Some(batch) = batches.next() {
            stream.add_assign(&mut sums, &stream.sum(batch.unwrap(), 0).unwrap()).unwrap();
        }
        // Once for each time that memory is filled again, also where there is nothing more to fill
        // it with.
        assert_eq!(waits() - before, (count + 1).saturating_sub(depth) as u64);
        assert_eq!(tenure::stats().copied_bytes - copied, 48 * count as u64);
        before = waits();
        drop(loader);
        assert_eq!(waits() - before, depth as u64);
        assert_eq!(stream.to_vec(&sums).unwrap(), tenure::ops::sum(part, 0).unwrap().to_vec());
    }
}

/// The places in the log of each batch's copy and of the work on it.
fn places(log: &str, addresses: &[usize], batch_count: usize) -> Vec<[usize; 2]> {
    let lines: Vec<&str> = log.lines().collect();
    let find = |wanted: String, number: usize| {
        let mut found = lines.iter().enumerate().filter(|(_, line)| line.starts_with(&wanted));
        found.nth(number).unwrap_or_else(|| panic!("no {wanted} {number} in {log}")).0
    };
    let depth = addresses.len();
    (0..batch_count)
        .map(|batch| {
            let copy = find(format!("copy_in {} ", addresses[batch % depth]), batch / depth);
            [copy, find("kernel tenure_binary".to_owned(), batch)]
        })
        .collect()
}

#[test]
fn copies_go_on_beside_the_work_on_batches_before() {
    const NAME: &str = "loader::copies_go_on_beside_the_work_on_batches_before";
    const COUNT: usize = 60;
    let stream = stream!();
    let path = std::env::temp_dir().join(format!("tenure_loader_{}.log", std::process::id()));
    if !has_fake_driver() || !alone(NAME, "TENURE_FAKE_CUDA_LOG", path.to_str().unwrap()) {
        return;
    }
    let path = std::env::var("TENURE_FAKE_CUDA_LOG").unwrap();
    let data = numbered(COUNT);
    let mut loader = Loader::new(stream.device(), [1, 3], 2).unwrap();
    let mut sum = stream.zeros::<i32>([1, 3]).unwrap();
    let (mut addresses, mut batches) = (Vec::new(), loader.batches(data.chunks(0, 1).unwrap()));
    while let Some(batch) = batches.next() {
        let batch = batch.unwrap();
        addresses.push(batch.as_ptr().addr());
        stream.add_assign(&mut sum, batch).unwrap();
    }
    stream.wait().unwrap();
    let log = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(addresses[..2], addresses[2..4]);
    let places = places(&log, &addresses[..2], COUNT);
    for (batch, [copy, work]) in places.iter().enumerate() {
        assert!(copy < work, "batch {batch}: {log}");
        // The memory is written again behind the work on it.
        assert!(batch + 2 >= COUNT || *work < places[batch + 2][0], "batch {batch}: {log}");
    }
    // And neither of the two waits for the other's batch: both orders are met.
    let before = places.windows(2).filter(|two| two[1][0] < two[0][1]).count();
    assert!((5..COUNT - 5).contains(&before), "{before} copies before the work: {log}");
}

/// Gathers twice; says of the first time whether that went well.
fn gathers_again(stream: &Stream) -> Result<()> {
    let data = numbered(40);
    let run = || {
        let mut loader = Loader::new(stream.device(), [4, 3], 2)?;
        let first = gathered(stream, &mut loader, data.chunks(0, 4)?);
        // The loader goes on after a failure.
        let again = gathered(stream, &mut loader, data.chunks(0, 4)?)?;
        assert_eq!(again, data.to_vec());
        first
    };
    run().map(|got| assert_eq!(got, data.to_vec()))
}

#[test]
fn each_entry_point_may_fail() {
    const NAME: &str = "loader::each_entry_point_may_fail";
    let stream = stream!();
    if !has_fake_driver() {
        return;
    }
    // The flag says whether the loader reports the failure or works without the call.
    let failures = [
        ("cuStreamCreate:2", true), // the first is the test's own
        ("cuStreamCreate:3", true),
        ("cuMemHostAlloc:1", true),
        ("cuMemHostAlloc:2", true),
        ("cuMemAllocAsync:2", false),
        ("cuLaunchKernel:1", true),
        ("cuMemcpyHtoDAsync:1", true),
        ("cuMemcpyHtoDAsync:5", true),
        ("cuEventCreate:1", false),
        ("cuEventCreate:2", false),
        ("cuEventRecord:1", false),
        ("cuEventRecord:2", false),
        ("cuStreamWaitEvent:1", true),
        ("cuStreamWaitEvent:2", false),
        ("cuEventSynchronize:1", true),
        ("cuEventSynchronize:4", true),
        ("cuEventQuery:1", false),
        ("cuMemFreeAsync:1", false),
        ("cuStreamSynchronize:1", true),
        ("cuMemFreeHost:1", false),
        ("cuEventDestroy:1", false),
        ("cuStreamDestroy:1", false),
        ("cuCtxPushCurrent:5", true),
    ];
    for (failure, _) in failures {
        if !alone(NAME, "TENURE_FAKE_CUDA_FAIL", failure) {
            continue;
        }
        let failure = std::env::var("TENURE_FAKE_CUDA_FAIL").unwrap();
        let (_, is_told) = failures.into_iter().find(|(name, _)| *name == failure).unwrap();
        let told = gathers_again(&stream);
        assert_eq!(told.is_err(), is_told, "{failure}: {told:?}");
        if let Err(error) = told {
            assert_eq!(error.kind(), ErrorKind::DeviceError, "{failure}: {error}");
        }
        gathers_again(&stream).unwrap();
        return;
    }
}

#[test]
fn memory_that_is_not_there_is_told() {
    const NAME: &str = "loader::memory_that_is_not_there_is_told";
    let stream = stream!();
    if !has_fake_driver() || !alone(NAME, "TENURE_FAKE_CUDA_FAIL", "cuMemAllocAsync") {
        return;
    }
    let error = Loader::<f32>::new(stream.device(), 4, 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
}

#[test]
fn a_device_that_fails_ends_the_batches() {
    const NAME: &str = "loader::a_device_that_fails_ends_the_batches";
    let stream = stream!();
    let failure = "cuEventSynchronize:3:700";
    if !has_fake_driver() || !alone(NAME, "TENURE_FAKE_CUDA_FAIL", failure) {
        return;
    }
    let data = numbered(40);
    let mut loader = Loader::new(stream.device(), [4, 3], 2).unwrap();
    let mut batches = loader.batches(data.chunks(0, 4).unwrap());
    let mut seen = 0;
    let error = loop {
        match batches.next().unwrap() {
            Ok(_) => seen += 1,
            Err(error) => break error,
        }
    };
    assert_eq!((seen, error.kind()), (4, ErrorKind::DeviceError), "{error}");
    assert!(batches.next().is_none());
    let error = loader.buffer().and_then(|buffer| buffer.submit()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeviceError);
}
