// Kernels of expressions that were compiled, for as long as the process runs.
#pragma once

#include <cstddef>

#include "cuda/device.hpp"
#include "cuda/kernels/expression_arguments.hpp"

namespace tenure::cuda {

// Of all devices. Work that was captured may need the code at any time, so that none ends; beyond
// so many, expressions are interpreted.
inline constexpr std::size_t kMostCompiledExpressions = 256;

// Whether the environment asks for it: TENURE_CUDA_COMPILE=1 when the first expression is computed.
bool compiles_expressions() noexcept;

enum class Missing { kCompile, kSkip };

// The kernel of an expression, which takes the argument that the interpreter does; nullptr: there
// is none, and it is not to be compiled or there are too many. Throws as compile() and
// Modules::load() do.
[[gnu::cold]] Function compiled_expression(const Device& device, const ExpressionArgument& argument,
                                           Missing missing);

}  // namespace tenure::cuda
