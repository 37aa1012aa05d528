//@ error: E0506
//! Nor can the slice that they were lent from.
use tenure::CsrView;

fn main() {
    let (offsets, mut indices, values) = ([0, 1], [0], [1.0_f32]);
    let matrix = CsrView::new(1, 1, &offsets, &indices, &values).unwrap();
    #[cfg(bad)]
    {
        indices[0] = 7;
    }
    println!("{matrix}");
    indices[0] = 8;
    println!("{indices:?}");
}
