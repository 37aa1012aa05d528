//@ error: E0277
//@ says: Pod
//@ feature: bytemuck
//! Structs with invalid or unknown (padding) bytes are no elements.
use tenure::TensorView;

fn main() {
    #[cfg(bad)]
    let structs = [(1_u8, 2_u32), (3, 4)];
    #[cfg(not(bad))]
    let structs = [[1_u32, 2], [3, 4]];
    let view = TensorView::<u32>::from_pods(&structs, 2).unwrap();
    println!("{view}");
}
