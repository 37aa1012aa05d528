#include "program/debug/non_finite.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/concurrency.hpp"
#include "cpu/kernel.hpp"
#include "dense/loops/nest.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// The words of a float dtype: without the sign, words over `infinity` are NaN.
struct Words {
  std::int64_t width_bytes;  // 0 of a dtype without NaN
  std::int64_t count;        // of an element
  std::uint64_t infinity;
};

Words words_of(tnr_dtype dtype) noexcept {
  constexpr std::uint64_t kInfinity32 = 0x7f80'0000;
  constexpr std::uint64_t kInfinity64 = 0x7ff0'0000'0000'0000;
  switch (dtype) {
    case TNR_DTYPE_F16: return {2, 1, 0x7c00};
    case TNR_DTYPE_BF16: return {2, 1, 0x7f80};
    case TNR_DTYPE_F32: return {4, 1, kInfinity32};
    case TNR_DTYPE_C64: return {4, 2, kInfinity32};
    case TNR_DTYPE_F64: return {8, 1, kInfinity64};
    case TNR_DTYPE_C128: return {8, 2, kInfinity64};
    default: return {0, 0, 0};
  }
}

// A word without its sign.
template <class Word>
Word magnitude_at(const Byte* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word & static_cast<Word>(static_cast<Word>(-1) >> 1);
}

// Whether the magnitude of one of these words exceeds `most`.
template <class Word>
bool any_over(const Byte* at, std::int64_t count, std::int64_t step, Word most) noexcept {
  unsigned found = 0;
  if (step == static_cast<std::int64_t>(sizeof(Word))) {
    for (std::int64_t i = 0; i < count; ++i) {
      found |= static_cast<unsigned>(
          magnitude_at<Word>(at + i * static_cast<std::int64_t>(sizeof(Word))) > most);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      found |= static_cast<unsigned>(magnitude_at<Word>(at + i * step) > most);
    }
  }
  return found != 0;
}

bool any_over(const Words& words, const Byte* at, std::int64_t count, std::int64_t step,
              std::uint64_t most) noexcept {
  switch (words.width_bytes) {
    case 2: return any_over(at, count, step, static_cast<std::uint16_t>(most));
    case 4: return any_over(at, count, step, static_cast<std::uint32_t>(most));
    default: return any_over(at, count, step, most);
  }
}

// Whether a word of the view, which is not empty, has a magnitude over `most`.
bool any_over(const Context& context, const tnr_view& view, const Words& words,
              std::uint64_t most) noexcept {
  NestOf<4, TNR_MAX_RANK + 1> nest(1);  // with an axis of the words of an element
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    const std::int64_t step = step_of(view, axis);
    nest.add(view.shape[axis], &step);
  }
  nest.add(words.count, &words.width_bytes);
  nest.arrange(0);
  const Byte* const first = static_cast<const Byte*>(view.data) + nest.start(0);
  const std::int64_t count = nest.inner_extent();
  const std::int64_t step = nest.inner_step(0);
  Atomic<bool> found{false};
  const auto look = [&](const Byte* at, std::int64_t length) {
    if (any_over(words, at, length, step, most)) found.store(true, std::memory_order_relaxed);
  };
  if (nest.strip_count() > 1) {
    nest.for_each_strip([&](const std::int64_t* offsets) { look(first + offsets[0], count); });
    return found.load(std::memory_order_relaxed);
  }
  const std::int64_t slices = slice_count_of(context, count * words.width_bytes);
  for_each_slice(context, slices, [&](std::int64_t slice) {
    const std::int64_t begin = slice_begin(count, slices, slice);
    look(first + begin * step, slice_begin(count, slices, slice + 1) - begin);
  });
  return found.load(std::memory_order_relaxed);
}

// An element that is not finite.
struct NonFinite {
  bool is_nan;
  std::int64_t index[TNR_MAX_RANK];
};

bool is_over(const Words& words, const Byte* element, std::uint64_t most) noexcept {
  return any_over(words, element, words.count, words.width_bytes, most);
}

// The first element in row-major order with a word over `most`; there is one.
[[gnu::cold]] NonFinite first_over(const tnr_view& view, const Words& words,
                                   std::uint64_t most) noexcept {
  NonFinite first = {};
  for (;;) {
    const Byte* element = static_cast<const Byte*>(view.data);
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      element += first.index[axis] * step_of(view, axis);
    }
    if (is_over(words, element, most)) {
      first.is_nan = is_over(words, element, words.infinity);
      return first;
    }
    std::uint32_t axis = view.rank;
    while (axis-- > 0 && ++first.index[axis] == view.shape[axis]) first.index[axis] = 0;
  }
}

// The first NaN, or with `with_infinities` the first element that is not finite.
std::optional<NonFinite> find_non_finite(const Context& context, const tnr_view& view,
                                         bool with_infinities) noexcept {
  const Words words = words_of(view.dtype);
  if (words.width_bytes == 0 || is_empty(view)) return std::nullopt;
  const std::uint64_t most = words.infinity - (with_infinities ? 1 : 0);
  if (!any_over(context, view, words, most)) [[likely]]
    return std::nullopt;
  return first_over(view, words, most);
}

// "a NaN at [0, 2]".
struct FoundText {
  char text[224];
};
FoundText found_text(const NonFinite& found, std::uint32_t rank) noexcept {
  FoundText made;
  std::snprintf(made.text, sizeof made.text, "%s at %s", found.is_nan ? "a NaN" : "an infinity",
                shape_text(rank, found.index).text);
  return made;
}

// The source of the value, through views: "inputs[2]", "a constant", or "" for a node.
struct SourceText {
  char text[24];
};
SourceText source_text(const Graph& graph, std::uint32_t value) noexcept {
  const GraphNode* node = graph.node_of(value);
  while (node != nullptr && operation_of(*node).computes == Computes::kView) {
    value = node->operands[0];
    node = graph.node_of(value);
  }
  SourceText made = {};
  if (graph.values[value].source == TNR_VALUE_SOURCE_INPUT) {
    std::snprintf(made.text, sizeof made.text, " is inputs[%" PRIu32 "] and",
                  graph.values[value].index);
  } else if (node == nullptr) {
    std::snprintf(made.text, sizeof made.text, " is a constant and");
  }
  return made;
}

// "operands[1] is inputs[0] and has a NaN at [2]".
struct OperandText {
  char text[304];
};
[[gnu::cold]] OperandText operand_text(const Context& context, const Graph& graph,
                                       const tnr_view* views, const GraphNode& node) noexcept {
  OperandText made;
  for (const bool with_infinities : {false, true}) {
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const std::uint32_t value = node.operands[i];
      if (value == kNoValue) continue;
      tnr_view view = views[value];
      if (const tnr_scalar* const scalar = graph.scalar_of(value)) {
        view = {};
        view.dtype = scalar->dtype;
        view.data = scalar->bytes;
      }
      const auto found = find_non_finite(context, view, with_infinities);
      if (!found) continue;
      std::snprintf(
          made.text, sizeof made.text, "operands[%zu]%s has %s", i,
          graph.scalar_of(value) != nullptr ? " is a number and" : source_text(graph, value).text,
          found_text(*found, view.rank).text);
      return made;
    }
  }
  std::snprintf(made.text, sizeof made.text, "all operands are finite");
  return made;
}

// "in the derivative of nodes[3], sqrt: ".
struct DerivedText {
  char text[96];
};
DerivedText derived_text(const Graph& graph, const GraphNode& node) noexcept {
  DerivedText made = {};
  const auto of = std::ranges::find(graph.nodes, node.derives, &GraphNode::number);
  if (node.derives == kNoValue || of == graph.nodes.end()) return made;
  std::snprintf(made.text, sizeof made.text,
                "in the derivative of nodes[%" PRIu32 "], %s: ", node.derives, operation_name(*of));
  return made;
}

}  // namespace

Refusal non_finite_refusal(const Context& context, std::uint32_t refused, const Graph& graph,
                           const Step& step, const tnr_view* views) {
  // The result of a copy was looked at before.
  if (step.node == kNoValue || step.kind == Step::Kind::kCopy) return std::nullopt;
  const GraphNode& node = graph.nodes[step.node];
  if ((node.marks & TNR_MARK_NON_FINITE) != 0) return std::nullopt;
  const bool with_infinities = (refused & TNR_RUN_REFUSE_NON_FINITE) != 0;
  for (std::uint32_t i = 0; i < step.result_count; ++i) {
    const tnr_view& view = views[step.result + i];
    const auto found = find_non_finite(context, view, with_infinities);
    if (!found) [[likely]]
      continue;
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%sthe result, value %" PRIu32 ", %s of shape %s, has %s; %s",
                    derived_text(graph, node).text, step.result + i, dtype_name(view.dtype),
                    shape_text(view.rank, view.shape).text, found_text(*found, view.rank).text,
                    operand_text(context, graph, views, node).text);
  }
  return std::nullopt;
}

}  // namespace tenure
