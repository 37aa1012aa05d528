//! Edge cases of safe constructors through every adaptor to other crates: empty memory at any
//! address, extents that are valid only next to an extent of 0, strides of empty axes, rank 0. No
//! adaptor panics, the other side has the same elements, and a refusal returns the value it took.
#![cfg(all(feature = "arrow", feature = "bytemuck", feature = "faer", feature = "ndarray"))]

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{Array as _, ArrowPrimitiveType};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use bytemuck::Pod;
use faer::sparse::{SparseColMatRef, SparseRowMatRef};
use faer::{Mat, MatMut, MatRef};
use ndarray::{ArcArray, Array, ArrayD, ArrayView, ArrayViewD, ArrayViewMutD, Ix2, IxDyn};
use tenure::interop::dlpack::{self, Exported};
use tenure::{
    AsView, Bool8, Complex, CscView, CsrView, DynView, DynViewMut, Element, Order, SharedTensor,
    Tensor, TensorView, TensorViewMut, bf16, f16,
};

/// Runs one adaptor on one value; names both where it panics.
fn holds(value: &str, adaptor: &str, run: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(run)).is_err() {
        panic!("{adaptor} of {value} panicked");
    }
}

/// A struct of no bytes that lies at multiples of 64.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
struct Nothing;
// SAFETY: it has no byte.
unsafe impl bytemuck::Zeroable for Nothing {}
// SAFETY: as above.
unsafe impl Pod for Nothing {}

const MANY: usize = i64::MAX as usize;

/// Shapes without elements: an extent of 0 and arbitrary other extents.
const EMPTY: [&[usize]; 9] = [
    &[0],
    &[0, 0],
    &[0, 3],
    &[3, 0],
    &[3, 0, 2],
    &[0, MANY],
    &[MANY, 0],
    &[1 << 40, 1 << 40, 0],
    &[MANY, MANY, MANY, MANY, MANY, MANY, MANY, 0],
];

/// Bytes at even and odd addresses, for empty memory of every element type.
static BYTES: [u8; 64] = [1; 64];

/// Held in every way in which nothing, or one element, can be.
fn held<T: Element + Default + Send + Sync>() -> Vec<(String, SharedTensor<T>)> {
    let mut values = Vec::new();
    let mut add = |name: &str, shape: &[usize], value: SharedTensor<T>| {
        values.push((format!("{name} of shape {shape:?} of {}", T::DTYPE), value));
    };
    for shape in EMPTY {
        add("from_owner", shape, SharedTensor::from_owner(Vec::<T>::new(), shape).unwrap());
        add("from_owner, of no bytes", shape, {
            SharedTensor::<T>::from_owner([], shape).unwrap()
        });
        add("from_owner, spare", shape, {
            SharedTensor::from_owner(Vec::<T>::with_capacity(3), shape).unwrap()
        });
        add("from_arc", shape, SharedTensor::from_arc(Arc::<[T]>::from([]), shape).unwrap());
        add("from_vec", shape, Tensor::from_vec(Vec::<T>::new(), shape).unwrap().into_shared());
        add("from_owner_mut", shape, {
            Tensor::from_owner_mut(Vec::<T>::new(), shape).unwrap().into_shared()
        });
        add("copied", shape, Tensor::<T>::copy_from_slice(&[], shape).unwrap().into_shared());
        for order in [Order::RowMajor, Order::ColumnMajor] {
            add("zeros", shape, Tensor::<T>::zeros_in(shape, order).unwrap().into_shared());
        }
        for offset in 0..=9 {
            let bytes: &'static [u8] = &BYTES;
            let Ok(value) = SharedTensor::<T>::from_bytes(bytes, offset, shape) else { continue };
            add(&format!("from_bytes from {offset} on"), shape, value);
        }
    }
    let one = [&[] as &[usize], &[1], &[1, 1], &[1; 8]];
    for shape in one {
        add("from_owner", shape, SharedTensor::from_owner([T::default()], shape).unwrap());
        add("zeros", shape, Tensor::<T>::zeros(shape).unwrap().into_shared());
    }
    values
}

fn same<T: Element + PartialEq + Debug>(a: impl IntoIterator<Item = T>, b: &TensorView<'_, T>) {
    assert_eq!(a.into_iter().collect::<Vec<_>>(), b.to_vec());
}

// ---- owners ----

fn to_arrow<P>()
where
    P: ArrowPrimitiveType,
    P::Native: Element + Default + PartialEq + Debug + ArrowNativeType,
{
    for (name, value) in held::<P::Native>() {
        holds(&name, "ScalarBuffer::try_from", || {
            let count = value.len();
            match ScalarBuffer::try_from(value.clone()) {
                Ok(buffer) => assert_eq!(buffer.iter().count(), count),
                Err(refused) => assert!(!refused.into_data().is_row_major()),
            }
        });
        holds(&name, "into_arrow", || {
            let shape = value.shape().to_vec();
            let Ok(array) = value.clone().into_arrow::<P>() else { return };
            assert_eq!(array.len(), shape[0]);
            let back = DynView::from_arrow(&array).unwrap();
            assert_eq!(back.shape()[0], shape[0]);
            assert_eq!(back.len(), value.len());
            let shared = SharedTensor::<P::Native>::from_arrow(&array).unwrap();
            same(shared.to_vec(), &value.view());
        });
    }
}

#[test]
fn to_arrow_and_back() {
    to_arrow::<Float64Type>();
    to_arrow::<Float32Type>();
    to_arrow::<Float16Type>();
    to_arrow::<Int64Type>();
    to_arrow::<UInt8Type>();
}

fn to_ndarray<T: Element + Default + PartialEq + Debug + Send + Sync>() {
    for (name, value) in held::<T>() {
        holds(&name, "Array::try_from a SharedTensor", || {
            if let Ok(array) = ArrayD::<T>::try_from(value.clone()) {
                same(array.iter().copied(), &value.view());
            }
        });
        holds(&name, "Array::try_from a Tensor", || {
            let Ok(tensor) = value.to_tensor() else { return };
            let Ok(array) = ArrayD::<T>::try_from(tensor) else { return };
            same(array.iter().copied(), &value.view());
            let back = Tensor::try_from(array.clone()).unwrap();
            assert_eq!(back.shape(), array.shape());
            let shared: ArcArray<T, IxDyn> = array.into_shared();
            let back = SharedTensor::try_from(shared.clone()).unwrap();
            assert_eq!(back.shape(), shared.shape());
        });
        holds(&name, "dlpack", || {
            let exported = Exported::from_shared(&value).unwrap();
            drop(exported);
            let shape = dlpack::lend(value.view(), |tensor| tensor.ndim);
            assert_eq!(shape as usize, value.shape().len());
        });
    }
}

#[test]
fn to_ndarray_and_back() {
    to_ndarray::<f64>();
    to_ndarray::<f16>();
    to_ndarray::<bf16>();
    to_ndarray::<u8>();
    to_ndarray::<Bool8>();
    to_ndarray::<Complex<f64>>();
}

// ---- borrowed views ----

/// Lent in every way in which nothing, or one element, can be.
fn lent<T: Element + Default>(data: &[T]) -> Vec<(String, TensorView<'_, T>)> {
    let mut all: Vec<(String, TensorView<'_, T>)> = Vec::new();
    for shape in EMPTY {
        all.push(("from_slice".into(), TensorView::from_slice(&data[..0], shape).unwrap()));
        all.push((
            "at the end".into(),
            TensorView::from_slice(&data[data.len()..], shape).unwrap(),
        ));
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let view = TensorView::from_slice_in(&data[..0], shape, order).unwrap();
            all.push(("from_slice_in".into(), view));
        }
        for strides in [isize::MAX, isize::MIN, 0, -1] {
            let strides = vec![strides; shape.len()];
            if let Ok(view) = TensorView::from_slice_strided(data, 0, shape, &strides) {
                all.push(("from_slice_strided".into(), view));
            }
        }
        for first in 0..9 {
            if let Ok(view) = DynView::from_bytes(&BYTES[first..first], T::DTYPE, shape) {
                all.push((format!("bytes at {first}"), view.downcast().unwrap()));
            }
        }
    }
    for strides in [isize::MAX, isize::MIN, 0] {
        for shape in [&[1_usize] as &[usize], &[1, 1], &[1, 2], &[2, 1]] {
            let strides: Vec<isize> =
                shape.iter().map(|&extent| if extent > 1 { 1 } else { strides }).collect();
            if let Ok(view) = TensorView::from_slice_strided(data, 1, shape, &strides) {
                all.push(("one with strides".into(), view));
            }
        }
    }
    all.push(("from_ref".into(), TensorView::from_ref(&data[0])));
    let table = TensorView::from_slice(&data[..6], [2, 3]).unwrap();
    for (name, view) in [
        ("no rows", table.slice(0, 2..).unwrap()),
        ("no columns", table.slice(1, 1..1).unwrap()),
        ("flipped", table.flip(0).unwrap().slice(0, ..0).unwrap()),
        ("transposed", table.t().slice(1, 2..).unwrap()),
        ("a row, turned", table.slice(0, 1..).unwrap().t()),
        ("repeated", table.slice(0, ..1).unwrap().broadcast([4, 3]).unwrap()),
    ] {
        all.push((name.into(), view));
    }
    all.into_iter()
        .map(|(name, view)| (format!("{name}, {:?} of {}", view.shape(), T::DTYPE), view))
        .collect()
}

fn lend_on<T: Element + Default + PartialEq + Debug + Pod + Send>() {
    let data = [T::default(); 8];
    for (name, view) in lent(&data) {
        holds(&name, "ArrayView::try_from", || {
            if let Ok(array) = ArrayViewD::try_from(view) {
                assert_eq!(array.shape(), view.shape());
                same(array.iter().copied(), &view);
                let back = TensorView::try_from(array).unwrap();
                assert_eq!(back.shape(), view.shape());
                same(back.to_vec(), &view);
            }
            if view.rank() == 2 {
                let _ = ArrayView::<T, Ix2>::try_from(view).map(|array| array.dim());
            }
        });
        holds(&name, "MatRef::try_from", || {
            let Ok(matrix) = MatRef::try_from(view) else { return };
            assert_eq!([matrix.nrows(), matrix.ncols()], view.shape());
            let back = TensorView::try_from(matrix).unwrap();
            same(back.to_vec(), &view);
        });
        holds(&name, "as_pods", || {
            for result in [
                view.as_pods::<T>().map(<[T]>::len),
                view.as_pods::<[T; 3]>().map(<[[T; 3]]>::len),
                view.as_pods::<[T; 0]>().map(<[[T; 0]]>::len),
                view.as_pods::<u64>().map(<[u64]>::len),
            ] {
                // The count of structs is the product of their axes, or the call refuses.
                let axes = view.shape().split_last().map_or(&[][..], |(_, axes)| axes);
                let structs = axes.iter().map(|&extent| extent as f64).product::<f64>();
                assert!(result.map_or(true, |count| count as f64 == structs));
            }
        });
        holds(&name, "as_elements", || {
            let _ = view.as_elements::<u8>().map(|bytes| bytes.to_vec());
            let _ = view.as_elements::<Complex<f64>>().map(|wide| wide.to_vec());
            assert_eq!(view.iter().count(), view.len());
            let _ = view.as_slice().map(<[T]>::len);
            let _ = DynView::from(view).as_bytes().map(<[u8]>::len);
        });
    }
}

#[test]
fn views_are_lent_on() {
    lend_on::<f64>();
    lend_on::<f16>();
    lend_on::<u8>();
    lend_on::<Bool8>();
    lend_on::<Complex<f32>>();
    lend_on::<Complex<f64>>();
}

fn lent_mut<'a>(bytes: &'a mut [u8], shape: &[usize]) -> Option<TensorViewMut<'a, f64>> {
    DynViewMut::from_bytes(bytes, f64::DTYPE, shape).ok()?.downcast().ok()
}

#[test]
fn views_are_lent_on_to_be_written() {
    let mut bytes = [0_u8; 17];
    for shape in EMPTY {
        for first in 0..9 {
            let name = format!("bytes at {first} of shape {shape:?}");
            holds(&name, "ArrayViewMut::try_from", || {
                let Some(view) = lent_mut(&mut bytes[first..first], shape) else { return };
                let Ok(mut array) = ArrayViewMutD::try_from(view) else { return };
                array.fill(1.0);
                let mut back = TensorViewMut::try_from(array).unwrap();
                back.fill(2.0);
            });
            holds(&name, "MatMut::try_from", || {
                let Some(view) = lent_mut(&mut bytes[first..first], shape) else { return };
                let Ok(mut matrix) = MatMut::try_from(view) else { return };
                matrix.fill(1.0);
                let mut back = TensorViewMut::try_from(matrix).unwrap();
                back.fill(2.0);
            });
        }
    }
}

// ---- what other crates make ----

#[test]
fn empty_values_of_other_crates_are_lent_and_held() {
    for shape in [&[] as &[usize], &[0], &[0, 3], &[3, 0], &[0, 0, 0], &[1; 8]] {
        holds(&format!("{shape:?}"), "TensorView::try_from an ArrayView", || {
            let array = ArrayD::<f64>::zeros(IxDyn(shape));
            let view = TensorView::try_from(array.view()).unwrap();
            assert_eq!((view.shape(), view.len()), (shape, array.len()));
            let turned = array.view().reversed_axes();
            assert_eq!(TensorView::try_from(turned).unwrap().len(), array.len());
        });
        holds(&format!("{shape:?}"), "Tensor::try_from an Array", || {
            let tensor = Tensor::try_from(ArrayD::<f64>::zeros(IxDyn(shape))).unwrap();
            assert_eq!(tensor.shape(), shape);
            let array: Array<f64, IxDyn> = Array::try_from(tensor).unwrap();
            assert_eq!(array.shape(), shape);
        });
    }
    for (rows, cols) in [(0, 0), (0, 3), (3, 0), (1, 1)] {
        holds(&format!("{rows} by {cols}"), "TensorView::try_from a MatRef", || {
            let matrix = Mat::<f64>::zeros(rows, cols);
            let view = TensorView::try_from(matrix.as_ref()).unwrap();
            assert_eq!(
                (view.shape(), matrix.as_view().shape()),
                (&[rows, cols][..], &[rows, cols][..])
            );
        });
    }
}

#[test]
fn structs_of_no_bytes_and_none_at_all_are_elements() {
    holds("5 of no bytes", "from_pods", || {
        let view = TensorView::<f32>::from_pods(&[[0.0_f32; 0]; 5], 5).unwrap();
        assert_eq!(view.shape(), [5, 0]);
        assert_eq!(view.as_pods::<[f32; 0]>().unwrap().len(), 5);
        let units = TensorView::<f32>::from_pods(&[(); 6], [2, 3]).unwrap();
        assert_eq!(units.shape(), [2, 3, 0]);
        assert_eq!(units.as_pods::<()>().unwrap(), [(); 6]);
        let turned = units.permute(&[1, 0, 2]).unwrap();
        assert_eq!(turned.as_pods::<()>().unwrap().len(), 6);
        let aligned = TensorView::<u8>::from_pods(&[Nothing; 3], 3).unwrap();
        let nothing = aligned.as_pods::<Nothing>().unwrap();
        assert_eq!((nothing.len(), nothing.as_ptr().addr() % 64), (3, 0));
        assert!(nothing.iter().all(|&nothing| nothing == Nothing));
        let mut units = [(); 4];
        let mut written = TensorViewMut::<f64>::from_pods(&mut units, [2, 2]).unwrap();
        assert_eq!(written.shape(), [2, 2, 0]);
        written.fill(1.0);
        let mut none: [[f64; 2]; 0] = [];
        assert_eq!(TensorViewMut::<f64>::from_pods(&mut none, 0).unwrap().shape(), [0, 2]);
    });
    holds("as many of no bytes as a number holds", "as_pods", || {
        let most = tenure_sys::TNR_MAX_ELEMENTS as usize;
        let many = TensorView::<f32>::from_slice(&[], [most, 0]).unwrap();
        assert_eq!(many.as_pods::<()>().unwrap().len(), most);
        for shape in [vec![MANY, MANY], vec![most + 1]] {
            let more = [&shape[..], &[0]].concat();
            let more = TensorView::<f32>::from_slice(&[], &more[..]).unwrap();
            let error = more.as_pods::<()>().err().unwrap();
            let expected = format!("shape {shape:?} has more than {most} elements");
            assert_eq!(error.message(), expected);
        }
        let none = TensorView::<f32>::from_slice(&[], [MANY, MANY, 0, 0]).unwrap();
        assert!(none.as_pods::<()>().unwrap().is_empty());
        let wider = TensorView::<f32>::from_slice(&[], [0, 3]).unwrap();
        let error = wider.as_pods::<()>().err().unwrap();
        assert_eq!(
            error.message(),
            "the last axis has extent 3 but a struct has 0 elements of f32"
        );
    });
    holds("none, at an odd address", "from_pods", || {
        let structs: &[[u8; 8]] = bytemuck::cast_slice(&BYTES[1..1]);
        for shape in EMPTY {
            let view = TensorView::<f64>::from_pods(structs, shape);
            assert!(view.map_or(true, |view| view.is_empty() && view.to_vec().is_empty()));
        }
    });
}

#[test]
fn sparse_matrices_without_entries_are_lent_on() {
    for (rows, cols) in [(0, 0), (0, 3), (3, 0), (3, 4), (0, i32::MAX as usize)] {
        holds(&format!("{rows} by {cols}"), "SparseRowMatRef::try_from", || {
            let offsets = vec![0_i32; rows + 1];
            let view = CsrView::<f64, i32>::new(rows, cols, &offsets, &[], &[]).unwrap();
            let matrix = SparseRowMatRef::<u32, f64>::try_from(view).unwrap();
            let back = CsrView::<f64, i32>::try_from(matrix).unwrap();
            assert_eq!((back.rows(), back.cols(), back.nnz()), (rows, cols, 0));
        });
        holds(&format!("{rows} by {cols}"), "SparseColMatRef::try_from", || {
            let offsets = vec![0_i64; rows + 1];
            let view = CscView::<f64, i64>::new(cols, rows, &offsets, &[], &[]).unwrap();
            let matrix = SparseColMatRef::<usize, f64>::try_from(view).unwrap();
            let back = CscView::<f64, i64>::try_from(matrix).unwrap();
            assert_eq!((back.rows(), back.cols(), back.nnz()), (cols, rows, 0));
        });
    }
}
