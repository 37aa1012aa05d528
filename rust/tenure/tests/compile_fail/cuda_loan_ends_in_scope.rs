//@ error: E0597
//@ says: does not live long enough
//! What is lent to a stream lives until the scope has waited.
use tenure::AsView;
use tenure::cuda::Stream;

fn upload(stream: &Stream) -> tenure::Result<()> {
    #[cfg(not(bad))]
    let host = vec![1.0_f32; 100];
    stream.scope(|scope| {
        #[cfg(bad)]
        let host = vec![1.0_f32; 100];
        scope.upload(host.as_view())?;
        Ok(())
    })
}

fn main() {
    let _ = upload;
}
