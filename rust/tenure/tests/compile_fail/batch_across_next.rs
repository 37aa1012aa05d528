//@ error: E0499
//! A batch ends where the program requests the next one, which may take its buffer.
use tenure::{Loader, SharedTensor};

fn main() {
    let data = SharedTensor::from_owner([1, 2, 3, 4], 4).unwrap();
    let mut batches = Loader::new(data, 2).unwrap().shuffle(1).start().unwrap();
    let first = batches.next().unwrap().unwrap();
    #[cfg(not(bad))]
    let first = first.into_owned().unwrap();
    let second = batches.next().unwrap().unwrap();
    #[cfg(bad)]
    let first = first.views();
    println!("{first} {}", second.views());
}
