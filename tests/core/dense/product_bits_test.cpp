// Products of some rows and some columns: the bits that the same elements have in the whole product.
#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include "dense_factors.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

// Rows or columns of a product.
struct Range {
  std::int64_t first;
  std::int64_t count;
};

Range any_range(std::int64_t extent, Random& random) {
  constexpr std::int64_t kCounts[] = {1, 1, 1, 2, 3, 14, 33};
  const std::int64_t count = std::min(extent, kCounts[random() % 7]);
  return {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent - count + 1)),
          count};
}
tnr_view some_of(const tnr_view& view, std::uint32_t axis, const Range& range) {
  return slice(view, axis, range.first, range.first + range.count, 1);
}

// Elements of a view in any layout; `shape` may have axes of one element more or less.
class Laid {
 public:
  Laid(const tnr_view& from, const Shape& shape, Random& random)
      : array_(from.dtype, shape, kWritable[random() % 5], random) {
    const std::vector<Byte*> elements = array_.elements();
    std::size_t i = 0;
    for_each_index(from, [&](const Index& at) {
      std::memcpy(elements[i++], static_cast<const Byte*>(from.base) + byte_of(from, at),
                  element_size(from.dtype));
    });
  }
  Array* operator->() { return &array_; }

 private:
  Array array_;
};

struct Scalars {
  tnr_scalar alpha;
  tnr_scalar beta;
};

class ProductBits : public testing::TestWithParam<Factors> {
 protected:
  // One product, and its parts in every way that there is to compute them.
  void expect_parts(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                    const Scalars& scalars, int turns) {
    const Factors& of = GetParam();
    Array a(of.a, {rows, depth}, Arrangement::kRowMajor, random);
    Array b(of.b, {depth, columns}, Arrangement::kRowMajor, random);
    Array before(of.out, {rows, columns}, Arrangement::kRowMajor, random);
    for (Array* const array : {&a, &b, &before}) fill(*array, random);
    Laid whole(before.view(), {rows, columns}, random);
    matmul(two, scalars.alpha, a.view(), b.view(), scalars.beta, whole->out());
    for (int turn = 0; turn < turns; ++turn) {
      const Range r = any_range(rows, random);
      const Range c = any_range(columns, random);
      const auto in_out = [&](const tnr_view& view) { return some_of(some_of(view, 0, r), 1, c); };
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(depth) + " x " +
                   std::to_string(columns) + ", rows " + std::to_string(r.first) + " and " +
                   std::to_string(r.count) + ", columns " + std::to_string(c.first) + " and " +
                   std::to_string(c.count));
      multiply_part(some_of(a.view(), 0, r), some_of(b.view(), 1, c), in_out(before.view()),
                    in_out(whole->view()), scalars);
      if (HasFatalFailure()) return;
    }
  }

  void multiply_part(const tnr_view& a, const tnr_view& b, const tnr_view& before,
                     const tnr_view& due, const Scalars& scalars) {
    const std::int64_t rows = a.shape[0];
    const std::int64_t depth = a.shape[1];
    const std::int64_t columns = b.shape[1];
    const auto expect = [&](const Shape& a_shape, const Shape& b_shape, const Shape& out_shape) {
      Laid left(a, a_shape, random);
      Laid right(b, b_shape, random);
      Laid out(before, out_shape, random);
      matmul(kDefaultContext, scalars.alpha, left->view(), right->view(), scalars.beta, out->out());
      expect_same(out, due, "matmul");
      if (b_shape.size() != 2) return;
      Laid by_packed(before, out_shape, random);
      factor_matmul(kDefaultContext, scalars.alpha, left->view(), Packed(right->view(), a.dtype),
                    scalars.beta, by_packed->out());
      expect_same(by_packed, due, "packed factor");
    };
    expect({rows, depth}, {depth, columns}, {rows, columns});
    expect({rows, 1, depth}, {depth, columns}, {rows, 1, columns});
    expect({1, rows, depth}, {1, depth, columns}, {1, rows, columns});
    if (rows == 1) expect({depth}, {depth, columns}, {columns});
    if (columns == 1) expect({rows, depth}, {depth}, {rows});
    if (rows == 1 && columns == 1) expect({depth}, {depth}, {});
  }

  static void expect_same(Laid& out, const tnr_view& due, const char* how) {
    const std::size_t width = element_size(due.dtype);
    const std::vector<Byte*> elements = out->elements();
    std::size_t i = 0;
    for_each_index(due, [&](const Index& at) {
      const Byte* const expected = static_cast<const Byte*>(due.base) + byte_of(due, at);
      ASSERT_EQ(std::memcmp(elements[i++], expected, width), 0)
          << how << ": element " << at[0] << ", " << at[1] << " to " << describe(out->view());
    });
  }

  Random random{1};
  const TestContext two{2};
};

tnr_scalar whole_number(std::int8_t value) { return scalar_of(TNR_DTYPE_I8, value); }

// Around the extents of tiles, panels and blocks.
TEST_P(ProductBits, DoNotDependOnOtherRowsAndColumns) {
  constexpr std::int64_t kExtents[][3] = {
      {5, 7, 6},      {1, 33, 40},   {40, 33, 1},   {33, 40, 35},  {37, 600, 50}, {30, 1030, 70},
      {150, 70, 130}, {2, 1500, 31}, {31, 1500, 2}, {3, 20, 1030}, {9, 520, 65},  {70, 2060, 33}};
  const Factors& of = GetParam();
  std::vector<Scalars> all = {{whole_number(1), whole_number(0)},
                              {whole_number(-3), whole_number(2)}};
  if (part_of(of.out).dtype != of.out) {
    all.push_back({scalar_of(TNR_DTYPE_C64, std::complex<float>(1, 2)), whole_number(2)});
  }
  for (const auto& [rows, depth, columns] : kExtents) {
    for (const Scalars& scalars : all) {
      expect_parts(rows, columns, depth, scalars, 5);
      if (HasFatalFailure()) return;
    }
  }
}

class EinsumBits : public ProductBits {};

// Vectors and matrices.
TEST_P(EinsumBits, AreThoseOfMatrices) {
  const Factors& of = GetParam();
  constexpr std::int64_t kRows = 19;
  constexpr std::int64_t kColumns = 37;
  for (const std::int64_t depth : {7, 300, 1100}) {
    Array a(of.a, {kRows, depth}, Arrangement::kRowMajor, random);
    Array b(of.b, {depth, kColumns}, Arrangement::kRowMajor, random);
    Array whole(of.out, {kRows, kColumns}, Arrangement::kRowMajor, random);
    fill(a, random);
    fill(b, random);
    matmul(kDefaultContext, whole_number(1), a.view(), b.view(), whole_number(0), whole.out());
    const auto expect = [&](const char* spec, const tnr_view& left, const tnr_view& right,
                            const tnr_view& due) {
      const auto shape_of = [](const tnr_view& v) { return Shape(v.shape, v.shape + v.rank); };
      Laid given[] = {{left, shape_of(left), random}, {right, shape_of(right), random}};
      const tnr_view operands[] = {given[0]->view(), given[1]->view()};
      Laid out(due, shape_of(due), random);
      for (Byte* const element : out->elements()) std::memset(element, 0, element_size(of.out));
      einsum(kDefaultContext, spec, operands, 2, out->out());
      expect_same(out, due, spec);
    };
    const std::uint32_t turned[] = {1, 0};
    expect("ij,jk->ik", a.view(), b.view(), whole.view());
    expect("ij,jk->ki", a.view(), b.view(), permute(whole.view(), 2, turned));
    for (const std::int64_t i : {0, 11, 18}) {
      expect("j,jk->k", index(a.view(), 0, i), b.view(), index(whole.view(), 0, i));
      expect("ij,j->i", a.view(), index(b.view(), 1, i), index(whole.view(), 1, i));
      expect("ij,jk->ik", a.view(), some_of(b.view(), 1, {i, 1}), some_of(whole.view(), 1, {i, 1}));
      if (HasFatalFailure()) return;
    }
  }
}

std::vector<Factors> of_one_dtype() {
  std::vector<Factors> some;
  for (const Factors& of : kFactors) {
    if (of.a == of.out) some.push_back(of);
  }
  return some;
}

const auto kNameOf = [](const auto& test) { return std::string(test.param.name); };
INSTANTIATE_TEST_SUITE_P(Dtypes, ProductBits, testing::ValuesIn(kFactors), kNameOf);
INSTANTIATE_TEST_SUITE_P(Dtypes, EinsumBits, testing::ValuesIn(of_one_dtype()), kNameOf);

}  // namespace
}  // namespace tenure::test
