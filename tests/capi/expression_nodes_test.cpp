// Random nodes over a few valid views, from meaningless bytes to nodes that are nearly valid. Each
// call returns a status with its reason, never INTERNAL. An expression that is refused before work
// leaves the output unchanged, and no other memory is ever written.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "layouts.hpp"
#include "tenure/tenure.h"

using tenure::test::Layout;
using tenure::test::view_of;

namespace {

// Five lanes of f64, which no kernel is made for.
constexpr tnr_dtype kForeign = (TNR_DTYPE_F64 & 0xffff) | 5 << 16;

struct Place {
  tnr_dtype dtype;
  Layout layout;
};
const Place kInputs[] = {
    {TNR_DTYPE_F32, {{3, 5}, {5, 1}}}, {TNR_DTYPE_F32, {{5, 1}}},
    {TNR_DTYPE_F32, {{3, 1}, {1, 1}}}, {TNR_DTYPE_F32, {{3, 1}, {5, 3}}},
    {TNR_DTYPE_F32, {{3, 0}, {5, 2}}}, {TNR_DTYPE_F32, {}},
    {TNR_DTYPE_F32, {{0, 5}, {5, 1}}}, {TNR_DTYPE_F32, {{2, 20}, {3, 1}, {5, 4}}},
    {TNR_DTYPE_F64, {{3, 5}, {5, 1}}}, {TNR_DTYPE_I32, {{3, 5}, {5, 1}}},
    {TNR_DTYPE_I32, {{5, 1}}},         {TNR_DTYPE_BOOL8, {{3, 5}, {5, 1}}},
    {TNR_DTYPE_F16, {{3, 5}, {5, 1}}}, {TNR_DTYPE_I64, {{5, 3}}},
    {TNR_DTYPE_C64, {{3, 5}, {5, 1}}}, {kForeign, {{3, 5}, {5, 1}}},
    {TNR_DTYPE_U8, {{3, 5}, {5, 1}}}};
const Place kOutputs[] = {{TNR_DTYPE_F32, {{3, 5}, {5, 1}}},
                          {TNR_DTYPE_F32, {{3, 5}, {5, 1}}},
                          {TNR_DTYPE_F32, {{3, 1}, {5, 3}}},
                          {TNR_DTYPE_F32, {{3, 1}}},
                          {TNR_DTYPE_F32, {{3, 1}, {1, 1}}},
                          {TNR_DTYPE_F32, {}},
                          {TNR_DTYPE_F32, {{5, 2}}},
                          {TNR_DTYPE_F32, {{0, 5}, {5, 1}}},
                          {TNR_DTYPE_F32, {{2, 16}, {3, 5}, {5, 1}}},
                          {TNR_DTYPE_F64, {{3, 5}, {5, 1}}},
                          {TNR_DTYPE_I32, {{3, 5}, {5, 1}}},
                          {TNR_DTYPE_BOOL8, {{3, 5}, {5, 1}}},
                          {TNR_DTYPE_I64, {{3, 1}}},
                          {TNR_DTYPE_F16, {{3, 5}, {5, 1}}},
                          {kForeign, {{3, 5}, {5, 1}}},
                          {TNR_DTYPE_C64, {{3, 5}, {5, 1}}}};
constexpr std::size_t kInputCount = std::size(kInputs);
constexpr tnr_dtype kDtypes[] = {TNR_DTYPE_F32, TNR_DTYPE_F64, TNR_DTYPE_I32,  TNR_DTYPE_BOOL8,
                                 TNR_DTYPE_F16, TNR_DTYPE_I64, TNR_DTYPE_BF16, TNR_DTYPE_U8,
                                 TNR_DTYPE_C64, kForeign};

// Largest codes of the kinds, and a few that there are not.
constexpr std::uint32_t kMostCode = 60;

class Nodes : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 2048;
  static constexpr std::size_t kFirst = 1024;     // where elements begin
  static constexpr std::size_t kMostBytes = 640;  // that they span
  static constexpr unsigned char kUntouched = 0x5A;

  Nodes() {
    for (std::size_t i = 0; i < kInputCount; ++i) {
      views_[i] = view_of(memories_[i].data(), kBytes, kFirst, kInputs[i].dtype, kInputs[i].layout);
      pointers_[i] = &views_[i];
      // Small integers, some of them 0. Most of them are denormal as floats.
      for (unsigned char& byte : memories_[i]) byte = static_cast<unsigned char>(random_() % 4);
    }
    for (std::size_t i = 0; i < scalars_.size(); ++i) {
      scalars_[i].dtype = i < 2 ? TNR_DTYPE_I64 : kDtypes[i - 2];
      scalars_[i].bytes[0] = static_cast<unsigned char>(i % 3);
    }
    attributes_[0] = &none_;
    attributes_[1] = &none_;
    attributes_[2] = nullptr;
  }

  std::uint32_t draw(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  std::uint32_t draw_operand(std::uint32_t index) {
    switch (draw(16)) {
      case 0: return TNR_OPERAND_OUTPUT;
      case 1: return static_cast<std::uint32_t>(random_());
      case 2:
      case 3: return TNR_OPERAND_SCALAR + draw(static_cast<std::uint32_t>(scalars_.size()) + 1);
      case 4: return TNR_OPERAND_VIEW + draw(kInputCount + 1);
      case 5:
      case 6:
      case 7: return TNR_OPERAND_VIEW + draw(8);
      default:
        return index == 0 ? TNR_OPERAND_VIEW + draw(kInputCount)
                          : index - 1 - draw(std::min(index, 3u));
    }
  }

  // The dtype of an operand; 0 where it is unknown.
  tnr_dtype dtype_of(const tnr_node* nodes, std::uint32_t index, std::uint32_t operand) {
    const std::uint32_t number = operand & 0xffff;
    switch (operand & 0xc000'0000u) {
      case 0: return number < index ? nodes[number].dtype : 0;
      case TNR_OPERAND_VIEW: return number < kInputCount ? kInputs[number].dtype : 0;
      default: return TNR_DTYPE_F32;
    }
  }

  void draw_node(tnr_node* nodes, std::uint32_t index) {
    tnr_node& node = nodes[index];
    static constexpr std::uint32_t kCounts[] = {0, 1, 2, 3, 2, 3, 1, 1, 1};
    const std::uint32_t kind = 1 + draw(8);
    const bool is_coded = kind != 5 && kind != 6;
    node = {kind << 16 | (is_coded ? draw(8) == 0 ? draw(kMostCode) : 1 + draw(12) : draw(50) / 49),
            0,
            {TNR_OPERAND_NONE, TNR_OPERAND_NONE, TNR_OPERAND_NONE},
            0,
            0,
            0};
    for (std::uint32_t k = 0; k < kCounts[kind]; ++k) {
      node.operands[k] = draw_operand(index);
      const std::uint32_t first = node.operands[0];
      for (int tries = 0; k != 0 && kind != 5 && tries < 8; ++tries) {
        if (dtype_of(nodes, index, node.operands[k]) == dtype_of(nodes, index, first)) break;
        node.operands[k] = draw_operand(index);
      }
    }
    node.dtype = kind == 4       ? TNR_DTYPE_BOOL8
                 : kind == 6     ? kDtypes[draw(std::size(kDtypes))]
                 : kind == 5     ? dtype_of(nodes, index, node.operands[1])
                 : draw(12) == 0 ? kDtypes[draw(std::size(kDtypes))]
                                 : dtype_of(nodes, index, node.operands[0]);
    if (kind >= 7) {
      node.flags = draw(3) == 0 ? draw(0x200) : 2 | (draw(2) << 8);
      if (kind == 8) node.flags &= 0xff;
      node.attributes = draw(4) == 0 ? draw(5) : 0;
    }
    // One field that is nonsense.
    if (draw(24) == 0) {
      std::uint32_t fields[8];
      std::memcpy(fields, &node, sizeof node);
      fields[draw(8)] = static_cast<std::uint32_t>(random_() >> draw(32));
      std::memcpy(&node, fields, sizeof node);
    }
  }

  // Calls once; whether elements were computed.
  bool call(const std::vector<tnr_node>& nodes) {
    const Place* chosen = &kOutputs[draw(std::size(kOutputs))];
    for (int tries = 0; tries < 8 && chosen->dtype != nodes.back().dtype; ++tries) {
      chosen = &kOutputs[draw(std::size(kOutputs))];
    }
    const Place& place = *chosen;
    std::memset(out_memory_.data(), kUntouched, kBytes);
    tnr_view_mut out = {view_of(out_memory_.data(), kBytes, kFirst, place.dtype, place.layout)};
    const bool is_in_place = draw(8) == 0;
    if (is_in_place) out = {views_[draw(kInputCount)]};
    std::array<unsigned char, kBytes> before;
    auto& written = is_in_place ? memory_of(out) : out_memory_;
    before = written;

    tnr_expression expression = {};
    expression.struct_size = sizeof expression;
    expression.nodes = nodes.data();
    expression.views = pointers_.data();
    expression.scalars = scalars_.data();
    expression.attributes = attributes_.data();
    expression.node_count = static_cast<std::uint32_t>(nodes.size());
    expression.view_count = kInputCount;
    expression.scalar_count = static_cast<std::uint32_t>(scalars_.size());
    expression.attribute_count = static_cast<std::uint32_t>(attributes_.size());
    const tnr_status status = tnr_evaluate(nullptr, &expression, nullptr, &out);
    const std::string message = status == TNR_STATUS_OK ? "" : tnr_last_error()->message;
    EXPECT_TRUE(status == TNR_STATUS_OK || status == TNR_STATUS_INVALID_ARGUMENT ||
                status == TNR_STATUS_UNSUPPORTED || status == TNR_STATUS_ALIASED)
        << status << ": " << message;
    const bool is_mixture = message.find("out holds a mixture") != std::string::npos;
    if (status != TNR_STATUS_OK && !is_mixture) {
      EXPECT_EQ(before, written) << "written though refused: " << message;
    }
    for (std::size_t i = 0; i < kBytes && !is_in_place; ++i) {
      if (i == kFirst) i += kMostBytes;
      if (out_memory_[i] != kUntouched) {
        ADD_FAILURE() << "written at " << i;
        return true;
      }
    }
    if (is_in_place) written = before;

    tnr_dtype dtype = 77;
    std::uint32_t rank = 77;
    std::int64_t shape[TNR_MAX_RANK] = {77};
    const tnr_status shape_status = tnr_expression_shape(&expression, &dtype, &rank, shape);
    EXPECT_NE(shape_status, TNR_STATUS_INTERNAL) << tnr_last_error()->message;
    if (shape_status != TNR_STATUS_OK) {
      EXPECT_TRUE(dtype == 77 && rank == 77 && shape[0] == 77);
      const bool names_output = std::strstr(tnr_last_error()->message, "is the output") != nullptr;
      EXPECT_TRUE(status != TNR_STATUS_OK || names_output) << tnr_last_error()->message;
    } else if (status == TNR_STATUS_OK) {
      EXPECT_EQ(dtype, out.view.dtype);
      // Reduced axes of extent 1 may be left out of the output.
      const bool keeps_axes = (nodes.back().flags & TNR_NODE_KEEP_AXES) != 0;
      EXPECT_TRUE(rank <= out.view.rank || keeps_axes);
    }
    return status == TNR_STATUS_OK;
  }

  std::array<unsigned char, kBytes>& memory_of(const tnr_view_mut& out) {
    for (std::size_t i = 0; i < kInputCount; ++i) {
      if (out.view.base == memories_[i].data()) return memories_[i];
    }
    return out_memory_;
  }

  std::mt19937_64 random_{20};
  alignas(8) std::array<std::array<unsigned char, kBytes>, kInputCount> memories_;
  alignas(8) std::array<unsigned char, kBytes> out_memory_;
  tnr_view views_[kInputCount];
  std::array<const tnr_view*, kInputCount> pointers_;
  std::array<tnr_scalar, 10> scalars_ = {};
  std::array<const void*, 3> attributes_;
  // Zeros are what reductions and normalizations take.
  struct {
    std::uint64_t struct_size = 16;
    std::uint64_t zeros[7] = {};
  } none_;
};

std::int64_t rounds() {
  const char* const given = std::getenv("TENURE_NODES_ROUNDS");
  return given == nullptr ? 50'000 : std::atoll(given);
}

TEST_F(Nodes, WithoutSenseAreRefused) {
  std::vector<tnr_node> nodes;
  for (std::int64_t i = 0; i < rounds(); ++i) {
    nodes.resize(1 + draw(4));
    for (tnr_node& node : nodes) {
      std::uint32_t fields[8];
      for (std::uint32_t& field : fields) {
        field = static_cast<std::uint32_t>(random_() >> draw(64));
      }
      std::memcpy(&node, fields, sizeof node);
    }
    (void)call(nodes);
    if (HasFailure()) FAIL() << "round " << i;
  }
}

TEST_F(Nodes, ThatAreNearlyRightAreComputedOrRefused) {
  std::vector<tnr_node> nodes;
  std::int64_t computed_count = 0;
  for (std::int64_t i = 0; i < rounds(); ++i) {
    const std::uint32_t count = 1 + draw(draw(16) == 0 ? 200 : 4);
    nodes.resize(count);
    for (std::uint32_t index = 0; index < count; ++index) draw_node(nodes.data(), index);
    if (call(nodes)) ++computed_count;
    if (HasFailure()) {
      std::string text;
      for (const tnr_node& node : nodes) {
        char line[160];
        std::snprintf(line, sizeof line,
                      "code %x dtype %x operands %x %x %x attributes %u flags %x\n", node.code,
                      node.dtype, node.operands[0], node.operands[1], node.operands[2],
                      node.attributes, node.flags);
        text += line;
      }
      FAIL() << "round " << i << "\n" << text;
    }
  }
  EXPECT_GT(computed_count, rounds() / 50);
}

// Each is an operand of the next.
TEST_F(Nodes, AsManyAsThereMayBe) {
  for (const std::uint32_t count : {TNR_MAX_NODES - 1, TNR_MAX_NODES}) {
    std::vector<tnr_node> nodes;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t before = i == 0 ? TNR_OPERAND_VIEW : i - 1;
      nodes.push_back({TNR_NODE_BINARY + TNR_BINARY_OP_ADD,
                       TNR_DTYPE_F32,
                       {before, TNR_OPERAND_VIEW + i % 4, TNR_OPERAND_NONE},
                       0,
                       0,
                       0});
    }
    bool is_computed = false;
    for (int i = 0; i < 200 && !is_computed; ++i) is_computed = call(nodes);
    EXPECT_TRUE(is_computed);
  }
}

}  // namespace
