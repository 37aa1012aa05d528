//@ error: E0597
//! A view whose dtype is known at run time is bound to its memory like a typed one.
use tenure::{DType, DynView};

fn main() {
    let view;
    #[cfg(not(bad))]
    let bytes = [0_u8; 4];
    {
        #[cfg(bad)]
        let bytes = [0_u8; 4];
        view = DynView::from_bytes(&bytes, DType::U8, [4]).unwrap();
    }
    println!("{:?}", view.shape());
}
