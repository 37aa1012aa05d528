//@ error: E0277
//@ says: cannot be sent between threads safely
//! An exclusive owner is dropped on whatever thread releases last.
#[cfg(bad)]
use std::rc::Rc as Counted;
#[cfg(not(bad))]
use std::sync::Arc as Counted;
use tenure::Tensor;

struct Owner(Vec<f32>, #[expect(unused)] Counted<()>);

impl AsMut<[f32]> for Owner {
    fn as_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

fn main() {
    Tensor::<f32>::from_owner_mut(Owner(vec![1.0; 4], Counted::new(())), [4]).unwrap();
}
