//@ error: E0505
//! A context stays while it is installed.
use tenure::Context;

fn main() {
    let context = Context::with_threads(1).unwrap();
    context.install(|| {
        #[cfg(bad)]
        drop(context);
        #[cfg(not(bad))]
        drop(context.clone());
    });
}
