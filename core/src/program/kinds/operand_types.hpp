// Questions that the kinds of nodes have about the types of their operands.
#pragma once

#include <cstdint>

#include "base/array_type.hpp"
#include "program/operations.hpp"
#include "tenure/shape.hpp"

namespace tenure {

// Throws INVALID_ARGUMENT unless the operand is an array; of one that may be not given, nullptr
// then.
const ArrayType& array(const OperandType& operand, const char* name);
const ArrayType* optional_array(const OperandType& operand, const char* name);

const char* shape_of(const ArrayType& type, ShapeText& text) noexcept;

// Each throws INVALID_ARGUMENT.
void require_type(const ArrayType& type, const char* name, tnr_dtype dtype);
void require_vector(const ArrayType& type, const char* name);
void require_indices(const ArrayType& indices);
// Where there is one: of one extent, and the result's dtype.
void require_bias(const ArrayType* bias, const ArrayType& result, std::int64_t count);
std::uint32_t axis_of(std::int64_t number, std::uint32_t rank);

// The shape that the numbers are. Throws as row_major_bytes().
std::uint32_t rank_of(const NodeCall& call);
ArrayType shaped(const NodeCall& call, tnr_dtype dtype);

}  // namespace tenure
