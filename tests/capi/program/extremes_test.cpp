// Reductions of elements that are computed when they are read, at the ends of the range.
#include "extreme_numbers.hpp"
#include "program_graph.hpp"

namespace tenure::test {
namespace {

class FusedExtremes : public CGraph {};

TEST_F(FusedExtremes, AreThoseOfTheCalls) {
  Random random(7);
  Calls calls(random);
  for (std::size_t i = 0; i < 6 * calls.count(); ++i) {
    const ReduceCall call = calls.next();
    const NamedType& type = kTypes[random() % 4];
    const Shape shape = {1 + static_cast<std::int64_t>(random() % 200),
                         1 + static_cast<std::int64_t>(random() % 40)};
    const auto axes = static_cast<std::uint32_t>(1 + random() % 3);
    Array a(type.dtype, shape, Arrangement::kRowMajor, random);
    fill_with_extremes(a, type.type, random);
    Array out(type.dtype, kept_axes(shape, axes), Arrangement::kRowMajor, random);
    const tnr_reduce_attributes attributes = {sizeof attributes, call.ddof, 0, call.power};
    constexpr std::uint32_t kNegation = TNR_NODE_UNARY + TNR_UNARY_OP_NEG;
    const auto code = TNR_NODE_REDUCE + static_cast<std::uint32_t>(call.op);

    const tnr_node nodes[] = {
        {kNegation, type.dtype, {TNR_OPERAND_VIEW, TNR_OPERAND_NONE, TNR_OPERAND_NONE}, 0, 0, 0},
        {kNegation, type.dtype, {0, TNR_OPERAND_NONE, TNR_OPERAND_NONE}, 0, 0, 0},
        {code, type.dtype, {1, TNR_OPERAND_NONE, TNR_OPERAND_NONE}, 1, axes, 0}};
    const tnr_view* const views[] = {&a.view()};
    const void* const all_attributes[] = {&attributes};
    tnr_expression expression = {};
    expression.struct_size = sizeof expression;
    expression.nodes = nodes;
    expression.node_count = 3;
    expression.views = views;
    expression.view_count = 1;
    expression.attributes = all_attributes;
    expression.attribute_count = 1;
    const tnr_view_mut result = out.out();
    ASSERT_EQ(tnr_evaluate(nullptr, &expression, nullptr, &result), TNR_STATUS_OK)
        << tnr_last_error()->message;
    expect_results(call, a, type.type, axes, out, "expression");
    if (HasFailure()) return;

    graph = tnr_graph_create();
    const std::uint32_t x = input(shape, type.dtype);
    output(node(code, {node(kNegation, {node(kNegation, {x})})}, {}, &attributes, axes));
    for (Byte* const element : out.elements()) put_number(type.type, 0, element);
    ASSERT_EQ(run(program(), {a.view()}, {result}), TNR_STATUS_OK) << tnr_last_error()->message;
    expect_results(call, a, type.type, axes, out, "program");
    release_all();
    if (HasFailure()) return;
  }
  graph = tnr_graph_create();
}

}  // namespace
}  // namespace tenure::test
