//! Arrays of other crates: lent, handed over and given back, where they are.

use crate::probe::Probe;

pub fn claims(probe: &Probe) {
    #[cfg(feature = "ndarray")]
    of_ndarray(probe);
    #[cfg(feature = "arrow")]
    of_arrow(probe);
    #[cfg(feature = "bytemuck")]
    of_structs(probe);
    #[cfg(feature = "faer")]
    of_faer(probe);
    let data = probe.data();
    let view = tenure::TensorView::from_slice(&data, probe.len()).unwrap();
    let bytes = probe.costs_nothing("as_elements", || view.as_elements::<u8>().unwrap().as_ptr());
    assert_eq!(bytes, data.as_ptr().cast());
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

#[cfg(feature = "arrow")]
fn of_arrow(probe: &Probe) {
    use arrow_array::{Float32Array, types::Float32Type};
    use tenure::{DynView, SharedTensor, Tensor};

    let array = Float32Array::from(probe.data());
    let address = array.values().as_ptr();
    probe.copies_nothing("DynView of an array of Arrow", || {
        assert_eq!(DynView::from_arrow(&array).unwrap().len(), probe.len());
    });
    let shared = probe.copies_nothing("SharedTensor of an array of Arrow", || {
        SharedTensor::<f32>::from_arrow(&array).unwrap()
    });
    assert_eq!(shared.as_ptr(), address);
    drop(array);
    let array = probe.copies_nothing("an array of Arrow of a SharedTensor", || {
        shared.into_arrow::<Float32Type>().unwrap()
    });
    drop(array);

    let tensor = Tensor::from_vec(probe.data(), [probe.side, probe.side]).unwrap();
    let lists = probe.copies_nothing("lists of Arrow of a Tensor", || {
        tensor.into_shared().into_arrow::<Float32Type>().unwrap()
    });
    let (view, mask) = DynView::from_arrow_and_copy_mask(&lists).unwrap();
    assert_eq!((view.shape(), mask.len()), (&[probe.side; 2][..], probe.len()));
}

#[cfg(feature = "bytemuck")]
fn of_structs(probe: &Probe) {
    let structs: Vec<[f32; 4]> = vec![[0.5; 4]; probe.len() / 4];
    let address = probe.copies_nothing("TensorView of structs", || {
        tenure::TensorView::<f32>::from_pods(&structs, structs.len()).unwrap().as_ptr()
    });
    assert_eq!(address, structs.as_ptr().cast());
}

#[cfg(feature = "faer")]
fn of_faer(probe: &Probe) {
    use faer::sparse::SparseColMatRef;
    use faer::{MatMut, MatRef};
    use tenure::{CscView, TensorView, TensorViewMut};

    let (mut data, shape) = (probe.data(), [probe.side, probe.side]);
    let view = TensorView::from_slice(&data, shape).unwrap();
    let address = probe.costs_nothing("MatRef of a TensorView, and back", || {
        let matrix = MatRef::try_from(view.t()).unwrap();
        TensorView::try_from(matrix).unwrap().as_ptr()
    });
    assert_eq!(address, data.as_ptr());
    probe.costs_nothing("MatMut of a TensorViewMut, and back", || {
        let view = TensorViewMut::from_slice(&mut data, shape).unwrap();
        TensorViewMut::try_from(MatMut::try_from(view).unwrap()).unwrap().len()
    });

    // One entry for each element, in one column.
    let indices: Vec<i32> = (0..probe.len() as i32).collect();
    let offsets = [0, indices.len() as i32];
    let matrix = CscView::new(probe.len(), 1, &offsets, &indices, &data).unwrap();
    probe.costs_nothing("a sparse matrix of faer, and back", || {
        let theirs = SparseColMatRef::<u32, f32>::try_from(matrix).unwrap();
        assert_eq!(CscView::<f32, i32>::try_from(theirs).unwrap().nnz(), probe.len());
    });
}
