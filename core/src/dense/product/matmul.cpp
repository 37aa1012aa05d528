// Products of dense matrices: the operands of a call, and batches of them.
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <complex>
#include <cstring>
#include <optional>
#include <variant>

#include "base/arithmetic.hpp"
#include "dense/loops/nest.hpp"
#include "dense/movement.hpp"
#include "dense/product/blocked_matmul.hpp"
#include "dense/product/direct_matmul.hpp"
#include "dense/product/matmul.hpp"
#include "dense/product/matmul_operands.hpp"
#include "dense/product/narrow_sums.hpp"
#include "dense/product/packed_factor.hpp"
#include "engine/onednn.hpp"
#include "memory/fresh_pages.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/engine.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Products of a batch for each thread, from which on a thread that takes one more is no matter.
constexpr std::int64_t kManyProducts = 4;

// Sums of complex elements that are not adjacent, or with scalars that are not real. Kernels apply
// real scalars themselves, to each of the sums that are added up.
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

// ---- scalars ----

// Returns the scalars that the kernels apply. Where the store applies the call's scalars, these are
// an alpha of 1 and no beta.
BlockedMatmul::Scalars scalars_of_sums(const MatmulScalars& scalars, const FactorDtype& dtype,
                                       std::int64_t depth, bool store_scales) {
  BlockedMatmul::Scalars of_sums = {};
  // Only blocks of depths after the first one are added to the call's own sums, by a factor of 1.
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
  const auto product = operands.for_engines(scalars);
  if (!product) return false;
  engines::ProductMemory memory = operands.first();
  if (bias != nullptr) memory.bias = bias->data;
  if (!onednn::run({engine, context.thread_count()}, *product, memory)) return false;
  // Not oneDNN's own, whose maximum of NaN and 0 is 0.
  epilogue.run_behind(context, out);
  return true;
}

// Counts a call, with no bytes where the output is empty.
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
  const std::int64_t shared_bytes = whole_lines(multiply.shared_bytes());
  const std::int64_t sums_bytes = whole_lines(multiply.sums_bytes());
  const Scratch shared_buffers(workers, shared_bytes + sums_bytes);
  const ThreadBuffers thread_buffers(workers == 1 ? threads : workers, multiply.thread_bytes());
  if (!scalars.has_beta) {
    const std::int64_t dense_bytes = dense_count(out.view) * types.out_bytes;
    touch_fresh_pages(context, writable(out), dense_bytes);
  }
  const auto run_slice = [&](const Context& inner, std::int64_t worker, std::int64_t first,
                             std::int64_t last) noexcept {
    Byte* const shared = shared_buffers.data() + worker * (shared_bytes + sums_bytes);
    const BlockedMatmul::Buffers buffers = {shared, shared + shared_bytes, thread_buffers, worker};
    operands.run(multiply, inner, buffers, first, last);
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
        wake_for(product_or_most(multiply.work(), batch_count)));
  }
  return read_bytes;
}

void matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a, const tnr_view& b,
            const tnr_scalar& beta, const tnr_view_mut& out,
            const tnr_matmul_attributes& attributes) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out")
        .enqueue(DeviceMatmul{alpha, a, b, beta, out, attributes});
  if (attributes.bias == nullptr && attributes.activation == 0 && attributes.flags == 0 &&
      attributes.low == 0 && attributes.high == 0 &&
      multiply_directly(context, alpha, a, b, beta, out)) {
    return;
  }
  const std::uint64_t read = multiply(context, alpha, a, b, nullptr, beta, out, attributes);
  count_product(TNR_OPERATION_MATMUL, out.view, read, element_bytes(b));
}

void factor_matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                   const PackedFactor& b, const tnr_scalar& beta, const tnr_view_mut& out,
                   const tnr_matmul_attributes& attributes) {
  if (b.has_groups()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "b has weights of 4 bits, which only tnr_factor_quantized_matmul takes");
  }
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
