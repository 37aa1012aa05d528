// Every kind of node: it is built, gives the bits of the call that it stands for whatever passes
// run, also in a preallocated program, is listed and built again, and is refused where that call would
// be.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>

#include "expect_status.hpp"
#include "failing_allocator.hpp"
#include "memory/memory.hpp"
#include "program_kinds.hpp"

using tenure::test::allocation_counts;
using tenure::test::AllocationFault;
using tenure::test::CGraph;
using tenure::test::doubled;
using tenure::test::elements_of;
using tenure::test::expect_refused;
using tenure::test::Failing;
using tenure::test::kind_cases;
using tenure::test::KindCase;
using tenure::test::KindOperand;
using tenure::test::preallocation_refusal;
using tenure::test::Shape;
using tenure::test::view_over;
using tenure::test::Views;

namespace {

constexpr std::uint32_t kAllPasses = 0xffff;
constexpr std::uint32_t kKind = 0xffff0000u;

using Bytes = std::vector<unsigned char>;

// The arrays of a case.
struct Memory {
  explicit Memory(const KindCase& of) {
    views.reserve(of.operands.size());
    for (const KindOperand& operand : of.operands) {
      const bool is_array = operand.is_given() && !operand.is_scalar;
      bytes.push_back(is_array ? elements_of(operand.numbers, operand.shape, operand.dtype)
                               : Bytes());
      bytes.back().resize(std::max<std::size_t>(bytes.back().size(), 16));
      views.push_back(view_over(bytes.back().data(), operand.shape, operand.dtype));
      pointers.push_back(is_array ? &views.back() : nullptr);
    }
  }

  std::vector<Bytes> bytes;
  std::vector<tnr_view> views;
  Views pointers;
};

// The result of a run or a call.
struct Outcome {
  tnr_status status;
  Bytes bytes;

  friend bool operator==(const Outcome& a, const Outcome& b) {
    return a.status == b.status && (a.status != TNR_STATUS_OK || a.bytes == b.bytes);
  }
};

// A graph of one node.
class NodeGraph {
 public:
  enum class As { kInputs, kConstants };

  NodeGraph() {
    const tnr_custom_operation own = doubled();
    std::uint32_t index = 0;
    EXPECT_EQ(tnr_graph_add_custom(graph_, &own, &index), TNR_STATUS_OK);
  }
  NodeGraph(const NodeGraph&) = delete;
  NodeGraph& operator=(const NodeGraph&) = delete;
  ~NodeGraph() { EXPECT_EQ(tnr_graph_release(graph_), TNR_STATUS_OK); }

  [[nodiscard]] tnr_graph* get() const { return graph_; }
  [[nodiscard]] std::uint32_t value() const { return value_; }

  // The status of the node; nothing but the operands is added where it is refused.
  tnr_status add(const KindCase& of, const Memory& memory, As as) {
    std::vector<std::uint32_t> operands;
    for (std::size_t i = 0; i < of.operands.size(); ++i) {
      operands.push_back(add_operand(of.operands[i], memory.views[i], as));
    }
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = of.code;
    node.dtype = of.dtype;
    node.operands = operands.data();
    node.operand_count = static_cast<std::uint32_t>(operands.size());
    node.numbers = of.numbers.data();
    node.number_count = static_cast<std::uint32_t>(of.numbers.size());
    node.attributes = of.attributes.get();
    node.flags = of.flags;
    const tnr_graph_info before = info();
    const tnr_status status = tnr_graph_add_node(graph_, &node, &value_);
    if (status == TNR_STATUS_OK) {
      EXPECT_EQ(tnr_graph_add_output(graph_, value_, TNR_OPERAND_NONE), TNR_STATUS_OK);
    } else {
      EXPECT_EQ(info().value_count, before.value_count);
      EXPECT_EQ(info().node_count, before.node_count);
    }
    return status;
  }

  [[nodiscard]] tnr_graph_info info() const {
    tnr_graph_info of = {};
    of.struct_size = sizeof of;
    EXPECT_EQ(tnr_graph_describe(graph_, &of), TNR_STATUS_OK);
    return of;
  }
  [[nodiscard]] tnr_value_info type() const {
    tnr_value_info of = {};
    of.struct_size = sizeof of;
    EXPECT_EQ(tnr_graph_describe_value(graph_, value_, &of), TNR_STATUS_OK);
    return of;
  }

  // Builds the same graph from the list of the values of `other`.
  void build_from(const NodeGraph& other) {
    const tnr_graph_info all = other.info();
    for (std::uint32_t i = 0; i < all.value_count; ++i) {
      tnr_value_info value = {};
      value.struct_size = sizeof value;
      ASSERT_EQ(tnr_graph_describe_value(other.graph_, i, &value), TNR_STATUS_OK);
      ASSERT_EQ(add_described(other, value), TNR_STATUS_OK) << tnr_last_error()->message;
      ASSERT_EQ(value_, i);
    }
    ASSERT_EQ(tnr_graph_add_output(graph_, value_, TNR_OPERAND_NONE), TNR_STATUS_OK);
  }

 private:
  std::uint32_t add_operand(const KindOperand& operand, const tnr_view& view, As as) {
    std::uint32_t value = TNR_OPERAND_NONE;
    if (!operand.is_given()) return value;
    tnr_status status;
    if (operand.is_scalar) {
      const double number = operand.numbers[0];
      const tnr_scalar scalar =
          operand.dtype == TNR_DTYPE_U64   ? tnr_scalar_u64(static_cast<std::uint64_t>(number))
          : operand.dtype == TNR_DTYPE_I64 ? tnr_scalar_i64(static_cast<std::int64_t>(number))
                                           : tnr_scalar_f64(number);
      status = tnr_graph_add_scalar(graph_, &scalar, &value);
    } else if (as == As::kConstants) {
      status = tnr_graph_add_constant(graph_, &view, &value);
    } else {
      status = tnr_graph_add_input(graph_, view.dtype, view.rank, view.shape, &value);
    }
    EXPECT_EQ(status, TNR_STATUS_OK) << tnr_last_error()->message;
    return value;
  }

  tnr_status add_described(const NodeGraph& other, const tnr_value_info& value) {
    switch (value.source) {
      case TNR_VALUE_SOURCE_INPUT:
        return tnr_graph_add_input(graph_, value.dtype, value.rank, value.numbers, &value_);
      case TNR_VALUE_SOURCE_CONSTANT: {
        tnr_view view = {};
        const tnr_status status = tnr_graph_describe_constant(other.graph_, value.index, &view);
        return status == TNR_STATUS_OK ? tnr_graph_add_constant(graph_, &view, &value_) : status;
      }
      case TNR_VALUE_SOURCE_SCALAR: {
        tnr_scalar scalar = {};
        const tnr_status status = tnr_graph_describe_scalar(other.graph_, value.index, &scalar);
        return status == TNR_STATUS_OK ? tnr_graph_add_scalar(graph_, &scalar, &value_) : status;
      }
      default: {
        tnr_graph_node node = {};
        node.struct_size = sizeof node;
        const tnr_status status = tnr_graph_describe_node(other.graph_, value.index, &node);
        return status == TNR_STATUS_OK ? tnr_graph_add_node(graph_, &node, &value_) : status;
      }
    }
  }

  tnr_graph* graph_ = tnr_graph_create();
  std::uint32_t value_ = TNR_OPERAND_NONE;
};

// An output of the node's type, filled with 0xa5.
struct Result {
  explicit Result(const tnr_value_info& type)
      : bytes(tnr_dtype_size_bytes(type.dtype)), shape(type.shape, type.shape + type.rank) {
    for (const std::int64_t extent : shape) {
      bytes.resize(bytes.size() * static_cast<std::size_t>(extent));
    }
    std::ranges::fill(bytes, static_cast<unsigned char>(0xa5));
    count = bytes.size();
    bytes.resize(std::max<std::size_t>(count, 16));
    out = {view_over(bytes.data(), shape, type.dtype)};
  }
  [[nodiscard]] Outcome with(tnr_status status) const {
    return {status, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)}};
  }

  Bytes bytes;
  Shape shape;
  std::size_t count = 0;
  tnr_view_mut out = {};
};

Outcome run(const NodeGraph& graph, const Memory& memory, NodeGraph::As as,
            std::uint32_t disabled) {
  const tnr_program_attributes attributes = {sizeof attributes, disabled, 0, nullptr, 0};
  tnr_program* const program = tnr_program_create(nullptr, graph.get(), &attributes);
  if (program == nullptr) return {tnr_last_error()->status, {}};
  Result result(graph.type());
  Views inputs;
  for (const tnr_view* const view : memory.pointers) {
    if (view != nullptr && as == NodeGraph::As::kInputs) inputs.push_back(view);
  }
  const tnr_view_mut* const outputs[] = {&result.out};
  const tnr_status status =
      tnr_program_run(nullptr, program, inputs.data(), static_cast<std::uint32_t>(inputs.size()),
                      nullptr, outputs, 1);
  EXPECT_EQ(tnr_program_release(program), TNR_STATUS_OK);
  return result.with(status);
}

// Compares with a preallocated program, whose run asks for no memory.
void expect_preallocated_alike(const KindCase& of, const NodeGraph& graph, const Memory& memory,
                               const Outcome& ran, const std::string& message) {
  const tnr_program_attributes attributes = {sizeof attributes, 0, 0, nullptr, 0};
  tnr_program* const program = tnr_program_create(nullptr, graph.get(), &attributes);
  ASSERT_NE(program, nullptr);
  Result result(graph.type());
  Views inputs;
  for (const tnr_view* const view : memory.pointers) {
    if (view != nullptr) inputs.push_back(view);
  }
  const auto count = static_cast<std::uint32_t>(inputs.size());
  const tnr_view_mut* const outputs[] = {&result.out};
  const tnr_bound_attributes preallocated = {sizeof preallocated, 0, TNR_BOUND_PREALLOCATED, 0};
  tnr_bound* const bound =
      tnr_bound_create(nullptr, program, inputs.data(), count, &preallocated, outputs, 1);
  EXPECT_EQ(tnr_program_release(program), TNR_STATUS_OK);
  if (const char* const refusal = preallocation_refusal(of.code)) {
    expect_refused(bound, TNR_STATUS_UNSUPPORTED, {refusal});
    return;
  }
  // Custom operations are computed when they are bound, and refused as they refuse.
  if (bound == nullptr && of.name == "custom") {
    EXPECT_EQ(tnr_last_error()->status, ran.status);
    return;
  }
  ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
  tnr_status status;
  {
    const AllocationFault counted(Failing::kOne, tenure::test::kNone);
    status = tnr_bound_run(nullptr, bound, inputs.data(), count, nullptr, outputs, 1);
  }
  const int asked = allocation_counts().asked;
  if (!tenure::kSanitized) {
    EXPECT_EQ(asked, 0);
  }
  EXPECT_TRUE(result.with(status) == ran);
  if (status != TNR_STATUS_OK) {
    EXPECT_EQ(tnr_last_error()->message, message);
  }
  EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
}

Outcome call(const KindCase& of, const NodeGraph& graph, const Memory& memory) {
  Result result(graph.type());
  return result.with(of.call(of, memory.pointers, &result.out));
}

// More than a test has memory for.
bool is_large(const tnr_value_info& type) {
  auto bytes = static_cast<double>(tnr_dtype_size_bytes(type.dtype));
  for (std::uint32_t axis = 0; axis < type.rank; ++axis) {
    bytes *= static_cast<double>(type.shape[axis]);
  }
  return bytes > 1 << 20;
}

// All passes that there are.
std::uint32_t passes() {
  std::uint32_t known = 0;
  for (std::uint32_t pass = 1; (pass & kAllPasses) != 0; pass <<= 1) {
    NodeGraph graph;
    const KindCase of = kind_cases().front();
    const Memory memory(of);
    EXPECT_EQ(graph.add(of, memory, NodeGraph::As::kInputs), TNR_STATUS_OK);
    const tnr_program_attributes attributes = {sizeof attributes, pass, 0, nullptr, 0};
    tnr_program* const program = tnr_program_create(nullptr, graph.get(), &attributes);
    if (program != nullptr) known |= pass;
    EXPECT_EQ(tnr_program_release(program), TNR_STATUS_OK);
  }
  return known;
}

// Lists of values grow by multiples: by one each time they would be copied as often as there are
// values.
TEST(Graphs, GrowByFewAllocations) {
  constexpr int kValues = 4096;
  tnr_graph* const graph = tnr_graph_create();
  const Shape shape = {2};
  const tnr_scalar one = tnr_scalar_f64(1);
  const auto asked_by = [&](const auto& add) {
    const AllocationFault counted(Failing::kOne, tenure::test::kNone);
    for (int i = 0; i < kValues; ++i) add();
  };
  std::uint32_t value = TNR_OPERAND_NONE;
  asked_by([&] { EXPECT_EQ(tnr_graph_add_scalar(graph, &one, &value), TNR_STATUS_OK); });
  EXPECT_LE(allocation_counts().asked, kValues / 16);
  // The shape of an input is of its own.
  asked_by([&] {
    EXPECT_EQ(tnr_graph_add_input(graph, TNR_DTYPE_F32, 1, shape.data(), &value), TNR_STATUS_OK);
  });
  EXPECT_LE(allocation_counts().asked, kValues + kValues / 16);
  EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
}

TEST(ProgramKinds, EachHasACase) {
  std::set<std::uint32_t> tested;
  for (const KindCase& of : kind_cases()) tested.insert(of.code & kKind);
  // No call of their own: program_control_test.cpp.
  tested.insert({TNR_NODE_COND, TNR_NODE_WHILE});
  // Results that a run makes smaller: found_test.cpp.
  tested.insert({TNR_NODE_NONZERO, TNR_NODE_MASKED_SELECT});
  // A number of the graph, which is no call.
  tested.insert(TNR_NODE_EXTENT);
  std::set<std::uint32_t> known;
  for (std::uint32_t kind = 1; kind < 0x200; ++kind) {
    NodeGraph graph;
    KindCase nothing;
    nothing.code = kind << 16;
    ASSERT_EQ(graph.add(nothing, Memory(nothing), NodeGraph::As::kInputs),
              TNR_STATUS_INVALID_ARGUMENT);
    const std::string message = tnr_last_error()->message;
    if (message.find("names no operation") == std::string::npos) known.insert(nothing.code);
  }
  EXPECT_EQ(tested, known);
  EXPECT_GE(known.size(), 50u);
}

TEST(ProgramKinds, HaveTheBitsOfTheirCalls) {
  const std::uint32_t all = passes();
  for (const KindCase& of : kind_cases()) {
    const Memory memory(of);
    for (const auto as : {NodeGraph::As::kInputs, NodeGraph::As::kConstants}) {
      NodeGraph graph;
      ASSERT_EQ(graph.add(of, memory, as), TNR_STATUS_OK)
          << of.name << ": " << tnr_last_error()->message;
      const Outcome called = call(of, graph, memory);
      ASSERT_EQ(called.status, TNR_STATUS_OK) << of.name << ": " << tnr_last_error()->message;
      for (const std::uint32_t disabled : {0u, all}) {
        const Outcome ran = run(graph, memory, as, disabled);
        EXPECT_EQ(ran.status, TNR_STATUS_OK) << of.name << ": " << tnr_last_error()->message;
        EXPECT_TRUE(ran == called) << of.name << ", without passes 0x" << std::hex << disabled;
      }
    }
  }
}

// With a gap behind each element, and the axes in the other order.
TEST(ProgramKinds, WriteOutputsOfAnyStrides) {
  for (const KindCase& of : kind_cases()) {
    const Memory memory(of);
    NodeGraph graph;
    ASSERT_EQ(graph.add(of, memory, NodeGraph::As::kInputs), TNR_STATUS_OK);
    const Outcome expected = run(graph, memory, NodeGraph::As::kInputs, 0);
    Result dense(graph.type());
    Bytes strided(2 * dense.bytes.size(), 0xa5);
    tnr_view_mut out = dense.out;
    out.view.data = out.view.base = strided.data();
    out.view.size_bytes = strided.size();
    std::int64_t stride = 2;
    for (std::uint32_t axis = 0; axis < out.view.rank; ++axis) {
      out.view.strides[axis] = stride;
      stride *= out.view.shape[axis];
    }
    tnr_program* const program = tnr_program_create(nullptr, graph.get(), nullptr);
    Views inputs;
    for (const tnr_view* const view : memory.pointers) {
      if (view != nullptr) inputs.push_back(view);
    }
    const tnr_view_mut* const outputs[] = {&out};
    ASSERT_EQ(tnr_program_run(nullptr, program, inputs.data(),
                              static_cast<std::uint32_t>(inputs.size()), nullptr, outputs, 1),
              TNR_STATUS_OK)
        << of.name << ": " << tnr_last_error()->message;
    EXPECT_EQ(tnr_program_release(program), TNR_STATUS_OK);
    ASSERT_EQ(tnr_copy(nullptr, &out.view, nullptr, &dense.out), TNR_STATUS_OK);
    EXPECT_TRUE(dense.with(TNR_STATUS_OK) == expected) << of.name;
  }
}

TEST(ProgramKinds, AreListedAndBuiltAgain) {
  for (const KindCase& of : kind_cases()) {
    const Memory memory(of);
    for (const auto as : {NodeGraph::As::kInputs, NodeGraph::As::kConstants}) {
      NodeGraph graph;
      ASSERT_EQ(graph.add(of, memory, as), TNR_STATUS_OK);
      tnr_graph_node node = {};
      node.struct_size = sizeof node;
      ASSERT_EQ(tnr_graph_describe_node(graph.get(), 0, &node), TNR_STATUS_OK);
      EXPECT_EQ(node.code, of.code);
      EXPECT_EQ(node.dtype, of.dtype);
      EXPECT_EQ(node.flags, of.flags);
      EXPECT_TRUE(std::ranges::equal(of.numbers, std::span(node.numbers, node.number_count)));
      ASSERT_EQ(node.attributes != nullptr, of.attributes != nullptr) << of.name;
      if (of.attributes != nullptr) {
        EXPECT_EQ(std::memcmp(node.attributes, of.attributes.get(), of.attribute_bytes), 0)
            << of.name;
      }
      NodeGraph again;
      again.build_from(graph);
      EXPECT_TRUE(run(again, memory, as, 0) == run(graph, memory, as, 0)) << of.name;
    }
  }
}

// Variations of a case. Most of them are refused.
std::vector<KindCase> variations(const KindCase& of) {
  std::vector<KindCase> varied;
  const auto vary = [&](const auto& change) {
    varied.push_back(of);
    change(varied.back());
  };
  for (std::size_t i = 0; i < of.operands.size(); ++i) {
    const KindOperand& operand = of.operands[i];
    if (!operand.is_given() || operand.is_scalar) continue;
    for (const tnr_dtype dtype :
         {TNR_DTYPE_F32, TNR_DTYPE_F64, TNR_DTYPE_I32, TNR_DTYPE_I64, TNR_DTYPE_U8, TNR_DTYPE_U64,
          TNR_DTYPE_BOOL8, TNR_DTYPE_C64, TNR_DTYPE_F16}) {
      vary([&](KindCase& one) { one.operands[i].dtype = dtype; });
    }
    vary([&](KindCase& one) { one.operands[i].shape.push_back(2); });
    vary([&](KindCase& one) { one.operands[i].shape.insert(one.operands[i].shape.begin(), 1); });
    for (std::size_t axis = 0; axis < operand.shape.size(); ++axis) {
      vary([&](KindCase& one) { ++one.operands[i].shape[axis]; });
      vary([&](KindCase& one) { one.operands[i].shape[axis] = 0; });
      vary([&](KindCase& one) {
        one.operands[i].shape.erase(one.operands[i].shape.begin() +
                                    static_cast<std::ptrdiff_t>(axis));
      });
    }
    vary([&](KindCase& one) { one.operands[i] = {}; });
  }
  vary([](KindCase& one) { one.operands.pop_back(); });
  vary([](KindCase& one) { one.operands.push_back(one.operands.back()); });
  vary([](KindCase& one) { one.numbers.push_back(1); });
  if (!of.numbers.empty()) vary([](KindCase& one) { one.numbers.pop_back(); });
  for (std::size_t i = 0; i < of.numbers.size(); ++i) {
    for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{0}, of.numbers[i] + 1,
                                      of.numbers[i] - 1, std::int64_t{1} << 61, TNR_EXTENT + 3}) {
      vary([&](KindCase& one) { one.numbers[i] = number; });
    }
  }
  for (const std::uint32_t flags : {0u, 1u, 4u, 1u << 20, ~0u}) {
    vary([&](KindCase& one) { one.flags = flags; });
  }
  for (const tnr_dtype dtype :
       std::vector<tnr_dtype>{0, TNR_DTYPE_F64, TNR_DTYPE_I64, TNR_DTYPE_C64}) {
    vary([&](KindCase& one) { one.dtype = dtype; });
  }
  for (std::uint32_t op = 0; op < 40; ++op) {
    if ((of.code & kKind) == TNR_NODE_CUSTOM) break;
    vary([&](KindCase& one) { one.code = (of.code & kKind) + op; });
  }
  vary([](KindCase& one) { one.code |= 0xffff; });
  return varied;
}

// Each is refused, or does what its call does.
TEST(ProgramKinds, AreRefusedWhereTheirCallsWouldBe) {
  std::size_t accepted = 0;
  for (const KindCase& of : kind_cases()) {
    std::size_t refused = 0;
    for (const KindCase& varied : variations(of)) {
      const Memory memory(varied);
      NodeGraph graph;
      const tnr_status status = graph.add(varied, memory, NodeGraph::As::kInputs);
      if (status != TNR_STATUS_OK) {
        EXPECT_TRUE(status == TNR_STATUS_INVALID_ARGUMENT || status == TNR_STATUS_UNSUPPORTED)
            << of.name << ": " << tnr_last_error()->message;
        ++refused;
        continue;
      }
      ++accepted;
      if (is_large(graph.type())) continue;
      const Outcome called = call(varied, graph, memory);
      const Outcome ran = run(graph, memory, NodeGraph::As::kInputs, 0);
      std::string what = of.name + ": code " + std::to_string(varied.code & 0xffff) + ", flags " +
                         std::to_string(varied.flags);
      for (const KindOperand& operand : varied.operands) {
        what += ", " + std::to_string(operand.dtype) + " of";
        for (const std::int64_t extent : operand.shape) what += " " + std::to_string(extent);
      }
      for (const std::int64_t number : varied.numbers) what += ", " + std::to_string(number);
      EXPECT_EQ(ran.status, called.status) << what << ": " << tnr_last_error()->message;
      EXPECT_TRUE(ran == called) << what;
      SCOPED_TRACE(what);
      const std::string message = ran.status == TNR_STATUS_OK ? "" : tnr_last_error()->message;
      expect_preallocated_alike(varied, graph, memory, ran, message);
    }
    EXPECT_GE(refused, 12u) << of.name;
  }
  EXPECT_GE(accepted, 200u);
}

TEST(ProgramKinds, RefuseAttributesOfOthers) {
  for (const KindCase& of : kind_cases()) {
    const Memory memory(of);
    for (const std::uint64_t struct_size : {0u, 4u, 1u << 20}) {
      KindCase varied = of;
      auto given = std::make_shared<std::vector<unsigned char>>(512);
      if (of.attributes != nullptr) {
        std::memcpy(given->data(), of.attributes.get(), of.attribute_bytes);
      }
      std::memcpy(given->data(), &struct_size, sizeof struct_size);
      varied.attributes = std::shared_ptr<const void>(given, given->data());
      NodeGraph graph;
      EXPECT_EQ(graph.add(varied, memory, NodeGraph::As::kInputs), TNR_STATUS_INVALID_ARGUMENT)
          << of.name;
    }
    // A triangle may have any diagonal.
    if (of.attributes == nullptr || (of.code & kKind) == TNR_NODE_TRIANGULAR) continue;
    // Sets every bit of the attributes, so that each field that the library checks is wrong.
    KindCase varied = of;
    auto given = std::make_shared<std::vector<unsigned char>>(of.attribute_bytes, 0xff);
    const std::uint64_t struct_size = of.attribute_bytes;
    std::memcpy(given->data(), &struct_size, sizeof struct_size);
    varied.attributes = std::shared_ptr<const void>(given, given->data());
    NodeGraph graph;
    EXPECT_NE(graph.add(varied, memory, NodeGraph::As::kInputs), TNR_STATUS_OK) << of.name;
  }
}

}  // namespace
