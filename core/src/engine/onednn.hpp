// Products and convolutions as oneDNN is asked for them.
#pragma once

#include <cstdint>

#include "tenure/tenure.h"

namespace tenure::onednn {

// "3.2.0"; nullptr where this build has no oneDNN, or one that cannot be used.
const char* version() noexcept;
// Throws UNSUPPORTED, saying why, where there is no version.
void require();

// How the answer is computed, and how many threads do it.
struct Call {
  tnr_engine engine;  // TNR_ENGINE_ONEDNN, or _AUTO: only where the table says that it pays
  unsigned thread_count;
};

// Steps in elements, of any sign; those of an extent of 1 are of no account.
struct Product {
  struct Matrix {
    tnr_dtype dtype;
    std::int64_t batch_step;  // 0: the same matrix for all
    std::int64_t row_step;
    std::int64_t column_step;
  };
  std::int64_t batch_count;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  Matrix a;
  Matrix b;
  Matrix out;
  float alpha;
  float beta;  // 0: out is not read
  bool has_bias;
};
struct ProductMemory {
  const void* a;
  const void* b;
  const void* bias;  // a number for each column, side by side
  void* out;
};
// out = alpha * a b + beta * out + bias. False, and nothing has been done, where oneDNN does not
// take the product as it lies in memory. Throws OUT_OF_MEMORY, and INTERNAL for what oneDNN refuses
// later than it should.
bool run(const Call& call, const Product& product, const ProductMemory& memory);

// Images and weights are f32. Steps as above.
struct Convolution {
  struct Image {
    std::int64_t image_step;
    std::int64_t channel_step;
    std::int64_t place_steps[2];  // down and right
  };
  std::int64_t images;
  std::int64_t groups;
  std::int64_t channels;  // of a group
  std::int64_t filters;   // of a group
  std::int64_t in[2];     // height and width
  std::int64_t kernel[2];
  std::int64_t out[2];
  std::int64_t strides[2];
  std::int64_t padding[2];  // above and left
  std::int64_t dilations[2];
  Image a;
  Image weight;  // filters for images
  std::int64_t weight_group_step;
  Image result;
  bool has_bias;
};
struct ConvolutionMemory {
  const void* a;
  const void* weight;
  const void* bias;  // a number for each filter, side by side
  void* out;
};
// The convolution of `a` and its bias; false, and throws, as the function of products.
bool run(const Call& call, const Convolution& convolution, const ConvolutionMemory& memory);

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
