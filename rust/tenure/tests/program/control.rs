//! Conditions and loops, as the control flow of this language.

use super::*;

fn number<T: Element>(value: T) -> Tensor<T> {
    Tensor::full([], value).unwrap()
}

#[test]
fn one_of_two_bodies() {
    for program in traced(|graph| {
        let flag = graph.input::<Bool8>([1, 1]);
        let (a, b) = (graph.input::<i32>([3]), graph.input::<i32>([3]));
        let (first, second) = graph.cond(
            flag,
            (a, b),
            |body, (a, b)| body.outputs((a / b, a.cast::<f32>())),
            |body, (a, b)| body.outputs((a - b, (b * 2).cast::<f32>())),
        )?;
        graph.program((flag, a, b), (first + 1, second))
    }) {
        let program = program.unwrap();
        let run = |flag: bool, b: &[i32; 3]| {
            let flag = Tensor::full([1, 1], Bool8::from(flag)).unwrap();
            program.run((&flag, &[7, 8, 9], b))
        };
        let (first, second) = run(false, &[2, 0, -3]).unwrap();
        assert_eq!(first, [6, 9, 13]);
        assert_eq!(second, [4.0, 0.0, -6.0]);
        let error = run(true, &[2, 0, -3]).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().starts_with("cond at "), "{error}");
        assert!(error.message().contains("control.rs:"), "{error}");
        let (first, second) = run(true, &[2, 4, -3]).unwrap();
        assert_eq!(first, [4, 3, -2]);
        assert_eq!(second, [7.0, 8.0, 9.0]);
    }
}

#[test]
fn constants_of_bodies_are_packed_and_lent() {
    let weights: Vec<_> =
        [1.0_f32, -2.0].map(|value| Tensor::full([40, 40], value).unwrap().into_shared()).into();
    let layer = |graph: Graph<'_>| {
        let (flag, x) = (graph.input::<Bool8>([1]), graph.input::<f32>([3, 40]));
        let y = x.matmul(graph.constant(&weights[0]));
        let z = graph.cond(
            flag,
            y,
            |body, y| body.outputs(y.matmul(body.constant(&weights[1]))),
            |body, y| body.outputs(y.matmul(body.constant(&weights[0]))),
        )?;
        graph.program((flag, x), z)
    };
    type Layer = Program<(Bool8, f32), f32>;
    let packing = Layer::trace_with(Passes::DEFAULT.with(Passes::PACKING), layer).unwrap();
    let packed = packing.packed().unwrap().into_shared();
    let lent = Layer::trace_packed(&packed, layer).unwrap();
    drop(packed);
    let x = Tensor::full([3, 40], 1.0).unwrap();
    for (flag, expected) in [(true, -3200.0), (false, 1600.0)] {
        let flag = Tensor::full([1], Bool8::from(flag)).unwrap();
        for program in [&packing, &lent] {
            assert_eq!(program.run((&flag, &x)).unwrap().to_vec(), [expected; 3 * 40]);
        }
    }
}

#[test]
fn a_loop_has_the_bits_of_its_calls() {
    for program in traced(|graph| {
        let n = graph.extent("n", 100);
        let (x, a) = (graph.input::<f32>([n]), graph.input::<f32>([n]));
        let zero = graph.copy_constant(&number(0_i64));
        let (near, steps) = graph.while_loop(
            40,
            (x, zero),
            [a],
            |body, (x, steps), [a]| {
                let far = (x * x - a).abs().gt(1e-3).any(0);
                body.outputs(far.logical_and(steps.lt(1000)))
            },
            |body, (x, steps), [a]| body.outputs(((x + a / x) * 0.5, steps + 1)),
        )?;
        graph.program((x, a), (near, steps))
    }) {
        let program = program.unwrap();
        for count in [1_usize, 7, 100] {
            let a: Vec<f32> = (0..count).map(|i| 1.0 + i as f32).collect();
            let (mut x, mut steps) = (vec![1.0_f32; count], 0);
            let (near, counted) = program.run((&x, &a)).unwrap();
            while x.iter().zip(&a).any(|(x, a)| (x * x - a).abs() > 1e-3) {
                x.iter_mut().zip(&a).for_each(|(x, a)| *x = (*x + a / *x) * 0.5);
                steps += 1;
            }
            assert_eq!((near.to_vec(), counted.item()), (x, Some(steps)));
        }
        let error = program.run((&[0.3], &[-1.0])).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().starts_with("while_loop at "), "{error}");
        assert!(error.message().contains("after 40 iterations"), "{error}");
    }
}

#[test]
fn bodies_within_bodies_and_extents_of_their_own() {
    for program in traced(|graph| {
        let n = graph.extent("n", 10);
        let x = graph.input::<i64>((n, 2));
        let zero = graph.copy_constant(&number(0_i32));
        let (sum, _) = graph.while_loop(
            5,
            (x, zero),
            (),
            |body, (_, i), ()| body.outputs(i.lt(5)),
            |body, (x, i), ()| {
                let odd = (i % 2).eq(1);
                // Turned and back by an extent of the graph around it.
                let n = body.extent("n", 10);
                let flat = x.reshape(n * 2);
                let next = body.cond(
                    odd,
                    vec![flat, flat],
                    |body, both| body.outputs(both[0] + both[1]),
                    |body, both| body.outputs(both[0] + 1),
                )?;
                body.outputs((next.reshape((n, 2)), i + 1))
            },
        )?;
        graph.program((x,), sum)
    }) {
        let program = program.unwrap();
        // + 1, * 2, + 1, * 2, + 1
        assert_eq!(program.run((&[[0, 1]],)).unwrap(), [[7, 11]]);
        assert_eq!(program.run((&[[0, 1]; 10],)).unwrap(), [[7, 11]; 10]);
    }
}

#[test]
fn what_bodies_capture_is_of_their_own_graph() {
    let table = Tensor::from([1.0_f32, 10.0]).into_shared();
    let program = Program::trace(|graph| {
        let (flag, x) = (graph.input::<Bool8>(()), graph.input::<f32>([2]));
        let scaled = graph.cond(
            flag,
            x,
            |body, x| body.outputs(x * body.constant(&table)),
            |body, _| body.outputs(body.constant(&table)),
        )?;
        graph.program((flag, x), scaled)
    })
    .unwrap();
    drop(table);
    let run = |flag: bool| program.run((&number(Bool8::from(flag)), &[2.0, 3.0])).unwrap();
    assert_eq!((run(true), run(false)), (Tensor::from([2.0, 30.0]), Tensor::from([1.0, 10.0])));
}

#[test]
fn memory_of_a_loop_is_planned() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([1000]);
        let i = graph.copy_constant(&number(0_i32));
        let (doubled, _) = graph.while_loop(
            3,
            (x, i),
            (),
            |body, (_, i), ()| body.outputs(i.lt(3)),
            |body, (x, i), ()| body.outputs((x * 2.0, i + 1)),
        )?;
        graph.program((x,), doubled)
    })
    .unwrap();
    let x = [1.0_f32; 1000];
    let peak = program.memory((&x,)).unwrap().peak_bytes;
    assert!(peak >= 4000, "{peak}");
    assert_eq!(program.clone().with_budget(peak).run((&x,)).unwrap().to_vec(), [8.0; 1000]);
    let error = program.with_budget(peak - 1).run((&x,)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
}

#[test]
fn flags_values_and_shapes_that_do_not_go_together() {
    let cond = |flag: &[usize], shape: usize| {
        said(|graph| {
            let (flag, x) = (graph.input::<Bool8>(flag), graph.input::<f32>([3]));
            let y = graph.cond(
                flag,
                x,
                |body, x| body.outputs(x),
                |body, x| body.outputs(x.slice(0, 0, shape)),
            )?;
            graph.program((flag, x), y)
        })
    };
    let message = cond(&[2], 3);
    assert!(message.starts_with("cond at "), "{message}");
    assert!(
        message.contains("the flag is input 0 of shape [2] and a value is input 1 of shape [3]")
    );
    assert!(message.contains("must be a bool8 of one element"), "{message}");
    let message = cond(&[], 2);
    assert!(message.contains("outputs[0] of the second body is f32 of shape [2]"), "{message}");

    let message = said(|graph| {
        let (flag, x) = (graph.input::<Bool8>(()), graph.input::<f32>([3]));
        let ys = graph.cond(
            flag,
            x,
            |body, x| body.outputs(vec![x, x]),
            |body, x| body.outputs(vec![x]),
        )?;
        graph.program((flag, x), ys)
    });
    assert!(message.contains("the first body has 2 outputs but the second has 1"), "{message}");
}

/// The refusal of a loop over a state of three numbers.
fn looped(
    limit: usize,
    condition: impl for<'h> Fn(Traced<'h, f32>) -> Traced<'h, Bool8>,
    next: impl for<'h> Fn(Traced<'h, f32>) -> Traced<'h, f32>,
) -> String {
    said(|graph| {
        let x = graph.input::<f32>([3]);
        let y = graph.while_loop(
            limit,
            x,
            (),
            |body, x, ()| body.outputs(condition(x)),
            |body, x, ()| body.outputs(next(x)),
        )?;
        graph.program((x,), y)
    })
}

#[test]
fn loops_that_are_none() {
    let message = looped(0, |x| x.lt(1.0).any(0), |x| x);
    assert!(message.contains("the limit of iterations is 0 but must be positive"), "{message}");
    let message = looped(5, |x| x.lt(1.0), |x| x);
    assert!(message.contains("outputs[0] of the condition is bool8 of shape [3]"), "{message}");
    let message = looped(5, |x| x.lt(1.0).any(0), |x| x.slice(0, 0, 2));
    assert!(message.contains("outputs[0] of the body is f32 of shape [2]"), "{message}");
    // A refusal in a body is that of the trace, with its place.
    let message = looped(5, |x| x.lt(1.0).any(0), |x| x + x.slice(0, 0, 2));
    assert!(message.starts_with("add at "), "{message}");
    assert!(message.contains("a is input 0 of shape [3]"), "{message}");
    // A limit beyond all numbers is one.
    let huge = Program::trace(|graph| {
        let x = graph.input::<f32>([3]);
        let y = graph.while_loop(
            usize::MAX,
            x,
            (),
            |body, x, ()| body.outputs(x.lt(8.0).any(0)),
            |body, x, ()| body.outputs(x + x),
        )?;
        graph.program((x,), y)
    });
    assert_eq!(huge.unwrap().run((&[1.0, 2.0, 4.0],)).unwrap(), [8.0, 16.0, 32.0]);

    let message = said(|graph| {
        let x = graph.input::<f32>([3]);
        let ys = graph.while_loop(
            1,
            vec![x, x],
            (),
            |body, xs, ()| body.outputs(xs[0].lt(1.0).any(0)),
            |body, xs, ()| body.outputs(vec![xs[0]]),
        )?;
        graph.program((x,), ys)
    });
    assert!(message.contains("the state has 2 values but the body gives 1"), "{message}");
}

#[test]
fn misused_graphs() {
    // Outputs of the graph itself, twice, or none.
    let message = said(|graph| {
        let x = graph.input::<f32>([3]);
        let _ = graph.outputs(x)?;
        graph.program((x,), x)
    });
    assert_eq!(message, "the graph has been given its outputs");
    let branch = |twice: bool, more: bool| {
        said(|graph| {
            let (flag, x) = (graph.input::<Bool8>(()), graph.input::<f32>([3]));
            let y = graph.cond(
                flag,
                x,
                |body, x| {
                    if more {
                        let _ = body.input::<f32>([3]);
                    }
                    let given = body.outputs(x)?;
                    if twice { body.outputs(x) } else { Ok(given) }
                },
                |body, x| body.outputs(x),
            )?;
            graph.program((flag, x), y)
        })
    };
    assert_eq!(branch(true, false), "the graph has been given its outputs");
    assert!(branch(false, true).contains("the first body has 2 inputs but is handed 1 values"));
    let message = said(|graph| {
        let (flag, x) = (graph.input::<Bool8>(()), graph.input::<f32>([3]));
        graph.cond(flag, x, |body, _| body.outputs(()), |body, _| body.outputs(()))?;
        graph.program((flag, x), x)
    });
    assert!(message.contains("the body has no output"), "{message}");
    // A refusal that is not returned is kept.
    let message = said(|graph| {
        let (flag, x) = (graph.input::<Bool8>([2]), graph.input::<f32>([3]));
        let _ = graph.cond(flag, x, |body, x| body.outputs(x), |body, x| body.outputs(x));
        graph.program((flag, x), x)
    });
    assert!(message.contains("must be a bool8 of one element"), "{message}");
    // The graph's own refusal comes first.
    let message = said(|graph| {
        let x = graph.input::<f32>([3]);
        let bad = x + graph.input::<f32>([2]);
        let _ = graph.cond(
            bad.lt(1.0),
            bad,
            |_, _| -> Result<Body<'_, f32>> { panic!() },
            |_, _| panic!(),
        );
        graph.program((x,), bad)
    });
    assert!(message.starts_with("add at "), "{message}");
}

fn nested<'g>(graph: Graph<'g>, x: Traced<'g, f32>, depth: usize) -> Result<Traced<'g, f32>> {
    if depth == 0 {
        return Ok(x + 1.0);
    }
    let flag = x.gt(0.0).any(0);
    graph.cond(
        flag,
        x,
        |body, x| body.outputs(nested(body, x, depth - 1)?),
        |body, x| body.outputs(x),
    )
}

#[test]
fn as_deep_as_is_said() {
    let trace = |depth| {
        Program::trace(|graph| {
            let x = graph.input::<f32>([1]);
            graph.program((x,), nested(graph, x, depth)?)
        })
    };
    let program = trace(8).unwrap();
    assert_eq!(program.run((&[1.0],)).unwrap(), [2.0]);
    assert_eq!(program.run((&[-1.0],)).unwrap(), [-1.0]);
    let error = trace(9).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("deep"), "{error}");
}

/// Whether the message contains text of the form "div at .../control.rs:7:30: ".
fn names_place(message: &str, name: &str) -> bool {
    let place = message.split(&format!("{name} at ")).nth(1).unwrap_or("");
    place.split(": ").next().is_some_and(|place| place.contains("control.rs:"))
}

#[test]
fn nodes_of_bodies_are_named_where_the_source_has_them() {
    let program = Program::trace(|graph| {
        let (a, flag) = (graph.input::<i32>([2]), graph.input::<Bool8>(()));
        let zero = graph.copy_constant(&[0, 1]);
        let b = graph.cond(
            flag,
            (a, zero, flag),
            |body, (a, zero, flag)| {
                let inner = body.cond(
                    flag,
                    (a, zero),
                    |inner, (a, zero)| inner.outputs(a / zero),
                    |inner, (a, _)| inner.outputs(a),
                )?;
                body.outputs(inner + 1)
            },
            |body, (a, _, _)| body.outputs(a),
        )?;
        graph.program((a, flag), b)
    })
    .unwrap();
    let flag = |is_true| Tensor::full([], Bool8::from(is_true)).unwrap();
    assert_eq!(program.run((&[3, 4], &flag(false))).unwrap(), [3, 4]);
    let error = program.run((&[3, 4], &flag(true))).err().unwrap();
    let message = error.message();
    assert_eq!(message.matches("cond at ").count(), 2, "{message}");
    assert!(names_place(message, "div") && !message.contains("nodes["), "{message}");
    let mut out = [0; 2];
    let bound = program.bind_preallocated((&[0; 2], &flag(true)), &mut out).unwrap();
    bound.run((&[3, 4], &flag(false)), &mut out).unwrap();
    assert_eq!(out, [3, 4]);
    let refused = bound.run((&[3, 4], &flag(true)), &mut out).err().unwrap();
    assert!(refused.message().contains("div: an integer is divided by"), "{refused}");

    // Shapes that a body takes where extents are at their maxima, and not where they are less.
    let program = Program::trace(|graph| {
        let (x, flag) = (graph.input::<f32>([graph.extent("n", 4)]), graph.input::<Bool8>(()));
        let y = graph.cond(
            flag,
            x,
            |body, x| body.outputs(x.slice(0, 2, 4).sum(0)),
            |body, x| body.outputs(x.sum(0)),
        )?;
        graph.program((x, flag), y)
    })
    .unwrap();
    assert_eq!(program.run((&[1.0, 2.0, 3.0, 4.0], &flag(true))).unwrap().item(), Some(7.0));
    let error = program.run((&[1.0, 2.0, 3.0], &flag(true))).err().unwrap();
    let message = error.message();
    assert!(names_place(message, "cond") && names_place(message, "slice"), "{message}");
}
