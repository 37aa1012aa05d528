#include "dense/einsum/pair_product.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "dense/loops/nest.hpp"
#include "memory/scratch.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// Sums of at least kLongSum products each, with at least kWorthSumming products in all, take longer
// by one addition after the other than to write the products and read them again.
constexpr double kLongSum = 64;
constexpr double kWorthSumming = 4096;
// Products that are written at a time: half of a second-level cache in f64.
constexpr std::int64_t kSliceElements = std::int64_t{1} << 16;
// At most, where those of one index are more than that.
constexpr double kMostElements = 1 << 22;

// Adjacent elements that a kernel of matmul's stores at once, or so.
constexpr std::int64_t kPanel = 16;

// Functions here are called and not inlined into each other: a call of einsum makes one of matmul,
// compared with which these calls take no time, and inlined they would be four times the code.

// The product of two terms. Each label that `out` lacks is in both terms.
class PairProduct {
 public:
  PairProduct(const Context& context, const EinsumSpec& spec, const EinsumTerm& a,
              const EinsumTerm& b, const EinsumTerm& out) noexcept
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
    std::optional<EinsumTerm> a;
    std::optional<EinsumTerm> b;
    if (copies_a) copy_term(a_, a);
    if (copies_b) copy_term(b_, b);
    const PairProduct product(context_, spec_, a ? *a : a_, b ? *b : b_, out_, inner_);
    product.multiply_matrices(product.group(a_.labels() & ~b_.labels()),
                              product.group(b_.labels() & ~a_.labels()));
  }

 private:
  enum Operand : unsigned { kOut, kA, kB };

  PairProduct(const Context& context, const EinsumSpec& spec, const EinsumTerm& a,
              const EinsumTerm& b, const EinsumTerm& out, const LabelList& inner) noexcept
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
  // Returns the number of products of matrices, less one, where each takes only the matrix's axis
  // of the nest.
  [[gnu::noinline]] static double times_again(const Nest& nest) noexcept {
    double times = 1;
    for (unsigned axis = 0; axis < nest.rank(); ++axis) {
      if (axis != matrix_axis(nest)) times *= static_cast<double>(nest.extent(axis));
    }
    return times - 1;
  }

  // Nothing is summed, or of one element each.
  [[gnu::noinline]] void multiply_elements() const {
    const LabelList labels = out_.list(out_.labels());
    binary(context_, TNR_BINARY_OP_MUL, a_.arranged(labels), b_.arranged(labels), out_.as_output());
  }

  // Whether there are neither rows nor columns but long sums. Matmul would add the products of each
  // such sum one after the other.
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

  // Multiplies the terms element by element, in slices of the first axis that the caches hold, and
  // sums the products. The slices depend only on the shapes.
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
      reduce(context_, TNR_REDUCE_OP_SUM, to, axes, 0, {sum});
    }
    if (sums_slices) reduce(context_, TNR_REDUCE_OP_SUM, sums, 1, 0, {out});
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
  [[gnu::noinline]] void copy_term(const EinsumTerm& term,
                                   std::optional<EinsumTerm>& copied) const {
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
    const EinsumTerm product(spec_, out_.view().dtype, labels);
    PairProduct(context_, spec_, a_, b_, product, inner_).run();
    copy(context_, product.view(), {out_.arranged(labels)});
  }

  // Where rows or columns are several axes, one of these is the matrix's and the others are batch
  // axes.
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

  // A view has room for kMostBatches axes in addition to the two of a matrix. This function walks
  // the batch axes before those.
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
  const EinsumTerm& a_;
  const EinsumTerm& b_;
  const EinsumTerm& out_;
  LabelList inner_;  // summed, in an order that depends only on shapes
};

}  // namespace

void multiply_pair(const Context& context, const EinsumSpec& spec, const EinsumTerm& a,
                   const EinsumTerm& b, const EinsumTerm& out) {
  PairProduct(context, spec, a, b, out).run();
}

}  // namespace tenure
