//! Calls on quantized numbers.

use std::ptr;

use tenure_sys as sys;

use super::context::current;
use super::factor::FactorHandle;
use super::operations::{Epilogue, clamp_attributes, or_null};
use super::{Lent, LentMut, check, entered, traced};
use crate::error::Result;

/// Integers, or floats without scales.
pub(crate) struct Quantized<'a> {
    pub(crate) values: Lent<'a>,
    pub(crate) scales: Option<Lent<'a>>,
    pub(crate) zeros: Option<Lent<'a>>,
}

/// `out = round(a / scales) + zeros`.
pub(crate) fn quantize(
    a: Lent<'_>,
    scales: Lent<'_>,
    zeros: Option<Lent<'_>>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(quantize(&out.0.view));
    let zeros = or_null(zeros);
    // SAFETY: `a`, `scales` and `zeros`, where there are any, are checked views of live, initialised
    // elements that are not written during the call; `out` is a checked, distinct view that nothing
    // else touches; the library checks the context token; `attributes` may be NULL.
    check(unsafe { sys::tnr_quantize(current(), a.0, scales.0, zeros, ptr::null(), out.0) })
}

/// Writes every element of the three. The integers have `bits` bits: 8, or 4.
pub(crate) fn quantize_dynamic(
    a: Lent<'_>,
    bits: u32,
    scales: LentMut<'_>,
    zeros: Option<LentMut<'_>>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(quantize(&out.0.view));
    let zeros = zeros.map_or(ptr::null(), |view| ptr::from_ref(view.0));
    let attributes = sys::tnr_quantize_dynamic_attributes {
        struct_size: size_of::<sys::tnr_quantize_dynamic_attributes>() as u64,
        bits,
        reserved: 0,
    };
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `scales`, `out` and `zeros`, where there are any, are checked, distinct views that
    // nothing else touches; the library checks the context token; the attributes are a local that
    // outlives the call.
    check(unsafe { sys::tnr_quantize_dynamic(current(), a.0, &attributes, scales.0, zeros, out.0) })
}

/// `out = (a - zeros) * scales`.
pub(crate) fn dequantize(a: &Quantized<'_>, scales: Lent<'_>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(dequantize(&out.0.view));
    let zeros = or_null(a.zeros);
    // SAFETY: the values, scales and zeros are checked views of live, initialised elements that are
    // not written during the call; `out` is a checked, distinct view that nothing else touches; the
    // library checks the context token; `attributes` may be NULL.
    check(unsafe {
        sys::tnr_dequantize(current(), a.values.0, scales.0, zeros, ptr::null(), out.0)
    })
}

/// The right factor of a product.
pub(crate) enum Right<'a> {
    Values(Lent<'a>),
    Packed(&'a FactorHandle),
}

/// `out = activation(a b + bias)`.
pub(crate) fn matmul(
    a: &Quantized<'_>,
    b: &Right<'_>,
    [b_scales, b_zeros]: [Option<Lent<'_>>; 2],
    with: Epilogue<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(quantized_matmul(&out.0.view));
    let (flags, [low, high]) = clamp_attributes(with.clamp);
    let attributes = sys::tnr_quantized_matmul_attributes {
        struct_size: size_of::<sys::tnr_quantized_matmul_attributes>() as u64,
        bias: or_null(with.bias),
        out_scale: ptr::null(),
        out_zero: ptr::null(),
        activation: with.activation,
        flags,
        low,
        high,
    };
    let (a_scales, a_zeros) = (or_null(a.scales), or_null(a.zeros));
    let (b_scales, b_zeros) = (or_null(b_scales), or_null(b_zeros));
    let values = a.values.0;
    // SAFETY: all views of `a` and `b`, and the bias are checked views of live,
    // initialised elements that are not written during the call, or NULL; a packed factor is alive;
    // `out` is a checked, distinct view that nothing else touches; the attributes are a local that
    // outlives the call; the library checks the context token.
    check(unsafe {
        match b {
            Right::Values(b) => sys::tnr_quantized_matmul(
                current(),
                values,
                a_scales,
                a_zeros,
                b.0,
                b_scales,
                b_zeros,
                &attributes,
                out.0,
            ),
            Right::Packed(factor) => sys::tnr_factor_quantized_matmul(
                current(),
                values,
                a_scales,
                a_zeros,
                factor.raw(),
                b_scales,
                b_zeros,
                &attributes,
                out.0,
            ),
        }
    })
}

/// `out = activation(a * weight + bias)`, a convolution.
pub(crate) fn conv2d(
    a: &Quantized<'_>,
    weight: &Quantized<'_>,
    bias: Option<Lent<'_>>,
    with: &sys::tnr_conv2d_attributes,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(quantized_conv2d(&out.0.view));
    let attributes = sys::tnr_quantized_conv2d_attributes {
        struct_size: size_of::<sys::tnr_quantized_conv2d_attributes>() as u64,
        strides: with.strides,
        padding: with.padding,
        dilations: with.dilations,
        groups: with.groups,
        bias: or_null(bias),
        out_scale: ptr::null(),
        out_zero: ptr::null(),
        activation: with.activation,
        flags: with.flags,
        low: with.low,
        high: with.high,
    };
    let (scale, zero) = (or_null(a.scales), or_null(a.zeros));
    let (scales, zeros) = (or_null(weight.scales), or_null(weight.zeros));
    // SAFETY: all views of `a` and `weight`, and the bias are checked views of live, initialised
    // elements that are not written during the call, or NULL; `out` is a checked, distinct view that
    // nothing else touches; the attributes are a local that outlives the call; the library checks
    // the context token.
    check(unsafe {
        sys::tnr_quantized_conv2d(
            current(),
            a.values.0,
            scale,
            zero,
            weight.values.0,
            scales,
            zeros,
            &attributes,
            out.0,
        )
    })
}
