//@ error: E0597
//! Threads that may outlive the data take none that is borrowed; those of a scope do.
use tenure::{Loader, TensorView};

fn main() {
    let data = vec![1, 2, 3, 4];
    let view = TensorView::from_slice(&data, 4).unwrap();
    let loader = Loader::new(view, 2).unwrap().shuffle(1);
    #[cfg(bad)]
    let batches = loader.start().unwrap();
    #[cfg(not(bad))]
    loader.scope(|batches| batches.next().is_some()).unwrap();
}
