// Packed constants of a program as bytes, which the same program of another process lends: a
// header, an entry for each constant, and its packed bytes, in the order in which they are packed.
//
// All is native: bytes of a machine that has it otherwise do not begin with kMagic.
#pragma once

#include <memory>
#include <vector>

#include "dense/product/packed_factor.hpp"
#include "dense/product/packed_filters.hpp"
#include "program/graph.hpp"

namespace tenure {

struct PackedEntry;

// Reads packed constants from their bytes. Their layouts are compared with those of the program; no
// access is bounded by them.
class PackedConstants {
 public:
  // Retains the view's owner. Throws INVALID_ARGUMENT for bytes that are no packed constants, that
  // have no owner or a borrowed one, or that are not aligned to a line; STALE_VIEW, BUSY.
  explicit PackedConstants(const tnr_view& view);

  // The next constant, which is to be packed so. Throws INVALID_ARGUMENT for bytes of another
  // program; UNSUPPORTED for one that other kernels read.
  std::shared_ptr<const PackedFactor> next(const FactorLayout& layout);
  std::shared_ptr<const PackedFilters> next(const FiltersLayout& layout);
  // Throws INVALID_ARGUMENT where there are more.
  void require_end() const;

 private:
  const kernels::Byte* take(const PackedEntry& needed);

  std::shared_ptr<const Constant> memory_;
  std::uint64_t count_ = 0;
  std::uint64_t index_ = 0;
};

// A new blob with the bytes of the packed constants of a graph and of its bodies.
BlobToken write_packed_constants(const Context& context, const Graph& graph);

}  // namespace tenure
