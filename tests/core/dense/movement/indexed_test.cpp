// take, gather, put and scatter against loops over indices.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "tenure/movement.hpp"
#include "tenure/ops.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr tnr_dtype kThreeBytes = 0x00030801;  // u8 x 3
constexpr tnr_dtype kMoved[] = {TNR_DTYPE_U8,   TNR_DTYPE_F16,   TNR_DTYPE_F32, TNR_DTYPE_I64,
                                TNR_DTYPE_C128, TNR_DTYPE_BOOL8, kThreeBytes};

// Where indices name rows, and where they name elements.
enum class Names { kRows, kElements };

Arrangement any_of(const auto& arrangements, Random& random) {
  return arrangements[random() % std::size(arrangements)];
}

std::int64_t index_of(const Array& indices, const Index& at) {
  const Byte* const element = indices.broadcast_element(at, indices.view().rank);
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  if (indices.view().dtype == TNR_DTYPE_I64) {
    std::memcpy(&wide, element, sizeof wide);
    return wide;
  }
  std::memcpy(&narrow, element, sizeof narrow);
  return narrow;
}

void fill_with_indices(Array& indices, std::int64_t extent, Random& random) {
  for (Byte* const element : indices.elements()) {
    const auto index = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
    const auto narrow = static_cast<std::int32_t>(index);
    if (indices.view().dtype == TNR_DTYPE_I64) {
      std::memcpy(element, &index, sizeof index);
    } else {
      std::memcpy(element, &narrow, sizeof narrow);
    }
  }
}

// A target, indices along one of its axes, and the shape of the values.
struct Case {
  Names names;
  Shape target;
  std::uint32_t axis;
  Shape indices;

  [[nodiscard]] Shape values() const {
    if (names == Names::kElements) return indices;
    Shape shape = target;
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, indices.begin(), indices.end());
    return shape;
  }
  // The element of the target that an element of the values meets.
  [[nodiscard]] Index target_of(const Index& values, const Array& chosen) const {
    Index at{};
    if (names == Names::kElements) {
      at = values;
      at[axis] = index_of(chosen, values);
      return at;
    }
    Index of_indices{};
    for (std::size_t i = 0; i < indices.size(); ++i) of_indices[i] = values[axis + i];
    for (std::uint32_t i = 0; i < target.size(); ++i) {
      if (i < axis) at[i] = values[i];
      if (i == axis) at[i] = index_of(chosen, of_indices);
      if (i > axis) at[i] = values[i - 1 + indices.size()];
    }
    return at;
  }
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {Names::kRows, {7}, 0, {5}},
      {Names::kRows, {7}, 0, {}},
      {Names::kRows, {7}, 0, {3, 0}},
      {Names::kRows, {1}, 0, {2, 3}},
      {Names::kRows, {5, 33}, 0, {4, 3}},
      {Names::kRows, {5, 33}, 1, {70}},
      {Names::kRows, {2, 3, 4}, 1, {6}},
      {Names::kRows, {3, 2, 5, 2}, 2, {2, 2, 2}},
      {Names::kRows, {4, 0, 3}, 0, {9}},
      {Names::kRows, {40000}, 0, {90000}},
      {Names::kRows, {30, 700}, 0, {500}},
      {Names::kRows, {700, 9}, 0, {9000}},
      {Names::kRows, {3, 40, 300}, 1, {80}},
      {Names::kElements, {7}, 0, {5}},
      {Names::kElements, {5, 33}, 0, {9, 33}},
      {Names::kElements, {5, 33}, 1, {5, 3}},
      {Names::kElements, {2, 3, 4}, 1, {2, 8, 4}},
      {Names::kElements, {6, 1}, 1, {6, 2}},
      {Names::kElements, {300, 90}, 0, {900, 90}},
      {Names::kElements, {900, 30}, 1, {900, 70}},
      {Names::kElements, {5000}, 0, {99999}},
  };
  return kCases;
}

void read_by(const Case& with, const Context& context, const Array& target, const Array& indices,
             const Array& values) {
  const auto call = with.names == Names::kRows ? take : gather;
  call(context, target.view(), with.axis, indices.view(), values.out());
}
void write_by(const Case& with, const Context& context, tnr_binary_op op, const Array& values,
              const Array& indices, const Array& target) {
  const auto call = with.names == Names::kRows ? put : scatter;
  call(context, op, values.view(), with.axis, indices.view(), target.out());
}

// An element as the library writes it.
std::vector<Byte> written(tnr_dtype dtype, const Byte* element) {
  std::vector<Byte> bytes(element, element + element_size(dtype));
  if (dtype == TNR_DTYPE_BOOL8) bytes[0] = bytes[0] != 0 ? 1 : 0;
  return bytes;
}

bool is_large(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()) > 5000;
}

template <class Body>
void for_each_case(const Body& body) {
  Random random(77);
  for (const Case& with : cases()) {
    for (const tnr_dtype dtype : kMoved) {
      if (is_large(with.values()) && dtype != TNR_DTYPE_F32 && dtype != TNR_DTYPE_BOOL8) continue;
      for (int round = 0; round < (is_large(with.values()) ? 2 : 6); ++round) {
        SCOPED_TRACE(
            shape_text(static_cast<std::uint32_t>(with.target.size()), with.target.data()).text);
        const tnr_dtype index_dtype = random() % 2 == 0 ? TNR_DTYPE_I32 : TNR_DTYPE_I64;
        const bool is_plain = round == 0;
        Array indices(index_dtype, with.indices,
                      is_plain ? Arrangement::kRowMajor : any_of(kReadable, random), random);
        fill_with_indices(indices, with.target[with.axis], random);
        body(with, dtype, indices, is_plain, random);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Indexed, TakesWhatALoopOverIndicesTakes) {
  const TestContext three(3);
  for_each_case([&](const Case& with, tnr_dtype dtype, Array& indices, bool is_plain,
                    Random& random) {
    Array a(dtype, with.target, is_plain ? Arrangement::kRowMajor : any_of(kReadable, random),
            random);
    fill_with_bits(a, random);
    Array out(dtype, with.values(), is_plain ? Arrangement::kRowMajor : any_of(kWritable, random),
              random);
    for (const Context& context : {Context(kDefaultContext), Context(three)}) {
      read_by(with, context, a, indices, out);
      EXPECT_TRUE(out.gaps_are_intact());
      for_each_index(out.view(), [&](const Index& index) {
        const Byte* const from = a.broadcast_element(with.target_of(index, indices), a.view().rank);
        ASSERT_EQ(0, std::memcmp(out.broadcast_element(index, out.view().rank),
                                 written(dtype, from).data(), element_size(dtype)))
            << describe(a.view()) << " by " << describe(indices.view());
      });
    }
  });
}

// The reference implementation of put and scatter: one element after the other, in the order of the
// values.
void put_in_order(const Case& with, tnr_binary_op op, const Array& values, const Array& indices,
                  Array& target) {
  const tnr_dtype dtype = values.view().dtype;
  for_each_index(values.view(), [&](const Index& index) {
    const Byte* const from = values.broadcast_element(index, values.view().rank);
    const Index at = with.target_of(index, indices);
    Byte* const to = const_cast<Byte*>(target.broadcast_element(at, target.view().rank));
    if (op == 0) {
      std::memcpy(to, written(dtype, from).data(), element_size(dtype));
      return;
    }
    const tnr_view sum = view_of(to, element_size(dtype), 0, dtype, {});
    const tnr_view one = view_of(const_cast<Byte*>(from), element_size(dtype), 0, dtype, {});
    binary(kDefaultContext, op, sum, one, {sum});
  });
}

TEST(Indexed, PutsInOrderWithAnyThreads) {
  const TestContext three(3);
  for_each_case(
      [&](const Case& with, tnr_dtype dtype, Array& indices, bool is_plain, Random& random) {
        Array values(dtype, with.values(),
                     is_plain ? Arrangement::kRowMajor : any_of(kReadable, random), random);
        fill_with_bits(values, random);
        for (const Context& context : {Context(kDefaultContext), Context(three)}) {
          const Arrangement to = is_plain ? Arrangement::kRowMajor : any_of(kWritable, random);
          Random seed = random;
          Array target(dtype, with.target, to, random);
          Array expected(dtype, with.target, to, seed);
          put_in_order(with, 0, values, indices, expected);
          write_by(with, context, 0, values, indices, target);
          ASSERT_EQ(target.snapshot(), expected.snapshot())
              << describe(values.view()) << " by " << describe(indices.view());
        }
      });
}

TEST(Indexed, CombinesInOrderWithAnyThreads) {
  const TestContext three(3);
  Random random(78);
  for (const tnr_binary_op op :
       {TNR_BINARY_OP_ADD, TNR_BINARY_OP_MUL, TNR_BINARY_OP_MIN, TNR_BINARY_OP_MAX}) {
    for (const NamedType& type : kTypes) {
      if (type.type == Type::kBool8) continue;
      for (const Case& with : cases()) {
        if (is_large(with.values()) && type.type != Type::kF32 && type.type != Type::kF16) continue;
        if (is_large(with.values()) && op != TNR_BINARY_OP_ADD) continue;
        Array indices(TNR_DTYPE_I64, with.indices, any_of(kReadable, random), random);
        fill_with_indices(indices, with.target[with.axis], random);
        Array values(type.dtype, with.values(), any_of(kReadable, random), random);
        fill_with_numbers(values, type.type, random, Nans::kSome);
        for (const Context& context : {Context(kDefaultContext), Context(three)}) {
          const Arrangement to = any_of(kWritable, random);
          Random seed = random;
          Array target(type.dtype, with.target, to, random);
          Array expected(type.dtype, with.target, to, seed);
          Random same(5);
          fill_with_numbers(target, type.type, same);
          same.seed(5);
          fill_with_numbers(expected, type.type, same);
          put_in_order(with, op, values, indices, expected);
          write_by(with, context, op, values, indices, target);
          EXPECT_TRUE(target.gaps_are_intact());
          for_each_index(target.view(), [&](const Index& index) {
            const auto rank = target.view().rank;
            ASSERT_TRUE(is_same_element(type.type, target.broadcast_element(index, rank),
                                        expected.broadcast_element(index, rank)))
                << op << " of " << describe(values.view()) << " to " << describe(target.view());
          });
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Indexed, RefusesAnIndexBeforeItWrites) {
  std::vector<float> rows(6);
  std::iota(rows.begin(), rows.end(), 1.0F);
  const tnr_view a = view_of(rows.data(), 24, 0, TNR_DTYPE_F32, {{3, 2}, {2, 1}});
  for (const std::int64_t wrong : {std::int64_t{3}, std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    // Every second of them is looked at.
    std::vector<std::int64_t> memory = {0, 9, 2, 9, wrong, 9, 1, 9};
    const tnr_view indices = view_of(memory.data(), 64, 0, TNR_DTYPE_I64, {{2, 4}, {2, 2}});
    std::vector<float> result(8, -5.0F);
    const tnr_view out = view_of(result.data(), 32, 0, TNR_DTYPE_F32, {{2, 4}, {2, 2}, {2, 1}});
    const std::string found = "indices[1, 0] is " + std::to_string(wrong);
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {found, "less than 3", "extent of a on axis 0"},
                 [&] { take(kDefaultContext, a, 0, indices, {out}); });
    EXPECT_EQ(result, std::vector<float>(8, -5.0F));
    const std::vector<float> before = rows;
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {found, "extent of out on axis 0"},
                 [&] { put(kDefaultContext, 0, out, 0, indices, {a}); });
    EXPECT_EQ(rows, before);
  }
}

TEST(Indexed, RefusesShapesAndDtypes) {
  Literal<float> a(TNR_DTYPE_F32, {1, 2, 3});
  Literal<float> out(TNR_DTYPE_F32, {0, 0});
  Literal<std::int32_t> indices(TNR_DTYPE_I32, {0, 1});
  Literal<std::int16_t> narrow(TNR_DTYPE_I16, {0, 1});
  Literal<double> doubles(TNR_DTYPE_F64, {0, 1});
  const auto refuses = [](std::initializer_list<std::string> words, const auto& call) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words, call);
  };
  refuses({"indices.dtype is i16", "i32 or i64"},
          [&] { take(kDefaultContext, a.view, 0, narrow.view, out.out()); });
  refuses({"axis is 1", "a.rank is 1"},
          [&] { take(kDefaultContext, a.view, 1, indices.view, out.out()); });
  refuses({"a.dtype is f32", "out.dtype is f64"},
          [&] { take(kDefaultContext, a.view, 0, indices.view, doubles.out()); });
  refuses({"out.shape[0] is 3", "indices.shape[0] is 2"},
          [&] { take(kDefaultContext, out.view, 0, indices.view, a.out()); });
  refuses({"a.shape[0] is 3", "indices.shape[0] is 2"},
          [&] { scatter(kDefaultContext, 0, a.view, 0, indices.view, out.out()); });
  const auto unsupported = [](std::initializer_list<std::string> words, const auto& call) {
    expect_error(TNR_STATUS_UNSUPPORTED, words, call);
  };
  unsupported({"op is 2"},
              [&] { put(kDefaultContext, TNR_BINARY_OP_SUB, out.view, 0, indices.view, a.out()); });
  Literal<std::uint8_t> truth(TNR_DTYPE_BOOL8, {0, 1});
  Literal<std::uint8_t> truths(TNR_DTYPE_BOOL8, {0, 1, 1});
  unsupported({"bool8"}, [&] {
    put(kDefaultContext, TNR_BINARY_OP_ADD, truth.view, 0, indices.view, truths.out());
  });
  expect_error(TNR_STATUS_ALIASED, {"a"},
               [&] { take(kDefaultContext, out.view, 0, indices.view, out.out()); });
  expect_error(TNR_STATUS_ALIASED, {"indices"}, [&] {
    Literal<std::int32_t> values(TNR_DTYPE_I32, {5, 6});
    put(kDefaultContext, 0, values.view, 0, indices.view, indices.out());
  });
}

}  // namespace
}  // namespace tenure::test
