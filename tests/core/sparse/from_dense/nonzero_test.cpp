// nonzero and masked_select against loops over elements.
#include <gtest/gtest.h>

#include <cstring>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "tenure/movement.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

const std::vector<Shape>& larger_shapes() {
  static const std::vector<Shape> kShapes = {
      {70001}, {300, 333}, {9000, 7}, {20, 30, 101}, {17000, 1, 2}};
  return kShapes;
}

Arrangement any_of(const auto& arrangements, Random& random) {
  return arrangements[random() % std::size(arrangements)];
}

// So many of a hundred elements are zero, of either sign.
void put_zeros(Array& array, Type type, unsigned percent, Random& random) {
  for (Byte* const element : array.elements()) {
    if (random() % 100 >= percent) continue;
    const double zero = random() % 2 == 0 ? 0.0 : -0.0;
    Byte bytes[8];
    std::memcpy(bytes, &zero, sizeof zero);
    kernels::reference::cast(Type::kF64, bytes, type, element);
  }
}

template <class T>
std::vector<T> contents(const tnr_view& view) {
  std::vector<T> all(static_cast<std::size_t>(element_count(view)));
  if (!all.empty()) std::memcpy(all.data(), view.data, all.size() * sizeof(T));
  return all;
}

TEST(Nonzero, GivesThePlacesInOrder) {
  Random random(41);
  const TestContext three(3);
  for (const NamedType& type : kTypes) {
    for (const std::vector<Shape>& list : {shapes(), larger_shapes()}) {
      for (const Shape& shape : list) {
        Array a(type.dtype, shape, any_of(kReadable, random), random);
        fill_with_bits(a, random);
        put_zeros(a, type.type, static_cast<unsigned>(random() % 101), random);
        std::vector<std::int64_t> expected;
        std::int64_t count = 0;
        for_each_index(a.view(), [&](const Index& index) {
          Byte truth = 0;
          kernels::reference::cast(type.type, a.broadcast_element(index, a.view().rank),
                                   Type::kBool8, &truth);
          if (truth == 0) return;
          ++count;
          expected.insert(expected.end(), index.begin(), index.begin() + a.view().rank);
        });
        for (const Context& context : {Context(kDefaultContext), Context(three)}) {
          tnr_view_mut out = {};
          const BlobToken blob = nonzero(context, a.view(), out);
          EXPECT_EQ(out.view.dtype, TNR_DTYPE_I64);
          ASSERT_EQ(out.view.rank, 2u);
          EXPECT_EQ(out.view.shape[0], count);
          EXPECT_EQ(out.view.shape[1], a.view().rank);
          EXPECT_EQ(out.view.owner, blob);
          EXPECT_EQ(contents<std::int64_t>(out.view), expected) << describe(a.view());
          blob_release(blob);
        }
      }
    }
  }
}

TEST(Nonzero, RefusesDtypesWithoutAZero) {
  Literal<double> a(TNR_DTYPE_C128, {1, 2, 3, 4});
  a.view.shape[0] = 2;
  tnr_view_mut out = {};
  expect_error(TNR_STATUS_UNSUPPORTED, {"nonzero", "c128"},
               [&] { nonzero(kDefaultContext, a.view, out); });
  EXPECT_EQ(out.view.rank, 0u);
}

TEST(MaskedSelect, GivesTheElementsInOrder) {
  constexpr tnr_dtype kThreeBytes = 0x00030801;  // u8 x 3
  constexpr tnr_dtype kMoved[] = {TNR_DTYPE_U8,   TNR_DTYPE_F16,   TNR_DTYPE_F32, TNR_DTYPE_I64,
                                  TNR_DTYPE_C128, TNR_DTYPE_BOOL8, kThreeBytes};
  Random random(42);
  const TestContext three(3);
  for (const tnr_dtype dtype : kMoved) {
    for (const std::vector<Shape>& list : {shapes(), larger_shapes()}) {
      for (const Shape& shape : list) {
        Array a(dtype, shape, any_of(kReadable, random), random);
        fill_with_bits(a, random);
        // Some of the axes, or all but the first of them.
        Shape of_mask(shape.begin() + (shape.empty() ? 0 : static_cast<long>(random() % 2)),
                      shape.end());
        for (std::int64_t& extent : of_mask) {
          if (random() % 4 == 0 && extent != 0) extent = 1;
        }
        Array mask(TNR_DTYPE_BOOL8, of_mask, any_of(kReadable, random), random);
        fill_with_bits(mask, random);
        put_zeros(mask, Type::kBool8, static_cast<unsigned>(random() % 101), random);
        std::vector<Byte> expected;
        for_each_index(a.view(), [&](const Index& index) {
          const auto rank = a.view().rank;
          if (*mask.broadcast_element(index, rank) == 0) return;
          const Byte* const element = a.broadcast_element(index, rank);
          expected.insert(expected.end(), element, element + element_size(dtype));
          if (dtype == TNR_DTYPE_BOOL8) expected.back() = expected.back() != 0 ? 1 : 0;
        });
        for (const Context& context : {Context(kDefaultContext), Context(three)}) {
          tnr_view_mut out = {};
          const BlobToken blob = masked_select(context, a.view(), mask.view(), out);
          EXPECT_EQ(out.view.dtype, dtype);
          ASSERT_EQ(out.view.rank, 1u);
          const auto bytes = static_cast<std::size_t>(out.view.shape[0]) * element_size(dtype);
          ASSERT_EQ(bytes, expected.size());
          EXPECT_TRUE(bytes == 0 || std::memcmp(out.view.data, expected.data(), bytes) == 0)
              << describe(a.view()) << " by " << describe(mask.view());
          blob_release(blob);
        }
      }
    }
  }
}

TEST(MaskedSelect, RefusesOtherMasks) {
  Literal<float> a(TNR_DTYPE_F32, {1, 2, 3});
  Literal<std::uint8_t> two(TNR_DTYPE_BOOL8, {1, 0});
  Literal<std::uint8_t> bytes(TNR_DTYPE_U8, {1, 0, 1});
  tnr_view_mut out = {};
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"2", "3"},
               [&] { masked_select(kDefaultContext, a.view, two.view, out); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"mask.dtype is u8", "bool8"},
               [&] { masked_select(kDefaultContext, a.view, bytes.view, out); });
}

}  // namespace
}  // namespace tenure::test
