//@ error: E0382
//! A task is the wish for one thread, and is granted once.
use tenure::{Context, Task};

fn main() {
    let spawn = |task: Task| {
        #[cfg(bad)]
        task.run();
        task.run();
    };
    Context::with_executor(spawn, 2).unwrap();
}
