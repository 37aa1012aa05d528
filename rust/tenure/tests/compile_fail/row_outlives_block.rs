//@ error: E0597
//! The views an exclusive iterator gives end with the memory it runs over.
use tenure::TensorViewMut;

fn main() {
    let mut last;
    #[cfg(not(bad))]
    let mut data = [1.0_f32; 4];
    {
        #[cfg(bad)]
        let mut data = [1.0_f32; 4];
        let view = TensorViewMut::from_slice(&mut data, [2, 2]).unwrap();
        last = view.index(0, 1).unwrap();
    }
    last.fill(0.0);
}
