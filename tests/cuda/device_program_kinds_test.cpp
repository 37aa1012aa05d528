// Nodes of programs on a device: each kind is compared with its call there and with the CPU's run.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "../capi/program/program_kinds.hpp"
#include "base/node_kinds.hpp"
#include "device_program.hpp"

namespace {

using tenure::test::Copied;
using tenure::test::doubled;
using tenure::test::elements_of;
using tenure::test::Floats;
using tenure::test::kind_cases;
using tenure::test::KindCase;
using tenure::test::KindOperand;
using tenure::test::run_on;
using tenure::test::Shape;
using tenure::test::totals_of_all;
using tenure::test::view_over;

using Bytes = std::vector<unsigned char>;
using DeviceNodes = tenure::test::DeviceGraph;

constexpr std::uint32_t kWithoutFolding = TNR_PASS_CONSTANT_FOLDING;

std::uint32_t unary(tnr_unary_op op) { return TNR_NODE_UNARY + static_cast<std::uint32_t>(op); }
std::uint32_t binary(tnr_binary_op op) { return TNR_NODE_BINARY + static_cast<std::uint32_t>(op); }

// ---- kinds ----

constexpr std::uint32_t kKind = 0xffff0000u;

// Whether devices compute the kind.
bool is_on_devices(const KindCase& of) {
  const std::uint32_t kind = of.code & kKind;
  tnr_sparse_node_attributes sparse = {};
  if (of.attribute_bytes == sizeof sparse) std::memcpy(&sparse, of.attributes.get(), sizeof sparse);
  const bool is_csr = sparse.format == TNR_SPARSE_FORMAT_CSR || sparse.format == 0;
  const bool is_csc = sparse.format == TNR_SPARSE_FORMAT_CSC;
  switch (kind) {
    case TNR_NODE_PAD: return of.code == TNR_NODE_PAD + TNR_PAD_MODE_CONSTANT;
    case TNR_NODE_SPARSE_TO_DENSE:
    case TNR_NODE_SPARSE_SDDMM: return is_csr || is_csc;
    case TNR_NODE_SPARSE_MATMUL:
      return sparse.orientation == TNR_ORIENTATION_TRANSPOSED ? is_csc : is_csr;
    case TNR_NODE_CUSTOM: return false;  // without a function for devices
    default:
      return tenure::kNodeKindRows[(kind >> tenure::kNodeKindShift) - 1].device !=
             tenure::DeviceDtypes::kNone;
  }
}
// Whether devices compute the gradients too, of a kind that they compute.
bool has_gradients_on_devices(const KindCase& of) {
  const std::uint32_t kind = of.code & kKind;
  return kind != TNR_NODE_SPARSE_TO_DENSE && kind != TNR_NODE_SPARSE_MATMUL &&
         kind != TNR_NODE_SPARSE_SDDMM;
}
// Kinds whose nodes are on devices, and whose calls are not.
bool has_no_call(const KindCase& of) { return of.code == TNR_NODE_CONCAT; }

class Kinds : public DeviceNodes {
 protected:
  enum class As { kInputs, kConstants };

  // Compares the node's program on the device with its calls on the device and on the CPU.
  void check(const KindCase& of, As as) {
    release_all();
    graph = tnr_graph_create();
    const tnr_custom_operation own = doubled();
    std::uint32_t index = 0;
    ASSERT_EQ(tnr_graph_add_custom(graph, &own, &index), TNR_STATUS_OK);
    std::vector<Bytes> memory;
    std::vector<std::uint32_t> operands;
    std::vector<tnr_view> inputs_here;
    std::vector<Copied> there;
    std::vector<tnr_view> inputs_there;
    std::vector<tnr_view> views;
    there.reserve(of.operands.size());
    for (const KindOperand& operand : of.operands) {
      memory.push_back(elements_of(operand.numbers, operand.shape, operand.dtype));
      memory.back().resize(std::max<std::size_t>(memory.back().size(), 16));
      const tnr_view view = view_over(memory.back().data(), operand.shape, operand.dtype);
      if (!operand.is_given()) {
        operands.push_back(TNR_OPERAND_NONE);
        views.emplace_back();
        continue;
      }
      if (operand.is_scalar) {
        operands.push_back(scalar(operand.numbers[0]));
        views.emplace_back();
        continue;
      }
      there.emplace_back(context_, view);
      views.push_back(there.back().view());
      if (as == As::kConstants) {
        operands.push_back(constant(view));
      } else {
        operands.push_back(input(operand.shape, operand.dtype));
        inputs_here.push_back(view);
        inputs_there.push_back(there.back().view());
      }
    }
    std::uint32_t value = 0;
    ASSERT_EQ(add(of.code, operands, of.numbers, of.attributes.get(), of.flags, &value, of.dtype),
              TNR_STATUS_OK)
        << of.name << ": " << tnr_last_error()->message;
    output(value);
    tnr_value_info type = {};
    type.struct_size = sizeof type;
    ASSERT_EQ(tnr_graph_describe_value(graph, value, &type), TNR_STATUS_OK);
    const Shape shape(type.shape, type.shape + type.rank);
    std::size_t size_bytes = tnr_dtype_size_bytes(type.dtype);
    for (const std::int64_t extent : shape) size_bytes *= static_cast<std::size_t>(extent);
    Bytes here(std::max<std::size_t>(size_bytes, 16), 0xA5);
    const tnr_view_mut out_here = {view_over(here.data(), shape, type.dtype)};
    const Copied out(context_, out_here.view);
    const Copied by_call(context_, out_here.view);
    const tnr_program* const made = program(kWithoutFolding);

    const tnr_stats before = totals_of_all();
    const tnr_status status = run_on(context_, made, inputs_there, {out.out()});
    if (!is_on_devices(of)) {
      EXPECT_EQ(status, TNR_STATUS_UNSUPPORTED) << of.name;
      EXPECT_NE(std::string(tnr_last_error()->message).find("nodes[0], "), std::string::npos)
          << tnr_last_error()->message;
      EXPECT_EQ(totals_of_all().device_launches, before.device_launches) << of.name;
      EXPECT_EQ(out.elements(), Bytes(size_bytes, 0xA5)) << of.name;
      return;
    }
    ASSERT_EQ(status, TNR_STATUS_OK) << of.name << ": " << tnr_last_error()->message;
    ASSERT_EQ(run(made, inputs_here, {out_here}), TNR_STATUS_OK) << of.name;
    here.resize(size_bytes);
    const Bytes found = out.elements();
    if (!has_no_call(of)) {
      KindCase call = of;
      call.context = context_;
      tenure::test::Views pointers;
      for (std::size_t i = 0; i < views.size(); ++i) {
        const bool is_array = of.operands[i].is_given() && !of.operands[i].is_scalar;
        pointers.push_back(is_array ? &views[i] : nullptr);
      }
      ASSERT_EQ(of.call(call, pointers, &by_call.out()), TNR_STATUS_OK)
          << of.name << ": " << tnr_last_error()->message;
      EXPECT_EQ(found, by_call.elements()) << of.name;
    }
    expect_near(found, here, type.dtype, of.name);
  }

  // Compares the gradients of the node by all of its operands of floats. Returns whether it has any.
  bool check_gradients(const KindCase& of) {
    release_all();
    graph = tnr_graph_create();
    std::vector<Bytes> memory;
    std::vector<tnr_view> here;
    std::vector<Copied> there;
    std::vector<tnr_view> inputs_there;
    const auto add_input = [&](const std::vector<double>& numbers, const Shape& shape,
                               tnr_dtype dtype) {
      memory.push_back(elements_of(numbers, shape, dtype));
      memory.back().resize(std::max<std::size_t>(memory.back().size(), 16));
      here.push_back(view_over(memory.back().data(), shape, dtype));
      there.emplace_back(context_, here.back());
      inputs_there.push_back(there.back().view());
      return input(shape, dtype);
    };
    const auto is_float = [](tnr_dtype dtype) {
      return dtype == TNR_DTYPE_F32 || dtype == TNR_DTYPE_F64;
    };
    std::vector<std::uint32_t> operands;
    std::vector<std::uint32_t> by;
    std::vector<KindOperand> wanted;
    for (const KindOperand& operand : of.operands) {
      if (!operand.is_given() || operand.is_scalar) {
        operands.push_back(operand.is_given() ? scalar(operand.numbers[0]) : TNR_OPERAND_NONE);
        continue;
      }
      operands.push_back(add_input(operand.numbers, operand.shape, operand.dtype));
      if (!is_float(operand.dtype)) continue;
      by.push_back(operands.back());
      wanted.push_back(operand);
    }
    std::uint32_t value = 0;
    EXPECT_EQ(add(of.code, operands, of.numbers, of.attributes.get(), of.flags, &value, of.dtype),
              TNR_STATUS_OK);
    tnr_value_info type = {};
    type.struct_size = sizeof type;
    EXPECT_EQ(tnr_graph_describe_value(graph, value, &type), TNR_STATUS_OK);
    if (by.empty() || !is_float(type.dtype)) return false;
    const std::uint32_t seed =
        add_input({1, 2, 0.5, -1}, Shape(type.shape, type.shape + type.rank), type.dtype);
    std::vector<std::uint32_t> gradients(by.size());
    EXPECT_EQ(
        tnr_graph_add_gradients(graph, value, seed, by.data(),
                                static_cast<std::uint32_t>(by.size()), nullptr, gradients.data()),
        TNR_STATUS_OK)
        << of.name << ": " << tnr_last_error()->message;
    std::vector<Bytes> expected(by.size());
    std::vector<Copied> outs;
    std::vector<tnr_view_mut> outs_here;
    std::vector<tnr_view_mut> outs_there;
    for (std::size_t i = 0; i < by.size(); ++i) {
      expected[i] = elements_of({0}, wanted[i].shape, wanted[i].dtype);
      outs_here.push_back({view_over(expected[i].data(), wanted[i].shape, wanted[i].dtype)});
      outs.emplace_back(context_, outs_here.back().view);
      outs_there.push_back(outs.back().out());
      output(gradients[i]);
    }
    const tnr_program* const made = program();
    const tnr_status status = run_on(context_, made, inputs_there, outs_there);
    if (!has_gradients_on_devices(of)) {
      EXPECT_EQ(status, TNR_STATUS_UNSUPPORTED) << of.name;
      return true;
    }
    EXPECT_EQ(status, TNR_STATUS_OK) << of.name << ": " << tnr_last_error()->message;
    EXPECT_EQ(run(made, here, outs_here), TNR_STATUS_OK) << of.name;
    for (std::size_t i = 0; i < by.size(); ++i) {
      expect_near(outs[i].elements(), expected[i], wanted[i].dtype,
                  of.name + ", gradient " + std::to_string(i));
    }
    return true;
  }

  // Sums and functions of f32 may differ in the last bits, all else may not.
  static void expect_near(const Bytes& found, const Bytes& expected, tnr_dtype dtype,
                          const std::string& name) {
    ASSERT_EQ(found.size(), expected.size());
    if (dtype != TNR_DTYPE_F32) {
      EXPECT_EQ(found, expected) << name;
      return;
    }
    for (std::size_t i = 0; i < found.size(); i += sizeof(float)) {
      float a;
      float b;
      std::memcpy(&a, found.data() + i, sizeof a);
      std::memcpy(&b, expected.data() + i, sizeof b);
      if (std::isnan(a) && std::isnan(b)) continue;
      EXPECT_NEAR(a, b, 1e-5 * (1 + std::abs(b))) << name << " at " << i / sizeof(float);
    }
  }
};

TEST_F(Kinds, AreThoseOfTheirCalls) {
  for (const KindCase& of : kind_cases()) {
    check(of, As::kInputs);
    check(of, As::kConstants);
  }
}

// docs/cuda.md lists the kinds that a device computes without their gradients.
TEST_F(Kinds, HaveGradients) {
  int count = 0;
  for (const KindCase& of : kind_cases()) {
    if (is_on_devices(of) && check_gradients(of)) ++count;
  }
  EXPECT_GT(count, 20);
}

// ---- single kinds ----

// A product and its activation are two calls on the device. The second one is in place.
TEST_F(DeviceNodes, AnActivationFollowsAProduct) {
  for (const tnr_unary_op op : {TNR_UNARY_OP_GELU, TNR_UNARY_OP_RELU, TNR_UNARY_OP_TANH}) {
    for (const tnr_dtype dtype : {TNR_DTYPE_F32, TNR_DTYPE_F16}) {
      release_all();
      graph = tnr_graph_create();
      const std::uint32_t x = input({5, 3}, dtype);
      const std::uint32_t w = input({3, 4}, dtype);
      const std::uint32_t b = input({4}, dtype);
      const std::uint32_t sum = node(binary(TNR_BINARY_OP_ADD), {node(TNR_NODE_MATMUL, {x, w}), b});
      output(node(unary(op), {sum}));
      const Copied wide[] = {floats({5, 3}, -1, 0.37f), floats({3, 4}, 1, 0.21f), floats({4}, -1)};
      std::vector<Copied> in;
      std::vector<tnr_view> views;
      for (const Copied& of : wide) {
        const std::vector<float> room(32);
        const Shape shape(of.view().shape, of.view().shape + of.view().rank);
        in.emplace_back(context_, view_over(room.data(), shape, dtype));
        ASSERT_EQ(tnr_cast(context_, &of.view(), nullptr, &in.back().out()), TNR_STATUS_OK);
        views.push_back(in.back().view());
      }
      const std::vector<float> room(32);
      const Copied out(context_, view_over(room.data(), {5, 4}, dtype));
      const Copied expected(context_, view_over(room.data(), {5, 4}, dtype));
      const tnr_scalar one = tnr_scalar_i64(1);
      const tnr_scalar zero = tnr_scalar_i64(0);
      tnr_matmul_attributes with = {};
      with.struct_size = sizeof with;
      with.bias = &views[2];
      ASSERT_EQ(tnr_matmul(context_, &one, &views[0], &views[1], &zero, &with, &expected.out()),
                TNR_STATUS_OK);
      ASSERT_EQ(tnr_unary(context_, op, &expected.view(), nullptr, &expected.out()), TNR_STATUS_OK);
      const tnr_program* const made = program();
      const tnr_stats before = totals_of_all();
      ASSERT_EQ(run_on(context_, made, views, {out.out()}), TNR_STATUS_OK)
          << tnr_last_error()->message;
      EXPECT_EQ(totals_of_all().device_launches,
                before.device_launches + (op == TNR_UNARY_OP_RELU ? 1 : 2));
      EXPECT_EQ(out.elements(), expected.elements()) << op << " of " << dtype;
    }
  }
}

// Numbers at any place of any element-wise node.
TEST_F(DeviceNodes, NumbersAreOperands) {
  const std::uint32_t x = input({2, 3});
  const std::uint32_t half = scalar(0.5);
  const std::uint32_t two = scalar(2);
  const std::uint32_t is_less = node(TNR_NODE_COMPARE + TNR_COMPARE_OP_LT, {half, x});
  output(node(binary(TNR_BINARY_OP_SUB), {x, two}));
  output(node(binary(TNR_BINARY_OP_SUB), {two, x}));
  output(node(TNR_NODE_COMPARE + TNR_COMPARE_OP_GE, {x, half}));
  output(is_less);
  output(node(TNR_NODE_SELECT, {is_less, x, half}));
  output(node(TNR_NODE_SELECT, {is_less, half, two}));
  output(node(TNR_NODE_TERNARY + TNR_TERNARY_OP_CLAMP, {x, half, two}));
  output(node(TNR_NODE_TERNARY + TNR_TERNARY_OP_FMA, {half, x, two}));
  const tnr_program* const made = program();
  const Floats here({2, 3}, -1.5f, 0.75f);
  const Copied there(context_, here.view());
  std::vector<Bytes> memory(8, Bytes(24));
  std::vector<tnr_view_mut> outs_here;
  std::vector<Copied> outs;
  std::vector<tnr_view_mut> outs_there;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    // Two numbers are of their own dtype.
    const tnr_dtype dtype = i == 2 || i == 3 ? TNR_DTYPE_BOOL8
                            : i == 5         ? TNR_DTYPE_F64
                                             : TNR_DTYPE_F32;
    memory[i].resize(6 * tnr_dtype_size_bytes(dtype));
    outs_here.push_back({view_over(memory[i].data(), {2, 3}, dtype)});
    outs.emplace_back(context_, outs_here.back().view);
    outs_there.push_back(outs.back().out());
  }
  ASSERT_EQ(run(made, {here.view()}, outs_here), TNR_STATUS_OK) << tnr_last_error()->message;
  ASSERT_EQ(run_on(context_, made, {there.view()}, outs_there), TNR_STATUS_OK)
      << tnr_last_error()->message;
  for (std::size_t i = 0; i < memory.size(); ++i) EXPECT_EQ(outs[i].elements(), memory[i]) << i;
}

// The extent of a run's input as an array of any dtype.
TEST_F(DeviceNodes, ExtentsAreArrays) {
  constexpr tnr_dtype kDtypes[] = {TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BF16,
                                   TNR_DTYPE_I64, TNR_DTYPE_U8,  TNR_DTYPE_C64};
  std::int64_t rows = 0;
  ASSERT_EQ(tnr_graph_add_extent(graph, "rows", 9, &rows), TNR_STATUS_OK);
  output(node(TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM, {input({rows, 2})}, {}, nullptr, 3));
  for (const tnr_dtype dtype : kDtypes) {
    std::uint32_t value = 0;
    ASSERT_EQ(add(TNR_NODE_EXTENT, {}, {rows}, nullptr, 0, &value, dtype), TNR_STATUS_OK);
    output(value);
  }
  const tnr_program* const made = program();
  for (const std::int64_t extent : {0, 1, 7}) {
    const Floats here({extent, 2}, 1, 0.5f);
    const Copied there(context_, here.view());
    std::vector<Bytes> memory(1 + std::size(kDtypes), Bytes(16));
    std::vector<tnr_view_mut> outs_here = {{view_over(memory[0].data(), {})}};
    std::vector<Copied> outs;
    outs.emplace_back(context_, outs_here[0].view);
    std::vector<tnr_view_mut> outs_there = {outs[0].out()};
    for (std::size_t i = 0; i < std::size(kDtypes); ++i) {
      memory[1 + i].resize(tnr_dtype_size_bytes(kDtypes[i]));
      outs_here.push_back({view_over(memory[1 + i].data(), {}, kDtypes[i])});
      outs.emplace_back(context_, outs_here.back().view);
      outs_there.push_back(outs.back().out());
    }
    ASSERT_EQ(run(made, {here.view()}, outs_here), TNR_STATUS_OK) << tnr_last_error()->message;
    const tnr_stats before = totals_of_all();
    ASSERT_EQ(run_on(context_, made, {there.view()}, outs_there), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(totals_of_all().device_waits, before.device_waits);
    for (std::size_t i = 0; i < std::size(kDtypes); ++i) {
      EXPECT_EQ(outs[1 + i].elements(), memory[1 + i]) << kDtypes[i] << " of " << extent;
    }
  }
}

// An input in the middle of the output, cut at both ends, or not there at all.
TEST_F(DeviceNodes, PadsAreThoseOfTheCpu) {
  tnr_pad_attributes with = {};
  with.struct_size = sizeof with;
  with.value = tnr_scalar_f64(2.5);
  constexpr std::int64_t kFar = INT64_MAX / 2;
  for (const std::int64_t before : {std::int64_t{0}, std::int64_t{2}, std::int64_t{-1},
                                    std::int64_t{-4}, std::int64_t{7}, kFar, -kFar}) {
    for (const std::int64_t extent : {0, 2, 4, 9}) {
      release_all();
      graph = tnr_graph_create();
      with.before[0] = before;
      const std::uint32_t x = input({4, 2});
      output(node(TNR_NODE_PAD + TNR_PAD_MODE_CONSTANT, {x}, {extent, 2}, &with));
      const tnr_program* const made = program();
      const Floats here({4, 2}, 0, 0.5f);
      Floats out_here({extent, 2});
      const Copied there(context_, here.view());
      const Copied out(context_, out_here.view());
      ASSERT_EQ(run(made, {here.view()}, {out_here.out()}), TNR_STATUS_OK);
      ASSERT_EQ(run_on(context_, made, {there.view()}, {out.out()}), TNR_STATUS_OK)
          << tnr_last_error()->message;
      EXPECT_EQ(out.floats(), out_here.values) << before << ", " << extent;
    }
  }
}

}  // namespace
