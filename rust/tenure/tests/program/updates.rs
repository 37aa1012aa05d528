//! Outputs that update an input.

use super::*;

#[test]
fn what_an_input_held_is_read_first() {
    for program in traced(|graph| {
        let (x, y) = (graph.input::<f32>([40]), graph.input::<f32>([40]));
        let next = x * 0.5 + y;
        // The other output reads the old one, behind the update in the source.
        graph.program((x.updated_by(next), y), (x - y, next.sum(0)))
    }) {
        let program = program.unwrap();
        let (mut x, y) = (floats(1, [40]), floats(2, [40]));
        for _ in 0..3 {
            let old = x.try_clone().unwrap();
            let (difference, sum) = program.run((&mut x, &y)).unwrap();
            assert_same(&Ok(difference), &(&old - &y).eval(), "of the old one");
            let next = (&old * 0.5 + &y).eval();
            assert_same(&Ok(sum), &tenure::ops::sum(next.as_ref().unwrap(), 0), "of the new one");
            assert_same(&x.try_clone(), &next, "the update");
        }
    }
}

#[test]
fn updates_alone_and_by_each_other() {
    let program = Program::trace(|graph| {
        let (x, y) = (graph.input::<i32>([2]), graph.input::<i32>([2]));
        graph.program((x.updated_by(y), y.updated_by(x)), ())
    })
    .unwrap();
    let (mut x, mut y) = ([1, 2], Tensor::from([3, 4]));
    program.run((&mut x, &mut y)).unwrap();
    assert_eq!((x, &y), ([3, 4], &Tensor::from([1, 2])));
    program.run_into((&mut x, &mut y), ()).unwrap();
    assert_eq!((x, y), ([1, 2], Tensor::from([3, 4])));
}

#[test]
fn parts_of_one_tensor() {
    let program = Program::trace(|graph| {
        let (x, y) = (graph.input::<i32>([2, 2]), graph.input::<i32>([2, 2]));
        graph.program((x, y.updated_by(x + y)), x.t())
    })
    .unwrap();
    let mut whole = [[1, 2, 10, 20], [3, 4, 30, 40]];
    let view = TensorViewMut::from_slice(whole.as_flattened_mut(), [2, 4]).unwrap();
    let (x, mut y) = view.split_at(1, 2).unwrap();
    assert_eq!(program.run((&x, &mut y)).unwrap(), [[1, 3], [2, 4]]);
    assert_eq!(whole, [[1, 2, 11, 22], [3, 4, 33, 44]]);
}

#[test]
fn updates_of_another_shape_or_of_no_input() {
    let message = said(|graph| {
        let x = graph.input::<f32>([3]);
        graph.program((x.updated_by(x.sum(0)),), ())
    });
    let expected = "the input is input 0 of shape [3] and its update is sum at ";
    assert!(message.starts_with(expected), "{message}");
    let message = said(|graph| {
        let x = graph.input::<f32>([3]);
        graph.program(((x + 1.0).updated_by(x),), ())
    });
    assert_eq!(message, "input 0 of the program is no input");
}

#[test]
fn without_types() {
    let program = Program::trace(|graph| {
        let (x, y, z) = (graph.input::<f32>([2]), graph.input::<i32>([2]), graph.input([2]));
        graph.program((x.updated_by(x + z), y, z), (y * 2, z.gt(0.0)))
    })
    .unwrap();
    let (mut x, y, z) =
        (Tensor::from([1.0_f32, 2.0]), Tensor::from([3, 4]), Tensor::from([1.0_f32, -1.0]));
    let inputs = [DynView::from(&y), DynView::from(&z)];
    let outputs = program.run_dyn(&inputs, &mut [(&mut x).into()]).unwrap();
    let [doubled, positive] = outputs.try_into().ok().unwrap();
    assert_eq!(doubled.downcast::<i32>().ok().unwrap(), [6, 8]);
    assert_eq!(positive.dtype(), DType::BOOL8);
    assert_eq!(x, [2.0, 1.0]);

    let (mut doubled, mut positive) = (Tensor::<i32>::zeros(2).unwrap(), [Bool8::FALSE; 2]);
    let positive_view = TensorViewMut::from_slice(&mut positive, 2).unwrap();
    let mut into = [DynViewMut::from(&mut doubled), positive_view.into()];
    program.run_dyn_into(&inputs, &mut [(&mut x).into()], &mut into).unwrap();
    assert_eq!((doubled.to_vec(), positive[0].is_true()), (vec![6, 8], true));
    assert_eq!(x, [3.0, 0.0]);

    for (refused, message) in [
        (program.run_dyn(&inputs, &mut []), "0 inputs that are updated are given but"),
        (program.run_dyn(&inputs[..1], &mut [(&mut x).into()]), "1 inputs are given but"),
    ] {
        let refused = refused.err().unwrap();
        assert!(refused.message().starts_with(message), "{refused}");
    }
    let swapped = [inputs[1], inputs[0]];
    let refused = program.run_dyn(&swapped, &mut [(&mut x).into()]).err().unwrap();
    assert!(refused.message().starts_with("inputs[1] is f32 of rank 1"), "{refused}");
    assert_eq!(x, [3.0, 0.0]);
}

#[test]
fn an_update_is_written_in_place_where_no_later_step_reads_the_input() -> Result<()> {
    // Momentum: both are one pass each, without copies.
    let step = Program::trace(|graph| {
        let (w, v, g) =
            (graph.input::<f32>([999]), graph.input::<f32>([999]), graph.input::<f32>([999]));
        let next_v = v * 0.9 + g;
        graph.program((w.updated_by(w - next_v * 0.1), v.updated_by(next_v), g), ())
    })?;
    let (mut w, mut v, g) = (floats(1, [999]), floats(2, [999]), floats(3, [999]));
    let (old_w, old_v) = (w.try_clone()?, v.try_clone()?);
    assert_eq!(step.memory((&mut w, &mut v, &g))?.steps, 2);
    assert_eq!(step.memory((&mut w, &mut v, &g))?.peak_bytes, 0);
    step.run((&mut w, &mut v, &g))?;
    let next_v = (&old_v * 0.9 + &g).eval()?;
    assert_eq!(w, (&old_w - &next_v * 0.1).eval()?);
    assert_eq!(v, next_v);

    // A later step, a view of the input in the same step, another layout: the old elements are read.
    let step = Program::trace(|graph| {
        let (a, b, c) =
            (graph.input::<f32>([8, 8]), graph.input::<f32>([8, 8]), graph.input::<f32>([8, 8]));
        let later = a.matmul(b);
        let updates = (a.updated_by(a + b), b.updated_by(b + b.t()), c.updated_by(c * a.cumsum(0)));
        graph.program((updates.0, updates.1, updates.2), (later, c.t()))
    })?;
    let (mut a, mut b, mut c) = (floats(1, [8, 8]), floats(2, [8, 8]), floats(3, [8, 8]));
    let [old_a, old_b, old_c] = [a.try_clone()?, b.try_clone()?, c.try_clone()?];
    let (later, moved) = step.run((&mut a, &mut b, &mut c))?;
    assert_eq!(later, tenure::linalg::matmul(&old_a, &old_b)?);
    assert_eq!(moved, old_c.view().t().to_tensor()?);
    assert_eq!(a, (&old_a + &old_b).eval()?);
    assert_eq!(b, (&old_b + old_b.view().t()).eval()?);
    assert_eq!(c, (&old_c * &tenure::ops::cumsum(&old_a, 0)?).eval()?);
    Ok(())
}
