//@ error: E0597
//! The same bytes as other elements are lent no longer than the bytes.
use tenure::TensorView;

fn main() {
    #[cfg(not(bad))]
    let words = vec![1_u32, 2];
    let bytes = {
        #[cfg(bad)]
        let words = vec![1_u32, 2];
        TensorView::from_slice(&words, 2).unwrap().as_elements::<u8>().unwrap()
    };
    println!("{bytes}");
}
