// Elements by index on a device, compared with the CPU's: bits, order and refusals.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "on_device.hpp"

namespace {

using namespace tenure::test;
using tenure::element_size;

constexpr tnr_dtype foreign(std::uint32_t bytes) { return 1u | bytes * 8 << 8 | 1u << 16; }

const std::vector<tnr_dtype>& dtypes() {
  static const std::vector<tnr_dtype> kDtypes = [] {
    std::vector<tnr_dtype> result;
    for (const NamedType& of : kTypes) result.push_back(of.dtype);
    result.insert(result.end(), {TNR_DTYPE_C64, TNR_DTYPE_C128, foreign(3), foreign(12)});
    return result;
  }();
  return kDtypes;
}

enum class Names { kRows, kElements };

// Inputs: the elements to read, and the indices.
ContextCall take_call(Names names, std::uint32_t axis) {
  return [=](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    return names == Names::kRows ? tnr_take(context, in[0], axis, in[1], nullptr, out)
                                 : tnr_gather(context, in[0], axis, in[1], nullptr, out);
  };
}
ContextCall put_call(Names names, tnr_binary_op op, std::uint32_t axis) {
  return [=](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    return names == Names::kRows ? tnr_put(context, op, in[0], axis, in[1], nullptr, out)
                                 : tnr_scatter(context, op, in[0], axis, in[1], nullptr, out);
  };
}

void set_index(Byte* element, tnr_dtype dtype, std::int64_t index) {
  if (dtype == TNR_DTYPE_I64) {
    std::memcpy(element, &index, sizeof index);
  } else {
    const auto narrow = static_cast<std::int32_t>(index);
    std::memcpy(element, &narrow, sizeof narrow);
  }
}

void fill_with_indices(Array& indices, std::int64_t extent, Random& random) {
  for (Byte* const element : indices.elements()) {
    set_index(element, indices.view().dtype,
              static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent)));
  }
}

Shape values_shape(Names names, const Shape& target, std::uint32_t axis, const Shape& indices) {
  if (names == Names::kElements) return indices;
  Shape result(target.begin(), target.begin() + axis);
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), target.begin() + axis + 1, target.end());
  return result;
}

struct Case {
  Names names;
  Shape target;
  std::uint32_t axis;
  Shape indices;
};

// Targets with axes before and after the indexed one, rows of every width, and many indices.
std::vector<Case> cases() {
  std::vector<Case> result;
  for (const Shape& indices :
       {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{3, 5}, Shape{2, 1, 3}}) {
    for (const Shape& target :
         {Shape{5}, Shape{4, 6}, Shape{3, 1, 16}, Shape{2, 5, 3}, Shape{300, 2}}) {
      for (std::uint32_t axis = 0; axis < target.size(); ++axis) {
        result.push_back({Names::kRows, target, axis, indices});
      }
    }
  }
  for (const Case& of :
       {Case{Names::kRows, {40}, 0, {1000}}, Case{Names::kRows, {3}, 0, {5000}},
        Case{Names::kRows, {100, 64}, 0, {70}}, Case{Names::kRows, {64, 100}, 1, {70}},
        Case{Names::kRows, {1, 1, 1, 1, 1, 2, 3}, 6, {2, 3}},
        Case{Names::kRows, {2, 2, 2, 2, 2, 2, 2, 2}, 3, {3}}}) {
    result.push_back(of);
  }
  for (const Case& of :
       {Case{Names::kElements, {5}, 0, {9}}, Case{Names::kElements, {5}, 0, {0}},
        Case{Names::kElements, {4, 6}, 0, {7, 6}}, Case{Names::kElements, {4, 6}, 1, {4, 3}},
        Case{Names::kElements, {4, 6}, 1, {4, 1}},
        Case{Names::kElements, {3, 5, 16}, 1, {3, 9, 16}},
        Case{Names::kElements, {20, 30, 3}, 0, {50, 30, 3}},
        Case{Names::kElements, {20, 30, 3}, 2, {20, 30, 7}},
        Case{Names::kElements, {7000}, 0, {9000}},
        Case{Names::kElements, {2, 2, 2, 2, 2, 2, 2, 2}, 5, {2, 2, 2, 2, 2, 3, 2, 2}}}) {
    result.push_back(of);
  }
  return result;
}

class DeviceIndexed : public OnDevice {
 protected:
  Arrangement readable(Random& random) { return kReadable[random() % std::size(kReadable)]; }
  Arrangement writable(Random& random) { return kWritable[random() % std::size(kWritable)]; }

  void check_take(const Case& of, tnr_dtype dtype, Arrangement from, Arrangement to,
                  Random& random) {
    Array a(dtype, of.target, from, random);
    fill_with_bits(a, random);
    Array indices(random() % 2 == 0 ? TNR_DTYPE_I32 : TNR_DTYPE_I64, of.indices, readable(random),
                  random);
    fill_with_indices(indices, of.target[of.axis], random);
    Array out(dtype, values_shape(of.names, of.target, of.axis, of.indices), to, random);
    expect_same_call(context_, take_call(of.names, of.axis), {&a, &indices}, out, 0,
                     "take axis " + std::to_string(of.axis) + " of " + describe(a.view()) + " by " +
                         describe(indices.view()));
  }

  void check_put(const Case& of, tnr_binary_op op, const NamedType* type, tnr_dtype dtype,
                 Arrangement from, Arrangement to, Random& random) {
    Array values(dtype, values_shape(of.names, of.target, of.axis, of.indices), from, random);
    Array out(dtype, of.target, to, random);
    if (type != nullptr) {
      fill_with_numbers(values, type->type, random, Nans::kSome);
      fill_with_numbers(out, type->type, random);
    } else {
      fill_with_bits(values, random);
      fill_with_bits(out, random);
    }
    Array indices(random() % 2 == 0 ? TNR_DTYPE_I32 : TNR_DTYPE_I64, of.indices, readable(random),
                  random);
    // Now and then few places, where many meet.
    const std::int64_t extent = of.target[of.axis];
    fill_with_indices(indices, random() % 3 == 0 ? std::min<std::int64_t>(extent, 2) : extent,
                      random);
    expect_same_call(context_, put_call(of.names, op, of.axis), {&values, &indices}, out, 0,
                     "put op " + std::to_string(op) + " axis " + std::to_string(of.axis) + " of " +
                         describe(out.view()) + " by " + describe(indices.view()));
  }

  // Expects the CPU's refusal, and an unchanged output.
  void expect_refusal(const ContextCall& call, const std::vector<Array*>& in, Array& out) {
    const DeviceArray inputs[] = {DeviceArray(context_, *in[0]), DeviceArray(context_, *in[1])};
    const DeviceArray device_out(context_, out);
    const tnr_view_mut here = out.out();
    ASSERT_EQ(call(nullptr, {&in[0]->view(), &in[1]->view()}, &here), TNR_STATUS_INVALID_ARGUMENT);
    const std::string message = tnr_last_error()->message;
    EXPECT_EQ(call(context_, {inputs[0].in(), inputs[1].in()}, device_out.out()),
              TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(tnr_last_error()->message, message);
    EXPECT_TRUE(device_out.bytes() == out.snapshot()) << message;
  }

  static unsigned sparsity() { return std::getenv("TENURE_TEST_QUICK") != nullptr ? 16 : 2; }
};

TEST_F(DeviceIndexed, TakesElementsOfEveryWidthAndLayout) {
  Random random(1);
  for (const Case& of : cases()) {
    for (const tnr_dtype dtype : dtypes()) {
      if (random() % sparsity() != 0) continue;
      check_take(of, dtype, readable(random), writable(random), random);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceIndexed, PutsElementsOfEveryWidthAndLayout) {
  Random random(2);
  for (const Case& of : cases()) {
    for (const tnr_dtype dtype : dtypes()) {
      if (random() % (2 * sparsity()) != 0) continue;
      check_put(of, 0, nullptr, dtype, readable(random), writable(random), random);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceIndexed, CombinesInTheCpusOrder) {
  Random random(3);
  for (const Case& of : cases()) {
    for (const tnr_binary_op op :
         {TNR_BINARY_OP_ADD, TNR_BINARY_OP_MUL, TNR_BINARY_OP_MIN, TNR_BINARY_OP_MAX}) {
      for (const NamedType& type : kTypes) {
        if (type.type == Type::kBool8 || random() % (4 * sparsity()) != 0) continue;
        check_put(of, op, &type, type.dtype, readable(random), writable(random), random);
        if (HasFailure()) return;
      }
    }
  }
}

// Sums with rounded intermediate results have the CPU's bits only in the order of the indices.
TEST_F(DeviceIndexed, RoundsSumsInTheOrderOfTheIndices) {
  Random random(4);
  for (const tnr_dtype dtype : {TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BF16}) {
    for (const std::int64_t extent : {1, 3, 1000}) {
      for (const Names names : {Names::kRows, Names::kElements}) {
        Array values(dtype, {9000}, Arrangement::kRowMajor, random);
        Array out(dtype, {extent}, Arrangement::kRowMajor, random);
        for (Array* const array : {&values, &out}) {
          for (Byte* const element : array->elements()) {
            const double value = static_cast<double>(random() % 1000003) * 1e-6;
            for (const NamedType& type : kTypes) {
              if (type.dtype != dtype) continue;
              tenure::kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&value),
                                               type.type, element);
            }
          }
        }
        Array indices(TNR_DTYPE_I64, {9000}, Arrangement::kRowMajor, random);
        fill_with_indices(indices, extent, random);
        expect_same_call(context_, put_call(names, TNR_BINARY_OP_ADD, 0), {&values, &indices}, out,
                         0, "sums of " + std::to_string(extent));
      }
    }
  }
}

// Rows from an aligned place, which move 16 bytes at once; and so do bool8.
TEST_F(DeviceIndexed, MovesAlignedRows) {
  Random random(5);
  for (const tnr_dtype dtype : dtypes()) {
    const auto width = static_cast<std::int64_t>(element_size(dtype));
    const std::int64_t padding = width == 1 ? 16 : width == 2 ? 8 : width == 3 ? 16 : 4;
    for (const std::int64_t count : {16, 48, 20, 5}) {
      const auto whole = [&](std::int64_t rows) { return Shape{rows * count + padding}; };
      const auto rows_of = [&](tnr_view view, std::int64_t rows) {
        view.data = static_cast<const Byte*>(view.data) + (padding - 1) * width;
        view.rank = 2;
        view.shape[0] = rows;
        view.shape[1] = count;
        view.strides[0] = count;
        view.strides[1] = 1;
        return view;
      };
      Array a(dtype, whole(9), Arrangement::kRowMajor, random);
      fill_with_bits(a, random);
      Array indices(TNR_DTYPE_I32, {30}, Arrangement::kRowMajor, random);
      fill_with_indices(indices, 9, random);
      Array out(dtype, whole(30), Arrangement::kRowMajor, random);
      expect_same_call(
          context_,
          [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
            const tnr_view from = rows_of(*in[0], 9);
            const tnr_view_mut target = {rows_of(to->view, 30)};
            return tnr_take(context, &from, 0, in[1], nullptr, &target);
          },
          {&a, &indices}, out, 0, "take rows of " + std::to_string(count));
      Array into(dtype, whole(9), Arrangement::kRowMajor, random);
      fill_with_bits(into, random);
      expect_same_call(
          context_,
          [&](tnr_context* context, const auto& in, const tnr_view_mut* to) {
            const tnr_view from = rows_of(*in[0], 30);
            const tnr_view_mut target = {rows_of(to->view, 9)};
            return tnr_put(context, 0, &from, 0, in[1], nullptr, &target);
          },
          {&out, &indices}, into, 0, "put rows of " + std::to_string(count));
      if (HasFailure()) return;
    }
  }
}

// The message names the first index that is outside and where it is, and nothing is written.
TEST_F(DeviceIndexed, RefusesIndicesOutside) {
  Random random(6);
  for (const tnr_dtype dtype : {TNR_DTYPE_I32, TNR_DTYPE_I64}) {
    for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{5}, std::int64_t{1} << 30,
                                   -(std::int64_t{1} << 31), INT64_MIN, INT64_MAX}) {
      if (dtype == TNR_DTYPE_I32 && static_cast<std::int32_t>(bad) != bad) continue;
      for (const Arrangement arrangement : kWritable) {
        Array indices(dtype, {40, 70}, arrangement, random);
        fill_with_indices(indices, 5, random);
        std::vector<Byte*> elements = indices.elements();
        const std::size_t first = random() % elements.size();
        set_index(elements[first], dtype, bad);
        set_index(elements[first + random() % (elements.size() - first)], dtype, bad);
        Array a(TNR_DTYPE_F32, {5, 3}, Arrangement::kRowMajor, random);
        Array out(TNR_DTYPE_F32, {40, 70, 3}, Arrangement::kRowMajor, random);
        fill_with_numbers(a, Type::kF32, random);
        fill_with_numbers(out, Type::kF32, random);
        expect_refusal(take_call(Names::kRows, 0), {&a, &indices}, out);
        expect_refusal(put_call(Names::kRows, 0, 0), {&out, &indices}, a);
        expect_refusal(put_call(Names::kRows, TNR_BINARY_OP_ADD, 0), {&out, &indices}, a);
        Array target(TNR_DTYPE_F32, {40, 5}, Arrangement::kRowMajor, random);
        Array values(TNR_DTYPE_F32, {40, 70}, Arrangement::kRowMajor, random);
        fill_with_numbers(target, Type::kF32, random);
        fill_with_numbers(values, Type::kF32, random);
        expect_refusal(take_call(Names::kElements, 1), {&target, &indices}, values);
        expect_refusal(put_call(Names::kElements, 0, 1), {&values, &indices}, target);
      }
    }
  }
}

TEST_F(DeviceIndexed, RefusesWhatTheCpuRefuses) {
  Random random(7);
  Array a(TNR_DTYPE_F32, {3, 4}, Arrangement::kRowMajor, random);
  Array rows(TNR_DTYPE_F32, {2, 4}, Arrangement::kRowMajor, random);
  Array wide(TNR_DTYPE_F64, {2, 4}, Arrangement::kRowMajor, random);
  Array complex(TNR_DTYPE_C64, {3, 4}, Arrangement::kRowMajor, random);
  Array complex_rows(TNR_DTYPE_C64, {2, 4}, Arrangement::kRowMajor, random);
  Array bools(TNR_DTYPE_BOOL8, {3, 4}, Arrangement::kRowMajor, random);
  Array bool_rows(TNR_DTYPE_BOOL8, {2, 4}, Arrangement::kRowMajor, random);
  Array nothing(TNR_DTYPE_F32, {0, 4}, Arrangement::kRowMajor, random);
  Array indices(TNR_DTYPE_I64, {2}, Arrangement::kRowMajor, random);
  Array few(TNR_DTYPE_I64, {3}, Arrangement::kRowMajor, random);
  Array floats(TNR_DTYPE_F32, {2}, Arrangement::kRowMajor, random);
  fill_with_indices(indices, 3, random);
  fill_with_indices(few, 3, random);
  const auto same = [&](const ContextCall& call, const std::vector<Array*>& in, Array& out) {
    expect_same_call(context_, call, in, out, 0, "refused");
  };
  for (const Names names : {Names::kRows, Names::kElements}) {
    same(take_call(names, 2), {&a, &indices}, rows);
    same(take_call(names, 0), {&a, &indices}, wide);
    same(take_call(names, 0), {&a, &few}, rows);
    same(take_call(names, 1), {&a, &indices}, rows);
    same(take_call(names, 0), {&a, &floats}, rows);
    same(take_call(names, 0), {&nothing, &indices}, rows);
    same(put_call(names, TNR_BINARY_OP_SUB, 0), {&rows, &indices}, a);
    same(put_call(names, 99, 0), {&rows, &indices}, a);
    same(put_call(names, TNR_BINARY_OP_ADD, 0), {&complex_rows, &indices}, complex);
    same(put_call(names, TNR_BINARY_OP_ADD, 0), {&bool_rows, &indices}, bools);
    same(put_call(names, 0, 0), {&wide, &indices}, a);
    same(put_call(names, 0, 0), {&rows, &indices}, nothing);
  }
}

}  // namespace
