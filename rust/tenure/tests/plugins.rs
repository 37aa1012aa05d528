//! Plug-ins, which the C compiler builds here: loaded, used, refused, and closed behind their last
//! operation.
#![cfg(all(feature = "plugins", feature = "programs", target_os = "linux"))]

use std::path::{Path, PathBuf};
use std::process::Command;

use tenure::program::file::ProgramFile;
use tenure::{CustomOperation, ErrorKind, Program, Result, Tensor, Traced, program::load_plugin};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Compiles a shared library of this source.
fn built(name: &str, source: &Path) -> PathBuf {
    let is_c = source.extension().is_some_and(|extension| extension == "c");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lib{name}.so"));
    let (variable, default) = if is_c { ("CC", "cc") } else { ("CXX", "c++") };
    let compiler = std::env::var(variable).unwrap_or_else(|_| default.into());
    let mut words = compiler.split_whitespace();
    let mut compile = Command::new(words.next().expect("the compiler is blank"));
    compile.args(words).args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I"]);
    compile.arg(format!("{ROOT}/capi/include")).arg(source).arg("-o").arg(&library);
    assert!(compile.status().unwrap().success(), "{compile:?}");
    library
}

/// Compiles a shared library of this text.
fn written(name: &str, extension: &str, text: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{extension}"));
    std::fs::write(&source, format!("#include <tenure/tenure.h>\n{text}")).unwrap();
    built(name, &source)
}

fn loaded(library: &Path) -> Result<Vec<CustomOperation>> {
    // SAFETY: libraries that were compiled here, of the sources in this file and the example.
    unsafe { load_plugin(library) }
}

fn is_mapped(library: &Path) -> bool {
    let name = library.file_name().unwrap().to_str().unwrap();
    std::fs::read_to_string("/proc/self/maps").unwrap().contains(&format!("/{name}"))
}

fn softsign(x: f32) -> f32 {
    x / (1.0 + x.abs())
}

#[test]
fn operations_are_used_in_graphs_and_files_and_keep_their_library() {
    let library = built("softsign", &Path::new(ROOT).join("capi/examples/softsign_plugin.c"));
    let mut operations = loaded(&library).unwrap();
    let operation = operations.pop().unwrap();
    assert_eq!((operations.len(), operation.name()), (0, "softsign"));
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("n", 10), 2));
        let y: Traced<f32> = graph.custom(&operation, x.t());
        graph.program((x,), (graph.custom::<f32>(&operation, y * 3.0), y))
    })
    .unwrap();
    let refused = Program::trace(|graph| {
        let x = graph.input::<f64>([2]);
        graph.program((x,), graph.custom::<f64>(&operation, x))
    });
    assert_eq!(refused.err().unwrap().kind(), ErrorKind::Unsupported);
    let mut bytes = Vec::new();
    program.write(&mut bytes).unwrap();
    let len = bytes.len();
    let file = ProgramFile::new(Tensor::from_vec(bytes, len).unwrap()).unwrap();
    type Types = Program<(f32,), (f32, f32)>;
    let reloaded = Types::from_file(&file, vec![operation.clone()]).unwrap();

    let x = [[1.0_f32, -2.0], [0.0, 4.0], [-8.0, 0.5]];
    let y: [[f32; 3]; 2] = std::array::from_fn(|i| std::array::from_fn(|j| softsign(x[j][i])));
    let expected = (y.map(|row| row.map(|y| softsign(y * 3.0))), y);
    for program in [&program, &program.clone().checked(), &reloaded] {
        let (twice, once) = program.run((&x,)).unwrap();
        assert_eq!((twice, once), (expected.0.into(), expected.1.into()));
    }
    drop((operation, program));
    assert!(is_mapped(&library));
    assert_eq!(reloaded.run((&x,)).unwrap().1, expected.1);
    drop(reloaded);
    assert!(!is_mapped(&library));
}

/// An entry that says this of itself, and has one operation.
fn plugin(fields: &str, operation: &str) -> String {
    format!(
        "static int64_t released;
         static tnr_status infer(void* c, const tnr_view* o, uint32_t n, const int64_t* i,
                                 uint32_t m, tnr_dtype* dtype, uint32_t* rank, int64_t* shape) {{
           (void)c, (void)o, (void)n, (void)i, (void)m, (void)shape;
           *dtype = TNR_DTYPE_I64; *rank = 0;
           return TNR_STATUS_OK;
         }}
         static tnr_status compute(void* c, const tnr_view* o, uint32_t n, const int64_t* i,
                                   uint32_t m, const tnr_view_mut* out) {{
           (void)c, (void)o, (void)n, (void)m; {operation}
         }}
         static void release(void* c) {{ (void)c; ++released; }}
         static tnr_custom_operation op;
         static const tnr_custom_operation* const ops[] = {{&op}};
         static tnr_plugin told;
         #ifdef __cplusplus
         extern \"C\"
         #endif
         const tnr_plugin* tnr_plugin_entry(void);
         const tnr_plugin* tnr_plugin_entry(void) {{
           op.struct_size = sizeof op; op.name = \"own\"; op.infer = infer; op.compute = compute;
           op.release = release; op.number_count = 1;
           told.struct_size = sizeof told; told.abi_major = TNR_ABI_MAJOR;
           told.abi_minor = TNR_ABI_MINOR; told.name = \"own\"; told.operations = ops;
           told.operation_count = 1; {fields}
           return &told;
         }}"
    )
}

const WRITES: &str = "*(int64_t*)out->view.data = i[0] * 100 + released; return TNR_STATUS_OK;";

#[test]
fn each_graph_releases_and_numbers_are_given() {
    let library = written("counts", "c", &plugin("", WRITES));
    let operations = loaded(&library).unwrap();
    let traced = |number: usize| {
        let program = Program::trace(|graph| {
            let ours: Traced<i64> = graph.custom_with(&operations[0], (), number);
            graph.program((), ours + graph.custom_with(&operations[0], (), [number]))
        });
        program.unwrap()
    };
    let (one, two) = (traced(1), traced(2));
    assert_eq!(one.run(()).unwrap().item(), Some(200));
    drop(two);
    assert_eq!(one.run(()).unwrap().item(), Some(202));
    // It was called by no graph: nothing is released that was not given.
    drop(loaded(&library).unwrap());
    assert_eq!(one.run(()).unwrap().item(), Some(202));
    drop(operations);
    assert_eq!(one.run(()).unwrap().item(), Some(202));
    let missing: Result<Program<(), i64>> = Program::trace(|graph| {
        let operations = loaded(&library)?;
        graph.program((), graph.custom(&operations[0], ()))
    });
    let message = missing.err().unwrap().message().to_owned();
    assert!(
        message.ends_with(": the node has 0 operands and 0 numbers but own takes 0 and 1"),
        "{message}"
    );
}

#[test]
fn what_is_no_plugin_of_this_abi_is_refused() {
    let refused = |library: &Path| {
        let error = loaded(library).err().unwrap();
        assert!(error.message().starts_with(library.to_str().unwrap()), "{error}");
        (error.kind(), error.message().to_owned())
    };
    let (kind, message) = refused(Path::new("/nowhere/libnone.so"));
    assert_eq!(kind, ErrorKind::Io, "{message}");
    let source = Path::new(ROOT).join("capi/examples/softsign_plugin.c");
    assert_eq!(refused(&source).0, ErrorKind::Io);

    let other =
        written("other_abi", "c", &plugin("told.abi_major = 99; told.operations = 0;", WRITES));
    let (kind, message) = refused(&other);
    assert_eq!(kind, ErrorKind::Unsupported, "{message}");
    assert!(message.contains("the plug-in is of ABI 99.1 but this library of 0.1"), "{message}");
    let newer = written("newer_abi", "c", &plugin("told.abi_minor = 1000;", WRITES));
    assert_eq!(refused(&newer).0, ErrorKind::Unsupported);
    let (kind, message) = refused(&written("no_entry", "c", "int nothing;"));
    assert_eq!(kind, ErrorKind::InvalidArgument);
    assert!(message.contains("exports a function tnr_plugin_entry"), "{message}");
    let (kind, message) = refused(&written("no_name", "c", &plugin("op.name = 0;", WRITES)));
    assert_eq!(kind, ErrorKind::InvalidArgument, "{message}");
    assert!(!is_mapped(&other));
}

#[test]
fn exceptions_pass_through_to_the_library() {
    let library = written("throws", "cpp", &plugin("", "(void)out, (void)i; throw 7;"));
    let operations = loaded(&library).unwrap();
    let program: Program<(), i64> =
        Program::trace(|graph| graph.program((), graph.custom_with(&operations[0], (), 1)))
            .unwrap();
    let error = program.run(()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(error.message().contains("operation own threw an exception"), "{error}");
}
