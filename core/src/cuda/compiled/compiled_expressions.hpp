// Kernels of expressions that were compiled, for as long as the process runs.
#pragma once

#include <cstddef>

#include "cuda/device.hpp"
#include "cuda/kernels/expression_arguments.hpp"

namespace tenure::cuda {

// Most compiled expressions of all devices together. Captured work may need the code at any time,
// so that no kernel is unloaded; beyond this number expressions are interpreted.
inline constexpr std::size_t kMostCompiledExpressions = 256;

// Whether the environment requests it: TENURE_CUDA_COMPILE=1 when the first expression is computed.
bool compiles_expressions() noexcept;

enum class Missing { kCompile, kSkip };

// The kernel of an expression, which takes the interpreter's argument; nullptr where it has not
// been compiled and `missing` is kSkip or there are too many kernels. Throws as compile() and
// Modules::load() do.
[[gnu::cold]] Function compiled_expression(const Device& device, const ExpressionArgument& argument,
                                           Missing missing);

}  // namespace tenure::cuda
