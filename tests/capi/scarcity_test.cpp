// Resources that the system refuses: memory in the middle of the work, and the instruction set
// that TENURE_ISA names. Each test has a process of its own.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "instrumented.hpp"
#include "layouts.hpp"
#include "memory/memory.hpp"
#include "tenure/tenure.h"

using tenure::test::kInstrumented;
using tenure::test::view_of;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// ---- memory ----

// Runs body() in a child, which says what failed.
void expect_in_child(const std::function<std::string()>& body) {
  if (kInstrumented) GTEST_SKIP() << "a sanitizer needs the address space itself";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    const std::string said = body();
    const bool is_told = write(ends[1], said.data(), said.size()) >= 0;
    _exit(said.empty() && is_told ? 0 : 1);
  }
  close(ends[1]);
  char said[512] = {};
  EXPECT_GE(read(ends[0], said, sizeof said - 1), 0);
  close(ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_STREQ(said, "");
}

// Limits the process to `size_bytes` bytes in addition to its mapped pages, after a trim of the
// library's memory.
bool leave_address_space(std::size_t size_bytes) {
  tnr_memory_trim();
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + size_bytes;
  const rlimit limit = {bytes, bytes};
  return pages != 0 && setrlimit(RLIMIT_AS, &limit) == 0;
}

bool was_refused(tnr_status status, const char* words) {
  return tnr_last_error()->status == status &&
         std::strstr(tnr_last_error()->message, words) != nullptr;
}

// Two matrices and a result, so large that every operation takes the way of large ones.
struct Matrices {
  static constexpr std::int64_t kExtent = 1024;

  std::vector<float> a = std::vector<float>(kExtent * kExtent, 2.0f);
  std::vector<float> out = std::vector<float>(kExtent * kExtent, 0.0f);
  std::vector<float> sums = std::vector<float>(kExtent, 0.0f);
  tnr_view rows = view_of(a.data(), a.size() * sizeof(float), 0, TNR_DTYPE_F32,
                          {{kExtent, kExtent}, {kExtent, 1}});
  tnr_view columns = view_of(a.data(), a.size() * sizeof(float), 0, TNR_DTYPE_F32,
                             {{kExtent, 1}, {kExtent, kExtent}});
  tnr_view_mut result = {view_of(out.data(), out.size() * sizeof(float), 0, TNR_DTYPE_F32,
                                 {{kExtent, kExtent}, {kExtent, 1}})};
  tnr_view_mut sum = {
      view_of(sums.data(), sums.size() * sizeof(float), 0, TNR_DTYPE_F32, {{kExtent, 1}})};

  // "" when every operation gives the expected result.
  std::string work_with(tnr_context* context) {
    if (tnr_copy(context, &columns, nullptr, &result) != TNR_STATUS_OK || out[7] != 2)
      return "copy";
    if (tnr_unary(context, TNR_UNARY_OP_NEG, &rows, nullptr, &result) != TNR_STATUS_OK ||
        out[7] != -2) {
      return "neg";
    }
    if (tnr_binary(context, TNR_BINARY_OP_ADD, &rows, &columns, nullptr, &result) !=
            TNR_STATUS_OK ||
        out[7] != 4) {
      return "add";
    }
    for (const std::uint32_t axes : {1u, 2u}) {
      if (tnr_reduce(context, TNR_REDUCE_OP_SUM, &rows, axes, nullptr, &sum) != TNR_STATUS_OK ||
          sums[7] != 2 * kExtent) {
        return "sum over axes " + std::to_string(axes);
      }
    }
    if (tnr_binary(context, 99, &rows, &rows, nullptr, &result) != TNR_STATUS_INVALID_ARGUMENT ||
        !was_refused(TNR_STATUS_INVALID_ARGUMENT, "op is 99")) {
      return "the refusal of op 99";
    }
    return "";
  }
};

TEST(Scarcity, OperationsNeedNoMemory) {
  expect_in_child([]() -> std::string {
    Matrices matrices;
    const tnr_context_options options = {.struct_size = sizeof options,
                                         .thread_count = 2,
                                         .reserved = 0,
                                         .spawn = nullptr,
                                         .allocate = nullptr,
                                         .deallocate = nullptr,
                                         .user_context = nullptr,
                                         .release = nullptr,
                                         .engine = TNR_ENGINE_ENVIRONMENT,
                                         .reserved_end = 0,
                                         .device = {},
                                         .stream = 0};
    tnr_context* const threads = tnr_context_create(&options);
    if (threads == nullptr) return tnr_last_error()->message;
    if (!leave_address_space(0)) return "the limit could not be set";
    if (std::malloc(64 * kMiB) != nullptr) return "there is memory left";
    const std::string alone = matrices.work_with(nullptr);
    const std::string shared = matrices.work_with(threads);
    if (tnr_context_release(threads) != TNR_STATUS_OK) return "release";
    return alone + shared;
  });
}

TEST(Scarcity, BlobsSurviveTheOneThatCouldNotBeMade) {
  expect_in_child([]() -> std::string {
    constexpr std::size_t kSize = 6 * kMiB;
    if (!leave_address_space(64 * kMiB)) return "the limit could not be set";
    std::vector<tnr_blob*> blobs;
    while (tnr_blob* const blob = tnr_blob_alloc(nullptr, kSize)) {
      std::memset(tnr_blob_data_mut(blob), static_cast<int>(blobs.size()), kSize);
      blobs.push_back(blob);
    }
    if (!was_refused(TNR_STATUS_OUT_OF_MEMORY, "6291456 bytes could not be allocated")) {
      return std::string("the refusal: ") + tnr_last_error()->message;
    }
    if (blobs.size() < 8) return "only " + std::to_string(blobs.size()) + " blobs";
    for (std::size_t i = 0; i < blobs.size(); ++i) {
      const auto* const bytes = static_cast<const unsigned char*>(tnr_blob_data(blobs[i]));
      if (bytes == nullptr || bytes[0] != i || bytes[kSize - 1] != i) return "a blob has changed";
    }
    // Room for one, then for one that is larger than each of those that are held back.
    tnr_blob_release(blobs[0]);
    blobs[0] = tnr_blob_alloc(nullptr, kSize);
    if (blobs[0] == nullptr) return std::string("after a release: ") + tnr_last_error()->message;
    for (std::size_t i = 0; i < 4; ++i) tnr_blob_release(blobs[i]);
    tnr_blob* const larger = tnr_blob_alloc(nullptr, 3 * kSize);
    if (larger == nullptr) return std::string("after a trim: ") + tnr_last_error()->message;
    tnr_blob_release(larger);
    for (std::size_t i = 4; i < blobs.size(); ++i) tnr_blob_release(blobs[i]);
    return "";
  });
}

// A result that may be as large as its operand reserves memory of that size, and uses only the
// pages that it writes. In a small address space the reservation must not impede other work.
struct Conversions {
  static constexpr std::int64_t kExtent = 2048;

  std::vector<float> dense = std::vector<float>(kExtent * kExtent, 0.0f);
  tnr_view rows = view_of(dense.data(), dense.size() * sizeof(float), 0, TNR_DTYPE_F32,
                          {{kExtent, kExtent}, {kExtent, 1}});
  tnr_sparse* matrix = nullptr;
  tnr_sparse_view view = {};

  Conversions() {
    for (std::size_t i = 0; i < dense.size(); i += 10) dense[i] = 1.0f;
    matrix = from_dense(nullptr, TNR_SPARSE_FORMAT_CSR);
    view.struct_size = sizeof view;
    EXPECT_EQ(tnr_sparse_view_of(matrix, &view), TNR_STATUS_OK);
  }
  Conversions(const Conversions&) = delete;
  Conversions& operator=(const Conversions&) = delete;
  ~Conversions() { tnr_sparse_release(matrix); }

  tnr_sparse* from_dense(tnr_context* context, tnr_sparse_format format) const {
    tnr_sparse_from_dense_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    attributes.index_dtype = TNR_DTYPE_I64;
    return tnr_sparse_from_dense(context, format, &rows, &attributes);
  }
};

// The least room that the call succeeds in, in steps, after which none may be refused.
void expect_no_refusal_above_the_first_success(
    const std::function<tnr_sparse*(tnr_context*)>& call) {
  constexpr std::size_t kStep = kMiB / 2;
  constexpr std::size_t kMost = 72 * kMiB;
  for (const std::uint32_t thread_count : {1u, 2u}) {
    std::size_t enough = 0;
    for (std::size_t room = kStep; room <= kMost; room += kStep) {
      const pid_t child = fork();
      ASSERT_NE(child, -1);
      if (child == 0) {
        tnr_context_options options = {};
        options.struct_size = sizeof options;
        options.thread_count = thread_count;
        tnr_context* const context = tnr_context_create(&options);
        if (context == nullptr || !leave_address_space(room)) _exit(2);
        if (call(context) != nullptr) _exit(0);
        _exit(tnr_last_error()->status == TNR_STATUS_OUT_OF_MEMORY ? 1 : 3);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1) << status << " with " << room;
      if (WEXITSTATUS(status) == 0 && enough == 0) enough = room;
      EXPECT_TRUE(enough == 0 || WEXITSTATUS(status) == 0)
          << room << " bytes are not enough, " << enough << " were; threads: " << thread_count;
    }
    EXPECT_NE(enough, 0u);
    std::printf("%zu bytes, %u threads\n", enough, thread_count);
  }
}

TEST(Scarcity, MoreAddressSpaceRefusesNoMore) {
  if (tenure::kSanitized) GTEST_SKIP() << "a sanitizer needs the address space itself";
  const Conversions conversions;
  for (const tnr_sparse_format format :
       {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_COO}) {
    SCOPED_TRACE(format);
    expect_no_refusal_above_the_first_success(
        [&](tnr_context* context) { return conversions.from_dense(context, format); });
  }
  expect_no_refusal_above_the_first_success(
      [&](tnr_context* context) { return tnr_sparse_prune(context, &conversions.view, nullptr); });
  expect_no_refusal_above_the_first_success([&](tnr_context* context) {
    return tnr_sparse_binary(context, TNR_BINARY_OP_ADD, &conversions.view, &conversions.view,
                             nullptr);
  });
  expect_no_refusal_above_the_first_success([&](tnr_context* context) {
    return tnr_sparse_coalesce(context, TNR_SPARSE_COMBINE_SUM, &conversions.view, nullptr);
  });
}

// ---- the instruction set ----

// Exits with 0 when every operation refuses and nothing else does.
[[noreturn]] void try_everything_under(const char* set) {
  setenv("TENURE_ISA", set, 1);
  tnr_blob* const blob = tnr_blob_copy(nullptr, "\1\0\0\0\2\0\0\0", 8);
  const std::int64_t shape[1] = {2};
  tnr_view a;
  tnr_view_mut out;
  std::int32_t results[2] = {7, 7};
  bool is_well = tnr_blob_view(blob, 0, TNR_DTYPE_I32, 1, shape, nullptr, &a) == TNR_STATUS_OK &&
                 tnr_view_lend_mut(results, sizeof results, 0, TNR_DTYPE_I32, 1, shape, nullptr,
                                   &out) == TNR_STATUS_OK &&
                 std::strstr(tnr_build_info(), "in use: none") != nullptr;
  tnr_view_mut truth = out;
  truth.view.dtype = TNR_DTYPE_BOOL8;
  tnr_view condition = a;
  condition.dtype = TNR_DTYPE_BOOL8;
  tnr_view_mut sum = out;
  sum.view.dtype = TNR_DTYPE_I64;
  sum.view.rank = 0;
  const tnr_scalar two = {TNR_DTYPE_I32, 0, {2}};
  const std::function<tnr_status()> calls[] = {
      [&] { return tnr_copy(nullptr, &a, nullptr, &out); },
      [&] { return tnr_cast(nullptr, &a, nullptr, &out); },
      [&] { return tnr_fill(nullptr, &two, nullptr, &out); },
      [&] { return tnr_unary(nullptr, TNR_UNARY_OP_NEG, &a, nullptr, &out); },
      [&] { return tnr_binary(nullptr, TNR_BINARY_OP_ADD, &a, &a, nullptr, &out); },
      [&] { return tnr_binary_scalar(nullptr, TNR_BINARY_OP_ADD, &a, &two, nullptr, &out); },
      [&] { return tnr_scalar_binary(nullptr, TNR_BINARY_OP_ADD, &two, &a, nullptr, &out); },
      [&] { return tnr_compare(nullptr, TNR_COMPARE_OP_EQ, &a, &a, nullptr, &truth); },
      [&] { return tnr_compare_scalar(nullptr, TNR_COMPARE_OP_EQ, &a, &two, nullptr, &truth); },
      [&] { return tnr_select(nullptr, &condition, &a, &a, nullptr, &out); },
      [&] { return tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &a, 1, nullptr, &sum); },
      [&] {
        tnr_view floats = a;
        floats.dtype = TNR_DTYPE_F32;
        tnr_view_mut dot = out;
        dot.view.dtype = TNR_DTYPE_F32;
        dot.view.rank = 0;
        return tnr_matmul(nullptr, &two, &floats, &floats, &two, nullptr, &dot);
      },
      [&] {
        tnr_view image = a;
        image.dtype = TNR_DTYPE_F32;
        image.rank = 4;
        std::fill_n(image.shape, 4, 1);
        tnr_view_mut result = out;
        result.view.dtype = TNR_DTYPE_F32;
        result.view.rank = 4;
        std::fill_n(result.view.shape, 4, 1);
        const tnr_status convolved = tnr_conv2d(nullptr, &image, &image, nullptr, nullptr, &result);
        const tnr_status transposed =
            tnr_conv2d_transposed(nullptr, &image, &image, nullptr, nullptr, &result);
        if (convolved != transposed) return transposed;
        tnr_view var = image;
        var.rank = 1;
        const tnr_status pooled = tnr_pool2d(nullptr, TNR_REDUCE_OP_MAX, &image, nullptr, &result);
        if (pooled != convolved) return pooled;
        const tnr_status of_pool =
            tnr_pool2d_gradient(nullptr, TNR_REDUCE_OP_MAX, &image, &image, nullptr, &result);
        if (of_pool != convolved) return of_pool;
        const tnr_status of_filters = tnr_conv2d_filters(nullptr, &image, &image, nullptr, &result);
        if (of_filters != convolved) return of_filters;
        return tnr_batch_norm(nullptr, &image, nullptr, &var, nullptr, nullptr, nullptr, &result);
      },
      [&] { return tnr_einsum(nullptr, "i", &a, 1, nullptr, &out); },
      [&] {
        tnr_view floats = a;
        floats.dtype = TNR_DTYPE_F32;
        tnr_view_mut result = out;
        result.view.dtype = TNR_DTYPE_F32;
        return tnr_normalize(nullptr, TNR_NORMALIZE_OP_SOFTMAX, &floats, 1, nullptr, &result);
      },
      [&] { return tnr_scan(nullptr, TNR_SCAN_OP_MAX, &a, 0, nullptr, &out); },
      [&] {
        tnr_view floats = a;
        floats.dtype = TNR_DTYPE_F32;
        tnr_view_mut mean = out;
        mean.view.dtype = TNR_DTYPE_F32;
        mean.view.rank = 0;
        tnr_view_mut var = mean;
        var.view.data = static_cast<const float*>(mean.view.data) + 1;
        return tnr_moments(nullptr, &floats, 1, nullptr, &mean, &var);
      },
  };
  for (const auto& call : calls) {
    const tnr_status status = call();
    std::fprintf(stderr, "%d %s\n", status, tnr_last_error()->message);
    is_well = is_well && status == TNR_STATUS_INVALID_ARGUMENT &&
              was_refused(status, "TENURE_ISA is \"sse9\" but must be one of: ") &&
              results[0] == 7 && results[1] == 7;
  }
  tnr_stats stats = {};
  stats.struct_size = sizeof stats;
  is_well = is_well && tnr_stats_read(&stats) == TNR_STATUS_OK && stats.calls == 0 &&
            tnr_blob_release(blob) == TNR_STATUS_OK;
  std::_Exit(is_well ? EXIT_SUCCESS : EXIT_FAILURE);
}

TEST(ScarcityDeathTest, AnUnknownInstructionSetIsRefusedByWhatComputes) {
  // A process that has computed has made its choice: a new one, not a fork of this.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(try_everything_under("sse9"), testing::ExitedWithCode(EXIT_SUCCESS), "sse9");
}

}  // namespace
