// Sparse matrices that a device holds: what checks them and when, and in which order they are used.
#include <cstring>

#include "device_compressed.hpp"
#include "device_floats.hpp"

namespace tenure {
namespace {

using namespace test;

using DeviceSparse = OnDevice;

// A handle's matrix has been checked: its products wait for nothing.
TEST_F(DeviceSparse, AHandleIsCheckedOnce) {
  Random random(12);
  const Compressed matrix = matrix_of({2, 0, 300, 1}, 30, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  Array b(TNR_DTYPE_F32, {30}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_F32, {4}, Arrangement::kRowMajor, random);
  fill_with_numbers(b, Type::kF32, random);
  const DeviceArray b_there(context_, b);
  const DeviceArray out_there(context_, out);
  const tnr_view_mut out_here = out.out();
  ASSERT_EQ(multiply(nullptr,
                     view_of(matrix, parts.major.view(), parts.minor.view(), parts.values.view()),
                     &b.view(), &out_here),
            TNR_STATUS_OK);

  tnr_sparse_view view = {};
  view.struct_size = sizeof view;
  {
    const DeviceParts there(context_, parts);
    const tnr_sparse_view lent = there.view(matrix);
    tnr_sparse* const made = tnr_sparse_create(&lent);
    ASSERT_NE(made, nullptr) << tnr_last_error()->message;
    // Nobody may write its indices any more.
    const tnr_scalar zero = number_of(0);
    const tnr_view_mut indices = {lent.minor};
    EXPECT_EQ(tnr_fill(context_, &zero, nullptr, &indices), TNR_STATUS_INVALID_ARGUMENT);
    ASSERT_EQ(tnr_sparse_view_of(made, &view), TNR_STATUS_OK);
    std::uint64_t waits = totals().device_waits;
    EXPECT_EQ(multiply(context_, view, b_there.in(), out_there.out()), TNR_STATUS_OK);
    EXPECT_EQ(totals().device_waits, waits);
    expect_same_memory(out, out_there, 0, "by a handle");

    // Rows 2 and 3, which are its own.
    tnr_sparse_view range = view;
    range.rows = 2;
    range.major.data = static_cast<const Byte*>(view.major.data) + 8;
    range.major.shape[0] = 3;
    tnr_view_mut some = *out_there.out();
    some.view.shape[0] = 2;
    waits = totals().device_waits;
    EXPECT_EQ(multiply(context_, range, b_there.in(), &some), TNR_STATUS_OK);
    EXPECT_EQ(totals().device_waits, waits);
    // Indices of another are looked at.
    range.minor.size_bytes -= 4;
    range.minor.shape[0] -= 1;
    range.values.shape[0] -= 1;
    EXPECT_EQ(multiply(context_, range, b_there.in(), &some), TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(tnr_sparse_release(made), TNR_STATUS_OK);
  }
  EXPECT_EQ(multiply(context_, view, b_there.in(), out_there.out()), TNR_STATUS_STALE_VIEW);
}

TEST_F(DeviceSparse, AHandleIsRefusedAsOnTheCpu) {
  Random random(13);
  const Compressed right = matrix_of({2, 0, 3, 1}, 30, random);
  Compressed cases[4] = {right, right, right, right};
  cases[0].offsets[1] = 7;
  cases[1].indices[3] = 30;
  cases[2].offsets[0] = 1;
  cases[3].offsets[4] = 5;
  for (const Compressed& wrong : cases) {
    Parts parts(wrong, kTypes[1], TNR_DTYPE_I32, random);
    const DeviceParts there(context_, parts);
    tnr_blob* blobs[3];
    tnr_sparse_view here =
        view_of(wrong, parts.major.view(), parts.minor.view(), parts.values.view());
    tnr_view* const views[] = {&here.major, &here.minor, &here.values};
    for (std::size_t i = 0; i < 3; ++i) {
      const tnr_view lent = *views[i];
      blobs[i] = tnr_blob_copy(nullptr, lent.data, static_cast<std::size_t>(lent.shape[0]) * 4);
      ASSERT_NE(blobs[i], nullptr);
      ASSERT_EQ(tnr_blob_view(blobs[i], 0, lent.dtype, 1, lent.shape, nullptr, views[i]),
                TNR_STATUS_OK);
    }
    EXPECT_EQ(tnr_sparse_create(&here), nullptr);
    const std::string said = tnr_last_error()->message;
    const tnr_sparse_view lent = there.view(wrong);
    EXPECT_EQ(tnr_sparse_create(&lent), nullptr);
    EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(tnr_last_error()->message, said);
    EXPECT_EQ(tnr_sparse_check(&lent), wrong.offsets[0] == 1 || wrong.offsets[4] == 5
                                           ? TNR_STATUS_OK
                                           : TNR_STATUS_INVALID_ARGUMENT);
    for (tnr_blob* const blob : blobs) EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  }
  Parts parts(right, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  tnr_sparse_view mixed = there.view(right);
  mixed.values = parts.values.view();
  EXPECT_EQ(tnr_sparse_create(&mixed), nullptr);
  EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_UNSUPPORTED);
  tnr_sparse_view batch = there.view(right);
  batch.batch_offsets = batch.minor;
  batch.batch_offsets.shape[0] = 2;
  EXPECT_EQ(tnr_sparse_create(&batch), nullptr);
  EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_UNSUPPORTED) << tnr_last_error()->message;
  EXPECT_EQ(tnr_sparse_check(&batch), TNR_STATUS_UNSUPPORTED);
  // A check is in the order of a blob's stream.
  tnr_sparse_view unowned = there.view(right);
  unowned.major.owner = unowned.minor.owner = unowned.values.owner = 0;
  EXPECT_EQ(tnr_sparse_check(&unowned), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tnr_last_error()->message).find("col_indices.owner is 0"),
            std::string::npos)
      << tnr_last_error()->message;
  unowned.values.owner = there.values.view().owner;
  EXPECT_EQ(tnr_sparse_check(&unowned), TNR_STATUS_OK) << tnr_last_error()->message;
}

// Operands of another stream, which has work on them that is still to come.
TEST_F(DeviceSparse, ProductsComeAfterWhatTheirOperandsGot) {
  Random random(14);
  const Compressed matrix = matrix_of({2, 0, 3, 1}, 8, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  const Floats b(context_, std::vector<float>(8, 0.0f));
  tnr_context* const other = context_on(kFirstDevice);
  ASSERT_NE(other, nullptr);
  {
    const Floats out(other, std::vector<float>(4, -1.0f));
    const tnr_scalar one = number_of(1);
    ASSERT_EQ(tnr_fill(context_, &one, nullptr, &b.out), TNR_STATUS_OK);
    const tnr_view_mut values = {there.values.view()};
    ASSERT_EQ(tnr_fill(context_, &one, nullptr, &values), TNR_STATUS_OK);
    ASSERT_EQ(multiply(other, there.view(matrix), b.in(), &out.out), TNR_STATUS_OK);
    EXPECT_EQ(download(other, out.out.view), (std::vector<float>{2, 0, 3, 1}));
  }
  EXPECT_EQ(tnr_context_release(other), TNR_STATUS_OK);
}

TEST_F(DeviceSparse, ALaunchThatFailsIsNamed) {
  if (!is_driver_fake()) GTEST_SKIP() << "a driver that cannot be made to fail";
  Random random(15);
  const Compressed matrix = matrix_of({2, 0, 1}, 3, random);
  Parts parts(matrix, kTypes[1], TNR_DTYPE_I32, random);
  const DeviceParts there(context_, parts);
  const Floats b(context_, {1, 2, 3});
  const Floats out(context_, {0, 0, 0});
  const auto refused = [&](const char* entry, tnr_status status, const char* what) {
    const Variable failing("TENURE_FAKE_CUDA_FAIL", entry);
    EXPECT_EQ(multiply(context_, there.view(matrix), b.in(), &out.out), status);
    EXPECT_NE(std::string(tnr_last_error()->message).find(what), std::string::npos)
        << tnr_last_error()->message;
  };
  refused("cuLaunchKernel", TNR_STATUS_DEVICE_ERROR, "tenure_sparse_matmul_f32_1");
  refused("cuMemsetD8Async", TNR_STATUS_DEVICE_ERROR, "CUDA_ERROR");
  refused("cuMemAllocAsync:0:2", TNR_STATUS_OUT_OF_MEMORY, "4 bytes");
}

}  // namespace
}  // namespace tenure
