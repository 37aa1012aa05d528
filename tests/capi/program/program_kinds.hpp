// One node of each kind, with the call that it corresponds to.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "program_graph.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

// Numbers as elements of a dtype, whatever it is: more are bytes of 0.
std::vector<unsigned char> elements_of(const std::vector<double>& numbers, const Shape& shape,
                                       tnr_dtype dtype);

// An array, a scalar, or neither: an optional operand that is not given.
struct KindOperand {
  Shape shape;
  tnr_dtype dtype = 0;
  std::vector<double> numbers;
  bool is_scalar = false;

  [[nodiscard]] bool is_given() const noexcept { return dtype != 0; }
};

using Views = std::vector<const tnr_view*>;  // nullptr: a scalar, or not given

struct KindCase {
  std::string name;
  std::uint32_t code = 0;
  std::vector<KindOperand> operands;
  Shape numbers;
  std::shared_ptr<const void> attributes;
  std::size_t attribute_bytes = 0;
  std::uint32_t flags = 0;
  tnr_dtype dtype = 0;
  // The call that the node stands for, and its context: NULL is the CPU.
  tnr_context* context = nullptr;
  std::function<tnr_status(const KindCase& of, const Views& views, const tnr_view_mut* out)> call;
};

// At least one of each kind. A graph has operation 0 of its own in all of them: doubled().
std::vector<KindCase> kind_cases();
// Why no preallocated program has nodes of a kind, as the refusal words it; nullptr of other kinds.
const char* preallocation_refusal(std::uint32_t code);
// Twice each element of f32.
tnr_custom_operation doubled();

}  // namespace tenure::test
