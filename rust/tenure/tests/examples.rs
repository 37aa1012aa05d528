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
#[path = "../examples/shared_weights.rs"]
mod shared_weights;
#[path = "../examples/small_net.rs"]
mod small_net;
#[path = "../examples/tf_idf.rs"]
mod tf_idf;

#[cfg(feature = "programs")]
#[test]
fn an_operation_of_ones_own() {
    custom_operation::main().unwrap();
}

#[test]
fn rows_are_normalized_on_a_gpu_or_without() {
    cuda::main().unwrap();
}

#[test]
fn a_kernel_of_ones_own_crops_or_the_cpu() {
    cuda_kernel::main().unwrap();
}

#[test]
fn a_photo_becomes_the_input_of_a_network() {
    image_pipeline::main().unwrap();
}

#[test]
fn k_means_and_principal_components() {
    kmeans_pca::main().unwrap();
}

#[test]
fn an_array_to_numpy_and_back() {
    ndarray_numpy::main().unwrap();
}

#[test]
fn weights_of_a_mapped_file() {
    shared_weights::main().unwrap();
}

#[test]
fn a_network_learns() {
    small_net::main().unwrap();
}

#[test]
fn paragraphs_near_a_question() {
    tf_idf::main().unwrap();
}
