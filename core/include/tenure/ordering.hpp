// Sorting, searching and counting: each operation checks its views, pins their owners, decides
// aliasing, then runs kernels.
//
// The contracts are those of tenure.h; the semantics are in docs/operations.md. All throw Error
// with the outputs untouched. An operand that is a pointer may be nullptr: not given, not wanted.
#pragma once

#include <cstdint>

#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

enum class SortOrder { kRising, kFalling };

void sort(const Context& context, const tnr_view& a, std::uint32_t axis, SortOrder order,
          const tnr_view_mut* indices, const tnr_view_mut* out);
// kFalling: the greatest.
void top_k(const Context& context, const tnr_view& a, std::uint32_t axis, SortOrder order,
           const tnr_view_mut* indices, const tnr_view_mut* out);
void partition(const Context& context, const tnr_view& a, std::uint32_t axis, std::int64_t kth,
               const tnr_view_mut* indices, const tnr_view_mut* out);

// Whether NaN gives NaN, or is left out.
enum class Nans { kGiven, kSkipped };
void quantile(const Context& context, const tnr_view& a, std::uint32_t axes, const double* q,
              std::uint32_t q_count, Nans nans, const tnr_view_mut& out);

// On which side of the elements that are equal.
enum class Side { kLeft, kRight };
void searchsorted(const Context& context, const tnr_view& a, const tnr_view& values, Side side,
                  const tnr_view_mut& out);

// The blob of `out` and `counts`, whose views are written last.
BlobToken unique(const Context& context, const tnr_view& a, const tnr_view_mut* inverse,
                 tnr_view_mut* counts, tnr_view_mut& out);

void bincount(const Context& context, const tnr_view& a, const tnr_view* weights,
              const tnr_view_mut& out);
void histogram(const Context& context, const tnr_view& a, const tnr_view* edges, double low,
               double high, const tnr_view_mut& out);

}  // namespace tenure
