//@ error: E0499
//! A view cannot be written while its exclusive iterator is in use.
use tenure::TensorViewMut;

fn main() {
    let mut data = [1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    for element in view.iter_mut() {
        *element += 1.0;
        #[cfg(bad)]
        view.fill(0.0);
    }
    #[cfg(not(bad))]
    view.fill(0.0);
}
