//@ error: E0597
//@ says: `data` does not live long enough
//! A view cannot leave the block of the memory it was lent.
use tenure::TensorView;

fn main() {
    let view;
    #[cfg(not(bad))]
    let data = [1.0_f32; 4];
    {
        #[cfg(bad)]
        let data = [1.0_f32; 4];
        view = TensorView::from_slice(&data, [2, 2]).unwrap();
    }
    println!("{view}");
}
