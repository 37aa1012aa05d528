// The kernels of compiled_expressions.inc for the host: what the library would have NVRTC compile
// for the expressions that tests compute. fake_compiler.cpp holds the library's text against it.
#include "cuda/compiled/expression.cuh"
//
#include "compiled_expressions.inc"
