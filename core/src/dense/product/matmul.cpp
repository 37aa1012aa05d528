// Products of dense matrices: the operands of a call, and batches of them.
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <complex>
#include <cstring>
#include <optional>
#include <variant>

#include "base/arithmetic.hpp"
#include "dense/movement.hpp"
#include "dense/nest.hpp"
#include "dense/operands.hpp"
#include "dense/product/blocked_matmul.hpp"
#include "dense/product/direct_matmul.hpp"
#include "dense/product/matmul.hpp"
#include "dense/product/packed_factor.hpp"
#include "engine/onednn.hpp"
#include "memory/fresh_pages.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/engine.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Products of a batch for each thread, from which on a thread that takes one more is no matter.
constexpr std::int64_t kManyProducts = 4;

// Sums of f32 are elements of 16 bits, rounded once.
class NarrowSums final : public SumsStore {
 public:
  explicit NarrowSums(tnr_dtype dtype)
      : load_(cast_operation(dtype, TNR_DTYPE_F32)), store_(cast_operation(TNR_DTYPE_F32, dtype)) {}

  void load(const Rows& rows) const noexcept override {
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      const kernels::Source in[] = {{rows.out + i * rows.row_step, rows.column_step, kBytes}};
      run_strip(load_, dense_strip(rows.columns, rows.sums + i * rows.sums_step, kSumBytes, in));
    }
  }
  void store(const Rows& rows) const noexcept override {
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      const kernels::Source in[] = {{rows.sums + i * rows.sums_step, kSumBytes, kSumBytes}};
      kernels::Strip strip = dense_strip(rows.columns, rows.out + i * rows.row_step, kBytes, in);
      strip.out_step = rows.column_step;
      run_strip(store_, strip);
    }
  }

 private:
  static constexpr std::int64_t kBytes = 2;
  static constexpr std::int64_t kSumBytes = 4;

  Operation load_;
  Operation store_;
};

// Complex elements that do not lie side by side, or scalars that are not real; kernels apply those
// that are, to each of the sums that are added up.
template <class T>
class ComplexSums final : public SumsStore {
 public:
  ComplexSums(const Element& alpha, const Element& beta, bool has_beta, bool are_real)
      : alpha_(read(alpha.bytes)),
        beta_(read(beta.bytes)),
        has_beta_(has_beta),
        are_real_(are_real) {}

  void load(const Rows& rows) const noexcept override {
    for_each(rows, [](Byte* sum, const Byte* out) { write(sum, read(out)); });
  }
  void scale(const Rows& rows) const noexcept override {
    if (are_real_) return;
    for_each(rows, [&](Byte* sum, const Byte* out) {
      const std::complex<T> scaled = product(alpha_, read(sum));
      write(sum, has_beta_ ? scaled + product(beta_, read(out)) : scaled);
    });
  }
  void store(const Rows& rows) const noexcept override {
    for_each(rows, [](const Byte* sum, Byte* out) { write(out, read(sum)); });
  }

 private:
  static constexpr std::int64_t kBytes = 2 * sizeof(T);

  static std::complex<T> read(const Byte* from) noexcept {
    std::complex<T> number;
    std::memcpy(&number, from, sizeof number);
    return number;
  }
  static void write(Byte* to, const std::complex<T>& number) noexcept {
    std::memcpy(to, &number, sizeof number);
  }
  // The operator of the standard library looks for infinities in a product that is NaN.
  static std::complex<T> product(const std::complex<T>& a, const std::complex<T>& b) noexcept {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  template <class Body>
  static void for_each(const Rows& rows, const Body& body) noexcept {
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      for (std::int64_t j = 0; j < rows.columns; ++j) {
        body(rows.sums + i * rows.sums_step + j * kBytes,
             rows.out + i * rows.row_step + j * rows.column_step);
      }
    }
  }

  std::complex<T> alpha_;
  std::complex<T> beta_;
  bool has_beta_;
  bool are_real_;
};

// ---- operands ----

// A factor's matrix is in its last two axes, the batch in those before. A vector is a row on the
// left and a column on the right, and has no axis in the result.
enum class Side : bool { kLeft, kRight };
struct FactorAxes {
  std::uint32_t batch_rank;
  std::int64_t rows;
  std::int64_t columns;
  BlockedMatmul::Steps steps;
};

FactorAxes axes_of(const tnr_view& view, const char* name, Side side) {
  if (view.rank == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is 0 but must be 1 at least", name);
  }
  const std::uint32_t last = view.rank - 1;
  // As step_of() for each.
  const std::int64_t unit =
      is_empty(view) ? 0 : static_cast<std::int64_t>(element_size(view.dtype));
  const auto step = [&](std::uint32_t axis) {
    return view.shape[axis] > 1 && unit != 0 ? view.strides[axis] * unit : 0;
  };
  if (view.rank > 1) {
    return {view.rank - 2, view.shape[last - 1], view.shape[last], {step(last - 1), step(last)}};
  }
  if (side == Side::kRight) return {0, view.shape[0], 1, {step(0), 0}};
  return {0, 1, view.shape[0], {0, step(0)}};
}

// Which extents do not agree, and the three shapes.
[[noreturn, gnu::cold]] void refuse_extent(const char* name, std::uint32_t axis,
                                           std::int64_t extent, std::int64_t expected,
                                           const char* whose, const tnr_view& a, const tnr_view& b,
                                           const tnr_view& out) {
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64
       ", %s: a has shape %s, b %s, out %s",
       name, axis, extent, expected, whose, shape_text(a.rank, a.shape).text,
       shape_text(b.rank, b.shape).text, shape_text(out.rank, out.shape).text);
}

// The operands of a call, checked and pinned.
class MatmulOperands {
 public:
  // `b` has the shape and the dtype of `panels`, if there are any, and no elements then.
  MatmulOperands(const tnr_view& a, const tnr_view& b, const Panels* panels,
                 const tnr_matmul_attributes& attributes, const tnr_view_mut& out)
      : a_(a), b_(b), out_(out.view), data_(writable(out)) {
    // Dense operands take the short way.
    if (plain_count(out_) == 0) check_view_mut(out, "out");
    if (plain_count(a) == 0) check_view(a, "a");
    if (panels == nullptr && plain_count(b) == 0) check_view(b, "b");
    read_shapes();
    geometry_.packed_b = panels;
    a_type_ = b_type_ = factor_type(a.dtype);
    if (b.dtype != a.dtype && is_byte(a.dtype) && is_byte(b.dtype)) {
      b_type_ = factor_type(b.dtype);
    } else {
      require_dtype(b, "b", a.dtype, "a.dtype is");
    }
    if (has_bytes()) {
      require_dtype(out_, "out", TNR_DTYPE_I32, "of bytes it must be");
    } else {
      require_dtype(out_, "out", a.dtype, "a.dtype is");
    }
    read_bias(attributes.bias);
    pins_.add_mut(out, "out");
    pins_.add(a, "a");
    if (panels == nullptr) pins_.add(b, "b");
    if (bias_ != nullptr) pins_.add(*bias_, "attributes->bias");
    require_alias(out_, a, "a", SameView::kRefused);
    if (panels == nullptr) require_alias(out_, b, "b", SameView::kRefused);
    if (bias_ != nullptr) {
      require_alias(out_, *bias_, "attributes->bias", SameView::kRefused);
    }
    if (!is_empty(out_)) join_rows();
  }

  [[nodiscard]] const FactorDtype& dtype() const noexcept { return kFactorDtypes[a_type_]; }
  [[nodiscard]] ProductTypes types() const { return product_types(a_type_, b_type_); }
  [[nodiscard]] const tnr_view* bias() const noexcept { return bias_; }
  [[nodiscard]] const BlockedMatmul::Geometry& geometry() const noexcept { return geometry_; }
  // The elements at index 0 of the first of them.
  [[nodiscard]] onednn::ProductMemory first() const noexcept {
    std::int64_t position[TNR_MAX_RANK];
    std::int64_t offsets[Nest::kMaxOperands];
    batch_.go_to(batch_.rank(), 0, position, offsets);
    return {static_cast<const Byte*>(a_.data) + offsets[1],
            static_cast<const Byte*>(b_.data) + offsets[2], nullptr, data_ + offsets[0]};
  }
  // The same as oneDNN is asked for it; out is not empty. Nothing for batches of several axes.
  [[nodiscard]] std::optional<onednn::Product> for_onednn(float alpha, float beta) const noexcept {
    if (!is_joined_ && batch_.rank() > 1) return std::nullopt;
    const auto matrix = [&](const tnr_view& view, const BlockedMatmul::Steps& steps,
                            unsigned operand) -> onednn::Product::Matrix {
      const int shift = std::countr_zero(element_size(view.dtype));
      const std::int64_t step = is_joined_ || batch_.rank() == 0 ? 0 : batch_.step(0, operand);
      return {view.dtype, step >> shift, steps.row >> shift, steps.column >> shift};
    };
    return onednn::Product{.batch_count = batch_count(),
                           .rows = geometry_.rows,
                           .columns = geometry_.columns,
                           .depth = geometry_.depth,
                           .a = matrix(a_, geometry_.a, 1),
                           .b = matrix(b_, geometry_.b, 2),
                           .out = matrix(out_, geometry_.out, 0),
                           .alpha = alpha,
                           .beta = beta,
                           .has_bias = bias_ != nullptr};
  }
  // Products of that geometry; out is not empty.
  [[nodiscard]] std::int64_t batch_count() const noexcept {
    if (is_joined_) return 1;
    std::int64_t count = 1;
    for (unsigned axis = 0; axis < batch_.rank(); ++axis) count *= batch_.extent(axis);
    return count;
  }
  void run(const BlockedMatmul& multiply, const Context& context,
           const BlockedMatmul::Buffers& buffers, std::int64_t index) const noexcept {
    std::int64_t position[TNR_MAX_RANK];
    std::int64_t offsets[Nest::kMaxOperands];
    batch_.go_to(batch_.rank(), index, position, offsets);
    multiply.run(context, buffers, static_cast<const Byte*>(a_.data) + offsets[1],
                 static_cast<const Byte*>(b_.data) + offsets[2], data_ + offsets[0]);
  }

 private:
  void read_shapes() {
    const FactorAxes a = axes_of(a_, "a", Side::kLeft);
    const FactorAxes b = axes_of(b_, "b", Side::kRight);
    if (b.rows != a.columns) {
      refuse_extent("b", b_.rank == 1 ? 0 : b_.rank - 2, b.rows, a.columns, "the last extent of a",
                    a_, b_, out_);
    }
    const std::uint32_t matrix_rank = (a_.rank > 1 ? 1u : 0u) + (b_.rank > 1 ? 1u : 0u);
    const std::uint32_t least = matrix_rank + std::max(a.batch_rank, b.batch_rank);
    if (out_.rank < least) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "out.rank is %" PRIu32 " but must be %" PRIu32 ": a has shape %s, b %s, out %s",
           out_.rank, least, shape_text(a_.rank, a_.shape).text, shape_text(b_.rank, b_.shape).text,
           shape_text(out_.rank, out_.shape).text);
    }
    const std::uint32_t batch_rank = out_.rank - matrix_rank;
    geometry_ = {a.rows, b.columns, a.columns, a.steps, b.steps, {0, 0}};
    std::uint32_t axis = batch_rank;
    if (a_.rank > 1) {
      require_extent(axis, a.rows, "the rows of a");
      geometry_.out.row = step_of(out_, axis++);
    }
    if (b_.rank > 1) {
      require_extent(axis, b.columns, "the columns of b");
      geometry_.out.column = step_of(out_, axis);
    }
    require_broadcast(a_, "a", a.batch_rank, batch_rank);
    require_broadcast(b_, "b", b.batch_rank, batch_rank);
    if (is_empty(out_)) return;
    for (axis = 0; axis < batch_rank; ++axis) {
      const std::int64_t steps[] = {step_of(out_, axis),
                                    batch_step(a_, a.batch_rank, axis, batch_rank),
                                    batch_step(b_, b.batch_rank, axis, batch_rank)};
      batch_.add(out_.shape[axis], steps);
    }
    batch_.order(0);
  }

  [[nodiscard]] bool has_bytes() const noexcept {
    return dtype().sum_type == kernels::SumType::kI32;
  }

  void read_bias(const tnr_view* bias) {
    if (bias == nullptr) return;
    check_view(*bias, "attributes->bias");
    require_dtype(*bias, "attributes->bias", out_.dtype, "out.dtype is");
    if (bias->rank != 1 || bias->shape[0] != geometry_.columns) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->bias has shape %s but must have one extent of %" PRId64
           ", as the columns of b: a has shape %s, b %s, out %s",
           shape_text(bias->rank, bias->shape).text, geometry_.columns,
           shape_text(a_.rank, a_.shape).text, shape_text(b_.rank, b_.shape).text,
           shape_text(out_.rank, out_.shape).text);
    }
    bias_ = bias;
  }

  // Rows of a batch that are multiplied by one right factor, and follow each other like those of
  // one matrix, are one matrix.
  void join_rows() noexcept {
    if (batch_.rank() != 1 || batch_.step(0, 2) != 0) return;
    if (geometry_.rows == 1) {
      geometry_.out.row = batch_.step(0, 0);
      geometry_.a.row = batch_.step(0, 1);
    } else if (batch_.step(0, 0) != geometry_.rows * geometry_.out.row ||
               batch_.step(0, 1) != geometry_.rows * geometry_.a.row) {
      return;
    }
    geometry_.rows *= batch_.extent(0);
    is_joined_ = true;
  }

  void require_extent(std::uint32_t axis, std::int64_t expected, const char* whose) const {
    if (out_.shape[axis] != expected) {
      refuse_extent("out", axis, out_.shape[axis], expected, whose, a_, b_, out_);
    }
  }
  void require_broadcast(const tnr_view& view, const char* name, std::uint32_t rank,
                         std::uint32_t batch_rank) const {
    for (std::uint32_t axis = 0; axis < rank; ++axis) {
      const std::int64_t expected = out_.shape[batch_rank - rank + axis];
      if (view.shape[axis] != expected && view.shape[axis] != 1) {
        refuse_extent(name, axis, view.shape[axis], expected, "as out's, or 1", a_, b_, out_);
      }
    }
  }
  // 0 where the factor repeats.
  static std::int64_t batch_step(const tnr_view& view, std::uint32_t rank, std::uint32_t axis,
                                 std::uint32_t batch_rank) noexcept {
    return axis < batch_rank - rank ? 0 : step_of(view, axis - (batch_rank - rank));
  }

  const tnr_view& a_;
  const tnr_view& b_;
  const tnr_view& out_;
  Byte* data_;
  unsigned a_type_;  // FactorType
  unsigned b_type_;
  const tnr_view* bias_ = nullptr;
  BlockedMatmul::Geometry geometry_;
  Nest batch_{3};  // out, a, b; without axes where out is empty
  bool is_joined_ = false;
  Pins pins_;
};

bool is_real(const Element& element, tnr_dtype dtype) noexcept {
  if (!is_complex(dtype)) return true;
  const std::size_t part_bytes = element_size(dtype) / 2;
  Element imaginary = {};
  std::memcpy(imaginary.bytes, element.bytes + part_bytes, part_bytes);
  return is_zero(imaginary, part_bytes == 4 ? TNR_DTYPE_F32 : TNR_DTYPE_F64);
}

// The scalars of a call.
struct MatmulScalars {
  Element alpha;
  Element beta;
  bool has_beta;
  bool are_real;

  MatmulScalars(const tnr_scalar& given_alpha, const tnr_scalar& given_beta,
                const FactorDtype& dtype) {
    // Narrow floats are scaled as their sums are, before they are rounded.
    const tnr_dtype of = dtype.computed();
    alpha = to_element(given_alpha, of, "alpha");
    beta = to_element(given_beta, of, "beta");
    has_beta = !is_zero(beta, dtype.sum) || !is_real(beta, of);
    are_real = is_real(alpha, of) && is_real(beta, of);
  }
};

// As the kernels apply them: not at all where a store does.
BlockedMatmul::Scalars scalars_of_sums(const MatmulScalars& scalars, const FactorDtype& dtype,
                                       std::int64_t depth, bool store_scales) {
  BlockedMatmul::Scalars of_sums = {};
  // Only what is behind the first block is added to something of the call's own.
  if (store_scales || depth > kBlockDepth / dtype.lanes) {
    const tnr_scalar one = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
    of_sums.one = to_element(one, dtype.sum, "one");
  }
  of_sums.alpha = store_scales ? of_sums.one : scalars.alpha;
  of_sums.beta = scalars.beta;
  of_sums.has_beta = scalars.has_beta && !store_scales;
  // The sum of no products is 0, also times an infinite alpha.
  if (depth == 0) of_sums.alpha = {};
  return of_sums;
}

// Where the kernels do not write the elements; else nullptr.
using Store = std::variant<std::monostate, NarrowSums, ComplexSums<float>, ComplexSums<double>>;
Store store_of(const MatmulOperands& operands, const ProductTypes& types,
               const MatmulScalars& scalars) {
  const FactorDtype& dtype = operands.dtype();
  if (dtype.lanes == 1) {
    if (dtype.result == dtype.sum) return {};
    return Store(std::in_place_type<NarrowSums>, dtype.dtype);
  }
  if (scalars.are_real && operands.geometry().has_adjacent_out(types)) return {};
  Element alpha = scalars.alpha;
  if (operands.geometry().depth == 0) alpha = {};
  if (dtype.dtype == TNR_DTYPE_C64) {
    return Store(std::in_place_type<ComplexSums<float>>, alpha, scalars.beta, scalars.has_beta,
                 scalars.are_real);
  }
  return Store(std::in_place_type<ComplexSums<double>>, alpha, scalars.beta, scalars.has_beta,
               scalars.are_real);
}

const SumsStore* pointer_to(const Store& store) noexcept {
  if (const auto* sums = std::get_if<NarrowSums>(&store)) return sums;
  if (const auto* sums = std::get_if<ComplexSums<float>>(&store)) return sums;
  return std::get_if<ComplexSums<double>>(&store);
}

// ---- by another engine ----

// A product of types that oneDNN takes.
float as_f32(const Element& element, tnr_dtype dtype) noexcept {
  if (dtype == TNR_DTYPE_I32) {
    std::int32_t number;
    std::memcpy(&number, element.bytes, sizeof number);
    return static_cast<float>(number);
  }
  float number;
  std::memcpy(&number, element.bytes, sizeof number);
  return number;
}

// False, and nothing has been done, where the library's own kernels are to compute it. Cold: small
// code, which most programs never run.
[[gnu::cold, gnu::noinline]] bool run_elsewhere(const Context& context, tnr_engine engine,
                                                const MatmulOperands& operands,
                                                const MatmulScalars& scalars,
                                                const Epilogue& epilogue, const tnr_view_mut& out) {
  const FactorDtype& dtype = operands.dtype();
  if (dtype.lanes == 2 || dtype.sum == TNR_DTYPE_F64) return false;
  // A result that is rounded to 16 bits already has the bounds that its sum would have; another
  // activation would be rounded twice.
  if (dtype.result != dtype.sum && !epilogue.may_follow_rounding()) return false;
  const tnr_view* const bias = operands.bias();
  if (bias != nullptr && bias->shape[0] > 1 && bias->strides[0] != 1) return false;
  const auto product =
      operands.for_onednn(as_f32(scalars.alpha, dtype.sum), as_f32(scalars.beta, dtype.sum));
  if (!product) return false;
  onednn::ProductMemory memory = operands.first();
  if (bias != nullptr) memory.bias = bias->data;
  if (!onednn::run({engine, context.thread_count()}, *product, memory)) return false;
  // Not oneDNN's own, whose maximum of NaN and 0 is 0.
  epilogue.run_behind(context, out);
  return true;
}

// Counts a call, of which nothing counts where there was nothing to do.
void count_product(tnr_operation operation, const tnr_view& out, std::uint64_t read_bytes,
                   std::uint64_t b_bytes) noexcept {
  if (is_empty(out)) return count_call(operation, 0, 0);
  count_call(operation, read_bytes + b_bytes, element_bytes(out));
}

}  // namespace

std::uint64_t multiply(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                       const tnr_view& b, const PackedFactor* packed, const tnr_scalar& beta,
                       const tnr_view_mut& out, const tnr_matmul_attributes& attributes) {
  const MatmulOperands operands(a, b, packed == nullptr ? nullptr : packed->panels(), attributes,
                                out);
  const FactorDtype& dtype = operands.dtype();
  const MatmulScalars scalars(alpha, beta, dtype);
  const Epilogue epilogue(Activation(attributes), operands.bias(), dtype.result, dtype.computed());
  if (is_empty(out.view)) return 0;
  // With a beta of 0 the output is not read.
  const tnr_view* const bias = operands.bias();
  const std::uint64_t read_bytes = element_bytes(a) + (bias == nullptr ? 0 : element_bytes(*bias)) +
                                   (scalars.has_beta ? element_bytes(out.view) : 0);
  const tnr_engine engine = engine_of(context);
  if (engine != TNR_ENGINE_OWN && packed == nullptr &&
      run_elsewhere(context, engine, operands, scalars, epilogue, out)) {
    return read_bytes;
  }
  const ProductTypes types = operands.types();
  const Store store = store_of(operands, types, scalars);
  const SumsStore* const sums_store = pointer_to(store);
  const bool store_scales = dtype.lanes == 2 && !scalars.are_real;
  const BlockedMatmul::Scalars of_sums =
      scalars_of_sums(scalars, dtype, operands.geometry().depth, store_scales);
  const BlockedMatmul multiply(types, operands.geometry(), of_sums, epilogue, sums_store);
  const std::int64_t batch_count = operands.batch_count();

  // Products of a batch are shared out whole where they are many or small, else each by itself.
  const std::int64_t threads = context.thread_count();
  std::int64_t slices = 1;
  std::int64_t workers = 1;
  if (threads > 1 && batch_count > 1 &&
      (batch_count >= kManyProducts * threads || multiply.work() < kWorthSharingWork)) {
    slices = std::clamp<std::int64_t>(product_or_most(multiply.work(), batch_count) / kSliceWork, 1,
                                      batch_count);
    workers = std::min(threads, slices);
  }
  const std::int64_t b_bytes = whole_lines(multiply.b_bytes());
  const std::int64_t sums_bytes = whole_lines(multiply.sums_bytes());
  const Scratch b_buffers(workers, b_bytes + sums_bytes);
  const ThreadBuffers a_buffers(workers == 1 ? threads : workers, multiply.a_bytes());
  if (!scalars.has_beta) {
    const std::int64_t dense_bytes = dense_count(out.view) * types.out_bytes;
    touch_fresh_pages(context, writable(out), dense_bytes);
  }
  const auto run_slice = [&](const Context& inner, std::int64_t worker, std::int64_t first,
                             std::int64_t last) noexcept {
    Byte* const shared = b_buffers.data() + worker * (b_bytes + sums_bytes);
    const BlockedMatmul::Buffers buffers = {shared, shared + b_bytes, a_buffers, worker};
    for (std::int64_t i = first; i < last; ++i) operands.run(multiply, inner, buffers, i);
  };
  if (workers == 1) {
    run_slice(context, 0, 0, batch_count);
  } else {
    Tickets tickets(slices);
    for_each_slice(
        context, workers,
        [&](std::int64_t worker) noexcept {
          for (std::int64_t slice = tickets.take(); slice >= 0; slice = tickets.take()) {
            run_slice(kDefaultContext, worker, slice_begin(batch_count, slices, slice),
                      slice_begin(batch_count, slices, slice + 1));
          }
        },
        Wake::kAtOnce);
  }
  return read_bytes;
}

void matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a, const tnr_view& b,
            const tnr_scalar& beta, const tnr_view_mut& out,
            const tnr_matmul_attributes& attributes) {
  if (attributes.bias == nullptr && attributes.activation == 0 && attributes.flags == 0 &&
      multiply_directly(context, alpha, a, b, beta, out)) {
    return;
  }
  const std::uint64_t read = multiply(context, alpha, a, b, nullptr, beta, out, attributes);
  count_product(TNR_OPERATION_MATMUL, out.view, read, element_bytes(b));
}

void factor_matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                   const PackedFactor& b, const tnr_scalar& beta, const tnr_view_mut& out,
                   const tnr_matmul_attributes& attributes) {
  require_dtype(a, "a", b.info().a_dtype, "b was packed for a left factor of");
  const std::uint64_t read = multiply(context, alpha, a, b.view(), &b, beta, out, attributes);
  count_product(TNR_OPERATION_FACTOR_MATMUL, out.view, read, b.info().size_bytes);
}

void factor_matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                   FactorToken b, const tnr_scalar& beta, const tnr_view_mut& out,
                   const tnr_matmul_attributes& attributes) {
  const FactorHandles::Use factor(kFactorHandles, b);
  factor_matmul(context, alpha, a, factor.object(), beta, out, attributes);
}

}  // namespace tenure
