//! Batches, contexts, and devices by their number.

use tenure::{Context, Loader, Position, TensorView, cuda};

use super::{Row, answered, done};

const SAMPLES: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

/// Datasets of few samples, and of one sample repeated many times; no memory is filled.
fn datasets(n: usize, call: impl Fn(TensorView<'static, f32>)) {
    call(TensorView::from_slice(&SAMPLES, [3, 2]).unwrap());
    call(TensorView::from_slice(&[], [0, 2]).unwrap());
    TensorView::from_slice(&SAMPLES, [6]).unwrap().broadcast([n, 6]).into_iter().for_each(&call);
}

/// The first batch of each kind of walk.
fn began(loader: impl Fn() -> tenure::Result<Loader<'static, TensorView<'static, f32>>>) {
    done(loader().and_then(|loader| loader.serial()).map(|mut batches| answered(batches.next())));
    done(loader().and_then(|loader| loader.start()).map(|mut batches| answered(batches.next())));
    let shuffled = || loader().map(|loader| loader.shuffle(1));
    done(shuffled().and_then(|loader| loader.start()).map(|mut batches| answered(batches.next())));
    let first = |loader: Loader<'static, _>| loader.scope(|batches| answered(batches.next()));
    done(shuffled().and_then(first));
}

pub const ROWS: &[Row] = &[
    ("loader.rs", "new", |n| datasets(n, |data| began(|| Loader::new(data, n)))),
    ("loader.rs", "shuffle", |n| {
        datasets(3, |data| began(|| Ok(Loader::new(data, 2)?.shuffle(n as u64))));
    }),
    ("loader.rs", "threads", |n| {
        datasets(3, |data| began(|| Ok(Loader::new(data, 2)?.threads(n))));
        datasets(n, |data| {
            done(Loader::new(data, 1).and_then(|of| of.shuffle(1).threads(n).start()))
        });
    }),
    ("loader.rs", "buffers", |n| {
        datasets(3, |data| began(|| Ok(Loader::new(data, 2)?.buffers(n))));
        datasets(n, |data| {
            done(Loader::new(data, 1).and_then(|of| of.shuffle(1).buffers(n).start()))
        });
    }),
    ("loader.rs", "resume", |n| {
        let number = n as u64;
        for position in [
            Position { seed: number, epoch: 0, batch: 0 },
            Position { seed: 1, epoch: number, batch: 1 },
            Position { seed: 1, epoch: 0, batch: number },
        ] {
            datasets(3, |data| began(|| Ok(Loader::new(data, 2)?.resume(position))));
        }
    }),
    ("context.rs", "with_threads", |n| done(Context::with_threads(n))),
    ("context.rs", "with_executor", |n| done(Context::with_executor(tenure::Task::run, n))),
    ("context.rs", "with_rayon", |n| {
        #[cfg(feature = "rayon")]
        done(Context::with_rayon(n));
        let _ = n;
    }),
    ("context.rs", "threads", |n| done(Context::builder().threads(n).build())),
    ("interop/bytemuck.rs", "from_pods", |n| {
        #[cfg(feature = "bytemuck")]
        for shape in super::shapes(n) {
            done(TensorView::<f32>::from_pods(&[[1.0_f32; 2]; 3], shape));
            done(tenure::TensorViewMut::<f32>::from_pods(&mut [[1.0_f32; 2]; 3], shape));
        }
        let _ = n;
    }),
    ("cuda/device.rs", "new", |n| done(cuda::Device::new(n))),
    ("cuda/launch.rs", "new", |n| answered(cuda::Grid::new([n as u32; 3], [n as u32; 3]))),
    ("cuda/launch.rs", "covering", |n| {
        answered(cuda::Grid::covering([n, 1], [n as u32, 1]));
        answered(cuda::Grid::covering([n, n, n], [1, 2, 3]));
    }),
    ("cuda/launch.rs", "shared_bytes", |n| {
        answered(cuda::Grid::new([1; 3], [1; 3]).shared_bytes(n as u32));
    }),
];
