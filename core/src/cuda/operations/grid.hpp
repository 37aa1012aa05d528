// Sizes of grids, and the arithmetic that shares elements out to them.
#pragma once

#include <bit>
#include <cstdint>

#include "cuda/operations/nest.hpp"
#include "cuda/queue.hpp"
#include "tenure/status.hpp"

namespace tenure::cuda {

inline constexpr std::uint32_t kBlockShift = 8;
inline constexpr std::uint32_t kWarpShift = 5;
static_assert(kThreads == 1u << kBlockShift);

// Numbers that kernels count in 32 bits, and dividers divide, are below it.
inline constexpr std::int64_t kMostNumber = std::int64_t{1} << 31;

constexpr std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }
// quotient_up() by 2^shift, for a number that is not negative.
constexpr std::int64_t shifted_up(std::int64_t a, unsigned shift) {
  return (a >> shift) + ((a & ((std::int64_t{1} << shift) - 1)) != 0);
}

// The logarithm of a power of two, and that of the next one that is no smaller.
constexpr unsigned logarithm_of(std::int64_t power) noexcept {
  return static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(power)));
}
constexpr std::uint32_t logarithm_up(std::int64_t number) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(number - 1)));
}

// Blocks that have `of_block` of the work each.
inline Grid grid_of(std::int64_t work, std::int64_t of_block) noexcept {
  return {static_cast<unsigned>(quotient_up(work, of_block)), kThreads};
}

inline std::uint64_t address_of(const unsigned char* data) noexcept {
  return reinterpret_cast<std::uintptr_t>(data);
}
inline const unsigned char* bytes_of(const tnr_view& view) noexcept {
  return static_cast<const unsigned char*>(view.data);
}

}  // namespace tenure::cuda
