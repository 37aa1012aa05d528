//@ error: E0521
//! A body takes the values that it is handed, and no other of the graph around it.
use tenure::Program;

fn main() {
    Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        let flag = x.gt(0.0).any(0);
        let y = graph.cond(
            flag,
            (x,),
            |body, (z,)| {
                #[cfg(not(bad))]
                let _ = [z, z];
                #[cfg(bad)]
                let _ = [z, x];
                body.outputs(z)
            },
            |body, (z,)| body.outputs(z),
        )?;
        graph.program((x,), y)
    })
    .unwrap();
}
