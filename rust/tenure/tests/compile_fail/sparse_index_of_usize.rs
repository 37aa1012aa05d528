//@ error: E0277
//@ says: `usize` cannot be an index of a sparse matrix
//! Indices are as other libraries and C have them.
use tenure::CsrView;

fn main() {
    #[cfg(bad)]
    let (offsets, indices) = ([0_usize, 1], [0_usize]);
    #[cfg(not(bad))]
    let (offsets, indices) = ([0_i64, 1], [0_i64]);
    let _ = CsrView::new(1, 1, &offsets, &indices, &[1.0_f32]);
}
