// Products of matrices for the tests of devices: operands, and comparisons with the CPU's results.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "on_device.hpp"

namespace tenure::test {

struct Factors {
  NamedType a;
  NamedType b;
  NamedType out;
};
// By kTypes: f64, f32, f16, bf16; and pairs of bytes.
inline constexpr Factors kFactors[] = {
    {kTypes[0], kTypes[0], kTypes[0]}, {kTypes[1], kTypes[1], kTypes[1]},
    {kTypes[2], kTypes[2], kTypes[2]}, {kTypes[3], kTypes[3], kTypes[3]},
    {kTypes[4], kTypes[4], kTypes[6]}, {kTypes[4], kTypes[8], kTypes[6]},
    {kTypes[8], kTypes[4], kTypes[6]}, {kTypes[8], kTypes[8], kTypes[6]}};

struct Product {
  double alpha = 1;
  double beta = 0;
  bool has_bias = false;
  tnr_unary_op activation = 0;
  std::uint32_t flags = 0;
  double low = 0;
  double high = 0;
};

inline tnr_scalar scalar_of(double value) {
  tnr_scalar scalar = {};
  scalar.dtype = TNR_DTYPE_F64;
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

// Inputs: a, b, and the bias where there is one.
inline ContextCall call_of(const Product& by) {
  return
      [by](tnr_context* context, const std::vector<const tnr_view*>& in, const tnr_view_mut* out) {
        tnr_matmul_attributes attributes{};
        attributes.struct_size = sizeof attributes;
        attributes.bias = by.has_bias ? in[2] : nullptr;
        attributes.activation = by.activation;
        attributes.flags = by.flags;
        attributes.low = by.low;
        attributes.high = by.high;
        const tnr_scalar alpha = scalar_of(by.alpha);
        const tnr_scalar beta = scalar_of(by.beta);
        return tnr_matmul(context, &alpha, in[0], in[1], &beta, &attributes, out);
      };
}

// Scalars and an epilogue at random, under which sums of small numbers stay exact.
inline Product any_product(Random& random) {
  Product by;
  by.alpha = random() % 2 == 0 ? 1 : 2;
  by.beta = random() % 2 == 0 ? 0 : -1;
  by.has_bias = random() % 2 == 0;
  if (random() % 3 == 0) by.activation = TNR_UNARY_OP_RELU;
  if (random() % 3 == 0) {
    by.flags = TNR_EPILOGUE_CLAMP;
    by.low = -3;
    by.high = 20;
  }
  return by;
}

struct ProductShapes {
  Shape a;
  Shape b;
  Shape out;
};

// Compares a product with the CPU's. The sums of its numbers are exact, so that every order of
// additions gives the same bits.
inline void expect_same_product(tnr_context* context, const Product& by, const Factors& types,
                                const ProductShapes& shapes, const Arrangement (&lie)[3],
                                Random& random) {
  Array a(types.a.dtype, shapes.a, lie[0], random);
  Array b(types.b.dtype, shapes.b, lie[1], random);
  Array out(types.out.dtype, shapes.out, lie[2], random);
  Array bias(types.out.dtype, {shapes.b.size() == 1 ? 1 : shapes.b.back()},
             kReadable[random() % std::size(kReadable)], random);
  fill_with_numbers(a, types.a.type, random);
  fill_with_numbers(b, types.b.type, random);
  fill_with_numbers(bias, types.out.type, random);
  // With a beta of 0 nothing is read: there are any bits.
  if (by.beta != 0) fill_with_numbers(out, types.out.type, random);
  std::vector<Array*> inputs = {&a, &b};
  if (by.has_bias) inputs.push_back(&bias);
  expect_same_call(context, call_of(by), inputs, out, 0,
                   describe(a.view()) + " times " + describe(b.view()) + " alpha " +
                       std::to_string(by.alpha) + " beta " + std::to_string(by.beta));
}

}  // namespace tenure::test
