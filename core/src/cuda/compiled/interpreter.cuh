// The functions of the interpreter. Its own kernel becomes a template without an instance: a kernel
// that interprets would take longer to compile than all else.
#pragma once

#include "cuda/kernels/device.cuh"

#undef TENURE_KERNEL
#define TENURE_KERNEL(name, Argument) \
  template <class Nobody>             \
  TENURE_DEVICE void name##_of(const Argument& argument)

#include "cuda/kernels/expression.cu"
