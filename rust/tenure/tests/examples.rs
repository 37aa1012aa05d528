//! The short programs in `examples/`, which find themselves whether they are right.
#![cfg(all(feature = "image", feature = "linalg", feature = "ndarray"))]

#[path = "../examples/cuda.rs"]
mod cuda;
#[path = "../examples/cuda_kernel.rs"]
mod cuda_kernel;
#[cfg(feature = "programs")]
#[path = "../examples/custom_operation.rs"]
mod custom_operation;
#[path = "../examples/image_pipeline.rs"]
mod image_pipeline;
#[path = "../examples/kmeans_pca.rs"]
mod kmeans_pca;
#[path = "../examples/ndarray_numpy.rs"]
mod ndarray_numpy;
#[path = "../examples/pruned.rs"]
mod pruned;
#[path = "../examples/shared_weights.rs"]
mod shared_weights;
#[path = "../examples/small_net.rs"]
mod small_net;
#[path = "../examples/tf_idf.rs"]
mod tf_idf;

/// Runs one example at a time: some compare counters of the whole process.
fn alone<E: std::fmt::Debug>(main: fn() -> Result<(), E>) {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    main().unwrap();
}

#[cfg(feature = "programs")]
#[test]
fn an_operation_of_ones_own() {
    alone(custom_operation::main);
}

#[test]
fn rows_are_normalized_on_a_gpu_or_without() {
    alone(cuda::main);
}

#[test]
fn a_kernel_of_ones_own_crops_or_the_cpu() {
    alone(cuda_kernel::main);
}

#[test]
fn a_photo_becomes_the_input_of_a_network() {
    alone(image_pipeline::main);
}

#[test]
fn k_means_and_principal_components() {
    alone(kmeans_pca::main);
}

#[test]
fn an_array_to_numpy_and_back() {
    alone(ndarray_numpy::main);
}

#[test]
fn a_pruned_network_learns_with_sparse_weights() {
    alone(pruned::main);
}

#[test]
fn weights_of_a_mapped_file() {
    alone(shared_weights::main);
}

#[test]
fn a_network_learns() {
    alone(small_net::main);
}

#[test]
fn paragraphs_near_a_question() {
    alone(tf_idf::main);
}
