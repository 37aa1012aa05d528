#![forbid(unsafe_code)]
//! Rows of numbers brought to zero mean and unit deviation on a GPU, where there is one, and beside
//! the same by the CPU.
//!
//! `cargo run --release --example cuda`

use tenure::cuda::{Device, Stream};
use tenure::{Axes, Result, Tensor, TensorView};

const SHAPE: [usize; 2] = [512, 1000];

/// By the stream's device: enqueued from the first to the last, and waited for once.
fn on_device(stream: &Stream, table: TensorView<'_, f32>) -> Result<Tensor<f32>> {
    let mut table = stream.upload(table)?;
    let mean = stream.mean(&table, Axes::keep(1))?;
    let deviation = stream.std(&table, Axes::keep(1), 0)?;
    stream.sub_assign(&mut table, &mean)?;
    stream.div_assign(&mut table, &deviation)?;
    stream.download(&table)
}

/// By the CPU: the functions have the names of the stream's methods.
fn on_host(table: TensorView<'_, f32>) -> Result<Tensor<f32>> {
    let mut out = tenure::ops::sub(table, tenure::ops::mean(table, Axes::keep(1))?)?;
    tenure::ops::div_assign(&mut out, tenure::ops::std(table, Axes::keep(1), 0)?)?;
    Ok(out)
}

pub(crate) fn main() -> Result<()> {
    let table = Tensor::from_fn(SHAPE, |[row, col]| ((row * 31 + col * 17) % 101) as f32)?;
    let expected = on_host(table.view())?;

    let stream = match Device::new(0).and_then(Device::stream) {
        Ok(stream) => stream,
        Err(error) => {
            println!("{error}");
            println!("the CPU has normalized {SHAPE:?} alone");
            return Ok(());
        }
    };
    let device = stream.device();
    let (major, minor) = device.capability();
    println!(
        "{device} is {}: compute capability {major}.{minor}, {} multiprocessors, {:.1} GiB",
        device.name(),
        device.multiprocessor_count(),
        device.memory_bytes() as f64 / f64::from(1 << 30),
    );

    let before = tenure::stats();
    let normalized = on_device(&stream, table.view())?;
    let after = tenure::stats();
    println!(
        "{SHAPE:?} normalized: {} kernels enqueued, {} bytes copied, {} waits",
        after.device_launches - before.device_launches,
        after.copied_bytes - before.copied_bytes,
        after.device_waits - before.device_waits,
    );
    let differences = tenure::ops::abs(tenure::ops::sub(&normalized, &expected)?)?;
    let largest = tenure::ops::max_all(&differences)?;
    println!("the largest difference from the CPU is {largest:e}");
    assert!(largest < 1e-5);
    Ok(())
}
