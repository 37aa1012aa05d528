// The text of kernels, for CUDA's compiler at run time.
#pragma once

#include <string>

namespace tenure::cuda {

// The source of the kernel of an expression without its constants: expression.cuh and the files
// that it includes, as one text without includes.
const std::string& expression_code();

}  // namespace tenure::cuda
