//! Operands of an expression.

use super::*;

fn table() -> Tensor<f32> {
    Tensor::from([[1.0, 2.0], [3.0, 4.0]])
}

#[test]
fn operators_take_references_on_both_sides() {
    let a = table();
    let shared = table().into_shared();
    let mut data = [10.0_f32, 20.0];
    let own = data;
    let view = TensorView::from_slice(&own, 2).unwrap();
    let lent = TensorViewMut::from_slice(&mut data, 2).unwrap();
    let expected = [[11.0, 22.0], [13.0, 24.0]];
    for result in [
        &a + &view,
        &view + &a,
        &a + &lent,
        &lent + &a,
        &shared + &view,
        &view + &shared,
        &a + Expr::from(view),
        &a + &own,
        &a + &own[..],
        &a + &own.to_vec(),
        own.expr() + &a,
        view.expr() + a.expr(),
        &a + lent.expr(),
        a.expr() + &own,
        Expr::from(&a) + Expr::from(view),
        Expr::from(own.as_slice()) + &shared,
    ] {
        assert_eq!(result.eval().unwrap(), expected);
    }
}

#[test]
fn operators_and_methods_take_views_by_value() {
    let data = [1.0_f32, 2.0, 3.0, 4.0];
    let view = TensorView::from_slice(&data, [2, 2]).unwrap();
    let tensor = table();
    let doubled = [[2.0, 4.0], [6.0, 8.0]];
    for result in [
        view + view,
        view + &view,
        &view + view,
        view + &tensor,
        &tensor + view,
        view * 2.0,
        2.0 * view,
        view.expr() + view,
        Expr::from(view) * 2.0,
        // A view that a method returns.
        tensor.view() + tensor.t().t(),
    ] {
        assert_eq!(result.eval().unwrap(), doubled);
    }
    assert_eq!((-view).eval().unwrap(), [[-1.0, -2.0], [-3.0, -4.0]]);
    assert_eq!((view.t() - view).eval().unwrap(), [[0.0, 1.0], [-1.0, 0.0]]);
    assert_eq!(view.expr().minimum(view.t()).eval().unwrap(), [[1.0, 2.0], [2.0, 4.0]]);
    let bits = Tensor::from([0b01_u8, 0b11]);
    assert_eq!((!bits.view() & bits.view().flip(0).unwrap()).eval().unwrap(), [0b10, 0]);
    assert_eq!((bits.view() << bits.view()).eval().unwrap(), [0b10, 0b11000]);
}

#[test]
fn numbers_stand_on_both_sides() {
    let a = table();
    assert_eq!((2.0 * &a - 1.0).eval().unwrap(), [[1.0, 3.0], [5.0, 7.0]]);
    assert_eq!((1.0 - &a).eval().unwrap(), [[0.0, -1.0], [-2.0, -3.0]]);
    assert_eq!((12.0 / (&a + 0.0)).eval().unwrap(), [[12.0, 6.0], [4.0, 3.0]]);
    let i = Tensor::from([7_i32, -8]);
    assert_eq!((100 % &i).eval().unwrap(), [2, 4]);
    assert_eq!((1 << (&i & 3)).eval().unwrap(), [8, 1]);
    assert_eq!((&i >> 1).eval().unwrap(), [3, -4]);
    let half = Tensor::from([f16::ONE]);
    assert_eq!((f16::ONE + &half * f16::ONE).eval().unwrap(), [f16::from_f32(2.0)]);
    let byte = Tensor::from([200_u8]);
    assert_eq!((100 + &byte).eval().unwrap(), [44]);
}

#[test]
fn bits_of_integers_and_truth_values() {
    let i = Tensor::from([0b1100_u8, 0b1010]);
    assert_eq!((!(&i & 0b0110) ^ &i | 1).eval().unwrap(), [0b1111_0111, 0b1111_0111]);
    let [a, b] = [[true, false], [true, true]].map(|values| Tensor::from(values.map(Bool8::from)));
    assert_eq!((&a & &b).eval().unwrap(), [true, false].map(Bool8::from));
    assert_eq!((!&a | Bool8::FALSE).eval().unwrap(), [false, true].map(Bool8::from));
    assert_eq!((&a ^ &b).eval().unwrap(), [false, true].map(Bool8::from));
}

/// A method each, of arrays of arrays and what else lends.
#[test]
fn what_lends_begins_an_expression() {
    assert_eq!([[1, 2], [3, 4]].expr().sum(0).eval().unwrap(), [4_i64, 6]);
    assert_eq!(vec![1.0, 4.0].expr().sqrt().eval().unwrap(), [1.0, 2.0]);
    assert_eq!(4.0.expr().sqrt().eval().unwrap().item(), Some(2.0));
    assert_eq!(Expr::from(4.0).sqrt().eval().unwrap().item(), Some(2.0));
    let mut data = [1, 2];
    let borrowed = &mut data;
    assert_eq!((-borrowed.expr()).eval().unwrap(), [-1, -2]);
}

#[test]
fn without_an_operation_it_is_a_copy() {
    let a = table();
    let copy = a.t().expr().eval().unwrap();
    assert_eq!(copy, [[1.0, 3.0], [2.0, 4.0]]);
    assert!(copy.is_row_major());
    assert_eq!(Expr::from(7_u8).eval().unwrap().item(), Some(7));
    let mut out = [[0.0; 2]; 2];
    [5.0, 6.0].expr().eval_into(&mut out).unwrap();
    assert_eq!(out, [[5.0, 6.0]; 2]);
    Expr::from(2.0).eval_into(&mut out).unwrap();
    assert_eq!(out, [[2.0; 2]; 2]);
    let complex = Tensor::from([Complex::new(1.0, 2.0)]);
    assert_eq!(complex.expr().eval().unwrap(), complex);
}

#[test]
fn views_by_value_keep_their_strides() {
    let data: Vec<i32> = (0..60).collect();
    let view = TensorView::from_slice(&data, [3, 4, 5]).unwrap();
    let parts = [
        view.t().slice(0, 1..4).unwrap(),
        view.flip(1).unwrap().t(),
        view.slice_step(2, .., -2).unwrap(),
        view.index(0, 1).unwrap(),
        view.broadcast([2, 3, 4, 5]).unwrap(),
        view.slice(1, 2..2).unwrap(),
        view.index(0, 0).unwrap().index(0, 0).unwrap().index(0, 2).unwrap(),
    ];
    for part in parts {
        let expected = ops::neg(part);
        assert_same(&Expr::from(part).neg().eval(), &expected, "by value");
        assert_same(&(-part.expr()).eval(), &expected, "by value");
        assert_same(&(-&part).eval(), &expected, "by reference");
    }
}

#[test]
fn a_clone_is_not_computed_again() {
    let (a, b) = (table(), [3.0]);
    let e = &a * 2.0 + &b;
    let twice = e.clone() * e.clone() + e.clone();
    // mul, add, mul, add.
    assert_eq!(format!("{twice:?}"), "Expr<f32>(mul, add, mul, add)");
    assert_eq!(twice.eval().unwrap(), [[30.0, 56.0], [90.0, 132.0]]);
    let rows = (&a - a.expr().mean(Axes::keep(-1))).square() / (&a - a.expr().mean(Axes::keep(-1)));
    assert_eq!(format!("{rows:?}"), "Expr<f32>(mean, sub, square, div)");
    // Nodes are shared by the memory that they read, and not by its content: other memory is
    // another operand.
    let c = table();
    assert_eq!(format!("{:?}", -a.expr() + -c.expr()), "Expr<f32>(neg, neg, add)");
}

#[test]
fn it_is_evaluated_as_often_as_one_likes_and_on_any_thread() {
    let a = table();
    let e = &a + 1.0;
    let (one, two) = std::thread::scope(|scope| {
        let other = scope.spawn(|| e.eval().unwrap());
        (e.eval().unwrap(), other.join().unwrap())
    });
    assert_eq!(one, two);
    let moved = std::thread::scope(|scope| scope.spawn(move || e.eval().unwrap()).join().unwrap());
    assert_eq!(moved, one);
}

#[test]
fn hundreds_of_operations() {
    let a = Tensor::from([1.0_f64, 2.0]);
    let mut chain = a.expr();
    let mut nested = a.expr();
    for step in 0..256 {
        chain = chain + f64::from(step);
        nested = f64::from(step) + nested;
    }
    let sum = f64::from(255 * 128);
    assert_eq!(chain.eval().unwrap(), [sum + 1.0, sum + 2.0]);
    assert_eq!(nested.eval().unwrap(), [sum + 1.0, sum + 2.0]);
    let error = (chain + 1.0).eval().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().starts_with("an expression has 256 operations at most"), "{error}");

    // Two halves that do not share nodes.
    let half = || (0..128).fold(a.expr(), |sum, step| sum + f64::from(step));
    let other = || (0..127).fold(a.expr(), |sum, step| sum - f64::from(step));
    let expected = [1.0, 2.0].map(|x| (x + 8128.0) * (x - 8001.0));
    assert_eq!((half() * other()).eval().unwrap(), expected);
    assert!((half() * other() + 1.0).eval().is_err());
}

#[test]
fn sums_of_many_views() {
    let tensors: Vec<_> = (0..32).map(|n| Tensor::from([n, 2 * n])).collect();
    let sum = tensors.iter().fold(Expr::from(0), |sum, tensor| sum + tensor);
    assert_eq!(sum.eval().unwrap(), [496, 992]);
    let more = Tensor::from([1, 1]);
    let error = (sum.clone() + &more).eval().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    // One of them again is no other view.
    assert_eq!((sum + &tensors[31]).eval().unwrap(), [527, 1054]);
}
