//@ error: E0521
//! A custom operation borrows views for one call, and keeps none.
use std::sync::Mutex;
use tenure::{CustomOperation, TensorView};

static KEPT: Mutex<Option<TensorView<'static, f32>>> = Mutex::new(None);
static COPIED: Mutex<Vec<f32>> = Mutex::new(Vec::new());

fn main() {
    CustomOperation::new::<(f32,), f32>(
        "keeps",
        |[x]| Ok(x.to_vec()),
        |(x,), mut out| {
            #[cfg(bad)]
            {
                *KEPT.lock().unwrap() = Some(x);
            }
            *COPIED.lock().unwrap() = x.to_vec();
            Ok(out.fill(KEPT.lock().unwrap().is_some() as u8 as f32))
        },
    )
    .unwrap();
}
