//@ error: E0502
//! The owner of memory lent exclusively cannot even read it while the view is in use.
use tenure::TensorViewMut;

fn main() {
    let mut data = vec![1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    #[cfg(bad)]
    println!("{}", data.len());
    view.fill(0.0);
    #[cfg(not(bad))]
    println!("{}", data.len());
}
