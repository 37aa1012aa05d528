//! Factors that are packed once, of views that may misdescribe their memory, times operands that
//! may not fit. A valid factor gives the bits of the product of the view itself.

use std::fmt::Debug;
use std::ptr;

use tenure::Element;
use tenure_sys::*;

use super::images::misdescribe;
use super::lent::{view, view_mut};
use super::operations::{number, refusal};
use super::{Random, fuzz};

/// A matrix over all of `memory`: row-major, column-major, or from its end on.
fn matrix(mut dense: tnr_view, random: &mut Random) -> tnr_view {
    let [rows, cols] = [dense.shape[0], dense.shape[1]];
    match random.below(3) {
        0 => dense.strides[..2].copy_from_slice(&[1, rows]),
        1 if rows * cols > 0 => {
            let element_bytes = (dense.dtype.0 as usize >> 8 & 0xff) / 8;
            dense.strides[..2].copy_from_slice(&[-cols, -1]);
            dense.data = dense.data.wrapping_byte_add((rows * cols - 1) as usize * element_bytes);
        }
        _ => {}
    }
    dense
}

/// The largest struct that the library reads: larger sizes are refused.
const MOST_STRUCT_BYTES: usize = 4096;

/// A struct in memory that has all bytes which a wrong `struct_size` may name.
#[repr(C)]
struct Sized<T> {
    of: T,
    _zeros: [u8; MOST_STRUCT_BYTES],
}

/// Packs a factor and multiplies by it; whether that was done.
fn call<A: Element, B: Element, P: Element + PartialEq + Debug>(
    random: &mut Random,
    context: *mut tnr_context,
    from: fn(u8) -> A,
    from_b: fn(u8) -> B,
    from_sum: fn(u8) -> P,
) -> bool {
    let [rows, depth, cols] = [0; 3].map(|_: i32| match random.below(4) {
        0 => random.below(70),
        _ => 1 + random.below(9),
    });
    let mut draw = |count: usize| (0..count).map(|_| random.below(8) as u8).collect::<Vec<_>>();
    let of_a: Vec<A> = draw(rows * depth).into_iter().map(from).collect();
    let of_b: Vec<B> = draw(depth * cols).into_iter().map(from_b).collect();
    let of_bias: Vec<P> = draw(cols).into_iter().map(from_sum).collect();
    let mut of_out: Vec<P> = draw(rows * cols).into_iter().map(from_sum).collect();
    let mut expected = of_out.clone();

    let mut a = matrix(view(&of_a, &[rows, depth]), random);
    let mut b = matrix(view(&of_b, &[depth, cols]), random);
    let mut bias = view(&of_bias, &[cols]);
    let mut out = view_mut(&mut of_out, &[rows, cols]);
    out.view = matrix(out.view, random);
    let twin = view_mut(&mut expected, &[rows, cols]);
    let twin = tnr_view_mut {
        view: tnr_view {
            strides: out.view.strides,
            data: twin.view.base.wrapping_byte_offset(
                out.view.data.addr() as isize - out.view.base.addr() as isize,
            ),
            ..twin.view
        },
    };
    let mut packing = Sized {
        of: tnr_factor_attributes {
            struct_size: size_of::<tnr_factor_attributes>() as u64,
            a_dtype: a.dtype,
            reserved: 0,
            group_scales: ptr::null(),
        },
        _zeros: [0; MOST_STRUCT_BYTES],
    };
    let is_right = random.below(3) != 0;
    if !is_right {
        match random.below(6) {
            0 => misdescribe(&mut a, 2, random),
            1 => misdescribe(&mut b, 2, random),
            2 => misdescribe(&mut bias, 1, random),
            3 => misdescribe(&mut out.view, 2, random),
            4 => packing.of.a_dtype = tnr_dtype(random.next() as u32 & 0x0003_7f0f),
            _ => packing.of.struct_size = random.number() as u64,
        }
    }
    let attributes = (&raw const packing).cast();
    // SAFETY: every part of a view lies in an array that outlives the calls, or does not fit what
    // the view says of it; nothing else refers to the array of `out`. The library reads at most
    // `MOST_STRUCT_BYTES` of the attributes, which exist whatever `struct_size` says.
    let factor = unsafe { tnr_factor_create(context, &b, attributes) };
    assert!(!is_right || !factor.is_null(), "{}", refusal());
    if factor.is_null() {
        return false;
    }
    let clamps = random.below(2) as u32;
    let with = tnr_matmul_attributes {
        struct_size: size_of::<tnr_matmul_attributes>() as u64,
        bias: if random.below(2) == 0 { &bias } else { ptr::null() },
        activation: if random.below(2) == 0 { tnr_unary_op::RELU } else { tnr_unary_op(0) },
        flags: clamps,
        // A product without TNR_EPILOGUE_CLAMP refuses other bounds than 0.
        low: -f64::from(clamps),
        high: 40.0 * f64::from(clamps),
    };
    let (alpha, beta) = (number(1.0), number(random.below(3) as f32));
    // SAFETY: as above; the factor is a handle that is released once, and refused after that.
    unsafe {
        let done = tnr_factor_matmul(context, &alpha, &a, factor, &beta, &with, &out);
        if is_right {
            assert_eq!(done, tnr_status::OK, "{}", refusal());
            let status = tnr_matmul(context, &alpha, &a, &b, &beta, &with, &twin);
            assert_eq!(status, tnr_status::OK, "{}", refusal());
        }
        assert_eq!(tnr_factor_release(factor), tnr_status::OK);
        let stale = tnr_factor_matmul(context, &alpha, &a, factor, &beta, &with, &out);
        assert_eq!(stale, tnr_status::STALE_HANDLE);
        assert!(!is_right || of_out == expected, "{rows} by {depth} by {cols}");
        done == tnr_status::OK
    }
}

#[test]
fn packed_factors() {
    let mut done = 0;
    fuzz(10_000, |random| {
        let null = ptr::null_mut();
        done += usize::from(call::<f32, f32, f32>(random, null, f32::from, f32::from, f32::from));
        done += usize::from(call::<f64, f64, f64>(random, null, f64::from, f64::from, f64::from));
        let signed = |n| n as i8 - 4;
        done += usize::from(call::<u8, i8, i32>(random, null, |n| n, signed, i32::from));
    });
    assert!(done > 10_000, "only {done} calls did something");
}
