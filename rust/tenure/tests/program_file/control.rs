//! Graphs within graphs: conditions and loops come back, and files that lie about them are refused.

use super::{ErrorKind, assert_golden, golden, opened};
use tenure::{Bool8, CustomOperation, Program, Tensor, io};

type Looping = Program<(f32, Bool8), (f32, i64, f32)>;

/// Constants at every depth, nodes of several results, an extent by its name, and values behind.
fn looping() -> Looping {
    Program::trace(|graph| {
        let n = graph.extent("n", 20);
        let (x, flag) = (graph.input::<f32>([n]), graph.input::<Bool8>(()));
        let ones = graph.copy_constant(&[1.0_f32; 20]).slice(0, 0, n);
        let zero = graph.copy_constant(&Tensor::full([], 0_i64)?);
        let (y, steps) = graph.while_loop(
            9,
            (x, zero),
            (ones, flag),
            |body, (_, i), _| body.outputs(i.lt(5)),
            |body, (x, i), (ones, flag)| {
                // Bodies within it name it too.
                let _ = body.extent("n", 20);
                let table = body.copy_constant(&[0.5_f32]);
                let (a, b) = body.cond(
                    flag,
                    (x, ones),
                    |inner, (x, ones)| {
                        let n = inner.extent("n", 20);
                        let table = inner.copy_constant(&[3.0_f32, 4.0]).slice(0, 1, 2);
                        inner.outputs(((x * table).reshape((n, 1)).reshape(n), ones))
                    },
                    |inner, (x, ones)| inner.outputs((x, ones + x)),
                )?;
                body.outputs((a + b * table, i + 1))
            },
        )?;
        graph.program((x, flag), (y * 2.0, steps, y))
    })
    .unwrap()
}

fn written(program: &Looping) -> Vec<u8> {
    let mut file = Vec::new();
    program.write(&mut file).unwrap();
    file
}

fn read(file: &[u8]) -> tenure::Result<Looping> {
    Program::from_file(&opened(file)?, Vec::new())
}

#[test]
fn comes_back_with_the_same_bits() {
    let program = looping();
    let file = written(&program);
    assert_eq!(file[8], 2);
    let again = read(&file).unwrap();
    assert!(written(&again) == file);
    let mut lent = Vec::new();
    opened(&file).unwrap().record().unwrap().save(&mut lent).unwrap();
    assert!(lent == file);
    for flag in [false, true] {
        let flag = Tensor::full([], Bool8::from(flag)).unwrap();
        for count in [1_usize, 7, 20] {
            let x: Vec<f32> = (0..count).map(|i| 0.1 + i as f32).collect();
            let (a, b) = (program.run((&x, &flag)).unwrap(), again.run((&x, &flag)).unwrap());
            assert_eq!(a.0.to_vec(), b.0.to_vec());
            assert_eq!((a.1.item(), a.2.to_vec()), (Some(5), b.2.to_vec()));
        }
    }
}

#[test]
fn version_2_is_read_for_ever() {
    let file = io::read(golden(2)).unwrap();
    let program = read(file.as_slice().unwrap()).unwrap();
    // Five turns of 4 x + 1 / 2, or of x + (1 + x) / 2.
    for (flag, expected) in [(true, [170.5_f32, 1194.5]), (false, [6.59375, 14.1875])] {
        let flag = Tensor::full([], Bool8::from(flag)).unwrap();
        let (twice, steps, y) = program.run((&[0.0_f32, 1.0], &flag)).unwrap();
        assert_eq!(y.to_vec(), expected);
        assert_eq!((twice.to_vec(), steps.item()), (expected.map(|y| 2.0 * y).into(), Some(5)));
    }
}

#[test]
fn version_2_is_written_as_it_was() {
    assert_golden(2, &written(&looping()));
}

#[test]
fn every_bit_and_every_length() {
    let file = written(&looping());
    let graph_bytes = u64::from_le_bytes(file[24..32].try_into().unwrap()) as usize;
    let (mut built, mut refused) = (0, 0);
    for bit in 0..8 * (64 + graph_bytes) {
        let mut changed = file.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        match opened(&changed).and_then(|read| read.build(Vec::new())) {
            Ok(graph) => {
                drop(opened(&super::saved(&graph, &[])).unwrap());
                built += 1;
            }
            Err(error) => {
                assert!(error.message().len() > 8, "{error:?}");
                refused += 1;
            }
        }
    }
    assert!(built > 100 && refused > 1000, "{built} are built and {refused} are refused");
    (0..file.len()).for_each(|len| assert!(opened(&file[..len]).is_err()));
}

/// A file of version 2 of this graph, without constants.
fn file_of(version: u8, graph: &[u8]) -> Vec<u8> {
    let mut file = super::saved(&super::graphs::Builder::new().finish(), &[]);
    file[8] = version;
    file[24..32].copy_from_slice(&(graph.len() as u64).to_le_bytes());
    file.extend(graph);
    file
}

fn refused(version: u8, graph: &[u8]) -> tenure::Error {
    let file = opened(&file_of(version, graph));
    file.and_then(|file| file.build(Vec::new())).expect_err("it is no graph")
}

/// `depth` graphs, each one nested in the next.
fn nested(depth: usize) -> Vec<u8> {
    let mut graph = Vec::new();
    for _ in 0..depth {
        let (mut length, mut around) = (graph.len(), vec![0x2a]);
        while length > 127 {
            around.push(length as u8 | 128);
            length >>= 7;
        }
        around.push(length as u8);
        around.extend(&graph);
        graph = around;
    }
    graph
}

#[test]
fn hostile_graphs_within_graphs() {
    for depth in [9, 10, 100, 5_000] {
        assert_eq!(refused(2, &nested(depth)).message(), "subgraphs are more than 8 deep");
    }
    // The core refuses a body of nothing.
    assert!(refused(2, &nested(8)).message().contains("the body has no output"));
    let wide = nested(2).repeat(65_537);
    assert_eq!(refused(2, &wide).message(), "the graph has more than 65536 subgraphs");
    let many = [vec![0x2a, 0xfe, 0xff, 0x03], [0x2a, 0].repeat(32_767)].concat().repeat(9);
    let message = "the graph and those within have more than 262144 parts";
    assert_eq!(refused(2, &many).message(), message);
    // A version that does not go with the graph.
    for (version, graph) in [(1, nested(1)), (2, Vec::new())] {
        let error = refused(version, &graph);
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().contains("its subgraphs or names are of another"), "{error}");
    }
    // Results of no node, an operation within, and a name that is one there.
    let error = refused(2, &[&nested(1)[..], &[0x1a, 2, 0x28, 1]].concat());
    assert_eq!(error.message(), "values[0]: it is no next result of a node");
    // The name of an operation in a body, which only version 3 has, given twice or not given.
    let within = [0x2a, 3, 0x12, 1, b'f'];
    assert!(refused(2, &within).message().contains("its subgraphs or names are of another"));
    let message = "subgraphs[0]: the graph calls the operation 'f', which is not given";
    assert_eq!(refused(3, &within).message(), message);
    let twice = refused(3, &[0x2a, 6, 0x12, 1, b'f', 0x12, 1, b'f']);
    assert_eq!(twice.message(), "subgraphs[0]: the name 'f' of an operation stands twice");
}

/// Custom operations: ones of the operand's shape, and each element doubled.
fn customs() -> [CustomOperation; 2] {
    let ones = CustomOperation::new::<(f32,), f32>(
        "ones",
        |[x]| Ok(x.to_vec()),
        |_, mut out| {
            out.fill(1.0);
            Ok(())
        },
    );
    let doubled = CustomOperation::new::<(f32,), f32>(
        "doubled",
        |[x]| Ok(x.to_vec()),
        |(x,), mut out| Ok(tenure::ops::mul_into(x, 2.0, &mut out)?),
    );
    [ones.unwrap(), doubled.unwrap()]
}

type Calling = Program<(f32, Bool8), f32>;

/// The graph itself and a body call one of them each, and a body in a body calls both.
fn calling([ones, doubled]: &[CustomOperation; 2]) -> Calling {
    Program::trace(|graph| {
        let (x, flag) = (graph.input::<f32>([2]), graph.input::<Bool8>(()));
        let y = graph.cond(
            flag,
            (graph.custom::<f32>(doubled, x), flag),
            |body, (x, flag)| {
                let inner = body.cond(
                    flag,
                    x,
                    |inner, x| {
                        let ones = inner.custom::<f32>(ones, x);
                        inner.outputs(inner.custom::<f32>(doubled, x) + ones)
                    },
                    |inner, x| inner.outputs(x),
                )?;
                body.outputs(inner)
            },
            |body, (x, _)| body.outputs(body.custom::<f32>(ones, x)),
        )?;
        graph.program((x, flag), y)
    })
    .unwrap()
}

#[test]
fn operations_of_ones_own_in_bodies_come_back() {
    let customs = customs();
    let program = calling(&customs);
    let mut file = Vec::new();
    program.write(&mut file).unwrap();
    assert_eq!(file[8], 3);
    let read = opened(&file).unwrap();
    assert_eq!(read.custom_names(), ["doubled", "ones"]);
    assert_eq!(read.record().unwrap().custom_names(), ["doubled", "ones"]);
    let again = Calling::from_file(&read, customs.to_vec()).unwrap();
    let mut twice = Vec::new();
    again.write(&mut twice).unwrap();
    assert!(twice == file);
    for (flag, expected) in [(true, [5.0, 9.0]), (false, [1.0, 1.0])] {
        let flag = Tensor::full([], Bool8::from(flag)).unwrap();
        for of in [&program, &again] {
            assert_eq!(of.run((&[1.0, 2.0], &flag)).unwrap(), expected);
        }
    }
    let [_, doubled] = customs;
    let error = Calling::from_file(&read, vec![doubled]).unwrap_err();
    let expected = "subgraphs[0]: subgraphs[0]: the graph calls the operation 'ones', which is not";
    assert!(error.message().starts_with(expected), "{error}");
    // A reader of version 2 would not know that bodies call them.
    let mut older = file.clone();
    older[8] = 2;
    let error = opened(&older).unwrap_err();
    assert!(error.message().contains("its subgraphs or names are of another"), "{error}");
}

#[test]
fn version_3_is_read_for_ever() {
    let customs = customs();
    let mut file = Vec::new();
    calling(&customs).write(&mut file).unwrap();
    assert_golden(3, &file);
    let program = Calling::load(golden(3), customs.to_vec()).unwrap();
    let flag = Tensor::full([], Bool8::from(true)).unwrap();
    assert_eq!(program.run((&[1.0, 2.0], &flag)).unwrap(), [5.0, 9.0]);
    let error = Calling::load(golden(3), Vec::new()).unwrap_err();
    assert!(error.message().contains("version_3.tnrp: "), "{error}");
    assert!(error.message().ends_with("calls the operation 'doubled', which is not given"));
}
