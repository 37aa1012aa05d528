//@ error: E0502
//! No other code reads values that are lent exclusively.
use tenure::CsrViewMut;

fn main() {
    let mut values = [1.0_f32];
    let mut matrix = CsrViewMut::new(1, 1, &[0, 1], &[0], &mut values).unwrap();
    #[cfg(bad)]
    println!("{values:?}");
    matrix.values_mut()[0] = 2.0;
}
