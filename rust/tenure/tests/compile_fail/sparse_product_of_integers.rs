//@ error: E0599
//@ says: the method `product` exists for struct
//! Products of sparse matrices take f32 and f64.

use tenure::CsrView;

fn main() {
    #[cfg(bad)]
    let values = [1, 2];
    #[cfg(not(bad))]
    let values = [1.0_f32, 2.0];
    let a = CsrView::new(2, 2, &[0, 1, 2], &[0, 1], &values).unwrap();
    println!("{:?}", a.product(a).unwrap().values());
}
