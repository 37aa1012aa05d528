//! The operands that expressions keep on the way to the library: also run under Miri, where a
//! stand-in reads all memory that it gets, and gives each byte the count of operations.

use tenure::*;

/// Checks the result, and under Miri the count of operations.
#[track_caller]
fn assert_result(result: Tensor<u8>, expected: u8, operation_count: u8) {
    let expected = if cfg!(miri) { operation_count } else { expected };
    assert!(result.iter().all(|&element| element == expected), "{result}");
}

fn ones(shape: impl IntoShape) -> Tensor<u8> {
    let count = shape.extents().iter().product();
    Tensor::from_vec(vec![1; count], shape).unwrap()
}

#[test]
fn references_and_values() {
    let (a, shared) = (ones([3, 4]), ones(4).into_shared());
    let (mut lent, slice) = ([1; 4], [1_u8; 4]);
    let lent = TensorViewMut::from_slice(&mut lent, 4).unwrap();
    let e = &a + &shared + &lent + &slice + 5 + Expr::from(a.index(0, 1).unwrap());
    let e = e + Expr::from(a.t().slice_step(1, .., -1).unwrap().t());
    assert_result(e.eval().unwrap(), 11, 6);
    assert_result((e.clone() + e).eval().unwrap(), 22, 7);
}

#[test]
fn beyond_the_room_in_place() {
    let a = ones([2, 3]);
    let long = |count: u8| (0..count).fold(a.expr(), |sum, n| sum + u8::from(n > 99) + &[1; 3]);
    assert_result(long(8).eval().unwrap(), 9, 16);
    assert_result(long(9).eval().unwrap(), 10, 18);
    assert_result((long(9) - long(12)).eval().unwrap(), 253, 25);
    assert_result((1 - long(9)).eval().unwrap(), 247, 19);
    let many = (0..30).fold(a.expr(), |sum, _| sum.maximum(&[[1_u8; 3], [0; 3]]));
    assert_result(many.eval().unwrap(), 1, 30);
}

#[test]
fn attributes() {
    let a = Tensor::from_vec(vec![1.0_f32; 6], [2, 3]).unwrap();
    let (weight, bias) = ([1.0; 3], vec![0.5_f32; 3]);
    let norm = || LayerNorm::new().weight(&weight).bias(&bias);
    let mut out = Tensor::from_vec(vec![0.0_f32; 6], [2, 3]).unwrap();
    (&a + 1.0).layer_norm(-1, norm()).eval_into(&mut out).unwrap();
    (0..20)
        .fold(a.expr(), |sum, _| sum + 0.0)
        .rms_norm(-1, LayerNorm::new())
        .eval_into(&mut out)
        .unwrap();
    let centred = || (a.expr() - a.expr().mean(Axes::keep(-1))) * a.expr().var(Axes::keep(-1), 1);
    (centred() + centred()).eval_into(&mut out).unwrap();
    a.expr().norm(.., 3.0).eval().unwrap();
}

#[test]
fn updates() {
    let mut a = ones([2, 3]);
    let b = ones(3);
    a.update(|x| x.clone() + x + &b).unwrap();
    assert_result(a.try_clone().unwrap(), 3, 2);
    let mut escaped = None;
    a.view_mut().t().update(|x| escaped.insert(x.clone()).clone() + 1).unwrap();
    assert!(escaped.unwrap().eval().is_err());
}

#[test]
fn dropped_and_sent() {
    let a = ones([2, 3]);
    let grown = (0..40).fold(a.expr(), |sum, _| sum + 0);
    drop(grown.clone());
    let other = std::thread::scope(|scope| scope.spawn(move || grown.eval()).join().unwrap());
    assert_result(other.unwrap(), 1, 40);
    let broken = (&a + 1).sum(5) + 1;
    drop(broken.clone());
    assert!(broken.eval().is_err());
}
