//! The operations of the ABI, for checked views. The requirements of all of these calls are the
//! invariants of `Lent` and `LentMut`.

use std::ffi::CStr;
use std::mem::size_of;
use std::ptr;

use tenure_sys as sys;
use tenure_sys::{
    TNR_MAX_RANK, tnr_batch_norm_attributes, tnr_binary_op, tnr_compare_op, tnr_conv2d_attributes,
    tnr_moments_attributes, tnr_normalize_attributes, tnr_normalize_op, tnr_pool2d_attributes,
    tnr_random_distribution, tnr_reduce_attributes, tnr_reduce_op, tnr_scalar, tnr_scan_op,
    tnr_ternary_op, tnr_unary_op, tnr_view,
};

use super::context::current;
use super::{Input, Lent, LentMut, check, entered, traced};
use crate::dtype::Element;
use crate::error::Result;

/// Converts elements to the dtype of `out`, broadcast to its shape.
#[inline]
pub(crate) fn cast(a: Lent<'_>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(cast(&out.0.view));
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `out` is a checked, distinct view that nothing else touches; the library checks the
    // context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_cast(current(), a.0, ptr::null(), out.0) })
}

/// Sets every element of `out`.
#[inline]
pub(crate) fn fill<T: Element>(value: T, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(fill(&out.0.view));
    let value = scalar(value);
    // SAFETY: `value` is a local that outlives the call; `out` is a checked, distinct view that
    // nothing else touches; the library checks the context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_fill(current(), &value, ptr::null(), out.0) })
}

/// `out = op(a)`, which may be the output itself.
#[inline]
pub(crate) fn unary(op: tnr_unary_op, a: Input<'_>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(unary(op, &out.0.view));
    // SAFETY: `a` is a lent view (checked, initialised, not written during the call) or the
    // initialised `out` itself; `out` is a checked, distinct view that nothing else touches; the
    // library checks the context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_unary(current(), op, a.resolve(&out), ptr::null(), out.0) })
}

/// `out = a op b`; either operand may be the output itself.
#[inline]
pub(crate) fn binary(
    op: tnr_binary_op,
    a: Input<'_>,
    b: Input<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(binary(op, &out.0.view));
    let (a, b) = (a.resolve(&out), b.resolve(&out));
    // SAFETY: each of `a` and `b` is a lent view (checked, initialised, not written during the
    // call) or the initialised `out` itself; `out` is a checked, distinct view that nothing else
    // touches; the library checks the context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_binary(current(), op, a, b, ptr::null(), out.0) })
}

/// `out = a op b` with a number on the right; `a` may be the output itself.
#[inline]
pub(crate) fn binary_scalar<T: Element>(
    op: tnr_binary_op,
    a: Input<'_>,
    b: T,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(binary(op, &out.0.view));
    let (a, b) = (a.resolve(&out), scalar(b));
    // SAFETY: `a` is a lent view (checked, initialised, not written during the call) or the
    // initialised `out` itself; `b` is a local that outlives the call; `out` is a checked, distinct
    // view that nothing else touches; the library checks the context token; `attributes` may be
    // NULL.
    check(unsafe { sys::tnr_binary_scalar(current(), op, a, &b, ptr::null(), out.0) })
}

/// `out = a op b` with a number on the left.
#[inline]
pub(crate) fn scalar_binary<T: Element>(
    op: tnr_binary_op,
    a: T,
    b: Lent<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(binary(op, &out.0.view));
    let a = scalar(a);
    // SAFETY: `a` is a local that outlives the call; `b` is a checked view of live, initialised
    // elements that are not written during the call; `out` is a checked, distinct view that nothing
    // else touches; the library checks the context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_scalar_binary(current(), op, &a, b.0, ptr::null(), out.0) })
}

/// `out = op(a, b, c)`, where `a` may be the output itself.
#[inline]
pub(crate) fn ternary(
    op: tnr_ternary_op,
    a: Input<'_>,
    b: Lent<'_>,
    c: Lent<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(ternary(op, &out.0.view));
    let a = a.resolve(&out);
    // SAFETY: `a` is a lent view (checked, initialised, not written during the call) or the
    // initialised `out` itself; `b` and `c` are lent views; `out` is a checked, distinct view that
    // nothing else touches; the library checks the context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_ternary(current(), op, a, b.0, c.0, ptr::null(), out.0) })
}

/// `out = a op b` as bool8.
#[inline]
pub(crate) fn compare(
    op: tnr_compare_op,
    a: Lent<'_>,
    b: Lent<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(compare(op, &out.0.view));
    // SAFETY: `a` and `b` are checked views of live, initialised elements that are not written
    // during the call; `out` is a checked, distinct view that nothing else touches; the library
    // checks the context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_compare(current(), op, a.0, b.0, ptr::null(), out.0) })
}

/// `out = a op b` as bool8, with a number on the right.
#[inline]
pub(crate) fn compare_scalar<T: Element>(
    op: tnr_compare_op,
    a: Lent<'_>,
    b: T,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(compare(op, &out.0.view));
    let b = scalar(b);
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `b` is a local that outlives the call; `out` is a checked, distinct view that nothing
    // else touches; the library checks the context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_compare_scalar(current(), op, a.0, &b, ptr::null(), out.0) })
}

/// `out = condition ? a : b`.
#[inline]
pub(crate) fn select(
    condition: Lent<'_>,
    a: Lent<'_>,
    b: Lent<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(select(&out.0.view));
    // SAFETY: `condition`, `a` and `b` are checked views of live, initialised elements that are not
    // written during the call; `out` is a checked, distinct view that nothing else touches; the
    // library checks the context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_select(current(), condition.0, a.0, b.0, ptr::null(), out.0) })
}

/// Attributes of reductions; each reduction takes one of them at most.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reducing {
    pub(crate) ddof: u32,
    pub(crate) power: f64,
}

/// The attributes with the field of a row of the table of operations, or none.
macro_rules! reducing {
    () => {
        None
    };
    ($field:ident) => {
        Some(Reducing { $field, ..Reducing::default() })
    };
}
pub(crate) use reducing;

/// Reduces the axes whose bits are set.
#[inline]
pub(crate) fn reduce(
    op: tnr_reduce_op,
    a: Lent<'_>,
    axes: u32,
    with: Option<Reducing>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(reduce(op, a.0));
    let struct_size = size_of::<tnr_reduce_attributes>() as u64;
    let given = with.map(|Reducing { ddof, power }| tnr_reduce_attributes {
        struct_size,
        ddof,
        reserved: 0,
        power,
    });
    let attributes = given.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `out` is a checked, distinct view that nothing else touches; `attributes` is NULL or
    // the address of `given`, a local that outlives the call; the library checks the context token.
    check(unsafe { sys::tnr_reduce(current(), op, a.0, axes, attributes, out.0) })
}

/// Mean and variance over the axes whose bits are set.
pub(crate) fn moments(
    a: Lent<'_>,
    axes: u32,
    ddof: u32,
    mean: LentMut<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(moments(a.0));
    let struct_size = size_of::<tnr_moments_attributes>() as u64;
    let given = tnr_moments_attributes { struct_size, ddof, reserved: 0 };
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `mean` and `out` are checked, distinct views that nothing else touches; `given` is a
    // local that outlives the call; the library checks the context token.
    check(unsafe { sys::tnr_moments(current(), a.0, axes, &given, mean.0, out.0) })
}

/// The epilogue of a product's sums: a bias, the code of an activation, or 0, and bounds.
#[derive(Clone, Copy)]
pub(crate) struct Epilogue<'a> {
    pub(crate) bias: Option<Lent<'a>>,
    pub(crate) activation: tnr_unary_op,
    pub(crate) clamp: Option<[f64; 2]>,
}

/// Flags of an epilogue, and its bounds.
pub(crate) fn clamp_attributes(clamp: Option<[f64; 2]>) -> (u32, [f64; 2]) {
    clamp.map_or((0, [0.0; 2]), |bounds| (sys::TNR_EPILOGUE_CLAMP, bounds))
}

/// They are those of the call that the bias is lent to.
#[inline]
pub(crate) fn matmul_attributes(with: Epilogue<'_>) -> sys::tnr_matmul_attributes {
    let (flags, [low, high]) = clamp_attributes(with.clamp);
    sys::tnr_matmul_attributes {
        struct_size: size_of::<sys::tnr_matmul_attributes>() as u64,
        bias: or_null(with.bias),
        activation: with.activation,
        flags,
        low,
        high,
    }
}

/// `out = clamp(activation(alpha * a b + beta * out + bias))`. With a `beta` of 0 every element of `out`
/// is written and none read.
#[inline]
pub(crate) fn matmul<S: Element>(
    [alpha, beta]: [S; 2],
    a: Lent<'_>,
    b: Lent<'_>,
    with: Option<Epilogue<'_>>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(dense_matmul(&out.0.view));
    let (alpha, beta) = (scalar(alpha), scalar(beta));
    let with = with.map(matmul_attributes);
    let with = with.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `a`, `b` and the bias, where there is one, are checked views of live, initialised
    // elements that are not written during the call; `out` is a checked, distinct view that nothing
    // else touches, and its elements are initialised where the call reads them; the scalars and
    // `with` are locals that outlive the call; the library checks the context token.
    check(unsafe { sys::tnr_matmul(current(), &alpha, a.0, b.0, &beta, with, out.0) })
}

/// The convolution of images: writes every element of `out`, and reads none.
pub(crate) fn conv2d(
    a: Lent<'_>,
    weight: Lent<'_>,
    bias: Option<Lent<'_>>,
    attributes: &tnr_conv2d_attributes,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(conv2d(&out.0.view));
    let bias = or_null(bias);
    // SAFETY: `a` and `weight` are checked views of live, initialised elements that are not written
    // during the call; `bias` is such a view or NULL; `out` is a checked, distinct view that
    // nothing else touches; `attributes` is borrowed for the call; the library checks the context
    // token.
    check(unsafe { sys::tnr_conv2d(current(), a.0, weight.0, bias, attributes, out.0) })
}

/// A sum of products: writes every element of `out`, and reads none.
pub(crate) fn einsum(spec: &CStr, operands: &[impl IsView], out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(einsum(&out.0.view));
    let (views, count) = views_of(operands);
    // SAFETY: `spec` ends with a 0; `views` has `count` adjacent views that are checked, alive,
    // initialised and not written during the call (`IsView`), or more than the library takes, which
    // it refuses by their number; `out` is a checked, distinct view that nothing else touches; the
    // library checks the context token.
    check(unsafe { sys::tnr_einsum(current(), spec.as_ptr(), views, count, ptr::null(), out.0) })
}

/// The rank and the shape of that `out`, of whose extents the others are 0.
pub(crate) fn einsum_shape(
    spec: &CStr,
    operands: &[impl IsView],
) -> Result<(usize, [usize; TNR_MAX_RANK])> {
    entered()?;
    let (views, count) = views_of(operands);
    let (mut rank, mut shape) = (0, [0; TNR_MAX_RANK]);
    // SAFETY: `spec` ends with a 0; `views` has `count` adjacent checked views (`IsView`), or more
    // than the library takes, which it refuses by their number; `rank` and `shape` are writable
    // locals, and `shape` has room for all `TNR_MAX_RANK` extents.
    check(unsafe {
        sys::tnr_einsum_shape(spec.as_ptr(), views, count, &mut rank, shape.as_mut_ptr())
    })?;
    Ok((rank as usize, shape.map(|extent| extent as usize)))
}

/// A view whose only field with bytes is a `tnr_view`.
///
/// # Safety
///
/// - The type is `repr(transparent)` over a `tnr_view`.
/// - That view is what [`Lent::new`] asks of one, while the value lives.
pub(crate) unsafe trait IsView {}

/// Views in an array are raw views in one, transparently. More than any call takes are refused for
/// their number, and are not looked at.
pub(super) fn views_of(views: &[impl IsView]) -> (*const tnr_view, u32) {
    (views.as_ptr().cast(), u32::try_from(views.len()).unwrap_or(u32::MAX))
}

/// The transpose of a convolution: writes every element of `out`, and reads none.
pub(crate) fn conv2d_transposed(
    a: Lent<'_>,
    weight: Lent<'_>,
    bias: Option<Lent<'_>>,
    attributes: &tnr_conv2d_attributes,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(conv2d_transposed(&out.0.view));
    let bias = or_null(bias);
    // SAFETY: `a` and `weight` are checked views of live, initialised elements that are not written
    // during the call; `bias` is such a view or NULL; `out` is a checked, distinct view that
    // nothing else touches; `attributes` is borrowed for the call; the library checks the context
    // token.
    check(unsafe { sys::tnr_conv2d_transposed(current(), a.0, weight.0, bias, attributes, out.0) })
}

/// A pooling of images: writes every element of `out`, and reads none.
pub(crate) fn pool2d(
    op: tnr_reduce_op,
    a: Lent<'_>,
    attributes: &tnr_pool2d_attributes,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(pool2d(op, &out.0.view));
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `out` is a checked, distinct view that nothing else touches; `attributes` is borrowed
    // for the call; the library checks the context token.
    check(unsafe { sys::tnr_pool2d(current(), op, a.0, attributes, out.0) })
}

/// Vectors of one number for each channel.
#[derive(Clone, Copy)]
pub(crate) struct ChannelStatistics<'a> {
    pub(crate) mean: Option<Lent<'a>>,
    pub(crate) var: Lent<'a>,
    pub(crate) weight: Option<Lent<'a>>,
    pub(crate) bias: Option<Lent<'a>>,
}

/// Batch normalization, in place or of an `out` that is only written.
pub(crate) fn batch_norm(
    a: Input<'_>,
    of: ChannelStatistics<'_>,
    eps: f64,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(batch_norm(&out.0.view));
    let struct_size = size_of::<tnr_batch_norm_attributes>() as u64;
    let with = tnr_batch_norm_attributes { struct_size, eps };
    let (a, mean) = (a.resolve(&out), or_null(of.mean));
    let (weight, bias) = (or_null(of.weight), or_null(of.bias));
    // SAFETY: `a` is a lent view (checked, initialised, not written during the call) or the
    // initialised `out` itself; `mean`, `weight` and `bias` are lent views or NULL, and `of.var` is
    // a lent view; `out` is a checked, distinct view that nothing else touches; `with` is a local
    // that outlives the call; the library checks the context token.
    check(unsafe { sys::tnr_batch_norm(current(), a, mean, of.var.0, weight, bias, &with, out.0) })
}

pub(crate) use sys::tnr_random_attributes as RandomAttributes;

/// All zeros, which mean the defaults.
pub(crate) const DEFAULT_RANDOM: RandomAttributes = RandomAttributes {
    struct_size: size_of::<RandomAttributes>() as u64,
    low: 0.0,
    high: 0.0,
    mean: 0.0,
    deviation: 0.0,
    probability: 0.0,
    least: 0,
    bound: 0,
};

/// Writes random numbers of a distribution to every element of `out`, and reads none.
pub(crate) fn random(
    distribution: tnr_random_distribution,
    seed: u64,
    offset: u64,
    attributes: &RandomAttributes,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(random(distribution, &out.0.view));
    // SAFETY: `out` is a checked, distinct view that nothing else touches; `attributes` is borrowed
    // for the call; the library checks the context token.
    check(unsafe { sys::tnr_random(current(), distribution, seed, offset, attributes, out.0) })
}

/// Writes the numbers from 0 up to the count of elements of `out` in a random order to `out`, and
/// reads none of its elements.
pub(crate) fn random_permutation(seed: u64, offset: u64, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(random_permutation(&out.0.view));
    // SAFETY: `out` is a checked, distinct view that nothing else touches; the library checks the
    // context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_random_permutation(current(), seed, offset, ptr::null(), out.0) })
}

/// The attributes of a normalization.
#[derive(Clone, Copy, Default)]
pub(crate) struct Normalizing<'a> {
    pub(crate) eps: f64,
    pub(crate) weight: Option<Lent<'a>>,
    pub(crate) bias: Option<Lent<'a>>,
}

/// Normalizes over the axes whose bits are set, in place or an `out` that is only written.
pub(crate) fn normalize(
    op: tnr_normalize_op,
    a: Input<'_>,
    axes: u32,
    by: Normalizing<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(normalize(op, &out.0.view));
    let with = tnr_normalize_attributes {
        struct_size: size_of::<tnr_normalize_attributes>() as u64,
        eps: by.eps,
        weight: or_null(by.weight),
        bias: or_null(by.bias),
    };
    let a = a.resolve(&out);
    // SAFETY: `a` is a lent view (checked, initialised, not written during the call) or the
    // initialised `out` itself; `out` is a checked, distinct view that nothing else touches; `with`
    // is a local that outlives the call, and its `weight` and `bias` are lent views or NULL; the
    // library checks the context token.
    check(unsafe { sys::tnr_normalize(current(), op, a, axes, &with, out.0) })
}

/// Reduces the elements up to each element along an axis, in place or into an `out` that is only
/// written.
pub(crate) fn scan(op: tnr_scan_op, a: Input<'_>, axis: u32, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(scan(op, &out.0.view));
    let a = a.resolve(&out);
    // SAFETY: `a` is a lent view (checked, initialised, not written during the call) or the
    // initialised `out` itself; `out` is a checked, distinct view that nothing else touches; the
    // library checks the context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_scan(current(), op, a, axis, ptr::null(), out.0) })
}

pub(crate) fn or_null(view: Option<Lent<'_>>) -> *const sys::tnr_view {
    view.map_or(ptr::null(), |view| ptr::from_ref(view.0))
}

/// One element by value.
#[inline]
pub(crate) fn scalar<T: Element>(value: T) -> tnr_scalar {
    const { assert!(size_of::<T>() <= 16) };
    let mut bytes = [0; 16];
    // SAFETY: `bytes` is as large as the largest element, and elements have no padding.
    unsafe {
        ptr::copy_nonoverlapping((&raw const value).cast(), bytes.as_mut_ptr(), size_of::<T>());
    }
    tnr_scalar { dtype: T::DTYPE.raw(), reserved: 0, bytes }
}
