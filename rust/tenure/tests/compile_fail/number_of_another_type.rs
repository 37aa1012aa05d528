//@ error: E0277
//@ says: cannot be lent as a view of `f32` elements
//@ says: a number is written in the type of the elements: `2.0` beside floats
//! An integer literal with float elements.

fn main() {
    let data = [1.0_f32, 2.0];
    #[cfg(bad)]
    let doubled = tenure::ops::mul(&data, 2);
    #[cfg(not(bad))]
    let doubled = tenure::ops::mul(&data, 2.0);
    println!("{}", doubled.unwrap());
}
