// The functions of the C API that compute with a sparse matrix or make one. Tests of the properties
// that all of them have run over one table, with a row for each function and variant.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sparse_operands.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

struct SparseFunction {
  enum Trait : unsigned {
    // The formats of its matrix. A function of dense operands has none.
    kNone = 0,
    kCoo = 1,
    kCsr = 2,
    kCsc = 4,
    kBsr = 8,
    kCompressed = kCsr | kCsc,
    kElements = kCoo | kCompressed,
    kAll = kElements | kBsr,
    kSquare = 16,     // takes square matrices alone
    kOrdered = 32,    // takes matrices that are flagged as coalesced alone
    kAnyValues = 64,  // takes values without arithmetic
    kMakes = 128,     // allocates its result from its context
    kDevices = 256,   // devices compute it
    kBlocks = 512,    // makes blocks, whose extents its attributes give: NULL is refused
  };

  std::string function;  // "tnr_sparse_convert"
  std::string variant = {};
  unsigned traits = kNone;
  tnr_operation operation = {};                // that counts it
  std::vector<unsigned char> attributes = {};  // of this variant
  std::size_t reserved_at = 0;                 // the offset of their field `reserved`; 0: none
  std::set<std::string> fields = {};           // that this variant takes
  std::function<tnr_status(tnr_context*, const tnr_sparse_view*, const void* attributes,
                           SparseOperands&)>
      call;

  [[nodiscard]] std::string name() const { return function + " " + variant; }
  [[nodiscard]] bool has(Trait trait) const { return (traits & trait) != 0; }
  [[nodiscard]] bool takes(tnr_sparse_format format) const {
    return (traits & kCoo << (format - TNR_SPARSE_FORMAT_COO)) != 0;
  }
  // Calls the function with the attributes of this variant, or with NULL where that is the same.
  tnr_status operator()(tnr_context* context, const tnr_sparse_view* a, SparseOperands& with) const;
};

const std::vector<SparseFunction>& sparse_functions();

}  // namespace tenure::test
