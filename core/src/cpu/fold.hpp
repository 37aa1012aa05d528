// Entries of one position that become one.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// How: the codes of tnr_sparse_combine, less one. The last has no kernels, since it only moves.
inline constexpr unsigned kFoldCount = 3;  // sum min max

// Runs of entries: one begins wherever begins[i] is 1 (else it is 0), and at 0.
struct Fold {
  int64_t count;
  const Byte* begins;
  const Byte* values;
  Byte* out;  // one for each run, in order
};

struct Folding {
  // begins[i] = indices[i] differs from the one before; returns how many do. begins[0] is 1.
  int64_t (*mark[kIndexTypeCount])(const Byte* indices, int64_t count, Byte* begins);
  // 16-bit floats are added up in f32, and rounded once.
  void (*fold[kFoldCount][kTypeCount])(const Fold&);
};

}  // namespace tenure::kernels
