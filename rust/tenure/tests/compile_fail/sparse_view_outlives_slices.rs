//@ error: E0505
//! A Vec of indices cannot be dropped while a matrix is lent over it.
use tenure::CsrView;

fn main() {
    let (offsets, indices, values) = (vec![0, 1], vec![0], vec![1.0_f32]);
    let matrix = CsrView::new(1, 1, &offsets, &indices, &values).unwrap();
    #[cfg(bad)]
    drop(indices);
    println!("{matrix}");
}
