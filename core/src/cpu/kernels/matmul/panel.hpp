// The panels of packed factors, which are the tiles of sums in registers.
#pragma once

#include "cpu/kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// A tile of packed factors has as many sums as there are registers, but those for the factors; one
// of others has fewer rows, as each has an address of its own. The columns are vectors. Panels of
// many rows are fetched ahead of the tile.
#if defined(__AVX512F__)
constexpr int kPanelRows = 14;
constexpr int kFewRows = 8;
constexpr bool kStoresParts = true;  // as fast as whole vectors
constexpr bool kFetchesRows = true;
#elif defined(__AVX2__)
constexpr int kPanelRows = 6;
constexpr int kFewRows = 6;
constexpr bool kStoresParts = false;
constexpr bool kFetchesRows = false;
#else
constexpr int kPanelRows = 4;
constexpr int kFewRows = 4;
constexpr bool kStoresParts = false;
constexpr bool kFetchesRows = false;
#endif
constexpr int kPanelVectors = 2;
template <class T>
constexpr int64_t kPanelColumns = kPanelVectors * kPerVector<T>;
template <class T>
constexpr int64_t kWidth = sizeof(T);

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
