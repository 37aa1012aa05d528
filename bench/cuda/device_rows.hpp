// Shared code of the benches of devices: a context, arrays in its memory, and rates of calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tenure/tenure.h"

namespace tenure::bench {

using Clock = std::chrono::steady_clock;

inline constexpr int kRounds = 9;
inline constexpr double kRoundSeconds = 0.02;
inline constexpr int kMostCalls = 500;  // fewer than the driver's queue of launches takes

inline tnr_context* g_context;
inline std::string g_subject;

inline void require(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "%s: %s\n", what, tnr_last_error()->message);
  std::exit(1);
}
inline void ok(tnr_status status, const char* what) { require(status == TNR_STATUS_OK, what); }

// An array in the device's memory, of ones. Kept until the program ends.
inline tnr_view_mut array(tnr_dtype dtype, std::vector<std::int64_t> shape,
                          std::vector<std::int64_t> strides = {},
                          std::int64_t offset_elements = 0) {
  const std::size_t width = (dtype >> 8 & 0xff) / 8;
  std::int64_t reach = 1;
  std::int64_t dense = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!strides.empty()) reach += (shape[i] - 1) * strides[i];
    dense *= shape[i];
  }
  if (strides.empty()) reach = dense;
  tnr_blob* const blob =
      tnr_blob_alloc(g_context, static_cast<std::size_t>(reach + offset_elements) * width);
  require(blob != nullptr, "tnr_blob_alloc");
  tnr_view_mut view;
  ok(tnr_blob_view_mut(blob, static_cast<std::size_t>(offset_elements) * width, dtype,
                       static_cast<std::uint32_t>(shape.size()), shape.data(),
                       strides.empty() ? nullptr : strides.data(), &view),
     "tnr_blob_view_mut");
  const tnr_scalar one = tnr_scalar_i64(1);
  ok(tnr_fill(g_context, &one, nullptr, &view), "tnr_fill");
  return view;
}

// Ended when the row is over.
struct Arrays {
  std::vector<tnr_view_mut> all;
  ~Arrays() {
    ok(tnr_context_wait(g_context), "tnr_context_wait");
    for (const tnr_view_mut& view : all) {
      tnr_blob_release(reinterpret_cast<tnr_blob*>(static_cast<std::uintptr_t>(view.view.owner)));
    }
  }
  const tnr_view_mut& add(tnr_dtype dtype, std::vector<std::int64_t> shape,
                          std::vector<std::int64_t> strides = {}, std::int64_t offset = 0) {
    all.reserve(8);
    all.push_back(array(dtype, std::move(shape), std::move(strides), offset));
    return all.back();
  }
};

inline double seconds_of(int calls, const std::function<void()>& call) {
  ok(tnr_context_wait(g_context), "tnr_context_wait");
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  ok(tnr_context_wait(g_context), "tnr_context_wait");
  return std::chrono::duration<double>(Clock::now() - start).count() / calls;
}

inline double median_seconds(const std::function<void()>& call) {
  const double first = std::max(seconds_of(3, call), 1e-7);
  const int calls = std::clamp(static_cast<int>(kRoundSeconds / first), 1, kMostCalls);
  std::vector<double> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(seconds_of(calls, call));
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

inline bool is_wanted(const char* name) {
  return g_subject.empty() || std::strstr(name, g_subject.c_str()) != nullptr;
}

inline void report(const char* name, double bytes, const std::function<void()>& call) {
  const double seconds = median_seconds(call);
  std::printf("%-28s %9.1f us %8.1f GB/s\n", name, seconds * 1e6, bytes / seconds * 1e-9);
  std::fflush(stdout);
}

// The rate of products and additions.
inline void report_flops(const char* name, double flops, const std::function<void()>& call) {
  const double seconds = median_seconds(call);
  std::printf("%-28s %9.1f us %8.1f Gflop/s\n", name, seconds * 1e6, flops / seconds * 1e-9);
  std::fflush(stdout);
}

inline std::uint64_t bytes_of(const tnr_view_mut& view) {
  std::uint64_t bytes = (view.view.dtype >> 8 & 0xff) / 8;
  for (std::uint32_t axis = 0; axis < view.view.rank; ++axis) {
    bytes *= static_cast<std::uint64_t>(view.view.shape[axis]);
  }
  return bytes;
}

// A context of the first GPU, with this engine.
inline tnr_context* open_context(tnr_engine engine) {
  tnr_context_options options = {};
  options.struct_size = sizeof options;
  options.thread_count = 1;
  options.device = {TNR_DEVICE_KIND_CUDA, 0};
  options.engine = engine;
  tnr_context* const context = tnr_context_create(&options);
  require(context != nullptr, "tnr_context_create");
  return context;
}
inline std::string name_of_gpu() {
  tnr_device_info info = {};
  info.struct_size = sizeof info;
  ok(tnr_device_describe({TNR_DEVICE_KIND_CUDA, 0}, &info), "tnr_device_describe");
  return info.name;
}

}  // namespace tenure::bench
