// Activations as libraries have them.
#pragma once

#include <cstdint>
#include <optional>

#include "dense/product/epilogue.hpp"

namespace tenure::cuda {

enum class LibraryActivation : std::uint8_t { kNone, kRelu };

// Nothing for other bounds than those of relu. The activation, which is a bound or nothing, is
// computed in this dtype.
std::optional<LibraryActivation> library_activation(const BoundedActivation& activation,
                                                    tnr_dtype computed) noexcept;

}  // namespace tenure::cuda
