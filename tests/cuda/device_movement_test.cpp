// Copies, casts, fills, selections and triangles on a device, compared with the CPU's: every width
// and layout.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "on_device.hpp"

namespace {

using namespace tenure::test;
using tenure::element_size;

using DeviceMovement = OnDevice;

constexpr tnr_dtype foreign(std::uint32_t bytes) { return 1u | bytes * 8 << 8 | 1u << 16; }

// Widths that have kernels, those of complex numbers, which lie at halves of them, and others.
const std::vector<tnr_dtype>& dtypes() {
  static const std::vector<tnr_dtype> kDtypes = [] {
    std::vector<tnr_dtype> result;
    for (const NamedType& of : kTypes) result.push_back(of.dtype);
    result.insert(result.end(), {TNR_DTYPE_C64, TNR_DTYPE_C128, foreign(3), foreign(6), foreign(12),
                                 foreign(24), foreign(31)});
    return result;
  }();
  return kDtypes;
}

ContextCall copy_call() {
  return [](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    return tnr_copy(context, in[0], nullptr, out);
  };
}
ContextCall cast_call() {
  return [](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    return tnr_cast(context, in[0], nullptr, out);
  };
}
ContextCall select_call() {
  return [](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    return tnr_select(context, in[0], in[1], in[2], nullptr, out);
  };
}
ContextCall fill_call(const tnr_scalar& value) {
  return [value](tnr_context* context, const auto&, const tnr_view_mut* out) {
    return tnr_fill(context, &value, nullptr, out);
  };
}

ContextCall triangle_call(tnr_triangle part, std::int64_t diagonal) {
  return [=](tnr_context* context, const auto& in, const tnr_view_mut* out) {
    const tnr_triangle_attributes with = {sizeof with, diagonal};
    return tnr_triangular(context, part, in[0], &with, out);
  };
}

// A copy on the CPU and on the device, of views that are made of those of two arrays.
using ViewOf = std::function<tnr_view(const tnr_view&)>;
void expect_same_copy(tnr_context* context, Array& a, Array& out, const ViewOf& from,
                      const ViewOf& to, const std::string& what) {
  expect_same_call(
      context,
      [&](tnr_context* where, const auto& in, const tnr_view_mut* whole) {
        const tnr_view source = from(*in[0]);
        const tnr_view_mut target = {to(whole->view)};
        return tnr_copy(where, &source, nullptr, &target);
      },
      {&a}, out, 0, what);
}
tnr_view same_view(const tnr_view& view) { return view; }

tnr_view permuted(const tnr_view& view, const std::vector<std::uint32_t>& axes) {
  tnr_view result = view;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    result.shape[i] = view.shape[axes[i]];
    result.strides[i] = view.strides[axes[i]];
  }
  return result;
}

TEST_F(DeviceMovement, CopiesOfEveryLayout) {
  Random random(1);
  for (const tnr_dtype dtype : dtypes()) {
    for (const Arrangement of_a : kReadable) {
      for (const Arrangement of_out : kWritable) {
        for (const Shape& shape : shapes()) {
          Array a(dtype, shape, of_a, random);
          Array out(dtype, shape, of_out, random);
          fill_with_bits(a, random);
          expect_same_call(context_, copy_call(), {&a}, out, 0, "copy " + describe(a.view()));
        }
      }
    }
    if (HasFailure()) return;
  }
}

TEST_F(DeviceMovement, CopiesOfWhatIsTransposed) {
  Random random(2);
  for (const tnr_dtype dtype : dtypes()) {
    for (const Shape& shape :
         {Shape{8, 8}, Shape{7, 64}, Shape{31, 33}, Shape{64, 65}, Shape{130, 9}, Shape{100, 129},
          Shape{3, 40, 20}, Shape{2, 17, 3, 33}, Shape{20, 1, 70}}) {
      Array a(dtype, shape, Arrangement::kRowMajor, random);
      fill_with_bits(a, random);
      std::vector<std::uint32_t> axes(shape.size());
      for (std::uint32_t i = 0; i < axes.size(); ++i) axes[i] = i;
      do {
        Shape turned;
        for (const std::uint32_t axis : axes) turned.push_back(shape[axis]);
        for (const Arrangement arrangement : {Arrangement::kRowMajor, Arrangement::kGaps}) {
          Array out(dtype, turned, arrangement, random);
          expect_same_copy(
              context_, a, out, [&](const tnr_view& view) { return permuted(view, axes); },
              same_view, "permuted to " + describe(out.view()));
        }
      } while (std::next_permutation(axes.begin(), axes.end()));
    }
    if (HasFailure()) return;
  }
}

// Elements that no kernel has as a whole, with eight axes of their own that nothing joins.
TEST_F(DeviceMovement, AsManyAxesAsThereCanBe) {
  Random random(3);
  const Shape shape = {2, 3, 2, 2, 3, 2, 2, 3};
  for (const tnr_dtype dtype : dtypes()) {
    for (int i = 0; i < 4; ++i) {
      Array a(dtype, shape, Arrangement::kShuffled, random);
      Array out(dtype, shape, Arrangement::kReversed, random);
      fill_with_bits(a, random);
      expect_same_call(context_, copy_call(), {&a}, out, 0, "copy " + describe(a.view()));
    }
  }
}

TEST_F(DeviceMovement, CopiesThatRepeat) {
  Random random(4);
  for (const tnr_dtype dtype : dtypes()) {
    Array row(dtype, {64}, Arrangement::kRowMajor, random);
    Array column(dtype, {9, 1}, Arrangement::kRowMajor, random);
    Array one(dtype, {}, Arrangement::kRowMajor, random);
    for (Array* const a : {&row, &column, &one}) {
      fill_with_bits(*a, random);
      Array out(dtype, {9, 64}, Arrangement::kRowMajor, random);
      expect_same_call(context_, copy_call(), {a}, out, 0, "copy of " + describe(a->view()));
    }
  }
}

// At every distance from an address that a vector has.
TEST_F(DeviceMovement, CopiesFromEveryOffset) {
  Random random(5);
  for (const tnr_dtype dtype : dtypes()) {
    const auto width = static_cast<std::int64_t>(element_size(dtype));
    Array a(dtype, {400}, Arrangement::kRowMajor, random);
    fill_with_bits(a, random);
    for (std::int64_t offset = 0; offset < 17; ++offset) {
      const auto part_of = [&](std::int64_t first, std::int64_t step) {
        return [=](const tnr_view& view) {
          tnr_view part = view;
          part.data = static_cast<const Byte*>(view.data) + first * width;
          part.shape[0] = 100 + offset;
          part.strides[0] = step;
          return part;
        };
      };
      Array out(dtype, {400}, Arrangement::kRowMajor, random);
      expect_same_copy(context_, a, out, part_of(offset, 1), part_of(offset / 2, 1), "adjacent");
      expect_same_copy(context_, a, out, part_of(offset, 2), part_of(offset, 1), "every second");
      expect_same_copy(context_, a, out, part_of(offset, 0), part_of(offset, 3), "repeated");
    }
  }
}

TEST_F(DeviceMovement, Casts) {
  Random random(6);
  for (const NamedType& from : kTypes) {
    for (const NamedType& to : kTypes) {
      for (const Shape& shape : shapes()) {
        Array a(from.dtype, shape, kReadable[random() % std::size(kReadable)], random);
        Array out(to.dtype, shape, kWritable[random() % std::size(kWritable)], random);
        if (random() % 2 == 0) {
          fill_with_bits(a, random);
        } else {
          fill_with_numbers(a, from.type, random, Nans::kSome);
        }
        expect_same_call(context_, cast_call(), {&a}, out, 0,
                         "cast " + describe(a.view()) + " to " + describe(out.view()));
      }
    }
  }
}

// All numbers of 8 and 16 bits, and around the ends of the integers and of the halves.
TEST_F(DeviceMovement, CastsOfEveryKindOfNumber) {
  Random random(7);
  for (const NamedType& from : kTypes) {
    const std::size_t width = element_size(from.dtype);
    Array a(from.dtype, {65536}, Arrangement::kRowMajor, random);
    std::uint64_t next = 0;
    for (Byte* const element : a.elements()) {
      std::uint64_t bits = next++;
      if (width > 2) {
        // A number of any magnitude, with 0 to 4 added to its bits.
        const double value = std::ldexp(static_cast<double>(random() >> 40) / (1 << 24) + 1,
                                        static_cast<int>(random() % 160) - 80) *
                             (random() % 2 == 0 ? 1 : -1);
        Byte bytes[8];
        std::memcpy(bytes, &value, sizeof value);
        tenure::kernels::reference::cast(Type::kF64, bytes, from.type, element);
        std::memcpy(&bits, element, width);
        bits += random() % 5;
        if (random() % 4 == 0) bits = random();
        if (!is_float(from.type) && random() % 2 == 0) {
          bits = (random() | 1) >> (random() % 64);
          bits <<= random() % 40;
        }
      }
      std::memcpy(element, &bits, width);
    }
    for (const NamedType& to : kTypes) {
      Array out(to.dtype, {65536}, Arrangement::kRowMajor, random);
      expect_same_call(context_, cast_call(), {&a}, out, 0,
                       std::string("cast ") + tenure::dtype_name(from.dtype) + " to " +
                           tenure::dtype_name(to.dtype));
    }
  }
}

TEST_F(DeviceMovement, CastsThatAreRefused) {
  Random random(8);
  Array f32(TNR_DTYPE_F32, {5}, Arrangement::kRowMajor, random);
  Array c64(TNR_DTYPE_C64, {5}, Arrangement::kRowMajor, random);
  Array c128(TNR_DTYPE_C128, {5}, Arrangement::kRowMajor, random);
  Array odd(foreign(3), {5}, Arrangement::kRowMajor, random);
  Array out(TNR_DTYPE_F32, {5}, Arrangement::kRowMajor, random);
  expect_same_call(context_, cast_call(), {&c64}, out, 0, "complex to real");
  expect_same_call(context_, cast_call(), {&odd}, out, 0, "foreign");
  const DeviceArray real(context_, f32);
  const DeviceArray small(context_, c64);
  const DeviceArray large(context_, c128);
  EXPECT_EQ(tnr_cast(context_, real.in(), nullptr, small.out()), TNR_STATUS_UNSUPPORTED);
  EXPECT_EQ(tnr_cast(context_, small.in(), nullptr, large.out()), TNR_STATUS_UNSUPPORTED);
  Array same(TNR_DTYPE_C64, {5}, Arrangement::kGaps, random);
  expect_same_call(context_, cast_call(), {&c64}, same, 0, "complex to itself");
}

TEST_F(DeviceMovement, Fills) {
  Random random(9);
  for (const tnr_dtype dtype : dtypes()) {
    for (const Arrangement arrangement : kWritable) {
      for (const Shape& shape : shapes()) {
        for (const std::int64_t number : {0, 1, 77}) {
          Array out(dtype, shape, arrangement, random);
          expect_same_call(context_, fill_call(scalar_of(TNR_DTYPE_I64, number)), {}, out, 0,
                           "fill " + describe(out.view()));
        }
      }
    }
    if (HasFailure()) return;
  }
  // Parts that differ, and that a device cannot write as one from an odd address.
  Array complex(TNR_DTYPE_C64, {9}, Arrangement::kRowMajor, random);
  struct {
    float real = 1.5f;
    float imaginary = -2;
  } value;
  const ContextCall fill = fill_call(scalar_of(TNR_DTYPE_C64, value));
  for (const std::ptrdiff_t offset : {0, 4}) {
    expect_same_call(
        context_,
        [&](tnr_context* context, const auto& in, const tnr_view_mut* out) {
          tnr_view_mut part = *out;
          part.view.data = static_cast<const Byte*>(out->view.data) + offset;
          part.view.shape[0] = 8;
          return fill(context, in, &part);
        },
        {}, complex, 0, "complex");
  }
}

TEST_F(DeviceMovement, ComplexNumbersAtHalvesOfThem) {
  Random random(10);
  for (const tnr_dtype dtype : {TNR_DTYPE_C64, TNR_DTYPE_C128}) {
    Array a(dtype, {9, 12}, Arrangement::kRowMajor, random);
    Array out(dtype, {9, 12}, Arrangement::kRowMajor, random);
    Array condition(TNR_DTYPE_BOOL8, {8, 11}, Arrangement::kRowMajor, random);
    fill_with_bits(a, random);
    fill_with_numbers(condition, Type::kBool8, random);
    const auto half = static_cast<std::ptrdiff_t>(element_size(dtype) / 2);
    const auto shifted = [half](const tnr_view& view) {
      tnr_view part = view;
      part.data = static_cast<const Byte*>(view.data) + half;
      part.shape[0] = 8;
      part.shape[1] = 11;
      return part;
    };
    expect_same_copy(context_, a, out, shifted, shifted, "shifted");
    expect_same_copy(
        context_, a, out,
        [](const tnr_view& view) {
          tnr_view part = view;
          part.shape[0] = 8;
          part.shape[1] = 11;
          return part;
        },
        shifted, "one shifted");
    expect_same_call(
        context_,
        [&](tnr_context* context, const auto& in, const tnr_view_mut* whole) {
          const tnr_view from = shifted(*in[1]);
          const tnr_view_mut to = {shifted(whole->view)};
          return tnr_select(context, in[0], &from, &to.view, nullptr, &to);
        },
        {&condition, &a}, out, 0, "select");
  }
}

TEST_F(DeviceMovement, Selections) {
  Random random(11);
  for (const tnr_dtype dtype : dtypes()) {
    for (const Shape& shape : shapes()) {
      for (int i = 0; i < 3; ++i) {
        const auto any = [&] { return kReadable[random() % std::size(kReadable)]; };
        Array condition(TNR_DTYPE_BOOL8, shape, any(), random);
        Array a(dtype, shape, any(), random);
        Array b(dtype, shape, any(), random);
        Array out(dtype, shape, i == 0 ? Arrangement::kRowMajor : kWritable[random() % 5], random);
        fill_with_numbers(condition, Type::kBool8, random);
        fill_with_bits(a, random);
        fill_with_bits(b, random);
        expect_same_call(context_, select_call(), {&condition, &a, &b}, out, 0,
                         "select " + describe(out.view()));
      }
    }
    // Rows and columns that repeat, which lie as vectors.
    Array condition(TNR_DTYPE_BOOL8, {9, 64}, Arrangement::kRowMajor, random);
    Array one_condition(TNR_DTYPE_BOOL8, {64}, Arrangement::kRowMajor, random);
    Array a(dtype, {9, 64}, Arrangement::kRowMajor, random);
    Array row(dtype, {64}, Arrangement::kRowMajor, random);
    Array column(dtype, {9, 1}, Arrangement::kRowMajor, random);
    for (Array* const truths : {&condition, &one_condition}) {
      fill_with_numbers(*truths, Type::kBool8, random);
    }
    for (Array* const array : {&a, &row, &column}) fill_with_bits(*array, random);
    for (Array* const truths : {&condition, &one_condition}) {
      for (Array* const b : {&a, &row, &column}) {
        Array out(dtype, {9, 64}, Arrangement::kRowMajor, random);
        expect_same_call(context_, select_call(), {truths, &a, b}, out, 0, "select rows");
      }
    }
    if (HasFailure()) return;
  }
}

TEST_F(DeviceMovement, TruthsAreWrittenAsZeroOrOne) {
  Random random(12);
  for (const Shape& shape : {Shape{1000}, Shape{64, 64}, Shape{70, 80}, Shape{5, 3}}) {
    for (const Arrangement arrangement : kWritable) {
      Array a(TNR_DTYPE_BOOL8, shape, Arrangement::kRowMajor, random);
      Array out(TNR_DTYPE_BOOL8, shape, arrangement, random);
      fill_with_bits(a, random);
      expect_same_call(context_, copy_call(), {&a}, out, 0, "copy");
      Array in_place(TNR_DTYPE_BOOL8, shape, arrangement, random);
      fill_with_bits(in_place, random);
      expect_same_call(context_, copy_call(), {&in_place}, in_place, 0, "copy in place");
    }
  }
}

constexpr tnr_triangle kParts[] = {TNR_TRIANGLE_LOWER, TNR_TRIANGLE_UPPER};

// Beyond the corners too, and at the ends of the range.
std::vector<std::int64_t> diagonals_of(const Shape& shape) {
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t columns = shape.back();
  return {0, 1, -2, columns - 1, columns, -rows, 1 - rows, INT64_MIN, INT64_MAX};
}

TEST_F(DeviceMovement, TrianglesOfEveryLayout) {
  Random random(13);
  for (const tnr_dtype dtype : dtypes()) {
    for (const Arrangement of_a : kReadable) {
      for (const Arrangement of_out : kWritable) {
        for (const Shape& shape :
             {Shape{1, 1}, Shape{5, 1}, Shape{1, 37}, Shape{7, 5}, Shape{6, 16}, Shape{0, 3},
              Shape{2, 3, 0}, Shape{3, 1, 2, 9}, Shape{2, 3, 4, 32}}) {
          const std::vector<std::int64_t> diagonals = diagonals_of(shape);
          Array a(dtype, shape, of_a, random);
          Array out(dtype, shape, of_out, random);
          fill_with_bits(a, random);
          for (const tnr_triangle part : kParts) {
            const std::int64_t diagonal = diagonals[random() % diagonals.size()];
            expect_same_call(
                context_, triangle_call(part, diagonal), {&a}, out, 0,
                "triangle " + describe(a.view()) + " from " + std::to_string(diagonal));
          }
        }
      }
    }
    if (HasFailure()) return;
  }
}

// A row-major matrix, or a batch, in the memory of a vector.
tnr_view part_of(const tnr_view& vector, std::ptrdiff_t offset, const Shape& shape) {
  tnr_view result = vector;
  result.data = static_cast<const Byte*>(vector.data) + offset;
  result.rank = static_cast<std::uint32_t>(shape.size());
  std::int64_t count = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    result.shape[axis] = shape[axis];
    result.strides[axis] = count;
    count *= shape[axis];
  }
  return result;
}

// On memory that vectors have, and a little behind it.
TEST_F(DeviceMovement, TrianglesOfEveryDiagonal) {
  Random random(14);
  for (const tnr_dtype dtype : dtypes()) {
    const auto width = static_cast<std::ptrdiff_t>(element_size(dtype));
    std::ptrdiff_t aligned = 0;  // an array begins one element behind
    while ((width + aligned) % 16 != 0) aligned += width;
    for (const Shape& shape : {Shape{9, 48}, Shape{40, 16}, Shape{2, 33, 17}}) {
      std::vector<std::int64_t> diagonals = diagonals_of(shape);
      for (std::int64_t i = -41; i < 50; i += 3) diagonals.push_back(i);
      for (const std::int64_t diagonal : diagonals) {
        for (const tnr_triangle part : kParts) {
          Array a(dtype, {1200}, Arrangement::kRowMajor, random);
          Array out(dtype, {1200}, Arrangement::kRowMajor, random);
          fill_with_bits(a, random);
          const ContextCall call = [&](tnr_context* context, const auto& in,
                                       const tnr_view_mut* whole) {
            const tnr_view from = part_of(*in[0], aligned, shape);
            const tnr_view_mut to = {part_of(whole->view, aligned, shape)};
            return triangle_call(part, diagonal)(context, {&from}, &to);
          };
          const std::string what = std::to_string(dtype) + " from " + std::to_string(diagonal);
          expect_same_call(context_, call, {&a}, out, 0, "triangle of " + what);
          expect_same_call(context_, call, {&a}, a, 0, "triangle in place of " + what);
        }
      }
    }
    if (HasFailure()) return;
  }
}

TEST_F(DeviceMovement, TrianglesInPlace) {
  Random random(15);
  for (const tnr_dtype dtype : dtypes()) {
    for (const Arrangement arrangement : kWritable) {
      for (const Shape& shape :
           {Shape{1, 1}, Shape{64, 64}, Shape{5, 70}, Shape{1, 50}, Shape{3, 12, 11}}) {
        for (const tnr_triangle part : kParts) {
          const std::vector<std::int64_t> diagonals = diagonals_of(shape);
          Array a(dtype, shape, arrangement, random);
          fill_with_bits(a, random);
          const std::int64_t diagonal = diagonals[random() % diagonals.size()];
          expect_same_call(context_, triangle_call(part, diagonal), {&a}, a, 0,
                           "triangle in place " + describe(a.view()));
        }
      }
    }
    if (HasFailure()) return;
  }
}

// Which go by way of a copy where both are large enough, and the reverse of each axis.
TEST_F(DeviceMovement, TrianglesOfWhatIsTransposed) {
  Random random(16);
  for (const tnr_dtype dtype : dtypes()) {
    for (const Shape& shape : {Shape{8, 8}, Shape{7, 64}, Shape{31, 33}, Shape{3, 40, 20}}) {
      const auto rank = static_cast<std::uint32_t>(shape.size());
      Shape turned = shape;
      std::swap(turned[rank - 1], turned[rank - 2]);
      std::vector<std::uint32_t> axes(rank);
      for (std::uint32_t i = 0; i < rank; ++i) axes[i] = i;
      std::swap(axes[rank - 1], axes[rank - 2]);
      for (const tnr_triangle part : kParts) {
        for (const std::uint32_t reversed : {rank, rank - 1, rank - 2}) {
          Array a(dtype, shape, Arrangement::kRowMajor, random);
          Array out(dtype, turned, Arrangement::kRowMajor, random);
          fill_with_bits(a, random);
          const auto from = [&](const tnr_view& view) {
            tnr_view result = permuted(view, axes);
            if (reversed == rank) return result;
            const std::int64_t bytes = (result.shape[reversed] - 1) * result.strides[reversed] *
                                       static_cast<std::int64_t>(element_size(dtype));
            result.data = static_cast<const Byte*>(result.data) + bytes;
            result.strides[reversed] = -result.strides[reversed];
            return result;
          };
          expect_same_call(
              context_,
              [&](tnr_context* context, const auto& in, const tnr_view_mut* whole) {
                const tnr_view source = from(*in[0]);
                return triangle_call(part, 1)(context, {&source}, whole);
              },
              {&a}, out, 0, "triangle of transposed " + describe(a.view()));
        }
      }
    }
    if (HasFailure()) return;
  }
}

// At every distance from an address that a vector has; complex numbers at halves of them.
TEST_F(DeviceMovement, TrianglesFromEveryOffset) {
  Random random(17);
  for (const tnr_dtype dtype : dtypes()) {
    const auto width = static_cast<std::ptrdiff_t>(element_size(dtype));
    const bool is_complex = dtype == TNR_DTYPE_C64 || dtype == TNR_DTYPE_C128;
    const std::ptrdiff_t step = is_complex ? width / 2 : width;
    for (const Shape& shape : {Shape{12, 16}, Shape{1, 190}, Shape{190, 1}}) {
      for (std::ptrdiff_t offset = 0; offset < 18 * step; offset += step) {
        Array a(dtype, {220}, Arrangement::kRowMajor, random);
        Array out(dtype, {220}, Arrangement::kRowMajor, random);
        fill_with_bits(a, random);
        for (const tnr_triangle part : kParts) {
          const auto call = [&](std::ptrdiff_t of_out, std::int64_t diagonal) {
            return [=](tnr_context* context, const auto& in, const tnr_view_mut* whole) {
              const tnr_view from = part_of(*in[0], offset, shape);
              const tnr_view_mut to = {part_of(whole->view, of_out, shape)};
              return triangle_call(part, diagonal)(context, {&from}, &to);
            };
          };
          expect_same_call(context_, call(offset, 3), {&a}, out, 0, "both from an offset");
          expect_same_call(context_, call(0, -5), {&a}, out, 0, "one from an offset");
          expect_same_call(context_, call(offset, 60), {&a}, a, 0, "in place from an offset");
        }
      }
    }
    if (HasFailure()) return;
  }
}

TEST_F(DeviceMovement, TrianglesThatAreRefused) {
  Random random(18);
  Array a(TNR_DTYPE_F32, {4, 4}, Arrangement::kRowMajor, random);
  Array wide(TNR_DTYPE_F32, {4, 5}, Arrangement::kRowMajor, random);
  Array row(TNR_DTYPE_F32, {4}, Arrangement::kRowMajor, random);
  Array f64(TNR_DTYPE_F64, {4, 4}, Arrangement::kRowMajor, random);
  const ContextCall lower = triangle_call(TNR_TRIANGLE_LOWER, 0);
  expect_same_call(context_, lower, {&a}, wide, 0, "another shape");
  expect_same_call(context_, lower, {&row}, a, 0, "another rank");
  expect_same_call(context_, lower, {&row}, row, 0, "a vector");
  expect_same_call(context_, lower, {&f64}, a, 0, "another dtype");
  expect_same_call(context_, triangle_call(3, 0), {&f64}, f64, 0, "no part");
  expect_same_call(
      context_,
      [&](tnr_context* context, const auto& in, const tnr_view_mut* out) {
        const tnr_view turned = permuted(*in[0], {1, 0});
        return lower(context, {&turned}, out);
      },
      {&a}, a, 0, "aliased");
  // One of them on the CPU.
  const DeviceArray there(context_, f64);
  const tnr_view_mut here = f64.out();
  EXPECT_EQ(lower(context_, {there.in()}, &here), TNR_STATUS_UNSUPPORTED);
  EXPECT_EQ(lower(context_, {&f64.view()}, there.out()), TNR_STATUS_UNSUPPORTED);
  EXPECT_EQ(lower(nullptr, {there.in()}, there.out()), TNR_STATUS_INVALID_ARGUMENT);
}

}  // namespace
