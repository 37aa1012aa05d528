// Derivatives of operations on images.
#include "program/rewrites/derivation.hpp"
#include "program/rewrites/derivatives.hpp"

namespace tenure {
namespace {

constexpr std::uint32_t kImagesAndPositions = 1 | 4 | 8;

void remove_epilogue(NodeAttributes& attributes) {
  attributes.conv2d.activation = 0;
  attributes.conv2d.flags = 0;
  attributes.conv2d.low = attributes.conv2d.high = 0;
}

// Attributes of a convolution without an epilogue.
NodeAttributes windows_of(const Derivation& at) {
  NodeAttributes attributes = at.node().attributes;
  remove_epilogue(attributes);
  return attributes;
}

// The gradient of the sums, of the images' dtype. Gives that of the bias.
Term gradient_of_sums(Derivation& at) {
  const tnr_conv2d_attributes attributes = at.node().attributes.conv2d;
  const Activated activated = {attributes.activation, (attributes.flags & TNR_EPILOGUE_CLAMP) != 0,
                               attributes.low, attributes.high};
  const Term gradient = activated_gradient(at, activated, remove_epilogue);
  if (at.wants(2)) {
    const Term sum = reduce_kept(kernels::Reduce::kSum, widened(gradient), kImagesAndPositions);
    at.give(2, reshape(sum, at.terms().numbers_of(at.operand(2))));
  }
  return cast(gradient, at.operand(0).dtype());
}

// Images of the extents of `like`, from which a convolution by the filters gives `g`.
Term transposed_convolution(Derivation& at, Term g, Term filters, Term like) {
  const NodeAttributes attributes = windows_of(at);
  const std::vector<std::int64_t> shape = at.terms().numbers_of(like);
  return at.terms().node(TNR_NODE_CONV2D_TRANSPOSED, {.operands = {g.value(), filters.value()},
                                                      .numbers = {shape[2], shape[3]},
                                                      .attributes = &attributes});
}

// The convolution at as many positions as `like` has: a transposed one may leave out the last ones.
Term convolution(Derivation& at, Term a, Term filters, Term like) {
  const NodeAttributes attributes = windows_of(at);
  Term result = at.terms().node(
      TNR_NODE_CONV2D, {.operands = {a.value(), filters.value()}, .attributes = &attributes});
  for (const std::uint32_t axis : {2u, 3u}) {
    if (result.type().shape[axis] == like.type().shape[axis]) continue;
    result = slice(result, axis, 0, at.terms().numbers_of(like)[axis]);
  }
  return result;
}

Term filters_gradient(Derivation& at, Term a, Term g, Term like) {
  const NodeAttributes attributes = windows_of(at);
  const std::vector<std::int64_t> shape = at.terms().numbers_of(like);
  return at.terms().node(TNR_NODE_CONV2D_FILTERS, {.operands = {a.value(), g.value()},
                                                   .numbers = {shape[2], shape[3]},
                                                   .attributes = &attributes});
}

}  // namespace

void derive_conv2d(Derivation& at) {
  const Term g = gradient_of_sums(at);
  const Term a = at.operand(0);
  const Term filters = at.operand(1);
  if (at.wants(0)) at.give(0, transposed_convolution(at, g, filters, a));
  if (at.wants(1)) at.give(1, filters_gradient(at, a, g, filters));
}

void derive_conv2d_transposed(Derivation& at) {
  const Term g = gradient_of_sums(at);
  const Term a = at.operand(0);
  const Term filters = at.operand(1);
  if (at.wants(0)) at.give(0, convolution(at, g, filters, a));
  if (at.wants(1)) at.give(1, filters_gradient(at, g, a, filters));
}

void derive_conv2d_filters(Derivation& at) {
  const Term a = at.operand(0);
  const Term g = at.operand(1);
  if (at.wants(0)) at.give(0, transposed_convolution(at, g, at.gradient(), a));
  if (at.wants(1)) at.give(1, convolution(at, a, at.gradient(), g));
}

void derive_pool2d(Derivation& at) {
  const NodeAttributes attributes = at.node().attributes;
  const auto code = TNR_NODE_POOL2D_GRADIENT + static_cast<std::uint32_t>(at.node().op());
  at.give(0, at.terms().node(code, {.operands = {at.operand(0).value(), at.gradient().value()},
                                    .attributes = &attributes}));
}

// The elements that are maxima do not change with the images.
void derive_pool2d_gradient(Derivation& at) {
  if (!at.wants(1)) return;
  if (at.node().op() == TNR_REDUCE_OP_MAX) at.refuse("its derivative for MAX is not written yet");
  const NodeAttributes attributes = at.node().attributes;
  std::vector<std::int64_t> numbers;
  if ((attributes.pool2d.flags & TNR_POOL2D_ADAPTIVE) != 0) {
    const std::vector<std::int64_t> shape = at.terms().numbers_of(at.operand(1));
    numbers = {shape[2], shape[3]};
  }
  at.give(
      1, at.terms().node(
             TNR_NODE_POOL2D + TNR_REDUCE_OP_MEAN,
             {.operands = {at.gradient().value()}, .numbers = numbers, .attributes = &attributes}));
}

// (a - mean) / sqrt(variance + eps) of each channel, times a weight, plus a bias.
void derive_batch_norm(Derivation& at) {
  enum : std::size_t { kImages, kMean, kVariance, kWeight, kBias };
  const Term a = widened(at.operand(kImages));
  const Term g = widened(at.gradient());
  const std::vector<std::int64_t> channels = {1, at.terms().numbers_of(at.operand(kVariance))[0], 1,
                                              1};
  const auto of_channels = [&](std::size_t i) {
    return reshape(cast(at.operand(i), a.dtype()), channels);
  };
  const auto give_sum = [&](std::size_t i, Term of) {
    if (!at.wants(i)) return;
    at.give(i, reshape(reduce_kept(kernels::Reduce::kSum, of, kImagesAndPositions), {channels[1]}));
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
