//! Arrays of other crates: lent, handed over and given back, where they are.

use crate::probe::Probe;

pub fn claims(probe: &Probe) {
    #[cfg(feature = "ndarray")]
    of_ndarray(probe);
    let _ = probe;
}

#[cfg(feature = "ndarray")]
fn of_ndarray(probe: &Probe) {
    use ndarray::{ArcArray2, Array2, ArrayView2, ArrayViewMut2};
    use tenure::{SharedTensor, Tensor, TensorView, TensorViewMut};

    let shape = (probe.side, probe.side);
    let mut array = Array2::from_shape_vec(shape, probe.data()).unwrap();
    let address = array.as_ptr();
    let lent = probe.costs_nothing("TensorView of an Array", || {
        TensorView::try_from(array.t()).unwrap().as_ptr()
    });
    assert_eq!(lent, address);
    probe.costs_nothing("TensorViewMut of an ArrayViewMut", || {
        TensorViewMut::try_from(array.view_mut()).unwrap().rank()
    });
    let mut tensor =
        probe.copies_nothing("Tensor of an Array", || Tensor::try_from(array).unwrap());
    probe.costs_nothing("ArrayView of a TensorView", || {
        ArrayView2::try_from(tensor.view().t()).unwrap().len()
    });
    probe.costs_nothing("ArrayViewMut of a TensorViewMut", || {
        ArrayViewMut2::try_from(tensor.view_mut()).unwrap().len()
    });
    let array = probe.copies_nothing("Array of a Tensor", || Array2::try_from(tensor).unwrap());
    let array = ArcArray2::from(array);
    let shared = probe.copies_nothing("SharedTensor of an ArcArray", || {
        SharedTensor::try_from(array.clone()).unwrap()
    });
    assert_eq!((shared.as_ptr(), array.as_ptr()), (address, address));
}
