//@ error: E0277
//@ says: `Rc<AtomicUsize>` cannot be sent between threads safely
//! Any thread may call an operation, and so the executor.
#[cfg(bad)]
use std::rc::Rc as Counter;
#[cfg(not(bad))]
use std::sync::Arc as Counter;
use std::sync::atomic::{AtomicUsize, Ordering};
use tenure::{Context, Task};

fn main() {
    let count = Counter::new(AtomicUsize::new(0));
    let spawn = move |task: Task| {
        count.fetch_add(1, Ordering::Relaxed);
        task.run();
    };
    Context::with_executor(spawn, 2).unwrap();
}
