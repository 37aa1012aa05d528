//@ error: E0502
//! Values that are lent exclusively are nobody else's to read.
use tenure::CsrViewMut;

fn main() {
    let mut values = [1.0_f32];
    let mut matrix = CsrViewMut::new(1, 1, &[0, 1], &[0], &mut values).unwrap();
    #[cfg(bad)]
    println!("{values:?}");
    matrix.values_mut()[0] = 2.0;
}
