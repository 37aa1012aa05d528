//! Memory of one owner: the elements come back once, at the same address.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tenure::{
    AsView, AsViewMut, Axes, Bool8, Complex, CopyMode, Element, ErrorKind, Order, Result, Tensor,
    TensorView, Tenure, linalg, nn, ops, stats,
};

/// An owner of elements that counts the requests for them and its drops.
struct Counted {
    elements: Box<[f32]>,
    asked: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
}

impl Counted {
    fn new(elements: &[f32]) -> (Counted, Arc<AtomicUsize>, Arc<AtomicUsize>) {
        let (asked, dropped) = (Arc::default(), Arc::default());
        let owner = Counted {
            elements: elements.into(),
            asked: Arc::clone(&asked),
            dropped: Arc::clone(&dropped),
        };
        (owner, asked, dropped)
    }
}

impl AsMut<[f32]> for Counted {
    fn as_mut(&mut self) -> &mut [f32] {
        self.asked.fetch_add(1, Ordering::Relaxed);
        &mut self.elements
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}

#[test]
fn orders_say_how_memory_runs_through_a_shape() {
    for shape in [&[][..], &[3], &[2, 3], &[2, 3, 4], &[2, 3, 4, 5], &[2, 3, 4, 5, 2], &[2, 0, 4]] {
        let [rows, columns, channels] = [Order::RowMajor, Order::ColumnMajor, Order::ChannelsLast]
            .map(|order| Tensor::<i32>::zeros_in(shape, order).unwrap());
        assert!(rows.is_contiguous(Order::RowMajor) && rows.is_row_major());
        assert!(columns.is_contiguous(Order::ColumnMajor));
        assert!(channels.is_contiguous(Order::ChannelsLast));
        // Some orders of few axes, and of no element, are one.
        let is_one = shape.len() < 2 || shape.contains(&0);
        assert_eq!(rows.is_contiguous(Order::ColumnMajor), is_one, "{shape:?}");
        assert!(columns.view().t().is_contiguous(Order::RowMajor), "{shape:?}");
        assert_eq!(rows.is_contiguous(Order::ChannelsLast), is_one || shape.len() < 3, "{shape:?}");
        if shape.len() > 2 {
            // The array whose last axis is the channels', as a view.
            let mut array = shape.to_vec();
            array[1..].rotate_left(1);
            let array = Tensor::<i32>::zeros(array.as_slice()).unwrap();
            let view = array.view().channels_last().unwrap();
            assert_eq!((view.shape(), view.strides()), (shape, channels.strides()));
        }
    }
    let memory = [0; 24];
    let gaps = TensorView::from_slice(&memory, [2, 12]).unwrap().slice(1, 0..6).unwrap();
    assert!(!gaps.is_contiguous(Order::RowMajor) && !gaps.is_contiguous(Order::ColumnMajor));
    let backwards = TensorView::from_slice(&memory, 24).unwrap().flip(0).unwrap();
    assert!(!backwards.is_contiguous(Order::RowMajor));
}

#[test]
fn contiguous_copies_where_it_must_and_may() {
    let memory: Vec<i32> = (0..60).collect();
    let view = TensorView::from_slice(&memory, [3, 4, 5]).unwrap();
    for from in [view, view.t(), view.permute(&[1, 2, 0]).unwrap(), view.slice(2, 1..3).unwrap()] {
        for order in [Order::RowMajor, Order::ColumnMajor, Order::ChannelsLast] {
            let needed = !from.is_contiguous(order);
            let never = from.contiguous(order, CopyMode::Never);
            assert_eq!(never.is_err(), needed);
            for mode in [CopyMode::IfNeeded, CopyMode::Always] {
                let before = stats().copied_bytes;
                let found = from.contiguous(order, mode).unwrap();
                let copies = needed || mode == CopyMode::Always;
                assert_eq!(found.is_copied(), copies);
                assert!(!copies || stats().copied_bytes >= before + 4 * from.len() as u64);
                assert!(found.view().is_contiguous(order));
                assert_eq!(found.view().to_vec(), from.to_vec());
                let tensor = found.into_tensor().unwrap();
                assert!(tensor.is_contiguous(order));
                assert_eq!((tensor.shape(), tensor.to_vec()), (from.shape(), from.to_vec()));
            }
        }
    }
}

#[test]
fn a_vec_comes_back_with_its_address_and_capacity() {
    let mut vec = Vec::with_capacity(100);
    vec.extend([1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let address = vec.as_ptr();
    let mut tensor = Tensor::from_vec(vec, [2, 3]).unwrap();
    assert_eq!((tensor.tenure(), tensor.as_ptr()), (Tenure::Adopted, address));
    tensor[[1, 2]] = 60.0;
    let vec = tensor.into_vec().ok().unwrap();
    assert_eq!((vec.as_ptr(), vec.len(), vec.capacity()), (address, 6, 100));
    assert_eq!(vec, [1.0, 2.0, 3.0, 4.0, 5.0, 60.0]);
}

#[test]
fn an_empty_vec_comes_back_too() {
    let tensor = Tensor::from_vec(Vec::<u16>::new(), [0, 3]).unwrap();
    assert_eq!((tensor.len(), tensor.as_slice()), (0, Some(&[][..])));
    assert_eq!(tensor.into_vec().ok().unwrap().capacity(), 0);

    let vec = Vec::<u16>::with_capacity(7);
    let address = vec.as_ptr();
    let vec = Tensor::from_vec(vec, 0).unwrap().into_vec().ok().unwrap();
    assert_eq!((vec.as_ptr(), vec.len(), vec.capacity()), (address, 0, 7));
}

#[test]
fn a_refused_vec_comes_back_with_the_reason() {
    let vec = Vec::from([1_i32, 2, 3, 4, 5]);
    let address = vec.as_ptr();
    let rejected = Tensor::from_vec(vec, [2, 3]).err().unwrap();
    let (error, vec) = rejected.into_parts();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.message(), "shape [2, 3] has 6 elements but the memory has 5");
    assert_eq!((vec.as_ptr(), vec), (address, vec![1, 2, 3, 4, 5]));

    fn through_question_mark() -> tenure::Result<Tensor<i32>> {
        Ok(Tensor::from_vec(vec![1], [2])?)
    }
    assert_eq!(
        through_question_mark().err().unwrap().message(),
        "shape [2] has 2 elements but the memory has 1"
    );
}

#[test]
fn only_an_adopted_row_major_vec_comes_back() {
    let columns = Tensor::from_vec_in(vec![1, 2, 3, 4], [2, 2], Order::ColumnMajor).unwrap();
    let columns = columns.into_vec().err().unwrap();
    assert_eq!(columns.to_vec(), [1, 3, 2, 4]);
    // With one axis both orders are the same.
    let line = Tensor::from_vec_in(vec![1, 2], 2, Order::ColumnMajor).unwrap();
    assert_eq!(line.into_vec().ok(), Some(vec![1, 2]));

    assert_eq!(Tensor::<u8>::zeros(3).unwrap().into_vec().err().unwrap().to_vec(), [0, 0, 0]);
    let copied = Tensor::copy_from_slice(&[1, 2], 2).unwrap();
    assert_eq!(copied.tenure(), Tenure::Copied);
    assert_eq!(copied.into_vec().err().unwrap().to_vec(), [1, 2]);
    let owned = Tensor::from_owner_mut([5_i8; 4], [2, 2]).unwrap();
    assert_eq!(owned.into_vec().err().unwrap().to_vec(), [5; 4]);
}

#[test]
fn an_owner_is_asked_once_and_dropped_once() {
    let (owner, asked, dropped) = Counted::new(&[1.0, 2.0, 3.0]);
    let address = owner.elements.as_ptr();
    let mut tensor = Tensor::from_owner_mut(owner, 3).unwrap();
    assert_eq!((tensor.tenure(), tensor.as_ptr()), (Tenure::Adopted, address));
    tensor[[0]] = 10.0;
    assert_eq!(tensor.to_vec(), [10.0, 2.0, 3.0]);
    assert_eq!((count(&asked), count(&dropped)), (1, 0));
    drop(tensor);
    assert_eq!((count(&asked), count(&dropped)), (1, 1));
}

#[test]
fn a_refused_owner_comes_back() {
    let (owner, _, dropped) = Counted::new(&[1.0, 2.0, 3.0]);
    let owner = Tensor::from_owner_mut(owner, 4).err().unwrap().into_data();
    assert_eq!((owner.elements.len(), count(&dropped)), (3, 0));
    drop(owner);
    assert_eq!(count(&dropped), 1);
}

#[test]
fn an_owner_with_elements_inside_itself_stays_where_it_is() {
    let mut tensor = Tensor::from_owner_mut([[1_u8, 2], [3, 4]].concat(), [2, 2]).unwrap();
    let mut inline = Tensor::from_owner_mut([1_u8, 2, 3, 4], [2, 2]).unwrap();
    let moved = std::mem::replace(&mut inline, tensor.try_clone().unwrap());
    assert_eq!(moved.to_vec(), [1, 2, 3, 4]);
    let mut boxed = Box::new(moved);
    boxed[[1, 1]] = 40;
    tensor[[1, 1]] = 40;
    assert_eq!(boxed.to_vec(), tensor.to_vec());
}

/// An owner that panics when it is dropped.
struct Explosive([f32; 2]);

impl AsMut<[f32]> for Explosive {
    fn as_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

impl Drop for Explosive {
    fn drop(&mut self) {
        panic!("an owner's destructor panics, as this test wants");
    }
}

#[test]
fn a_panic_of_an_owners_destructor_ends_in_the_callback() {
    let before = tenure::stats();
    drop(Tensor::from_owner_mut(Explosive([1.0, 2.0]), 2).unwrap());
    assert!(tenure::stats().blobs_finished > before.blobs_finished);
}

/// An owner that panics at the request for its elements.
struct Silent(Arc<AtomicUsize>);

impl AsMut<[f32]> for Silent {
    fn as_mut(&mut self) -> &mut [f32] {
        panic!("an owner panics when asked, as this test wants")
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_owner_that_panics_when_asked_is_dropped() {
    let dropped = Arc::<AtomicUsize>::default();
    let owner = Silent(Arc::clone(&dropped));
    let outcome = std::panic::catch_unwind(|| Tensor::from_owner_mut(owner, 1).is_ok());
    assert!(outcome.is_err());
    assert_eq!(count(&dropped), 1);
}

#[test]
fn new_memory_is_filled() {
    fn zeros<T: Element>() {
        let tensor = Tensor::<T>::zeros([3, 5]).unwrap();
        assert!(tensor.iter().all(|element| *element == T::default()));
        assert_eq!((tensor.tenure(), tensor.as_ptr().addr() % 64), (Tenure::Allocated, 0));
    }
    zeros::<f64>();
    zeros::<tenure::bf16>();
    zeros::<Bool8>();
    zeros::<Complex<f64>>();
    let full = Tensor::full([2, 2], Complex::new(1.0_f32, -1.0)).unwrap();
    assert_eq!(full.to_vec(), [Complex::new(1.0, -1.0); 4]);
    let columns = Tensor::<u8>::zeros_in([2, 3], Order::ColumnMajor).unwrap();
    assert_eq!(columns.strides(), [1, 2]);
    assert_eq!(Tensor::<u8>::zeros([0, 3]).unwrap().len(), 0);
    assert_eq!(Tensor::<u8>::zeros([0_usize; 0]).unwrap().item(), Some(0));
}

#[test]
fn memory_that_cannot_be_had_is_an_error() {
    // The most bytes that a shape may have; no machine has them.
    let error = Tensor::<u8>::zeros([isize::MAX as usize]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    let error = Tensor::<f64>::zeros([isize::MAX as usize / 4]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_copy_is_its_own_and_keeps_the_order_or_makes_it_row_major() {
    let mut original = Tensor::from_vec_in(vec![1, 2, 3, 4], [2, 2], Order::ColumnMajor).unwrap();
    let clone = original.try_clone().unwrap();
    let rows = original.to_tensor().unwrap();
    original[[0, 1]] = 30;
    assert_eq!((clone.strides(), clone.as_slice()), (&[1, 2][..], None));
    assert_eq!(rows.as_slice(), Some(&[1, 3, 2, 4][..]));
    assert_eq!(clone.to_vec(), [1, 3, 2, 4]);
    assert_eq!(original.to_vec(), [1, 30, 2, 4]);
}

#[test]
fn one_element_is_an_item_whatever_the_rank() {
    assert_eq!(Tensor::full([1, 1, 1], 7).unwrap().item(), Some(7));
    assert_eq!(Tensor::full([2], 7).unwrap().item(), None);
    assert_eq!(Tensor::full([0], 7).unwrap().item(), None);
}

#[test]
fn a_tensor_goes_to_another_thread_and_is_dropped_there() {
    let (owner, _, dropped) = Counted::new(&[1.0, 2.0]);
    let tensor = Tensor::from_owner_mut(owner, 2).unwrap();
    std::thread::spawn(move || assert_eq!(tensor.to_vec(), [1.0, 2.0])).join().unwrap();
    assert_eq!(count(&dropped), 1);
}

#[test]
fn operands_lend_what_they_are() {
    fn shape_of<T: Element>(operand: impl AsView<T>) -> Vec<usize> {
        operand.as_view().shape().to_vec()
    }
    let tensor = Tensor::<f32>::zeros([2, 3]).unwrap();
    let shared = Tensor::<f32>::zeros([3, 2]).unwrap().into_shared();
    assert_eq!(shape_of(&tensor), [2, 3]);
    assert_eq!(shape_of(&shared), [3, 2]);
    assert_eq!(shape_of(tensor.view().t()), [3, 2]);
    let mut vec = vec![1.0, 2.0];
    let (shape, exclusive) = ([2], &mut &mut vec);
    assert_eq!((shape_of(&exclusive), shape_of(&exclusive[..])), (shape.into(), shape.into()));
    assert_eq!(shape_of(&[1.0, 2.0][..]), [2]);
    assert_eq!(shape_of([1, 2, 3]), [3]);
    assert_eq!(shape_of([[1, 2, 3], [4, 5, 6]]), [2, 3]);
    assert_eq!(shape_of([[[[[[[[1_u8; 2]; 1]; 3]; 1]; 2]; 1]; 4]; 1]), [1, 4, 1, 2, 1, 3, 1, 2]);
    assert_eq!(shape_of([[0_u8; 0]; 3]), [3, 0]);
    assert_eq!(shape_of(1.5), [0_usize; 0]);
    assert_eq!(shape_of(Bool8::TRUE), [0_usize; 0]);

    let nested = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]];
    assert_eq!(nested.as_view()[[1, 0, 1]], 6);
    let mut nested = nested;
    nested.as_view_mut()[[1, 0, 1]] = 60;
    assert_eq!(nested[1][0][1], 60);
}

#[test]
fn outputs_lend_themselves_again_and_again() {
    fn increment<T: Element>(out: &mut (impl AsViewMut<T> + ?Sized), by: T) {
        out.as_view_mut().fill(by);
    }
    let mut tensor = Tensor::<i32>::zeros(2).unwrap();
    let mut vec = vec![0; 2];
    let mut array = [[0; 1]; 2];
    {
        let tensor = &mut tensor;
        increment(tensor, 1);
        increment(tensor, 2);
        let mut view = vec.as_view_mut();
        increment(&mut view, 1);
        increment(&mut view, 3);
    }
    increment(&mut array, 4);
    increment(&mut vec[1..], 5);
    assert_eq!((tensor.to_vec(), vec, array), (vec![2, 2], vec![3, 5], [[4], [4]]));
}

#[test]
fn copies_are_counted() {
    // Other tests of this process copy at the same time: only the lower bound is exact.
    let side = if cfg!(miri) { 16 } else { 256 };
    let data = vec![1_u64; side * side];
    let bytes = size_of_val(&*data) as u64;
    let copied = |work: &dyn Fn()| {
        let before = tenure::stats().copied_bytes;
        work();
        tenure::stats().copied_bytes - before
    };
    let view = TensorView::from_slice(&data, [side, side]).unwrap();
    assert!(copied(&|| drop(view.to_vec())) >= bytes);
    assert!(copied(&|| drop(view.t().to_vec())) >= bytes);
    assert!(copied(&|| drop(view.to_tensor())) >= bytes);
    assert!(copied(&|| drop(view.t().to_tensor())) >= bytes);
    assert!(copied(&|| drop(Tensor::copy_from_slice(&data, side * side))) >= bytes);
}

/// Methods answer as the functions do, on every type that has memory, and on strided views.
#[test]
fn operations_are_methods_too() -> Result<()> {
    fn check(view: TensorView<'_, f32>) -> Result<()> {
        let (mut copy, shared) = (view.to_tensor()?, view.to_tensor()?.into_shared());
        let weights = [[1.0_f32, -1.0], [0.5, 2.0]];
        macro_rules! same {
            ($($function:path, $method:ident($($argument:expr),*);)*) => {$(
                let expected = $function(view $(, $argument)*)?;
                assert_eq!(view.$method($($argument),*)?, expected);
                assert_eq!(copy.$method($($argument),*)?, expected);
                assert_eq!(copy.view_mut().$method($($argument),*)?, expected);
                assert_eq!(shared.$method($($argument),*)?, expected);
            )*};
        }
        same! {
            ops::sum, sum(Axes::keep(-1)); ops::mean, mean(0); ops::max, max([0, 1]);
            ops::min, min(..); ops::argmax, argmax(1); ops::argmin, argmin(1); ops::abs, abs();
            ops::exp, exp(); ops::sqrt, sqrt(); nn::relu, relu(); nn::softmax, softmax(-1);
            linalg::matmul, matmul(&weights); linalg::matmul, matmul(view);
        }
        Ok(())
    }
    let data = [1.0, 2.0, 3.0, 4.0];
    let view = TensorView::from_slice(&data, [2, 2])?;
    check(view)?;
    check(view.t())?;
    check(view.flip(0)?)?;

    // Other element types, and views that a method has made.
    assert_eq!(Tensor::from([3_u8, 255]).sum(0)?.item(), Some(258_u64));
    assert_eq!(Tensor::from([Complex::new(3.0, -4.0)]).abs()?, [5.0]);
    assert_eq!(Tensor::from([-3, 2]).relu()?, [0, 2]);
    assert_eq!(view.t().index(0, 1)?.max(0)?.item(), Some(4.0));
    // Iterators keep theirs.
    assert_eq!(view.iter().sum::<f32>(), 10.0);
    assert_eq!(view.iter().copied().fold(0.0, f32::max), 4.0);
    Ok(())
}

#[test]
fn a_tensor_has_the_walks_of_its_view() -> Result<()> {
    let mut tensor = Tensor::<i32>::zeros([2, 3])?;
    tensor.fill(1);
    for (nth, mut row) in tensor.rows_mut().enumerate() {
        row[[0]] = nth as i32 * 10;
    }
    tensor.axis_iter_mut(-1)?.last().unwrap().fill(7);
    assert_eq!(tensor, [[0, 1, 7], [10, 1, 7]]);
    tensor.chunks_mut(1, 2)?.for_each(|mut chunk| chunk[[1, 0]] *= 2);
    assert_eq!(tensor, [[0, 1, 7], [20, 1, 14]]);
    tensor.split_into_mut(1, 3)?.for_each(|mut part| part[[0, 0]] += 1);
    assert_eq!(tensor, [[1, 2, 8], [20, 1, 14]]);
    let error = tensor.axis_iter_mut(2).err().unwrap();
    assert_eq!(error.message(), "axis_iter_mut: axis is 2 but the view has rank 2");
    assert!(tensor.chunks_mut(0, 0).is_err() && tensor.split_into_mut(0, 0).is_err());
    Ok(())
}
