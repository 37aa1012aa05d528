#include "program/passes/recomputation.hpp"

#include <algorithm>
#include <cinttypes>
#include <optional>
#include <utility>

#include "program/custom.hpp"
#include "program/operations.hpp"
#include "program/schedule.hpp"
#include "program/unbacked.hpp"
#include "tenure/shape.hpp"
#include "tenure/status.hpp"

namespace tenure {
namespace {

// Operations and bytes of a computer in a second; only their ratio matters.
constexpr double kFlops = 5e10;
constexpr double kBytes = 1e10;

constexpr std::uint32_t kSegmentCounts[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64};
// Quarters of the segments that are computed again, from the first one on.
constexpr std::uint32_t kQuarters[] = {1, 2, 3, 4};

double elements_of(const ArrayType& type) {
  double count = 1;
  for (std::uint32_t axis = 0; axis < type.rank; ++axis) {
    count *= static_cast<double>(type.shape[axis]);
  }
  return count;
}

// The schedule where all extents are at their maxima, for row-major inputs.
std::int64_t peak_of(const Graph& graph, const std::vector<ArrayType>& types,
                     const std::vector<bool>& needed, std::uint32_t disabled_passes) {
  std::vector<ArrayType> input_types;
  std::vector<tnr_view> views;
  for (const GraphInput& input : graph.inputs) {
    input_types.push_back(types[input.value]);
    views.push_back(unbacked_view(types[input.value]));
  }
  std::vector<const tnr_view*> inputs;
  inputs.reserve(views.size());
  for (const tnr_view& view : views) inputs.push_back(&view);
  const Schedule made =
      schedule(graph, needed, disabled_passes,
               infer_graph(graph, needed, Sizes(graph), input_types), inputs.data(), nullptr);
  return made.memory.block_bytes;
}

// When a value is read.
struct Span {
  std::uint32_t split;         // the last node that reads the value itself, and no copy of it
  bool may_be_copied = false;  // its node
  bool is_late = false;        // whether nodes behind the split read it
};

struct Rewritten {
  Graph graph;
  std::vector<ArrayType> types;
  std::vector<bool> needed;
  double seconds = 0;  // of the copies
  std::uint64_t copies = 0;
};

class Recomputer {
 public:
  Recomputer(const Graph& graph, const std::vector<ArrayType>& types,
             const std::vector<bool>& needed)
      : graph_(graph), types_(types), needed_(needed), spans_(graph.values.size()) {
    const auto first = std::ranges::find_if(
        graph.nodes, [](const GraphNode& node) { return (node.marks & TNR_MARK_GRADIENT) != 0; });
    boundary_ = static_cast<std::uint32_t>(first - graph.nodes.begin());
    for (std::uint32_t value = 0; value < graph.values.size(); ++value) bases_.push_back(value);
    for (const GraphNode& node : graph.nodes) {
      if (is_view(node)) bases_[node.result] = bases_[node.operands[0]];
    }
    find_uses();
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) find_span(i);
  }

  using Chosen = std::vector<bool>;  // by value

  [[nodiscard]] Chosen marked() const {
    return choose([](std::uint32_t, const Chosen&) { return false; });
  }
  // Element-wise values, from values that are kept.
  [[nodiscard]] Chosen elementwise() const {
    return choose([&](std::uint32_t i, const Chosen& chosen) { return is_cheap(i, chosen); });
  }
  // Also the values that are read in their segment only, of the first `quarters` of the segments.
  [[nodiscard]] Chosen segments(std::uint32_t count, std::uint32_t quarters) const {
    const std::vector<std::uint32_t> cuts = cuts_of(count);
    const std::uint32_t end = cuts[(cuts.size() - 1) * quarters / 4];
    return choose([&](std::uint32_t i, const Chosen& chosen) {
      const auto next = std::ranges::upper_bound(cuts, i);
      if (i >= end || next == cuts.end()) return is_cheap(i, chosen);
      return spans_[graph_.nodes[i].result].split < *next;
    });
  }

  // The graph in which the chosen values are computed again.
  [[nodiscard]] Rewritten apply(const Chosen& chosen) const;

 private:
  // For each node that may be copied, in order: whether its value is computed again.
  template <class Choose>
  Chosen choose(const Choose& is_chosen) const {
    Chosen chosen(graph_.values.size());
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      if (!needed_[i] || !spans_[node.result].may_be_copied) continue;
      // A view has no memory: it is seen anew where its operand is computed again.
      if (is_view(node)) {
        chosen[node.result] = chosen[node.operands[0]];
      } else if ((node.marks & TNR_MARK_KEEP) == 0) {
        chosen[node.result] = (node.marks & TNR_MARK_RECOMPUTE) != 0 || is_chosen(i, chosen);
      }
    }
    return chosen;
  }

  // Whether an element-wise value follows from values that a copy can still read.
  [[nodiscard]] bool is_cheap(std::uint32_t i, const Chosen& chosen) const {
    const GraphNode& node = graph_.nodes[i];
    return operation_of(node).computes == Computes::kElementwise &&
           std::ranges::all_of(node.operands,
                               [&](std::uint32_t value) { return is_there(value, chosen); });
  }
  [[nodiscard]] bool is_there(std::uint32_t value, const Chosen& chosen) const {
    const std::uint32_t base = bases_[value];
    if (graph_.node_of(base) == nullptr) return true;
    return spans_[base].is_late ? !chosen[base] : chosen[base];
  }

  static bool is_view(const GraphNode& node) {
    return operation_of(node).computes == Computes::kView;
  }

  // By value: the nodes that read it, and those that read views of it.
  void find_uses() {
    uses_.resize(graph_.values.size());
    is_output_.resize(graph_.values.size());
    for (const GraphOutput& output : graph_.outputs) is_output_[output.value] = true;
    for (std::uint32_t i = static_cast<std::uint32_t>(graph_.nodes.size()); i-- > 0;) {
      const GraphNode& node = graph_.nodes[i];
      if (!needed_[i]) continue;
      for (const std::uint32_t value : node.operands) {
        if (value == kNoValue) continue;
        std::vector<std::uint32_t>& uses = uses_[value];
        if (!is_view(node)) {
          uses.push_back(i);
          continue;
        }
        uses.insert(uses.end(), uses_[node.result].begin(), uses_[node.result].end());
        if (is_output_[node.result]) is_output_[value] = true;
      }
    }
    for (std::vector<std::uint32_t>& uses : uses_) std::ranges::sort(uses);
  }

  // Nodes of a gradient read a copy. In a graph without gradients, nodes behind the longest time
  // in which none reads the value.
  void find_span(std::uint32_t i) {
    const GraphNode& node = graph_.nodes[i];
    const std::vector<std::uint32_t>& uses = uses_[node.result];
    Span& span = spans_[node.result];
    span.split = i;
    span.may_be_copied = i < boundary_ && !uses.empty() && node.result_count == 1 &&
                         !is_output_[node.result] &&
                         (node.custom == nullptr || node.custom->is_pure()) &&
                         node.bodies.empty() && !finds_extent(node);
    if (!span.may_be_copied) return;
    span.split = uses.back();
    if (boundary_ < graph_.nodes.size()) {
      const auto late = std::ranges::lower_bound(uses, boundary_);
      span.is_late = late != uses.end();
      if (span.is_late) span.split = late == uses.begin() ? i : *(late - 1);
      return;
    }
    std::uint32_t longest = 1;
    for (std::size_t j = 0; j < uses.size(); ++j) {
      const std::uint32_t before = j == 0 ? i : uses[j - 1];
      if (uses[j] - before <= longest) continue;
      longest = uses[j] - before;
      span.split = before;
    }
    span.is_late = longest > 1;
  }

  // Numbers of nodes that begin segments of the nodes before the gradients, and their end: each
  // where the fewest bytes cross, next to an equal share of the bytes that may be computed again.
  [[nodiscard]] std::vector<std::uint32_t> cuts_of(std::uint32_t count) const {
    const auto end = std::min(boundary_, static_cast<std::uint32_t>(graph_.nodes.size()));
    std::vector<double> made(end + 1);      // bytes of candidates before each node
    std::vector<double> crossing(end + 1);  // bytes that are kept from before it to behind it
    for (std::uint32_t i = 0; i < end; ++i) {
      const Span& span = spans_[graph_.nodes[i].result];
      const bool counts = span.is_late && !is_view(graph_.nodes[i]);
      const double bytes = counts ? bytes_of(graph_.nodes[i].result) : 0;
      made[i + 1] = made[i] + bytes;
      if (!counts || span.split <= i) continue;
      crossing[i + 1] += bytes;
      if (span.split + 1 <= end) crossing[span.split + 1] -= bytes;
    }
    for (std::uint32_t i = 0; i < end; ++i) crossing[i + 1] += crossing[i];
    std::vector<std::uint32_t> cuts = {0};
    for (std::uint32_t segment = 1; segment < count; ++segment) {
      const auto at = [&](double share) {
        const double bytes = made[end] * share / count;
        return static_cast<std::uint32_t>(std::ranges::lower_bound(made, bytes) - made.begin());
      };
      const std::uint32_t low = std::max(at(segment - 0.4), cuts.back() + 1);
      const std::uint32_t high = std::min(at(segment + 0.4), end);
      std::uint32_t best = low;
      for (std::uint32_t i = low; i <= high; ++i) {
        if (crossing[i] < crossing[best]) best = i;
      }
      if (best < end && best > cuts.back()) cuts.push_back(best);
    }
    cuts.push_back(end);
    return cuts;
  }

  [[nodiscard]] double bytes_of(std::uint32_t value) const {
    const ArrayType& type = types_[value];
    return static_cast<double>(row_major_bytes(type.dtype, type.rank, type.shape));
  }

  [[nodiscard]] double seconds_of(const GraphNode& node) const {
    const double elements = elements_of(types_[node.result]);
    if (node.code == TNR_NODE_MATMUL || node.code == TNR_NODE_QUANTIZED_MATMUL) {
      const ArrayType& a = types_[node.operands[0]];
      return 2 * elements * static_cast<double>(a.shape[a.rank - 1]) / kFlops;
    }
    if (node.code == TNR_NODE_CONV2D || node.code == TNR_NODE_QUANTIZED_CONV2D) {
      const ArrayType& weight = types_[node.operands[1]];
      return 2 * elements * elements_of(weight) / static_cast<double>(weight.shape[0]) / kFlops;
    }
    if (is_view(node)) return 0;
    double bytes = bytes_of(node.result);
    for (const std::uint32_t value : node.operands) {
      if (value != kNoValue && graph_.scalar_of(value) == nullptr) bytes += bytes_of(value);
    }
    return bytes / kBytes;
  }

  const Graph& graph_;
  const std::vector<ArrayType>& types_;
  const std::vector<bool>& needed_;
  std::uint32_t boundary_;   // the first node of a gradient; the number of nodes without one
  std::vector<Span> spans_;  // by value
  std::vector<std::vector<std::uint32_t>> uses_;  // by value
  std::vector<std::uint32_t> bases_;              // by value: the one that it is a view of
  std::vector<bool> is_output_;                   // by value, also through views
};

// Builds the graph of a choice node by node.
class Copier {
 public:
  Copier(const Graph& graph, const std::vector<bool>& needed, const std::vector<Span>& spans,
         const std::vector<std::uint32_t>& bases, const Recomputer::Chosen& chosen, Rewritten& to)
      : graph_(graph), needed_(needed), spans_(spans), bases_(bases), chosen_(chosen), to_(to) {
    copies_.resize(graph.values.size(), kNoValue);
    to_.graph.nodes.clear();
    to_.needed.clear();
  }

  template <class Cost>
  void run(const Cost& cost) {
    std::vector<std::uint32_t> moved(graph_.nodes.size());
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      GraphNode node = graph_.nodes[i];
      if (needed_[i]) {
        for (std::uint32_t& value : node.operands) value = value_at(value, i, cost);
      }
      moved[i] = add(std::move(node), needed_[i]);
    }
    for (Extent& extent : to_.graph.extents) {
      if (extent.node != kNoValue) extent.node = moved[extent.node];
    }
  }

 private:
  std::uint32_t add(GraphNode node, bool is_needed) {
    const auto index = static_cast<std::uint32_t>(to_.graph.nodes.size());
    for (std::uint32_t i = 0; i < node.result_count; ++i) {
      GraphValue& value = to_.graph.values[node.result + i];
      if (value.source == TNR_VALUE_SOURCE_NODE) value.index = index;
    }
    to_.graph.nodes.push_back(std::move(node));
    to_.needed.push_back(is_needed);
    return index;
  }

  [[nodiscard]] bool has_copy(std::uint32_t value, std::uint32_t node) const {
    return value != kNoValue && chosen_[value] && node > spans_[bases_[value]].split;
  }

  // The value that the node reads for this one: a copy, which is added where there is none yet,
  // behind copies of its operands. Graphs may be deeper than a stack: nothing is called again.
  template <class Cost>
  std::uint32_t value_at(std::uint32_t value, std::uint32_t node, const Cost& cost) {
    if (!has_copy(value, node)) return value;
    std::vector<std::uint32_t> missing = {value};
    while (!missing.empty()) {
      const std::uint32_t next = missing.back();
      const std::size_t count = missing.size();
      const GraphNode& original = graph_.nodes[graph_.values[next].index];
      if (copies_[next] == kNoValue) {
        for (const std::uint32_t operand : original.operands) {
          if (has_copy(operand, node) && copies_[operand] == kNoValue) missing.push_back(operand);
        }
      }
      if (missing.size() > count) continue;
      missing.pop_back();
      if (copies_[next] == kNoValue) copies_[next] = copy_of(original, node, cost);
    }
    return copies_[value];
  }

  template <class Cost>
  std::uint32_t copy_of(const GraphNode& original, std::uint32_t node, const Cost& cost) {
    GraphNode copy = original;
    for (std::uint32_t& operand : copy.operands) {
      if (has_copy(operand, node)) operand = copies_[operand];
    }
    copy.copy = 1;
    copy.result = static_cast<std::uint32_t>(to_.graph.values.size());
    to_.graph.values.push_back({TNR_VALUE_SOURCE_NODE, 0});
    to_.types.push_back(to_.types[original.result]);
    to_.seconds += cost(original);
    ++to_.copies;
    const std::uint32_t result = copy.result;
    add(std::move(copy), true);
    return result;
  }

  const Graph& graph_;
  const std::vector<bool>& needed_;
  const std::vector<Span>& spans_;
  const std::vector<std::uint32_t>& bases_;
  const Recomputer::Chosen& chosen_;
  Rewritten& to_;
  std::vector<std::uint32_t> copies_;  // by value
};

Rewritten Recomputer::apply(const Chosen& chosen) const {
  Rewritten rewritten = {graph_, types_, needed_};
  Copier(graph_, needed_, spans_, bases_, chosen, rewritten).run([&](const GraphNode& node) {
    return seconds_of(node);
  });
  return rewritten;
}

}  // namespace

void recompute(Graph& graph, std::vector<ArrayType>& types, std::vector<bool>& needed,
               std::uint32_t disabled_passes, std::uint64_t budget_bytes, PassCounts& counts) {
  if ((disabled_passes & TNR_PASS_RECOMPUTATION) != 0) return;
  const bool has_marks = std::ranges::any_of(
      graph.nodes, [](const GraphNode& node) { return (node.marks & TNR_MARK_RECOMPUTE) != 0; });
  if (budget_bytes == 0 && !has_marks) return;
  const Recomputer recomputer(graph, types, needed);
  std::optional<Rewritten> best;
  std::int64_t least = INT64_MAX;
  const auto consider = [&](const Recomputer::Chosen& chosen) {
    Rewritten rewritten = recomputer.apply(chosen);
    if (best && rewritten.seconds >= best->seconds) return;
    if (budget_bytes != 0) {
      const std::int64_t peak =
          peak_of(rewritten.graph, rewritten.types, rewritten.needed, disabled_passes);
      least = std::min(least, peak);
      if (static_cast<std::uint64_t>(peak) > budget_bytes) return;
    }
    best = std::move(rewritten);
  };
  consider(recomputer.marked());
  if (!best) consider(recomputer.elementwise());
  if (!best) {
    for (const std::uint32_t count : kSegmentCounts) {
      for (const std::uint32_t quarters : kQuarters) {
        consider(recomputer.segments(count, quarters));
      }
    }
  }
  if (!best) {
    fail(TNR_STATUS_OUT_OF_MEMORY,
         "budget_bytes is %" PRIu64
         " but no choice of values that are computed again needs less "
         "than %" PRId64 " bytes",
         budget_bytes, least);
  }
  counts.add(TNR_PASS_RECOMPUTATION, best->copies);
  graph = std::move(best->graph);
  types = std::move(best->types);
  needed = std::move(best->needed);
}

}  // namespace tenure
