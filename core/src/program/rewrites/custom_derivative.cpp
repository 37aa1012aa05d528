// Derivatives of custom operations: their own functions, which add nodes through a handle.
#include <cinttypes>
#include <memory>

#include "program/custom.hpp"
#include "program/rewrites/derivation.hpp"
#include "program/rewrites/derivatives.hpp"
#include "program/rewrites/gradients.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"

namespace tenure {
namespace {

// A handle of a graph that is being differentiated, while a custom operation adds nodes to it.
class Opened {
 public:
  explicit Opened(GraphBuilder& builder) : builder_(builder), token_(open()), use_(kGraphHandles) {
    require_none(use_.begin(token_));
    std::swap(use_.object().builder, builder_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (is_open_) close();
  }

  [[nodiscard]] GraphToken token() const noexcept { return token_; }

  // Ends the handle. Throws BUSY where another thread still uses it.
  void end() {
    {
      const BuilderLock lock(use_.object(), SharedBuilder::Use::kOwn);
      std::swap(use_.object().builder, builder_);
      is_open_ = false;
    }
    kGraphHandles.release(token_);
  }

 private:
  static GraphToken open() { return kGraphHandles.open(std::make_unique<const SharedBuilder>()); }
  // After a failure: the nodes are given up.
  void close() noexcept {
    try {
      kGraphHandles.release(token_);
    } catch (const Error&) {
      // The function has released it.
    }
  }

  GraphBuilder& builder_;
  GraphToken token_;
  GraphHandles::QuietUse use_;  // a pin: the function may have released the handle
  bool is_open_ = true;
};

void require_gradient(const Custom& custom, const Graph& graph, const Term& operand,
                      std::uint32_t gradient, std::size_t i) {
  if (gradient >= graph.values.size()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "derive of the custom operation %s gave value %" PRIu32
         " as the gradient of operand %zu, but the graph has %zu values",
         custom.name(), gradient, i, graph.values.size());
  }
  if (graph.scalar_of(gradient) != nullptr || !has_gradients(operand.dtype())) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "derive of the custom operation %s gave a %s to operand %zu%s", custom.name(),
         graph.scalar_of(gradient) != nullptr ? "scalar" : "gradient", i,
         has_gradients(operand.dtype()) ? "" : ", which has none");
  }
  const ArrayType& given = operand.terms().type_of(gradient);
  const ArrayType& type = operand.type();
  if (given == type) return;
  fail(
      TNR_STATUS_INVALID_ARGUMENT,
      "derive of the custom operation %s gave %s of shape %s as the gradient of operand %zu, which "
      "is %s of shape %s",
      custom.name(), dtype_name(given.dtype), shape_text(given.rank, given.shape).text, i,
      dtype_name(type.dtype), shape_text(type.rank, type.shape).text);
}

}  // namespace

void derive_custom(Derivation& at) {
  const GraphNode& node = at.node();
  const Custom& custom = *node.custom;
  Terms& terms = at.terms();
  if (!custom.has_derivative()) at.refuse("a custom operation without `derive`");
  const std::size_t input_count = terms.graph().inputs.size();
  const std::size_t output_count = terms.graph().outputs.size();
  std::vector<std::uint32_t> gradients(node.operands.size());
  try {
    Opened graph(terms.builder());
    custom.derive(graph.token(), node, node.numbers.data(), at.gradient().value(),
                  gradients.data());
    graph.end();
    if (terms.graph().inputs.size() != input_count ||
        terms.graph().outputs.size() != output_count) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "derive of the custom operation %s added an input or an output", custom.name());
    }
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (gradients[i] == kNoValue) continue;
      require_gradient(custom, terms.graph(), terms.term(node.operands[i]), gradients[i], i);
    }
  } catch (const Error& error) {
    at.refuse(error);
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i] != kNoValue && at.wants(i)) at.give(i, terms.term(gradients[i]));
  }
}

}  // namespace tenure
