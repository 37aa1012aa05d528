//@ error: E0505
//! A matrix cannot be taken apart while a view of it is in use.
use tenure::CsrMatrix;

fn main() {
    let matrix = CsrMatrix::from_vecs(1, 1, vec![0, 1], vec![0], vec![1.0_f32]).unwrap();
    let view = matrix.view();
    #[cfg(bad)]
    let parts = matrix.into_parts();
    println!("{view}");
}
