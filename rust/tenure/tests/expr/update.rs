//! Expressions of an output itself.

use super::*;

#[test]
fn an_update_is_in_place() {
    let (mean, std) = (Tensor::from([1.0, 2.0]), Tensor::from([[2.0], [4.0]]));
    let mut a = Tensor::from([[1.0_f64, 2.0], [3.0, 4.0]]);
    let address = a.as_ptr();
    a.update(|x| (x - &mean) / &std).unwrap();
    assert_eq!(a, [[0.0, 0.0], [0.5, 0.5]]);
    assert_eq!(a.as_ptr(), address);

    let mut view = a.view_mut();
    view.update(|x| x.clone() * x + 1.0).unwrap();
    view.view_mut().t().update(|x| x - &[0.0, 1.0]).unwrap();
    assert_eq!(a, [[1.0, 1.0], [0.25, 0.25]]);
}

#[test]
fn an_update_may_leave_its_argument_alone() {
    let mut a = Tensor::from([1, 2]);
    a.update(|_| Expr::from(7)).unwrap();
    assert_eq!(a, [7, 7]);
    a.update(|_| [3].expr() + 1).unwrap();
    assert_eq!(a, [4, 4]);
    a.update(|x| x).unwrap();
    assert_eq!(a, [4, 4]);
}

#[test]
fn rows_are_read_before_they_are_written() {
    let a = tensor(&mut Random::new(1), [7, 600], f32::small);
    let expected = (&a - a.expr().mean(Axes::keep(-1))).eval();
    let mut own = a.try_clone().unwrap();
    own.update(|x| x.clone() - x.mean(Axes::keep(-1))).unwrap();
    assert_same(&Ok(own), &expected, "rows");
}

#[test]
fn the_argument_is_nothing_elsewhere() {
    let mut a = Tensor::from([1.0, 2.0]);
    let mut escaped = None;
    a.update(|x| {
        escaped = Some(x.clone());
        x * 2.0
    })
    .unwrap();
    let escaped = escaped.unwrap();
    let unbound = |result: Result<()>| {
        let error = result.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::UnboundArgument, "{error}");
    };
    unbound(escaped.eval().map(drop));
    unbound((escaped.clone() + 1.0).eval_into(&mut [0.0; 2]));
    unbound((&a + escaped.clone()).sum(..).eval().map(drop));
    unbound(a.update(|x| x + escaped.clone()));
    unbound(a.update(|_| escaped.clone()));
    let mut other = Tensor::from([1.0, 2.0]);
    unbound(other.update(|x| escaped.clone() + x));
    assert_eq!((a, other), (Tensor::from([2.0, 4.0]), Tensor::from([1.0, 2.0])));
}

#[test]
fn what_does_not_fit_leaves_the_output_alone() {
    let mut a = Tensor::from([1.0, 2.0]);
    let error = a.update(|x| x + &[[1.0], [2.0], [3.0]]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("a result of shape [3, 2] into [2]"), "{error}");
    let error = a.update(|x| x + &[1.0, 2.0, 3.0]).err().unwrap();
    let said = "a is the output of shape [2] and b is a view of shape [3]: axis 0 is 2 and 3";
    assert!(error.message().contains(said), "{error}");
    assert!(a.update(|x| x.sum(..)).is_err());
    assert_eq!(a, [1.0, 2.0]);
}
