//@ error: E0597
//! A custom operation owns the data that it uses: programs that call it may live forever.
use std::sync::Arc;
use tenure::CustomOperation;

fn main() {
    let table = Arc::new(vec![1.0_f32, 2.0]);
    #[cfg(bad)]
    let held = &table;
    #[cfg(not(bad))]
    let held = table.clone();
    CustomOperation::new::<(), f32>(
        "table",
        |[]| Ok(vec![]),
        move |(), mut out| Ok(out.fill(held[0])),
    )
    .unwrap();
}
