// Handles: numbers that name a slot of a table and the slot's generation.
#pragma once

#include <cstdint>

namespace tenure {

// {kind:8, generation:24, index:32}. A kind other than 0 also makes the token an address that
// neither 48-bit nor 57-bit paging can map, so a client that dereferences a handle faults at once.
using Token = std::uint64_t;

inline constexpr std::uint32_t kBlobKind = 1;
inline constexpr std::uint32_t kContextKind = 2;
inline constexpr std::uint32_t kTaskKind = 3;
inline constexpr std::uint32_t kSparseKind = 4;
inline constexpr std::uint32_t kPackedKind = 5;
inline constexpr std::uint32_t kFactorKind = 6;
inline constexpr std::uint32_t kGraphKind = 7;
inline constexpr std::uint32_t kProgramKind = 8;
inline constexpr std::uint32_t kBoundKind = 9;
inline constexpr std::uint32_t kEventKind = 10;
inline constexpr std::uint32_t kKernelKind = 11;
// Belongs to no table: sparse_voucher.hpp.
inline constexpr std::uint32_t kVoucherKind = 0xff;

constexpr Token make_token(std::uint32_t kind, std::uint32_t generation, std::uint32_t index) {
  return Token{kind} << 56 | Token{generation} << 32 | index;
}
constexpr std::uint32_t kind_of(Token token) { return static_cast<std::uint32_t>(token >> 56); }
constexpr std::uint32_t token_generation(Token token) { return (token >> 32) & 0xff'ffffu; }
constexpr std::uint32_t token_index(Token token) { return static_cast<std::uint32_t>(token); }

}  // namespace tenure
