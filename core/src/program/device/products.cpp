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

// Bounds behind another activation than relu are not applied: nobody makes such a node but by hand.
void require_one_or_other(const Activation& activation, const char* name) {
  if (is_applied_to_sums(activation.op) || activation.flags == 0) return;
  fail(TNR_STATUS_UNSUPPORTED,
       "attributes->activation is %s with bounds, which %s applies only on the CPU",
       kernels::kUnaryRows[activation.op - 1].name, name);
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

void try_device_matmul(const Context& context, const GraphNode& node, const OperandType* operands,
                       tnr_dtype result) {
  require_one_or_other(Activation(node.attributes.matmul), "matmul");
  const tnr_view a = without_elements(context, operands[0].array->dtype, {0, 1});
  const tnr_view b = without_elements(context, operands[1].array->dtype, {1, 0});
  OperandView given[3] = {{&a, nullptr}, {&b, nullptr}, {}};
  tnr_view bias;
  if (node.operands.size() > 2 && operands[2].array != nullptr) {
    bias = without_elements(context, operands[2].array->dtype, {0});
    given[2].view = &bias;
  }
  run_device_matmul(context, {node, nullptr}, given, {without_elements(context, result, {0, 0})});
}

// Dtypes are those of the CPU.
void try_device_conv2d(const Context&, const GraphNode& node, const OperandType*, tnr_dtype) {
  require_one_or_other(Activation(node.attributes.conv2d), operation_name(node));
}

// Windows of one element of no images.
void try_device_pool2d(const Context& context, const GraphNode& node, const OperandType* operands,
                       tnr_dtype result) {
  tnr_pool2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.kernel[0] = attributes.kernel[1] = 1;
  const tnr_view a = without_elements(context, operands[0].array->dtype, {0, 1, 2, 2});
  pool2d(context, node.op(), a, attributes, {without_elements(context, result, {0, 1, 2, 2})});
}

// Dtypes are those of the CPU, which infers them.
void try_device_batch_norm(const Context&, const GraphNode&, const OperandType*, tnr_dtype) {}

}  // namespace tenure
