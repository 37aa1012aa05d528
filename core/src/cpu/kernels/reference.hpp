// The plain twins of the kernels: one element at a time, without specialisations, on wide numbers.
//
// Tests compare the kernels with these. They share nothing with them but the tables' rows: every
// element is decoded into the widest number of its kind, computed on there, and encoded by the
// definition of its format. They are compiled into the tests and not into the library, which never
// calls them.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels::reference {

uint64_t element_bytes(Type type);

void cast(Type from, const Byte* a, Type to, Byte* out);
// `row` is the table's.
void unary(unsigned row, Type type, const Byte* a, Byte* out);
Finding binary(unsigned row, Type type, const Byte* a, const Byte* b, Byte* out);
void ternary(unsigned row, Type type, const Byte* a, const Byte* b, const Byte* c, Byte* out);
void compare(unsigned row, Type type, const Byte* a, const Byte* b, Byte* out);
// The twins for complex numbers: `part` is the type of their parts, f64 or f32. Unary ones that
// give parts write one. Whether both parts are equal is `complex_equal`.
void complex_unary(unsigned row, Type part, const Byte* a, Byte* out);
void complex_binary(unsigned row, Type part, const Byte* a, const Byte* b, Byte* out);
bool complex_equal(Type part, const Byte* a, const Byte* b);
// `elements` are in the order of their indices. Writes one element of the dtype that the row gives;
// a norm is that of the power 2.
void reduce(unsigned row, Type type, const Byte* const* elements, int64_t count, int64_t ddof,
            Byte* out);

// alpha * (the sum of a[i] * b[i]) + beta * out, all of one type; of floats rounded once. beta ==
// nullptr: 0, and out is not read.
void sum_of_products(Type type, const Byte* const* a, const Byte* const* b, int64_t count,
                     const Byte* alpha, const Byte* beta, Byte* out);

// Whether two floats are the same number, both NaN, or at most `last_places` apart.
bool is_near(Type type, const Byte* a, const Byte* b, double last_places);

}  // namespace tenure::kernels::reference
