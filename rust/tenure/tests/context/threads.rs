//! Values that may cross threads, and their behaviour when they do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use tenure::{
    DynTensor, DynView, DynViewMut, Element, Error, Rejected, SharedTensor, Tensor, TensorView,
    TensorViewMut,
};

/// Races are tried this often; Miri takes its time for each.
const ROUNDS: i32 = if cfg!(miri) { 4 } else { 200 };

fn send<T: Send>() {}
fn sync<T: Sync>() {}

/// For a `T` with only the known requirements of the corresponding standard type. Requirements of
/// owners are shown by `compile_fail/{from_owner_rc,from_owner_mut_with_rc}.rs`.
#[test]
fn auto_traits_follow_the_element() {
    fn shared_view_needs_sync<T: Element + Sync>() {
        send::<TensorView<T>>();
        sync::<TensorView<T>>();
    }
    fn exclusive_view_and_tensor_need_send_to_move<T: Element + Send>() {
        send::<TensorViewMut<T>>();
        send::<Tensor<T>>();
    }
    fn and_sync_to_be_shared<T: Element + Sync>() {
        sync::<TensorViewMut<T>>();
        sync::<Tensor<T>>();
    }
    fn shared_tensor_needs_both<T: Element + Send + Sync>() {
        send::<SharedTensor<T>>();
        sync::<SharedTensor<T>>();
    }
    shared_view_needs_sync::<f32>();
    exclusive_view_and_tensor_need_send_to_move::<f32>();
    and_sync_to_be_shared::<f32>();
    shared_tensor_needs_both::<f32>();
    // Every element is plain data, so nothing needs to be known of a dtype.
    send::<(DynTensor, DynView, DynViewMut)>();
    sync::<(DynTensor, DynView, DynViewMut)>();
    send::<(Error, Rejected<Vec<f32>>)>();
    sync::<(Error, Rejected<Vec<f32>>)>();
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn one_arc_is_read_by_many_threads() {
    let data: Arc<[i64]> = (0..1000).collect();
    let shared = SharedTensor::from_arc(data.clone(), [10, 100]).unwrap();
    let readers: Vec<_> = (0..4)
        .map(|axis| {
            let shared = shared.clone();
            thread::spawn(move || tenure::ops::sum(&shared, [0, 1]).unwrap().item().unwrap() + axis)
        })
        .collect();
    let sums: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
    assert_eq!(sums, [499_500, 499_501, 499_502, 499_503]);
    drop(shared);
    assert_eq!(Arc::strong_count(&data), 1);
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn views_go_to_scoped_threads() {
    let data: Vec<i64> = (0..600).collect();
    let view = TensorView::from_slice(&data, [20, 30]).unwrap();
    let total: i64 = thread::scope(|scope| {
        let parts: Vec<_> = view
            .split_into(0, 3)
            .unwrap()
            .map(|part| {
                scope.spawn(move || tenure::ops::sum(part.t(), ..).unwrap().item().unwrap())
            })
            .collect();
        parts.into_iter().map(|part| part.join().unwrap()).sum()
    });
    assert_eq!(total, (0..600).sum());
}

/// The columns of a row-major matrix interleave in memory: the halves lie in the same cache lines
/// and share no element. Each thread writes through the core again and again.
#[test]
fn halves_that_interleave_are_written_by_two_threads() {
    const ROWS: usize = 64;
    let mut data = vec![0_i32; ROWS * 6];
    let view = TensorViewMut::from_slice(&mut data, [ROWS, 6]).unwrap();
    let (mut left, mut right) = view.split_at(1, 3).unwrap();
    let both = Barrier::new(2);
    thread::scope(|scope| {
        for (half, step) in [(&mut left, 1), (&mut right, 3)] {
            let both = &both;
            scope.spawn(move || {
                both.wait();
                for _ in 0..ROUNDS {
                    // Miri sees no C++; the other rounds go through the core.
                    if cfg!(miri) {
                        half.iter_mut().for_each(|value| *value += step);
                    } else {
                        tenure::ops::add_assign(half, step).unwrap();
                    }
                }
                half.rows_mut().for_each(|mut row| row[[0]] += step);
            });
        }
    });
    for row in data.chunks(6) {
        let left = ROUNDS;
        assert_eq!(row, [left + 1, left, left, 3 * (left + 1), 3 * left, 3 * left]);
    }
}

/// An owner that notes on which thread it was dropped.
struct Owner {
    data: Vec<f32>,
    dropped: Arc<std::sync::Mutex<Vec<thread::ThreadId>>>,
}

impl AsRef<[f32]> for Owner {
    fn as_ref(&self) -> &[f32] {
        &self.data
    }
}

impl AsMut<[f32]> for Owner {
    fn as_mut(&mut self) -> &mut [f32] {
        &mut self.data
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.dropped.lock().unwrap().push(thread::current().id());
    }
}

#[test]
fn owners_are_dropped_once_on_whatever_thread_lets_go_last() {
    let dropped = Arc::new(std::sync::Mutex::new(Vec::new()));
    let owner = || Owner { data: vec![1.0; 8], dropped: dropped.clone() };
    let shared = SharedTensor::<f32>::from_owner(owner(), [8]).unwrap();
    let clone = shared.clone();
    drop(shared);
    assert!(dropped.lock().unwrap().is_empty(), "a clone still holds it");
    let other = thread::spawn(move || {
        drop(clone);
        thread::current().id()
    });
    let expected = other.join().unwrap();
    assert_eq!(*dropped.lock().unwrap(), [expected]);

    let mut tensor = Tensor::<f32>::from_owner_mut(owner(), [2, 4]).unwrap();
    let other = thread::spawn(move || {
        tensor.view_mut().fill(2.0);
        drop(tensor);
        thread::current().id()
    });
    let second = other.join().unwrap();
    assert_eq!(*dropped.lock().unwrap(), [expected, second]);
}

/// Many holders ask for the Vec at once: at most one gets it; the others get their holder back, and
/// once those are gone but one, that one gets the Vec.
#[test]
fn only_the_last_holder_gets_the_vec_back() {
    const HOLDERS: usize = 4;
    for round in 0..ROUNDS {
        let data = vec![round; 16];
        let address = data.as_ptr() as usize;
        let first = Tensor::from_vec(data, [4, 4]).unwrap().into_shared();
        let holders: Vec<_> = (1..HOLDERS).map(|_| first.clone()).chain([first.clone()]).collect();
        drop(first);
        let start = Barrier::new(HOLDERS);
        let won = AtomicUsize::new(0);
        let rest: Vec<_> = thread::scope(|scope| {
            let asking: Vec<_> = holders
                .into_iter()
                .map(|holder| {
                    let (start, won) = (&start, &won);
                    scope.spawn(move || {
                        start.wait();
                        match holder.into_vec() {
                            Ok(data) => {
                                assert_eq!(data.as_ptr() as usize, address);
                                won.fetch_add(1, Ordering::Relaxed);
                                None
                            }
                            Err(holder) => {
                                assert_eq!(holder.view().get([3, 3]), Some(&round));
                                Some(holder)
                            }
                        }
                    })
                })
                .collect();
            asking.into_iter().filter_map(|asked| asked.join().unwrap()).collect()
        });
        // A refused holder still counts, so no thread can have won while one is left.
        assert_eq!((rest.len(), won.into_inner()), (HOLDERS, 0), "round {round}");
        let last = rest.into_iter().reduce(|_, last| last).unwrap();
        let data = last.into_vec().unwrap();
        assert_eq!(data.as_ptr() as usize, address);
    }
}

/// Holders that ask and let go in turn: exactly one gets the Vec.
#[test]
fn racing_holders_that_let_go_leave_the_vec_to_one_at_most() {
    const HOLDERS: usize = 4;
    for _ in 0..ROUNDS {
        let first = Tensor::from_vec(vec![7_u8; 64], [64]).unwrap().into_shared();
        let holders: Vec<_> = (0..HOLDERS).map(|_| first.clone()).collect();
        drop(first);
        let start = Barrier::new(HOLDERS);
        let won = AtomicUsize::new(0);
        thread::scope(|scope| {
            for holder in holders {
                scope.spawn(|| {
                    start.wait();
                    // The loser's holder is dropped here.
                    if let Ok(data) = holder.into_vec() {
                        assert_eq!(data, [7; 64]);
                        won.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert!(won.into_inner() <= 1);
    }
}

/// The last error belongs to the thread that failed.
#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn errors_do_not_cross_threads() {
    let start = Barrier::new(2);
    thread::scope(|scope| {
        for extent in [3_usize, 4] {
            let start = &start;
            scope.spawn(move || {
                let a = vec![0.0_f32; extent];
                let mut out = vec![0.0_f32; 5];
                start.wait();
                for _ in 0..500 {
                    let error = tenure::ops::copy_into(&a, &mut out).unwrap_err();
                    let says = error.message();
                    assert!(says.contains(&extent.to_string()), "{says}");
                }
            });
        }
    });
}
