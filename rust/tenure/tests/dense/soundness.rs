//! The hole classes of `docs/soundness.md` that no compiler can refuse: each is an `Err`, or safe
//! by construction. `compile_fail/` has the classes that the compiler refuses.

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tenure::{
    Bool8, CsrView, DType, DynView, Element, ErrorKind, Order, SharedTensor, Tensor, TensorView,
    TensorViewMut,
};

// ---- 3: shared storage is never writable by two ----

#[test]
fn no_second_owner_can_be_made_of_shared_storage() {
    let shared = Tensor::from_vec(vec![1.0_f32; 4], [4]).unwrap().into_shared();
    let clone = shared.clone();
    let shared = shared.into_vec().expect_err("a clone still reads it");
    assert_eq!(clone.view().as_slice(), shared.view().as_slice());
    drop(clone);
    assert_eq!(shared.into_vec().unwrap(), [1.0; 4]);
}

#[test]
fn an_arc_is_never_written_and_comes_back() {
    let mut data: Arc<[f32]> = Arc::from([1.0, 2.0]);
    let shared = SharedTensor::from_arc(data.clone(), [2]).unwrap();
    assert!(Arc::get_mut(&mut data).is_none(), "somebody reads it");
    let shared = shared.into_vec().expect_err("an Arc is no Vec");
    drop(shared);
    Arc::get_mut(&mut data).expect("everybody has let go")[0] = 5.0;
}

// ---- 5, 9: every length is checked, and no product overflows ----

#[test]
fn lengths_are_checked_against_the_memory() {
    let mut data = [1.0_f32, 2.0, 3.0];
    let refused = |error: tenure::Error, says: &[&str]| {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        for text in says {
            assert!(error.message().contains(text), "{error} does not say {text}");
        }
    };
    refused(TensorView::from_slice(&data, [4]).unwrap_err(), &["4", "3"]);
    refused(TensorView::from_slice_in(&data, [2, 2], Order::ColumnMajor).unwrap_err(), &["4"]);
    refused(TensorView::from_slice_strided(&data, 0, [2], &[3]).unwrap_err(), &[]);
    refused(TensorView::from_slice_strided(&data, 1, [3], &[-1]).unwrap_err(), &[]);
    refused(TensorView::from_slice_strided(&data, 4, [1], &[1]).unwrap_err(), &[]);
    refused(TensorViewMut::from_slice(&mut data, [4]).unwrap_err(), &["4", "3"]);
    refused(Tensor::copy_from_slice(&data, [4]).unwrap_err(), &["4", "3"]);
    refused(SharedTensor::<f32>::from_owner(vec![0.0; 3], [4]).unwrap_err().into(), &["4", "3"]);
    refused(Tensor::<f32>::from_owner_mut(vec![0.0; 3], [4]).unwrap_err().into(), &["4", "3"]);
    refused(SharedTensor::<u8>::from_bytes(vec![0; 15], 0, [16]).unwrap_err().into(), &["15"]);
    refused(DynView::from_bytes(&[0; 15], DType::BOOL8, [16]).unwrap_err(), &["15"]);
}

#[test]
fn no_shape_overflows_its_way_past_the_check() {
    let data = [0_u8; 8];
    for shape in [
        [usize::MAX, 2],
        [1 << 32, 1 << 32],
        [1 << 63, 2],
        [isize::MAX as usize, isize::MAX as usize],
        [usize::MAX, usize::MAX],
    ] {
        TensorView::from_slice(&data, shape).unwrap_err();
        Tensor::<u64>::zeros(shape).unwrap_err();
        DynView::from_bytes(&data, DType::U8, shape).unwrap_err();
        let one = TensorView::from_slice(&data[..1], [1, 1]).unwrap();
        one.reshape(shape).unwrap_err();
    }
    for stride in [isize::MIN, isize::MAX, 1 << 62] {
        TensorView::from_slice_strided(&data, 0, [2], &[stride]).unwrap_err();
        TensorView::from_slice_strided(&data, 0, [2, 2], &[stride, stride]).unwrap_err();
    }
}

#[test]
fn a_refused_owner_comes_back_whole() {
    let data = vec![1.0_f32; 3];
    let address = data.as_ptr();
    let data = Tensor::from_vec(data, [4]).unwrap_err().into_data();
    let data = Tensor::from_owner_mut(data, [4]).unwrap_err().into_data();
    let data = SharedTensor::from_owner(data, [4]).unwrap_err().into_data();
    assert_eq!((data.as_ptr(), data.len()), (address, 3));
}

// ---- 6: a type and its dtype say the same ----

#[test]
fn dtypes_and_types_are_one_to_one() {
    fn entry<T: Element>(dtypes: &mut HashSet<DType>) {
        assert!(dtypes.insert(T::DTYPE), "{} stands for two types", T::DTYPE.name());
        assert_eq!(T::DTYPE.size_bytes(), size_of::<T>(), "{}", T::DTYPE.name());
        assert!(align_of::<T>() <= 8, "{}", T::DTYPE.name());
    }
    let mut dtypes = HashSet::new();
    entry::<f64>(&mut dtypes);
    entry::<f32>(&mut dtypes);
    entry::<half::f16>(&mut dtypes);
    entry::<half::bf16>(&mut dtypes);
    entry::<i8>(&mut dtypes);
    entry::<i16>(&mut dtypes);
    entry::<i32>(&mut dtypes);
    entry::<i64>(&mut dtypes);
    entry::<u8>(&mut dtypes);
    entry::<u16>(&mut dtypes);
    entry::<u32>(&mut dtypes);
    entry::<u64>(&mut dtypes);
    entry::<Bool8>(&mut dtypes);
    entry::<num_complex::Complex<f32>>(&mut dtypes);
    entry::<num_complex::Complex<f64>>(&mut dtypes);
    assert_eq!(dtypes.len(), 15);
}

/// The two 16-bit floats have one size, so only a value can tell whether they are confused.
#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn the_core_reads_each_type_as_what_it_is() {
    let value = 1.5_f32;
    let f16 = [half::f16::from_f32(value)];
    let bf16 = [half::bf16::from_f32(value)];
    assert_ne!(f16[0].to_bits(), bf16[0].to_bits());
    assert_eq!(tenure::ops::cast::<f32, _>(&f16).unwrap().to_vec(), [value]);
    assert_eq!(tenure::ops::cast::<f32, _>(&bf16).unwrap().to_vec(), [value]);
    let negative = [-1_i8];
    assert_eq!(tenure::ops::cast::<i64, _>(&negative).unwrap().to_vec(), [-1]);
    assert_eq!(tenure::ops::cast::<i64, _>(&negative.map(|x| x as u8)).unwrap().to_vec(), [255]);
}

#[test]
fn a_downcast_to_another_type_is_refused() {
    let bytes = [0_u8; 4];
    let view = DynView::from_bytes(&bytes, DType::U8, [4]).unwrap();
    assert!(view.downcast::<i8>().is_err());
    assert!(view.downcast::<Bool8>().is_err());
    assert_eq!(view.downcast::<u8>().unwrap().as_slice(), Some(&bytes[..]));
}

// ---- 7: no bit pattern is invalid ----

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn any_byte_is_a_truth_value_and_the_library_writes_0_or_1() {
    let bytes: Vec<u8> = vec![0, 1, 2, 255];
    let shared = SharedTensor::<Bool8>::from_bytes(bytes, 0, [4]).unwrap();
    let truth: Vec<bool> = shared.view().iter().map(|value| value.is_true()).collect();
    assert_eq!(truth, [false, true, true, true]);
    let numbers = tenure::ops::cast::<u8, _>(&shared).unwrap();
    assert_eq!(numbers.to_vec(), [0, 1, 1, 1]);
    let compared = tenure::ops::ne(&numbers, 0).unwrap().to_vec();
    assert_eq!(compared, [Bool8::FALSE, Bool8::TRUE, Bool8::TRUE, Bool8::TRUE]);
}

// ---- 8: no code sees unwritten memory ----

#[test]
fn new_tensors_are_written_before_they_are_seen() {
    // Memory that was just freed is what an allocator hands out next.
    for _ in 0..4 {
        drop(Tensor::<u32>::full([1000], 0xdead_beef).unwrap());
        let zeros = Tensor::<u32>::zeros([10, 100]).unwrap();
        assert!(zeros.view().iter().all(|&value| value == 0));
    }
}

// ---- 10: strides ----

#[test]
fn writable_views_do_not_overlap_themselves() {
    let mut data = [0.0_f32; 8];
    for (shape, strides) in
        [([2, 4], [0, 1]), ([3, 3], [1, 1]), ([2, 3], [-1, 1]), ([2, 2], [2, 2])]
    {
        TensorView::from_slice_strided(&data, 1, shape, &strides).unwrap();
        let error = TensorViewMut::from_slice_strided(&mut data, 1, shape, &strides).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Aliased, "{error}");
    }
    let view = TensorViewMut::from_slice(&mut data, [8]).unwrap();
    assert!(view.windows(0, 3, 1).is_err(), "windows that overlap");
    let view = TensorViewMut::from_slice(&mut data, [8]).unwrap();
    view.windows(0, 4, 4).expect("windows that do not").fill(1.0);
    assert_eq!(data, [1.0; 8]);
}

#[test]
fn negative_strides_reach_down_and_no_further() {
    let data = [1_u8, 2, 3, 4];
    let view = TensorView::from_slice_strided(&data, 3, [4], &[-1]).unwrap();
    assert_eq!(view.to_vec(), [4, 3, 2, 1]);
    assert_eq!(view.as_slice(), None);
    TensorView::from_slice_strided(&data, 2, [4], &[-1]).unwrap_err();
}

// ---- 11: a strided view is no slice ----

/// The halves of a split interleave. Were either to make a `&mut [T]` over all it spans, the
/// other's elements would lie inside it: Miri runs this.
#[test]
fn interleaved_halves_never_hold_a_slice_over_each_other() {
    let mut data = [0_i32; 12];
    let view = TensorViewMut::from_slice(&mut data, [3, 4]).unwrap();
    let (mut left, mut right) = view.split_at(1, 2).unwrap();
    assert!(left.as_mut_slice().is_none());
    let (one, other) = (left.get_mut([1, 1]).unwrap(), right.get_mut([1, 0]).unwrap());
    std::mem::swap(one, other);
    for (mut row, mut beside) in left.rows_mut().zip(right.rows_mut()) {
        let (row, beside) = (row.as_mut_slice().unwrap(), beside.as_mut_slice().unwrap());
        row[1] += 1;
        beside.copy_from_slice(row);
        row[1] += 1;
    }
    for (value, beside) in left.iter_mut().zip(right.iter_mut()) {
        std::mem::swap(value, beside);
    }
    assert_eq!(data[..4], [0, 1, 0, 2]);
}

#[test]
fn exclusive_iterators_give_each_element_once() {
    let mut data = [0_i32; 12];
    let mut view = TensorViewMut::from_slice(&mut data, [3, 4]).unwrap();
    let mut columns: Vec<_> = view.axis_iter_mut(1).unwrap().collect();
    for (number, column) in columns.iter_mut().enumerate() {
        column.iter_mut().for_each(|value| *value += number as i32);
    }
    drop(columns);
    let mut elements: Vec<&mut i32> = view.iter_mut().collect();
    elements.reverse();
    for (place, element) in elements.iter_mut().enumerate() {
        **element += 10 * place as i32;
    }
    assert_eq!(data[..4], [110, 101, 92, 83]);
    assert_eq!(data[8..], [30, 21, 12, 3]);
}

// ---- 12, 13: alignment and nothingness ----

#[test]
fn misaligned_bytes_are_refused_and_not_copied() {
    let aligned = [0_u64; 4];
    // SAFETY: any initialised bytes are u8, and the borrow of `aligned` lasts.
    let bytes = unsafe { std::slice::from_raw_parts(aligned.as_ptr().cast::<u8>(), 32) };
    let error = DynView::from_bytes(&bytes[1..17], DType::F32, [4]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("align"), "{error}");
    DynView::from_bytes(&bytes[1..5], DType::U8, [4]).expect("a byte needs no alignment");
    DynView::from_bytes(&bytes[4..20], DType::F32, [4]).expect("4 bytes in");
}

/// Addresses that no index reaches are never computed: nothing overflows, nothing panics.
#[test]
fn empty_views_may_have_any_strides() {
    let (far, most) = (isize::MIN, isize::MAX);
    let shape = [isize::MAX as usize, 0, isize::MAX as usize];
    let strides = [far, most, most];
    let view = TensorView::<f64>::from_slice_strided(&[], 0, shape, &strides).unwrap();
    assert_eq!((view.iter().count(), view.to_vec().len(), view.t().iter().count()), (0, 0, 0));
    assert_eq!(view.slice_step(0, 5..7, far).unwrap().flip(2).unwrap().len(), 0);
    assert_eq!(view.index(2, 1_usize << 40).unwrap().split_at(0, 1 << 40).unwrap().1.len(), 0);
    assert_eq!(view.windows(0, 1 << 40, 1 << 40).unwrap().iter().count(), 0);
    assert_eq!(view.axis_iter(0).unwrap().next_back().unwrap().len(), 0);
    assert!(view.rows().next().is_none());
    let one = TensorView::from_slice_strided(&[1.0], 0, [1, 1], &[far, most]).unwrap();
    assert_eq!((one.to_vec(), one.get([0, 0])), (vec![1.0], Some(&1.0)));
    assert_eq!(one.flip(0).unwrap().windows(1, 1, 1 << 40).unwrap().to_vec(), [1.0]);
    let view = TensorViewMut::<f64>::from_slice_strided(&mut [], 0, shape, &strides).unwrap();
    assert_eq!(view.t().iter_mut().count(), 0);
}

#[test]
fn nothing_can_be_lent_held_and_given_back() {
    let mut nothing: [f64; 0] = [];
    let view = TensorView::from_slice(&nothing, [0, usize::MAX >> 4]).unwrap();
    assert_eq!((view.len(), view.iter().count(), view.get([0, 0])), (0, 0, None));
    assert_eq!(view.as_slice(), Some(&[][..]));
    assert_eq!(TensorViewMut::from_slice(&mut nothing, [3, 0]).unwrap().iter_mut().count(), 0);
    let tensor = Tensor::from_vec(Vec::<f64>::with_capacity(5), [0, 7]).unwrap();
    assert_eq!(tensor.into_vec().unwrap().capacity(), 5);
    let shared = SharedTensor::<f64>::from_arc(Arc::from([]), [0]).unwrap();
    assert!(shared.clone().view().is_empty());
}

// ---- 14, 16: an owner is dropped once, also after a panic ----

/// Counts its drops, and the calls of `as_ref` and `as_mut`.
struct Counted<'a, D> {
    data: D,
    drops: &'a AtomicUsize,
    asked: &'a AtomicUsize,
}

impl<D> Drop for Counted<'_, D> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

impl<D: AsRef<[f32]>> AsRef<[f32]> for Counted<'_, D> {
    fn as_ref(&self) -> &[f32] {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.data.as_ref()
    }
}

impl<D: AsMut<[f32]>> AsMut<[f32]> for Counted<'_, D> {
    fn as_mut(&mut self) -> &mut [f32] {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.data.as_mut()
    }
}

#[test]
fn owners_are_asked_once_and_dropped_once() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let counts = || (ASKED.load(Ordering::Relaxed), DROPS.load(Ordering::Relaxed));
    // An array inside the owner: its address changes with every move, so the pointer must be
    // taken where the owner stays (hole class 19).
    let owner = || Counted { data: [1.0, 2.0, 3.0, 4.0], drops: &DROPS, asked: &ASKED };
    let shared = SharedTensor::<f32>::from_owner(owner(), [2, 2]).unwrap();
    let moved = Box::new(shared.clone());
    drop(shared);
    assert_eq!(moved.view().to_vec(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(counts(), (1, 0));
    drop(moved);
    assert_eq!(counts(), (1, 1));

    let mut tensor = Box::new(Tensor::<f32>::from_owner_mut(owner(), [4]).unwrap());
    tensor.view_mut().iter_mut().for_each(|value| *value *= 2.0);
    assert_eq!(tensor.view().to_vec(), [2.0, 4.0, 6.0, 8.0]);
    drop(tensor);
    assert_eq!(counts(), (2, 2));

    let refused = SharedTensor::<f32>::from_owner(owner(), [5]).unwrap_err();
    assert_eq!(counts(), (3, 2), "a refused owner is not dropped");
    drop(refused);
    assert_eq!(counts(), (3, 3));
}

/// Returns another slice at each call.
struct Fickle {
    first: Vec<f32>,
    then: Vec<f32>,
    asked: AtomicUsize,
}

impl AsRef<[f32]> for Fickle {
    fn as_ref(&self) -> &[f32] {
        let first = self.asked.fetch_add(1, Ordering::Relaxed) == 0;
        if first { &self.first } else { &self.then }
    }
}

#[test]
fn an_owner_that_changes_its_mind_changes_nothing() {
    let owner = Fickle { first: vec![1.0; 4], then: vec![2.0], asked: AtomicUsize::new(0) };
    let shared = SharedTensor::<f32>::from_owner(owner, [4]).unwrap();
    assert_eq!(shared.view().to_vec(), [1.0; 4]);
    assert_eq!(shared.view().to_vec(), [1.0; 4]);
}

struct Panics<'a>(&'a AtomicUsize);

impl AsRef<[f32]> for Panics<'_> {
    fn as_ref(&self) -> &[f32] {
        panic!("as_ref panics")
    }
}

impl Drop for Panics<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_owner_that_panics_when_asked_is_dropped_once() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    let made = catch_unwind(|| SharedTensor::<f32>::from_owner(Panics(&DROPS), [1]));
    assert!(made.is_err());
    assert_eq!(DROPS.load(Ordering::Relaxed), 1);
}

#[test]
fn an_owner_whose_destructor_panics_is_let_go() {
    struct Bomb(Vec<f32>);
    impl AsRef<[f32]> for Bomb {
        fn as_ref(&self) -> &[f32] {
            &self.0
        }
    }
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("the destructor panics");
        }
    }
    let before = tenure::stats().blobs_finished;
    let shared = SharedTensor::<f32>::from_owner(Bomb(vec![1.0; 2]), [2]).unwrap();
    // The panic is reported and ends inside: it must not unwind through C++.
    drop(shared);
    assert!(tenure::stats().blobs_finished > before);
}

// ---- 17: nothing relies on a destructor ----

#[test]
#[expect(clippy::forget_non_drop, reason = "that a view has no destructor is the point")]
fn forgotten_views_end_no_loan_too_late() {
    assert!(!std::mem::needs_drop::<TensorViewMut<f32>>());
    let mut data = [1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [2, 2]).unwrap();
    std::mem::forget(view.view_mut());
    std::mem::forget(view.iter_mut());
    std::mem::forget(view.rows_mut());
    view.fill(2.0);
    std::mem::forget(view);
    data[0] = 3.0;
    assert_eq!(data, [3.0, 2.0, 2.0, 2.0]);
}

#[test]
fn a_forgotten_holder_keeps_the_memory_for_good() {
    let data = Arc::<[f32]>::from([1.0, 2.0]);
    let shared = SharedTensor::from_arc(data.clone(), [2]).unwrap();
    // Forgotten, except that the end of this test drops it.
    let forgotten = std::mem::ManuallyDrop::new(shared.clone());
    drop(shared);
    assert_eq!(Arc::strong_count(&data), 2, "never freed under a reader");
    drop(std::mem::ManuallyDrop::into_inner(forgotten));
    assert_eq!(Arc::strong_count(&data), 1);
}

// ---- callers' code inside ours ----

/// A call requests the view of an operand once; if the operand answers differently the next time,
/// the next call checks that view.
#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn an_operand_that_changes_its_mind_is_checked_again() {
    struct Shrinking<'a>(&'a [f32], Cell<usize>);
    impl tenure::AsView<f32> for Shrinking<'_> {
        fn as_view(&self) -> TensorView<'_, f32> {
            let len = self.1.replace(self.1.get() - 1);
            TensorView::from_slice(&self.0[..len], [len]).unwrap()
        }
    }
    let data = [1.0_f32; 4];
    let operand = Shrinking(&data, Cell::new(4));
    let mut out = [0.0_f32; 4];
    tenure::ops::add_into(&operand, 1.0, &mut out).unwrap();
    assert_eq!(out, [2.0; 4]);
    assert!(tenure::ops::add_into(&operand, 1.0, &mut out).is_err(), "3 elements now");
    assert_eq!(out, [2.0; 4]);
}

/// A shape that answers differently each time is read once.
#[test]
fn a_shape_that_changes_its_mind_is_read_once() {
    struct Growing(Cell<usize>);
    impl tenure::IntoShape for Growing {
        fn extents(&self) -> &[usize] {
            const SHAPES: [[usize; 1]; 3] = [[2], [1000], [1000]];
            &SHAPES[self.0.replace(self.0.get() + 1)]
        }
    }
    let growing = || Growing(Cell::new(0));
    let mut data = [1.0_f32; 2];
    assert_eq!(TensorView::from_slice(&data, growing()).unwrap().len(), 2);
    let view = TensorView::from_slice_strided(&data, 0, growing(), &[1]).unwrap();
    assert_eq!(view.len(), 2);
    assert_eq!(TensorView::from_ref(&1.0_f32).broadcast(growing()).unwrap().len(), 2);
    assert_eq!(TensorViewMut::from_slice(&mut data, growing()).unwrap().len(), 2);
    assert_eq!(Tensor::<f32>::zeros(growing()).unwrap().len(), 2);
    assert_eq!(Tensor::from_vec(vec![1.0; 2], growing()).unwrap().len(), 2);
    assert_eq!(SharedTensor::<f32>::from_owner(vec![1.0; 2], growing()).unwrap().len(), 2);
    assert_eq!(SharedTensor::<u8>::from_bytes(vec![0; 2], 0, growing()).unwrap().len(), 2);
}

/// So is a range, and its ends may be anything.
#[test]
fn ranges_are_read_once_and_may_not_leave_the_axis() {
    struct Growing(Cell<bool>);
    impl std::ops::RangeBounds<usize> for Growing {
        fn start_bound(&self) -> Bound<&usize> {
            Bound::Included(&0)
        }
        fn end_bound(&self) -> Bound<&usize> {
            Bound::Excluded(if self.0.replace(true) { &1000 } else { &2 })
        }
    }
    let growing = || Growing(Cell::new(false));
    let matrix = CsrView::new(3, 1, &[0, 1, 2, 3], &[0; 3], &[1, 2, 3]).unwrap();
    assert_eq!(matrix.row_range(growing()).unwrap().values(), [1, 2]);
    let data = [1, 2, 3];
    // Ranges of an axis are those of the standard library only.
    let view = TensorView::from_slice(&data, [3]).unwrap();
    assert!(view.slice(0, ..=usize::MAX).is_err());
    assert!(view.slice(0, (Bound::Excluded(usize::MAX), Bound::Unbounded)).is_err());
    let (start, end) = (2, 1);
    assert!(view.slice(0, start..end).is_err());
    assert_eq!(view.slice_step(0, .., isize::MIN).unwrap().to_vec(), [3]);
    assert_eq!(view.slice_step(0, .., isize::MAX).unwrap().to_vec(), [1]);
}

/// A panic in the caller's code between two calls leaves the tensor as it was.
#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn a_panic_while_a_tensor_is_lent_leaves_it_whole() {
    let mut tensor = Tensor::<f32>::full([3], 1.0).unwrap();
    let result = catch_unwind(AssertUnwindSafe(|| {
        for (number, value) in tensor.view_mut().iter_mut().enumerate() {
            assert!(number < 2, "stop");
            *value = 5.0;
        }
    }));
    assert!(result.is_err());
    tenure::ops::add_assign(&mut tensor, 1.0).unwrap();
    assert_eq!(tensor.to_vec(), [6.0, 6.0, 2.0]);
}
