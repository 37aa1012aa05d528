// Orders along an axis: keys of elements, which are sorted by digits (indexed.cu), and elements in
// the order of the sorted places.
#include "cuda/kernels/elementwise.cuh"
#include "cuda/kernels/ordering/arguments.hpp"

namespace tenure::cuda {

// Bytes of a row in each operand.
TENURE_DEVICE void find_row(const OrderedRows& rows, uint32_t row,
                            int64_t (&offsets)[kOrderSteps]) {
  uint32_t left[1] = {row};
  int64_t found[1][kOrderSteps];
  find_offsets(rows, left, found);
  TENURE_UNROLL for (unsigned k = 0; k < kOrderSteps; ++k) offsets[k] = found[0][k];
}

TENURE_DEVICE uint64_t key_of_bits(const OrderKeysArgument& argument, uint64_t bits) {
  if (argument.is_truth != 0) return (bits != 0 ? 1u : 0u) ^ argument.flip;
  uint64_t key = bits ^ argument.sign;
  if (argument.infinity != 0) {
    const uint64_t magnitude = bits & ~argument.sign;
    if (magnitude > argument.infinity) return argument.ones;
    if (magnitude == 0) {
      key = argument.sign;
    } else if ((bits & argument.sign) != 0) {
      key = ~bits & argument.ones;
    }
  }
  return key ^ argument.flip;
}

TENURE_DEVICE void make_order_keys(const OrderKeysArgument& argument) {
  const OrderedRows& rows = argument.rows;
  const uint32_t item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= rows.count) return;
  const uint32_t place = argument.places != nullptr ? argument.places[item] : item;
  const uint32_t row = quotient_of(rows.extent, place);
  uint32_t key = row;
  if (argument.is_of_rows == 0) {
    int64_t offsets[kOrderSteps];
    find_row(rows, row, offsets);
    const auto index = static_cast<int64_t>(place - row * rows.extent.extent);
    const uint64_t bits =
        read_bits(rows.element_shift, rows.in + offsets[kOrderIn] + index * rows.in_step);
    key = static_cast<uint32_t>(key_of_bits(argument, bits) >> (32 * argument.word));
  }
  argument.keys[item] = key;
  if (argument.own_places != nullptr) argument.own_places[item] = item;
}

TENURE_DEVICE void store_ordered(const OrderStoreArgument& argument) {
  const OrderedRows& rows = argument.rows;
  const uint32_t item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= argument.count) return;
  const uint32_t row = quotient_of(argument.kept, item);
  const auto to = static_cast<int64_t>(item - row * argument.kept.extent);
  const uint32_t first = row * rows.extent.extent;
  const uint32_t from = first + static_cast<uint32_t>(to);
  // Rows are sorted by their number at last, so that each has its own places.
  const uint32_t place = argument.places != nullptr ? argument.places[from] : from;
  const auto index = static_cast<int64_t>(place - first);
  int64_t offsets[kOrderSteps];
  find_row(rows, row, offsets);
  if (argument.out != nullptr) {
    uint64_t bits =
        read_bits(rows.element_shift, rows.in + offsets[kOrderIn] + index * rows.in_step);
    if (argument.is_truth != 0) bits = bits != 0 ? 1 : 0;
    write_bits(rows.element_shift, argument.out + offsets[kOrderOut] + to * argument.out_step,
               bits);
  }
  if (argument.indices != nullptr) {
    write(argument.indices + offsets[kOrderIndices] + to * argument.indices_step, index);
  }
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(order_keys, OrderKeysArgument) { make_order_keys(argument); }
TENURE_KERNEL(order_store, OrderStoreArgument) { store_ordered(argument); }
