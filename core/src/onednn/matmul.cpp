// Products of matrices that oneDNN takes as they lie.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "memory/scratch.hpp"
#include "onednn/library.hpp"

namespace tenure::onednn {
namespace {

std::optional<dnnl_data_type_t> type_of(tnr_dtype dtype) noexcept {
  switch (dtype) {
    case TNR_DTYPE_F32: return dnnl_f32;
    case TNR_DTYPE_BF16: return dnnl_bf16;
    case TNR_DTYPE_F16: return dnnl_f16;
    case TNR_DTYPE_I8: return dnnl_s8;
    case TNR_DTYPE_U8: return dnnl_u8;
    case TNR_DTYPE_I32: return dnnl_s32;
    default: return std::nullopt;
  }
}

// ---- what pays ----

// Sums of bytes are exact with instructions that add four products at once to 32 bits. Older
// instructions saturate pairs of products at 16 bits.
bool has_exact_bytes() noexcept {
  const int set = static_cast<int>(dnnl_get_effective_cpu_isa());
  const auto has = [&](int wanted) { return (set & wanted) == wanted; };
  return has(dnnl_cpu_isa_avx512_core_vnni) || has(dnnl_cpu_isa_avx2_vnni);
}

// From where on the engine `auto` gives products to oneDNN: the side of a cube of as much work, and
// the least of rows, columns and depth. Measured on one thread (AMD EPYC, family 25, model 17; oneDNN
// 3.2), of its time: own f32 kernels take 0.9 at 64 cubed, 1.5 at 128 and 256, 1.0 from 512 on and
// 0.5 of 8 rows by 2048 squared; bf16 0.9 at 32 cubed and 1.4 at 64; bytes 1.0 and 1.3, and 2.6 of
// 8 rows by 2048 squared.
struct Payoff {
  tnr_dtype dtype;
  double cube;
  std::int64_t side;
};
constexpr Payoff kPayoffs[] = {
    {TNR_DTYPE_F32, 96, 16}, {TNR_DTYPE_BF16, 48, 8}, {TNR_DTYPE_I8, 48, 8}, {TNR_DTYPE_U8, 48, 8}};

bool pays(const Product& product) noexcept {
  for (const Payoff& payoff : kPayoffs) {
    if (product.a.dtype != payoff.dtype) continue;
    const double work = static_cast<double>(product.rows) * static_cast<double>(product.columns) *
                        static_cast<double>(product.depth);
    return std::min({product.rows, product.columns, product.depth}) >= payoff.side &&
           work >= payoff.cube * payoff.cube * payoff.cube;
  }
  return false;
}

// ---- as it lies ----

// Nothing where oneDNN takes none such.
std::optional<engines::PlainProduct> plain(const Product& given) noexcept {
  if (given.out.dtype == TNR_DTYPE_I32 &&
      (given.alpha != 1 || given.beta != 0 || given.has_bias || !has_exact_bytes())) {
    return std::nullopt;  // oneDNN scales sums of whole numbers as f32
  }
  // oneDNN adds the bias before it scales.
  if (given.has_bias && given.alpha != 1) return std::nullopt;
  return engines::plain_product(given, kMostElements);
}

// ---- compiled ----

Layout layout_of(const Product& p, const Product::Matrix& matrix, std::int64_t rows,
                 std::int64_t columns) {
  const auto type = type_of(matrix.dtype);
  if (!type) return {};
  if (p.batch_count == 1) {
    const std::int64_t extents[] = {rows, columns};
    const std::int64_t steps[] = {matrix.row_step, matrix.column_step};
    return strided_layout(*type, extents, steps);
  }
  const bool repeats = matrix.batch_step == 0;
  const std::int64_t extents[] = {repeats ? 1 : p.batch_count, rows, columns};
  const std::int64_t steps[] = {
      repeats ? rows * matrix.row_step + columns * matrix.column_step : matrix.batch_step,
      matrix.row_step, matrix.column_step};
  return strided_layout(*type, extents, steps);
}

Attributes attributes_of(const Product& p) {
  Attributes attributes = strict_attributes();
  if (p.alpha == 1 && p.beta == 0) return attributes;
  PostOps steps;
  require_success(dnnl_post_ops_create(steps.to_make()), "dnnl_post_ops_create");
  if (p.alpha != 1) {
    require_success(dnnl_post_ops_append_eltwise(steps.get(), dnnl_eltwise_linear,
                                                 static_cast<float>(p.alpha), 0),
                    "dnnl_post_ops_append_eltwise");
  }
  if (p.beta != 0) {
    require_success(
        dnnl_post_ops_append_sum(steps.get(), static_cast<float>(p.beta), 0, dnnl_data_type_undef),
        "dnnl_post_ops_append_sum");
  }
  require_success(dnnl_primitive_attr_set_post_ops(attributes.get(), steps.get()),
                  "dnnl_primitive_attr_set_post_ops");
  return attributes;
}

Compiled compile(const Product& p, dnnl_engine_t engine) {
  const Layout a = layout_of(p, p.a, p.rows, p.depth);
  const Layout b = layout_of(p, p.b, p.depth, p.columns);
  const Layout out = layout_of(p, p.out, p.rows, p.columns);
  Layout bias;
  if (p.has_bias) {
    Product::Matrix row = {p.out.dtype, 0, p.columns, 1};
    bias = layout_of(p, row, 1, p.columns);
  }
  if (a.get() == nullptr || b.get() == nullptr || out.get() == nullptr) return {};
  const Attributes attributes = attributes_of(p);
  Description description;
  const dnnl_status_t status = dnnl_matmul_primitive_desc_create(
      description.to_make(), engine, a.get(), b.get(), bias.get(), out.get(), attributes.get());
  if (!is_possible(status, "dnnl_matmul_primitive_desc_create") ||
      Primitive::is_reference(description)) {
    return {};
  }
  constexpr int kArguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS};
  const std::span<const int> arguments(kArguments, p.has_bias ? 4 : 3);
  return {Primitive(description, arguments, engine), Primitive(), 0};
}

Key key_of(const Product& p) noexcept {
  Key key;
  key.add(p.batch_count);
  key.add(p.rows);
  key.add(p.columns);
  key.add(p.depth);
  for (const Product::Matrix& matrix : {p.a, p.b, p.out}) {
    key.add(static_cast<std::int64_t>(matrix.dtype));
    key.add(matrix.batch_step);
    key.add(matrix.row_step);
    key.add(matrix.column_step);
  }
  key.add(std::bit_cast<std::int64_t>(p.alpha));
  key.add(std::bit_cast<std::int64_t>(p.beta));
  key.add(p.has_bias ? 1 : 0);
  return key;
}

}  // namespace

bool run(const EngineChoice& call, const Product& given, const ProductMemory& memory) {
  if (call.engine == TNR_ENGINE_AUTO && (version() == nullptr || !pays(given))) return false;
  const std::optional<engines::PlainProduct> taken = plain(given);
  if (!taken) return false;
  const Product& p = taken->product;
  Entry entry(call.thread_count);
  const Compiled& compiled =
      entry.compiled(key_of(p), [&](dnnl_engine_t engine) { return compile(p, engine); });
  if (!compiled.product.is_there()) return false;
  const Scratch scratch(compiled.product.scratch_bytes());
  const ProductMemory at = engines::plain_memory(*taken, memory);
  // oneDNN reads these operands, and writes only the third.
  void* const addresses[] = {const_cast<void*>(at.a), const_cast<void*>(at.b), at.out,
                             const_cast<void*>(at.bias)};
  compiled.product.run(entry.stream(), {addresses, p.has_bias ? std::size_t{4} : std::size_t{3}},
                       scratch.data());
  return true;
}

}  // namespace tenure::onednn
