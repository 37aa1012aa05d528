// Programs by cuBLASLt and cuDNN, captured and not: the CPU's results, and failures while they are
// recorded.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "device_child.hpp"
#include "device_program.hpp"
#include "device_vendor.hpp"
#include "expect_status.hpp"

namespace tenure::test {
namespace {

constexpr const char* kProducts = "TENURE_FAKE_CUBLASLT_COUNT";
constexpr const char* kConvolutions = "TENURE_FAKE_CUDNN_COUNT";

class DeviceVendorProgram : public DeviceGraph {
 protected:
  void SetUp() override {
    use_fake_libraries();
    DeviceGraph::SetUp();
    if (context_ == nullptr) return;
    EXPECT_EQ(tnr_context_release(std::exchange(context_, vendor_context())), TNR_STATUS_OK);
    ASSERT_NE(context_, nullptr) << tnr_last_error()->message;
    for (const auto& needed : {try_product, try_convolution}) {
      const tnr_status status = needed(context_);
      if (status == TNR_STATUS_UNSUPPORTED) GTEST_SKIP() << tnr_last_error()->message;
      ASSERT_EQ(status, TNR_STATUS_OK) << tnr_last_error()->message;
    }
  }

  // Images by filters, whose channels are rows that are multiplied, twice. Its numbers are exact.
  const tnr_program* build() {
    const std::uint32_t x = input({1, 2, 3, 4});
    const std::uint32_t image = node(TNR_NODE_CONV2D, {x, constant(filters_.view())});
    const std::uint32_t rows = node(TNR_NODE_RESHAPE, {image}, {7, 12});
    const std::uint32_t product = node(TNR_NODE_MATMUL, {rows, constant(weight_.view())});
    output(node(TNR_NODE_MATMUL, {product, constant(more_.view())}));
    return program();
  }
  // The CPU's result.
  [[nodiscard]] std::vector<float> expected(const tnr_program* made, const Floats& in) const {
    Floats out({7, 3});
    EXPECT_EQ(run(made, {in.view()}, {out.out()}), TNR_STATUS_OK) << tnr_last_error()->message;
    return out.values;
  }
  [[nodiscard]] static Floats elements(int round) {
    return {{1, 2, 3, 4}, static_cast<float>(round) * 0.25f - 1, 0.125f};
  }
  [[nodiscard]] tnr_bound* capture(const tnr_program* made, const Copied& x,
                                   const Copied& out) const {
    const tnr_view* const in = &x.view();
    const tnr_view_mut* const to = &out.out();
    const tnr_bound_attributes attributes = {sizeof attributes, 0, TNR_BOUND_CAPTURED, 0};
    return tnr_bound_create(context_, made, &in, 1, &attributes, &to, 1);
  }

  Floats filters_{{7, 2, 1, 1}, -1, 0.25f};
  Floats weight_{{12, 5}, -1, 0.125f};
  Floats more_{{5, 3}, 0.5f, 0.25f};
};

TEST_F(DeviceVendorProgram, RunsByTheLibraries) {
  const tnr_program* const made = build();
  const Floats in = elements(0);
  const Copied x(context_, in.view());
  const Copied out = floats({7, 3}, -5);
  const Calls products(kProducts);
  const Calls convolutions(kConvolutions);
  ASSERT_EQ(run_on(context_, made, {x.view()}, {out.out()}), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(out.floats(), expected(made, in));
  if (!is_driver_fake()) return;
  EXPECT_EQ(products.count(), 2);
  EXPECT_EQ(convolutions.count(), 1);
}

TEST_F(DeviceVendorProgram, IsCaptured) {
  const tnr_program* const made = build();
  const Floats first = elements(0);
  const Copied x(context_, first.view());
  const Copied out = floats({7, 3}, -5);
  const Calls products(kProducts);
  const Calls convolutions(kConvolutions);
  tnr_bound* const captured = capture(made, x, out);
  ASSERT_NE(captured, nullptr) << tnr_last_error()->message;
  for (int round = 1; round < 4; ++round) {
    const Floats in = elements(round);
    const tnr_view view = in.view();
    ASSERT_EQ(tnr_copy(context_, &view, nullptr, &x.out()), TNR_STATUS_OK);
    const tnr_stats before = totals_of_all();
    ASSERT_EQ(tnr_bound_run(context_, captured, nullptr, 0, nullptr, nullptr, 0), TNR_STATUS_OK);
    EXPECT_EQ(totals_of_all().device_launches, before.device_launches + 1);
    EXPECT_EQ(out.floats(), expected(made, in)) << round;
  }
  EXPECT_EQ(tnr_bound_release(captured), TNR_STATUS_OK);
  if (!is_driver_fake()) return;
  // The rehearsal of a capture enqueues no work of a library.
  EXPECT_EQ(products.count(), 2);
  EXPECT_EQ(convolutions.count(), 1);
}

// The test below runs this in a process that must leave nothing allocated: each entry point of both
// libraries fails while the program is recorded.
using DeviceChild = DeviceVendorProgram;
TEST_F(DeviceChild, DISABLED_Run) {
  const tnr_program* const made = build();
  const Floats in = elements(0);
  const Copied x(context_, in.view());
  const Copied out = floats({7, 3}, -5);
  const std::pair<const char*, const char*> failures[] = {
      {"TENURE_FAKE_CUBLASLT_FAIL", "cublasLtMatmulDescCreate"},
      {"TENURE_FAKE_CUBLASLT_FAIL", "cublasLtMatmulDescSetAttribute"},
      {"TENURE_FAKE_CUBLASLT_FAIL", "cublasLtMatrixLayoutCreate"},
      {"TENURE_FAKE_CUBLASLT_FAIL", "cublasLtMatmulPreferenceCreate"},
      {"TENURE_FAKE_CUBLASLT_FAIL", "cublasLtMatmulPreferenceSetAttribute"},
      {"TENURE_FAKE_CUBLASLT_FAIL", "cublasLtMatmulAlgoGetHeuristic"},
      {"TENURE_FAKE_CUBLASLT_FAIL", "cublasLtMatmul"},
      {"TENURE_FAKE_CUDNN_FAIL", "cudnnCreateTensorDescriptor"},
      {"TENURE_FAKE_CUDNN_FAIL", "cudnnSetTensor4dDescriptor"},
      {"TENURE_FAKE_CUDNN_FAIL", "cudnnCreateFilterDescriptor"},
      {"TENURE_FAKE_CUDNN_FAIL", "cudnnCreateConvolutionDescriptor"},
      {"TENURE_FAKE_CUDNN_FAIL", "cudnnSetStream"},
      {"TENURE_FAKE_CUDNN_FAIL", "cudnnConvolutionForward"},
  };
  for (const auto& [variable, name] : failures) {
    setenv(variable, name, 1);
    expect_refused(capture(made, x, out), TNR_STATUS_DEVICE_ERROR, {name});
    unsetenv(variable);
  }
  tnr_bound* const captured = capture(made, x, out);
  ASSERT_NE(captured, nullptr) << tnr_last_error()->message;
  ASSERT_EQ(tnr_bound_run(context_, captured, nullptr, 0, nullptr, nullptr, 0), TNR_STATUS_OK);
  EXPECT_EQ(out.floats(), expected(made, in));
  EXPECT_EQ(tnr_bound_release(captured), TNR_STATUS_OK);
}

TEST_F(DeviceVendorProgram, FailuresWhileItIsRecordedLeaveNothing) {
  if (!is_driver_fake()) GTEST_SKIP() << "libraries that cannot be made to fail";
  const Child child = run_child("TENURE_FAKE_CUDA_LEAKS=1");
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_NE(child.output.find("[  PASSED  ] 1 test."), std::string::npos) << child.output;
}

}  // namespace
}  // namespace tenure::test
