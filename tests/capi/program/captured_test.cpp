// Captured programs on the CPU, which captures none: what is refused, and handles.
#include "expect_status.hpp"
#include "program_graph.hpp"
#include "tenure/tenure.h"

namespace {

using tenure::test::expect_refused;
using tenure::test::Floats;

using CapturedProgram = tenure::test::CGraph;

TEST_F(CapturedProgram, IsOfADevice) {
  output(node(TNR_NODE_UNARY + TNR_UNARY_OP_NEG, {input({4})}));
  const tnr_program* const made = program();
  const Floats in({4}, 1, 0);
  Floats out({4}, -5, 0);
  const tnr_view view = in.view();
  const tnr_view_mut to = out.out();
  const tnr_view* const inputs[] = {&view};
  const tnr_view_mut* const outputs[] = {&to};
  expect_refused(tnr_captured_program_create(nullptr, made, inputs, 1, nullptr, outputs, 1),
                 TNR_STATUS_INVALID_ARGUMENT,
                 {"a program is captured on a device, but the context"});
  expect_refused(tnr_captured_program_create(nullptr, made, nullptr, 0, nullptr, outputs, 1),
                 TNR_STATUS_INVALID_ARGUMENT, {});
  const auto* const wrong = reinterpret_cast<const tnr_program*>(graph);
  expect_refused(tnr_captured_program_create(nullptr, wrong, inputs, 1, nullptr, outputs, 1),
                 TNR_STATUS_STALE_HANDLE, {"program"});
  EXPECT_EQ(out.values, std::vector<float>(4, -5));
}

TEST_F(CapturedProgram, GarbageIsNoHandle) {
  auto* const garbage = reinterpret_cast<tnr_captured_program*>(graph);
  expect_refused(tnr_captured_program_run(nullptr, garbage), TNR_STATUS_STALE_HANDLE,
                 {"which no captured program was ever given"});
  expect_refused(tnr_captured_program_run(nullptr, nullptr), TNR_STATUS_STALE_HANDLE, {});
  expect_refused(tnr_captured_program_release(garbage), TNR_STATUS_STALE_HANDLE,
                 {"which no captured program was ever given"});
  EXPECT_EQ(tnr_captured_program_release(nullptr), TNR_STATUS_OK);
}

}  // namespace
