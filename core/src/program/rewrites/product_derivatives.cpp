// Derivatives of products of dense arrays.
#include <cstdio>
#include <string>

#include "dense/einsum/spec.hpp"
#include "program/rewrites/derivation.hpp"
#include "program/rewrites/derivatives.hpp"
#include "program/unbacked.hpp"

namespace tenure {
namespace {

// A vector as a matrix with one row or column; a matrix is itself.
Term as_matrix(Term a, bool is_column) {
  if (a.rank() > 1) return a;
  const std::int64_t extent = a.terms().numbers_of(a)[0];
  return is_column ? reshape(a, {extent, 1}) : reshape(a, {1, extent});
}

// Rows of a batch of matrices as those of one matrix.
Term as_rows(Term a) {
  Terms& terms = a.terms();
  const std::vector<std::int64_t> shape = terms.numbers_of(a);
  return reshape(a, {terms.product({shape.begin(), shape.end() - 1}), shape.back()});
}

// The labels of an einsum as letters, those of "..." too.
class Letters {
 public:
  char of(unsigned label) {
    char& letter = letters_[label];
    if (letter == 0) {
      letter = static_cast<char>(count_ < 26 ? 'a' + count_ : 'A' + (count_ - 26));
      ++count_;
    }
    return letter;
  }
  std::string of(const std::uint8_t* labels, std::uint32_t count) {
    std::string text;
    for (std::uint32_t i = 0; i < count; ++i) text += of(labels[i]);
    return text;
  }
  [[nodiscard]] bool fit() const noexcept { return count_ <= EinsumSpec::kLetterCount; }

 private:
  char letters_[EinsumSpec::kLabelCount] = {};
  unsigned count_ = 0;
};

bool has(const std::string& text, char letter) { return text.find(letter) != std::string::npos; }

// The gradient of an operand of an einsum: that of the result times all other operands, summed to
// the operand's labels.
Term einsum_gradient(Derivation& at, std::size_t wanted, const std::vector<std::string>& labels,
                     const std::string& result) {
  Terms& terms = at.terms();
  const std::string& own = labels[wanted];
  const std::vector<std::int64_t> shape = terms.numbers_of(at.operand(wanted));
  std::vector<std::uint32_t> operands = {at.gradient().value()};
  std::string given = result;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i == wanted) continue;
    operands.push_back(conjugate(at.operand(i)).value());
    given += ',' + labels[i];
  }
  // Labels that only this operand has are summed: their elements have the same gradient. A label
  // that it has twice is a diagonal.
  std::string kept;
  std::vector<std::int64_t> spread;
  std::vector<std::int64_t> once;
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    const bool is_again = own.find(own[axis]) < axis;
    const bool is_given = has(given, own[axis]);
    if (!is_again && is_given) kept += own[axis];
    spread.push_back(is_again || !is_given ? 1 : 0);
    once.push_back(is_again ? 1 : shape[axis]);
  }
  NodeAttributes attributes = {};
  attributes.einsum.struct_size = sizeof attributes.einsum;
  const std::string spec = given + "->" + kept;
  if (spec.size() >= sizeof attributes.einsum.spec)
    at.refuse("the spec of its gradient is too long");
  spec.copy(attributes.einsum.spec, spec.size());
  const Term product =
      terms.node(TNR_NODE_EINSUM, {.operands = operands, .attributes = &attributes});
  // The operand's axes, with those that are missing of extent 1.
  std::vector<std::int64_t> numbers = terms.shapes().of(product.value());
  std::vector<std::int64_t> with_axes;
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    // An extent of 1 of this operand may be repeated in the others.
    with_axes.push_back(spread[axis] == 1 ? 1 : numbers[next++]);
    if (is_unknown(with_axes.back())) with_axes.back() = shape[axis];
  }
  Term part = reshape(product, with_axes);
  std::uint32_t repeated = 0;
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    if (spread[axis] == 0 && shape[axis] == 1) repeated |= 1u << axis;
  }
  if (repeated != 0) part = reduce_kept(kernels::Reduce::kSum, part, repeated);
  part = broadcast(part, once);
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    const std::size_t first = own.find(own[axis]);
    if (first == axis) continue;
    std::vector<std::int64_t> along_first(own.size(), 1);
    std::vector<std::int64_t> along_axis(own.size(), 1);
    along_first[first] = along_axis[axis] = shape[axis];
    const Term places = terms.count_up(shape[axis]);
    part = select(reshape(places, along_first) == reshape(places, along_axis), part, 0);
  }
  return part;
}

}  // namespace

void derive_matmul(Derivation& at) {
  Terms& terms = at.terms();
  const tnr_matmul_attributes attributes = at.node().attributes.matmul;
  const Activated activated = {attributes.activation, (attributes.flags & TNR_EPILOGUE_CLAMP) != 0,
                               attributes.low, attributes.high};
  const Term gradient = activated_gradient(at, activated, [](NodeAttributes& plain) {
    plain.matmul.activation = 0;
    plain.matmul.flags = 0;
    plain.matmul.low = plain.matmul.high = 0;
  });
  if (at.wants(2)) at.give(2, gradient);
  const Term a = as_matrix(at.operand(0), false);
  const Term b = as_matrix(at.operand(1), true);
  std::vector<std::int64_t> shape = terms.numbers_of(gradient);
  if (at.operand(0).rank() == 1) shape.insert(shape.end() - (at.operand(1).rank() > 1), 1);
  if (at.operand(1).rank() == 1) shape.push_back(1);
  const Term g = cast(reshape(gradient, shape), a.dtype());
  if (at.wants(0)) {
    Term part = matmul(g, transposed(conjugate(b)));
    if (at.operand(0).rank() == 1) part = sum_to(part, a);
    at.give(0, at.operand(0).rank() == 1 ? reshape(part, terms.numbers_of(at.operand(0))) : part);
  }
  if (!at.wants(1)) return;
  // A matrix that multiplies a batch: one product, over the rows of all.
  const bool is_shared = b.rank() == 2 && a.rank() > 2;
  const Term left = is_shared ? as_rows(a) : a;
  const Term right = is_shared ? as_rows(g) : g;
  Term part = matmul(transposed(conjugate(left)), right);
  if (at.operand(1).rank() == 1) part = sum_to(part, b);
  at.give(1, at.operand(1).rank() == 1 ? reshape(part, terms.numbers_of(at.operand(1))) : part);
}

void derive_einsum(Derivation& at) {
  const std::size_t count = at.node().operands.size();
  std::vector<tnr_view> views;
  views.reserve(count);
  for (std::size_t i = 0; i < count; ++i) views.push_back(unbacked_view(at.operand(i).type()));
  const tnr_einsum_node_attributes attributes = at.node().attributes.einsum;
  const EinsumSpec spec(attributes.spec, views.data(), static_cast<std::uint32_t>(count));
  Letters letters;
  const std::string result = letters.of(spec.result_labels(), spec.result_rank());
  std::vector<std::string> labels;
  labels.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(letters.of(spec.labels_of(static_cast<unsigned>(i)), views[i].rank));
  }
  if (!letters.fit()) at.refuse("it has more labels than there are letters");
  for (std::size_t i = 0; i < count; ++i) {
    if (at.wants(i)) at.give(i, einsum_gradient(at, i, labels, result));
  }
}

}  // namespace tenure
