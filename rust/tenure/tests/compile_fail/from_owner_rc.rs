//@ error: E0277
//@ says: `Rc<[f32]>` cannot be sent between threads safely
//! The release of shared memory may run on any thread, so its owner must be able to go there.
#[cfg(bad)]
use std::rc::Rc as Counted;
#[cfg(not(bad))]
use std::sync::Arc as Counted;
use tenure::SharedTensor;

fn main() {
    let owner: Counted<[f32]> = Counted::from([1.0, 2.0]);
    SharedTensor::<f32>::from_owner(owner, [2]).unwrap();
}
