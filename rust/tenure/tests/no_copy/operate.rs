//! Operations that write to the caller's output: no temporary, whatever the layout.

use tenure::{Bool8, Tensor, TensorView};

use crate::probe::Probe;

pub fn claims(probe: &Probe) {
    let side = probe.side;
    let shape = [side, side];
    let data = probe.data();
    let a = TensorView::from_slice(&data, shape).unwrap();
    let row = a.index(0, 1).unwrap();
    let mut out = Tensor::<f32>::full(shape, 1.0).unwrap();
    let mut wide = Tensor::<f64>::full(shape, 1.0).unwrap();
    let mut flags = Tensor::<Bool8>::full(shape, Bool8::FALSE).unwrap();
    let mut sums = vec![0.0_f32; side];
    let mut indices = vec![0_i64; side];

    // The claim is one memcpy from the caller's memory to the caller's memory.
    probe.moves_once("copy_into, contiguous", || tenure::ops::copy_into(a, &mut out).unwrap());
    let column = a.index(1, 1).unwrap();
    for (layout, a) in [("contiguous", a), ("transposed", a.t()), ("flipped", a.flip(1).unwrap())] {
        let claim = |name: &str, call: &mut dyn FnMut() -> tenure::Result<()>| {
            probe.copies_nothing(&format!("{name}, {layout}"), || call().unwrap());
        };
        claim("cast_into", &mut || tenure::ops::cast_into(a, &mut wide));
        claim("add_into", &mut || tenure::ops::add_into(a, row, &mut out));
        claim("add_into, scalar", &mut || tenure::ops::add_into(a, 1.0, &mut out));
        claim("mul_assign", &mut || tenure::ops::mul_assign(&mut out, a));
        claim("sub_assign, broadcast", &mut || tenure::ops::sub_assign(&mut out, row));
        claim("exp_into", &mut || tenure::ops::exp_into(a, &mut out));
        claim("relu_assign", &mut || tenure::nn::relu_assign(&mut out));
        claim("lt_into", &mut || tenure::ops::lt_into(a, row, &mut flags));
        claim("select_into", &mut || tenure::ops::select_into(&flags, a, row, &mut out));
        claim("sum_into", &mut || tenure::ops::sum_into(a, 0, &mut sums));
        claim("std_into", &mut || tenure::ops::std_into(a, 1, 1, &mut sums));
        claim("argmax_into", &mut || tenure::ops::argmax_into(a, 0, &mut indices));
    }
    probe.copies_nothing("copy_into, transposed", || {
        tenure::ops::copy_into(a.t(), &mut out).unwrap()
    });
    probe.copies_nothing("copy_into, flipped", || {
        tenure::ops::copy_into(a.flip(1).unwrap(), &mut out).unwrap();
    });
    probe.copies_nothing("copy_into, broadcast", || {
        tenure::ops::copy_into(column, &mut out).unwrap()
    });
    probe.copies_nothing("fill", || tenure::ops::fill(&mut out, 2.0).unwrap());
}
