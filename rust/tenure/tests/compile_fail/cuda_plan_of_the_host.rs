//@ error: E0308
//! A stream runs plans that were made for a device.
use tenure::Plan;
use tenure::cuda::{Stream, Tensor};

fn run(stream: &Stream, x: &Tensor<f32>) -> tenure::Result<Tensor<f32>> {
    #[cfg(not(bad))]
    let plan = stream.plan((x,), |(x,)| x * 2.0)?;
    #[cfg(bad)]
    let plan = Plan::new((&[1.0_f32, 2.0],), |(x,)| x * 2.0)?;
    stream.run_plan(&plan, (x,))
}

fn main() {
    let _ = (run, Plan::<'_, (f32,), f32>::shape);
}
