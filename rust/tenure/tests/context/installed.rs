//! Contexts: which one is in force where. Neither its threads nor the executor that provides them
//! can change a result.

use std::alloc::{Layout, alloc, dealloc};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Mutex, OnceLock};
use std::thread;

use tenure::{Allocator, Context, ErrorKind, Executor, Result, SharedTensor, Task, Tensor};

/// Elements of f32 for which the library asks for other threads; Miri's stand-in asks for any.
const LARGE: usize = if cfg!(miri) { 64 } else { 1 << 19 };

// ---- which threads, how many ----

#[test]
fn handles_cross_threads() {
    fn everything<T: Send + Sync + 'static>() {}
    everything::<Context>();
    everything::<tenure::ContextBuilder>();
    everything::<Task>();
}

#[test]
#[cfg_attr(miri, ignore = "the stand-in has no messages")]
fn absurd_counts_are_refused_with_the_value_and_the_bound() {
    for count in [0, 1025, 1 << 20, u32::MAX as usize, 1 << 32, usize::MAX] {
        let error = Context::with_threads(count).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.message().contains(&count.to_string()), "{error}");
        assert!(error.message().contains("1024"), "{error}");
    }
    assert_eq!(Context::with_threads(1).unwrap().thread_count(), 1);
    assert_eq!(Context::with_threads(5).unwrap().clone().thread_count(), 5);
}

#[test]
fn the_default_context_is_always_there() {
    let context = Context::default();
    assert_eq!(context.thread_count(), 1);
    assert_eq!(context.install(|| Tensor::<u8>::zeros(3)).unwrap().to_vec(), [0; 3]);
}

// ---- one result ----

/// A shape that no slice divides, with NaN and both zeros in it.
fn awkward() -> Tensor<f32> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        match state >> 24 {
            0 if state & 0xfff == 0 => f32::NAN,
            1 => -0.0,
            2 => 0.0,
            _ => (state >> 8) as f32 / (1 << 20) as f32 - 8.0,
        }
    };
    Tensor::from_vec((0..1031 * 521).map(|_| next()).collect(), [1031, 521]).unwrap()
}

/// Bits, since NaN is not equal to itself.
fn bits(tensor: Tensor<f32>) -> Vec<u32> {
    tensor.to_vec().into_iter().map(f32::to_bits).collect()
}

/// One of each way to work: along and across the memory, to one value and to many, by element and
/// by block, and with every size of element.
fn selection(a: &Tensor<f32>) -> Result<Vec<Vec<u32>>> {
    let flipped = a.view().flip(0)?.flip(1)?;
    let mut transposed = Tensor::<f32>::zeros([521, 1031])?;
    tenure::ops::copy_into(a.view().t(), &mut transposed)?;
    let less = tenure::ops::lt(a, flipped)?;
    let narrow: Tensor<tenure::bf16> = tenure::ops::cast(a)?;
    let wide: Tensor<i64> = tenure::ops::cast(a)?;
    Ok(vec![
        bits(tenure::ops::add(a, flipped)?),
        bits(tenure::ops::div(transposed.view().t(), a.view().index(1, 3)?.reshape([1031, 1])?)?),
        bits(tenure::ops::exp(a)?),
        bits(tenure::ops::select(&less, flipped, a)?),
        bits(tenure::ops::cast(&narrow)?),
        bits(tenure::ops::sum(a.view().slice(0, 1..)?, ..)?),
        bits(tenure::ops::sum(a, 0)?),
        bits(tenure::ops::mean(&transposed, 1)?),
        bits(tenure::ops::var(flipped, 0, 1)?),
        bits(tenure::ops::max(a, 1)?),
        bits(tenure::ops::cast(tenure::ops::sum(&narrow, ..)?)?),
        bits(tenure::ops::cast(tenure::ops::prod(&wide, 0)?)?),
        bits(tenure::ops::cast(tenure::ops::argmin(a, ..)?)?),
        bits(tenure::ops::cast(tenure::ops::count(&less, 1)?)?),
        bits(transposed),
    ])
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn results_have_the_same_bits_for_any_number_of_threads() {
    let a = awkward();
    let alone = selection(&a).unwrap();
    for count in 1..=4 {
        let context = Context::with_threads(count).unwrap();
        for round in 0..2 {
            let together = context.install(|| selection(&a)).unwrap();
            for (operation, (alone, together)) in alone.iter().zip(&together).enumerate() {
                assert!(alone == together, "operation {operation}, {count} threads, {round}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn an_error_found_on_the_data_is_found_by_whoever_gets_there() {
    let context = Context::with_threads(3).unwrap();
    let ones = vec![1_i32; LARGE];
    for place in [0, LARGE / 2, LARGE - 1] {
        let mut divisors = ones.clone();
        divisors[place] = 0;
        let error = context.install(|| tenure::ops::div(&ones, &divisors)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
    assert!(context.install(|| tenure::ops::div(&ones, &ones)).unwrap().to_vec() == ones);
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn threads_use_one_context_and_several_at_a_time() {
    let contexts = [2, 2, 3].map(|count| Context::with_threads(count).unwrap());
    let data: Vec<i64> = (0..LARGE as i64).collect();
    let (data, total) = (&data, data.iter().sum::<i64>());
    let start = &Barrier::new(6);
    thread::scope(|scope| {
        for user in 0..6 {
            let context = contexts[user / 2].clone();
            scope.spawn(move || {
                start.wait();
                for _ in 0..20 {
                    let sum = context.install(|| tenure::ops::sum(data, ..)).unwrap();
                    assert_eq!(sum.item(), Some(total));
                }
            });
        }
    });
}

// ---- which context is in force ----

/// Counts allocations and deallocations, and can refuse further allocations.
#[derive(Default)]
struct Counts {
    given: AtomicUsize,
    returned: AtomicUsize,
    bytes: AtomicUsize,
    refuses: AtomicUsize,
}

impl Counts {
    fn given(&self) -> usize {
        self.given.load(Relaxed)
    }

    fn all_came_back(&self) -> bool {
        self.given() == self.returned.load(Relaxed) && self.bytes.load(Relaxed) == 0
    }
}

struct Counted(Arc<Counts>);

// SAFETY: the memory is the global allocator's, and the library requests at least one byte of it.
unsafe impl Allocator for Counted {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        assert!(layout.size() > 0);
        match self.0.refuses.load(Relaxed) {
            0 => {}
            1 => return None,
            _ => panic!("an allocator that panics"),
        }
        self.0.given.fetch_add(1, Relaxed);
        self.0.bytes.fetch_add(layout.size(), Relaxed);
        // SAFETY: the layout is of one byte at least.
        NonNull::new(unsafe { alloc(layout) })
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        self.0.returned.fetch_add(1, Relaxed);
        self.0.bytes.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `allocate` gave it, with this layout.
        unsafe { dealloc(memory.as_ptr(), layout) }
    }
}

/// A context that tells when it is in force: its allocator counts.
fn marked() -> (Context, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    (Context::with_allocator(Counted(Arc::clone(&counts))).unwrap(), counts)
}

/// Makes a tensor, and says in which of the contexts.
fn place(contexts: &[&Counts]) -> Option<usize> {
    let before: Vec<_> = contexts.iter().map(|counts| counts.given()).collect();
    Tensor::<u8>::zeros(100).unwrap();
    (0..contexts.len()).find(|&index| contexts[index].given() > before[index])
}

#[test]
fn the_innermost_context_is_in_force_and_no_longer() {
    let ((outer, a), (inner, b)) = (marked(), marked());
    let place = || place(&[&a, &b]);
    assert_eq!(place(), None);
    let result = outer.install(|| {
        assert_eq!(place(), Some(0));
        inner.install(|| {
            assert_eq!(place(), Some(1));
            Context::default().install(|| assert_eq!(place(), None));
            outer.install(|| assert_eq!(place(), Some(0)));
            assert_eq!(place(), Some(1));
        });
        assert_eq!(place(), Some(0));
        "what it returns"
    });
    assert_eq!((result, place()), ("what it returns", None));
}

#[test]
fn a_panic_inside_restores_the_context() {
    let ((outer, a), (inner, b)) = (marked(), marked());
    let place = || place(&[&a, &b]);
    outer.install(|| {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            inner.install(|| {
                assert_eq!(place(), Some(1));
                panic!("in the middle");
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(place(), Some(0));
    });
    assert_eq!(place(), None);
}

#[test]
fn other_threads_have_their_own() {
    let (context, counts) = marked();
    context.install(|| {
        thread::scope(|scope| {
            let idle = scope.spawn(|| place(&[&counts]));
            assert_eq!(idle.join().unwrap(), None);
            let busy = scope.spawn(|| context.install(|| place(&[&counts])));
            assert_eq!(busy.join().unwrap(), Some(0));
        });
    });
}

/// A destructor that runs when a thread ends, after its other thread-locals may have gone.
#[test]
fn the_end_of_a_thread_may_compute() {
    struct Late(Context, Arc<Counts>, Arc<AtomicUsize>);
    impl Drop for Late {
        fn drop(&mut self) {
            assert_eq!(place(&[&self.1]), None);
            assert_eq!(self.0.install(|| place(&[&self.1])), Some(0));
            self.2.fetch_add(1, Relaxed);
        }
    }
    thread_local!(static LATE: OnceLock<Late> = const { OnceLock::new() });
    let (context, counts) = marked();
    let ran = Arc::new(AtomicUsize::new(0));
    let late = Late(context, counts, Arc::clone(&ran));
    thread::spawn(|| LATE.with(|slot| assert!(slot.set(late).is_ok()))).join().unwrap();
    assert_eq!(ran.load(Relaxed), 1);
}

// ---- memory that is not the library's ----

#[test]
fn all_memory_comes_from_the_allocator_and_goes_back() {
    let (context, counts) = marked();
    let (zeros, copy) = context.install(|| {
        let zeros = Tensor::<f64>::zeros([30, 40]).unwrap();
        let mut copy = Tensor::copy_from_slice(&[1_u8; 100], 100).unwrap();
        let made = counts.given();
        assert_eq!(made, 2);
        assert!(counts.bytes.load(Relaxed) >= 9700);
        // Neither lending nor adopting nor working in place allocates.
        tenure::ops::fill(&mut copy, 3).unwrap();
        drop(Tensor::from_vec(vec![1.0], 1).unwrap());
        assert_eq!(counts.given(), made);
        (zeros, copy)
    });
    let clone = zeros.try_clone().unwrap();
    assert_eq!(counts.given(), 2, "a copy made outside is outside");
    drop(zeros);
    assert_eq!(counts.returned.load(Relaxed), 1);
    // The context has ended, its allocator has not: a tensor outlives the one and keeps the other.
    drop(context);
    assert_eq!(copy.to_vec(), [3; 100]);
    let shared = copy.into_shared();
    let other = shared.clone();
    thread::spawn(move || drop(shared)).join().unwrap();
    assert!(!counts.all_came_back());
    thread::spawn(move || drop(other)).join().unwrap();
    assert!(counts.all_came_back());
    assert_eq!(Arc::strong_count(&counts), 1, "the allocator has been dropped");
    assert_eq!(clone.to_vec(), [0.0; 1200]);
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn results_of_operations_come_from_the_allocator() {
    let (context, counts) = marked();
    let total = context.install(|| -> Result<_> {
        let twice = tenure::ops::add(vec![1.0_f32; LARGE], vec![1.0_f32; LARGE])?;
        assert!(counts.bytes.load(Relaxed) >= 4 * LARGE);
        let columns: SharedTensor<f32> = tenure::ops::cast::<f32, _>(&twice)?.into_shared();
        tenure::ops::sum(&columns, ..)
    });
    assert_eq!(total.unwrap().item(), Some(2.0 * LARGE as f32));
    assert!(counts.given() >= 3);
    drop(context);
    assert!(counts.all_came_back());
}

#[test]
fn an_allocator_that_refuses_or_panics_fails_the_call_and_nothing_else() {
    let (context, counts) = marked();
    context.install(|| {
        for refusal in [1, 2] {
            counts.refuses.store(refusal, Relaxed);
            let error = Tensor::<f32>::zeros(10).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
            let error = Tensor::copy_from_slice(&[1, 2], 2).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
            counts.refuses.store(0, Relaxed);
            assert_eq!(Tensor::copy_from_slice(&[1, 2], 2).unwrap().to_vec(), [1, 2]);
        }
    });
    assert!(counts.all_came_back());
}

/// Keeps its books in tensors.
struct Circular(Mutex<Vec<Tensor<u8>>>);

// SAFETY: as `Counted`.
unsafe impl Allocator for Circular {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.0.lock().unwrap().push(Tensor::full(10, 1).unwrap());
        // SAFETY: the library asks for one byte at least.
        NonNull::new(unsafe { alloc(layout) })
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        self.0.lock().unwrap().pop();
        // SAFETY: `allocate` gave it, with this layout.
        unsafe { dealloc(memory.as_ptr(), layout) }
    }
}

#[test]
fn an_allocator_that_allocates_does_not_ask_itself() {
    let context = Context::with_allocator(Circular(Mutex::default())).unwrap();
    let tensor = context.install(|| Tensor::full(10, 7).unwrap());
    assert_eq!(tensor.to_vec(), [7; 10]);
}

// ---- threads that are not the library's ----

/// Fills large memory in the context several times; the executor may run the tasks in any way.
fn fills_as_it_should(context: &Context) {
    let mut data = vec![0_i32; LARGE];
    for value in 1..=5 {
        context.install(|| tenure::ops::fill(&mut data, value)).unwrap();
        assert!(data.iter().all(|&element| element == value));
    }
}

#[test]
fn small_work_asks_nobody_and_large_work_no_more_than_agreed() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let spawn = move |task: Task| {
        count.fetch_add(1, Relaxed);
        thread::spawn(|| task.run());
    };
    let context = Context::with_executor(spawn, 3).unwrap();
    assert_eq!(context.thread_count(), 3);
    if !cfg!(miri) {
        context.install(|| tenure::ops::fill(&mut [0; 100], 1)).unwrap();
        assert_eq!(asked.load(Relaxed), 0);
    }
    fills_as_it_should(&context);
    assert!((5..=10).contains(&asked.load(Relaxed)), "{asked:?}");
}

#[test]
fn an_executor_may_drop_tasks_run_them_here_or_panic() {
    fills_as_it_should(&Context::with_executor(|_: Task| (), 4).unwrap());
    fills_as_it_should(&Context::with_executor(|task: Task| task.run(), 4).unwrap());
    let panics = |_: Task| panic!("an executor that panics");
    fills_as_it_should(&Context::with_executor(panics, 2).unwrap());
    let runs_and_panics = |task: Task| {
        task.run();
        std::panic::panic_any(Bomb);
    };
    fills_as_it_should(&Context::with_executor(runs_and_panics, 2).unwrap());
}

/// A payload whose destructor panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !thread::panicking() {
            std::panic::panic_any(Bomb);
        }
    }
}

/// Keeps its tasks for later.
#[derive(Clone, Default)]
struct Keeps(Arc<Mutex<Vec<Task>>>);

impl Executor for Keeps {
    fn spawn(&self, task: Task) {
        self.0.lock().unwrap().push(task);
    }
}

impl Keeps {
    fn run_all(&self) -> usize {
        let tasks = std::mem::take(&mut *self.0.lock().unwrap());
        tasks.into_iter().map(Task::run).count()
    }
}

#[test]
fn tasks_that_come_after_their_call_or_their_context_do_nothing() {
    let keeps = Keeps::default();
    let context = Context::with_executor(keeps.clone(), 3).unwrap();
    fills_as_it_should(&context);
    assert!(keeps.run_all() >= 5);
    fills_as_it_should(&context);
    drop(context);
    assert_eq!(Arc::strong_count(&keeps.0), 1, "the context has ended, whatever is kept");
    // The number may be another call's by now: of a context in the same place.
    let next = Context::with_executor(|_: Task| (), 3).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| fills_as_it_should(&next));
        scope.spawn(|| assert!(keeps.run_all() >= 5));
    });
}

#[test]
fn tasks_that_come_while_other_calls_run_help_nobody_wrongly() {
    let keeps = Keeps::default();
    let context = Context::with_executor(keeps.clone(), 3).unwrap();
    let done = &AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                fills_as_it_should(&context);
                done.fetch_add(1, Relaxed);
            });
        }
        scope.spawn(|| {
            while done.load(Relaxed) < 2 {
                keeps.run_all();
                thread::yield_now();
            }
        });
    });
}

/// Computes before it gives a thread.
#[test]
fn an_executor_that_computes_does_not_ask_itself() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let spawn = move |task: Task| {
        count.fetch_add(1, Relaxed);
        let mut own = vec![0_u8; 4 * LARGE];
        tenure::ops::fill(&mut own, 1).unwrap();
        task.run();
    };
    fills_as_it_should(&Context::with_executor(spawn, 2).unwrap());
    assert_eq!(asked.load(Relaxed), 5);
}

/// Uses the very context that it serves, from inside it.
#[test]
fn an_executor_that_uses_its_own_context_gets_through() {
    let own: Arc<Mutex<Option<Context>>> = Arc::default();
    let (given, depth) = (Arc::clone(&own), AtomicUsize::new(0));
    let spawn = move |task: Task| {
        let context = given.lock().unwrap().clone();
        if depth.fetch_add(1, Relaxed) < 3 {
            fills_as_it_should(&context.unwrap());
        }
        task.run();
    };
    let context = Context::with_executor(spawn, 2).unwrap();
    *own.lock().unwrap() = Some(context.clone());
    fills_as_it_should(&context);
    // The executor held what held the executor.
    drop(own.lock().unwrap().take());
    drop(context);
    assert_eq!(Arc::strong_count(&own), 1);
}

#[test]
fn hooks_are_dropped_once_when_the_context_ends_or_is_refused() {
    struct Tracked(Arc<AtomicUsize>);
    impl Executor for Tracked {
        fn spawn(&self, _: Task) {}
    }
    impl Drop for Tracked {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
            panic!("a destructor that panics");
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let context = Context::with_executor(Tracked(Arc::clone(&drops)), 2).unwrap();
    let clone = context.clone();
    drop(context);
    assert_eq!(drops.load(Relaxed), 0);
    drop(clone);
    assert_eq!(drops.load(Relaxed), 1);

    let keeps = Keeps::default();
    Context::with_executor(keeps.clone(), 0).unwrap_err();
    assert_eq!(Arc::strong_count(&keeps.0), 1);
}

#[test]
fn a_forgotten_context_keeps_its_hooks_for_good() {
    let (context, counts) = marked();
    // Forgotten, except that the end of this test drops it.
    let forgotten = std::mem::ManuallyDrop::new(context.clone());
    let tensor = context.install(|| Tensor::full(10, 1_u8)).unwrap();
    drop(context);
    drop(tensor);
    assert!(counts.all_came_back());
    assert_eq!(Arc::strong_count(&counts), 2, "never dropped before its context");
    drop(std::mem::ManuallyDrop::into_inner(forgotten));
    assert_eq!(Arc::strong_count(&counts), 1);
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn calls_from_the_executors_own_threads_do_not_wait_for_themselves() {
    let (sender, tasks) = std::sync::mpsc::channel::<Box<dyn FnOnce() + Send>>();
    // One thread: a call that waits on it for a task to run would wait forever.
    let worker = thread::spawn(move || tasks.into_iter().for_each(|task| task()));
    let jobs = Mutex::new(sender.clone());
    let spawn = move |task: Task| jobs.lock().unwrap().send(Box::new(|| task.run())).unwrap();
    let context = Context::with_executor(spawn, 2).unwrap();
    let (answer, answers) = std::sync::mpsc::channel();
    let job = move || {
        fills_as_it_should(&context);
        drop(context);
        answer.send(()).unwrap();
    };
    sender.send(Box::new(job)).unwrap();
    answers.recv().unwrap();
    drop(sender);
    worker.join().unwrap();
}

#[cfg(feature = "rayon")]
mod rayon {
    use rayon_core::ThreadPoolBuilder;
    use tenure::RayonExecutor;

    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "calls the core")]
    fn rayons_threads_work_inside_and_outside_of_a_pool() {
        let context = Context::with_rayon(2).unwrap();
        fills_as_it_should(&context);
        for threads in [1, 2] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fills_as_it_should(&context));
            // On every worker at once, and from within a join.
            pool.broadcast(|_| fills_as_it_should(&context));
            pool.join(|| fills_as_it_should(&context), || fills_as_it_should(&context));
        }
        Context::with_rayon(0).unwrap_err();
    }

    #[test]
    #[cfg_attr(miri, ignore = "calls the core")]
    fn a_pool_of_ones_own_is_an_executor() {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let spawn = move |task: Task| pool.spawn(|| task.run());
        fills_as_it_should(&Context::with_executor(spawn, 3).unwrap());
        let named = Context::builder().threads(2).executor(RayonExecutor).build().unwrap();
        fills_as_it_should(&named);
    }
}
