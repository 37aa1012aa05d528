// The text of kernels, for CUDA's compiler at run time.
#pragma once

#include <string>

namespace tenure::cuda {

// All that the kernel of an expression is made of but its constants: expression.cuh and what it
// includes, as one text without includes.
const std::string& expression_code();

}  // namespace tenure::cuda
