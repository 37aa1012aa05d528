#include "cuda/libraries/activation.hpp"

#include <cstring>
#include <limits>

namespace tenure::cuda {
namespace {

template <class T>
bool are_bounds_of_relu(const BoundedActivation& activation) noexcept {
  T low;
  T high;
  std::memcpy(&low, activation.low().bytes, sizeof low);
  std::memcpy(&high, activation.high().bytes, sizeof high);
  return low == T{} && high == std::numeric_limits<T>::infinity();
}

}  // namespace

std::optional<LibraryActivation> library_activation(const BoundedActivation& activation,
                                                    tnr_dtype computed) noexcept {
  if (!activation.is_bounded()) return LibraryActivation::kNone;
  const bool is_relu = computed == TNR_DTYPE_F64   ? are_bounds_of_relu<double>(activation)
                       : computed == TNR_DTYPE_F32 ? are_bounds_of_relu<float>(activation)
                                                   : false;
  if (!is_relu) return std::nullopt;
  return LibraryActivation::kRelu;
}

}  // namespace tenure::cuda
