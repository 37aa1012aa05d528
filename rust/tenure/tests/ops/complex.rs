//! Arithmetic of complex numbers, compared with `num_complex`.

use tenure::{
    Arithmetic, AsView, AsViewMut, Bool8, Complex, ComplexNumber, CsrMatrix, ErrorKind, Field,
    Result, Tensor,
    ops::{
        abs, abs_assign, abs_into, add, add_assign, add_into, arg, arg_into, conj, conj_assign,
        conj_into, div, div_assign, eq, eq_into, mean, mean_all, mul, mul_assign, ne, neg,
        reciprocal, square, sub, sub_assign, sum, sum_all,
    },
};

type C = Complex<f64>;

const A: [C; 3] = [C::new(1.0, 2.0), C::new(-3.0, 0.5), C::new(0.0, -4.0)];
const B: [C; 3] = [C::new(2.0, 0.0), C::new(0.5, 0.5), C::new(-1.0, 8.0)];

fn each(f: impl Fn(C, C) -> C) -> Vec<C> {
    A.into_iter().zip(B).map(|(a, b)| f(a, b)).collect()
}

#[test]
fn operations_on_two_are_those_of_num_complex() -> Result<()> {
    assert_eq!(add(&A, &B)?.to_vec(), each(|a, b| a + b));
    assert_eq!(sub(&A, &B)?.to_vec(), each(|a, b| a - b));
    assert_eq!(mul(&A, &B)?.to_vec(), each(|a, b| a * b));
    assert_eq!(mul(div(&A, &B)?, &B)?.to_vec(), A);
    let mut out = [C::default(); 3];
    add_into(&A, B[2], &mut out)?;
    assert_eq!(out, A.map(|a| a + B[2]));
    add_assign(&mut out, C::new(1.0, -8.0))?;
    sub_assign(&mut out, &[C::ZERO])?;
    mul_assign(&mut out, C::I)?;
    div_assign(&mut out, &[C::I])?;
    assert_eq!(out, A);
    Ok(())
}

#[test]
fn operations_on_one_give_numbers_or_their_parts() -> Result<()> {
    assert_eq!(neg(&A)?.to_vec(), A.map(|a| -a));
    assert_eq!(conj(&A)?.to_vec(), A.map(|a| a.conj()));
    assert_eq!(square(&A)?.to_vec(), A.map(|a| a * a));
    assert_eq!(reciprocal(&[C::new(0.0, 2.0)])?.to_vec(), [C::new(0.0, -0.5)]);
    let magnitudes: Tensor<f64> = abs(&[C::new(3.0, -4.0)])?;
    assert_eq!(magnitudes.to_vec(), [5.0]);
    let angles: Tensor<f32> = arg(&[Complex::new(0.0_f32, 2.0)])?;
    assert_eq!(angles.to_vec(), [std::f32::consts::FRAC_PI_2]);

    let mut numbers = A;
    conj_assign(&mut numbers)?;
    let mut back = [C::default(); 3];
    conj_into(&numbers, &mut back)?;
    assert_eq!(back, A);
    let mut parts = [0.0; 2];
    abs_into(C::new(6.0, 8.0), &mut parts)?;
    assert_eq!(parts, [10.0; 2]);
    arg_into(C::new(-1.0, 0.0), &mut parts)?;
    assert_eq!(parts, [std::f64::consts::PI; 2]);
    // For real numbers the magnitude overwrites the number.
    let mut numbers = [-1.5, 2.0];
    abs_assign(&mut numbers)?;
    assert_eq!(numbers, [1.5, 2.0]);
    Ok(())
}

#[test]
fn generic_code_takes_real_and_complex_numbers() -> Result<()> {
    fn middle<T: Field>(a: impl AsView<T>) -> Result<T> {
        mean_all(a)
    }
    fn distance<T: Arithmetic>(a: &[T], b: &[T]) -> Result<T::Magnitude> {
        Ok(abs(sub(a, b)?)?.to_vec()[0])
    }
    fn norms<T: ComplexNumber>(a: impl AsView<T>) -> Result<Tensor<T>> {
        let a = a.as_view();
        mul(a, conj(a)?)
    }
    assert_eq!(middle([1.0_f32, 2.0])?, 1.5);
    assert_eq!(middle([C::I, C::ONE])?, C::new(0.5, 0.5));
    assert_eq!(distance(&[3_i32], &[5])?, 2);
    assert_eq!(distance(&[C::new(3.0, 4.0)], &[C::ZERO])?, 5.0);
    assert_eq!(norms(&A)?.to_vec(), A.map(|a| C::from(a.norm_sqr())));
    Ok(())
}

#[test]
fn sums_and_means_are_those_of_both_parts() -> Result<()> {
    let matrix = [A, B];
    assert_eq!(sum(&matrix, 0)?.to_vec(), each(|a, b| a + b));
    assert_eq!(sum(&matrix, 1)?.to_vec(), [C::new(-2.0, -1.5), C::new(1.5, 8.5)]);
    assert_eq!(sum_all(&matrix)?, C::new(-0.5, 7.0));
    assert_eq!(mean(&[[C::new(1.0, 3.0)], [C::new(3.0, 5.0)]], ..)?.item(), Some(C::new(2.0, 4.0)));
    assert_eq!(sum_all(Tensor::<C>::zeros([0, 3])?)?, C::ZERO);
    assert!(mean_all(Tensor::<C>::zeros([0])?)?.is_nan());
    Ok(())
}

#[test]
fn numbers_are_equal_in_both_parts() -> Result<()> {
    let other = [A[0], C::new(-3.0, 0.0), C::new(1.0, -4.0)];
    let truths = [true, false, false].map(Bool8::from);
    assert_eq!(eq(&A, &other)?.to_vec(), truths);
    assert_eq!(ne(&A, &other)?.to_vec(), truths.map(|t| Bool8::from(!t.is_true())));
    let mut out = [Bool8::FALSE; 3];
    eq_into(&A, C::new(-3.0, 0.5), &mut out)?;
    assert_eq!(out, [false, true, false].map(Bool8::from));
    // Truth values compare by their truth, and not by their byte.
    let bytes = [Bool8::from_byte(2), Bool8::FALSE];
    assert_eq!(eq(&bytes, Bool8::TRUE)?.to_vec(), [true, false].map(Bool8::from));
    Ok(())
}

#[test]
fn sparse_matrices_of_complex_numbers_have_the_functions_of_zero() -> Result<()> {
    let matrix = CsrMatrix::from_vecs(1, 3, vec![0, 3], vec![0, 1, 2], A.to_vec())?;
    assert_eq!(matrix.neg()?.view().values(), A.map(|a| -a));
    assert_eq!(matrix.conj()?.view().values(), A.map(|a| a.conj()));
    assert_eq!(matrix.square()?.view().values(), A.map(|a| a * a));
    assert_eq!(matrix.mul_scalar(C::I)?.view().values(), A.map(|a| a * C::I));
    Ok(())
}

#[test]
fn shapes_that_do_not_broadcast_are_refused() {
    let mut out = [C::default(); 2];
    let error = add_into(&A, &B, &mut out.as_view_mut()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(abs_into(&A, &mut [0.0; 2]).is_err());
}
