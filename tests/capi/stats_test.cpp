// The counters of operations: exact, whatever ran on which thread, and readable at any time.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "counted.hpp"
#include "expect_status.hpp"
#include "layouts.hpp"
#include "meeting.hpp"
#include "tenure/tenure.h"

using tenure::test::added;
using tenure::test::counted;
using tenure::test::Counted;
using tenure::test::expect_refused;
using tenure::test::Meeting;
using tenure::test::read;
using tenure::test::read_totals;
using tenure::test::view_of;

namespace {

constexpr std::int64_t kCount = 6;

class OperationStats : public testing::Test {
 protected:
  [[nodiscard]] tnr_view floats(const tenure::test::Layout& layout) const {
    return view_of(memory, sizeof memory, 0, TNR_DTYPE_F32, layout);
  }
  tnr_status add() const { return tnr_binary(nullptr, TNR_BINARY_OP_ADD, &a, &a, nullptr, &out); }

  float memory[64] = {};
  float out_memory[64] = {};
  tnr_view a = floats({{kCount, 1}});
  tnr_view_mut out = {view_of(out_memory, sizeof out_memory, 0, TNR_DTYPE_F32, {{kCount, 1}})};
  std::int64_t whole_number = 0;
  const tnr_view_mut whole = {
      view_of(&whole_number, sizeof whole_number, 0, TNR_DTYPE_I64, {{1, 1}})};
  std::uint8_t truths[kCount] = {};
  tnr_view truth = view_of(truths, sizeof truths, 0, TNR_DTYPE_BOOL8, {{kCount, 1}});
  tnr_view_mut truth_out = {truth};
  tnr_scalar two = {TNR_DTYPE_F32, 0, {0, 0, 0, 0x40}};
};

TEST_F(OperationStats, CountEachFunctionUnderItsOperation) {
  const tnr_view column = floats({{6, 1}, {1, 1}});
  tnr_factor* factor = nullptr;
  tnr_view_mut out_matrix = out;
  out_matrix.view.rank = 2;
  out_matrix.view.shape[1] = 1;
  const std::int32_t chosen[] = {3, 1};
  const tnr_view indices =
      view_of(const_cast<std::int32_t*>(chosen), sizeof chosen, 0, TNR_DTYPE_I32, {{2, 1}});
  const tnr_view pair = floats({{2, 1}});
  float scale_memory[] = {2};
  const tnr_view scale = view_of(scale_memory, sizeof scale_memory, 0, TNR_DTYPE_F32, {{1, 1}});
  tnr_view_mut few = out;
  few.view.shape[0] = 2;
  tnr_view_mut found = {};
  const auto found_by = [](tnr_blob* blob) {
    return blob == nullptr ? tnr_last_error()->status : tnr_blob_release(blob);
  };
  const struct {
    tnr_operation operation;
    std::function<tnr_status()> call;
    Counted expected;
  } cases[] = {
      {TNR_OPERATION_COPY, [&] { return tnr_copy(nullptr, &a, nullptr, &out); }, {1, 24, 24}},
      {TNR_OPERATION_CAST, [&] { return tnr_cast(nullptr, &truth, nullptr, &out); }, {1, 6, 24}},
      {TNR_OPERATION_FILL, [&] { return tnr_fill(nullptr, &two, nullptr, &out); }, {1, 0, 24}},
      {TNR_OPERATION_UNARY,
       [&] { return tnr_unary(nullptr, TNR_UNARY_OP_NEG, &a, nullptr, &out); },
       {1, 24, 24}},
      {TNR_OPERATION_BINARY, [&] { return add(); }, {1, 48, 24}},
      {TNR_OPERATION_BINARY,
       [&] { return tnr_binary_scalar(nullptr, TNR_BINARY_OP_ADD, &a, &two, nullptr, &out); },
       {1, 24, 24}},
      {TNR_OPERATION_BINARY,
       [&] { return tnr_scalar_binary(nullptr, TNR_BINARY_OP_ADD, &two, &a, nullptr, &out); },
       {1, 24, 24}},
      {TNR_OPERATION_TERNARY,
       [&] { return tnr_ternary(nullptr, TNR_TERNARY_OP_FMA, &a, &a, &a, nullptr, &out); },
       {1, 72, 24}},
      {TNR_OPERATION_COMPARE,
       [&] { return tnr_compare(nullptr, TNR_COMPARE_OP_GT, &a, &a, nullptr, &truth_out); },
       {1, 48, 6}},
      {TNR_OPERATION_COMPARE,
       [&] {
         return tnr_compare_scalar(nullptr, TNR_COMPARE_OP_GT, &a, &two, nullptr, &truth_out);
       },
       {1, 24, 6}},
      {TNR_OPERATION_SELECT,
       [&] { return tnr_select(nullptr, &truth, &a, &a, nullptr, &out); },
       {1, 54, 24}},
      {TNR_OPERATION_REDUCE,
       [&] {
         tnr_view_mut sum = out;
         sum.view.rank = 0;
         return tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &a, 1, nullptr, &sum);
       },
       {1, 24, 4}},
      {TNR_OPERATION_MATMUL,
       [&] {
         tnr_view_mut dot = out;
         dot.view.rank = 0;
         return tnr_matmul(nullptr, &two, &a, &a, &two, nullptr, &dot);
       },
       {1, 52, 4}},
      {TNR_OPERATION_FACTOR_PACK,
       [&] {
         factor = tnr_factor_create(nullptr, &column, nullptr);
         return factor == nullptr ? tnr_last_error()->status : TNR_STATUS_OK;
       },
       {1, 24, 24}},
      {TNR_OPERATION_FACTOR_MATMUL,
       [&] {
         tnr_view_mut dot = out;
         dot.view.rank = 1;
         dot.view.shape[0] = 1;
         return tnr_factor_matmul(nullptr, &two, &a, factor, &two, nullptr, &dot);
       },
       {1, 52, 4}},
      {TNR_OPERATION_CONV2D,
       [&] {
         const tnr_view image = floats({{1, 1}, {1, 1}, {2, 3}, {3, 1}});
         const tnr_view filter = floats({{1, 1}, {1, 1}, {2, 2}, {2, 1}});
         const tnr_view bias = floats({{1, 1}});
         tnr_view_mut result = out;
         result.view.rank = 4;
         for (const int axis : {0, 1, 2}) result.view.shape[axis] = 1;
         result.view.shape[3] = 2;
         result.view.strides[3] = 1;
         return tnr_conv2d(nullptr, &image, &filter, &bias, nullptr, &result);
       },
       {1, 44, 8}},
      {TNR_OPERATION_CONV2D_TRANSPOSED,
       [&] {
         const tnr_view image = floats({{1, 1}, {1, 1}, {1, 2}, {2, 1}});
         const tnr_view filter = floats({{1, 1}, {1, 1}, {1, 2}, {2, 1}});
         tnr_view_mut result = out;
         result.view.rank = 4;
         for (const int axis : {0, 1, 2}) result.view.shape[axis] = 1;
         result.view.shape[3] = 3;
         result.view.strides[3] = 1;
         return tnr_conv2d_transposed(nullptr, &image, &filter, nullptr, nullptr, &result);
       },
       {1, 16, 12}},
      {TNR_OPERATION_POOL2D,
       [&] {
         const tnr_view image = floats({{1, 1}, {1, 1}, {2, 3}, {3, 1}});
         tnr_view_mut result = out;
         result.view.rank = 4;
         for (const int axis : {0, 1, 2}) result.view.shape[axis] = 1;
         result.view.shape[3] = 3;
         result.view.strides[3] = 1;
         tnr_pool2d_attributes attributes = {};
         attributes.struct_size = sizeof attributes;
         attributes.kernel[1] = 1;
         return tnr_pool2d(nullptr, TNR_REDUCE_OP_MAX, &image, &attributes, &result);
       },
       {1, 24, 12}},
      {TNR_OPERATION_POOL2D_GRADIENT,
       [&] {
         const tnr_view image = floats({{1, 1}, {1, 1}, {2, 3}, {3, 1}});
         const tnr_view pixels = floats({{1, 1}, {1, 1}, {1, 1}, {3, 1}});
         tnr_view_mut result = out;
         result.view.rank = 4;
         for (int axis = 0; axis < 4; ++axis) {
           result.view.shape[axis] = image.shape[axis];
           result.view.strides[axis] = image.strides[axis];
         }
         tnr_pool2d_attributes attributes = {};
         attributes.struct_size = sizeof attributes;
         attributes.kernel[1] = 1;
         return tnr_pool2d_gradient(nullptr, TNR_REDUCE_OP_MAX, &image, &pixels, &attributes,
                                    &result);
       },
       {1, 36, 24}},
      {TNR_OPERATION_CONV2D_FILTERS,
       [&] {
         const tnr_view image = floats({{1, 1}, {1, 1}, {2, 3}, {3, 1}});
         const tnr_view pixels = floats({{1, 1}, {1, 1}, {1, 1}, {2, 1}});
         tnr_view_mut result = out;
         result.view.rank = 4;
         for (const int axis : {0, 1}) result.view.shape[axis] = 1;
         for (const int axis : {2, 3}) result.view.shape[axis] = 2;
         result.view.strides[2] = 2;
         result.view.strides[3] = 1;
         return tnr_conv2d_filters(nullptr, &image, &pixels, nullptr, &result);
       },
       {1, 32, 16}},
      {TNR_OPERATION_BATCH_NORM,
       [&] {
         const tnr_view matrix = floats({{1, 3}, {3, 1}});
         const tnr_view var = floats({{3, 1}});
         tnr_view_mut result = out;
         result.view.rank = 2;
         result.view.shape[0] = 1;
         result.view.shape[1] = 3;
         result.view.strides[1] = 1;
         return tnr_batch_norm(nullptr, &matrix, nullptr, &var, nullptr, nullptr, nullptr, &result);
       },
       {1, 48, 12}},
      {TNR_OPERATION_QUANTIZE,
       [&] {
         tnr_view_mut bytes = truth_out;
         bytes.view.dtype = TNR_DTYPE_I8;
         return tnr_quantize(nullptr, &a, &scale, nullptr, nullptr, &bytes);
       },
       {1, 28, 6}},
      {TNR_OPERATION_QUANTIZE,
       [&] {
         tnr_view_mut bytes = truth_out;
         bytes.view.dtype = TNR_DTYPE_I8;
         tnr_view_mut own_scale = out;
         own_scale.view.shape[0] = 1;
         return tnr_quantize_dynamic(nullptr, &a, nullptr, &own_scale, nullptr, &bytes);
       },
       {1, 24, 10}},
      {TNR_OPERATION_DEQUANTIZE,
       [&] {
         tnr_view bytes = truth;
         bytes.dtype = TNR_DTYPE_I8;
         return tnr_dequantize(nullptr, &bytes, &scale, nullptr, nullptr, &out);
       },
       {1, 10, 24}},
      {TNR_OPERATION_QUANTIZED_MATMUL,
       [&] {
         tnr_view bytes = truth;
         bytes.dtype = TNR_DTYPE_I8;
         bytes.rank = 2;
         bytes.shape[0] = kCount;
         bytes.shape[1] = bytes.strides[1] = 1;
         tnr_view_mut dot = out;
         dot.view.shape[0] = 1;
         return tnr_quantized_matmul(nullptr, &a, nullptr, nullptr, &bytes, &scale, nullptr,
                                     nullptr, &dot);
       },
       {1, 30, 4}},
      {TNR_OPERATION_QUANTIZED_CONV2D,
       [&] {
         tnr_view bytes = truth;
         bytes.dtype = TNR_DTYPE_I8;
         bytes.rank = 4;
         std::fill_n(bytes.shape, 3, 1);
         bytes.shape[3] = kCount;
         bytes.strides[3] = 1;
         tnr_view weight = bytes;
         weight.shape[3] = 1;
         tnr_view_mut image = out;
         image.view.rank = 4;
         std::copy_n(bytes.shape, 4, image.view.shape);
         std::copy_n(bytes.strides, 4, image.view.strides);
         return tnr_quantized_conv2d(nullptr, &bytes, &scale, nullptr, &weight, &scale, nullptr,
                                     nullptr, &image);
       },
       {1, 7, 24}},
      {TNR_OPERATION_CONCAT,
       [&] {
         tnr_view half = a;
         half.shape[0] = kCount / 2;
         const tnr_view parts[] = {half, half};
         return tnr_concat(nullptr, parts, 2, 0, nullptr, &out);
       },
       {1, 24, 24}},
      {TNR_OPERATION_PAD,
       [&] { return tnr_pad(nullptr, TNR_PAD_MODE_EDGE, &column, nullptr, &out_matrix); },
       {1, 24, 24}},
      {TNR_OPERATION_TAKE,
       [&] { return tnr_take(nullptr, &a, 0, &indices, nullptr, &few); },
       {1, 16, 8}},
      {TNR_OPERATION_TAKE,
       [&] { return tnr_gather(nullptr, &a, 0, &indices, nullptr, &few); },
       {1, 16, 8}},
      {TNR_OPERATION_PUT,
       [&] { return tnr_put(nullptr, 0, &pair, 0, &indices, nullptr, &out); },
       {1, 16, 8}},
      {TNR_OPERATION_PUT,
       [&] { return tnr_scatter(nullptr, TNR_BINARY_OP_ADD, &pair, 0, &indices, nullptr, &out); },
       {1, 24, 8}},
      {TNR_OPERATION_TRIANGULAR,
       [&] { return tnr_triangular(nullptr, TNR_TRIANGLE_LOWER, &column, nullptr, &out_matrix); },
       {1, 24, 24}},
      {TNR_OPERATION_NONZERO,
       [&] { return found_by(tnr_nonzero(nullptr, &truth, nullptr, &found)); },
       {1, 6, 0}},
      {TNR_OPERATION_NONZERO,
       [&] { return found_by(tnr_masked_select(nullptr, &a, &truth, nullptr, &found)); },
       {1, 30, 0}},
      {TNR_OPERATION_RANDOM,
       [&] { return tnr_random(nullptr, TNR_RANDOM_DISTRIBUTION_UNIFORM, 1, 0, nullptr, &out); },
       {1, 0, 24}},
      {TNR_OPERATION_RANDOM,
       [&] {
         tnr_view_mut order = out;
         order.view.dtype = TNR_DTYPE_I32;
         return tnr_random_permutation(nullptr, 1, 0, nullptr, &order);
       },
       {1, 0, 24}},
      {TNR_OPERATION_SORT,
       [&] {
         const tnr_view vector = floats({{3, 1}});
         tnr_view_mut result = out;
         result.view.rank = 1;
         result.view.shape[0] = 3;
         result.view.strides[0] = 1;
         return tnr_sort(nullptr, &vector, 0, nullptr, nullptr, &result);
       },
       {1, 12, 12}},
      {TNR_OPERATION_SEARCHSORTED,
       [&] {
         const tnr_view vector = floats({{3, 1}});
         const tnr_view value = floats({{1, 1}});
         return tnr_searchsorted(nullptr, &vector, &value, nullptr, &whole);
       },
       {1, 16, 8}},
      {TNR_OPERATION_UNIQUE,
       [&] {
         const tnr_view repeated = floats({{3, 0}});
         tnr_view_mut result;
         tnr_blob* const blob = tnr_unique(nullptr, &repeated, nullptr, nullptr, nullptr, &result);
         return blob != nullptr ? tnr_blob_release(blob) : tnr_last_error()->status;
       },
       {1, 4, 4}},
      {TNR_OPERATION_HISTOGRAM,
       [&] {
         const tnr_view vector = floats({{3, 1}});
         tnr_histogram_attributes attributes = {};
         attributes.struct_size = sizeof attributes;
         attributes.high = 1;
         return tnr_histogram(nullptr, &vector, nullptr, &attributes, &whole);
       },
       {1, 12, 8}},
      {TNR_OPERATION_NORMALIZE,
       [&] { return tnr_normalize(nullptr, TNR_NORMALIZE_OP_SOFTMAX, &a, 1, nullptr, &out); },
       {1, 24, 24}},
      {TNR_OPERATION_SCAN,
       [&] { return tnr_scan(nullptr, TNR_SCAN_OP_MAX, &a, 0, nullptr, &out); },
       {1, 24, 24}},
      {TNR_OPERATION_MOMENTS,
       [&] {
         float results[2];
         tnr_view_mut mean = {floats({})};
         tnr_view_mut var = mean;
         mean.view.base = mean.view.data = &results[0];
         var.view.base = var.view.data = &results[1];
         mean.view.size_bytes = var.view.size_bytes = sizeof results[0];
         return tnr_moments(nullptr, &a, 1, nullptr, &mean, &var);
       },
       {1, 24, 8}},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.operation);
    EXPECT_EQ(counted(one.operation, [&] { EXPECT_EQ(one.call(), TNR_STATUS_OK); }), one.expected);
  }
  EXPECT_EQ(tnr_factor_release(factor), TNR_STATUS_OK);
}

TEST_F(OperationStats, CountTheBytesOfAnEinsumUnderWhatItIsMadeOf) {
  tnr_view_mut dot = out;
  dot.view.rank = 0;
  const tnr_view operands[] = {a, a};
  const auto einsum = [&] {
    EXPECT_EQ(tnr_einsum(nullptr, "i,i->", operands, 2, nullptr, &dot), TNR_STATUS_OK);
  };
  EXPECT_EQ(added(TNR_OPERATION_EINSUM, einsum), (Counted{1, 0, 0}));
  EXPECT_EQ(added(TNR_OPERATION_MATMUL, einsum), (Counted{1, 48, 4}));
}

TEST_F(OperationStats, CountElementsAndNotWhatLiesBetweenThem) {
  out.view.rank = 2;
  out.view.shape[0] = 4;
  out.view.shape[1] = 3;
  out.view.strides[0] = -8;
  out.view.strides[1] = 2;
  out.view.data = out_memory + 24;
  const tnr_view column = floats({{4, -5}, {1, 77}});
  tnr_view repeated = floats({{4, 0}, {3, 2}});
  tnr_view moved = column;
  moved.data = memory + 15;
  EXPECT_EQ(counted(TNR_OPERATION_BINARY,
                    [&] {
                      EXPECT_EQ(
                          tnr_binary(nullptr, TNR_BINARY_OP_MUL, &moved, &repeated, nullptr, &out),
                          TNR_STATUS_OK);
                    }),
            (Counted{1, (4 + 3) * 4, 4 * 3 * 4}));
}

TEST_F(OperationStats, CountNoByteWhereThereIsNothingToDo) {
  const tnr_view none = floats({{0, 1}});
  const tnr_view one = floats({{1, 1}});
  const tnr_view_mut empty_out = {none};
  const auto of = [](const std::function<tnr_status()>& call) {
    return [call] { EXPECT_EQ(call(), TNR_STATUS_OK); };
  };
  EXPECT_EQ(counted(TNR_OPERATION_BINARY, of([&] {
                      return tnr_binary(nullptr, TNR_BINARY_OP_ADD, &one, &none, nullptr,
                                        &empty_out);
                    })),
            (Counted{1, 0, 0}));
  EXPECT_EQ(
      counted(TNR_OPERATION_COPY, of([&] { return tnr_copy(nullptr, &out.view, nullptr, &out); })),
      (Counted{1, 0, 0}));
  const tnr_view nothing_in_rows = floats({{3, 1}, {0, 0}});
  out.view.shape[0] = 3;
  EXPECT_EQ(counted(TNR_OPERATION_REDUCE, of([&] {
                      return tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &nothing_in_rows, 2, nullptr,
                                        &out);
                    })),
            (Counted{1, 0, 12}));
  EXPECT_EQ(counted(TNR_OPERATION_REDUCE, of([&] {
                      return tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, &nothing_in_rows, 1, nullptr,
                                        &empty_out);
                    })),
            (Counted{1, 0, 0}));
}

TEST_F(OperationStats, CountNoCallThatFails) {
  std::int32_t numbers[kCount] = {};
  const tnr_view zeros = view_of(numbers, sizeof numbers, 0, TNR_DTYPE_I32, {{kCount, 1}});
  const tnr_view_mut quotients = {zeros};
  EXPECT_EQ(counted(TNR_OPERATION_BINARY,
                    [&] {
                      EXPECT_EQ(tnr_binary(nullptr, TNR_BINARY_OP_DIV, &zeros, &zeros, nullptr,
                                           &quotients),
                                TNR_STATUS_INVALID_ARGUMENT);
                      EXPECT_EQ(tnr_binary(nullptr, TNR_BINARY_OP_ADD, &a, &zeros, nullptr, &out),
                                TNR_STATUS_INVALID_ARGUMENT);
                      EXPECT_EQ(tnr_binary(nullptr, TNR_BINARY_OP_ADD, nullptr, &a, nullptr, &out),
                                TNR_STATUS_INVALID_ARGUMENT);
                    }),
            (Counted{0, 0, 0}));
}

TEST_F(OperationStats, RefuseWhatHasNoName) {
  tnr_operation_stats stats = {};
  stats.struct_size = sizeof stats;
  constexpr tnr_operation kLast = TNR_OPERATION_QUANTIZED_CONV2D;
  for (const tnr_operation operation : {0, kLast + 1, -1}) {
    expect_refused(tnr_operation_stats_read(operation, &stats), TNR_STATUS_INVALID_ARGUMENT,
                   {"operation is " + std::to_string(operation), "1 to " + std::to_string(kLast)});
  }
  stats.struct_size = 39;
  expect_refused(tnr_operation_stats_read(TNR_OPERATION_COPY, &stats), TNR_STATUS_INVALID_ARGUMENT,
                 {"stats->struct_size is 39", "at least 40"});
  expect_refused(tnr_operation_stats_read(TNR_OPERATION_COPY, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"stats is NULL"});
}

TEST_F(OperationStats, TakeTimeBetweenStartAndStop) {
  const auto nanoseconds_of = [&](tnr_status expected) {
    const std::uint64_t before = read(TNR_OPERATION_BINARY).nanoseconds;
    for (int call = 0; call < 100; ++call) EXPECT_EQ(add(), expected);
    return read(TNR_OPERATION_BINARY).nanoseconds - before;
  };
  EXPECT_EQ(nanoseconds_of(TNR_STATUS_OK), 0u);
  tnr_stats_time_start();
  EXPECT_GT(nanoseconds_of(TNR_STATUS_OK), 0u);
  out.view.shape[0] = 3;
  EXPECT_EQ(nanoseconds_of(TNR_STATUS_INVALID_ARGUMENT), 0u);
  out.view.shape[0] = kCount;
  // A thread that has counted nothing yet.
  std::thread([&] { EXPECT_GT(nanoseconds_of(TNR_STATUS_OK), 0u); }).join();
  tnr_stats_time_stop();
  EXPECT_EQ(nanoseconds_of(TNR_STATUS_OK), 0u);
}

// ---- threads ----

TEST_F(OperationStats, OfThreadsOneAfterTheOtherStay) {
  constexpr int kThreads = 600;  // more than can count at once
  EXPECT_EQ(counted(TNR_OPERATION_BINARY,
                    [&] {
                      for (int thread = 0; thread < kThreads; ++thread) {
                        std::thread([&] { EXPECT_EQ(add(), TNR_STATUS_OK); }).join();
                      }
                    }),
            (Counted{kThreads, kThreads * 48, kThreads * 24}));
}

// Calls once more when its thread has almost ended: after the counters heard of it, on some
// systems.
struct LateCaller {
  const tnr_view* a = nullptr;
  ~LateCaller() {
    float own[kCount];
    const tnr_view_mut out = {view_of(own, sizeof own, 0, TNR_DTYPE_F32, {{kCount, 1}})};
    EXPECT_EQ(tnr_binary(nullptr, TNR_BINARY_OP_ADD, a, a, nullptr, &out), TNR_STATUS_OK);
  }
};
thread_local LateCaller t_late_caller;

TEST_F(OperationStats, OfAThreadThatIsEndingCountToo) {
  EXPECT_EQ(counted(TNR_OPERATION_BINARY,
                    [&] {
                      std::thread([&] {
                        t_late_caller.a = &a;
                        EXPECT_EQ(
                            tnr_binary_scalar(nullptr, TNR_BINARY_OP_ADD, &a, &two, nullptr, &out),
                            TNR_STATUS_OK);
                      }).join();
                    }),
            (Counted{2, 24 + 48, 24 + 24}));
}

TEST_F(OperationStats, OfMoreThreadsThanThereAreBlocksAreExact) {
  constexpr unsigned kThreads = 530;
  constexpr unsigned kCalls = 20;
  EXPECT_EQ(counted(TNR_OPERATION_UNARY,
                    [&] {
                      Meeting meet(kThreads);
                      std::vector<std::thread> threads;
                      for (unsigned thread = 0; thread < kThreads; ++thread) {
                        threads.emplace_back([&] {
                          float own[kCount];
                          const tnr_view_mut mine = {
                              view_of(own, sizeof own, 0, TNR_DTYPE_F32, {{kCount, 1}})};
                          for (unsigned call = 0; call < kCalls; ++call) {
                            EXPECT_EQ(tnr_unary(nullptr, TNR_UNARY_OP_ABS, &a, nullptr, &mine),
                                      TNR_STATUS_OK);
                            if (call == 0) meet.arrive_and_wait();
                          }
                        });
                      }
                      for (std::thread& thread : threads) thread.join();
                    }),
            (Counted{kThreads * kCalls, kThreads * kCalls * 24, kThreads * kCalls * 24}));
}

// The reader sees numbers that only rise, and all that was done when the threads have ended.
TEST_F(OperationStats, RaceOfAReaderWithCalls) {
  constexpr int kThreads = 3;
  constexpr int kCalls = 2000;
  std::atomic<int> running = kThreads;
  const Counted all = counted(TNR_OPERATION_UNARY, [&] {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        float own[kCount];
        const tnr_view_mut mine = {view_of(own, sizeof own, 0, TNR_DTYPE_F32, {{kCount, 1}})};
        for (int call = 0; call < kCalls; ++call) {
          EXPECT_EQ(tnr_unary(nullptr, TNR_UNARY_OP_NEG, &a, nullptr, &mine), TNR_STATUS_OK);
          if (call % 500 == 0) tnr_stats_time_start();
          if (call % 500 == 250) tnr_stats_time_stop();
        }
        running -= 1;
      });
    }
    tnr_operation_stats last = read(TNR_OPERATION_UNARY);
    while (running != 0) {
      const tnr_operation_stats next = read(TNR_OPERATION_UNARY);
      EXPECT_GE(next.calls, last.calls);
      EXPECT_GE(next.read_bytes, last.read_bytes);
      EXPECT_GE(next.written_bytes, last.written_bytes);
      EXPECT_GE(next.nanoseconds, last.nanoseconds);
      EXPECT_GE(read_totals().calls, next.calls);
      last = next;
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(all, (Counted{kThreads * kCalls, kThreads * kCalls * 24, kThreads * kCalls * 24}));
}

}  // namespace
