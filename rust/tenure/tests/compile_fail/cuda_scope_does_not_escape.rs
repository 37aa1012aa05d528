//@ error: E0521
//! The scope stays in its closure, so that nothing is lent after the wait.
use tenure::TensorView;
use tenure::cuda::{Scope, Stream};

fn keep<'env>(stream: &Stream, a: TensorView<'env, f32>) -> tenure::Result<()> {
    #[cfg(bad)]
    let mut kept: Option<&mut Scope<'_, 'env>> = None;
    stream.scope(|scope: &mut Scope<'_, 'env>| {
        #[cfg(bad)]
        {
            kept = Some(scope);
            let _ = a;
            Ok(())
        }
        #[cfg(not(bad))]
        scope.upload(a).map(drop)
    })
}

fn main() {
    let _ = keep;
}
