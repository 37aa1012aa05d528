//! Operations of one's own in files: by their names.

use std::sync::atomic::Ordering;

use super::graphs::{Builder, RELEASED, dtype_of, owned, scaling};
use super::{opened, saved};
use tenure::program_file::{CustomOperation, GraphHandle, GraphRecord};
use tenure_sys::TNR_NODE_CUSTOM;

fn calling() -> GraphHandle {
    let mut b = Builder::new();
    let x = b.input(dtype_of::<f32>(), &[2, 2]);
    let index = b.custom(&scaling("scale\0"));
    let scaled = b.node(TNR_NODE_CUSTOM | index, &[x], &[3]);
    b.output(scaled);
    b.finish()
}

fn message<T>(result: tenure::Result<T>) -> String {
    result.err().unwrap().message().to_owned()
}

#[test]
fn are_named_when_they_are_saved() {
    let graph = calling();
    assert_eq!(
        message(GraphRecord::of(&graph, &[])),
        "0 names are given but the graph has 1 operations of its caller's own"
    );
    let file = saved(&graph, &["other name"]);
    assert_eq!(opened(&file).unwrap().custom_names(), ["other name"]);
}

#[test]
fn are_found_by_their_names() {
    let file = opened(&saved(&calling(), &["scale"])).unwrap();
    assert_eq!(
        message(file.build(vec![owned(scaling("scales\0"))])),
        "the graph calls the operation 'scale', which is not given"
    );
    let twice = vec![owned(scaling("scale\0")), owned(scaling("scale\0"))];
    assert_eq!(message(file.build(twice)), "the name 'scale' of an operation stands twice");
    let mut wider = scaling("scale\0");
    wider.operand_count = 2;
    let refused = message(file.build(vec![owned(wider)]));
    assert!(refused.starts_with("values[1]: "), "{refused}");
    file.build(vec![owned(scaling("other\0")), owned(scaling("scale\0"))]).unwrap();
}

// The counter is of the process, and other tests release too: more than these is right.
#[test]
fn are_released_whatever_happens() {
    let file = opened(&saved(&calling(), &["scale"])).unwrap();
    let before = RELEASED.load(Ordering::SeqCst);
    drop(file.build(vec![owned(scaling("scales\0"))]));
    drop(file.build(vec![owned(scaling("other\0")), owned(scaling("scale\0"))]).unwrap());
    assert!(RELEASED.load(Ordering::SeqCst) >= before + 3);
}

#[test]
fn are_checked_when_they_are_taken() {
    let refused = |operation: tenure_sys::tnr_custom_operation| {
        // SAFETY: the functions do what is asked of them, and the name ends with a 0.
        message(unsafe { CustomOperation::from_raw(&operation) })
    };
    let mut nameless = scaling("scale\0");
    nameless.name = std::ptr::null();
    assert_eq!(refused(nameless), "the name of an operation is NULL");
    let mut newer = scaling("scale\0");
    newer.struct_size += 8;
    assert!(refused(newer).contains("more than are known"));
    // SAFETY: NULL is refused before it is read.
    let nothing = unsafe { CustomOperation::from_raw(std::ptr::null()) };
    assert_eq!(message(nothing), "an operation is NULL");
}
