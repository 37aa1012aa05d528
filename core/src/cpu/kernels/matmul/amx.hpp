// Registers of AMX: tiles of 16 rows of 64 bytes. A panel of rows of a left factor has the rows of
// two tiles: it has 16 lanes of depths of each row, then the next 16 of each, and so on.
#pragma once

#include "cpu/kernels/matmul/panel.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kAmxTileRows = 16;
constexpr int64_t kAmxRowBytes = 64;
constexpr int64_t kAmxLanes = kAmxRowBytes / kWidth<uint32_t>;
constexpr int64_t kAmxPanelRows = 2 * kAmxTileRows;

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
