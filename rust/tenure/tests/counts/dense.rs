//! Tensors and views: shapes, indices, ranges, and parts.

use std::ops::Range;
use std::sync::Arc;

use tenure::{
    DType, DynView, DynViewMut, Order, SharedTensor, Slice, Tensor, TensorView, TensorViewMut, s,
};

use super::{Row, answered, done, each, shapes};

/// Views of few elements, of zero elements, and of one element that a broadcast repeats.
fn views(n: usize, call: impl Fn(TensorView<'_, u8>)) {
    call(TensorView::from_slice(&[1; 6], [2, 3]).unwrap());
    for shape in [[n, 0], [0, n]] {
        TensorView::from_slice(&[], shape).into_iter().for_each(&call);
    }
    let one = TensorView::from_ref(&1);
    for shape in [[n, 1], [2, n], [n, n]] {
        one.broadcast(shape).into_iter().for_each(&call);
    }
}

/// Views of few elements and of none, for writing.
fn views_mut(n: usize, call: impl Fn(TensorViewMut<'_, u8>)) {
    call(TensorViewMut::from_slice(&mut [1; 6], [2, 3]).unwrap());
    for shape in [[n, 0], [0, n]] {
        TensorViewMut::from_slice(&mut [], shape).into_iter().for_each(&call);
    }
}

fn dyn_views(n: usize, call: impl Fn(DynView<'_>)) {
    views(n, |view| call(view.into()));
}

/// Takes an item from both ends of an iterator.
fn walked<T>(walk: tenure::Result<impl DoubleEndedIterator<Item = T> + ExactSizeIterator>) {
    if let Ok(mut walk) = walk {
        assert!(walk.next().is_some() || walk.len() == 0);
        walk.next_back();
    }
}

fn ranges(n: usize) -> [Range<usize>; 4] {
    [n..n, 0..n, 1..n, n..2]
}

fn steps(n: usize) -> [isize; 3] {
    [n as isize, (n as isize).wrapping_neg(), 1]
}

fn slices(n: usize) -> [Vec<Slice>; 5] {
    let signed = n as isize;
    [
        s![n].into(),
        s![signed, ..signed].into(),
        s![n.., ..=n].into(),
        s![..; signed, signed..signed].into(),
        s![1..; signed.wrapping_neg()].into(),
    ]
}

fn reshapes(n: usize) -> [[isize; 2]; 5] {
    let n = n as isize;
    [[n, -1], [-1, n], [n, n], [n, 0], [6, n.wrapping_neg()]]
}

pub const ROWS: &[Row] = &[
    ("dense/tensor.rs", "zeros", |n| {
        done(Tensor::<u8>::zeros(n));
        each(shapes(n), |shape| done(Tensor::<u8>::zeros(shape)));
        done(Tensor::<u8>::zeros([n; 8]));
        done(Tensor::<u8>::zeros([n; 9]));
    }),
    ("dense/tensor.rs", "zeros_in", |n| {
        for order in [Order::ColumnMajor, Order::ChannelsLast] {
            each(shapes(n), |shape| done(Tensor::<f64>::zeros_in(shape, order)));
            done(Tensor::<f64>::zeros_in([n, 2, n, 1], order));
        }
    }),
    ("dense/tensor.rs", "full", |n| {
        each(shapes(n), |shape| done(Tensor::full(shape, 1_u8)));
    }),
    ("dense/tensor.rs", "copy_from_slice", |n| {
        each(shapes(n), |shape| done(Tensor::copy_from_slice(&[1_u8], shape)));
    }),
    ("dense/tensor.rs", "from_vec", |n| {
        each(shapes(n), |shape| done(Tensor::from_vec(vec![1_u8], shape)));
    }),
    ("dense/tensor.rs", "from_vec_in", |n| {
        each(shapes(n), |shape| done(Tensor::from_vec_in(vec![1_u8], shape, Order::ColumnMajor)));
    }),
    ("dense/tensor.rs", "from_owner_mut", |n| {
        each(shapes(n), |shape| done(Tensor::from_owner_mut(vec![1_u8], shape)));
    }),
    ("dense/tensor/patterns.rs", "from_fn", |n| {
        each(shapes(n), |shape| done(Tensor::from_fn(shape, |[row, _]| row as f64)));
    }),
    ("dense/tensor/patterns.rs", "ones", |n| {
        each(shapes(n), |shape| done(Tensor::<f64>::ones(shape)));
    }),
    ("dense/tensor/patterns.rs", "eye", |n| done(Tensor::<f32>::eye(n))),
    ("dense/tensor/patterns.rs", "arange", |n| {
        done(Tensor::arange(0..n as u64));
        done(Tensor::arange(n as i64..i64::MAX));
        done(Tensor::arange(0.0..n as f64));
        done(Tensor::arange(-(n as f32)..n as f32));
    }),
    ("dense/tensor/patterns.rs", "arange_step", |n| {
        done(Tensor::arange_step(0, n as u64, 1 << 40));
        done(Tensor::arange_step(n as i64, i64::MIN, -1));
        done(Tensor::arange_step(0.0, 1.0, 1.0 / n as f64));
        done(Tensor::arange_step(n as f64, -(n as f64), -1.0));
        done(Tensor::arange_step(-f64::MAX, f64::MAX, n as f64));
    }),
    ("dense/tensor/patterns.rs", "linspace", |n| {
        done(Tensor::linspace(0.0, 1.0, n));
        done(Tensor::linspace(n as f32, -1.0, 3));
    }),
    ("dense/tensor/elements.rs", "get", |n| {
        let tensor = Tensor::<u8>::zeros([2, 3]).unwrap();
        each(shapes(n), |index| answered(tensor.get(index)));
    }),
    ("dense/tensor/elements.rs", "get_mut", |n| {
        let mut tensor = Tensor::<u8>::zeros([2, 3]).unwrap();
        each(shapes(n), |index| answered(tensor.get_mut(index).map(|element| *element = 1)));
    }),
    ("dense/tensor/elements.rs", "split_into_mut", |n| {
        walked(Tensor::<u8>::zeros([2, 3]).unwrap().split_into_mut(0, n));
    }),
    ("dense/tensor/elements.rs", "chunks_mut", |n| {
        walked(Tensor::<u8>::zeros([2, 3]).unwrap().chunks_mut(1, n));
    }),
    ("dense/shared.rs", "from_arc", |n| {
        each(shapes(n), |shape| done(SharedTensor::from_arc(Arc::from([1_u8]), shape)));
    }),
    ("dense/shared.rs", "from_owner", |n| {
        each(shapes(n), |shape| done(SharedTensor::from_owner(vec![1_u8], shape)));
    }),
    ("dense/shared.rs", "from_bytes", |n| {
        for shape in shapes(n) {
            done(SharedTensor::<f32>::from_bytes(vec![1; 64], 0, shape));
            done(SharedTensor::<u8>::from_bytes(vec![1; 64], n, shape));
        }
        done(SharedTensor::<u8>::from_bytes(vec![1; 64], n, [2, 3]));
    }),
    ("dense/shared.rs", "get", |n| {
        let tensor = Tensor::<u8>::zeros([2, 3]).unwrap().into_shared();
        each(shapes(n), |index| answered(tensor.get(index)));
    }),
    ("dense/view.rs", "from_slice", |n| {
        each(shapes(n), |shape| done(TensorView::from_slice(&[1_u8], shape)));
    }),
    ("dense/view.rs", "from_slice_in", |n| {
        each(shapes(n), |shape| done(TensorView::from_slice_in(&[1.0], shape, Order::ColumnMajor)));
    }),
    ("dense/view.rs", "from_slice_strided", |n| {
        for (shape, step) in shapes(n).into_iter().flat_map(|shape| steps(n).map(|by| (shape, by)))
        {
            done(TensorView::from_slice_strided(&[1_u8; 8], 3, shape, &[step, 1]));
            done(TensorView::from_slice_strided(&[1.0; 8], n, shape, &[0, step]));
            done(TensorView::from_slice_strided(&[1.0; 8], 3, [2, 2], &[step, step]));
        }
    }),
    ("dense/view.rs", "get", |n| {
        views(n, |view| {
            each(shapes(n), |index| answered(view.get(index)));
        });
    }),
    ("dense/view_mut.rs", "from_slice", |n| {
        each(shapes(n), |shape| done(TensorViewMut::from_slice(&mut [1_u8], shape)));
    }),
    ("dense/view_mut.rs", "from_slice_in", |n| {
        let order = Order::ColumnMajor;
        each(shapes(n), |shape| done(TensorViewMut::from_slice_in(&mut [1.0], shape, order)));
    }),
    ("dense/view_mut.rs", "from_slice_strided", |n| {
        for (shape, step) in shapes(n).into_iter().flat_map(|shape| steps(n).map(|by| (shape, by)))
        {
            done(TensorViewMut::from_slice_strided(&mut [1_u8; 8], 3, shape, &[step, 1]));
            done(TensorViewMut::from_slice_strided(&mut [1.0; 8], n, shape, &[0, step]));
            done(TensorViewMut::from_slice_strided(&mut [1.0; 8], 3, [2, 2], &[step, step]));
        }
    }),
    ("dense/view_mut/elements.rs", "get", |n| {
        views_mut(n, |view| {
            each(shapes(n), |index| answered(view.get(index)));
        });
    }),
    ("dense/view_mut/elements.rs", "get_mut", |n| {
        views_mut(n, |mut view| {
            each(shapes(n), |index| answered(view.get_mut(index).map(|element| *element = 1)));
        });
    }),
    ("dense/view_mut/elements.rs", "split_into_mut", |n| {
        views_mut(n, |mut view| walked(view.split_into_mut(0, n)));
    }),
    ("dense/view_mut/elements.rs", "chunks_mut", |n| {
        views_mut(n, |mut view| walked(view.chunks_mut(1, n)));
    }),
    ("dense/view/parts.rs", "slice", |n| {
        views(n, |view| {
            each(ranges(n), |range| {
                done(view.slice(0, range.clone()).and_then(|v| v.slice(1, range)))
            });
            done(view.slice(0, ..=n));
            done(view.slice(1, n..));
            done(view.slice(0, n as i64..-1));
            done(view.slice(0, (n as isize).wrapping_neg()..=n as isize));
        });
    }),
    ("dense/view/parts.rs", "slice_step", |n| {
        views(n, |view| {
            for step in steps(n) {
                each(ranges(n), |range| done(view.slice_step(1, range, step)));
                done(view.slice_step(0, .., step));
            }
        });
    }),
    ("dense/view/parts.rs", "slice_axes", |n| {
        views(n, |view| {
            each(slices(n), |slices| done(view.slice_axes(slices)));
        });
    }),
    ("dense/view/parts.rs", "index", |n| {
        views(n, |view| {
            done(view.index(0, n));
            done(view.index(1, n.wrapping_sub(1)));
            done(view.index(1, n as i64));
            done(view.index(1, (n as isize).wrapping_neg()));
        });
    }),
    ("dense/view/parts.rs", "reshape", |n| {
        views(n, |view| {
            each(reshapes(n), |shape| done(view.reshape(shape)));
            each(shapes(n), |shape| done(view.reshape(shape)));
        });
    }),
    ("dense/view/parts.rs", "broadcast", |n| {
        views(n, |view| {
            each(shapes(n), |shape| done(view.broadcast(shape)));
            done(view.broadcast([n, n, 2, 3]));
        });
    }),
    ("dense/view/parts.rs", "split_at", |n| views(n, |view| done(view.split_at(1, n)))),
    ("dense/view/parts.rs", "split_part", |n| {
        views(n, |view| {
            done(view.split_part(1, n, 0));
            done(view.split_part(0, n, n.wrapping_sub(1)));
            done(view.split_part(0, 2, n));
        });
    }),
    ("dense/view/parts.rs", "split_into", |n| views(n, |view| walked(view.split_into(0, n)))),
    ("dense/view/parts.rs", "chunks", |n| views(n, |view| walked(view.chunks(1, n)))),
    ("dense/view/parts.rs", "diagonal", |n| {
        views(n, |view| {
            each(steps(n), |offset| done(view.diagonal(offset)));
        });
    }),
    ("dense/view/parts.rs", "windows", |n| {
        views(n, |view| {
            done(view.windows(0, n, 1));
            done(view.windows(1, 2, n));
            done(view.windows(1, n, n));
        });
    }),
    ("dense/view_mut/parts.rs", "slice", |n| {
        each(ranges(n), |range| views_mut(n, |view| done(view.slice(1, range.clone()))));
    }),
    ("dense/view_mut/parts.rs", "slice_step", |n| {
        for step in steps(n) {
            each(ranges(n), |range| {
                views_mut(n, |view| done(view.slice_step(0, range.clone(), step)))
            });
        }
    }),
    ("dense/view_mut/parts.rs", "slice_axes", |n| {
        each(slices(n), |slices| views_mut(n, |view| done(view.slice_axes(&slices))));
    }),
    ("dense/view_mut/parts.rs", "index", |n| views_mut(n, |view| done(view.index(0, n)))),
    ("dense/view_mut/parts.rs", "reshape", |n| {
        each(reshapes(n), |shape| views_mut(n, |view| done(view.reshape(shape))));
    }),
    ("dense/view_mut/parts.rs", "split_at", |n| views_mut(n, |view| done(view.split_at(0, n)))),
    ("dense/view_mut/parts.rs", "split_part", |n| {
        views_mut(n, |view| done(view.split_part(0, n, 0)));
        views_mut(n, |view| done(view.split_part(1, n, n.wrapping_sub(1))));
        views_mut(n, |view| done(view.split_part(1, 2, n)));
    }),
    ("dense/view_mut/parts.rs", "diagonal", |n| {
        each(steps(n), |offset| views_mut(n, |view| done(view.diagonal(offset))));
    }),
    ("dense/view_mut/parts.rs", "windows", |n| {
        views_mut(n, |view| done(view.windows(0, n, 1)));
        views_mut(n, |view| done(view.windows(1, 1, n)));
    }),
    ("dense/owners.rs", "slice", |n| done(owner().slice(0, 1..n))),
    ("dense/owners.rs", "slice_step", |n| done(owner().slice_step(0, 1.., n as isize))),
    ("dense/owners.rs", "slice_axes", |n| {
        each(slices(n), |slices| done(owner().slice_axes(slices)));
    }),
    ("dense/owners.rs", "index", |n| done(owner().index(1, n))),
    ("dense/owners.rs", "reshape", |n| {
        each(reshapes(n), |shape| done(owner().reshape(shape)));
    }),
    ("dense/owners.rs", "broadcast", |n| done(owner().broadcast([n, 2, 3]))),
    ("dense/owners.rs", "split_at", |n| done(owner().split_at(1, n))),
    ("dense/owners.rs", "split_part", |n| done(owner().split_part(1, n, n / 2))),
    ("dense/owners.rs", "split_into", |n| walked(owner().split_into(1, n))),
    ("dense/owners.rs", "chunks", |n| walked(owner().chunks(0, n))),
    ("dense/owners.rs", "windows", |n| done(owner().windows(1, n, n))),
    ("dense/owners.rs", "diagonal", |n| done(owner().diagonal(n as isize))),
    ("dense/slice.rs", "stepped", |n| {
        let slice = tenure::Slice::stepped(n.., n as isize);
        views(n, |view| done(view.slice_axes([slice])));
    }),
    ("dense/dynamic.rs", "from_bytes", |n| {
        for shape in shapes(n) {
            done(DynView::from_bytes(&[1; 8], DType::F64, shape));
            done(DynViewMut::from_bytes(&mut [1; 8], DType::U8, shape));
        }
    }),
    ("dense/dynamic.rs", "from_bytes_in", |n| {
        for shape in shapes(n) {
            done(DynView::from_bytes_in(&[1; 8], DType::F64, shape, Order::ColumnMajor));
            done(DynViewMut::from_bytes_in(&mut [1; 8], DType::U8, shape, Order::ColumnMajor));
        }
    }),
    ("dense/dynamic/shape.rs", "slice", |n| {
        each(ranges(n), |range| dyn_views(n, |view| done(view.slice(0, range.clone()))));
    }),
    ("dense/dynamic/shape.rs", "slice_step", |n| {
        each(steps(n), |step| dyn_views(n, |view| done(view.slice_step(0, .., step))));
    }),
    ("dense/dynamic/shape.rs", "index", |n| dyn_views(n, |view| done(view.index(1, n)))),
    ("dense/dynamic/shape.rs", "reshape", |n| {
        each(reshapes(n), |shape| dyn_views(n, |view| done(view.reshape(shape))));
    }),
    ("dense/dynamic/shape.rs", "split_at", |n| dyn_views(n, |view| done(view.split_at(0, n)))),
    ("dense/shape.rs", "with_extents", |n| {
        views(n, |view| {
            done(view.reshape((n, -1)));
            done(view.reshape(n as isize));
            done(view.reshape(n as i32));
        });
    }),
    ("", "axes of any number", |n| {
        views(n, |view| {
            for axis in [tenure::Axis::from(n), tenure::Axis::from(n as isize)] {
                done(view.index(axis, 0));
                done(view.unsqueeze(axis));
                done(view.permute(&[axis, axis]));
                done(tenure::ops::sum(view.slice(0, ..0).unwrap(), axis));
            }
        });
    }),
    ("", "walks, and what is printed", |n| {
        views(n, |view| {
            let mut walk = view.iter();
            walk.next();
            walk.next_back();
            let mut rows = view.rows();
            rows.next();
            rows.next_back();
            let _ = format!("{view} {view:?}");
        });
    }),
];

fn owner() -> &'static Tensor<u8> {
    static OWNER: std::sync::LazyLock<Tensor<u8>> =
        std::sync::LazyLock::new(|| Tensor::zeros([2, 3]).unwrap());
    &OWNER
}
