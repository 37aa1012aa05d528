// Graphs that tests build through C, run on a device; arrays there.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "../capi/program/program_graph.hpp"
#include "device_fixture.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

// The memory of a view of the CPU on the device, and the same view of it.
class Copied {
 public:
  Copied(tnr_context* context, const tnr_view& here)
      : context_(context), blob_(tnr_blob_copy(context, here.base, here.size_bytes)) {
    EXPECT_NE(blob_, nullptr) << tnr_last_error()->message;
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(here.data) -
                                                 static_cast<const char*>(here.base));
    EXPECT_EQ(
        tnr_blob_view(blob_, offset, here.dtype, here.rank, here.shape, here.strides, &view_.view),
        TNR_STATUS_OK)
        << tnr_last_error()->message;
  }
  Copied(const Copied&) = delete;
  Copied& operator=(const Copied&) = delete;
  Copied(Copied&& other) noexcept
      : context_(other.context_), blob_(std::exchange(other.blob_, nullptr)), view_(other.view_) {}
  Copied& operator=(Copied&&) = delete;
  ~Copied() { release(); }

  void release() { EXPECT_EQ(tnr_blob_release(std::exchange(blob_, nullptr)), TNR_STATUS_OK); }

  [[nodiscard]] const tnr_view& view() const { return view_.view; }
  [[nodiscard]] const tnr_view_mut& out() const { return view_; }

  // The elements in row-major order; waits.
  [[nodiscard]] std::vector<unsigned char> elements() const {
    const tnr_view& from = view_.view;
    const auto count = static_cast<std::size_t>(tnr_view_count(&from));
    std::vector<unsigned char> bytes(count * tnr_dtype_size_bytes(from.dtype));
    const tnr_view_mut to = {
        view_over(bytes.data(), {from.shape, from.shape + from.rank}, from.dtype)};
    EXPECT_EQ(tnr_copy(context_, &from, nullptr, &to), TNR_STATUS_OK) << tnr_last_error()->message;
    return bytes;
  }
  [[nodiscard]] std::vector<float> floats() const {
    const std::vector<unsigned char> bytes = elements();
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

 private:
  tnr_context* context_;
  tnr_blob* blob_;
  tnr_view_mut view_;
};

inline tnr_status run_on(tnr_context* context, const tnr_program* program,
                         const std::vector<tnr_view>& inputs,
                         const std::vector<tnr_view_mut>& outputs,
                         const tnr_program_run_attributes* attributes = nullptr) {
  std::vector<const tnr_view*> given;
  for (const tnr_view& view : inputs) given.push_back(&view);
  std::vector<const tnr_view_mut*> written;
  for (const tnr_view_mut& view : outputs) written.push_back(&view);
  return tnr_program_run(context, program, given.data(), static_cast<std::uint32_t>(given.size()),
                         attributes, written.data(), static_cast<std::uint32_t>(written.size()));
}

inline tnr_stats totals_of_all() {
  tnr_stats stats = {};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(tnr_stats_read(&stats), TNR_STATUS_OK);
  return stats;
}

// Skipped without a device.
class DeviceGraph : public CGraph {
 protected:
  void SetUp() override {
    std::uint32_t count = 0;
    if (tnr_device_count(TNR_DEVICE_KIND_CUDA, &count) != TNR_STATUS_OK || count == 0) {
      GTEST_SKIP() << tnr_last_error()->message;
    }
    context_ = context_on(kFirstDevice);
    ASSERT_NE(context_, nullptr) << tnr_last_error()->message;
  }
  void TearDown() override {
    release_all();
    EXPECT_EQ(tnr_context_release(std::exchange(context_, nullptr)), TNR_STATUS_OK);
  }

  [[nodiscard]] Copied floats(const Shape& shape, float first = 0, float step = 0) const {
    const Floats here(shape, first, step);
    return {context_, here.view()};
  }

  tnr_context* context_ = nullptr;
};

}  // namespace tenure::test
