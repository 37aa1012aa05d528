// Products and convolutions by oneDNN.
#pragma once

#include <cstdint>

#include "engine/convolution.hpp"
#include "engine/product.hpp"
#include "tenure/tenure.h"

namespace tenure::onednn {

using engines::Convolution;
using engines::ConvolutionMemory;
using engines::Product;
using engines::ProductMemory;

// "3.2.0"; nullptr where this build has no oneDNN, or one that cannot be used.
const char* version() noexcept;
// Throws UNSUPPORTED, saying why, where there is no version.
void require();

// How the answer is computed, and how many threads do it.
struct EngineChoice {
  tnr_engine engine;  // TNR_ENGINE_ONEDNN, or _AUTO: only where the table says that it pays
  unsigned thread_count;
};

// out = alpha * a b + beta * out + bias. False, and nothing has been done, where oneDNN does not
// take the product as it lies in memory. Throws OUT_OF_MEMORY, and INTERNAL for what oneDNN refuses
// later than it should.
bool run(const EngineChoice& call, const Product& product, const ProductMemory& memory);

// The convolution, of f32, of `a` and its bias; false, and throws, as the function of products.
bool run(const EngineChoice& call, const Convolution& convolution, const ConvolutionMemory& memory);

// For tests: shapes that oneDNN has compiled for so far, and those that are kept, declined ones
// among them.
struct ShapeCounts {
  std::int64_t compiled;
  std::int64_t kept;
};
ShapeCounts shape_counts() noexcept;

// Around fork, as engine.hpp has it.
void lock() noexcept;
void unlock() noexcept;
void forget_threads() noexcept;

}  // namespace tenure::onednn
