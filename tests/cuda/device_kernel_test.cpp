// Kernels of users by image: their arguments, the order of their launches, and refusals. The tests
// run on a GPU and with the fake driver; those of faults run only with the fake driver.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cuda/kernels.hpp"
#include "device_child.hpp"
#include "device_floats.hpp"
#include "device_kernels.hpp"
#include "expect_status.hpp"
#include "unseen.hpp"

namespace {

using tenure::test::axpy;
using tenure::test::axpy_signature;
using tenure::test::context_on;
using tenure::test::crop_signature;
using tenure::test::describe_signature;
using tenure::test::download;
using tenure::test::expect_refused;
using tenure::test::Extents;
using tenure::test::f32;
using tenure::test::Floats;
using tenure::test::grid_of;
using tenure::test::image_options;
using tenure::test::in;
using tenure::test::input;
using tenure::test::is_driver_fake;
using tenure::test::Kernel;
using tenure::test::launch;
using tenure::test::number;
using tenure::test::out;
using tenure::test::output;
using tenure::test::places_signature;
using tenure::test::scalar;
using tenure::test::Signature;
using tenure::test::totals;
using tenure::test::unseen;
using tenure::test::Variable;

using DeviceKernel = tenure::test::OnDeviceWithCompiler;

// Elements of any dtype on the device, row-major.
template <class T>
struct Elements {
  Elements(tnr_context* of, tnr_dtype dtype, std::vector<std::int64_t> extents,
           const std::vector<T>& values)
      : context(of), blob(tnr_blob_copy(of, values.data(), values.size() * sizeof(T))) {
    EXPECT_NE(blob, nullptr) << tnr_last_error()->message;
    EXPECT_EQ(tnr_blob_view_mut(blob, 0, dtype, static_cast<std::uint32_t>(extents.size()),
                                extents.data(), nullptr, &view),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() { EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK); }

  [[nodiscard]] const tnr_view& in() const { return view.view; }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> result(view.view.size_bytes / sizeof(T));
    tnr_view_mut to;
    EXPECT_EQ(tnr_view_lend_mut(result.data(), view.view.size_bytes, 0, view.view.dtype,
                                view.view.rank, view.view.shape, nullptr, &to),
              TNR_STATUS_OK);
    EXPECT_EQ(tnr_copy(context, &view.view, nullptr, &to), TNR_STATUS_OK)
        << tnr_last_error()->message;
    return result;
  }

  tnr_context* context;
  tnr_blob* blob;
  tnr_view_mut view;
};

// ---- what kernels get ----

TEST_F(DeviceKernel, ViewsOfAnyStridesAreCropped) {
  const Kernel kernel(context_, image_options("masked_crop", crop_signature()));
  constexpr std::int64_t kRows = 7, kCols = 9, kChannels = 3, kSide = 5;
  std::vector<std::uint8_t> frame(kRows * kCols * kChannels);
  std::vector<std::uint8_t> mask(kRows * kCols);
  for (std::size_t i = 0; i < frame.size(); ++i) frame[i] = static_cast<std::uint8_t>(i + 1);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 3 != 0 ? 5 : 0;  // any but 0 is true
  const Elements<std::uint8_t> on_frame(context_, TNR_DTYPE_U8, {kRows, kCols, kChannels}, frame);
  const Elements<std::uint8_t> on_mask(context_, TNR_DTYPE_BOOL8, {kRows, kCols}, mask);
  const Elements<std::uint8_t> cropped(context_, TNR_DTYPE_U8, {kSide, kSide, kChannels},
                                       std::vector<std::uint8_t>(kSide * kSide * kChannels, 99));
  // The frame upside down, and the crop written with its rows and columns exchanged.
  tnr_view flipped;
  ASSERT_EQ(tnr_view_flip(&on_frame.in(), 0, &flipped), TNR_STATUS_OK);
  tnr_view_mut turned;
  ASSERT_EQ(tnr_view_transpose(&cropped.in(), 0, 1, &turned.view), TNR_STATUS_OK);
  const std::int64_t row = 4, col = -1;  // beyond two of the edges
  const tnr_scalar row_number = tnr_scalar_i64(row), col_number = tnr_scalar_i64(col);
  ASSERT_EQ(
      launch(context_, kernel, grid_of({2, 2}, {4, 4}),
             {in(flipped), in(on_mask.in()), number(row_number), number(col_number), out(turned)}),
      TNR_STATUS_OK)
      << tnr_last_error()->message;
  const std::vector<std::uint8_t> found = cropped.values();
  for (std::int64_t y = 0; y < kSide; ++y) {
    for (std::int64_t x = 0; x < kSide; ++x) {
      const std::int64_t from_y = row + y, from_x = col + x;
      const bool is_inside = from_y < kRows && from_x >= 0 && from_x < kCols;
      for (std::int64_t c = 0; c < kChannels; ++c) {
        const bool is_set =
            is_inside && mask[static_cast<std::size_t>(from_y * kCols + from_x)] != 0;
        const std::int64_t from = ((kRows - 1 - from_y) * kCols + from_x) * kChannels + c;
        const std::uint8_t expected = is_set ? frame[static_cast<std::size_t>(from)] : 0;
        EXPECT_EQ(found[static_cast<std::size_t>((x * kSide + y) * kChannels + c)], expected)
            << y << " " << x << " " << c;
      }
    }
  }
}

TEST_F(DeviceKernel, AViewIsItsAddressExtentsAndStrides) {
  const Kernel kernel(context_, image_options("describe", describe_signature()));
  const Floats memory(context_, {2, 3, 4}, std::vector<float>(24, 1.0f));
  const Elements<std::int64_t> told(context_, TNR_DTYPE_I64, {6}, std::vector<std::int64_t>(6, -1));
  const auto expect_told = [&](const tnr_view& view, const std::vector<std::int64_t>& expected) {
    ASSERT_EQ(launch(context_, kernel, grid_of({}, {32}), {in(view), out(told.view)}),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(told.values(), expected);
  };
  expect_told(*memory.in(), {2, 3, 4, 12, 4, 1});
  tnr_view view;
  ASSERT_EQ(tnr_view_flip(memory.in(), 1, &view), TNR_STATUS_OK);
  expect_told(view, {2, 3, 4, 12, -4, 1});
  // Fewer axes: in front, with extent 1 and stride 0.
  ASSERT_EQ(tnr_view_index(memory.in(), 1, 2, &view), TNR_STATUS_OK);
  expect_told(view, {1, 2, 4, 0, 12, 1});
  ASSERT_EQ(tnr_view_index(&view, 0, 1, &view), TNR_STATUS_OK);
  expect_told(view, {1, 1, 4, 0, 0, 1});
  ASSERT_EQ(tnr_view_index(&view, 0, 1, &view), TNR_STATUS_OK);
  expect_told(view, {1, 1, 1, 0, 0, 0});
  // Strides that a view has no need of are 0, and so are those of a broadcast.
  ASSERT_EQ(tnr_view_slice(memory.in(), 0, 1, 2, 1, &view), TNR_STATUS_OK);
  view.strides[0] = 77;
  expect_told(view, {1, 3, 4, 0, 4, 1});
  ASSERT_EQ(tnr_view_slice(memory.in(), 1, 1, 1, 1, &view), TNR_STATUS_OK);
  expect_told(view, {2, 0, 4, 12, 0, 1});
  const std::int64_t repeated[] = {5, 3, 4};
  ASSERT_EQ(tnr_view_slice(memory.in(), 0, 1, 2, 1, &view), TNR_STATUS_OK);
  ASSERT_EQ(tnr_view_broadcast(&view, 3, repeated, &view), TNR_STATUS_OK);
  expect_told(view, {5, 3, 4, 0, 4, 1});
}

TEST_F(DeviceKernel, AddressesAloneAreOfDenseViews) {
  const Kernel kernel(context_, image_options("axpy", axpy_signature()));
  const Floats x(context_, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Floats y(context_, {2, 3}, {10, 20, 30, 40, 50, 60});
  ASSERT_EQ(axpy(context_, kernel, 2, *x.in(), y.out), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(download(context_, *y.in()), (std::vector<float>{12, 24, 36, 48, 60, 72}));
  tnr_view turned;
  ASSERT_EQ(tnr_view_transpose(x.in(), 0, 1, &turned), TNR_STATUS_OK);
  expect_refused(axpy(context_, kernel, 2, turned, y.out), TNR_STATUS_INVALID_ARGUMENT,
                 {"arguments[1].input", "row-major", "axpy"});
  const tnr_view_mut turned_out = {[&] {
    tnr_view view;
    EXPECT_EQ(tnr_view_transpose(y.in(), 0, 1, &view), TNR_STATUS_OK);
    return view;
  }()};
  expect_refused(axpy(context_, kernel, 2, *x.in(), turned_out), TNR_STATUS_INVALID_ARGUMENT,
                 {"arguments[2].output", "row-major"});
  // A row of the transpose is not row-major either. A row is, and so is a view without elements.
  tnr_view part;
  ASSERT_EQ(tnr_view_index(x.in(), 0, 1, &part), TNR_STATUS_OK);
  tnr_view_mut part_out;
  ASSERT_EQ(tnr_view_index(y.in(), 0, 0, &part_out.view), TNR_STATUS_OK);
  EXPECT_EQ(axpy(context_, kernel, 1, part, part_out), TNR_STATUS_OK) << tnr_last_error()->message;
  ASSERT_EQ(tnr_view_slice(&turned, 1, 0, 0, 1, &part), TNR_STATUS_OK);
  EXPECT_EQ(axpy(context_, kernel, 1, part, part_out), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(download(context_, *y.in()), (std::vector<float>{16, 29, 42, 48, 60, 72}));
}

TEST_F(DeviceKernel, ProductsAndSumsAreRoundedEach) {
  const Kernel kernel(context_, image_options("axpy", axpy_signature()));
  const float x = 1.0f + 0x1p-12f;
  const Floats a(context_, {x});
  const Floats b(context_, {-x * x});
  ASSERT_EQ(axpy(context_, kernel, x, *a.in(), b.out), TNR_STATUS_OK);
  EXPECT_EQ(download(context_, *b.in()), std::vector<float>{0.0f});
}

TEST_F(DeviceKernel, GridsAndBlocksHaveThreeAxes) {
  const Kernel kernel(context_, image_options("places", places_signature()));
  const Extents blocks = {3, 2, 2};
  const Extents threads = {5, 3, 4};
  constexpr std::int64_t kThreads = 3 * 2 * 2 * 5 * 3 * 4;
  const Elements<std::int32_t> found(context_, TNR_DTYPE_I32, {kThreads, 6},
                                     std::vector<std::int32_t>(6 * kThreads, -1));
  ASSERT_EQ(launch(context_, kernel, grid_of(blocks, threads), {out(found.view)}), TNR_STATUS_OK)
      << tnr_last_error()->message;
  std::vector<std::int32_t> expected;
  for (int bz = 0; bz < 2; ++bz) {
    for (int by = 0; by < 2; ++by) {
      for (int bx = 0; bx < 3; ++bx) {
        for (int tz = 0; tz < 4; ++tz) {
          for (int ty = 0; ty < 3; ++ty) {
            for (int tx = 0; tx < 5; ++tx) {
              expected.insert(expected.end(), {bx, by, bz, tx, ty, tz});
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(found.values(), expected);
}

TEST_F(DeviceKernel, MayTakeNothing) {
  const Kernel kernel(context_, image_options("nothing", {}));
  const tnr_kernel_grid grid = grid_of({}, {});
  const tnr_stats before = totals();
  EXPECT_EQ(tnr_kernel_launch(context_, kernel.handle(), &grid, nullptr, 0), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(totals().device_launches, before.device_launches + 1);
  EXPECT_EQ(totals().device_waits, before.device_waits);
  EXPECT_EQ(tnr_context_wait(context_), TNR_STATUS_OK);
}

// ---- order and lending ----

TEST_F(DeviceKernel, ComesAfterAndBeforeTheOperationsOfOtherContexts) {
  const Kernel kernel(context_, image_options("axpy", axpy_signature()));
  tnr_context* const other = context_on(tenure::test::kFirstDevice);
  ASSERT_NE(other, nullptr);
  for (int round = 0; round < 10; ++round) {
    const Floats x(context_, std::vector<float>(200, 1.0f));
    const Floats y(other, std::vector<float>(200, 1.0f));
    float expected = 1;
    const tnr_stats before = totals();
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(tnr_binary(context_, TNR_BINARY_OP_ADD, y.in(), x.in(), nullptr, &y.out),
                TNR_STATUS_OK);
      ASSERT_EQ(axpy(i % 2 == 0 ? other : context_, kernel, 2, *x.in(), y.out), TNR_STATUS_OK)
          << tnr_last_error()->message;
      expected += 3;
    }
    EXPECT_EQ(totals().device_waits, before.device_waits);
    EXPECT_EQ(download(round % 2 == 0 ? other : context_, *y.in()),
              std::vector<float>(200, expected));
  }
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceKernel, MemoryAndKernelEndAfterTheWork) {
  Kernel kernel(context_, image_options("axpy", axpy_signature()));
  Floats y(context_, std::vector<float>(100, 1.0f));
  {
    Floats x(context_, std::vector<float>(100, 3.0f));
    ASSERT_EQ(axpy(context_, kernel, 2, *x.in(), y.out), TNR_STATUS_OK);
    // Freed, and used by others, after the work.
    x.release();
    const Floats next(context_, std::vector<float>(100, -1.0f));
    kernel.release();
    EXPECT_EQ(download(context_, *y.in()), std::vector<float>(100, 7.0f));
  }
}

TEST_F(DeviceKernel, ManyEndWithoutMeetingWork) {
  const Floats x(context_, std::vector<float>(10, 1.0f));
  const Floats y(context_, std::vector<float>(10, 0.0f));
  tnr_context* const other = context_on(tenure::test::kFirstDevice);
  ASSERT_NE(other, nullptr);
  const tnr_stats before = totals();
  for (int i = 0; i < 100; ++i) {
    const Kernel kernel(context_, image_options("axpy", axpy_signature()));
    ASSERT_EQ(axpy(i % 2 == 0 ? context_ : other, kernel, 1, *x.in(), y.out), TNR_STATUS_OK);
  }
  // Sixteen or more end at a time, for which the device is waited for once.
  EXPECT_LE(totals().device_waits - before.device_waits, 7u);
  EXPECT_GE(totals().device_waits - before.device_waits, 4u);
  EXPECT_EQ(download(context_, *y.in()), std::vector<float>(10, 100.0f));
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceKernel, ThreadsMakeLaunchAndEndThemAtOnce) {
  const Kernel shared(context_, image_options("axpy", axpy_signature()));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      tnr_context* const own = context_on(tenure::test::kFirstDevice);
      ASSERT_NE(own, nullptr);
      {
        const Floats x(own, std::vector<float>(10, 1.0f));
        const Floats y(own, std::vector<float>(10, 0.0f));
        for (int i = 0; i < 25; ++i) {
          const Kernel kernel(own, image_options("axpy", axpy_signature()));
          EXPECT_EQ(axpy(own, kernel, 1, *x.in(), y.out), TNR_STATUS_OK);
          EXPECT_EQ(axpy(own, shared, 1, *x.in(), y.out), TNR_STATUS_OK);
        }
        EXPECT_EQ(download(own, *y.in()), std::vector<float>(10, 50.0f));
      }
      EXPECT_EQ(tnr_context_release(own), TNR_STATUS_OK);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The driver is the parent's: in the child nothing is launched, and nothing ends on the device.
TEST_F(DeviceKernel, AChildOfForkGivesNothingBack) {
  const Signature signature;
  const tnr_kernel_options options = image_options("nothing", signature);
  tnr_kernel* const kernel = tnr_kernel_create(context_, &options);
  ASSERT_NE(kernel, nullptr) << tnr_last_error()->message;
  const tnr_kernel_grid grid = grid_of({}, {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool is_right =
        tnr_kernel_launch(context_, kernel, &grid, nullptr, 0) == TNR_STATUS_INVALID_ARGUMENT &&
        tnr_kernel_create(context_, &options) == nullptr &&
        tnr_kernel_release(kernel) == TNR_STATUS_OK;
    _exit(is_right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(tnr_kernel_launch(context_, kernel, &grid, nullptr, 0), TNR_STATUS_OK);
  EXPECT_EQ(tnr_kernel_release(kernel), TNR_STATUS_OK);
}

TEST_F(DeviceKernel, OutputsShareNoByteWithOtherArguments) {
  const Kernel kernel(context_, image_options("axpy", axpy_signature()));
  const Floats memory(context_, std::vector<float>(30, 1.0f));
  expect_refused(axpy(context_, kernel, 2, *memory.in(), memory.out), TNR_STATUS_ALIASED,
                 {"arguments[2].output", "arguments[1].input", "share bytes"});
  tnr_view low;
  tnr_view_mut high;
  ASSERT_EQ(tnr_view_slice(memory.in(), 0, 0, 16, 1, &low), TNR_STATUS_OK);
  ASSERT_EQ(tnr_view_slice(memory.in(), 0, 15, 30, 1, &high.view), TNR_STATUS_OK);
  expect_refused(axpy(context_, kernel, 2, low, high), TNR_STATUS_ALIASED, {"share bytes"});
  ASSERT_EQ(tnr_view_slice(memory.in(), 0, 0, 15, 1, &low), TNR_STATUS_OK);
  EXPECT_EQ(axpy(context_, kernel, 2, low, high), TNR_STATUS_OK) << tnr_last_error()->message;

  // Two outputs, and an output in itself.
  const Kernel two(context_, image_options("axpy", {scalar(TNR_DTYPE_F32),
                                                    output(TNR_DTYPE_F32, 1, 1, TNR_KERNEL_POINTER),
                                                    output(TNR_DTYPE_F32, 1, 1, TNR_KERNEL_POINTER),
                                                    scalar(TNR_DTYPE_I64)}));
  const tnr_scalar alpha = f32(1), count = tnr_scalar_i64(30);
  expect_refused(launch(context_, two, grid_of({}, {}),
                        {number(alpha), out(memory.out), out(memory.out), number(count)}),
                 TNR_STATUS_ALIASED, {"arguments[1].output", "arguments[2].output"});
  const Kernel crop(context_, image_options("masked_crop", crop_signature()));
  const Elements<std::uint8_t> bytes(context_, TNR_DTYPE_U8, {1, 4, 4},
                                     std::vector<std::uint8_t>(16, 1));
  const Elements<std::uint8_t> mask(context_, TNR_DTYPE_BOOL8, {4, 4},
                                    std::vector<std::uint8_t>(16, 1));
  tnr_view_mut repeated = bytes.view;
  repeated.view.shape[0] = 2;
  repeated.view.strides[0] = 0;
  expect_refused(
      launch(context_, crop, grid_of({}, {}),
             {in(bytes.in()), in(mask.in()), number(count), number(count), out(repeated)}),
      TNR_STATUS_ALIASED, {"arguments[4].output"});
}

TEST_F(DeviceKernel, OwnersAreHeldToTheirWord) {
  const Kernel kernel(context_, image_options("axpy", axpy_signature()));
  const Floats y(context_, std::vector<float>(10, 1.0f));
  Floats ended(context_, std::vector<float>(10, 1.0f));
  ended.release();
  expect_refused(axpy(context_, kernel, 2, *ended.in(), y.out), TNR_STATUS_STALE_VIEW,
                 {"arguments[1].input", "released"});
  // Read-only memory of the device.
  const Floats lender(context_, std::vector<float>(10, 1.0f));
  tnr_blob* const shared = tnr_blob_borrow_on(context_, tnr_blob_data(lender.blob), 40);
  ASSERT_NE(shared, nullptr) << tnr_last_error()->message;
  const std::int64_t extent = 10;
  tnr_view_mut read_only;
  ASSERT_EQ(tnr_blob_view(shared, 0, TNR_DTYPE_F32, 1, &extent, nullptr, &read_only.view),
            TNR_STATUS_OK);
  EXPECT_EQ(axpy(context_, kernel, 2, read_only.view, y.out), TNR_STATUS_OK);
  expect_refused(axpy(context_, kernel, 2, *y.in(), read_only), TNR_STATUS_INVALID_ARGUMENT,
                 {"arguments[2].output"});
  EXPECT_EQ(tnr_blob_end_borrow(shared), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(shared), TNR_STATUS_OK);
  EXPECT_EQ(download(context_, *y.in()), std::vector<float>(10, 3.0f));
}

// ---- handles ----

TEST_F(DeviceKernel, HandlesAreCountedAndStaleOnesSeen) {
  const Signature signature = axpy_signature();
  const tnr_kernel_options options = image_options("axpy", signature);
  tnr_kernel* const kernel = tnr_kernel_create(context_, &options);
  ASSERT_NE(kernel, nullptr) << tnr_last_error()->message;
  // Others than the compiler knows to be released.
  tnr_kernel* const same = unseen(kernel);
  tnr_kernel* const stale = unseen(kernel);
  EXPECT_EQ(tnr_kernel_retain(same), same);
  EXPECT_EQ(tnr_kernel_release(kernel), TNR_STATUS_OK);
  const tnr_kernel_grid grid = grid_of({}, {});
  expect_refused(tnr_kernel_launch(context_, same, &grid, nullptr, 0), TNR_STATUS_INVALID_ARGUMENT,
                 {"argument_count is 0", "takes 4"});
  EXPECT_EQ(tnr_kernel_release(same), TNR_STATUS_OK);
  expect_refused(tnr_kernel_retain(stale), TNR_STATUS_STALE_HANDLE, {"kernel", "released"});
  expect_refused(tnr_kernel_launch(context_, stale, &grid, nullptr, 0), TNR_STATUS_STALE_HANDLE,
                 {"released"});
  expect_refused(tnr_kernel_release(stale), TNR_STATUS_STALE_HANDLE, {"kernel", "released"});
  auto* const garbage = reinterpret_cast<tnr_kernel*>(unseen(std::uintptr_t{0x1234}));
  expect_refused(tnr_kernel_release(garbage), TNR_STATUS_STALE_HANDLE, {"0x1234"});
  EXPECT_EQ(tnr_kernel_release(nullptr), TNR_STATUS_OK);
}

// ---- refusals ----

TEST_F(DeviceKernel, OptionsThatAreNoneAreRefused) {
  const Signature signature = axpy_signature();
  const tnr_kernel_options good = image_options("axpy", signature);
  const auto expect = [&](tnr_kernel_options options, std::initializer_list<std::string> words) {
    expect_refused(tnr_kernel_create(context_, &options), TNR_STATUS_INVALID_ARGUMENT, words);
  };
  const auto with = [&](auto change) {
    tnr_kernel_options options = good;
    change(options);
    return options;
  };
  using Options = tnr_kernel_options;
  expect_refused(tnr_kernel_create(context_, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"options is NULL"});
  expect(with([](Options& o) { o.struct_size = 8; }), {"struct_size is 8"});
  expect(with([](Options& o) { o.name = nullptr; }), {"name is NULL"});
  expect(with([](Options& o) { o.name = ""; }), {"name has 0 bytes"});
  const std::string long_name(2000, 'a');
  expect(with([&](Options& o) { o.name = long_name.c_str(); }), {"name has more", "1023"});
  expect(with([](Options& o) { o.image = nullptr; }), {"image and source", "both NULL"});
  expect(with([](Options& o) { o.source = "x"; }), {"image and source", "both not NULL"});
  expect(with([](Options& o) { o.compiler_option_count = 1; }), {"compiler_option_count is 1"});
  expect(with([](Options& o) { o.parameter_count = 33; }), {"parameter_count is 33", "32"});
  expect(with([](Options& o) { o.parameters = nullptr; }), {"parameters is NULL"});
  expect_refused(tnr_kernel_create(nullptr, &good), TNR_STATUS_INVALID_ARGUMENT, {"no device"});
  auto* const garbage = reinterpret_cast<tnr_context*>(unseen(std::uintptr_t{0x1234}));
  expect_refused(tnr_kernel_create(garbage, &good), TNR_STATUS_STALE_HANDLE, {"0x1234"});

  const auto expect_parameter = [&](tnr_kernel_parameter parameter,
                                    std::initializer_list<std::string> words) {
    Signature changed = signature;
    changed[1] = parameter;
    expect(image_options("axpy", changed), words);
  };
  expect_parameter({tnr_kernel_argument_kind{9}, TNR_DTYPE_F32, 0, 1, 0, 0},
                   {"parameters[1].kind is 9"});
  expect_parameter(input(0x00010400, 0, 1), {"parameters[1].dtype is 0x00010400"});
  expect_parameter(scalar(0x00048020), {"parameters[1].dtype is 0x00048020", "16"});
  expect_parameter(input(TNR_DTYPE_F32, 3, 2), {"parameters[1]", "ranks 3 to 2"});
  expect_parameter(input(TNR_DTYPE_F32, 3, 9), {"parameters[1]", "ranks 3 to 9", "0 to 8"});
  expect_parameter({TNR_KERNEL_ARGUMENT_KIND_SCALAR, TNR_DTYPE_F32, 0, 1, 0, 0},
                   {"parameters[1]", "ranks 0 to 1", "0 to 0"});
  expect_parameter(input(TNR_DTYPE_F32, 0, 1, 2), {"parameters[1].flags is 0x2"});
  expect_parameter({TNR_KERNEL_ARGUMENT_KIND_SCALAR, TNR_DTYPE_F32, 0, 0, 1, 0},
                   {"parameters[1].flags is 0x1"});
  expect_parameter({TNR_KERNEL_ARGUMENT_KIND_INPUT, TNR_DTYPE_F32, 0, 1, 0, 7},
                   {"parameters[1].reserved is 7"});
}

TEST_F(DeviceKernel, OtherSignaturesThanTheKernelsAreRefused) {
  const auto expect = [&](const Signature& signature, std::initializer_list<std::string> words) {
    const tnr_kernel_options options = image_options("axpy", signature);
    expect_refused(tnr_kernel_create(context_, &options), TNR_STATUS_INVALID_ARGUMENT, words);
  };
  Signature changed = axpy_signature();
  changed[3] = scalar(TNR_DTYPE_I32);
  expect(changed, {"parameters[3] is of 4 bytes", "8 in the kernel axpy"});
  changed = axpy_signature();
  changed[1].flags = 0;  // extents and strides, which the kernel does not take
  expect(changed, {"parameters[1] is of 136 bytes", "8 in the kernel axpy"});
  changed = axpy_signature();
  changed.pop_back();
  expect(changed, {"parameter_count is 3", "axpy has more"});
  changed = axpy_signature();
  changed.push_back(scalar(TNR_DTYPE_I32));
  expect(changed, {"parameter_count is 5", "axpy has 4"});
}

TEST_F(DeviceKernel, ImagesThatAreNoneAreRefused) {
  const auto expect = [&](const std::string& image, std::initializer_list<std::string> words,
                          const char* name = "axpy") {
    const Signature signature = axpy_signature();
    tnr_kernel_options options = image_options(name, signature);
    options.image = image.data();
    options.image_bytes = image.size();
    expect_refused(tnr_kernel_create(context_, &options), TNR_STATUS_INVALID_ARGUMENT, words);
  };
  expect(tenure::test::kUserPtx, {"name is nope", "no kernel of the image"}, "nope");
  expect("", {"neither a fat binary nor a cubin nor PTX"});
  expect("hello", {"neither"});
  // Bytes behind the end of a text are none of it.
  expect(std::string("x\0.version 9.0", 14), {"neither"});
  expect(std::string(tenure::test::kUserPtx) + "\n.visible .entry broken() {\n",
         {"kernel axpy: the PTX does not compile: ", "ptxas"});

  // The driver reads as far as an image says; this one is whole, and then it is not. A library
  // without kernels has no image: the fake driver takes any 64 bytes behind a header.
  std::string fat("\x50\xed\x55\xba\1\0\x10\0\x40\0\0\0\0\0\0\0", 16);
  fat.resize(80);
  const tenure::cuda::FatBinary own = tenure::cuda::fat_binary();
  if (own.size_bytes != 0) fat.assign(static_cast<const char*>(own.data), own.size_bytes);
  expect(fat, {"name is nope"}, "nope");
  expect(fat.substr(0, fat.size() - 1), {"image_bytes is", "says"});
  expect(fat.substr(0, 10), {"image_bytes is 10"});
  std::string elf(128, '\0');
  std::memcpy(elf.data(), "\177ELF\2", 5);
  const auto put = [&elf](std::size_t at, std::uint64_t value, std::size_t bytes) {
    std::memcpy(elf.data() + at, &value, bytes);
  };
  expect(elf.substr(0, 20), {"image_bytes is 20"});
  put(40, 64, 8);  // a section's header
  put(58, 64, 2);
  put(60, 1, 2);
  expect(elf, {"name is nope"}, "nope");
  put(60, 2, 2);
  expect(elf, {"image_bytes is 128", "128 bytes begin at byte 64"});
  put(60, 1, 2);
  put(64 + 32, 1000, 8);  // a section's end
  expect(elf, {"image_bytes is 128", "1000 bytes"});
  put(64 + 4, 8, 4);  // of one that has no bytes
  expect(elf, {"name is nope"}, "nope");
  put(58, 40, 2);
  expect(elf, {"section headers are of 40 bytes"});
  put(58, 64, 2);
  put(32, UINT64_MAX, 8);  // program headers
  put(54, 56, 2);
  put(56, 1, 2);
  expect(elf, {"image_bytes is 128", "56 bytes"});
}

TEST_F(DeviceKernel, ArgumentsThatAreOthersAreRefused) {
  const Kernel kernel(context_, image_options("axpy", axpy_signature()));
  const Floats x(context_, std::vector<float>(10, 1.0f));
  const Floats y(context_, std::vector<float>(10, 1.0f));
  const tnr_scalar alpha = f32(1), count = tnr_scalar_i64(10);
  const std::vector<tnr_kernel_argument> good = {number(alpha), in(*x.in()), out(y.out),
                                                 number(count)};
  const auto expect = [&](std::uint32_t i, tnr_kernel_argument argument, tnr_status status,
                          std::initializer_list<std::string> words) {
    std::vector<tnr_kernel_argument> changed = good;
    changed[i] = argument;
    expect_refused(launch(context_, kernel, grid_of({}, {}), changed), status, words);
  };
  const tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  expect(0, in(*x.in()), kInvalid, {"arguments[0] has an input", "axpy takes an scalar"});
  expect(1, number(alpha), kInvalid, {"arguments[1] has a scalar", "takes an input"});
  expect(2, in(*y.in()), kInvalid, {"arguments[2] has an input", "takes an output"});
  expect(2, {nullptr, nullptr, nullptr}, kInvalid, {"arguments[2] has nothing"});
  expect(2, {x.in(), &y.out, nullptr}, kInvalid, {"arguments[2] has an input an output"});
  expect(3, number(alpha), kInvalid, {"arguments[3].scalar", "f32", "takes i64"});
  tnr_scalar reserved = alpha;
  reserved.reserved = 1;
  expect(0, number(reserved), kInvalid, {"arguments[0].scalar", "reserved 1"});
  tnr_view integers = *x.in();
  integers.dtype = TNR_DTYPE_I32;
  expect(1, in(integers), kInvalid, {"arguments[1].input.dtype is i32", "takes f32"});
  tnr_view broken = *x.in();
  broken.shape[0] = 11;
  expect(1, in(broken), kInvalid, {"arguments[1].input"});
  std::vector<float> here(10, 1.0f);
  const tnr_view_mut of_the_cpu = tenure::test::lend(here);
  expect(1, in(of_the_cpu.view), TNR_STATUS_UNSUPPORTED, {"arguments[1].input.device is the CPU"});
  expect(2, out(of_the_cpu), TNR_STATUS_UNSUPPORTED, {"arguments[2].output.device is the CPU"});

  const tnr_kernel_grid grid = grid_of({}, {});
  expect_refused(tnr_kernel_launch(context_, kernel.handle(), &grid, good.data(), 3), kInvalid,
                 {"argument_count is 3", "takes 4"});
  expect_refused(tnr_kernel_launch(context_, kernel.handle(), &grid, unseen(good.data()), 5),
                 kInvalid, {"argument_count is 5"});
  const tnr_kernel_argument* const nothing = nullptr;
  expect_refused(tnr_kernel_launch(context_, kernel.handle(), &grid, unseen(nothing), 4), kInvalid,
                 {"arguments is NULL"});
  expect_refused(launch(nullptr, kernel, grid, good), kInvalid, {"no device"});
  expect_refused(tnr_kernel_launch(context_, kernel.handle(), nullptr, good.data(), 4), kInvalid,
                 {"grid is NULL"});

  const Kernel describe(
      context_, image_options("describe", {input(TNR_DTYPE_F32, 2, 3),
                                           output(TNR_DTYPE_I64, 1, 1, TNR_KERNEL_POINTER)}));
  const Elements<std::int64_t> told(context_, TNR_DTYPE_I64, {6}, std::vector<std::int64_t>(6));
  expect_refused(launch(context_, describe, grid, {in(*x.in()), out(told.view)}), kInvalid,
                 {"arguments[0].input.rank is 1", "takes 2 to 3"});
  EXPECT_EQ(download(context_, *y.in()), std::vector<float>(10, 1.0f));
}

TEST_F(DeviceKernel, GridsThatNoDeviceTakesAreRefused) {
  const Kernel kernel(context_, image_options("nothing", {}));
  const auto expect = [&](const tnr_kernel_grid& grid, std::initializer_list<std::string> words) {
    expect_refused(tnr_kernel_launch(context_, kernel.handle(), &grid, nullptr, 0),
                   TNR_STATUS_INVALID_ARGUMENT, words);
  };
  expect(grid_of({0}, {}), {"grid->blocks[0] is 0", "1 to 2147483647"});
  expect(grid_of({1u << 31}, {}), {"grid->blocks[0] is 2147483648"});
  expect(grid_of({1, 65536}, {}), {"grid->blocks[1] is 65536", "65535 along y"});
  expect(grid_of({1, 1, 65536}, {}), {"grid->blocks[2] is 65536", "65535 along z"});
  expect(grid_of({}, {0}), {"grid->threads[0] is 0", "1 to 1024"});
  expect(grid_of({}, {1, 1025}), {"grid->threads[1] is 1025"});
  expect(grid_of({}, {1, 1, 65}), {"grid->threads[2] is 65", "1 to 64"});
  expect(grid_of({}, {32, 32, 2}), {"grid->threads are 2048 in all", "nothing can have 1024"});
  expect(grid_of({}, {}, 1u << 30), {"grid->shared_bytes is 1073741824", "nothing can have"});
  tnr_kernel_grid grid = grid_of({}, {});
  grid.reserved = 1;
  expect(grid, {"grid->reserved is 1"});
  grid = grid_of({}, {});
  grid.struct_size = 4;
  expect(grid, {"struct_size is 4"});
  // More shared memory than a kernel has that does not ask for it.
  grid = grid_of({}, {32, 32}, 64 << 10);
  EXPECT_EQ(tnr_kernel_launch(context_, kernel.handle(), &grid, nullptr, 0), TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(tnr_context_wait(context_), TNR_STATUS_OK) << tnr_last_error()->message;
}

// ---- faults ----

class DeviceKernelFault : public DeviceKernel {
 protected:
  void SetUp() override {
    if (!is_driver_fake()) GTEST_SKIP() << "the driver cannot be made to fail";
    DeviceKernel::SetUp();
  }
};

TEST_F(DeviceKernelFault, TheDriversAnswersHaveTheirMessages) {
  const Signature signature = axpy_signature();
  const tnr_kernel_options options = image_options("axpy", signature);
  const auto expect = [&](const char* answer, tnr_status status,
                          std::initializer_list<std::string> words) {
    const Variable fail("TENURE_FAKE_CUDA_FAIL", std::string("cuModuleLoadDataEx:0:") + answer);
    expect_refused(tnr_kernel_create(context_, &options), status, words);
  };
  expect("209", TNR_STATUS_UNSUPPORTED, {"axpy", "no code for cuda:0", "9.0"});
  expect("222", TNR_STATUS_UNSUPPORTED, {"axpy", "PTX of a newer CUDA"});
  expect("218", TNR_STATUS_INVALID_ARGUMENT, {"axpy", "does not compile"});
  expect("200", TNR_STATUS_INVALID_ARGUMENT, {"axpy", "cannot read the image"});
  expect("300", TNR_STATUS_INVALID_ARGUMENT, {"axpy", "cannot read the image"});
  expect("2", TNR_STATUS_OUT_OF_MEMORY, {"cuModuleLoadDataEx"});
  expect("999", TNR_STATUS_DEVICE_ERROR, {"cuModuleLoadDataEx", "CUDA_ERROR_UNKNOWN"});
}

TEST_F(DeviceKernelFault, ALaunchThatFailsNamesTheKernel) {
  const Kernel kernel(context_, image_options("axpy", axpy_signature()));
  const Floats x(context_, std::vector<float>(10, 1.0f));
  const Floats y(context_, std::vector<float>(10, 1.0f));
  const Variable fail("TENURE_FAKE_CUDA_FAIL", "cuLaunchKernel:1");
  expect_refused(axpy(context_, kernel, 1, *x.in(), y.out), TNR_STATUS_DEVICE_ERROR,
                 {"axpy: CUDA_ERROR_UNKNOWN"});
  EXPECT_EQ(axpy(context_, kernel, 1, *x.in(), y.out), TNR_STATUS_OK);
}

TEST_F(DeviceKernelFault, AnotherDeviceHasItNot) {
  const Variable devices("TENURE_FAKE_CUDA_DEVICES", "2");
  const Kernel kernel(context_, image_options("nothing", {}));
  tnr_context* const other = context_on({TNR_DEVICE_KIND_CUDA, 1});
  ASSERT_NE(other, nullptr) << tnr_last_error()->message;
  expect_refused(launch(other, kernel, grid_of({}, {}), {}), TNR_STATUS_INVALID_ARGUMENT,
                 {"nothing is on cuda:0", "cuda:1"});
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

// Creates, launches and releases forty kernels. The test below runs it in a process of its own.
TEST(DeviceChild, DISABLED_Run) {
  tnr_context* const context = context_on(tenure::test::kFirstDevice);
  ASSERT_NE(context, nullptr) << tnr_last_error()->message;
  const Signature signature;
  const tnr_kernel_options options = image_options("nothing", signature);
  std::string message = "none";
  for (int i = 0; i < 40; ++i) {
    tnr_kernel* const kernel = tnr_kernel_create(context, &options);
    const tnr_kernel_grid grid = grid_of({}, {}, 64 << 10);
    if (kernel == nullptr || tnr_kernel_launch(context, kernel, &grid, nullptr, 0) != 0) {
      message = tnr_last_error()->message;
    }
    EXPECT_EQ(tnr_kernel_release(kernel), TNR_STATUS_OK) << tnr_last_error()->message;
  }
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  std::printf("message: %s\n", message.c_str());
}

TEST_F(DeviceKernelFault, EachEntryPointMayFail) {
  const auto expect = [](const std::string& name, const char* words) {
    tenure::test::expect_child_says("TENURE_FAKE_CUDA_FAIL=" + name, words);
    tenure::test::expect_child_says("TENURE_FAKE_CUDA_FAIL=" + name + ":2", "message: ");
  };
  expect("cuModuleLoadDataEx", "cuModuleLoadDataEx");
  for (const char* const name : {"cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute",
                                 "cuFuncGetParamInfo", "cuLaunchKernel"}) {
    expect(name, "message: nothing: CUDA_ERROR_UNKNOWN");
  }
  // A failure at the end of a kernel or a context is not reported.
  expect("cuModuleUnload", "message: none");
  expect("cuCtxSynchronize", "message: none");
}

}  // namespace
