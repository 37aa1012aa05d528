// Operations that rearrange elements: each checks its views, pins their owners, then moves. The
// contracts are those of tenure.h; all throw Error, with the output untouched.
#pragma once

#include <cstdint>

#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

void concat(const Context& context, const tnr_view* parts, std::uint32_t part_count,
            std::uint32_t axis, const tnr_view_mut& out);
void pad(const Context& context, tnr_pad_mode mode, const tnr_view& a,
         const tnr_pad_attributes& attributes, const tnr_view_mut& out);
void take(const Context& context, const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
          const tnr_view_mut& out);
void gather(const Context& context, const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
            const tnr_view_mut& out);
void put(const Context& context, tnr_binary_op op, const tnr_view& a, std::uint32_t axis,
         const tnr_view& indices, const tnr_view_mut& out);
void scatter(const Context& context, tnr_binary_op op, const tnr_view& a, std::uint32_t axis,
             const tnr_view& indices, const tnr_view_mut& out);
void triangular(const Context& context, tnr_triangle part, const tnr_view& a, std::int64_t diagonal,
                const tnr_view_mut& out);

// Each gives a blob and sets `out` to all of it.
BlobToken nonzero(const Context& context, const tnr_view& a, tnr_view_mut& out);
BlobToken masked_select(const Context& context, const tnr_view& a, const tnr_view& mask,
                        tnr_view_mut& out);
// Write the result into row-major memory of the result's dtype, which no other operand shares, and
// return the first extent of the result, the number of elements found. Where it exceeds
// out.shape[0], nothing is written.
std::int64_t nonzero_into(const Context& context, const tnr_view& a, const tnr_view_mut& out);
std::int64_t masked_select_into(const Context& context, const tnr_view& a, const tnr_view& mask,
                                const tnr_view_mut& out);

}  // namespace tenure
