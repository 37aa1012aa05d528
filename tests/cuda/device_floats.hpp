// Arrays of floats on both sides, what the library counts, and variables that the fake driver reads.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tenure/tenure.h"

namespace tenure::test {

// A variable of the environment, which the fake driver reads at each call.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

// An array in row-major order, on a device where the context has one.
struct Floats {
  Floats(tnr_context* context, std::vector<std::int64_t> extents, const std::vector<float>& values)
      : blob(tnr_blob_copy(context, values.data(), values.size() * sizeof(float))) {
    EXPECT_NE(blob, nullptr) << tnr_last_error()->message;
    EXPECT_EQ(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, static_cast<std::uint32_t>(extents.size()),
                                extents.data(), nullptr, &out),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
  }
  Floats(tnr_context* context, const std::vector<float>& values)
      : Floats(context, {static_cast<std::int64_t>(values.size())}, values) {}
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  ~Floats() { release(); }

  void release() {
    if (blob != nullptr) {
      EXPECT_EQ(tnr_blob_release(std::exchange(blob, nullptr)), TNR_STATUS_OK);
    }
  }
  const tnr_view* in() const { return &out.view; }

  tnr_blob* blob;
  tnr_view_mut out;
};

inline tnr_view_mut lend(std::vector<float>& values, std::vector<std::int64_t> extents = {},
                         const std::vector<std::int64_t>& strides = {}, std::size_t offset = 0) {
  if (extents.empty()) extents = {static_cast<std::int64_t>(values.size())};
  tnr_view_mut view;
  EXPECT_EQ(tnr_view_lend_mut(values.data(), values.size() * sizeof(float), offset * sizeof(float),
                              TNR_DTYPE_F32, static_cast<std::uint32_t>(extents.size()),
                              extents.data(), strides.empty() ? nullptr : strides.data(), &view),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  return view;
}

inline std::vector<float> download(tnr_context* context, const tnr_view& view) {
  std::int64_t count = tnr_view_count(&view);
  std::vector<float> values(static_cast<std::size_t>(count), -99.0f);
  const tnr_view_mut out = lend(values, {view.shape, view.shape + view.rank});
  EXPECT_EQ(tnr_copy(context, &view, nullptr, &out), TNR_STATUS_OK) << tnr_last_error()->message;
  return values;
}

inline tnr_stats totals() {
  tnr_stats stats = {};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(tnr_stats_read(&stats), TNR_STATUS_OK);
  return stats;
}

}  // namespace tenure::test
