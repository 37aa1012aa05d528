//! Programs are saved and loaded, with the types that they are to have.

use std::ffi::c_void;
use std::path::PathBuf;
use std::{env, fs, process, thread};

use super::graphs::{Builder, dtype_of, owned, scaling};
use super::saved;
use tenure::program::Updated;
use tenure::program::file::{GraphRecord, ProgramFile};
use tenure::{Conv2d, ErrorKind, Passes, Pool2d, Program, Result, Tensor, TensorView};
use tenure_sys::{TNR_NODE_BINARY, TNR_NODE_CUSTOM, tnr_binary_op, tnr_custom_operation};
use tenure_sys::{tnr_status, tnr_view, tnr_view_mut};

/// A path of this test's own, whose file goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(env::temp_dir().join(format!("tenure-{name}-{}.tnrp", process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn numbers<const N: usize>(shape: [usize; N]) -> Tensor<f32> {
    let len: usize = shape.iter().product();
    Tensor::from_vec((0..len).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect(), shape).unwrap()
}

/// Images to scores and classes, and a sum that each run changes.
fn network() -> Program<(f32, Updated<f32>), (f32, i64)> {
    Program::trace(|graph| {
        let batch = graph.extent("batch", 16);
        let (x, seen) = (graph.input::<f32>((batch, 1, 6, 6)), graph.input::<f32>([3]));
        let filters = graph.constant(&numbers([4, 1, 3, 3]).into_shared());
        let images = x.conv2d(filters, None, Conv2d::new()).relu();
        let features = images.max_pool2d(Pool2d::new([2, 2])).reshape((batch, 16));
        let scores = features.matmul(graph.copy_constant(&numbers([3, 16]).view().t())) * 0.5;
        graph.program((x, seen.updated_by(seen + scores.sum(0))), (scores, scores.argmax(1)))
    })
    .unwrap()
}

fn loaded(bytes: Vec<u8>) -> ProgramFile {
    let len = bytes.len();
    ProgramFile::new(Tensor::copy_from_slice(&bytes, len).unwrap()).unwrap()
}

fn message<I, O>(result: Result<Program<I, O>>) -> String {
    result.err().unwrap().message().to_owned()
}

#[test]
fn values_that_no_output_needs_are_not_saved() {
    let make = |has_more: bool| {
        Program::trace(|graph| {
            let unused = graph.input::<f32>([4]);
            let x = graph.input::<f32>((graph.extent("n", 50), 3));
            let large = numbers([3, 4096]).into_shared();
            if has_more {
                let dead = x.matmul(graph.constant(&large)).exp();
                let _ = (dead.sum(1) * 2.0, unused.exp());
            }
            // Extents that nodes find, and results of a node that are needed in part.
            let (some, hits) = x.masked_select(x.gt(0.0), "hits", 150);
            if has_more {
                let _ = x.tanh().matmul(graph.constant(&large));
            }
            let both = graph.cond(
                x.sum(..).gt(0.0),
                (x, unused),
                |body, (x, unused)| body.outputs((x * 2.0, unused)),
                |body, (x, unused)| body.outputs((x, unused * 3.0)),
            )?;
            if has_more {
                let _ = both.1.exp();
            }
            let scale = graph.copy_constant(&[2.0_f32, 3.0, 4.0]);
            graph.program((unused, x), (both.0 * scale, some.slice(0, 0, hits.div_up(2))))
        })
        .unwrap()
    };
    let saved = [false, true].map(|has_more| {
        let mut bytes = Vec::new();
        make(has_more).write(&mut bytes).unwrap();
        bytes
    });
    assert_eq!(saved[0], saved[1]);
    let (unused, x) = (numbers([4]), numbers([5, 3]));
    let read = Program::<(f32, f32), (f32, f32)>::from_file(&loaded(saved[1].clone()), Vec::new());
    let expected = make(true).run((&unused, &x)).unwrap();
    assert!(!expected.1.is_empty());
    assert_eq!(read.unwrap().run((&unused, &x)).unwrap(), expected);
}

#[test]
fn what_runs_find_is_found_by_the_loaded_one() {
    let program = Program::trace(|graph| {
        let (n, x) = (graph.extent("n", 50), graph.input::<f32>(graph.extent("m", 9)));
        let y = graph.input::<f32>((n, 2));
        let (some, hits) = x.masked_select(x.gt(0.0), "hits", 7);
        let (places, rows) = y.max(1).nonzero("rows", 50);
        let taken = y.take(0, places.reshape(rows));
        // Also in bodies; one of them names an extent of the graph around it.
        let chosen = graph.cond(
            some.sum(0).gt(5.0),
            some,
            |body, some| {
                let (large, _) = some.masked_select(some.gt(1.5), "large", 7);
                body.outputs(large)
            },
            |body, some| body.outputs(some.slice(0, 0, body.extent("hits", 7).min(1))),
        )?;
        let half = some.slice(0, 0, hits.div_up(2));
        graph.program((x, y), (half, taken, some.sum(0), chosen))
    })
    .unwrap();
    let mut bytes = Vec::new();
    program.write(&mut bytes).unwrap();
    let file = ProgramFile::new(Tensor::from_vec(bytes.clone(), bytes.len()).unwrap()).unwrap();
    type Selecting = Program<(f32, f32), (f32, f32, f32, f32)>;
    let loaded = Selecting::from_file(&file, Vec::new()).unwrap();
    let mut again = Vec::new();
    loaded.write(&mut again).unwrap();
    assert!(again == bytes);
    let (x, y) = ([1.0, -1.0, 2.0, 3.0], [[0.0, 0.0], [4.0, 0.0], [5.0, 6.0]]);
    for of in [&program, &loaded] {
        let (half, rows, sum, chosen) = of.run((&x, &y)).unwrap();
        assert_eq!((half.to_vec(), sum.item()), (vec![1.0, 2.0], Some(6.0)));
        assert_eq!(rows, [[4.0, 0.0], [5.0, 6.0]]);
        assert_eq!(chosen, [2.0, 3.0]);
        assert_eq!(of.run((&[0.5, 1.0, -3.0], &y)).unwrap().3, [0.5]);
        let error = of.run((&[1.0; 8], &y)).err().unwrap();
        assert!(error.message().ends_with("8 are found but hits is at most 7"), "{error}");
    }
}

#[test]
fn what_is_loaded_has_the_bits_of_what_was_saved() {
    let (path, program) = (Scratch::new("bits"), network());
    program.save(&path.0).unwrap();
    let again = Program::<(f32, Updated<f32>), (f32, i64)>::load(&path.0, Vec::new()).unwrap();
    for batch in [1, 5, 16] {
        let x = numbers([batch, 1, 6, 6]);
        let (mut seen, mut seen_again) = (numbers([3]), numbers([3]));
        let (scores, classes) = program.run((&x, &mut seen)).unwrap();
        let (scores_again, classes_again) = again.run((&x, &mut seen_again)).unwrap();
        assert!(scores.iter().map(|s| s.to_bits()).eq(scores_again.iter().map(|s| s.to_bits())));
        assert_eq!((classes, seen), (classes_again, seen_again));
    }
    // Saved again, by any of its clones, it is the same file.
    let (mut first, mut second) = (Vec::new(), Vec::new());
    program.write(&mut first).unwrap();
    again.clone().write(&mut second).unwrap();
    assert!(first == second && first == fs::read(&path.0).unwrap());
}

#[test]
fn a_file_is_replaced_whole_and_by_any_thread() {
    let (path, program) = (Scratch::new("replaced"), network());
    fs::write(&path.0, b"something else").unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| program.clone().save(&path.0).unwrap());
        }
    });
    Program::<(f32, Updated<f32>), (f32, i64)>::load(&path.0, Vec::new()).unwrap();
    let folder = path.0.parent().unwrap();
    let name = path.0.file_name().unwrap().to_str().unwrap().to_owned() + ".";
    let beside = fs::read_dir(folder).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_str().is_some_and(|other| other.starts_with(&name))
    });
    assert_eq!(beside.count(), 0, "files beside it are gone");
}

#[test]
fn a_program_outlives_the_handle_of_its_file() {
    let mut bytes = Vec::new();
    network().write(&mut bytes).unwrap();
    let file = loaded(bytes);
    let program = Program::<(f32, Updated<f32>), (f32, i64)>::from_file(&file, Vec::new()).unwrap();
    drop(file);
    program.run((&numbers([1, 1, 6, 6]), &mut numbers([3]))).unwrap();
}

#[test]
fn constants_of_a_file_are_packed_where_that_is_asked_for() {
    let mut bytes = Vec::new();
    network().write(&mut bytes).unwrap();
    let file = loaded(bytes);
    let made = [Passes::DEFAULT, Passes::DEFAULT.with(Passes::PACKING)].map(|passes| {
        Program::<(f32, Updated<f32>), (f32, i64)>::from_file_with(passes, &file, Vec::new())
            .unwrap()
    });
    let input = numbers([1, 1, 6, 6]);
    let [plain, packed] = made.map(|program| {
        let bytes = program.memory((&input, &mut numbers([3]))).unwrap().packed_bytes;
        (bytes, program.run((&input, &mut numbers([3]))).unwrap())
    });
    assert!(plain.0 == 0 && packed.0 > 0, "{} and {}", plain.0, packed.0);
    assert!(plain.1 == packed.1, "the same bits");
}

#[test]
fn constants_of_a_file_are_those_that_another_program_of_it_packed() {
    let mut bytes = Vec::new();
    network().write(&mut bytes).unwrap();
    let file = loaded(bytes);
    type Network = Program<(f32, Updated<f32>), (f32, i64)>;
    let passes = Passes::DEFAULT.with(Passes::PACKING);
    let packing = Network::from_file_with(passes, &file, Vec::new()).unwrap();
    let packed = packing.packed().unwrap().into_shared();
    let lent = Network::from_file_packed(&packed, &file, Vec::new()).unwrap();
    drop(packed);
    let input = numbers([1, 1, 6, 6]);
    let [packing, lent] = [packing, lent].map(|one| one.run((&input, &mut numbers([3]))).unwrap());
    assert!(packing == lent, "the same bits");
    let none = Tensor::<u8>::zeros([64]).unwrap().into_shared();
    let error = Network::from_file_packed(&none, &file, Vec::new()).err().unwrap();
    assert!(error.message().contains("no packed constants of a program"), "{error}");
}

#[test]
fn other_types_are_refused_by_name_and_shape() {
    type Read<I, O> = Program<I, O>;
    let mut bytes = Vec::new();
    network().write(&mut bytes).unwrap();
    let file = loaded(bytes);
    let suffix = "in the file but";
    assert_eq!(
        message(Read::<(u8, Updated<f32>), (f32, i64)>::from_file(&file, Vec::new())),
        format!("inputs[0] is f32 of shape [batch, 1, 6, 6] {suffix} u8 in the program's type")
    );
    assert_eq!(
        message(Read::<(f32, f32), (f32, i64)>::from_file(&file, Vec::new())),
        format!("inputs[1] is Updated<f32> of shape [3] {suffix} f32 in the program's type")
    );
    assert_eq!(
        message(Read::<[Updated<f32>; 2], (f32, i64)>::from_file(&file, Vec::new())),
        format!(
            "inputs[0] is f32 of shape [batch, 1, 6, 6] {suffix} Updated<f32> in the program's type"
        )
    );
    assert_eq!(
        message(Read::<(f32, Updated<f32>), (f32, i32)>::from_file(&file, Vec::new())),
        format!("outputs[1] is i64 of shape [16] {suffix} i32 in the program's type")
    );
    assert_eq!(
        message(Read::<(f32, Updated<f32>), Vec<f32>>::from_file(&file, Vec::new())),
        format!("outputs[1] is i64 of shape [16] {suffix} f32 in the program's type")
    );
    assert_eq!(
        message(Read::<(f32,), (f32, i64)>::from_file(&file, Vec::new())),
        "the file has 2 inputs but the program's type has 1"
    );
    assert_eq!(
        message(Read::<(f32, Updated<f32>), f32>::from_file(&file, Vec::new())),
        "the file has 2 outputs but the program's type has 1"
    );
    assert_eq!(
        message(Read::<(), ()>::from_file(&file, Vec::new())),
        "the file has 2 inputs but the program's type has 0"
    );
}

#[test]
fn arrays_and_vectors_of_types() {
    let sums = Program::trace(|graph| {
        let inputs = [(); 9].map(|()| graph.input::<f32>([2]));
        graph.program(inputs, inputs.iter().map(|x| x.sum(0)).collect::<Vec<_>>())
    });
    let mut bytes = Vec::new();
    sums.unwrap().write(&mut bytes).unwrap();
    let file = loaded(bytes);
    let again = Program::<[f32; 9], Vec<f32>>::from_file(&file, Vec::new()).unwrap();
    let outputs = again.run([&[1.0, 2.0]; 9]).unwrap();
    assert!(outputs.len() == 9 && outputs.iter().all(|sum| sum.item() == Some(3.0)));
    Program::<[f32; 9], [f32; 9]>::from_file(&file, Vec::new()).unwrap();
    assert_eq!(
        message(Program::<[f32; 9], [f32; 8]>::from_file(&file, Vec::new())),
        "the file has 9 outputs but the program's type has 8"
    );
}

/// Updates in front of other outputs, and in another order than their inputs, as C may have them.
#[test]
fn outputs_of_a_file_in_any_order() {
    let mut b = Builder::new();
    let [x, y] = [2, 3].map(|extent| b.input(dtype_of::<f32>(), &[extent]));
    let (one, ten) = (b.scalar(1.0_f32), b.scalar(10.0_f32));
    let mut add = |a, c| b.node(TNR_NODE_BINARY | tnr_binary_op::ADD.0 as u32, &[a, c], &[]);
    let (next_x, next_y, sum) = (add(x, one), add(y, ten), add(y, one));
    b.output_updating(next_y, y);
    b.output(sum);
    b.output_updating(next_x, x);
    let file = loaded(saved(&b.finish(), &[]));
    let program = Program::<[Updated<f32>; 2], f32>::from_file(&file, Vec::new()).unwrap();
    let (mut x, mut y) = (Tensor::from([1.0_f32, 2.0]), Tensor::from([1.0_f32, 2.0, 3.0]));
    let updated = &mut [(&mut x).into(), (&mut y).into()];
    let outputs = program.run_dyn(&[], updated).unwrap();
    let sum: TensorView<'_, f32> = outputs[0].view().downcast().unwrap();
    assert_eq!(sum.to_vec(), [2.0, 3.0, 4.0]);
    assert_eq!((x, y), (Tensor::from([2.0, 3.0]), Tensor::from([11.0, 12.0, 13.0])));
}

#[test]
fn operations_of_one_s_own_keep_their_names() {
    let mut b = Builder::new();
    let x = b.input(dtype_of::<f32>(), &[2, 2]);
    let index = b.custom(&scaling("scale\0"));
    let scaled = b.node(TNR_NODE_CUSTOM | index, &[x], &[3]);
    b.output(scaled);
    let bytes = saved(&b.finish(), &["scale"]);
    let file = loaded(bytes.clone());
    assert_eq!(
        message(Program::<(f32,), f32>::from_file(&file, Vec::new())),
        "the graph calls the operation 'scale', which is not given"
    );
    let customs = vec![owned(scaling("scale\0"))];
    let program = Program::<(f32,), f32>::from_file(&file, customs).unwrap();
    assert_eq!(program.run((&[[1.0, 2.0], [0.0, -1.0]],)).unwrap(), [[3.0, 6.0], [0.0, -3.0]]);
    let mut again = Vec::new();
    program.write(&mut again).unwrap();
    assert!(again == bytes);
}

#[test]
fn files_and_folders_that_are_none() {
    let path = Scratch::new("none");
    let load = || Program::<(f32,), f32>::load(&path.0, Vec::new()).err().unwrap();
    let prefix = format!("{}: ", path.0.display());
    assert_eq!(load().kind(), ErrorKind::Io);
    assert_eq!(load().message().matches(&prefix).count(), 1, "{}", load());
    let mut bytes = Vec::new();
    network().write(&mut bytes).unwrap();
    bytes.pop();
    fs::write(&path.0, &bytes).unwrap();
    assert_eq!(load().kind(), ErrorKind::InvalidArgument);
    assert_eq!(load().message().matches(&prefix).count(), 1, "{}", load());
    bytes[8] = 5;
    fs::write(&path.0, &bytes).unwrap();
    assert_eq!(load().kind(), ErrorKind::Unsupported);

    let nowhere = path.0.join("no folder/x.tnrp");
    let error = network().save(&nowhere).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().starts_with(&format!("{}: ", nowhere.display())), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_program_is_saved_behind_its_closure() {
    let mut within = None;
    let program = Program::<(f32,), f32>::trace(|graph| {
        let x = graph.input::<f32>([2]);
        let program = graph.program((x,), x + 1.0)?;
        within = program.clone().write(Vec::new()).err();
        Ok(program)
    });
    let expected = "the program is saved when its closure has returned, not in it";
    assert_eq!(within.unwrap().message(), expected);
    program.unwrap().write(Vec::new()).unwrap();
}

/// The graph that comes back is the one that was traced, whatever became of the program.
#[test]
fn what_is_saved_is_the_trace() {
    let mut bytes = Vec::new();
    Program::trace(|graph| {
        let x = graph.input::<f32>([4]);
        graph.program((x,), (x * 2.0 + 1.0).sqrt())
    })
    .unwrap()
    .write(&mut bytes)
    .unwrap();
    let graph = loaded(bytes).build(Vec::new()).unwrap();
    // An input, two numbers, and three nodes that a program computes in one step.
    assert_eq!(GraphRecord::of(&graph, &[]).unwrap().value_count(), 6);
}

/// Reports success without a write.
unsafe extern "C" fn writes_nothing(
    _: *mut c_void,
    _: *const tnr_view,
    _: u32,
    _: *const i64,
    _: u32,
    _: *const tnr_view_mut,
) -> tnr_status {
    tnr_status::OK
}

#[test]
fn a_checked_run_trusts_no_operation() {
    let mut b = Builder::new();
    let x = b.input(dtype_of::<f32>(), &[2, 2]);
    let index = b.custom(&scaling("scale\0"));
    let scaled = b.node(TNR_NODE_CUSTOM | index, &[x], &[3]);
    b.output(scaled);
    let file = loaded(saved(&b.finish(), &["scale"]));
    let with = |operation| Program::<(f32,), f32>::from_file(&file, vec![owned(operation)]);
    let (x, honest) = (numbers([2, 2]), with(scaling("scale\0")).unwrap());
    assert_eq!(honest.run((&x,)).unwrap(), honest.clone().checked().run((&x,)).unwrap());
    let idle = tnr_custom_operation { compute: Some(writes_nothing), ..scaling("scale\0") };
    let error = with(idle).unwrap().checked().run((&x,)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(error.message().contains("left an element unwritten"), "{error}");
}
