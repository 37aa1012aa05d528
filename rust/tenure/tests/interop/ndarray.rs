//! Arrays of `ndarray`, to and fro: the same elements at the same addresses, in any strides.
#![cfg(feature = "ndarray")]

use ndarray::{
    ArcArray, ArcArray2, Array, Array1, Array2, Array3, ArrayD, ArrayView, ArrayView2, ArrayViewD,
    ArrayViewMut2, ArrayViewMutD, Axis, CowArray, Dimension, Ix1, Ix2, IxDyn, ShapeBuilder, Slice,
    array, s,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tenure::{AsView, AsViewMut, ErrorKind, SharedTensor, Tensor, TensorView, TensorViewMut};
use tenure::{bf16, f16};

/// An array of any rank up to 8, its axes in any order.
fn owned() -> impl Strategy<Value = ArrayD<i32>> {
    prop::collection::vec(0_usize..5, 0..=8)
        .prop_filter("small", |shape| shape.iter().product::<usize>() < 5000)
        .prop_flat_map(|shape| {
            let axes: Vec<usize> = (0..shape.len()).collect();
            (Just(shape), Just(axes).prop_shuffle())
        })
        .prop_map(|(shape, axes)| {
            let len = shape.iter().product::<usize>() as i32;
            let array = ArrayD::from_shape_vec(IxDyn(&shape), (0..len).collect()).unwrap();
            array.permuted_axes(IxDyn(&axes))
        })
}

/// A part of an axis, with a step of any sign.
fn parts() -> impl Strategy<Value = Vec<(usize, usize, isize)>> {
    let steps = prop_oneof![Just(1_isize), Just(-1), Just(2), Just(-3)];
    prop::collection::vec((0_usize..5, 0_usize..5, steps), 8)
}

fn cut(axis: usize, extent: usize, parts: &[(usize, usize, isize)]) -> Slice {
    let (start, len, step) = parts[axis];
    let start = start.min(extent);
    let end = (start + len).min(extent);
    Slice::new(start as isize, Some(end as isize), step)
}

fn strides_that_mean_something(shape: &[usize], strides: &[isize]) -> Vec<isize> {
    if shape.contains(&0) {
        return Vec::new();
    }
    shape.iter().zip(strides).filter(|(extent, _)| **extent > 1).map(|(_, &step)| step).collect()
}

/// Checks a view against its array.
fn assert_same(array: ArrayViewD<'_, i32>, view: TensorView<'_, i32>) {
    assert_eq!(array.shape(), view.shape());
    assert_eq!(array.iter().copied().collect::<Vec<_>>(), view.to_vec());
    assert_eq!(
        strides_that_mean_something(array.shape(), array.strides()),
        strides_that_mean_something(view.shape(), view.strides())
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(6),
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    })]

    #[test]
    fn views_of_any_strides_go_to_and_fro(array in owned(), parts in parts()) {
        let part = array.slice_each_axis(|axis| cut(axis.axis.0, axis.len, &parts));
        let view = TensorView::try_from(part.view()).unwrap();
        assert_same(part.view(), view);
        let back = ArrayViewD::try_from(view).unwrap();
        assert_same(back.view(), view);
        if !part.is_empty() {
            prop_assert_eq!((view.as_ptr(), back.as_ptr()), (part.as_ptr(), part.as_ptr()));
        }
        prop_assert_eq!(&back, &part);
    }

    #[test]
    fn views_of_ours_go_to_and_fro(parts in parts(), axes in Just(vec![0, 1, 2]).prop_shuffle()) {
        let elements: Vec<i32> = (0..60).collect();
        let mut view = TensorView::from_slice(&elements, [3, 4, 5]).unwrap().permute(&axes).unwrap();
        for (axis, &(start, len, step)) in parts[..3].iter().enumerate() {
            let start = start.min(view.shape()[axis]);
            let end = (start + len).min(view.shape()[axis]);
            view = view.slice_step(axis, start..end, step).unwrap();
        }
        let array = ArrayView::<_, ndarray::Ix3>::try_from(view).unwrap();
        assert_same(array.into_dyn(), view);
    }

    #[test]
    fn writes_of_one_side_are_read_by_the_other(mut array in owned(), parts in parts()) {
        let expected = {
            let mut copy = array.clone();
            copy.slice_each_axis_mut(|axis| cut(axis.axis.0, axis.len, &parts)).fill(-1);
            copy
        };
        let part = array.slice_each_axis_mut(|axis| cut(axis.axis.0, axis.len, &parts));
        let mut view = TensorViewMut::try_from(part).unwrap();
        view.fill(-2);
        let mut back = ArrayViewMutD::try_from(view).unwrap();
        assert!(back.iter().all(|&element| element == -2));
        back.fill(-1);
        prop_assert_eq!(array, expected);
    }

    #[test]
    fn a_vec_goes_along_and_comes_back(array in owned()) {
        let (expected, address) = (array.clone(), array.as_ptr());
        let tensor = Tensor::try_from(array).unwrap();
        prop_assert_eq!(tensor.as_ptr(), address);
        assert_same(expected.view(), tensor.view());
        let array = ArrayD::try_from(tensor.into_shared()).unwrap();
        let shared = SharedTensor::try_from(array.into_shared()).unwrap();
        assert_same(expected.view(), shared.view());
        prop_assert_eq!(shared.as_ptr(), address);
    }
}

#[test]
fn memory_that_repeats_is_lent_for_reading() {
    let row = Array1::from_vec(vec![1, 2, 3]);
    let rows = row.broadcast((4, 3)).unwrap();
    let view = TensorView::try_from(rows).unwrap();
    assert_eq!(view.strides(), [0, 1]);
    assert_eq!(ArrayView2::try_from(view).unwrap(), rows);
    let ours = TensorView::from_slice(&[7, 8], [2, 1]).unwrap().broadcast([2, 3]).unwrap();
    assert_eq!(ArrayView2::try_from(ours).unwrap(), array![[7, 7, 7], [8, 8, 8]]);
}

#[test]
fn every_owner_and_every_element_is_lent() {
    let array = array![[1, 2], [3, 4]];
    let cow = CowArray::from(array.view());
    let arc = ArcArray::from(array.clone());
    assert_eq!(TensorView::try_from(&array).unwrap().to_vec(), [1, 2, 3, 4]);
    assert_eq!(TensorView::try_from(&cow).unwrap().as_ptr(), array.as_ptr());
    assert_eq!(TensorView::try_from(&arc).unwrap().as_ptr(), arc.as_ptr());

    let halves = Array1::from_vec(vec![f16::ONE, f16::NEG_ONE]);
    assert_eq!(TensorView::try_from(&halves).unwrap()[[1]], f16::NEG_ONE);
    let tensor = Tensor::try_from(Array1::from_vec(vec![bf16::ONE])).unwrap();
    assert_eq!(ArrayView::<_, Ix1>::try_from(tensor.view()).unwrap()[0], bf16::ONE);
}

#[test]
fn ranks_reach_from_none_to_eight() {
    let scalar = ndarray::arr0(7);
    let view = TensorView::try_from(&scalar).unwrap();
    assert_eq!((view.rank(), view[[]]), (0, 7));
    assert_eq!(ArrayViewD::try_from(view).unwrap().ndim(), 0);

    let eight = ArrayD::<u8>::zeros(IxDyn(&[1, 2, 1, 2, 1, 2, 1, 2]));
    assert_eq!(TensorView::try_from(&eight).unwrap().rank(), 8);
    let nine = ArrayD::<u8>::zeros(IxDyn(&[1; 9]));
    let error = TensorView::try_from(&nine).err().unwrap();
    assert_eq!(error.message(), "rank is 9 but at most 8 axes are supported");
    let mut nine = nine;
    assert!(TensorViewMut::try_from(nine.view_mut()).is_err());
    let rejected = Tensor::try_from(nine).err().unwrap();
    assert_eq!(rejected.into_data().ndim(), 9);

    let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 2]).unwrap();
    let error = ArrayView::<_, Ix1>::try_from(view).err().unwrap();
    assert_eq!(error.message(), "rank is 2 but the array has 1 axes");
}

#[test]
fn no_elements_are_lent_and_held() {
    let empty = Array3::<f64>::zeros((2, 0, 3));
    let view = TensorView::try_from(&empty).unwrap();
    assert_eq!(ArrayViewD::try_from(view).unwrap().shape(), [2, 0, 3]);
    let tensor = Tensor::try_from(empty).unwrap();
    assert_eq!(Array3::try_from(tensor).unwrap().shape(), [2, 0, 3]);

    // A part of an array with elements, itself without.
    let part = array![[1, 2], [3, 4]].slice_move(s![.., 1..1]);
    assert_eq!(Tensor::try_from(part).unwrap().shape(), [2, 0]);

    // Memory of the library's own, which for nothing may be nowhere.
    let none = Tensor::<f32>::zeros([0, 4]).unwrap();
    assert_eq!(ArrayView2::try_from(none.view()).unwrap().dim(), (0, 4));

    let huge = TensorView::<u8>::from_slice(&[], [0, 1 << 40, 1 << 40]).unwrap();
    let error = ArrayViewD::try_from(huge).err().unwrap();
    assert!(error.message().starts_with(
        "extents other than 0 of shape [0, 1099511627776, 1099511627776] multiply to more than \
         9223372036854775807"
    ));
    let huge = Tensor::<u8>::zeros([0, 1 << 40, 1 << 40]).unwrap();
    assert!(ArrayD::try_from(huge).err().unwrap().into_data().is_empty());
}

#[test]
fn arrays_with_gaps_come_back_as_they_were() {
    for array in [
        array![[1, 2, 3], [4, 5, 6]].slice_move(s![.., ..2]),
        array![[1, 2, 3], [4, 5, 6]].slice_move(s![..;-1, ..]),
    ] {
        let (copy, address) = (array.clone(), array.as_ptr());
        let rejected = Tensor::try_from(array).err().unwrap();
        assert_eq!(rejected.error().kind(), ErrorKind::InvalidArgument);
        assert!(rejected.error().message().contains("leaves gaps, repeats elements or runs back"));
        let array = rejected.into_data();
        assert_eq!((array.as_ptr(), &array), (address, &copy));

        let shared = ArcArray2::from(array);
        let rejected = SharedTensor::try_from(shared.clone()).err().unwrap();
        assert_eq!(rejected.into_data(), shared);
    }
}

#[test]
fn a_part_of_a_vec_is_held_but_not_given_back() {
    let array = array![[1, 2, 3], [4, 5, 6]].slice_move(s![1.., ..]);
    let address = array.as_ptr();
    let tensor = Tensor::try_from(array).unwrap();
    assert_eq!((tensor.as_ptr(), tensor.to_vec()), (address, vec![4, 5, 6]));
    let tensor = tensor.into_vec().err().unwrap();
    let rejected = Array2::try_from(tensor).err().unwrap();
    assert_eq!(rejected.error().message(), "there is no Vec to give back: the memory is adopted");
    assert_eq!(rejected.into_data().to_vec(), [4, 5, 6]);
}

#[test]
fn a_vec_keeps_its_capacity_on_the_way() {
    let mut vec = Vec::with_capacity(100);
    vec.extend([1_u64, 2, 3, 4]);
    let tensor = Tensor::try_from(Array2::from_shape_vec((2, 2), vec).unwrap()).unwrap();
    let vec = tensor.into_vec().ok().unwrap();
    assert_eq!((vec.as_slice(), vec.capacity()), (&[1, 2, 3, 4][..], 100));

    // Column-major: the array is given back, a Vec in row-major order cannot be.
    let array = Array2::from_shape_vec((2, 2).f(), vec).unwrap();
    let tensor = Tensor::try_from(array).unwrap().into_vec().err().unwrap();
    let rejected = Array1::try_from(tensor).err().unwrap();
    assert_eq!(rejected.error().message(), "rank is 2 but the array has 1 axes");
    let array = Array2::try_from(rejected.into_data()).unwrap();
    assert_eq!(array, array![[1, 3], [2, 4]]);
    assert_eq!(array.into_raw_vec_and_offset().0.capacity(), 100);
}

#[test]
fn a_shared_array_is_given_back_to_its_last_holder() {
    let shared = Tensor::try_from(array![1, 2, 3]).unwrap().into_shared();
    let clone = shared.clone();
    let rejected = Array1::try_from(clone).err().unwrap();
    assert_eq!(
        rejected.error().message(),
        "there is no Vec to give back: the memory is adopted, and others hold it too"
    );
    drop(rejected);
    assert_eq!(Array1::try_from(shared).unwrap(), array![1, 2, 3]);
    let shared = SharedTensor::from_owner(vec![1], 1).unwrap();
    let rejected = Array::<_, Ix2>::try_from(shared).err().unwrap();
    assert_eq!(rejected.error().message(), "rank is 1 but the array has 2 axes");
    let rejected = Array1::try_from(rejected.into_data()).err().unwrap();
    assert_eq!(rejected.error().message(), "there is no Vec to give back: the memory is shared");
}

#[test]
fn who_writes_a_shared_array_gets_a_copy() {
    let mut array = ArcArray2::<i32>::ones((2, 3));
    let shared = SharedTensor::try_from(array.clone().reversed_axes()).unwrap();
    assert_eq!((shared.as_ptr(), shared.shape()), (array.as_ptr(), &[3, 2][..]));
    array.fill(7);
    assert_eq!((shared.to_vec(), array[[0, 0]]), (vec![1; 6], 7));
    assert_ne!(shared.as_ptr(), array.as_ptr());
    let elsewhere = std::thread::spawn(move || shared.iter().sum::<i32>());
    assert_eq!(elsewhere.join().unwrap(), 6);
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn arrays_are_operands() {
    let a = array![[1.0_f32, 2.0], [3.0, 4.0]];
    let sum = tenure::ops::add(&a, a.t()).unwrap();
    assert_eq!(ArrayView2::try_from(sum.view()).unwrap(), array![[2.0, 5.0], [5.0, 8.0]]);

    let mut out = Array2::<f32>::zeros((4, 4));
    tenure::ops::mul_into(&a, 2.0, &mut out.slice_mut(s![..;2, 1..3])).unwrap();
    tenure::ops::add_assign(&mut out, 1.0).unwrap();
    assert_eq!(out.row(0).to_vec(), [1.0, 3.0, 5.0, 1.0]);
    assert_eq!(out.row(2).to_vec(), [1.0, 7.0, 9.0, 1.0]);
    tenure::ops::sub_assign(&mut *out, ArcArray2::ones((4, 4))).unwrap();
    assert_eq!(out.sum(), 20.0);

    let error = tenure::ops::add_into(&a, &a, &mut out).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(out.sum(), 20.0);
}

#[test]
fn operands_lend_what_they_are() {
    fn lend<D: Dimension>(array: impl AsView<u8>, expected: &Array<u8, D>) {
        assert_eq!(array.as_view().shape(), expected.shape());
        assert_eq!(array.as_view().to_vec(), expected.iter().copied().collect::<Vec<_>>());
    }
    let array = Array::from_shape_vec((1, 2, 1, 3, 1, 2), (0..12).collect()).unwrap();
    let mut inverted = array.clone();
    inverted.invert_axis(Axis(3));
    lend(&inverted, &inverted);
    lend(inverted.view(), &inverted);
    let row = array.slice(s![0, 1, 0, .., 0, 1]);
    lend(row, &array![7, 9, 11]);
    lend(ndarray::arr0(3), &ndarray::arr0(3));
    let mut cube = Array3::<u8>::zeros((2, 0, 3));
    assert!(cube.as_view_mut().is_empty());
}

/// A function whose errors are of any kind, as many programs have them: no error holds a loan.
#[test]
fn errors_of_lent_views_leave_the_function() {
    fn second_row(tensor: &mut Tensor<f32>) -> Result<f32, Box<dyn std::error::Error>> {
        let mut array = ArrayViewMut2::try_from(tensor.view_mut())?;
        array.row_mut(1).fill(7.0);
        let view = TensorViewMut::try_from(array)?;
        Ok(view[[1, 0]])
    }
    assert_eq!(second_row(&mut Tensor::zeros([2, 2]).unwrap()).unwrap(), 7.0);
    let error = second_row(&mut Tensor::zeros([2]).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "rank is 1 but the array has 2 axes");
}
