//! Files as memory: read once, mapped, sealed; the owners of the bytes, and the refusals.

use std::fs;
use std::path::PathBuf;

#[path = "../sanitizer/mod.rs"]
mod sanitizer;

use tenure::*;

/// A file that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let path = std::env::temp_dir().join(format!("tenure-{}-{name}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).flat_map(|number| (number as f32).to_ne_bytes()).collect()
}

#[test]
fn a_file_is_read_once_and_lent_from_there() -> Result<()> {
    let file = Scratch::new("read", &numbers(1000));
    let before = stats();
    let bytes = io::read(&file.0)?;
    let after = stats();
    assert!(after.allocated_bytes - before.allocated_bytes >= 4000);
    assert_eq!((bytes.shape(), bytes.tenure()), (&[4000][..], Tenure::Allocated));
    assert_eq!(bytes.as_slice(), Some(&numbers(1000)[..]));
    assert_eq!(bytes.as_ptr().addr() % 64, 0);

    let (address, bytes) = (bytes.as_ptr().addr(), bytes.into_shared());
    let late = SharedTensor::<f32>::from_bytes(bytes.clone(), 400, [3, 300])?;
    assert_eq!((late.as_ptr().addr(), late.tenure()), (address + 400, Tenure::Shared));
    drop(bytes);
    assert_eq!(late[[1, 0]], 400.0, "the tensor holds on to what was read");
    Ok(())
}

#[test]
fn large_files_lie_in_large_memory() -> Result<()> {
    let contents: Vec<u8> = (0..(3 << 20) + 5).map(|at| (at / 7) as u8).collect();
    let file = Scratch::new("large", &contents);
    let bytes = io::read(&file.0)?;
    assert!(bytes.as_slice() == Some(&contents[..]));
    if !sanitizer::owns_malloc() {
        assert_eq!(bytes.as_ptr().addr() % (2 << 20), 0);
    }
    Ok(())
}

#[test]
fn files_of_nothing_and_of_unknown_length_are_read() -> Result<()> {
    let empty = Scratch::new("empty", &[]);
    assert_eq!(io::read(&empty.0)?.shape(), [0]);
    if cfg!(target_os = "linux") {
        // It says that it has 0 bytes.
        assert!(!io::read("/proc/self/status")?.is_empty());
    }
    Ok(())
}

#[test]
fn read_errors_name_the_file() {
    let error = io::read("no/such/file").err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().starts_with("no/such/file: "), "{error}");
    let error = error.clone();
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<std::io::Error>();
    assert_eq!(source.unwrap().kind(), std::io::ErrorKind::NotFound);
    let folder = std::env::temp_dir();
    let error = io::read(&folder).err().unwrap();
    assert!(error.message().starts_with(&format!("{}: ", folder.display())), "{error}");
}

#[test]
fn a_shape_that_leaves_the_file_is_refused_with_its_bounds() -> Result<()> {
    let file = Scratch::new("bounds", &numbers(10));
    let bytes = io::read(&file.0)?.into_shared();
    let message = |offset, shape: &[usize]| {
        let refused = SharedTensor::<f32>::from_bytes(bytes.clone(), offset, shape);
        refused.err().unwrap().error().message().to_owned()
    };
    assert_eq!(
        message(4, &[10]),
        "shape [10] of f32 needs 40 bytes from byte 4 on but the memory has 40 bytes"
    );
    assert_eq!(
        message(usize::MAX, &[1]),
        format!(
            "shape [1] of f32 needs 4 bytes from byte {} on but the memory has 40 bytes",
            usize::MAX
        )
    );
    assert!(message(0, &[usize::MAX, 2]).contains("needs more than"));
    assert_eq!(
        message(2, &[1]),
        "data lies 2 bytes past a multiple of 4, the alignment of its dtype"
    );
    Ok(())
}

#[test]
fn tensors_lie_in_a_mapped_file_and_hold_the_map() -> Result<()> {
    let file = Scratch::new("mapped", &numbers(100));
    let opened = fs::File::open(&file.0).unwrap();
    // SAFETY: no other code knows of this file, and no code writes it.
    let map = unsafe { memmap2::Mmap::map(&opened) }.unwrap();
    let address = map.as_ptr().addr();
    let all = SharedTensor::<u8>::from_bytes(map, 0, 400)?;
    let late = SharedTensor::<f32>::from_bytes(all.clone(), 40, [9, 10])?;
    assert_eq!((all.as_ptr().addr(), late.as_ptr().addr()), (address, address + 40));
    drop(all);
    assert_eq!(late[[8, 9]], 99.0);
    Ok(())
}

/// The crash that docs/files.md warns of. The child process is this program once more, since it
/// ends there.
#[test]
#[cfg(target_os = "linux")]
fn a_mapped_file_that_becomes_shorter_ends_the_process() -> Result<()> {
    const CHILD: &str = "TENURE_SHORTENED_FILE";
    let Some(path) = std::env::var_os(CHILD) else {
        let file = Scratch::new("shortened", &numbers(100_000));
        let name = "io::a_mapped_file_that_becomes_shorter_ends_the_process";
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, &file.0)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(said.contains("sum of a whole file: 4999950000"), "{said}");
        assert!(!said.contains("survived"), "{said}");
        // SIGBUS itself, or what a sanitizer makes of it.
        assert!(!child.status.success(), "{}", child.status);
        return Ok(());
    };
    let file = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    // SAFETY: violated below on purpose: a read of the removed pages ends the process.
    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    let numbers = SharedTensor::<f32>::from_bytes(map, 0, 100_000)?;
    let sum = |of: &SharedTensor<f32>| -> Result<f64> {
        Ok(of.view().iter().map(|number| f64::from(*number)).sum())
    };
    println!("sum of a whole file: {}", sum(&numbers)?);
    file.set_len(4096).unwrap();
    println!("survived: {}", sum(&numbers)?);
    Ok(())
}

#[test]
fn elements_of_held_tensors_are_those_in_memory() -> Result<()> {
    let mut tensor = Tensor::from_vec_in(vec![1, 2, 3, 4], [2, 2], Order::ColumnMajor)?;
    let elements: &mut [i32] = tensor.as_mut();
    elements[1] = 20;
    assert_eq!((tensor[[1, 0]], tensor.as_ref()), (20, &[1, 20, 3, 4][..]));
    let empty = Tensor::<f64>::zeros([3, 0])?;
    assert_eq!(empty.as_ref(), []);
    assert_eq!(empty.into_shared().as_ref(), []);
    Ok(())
}

#[cfg(all(feature = "sealed", target_os = "linux"))]
mod sealed {
    use std::io::{Seek, SeekFrom, Write};
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use tenure::io::Sealed;

    use super::*;

    /// Memory of another process, as far as `Sealed` can tell.
    fn memory(bytes: &[u8], seals: SealFlags) -> OwnedFd {
        let fd = memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap();
        fs::File::from(fd.try_clone().unwrap()).write_all(bytes).unwrap();
        fcntl_add_seals(&fd, seals).unwrap();
        fd
    }

    #[test]
    fn sealed_memory_lends_and_is_held() -> Result<()> {
        let file = Scratch::new("sealed", &numbers(10));
        let sealed = Sealed::read(&file.0)?;
        fs::write(&file.0, [7; 40]).unwrap();
        let address = sealed.as_ref().as_ptr();
        let tensor = SharedTensor::<f32>::from_bytes(sealed, 8, 8)?;
        assert_eq!((tensor.as_ptr().addr(), tensor[[7]]), (address.addr() + 8, 9.0));
        assert_eq!(Sealed::copy_from_slice(&[])?.as_ref(), []);
        Ok(())
    }

    #[test]
    fn nobody_writes_or_shortens_it() -> Result<()> {
        let sealed = Sealed::copy_from_slice(&[1, 2, 3])?;
        let mut other = fs::File::from(sealed.as_fd().try_clone_to_owned().unwrap());
        other.seek(SeekFrom::Start(0)).unwrap();
        assert!(other.write(&[9]).is_err() && other.set_len(1).is_err());
        assert!(fs::File::from(memory(&[1], SealFlags::empty())).write(&[9]).is_ok());
        // SAFETY: the map is refused.
        assert!(unsafe { memmap2::MmapMut::map_mut(&other) }.is_err());
        assert_eq!(sealed.as_ref(), [1, 2, 3]);
        Ok(())
    }

    #[test]
    fn memory_of_others_is_taken_only_where_its_seals_are() {
        let both = SealFlags::WRITE | SealFlags::SHRINK;
        let taken = Sealed::from_fd(memory(&[1, 2], both)).unwrap();
        assert_eq!(taken.as_ref(), [1, 2]);
        let seals = [
            SealFlags::empty(),
            SealFlags::WRITE,
            SealFlags::SHRINK,
            SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE,
        ];
        for seals in seals {
            let rejected = Sealed::from_fd(memory(&[1, 2], seals)).err().unwrap();
            assert!(rejected.error().message().contains("but must have"), "{rejected}");
            let back = fs::File::from(rejected.into_data());
            assert_eq!(back.metadata().unwrap().len(), 2);
        }
    }
}

/// `save` of every writer: whole files, errors that name them, and nothing left behind.
#[test]
#[cfg_attr(miri, ignore = "writes files")]
#[allow(clippy::needless_borrows_for_generic_args, reason = "references are to be taken too")]
fn tensors_and_matrices_are_saved_to_paths() -> tenure::Result<()> {
    use tenure::io::{matrix_market, npy, safetensors};
    use tenure::{CsrMatrix, SharedTensor, TensorView, TensorViewMut};

    let folder = std::env::temp_dir().join(format!("tenure-saved-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = |name: &str| folder.join(name);
    let mut data = [1.0_f32, 2.0, 3.0, 4.0];
    let tensor = Tensor::copy_from_slice(&data, [2, 2])?;
    let read = || npy::read::<f32>(path("a.npy"));

    // By value and by reference, of every type that lends a view; each replaces the one before.
    npy::save(path("a.npy"), &tensor)?;
    assert_eq!(read()?, tensor);
    npy::save(path("a.npy"), tensor.view().t())?;
    assert_eq!(read()?, tensor.t());
    npy::save(path("a.npy"), tensor.view())?;
    assert_eq!(read()?, tensor);
    npy::save(path("a.npy"), &TensorViewMut::from_slice(&mut data, 4)?)?;
    assert_eq!(read()?, [1.0, 2.0, 3.0, 4.0]);
    let shared: SharedTensor<f32> = Tensor::from([7.0]).into_shared();
    npy::save(path("a.npy"), &shared)?;
    assert_eq!(read()?, [7.0]);

    let tensors = [("x", (&tensor).into()), ("y", shared.view().into())];
    safetensors::Writer::new().save(path("a.safetensors"), &tensors)?;
    let file = io::read(path("a.safetensors"))?;
    assert_eq!(safetensors::Reader::new(file.as_ref())?.tensors().len(), 2);

    let matrix: CsrMatrix<f32> =
        CsrMatrix::from_vecs(2, 2, vec![0, 1, 2], vec![1, 0], vec![5.0, 6.0])?;
    let market = matrix_market::Writer::new();
    market.save(path("a.mtx"), &matrix)?;
    market.save(path("b.mtx"), &matrix.view())?;
    assert_eq!(std::fs::read(path("a.mtx"))?, std::fs::read(path("b.mtx"))?);
    market.save(path("a.mtx"), &tensor)?;
    assert!(std::fs::read_to_string(path("a.mtx"))?.contains("array real general\n2 2\n1.0\n3.0"));

    // A refused file leaves the one before as it was.
    let error = npy::save(path("a.npy"), TensorView::from_slice(&[tenure::bf16::ONE], 1)?);
    let error = error.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.message(), format!("{}: NumPy has no bf16", path("a.npy").display()));
    assert_eq!(read()?, [7.0]);
    let nowhere = folder.join("none").join("a.npy");
    let error = npy::save(&nowhere, &tensor).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().starts_with(&format!("{}: ", nowhere.display())), "{error}");
    assert!(npy::save(&folder, &tensor).is_err(), "it is a folder");

    assert_eq!(std::fs::read_dir(&folder)?.count(), 4, "no file is left behind");
    std::fs::remove_dir_all(&folder)?;
    let error: tenure::Error = std::io::Error::from(std::io::ErrorKind::OutOfMemory).into();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    Ok(())
}
