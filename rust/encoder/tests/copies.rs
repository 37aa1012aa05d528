//! The weights of a mapped model are its file's memory. Counters are the process's, so that this is
//! a file of one test.

mod model;

use std::fs::File;

use memmap2::Mmap;
use model::{Folder, HEADS, file_of, model};
use tenure::{Passes, Tensor, io::safetensors, stats};
use tenure_encoder::Bert;

#[test]
fn nothing_is_copied_of_a_mapped_file() {
    let model = model();
    let folder = Folder::of_model(&model);
    let weights = file_of(&model).len() as u64;
    let file = File::open(folder.path("model.safetensors")).unwrap();
    // SAFETY: no code writes the file.
    let map = unsafe { Mmap::map(&file) }.unwrap();
    let tokens = Tensor::from([[2, 4, 3], [2, 3, 0]]);
    let counts = [3, 2];

    let before = stats();
    let shared = safetensors::Shared::new(map).unwrap();
    let bert = Bert::new(&shared, HEADS).unwrap();
    let views = stats();
    assert_eq!(views.allocated_bytes, before.allocated_bytes);
    let program = bert.program(Passes::DEFAULT).unwrap();
    drop((shared, bert));
    let traced = stats();
    assert!(traced.allocated_bytes - before.allocated_bytes < weights / 10, "{traced:?}");
    program.run((&tokens, &counts)).unwrap();
    assert_eq!(stats().copied_bytes, before.copied_bytes);

    // All of it is held until the program ends.
    let held = stats().blobs_finished;
    drop(program);
    assert!(stats().blobs_finished > held);
}
