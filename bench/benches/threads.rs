//! Two threads: the large operations, a job that is hardly worth sharing, and one that finds the
//! second thread asleep.

use std::cell::RefCell;
use std::time::Duration;

use bench::Scale;
use bench::operations::{ELEMENTWISE, LARGE, Operation};
use bench::roofs::{self, kernels::Arrays};
use bench::subject::Subject;
use tenure::Context;

const THREADS: usize = 2;

/// How long the second thread has had nothing to do.
const IDLE: Duration = Duration::from_millis(3);

fn main() {
    let mut subject = Subject::open("threads");
    let context = Context::with_threads(THREADS).expect("a thread can be had");
    let sizes: &[usize] = match subject.scale() {
        Scale::Smoke => &[64 << 10],
        Scale::Quick => &[64 << 20],
        Scale::Full => &[1 << 20, 16 << 20, 64 << 20, 1 << 30],
    };
    for bytes in sizes.iter().copied() {
        let Some(arrays) = Arrays::if_they_fit(bytes) else { continue };
        let arrays = RefCell::new(arrays);
        for operation in LARGE {
            large(&mut subject, &context, operation, &arrays);
        }
    }
    // The least that is shared: 256 KiB in three arrays. And 30 microseconds of work.
    for (name, bytes, idle) in [
        ("add, the least that is shared", 88 << 10, Duration::ZERO),
        ("add, 30 us", 1 << 20, Duration::ZERO),
        ("add, 30 us after 3 ms of idleness", 1 << 20, IDLE),
    ] {
        small(&mut subject, &context, name, idle, &RefCell::new(Arrays::new(bytes)));
    }
    subject.close();
}

fn large(subject: &mut Subject, context: &Context, operation: Operation, arrays: &RefCell<Arrays>) {
    let bytes = arrays.borrow().bytes() as u64;
    let mut cases = vec![
        operation.case(arrays).within("into", |work| context.install(work)),
        operation.case(arrays).within("one thread", |work| work()),
    ];
    cases.extend(roofs::cases(arrays, operation.roof, THREADS));
    subject.measure(operation.name, bytes, THREADS, bytes * operation.arrays, cases);
}

fn small(
    subject: &mut Subject,
    context: &Context,
    name: &str,
    idle: Duration,
    arrays: &RefCell<Arrays>,
) {
    let bytes = arrays.borrow().bytes() as u64;
    let [add, ..] = ELEMENTWISE;
    let cases = vec![
        add.case(arrays).after(idle).within("two threads", |work| context.install(work)),
        add.case(arrays).after(idle).within("one thread", |work| work()),
    ];
    subject.measure(name, bytes, THREADS, bytes * add.arrays, cases);
}
