// Derivatives of operations on images.
#include "program/rewrites/derivation.hpp"
#include "program/rewrites/derivatives.hpp"

namespace tenure {

// (a - mean) / sqrt(variance + eps) of each channel, times a weight, plus a bias.
void derive_batch_norm(Derivation& at) {
  enum : std::size_t { kImages, kMean, kVariance, kWeight, kBias };
  constexpr std::uint32_t kOthers = 1 | 4 | 8;
  const Term a = widened(at.operand(kImages));
  const Term g = widened(at.gradient());
  const std::vector<std::int64_t> channels = {1, at.terms().numbers_of(at.operand(kVariance))[0], 1,
                                              1};
  const auto of_channels = [&](std::size_t i) {
    return reshape(cast(at.operand(i), a.dtype()), channels);
  };
  const auto give_sum = [&](std::size_t i, Term of) {
    if (!at.wants(i)) return;
    at.give(i, reshape(reduce_kept(kernels::Reduce::kSum, of, kOthers), {channels[1]}));
  };
  const Term scale =
      unary(kernels::Unary::kRsqrt, of_channels(kVariance) + at.node().attributes.batch_norm.eps);
  const Term difference = at.has(kMean) ? a - of_channels(kMean) : a;
  const Term weighted = at.has(kWeight) ? g * of_channels(kWeight) : g;
  if (at.wants(kImages)) at.give(kImages, weighted * scale);
  if (at.wants(kMean)) give_sum(kMean, -(weighted * scale));
  if (at.wants(kVariance)) {
    give_sum(kVariance, weighted * difference * (scale * scale * scale * -0.5));
  }
  if (at.wants(kWeight)) give_sum(kWeight, g * difference * scale);
  if (at.wants(kBias)) give_sum(kBias, g);
}

}  // namespace tenure
