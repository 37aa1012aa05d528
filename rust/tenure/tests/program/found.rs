//! Data-dependent shapes: the values that a run finds, and operations on them.

use super::*;

/// The positive numbers of `x`, and values that are computed from them.
fn selecting() -> Program<(f32,), (f32, f32, i64)> {
    Program::trace(|graph| {
        let x = graph.input::<f32>([graph.extent("n", 1000)]);
        let (some, hits) = x.masked_select(x.gt(0.0), "positive", 100);
        let (places, _) = x.gt(0.0).nonzero("places", 100);
        let pairs = graph.concat([some, some * 2.0], 0).reshape((2, hits)).t();
        graph.program((x,), (pairs, some.sum(0), places))
    })
    .unwrap()
}

#[test]
fn new_outputs_have_the_extents_that_are_found() {
    let program = selecting();
    for (seed, n) in [(1, 0), (2, 1), (3, 17), (4, 64), (5, 17)] {
        let x = floats(seed, [n]);
        let (pairs, sum, places) = program.run((&x,)).unwrap();
        let expected: Vec<f32> = x.to_vec().into_iter().filter(|x| *x > 0.0).collect();
        assert_eq!(pairs.shape(), [expected.len(), 2]);
        let doubled: Vec<f32> = expected.iter().flat_map(|x| [*x, x * 2.0]).collect();
        assert_eq!(pairs.to_vec(), doubled);
        assert_eq!(sum.shape(), [0; 0]);
        let found = tenure::ops::nonzero(&tenure::ops::gt(&x, 0.0).unwrap());
        assert_same(&Ok(places), &found, "the places");
    }
}

#[test]
fn outputs_of_any_form_have_the_extents_that_are_found() {
    let x = [3, -1, 4, -1, 5];
    let many = Program::trace(|graph| {
        let x = graph.input::<i32>([5]);
        let (some, _) = x.masked_select(x.gt(0), "some", 5);
        graph.program((x,), vec![some, x, some + 1])
    })
    .unwrap();
    let made = many.run((&x,)).unwrap();
    assert_eq!((made[0].to_vec(), made[1].to_vec()), (vec![3, 4, 5], x.to_vec()));
    assert_eq!(made[2].to_vec(), [4, 5, 6]);
    let x = Tensor::from(x);
    let made = many.run_dyn(&[(&x).into()], &mut []).unwrap();
    assert_eq!(made.iter().map(|of| of.shape().to_vec()).collect::<Vec<_>>(), [[3], [5], [3]]);
    assert_eq!(made[2].view().downcast::<i32>().unwrap().to_vec(), [4, 5, 6]);

    let two = Program::trace(|graph| {
        let x = graph.input::<i32>([5]);
        let (some, _) = x.masked_select(x.lt(0), "some", 5);
        graph.program((x,), [some, some * some])
    })
    .unwrap();
    let [some, squares] = two.run((&x,)).unwrap();
    assert_eq!((some.to_vec(), squares.to_vec()), (vec![-1, -1], vec![1, 1]));
    let mut outs = [[7; 5]; 2];
    let [some, squares] = &mut outs;
    assert_eq!(two.run_into_shapes((&x,), [some, squares]).unwrap(), [[2], [2]]);
    assert_eq!(outs, [[-1, -1, 7, 7, 7], [1, 1, 7, 7, 7]]);
}

#[test]
fn updates_stand_behind_what_is_found() {
    let program = Program::trace(|graph| {
        let (x, total) = (graph.input::<i32>([4]), graph.input::<i64>(()));
        let (some, _) = x.masked_select(x.gt(0), "some", 4);
        let next = total + some.sum(0);
        graph.program((x, total.updated_by(next)), some)
    })
    .unwrap();
    let mut total = Tensor::full([], 10_i64).unwrap();
    assert_eq!(program.run((&[1, -1, 2, -1], &mut total)).unwrap(), [1, 2]);
    let mut some = [0; 4];
    let shapes = program.run_into_shapes((&[1, 1, 2, -1], &mut total), &mut some).unwrap();
    assert_eq!((shapes, some, total.item()), (vec![vec![3]], [1, 1, 2, 0], Some(17)));
}

#[test]
fn more_than_may_be_found_is_refused_where_the_source_has_it() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([4]);
        let (places, _) = x.nonzero("hits", 2);
        graph.program((x,), (places, places.max(0)))
    })
    .unwrap();
    assert_eq!(program.run((&[0.0, 1.0, 0.0, 2.0],)).unwrap().0, [[1], [3]]);
    let error = program.run((&[5.0, 1.0, 0.0, 2.0],)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let message = error.message();
    assert!(message.starts_with("nonzero at ") && message.contains("found.rs"), "{message}");
    assert!(message.ends_with(": 3 are found but hits is at most 2"), "{message}");
    // Operations that follow from the count are refused by their own names.
    let error = program.run((&[0.0; 4],)).err().unwrap();
    assert!(error.message().starts_with("max at "), "{}", error.message());
}

#[test]
fn names_and_bounds_are_refused_in_the_trace() {
    let said = |f: &dyn for<'g> Fn(tenure::Graph<'g>, tenure::Traced<'g, f32>)| {
        let program = Program::trace(|graph| {
            let x = graph.input::<f32>([2, 3]);
            f(graph, x);
            graph.program((x,), x)
        });
        program.err().unwrap().message().to_owned()
    };
    let message = said(&|_, x| {
        let _ = x.nonzero("a\0b", 3);
    });
    assert!(message.starts_with("an extent at "), "{message}");
    assert!(message.contains("found.rs"), "{message}");
    let message = said(&|_, x| {
        let _ = x.masked_select(x.slice(1, 0, 2).gt(0.0), "some", 3);
    });
    assert!(message.starts_with("masked_select at "), "{message}");
    assert!(message.contains("the mask is gt at "), "{message}");
    let message = said(&|graph, x| {
        let (some, _) = x.masked_select(x.gt(0.0), "some", 6);
        let behind = graph.while_loop(
            5,
            some,
            (),
            |b, x, ()| b.outputs(x.lt(9.0).any(0)),
            |b, x, ()| {
                let (positive, _) = x.masked_select(x.gt(0.0), "positive", 6);
                b.outputs(b.concat([x, positive], 0))
            },
        );
        assert!(behind.is_err());
    });
    assert!(message.starts_with("while_loop at "), "{message}");
    assert!(message.contains("may have shape [12] but the state begins with [6]"), "{message}");
}

#[test]
fn bodies_find_and_take_what_is_found() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([graph.extent("n", 100)]);
        let (some, _) = x.masked_select(x.gt(0.0), "some", 100);
        let chosen = graph.cond(
            some.sum(0).gt(10.0),
            some,
            |body, some| {
                let (large, _) = some.masked_select(some.gt(2.0), "large", 60);
                body.outputs(large)
            },
            |body, some| {
                // The extent of the graph around it, by its name.
                let some_of_it = body.extent("some", 100).div_up(2);
                body.outputs(some.slice(0, 0, some_of_it) * 0.5)
            },
        )?;
        let left = graph.while_loop(
            100,
            chosen,
            (),
            |body, x, ()| body.outputs(x.gt(1.5).any(0)),
            |body, x, ()| {
                let less = x - 0.25;
                let (left, _) = less.masked_select(less.gt(1.0), "left", 100);
                body.outputs(left)
            },
        )?;
        graph.program((x,), (chosen, left))
    })
    .unwrap();
    for n in [0, 1, 30, 100, 7, 4, 100] {
        let x: Vec<f32> = (0..n).map(|i| ((i * 37 + 11) % 23) as f32 * 0.75 - 7.0).collect();
        let (chosen, left) = program.run((&x,)).unwrap();
        let some: Vec<f32> = x.iter().copied().filter(|x| *x > 0.0).collect();
        let expected: Vec<f32> = match some.iter().sum::<f32>() > 10.0 {
            true => some.into_iter().filter(|x| *x > 2.0).collect(),
            false => some[..some.len().div_ceil(2)].iter().map(|x| x * 0.5).collect(),
        };
        assert_eq!(chosen.to_vec(), expected);
        let mut kept = expected;
        while kept.iter().any(|x| *x > 1.5) {
            kept = kept.into_iter().map(|x| x - 0.25).filter(|x| *x > 1.0).collect();
        }
        assert_eq!(left.to_vec(), kept);
    }
    let error = program.run((&[3.0; 70],)).err().unwrap();
    let message = error.message();
    assert!(message.starts_with("cond at "), "{message}");
    assert!(message.contains("masked_select at ") && message.contains("70 are found"), "{message}");
    assert!(message.ends_with("large is at most 60"), "{message}");
}
