// The source of the kernel of one expression.
#pragma once

#include <string>

#include "cuda/kernels/expression_arguments.hpp"

namespace tenure::cuda {

// All of an argument that its kernel has as constants: two of the same have the same code.
std::string constants_of(const ExpressionArgument& argument);
// The kernel's name, which follows from them.
std::string kernel_name(const std::string& constants);
// CUDA C++, without headers.
std::string expression_source(const ExpressionArgument& argument, const std::string& name);

}  // namespace tenure::cuda
