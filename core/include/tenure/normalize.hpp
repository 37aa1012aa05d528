// Functions of all elements along axes that give as many elements: normalizations and scans.
//
// The contracts are those of tenure.h; the semantics are in docs/operations.md.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"

namespace tenure {

void normalize(const Context& context, tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
               const tnr_normalize_attributes& attributes, const tnr_view_mut& out);
void scan(const Context& context, tnr_scan_op op, const tnr_view& a, std::uint32_t axis,
          const tnr_view_mut& out);

}  // namespace tenure
