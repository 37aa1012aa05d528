// Products of dense matrices, against the sum that defines each element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "c_library.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/kernels/reference.hpp"
#include "expect_error.hpp"
#include "strided_floats.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

template <class T>
constexpr kernels::Type kType = sizeof(T) == 4 ? kernels::Type::kF32 : kernels::Type::kF64;

// Largest depth that one sum covers.
constexpr std::int64_t kBlockDepth = 512;

// One element as the header defines it: the order of additions, and where is rounded.
template <class T>
T twin(const std::vector<T>& a, const std::vector<T>& b, T alpha, std::optional<T> beta, T out) {
  const auto depth = static_cast<std::int64_t>(a.size());
  const bool fused = has_fma();
  T result = out;
  for (std::int64_t first = 0; first == 0 || first < depth; first += kBlockDepth) {
    T sum = 0;
    for (std::int64_t k = first; k < std::min(depth, first + kBlockDepth); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const T product = a[at] * b[at];
      sum = fused ? fused_sum(a[at], b[at], sum) : product + sum;
    }
    const T scaled = (depth == 0 ? T{0} : alpha) * sum;
    if (first != 0) {
      result = scaled + result;
    } else if (beta) {
      const T kept = *beta * out;
      result = scaled + kept;
    } else {
      result = scaled;
    }
  }
  return result;
}

template <class T>
struct Case {
  Operand<T> a;
  Operand<T> b;
  Operand<T> out;
  T alpha = 1;
  T beta = 0;

  // Rows and columns of the factors that meet in an element; vectors have none in the result.
  [[nodiscard]] std::vector<T> row(const Index& index) { return vector(a, b.view.rank, index, 0); }
  [[nodiscard]] std::vector<T> column(const Index& index) {
    return vector(b, a.view.rank, index, 1);
  }
  std::vector<T> vector(Operand<T>& factor, std::uint32_t other_rank, const Index& index,
                        int side) {
    const std::uint32_t rank = factor.view.rank;
    const std::uint32_t matrix_rank = (rank > 1 ? 1u : 0u) + (other_rank > 1 ? 1u : 0u);
    const std::uint32_t batch_rank = out.view.rank - matrix_rank;
    Index at{};
    std::uint32_t along = 0;
    if (rank > 1) {
      for (std::uint32_t axis = 0; axis + 2 < rank; ++axis) {
        at[axis] = factor.view.shape[axis] == 1 ? 0 : index[batch_rank - (rank - 2) + axis];
      }
      along = side == 0 ? rank - 1 : rank - 2;
      at[side == 0 ? rank - 2 : rank - 1] = index[side == 0 ? batch_rank : out.view.rank - 1];
    }
    std::vector<T> elements(static_cast<std::size_t>(factor.view.shape[along]));
    for (std::size_t k = 0; k < elements.size(); ++k) {
      at[along] = static_cast<std::int64_t>(k);
      elements[k] = factor.at(at);
    }
    return elements;
  }

  void run(const Context& context = kDefaultContext) {
    matmul(context, number(alpha), a.view, b.view, number(beta), out.out());
  }

  [[nodiscard]] std::string name() const {
    return shape_text(a.view.rank, a.view.shape).text + std::string(" strides ") +
           shape_text(a.view.rank, a.view.strides).text + " times " +
           shape_text(b.view.rank, b.view.shape).text + " strides " +
           shape_text(b.view.rank, b.view.strides).text + " to strides " +
           shape_text(out.view.rank, out.view.strides).text;
  }

  // Every element equals the reference implementation's, and memory outside the elements keeps its
  // values.
  void expect_twin(const Context& context = kDefaultContext) {
    Operand<T> expected = out;
    const std::optional<T> kept = beta == 0 ? std::nullopt : std::optional<T>(beta);
    for_each_index(out.view, [&](const Index& index) {
      expected.at(index) = twin(row(index), column(index), alpha, kept, out.at(index));
    });
    run(context);
    for (std::size_t i = 0; i < out.memory.size(); ++i) {
      ASSERT_TRUE(same(out.memory[i], expected.memory[i]))
          << name() << ": element " << i << " of memory is " << out.memory[i] << ", not "
          << expected.memory[i];
    }
  }
};

template <class T>
class Matmul : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Matmul, Floats);

// ---- shapes --------------------------------------------------------------------------------------

TYPED_TEST(Matmul, TakesEveryRemainderOfTiles) {
  using T = TypeParam;
  Random random(1);
  const TestContext two(2);
  for (const std::int64_t depth : {1, 2, 7, 33}) {
    for (std::int64_t rows = 1; rows <= 30; ++rows) {
      for (const std::int64_t columns : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 65}) {
        Case<T> test{Operand<T>({rows, depth}), Operand<T>({depth, columns}),
                     Operand<T>({rows, columns})};
        test.a.fill(random);
        test.b.fill(random);
        test.expect_twin(rows % 2 == 0 ? two : kDefaultContext);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Products that are too large to be computed without packing, and extents around the borders of
// blocks.
TYPED_TEST(Matmul, TakesEveryRemainderOfBlocks) {
  using T = TypeParam;
  Random random(2);
  const TestContext two(2);
  for (const auto& [rows, columns, depth] :
       std::initializer_list<std::array<std::int64_t, 3>>{{28, 96, 511},
                                                          {29, 97, 512},
                                                          {241, 33, 513},
                                                          {253, 95, 129},
                                                          {480, 32, 70},
                                                          {61, 2049, 9},
                                                          {25, 2090, 513},
                                                          {97, 101, 1100}}) {
    for (int layout = 0; layout < 4; ++layout) {
      Case<T> test{Operand<T>({rows, depth}, Access::kRead, random),
                   Operand<T>({depth, columns}, Access::kRead, random),
                   Operand<T>({rows, columns}, Access::kWrite, random),
                   layout % 2 == 0 ? T{1} : T{0.7f}, layout < 2 ? T{0} : T{-1.5}};
      test.a.fill(random);
      test.b.fill(random);
      if (test.beta != 0) test.out.fill(random);
      test.expect_twin(layout % 2 == 0 ? two : kDefaultContext);
      if (this->HasFatalFailure()) return;
    }
  }
}

// A right factor of more than a MiB, read some rows at a time: whole and partial strips of it,
// depths of more than a block, the result in either order and with gaps.
TYPED_TEST(Matmul, TakesFewRowsOfALargeFactor) {
  using T = TypeParam;
  Random random(6);
  const TestContext two(2);
  for (const auto& [rows, columns, depth] : std::initializer_list<std::array<std::int64_t, 3>>{
           {1, 1033, 517}, {2, 8197, 37}, {7, 530, 1029}, {9, 8192, 33}, {24, 16411, 17}}) {
    for (int layout = 0; layout < 4; ++layout) {
      Case<T> test{Operand<T>({rows, depth}, Access::kRead, random), Operand<T>({1}),
                   Operand<T>({rows, columns}, Access::kWrite, random),
                   layout % 2 == 0 ? T{1} : T{0.7f}, layout < 2 ? T{0} : T{-1.5}};
      const std::int64_t pitch = columns + layout;
      const bool descends = layout == 3;
      test.b.lay({depth, columns}, {descends ? -pitch : pitch, 1},
                 descends ? (depth - 1) * pitch : 0, depth * pitch,
                 std::numeric_limits<T>::quiet_NaN());
      test.a.fill(random);
      test.b.fill(random);
      if (test.beta != 0) test.out.fill(random);
      test.expect_twin(layout % 2 == 0 ? two : kDefaultContext);
      if (this->HasFatalFailure()) return;
    }
  }
}

// A right factor whose depths are adjacent is transposed in registers for few rows.
TYPED_TEST(Matmul, TakesFewRowsByAdjacentDepths) {
  using T = TypeParam;
  Random random(11);
  const TestContext two(2);
  for (std::int64_t rows = 1; rows <= 5; ++rows) {
    for (const std::int64_t columns : {2, 7, 16, 17, 33, 700}) {
      for (const std::int64_t depth : {1, 3, 8, 15, 16, 37, 513}) {
        const std::int64_t layout = (rows + columns + depth) % 4;
        Case<T> test{Operand<T>({rows, depth}, Access::kRead, random), Operand<T>({1}),
                     Operand<T>({rows, columns}, Access::kWrite, random),
                     layout % 2 == 0 ? T{1} : T{0.7f}, layout < 2 ? T{0} : T{-1.5}};
        const std::int64_t pitch = depth + layout;
        const bool descends = layout == 3;
        test.b.lay({depth, columns}, {1, descends ? -pitch : pitch},
                   descends ? (columns - 1) * pitch : 0, columns * pitch,
                   std::numeric_limits<T>::quiet_NaN());
        test.a.fill(random);
        test.b.fill(random);
        if (test.beta != 0) test.out.fill(random);
        test.expect_twin(layout % 2 == 0 ? two : kDefaultContext);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Anything: ranks, broadcast batches, strides of either sign and 0, empty extents, alpha and beta.
TYPED_TEST(Matmul, TakesAnyOperands) {
  using T = TypeParam;
  Random random(3);
  const TestContext two(2);
  constexpr std::int64_t kExtents[] = {0, 1, 1, 2, 3, 4, 5, 8, 13, 16, 17, 30, 33};
  const auto extent = [&] { return kExtents[random() % std::size(kExtents)]; };
  for (int round = 0; round < 1500; ++round) {
    const std::int64_t depth = extent();
    const auto a_rank = static_cast<std::size_t>(1 + below(random, 4));
    const auto b_rank = static_cast<std::size_t>(1 + below(random, 4));
    Shape a{depth};
    Shape b{depth};
    if (a_rank > 1) a.insert(a.begin(), extent());
    if (b_rank > 1) b.push_back(extent());
    Shape out;
    if (a_rank > 1) out.push_back(a[0]);
    if (b_rank > 1) out.push_back(b[1]);
    const std::size_t batch_rank =
        std::max({a_rank, b_rank, std::size_t{2}}) - 2 + (random() % 8 == 0 ? 1 : 0);
    for (std::size_t axis = 0; axis < batch_rank; ++axis) {
      const std::int64_t common = 1 + below(random, 3);
      out.insert(out.begin(), common);
      const auto factor_extent = [&] { return random() % 3 == 0 ? 1 : common; };
      if (axis + 2 < a_rank) a.insert(a.begin(), factor_extent());
      if (axis + 2 < b_rank) b.insert(b.begin(), factor_extent());
    }
    Case<T> test{Operand<T>(a, Access::kRead, random), Operand<T>(b, Access::kRead, random),
                 Operand<T>(out, Access::kWrite, random), random() % 2 == 0 ? T{1} : T{-0.3f},
                 random() % 2 == 0 ? T{0} : T{1.25}};
    test.a.fill(random);
    test.b.fill(random);
    if (test.beta != 0) test.out.fill(random);
    test.expect_twin(round % 3 == 0 ? two : kDefaultContext);
    if (this->HasFatalFailure()) return;
  }
}

// Batches that threads share, with and without packed factors.
TYPED_TEST(Matmul, TakesBatches) {
  using T = TypeParam;
  Random random(4);
  const TestContext two(2);
  for (const auto& [count, side] :
       std::initializer_list<std::array<std::int64_t, 2>>{{70, 20}, {3, 102}, {8, 102}}) {
    for (int layout = 0; layout < 6; ++layout) {
      const Shape shared{side, side};
      const Shape each{count, side, side};
      Case<T> test{Operand<T>(layout == 1 ? shared : each, Access::kRead, random),
                   Operand<T>(layout == 2 ? shared : each, Access::kRead, random),
                   Operand<T>(each, Access::kWrite, random)};
      test.a.fill(random);
      test.b.fill(random);
      test.expect_twin(layout % 3 == 0 ? kDefaultContext : two);
      if (this->HasFatalFailure()) return;
    }
  }
}

// Small products that are not packed, of several panels of columns and several tiles of rows, in
// batches whose axes cannot be joined.
TYPED_TEST(Matmul, TakesSmallBatchesOfSeveralPanels) {
  using T = TypeParam;
  Random random(12);
  const TestContext two(2);
  for (const std::int64_t rows : {5, 9, 17, 57}) {
    for (const std::int64_t columns : {17, 33, 64, 71}) {
      for (const std::int64_t depth : {1, 8, 60}) {
        const std::int64_t layout = (rows + columns + depth) % 4;
        Case<T> test{Operand<T>({2, 1, rows, depth}, Access::kRead, random),
                     Operand<T>({3, depth, columns}, Access::kRead, random),
                     Operand<T>({2, 3, rows, columns}, Access::kWrite, random),
                     layout % 2 == 0 ? T{1} : T{0.7f}, layout < 2 ? T{0} : T{-1.5}};
        test.a.fill(random);
        test.b.fill(random);
        if (test.beta != 0) test.out.fill(random);
        test.expect_twin(layout % 2 == 0 ? two : kDefaultContext);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Rows of a batch that one right factor multiplies are those of one matrix.
TYPED_TEST(Matmul, JoinsTheRowsOfABatch) {
  using T = TypeParam;
  Random random(5);
  for (const std::int64_t rows : {1, 4, 7}) {
    Case<T> test{Operand<T>({9, rows, 40}), Operand<T>({40, 50}), Operand<T>({9, rows, 50})};
    test.a.fill(random);
    test.b.fill(random);
    test.expect_twin();
    if (this->HasFatalFailure()) return;
  }
}

// ---- numbers -------------------------------------------------------------------------------------

TYPED_TEST(Matmul, StaysWithinItsBound) {
  using T = TypeParam;
  Random random(6);
  const auto eps = static_cast<long double>(std::numeric_limits<T>::epsilon());
  for (const std::int64_t depth : {1, 10, 512, 513, 3000}) {
    Case<T> test{Operand<T>({31, depth}), Operand<T>({depth, 37}), Operand<T>({31, 37}),
                 static_cast<T>(1.7), static_cast<T>(-0.9)};
    test.a.fill(random);
    test.b.fill(random);
    test.out.fill(random);
    // Ill-scaled: magnitudes from 2^-30 to 2^30.
    for (T& element : test.a.memory)
      element = std::ldexp(element, static_cast<int>(below(random, 61)) - 30);
    const Operand<T> before = test.out;
    test.run();
    for_each_index(test.out.view, [&](const Index& index) {
      const std::vector<T> a = test.row(index);
      const std::vector<T> b = test.column(index);
      std::vector<const kernels::Byte*> of_a;
      std::vector<const kernels::Byte*> of_b;
      long double exact = 0;
      long double magnitudes = 0;
      for (std::size_t k = 0; k < a.size(); ++k) {
        const long double product = static_cast<long double>(a[k]) * b[k];
        exact += product;
        magnitudes += std::fabs(product);
      }
      const long double kept = static_cast<long double>(test.beta) * Operand<T>(before).at(index);
      exact = test.alpha * exact + kept;
      magnitudes = std::fabs(test.alpha) * magnitudes + std::fabs(kept);
      const auto error = std::fabs(static_cast<long double>(test.out.at(index)) - exact);
      EXPECT_LE(error, (static_cast<long double>(depth) + 4) * eps * magnitudes)
          << "depth " << depth;
    });
  }
}

// The reference implementation of every product of the library, in the widest type.
TYPED_TEST(Matmul, AgreesWithTheReference) {
  using T = TypeParam;
  using kernels::Byte;
  Random random(7);
  Case<T> test{Operand<T>({20, 50}), Operand<T>({50, 40}), Operand<T>({20, 40}), 2, 0.5};
  // Whole numbers: every sum is exact.
  for (Operand<T>* operand : {&test.a, &test.b, &test.out}) {
    for (T& element : operand->memory) element = static_cast<T>(below(random, 201) - 100);
  }
  Operand<T> expected = test.out;
  for_each_index(test.out.view, [&](const Index& index) {
    const std::vector<T> a = test.row(index);
    const std::vector<T> b = test.column(index);
    std::vector<const Byte*> of_a;
    std::vector<const Byte*> of_b;
    for (std::size_t k = 0; k < a.size(); ++k) {
      of_a.push_back(reinterpret_cast<const Byte*>(&a[k]));
      of_b.push_back(reinterpret_cast<const Byte*>(&b[k]));
    }
    kernels::reference::sum_of_products(
        kType<T>, of_a.data(), of_b.data(), static_cast<std::int64_t>(a.size()),
        reinterpret_cast<const Byte*>(&test.alpha), reinterpret_cast<const Byte*>(&test.beta),
        reinterpret_cast<Byte*>(&expected.at(index)));
  });
  test.run();
  EXPECT_EQ(test.out.memory, expected.memory);
}

// NaN, infinities and denormals go where they belong and nowhere else; also by an alpha of 0.
TYPED_TEST(Matmul, KeepsSpecialNumbersApart) {
  using T = TypeParam;
  Random random(8);
  constexpr T kSpecial[] = {std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::denorm_min(),
                            std::numeric_limits<T>::max(),
                            T{0},
                            -T{0}};
  for (const auto& [rows, columns, depth] :
       std::initializer_list<std::array<std::int64_t, 3>>{{5, 9, 4}, {33, 70, 90}}) {
    for (const T alpha : {T{1}, T{0}}) {
      Case<T> test{Operand<T>({rows, depth}, Access::kRead, random),
                   Operand<T>({depth, columns}, Access::kRead, random),
                   Operand<T>({rows, columns}, Access::kWrite, random), alpha, 0};
      for (Operand<T>* operand : {&test.a, &test.b}) {
        operand->fill(random);
        for_each_index(operand->view, [&](const Index& index) {
          if (random() % 40 == 0) operand->at(index) = kSpecial[random() % std::size(kSpecial)];
        });
      }
      test.expect_twin();
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(Matmul, DoesNotReadTheOutputWithABetaOfZero) {
  using T = TypeParam;
  for (const T beta : {T{0}, -T{0}}) {
    for (const std::int64_t side : {3, 70}) {
      Case<T> test{Operand<T>({side, side}, 1), Operand<T>({side, side}, 1),
                   Operand<T>({side, side}, std::numeric_limits<T>::quiet_NaN()), 1, beta};
      test.run();
      for (const T element : test.out.memory) ASSERT_EQ(element, static_cast<T>(side));
    }
  }
}

TYPED_TEST(Matmul, SumsOfNothingAreZero) {
  using T = TypeParam;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  for (const std::int64_t side : {3, 70, 1100}) {
    Case<T> test{Operand<T>({side, 0}), Operand<T>({0, side}), Operand<T>({side, side}, 5), 1, 0};
    test.run();
    for (const T element : test.out.memory) ASSERT_EQ(element, 0);
    test.out.memory.assign(test.out.memory.size(), 5);
    test.alpha = kInfinity;
    test.beta = 2;
    test.run();
    for (const T element : test.out.memory) ASSERT_EQ(element, 10);
  }
}

// The bits of an element depend only on its row and its column.
TYPED_TEST(Matmul, GivesTheSameBitsInAnyLayoutForAnyThreads) {
  using T = TypeParam;
  Random random(9);
  const TestContext two(2);
  const TestContext three(3);
  const std::int64_t rows = 150, columns = 130, depth = 600;
  Case<T> plain{Operand<T>({rows, depth}), Operand<T>({depth, columns}),
                Operand<T>({rows, columns})};
  plain.a.fill(random);
  plain.b.fill(random);
  plain.run();
  const auto expect_same = [&](Case<T>& other) {
    for_each_index(plain.out.view, [&](const Index& index) {
      ASSERT_TRUE(same(plain.out.at(index), other.out.at(index))) << other.name();
    });
  };
  for (int layout = 0; layout < 12; ++layout) {
    const auto write = Access::kWrite;  // no repeated elements: these are the same matrices
    Case<T> other{Operand<T>({rows, depth}, write, random),
                  Operand<T>({depth, columns}, write, random),
                  Operand<T>({rows, columns}, write, random)};
    for_each_index(plain.a.view, [&](const Index& at) { other.a.at(at) = plain.a.at(at); });
    for_each_index(plain.b.view, [&](const Index& at) { other.b.at(at) = plain.b.at(at); });
    other.run(layout % 3 == 0 ? kDefaultContext : layout % 3 == 1 ? two : three);
    expect_same(other);
    if (this->HasFatalFailure()) return;
  }
  // Row by row.
  for (const std::int64_t row : {0, 77, 149}) {
    const tnr_view a = tenure::index(plain.a.view, 0, row);
    Operand<T> out({columns});
    matmul(two, number<T>(1), a, plain.b.view, number<T>(0), out.out());
    for (std::int64_t j = 0; j < columns; ++j) {
      ASSERT_TRUE(same(out.at({j}), plain.out.at({row, j})));
    }
  }
}

// Row-major matrices of few elements take a way of their own.
TYPED_TEST(Matmul, GivesSmallProductsTheBitsOfOthers) {
  using T = TypeParam;
  Random random(10);
  for (int round = 0; round < 400; ++round) {
    const auto extent = [&] { return 1 + static_cast<std::int64_t>(random() % 34); };
    const std::int64_t rows = extent(), columns = extent(), depth = extent();
    Case<T> plain{Operand<T>({rows, depth}), Operand<T>({depth, columns}),
                  Operand<T>({rows, columns})};
    plain.alpha = T{-0.75};
    plain.beta = static_cast<T>(round % 3);
    for (Operand<T>* operand : {&plain.a, &plain.b, &plain.out}) operand->fill(random);
    // Elements of the same memory in another order of axes.
    Operand<T> b({columns, depth});
    b.lay({depth, columns}, {1, depth}, 0, depth * columns, 0);
    for_each_index(b.view, [&](const Index& at) { b.at(at) = plain.b.at(at); });
    Case<T> other{plain.a, b, plain.out, plain.alpha, plain.beta};
    plain.expect_twin();
    other.run();
    if (depth == 1 || columns == 1 || this->HasFatalFailure()) continue;
    for_each_index(plain.out.view, [&](const Index& index) {
      ASSERT_TRUE(same(plain.out.at(index), other.out.at(index))) << other.name();
    });
  }
}

// ---- refusals ------------------------------------------------------------------------------------

struct Refused : testing::Test {
  Operand<float> a{{2, 3}};
  Operand<float> b{{3, 4}};
  Operand<float> out{{2, 4}, 7};

  void expect(tnr_status status, std::initializer_list<std::string> words, const tnr_view& x,
              const tnr_view& y, const tnr_view& z, const tnr_scalar& alpha = number(1.f),
              const tnr_scalar& beta = number(0.f)) {
    expect_error(status, words, [&] { matmul(kDefaultContext, alpha, x, y, beta, {z}); });
    for (const float element : out.memory) EXPECT_EQ(element, 7);
  }
};

TEST_F(Refused, ShapesThatDoNotAgree) {
  const Operand<float> other({5, 4});
  expect(TNR_STATUS_INVALID_ARGUMENT,
         {"b.shape[0] is 5 but must be 3", "a has shape [2, 3], b [5, 4], out [2, 4]"}, a.view,
         other.view, out.view);
  const Operand<float> vector({2});
  expect(TNR_STATUS_INVALID_ARGUMENT,
         {"b.shape[0] is 3 but must be 2", "a has shape [2], b [3, 4]"}, vector.view, b.view,
         out.view);
  Operand<float> wrong({3, 4});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 3 but must be 2, the rows of a"}, a.view,
         b.view, wrong.view);
  Operand<float> narrow({2, 5});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[1] is 5 but must be 4, the columns of b"}, a.view,
         b.view, narrow.view);
  Operand<float> line({2});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out.rank is 1 but must be 2", "out [2]"}, a.view, b.view,
         line.view);
  const Operand<float> batch({5, 2, 3});
  Operand<float> out_batch({6, 2, 4});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"a.shape[0] is 5 but must be 6, as out's, or 1"}, batch.view,
         b.view, out_batch.view);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out.rank is 2 but must be 3"}, batch.view, b.view,
         out.view);
}

TEST_F(Refused, RanksOfNothing) {
  const Operand<float> scalar({});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"a.rank is 0 but must be 1 at least"}, scalar.view, b.view,
         out.view);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"b.rank is 0 but must be 1 at least"}, a.view, scalar.view,
         out.view);
}

TEST_F(Refused, Dtypes) {
  tnr_view integers = a.view;
  integers.dtype = TNR_DTYPE_I32;
  expect(TNR_STATUS_UNSUPPORTED, {"matmul does not take i32"}, integers, b.view, out.view);
  const Operand<double> wide({3, 4});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"b.dtype is f64", "a.dtype is f32"}, a.view, wide.view,
         out.view);
  Operand<double> wide_out({2, 4});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype is f64", "a.dtype is f32"}, a.view, b.view,
         wide_out.view);
}

TEST_F(Refused, ScalarsThatDoNotFit) {
  expect(TNR_STATUS_INVALID_ARGUMENT, {"alpha", "1e+300"}, a.view, b.view, out.view, number(1e300));
  expect(TNR_STATUS_INVALID_ARGUMENT, {"beta", "1e+300"}, a.view, b.view, out.view, number(1.f),
         number(1e300));
}

TEST_F(Refused, Overlap) {
  Operand<float> both({40}, 7);
  const tnr_view x = view_of(both.memory.data(), 160, 0, TNR_DTYPE_F32, {{2, 3}, {3, 1}});
  const tnr_view y = view_of(both.memory.data(), 160, 40, TNR_DTYPE_F32, {{3, 4}, {4, 1}});
  const tnr_view z = view_of(both.memory.data(), 160, 20, TNR_DTYPE_F32, {{2, 4}, {4, 1}});
  expect(TNR_STATUS_ALIASED, {"out shares bytes with a"}, x, b.view, z);
  expect(TNR_STATUS_ALIASED, {"out shares bytes with b"}, a.view, y, z);
  const tnr_view square = view_of(both.memory.data(), 160, 0, TNR_DTYPE_F32, {{3, 3}, {3, 1}});
  const Operand<float> other({3, 3});
  expect(TNR_STATUS_ALIASED, {"out is exactly a but must share no byte with it"}, square,
         other.view, square);
  tnr_view twice = out.view;
  twice.strides[0] = 0;
  expect(TNR_STATUS_ALIASED, {"out"}, a.view, b.view, twice);
}

}  // namespace
}  // namespace tenure::test
