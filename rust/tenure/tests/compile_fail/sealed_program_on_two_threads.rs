//@ error: E0499
//! A sealed program has memory for one run: each thread seals one of its own.
use tenure::{Program, Tensor};

fn main() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x,), x * 2.0)
    })
    .unwrap();
    let x = Tensor::from([1.0_f32, 2.0]);
    let (mut a, mut b) = ([0.0_f32; 2], [0.0_f32; 2]);
    let mut sealed = program.seal((&x,), &mut a).unwrap();
    #[cfg(not(bad))]
    let mut other = program.seal((&x,), &mut b).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| sealed.run_into((&x,), &mut a).unwrap());
        #[cfg(not(bad))]
        scope.spawn(|| other.run_into((&x,), &mut b).unwrap());
        #[cfg(bad)]
        scope.spawn(|| sealed.run_into((&x,), &mut b).unwrap());
    });
}
