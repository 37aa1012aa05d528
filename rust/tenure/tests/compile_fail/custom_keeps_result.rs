//@ error: E0521
//! A custom operation writes its result only during the call.
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
