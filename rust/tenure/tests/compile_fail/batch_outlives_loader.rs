//@ error: E0505
//! A batch is lent by its loader, and does not outlive it.
use tenure::{Loader, SharedTensor};

fn main() {
    let data = SharedTensor::from_owner([1, 2, 3, 4], 4).unwrap();
    let mut batches = Loader::new(data, 2).unwrap().shuffle(1).start().unwrap();
    let batch = batches.next().unwrap().unwrap();
    #[cfg(bad)]
    drop(batches);
    println!("{}", batch.views());
}
