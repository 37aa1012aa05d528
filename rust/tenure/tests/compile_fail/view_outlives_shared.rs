//@ error: E0505
//! Other holders may keep the memory alive, but a view borrows the holder that made it.
use tenure::SharedTensor;

fn main() {
    let first = SharedTensor::<f32>::from_arc([1.0, 2.0].into(), [2]).unwrap();
    let second = first.clone();
    let view = first.view();
    #[cfg(bad)]
    drop(first);
    #[cfg(not(bad))]
    drop(second);
    println!("{view}");
}
