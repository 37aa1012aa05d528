// Views through C: what the boundary adds to the core's functions. Their numbers are tested there.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "expect_status.hpp"
#include "layouts.hpp"
#include "tenure/tenure.h"
#include "unseen.hpp"

namespace tenure::test {
namespace {

alignas(64) std::array<unsigned char, 256> memory = {};

// A [2, 3, 4] row-major f32 view of the memory.
tnr_view lent() {
  const std::int64_t shape[] = {2, 3, 4};
  tnr_view view = {};
  EXPECT_EQ(tnr_view_lend(memory.data(), memory.size(), 0, TNR_DTYPE_F32, 3, shape, nullptr, &view),
            TNR_STATUS_OK);
  return view;
}

std::string layout_of(const tnr_view& view) {
  const auto first = static_cast<const unsigned char*>(view.data) - memory.data();
  return "byte " + std::to_string(first) + ", " + shape_text(view.rank, view.shape).text + " by " +
         shape_text(view.rank, view.strides).text;
}

bool same_bytes(const tnr_view& a, const tnr_view& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;  // no padding
}

TEST(CapiView, LendsTheCallersMemory) {
  const std::int64_t shape[] = {2, 3};
  const std::int64_t strides[] = {-4, 1};
  tnr_view view = {};
  EXPECT_EQ(tnr_view_lend(memory.data(), 96, 16, TNR_DTYPE_F32, 2, shape, strides, &view),
            TNR_STATUS_OK);
  EXPECT_EQ(layout_of(view), "byte 16, [2, 3] by [-4, 1]");
  EXPECT_EQ(view.base, memory.data());
  EXPECT_EQ(view.size_bytes, 96u);
  EXPECT_EQ(view.owner, 0u);
  tnr_view_mut writable = {};
  EXPECT_EQ(tnr_view_lend_mut(memory.data(), 96, 16, TNR_DTYPE_F32, 2, shape, strides, &writable),
            TNR_STATUS_OK);
  EXPECT_TRUE(same_bytes(writable.view, view));
  EXPECT_EQ(writable.view.flags, 0u);
}

TEST(CapiView, CountsItsElements) {
  const tnr_view view = lent();
  EXPECT_EQ(tnr_view_count(&view), 24);
  tnr_view part = {};
  ASSERT_EQ(tnr_view_slice(&view, 1, 2, -1, -2, &part), TNR_STATUS_OK);
  EXPECT_EQ(tnr_view_count(&part), 16);
  const std::int64_t none[] = {INT64_MAX, 0, INT64_MAX};
  ASSERT_EQ(tnr_view_lend(nullptr, 0, 0, TNR_DTYPE_U8, 3, none, nullptr, &part), TNR_STATUS_OK);
  EXPECT_EQ(tnr_view_count(&part), 0);
  ASSERT_EQ(tnr_view_lend(memory.data(), 1, 0, TNR_DTYPE_U8, 0, nullptr, nullptr, &part),
            TNR_STATUS_OK);
  EXPECT_EQ(tnr_view_count(&part), 1);

  part = view;
  part.shape[2] = 400;
  EXPECT_EQ(tnr_view_count(&part), -1);
  expect_last_error(TNR_STATUS_INVALID_ARGUMENT, {"view.strides[2]", "1680", "256"});
  EXPECT_EQ(tnr_view_count(nullptr), -1);
  expect_last_error(TNR_STATUS_INVALID_ARGUMENT, {"view is NULL"});
}

TEST(CapiView, IsFormattedAsNumPysStr) {
  const float elements[] = {1, 0.1f, 1.0f / 3, 100};
  const std::int64_t shape[] = {2, 2};
  tnr_view view = {};
  ASSERT_EQ(tnr_view_lend(elements, sizeof elements, 0, TNR_DTYPE_F32, 2, shape, nullptr, &view),
            TNR_STATUS_OK);
  std::size_t needed = 0;
  EXPECT_EQ(tnr_view_format(&view, 2, 0, nullptr, &needed), TNR_STATUS_OK);
  const std::string expected = "[[  1.     0.1 ]\n [  0.33 100.  ]]";
  EXPECT_EQ(needed, expected.size() + 1);
  // A buffer for the whole text, for a part of it, and for only the terminating 0.
  for (const std::size_t room : {needed, std::size_t{10}, std::size_t{1}}) {
    std::string text(needed, '#');
    EXPECT_EQ(tnr_view_format(&view, 2, room, text.data(), &needed), TNR_STATUS_OK);
    EXPECT_EQ(needed, expected.size() + 1);
    EXPECT_STREQ(text.c_str(), expected.substr(0, room - 1).c_str());
    EXPECT_EQ(text.find_first_not_of('#', room), std::string::npos);
  }
  const std::int64_t none[] = {INT64_MAX, 0, INT64_MAX};
  ASSERT_EQ(tnr_view_lend(nullptr, 0, 0, TNR_DTYPE_U8, 3, none, nullptr, &view), TNR_STATUS_OK);
  char text[3];
  EXPECT_EQ(tnr_view_format(&view, 8, sizeof text, text, &needed), TNR_STATUS_OK);
  EXPECT_STREQ(text, "[]");
}

TEST(CapiView, IsFormattedOrRefusedWithNothingWritten) {
  tnr_view view = lent();
  std::size_t needed = 7;
  char text[] = "as before";
  EXPECT_EQ(tnr_view_format(nullptr, 8, sizeof text, text, &needed), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(tnr_view_format(&view, 8, sizeof text, text, nullptr), TNR_STATUS_INVALID_ARGUMENT);
  char* const nowhere = std::getenv("TENURE_NO_SUCH_VARIABLE");  // gcc sees a plain NULL
  EXPECT_EQ(tnr_view_format(&view, 8, sizeof text, nowhere, &needed), TNR_STATUS_INVALID_ARGUMENT);
  expect_last_error(TNR_STATUS_INVALID_ARGUMENT, {"text is NULL"});
  view.dtype = 0x00012008;  // four bytes of a type that DLPack has no name for here
  EXPECT_EQ(tnr_view_format(&view, 8, sizeof text, text, &needed), TNR_STATUS_UNSUPPORTED);
  expect_last_error(TNR_STATUS_UNSUPPORTED, {"0x00012008"});
  view = lent();
  view.owner = 1;
  EXPECT_EQ(tnr_view_format(&view, 8, sizeof text, text, &needed), TNR_STATUS_STALE_VIEW);
  EXPECT_EQ(needed, 7u);
  EXPECT_STREQ(text, "as before");
}

TEST(CapiView, RefusedLoansLeaveTheOutputAlone) {
  const std::int64_t shape[] = {2, 30};
  const std::int64_t meeting[] = {1, 1};
  tnr_view_mut out;
  std::memset(&out, 0x5a, sizeof out);
  const tnr_view_mut before = out;
  expect_refused(tnr_view_lend(memory.data(), 96, 0, TNR_DTYPE_F32, 2, shape, nullptr, &out.view),
                 TNR_STATUS_INVALID_ARGUMENT,
                 {"shape is [2, 30], which needs 60 elements of 4 bytes, but 96 bytes are lent"});
  expect_refused(tnr_view_lend_mut(memory.data(), 256, 0, TNR_DTYPE_F32, 2, shape, meeting, &out),
                 TNR_STATUS_ALIASED,
                 {"strides[1] is 1, which does not exceed the 1 elements", "may meet"});
  expect_refused(tnr_view_lend_mut(memory.data(), 96, 0, 0x00010401, 2, shape, nullptr, &out),
                 TNR_STATUS_UNSUPPORTED, {"dtype is 0x00010401 (4 bits, 1 lanes)"});
  EXPECT_TRUE(same_bytes(out.view, before.view));
  expect_refused(tnr_view_lend(memory.data(), 96, 0, TNR_DTYPE_F32, 2, shape, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
  expect_refused(tnr_view_lend_mut(memory.data(), 96, 0, TNR_DTYPE_F32, 2, shape, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
}

TEST(CapiView, ChecksNameTheParameter) {
  tnr_view view = lent();
  EXPECT_EQ(tnr_view_check(&view), TNR_STATUS_OK);
  EXPECT_EQ(tnr_view_check_mut(reinterpret_cast<const tnr_view_mut*>(&view)), TNR_STATUS_OK);
  view.rank = 9;
  expect_refused(tnr_view_check(&view), TNR_STATUS_INVALID_ARGUMENT,
                 {"view.rank is 9 but must be at most 8"});
  view = lent();
  view.strides[0] = 4;
  const tnr_view_mut meeting{view};
  EXPECT_EQ(tnr_view_check(&view), TNR_STATUS_OK);
  expect_refused(tnr_view_check_mut(&meeting), TNR_STATUS_ALIASED,
                 {"view.strides[1] is 4, which does not exceed the 7 elements"});
  view.device.kind = TNR_DEVICE_KIND_CUDA;  // no byte is looked at
  EXPECT_EQ(tnr_view_check(&view), TNR_STATUS_OK);
  view.device = {7, 3};
  expect_refused(tnr_view_check(&view), TNR_STATUS_UNSUPPORTED,
                 {"view.device is device 3 of kind 7 but must be the CPU"});
  expect_refused(tnr_view_check(nullptr), TNR_STATUS_INVALID_ARGUMENT, {"view is NULL"});
  expect_refused(tnr_view_check_mut(nullptr), TNR_STATUS_INVALID_ARGUMENT, {"view is NULL"});
}

TEST(CapiView, ChecksAskTheOwner) {
  const std::int64_t shape[] = {4};
  tnr_blob* blob = tnr_blob_share(memory.data(), memory.size(), nullptr, nullptr);
  ASSERT_NE(blob, nullptr);
  tnr_view_mut view = {};
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 1, shape, nullptr, &view.view), TNR_STATUS_OK);
  EXPECT_EQ(tnr_view_check(&view.view), TNR_STATUS_OK);
  expect_refused(tnr_view_check_mut(&view), TNR_STATUS_INVALID_ARGUMENT,
                 {"view", "nobody may write"});
  // A manipulated view has the same owner; an edited one leaves the owner's memory.
  tnr_view part = {};
  ASSERT_EQ(tnr_view_slice(&view.view, 0, 1, 3, 1, &part), TNR_STATUS_OK);
  EXPECT_EQ(part.owner, view.view.owner);
  EXPECT_EQ(tnr_view_check(&part), TNR_STATUS_OK);
  tnr_view edited = view.view;
  edited.size_bytes += 1;
  EXPECT_EQ(tnr_view_check(&edited), TNR_STATUS_INVALID_ARGUMENT);
  ASSERT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  expect_refused(tnr_view_check(&part), TNR_STATUS_STALE_VIEW, {"view.owner is 0x"});
  expect_refused(tnr_view_check_mut(&view), TNR_STATUS_STALE_VIEW, {"view.owner is 0x"});
}

struct Manipulation {
  const char* name;
  tnr_status (*apply)(const tnr_view* view, tnr_view* out);
  const char* expected;  // of lent()
};

constexpr std::int64_t kShape[] = {6, 4};
constexpr std::int64_t kBroadcastShape[] = {5, 2, 3, 4};
constexpr std::uint32_t kAxes[] = {2, 0, 1};

// Every function with one view as its result, once.
const Manipulation kManipulations[] = {
    {"slice", [](auto* v, auto* out) { return tnr_view_slice(v, 2, 3, -1, -2, out); },
     "byte 12, [2, 3, 2] by [12, 4, -2]"},
    {"index", [](auto* v, auto* out) { return tnr_view_index(v, 1, 2, out); },
     "byte 32, [2, 4] by [12, 1]"},
    {"permute", [](auto* v, auto* out) { return tnr_view_permute(v, 3, kAxes, out); },
     "byte 0, [4, 2, 3] by [1, 12, 4]"},
    {"transpose", [](auto* v, auto* out) { return tnr_view_transpose(v, 0, 2, out); },
     "byte 0, [4, 3, 2] by [1, 4, 12]"},
    {"reshape", [](auto* v, auto* out) { return tnr_view_reshape(v, 2, kShape, out); },
     "byte 0, [6, 4] by [4, 1]"},
    {"flatten", [](auto* v, auto* out) { return tnr_view_flatten(v, out); }, "byte 0, [24] by [1]"},
    {"unsqueeze", [](auto* v, auto* out) { return tnr_view_unsqueeze(v, 1, out); },
     "byte 0, [2, 1, 3, 4] by [12, 12, 4, 1]"},
    {"squeeze",
     [](const tnr_view* v, tnr_view* out) {
       tnr_view first;
       const tnr_status status = tnr_view_slice(v, 1, 1, 2, 1, &first);
       return status == TNR_STATUS_OK ? tnr_view_squeeze(&first, 1, out) : status;
     },
     "byte 16, [2, 4] by [12, 1]"},
    {"broadcast", [](auto* v, auto* out) { return tnr_view_broadcast(v, 4, kBroadcastShape, out); },
     "byte 0, [5, 2, 3, 4] by [0, 12, 4, 1]"},
    {"flip", [](auto* v, auto* out) { return tnr_view_flip(v, 0, out); },
     "byte 48, [2, 3, 4] by [-12, 4, 1]"},
    {"chunk", [](auto* v, auto* out) { return tnr_view_chunk(v, 1, 2, 1, out); },
     "byte 32, [2, 1, 4] by [12, 4, 1]"},
    {"windows", [](auto* v, auto* out) { return tnr_view_windows(v, 2, 2, 2, out); },
     "byte 0, [2, 3, 2, 2] by [12, 4, 2, 1]"},
};

TEST(CapiView, ManipulatesIntoAnotherViewOrTheSame) {
  for (const Manipulation& manipulation : kManipulations) {
    SCOPED_TRACE(manipulation.name);
    tnr_view view = lent();
    view.flags = TNR_VIEW_EXCLUSIVE;
    tnr_view out = {};
    EXPECT_EQ(manipulation.apply(&view, &out), TNR_STATUS_OK);
    EXPECT_EQ(layout_of(out), manipulation.expected);
    EXPECT_EQ(out.flags, 0u);
    EXPECT_EQ(manipulation.apply(&view, &view), TNR_STATUS_OK);
    EXPECT_TRUE(same_bytes(view, out));
  }
}

// The view is checked before anything is computed with it, and a refusal writes nothing.
TEST(CapiView, ManipulationsRefuseWithoutATrace) {
  for (const Manipulation& manipulation : kManipulations) {
    SCOPED_TRACE(manipulation.name);
    tnr_view bad = lent();
    bad.strides[0] = INT64_MAX;
    tnr_view out;
    std::memset(&out, 0x5a, sizeof out);
    const tnr_view before = out;
    expect_refused(manipulation.apply(&bad, &out), TNR_STATUS_INVALID_ARGUMENT,
                   {"view.strides[0] is 9223372036854775807, which over an extent of 2 reaches "
                    "beyond the address space"});
    EXPECT_TRUE(same_bytes(out, before));
    expect_refused(manipulation.apply(nullptr, &out), TNR_STATUS_INVALID_ARGUMENT,
                   {"view is NULL"});
    const tnr_view view = lent();
    expect_refused(manipulation.apply(&view, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                   {"out is NULL"});
  }
}

// One refusal of each function's own arguments; the core's tests have the others.
TEST(CapiView, ManipulationsPassTheirArgumentsOn) {
  const tnr_view view = lent();
  tnr_view out;
  std::memset(&out, 0x5a, sizeof out);
  const tnr_view before = out;
  const auto refused = [&](tnr_status status, const char* message) {
    expect_refused(status, TNR_STATUS_INVALID_ARGUMENT, {message});
    EXPECT_TRUE(same_bytes(out, before));
  };
  refused(tnr_view_slice(&view, 2, 0, 5, 1, &out), "stop is 5 but must lie in 0 to 4");
  refused(tnr_view_index(&view, 2, 4, &out), "index is 4 but must be at least 0 and below");
  refused(tnr_view_permute(&view, 2, kAxes, &out), "rank is 2 but must be the view's, 3");
  refused(tnr_view_permute(&view, unseen(3u), nullptr, &out), "axes is NULL but rank is 3");
  refused(tnr_view_transpose(&view, 0, 3, &out), "axis_b is 3 but must be below the rank, 3");
  refused(tnr_view_reshape(&view, 1, kShape, &out), "shape is [6], 6 elements, but the view's is");
  refused(tnr_view_reshape(&view, unseen(1u), nullptr, &out), "shape is NULL but rank is 1");
  refused(tnr_view_squeeze(&view, 1, &out), "axis is 1, whose extent is 3 but must be 1");
  refused(tnr_view_unsqueeze(&view, 4, &out), "axis is 4 but must lie in 0 to 3");
  refused(tnr_view_broadcast(&view, 2, kShape, &out), "rank is 2 but must be at least the view's");
  refused(tnr_view_flip(&view, 7, &out), "axis is 7 but must be below the rank, 3");
  refused(tnr_view_chunk(&view, 1, 0, 0, &out), "chunk_count is 0 but must be at least 1");
  refused(tnr_view_windows(&view, 1, 4, 1, &out), "size is 4 but must lie in 1 to 3");
  tnr_view transposed = {};
  ASSERT_EQ(tnr_view_transpose(&view, 0, 2, &transposed), TNR_STATUS_OK);
  refused(tnr_view_flatten(&transposed, &out), "shape is [24], which needs a copy");
}

// The new shape may stand in the view that is replaced.
TEST(CapiView, ReshapeTakesAShapeOutOfItsOwnOutput) {
  tnr_view view = lent();
  view.shape[3] = 24;  // beyond the rank, so ignored
  EXPECT_EQ(tnr_view_reshape(&view, 1, &view.shape[3], &view), TNR_STATUS_OK);
  EXPECT_EQ(layout_of(view), "byte 0, [24] by [1]");
}

TEST(CapiView, SplitsIntoTwoViews) {
  tnr_view view = lent();
  tnr_view low = {};
  tnr_view high = {};
  EXPECT_EQ(tnr_view_split(&view, 1, 1, &low, &high), TNR_STATUS_OK);
  EXPECT_EQ(layout_of(low), "byte 0, [2, 1, 4] by [12, 4, 1]");
  EXPECT_EQ(layout_of(high), "byte 16, [2, 2, 4] by [12, 4, 1]");
  const tnr_view low_before = low;
  const tnr_view high_before = high;
  expect_refused(tnr_view_split(&view, 1, 4, &low, &high), TNR_STATUS_INVALID_ARGUMENT,
                 {"index is 4 but must lie in 0 to 3"});
  expect_refused(tnr_view_split(nullptr, 1, 1, &low, &high), TNR_STATUS_INVALID_ARGUMENT,
                 {"view is NULL"});
  expect_refused(tnr_view_split(&view, 1, 1, nullptr, &high), TNR_STATUS_INVALID_ARGUMENT,
                 {"out_low is NULL"});
  expect_refused(tnr_view_split(&view, 1, 1, &low, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"out_high is NULL"});
  EXPECT_TRUE(same_bytes(low, low_before));
  EXPECT_TRUE(same_bytes(high, high_before));
  EXPECT_EQ(tnr_view_split(&view, 1, 1, &view, &high), TNR_STATUS_OK);
  EXPECT_TRUE(same_bytes(view, low));
  EXPECT_TRUE(same_bytes(high, high_before));
}

// "[2, 3]" -> {2, 3}
std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> result;
  std::istringstream stream(text.substr(1, text.size() - 2));
  for (std::string number; std::getline(stream, number, ',');) result.push_back(std::stoll(number));
  return result;
}

// The file that the Rust crate's checker is held to as well.
TEST(CapiView, SaysWhatTheSharedCasesSay) {
  std::ifstream file(TENURE_TEST_SUPPORT "/view_cases.tsv");
  ASSERT_TRUE(file.is_open());
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::vector<std::string> columns;
    std::istringstream stream(line);
    for (std::string column; std::getline(stream, column, '\t');) columns.push_back(column);
    ASSERT_EQ(columns.size(), 8u) << line;
    const std::vector<std::int64_t> shape = numbers(columns[4]);
    const std::vector<std::int64_t> strides = numbers(columns[5]);
    ASSERT_EQ(shape.size(), strides.size()) << line;
    Layout layout;
    for (std::size_t i = 0; i < shape.size(); ++i) layout.push_back({shape[i], strides[i]});
    const tnr_view_mut view{view_of(memory.data(), std::stoull(columns[2]), std::stoll(columns[3]),
                                    static_cast<tnr_dtype>(std::stoul(columns[1], nullptr, 16)),
                                    layout)};
    EXPECT_EQ(tnr_status_name(tnr_view_check(&view.view)), columns[6]) << line;
    EXPECT_EQ(tnr_status_name(tnr_view_check_mut(&view)), columns[7]) << line;
    ++cases;
  }
  EXPECT_GE(cases, 49);
}

}  // namespace
}  // namespace tenure::test
