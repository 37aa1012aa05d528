// Gradients: of every kind of node and every operation, compared with central differences in f64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

#include "bound_runs.hpp"
#include "cpu/operations.hpp"
#include "expect_status.hpp"
#include "program/passes.hpp"
#include "program_kinds.hpp"

using tenure::test::CGraph;
using tenure::test::doubled;
using tenure::test::expect_refused;
using tenure::test::kind_cases;
using tenure::test::KindCase;
using tenure::test::KindOperand;
using tenure::test::Lent;
using tenure::test::preallocation_refusal;
using tenure::test::Shape;
using tenure::test::view_over;

namespace {

constexpr auto F32 = TNR_DTYPE_F32;
constexpr auto F64 = TNR_DTYPE_F64;

std::size_t count_of(const Shape& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

// Different numbers between 0.2 and 0.9, in no order.
std::vector<double> numbers_without_ties(std::size_t count, double start) {
  std::vector<double> numbers(count);
  double at = start;
  for (double& number : numbers) {
    at = std::fmod(at + 0.6180339887498949, 1.0);
    number = 0.2 + 0.7 * at;
  }
  return numbers;
}

// A case whose floats are f64, without ties.
KindCase in_f64(KindCase of) {
  double start = 0.1;
  for (KindOperand& operand : of.operands) {
    if (operand.dtype != F32 && operand.dtype != F64) continue;
    operand.dtype = F64;
    if (!operand.is_scalar) operand.numbers = numbers_without_ties(count_of(operand.shape), start);
    start += 0.17;
  }
  if (of.dtype == F32) of.dtype = F64;
  return of;
}

bool is_variable(const KindOperand& operand) {
  return operand.is_given() && !operand.is_scalar && operand.dtype == F64;
}

// The node of a case, the sum of its result times a seed, and the gradients of that.
class NodeGradients : public CGraph {
 public:
  void TestBody() override {}

  explicit NodeGradients(const KindCase& of) : of_(of) {
    const tnr_custom_operation own = doubled();
    std::uint32_t index = 0;
    EXPECT_EQ(tnr_graph_add_custom(graph, &own, &index), TNR_STATUS_OK);
    std::vector<std::uint32_t> operands;
    for (const KindOperand& operand : of.operands) {
      operands.push_back(!operand.is_given() ? TNR_OPERAND_NONE
                         : operand.is_scalar ? scalar(operand.numbers[0])
                                             : input(operand.shape, operand.dtype));
      if (is_variable(operand)) by_.push_back(operands.back());
    }
    EXPECT_EQ(add(of.code, operands, of.numbers, of.attributes.get(), of.flags, &result_, of.dtype),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    tnr_value_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(tnr_graph_describe_value(graph, result_, &info), TNR_STATUS_OK);
    shape_.assign(info.shape, info.shape + info.rank);
    dtype_ = info.dtype;
    if (dtype_ != F64) return;
    seed_ = input(shape_, F64);
    gradients_.resize(by_.size());
    status_ =
        tnr_graph_add_gradients(graph, result_, seed_, by_.data(),
                                static_cast<std::uint32_t>(by_.size()), nullptr, gradients_.data());
    if (status_ != TNR_STATUS_OK) message_ = tnr_last_error()->message;
  }

  [[nodiscard]] bool is_float() const { return dtype_ == F64 && !by_.empty(); }
  [[nodiscard]] tnr_status status() const { return status_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  // Images of the runs lie with their channels last.
  NodeGradients& channels_last() {
    channels_last_ = true;
    return *this;
  }

  void check(double step = 1e-5, double bound = 2e-6) {
    ASSERT_EQ(status_, TNR_STATUS_OK) << message_;
    output(result_);
    for (const std::uint32_t gradient : gradients_) output(gradient);
    for (const std::uint32_t disabled : {0u, tenure::kAllPasses}) {
      compare(program(disabled), step, bound);
    }
  }

 private:
  struct Arrays {
    std::vector<std::vector<unsigned char>> bytes;
    std::vector<tnr_view> views;
  };

  using Run = std::function<tnr_status(const std::vector<tnr_view>& inputs,
                                       const std::vector<tnr_view_mut>& outputs)>;

  // Writes the result and all gradients.
  void run_all(const Run& run, const std::vector<KindOperand>& operands,
               const std::vector<double>& seed, std::vector<std::vector<double>>& results) {
    std::vector<std::vector<unsigned char>> bytes;
    std::vector<tnr_view> views;
    for (const KindOperand& operand : operands) {
      if (!operand.is_given() || operand.is_scalar) continue;
      bytes.push_back(tenure::test::elements_of(operand.numbers, operand.shape, operand.dtype));
      bytes.back().resize(bytes.back().size() + 16);
      views.push_back(view_over(bytes.back().data(), operand.shape, operand.dtype));
      if (channels_last_) views.back() = lay_channels_last(views.back(), bytes.back());
    }
    views.push_back(view_over(seed.data(), shape_, F64));
    results.assign(1, std::vector<double>(count_of(shape_) + 1));
    std::vector<tnr_view_mut> outputs = {{view_over(results[0].data(), shape_, F64)}};
    for (const KindOperand& operand : operands) {
      if (!is_variable(operand)) continue;
      results.emplace_back(count_of(operand.shape) + 1, 77.0);
      outputs.push_back({view_over(results.back().data(), operand.shape, F64)});
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].view.data = results[i].data();
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].view.base = results[i].data();
    ASSERT_EQ(run(views, outputs), TNR_STATUS_OK) << tnr_last_error()->message;
  }

  static tnr_status run_preallocated(const tnr_program* made, const std::vector<tnr_view>& inputs,
                                     const std::vector<tnr_view_mut>& outputs) {
    const Lent of(inputs, outputs);
    tnr_bound* const bound = of.preallocate(made);
    if (bound == nullptr) return tnr_last_error()->status;
    const tnr_status status = of.run(bound);
    EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
    return status;
  }

  // Has the bits of a run, where the kind can be preallocated.
  void compare_preallocated(const tnr_program* made, const std::vector<double>& seed,
                            const std::vector<std::vector<double>>& expected) {
    const auto run = [&](const auto& inputs, const auto& outputs) {
      const tnr_status status = run_preallocated(made, inputs, outputs);
      const char* const refusal = preallocation_refusal(of_.code);
      if (refusal == nullptr) return status;
      expect_refused(status, TNR_STATUS_UNSUPPORTED, {refusal});
      return CGraph::run(made, inputs, outputs);
    };
    std::vector<std::vector<double>> results;
    run_all(run, of_.operands, seed, results);
    EXPECT_EQ(results, expected) << of_.name;
  }

  static tnr_view lay_channels_last(const tnr_view& from, std::vector<unsigned char>& bytes) {
    if (from.rank != 4) return from;
    std::vector<unsigned char> moved(bytes.size());
    tnr_view to = from;
    to.base = to.data = moved.data();
    to.strides[1] = 1;
    to.strides[3] = from.shape[1];
    to.strides[2] = to.strides[3] * from.shape[3];
    to.strides[0] = to.strides[2] * from.shape[2];
    const tnr_view_mut out = {to};
    EXPECT_EQ(tnr_copy(nullptr, &from, nullptr, &out), TNR_STATUS_OK);
    bytes = std::move(moved);
    return to;
  }

  void compare(const tnr_program* made, double step, double bound) {
    const std::vector<double> seed = numbers_without_ties(count_of(shape_) + 1, 0.45);
    const auto run = [&](const auto& inputs, const auto& outputs) {
      return CGraph::run(made, inputs, outputs);
    };
    std::vector<std::vector<double>> results;
    run_all(run, of_.operands, seed, results);
    if (testing::Test::HasFatalFailure()) return;
    compare_preallocated(made, seed, results);
    std::size_t variable = 0;
    for (std::size_t i = 0; i < of_.operands.size(); ++i) {
      if (!is_variable(of_.operands[i])) continue;
      ++variable;
      for (std::size_t j = 0; j < count_of(of_.operands[i].shape); ++j) {
        double slope = 0;
        for (const double sign : {1.0, -1.0}) {
          std::vector<KindOperand> moved = of_.operands;
          moved[i].numbers[j] += sign * step;
          std::vector<std::vector<double>> other;
          run_all(run, moved, seed, other);
          if (testing::Test::HasFatalFailure()) return;
          for (std::size_t k = 0; k < count_of(shape_); ++k) {
            slope += sign * seed[k] * other[0][k] / (2 * step);
          }
        }
        EXPECT_NEAR(results[variable][j], slope, bound * (1 + std::abs(slope)))
            << of_.name << ", operand " << i << ", element " << j;
      }
    }
  }

  KindCase of_;
  std::vector<std::uint32_t> by_;
  std::vector<std::uint32_t> gradients_;
  std::uint32_t result_ = 0;
  std::uint32_t seed_ = 0;
  Shape shape_;
  tnr_dtype dtype_ = 0;
  tnr_status status_ = TNR_STATUS_OK;
  std::string message_;
  bool channels_last_ = false;
};

using Graph = CGraph;

KindOperand array_of(const Shape& shape, double start, double scale = 1, double shift = 0) {
  KindOperand operand = {shape, F64, numbers_without_ties(count_of(shape), start), false};
  for (double& number : operand.numbers) number = number * scale + shift;
  return operand;
}

KindCase node_of(const std::string& name, std::uint32_t code, std::vector<KindOperand> operands) {
  KindCase of;
  of.name = name;
  of.code = code;
  of.operands = std::move(operands);
  return of;
}

template <class Attributes>
Attributes& give(KindCase& of) {
  auto attributes = std::make_shared<Attributes>();
  std::memset(attributes.get(), 0, sizeof(Attributes));
  attributes->struct_size = sizeof(Attributes);
  of.attributes = attributes;
  return *attributes;
}

// Kinds that take no f64; quantization_test has their refusal.
bool is_quantized(std::uint32_t code) {
  const std::uint32_t kind = code & ~std::uint32_t{0xffff};
  return kind == TNR_NODE_QUANTIZE || kind == TNR_NODE_QUANTIZE_DYNAMIC ||
         kind == TNR_NODE_DEQUANTIZE || kind == TNR_NODE_QUANTIZED_MATMUL ||
         kind == TNR_NODE_QUANTIZED_CONV2D;
}

TEST(Gradients, OfEveryKindAreThoseOfCentralDifferences) {
  std::set<std::string> refused;
  for (const KindCase& of : kind_cases()) {
    if (is_quantized(of.code)) continue;
    SCOPED_TRACE(of.name);
    NodeGradients node(in_f64(of));
    if (!node.is_float()) continue;
    if (node.status() == TNR_STATUS_UNSUPPORTED) {
      EXPECT_NE(node.message().find("no gradient leads through it: "), std::string::npos)
          << node.message();
      refused.insert(of.name);
      continue;
    }
    node.check();
  }
  EXPECT_EQ(refused, (std::set<std::string>{"custom"}));
}

TEST(Gradients, OfEveryUnaryOperation) {
  for (unsigned op = 1; op <= tenure::kernels::kUnaryCount; ++op) {
    const auto& row = tenure::kernels::kUnaryRows[op - 1];
    if ((row.dtypes & tenure::kernels::kFloats) == 0) continue;
    SCOPED_TRACE(row.name);
    const bool is_above_1 = std::string(row.name) == "acosh";
    for (const double shift : {0.0, -1.0, 4.0, -5.0}) {
      const bool is_bounded = std::string(row.name) == "asin" || std::string(row.name) == "acos" ||
                              std::string(row.name) == "atanh";
      const bool is_positive =
          std::set<std::string>{"sqrt", "rsqrt", "ln", "log2", "log10"}.contains(row.name);
      if ((is_bounded && std::abs(shift) > 1) || (is_positive && shift < 0)) continue;
      if (std::string(row.name) == "log1p" && shift < -1) continue;
      if (is_above_1 && shift < 4) continue;
      NodeGradients node(node_of(row.name, TNR_NODE_UNARY + op, {array_of({7}, 0.3, 1, shift)}));
      if (node.is_float()) node.check(1e-5, 2e-5);
    }
  }
}

TEST(Gradients, OfEveryBinaryOperationWithBroadcastOperands) {
  for (unsigned op = 1; op <= tenure::kernels::kBinaryCount; ++op) {
    const auto& row = tenure::kernels::kBinaryRows[op - 1];
    if ((row.dtypes & tenure::kernels::kFloats) == 0) continue;
    SCOPED_TRACE(row.name);
    const std::uint32_t code = TNR_NODE_BINARY + op;
    NodeGradients(node_of(row.name, code, {array_of({3, 4}, 0.3), array_of({3, 4}, 0.7)})).check();
    NodeGradients(node_of(row.name, code, {array_of({3, 4}, 0.3, 3), array_of({4}, 0.7)})).check();
    NodeGradients(node_of(row.name, code, {array_of({3, 1}, 0.3), array_of({2, 1, 4}, 0.7)}))
        .check();
    KindOperand scalar = array_of({}, 0.4);
    scalar.is_scalar = true;
    NodeGradients(node_of(row.name, code, {array_of({5}, 0.3), scalar})).check();
    NodeGradients(node_of(row.name, code, {scalar, array_of({5}, 0.3)})).check();
  }
}

TEST(Gradients, OfEveryTernaryOperation) {
  for (unsigned op = 1; op <= tenure::kernels::kTernaryCount; ++op) {
    const auto& row = tenure::kernels::kTernaryRows[op - 1];
    SCOPED_TRACE(row.name);
    for (const double scale : {1.0, 0.5}) {
      NodeGradients(
          node_of(row.name, TNR_NODE_TERNARY + op,
                  {array_of({3, 4}, 0.3), array_of({4}, 0.7, scale), array_of({3, 1}, 0.1, scale)}))
          .check();
    }
  }
}

TEST(Gradients, OfEveryReduction) {
  for (unsigned op = 1; op <= tenure::kernels::kReduceCount; ++op) {
    const auto& row = tenure::kernels::kReduceRows[op - 1];
    for (const std::uint32_t axes : {1u, 2u, 5u, 7u, 2u | TNR_NODE_KEEP_AXES}) {
      SCOPED_TRACE(std::string(row.name) + " over " + std::to_string(axes));
      KindCase of = node_of(row.name, TNR_NODE_REDUCE + op, {array_of({2, 3, 4}, 0.3, 2, -1)});
      of.flags = axes;
      const bool gives_index = row.gives == tenure::kernels::Gives::kIndex;
      if (gives_index) continue;
      std::vector<double> powers = {0};
      if (row.attribute == tenure::kernels::Attribute::kPower) {
        powers = {1, 2, 3, 2.5, HUGE_VAL};
      }
      for (const double power : powers) {
        auto& attributes = give<tnr_reduce_attributes>(of);
        if (row.attribute == tenure::kernels::Attribute::kDdof) attributes.ddof = 1;
        attributes.power = power;
        NodeGradients node(of);
        if (node.is_float()) node.check();
      }
    }
  }
}

TEST(Gradients, OfProductsWithZerosAreExact) {
  for (const std::vector<double>& numbers :
       {std::vector<double>{0, 2, 3}, {2, 0, 0}, {0, 0, 0}, {1.5, -2, 0}}) {
    KindCase of =
        node_of("prod", TNR_NODE_REDUCE + TNR_REDUCE_OP_PROD, {{{3}, F64, numbers, false}});
    of.flags = 1;
    NodeGradients(of).check();
    of = node_of("cumprod", TNR_NODE_SCAN + TNR_SCAN_OP_PROD, {{{3}, F64, numbers, false}});
    of.numbers = {0};
    NodeGradients(of).check();
  }
}

TEST(Gradients, OfProductsOfNoElements) {
  for (const std::int64_t axis : {0, 1}) {
    KindCase of = node_of("cumprod", TNR_NODE_SCAN + TNR_SCAN_OP_PROD, {{{0, 2}, F64, {}, false}});
    of.numbers = {axis};
    NodeGradients(of).check();
    of = node_of("prod", TNR_NODE_REDUCE + TNR_REDUCE_OP_PROD, {{{0, 2}, F64, {}, false}});
    of.flags = 1u << axis;
    NodeGradients(of).check();
  }
}

TEST(Gradients, OfEveryNormalization) {
  for (unsigned op = 1; op <= tenure::kernels::kNormalizeCount; ++op) {
    const auto& row = tenure::kernels::kNormalizeRows[op - 1];
    for (const std::uint32_t axes : {2u, 1u, 6u}) {
      SCOPED_TRACE(std::string(row.name) + " over " + std::to_string(axes));
      const Shape along = axes == 6 ? Shape{3, 4} : axes == 2 ? Shape{3} : Shape{2};
      KindCase of = node_of(row.name, TNR_NODE_NORMALIZE + op, {array_of({2, 3, 4}, 0.3, 2, -1)});
      of.flags = axes;
      auto& attributes = give<tnr_normalize_attributes>(of);
      if (op == TNR_NORMALIZE_OP_LAYER_NORM || op == TNR_NORMALIZE_OP_RMS_NORM) {
        attributes.eps = 0.01;
      }
      NodeGradients(of).check();
      if (op != TNR_NORMALIZE_OP_LAYER_NORM && op != TNR_NORMALIZE_OP_RMS_NORM) continue;
      of.operands.push_back(array_of(along, 0.6));
      NodeGradients(of).check();
      if (op == TNR_NORMALIZE_OP_RMS_NORM) continue;
      of.operands.push_back(array_of(along, 0.8));
      NodeGradients(of).check();
    }
  }
}

TEST(Gradients, OfEveryScan) {
  for (unsigned op = 1; op <= tenure::kernels::kScanCount; ++op) {
    for (const std::int64_t axis : {0, 1}) {
      SCOPED_TRACE(std::to_string(op) + " along " + std::to_string(axis));
      KindCase of = node_of("scan", TNR_NODE_SCAN + op, {array_of({3, 5}, 0.3, 2, -1)});
      of.numbers = {axis};
      NodeGradients(of).check();
    }
  }
}

TEST(Gradients, OfProductsOfAllRanks) {
  const std::vector<std::pair<Shape, Shape>> factors = {
      {{3, 4}, {4, 2}},    {{4}, {4, 2}},       {{3, 4}, {4}},          {{4}, {4}},
      {{2, 3, 4}, {4, 2}}, {{3, 4}, {2, 4, 2}}, {{2, 3, 4}, {2, 4, 2}}, {{2, 1, 3, 4}, {5, 4, 2}},
      {{2, 3, 4}, {4}},    {{4}, {2, 4, 3}},    {{1, 3, 4}, {2, 4, 2}}};
  for (const auto& [a, b] : factors) {
    SCOPED_TRACE(testing::PrintToString(a) + " by " + testing::PrintToString(b));
    NodeGradients(node_of("matmul", TNR_NODE_MATMUL, {array_of(a, 0.3), array_of(b, 0.6)})).check();
  }
  for (const std::int32_t activation : {TNR_UNARY_OP_RELU, TNR_UNARY_OP_TANH, TNR_UNARY_OP_GELU}) {
    KindCase of =
        node_of("matmul", TNR_NODE_MATMUL,
                {array_of({2, 3, 4}, 0.3, 2, -1), array_of({4, 2}, 0.6), array_of({2}, 0.2)});
    auto& attributes = give<tnr_matmul_attributes>(of);
    attributes.activation = activation;
    NodeGradients(of).check();
    attributes.flags = TNR_EPILOGUE_CLAMP;
    attributes.low = 0.1;
    attributes.high = 0.7;
    NodeGradients(of).check();
  }
}

TEST(Gradients, OfValuesPutAtRepeatedIndices) {
  for (const std::int32_t op :
       {0, TNR_BINARY_OP_ADD, TNR_BINARY_OP_MUL, TNR_BINARY_OP_MIN, TNR_BINARY_OP_MAX}) {
    SCOPED_TRACE(op);
    const KindOperand rows = {{4}, TNR_DTYPE_I64, {2, 0, 2, 2}, false};
    KindCase of = node_of("put", TNR_NODE_PUT + static_cast<std::uint32_t>(op),
                          {array_of({3, 2}, 0.3), array_of({4, 2}, 0.6), rows});
    of.numbers = {0};
    NodeGradients(of).check();
    if (op == TNR_BINARY_OP_MUL) {
      of.operands[1].numbers[4] = of.operands[0].numbers[1] = of.operands[1].numbers[3] = 0;
      NodeGradients(of).check();
    }
    const KindOperand places = {{2, 3}, TNR_DTYPE_I64, {2, 0, 2, 1, 1, 1}, false};
    of = node_of("scatter", TNR_NODE_SCATTER + static_cast<std::uint32_t>(op),
                 {array_of({2, 3}, 0.3), array_of({2, 3}, 0.6), places});
    of.numbers = {1};
    NodeGradients(of).check();
  }
}

TEST(Gradients, OfSlicesAndPads) {
  for (const Shape& numbers : {Shape{1, 1, 4, 1}, Shape{1, 0, 5, 2}, Shape{1, 4, -1, -1},
                               Shape{0, 2, 0, -2}, Shape{1, 2, 2, 1}}) {
    KindCase of = node_of("slice", TNR_NODE_SLICE, {array_of({3, 5}, 0.3)});
    of.numbers = numbers;
    NodeGradients(of).check();
  }
  for (const std::int32_t mode : {TNR_PAD_MODE_CONSTANT, TNR_PAD_MODE_EDGE, TNR_PAD_MODE_REFLECT,
                                  TNR_PAD_MODE_SYMMETRIC, TNR_PAD_MODE_WRAP}) {
    SCOPED_TRACE(mode);
    for (const std::int64_t before : {2, -1}) {
      KindCase of =
          node_of("pad", TNR_NODE_PAD + static_cast<std::uint32_t>(mode), {array_of({2, 3}, 0.3)});
      of.numbers = {3, 6};
      auto& attributes = give<tnr_pad_attributes>(of);
      attributes.before[1] = before;
      NodeGradients(of).check();
    }
  }
}

TEST(Gradients, OfTriangularSystems) {
  for (std::uint32_t flags = 0; flags < 8; ++flags) {
    for (const Shape& shape : {Shape{4}, Shape{4, 3}}) {
      SCOPED_TRACE(std::to_string(flags) + " of rank " + std::to_string(shape.size()));
      // With entries on both sides of the diagonal, which are twice in one place.
      KindOperand values = array_of({9}, 0.3);
      for (const std::size_t diagonal : {0u, 2u, 5u, 8u}) values.numbers[diagonal] += 2;
      KindCase of = node_of("sparse_solve", TNR_NODE_SPARSE_SOLVE,
                            {{{5}, TNR_DTYPE_I64, {0, 2, 4, 6, 9}, false},
                             {{9}, TNR_DTYPE_I64, {0, 2, 1, 0, 3, 2, 1, 1, 3}, false},
                             values,
                             array_of(shape, 0.7)});
      of.numbers = {4, 4};
      auto& attributes = give<tnr_sparse_node_attributes>(of);
      attributes.format = TNR_SPARSE_FORMAT_CSR;
      attributes.call_flags = flags;
      NodeGradients(of).check();
    }
  }
}

KindCase convolution_of(std::uint32_t code, const Shape& a, const Shape& weight, bool has_bias,
                        std::int64_t groups, std::initializer_list<std::int64_t> steps,
                        std::initializer_list<std::int64_t> padding) {
  KindCase of =
      node_of("convolution", code, {array_of(a, 0.3, 2, -1), array_of(weight, 0.6, 2, -1)});
  const std::int64_t filters = code == TNR_NODE_CONV2D ? weight[0] : weight[1] * groups;
  if (has_bias) of.operands.push_back(array_of({filters}, 0.2));
  auto& attributes = give<tnr_conv2d_attributes>(of);
  attributes.groups = groups;
  const std::vector<std::int64_t> given(steps);
  std::copy_n(given.begin(), 2, attributes.strides);
  std::copy_n(given.begin() + 2, 2, attributes.dilations);
  std::copy_n(padding.begin(), padding.size(), attributes.padding);
  return of;
}

TEST(Gradients, OfConvolutions) {
  const std::vector<KindCase> cases = {
      convolution_of(TNR_NODE_CONV2D, {2, 3, 5, 6}, {4, 3, 3, 3}, true, 1, {1, 1, 1, 1},
                     {1, 1, 1, 1}),
      convolution_of(TNR_NODE_CONV2D, {2, 4, 5, 6}, {2, 4, 1, 1}, false, 1, {1, 1, 1, 1}, {}),
      convolution_of(TNR_NODE_CONV2D, {1, 4, 7, 6}, {4, 2, 3, 2}, true, 2, {2, 3, 1, 2},
                     {1, 0, 2, 1}),
      convolution_of(TNR_NODE_CONV2D, {2, 3, 6, 6}, {6, 1, 3, 3}, false, 3, {2, 2, 1, 1},
                     {1, 1, 1, 1}),
      convolution_of(TNR_NODE_CONV2D, {2, 3, 6, 6}, {3, 1, 3, 3}, false, 3, {1, 1, 2, 2},
                     {0, 2, 2, 0}),
      convolution_of(TNR_NODE_CONV2D_TRANSPOSED, {2, 3, 4, 3}, {3, 2, 3, 3}, true, 1, {2, 1, 1, 1},
                     {1, 0, 0, 1}),
      convolution_of(TNR_NODE_CONV2D_TRANSPOSED, {1, 4, 3, 3}, {4, 1, 2, 2}, false, 2, {1, 1, 2, 2},
                     {}),
      convolution_of(TNR_NODE_CONV2D_TRANSPOSED, {2, 2, 3, 3}, {2, 2, 2, 3}, false, 1, {3, 2, 1, 1},
                     {})};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    NodeGradients(cases[i]).check();
    NodeGradients(cases[i]).channels_last().check();
  }
  // Rows that a convolution of the result would have more: of a dilation above the stride.
  KindCase larger = convolution_of(TNR_NODE_CONV2D_TRANSPOSED, {1, 2, 3, 3}, {2, 3, 2, 2}, false, 1,
                                   {1, 2, 3, 3}, {});
  larger.numbers = {8, 10};
  NodeGradients(larger).check();
}

TEST(Gradients, OfConvolutionsWithAnActivation) {
  for (const std::uint32_t code : {TNR_NODE_CONV2D, TNR_NODE_CONV2D_TRANSPOSED}) {
    for (const std::int32_t activation :
         {TNR_UNARY_OP_RELU, TNR_UNARY_OP_TANH, TNR_UNARY_OP_GELU}) {
      KindCase of =
          convolution_of(code, {2, 2, 4, 4}, {2, 2, 3, 3}, true, 1, {1, 1, 1, 1}, {1, 1, 1, 1});
      auto attributes = std::make_shared<tnr_conv2d_attributes>(
          *static_cast<const tnr_conv2d_attributes*>(of.attributes.get()));
      of.attributes = attributes;
      attributes->activation = activation;
      NodeGradients(of).check();
      attributes->flags = TNR_EPILOGUE_CLAMP;
      attributes->low = 0.1;
      attributes->high = 0.7;
      NodeGradients(of).check();
    }
  }
}

TEST(Gradients, OfPoolings) {
  struct Case {
    const char* name;
    Shape a;
    tnr_pool2d_attributes attributes;
    Shape numbers;
  };
  const auto windows = [](std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                          std::uint32_t flags, std::int64_t dilation = 1) {
    tnr_pool2d_attributes of = {};
    of.struct_size = sizeof of;
    of.kernel[0] = of.kernel[1] = kernel;
    of.strides[0] = of.strides[1] = stride;
    std::fill_n(of.padding, 4, padding);
    of.dilations[0] = of.dilations[1] = dilation;
    of.flags = flags;
    return of;
  };
  tnr_pool2d_attributes adaptive = {};
  adaptive.struct_size = sizeof adaptive;
  adaptive.flags = TNR_POOL2D_ADAPTIVE;
  const Case cases[] = {{"overlapping", {2, 3, 7, 6}, windows(3, 2, 1, 0), {}},
                        {"rounded up", {1, 2, 6, 7}, windows(3, 2, 0, TNR_POOL2D_CEIL), {}},
                        {"dilated", {1, 2, 7, 7}, windows(2, 1, 0, 0, 2), {}},
                        {"adaptive", {2, 3, 7, 5}, adaptive, {3, 2}},
                        {"of all", {2, 3, 4, 5}, adaptive, {1, 1}}};
  for (const Case& of : cases) {
    for (const tnr_reduce_op op : {TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_MEAN}) {
      for (const bool counts : {false, true}) {
        if (counts && (op == TNR_REDUCE_OP_MAX || !of.numbers.empty())) continue;
        SCOPED_TRACE(std::string(of.name) + " " + std::to_string(op));
        KindCase pool = node_of("pool2d", TNR_NODE_POOL2D + static_cast<std::uint32_t>(op),
                                {array_of(of.a, 0.3)});
        pool.numbers = of.numbers;
        auto& attributes = give<tnr_pool2d_attributes>(pool);
        attributes = of.attributes;
        if (counts) attributes.flags |= TNR_POOL2D_COUNT_PADDING;
        NodeGradients(pool).check();
        NodeGradients(pool).channels_last().check();
      }
    }
  }
}

TEST_F(Graph, MaximaGiveTheirGradientToTheFirst) {
  const std::uint32_t a = input({1, 1, 2, 4});
  tnr_pool2d_attributes of = {};
  of.struct_size = sizeof of;
  of.kernel[0] = of.kernel[1] = of.strides[0] = of.strides[1] = 2;
  const std::uint32_t maxima = node(TNR_NODE_POOL2D + TNR_REDUCE_OP_MAX, {a}, {}, &of);
  const std::uint32_t sum = node(TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM, {maxima}, {}, nullptr, 15);
  std::uint32_t gradient = 0;
  ASSERT_EQ(tnr_graph_add_gradients(graph, sum, TNR_OPERAND_NONE, &a, 1, nullptr, &gradient),
            TNR_STATUS_OK);
  std::uint32_t again = 0;
  EXPECT_EQ(tnr_graph_add_gradients(graph, gradient, a, &a, 1, nullptr, &again), TNR_STATUS_OK);
  output(gradient);
  tenure::test::Floats images({1, 1, 2, 4}), result({1, 1, 2, 4});
  images.values = {2, 5, 1, 7, 5, 5, 7, 7};
  ASSERT_EQ(run(program(), {images.view()}, {result.out()}), TNR_STATUS_OK);
  EXPECT_EQ(result.values, (std::vector<float>{0, 1, 0, 1, 0, 0, 0, 0}));
}

TEST(Gradients, OfEinsums) {
  struct Case {
    const char* spec;
    std::vector<Shape> shapes;
  };
  const std::vector<Case> cases = {{"ij,jk->ik", {{2, 3}, {3, 4}}},
                                   {"ij->ji", {{2, 3}}},
                                   {"ii->i", {{3, 3}}},
                                   {"ii->", {{3, 3}}},
                                   {"ij->", {{2, 3}}},
                                   {"ij,ij->i", {{2, 3}, {2, 3}}},
                                   {"i,j->ij", {{2}, {3}}},
                                   {"ij,jk,kl->il", {{2, 3}, {3, 2}, {2, 4}}},
                                   {"...ij,...jk->...ik", {{2, 2, 3}, {3, 4}}},
                                   {"...ij,...jk->...ik", {{1, 2, 3}, {2, 3, 4}}},
                                   {"iji,j->i", {{2, 3, 2}, {3}}},
                                   {"ij,kl->k", {{2, 3}, {3, 2}}},
                                   {"bhqd,bhkd->bhqk", {{2, 2, 3, 2}, {2, 2, 4, 2}}}};
  for (const Case& of : cases) {
    SCOPED_TRACE(of.spec);
    KindCase node = node_of("einsum", TNR_NODE_EINSUM, {});
    double start = 0.2;
    for (const Shape& shape : of.shapes) node.operands.push_back(array_of(shape, start += 0.23));
    std::snprintf(give<tnr_einsum_node_attributes>(node).spec, 120, "%s", of.spec);
    NodeGradients(node).check();
  }
}

TEST_F(Graph, GradientsAreRefusedForWhatHasNone) {
  const std::uint32_t x = input({3});
  const std::uint32_t n = input({3}, TNR_DTYPE_I32);
  const std::uint32_t number = scalar(2);
  const std::uint32_t y = node(TNR_NODE_UNARY + TNR_UNARY_OP_EXP, {x});
  const auto value_count = [&] {
    tnr_graph_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(tnr_graph_describe(graph, &info), TNR_STATUS_OK);
    return info.value_count;
  };
  const auto gradient = [&](std::uint32_t of, std::uint32_t seed, std::uint32_t by) {
    std::uint32_t value = 0;
    const std::uint32_t before = value_count();
    const tnr_status status = tnr_graph_add_gradients(graph, of, seed, &by, 1, nullptr, &value);
    if (status != TNR_STATUS_OK) {
      EXPECT_EQ(value_count(), before);
    }
    return status;
  };
  EXPECT_EQ(gradient(y, TNR_OPERAND_NONE, x), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(tnr_last_error()->message,
               "of is value 3 of shape [3]: more than one element needs a seed");
  EXPECT_EQ(gradient(y, x, n), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(tnr_last_error()->message,
               "by is value 1 of i32, but only floats and complex numbers have gradients");
  EXPECT_EQ(gradient(y, x, number), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gradient(n, n, x), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gradient(99, x, x), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gradient(y, x, 99), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gradient(y, n, x), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gradient(y, 99, x), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gradient(y, x, x), TNR_STATUS_OK);
  std::uint32_t value = 0;
  std::uint32_t* volatile none = nullptr;  // the header has compilers see a plain NULL
  EXPECT_EQ(tnr_graph_add_gradients(graph, y, x, none, 1, nullptr, &value),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(tnr_graph_add_gradients(graph, y, x, &x, 1, nullptr, none),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(tnr_graph_add_gradients(graph, y, x, nullptr, 0, nullptr, nullptr), TNR_STATUS_OK);
}

TEST_F(Graph, ValueThatNothingDependsOnHasZeros) {
  const std::uint32_t x = input({2});
  const std::uint32_t other = input({2, 2});
  const std::uint32_t y = node(TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM, {x}, {}, nullptr, 1);
  const std::uint32_t by[] = {other, x, x};
  std::uint32_t gradients[3];
  ASSERT_EQ(tnr_graph_add_gradients(graph, y, TNR_OPERAND_NONE, by, 3, nullptr, gradients),
            TNR_STATUS_OK);
  for (const std::uint32_t gradient : gradients) output(gradient);
  tenure::test::Floats a({2}, 1, 1), b({2, 2}, 1, 1), da({2}), da_again({2}), db({2, 2}, 7, 0);
  ASSERT_EQ(run(program(), {a.view(), b.view()}, {db.out(), da.out(), da_again.out()}),
            TNR_STATUS_OK);
  EXPECT_EQ(db.values, (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(da.values, (std::vector<float>{1, 1}));
  EXPECT_EQ(da_again.values, da.values);
}

}  // namespace
