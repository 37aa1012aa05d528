// The loops of logsumexp: those that softmax adds powers by. An accumulator is the logarithm in f64
// of a sum, so that sums that no f64 can hold meet as others do.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cpu/dispatch.hpp"
#include "dense/reduce/power_sum.hpp"
#include "dense/reduce/walk.hpp"
#include "memory/traffic.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::PowerSum;
using kernels::Reduction;
using kernels::Tile;

constexpr double kNothing = -std::numeric_limits<double>::infinity();

double load(const Byte* from) noexcept {
  double number;
  std::memcpy(&number, from, sizeof number);
  return number;
}
void store(Byte* to, double number) noexcept { std::memcpy(to, &number, sizeof number); }

// ln(e^a + e^b).
double sum_of_logarithms(double a, double b) noexcept {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  const double greater = std::max(a, b);
  if (std::isinf(greater)) return greater;
  return greater + std::log1p(std::exp(std::min(a, b) - greater));
}

// Plus infinity is its own logarithm, where powers have no distance from it.
double logarithm_of_powers(const PowerSum& powers) noexcept {
  return std::isinf(powers.greatest) ? powers.greatest : powers.greatest + logarithm_of(powers);
}

template <class T>
bool has_nan(const Byte* in, std::int64_t count) noexcept {
  return std::any_of(reinterpret_cast<const T*>(in), reinterpret_cast<const T*>(in) + count,
                     [](T x) { return std::isnan(x); });
}

template <unsigned type>
void along(const Reduction& reduction, const Tile& tile) {
  alignas(kLineBytes) Byte panel[kernels::kFetchedBytes];
  const bool in_place = tile.row_step == tile.step_in_place;
  const std::int64_t most = kernels::kFetchedBytes / reduction.in_bytes;
  using T = std::conditional_t<type == 0, double, float>;
  PowerSum powers;
  bool is_nan = false;
  for (std::int64_t row = 0; row < tile.rows; row += most) {
    const std::int64_t count = std::min(most, tile.rows - row);
    const Byte* in = tile.in + row * tile.row_step;
    if (!in_place) {
      tile.fetch->run(*tile.fetch, in, tile.row_step, count, panel);
      in = panel;
    }
    kernels::normalize_kernels()[type].add_powers(in, count, powers, nullptr);
    // So is the sum where an element is plus infinity.
    if (std::isnan(powers.rest)) is_nan = is_nan || has_nan<T>(in, count);
  }
  store(tile.accumulators,
        sum_of_logarithms(load(tile.accumulators), is_nan ? std::numeric_limits<double>::quiet_NaN()
                                                          : logarithm_of_powers(powers)));
}

// One column after the other: the rows of a tile stay in the caches.
template <unsigned type>
void across(const Reduction& reduction, const Tile& tile) {
  Tile column = tile;
  column.columns = 1;
  for (std::int64_t i = 0; i < tile.columns; ++i) {
    along<type>(reduction, column);
    column.in += tile.column_step;
    column.accumulators += sizeof(double);
  }
}

void merge_logarithms(const Reduction&, const kernels::Merge& merge) {
  for (std::int64_t i = 0; i < merge.columns * 8; i += 8) {
    store(merge.into + i, sum_of_logarithms(load(merge.into + i), load(merge.from + i)));
  }
}

}  // namespace

Reduction logsumexp_reduction(unsigned type) noexcept {
  constexpr auto kF64 = static_cast<unsigned>(kernels::Type::kF64);
  constexpr auto kF32 = static_cast<unsigned>(kernels::Type::kF32);
  // Means read elements as f64 or f32.
  Reduction reduction = kernels::reduce_kernels()[TNR_REDUCE_OP_MEAN - 1].by_type[type];
  reduction.finish = kernels::Finish::kAsIs;
  reduction.accumulator_bytes = sizeof(double);
  reduction.extremes = kernels::Extremes::kStay;
  reduction.finished = kernels::Type::kF64;
  reduction.start = std::bit_cast<std::uint64_t>(kNothing);
  reduction.along = type == kF64 ? along<kF64> : along<kF32>;
  reduction.across = type == kF64 ? across<kF64> : across<kF32>;
  reduction.merge = merge_logarithms;
  reduction.spread = nullptr;
  return reduction;
}

}  // namespace tenure
