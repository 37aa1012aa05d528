//! Manipulations of views against a naive index map, and against `tnr_view_*` in C.

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseResult, TestRunner};
use tenure::{Result, TensorView, TensorViewMut};
use tenure_sys as sys;

/// A view as a list: which element each index reaches, in row-major order.
#[derive(Clone, Debug)]
struct Model {
    shape: Vec<usize>,
    ids: Vec<i32>,
}

impl Model {
    fn at(&self, index: &[usize]) -> i32 {
        let place = index.iter().zip(&self.shape).fold(0, |place, (&at, &extent)| {
            assert!(at < extent);
            place * extent + at
        });
        self.ids[place]
    }

    /// The model of `shape` whose index reaches what `from` says.
    fn of(shape: Vec<usize>, from: impl Fn(&[usize]) -> i32) -> Model {
        let count: usize = shape.iter().product();
        let ids = (0..count)
            .map(|nth| {
                let mut index = vec![0; shape.len()];
                let mut rest = nth;
                for axis in (0..shape.len()).rev() {
                    index[axis] = rest % shape[axis];
                    rest /= shape[axis];
                }
                from(&index)
            })
            .collect();
        Model { shape, ids }
    }

    /// The elements `chosen` of one axis.
    fn select(&self, axis: usize, chosen: &[usize]) -> Model {
        let mut shape = self.shape.clone();
        shape[axis] = chosen.len();
        Model::of(shape, |index| {
            let mut index = index.to_vec();
            index[axis] = chosen[index[axis]];
            self.at(&index)
        })
    }

    /// Whether strides can say it: every element lies where the steps along the axes lead.
    fn is_strided(&self) -> bool {
        let origin = match self.ids.first() {
            Some(&origin) => origin,
            None => return true,
        };
        let steps: Vec<i32> = (0..self.shape.len())
            .map(|axis| {
                let mut index = vec![0; self.shape.len()];
                index[axis] = 1;
                if self.shape[axis] > 1 { self.at(&index) - origin } else { 0 }
            })
            .collect();
        let strided = Model::of(self.shape.clone(), |index| {
            origin + index.iter().zip(&steps).map(|(&at, &step)| at as i32 * step).sum::<i32>()
        });
        strided.ids == self.ids
    }
}

/// One manipulation; parameters may be out of bounds.
#[derive(Clone, Debug)]
enum Step {
    Slice { axis: usize, start: usize, end: usize, step: isize },
    Index { axis: usize, index: usize },
    Permute { axes: Vec<usize> },
    Transpose { a: usize, b: usize },
    Reverse,
    Reshape { shape: Vec<usize> },
    Flatten,
    Squeeze { axis: usize },
    Unsqueeze { axis: usize },
    Broadcast { shape: Vec<usize> },
    Flip { axis: usize },
    Split { axis: usize, index: usize, low: bool },
    Chunk { axis: usize, count: usize, index: usize },
    Windows { axis: usize, size: usize, step: usize },
}

impl Step {
    /// The expected result, or `None` where it has to be refused.
    fn on_model(&self, model: &Model) -> Option<Model> {
        let rank = model.shape.len();
        let extent = |axis: usize| model.shape.get(axis).copied();
        match *self {
            Step::Slice { axis, start, end, step } => {
                if start > end || end > extent(axis)? || step == 0 {
                    return None;
                }
                let mut chosen: Vec<usize> = (start..end).collect();
                if step < 0 {
                    chosen.reverse();
                }
                let chosen: Vec<usize> = chosen.into_iter().step_by(step.unsigned_abs()).collect();
                Some(model.select(axis, &chosen))
            }
            Step::Index { axis, index } => {
                if index >= extent(axis)? {
                    return None;
                }
                let mut part = model.select(axis, &[index]);
                part.shape.remove(axis);
                Some(part)
            }
            Step::Permute { ref axes } => {
                let mut sorted = axes.clone();
                sorted.sort_unstable();
                if sorted != (0..rank).collect::<Vec<_>>() {
                    return None;
                }
                let shape = axes.iter().map(|&axis| model.shape[axis]).collect();
                Some(Model::of(shape, |index| {
                    let mut source = vec![0; rank];
                    for (to, &from) in axes.iter().enumerate() {
                        source[from] = index[to];
                    }
                    model.at(&source)
                }))
            }
            Step::Transpose { a, b } => {
                extent(a).and(extent(b))?;
                let mut axes: Vec<usize> = (0..rank).collect();
                axes.swap(a, b);
                Step::Permute { axes }.on_model(model)
            }
            Step::Reverse => Step::Permute { axes: (0..rank).rev().collect() }.on_model(model),
            Step::Reshape { ref shape } => {
                let reshaped = Model { shape: shape.clone(), ids: model.ids.clone() };
                let fits = shape.len() <= 8 && shape.iter().product::<usize>() == model.ids.len();
                (fits && reshaped.is_strided()).then_some(reshaped)
            }
            Step::Flatten => Step::Reshape { shape: vec![model.ids.len()] }.on_model(model),
            Step::Squeeze { axis } => {
                let mut squeezed = model.clone();
                (extent(axis)? == 1).then(|| squeezed.shape.remove(axis))?;
                Some(squeezed)
            }
            Step::Unsqueeze { axis } => {
                let mut widened = model.clone();
                (axis <= rank && rank < 8).then(|| widened.shape.insert(axis, 1))?;
                Some(widened)
            }
            Step::Broadcast { ref shape } => {
                if shape.len() < rank || shape.len() > 8 {
                    return None;
                }
                let added = shape.len() - rank;
                let fits = |axis: usize| {
                    model.shape[axis] == 1 || model.shape[axis] == shape[added + axis]
                };
                if !(0..rank).all(fits) {
                    return None;
                }
                Some(Model::of(shape.clone(), |index| {
                    let own: Vec<usize> = (0..rank)
                        .map(|axis| index[added + axis].min(model.shape[axis] - 1))
                        .collect();
                    model.at(&own)
                }))
            }
            Step::Flip { axis } => {
                let chosen: Vec<usize> = (0..extent(axis)?).rev().collect();
                Some(model.select(axis, &chosen))
            }
            Step::Split { axis, index, low } => {
                let all: Vec<usize> = (0..extent(axis)?).collect();
                let (before, from) = all.split_at_checked(index)?;
                Some(model.select(axis, if low { before } else { from }))
            }
            Step::Chunk { axis, count, index } => {
                let extent = extent(axis)?;
                if index >= count {
                    return None;
                }
                // Deal the extent out one by one.
                let mut sizes = vec![0; count];
                (0..extent).for_each(|nth| sizes[nth % count] += 1);
                let start: usize = sizes[..index].iter().sum();
                let chosen: Vec<usize> = (start..start + sizes[index]).collect();
                Some(model.select(axis, &chosen))
            }
            Step::Windows { axis, size, step } => {
                let extent = extent(axis)?;
                if size == 0 || size > extent || step == 0 || rank == 8 {
                    return None;
                }
                let mut shape = model.shape.clone();
                shape[axis] =
                    (0..extent).step_by(step).filter(|start| start + size <= extent).count();
                shape.push(size);
                Some(Model::of(shape, |index| {
                    let (inside, outer) = index.split_last().unwrap();
                    let mut outer = outer.to_vec();
                    outer[axis] = outer[axis] * step + inside;
                    model.at(&outer)
                }))
            }
        }
    }

    fn on_view<'a>(&self, view: TensorView<'a, i32>) -> Result<TensorView<'a, i32>> {
        match *self {
            Step::Slice { axis, start, end, step } => view.slice_step(axis, start..end, step),
            Step::Index { axis, index } => view.index(axis, index),
            Step::Permute { ref axes } => view.permute(axes),
            Step::Transpose { a, b } => view.transpose(a, b),
            Step::Reverse => Ok(view.t()),
            Step::Reshape { ref shape } => view.reshape(shape),
            Step::Flatten => view.flatten(),
            Step::Squeeze { axis } => view.squeeze(axis),
            Step::Unsqueeze { axis } => view.unsqueeze(axis),
            Step::Broadcast { ref shape } => view.broadcast(shape),
            Step::Flip { axis } => view.flip(axis),
            Step::Split { axis, index, low: true } => Ok(view.split_at(axis, index)?.0),
            Step::Split { axis, index, low: false } => Ok(view.split_at(axis, index)?.1),
            Step::Chunk { axis, count, index } => view.split_part(axis, count, index),
            Step::Windows { axis, size, step } => view.windows(axis, size, step),
        }
    }

    /// Broadcasts are not for writing: those give `None`.
    fn on_view_mut<'a>(
        &self,
        view: TensorViewMut<'a, i32>,
    ) -> Option<Result<TensorViewMut<'a, i32>>> {
        Some(match *self {
            Step::Slice { axis, start, end, step } => view.slice_step(axis, start..end, step),
            Step::Index { axis, index } => view.index(axis, index),
            Step::Permute { ref axes } => view.permute(axes),
            Step::Transpose { a, b } => view.transpose(a, b),
            Step::Reverse => Ok(view.t()),
            Step::Reshape { ref shape } => view.reshape(shape),
            Step::Flatten => view.flatten(),
            Step::Squeeze { axis } => view.squeeze(axis),
            Step::Unsqueeze { axis } => view.unsqueeze(axis),
            Step::Broadcast { .. } => return None,
            Step::Flip { axis } => view.flip(axis),
            Step::Split { axis, index, low } => {
                view.split_at(axis, index).map(|(before, from)| if low { before } else { from })
            }
            Step::Chunk { axis, count, index } => view.split_part(axis, count, index),
            Step::Windows { axis, size, step } => view.windows(axis, size, step),
        })
    }

    /// The view that C makes of `view`, or `None` where it refuses.
    fn in_c(&self, view: &sys::tnr_view) -> Option<sys::tnr_view> {
        let mut out = *view;
        let mut other = *view;
        let signed = |shape: &[usize]| shape.iter().map(|&e| e as i64).collect::<Vec<i64>>();
        let unsigned = |axes: &[usize]| axes.iter().map(|&a| a as u32).collect::<Vec<u32>>();
        let rank = view.rank as usize;
        let out_ptr = &raw mut out;
        // SAFETY: `view` is checked, arrays have as many entries as said, outputs are writable.
        let status = unsafe {
            match *self {
                Step::Slice { start, end, .. } if start > end => return None,
                Step::Slice { axis, start, end, step } => {
                    let (start, end) = (start as i64, end as i64);
                    let (first, stop) = if step < 0 { (end - 1, start - 1) } else { (start, end) };
                    sys::tnr_view_slice(view, axis as u32, first, stop, step as i64, out_ptr)
                }
                Step::Index { axis, index } => {
                    sys::tnr_view_index(view, axis as u32, index as i64, out_ptr)
                }
                Step::Permute { ref axes } => {
                    sys::tnr_view_permute(view, axes.len() as u32, unsigned(axes).as_ptr(), out_ptr)
                }
                Step::Transpose { a, b } => {
                    sys::tnr_view_transpose(view, a as u32, b as u32, out_ptr)
                }
                Step::Reverse => {
                    let axes: Vec<u32> = (0..rank as u32).rev().collect();
                    sys::tnr_view_permute(view, rank as u32, axes.as_ptr(), out_ptr)
                }
                Step::Reshape { ref shape } => {
                    sys::tnr_view_reshape(view, shape.len() as u32, signed(shape).as_ptr(), out_ptr)
                }
                Step::Flatten => sys::tnr_view_flatten(view, out_ptr),
                Step::Squeeze { axis } => sys::tnr_view_squeeze(view, axis as u32, out_ptr),
                Step::Unsqueeze { axis } => sys::tnr_view_unsqueeze(view, axis as u32, out_ptr),
                Step::Broadcast { ref shape } => sys::tnr_view_broadcast(
                    view,
                    shape.len() as u32,
                    signed(shape).as_ptr(),
                    out_ptr,
                ),
                Step::Flip { axis } => sys::tnr_view_flip(view, axis as u32, out_ptr),
                Step::Split { axis, index, low } => {
                    let (low_out, high_out) =
                        if low { (out_ptr, &raw mut other) } else { (&raw mut other, out_ptr) };
                    sys::tnr_view_split(view, axis as u32, index as i64, low_out, high_out)
                }
                Step::Chunk { axis, count, index } => {
                    sys::tnr_view_chunk(view, axis as u32, count as i64, index as i64, out_ptr)
                }
                Step::Windows { axis, size, step } => {
                    sys::tnr_view_windows(view, axis as u32, size as i64, step as i64, out_ptr)
                }
            }
        };
        (status == sys::tnr_status::OK).then_some(out)
    }
}

/// Mostly sensible parameters for a view of a few small axes; some are out of bounds.
fn step() -> impl Strategy<Value = Step> {
    let axis = || 0..4_usize;
    let extents = || prop::collection::vec(prop_oneof![6 => 1..5_usize, 1 => Just(0)], 0..5);
    prop_oneof![
        (axis(), 0..4_usize, 0..6_usize, -3..4_isize)
            .prop_map(|(axis, start, end, step)| Step::Slice { axis, start, end, step }),
        (axis(), 0..4_usize).prop_map(|(axis, index)| Step::Index { axis, index }),
        (0..5_usize, any::<prop::sample::Index>()).prop_flat_map(|(rank, repeat)| {
            let axes = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
            axes.prop_map(move |mut axes| {
                if rank > 1 && repeat.index(8) == 0 {
                    axes[0] = axes[1];
                }
                Step::Permute { axes }
            })
        }),
        (axis(), axis()).prop_map(|(a, b)| Step::Transpose { a, b }),
        Just(Step::Reverse),
        extents().prop_map(|shape| Step::Reshape { shape }),
        Just(Step::Flatten),
        axis().prop_map(|axis| Step::Squeeze { axis }),
        axis().prop_map(|axis| Step::Unsqueeze { axis }),
        extents().prop_map(|shape| Step::Broadcast { shape }),
        axis().prop_map(|axis| Step::Flip { axis }),
        (axis(), 0..6_usize, any::<bool>()).prop_map(|(axis, index, low)| Step::Split {
            axis,
            index,
            low
        }),
        (axis(), 0..4_usize, 0..4_usize).prop_map(|(axis, count, index)| Step::Chunk {
            axis,
            count,
            index
        }),
        (axis(), 0..4_usize, 0..3_usize).prop_map(|(axis, size, step)| Step::Windows {
            axis,
            size,
            step
        }),
    ]
}

fn run(cases: u32, test: impl Fn(Vec<usize>, Vec<Step>) -> TestCaseResult) {
    let config = ProptestConfig {
        // Miri takes seconds for each.
        cases: if cfg!(miri) { 4 } else { cases },
        rng_seed: RngSeed::Fixed(0x5eed),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let shape = prop::collection::vec(prop_oneof![8 => 1..6_usize, 1 => Just(0)], 0..5);
    let steps = prop::collection::vec(step(), 1..8);
    TestRunner::new(config).run(&(shape, steps), |(shape, steps)| test(shape, steps)).unwrap();
}

/// The dense view of `data` in C.
fn lent_in_c(data: &[i32], shape: &[usize]) -> sys::tnr_view {
    let shape: Vec<i64> = shape.iter().map(|&extent| extent as i64).collect();
    // SAFETY: a plain struct of integers and pointers; 0 is valid for each of them.
    let mut view: sys::tnr_view = unsafe { std::mem::zeroed() };
    // SAFETY: the arrays have `rank` entries; the view is used while `data` lives.
    let status = unsafe {
        sys::tnr_view_lend(
            data.as_ptr().cast(),
            size_of_val(data),
            0,
            sys::tnr_dtype::I32,
            shape.len() as u32,
            shape.as_ptr(),
            std::ptr::null(),
            &mut view,
        )
    };
    assert_eq!(status, sys::tnr_status::OK);
    view
}

/// Whether the view in C is the same: where its elements are, and how it steps.
fn assert_same_in_c(c: &sys::tnr_view, data: *const i32, shape: &[usize], strides: &[isize]) {
    let rank = c.rank as usize;
    assert_eq!(shape, c.shape[..rank].iter().map(|&e| e as usize).collect::<Vec<_>>());
    assert_eq!(data, c.data.cast());
    if !shape.contains(&0) {
        for axis in (0..rank).filter(|&axis| shape[axis] > 1) {
            assert_eq!(strides[axis] as i64, c.strides[axis], "axis {axis} of {shape:?}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn manipulations_reach_what_the_index_map_says_and_are_those_of_c() {
    run(10_000, |shape, steps| {
        let data: Vec<i32> = (0..shape.iter().product::<usize>() as i32).collect();
        let mut model = Model { shape: shape.clone(), ids: data.clone() };
        let mut view = TensorView::from_slice(&data, &*shape).unwrap();
        let mut c = lent_in_c(&data, &shape);
        for step in steps {
            let expected = step.on_model(&model);
            let result = step.on_view(view);
            let c_result = step.in_c(&c);
            prop_assert_eq!(result.is_ok(), expected.is_some(), "{:?} on {:?}", step, model);
            prop_assert_eq!(c_result.is_some(), expected.is_some(), "C: {:?} on {:?}", step, model);
            if let (Some(expected), Ok(result), Some(c_result)) = (expected, result, c_result) {
                (model, view, c) = (expected, result, c_result);
            }
            prop_assert_eq!(view.shape(), &*model.shape);
            prop_assert_eq!(view.len(), model.ids.len());
            prop_assert_eq!(view.to_vec(), &*model.ids, "after {:?}", step);
            assert_same_in_c(&c, view.as_ptr(), view.shape(), view.strides());
        }
        Ok(())
    });
}

#[test]
fn exclusive_views_are_manipulated_as_shared_ones_and_visit_each_element_once() {
    run(5_000, |shape, steps| {
        let mut data: Vec<i32> = (0..shape.iter().product::<usize>() as i32).collect();
        let untouched = data.clone();
        let mut model = Model { shape: shape.clone(), ids: data.clone() };
        let mut view = TensorViewMut::from_slice(&mut data, &*shape).unwrap();
        for step in steps {
            // Only what gives every element one index can be written.
            let expected = step.on_model(&model).filter(|expected| {
                let mut ids = expected.ids.clone();
                ids.sort_unstable();
                ids.windows(2).all(|pair| pair[0] != pair[1])
            });
            let Some(accepted) = step.on_view_mut(view.view_mut()).map(|result| result.is_ok())
            else {
                continue;
            };
            prop_assert_eq!(accepted, expected.is_some(), "{:?} on {:?}", step, model);
            if let Some(expected) = expected {
                view = step.on_view_mut(view).unwrap().unwrap();
                model = expected;
            }
            prop_assert_eq!(view.to_vec(), &*model.ids, "after {:?}", step);
        }
        view.iter_mut().for_each(|element| *element += 1_000);
        for (now, before) in data.iter().zip(&untouched) {
            let visited = model.ids.contains(before);
            prop_assert_eq!(*now, before + if visited { 1_000 } else { 0 });
        }
        Ok(())
    });
}

#[test]
fn every_walk_gives_the_elements_of_its_parts() {
    run(2_500, |shape, steps| {
        let data: Vec<i32> = (0..shape.iter().product::<usize>() as i32).collect();
        let mut model = Model { shape: shape.clone(), ids: data.clone() };
        let mut view = TensorView::from_slice(&data, &*shape).unwrap();
        for step in steps {
            if let (Some(expected), Ok(result)) = (step.on_model(&model), step.on_view(view)) {
                (model, view) = (expected, result);
            }
        }
        prop_assert_eq!(view.iter().len(), model.ids.len());
        for axis in 0..view.rank() {
            let parts = view.axis_iter(axis).unwrap();
            prop_assert_eq!(parts.len(), model.shape[axis]);
            for (at, part) in parts.enumerate() {
                let expected = Step::Index { axis, index: at }.on_model(&model).unwrap();
                prop_assert_eq!((part.shape(), part.to_vec()), (&*expected.shape, expected.ids));
            }
            let chunks: Vec<_> = view.split_into(axis, 3).unwrap().rev().collect();
            for (index, chunk) in chunks.into_iter().rev().enumerate() {
                let expected = Step::Chunk { axis, count: 3, index }.on_model(&model).unwrap();
                prop_assert_eq!((chunk.shape(), chunk.to_vec()), (&*expected.shape, expected.ids));
            }
        }
        prop_assert!(view.axis_iter(view.rank()).is_err() && view.split_into(0, 0).is_err());
        let row_extent = model.shape.last().copied().unwrap_or(1);
        let rows: Vec<Vec<i32>> = view.rows().map(|row| row.to_vec()).collect();
        prop_assert_eq!(rows.len(), model.shape.iter().rev().skip(1).product::<usize>());
        prop_assert!(rows.iter().all(|row| row.len() == row_extent));
        prop_assert_eq!(rows.concat(), model.ids);
        Ok(())
    });
}

#[test]
fn parts_of_an_exclusive_view_are_written_side_by_side() {
    let mut data = [0; 12];
    let mut view = TensorViewMut::from_slice(&mut data, [3, 4]).unwrap();
    let mut columns: Vec<_> = view.axis_iter_mut(1).unwrap().collect();
    for (nth, column) in columns.iter_mut().enumerate() {
        column.fill(nth as i32);
    }
    for (nth, mut row) in view.rows_mut().rev().enumerate() {
        row[[0]] = 10 * nth as i32;
    }
    for (nth, chunk) in view.split_into_mut(0, 2).unwrap().enumerate() {
        chunk.index(1, 3).unwrap().iter_mut().for_each(|element| *element += 100 * nth as i32);
    }
    assert_eq!(data, [20, 1, 2, 3, 10, 1, 2, 3, 0, 1, 2, 103]);

    let (mut left, mut right) =
        TensorViewMut::from_slice(&mut data, [3, 4]).unwrap().split_at(1, 2).unwrap();
    left.fill(1);
    right.fill(2);
    assert_eq!(data, [1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2]);
}

#[test]
fn elements_are_found_inside_the_shape_alone() {
    let data = [1, 2, 3, 4, 5, 6];
    let view = TensorView::from_slice(&data, [2, 3]).unwrap().t();
    assert_eq!(view[[2, 1]], 6);
    assert_eq!(view.get([2, 1]), Some(&6));
    assert_eq!(view.get([3, 0]), None);
    assert_eq!(view.get([0, usize::MAX]), None);
    assert_eq!(view.get([0]), None);
    assert_eq!(view.get([0, 0, 0]), None);
    assert_eq!(TensorView::from_ref(&7).get([]), Some(&7));
    assert_eq!(TensorView::from_slice(&data[..0], [0, 3]).unwrap().get([0, 0]), None);
}

#[test]
#[should_panic(expected = "index [2, 0] is outside shape [2, 3]")]
fn indexing_panics_as_slices_do() {
    let data = [1, 2, 3, 4, 5, 6];
    let view = TensorView::from_slice(&data, [2, 3]).unwrap();
    let _ = view[[2, 0]];
}

#[test]
fn a_view_outlives_the_view_it_was_made_of() {
    let data = [1, 2, 3, 4];
    let first: &i32;
    let slice: &[i32];
    {
        let view = TensorView::from_slice(&data, [2, 2]).unwrap();
        first = view.get([0, 0]).unwrap();
        slice = view.index(0, 1).unwrap().as_slice().unwrap();
    }
    assert_eq!((first, slice), (&1, &[3, 4][..]));
}

#[test]
#[should_panic(expected = "index [1] must have as many numbers as shape [2, 3] has axes")]
fn another_count_of_indices_panics() {
    let _ = TensorView::from_slice(&[0; 6], [2, 3]).unwrap()[[1]];
}

#[test]
fn ranges_may_be_written_in_every_way() {
    let view = TensorView::from_slice(&[0, 1, 2, 3, 4], 5).unwrap();
    assert_eq!(view.slice(0, 1..3).unwrap().to_vec(), [1, 2]);
    assert_eq!(view.slice(0, 1..=3).unwrap().to_vec(), [1, 2, 3]);
    assert_eq!(view.slice(0, ..2).unwrap().to_vec(), [0, 1]);
    assert_eq!(view.slice(0, 3..).unwrap().to_vec(), [3, 4]);
    assert_eq!(view.slice(0, ..).unwrap().len(), 5);
    assert_eq!(view.slice(0, 5..).unwrap().len(), 0);
    assert!(view.slice(0, ..=usize::MAX).is_err());
    assert!(view.slice(0, 6..).is_err());
    assert!(view.slice(0, 0..6).is_err());
    assert!(view.slice(1, ..).is_err());
    assert_eq!(view.slice_step(0, .., isize::MIN).unwrap().to_vec(), [4]);
    assert_eq!(view.slice_step(0, .., isize::MAX).unwrap().to_vec(), [0]);
}

#[test]
fn messages_name_the_value_and_the_bound() {
    let data = [0; 6];
    let view = TensorView::from_slice(&data, [2, 3]).unwrap();
    let message = |result: Result<TensorView<i32>>| result.err().unwrap().message().to_owned();
    for (result, expected) in [
        (view.slice(2, ..), "slice: axis is 2 but the view has rank 2"),
        (view.slice(1, 2..4), "slice: range is 2..4 but axis 1 has extent 3"),
        (view.slice_step(1, .., 0), "slice_step: step along axis 1 is 0 but must move"),
        (view.index(0, 2), "index: index is 2 but axis 0 has extent 2"),
        (
            view.permute(&[0, 0]),
            "permute: axes [0, 0] are no permutation of the 2 axes of the view",
        ),
        (view.reshape([4]), "reshape: shape [4] has 4 elements but the view of shape [2, 3] has 6"),
        (
            view.t().reshape([6]),
            "reshape: shape [3, 2] with strides [1, 3] cannot become [6] without a copy: `to_tensor()` \
             makes one",
        ),
        (view.squeeze(0), "squeeze: axis 0 has extent 2 but only extent 1 can be squeezed"),
        (view.unsqueeze(3), "unsqueeze: axis is 3 but the view has rank 2"),
        (view.broadcast([3, 3]), "broadcast: shape [2, 3] does not broadcast to [3, 3]"),
        (view.split_part(0, 2, 2), "split_part: part is 2 but there are 2"),
        (view.split_part(0, 0, 0), "split_part: axis 0 cannot be split into 0 parts"),
        (
            view.windows(1, 4, 1),
            "windows: window size is 4 but must be 1 to 3, the extent of axis 1",
        ),
        (view.windows(1, 1, 0), "windows: step along axis 1 is 0 but must move"),
        (view.diagonal(0).unwrap().diagonal(0), "diagonal: the rank is 1 but must be 2 at least"),
        (view.channels_last(), "channels_last: the rank is 2 but must be 3 at least"),
        (view.transpose(0, 2), "transpose: axis is 2 but the view has rank 2"),
    ] {
        assert_eq!(message(result), expected);
    }
    assert_eq!(
        view.chunks(0, 0).err().unwrap().message(),
        "chunks: chunk size along axis 0 is 0 but must be 1 at least"
    );
    assert_eq!(
        view.split_into(-3, 2).err().unwrap().message(),
        "split_into: axis is -3 but the view has rank 2"
    );
    assert_eq!(
        view.split_at(1, 4).err().unwrap().message(),
        "split_at: index is 4 but axis 1 has extent 3"
    );
}

#[test]
fn repeats_are_counted_without_overflow() {
    let one = [7];
    let view = TensorView::from_ref(&one[0]);
    let bound = tenure_sys::TNR_MAX_ELEMENTS as usize;
    let most = view.broadcast([bound]).unwrap();
    assert_eq!((most.len(), most.get([bound - 1])), (bound, Some(&7)));
    assert!(view.broadcast([bound + 1]).is_err());
    assert!(view.broadcast([bound, 2]).is_err());
    assert!(view.broadcast([isize::MAX as usize, 2]).is_err());
    assert!(view.broadcast([usize::MAX]).is_err());
    assert!(view.broadcast([isize::MAX as usize, 2, 0]).unwrap().is_empty());
    assert!(most.windows(0, bound / 2, 1).is_err());
    assert_eq!(most.reshape([bound]).unwrap().strides(), [0]);
    assert_eq!(most.slice(0, bound - 2..).unwrap().to_vec(), [7, 7]);
}

#[test]
fn a_copy_that_no_memory_can_hold_is_not_counted() {
    let huge = TensorView::from_ref(&1.0).broadcast([1 << 58]).unwrap();
    huge.to_tensor().unwrap_err();
    // Other tests may be copying at this moment, but not as much.
    assert!(tenure::stats().copied_bytes < 1 << 58);
}
