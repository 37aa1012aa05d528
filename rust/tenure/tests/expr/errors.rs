//! Refusals and their messages.

use super::*;

#[track_caller]
fn said<T: Element>(expr: Expr<'_, T>) -> String {
    let error = expr.eval().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    error.message().to_owned()
}

#[test]
fn shapes_that_do_not_broadcast() {
    let (a, b) = (Tensor::<f32>::zeros([2, 3]).unwrap(), Tensor::<f32>::zeros([4]).unwrap());
    let line = line!() + 1;
    let message = said((&a + 1.0) * &b);
    let file = file!();
    let expected = format!(
        "mul at {file}:{line}:24: a is add at {file}:{line}:24 of shape [2, 3] and b is a view of \
         shape [4]: axis 1 is 3 and 4"
    );
    assert_eq!(message, expected);

    let message = said(a.expr().fma(1.0, &b));
    assert!(message.starts_with("fma at "), "{message}");
    assert!(
        message.contains("b is a number of shape [] and c is a view of shape [4]"),
        "{message}"
    );
    let message = said(a.expr().lt(0.0).select(&b, 0.0));
    assert!(message.contains(": condition is lt at "), "{message}");
    // A call with an output has the same message.
    let mut out = Tensor::zeros([2, 3]).unwrap();
    let error = (&a * &b).eval_into(&mut out).err().unwrap();
    assert!(error.message().ends_with("axis 1 is 3 and 4"), "{error}");
}

#[test]
fn an_output_of_another_shape() {
    let a = Tensor::<f32>::zeros([2, 3]).unwrap();
    let error = (&a + 1.0).eval_into(&mut [0.0; 3]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("a result of shape [2, 3] into [3]"), "{error}");
}

#[test]
fn no_such_axis() {
    let a = Tensor::<f32>::zeros([2, 3]).unwrap();
    let message = said((&a + 1.0).sum(2));
    assert!(message.starts_with("sum at ") && message.ends_with("axis is 2 but a has rank 2"));
    // It stays an error, whatever follows.
    let broken = (&a + 1.0).softmax(-3);
    assert!(said(&a + broken.clone()).contains("softmax at "));
    assert!(said(broken.clone() * broken).contains("softmax at "));
}

#[test]
fn a_reduction_amid_others_over_another_axis() {
    let a = Tensor::<f32>::zeros([2, 3]).unwrap();
    assert!(said(&a - a.expr().mean(Axes::keep(0))).contains("expression up to sub at "));
    said(a.expr().mean(1) + 1.0);
    said(a.expr().softmax(1) + 1.0);
}

#[test]
fn what_only_the_data_shows() {
    let (a, b) = (Tensor::from([6, 7]), Tensor::from([1, 0]));
    assert!(said(&a / &b + 1).contains("expression up to add at "));
    said(a.expr().pow(-1));
    said(&a % 0);
    assert!(Tensor::from([1, 2]).update(|x| x / &b).is_err());
}

#[test]
fn nothing_to_choose_from() {
    let empty = Tensor::<f32>::zeros([2, 0]).unwrap();
    said(empty.expr().max(1));
    assert_eq!((&empty + 1.0).sum(1).eval().unwrap(), [0.0, 0.0]);
    assert_eq!((&empty + 1.0).eval().unwrap().shape(), [2, 0]);
    assert_eq!((&empty - empty.expr().mean(Axes::keep(-1))).eval().unwrap().shape(), [2, 0]);
}
