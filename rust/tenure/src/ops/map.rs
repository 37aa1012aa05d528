//! Functions of Rust's, element by element.

use super::results::{broadcast_shape, refused};
use crate::dense::{Tensor, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};

/// `f` of every element of `a`. A new row-major tensor of the shape of `a`.
///
/// `f` is called in row-major order, on this thread: operations that the library has of its own,
/// and chains of them, are faster. A panic of `f` leaves no tensor.
///
/// # Errors
///
/// `OutOfMemory`.
///
/// ```
/// use tenure::ops::map;
///
/// assert_eq!(map(&[1.4_f32, -2.6], |x| x.round() as i32)?, [1, -3]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("mapv", "apply", "vectorize"))]
pub fn map<T: Element, U: Element>(
    a: impl AsView<T>,
    mut f: impl FnMut(T) -> U,
) -> Result<Tensor<U>> {
    a.with_view(|a| match a.as_slice() {
        Some(elements) => Tensor::collected(a.shape(), elements.iter().map(|&x| f(x))),
        None => Tensor::collected(a.shape(), a.iter().map(|&x| f(x))),
    })
}

/// `f` of every element of `a`, broadcast. Written to `out`.
///
/// A panic of `f` leaves the elements before it written.
///
/// # Errors
///
/// `InvalidArgument`: `a` does not broadcast to `out`.
///
/// ```
/// let mut out = [[0; 2]; 2];
/// tenure::ops::map_into(&[1, 2], |x| x * x, &mut out)?;
/// assert_eq!(out, [[1, 4], [1, 4]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn map_into<T: Element, U: Element>(
    a: impl AsView<T>,
    mut f: impl FnMut(T) -> U,
    out: &mut (impl AsViewMut<U> + ?Sized),
) -> Result<()> {
    let (a, mut out) = (a.as_view(), out.as_view_mut());
    let a = a.broadcast(out.shape())?;
    match (a.as_slice(), out.as_mut_slice()) {
        (Some(a), Some(out)) => a.iter().zip(out).for_each(|(&x, out)| *out = f(x)),
        _ => a.iter().zip(out).for_each(|(&x, out)| *out = f(x)),
    }
    Ok(())
}

/// `f` of every element, in place.
///
/// A panic of `f` leaves the elements before it written.
///
/// ```
/// let mut data = [1.0_f32, -2.0, 3.0];
/// tenure::ops::map_assign(&mut data, |x| x.max(0.0));
/// assert_eq!(data, [1.0, 0.0, 3.0]);
/// ```
#[doc(alias("mapv_inplace", "map_inplace", "apply_"))]
pub fn map_assign<T: Element>(out: &mut (impl AsViewMut<T> + ?Sized), mut f: impl FnMut(T) -> T) {
    out.with_view_mut(|out| match out.as_mut_slice() {
        Some(elements) => elements.iter_mut().for_each(|x| *x = f(*x)),
        None => out.iter_mut().for_each(|x| *x = f(*x)),
    });
}

/// `f` of the elements of `a` and `b` at each index. A new row-major tensor of the shape that both
/// broadcast to.
///
/// `f` is called in row-major order, on this thread. A panic of it leaves no tensor.
///
/// # Errors
///
/// `InvalidArgument`: the shapes do not broadcast. `OutOfMemory`.
///
/// ```
/// use tenure::ops::zip_with;
///
/// let names = zip_with(&[[1_u8], [2]], &[10_i32, 20], |a, b| i32::from(a) * b + 1)?;
/// assert_eq!(names, [[11, 21], [21, 41]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("zip", "map_collect", "zip_map", "map2"))]
pub fn zip_with<A: Element, B: Element, U: Element>(
    a: impl AsView<A>,
    b: impl AsView<B>,
    mut f: impl FnMut(A, B) -> U,
) -> Result<Tensor<U>> {
    let (a, b) = (a.as_view(), b.as_view());
    let shapes = [a.shape(), b.shape()];
    let shape =
        broadcast_shape(shapes).map_err(|error| refused(error, "zip_with", &shapes, None))?;
    let shape = shape.as_slice();
    let (a, b): (TensorView<'_, A>, TensorView<'_, B>) = (a.broadcast(shape)?, b.broadcast(shape)?);
    match (a.as_slice(), b.as_slice()) {
        (Some(a), Some(b)) => Tensor::collected(shape, a.iter().zip(b).map(|(&a, &b)| f(a, b))),
        _ => Tensor::collected(shape, a.iter().zip(b).map(|(&a, &b)| f(a, b))),
    }
}

/// `f` of the elements of `a` and `b`, broadcast, at each index. Written to `out`.
///
/// A panic of `f` leaves the elements before it written.
///
/// # Errors
///
/// `InvalidArgument`: `a` or `b` does not broadcast to `out`.
///
/// ```
/// let mut out = [0; 3];
/// tenure::ops::zip_with_into(&[1, 2, 3], 10, |a, b| a + b, &mut out)?;
/// assert_eq!(out, [11, 12, 13]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn zip_with_into<A: Element, B: Element, U: Element>(
    a: impl AsView<A>,
    b: impl AsView<B>,
    mut f: impl FnMut(A, B) -> U,
    out: &mut (impl AsViewMut<U> + ?Sized),
) -> Result<()> {
    let (a, b, mut out) = (a.as_view(), b.as_view(), out.as_view_mut());
    let (a, b) = (a.broadcast(out.shape())?, b.broadcast(out.shape())?);
    match (a.as_slice(), b.as_slice(), out.as_mut_slice()) {
        (Some(a), Some(b), Some(out)) => {
            a.iter().zip(b).zip(out).for_each(|((&a, &b), out)| *out = f(a, b));
        }
        _ => a.iter().zip(b).zip(out).for_each(|((&a, &b), out)| *out = f(a, b)),
    }
    Ok(())
}

/// `f` of each element of `out` and that of `b`, broadcast, in place.
///
/// A panic of `f` leaves the elements before it written.
///
/// # Errors
///
/// `InvalidArgument`: `b` does not broadcast to `out`.
///
/// ```
/// let mut data = [[1.0, 2.0], [3.0, 4.0]];
/// tenure::ops::zip_with_assign(&mut data, &[2.0, 3.0], |x, y| x * y + 1.0)?;
/// assert_eq!(data, [[3.0, 7.0], [7.0, 13.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "zip_mut_with")]
pub fn zip_with_assign<T: Element, B: Element>(
    out: &mut (impl AsViewMut<T> + ?Sized),
    b: impl AsView<B>,
    mut f: impl FnMut(T, B) -> T,
) -> Result<()> {
    let (b, mut out): (_, TensorViewMut<'_, T>) = (b.as_view(), out.as_view_mut());
    let b = b.broadcast(out.shape())?;
    match (out.as_mut_slice(), b.as_slice()) {
        (Some(out), Some(b)) => out.iter_mut().zip(b).for_each(|(x, &b)| *x = f(*x, b)),
        _ => out.into_iter().zip(b).for_each(|(x, &b)| *x = f(*x, b)),
    }
    Ok(())
}
