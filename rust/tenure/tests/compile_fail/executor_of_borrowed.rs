//@ error: E0597
//! An executor outlives the function that made it, in calls and in its drop: it borrows nothing.
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use tenure::{Context, Task};

fn main() {
    let (sender, _tasks) = channel::<Task>();
    let sender = Mutex::new(sender);
    #[cfg(bad)]
    let sender: &Mutex<Sender<Task>> = &sender;
    let spawn = move |task: Task| sender.lock().unwrap().send(task).unwrap();
    Context::with_executor(spawn, 2).unwrap();
}
