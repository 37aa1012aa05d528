//! Custom operations in files, by their names.

use std::sync::atomic::Ordering;

use super::graphs::{Builder, RELEASED, dtype_of, owned, scaling};
use super::{opened, saved};
use tenure::Program;
use tenure::program::file::{CustomOperation, GraphHandle, GraphRecord};
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
        // SAFETY: the functions fulfil their contracts, and the name ends with a 0.
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

#[test]
fn made_of_closures_go_to_files_and_back() {
    let halved = CustomOperation::new::<(f32,), f32>(
        "halved",
        |[x]| Ok(x.to_vec()),
        |(x,), mut out| Ok(tenure::ops::mul_into(x, 0.5, &mut out)?),
    )
    .unwrap();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([graph.extent("n", 10)]);
        let once = graph.custom::<f32>(&halved, x);
        graph.program((x,), graph.custom::<f32>(&halved, once + 1.0))
    })
    .unwrap();
    let mut bytes = Vec::new();
    program.write(&mut bytes).unwrap();
    let file = opened(&bytes).unwrap();
    assert_eq!(file.custom_names(), ["halved"]);

    let loaded = Program::<(f32,), f32>::from_file(&file, vec![halved.clone()]).unwrap();
    assert_eq!(loaded.run((&[2.0, 4.0],)).unwrap(), [1.0, 1.5]);
    // It is saved once more, as it was.
    let mut again = Vec::new();
    loaded.write(&mut again).unwrap();
    assert_eq!(again, bytes);

    let load = |customs| Program::<(f32,), f32>::from_file(&file, customs);
    assert_eq!(
        message(load(Vec::new())),
        "the graph calls the operation 'halved', which is not given"
    );
    let twice = message(load(vec![halved.clone(), halved]));
    assert_eq!(twice, "the name 'halved' of an operation stands twice");
    // Another operation of the name, of other types.
    let other = |shape: fn([&[usize]; 1]) -> Vec<usize>| {
        CustomOperation::new::<(f32,), f64>(
            "halved",
            move |shapes| Ok(shape(shapes)),
            |(x,), mut out| {
                out.fill(x.len() as f64);
                Ok(())
            },
        )
    };
    let refused = message(load(vec![other(|[x]| x.to_vec()).unwrap()]));
    assert!(refused.starts_with("values["), "{refused}");
    let doubles = CustomOperation::new::<[f64; 1], f32>("halved", |_| Ok(vec![]), |_, _| Ok(()));
    let refused = message(load(vec![doubles.unwrap()]));
    assert!(refused.ends_with("operand 0 is f32 but it takes f64"), "{refused}");
}
