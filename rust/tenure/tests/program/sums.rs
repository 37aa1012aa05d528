//! `sum_to`: the sum over the axes that broadcast one shape to another.

use super::*;

/// The extents of `a`, those that it is summed to, and the axes of the sum.
const SHAPES: [([usize; 3], &[usize], &[isize]); 7] = [
    ([2, 3, 4], &[2, 3, 4], &[]),
    ([2, 3, 4], &[3, 4], &[0]),
    ([2, 3, 4], &[4], &[0, 1]),
    ([2, 3, 4], &[], &[0, 1, 2]),
    ([2, 3, 4], &[2, 1, 4], &[1]),
    ([2, 3, 4], &[3, 1], &[0, 2]),
    ([2, 1, 4], &[1, 1, 4], &[0]),
];

fn of<T: Number + Real + Sample>()
where
    T::Sum: Real + Sample,
{
    let random = &mut Random::new(1);
    for (shape, to, axes) in SHAPES {
        let a = tensor(random, shape, T::small);
        let like = vec![Bool8::from(false); to.iter().product()];
        let like = Tensor::from_vec(like, [to.iter().product()]).unwrap();
        let like = like.reshape(to).unwrap();
        for program in traced(|graph| {
            let (a, like) = (graph.input::<T>(shape), graph.input::<Bool8>(to));
            graph.program((a, like), a.sum_to(like))
        }) {
            let found = program.unwrap().run((&a, &like)).unwrap();
            assert_eq!(found.shape(), to);
            let sum = if axes.is_empty() {
                ops::cast::<T::Sum, _>(&a).unwrap()
            } else {
                ops::sum(&a, axes).unwrap()
            };
            assert!(found.iter().zip(sum.iter()).all(|(a, b)| a.bits() == b.bits()), "{shape:?}");
        }
    }
}

#[test]
fn are_those_of_the_axes_that_broadcast() {
    of::<f64>();
    of::<f32>();
    of::<half::f16>();
    of::<i32>();
    of::<u8>();
}

/// A sum of one element would lose its sign.
#[test]
fn keep_a_zero_of_equal_shapes() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x,), x.sum_to(x.exp()))
    });
    let found = program.unwrap().run((&[-0.0_f32, 1.0],)).unwrap();
    assert!(found[[0]].is_sign_negative());
}

/// The shape follows from a count in the data of each run.
#[test]
fn are_of_the_shape_that_a_run_decides() {
    let program = Program::trace(|graph| {
        let (x, mask) = (graph.input::<f32>([2, 6]), graph.input::<Bool8>([6]));
        let (row, kept) = x.slice(0, 0, 1).reshape([6]).masked_select(mask, "kept", 6);
        graph.program((x, mask), row.reshape((1, kept)).broadcast((3, kept)).sum_to(row))
    });
    let program = program.unwrap();
    let x = [[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]; 2];
    for count in [0, 1, 4] {
        let mask: Vec<Bool8> = (0..6).map(|i| Bool8::from(i < count)).collect();
        let expected: Vec<f32> = (0..count).map(|i| 3.0 * (i + 1) as f32).collect();
        assert_eq!(program.run((&x, &mask[..])).unwrap().to_vec(), expected);
    }
}

#[test]
fn are_refused_where_nothing_broadcasts() {
    let words = said(|graph| {
        let (x, like) = (graph.input::<f32>([2, 3]), graph.input::<f32>([2]));
        graph.program((x, like), x.sum_to(like))
    });
    assert!(words.contains("sum_to"), "{words}");
    assert!(
        words.contains("like has shape [2], which does not broadcast to [2, 3] of a"),
        "{words}"
    );
    let longer = said(|graph| {
        let (x, like) = (graph.input::<f32>([3]), graph.input::<f32>([2, 3]));
        graph.program((x, like), x.sum_to(like))
    });
    assert!(longer.contains("does not broadcast"), "{longer}");
}
