// Packed constants as bytes that programs lend each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "failing_allocator.hpp"
#include "program_graph.hpp"

namespace tenure::test {
namespace {

constexpr std::int64_t kDepth = 600;  // more than a block has of most dtypes
constexpr std::int64_t kColumns = 45;

// An image in memory of the test's own.
struct Image {
  explicit Image(std::vector<unsigned char> of) : bytes(std::move(of)), room(bytes.size() + 64) {
    place(0);
  }
  // At an address that is so much more than a multiple of 64.
  void place(std::size_t beyond) {
    const auto address = reinterpret_cast<std::uintptr_t>(room.data());
    data = room.data() + ((64 - address % 64) % 64 + beyond) % 64;
    std::memcpy(data, bytes.data(), bytes.size());
  }
  // A blob over it, and a view of that.
  tnr_blob* share() {
    tnr_blob* const blob = tnr_blob_share(data, bytes.size(), nullptr, nullptr);
    EXPECT_NE(blob, nullptr);
    const auto count = static_cast<std::int64_t>(bytes.size());
    EXPECT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_U8, 1, &count, nullptr, &view), TNR_STATUS_OK);
    return blob;
  }

  std::vector<unsigned char> bytes;
  std::vector<unsigned char> room;
  unsigned char* data;
  tnr_view view = {};
};

class PackedConstants : public CGraph {
 protected:
  // x W1, and (x W1) w2 with a vector. The second constant is packed as a column.
  void build(tnr_dtype dtype) {
    const Shape shapes[] = {{kDepth, kColumns}, {kColumns, 1}};
    std::uint32_t value = input({3, kDepth}, dtype);
    for (const Shape& shape : shapes) {
      auto& bytes = weights.emplace_back(static_cast<std::size_t>(shape[0] * shape[1]) *
                                         tnr_dtype_size_bytes(dtype));
      std::mt19937 random(7);
      // Small numbers of each dtype: also as floats, whose highest bits are then those of 0.x.
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        const bool is_high = (i + 1) % tnr_dtype_size_bytes(dtype) == 0 && bytes.size() > 1;
        bytes[i] = static_cast<unsigned char>(is_high ? 0x3c : random() % 256);
      }
      value = node(TNR_NODE_MATMUL, {value, constant(view_over(bytes.data(), shape, dtype))});
    }
    output(value);
  }
  tnr_program* lend(const tnr_view& packed, std::uint32_t passes = TNR_PASS_PACKING) {
    const tnr_program_attributes attributes = {sizeof attributes, 0, passes, &packed, 0};
    tnr_program* const made = tnr_program_create(nullptr, graph, &attributes);
    if (made != nullptr) programs.push_back(made);
    return made;
  }
  static std::vector<unsigned char> packed_of(const tnr_program* program) {
    tnr_view_mut out = {};
    tnr_blob* const blob = tnr_blob_copy_packed(nullptr, program, &out);
    EXPECT_NE(blob, nullptr) << tnr_last_error()->message;
    const auto* const data = static_cast<const unsigned char*>(out.view.data);
    std::vector<unsigned char> bytes(data, data + out.view.size_bytes);
    EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
    return bytes;
  }
  // The bytes of the result for one input.
  static std::vector<unsigned char> result(const tnr_program* program, tnr_dtype dtype) {
    const std::size_t width = tnr_dtype_size_bytes(dtype);
    std::vector<unsigned char> x(3 * kDepth * width);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<unsigned char>((i + 1) % width == 0 ? 0x3d : i % 251);
    }
    std::vector<unsigned char> out(3 * width, 0xaa);
    EXPECT_EQ(run(program, {view_over(x.data(), {3, kDepth}, dtype)},
                  {{view_over(out.data(), {3, 1}, dtype)}}),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    return out;
  }
  void expect_refused(const tnr_view& packed, tnr_status status, const char* message,
                      std::uint32_t passes = TNR_PASS_PACKING) {
    EXPECT_EQ(lend(packed, passes), nullptr);
    EXPECT_EQ(tnr_last_error()->status, status) << tnr_last_error()->message;
    EXPECT_NE(std::strstr(tnr_last_error()->message, message), nullptr)
        << tnr_last_error()->message;
  }

 private:
  std::vector<std::vector<unsigned char>> weights;
};

class OfDtype : public PackedConstants, public testing::WithParamInterface<tnr_dtype> {};

TEST_P(OfDtype, HaveTheBitsOfThoseThatArePackedAnew) {
  build(GetParam());
  const tnr_program* const packing = program(0, TNR_PASS_PACKING);
  Image image(packed_of(packing));
  tnr_blob* const blob = image.share();
  const tnr_program* const lent = lend(image.view);
  ASSERT_NE(lent, nullptr) << tnr_last_error()->message;
  // The program keeps it.
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(result(lent, GetParam()), result(packing, GetParam()));
  EXPECT_EQ(packed_of(lent), image.bytes);
}

TEST_P(OfDtype, HaveNoByteThatNobodyWrote) {
  build(GetParam());
  std::vector<unsigned char> images[2];
  for (const int i : {0, 1}) {
    const FilledAllocations filled(i == 0 ? 0x11 : 0xee, 1ul << 30);
    images[i] = packed_of(program(0, TNR_PASS_PACKING));
  }
  EXPECT_EQ(images[0], images[1]);
}

INSTANTIATE_TEST_SUITE_P(Factors, OfDtype,
                         testing::Values(TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_F16,
                                         TNR_DTYPE_BF16));

TEST_F(PackedConstants, AreRefusedWhereTheyAreNotThoseOfTheProgram) {
  build(TNR_DTYPE_F32);
  const std::vector<unsigned char> good = packed_of(program(0, TNR_PASS_PACKING));
  const auto refused = [&](auto change, tnr_status status, const char* message) {
    Image image(good);
    change(image.bytes);
    image.place(0);
    tnr_blob* const blob = image.share();
    expect_refused(image.view, status, message);
    EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  };
  using Bytes = std::vector<unsigned char>;
  const auto put = [](std::size_t place, std::int64_t number) {
    return [=](Bytes& bytes) { std::memcpy(bytes.data() + place, &number, sizeof number); };
  };
  constexpr std::size_t kEntry = 32;  // behind the header
  constexpr tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  refused(put(0, 1), kInvalid, "no packed constants");
  refused(put(8, 64), kInvalid, "or not all of them");
  refused(put(16, -1), kInvalid, "or not all of them");
  refused(put(16, 1), kInvalid, "has 1 constants but the program packs more");
  refused(put(16, 3), kInvalid, "has 3 constants but the program packs 2");
  refused([](Bytes& bytes) { bytes.resize(bytes.size() - 64); }, kInvalid, "or not all of them");
  refused([](Bytes& bytes) { bytes.resize(8); }, kInvalid, "has 8 bytes that are no");
  refused(put(kEntry, TNR_DTYPE_F64), kInvalid, "the program's is f32 [600, 45]");
  refused(put(kEntry + 16, 601), kInvalid, "is [601, 45] but the program's is f32 [600, 45]");
  refused(put(kEntry + 32, 64), kInvalid, "it is that of another program");
  refused(put(kEntry + 40, 24), TNR_STATUS_UNSUPPORTED, "has panels of 24 columns");
  refused(put(kEntry + 48, 3), TNR_STATUS_UNSUPPORTED, "3 depths to a lane");
  refused(put(kEntry + 88, 32), kInvalid, "constant 0 lies at 32");
  refused(put(kEntry + 88, std::int64_t{1} << 62), kInvalid, "lies at 4611686018427387904");
  refused(put(kEntry + 88, static_cast<std::int64_t>(good.size()) - 64), kInvalid, "but there are");

  Image image(good);
  tnr_blob* blob = image.share();
  expect_refused(image.view, kInvalid, "has 2 constants but the program packs 0", 0);
  tnr_view other = image.view;
  other.owner = 0;
  expect_refused(other, kInvalid, "packed.owner is 0");
  other = image.view;
  other.strides[0] = 2;
  other.shape[0] /= 2;
  expect_refused(other, kInvalid, "packed.strides[0] is 2");
  other = image.view;
  other.dtype = TNR_DTYPE_I8;
  expect_refused(other, kInvalid, "packed.dtype is i8");
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  expect_refused(image.view, TNR_STATUS_STALE_VIEW, "packed");

  image.place(8);
  blob = image.share();
  expect_refused(image.view, kInvalid, "must be a multiple of 64");
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);

  image.place(0);
  blob = tnr_blob_borrow(image.data, image.bytes.size());
  const auto count = static_cast<std::int64_t>(image.bytes.size());
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_U8, 1, &count, nullptr, &other), TNR_STATUS_OK);
  expect_refused(other, kInvalid, "lies in a borrowed blob");
  EXPECT_EQ(tnr_blob_end_borrow(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

// Bytes of all kinds give other numbers, or a refusal, and never an access outside of them.
TEST_F(PackedConstants, OfAnyBytesHarmNobody) {
  build(TNR_DTYPE_F32);
  const std::vector<unsigned char> good = packed_of(program(0, TNR_PASS_PACKING));
  std::mt19937 random(3);
  int taken = 0;
  for (int round = 0; round < 500; ++round) {
    Image image(good);
    const std::size_t most = round % 2 == 0 ? 32 + 2 * 112 : image.bytes.size();
    for (unsigned changes = 1 + random() % 4; changes != 0; --changes) {
      image.bytes[random() % most] ^= static_cast<unsigned char>(1u << random() % 8);
    }
    image.place(0);
    tnr_blob* const blob = image.share();
    if (tnr_program* const lent = lend(image.view); lent != nullptr) {
      ++taken;
      result(lent, TNR_DTYPE_F32);
      EXPECT_EQ(tnr_program_release(lent), TNR_STATUS_OK);
      programs.pop_back();
    }
    EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  }
  EXPECT_GT(taken, 100);
}

// Filters of two groups, and of more channels than a block has.
class PackedFiltersOf : public PackedConstants, public testing::WithParamInterface<tnr_dtype> {
 protected:
  static constexpr std::int64_t kImages = 2;
  const Shape given{kImages, 140, 5, 6};
  const Shape filters{34, 70, 3, 3};
  const Shape convolved_to{kImages, 34, 5, 6};

  void build_convolution() {
    same.struct_size = sizeof same;
    same.groups = 2;
    for (std::int64_t& padding : same.padding) padding = 1;
    std::uint32_t value = input(given, GetParam());
    // Channels come last behind the first of them.
    for (const Shape& shape : {Shape{140, 70, 1, 1}, filters}) {
      tnr_conv2d_attributes with = same;
      if (shape[2] == 1) std::fill_n(with.padding, 4, 0);
      value = node(TNR_NODE_CONV2D, {value, constant(fill(shape, 7))}, {}, &with);
    }
    output(value);
  }
  std::vector<unsigned char> convolved(const tnr_program* program) {
    std::vector<unsigned char> out(count(convolved_to) * width(), 0xaa);
    EXPECT_EQ(run(program, {fill(given, 11)}, {{view_over(out.data(), convolved_to, GetParam())}}),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    return out;
  }

  tnr_conv2d_attributes same = {};

 private:
  [[nodiscard]] static std::size_t count(const Shape& shape) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    return static_cast<std::size_t>(count);
  }
  [[nodiscard]] static std::size_t width() { return tnr_dtype_size_bytes(GetParam()); }
  // Small numbers of either dtype.
  tnr_view fill(const Shape& shape, unsigned seed) {
    std::vector<unsigned char>& bytes = memory.emplace_back(count(shape) * width());
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < bytes.size(); i += width()) {
      const double number = static_cast<double>(random() % 255) / 64 - 2;
      const auto narrow = static_cast<float>(number);
      std::memcpy(&bytes[i], width() == 8 ? static_cast<const void*>(&number) : &narrow, width());
    }
    return view_over(bytes.data(), shape, GetParam());
  }

  std::vector<std::vector<unsigned char>> memory;
};

TEST_P(PackedFiltersOf, HaveTheBitsOfThoseThatArePackedInEachCall) {
  build_convolution();
  const tnr_program* const packing = program(0, TNR_PASS_PACKING);
  const std::vector<unsigned char> expected = convolved(program());
  EXPECT_EQ(convolved(packing), expected);
  Image image(packed_of(packing));
  tnr_blob* const blob = image.share();
  const tnr_program* const lent = lend(image.view);
  ASSERT_NE(lent, nullptr) << tnr_last_error()->message;
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(convolved(lent), expected);
  EXPECT_EQ(packed_of(lent), image.bytes);
}

TEST_P(PackedFiltersOf, HaveNoByteThatNobodyWrote) {
  build_convolution();
  std::vector<unsigned char> images[2];
  for (const int i : {0, 1}) {
    const FilledAllocations filled(i == 0 ? 0x11 : 0xee, 1ul << 30);
    images[i] = packed_of(program(0, TNR_PASS_PACKING));
  }
  EXPECT_EQ(images[0], images[1]);
}

TEST_P(PackedFiltersOf, AreRefusedWhereTheyAreNotThoseOfTheProgram) {
  build_convolution();
  const std::vector<unsigned char> good = packed_of(program(0, TNR_PASS_PACKING));
  const auto refused = [&](std::size_t place, std::int64_t number, tnr_status status,
                           const char* message) {
    Image image(good);
    std::memcpy(image.bytes.data() + place, &number, sizeof number);
    image.place(0);
    tnr_blob* const blob = image.share();
    expect_refused(image.view, status, message);
    EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  };
  constexpr std::size_t kSecond = 32 + 120;
  constexpr tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  refused(kSecond + 16, 5, kInvalid, "constant 1 is [5, 34] but the program's is");
  refused(kSecond + 96, 1, kInvalid, "1 groups of filters of 3 by 3 but the program's 2 of 3 by 3");
  refused(kSecond + 104, 9, kInvalid, "2 groups of filters of 9 by 3 but");
  refused(kSecond + 112, 1, kInvalid, "2 groups of filters of 3 by 1 but");
  refused(kSecond + 40, 24, TNR_STATUS_UNSUPPORTED, "has panels of 24 columns");
  refused(kSecond + 88, 32, kInvalid, "constant 1 lies at 32");
  refused(kSecond + 88, std::int64_t{1} << 62, kInvalid, "lies at 4611686018427387904");
}

INSTANTIATE_TEST_SUITE_P(Convolutions, PackedFiltersOf,
                         testing::Values(TNR_DTYPE_F32, TNR_DTYPE_F64));

TEST_F(PackedConstants, AreNoneOfAProgramThatPacksNothing) {
  build(TNR_DTYPE_F32);
  EXPECT_EQ(packed_of(program()).size(), 64u);
  tnr_view_mut out = {};
  EXPECT_EQ(tnr_blob_copy_packed(nullptr, nullptr, &out), nullptr);
  EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_STALE_HANDLE);
}

}  // namespace
}  // namespace tenure::test
