// Sums of products by Einstein's convention: made of matmul, of products, sums and copies of views.
#include <algorithm>
#include <cinttypes>
#include <optional>
#include <utility>

#include "dense/einsum/path.hpp"
#include "dense/einsum/spec.hpp"
#include "dense/nest.hpp"
#include "dense/operands.hpp"
#include "memory/scratch.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

constexpr tnr_scalar kOne = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
constexpr tnr_scalar kZero = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {0}};

// Sums of as many products, of so many in all, take longer one after the other than to write the
// products and read them again.
constexpr double kLongSum = 64;
constexpr double kWorthSumming = 4096;
// Products that are written at a time: half of a second-level cache in f64.
constexpr std::int64_t kSliceElements = std::int64_t{1} << 16;
// At most, where those of one index are more than that.
constexpr double kMostElements = 1 << 22;

// Adjacent elements that a kernel of matmul's stores at once, or so.
constexpr std::int64_t kPanel = 16;

// Labels in an order.
struct LabelList {
  std::uint8_t labels[TNR_MAX_RANK];
  std::uint32_t count = 0;

  void add(unsigned label) noexcept { labels[count++] = static_cast<std::uint8_t>(label); }
  [[nodiscard]] const std::uint8_t* begin() const noexcept { return labels; }
  [[nodiscard]] const std::uint8_t* end() const noexcept { return labels + count; }
};

// Functions here are called and not copied into each other: a call of einsum is one of matmul,
// beside which theirs are nothing, and copies would be four times the code.

// A view without the axes: the memory alone.
tnr_view bare(const tnr_view& view) noexcept {
  tnr_view memory = view;
  memory.rank = 0;
  return memory;
}
[[gnu::noinline]] void add_axis(tnr_view& view, std::int64_t extent, std::int64_t stride) noexcept {
  view.shape[view.rank] = extent;
  view.strides[view.rank] = stride;
  ++view.rank;
}

// An operand, a product of some, or the result. Its axes have distinct labels and more than one
// element each: what has one is repeated, and is as if it were not there.
class Term {
 public:
  Term() noexcept = default;
  // A label that stands twice is the diagonal of its axes.
  [[gnu::noinline]] Term(const tnr_view& view, const std::uint8_t* labels) noexcept
      : view_(bare(view)) {
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      if (view.shape[axis] == 1) continue;
      if (contains(labels[axis])) {
        // Unsigned: the strides of an empty view may be any numbers.
        std::int64_t& stride = view_.strides[axis_of(labels[axis])];
        stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) +
                                           static_cast<std::uint64_t>(view.strides[axis]));
      } else {
        add(labels[axis], view.shape[axis], view.strides[axis]);
      }
    }
  }
  // New memory, row-major; throws OUT_OF_MEMORY.
  [[gnu::noinline]] Term(const EinsumSpec& spec, tnr_dtype dtype, const LabelList& labels)
      : view_{} {
    view_.dtype = dtype;
    view_.device.kind = TNR_DEVICE_KIND_CPU;
    std::int64_t count = 1;
    for (std::uint32_t axis = labels.count; axis-- > 0;) {
      const std::int64_t extent = spec.extent(labels.labels[axis]);
      view_.shape[axis] = extent;
      view_.strides[axis] = count;
      labels_[axis] = labels.labels[axis];
      set_ |= set_of(labels_[axis]);
      if (__builtin_mul_overflow(count, extent, &count)) {
        fail(TNR_STATUS_OUT_OF_MEMORY, "an intermediate result has more than 2^63 - 1 elements");
      }
    }
    view_.rank = labels.count;
    memory_.emplace(count, static_cast<std::int64_t>(element_size(dtype)));
    view_.data = view_.base = memory_->data();
    view_.size_bytes = memory_->size_bytes();
  }

  [[nodiscard]] const tnr_view& view() const noexcept { return view_; }
  [[nodiscard]] tnr_view_mut as_output() const noexcept { return {view_}; }
  [[nodiscard]] LabelSet labels() const noexcept { return set_; }
  [[nodiscard]] std::uint32_t rank() const noexcept { return view_.rank; }
  [[nodiscard]] unsigned label(std::uint32_t axis) const noexcept { return labels_[axis]; }
  [[nodiscard]] bool contains(unsigned label) const noexcept { return (set_ & set_of(label)) != 0; }
  // 0 where the label is not there.
  [[nodiscard, gnu::noinline]] std::int64_t stride(unsigned label) const noexcept {
    return contains(label) ? view_.strides[axis_of(label)] : 0;
  }
  [[nodiscard, gnu::noinline]] double element_count() const noexcept {
    double count = 1;
    for (std::uint32_t axis = 0; axis < view_.rank; ++axis) {
      count *= static_cast<double>(view_.shape[axis]);
    }
    return count;
  }

  // Those of its labels that are in the set, in the order of its axes.
  [[nodiscard]] LabelList list(LabelSet set) const noexcept {
    LabelList list;
    append(list, set);
    return list;
  }
  [[gnu::noinline]] void append(LabelList& list, LabelSet set) const noexcept {
    for (std::uint32_t axis = 0; axis < view_.rank; ++axis) {
      if ((set & set_of(labels_[axis])) != 0) list.add(labels_[axis]);
    }
  }
  // With these axes: of extent 1 where the label is not there.
  [[nodiscard, gnu::noinline]] tnr_view arranged(const LabelList& labels) const noexcept {
    tnr_view view = bare(view_);
    for (const unsigned label : labels) {
      add_axis(view, contains(label) ? view_.shape[axis_of(label)] : 1, stride(label));
    }
    return view;
  }
  // Whether the labels, in their order, are walked as one axis would be.
  [[nodiscard, gnu::noinline]] bool is_one_axis(const LabelList& labels) const noexcept {
    for (std::uint32_t i = 1; i < labels.count; ++i) {
      const std::uint32_t inner = axis_of(labels.labels[i]);
      if (stride(labels.labels[i - 1]) != view_.strides[inner] * view_.shape[inner]) return false;
    }
    return true;
  }

 private:
  void add(unsigned label, std::int64_t extent, std::int64_t stride) noexcept {
    labels_[view_.rank] = static_cast<std::uint8_t>(label);
    set_ |= set_of(label);
    add_axis(view_, extent, stride);
  }
  [[nodiscard]] std::uint32_t axis_of(unsigned label) const noexcept {
    std::uint32_t axis = 0;
    while (labels_[axis] != label) ++axis;
    return axis;
  }

  tnr_view view_;
  LabelSet set_ = 0;
  std::uint8_t labels_[TNR_MAX_RANK];
  std::optional<Scratch> memory_;
};

// Refuses the dtypes that matmul does, where another operation stands in for it.
void require_dtype_of_matmul(const Context& context, tnr_dtype dtype) {
  tnr_view none = {};
  none.dtype = dtype;
  none.device.kind = TNR_DEVICE_KIND_CPU;
  none.rank = 2;
  matmul(context, kOne, none, none, kZero, {none});
}

// Sums the labels that `out` does not have.
[[gnu::noinline]] void sum_into(const Context& context, const Term& a, const Term& out) {
  const LabelList kept = a.list(out.labels());
  const tnr_view_mut result = {out.arranged(kept)};
  if (kept.count == a.rank()) return copy(context, a.view(), result);
  std::uint32_t axes = 0;
  for (std::uint32_t axis = 0; axis < a.rank(); ++axis) {
    if (!out.contains(a.label(axis))) axes |= 1u << axis;
  }
  reduce(context, TNR_REDUCE_OP_SUM, a.view(), axes, std::nullopt, result);
}

// The product of two terms, of which the labels that `out` lacks are in both.
class PairProduct {
 public:
  PairProduct(const Context& context, const EinsumSpec& spec, const Term& a, const Term& b,
              const Term& out) noexcept
      : context_(context),
        spec_(spec),
        a_(a),
        b_(b),
        out_(out),
        inner_(a.list(b.labels() & ~out.labels())) {}

  void run() const {
    if (inner_.count == 0) return multiply_elements();
    if (is_of_long_sums()) return sum_products();
    const Nest rows = group(a_.labels() & ~b_.labels());
    const Nest columns = group(b_.labels() & ~a_.labels());
    // A term whose summed axes are no single axis is copied. So is one whose other axes would have
    // more read again than a copy moves.
    bool copies_a = !a_.is_one_axis(inner_);
    bool copies_b = !b_.is_one_axis(inner_);
    const double a_copy = copies_a ? 0 : 2 * a_.element_count();
    const double b_copy = copies_b ? 0 : 2 * b_.element_count();
    const double b_again = times_again(rows) * b_.element_count();
    const double a_again = times_again(columns) * a_.element_count();
    const bool has_rows = is_one_axis_of_out(a_.labels() & ~b_.labels());
    const bool has_columns = is_one_axis_of_out(b_.labels() & ~a_.labels());
    if ((!has_rows && b_again > a_copy + 2 * out_.element_count()) ||
        (!has_columns && a_again > b_copy + 2 * out_.element_count())) {
      return run_beside();
    }
    copies_a |= has_rows && b_again > a_copy;
    copies_b |= has_columns && a_again > b_copy;
    if (!copies_a && !copies_b) return multiply_matrices(rows, columns);
    std::optional<Term> a;
    std::optional<Term> b;
    if (copies_a) copy_term(a_, a);
    if (copies_b) copy_term(b_, b);
    const PairProduct product(context_, spec_, a ? *a : a_, b ? *b : b_, out_, inner_);
    product.multiply_matrices(product.group(a_.labels() & ~b_.labels()),
                              product.group(b_.labels() & ~a_.labels()));
  }

 private:
  enum Operand : unsigned { kOut, kA, kB };

  PairProduct(const Context& context, const EinsumSpec& spec, const Term& a, const Term& b,
              const Term& out, const LabelList& inner) noexcept
      : context_(context), spec_(spec), a_(a), b_(b), out_(out), inner_(inner) {}

  // The labels as few axes as can be, in elements of out, a and b.
  [[nodiscard, gnu::noinline]] Nest group(LabelSet labels) const noexcept {
    Nest nest(3);
    for (const unsigned label : out_.list(labels)) {
      const std::int64_t strides[] = {out_.stride(label), a_.stride(label), b_.stride(label)};
      nest.add(spec_.extent(label), strides);
    }
    nest.order(kOut);
    return nest;
  }
  [[nodiscard, gnu::noinline]] bool is_one_axis_of_out(LabelSet labels) const noexcept {
    Nest nest(1);
    for (const unsigned label : out_.list(labels)) {
      const std::int64_t stride = out_.stride(label);
      nest.add(spec_.extent(label), &stride);
    }
    nest.order(0);
    return nest.rank() <= 1;
  }
  // The one of several axes of rows or columns that a matrix has: that of adjacent elements of the
  // result, or the longest.
  [[gnu::noinline]] static unsigned matrix_axis(const Nest& nest) noexcept {
    if (nest.inner_extent() >= kPanel && nest.inner_step(kOut) == 1) return nest.rank() - 1;
    unsigned axis = 0;
    for (unsigned i = 1; i < nest.rank(); ++i) {
      if (nest.extent(i) > nest.extent(axis)) axis = i;
    }
    return axis;
  }
  // How many products there are, less one, where one axis alone belongs to one.
  [[gnu::noinline]] static double times_again(const Nest& nest) noexcept {
    double times = 1;
    for (unsigned axis = 0; axis < nest.rank(); ++axis) {
      if (axis != matrix_axis(nest)) times *= static_cast<double>(nest.extent(axis));
    }
    return times - 1;
  }

  // Nothing is summed, or of one element each.
  [[gnu::noinline]] void multiply_elements() const {
    if ((spec_.labels() & ~spec_.result_set()) != 0) {
      require_dtype_of_matmul(context_, out_.view().dtype);
    }
    const LabelList labels = out_.list(out_.labels());
    binary(context_, TNR_BINARY_OP_MUL, a_.arranged(labels), b_.arranged(labels), out_.as_output());
  }

  // Whether there are neither rows nor columns but long sums, of which a sum of matmul's is one
  // addition after the other.
  [[nodiscard]] bool is_of_long_sums() const noexcept {
    // Products of narrow floats would be rounded before they are summed.
    const tnr_dtype dtype = out_.view().dtype;
    if (dtype != TNR_DTYPE_F32 && dtype != TNR_DTYPE_F64) return false;
    if (a_.labels() != b_.labels()) return false;
    const double elements = a_.element_count();
    const double slice_elements = elements / static_cast<double>(a_.view().shape[0]);
    return elements >= kWorthSumming && elements >= kLongSum * out_.element_count() &&
           slice_elements <= kMostElements;
  }

  // As products of elements, in slices of the first axis that the caches hold, and their sums. The
  // slices depend on the shapes alone.
  [[gnu::noinline]] void sum_products() const {
    const LabelList labels = a_.list(a_.labels());
    const tnr_view& a = a_.view();
    const tnr_view b = b_.arranged(labels);
    const tnr_view out = out_.arranged(labels);
    std::int64_t others = 1;
    for (std::uint32_t axis = 1; axis < a.rank; ++axis) others *= a.shape[axis];
    const std::int64_t extent = a.shape[0];
    const std::int64_t height = std::clamp<std::int64_t>(kSliceElements / others, 1, extent);
    const std::int64_t slice_count = (extent + height - 1) / height;
    std::uint32_t axes = 0;
    for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
      if (!out_.contains(labels.labels[axis])) axes |= 1u << axis;
    }
    const Scratch memory(height * others, static_cast<std::int64_t>(element_size(a.dtype)));
    tnr_view product = a;
    product.shape[0] = height;
    lay(product, memory);
    // Where the first axis is summed, sums of slices are in turn.
    const bool sums_slices = !out_.contains(labels.labels[0]) && slice_count > 1;
    std::optional<Scratch> sums_memory;
    tnr_view sums = out;
    if (sums_slices) {
      sums.shape[0] = slice_count;
      sums_memory.emplace(element_count(sums), static_cast<std::int64_t>(element_size(a.dtype)));
      lay(sums, *sums_memory);
    }
    for (std::int64_t slice = 0; slice < slice_count; ++slice) {
      const std::int64_t first = slice * height;
      const std::int64_t count = std::min(height, extent - first);
      const tnr_view to = part(product, 0, count);
      binary(context_, TNR_BINARY_OP_MUL, part(a, first, count), part(b, first, count), {to});
      const tnr_view sum = sums_slices        ? part(sums, slice, 1)
                           : slice_count == 1 ? out
                                              : part(out, first, count);
      reduce(context_, TNR_REDUCE_OP_SUM, to, axes, std::nullopt, {sum});
    }
    if (sums_slices) reduce(context_, TNR_REDUCE_OP_SUM, sums, 1, std::nullopt, {out});
  }
  // Row-major over the memory.
  static void lay(tnr_view& view, const Scratch& memory) noexcept {
    view.data = view.base = memory.data();
    view.size_bytes = memory.size_bytes();
    view.owner = 0;
    view.flags = 0;
    std::int64_t stride = 1;
    for (std::uint32_t axis = view.rank; axis-- > 0;) {
      view.strides[axis] = stride;
      stride *= view.shape[axis];
    }
  }
  // Indices of the first axis.
  static tnr_view part(const tnr_view& view, std::int64_t first, std::int64_t count) noexcept {
    tnr_view part = view;
    move(part, first * view.strides[0]);
    part.shape[0] = count;
    return part;
  }

  // Laid out for the product: labels that both have, then those of the result in its order in
  // memory, then those that are summed.
  [[gnu::noinline]] void copy_term(const Term& term, std::optional<Term>& copied) const {
    LabelList labels = out_.list(term.labels() & (a_.labels() & b_.labels()));
    LabelList own = out_.list(term.labels() & ~(a_.labels() & b_.labels()));
    for (std::uint32_t i = 1; i < own.count; ++i) {
      for (std::uint32_t j = i; j > 0 && distance(own.labels[j - 1]) < distance(own.labels[j]);
           --j) {
        std::swap(own.labels[j - 1], own.labels[j]);
      }
    }
    for (const unsigned label : own) labels.add(label);
    for (const unsigned label : inner_) labels.add(label);
    copied.emplace(spec_, term.view().dtype, labels);
    copy(context_, term.arranged(labels), copied->as_output());
  }
  // In the result, whatever the direction.
  [[nodiscard]] std::uint64_t distance(unsigned label) const noexcept {
    const std::int64_t stride = out_.stride(label);
    const auto bits = static_cast<std::uint64_t>(stride);
    return stride < 0 ? 0 - bits : bits;
  }

  // Into memory that suits the product, then to where the result is.
  [[gnu::noinline]] void run_beside() const {
    LabelList labels = a_.list(b_.labels() & out_.labels());
    a_.append(labels, ~b_.labels());
    b_.append(labels, ~a_.labels());
    const Term product(spec_, out_.view().dtype, labels);
    PairProduct(context_, spec_, a_, b_, product, inner_).run();
    copy(context_, product.view(), {out_.arranged(labels)});
  }

  // Rows and columns that are several axes are a batch, but for one.
  [[gnu::noinline]] void multiply_matrices(const Nest& rows, const Nest& columns) const {
    const Nest batch = group(a_.labels() & b_.labels());
    Matrices m = {bare(out_.view()), bare(a_.view()), bare(b_.view())};
    for (const Nest* nest : {&batch, &rows, &columns}) {
      move(m, nest->start(kOut), nest->start(kA), nest->start(kB));
    }
    Nest batches(3);
    for (unsigned axis = 0; axis < batch.rank(); ++axis) {
      batches.add(batch.extent(axis), batch.steps(axis));
    }
    for (const Nest* nest : {&rows, &columns}) {
      for (unsigned axis = 0; axis < nest->rank(); ++axis) {
        if (axis != matrix_axis(*nest)) batches.add(nest->extent(axis), nest->steps(axis));
      }
    }
    multiply_batches(m, batches, rows, columns);
  }

  struct Matrices {
    tnr_view out;
    tnr_view a;
    tnr_view b;
  };
  static void move(tnr_view& view, std::int64_t elements) noexcept {
    view.data = static_cast<const kernels::Byte*>(view.data) +
                elements * static_cast<std::int64_t>(element_size(view.dtype));
  }
  static void move(Matrices& m, std::int64_t out, std::int64_t a, std::int64_t b) noexcept {
    move(m.out, out);
    move(m.a, a);
    move(m.b, b);
  }

  // A view has room for so many axes beside a matrix's; those before are walked here.
  [[gnu::noinline]] void multiply_batches(Matrices m, const Nest& batches, const Nest& rows,
                                          const Nest& columns) const {
    constexpr unsigned kMostBatches = TNR_MAX_RANK - 2;
    const unsigned walked = batches.rank() > kMostBatches ? batches.rank() - kMostBatches : 0;
    std::int64_t count = 1;
    for (unsigned axis = 0; axis < walked; ++axis) count *= batches.extent(axis);
    for (unsigned axis = walked; axis < batches.rank(); ++axis) {
      add_axes(m, batches.extent(axis), batches.steps(axis));
    }
    const std::int64_t none[] = {0, 0, 0};
    const bool has_rows = rows.rank() != 0;
    const bool has_columns = columns.rank() != 0;
    const std::int64_t* const row = has_rows ? rows.steps(matrix_axis(rows)) : none;
    const std::int64_t* const column = has_columns ? columns.steps(matrix_axis(columns)) : none;
    const std::int64_t row_count = has_rows ? rows.extent(matrix_axis(rows)) : 1;
    const std::int64_t column_count = has_columns ? columns.extent(matrix_axis(columns)) : 1;
    std::int64_t depth = 1;
    for (const unsigned label : inner_) depth *= spec_.extent(label);
    const unsigned innermost = inner_.labels[inner_.count - 1];
    add_axis(m.out, row_count, row[kOut]);
    add_axis(m.out, column_count, column[kOut]);
    add_axis(m.a, row_count, row[kA]);
    add_axis(m.a, depth, a_.stride(innermost));
    add_axis(m.b, depth, b_.stride(innermost));
    add_axis(m.b, column_count, column[kB]);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t position[TNR_MAX_RANK];
      std::int64_t offsets[Nest::kMaxOperands];
      batches.go_to(walked, i, position, offsets);
      Matrices at = m;
      move(at, offsets[kOut], offsets[kA], offsets[kB]);
      matmul(context_, kOne, at.a, at.b, kZero, {at.out});
    }
  }
  // A factor that does not move is repeated.
  [[gnu::noinline]] static void add_axes(Matrices& m, std::int64_t extent,
                                         const std::int64_t* strides) noexcept {
    add_axis(m.out, extent, strides[kOut]);
    add_axis(m.a, strides[kA] == 0 ? 1 : extent, strides[kA]);
    add_axis(m.b, strides[kB] == 0 ? 1 : extent, strides[kB]);
  }

  const Context& context_;
  const EinsumSpec& spec_;
  const Term& a_;
  const Term& b_;
  const Term& out_;
  LabelList inner_;  // summed, in an order that shapes alone decide
};

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
      PairProduct(context_, spec_, *terms_[a], *terms_[b], product).run();
      terms_[a].reset();
      terms_[b].reset();
    }
    const EinsumPath::Step& last = path.steps[count_ - 2];
    PairProduct(context_, spec_, *terms_[last.a], *terms_[last.b], out_).run();
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
