//! Batches: which samples come, from whose memory, and what happens when something goes wrong.
#![expect(clippy::forget_non_drop, reason = "that it does nothing is what is tested")]

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tenure::{
    Batches, Dataset, ErrorKind, Loader, Position, SharedTensor, Tensor, TensorView, TensorViewMut,
};

type Data = SharedTensor<u32>;

/// Samples of two numbers: their index, and ten times it.
fn numbered(count: u32) -> Data {
    let elements: Vec<u32> = (0..count).flat_map(|i| [i, 10 * i]).collect();
    SharedTensor::from_owner(elements, [count as usize, 2]).unwrap()
}

fn loader(count: u32, batch_size: usize) -> Loader<'static, Data> {
    Loader::new(numbered(count), batch_size).unwrap()
}

fn indices_of(view: TensorView<'_, u32>) -> Vec<u32> {
    view.axis_iter(0)
        .unwrap()
        .map(|sample| {
            assert_eq!(sample[[1]], 10 * sample[[0]]);
            sample[[0]]
        })
        .collect()
}

/// The samples of each batch until the epoch ends.
fn epoch(batches: &mut Batches<Data>) -> Vec<Vec<u32>> {
    let mut seen = Vec::new();
    while let Some(batch) = batches.next() {
        let batch = batch.unwrap();
        assert_eq!(batch.len(), batch.views().shape()[0]);
        assert_eq!(batch.position().batch, seen.len() as u64);
        seen.push(indices_of(batch.views()));
    }
    seen
}

fn sorted(batches: &[Vec<u32>]) -> Vec<u32> {
    let mut all = batches.concat();
    all.sort_unstable();
    all
}

#[test]
fn batches_in_order_are_the_dataset_itself() {
    let data = numbered(10);
    let mut batches = Loader::new(data.clone(), 4).unwrap().threads(3).start().unwrap();
    for _ in 0..2 {
        for first in [0, 4, 8] {
            let batch = batches.next().unwrap().unwrap();
            assert_eq!(batch.views().as_ptr(), data.view().slice(0, first..).unwrap().as_ptr());
        }
        assert!(batches.next().is_none());
    }
}

#[test]
fn every_sample_comes_once_in_each_epoch() {
    // Miri takes its time for each sample.
    let configurations = [(1, 1), (10, 3), (5, 9), (64, 64), (100, 7)];
    for &(count, batch_size) in &configurations[..if cfg!(miri) { 2 } else { 5 }] {
        let mut batches = loader(count, batch_size).shuffle(11).start().unwrap();
        let epochs: Vec<_> = (0..3).map(|_| epoch(&mut batches)).collect();
        for batches in &epochs {
            assert!(sorted(batches).into_iter().eq(0..count));
            let (last, others) = batches.split_last().unwrap();
            assert!(others.iter().all(|batch| batch.len() == batch_size));
            assert_eq!(last.len(), (count as usize - 1) % batch_size + 1);
        }
        if count >= 10 {
            assert!(epochs[0] != epochs[1] && epochs[1] != epochs[2] && epochs[0] != epochs[2]);
        }
    }
}

#[test]
fn the_same_batches_for_any_threads_and_buffers() {
    let twice = |mut batches: Batches<Data>| [epoch(&mut batches), epoch(&mut batches)];
    let expected = twice(loader(50, 8).shuffle(3).serial().unwrap());
    for threads in [1, 2, 5] {
        for buffers in [1, 2, 7] {
            let loader = loader(50, 8).shuffle(3).threads(threads).buffers(buffers);
            assert_eq!(twice(loader.start().unwrap()), expected, "{threads} {buffers}");
        }
    }
    let data = numbered(50);
    let scoped = Loader::new(data.view(), 8).unwrap().shuffle(3).threads(2).scope(|batches| {
        let mut seen = Vec::new();
        while let Some(batch) = batches.next() {
            seen.push(indices_of(batch.unwrap().views()));
        }
        seen
    });
    assert_eq!(scoped.unwrap(), expected[0]);
    assert_ne!(twice(loader(50, 8).shuffle(4).serial().unwrap()), expected);
}

#[test]
fn the_last_batch_is_kept_or_dropped() {
    let lens = |loader: Loader<'static, Data>| {
        let expected = loader.batches_per_epoch();
        let mut batches = loader.shuffle(1).start().unwrap();
        let lens: Vec<_> = epoch(&mut batches).iter().map(Vec::len).collect();
        assert_eq!(lens.len() as u64, expected);
        lens
    };
    assert_eq!(lens(loader(10, 4)), [4, 4, 2]);
    assert_eq!(lens(loader(10, 4).drop_last()), [4, 4]);
    assert_eq!(lens(loader(8, 4).drop_last()), [4, 4]);
    assert_eq!(lens(loader(3, 4).drop_last()), []);
    assert_eq!(lens(loader(0, 4)), []);
}

#[test]
fn resuming_gives_what_would_have_come() {
    let whole = |position: Option<Position>| {
        let mut loader = loader(20, 6).shuffle(9).threads(2);
        if let Some(position) = position {
            loader = loader.resume(position);
        }
        loader.start().unwrap()
    };
    // Two epochs, each with its end: what came, and where it would have gone on.
    let mut batches = whole(None);
    let mut rest = Vec::new();
    for _ in 0..10 {
        let position = batches.position();
        let batch = batches.next().map(|batch| indices_of(batch.unwrap().views()));
        rest.push((position, batch));
    }
    for first in 0..rest.len() {
        let mut resumed = whole(Some(rest[first].0));
        for (position, expected) in &rest[first..] {
            assert_eq!(resumed.position(), *position);
            let batch = resumed.next().map(|batch| indices_of(batch.unwrap().views()));
            assert_eq!(batch, *expected);
        }
    }
}

#[test]
fn resuming_goes_also_without_a_copy() {
    let position = Position { seed: 0, epoch: 3, batch: 1 };
    let mut batches = loader(10, 4).resume(position).start().unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert_eq!((batch.position(), indices_of(batch.views())), (position, vec![4, 5, 6, 7]));
}

#[test]
fn arrays_go_in_step() {
    let x = numbered(30);
    let y = SharedTensor::from_owner((0..30).map(f64::from).collect::<Vec<_>>(), 30).unwrap();
    let lists = vec![numbered(30), numbered(30)];
    let mut batches = Loader::new((x, y, lists), 7).unwrap().shuffle(2).threads(2).start().unwrap();
    let mut count = 0;
    while let Some(batch) = batches.next() {
        let batch = batch.unwrap();
        let (x, y, lists) = batch.views();
        let indices = indices_of(x);
        assert!(y.iter().map(|label| *label as u32).eq(indices.iter().copied()));
        assert!(lists.len() == 2 && lists.iter().all(|list| indices_of(*list) == indices));
        count += indices.len();
        let (x, y, lists) = batch.into_owned().unwrap();
        assert_eq!((indices_of(x.view()), y.len()), (indices.clone(), indices.len()));
        assert_eq!(indices_of(lists[1].view()), indices);
    }
    assert_eq!(count, 30);
}

#[test]
fn arrays_out_of_step_are_refused() {
    let message = |refused: Option<tenure::Error>| {
        let error = refused.unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        error.message().to_owned()
    };
    let scalar = SharedTensor::from_owner([1.0], []).unwrap();
    assert_eq!(
        message(Loader::new((numbered(3), scalar), 1).err()),
        "array 1 has no axis to count samples along"
    );
    assert_eq!(
        message(Loader::new(vec![numbered(3), numbered(3), numbered(4)], 1).err()),
        "array 2 has 4 samples but array 0 has 3"
    );
    assert_eq!(
        message(Loader::new(Vec::<Data>::new(), 1).err()),
        "a dataset of no arrays has no samples"
    );
    assert_eq!(
        message(Loader::new(numbered(3), 0).err()),
        "batch_size is 0 but must be at least 1"
    );
    assert_eq!(
        message(loader(3, 1).threads(0).start().err()),
        "threads is 0 but must be at least 1"
    );
    assert_eq!(
        message(loader(3, 1).buffers(0).scope(|_| ()).err()),
        "buffers is 0 but must be at least 1"
    );
    let position = Position { seed: 0, epoch: 0, batch: 4 };
    assert_eq!(
        message(loader(3, 1).resume(position).serial().err()),
        "position.batch is 4 but an epoch has 3 batches"
    );
}

#[test]
fn any_strides_and_rank_are_gathered() {
    let elements: Vec<u32> = (0..60).collect();
    let cube = TensorView::from_slice(&elements, [3, 4, 5]).unwrap();
    // Rows with gaps, reversed samples, samples across memory, single elements.
    let views = [
        cube.slice(2, 1..4).unwrap(),
        cube.flip(0).unwrap(),
        cube.t(),
        cube.index(1, 2).unwrap().index(1, 3).unwrap(),
    ];
    for view in views {
        let mut expected: Vec<_> =
            view.axis_iter(0).unwrap().map(|sample| sample.to_vec()).collect();
        let mut seen = Vec::new();
        let mut batches = Loader::new(view, 2).unwrap().shuffle(5).serial().unwrap();
        while let Some(batch) = batches.next() {
            let batch = batch.unwrap();
            let samples = batch.views();
            seen.extend(samples.axis_iter(0).unwrap().map(|sample| sample.to_vec()));
        }
        assert_ne!(seen.len(), 0);
        seen.sort();
        expected.sort();
        assert_eq!(seen, expected);
    }
}

#[test]
fn forgotten_batches_cost_nothing() {
    for buffers in [1, 3] {
        let mut batches = loader(40, 4).shuffle(1).buffers(buffers).start().unwrap();
        for _ in 0..5 {
            while let Some(batch) = batches.next() {
                mem::forget(batch.unwrap());
            }
        }
        assert!(sorted(&epoch(&mut batches)).into_iter().eq(0..40));
    }
}

#[test]
fn forgotten_memory_is_replaced() {
    let mut batches = loader(12, 4).shuffle(1).buffers(1).start().unwrap();
    for _ in 0..3 {
        while let Some(batch) = batches.next() {
            let owned: Tensor<u32> = batch.unwrap().into_owned().unwrap();
            mem::forget(owned);
        }
    }
    assert!(sorted(&epoch(&mut batches)).into_iter().eq(0..12));
}

#[test]
fn an_owned_batch_is_the_buffer_that_was_lent() {
    let mut batches = loader(12, 5).shuffle(1).buffers(2).start().unwrap();
    let mut kept = Vec::new();
    while let Some(batch) = batches.next() {
        let batch = batch.unwrap();
        let (address, len) = (batch.views().as_ptr(), batch.len());
        let indices = indices_of(batch.views());
        let owned = batch.into_owned().unwrap();
        // The last batch has two samples, and would be a buffer for five.
        assert_eq!(owned.as_ptr() == address, len == 5);
        kept.push((owned, indices));
    }
    // Filling others has not changed them.
    assert!(kept.iter().all(|(owned, indices)| indices_of(owned.view()) == *indices));
    assert!(sorted(&kept.into_iter().map(|kept| kept.1).collect::<Vec<_>>()).into_iter().eq(0..12));
}

#[test]
fn transforms_run_on_every_batch_in_place() {
    let data = numbered(10);
    let transform = |batch: TensorViewMut<'_, u32>| {
        for sample in batch {
            *sample += 1;
        }
        Ok(())
    };
    let check = |mut batches: Batches<Data>| {
        let first = batches.next().unwrap().unwrap().views().to_vec();
        assert_eq!(first, [1, 1, 2, 11, 3, 21, 4, 31]);
        assert_eq!(batches.next().unwrap().unwrap().len(), 4);
        assert_eq!(batches.next().unwrap().unwrap().views().to_vec(), [9, 81, 10, 91]);
        assert!(batches.next().is_none());
    };
    let loader = || Loader::new(data.clone(), 4).unwrap().transform(transform);
    check(loader().threads(3).start().unwrap());
    check(loader().serial().unwrap());
    assert_eq!(data[[0, 1]], 0); // the dataset is as it was
}

/// Fails at index 3, panics at index 5.
fn failing(batch: TensorViewMut<'_, u32>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    match batch[[0, 0]] {
        3 => Err("three".into()),
        5 => panic!("five"),
        _ => Ok(()),
    }
}

#[test]
fn failures_and_panics_take_the_place_of_their_batch() {
    let check = |mut batches: Batches<Data>| {
        for epoch in 0..2 {
            for batch in 0..8 {
                let next = batches.next().unwrap();
                match batch {
                    3 | 5 => {
                        let error = next.err().unwrap();
                        assert_eq!(error.position(), Position { seed: 0, epoch, batch });
                        assert_eq!(error.is_panic(), batch == 5);
                        let text =
                            ["three", "the transform panicked: five"][usize::from(batch == 5)];
                        assert_eq!(
                            error.to_string(),
                            format!("batch {batch} of epoch {epoch}: {text}")
                        );
                        let source = std::error::Error::source(&error).map(ToString::to_string);
                        assert_eq!(source.as_deref(), (batch == 3).then_some("three"));
                    }
                    _ => assert_eq!(u64::from(next.unwrap().views()[[0, 0]]), batch),
                }
            }
            assert!(batches.next().is_none());
        }
    };
    let loader = || loader(8, 1).transform(failing);
    for buffers in [1, 4] {
        check(loader().threads(2).buffers(buffers).start().unwrap());
    }
    check(loader().serial().unwrap());
}

#[test]
fn leaving_early_ends_the_threads() {
    // The dataset is held by the loader's threads: it is dropped once they have ended.
    struct Owner(Vec<u32>, mpsc::Sender<()>);
    impl AsRef<[u32]> for Owner {
        fn as_ref(&self) -> &[u32] {
            &self.0
        }
    }
    impl Drop for Owner {
        fn drop(&mut self) {
            self.1.send(()).unwrap();
        }
    }
    for asked in [0, 1, 3] {
        let (sender, ended) = mpsc::channel();
        let data = SharedTensor::from_owner(Owner((0..100).collect(), sender), 100).unwrap();
        let mut batches = Loader::new(data, 8).unwrap().shuffle(1).threads(3).start().unwrap();
        for _ in 0..asked {
            batches.next().unwrap().unwrap();
        }
        assert!(ended.try_recv().is_err());
        drop(batches);
        ended.try_recv().expect("nobody holds the dataset any more");
    }
}

#[test]
fn dropping_waits_for_the_transform_that_runs() {
    let running = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&running);
    let loader = loader(100, 1).threads(3).transform(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(1));
        counted.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    });
    let mut batches = loader.start().unwrap();
    batches.next().unwrap().unwrap();
    drop(batches);
    assert_eq!(running.load(Ordering::SeqCst), 0);
}

#[test]
fn a_scope_ends_also_when_its_body_panics_or_swaps() {
    let data = numbered(20);
    let panicked = std::panic::catch_unwind(|| {
        Loader::new(data.view(), 2).unwrap().shuffle(1).scope(|batches| {
            batches.next().unwrap().unwrap();
            panic!("in the body");
        })
    });
    assert!(panicked.is_err());

    let mut kept = Loader::new(data.view(), 2).unwrap().serial().unwrap();
    let scope = |kept: &mut Batches<_>| {
        let loader = Loader::new(data.view(), 2).unwrap().shuffle(1);
        loader.scope(|batches| mem::swap(batches, kept)).unwrap();
    };
    scope(&mut kept);
    // Its threads have ended: the filled batches come, and then `None` forever.
    while kept.next().is_some() {}
    assert!(kept.next().is_none() && kept.position().batch < 10);
}

#[test]
fn loaders_cross_threads() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    fn every<D: Dataset>() {
        send::<Loader<D>>();
        send::<Batches<D>>();
    }
    every::<(Data, Vec<TensorView<'static, f32>>)>();
    send::<tenure::BatchError>();
    sync::<tenure::BatchError>();
    let mut batches = loader(10, 3).shuffle(1).start().unwrap();
    let moved = thread::spawn(move || sorted(&epoch(&mut batches)));
    assert!(moved.join().unwrap().into_iter().eq(0..10));
}

#[test]
fn many_threads_and_loaders_at_a_time() {
    let (rounds, count) = if cfg!(miri) { (1, 40) } else { (20, 400) };
    thread::scope(|scope| {
        for seed in 0..3 {
            scope.spawn(move || {
                for round in 0..rounds {
                    let loader = loader(count, 3).shuffle(seed).threads(1 + round % 4);
                    let mut batches = loader.buffers(1 + round % 5).start().unwrap();
                    assert!(sorted(&epoch(&mut batches)).into_iter().eq(0..count));
                    let mut asked = 0;
                    while let Some(Ok(batch)) = batches.next() {
                        match (asked + round) % 5 {
                            0 => mem::forget(batch),
                            1 => mem::forget(batch.into_owned().unwrap()),
                            2 => thread::yield_now(),
                            _ => {}
                        }
                        asked += 1;
                        if asked == 17 * (round + 1) {
                            break; // leave early, with batches in flight
                        }
                    }
                }
            });
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no files")]
fn a_mapped_file_is_a_dataset() {
    let path = std::env::temp_dir().join(format!("tenure-loader-{}", std::process::id()));
    let elements: Vec<u8> =
        (0..1000_u32).flat_map(|i| [i, 10 * i]).flat_map(u32::to_ne_bytes).collect();
    std::fs::write(&path, &elements).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    // SAFETY: no other code knows of the file.
    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    let base = map.as_ptr();
    let data = Data::from_bytes(map, 0, [1000, 2]).unwrap();
    assert_eq!(data.as_ptr().cast(), base);
    let mut batches = Loader::new(data.clone(), 64).unwrap().shuffle(8).start().unwrap();
    assert!(sorted(&epoch(&mut batches)).into_iter().eq(0..1000));
    let mut batches = Loader::new(data, 64).unwrap().start().unwrap();
    assert!(epoch(&mut batches).concat().into_iter().eq(0..1000));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn no_more_is_made_than_an_epoch_has_work_for() {
    let labels = |mut batches: Batches<SharedTensor<i32>>| {
        let mut labels = Vec::new();
        while let Some(batch) = batches.next() {
            labels.extend(batch.unwrap().views().iter().copied());
        }
        labels
    };
    let data = SharedTensor::from_owner((0..100).collect::<Vec<i32>>(), [100]).unwrap();
    let loader = || Loader::new(data.clone(), 30).unwrap().shuffle(4);
    let expected = labels(loader().start().unwrap());
    assert_eq!(expected.len(), 100);
    for count in [usize::MAX, usize::MAX - 1, usize::MAX / 2] {
        assert_eq!(labels(loader().threads(count).serial().unwrap()), expected);
        assert_eq!(labels(loader().buffers(count).serial().unwrap()), expected);
        assert_eq!(labels(loader().threads(count).start().unwrap()), expected);
        assert_eq!(labels(loader().threads(2).buffers(count).start().unwrap()), expected);
        let scoped = loader().threads(count).scope(|batches| batches.batches_per_epoch()).unwrap();
        assert_eq!(scoped, 4);
    }
}

#[test]
fn transforms_borrow_within_a_scope() {
    let data: Vec<u32> = (0..20).collect();
    let (factor, calls) = (3, AtomicUsize::new(0));
    let view = TensorView::from_slice(&data, 20).unwrap();
    let loader = Loader::new(view, 4).unwrap().shuffle(9).threads(2).transform(|mut batch| {
        calls.fetch_add(1, Ordering::Relaxed);
        Ok(tenure::ops::mul_assign(&mut batch, factor)?)
    });
    let total: u32 = loader
        .scope(|batches| {
            let mut total = 0;
            while let Some(batch) = batches.next() {
                total += batch.unwrap().views().iter().sum::<u32>();
            }
            total
        })
        .unwrap();
    assert_eq!(total, 3 * 190);
    assert!(calls.into_inner() >= 5);
}
