//@ error: E0599
//@ says: `Coo: CompressedFormat`
//! Methods that a format lacks are refused with the name of the format and of the missing trait.
use tenure::{CooView, CsrView};

fn main() {
    let (rows, columns, values) = ([0], [0], [1.0_f32]);
    #[cfg(bad)]
    let matrix = CooView::new(1, 1, &rows, &columns, &values).unwrap();
    #[cfg(not(bad))]
    let matrix = CsrView::new(1, 1, &[0, 1], &columns, &values).unwrap();
    println!("{rows:?} {}", matrix.product(matrix).unwrap());
}
