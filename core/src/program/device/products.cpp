// Products of matrices, and of images with filters, on a device.
#include "cpu/operations.hpp"
#include "dense/activation.hpp"
#include "program/device/calls.hpp"
#include "tenure/ops.hpp"

namespace tenure {
namespace {

// Devices apply bounds and `relu` to sums, and other activations to a result.
bool is_applied_to_sums(tnr_unary_op activation) noexcept {
  return activation == 0 || activation == TNR_UNARY_OP_RELU;
}

using Convolve = void(const Context& context, const tnr_view& a, const tnr_view& weight,
                      const tnr_view* bias, const tnr_conv2d_attributes& attributes,
                      const tnr_view_mut& out);
void convolve(const Context& context, const NodeCall& call, const OperandView* operands,
              const tnr_view_mut& out, Convolve* convolution) {
  tnr_conv2d_attributes attributes = call.node.attributes.conv2d;
  const tnr_unary_op activation = attributes.activation;
  const bool is_apart = !is_applied_to_sums(activation);
  if (is_apart) attributes.activation = 0;
  convolution(context, *operands[0].view, *operands[1].view, operands[2].view, attributes, out);
  if (is_apart) unary(context, activation, out.view, out);
}

}  // namespace

void run_device_matmul(const Context& context, const NodeCall& call, const OperandView* operands,
                       const tnr_view_mut& out) {
  tnr_matmul_attributes attributes = call.node.attributes.matmul;
  attributes.bias = operands[2].view;
  const tnr_unary_op activation = attributes.activation;
  const bool is_apart = !is_applied_to_sums(activation);
  if (is_apart) attributes.activation = 0;
  matmul(context, tnr_scalar_i64(1), *operands[0].view, *operands[1].view, tnr_scalar_i64(0), out,
         attributes);
  if (is_apart) unary(context, activation, out.view, out);
}

void run_device_conv2d(const Context& context, const NodeCall& call, const OperandView* operands,
                       const tnr_view_mut& out) {
  convolve(context, call, operands, out, conv2d);
}

void run_device_conv2d_transposed(const Context& context, const NodeCall& call,
                                  const OperandView* operands, const tnr_view_mut& out) {
  convolve(context, call, operands, out, conv2d_transposed);
}

Refusal activation_refusal(tnr_device device, const GraphNode& node, tnr_dtype result) noexcept {
  const bool is_matmul = node.kind() == static_cast<std::uint32_t>(NodeKind::kMatmul);
  const Activation activation =
      is_matmul ? Activation(node.attributes.matmul) : Activation(node.attributes.conv2d);
  if (is_applied_to_sums(activation.op)) return std::nullopt;
  // Only a node that is made by hand has bounds behind another activation than relu.
  if (activation.flags != 0) {
    return error_of(TNR_STATUS_UNSUPPORTED,
                    "attributes->activation is %s with bounds, which %s applies only on the CPU",
                    kernels::kUnaryRows[activation.op - 1].name, operation_name(node));
  }
  return device_refusal(device, TNR_NODE_UNARY + static_cast<std::uint32_t>(activation.op), result);
}

}  // namespace tenure
