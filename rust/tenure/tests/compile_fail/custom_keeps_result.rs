//@ error: E0521
//! An operation of one's own writes its result while it is called, and never after.
use std::sync::Mutex;
use tenure::{CustomOperation, TensorViewMut};

fn main() {
    let kept: &'static Mutex<Vec<TensorViewMut<'static, f32>>> = Box::leak(Box::default());
    CustomOperation::new::<(), f32>(
        "keeps",
        |[]| Ok(vec![3]),
        move |(), mut out| {
            out.fill(kept.lock().unwrap().len() as f32);
            #[cfg(bad)]
            kept.lock().unwrap().push(out);
            Ok(())
        },
    )
    .unwrap();
}
