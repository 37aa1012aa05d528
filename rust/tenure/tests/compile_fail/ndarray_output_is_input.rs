//@ error: E0502
//@ feature: ndarray
//! An array that is an input is no output at the same time.
fn main() {
    let mut array = ndarray::Array2::<f32>::zeros((2, 3));
    #[cfg(bad)]
    let _ = tenure::ops::add_into(&array, &array, &mut array);
    #[cfg(not(bad))]
    let _ = tenure::ops::add_assign(&mut array, 1.0);
}
