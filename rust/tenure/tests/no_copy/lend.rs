//! Lending and every manipulation of a view: not a byte is allocated.

use tenure::{Order, TensorView, TensorViewMut, s};

use crate::probe::Probe;

pub fn claims(probe: &Probe) {
    let mut data = probe.data();
    let side = probe.side;
    let (len, row) = (side * side, side as isize);
    let shape = [side, side];
    let lends = |claim: &str, lend: &dyn Fn() -> *const f32| {
        let address = probe.costs_nothing(claim, lend);
        assert_eq!(address, data.as_ptr(), "{claim}");
    };
    lends("TensorView::from_slice", &|| TensorView::from_slice(&data, shape).unwrap().as_ptr());
    lends("TensorView::from_slice_in", &|| {
        TensorView::from_slice_in(&data, shape, Order::ColumnMajor).unwrap().as_ptr()
    });
    lends("TensorView::from_slice_strided", &|| {
        TensorView::from_slice_strided(&data, 0, [side / 2, side], &[2 * row, 1]).unwrap().as_ptr()
    });
    manipulations(probe, TensorView::from_slice(&data, shape).unwrap());

    let address = data.as_ptr();
    let lent = probe.costs_nothing("TensorViewMut::from_slice", || {
        TensorViewMut::from_slice(&mut data, [len]).unwrap().as_mut_slice().unwrap().as_ptr()
    });
    assert_eq!(lent, address);
    manipulations_mut(probe, TensorViewMut::from_slice(&mut data, shape).unwrap());
}

fn manipulations(probe: &Probe, view: TensorView<f32>) {
    let half = probe.side / 2;
    let claim = |name: &str, manipulate: &dyn Fn() -> usize| {
        assert!(probe.costs_nothing(name, manipulate) > 0, "{name} is empty");
    };
    claim("slice", &|| view.slice(1, 1..half).unwrap().len());
    claim("slice_step", &|| view.slice_step(1, 1..half, -2).unwrap().len());
    claim("index", &|| view.index(0, half).unwrap().len());
    claim("permute", &|| view.permute(&[1, 0]).unwrap().len());
    claim("transpose", &|| view.transpose(0, 1).unwrap().len());
    claim("t", &|| view.t().len());
    claim("reshape", &|| view.reshape([2, half, 2, half]).unwrap().len());
    claim("flatten", &|| view.flatten().unwrap().len());
    claim("unsqueeze", &|| view.unsqueeze(1).unwrap().len());
    claim("squeeze", &|| view.unsqueeze(0).unwrap().squeeze(0).unwrap().len());
    claim("broadcast", &|| view.broadcast([8, 2 * half, 2 * half]).unwrap().len());
    claim("flip", &|| view.flip(0).unwrap().len());
    claim("split_at", &|| view.split_at(1, half).unwrap().1.len());
    claim("split_part", &|| view.split_part(0, 3, 2).unwrap().len());
    claim("split_into", &|| view.split_into(0, 3).unwrap().map(|part| part.len()).sum());
    claim("chunks", &|| view.chunks(0, 3).unwrap().map(|chunk| chunk.len()).sum());
    claim("diagonal", &|| view.diagonal(1).unwrap().len());
    claim("slice_axes", &|| view.slice_axes(s![1..-1, ..;2]).unwrap().len());
    claim("windows", &|| view.windows(1, 5, 3).unwrap().len());
    claim("rows", &|| view.rows().map(|row| row.len()).sum());
    claim("axis_iter", &|| view.axis_iter(1).unwrap().map(|column| column.len()).sum());
    claim("iter", &|| view.t().slice(0, ..8).unwrap().iter().count());
    claim("as_slice", &|| view.as_slice().unwrap().len());
}

fn manipulations_mut(probe: &Probe, mut view: TensorViewMut<f32>) {
    let half = probe.side / 2;
    probe.costs_nothing("TensorViewMut::split_at", || {
        let (mut left, right) = view.view_mut().split_at(1, half).unwrap();
        left.fill(1.0);
        right.into_view().len()
    });
    probe.costs_nothing("TensorViewMut, a chain", || {
        let part = view.view_mut().t().slice(0, ..half).unwrap().flip(1).unwrap();
        part.slice_step(0, .., 2).unwrap().fill(2.0);
    });
    probe.costs_nothing("TensorViewMut::iter_mut", || {
        view.view_mut().t().slice(0, ..8).unwrap().iter_mut().for_each(|value| *value += 1.0);
    });
    probe.costs_nothing("TensorViewMut::rows_mut", || {
        view.rows_mut().for_each(|mut row| row.as_mut_slice().unwrap().swap(0, 1));
    });
}
