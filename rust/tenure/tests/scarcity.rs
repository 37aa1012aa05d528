//! Resources that are refused from outside: memory in the middle of the work, and the instruction
//! set that the environment selects. Each test runs again in a separate process with that
//! restriction.

use std::env;
use std::process::Command;

use tenure::{
    CooMatrix, CscView, CsrMatrix, ErrorKind, Tensor,
    ops::{add, add_into, sum},
    stats,
};

/// Set in that separate process.
const INSIDE: &str = "TENURE_TEST_INSIDE";

/// Runs the test `name` again by `command`, which is followed by this program and its arguments.
/// `None` where such a process cannot begin: a sanitizer needs the address space itself.
fn run_inside(name: &str, command: &[&str], variables: &[(&str, &str)]) -> Option<()> {
    let program = env::current_exe().unwrap();
    let run = |arguments: &[&str]| {
        Command::new(command[0])
            .args(&command[1..])
            .arg(&program)
            .args(arguments)
            .envs(variables.iter().copied())
            .env(INSIDE, "1")
            .output()
            .unwrap()
    };
    if !run(&["--list"]).status.success() {
        println!("skipped: {name}: no process can begin by {command:?}");
        return None;
    }
    let output = run(&["--exact", name, "--nocapture"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
    Some(())
}

fn is_inside() -> bool {
    env::var_os(INSIDE).is_some()
}

/// Results are made and kept until the limit refuses one: an error, and everything else is as it
/// was.
#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_memory_limit_in_mid_call_is_an_error() {
    if !is_inside() {
        let limited = ["sh", "-c", "ulimit -v 300000 && exec \"$@\"", "sh"];
        run_inside("a_memory_limit_in_mid_call_is_an_error", &limited, &[]);
        return;
    }
    const SHAPE: [usize; 2] = [1024, 1024]; // 4 MiB
    let a = Tensor::<f32>::full(SHAPE, 1.0).unwrap();
    let mut results = Vec::with_capacity(256);
    let made = stats();
    let error = loop {
        match add(&a, &a) {
            Ok(result) => results.push(result),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert!(error.message().contains("4194304 bytes could not be allocated"), "{error}");
    assert!(results.len() > 8, "{}", results.len());
    let now = stats();
    assert_eq!(now.blobs_made - made.blobs_made, results.len() as u64);
    assert_eq!(now.blobs_finished, made.blobs_finished);
    assert_eq!(now.calls - made.calls, results.len() as u64);

    // Earlier results can be used, also as outputs.
    assert_eq!(sum(&a, ..).unwrap().item().unwrap(), 1_048_576.0);
    assert!(results.iter().all(|result| result.view()[[1023, 1023]] == 2.0));
    let last = results.len() - 1;
    let (first, rest) = results.split_at_mut(1);
    add_into(&a, &rest[last - 1], &mut first[0]).unwrap();
    assert_eq!(first[0].view()[[7, 7]], 3.0);

    // One that ends makes room for one, and several that are held back for one that is larger.
    results.pop();
    results.push(add(&a, &a).unwrap());
    results.truncate(results.len() - 4);
    drop(Tensor::<f32>::full([3 * 1024, 1024], 1.0).unwrap());
}

/// The offsets of 2^26 rows are 256 MiB, and nothing else is as large.
#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn few_entries_of_many_rows_take_the_memory_of_their_result() {
    if !is_inside() {
        let name = "few_entries_of_many_rows_take_the_memory_of_their_result";
        run_inside(name, &["sh", "-c", "ulimit -v 600000 && exec \"$@\"", "sh"], &[]);
        return;
    }
    const ROWS: usize = 1 << 26;
    let rows = [0, 5, ROWS as i32 - 1];
    let by_columns = CscView::new(ROWS, 2, &[0, 1, 3], &rows, &[1.0, 2.0, 3.0]).unwrap();
    let entries: CooMatrix<f64> = by_columns.to_coo().unwrap();
    let conversions: [&dyn Fn() -> tenure::Result<CsrMatrix<f64>>; 2] =
        [&|| by_columns.to_csr(), &|| entries.to_csr()];
    for convert in conversions {
        let by_rows = convert().unwrap();
        let found: Vec<_> = by_rows.iter().map(|(row, col, value)| (row, col, *value)).collect();
        assert_eq!(found, [(0, 0, 1.0), (5, 1, 2.0), (ROWS - 1, 1, 3.0)]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn an_unknown_instruction_set_is_refused_by_what_computes() {
    if !is_inside() {
        let name = "an_unknown_instruction_set_is_refused_by_what_computes";
        assert!(run_inside(name, &["env"], &[("TENURE_ISA", "sse9")]).is_some());
        return;
    }
    let data = [1.0_f32, 2.0];
    let mut out = [7.0_f32; 2];
    for _ in 0..2 {
        let error = add_into(data, data, &mut out).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().starts_with("add_into: TENURE_ISA is \"sse9\" but must be "));
        assert_eq!(add(data, data).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    assert_eq!(out, [7.0; 2]);
    assert_eq!(stats().calls, 0);
    assert!(tenure::build_info().ends_with("in use: none"));
    // Memory and views need no kernel.
    let tensor = Tensor::copy_from_slice(&data, [2]).unwrap();
    assert_eq!(tensor.view().flip(0).unwrap().to_vec(), [2.0, 1.0]);
}

/// Each call to the system that sealed memory takes and that a limit can refuse: the error says so,
/// no descriptor stays open, and one that was handed in comes back.
#[cfg(all(feature = "sealed", target_os = "linux"))]
mod sealed {
    use std::fs::{self, File};
    use std::os::fd::OwnedFd;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use tenure::io::Sealed;

    use super::*;

    const BYTES: usize = 1 << 20;

    fn open_descriptors() -> usize {
        fs::read_dir("/proc/self/fd").unwrap().count()
    }

    fn refused(made: tenure::Result<Sealed>) -> ErrorKind {
        made.expect_err("the limit refuses it").kind()
    }

    #[test]
    #[cfg_attr(miri, ignore = "starts a process")]
    fn no_descriptor_is_left() {
        if !is_inside() {
            let limited = ["sh", "-c", "ulimit -n 40 && exec \"$@\"", "sh"];
            run_inside("sealed::no_descriptor_is_left", &limited, &[]);
            return;
        }
        let mut others = Vec::new();
        while let Ok(file) = File::open("/proc/self/exe") {
            others.push(file);
        }
        assert!(others.len() > 8);
        assert_eq!(refused(Sealed::copy_from_slice(&[1])), ErrorKind::Io);
        assert_eq!(refused(Sealed::read("/proc/self/exe")), ErrorKind::Io);
        others.pop();
        // One for the file, none for the memory.
        assert_eq!(refused(Sealed::read("/proc/self/exe")), ErrorKind::Io);
        assert_eq!(Sealed::copy_from_slice(&[1]).unwrap().as_ref(), [1]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "starts a process")]
    fn it_may_not_be_written() {
        if !is_inside() {
            // In blocks of 512 or 1024 bytes; without the signal the call itself is refused.
            let limits = "trap '' XFSZ; ulimit -f 512 && exec \"$@\"";
            run_inside("sealed::it_may_not_be_written", &["sh", "-c", limits, "sh"], &[]);
            return;
        }
        let bytes = vec![7; BYTES];
        let before = open_descriptors();
        assert_eq!(refused(Sealed::copy_from_slice(&bytes)), ErrorKind::Io);
        assert_eq!(refused(Sealed::read("/proc/self/exe")), ErrorKind::Io);
        assert_eq!(open_descriptors(), before);
        assert_eq!(Sealed::copy_from_slice(&bytes[..1000]).unwrap().as_ref(), &bytes[..1000]);
        assert_eq!(open_descriptors(), before);
    }

    #[test]
    #[cfg_attr(miri, ignore = "starts a process")]
    fn it_may_not_be_mapped() {
        if !is_inside() {
            let limited = ["sh", "-c", "ulimit -v 300000 && exec \"$@\"", "sh"];
            run_inside("sealed::it_may_not_be_mapped", &limited, &[]);
            return;
        }
        // Reserves only addresses: nothing is written to it.
        let of_another = |bytes: u64| -> OwnedFd {
            let fd = memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap();
            rustix::fs::ftruncate(&fd, bytes).unwrap();
            fcntl_add_seals(&fd, SealFlags::WRITE | SealFlags::SHRINK).unwrap();
            fd
        };
        let before = open_descriptors();
        let rejected = Sealed::from_fd(of_another(1 << 30)).expect_err("the limit refuses it");
        assert_eq!(rejected.error().kind(), ErrorKind::OutOfMemory);
        let back = File::from(rejected.into_data());
        assert_eq!(back.metadata().unwrap().len(), 1 << 30);
        drop(back);
        // Mappings are given back: a thousand times more than there are addresses for.
        for _ in 0..1000 {
            let taken = Sealed::from_fd(of_another(64 << 20)).unwrap();
            assert_eq!(taken.as_ref()[(64 << 20) - 1], 0);
        }
        assert_eq!(open_descriptors(), before);
    }
}
