//@ error: E0521
//! A custom operation borrows views of a device for one call, and keeps none.
use std::sync::Mutex;
use tenure::{CustomOperation, cuda};

static KEPT: Mutex<Option<cuda::TensorView<'static, f32>>> = Mutex::new(None);
static LEN: Mutex<usize> = Mutex::new(0);

fn main() {
    CustomOperation::with_device::<(f32,), f32>(
        "keeps",
        |[x]| Ok(x.to_vec()),
        |(x,), mut out| Ok(tenure::ops::neg_into(x, &mut out)?),
        |stream, (x,), mut out| {
            #[cfg(bad)]
            {
                *KEPT.lock().unwrap() = Some(x);
            }
            *LEN.lock().unwrap() = x.len();
            let is_kept = KEPT.lock().unwrap().is_some();
            Ok(stream.fill(&mut out, is_kept as u8 as f32)?)
        },
    )
    .unwrap();
}
