// The functions that enqueue nodes on a device.
#pragma once

#include "program/device/operations.hpp"
#include "tenure/device_call.hpp"

namespace tenure {

// elementwise.cpp
RunNode run_device_unary, run_device_binary, run_device_ternary, run_device_compare,
    run_device_select, run_device_cast;

// products.cpp
RunNode run_device_matmul, run_device_conv2d, run_device_conv2d_transposed;
// Refuses the activation of a product. A device applies bounds and relu to the sums, and computes
// any other activation by a unary operation on the result.
Refusal activation_refusal(tnr_device device, const GraphNode& node, tnr_dtype result) noexcept;

// movement.cpp
RunNode run_device_concat, run_device_pad;

// custom.cpp
RunNode run_device_custom;

}  // namespace tenure
