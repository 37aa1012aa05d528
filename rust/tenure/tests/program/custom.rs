//! Custom operations, broken as a caller would break them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, OnceLock};

use super::*;

type Outcome<T = ()> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// `a + b`, of two matrices of any strides.
fn sum_of_two() -> CustomOperation {
    CustomOperation::new::<(f32, f32), f32>(
        "sum_of_two",
        |[a, _]| Ok(a.to_vec()),
        |(a, b), mut out| Ok(ops::add_into(&a, &b, &mut out)?),
    )
    .unwrap()
}

/// An operation on one value, of its shape.
fn unary(
    run: impl Fn(TensorView<'_, f32>, TensorViewMut<'_, f32>) -> Outcome + Send + Sync + 'static,
) -> CustomOperation {
    let same = |[x]: [&[usize]; 1]| Ok(x.to_vec());
    CustomOperation::new::<(f32,), f32>("unary", same, move |(x,), out| run(x, out)).unwrap()
}

fn unary_program(operation: &CustomOperation) -> Program<(f32,), f32> {
    Program::trace(|graph| {
        let x = graph.input::<f32>([graph.extent("n", 100)]);
        graph.program((x,), graph.custom(operation, x))
    })
    .unwrap()
}

#[test]
fn compute_as_the_function_does() {
    let operation = sum_of_two();
    for program in traced(|graph| {
        let (a, b) = (graph.input::<f32>([3, 4]), graph.input::<f32>([4, 3]));
        let c = graph.custom::<f32>(&operation, (a, b.t()));
        let d: Traced<f32> = graph.custom(&operation, [c.exp(), c.slice(1, 0, 4)]);
        graph.program((a, b), (c, d * 2.0))
    }) {
        let (a, b) = (floats(1, [3, 4]), floats(2, [4, 3]));
        let program = program.unwrap();
        let c = ops::add(&a, &b.t()).unwrap();
        let d = ops::mul(&ops::add(&ops::exp(&c).unwrap(), &c).unwrap(), 2.0).unwrap();
        for program in [program.clone(), program.checked()] {
            assert_eq!(program.run((&a, &b)).unwrap(), (c.clone_of(), d.clone_of()));
        }
    }
}

trait CloneOf {
    fn clone_of(&self) -> Self;
}
impl CloneOf for Tensor<f32> {
    fn clone_of(&self) -> Self {
        self.to_tensor().unwrap()
    }
}

#[test]
fn take_any_number_of_operands_of_any_type() {
    let made = CustomOperation::new::<(), i64>(
        "made",
        |[]| Ok(vec![2]),
        |(), mut out| {
            out.fill(7);
            Ok(())
        },
    )
    .unwrap();
    let counted = CustomOperation::new::<[u8; 3], i64>(
        "counted",
        |shapes| Ok(vec![shapes.len()]),
        |views, mut out| {
            for (out, view) in out.iter_mut().zip(views) {
                *out = view.iter().map(|element| i64::from(*element)).sum();
            }
            Ok(())
        },
    )
    .unwrap();
    let mixed = CustomOperation::new::<(Bool8, f64, bf16), f64>(
        "mixed",
        |[mask, ..]| Ok(mask.to_vec()),
        |(mask, x, y), mut out| {
            for (nth, out) in out.iter_mut().enumerate() {
                assert_eq!(*out, 0.0);
                *out = if bool::from(mask[[nth]]) { x[[nth]] } else { f64::from(y[[]]) };
            }
            Ok(())
        },
    )
    .unwrap();
    let program = Program::trace(|graph| {
        let (x, mask) = (graph.input::<u8>([2]), graph.input::<Bool8>([2]));
        let mixed = graph.custom::<f64>(
            &mixed,
            (mask, graph.copy_constant(&[0.5, 1.5]), graph.copy_constant(&bf16::ONE)),
        );
        let made = graph.custom::<i64>(&made, ());
        graph.program((x, mask), (made, graph.custom::<i64>(&counted, vec![x, x, x]), mixed))
    })
    .unwrap();
    let mask = [true, false].map(Bool8::from);
    let (made, counted, mixed) = program.run((&[1, 2], &mask)).unwrap();
    assert_eq!((made, counted, mixed), ([7, 7].into(), [3, 3, 3].into(), [0.5, 1.0].into()));
}

#[test]
fn say_why_they_fail() {
    let fails = |run: fn() -> Outcome| {
        let error = unary_program(&unary(move |_, _| run())).run((&[1.0],)).err().unwrap();
        assert!(error.message().starts_with("custom at "), "{error}");
        let (_, said) =
            error.message().split_once(": compute of the custom operation unary: ").unwrap();
        (error.kind(), said.to_owned())
    };
    let invalid = ErrorKind::InvalidArgument;
    assert_eq!(fails(|| Err("no weights".into())), (invalid, "no weights".into()));
    // A byte that ends texts of C.
    assert_eq!(fails(|| Err("no\0weights".into())), (invalid, "no weights".into()));
    // Errors of this crate; the library has no status for one of them.
    let (kind, said) = fails(|| {
        Tensor::<f64>::zeros(1 << 60)?;
        Ok(())
    });
    assert_eq!(kind, Tensor::<f64>::zeros(1 << 60).err().unwrap().kind());
    assert!(!said.is_empty());
    let (kind, _) = fails(|| {
        io::read("no such file")?;
        Ok(())
    });
    assert_eq!(kind, invalid);
}

#[test]
fn panics_end_in_errors() {
    let program = unary_program(&unary(|x, _| panic!("{} elements are too many", x.len())));
    for _ in 0..2 {
        let error = program.run((&[1.0, 2.0],)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.message().ends_with("it panicked: 2 elements are too many"), "{error}");
    }
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    let program = unary_program(&unary(|_, _| std::panic::panic_any(Bomb)));
    let error = program.run((&[1.0],)).err().unwrap();
    assert!(error.message().ends_with("with something that is no text"), "{error}");

    // A captured value that panics at its release.
    let bomb = Bomb;
    drop(unary(move |_, _| {
        let _ = &bomb;
        Ok(())
    }));
}

#[test]
fn shapes_are_checked() {
    let shaped = |shape: fn(&[usize]) -> Outcome<Vec<usize>>| {
        let operation = CustomOperation::new::<(f32,), f32>(
            "shaped",
            move |[x]| shape(x),
            |(x,), mut out| Ok(ops::add_into(&x, 0.0, &mut out)?),
        );
        let operation = operation.unwrap();
        Program::trace(|graph| {
            let x = graph.input::<f32>([graph.extent("n", 4)]);
            graph.program((x,), graph.custom::<f32>(&operation, (x,)))
        })
    };
    let refused = |shape: fn(&[usize]) -> Outcome<Vec<usize>>| {
        shaped(shape).err().unwrap().message().to_owned()
    };
    let message = refused(|_| Ok(vec![1; 9]));
    assert!(message.contains("infer of the custom operation shaped: "), "{message}");
    refused(|_| Ok(vec![usize::MAX]));
    refused(|_| Ok(vec![usize::MAX, 2]));
    refused(|_| Ok(vec![1 << 40, 1 << 40]));
    assert!(refused(|_| panic!("no shape")).ends_with("it panicked: no shape"));
    assert!(refused(|_| Err("not this one".into())).contains("not this one"));

    // The run function gets a result of another shape than it expects.
    let program = shaped(|x| Ok(vec![x[0] + 1])).unwrap();
    let error = program.run((&[1.0, 2.0],)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    // Shapes of no elements.
    assert_eq!(shaped(|_| Ok(vec![0])).unwrap().run((&[1.0],)).unwrap().len(), 0);
}

#[test]
fn shapes_that_change_their_mind_are_found() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let operation = CustomOperation::new::<(f32,), f32>(
        "moody",
        |[_]| Ok(vec![CALLS.fetch_add(1, Ordering::SeqCst) + 1]),
        |_, mut out| {
            out.fill(1.0);
            Ok(())
        },
    )
    .unwrap();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x,), graph.custom::<f32>(&operation, (x,)) + 1.0)
    });
    // Whatever it is, a tensor or a refusal, it is whole.
    if let Ok(program) = program {
        for _ in 0..5 {
            if let Ok(out) = program.run((&[1.0, 2.0],)) {
                assert!(out.iter().all(|element| *element == 2.0));
            }
        }
    }
}

#[test]
fn types_are_compared() {
    let operation = sum_of_two();
    let refused = |f: &dyn for<'g> Fn(Graph<'g>, Traced<'g, f32>) -> Traced<'g, f32>| {
        said(|graph| {
            let x = graph.input([2]);
            graph.program((x,), f(graph, x))
        })
    };
    let message = refused(&|graph, x| graph.custom(&operation, (x,)));
    assert!(message.starts_with("custom at "), "{message}");
    let message = refused(&|graph, x| graph.custom(&operation, (x, x.cast::<f64>())));
    assert!(message.ends_with("operand 1 is f64 but it takes f32"), "{message}");
    let message = refused(&|graph, x| graph.custom::<f64>(&operation, (x, x)).cast::<f32>());
    assert!(message.ends_with("sum_of_two gives f32 but f64 is asked for"), "{message}");
    let message = refused(&|graph, x| graph.custom_with(&operation, (x, x), [1]));
    assert!(message.contains("custom at "), "{message}");
    let long = CustomOperation::new::<(), f32>(&"n".repeat(32), |[]| Ok(vec![]), |_, _| Ok(()));
    let message = refused(&|graph, _| graph.custom(long.as_ref().unwrap(), ()));
    assert!(message.contains("has more bytes but 1 to 31 are taken"), "{message}");
    let zero = CustomOperation::new::<(), f32>("a\0b", |[]| Ok(vec![]), |_, _| Ok(()));
    assert!(zero.err().unwrap().message().contains("has a byte of 0"));
}

#[test]
fn what_is_left_out_is_found() {
    let program = unary_program(&unary(|x, out| {
        out.slice(0, 1..)?.fill(x[[0]]);
        Ok(())
    }));
    // It is zeros, never what the memory held before.
    assert_eq!(program.run((&[3.0, 0.0],)).unwrap(), [0.0, 3.0]);
    let error = program.checked().run((&[3.0, 0.0],)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(error.message().contains("left an element unwritten"), "{error}");

    let calls = AtomicUsize::new(0);
    let program = unary_program(&unary(move |_, mut out| {
        out.fill(calls.fetch_add(1, Ordering::SeqCst) as f32);
        Ok(())
    }));
    let error = program.checked().run((&[3.0, 0.0],)).err().unwrap();
    assert!(error.message().contains("gave two results"), "{error}");
}

#[test]
fn call_the_library_and_their_own_program() {
    let inner = unary_program(&unary(|x, mut out| Ok(ops::exp_into(&x, &mut out)?)));
    let outer = unary_program(&unary(move |x, mut out| {
        let context = Context::with_threads(2)?;
        let y = context.install(|| inner.run((&x,)))?;
        let refused = ops::add(&y, &[1.0_f32; 3]);
        assert!(y.len() == 3 || refused.is_err());
        Ok(ops::add_into(&y, 1.0, &mut out)?)
    }));
    let x = floats(3, [5]);
    let expected = ops::add(&ops::exp(&x).unwrap(), 1.0).unwrap();
    for program in [outer.clone(), outer.checked()] {
        assert_eq!(program.run((&x,)).unwrap(), expected);
    }
}

#[test]
fn run_the_program_that_calls_them() {
    static PROGRAM: OnceLock<Program<(f32,), f32>> = OnceLock::new();
    let factorial = unary(|x, mut out| {
        let below = match x[[0]] {
            1.0 => Tensor::full(1, 1.0)?,
            n => PROGRAM.get().ok_or("not yet")?.run((&[n - 1.0],))?,
        };
        Ok(ops::mul_into(&x, &below, &mut out)?)
    });
    let program = PROGRAM.get_or_init(|| unary_program(&factorial));
    assert_eq!(program.run((&[10.0],)).unwrap(), [3_628_800.0]);
    assert_eq!(program.clone().checked().run((&[3.0],)).unwrap(), [6.0]);
}

#[test]
fn run_on_several_threads_at_once() {
    const THREADS: usize = 4;
    let barrier = Barrier::new(THREADS);
    // It would not end if calls waited for each other.
    let program = unary_program(&unary(move |x, mut out| {
        barrier.wait();
        Ok(ops::add_into(&x, 1.0, &mut out)?)
    }));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let program = &program;
            scope.spawn(move || {
                for run in 0..50 {
                    let x = floats((thread * 100 + run) as u64, [17]);
                    assert_eq!(program.run((&x,)).unwrap(), ops::add(&x, 1.0).unwrap());
                }
            });
        }
    });
}

#[test]
fn update_what_they_read() {
    let operation = sum_of_two();
    let program = Program::trace(|graph| {
        let (state, x) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
        let next = graph.custom(&operation, (state, x));
        graph.program((state.updated_by(next), x), ())
    })
    .unwrap();
    let mut state = [1.0, 2.0];
    program.run((&mut state, &[10.0, 20.0])).unwrap();
    program.checked().run((&mut state, &[100.0, 200.0])).unwrap();
    assert_eq!(state, [111.0, 222.0]);

    let reversed = unary(|x, mut out| {
        assert_ne!(x.as_ptr(), out.as_ptr());
        for (nth, out) in out.iter_mut().enumerate() {
            *out = x[[x.len() - 1 - nth]];
        }
        Ok(())
    });
    let program = Program::trace(|graph| {
        let state = graph.input::<f32>([3]);
        graph.program((state.updated_by(graph.custom(&reversed, state)),), ())
    })
    .unwrap();
    let mut state = [1.0, 2.0, 3.0];
    program.run((&mut state,)).unwrap();
    assert_eq!(state, [3.0, 2.0, 1.0]);

    // Preallocated.
    let program = unary_program(&unary(|x, mut out| Ok(ops::exp_into(&x, &mut out)?)));
    let mut out = [9.0; 3];
    let bound = program.bind_preallocated((&[0.0; 3],), &mut out).unwrap();
    bound.run((&[0.0; 3],), &mut out).unwrap();
    assert_eq!(out, [1.0; 3]);
    // Into memory with strides.
    let program = unary_program(&unary(|x, mut out| Ok(ops::exp_into(&x, &mut out)?)));
    let mut rows = Tensor::<f32>::zeros([3, 2]).unwrap();
    program.run_into((&[0.0; 3],), &mut rows.view_mut().index(1, 1).unwrap()).unwrap();
    assert_eq!(rows, [[0.0, 1.0]; 3]);
}

#[test]
fn are_released_once() {
    let token = Arc::new(());
    let counted = |token: &Arc<()>| {
        let held = Arc::clone(token);
        unary(move |x, mut out| {
            let _ = &held;
            Ok(ops::add_into(&x, 1.0, &mut out)?)
        })
    };
    let held_by = || Arc::strong_count(&token) - 1;
    drop(counted(&token));
    assert_eq!(held_by(), 0);

    let operation = counted(&token);
    let [one, two] = [unary_program(&operation), unary_program(&operation.clone())];
    drop(operation);
    drop(one);
    assert_eq!(held_by(), 1);
    assert_eq!(two.run((&[1.0],)).unwrap(), [2.0]);
    drop(two);
    assert_eq!(held_by(), 0);

    // A trace that fails, before and behind the call, and one that panics.
    let failed: Result<Program<(f32,), f32>> = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x,), graph.custom(&counted(&token), x.sum(5)))
    });
    drop(failed);
    let failed: Result<Program<(f32,), f32>> = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x,), graph.custom::<f32>(&counted(&token), x).sum(5))
    });
    drop(failed);
    let panicked = std::panic::catch_unwind(|| {
        drop(Program::<(f32,), f32>::trace(|graph| {
            let x = graph.input::<f32>([2]);
            let _: Traced<f32> = graph.custom(&counted(&token), x);
            panic!("in between")
        }));
    });
    assert!(panicked.is_err());
    assert_eq!(held_by(), 0);
}

#[test]
fn are_called_and_held_in_bodies() {
    let token = Arc::new(());
    let held = Arc::clone(&token);
    let doubled = unary(move |x, mut out| {
        let _ = &held;
        Ok(ops::add_into(&x, &x, &mut out)?)
    });
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        let last = graph.while_loop(
            10,
            x,
            (),
            |body, x, ()| body.outputs(x.max(0).lt(100.0)),
            |body, x, ()| body.outputs(body.custom(&doubled, x)),
        )?;
        graph.program((x,), graph.custom::<f32>(&doubled, last))
    })
    .unwrap();
    drop(doubled);
    for program in [program.clone(), program.checked()] {
        assert_eq!(program.run((&[1.0, 30.0],)).unwrap(), [8.0, 240.0]);
    }
    assert_eq!(Arc::strong_count(&token), 1);
}
