#include "program/rewrites/gradients.hpp"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "program/operations.hpp"
#include "program/rewrites/derivation.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {

bool has_gradients(tnr_dtype dtype) noexcept {
  switch (dtype) {
    case TNR_DTYPE_F64:
    case TNR_DTYPE_F32:
    case TNR_DTYPE_F16:
    case TNR_DTYPE_BF16:
    case TNR_DTYPE_C64:
    case TNR_DTYPE_C128: return true;
    default: return false;
  }
}

std::vector<bool> dependent_values(const Graph& graph, const std::vector<ArrayType>& types,
                                   const std::vector<std::uint32_t>& by) {
  std::vector<bool> is_dependent(graph.values.size());
  for (const std::uint32_t value : by) is_dependent[value] = true;
  for (const GraphNode& node : graph.nodes) {
    const Derivative& derivative = operation_of(node).derivative;
    if (derivative.derive == nullptr && derivative.refusal == nullptr) continue;
    const bool depends = std::ranges::any_of(node.operands, [&](std::uint32_t value) {
      return value != kNoValue && is_dependent[value];
    });
    if (!depends) continue;
    for (std::uint32_t i = 0; i < node.result_count; ++i) {
      const std::uint32_t value = node.result + i;
      if (has_gradients(types[value].dtype)) is_dependent[value] = true;
    }
  }
  return is_dependent;
}

namespace {

class ReverseMode {
 public:
  ReverseMode(Terms& terms, const std::vector<std::uint32_t>& by)
      : terms_(terms),
        node_count_(terms.graph().nodes.size()),
        parts_(terms.graph().values.size()),
        is_dependent_(dependent_values(terms.graph(), terms.builder().types(), by)) {}

  void run(const std::vector<Seeded>& of) {
    for (const Seeded& seeded : of) {
      if (is_dependent_[seeded.value]) parts_[seeded.value].push_back(seeded.gradient);
    }
    for (std::size_t i = node_count_; i-- > 0;) derive(static_cast<std::uint32_t>(i));
  }

  // kNoValue where nothing leads from the seeds.
  std::uint32_t gradient_of(std::uint32_t value) {
    const std::uint32_t sum = sum_of(value);
    if (sum == kNoValue) return kNoValue;
    return broadcast_like(terms_.term(sum), terms_.term(value)).value();
  }

 private:
  // The sum of its parts, in the order of the nodes that use it. Narrow floats are added in f32 and
  // rounded once. kNoValue without a part.
  std::uint32_t sum_of(std::uint32_t value) {
    const std::vector<std::uint32_t>& parts = parts_[value];
    if (parts.empty()) return kNoValue;
    if (parts.size() > 1) {
      Term sum = widened(terms_.term(parts.back()));
      for (std::size_t i = parts.size() - 1; i-- > 0;) {
        sum = sum + widened(terms_.term(parts[i]));
      }
      parts_[value] = {cast(sum, terms_.type_of(value).dtype).value()};
    }
    return parts_[value].front();
  }

  void derive(std::uint32_t index) {
    const std::uint32_t first = terms_.graph().nodes[index].result;
    const std::uint32_t count = terms_.graph().nodes[index].result_count;
    std::vector<std::uint32_t> gradients;
    bool is_reached = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      gradients.push_back(is_dependent_[first + i] ? sum_of(first + i) : kNoValue);
      is_reached |= gradients.back() != kNoValue;
    }
    if (!is_reached || !leads_on(terms_.graph().nodes[index])) return;
    Derivation at(terms_, index, std::move(gradients), is_dependent_);
    const Derivative& derivative = operation_of(at.node()).derivative;
    if (derivative.derive == nullptr) at.refuse(derivative.refusal);
    terms_.builder().set_derived(index);
    derivative.derive(at);
    terms_.builder().set_derived(kNoValue);
    for (const Derivation::Given& given : at.given()) parts_[given.value].push_back(given.part);
  }

  bool leads_on(const GraphNode& node) const {
    return std::ranges::any_of(node.operands, [&](std::uint32_t value) {
      return value != kNoValue && is_dependent_[value];
    });
  }

  Terms& terms_;
  std::size_t node_count_;
  std::vector<std::vector<std::uint32_t>> parts_;  // of gradients, by value, of later users first
  std::vector<bool> is_dependent_;                 // by value
};

void require_gradient(const GraphBuilder& builder, const char* name, std::uint32_t value) {
  const Graph& graph = builder.graph();
  if (value >= graph.values.size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRIu32 " but the graph has %zu values", name, value,
         graph.values.size());
  }
  if (graph.scalar_of(value) != nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is value %" PRIu32 ", a scalar, which has no gradient",
         name, value);
  }
  const tnr_dtype dtype = builder.types()[value].dtype;
  if (has_gradients(dtype)) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s is value %" PRIu32 " of %s, but only floats and complex numbers have gradients", name,
       value, dtype_name(dtype));
}

Term seed_of(Terms& terms, std::uint32_t of, std::uint32_t seed) {
  const ArrayType type = terms.type_of(of);
  if (seed == kNoValue) {
    for (std::uint32_t axis = 0; axis < type.rank; ++axis) {
      if (type.shape[axis] == 1) continue;
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "of is value %" PRIu32 " of shape %s: more than one element needs a seed", of,
           shape_text(type.rank, type.shape).text);
    }
    return broadcast_like(terms.constant(1, type.dtype), terms.term(of));
  }
  if (seed >= terms.graph().values.size() || !(terms.type_of(seed) == type)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "seed is value %" PRIu32 ", which is not of the dtype and shape of value %" PRIu32, seed,
         of);
  }
  return terms.term(seed);
}

}  // namespace

std::vector<std::uint32_t> add_gradients(Terms& terms, const std::vector<Seeded>& of,
                                         const std::vector<std::uint32_t>& by) {
  ReverseMode reverse(terms, by);
  reverse.run(of);
  std::vector<std::uint32_t> gradients;
  gradients.reserve(by.size());
  for (const std::uint32_t value : by) gradients.push_back(reverse.gradient_of(value));
  return gradients;
}

std::vector<std::uint32_t> add_gradients(GraphBuilder& builder, std::uint32_t of,
                                         std::uint32_t seed, const std::vector<std::uint32_t>& by) {
  for (const std::uint32_t value : by) require_gradient(builder, "by", value);
  require_gradient(builder, "of", of);
  GraphBuilder extended = builder;
  extended.set_marks(TNR_MARK_GRADIENT);
  Terms terms(extended);
  const std::uint32_t first = seed_of(terms, of, seed).value();
  std::vector<std::uint32_t> gradients = add_gradients(terms, {{of, first}}, by);
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (gradients[i] == kNoValue) gradients[i] = zeros_like(terms.term(by[i])).value();
  }
  extended.set_marks(0);
  builder = std::move(extended);
  return gradients;
}

void graph_describe_shape(GraphToken token, std::uint32_t value, std::int64_t* numbers) {
  const GraphHandles::Use graph(kGraphHandles, token);
  const BuilderLock lock(graph.object(), SharedBuilder::Use::kOwn);
  Terms terms(graph.object().builder);
  if (value >= terms.graph().values.size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "value is %" PRIu32 " but the graph has %zu", value,
         terms.graph().values.size());
  }
  std::ranges::copy(terms.numbers_of(terms.term(value)), numbers);
}

void graph_add_gradients(GraphToken token, std::uint32_t of, std::uint32_t seed,
                         const std::uint32_t* by, std::uint32_t count, std::uint32_t* gradients) {
  const GraphHandles::Use graph(kGraphHandles, token);
  const BuilderLock lock(graph.object(), SharedBuilder::Use::kCallsOthers);
  std::ranges::copy(add_gradients(graph.object().builder, of, seed, {by, by + count}), gradients);
}

}  // namespace tenure
