// Every unary operation as the activation of everything that takes one: the operation afterwards,
// or a refusal that gives the true reason.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "cpu/operations.hpp"
#include "expect_status.hpp"
#include "program/program_graph.hpp"

namespace tenure::test {
namespace {

// Small whole numbers of both signs: sums of their products are exact in every dtype.
struct Whole {
  std::vector<unsigned char> bytes;
  tnr_view view;

  Whole(const Shape& shape, tnr_dtype dtype) {
    const tnr_view counted = view_over(nullptr, shape, TNR_DTYPE_I8);
    std::vector<std::int8_t> numbers(counted.size_bytes);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto number = static_cast<int>(i * 5 % 7);
      numbers[i] = static_cast<std::int8_t>(dtype == TNR_DTYPE_U8 ? number : number - 3);
    }
    bytes.resize(numbers.size() * tnr_dtype_size_bytes(dtype));
    view = view_over(bytes.data(), shape, dtype);
    const tnr_view from = view_over(numbers.data(), shape, TNR_DTYPE_I8);
    EXPECT_EQ(tnr_cast(nullptr, &from, nullptr, out()), TNR_STATUS_OK);
  }
  [[nodiscard]] const tnr_view_mut* out() const {
    return reinterpret_cast<const tnr_view_mut*>(&view);
  }
  // Elements in f64.
  [[nodiscard]] std::vector<double> numbers() const {
    const Shape shape(view.shape, view.shape + view.rank);
    const Whole wide(shape, TNR_DTYPE_F64);
    EXPECT_EQ(tnr_cast(nullptr, &view, nullptr, wide.out()), TNR_STATUS_OK);
    std::vector<double> numbers(wide.bytes.size() / sizeof(double));
    std::memcpy(numbers.data(), wide.bytes.data(), wide.bytes.size());
    return numbers;
  }
};

template <class Attributes>
Attributes with(tnr_unary_op op) {
  Attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.activation = op;
  return attributes;
}

tnr_dtype dtype_of_sums(tnr_dtype dtype) {
  return dtype == TNR_DTYPE_I8 || dtype == TNR_DTYPE_U8 ? TNR_DTYPE_I32 : dtype;
}
bool is_complex(tnr_dtype dtype) { return dtype == TNR_DTYPE_C64 || dtype == TNR_DTYPE_C128; }

constexpr tnr_dtype kFloats[] = {TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BF16};
constexpr tnr_dtype kFactors[] = {TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BF16,
                                  TNR_DTYPE_I8,  TNR_DTYPE_U8,  TNR_DTYPE_C64, TNR_DTYPE_C128};

// Why sums of the dtype do not take the operation; nullptr where they do.
const char* reason(const kernels::OperationRow& row, tnr_dtype sums) {
  if (row.gives == kernels::Gives::kTruth) return "gives bool8";
  if (is_complex(sums)) return "take none";
  const auto kind = sums == TNR_DTYPE_I32 ? kernels::kIntegers : kernels::kFloats;
  return (row.dtypes & kind) != 0 ? nullptr : "does not take sums of";
}

class Activations : public CGraph {
 protected:
  // `call(op, out)` computes with this activation, or with none where it is 0.
  template <class Call>
  static void expect_each(const std::string& what, const Shape& shape, tnr_dtype sums,
                          const Call& call) {
    SCOPED_TRACE(what + " of " + tnr_dtype_name(sums));
    const Whole plain(shape, sums);
    ASSERT_EQ(call(0, plain), TNR_STATUS_OK) << tnr_last_error()->message;
    for (tnr_unary_op op = 1; op <= static_cast<tnr_unary_op>(kernels::kUnaryCount); ++op) {
      const kernels::OperationRow& row = kernels::kUnaryRows[op - 1];
      SCOPED_TRACE(row.name);
      const Whole out(shape, sums);
      const tnr_status status = call(op, out);
      if (const char* const why = reason(row, sums)) {
        expect_refused(status, TNR_STATUS_UNSUPPORTED,
                       {std::string("attributes->activation is ") + row.name + ",", why});
        continue;
      }
      ASSERT_EQ(status, TNR_STATUS_OK) << tnr_last_error()->message;
      const Whole expected(shape, sums);
      ASSERT_EQ(tnr_unary(nullptr, op, &plain.view, nullptr, expected.out()), TNR_STATUS_OK);
      expect_same(out.numbers(), expected.numbers());
    }
  }

  // A program of one node of two operands.
  template <class Attributes>
  tnr_status run_node(std::uint32_t code, tnr_unary_op op, const Whole& a, const Whole& b,
                      const Whole& out) {
    const Attributes attributes = with<Attributes>(op);
    const std::uint32_t left = input(shape_of(a), a.view.dtype);
    const std::uint32_t right = input(shape_of(b), b.view.dtype);
    std::uint32_t value = TNR_OPERAND_NONE;
    tnr_status status = add(code, {left, right}, {}, &attributes, 0, &value);
    if (status == TNR_STATUS_OK) {
      output(value);
      status = run(program(), {a.view, b.view}, {*out.out()});
    }
    release_all();
    graph = tnr_graph_create();
    return status;
  }

 private:
  static Shape shape_of(const Whole& of) { return {of.view.shape, of.view.shape + of.view.rank}; }
  static void expect_same(const std::vector<double>& got, const std::vector<double>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
          << "element " << i << " is " << got[i] << ", not " << expected[i];
    }
  }
};

TEST_F(Activations, OfProducts) {
  for (const tnr_dtype dtype : kFactors) {
    const Whole a({3, 4}, dtype);
    const Whole b({4, 5}, dtype);
    const tnr_dtype sums = dtype_of_sums(dtype);
    const tnr_scalar one = tnr_scalar_i64(1);
    const tnr_scalar zero = tnr_scalar_i64(0);
    tnr_factor* const factor = tnr_factor_create(nullptr, &b.view, nullptr);
    expect_each("matmul", {3, 5}, sums, [&](tnr_unary_op op, const Whole& out) {
      const auto attributes = with<tnr_matmul_attributes>(op);
      return tnr_matmul(nullptr, &one, &a.view, &b.view, &zero, &attributes, out.out());
    });
    expect_each("factor_matmul", {3, 5}, sums, [&](tnr_unary_op op, const Whole& out) {
      const auto attributes = with<tnr_matmul_attributes>(op);
      return tnr_factor_matmul(nullptr, &one, &a.view, factor, &zero, &attributes, out.out());
    });
    expect_each("a node of matmul", {3, 5}, sums, [&](tnr_unary_op op, const Whole& out) {
      return run_node<tnr_matmul_attributes>(TNR_NODE_MATMUL, op, a, b, out);
    });
    EXPECT_EQ(tnr_factor_release(factor), TNR_STATUS_OK);
    if (dtype == TNR_DTYPE_C128) continue;
    expect_each("sparse_from_matmul", {3, 5}, sums, [&](tnr_unary_op op, const Whole& out) {
      const auto attributes = with<tnr_sparse_from_matmul_attributes>(op);
      tnr_sparse* const made = tnr_sparse_from_matmul(nullptr, &one, &a.view, &b.view, &attributes);
      if (made == nullptr) return tnr_last_error()->status;
      tnr_sparse_view view = {};
      view.struct_size = sizeof view;
      EXPECT_EQ(tnr_sparse_view_of(made, &view), TNR_STATUS_OK);
      const tnr_status status = tnr_sparse_to_dense(nullptr, &view, nullptr, out.out());
      EXPECT_EQ(tnr_sparse_release(made), TNR_STATUS_OK);
      return status;
    });
  }
}

TEST_F(Activations, OfConvolutions) {
  for (const tnr_dtype dtype : kFloats) {
    const Whole a({1, 2, 3, 3}, dtype);
    for (const std::int64_t groups : {1, 2}) {
      const Whole weight({2, 2 / groups, 2, 2}, dtype);
      for (const bool is_transposed : {false, true}) {
        const Shape shape = is_transposed ? Shape{1, 2, 4, 4} : Shape{1, 2, 2, 2};
        const std::string name = std::string(is_transposed ? "conv2d_transposed" : "conv2d") +
                                 " in groups of " + std::to_string(2 / groups);
        expect_each(name, shape, dtype, [&](tnr_unary_op op, const Whole& out) {
          auto attributes = with<tnr_conv2d_attributes>(op);
          attributes.groups = groups;
          return (is_transposed ? tnr_conv2d_transposed : tnr_conv2d)(
              nullptr, &a.view, &weight.view, nullptr, &attributes, out.out());
        });
        if (groups != 1) continue;
        expect_each("a node of " + name, shape, dtype, [&](tnr_unary_op op, const Whole& out) {
          return run_node<tnr_conv2d_attributes>(
              is_transposed ? TNR_NODE_CONV2D_TRANSPOSED : TNR_NODE_CONV2D, op, a, weight, out);
        });
      }
    }
  }
}

}  // namespace
}  // namespace tenure::test
