//@ error: E0597
//! A downcast keeps the lifetime of the memory.
use tenure::{DType, DynView, TensorView};

fn main() {
    let typed: TensorView<u8>;
    #[cfg(not(bad))]
    let bytes = [0_u8; 4];
    {
        #[cfg(bad)]
        let bytes = [0_u8; 4];
        let view = DynView::from_bytes(&bytes, DType::U8, [4]).unwrap();
        typed = view.downcast().unwrap();
    }
    println!("{typed}");
}
