//@ error: E0597
//! An element's reference outlives the view it came from, but not the memory.
use tenure::TensorView;

fn main() {
    let element;
    #[cfg(not(bad))]
    let data = [1.0_f32; 4];
    {
        #[cfg(bad)]
        let data = [1.0_f32; 4];
        let view = TensorView::from_slice(&data, [4]).unwrap();
        element = view.get([3]).unwrap();
    }
    println!("{element}");
}
