// Einstein sums, against the sum over all labels that defines each element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "strided_floats.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

template <class T>
struct Case {
  std::vector<std::string> terms;
  std::string result;
  std::deque<Operand<T>> operands;
  Operand<T> out{Shape{}};

  [[nodiscard]] std::string spec() const {
    std::string text;
    for (const std::string& term : terms) text += term + ",";
    text.pop_back();
    return text + "->" + result;
  }
  [[nodiscard]] std::vector<tnr_view> views() const {
    std::vector<tnr_view> views;
    for (const Operand<T>& operand : operands) views.push_back(operand.view);
    return views;
  }
  void run(const Context& context = kDefaultContext) {
    const std::vector<tnr_view> given = views();
    einsum(context, spec().c_str(), given.data(), static_cast<std::uint32_t>(given.size()),
           out.out());
  }
  [[nodiscard]] std::string name() const {
    std::string text = spec();
    for (const Operand<T>& operand : operands) {
      text += std::string(" ") + shape_text(operand.view.rank, operand.view.shape).text +
              " strides " + shape_text(operand.view.rank, operand.view.strides).text;
    }
    return text + " to strides " + shape_text(out.view.rank, out.view.strides).text;
  }

  // The sum over all indices of all labels; extents of 1 are repeated.
  void add_products(Operand<T>& sums) {
    std::string labels;
    Shape extents;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      for (std::size_t axis = 0; axis < terms[i].size(); ++axis) {
        const std::int64_t extent = operands[i].view.shape[axis];
        const std::size_t at = labels.find(terms[i][axis]);
        if (at == std::string::npos) {
          labels += terms[i][axis];
          extents.push_back(extent);
        } else if (extents[at] == 1) {
          extents[at] = extent;
        }
      }
    }
    if (std::ranges::count(extents, 0) != 0) return;
    const auto at_of = [&](const tnr_view& view, const std::string& term, const Shape& position) {
      Index index{};
      for (std::size_t axis = 0; axis < term.size(); ++axis) {
        index[axis] = view.shape[axis] == 1 ? 0 : position[labels.find(term[axis])];
      }
      return index;
    };
    Shape position(labels.size(), 0);
    while (true) {
      T product = 1;
      for (std::size_t i = 0; i < terms.size(); ++i) {
        product *= operands[i].at(at_of(operands[i].view, terms[i], position));
      }
      sums.at(at_of(out.view, result, position)) += product;
      std::size_t label = labels.size();
      while (label > 0 && ++position[label - 1] == extents[label - 1]) position[--label] = 0;
      if (label == 0) return;
    }
  }

  // Whole numbers: every sum is exact. Memory outside the result's elements keeps its values.
  void expect_twin(Random& random, const Context& context = kDefaultContext) {
    for (Operand<T>& operand : operands) {
      for_each_index(operand.view, [&](const Index& index) {
        operand.at(index) = static_cast<T>(below(random, 7) - 3);
      });
    }
    Operand<T> expected = out;
    for_each_index(out.view, [&](const Index& index) { expected.at(index) = 0; });
    add_products(expected);
    run(context);
    for (std::size_t i = 0; i < out.memory.size(); ++i) {
      ASSERT_TRUE(out.memory[i] == expected.memory[i] ||
                  (std::isnan(out.memory[i]) && std::isnan(expected.memory[i])))
          << name() << ": element " << i << " of memory is " << out.memory[i] << ", not "
          << expected.memory[i];
    }
  }
};

// Operands of the extents that each label has, by its place in the alphabet.
template <class T>
Case<T> case_of(const std::vector<std::string>& terms, const std::string& result,
                const Shape& extents, Random& random) {
  Case<T> made;
  made.terms = terms;
  made.result = result;
  const auto shape_of = [&](const std::string& term) {
    Shape shape;
    for (const char label : term) shape.push_back(extents[static_cast<std::size_t>(label - 'a')]);
    return shape;
  };
  for (const std::string& term : terms) {
    made.operands.emplace_back(shape_of(term), Access::kRead, random);
  }
  made.out = Operand<T>(shape_of(result), Access::kWrite, random);
  return made;
}

// Any terms of up to `rank` of the first `label_count` letters, and a result of some.
template <class T>
Case<T> any_case(std::size_t operand_count, std::int64_t label_count, std::int64_t rank,
                 Random& random) {
  std::vector<std::string> terms;
  std::string seen;
  for (std::size_t i = 0; i < operand_count; ++i) {
    std::string term;
    for (std::int64_t axis = below(random, rank + 1); axis > 0; --axis) {
      const char label = static_cast<char>('a' + below(random, label_count));
      if (term.find(label) != std::string::npos && random() % 4 != 0) continue;
      term += label;
      if (seen.find(label) == std::string::npos) seen += label;
    }
    terms.push_back(term);
  }
  std::shuffle(seen.begin(), seen.end(), random);
  const std::string result = seen.substr(
      0, static_cast<std::size_t>(
             below(random, std::min<std::int64_t>(static_cast<std::int64_t>(seen.size()), 6) + 1)));
  Shape extents(static_cast<std::size_t>(label_count));
  for (std::int64_t& extent : extents) extent = 1 + below(random, random() % 8 == 0 ? 7 : 4);
  if (random() % 16 == 0) extents[0] = 0;
  return case_of<T>(terms, result, extents, random);
}

template <class T>
class Einsum : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Einsum, Floats);

TYPED_TEST(Einsum, IsTheSumOfProductsInAnyLayout) {
  Random random(1);
  const TestContext context(2);
  const Context& two = context;
  for (int round = 0; round < 2500; ++round) {
    const std::size_t operand_count = 1 + random() % 4;
    auto any = any_case<TypeParam>(operand_count, 2 + below(random, operand_count == 2 ? 7 : 5), 5,
                                   random);
    ASSERT_NO_FATAL_FAILURE(any.expect_twin(random, round % 2 == 0 ? kDefaultContext : two));
  }
}

TYPED_TEST(Einsum, RepeatsAxesOfOneElement) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    auto any = any_case<TypeParam>(2 + random() % 2, 4, 4, random);
    for (std::size_t i = 0; i < any.operands.size(); ++i) {
      const std::string& term = any.terms[i];
      Shape shape(any.operands[i].view.shape, any.operands[i].view.shape + term.size());
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const char label = term[axis];
        // Only where another operand has the label's extent; a diagonal has one.
        bool is_elsewhere = std::ranges::count(term, label) == 1;
        std::size_t other = 0;
        while (other < any.terms.size() &&
               (other == i || any.terms[other].find(label) == std::string::npos)) {
          ++other;
        }
        is_elsewhere &= other < any.terms.size() &&
                        any.operands[other].view.shape[any.terms[other].find(label)] != 1;
        if (is_elsewhere && random() % 2 == 0) shape[axis] = 1;
      }
      any.operands[i] = Operand<TypeParam>(shape, Access::kRead, random);
    }
    ASSERT_NO_FATAL_FAILURE(any.expect_twin(random));
  }
}

// Groups of axes that are long and lie apart: rows, columns and depths that are copied, walked, or
// brought into place afterwards.
TYPED_TEST(Einsum, TakesGroupsOfAxesInAnyOrder) {
  Random random(3);
  const std::vector<std::string> left = {"abxy", "ayxb", "yxba", "axby"};
  const std::vector<std::string> right = {"xycd", "cxdy", "ydxc", "dcyx"};
  const std::vector<std::string> results = {"abcd", "acbd", "bdac"};
  for (const Shape& sides : {Shape{3, 5, 2, 7, 4, 3}, Shape{2, 40, 1, 3, 2, 30},
                             Shape{30, 2, 3, 20, 2, 2}, Shape{5, 6, 7, 5, 3, 2}}) {
    Shape extents(26);
    std::copy_n(sides.begin(), 4, extents.begin());
    std::copy_n(sides.begin() + 4, 2, extents.begin() + ('x' - 'a'));
    for (const std::string& a : left) {
      for (const std::string& b : right) {
        for (const std::string& result : results) {
          auto each = case_of<TypeParam>({a, b}, result, extents, random);
          ASSERT_NO_FATAL_FAILURE(each.expect_twin(random));
        }
      }
    }
  }
}

// Neither rows nor columns: products of elements in slices, and their sums.
TYPED_TEST(Einsum, TakesLongSumsOfElements) {
  Random random(7);
  for (const Shape& sides : {Shape{70, 60, 1}, Shape{300, 400, 1}, Shape{3, 70000, 1},
                             Shape{200, 40, 30}, Shape{5, 100, 300}}) {
    Shape extents(26);
    std::copy(sides.begin(), sides.end(), extents.begin());
    for (const char* b : {"abc", "bca"}) {
      for (const char* result : {"", "a", "ba", "c"}) {
        auto each = case_of<TypeParam>({"abc", b}, result, extents, random);
        ASSERT_NO_FATAL_FAILURE(each.expect_twin(random));
      }
    }
  }
}

TYPED_TEST(Einsum, TakesMoreAxesOfABatchThanAViewHasRoomFor) {
  Random random(4);
  const Shape extents(26, 2);
  for (const char* result : {"abcdefg", "gfedcba"}) {
    auto each = case_of<TypeParam>({"abcdefgx", "xgfedcba"}, result, extents, random);
    ASSERT_NO_FATAL_FAILURE(each.expect_twin(random));
  }
  auto products = case_of<TypeParam>({"abcdefgh", "hgfedcba"}, "badcfehg", extents, random);
  ASSERT_NO_FATAL_FAILURE(products.expect_twin(random));
  auto rows = case_of<TypeParam>({"abcdefxg", "gxfedcb"}, "gfacbde", extents, random);
  ASSERT_NO_FATAL_FAILURE(rows.expect_twin(random));
}

TYPED_TEST(Einsum, MultipliesManyOperands) {
  Random random(5);
  for (const std::size_t count : {3u, 5u, 8u, 9u, 14u, 20u}) {
    std::vector<std::string> terms;
    Shape extents(26, 1);
    for (std::size_t i = 0; i < count; ++i) {
      terms.push_back({static_cast<char>('a' + i), static_cast<char>('a' + i + 1)});
      if (i < 10) extents[i] = i % 3 + 1;
    }
    std::shuffle(terms.begin(), terms.end(), random);
    const std::string result = {'a', static_cast<char>('a' + count)};
    auto chain = case_of<TypeParam>(terms, result, extents, random);
    ASSERT_NO_FATAL_FAILURE(chain.expect_twin(random));
  }
}

// The cheapest order of a chain multiplies the vector first: any other takes a thousand times as
// long, which this test would.
TEST(EinsumOrder, IsTheCheapest) {
  constexpr std::int64_t kSide = 2000;
  Operand<float> matrix({kSide, kSide}, 1);
  Operand<float> vector({kSide}, 1);
  Operand<float> out({kSide});
  const tnr_view operands[] = {matrix.view, matrix.view, matrix.view, vector.view};
  einsum(kDefaultContext, "ab,bc,cd,d->a", operands, 4, out.out());
  EXPECT_EQ(out.memory.front(), 8e9f);
}

TYPED_TEST(Einsum, GivesTheSameBitsInAnyLayoutForAnyThreads) {
  using T = TypeParam;
  Random random(6);
  const TestContext one(1);
  const TestContext three(3);
  const struct {
    std::vector<std::string> terms;
    std::string result;
  } cases[] = {{{"axyb", "yxbc"}, "bca"},
               {{"abx", "bxc", "cd"}, "ad"},
               {{"xay", "yx", "xb"}, "ab"},
               {{"abcx", "xcd"}, "abd"}};
  for (const auto& each : cases) {
    Shape extents(26, 11);
    extents[0] = 40;
    extents['x' - 'a'] = 70;
    Case<T> first = case_of<T>(each.terms, each.result, extents, random);
    for (Operand<T>& operand : first.operands) {
      operand = Operand<T>(Shape(operand.view.shape, operand.view.shape + operand.view.rank));
      operand.fill(random);
    }
    first.run(one);
    for (int round = 0; round < 6; ++round) {
      Case<T> other = case_of<T>(each.terms, each.result, extents, random);
      for (std::size_t i = 0; i < other.operands.size(); ++i) {
        // Not one whose axes repeat: its elements would not be those of the first.
        const tnr_view& from = first.operands[i].view;
        other.operands[i] =
            Operand<T>(Shape(from.shape, from.shape + from.rank), Access::kWrite, random);
        for_each_index(from, [&](const Index& index) {
          other.operands[i].at(index) = first.operands[i].at(index);
        });
      }
      other.run(round % 2 == 0 ? one : three);
      for_each_index(first.out.view, [&](const Index& index) {
        ASSERT_TRUE(same(first.out.at(index), other.out.at(index))) << other.name();
      });
    }
  }
}

// ---- the spec -----------------------------------------------------------------------------------

// The shape of the result of operands of ones, and the sum of its elements.
std::pair<Shape, double> sum_of(const char* spec, const std::vector<Shape>& shapes) {
  std::deque<Operand<double>> operands;
  std::vector<tnr_view> views;
  for (const Shape& shape : shapes) {
    views.push_back(operands.emplace_back(shape, 1.0).view);
  }
  const auto count = static_cast<std::uint32_t>(views.size());
  const EinsumShape shape = einsum_shape(spec, views.data(), count);
  const Shape extents(shape.extents, shape.extents + shape.rank);
  EXPECT_EQ(std::count(shape.extents + shape.rank, std::end(shape.extents), 0),
            TNR_MAX_RANK - shape.rank);
  Operand<double> out(extents);
  einsum(kDefaultContext, spec, views.data(), count, out.out());
  double sum = 0;
  for (const double element : out.memory) sum += element;
  return {extents, sum};
}

TEST(EinsumSpec, IsNumPysNotation) {
  using Answer = std::pair<Shape, double>;
  EXPECT_EQ(sum_of("ij,jk->ik", {{2, 3}, {3, 4}}), Answer({2, 4}, 24));
  EXPECT_EQ(sum_of("ij,jk", {{2, 3}, {3, 4}}), Answer({2, 4}, 24));
  EXPECT_EQ(sum_of("ba", {{2, 3}}), Answer({3, 2}, 6));
  EXPECT_EQ(sum_of("aB,bA", {{2, 3}, {4, 5}}), Answer({5, 3, 2, 4}, 120));
  EXPECT_EQ(sum_of("ii", {{3, 3}}), Answer({}, 3));
  EXPECT_EQ(sum_of("iii->i", {{3, 3, 3}}), Answer({3}, 3));
  EXPECT_EQ(sum_of("", {{}}), Answer({}, 1));
  EXPECT_EQ(sum_of("->", {{}}), Answer({}, 1));
  EXPECT_EQ(sum_of(",->", {{}, {}}), Answer({}, 1));
  EXPECT_EQ(sum_of(",i", {{}, {3}}), Answer({3}, 3));
  EXPECT_EQ(sum_of(" i j , jk ->  k i", {{2, 3}, {3, 4}}), Answer({4, 2}, 24));
  EXPECT_EQ(sum_of("...ij,...jk->...ik", {{5, 1, 2, 3}, {7, 3, 4}}), Answer({5, 7, 2, 4}, 840));
  EXPECT_EQ(sum_of("...,...", {{2, 1, 3}, {5, 3}}), Answer({2, 5, 3}, 30));
  EXPECT_EQ(sum_of("i...->...i", {{2, 3, 4}}), Answer({3, 4, 2}, 24));
  EXPECT_EQ(sum_of("i...j->j...", {{2, 5, 4}}), Answer({4, 5}, 40));
  EXPECT_EQ(sum_of("i->i...", {{3}}), Answer({3}, 3));
  EXPECT_EQ(sum_of("...,i->i...", {{}, {3}}), Answer({3}, 3));
  EXPECT_EQ(sum_of("i...i", {{2, 5, 2}}), Answer({5}, 10));
  EXPECT_EQ(sum_of("ij,jk->ik", {{2, 1}, {3, 4}}), Answer({2, 4}, 24));
  EXPECT_EQ(sum_of("ab,ab,c->", {{2, 3}, {2, 3}, {4}}), Answer({}, 24));
}

TEST(EinsumSpec, NamesTheByteThatIsWrong) {
  const struct {
    const char* spec;
    std::vector<Shape> shapes;
    const char* message;
  } cases[] = {
      {"i1->i", {{2}}, "spec[1] is '1', but must be a letter"},
      {"ij,j\xc3\xa9", {{2, 2}, {2}}, "spec[4] is byte 0xc3, but must be"},
      {"i\tj", {{2, 2}}, "spec[1] is byte 0x09, but must be"},
      {"ij", {{2}}, "spec[1] is 'j', a label too many: the rank of operands[0] is 1"},
      {"i,jkl", {{2}, {2, 2}}, "spec[4] is 'l', a label too many: the rank of operands[1] is 2"},
      {"i->i", {{2, 2}}, "spec[1] is '-' after 1 labels, but the rank of operands[0] is 2"},
      {"i", {{2, 2}}, "spec[1] is the end after 1 labels, but the rank of operands[0] is 2"},
      {"i,j", {{2}}, "spec[1] is ',' after term 1, but operand_count is 1"},
      {"i->i", {{2}, {2}}, "spec[1] is '-' after term 1, but operand_count is 2"},
      {"i-i", {{2}}, "spec[1] is '-', but must be"},
      {"i- >i", {{2}}, "spec[1] is '-', but must be"},
      {"..i", {{2}}, "spec[0] is '.', which is no \"...\""},
      {"i....", {{2}}, "spec[4] is '.', which is no \"...\""},
      {"...i...", {{2}}, "spec[4] is '.', but a term has \"...\" once"},
      {"i->......", {{2}}, "spec[6] is '.', but a term has \"...\" once"},
      {"i->..", {{2}}, "spec[3] is '.', which is no \"...\""},
      {"i->j", {{2}}, "spec[3] is 'j', a label that no operand has"},
      {"i->ii", {{2}}, "spec[4] is 'i', a label that the result has already"},
      {"i->i,", {{2}}, "spec[4] is ',', but must be a letter"},
      {"i->i->i", {{2}}, "spec[4] is '-', but must be a letter"},
      {"...i->i", {{2, 3}}, "spec[7] is the end of the result, which lacks the \"...\""},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.spec);
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {each.message},
                 [&] { (void)sum_of(each.spec, each.shapes); });
  }
}

TEST(EinsumSpec, RefusesExtentsThatDoNotAgree) {
  const auto refused = [](const char* spec, const std::vector<Shape>& shapes, const char* message) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {message}, [&] { (void)sum_of(spec, shapes); });
  };
  refused("ij,jk->ik", {{2, 3}, {4, 2}},
          "operands[1].shape[0] is 4 but operands[0].shape[1] is 3, and both are label 'j'");
  refused("ij,j,J,j", {{2, 1}, {3}, {5}, {4}},
          "operands[3].shape[0] is 4 but operands[1].shape[0] is 3, and both are label 'j'");
  refused("ii", {{3, 1}},
          "operands[0].shape[1] is 1 but operands[0].shape[0] is 3, and both are label 'i'");
  refused("...,...", {{2, 3}, {4, 3}},
          "operands[1].shape[0] is 4 but operands[0].shape[0] is 2, and both are axis -2 of");
}

TEST(EinsumSpec, HasBounds) {
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"operand_count is 0 but must be 1 at least"},
               [] { (void)sum_of("", {}); });
  const std::vector<Shape> many(33, Shape{});
  expect_error(TNR_STATUS_UNSUPPORTED, {"operand_count is 33 but must be 32 at most"},
               [&] { (void)sum_of(std::string(32, ',').c_str(), many); });
  EXPECT_EQ(sum_of(std::string(31, ',').c_str(), {many.begin(), many.end() - 1}).second, 1);
  const Shape five(5, 1);
  expect_error(TNR_STATUS_UNSUPPORTED, {"the result has more than 8 axes"},
               [&] { (void)sum_of("abcde,fghij", {five, five}); });
  // Each of five operands shares two labels with each other one: a product of two has twelve.
  const std::vector<Shape> five_of_eight(5, Shape(8, 2));
  expect_error(TNR_STATUS_UNSUPPORTED, {"no order of products", "more than 8 labels"}, [&] {
    (void)sum_of("abcdefgh,abijklmn,cdijopqr,efklopst,ghmnqrst->", five_of_eight);
  });
  std::vector<Shape> nine = five_of_eight;
  nine.resize(9);
  expect_error(TNR_STATUS_UNSUPPORTED, {"no order of products", "more than 8 labels"},
               [&] { (void)sum_of("abcdefgh,abijklmn,cdijopqr,efklopst,ghmnqrst,,,,->", nine); });
}

// ---- operands and results -----------------------------------------------------------------------

TEST(EinsumOperands, MayHaveNoElement) {
  Operand<double> a({3, 0});
  Operand<double> b({0, 4});
  Operand<double> out({3, 4}, 7);
  const tnr_view operands[] = {a.view, b.view};
  einsum(kDefaultContext, "ij,jk->ik", operands, 2, out.out());
  EXPECT_EQ(out.memory, std::vector<double>(12, 0));
  Operand<double> sum({}, 7);
  einsum(kDefaultContext, "ij,jk->", operands, 2, sum.out());
  EXPECT_EQ(sum.memory.front(), 0);
  Operand<double> line({4}, 7);
  einsum(kDefaultContext, "ij,jk->k", operands, 2, line.out());
  EXPECT_EQ(line.memory, std::vector<double>(4, 0));
  einsum(kDefaultContext, "ij->i", operands, 1, Operand<double>({3}, 7).out());
  Operand<double> none({3, 0, 4});
  einsum(kDefaultContext, "ij,jk->ijk", operands, 2, none.out());
  EXPECT_EQ(sum_of("ij,jk,kl->il", {{3, 0}, {0, 4}, {4, 2}}), std::pair(Shape({3, 2}), 0.0));
  EXPECT_EQ(sum_of("i,i", {{1}, {0}}), std::pair(Shape{}, 0.0));
  EXPECT_EQ(sum_of("ii", {{0, 0}}), std::pair(Shape{}, 0.0));
}

TEST(EinsumOperands, AreThoseOfTheOperationsThatItIsMadeOf) {
  std::vector<std::int32_t> memory = {1, 2, 3, 4};
  const auto ints = [&](const Layout& layout) {
    return view_of(memory.data(), 16, 0, TNR_DTYPE_I32, layout);
  };
  std::vector<std::int32_t> result(4, 0);
  const auto to = [&](const Layout& layout) {
    return tnr_view_mut{view_of(result.data(), 16, 0, TNR_DTYPE_I32, layout)};
  };
  const tnr_view table = ints({{2, 2}, {2, 1}});
  const tnr_view operands[] = {table, table};
  einsum(kDefaultContext, "ij->ji", operands, 1, to({{2, 2}, {2, 1}}));
  EXPECT_EQ(result, (std::vector<std::int32_t>{1, 3, 2, 4}));
  einsum(kDefaultContext, "ij,ji->ij", operands, 2, to({{2, 2}, {2, 1}}));
  EXPECT_EQ(result, (std::vector<std::int32_t>{1, 6, 6, 16}));
  expect_error(TNR_STATUS_UNSUPPORTED, {"matmul does not take i32"},
               [&] { einsum(kDefaultContext, "ij,jk->ik", operands, 2, to({{2, 2}, {2, 1}})); });
  const tnr_view none[] = {ints({{2, 1}, {0, 1}}), ints({{0, 1}, {2, 1}})};
  expect_error(TNR_STATUS_UNSUPPORTED, {"matmul does not take i32"},
               [&] { einsum(kDefaultContext, "ij,jk->ik", none, 2, to({{2, 2}, {2, 1}})); });
  const Operand<double> other({2, 2});
  const tnr_view mixed[] = {table, other.view};
  expect_error(TNR_STATUS_INVALID_ARGUMENT,
               {"operands[1].dtype is f64 but operands[0].dtype is i32"},
               [&] { einsum(kDefaultContext, "ij,ij->ij", mixed, 2, to({{2, 2}, {2, 1}})); });
}

// ---- dtypes of results --------------------------------------------------------------------------

constexpr tnr_dtype kDtypes[] = {TNR_DTYPE_F64, TNR_DTYPE_F32,  TNR_DTYPE_F16,  TNR_DTYPE_BF16,
                                 TNR_DTYPE_I8,  TNR_DTYPE_I16,  TNR_DTYPE_I32,  TNR_DTYPE_I64,
                                 TNR_DTYPE_U8,  TNR_DTYPE_U16,  TNR_DTYPE_U32,  TNR_DTYPE_U64,
                                 TNR_DTYPE_C64, TNR_DTYPE_C128, TNR_DTYPE_BOOL8};

enum class Made { kCopy, kSum, kProduct, kMatmul };

// The result's dtype as docs/operations.md has it; 0: none.
tnr_dtype due_dtype(Made made, tnr_dtype dtype) {
  const auto code = code_of(dtype);
  const bool is_integer = code == DtypeCode::kInt || code == DtypeCode::kUint;
  if (made == Made::kCopy) return dtype;
  if (dtype == TNR_DTYPE_BOOL8) return 0;
  if (made == Made::kSum && is_integer)
    return code == DtypeCode::kInt ? TNR_DTYPE_I64 : TNR_DTYPE_U64;
  return made == Made::kMatmul && is_integer ? 0 : dtype;
}

// Any other output is refused in favour of the one that is taken, or for what takes none.
TEST(EinsumDtypes, AreDecidedByTheOperands) {
  const struct {
    const char* spec;
    Made made;
    std::uint32_t count;
  } patterns[] = {{"ij->ji", Made::kCopy, 1},
                  {"ii->i", Made::kCopy, 1},
                  {"ij->", Made::kSum, 1},
                  {"ij->j", Made::kSum, 1},
                  {"ii->", Made::kSum, 1},
                  {"...j->...", Made::kSum, 1},
                  {"ij,ij->ij", Made::kProduct, 2},
                  {"ij,kl->ijkl", Made::kProduct, 2},
                  {"ij,jk->ik", Made::kMatmul, 2},
                  {"ij,ij->", Made::kMatmul, 2},
                  {"ij,kl->il", Made::kMatmul, 2},
                  {"bi,bi->b", Made::kMatmul, 2},
                  {"ij,ij,ij->ij", Made::kProduct, 3},
                  {"ij,jk,kl->il", Made::kMatmul, 3}};
  for (const auto& pattern : patterns) {
    for (const std::int64_t extent : {0, 1, 2}) {
      for (const tnr_dtype dtype : kDtypes) {
        SCOPED_TRACE(std::string(pattern.spec) + " of " + dtype_name(dtype));
        alignas(16) unsigned char ones[4 * 16] = {};
        const tnr_scalar one = {TNR_DTYPE_U8, 0, {1}};
        const Layout layout = {{extent, extent}, {extent, 1}};
        const tnr_view table = view_of(ones, sizeof ones, 0, dtype, layout);
        if (dtype != TNR_DTYPE_BOOL8) fill(kDefaultContext, one, {table});
        const tnr_view operands[] = {table, table, table};
        const tnr_dtype due = due_dtype(pattern.made, dtype);
        Shape shape;
        for (const char* at = std::strchr(pattern.spec, '>') + 1; *at != 0; ++at) {
          if (*at != '.' || at[1] != '.') shape.push_back(extent);
        }
        int taken = 0;
        for (const tnr_dtype to : kDtypes) {
          alignas(16) unsigned char memory[16 * 16] = {};
          const tnr_view_mut out = {make_view(memory, sizeof memory, 0, to,
                                              static_cast<std::uint32_t>(shape.size()),
                                              shape.data(), nullptr)};
          const auto run = [&] {
            einsum(kDefaultContext, pattern.spec, operands, pattern.count, out);
          };
          if (to == due) {
            run();
            EXPECT_EQ(einsum_shape(pattern.spec, operands, pattern.count).dtype, due);
            ++taken;
          } else if (due != 0) {
            expect_error(
                TNR_STATUS_INVALID_ARGUMENT,
                {std::string("out.dtype is ") + dtype_name(to) + " but must be " + dtype_name(due)},
                run);
          } else {
            expect_error(TNR_STATUS_UNSUPPORTED, {std::string(dtype_name(dtype))}, run);
          }
        }
        EXPECT_EQ(taken, due != 0 ? 1 : 0);
      }
    }
  }
}

TEST(EinsumDtypes, SumsOfIntegersAreWide) {
  std::vector<std::int32_t> memory = {INT32_MAX, 2, 3, 4};
  std::int64_t sum = 0;
  const auto expect = [&](const char* spec, const Layout& layout, std::int64_t expected) {
    const tnr_view operand = view_of(memory.data(), 16, 0, TNR_DTYPE_I32, layout);
    einsum(kDefaultContext, spec, &operand, 1, {view_of(&sum, 8, 0, TNR_DTYPE_I64, {})});
    EXPECT_EQ(sum, expected);
  };
  expect("ij->", {{2, 2}, {2, 1}}, std::int64_t{INT32_MAX} + 9);
  expect("ii->", {{2, 2}, {2, 1}}, std::int64_t{INT32_MAX} + 4);
  expect("ij->", {{1, 1}, {1, 1}}, INT32_MAX);
  expect("ij->", {{0, 2}, {2, 1}}, 0);
}

TEST(EinsumOperands, AreRefusedAsTheyDeserve) {
  Operand<double> a({3, 3}, 1);
  Operand<double> out({3, 3}, 7);
  tnr_view operands[] = {a.view, a.view, a.view};
  const auto run = [&](const char* spec, const tnr_view_mut& to, std::uint32_t count = 2) {
    return [&, spec, to, count] { einsum(kDefaultContext, spec, operands, count, to); };
  };
  tnr_view_mut narrow = out.out();
  narrow.view.shape[1] = 2;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[1] is 2 but must be 3"},
               run("ij,jk->ik", narrow));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.rank is 2 but must be 0"},
               run("ij,jk->", out.out()));
  expect_error(TNR_STATUS_ALIASED, {"operands[1]"}, [&] {
    const tnr_view two[] = {out.view, a.view};
    einsum(kDefaultContext, "ij,jk->ik", two, 2, a.out());
  });
  // Also where the operand itself is only read for a product before the last.
  expect_error(TNR_STATUS_ALIASED, {"operands[0]"}, run("ij,jk,kl->il", a.out(), 3));
  operands[1].shape[0] = 4;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"operands[1]"}, run("ij,jk->ik", out.out()));
  operands[1] = a.view;
  operands[1].rank = 9;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"operands[1].rank is 9"}, run("ij,jk->ik", out.out()));
  EXPECT_EQ(out.memory, std::vector<double>(9, 7));
}

TEST(EinsumOperands, MayBeSoLargeThatAProductOfThemIsNot) {
  double number = 1;
  constexpr std::int64_t kHuge = std::int64_t{1} << 29;
  const tnr_view square =
      view_of(&number, sizeof number, 0, TNR_DTYPE_F64, {{kHuge, 0}, {kHuge, 0}});
  const tnr_view operands[] = {square, square, square};
  Operand<double> out({}, 7);
  expect_error(TNR_STATUS_OUT_OF_MEMORY, {"bytes could not be allocated"},
               [&] { einsum(kDefaultContext, "ab,bc,ca->", operands, 3, out.out()); });
  constexpr std::int64_t kLarge = std::int64_t{1} << 19;
  const tnr_view cube =
      view_of(&number, sizeof number, 0, TNR_DTYPE_F64, {{kLarge, 0}, {kLarge, 0}, {kLarge, 0}});
  const tnr_view cubes[] = {cube, cube, cube, cube};
  expect_error(TNR_STATUS_OUT_OF_MEMORY, {"more than 2^63 - 1 elements"},
               [&] { einsum(kDefaultContext, "abc,ade,bdf,cef->", cubes, 4, out.out()); });
  EXPECT_EQ(out.memory.front(), 7);
}

}  // namespace
}  // namespace tenure::test
