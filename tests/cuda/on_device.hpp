// Calls of an operation on the CPU and on a device with the same bytes, and their comparison.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "device_fixture.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

// The whole memory of an array, its gaps too, on the device; and the same view of it.
class DeviceArray {
 public:
  DeviceArray(tnr_context* context, const Array& array) : context_(context) {
    const tnr_view& like = array.view();
    const std::vector<Byte> bytes = array.snapshot();
    size_bytes_ = bytes.size();
    blob_ = tnr_blob_copy(context, bytes.data(), bytes.size());
    EXPECT_NE(blob_, nullptr) << tnr_last_error()->message;
    const auto offset = static_cast<std::size_t>(static_cast<const Byte*>(like.data) -
                                                 static_cast<const Byte*>(like.base));
    // An input's elements may repeat; an output is looked at by the call.
    EXPECT_EQ(
        tnr_blob_view(blob_, offset, like.dtype, like.rank, like.shape, like.strides, &view_.view),
        TNR_STATUS_OK)
        << tnr_last_error()->message;
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DeviceArray(DeviceArray&& other) noexcept
      : context_(other.context_),
        blob_(std::exchange(other.blob_, nullptr)),
        size_bytes_(other.size_bytes_),
        view_(other.view_) {}
  DeviceArray& operator=(DeviceArray&&) = delete;
  ~DeviceArray() {
    if (blob_ != nullptr) {
      EXPECT_EQ(tnr_blob_release(blob_), TNR_STATUS_OK) << tnr_last_error()->message;
    }
  }

  [[nodiscard]] const tnr_view* in() const { return &view_.view; }
  [[nodiscard]] const tnr_view_mut* out() const { return &view_; }
  [[nodiscard]] const tnr_view& view() const { return view_.view; }

  // All of its memory; waits.
  [[nodiscard]] std::vector<Byte> bytes() const {
    std::vector<Byte> result(size_bytes_);
    const auto extent = static_cast<std::int64_t>(size_bytes_);
    tnr_view from;
    tnr_view_mut to;
    EXPECT_EQ(tnr_blob_view(blob_, 0, TNR_DTYPE_U8, 1, &extent, nullptr, &from), TNR_STATUS_OK);
    EXPECT_EQ(
        tnr_view_lend_mut(result.data(), result.size(), 0, TNR_DTYPE_U8, 1, &extent, nullptr, &to),
        TNR_STATUS_OK);
    EXPECT_EQ(tnr_copy(context_, &from, nullptr, &to), TNR_STATUS_OK) << tnr_last_error()->message;
    return result;
  }

 private:
  tnr_context* context_;
  tnr_blob* blob_;
  std::size_t size_bytes_;
  tnr_view_mut view_;
};

// Whether the bits are equal. All NaNs count as equal, since devices have only one.
inline bool is_same_number(tnr_dtype dtype, const Byte* a, const Byte* b) {
  for (const NamedType& known : kTypes) {
    if (known.dtype == dtype) return is_same_element(known.type, a, b);
  }
  return std::memcmp(a, b, element_size(dtype)) == 0;
}
// Whether the numbers are the same or within `last_places` units in the last place.
inline bool is_near_number(tnr_dtype dtype, const Byte* a, const Byte* b, double last_places) {
  if (is_same_number(dtype, a, b)) return true;
  for (const NamedType& known : kTypes) {
    if (known.dtype == dtype && is_float(known.type)) {
      return kernels::reference::is_near(known.type, a, b, last_places);
    }
  }
  return false;
}

inline std::string hex_of(const Byte* bytes, std::size_t count) {
  std::string text;
  char digits[4];
  for (std::size_t i = count; i-- > 0;) {
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

// Expects the memory of an array on the device, which had the same bytes, to be the CPU's after a
// call of both: elements within `last_places`, and all bytes between them as they are there.
inline void expect_same_memory(Array& expected, const DeviceArray& actual, double last_places,
                               const std::string& what) {
  std::vector<Byte> bytes = actual.bytes();
  const tnr_view& view = expected.view();
  const std::size_t width = element_size(view.dtype);
  std::vector<Byte> expected_bytes = expected.snapshot();
  ASSERT_EQ(bytes.size(), expected_bytes.size());
  int failures = 0;
  for_each_index(view, [&](const Index& index) {
    Byte* const wanted = expected_bytes.data() + byte_of(view, index);
    Byte* const found = bytes.data() + byte_of(view, index);
    if (!is_near_number(view.dtype, wanted, found, last_places) && ++failures <= 3) {
      ADD_FAILURE() << what << ": out " << describe(view) << " at ["
                    << shape_text(view.rank, index.data()).text << "] is 0x" << hex_of(found, width)
                    << " but 0x" << hex_of(wanted, width) << " on the CPU";
    }
    // A byte between elements is compared below.
    std::memcpy(found, wanted, width);
  });
  EXPECT_EQ(failures, 0) << what;
  EXPECT_TRUE(bytes == expected_bytes) << what << ": bytes between elements have changed";
}

// An operation by the C ABI: inputs and output on one device.
using ContextCall = std::function<tnr_status(tnr_context*, const std::vector<const tnr_view*>&,
                                             const tnr_view_mut*)>;

// Calls the operation on the CPU and on the context's device, and expects the same status, message
// and memory. `last_places` as expect_same_memory().
inline void expect_same_call(tnr_context* context, const ContextCall& call,
                             const std::vector<Array*>& inputs, Array& out, double last_places,
                             const std::string& what) {
  std::vector<DeviceArray> device_inputs;
  std::vector<const tnr_view*> here;
  std::vector<const tnr_view*> there;
  device_inputs.reserve(inputs.size());
  const DeviceArray device_out(context, out);
  for (Array* const input : inputs) {
    here.push_back(&input->view());
    if (input == &out) {  // in place
      there.push_back(device_out.in());
      continue;
    }
    device_inputs.emplace_back(context, *input);
    there.push_back(device_inputs.back().in());
  }
  const tnr_view_mut out_here = out.out();
  const tnr_status status = call(nullptr, here, &out_here);
  const std::string message = status == TNR_STATUS_OK ? "" : tnr_last_error()->message;
  const tnr_status device_status = call(context, there, device_out.out());
  EXPECT_EQ(device_status, status) << what << ": " << message << " / " << tnr_last_error()->message;
  if (device_status != TNR_STATUS_OK) {
    EXPECT_EQ(tnr_last_error()->message, message) << what;
    return;
  }
  expect_same_memory(out, device_out, last_places, what);
}

}  // namespace tenure::test
