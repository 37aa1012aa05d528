// Derivatives of control nodes: control nodes whose bodies compute the gradients of their bodies.
#include <algorithm>
#include <cinttypes>
#include <map>
#include <memory>
#include <optional>

#include "program/control.hpp"
#include "program/custom.hpp"
#include "program/rewrites/bodies.hpp"
#include "program/rewrites/derivation.hpp"
#include "program/rewrites/derivatives.hpp"
#include "program/rewrites/gradients.hpp"

namespace tenure {
namespace {

// Calls `call` on a body of the node. Its errors name both.
template <class Call>
auto in_body(const Derivation& at, std::size_t body, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    at.refuse(error_of(error.status(), "subgraphs[%" PRId64 "], %s", at.node().numbers[body],
                       error.message()));
  }
}

// A copy of a body, to which nodes for gradients are added.
class Differentiated {
 public:
  Differentiated(Derivation& at, std::size_t body)
      : builder_(*at.node().bodies[body]),
        terms_(builder_, at.terms()),
        extents_(at.terms().graph(), at.terms().shapes(), builder_, terms_.shapes()) {
    const std::size_t first = is_while(at.node()) ? 0 : 1;
    for (std::uint32_t i = 0; i < graph().inputs.size(); ++i) {
      std::vector<std::int64_t> shape = at.terms().shapes().of(at.node().operands[first + i]);
      for (std::int64_t& extent : shape) extent = at.terms().number_of(extent);
      terms_.shapes().set_input(input(i), extents_.inner(shape));
    }
    builder_.set_marks(TNR_MARK_GRADIENT);
  }

  [[nodiscard]] const Graph& graph() const noexcept { return builder_.graph(); }
  [[nodiscard]] Terms& terms() noexcept { return terms_; }
  [[nodiscard]] std::uint32_t input(std::size_t i) const { return graph().inputs[i].value; }
  [[nodiscard]] std::uint32_t output(std::size_t i) const { return graph().outputs[i].value; }
  [[nodiscard]] const ArrayType& type(std::uint32_t value) const { return builder_.types()[value]; }

  // An input for the gradient of an output.
  Seeded add_seed(std::size_t i) {
    const ArrayType of = type(output(i));
    const Seeded seeded = {output(i), builder_.add_input(of.dtype, of.rank, of.shape)};
    terms_.shapes().set_input(seeded.gradient, terms_.shapes().of(seeded.value));
    return seeded;
  }

 private:
  GraphBuilder builder_;
  Terms terms_;
  BodyExtents extents_;
};

// A body that is written anew.
class NewBody {
 public:
  NewBody() : terms_(builder_) { builder_.set_marks(TNR_MARK_GRADIENT); }

  Term add_input(const ArrayType& type) {
    return terms_.term(builder_.add_input(type.dtype, type.rank, type.shape));
  }
  [[nodiscard]] Terms& terms() noexcept { return terms_; }
  std::vector<std::uint32_t> copy(const Graph& from,
                                  const std::map<std::uint32_t, std::uint32_t>& given,
                                  const std::vector<std::uint32_t>& wanted) {
    return copy_values(from, given, wanted, builder_);
  }
  void add_output(Term value) { builder_.add_output(value.value(), kNoValue); }

  // Adds it to the graph around, for a node that takes the place of the one at `at`. Returns its
  // number.
  std::int64_t add_to(const Derivation& at) {
    if (const Custom* const custom = find_impure(builder_.graph())) {
      at.refuse(error_of(TNR_STATUS_UNSUPPORTED,
                         "no gradient leads through it: the custom operation %s would be called "
                         "again, and is not TNR_CUSTOM_PURE",
                         custom->name()));
    }
    return at.terms().builder().add_subgraph(builder_.to_body());
  }

 private:
  GraphBuilder builder_;
  Terms terms_;
};

std::vector<std::uint32_t> given_values(const std::vector<std::uint32_t>& values) {
  std::vector<std::uint32_t> given;
  std::ranges::copy_if(values, std::back_inserter(given),
                       [](std::uint32_t value) { return value != kNoValue; });
  return given;
}

bool is_small(const ArrayType& type) noexcept { return type.rank < TNR_MAX_RANK; }

ArrayType many_of(const ArrayType& type, std::int64_t count) noexcept {
  ArrayType many = {type.dtype, type.rank + 1, {count}};
  std::copy_n(type.shape, type.rank, many.shape + 1);
  return many;
}

// Whether it is the number 0, broadcast to a shape.
bool is_zero(const Graph& graph, std::uint32_t value) {
  const GraphNode* const node = graph.node_of(value);
  if (node == nullptr || node->code != TNR_NODE_BROADCAST) return false;
  const Constant* const constant = graph.constant_of(node->operands[0]);
  if (constant == nullptr || constant->is_borrowed() || constant->view().rank != 0 ||
      !(constant->view().device == kCpu)) {
    return false;
  }
  const auto* const bytes = static_cast<const unsigned char*>(constant->view().data);
  return std::all_of(bytes, bytes + element_size(constant->view().dtype),
                     [](unsigned char byte) { return byte == 0; });
}

// The sum of both. Values that are put between zeros are put into the sum: an iteration that reads
// one row of a value then takes no time for the other rows.
Term sum_with(Term sum, Term gradient) {
  Terms& terms = sum.terms();
  const Graph& graph = terms.graph();
  const GraphNode* const node = graph.node_of(gradient.value());
  const bool is_put = node != nullptr && (node->code == (TNR_NODE_PUT | TNR_BINARY_OP_ADD) ||
                                          node->code == (TNR_NODE_SCATTER | TNR_BINARY_OP_ADD));
  if (!is_put || gradient.dtype() != sum.dtype() || !is_zero(graph, node->operands[0])) {
    return sum + widened(gradient);
  }
  const Terms::NodeParts parts = {.operands = {sum.value(), node->operands[1], node->operands[2]},
                                  .numbers = node->numbers};
  return terms.node(node->code, parts);
}

// The gradients of a `while` node. A second loop computes all iterations again and stores the states
// that the gradients of an iteration depend on. A third loop takes the iterations from the last to
// the first.
class Loop {
 public:
  explicit Loop(Derivation& at) : at_(at), node_(at.node()), terms_(at.terms()) {}

  void derive() {
    require_known_shapes();
    find_dependent();
    differentiate();
    if (!carried_.empty() || !invariant_.empty()) run_backwards(record());
    for (const Passed& passed : passed_) {
      if (!at_.wants(passed.state)) continue;
      at_.give(passed.state, terms_.term(gradient_of_result(passed.state)));
    }
  }

 private:
  [[nodiscard]] std::size_t state_count() const noexcept { return node_.result_count; }
  [[nodiscard]] std::size_t operand_count() const noexcept { return node_.operands.size(); }
  [[nodiscard]] const ArrayType& type(std::size_t operand) const {
    return terms_.type_of(node_.operands[operand]);
  }
  static Term one_of(Terms& terms) { return terms.constant(tnr_scalar_i64(1), TNR_DTYPE_I64); }
  static Term zero_of(Terms& terms) { return terms.constant(tnr_scalar_i64(0), TNR_DTYPE_I64); }

  // States of all iterations have the same shape.
  void require_known_shapes() {
    if (!terms_.shapes().may_find()) return;
    Differentiated body(at_, Control::kIteration);
    for (std::size_t i = 0; i < state_count(); ++i) {
      if (body.terms().shapes().are_same(body.input(i), body.output(i))) continue;
      at_.refuse("a run decides the shape of its state");
    }
  }

  // States that change with an operand that wants a gradient.
  void find_dependent() {
    const Body& body = *node_.bodies[Control::kIteration];
    is_dependent_.resize(operand_count());
    for (std::size_t i = 0; i < operand_count(); ++i) is_dependent_[i] = at_.wants(i);
    for (bool has_more = true; has_more;) {
      has_more = false;
      std::vector<std::uint32_t> by;
      for (std::size_t i = 0; i < operand_count(); ++i) {
        if (is_dependent_[i]) by.push_back(body.graph.inputs[i].value);
      }
      const std::vector<bool> depends = dependent_values(body.graph, body.types, by);
      for (std::size_t i = 0; i < state_count(); ++i) {
        if (is_dependent_[i] || !depends[body.graph.outputs[i].value]) continue;
        is_dependent_[i] = has_more = true;
      }
    }
  }

  // The gradients of an iteration: of the states that gradients of the results lead to.
  void differentiate() {
    std::vector<bool> is_carried(state_count());
    for (std::size_t i = 0; i < state_count(); ++i) {
      is_carried[i] = is_dependent_[i] && at_.gradients()[i] != kNoValue;
    }
    for (bool has_more = true; has_more;) {
      has_more = false;
      carried_.clear();
      invariant_.clear();
      for (std::size_t i = 0; i < state_count(); ++i) {
        if (is_carried[i]) carried_.push_back(i);
      }
      if (carried_.empty()) return;
      body_.emplace(at_, Control::kIteration);
      in_body(at_, Control::kIteration, [&] { add_gradients_of_body(); });
      for (std::size_t i = 0; i < state_count(); ++i) {
        if (gradients_[i] == kNoValue || is_carried[i]) continue;
        is_carried[i] = has_more = true;
      }
    }
    for (std::size_t i = state_count(); i < operand_count(); ++i) {
      if (gradients_[i] != kNoValue) invariant_.push_back(i);
    }
    for (std::size_t k = seeds_.size(); k-- > 0;) {
      const std::size_t i = carried_[k];
      if (gradients_[i] != seeds_[k].gradient) continue;
      passed_.push_back({i, seeds_[k].gradient});
      carried_.erase(carried_.begin() + static_cast<std::ptrdiff_t>(k));
      seeds_.erase(seeds_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    in_body(at_, Control::kIteration, [&] {
      for (const std::size_t i : carried_) {
        if (gradients_[i] != kNoValue) continue;
        gradients_[i] = zeros_like(body_->terms().term(body_->input(i))).value();
      }
    });
    const std::vector<bool> is_read = values_for(body_->graph(), given_values(gradients_));
    for (std::size_t i = 0; i < operand_count(); ++i) {
      if (is_read[body_->input(i)]) read_.push_back(i);
    }
  }

  void add_gradients_of_body() {
    std::vector<std::uint32_t> by;
    for (std::size_t i = 0; i < operand_count(); ++i) {
      if (is_dependent_[i]) by.push_back(body_->input(i));
    }
    seeds_.clear();
    for (const std::size_t i : carried_) seeds_.push_back(body_->add_seed(i));
    const std::vector<std::uint32_t> gradients = add_gradients(body_->terms(), seeds_, by);
    gradients_.assign(operand_count(), kNoValue);
    std::size_t next = 0;
    for (std::size_t i = 0; i < operand_count(); ++i) {
      if (is_dependent_[i]) gradients_[i] = gradients[next++];
    }
  }

  [[nodiscard]] bool is_state(std::size_t operand) const noexcept {
    return operand < state_count();
  }

  std::int64_t most_iterations() const { return node_.numbers[Control::kLimit]; }

  // The type of the stored states of all iterations.
  ArrayType stored_type(std::size_t i) const { return many_of(type(i), limit_at_maxima_); }

  // The first result of a loop that stores the states: the number of iterations, the last states,
  // and the stored ones.
  Term record() {
    limit_at_maxima_ = Sizes(terms_.graph()).of(most_iterations());
    std::vector<std::uint32_t> operands = {zero_of(terms_).value()};
    for (std::size_t i = 0; i < state_count(); ++i) operands.push_back(node_.operands[i]);
    for (const std::size_t i : read_) {
      if (!is_state(i)) continue;
      if (!is_small(type(i))) at_.refuse("its states have no rank left for their iterations");
      operands.push_back(zeros_of(i, type(i).dtype, {most_iterations()}).value());
    }
    for (std::size_t i = state_count(); i < operand_count(); ++i) {
      operands.push_back(node_.operands[i]);
    }
    const std::int64_t condition =
        in_body(at_, Control::kCondition, [&] { return record_in(Control::kCondition); });
    const std::int64_t iteration =
        in_body(at_, Control::kIteration, [&] { return record_in(Control::kIteration); });
    return terms_.node(TNR_NODE_WHILE, {.operands = std::move(operands),
                                        .numbers = {condition, iteration, most_iterations()}});
  }

  std::int64_t record_in(std::size_t which) {
    const Graph& from = node_.bodies[which]->graph;
    NewBody body;
    std::map<std::uint32_t, std::uint32_t> given;
    const Term count = body.add_input({TNR_DTYPE_I64, 0, {}});
    const auto add_operand = [&](std::size_t i) {
      given[from.inputs[i].value] = body.add_input(type(i)).value();
    };
    for (std::size_t i = 0; i < state_count(); ++i) add_operand(i);
    std::vector<Term> stored;
    for (const std::size_t i : read_) {
      if (is_state(i)) stored.push_back(body.add_input(stored_type(i)));
    }
    for (std::size_t i = state_count(); i < operand_count(); ++i) add_operand(i);
    std::vector<std::uint32_t> outputs;
    outputs.reserve(from.outputs.size());
    for (const GraphOutput& output : from.outputs) outputs.push_back(output.value);
    outputs = body.copy(from, given, outputs);
    if (which == Control::kIteration) body.add_output(count + one_of(body.terms()));
    for (const std::uint32_t value : outputs) body.add_output(body.terms().term(value));
    for (std::size_t i = 0; which == Control::kIteration && i < stored.size(); ++i) {
      // `read_` begins with the states.
      const std::uint32_t state = given[from.inputs[read_[i]].value];
      body.add_output(body.terms().node(
          TNR_NODE_PUT, {.operands = {stored[i].value(), state, count.value()}, .numbers = {0}}));
    }
    return body.add_to(at_);
  }

  void run_backwards(Term first) {
    std::vector<std::uint32_t> operands = {first.value()};
    for (const std::size_t i : carried_) operands.push_back(gradient_of_result(i));
    for (const std::size_t i : invariant_) {
      operands.push_back(zeros_of(i, wide_dtype(type(i).dtype)).value());
    }
    auto stored = static_cast<std::uint32_t>(first.value() + 1 + state_count());
    for (const std::size_t i : read_) {
      operands.push_back(is_state(i) ? stored++ : node_.operands[i]);
    }
    for (const Passed& passed : passed_) operands.push_back(gradient_of_result(passed.state));
    const std::int64_t condition = write_condition();
    const std::int64_t iteration =
        in_body(at_, Control::kIteration, [&] { return write_iteration(); });
    const Term last = terms_.node(
        TNR_NODE_WHILE,
        {.operands = std::move(operands), .numbers = {condition, iteration, most_iterations()}});
    std::uint32_t result = last.value();
    for (const std::size_t i : carried_) {
      ++result;
      if (at_.wants(i)) at_.give(i, terms_.term(result));
    }
    for (const std::size_t i : invariant_) at_.give(i, terms_.term(++result));
  }

  std::uint32_t gradient_of_result(std::size_t i) {
    const std::uint32_t gradient = at_.gradients()[i];
    return gradient == kNoValue ? zeros_of(i, type(i).dtype).value() : gradient;
  }

  // Zeros of the shape of an operand, behind these other axes.
  Term zeros_of(std::size_t i, tnr_dtype dtype, const std::vector<std::int64_t>& first = {}) {
    try {
      std::vector<std::int64_t> shape = terms_.numbers_of(at_.operand(i));
      shape.insert(shape.begin(), first.begin(), first.end());
      tnr_scalar zero = {};
      zero.dtype = dtype;
      return broadcast(terms_.constant(zero, dtype), std::move(shape));
    } catch (const Error& error) {
      at_.refuse(error);
    }
  }

  struct Inputs {
    Term count;
    std::vector<Term> gradients;
    std::vector<Term> sums;
    std::vector<Term> read;
    std::vector<Term> passed;
  };
  Inputs add_inputs(NewBody& body) const {
    Inputs inputs = {body.add_input({TNR_DTYPE_I64, 0, {}}), {}, {}, {}, {}};
    for (const std::size_t i : carried_) inputs.gradients.push_back(body.add_input(type(i)));
    for (const std::size_t i : invariant_) {
      ArrayType sum = type(i);
      sum.dtype = wide_dtype(sum.dtype);
      inputs.sums.push_back(body.add_input(sum));
    }
    for (const std::size_t i : read_) {
      inputs.read.push_back(body.add_input(is_state(i) ? stored_type(i) : type(i)));
    }
    for (const Passed& passed : passed_) {
      inputs.passed.push_back(body.add_input(type(passed.state)));
    }
    return inputs;
  }

  std::int64_t write_condition() const {
    NewBody body;
    const Inputs inputs = add_inputs(body);
    body.add_output(zero_of(body.terms()) < inputs.count);
    return body.add_to(at_);
  }

  std::int64_t write_iteration() const {
    NewBody body;
    const Inputs inputs = add_inputs(body);
    const Term count = inputs.count - one_of(body.terms());
    // A run on other data than the counted ones, such as a rehearsal, may have begun with 0.
    const Term index = binary(kernels::Binary::kMax, count, zero_of(body.terms()));
    std::map<std::uint32_t, std::uint32_t> given;
    for (std::size_t i = 0; i < read_.size(); ++i) {
      const Term read = inputs.read[i];
      given[body_->input(read_[i])] =
          is_state(read_[i]) ? take(read, index, 0).value() : read.value();
    }
    for (std::size_t i = 0; i < seeds_.size(); ++i) {
      given[seeds_[i].gradient] = inputs.gradients[i].value();
    }
    for (std::size_t i = 0; i < passed_.size(); ++i) {
      given[passed_[i].gradient] = inputs.passed[i].value();
    }
    std::vector<std::uint32_t> wanted;
    wanted.reserve(carried_.size() + invariant_.size());
    for (const std::size_t i : carried_) wanted.push_back(gradients_[i]);
    for (const std::size_t i : invariant_) wanted.push_back(gradients_[i]);
    const std::vector<std::uint32_t> gradients = body.copy(body_->graph(), given, wanted);
    body.add_output(count);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const Term gradient = body.terms().term(gradients[i]);
      const bool is_carried = i < carried_.size();
      body.add_output(is_carried ? gradient : sum_with(inputs.sums[i - carried_.size()], gradient));
    }
    return body.add_to(at_);
  }

  Derivation& at_;
  const GraphNode& node_;
  Terms& terms_;
  std::vector<bool> is_dependent_;  // by operand
  std::optional<Differentiated> body_;
  std::vector<Seeded> seeds_;             // of the carried states
  std::vector<std::uint32_t> gradients_;  // by operand, in the body
  // The gradient of a state that an iteration hands on as it is. The loop keeps it.
  struct Passed {
    std::size_t state;
    std::uint32_t gradient;  // the seed in the body
  };

  std::vector<std::size_t> carried_;  // states with gradients that iterations change
  std::vector<Passed> passed_;
  std::vector<std::size_t> invariant_;  // operands that do not change, with gradients
  std::vector<std::size_t> read_;       // operands that gradients of an iteration depend on
  std::int64_t limit_at_maxima_ = 0;
};

}  // namespace

void derive_cond(Derivation& at) {
  const GraphNode& node = at.node();
  const std::size_t operand_count = node.operands.size() - 1;
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < operand_count; ++i) {
    if (at.wants(1 + i)) wanted.push_back(i);
  }
  std::optional<Differentiated> bodies[2];
  std::vector<Seeded> seeds[2];
  std::vector<std::uint32_t> gradients[2];
  for (std::size_t b = 0; b < 2; ++b) {
    Differentiated& body = bodies[b].emplace(at, b);
    in_body(at, b, [&] {
      for (std::size_t i = 0; i < node.result_count; ++i) {
        if (at.gradients()[i] == kNoValue) continue;
        if (!(body.type(body.output(i)) ==
              at.terms().type_of(node.result + static_cast<std::uint32_t>(i)))) {
          fail(TNR_STATUS_UNSUPPORTED, "no gradient leads through it: a run decides its shape");
        }
        seeds[b].push_back(body.add_seed(i));
      }
      std::vector<std::uint32_t> by;
      by.reserve(wanted.size());
      for (const std::size_t i : wanted) by.push_back(body.input(i));
      gradients[b] = add_gradients(body.terms(), seeds[b], by);
    });
  }
  // Where only one body has a gradient, the other one has zeros.
  std::vector<std::size_t> given;
  std::vector<std::uint32_t> results[2];
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (gradients[0][k] == kNoValue && gradients[1][k] == kNoValue) continue;
    given.push_back(wanted[k]);
    for (std::size_t b = 0; b < 2; ++b) {
      std::uint32_t& gradient = gradients[b][k];
      if (gradient == kNoValue) {
        Differentiated& body = *bodies[b];
        gradient = in_body(
            at, b, [&] { return zeros_like(body.terms().term(body.input(wanted[k]))).value(); });
      }
      results[b].push_back(gradient);
    }
  }
  if (given.empty()) return;
  std::vector<bool> is_read[2];
  for (std::size_t b = 0; b < 2; ++b) is_read[b] = values_for(bodies[b]->graph(), results[b]);
  std::vector<std::uint32_t> operands = {node.operands[0]};
  NewBody made[2];
  std::map<std::uint32_t, std::uint32_t> values[2];
  for (std::size_t i = 0; i < operand_count; ++i) {
    if (!is_read[0][bodies[0]->input(i)] && !is_read[1][bodies[1]->input(i)]) continue;
    operands.push_back(node.operands[1 + i]);
    for (std::size_t b = 0; b < 2; ++b) {
      const std::uint32_t input = bodies[b]->input(i);
      values[b][input] = made[b].add_input(bodies[b]->type(input)).value();
    }
  }
  std::size_t seed = 0;
  for (std::size_t i = 0; i < node.result_count; ++i) {
    if (at.gradients()[i] == kNoValue) continue;
    operands.push_back(at.gradients()[i]);
    for (std::size_t b = 0; b < 2; ++b) {
      const std::uint32_t gradient = seeds[b][seed].gradient;
      values[b][gradient] = made[b].add_input(bodies[b]->type(gradient)).value();
    }
    ++seed;
  }
  std::int64_t numbers[2];
  for (std::size_t b = 0; b < 2; ++b) {
    numbers[b] = in_body(at, b, [&] {
      for (const std::uint32_t value : made[b].copy(bodies[b]->graph(), values[b], results[b])) {
        made[b].add_output(made[b].terms().term(value));
      }
      return made[b].add_to(at);
    });
  }
  const Term first = at.terms().node(
      TNR_NODE_COND, {.operands = std::move(operands), .numbers = {numbers[0], numbers[1]}});
  for (std::uint32_t k = 0; k < given.size(); ++k) {
    at.give(1 + given[k], at.terms().term(first.value() + k));
  }
}

void derive_while(Derivation& at) { Loop(at).derive(); }

}  // namespace tenure
