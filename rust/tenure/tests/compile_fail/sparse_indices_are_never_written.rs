//@ error: E0594
//! Indices that were checked cannot change, also where values may.
use tenure::CsrMatrix;

fn main() {
    let mut matrix = CsrMatrix::from_vecs(1, 1, vec![0, 1], vec![0], vec![1.0_f32]).unwrap();
    let mut view = matrix.view_mut();
    #[cfg(bad)]
    {
        view.col_indices()[0] = 7;
    }
    #[cfg(not(bad))]
    {
        view.values_mut()[0] = 7.0;
    }
}
