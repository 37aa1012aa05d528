//@ error: E0521
//! A value of a graph means nothing outside of the closure that traces it.
use tenure::Program;

fn main() {
    let mut shape = None;
    #[cfg(bad)]
    let mut escaped = None;
    Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        shape = Some(x.largest_shape());
        #[cfg(bad)]
        {
            escaped = Some(x);
        }
        graph.program((x,), x + 1.0)
    })
    .unwrap();
    assert_eq!(shape, Some(vec![2]));
}
