//@ error: E0515
//! What a closure of an update makes for itself is gone when the update is computed.
use tenure::Tensor;

fn main() {
    let mut a = Tensor::from([1.0_f32, 2.0]);
    #[cfg(not(bad))]
    let b = Tensor::from([1.0_f32, 2.0]);
    a.update(|x| {
        #[cfg(bad)]
        let b = Tensor::from([1.0_f32, 2.0]);
        x + &b
    })
    .unwrap();
}
