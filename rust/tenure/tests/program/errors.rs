//! Refusals and their messages.

use super::*;

#[test]
fn operands_that_do_not_agree_are_named_with_their_places() {
    let line = line!() + 4;
    let message = said(|graph| {
        let (a, b) = (graph.input::<f32>([2, 3]), graph.input::<f32>([4]));
        // On one line.
        let c = (a + 1.0) * b;
        graph.program((a, b), c)
    });
    let file = file!();
    let expected = format!(
        "mul at {file}:{line}:17: a is add at {file}:{line}:17 of shape [2, 3] and b is input 1 of \
         shape [4]: "
    );
    assert!(message.starts_with(&expected), "{message}\n{expected}");

    let message = said(|graph| {
        let a = graph.input::<f32>([2, 3]);
        graph.program((a,), a.matmul(graph.copy_constant(&[[1.0_f32; 2]; 2])))
    });
    assert!(message.starts_with("matmul at "), "{message}");
    assert!(message.contains("b is a constant of shape [2, 2]: a has 3 columns but"), "{message}");
}

#[test]
fn the_first_refusal_is_the_one() {
    let message = said(|graph| {
        let a = graph.input::<f32>([2, 3]);
        let refused = a.sum(5).exp();
        let second = a.matmul(a);
        graph.program((a,), (refused, second, refused.reshape([9]).t().cumsum(3)))
    });
    assert!(message.starts_with("sum at "), "{message}");
    assert!(message.ends_with("axis is 5 but a has rank 2"), "{message}");
}

#[test]
fn options_that_lend() {
    let bias = [1.0_f32; 6];
    for (message, name) in [
        (
            said(|graph| {
                let (a, w) = (graph.input([1, 1, 4, 4]), graph.input([6, 1, 3, 3]));
                graph.program((a, w), a.conv2d(w, None, Conv2d::new().bias(&bias)))
            }),
            "conv2d",
        ),
        (
            said(|graph| {
                let (a, b) = (graph.input::<f32>([4, 4]), graph.input([4, 6]));
                graph.program((a, b), a.matmul_with(b, None, Matmul::new().bias(&bias)))
            }),
            "matmul",
        ),
        (
            said(|graph| {
                let a = graph.input::<f32>([4, 6]);
                graph.program((a,), a.layer_norm(1, None, None, LayerNorm::new().weight(&bias)))
            }),
            "layer_norm",
        ),
    ] {
        assert!(message.starts_with(&format!("{name} at ")), "{message}");
        assert!(message.ends_with("is lent but must be a value"), "{message}");
    }
}

#[test]
fn inputs_are_all_and_in_order() {
    let of = |pick: fn(usize) -> bool| {
        said(move |graph| {
            let (a, b) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
            let inputs = if pick(0) { [b, a] } else { [a, a + b] };
            graph.program(inputs, a + b)
        })
    };
    assert!(of(|_| true).starts_with("input 0 of the program is input 1 of the graph"));
    assert_eq!(of(|_| false), "input 1 of the program is no input");
    let message = said(|graph| {
        let (a, _) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
        graph.program((a,), a)
    });
    assert_eq!(message, "the program has 1 inputs but the graph has 2");
    let message = said(|graph| {
        let a = graph.input::<f32>([2]);
        graph.program((a,), ())
    });
    assert_eq!(message, "the graph has no output");
    let message = said(|graph| {
        let a = graph.input::<f32>([2]);
        graph.program((a,), a)?;
        graph.program((a,), a)
    });
    assert_eq!(message, "the graph has been made a program");
}

#[test]
fn more_axes_and_indices() {
    let message = said(|graph| {
        let a = graph.input::<f32>([2, 3]);
        graph.program((a,), a.permute(&[0, 2]))
    });
    assert!(message.ends_with("axis is 2 but a has rank 2"), "{message}");
    let message = said(|graph| {
        let a = graph.input::<f32>([2, 3]);
        graph.program((a,), a.slice(1, 0, 4))
    });
    assert!(message.starts_with("slice at ") && message.contains("[2, 3]"), "{message}");
    let message = said(|graph| graph.program((), graph.concat([] as [Traced<f32>; 0], 0)));
    assert!(message.ends_with("there are no parts"), "{message}");
}

/// Refused by the data of a run: with the operator's place.
#[test]
fn data_that_is_refused() {
    let line = line!() + 4;
    let program = Program::trace(|graph| {
        let (table, rows) = (graph.input::<f32>([3]), graph.input::<i64>([2]));
        // An index that is none.
        let taken = table.take(0, rows);
        graph.program((table, rows), taken * 2.0)
    })
    .unwrap();
    assert_eq!(program.run((&[1.0, 2.0, 3.0], &[2, 0])).unwrap(), [6.0, 2.0]);
    let error = program.run((&[1.0, 2.0, 3.0], &[2, 3])).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let place = format!("take at {}:{line}:27: ", file!());
    assert!(error.message().starts_with(&place), "{error}");
}

#[test]
fn outputs_of_another_shape() {
    let program = Program::trace(|graph| {
        let a = graph.input::<f32>((graph.extent("n", 9), 2));
        graph.program((a,), a + 1.0)
    })
    .unwrap();
    let mut out = [[7.0_f32; 2]; 3];
    let error = program.run_into((&[[0.0; 2]; 4],), &mut out).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(
        error.message(),
        "outputs[0] is f32 of shape [3, 2] but the program gives f32 of shape [4, 2]"
    );
    assert_eq!(out, [[7.0; 2]; 3]);
}
