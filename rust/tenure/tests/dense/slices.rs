//! Arguments that count from behind: axes, slices of several axes, extents of -1; and walks from
//! behind.

use std::ops::Bound;

use tenure::{
    Axes, Axis, DynView, NewAxis, Result, SharedTensor, Slice, Tensor, TensorView, TensorViewMut,
    ops::sum, s,
};

fn numbers(count: i32) -> Vec<i32> {
    (0..count).collect()
}

#[test]
#[allow(clippy::reversed_empty_ranges, reason = "-1 is the last")]
fn indices_and_ranges_of_an_axis_count_from_behind() -> Result<()> {
    let data: Vec<i32> = (0..12).collect();
    let view = TensorView::from_slice(&data, [3, 4])?;
    assert_eq!(view.slice(1, 1..-1)?, view.slice_axes(s![.., 1..-1])?);
    assert_eq!(view.slice(1, -3..-1)?, [[1, 2], [5, 6], [9, 10]]);
    assert_eq!(view.slice(1, ..=-2)?, view.slice(1, ..3)?);
    assert_eq!(view.slice(1, -4..=-1)?, view);
    assert_eq!(view.slice(-1, -2_isize..)?, view.slice(1, 2_usize..)?);
    assert_eq!(view.slice(1, (Bound::Excluded(-3), Bound::Unbounded))?, view.slice(1, 2..)?);
    assert_eq!(view.slice_step(1, -3.., -2)?, [[3, 1], [7, 5], [11, 9]]);
    assert_eq!(view.slice(0, 3..)?.len(), 0);
    assert_eq!(
        (view.index(0, -1)?, view.index(0, -3_i64)?),
        (view.index(0, 2)?, view.index(0, 0)?)
    );
    assert_eq!(view.slice_axes(s![1_i64, -1_i64])?.item(), Some(7));

    let mut tensor = view.to_tensor()?;
    tensor.view_mut().slice(0, 1..-1)?.index(1, -1)?.fill(0);
    assert_eq!(tensor.index(0, 1)?, [4, 5, 6, 0]);
    let dynamic = DynView::from(tensor.view()).slice(0, -1..)?.index(1, -2)?;
    assert_eq!(dynamic.downcast::<i32>()?, [10]);

    for (result, expected) in [
        (view.index(0, -4), "index: index is -4 but axis 0 has extent 3"),
        (view.index(1, 4_i64), "index: index is 4 but axis 1 has extent 4"),
        (view.index(1, i64::MIN), "index: index is -9223372036854775808 but axis 1 has extent 4"),
        (view.slice(1, 1..-4), "slice: range is 1..-4 but axis 1 has extent 4"),
        (view.slice(1, -5..), "slice: range is -5.. but axis 1 has extent 4"),
        (view.slice(1, ..=4), "slice: range is ..=4 but axis 1 has extent 4"),
        (
            view.slice(1, 2..=isize::MAX),
            "slice: range is 2..=9223372036854775807 but axis 1 has extent 4",
        ),
        (view.slice(2, ..-1), "slice: axis is 2 but the view has rank 2"),
    ] {
        assert_eq!(result.err().unwrap().message(), expected);
    }
    Ok(())
}

#[test]
fn an_axis_from_behind_is_the_one_from_the_front() {
    let data = numbers(24);
    let view = TensorView::from_slice(&data, [2, 3, 4]).unwrap();
    for axis in 0..3_usize {
        let behind = axis as isize - 3;
        assert_eq!(view.flip(axis).unwrap(), view.flip(behind).unwrap());
        assert_eq!(view.index(axis, 1).unwrap(), view.index(behind, 1).unwrap());
        assert_eq!(view.slice(axis, 1..).unwrap(), view.slice(behind as i32, 1..).unwrap());
        assert_eq!(view.transpose(axis, 0).unwrap(), view.transpose(behind, -3).unwrap());
        assert_eq!(view.windows(axis, 2, 1).unwrap(), view.windows(behind, 2, 1).unwrap());
        assert_eq!(sum(view, axis).unwrap(), sum(view, behind).unwrap());
        assert_eq!(sum(view, Axes::keep(axis)).unwrap(), sum(view, Axes::keep(behind)).unwrap());
    }
    for place in 0..4_usize {
        let behind = place as isize - 4;
        assert_eq!(view.unsqueeze(place).unwrap().shape(), view.unsqueeze(behind).unwrap().shape());
    }
    assert_eq!(view.permute(&[-1, 0, -2]).unwrap(), view.permute(&[2, 0, 1]).unwrap());
    assert_eq!(sum(view, [0, -1]).unwrap(), sum(view, [0, 2]).unwrap());
    assert_eq!(sum(view, [-1, -3]).unwrap(), sum(view, &[0, 2][..]).unwrap());
}

#[test]
fn axes_outside_are_named_as_they_were_given() {
    let data = numbers(6);
    let view = TensorView::from_slice(&data, [2, 3]).unwrap();
    let says = |error: tenure::Error| error.message().to_owned();
    assert_eq!(says(view.flip(-3).err().unwrap()), "flip: axis is -3 but the view has rank 2");
    assert_eq!(
        says(view.unsqueeze(-4).err().unwrap()),
        "unsqueeze: axis is -4 but the view has rank 2"
    );
    assert_eq!(
        says(view.flip(isize::MIN).err().unwrap()),
        format!("flip: axis is {} but the view has rank 2", isize::MIN)
    );
    assert_eq!(
        says(view.flip(usize::MAX).err().unwrap()),
        format!("flip: axis is {} but the view has rank 2", usize::MAX)
    );
    assert_eq!(
        says(view.permute(&[-1, 1]).err().unwrap()),
        "permute: axes [-1, 1] are no permutation of the 2 axes of the view"
    );
    assert_eq!(says(sum(view, -3).err().unwrap()), "sum: axis is -3 but a has rank 2");
    assert_eq!(says(sum(view, 2).err().unwrap()), "sum: axis is 2 but a has rank 2");
    assert_eq!(says(sum(view, [0, -2]).err().unwrap()), "sum: axis 0 is given more than once");
    assert_eq!(says(sum(view, [-1, -1]).err().unwrap()), "sum: axis -1 is given more than once");
    assert_eq!(says(sum(view, -9).err().unwrap()), "sum: axis is -9 but a has rank 2");
    assert_eq!(says(sum(1, -1).err().unwrap()), "sum: axis is -1 but a has rank 0");
    assert_eq!(format!("{:?}", [Axis::from(-2), Axis::from(1_usize)]), "[-2, 1]");
}

#[test]
fn slices_are_those_of_one_axis_after_the_other() {
    let data = numbers(60);
    let view = TensorView::from_slice(&data, [3, 4, 5]).unwrap();
    let by_axis = view.slice(0, 1..).unwrap().slice_step(1, .., -2).unwrap();
    let by_axis = by_axis.slice(2, 1..4).unwrap();
    assert_eq!(view.slice_axes(s![1.., ..;-2, 1..4]).unwrap(), by_axis);
    assert_eq!(view.slice_axes(s![-2.., ..;-2, 1..-1]).unwrap(), by_axis);
    assert_eq!(view.slice_axes(s![..=-2, ..-1, 3_usize..]).unwrap().shape(), [2, 3, 2]);
    assert_eq!(view.slice_axes(s![0, -1, -1]).unwrap().item(), Some(19));
    assert_eq!(view.slice_axes(s![NewAxis, 0, NewAxis]).unwrap().shape(), [1, 1, 4, 5]);
    assert_eq!(view.slice_axes(s![]).unwrap(), view);
    assert_eq!(view.slice_axes(s![.., ..,]).unwrap(), view);
    assert_eq!(view.slice_axes(s![2..2]).unwrap().len(), 0);
    let chosen = [Slice::from(1), Slice::stepped(..3, 2)];
    assert_eq!(view.slice_axes(chosen).unwrap().shape(), [2, 5]);
    assert_eq!(view.slice_axes(&chosen[..1]).unwrap().shape(), [4, 5]);
    let step = 2;
    let from = 1;
    assert_eq!(view.slice_axes(s![from..;step]).unwrap().shape(), [1, 4, 5]);

    let mut data = [0; 6];
    let mut out = TensorViewMut::from_slice(&mut data, [2, 3]).unwrap();
    out.view_mut().slice_axes(s![.., -1]).unwrap().fill(7);
    assert_eq!(data, [0, 0, 7, 0, 0, 7]);
}

#[test]
fn slices_that_leave_their_axis_are_refused() {
    let data = numbers(6);
    let view = TensorView::from_slice(&data, [2, 3]).unwrap();
    for (result, expected) in [
        (view.slice_axes(s![0..3]), "slice_axes: range is 0..3 but axis 0 has extent 2"),
        (view.slice_axes(s![.., -4..]), "slice_axes: index is -4 but axis 1 has extent 3"),
        (view.slice_axes(s![.., ..=-4]), "slice_axes: index is -4 but axis 1 has extent 3"),
        (view.slice_axes(s![2]), "slice_axes: index is 2 but axis 0 has extent 2"),
        (view.slice_axes(s![-3]), "slice_axes: index is -3 but axis 0 has extent 2"),
        (view.slice_axes(s![1..-2]), "slice_axes: range is 1..0 but axis 0 has extent 2"),
        (view.slice_axes(s![..;0]), "slice_axes: step along axis 0 is 0 but must move"),
        (view.slice_axes(s![0, 0, 0]), "slice_axes: axis is 0 but the view has rank 0"),
        (view.slice_axes(s![.., .., ..]), "slice_axes: axis is 2 but the view has rank 2"),
    ] {
        assert_eq!(result.err().unwrap().message(), expected);
    }
    assert!(view.slice_axes(s![..=isize::MAX]).is_err());
    assert!(view.slice_axes(s![usize::MAX]).is_err());
    assert!(view.slice_axes(s![isize::MIN]).is_err());
    assert!(view.slice_axes([Slice::from(NewAxis); 9]).is_err());
}

#[test]
fn one_extent_of_a_shape_may_be_open() {
    let data = numbers(12);
    let view = TensorView::from_slice(&data, [3, 4]).unwrap();
    assert_eq!(view.reshape([2, -1]).unwrap().shape(), [2, 6]);
    assert_eq!(view.reshape([-1, 2, 3]).unwrap().shape(), [2, 2, 3]);
    assert_eq!(view.reshape(-1_isize).unwrap().shape(), [12]);
    assert_eq!(view.reshape(vec![6, -1]).unwrap().shape(), [6, 2]);
    assert_eq!(view.reshape(&[6, -1][..]).unwrap().shape(), [6, 2]);
    assert_eq!(view.reshape((view.len() / 2, -1)).unwrap().shape(), [6, 2]);
    assert_eq!(view.reshape((12_usize,)).unwrap().shape(), [12]);
    assert_eq!(view.reshape((view.shape()[1], 3_i64, -1)).unwrap().shape(), [4, 3, 1]);
    assert_eq!(view.reshape([2_i64, -1]).unwrap().shape(), [2, 6]);
    assert_eq!(view.reshape(-1_i64).unwrap().shape(), [12]);
    for (result, expected) in [
        (view.reshape([-1, -1]), "reshape: 2 extents are -1 but only one can be"),
        (
            view.reshape([5, -1]),
            "reshape: 12 elements give no extent for -1: the other extents have 5 elements",
        ),
        (
            view.reshape([0, -1]),
            "reshape: 12 elements give no extent for -1: the other extents have 0 elements",
        ),
        (
            view.reshape([3, -4]),
            "reshape: an extent is -4 but must be 0 at least, or -1 for what is left",
        ),
    ] {
        assert_eq!(result.err().unwrap().message(), expected);
    }
    assert!(view.reshape((usize::MAX, usize::MAX, -1)).is_err());
    let empty = TensorView::<i32>::from_slice(&[], [0, 3]).unwrap();
    assert_eq!(empty.reshape([-1, 5]).unwrap().shape(), [0, 5]);
    assert!(empty.reshape([0, -1]).is_err());
    let mut data = numbers(4);
    let mut out = TensorViewMut::from_slice(&mut data, [2, 2]).unwrap();
    out.view_mut().reshape(-1).unwrap().fill(1);
    assert_eq!(data, [1; 4]);
}

#[test]
fn elements_are_walked_from_both_ends() {
    let data = numbers(120);
    let dense = TensorView::from_slice(&data, [2, 3, 4, 5]).unwrap();
    for view in [
        dense,
        dense.t(),
        dense.slice_axes(s![.., 1.., ..;-2, 1..4]).unwrap(),
        dense.permute(&[2, 0, 3, 1]).unwrap(),
        dense.slice(2, 1..1).unwrap(),
        dense.index(0, 1).unwrap().index(0, 0).unwrap().broadcast([3, 4, 5]).unwrap(),
        TensorView::from_ref(&data[7]),
    ] {
        let forward: Vec<i32> = view.iter().copied().collect();
        let mut backward: Vec<i32> = view.iter().rev().copied().collect();
        backward.reverse();
        assert_eq!(forward, backward);
        // Some from the front, the rest from the back, in every proportion.
        for front in 0..=forward.len() {
            let mut walk = view.iter();
            let mut seen: Vec<i32> = walk.by_ref().take(front).copied().collect();
            assert_eq!(walk.len(), forward.len() - front);
            let rest: Vec<i32> = walk.by_ref().rev().copied().collect();
            seen.extend(rest.iter().rev());
            assert_eq!(seen, forward);
            assert_eq!((walk.next(), walk.next_back()), (None, None));
        }
        // One from the back, then the others by the loop over runs.
        let mut walk = view.iter();
        let last = walk.next_back().copied();
        let mut others: Vec<i32> = Vec::new();
        walk.for_each(|&element| others.push(element));
        others.extend(last);
        assert_eq!(others, forward);
    }
    let mut data = numbers(6);
    let mut view = TensorViewMut::from_slice(&mut data, [2, 3]).unwrap();
    view.view_mut().t().into_iter().rev().zip(0..).for_each(|(element, nth)| *element = nth);
    assert_eq!(view, [[5, 3, 1], [4, 2, 0]]);
}

#[test]
fn chunks_have_the_size_and_parts_the_count() {
    let data = numbers(14);
    let view = TensorView::from_slice(&data, [2, 7]).unwrap();
    let extents = |sizes: Vec<usize>| sizes;
    for size in 1..9 {
        let chunks = view.chunks(-1, size).unwrap();
        assert_eq!(chunks.len(), 7_usize.div_ceil(size));
        let joined: Vec<i32> =
            chunks.flat_map(|chunk| chunk.index(0, 1).unwrap().to_vec()).collect();
        assert_eq!(joined, data[7..]);
    }
    assert_eq!(view.chunks(1, usize::MAX).unwrap().len(), 1);
    assert_eq!(view.slice(1, 3..3).unwrap().chunks(1, 2).unwrap().len(), 0);
    let parts = view.split_into(1, 9).unwrap().map(|part| part.shape()[1]).collect();
    assert_eq!(extents(parts), [1, 1, 1, 1, 1, 1, 1, 0, 0]);
    let error = view.chunks(-1, 0).err().unwrap();
    assert_eq!(error.message(), "chunks: chunk size along axis 1 is 0 but must be 1 at least");
}

#[test]
fn diagonals_of_every_offset_are_those_of_the_indices() {
    let data = numbers(24);
    let view = TensorView::from_slice(&data, [2, 3, 4]).unwrap();
    for view in [view, view.flip(1).unwrap(), view.permute(&[1, 0, 2]).unwrap(), view.t()] {
        let (batches, rows, cols) = (view.shape()[0], view.shape()[1], view.shape()[2]);
        for offset in -5..=5_isize {
            let diagonal = view.diagonal(offset).unwrap();
            for batch in 0..batches {
                let expected: Vec<i32> = (0..rows)
                    .filter_map(|row| Some((row, row.checked_add_signed(offset)?)))
                    .filter(|&(_, col)| col < cols)
                    .map(|(row, col)| view[[batch, row, col]])
                    .collect();
                assert_eq!(diagonal.index(0, batch).unwrap(), expected);
            }
        }
        assert!(view.diagonal(isize::MIN).unwrap().is_empty());
    }
    assert!(view.index(0, 0).unwrap().index(0, 0).unwrap().diagonal(0).is_err());
    // Where diagonals of a view for writing are written, the library finds them distinct too.
    let mut data = numbers(24);
    for axes in [[0, 1, 2], [1, 0, 2], [2, 0, 1], [0, 2, 1]] {
        let mut view = TensorViewMut::from_slice(&mut data, [2, 3, 4]).unwrap();
        let turned = view.view_mut().permute(&axes).unwrap().flip(-1).unwrap();
        tenure::ops::fill(&mut turned.diagonal(0).unwrap(), 1).unwrap();
    }
}

#[test]
fn owners_read_as_their_views_do() {
    let tensor = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let shared: SharedTensor<i32> = Tensor::from([[1, 2, 3], [4, 5, 6]]).into_shared();
    assert_eq!(tensor.t(), shared.t());
    assert_eq!(tensor.slice_axes(s![.., ..;2]).unwrap(), [[1, 3], [4, 6]]);
    assert_eq!(tensor.cast::<f64>().unwrap(), shared.cast::<f64>().unwrap());
    assert_eq!((tensor.item(), tensor.slice_axes(s![1, 1]).unwrap().item()), (None, Some(5)));
}
