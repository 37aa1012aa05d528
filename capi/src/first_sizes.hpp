// Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit.
// Bytes that each struct with a struct_size had when it was introduced: what every client
// has of it. 0 for a type that has none.
#pragma once

#include <cstddef>

#include "tenure/tenure.h"

namespace tenure::capi {

template <class Sized>
inline constexpr std::size_t kFirstSizeBytes = 0;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_context_options> = 56;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_blob_info> = 48;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_view> = 824;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_options> = 256;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_packed_info> = 80;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_stats> = 48;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_operation_stats> = 40;

}  // namespace tenure::capi
