//! Custom operations on a device: the arguments of their closures, the order of their work, and the
//! messages of their failures.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use tenure::cuda::{Stream, TensorView, TensorViewMut};
use tenure::*;
use tenure_sys as sys;

use crate::{alone, stream};

type Outcome = std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// `a * b + a`, here and there by the same operations.
fn mul_add() -> CustomOperation {
    CustomOperation::with_device::<(f32, f32), f32>(
        "mul_add",
        |[a, _]| Ok(a.to_vec()),
        |(a, b), mut out| {
            ops::mul_into(&a, &b, &mut out)?;
            Ok(ops::add_assign(&mut out, &a)?)
        },
        |stream, (a, b), mut out| {
            stream.mul_into(a, b, &mut out)?;
            Ok(stream.add_assign(&mut out, a)?)
        },
    )
    .unwrap()
}

/// An operation on one value, of its shape, that the CPU negates.
fn unary(
    run: impl Fn(&Stream, TensorView<'_, f32>, TensorViewMut<'_, f32>) -> Outcome
    + Send
    + Sync
    + 'static,
) -> CustomOperation {
    CustomOperation::with_device::<(f32,), f32>(
        "unary",
        |[x]| Ok(x.to_vec()),
        |(x,), mut out| Ok(ops::neg_into(x, &mut out)?),
        move |stream, (x,), out| run(stream, x, out),
    )
    .unwrap()
}

/// `operation(2 x) + 1`.
fn program_of(operation: &CustomOperation) -> Program<(f32,), f32> {
    Program::trace(|graph| {
        let x = graph.input::<f32>([graph.extent("n", 1000)]);
        graph.program((x,), graph.custom::<f32>(operation, x * 2.0) + 1.0)
    })
    .unwrap()
}

#[test]
fn a_program_calls_it_on_both() {
    let stream = stream!();
    let operation = mul_add();
    let program = Program::trace(|graph| {
        let n = graph.extent("n", 40);
        let (x, y) = (graph.input::<f32>((n, 3)), graph.input::<f32>((3, n)));
        let z = graph.custom::<f32>(&operation, (x + 1.0, y.t()));
        graph.program((x, y), (z * 0.5, graph.custom::<f32>(&operation, [z, z])))
    })
    .unwrap();
    for n in [0, 1, 7, 40] {
        let x = Tensor::from_fn([n, 3], |[row, col]| row as f32 * 0.37 - col as f32).unwrap();
        let y = Tensor::from_fn([3, n], |[row, col]| col as f32 * 0.11 + row as f32).unwrap();
        let (half, twice) = program.run((&x, &y)).unwrap();
        let (x, y) = (stream.upload(&x).unwrap(), stream.upload(&y).unwrap());
        let (half_there, twice_there) = stream.run(&program, (&x, &y)).unwrap();
        assert_eq!(stream.download(&half_there).unwrap(), half);
        assert_eq!(stream.download(&twice_there).unwrap(), twice);
    }
}

#[test]
fn operands_have_any_type_and_number() {
    let stream = stream!();
    let made = CustomOperation::with_device::<(), i64>(
        "made",
        |[]| Ok(vec![2]),
        |(), mut out| {
            out.fill(7);
            Ok(())
        },
        |stream, (), mut out| Ok(stream.fill(&mut out, 7)?),
    )
    .unwrap();
    let counted = CustomOperation::with_device::<[u8; 3], u8>(
        "counted",
        |[x, ..]| Ok(x.to_vec()),
        |views, mut out| Ok(views.iter().try_for_each(|view| ops::add_assign(&mut out, view))?),
        // The output holds zeros, as on the host.
        |stream, views, mut out| {
            Ok(views.into_iter().try_for_each(|view| stream.add_assign(&mut out, view))?)
        },
    )
    .unwrap();
    let mixed = CustomOperation::with_device::<(Bool8, f64, bf16), f64>(
        "mixed",
        |[mask, ..]| Ok(mask.to_vec()),
        |(mask, x, y), mut out| {
            Ok(ops::select_into(
                mask,
                x,
                ops::cast::<f64, _>(&y)?.view().broadcast(x.shape())?,
                &mut out,
            )?)
        },
        |stream, (mask, x, y), mut out| {
            let y = stream.cast::<f64, _>(y)?;
            Ok(stream.select_into(mask, x, y.view().broadcast(x.shape())?, &mut out)?)
        },
    )
    .unwrap();
    let program = Program::trace(|graph| {
        let (x, mask) = (graph.input::<u8>([2]), graph.input::<Bool8>([2]));
        let numbers = (graph.copy_constant(&[0.5, 1.5]), graph.copy_constant(&bf16::ONE));
        let mixed = graph.custom::<f64>(&mixed, (mask, numbers.0, numbers.1));
        let made = graph.custom::<i64>(&made, ());
        graph.program((x, mask), (made, graph.custom::<u8>(&counted, vec![x, x, x]), mixed))
    })
    .unwrap();
    let mask = [true, false].map(Bool8::from);
    let here = program.run((&[1, 2], &mask)).unwrap();
    assert_eq!(here, ([7, 7].into(), [3, 6].into(), [0.5, 1.0].into()));
    let (x, mask) = (stream.upload(&[1_u8, 2]).unwrap(), stream.upload(&mask).unwrap());
    let (made, counted, mixed) = stream.run(&program, (&x, &mask)).unwrap();
    assert_eq!(stream.to_vec(&made).unwrap(), [7, 7]);
    assert_eq!(stream.to_vec(&counted).unwrap(), [3, 6]);
    assert_eq!(stream.to_vec(&mixed).unwrap(), [0.5, 1.0]);
}

#[test]
fn failures_have_their_place_and_reason() {
    let stream = stream!();
    let x = stream.full([4], 1.0_f32).unwrap();
    let refused = |operation: CustomOperation| {
        let program = program_of(&operation);
        let error = stream.run(&program, (&x,)).unwrap_err();
        let message = error.message();
        assert!(message.contains("custom at ") && message.contains("custom.rs:"), "{message}");
        assert!(message.contains("compute_on_device of the custom operation unary"), "{message}");
        (error.kind(), message.to_owned())
    };
    let (kind, message) = refused(unary(|_, _, _| Err("not today".into())));
    assert_eq!(kind, ErrorKind::InvalidArgument);
    assert!(message.ends_with("unary: not today"), "{message}");

    let (kind, message) = refused(unary(|stream, x, mut out| {
        stream.fill(&mut out, 3.0)?; // which still runs
        Ok(stream.add_into(x, x.slice(0, 1..)?, &mut out)?)
    }));
    assert_eq!(kind, ErrorKind::InvalidArgument);
    assert!(message.contains("[3]"), "{message}");

    let (kind, message) = refused(unary(|_, x, _| panic!("of {} elements", x.len())));
    assert_eq!(kind, ErrorKind::Internal);
    assert!(message.ends_with("unary: it panicked: of 4 elements"), "{message}");

    // The stream still works, and the thread's context is the earlier one.
    assert_eq!(stream.to_vec(&stream.neg(&x).unwrap()).unwrap(), [-1.0; 4]);
    assert_eq!(ops::add(&[1.0], 1.0).unwrap(), [2.0]);
}

#[test]
fn without_a_closure_for_devices_it_is_named() {
    if !alone("custom::without_a_closure_for_devices_it_is_named", "TENURE_TEST_NONE", "1") {
        return;
    }
    let stream = stream!();
    let negated = CustomOperation::new::<(f32,), f32>(
        "negated",
        |[x]| Ok(x.to_vec()),
        |(x,), mut out| Ok(ops::neg_into(x, &mut out)?),
    )
    .unwrap();
    let program = program_of(&negated);
    let x = stream.full([4], 1.0_f32).unwrap();
    let before = stats().device_launches;
    let error = stream.run(&program, (&x,)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let message = error.message();
    assert!(message.contains("no compute_on_device") && message.contains("cuda:0"), "{message}");
    assert!(message.contains("custom.rs:"), "{message}");
    assert_eq!(stats().device_launches, before);
    assert_eq!(program.run((&[1.0],)).unwrap(), [-1.0]);
}

#[test]
fn runs_enqueue_and_do_not_wait() {
    if !alone("custom::runs_enqueue_and_do_not_wait", "TENURE_TEST_NONE", "1") {
        return;
    }
    let stream = stream!();
    let other = stream.device().stream().unwrap();
    let program = program_of(&unary(move |stream, x, mut out| {
        stream.neg_into(x, &mut out)?;
        Ok(other.neg_assign(&mut out)?)
    }));
    let x = stream.full([4], 1.0_f32).unwrap();
    let before = stats().device_waits;
    let y = stream.run(&program, (&x,)).unwrap();
    assert_eq!(stats().device_waits, before);
    assert_eq!(stream.to_vec(&y).unwrap(), [3.0; 4]);
}

/// Only the owners of the operands put the other stream in order.
#[test]
fn any_stream_is_in_order() {
    let stream = stream!();
    let other = stream.device().stream().unwrap();
    let inside = other.clone();
    let program = program_of(&unary(move |_, x, mut out| Ok(inside.neg_into(x, &mut out)?)));
    let on_threads = program_of(&unary(|stream, x, out| {
        let (mut low, mut high) = out.split_at(0, x.len() / 2)?;
        let (a, b) = x.split_at(0, x.len() / 2)?;
        std::thread::scope(|scope| {
            let own = stream.device().stream();
            let half = scope.spawn(move || own?.neg_into(a, &mut low));
            stream.neg_into(b, &mut high)?;
            Ok(half.join().unwrap()?)
        })
    }));
    for value in 0..20 {
        for (program, on) in [(&program, &stream), (&program, &other), (&on_threads, &stream)] {
            let x = stream.full([1000], value as f32).unwrap();
            let y = on.run(program, (&x,)).unwrap();
            drop(x);
            stream.full([1000], -1.0_f32).unwrap();
            assert_eq!(other.to_vec(&y).unwrap(), [1.0 - 2.0 * value as f32; 1000]);
        }
    }
}

/// Host memory, programs of the host and of the device, and the stream afterwards.
#[test]
fn a_closure_may_call_what_it_likes() {
    let stream = stream!();
    let kept: Arc<OnceLock<Stream>> = Arc::default();
    let calls = Arc::new(AtomicUsize::new(0));
    let inner = program_of(&unary(|stream, x, mut out| Ok(stream.neg_into(x, &mut out)?)));
    let (keep, count) = (Arc::clone(&kept), Arc::clone(&calls));
    let program = program_of(&unary(move |stream, x, mut out| {
        count.fetch_add(1, Ordering::Relaxed);
        keep.get_or_init(|| stream.clone());
        let here = stream.to_vec(x)?;
        // These functions run on the host and do not use the stream.
        assert_eq!(inner.run((&here,))?, ops::sub(1.0, &ops::add(&here, &here)?)?);
        let there = stream.run(&inner, (x,))?;
        let mut host = vec![0.0; here.len()];
        stream.scope(|scope| {
            let len = host.len();
            scope.download_into(&there, tenure::TensorViewMut::from_slice(&mut host, len)?)
        })?;
        Ok(stream.upload_into(&host, &mut out)?)
    }));
    let x = stream.upload(&[1.0_f32, -2.0]).unwrap();
    // -2 (2 x) + 1, and once more 1.
    let checked = program.clone().checked();
    for program in [&program, &checked] {
        let y = stream.run(program, (&x,)).unwrap();
        assert_eq!(stream.to_vec(&y).unwrap(), [-2.0, 10.0]);
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let kept = kept.get().unwrap();
    drop(stream);
    assert_eq!(kept.to_vec(&kept.neg(&x).unwrap()).unwrap(), [-1.0, 2.0]);
}

/// Where the operand was, as the function for devices of an operation in C has seen it.
static TOLD: Mutex<Option<sys::tnr_device_kind>> = Mutex::new(None);

unsafe extern "C" fn infer(
    _: *mut c_void,
    operands: *const sys::tnr_view,
    _: u32,
    _: *const i64,
    _: u32,
    dtype: *mut sys::tnr_dtype,
    rank: *mut u32,
    shape: *mut i64,
) -> sys::tnr_status {
    // SAFETY: as the library calls it, with one operand.
    unsafe {
        (*dtype, *rank) = ((*operands).dtype, (*operands).rank);
        shape.copy_from_nonoverlapping((*operands).shape.as_ptr(), sys::TNR_MAX_RANK);
    }
    sys::tnr_status::OK
}

unsafe extern "C" fn compute(
    _: *mut c_void,
    _: *const sys::tnr_view,
    _: u32,
    _: *const i64,
    _: u32,
    _: *const sys::tnr_view_mut,
) -> sys::tnr_status {
    sys::tnr_status::BUSY
}

unsafe extern "C" fn compute_on_device(
    factor: *mut c_void,
    context: *mut sys::tnr_context,
    operands: *const sys::tnr_view,
    _: u32,
    _: *const i64,
    _: u32,
    out: *const sys::tnr_view_mut,
) -> sys::tnr_status {
    // SAFETY: as the library calls it, with one operand; the context is a number.
    unsafe {
        *TOLD.lock().unwrap() = Some((*operands).device.kind);
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&(*factor.cast::<f32>()).to_ne_bytes());
        let by = sys::tnr_scalar { dtype: (*operands).dtype, reserved: 0, bytes };
        let op = sys::tnr_binary_op::MUL;
        sys::tnr_binary_scalar(context, op, operands, &by, std::ptr::null(), out)
    }
}

#[test]
fn functions_in_c_are_called_with_their_context() {
    let stream = stream!();
    let mut factor = 3.0_f32;
    let raw = sys::tnr_custom_operation {
        struct_size: size_of::<sys::tnr_custom_operation>() as u64,
        name: c"scaled".as_ptr(),
        infer: Some(infer),
        compute: Some(compute),
        user_context: (&raw mut factor).cast(),
        release: None,
        operand_count: 1,
        number_count: 0,
        flags: 0,
        reserved: 0,
        compute_on_device: Some(compute_on_device),
        derive: None,
    };
    // SAFETY: the functions take what the library gives them; the factor outlives the operation.
    let operation = unsafe { CustomOperation::from_raw(&raw) }.unwrap();
    let x = stream.upload(&[1.0_f32, -2.0]).unwrap();
    let y = stream.run(&program_of(&operation), (&x,)).unwrap();
    assert_eq!(stream.to_vec(&y).unwrap(), [7.0, -11.0]);
    assert_eq!(*TOLD.lock().unwrap(), Some(sys::tnr_device_kind::CUDA));
}
