// Sums of products by Einstein's convention: made of matmul, of products, sums and copies of views.
#include <cinttypes>
#include <optional>

#include "dense/einsum/pair_product.hpp"
#include "dense/einsum/path.hpp"
#include "dense/einsum/spec.hpp"
#include "dense/einsum/term.hpp"
#include "dense/movement.hpp"
#include "dense/product/product_types.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// Sums the labels that `out` does not have; sums of integers are wide.
void sum_into(const Context& context, const EinsumTerm& a, const EinsumTerm& out) {
  const LabelList kept = a.list(out.labels());
  const tnr_view_mut result = {out.arranged(kept)};
  if (kept.count == a.rank()) {
    const bool is_copy = a.view().dtype == result.view.dtype;
    return is_copy ? copy(context, a.view(), result) : cast(context, a.view(), result);
  }
  std::uint32_t axes = 0;
  for (std::uint32_t axis = 0; axis < a.rank(); ++axis) {
    if (!out.contains(a.label(axis))) axes |= 1u << axis;
  }
  reduce(context, TNR_REDUCE_OP_SUM, a.view(), axes, 0, result);
}

// The dtype of the result of a copy, a sum, a product of elements or a matmul, which the labels
// choose. Throws UNSUPPORTED where that operation does not take the dtype of the operands.
tnr_dtype dtype_of_result(const EinsumSpec& spec, const tnr_view* operands, unsigned count) {
  const tnr_dtype dtype = operands[0].dtype;
  for (unsigned operand = 1; operand < count; ++operand) {
    require_dtype(operands[operand], einsum_operand_name(operand), dtype, "operands[0].dtype is");
  }
  const bool has_sums = (spec.labels() & ~spec.result_set()) != 0;
  if (count == 1 && !has_sums) return dtype;
  if (count > 1 && has_sums) {
    // Sums of products of bytes are no bytes, which no other product could follow.
    if (kFactorDtypes[factor_type(dtype)].result == dtype) return dtype;
    fail(TNR_STATUS_UNSUPPORTED, "einsum does not sum products of %s", dtype_name(dtype));
  }
  const kernels::OperationRow& row = has_sums ? kernels::kReduceRows[TNR_REDUCE_OP_SUM - 1]
                                              : kernels::kBinaryRows[TNR_BINARY_OP_MUL - 1];
  // Both take all numbers.
  const unsigned type = type_index(dtype);
  const bool is_real = type != kNoType && dtype != TNR_DTYPE_BOOL8;
  if (!is_real && !is_complex(dtype)) refuse_dtype(row.name, dtype);
  return result_dtype(row.gives, dtype);
}

// All operands of a call, checked and pinned.
class EinsumOperands {
 public:
  EinsumOperands(const EinsumSpec& spec, const tnr_view* operands, unsigned count,
                 const tnr_view_mut& out) {
    const tnr_view& result = out.view;
    check_view_mut(out, "out");
    require_shape(spec, result);
    require_dtype(result, "out", dtype_of_result(spec, operands, count), "must be");
    out_pins_.add_mut(out, "out");
    for (unsigned operand = 0; operand < count; ++operand) {
      const char* const name = einsum_operand_name(operand);
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

// The operands, then the products.
class Terms {
 public:
  Terms(const Context& context, const EinsumSpec& spec, const tnr_view* operands, unsigned count,
        const tnr_view_mut& out)
      : context_(context), spec_(spec), count_(count), out_(out.view, spec.result_labels()) {
    LabelSet once = 0;  // labels of the operands so far
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
      const EinsumTerm& product = terms_[count_ + step].emplace(spec_, out_.view().dtype, order);
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
    std::optional<EinsumTerm>& term = terms_[added_++];
    if (count_ == 1 || (labels_of(view, labels) & ~needed) == 0) {
      term.emplace(view, labels);
      return;
    }
    const EinsumTerm whole(view, labels);
    term.emplace(spec_, view.dtype, whole.list(needed));
    sum_into(context_, whole, *term);
  }

  const Context& context_;
  const EinsumSpec& spec_;
  unsigned count_;
  unsigned added_ = 0;
  EinsumTerm out_;
  std::optional<EinsumTerm> terms_[2 * EinsumSpec::kMaxOperands];
};

}  // namespace

void einsum(const Context& context, const char* text, const tnr_view* operands,
            std::uint32_t operand_count, const tnr_view_mut& out) {
  const EinsumSpec spec(text, operands, operand_count);
  const EinsumOperands checked(spec, operands, operand_count, out);
  if (spec.has_empty_axis() && operand_count > 1) {
    fill(context, kZero, out);  // sums of no products; a product of nothing has no element
  } else {
    Terms(context, spec, operands, operand_count, out).run();
  }
  // The operations have counted the bytes.
  count_call(TNR_OPERATION_EINSUM, 0, 0);
}

EinsumShape einsum_shape(const char* text, const tnr_view* operands, std::uint32_t operand_count) {
  const EinsumSpec spec(text, operands, operand_count);
  EinsumShape result = {};
  result.dtype = dtype_of_result(spec, operands, operand_count);
  result.rank = spec.result_rank();
  for (std::uint32_t axis = 0; axis < result.rank; ++axis) {
    result.extents[axis] = spec.extent(spec.result_labels()[axis]);
  }
  return result;
}

}  // namespace tenure
