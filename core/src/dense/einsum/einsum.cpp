// Sums of products by Einstein's convention: made of matmul, of products, sums and copies of views.
#include <cinttypes>
#include <optional>

#include "dense/einsum/pair_product.hpp"
#include "dense/einsum/path.hpp"
#include "dense/einsum/spec.hpp"
#include "dense/einsum/term.hpp"
#include "dense/operands.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// Sums the labels that `out` does not have.
void sum_into(const Context& context, const Term& a, const Term& out) {
  const LabelList kept = a.list(out.labels());
  const tnr_view_mut result = {out.arranged(kept)};
  if (kept.count == a.rank()) return copy(context, a.view(), result);
  std::uint32_t axes = 0;
  for (std::uint32_t axis = 0; axis < a.rank(); ++axis) {
    if (!out.contains(a.label(axis))) axes |= 1u << axis;
  }
  reduce(context, TNR_REDUCE_OP_SUM, a.view(), axes, std::nullopt, result);
}

// All operands of a call, checked and pinned.
class EinsumOperands {
 public:
  EinsumOperands(const EinsumSpec& spec, const tnr_view* operands, unsigned count,
                 const tnr_view_mut& out) {
    const tnr_view& result = out.view;
    check_view_mut(out, "out");
    require_shape(spec, result);
    out_pins_.add_mut(out, "out");
    for (unsigned operand = 0; operand < count; ++operand) {
      const char* const name = einsum_operand_name(operand);
      require_dtype(operands[operand], name, result.dtype, "out.dtype is");
      pins_[operand].add(operands[operand], name);
      require_alias(result, operands[operand], name, SameView::kRefused);
    }
  }

 private:
  static void require_shape(const EinsumSpec& spec, const tnr_view& out) {
    if (out.rank != spec.result_rank()) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "out.rank is %" PRIu32 " but must be %" PRIu32, out.rank,
           spec.result_rank());
    }
    for (std::uint32_t axis = 0; axis < out.rank; ++axis) {
      const std::int64_t expected = spec.extent(spec.result_labels()[axis]);
      if (out.shape[axis] == expected) continue;
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "out.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64, axis, out.shape[axis],
           expected);
    }
  }

  Pins out_pins_;
  Pins pins_[EinsumSpec::kMaxOperands];
};

// Sums of no products are 0, and a product of nothing is nothing: by the operation that would have
// made them, so that it refuses the same dtypes.
void write_empty_sums(const Context& context, const EinsumSpec& spec, const tnr_view_mut& out) {
  tnr_view none = bare(out.view);
  none.data = none.base = nullptr;
  none.size_bytes = none.owner = 0;
  none.flags = 0;
  if ((spec.labels() & ~spec.result_set()) == 0) {
    for (std::uint32_t axis = 0; axis < out.view.rank; ++axis) {
      add_axis(none, out.view.shape[axis], 0);
    }
    return binary(context, TNR_BINARY_OP_MUL, none, none, out);
  }
  tnr_view a = none;
  tnr_view b = none;
  const std::uint32_t rank = out.view.rank;
  if (rank >= 1) add_axis(a, out.view.shape[rank >= 2 ? rank - 2 : 0], 0);
  add_axis(a, 0, 0);
  add_axis(b, 0, 0);
  if (rank >= 2) add_axis(b, out.view.shape[rank - 1], 0);
  matmul(context, kOne, a, b, kZero, out);
}

// The operands, then the products.
class Terms {
 public:
  Terms(const Context& context, const EinsumSpec& spec, const tnr_view* operands, unsigned count,
        const tnr_view_mut& out)
      : context_(context), spec_(spec), count_(count), out_(out.view, spec.result_labels()) {
    LabelSet once = 0;  // labels of one operand alone
    LabelSet more = out_.labels();
    for (unsigned operand = 0; operand < count; ++operand) {
      const LabelSet labels = labels_of(operands[operand], spec.labels_of(operand));
      more |= once & labels;
      once |= labels;
    }
    for (unsigned operand = 0; operand < count; ++operand) {
      add_operand(operands[operand], spec.labels_of(operand), more);
    }
  }

  void run() {
    if (count_ == 1) return sum_into(context_, *terms_[0], out_);
    LabelSet labels[EinsumSpec::kMaxOperands];
    for (unsigned term = 0; term < count_; ++term) labels[term] = terms_[term]->labels();
    const EinsumPath path = einsum_path(spec_, labels, count_);
    for (unsigned step = 0; step + 2 < count_; ++step) {
      const auto& [a, b, kept] = path.steps[step];
      LabelList order = terms_[a]->list(kept & terms_[b]->labels());
      terms_[a]->append(order, kept & ~terms_[b]->labels());
      terms_[b]->append(order, kept & ~terms_[a]->labels());
      const Term& product = terms_[count_ + step].emplace(spec_, out_.view().dtype, order);
      multiply_pair(context_, spec_, *terms_[a], *terms_[b], product);
      terms_[a].reset();
      terms_[b].reset();
    }
    const EinsumPath::Step& last = path.steps[count_ - 2];
    multiply_pair(context_, spec_, *terms_[last.a], *terms_[last.b], out_);
  }

 private:
  static LabelSet labels_of(const tnr_view& view, const std::uint8_t* labels) noexcept {
    LabelSet set = 0;
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      if (view.shape[axis] != 1) set |= set_of(labels[axis]);
    }
    return set;
  }

  // One of several operands that has labels by itself is summed over them before anything is
  // multiplied by it.
  void add_operand(const tnr_view& view, const std::uint8_t* labels, LabelSet needed) {
    std::optional<Term>& term = terms_[added_++];
    if (count_ == 1 || (labels_of(view, labels) & ~needed) == 0) {
      term.emplace(view, labels);
      return;
    }
    const Term whole(view, labels);
    term.emplace(spec_, view.dtype, whole.list(needed));
    sum_into(context_, whole, *term);
  }

  const Context& context_;
  const EinsumSpec& spec_;
  unsigned count_;
  unsigned added_ = 0;
  Term out_;
  std::optional<Term> terms_[2 * EinsumSpec::kMaxOperands];
};

}  // namespace

void einsum(const Context& context, const char* text, const tnr_view* operands,
            std::uint32_t operand_count, const tnr_view_mut& out) {
  const EinsumSpec spec(text, operands, operand_count);
  const EinsumOperands checked(spec, operands, operand_count, out);
  if (spec.has_empty_axis() && operand_count > 1) {
    write_empty_sums(context, spec, out);
  } else {
    Terms(context, spec, operands, operand_count, out).run();
  }
  // The operations have counted the bytes.
  count_call(TNR_OPERATION_EINSUM, 0, 0);
}

EinsumShape einsum_shape(const char* text, const tnr_view* operands, std::uint32_t operand_count) {
  const EinsumSpec spec(text, operands, operand_count);
  EinsumShape result = {};
  result.rank = spec.result_rank();
  for (std::uint32_t axis = 0; axis < result.rank; ++axis) {
    result.extents[axis] = spec.extent(spec.result_labels()[axis]);
  }
  return result;
}

}  // namespace tenure
