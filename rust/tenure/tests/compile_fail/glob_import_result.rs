//@ error: E0308
//! A glob import brings a `Result` that still takes the caller's error type.
use tenure::*;

fn parse(text: &str) -> Result<f32, std::num::ParseFloatError> {
    #[cfg(bad)]
    return Err("no error of this type");
    #[cfg(not(bad))]
    text.parse()
}

fn lend(data: &[f32]) -> Result<TensorView<'_, f32>> {
    TensorView::from_slice(data, [data.len()])
}

fn main() {
    lend(&[parse("1.5").unwrap()]).unwrap();
}
