//@ error: E0521
//! A value is an operand only in its own graph.
use tenure::Program;

fn main() {
    Program::trace(|outer| {
        let x = outer.input::<f32>([2]);
        Program::trace(|inner| {
            let y = inner.input::<f32>([2]);
            #[cfg(not(bad))]
            let sum = y + y;
            #[cfg(bad)]
            let sum = y + x;
            inner.program((y,), sum)
        })?;
        outer.program((x,), x + 1.0)
    })
    .unwrap();
}
