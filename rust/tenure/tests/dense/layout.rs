//! The checker in Rust against the one in C and against brute force.

use std::ffi::c_void;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tenure::{DType, Element, ErrorKind, Order, TensorView, TensorViewMut};
use tenure_sys as sys;

/// The answer that both checkers must give.
#[derive(Debug, PartialEq)]
enum Answer {
    Accepted,
    Refused(ErrorKind),
}

fn answer<V>(result: tenure::Result<V>) -> Answer {
    match result {
        Ok(_) => Answer::Accepted,
        Err(error) => Answer::Refused(error.kind()),
    }
}

fn status_answer(status: sys::tnr_status) -> Answer {
    match status {
        sys::tnr_status::OK => Answer::Accepted,
        sys::tnr_status::INVALID_ARGUMENT => Answer::Refused(ErrorKind::InvalidArgument),
        sys::tnr_status::ALIASED => Answer::Refused(ErrorKind::Aliased),
        other => panic!("no layout is answered {other:?}"),
    }
}

fn raw_dtype<T: Element>() -> sys::tnr_dtype {
    let (code, bits, lanes) = T::DTYPE.to_dlpack();
    sys::tnr_dtype(u32::from(code) | u32::from(bits) << 8 | u32::from(lanes) << 16)
}

fn blank() -> sys::tnr_view {
    // SAFETY: a plain struct of integers and pointers; 0 is valid for each of them.
    unsafe { std::mem::zeroed() }
}

/// The answers of the C functions to the same layout, for reading and for writing.
fn answers_of_c<T: Element>(
    data: &mut [T],
    offset: usize,
    shape: &[usize],
    strides: &[isize],
) -> (Answer, Answer) {
    let size_bytes = size_of_val(data);
    let base: *mut c_void = data.as_mut_ptr().cast();
    let shape: Vec<i64> = shape.iter().map(|&extent| extent as i64).collect();
    let strides: Vec<i64> = strides.iter().map(|&stride| stride as i64).collect();
    let rank = shape.len() as u32;
    let offset_bytes = offset * size_of::<T>();
    let mut view = blank();
    let mut view_mut = sys::tnr_view_mut { view: blank() };
    // SAFETY: the arrays have `rank` entries, and the memory is lent only for the call.
    unsafe {
        let lent = sys::tnr_view_lend(
            base,
            size_bytes,
            offset_bytes,
            raw_dtype::<T>(),
            rank,
            shape.as_ptr(),
            strides.as_ptr(),
            &mut view,
        );
        let lent_mut = sys::tnr_view_lend_mut(
            base,
            size_bytes,
            offset_bytes,
            raw_dtype::<T>(),
            rank,
            shape.as_ptr(),
            strides.as_ptr(),
            &mut view_mut,
        );
        if lent == sys::tnr_status::OK {
            assert_eq!(sys::tnr_view_check(&view), sys::tnr_status::OK);
        }
        if lent_mut == sys::tnr_status::OK {
            assert_eq!(sys::tnr_view_check_mut(&view_mut), sys::tnr_status::OK);
        }
        (status_answer(lent), status_answer(lent_mut))
    }
}

/// Every index of a shape, in row-major order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &extent in shape {
        all = all
            .iter()
            .flat_map(|index: &Vec<usize>| {
                (0..extent).map(move |at| index.iter().copied().chain([at]).collect())
            })
            .collect();
    }
    all
}

/// The element that each index reaches, in row-major order.
fn reached(offset: usize, shape: &[usize], strides: &[isize]) -> Vec<isize> {
    indices(shape)
        .iter()
        .map(|index| {
            let steps = index.iter().zip(strides).map(|(&at, &stride)| at as isize * stride);
            offset as isize + steps.sum::<isize>()
        })
        .collect()
}

/// Counts of one run over the small world, so that a checker that refuses all cannot pass.
#[derive(Default)]
struct Tally {
    accepted: usize,
    refused: usize,
    accepted_mut: usize,
    aliased: usize,
}

fn check_one<T: Element>(
    memory: &mut [T],
    offset: usize,
    shape: &[usize],
    strides: &[isize],
    places: &[isize],
    tally: &mut Tally,
) {
    let len = memory.len() as isize;
    let inside = offset as isize <= len && places.iter().all(|place| (0..len).contains(place));
    let view = TensorView::from_slice_strided(memory, offset, shape, strides);
    if let Ok(view) = &view {
        let first = memory.as_ptr();
        let walked: Vec<isize> = view
            .iter()
            .map(|element| {
                // SAFETY: both point into `memory`.
                unsafe { std::ptr::from_ref(element).offset_from(first) }
            })
            .collect();
        assert_eq!(walked, places, "{shape:?} {strides:?} from {offset}");
    }
    let rust = answer(view);
    assert_eq!(rust == Answer::Accepted, inside, "{shape:?} {strides:?} from {offset} in {len}");

    let rust_mut = answer(TensorViewMut::from_slice_strided(memory, offset, shape, strides));
    if rust_mut == Answer::Accepted {
        let mut sorted = places.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), places.len(), "{shape:?} {strides:?} meets itself");
        tally.accepted_mut += 1;
    }
    tally.accepted += usize::from(rust == Answer::Accepted);
    tally.refused += usize::from(rust != Answer::Accepted);
    tally.aliased += usize::from(rust_mut == Answer::Refused(ErrorKind::Aliased));
    assert_eq!(
        (rust, rust_mut),
        answers_of_c(memory, offset, shape, strides),
        "{shape:?} {strides:?} from {offset} in {len}"
    );
}

/// Each layout in memory that just fits, that is an element too short, and with its origin an
/// element too low and too high.
fn check_small_world<T: Element>(max_rank: usize) -> Tally {
    let most = 24 / size_of::<T>();
    let mut memory = vec![T::default(); most];
    let mut tally = Tally::default();
    for rank in 0..=max_rank {
        for shape in indices(&vec![4; rank]) {
            for strides in indices(&vec![9; rank]) {
                let strides: Vec<isize> = strides.iter().map(|&nth| nth as isize - 4).collect();
                let from_zero = reached(0, &shape, &strides);
                let low = from_zero.iter().copied().min().unwrap_or(0);
                let span = from_zero.iter().copied().max().map_or(0, |high| high - low + 1);
                for len in [span - 1, span, span + 1] {
                    for offset in [-low - 1, -low, -low + 1] {
                        if offset < 0 || !(0..=most as isize).contains(&len) {
                            continue;
                        }
                        let places: Vec<isize> = from_zero.iter().map(|p| p + offset).collect();
                        let memory = &mut memory[..len as usize];
                        check_one(memory, offset as usize, &shape, &strides, &places, &mut tally);
                    }
                }
            }
        }
    }
    tally
}

#[test]
fn the_small_world_of_bytes_agrees_with_c_and_with_brute_force() {
    let tally = check_small_world::<u8>(3);
    assert!(tally.accepted > 10_000 && tally.refused > 10_000);
    assert!(tally.accepted_mut > 1_000 && tally.aliased > 10_000);
}

#[test]
fn the_small_world_of_wider_elements_agrees_with_c_and_with_brute_force() {
    assert!(check_small_world::<i16>(2).accepted_mut > 100);
    assert!(check_small_world::<f64>(2).accepted_mut > 10);
    assert!(check_small_world::<tenure::Complex<f64>>(2).refused > 10);
}

/// A layout larger than the small world: axes of a dense block in any order, stretched and
/// reversed, and now and then with a stride or an extent from anywhere.
#[derive(Debug)]
struct Layout {
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<isize>,
    len: usize,
}

/// An axis, decoded from one random word. Words are cheaper to draw than a strategy for each field,
/// by a factor that 100,000 layouts feel.
struct Axis {
    extent: usize,
    stretch: isize,
    wild_extent: Option<usize>,
    wild_stride: Option<isize>,
}

impl Axis {
    fn of(word: u64) -> Axis {
        let pick = |byte: u32, count: usize| (word >> (8 * byte)) as u8 as usize % count;
        Axis {
            extent: match pick(0, 11) {
                0..8 => 1 + pick(1, 5),
                8 => 0,
                _ => 6 + pick(1, 24),
            },
            stretch: match pick(2, 11) {
                0..6 => 1,
                6..10 => -1,
                _ => pick(3, 7) as isize - 3,
            },
            wild_extent: (pick(4, 41) == 0).then_some(word.rotate_left(7) as usize),
            wild_stride: match pick(5, 34) {
                0..30 => None,
                30..32 => Some(pick(6, 80) as isize - 40),
                32 => Some(word.rotate_left(13) as isize),
                _ => Some([isize::MIN, isize::MAX, 0][pick(6, 3)]),
            },
        }
    }
}

fn layout() -> impl Strategy<Value = Layout> {
    let words = prop::collection::vec(any::<u64>(), 0..=8);
    (words, any::<u32>(), -2..3_isize, -2..3_isize).prop_map(|(words, rotation, more, shift)| {
        let mut step: isize = 1;
        let (mut low, mut high) = (0_isize, 0_isize);
        let mut shape = vec![];
        let mut strides = vec![];
        for axis in words.into_iter().map(Axis::of) {
            let stride = step.saturating_mul(axis.stretch);
            step = step.saturating_mul(axis.extent.max(1) as isize * axis.stretch.abs().max(1));
            shape.push(axis.wild_extent.unwrap_or(axis.extent));
            strides.push(axis.wild_stride.unwrap_or(stride));
            let reach = stride.saturating_mul(axis.extent as isize - 1);
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
        }
        if !shape.is_empty() {
            let places = rotation as usize % shape.len();
            shape.rotate_left(places);
            strides.rotate_left(places);
        }
        let offset = low.saturating_neg().saturating_add(shift).clamp(0, 5_000) as usize;
        let span = high.saturating_sub(low).saturating_add(1 + more);
        Layout { offset, shape, strides, len: span.clamp(0, 4_096) as usize }
    })
}

#[test]
fn a_hundred_thousand_larger_layouts_are_answered_as_in_c() {
    let config = ProptestConfig {
        cases: 100_000,
        rng_seed: RngSeed::Fixed(0x7e_90_4e),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut memory = vec![0_u32; 4_096];
    let memory = std::cell::RefCell::new(&mut memory);
    let accepted = std::cell::Cell::new((0, 0));
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let outcome = runner.run(&layout(), |Layout { offset, shape, strides, len }| {
        let memory = &mut memory.borrow_mut()[..len];
        let rust = answer(TensorView::from_slice_strided(memory, offset, &*shape, &strides));
        let rust_mut = answer(TensorViewMut::from_slice_strided(memory, offset, &*shape, &strides));
        let (all, exclusive) = accepted.get();
        accepted.set((
            all + usize::from(rust == Answer::Accepted),
            exclusive + usize::from(rust_mut == Answer::Accepted),
        ));
        prop_assert_eq!((rust, rust_mut), answers_of_c(memory, offset, &shape, &strides));
        Ok(())
    });
    outcome.unwrap();
    // Neither side may dominate, or the comparison says little.
    let (all, exclusive) = accepted.get();
    assert!((20_000..90_000).contains(&all), "{all} accepted for reading");
    assert!((10_000..all).contains(&exclusive), "{exclusive} accepted for writing");
}

#[test]
fn dense_shapes_have_the_strides_of_their_order() {
    let data = [0; 24];
    let rows = TensorView::from_slice(&data, [2, 3, 4]).unwrap();
    assert_eq!(rows.strides(), [12, 4, 1]);
    let columns = TensorView::from_slice_in(&data, [2, 3, 4], Order::ColumnMajor).unwrap();
    assert_eq!(columns.strides(), [1, 2, 6]);
    assert!(rows.is_row_major() && !columns.is_row_major() && columns.t().is_row_major());
}

#[test]
fn axes_of_extent_one_do_not_decide_whether_memory_is_row_major() {
    let data = [1, 2, 3, 4, 5, 6];
    let view = TensorView::from_slice_strided(&data, 0, [1, 2, 1, 3], &[-9, 3, 0, 1]).unwrap();
    assert!(view.is_row_major());
    assert_eq!(view.as_slice(), Some(&data[..]));
    assert_eq!(view.reshape([3, 2]).unwrap().strides(), [2, 1]);
    // Nor do strides where there is nothing to reach.
    let none = TensorView::from_slice_strided(&data, 0, [2, 0, 3], &[7, 7, 7]).unwrap();
    assert!(none.is_row_major() && none.reshape([0]).is_ok());
    // One element in two places is not adjacent to itself.
    let twice = TensorView::from_slice_strided(&data, 0, [2, 3], &[0, 1]).unwrap();
    assert!(!twice.is_row_major() && twice.as_slice().is_none());
}

#[test]
fn messages_name_the_value_and_the_bound() {
    let data = [0_u8; 6];
    let message =
        |result: tenure::Result<TensorView<u8>>| result.err().unwrap().message().to_owned();
    assert_eq!(
        message(TensorView::from_slice(&data, [2, 4])),
        "shape [2, 4] has 8 elements but the memory has 6"
    );
    assert_eq!(
        message(TensorView::from_slice(&data, [1; 9])),
        "rank is 9 but at most 8 axes are supported"
    );
    assert_eq!(
        message(TensorView::from_slice(&data, [usize::MAX, 2])),
        format!(
            "shape [{}, 2] of u8 needs more than {} bytes, the most that memory can have",
            usize::MAX,
            isize::MAX
        )
    );
    assert_eq!(
        message(TensorView::from_slice_strided(&data, 7, [1], &[1])),
        "offset is 7 but the memory has 6 elements"
    );
    assert_eq!(
        message(TensorView::from_slice_strided(&data, 0, [2, 3], &[1])),
        "there are 1 strides but shape [2, 3] has 2 axes"
    );
    assert_eq!(
        message(TensorView::from_slice_strided(&data, 1, [3], &[-1])),
        "shape [3] with strides [-1] reaches bytes -1 to 2 but the memory has bytes 0 to 6"
    );
    assert_eq!(
        message(TensorView::from_slice_strided(&data, 0, [3], &[isize::MAX])),
        format!("shape [3] with strides [{}] spans more than {} elements", isize::MAX, i64::MAX)
    );
}

#[test]
fn extents_and_strides_that_overflow_are_errors() {
    let data = [0_u8; 6];
    let huge = usize::MAX;
    let half = isize::MAX as usize;
    for shape in [[huge, huge], [half, 3], [1 << 32, 1 << 32], [huge, 1], [0, huge]] {
        assert!(TensorView::from_slice(&data, shape).is_err(), "{shape:?}");
        assert!(TensorView::from_slice_strided(&data, 0, shape, &[0, 0]).is_err(), "{shape:?}");
        assert!(tenure::Tensor::<f64>::zeros(shape).is_err(), "{shape:?}");
    }
    for stride in [isize::MIN, isize::MAX, isize::MIN + 1] {
        assert!(TensorView::from_slice_strided(&data, 0, [2], &[stride]).is_err(), "{stride}");
        // On an axis of extent 1 a stride means nothing.
        assert!(TensorView::from_slice_strided(&data, 0, [1], &[stride]).is_ok(), "{stride}");
        assert!(TensorView::from_slice_strided(&data, 0, [0, 9], &[stride, 3]).is_ok(), "{stride}");
    }
    assert!(TensorView::from_slice_strided(&data, huge, [0], &[1]).is_err());
}

#[test]
fn empty_shapes_are_shapes() {
    let none: [f32; 0] = [];
    for shape in [[0, 3], [3, 0], [0, 0], [0, isize::MAX as usize], [isize::MAX as usize, 0]] {
        let view = TensorView::from_slice(&none, shape).unwrap();
        assert_eq!((view.len(), view.shape()), (0, &shape[..]));
        assert!(view.is_empty() && view.is_row_major() && view.t().is_row_major());
        assert_eq!(view.as_slice(), Some(&none[..]));
        assert_eq!(view.iter().count(), 0);
        assert_eq!(view.t().flatten().unwrap().shape(), [0]);
    }
}

#[test]
fn dtypes_describe_their_types() {
    fn row<T: Element>(dtype: DType, name: &str) {
        assert_eq!((T::DTYPE, dtype.name(), dtype.size_bytes()), (dtype, name, size_of::<T>()));
        assert!(align_of::<T>() >= dtype.alignment_bytes());
        assert_eq!(raw_dtype::<T>().0, u32::from_le_bytes(raw_bytes(dtype)));
        // SAFETY: takes a number and gives static text.
        let c_name = unsafe { std::ffi::CStr::from_ptr(sys::tnr_dtype_name(raw_dtype::<T>())) };
        assert_eq!(c_name.to_str(), Ok(name));
    }
    fn raw_bytes(dtype: DType) -> [u8; 4] {
        let (code, bits, lanes) = dtype.to_dlpack();
        let [low, high] = lanes.to_le_bytes();
        [code, bits, low, high]
    }
    row::<f64>(DType::F64, "f64");
    row::<f32>(DType::F32, "f32");
    row::<tenure::f16>(DType::F16, "f16");
    row::<tenure::bf16>(DType::BF16, "bf16");
    row::<i8>(DType::I8, "i8");
    row::<i16>(DType::I16, "i16");
    row::<i32>(DType::I32, "i32");
    row::<i64>(DType::I64, "i64");
    row::<u8>(DType::U8, "u8");
    row::<u16>(DType::U16, "u16");
    row::<u32>(DType::U32, "u32");
    row::<u64>(DType::U64, "u64");
    row::<tenure::Bool8>(DType::BOOL8, "bool8");
    row::<tenure::Complex<f32>>(DType::C64, "c64");
    row::<tenure::Complex<f64>>(DType::C128, "c128");
    assert_eq!(DType::from_dlpack(2, 8, 1).name(), "unknown");
    assert_eq!(DType::from_dlpack(0, 4, 1).size_bytes(), 0);
    assert_eq!(DType::from_dlpack(0, 24, 1).alignment_bytes(), 1);
}
