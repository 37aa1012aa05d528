// The derivative of one node, and the terms for writing it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/operations.hpp"
#include "program/builder.hpp"
#include "program/rewrites/symbolic_shapes.hpp"

namespace tenure {

class Terms;

// A value of the graph in a derivative. Operators add nodes, whose operands broadcast. A number
// takes the dtype of the other operand.
class Term {
 public:
  Term(Terms& terms, std::uint32_t value) noexcept : terms_(&terms), value_(value) {}

  [[nodiscard]] Terms& terms() const noexcept { return *terms_; }
  [[nodiscard]] std::uint32_t value() const noexcept { return value_; }
  [[nodiscard]] const ArrayType& type() const;
  [[nodiscard]] tnr_dtype dtype() const { return type().dtype; }
  [[nodiscard]] std::uint32_t rank() const { return type().rank; }

 private:
  Terms* terms_;
  std::uint32_t value_;
};

// Adds the nodes of derivatives to a graph.
class Terms {
 public:
  explicit Terms(GraphBuilder& builder)
      : builder_(builder), shapes_(builder.graph(), builder.types()) {}
  // For a body in the graph of `around`.
  Terms(GraphBuilder& builder, Terms& around)
      : builder_(builder), shapes_(builder.graph(), builder.types(), around.shapes_) {}
  Terms(const Terms&) = delete;
  Terms& operator=(const Terms&) = delete;

  [[nodiscard]] const Graph& graph() const noexcept { return builder_.graph(); }
  [[nodiscard]] const ArrayType& type_of(std::uint32_t value) const {
    return builder_.types()[value];
  }
  [[nodiscard]] SymbolicShapes& shapes() noexcept { return shapes_; }
  [[nodiscard]] GraphBuilder& builder() noexcept { return builder_; }

  struct NodeParts {
    std::vector<std::uint32_t> operands;
    std::vector<std::int64_t> numbers = {};
    std::uint32_t flags = 0;
    tnr_dtype dtype = 0;
    const NodeAttributes* attributes = nullptr;
  };
  Term node(std::uint32_t code, const NodeParts& parts);
  Term term(std::uint32_t value) noexcept { return {*this, value}; }

  // A number that is an operand of element-wise nodes only.
  Term scalar(double number);
  // Arrays of rank 0.
  Term constant(double number, tnr_dtype dtype);
  Term constant(const tnr_scalar& scalar, tnr_dtype dtype);
  // Indices of an axis: 0, 1, ... as i64.
  Term count_up(std::int64_t extent);

  // The shape of a value as numbers of the graph. Throws UNSUPPORTED where an extent of it is not
  // known before a run.
  std::vector<std::int64_t> numbers_of(Term a);
  // Whether the value has surely that shape.
  bool has_shape(Term a, const std::vector<std::int64_t>& numbers) {
    return std::ranges::equal(shapes_.of(a.value()), numbers, {},
                              [&](std::int64_t extent) { return number_of(extent); });
  }
  // The number that an extent is, or an unknown one.
  std::int64_t number_of(std::int64_t extent);
  // Arithmetic on numbers.
  std::int64_t combine(tnr_extent_op op, std::int64_t a, std::int64_t b);
  std::int64_t product(const std::vector<std::int64_t>& numbers);
  // The number as an array of rank 0 of the dtype.
  Term as_array(std::int64_t number, tnr_dtype dtype);

 private:
  GraphBuilder& builder_;
  SymbolicShapes shapes_;
};

inline const ArrayType& Term::type() const { return terms_->type_of(value_); }

// ---- element-wise ----
Term unary(kernels::Unary op, Term a);
Term binary(kernels::Binary op, Term a, Term b);
Term compare(kernels::Compare op, Term a, Term b);
inline Term exp(Term a) { return unary(kernels::Unary::kExp, a); }
inline Term sqrt(Term a) { return unary(kernels::Unary::kSqrt, a); }
inline Term abs(Term a) { return unary(kernels::Unary::kAbs, a); }
inline Term is_nan(Term a) { return unary(kernels::Unary::kIsNan, a); }
Term select(Term condition, Term a, Term b);
// The operand itself where it has the dtype.
Term cast(Term a, tnr_dtype dtype);

Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b);
Term operator-(Term a);
Term operator+(Term a, double b);
Term operator-(Term a, double b);
Term operator-(double a, Term b);
Term operator*(Term a, double b);
Term operator/(Term a, double b);
Term operator<(Term a, Term b);
Term operator<=(Term a, Term b);
Term operator<(Term a, double b);
Term operator<=(Term a, double b);
Term operator==(Term a, Term b);
Term operator==(Term a, double b);
// Logical operations on truth values.
Term operator||(Term a, Term b);
Term operator&&(Term a, Term b);
Term select(Term condition, Term a, double b);
Term select(Term condition, double a, Term b);

// ---- shapes ----
Term reshape(Term a, std::vector<std::int64_t> numbers);
Term permute(Term a, std::vector<std::int64_t> axes);
// The axes of the opposite permutation.
std::vector<std::int64_t> inverse_of(const std::vector<std::int64_t>& axes);
Term broadcast(Term a, std::vector<std::int64_t> numbers);
// Reshapes to the shape of `like` with extent 1 along the axes.
Term reshape_with_ones(Term a, Term like, std::uint32_t axes);
// The operand itself where it surely has that shape.
Term broadcast_like(Term a, Term like);
Term sum_to(Term a, Term like);
Term slice(Term a, std::uint32_t axis, std::int64_t start, std::int64_t stop,
           std::int64_t step = 1);
// The first element of `a` is at `before` of each axis of the result, whose shape is `numbers`.
struct Padding {
  std::vector<std::int64_t> numbers;
  const std::int64_t* before;
  double fill = 0;
  std::int32_t mode = TNR_PAD_MODE_CONSTANT;
};
Term pad(Term a, const Padding& padding);
// The elements of an axis in the opposite order.
Term flipped(Term a, std::uint32_t axis);
Term zeros_like(Term like);
Term ones_like(Term like);
// Swaps the last two axes.
Term transposed(Term a);

// Axes of an array in another order: those that are kept, then the others as one.
struct Rows {
  Rows(Term of, std::uint32_t axes);

  [[nodiscard]] std::uint32_t last() const { return static_cast<std::uint32_t>(merged.size() - 1); }
  // An array of the same axes in this order, and one of this order in the first one.
  [[nodiscard]] Term from(Term a) const;
  [[nodiscard]] Term back(Term rows) const;

  std::vector<std::int64_t> order;
  std::vector<std::int64_t> moved;   // the extents in this order
  std::vector<std::int64_t> merged;  // with the axes behind the kept ones as one
};

// ---- calls ----
// The reduced axes stay, of extent 1.
Term reduce_kept(kernels::Reduce op, Term a, std::uint32_t axes);
Term scan(kernels::Scan op, Term a, std::uint32_t axis);
Term matmul(Term a, Term b);
Term gather(Term a, Term indices, std::uint32_t axis);
Term take(Term a, Term indices, std::uint32_t axis);
// Adds the values to `a` at the indices along the axis, as PUT and SCATTER do.
Term put_add(Term a, Term values, Term indices, std::uint32_t axis);
Term scatter_add(Term a, Term values, Term indices, std::uint32_t axis);

// f32 for narrower floats, in which sums and squares of them would lose digits.
tnr_dtype wide_dtype(tnr_dtype dtype) noexcept;
inline Term widened(Term a) { return cast(a, wide_dtype(a.dtype())); }
// The complex conjugate; of other values themselves.
Term conjugate(Term a);

// Reads the attributes of a node of a graph.
NodeAttributes copied_attributes(AttributeKind kind, const void* given);

// A node to differentiate, and the gradients of its results.
class Derivation {
 public:
  // `wanted`: by value, whether the derivative gives its gradient.
  Derivation(Terms& terms, std::uint32_t index, std::vector<std::uint32_t> gradients,
             const std::vector<bool>& wanted);

  [[nodiscard]] const GraphNode& node() const noexcept { return node_; }
  [[nodiscard]] Terms& terms() const noexcept { return terms_; }
  [[nodiscard]] bool has(std::size_t i) const noexcept {
    return i < node_.operands.size() && node_.operands[i] != kNoValue;
  }
  // Whether the derivative gives the gradient of an operand.
  [[nodiscard]] bool wants(std::size_t i) const noexcept {
    return has(i) && wanted_[node_.operands[i]];
  }
  // An array: a scalar is one of rank 0 and of the result's dtype.
  [[nodiscard]] Term operand(std::size_t i) const;
  [[nodiscard]] Term result() const noexcept { return terms_.term(node_.result); }
  // The gradient of the first result.
  [[nodiscard]] Term gradient() const noexcept { return terms_.term(gradients_.front()); }
  // By result; kNoValue where nothing leads from it.
  [[nodiscard]] const std::vector<std::uint32_t>& gradients() const noexcept { return gradients_; }

  // Gives a part of an operand's gradient. Sums it over the axes along which the operand repeats,
  // and rounds it to the dtype of the operand.
  void give(std::size_t i, Term part);

  struct Given {
    std::uint32_t value;
    std::uint32_t part;
  };
  [[nodiscard]] const std::vector<Given>& given() const noexcept { return given_; }

  // Throws UNSUPPORTED, naming the node.
  [[noreturn]] void refuse(const char* why) const;
  // Throws the error, naming the node.
  [[noreturn]] void refuse(const Error& error) const;

 private:
  Terms& terms_;
  GraphNode node_;  // a copy: nodes move when others are added
  std::vector<std::uint32_t> gradients_;
  const std::vector<bool>& wanted_;
  std::vector<Given> given_;
};

// The gradient of x by a unary operation with the result `y`, whose gradient is g. None where it is 0
// everywhere.
std::optional<Term> unary_gradient(Derivation& at, kernels::Unary op, Term x, Term y, Term g);

// The epilogue of a product or a convolution: an activation, or 0, and bounds.
struct Activated {
  tnr_unary_op activation;
  bool is_bounded;
  double low;
  double high;
};
// The gradient of the sums of the node. `make_plain` removes the activation and the bounds from
// attributes: sums that the derivative reads are computed again.
Term activated_gradient(Derivation& at, const Activated& activated,
                        void (*make_plain)(NodeAttributes& attributes));

}  // namespace tenure
