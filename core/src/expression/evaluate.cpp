// Expressions, from the checks to the last element.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cinttypes>
#include <cstring>
#include <optional>

#include "base/data_findings.hpp"
#include "dense/normalize/checked.hpp"
#include "dense/operands.hpp"
#include "dense/reduce/walk.hpp"
#include "dense/streamed.hpp"
#include "expression/computed.hpp"
#include "expression/evaluation.hpp"
#include "expression/fusion.hpp"
#include "expression/nodes.hpp"
#include "expression/output_walk.hpp"
#include "expression/small.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/scratch.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/dtype.hpp"
#include "tenure/expression.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;
using kernels::Reduction;

// Rows that are reduced and computed further while a cache holds them.
constexpr std::int64_t kGroupBytes = std::int64_t{128} << 10;
// Results of one reduction of such rows, on the stack.
constexpr std::int64_t kMostRows = 512;
// Reductions amid an expression of which the results of a group have room on the stack.
constexpr unsigned kMostAmid = 4;

// What is streamed at a time.
constexpr std::int64_t kStreamedPanelBytes = 4096;

// A row-major tensor; data is where it begins.
tnr_view row_major_view(const Extents& shape, tnr_dtype dtype, const void* data) noexcept {
  tnr_view view{};
  view.data = view.base = data;
  view.dtype = dtype;
  view.rank = shape.rank;
  view.device.kind = TNR_DEVICE_KIND_CPU;
  std::uint64_t stride = 1;  // of an empty one it leads nowhere, and may overflow
  for (std::uint32_t axis = shape.rank; axis-- > 0;) {
    view.shape[axis] = shape.extents[axis];
    view.strides[axis] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(std::max(shape.extents[axis], std::int64_t{1}));
  }
  view.size_bytes = stride * element_size(dtype);
  return view;
}

std::int64_t count_of(const Extents& shape) noexcept {
  std::int64_t count = 1;
  for (std::uint32_t axis = 0; axis < shape.rank; ++axis) {
    if (__builtin_mul_overflow(count, shape.extents[axis], &count)) return INT64_MAX;
  }
  return count;
}

// A reduction, with what its node says of it.
struct CheckedReduction {
  tnr_reduce_op op;
  Reduction reduction;
  std::uint32_t ddof;
  double power;
};

// The messages of check() are those of the calls, which do not know of nodes.
template <class Check>
auto of_node(unsigned index, Check&& check) {
  try {
    return check();
  } catch (const Error& error) {
    fail(error.status(), "nodes[%u]: %s", index, error.message());
  }
}

class Evaluation {
 public:
  Evaluation(const Context& context, const Nodes& nodes, const AttributeReaders& readers,
             const tnr_view_mut& out)
      : context_(context), nodes_(nodes), readers_(readers), out_(out) {
    for (unsigned i = 0; i < nodes.view_count(); ++i) {
      const tnr_view& view = nodes.view(i);
      leaves_[i] = {static_cast<const Byte*>(view.data),
                    static_cast<std::int64_t>(element_size(view.dtype)),
                    {}};
      sources_[i] = &view;
    }
    leaf_count_ = nodes.view_count();
  }

  // All that can be refused is refused before an element is written.
  void check() {
    const Node& last = nodes_.last();
    require_dtype(out_.view, "out", last.dtype, "the expression gives");
    if (is_elementwise(last.kind)) {
      require_broadcast(last.shape);
    } else if (last.kind == NodeKind::kNormalize) {
      of_node(nodes_.count() - 1, [&] { check_last_normalization(last); });
    } else {
      last_reduction_ = checked(nodes_.count() - 1, out_.view);
      if (nodes_.names_output() && !is_empty(out_.view)) {
        fail(TNR_STATUS_ALIASED,
             "the output is an operand of an expression that ends in a "
             "reduction, and would be read after results are written");
      }
    }
    if (nodes_.reduces_amid()) list_amid();
  }

  Finding run() {
    if (is_empty(out_.view)) return kernels::kNothing;
    if (amid_count_ == 0) return run_last();
    if (can_group()) return run_groups();
    return run_one_by_one();
  }

 private:
  static constexpr unsigned kMostAmidOfAll = kMaxLeaves - kMaxViews - 2;

  // Those that the last node needs, in their order.
  void list_amid() {
    bool is_needed[kMaxNodes] = {};
    is_needed[nodes_.count() - 1] = true;
    for (unsigned i = nodes_.count(); i-- > 0;) {
      const Node& node = nodes_[i];
      for (unsigned k = 0; is_needed[i] && k < node.operand_count; ++k) {
        if (node.operands[k].from == From::kNode) is_needed[node.operands[k].index] = true;
      }
    }
    for (unsigned i = 0; i + 1 < nodes_.count(); ++i) {
      const Node& node = nodes_[i];
      if (is_elementwise(node.kind) || !is_needed[i]) continue;
      if (amid_count_ == kMostAmidOfAll) {
        fail(TNR_STATUS_INVALID_ARGUMENT, "nodes[%u] is the reduction after %u amid the expression",
             i, kMostAmidOfAll);
      }
      require_memory(i);
      amid_[amid_count_] = static_cast<std::uint16_t>(i);
      leaf_of_[i] = static_cast<std::uint8_t>(leaf_count_);
      amid_results_[amid_count_] = row_major_view(node.shape, node.dtype, nullptr);
      reductions_[amid_count_] = checked(i, amid_results_[amid_count_]);
      leaves_[leaf_count_] = {nullptr, static_cast<std::int64_t>(element_size(node.dtype)), {}};
      sources_[leaf_count_] = &amid_results_[amid_count_];
      ++amid_count_;
      ++leaf_count_;
    }
  }

  // Results of one node that are so few that bytes of all together are no overflow.
  void require_memory(unsigned index) const {
    const Node& node = nodes_[index];
    const std::int64_t most =
        (INT64_MAX / kMaxLeaves) / static_cast<std::int64_t>(element_size(node.dtype));
    if (count_of(node.shape) < most || is_empty(out_.view)) return;
    fail(TNR_STATUS_OUT_OF_MEMORY, "nodes[%u] has results of the shape %s, which fit no memory",
         index, shape_text(node.shape.rank, node.shape.extents).text);
  }

  void require_broadcast(const Extents& shape) const {
    const tnr_view& out = out_.view;
    bool broadcasts = shape.rank <= out.rank;
    for (std::uint32_t axis = 0; broadcasts && axis < shape.rank; ++axis) {
      const std::int64_t extent = shape.extents[axis];
      broadcasts = extent == 1 || extent == out.shape[out.rank - shape.rank + axis];
    }
    if (broadcasts) return;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "the expression has the shape %s, which does not broadcast to %s of out",
         shape_text(shape.rank, shape.extents).text, shape_text(out.rank, out.shape).text);
  }

  // The shape and dtype of what node `index` reduces or normalizes.
  [[nodiscard]] tnr_view operand_view(unsigned index) const noexcept {
    const NodeOperand& operand = nodes_[index].operands[0];
    if (operand.from == From::kView) return nodes_.view(operand.index);
    const Node& node = nodes_[operand.index];
    return row_major_view(node.shape, node.dtype, origin_of_computed());
  }

  void check_last_normalization(const Node& last) {
    const auto given = static_cast<const tnr_normalize_attributes*>(last.attributes);
    normalization_ = readers_.normalize(given);
    check_normalization(static_cast<tnr_normalize_op>(last.op), operand_view(nodes_.count() - 1),
                        last.axes, normalization_, out_.view, out_.view.device);
    if (normalization_.weight != nullptr) pins_.add(*normalization_.weight, "weight");
    if (normalization_.bias != nullptr) pins_.add(*normalization_.bias, "bias");
  }

  [[nodiscard]] CheckedReduction checked(unsigned index, const tnr_view& out) const {
    return of_node(index, [&] { return checked_of(nodes_[index], index, out); });
  }
  [[nodiscard]] CheckedReduction checked_of(const Node& node, unsigned index,
                                            const tnr_view& out) const {
    const auto given = static_cast<const tnr_reduce_attributes*>(node.attributes);
    const tnr_reduce_attributes attributes = readers_.reduce(given);
    const auto op = static_cast<tnr_reduce_op>(node.op);
    const tnr_view a = operand_view(index);
    std::optional<std::uint32_t> ddof;
    if (given != nullptr) ddof = attributes.ddof;
    const Reduction reduction = checked_reduction(op, a, node.axes, ddof, attributes.power, out);
    if (!is_empty(out)) require_elements(op, a, node.axes);
    return {op, reduction, attributes.ddof, attributes.power};
  }

  // Steps of all leaves along the axes of `shape`, to which they broadcast.
  void set_steps(std::uint32_t rank) noexcept {
    for (unsigned leaf = 0; leaf < leaf_count_; ++leaf) {
      const tnr_view& view = *sources_[leaf];
      if (view.rank > rank) continue;  // of another part of the expression
      const std::uint32_t missing = rank - view.rank;
      for (std::uint32_t axis = 0; axis < rank; ++axis) {
        leaves_[leaf].steps[axis] = axis < missing ? 0 : step_of(view, axis - missing);
      }
    }
  }

  [[nodiscard]] std::int64_t bytes_of(std::uint64_t used) const noexcept {
    std::uint64_t bytes = element_bytes(out_.view);
    for (; used != 0; used &= used - 1) bytes += element_bytes(*sources_[std::countr_zero(used)]);
    return static_cast<std::int64_t>(bytes);
  }

  Finding write(unsigned root, const tnr_view_mut& out) noexcept {
    const std::uint64_t used = leaves_of(nodes_, root, leaf_of_);
    set_steps(out.view.rank);
    return write_output(context_, nodes_, root, leaf_of_, leaves_, used, out, bytes_of(used));
  }

  // The operand of node `index`, where it lies in memory; else nullptr.
  [[nodiscard]] const tnr_view* stored_operand(unsigned index) const noexcept {
    const NodeOperand& operand = nodes_[index].operands[0];
    if (operand.from == From::kView) return &nodes_.view(operand.index);
    if (is_elementwise(nodes_[operand.index].kind)) return nullptr;
    return sources_[leaf_of_[operand.index]];
  }

  Finding reduce(const CheckedReduction& by, unsigned index, const tnr_view_mut& out) noexcept {
    const Node& node = nodes_[index];
    if (is_empty(out.view)) return kernels::kNothing;
    if (const tnr_view* const stored = stored_operand(index)) {
      walk_reduction(context_, by.reduction, *stored, node.axes, by.ddof, out, by.power);
      return kernels::kNothing;
    }
    const unsigned root = node.operands[0].index;
    const Extents& shape = nodes_[root].shape;
    set_steps(shape.rank);
    const Fusion fusion(nodes_, root, leaf_of_, repeated_in(shape.rank), 0);
    const Computed computed(fusion, shape, leaves_, 0);
    walk_reduction(context_, by.reduction, operand_view(index), node.axes, by.ddof, out, by.power,
                   {.source = &computed});
    return computed.found();
  }

  // Leaves of one element.
  [[nodiscard]] std::uint64_t repeated_in(std::uint32_t rank) const noexcept {
    std::uint64_t leaves = 0;
    for (unsigned leaf = 0; leaf < leaf_count_; ++leaf) {
      const std::int64_t* const steps = leaves_[leaf].steps;
      if (std::all_of(steps, steps + rank, [](std::int64_t step) { return step == 0; })) {
        leaves |= std::uint64_t{1} << leaf;
      }
    }
    return leaves;
  }

  Finding run_last() {
    const unsigned index = nodes_.count() - 1;
    const Node& last = nodes_.last();
    if (is_elementwise(last.kind)) return write(index, out_);
    if (last.kind == NodeKind::kReduce) return reduce(last_reduction_, index, out_);
    return normalize_last(index);
  }

  // What is computed first is normalized where it is written, if its rows have their elements in
  // the order of a row-major tensor there.
  Finding normalize_last(unsigned index) {
    const Node& last = nodes_[index];
    const auto op = static_cast<tnr_normalize_op>(last.op);
    if (const tnr_view* const stored = stored_operand(index)) {
      run_normalization(context_, op, *stored, last.axes, normalization_, out_);
      return kernels::kNothing;
    }
    const unsigned root = last.operands[0].index;
    if (is_in_order(out_.view, last.axes)) {
      const Finding found = write(root, out_);
      run_normalization(context_, op, out_.view, last.axes, normalization_, out_);
      return found;
    }
    const Scratch memory(element_count(out_.view),
                         static_cast<std::int64_t>(element_size(last.dtype)));
    const tnr_view_mut rows = {row_major_view(last.shape, last.dtype, memory.data())};
    const Finding found = write(root, rows);
    run_normalization(context_, op, rows.view, last.axes, normalization_, out_);
    return found;
  }
  // Whether rows are measured there as those of a row-major tensor are.
  static bool is_in_order(const tnr_view& view, std::uint32_t axes) noexcept {
    if (is_row_major(view)) return true;
    return axes == 1u << (view.rank - 1) && view.strides[view.rank - 1] == 1;
  }

  // ---- reductions amid the expression, one after the other, of whole tensors ----

  Finding run_one_by_one() {
    std::int64_t bytes = 0;
    for (unsigned i = 0; i < amid_count_; ++i) {
      bytes += whole_lines(static_cast<std::int64_t>(amid_results_[i].size_bytes));
    }
    const Scratch results(static_cast<std::size_t>(bytes));
    Byte* place = results.data();
    unsigned found = kernels::kNothing;
    for (unsigned i = 0; i < amid_count_; ++i) {
      set_results(i, place);
      place += whole_lines(static_cast<std::int64_t>(amid_results_[i].size_bytes));
      found |= reduce(reductions_[i], amid_[i], {amid_results_[i]});
    }
    return static_cast<Finding>(found | run_last());
  }

  void set_results(unsigned i, const Byte* place) noexcept {
    amid_results_[i].data = amid_results_[i].base = place;
    leaves_[leaf_of_[amid_[i]]].data = place;
  }

  // ---- the same of a few rows at a time, which a cache holds meanwhile ----

  // Where all reductions are of the rows of the output, each of which is added up in an order of
  // its own, and the output is row-major.
  [[nodiscard]] bool can_group() const noexcept {
    const Node& last = nodes_.last();
    if (!is_elementwise(last.kind) || amid_count_ > kMostAmid || !is_row_major(out_.view)) {
      return false;
    }
    if (last.shape.rank != out_.view.rank || last.shape.rank == 0) return false;
    for (std::uint32_t axis = 0; axis < last.shape.rank; ++axis) {
      if (last.shape.extents[axis] != out_.view.shape[axis]) return false;
    }
    const std::int64_t row = last.shape.last();
    const std::int64_t rows = count_of(last.shape) / row;
    for (unsigned i = 0; i < amid_count_; ++i) {
      const NodeOperand& operand = nodes_[amid_[i]].operands[0];
      const bool is_of_rows = operand.from == From::kNode
                                  ? is_elementwise(nodes_[operand.index].kind) &&
                                        nodes_[operand.index].shape == last.shape
                                  : has_shape(nodes_.view(operand.index), last.shape) &&
                                        has_rows_in_order(nodes_.view(operand.index));
      if (!is_of_rows || !adds_each_alone(reductions_[i].reduction, rows, row)) return false;
    }
    return true;
  }
  // Whether a reduction of its rows adds as one of a row-major tensor does, although there may be
  // gaps between them: elsewhere it follows the memory.
  static bool has_rows_in_order(const tnr_view& view) noexcept {
    std::int64_t reach = 1;
    for (std::uint32_t axis = view.rank; axis-- > 0;) {
      if (view.shape[axis] <= 1) continue;
      const bool is_last = axis + 1 == view.rank;
      if (is_last ? view.strides[axis] != 1 : view.strides[axis] < reach) return false;
      reach = view.strides[axis] * view.shape[axis];
    }
    return true;
  }
  static bool has_shape(const tnr_view& view, const Extents& shape) noexcept {
    return view.rank == shape.rank && std::equal(view.shape, view.shape + view.rank, shape.extents);
  }

  Finding run_groups() noexcept {
    const Extents& shape = nodes_.last().shape;
    const std::int64_t row = shape.last();
    const std::int64_t rows = count_of(shape) / row;
    const std::int64_t row_bytes = row * static_cast<std::int64_t>(sizeof(double));
    const std::int64_t most =
        std::clamp(kGroupBytes / row_bytes, std::int64_t{1}, std::min(rows, kMostRows));
    const std::int64_t groups = (rows + most - 1) / most;
    const unsigned root = nodes_.count() - 1;
    const std::uint64_t used = leaves_of(nodes_, root, leaf_of_);
    set_steps(shape.rank);
    const std::int64_t moved = std::max(bytes_of(used), rows * row_bytes);
    const bool reads_output =
        std::any_of(leaves_, leaves_ + nodes_.view_count(),
                    [&](const Leaf& leaf) { return leaf.data == out_.view.data; });
    const Stores stores = reads_output ? Stores::kCached : stores_for(moved);
    touch_fresh_pages(context_, writable(out_),
                      static_cast<std::int64_t>(element_bytes(out_.view)));
    const std::int64_t slices = std::min(groups, slice_count_of(context_, moved));
    std::atomic<std::uint32_t> finding = kernels::kNothing;
    for_each_slice(context_, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t last = slice_begin(groups, slices, slice + 1);
      unsigned found = kernels::kNothing;
      for (std::int64_t group = slice_begin(groups, slices, slice); group < last; ++group) {
        const std::int64_t first = group * most;
        found |= run_group(first, std::min(most, rows - first), rows, stores);
      }
      if (stores == Stores::kStreamed) order_streamed_stores();
      finding.fetch_or(found, std::memory_order_relaxed);
    });
    return static_cast<Finding>(finding.load(std::memory_order_relaxed));
  }

  // Rows [first, first + count) of `rows`.
  unsigned run_group(std::int64_t first, std::int64_t count, std::int64_t rows,
                     Stores stores) const noexcept {
    alignas(kLineBytes) Byte results[kMostAmid][kMostRows * sizeof(double)];
    const Extents& shape = nodes_.last().shape;
    const std::int64_t row = shape.last();
    const std::int64_t place = first * row;
    Leaf leaves[kMaxLeaves];
    std::copy_n(leaves_, leaf_count_, leaves);
    unsigned found = kernels::kNothing;
    for (unsigned i = 0; i < amid_count_; ++i) {
      const Node& node = nodes_[amid_[i]];
      const Extents part = {2, {count, row}};
      const Extents part_results = {2, {count, 1}};
      const tnr_view_mut out = {row_major_view(part_results, node.dtype, results[i])};
      tnr_view a = row_major_view(part, node.operands[0].dtype, origin_of_computed());
      const CheckedReduction& by = reductions_[i];
      // As many rows before it as there are before this group.
      const auto width = static_cast<std::int64_t>(element_size(node.dtype));
      leaves[leaf_of_[amid_[i]]].data =
          reinterpret_cast<const Byte*>(reinterpret_cast<std::uintptr_t>(results[i]) -
                                        static_cast<std::uintptr_t>(first * width));
      found |= reduce_part(by, node, leaves, place, a, out, rows);
    }
    const unsigned root = nodes_.count() - 1;
    const Fusion fusion(nodes_, root, leaf_of_, leaves_with_step(0), leaves_with_step(1));
    const Computed computed(fusion, shape, leaves, place);
    const std::int64_t width = fusion.width_bytes();
    Byte* const out = writable(out_) + place * width;
    const std::int64_t all = count * row;
    if (stores == Stores::kCached) {
      computed.read(0, 1, all, out);
    } else {
      alignas(kLineBytes) Byte staged[kStreamedPanelBytes];
      const std::int64_t most = kStreamedPanelBytes / width;
      for (std::int64_t at = 0; at < all; at += most) {
        const std::int64_t taken = std::min(most, all - at);
        computed.read(at, 1, taken, staged);
        copy_lines(out + at * width, staged, taken * width, stores);
      }
    }
    return found | computed.found();
  }

  unsigned reduce_part(const CheckedReduction& by, const Node& node, const Leaf* leaves,
                       std::int64_t place, const tnr_view& a, const tnr_view_mut& out,
                       std::int64_t rows) const noexcept {
    constexpr std::uint32_t kLastOfTwo = 2;
    const NodeOperand& operand = node.operands[0];
    const Extents& shape = nodes_.last().shape;
    if (operand.from == From::kNode) {
      const Fusion fusion(nodes_, operand.index, leaf_of_, leaves_with_step(0),
                          leaves_with_step(1));
      const Computed computed(fusion, shape, leaves, place);
      walk_reduction(kDefaultContext, by.reduction, a, kLastOfTwo, by.ddof, out, by.power,
                     {.source = &computed, .results = rows});
      return computed.found();
    }
    if (is_row_major(nodes_.view(operand.index))) {
      tnr_view part = a;
      part.data = leaves[operand.index].data + place * leaves[operand.index].width_bytes;
      walk_reduction(kDefaultContext, by.reduction, part, kLastOfTwo, by.ddof, out, by.power,
                     {.results = rows});
    } else {
      const StoredElements stored(operand.index, shape, leaves, place);
      walk_reduction(kDefaultContext, by.reduction, a, kLastOfTwo, by.ddof, out, by.power,
                     {.source = &stored, .results = rows});
    }
    return kernels::kNothing;
  }

  // Leaves that have one element for each row, or adjacent ones: of rows so long that a tile lies
  // in one of them.
  [[nodiscard]] std::uint64_t leaves_with_step(std::int64_t elements) const noexcept {
    const Extents& shape = nodes_.last().shape;
    std::uint64_t leaves = 0;
    if (shape.last() < Places::kShortRow) return leaves;
    for (unsigned leaf = 0; leaf < leaf_count_; ++leaf) {
      const std::int64_t step = leaves_[leaf].steps[shape.rank - 1];
      if (step == elements * leaves_[leaf].width_bytes) leaves |= std::uint64_t{1} << leaf;
    }
    return leaves;
  }

  const Context& context_;
  const Nodes& nodes_;
  const AttributeReaders& readers_;
  const tnr_view_mut& out_;
  Pins pins_;  // of attributes
  tnr_normalize_attributes normalization_{};
  CheckedReduction last_reduction_{};
  unsigned leaf_count_ = 0;
  unsigned amid_count_ = 0;
  std::uint16_t amid_[kMostAmidOfAll];
  tnr_view amid_results_[kMostAmidOfAll];
  CheckedReduction reductions_[kMostAmidOfAll];
  std::uint8_t leaf_of_[kMaxNodes];
  Leaf leaves_[kMaxLeaves];
  const tnr_view* sources_[kMaxLeaves];
};

void require_no_finding_of(Finding found) {
  if (found == kernels::kNothing) [[likely]]
    return;
  refuse_data(TNR_STATUS_INVALID_ARGUMENT, "%s",
              found == kernels::kZeroDivisor
                  ? "an integer is divided by an element 0; out holds a mixture"
                  : "an integer has a negative element as its power; out holds a mixture");
}

// They are exactly the output, or apart from it.
void pin_operands(Pins& pins, const Nodes& nodes, const tnr_view_mut& out) {
  pins.add_mut(out, "out");
  const bool is_in_place = nodes.last().kind != NodeKind::kReduce;
  for (unsigned i = 0; i < nodes.given_view_count(); ++i) {
    pins.add(nodes.view(i), kViewNames[i]);
    require_alias(out.view, nodes.view(i), kViewNames[i],
                  is_in_place ? SameView::kAllowed : SameView::kRefused);
  }
}

void count(const Nodes& nodes, const tnr_view_mut& out) noexcept {
  if (is_empty(out.view)) return count_call(TNR_OPERATION_EVALUATE, 0, 0);
  std::uint64_t read_bytes = 0;
  for (unsigned i = 0; i < nodes.view_count(); ++i) read_bytes += element_bytes(nodes.view(i));
  count_call(TNR_OPERATION_EVALUATE, read_bytes, element_bytes(out.view));
}

// The queue is asked for first: a view of another device is beside it.
[[gnu::cold]] void evaluate_on_device(const Context& context, Nodes& nodes,
                                      const AttributeReaders& readers, const tnr_view_mut& out) {
  const tnr_device device = queue_of(context, out.view, "out").device();
  check_view_mut(out, "out", device);
  nodes.check_views(device);
  nodes.find_shapes();
  check_computable(nodes, readers, out);
  compute_on_device(context, nodes, DeviceSteps(nodes, device), readers, out);
}

}  // namespace

bool compute_small(const Nodes& nodes, const tnr_view* const* views, const tnr_view_mut& out) {
  const std::int64_t count = plain_count(out.view);
  return count != 0 && is_small(nodes, count) && nodes.last().dtype == out.view.dtype &&
         compute_if_twins(nodes, views, count, out);
}

bool compute_if_twins(const Nodes& nodes, const tnr_view* const* views, std::int64_t count,
                      const tnr_view_mut& out) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * element_size(out.view.dtype);
  const unsigned given = nodes.given_view_count();
  for (unsigned i = 0; i < given; ++i) {
    if (!is_twin(*views[i], out.view, bytes)) return false;
  }
  Pins pins;
  pins.add_mut(out, "out");
  for (unsigned i = 0; i < given; ++i) pins.add(*views[i], kViewNames[i]);
  compute_small(nodes, views, count, out);
  return true;
}

void compute_small(const Nodes& nodes, const tnr_view* const* views, std::int64_t count,
                   const tnr_view_mut& out) {
  require_no_finding_of(run_small(nodes, views, count, writable(out)));
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * element_size(out.view.dtype);
  count_call(TNR_OPERATION_EVALUATE, bytes * nodes.view_count(), bytes);
}

void compute(const Context& context, const Nodes& nodes, const AttributeReaders& readers,
             const tnr_view_mut& out) {
  Pins pins;
  pin_operands(pins, nodes, out);
  Evaluation evaluation(context, nodes, readers, out);
  evaluation.check();
  require_no_finding_of(evaluation.run());
  count(nodes, out);
}

void compute_on_device(const Context& context, const Nodes& nodes, const DeviceSteps& steps,
                       const AttributeReaders& readers, const tnr_view_mut& out) {
  const DeviceQueue& queue = queue_of(context, out.view, "out");
  Pins pins;
  pin_operands(pins, nodes, out);
  if (!is_empty(out.view)) {
    require_no_finding_of(steps.run(queue, nodes, readers, out, pins));
  }
  count(nodes, out);
}

void check_computable(const Nodes& nodes, const AttributeReaders& readers,
                      const tnr_view_mut& out) {
  Evaluation(kDefaultContext, nodes, readers, out).check();
}

void evaluate(const Context& context, const tnr_expression& expression,
              const AttributeReaders& readers, const tnr_view_mut& out) {
  NodeMemory memory;
  Nodes nodes(expression, &out.view, memory.nodes, memory.elements);
  if (compute_small(nodes, expression.views, out)) return;
  if (is_on_device(out.view)) [[unlikely]]
    return evaluate_on_device(context, nodes, readers, out);
  check_view_mut(out, "out");
  nodes.check_views();
  nodes.find_shapes();
  compute(context, nodes, readers, out);
}

}  // namespace tenure
