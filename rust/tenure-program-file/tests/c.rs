//! The header and the archive, as a program in C has them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tenure::{Passes, Tensor};
use tenure_demo::{DATA, learned};
use tenure_encoder::Bert;

#[path = "../../encoder/tests/model/mod.rs"]
mod model;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Names of the functions that these files declare, up to the parenthesis.
fn functions(paths: &[&str], is_declared: impl Fn(&str) -> bool) -> Vec<String> {
    let text: String = paths.iter().map(|path| fs::read_to_string(here(path)).unwrap()).collect();
    let declared = text.lines().filter(|line| is_declared(line));
    let mut names: Vec<String> = declared
        .filter_map(|line| line.split('(').next()?.rsplit([' ', '*']).next())
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

#[test]
fn the_header_has_the_functions_of_the_source() {
    let header = functions(&["include/tenure/program_file.h"], |line| {
        line.contains("tnr_program_file_")
            && line.contains('(')
            && !line.starts_with([' ', '/', 'T'])
    });
    let source =
        functions(&["src/lib.rs", "src/opened.rs"], |line| line.contains("extern \"C\" fn"));
    assert_eq!(header, source);
    assert_eq!(header.len(), 9);
}

/// A program of the source, linked with the archive.
fn compiled(source: &str, name: &str) -> PathBuf {
    // Cargo puts a test's archive next to the test's program, with the same hash for the same
    // build: the newest is that of this one.
    let folder = env::current_exe().unwrap().parent().unwrap().to_owned();
    let archives = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()).filter(|entry| {
        let name = entry.file_name().into_string().unwrap_or_default();
        name.starts_with("libtenure_program_file") && name.ends_with(".a")
    });
    let archive = archives.max_by_key(|entry| entry.metadata().unwrap().modified().unwrap());
    let archive = archive.expect("cargo has made the archive").path();
    let program = folder.join(name);
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = compiler.split_whitespace();
    let mut compile = Command::new(words.next().unwrap());
    compile.args(words).args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread"]);
    for folder in ["include", "../../capi/include"] {
        compile.arg("-I").arg(here(folder));
    }
    compile.arg(here(source)).arg(&archive).arg("-o").arg(&program);
    // An archive without a core is linked with a library that has it.
    if env::var_os("TENURE_NO_VENDOR").is_some() && env::var_os("TENURE_STATIC").is_none() {
        compile.arg("-ltenure");
    }
    compile.args(["-lstdc++", "-lm", "-ldl"]);
    assert!(compile.status().unwrap().success());
    program
}

/// All that a program says, and its exit code.
fn said(program: &Path, arguments: &[&Path]) -> (String, Option<i32>) {
    let output = Command::new(program).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (said.trim().to_owned(), output.status.code())
}

fn scratch(name: &str) -> PathBuf {
    env::temp_dir().join(format!("tenure-{name}-{}.tnrp", std::process::id()))
}

#[test]
#[cfg_attr(not(unix), ignore = "calls the system's C compiler as Unix has it")]
fn a_program_in_c_saves_and_loads() {
    let path = scratch("in-c");
    let program = compiled("tests/saves_and_loads.c", "program_file_in_c");
    assert_eq!(said(&program, &[&path]), ("saved, loaded and run".to_owned(), Some(0)));
    fs::remove_file(path).unwrap();
}

#[test]
fn a_program_in_c_trains_by_a_step_of_rust() {
    let path = scratch("step");
    let data = Path::new(DATA);
    learned::step().unwrap().save(&path).unwrap();
    let program = compiled("examples/train_digits.c", "train_digits_in_c");
    let (pixels, labels) = (data.join("digits.npy"), data.join("digits.labels.npy"));
    let (report, code) = said(&program, &[&path, &pixels, &labels]);
    assert_eq!(code, Some(0), "{report}");
    let loss: f32 = report.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(report.starts_with("1000 steps: loss ") && loss < 0.3, "{report}");
    let (report, code) = said(&program, &[&path, &labels, &labels]);
    assert!(report.starts_with("usage: ") && code == Some(1), "{report}");
    let (report, code) = said(&program, &[&labels, &pixels, &labels]);
    assert!(report.contains("the file is no program") && code == Some(1), "{report}");
    fs::remove_file(path).unwrap();
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "counts allocations by names of the GNU C library")]
fn preallocated_steps_in_c_allocate_nothing() {
    let path = scratch("steps");
    learned::step().unwrap().save(&path).unwrap();
    let program = compiled("tests/preallocated_steps.c", "preallocated_steps_in_c");
    let (report, code) = said(&program, &[&path, Path::new("300")]);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.starts_with("300 steps, 0 allocations"), "{report}");
    fs::remove_file(path).unwrap();
}

#[test]
#[cfg_attr(not(unix), ignore = "maps files as Unix does")]
fn a_program_in_c_runs_what_was_traced_in_rust() {
    let path = scratch("digits");
    let data = Path::new(DATA);
    learned::learned(DATA).unwrap().save(&path).unwrap();
    let program = compiled("examples/digits.c", "digits_in_c");
    let (pixels, labels) = (data.join("digits.npy"), data.join("digits.labels.npy"));
    let (report, code) = said(&program, &[&path, &pixels, &labels]);
    assert_eq!(code, Some(0), "{report}");
    let steps: Vec<&str> =
        report.lines().map(|line| line.split("  ").next().unwrap_or_default()).collect();
    let expected = ["step", "cast mul", "conv2d", "conv2d", "pool2d", "copy", "matmul", "argmax"];
    assert_eq!(steps[..8], expected, "{report}");
    let right = report.lines().last().unwrap();
    let percent: f32 = right.split(' ').next().unwrap().parse().unwrap();
    assert!(percent > 92.0 && right.ends_with("297 digits that it has not seen"), "{right}");

    for (arguments, error) in [
        ([&pixels, &pixels, &labels], "the file is no program"),
        ([&path, &labels, &labels], "offset_bytes is 96128 but size_bytes is 1925"),
        ([&path, &pixels, &path], "no .npy files of bytes"),
        ([&path, &pixels, &here("none")], "No such file"),
    ] {
        let (message, code) = said(&program, &arguments.map(PathBuf::as_path));
        assert!(code == Some(1) && message.contains(error), "{message}");
    }
    fs::remove_file(path).unwrap();
}

#[test]
#[cfg_attr(not(unix), ignore = "maps files as Unix does")]
fn a_program_in_c_embeds_what_one_in_rust_does() {
    let path = scratch("encoder");
    let bert = Bert::new(&model::opened(&model::model()), model::HEADS).unwrap();
    let encoder = bert.program(Passes::DEFAULT).unwrap();
    encoder.save(&path).unwrap();
    let program = compiled("examples/embed.c", "embed_in_c");
    let of = |ids: &[i64]| {
        let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
        let ids = ids.iter().map(|id| Path::new(id.as_str()));
        said(&program, &[path.as_path()].into_iter().chain(ids).collect::<Vec<_>>())
    };
    for ids in [&[2, 4, 5, 3][..], &[2, 3], &[10; model::POSITIONS]] {
        let tokens = Tensor::from_vec(ids.to_vec(), [1, ids.len()]).unwrap();
        let expected = encoder.run((&tokens, &[ids.len() as i64])).unwrap();
        let (vector, code) = of(ids);
        assert_eq!(code, Some(0), "{vector}");
        let vector: Vec<f32> = vector.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(vector, expected.to_vec());
    }
    let (message, code) = of(&[2, 11, 3]);
    assert!(code == Some(1) && message.starts_with("the run: "), "{message}");
    let (message, code) = of(&[2; model::POSITIONS + 1]);
    assert!(code == Some(1) && message.starts_with("the shape: "), "{message}");
    fs::remove_file(path).unwrap();
}
