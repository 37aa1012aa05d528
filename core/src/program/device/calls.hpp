// What the rows of the table of operations on devices call.
#pragma once

#include <initializer_list>

#include "program/device/operations.hpp"
#include "tenure/device.hpp"

namespace tenure {

// The view, said to be on the context's device.
tnr_view on_device(const Context& context, tnr_view view) noexcept;
// A view there of these extents, one of them 0 at least.
tnr_view without_elements(const Context& context, tnr_dtype dtype,
                          std::initializer_list<std::int64_t> extents);
// "cuda:0"; for messages.
DeviceName device_name(const Context& context) noexcept;

// elementwise.cpp
RunNode run_device_unary, run_device_binary, run_device_ternary, run_device_compare,
    run_device_select, run_device_cast;

// products.cpp
RunNode run_device_matmul, run_device_conv2d, run_device_conv2d_transposed;
TryNode try_device_matmul, try_device_conv2d, try_device_pool2d, try_device_batch_norm;

// movement.cpp
RunNode run_device_concat, run_device_pad;
TryNode try_device_concat, try_device_pad;

// custom.cpp
RunNode run_device_custom;
TryNode try_device_custom;

// sparse.cpp
TryNode try_device_sparse_to_dense, try_device_sparse_matmul, try_device_sparse_sddmm;

}  // namespace tenure
