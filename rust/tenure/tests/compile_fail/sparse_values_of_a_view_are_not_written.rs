//@ error: E0594
//! A matrix lent for reading gives out no place to write to.
use tenure::{CsrView, CsrViewMut};

fn main() {
    let mut values = [1.0_f32];
    #[cfg(bad)]
    {
        CsrView::new(1, 1, &[0, 1], &[0], &values).unwrap().values()[0] = 2.0;
    }
    #[cfg(not(bad))]
    {
        CsrViewMut::new(1, 1, &[0, 1], &[0], &mut values).unwrap().values_mut()[0] = 2.0;
    }
    values[0] = 3.0;
}
